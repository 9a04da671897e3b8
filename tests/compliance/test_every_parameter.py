"""Every field of every rule's parameters, changed in turn: a grade changes, or what is said, or the schema refuses it.

So no part of a rule is carried along and ignored. Each scene is a set of calls just inside and
just outside the limits of the rule as it stands; the rule is then changed in one field, and the
same calls are graded by it again, by an audit that holds scenes of other rules too.
"""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, time, timedelta
from typing import Any

import pandas as pd
import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from compliance import hand
from compliance.scenes import (
    BOOK,
    DAY,
    TICK,
    Scene,
    at,
    judged,
    number,
    practice,
    siblings,
    some_day,
)  # fmt: skip
from dialframe.compliance.practice import Conduct
from dialframe.compliance.rules import rulebook
from dialframe.compliance.rules.calendars import Declared, closed_days, in_parts
from dialframe.compliance.rules.closed_days import library
from dialframe.compliance.rules.rule_model import AnyRule, FreshnessRule, Rule
from dialframe.compliance.rules.rulebook import adopted
from dialframe.errors import ConfigError

GRADE, WORDS, REFUSED = "a grade changes", "other words are said", "the schema refuses it"
RULE: TypeAdapter[Rule] = TypeAdapter(AnyRule)

#: On what each field bears, and another value of it. A field that is not here fails the test.
CHANGES: dict[str, dict[str, tuple[str, Callable[[Any], Any]]]] = {
    "calling_hours": {
        "timezone_basis": (REFUSED, lambda _: "house"),
        "event": (REFUSED, lambda _: "answer"),
        "windows.days": (REFUSED, lambda days: days[:-1]),
        "windows.start": (GRADE, lambda clock: time(clock.hour + 1)),
        "windows.end": (GRADE, lambda clock: time(clock.hour - 1, clock.minute)),
        "closed_days": (REFUSED, lambda days: days[:-1] if days else ("sun",)),
        "timezone": (GRADE, lambda _: "Etc/GMT+9"),
        "holiday_rule": (GRADE, lambda _: None),
        "area_code_presumption": (GRADE, lambda _: False),
        "area_code_reliance": (WORDS, lambda _: False),
        "before_holiday": (GRADE, lambda _: None),
        "before_holiday.start": (GRADE, lambda _: time(12)),
        "before_holiday.end": (GRADE, lambda _: time(14)),
        "before_holiday.calendar": (GRADE, lambda _: "US"),
        "before_holiday.subdiv": (GRADE, lambda _: "MI"),
        "sunday_and_holiday": (GRADE, lambda _: None),
        "sunday_and_holiday.start": (GRADE, lambda _: time(15)),
        "sunday_and_holiday.end": (GRADE, lambda _: time(16)),
        "sunday_and_holiday.calendar": (GRADE, lambda _: "IN"),
        "sunday_and_holiday.subdiv": (GRADE, lambda _: "TX"),
        "sunday_and_holiday.citation": (WORDS, lambda _: "elsewhere"),
    },
    "holiday": {
        "type": (GRADE, lambda was: "emergency_ban" if was == "regional" else "regional"),
        "statutory": (GRADE, lambda was: "US-UT" if was != "US-UT" else "FR"),
        "disputed": (GRADE, lambda _: ()),
        "disputed.weekday": (GRADE, lambda _: "fri"),
        "disputed.sources": (WORDS, lambda _: ("one list", "another list")),
        "calendar": (GRADE, lambda was: "DE" if was != "DE" else "FR"),
        "subdiv": (GRADE, lambda was: {"US": "WY"}.get(was, "WY") if was else was),
        "observed": (GRADE, lambda was: not was),
        "list_read_at": (WORDS, lambda _: ""),
        "add": (GRADE, lambda _: ()),
        "add.day": (GRADE, lambda _: "08-17"),
        "add.name": (WORDS, lambda _: "A day"),
        "add.moves": (GRADE, lambda was: not was),
        "drop": (GRADE, lambda _: ()),
        "proclaimed": (WORDS, lambda _: False),
        "local_only": (GRADE, lambda _: ()),
        "local_only.name": (WORDS, lambda _: "Another day"),
        "local_only.where": (WORDS, lambda _: "the hills"),
        "local_only.within": (GRADE, lambda _: "GA"),
        "local_only.on": (GRADE, lambda _: "08-17"),
        "regional": (GRADE, lambda was: not was),
        "url": (WORDS, lambda _: "https://elsewhere.example"),
        "area": (GRADE, lambda _: ""),
    },
    "attempt_cap": {
        "max_attempts": (GRADE, lambda was: was + 1),
        "window_type": (GRADE, lambda was: "calendar_day" if was == "rolling" else "rolling"),
        "window_hours": (GRADE, lambda was: was - 1),
        "window_days": (GRADE, lambda was: was + 1),
        "counts": (REFUSED, lambda _: "answered"),
        "scope": (WORDS, lambda was: (*was, "household")),
        "subject_proxy": (REFUSED, lambda _: None),
        "nature": (WORDS, lambda _: ""),
        "cooldown_after_conversation_days": (GRADE, lambda was: was - 1),
        "hipaa_max_per_day": (GRADE, lambda was: was + 1),
        "hipaa_max_per_week": (GRADE, lambda was: was + 1),
        "trigger": (GRADE, lambda was: "machine" if was == "abandoned" else "abandoned"),
        "unless": (GRADE, lambda _: None),
    },
    "dnc_freshness": {
        "registry": (WORDS, lambda _: "Another list"),
        "check": (GRADE, lambda was: "age" if was == "listed_number_called" else "listed_number_called"),
        "max_age_days": (GRADE, lambda was: was - 1),
        "basis": (
            GRADE,
            lambda was: "age_at_call" if was == "quarter_of_call" else "quarter_of_call",
        ),
        "period": (WORDS, lambda _: None),
        "grace_days_after_publication": (REFUSED, lambda was: was - 1),
        "listed_grace_days": (GRADE, lambda was: was - 2),
        "ebr_purchase_months": (GRADE, lambda was: was - 1),
        "ebr_inquiry_months": (GRADE, lambda was: was - 1),
    },
    "internal_dnc": {
        "max_days": (GRADE, lambda was: was + 1),
        "day_type": (GRADE, lambda was: "calendar" if was == "business" else "business"),
        "holiday_calendar": (GRADE, lambda _: "FR"),
        "honor_years": (GRADE, lambda was: was - 1 or 2),
        "honor_days": (GRADE, lambda was: was - 1),
        "cooldown_days": (GRADE, lambda was: was - 1),
        "until_withdrawn": (WORDS, lambda _: False),
        "scope": (WORDS, lambda _: "one number"),
        "affiliates": (WORDS, lambda _: "all of them"),
    },
    "abandonment_rate": {
        "max_rate": (GRADE, lambda was: was / 2),
        "comparison": (GRADE, lambda was: "<" if was == "<=" else "<="),
        "period_days": (GRADE, lambda was: 30 if was == 1 else 1),
        "period_type": (REFUSED, lambda was: "successive_30_day" if was == "calendar_month" else "calendar_month"),
        "scope": (GRADE, lambda was: "campaign" if was == "caller" else "caller"),
        "denominator": (GRADE, lambda was: "calls_answered_live" if was == "live_calls" else "live_calls"),
        "seconds_to_answer": (WORDS, lambda was: was + 1),
        "clock_starts": (WORDS, lambda _: "the first ring"),
        "min_ring_seconds": (WORDS, lambda was: was + 1),
        "min_rings": (WORDS, lambda was: was + 1),
        "recorded_message_required": (WORDS, lambda _: False),
        "safe_harbour": (REFUSED, lambda was: not was),
        "severity": (REFUSED, lambda _: ""),
    },
    "consent": {
        "check": (GRADE, lambda was: "reassigned_number" if was != "reassigned_number" else "ported_number_grace"),
        "required": (GRADE, lambda was: "any_solicitation_basis" if was != "any_solicitation_basis" and "gdpr" not in was else "prior_express_written"),
        "required_non_marketing": (GRADE, lambda _: ""),
        "required_b2b": (GRADE, lambda _: ""),
        "waived_by_check": (GRADE, lambda _: False),
        "trigger": (WORDS, lambda _: "nothing else"),
        "area_code_presumption": (GRADE, lambda _: False),
        "max_days": (GRADE, lambda was: was + 1),
        "day_type": (GRADE, lambda _: "calendar"),
        "method": (WORDS, lambda _: "letter"),
        "revoke_all_waived_until": (GRADE, lambda was: was - 2 * DAY),
        "safe_harbour_response": (REFUSED, lambda _: "maybe"),
        "query_fields": (WORDS, lambda _: ("phone",)),
        "aging_days": (GRADE, lambda was: was - 1),
        "refresh_days": (GRADE, lambda was: was - 1),
        "mandatory": (GRADE, lambda was: not was),
        "grace_days": (GRADE, lambda was: was - 1),
        "max_consent_age_years": (GRADE, lambda was: was + 1),
        "max_consent_age_from": (GRADE, lambda was: was + 2 * DAY),
        "customer_exception_until": (GRADE, lambda was: was - DAY),
        "burden_of_proof": (WORDS, lambda _: "regulator"),
    },
    "retention": {
        "years": (GRADE, lambda was: was + 1),
        "records": (WORDS, lambda was: was[:-1] or ("more",)),
    },
    "recording_consent": {
        "consent": (GRADE, lambda was: "one_party" if was == "all_parties" else "all_parties"),
        "announcement": (GRADE, lambda was: not was),
        "ends": (GRADE, lambda was: "called" if was == "both" else "both"),
    },
    "caller_id": {
        "shown": (GRADE, lambda was: not was),
        "own": (GRADE, lambda was: not was),
        "valid": (GRADE, lambda was: not was),
        "not_called_party": (GRADE, lambda was: not was),
        "not_mobile": (GRADE, lambda was: not was),
        "prefixes": (GRADE, lambda was: ("34910",) if was else ("34911",)),
    },
    "artificial_voice": {
        "disclosure": (GRADE, lambda was: not was),
        "on_request": (GRADE, lambda was: not was),
        "required": (GRADE, lambda was: "prior_express" if was != "prior_express" else "prior_express_written"),
    },
    "sector_ban": {
        "subject": (WORDS, lambda _: "something else"),
    },
}  # fmt: skip


