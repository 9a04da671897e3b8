"""The rules of an audit as rows: their numbers, days, windows, limits, deadlines, and which of them reach which calls.

Everything that the queries know of the law is in these tables. A rule has a number (`rule`), and a
holiday that holds in a part of its place alone is a rule number of its own with `regional` set.
"""

from __future__ import annotations

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
from dialframe.compliance.tables import utc_offsets
from dialframe.phones.zones import Zones

if TYPE_CHECKING:
    from dialframe.compliance.rules.rulebook import RuleBook

DAY_US: Final = 86_400_000_000
#: Weekday of a row of `windows` that stands for days with hours of their own.
SPECIAL: Final = 7

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
class Numbered:
    """A rule with its number in the tables.

    Attributes:
        rule: The number.
        law: What the book says.
        check: The check that asks it, where its kind alone does not say: `emergency`.
        asked: Whether the audit asks it.
    """

    rule: int
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
        parts = [(part, rule.id in chosen) for rule in whole for part in _parts(rule)]
        self.rules = [
            Numbered(number, rule, _check(rule), is_asked)
            for number, (rule, is_asked) in enumerate(parts)
        ]

    @cached_property
    def by_number(self) -> dict[int, Rule]:
        """Rules by their number."""
        return {each.rule: each.law for each in self.rules}

    def named(self, numbers: Iterable[int] | None) -> list[Rule]:
        """Rules by their numbers, each id once."""
        rules: dict[str, Rule] = {}
        for number in numbers if numbers is not None else ():
            rule = self.by_number[int(number)]
            rules.setdefault(rule.id, rule)
        return list(rules.values())

    @cached_property
    def _by_place(self) -> Mapping[str, list[Numbered]]:
        by_place: dict[str, list[Numbered]] = {}
        for each in self.rules:
            by_place.setdefault(each.law.jurisdiction, []).append(each)
        return by_place

    def of_kind(self, kind: type[Any]) -> Iterator[tuple[int, Any]]:
        """Numbers and rules of one kind that are asked."""
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
            "rule": "int", "rule_id": "text", "kind": "text", "check_name": "text", "jurisdiction": "text",
            "citation": "text", "asked": "flag", "regional": "flag", "effective_from": "day", "effective_to": "day",
            "weak": "flag",
        }, self._rows()  # fmt: skip
        yield "asked_by", {"rule": "int", "check_name": "text"}, self._asked_by()
        yield "windows", {"rule": "int", "weekday": "int", "spans": "spans"}, self._windows()
        yield "fixed_clocks", {"rule": "int", "offset_us": "int"}, self._fixed_clocks()
        yield "cap_limits", {
            "rule": "int", "limit_no": "int", "health": "flag", "how": "text", "length": "span", "days": "int",
            "most": "int", "by_subject": "flag", "within": "text",
        }, self._cap_limits()  # fmt: skip
        for name, kind, columns, row in _BY_KIND:
            rows = [(rule, *row(law, self)) for rule, law in self.of_kind(kind)]
            yield name, {"rule": "int", **columns}, rows
        # The file of declared days speaks of an emergency, or nobody knows of one.
        yield (
            "emergency_rules",
            {"rule": "int", "declared": "flag", "in_part": "flag"},
            [
                (rule, self.declared.has(law.id), bool(law.parameters.area))
                for rule, law in self.of_kind(HolidayRule)
                if law.parameters.type == "emergency_ban"
            ],
        )
        # A stretch of law begins when a rule does, or on the day after one ended.
        turns = {r.law.effective_from for r in self.rules if r.law.effective_from is not None}
        turns |= {
            r.law.effective_to + timedelta(days=1)
            for r in self.rules
            if r.law.effective_to is not None
        }
        stretches = enumerate([date(1, 1, 1), *sorted(turns)])
        yield "turns", {"stretch": "int", "starts_on": "day"}, stretches

    def _rows(self) -> list[tuple[Any, ...]]:
        """Table `rules`."""
        return [
            (
                each.rule, each.law.id, each.law.kind, each.check, each.law.jurisdiction,
                each.law.citation, each.asked, is_regional(each.law),
                each.law.effective_from, each.law.effective_to, each.law.confidence == "low",
            )
            for each in self.rules
        ]  # fmt: skip

    def reaching(
        self, situation: int, zones: Zones, setting: Setting
    ) -> Iterator[tuple[Any, ...]]:
        """Rows of `situation_rules`: the rules that reach a situation, or that a record lifts for it."""
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
                    situation, each.rule, lifted, missing,
                    doubtful or is_regional(each.law) or bool(each.law.ceiling_reason),
                    required, proof,
                )  # fmt: skip

    def _windows(self) -> Iterator[tuple[Any, ...]]:
        """Table `windows`: for each rule and weekday (0 is Monday) the hours in which calls may start."""
        for rule, law in self.of_kind(HoursRule):
            p = law.parameters
            for number, day in enumerate(DAYS):
                spans = sorted((w.start, w.end) for w in p.windows if day in w.days)
                yield (
                    rule,
                    number,
                    [{"opens": of_day(a), "closes": of_day(b) or DAY_US} for a, b in spans],
                )
            other = p.before_holiday or p.sunday_and_holiday
            if other is not None:
                span = {"opens": of_day(other.start), "closes": of_day(other.end) or DAY_US}
                yield rule, SPECIAL, [span]
        # A holiday rule is open all day on days that it does not close.
        for rule, law in self.of_kind(HolidayRule):
            for number in range(len(DAYS)) if law.parameters.type != "emergency_ban" else ():
                yield rule, number, [{"opens": 0, "closes": DAY_US}]

    def _fixed_clocks(self) -> Iterator[tuple[int, int]]:
        """Table `fixed_clocks`: rules that go by one clock wherever the called party is."""
        for rule, law in self.of_kind(HoursRule):
            if law.parameters.timezone is not None:
                there = utc_offsets.zone(law.parameters.timezone)
                offset = datetime(2000, 1, 1, tzinfo=there).utcoffset() or timedelta(0)
                yield rule, int(offset.total_seconds()) * utc_offsets.SECOND_US

    def special_days(
        self, first: date, last: date, reached: Collection[int]
    ) -> Iterator[tuple[int, date, bool, str]]:
        """Table `special_days`: days on which a rule is closed, or has hours of its own."""
        for rule, law in self.of_kind(HolidayRule):
            if rule in reached:
                for day, name in closed_days(law, first, last, self.declared).items():
                    yield rule, day, True, name
        for rule, law in self.of_kind(HoursRule):
            if rule in reached:
                for day in sorted(set(_own_hours(law, first, last))):
                    yield rule, day, False, ""

    def _asked_by(self) -> Iterator[tuple[int, str]]:
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
        self, asked: Iterable[tuple[int, str, date]]
    ) -> Iterator[tuple[int, str, date, datetime]]:
        """Table `deadlines`: the last instant (UTC) at which a request or a revocation made on a local day may still be carried out.

        Args:
            asked: Rule, zone and local day of each request.
        """
        for rule, zone, day in asked:
            law = self.by_number[rule]
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


def of_day(clock: time) -> int:
    """Microseconds from midnight by the clock."""
    seconds = (clock.hour * 60 + clock.minute) * 60 + clock.second
    return seconds * utc_offsets.SECOND_US + clock.microsecond


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
