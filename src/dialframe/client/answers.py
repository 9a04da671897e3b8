"""What a call gives back, as plain values; knows no transport and parses nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeVar

from dialframe.contract.models.shape import Answer
from dialframe.privacy import mask_phone

Res = TypeVar("Res", bound=Answer)
Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Quarantined:
    """A row of a list that is not what the contract says.

    Attributes:
        index: Its 0-based place on the page.
        raw: The row as it came.
        where: What is wrong in it, as a path.
        reason: What was expected there.
    """

    index: int
    raw: Any = field(repr=False)
    where: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered(Generic[Res]):
    """An answer with everything that came along with it.

    Attributes:
        value: The answer, parsed.
        raw: The same as JSON, exactly as it came.
        status: HTTP status.
        headers: Headers by lower-case name.
        request_id: `X-Request-ID`, for the operator.
        etag: `ETag` of what was read or changed.
        replayed: Whether it is the stored answer of an earlier request with the same key.
        key: The idempotency key that was sent.
        attempts: How often the request was sent.
        observed_at: When the request was sent, UTC.
        quarantined: Rows of a list that did not validate; they are not in `value`.
    """

    value: Res = field(repr=False)
    raw: Any = field(repr=False)
    status: int
    headers: Mapping[str, str] = field(repr=False)
    request_id: str | None
    etag: str | None
    replayed: bool
    key: str | None
    attempts: int
    observed_at: datetime
    quarantined: tuple[Quarantined, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ListPage(Generic[Row]):
    """One page of a list.

    Attributes:
        records: Rows that are what the contract says, in order.
        raw: Every row as JSON, exactly as it came, those in quarantine included.
        quarantined: Rows that did not validate.
        next_cursor: Where the list goes on, or None at its end.
        request_id: `X-Request-ID`.
        observed_at: When the page was asked for, UTC: its rows are as of then or later.
    """

    records: list[Row] = field(repr=False)
    raw: list[Any] = field(repr=False)
    quarantined: tuple[Quarantined, ...]
    next_cursor: str | None = field(repr=False)
    request_id: str | None
    observed_at: datetime


@dataclass(frozen=True, slots=True)
class DncChecked:
    """One number's answer from the Do-Not-Call check, with its evidence.

    Attributes:
        phone: The number as it was asked.
        listed: Whether it is on a Do-Not-Call list; which one is not said.
        checked_at: When the question was sent, UTC, by this machine's clock.
        request_id: The service's id of the answer.
    """

    phone: str
    listed: bool
    checked_at: datetime
    request_id: str | None

    def __repr__(self) -> str:
        return (
            f"DncChecked(phone={mask_phone(self.phone)!r}, listed={self.listed}, "
            f"checked_at={self.checked_at.isoformat()}, request_id={self.request_id!r})"
        )
