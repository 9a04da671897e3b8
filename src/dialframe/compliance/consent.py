"""Consent, its end, and reassigned numbers: what is on record before each call; knows records, not what was said.

Where a firm gives no records nothing is evaluable, and the check says so. Where it gives them, a
call without a record that the rule asks for is one that these records do not cover: a violation
if the rule reaches the call for certain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from dialframe.compliance.calendars import last_day
from dialframe.compliance.cases import Cases, Reached
from dialframe.compliance.clock import Flags, Ints, Texts
from dialframe.compliance.facts import ConsentRule, HonourParameters, HonourRule
from dialframe.compliance.grades import NOT_EVALUABLE, PASSED, UNCERTAIN, VIOLATION
from dialframe.compliance.intake import shaped
from dialframe.compliance.rulebook import RuleBook
from dialframe.compliance.spans import Days, conditions, reach
from dialframe.errors import ConfigError
from dialframe.frames import Column
from dialframe.frames.columns import DTYPES

CONSENTS: Final = (
    Column("phone", "text", "number, E.164"),
    Column("kind", "text", "written, express or any: what kind of consent it is"),
    Column("granted_at", "instant", "given, UTC"),
    Column("expires_at", "instant", "ends by itself, UTC; null: no end"),
    Column("revoked_at", "instant", "taken back, UTC; null: not"),
    Column("record", "text", "the record that shows it"),
)
LOOK_UPS: Final = (
    Column("phone", "text", "number, E.164"),
    Column("checked_at", "instant", "the database was asked, UTC"),
    Column("result", "text", "no: not reassigned since the consent; yes: reassigned; no data"),
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

NO_CONSENTS: Final = "a table of consents"
NO_LOOK_UPS: Final = "a table of look-ups of reassigned numbers"
NO_PORTING: Final = "the day on which the number was ported"
KINDS: Final = ("any", "express", "written")

_STRENGTH: Final = {
    "prior_express_written": 2, "clear_unambiguous_evidential": 2, "prior_express": 1, "express": 1,
    "specific_prior_consent": 1, "free_specific_informed_unambiguous_revocable": 1,
    "prior_consent": 1, "prior_consent_or_other_gdpr_basis": 0, "any_solicitation_basis": 0,
}  # fmt: skip
_YEAR: Final = pd.Timedelta(days=365.25)
_DAY: Final = pd.Timedelta(days=1)


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
    calls: pd.DataFrame, cases: Cases, days: Days, book: RuleBook, given: Given
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Every call that a rule on consent reaches, once per rule, and the counts of each rule."""
    usable = calls["created_at"].notna().to_numpy() & calls["direction_known"].to_numpy()
    usable &= cases.phones >= 0
    rules = [r for r in book.of_kind(ConsentRule) if r.status != "voluntary_code"]
    parts, counts = [], []
    for rule, rows, hits in reach(rules, cases, days, usable):
        part = _of_rule(rule, calls.iloc[rows], given)
        _condition(part, hits, cases, rows)
        told = part["grade"].value_counts()
        names = (PASSED, VIOLATION, UNCERTAIN, NOT_EVALUABLE)
        counts.append((rule.id, *(int(told.get(name, 0)) for name in names)))
        parts.append(part)
    whole = (
        pd.concat(parts, ignore_index=True)
        if parts
        else pd.DataFrame({c.name: [] for c in COLUMNS})
    )
    by_rule = pd.DataFrame(
        counts, columns=["rule_id", "pass", "violation", "uncertain", "not_evaluable"]
    )
    return shaped({c.name: whole[c.name] for c in COLUMNS}, COLUMNS), by_rule


def _of_rule(rule: ConsentRule, calls: pd.DataFrame, given: Given) -> pd.DataFrame:
    check = rule.parameters.check
    if check == "ported_number_grace":
        graded = _open(calls, NO_PORTING)
    elif check == "reassigned_number":
        graded = (
            _open(calls, NO_LOOK_UPS)
            if given.look_ups is None
            else _looked_up(rule, calls, given.look_ups)
        )
    elif given.consents is None:
        graded = _open(calls, NO_CONSENTS)
    elif check == "call_after_revocation":
        graded = _revoked(rule, calls, given.consents)
    else:
        graded = _consented(rule, calls, given.consents)
    kept = calls[["id", "to_number", "campaign_id", "created_at"]].rename(
        columns={"id": "call_id"}
    )
    return kept.assign(rule_id=rule.id, citation=rule.citation, **graded)


def _open(calls: pd.DataFrame, missing: str) -> dict[str, object]:
    size = len(calls)
    return {
        "grade": np.full(size, NOT_EVALUABLE, dtype=object),
        "evidence": np.full(size, None, dtype=object),
        "missing": np.full(size, missing, dtype=object),
        "reason": np.full(size, f"{missing} was not given", dtype=object),
    }


def _told(grade: Texts, evidence: pd.Series, reason: Texts) -> dict[str, object]:
    none = np.full(len(grade), None, dtype=object)
    return {
        "grade": grade,
        "evidence": evidence.to_numpy(dtype=object),
        "missing": none,
        "reason": reason,
    }


