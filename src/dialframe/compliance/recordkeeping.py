"""Whether each call is on record with the fields that the rules on records ask for, and how far back records go."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

import numpy as np
import pandas as pd

from dialframe.compliance.cases import Cases
from dialframe.compliance.clock import Flags, Texts
from dialframe.compliance.facts import RetentionRule
from dialframe.compliance.grades import NOT_EVALUABLE, PASSED, UNCERTAIN
from dialframe.compliance.intake import shaped
from dialframe.compliance.rulebook import RuleBook
from dialframe.compliance.spans import Days, reach
from dialframe.frames import Column

COLUMNS: Final = (
    Column("call_id", "text", "call id"),
    Column("to_number", "text", "called number, E.164"),
    Column("campaign_id", "text", "campaign of the call"),
    Column("created_at", "instant", "the call was started, UTC"),
    Column("absent", "text", "fields of the call's record that are empty"),
    Column("grade", "text", "pass, uncertain or not evaluable"),
    Column("rule_id", "text", "rules on records that reach the call"),
    Column("citation", "text", "their citations"),
    Column("missing", "text", "the input that is missing when not evaluable"),
    Column("reason", "text", "why this grade"),
)
RETENTION: Final = (
    Column("rule_id", "text", "the rule"),
    Column("citation", "text", "its citation"),
    Column("years", "integer", "years that records are kept"),
    Column("wanted_from", "instant", "records are wanted from here on, UTC"),
    Column("oldest_at", "instant", "oldest call that is stored, UTC"),
    Column("grade", "text", "pass, uncertain or not evaluable"),
    Column("missing", "text", "the input that is missing when not evaluable"),
    Column("reason", "text", "why this grade"),
)

#: The first day on which 16 CFR 310.5(a)(2) asks for a detail record of each call.
_DETAIL: Final = "us-tsr-retention"
NO_RULE: Final = "a rule on records for the place of the number"
NO_BEGINNING: Final = "the day on which the account began to call"


def completeness(calls: pd.DataFrame, cases: Cases, days: Days, book: RuleBook) -> pd.DataFrame:
    """Each call's record against 16 CFR 310.5(a)(2): numbers, date, time, duration, disposition.

    An empty field is uncertain, not a violation: the firm may keep it elsewhere. The disposition is
    asked for only of calls that were answered.
    """
    usable = np.ones(len(calls), dtype=bool)
    asked = np.zeros(len(calls), dtype=bool)
    rules = asked_rules(book)
    for _, rows, _ in reach(rules, cases, days, usable):
        asked[rows] = True
    absent = np.full(len(calls), "", dtype=object)
    for name, empty in gaps(calls):
        absent[empty] += f"{name}, "
    lacking = absent != ""
    grade = np.where(asked, np.where(lacking, UNCERTAIN, PASSED), NOT_EVALUABLE).astype(object)
    reason = np.where(
        asked,
        np.where(
            lacking,
            "the stored record has no " + _cut(absent),
            "the stored record has every field",
        ),
        "no rule of those asked says what a record of the call has to hold",
    ).astype(object)
    rule = rules[0] if rules else None
    values: dict[str, object] = {
        "call_id": calls["id"],
        "to_number": calls["to_number"],
        "campaign_id": calls["campaign_id"],
        "created_at": calls["created_at"],
        "absent": pd.Series(_cut(absent), dtype=object).where(lacking, None),
        "grade": grade,
        "rule_id": pd.Series(rule.id if rule else None, index=calls.index).where(asked, None),
        "citation": pd.Series(rule.citation if rule else None, index=calls.index).where(
            asked, None
        ),
        "missing": pd.Series(NO_RULE, index=calls.index).where(~asked, None),
        "reason": reason,
    }
    return shaped(values, COLUMNS)


def asked_rules(book: RuleBook) -> list[RetentionRule]:
    """The rule on the record of each call."""
    return [r for r in book.of_kind(RetentionRule) if r.id == _DETAIL]


def gaps(calls: pd.DataFrame) -> Iterator[tuple[str, Flags]]:
    """Fields that the rule asks for, and which calls lack them."""
    ended = calls["ended_at"].notna() | calls["duration_seconds"].notna()
    answered = calls["answered_at"].notna()
    for name, empty in (
        ("from_number", calls["from_number"].isna()),
        ("to_number", calls["to_number"].isna()),
        ("created_at", calls["created_at"].isna()),
        ("duration_seconds", ~ended),
        ("disposition", answered & calls["disposition"].isna()),
    ):
        yield name, empty.to_numpy(dtype=bool)


def retention(
    oldest_at: datetime | None, book: RuleBook, *, now: datetime, began_at: datetime | None
) -> pd.DataFrame:
    """How far back stored calls go, against each rule on keeping records that is in force.

    Args:
        oldest_at: The oldest stored call.
        book: The rules.
        now: The moment of the audit.
        began_at: When the account began, as far as it is known: its first campaign, for instance.
    """
    rules = [r for r in book.in_force(now.date()) if isinstance(r, RetentionRule)]
    rows = []
    for rule in rules:
        years = rule.parameters.years
        wanted = pd.Timestamp(now) - pd.DateOffset(years=years)
        grade, missing, reason = _reaches(oldest_at, began_at, wanted.to_pydatetime())
        reason += f"; to be kept: {', '.join(rule.parameters.records)}"
        rows.append(
            {
                "rule_id": rule.id, "citation": rule.citation, "years": years, "wanted_from": wanted,
                "oldest_at": oldest_at, "grade": grade, "missing": missing, "reason": reason,
            }
        )  # fmt: skip
    return shaped({c.name: [row[c.name] for row in rows] for c in RETENTION}, RETENTION)


def _reaches(
    oldest: datetime | None, began: datetime | None, wanted: datetime
) -> tuple[str, str | None, str]:
    if oldest is not None and oldest <= wanted:
        return PASSED, None, "stored calls reach back as far as records are to be kept"
    if began is None:
        return NOT_EVALUABLE, NO_BEGINNING, "stored calls begin later than records are wanted from"
    if oldest is not None and began >= wanted and (oldest - began).days <= 1:
        return PASSED, None, "stored calls reach back to the day on which the account began"
    return (
        UNCERTAIN,
        None,
        "stored calls begin later than the account did; older ones may be kept elsewhere",
    )


def _cut(texts: Texts) -> Texts:
    return np.array([text.removesuffix(", ") for text in texts], dtype=object)
