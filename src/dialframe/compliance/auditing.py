"""The whole audit: every check over the same calls, put together; grades nothing itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

import pandas as pd

from dialframe.compliance import checking, hours
from dialframe.compliance import rulebook as books
from dialframe.compliance.dnc import REQUEST_CODES, listed, scrub
from dialframe.compliance.dnc.evidence import IMPORT_SCREEN, records
from dialframe.compliance.intake import (
    moment,
    shaped,
    take_callbacks,
    take_calls,
    take_checks,
    take_leads,
)
from dialframe.compliance.result import CHECKS, Audit, counted
from dialframe.compliance.rulebook import RuleBook
from dialframe.compliance.zones import unknown_states

#: What an audit of this data can never know, said with every result.
LIMITS: Final = (
    "Facts for review, not legal advice.",
    "State rules, which can be narrower than the federal ones, are not in this rule book.",
    "The service does not report line type, consent, business relationship, dialing mode or the "
    "purpose of a call, so exemptions are not applied: a call that one of them permits is "
    "flagged all the same, and a rule that needs them is not evaluated.",
    "An area code is evidence of a place, not the place: numbers are ported and travel.",
    "A Do-Not-Call check says listed or not listed; it names no list and no date of the list.",
)

_DEFAULT_AGE_DAYS: Final = 31


def audit(
    leads: pd.DataFrame,
    calls: pd.DataFrame,
    checks: pd.DataFrame,
    callbacks: pd.DataFrame | None = None,
    *,
    now: datetime,
    rulebook: RuleBook | None = None,
    states: Mapping[str, str] | pd.Series | None = None,
    dnc_codes: Sequence[str] = REQUEST_CODES,
    grace: timedelta = timedelta(0),
    import_screen_counts: bool = True,
) -> Audit:
    """Calls and numbers held against the federal rules on hours and Do-Not-Call.

    Args:
        leads: Frame of the leads table.
        calls: Frame of the calls table, of the period to audit. Requests not to be called are
            looked for in the same frame, so it should reach back as far as the records do.
        checks: Ledger of Do-Not-Call checks, frame of the dnc_checks table.
        callbacks: Frame of the callbacks table; a call near a due callback is named as a
            candidate for an exemption, its grade stays.
        now: The moment of the audit; later calls, leads and checks are left out.
        rulebook: The rules; by default those of the package.
        states: Number to US state, where the account knows it; adds zones, never takes one away.
        dnc_codes: Dispositions that mean "do not call me again".
        grace: Calls this long after such a request are indeterminate instead of proven.
        import_screen_counts: Whether a lead's creation counts as a record that said "not listed".

    Returns:
        The audit.

    Raises:
        ConfigError: A frame lacks a column, an instant or `now` has no time zone.
    """
    book = books.load() if rulebook is None else rulebook
    at = moment(now)
    taken, people = take_calls(calls, as_of=now), take_leads(leads, as_of=now)
    ledger = take_checks(checks, as_of=now)
    table = records(people, ledger, import_screen_counts=import_screen_counts)
    fresh = book.freshness(at.date())
    max_age = min((rule.parameters.max_age_days for rule in fresh), default=_DEFAULT_AGE_DAYS)
    timed = hours.grade(
        taken.outbound, people, take_callbacks(callbacks), rules=book, states=states
    )
    covered = scrub.measure(taken, people, table, now=at, max_age_days=max_age)
    speaking = listed.grade(taken, people, table, now=at, codes=dnc_codes, grace=grace)
    told = checking.context(taken.outbound, people, timed)
    done = [
        checking.calling_hours(told, timed, book),
        checking.scrub_at_call(told, covered, fresh),
        checking.scrub_coverage(covered, fresh),
        checking.listed_number(told, covered, speaking, book, at.date()),
    ]
    notes = (
        *LIMITS,
        *_about_book(book, at),
        *_about_data(covered, timed, unanswered=len(checks) - len(ledger)),
        *_about_states(states),
    )
    rows = [check.row() for check in done]
    return Audit(
        findings=pd.concat([check.findings for check in done], ignore_index=True),
        checks=shaped({c.name: [row[c.name] for row in rows] for c in CHECKS}, CHECKS),
        coverage=covered,
        hours=timed,
        listed=speaking,
        excluded=dict(taken.excluded),
        rulebook_version=book.version,
        rulebook_sha256=book.sha256,
        as_of=at.to_pydatetime(),
        notes=notes,
    )


def _about_book(book: RuleBook, at: pd.Timestamp) -> list[str]:
    age = book.age_note(at.date())
    said = f"Rule book {book.version}, facts of {book.generated_on}: {book.scope}."
    return [said, *([] if age is None else [f"{age[0].upper()}{age[1:]}."])]


def _about_data(covered: scrub.Coverage, timed: pd.DataFrame, *, unanswered: int) -> list[str]:
    notes = []
    silent = int((covered.calls["source"] == IMPORT_SCREEN).sum())
    if silent:
        notes.append(
            f"For {counted(silent, 'call')} the newest record is the service's screen at import, "
            "which leaves no answer of its own."
        )
    asked = int(timed["reason"].str.contains("exempt candidate", regex=False).sum())
    if asked:
        notes.append(
            f"{counted(asked, 'call')} outside the hours in some zone may have been asked for "
            "by the customer: a callback was due."
        )
    if unanswered:
        notes.append(
            f"{counted(unanswered, 'row')} of the ledger of checks count for nothing: later than "
            "the audit, or without number, answer or time."
        )
    return notes


def _about_states(states: Mapping[str, str] | pd.Series | None) -> list[str]:
    odd = unknown_states(states)
    if not odd:
        return []
    shown = ", ".join(repr(value) for value in odd[:5])
    return [
        f"{counted(len(odd), 'value')} given as a US state are none and were ignored: {shown}."
    ]
