"""Describes a rule: what it says, the sentence that it rests on, its days, and examples; a book, and a firm's changes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import Annotated, Final, Literal

import phonenumbers
from pydantic import Field, model_validator

from dialframe.compliance.rules.rule_parameters import (
    DAYS,
    KINDS,
    AbandonmentParameters,
    AppliesTo,
    ArtificialVoiceParameters,
    CallerIdParameters,
    CapParameters,
    ConsentParameters,
    Day,
    Dialing,
    ExemptionCode,
    Fact,
    FreshnessParameters,
    HolidayParameters,
    HonorParameters,
    HoursParameters,
    LineType,
    RecordingParameters,
    RetentionParameters,
    SectorBanParameters,
    Window,
)
from dialframe.phones.zones import area_codes

__all__ = [
    "DAYS", "KINDS", "AbandonmentRule", "AnyRule", "ArtificialVoiceRule", "Book", "CallerIdRule",
    "CapRule", "Change", "ConsentRule", "Day", "Example", "FreshnessRule", "HolidayRule",
    "HonorRule", "HoursRule", "OwnRules", "RecordingRule", "RetentionRule", "Rule",
    "SectorBanRule", "Window", "citations", "ids", "nowhere",
]  # fmt: skip

#: A voluntary code is advice: it is evaluated apart and nothing in it is a violation of law, until
#: a firm adopts it by naming the rule (`adopted_code`); from then on it counts like any other.
Status = Literal["in_force", "superseded", "voluntary_code", "adopted_code"]
_JURISDICTION: Final = r"^[A-Z]{2}(-[A-Z]{2,3})?$"
#: Grades of an example; `not evaluable` is what a rule says where its input is missing.
ExampleGrade = Literal["pass", "violation", "uncertain", "not evaluable"]


class Exemption(Fact):
    """What may lift a rule, the condition as the source words it, and for how long it does.

    `within_days` is the window of a request to be called, from the instant at which its record
    begins: a call later than that is not lifted, nor one whose record does not say when.
    """

    code: ExemptionCode
    detail: str = ""
    within_days: int | None = Field(default=None, gt=0)


class Example(Fact):
    """A call and the grade that the rule gives it; times are of the clock where the number is.

    The other fields are what a rule of that kind looks at besides: earlier attempts, the check of
    a registry, a request, a consent, the share of abandoned calls, what is on record.

    Attributes:
        at: When the call started, or the day on which records are looked at.
        grade: What the rule says of it.
        why: The point of the example, in words.
        phone: The called number; a fictional one of the jurisdiction where none is given.
        earlier: Starts of earlier attempts to the same number.
        event: What became of the last earlier attempt: `abandoned`, `machine` or `conversation`.
        checked_at: When the registry was asked.
        listed: What it said.
        asked_at: When the person asked not to be called.
        granted_at: When consent was given.
        revoked_at: When it was withdrawn.
        consent: Its kind: `any`, `express` or `written`.
        requested_at: When the person asked to be called.
        looked_up_at: When the database of reassigned numbers was asked.
        looked_up: What it said, `no` or `yes`.
        ported_at: When the number moved to a mobile line.
        live: Calls that a person answered and an agent took.
        dropped: Calls that a person answered and nobody took.
        oldest_on: Day of the oldest record.
        declared: Whether an emergency is declared on the day.
        from_number: Number shown to the called person, empty for none.
        recorded: Whether the call was recorded.
        announced: Whether the recording, or the artificial voice, is announced.
        purpose: What the firm says the call is for, where it is not a sale of something else.
        dialing: How the call was dialed, where the rule does not say it.
    """

    at: datetime
    grade: ExampleGrade
    why: str = ""
    phone: str | None = None
    earlier: tuple[datetime, ...] = Field(default=(), strict=False)
    event: Literal["abandoned", "machine", "conversation"] | None = None
    checked_at: datetime | None = None
    listed: bool | None = None
    asked_at: datetime | None = None
    granted_at: datetime | None = None
    revoked_at: datetime | None = None
    consent: Literal["any", "express", "written"] | None = None
    requested_at: datetime | None = None
    looked_up_at: datetime | None = None
    looked_up: Literal["no", "yes"] | None = None
    ported_at: datetime | None = None
    live: int | None = Field(default=None, ge=0)
    dropped: int | None = Field(default=None, ge=0)
    oldest_on: date | None = None
    declared: bool | None = None
    from_number: str | None = None
    recorded: bool | None = None
    announced: bool | None = None
    purpose: str | None = None
    dialing: Literal["manual", "autodialer", "predictive", "prerecorded"] | None = None


class _Rule(Fact):
    id: str = Field(pattern=r"^[a-z0-9-]+$")
    title: str = Field(min_length=1)
    jurisdiction: str = Field(pattern=_JURISDICTION)
    status: Status
    effective_from: date | None = None
    effective_to: date | None = None
    #: `always` where no first day is given: the rule is applied to calls of every year.
    since: Literal["always"] | None = None
    since_reason: str = ""
    replaces: str | None = None
    applies_to: tuple[AppliesTo, ...] = Field(strict=False, min_length=1)
    applies_text: str
    line_types: tuple[LineType, ...] = Field(strict=False, min_length=1)
    dialing: Dialing
    citation: str = Field(min_length=1)
    #: The official address of what is cited: the legislature's, the register's, the regulator's.
    source: str = Field(min_length=1)
    #: The sentence that the rule rests on, in its own language, and where it was read and when: seldom at the source.
    quotation: str = ""
    text_from: str = ""
    read_on: date | None = None
    #: Other addresses that say the same.
    also: tuple[str, ...] = Field(default=(), strict=False)
    confidence: Literal["high", "medium", "low"]
    confidence_reason: str = ""
    #: Sources that say something else, each with what it says.
    conflicts: tuple[str, ...] = Field(default=(), strict=False)
    exemptions: tuple[Exemption, ...] = Field(strict=False)
    inputs: tuple[str, ...] = Field(strict=False, min_length=1)
    examples: tuple[Example, ...] = Field(default=(), strict=False)
    #: What a violation may cost by statute, with its section; empty where the book names nothing.
    exposure: str = ""
    notes: str = ""

    @model_validator(mode="after")
    def _forward(self) -> _Rule:
        # 16 CFR 310.5 asks for records of two years up to 2024-05-15 and of five from then on: two rules, each with its days.
        begins, ends = self.effective_from, self.effective_to
        if begins is not None and ends is not None and begins > ends:
            raise ValueError("effective_to lies before effective_from")
        # Without its last day it would be law beside the rule that replaced it.
        if self.status == "superseded" and ends is None:
            raise ValueError("a superseded rule has its last day in effective_to")
        if self.since is not None and (begins is not None or not self.since_reason):
            raise ValueError('since = "always" has a since_reason and no effective_from')
        if bool(self.quotation) != bool(self.text_from and self.read_on):
            raise ValueError("a quotation has text_from and read_on, and both have a quotation")
        return self

    @property
    def grade_ceiling(self) -> Literal["definite", "uncertain"]:
        """`uncertain` where the rule rests on too little to pass a call or to call it a violation."""
        return "uncertain" if self.ceiling_reason else "definite"

    def capped(self, grade: str) -> str:
        """A grade as far as the rule can be trusted.

        Without a source that was read nothing passes and nothing is a violation. Where sources
        disagree nothing is a violation for certain.
        """
        # Neither a pass nor a violation may rest on what nobody read.
        if self.confidence == "low" and grade in ("pass", "violation"):
            return "uncertain"
        return "uncertain" if self.ceiling_reason and grade == "violation" else grade

    @property
    def ceiling_reason(self) -> str:
        """Why the rule says `uncertain` at best, in words; empty where it decides."""
        # Nevada is one: NRS 598.0918(3) and the sources beside it name different hours.
        if self.conflicts:
            return "sources disagree: " + "; ".join((self.citation, *self.conflicts))
        if self.confidence == "low":
            why = f" ({self.confidence_reason})" if self.confidence_reason else ""
            return f"confidence in the rule is low{why}"
        return self._unread_calendar

    @property
    def _unread_calendar(self) -> str:
        """Why the days of the rule are not certain; empty where its list was read or it has none."""
        return ""

    @property
    def force(self) -> str:
        """Whose rule it is: `law`, `voluntary code`, or `adopted code` where the firm bound itself."""
        # Brazil's Código de Conduta binds the operators that signed it, and no other firm.
        return {"voluntary_code": "voluntary code", "adopted_code": "adopted code"}.get(
            self.status, "law"
        )

    @property
    def force_words(self) -> str:
        """What the force of the rule means for an audit, in a sentence."""
        return {
            "law": "law: what breaks it is a violation",
            "adopted code": "adopted code: the firm holds itself to it, so it counts like a law",
            "voluntary code": (
                "voluntary code: evaluated as advice, apart from the law; no violation and no exit "
                "status, unless it is named by its id or adopted in the firm's own file"
            ),
        }[self.force]

    @property
    def first_day(self) -> date:
        """The first day on which it is in force."""
        return self.effective_from or date.min

    @property
    def last_day(self) -> date:
        """The last day on which it is in force."""
        return self.effective_to or date.max

    def holds_on(self, day: date) -> bool:
        """Whether the rule was in force on that day, both ends included."""
        return self.first_day <= day <= self.last_day


class HoursRule(_Rule):
    """When calls may start."""

    kind: Literal["calling_hours"]
    parameters: HoursParameters


class HolidayRule(_Rule):
    """Days on which no call may start."""

    kind: Literal["holiday"]
    parameters: HolidayParameters

    @property
    def _unread_calendar(self) -> str:
        # Miss. Code 3-3-7 has no Juneteenth and moves no day to a Friday; the library has both.
        days = self.parameters
        if days.calendar is None or days.list_read_at:
            return ""
        return "nobody read the list of the days, which are those of the library holidays"


class CapRule(_Rule):
    """How often one number may be called."""

    kind: Literal["attempt_cap"]
    parameters: CapParameters


class FreshnessRule(_Rule):
    """How old a Do-Not-Call check may be, and that a listed number is not called."""

    kind: Literal["dnc_freshness"]
    parameters: FreshnessParameters


class HonorRule(_Rule):
    """No call to somebody who asked not to be called."""

    kind: Literal["internal_dnc"]
    parameters: HonorParameters


class AbandonmentRule(_Rule):
    """How many answered calls may find nobody on the line."""

    kind: Literal["abandonment_rate"]
    parameters: AbandonmentParameters


class ConsentRule(_Rule):
    """What the called person must have agreed to, or what must be looked up first."""

    kind: Literal["consent"]
    parameters: ConsentParameters


class RetentionRule(_Rule):
    """How long records are kept."""

    kind: Literal["retention"]
    parameters: RetentionParameters


class RecordingRule(_Rule):
    """Whose consent the recording of a call needs, and whether it is announced."""

    kind: Literal["recording_consent"]
    parameters: RecordingParameters


class CallerIdRule(_Rule):
    """Which number is shown to the called person."""

    kind: Literal["caller_id"]
    parameters: CallerIdParameters


class ArtificialVoiceRule(_Rule):
    """What a call with an artificial voice has to disclose."""

    kind: Literal["artificial_voice"]
    parameters: ArtificialVoiceParameters


class SectorBanRule(_Rule):
    """A subject on which nobody may be called, apart from what lifts the ban."""

    kind: Literal["sector_ban"]
    parameters: SectorBanParameters


#: A rule of any kind.
Rule = (
    HoursRule | HolidayRule | CapRule | FreshnessRule | HonorRule | AbandonmentRule
    | ConsentRule | RetentionRule | RecordingRule | CallerIdRule | ArtificialVoiceRule
    | SectorBanRule
)  # fmt: skip
AnyRule = Annotated[Rule, Field(discriminator="kind")]


class Meta(Fact):
    """What a book says of itself."""

    schema_version: Literal[2]
    version: str = Field(min_length=1)
    generated: date
    scope: str
    purpose: str
    confidence: dict[str, str] = Field(default_factory=dict)
    #: Places where no rule on hours was found beyond the federal ones, or none at all.
    no_hours: dict[str, list[str]] = Field(default_factory=dict)


class Book(Fact):
    """A whole book as it is written."""

    meta: Meta
    rule: tuple[AnyRule, ...] = Field(strict=False)


class Change(Fact):
    """What a firm changes in one rule of the book: the new values, who decided it and why.

    `adopt = true` says that the firm joined a voluntary code, which then counts like a law.
    `loosens = true` says that the firm knows that the change asks less of it than the book does.
    """

    id: str
    by: str = Field(min_length=1)
    why: str = Field(min_length=1)
    on: date
    drop: bool = False
    adopt: bool = False
    loosens: bool = False
    effective_from: date | None = None
    effective_to: date | None = None
    parameters: dict[str, object] = Field(default_factory=dict)


class Addition(Fact):
    """A rule of the firm's own, with who decided it and why."""

    by: str = Field(min_length=1)
    why: str = Field(min_length=1)
    on: date
    rule: AnyRule


