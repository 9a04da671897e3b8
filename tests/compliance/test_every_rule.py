"""Every rule of the book, by a call just inside and one just outside each of its limits, made from its own data."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pandas as pd
import pytest

from compliance import hand
from dialframe import compliance
from dialframe.compliance import hours
from dialframe.compliance.example_audit import phone_of
from dialframe.compliance.practice import Practice
from dialframe.compliance.rules import rulebook
from dialframe.compliance.rules.calendars import Declared, closed_days, in_parts, last_day
from dialframe.compliance.rules.rule_model import (
    DAYS,
    AbandonmentRule,
    CapRule,
    ConsentRule,
    FreshnessRule,
    HolidayRule,
    HonourRule,
    HoursRule,
    RetentionRule,
    Rule,
)
from dialframe.compliance.zones import area_codes, of_number

#: Every rule as if it had been read beyond doubt: what it asks is tested here, not how sure it is.
BOOK = hand.trusted(rulebook.load())
TICK, DAY = timedelta(microseconds=1), timedelta(days=1)

#: A number with one zone for each country that has rules.
NUMBERS = {
    "US": hand.NEW_YORK, "AU": "+61255500123", "BR": "+551155550123", "CA": hand.TORONTO,
    "DE": "+493023125123", "ES": "+34915550123", "FR": "+33199001234", "GB": hand.LONDON,
    "IE": "+35315550123", "IN": "+911155550123", "IT": "+390655550123", "MX": "+525555550123",
    "NL": "+31205550123", "NZ": "+6495550123", "PT": "+351215550123", "SG": "+6565550123",
    "ZA": "+27115550123",
}  # fmt: skip


def of_kind(kind: type[Any]) -> list[Any]:
    """Rules of a kind with their ids for pytest; a voluntary code is asked by naming it."""
    return [pytest.param(rule, id=rule.id) for rule in BOOK.of_kind(kind)]


def only(rule: Rule) -> rulebook.RuleBook:
    """The book of one rule, without the holidays that it names."""
    book = BOOK.select([rule.id])
    return dataclasses.replace(book, rules=tuple(r for r in book.rules if r.id == rule.id))


def number(rule: Rule) -> str:
    """A number that the rule reaches, of one zone."""
    if not rule.jurisdiction.startswith("US-"):
        return NUMBERS.get(rule.jurisdiction) or phone_of(rule.jurisdiction)
    state = rule.jurisdiction[3:]
    phones = [f"+1{area.code}5550142" for area in area_codes().values() if area.state == state]
    return min(phones, key=lambda phone: (len(of_number(phone).names), phone))


def siblings(rule: Rule, count: int) -> list[str]:
    """Numbers like it that differ in the last digit alone, so that one audit holds several cases."""
    return [f"{number(rule)[:-1]}{digit}" for digit in range(count)]


def practice(rule: Rule) -> Practice:
    """What a firm would have to say for the rule to reach its calls."""
    dialing = {"any": "manual", "autodialer_or_prerecorded": "prerecorded"}
    purposes = {
        "prerecorded",
        "autodialed",
        "live_marketing",
        "any_outbound_dialer",
        "call_centre_outbound",
    }
    purpose = rule.applies_to[0]
    if purpose in purposes:
        purpose = "telemarketing_sales"
    return Practice(
        purpose="informational" if purpose == "informational_prerecorded" else purpose,
        dialing=dialing.get(rule.dialing, rule.dialing),
        line_types=dict.fromkeys(siblings(rule, 10), rule.line_types[0]),
    )


def some_day(rule: Rule) -> date:
    """A Monday on which the rule is in force, the week after it too where that can be."""
    start = rule.effective_from or date(2024, 1, 8)
    if rule.effective_to is not None and rule.effective_from is None:
        start = rule.effective_to - timedelta(days=20)
    return start + timedelta(days=-start.weekday() % 7)


def zone(rule: Rule) -> ZoneInfo:
    """Zone of the rule's number, or the fixed one of the rule."""
    fixed = getattr(rule.parameters, "timezone", None)
    return ZoneInfo(fixed or of_number(number(rule)).names[0])


def at(rule: Rule, day: date, clock: time) -> datetime:
    """An instant by the rule's clock."""
    return datetime.combine(day, clock, zone(rule)).astimezone(UTC)


