"""Every rule of the book, by a call just inside and one just outside each of its limits, made from its own data."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pandas as pd
import pytest

from compliance import hand
from dialframe import compliance
from dialframe.compliance import hours
from dialframe.compliance.practice import Practice
from dialframe.compliance.rule_examples import phone_of
from dialframe.compliance.rules import rulebook
from dialframe.compliance.rules.calendars import Declared, closed_days, in_parts, last_day
from dialframe.compliance.rules.rule_model import (
    DAYS,
    AbandonmentRule,
    CapRule,
    ConsentRule,
    FreshnessRule,
    HolidayRule,
    HonorRule,
    HoursRule,
    RetentionRule,
    Rule,
)
from dialframe.phones.zones import area_codes, of_number

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


def only(rules: Iterable[Rule]) -> rulebook.RuleBook:
    """The book of some rules, without the holidays that they name."""
    wanted = [rule.id for rule in rules]
    book = BOOK.select(wanted)
    return dataclasses.replace(book, rules=tuple(r for r in book.rules if r.id in wanted))


def number(rule: Rule) -> str:
    """A number that the rule reaches, of one zone."""
    return _number(rule.jurisdiction)


@functools.cache
def _number(jurisdiction: str) -> str:
    if not jurisdiction.startswith("US-"):
        return NUMBERS.get(jurisdiction) or phone_of(jurisdiction)
    state = jurisdiction[3:]
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
        "any_call",
    }
    purpose = rule.applies_to[0]
    if purpose in purposes:
        purpose = "telemarketing_sales"
    return Practice(
        purpose="informational" if purpose == "informational_prerecorded" else purpose,
        dialing=dialing.get(rule.dialing, rule.dialing),
        line_types=dict.fromkeys(siblings(rule, 10), rule.line_types[0]),
    )


def together(
    rules: Iterable[Any], alike: Callable[[Any], object] = lambda _: None
) -> Iterator[tuple[list[Any], Practice]]:
    """Rules that one audit can hold, with their firm: no rule reaches the number of another.

    Args:
        rules: The rules.
        alike: What else has to be the same for rules of one audit.
    """
    groups: list[tuple[object, list[Any]]] = []
    for rule in rules:
        firm = practice(rule)
        key = (firm.purpose, firm.dialing, alike(rule))
        for other, members in groups:
            if other == key and not any(meets(rule, member) for member in members):
                members.append(rule)
                break
        else:
            groups.append((key, [rule]))
    for _, members in groups:
        firms = [practice(rule) for rule in members]
        lines = {phone: line for firm in firms for phone, line in firm.line_types.items()}
        yield members, dataclasses.replace(firms[0], line_types=lines)


def meets(rule: Rule, other: Rule) -> bool:
    """Whether one of two rules reaches the number of the other."""
    return rule.jurisdiction in regions(other) or other.jurisdiction in regions(rule)


@functools.cache
def _regions(phone: str) -> frozenset[str]:
    return frozenset(of_number(phone).regions)


def regions(rule: Rule) -> frozenset[str]:
    """Places where the number of a rule may be."""
    return _regions(number(rule))


def by_rule(frame: pd.DataFrame, column: str = "call_id") -> dict[str, pd.DataFrame]:
    """Rows of each rule, whose calls are named after it: `us-hours/3`."""
    names = frame[column].astype("str").str.split("/").str[0]
    return {str(name): rows for name, rows in frame.groupby(names, sort=False)}


def graded(rows: pd.DataFrame) -> dict[str, str]:
    """Name of each call within its rule, and its grade."""
    names = rows["call_id"].astype("str").str.partition("/")[2]
    return dict(zip(names, rows["grade"].astype("str"), strict=True))


def some_day(rule: Rule) -> date:
    """A Monday on which the rule is in force, the week after it too where that can be."""
    start = rule.effective_from or date(2024, 1, 8)
    if rule.effective_to is not None and rule.effective_from is None:
        start = rule.effective_to - timedelta(days=20)
    return start + timedelta(days=-start.weekday() % 7)


def zone(rule: Rule) -> ZoneInfo:
    """Zone of the rule's number, or the fixed one of the rule."""
    fixed = getattr(rule.parameters, "timezone", None)
    return ZoneInfo(fixed or _zone_name(number(rule)))