def paths(rule: Rule) -> list[str]:
    """Fields that a rule sets, those inside of its tables by their path; a list of tables by its first."""
    return list(_paths(rule.parameters, "", CHANGES[rule.kind]))


def _paths(model: BaseModel, prefix: str, table: dict[str, Any]) -> Iterator[str]:
    for name in sorted(model.model_fields_set):
        value = getattr(model, name)
        inner = value[0] if isinstance(value, tuple) and value else value
        is_table = isinstance(inner, BaseModel)
        empty = value in ((), "", None) or value is False
        if not empty and (not is_table or prefix + name in table):
            yield prefix + name
        if isinstance(inner, BaseModel):
            yield from _paths(inner, f"{prefix}{name}.", table)


def changed(rule: Rule, path: str, change: Callable[[Any], Any]) -> Rule:
    """The rule with one field changed; raises `ValidationError` where that is no rule."""
    values = rule.model_dump()
    spot: Any = values["parameters"]
    *outer, last = path.split(".")
    for step in outer:
        spot = spot[step]
        spot = spot[0] if isinstance(spot, (tuple, list)) else spot
    spot[last] = change(spot[last])
    made = RULE.validate_python(values)
    rules = tuple(made if each.id == made.id else each for each in BOOK.rules)
    problem = rulebook.contradiction(rules)
    if problem is not None:
        raise ConfigError(problem[1])
    return made


