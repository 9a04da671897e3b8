"""Describes what each kind of rule says, field by field.

Every model refuses fields that it does not know, so a misspelled name is an error and no silence.
Every field bears on an audit: on a grade, on the words of a finding, or on what is accepted as a
rule at all (`tests/compliance/test_every_parameter.py` changes each field of each rule in turn).
"""

from __future__ import annotations

import re
from datetime import date, time
from itertools import pairwise
from typing import Annotated, Final, Literal, get_args
from zoneinfo import available_timezones

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    model_validator,
)

Kind = Literal[
    "calling_hours", "holiday", "attempt_cap", "dnc_freshness", "internal_dnc",
    "abandonment_rate", "consent", "retention", "recording_consent", "caller_id",
    "artificial_voice", "sector_ban",
]  # fmt: skip
#: Kinds of rules, in the order of `Kind`.
KINDS: Final[tuple[str, ...]] = get_args(Kind)
Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
#: Days of the week, Monday first.
DAYS: Final[tuple[Day, ...]] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")

#: What may lift a rule. A record that names the code has to be shown for each call or number.
ExemptionCode = Literal[
    "answering_machine", "b2b", "charity", "consent", "debt_collection", "ebr", "emergency",
    "attorney", "existing_contract", "existing_debt", "financial_services", "hipaa", "inbound",
    "isolated_transaction", "listed_occupation", "manual_dial", "newspaper", "nonprofit",
    "personal_relationship", "political", "requested", "survey", "transactional",
    "guaranteed_live_operator", "voicemail_broadcast", "written_consent",
]  # fmt: skip

#: To which calls a rule speaks: what the firm says they are for, or how they are dialed. A firm names
#: a purpose in its practice file; sales of a subject with rules of its own are sales too.
AppliesTo = Literal[
    "telemarketing_sales", "telecom_sales", "payroll_credit_sales", "claims_management_sales",
    "pension_sales", "energy_supply_sales", "energy_renovation_sales",
    "home_adaptation_sales", "training_account_sales", "informational",
    "informational_prerecorded", "debt_collection", "survey", "charity", "political",
    "prerecorded", "autodialed", "live_marketing", "any_outbound_dialer", "call_centre_outbound",
    "any_call",
]  # fmt: skip
LineType = Literal["residential", "wireless", "business"]
Dialing = Literal["any", "prerecorded", "autodialer", "autodialer_or_prerecorded", "predictive"]
#: What kind of consent is asked for, as the texts name it; `consent.STRENGTH` puts them in order.
Required = Literal[
    "", "any_solicitation_basis", "clear_unambiguous_evidential", "express",
    "free_specific_informed_unambiguous_revocable", "prior_consent",
    "prior_consent_or_other_gdpr_basis", "prior_express", "prior_express_written",
    "specific_prior_consent",
]  # fmt: skip
#: Kinds of consent on record, the weakest first.
CONSENT_KINDS: Final = ("any", "express", "written")
DayType = Literal["business", "calendar", "none_stated"]

#: Most days of a calendar quarter.
_QUARTER_DAYS: Final = 92
_MONTH_DAY: Final = re.compile(r"(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])")


