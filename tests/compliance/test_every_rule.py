"""Every rule of the book, by a call just inside and one just outside each of its limits, made from its own data."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime, time, timedelta
from functools import partial
from typing import Any

import pandas as pd
import pytest

from compliance import hand
from compliance.scenes import (
    BOOK,
    DAY,
    TICK,
    Frames,
    Scene,
    at,
    judged,
    number,
    practice,
    siblings,
    some_day,
    zone,
)  # fmt: skip
from dialframe.compliance import hours
from dialframe.compliance.practice import Practice
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
)
from dialframe.phones.zones import of_number


def of_kind(kind: type[Any]) -> list[Any]:
    """Rules of a kind with their ids for pytest; a voluntary code is asked by naming it."""
    return [pytest.param(rule, id=rule.id) for rule in BOOK.of_kind(kind)]


def graded(rows: pd.DataFrame) -> dict[str, str]:
    """Name of each call within its rule, and its grade."""
    return dict(zip(rows["call_id"], rows["grade"].astype("str"), strict=True))


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


def week(rule: HoursRule) -> Scene:
    """The calls at the edges of a rule's windows."""
    rows = [hand.call(number(rule), moment, id=n) for n, (moment, _) in enumerate(within(rule))]
    return Scene(rule=rule, parts=("hours",), rows=rows, firm=practice(rule))


@pytest.mark.parametrize("rule", [p for p in of_kind(HoursRule) if p.id not in TWO_ZONES])
def test_each_window_of_each_rule_on_hours(rule: HoursRule) -> None:
    """The first and the last microsecond of every window of the week are inside, their neighbors outside."""
    wanted = [grade for _, grade in within(rule)]
    assert set(wanted) == {"pass", "violation"}
    found = judgments()["week", rule.id]["hours"]
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


def night(rule: HoursRule) -> Scene:
    """Calls at three in the morning of the days on which a rule turns."""
    days = itertools.chain(*turning_days(rule))
    rows = [hand.call(number(rule), at(rule, day, time(3)), id=n) for n, day in enumerate(days)]
    return Scene(rule=rule, parts=("hours",), rows=rows, firm=practice(rule))


@pytest.mark.parametrize("rule", [pytest.param(rule, id=rule.id) for rule in dated()])
def test_a_rule_on_hours_holds_on_its_days_alone(rule: HoursRule) -> None:
    """On the day before its first and after its last nothing is asked."""
    inside, outside = turning_days(rule)
    wanted = ["violation"] * len(inside) + ["not evaluable"] * len(outside)
    assert judgments()["night", rule.id]["hours"]["grade"].tolist() == wanted


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
    whole = closed_days(rule, date(year, 1, 1), date(year, 12, 31), declared)
    closed = frozenset(each.day for each in whole)
    days = [date(year, 1, 2) + timedelta(days=n) for n in range(363)]
    return closed, [d for d in days if any(abs((d - c).days) <= 1 for c in closed)]


def noon(rule: HolidayRule) -> Scene:
    """Noon of the closed days of a rule and of their neighbors."""
    days = around_holidays(rule.id)[1]
    return Scene(
        rule=rule, parts=("emergencies" if rule.parameters.type == "emergency_ban" else "hours",),
        rows=[hand.call(number(rule), at(rule, day, time(12)), id=n) for n, day in enumerate(days)],
        firm=practice(rule), declared=declared_for(rule).days[rule.id],
    )  # fmt: skip


@pytest.mark.parametrize("rule", of_kind(HolidayRule))
def test_each_holiday_is_closed_and_its_neighbors_are_not(rule: HolidayRule) -> None:
    """Noon of every day of a year, by the calendar with what the law adds and drops."""
    closed, near = around_holidays(rule.id)
    # A calendar that nobody read accuses nobody.
    capped = rule.parameters.area or rule.ceiling_reason
    part_of_state = "uncertain" if capped else "violation"
    where = of_number(number(rule)).parts
    regional = {
        each.day
        for part in in_parts(rule)[1:]
        for each in closed_days(part, near[0], near[-1], declared_for(rule))
        if each.part is None or not where or each.part in where
    }
    wanted = [
        part_of_state if day in closed else "uncertain" if day in regional else "pass"
        for day in near
    ]
    assert closed
    (found,) = judgments()["noon", rule.id].values()
    assert found["grade"].tolist() == wanted


