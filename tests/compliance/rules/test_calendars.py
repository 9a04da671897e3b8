"""Statutory calendars: the days that the statutes write out, and published lists of restricted dates."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from compliance import hand
from dialframe.compliance import Practice, Question, audit, overrides, rulebook
from dialframe.compliance.rules import calendars
from dialframe.compliance.rules.calendars import Declared, closed_days, day_of, in_parts
from dialframe.compliance.rules.closed_days import easter, statutory_days
from dialframe.compliance.rules.rule_model import HolidayRule
from dialframe.errors import ConfigError

BOOK = rulebook.load()
STATES = {"AL", "LA", "PA", "RI", "UT"}

#: Day, states on which calls are banned for certain, states of which sources disagree; where it was read.
PUBLISHED = [
    # https://www.dnc.com/news?field_tags_target_id=All&items_per_page=9&page=6
    ("2021-09-06", "AL LA PA RI UT", ""),
    # https://www.intercloud9.com/members/announcements/103: no Louisiana; a list of 2015 has it.
    ("2022-02-21", "AL PA RI UT", "LA"),
    # https://dnc.com/holiday-alerts?year=2023
    ("2023-12-25", "AL LA PA RI UT", ""),
    # https://dnc.dreamhosters.com/update-pennsylvania-governor-signs-new-robocall-restrictions-law
    ("2022-06-14", "PA", ""),
    ("2023-04-07", "LA PA", ""),
    ("2022-11-08", "PA RI", "LA"),
    ("2023-11-07", "PA", ""),
    # https://www.sos.ri.gov/divisions/civics-and-education/reference-desk/ri-state-holidays, of 2021
    ("2021-08-09", "RI", ""),
    ("2021-07-05", "AL RI UT", "LA PA"),
    ("2021-12-27", "", "RI"),
    # Utah Code 63G-1-301 as of 2025-05-07: June 19 of a Thursday is kept on the Monday before it.
    ("2025-06-16", "UT", ""),
    ("2025-06-19", "RI", "AL LA PA"),
    ("2026-07-24", "UT", ""),
    # Days of other lists that are no holidays of these statutes.
    ("2026-11-27", "", "LA"),
    ("2026-05-04", "RI", ""),
    ("2026-02-17", "LA", "AL"),
    ("2026-12-01", "", "AL"),
]  # fmt: skip


def rule_of(state: str) -> HolidayRule:
    """The rule on holidays of a state."""
    rule = BOOK.rule(f"us-{state.lower()}-holiday")
    assert isinstance(rule, HolidayRule)
    return rule


def grade_of(state: str, day: date) -> str:
    """`banned`, `uncertain` or `open`, by the calendar of the state's rule."""
    certain, *parts = in_parts(rule_of(state))
    if closed_days(certain, day, day, Declared()):
        return "banned"
    return "uncertain" if any(closed_days(p, day, day, Declared()) for p in parts) else "open"


@pytest.mark.parametrize(("day", "banned", "uncertain"), PUBLISHED, ids=[r[0] for r in PUBLISHED])
def test_days_are_those_of_published_lists(day: str, banned: str, uncertain: str) -> None:
    """Where lists or texts disagree the day is uncertain, never open."""
    grades = {state: grade_of(state, date.fromisoformat(day)) for state in STATES}
    assert {s for s, grade in grades.items() if grade == "banned"} == set(banned.split())
    assert {s for s, grade in grades.items() if grade == "uncertain"} == set(uncertain.split())


def test_a_day_on_which_sources_disagree_names_both() -> None:
    """Presidents' Day in Louisiana: restricted by a list of 2015, not enforced by that of 2018."""
    day = date(2026, 2, 16)
    (closed,) = closed_days(in_parts(rule_of("LA"))[1], day, day, Declared())
    assert "2015" in closed.name
    assert "not an enforced DNC holiday" in closed.name