def _latest(calls: pd.DataFrame, records: pd.DataFrame, at: str) -> pd.DataFrame:
    """For each call the newest record of its number at or before it."""
    keys = calls[["to_number", "created_at"]].reset_index(drop=True)
    keys["row"] = keys.index
    known = records[records["phone"].notna() & records[at].notna()].sort_values(at, kind="stable")
    if known.empty or keys.empty:
        return known.reindex([-1] * len(keys)).reset_index(drop=True)
    pairs = pd.merge_asof(
        keys.sort_values("created_at", kind="stable"), known, left_on="created_at", right_on=at,
        left_by="to_number", right_by="phone",
    )  # fmt: skip
    return pairs.sort_values("row")[list(known.columns)].reset_index(drop=True)


def _consented(
    rule: ConsentRule, calls: pd.DataFrame, consents: pd.DataFrame
) -> dict[str, object]:
    needed = _STRENGTH.get(rule.parameters.required, 2)
    strong = consents[consents["kind"].map(KINDS.index, na_action="ignore") >= needed]
    found = _latest(calls, strong, "granted_at")
    at = calls["created_at"].reset_index(drop=True)
    none = found["granted_at"].isna()
    revoked = (found["revoked_at"] <= at).fillna(value=False)
    over = (found["expires_at"] <= at).fillna(value=False)
    years = rule.parameters.max_consent_age_years
    if years is not None:
        over |= (at - found["granted_at"] > _YEAR * years).fillna(value=False)
    reason = np.select(
        [none, revoked, over],
        [
            f"no consent of the kind asked for ({rule.parameters.required}) is on record before the call",
            "consent was revoked before the call",
            "consent had run out before the call",
        ],
        "consent on record before the call",
    ).astype(object)
    grade = np.where(none | revoked | over, VIOLATION, PASSED).astype(object)
    return _told(grade, found["record"], reason)


def _revoked(rule: ConsentRule, calls: pd.DataFrame, consents: pd.DataFrame) -> dict[str, object]:
    taken_back = consents[consents["revoked_at"].notna()]
    found = _latest(calls, taken_back, "revoked_at")
    at = calls["created_at"].reset_index(drop=True)
    again = _latest(calls, consents, "granted_at")["granted_at"]
    renewed = (again > found["revoked_at"]).fillna(value=False)
    due = pd.to_datetime(
        found["revoked_at"].map(lambda moment: _end(rule, moment), na_action="ignore"), utc=True
    )
    late = ((at > due) & ~renewed).fillna(value=False).astype(bool)
    soon = found["revoked_at"].notna() & ~late & ~renewed
    words = f"within the {rule.parameters.max_days} {rule.parameters.day_type} days that the rule allows"
    reason = np.select(
        [late, soon],
        ["called after consent was revoked and the time allowed had run out",
         f"called after consent was revoked, {words}"],
        "no revocation on record before the call",
    ).astype(object)  # fmt: skip
    grade = np.select([late, soon], [VIOLATION, UNCERTAIN], PASSED).astype(object)
    return _told(grade, found["record"], reason)


def _end(rule: ConsentRule, moment: pd.Timestamp) -> pd.Timestamp:
    """End of the last day on which a revocation may still be carried out."""
    p = rule.parameters
    as_request = HonourRule.model_construct(
        jurisdiction=rule.jurisdiction,
        parameters=HonourParameters(
            max_days=p.max_days or 0, day_type=p.day_type or "calendar", holiday_calendar=None
        ),
    )
    day = last_day(as_request, moment.date())
    return pd.Timestamp(day, tz="UTC") + _DAY - pd.Timedelta(microseconds=1)


def _looked_up(
    rule: ConsentRule, calls: pd.DataFrame, look_ups: pd.DataFrame
) -> dict[str, object]:
    found = _latest(calls, look_ups, "checked_at")
    at = calls["created_at"].reset_index(drop=True)
    limit = _DAY * (rule.parameters.refresh_days or 30)
    stale = (at - found["checked_at"] > limit).fillna(value=True).astype(bool)
    said = found["result"].str.strip().str.lower()
    fit = (said == "no").fillna(value=False).astype(bool)
    bad = (said == "yes").fillna(value=False).astype(bool)
    without = VIOLATION if rule.parameters.mandatory else UNCERTAIN
    grade = np.select([bad, fit & ~stale], [VIOLATION, PASSED], without).astype(object)
    days = limit // _DAY
    reason = np.select(
        [bad, fit & ~stale, found["checked_at"].isna()],
        ["the database said that the number was reassigned",
         f"looked up within {days} days before the call, not reassigned",
         "no look-up of the number before the call"],
        f"the look-up is more than {days} days old, or had no answer",
    ).astype(object)  # fmt: skip
    return _told(grade, found["checked_at"].astype("str"), reason)


def _condition(part: pd.DataFrame, hits: list[Reached | None], cases: Cases, rows: Ints) -> None:
    """A violation of a rule whose reach is not certain is none."""
    missing, doubtful = conditions(hits, cases.codes[rows])
    bad = part["grade"].isin([VIOLATION, UNCERTAIN]).to_numpy()
    part.loc[bad & doubtful, "grade"] = UNCERTAIN
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
