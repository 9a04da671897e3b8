"""Days on which the law keeps holiday, and the last day of a number of business days; knows no calls.

A public calendar is not the legal list: what a rule adds and drops is laid on top, and days that
nobody can know in advance (a governor's proclamation, an emergency) come from a file of the firm.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cache, lru_cache
from typing import Final

import holidays
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from dialframe.compliance import places
from dialframe.compliance.facts import HolidayRule, HonourRule
from dialframe.compliance.parameters import HolidayParameters, SpecialWindow
from dialframe.errors import ConfigError

_EPOCH: Final = date(1970, 1, 1)
_SATURDAY: Final = 5


@dataclass(frozen=True, slots=True)
class Declared:
    """Days that were declared, from a firm's file.

    Attributes:
        days: Rule id to the days on which it bans calls, with what was declared.
    """

    days: Mapping[str, Mapping[date, str]] = field(default_factory=dict)

    def of(self, rule_id: str) -> Mapping[date, str]:
        """Days of one rule."""
        return self.days.get(rule_id, {})

    def has(self, rule_id: str) -> bool:
        """Whether the file speaks of the rule at all; without it nobody knows of an emergency."""
        return rule_id in self.days


class _Spell(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    rule: str
    first: date | None = Field(default=None)
    last: date | None = Field(default=None)
    what: str = ""
    none_until: date | None = None

    @model_validator(mode="after")
    def _forward(self) -> _Spell:
        if self.last is not None and (self.first is None or self.last < self.first):
            raise ValueError("a spell ends on or after its first day")
        return self


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    declared: tuple[_Spell, ...] = Field(strict=False)


_FILE: Final = TypeAdapter(_File)


def read_declared(text: str, *, name: str = "file of declared days") -> Declared:
    """Declared days from TOML text: `[[declared]]` with `rule`, `first`, `last`, `what`.

    Raises:
        ConfigError: The text is not TOML, misses a field, has an unknown one, or ends a spell
            before it begins; the line is named.
    """
    try:
        given = _FILE.validate_python(tomllib.loads(text)).declared
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{name}: not valid TOML ({error}); correct the text") from error
    except ValidationError as error:
        raise ConfigError(places.first_problem(error, text, name)) from error
    found: dict[str, dict[date, str]] = {}
    for spell in given:
        days = found.setdefault(spell.rule, {})
        if spell.first is None:
            continue
        last = spell.last or spell.first
        for shift in range((last - spell.first).days + 1):
            days[spell.first + timedelta(days=shift)] = spell.what
    return Declared(found)


def closed_days(rule: HolidayRule, first: date, last: date, declared: Declared) -> dict[date, str]:
    """Days between two days on which the rule bans calls, with their names."""
    parameters = rule.parameters
    years = range(first.year, last.year + 1)
    given: dict[date, str] = {}
    if parameters.type == "regional":
        for year in years:
            given |= _partial(parameters, year)
    else:
        given |= declared.of(rule.id)
    if parameters.type == "no_calls":
        for year in years:
            given |= _public(parameters, year)
    return {day: name for day, name in given.items() if first <= day <= last}


def in_parts(rule: HolidayRule) -> tuple[HolidayRule, ...]:
    """The rule, and beside it what holds in a part of its place alone, as a rule of type `regional`."""
    parameters = rule.parameters
    if parameters.type != "no_calls" or not (parameters.regional or parameters.local_only):
        return (rule,)
    parts = parameters.model_copy(update={"type": "regional"})
    return (rule, rule.model_copy(update={"parameters": parts}))


def is_regional(rule: object) -> bool:
    """Whether a rule closes days of which nobody knows whether they are a holiday where the number is."""
    return isinstance(rule, HolidayRule) and rule.parameters.type == "regional"


def special_days(window: SpecialWindow, first: date, last: date) -> frozenset[date]:
    """Public holidays that a window of special hours goes by."""
    years = range(first.year, last.year + 2)
    return frozenset(
        day for year in years for day in _calendar(window.calendar, window.subdiv, year)
    )


def last_day(rule: HonourRule, asked_on: date) -> date:
    """The last day on which a request made on a day is still honoured in time.

    The day after the request is the first. Business days are Monday to Friday without the
    holidays of the rule's calendar, observed days included.
    """
    days = rule.parameters.max_days
    if rule.parameters.day_type != "business":
        return asked_on + timedelta(days=days)
    return _business_day(rule.parameters.holiday_calendar or rule.jurisdiction[:2], asked_on, days)


@lru_cache(maxsize=4096)
def _business_day(country: str, after: date, days: int) -> date:
    """The last of some business days after a day."""
    at, left = after, days
    while left:
        at += timedelta(days=1)
        if at.weekday() < _SATURDAY and at not in _calendar(country, "", at.year):
            left -= 1
    return at


def is_known(country: str, subdiv: str = "") -> bool:
    """Whether there is a calendar of a country, and of a part of it."""
    known = holidays.list_supported_countries(include_aliases=True)
    return country in known and (not subdiv or subdiv in known[country])


def ordinal(day: date) -> int:
    """Days since 1970-01-01."""
    return (day - _EPOCH).days


def _public(parameters: HolidayParameters, year: int) -> dict[date, str]:
    if parameters.calendar is None:
        return {}
    found = dict(_calendar(parameters.calendar, parameters.subdiv, year, parameters.observed))
    dropped = [name.casefold() for name in parameters.drop]
    found = {
        day: name
        for day, name in found.items()
        if not any(drop in name.casefold() for drop in dropped)
    }
    for added in parameters.add:
        month, number = (int(part) for part in added.day.split("-"))
        try:
            day = date(year, month, number)
        except ValueError:
            continue  # 29 February of a year without one
        found.setdefault(day, added.name)
        if added.moves and day.weekday() >= _SATURDAY:
            shift = timedelta(days=-1 if day.weekday() == _SATURDAY else 1)
            found.setdefault(day + shift, f"{added.name} (observed)")
    return found


def _partial(parameters: HolidayParameters, year: int) -> dict[date, str]:
    """Days that are holidays in a part of the place and not in all of it, with where."""
    if parameters.calendar is None:
        return {}
    everywhere = _public(parameters, year)
    found: dict[date, str] = {}
    if parameters.regional:
        country = parameters.calendar
        for part in _subdivisions(country):
            for day, name in _calendar(country, part, year, parameters.observed).items():
                found[day] = f"{found[day]}, {part}" if day in found else f"{name} in {part}"
    for local in parameters.local_only:
        for day, name in _calendar(local.calendar, local.subdiv, year).items():
            if local.name.casefold() in name.casefold():
                found[day] = f"{local.name} in {local.where}"
    return {day: name for day, name in sorted(found.items()) if day not in everywhere}


@cache
def _subdivisions(country: str) -> tuple[str, ...]:
    return tuple(holidays.list_supported_countries(include_aliases=False)[country])


@lru_cache(maxsize=4096)
def _calendar(
    country: str,
    subdiv: str,
    year: int,
    observed: bool = True,  # noqa: FBT001, FBT002 - cached
) -> Mapping[date, str]:
    found = holidays.country_holidays(
        country, subdiv=subdiv or None, years=year, observed=observed, language="en_US"
    )
    return dict(found)