#: Number, day, and the grade of a call at noon: 24 June is a holiday of Catalonia and of Valencia, not of Madrid.
IN_PARTS = [
    ("+34911234567", "2026-06-24", "pass"),
    ("+34931234567", "2026-06-24", "uncertain"),
    ("+34961234567", "2026-06-24", "uncertain"),
    ("+34612345678", "2026-06-24", "uncertain"),
    ("+34911234567", "2026-05-15", "uncertain"),
    ("+34931234567", "2026-05-15", "pass"),
    ("+34952123456", "2026-09-17", "uncertain"),
    ("+34957123456", "2026-09-17", "pass"),
    ("+34931234567", "2026-01-06", "uncertain"),
]


def test_a_holiday_of_another_part_of_the_country_than_the_numbers_is_none() -> None:
    """Where the plan gives the first digits of a fixed line to a part; a mobile line may be in any of them."""
    rows = [
        hand.call(phone, datetime.fromisoformat(f"{day}T10:00:00Z"), id=str(n))
        for n, (phone, day, _) in enumerate(IN_PARTS)
    ]
    firm = Practice(line_types={phone: "residential" for phone, _, _ in IN_PARTS})
    asked = Question(now=datetime(2027, 1, 1, tzinfo=UTC), rules=["es"], practice=firm)
    hours = audit({"calls": hand.calls(*rows)}, asked).hours.set_index("call_id")
    assert [hours["grade"].get(str(n), "pass") for n in range(len(IN_PARTS))] == [
        grade for _, _, grade in IN_PARTS
    ]


@pytest.mark.parametrize(
    ("on", "day"),
    [
        ("12-25", "2026-12-25"), ("3rd mon of jan", "2026-01-19"), ("last mon of may", "2026-05-25"),
        ("4th thu of nov", "2026-11-26"), ("tue after 1st mon of nov", "2026-11-03"),
        ("fri after 4th thu of nov", "2026-11-27"), ("easter -2", "2026-04-03"),
        ("easter +39", "2026-05-14"), ("easter 0", "2026-04-05"), ("mon near 06-19", "2026-06-15"),
    ],
)  # fmt: skip
def test_a_rule_of_the_day_is_dated(on: str, day: str) -> None:
    """Each form that the file of calendars uses."""
    assert day_of(on, 2026) == date.fromisoformat(day)


def test_easter_is_that_of_the_church() -> None:
    """Of a table of four centuries, by another program."""
    from dateutil.easter import easter as of_dateutil

    assert [easter(year) for year in range(1700, 2100)] == [
        of_dateutil(year) for year in range(1700, 2100)
    ]


@pytest.mark.parametrize("year", range(2021, 2028))
def test_juneteenth_in_utah_is_a_monday_since_2022(year: int) -> None:
    """The Monday before a Tuesday to Friday, the Monday after a weekend."""
    mondays = {2022: 20, 2023: 19, 2024: 17, 2025: 16, 2026: 15, 2027: 21}
    days = statutory_days(calendars.statutory_calendars()["US-UT"], year)
    kept = [day for day, (name, _) in days.items() if name.startswith("Juneteenth")]
    assert kept == ([date(year, 6, mondays[year])] if year in mondays else [])


@pytest.mark.parametrize("on", ["monday", "5th mon of jan", "1st moon of jan", "easter", ""])
def test_what_is_no_rule_of_a_day_is_refused(on: str) -> None:
    """In a calendar and in a firm's own rule."""
    assert day_of(on, 2026) is None


def test_a_calendar_that_nobody_has_is_refused() -> None:
    """With the calendars that there are."""
    own = (
        '[[change]]\nid = "us-ri-holiday"\nby = "A"\nwhy = "b"\non = 2026-11-01\nloosens = true\n'
        'parameters = { statutory = "US-XX" }\n'
    )
    with pytest.raises(ConfigError, match="no statutory calendar 'US-XX'; there are US-FEDERAL"):
        overrides.apply(BOOK, own)


def test_every_calendar_says_where_it_is_written() -> None:
    """A citation and a source each; a quotation with the day it was read, or no high confidence."""
    for calendar in calendars.statutory_calendars().values():
        assert calendar["citation"]
        assert calendar["source"].startswith(("https://", "http://"))
        assert ("quotation" in calendar) == ("read_on" in calendar)
        assert "quotation" in calendar or calendar["confidence"] != "high"
        assert all(len(day["unsettled"]) > 20 for day in calendar["day"] if "unsettled" in day)