def variant(rule: Rule, path: str) -> Rule | None:
    """The rule with one field changed as the table says; None where the schema refuses it."""
    try:
        return changed(rule, path, CHANGES[rule.kind][path][1])
    except (ConfigError, ValidationError):
        return None


#: Days of which every full hour is looked at, of the others some: a week, and two more.
FULL_DAYS = 9


def of_hours(rule: Any) -> Scene:
    """Full hours of a week, and some of holidays and their eves; one number has an area code of another state."""
    kept = BOOK.rule(rule.id)
    start = some_day(kept)
    days = [start + timedelta(days=n) for n in range(7)]
    linked = BOOK.rule(rule.id).parameters.holiday_rule  # type: ignore[union-attr]
    if linked is not None:
        closed = closed_days(BOOK.rule(linked), start, start + 150 * DAY, Declared())  # type: ignore[arg-type]
        days += [each.day for each in closed]
    for special in ("before_holiday", "sunday_and_holiday"):
        window = getattr(BOOK.rule(rule.id).parameters, special)
        if window is not None:
            feasts = library(window.calendar, window.subdiv, start.year)
            days += [day + shift * DAY for day in feasts for shift in (-1, 0)]
    clocks = [time(hour) for hour in range(24)]
    phones = siblings(kept, 2)
    rows = [
        hand.call(phones[0], at(kept, day, clock), id=f"{day}{clock}")
        for n, day in enumerate(days)
        for clock in (clocks if n < FULL_DAYS else clocks[9:21])
    ]
    rows += [hand.call(phones[1], at(kept, days[0], clock), id=f"away{clock}") for clock in clocks]
    away = {phones[1]: "NY"} if rule.jurisdiction.startswith("US-") else {}
    holidays = [
        adopted(BOOK.rule(name)) for name in (rule.parameters.holiday_rule,) if name is not None
    ]
    return Scene(
        rule=rule, parts=("hours",), rows=rows, firm=practice(rule), beside=holidays, states=away
    )


