"""The rule book: telemarketing rules as facts with citation and source; knows no calls and no numbers.

The facts live in `data/rules.toml`. A rule says what a regulation says, where it is written, how
sure the reading is and from which day to which day it holds. It decides nothing: the grading is
in `hours` and `dnc`.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, time
from importlib import resources
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from dialframe.errors import ConfigError

#: A rule book older than this is likely to have missed a change of the rules.
STALE_AFTER_DAYS: Final = 180

Kind = Literal["calling_hours", "dnc_freshness", "listed_number", "internal_dnc"]
Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
DAYS: Final[tuple[Day, ...]] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


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


class HoursParameters(_Fact):
    """Windows of the week in the called party's local time, and the days without any."""

    timezone_basis: Literal["called_party"]
    event: Literal["call_start"]
    windows: tuple[Window, ...] = Field(strict=False, min_length=1)
    closed_days: tuple[Day, ...] = Field(strict=False)

    @model_validator(mode="after")
    def _whole_week(self) -> HoursParameters:
        opened = {day for window in self.windows for day in window.days}
        if opened & set(self.closed_days) or opened | set(self.closed_days) != set(DAYS):
            raise ValueError("each weekday has a window or is closed, and never both")
        return self


class FreshnessParameters(_Fact):
    """How old a check of a registry may be when the call starts."""

    registry: str
    max_age_days: int = Field(gt=0)


class ListedParameters(_Fact):
    """The registry, and how long a business relationship outweighs it."""

    registry: str
    ebr_purchase_months: int = Field(ge=0)
    ebr_inquiry_months: int = Field(ge=0)


class HonourParameters(_Fact):
    """Within how many days a request not to be called is honoured, and for how long."""

    max_days: int = Field(ge=0)
    day_type: Literal["business", "calendar", "none_stated"]
    honour_years: int | None = Field(default=None, gt=0)


class _Rule(_Fact):
    id: str = Field(pattern=r"^[a-z0-9-]+$")
    title: str = Field(min_length=1)
    jurisdiction: str = Field(pattern=r"^[A-Z]{2}(-[A-Z]{2})?$")
    status: Literal["in_force", "superseded", "voluntary_code"]
    applies_to: tuple[str, ...] = Field(strict=False, min_length=1)
    applies_text: str
    line_types: tuple[str, ...] = Field(strict=False)
    dialing: str
    citation: str = Field(min_length=1)
    source: str = Field(min_length=1)
    confidence: Literal["high", "medium", "low"]
    effective_from: date | None = None
    effective_to: date | None = None
    exemptions: tuple[str, ...] = Field(strict=False)
    inputs: tuple[str, ...] = Field(strict=False, min_length=1)
    notes: str = ""

    def holds_on(self, day: date) -> bool:
        """Whether the rule was in force on that day, both ends included."""
        begun = self.effective_from is None or self.effective_from <= day
        return begun and (self.effective_to is None or day <= self.effective_to)


class HoursRule(_Rule):
    """When calls may start."""

    kind: Literal["calling_hours"]
    parameters: HoursParameters


class FreshnessRule(_Rule):
    """How old a Do-Not-Call check may be."""

    kind: Literal["dnc_freshness"]
    parameters: FreshnessParameters


class ListedRule(_Rule):
    """No call to a number on a list."""

    kind: Literal["listed_number"]
    parameters: ListedParameters


class HonourRule(_Rule):
    """No call to somebody who asked not to be called."""

    kind: Literal["internal_dnc"]
    parameters: HonourParameters


Rule = HoursRule | FreshnessRule | ListedRule | HonourRule


class _Meta(_Fact):
    schema_version: Literal[1]
    version: str = Field(min_length=1)
    generated: date
    scope: str
    purpose: str
    confidence: dict[str, str]


class _Book(_Fact):
    meta: _Meta
    rule: tuple[Annotated[Rule, Field(discriminator="kind")], ...] = Field(strict=False)

    @model_validator(mode="after")
    def _unique(self) -> _Book:
        ids = [rule.id for rule in self.rule]
        twice = sorted({each for each in ids if ids.count(each) > 1})
        if twice:
            raise ValueError(f"rule ids occur twice: {', '.join(twice)}")
        return self


_BOOK: Final = TypeAdapter(_Book)


@dataclass(frozen=True, slots=True)
class RuleBook:
    """Every rule of one version.

    Attributes:
        version: Version of the facts, a date with dots.
        generated_on: Day on which the facts were gathered.
        sha256: Hash of the text that was read, for an evidence pack.
        scope: Which rules the book has; what is not named there is not audited.
        rules: The rules, in the order of the text.
    """

    version: str
    generated_on: date
    sha256: str
    scope: str
    rules: tuple[Rule, ...]

    def in_force(self, day: date) -> tuple[Rule, ...]:
        """Rules that held on a day; advisory codes are left out."""
        return tuple(r for r in self.rules if r.status != "voluntary_code" and r.holds_on(day))

    def hours(self) -> tuple[HoursRule, ...]:
        """Rules on calling hours, of every time; `holds_on` says which held on a call's day."""
        return tuple(
            r for r in self.rules if isinstance(r, HoursRule) and r.status != "voluntary_code"
        )

    def freshness(self, day: date) -> tuple[FreshnessRule, ...]:
        """Rules in force on a day about the age of a check."""
        return tuple(r for r in self.in_force(day) if isinstance(r, FreshnessRule))

    def listed(self, day: date) -> tuple[ListedRule, ...]:
        """Rules in force on a day about numbers on a list."""
        return tuple(r for r in self.in_force(day) if isinstance(r, ListedRule))

    def honour(self, day: date) -> tuple[HonourRule, ...]:
        """Rules in force on a day about requests not to be called."""
        return tuple(r for r in self.in_force(day) if isinstance(r, HonourRule))

    def age_note(self, today: date) -> str | None:
        """A sentence of warning when the book is older than 180 days, else None."""
        age = (today - self.generated_on).days
        if age <= STALE_AFTER_DAYS:
            return None
        return (
            f"the rule book {self.version} is {age} days old, more than {STALE_AFTER_DAYS}: "
            "rules may have changed since"
        )


def load() -> RuleBook:
    """The rule book that comes with the package.

    Raises:
        ConfigError: The packaged text does not fit its schema.
    """
    data = resources.files("dialframe.compliance") / "data" / "rules.toml"
    return parse(data.read_text(encoding="utf-8"))


def parse(text: str) -> RuleBook:
    """A rule book from TOML text of the packaged form.

    Raises:
        ConfigError: The text is not TOML, misses a field, has an unknown one or names a rule twice.
    """
    try:
        book = _BOOK.validate_python(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"rule book: not valid TOML ({error}); correct the text") from error
    except ValidationError as error:
        raise ConfigError(_first_problem(error)) from error
    return RuleBook(
        version=book.meta.version,
        generated_on=book.meta.generated,
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        scope=book.meta.scope,
        rules=book.rule,
    )


def ids(rules: Sequence[Rule]) -> str:
    """Ids of rules as one text, `; ` between them."""
    return "; ".join(rule.id for rule in rules)


def citations(rules: Sequence[Rule]) -> str:
    """Citations of rules as one text, `; ` between them."""
    return "; ".join(rule.citation for rule in rules)


def _first_problem(error: ValidationError) -> str:
    problems = error.errors(include_url=False)
    where = ".".join(str(step) for step in problems[0]["loc"]) or "the whole"
    more = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
    return f"rule book: {where}: {problems[0]['msg']}{more}; correct the text"
