"""Runs the examples of rules: turns each into the records of an audit, and says which the audit grades otherwise.

An example is a call by the clock where its number is, and the grade that the rule gives it. Many
examples are graded in one audit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from itertools import cycle
from typing import Any, Final
from zoneinfo import ZoneInfo

import pandas as pd
import phonenumbers

from dialframe import frames
from dialframe.compliance.auditing import PARTS, audit
from dialframe.compliance.checks import (
    CLEAR,
    INDETERMINATE,
    NOT_EVALUABLE,
    PASSED,
    PROVEN,
    UNCERTAIN,
    VIOLATION,
)
from dialframe.compliance.practice import PURPOSES, SALES, Conduct, Cover, Practice
from dialframe.compliance.result import Audit
from dialframe.compliance.rules.calendars import Declared
from dialframe.compliance.rules.rule_model import AbandonmentRule, Example, FreshnessRule, Rule
from dialframe.compliance.rules.rulebook import RuleBook, adopted
from dialframe.compliance.tables.query_tables import Question
from dialframe.errors import ConfigError
from dialframe.phones.zones import area_codes, of_number

__all__ = ["Result", "phone_of", "run"]

#: The number that calls in examples come from, and a second one for campaigns.
CALLER: Final = "+16465550180"
#: Numbers of the fictional range of an area code; other countries have libphonenumber's examples.
_FICTIONAL: Final = "5550142"
#: Countries whose first example number lies in more than one zone, and one that does not.
_ONE_ZONE: Final = {"IE": "+35315550123", "MX": "+525555550123"}

_WORDS: Final[Mapping[str, str]] = {
    PROVEN: VIOLATION, INDETERMINATE: UNCERTAIN, CLEAR: PASSED,
}  # fmt: skip
#: Kinds to which it makes a difference whether a firm has a table of consents.
_BY_CONSENTS: Final = frozenset({"consent", "artificial_voice"})
_ORDER: Final = (VIOLATION, UNCERTAIN, NOT_EVALUABLE, PASSED)


@dataclass(frozen=True, slots=True)
class Scene:
    """What an audit of one example is given, as plain records under ids that no other example has.

    Attributes:
        rule: The rule, adopted where it is a voluntary code.
        call_id: The call whose grade is asked.
        phone: The number that every call of the scene goes to.
        campaign: The campaign that they belong to.
        now: The moment of the audit, UTC.
        calls: Records of the calls table.
        outcomes: Call id to `dropped`, `live` or `machine`.
        checks: Records of the ledger of Do-Not-Call checks.
        consents: Records of consent; None where the firm gives none.
        look_ups: Look-ups of reassigned numbers; None where the firm gives none.
        requests: Records of requests to be called.
        declared: Declared days by rule id; None where nothing is said.
        purpose: What the firm says its calls are for.
        dialing: How it dials.
        announced: Whether recordings and artificial voices are announced; None where nobody says.
    """

    rule: Rule
    call_id: str
    phone: str
    campaign: str
    now: datetime
    calls: list[dict[str, Any]]
    outcomes: dict[str, str]
    checks: list[dict[str, Any]]
    consents: list[dict[str, Any]] | None
    look_ups: list[dict[str, Any]] | None
    requests: list[dict[str, Any]]
    declared: dict[str, dict[date, str]]
    purpose: str
    dialing: str
    announced: bool | None


@dataclass(frozen=True, slots=True)
class Result:
    """What an audit said of an example.

    Attributes:
        rule_id: The rule.
        number: Position of the example in the rule, 1 for the first.
        example: The example.
        expected: The grade that the file gives it.
        actual: The grade of the audit; None where no check asks the rule.
        reason: What the audit says of the grade; empty where the rule reaches no such call.
    """

    rule_id: str
    number: int
    example: Example
    expected: str
    actual: str | None
    reason: str = ""

    @property
    def holds(self) -> bool:
        """Whether the audit gives the grade of the file."""
        return self.expected == self.actual


def run(book: RuleBook) -> list[Result]:
    """Grade every example of every rule of a book.

    Args:
        book: The book.

    Returns:
        One result for each example, in the order of the book.
    """
    # A voluntary code is graded as for a firm that adopted it.
    numbered = [(r, n, e) for r in book.rules for n, e in enumerate(r.examples, start=1)]
    phones = {place: cycle(_phones(place)) for place in {rule.jurisdiction for rule in book.rules}}
    scenes = []
    for row, (rule, _, example) in enumerate(numbered):
        usual = phone_of(rule.jurisdiction)
        # An example names its number, as the called one or as the one that is shown to itself.
        named = example.phone or (usual if example.from_number == usual else None)
        phone = named or next(phones[rule.jurisdiction])
        scenes.append(_scene_of(str(row), adopted(rule), example, phone))
    return [
        Result(rule.id, number, example, _expected_grade(rule, example, graded[0]), *graded)
        for (rule, number, example), graded in zip(numbered, _grades_of(book, scenes), strict=True)
    ]


def _expected_grade(rule: Rule, example: Example, actual: str | None) -> str:
    """The grade of the file, as far as the rule can be trusted where it was asked."""
    return example.grade if actual == example.grade else rule.capped(example.grade)


def _scene_of(name: str, rule: Rule, example: Example, phone: str) -> Scene:
    """The records of one example: the call, what went before it, and what the firm has on record."""
    # How far back records reach is a matter of days, the same by every clock.
    usual = "UTC" if rule.kind == "retention" else of_number(phone).names[0]
    # A rule with a clock of its own goes by it wherever the number is.
    zone = ZoneInfo(getattr(rule.parameters, "timezone", None) or usual)

    def utc(moment: datetime) -> datetime:
        return moment.replace(tzinfo=zone).astimezone(UTC)

    campaign = f"cmp_{name}"
    calls, outcomes = _calls(rule, example, phone, utc)
    checks, consents, look_ups, requests = _records(example, phone, utc)
    declared = {}
    if example.declared is not None:
        declared = {rule.id: {example.at.date(): "emergency"} if example.declared else {}}
    # Whether a firm keeps a table decides between "not evaluable" and "violation".
    has_consents = bool(consents) or (
        rule.kind in _BY_CONSENTS and example.grade != "not evaluable"
    )
    term = rule.applies_to[0].removesuffix("_prerecorded")
    purpose = example.purpose or (term if term in PURPOSES else SALES)
    return Scene(
        rule, f"{name}-call", phone, campaign, utc(example.at) + timedelta(days=1),
        [call | {"id": f"{name}-{call['id']}", "campaign_id": campaign} for call in calls],
        {f"{name}-{call}": kind for call, kind in outcomes.items()},
        checks, consents if has_consents else None, look_ups or None,
        [request | {"call_id": f"{name}-call"} for request in requests], declared,
        purpose, example.dialing or _DIALING.get(rule.dialing, rule.dialing), example.announced,
    )  # fmt: skip


@cache
def phone_of(jurisdiction: str) -> str:
    """A fictional number of a jurisdiction, in one time zone where it has such a number.

    Example:
        >>> phone_of("US-FL")
        '+12395550142'
    """
    country, _, state = jurisdiction.partition("-")
    if country in _ONE_ZONE:
        return _ONE_ZONE[country]
    if country == "US":
        codes = [a.code for a in area_codes().values() if a.state == (state or "NY")]
        phones = [f"+1{code}{_FICTIONAL}" for code in codes]
        return min(phones, key=lambda phone: (len(of_number(phone).names), phone))
    line = phonenumbers.PhoneNumberType.FIXED_LINE
    number = phonenumbers.example_number_for_type(country, line)
    if number is None:
        raise ConfigError(
            f"there is no example number of {jurisdiction!r}; give the example a phone"
        )
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)


def _phones(jurisdiction: str) -> Iterator[str]:
    """Numbers like `phone_of`, in the same zones: one for each example."""
    first = phone_of(jurisdiction)
    zones = of_number(first).names
    yield first
    # Numbers of one exchange: where the first lies, they lie too, but for a few plans.
    for number in range(100):
        phone = f"{first[:-2]}{number:02}"
        if phone != first and of_number(phone).names == zones:
            yield phone


def _calls(
    rule: Rule, example: Example, phone: str, utc: Callable[[datetime], datetime]
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    shown = CALLER if example.from_number is None else example.from_number
    base = {
        "direction": "outbound", "from_number": shown, "to_number": phone,
        "recording": example.recorded,
    }  # fmt: skip
    if isinstance(rule, AbandonmentRule):
        kinds = ["live"] * (example.live or 0) + ["dropped"] * (example.dropped or 0)
        start = utc(example.at)
        calls = [base | {"id": f"call{n}", "created_at": start} for n in range(len(kinds))]
        return calls, {f"call{n}": kind for n, kind in enumerate(kinds)}
    moments = [(f"earlier{n}", at) for n, at in enumerate(example.earlier)]
    calls = []
    for name, at in [*moments, ("call", example.at)]:
        start = utc(at)
        calls.append(base | {"id": name, "created_at": start, "ended_at": start})
    outcomes = {}
    # Somebody has to have answered a call that was abandoned, or that a machine took.
    if example.event is not None and moments:
        last = moments[-1][0]
        outcomes = {last: _OUTCOMES[example.event], "call": "live"}
        calls[-2] |= {"answered_at": calls[-2]["created_at"]}
    if example.oldest_on is not None:
        oldest = utc(datetime.combine(example.oldest_on, time(12)))
        calls.append(base | {"id": "oldest", "created_at": oldest})
    if example.asked_at is not None:
        asked = utc(example.asked_at)
        calls.append(
            base | {"id": "asked", "created_at": asked, "ended_at": asked, "disposition": "DNC"}
        )
    return calls, outcomes


def _records(
    example: Example, phone: str, utc: Callable[[datetime], datetime]
) -> tuple[list[dict[str, Any]], ...]:
    """What is on record of the number: checks, consents, look-ups, requests to be called."""

    def at(moment: datetime | None) -> datetime | None:
        return None if moment is None else utc(moment)

    checks = {
        "phone": phone, "listed": bool(example.listed), "checked_at": at(example.checked_at),
        "request_id": "req_example",
    }  # fmt: skip
    consents = {
        "phone": phone, "kind": example.consent or "written", "granted_at": at(example.granted_at),
        "revoked_at": at(example.revoked_at), "record": "example",
    }  # fmt: skip
    look_ups = {
        "phone": phone, "checked_at": utc(example.looked_up_at or example.at),
        "result": example.looked_up, "ported_at": at(example.ported_at),
    }  # fmt: skip
    requests = {
        "code": "requested", "phone": phone, "from_at": at(example.requested_at), "record": "example",
    }  # fmt: skip
    return (
        [checks] if example.checked_at else [],
        [consents] if example.granted_at else [],
        [look_ups] if example.looked_up_at or example.ported_at else [],
        [requests] if example.requested_at else [],
    )


_OUTCOMES: Final = {"abandoned": "dropped", "machine": "machine", "conversation": "live"}


#: How the firm of an example dials where its rule is on several ways of dialing.
_DIALING: Final = {"any": "manual", "autodialer_or_prerecorded": "prerecorded"}
#: Kinds that one check asks: rules of them grade the same rows, so that they stand in each other's way.
_FAMILIES: Final[Mapping[str, str]] = {"holiday": "calling_hours", "internal_dnc": "dnc_freshness"}


def _fits(scene: Scene, batch: Sequence[Scene]) -> bool:
    """Whether one audit can grade a scene beside others without one speaking of another.

    Every scene calls a number of its own. What goes by all calls of an audit stands apart: the rate
    of abandoned calls of a caller, and how far back stored calls reach.
    """
    if _batch_key(scene) != _batch_key(batch[0]):
        return False
    return not any(scene.phone == other.phone or _disturbs(scene, other) for other in batch)


def _disturbs(scene: Scene, other: Scene) -> bool:
    """Whether the rule, or the consents, of one scene would say something of the other's call."""
    rule, beside = scene.rule, other.rule
    if {rule.kind, beside.kind} <= _BY_CONSENTS and (
        (scene.consents is None) != (other.consents is None)
    ):
        return True
    families = {_FAMILIES.get(kind, kind) for kind in (rule.kind, beside.kind)}
    # Rules of other kinds grade rows of their own.
    if rule.kind == "retention" or len(families) > 1:
        return False
    if rule.id == beside.id:
        return rule.kind == "abandonment_rate"
    places = (rule.jurisdiction, beside.jurisdiction)
    is_state = ["-" in each for each in places]
    return places[0] == places[1] or (places[0][:2] == places[1][:2] and not all(is_state))