def counting() -> list[CapRule]:
    """Caps that count attempts, whatever came before."""
    return [rule for rule in BOOK.of_kind(CapRule) if rule.parameters.trigger is None]


def bursts(rule: CapRule) -> Scene:
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
    return Scene(rule=rule, parts=("attempts",), rows=rows, firm=practice(rule))


@pytest.mark.parametrize("rule", [pytest.param(rule, id=rule.id) for rule in counting()])
def test_each_cap_counts_its_window_exactly(rule: CapRule) -> None:
    """The last attempt allowed passes, the next is a violation, and one window after the first it is none."""
    most = rule.parameters.max_attempts
    found = graded(judgments()["bursts", rule.id]["attempts"])
    full = [found[f"full{n}"] for n in range(most + 2)]
    assert full == ["pass"] * most + ["violation"] * 2
    assert {found[f"apart{n}"] for n in range(2 * most)} == {"pass"}
    assert found["kept1"] == ("pass" if most > 1 else "violation")


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


def checked(rule: FreshnessRule) -> Scene:
    """Calls after checks of every age."""
    moment, told, _ = looked_up(rule)
    phones = siblings(rule, len(told))
    return Scene(
        rule=rule, parts=("checked", "listed"), firm=practice(rule),
        rows=[hand.call(phone, moment) for phone in phones],
        checks=[hand.check(at_, listed=listed, phone=phone)
                for phone, (at_, listed) in zip(phones, told, strict=True)],
    )  # fmt: skip


@pytest.mark.parametrize("rule", of_kind(FreshnessRule))
def test_each_age_of_a_check_is_to_the_microsecond(rule: FreshnessRule) -> None:
    """A check as old as the rule allows passes, a microsecond older does not; a listed number is found."""
    *_, count = looked_up(rule)
    soon = rule.parameters.listed_grace_days
    fresh, listed = judgments()["checked", rule.id].values()
    assert fresh["grade"].tolist()[:count] == ["pass", "uncertain"][:count]
    assert listed["grade"].tolist() == ["proven", *(["indeterminate"] if soon else [])]


def request(rule: HonorRule) -> tuple[dict[str, Any], datetime]:
    """A request, and the first instant at which it binds."""
    asked = at(rule, some_day(rule), time(12))
    asked = min(asked, at(rule, rule.effective_to, time(12))) if rule.effective_to else asked
    end = last_day(rule, asked.astimezone(zone(rule)).date())
    late = at(rule, end + DAY, time(0)) if rule.parameters.max_days else asked + TICK
    return hand.call(number(rule), asked, id="asked", disposition="DNC"), late


def due(rule: HonorRule) -> datetime:
    """The last instant at which the request is honored in time."""
    row, late = request(rule)
    return late - TICK if rule.parameters.max_days else row["created_at"] + DAY


#: How long after the last instant a check looks, whether it finds the number, and what that shows.
LOOKS = ((timedelta(0), True, "pass"), (TICK, True, "uncertain"), (TICK, False, "violation"))


def asking(rule: HonorRule) -> Scene:
    """A request, the last call that is in time, and the first that is late."""
    row, late = request(rule)
    rows = [row]
    if rule.parameters.max_days:
        rows.append(hand.call(number(rule), late - TICK, id="last"))
    rows.append(hand.call(number(rule), late, id="late"))
    return Scene(rule=rule, parts=("listed", "requests"), rows=rows, firm=practice(rule))


def answering(rule: HonorRule) -> Scene:
    """The same request of several numbers, and what a check said when it was due."""
    phones = siblings(rule, len(LOOKS))
    return Scene(
        rule=rule, parts=("requests",), firm=practice(rule),
        rows=[dict(request(rule)[0], id=phone, to_number=phone) for phone in phones],
        checks=[hand.check(due(rule) + shift, listed=listed, phone=phone)
                for phone, (shift, listed, _) in zip(phones, LOOKS, strict=True)],
    )  # fmt: skip