@functools.cache
def _zone_name(phone: str) -> str:
    return of_number(phone).names[0]


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


def plain_hours() -> list[HoursRule]:
    """Rules on hours of one zone."""
    return [rule for rule in BOOK.of_kind(HoursRule) if rule.id not in TWO_ZONES]


def within(rule: HoursRule) -> list[tuple[datetime, str]]:
    """The edges of a rule on days on which it holds."""
    return [(moment, grade) for moment, grade in edges(rule) if rule.holds_on(moment.date())]


@functools.cache
def windows() -> dict[str, pd.DataFrame]:
    """The calls at the edges of every rule's windows, graded."""
    found: dict[str, pd.DataFrame] = {}
    for rules, firm in together(plain_hours()):
        rows = [
            hand.call(number(rule), moment, id=f"{rule.id}/{n}")
            for rule in rules
            for n, (moment, _) in enumerate(within(rule))
        ]
        found |= by_rule(hours.audit(hand.calls(*rows), rules=only(rules), practice=firm))
    return found


@pytest.mark.parametrize("rule", [p for p in of_kind(HoursRule) if p.id not in TWO_ZONES])
def test_each_window_of_each_rule_on_hours(rule: HoursRule) -> None:
    """The first and the last microsecond of every window of the week are inside, their neighbors outside."""
    wanted = [grade for _, grade in within(rule)]
    assert set(wanted) == {"pass", "violation"}
    found = windows()[rule.id]
    assert found["grade"].tolist() == wanted
    assert set(found["rule_id"]) == {rule.id}


def dated() -> list[HoursRule]:
    """Rules on hours that begin or end."""
    return [rule for rule in BOOK.of_kind(HoursRule) if rule.effective_from or rule.effective_to]


def turning_days(rule: HoursRule) -> tuple[list[date], list[date]]:
    """The first and last day of a rule, and the days beside them."""
    inside, outside = [], []
    if rule.effective_from is not None:
        inside.append(rule.effective_from)
        outside.append(rule.effective_from - DAY)
    if rule.effective_to is not None:
        inside.append(rule.effective_to)
        outside.append(rule.effective_to + DAY)
    return inside, outside


@functools.cache
def nights() -> dict[str, pd.DataFrame]:
    """Calls at three in the morning of the days on which rules turn, graded."""
    found: dict[str, pd.DataFrame] = {}
    for rules, firm in together(dated()):
        rows = [
            hand.call(number(rule), at(rule, day, time(3)), id=f"{rule.id}/{n}")
            for rule in rules
            for n, day in enumerate(itertools.chain(*turning_days(rule)))
        ]
        found |= by_rule(hours.audit(hand.calls(*rows), rules=only(rules), practice=firm))
    return found


@pytest.mark.parametrize("rule", [pytest.param(rule, id=rule.id) for rule in dated()])
def test_a_rule_on_hours_holds_on_its_days_alone(rule: HoursRule) -> None:
    """On the day before its first and after its last nothing is asked."""
    inside, outside = turning_days(rule)
    wanted = ["violation"] * len(inside) + ["not evaluable"] * len(outside)
    assert nights()[rule.id]["grade"].tolist() == wanted


def declared_for(rule: HolidayRule) -> Declared:
    """A storm in the year in which a rule is asked."""
    year = (rule.effective_to or date(2026, 12, 31)).year - (1 if rule.effective_to else 0)
    return Declared({rule.id: {date(year, 9, 2): "storm"}})


@functools.cache
def around_holidays(rule_id: str) -> tuple[frozenset[date], list[date]]:
    """Closed days of a year, and these days with their neighbors."""
    rule: Any = BOOK.rule(rule_id)
    declared = declared_for(rule)
    year = next(iter(declared.days[rule.id])).year
    closed = frozenset(closed_days(rule, date(year, 1, 1), date(year, 12, 31), declared))
    days = [date(year, 1, 2) + timedelta(days=n) for n in range(363)]
    return closed, [d for d in days if any(abs((d - c).days) <= 1 for c in closed)]


