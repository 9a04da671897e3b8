"""Turns an example of a rule into the records of an audit, and says which examples the audit grades otherwise.

An example is a call by the clock where its number is, and the grade that the rule gives it. Who
grades is given from outside: `run(book, grade)` gives a result for each example.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from typing import Any, Final
from zoneinfo import ZoneInfo

import phonenumbers

from dialframe.compliance.rules.rule_model import AbandonmentRule, Example, Rule
from dialframe.compliance.rules.rulebook import RuleBook
from dialframe.errors import ConfigError
from dialframe.phones.area_codes import area_codes
from dialframe.phones.zones import of_number

__all__ = ["Result", "Scene", "phone_of", "run", "scene_of"]

#: The number that calls in examples come from, and a second one for campaigns.
CALLER: Final = "+16465550180"
#: Numbers of the fictional range of an area code; other countries have libphonenumber's examples.
_FICTIONAL: Final = "5550142"
#: Countries whose first example number lies in more than one zone, and one that does not.
_ONE_ZONE: Final = {"IE": "+35315550123", "MX": "+525555550123"}


@dataclass(frozen=True, slots=True)
class Scene:
    """What an audit of one example is given, as plain records.

    Attributes:
        book: The book with the rule alone, adopted where it is a voluntary code.
        rule: The rule.
        call_id: The call whose grade is asked.
        now: The moment of the audit, UTC.
        calls: Records of the calls table.
        checks: Records of the ledger of Do-Not-Call checks.
        consents: Records of consent; None where the firm gives none.
        look_ups: Look-ups of reassigned numbers; None where the firm gives none.
        outcomes: Call id to `dropped`, `live` or `machine`.
        declared: Declared days by rule id; None where nothing is said.
        purpose: What the firm says its calls are for.
        dialing: How it dials.
        line_type: What the called line is.
        announced: Whether recordings and artificial voices are announced; None where nobody says.
    """

    book: RuleBook
    rule: Rule
    call_id: str
    now: datetime
    calls: list[dict[str, Any]]
    checks: list[dict[str, Any]]
    consents: list[dict[str, Any]] | None
    look_ups: list[dict[str, Any]] | None
    outcomes: dict[str, str] = field(default_factory=dict)
    declared: dict[str, dict[date, str]] | None = None
    purpose: str = "telemarketing_sales"
    dialing: str = "manual"
    line_type: str = "residential"
    announced: bool | None = None


#: Grades scenes: `pass`, `violation`, `uncertain` or `not evaluable`; None where no check asks the rule.
Grader = Callable[[Sequence[Scene]], Sequence[str | None]]


@dataclass(frozen=True, slots=True)
class Result:
    """What an audit said of an example.

    Attributes:
        rule_id: The rule.
        number: Position of the example in the rule, 1 for the first.
        example: The example.
        expected: The grade that the file gives it.
        actual: The grade of the audit; None where no check asks the rule.
    """

    rule_id: str
    number: int
    example: Example
    expected: str
    actual: str | None

    @property
    def holds(self) -> bool:
        """Whether the audit gives the grade of the file."""
        return self.expected == self.actual


def run(book: RuleBook, grade: Grader) -> list[Result]:
    """Grade every example of every rule of a book.

    Args:
        book: The book.
        grade: Grades scenes, in their order.

    Returns:
        One result for each example, in the order of the book.
    """
    numbered = [(r, n, e) for r in book.rules for n, e in enumerate(r.examples, start=1)]
    grades = grade([scene_of(book, rule, example) for rule, _, example in numbered])
    return [
        Result(rule.id, number, example, example.grade, actual)
        for (rule, number, example), actual in zip(numbered, grades, strict=True)
    ]


def scene_of(book: RuleBook, rule: Rule, example: Example) -> Scene:
    """The records of one example: the call, what went before it, and what the firm has on record."""
    named = book.select([rule.id])
    alone = tuple(each for each in named.rules if each.id == rule.id)
    phone = example.phone or phone_of(rule.jurisdiction)
    zone = ZoneInfo(getattr(rule.parameters, "timezone", None) or of_number(phone).names[0])

    def utc(moment: datetime) -> datetime:
        return moment.replace(tzinfo=zone).astimezone(UTC)

    start = utc(example.at)
    calls, outcomes = _calls(rule, example, phone, utc)
    checks, consents, look_ups = _records(example, phone, utc)
    declared = None
    if example.declared is not None:
        declared = {rule.id: {example.at.date(): "emergency"} if example.declared else {}}
    asks_consent = (
        rule.kind in ("consent", "artificial_voice") and example.grade != "not evaluable"
    )
    return Scene(
        book=replace(book, rules=alone), rule=alone[0], call_id="call", now=start + timedelta(days=1),
        calls=calls, checks=checks,
        consents=consents if consents or asks_consent else None, look_ups=look_ups or None,
        outcomes=outcomes, declared=declared, purpose=_purpose(rule, example),
        dialing=example.dialing or _dialing(rule), line_type=rule.line_types[0],
        announced=example.announced,
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


def _calls(
    rule: Rule, example: Example, phone: str, utc: Callable[[datetime], datetime]
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    shown = CALLER if example.from_number is None else example.from_number or None
    base = {
        "direction": "outbound", "from_number": shown, "to_number": phone, "campaign_id": "cmp_1",
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
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]:
    checks, consents, look_ups = [], [], []
    if example.checked_at is not None:
        checks.append({
            "phone": phone, "listed": bool(example.listed), "checked_at": utc(example.checked_at),
            "request_id": "req_example",
        })  # fmt: skip
    if example.granted_at is not None:
        revoked = None if example.revoked_at is None else utc(example.revoked_at)
        consents.append({
            "phone": phone, "kind": example.consent or "written",
            "granted_at": utc(example.granted_at), "revoked_at": revoked, "record": "example",
        })  # fmt: skip
    asked, ported = example.looked_up_at, example.ported_at
    if asked is not None or ported is not None:
        look_ups.append({
            "phone": phone, "checked_at": utc(asked or example.at), "result": example.looked_up,
            "ported_at": None if ported is None else utc(ported),
        })  # fmt: skip
    return checks, consents, look_ups


_OUTCOMES: Final = {"abandoned": "dropped", "machine": "machine", "conversation": "live"}

#: Terms of `applies_to` that say how a call is dialed or for whom it is, and no purpose.
_NO_PURPOSE: Final = frozenset(
    {
        "prerecorded", "autodialed", "live_marketing", "any_outbound_dialer",
        "call_centre_outbound", "any_call",
    }
)  # fmt: skip


def _purpose(rule: Rule, example: Example) -> str:
    if example.purpose is not None:
        return example.purpose
    purpose = rule.applies_to[0]
    if purpose == "informational_prerecorded":
        return "informational"
    return "telemarketing_sales" if purpose in _NO_PURPOSE else purpose


def _dialing(rule: Rule) -> str:
    return {"any": "manual", "autodialer_or_prerecorded": "prerecorded"}.get(
        rule.dialing, rule.dialing
    )