def _batch_key(scene: Scene) -> tuple[object, ...]:
    """What the scenes of a batch have in common."""
    if scene.rule.kind == "abandonment_rate":
        return ("abandonment_rate",)
    if scene.rule.kind == "retention":
        return "retention", scene.now, min(call["created_at"] for call in scene.calls)
    return ("outcomes",) if scene.outcomes else ()


def _grades_of(book: RuleBook, scenes: Sequence[Scene]) -> list[tuple[str | None, str]]:
    """The grade and the reason that an audit gives the call of each scene; None where no check asks its rule."""
    # An audit costs much however few calls it has: scenes share one where they can.
    batches: list[list[Scene]] = []
    for scene in scenes:
        batch = next((batch for batch in batches if _fits(scene, batch)), None)
        if batch is None:
            batches.append(batch := [])
        batch.append(scene)
    grades: dict[str, tuple[str | None, str]] = {}
    for batch in batches:
        audited = _audit(book, batch)
        grades |= {scene.call_id: _grade_scene(audited, scene) for scene in batch}
    return [grades[scene.call_id] for scene in scenes]


def _audit(book: RuleBook, scenes: Sequence[Scene]) -> Audit:
    rules = {scene.rule.id: scene.rule for scene in scenes}
    declared: dict[str, dict[date, str]] = {}
    for scene in scenes:
        for rule_id, days in scene.declared.items():
            declared.setdefault(rule_id, {}).update(days)
    requests = pd.DataFrame([request for scene in scenes for request in scene.requests])
    registries = (s.rule.parameters.registry for s in scenes if isinstance(s.rule, FreshnessRule))
    practice = Practice(
        caller_ids=frozenset({CALLER}),
        conducts={s.campaign: Conduct(None, s.announced, True, s.announced) for s in scenes},  # noqa: FBT003
        purposes={scene.campaign: scene.purpose for scene in scenes},
        dialings={scene.campaign: scene.dialing for scene in scenes},
        line_types={scene.phone: scene.rule.line_types[0] for scene in scenes},
        covers=tuple(Cover(registry) for registry in registries),
    )
    tables = {
        "calls": frames.from_records(
            frames.CALLS, [call for scene in scenes for call in scene.calls]
        ),
        "dnc_checks": frames.from_records(
            frames.DNC_CHECKS, [row for scene in scenes for row in scene.checks]
        ),
    }
    question = Question(
        now=max(scene.now for scene in scenes), rules=list(rules),
        rulebook=replace(book, rules=tuple(rules.values())),
        practice=practice, declared=Declared(declared),
        consents=_tables([s.consents for s in scenes], "granted_at", "revoked_at"),
        look_ups=_tables([s.look_ups for s in scenes], "checked_at", "ported_at"),
        exemptions=requests.astype({"from_at": "datetime64[us, UTC]"}) if len(requests) else None,
        outcomes={call: kind for scene in scenes for call, kind in scene.outcomes.items()} or None,
    )  # fmt: skip
    return audit(tables, question)