class Fact(BaseModel):
    """A value that cannot be changed and has no other fields than those it names."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


#: The end of a day: `24:00` in a file, since TOML has no such time of its own.
MIDNIGHT: Final = time(0)


def _closing(value: object) -> object:
    return MIDNIGHT if value == "24:00" else value


def _minute(clock: time) -> int:
    return clock.hour * 60 + clock.minute


def clock_words(closing: time) -> str:
    """The end of a window as people write it; midnight ends the day."""
    return "24:00" if closing == MIDNIGHT else f"{closing:%H:%M}"


#: The end of a window: a time of the day, or `"24:00"`.
Closing = Annotated[
    time,
    BeforeValidator(_closing),
    PlainSerializer(lambda at: "24:00" if at == MIDNIGHT else at.isoformat(), when_used="json"),
]


class Window(Fact):
    """A stretch of the day in which calls may start: `start` is inside, `end` is outside."""

    days: tuple[Day, ...] = Field(strict=False, min_length=1)
    start: time
    end: Closing

    @model_validator(mode="after")
    def _check_order(self) -> Window:
        if self.end != MIDNIGHT and self.start >= self.end:
            raise ValueError("a window ends after it starts")
        return self

    @property
    def minutes(self) -> range:
        """Minutes of the day in it."""
        return range(_minute(self.start), _minute(self.end) or 24 * 60)


class SpecialWindow(Fact):
    """Other hours for certain days: those before a public holiday, or Sundays and holidays."""

    start: time
    end: Closing
    calendar: str = Field(pattern=r"^[A-Z]{2}$")
    subdiv: str = ""
    citation: str = ""


class HoursParameters(Fact):
    """Windows of the week in the called party's local time, or in a fixed zone, and the days without any."""

    timezone_basis: Literal["called_party", "fixed"]
    event: Literal["call_start"]
    windows: tuple[Window, ...] = Field(strict=False, min_length=1)
    closed_days: tuple[Day, ...] = Field(strict=False)
    timezone: str | None = None
    holiday_rule: str | None = None
    area_code_presumption: bool = False
    #: ORS 646.563(1)(b): a caller may rely on the area code of a mobile number.
    area_code_reliance: bool = False
    #: Codice di condotta telemarketing (Garante Privacy): the eve of a holiday has the hours of a Saturday.
    before_holiday: SpecialWindow | None = None
    #: Neb. Rev. Stat. 86-248(1)(a): Sundays and holidays have hours of their own.
    sunday_and_holiday: SpecialWindow | None = None

    @model_validator(mode="after")
    def _whole_week(self) -> HoursParameters:
        opened = {day for window in self.windows for day in window.days}
        if opened & set(self.closed_days) or opened | set(self.closed_days) != set(DAYS):
            raise ValueError("each weekday has a window or is closed, and never both")
        if (self.timezone_basis == "fixed") != (self.timezone is not None):
            raise ValueError("a fixed basis names its timezone, any other does not")
        if self.timezone is not None and self.timezone not in available_timezones():
            raise ValueError(f"there is no time zone {self.timezone!r}, such as Europe/Paris")
        for day in DAYS:
            spans = sorted((w.start, w.end) for w in self.windows if day in w.days)
            if any(b[0] < a[1] or a[1] == MIDNIGHT for a, b in pairwise(spans)):
                raise ValueError(f"windows overlap on {day}")
        return self


class NamedDay(Fact):
    """A day of each year that a calendar lacks: `MM-DD`, its name, and whether it leaves a weekend.

    A day that moves is kept on Friday where it falls on Saturday, on Monday where on Sunday, too.
    """

    day: str
    name: str
    moves: bool = False

    @model_validator(mode="after")
    def _is_a_day(self) -> NamedDay:
        if _MONTH_DAY.fullmatch(self.day) is None:
            raise ValueError("a day is MM-DD")
        return self


class DisputedDay(Fact):
    """Days of which sources disagree whether calls are banned, by name, by weekday or both, and what they say."""

    name: str = ""
    weekday: Day | None = None
    sources: tuple[str, ...] = Field(strict=False, min_length=2)


class LocalDay(Fact):
    """A day that is a holiday in a part of the place alone: its name, where, and its rule of the day.

    `within` is the part of the country that it lies in (`MD`), where the country has such parts.

    `on` is a rule of the day as in `calendars.toml`; without it the calendar of the `holidays`
    library dates the name.
    """

    name: str
    where: str
    within: str = ""
    on: str = ""
    calendar: str = Field(default="", pattern=r"^([A-Z]{2})?$")
    subdiv: str = ""

    @model_validator(mode="after")
    def _is_dated(self) -> LocalDay:
        if bool(self.on) == bool(self.calendar):
            raise ValueError("a local day has `on` or a calendar, and not both")
        return self


