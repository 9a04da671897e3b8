"""The rules of an audit as rows: their days, hours, limits, deadlines, and which of them reach which calls.

Everything that the queries know of the law is in these tables. `rule` is a rule's id; a part of it that holds
elsewhere or at another time alone is a row of its own, its id followed by `/2`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from dialframe.compliance.practice import SELLING, Practice, Setting, reach
from dialframe.compliance.rules.calendars import (
    Declared,
    closed_days,
    in_parts,
    is_regional,
    last_day,
    special_days,
)
from dialframe.compliance.rules.rule_model import (
    DAYS,
    AbandonmentRule,
    ArtificialVoiceRule,
    CallerIdRule,
    CapRule,
    ConsentRule,
    FreshnessRule,
    HolidayRule,
    HonorRule,
    HoursRule,
    RecordingRule,
    RetentionRule,
    Rule,
)
from dialframe.compliance.rules.rule_parameters import clock_words
from dialframe.compliance.tables import utc_offsets
from dialframe.phones.zones import Zones

if TYPE_CHECKING:
    from dialframe.compliance.rules.rulebook import RuleBook

#: Weekday of a row of `hours` that stands for days with hours of their own; 1 is Monday (ISO 8601).
SPECIAL: Final = 0

#: The checks that each kind of rule is asked by.
CHECKS_OF: Final[Mapping[str, tuple[str, ...]]] = {
    "calling_hours": ("calling_hours",),
    "holiday": ("calling_hours",),
    "attempt_cap": ("attempt_caps",),
    "dnc_freshness": ("scrub_at_call", "listed_number"),
    "internal_dnc": ("listed_number", "internal_dnc"),
    "abandonment_rate": ("abandonment",),
    "consent": ("consent",),
    "retention": ("records", "retention"),
    "sector_ban": ("sector_ban",),
    "recording_consent": ("recording_consent",),
    "caller_id": ("caller_id",),
    "artificial_voice": ("artificial_voice",),
}
#: The rule on the detail record of each call, 16 CFR 310.5(a)(2).
DETAIL: Final = "us-tsr-retention"
#: The weakest kind of consent that meets each wording, as a position in `CONSENT_KINDS`; 47 CFR 64.1200(f)(9)
#: defines the strongest, consent in writing.
STRENGTH: Final[Mapping[str, int]] = {
    "prior_express_written": 2, "clear_unambiguous_evidential": 2, "prior_express": 1, "express": 1,
    "specific_prior_consent": 1, "free_specific_informed_unambiguous_revocable": 1,
    "prior_consent": 1, "prior_consent_or_other_gdpr_basis": 0, "any_solicitation_basis": 0,
    "presumed": 0,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """A rule, or a part of one, as it stands in the tables.

    Attributes:
        rule: Its id.
        law: What the book says.
        check: The check that asks it, where its kind alone does not say: `emergency`.
        asked: Whether the audit asks it.
    """

    rule: str
    law: Rule
    check: str
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
        self.rules = [Row(rule_, part, _check(part), is_asked) for rule_, part, is_asked in parts]

    @cached_property
    def by_rule(self) -> dict[str, Rule]:
        """Rules, and parts of them, by their id in the tables."""
        return {each.rule: each.law for each in self.rules}

    @cached_property
    def _by_place(self) -> Mapping[str, list[Row]]:
        by_place: dict[str, list[Row]] = {}
        for each in self.rules:
            by_place.setdefault(each.law.jurisdiction, []).append(each)
        return by_place

    def of_kind(self, kind: type[Any]) -> Iterator[tuple[str, Any]]:
        """Rules of one kind that are asked, by their id in the tables."""
        for each in self.rules:
            if each.asked and isinstance(each.law, kind):
                yield each.rule, each.law

    def lifting_windows(self) -> list[tuple[str, int, str]]:
        """Table `lifting_windows`: codes of records that lift a rule for so many days, and the code of such a record."""
        return sorted(
            {
                (each.code, each.within_days, each.key)
                for numbered in self.rules
                for each in numbered.law.exemptions
                if each.within_days is not None
            }
        )

    def tables(self) -> Iterator[tuple[str, Mapping[str, str], Iterable[tuple[Any, ...]]]]:
        """The tables of rules that do not depend on the calls: name, columns with their kinds, rows."""
        yield "rules", {
            "rule": "text", "place": "int", "rule_id": "text", "kind": "text", "title": "text", "jurisdiction": "text",
            "citation": "text", "quotation": "text", "asked": "flag", "regional": "flag", "effective_from": "day",
            "effective_to": "day", "weak": "flag", "doubt": "text", "exposure": "text", "parameters": "text",
            "relies_on_area_code": "flag",
        }, self._rows()  # fmt: skip
        yield "asked_by", {"rule": "text", "check_name": "text"}, self._asked_by()
        yield (
            "hours",
            {"rule": "text", "weekday": "int", "opens": "time", "closes": "time"},
            self._hours(),
        )
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
        yield "fixed_clocks", {"rule": "text", "utc_offset": "span"}, self._fixed_clocks()
        yield "cap_limits", {
            "rule": "text", "limit_no": "int", "health": "flag", "how": "text", "length": "span", "days": "int",
            "most": "int", "by_subject": "flag", "within": "text",
        }, self._cap_limits()  # fmt: skip
        for name, kind, columns, row in _BY_KIND:
            rows = [(rule, *row(law, self)) for rule, law in self.of_kind(kind)]
            yield name, {"rule": "text", **columns}, rows
        # The file of declared days speaks of an emergency, or nobody knows of one.
        yield (
            "emergency_rules",
            {"rule": "text", "declared": "flag", "in_part": "flag"},
            [
                (rule, self.declared.has(law.id), bool(law.parameters.area))
                for rule, law in self.of_kind(HolidayRule)
                if law.parameters.type == "emergency_ban"
            ],
        )
        # A period of law begins when a rule does, or on the day after one ended.
        turns = {r.law.effective_from for r in self.rules if r.law.effective_from is not None}
        turns |= {
            r.law.effective_to + timedelta(days=1)
            for r in self.rules
            if r.law.effective_to is not None
        }
        periods = enumerate([date(1, 1, 1), *sorted(turns)])
        yield "periods", {"period": "int", "starts_on": "day"}, periods

    def _rows(self) -> list[tuple[Any, ...]]:
        """Table `rules`."""
        return [
            (
                each.rule, place, each.law.id, each.law.kind, each.law.title, each.law.jurisdiction,
                each.law.citation, each.law.quotation, each.asked, is_regional(each.law), each.law.effective_from,
                each.law.effective_to, each.law.confidence == "low", each.law.ceiling_reason or None,
                each.law.exposure, json.dumps(_parameters(each.law)),
                bool(getattr(each.law.parameters, "area_code_reliance", False)),
            )
            for place, each in enumerate(self.rules)
        ]  # fmt: skip

    def reaching(
        self, circumstance: int, zones: Zones, setting: Setting
    ) -> Iterator[tuple[Any, ...]]:
        """Rows of `circumstance_rules`: the rules that reach calls of circumstances, or that a record lifts for them."""
        bare = replace(setting, lifted=frozenset())
        # Where the called number may be, and where the callers sit, each place once.
        ends = dict.fromkeys((region, False) for region in zones.regions)
        callers = [part for place in self.practice.callers_in for part in (place[:2], place)]
        ends |= {(place, True): None for place in callers if (place, False) not in ends}
        for region, callers_alone in ends:
            for each in self._by_place.get(region, ()):
                # A recording binds by the law of the caller's end too; other rules ask for the called one.
                if callers_alone and getattr(each.law.parameters, "ends", "") != "both":
                    continue
                # A rule that a record lifts is kept, so that its exemption can be named.
                certain, missing = reach(each.law, setting)
                lifted = False
                if not certain and setting.lifted:
                    lifted, missing = reach(each.law, bare)
                if not certain and not lifted:
                    continue
                doubtful = region in zones.doubtful and not getattr(
                    each.law.parameters, "area_code_presumption", False
                )
                # Which of several rooms a call came from nobody says.
                doubtful = doubtful or (callers_alone and len(self.practice.callers_in) > 1)
                required, proof = _consent_required(each.law, setting)
                yield (
                    circumstance, each.rule, lifted, missing,
                    doubtful or is_regional(each.law) or bool(each.law.ceiling_reason),
                    required, proof,
                )  # fmt: skip

    def _hours(self) -> Iterator[tuple[str, int, str, str]]:
        """Table `hours`: for each rule and weekday (1 is Monday) the times between which calls may start."""
        for rule, law in self.of_kind(HoursRule):
            p = law.parameters
            for number, day in enumerate(DAYS, start=1):
                for start, end in sorted((w.start, w.end) for w in p.windows if day in w.days):
                    yield rule, number, *_span(start, end)
            other = p.before_holiday or p.sunday_and_holiday
            if other is not None:
                yield rule, SPECIAL, *_span(other.start, other.end)
        # A holiday rule is open all day on days that it does not close.
        for rule, law in self.of_kind(HolidayRule):
            if law.parameters.type != "emergency_ban":
                for number in range(1, len(DAYS) + 1):
                    yield rule, number, *_span(time(), time())

    def _fixed_clocks(self) -> Iterator[tuple[str, timedelta]]:
        """Table `fixed_clocks`: rules that go by one clock wherever the called party is."""
        for rule, law in self.of_kind(HoursRule):
            if law.parameters.timezone is not None:
                there = utc_offsets.zone(law.parameters.timezone)
                yield rule, datetime(2000, 1, 1, tzinfo=there).utcoffset() or timedelta(0)

    def special_days(
        self, first: date, last: date, reached: Collection[str]
    ) -> Iterator[tuple[str, date, bool, str]]:
        """Table `special_days`: days on which a rule is closed, or has hours of its own."""
        for rule, law in self.of_kind(HolidayRule):
            if rule in reached:
                for day, name in closed_days(law, first, last, self.declared).items():
                    yield rule, day, True, name
        for rule, law in self.of_kind(HoursRule):
            if rule in reached:
                for day in sorted(set(_own_hours(law, first, last))):
                    yield rule, day, False, ""

    def _asked_by(self) -> Iterator[tuple[str, str]]:
        """Table `asked_by`: the checks that a rule would be asked by."""
        for each in self.rules:
            names = ("emergency",) if each.check == "emergency" else CHECKS_OF[each.law.kind]
            if each.law.kind == "retention" and each.law.id != DETAIL:
                names = ("retention",)
            for name in names:
                yield each.rule, name

    def _cap_limits(self) -> Iterator[tuple[Any, ...]]:
        """Table `cap_limits`: how many attempts a cap allows in which window, and to which calls it speaks."""
        for rule, law in self.of_kind(CapRule):
            p = law.parameters
            # A cap that follows an event counts nothing: `caps` has its hours.
            if p.trigger is not None:
                continue
            rolling = p.window_type == "rolling"
            by_subject = p.subject_proxy is not None
            health = None if p.hipaa_max_per_day is None else False
            yield (
                rule, 0, health, "hours" if rolling else "days", _length(law), p.window_days or 1,
                p.max_attempts, by_subject, _window_words(law),
            )  # fmt: skip
            if health is None:
                continue
            for number, days, most, within in (
                (1, 1, p.hipaa_max_per_day, "one day, for messages on health"),
                (2, 7, p.hipaa_max_per_week, "7 consecutive days, for messages on health"),
            ):
                yield rule, number, True, "days", timedelta(days=days), days, most, False, within

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


def _cap(rule: CapRule, _: Law) -> tuple[Any, ...]:
    p = rule.parameters
    words = f"{_window_words(rule)} of {EVENTS[p.trigger]}" if p.trigger else ""
    return p.max_attempts, _length(rule), p.trigger, p.cooldown_after_conversation_days, words


def _registry(rule: FreshnessRule, law: Law) -> tuple[Any, ...]:
    """What a rule on a list asks, and what the firm declared of the service's check and screen."""
    p = rule.parameters
    check, screen = (law.practice.cover(p.registry, by) for by in ("check", "screen"))
    return (
        p.registry, p.check, timedelta(days=p.max_age_days),
        p.basis == "quarter_of_call", timedelta(days=p.listed_grace_days),
        None if check is None else _start(check.since) or utc_offsets.ALWAYS,
        None if check is None else timedelta(days=check.refreshed_days),
        None if screen is None else _start(screen.since) or utc_offsets.ALWAYS,
    )  # fmt: skip