def _grade_scene(audited: Audit, scene: Scene) -> tuple[str | None, str]:
    """The rows of the check that asks the rule of a scene, as a grade with its reason."""
    rule = scene.rule
    frame = _rows(audited, scene)
    if frame is None:
        return None, ""
    by = "call_id" if "call_id" in frame else "rule_id"
    rows = frame[frame[by] == (scene.call_id if by == "call_id" else rule.id)]
    # 16 CFR 310.4(b)(4)(i): a rate is one of a campaign.
    if rule.kind == "abandonment_rate" and (frame["campaign_id"] == scene.campaign).any():
        # A rate of the caller as a whole is of no campaign.
        rows = frame[frame["campaign_id"] == scene.campaign]
    # What no check lists passed, as far as the rule can be trusted.
    if rows.empty:
        if frame is audited.listed:
            spared = rule.capped(PASSED)
            named = getattr(rule.parameters, "registry", rule.citation)
            return spared, "" if spared == PASSED else f"{named}: {rule.ceiling_reason}"
        return (PASSED if rule.kind in ("sector_ban", "artificial_voice") else None), ""
    grades = [_WORDS.get(grade, grade) for grade in rows["grade"]]
    gravest = min(range(len(grades)), key=lambda row: _ORDER.index(grades[row]))
    return rule.capped(grades[gravest]), str(rows["reason"].iloc[gravest])