@functools.cache
def noons() -> dict[str, pd.DataFrame]:
    """Noon of the closed days of each rule and of their neighbors, graded."""
    found: dict[str, pd.DataFrame] = {}
    for rules, firm in together(BOOK.of_kind(HolidayRule)):
        rows = [
            hand.call(number(rule), at(rule, day, time(12)), id=f"{rule.id}/{n}")
            for rule in rules
            for n, day in enumerate(around_holidays(rule.id)[1])
        ]
        declared = Declared({rule.id: declared_for(rule).days[rule.id] for rule in rules})
        audit = _audit(rules, rows, firm, now=hand.utc("2026-12-31"), declared=declared)
        holidays, emergencies = by_rule(audit.hours), by_rule(audit.parts["emergencies"])
        for rule in rules:
            is_ban = rule.parameters.type == "emergency_ban"
            found[rule.id] = (emergencies if is_ban else holidays)[rule.id]
    return found


@pytest.mark.parametrize("rule", of_kind(HolidayRule))
def test_each_holiday_is_closed_and_its_neighbors_are_not(rule: HolidayRule) -> None:
    """Noon of every day of a year, by the calendar with what the law adds and drops."""
    closed, near = around_holidays(rule.id)
    part_of_state = "uncertain" if rule.parameters.area else "violation"
    regional = {
        day
        for part in in_parts(rule)[1:]
        for day in closed_days(part, near[0], near[-1], declared_for(rule))
    }
    wanted = [
        part_of_state if day in closed else "uncertain" if day in regional else "pass"
        for day in near
    ]
    assert closed
    assert noons()[rule.id]["grade"].tolist() == wanted


def counting() -> list[CapRule]:
    """Caps that count attempts, whatever came before."""
    return [rule for rule in BOOK.of_kind(CapRule) if rule.parameters.trigger is None]


def bursts(rule: CapRule) -> list[dict[str, Any]]:
    """Attempts up to the cap and beyond, as many a window apart, and some that reached no network."""
    p = rule.parameters
    start = at(rule, some_day(rule) + timedelta(days=40), time(10))
    times = [start + timedelta(minutes=n) for n in range(p.max_attempts + 1)]
    length = (
        timedelta(hours=p.window_hours) if p.window_hours else timedelta(days=p.window_days or 1)
    )
    last = length - TICK if p.window_type == "rolling" else length - DAY + timedelta(hours=1)
    times.append(start + last)
    later = [moment + length for moment in times[: p.max_attempts]]
    full, apart, lost = siblings(rule, 3)
    rows = [hand.call(full, moment, id=f"full{n}") for n, moment in enumerate(times)]
    rows += [
        hand.call(apart, moment, id=f"apart{n}")
        for n, moment in enumerate(times[: p.max_attempts] + later)
    ]
    rows += [
        hand.call(lost, moment, id=f"lost{n}", hangup_cause="NETWORK_OUT_OF_ORDER")
        for n, moment in enumerate(times[:-2])
    ]
    rows += [hand.call(lost, moment, id=f"kept{n}") for n, moment in enumerate(times[-2:])]
    return [dict(row, id=f"{rule.id}/{row['id']}") for row in rows]


@functools.cache
def attempts() -> dict[str, pd.DataFrame]:
    """The bursts of each cap, graded."""
    found: dict[str, pd.DataFrame] = {}
    for rules, firm in together(counting()):
        rows = [row for rule in rules for row in bursts(rule)]
        found |= by_rule(_audit(rules, rows, firm).parts["attempts"])
    return found