def edges(rule: HoursRule) -> Iterator[tuple[datetime, str]]:
    """Instants just inside and just outside of each window, and noon of closed days."""
    first = some_day(rule)
    week = [first + timedelta(days=n) for n in range(7)]
    for day in week:
        name = DAYS[day.weekday()]
        spans = sorted((w.start, w.end) for w in rule.parameters.windows if name in w.days)
        special = rule.parameters.sunday_and_holiday
        if special is not None and name == "sun":
            spans = [(special.start, special.end)]
        if not spans:
            yield at(rule, day, time(12)), "violation"
        for start, end in spans:
            yield at(rule, day, start), "pass"
            yield at(rule, day, start) - TICK, "violation"
            yield at(rule, day, end) - TICK, "pass"
            yield at(rule, day, end), "violation"


#: The only area code of these states lies in two zones; South Dakota has a test of its own.
SOUTH_DAKOTA = ("us-sd-hours", "us-sd-hours-autodialer")
TWO_ZONES = (*SOUTH_DAKOTA, "us-nd-hours")


@pytest.mark.parametrize("rule", [p for p in of_kind(HoursRule) if p.id not in TWO_ZONES])
def test_each_window_of_each_rule_on_hours(rule: HoursRule) -> None:
    """The first and the last microsecond of every window of the week are inside, their neighbors outside."""
    wanted = [(moment, grade) for moment, grade in edges(rule) if rule.holds_on(moment.date())]
    assert {grade for _, grade in wanted} == {"pass", "violation"}
    rows = [
        hand.call(number(rule), moment, id=f"call_{n}") for n, (moment, _) in enumerate(wanted)
    ]
    found = hours.audit(hand.calls(*rows), rules=only(rule), practice=practice(rule))
    assert found["grade"].tolist() == [grade for _, grade in wanted]
    assert set(found["rule_id"]) == {rule.id}


@pytest.mark.parametrize(
    "rule",
    [
        p
        for p in of_kind(HoursRule)
        if BOOK.rule(str(p.id)).effective_from or BOOK.rule(str(p.id)).effective_to
    ],
)
def test_a_rule_on_hours_holds_on_its_days_alone(rule: HoursRule) -> None:
    """On the day before its first and after its last nothing is asked."""
    inside, outside = [], []
    if rule.effective_from is not None:
        inside.append(rule.effective_from)
        outside.append(rule.effective_from - DAY)
    if rule.effective_to is not None:
        inside.append(rule.effective_to)
        outside.append(rule.effective_to + DAY)
    rows = [
        hand.call(number(rule), at(rule, day, time(3)), id=f"c{n}")
        for n, day in enumerate(inside + outside)
    ]
    found = hours.audit(hand.calls(*rows), rules=only(rule), practice=practice(rule))
    assert found["grade"].tolist() == ["violation"] * len(inside) + ["not evaluable"] * len(
        outside
    )


@pytest.mark.parametrize("rule", of_kind(HolidayRule))
def test_each_holiday_is_closed_and_its_neighbors_are_not(rule: HolidayRule) -> None:
    """Noon of every day of a year, by the calendar with what the law adds and drops."""
    year = (rule.effective_to or date(2026, 12, 31)).year - (1 if rule.effective_to else 0)
    declared = Declared({rule.id: {date(year, 9, 2): "storm"}})
    closed = closed_days(rule, date(year, 1, 1), date(year, 12, 31), declared)
    days = [date(year, 1, 2) + timedelta(days=n) for n in range(363)]
    near = [d for d in days if any(abs((d - c).days) <= 1 for c in closed)]
    rows = [
        hand.call(number(rule), at(rule, day, time(12)), id=f"c{n}") for n, day in enumerate(near)
    ]
    audit = hand.audit(
        hand.leads(), hand.calls(*rows), hand.checks(), now=hand.utc("2026-12-31"),
        rules=[rule.id], book=BOOK, practice=practice(rule), declared=declared,
    )  # fmt: skip
    part_of_state = "uncertain" if rule.parameters.area else "violation"
    regional = {
        d for part in in_parts(rule)[1:] for d in closed_days(part, near[0], near[-1], declared)
    }
    wanted = [
        part_of_state if day in closed else "uncertain" if day in regional else "pass"
        for day in near
    ]
    found = audit.parts["emergencies"] if rule.parameters.type == "emergency_ban" else audit.hours
    assert closed
    assert found["grade"].tolist() == wanted


