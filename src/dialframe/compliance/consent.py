"""Consent, its end, and reassigned numbers: what is on record before each call; knows records, not what was said.

Where a firm gives no records nothing is evaluable, and the check says so. Where it gives them, a
call without a record that the rule asks for is one that these records do not cover: a violation
if the rule reaches the call for certain.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import numpy as np
import pandas as pd

from dialframe.compliance.agreeing import (
    KINDS,
    NO_CONSENTS,
    NO_LOOK_UPS,
    NO_PORTING,
    Asked,
    answer,
)
from dialframe.compliance.cases import Cases, Reached
from dialframe.compliance.clock import Flags, Ints
from dialframe.compliance.facts import ConsentRule
from dialframe.compliance.grades import NOT_EVALUABLE, PASSED, UNCERTAIN, VIOLATION
from dialframe.compliance.intake import shaped
from dialframe.compliance.rulebook import RuleBook
from dialframe.compliance.spans import Days, conditions, in_force_everywhere, reach
from dialframe.errors import ConfigError
from dialframe.frames import Column
from dialframe.frames.columns import DTYPES

__all__ = [
    "COLUMNS", "CONSENTS", "KINDS", "LOOK_UPS", "NO_CONSENTS", "NO_LOOK_UPS", "NO_PORTING", "Given",
    "grade", "take",
]  # fmt: skip

CONSENTS: Final = (
    Column("phone", "text", "number, E.164"),
    Column("kind", "text", "written, express or any: what kind of consent it is"),
    Column("granted_at", "instant", "given, UTC"),
    Column("expires_at", "instant", "ends by itself, UTC; null: no end"),
    Column("revoked_at", "instant", "taken back, UTC; null: not"),
    Column("revoked_for", "text", "the campaign that it was taken back for; null: for all calls"),
    Column("record", "text", "the record that shows it"),
)
LOOK_UPS: Final = (
    Column("phone", "text", "number, E.164"),
    Column("checked_at", "instant", "the database was asked, UTC"),
    Column("result", "text", "no: not reassigned since the consent; yes: reassigned; no data"),
    Column("ported_at", "instant", "the number moved to a mobile line, UTC; null: not known"),
)
COLUMNS: Final = (
    Column("rule_id", "text", "the rule"),
    Column("citation", "text", "its citation"),
    Column("call_id", "text", "call id"),
    Column("to_number", "text", "called number, E.164"),
    Column("campaign_id", "text", "campaign of the call"),
    Column("created_at", "instant", "the call was started, UTC"),
    Column("grade", "text", "pass, violation, uncertain or not evaluable"),
    Column("evidence", "text", "the record that it rests on"),
    Column("missing", "text", "the input that is missing when not evaluable"),
    Column("reason", "text", "why this grade"),
)

#: The exemption of a firm's own customers.
_CUSTOMER: Final = "ebr"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Given:
    """Records that a firm gives: consents and look-ups; None where it gives none."""

    consents: pd.DataFrame | None
    look_ups: pd.DataFrame | None


def take(consents: pd.DataFrame | None, look_ups: pd.DataFrame | None) -> Given:
    """Records at the door.

    Raises:
        ConfigError: A column is missing, an instant has no time zone, or a kind is not known.
    """
    taken = _shape(consents, CONSENTS, "consents")
    if taken is not None:
        odd = sorted(set(taken["kind"].dropna()) - set(KINDS))
        if odd:
            raise ConfigError(f"consents: kind {odd[0]!r} is not known; use {', '.join(KINDS)}")
    return Given(taken, _shape(look_ups, LOOK_UPS, "look-ups"))


def grade(
    calls: pd.DataFrame,
    cases: Cases,
    days: Days,
    book: RuleBook,
    given: Given,
    unlisted: Flags | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Every call that a rule on consent reaches, once per rule, and the counts of each rule.

    `unlisted` says of each call whether a check in time said that the number was not listed; a
    rule that asks for consent only without such a check looks there. The index of the rows is the
    position of their call.
    """
    usable = calls["created_at"].notna().to_numpy() & calls["direction_known"].to_numpy()
    usable &= cases.phones >= 0
    clean = np.zeros(len(calls), dtype=bool) if unlisted is None else unlisted
    parts, counts = [], []
    for phase in asked_rules(book):
        for rule, rows, hits in reach([phase], cases, days, usable):
            asked = Asked(
                calls.iloc[rows].reset_index(drop=True), cases.codes[rows], cases.kinds,
                clean[rows], given.consents, given.look_ups,
            )  # fmt: skip
            part = _named(rule, asked.calls, answer(rule, asked))
            _condition(part, hits, cases, rows, everywhere=in_force_everywhere(rule, days, rows))
            told = part["grade"].value_counts()
            names = (PASSED, VIOLATION, UNCERTAIN, NOT_EVALUABLE)
            counts.append((rule.id, *(int(told.get(name, 0)) for name in names)))
            parts.append(part.set_axis(rows))
    whole = pd.concat(parts) if parts else pd.DataFrame({c.name: [] for c in COLUMNS})
    by_rule = pd.DataFrame(
        counts, columns=["rule_id", "pass", "violation", "uncertain", "not_evaluable"]
    )
    by_rule = by_rule.groupby("rule_id", sort=False, as_index=False).sum()
    return shaped({c.name: whole[c.name] for c in COLUMNS}, COLUMNS), by_rule