@pytest.mark.parametrize("rule", [pytest.param(rule, id=rule.id) for rule in counting()])
def test_each_cap_counts_its_window_exactly(rule: CapRule) -> None:
    """The last attempt allowed passes, the next is a violation, and one window after the first it is none."""
    most = rule.parameters.max_attempts
    found = graded(attempts()[rule.id])
    full = [found[f"full{n}"] for n in range(most + 2)]
    assert full == ["pass"] * most + ["violation"] * 2
    assert {found[f"apart{n}"] for n in range(2 * most)} == {"pass"}
    assert found["kept1"] == ("pass" if most > 1 else "violation")


def _audit(
    rules: Iterable[Rule], rows: Iterable[Mapping[str, Any]], firm: Practice, *checks: Any,
    **more: Any,
) -> compliance.Audit:  # fmt: skip
    """The audit of some calls by some rules alone."""
    given = {"now": hand.utc("2100-01-01"), **more}
    return hand.audit(
        hand.leads(), hand.calls(*rows), hand.checks(*checks), rules=[rule.id for rule in rules],
        book=BOOK, practice=firm, **given,
    )  # fmt: skip


def looked_up(rule: FreshnessRule) -> tuple[datetime, list[tuple[datetime, bool]], int]:
    """The moment of calls, a check before each of them, and how many of these say how old one may be."""
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
    return moment, told, len(ages)


@functools.cache
def ages() -> dict[str, tuple[pd.DataFrame, pd.DataFrame]]:
    """Calls after checks of every age: how fresh the checks were, and which numbers were listed."""
    found: dict[str, tuple[pd.DataFrame, pd.DataFrame]] = {}
    for rules, firm in together(BOOK.of_kind(FreshnessRule)):
        rows, checks = [], []
        for rule in rules:
            moment, told, _ = looked_up(rule)
            for n, (phone, (at_, listed)) in enumerate(
                zip(siblings(rule, len(told)), told, strict=True)
            ):
                rows.append(hand.call(phone, moment, id=f"{rule.id}/{n}"))
                checks.append(hand.check(at_, listed=listed, phone=phone))
        now = max(row["created_at"] for row in rows) + DAY
        audit = _audit(rules, rows, firm, *checks, now=now)
        fresh, listed_ = by_rule(audit.coverage.calls), by_rule(audit.listed)
        found |= {rule.id: (fresh[rule.id], listed_[rule.id]) for rule in rules}
    return found


@pytest.mark.parametrize("rule", of_kind(FreshnessRule))
def test_each_age_of_a_check_is_to_the_microsecond(rule: FreshnessRule) -> None:
    """A check as old as the rule allows passes, a microsecond older does not; a listed number is found."""
    *_, count = looked_up(rule)
    soon = rule.parameters.listed_grace_days
    fresh, listed = ages()[rule.id]
    assert fresh["grade"].tolist()[:count] == ["pass", "uncertain"][:count]
    assert listed["grade"].tolist() == ["proven", *(["indeterminate"] if soon else [])]


def request(rule: HonorRule) -> tuple[dict[str, Any], datetime]:
    """A request, and the first instant at which it binds."""
    asked = at(rule, some_day(rule), time(12))
    asked = min(asked, at(rule, rule.effective_to, time(12))) if rule.effective_to else asked
    end = last_day(rule, asked.astimezone(zone(rule)).date())
    late = at(rule, end + DAY, time(0)) if rule.parameters.max_days else asked + TICK
    return hand.call(number(rule), asked, id=f"{rule.id}/asked", disposition="DNC"), late


#: How long after the last instant a check looks, whether it finds the number, and what that shows.
LOOKS = ((timedelta(0), True, "pass"), (TICK, True, "uncertain"), (TICK, False, "violation"))


