"""What happened to the files of one cleaning, as plain values for people and programs; numbers are masked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from dialframe import csv_safety
from dialframe.leads.outcomes import CleanedFile, Example
from dialframe.leads.reasons import BY_CODE, WARNINGS
from dialframe.privacy import mask

#: Name and version of the report's form.
SCHEMA: Final = "dialframe.lead-report/1"
_SHOWN_LINES: Final = 100


class Outcome(Protocol):
    """What a report tells of; `Cleaned` and `CleanedFiles` are such."""

    @property
    def files(self) -> tuple[CleanedFile, ...]:
        """The files, in order."""

    @property
    def region(self) -> str | None:
        """Region by which national numbers were read."""

    @property
    def leftovers(self) -> tuple[str, ...]:
        """Columns that no field explains."""

    @property
    def counts(self) -> dict[str, int]:
        """`records`, and the outcomes that add up to it."""

    @property
    def reasons(self) -> dict[str, dict[str, int]]:
        """Records by outcome and reason code, most frequent first."""

    @property
    def warnings(self) -> dict[str, int]:
        """Clean records by warning code, most frequent first."""

    @property
    def countries(self) -> dict[str, int]:
        """Clean records by country of their number, most first."""

    @property
    def line_types(self) -> dict[str, int]:
        """Clean records by line type of their number, most first."""

    def examples(self, outcome: str, code: str) -> list[Example]:
        """The first records with the reason."""


def report(cleaned: Outcome, outputs: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """The report of a cleaning; the same input gives the same report.

    Args:
        cleaned: The outcome.
        outputs: Files that were written: name, rows, sha256.

    Returns:
        `counts`, `countries` and `line_types` of the clean numbers, `reasons` (code, count, meaning, remedy, masked examples) by outcome, `warnings`,
        `files` (decisions, columns with confidence, hashes), `leftovers`, `outputs`.

    Example:
        counted = dialframe.leads.report(cleaned)
    """
    meanings = {warning.code: warning.meaning for warning in WARNINGS}
    return {
        "schema": SCHEMA,
        "region": cleaned.region,
        "counts": cleaned.counts,
        "countries": cleaned.countries,
        "line_types": cleaned.line_types,
        "reasons": {
            outcome: [
                _reason(code, count, cleaned.examples(outcome, code))
                for code, count in codes.items()
            ]
            for outcome, codes in cleaned.reasons.items()
        },
        "warnings": [
            {"code": code, "count": count, "meaning": meanings.get(code, "")}
            for code, count in cleaned.warnings.items()
        ],
        "leftovers": list(cleaned.leftovers),
        "csv_escape": csv_safety.NAME,
        "files": [_file(file) for file in cleaned.files],
        "outputs": [dict(output) for output in outputs],
    }


#: Reasons of which a person has to read the words; numbers in them stay masked.
_IN_CLEAR: Final = ("no_consent", "opt_out_unclear")


def _reason(code: str, count: int, examples: Sequence[Example]) -> dict[str, Any]:
    reason = BY_CODE[code]
    return {
        "code": code,
        "count": count,
        "meaning": reason.meaning,
        "remedy": reason.remedy,
        "examples": [
            {
                "file": example.file,
                "line": example.line,
                "value": mask(example.value, reach="text" if code in _IN_CLEAR else "cell"),
            }
            for example in examples
        ],
    }


def _file(file: CleanedFile) -> dict[str, Any]:
    decisions = file.decisions.to_dict()
    for name in ("preamble_lines", "repaired_lines"):
        # A file can have a million of them; the first ones tell where to look.
        lines = decisions[name]
        decisions[name] = list(lines[:_SHOWN_LINES])
        decisions[f"{name}_count"] = len(lines)
    return {
        "name": file.name,
        "path": str(file.path.absolute()),
        "sha256": file.sha256,
        "records": file.records,
        "header": None if file.header is None else list(file.header),
        "decisions": decisions,
        "columns": file.columns.to_dict(),
        "region": None if file.region_decision is None else file.region_decision.to_dict(),
    }
