"""Blocks of a text to one lead file in memory; decides nothing and reads nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pandas as pd
import pyarrow as pa

from dialframe.leads.lead_file import Decisions, LeadFile, unique_names
from dialframe.leads.reading.blocks import Block
from dialframe.leads.reading.delimited import Surveyed, take


def decisions(surveyed: Surveyed, known: Decisions) -> Decisions:
    """What was decided about a text, added to what is known of its encoding."""
    found, layout = surveyed.found, surveyed.layout
    header = layout.header_record
    return replace(
        known,
        format="tsv" if found.dialect.delimiter == "\t" else "csv",
        dialect=found.dialect,
        delimiter_confidence=found.confidence,
        delimiter_runner_up=found.runner_up,
        header_line=None if header is None else surveyed.aside[header].line + 1,
        header_confidence=layout.confidence,
        preamble_lines=tuple(surveyed.aside[at].line + 1 for at, _ in layout.preface),
    )


def lead_file(
    path: Path,
    sha256: str,
    surveyed: Surveyed,
    blocks: Sequence[Block],
    known: Decisions,
    sep_line: str,
) -> LeadFile:
    """The lead file that the blocks are.

    Args:
        path: Where they were read from.
        sha256: Digest of the file.
        surveyed: What the walk found out.
        blocks: All of them.
        known: What was decided about the encoding.
        sep_line: The first line, if it only names the delimiter; or empty.
    """
    layout = surveyed.layout
    names = unique_names(layout.header, layout.width)
    kept = [surveyed.leads(block) for block in blocks]
    columns = [take(block, rows) for block, rows in zip(blocks, kept, strict=True)]
    frame = {
        name: text(pa.concat_arrays([block[at] for block in columns]))
        for at, name in enumerate(names)
    }
    faults: dict[int, str] = {}
    warnings: dict[int, tuple[str, ...]] = {}
    raws: dict[int, str] = {}
    done = 0
    for block, rows in zip(blocks, kept, strict=True):
        for found, own in ((faults, block.faults), (warnings, block.warnings), (raws, block.raws)):
            places = (
                dict(zip(rows.tolist(), range(done, done + len(rows)), strict=True)) if own else {}
            )
            found.update({places[row]: what for row, what in own.items() if row in places})
        done += len(rows)
    lines = [block.starts[rows] + 1 for block, rows in zip(blocks, kept, strict=True)]
    ordinals = [block.first + rows for block, rows in zip(blocks, kept, strict=True)]
    return LeadFile(
        path=path,
        frame=pd.DataFrame(frame, index=pd.RangeIndex(done)),
        header=layout.header,
        lines=np.concatenate(lines),
        rows=np.concatenate(ordinals) - surveyed.first + 1,
        skipped=skipped(surveyed, names, sep_line),
        decisions=decisions(surveyed, known),
        sha256=sha256,
        faults=MappingProxyType(faults),
        warnings=MappingProxyType(warnings),
        raws=MappingProxyType(raws),
    )


def skipped(surveyed: Surveyed, names: Sequence[str], sep_line: str = "") -> pd.DataFrame:
    """The records that are no leads, as `LeadFile.skipped` has them."""
    layout = surveyed.layout
    found = [*layout.preface, *layout.furniture]
    doubts = [surveyed.aside[at] for at, _ in found]
    cells = [_wide(one.cells, layout.width) for one in doubts]
    rows = [
        *[None] * len(layout.preface),
        *(at - surveyed.first + 1 for at, _ in layout.furniture),
    ]
    lines = [one.line + 1 for one in doubts]
    codes, raws = [code for _, code in found], [one.raw for one in doubts]
    if sep_line:
        cells.insert(0, [""] * layout.width)
        lines.insert(0, 1)
        rows.insert(0, None)
        codes.insert(0, "sep_line")
        raws.insert(0, sep_line)
    own = {
        name: text(pa.array([row[at] for row in cells], pa.large_string()))
        for at, name in enumerate(names)
    }
    meta = {
        "_line": pd.array(lines, dtype="Int64"),
        "_row": pd.array(rows, dtype="Int64"),
        "_code": pd.array(codes, dtype="str"),
        "_raw": pd.array(raws, dtype="str"),
    }
    return pd.DataFrame({**own, **meta}, index=pd.RangeIndex(len(lines)))


def _wide(row: list[str], width: int) -> list[str]:
    return [*row, *[""] * (width - len(row))][:width]


def text(array: pa.Array) -> object:
    """A text column of a frame."""
    return pd.array(array, dtype="str")
