"""Options of one call, checked when they are made, and the clock that calls go by."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from dialframe.contract import limits
from dialframe.contract.models.base_models import Answer
from dialframe.errors import ConfigError

_CORRELATION: Final = re.compile(limits.CORRELATION_ID_PATTERN)
_PRINTABLE: Final = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
_current: ContextVar[str | None] = ContextVar("dialframe_correlation", default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What may be said of a single call; what is None falls back to the client's own setting.

    Attributes:
        timeout_s: Seconds that connecting, sending, the head of an answer, or any further wait
            for bytes may take; an answer that drips in for longer counts as none.
        deadline_s: Seconds for the whole call: attempts, waits between them, the rate limit.
            Of a list, it holds for each page; of a Do-Not-Call check, for each hundred numbers.
        max_attempts: How often the request may be sent; 1 means never again.
        correlation_id: `X-Correlation-ID`; wins over `client.correlation(...)`.
        idempotency_key: Your own key for a write, 1-255 characters; one is made if it is None.
        if_match: The ETag to be sent as `If-Match`, or the value that this client read it with.
        late: Send a write that reaches people again although its window is over (see `Write`).
    """

    timeout_s: float | None = None
    deadline_s: float | None = None
    max_attempts: int | None = None
    correlation_id: str | None = None
    idempotency_key: str | None = None
    if_match: str | Answer | None = None
    late: bool = False

    def __post_init__(self) -> None:
        """Refuse what the contract would refuse."""
        _check_seconds("timeout_s", self.timeout_s)
        _check_seconds("deadline_s", self.deadline_s)
        _check_attempts(self.max_attempts)
        check_correlation(self.correlation_id)
        _check_header("idempotency_key", self.idempotency_key, limits.IDEMPOTENCY_KEY_CHARS[1])
        if isinstance(self.if_match, str):
            _check_header("if_match", self.if_match, limits.ETAG_CHARS)


@contextmanager
def correlation(correlation_id: str) -> Iterator[None]:
    """Send `X-Correlation-ID` with every call made inside the `with` block, in this thread.

    Args:
        correlation_id: The id that the service's log shows with these requests.

    Yields:
        Nothing.

    Raises:
        ConfigError: The id is not 1-128 characters of `A-Z a-z 0-9 . _ : -`.

    Example:
        >>> with correlation('nightly-sync:7'):
        ...     current_correlation()
        'nightly-sync:7'
    """
    check_correlation(correlation_id)
    token = _current.set(correlation_id)
    try:
        yield
    finally:
        _current.reset(token)


def current_correlation() -> str | None:
    """The correlation id of the `with` block that we are in, or None."""
    return _current.get()


def check_correlation(correlation_id: str | None) -> None:
    """Refuse a correlation id that the service would refuse."""
    if correlation_id is not None and not _CORRELATION.fullmatch(correlation_id):
        raise ConfigError(
            f"correlation_id: use 1 to {limits.CORRELATION_ID_CHARS[1]} of the characters "
            "A-Z a-z 0-9 . _ : -"
        )


def _check_seconds(name: str, seconds: float | None) -> None:
    if seconds is not None and not 0 < seconds < float("inf"):
        raise ConfigError(f"{name}: give a number of seconds above 0")


def _check_attempts(max_attempts: int | None) -> None:
    if max_attempts is not None and max_attempts < 1:
        raise ConfigError("max_attempts: give at least 1, which means: never send again")


def _check_header(name: str, value: str | None, longest: int) -> None:
    if value is None:
        return
    if len(value) > longest or not _PRINTABLE.fullmatch(value):
        raise ConfigError(f"{name}: use 1 to {longest} printable ASCII characters")


#: Nothing said: the client's own settings hold.
DEFAULTS: Final = Options()


async def _sleep_async(seconds: float) -> None:
    import asyncio

    await asyncio.sleep(seconds)


@dataclass(frozen=True, slots=True)
class Clock:
    """The clock and the random numbers of a client; tests pass their own.

    Attributes:
        now: The time of day, UTC-aware.
        monotonic: Seconds that never run backwards, for waits and deadlines.
        sleep: Wait so many seconds.
        jitter: A number from 0 up to 1, afresh each time.
        sleep_async: The same wait in an event loop.
    """

    now: Callable[[], datetime]
    monotonic: Callable[[], float]
    sleep: Callable[[float], None]
    jitter: Callable[[], float]
    sleep_async: Callable[[float], Awaitable[None]] = _sleep_async


def _now() -> datetime:
    return datetime.now(UTC)


#: The machine's own clock.
SYSTEM: Final = Clock(_now, time.monotonic, time.sleep, random.random)
