"""What a cleaning found, as tables shown page by page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

import numpy as np
import pandas as pd

from dialframe.errors import LeadFileError
from dialframe.flows.import_ledger import Ledger
from dialframe.flows.lead_cleaning import Screening
from dialframe.leads import Cleaned, CleanedFile, LeadFile, MappingDecision
from dialframe.leads.lead_file import LEAD_COLUMNS
from dialframe.privacy import mask

#: Rows of a page.
PER_PAGE: Final = 50


@dataclass(frozen=True, slots=True, eq=False)
class Page:
    """Some rows of many.

    Attributes:
        rows: The rows that are shown.
        number: Which page, from 0.
        total: Rows that the filter lets through.
        whole: Rows without the filter.
        noun: What a row is, in the plural.
    """

    rows: pd.DataFrame
    number: int
    total: int
    whole: int
    noun: str

    @property
    def pages(self) -> int:
        """How many pages there are, at least one."""
        return max(1, -(-self.total // PER_PAGE))

    @property
    def words(self) -> str:
        """Which of how many are shown."""
        if not self.total:
            return f"0 of {self.whole:,} {self.noun}"
        first = self.number * PER_PAGE + 1
        shown = f"{first:,} to {first + len(self.rows) - 1:,} of {self.total:,} {self.noun}"
        return shown if self.total == self.whole else f"{shown}, filtered from {self.whole:,}"


def page_of(frame: pd.DataFrame, number: int, *, noun: str, whole: int | None = None) -> Page:
    """One page of a frame; a number beyond the last page gives the last.

    Args:
        frame: Rows that the filter lets through.
        number: Which page, from 0.
        noun: What a row is, in the plural.
        whole: Rows without the filter; by default there is none.
    """
    last = max(0, -(-len(frame) // PER_PAGE) - 1)
    page_number = min(max(number, 0), last)
    rows = frame.iloc[page_number * PER_PAGE : (page_number + 1) * PER_PAGE]
    return Page(rows, page_number, len(frame), len(frame) if whole is None else whole, noun)


_PLACES: Final = ("_file", "_line", "_outcome", "_reason", "_field", "_value", "_all_reasons")
_CHANGES: Final = ("file", "line", "field", "before", "after")
_BETWEEN: Final = " | "


def issues(cleaned: Cleaned) -> pd.DataFrame:
    """Every record that is not clean: `file, line, outcome, reason, field, value, all_reasons`."""
    frames = [cleaned.rejected, cleaned.duplicates, cleaned.do_not_call, cleaned.skipped]
    whole = pd.concat([frame[list(_PLACES)] for frame in frames], ignore_index=True)
    return whole.rename(columns=lambda name: name.removeprefix("_"))


def changes(files: Sequence[LeadFile], cleaned: Cleaned) -> pd.DataFrame:
    """Every cell of a clean record that is not as it stood in the file: `file, line, field, before, after`.

    Where several columns give a field, `before` holds all of them that are filled.
    """
    parts = [
        part
        for at, (file, read) in enumerate(zip(files, cleaned.files, strict=True))
        for part in _of_file(file, read, cleaned.clean, at)
    ]
    if not parts:
        return pd.DataFrame({name: [] for name in _CHANGES})
    whole = pd.concat(parts, ignore_index=True)
    order = np.lexsort([whole.pop(key).to_numpy() for key in ("_field", "_line", "_file")])
    return whole.iloc[order].reset_index(drop=True)


def read_words(files: Sequence[LeadFile], decisions: Sequence[MappingDecision]) -> str:
    """How many records were read, and how many columns want a look."""
    rows = sum(file.records for file in files)
    names = ", ".join(file.name for file in files[:3])
    asked = sum(len(decision.questions) for decision in decisions)
    unsure = f" {asked} to look at in the columns." if asked else ""
    return f"{names}: {rows:,} {'record' if rows == 1 else 'records'} read.{unsure}"


def counted(cleaned: Cleaned) -> str:
    """What became of the records, in numbers that add up."""
    counts = cleaned.counts
    extra = counts.pop("extra_leads", 0)
    parts = ", ".join(f"{n:,} {name.replace('_', ' ')}" for name, n in list(counts.items())[1:])
    more = f" and {extra:,} extra leads" if extra else ""
    return f"{counts['records']:,} records{more}: {parts}."


def screened(checks: pd.DataFrame) -> str:
    """How many numbers were asked about, and what was answered."""
    screening = Screening().with_answers(checks).to_dict()
    return (
        f"Screened: {screening['numbers']:,} numbers asked about, {screening['listed']:,} listed, "
        f"{screening['unanswered']:,} without an answer."
    )


def sent(ledger: Ledger) -> str:
    """What the service said to the leads."""
    counts = ledger.counts
    return (
        f"Imported: {counts['sent']:,} sent, {counts['accepted']:,} accepted, "
        f"{counts['refused']:,} refused, {counts['unknown']:,} unknown."
    )


def _of_file(
    file: LeadFile, told: CleanedFile, clean: pd.DataFrame, place: int
) -> list[pd.DataFrame]:
    clean_of_file = clean[(clean["_file"] == told.name).to_numpy(dtype=bool)]
    at = np.searchsorted(file.rows, clean_of_file["_row"].to_numpy(dtype=np.int64))
    tables: list[pd.DataFrame] = []
    for lead_field, columns in told.columns.fields().items():
        if lead_field not in LEAD_COLUMNS:
            continue
        parts = told.columns.phone_parts if lead_field == "phone" else columns
        before = _before(file.frame, parts, at)
        after = clean_of_file[lead_field].to_numpy(dtype=object)
        changed = before != after
        lines = clean_of_file["_line"].to_numpy(dtype=np.int64)[changed]
        tables.append(
            pd.DataFrame(
                {
                    "file": told.name,
                    "line": lines,
                    "field": lead_field,
                    "before": before[changed],
                    "after": after[changed],
                    "_file": place,
                    "_line": lines,
                    "_field": len(tables),
                }
            ).astype({"file": "str", "field": "str", "before": "str", "after": "str"})
        )
    return tables


def _before(frame: pd.DataFrame, columns: Sequence[str], at: np.ndarray) -> np.ndarray:
    """The texts of the columns in the rows asked for; several are put side by side."""
    cells: list[np.ndarray] = [frame[name].to_numpy(dtype=object)[at] for name in columns]
    if len(cells) == 1:
        return cells[0]
    joined = [_BETWEEN.join(filter(None, row)) for row in zip(*cells, strict=True)]
    return np.array(joined, dtype=object)


@dataclass(slots=True, eq=False)
class Browsed:
    """The records set aside and the cells changed by one cleaning.

    Attributes:
        files: The files as they were opened.
        cleaned: What became of them.
    """

    files: Sequence[LeadFile]
    cleaned: Cleaned
    _issues: pd.DataFrame | None = field(default=None, repr=False)
    _changes: pd.DataFrame | None = field(default=None, repr=False)

    def issues(self, number: int, reason: str | None) -> Page:
        """A page of records that are not clean, of one reason or of all."""
        whole = self._set_aside()
        selected = whole if reason is None else whole[whole["reason"] == reason]
        return page_of(selected, number, noun="records set aside", whole=len(whole))

    def reasons(self) -> dict[str, int]:
        """Records by reason, most first."""
        counts = self._set_aside()["reason"].value_counts()
        return {str(code): int(n) for code, n in counts.items()}

    def changes(self, number: int) -> Page:
        """A page of cells of clean records that were changed.

        Raises:
            LeadFileError: The file is not the one that was opened.
        """
        if self._changes is None:
            read = [file.sha256 for file in self.files]
            if read != [file.sha256 for file in self.cleaned.files]:
                raise LeadFileError("the file was changed since it was opened; open it again")
            self._changes = changes(self.files, self.cleaned)
        return page_of(self._changes, number, noun="changed cells")

    @property
    def compared(self) -> bool:
        """Whether the changed cells are at hand."""
        return self._changes is not None

    def _set_aside(self) -> pd.DataFrame:
        if self._issues is None:
            self._issues = issues(self.cleaned)
        return self._issues


def masked(page: Page, *columns: str) -> Page:
    """The page with the values of these columns masked."""
    return replace(
        page,
        rows=page.rows.assign(
            **{name: page.rows[name].map(partial(mask, reach="cell")) for name in columns}
        ),
    )
