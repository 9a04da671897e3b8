"""What happened to the files of one cleaning, as plain values for people and programs; numbers are masked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas as pd

from dialframe.leads import escaping
from dialframe.leads.cleaned import Cleaned, CleanedFile
from dialframe.leads.reasons import BY_CODE, WARNINGS
from dialframe.privacy import mask_phone

#: Name and version of the report's form.
SCHEMA: Final = "dialframe.lead-report/1"
_EXAMPLES: Final = 3
_SHOWN_LINES: Final = 100
_EMAIL: Final = re.compile(r"[^\s@]+(@[^\s@]+)")


def report(cleaned: Cleaned, outputs: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """The report of a cleaning; the same input gives the same report.

    Args:
        cleaned: The outcome.
        outputs: Files that were written: name, rows, sha256.

    Returns:
        `counts`, `reasons` (code, count, meaning, remedy, masked examples) by outcome, `warnings`,
        `files` (decisions, columns with confidence, hashes), `leftovers`, `outputs`.
    """
    return {
        "schema": SCHEMA,
        "region": cleaned.region,
        "counts": cleaned.counts,
        "reasons": {
            outcome: [
                _reason(code, count, getattr(cleaned, outcome)) for code, count in codes.items()
            ]
            for outcome, codes in cleaned.reasons.items()
        },
        "warnings": [
            {"code": code, "count": count, "meaning": _warned(code)}
            for code, count in cleaned.warnings.items()
        ],
        "leftovers": list(cleaned.leftovers),
        "csv_escape": escaping.NAME,
        "files": [_file(file) for file in cleaned.files],
        "outputs": [dict(output) for output in outputs],
    }


def mask(value: str) -> str:
    """A value of a lead with most of it hidden, for reports and messages."""
    value = " ".join(value.split())
    if "@" in value:
        return _EMAIL.sub(lambda match: f"{match[0][0]}***{match[1]}", value)
    if any(char.isdecimal() for char in value):
        return mask_phone(value)
    return value if len(value) <= 1 else f"{value[0]}{'*' * min(len(value) - 1, 10)}"


def _reason(code: str, count: int, frame: pd.DataFrame) -> dict[str, Any]:
    reason = BY_CODE[code]
    own = frame[frame["_reason"] == code].head(_EXAMPLES)
    return {
        "code": code,
        "count": count,
        "meaning": reason.meaning,
        "remedy": reason.remedy,
        "examples": [
            {"file": file, "line": int(line), "value": mask(value)}
            for file, line, value in zip(own["_file"], own["_line"], own["_value"], strict=True)
        ],
    }


def _warned(code: str) -> str:
    return next((warning.meaning for warning in WARNINGS if warning.code == code), "")


def _file(file: CleanedFile) -> dict[str, Any]:
    decisions = file.decisions.to_dict()
    for name in ("preamble_lines", "repaired_lines"):
        # A file can have a million of them; the first ones tell where to look.
        lines = decisions[name]
        decisions[name] = list(lines[:_SHOWN_LINES])
        decisions[f"{name}_count"] = len(lines)
    return {
        "name": file.name,
        "sha256": file.sha256,
        "records": file.records,
        "header": None if file.header is None else list(file.header),
        "decisions": decisions,
        "columns": file.columns.to_dict(),
    }
