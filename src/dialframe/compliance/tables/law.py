"""The rules of an audit as rows: each as it is written, its days and deadlines, and which of them reach which calls.

`law_tables.sql` makes hours, limits and all that the checks read of the law from table `laws`. `rule` is a rule's id;
a part of it that holds elsewhere or at another time alone is a row of its own, its id followed by `/2`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from dialframe.compliance.practice import Practice
from dialframe.compliance.rules.calendars import (
    Declared,
    closed_days,
    in_parts,
    last_day,
    own_hours,
)
from dialframe.compliance.rules.rule_model import (
    DAYS,
    AbandonmentRule,
    ConsentRule,
    HolidayRule,
    HonorRule,
    HoursRule,
    Rule,
)
from dialframe.compliance.rules.rule_parameters import clock_words
from dialframe.compliance.tables import utc_offsets

if TYPE_CHECKING:
    from dialframe.compliance.rules.rulebook import RuleBook


@dataclass(frozen=True, slots=True)
class Row:
    """A rule, or a part of one, as it stands in the tables.

    Attributes:
        rule: Its id.
        law: What the book says.
        asked: Whether the audit asks it.
    """

    rule: str
    law: Rule
    asked: bool


class Law:
    """The rules of an audit.

    Args:
        book: The whole book; rules that are not asked are in it, so that it can be said where.
        asked: The rules that are asked.
        practice: What the firm says of its calling.
        declared: Days that were declared.
    """

    def __init__(
        self, book: RuleBook, asked: RuleBook, practice: Practice, declared: Declared
    ) -> None:
        self.practice, self.declared = practice, declared
        chosen = {rule.id for rule in asked.rules}
        both = [*asked.rules, *(rule for rule in book.rules if rule.id not in chosen)]
        # A voluntary code is asked by itself, once its firm adopted it it is none any more.
        whole = [rule for rule in both if rule.status != "voluntary_code"]
        # Hours are first in the tables, so that of rules of one grade their words are said.
        whole.sort(key=lambda rule: not isinstance(rule, HoursRule))
        parts = [
            (rule.id if number == 1 else f"{rule.id}/{number}", part, rule.id in chosen)
            for rule in whole
            for number, part in enumerate(_parts(rule), start=1)
        ]
        self.rules = [Row(*each) for each in parts]

    @cached_property
    def by_rule(self) -> dict[str, Rule]:
        """Rules, and parts of them, by their id in the tables."""
        return {each.rule: each.law for each in self.rules}

    def of_kind(self, kind: type[Any]) -> Iterator[tuple[str, Any]]:
        """Rules of one kind that are asked, by their id in the tables."""
        for each in self.rules:
            if each.asked and isinstance(each.law, kind):
                yield each.rule, each.law

    def tables(self) -> Iterator[tuple[str, Mapping[str, str], Iterable[tuple[Any, ...]]]]:
        """The tables that `law_tables.sql` stands on, and the words for hours: name, columns with their kinds, rows."""
        yield "laws", {
            "rule": "text", "place": "int", "asked": "flag", "law": "text", "doubt": "text", "parameters": "text",
            "clock_offset_s": "int",
        }, self.rows()  # fmt: skip
        # Of two declarations of one list the first counts.
        covers = {(c.registry.casefold(), c.by): c for c in reversed(self.practice.covers)}
        yield "covers", {
            "registry": "text", "consulted_by": "text", "since": "instant", "refreshed": "span",
        }, [
            (registry, by, _start(each.since) or utc_offsets.ALWAYS, timedelta(days=each.refreshed_days))
            for (registry, by), each in covers.items()
        ]  # fmt: skip
        yield "declared_rules", {"rule_id": "text"}, [(rule,) for rule in self.declared.days]
        yield (
            "hours_words",
            {"rule": "text", "weekday": "int", "words": "text", "minutes": "int"},
            [
                (rule, weekday, *_hours_in_words(law, weekday))
                for kind in (HoursRule, HolidayRule)
                for rule, law in self.of_kind(kind)
                for weekday in range(1, len(DAYS) + 1)
            ],
        )

    def rows(self) -> list[tuple[Any, ...]]:
        """Table `laws`: each rule as it is written, in JSON, with what sentences say of it."""
        return [
            (
                each.rule, place, each.asked, each.law.model_dump_json(), each.law.ceiling_reason or None,
                json.dumps(_parameters(each.law)), _fixed_offset_s(each.law),
            )
            for place, each in enumerate(self.rules)
        ]  # fmt: skip

    def special_days(
        self, first: date, last: date, reached: Collection[str]
    ) -> Iterator[tuple[str, date, bool, str, str | None]]:
        """Table `special_days`: days on which a rule is closed, or has hours of its own, and in which part of the country."""
        for rule, law in self.of_kind(HolidayRule):
            if rule in reached:
                for day, name, part in closed_days(law, first, last, self.declared):
                    yield rule, day, True, name, part
        for rule, law in self.of_kind(HoursRule):
            if rule in reached:
                for day in own_hours(law, first, last):
                    yield rule, day, False, "", None

    def deadlines(
        self, asked: Iterable[tuple[str, str, date]]
    ) -> Iterator[tuple[str, str, date, datetime]]:
        """Table `deadlines`: the last instant (UTC) at which a request or a revocation made on a local day may still be carried out.

        Args:
            asked: Rule, zone and local day of each request.
        """
        for rule, zone, day in asked:
            law = self.by_rule[rule]
            assert isinstance(law, HonorRule | ConsentRule)  # noqa: S101 - they alone set a last day
            end = last_day(law, day) + timedelta(days=1)
            midnight = datetime.combine(end, time(), utc_offsets.zone(zone)).astimezone(
                utc_offsets.zone("UTC")
            )
            yield rule, zone, day, midnight.replace(tzinfo=None) - timedelta(microseconds=1)


def _fixed_offset_s(rule: Rule) -> int | None:
    """Seconds by which the clock that a rule goes by everywhere is ahead of UTC; None where it goes by the called party's."""
    if not isinstance(rule, HoursRule) or rule.parameters.timezone is None:
        return None
    there = utc_offsets.zone(rule.parameters.timezone)
    offset = datetime(2000, 1, 1, tzinfo=there).utcoffset() or timedelta(0)
    return offset // timedelta(seconds=1)