def of_holidays(rule: Any) -> Scene:
    """Noon of the closed days of five years and of the days beside them, or of a declared day and the next."""
    kept: Any = BOOK.rule(rule.id)
    is_ban = kept.parameters.type == "emergency_ban"
    storm = date(final_year(kept), 9, 2)
    days = [storm, storm + DAY] if is_ban else near_closed_days(rule.id)
    return Scene(
        rule=rule, parts=("emergencies" if is_ban else "hours", "notes"), firm=practice(rule),
        rows=[hand.call(number(rule), at(rule, day, time(12)), id=f"c{n}") for n, day in enumerate(days)],
        declared={storm: "storm"} if is_ban else {},
    )  # fmt: skip


def final_year(rule: Rule) -> int:
    """The last year that a rule is asked about."""
    return rule.effective_to.year - 1 if rule.effective_to else 2030


@functools.cache
def near_closed_days(rule_id: str) -> list[date]:
    """Days that are closed by the rule as it stands or with one field changed, and the days beside them."""
    kept = BOOK.rule(rule_id)
    year = final_year(kept)
    others = (other for path in paths(kept) if (other := variant(kept, path)) is not None)
    parts = {part for each in (kept, *others) for part in in_parts(each)}  # type: ignore[arg-type]
    closed = {
        each.day for part in parts
        for each in closed_days(part, date(year - 4, 1, 1), date(year, 12, 31), Declared())
    }  # fmt: skip
    return sorted({day + shift * DAY for day in closed for shift in (-1, 0, 1)})


def of_caps(rule: Any) -> Scene:
    """Bursts in one campaign and in several, after a dropped call, a machine and a conversation, on health."""
    p = BOOK.rule(rule.id).parameters
    start = at(rule, some_day(rule), time(10)) + 40 * DAY
    if BOOK.rule(rule.id).effective_to is not None:
        start -= 35 * DAY
    length = (
        timedelta(hours=p.window_hours) if p.window_hours else timedelta(days=p.window_days or 1)
    )  # type: ignore[union-attr]
    phone = siblings(rule, 10)
    most = max(p.max_attempts, 1)  # type: ignore[union-attr]
    rows, outcomes = [], {}
    for n in range(most + 2):
        minute = start + n * timedelta(minutes=1)
        rows += [hand.call(phone[place], minute, id=f"burst{place}-{n}") for place in (0, 7, 8)]
        rows.append(hand.call(phone[1], minute, id=f"apart{n}", campaign_id=f"c{n}"))
    shifts = {0: length + timedelta(hours=20), 7: length - timedelta(minutes=30), 8: length}
    rows += [hand.call(phone[n], start + shift, id=f"later{n}") for n, shift in shifts.items()]
    for place, outcome in (
        (2, "dropped"),
        (3, "machine"),
        (4, "live"),
        (5, "dropped"),
        (6, "machine"),
    ):
        rows.append(hand.call(phone[place], start, id=f"event{place}", answered_at=start))
        outcomes[f"event{place}"] = outcome
        rows += [
            hand.call(phone[place], start + timedelta(hours=h), id=f"after{place}{h}")
            for h in (12, 23, 24, 71, 72, 140, 150, 170)
        ]
    rows += [hand.call(phone[9], start + n * timedelta(hours=6), id=f"h{n}") for n in range(20)]
    promised = "guaranteed_live_operator"
    records = [
        {"code": code, "phone": phone[n], "record": "r"}
        for n, code in ((9, "hipaa"), (5, promised), (6, promised))
    ]
    return Scene(
        rule=rule, parts=("attempts",), rows=rows, firm=practice(rule), outcomes=outcomes,
        tables={"exemptions": records},
    )  # fmt: skip