class OwnRules(Fact):
    """A firm's file: changes to rules of the book, and rules of its own."""

    change: tuple[Change, ...] = Field(default=(), strict=False)
    add: tuple[Addition, ...] = Field(default=(), strict=False)


def nowhere(jurisdiction: str) -> str | None:
    """Why there is no such jurisdiction, so that a rule of it would reach no call; None where there is."""
    # "FL" alone would be read as a country, and its rule would reach nobody.
    # ISO 3166-2 writes a part behind its country: US-FL.
    country, _, part = jurisdiction.partition("-")
    states = {area.state for area in area_codes().values()}
    if not part and country in states and country not in phonenumbers.SUPPORTED_REGIONS:
        return f"there is no country {country!r}; for the state write US-{country}"
    if country not in phonenumbers.SUPPORTED_REGIONS:
        return f"there is no country {country!r}; use its ISO 3166 code, such as GB"
    if part and (country != "US" or part not in states):
        return f"there is no part {part!r} of {country} whose numbers can be told; use US-FL or CA"
    return None


def ids(rules: Sequence[Rule]) -> str:
    """Ids of rules, each once, a semicolon between them."""
    # A rule stands twice in the tables where a part of it holds elsewhere or later.
    return "; ".join(dict.fromkeys(rule.id for rule in rules))


def citations(rules: Sequence[Rule]) -> str:
    """Citations of rules, each rule once, a semicolon between them."""
    return "; ".join({rule.id: rule.citation for rule in rules}.values())
