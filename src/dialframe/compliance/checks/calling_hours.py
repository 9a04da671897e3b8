"""Calling hours and holidays in words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any, Final

import pandas as pd

from dialframe.compliance.checks.check_results import Check, View, basic_words
from dialframe.compliance.rules.rule_model import DAYS, HolidayRule, HoursRule, Rule
from dialframe.compliance.rules.rule_parameters import clock_words
from dialframe.compliance.tables import FRAMES

COLUMNS: Final = FRAMES["calling_hours"]

_OPEN, _UNCERTAIN = 2, 3
_DAY_NAMES: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def words(rows: pd.DataFrame, view: View) -> pd.DataFrame:
    """Why each call is graded so, in the hours of the rule that decides."""
    # Thousands of calls of one hour and place share their words.
    memory: dict[tuple[Any, ...], str] = {}
    reasons = []
    columns = ["rules", "severity", "zones_inside", "zones_outside", "doubtful", "holidays",
               "place_reason", "regions", "lifted"]  # fmt: skip
    for row, times in zip(
        rows[columns].itertuples(index=False, name=None), rows["local_times"], strict=True
    ):
        day = date.fromisoformat(times[:10]).weekday() if isinstance(times, str) else None
        key = (*row, day)
        if key not in memory:
            memory[key] = _reason(view, *key)
        reasons.append(memory[key])
    worded = rows.assign(
        reason=pd.Series(reasons, index=rows.index, dtype="object"), evidence=rows["zone_source"]
    )
    worded = basic_words(worded)
    # The customer may have asked for the call: the callback is named, and the grade stays.
    due = view.frame("""
        select c.call, d.callback, d.scheduled_at
        from (select call, campaign_id, phone, at_utc from calls where graded and missing_input is null) c
        asof join due_callbacks d on d.campaign_id = c.campaign_id and d.phone = c.phone and c.at_utc >= d.opens_at
        where c.at_utc <= d.scheduled_at + interval 60 minute""")
    if len(due):
        named = due.set_index("call")
        hit = worded["call"].isin(named.index) & (worded["severity"] >= _UNCERTAIN)
        due_calls = named.loc[worded.loc[hit, "call"]]
        times = due_calls["scheduled_at"].dt.strftime("%Y-%m-%dT%H:%M:%SZ")
        candidates = (
            "; exempt candidate: callback " + due_calls["callback"] + " was due at " + times
        ).to_numpy()
        worded.loc[hit, "reason"] = worded.loc[hit, "reason"] + candidates
    return worded


CHECK: Final = Check("calling_hours", words=words, grouped=True)


def _reason(
    view: View, numbers: tuple[int, ...], severity: int, inside: tuple[str, ...],
    outside: tuple[str, ...], doubtful: bool, holidays: tuple[str, ...],  # noqa: FBT001
    place_reason: Any, regions: tuple[str, ...], lifted: tuple[str, ...], day: int | None,
) -> str:  # fmt: skip
    codes = ", ".join(sorted(lifted))
    # No rule decides: either none was in force, or a record lifts those that were.
    if not numbers:
        if day is None:
            known = isinstance(place_reason, str) and place_reason
            return str(place_reason) if known else "the number has no time zone"
        if severity == 0:
            return f"exempt by record: {codes}"
        where = " and ".join(regions) or "an unknown country"
        return (
            f"the rules asked have none on calling hours for {where} that was in force on that day"
        )
    rules = view.law.named(numbers)
    parts = [_where(severity, _hours(rules, severity, day), inside, outside)]
    # What is missing stands in a column of its own.
    if severity == _OPEN:
        parts[0] += ", if the rule reaches the call"
    elif any(isinstance(r, HoursRule) and r.parameters.area_code_reliance for r in rules):
        parts.append("a caller may rely on the area code of a mobile number")
    if severity == _UNCERTAIN and doubtful:
        parts.append(_doubt(view.law.by_number[int(numbers[0])], inside, holidays))
    if severity > 1:
        parts.append(", ".join(holidays))
    parts.append(place_reason if isinstance(place_reason, str) else "")
    if codes:
        parts.append(f"a record shows {codes}: rules that name it were left out, no others")
    return "; ".join(part for part in parts if part)


def _doubt(law: Rule, inside: tuple[str, ...], holidays: tuple[str, ...]) -> str:
    """Why a call outside the hours is no violation for certain."""
    if isinstance(law, HolidayRule) and law.parameters.type == "regional":
        # A day that sources dispute comes with what they say behind its name.
        if any("; " in name for name in holidays):
            return "it is not settled whether calls are banned on that day"
        return f"a holiday in a part of {law.jurisdiction} alone"
    return law.ceiling_reason or ("" if inside else "only the area code speaks for that state")


def _where(severity: int, hours: str, inside: Sequence[str], outside: Sequence[str]) -> str:
    if inside and outside:
        return f"inside {hours} in {', '.join(inside)}, outside in {', '.join(outside)}"
    zones = [*inside, *outside]
    where = zones[0] if len(zones) == 1 else "every candidate zone"
    return f"{'outside' if severity > 1 and not inside else 'inside'} {hours} in {where}"


def _hours(rules: Sequence[Rule], severity: int, day: int | None) -> str:
    """Hours of the rule that decides: the first of the worst, the narrowest of those that are kept."""
    # A kept call names the narrowest hours that it kept: those would have been broken first.
    if severity <= 1:
        spans = [
            (length, text)
            for rule in rules
            if (length := _length(rule, day)) and (text := _span(rule, day))
        ]
        if spans:
            return min(spans)[1]
    rule = rules[0]
    if isinstance(rule, HolidayRule):
        return "the days on which calls are permitted"
    if not isinstance(rule, HoursRule):
        return "the permitted hours"
    return _span(rule, day) or _week(rule)


def _week(rule: HoursRule) -> str:
    """All hours of a rule: `Monday to Saturday 08:00-20:00`."""
    p = rule.parameters
    parts = [
        f"{_days([n for n, day in enumerate(DAYS) if day in w.days])} {w.start:%H:%M}-{clock_words(w.end)}"
        for w in p.windows
    ]
    for when, other in (
        ("before a holiday", p.before_holiday),
        ("Sundays and holidays", p.sunday_and_holiday),
    ):
        if other is not None:
            source = f" by {other.citation}" if other.citation else ""
            parts.append(f"{when} {other.start:%H:%M}-{clock_words(other.end)}{source}")
    clock = f" by the clock of {p.timezone}" if p.timezone is not None else ""
    return ", ".join(parts) + clock


def _days(numbers: Sequence[int]) -> str:
    """Days of the week in words, those that follow one another as a stretch."""
    names = [_DAY_NAMES[n] for n in numbers]
    if len(names) == len(_DAY_NAMES):
        return "every day"
    stretch = len(names) > 1 and numbers[-1] - numbers[0] == len(names) - 1
    return f"{names[0]} to {names[-1]}" if stretch else " and ".join(names)


def _span(rule: Rule, day: int | None) -> str:
    """Hours of a rule on a weekday, where they are the same on it whatever else the day is."""
    if not isinstance(rule, HoursRule) or day is None:
        return ""
    p = rule.parameters
    if p.before_holiday is not None or p.sunday_and_holiday is not None or p.timezone is not None:
        return ""
    # A day may have two windows, as in France: 10 to 13 and 14 to 20 (décret 2022-1313).
    windows = sorted((w.start, w.end) for w in p.windows if DAYS[day] in w.days)
    return " and ".join(f"{start:%H:%M}-{clock_words(end)}" for start, end in windows)


def _length(rule: Rule, day: int | None) -> int:
    if not isinstance(rule, HoursRule) or day is None:
        return 0
    return sum(len(w.minutes) for w in rule.parameters.windows if DAYS[day] in w.days)