@functools.cache
def honored() -> dict[str, tuple[pd.DataFrame, dict[str, str]]]:
    """Calls after the requests of every rule, and when the requests were on the list."""
    found: dict[str, tuple[pd.DataFrame, dict[str, str]]] = {}
    for rules, firm in together(BOOK.of_kind(HonorRule)):
        asked = {rule.id: request(rule) for rule in rules}
        now = max(late for _, late in asked.values()) + 30 * DAY
        rows = []
        for rule in rules:
            row, late = asked[rule.id]
            rows.append(row)
            if rule.parameters.max_days:
                rows.append(hand.call(number(rule), late - TICK, id=f"{rule.id}/last"))
            rows.append(hand.call(number(rule), late, id=f"{rule.id}/late"))
        audit = _audit(rules, rows, firm, now=now)
        requests = audit.parts["requests"]
        due = dict(zip(requests["phone"], requests["due_at"], strict=True))
        again, checks = [], []
        for rule in rules:
            for phone, (shift, listed, _) in zip(siblings(rule, len(LOOKS)), LOOKS, strict=True):
                again.append(dict(asked[rule.id][0], id=f"{rule.id}/{phone}", to_number=phone))
                moment = due[number(rule)].to_pydatetime() + shift
                checks.append(hand.check(moment, listed=listed, phone=phone))
        answers = _audit(rules, again, firm, *checks, now=now + 60 * DAY).parts["requests"]
        grades = dict(zip(answers["phone"], answers["grade"].astype("str"), strict=True))
        calls = by_rule(audit.listed)
        for rule in rules:
            own = siblings(rule, 10)
            found[rule.id] = (calls[rule.id], {p: grades[p] for p in own if p in grades})
    return found


@pytest.mark.parametrize("rule", of_kind(HonorRule))
def test_each_request_is_honored_by_its_last_day(rule: HonorRule) -> None:
    """A call on the last day is not proven, one on the day after is; so is the list itself held to it."""
    calls, on_the_list = honored()[rule.id]
    wanted = ["not evaluable", "proven"]
    if rule.parameters.max_days:
        wanted.insert(1, "indeterminate")
    assert calls["grade"].tolist() == wanted
    phones = siblings(rule, len(LOOKS))
    assert on_the_list == {p: grade for p, (*_, grade) in zip(phones, LOOKS, strict=True)}


#: Calls that a person answered.
LIVE = 1000


def at_the_limit(rule: AbandonmentRule) -> int:
    """As many dropped calls as a rule on shares lets pass."""
    share = rule.parameters.max_rate
    return round(share / (1 - share) * LIVE)


@functools.cache
def shares(more: int) -> dict[str, tuple[list[str], list[int]]]:
    """Grades and dropped calls of each rule, with so many dropped calls more than at its limit."""
    found: dict[str, tuple[list[str], list[int]]] = {}
    for rules, firm in together(BOOK.of_kind(AbandonmentRule)):
        rows, told = [], {}
        for rule in rules:
            moment = at(rule, some_day(rule), time(12))
            for n in range(LIVE + at_the_limit(rule) + more):
                rows.append(hand.call(number(rule), moment, id=f"{rule.id}/{n}"))
                told[f"{rule.id}/{n}"] = "live" if n < LIVE else "dropped"
        dialer = dataclasses.replace(firm, dialing="predictive")
        table = _audit(rules, rows, dialer, outcomes=told).parts["abandonment"]
        for rule in rules:
            own = table[table["rule_id"] == rule.id]
            found[rule.id] = own["grade"].tolist(), own["dropped"].tolist()
    return found


@pytest.mark.parametrize("rule", of_kind(AbandonmentRule))
def test_each_share_of_abandoned_calls(rule: AbandonmentRule) -> None:
    """At the limit it is kept where the rule says at most, one dropped call more breaks it."""
    limit = at_the_limit(rule)
    broken = "uncertain" if not rule.parameters.safe_harbour else "violation"
    assert shares(-1)[rule.id] == (["pass"], [limit - 1])
    assert shares(1)[rule.id] == ([broken], [limit + 1])


