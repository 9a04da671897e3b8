"""Finds the days on which a rule bans calls, and the last day of a number of business days.

Days come from three places. A list that a statute writes out is data (`calendars.toml`). Where a
law says no more than "public holiday", the `holidays` library serves, with what the rule adds and
drops on top. Days that nobody can know in advance (a governor's proclamation, an emergency) come
from a file of the firm. A day on which sources disagree bans nothing for certain: it is one of
type `regional`, like a holiday of a part of the country, and a call on it is uncertain.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cache, lru_cache
from importlib import resources
from typing import Final, Literal, NamedTuple

import holidays
from dateutil.easter import easter
from holidays.registry import COUNTRIES
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from dialframe.compliance.rules.rule_model import ConsentRule, HolidayRule, HonorRule
from dialframe.compliance.rules.rule_parameters import HolidayParameters, LocalDay, SpecialWindow

_SATURDAY: Final = 5
_WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTHS: Final = (
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
)  # fmt: skip
_ON: Final = re.compile(
    r"(?P<month>\d\d)-(?P<day>\d\d)"
    r"|easter (?P<shift>[+-]?\d+)"
    r"|mon near (?P<near>\d\d-\d\d)"
    r"|(?:(?P<after>\w{3}) after )?(?P<nth>1st|2nd|3rd|4th|last) (?P<weekday>\w{3}) of (?P<of>\w{3})"
)


class StatutoryDay(BaseModel):
    """A holiday of a statute: its name, its rule of the day, and since when it is law."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    name: str = Field(min_length=1)
    on: str
    begins: date | None = Field(default=None, alias="from")
    ends: date | None = Field(default=None, alias="to")
    years: Literal["", "even"] = ""
    moves: bool = True
    unsettled: str = ""

    @model_validator(mode="after")
    def _is_a_day(self) -> StatutoryDay:
        if day_of(self.on, 2024) is None:
            raise ValueError(f"{self.on!r} is no day of a year, such as 01-01 or 3rd mon of jan")
        return self

    def in_year(self, year: int) -> date | None:
        """The day in a year; None where it is no holiday then."""
        day = day_of(self.on, year)
        if day is None or (self.years == "even" and year % 2):
            return None
        # A holiday counts from the day on which its statute made it one.
        begun = self.begins is None or self.begins <= day
        return day if begun and (self.ends is None or day <= self.ends) else None


