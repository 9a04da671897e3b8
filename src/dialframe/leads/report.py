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
#: Name of the firm's own list among those that a run accounts for.
OWN_LIST: Final = "your suppression list"
#: Records from which more than half of them, or the share that one column may hold, says something.
_SEVERAL: Final = 5
_MANY: Final = 20
_MUCH: Final = 0.2
#: A list of so many numbers of which none is met was read in another form than it is written in.
_LONG_LIST: Final = 20


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


def report(
    cleaned: Outcome,
    outputs: Sequence[Mapping[str, Any]] = (),
    suppression: Mapping[str, tuple[int, int]] | None = None,
) -> dict[str, Any]:
    """The report of a cleaning; the same input gives the same report.

    Args:
        cleaned: The outcome.
        outputs: Files that were written: name, rows, sha256.
        suppression: Lists of numbers that must not be called, to how many each holds and how many of
            those are in the files.

    Returns:
        `counts`, `held` (of do-not-call: until a question is answered), `questions` (words in clear), `holding`
        (records kept from being called, by column), `suppression` (entries and met, by list), `doubts`, `countries` and `line_types` of the clean numbers, `reasons` (code, count, meaning, remedy, masked examples) by outcome, `warnings`,
        `files` (decisions, columns with confidence, hashes), `leftovers`, `outputs`.

    Example:
        counted = dialframe.leads.report(cleaned)
    """
    meanings = {warning.code: warning.meaning for warning in WARNINGS}
    return {
        "schema": SCHEMA,
        "region": cleaned.region,
        "counts": cleaned.counts,
        "held": cleaned.reasons["do_not_call"].get("opt_out_unclear", 0),
        "questions": [
            {"file": file.name, **question.to_dict()}
            for file in cleaned.files
            for question in file.questions
        ],
        "holding": [
            {"file": file.name, "column": column, "records": records}
            for file in cleaned.files
            # Not in the order in which they were met, which the size of the blocks decides.
            for column, records in sorted(file.held.items(), key=lambda each: (-each[1], each[0]))
        ],
        "suppression": {
            name: {"entries": entries, "met": met}
            for name, (entries, met) in (suppression or {}).items()
        },
        "doubts": doubts(cleaned, suppression or {}),
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


def doubts(cleaned: Outcome, suppression: Mapping[str, tuple[int, int]]) -> list[str]:
    """What a person should look at before the list is used, in words; empty where nothing is strange.

    Args:
        cleaned: The outcome.
        suppression: As for `report`.
    """
    counts = cleaned.counts
    records = counts["records"] - counts["skipped"]
    words = []
    if records and not counts["clean"]:
        words.append("no record is clean")
    elif records >= _SEVERAL and counts["do_not_call"] > records / 2:
        words.append(f"{counts['do_not_call']:,} of {records:,} records must not be called")
    words += [
        f"column {column!r} alone holds {held:,} of {file.records:,} records"
        for file in cleaned.files
        for column, held in sorted(file.held.items())
        if file.records >= _MANY and held > _MUCH * file.records
    ]
    words += [
        f"{name}: {entries:,} entries, and none of them is in this list"
        for name, (entries, met) in suppression.items()
        if entries >= _LONG_LIST and not met and name != OWN_LIST
    ]
    return words


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
