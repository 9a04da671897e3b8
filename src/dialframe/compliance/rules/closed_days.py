"""Finds the days on which a rule bans calls, and the last day of a number of business days, from rules as plain data.

Days come from three places. A list that a statute writes out is data (`calendars.toml`). Where a
law says no more than "public holiday", the `holidays` library serves, with what the rule adds and
drops on top. Days that nobody can know in advance (a governor's proclamation, an emergency) come
from a file of the firm. A day on which sources disagree bans nothing for certain: it is one of
type `regional`, like a holiday of a part of the country, and a call on it is uncertain.

An evidence pack carries this file, so that its `verify.py` finds the same days: it needs Python alone, and the library
for the days that are the library's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from functools import lru_cache
from typing import Any, Final, NamedTuple

_SATURDAY: Final = 5
WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTHS: Final = (
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
)  # fmt: skip
_ON: Final = re.compile(
    r"(?P<month>\d\d)-(?P<day>\d\d)"
    r"|easter (?P<shift>[+-]?\d+)"
    r"|mon near (?P<near>\d\d-\d\d)"
    r"|(?:(?P<after>\w{3}) after )?(?P<nth>1st|2nd|3rd|4th|last) (?P<weekday>\w{3}) of (?P<of>\w{3})"
)
#: A rule, its parameters or a calendar, with the fields of `rule_parameters` and `calendars.toml`.
Fields = Mapping[str, Any]
#: Calendars of `calendars.toml` by their ids.
Statutes = Mapping[str, Fields]


class ClosedDay(NamedTuple):
    """A day on which a rule bans calls: its name, and the part of the country (`ES-MD`) where it is one, None for all."""

    day: date
    name: str
    part: str | None = None


def day_of(on: str, year: int) -> date | None:
    """The day of a year that a rule of the day means, by the forms that `calendars.toml` lists.

    Example:
        >>> day_of("tue after 1st mon of nov", 2026)
        datetime.date(2026, 11, 3)
    """
    # Statutes date holidays by the month's day, by weekday, or from Easter; Election Day is a Tuesday after a Monday.
    match = _ON.fullmatch(on)
    if match is None:
        return None
    if match["month"]:
        return date(year, int(match["month"]), int(match["day"]))
    if match["shift"]:
        return easter(year) + timedelta(days=int(match["shift"]))
    if match["near"]:
        day = date(year, int(match["near"][:2]), int(match["near"][3:]))
        back = day.weekday() if day.weekday() < _SATURDAY else day.weekday() - 7
        return day - timedelta(days=back)
    if match["weekday"] not in WEEKDAYS or match["of"] not in _MONTHS:
        return None
    month, weekday = _MONTHS.index(match["of"]) + 1, WEEKDAYS.index(match["weekday"])
    if match["nth"] == "last":
        day = date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)
        day -= timedelta(days=(day.weekday() - weekday) % 7)
    else:
        day = date(year, month, 1)
        day += timedelta(days=(weekday - day.weekday()) % 7 + 7 * (int(match["nth"][0]) - 1))
    if match["after"]:
        day += timedelta(days=(WEEKDAYS.index(match["after"]) - day.weekday() - 1) % 7 + 1)
    return day


def easter(year: int) -> date:
    """Easter Sunday of the Gregorian calendar.

    Example:
        >>> easter(2026)
        datetime.date(2026, 4, 5)
    """
    # Meeus, Astronomical Algorithms (1991), chapter 8.
    golden, century, rest = year % 19, year // 100, year % 100
    moon = (
        19 * golden + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15
    ) % 30
    weekday = (32 + 2 * (century % 4) + 2 * (rest // 4) - moon - rest % 4) % 7
    shift = (golden + 11 * moon + 22 * weekday) // 451
    month, day = divmod(moon + weekday - 7 * shift + 114, 31)
    return date(year, month, day + 1)


def statutory_days(calendar: Fields, year: int) -> dict[date, tuple[str, str]]:
    """Holidays of a calendar of `calendars.toml` in a year, in order: their names, and why they are unsettled, or nothing."""
    days: dict[date, tuple[str, str]] = {}
    for at in (year, year + 1):  # New Year's Day may be kept on 31 December
        for kept, name, unsettled in _kept(calendar, at):
            if kept.year == year and (kept not in days or days[kept][1]):
                days[kept] = (name, unsettled)
    return dict(sorted(days.items()))


def _kept(calendar: Fields, year: int) -> Iterator[tuple[date, str, str]]:
    for entry in calendar["day"]:
        day = day_of(entry["on"], year)
        # A holiday counts from the day on which its statute made it one.
        begun = day is not None and entry.get("from", date.min) <= day <= entry.get("to", date.max)
        if day is None or not begun or (entry.get("years") == "even" and year % 2):
            continue
        unsettled = entry.get("unsettled", "")
        yield day, entry["name"], unsettled
        # 5 U.S.C. 6103(b) keeps a holiday of Saturday on Friday; the calendars say what each statute does.
        shift = {5: calendar["saturday"], 6: calendar["sunday"]}.get(day.weekday(), "")
        if not shift or not entry.get("moves", True):
            continue
        step = -1 if shift == "previous_friday" else (7 - day.weekday())
        why = unsettled or calendar.get("moved_unsettled", "")
        if day.weekday() == _SATURDAY:
            why = why or calendar.get("saturday_unsettled", "")
        yield day + timedelta(days=step), f"{entry['name']} (observed)", why


def closed_days(
    parameters: Fields, declared: Mapping[date, str], statutes: Statutes, first: date, last: date
) -> list[ClosedDay]:
    """Days between two days on which a rule on holidays bans calls.

    Args:
        parameters: What the rule says.
        declared: Days that a firm's file declares for it.
        statutes: The statutory calendars.
        first: The first day.
        last: The last day.

    Raises:
        ImportError: The library `holidays` is not installed and the rule goes by it.
    """
    years = range(first.year, last.year + 1)
    banned: list[ClosedDay] = []
    # Parts of a place: none of these days bans a call for certain.
    if parameters["type"] == "regional":
        banned += (each for year in years for each in _doubtful(parameters, statutes, year))
    else:
        days = dict(declared)
        if parameters["type"] == "no_calls":
            for year in years:
                days |= _certain(parameters, statutes, year)
        banned += (ClosedDay(day, name) for day, name in days.items())
    return [each for each in banned if first <= each.day <= last]


def is_in_doubt(parameters: Fields, statutes: Statutes) -> bool:
    """Whether a rule on holidays has days beside that ban no call for certain."""
    doubts = [parameters["regional"], parameters["local_only"], parameters["disputed"]]
    if parameters["statutory"] is not None:
        calendar = statutes[parameters["statutory"]]
        doubts += [calendar.get("moved_unsettled"), calendar.get("saturday_unsettled")]
        doubts += [day.get("unsettled") for day in calendar["day"]]
    return parameters["type"] == "no_calls" and any(doubts)


def own_hours(parameters: Fields, first: date, last: date) -> set[date]:
    """Days on which a rule on hours has hours of its own: the eve of a holiday, or Sundays and holidays.

    Raises:
        ImportError: The library `holidays` is not installed and the rule goes by it.
    """
    before, both = parameters["before_holiday"], parameters["sunday_and_holiday"]
    days: set[date] = set()
    if before is not None:
        eves = (day - timedelta(days=1) for day in _public(before, first, last))
        days |= {eve for eve in eves if WEEKDAYS[eve.weekday()] not in parameters["closed_days"]}
    if both is not None:
        every = (first + timedelta(days=shift) for shift in range((last - first).days + 1))
        days |= {day for day in every if WEEKDAYS[day.weekday()] == "sun"}
        days |= _public(both, first, last)
    return {day for day in days if first <= day <= last}


def _public(window: Fields, first: date, last: date) -> set[date]:
    """Public holidays that a window of special hours goes by."""
    # The eve of New Year's Day is of the year before.
    years = range(first.year, last.year + 2)
    return {day for year in years for day in library(window["calendar"], window["subdiv"], year)}


def last_day(rule: Fields, asked_on: date) -> date:
    """The last day on which a request, or a revocation, made on a day is still honored in time.

    The day after the request is the first. Business days are Monday to Friday without the
    holidays of the rule's calendar, observed days included.

    Raises:
        ImportError: The library `holidays` is not installed and the rule counts business days.
    """
    # 47 CFR 64.1200(d)(3): 10 business days since 2025-04-11; CRTC, Part III: 14 days of the calendar.
    # 47 CFR 64.1200(a)(10): a revocation of consent is carried out in days of the same kinds.
    parameters = rule["parameters"]
    days = parameters["max_days"] or 0
    if parameters["day_type"] != "business":
        return asked_on + timedelta(days=days)
    own_calendar = parameters.get("holiday_calendar")
    return _business_day(own_calendar or rule["jurisdiction"][:2], asked_on, days)


@lru_cache(maxsize=4096)
def _business_day(country: str, after: date, days: int) -> date:
    """The last of some business days after a day."""
    at, left = after, days
    # Observed holidays of the country are no business days either.
    while left:
        at += timedelta(days=1)
        if at.weekday() < _SATURDAY and at not in library(country, "", at.year):
            left -= 1
    return at


def _certain(parameters: Fields, statutes: Statutes, year: int) -> dict[date, str]:
    """Days of a year on which calls are banned for certain."""
    days = _listed(parameters, statutes, year)
    disputed = _disputed(parameters, days)
    return {day: name for day, name in days.items() if day not in disputed}


def _disputed(parameters: Fields, days: Mapping[date, str]) -> dict[date, str]:
    """Days of which the rule says that sources disagree, with what they say."""
    disputed: dict[date, str] = {}
    for entry in parameters["disputed"]:
        for day, name in days.items():
            of_name = not entry["name"] or entry["name"].casefold() in name.casefold()
            of_weekday = entry["weekday"] in (None, WEEKDAYS[day.weekday()])
            if of_name and of_weekday:
                disputed[day] = f"{name}; sources disagree: {'; '.join(entry['sources'])}"
    return disputed


def _listed(parameters: Fields, statutes: Statutes, year: int) -> dict[date, str]:
    """Holidays of a year, by a statute's list or by the library, with what the rule adds and drops."""
    if parameters["statutory"] is not None:
        listed = statutory_days(statutes[parameters["statutory"]], year)
        # A day that is unsettled bans nothing for certain.
        days = {day: name for day, (name, unsettled) in listed.items() if not unsettled}
    elif parameters["calendar"] is not None:
        days = dict(library(*_of_library(parameters), year, parameters["observed"]))
    else:
        return {}
    # Names are compared in part, so that a day and the day on which it is observed are dropped together.
    dropped = [name.casefold() for name in parameters["drop"]]
    days = {
        day: name
        for day, name in days.items()
        if not any(drop in name.casefold() for drop in dropped)
    }
    for added in parameters["add"]:
        month, number = (int(part) for part in added["day"].split("-"))
        try:
            day = date(year, month, number)
        except ValueError:
            continue  # 29 February of a year without one
        days.setdefault(day, added["name"])
        if added["moves"] and day.weekday() >= _SATURDAY:
            shift = timedelta(days=-1 if day.weekday() == _SATURDAY else 1)
            days.setdefault(day + shift, f"{added['name']} (observed)")
    return days


