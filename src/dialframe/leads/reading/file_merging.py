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
    if any(_columns(one) != _columns(first) for one in files):
        usual, count = Counter(map(_columns, files)).most_common(1)[0]
        odd = [one.name for one in files if _columns(one) != usual]
        if count > 1 and len(odd) <= _NAMED:
            raise LeadFileError(
                f"{path}: {', '.join(odd)} has other columns than the other {count} tables; take it "
                "out, or read each by itself with leads.read_all",
                path=path,
            )
        names = ", ".join(one.name for one in files[:_NAMED])
        more = f" and {len(files) - _NAMED} more" if len(files) > _NAMED else ""
        raise LeadFileError(
            f"{path} holds {len(files)} tables with different columns: {names}{more}; name one of "
            "them (a zip's as fairs.zip/leeds.csv), or read each with leads.read_all",
            path=path,
        )
    rows = _offsets([one.records for one in files])
    places = _offsets([len(one.frame) for one in files])
    columns: list[list[str]] = [list(one.frame.columns) for one in files]
    widest = max(columns, key=len)
    skipped = [
        _named(one.skipped, len(one.frame.columns), widest).assign(_row=one.skipped["_row"] + at)
        for one, at in zip(files, rows, strict=True)
    ]
    least = min(files, key=lambda one: one.decisions.delimiter_confidence).decisions
    return LeadFile(
        path=path,
        frame=pd.concat(
            [_named(one.frame, len(one.frame.columns), widest) for one in files], ignore_index=True
        ),
        header=first.header,
        lines=np.concatenate([one.lines for one in files]),
        rows=np.concatenate([one.rows + at for one, at in zip(files, rows, strict=True)]),
        skipped=pd.concat(skipped, ignore_index=True),
        decisions=replace(first.decisions, delimiter_confidence=least.delimiter_confidence),
        sha256=hashlib.sha256("".join(one.sha256 for one in files).encode()).hexdigest(),
        faults=_shifted([one.faults for one in files], places),
        warnings=_shifted([one.warnings for one in files], places),
        raws=_shifted([one.raws for one in files], places),
        parts=tuple(one.path for one in files),
        part_of=np.repeat(np.arange(len(files)), [len(one.frame) for one in files]),
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
    own = frame.set_axis([*names[:width], *frame.columns[width:]], axis=1)
    for place in range(width, len(names)):
        own.insert(place, names[place], pd.array([""] * len(own), dtype="str"))
    return own


def _shifted(maps: Sequence[Mapping[int, Value]], offsets: Sequence[int]) -> Mapping[int, Value]:
    moved = {
        at + offset: value
        for one, offset in zip(maps, offsets, strict=True)
        for at, value in one.items()
    }
    return MappingProxyType(moved)
