"""What stands against the records of one file, as a value that is filled record by record; it judges nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

import numpy as np
import pandas as pd

from dialframe.leads.columns.column_map import ColumnMap
from dialframe.leads.lead_file import LeadFile

Value = TypeVar("Value")


class Finding(NamedTuple):
    """One reason against a record, the field that it concerns and the value found there."""

    code: str
    field: str = ""
    value: str = ""


@dataclass(frozen=True, slots=True)
class Assessed:
    """One file's records, judged one by one.

    Attributes:
        file: The file.
        columns: Its columns by field.
        fields: One row per row of the file: `LEAD_COLUMNS`, then every column that no single field
            used up, under its own name.
        findings: Row to what stands against it.
        warnings: Row to warning codes.
        numbers: Row that must not be called to every number that stands in it, in E.164: none of
            them is called under any record.
    """

    file: LeadFile
    columns: ColumnMap
    fields: pd.DataFrame
    findings: dict[int, list[Finding]] = field(default_factory=dict)
    warnings: dict[int, list[str]] = field(default_factory=dict)
    numbers: dict[int, tuple[str, ...]] = field(default_factory=dict)

    def find(self, row: int, code: str, name: str = "", value: str = "") -> None:
        """Note a finding."""
        self.findings.setdefault(row, []).append(Finding(code, name, value))

    def warn(self, row: int, codes: Sequence[str]) -> None:
        """Note warnings."""
        if codes:
            self.warnings.setdefault(row, []).extend(codes)

    def put(self, name: str, values: Sequence[str]) -> None:
        """Set a column of the fields."""
        self.fields[name] = pd.array(list(values), dtype="str")


def by_distinct(cells: pd.Series, read: Callable[[str], Value]) -> list[Value]:
    """`read` of each cell, asked once for each distinct text."""
    codes, distinct = pd.factorize(cells)
    values = np.empty(len(distinct), dtype=object)
    values[:] = [read(str(cell)) for cell in distinct]
    return list(values[codes])
