"""Until when a request not to be called may still be carried out, by the rules of the place; knows no calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

import pandas as pd

from dialframe.compliance.calendars import last_day
from dialframe.compliance.cases import Case, reached
from dialframe.compliance.facts import HonourRule

_YEAR_DAYS: Final = 365.25


@dataclass(frozen=True, slots=True)
class Span:
    """When calls break one rule on requests.

    Attributes:
        rule: The rule; None where no rule of those asked speaks of requests.
        starts_at: Calls later than this do.
        ends_at: Up to here; None: for good.
        days: Days that the rule allows, in words.
    """

    rule: HonourRule | None
    starts_at: datetime
    ends_at: datetime | None
    days: str


def spans(case: Case, rules: Sequence[HonourRule], asked_at: datetime) -> tuple[Span, ...]:
    """The spans that follow a request, one per rule that was in force on its day.

    The day of the request is the called party's; where several zones are possible the latest end
    counts, so that no call is called late that is not late in all of them.
    """
    own = [each.rule for each in reached(case, rules) if isinstance(each.rule, HonourRule)]
    return spans_of(case, own, asked_at)


def spans_of(case: Case, rules: Sequence[HonourRule], asked_at: datetime) -> tuple[Span, ...]:
    """The same for rules that are known to reach the case."""
    zones = [ZoneInfo(name) for name in case.zones.names] or [ZoneInfo("UTC")]
    found = []
    for rule in rules:
        days = [asked_at.astimezone(zone).date() for zone in zones]
        if any(rule.holds_on(day) for day in days):
            found.append(_span(rule, asked_at, zones))
    return tuple(found)


def _span(rule: HonourRule, asked_at: datetime, zones: Sequence[ZoneInfo]) -> Span:
    p = rule.parameters
    starts = asked_at
    if p.max_days:
        starts = max(
            datetime.combine(
                last_day(rule, asked_at.astimezone(zone).date()) + timedelta(days=1), time(), zone
            )
            for zone in zones
        ) - timedelta(microseconds=1)
    kept: timedelta | None = None
    if p.cooldown_days is not None:
        kept = timedelta(days=p.cooldown_days)
    elif p.honour_days is not None:
        kept = timedelta(days=p.honour_days)
    elif p.honour_years is not None:
        kept = timedelta(days=p.honour_years * _YEAR_DAYS)
    words = f"{p.max_days} {p.day_type} days" if p.max_days else "no grace"
    if p.until_withdrawn:
        words += " until it is withdrawn"
    if p.scope:
        words += f", for {p.scope}"
    if p.affiliates:
        words += f", for affiliates {p.affiliates}"
    at = pd.Timestamp(starts).tz_convert("UTC").to_pydatetime()
    return Span(rule, at, None if kept is None else asked_at + kept, words)