def of_freshness(rule: Any) -> Scene:
    """Checks as old as allowed and a little older, numbers newly listed, relationships that end."""
    p = BOOK.rule(rule.id).parameters
    moment = at(rule, some_day(rule), time(12))
    limit = p.max_age_days * DAY  # type: ignore[union-attr]
    ages = [
        (limit, False),
        (limit + TICK, False),
        (limit - DAY + TICK, False),
        (((p.listed_grace_days or 28) - 1) * DAY, True),  # type: ignore[union-attr]
        (DAY, True),
    ]
    phones = siblings(rule, 9)
    checks = [
        hand.check(moment - age, listed=said, phone=phone)
        for phone, (age, said) in zip(phones, ages, strict=False)
    ]
    kinds = [("purchase", 18, 1), ("purchase", 18, -1), ("inquiry", 3, 1), ("inquiry", 3, -1)]
    records = []
    for phone, (kind, months, day) in zip(phones[5:], kinds, strict=True):
        checks.append(hand.check(moment - DAY, listed=True, phone=phone))
        made = pd.Timestamp(moment) - pd.DateOffset(months=months) + day * DAY
        records.append(
            {"code": "ebr", "phone": phone, "record": "r", "kind": kind, "from_at": made}
        )
    return Scene(
        rule=rule, parts=("checked", "findings", "listed", "every_listed"), firm=practice(rule), checks=checks,
        rows=[hand.call(phone, moment) for phone in phones], tables={"exemptions": records},
    )  # fmt: skip


def of_requests(rule: Any) -> Scene:
    """Calls around the last day of grace, and around the day on which a request no longer binds."""
    kept = BOOK.rule(rule.id)
    p: Any = kept.parameters
    asked = at(rule, some_day(rule), time(12))
    if kept.effective_from is None or rule.jurisdiction == "US":
        last = kept.effective_to or date(2026, 12, 31)
        asked = at(rule, min(date(2025, 11, 21), last - 90 * DAY), time(12))
    shifts = [DAY * n + timedelta(hours=h) for n in range(22) for h in (1, 9)]
    shifts += [DAY * n for n in range(28, 34)]
    ends = [p.honor_days, p.cooldown_days, p.honor_years and p.honor_years * 365.25]
    for end in (each for each in ends if each):
        shifts += [timedelta(days=end) + n * DAY / 2 for n in (-3, -1, 0, 1, 3)]
        shifts += [timedelta(days=end - 200)]
    rows = [hand.call(number(rule), asked, id="asked", disposition="DNC")]
    rows += [
        hand.call(number(rule), asked + shift, id=f"c{n}")
        for n, shift in enumerate(sorted(shifts))
    ]
    return Scene(rule=rule, parts=("listed",), rows=rows, firm=practice(rule))


def of_abandonment(rule: Any) -> Scene:
    """Campaigns at the limit and beside it, days apart, with machines, all of one caller."""
    p: Any = BOOK.rule(rule.id).parameters
    kept = BOOK.rule(rule.id)
    base = at(rule, some_day(rule), time(12)) - (200 * DAY if kept.effective_to else 0 * DAY)
    share = round(p.max_rate * 100)
    firm = dataclasses.replace(practice(rule), dialing="predictive")
    plan = [
        ("a", 0, share, 100 - share, 0), ("b", 40, share, 95 - share, 40), ("c", 80, 1, 10, 0),
        ("d", 122, 2, 28, 0), ("d", 124, 0, 60, 0), ("e", 160, 5, 20, 0), ("f", 160, 0, 150, 0),
    ]  # fmt: skip
    rows, outcomes = [], {}
    for campaign, after, dropped, live, machines in plan:
        kinds = ["dropped"] * dropped + ["live"] * live + ["machine"] * machines
        for n, kind in enumerate(kinds):
            name = f"{campaign}{after}-{n}"
            rows.append(hand.call(number(rule), base + after * DAY, id=name, campaign_id=campaign))
            outcomes[name] = kind
    return Scene(rule=rule, parts=("abandonment",), rows=rows, firm=firm, outcomes=outcomes)