@pytest.mark.parametrize(
    "rule", [p for p in of_kind(CapRule) if BOOK.rule(str(p.id)).parameters.trigger is None]
)
def test_each_cap_counts_its_window_exactly(rule: CapRule) -> None:
    """The last attempt allowed passes, the next is a violation, and one window after the first it is none."""
    p = rule.parameters
    start = at(rule, some_day(rule) + timedelta(days=40), time(10))
    times = [start + timedelta(minutes=n) for n in range(p.max_attempts + 1)]
    length = (
        timedelta(hours=p.window_hours) if p.window_hours else timedelta(days=p.window_days or 1)
    )
    last = length - TICK if p.window_type == "rolling" else length - DAY + timedelta(hours=1)
    times.append(start + last)
    later = [moment + length for moment in times[: p.max_attempts]]
    rows = [hand.call(number(rule), moment, id=f"c{n}") for n, moment in enumerate(times)]
    grades = _caps(rule, rows)
    assert grades == ["pass"] * p.max_attempts + ["violation"] * 2
    apart = [
        hand.call(number(rule), moment, id=f"d{n}")
        for n, moment in enumerate(times[: p.max_attempts] + later)
    ]
    assert set(_caps(rule, apart)) == {"pass"}
    lost = [dict(row, hangup_cause="NETWORK_OUT_OF_ORDER") for row in rows[:-2]]
    assert _caps(rule, [*lost, *rows[-2:]])[-1] == ("pass" if p.max_attempts > 1 else "violation")


def _one_rule(
    rule: Rule, rows: list[dict[str, Any]], firm: Practice | None = None, **more: Any
) -> compliance.Audit:
    """The audit of some calls by one rule alone."""
    given = {"now": hand.utc("2100-01-01"), **more}
    return hand.audit(
        hand.leads(), hand.calls(*rows), hand.checks(), rules=[rule.id], book=BOOK,
        practice=firm or practice(rule), **given,
    )  # fmt: skip


def _caps(rule: Rule, rows: list[dict[str, Any]], **more: Any) -> list[str]:
    return [str(grade) for grade in _one_rule(rule, rows, **more).parts["attempts"]["grade"]]


@pytest.mark.parametrize("rule", of_kind(FreshnessRule))
def test_each_age_of_a_check_is_to_the_microsecond(rule: FreshnessRule) -> None:
    """A check as old as the rule allows passes, a microsecond older does not; a listed number is found."""
    p = rule.parameters
    moment = at(rule, some_day(rule), time(12))
    if p.basis == "quarter_of_call":
        moment = hand.utc("2026-03-31T16:00")
    ages = [p.max_age_days * DAY, p.max_age_days * DAY + TICK]
    if p.basis == "quarter_of_call":
        ages = [moment - hand.utc("2026-01-01"), moment - hand.utc("2026-01-01") + TICK]
    if p.check == "listed_number_called":
        ages = []
    soon = timedelta(days=p.listed_grace_days)
    told = [(moment - age, False) for age in ages] + [(moment - soon - TICK, True)]
    told += [(moment - soon + TICK, True)] if soon else []
    phones = siblings(rule, len(told))
    audit = hand.audit(
        hand.leads(),
        hand.calls(*(hand.call(phone, moment) for phone in phones)),
        hand.checks(
            *(hand.check(at_, listed=said, phone=phone)
              for phone, (at_, said) in zip(phones, told, strict=True))
        ),
        now=moment + DAY, rules=[rule.id], book=BOOK, practice=practice(rule),
    )  # fmt: skip
    assert (
        audit.coverage.calls["grade"].tolist()[: len(ages)] == ["pass", "uncertain"][: len(ages)]
    )
    assert audit.listed["grade"].tolist() == ["proven", *(["indeterminate"] if soon else [])]


@pytest.mark.parametrize("rule", of_kind(HonourRule))
def test_each_request_is_honoured_by_its_last_day(rule: HonourRule) -> None:
    """A call on the last day is not proven, one on the day after is; so is the list itself held to it."""
    asked = at(rule, some_day(rule), time(12))
    asked = min(asked, at(rule, rule.effective_to, time(12))) if rule.effective_to else asked
    end = last_day(rule, asked.astimezone(zone(rule)).date())
    request = hand.call(number(rule), asked, id="asked", disposition="DNC")
    late = at(rule, end + DAY, time(0))
    if not rule.parameters.max_days:
        late = asked + TICK
    rows = [request, hand.call(number(rule), late, id="late")]
    wanted = ["not evaluable", "proven"]
    if rule.parameters.max_days:
        rows.insert(1, hand.call(number(rule), late - TICK, id="last"))
        wanted.insert(1, "indeterminate")
    audit = hand.audit(
        hand.leads(), hand.calls(*rows), hand.checks(), now=late + 30 * DAY, rules=[rule.id],
        book=BOOK, practice=practice(rule),
    )  # fmt: skip
    assert audit.listed["grade"].tolist() == wanted
    due = audit.parts["requests"]["due_at"].item()
    cases_ = [(timedelta(0), True, "pass"), (TICK, True, "uncertain"), (TICK, False, "violation")]
    phones = siblings(rule, len(cases_))
    again = hand.audit(
        hand.leads(),
        hand.calls(*(dict(request, id=phone, to_number=phone) for phone in phones)),
        hand.checks(
            *(hand.check(due.to_pydatetime() + shift, listed=said, phone=phone)
              for phone, (shift, said, _) in zip(phones, cases_, strict=True))
        ),
        now=late + 90 * DAY, rules=[rule.id], book=BOOK, practice=practice(rule),
    ).parts["requests"]  # fmt: skip
    found = dict(zip(again["phone"], again["grade"], strict=True))
    assert found == {p: grade for p, (*_, grade) in zip(phones, cases_, strict=True)}