def _request(rule: HonorRule, _: Law) -> tuple[Any, ...]:
    """For how long a request not to be called binds."""
    p = rule.parameters
    days = p.cooldown_days or p.honor_days
    return p.max_days > 0, _days(days), p.honor_years if days is None else None


def _consent(rule: ConsentRule, _: Law) -> tuple[Any, ...]:
    p = rule.parameters
    return (
        p.check, p.waived_by_check, _start(p.revoke_all_waived_until, after=True),
        _days(p.aging_days), timedelta(days=p.refresh_days or 30),
        p.safe_harbour_response or "no", p.mandatory, timedelta(days=p.grace_days or 0),
        p.max_consent_age_years, _start(p.max_consent_age_from),
    )  # fmt: skip


#: Tables with one row for each rule of a kind: name, kind, columns behind the rule's number, their values.
_BY_KIND: Final[Sequence[
    tuple[str, type[Any], Mapping[str, str], Callable[[Any, Law], tuple[Any, ...]]]
]] = (
    ("caps", CapRule,
     {"most": "int", "length": "span", "trigger": "text", "cooldown_days": "int", "within": "text"}, _cap),
    ("registries", FreshnessRule,
     {"registry": "text", "asks": "text", "max_age": "span", "by_quarter": "flag", "listed_grace": "span",
      "check_since": "instant", "refreshed": "span", "screen_since": "instant"}, _registry),
    ("request_rules", HonorRule, {"has_days": "flag", "binds_for": "span", "binds_years": "int"}, _request),
    ("abandonment_rules", AbandonmentRule,
     {"max_rate": "number", "comparison": "text", "period_type": "text", "period_days": "int",
      "scope": "text", "by_live_calls": "flag", "safe_harbour": "flag"},
     lambda rule, _: (
         (p := rule.parameters).max_rate, p.comparison, p.period_type, p.period_days or 0,
         p.scope, p.denominator == "live_calls", p.safe_harbour)),
    ("consent_rules", ConsentRule,
     {"asks": "text", "waived_by_check": "flag", "waived_until": "instant", "aging": "span",
      "refresh": "span", "safe_response": "text", "mandatory": "flag", "grace": "span",
      "max_age_years": "int", "max_age_from": "instant"}, _consent),
    # Whose consent a recording needs, and whether an announcement gets it.
    ("recording_rules", RecordingRule, {"all_parties": "flag", "by_announcement": "flag"},
     lambda rule, _: (rule.parameters.consent == "all_parties", rule.parameters.announcement)),
    ("caller_id_rules", CallerIdRule,
     {"shown": "flag", "own": "flag", "valid": "flag", "not_called_party": "flag"},
     lambda rule, _: ((p := rule.parameters).shown, p.own, p.valid, p.not_called_party)),
    # Whether an artificial voice is disclosed, unasked or not, and the consent that it needs.
    ("voice_rules", ArtificialVoiceRule, {"disclosure": "flag", "on_request": "flag", "required": "int"},
     lambda rule, _: ((p := rule.parameters).disclosure, p.on_request, STRENGTH.get(p.required))),
    # The detail record of each call is a check of its own.
    ("retention_rules", RetentionRule, {"years": "int", "is_detail": "flag"},
     lambda rule, _: (rule.parameters.years, rule.id == DETAIL)),
)  # fmt: skip

