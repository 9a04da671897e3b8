"""Reads and checks the calendars that statutes write out (`calendars.toml`), and finds the days of rules by them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from importlib import resources
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from dialframe.compliance.rules import closed_days as days
from dialframe.compliance.rules.closed_days import ClosedDay, day_of
from dialframe.compliance.rules.rule_model import ConsentRule, HolidayRule, HonorRule, HoursRule

__all__ = [
    "ClosedDay", "Declared", "closed_days", "day_of", "in_parts", "is_known", "last_day", "own_hours",
    "statutory_calendars",
]  # fmt: skip


class _StatutoryDay(BaseModel):
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
    def _is_a_day(self) -> _StatutoryDay:
        if day_of(self.on, 2024) is None:
            raise ValueError(f"{self.on!r} is no day of a year, such as 01-01 or 3rd mon of jan")
        return self


class _StatutoryCalendar(BaseModel):
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
    day: tuple[_StatutoryDay, ...] = Field(strict=False)


@cache
def statutory_calendars() -> Mapping[str, Mapping[str, Any]]:
    """Calendars of `calendars.toml` by their ids, as they are written."""
    text = (resources.files("dialframe.compliance.rules") / "calendars.toml").read_text("utf-8")
    written = tomllib.loads(text)["calendar"]
    TypeAdapter(list[_StatutoryCalendar]).validate_python(written)
    return {calendar["id"]: calendar for calendar in written}


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


def closed_days(rule: HolidayRule, first: date, last: date, declared: Declared) -> list[ClosedDay]:
    """Days between two days on which the rule bans calls."""
    parameters = rule.parameters.model_dump()
    return days.closed_days(parameters, declared.of(rule.id), statutory_calendars(), first, last)


def in_parts(rule: HolidayRule) -> tuple[HolidayRule, ...]:
    """The rule, and beside it what holds in a part of its place alone, as a rule of type `regional`."""
    if not days.is_in_doubt(rule.parameters.model_dump(), statutory_calendars()):
        return (rule,)
    parts = rule.parameters.model_copy(update={"type": "regional"})
    return (rule, rule.model_copy(update={"parameters": parts}))


def own_hours(rule: HoursRule, first: date, last: date) -> Iterator[date]:
    """Days with hours of their own, in order: the eve of a holiday, or Sundays and holidays."""
    if rule.parameters.before_holiday or rule.parameters.sunday_and_holiday:
        yield from sorted(days.own_hours(rule.parameters.model_dump(), first, last))


def last_day(rule: HonorRule | ConsentRule, asked_on: date) -> date:
    """The last day on which a request, or a revocation, made on a day is still honored in time."""
    parameters = rule.parameters.model_dump()
    return days.last_day({"jurisdiction": rule.jurisdiction, "parameters": parameters}, asked_on)


def is_known(country: str, subdiv: str = "") -> bool:
    """Whether there is a calendar of a country, and of a part of it."""
    import holidays
    from holidays.registry import COUNTRIES

    # An unknown calendar would have no days, and so ban nothing. The library's own list would import every country.
    name = next((name for name, *codes in COUNTRIES.values() if country in codes), None)
    if name is None or not subdiv:
        return name is not None
    calendar = getattr(holidays, name)
    return subdiv in calendar.subdivisions or subdiv in calendar.get_subdivision_aliases()