@pytest.mark.parametrize("rule", of_kind(AbandonmentRule))
def test_each_share_of_abandoned_calls(rule: AbandonmentRule) -> None:
    """At the limit it is kept where the rule says at most, one dropped call more breaks it."""
    p = rule.parameters
    live = 1000
    at_limit = round(p.max_rate / (1 - p.max_rate) * live)
    moment = at(rule, some_day(rule), time(12))
    for dropped in (at_limit - 1, at_limit + 1):
        rows = [hand.call(number(rule), moment, id=f"c{n}") for n in range(live + dropped)]
        told = {row["id"]: "live" if n < live else "dropped" for n, row in enumerate(rows)}
        firm = dataclasses.replace(practice(rule), dialing="predictive")
        table = _one_rule(rule, rows, firm, outcomes=told).parts["abandonment"]
        broken = "uncertain" if not p.safe_harbour else "violation"
        wanted = "pass" if dropped < at_limit else broken
        assert table["grade"].tolist() == [wanted]
        assert table["dropped"].tolist() == [dropped]


@pytest.mark.parametrize("rule", of_kind(ConsentRule))
def test_each_rule_on_consent_asks_for_its_record(rule: ConsentRule) -> None:
    """Without the table nothing is evaluable; with it a record lets the call pass and its absence does not."""
    moment = at(rule, some_day(rule) + timedelta(days=30), time(12))
    if rule.effective_to is not None:
        moment = at(rule, rule.effective_to, time(12))
    check = rule.parameters.check
    none = _consented(rule, moment, None, None)
    assert none == ["not evaluable"]
    given = pd.DataFrame(
        {
            "phone": [number(rule)],
            "kind": ["written"],
            "granted_at": [moment - DAY],
            "record": ["r1"],
        }
    )
    if check == "consent_before_call":
        assert _consented(rule, moment, given, None) == ["pass"]
        assert _consented(rule, moment, given.assign(granted_at=moment + TICK), None) == [
            "violation"
        ]
        assert _consented(rule, moment, given.assign(revoked_at=moment), None) == ["violation"]
        assert _consented(rule, moment, given.assign(revoked_at=moment + TICK), None) == ["pass"]
        assert _consented(rule, moment, given.assign(expires_at=moment), None) == ["violation"]
    elif check == "call_after_revocation":
        old = given.assign(granted_at=moment - 90 * DAY)
        assert _consented(rule, moment, old.assign(revoked_at=moment - 30 * DAY), None) == [
            "violation"
        ]
        assert _consented(rule, moment, old.assign(revoked_at=moment - DAY), None) == ["uncertain"]
        assert _consented(rule, moment, old, None) == ["pass"]
    elif check == "reassigned_number":
        days = timedelta(days=rule.parameters.refresh_days or 30)
        asked = pd.DataFrame(
            {"phone": [number(rule)], "checked_at": [moment - days], "result": ["no"]}
        )
        without = "violation" if rule.parameters.mandatory else "uncertain"
        assert _consented(rule, moment, None, asked) == ["pass"]
        assert _consented(rule, moment, None, asked.assign(checked_at=moment - days - TICK)) == [
            without
        ]
        assert _consented(rule, moment, None, asked.assign(result="yes")) == ["violation"]


def _consented(
    rule: Rule, moment: datetime, consents: pd.DataFrame | None, look_ups: pd.DataFrame | None
) -> list[str]:
    audit = _one_rule(
        rule, [hand.call(number(rule), moment)], consents=consents, look_ups=look_ups
    )
    return [str(grade) for grade in audit.parts["consent"]["grade"]]


@pytest.mark.parametrize("rule", of_kind(RetentionRule))
def test_each_rule_on_keeping_records_reaches_back_its_years(rule: RetentionRule) -> None:
    """A call as old as records are kept shows it, one a microsecond younger does not."""
    now = hand.utc("2024-03-01") if rule.effective_to else hand.utc("2026-11-21")
    wanted = (pd.Timestamp(now) - pd.DateOffset(years=rule.parameters.years)).to_pydatetime()
    for oldest, grade in ((wanted, "pass"), (wanted + TICK, "not evaluable")):
        kept = _one_rule(rule, [hand.call(number(rule), oldest)], now=now).parts["retention"]
        assert kept["grade"].tolist() == [grade]


