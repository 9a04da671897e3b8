"""What is decided about a whole file from a sample of its rows, and what is to be known of it; judges no record."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import pandas as pd

from dialframe.leads import texts
from dialframe.leads.cells import turns_names
from dialframe.leads.cleaned import CleanedFile
from dialframe.leads.columns.column_map import ColumnMap, Columns
from dialframe.leads.columns.decide import map_columns
from dialframe.leads.columns.region import RegionDecision
from dialframe.leads.judging import phone_columns
from dialframe.leads.judging.validate import tidied
from dialframe.leads.lead_file import LeadFile
from dialframe.leads.reading.streams import sample_step
from dialframe.phones import normalize

_ENDINGS: Final = re.compile(
    r"(\.(csv|tsv|txt|tab|psv|xlsx|xlsm|xlsb|xls|ods|json|jsonl|ndjson|parquet|dat))?(\.gz)?$",
    re.IGNORECASE,
)

#: What says the columns of a file, of which it may have a part of the rows.
Choose = Callable[[LeadFile], ColumnMap]
#: Columns of a file as they are told, what says them, or None to find them.
ReadOptions = ColumnMap | Mapping[str, Columns] | Choose | None


def decide(file: LeadFile, *, region: str | None, mapping: ReadOptions) -> tuple[ColumnMap, bool]:
    """The columns of a file's fields, and whether its whole names are written `Last, First`.

    Up to 50,000 rows spread over the file tell that of all of them.
    """
    seen = sampled(file)
    if mapping is None or isinstance(mapping, ColumnMap | Mapping):
        columns = map_columns(seen, region=region, mapping=mapping)
    else:
        columns = mapping(seen)
    if columns.full_name is None:
        return columns, False
    names = tidied(texts.of_series(seen.frame[columns.full_name]))
    return columns, turns_names(pd.Series(names.to_pylist(), dtype="str"))


def sampled(file: LeadFile) -> LeadFile:
    """The file with at most 50,000 rows, spread over all of it."""
    step = sample_step(len(file.frame))
    return file if step == 1 else replace(file, frame=file.frame.iloc[::step])


def listed_numbers(numbers: Iterable[str], region: str | None) -> np.ndarray:
    """Numbers in any form as integers, in order; what is none is left out."""
    found = normalize(list(numbers), region=region)["e164"].dropna()
    return np.unique(phone_columns.numbers(texts.of_series(found)))


def facts(
    file: LeadFile,
    name: str,
    columns: ColumnMap,
    records: int,
    region: str | None,
    decided: RegionDecision | None,
) -> CleanedFile:
    """What is to be known of one file that was cleaned."""
    return CleanedFile(
        path=file.path,
        name=name,
        stem=_ENDINGS.sub("", file.name) or file.name,
        sha256=file.sha256,
        records=records,
        header=file.header,
        names=tuple(map(str, file.frame.columns)),
        decisions=file.decisions,
        columns=columns,
        region=region,
        region_decision=decided,
    )


def unique_file_names(names: Sequence[str]) -> list[str]:
    """Names as they stand in `_file`; a repeated one gets ` (2)` behind it."""
    unique: list[str] = []
    for name in names:
        own, copy = name, 2
        while own in unique:
            own, copy = f"{name} ({copy})", copy + 1
        unique.append(own)
    return unique