class HolidayParameters(Fact):
    """Days without calls: a public calendar with what the law adds and drops, or declared emergencies.

    `statutory` names a calendar of `calendars.toml`, a list that a statute writes out; `calendar`
    one of the `holidays` library, for a law that says no more than "public holiday". `disputed`
    days of either are uncertain, with both sources named.

    `regional` says that holidays of a part of the country count too, or may; `local_only` names
    such days one by one. A call on such a day is uncertain, but for a number whose plan gives its
    first digits to other parts: the days are those of `type = "regional"`. `proclaimed`: more
    days may be proclaimed, which a firm's file of declared days names.
    """

    type: Literal["no_calls", "regional", "emergency_ban"]
    statutory: str | None = None
    calendar: str | None = None
    subdiv: str = ""
    observed: bool = True
    #: Where the list of the days was read, if it was: without it no day of `calendar` is certain.
    list_read_at: str = ""
    disputed: tuple[DisputedDay, ...] = Field(default=(), strict=False)
    add: tuple[NamedDay, ...] = Field(default=(), strict=False)
    drop: tuple[str, ...] = Field(default=(), strict=False)
    #: La. PSC General Order R-29617 (V)(A)(2): also days that the governor proclaims.
    proclaimed: bool = False
    local_only: tuple[LocalDay, ...] = Field(default=(), strict=False)
    regional: bool = False
    url: str = ""
    #: N.Y. Gen. Bus. Law 399-z(5-a): a declaration may hold in some counties alone.
    area: str = ""

    @model_validator(mode="after")
    def _has_days(self) -> HolidayParameters:
        if (self.type == "emergency_ban") != (self.calendar is self.statutory is None):
            raise ValueError("public holidays have a calendar, declared emergencies have none")
        if self.calendar is not None and self.statutory is not None:
            raise ValueError("a holiday rule goes by one calendar, statutory or not")
        return self


class CapParameters(Fact):
    """How many attempts may go to one number in a window of time."""

    max_attempts: int = Field(ge=0)
    window_type: Literal["rolling", "consecutive_days", "calendar_day"]
    window_hours: int | None = Field(default=None, gt=0)
    window_days: int | None = Field(default=None, gt=0)
    counts: Literal["all_attempts"]
    scope: tuple[str, ...] = Field(strict=False, min_length=1)
    subject_proxy: Literal["campaign_id"] | None = None
    #: 12 CFR 1006.14(b)(2)(i): more calls are presumed to harass, which can be rebutted.
    nature: Literal["", "rebuttable_presumption"] = ""
    #: 12 CFR 1006.14(b)(2)(i)(B): none within 7 days of a conversation, its day the first.
    cooldown_after_conversation_days: int | None = Field(default=None, gt=0)
    #: 47 CFR 64.1200(a)(3)(v): messages on health, one a day and three a week.
    hipaa_max_per_day: int | None = Field(default=None, gt=0)
    hipaa_max_per_week: int | None = Field(default=None, gt=0)
    #: Ofcom, Persistent Misuse (2008, 2010): 72 hours after an abandoned call, 24 after a machine.
    trigger: Literal["abandoned", "machine"] | None = None
    unless: ExemptionCode | None = None

    @model_validator(mode="after")
    def _one_window(self) -> CapParameters:
        if (self.window_hours is None) == (self.window_days is None):
            raise ValueError("a cap has window_hours or window_days, and not both")
        if (self.subject_proxy is not None) != ("subject" in self.scope):
            raise ValueError("a cap on a subject names what stands in for it, any other does not")
        if (self.hipaa_max_per_day is None) != (self.hipaa_max_per_week is None):
            raise ValueError("messages on health have a cap per day and one per week")
        if self.trigger is not None and self.window_type != "rolling":
            raise ValueError("a cap that follows an event has a rolling window")
        return self


class FreshnessParameters(Fact):
    """How old a check of a registry may be when the call starts, or that a listed number is not called."""

    registry: str
    check: Literal["age", "listed_number_called"] = "age"
    max_age_days: int = Field(gt=0)
    basis: Literal["age_at_call", "quarter_of_call", "age_of_result"] = "age_at_call"
    period: Literal["calendar_quarter"] | None = None
    #: 73 P.S. 2245.2(a): 30 days from the day on which a list of the quarter comes out.
    grace_days_after_publication: int | None = Field(default=None, ge=0)
    #: PECR 2003 reg. 21(3): a number listed for fewer than 28 days may still be called.
    listed_grace_days: int = Field(default=0, ge=0)
    #: 47 CFR 64.1200(f)(5): 18 months after a purchase, 3 after an inquiry.
    ebr_purchase_months: int = Field(default=0, ge=0)
    ebr_inquiry_months: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _of_period(self) -> FreshnessParameters:
        grace = self.grace_days_after_publication
        if self.period is None and (grace is not None or self.basis == "quarter_of_call"):
            raise ValueError("what goes by a quarter names its period")
        # A call to a listed number is judged by what was known of the number, however old the list is.
        if self.check == "listed_number_called" and self.basis == "quarter_of_call":
            raise ValueError("the quarter of a call is asked of the age of a check alone")
        if self.period is not None and self.max_age_days != _QUARTER_DAYS + (grace or 0):
            raise ValueError(
                f"the age allowed by a list of each quarter is {_QUARTER_DAYS} days and its grace"
            )
        return self