def of_consent(rule: Any) -> Scene:
    """Records of each kind and age, revocations, look-ups, ports, a check; other purposes, lines and states."""
    kept = BOOK.rule(rule.id)
    p: Any = kept.parameters
    day = some_day(rule) + 30 * DAY
    moment = at(rule, min(day, kept.effective_to or day), time(12))
    for turn in (p.revoke_all_waived_until, p.max_consent_age_from, p.customer_exception_until):
        moment = moment if turn is None else at(rule, turn, time(12))
    phone = siblings(rule, 10)
    rows = [hand.call(each, moment + shift * DAY, id=f"{n}{shift}")
            for n, each in enumerate(phone) for shift in (-1, 0, 1, 2)]  # fmt: skip
    rows.append(hand.call(phone[9], moment, id="news", campaign_id="cmp_news"))
    at_ = pd.Timestamp(moment)
    old = at_ - pd.DateOffset(years=p.max_consent_age_years or 2) - pd.Timedelta(hours=12)
    records = [
        (0, "any", at_ - 90 * DAY, None, None), (1, "express", at_ - 90 * DAY, None, None),
        (2, "written", at_ - 90 * DAY, None, None), (3, "written", old, None, None),
        (4, "written", at_ - 90 * DAY, at_ - 13 * DAY, None), (5, "written", at_ - 90 * DAY, at_ - 14 * DAY, None),
        (6, "written", at_ - 90 * DAY, at_ - 40 * DAY, "cmp_other"),
        (7, "written", at_ - (p.aging_days or 45) * DAY + DAY / 2, None, None), (9, "express", at_ - 90 * DAY, None, None),
    ]  # fmt: skip
    consents = [
        {"phone": phone[n], "kind": kind, "granted_at": given, "revoked_at": back,
         "revoked_for": campaign, "record": f"r{n}"} for n, kind, given, back, campaign in records
    ]  # fmt: skip
    refresh = (p.refresh_days or 30) * DAY
    grace = (p.grace_days or 15) * DAY
    look_ups = [
        {"phone": phone[n], "checked_at": at_ - age, "result": said, "ported_at": at_ - grace + DAY / 2}
        for n, age, said in ((0, refresh - DAY / 2, "no"), (1, refresh, "no"), (2, DAY, "yes"), (3, DAY, "no data"))
    ]  # fmt: skip
    firm = practice(rule)
    lines = dict(firm.line_types)
    if p.required_b2b:
        lines[phone[8]] = "business"
    firm = dataclasses.replace(firm, line_types=lines, purposes={"cmp_news": "informational"})
    states = {phone[0]: "NY", phone[8]: "NY"} if rule.jurisdiction.startswith("US-") else {}
    lifted = [{"code": "ebr", "phone": phone[8], "record": "r"}]
    # A check in time stands for consent where the rule says so; how old it may be, the place's rule on lists says.
    places = (rule.jurisdiction, rule.jurisdiction[:2])
    lists = [each for each in BOOK.of_kind(FreshnessRule) if each.jurisdiction in places]
    return Scene(
        rule=rule, parts=("consent",), rows=rows, firm=firm, states=states,
        checks=[hand.check(moment - DAY / 2, phone=phone[n]) for n in (5, 8)],
        beside=lists if p.waived_by_check else [],
        tables={"exemptions": lifted, "consents": consents, "look_ups": look_ups},
    )  # fmt: skip