def asked_rules(book: RuleBook) -> list[ConsentRule]:
    """Rules that the check asks; one whose exception ends on a day is there before and after it."""
    rules = [r for r in book.of_kind(ConsentRule) if r.status != "voluntary_code"]
    return [phase for rule in rules for phase in _phases(rule)]


def absent(rule: ConsentRule, given: Given) -> str | None:
    """The table without which a rule cannot be held against any call; None where one may do."""
    p = rule.parameters
    if p.waived_by_check:
        return None
    if p.check == "ported_number_grace":
        return NO_PORTING if given.look_ups is None else None
    if p.check == "reassigned_number":
        return NO_LOOK_UPS if given.look_ups is None and given.consents is None else None
    return NO_CONSENTS if given.consents is None else None


def _phases(rule: ConsentRule) -> tuple[ConsentRule, ...]:
    """A rule whose exception for customers ends on a day: as it is up to then, and without it."""
    until = rule.parameters.customer_exception_until
    if until is None:
        return (rule,)
    left = tuple(each for each in rule.exemptions if each.code != _CUSTOMER)
    return (
        rule.model_copy(update={"effective_to": until}),
        rule.model_copy(update={"effective_from": until + timedelta(days=1), "exemptions": left}),
    )


def _named(rule: ConsentRule, calls: pd.DataFrame, told: pd.DataFrame) -> pd.DataFrame:
    kept = calls[["id", "to_number", "campaign_id", "created_at"]]
    named = kept.rename(columns={"id": "call_id"})
    return named.assign(
        rule_id=rule.id, citation=rule.citation, **{name: told[name] for name in told.columns}
    )


def _condition(
    part: pd.DataFrame, hits: list[Reached | None], cases: Cases, rows: Ints, *, everywhere: Flags
) -> None:
    """A violation of a rule whose reach is not certain is none."""
    missing, doubtful = conditions(hits, cases.codes[rows])
    bad = part["grade"].isin([VIOLATION, UNCERTAIN]).to_numpy()
    part.loc[bad & (doubtful | ~everywhere), "grade"] = UNCERTAIN
    open_: Flags = bad & missing
    words = np.array([hit.missing if hit else "" for hit in hits], dtype=object)[cases.codes[rows]]
    part.loc[open_, "grade"] = NOT_EVALUABLE
    part.loc[open_, "missing"] = words[open_]


def _shape(
    frame: pd.DataFrame | None, columns: tuple[Column, ...], name: str
) -> pd.DataFrame | None:
    if frame is None:
        return None
    absent = [c.name for c in columns[:1] if c.name not in frame.columns]
    if absent:
        raise ConfigError(f"compliance: the frame of {name} has no column {absent[0]}; add it")
    made = {}
    for column in columns:
        if column.name not in frame.columns:
            made[column.name] = pd.Series([None] * len(frame), dtype=DTYPES[column.kind])
            continue
        values = frame[column.name].reset_index(drop=True)
        try:
            made[column.name] = values.astype(DTYPES[column.kind])
        except (TypeError, ValueError) as error:
            raise ConfigError(
                f"compliance: {column.name} of the frame of {name} is not an aware instant; "
                "give it a time zone"
            ) from error
    return pd.DataFrame(made)
