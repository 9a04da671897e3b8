"""What a cleaning found, as tables shown page by page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np
import pandas as pd

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


#: Where a record stands in its file, and why it was set aside.
_PLACES: Final = ("_file", "_line", "_outcome", "_reason", "_field", "_value", "_all_reasons")
_CHANGES: Final = ("file", "line", "field", "before", "after")
#: Parts the texts of several columns.
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
        for number, (file, read) in enumerate(zip(files, cleaned.files, strict=True))
        for part in _of_file(file, read, cleaned.clean, number)
    ]
    if not parts:
        return pd.DataFrame({name: [] for name in _CHANGES})
    whole = pd.concat(parts, ignore_index=True)
    # As the files were given, then by line, then by column.
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
    file: LeadFile, cleaned: CleanedFile, clean: pd.DataFrame, number: int
) -> list[pd.DataFrame]:
    """The changed cells of one file, a frame for each field; `number` puts the files in order."""
    clean_of_file = clean[(clean["_file"] == cleaned.name).to_numpy(dtype=bool)]
    rows = np.searchsorted(file.rows, clean_of_file["_row"].to_numpy(dtype=np.int64))
    tables: list[pd.DataFrame] = []
    for lead_field, columns in cleaned.columns.fields().items():
        if lead_field not in LEAD_COLUMNS:
            continue
        parts = cleaned.columns.phone_parts if lead_field == "phone" else columns
        # As texts of the file, before anything was judged.
        cells = [file.frame[name].to_numpy(dtype=object)[rows] for name in parts]
        # Where several columns give a field, their texts stand side by side.
        before = cells[0] if len(cells) == 1 else np.array(
            [_BETWEEN.join(filter(None, row)) for row in zip(*cells, strict=True)], dtype=object
        )  # fmt: skip
        after = clean_of_file[lead_field].to_numpy(dtype=object)
        changed = before != after
        lines = clean_of_file["_line"].to_numpy(dtype=np.int64)[changed]
        tables.append(
            pd.DataFrame(
                {
                    "file": cleaned.name,
                    "line": lines,
                    "field": lead_field,
                    "before": before[changed],
                    "after": after[changed],
                    "_file": number,
                    "_line": lines,
                    "_field": len(tables),
                }
            ).astype({"file": "str", "field": "str", "before": "str", "after": "str"})
        )
    return tables


def masked(page: Page, *columns: str) -> Page:
    """The page with the values of these columns masked."""
    return replace(
        page,
        rows=page.rows.assign(
            **{name: page.rows[name].map(partial(mask, reach="cell")) for name in columns}
        ),
    )
