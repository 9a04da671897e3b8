"""One rule on consent over the calls that it reaches: what the records show of each; knows one rule at a time.

Beside the grade every call is told what the rule asks for, since the records cannot show whether
consent was given in the form that the text wants.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

from dialframe.compliance.calendars import last_day
from dialframe.compliance.cases import Case
from dialframe.compliance.clock import Flags, Texts
from dialframe.compliance.facts import ConsentRule, HonourRule
from dialframe.compliance.grades import NOT_EVALUABLE, PASSED, UNCERTAIN, VIOLATION
from dialframe.compliance.parameters import HonourParameters

NO_CONSENTS: Final = "a table of consents"
NO_LOOK_UPS: Final = "a table of look-ups of reassigned numbers"
NO_PORTING: Final = "the day on which the number was ported"
KINDS: Final = ("any", "express", "written")

#: The weakest kind of consent that meets each wording, as a position in `KINDS`.
STRENGTH: Final = {
    "prior_express_written": 2, "clear_unambiguous_evidential": 2, "prior_express": 1, "express": 1,
    "specific_prior_consent": 1, "free_specific_informed_unambiguous_revocable": 1,
    "prior_consent": 1, "prior_consent_or_other_gdpr_basis": 0, "any_solicitation_basis": 0,
    "presumed": 0,
}  # fmt: skip
_PRESUMED: Final = "presumed"
_MARKETING: Final = frozenset({"telemarketing_sales", "telecom_sales", "payroll_credit_sales"})
_DAY: Final = pd.Timedelta(days=1)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Asked:
    """The calls that one rule reaches, with what stands around them.

    Attributes:
        calls: The calls, index 0 to n - 1.
        of_case: Position of each call's case in `cases`.
        cases: The cases.
        unlisted: Whether a check in time said that the number was not listed.
        consents: Records of consent; None: not given.
        look_ups: Look-ups of numbers; None: not given.
    """

    calls: pd.DataFrame
    of_case: np.ndarray[tuple[int], np.dtype[np.int32]]
    cases: Sequence[Case]
    unlisted: Flags
    consents: pd.DataFrame | None
    look_ups: pd.DataFrame | None


def answer(rule: ConsentRule, asked: Asked) -> pd.DataFrame:
    """Grade, evidence, missing input and reason of every call, by one rule."""
    found = _of_check(rule, asked)
    if rule.parameters.waived_by_check:
        rows = np.flatnonzero(asked.unlisted)
        found.loc[rows, ["grade", "missing"]] = (PASSED, None)
        found.loc[rows, "reason"] = "not asked for: a check in time said that it was not listed"
    return found


def _of_check(rule: ConsentRule, asked: Asked) -> pd.DataFrame:
    check = rule.parameters.check
    if check == "ported_number_grace":
        return _ported(rule, asked)
    if check == "reassigned_number":
        return _looked_up(rule, asked)
    if asked.consents is None:
        return _open(len(asked.calls), NO_CONSENTS)
    if check == "call_after_revocation":
        return _revoked(rule, asked, asked.consents)
    return _consented(rule, asked, asked.consents)


def _open(size: int, missing: str) -> pd.DataFrame:
    none = pd.Series([None] * size, dtype=object)
    said = pd.Series(missing, index=range(size), dtype=object)
    return pd.DataFrame(
        {
            "grade": pd.Series(NOT_EVALUABLE, index=range(size), dtype=object),
            "evidence": none, "missing": said, "reason": said + " was not given",
        }
    )  # fmt: skip


def _told(grade: Texts, evidence: pd.Series, reason: Texts) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "grade": pd.Series(grade, dtype=object),
            "evidence": evidence.to_numpy(dtype=object),
            "missing": np.full(len(grade), None, dtype=object),
            "reason": pd.Series(reason, dtype=object),
        }
    )


def latest(calls: pd.DataFrame, records: pd.DataFrame, at: str) -> pd.DataFrame:
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


def _consented(rule: ConsentRule, asked: Asked, consents: pd.DataFrame) -> pd.DataFrame:
    """Calls held against the kind of consent that the rule asks of their purpose and line."""
    wanted = np.array([_required(rule, case) for case in asked.cases], dtype=object)[asked.of_case]
    found = _open(len(asked.calls), NO_CONSENTS)
    for kind in dict.fromkeys(wanted.tolist()):
        rows = np.flatnonzero(wanted == kind)
        part = _of_kind(rule, str(kind), asked.calls.iloc[rows], consents)
        found.iloc[rows] = part.to_numpy(dtype=object)
    return found


def _required(rule: ConsentRule, case: Case) -> str:
    """The kind of consent asked of one case: less for a message that sells nothing, or to a business."""
    p = rule.parameters
    if p.required_b2b and case.setting.line_type == "business":
        return p.required_b2b
    if p.required_non_marketing and case.setting.purpose not in _MARKETING:
        return p.required_non_marketing
    return p.required


def _of_kind(
    rule: ConsentRule, kind: str, calls: pd.DataFrame, consents: pd.DataFrame
) -> pd.DataFrame:
    strong = consents[consents["kind"].map(KINDS.index, na_action="ignore") >= STRENGTH[kind]]
    found = latest(calls, strong, "granted_at")
    at = calls["created_at"].reset_index(drop=True)
    none = found["granted_at"].isna()
    revoked = (found["revoked_at"] <= at).fillna(value=False)
    over = (found["expires_at"] <= at).fillna(value=False) | _aged(rule, found["granted_at"], at)
    reason = np.select(
        [none, revoked, over],
        [f"no consent of the kind asked for ({kind}) is on record before the call",
         "consent was revoked before the call", "consent had run out before the call"],
        "consent on record before the call",
    ).astype(object)  # fmt: skip
    bad = (none | revoked | over).to_numpy()
    without = UNCERTAIN if kind == _PRESUMED else VIOLATION
    reason[bad] = reason[bad] + _wanted(rule, kind)
    return _told(np.where(bad, without, PASSED).astype(object), found["record"], reason)


def _wanted(rule: ConsentRule, kind: str) -> str:
    """What the rule asks for, in words."""
    p = rule.parameters
    said = f"; asked for: {p.trigger}" if p.trigger else ""
    if p.burden_of_proof:
        said += f"; the {p.burden_of_proof} has to prove it"
    if kind == _PRESUMED:
        said += "; towards a business presumed consent is enough, and that is not in the data"
    return said


def _aged(rule: ConsentRule, granted: pd.Series, at: pd.Series) -> pd.Series:
    """Whether consent is older than the rule lets it become, on calls from its day on."""
    years, start = rule.parameters.max_consent_age_years, rule.parameters.max_consent_age_from
    if years is None:
        return pd.Series(data=False, index=at.index)
    old = (granted + pd.DateOffset(years=years) < at).fillna(value=False)
    return old if start is None else old & (at >= pd.Timestamp(start, tz="UTC"))


def _revoked(rule: ConsentRule, asked: Asked, consents: pd.DataFrame) -> pd.DataFrame:
    """Calls after consent was taken back; given again later, it is there again."""
    p = rule.parameters
    back = consents.loc[consents["revoked_at"].notna(), "phone"]
    known = consents[consents["phone"].isin(back.dropna())]
    by_phone = dict(iter(known.groupby("phone")))
    size = len(asked.calls)
    grade, reason = (np.full(size, value, dtype=object) for value in
                     (PASSED, "no revocation on record before the call"))  # fmt: skip
    evidence = pd.Series([None] * size, dtype=object)
    words = f"within the {p.max_days} {p.day_type} days that the rule allows"
    means = f" by {p.method}" if p.method else ""
    told = np.flatnonzero(asked.calls["to_number"].isin(list(by_phone)))
    for row, call in zip(told, asked.calls.iloc[told].itertuples(index=False), strict=True):
        zones = asked.cases[asked.of_case[row]].zones.names
        for record, at in _standing(rule, by_phone[call.to_number], call):
            late = call.created_at > _end(rule, at, zones)
            if grade[row] == VIOLATION and not late:
                continue
            grade[row], evidence[row] = VIOLATION if late else UNCERTAIN, record
            reason[row] = f"called after consent was revoked{means}, {words}" if not late else (
                f"called after consent was revoked{means} and the time allowed had run out"
            )  # fmt: skip
    return _told(grade, evidence, reason)


def _standing(
    rule: ConsentRule, records: pd.DataFrame, call: tuple[object, ...]
) -> Iterator[tuple[object, pd.Timestamp]]:
    """Revocations that stand at a call: made before it, meant for it, with no consent since."""
    at, campaign = getattr(call, "created_at"), getattr(call, "campaign_id")  # noqa: B009
    waived = rule.parameters.revoke_all_waived_until
    narrow = waived is not None and at < pd.Timestamp(waived, tz="UTC") + _DAY
    for row in records.itertuples(index=False):
        if pd.isna(row.revoked_at) or row.revoked_at > at:
            continue
        if narrow and not pd.isna(row.revoked_for) and row.revoked_for != campaign:
            continue
        again = records["granted_at"]
        if not ((again > row.revoked_at) & (again <= at)).any():
            yield row.record, row.revoked_at


def _end(rule: ConsentRule, at: pd.Timestamp, zones: Sequence[str]) -> datetime:
    """End of the last day on which a revocation may still be carried out, by the latest clock."""
    p = rule.parameters
    as_request = HonourRule.model_construct(
        jurisdiction=rule.jurisdiction,
        parameters=HonourParameters(
            max_days=p.max_days or 0, day_type=p.day_type or "calendar", holiday_calendar=None
        ),
    )
    ends = []
    for zone in [ZoneInfo(name) for name in zones] or [ZoneInfo("UTC")]:
        day = last_day(as_request, at.to_pydatetime().astimezone(zone).date())
        ends.append(datetime.combine(day + timedelta(days=1), time(), zone))
    return max(ends) - timedelta(microseconds=1)


def _looked_up(rule: ConsentRule, asked: Asked) -> pd.DataFrame:
    """Calls held against look-ups of their numbers in a database of reassigned ones."""
    size = len(asked.calls)
    rested = _rested(rule, asked)
    if asked.look_ups is None:
        whole = _open(size, NO_LOOK_UPS)
    else:
        whole = _of_look_ups(rule, asked.calls, asked.look_ups)
    free = rested & (whole["evidence"].isna() | (whole["grade"] != VIOLATION)).to_numpy()
    rows = np.flatnonzero(free & (whole["grade"] != PASSED).to_numpy())
    whole.loc[rows, ["grade", "missing"]] = (PASSED, None)
    whole.loc[rows, "reason"] = (
        f"consent is younger than the {rule.parameters.aging_days} days for which a number rests"
    )
    return whole


def _rested(rule: ConsentRule, asked: Asked) -> Flags:
    """Whether consent is so young that the number cannot have been given out again since."""
    days = rule.parameters.aging_days
    if days is None or asked.consents is None:
        return np.zeros(len(asked.calls), dtype=bool)
    granted = latest(asked.calls, asked.consents, "granted_at")["granted_at"]
    at = asked.calls["created_at"].reset_index(drop=True)
    return np.asarray((at - granted < _DAY * days).fillna(value=False), dtype=bool)


def _of_look_ups(rule: ConsentRule, calls: pd.DataFrame, look_ups: pd.DataFrame) -> pd.DataFrame:
    p = rule.parameters
    found = latest(calls, look_ups, "checked_at")
    at = calls["created_at"].reset_index(drop=True)
    limit = _DAY * (p.refresh_days or 30)
    stale = (at - found["checked_at"] > limit).fillna(value=True).astype(bool)
    said = found["result"].str.strip().str.lower()
    fit = (said == (p.safe_harbour_response or "no")).fillna(value=False).astype(bool)
    bad = (said == "yes").fillna(value=False).astype(bool)
    without = VIOLATION if p.mandatory else UNCERTAIN
    grade = np.select([bad, fit & ~stale], [VIOLATION, PASSED], without).astype(object)
    days = limit // _DAY
    fields = f" by {' and '.join(p.query_fields).replace('_', ' ')}" if p.query_fields else ""
    reason = np.select(
        [bad, fit & ~stale, found["checked_at"].isna()],
        ["the database said that the number was reassigned",
         f"looked up within {days} days before the call, not reassigned",
         f"no look-up of the number{fields} before the call"],
        f"the look-up is more than {days} days old, or had no answer",
    ).astype(object)  # fmt: skip
    return _told(grade, found["checked_at"].astype("str"), reason)


def _ported(rule: ConsentRule, asked: Asked) -> pd.DataFrame:
    """Calls to numbers that moved to a mobile line shortly before; without the day nobody knows."""
    whole = _open(len(asked.calls), NO_PORTING)
    if asked.look_ups is None:
        return whole
    found = latest(asked.calls, asked.look_ups, "ported_at")["ported_at"]
    days = rule.parameters.grace_days or 0
    at = asked.calls["created_at"].reset_index(drop=True)
    known = found.notna().to_numpy()
    within = (at - found <= _DAY * days).fillna(value=False).to_numpy(dtype=bool)
    for rows, grade, said in (
        (known & within, PASSED, f"moved to a mobile line within {days} days before the call"),
        (known & ~within, UNCERTAIN,
         f"moved to a mobile line more than {days} days before: the defence is over, consent decides"),
    ):  # fmt: skip
        whole.loc[rows, ["grade", "missing"]] = (grade, None)
        whole.loc[rows, "reason"] = said
    return whole
