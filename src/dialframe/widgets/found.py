"""What a cleaning set aside and what it changed, as frames to page through; decides nothing, masks nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd

from dialframe.flows import lead_tables
from dialframe.flows.outcomes import Ledger
from dialframe.leads import Cleaned, CleanedFile, LeadFile, MappingDecision
from dialframe.leads.findings import LEAD_COLUMNS

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
        for at, (file, told) in enumerate(zip(files, cleaned.files, strict=True))
        for part in _of_file(file, told, cleaned.clean, at)
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
    parts = ", ".join(f"{n:,} {name.replace('_', ' ')}" for name, n in list(counts.items())[1:])
    return f"{counts['records']:,} records: {parts}."


def screened(checks: pd.DataFrame) -> str:
    """How many numbers were asked about, and what was answered."""
    told = lead_tables.screening(checks)
    return (
        f"Screened: {told['numbers']:,} numbers asked about, {told['listed']:,} listed, "
        f"{told['unanswered']:,} without an answer."
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
    own = clean[(clean["_file"] == told.name).to_numpy(dtype=bool)]
    at = np.searchsorted(file.rows, own["_row"].to_numpy(dtype=np.int64))
    found: list[pd.DataFrame] = []
    for field, columns in told.columns.fields().items():
        if field not in LEAD_COLUMNS:
            continue
        parts = told.columns.phone_parts if field == "phone" else columns
        before = _before(file.frame, parts, at)
        after = own[field].to_numpy(dtype=object)
        changed = before != after
        lines = own["_line"].to_numpy(dtype=np.int64)[changed]
        found.append(
            pd.DataFrame(
                {
                    "file": told.name,
                    "line": lines,
                    "field": field,
                    "before": before[changed],
                    "after": after[changed],
                    "_file": place,
                    "_line": lines,
                    "_field": len(found),
                }
            ).astype({"file": "str", "field": "str", "before": "str", "after": "str"})
        )
    return found


def _before(frame: pd.DataFrame, columns: Sequence[str], at: np.ndarray) -> np.ndarray:
    """The texts of the columns in the rows asked for; several are put side by side."""
    cells: list[np.ndarray] = [frame[name].to_numpy(dtype=object)[at] for name in columns]
    if len(cells) == 1:
        return cells[0]
    joined = [_BETWEEN.join(filter(None, row)) for row in zip(*cells, strict=True)]
    return np.array(joined, dtype=object)