def _of_library(parameters: Fields) -> tuple[str, str]:
    return parameters["calendar"], parameters["subdiv"]


def _doubtful(parameters: Fields, statutes: Statutes, year: int) -> list[ClosedDay]:
    """Days on which calls may be banned: where, or why nobody can say for certain."""
    everywhere = _certain(parameters, statutes, year)
    days = _disputed(parameters, _listed(parameters, statutes, year))
    if parameters["statutory"] is not None:
        listed = statutory_days(statutes[parameters["statutory"]], year)
        days |= {day: f"{name}; {why}" for day, (name, why) in listed.items() if why}
    doubts = [ClosedDay(day, name) for day, name in days.items()]
    country = parameters["calendar"]
    if parameters["regional"] and country is not None:
        doubts += [
            ClosedDay(day, f"{name} in {part}", f"{country}-{part}")
            for part in parts_of(country)
            for day, name in library(country, part, year, parameters["observed"]).items()
        ]
    for local in parameters["local_only"]:
        part = f"{country}-{local['within']}" if local["within"] else None
        doubts += (
            ClosedDay(day, f"{local['name']} in {local['where']}", part)
            for day in _local(local, year)
        )
    return sorted(
        (each for each in doubts if each.day not in everywhere),
        key=lambda each: (each.day, each.name),
    )


def _local(local: Fields, year: int) -> list[date]:
    """Days of a year on which a part of the place keeps the holiday."""
    if local["on"]:
        day = day_of(local["on"], year)
        return [] if day is None else [day]
    dated = library(*_of_library(local), year)
    return [day for day, name in dated.items() if local["name"].casefold() in name.casefold()]


@lru_cache(maxsize=64)
def parts_of(country: str) -> tuple[str, ...]:
    """Parts of a country that have holidays of their own in the library."""
    import holidays

    # The library builds its list of all countries anew for each question: 3 ms.
    return tuple(holidays.list_supported_countries(include_aliases=False)[country])


@lru_cache(maxsize=4096)
def library(
    country: str,
    subdiv: str,
    year: int,
    observed: bool = True,  # noqa: FBT001, FBT002 - cached
) -> Mapping[date, str]:
    """Holidays of a year by the library `holidays`, with their English names.

    Raises:
        ImportError: It is not installed.
    """
    import holidays

    calendar = holidays.country_holidays(
        country, subdiv=subdiv or None, years=year, observed=observed, language="en_US"
    )
    return dict(calendar)