def consent_cases(rule: ConsentRule) -> list[tuple[dict[str, Any], str]]:
    """Records (a consent, or a look-up), and the grade of the call that follows each of them."""
    moment = consent_moment(rule)
    given = {"kind": "written", "granted_at": moment - DAY, "record": "r1"}
    if rule.parameters.check == "consent_before_call":
        return [
            (given, "pass"),
            ({**given, "granted_at": moment + TICK}, "violation"),
            ({**given, "revoked_at": moment}, "violation"),
            ({**given, "revoked_at": moment + TICK}, "pass"),
            ({**given, "expires_at": moment}, "violation"),
        ]
    if rule.parameters.check == "call_after_revocation":
        old = {**given, "granted_at": moment - 90 * DAY}
        return [
            ({**old, "revoked_at": moment - 30 * DAY}, "violation"),
            ({**old, "revoked_at": moment - DAY}, "uncertain"),
            (old, "pass"),
        ]
    if rule.parameters.check == "reassigned_number":
        days = timedelta(days=rule.parameters.refresh_days or 30)
        asked = {"checked_at": moment - days, "result": "no"}
        return [
            (asked, "pass"),
            (
                {**asked, "checked_at": moment - days - TICK},
                "violation" if rule.parameters.mandatory else "uncertain",
            ),
            ({**asked, "result": "yes"}, "violation"),
        ]
    return []


def consent_moment(rule: ConsentRule) -> datetime:
    """When the calls of a rule on consent are made."""
    if rule.effective_to is not None:
        return at(rule, rule.effective_to, time(12))
    return at(rule, some_day(rule) + timedelta(days=30), time(12))


@functools.cache
def without_records() -> dict[str, pd.DataFrame]:
    """One call for each rule on consent, graded without any record."""
    found: dict[str, pd.DataFrame] = {}
    for rules, firm in together(BOOK.of_kind(ConsentRule)):
        rows = [hand.call(number(rule), consent_moment(rule), id=f"{rule.id}/0") for rule in rules]
        found |= by_rule(_audit(rules, rows, firm).parts["consent"])
    return found


@functools.cache
def with_records() -> dict[str, pd.DataFrame]:
    """A call after each record of each rule on consent, graded."""
    found: dict[str, pd.DataFrame] = {}
    asked = [rule for rule in BOOK.of_kind(ConsentRule) if consent_cases(rule)]
    for rules, firm in together(asked, lambda rule: rule.parameters.check):
        rows, records = [], []
        for rule in rules:
            cases_ = consent_cases(rule)
            for n, (phone, (record, _)) in enumerate(
                zip(siblings(rule, len(cases_)), cases_, strict=True)
            ):
                rows.append(hand.call(phone, consent_moment(rule), id=f"{rule.id}/{n}"))
                records.append({"phone": phone, **record})
        is_look_up = rules[0].parameters.check == "reassigned_number"
        table = pd.DataFrame(records)
        moments = [name for name in table.columns if name.endswith("_at")]
        table = table.astype(dict.fromkeys(moments, "datetime64[us, UTC]"))
        given = {"look_ups" if is_look_up else "consents": table}
        found |= by_rule(_audit(rules, rows, firm, **given).parts["consent"])
    return found


@pytest.mark.parametrize("rule", of_kind(ConsentRule))
def test_each_rule_on_consent_asks_for_its_record(rule: ConsentRule) -> None:
    """Without the table nothing is evaluable; with it a record lets the call pass and its absence does not."""
    assert without_records()[rule.id]["grade"].tolist() == ["not evaluable"]
    wanted = [grade for _, grade in consent_cases(rule)]
    if wanted:
        assert with_records()[rule.id]["grade"].tolist() == wanted


def asked_on(rule: RetentionRule) -> datetime:
    """The day of an audit on which a rule on records is in force."""
    return hand.utc("2024-03-01") if rule.effective_to else hand.utc("2026-11-21")


@functools.cache
def kept(shift: timedelta) -> dict[str, list[str]]:
    """Grades of each rule on records, where the oldest call is that much younger than it has to be."""
    found: dict[str, list[str]] = {}
    every = BOOK.of_kind(RetentionRule)
    # The oldest call of the audit speaks for all of its rules, so they reach back equally far.
    for rules, firm in together(every, lambda rule: (asked_on(rule), rule.parameters.years)):
        now, years = asked_on(rules[0]), rules[0].parameters.years
        oldest = (pd.Timestamp(now) - pd.DateOffset(years=years)).to_pydatetime() + shift
        rows = [hand.call(number(rule), oldest, id=f"{rule.id}/0") for rule in rules]
        table = _audit(rules, rows, firm, now=now).parts["retention"]
        for rule in rules:
            found[rule.id] = table.loc[table["rule_id"] == rule.id, "grade"].tolist()
    return found


