"""Examples written by hand from the citations: hours, ages of checks, attempts, requests, shares, consent, records."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import pandas as pd
import pytest

from compliance import hand
from dialframe import compliance
from dialframe.compliance import hours
from dialframe.compliance.practice import Practice
from dialframe.compliance.rules import rulebook
from dialframe.phones.zones import of_number

EAST, PARIS, LONDON = "America/New_York", "Europe/Paris", "Europe/London"
CENTRAL, HOME = "America/Chicago", "residential"
TEXAS, PENNSYLVANIA, FLORIDA = "+15125550142", "+12155550142", "+14075550142"
CONNECTICUT, CALIFORNIA, MISSISSIPPI = "+12035550142", "+14155550142", "+16015550142"
FRANCE, AUSTRALIA = "+33199001234", "+61255500123"
SPAIN, ITALY = "+34915550123", "+390655550123"
#: The limits of rules are tested here, not how sure their sources are.
BOOK = rulebook.load()
SURE = hand.trusted(BOOK)
SECOND, DAY = timedelta(seconds=1), timedelta(days=1)


def _audit(
    calls: list[dict[str, Any]], *checks: dict[str, Any], **further: Any
) -> compliance.Audit:
    given = {"now": hand.utc("2026-12-31"), **further}
    return hand.audit(hand.leads(), hand.calls(*calls), hand.checks(*checks), **given)


def together(
    cases: Sequence[tuple[Any, ...]],
) -> Iterator[tuple[list[str], list[int]]]:
    """Cases that one audit can hold, as positions, with the places that it asks.

    A case begins with the places that it asks and its number. No place that another case asks, and
    it does not, may reach its number.

    Args:
        cases: The cases.
    """

    def is_reached(case: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
        more = set(other[0].split(",")) - set(case[0].split(","))
        return any(place.upper() in of_number(case[1]).regions for place in more)

    groups: list[list[int]] = []
    for n, case in enumerate(cases):
        for group in groups:
            others = [cases[m] for m in group]
            if not any(is_reached(case, other) or is_reached(other, case) for other in others):
                group.append(n)
                break
        else:
            groups.append([n])
    for group in groups:
        yield sorted({place for n in group for place in cases[n][0].split(",")}), group


def in_one(firms: Mapping[int, Practice], numbers: Sequence[str]) -> Practice:
    """A firm that says of the campaign of each case, and of its number, what the firm of the case says."""
    return Practice(
        purposes={str(n): firm.purpose for n, firm in firms.items()},
        dialings={str(n): firm.dialing for n, firm in firms.items() if firm.dialing is not None},
        line_types={numbers[n]: line for n, firm in firms.items() for line in firm.line_types.values()},
    )  # fmt: skip


def numbers_of(cases: Sequence[tuple[Any, ...]], each: int = 1) -> list[list[str]]:
    """For each case so many numbers like its own that no other case has."""
    taken: dict[str, int] = {}
    found = []
    for case in cases:
        stem = case[1][:-1]
        first = taken.get(stem, 0)
        taken[stem] = first + each
        assert taken[stem] <= 10
        found.append([f"{stem}{digit}" for digit in range(first, first + each)])
    return found


#: Jurisdictions, number, day, days: how old a check may be.
AGES = [
    ("us", hand.NEW_YORK, "2026-07-06", 31),  # 16 CFR 310.4(b)(3)(iv), 47 CFR 64.1200(c)(2)
    ("us-tx", TEXAS, "2026-07-06", 92),  # Tex. Bus. & Com. Code 304: a quarterly list
    ("us,us-tx", TEXAS, "2026-07-06", 31),  # the stricter of the two
    ("us-pa", PENNSYLVANIA, "2026-07-06", 122),  # 73 P.S. 2245.2(a): a quarter and 30 days
    ("ca", hand.TORONTO, "2026-07-06", 31),  # CRTC rules, Part II
    ("gb", hand.LONDON, "2026-07-06", 28),  # PECR reg. 21(3)
    ("fr", FRANCE, "2026-08-10", 30),  # the last day of Bloctel
    ("au", AUSTRALIA, "2026-07-06", 30),  # Do Not Call Register Act 2006 s. 11
]


@functools.cache
def aged() -> dict[int, list[str]]:
    """Grades of a call after a check as old as it may be, after an older one, and after none."""
    found = {}
    numbers = numbers_of(AGES, 3)
    for places, group in together(AGES):
        calls, checks = [], []
        for n in group:
            _, _, day, days = AGES[n]
            moment = hand.utc(f"{day}T12:00")
            calls += [hand.call(phone, moment, id=phone) for phone in numbers[n]]
            for phone, age in zip(numbers[n], (days * DAY, days * DAY + SECOND), strict=False):
                checks.append(hand.check(moment - age, phone=phone))
        fresh = _audit(calls, *checks, rules=places, book=SURE).coverage.calls
        grades = dict(zip(fresh["call_id"], fresh["grade"].astype("str"), strict=True))
        found |= {n: [grades[phone] for phone in numbers[n]] for n in group}
    return found


@pytest.mark.parametrize("case", range(len(AGES)), ids=["-".join(map(str, row)) for row in AGES])
def test_a_check_may_be_so_old(case: int) -> None:
    """A check of that many days passes, one a second older does not, and none is not evaluable."""
    assert aged()[case] == ["pass", "uncertain", "not evaluable"]


#: Place, number, day of a call to a number that is listed.
LISTED = [
    ("us", hand.NEW_YORK, "2026-07-06"),  # 47 CFR 64.1200(c)(2)
    ("fr", FRANCE, "2026-08-10"),  # on Bloctel while it was in force
    ("ca", hand.TORONTO, "2026-07-06"),
    ("au", AUSTRALIA, "2026-07-06"),
]


@functools.cache
def to_the_listed() -> pd.DataFrame:
    """Findings on one call to a listed number of each place."""
    moments = [hand.utc(f"{day}T12:00") for *_, day in LISTED]
    calls = [hand.call(row[1], at) for row, at in zip(LISTED, moments, strict=True)]
    checks = [
        hand.check(at - DAY, listed=True, phone=row[1])
        for row, at in zip(LISTED, moments, strict=True)
    ]
    (places, _), *more = together(LISTED)
    assert not more
    found = _audit(calls, *checks, rules=places, book=SURE).findings
    return found[found["check"] == "listed_number"]


@pytest.mark.parametrize(("place", "phone", "day"), LISTED)
def test_a_call_to_a_listed_number(place: str, phone: str, day: str) -> None:
    """Listed the day before; the rule that is named is the one in force on the day of the call."""
    mine = to_the_listed()[(to_the_listed()["phone"] == phone).to_numpy()]
    assert mine["grade"].tolist() == ["violation"]
    assert mine["at"].item() == hand.utc(f"{day}T12:00")
    named = mine["rule_id"].item().split("; ")
    assert all(name.startswith(f"{place}-") for name in named)


def test_a_relationship_lifts_the_list_for_18_and_3_months() -> None:
    """47 CFR 64.1200(f)(5): 18 months after a purchase, 3 after an inquiry, from their day on."""
    moment = hand.utc("2026-07-06T15:00")
    plan = [("purchase", "2025-01-07T15:00", 0), ("purchase", "2025-01-05T15:00", 1),
            ("inquiry", "2026-04-07T15:00", 0), ("inquiry", "2026-04-05T15:00", 1)]  # fmt: skip
    phones = [f"{hand.NEW_YORK[:-1]}{n}" for n in range(len(plan))]
    records = pd.DataFrame(
        [{"code": "ebr", "phone": phone, "record": "contract 7", "kind": kind, "from_at": hand.utc(made)}
         for phone, (kind, made, _) in zip(phones, plan, strict=True)]
    )  # fmt: skip
    audit = _audit(
        [hand.call(phone, moment) for phone in phones],
        *(hand.check(moment - DAY, listed=True, phone=phone) for phone in phones),
        rules=["us"], exemptions=records,
    )  # fmt: skip
    found = audit.findings
    broken = found[
        ((found["check"] == "listed_number") & (found["grade"] == "violation")).to_numpy()
    ]
    wanted = [phone for phone, (*_, violations) in zip(phones, plan, strict=True) if violations]
    assert broken["phone"].tolist() == wanted
    assert audit.checks.set_index("check").loc["listed_number", "violation"] == len(wanted)


#: Number, zone, when a request was made, and the calls after it with their grades.
REQUESTS: list[tuple[str, str, str, dict[str, str]]] = [
    # 47 CFR 64.1200(d)(3) up to 2025-04-10: 30 days.
    (hand.NEW_YORK, EAST, "2025-03-03 12:00",
     {"2025-04-02 20:00": "indeterminate", "2025-04-03 10:00": "proven"}),
    # From 2025-04-11: 10 business days, around Memorial Day 2025-05-26.
    (f"{hand.NEW_YORK[:-1]}3", EAST, "2025-05-16 12:00",
     {"2025-06-02 20:00": "indeterminate", "2025-06-03 10:00": "proven"}),
    # Asked on the Friday before Thanksgiving, the tenth business day is Monday 2026-12-07.
    (f"{hand.NEW_YORK[:-1]}4", EAST, "2026-11-20 12:00",
     {"2026-12-07 20:59": "indeterminate", "2026-12-08 09:00": "proven"}),
    # CRTC: 14 days.
    (hand.TORONTO, "America/Toronto", "2026-07-06 12:00",
     {"2026-07-20 20:00": "indeterminate", "2026-07-21 10:00": "proven"}),
    # PECR reg. 21(1)(a): no grace, until it is withdrawn.
    (hand.LONDON, LONDON, "2020-07-06 12:00",
     {"2020-07-06 12:01": "proven", "2026-07-06 12:00": "proven"}),
    # Code de la consommation D. 223-9 up to 2026-08-10: not before 60 days have passed.
    (FRANCE, PARIS, "2026-03-02 11:00",
     {"2026-04-30 11:00": "proven", "2026-05-04 11:00": "indeterminate"}),
]  # fmt: skip


def test_a_request_binds_from_the_end_of_its_grace_for_as_long_as_the_rule_says() -> None:
    """On the last day of grace a call is not proven, on the day after it is; the request itself is no call after one."""
    rows = []
    for phone, zone, asked, after in REQUESTS:
        rows.append(hand.call(phone, hand.at(asked, zone), id=f"{phone} asked", disposition="DNC"))
        rows += [hand.call(phone, hand.at(local, zone), id=f"{phone} {local}") for local in after]
    listed = _audit(rows, rules=["us", "ca", "gb", "fr"]).listed
    assert {str(phone): list(of["grade"]) for phone, of in listed.groupby("to_number")} == {
        phone: ["not evaluable", *after.values()] for phone, *_, after in REQUESTS
    }


#: Times of the calls to a number, and what came of them by their place; what is not there nobody says.
Calls = tuple[Sequence[datetime], Mapping[int, str]]


def _attempts(
    rules: list[str], cases: Mapping[str, Calls], firm: Practice, **further: Any
) -> dict[str, list[str]]:
    """The grades of the calls to each number, from one audit."""
    rows, outcomes = [], {}
    for phone, (times, told) in cases.items():
        rows += [
            hand.call(phone, t, id=f"{phone}/{n}", answered_at=t) for n, t in enumerate(times)
        ]
        outcomes |= {f"{phone}/{n}": outcome for n, outcome in told.items()}
    lines = {phone: line for line in firm.line_types.values() for phone in cases}
    firm = dataclasses.replace(firm, line_types=lines)
    further |= {"outcomes": outcomes} if outcomes else {}
    table = _audit(rows, rules=rules, practice=firm, **further).parts["attempts"]
    return {str(phone): list(of["grade"]) for phone, of in table.groupby("to_number")}


def _alike(phone: str, count: int) -> list[str]:
    """So many numbers of one place."""
    return [f"{phone[:-1]}{digit}" for digit in range(count)]


def test_the_fifth_call_in_30_days_to_france() -> None:
    """D. 223-9: at most four in 30 days, answered or not; the window slides by the instant."""
    days = ["2026-03-02", "2026-03-09", "2026-03-16", "2026-03-23", "2026-03-31", "2026-04-08"]
    times = [hand.at(f"{day} 11:00", PARIS) for day in days]
    times.insert(5, hand.at("2026-04-01 11:00", PARIS))
    apart = [*times[:4], times[0] + 30 * DAY + SECOND]
    close, wide = _alike(FRANCE, 2)
    assert _attempts(["fr"], {close: (times, {}), wide: (apart, {})}, Practice()) == {
        close: ["pass", "pass", "pass", "pass", "violation", "violation", "violation"],
        wide: ["pass"] * 5,
    }


def test_collectors_may_call_seven_times_in_seven_days_and_not_after_a_conversation() -> None:
    """12 CFR 1006.14(b)(2)(i): the eighth within 7 days; 7 days after a conversation, its day the first."""
    firm = Practice(purpose="debt_collection")
    eight = [hand.at(f"2026-07-{6 + n // 2:02} {10 + n % 2}:00") for n in range(8)]
    talk = [hand.at("2026-07-06 10:00"), hand.at("2026-07-12 20:00"), hand.at("2026-07-13 08:30")]
    silent, spoke, unsaid, unknown = _alike(hand.NEW_YORK, 4)
    cases: dict[str, Calls] = {
        silent: (eight, dict.fromkeys(range(8), "machine")),
        spoke: (talk, {0: "live", 1: "machine"}),
        # Whether somebody was spoken to on the second call is not known, with or without the first's.
        unsaid: (talk, {0: "live"}),
    }
    assert _attempts(["us"], cases, firm) == {
        silent: [*["pass"] * 7, "violation"],
        spoke: ["pass", "violation", "pass"],
        unsaid: ["pass", "violation", "not evaluable"],
    }
    assert _attempts(["us"], {unknown: (talk, {})}, firm) == {
        unknown: ["pass", *["not evaluable"] * 2]
    }


def test_a_conversation_that_came_in_starts_the_pause_too() -> None:
    """12 CFR 1006.14(b)(2)(i)(B), (ii): calls from the consumer do not count and do start the 7 days."""
    came = hand.at("2026-07-06 10:00")
    rows = [
        hand.call(hand.NEW_YORK, came, id="in", direction="inbound", from_number=hand.NEW_YORK,
                  to_number="+16465550180", answered_at=came),
        hand.call(at=came + 2 * DAY, id="soon"), hand.call(at=came + 7 * DAY, id="later"),
    ]  # fmt: skip
    audit = _audit(rows, rules=["us"], practice=Practice(purpose="debt_collection"))
    assert audit.parts["attempts"]["grade"].tolist() == ["violation", "pass"]


def test_recorded_messages_without_consent_are_three_in_30_days_and_on_health_one_a_day() -> None:
    """47 CFR 64.1200(a)(3)(ii)-(v): three in 30 days; messages on health one a day and three a week."""
    firm = Practice(
        "informational", dialing="prerecorded", line_types={hand.NEW_YORK: "residential"}
    )
    times = [hand.at(f"2026-07-{day:02} 10:00") for day in (1, 10, 20, 30, 31)]
    health = [hand.at(f"2026-07-{day} 10:00") for day in ("06", "07", "08", "09", "13", "20")]
    health.append(hand.at("2026-07-20 16:00"))
    sales, clinic = _alike(hand.NEW_YORK, 2)
    record = pd.DataFrame({"code": ["hipaa"], "phone": [clinic], "record": ["clinic"]})
    asked = ["us-tcpa-exempt-prerecorded-cap"]
    cases: dict[str, Calls] = {sales: (times, {}), clinic: (health, {})}
    assert _attempts(asked, cases, firm, exemptions=record) == {
        sales: ["pass", "pass", "pass", "violation", "violation"],
        clinic: ["pass", "pass", "pass", "violation", "violation", "pass", "violation"],
    }


def test_the_united_kingdom_waited_72_hours_after_a_dropped_call_until_2017() -> None:
    """Ofcom 2008 to 2017-02-28: 72 hours after an abandoned call, 24 after a machine; an operator may be promised."""
    # The reading of these old rules is in doubt: what they ask is tested apart from that.
    book = hand.trusted(rulebook.load())
    firm = Practice(dialing="predictive", line_types={hand.LONDON: "residential"})
    first = hand.at("2016-06-06 10:00", LONDON)
    times = [first, first + timedelta(hours=23), first + timedelta(hours=71)]
    times.append(first + timedelta(hours=72))
    talked = dict.fromkeys(range(1, 4), "live")
    dropped, unsaid, machine, promised, later = _alike(hand.LONDON, 5)
    cases: dict[str, Calls] = {
        dropped: (times, {0: "dropped", **talked}),
        # Nobody says what came of the answered calls between.
        unsaid: (times, {0: "dropped"}),
        machine: (times, {0: "machine", **talked}),
        promised: (times, {0: "dropped"}),
        later: ([t + 3650 * DAY for t in times], {0: "dropped"}),
    }
    record = pd.DataFrame(
        {"code": ["guaranteed_live_operator"], "phone": [promised], "record": ["roster"]}
    )
    found = _attempts(["gb"], cases, firm, exemptions=record, book=book)
    assert found[dropped] == ["pass", "violation", "violation", "pass"]
    assert found[unsaid] == ["pass", "violation", "violation", "not evaluable"]
    assert found[machine] == ["pass", "violation", "pass", "pass"]
    assert "violation" not in found[promised] + found[later]


#: Jurisdiction, number, day, dropped calls and calls that a person answered, grade.
SHARES = [
    # 16 CFR 310.4(b)(4), 47 CFR 64.1200(a)(7): at most 3% of the calls that a person answered.
    ("us", hand.NEW_YORK, "2026-07-06", 3, 97, "pass"),
    ("us", hand.NEW_YORK, "2026-07-06", 4, 96, "violation"),
    # CRTC: 5% in a calendar month.
    ("ca", hand.TORONTO, "2026-07-06", 5, 95, "pass"),
    ("ca", hand.TORONTO, "2026-07-06", 6, 94, "violation"),
    # Ofcom up to 2017-02-28: at most 3% in 24 hours; since then an indicator, below 3%.
    ("gb", hand.LONDON, "2016-07-06", 3, 97, "pass"),
    ("gb", hand.LONDON, "2016-07-06", 4, 96, "violation"),
    ("gb", hand.LONDON, "2026-07-06", 2, 98, "pass"),
    ("gb", hand.LONDON, "2026-07-06", 3, 97, "uncertain"),
]


@functools.cache
def dropped_shares(odd: int) -> pd.DataFrame:
    """The shares of every second case: no two of them of one place and year."""
    rows, told = [], {}
    for n, (_, phone, day, dropped, live, _) in enumerate(SHARES):
        for m in range(dropped + live) if n % 2 == odd else ():
            rows.append(hand.call(phone, hand.utc(f"{day}T15:00"), id=f"{n}-{m}"))
            told[f"{n}-{m}"] = "dropped" if m < dropped else "live"
    firm = Practice(dialing="predictive")
    audit = _audit(rows, rules=["us", "ca", "gb"], practice=firm, outcomes=told, book=SURE)
    return audit.parts["abandonment"]


@pytest.mark.parametrize("case", range(len(SHARES)), ids=["-".join(map(str, r)) for r in SHARES])
def test_shares_of_dropped_calls(case: int) -> None:
    """Every campaign and period, machines on neither side."""
    asked, _, day, dropped, live, grade = SHARES[case]
    table = dropped_shares(case % 2)
    mine = table["rule_id"].str.startswith(f"{asked}-") & (
        table["from_at"] <= hand.utc(f"{day}T15:00")
    )
    mine &= table["until_at"] > hand.utc(f"{day}T15:00")
    shares = table[mine.to_numpy()]
    assert set(shares["grade"]) == {grade}
    assert set(zip(shares["dropped"], shares["live"], strict=True)) == {(dropped, live)}


#: Jurisdiction, number, firm, day, kind of consent on record 100 days before, rule, grade.
CONSENTS: list[tuple[str, str, Practice, str, str | None, str, str]] = [
    # 47 CFR 64.1200(a)(2): written consent for recorded sales calls to mobiles; express for others.
    ("us", hand.NEW_YORK, Practice(dialing="prerecorded", line_types={hand.NEW_YORK: "wireless"}),
     "2026-07-06", "express", "us-tcpa-wireless-consent", "violation"),
    ("us", hand.NEW_YORK, Practice(dialing="prerecorded", line_types={hand.NEW_YORK: "wireless"}),
     "2026-07-06", "written", "us-tcpa-wireless-consent", "pass"),
    ("us", hand.NEW_YORK,
     Practice("informational", dialing="prerecorded", line_types={hand.NEW_YORK: "wireless"}),
     "2026-07-06", "express", "us-tcpa-wireless-consent", "pass"),
    # Facebook v. Duguid, 592 U.S. 395: a dialer that works through a list is no autodialer, so nobody is accused.
    *(("us", hand.NEW_YORK, Practice(purpose, dialing="predictive", line_types={hand.NEW_YORK: "wireless"}),
       "2026-07-06", kind, rule, grade)
      for purpose, kind, rule, grade in (
          ("telemarketing_sales", "express", "us-tcpa-wireless-autodialer", "uncertain"),
          ("telemarketing_sales", "written", "us-tcpa-wireless-autodialer", "pass"),
          ("informational", None, "us-tcpa-wireless-autodialer", "uncertain"),
          ("telemarketing_sales", None, "us-tcpa-wireless-consent", ""))),
    # 47 CFR 64.1200(a)(3): written consent for recorded sales calls to homes.
    ("us", hand.NEW_YORK, Practice(dialing="prerecorded", line_types={hand.NEW_YORK: "residential"}),
     "2026-07-06", "express", "us-tcpa-residential-prerecorded", "violation"),
    # Fla. Stat. 501.059(8)(a): written, for recorded messages; whether a list dialer "selects" is contested since 2023.
    ("us-fl", FLORIDA, Practice(dialing="prerecorded"), "2026-07-06", "express", "us-fl-consent", "violation"),
    ("us-fl", FLORIDA, Practice(dialing="prerecorded"), "2026-07-06", "written", "us-fl-consent", "pass"),
    ("us-fl", FLORIDA, Practice(dialing="autodialer"), "2026-07-06", "express", "us-fl-consent-autodialed", "uncertain"),
    # Before HB 761 of 2023 by the words of 2021.
    ("us-fl", FLORIDA, Practice(dialing="autodialer"), "2023-05-24", "express", "us-fl-consent-2021", "violation"),
    ("us-fl", FLORIDA, Practice(dialing="autodialer"), "2023-05-24", "express", "us-fl-consent", ""),
    ("us-fl", FLORIDA, Practice(dialing="prerecorded"), "2023-05-25", "express", "us-fl-consent", "violation"),
    ("us-fl", FLORIDA, Practice(dialing="autodialer"), "2023-05-25", "express", "us-fl-consent-autodialed", "uncertain"),
    # PECR reg. 21A since 2018-09-08 and 21B since 2019-01-09, for a firm that declares the branch, whoever dials.
    ("gb", hand.LONDON, Practice("claims_management_sales", dialing="manual"), "2018-09-07", None, "gb-claims-management", ""),
    ("gb", hand.LONDON, Practice("claims_management_sales", dialing="manual"), "2018-09-08", None, "gb-claims-management", "violation"),
    ("gb", hand.LONDON, Practice("claims_management_sales", dialing="manual"), "2018-09-08", "written", "gb-claims-management", "pass"),
    ("gb", hand.LONDON, Practice("pension_sales", dialing="manual"), "2019-01-08", None, "gb-pensions", ""),
    ("gb", hand.LONDON, Practice("pension_sales", dialing="manual"), "2019-01-09", None, "gb-pensions", "violation"),
    ("gb", hand.LONDON, Practice("pension_sales", dialing="manual"), "2019-01-09", "written", "gb-pensions", "pass"),
    ("gb", hand.LONDON, Practice("pension_sales", dialing="manual"), "2026-07-06", None, "gb-claims-management", ""),
    ("gb", hand.LONDON, Practice(dialing="manual"), "2026-07-06", None, "gb-pensions", ""),
    # Electricity in Spain since 2026-02-12; electricity and gas in Italy since 2026-06-19.
    ("es", SPAIN, Practice("energy_supply_sales"), "2026-02-11", None, "es-electricity-consent", ""),
    ("es", SPAIN, Practice("energy_supply_sales"), "2026-02-12", None, "es-electricity-consent", "violation"),
    ("it", ITALY, Practice("energy_supply_sales"), "2026-06-18", None, "it-energy-consent", ""),
    ("it", ITALY, Practice("energy_supply_sales"), "2026-06-19", None, "it-energy-consent", "violation"),
    ("it", ITALY, Practice(), "2026-06-19", None, "it-energy-consent", ""),
    # Conn. Gen. Stat. 42-288a: written, for calls by a person too, since 2023-10-01.
    ("us-ct", CONNECTICUT, Practice(dialing="manual"), "2026-07-06", "express", "us-ct-consent", "violation"),
    ("us-ct", CONNECTICUT, Practice(dialing="manual"), "2023-09-30", None, "us-ct-consent", ""),
    # CRTC Part IV: express consent for announcing devices.
    ("ca", hand.TORONTO, Practice(dialing="prerecorded"), "2026-07-06", "any", "ca-adad-consent", "violation"),
    ("ca", hand.TORONTO, Practice(dialing="prerecorded"), "2026-07-06", "express", "ca-adad-consent", "pass"),
    # PECR reg. 19: automated calls only with consent.
    ("gb", hand.LONDON, Practice(dialing="prerecorded"), "2026-07-06", None, "gb-automated-consent", "violation"),
    # L. 223-1 since 2026-08-11.
    ("fr", FRANCE, Practice(), "2026-08-10", None, "fr-consent-2026", ""),
    ("fr", FRANCE, Practice(), "2026-08-11", "express", "fr-consent-2026", "pass"),
]  # fmt: skip


@functools.cache
def consented() -> dict[int, pd.DataFrame]:
    """The call of each case against the rules on consent."""
    found = {}
    numbers = [phone for (phone,) in numbers_of(CONSENTS)]
    for places, group in together(CONSENTS):
        # The record of somebody who is not called: that there are records does not say of whom.
        records = [{"phone": "+33610000000", "kind": "any", "granted_at": hand.utc("2020-01-01")}]
        calls = []
        for n in group:
            *_, day, kind, _, _ = CONSENTS[n]
            moment = hand.utc(f"{day}T12:00")
            calls.append(hand.call(numbers[n], moment, campaign_id=str(n)))
            if kind:
                since = moment - 100 * DAY
                records.append({"phone": numbers[n], "kind": kind, "granted_at": since})
        firm = in_one({n: CONSENTS[n][2] for n in group}, numbers)
        given = pd.DataFrame(records)
        table = _audit(calls, rules=places, practice=firm, consents=given).parts["consent"]
        for n in group:
            found[n] = table[(table["to_number"] == numbers[n]).to_numpy()]
    return found


@pytest.mark.parametrize(
    "case", range(len(CONSENTS)),
    ids=[f"{row[5]}-{row[3]}-{row[4]}-{row[2].purpose}" for row in CONSENTS],
)  # fmt: skip
def test_consent_of_the_kind_that_is_asked_for(case: int) -> None:
    """The rule asks for its kind of consent on its days; an empty grade: it asks for nothing."""
    rule, grade = CONSENTS[case][5:]
    table = consented()[case]
    mine = table.loc[(table["rule_id"] == rule).to_numpy(), "grade"].tolist()
    assert mine == ([grade] if grade else [])


def test_a_customer_of_florida_had_to_consent_until_2023() -> None:
    """HB 761 added "unsolicited", from which an established relationship is left out, on 2023-05-25."""
    rows = [hand.call(FLORIDA, hand.utc(f"2023-05-{day}T16:00"), id=f"{day}") for day in (24, 25)]
    records = pd.DataFrame({"code": ["ebr"], "phone": [FLORIDA], "record": ["order 17"]})
    consents = pd.DataFrame(
        {"phone": [CONNECTICUT], "kind": ["any"], "granted_at": [hand.utc("2020-01-01")], "record": ["r1"]}
    )  # fmt: skip
    found = _audit(
        rows, rules=["us-fl"], practice=Practice(dialing="autodialer"), consents=consents,
        exemptions=records,
    ).parts["consent"]  # fmt: skip
    grades = dict(zip(found["call_id"], found["grade"].astype("str"), strict=True))
    assert grades == {"24": "violation"}


def test_revoked_consent_ends_within_ten_business_days() -> None:
    """47 CFR 64.1200(a)(10): revoked on Friday 2026-06-26, the tenth business day is Monday 2026-07-13."""
    firm = Practice(dialing="autodialer", line_types={hand.NEW_YORK: "wireless"})
    rows = [
        hand.call(at=hand.at("2026-07-13 20:30"), id="last"),
        hand.call(at=hand.at("2026-07-14 08:30"), id="late"),
    ]
    consents = pd.DataFrame(
        {"phone": [hand.NEW_YORK], "kind": ["written"], "granted_at": [hand.at("2026-01-05 12:00")],
         "revoked_at": [hand.at("2026-06-26 12:00")], "record": ["r1"]}
    )  # fmt: skip
    found = _audit(rows, rules=["us"], practice=firm, consents=consents).parts["consent"]
    grades = found[(found["rule_id"] == "us-tcpa-revocation").to_numpy()]["grade"].tolist()
    assert grades == ["uncertain", "violation"]


def test_reassigned_numbers_are_looked_up_within_30_days() -> None:
    """47 CFR 64.1200(m): a safe harbour, so without a look-up it is uncertain; "yes" is a violation."""
    moment = hand.at("2026-07-06 12:00")
    plan = ((30, "no", "pass"), (31, "no", "uncertain"), (1, "yes", "violation"))
    phones = [f"{hand.NEW_YORK[:-1]}{n}" for n in range(len(plan))]
    firm = Practice(dialing="autodialer", line_types=dict.fromkeys(phones, "wireless"))
    asked = pd.DataFrame(
        [{"phone": phone, "checked_at": moment - age * DAY, "result": said}
         for phone, (age, said, _) in zip(phones, plan, strict=True)]
    )  # fmt: skip
    rows = [hand.call(phone, moment) for phone in phones]
    table = _audit(rows, rules=["us"], practice=firm, look_ups=asked).parts["consent"]
    mine = table[(table["rule_id"] == "us-tcpa-reassigned").to_numpy()]
    found = dict(zip(mine["to_number"], mine["grade"].astype("str"), strict=True))
    assert found == {phone: grade for phone, (*_, grade) in zip(phones, plan, strict=True)}
    assert len(mine) == len(plan)


def test_a_defense_without_a_record_holds_no_call_back() -> None:
    """47 CFR 64.1200(m) and (a)(1)(iv) are defenses: without look-ups the consent decides, and nothing else does."""
    consents = pd.DataFrame(
        {"phone": [hand.NEW_YORK], "kind": ["written"], "granted_at": [hand.at("2026-01-05 12:00")], "record": ["r1"]}
    )  # fmt: skip
    firm = Practice(
        dialing="prerecorded", line_types=dict.fromkeys((hand.NEW_YORK, hand.CHICAGO), "wireless")
    )
    rows = [
        hand.call(phone, hand.at("2026-07-06 12:00")) for phone in (hand.NEW_YORK, hand.CHICAGO)
    ]
    for given, grades in ((consents, ["pass", "violation"]), (None, ["not evaluable"] * 2)):
        audit = _audit(rows, rules=["us"], practice=firm, consents=given)
        counts = audit.checks.set_index("check").loc["consent"]
        assert counts["checked"] == 2
        assert [int(counts[grade.replace(" ", "_")]) for grade in set(grades)] == [
            grades.count(grade) for grade in set(grades)
        ]


@pytest.mark.parametrize(
    ("asked", "years"), [("us-tsr-retention", 5), ("us-regf-retention", 3), ("ca-retention", 3)]
)
def test_records_are_kept_so_many_years(asked: str, years: int) -> None:
    """16 CFR 310.5(a), 12 CFR 1006.100, CRTC Part VI: a call of that age is still there."""
    now = hand.utc("2026-11-21T12:00")
    firm = Practice(purpose="debt_collection" if "regf" in asked else "telemarketing_sales")
    for shift, grade in ((0 * DAY, "pass"), (DAY, "uncertain")):
        oldest = (pd.Timestamp(now) - pd.DateOffset(years=years)).to_pydatetime() + shift
        audit = _audit(
            [hand.call(at=oldest)], rules=[asked], now=now, practice=firm,
            began_at=hand.utc("2015-01-01"), book=SURE,
        )  # fmt: skip
        assert audit.parts["retention"]["grade"].tolist() == [grade]


#: Jurisdictions, number, zone, firm, local time, grade: days and devices that the table of hours leaves out.
DAYS: list[tuple[str, str, str, Practice, str, str]] = [
    # The federal rules and the Canadian ones know no holidays.
    ("us", hand.NEW_YORK, EAST, Practice(), "2026-12-25 12:00", "pass"),
    ("ca", hand.TORONTO, "America/Toronto", Practice(), "2026-12-25 12:00", "pass"),
    ("us,us-fl", FLORIDA, EAST, Practice(), "2026-12-25 12:00", "pass"),
    # 73 P.S. 2245(a)(10) since 2019-12-03: the day after Thanksgiving is a holiday of the state.
    # 44 P.S. 11 has Flag Day, Good Friday and Election Day, and no Day after Thanksgiving.
    ("us,us-pa", PENNSYLVANIA, EAST, Practice(), "2026-11-27 12:00", "pass"),
    ("us,us-pa", PENNSYLVANIA, EAST, Practice(), "2024-06-14 12:00", "violation"),
    ("us,us-pa", PENNSYLVANIA, EAST, Practice(), "2026-04-03 12:00", "violation"),
    ("us,us-pa", PENNSYLVANIA, EAST, Practice(), "2026-11-03 12:00", "violation"),
    # Bill of Rights Day is in one vendor's list and not in the Act.
    ("us,us-pa", PENNSYLVANIA, EAST, Practice(), "2025-12-15 12:00", "uncertain"),
    ("us,us-pa", PENNSYLVANIA, EAST, Practice(), "2019-11-28 12:00", "pass"),
    # 39 Miss. Admin. Code Pt. I R. 1:28 closed holidays until it was repealed in 2024; which ones nobody read. Not
    # Juneteenth by Miss. Code 3-3-7, and a holiday on a Saturday does not move to the Friday.
    ("us-ms", MISSISSIPPI, "America/Chicago", Practice(line_types={MISSISSIPPI: "residential"}),
     "2023-07-04 12:00", "uncertain"),
    ("us-ms", MISSISSIPPI, "America/Chicago", Practice(line_types={MISSISSIPPI: "residential"}),
     "2023-06-19 12:00", "uncertain"),
    # Hours that rest on one source pass nothing.
    ("us-ms", MISSISSIPPI, "America/Chicago", Practice(line_types={MISSISSIPPI: "residential"}),
     "2025-07-04 12:00", "uncertain"),
    # Cal. Pub. Util. Code 2872: announcing devices 9-21.
    ("us,us-ca", CALIFORNIA, "America/Los_Angeles", Practice(dialing="prerecorded"),
     "2026-07-06 08:59:59", "violation"),
    ("us,us-ca", CALIFORNIA, "America/Los_Angeles", Practice(dialing="prerecorded"),
     "2026-07-06 09:00", "pass"),
    # 12 CFR 1006.6(b)(1)(i): collectors 8-21, businesses too.
    ("us", hand.NEW_YORK, EAST, Practice(purpose="debt_collection"), "2026-07-06 21:00", "violation"),
    # Australia: ANZAC Day is national, the King's Birthday is not; the list of the days is a library's, which accuses nobody.
    ("au", AUSTRALIA, "Australia/Sydney", Practice(), "2025-04-25 12:00", "uncertain"),
    ("au", AUSTRALIA, "Australia/Sydney", Practice(), "2026-06-08 12:00", "pass"),
    # France: Easter Monday; Good Friday is a holiday in Alsace and Moselle alone, L. 3133-1 lacks it.
    ("fr", FRANCE, PARIS, Practice(), "2026-04-06 11:00", "violation"),
    ("fr", FRANCE, PARIS, Practice(), "2026-04-03 11:00", "pass"),
    # Spain says holidays without saying whose, and nobody read the list: that of Madrid is uncertain, a national one too.
    ("es", "+34915550123", "Europe/Madrid", Practice(), "2025-05-02 12:00", "uncertain"),
    ("es", "+34915550123", "Europe/Madrid", Practice(), "2026-10-12 12:00", "uncertain"),
    ("es", "+34915550123", "Europe/Madrid", Practice(), "2026-10-13 12:00", "pass"),
    # India has no holidays in its rule.
    ("in", "+911155550123", "Asia/Kolkata", Practice(), "2026-01-26 12:00", "pass"),
]  # fmt: skip


@functools.cache
def on_days() -> dict[int, tuple[str, str]]:
    """Grade and reason of the call of each case."""
    found = {}
    numbers = [case[1] for case in DAYS]
    for places, group in together(DAYS):
        rows = [
            hand.call(numbers[n], hand.at(DAYS[n][4], DAYS[n][2]), id=str(n), campaign_id=str(n))
            for n in group
        ]
        firm = in_one({n: DAYS[n][3] for n in group}, numbers)
        table = hours.audit(hand.calls(*rows), rules=BOOK.select(places), practice=firm)
        found |= {
            int(name): (grade, reason)
            for name, grade, reason in zip(
                table["call_id"], table["grade"], table["reason"], strict=True
            )
        }
    return found


@pytest.mark.parametrize("case", range(len(DAYS)), ids=[f"{row[0]}-{row[4]}" for row in DAYS])
def test_days_by_the_citation(case: int) -> None:
    """Holidays and devices, by the clock of the person called."""
    grade, reason = on_days()[case]
    assert grade == DAYS[case][5], reason


#: Jurisdictions asked, number, zone, line type, local time, grade: what the grid of edges (`rules/law_oracle.py`) has not.
EXAMPLES: list[tuple[str, str, str, str | None, str, str]] = [
    # Tex. Bus. & Com. Code 301.051(b)(2): Monday to Saturday 9-21, Sunday noon-21, homes only; sources disagree.
    ("us,us-tx", "+15125550142", CENTRAL, HOME, "2026-11-23 08:30", "uncertain"),
    ("us,us-tx", "+15125550142", CENTRAL, "wireless", "2026-11-23 08:30", "pass"),
    ("us,us-tx", "+15125550142", CENTRAL, None, "2026-11-23 08:30", "not evaluable"),
    # Miss. Code 77-3-723(1): 8-20 Central STANDARD time, so 21:00 on a summer clock is the end.
    ("us-ms", "+16015550142", CENTRAL, "wireless", "2026-07-06 07:59", "violation"),
    ("us-ms", "+16015550142", CENTRAL, "wireless", "2026-07-06 08:30", "pass"),
    # In summer the advanced time is the standard time of the zone: 15 U.S.C. 260a(a).
    ("us-ms", "+16015550142", CENTRAL, "wireless", "2026-07-06 20:30", "violation"),
    ("us-ms", "+16015550142", CENTRAL, "wireless", "2026-01-05 08:00", "pass"),
    ("us-ms", "+16015550142", CENTRAL, "wireless", "2026-07-05 12:00", "violation"),
    # Conn. Gen. Stat. 42-288a(c): 9-20 since 2023-10-01; what it said before nobody read, so that it decides nothing.
    ("us,us-ct", "+12035550142", EAST, None, "2023-09-30 08:30", "uncertain"),
    ("us,us-ct", "+12035550142", EAST, None, "2023-09-30 20:30", "uncertain"),
    ("us,us-ct", "+12035550142", EAST, None, "2023-10-01 20:30", "violation"),
    # The United Kingdom: no hours were found, so no hour is a pass.
    ("gb", hand.LONDON, "Europe/London", None, "2026-07-06 12:00", "not evaluable"),
    ("gb", hand.LONDON, "Europe/London", None, "2026-07-06 03:00", "not evaluable"),
    # D. 223-9 from 2023-03-01: before it no hours.
    ("fr", "+33199001234", "Europe/Paris", None, "2023-02-28 21:00", "not evaluable"),
    # India: 10-21 since 2018-07-19, 9-21 before.
    ("in", "+911155550123", "Asia/Kolkata", None, "2018-07-18 09:30", "pass"),
    # 29 February.
    ("us", hand.NEW_YORK, EAST, None, "2028-02-29 12:00", "pass"),
]


def test_hours_by_the_citation() -> None:
    """The clock on the wall of the person called, and what the rule says of it."""
    told = [""] * len(EXAMPLES)
    numbers = [number for (number,) in numbers_of(EXAMPLES)]
    for places, group in together(EXAMPLES):
        lines = {numbers[n]: EXAMPLES[n][3] for n in group if EXAMPLES[n][3]}
        rows = [
            hand.call(numbers[n], hand.at(EXAMPLES[n][4], EXAMPLES[n][2]), id=str(n))
            for n in group
        ]
        firm = Practice(dialing="manual", line_types=lines)  # type: ignore[arg-type]
        found = hours.audit(hand.calls(*rows), rules=BOOK.select(places), practice=firm)
        for n, grade in zip(group, found["grade"], strict=True):
            told[n] = grade
    assert [(*row[:-1], grade) for row, grade in zip(EXAMPLES, told, strict=True)] == EXAMPLES


def test_the_fourth_call_in_24_hours_to_florida() -> None:
    """Fla. Stat. 501.616(6)(b): more than three is the violation, over midnight too."""
    times = [
        "2026-07-06T19:00",
        "2026-07-06T22:00",
        "2026-07-07T13:00",
        "2026-07-07T18:59:59",
        "2026-07-07T22:00:00",
    ]
    apart = f"{FLORIDA[:-1]}3"
    rows = [hand.call(FLORIDA, hand.utc(t), id=t) for t in times]
    rows += [
        hand.call(apart, hand.utc(t), id=f"apart {t}", campaign_id=f"cmp_{n}")
        for n, t in enumerate(times)
    ]
    found = _audit(rows, rules=["us", "us-fl"]).parts["attempts"]
    by_number = {str(phone): list(of["grade"]) for phone, of in found.groupby("to_number")}
    assert by_number[FLORIDA] == ["pass", "pass", "pass", "violation", "pass"]
    assert by_number[apart][3] == "uncertain"


def test_france_before_and_after_2026_08_11() -> None:
    """Up to 2026-08-10 Bloctel is consulted; from the 11th on consent is asked for instead."""
    rows = [
        hand.call("+33199001234", hand.at(f"2026-08-{day} 11:00", PARIS), id=day)
        for day in ("10", "11")
    ]
    told = hand.check(hand.at("2026-08-01 11:00", PARIS), phone="+33199001234")
    consents = pd.DataFrame(
        {"phone": ["+33610000000"], "kind": ["express"], "granted_at": [hand.utc("2026-01-01")]}
    )
    audit = _audit(rows, told, rules=["fr"], consents=consents)
    # That the list is to be consulted rests on no source that was read: uncertain at best.
    assert audit.coverage.calls["grade"].tolist() == ["uncertain", "not evaluable"]
    consent = audit.parts["consent"]
    assert dict(zip(consent["call_id"], consent["grade"], strict=True)) == {"11": "violation"}


def test_the_united_kingdom_leaves_28_days_after_a_listing() -> None:
    """PECR reg. 21(3): a number listed for fewer than 28 days is not yet breached."""
    at = hand.utc("2026-07-06T12:00")
    ages = {f"{hand.LONDON[:-1]}3": 27, f"{hand.LONDON[:-1]}4": 29}
    told = [hand.check(at - age * DAY, listed=True, phone=phone) for phone, age in ages.items()]
    listed = _audit([hand.call(phone, at) for phone in ages], *told, rules=["gb"]).listed
    assert listed["grade"].tolist() == ["indeterminate", "proven"]


def test_a_business_number_with_its_record_is_spared_where_the_rule_says_so() -> None:
    """Federal hours leave businesses out; Florida's do not. Without a record nothing is lifted."""
    phones = [FLORIDA, f"{FLORIDA[:-1]}3"]
    rows = [hand.call(phone, hand.at("2026-07-06 22:00", EAST)) for phone in phones]
    record = pd.DataFrame({"code": ["b2b"], "phone": [FLORIDA], "record": ["register 17"]})
    federal = _audit(rows, rules=["us"], exemptions=record).hours
    assert federal["grade"].tolist() == ["pass", "violation"]
    assert "exempt by record: b2b" in federal["reason"][0]
    of_state = _audit(rows, rules=["us", "us-fl"], exemptions=record).hours
    assert of_state["grade"].tolist() == ["violation", "violation"]


def test_a_call_that_the_person_asked_for_agreed_to_its_time() -> None:
    """16 CFR 310.4(c) spares calls with prior consent; a request to be called then is one, with its record."""
    rows = [hand.call(at=hand.at("2026-07-06 22:00", EAST), id=f"call_{n}") for n in (1, 2)]
    record = pd.DataFrame({"code": ["requested"], "call_id": ["call_1"], "record": ["clb_17"]})
    found = _audit(rows, rules=["us"], exemptions=record).hours
    assert found["grade"].tolist() == ["pass", "violation"]
    assert "exempt by record: requested" in found["reason"][0]
