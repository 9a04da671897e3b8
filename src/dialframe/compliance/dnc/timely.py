"""Which calls had a Do-Not-Call check that was recent enough when they were made; knows no list itself.

A check too old does not make a call wrong: the safe harbour is a defence and not a duty, and what
the service itself screened before it dialled is not in this data. So it is uncertain, and a call
without any check before it is not evaluable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from dialframe.compliance.cases import Cases, spared
from dialframe.compliance.clock import Flags, Ints, Texts
from dialframe.compliance.dnc.evidence import nearest
from dialframe.compliance.facts import FreshnessRule
from dialframe.compliance.grades import (
    CREATED_AT,
    DIRECTION,
    NOT_EVALUABLE,
    PASSED,
    UNCERTAIN,
)
from dialframe.compliance.intake import shaped
from dialframe.compliance.rulebook import RuleBook
from dialframe.compliance.spans import Days, reach
from dialframe.frames import Column
from dialframe.phones.zones import NO_NUMBER

COLUMNS: Final = (
    Column("call_id", "text", "call id"),
    Column("to_number", "text", "called number, E.164"),
    Column("campaign_id", "text", "campaign of the call"),
    Column("created_at", "instant", "the call was started, UTC"),
    Column("checked_at", "instant", "newest record at or before the call, UTC"),
    Column("source", "text", "check or import screen"),
    Column("ref", "text", "request id of the check, or lead id of the import screen"),
    Column("listed", "boolean", "what that record said"),
    Column("age_days", "number", "from the record to the call, days of 24 hours"),
    Column("next_at", "instant", "oldest record after the call, UTC"),
    Column("next_listed", "boolean", "what that one said"),
    Column("state", "text", "checked in time, stale, only after or never"),
    Column("grade", "text", "pass, uncertain or not evaluable"),
    Column("missing", "text", "the input that is missing when not evaluable"),
    Column("reason", "text", "why this grade"),
)

NO_CHECK: Final = "a Do-Not-Call check at or before the call"
NO_LAW: Final = "a rule on Do-Not-Call lists for the place of the number"
IN_TIME, STALE, AFTER, NEVER = "checked in time", "stale", "only after", "never"

_GRADES: Final = {
    IN_TIME: PASSED,
    STALE: UNCERTAIN,
    AFTER: NOT_EVALUABLE,
    NEVER: NOT_EVALUABLE,
}
_DAY: Final = pd.Timedelta(days=1)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Limits:
    """How old a record may be for each call, by the rules of its place on its day.

    Attributes:
        max_age_days: The least of all rules; 0 where no rule reaches the call.
        same_quarter: Whether the record has to be of the call's own calendar quarter.
        rules: The rules, as positions in `kinds`.
        kinds: Distinct sets of rules.
        spared: Words where a record lifts every rule, else None.
    """

    max_age_days: Ints
    same_quarter: Flags
    rules: Ints
    kinds: tuple[tuple[FreshnessRule, ...], ...]
    spared: Texts
    asked: tuple[FreshnessRule, ...]


def asked_rules(book: RuleBook) -> list[FreshnessRule]:
    """Rules that the check asks."""
    return [
        r
        for r in book.of_kind(FreshnessRule)
        if r.parameters.check == "age" and r.status != "voluntary_code"
    ]


def limits(calls: pd.DataFrame, cases: Cases, days: Days, book: RuleBook) -> Limits:
    """Limits of every call by the rules of the book."""
    rules = asked_rules(book)
    least = np.zeros(len(calls), dtype=np.int64)
    quarter = np.zeros(len(calls), dtype=bool)
    bits = np.zeros(len(calls), dtype=np.int64)
    usable = np.ones(len(calls), dtype=bool)
    for rule, rows, _ in reach(rules, cases, days, usable):
        age = rule.parameters.max_age_days
        least[rows] = np.where(least[rows] == 0, age, np.minimum(least[rows], age))
        quarter[rows] |= rule.parameters.basis == "quarter_of_call"
        bits[rows] |= 1 << rules.index(rule)
    codes, distinct = pd.factorize(bits)
    kinds = tuple(
        tuple(rule for place, rule in enumerate(rules) if int(bit) >> place & 1)
        for bit in distinct
    )
    words = [
        "exempt by record: " + ", ".join(sorted(case.setting.lifted))
        if spared(case, rules)
        else None
        for case in cases.kinds
    ]
    return Limits(least, quarter, codes.astype(np.int64), kinds, cases.pick(words), tuple(rules))


def grade_calls(
    calls: pd.DataFrame,
    table: pd.DataFrame,
    *,
    max_age_days: int,
    by_law: Limits | None = None,
) -> pd.DataFrame:
    """Each outbound call held against the records of its number; on the index of the calls.

    With `by_law` every call has the limit of its own place and day, else all have `max_age_days`.
    """
    limit = (
        np.full(len(calls), max_age_days, dtype=np.int64)
        if by_law is None
        else by_law.max_age_days
    )
    before = nearest(calls, table, "backward", exact=True)
    after = nearest(calls, table, "forward", exact=False)
    age = (calls["created_at"] - before["at"]) / _DAY
    found, later = before["at"].notna(), after["at"].notna()
    state = np.select(
        [
            (age <= limit).to_numpy(dtype=bool) & _in_quarter(calls, before["at"], by_law),
            found.to_numpy(),
            later.to_numpy(),
        ],
        [IN_TIME, STALE, AFTER],
        NEVER,
    ).astype(object)
    missing, reason = _why(calls, state, before["source"], age, limit, by_law)
    grades = pd.Series(state).map(_GRADES).to_numpy(dtype=object)
    grades = np.where(missing == "", grades, NOT_EVALUABLE)
    if by_law is not None:
        free = (by_law.spared != None) & (by_law.max_age_days == 0)  # noqa: E711
        grades[free], missing[free], reason[free] = PASSED, "", by_law.spared[free]
    values = {
        "call_id": calls["id"],
        "to_number": calls["to_number"],
        "campaign_id": calls["campaign_id"],
        "created_at": calls["created_at"],
        "checked_at": before["at"],
        "source": before["source"],
        "ref": before["ref"],
        "listed": before["listed"],
        "age_days": age,
        "next_at": after["at"],
        "next_listed": after["listed"],
        "state": state,
        "grade": grades,
        "missing": pd.Series(missing, dtype=object).replace("", None),
        "reason": reason,
    }
    return shaped(values, COLUMNS)


def _in_quarter(calls: pd.DataFrame, at: pd.Series, by_law: Limits | None) -> Flags:
    """Whether a record is of the call's own quarter, where a rule asks for that."""
    if by_law is None or not by_law.same_quarter.any():
        return np.ones(len(calls), dtype=bool)
    own = calls["created_at"].dt.year * 4 + calls["created_at"].dt.quarter
    same = (own == at.dt.year * 4 + at.dt.quarter).to_numpy(dtype=bool)
    fits: Flags = ~by_law.same_quarter | same
    return fits