@pytest.mark.parametrize("rule", of_kind(RetentionRule))
def test_each_rule_on_keeping_records_reaches_back_its_years(rule: RetentionRule) -> None:
    """A call as old as records are kept shows it, one a microsecond younger does not."""
    assert kept(timedelta(0))[rule.id] == ["pass"]
    assert kept(TICK)[rule.id] == ["not evaluable"]


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


def following() -> list[CapRule]:
    """Caps that follow an event."""
    return [rule for rule in BOOK.of_kind(CapRule) if rule.parameters.trigger is not None]


def outcome_of(rule: CapRule) -> str:
    """The outcome of a call that starts a cap."""
    return {"abandoned": "dropped"}.get(str(rule.parameters.trigger), str(rule.parameters.trigger))


def aftermath(rule: CapRule) -> list[dict[str, Any]]:
    """Two events, a call before the hours after one are over, and a call after the other's."""
    first = at(rule, some_day(rule), time(12))
    ended = first + timedelta(seconds=40)
    over = ended + timedelta(hours=rule.parameters.window_hours or 0)
    rows = []
    for phone, (name, moment) in zip(
        siblings(rule, 2), (("soon", over - TICK), ("over", over)), strict=True
    ):
        event = f"{rule.id}/event-{name}"
        rows.append(hand.call(phone, first, id=event, answered_at=first, ended_at=ended))
        rows.append(hand.call(phone, moment, id=f"{rule.id}/{name}"))
    return rows


@functools.cache
def after(known: str) -> dict[str, pd.DataFrame]:
    """Calls after an event of each cap, where its outcome is `told`, another was told, or `unknown`."""
    found: dict[str, pd.DataFrame] = {}
    for rules, firm in together(following(), outcome_of):
        rows = [row for rule in rules for row in aftermath(rule)]
        event, other = outcome_of(rules[0]), "live"
        if known == "another":
            event, other = other, event
        told = {row["id"]: event for row in rows if "/event-" in row["id"]} | {"other": other}
        outcomes = None if known == "unknown" else told
        found |= by_rule(_audit(rules, rows, firm, outcomes=outcomes).parts["attempts"])
    return found


@pytest.mark.parametrize("rule", [pytest.param(rule, id=rule.id) for rule in following()])
def test_each_cap_that_follows_an_event_holds_for_its_hours(rule: CapRule) -> None:
    """A call the last microsecond before the hours are over breaks it, one after them does not."""
    missing = {
        "dropped": "an outcome that says that a call was dropped",
        "machine": "an outcome that says that a machine answered",
    }[outcome_of(rule)]
    events = {"event-soon": "pass", "event-over": "pass"}
    wanted = {"told": "violation", "another": "pass", "unknown": "not evaluable"}
    for known, grade in wanted.items():
        assert graded(after(known)[rule.id]) == events | {"soon": grade, "over": "pass"}
    unknown = after("unknown")[rule.id].set_index("call_id")
    assert unknown.loc[f"{rule.id}/soon", "missing"] == missing


def test_no_rule_is_left_out() -> None:
    """Each rule is of a kind that is tested above, or of one whose examples are tested with the book."""
    kinds = (
        HoursRule, HolidayRule, CapRule, FreshnessRule, HonorRule, AbandonmentRule, ConsentRule,
        RetentionRule,
    )  # fmt: skip
    newer = {"recording_consent", "caller_id", "artificial_voice", "sector_ban"}
    assert sorted(str(p.id) for kind in kinds for p in of_kind(kind)) == sorted(
        rule.id for rule in BOOK.rules if rule.kind not in newer
    )