def _rows(audit: Audit, scene: Scene) -> pd.DataFrame | None:
    rule, parts = scene.rule, audit.parts
    if rule.kind in ("calling_hours", "holiday"):
        emergency = getattr(rule.parameters, "type", "") == "emergency_ban"
        return parts.get("emergencies") if emergency else audit.hours
    if rule.kind == "dnc_freshness" and getattr(rule.parameters, "check", "") == "age":
        return audit.coverage.calls
    if rule.kind in ("dnc_freshness", "internal_dnc"):
        return audit.listed
    part_of = {check: part for part, check in PARTS.items()}
    check = {"attempt_cap": "attempt_caps", "abandonment_rate": "abandonment"}
    return parts.get(part_of[check.get(rule.kind, rule.kind)])


def _tables(tables: Sequence[list[dict[str, Any]] | None], *instants: str) -> pd.DataFrame | None:
    """Records of all scenes as one frame; None where none of them has a table."""
    records = [row for rows in tables for row in rows or ()]
    if all(rows is None for rows in tables):
        return None
    names = ["phone", "kind", "record"] if "granted_at" in instants else ["phone", "result"]
    frame = pd.DataFrame(records, columns=[*names, *instants])
    return frame.astype(dict.fromkeys(instants, "datetime64[us, UTC]"))