class StatutoryCalendar(BaseModel):
    """The holidays of a statute, with the text that they rest on and what weekends do to them."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    id: str
    title: str
    citation: str
    source: str
    quotation: str = ""
    read_on: date | None = None
    confidence: Literal["high", "medium", "low"]
    note: str = ""
    sunday: Literal["", "next_monday"]
    saturday: Literal["", "previous_friday", "next_monday"]
    moved_unsettled: str = ""
    saturday_unsettled: str = ""
    day: tuple[StatutoryDay, ...] = Field(strict=False)

    def in_year(self, year: int) -> dict[date, tuple[str, str]]:
        """Holidays of a year in order: their names, and why they are unsettled, or nothing."""
        days: dict[date, tuple[str, str]] = {}
        for at in (year, year + 1):  # New Year's Day may be kept on 31 December
            for kept, name, unsettled in self._kept(at):
                if kept.year == year and (kept not in days or days[kept][1]):
                    days[kept] = (name, unsettled)
        return dict(sorted(days.items()))

    def _kept(self, year: int) -> Iterator[tuple[date, str, str]]:
        for entry in self.day:
            day = entry.in_year(year)
            if day is None:
                continue
            yield day, entry.name, entry.unsettled
            # 5 U.S.C. 6103(b) keeps a holiday of Saturday on Friday; the calendars say what each statute does.
            shift = {5: self.saturday, 6: self.sunday}.get(day.weekday(), "")
            if not shift or not entry.moves:
                continue
            step = -1 if shift == "previous_friday" else (7 - day.weekday())
            why = entry.unsettled or self.moved_unsettled
            if day.weekday() == _SATURDAY:
                why = why or self.saturday_unsettled
            yield day + timedelta(days=step), f"{entry.name} (observed)", why


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
        sunday: date = easter(year)
        return sunday + timedelta(days=int(match["shift"]))
    if match["near"]:
        day = date(year, int(match["near"][:2]), int(match["near"][3:]))
        back = day.weekday() if day.weekday() < _SATURDAY else day.weekday() - 7
        return day - timedelta(days=back)
    if match["weekday"] not in _WEEKDAYS or match["of"] not in _MONTHS:
        return None
    month, weekday = _MONTHS.index(match["of"]) + 1, _WEEKDAYS.index(match["weekday"])
    if match["nth"] == "last":
        day = date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)
        day -= timedelta(days=(day.weekday() - weekday) % 7)
    else:
        day = date(year, month, 1)
        day += timedelta(days=(weekday - day.weekday()) % 7 + 7 * (int(match["nth"][0]) - 1))
    if match["after"]:
        day += timedelta(days=(_WEEKDAYS.index(match["after"]) - day.weekday() - 1) % 7 + 1)
    return day


@cache
def statutory_calendars() -> Mapping[str, StatutoryCalendar]:
    """Calendars of `calendars.toml` by their ids."""
    text = (resources.files("dialframe.compliance.rules") / "calendars.toml").read_text("utf-8")
    calendars = TypeAdapter(list[StatutoryCalendar]).validate_python(
        tomllib.loads(text)["calendar"]
    )
    return {calendar.id: calendar for calendar in calendars}


@dataclass(frozen=True, slots=True)
class Declared:
    """Days that were declared, from a firm's file.

    Attributes:
        days: Rule id to the days on which it bans calls, with what was declared.
    """

    days: Mapping[str, Mapping[date, str]] = field(default_factory=dict)

    def of(self, rule_id: str) -> Mapping[date, str]:
        """Days of one rule.

        Args:
            rule_id: Id of a rule of the book.
        """
        return self.days.get(rule_id, {})

    def has(self, rule_id: str) -> bool:
        """Whether the file speaks of the rule at all; without it nobody knows of an emergency.

        Args:
            rule_id: Id of a rule of the book.
        """
        return rule_id in self.days


class ClosedDay(NamedTuple):
    """A day on which a rule bans calls: its name, and the part of the country (`ES-MD`) where it is one, None for all."""

    day: date
    name: str
    part: str | None = None


def closed_days(rule: HolidayRule, first: date, last: date, declared: Declared) -> list[ClosedDay]:
    """Days between two days on which the rule bans calls."""
    parameters = rule.parameters
    years = range(first.year, last.year + 1)
    banned: list[ClosedDay] = []
    # Parts of a place: none of these days bans a call for certain.
    if parameters.type == "regional":
        banned += (each for year in years for each in _partial(parameters, year))
    else:
        days = dict(declared.of(rule.id))
        if parameters.type == "no_calls":
            for year in years:
                days |= _public(parameters, year)
        banned += (ClosedDay(day, name) for day, name in days.items())
    return [each for each in banned if first <= each.day <= last]


def in_parts(rule: HolidayRule) -> tuple[HolidayRule, ...]:
    """The rule, and beside it what holds in a part of its place alone, as a rule of type `regional`."""
    parameters = rule.parameters
    doubts: list[object] = [parameters.regional, parameters.local_only, parameters.disputed]
    if parameters.statutory is not None:
        calendar = statutory_calendars()[parameters.statutory]
        doubts += [calendar.moved_unsettled, calendar.saturday_unsettled]
        doubts += [day.unsettled for day in calendar.day]
    if parameters.type != "no_calls" or not any(doubts):
        return (rule,)
    parts = parameters.model_copy(update={"type": "regional"})
    return (rule, rule.model_copy(update={"parameters": parts}))


def special_days(window: SpecialWindow, first: date, last: date) -> frozenset[date]:
    """Public holidays that a window of special hours goes by."""
    # The eve of New Year's Day is of the year before.
    years = range(first.year, last.year + 2)
    return frozenset(
        day for year in years for day in _calendar(window.calendar, window.subdiv, year)
    )


def last_day(rule: HonorRule | ConsentRule, asked_on: date) -> date:
    """The last day on which a request, or a revocation, made on a day is still honored in time.

    The day after the request is the first. Business days are Monday to Friday without the
    holidays of the rule's calendar, observed days included.
    """
    # 47 CFR 64.1200(d)(3): 10 business days since 2025-04-11; CRTC, Part III: 14 days of the calendar.
    # 47 CFR 64.1200(a)(10): a revocation of consent is carried out in days of the same kinds.
    days = rule.parameters.max_days or 0
    if rule.parameters.day_type != "business":
        return asked_on + timedelta(days=days)
    own_calendar = rule.parameters.holiday_calendar if isinstance(rule, HonorRule) else None
    return _business_day(own_calendar or rule.jurisdiction[:2], asked_on, days)


@lru_cache(maxsize=4096)
def _business_day(country: str, after: date, days: int) -> date:
    """The last of some business days after a day."""
    at, left = after, days
    # Observed holidays of the country are no business days either.
    while left:
        at += timedelta(days=1)
        if at.weekday() < _SATURDAY and at not in _calendar(country, "", at.year):
            left -= 1
    return at


def is_known(country: str, subdiv: str = "") -> bool:
    """Whether there is a calendar of a country, and of a part of it."""
    # An unknown calendar would have no days, and so ban nothing. The library's own list would import every country.
    name = next((name for name, *codes in COUNTRIES.values() if country in codes), None)
    if name is None or not subdiv:
        return name is not None
    calendar = getattr(holidays, name)
    return subdiv in calendar.subdivisions or subdiv in calendar.get_subdivision_aliases()


def _public(parameters: HolidayParameters, year: int) -> dict[date, str]:
    """Days of a year on which calls are banned for certain."""
    days = _listed(parameters, year)
    disputed = _disputed(parameters, days)
    return {day: name for day, name in days.items() if day not in disputed}


def _disputed(parameters: HolidayParameters, days: Mapping[date, str]) -> dict[date, str]:
    """Days of which the rule says that sources disagree, with what they say."""
    disputed: dict[date, str] = {}
    for entry in parameters.disputed:
        for day, name in days.items():
            of_name = not entry.name or entry.name.casefold() in name.casefold()
            of_weekday = entry.weekday is None or _WEEKDAYS[day.weekday()] == entry.weekday
            if of_name and of_weekday:
                disputed[day] = f"{name}; sources disagree: {'; '.join(entry.sources)}"
    return disputed


def _listed(parameters: HolidayParameters, year: int) -> dict[date, str]:
    """Holidays of a year, by a statute's list or by the library, with what the rule adds and drops."""
    if parameters.statutory is not None:
        listed = statutory_calendars()[parameters.statutory].in_year(year)
        # A day that is unsettled bans nothing for certain.
        days = {day: name for day, (name, unsettled) in listed.items() if not unsettled}
    elif parameters.calendar is not None:
        days = dict(_calendar(parameters.calendar, parameters.subdiv, year, parameters.observed))
    else:
        return {}
    # Names are compared in part, so that a day and the day on which it is observed are dropped together.
    dropped = [name.casefold() for name in parameters.drop]
    days = {
        day: name
        for day, name in days.items()
        if not any(drop in name.casefold() for drop in dropped)
    }
    for added in parameters.add:
        month, number = (int(part) for part in added.day.split("-"))
        try:
            day = date(year, month, number)
        except ValueError:
            continue  # 29 February of a year without one
        days.setdefault(day, added.name)
        if added.moves and day.weekday() >= _SATURDAY:
            shift = timedelta(days=-1 if day.weekday() == _SATURDAY else 1)
            days.setdefault(day + shift, f"{added.name} (observed)")
    return days


