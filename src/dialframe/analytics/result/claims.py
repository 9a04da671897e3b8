"""What an analysis claims: each statement as a value that a test can read."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

Kind = Literal["difference", "best", "advice", "alarm", "none"]


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of a result; answers and titles are made of these texts and of nothing else.

    Attributes:
        kind: `difference` (two or more groups differ), `best` (one of them is named), `advice` (what
            to do), `alarm` (something went wrong), `none` (no such thing was seen, or a plain count).
        subject: What it is of: `hour`, a source, a caller ID.
        effect: Size of the effect: a difference of rates (0.012 is 1.2 points) unless `text` says
            that it is a ratio; None where nothing is compared.
        low: Lower bound of its 95 % interval.
        high: Upper bound.
        detectable: The effect that such data would have shown four times out of five.
        adjusted_for: What was held still.
        text: The statement in a sentence without its full stop.
    """

    kind: Kind
    subject: str
    effect: float | None = None
    low: float | None = None
    high: float | None = None
    detectable: float | None = None
    adjusted_for: tuple[str, ...] = ()
    text: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The claim in plain values."""
        return {**asdict(self), "adjusted_for": list(self.adjusted_for)}

    def renamed(self, names: dict[str, str]) -> Claim:
        """The same with ids as the names that people know.

        Args:
            names: Id to name.
        """
        text, subject = self.text, self.subject
        for old, new in names.items():
            text, subject = text.replace(old, new), subject.replace(old, new)
        return replace(self, text=text, subject=subject)


def counted(subject: str, text: str) -> tuple[Claim, ...]:
    """A plain count, which claims nothing of what differs from what."""
    return (Claim("none", subject, text=text),)


def points(value: float) -> str:
    """A difference of rates as people say it: `1.2 points`."""
    return f"{100 * value:.1f} points"


def seen(detectable: float | None, one: str | None = None) -> str:
    """How great a difference would have been seen, for the end of a sentence.

    Args:
        detectable: The difference; None where it is not known.
        one: What would differ from the others alone: `a weekday`; by default groups from each other.
    """
    if detectable is None:
        return ""
    size = points(detectable)
    what = f"a difference of {size}" if one is None else f"{one} {size} from the others"
    return f"; {what} would have been seen four times out of five"