@pytest.mark.parametrize("rule_id", SOUTH_DAKOTA)
def test_south_dakota_is_judged_in_both_of_its_zones(rule_id: str) -> None:
    """09:00-21:00 in Central and in Mountain time: inside in both, in one, in neither; Sundays closed."""
    firm = Practice(dialing="autodialer", line_types={"+16055550142": "residential"})
    wanted = {
        "2026-07-06T13:59:59": "violation", "2026-07-06T14:00": "uncertain",
        "2026-07-06T14:59:59": "uncertain", "2026-07-06T15:00": "pass",
        "2026-07-07T01:59:59": "pass", "2026-07-07T02:00": "uncertain",
        "2026-07-07T02:59:59": "uncertain", "2026-07-07T03:00": "violation",
        "2026-07-05T18:00": "violation",
    }  # fmt: skip
    rows = [hand.call("+16055550142", hand.utc(text), id=text) for text in wanted]
    found = hours.audit(hand.calls(*rows), rules=BOOK.select([rule_id]), practice=firm)
    assert found["grade"].tolist() == list(wanted.values())


@pytest.mark.parametrize(
    "rule", [p for p in of_kind(CapRule) if BOOK.rule(str(p.id)).parameters.trigger is not None]
)
def test_each_cap_that_follows_an_event_holds_for_its_hours(rule: CapRule) -> None:
    """A call the last microsecond before the hours are over breaks it, one after them does not."""
    p = rule.parameters
    outcome = {"abandoned": "dropped"}.get(str(p.trigger), str(p.trigger))
    missing = {
        "dropped": "an outcome that says that a call was dropped",
        "machine": "an outcome that says that a machine answered",
    }[outcome]
    first = at(rule, some_day(rule), time(12))
    ended = first + timedelta(seconds=40)
    length = timedelta(hours=p.window_hours or 0)
    event = hand.call(number(rule), first, id="event", answered_at=first, ended_at=ended)
    cases_ = [(ended + length - TICK, "violation"), (ended + length, "pass")]
    for moment, grade in cases_:
        rows = [event, hand.call(number(rule), moment, id="next")]
        assert _after(rule, rows, {"event": outcome, "other": "live"}) == ["pass", grade]
        assert _after(rule, rows, {"event": "live", "other": outcome}) == ["pass", "pass"]
        known = _after(rule, rows, None)
        assert known == ["pass", "not evaluable" if grade == "violation" else "pass"]
    graded = _after_frame(rule, [event, hand.call(number(rule), cases_[0][0], id="next")], None)
    assert graded["missing"].tolist()[1] == missing


def _after(rule: Rule, rows: list[dict[str, Any]], told: dict[str, str] | None) -> list[str]:
    return [str(grade) for grade in _after_frame(rule, rows, told)["grade"]]


def _after_frame(
    rule: Rule, rows: list[dict[str, Any]], told: dict[str, str] | None
) -> pd.DataFrame:
    return _one_rule(rule, rows, outcomes=told).parts["attempts"]


def test_no_rule_is_left_out() -> None:
    """Each rule is of a kind that is tested above, or of one whose examples are tested with the book."""
    kinds = (
        HoursRule, HolidayRule, CapRule, FreshnessRule, HonourRule, AbandonmentRule, ConsentRule,
        RetentionRule,
    )  # fmt: skip
    newer = {"recording_consent", "caller_id", "artificial_voice", "sector_ban"}
    assert sorted(str(p.id) for kind in kinds for p in of_kind(kind)) == sorted(
        rule.id for rule in BOOK.rules if rule.kind not in newer
    )


def test_a_rule_whose_reading_is_in_doubt_shows_no_violation() -> None:
    """Korea's hours, which nobody read in the act: far outside them a call is uncertain."""
    book = rulebook.load()
    rule = book.rule("kr-hours")
    night = at(rule, date(2026, 7, 8), time(3))
    calls = hand.calls(hand.call(number(rule), night))
    graded = [
        hours.audit(calls, rules=chosen.select(["kr-hours"]), practice=practice(rule))
        for chosen in (book, BOOK)
    ]
    assert [frame.iloc[0]["grade"] for frame in graded] == ["uncertain", "violation"]
    assert "confidence in the rule is low" in graded[0].iloc[0]["reason"]
