"""Requests not to be called: was each number put on the list in the time that the rules allow; knows no call after it.

A request comes as the disposition of a call, or as an event. That it was honoured shows in a check
that says "listed", or in a lead that is `dnc`; when, is known only within an interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import pandas as pd

from dialframe.compliance import cases as sorting
from dialframe.compliance.cases import reached
from dialframe.compliance.dnc.evidence import CHECK
from dialframe.compliance.dnc.honouring import Span, spans_of
from dialframe.compliance.facts import HonourRule
from dialframe.compliance.grades import NOT_EVALUABLE, PASSED, UNCERTAIN, VIOLATION
from dialframe.compliance.intake import shaped
from dialframe.compliance.practice import Practice
from dialframe.compliance.rulebook import RuleBook
from dialframe.frames import Column

COLUMNS: Final = (
    Column("phone", "text", "the number that asked, E.164"),
    Column("requested_at", "instant", "the request was made, UTC"),
    Column("request", "text", "the call or event that it was made on, and its outcome"),
    Column("due_at", "instant", "end of the last day on which it is honoured in time, UTC"),
    Column("unlisted_at", "instant", "newest record after the request that said not listed, UTC"),
    Column(
        "honoured_at", "instant", "oldest record after the request that shows it honoured, UTC"
    ),
    Column("grade", "text", "pass, violation, uncertain or not evaluable"),
    Column("rule_id", "text", "rules that the grade rests on"),
    Column("citation", "text", "their citations"),
    Column("missing", "text", "the input that is missing when not evaluable"),
    Column("reason", "text", "why this grade"),
)

NO_LATER_CHECK: Final = "a Do-Not-Call check of the number after the request"
NOT_DUE: Final = "the end of the time allowed"
NO_RULE: Final = "a rule on requests for the place of the number"
#: A rule without grace still leaves the day of the request to write it down.
_AT_ONCE: Final = timedelta(days=1)


def grade(
    asked: pd.DataFrame,
    table: pd.DataFrame,
    people: pd.DataFrame,
    *,
    now: pd.Timestamp,
    book: RuleBook,
    practice: Practice,
    states: pd.Series | None = None,
) -> pd.DataFrame:
    """Each request held against the rules on requests that were in force on its day.

    Args:
        asked: Requests, as `evidence.requests` gives them.
        table: Records of checks, as `evidence.records` gives them.
        people: Leads, as they came through the door.
        now: The moment of the audit.
        book: The rules.
        practice: What the firm says of its calling.
        states: Number to state or ZIP code.

    Returns:
        One row per request, columns `COLUMNS`.
    """
    rules = book.of_kind(HonourRule)
    numbers = pd.DataFrame({"to_number": asked["phone"], "campaign_id": None})
    sorted_ = sorting.sort(numbers, practice=practice, states=states)
    checks = table[table["source"] == CHECK]
    checks = checks[checks["phone"].isin(asked["phone"])]
    known: dict[str, list[tuple[pd.Timestamp, bool]]] = {}
    for phone, at, listed in zip(checks["phone"], checks["at"], checks["listed"], strict=True):
        known.setdefault(phone, []).append((at, bool(listed)))
    closed = people[people["status"].str.strip().str.lower() == "dnc"]
    flagged = closed.groupby("phone")["updated_at"].min().to_dict()
    rows = []
    of_case = [[each.rule for each in reached(case, rules)] for case in sorted_.kinds]
    for position, request in enumerate(asked.itertuples(index=False)):
        code = sorted_.codes[position]
        at = request.at.to_pydatetime()
        found = _shown(known.get(request.phone, ()), flagged.get(request.phone), at)
        rows.append(
            {
                "phone": request.phone,
                "requested_at": at,
                "request": f"{request.code} on {request.call_id}",
                **_one(
                    spans_of(sorted_.kinds[code], of_case[code], at),
                    found,
                    at,
                    now.to_pydatetime(),
                ),
            }
        )
    return shaped({c.name: [row.get(c.name) for row in rows] for c in COLUMNS}, COLUMNS)


def _shown(
    checks: Sequence[tuple[pd.Timestamp, bool]], flagged_at: object, at: datetime
) -> tuple[datetime | None, datetime | None]:
    """The newest record that said not listed before the oldest that shows the request honoured, and that one."""
    after = [(moment, said) for moment, said in checks if moment > at]
    listed = [moment for moment, said in after if said]
    if flagged_at is not None and not pd.isna(flagged_at):
        listed.append(max(pd.Timestamp(str(flagged_at)), pd.Timestamp(at)))
    honoured = min(listed, default=None)
    unlisted = max(
        (m for m, said in after if not said and (honoured is None or m < honoured)),
        default=None,
    )
    return _plain(unlisted), _plain(honoured)


def _plain(at: pd.Timestamp | None) -> datetime | None:
    return None if at is None else at.to_pydatetime()


def _one(
    law: tuple[Span, ...],
    found: tuple[datetime | None, datetime | None],
    at: datetime,
    now: datetime,
) -> dict[str, object]:
    unlisted, honoured = found
    if not law:
        return {
            "grade": NOT_EVALUABLE, "missing": NO_RULE, "unlisted_at": unlisted,
            "honoured_at": honoured,
            "reason": "the rules asked have none on requests that held there on that day",
        }  # fmt: skip
    first = min(law, key=lambda span: span.starts_at)
    due = max(first.starts_at, at + _AT_ONCE)
    rules = [span.rule for span in law if span.rule is not None]
    graded, missing, reason = _grade(unlisted, honoured, due, now)
    return {
        "due_at": due.astimezone(UTC),
        "unlisted_at": unlisted,
        "honoured_at": honoured,
        "grade": graded,
        "rule_id": "; ".join(rule.id for rule in rules),
        "citation": "; ".join(rule.citation for rule in rules),
        "missing": missing,
        "reason": f"{reason} ({first.days})",
    }


def _grade(
    unlisted: datetime | None, honoured: datetime | None, due: datetime, now: datetime
) -> tuple[str, str | None, str]:
    day = f"{due:%Y-%m-%dT%H:%M:%SZ}"
    if honoured is not None and honoured <= due:
        return PASSED, None, f"shown as honoured before {day}"
    if unlisted is not None and unlisted > due:
        return VIOLATION, None, f"still not listed after {day}, when it was due"
    if honoured is not None:
        return UNCERTAIN, None, f"first shown as honoured after {day}, when it was due"
    if now <= due:
        return NOT_EVALUABLE, NOT_DUE, f"the time allowed runs until {day}"
    return (
        NOT_EVALUABLE,
        NO_LATER_CHECK,
        "no record after the request shows whether it was honoured",
    )