class HonorParameters(Fact):
    """Within how many days a request not to be called is honored, and for how long."""

    max_days: int = Field(ge=0)
    day_type: DayType
    holiday_calendar: str | None = None
    honor_years: int | None = Field(default=None, gt=0)
    #: CRTC Unsolicited Telecommunications Rules, Part III: three years and 14 days.
    honor_days: int | None = Field(default=None, gt=0)
    #: Code de la consommation art. D. 223-9: no call for 60 days after a refusal.
    cooldown_days: int | None = Field(default=None, gt=0)
    until_withdrawn: bool = False
    scope: str = ""
    #: 47 CFR 64.1200(d)(6): affiliates whom the person would reasonably expect to be meant.
    affiliates: str = ""

    @model_validator(mode="after")
    def _days_of_a_kind(self) -> HonorParameters:
        if (self.max_days == 0) != (self.day_type == "none_stated"):
            raise ValueError("days have a type, and without any grace none is stated")
        return self

    @property
    def allowed(self) -> str:
        """Days that the rule allows, in words."""
        words = f"{self.max_days} {self.day_type} days" if self.max_days else "no grace"
        words += " until it is withdrawn" if self.until_withdrawn else ""
        words += f", for {self.scope}" if self.scope else ""
        return words + (f", for affiliates {self.affiliates}" if self.affiliates else "")


class AbandonmentParameters(Fact):
    """The greatest share of answered calls that may be dropped, and over which period."""

    max_rate: float = Field(gt=0, lt=1)
    comparison: Literal["<=", "<"]
    period_days: int | None = Field(default=None, gt=0)
    period_type: Literal[
        "successive_30_day_or_campaign", "successive_30_day", "calendar_month", "24_hours"
    ]
    scope: Literal["campaign", "caller", "campaign_or_call_centre"]
    denominator: Literal[
        "calls_answered_by_live_person", "telemarketing_calls_answered_live_by_person",
        "calls_answered_live", "live_calls",
    ]  # fmt: skip
    #: 16 CFR 310.4(b)(1)(iv): within two seconds of the completed greeting.
    seconds_to_answer: int = Field(gt=0)
    clock_starts: str = ""
    #: 16 CFR 310.4(b)(4)(ii): at least 15 seconds or four rings.
    min_ring_seconds: int | None = None
    min_rings: int | None = None
    recorded_message_required: bool = False
    #: Ofcom, Persistent Misuse (2016): a rate is an indicator and no safe harbor since.
    safe_harbour: bool = True
    severity: Literal["", "warning"] = ""

    @model_validator(mode="after")
    def _consistent(self) -> AbandonmentParameters:
        if self.safe_harbour == (self.severity == "warning"):
            raise ValueError("a rate that is no safe harbour is a warning, any other is a limit")
        if (self.period_type == "calendar_month") != (self.period_days is None):
            raise ValueError("a period is a calendar month or has period_days")
        return self