def of_retention(rule: Any) -> Scene:
    """A call as old as records are kept, and one a year older."""
    now = hand.utc("2024-03-01") if rule.effective_to else hand.utc("2026-11-21")
    years = BOOK.rule(rule.id).parameters.years  # type: ignore[union-attr]
    oldest = (pd.Timestamp(now) - pd.DateOffset(years=years)).to_pydatetime()
    # The oldest call of the audit speaks for all of its rules.
    return Scene(
        rule=rule, parts=("retention",), rows=[hand.call(number(rule), oldest)],
        firm=practice(rule), now=now, alike=rule,
    )  # fmt: skip


def of_recordings(rule: Any) -> Scene:
    """Recorded with and without a word, not recorded; called here, and called elsewhere from here."""
    moment = at(rule, some_day(rule), time(12))
    cases = {"announced": (True, True), "silent": (True, False), "unrecorded": (False, None)}
    rows = [
        hand.call(phone, moment, answered_at=moment, id=f"{name} {phone}", campaign_id=name)
        for name in cases
        for phone in (number(rule), hand.NEW_YORK)
    ]
    firm = dataclasses.replace(
        practice(rule), callers_in=(rule.jurisdiction,),
        conducts={
            name: Conduct(recorded=recorded, recording_announced=announced)
            for name, (recorded, announced) in cases.items()
        },
    )  # fmt: skip
    return Scene(rule=rule, parts=("recordings",), rows=rows, firm=firm)


def of_caller_ids(rule: Any) -> Scene:
    """The firm's own number, a stranger's, the called party's, none, one that cannot be called, and those of ranges."""
    moment = at(rule, some_day(rule), time(12))
    called, own, impossible = number(rule), "+16465550180", "+1212"
    ranges = ("+34612345678", "+34911234567", "+34400123456", "+33162123456", "+33142345678")
    rows = [
        hand.call(called, moment, id=f"c{n}", from_number=shown)
        for n, shown in enumerate((own, "+12125550199", called, "", impossible, *ranges))
    ]
    own_numbers = frozenset({own, called, impossible, *ranges})
    firm = dataclasses.replace(practice(rule), caller_ids=own_numbers)
    return Scene(rule=rule, parts=("caller_ids",), rows=rows, firm=firm)


def of_voices(rule: Any) -> Scene:
    """Voices that say what they are and that do not, to people who agreed in writing, by word, and not."""
    moment = at(rule, some_day(rule), time(12))
    phones = siblings(rule, 3)
    conducts = {
        "told": Conduct(artificial_voice=True, voice_announced=True),
        "silent": Conduct(artificial_voice=True, voice_announced=False),
        "human": Conduct(artificial_voice=False),
    }
    rows = [
        hand.call(phone, moment, id=f"{name} {phone}", campaign_id=name)
        for name in conducts
        for phone in phones
    ]
    consents = [
        {"phone": phone, "kind": kind, "granted_at": moment - 90 * DAY, "record": "r"}
        for phone, kind in zip(phones, ("written", "express"), strict=False)
    ]
    firm = dataclasses.replace(practice(rule), conducts=conducts)
    return Scene(rule=rule, parts=("voices",), rows=rows, firm=firm, tables={"consents": consents})


def of_bans(rule: Any) -> Scene:
    """A call on the subject."""
    rows = [hand.call(number(rule), at(rule, some_day(rule), time(12)))]
    return Scene(rule=rule, parts=("sectors",), rows=rows, firm=practice(rule))


SCENES: dict[str, Callable[[Any], Scene]] = {
    "calling_hours": of_hours, "holiday": of_holidays, "attempt_cap": of_caps,
    "dnc_freshness": of_freshness, "internal_dnc": of_requests,
    "abandonment_rate": of_abandonment, "consent": of_consent, "retention": of_retention,
    "recording_consent": of_recordings, "caller_id": of_caller_ids,
    "artificial_voice": of_voices, "sector_ban": of_bans,
}  # fmt: skip


Judgment = tuple[list[str], list[str]]


def told(parts: Iterable[Mapping[str, pd.DataFrame]]) -> Judgment:
    """Grades, and words."""
    frames = [frame for each in parts for frame in each.values()]
    words = [
        " | ".join(str(value) for value in row)
        for frame in frames
        for row in frame.filter(["reason", "basis", "call_id"]).to_numpy()
    ]
    return [str(grade) for frame in frames for grade in frame["grade"]], words