@pytest.mark.parametrize("rule", of_kind(HonorRule))
def test_each_request_is_honored_by_its_last_day(rule: HonorRule) -> None:
    """A call on the last day is not proven, one on the day after is; so is the list itself held to it."""
    calls, requests = judgments()["asking", rule.id].values()
    assert requests["due_at"].tolist() == [due(rule)]
    wanted = ["not evaluable", "proven"]
    if rule.parameters.max_days:
        wanted.insert(1, "indeterminate")
    assert calls["grade"].tolist() == wanted
    answers = judgments()["answering", rule.id]["requests"]
    on_the_list = dict(zip(answers["phone"], answers["grade"], strict=True))
    phones = siblings(rule, len(LOOKS))
    assert on_the_list == {p: grade for p, (*_, grade) in zip(phones, LOOKS, strict=True)}


#: Calls that a person answered or that were dropped.
TAKEN = 100


def at_the_limit(rule: AbandonmentRule) -> int:
    """As many dropped calls as make the share that a rule names."""
    dropped = round(rule.parameters.max_rate * TAKEN)
    assert dropped / TAKEN == rule.parameters.max_rate
    return dropped


def shares(rule: AbandonmentRule) -> Scene:
    """In three periods one dropped call less than at the limit, as many, and one more."""
    # A rule that ended is asked about the months before.
    first = some_day(rule) - (186 * DAY if rule.effective_to else 0 * DAY)
    live = TAKEN - at_the_limit(rule)
    rows, outcomes = [], {}
    for more in (-1, 0, 1):
        moment = at(rule, first + (more + 1) * 62 * DAY, time(12))
        for n in range(TAKEN + more):
            rows.append(hand.call(number(rule), moment, id=f"{more} {n}"))
            outcomes[f"{more} {n}"] = "live" if n < live else "dropped"
    return Scene(
        rule=rule, parts=("abandonment",), rows=rows, outcomes=outcomes,
        firm=dataclasses.replace(practice(rule), dialing="predictive"),
    )  # fmt: skip


@pytest.mark.parametrize("rule", of_kind(AbandonmentRule))
def test_each_share_of_abandoned_calls(rule: AbandonmentRule) -> None:
    """At the limit it is kept where the rule says at most, one dropped call more breaks it."""
    broken = "uncertain" if not rule.parameters.safe_harbour else "violation"
    at_it = "pass" if rule.parameters.comparison == "<=" else broken
    found = judgments()["shares", rule.id]["abandonment"]
    assert found["grade"].tolist() == ["pass", at_it, broken]
    limit = at_the_limit(rule)
    assert found["dropped"].tolist() == [limit - 1, limit, limit + 1]


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


def without_a_record(rule: ConsentRule) -> Scene:
    """One call."""
    rows = [hand.call(number(rule), consent_moment(rule))]
    return Scene(rule=rule, parts=("consent",), rows=rows, firm=practice(rule))


def after_records(rule: ConsentRule) -> Scene:
    """A call after each record."""
    cases = consent_cases(rule)
    phones = siblings(rule, len(cases))
    name = "look_ups" if rule.parameters.check == "reassigned_number" else "consents"
    return Scene(
        rule=rule, parts=("consent",), firm=practice(rule),
        rows=[hand.call(phone, consent_moment(rule)) for phone in phones],
        tables={name: [{"phone": phone, **record} for phone, (record, _) in zip(phones, cases, strict=True)]},
    )  # fmt: skip


@pytest.mark.parametrize("rule", of_kind(ConsentRule))
def test_each_rule_on_consent_asks_for_its_record(rule: ConsentRule) -> None:
    """Without the table nothing is evaluable; with it a record lets the call pass and its absence does not."""
    assert judgments()["no record", rule.id]["consent"]["grade"].tolist() == ["not evaluable"]
    wanted = [grade for _, grade in consent_cases(rule)]
    if wanted:
        assert judgments()["records", rule.id]["consent"]["grade"].tolist() == wanted


