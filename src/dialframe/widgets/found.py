"""What a cleaning set aside and what it changed, as frames to page through; decides nothing, masks nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd

from dialframe.leads import Cleaned, CleanedFile, LeadFile
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
