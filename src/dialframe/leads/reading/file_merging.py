"""Several lead files with the same columns as one."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

import numpy as np
import pandas as pd

from dialframe.errors import LeadFileError
from dialframe.leads.lead_file import LeadFile

_NAMED = 9

Value = TypeVar("Value")


def together(path: Path, files: Sequence[LeadFile]) -> LeadFile:
    """One lead file with the records of all, in their order.

    Lines stay those of each record's own file, which `LeadFile.part_of` tells; the decisions are
    those of the first file, with the lowest confidence of all.

    Raises:
        LeadFileError: The files do not have the same columns.
    """
    first = files[0]
    if len(files) == 1:
        return first
    # Filling up columns that a file does not have would make leads of prices.
    if any(_columns(file) != _columns(first) for file in files):
        usual, count = Counter(map(_columns, files)).most_common(1)[0]
        # One odd table among many is named, since it is to be taken out.
        odd = [file.name for file in files if _columns(file) != usual]
        if count > 1 and len(odd) <= _NAMED:
            raise LeadFileError(
                f"{path}: {', '.join(odd)} has other columns than the other {count} tables; take it "
                "out, or read each by itself with leads.read_all",
                path=path,
            )
        names = ", ".join(file.name for file in files[:_NAMED])
        more = f" and {len(files) - _NAMED} more" if len(files) > _NAMED else ""
        raise LeadFileError(
            f"{path} holds {len(files)} tables with different columns: {names}{more}; name one of "
            "them (a zip's as fairs.zip/leeds.csv), or read each with leads.read_all",
            path=path,
        )
    rows = _offsets([file.records for file in files])
    places = _offsets([len(file.frame) for file in files])
    columns: list[list[str]] = [list(file.frame.columns) for file in files]
    # A file whose records have a cell too many has a column more.
    widest = max(columns, key=len)
    skipped = [
        _named(file.skipped, len(file.frame.columns), widest).assign(
            _row=file.skipped["_row"] + at
        )
        for file, at in zip(files, rows, strict=True)
    ]
    # One doubtful file makes the whole list doubtful.
    least = min(files, key=lambda file: file.decisions.delimiter_confidence).decisions
    return LeadFile(
        path=path,
        frame=pd.concat(
            [_named(file.frame, len(file.frame.columns), widest) for file in files],
            ignore_index=True,
        ),
        header=first.header,
        lines=np.concatenate([file.lines for file in files]),
        rows=np.concatenate([file.rows + at for file, at in zip(files, rows, strict=True)]),
        skipped=pd.concat(skipped, ignore_index=True),
        decisions=replace(first.decisions, delimiter_confidence=least.delimiter_confidence),
        # Of the digests: the files are not held together in memory.
        sha256=hashlib.sha256("".join(file.sha256 for file in files).encode()).hexdigest(),
        faults=_shifted([file.faults for file in files], places),
        warnings=_shifted([file.warnings for file in files], places),
        raws=_shifted([file.raws for file in files], places),
        parts=tuple(file.path for file in files),
        part_of=np.repeat(np.arange(len(files)), [len(file.frame) for file in files]),
    )


def _columns(file: LeadFile) -> tuple[str, ...] | int:
    """What the columns are called, or how many there are where they have no names."""
    if file.header is None:
        return len(file.frame.columns)
    return tuple(name.strip().casefold() for name in file.header)


def _offsets(counts: Sequence[int]) -> list[int]:
    return [sum(counts[:at]) for at in range(len(counts))]


def _named(frame: pd.DataFrame, width: int, names: list[str]) -> pd.DataFrame:
    """The frame with the names of the widest one, its own columns filled up with empty ones."""
    named = frame.set_axis([*names[:width], *frame.columns[width:]], axis=1)
    for index in range(width, len(names)):
        named.insert(index, names[index], pd.array([""] * len(named), dtype="str"))
    return named


def _shifted(maps: Sequence[Mapping[int, Value]], offsets: Sequence[int]) -> Mapping[int, Value]:
    moved = {
        at + offset: value
        for values, offset in zip(maps, offsets, strict=True)
        for at, value in values.items()
    }
    return MappingProxyType(moved)
