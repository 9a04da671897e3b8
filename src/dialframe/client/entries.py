"""One write as the journal has it, and when its key may be used again; knows no disk and no HTTP."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal

from dialframe.client.wire import PlannedRequest
from dialframe.contract import limits
from dialframe.errors import ConfigError

State = Literal["pending", "answered", "outcome_unknown", "failed"]

#: How long a key is asked with again. The service forgets keys after 24 hours; the minute is for the way.
KEY_LIFE: Final = timedelta(hours=limits.IDEMPOTENCY_RETENTION_HOURS) - timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """One write as the journal has it.

    Attributes:
        key: Its idempotency key.
        operation: Name of the operation.
        created_at: When it was first about to be sent, UTC.
        state: What is known of it.
        status: HTTP status of the last answer, or None.
        code: Code of the last refusal, or None.
        request_id: `X-Request-ID` of the last answer, or None.
        digest: SHA-256 of method, path, query and body.
        request: The request with its bytes; None once they are no longer needed.
    """

    key: str
    operation: str
    created_at: datetime
    state: State
    status: int | None
    code: str | None
    request_id: str | None
    digest: str = field(repr=False)
    request: PlannedRequest | None = field(repr=False)

    def expired(self, now: datetime) -> bool:
        """Whether the service may have forgotten the key."""
        return now - self.created_at >= KEY_LIFE


def write_of(row: Mapping[str, Any]) -> Write:
    """A row of the journal as a value."""
    request = None
    if row["query"] is not None:
        request = PlannedRequest(
            operation=row["operation"],
            method=row["method"],
            path=row["path"],
            query=row["query"],
            headers=json.loads(row["headers"]),
            body=row["body"],
        )
    return Write(
        key=row["key"],
        operation=row["operation"],
        created_at=datetime.fromisoformat(row["created_at"]),
        state=row["state"],
        status=row["status"],
        code=row["code"],
        request_id=row["request_id"],
        digest=row["digest"],
        request=request,
    )


def refuse_reuse(known: Write, request: PlannedRequest, now: datetime) -> None:
    """Refuse to send a key again that stands for something else, or that is too old.

    Raises:
        ConfigError: The key belongs to another request, or the service may have forgotten it.
    """
    if known.digest != request.digest:
        raise ConfigError(
            f"{request.operation}: the idempotency key {known.key!r} belongs to another request "
            f"({known.operation}): use a new key for a new request"
        )
    if known.expired(now) and known.state != "failed":
        raise too_old(known)


def too_old(write: Write) -> ConfigError:
    """The refusal to ask with a key that the service may have forgotten."""
    return ConfigError(
        f"{write.operation}: the idempotency key {write.key!r} is from "
        f"{write.created_at.isoformat()} and the service keeps keys "
        f"{limits.IDEMPOTENCY_RETENTION_HOURS} hours, so sending it again may do it twice: look at "
        "the resource first, then either client.writes.settle(key, checked_absent=True), which "
        "sends it, or client.writes.dismiss(key), which does not"
    )


def stamp(moment: datetime) -> str:
    """A moment as text that compares as time does."""
    # One zone and one width.
    return moment.astimezone(UTC).isoformat(timespec="microseconds")
