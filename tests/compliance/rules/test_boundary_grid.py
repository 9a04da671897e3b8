"""The hours of every place, minute edge by minute edge, against laws written down apart from the rule book."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from zoneinfo import ZoneInfo

import pytest

from compliance import hand
from compliance.rules import law_oracle as oracle
from compliance.rules.law_oracle import CLOSED, DOUBT, OPEN, PLACES, Place
from dialframe import frames
from dialframe.compliance import hours, rulebook
from dialframe.compliance.practice import Practice
from dialframe.phones.zones import of_number
from rows import every_row

BOOK = rulebook.load()
MINUTE = timedelta(minutes=1)
#: A plain week, the days on which clocks change in North America, Europe and Australia, and those after.
DAYS = [date(2026, 7, 6) + timedelta(days=n) for n in range(7)]
DAYS += [date(2026, 3, 8), date(2026, 3, 9), date(2025, 11, 2), date(2025, 11, 3)]
DAYS += [
    date(2026, 3, 29),
    date(2026, 3, 30),
    date(2025, 10, 26),
    date(2026, 4, 5),
    date(2025, 10, 5),
]
#: Edges of a rule lie on the hour or the half hour: the minute before and the minute itself.
EDGES = [time(hour, half) for hour in range(24) for half in (0, 30)]


@cache
def moments(zone: str) -> list[datetime]:
    """Instants of a clock: minute edges of some days, and an open hour of every day 2021 to 2027."""
    local = [datetime.combine(day, edge) for day in DAYS for edge in EDGES]
    local += [at - MINUTE for at in local]
    start = date(2021, 1, 1)
    every_day = (start + timedelta(days=n) for n in range((date(2028, 1, 1) - start).days))
    local += [datetime.combine(day, time(12, 30)) for day in every_day]
    there = ZoneInfo(zone)
    return sorted({at.replace(tzinfo=there).astimezone(UTC) for at in local})


@cache
def by_clock(name: str, at: datetime) -> datetime:
    """The local time of an instant."""
    return at.astimezone(ZoneInfo(name)).replace(tzinfo=None)


def expected(place: Place, at: datetime) -> str:
    """The grade by the oracle: inside on all clocks, outside on all, or anything between."""
    grades = {place.hours(by_clock(name, at)) for name in place.zones}
    return grades.pop() if len(grades) == 1 else DOUBT


@cache
def grid() -> dict[str, list[tuple[datetime, str]]]:
    """The book's grade of each moment of each number, from one audit of all."""
    numbers = {place.number: place for place in PLACES.values()}
    cells = [(number, at) for number, place in numbers.items() for at in moments(place.zones[0])]
    asked = {rule for place in PLACES.values() for rule in place.rules.split(",")}
    calls = frames.from_columns(frames.CALLS, {
        "id": [str(n) for n in range(len(cells))], "direction": ["outbound"] * len(cells),
        "to_number": [number for number, _ in cells], "created_at": [at for _, at in cells],
    })  # fmt: skip
    firm = Practice(dialing="manual", line_types=dict.fromkeys(numbers, "residential"))
    found = hours.audit(calls, rules=BOOK.select(sorted(asked)), practice=firm)
    grades = dict(zip(found["call_id"].tolist(), found["grade"].tolist(), strict=True))
    told: dict[str, list[tuple[datetime, str]]] = {number: [] for number in numbers}
    for row, (number, at) in enumerate(cells):
        told[number].append((at, grades[str(row)]))
    return told


#: Rules on the time of a call of each place of the grid, its own alone.
OWN = {
    code: [rule for rule in BOOK.rules if rule.jurisdiction == code and rule.kind in ("calling_hours", "holiday")]
    for code in PLACES
}  # fmt: skip
UNREAD = {code for code, own in OWN.items() if any(rule.confidence == "low" for rule in own)}
DISPUTED = {code for code, own in OWN.items() if any(rule.ceiling_reason for rule in own)}


def in_law(code: str, day: date) -> bool:
    """Whether the law that the oracle has was in force: some began within the years of the grid."""
    begins = {"FR": date(2023, 3, 1), "IT": date(2024, 10, 1)}
    return day >= begins.get(code, date.min)


def allowed(code: str, at: datetime, wanted: str) -> set[str]:
    """Grades that settle a moment; each further one has its reason here."""
    local = by_clock(PLACES[code].zones[0], at)
    if code in UNREAD:
        return {wanted, DOUBT}  # the state's own hours were not read in a source
    if code in DISPUTED and wanted == CLOSED:
        return {wanted, DOUBT}  # sources disagree, or nobody read the list of the days
    if code == "US-MS" and wanted == OPEN and local.date() < date(2024, 6, 4):
        return {OPEN, DOUBT}  # holidays were closed until the repeal
    if code == "US-WA" and local.date() < date(2022, 6, 9):
        return {wanted, DOUBT}  # the state's own hours before the Act of 2022 were not read
    if code == "ES" and wanted == OPEN:
        return {OPEN, DOUBT} | ({CLOSED} if (local.month, local.day) == (1, 6) else set())
        # Holidays of communities and cities are uncertain; Epiphany is kept by all of them.
    if code == "AU" and wanted == OPEN and local.weekday() == oracle.MON:
        return {
            OPEN,
            CLOSED,
            DOUBT,
        }  # a day in lieu of a weekend, which the library counts as national
    if code == "AU" and wanted == OPEN and (local.month, local.day) in ((12, 28), (12, 27)):
        return {OPEN, CLOSED, DOUBT}
    if code == "IT" and (local.month, local.day) in ((10, 3), (10, 4)):
        return {OPEN, CLOSED, DOUBT}  # 4 October is a holiday again from 2026, legge 151/2025
    return {wanted}


@every_row("code", PLACES)
def test_the_book_and_the_laws_say_the_same(code: str) -> None:
    """Every half hour and the minute before it on 16 days, and noon of every day 2021 to 2027."""
    place = PLACES[code]
    wrong = []
    for at, grade in grid()[place.number]:
        local = by_clock(place.zones[0], at)
        if not in_law(code, local.date()):
            continue
        wanted = expected(place, at)
        if grade not in allowed(code, at, wanted):
            wrong.append(f"{local:%a %Y-%m-%d %H:%M}: the law says {wanted}, the book {grade}")
    assert not wrong, f"{len(wrong)} differences: " + "; ".join(wrong[:12])


@every_row("code", PLACES)
def test_the_number_of_a_place_has_the_clocks_of_the_oracle(code: str) -> None:
    """Otherwise both would be asked of different places."""
    noon = datetime(2026, 7, 8, 16, tzinfo=UTC)
    ours = {noon.astimezone(ZoneInfo(name)).utcoffset() for name in PLACES[code].zones}
    theirs = {
        noon.astimezone(ZoneInfo(n)).utcoffset() for n in of_number(PLACES[code].number).names
    }
    assert ours == theirs


@pytest.mark.parametrize("code", oracle.NO_HOURS)
def test_where_no_statute_has_hours_no_call_breaks_one(code: str) -> None:
    """The United Kingdom and Germany: at no hour of the week."""
    start = datetime(2026, 7, 6, tzinfo=UTC)
    rows = [
        hand.call(oracle.NO_HOURS[code], start + timedelta(minutes=30 * n), id=f"c{n}")
        for n in range(336)
    ]
    found = hours.audit(hand.calls(*rows), rules=BOOK.select([code]))
    assert CLOSED not in set(found["grade"])