def _partial(parameters: HolidayParameters, year: int) -> list[ClosedDay]:
    """Days on which calls may be banned: where, or why nobody can say for certain."""
    everywhere = _public(parameters, year)
    days = _disputed(parameters, _listed(parameters, year))
    if parameters.statutory is not None:
        listed = statutory_calendars()[parameters.statutory].in_year(year)
        days |= {day: f"{name}; {why}" for day, (name, why) in listed.items() if why}
    doubts = [ClosedDay(day, name) for day, name in days.items()]
    country = parameters.calendar
    if parameters.regional and country is not None:
        doubts += [
            ClosedDay(day, f"{name} in {part}", f"{country}-{part}")
            for part in _subdivisions(country)
            for day, name in _calendar(country, part, year, parameters.observed).items()
        ]
    doubts += [
        ClosedDay(day, f"{local.name} in {local.where}", f"{country}-{local.within}" if local.within else None)
        for local in parameters.local_only
        for day in _local(local, year)
    ]  # fmt: skip
    return sorted(
        (each for each in doubts if each.day not in everywhere),
        key=lambda each: (each.day, each.name),
    )


def _local(local: LocalDay, year: int) -> list[date]:
    """Days of a year on which a part of the place keeps the holiday."""
    if local.on:
        day = day_of(local.on, year)
        return [] if day is None else [day]
    dated = _calendar(local.calendar, local.subdiv, year)
    return [day for day, name in dated.items() if local.name.casefold() in name.casefold()]


@cache
def _subdivisions(country: str) -> tuple[str, ...]:
    # The library builds its list of all countries anew for each question: 3 ms.
    return tuple(holidays.list_supported_countries(include_aliases=False)[country])


@lru_cache(maxsize=4096)
def _calendar(
    country: str,
    subdiv: str,
    year: int,
    observed: bool = True,  # noqa: FBT001, FBT002 - cached
) -> Mapping[date, str]:
    calendar = holidays.country_holidays(
        country, subdiv=subdiv or None, years=year, observed=observed, language="en_US"
    )
    return dict(calendar)