def _why(
    calls: pd.DataFrame,
    state: Texts,
    source: pd.Series,
    age: pd.Series,
    limit: Ints,
    by_law: Limits | None,
) -> tuple[Texts, Texts]:
    """The missing input and the reason of each call; no input is missing where there is a grade."""
    words = {
        AFTER: "the first check on record came after the call",
        NEVER: "no check of the number is on record",
    }
    missing = np.full(len(calls), "", dtype=object)
    reason = np.full(len(calls), None, dtype=object)
    for each, said in words.items():
        missing[state == each], reason[state == each] = NO_CHECK, said
    known = np.flatnonzero(missing == "")
    for row, kind, old, days, how in zip(
        known, source.iloc[known], age.iloc[known], limit[known].tolist(), state[known],
        strict=True,
    ):  # fmt: skip
        if how == IN_TIME:
            reason[row] = f"{kind} {old:.2f} days before the call, within {days} days"
        elif old <= days:
            reason[row] = f"{kind} {old:.2f} days before the call, in another calendar quarter"
        else:
            reason[row] = f"{kind} {old:.2f} days before the call, more than {days} days"
    if by_law is not None:
        lawless = by_law.max_age_days == 0
        missing[lawless] = NO_LAW
        reason[lawless] = "the rules asked have none on Do-Not-Call lists where the number may be"
    for rows, name, words_of in (
        (calls["to_number"].isna(), NO_NUMBER, "to_number is missing"),
        (calls["created_at"].isna(), CREATED_AT, "created_at is missing"),
        (~calls["direction_known"], DIRECTION, "direction is neither inbound nor outbound"),
    ):
        missing[rows.to_numpy(dtype=bool)] = name
        reason[rows.to_numpy(dtype=bool)] = words_of
    return missing, reason
