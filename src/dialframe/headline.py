"""A number that is shown, with all that must be said of it: every sentence, table, picture and page renders this value."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal

__all__ = ["Grade", "Headline"]

#: How a number reads: `bad` needs somebody, `warn` is open, `good` is well, `plain` is a fact.
Grade = Literal["good", "warn", "bad", "plain"]


@dataclass(frozen=True, slots=True)
class Headline:
    """One number.

    Attributes:
        what: What is counted, in words: `calls outside the calling hours`.
        value: The number; None where it cannot be known.
        key: What a program calls it: `calls_with_a_violation`.
        at_most: What the value may be at most, where some of it is not known; None: it is exact.
        of: What it is out of; None where it is a count of its own.
        of_what: What `of` counts: `calls`.
        grade: How it reads.
        as_of: The moment that it holds at, UTC.
        since: First instant of the period; None: no bound.
        until: First instant after it; None: `as_of`.
        source: What it rests on: `store`, a file, an audit.
        detail: What a reader must know with it, in a sentence.
        says: What a sentence says of the value: `are outside the calling hours`; empty: `what` after a colon.

    Example:
        >>> Headline("late calls", 10, of=9600, of_what="calls", says="were made too late").sentence
        '10 of 9,600 calls were made too late.'
    """

    what: str
    value: float | None
    key: str = ""
    at_most: float | None = None
    of: int | None = None
    of_what: str = ""
    grade: Grade = "plain"
    as_of: datetime | None = None
    since: datetime | None = None
    until: datetime | None = None
    source: str = ""
    detail: str = ""
    says: str = ""

    @property
    def share(self) -> float | None:
        """The value as a share of what it is out of; None where it is not known exactly."""
        if self.at_most is not None:
            return None
        return None if self.value is None or not self.of else self.value / self.of

    @property
    def shown(self) -> str:
        """The number as every face writes it."""
        if self.value is None:
            return "unknown"
        value = f"{self.value:,.0f}"
        if self.at_most is not None:
            value += f" to {self.at_most:,.0f}"
        return value if self.of is None else f"{value} of {self.of:,}"

    @property
    def sentence(self) -> str:
        """The number in a sentence."""
        of_what = f" {self.of_what}" if self.of is not None and self.of_what else ""
        return f"{self.shown}{of_what}" + (f" {self.says}." if self.says else f": {self.what}.")

    def as_dict(self) -> dict[str, Any]:
        """The number for a machine."""
        return {**asdict(self), "share": self.share, "sentence": self.sentence}
