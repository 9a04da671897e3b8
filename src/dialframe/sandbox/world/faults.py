"""Failures on request: decides how the next matching request fails."""

from __future__ import annotations

import sqlite3
import threading
from dataclasses import dataclass, replace
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from dialframe.contract import operations
from dialframe.contract.error_codes import ALL, BY_CODE
from dialframe.sandbox.world.api_objects import Refusal

ANY: Final = "*"

Drop = Literal["before", "during", "after-commit"]

#: The code that a status stands for when a fault names the status alone.
CODE_BY_STATUS: Final[dict[int, str]] = {
    400: "validation_failed",
    403: "insufficient_scope",
    404: "not_found",
    409: "conflict",
    422: "validation_failed",
    429: "rate_limit_exceeded",
    500: "internal_error",
    503: "temporarily_unavailable",
}


class Rule(BaseModel):
    """One failure, for the next `times` matching requests after the first `after` of them.

    Attributes:
        operation: Name of an operation, or `*` for any.
        status: HTTP status of an error, or of the answer with `body`.
        code: Code of an error; with a status, also one that the contract does not know.
        delay_seconds: Real seconds that the operation takes longer, its key already reserved.
        drop: Where the connection is cut: before anything happens; during the operation (half of a
            read's answer arrives, a write is undone); or after the commit, the answer lost.
        body: What is answered instead of JSON.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    operation: str = ANY
    times: Annotated[int, Field(ge=1)] = 1
    after: Annotated[int, Field(ge=0)] = 0
    status: Annotated[int, Field(ge=200, le=599)] | None = None
    code: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    delay_seconds: Annotated[float, Field(ge=0, le=3600)] | None = None
    drop: Drop | None = None
    body: str | None = None

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if self.operation != ANY and self.operation not in operations.BY_NAME:
            raise ValueError(f"no operation is called {self.operation!r}")
        if self.code is not None and self.status is None and self.code not in BY_CODE:
            raise ValueError(f"the code {self.code!r} is not of the contract: give a status too")
        effects = (self.status, self.code, self.delay_seconds, self.drop, self.body)
        if all(effect is None for effect in effects):
            raise ValueError("name a status, code, delay_seconds, drop or body")
        if self.body is None and self.code is None and (self.status or 400) < 400:
            raise ValueError("an error has a status of 400 or more")
        return self

    @property
    def refusal(self) -> Refusal | None:
        """The error that it answers with, if it does."""
        if self.body is not None or (self.status is None and self.code is None):
            return None
        detail = "A failure that was asked for at the console."
        return Refusal(self.code or _code_of(self.status), detail, status=self.status)


@dataclass(frozen=True, slots=True)
class Armed:
    """A rule with what is left of it."""

    number: int
    rule: Rule
    after: int
    times: int


class Faults:
    """The failures that are armed, oldest first; what becomes of them is for the caller to keep."""

    def __init__(self, armed: list[Armed]) -> None:
        self._armed = armed
        self._lock = threading.Lock()

    def take(self, operation: str) -> tuple[Rule | None, tuple[Armed, ...]]:
        """The failure of a request of this operation, and the rules that this changed.

        Every matching rule counts the request until one of them makes it fail.
        """
        with self._lock:
            changed: list[Armed] = []
            rule = None
            for armed in self._armed:
                if armed.rule.operation not in (ANY, operation) or rule is not None:
                    continue
                if armed.after:
                    changed.append(replace(armed, after=armed.after - 1))
                else:
                    rule = armed.rule
                    changed.append(replace(armed, times=armed.times - 1))
            self._update(changed)
            return rule, tuple(changed)

    def arm(self, armed: Armed) -> None:
        """Add one."""
        with self._lock:
            self._armed.append(armed)

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._armed.clear()

    def _update(self, changed: list[Armed]) -> None:
        after = {armed.number: armed for armed in changed}
        left = (after.get(armed.number, armed) for armed in self._armed)
        self._armed = [armed for armed in left if armed.times]


def load(db: sqlite3.Connection) -> Faults:
    """The failures that the database holds."""
    rows = db.execute("SELECT number, rule, after, times FROM faults ORDER BY number")
    return Faults(
        [Armed(row[0], Rule.model_validate_json(row[1]), row[2], row[3]) for row in rows]
    )


def add(db: sqlite3.Connection, rule: Rule) -> Armed:
    """Keep a failure."""
    number = db.execute(
        "INSERT INTO faults (rule, after, times) VALUES (?, ?, ?)",
        (rule.model_dump_json(), rule.after, rule.times),
    ).lastrowid
    return Armed(number or 0, rule, rule.after, rule.times)


def save(db: sqlite3.Connection, changed: tuple[Armed, ...]) -> None:
    """Keep what is left of failures."""
    db.executemany(
        "UPDATE faults SET after = ?, times = ? WHERE number = ?",
        [(armed.after, armed.times, armed.number) for armed in changed],
    )
    db.execute("DELETE FROM faults WHERE times = 0")


def _code_of(status: int | None) -> str:
    named = (row.code for row in ALL if status in row.statuses)
    return CODE_BY_STATUS.get(status or 0) or next(named, "unknown_error")
