"""The schema of a rule: what each kind of rule says, field by field; knows no file and no calls.

Every model refuses fields that it does not know, so a misspelt name is an error and no silence.
"""

from __future__ import annotations

import re
from datetime import date, time
from itertools import pairwise
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Kind = Literal[
    "calling_hours", "holiday", "attempt_cap", "dnc_freshness", "internal_dnc",
    "abandonment_rate", "consent", "retention",
]  # fmt: skip
Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
DAYS: Final[tuple[Day, ...]] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")

#: What may lift a rule. A record that names the code has to be shown for each call or number.
ExemptionCode = Literal[
    "answering_machine", "b2b", "charity", "consent", "debt_collection", "ebr", "emergency",
    "attorney", "existing_contract", "existing_debt", "financial_services", "hipaa", "inbound",
    "isolated_transaction", "listed_occupation", "manual_dial", "newspaper", "nonprofit",
    "personal_relationship", "political", "requested", "survey", "transactional",
    "voicemail_broadcast", "written_consent",
]  # fmt: skip

LineType = Literal["residential", "wireless", "business"]
Dialing = Literal["any", "prerecorded", "autodialer", "autodialer_or_prerecorded", "predictive"]
DayType = Literal["business", "calendar", "none_stated"]

_JURISDICTION: Final = r"^[A-Z]{2}(-[A-Z]{2})?$"
_MONTH_DAY: Final = re.compile(r"(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])")


