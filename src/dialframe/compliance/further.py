"""The further checks of an audit, each as grades, counts and findings: attempts, requests, abandonment, consent, records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd

from dialframe.compliance.calendars import Declared, closed_days, ordinal
from dialframe.compliance.cases import Cases
from dialframe.compliance.checking import Check, Context
from dialframe.compliance.consent import NO_CONSENTS, NO_LOOK_UPS, NO_PORTING
from dialframe.compliance.facts import (
    AbandonmentRule,
    CapRule,
    ConsentRule,
    HolidayRule,
    HonourRule,
    RetentionRule,
    Rule,
)
from dialframe.compliance.grades import NOT_EVALUABLE, PASSED, UNCERTAIN, VIOLATION
from dialframe.compliance.intake import shaped
from dialframe.compliance.result import FINDINGS
from dialframe.compliance.rulebook import RuleBook
from dialframe.compliance.spans import Days, conditions, reach
from dialframe.frames import Column

NO_DECLARED: Final = "the file of declared emergencies"
#: Inputs that are there or not for the whole audit: calls without them are counted, not listed.
WHOLE: Final = (NO_CONSENTS, NO_LOOK_UPS, NO_PORTING, NO_DECLARED)

EMERGENCY: Final = (
    Column("call_id", "text", "call id"),
    Column("grade", "text", "pass, violation, uncertain or not evaluable"),
    Column("rule_id", "text", "the rule"),
    Column("citation", "text", "its citation"),
    Column("missing", "text", "the input that is missing when not evaluable"),
    Column("reason", "text", "why this grade"),
)

_RANK: Final = {VIOLATION: 0, UNCERTAIN: 1, NOT_EVALUABLE: 2, PASSED: 3}


def attempt_caps(told: Context, graded: pd.DataFrame, book: RuleBook) -> Check:
    """Calls that a cap reaches, and calls of which that cannot be told."""
    rows = graded[graded["attempts"].notna() | (graded["grade"] == NOT_EVALUABLE)]
    evidence = rows["attempts"].astype("str") + " attempts"
    return _calls("attempt_caps", told, rows, book.of_kind(CapRule), evidence)


def emergency(
    told: Context, cases: Cases, days: Days, book: RuleBook, declared: Declared
) -> tuple[Check, pd.DataFrame]:
    """Calls on days of a declared emergency; without a file of them nothing is evaluable."""
    calls = told.outbound
    worst = emergencies(calls, cases, days, book, declared)
    frame = emergency_frame(calls, worst)
    none = pd.Series(None, index=worst.index, dtype="str")
    return _calls("emergency", told, worst, bans(book), none), frame


def emergency_frame(calls: pd.DataFrame, worst: pd.DataFrame) -> pd.DataFrame:
    """Answers of `emergencies` as a table, columns `EMERGENCY`."""
    return shaped({**{c.name: worst.get(c.name) for c in EMERGENCY[1:]},
                   "call_id": calls["id"].iloc[worst.index] if len(worst) else worst.index},
                  EMERGENCY)  # fmt: skip


def bans(book: RuleBook) -> list[HolidayRule]:
    """Rules on declared emergencies."""
    return [r for r in book.of_kind(HolidayRule) if r.parameters.type == "emergency_ban"]


def emergencies(
    calls: pd.DataFrame, cases: Cases, days: Days, book: RuleBook, declared: Declared
) -> pd.DataFrame:
    """The worst answer for each call that a rule on emergencies reaches; its position is the index."""
    rules = bans(book)
    usable = calls["created_at"].notna().to_numpy() & calls["direction_known"].to_numpy()
    parts = []
    for rule, rows, hits in reach(rules, cases, days, usable):
        missing, doubtful = conditions(hits, cases.codes[rows])
        grade = np.full(len(rows), PASSED, dtype=object)
        known = declared.has(rule.id)
        if not known:
            grade[:] = NOT_EVALUABLE
        elif len(rows):
            closed = _ordinals(rule, calls, declared)
            low, high = (np.isin(edge[rows], closed) for edge in (days.low, days.high))
            # Where an emergency holds for a part of the state, nobody knows whether this is it.
            sure = low & high & ~doubtful & ~missing & (not rule.parameters.area)
            grade[low | high] = UNCERTAIN
            grade[sure] = VIOLATION
        parts.append(
            pd.DataFrame(
                {
                    "grade": grade, "rule_id": rule.id, "citation": rule.citation,
                    "missing": None if known else NO_DECLARED,
                    "reason": _emergency_words(rule, known=known),
                },
                index=rows,
            )
        )  # fmt: skip
    whole = pd.concat(parts) if parts else pd.DataFrame({c.name: [] for c in EMERGENCY})
    return worst_of(whole)


def _emergency_words(rule: HolidayRule, *, known: bool) -> str:
    """What a call was held against, or where the days are to be found."""
    p = rule.parameters
    if known:
        return "held against the declared days" + (f", each for a {p.area}" if p.area else "")
    found = f"; the days are named at {p.url}" if p.url else ""
    return f"nobody said whether an emergency was declared{found}"


def internal_dnc(requests: pd.DataFrame, book: RuleBook) -> Check:
    """Requests, as `dnc.honoured` grades them."""
    rows = requests[requests["grade"] != PASSED]
    values = {
        "phone": rows["phone"],
        "at": rows["requested_at"],
        "evidence": rows["request"],
    }
    return _check("internal_dnc", "request", requests, rows, book.of_kind(HonourRule), values)


def abandonment(table: pd.DataFrame, book: RuleBook) -> Check:
    """Campaigns and periods, as `abandonment` grades them."""
    rows = table[table["grade"] != PASSED]
    span = (
        rows["from_at"].dt.strftime("%Y-%m-%d")
        + " until "
        + rows["until_at"].dt.strftime("%Y-%m-%d")
    )
    values = {"campaign_id": rows["campaign_id"], "at": rows["from_at"], "evidence": span}
    rules = book.of_kind(AbandonmentRule)
    return _check("abandonment", "campaign period", table, rows, rules, values)


def consent(told: Context, graded: pd.DataFrame, book: RuleBook) -> Check:
    """Each call that a rule on consent reaches, by its worst answer."""
    worst = worst_of(graded)
    return _calls("consent", told, worst, book.of_kind(ConsentRule), worst["evidence"])


def records(told: Context, graded: pd.DataFrame, book: RuleBook) -> Check:
    """Calls whose record a rule asks for."""
    rows = graded[graded["rule_id"].notna()]
    return _calls("records", told, rows, book.of_kind(RetentionRule), rows["absent"])


def retention(table: pd.DataFrame, book: RuleBook) -> Check:
    """Rules on keeping records."""
    rows = table[table["grade"] != PASSED]
    values = {"at": rows["oldest_at"], "evidence": "the oldest stored call"}
    return _check("retention", "rule", table, rows, book.of_kind(RetentionRule), values)


def worst_of(rows: pd.DataFrame) -> pd.DataFrame:
    """One row per call, its index: that of the worst grade."""
    order = rows["grade"].map(_RANK).astype("float64").argsort(kind="stable")
    sorted_ = rows.iloc[order]
    return sorted_[~sorted_.index.duplicated()].sort_index()


def _ordinals(rule: HolidayRule, calls: pd.DataFrame, declared: Declared) -> list[int]:
    week = pd.Timedelta(days=7)
    first, last = calls["created_at"].min() - week, calls["created_at"].max() + week
    days = closed_days(rule, first.date(), last.date(), declared)
    return [ordinal(day) for day in days]


def _calls(
    name: str, told: Context, rows: pd.DataFrame, rules: Sequence[Rule], evidence: pd.Series
) -> Check:
    shown = rows[(rows["grade"] != PASSED) & ~rows["missing"].isin(WHOLE)]
    calls = told.outbound.loc[shown.index]
    values = {
        "call_id": calls["id"],
        "lead_id": told.lead_id[shown.index],
        "phone": calls["to_number"],
        "campaign_id": calls["campaign_id"],
        "at": calls["created_at"],
        "local_times": told.local_times[shown.index],
        "evidence": evidence[shown.index],
    }
    return _check(name, "call", rows, shown, rules, values)


def _check(
    name: str,
    unit: str,
    graded: pd.DataFrame,
    shown: pd.DataFrame,
    rules: Sequence[Rule],
    values: dict[str, object],
) -> Check:
    own = {key: shown[key] for key in ("grade", "rule_id", "citation", "missing", "reason")}
    whole: dict[str, object] = {
        c.name: pd.Series([None] * len(shown), index=shown.index) for c in FINDINGS
    }
    whole |= own | values | {"check": pd.Series(name, index=shown.index, dtype="str")}
    if isinstance(whole["evidence"], str):
        whole["evidence"] = pd.Series(whole["evidence"], index=shown.index, dtype="str")
    findings = shaped(whole, FINDINGS)
    asked = graded["rule_id"].dropna().unique() if "rule_id" in graded else ()
    named = {rule_id for each in asked for rule_id in str(each).split("; ")}
    behind = [rule for rule in rules if rule.id in named]
    return Check(name, unit, behind, graded["grade"], findings, graded["missing"])