class ConsentParameters(Fact):
    """What must be on record before a call, or how revocation and reassignment are treated."""

    check: Literal[
        "consent_before_call", "call_after_revocation", "reassigned_number", "ported_number_grace"
    ]
    required: Required = ""
    #: 47 CFR 64.1200(a)(1)(iii): calls that sell nothing need prior express consent.
    required_non_marketing: Required = ""
    #: UWG § 7 Abs. 2 Nr. 1: towards a business presumed consent is enough.
    required_b2b: Literal["", "presumed"] = ""
    #: PDPA 2012 s. 43: consent, or a check of the register.
    waived_by_check: bool = False
    trigger: str = ""
    area_code_presumption: bool = False
    max_days: int | None = Field(default=None, ge=0)
    day_type: DayType | None = None
    method: str = ""
    #: 47 CFR 64.1200(a)(10): that one revocation ends all consent is put off to that day.
    revoke_all_waived_until: date | None = None
    #: 47 CFR 64.1200(m): the database answers yes, no or no data, and only "no" is a safe harbor.
    safe_harbour_response: Literal["", "no"] = ""
    query_fields: tuple[str, ...] = Field(default=(), strict=False)
    #: 84 FR 11226: a number rests 45 days before it is given to somebody else.
    aging_days: int | None = Field(default=None, gt=0)
    refresh_days: int | None = Field(default=None, gt=0)
    #: 10 M.R.S. 1499-B(6): the look-up is a duty in Maine, elsewhere a safe harbor.
    mandatory: bool = False
    #: 47 CFR 64.1200(a)(1)(iv): 15 days after a number moved to a mobile line.
    grace_days: int | None = Field(default=None, gt=0)
    #: Ley 11/2022 art. 66.1.b: consent is renewed every two years.
    max_consent_age_years: int | None = Field(default=None, gt=0)
    max_consent_age_from: date | None = None
    #: Telecommunicatiewet art. 11.7: customers could be called without consent until then.
    customer_exception_until: date | None = None
    burden_of_proof: str = ""

    @model_validator(mode="after")
    def _of_its_check(self) -> ConsentParameters:
        wanted = {
            "consent_before_call": self.required != "",
            "call_after_revocation": self.max_days is not None and self.day_type is not None,
            "ported_number_grace": self.grace_days is not None,
        }
        if not wanted.get(self.check, True):
            raise ValueError(f"a rule of the check {self.check} says what it asks for")
        if self.max_consent_age_from is not None and self.max_consent_age_years is None:
            raise ValueError("consent that runs out from a day on has its years")
        return self


class RetentionParameters(Fact):
    """For how long which records are kept."""

    years: int = Field(gt=0)
    records: tuple[str, ...] = Field(strict=False, min_length=1)


class RecordingParameters(Fact):
    """Whose consent a recording needs.

    `all_parties`: everybody on the line; otherwise one party's is enough and no call breaks it.
    `announcement` says that telling the called person at the start, who then stays on the line,
    counts as consent.
    """

    consent: Literal["all_parties", "one_party"]
    announcement: bool = False
    #: Cal. Penal Code 632: the law of either end may ask for the consent of all.
    ends: Literal["called", "both"] = "both"


class CallerIdParameters(Fact):
    """What the number shown to the called person has to be.

    `own`: the caller's or the seller's, one of those in the firm's practice file. `valid`: a
    number that can be called. Never the called person's own, where `not_called_party` says so, nor
    a mobile number of the called person's plan, where `not_mobile` does. `prefixes`: how a number
    has to begin behind its plus (`33162`); of a number of another plan they decide nothing.
    """

    shown: bool = True
    own: bool = False
    valid: bool = False
    not_called_party: bool = False
    #: Orden TDF/149/2025 art. 9.1: no unsolicited commercial call from a mobile range.
    not_mobile: bool = False
    #: Arcep, décision 2022-1583, annexe 1, 2.3.7: the ranges that an automated system may show.
    prefixes: tuple[Annotated[str, Field(pattern=r"^[1-9]\d{1,9}$")], ...] = Field(
        default=(), strict=False
    )


class ArtificialVoiceParameters(Fact):
    """What a call with an artificial voice needs: disclosure at the start or on request, consent, or both."""

    disclosure: bool = False
    on_request: bool = False
    required: Required = ""

    @model_validator(mode="after")
    def _asks_something(self) -> ArtificialVoiceParameters:
        if not (self.disclosure or self.required):
            raise ValueError("a rule on artificial voices asks for disclosure or consent")
        return self


class SectorBanParameters(Fact):
    """A subject on which nobody may be called, in words; the purposes that it reaches are in `applies_to`."""

    subject: str = Field(min_length=1)