class _Fact(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Window(_Fact):
    """A stretch of the day in which calls may start: `start` is inside, `end` is outside."""

    days: tuple[Day, ...] = Field(strict=False, min_length=1)
    start: time
    end: time

    @model_validator(mode="after")
    def _ordered(self) -> Window:
        if self.start >= self.end:
            raise ValueError("a window ends after it starts")
        return self


class SpecialWindow(_Fact):
    """Other hours for certain days: those before a public holiday, or Sundays and holidays."""

    start: time
    end: time
    calendar: str = Field(pattern=r"^[A-Z]{2}$")
    subdiv: str = ""
    citation: str = ""


class HoursParameters(_Fact):
    """Windows of the week in the called party's local time, or in a fixed zone, and the days without any."""

    timezone_basis: Literal["called_party", "fixed"]
    event: Literal["call_start"]
    windows: tuple[Window, ...] = Field(strict=False, min_length=1)
    closed_days: tuple[Day, ...] = Field(strict=False)
    timezone: str | None = None
    holiday_rule: str | None = None
    area_code_presumption: bool = False
    area_code_reliance: bool = False
    before_holiday: SpecialWindow | None = None
    sunday_and_holiday: SpecialWindow | None = None

    @model_validator(mode="after")
    def _whole_week(self) -> HoursParameters:
        opened = {day for window in self.windows for day in window.days}
        if opened & set(self.closed_days) or opened | set(self.closed_days) != set(DAYS):
            raise ValueError("each weekday has a window or is closed, and never both")
        if (self.timezone_basis == "fixed") != (self.timezone is not None):
            raise ValueError("a fixed basis names its timezone, any other does not")
        for day in DAYS:
            spans = sorted((w.start, w.end) for w in self.windows if day in w.days)
            if any(later[0] < earlier[1] for earlier, later in pairwise(spans)):
                raise ValueError(f"windows overlap on {day}")
        return self


class NamedDay(_Fact):
    """A day of each year that a calendar lacks: `MM-DD` and its name."""

    day: str
    name: str

    @model_validator(mode="after")
    def _is_a_day(self) -> NamedDay:
        if _MONTH_DAY.fullmatch(self.day) is None:
            raise ValueError("a day is MM-DD")
        return self


class HolidayParameters(_Fact):
    """Days without calls: a public calendar with what the law adds and drops, or declared emergencies."""

    type: Literal["no_calls", "emergency_ban"]
    calendar: str | None = None
    subdiv: str = ""
    observed: bool = True
    add: tuple[NamedDay, ...] = Field(default=(), strict=False)
    drop: tuple[str, ...] = Field(default=(), strict=False)
    proclaimed: bool = False
    local_only: tuple[str, ...] = Field(default=(), strict=False)
    regional: str = ""
    url: str = ""
    area: str = ""


class CapParameters(_Fact):
    """How many attempts may go to one number in a window of time."""

    max_attempts: int = Field(ge=0)
    window_type: Literal["rolling", "consecutive_days", "calendar_day"]
    window_hours: int | None = Field(default=None, gt=0)
    window_days: int | None = Field(default=None, gt=0)
    counts: Literal["all_attempts"]
    scope: tuple[str, ...] = Field(strict=False, min_length=1)
    subject_proxy: Literal["campaign_id"] | None = None
    nature: str = ""
    cooldown_after_conversation_days: int | None = Field(default=None, gt=0)
    hipaa_max_per_day: int | None = None
    hipaa_max_per_week: int | None = None
    trigger: Literal["abandoned", "machine"] | None = None
    unless: str = ""

    @model_validator(mode="after")
    def _one_window(self) -> CapParameters:
        if (self.window_hours is None) == (self.window_days is None):
            raise ValueError("a cap has window_hours or window_days, and not both")
        return self


class FreshnessParameters(_Fact):
    """How old a check of a registry may be when the call starts, or that a listed number is not called."""

    registry: str
    check: Literal["age", "listed_number_called"] = "age"
    max_age_days: int = Field(gt=0)
    basis: Literal["age_at_call", "quarter_of_call", "age_of_result"] = "age_at_call"
    period: Literal["calendar_quarter"] | None = None
    grace_days_after_publication: int | None = Field(default=None, ge=0)
    listed_grace_days: int = Field(default=0, ge=0)
    ebr_purchase_months: int = Field(default=0, ge=0)
    ebr_inquiry_months: int = Field(default=0, ge=0)


class HonourParameters(_Fact):
    """Within how many days a request not to be called is honoured, and for how long."""

    max_days: int = Field(ge=0)
    day_type: DayType
    holiday_calendar: str | None = None
    honour_years: int | None = Field(default=None, gt=0)
    honour_days: int | None = Field(default=None, gt=0)
    cooldown_days: int | None = Field(default=None, gt=0)
    until_withdrawn: bool = False
    scope: str = ""
    affiliates: str = ""


class AbandonmentParameters(_Fact):
    """The greatest share of answered calls that may be dropped, and over which period."""

    max_rate: float = Field(gt=0, lt=1)
    comparison: Literal["<=", "<"]
    period_days: int | None = Field(default=None, gt=0)
    period_type: Literal[
        "successive_30_day_or_campaign", "successive_30_day", "calendar_month", "24_hours"
    ]
    scope: Literal["campaign", "caller", "campaign_or_call_centre"]
    denominator: str
    seconds_to_answer: int = Field(gt=0)
    clock_starts: str = ""
    min_ring_seconds: int | None = None
    min_rings: int | None = None
    recorded_message_required: bool = False
    safe_harbour: bool = True
    severity: str = ""


class ConsentParameters(_Fact):
    """What must be on record before a call, or how revocation and reassignment are treated."""

    check: Literal[
        "consent_before_call", "call_after_revocation", "reassigned_number", "ported_number_grace"
    ]
    required: str = ""
    required_non_marketing: str = ""
    required_b2b: str = ""
    trigger: str = ""
    area_code_presumption: bool = False
    max_days: int | None = Field(default=None, ge=0)
    day_type: DayType | None = None
    method: str = ""
    revoke_all_waived_until: date | None = None
    safe_harbour_response: str = ""
    query_fields: tuple[str, ...] = Field(default=(), strict=False)
    aging_days: int | None = None
    refresh_days: int | None = Field(default=None, gt=0)
    mandatory: bool = False
    grace_days: int | None = None
    max_consent_age_years: int | None = Field(default=None, gt=0)
    max_consent_age_from: str = ""
    customer_exception_until: date | None = None
    burden_of_proof: str = ""


class RetentionParameters(_Fact):
    """For how long which records are kept."""

    years: int = Field(gt=0)
    records: tuple[str, ...] = Field(strict=False, min_length=1)


class Exemption(_Fact):
    """What may lift a rule, and the condition as the source words it."""

    code: ExemptionCode
    detail: str = ""


class _Rule(_Fact):
    id: str = Field(pattern=r"^[a-z0-9-]+$")
    title: str = Field(min_length=1)
    jurisdiction: str = Field(pattern=_JURISDICTION)
    status: Literal["in_force", "superseded", "voluntary_code"]
    effective_from: date | None = None
    effective_to: date | None = None
    replaces: str | None = None
    applies_to: tuple[str, ...] = Field(strict=False, min_length=1)
    applies_text: str
    line_types: tuple[LineType, ...] = Field(strict=False, min_length=1)
    dialing: Dialing
    citation: str = Field(min_length=1)
    sources: tuple[str, ...] = Field(strict=False, min_length=1)
    confidence: Literal["high", "medium", "low"]
    exemptions: tuple[Exemption, ...] = Field(strict=False)
    inputs: tuple[str, ...] = Field(strict=False, min_length=1)
    notes: str = ""

    @model_validator(mode="after")
    def _forward(self) -> _Rule:
        begins, ends = self.effective_from, self.effective_to
        if begins is not None and ends is not None and begins > ends:
            raise ValueError("effective_to lies before effective_from")
        if self.status == "superseded" and ends is None:
            raise ValueError("a superseded rule has its last day in effective_to")
        return self

    @property
    def exempted_by(self) -> frozenset[str]:
        """Codes of the records that lift this rule."""
        return frozenset(each.code for each in self.exemptions)

    def holds_on(self, day: date) -> bool:
        """Whether the rule was in force on that day, both ends included."""
        begun = self.effective_from is None or self.effective_from <= day
        return begun and (self.effective_to is None or day <= self.effective_to)


class HoursRule(_Rule):
    """When calls may start."""

    kind: Literal["calling_hours"]
    parameters: HoursParameters


class HolidayRule(_Rule):
    """Days on which no call may start."""

    kind: Literal["holiday"]
    parameters: HolidayParameters


class CapRule(_Rule):
    """How often one number may be called."""

    kind: Literal["attempt_cap"]
    parameters: CapParameters


class FreshnessRule(_Rule):
    """How old a Do-Not-Call check may be, and that a listed number is not called."""

    kind: Literal["dnc_freshness"]
    parameters: FreshnessParameters


class HonourRule(_Rule):
    """No call to somebody who asked not to be called."""

    kind: Literal["internal_dnc"]
    parameters: HonourParameters


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


Rule = (
    HoursRule | HolidayRule | CapRule | FreshnessRule | HonourRule | AbandonmentRule
    | ConsentRule | RetentionRule
)  # fmt: skip
AnyRule = Annotated[Rule, Field(discriminator="kind")]


class NoHours(_Fact):
    """Where no rule on hours was found beyond the federal ones, or none at all."""

    federal_only: tuple[str, ...] = Field(default=(), strict=False)
    same_as_federal: tuple[str, ...] = Field(default=(), strict=False)
    not_established: tuple[str, ...] = Field(default=(), strict=False)
    countries: tuple[str, ...] = Field(default=(), strict=False)


class Meta(_Fact):
    """What a book says of itself."""

    schema_version: Literal[2]
    version: str = Field(min_length=1)
    generated: date
    scope: str
    purpose: str
    confidence: dict[str, str] = Field(default_factory=dict)
    no_hours: NoHours = NoHours()


class Book(_Fact):
    """A whole book as it is written."""

    meta: Meta
    rule: tuple[AnyRule, ...] = Field(strict=False)


class Change(_Fact):
    """What a firm changes in one rule of the book: the new values, who decided it and why."""

    id: str
    by: str = Field(min_length=1)
    why: str = Field(min_length=1)
    on: date
    drop: bool = False
    effective_from: date | None = None
    effective_to: date | None = None
    parameters: dict[str, object] = Field(default_factory=dict)


class Addition(_Fact):
    """A rule of the firm's own, with who decided it and why."""

    by: str = Field(min_length=1)
    why: str = Field(min_length=1)
    on: date
    rule: AnyRule


class OwnRules(_Fact):
    """A firm's file: changes to rules of the book, and rules of its own."""

    change: tuple[Change, ...] = Field(default=(), strict=False)
    add: tuple[Addition, ...] = Field(default=(), strict=False)