#: What a cap follows, in words.
EVENTS: Final[Mapping[str, str]] = {
    "abandoned": "a call that was dropped",
    "machine": "a call that a machine was said to answer",
}


def _length(rule: CapRule) -> timedelta:
    p = rule.parameters
    return timedelta(hours=p.window_hours or 24 * (p.window_days or 1))


def _window_words(rule: CapRule) -> str:
    p = rule.parameters
    if p.window_hours is not None:
        return f"{p.window_hours} hours"
    if p.window_type == "calendar_day":
        return "one day by the called party's date"
    return (
        f"{p.window_days} {'consecutive days' if p.window_type == 'consecutive_days' else 'days'}"
    )


def _span(start: time, end: time) -> tuple[str, str]:
    """Hours as SQL reads them: midnight at the end is that of the next day."""
    return start.isoformat(), end.isoformat() if end != time() else "24:00:00"


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
    # 16 CFR 310.4(b)(4): a rate of 3 % is a safe harbor with the ringing and the message alone.
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


def _check(rule: Rule) -> str:
    if isinstance(rule, HolidayRule) and rule.parameters.type == "emergency_ban":
        return "emergency"
    return CHECKS_OF.get(rule.kind, ("",))[0]


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


def _consent_required(rule: Rule, setting: Setting) -> tuple[int | None, str]:
    """The kind of consent that a rule asks of a situation, as a strength and by name."""
    if not isinstance(rule, ConsentRule) or rule.parameters.check != "consent_before_call":
        return None, ""
    p = rule.parameters
    kind = p.required
    if p.required_b2b and setting.line_type == "business":
        kind = p.required_b2b  # type: ignore[assignment]
    elif p.required_non_marketing and setting.purpose not in SELLING:
        kind = p.required_non_marketing
    return STRENGTH[kind], kind


def _own_hours(rule: HoursRule, first: date, last: date) -> Iterator[date]:
    """Days with hours of their own: the eve of a holiday, or Sundays and holidays."""
    before, both = rule.parameters.before_holiday, rule.parameters.sunday_and_holiday
    if before is not None:
        eves = (day - timedelta(days=1) for day in special_days(before, first, last))
        open_eves = (e for e in eves if DAYS[e.weekday()] not in rule.parameters.closed_days)
        yield from (e for e in open_eves if first <= e <= last)
    if both is not None:
        every = (first + timedelta(days=shift) for shift in range((last - first).days + 1))
        yield from (day for day in every if day.weekday() == len(DAYS) - 1)
        yield from (d for d in special_days(both, first, last) if first <= d <= last)


def _start(day: date | None, *, after: bool = False) -> datetime | None:
    """Midnight (UTC) at which a day begins, or ends."""
    if day is None:
        return None
    return datetime.combine(day, time()) + timedelta(days=1 if after else 0)


def _days(number: int | None) -> timedelta | None:
    return None if number is None else timedelta(days=number)
