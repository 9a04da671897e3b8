"""What `dialframe leads` says on a terminal and as JSON; knows the outcome, decides nothing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dialframe.cli import tables
from dialframe.cli.face import answer, say
from dialframe.contract.limits import CUSTOM_FIELDS

if TYPE_CHECKING:
    import pandas as pd

    from dialframe.flows.choosing import Memory
    from dialframe.flows.intake import BroughtIn
    from dialframe.leads.report import Outcome

_NOT_OF_REGION: Final = ("invalid_phone", "phone_too_long", "phone_too_short")
_LEDGER: Final = ("sent", "accepted", "refused", "unknown")


def tell(
    cleaned: Outcome,
    files: Mapping[str, Path],
    *,
    memory: Memory | None = None,
    checks: pd.DataFrame | None = None,
    lines: Mapping[str, pd.DataFrame] | None = None,
    brought: BroughtIn | None = None,
    as_json: bool,
) -> None:
    """What was decided, what was set aside and why, what was sent, which files there are."""
    if as_json:
        answer(facts(cleaned, files, memory=memory, checks=checks, lines=lines, brought=brought))
        return
    _tell_files(cleaned, memory)
    _tell_outcome(cleaned)
    for reason, found in (lines or {}).items():
        _tell_lines(reason, found)
    if checks is not None:
        _tell_checks(checks)
    if brought is not None:
        _tell_ledger(brought)
    for name, path in files.items():
        say(f"  {name.replace('_', ' '):<16} {path}")


def facts(
    cleaned: Outcome,
    files: Mapping[str, Path],
    *,
    memory: Memory | None = None,
    checks: pd.DataFrame | None = None,
    lines: Mapping[str, pd.DataFrame] | None = None,
    brought: BroughtIn | None = None,
) -> dict[str, Any]:
    """The same as one object for machines."""
    from dialframe import leads
    from dialframe.flows import lead_tables

    told = leads.report(cleaned)
    found: dict[str, Any] = {
        **cleaned.counts,
        "reasons": cleaned.reasons,
        "examples": {
            reason["code"]: reason["examples"]
            for listed in told["reasons"].values()
            for reason in listed
        },
        "warnings": cleaned.warnings,
        "inputs": [
            {**one, "saved_mapping": memory is not None and memory.of(file.header) is not None}
            for one, file in zip(told["files"], cleaned.files, strict=True)
        ],
        "leftovers": told["leftovers"],
    }
    if lines:
        found["lines"] = {reason: own.to_dict("records") for reason, own in lines.items()}
    if checks is not None:
        found["checks"] = lead_tables.screening(checks)
    if brought is not None:
        ledger = brought.ledger
        found |= {**ledger.counts, "not_sent": ledger.not_sent, "answers": ledger.reasons}
    if files:
        found["files"] = {name: str(path) for name, path in files.items()}
    return found


def _tell_files(cleaned: Outcome, memory: Memory | None) -> None:
    from dialframe.flows import lead_tables

    for file in cleaned.files:
        say(
            f"{file.name}: {file.records:,} records; {'; '.join(lead_tables.decided(file.decisions))}"
        )
        if memory is not None and memory.of(file.header) is not None:
            say("  columns as answered for this header before; --no-saved-mapping finds them anew")
        rows = lead_tables.columns_of(file)
        tables.grid([(f"  {name}", column, sure, other) for name, column, sure, other in rows])
        others = file.columns.leftovers
        if others:
            say(f"  other columns, kept as custom fields: {', '.join(others)}")
        if len(others) > CUSTOM_FIELDS:
            say(
                f"  that is {len(others)}: an import takes {CUSTOM_FIELDS}, chosen with --keep NAME"
            )


def _tell_outcome(cleaned: Outcome) -> None:
    from dialframe.flows import lead_tables

    why = lead_tables.reasons(cleaned)
    for outcome in cleaned.reasons:
        own = why[why["outcome"] == outcome]
        if own.empty:
            continue
        say(f"\n{_words(outcome)}: {own['records'].sum():,}")
        shown = own[["records", "reason", "first_lines", "meaning"]]
        tables.grid(
            [(f"{row[0]:,}", *row[1:]) for row in shown.itertuples(index=False)], right=True
        )
    warned = lead_tables.warnings(cleaned)
    if len(warned):
        say("\nclean, and mended:")
        tables.grid(
            [(f"{row[0]:,}", *row[1:]) for row in warned.itertuples(index=False)], right=True
        )
    _tell_region(cleaned)
    counts = cleaned.counts
    parts = ", ".join(f"{number:,} {_words(name)}" for name, number in list(counts.items())[1:])
    say(f"\n{counts['records']:,} records: {parts}")


def _tell_region(cleaned: Outcome) -> None:
    """A hint where most numbers are none of the region: it may be the wrong one."""
    wrong = sum(cleaned.reasons["rejected"].get(code, 0) for code in _NOT_OF_REGION)
    if cleaned.region and 2 * wrong > cleaned.counts["records"]:
        say(
            f"\nMost numbers are none of {cleaned.region}: if they were written for another country, "
            "name it with --region"
        )


def _tell_lines(reason: str, found: pd.DataFrame) -> None:
    from dialframe.leads.reasons import BY_CODE

    say(f"\n{reason}: {BY_CODE[reason].meaning}; {BY_CODE[reason].remedy}")
    tables.grid([(f"{row.file}:{row.line}", row.field, row.value) for row in found.itertuples()])
    if not len(found):
        say("  no record")


def _words(name: object) -> str:
    return str(name).replace("_", " ")


def _tell_checks(checks: pd.DataFrame) -> None:
    from dialframe.flows import lead_tables

    found = lead_tables.screening(checks)
    say(
        f"Do-Not-Call: {found['numbers']:,} numbers have an answer, the oldest of "
        f"{found['oldest_at'] or 'no day'}; {found['listed']:,} are listed"
        + (f"; {found['unanswered']:,} have none and are set aside" if found["unanswered"] else "")
    )


def _tell_ledger(brought: BroughtIn) -> None:
    from dialframe.flows import lead_tables

    ledger = brought.ledger
    counts = ledger.counts
    say(f"Import: {', '.join(f'{counts[name]:,} {name}' for name in _LEDGER)}")
    why = lead_tables.refusals(ledger)
    tables.grid([(f"{row[0]:,}", *row[1:]) for row in why.itertuples(index=False)], right=True)
    if ledger.not_sent["set_aside"]:
        say(f"{ledger.not_sent['set_aside']:,} were listed since the plan was made, and not sent")
    if counts["unknown"]:
        say(
            "What is unknown is settled by the same command, run again: it asks with the same keys"
        )