def asked_on(rule: RetentionRule) -> datetime:
    """The day of an audit on which a rule on records is in force."""
    return hand.utc("2024-03-01") if rule.effective_to else hand.utc("2026-11-21")


def oldest(rule: RetentionRule, shift: timedelta) -> Scene:
    """A call that is that much younger than it has to be."""
    now, years = asked_on(rule), rule.parameters.years
    made = (pd.Timestamp(now) - pd.DateOffset(years=years)).to_pydatetime() + shift
    # The oldest call of the audit speaks for all of its rules, so they reach back equally far.
    return Scene(
        rule=rule, parts=("retention",), rows=[hand.call(number(rule), made)],
        firm=practice(rule), now=now, alike=(years, shift),
    )  # fmt: skip


@pytest.mark.parametrize("rule", of_kind(RetentionRule))
def test_each_rule_on_keeping_records_reaches_back_its_years(rule: RetentionRule) -> None:
    """A call as old as records are kept shows it, one a microsecond younger does not."""
    assert judgments()["oldest", rule.id]["retention"]["grade"].tolist() == ["pass"]
    assert judgments()["younger", rule.id]["retention"]["grade"].tolist() == ["not evaluable"]


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


def aftermath(rule: CapRule, known: str) -> Scene:
    """Two events, a call before the hours after one are over, and a call after the other's.

    Args:
        rule: The rule.
        known: Whether their outcome is `told`, `another` was told, or `unknown`.
    """
    first = at(rule, some_day(rule), time(12))
    ended = first + timedelta(seconds=40)
    over = ended + timedelta(hours=rule.parameters.window_hours or 0)
    rows = []
    for phone, (name, moment) in zip(
        siblings(rule, 2), (("soon", over - TICK), ("over", over)), strict=True
    ):
        event = f"event-{name}"
        rows.append(hand.call(phone, first, id=event, answered_at=first, ended_at=ended))
        rows.append(hand.call(phone, moment, id=name))
    event, other = outcome_of(rule), "live"
    if known == "another":
        event, other = other, event
    told = {"event-soon": event, "event-over": event, "other": other}
    # Which outcomes are told of any call says which ones would be known.
    return Scene(
        rule=rule, parts=("attempts",), rows=rows, firm=practice(rule), alike=outcome_of(rule),
        outcomes=None if known == "unknown" else told,
    )  # fmt: skip


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
        assert graded(judgments()[known, rule.id]["attempts"]) == events | {
            "soon": grade,
            "over": "pass",
        }
    unknown = judgments()["unknown", rule.id]["attempts"].set_index("call_id")
    assert unknown.loc["soon", "missing"] == missing


@functools.cache
def judgments() -> dict[tuple[str, str], Frames]:
    """What is said of each scene of each rule."""
    consents = BOOK.of_kind(ConsentRule)
    plan: list[tuple[str, Callable[..., Scene], Iterable[Any]]] = [
        ("week", week, plain_hours()),
        ("night", night, dated()),
        ("noon", noon, BOOK.of_kind(HolidayRule)),
        ("bursts", bursts, counting()),
        ("checked", checked, BOOK.of_kind(FreshnessRule)),
        ("asking", asking, BOOK.of_kind(HonorRule)),
        ("answering", answering, BOOK.of_kind(HonorRule)),
        ("no record", without_a_record, consents),
        ("records", after_records, [rule for rule in consents if consent_cases(rule)]),
        ("oldest", partial(oldest, shift=0 * TICK), BOOK.of_kind(RetentionRule)),
        ("younger", partial(oldest, shift=TICK), BOOK.of_kind(RetentionRule)),
        ("shares", shares, BOOK.of_kind(AbandonmentRule)),
        *(
            (known, partial(aftermath, known=known), following())
            for known in ("told", "another", "unknown")
        ),
    ]
    scenes = {(name, rule.id): scene(rule) for name, scene, rules in plan for rule in rules}
    return dict(zip(scenes, judged(scenes.values()), strict=True))


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
