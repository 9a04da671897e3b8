"""The schema of a rule book: rules, what a book says of itself, and a firm's changes; knows no file and no calls."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Final, Literal

from pydantic import Field, model_validator

from dialframe.compliance.parameters import (
    DAYS,
    AbandonmentParameters,
    CapParameters,
    ConsentParameters,
    Day,
    Dialing,
    ExemptionCode,
    Fact,
    FreshnessParameters,
    HolidayParameters,
    HonourParameters,
    HoursParameters,
    LineType,
    RetentionParameters,
    Window,
)

__all__ = [
    "DAYS", "AbandonmentRule", "AnyRule", "Book", "CapRule", "Change", "ConsentRule", "Day",
    "FreshnessRule", "HolidayRule", "HonourRule", "HoursRule", "NoHours", "OwnRules",
    "RetentionRule", "Rule", "Window",
]  # fmt: skip

Kind = Literal[
    "calling_hours", "holiday", "attempt_cap", "dnc_freshness", "internal_dnc",
    "abandonment_rate", "consent", "retention",
]  # fmt: skip
#: A voluntary code is advice: it is evaluated apart and nothing in it is a violation of law, until
#: a firm adopts it by naming the rule (`adopted_code`); from then on it counts like any other.
Status = Literal["in_force", "superseded", "voluntary_code", "adopted_code"]
_JURISDICTION: Final = r"^[A-Z]{2}(-[A-Z]{2})?$"


class Exemption(Fact):
    """What may lift a rule, and the condition as the source words it."""

    code: ExemptionCode
    detail: str = ""


class _Rule(Fact):
    id: str = Field(pattern=r"^[a-z0-9-]+$")
    title: str = Field(min_length=1)
    jurisdiction: str = Field(pattern=_JURISDICTION)
    status: Status
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

    @property
    def force(self) -> str:
        """Whose rule it is: `law`, `voluntary code`, or `adopted code` where the firm bound itself."""
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

    def holds_on(self, day: date) -> bool:
        """Whether the rule was in force on that day, both ends included."""
        begun = self.effective_from is None or self.effective_from <= day
        return begun and (self.effective_to is None or day <= self.effective_to)


class _TimeRule(_Rule):
    """A rule on the time of a call."""

    @property
    def exempted_by(self) -> frozenset[str]:
        """Codes of the records that lift this rule; whoever asked to be called then agreed to that time."""
        own = frozenset(each.code for each in self.exemptions)
        return own | {"requested"} if "consent" in own else own


class HoursRule(_TimeRule):
    """When calls may start."""

    kind: Literal["calling_hours"]
    parameters: HoursParameters


class HolidayRule(_TimeRule):
    """Days on which no call may start."""

    kind: Literal["holiday"]
    parameters: HolidayParameters


class CapRule(_Rule):
    """How often one number may be called."""

    kind: Literal["attempt_cap"]
    parameters: CapParameters

    @property
    def exempted_by(self) -> frozenset[str]:
        """Codes of the records that lift this rule; what it says of `unless` is one of them."""
        own = frozenset(each.code for each in self.exemptions)
        unless = self.parameters.unless
        return own if unless is None else own | {unless}


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


#: A rule of any kind.
Rule = (
    HoursRule | HolidayRule | CapRule | FreshnessRule | HonourRule | AbandonmentRule
    | ConsentRule | RetentionRule
)  # fmt: skip
AnyRule = Annotated[Rule, Field(discriminator="kind")]


class NoHours(Fact):
    """Where no rule on hours was found beyond the federal ones, or none at all."""

    federal_only: tuple[str, ...] = Field(default=(), strict=False)
    same_as_federal: tuple[str, ...] = Field(default=(), strict=False)
    not_established: tuple[str, ...] = Field(default=(), strict=False)
    countries: tuple[str, ...] = Field(default=(), strict=False)


class Meta(Fact):
    """What a book says of itself."""

    schema_version: Literal[2]
    version: str = Field(min_length=1)
    generated: date
    scope: str
    purpose: str
    confidence: dict[str, str] = Field(default_factory=dict)
    no_hours: NoHours = NoHours()


class Book(Fact):
    """A whole book as it is written."""

    meta: Meta
    rule: tuple[AnyRule, ...] = Field(strict=False)


class Change(Fact):
    """What a firm changes in one rule of the book: the new values, who decided it and why.

    `adopt = true` says that the firm joined a voluntary code, which then counts like a law.
    """

    id: str
    by: str = Field(min_length=1)
    why: str = Field(min_length=1)
    on: date
    drop: bool = False
    adopt: bool = False
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