def _parameters(rule: Rule) -> dict[str, Any]:
    """What a rule asks, and what its sentences say of that in words of their own."""
    parameters = rule.parameters.model_dump(mode="json")
    if isinstance(rule, HonorRule):
        parameters["allowed"] = rule.parameters.allowed
    if isinstance(rule, AbandonmentRule):
        parameters |= {"conditions": _conditions(rule), "rank": rule.parameters.severity}
    return parameters


def _conditions(rule: AbandonmentRule) -> str:
    """What an abandoned call's safe harbor asks beside the rate, which no data shows."""
    p = rule.parameters
    # 16 CFR 310.4(b)(4): a rate of 3% is a safe harbor with the ringing and the message alone.
    start = p.clock_starts.replace("_", " ")
    conditions = [f"the {p.seconds_to_answer} seconds" + (f" from {start}" if start else "")]
    ringing = [] if p.min_ring_seconds is None else [f"{p.min_ring_seconds} seconds"]
    ringing += [] if p.min_rings is None else [f"{p.min_rings} rings"]
    if ringing:
        conditions.append(f"the ringing of {' or '.join(ringing)}")
    if p.recorded_message_required:
        conditions.append("the recorded message")
    whether = "were" if len(conditions) > 1 or p.seconds_to_answer > 1 else "was"
    return f"whether {' and '.join(conditions)} {whether} kept is not in the data"


def _hours_in_words(rule: Rule, weekday: int) -> tuple[str, int | None]:
    """Hours of a rule on a weekday, and how many minutes they are where they are the same on it whatever else the day is."""
    if isinstance(rule, HolidayRule):
        return "the days on which calls are permitted", None
    assert isinstance(rule, HoursRule)  # noqa: S101 - no other kind has hours
    p, day = rule.parameters, DAYS[weekday - 1]
    windows = sorted((w.start, w.end) for w in p.windows if day in w.days)
    if not windows or p.before_holiday or p.sunday_and_holiday or p.timezone is not None:
        return _week(rule), None
    # A day may have two windows, as in France: 10 to 13 and 14 to 20 (décret 2022-1313).
    words = " and ".join(f"{start:%H:%M}-{clock_words(end)}" for start, end in windows)
    return words, sum(len(w.minutes) for w in p.windows if day in w.days)


def _week(rule: HoursRule) -> str:
    """All hours of a rule: `Monday to Saturday 08:00-20:00`."""
    p = rule.parameters
    parts = [
        f"{_weekdays([n for n, day in enumerate(DAYS) if day in w.days])} {w.start:%H:%M}-{clock_words(w.end)}"
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


_DAY_NAMES: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def _weekdays(numbers: Sequence[int]) -> str:
    """Days of the week in words, those that follow one another as a stretch."""
    names = [_DAY_NAMES[n] for n in numbers]
    if len(names) == len(_DAY_NAMES):
        return "every day"
    stretch = len(names) > 1 and numbers[-1] - numbers[0] == len(names) - 1
    return f"{names[0]} to {names[-1]}" if stretch else " and ".join(names)


def _parts(rule: Rule) -> tuple[Rule, ...]:
    """A rule, and beside it the part of it that holds elsewhere or at another time alone."""
    if isinstance(rule, HolidayRule):
        return in_parts(rule)
    until = rule.parameters.customer_exception_until if isinstance(rule, ConsentRule) else None
    if until is None:
        return (rule,)
    # Customers, of an established business relationship (47 CFR 64.1200(f)(5)), are excepted up to that day.
    left = tuple(each for each in rule.exemptions if each.code != "ebr")
    return (
        rule.model_copy(update={"effective_to": until}),
        rule.model_copy(update={"effective_from": until + timedelta(days=1), "exemptions": left}),
    )


def _start(day: date | None) -> datetime | None:
    """Midnight (UTC) at which a day begins."""
    return None if day is None else datetime.combine(day, time())
