"""What a check-up found, as plain values."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Final, Literal

from dialframe.privacy import redact

State = Literal["ok", "warning", "failed", "not tried"]
STATES: Final[tuple[State, ...]] = ("ok", "warning", "failed", "not tried")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was checked.

    Attributes:
        check: What was checked.
        state: `ok`, `warning` (it works, or will not for everything), `failed`, or `not tried`.
        detail: What was seen; keys and numbers hidden.
        what_next: What to do about it, or nothing.
    """

    check: str
    state: State
    detail: str
    what_next: str = ""

    def __post_init__(self) -> None:
        """Hide what must not be shown, whoever's words these are."""
        object.__setattr__(self, "detail", redact(self.detail))
        object.__setattr__(self, "what_next", redact(self.what_next))


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All that was checked, in the order of the checks."""

    rows: tuple[Finding, ...]

    @property
    def failed(self) -> bool:
        """Whether any check failed."""
        return any(row.state == "failed" for row in self.rows)

    @property
    def verdict(self) -> str:
        """How many checks ended in which state, in one sentence."""
        counts = Counter(row.state for row in self.rows)
        return ", ".join(f"{counts[state]} {state}" for state in STATES) + "."

    @property
    def troubles(self) -> tuple[Finding, ...]:
        """What failed or is a warning, failures first."""
        return tuple(
            row for state in ("failed", "warning") for row in self.rows if row.state == state
        )

    def of(self, check: str) -> Finding:
        """The row of one check.

        Raises:
            KeyError: There is no such check.
        """
        for row in self.rows:
            if row.check == check:
                return row
        raise KeyError(check)

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON: `ok`, how many in each state, and the rows."""
        counts = Counter(row.state for row in self.rows)
        return {
            "ok": not self.failed,
            "counts": {state: counts[state] for state in STATES},
            "checks": [
                {
                    "check": row.check,
                    "state": row.state,
                    "detail": row.detail,
                    "what_next": row.what_next,
                }
                for row in self.rows
            ],
        }