def covering() -> list[tuple[Rule, list[str]]]:
    """Rules and fields so that each field that any rule sets is changed in one; all for a thorough run."""
    asked = [rule for rule in BOOK.rules if rule.kind in CHANGES]
    if os.environ.get("HYPOTHESIS_PROFILE") == "thorough":
        return [(rule, paths(rule)) for rule in asked]
    seen: set[tuple[str, str]] = set()
    found = []
    # Fields that other countries have too are changed there: rules of one country need an audit each.
    for rule in sorted(asked, key=lambda each: (each.jurisdiction[:2] == "US", -len(paths(each)))):
        fields = [path for path in paths(rule) if (rule.kind, path) not in seen]
        if fields:
            found.append((rule, fields))
        seen |= {(rule.kind, path) for path in fields}
    return found


#: Somebody who is not called has a record in each table: which tables there are says nothing of a rule.
STRANGER = {
    "consents": [{"phone": "+33610000000", "kind": "any", "granted_at": hand.utc("2020-01-01"), "record": "r"}],
    "look_ups": [{"phone": "+33610000000", "checked_at": hand.utc("2020-01-01"), "result": "no"}],
}  # fmt: skip


def scenes(rule: Rule) -> list[Scene]:
    """The scene of a rule as it is given; where days were declared, once more without."""
    made = SCENES[rule.kind](rule)
    scene = dataclasses.replace(made, outcomes=made.outcomes or {}, tables=STRANGER | made.tables)
    return [scene, dataclasses.replace(scene, declared={})] if scene.declared else [scene]


def told_of(rules: Mapping[Any, Rule]) -> dict[Any, Judgment]:
    """What is said of the scenes of each rule."""
    every = {name: scenes(rule) for name, rule in rules.items()}
    found = iter(judged(scene for some in every.values() for scene in some))
    return {name: told([next(found) for _ in some]) for name, some in every.items()}


@functools.cache
def judgments() -> dict[tuple[str, str], Judgment]:
    """What is said of the scene of each rule as it stands (no path), and with each field changed."""
    asked = {}
    for rule, fields in covering():
        others = {(rule.id, path): variant(rule, path) for path in fields}
        asked |= {(rule.id, ""): rule} | {name: o for name, o in others.items() if o is not None}
    return told_of(asked)


def bearing(rule: Rule, path: str) -> str:
    """On what a change of one field bears."""
    if (rule.id, path) not in judgments():
        return REFUSED
    grades, words = judgments()[rule.id, path]
    as_it_stands = judgments()[rule.id, ""]
    if grades != as_it_stands[0]:
        return GRADE
    return WORDS if words != as_it_stands[1] else "nothing"


def test_a_rule_as_it_stands_is_judged_alike_in_any_company() -> None:
    """So what is said otherwise of a changed rule comes from the change, and from no scene of the same audit."""
    found = told_of({(rule.id, ""): rule for rule, _ in reversed(covering())})
    assert {name for name, said in found.items() if said != judgments()[name]} == set()


@pytest.mark.parametrize(
    ("rule", "fields"), [pytest.param(rule, fields, id=rule.id) for rule, fields in covering()]
)
def test_no_parameter_of_a_rule_is_ignored(rule: Rule, fields: list[str]) -> None:
    """Each field that the rule sets is changed alone, and the same calls are judged otherwise."""
    table = CHANGES[rule.kind]
    faults = {}
    for path in fields:
        wanted, _ = table[path]
        found = bearing(rule, path)
        strong = {
            GRADE: (GRADE, REFUSED),
            WORDS: (GRADE, WORDS, REFUSED),
            REFUSED: (REFUSED, GRADE),
        }
        if found not in strong[wanted]:
            faults[path] = found
    assert not faults


@pytest.mark.parametrize("kind", list(CHANGES))
def test_every_field_of_the_schema_is_in_the_table(kind: str) -> None:
    """A field that is added to the schema has to be shown to matter; one that is gone leaves the table."""
    model = type(next(r for r in BOOK.rules if r.kind == kind).parameters)
    named = {path.split(".")[0] for path in CHANGES[kind]}
    assert named == set(model.model_fields)
