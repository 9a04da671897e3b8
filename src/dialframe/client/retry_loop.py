"""Whether a request is sent again, and when: a table and one pure function, then the loop that obeys it.

Sending again does no harm: a read does nothing, and every write has an idempotency key, under which it is done
once however often it is sent. So the question is whether waiting helps. The contract's table of codes says so
in `remedy`; what it does not name, its status.

A wait is never shorter than the service asked for: jitter only adds, and where the wait does not
fit before the deadline the call ends at once instead of asking too early.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

from dialframe.client.client_settings import Clock, Options
from dialframe.client.rate_limiter import RateLimiter, Turn, current_lane
from dialframe.client.request_building import PlannedRequest
from dialframe.client.response_reading import request_id_of
from dialframe.client.step_runners import Close, NextBytes, Send, Sleep, Steps, TakeTurn
from dialframe.contract import error_codes
from dialframe.errors import ApiError, RateLimited, TransportError

T = TypeVar("T")

logger: Final = logging.getLogger("dialframe.client")

FIRST_WAIT_S: Final = 0.5
LONGEST_BACKOFF_S: Final = 8.0
#: A service that asks for more than this is taken at its word only under an explicit deadline.
LONGEST_ASKED_S: Final = 120.0
#: Jitter adds up to this share of the wait, so that clients that failed together part company.
JITTER_SHARE: Final = 0.25
#: Contract, Idempotency 6: the same key still runs; Limits: the bucket is empty.
#: Codes that only say "not yet": they get this many times the attempts of a failure.
NOT_YET: Final = ("rate_limit_exceeded", "conflict")
PATIENCE: Final = 4

#: Stands for the time of sending until something is sent.
NEVER: Final = datetime.min.replace(tzinfo=UTC)
#: An answer that comes in slower than this, after its first `timeout_s`, counts as none.
SLOWEST_BYTES_PER_S: Final = 1024
#: A rate refusal without `Retry-After`: the bucket gives a token in a tenth of that.
PAUSE_UNASKED_S: Final = 1.0
#: A pause is longer by up to this.
APART_S: Final = 0.1
REPLAYED_HEADER: Final = "idempotency-replayed"


@dataclass(frozen=True, slots=True)
class Policy:
    """How long and how often; `keeps_open` leaves the connection open for whoever reads the body later."""

    timeout_s: float
    deadline_s: float | None
    max_attempts: int
    keeps_open: bool = False

    def of_call(self, options: Options) -> Policy:
        """The same with what the options of a call, or of a client, say instead."""
        return replace(
            self,
            timeout_s=options.timeout_s or self.timeout_s,
            deadline_s=options.deadline_s or self.deadline_s,
            max_attempts=options.max_attempts or self.max_attempts,
        )


@dataclass(slots=True)
class Trail:
    """What a call has left behind so far, for whoever has to judge its error.

    Attributes:
        attempts: How often the request was sent.
        sent_at: When it was sent last, UTC.
        maybe_sent: Whether an attempt without an answer may have reached the service.
        replayed: Whether the last answer is the stored one of the key.
    """

    attempts: int = 0
    sent_at: datetime = NEVER
    maybe_sent: bool = False
    replayed: bool = False


def wait_s(
    error: ApiError | TransportError,
    policy: Policy,
    trail: Trail,
    *,
    elapsed_s: float,
    jitter: float,
) -> float | None:
    """Seconds to wait before the same bytes are sent again after an error; None for never."""
    # Contract, Idempotency 3: the stored answer of a key stays what it is.
    if isinstance(error, ApiError) and (trail.replayed or not _waiting_helps(error)):
        return None
    asked_s = error.retry_after_s if isinstance(error, ApiError) else None
    not_yet = isinstance(error, ApiError) and error.code in NOT_YET
    # Who allows one attempt wants to know at once, a "not yet" included.
    patience = PATIENCE if not_yet and policy.max_attempts > 1 else 1
    if trail.attempts >= policy.max_attempts * patience:
        return None
    # Errors: every 429 and 503 carries `Retry-After` in seconds.
    if asked_s is None:
        asked_s = min(FIRST_WAIT_S * 2.0 ** (trail.attempts - 1), LONGEST_BACKOFF_S)
    # RFC 9110, 10.2.3: for so long the service wants no request; what parts the clients is added to it.
    share_s = min(max(asked_s, FIRST_WAIT_S), LONGEST_BACKOFF_S)
    after_s = asked_s + JITTER_SHARE * jitter * share_s
    if policy.deadline_s is not None:
        return after_s if elapsed_s + after_s < policy.deadline_s else None
    return after_s if asked_s <= LONGEST_ASKED_S else None


def _waiting_helps(error: ApiError) -> bool:
    row = error_codes.BY_CODE.get(error.code)
    if row is not None and error.status in row.statuses:
        return row.remedy == "retry"
    # An answer without a code comes from something in front of the service; a code that we do
    # not know may be a further cap, and asking again at once would spend it.
    return error.status >= 500 or (error.status == 429 and not error.code)


#: What is made of an answer; it raises the error that a refusal stands for.
Consume = Callable[[Any, "Body"], Steps[T]]


class Body:
    """The bytes of one answer as they arrive, with a bound on how slowly they may."""

    def __init__(
        self,
        request: PlannedRequest,
        reply: Any,
        policy: Policy,
        clock: Clock,
        until_s: float | None,
    ) -> None:
        """Read a reply of a request until a deadline (None for no end)."""
        self._request = request
        self._chunks = reply.chunks()
        self._policy = policy
        self._clock = clock
        self._until_s = until_s
        self._waited_s = 0.0
        self._came = 0

    def next(self) -> Steps[bytes | None]:
        """The next bytes, None at the end."""
        # What whoever takes the bytes does with them in between is no waiting.
        asked_s = self._clock.monotonic()
        chunk: bytes | None = yield NextBytes(self._chunks)
        if chunk is None:
            return None
        now_s = self._clock.monotonic()
        self._waited_s += now_s - asked_s
        # A deadline is for the whole call, the body with it.
        if self._until_s is not None and now_s >= self._until_s:
            raise self._too_slow("was still coming in at the deadline: raise deadline_s")
        if self._waited_s > self._policy.timeout_s + self._came / SLOWEST_BYTES_PER_S:
            raise self._too_slow("drips in and does not end: try again, or raise timeout_s")
        # Counted after the look: the first bytes may take the whole timeout.
        self._came += len(chunk)
        return chunk

    def _too_slow(self, what: str) -> TransportError:
        name = self._request.operation
        return TransportError(f"{name}: the answer {what}", operation=name)


class RetryLoop:
    """Sends a request until there is an answer that stays; any number of threads and tasks may share it."""

    def __init__(self, limiter: RateLimiter | None, clock: Clock) -> None:
        """Join a rate limit (None for none) and a clock."""
        self._limiter = limiter
        self._clock = clock

    def send(
        self, request: PlannedRequest, consume: Consume[T], policy: Policy, trail: Trail
    ) -> Steps[T]:
        """Send a request until there is an answer that stays."""
        started_s = self._clock.monotonic()
        until_s = None if policy.deadline_s is None else started_s + policy.deadline_s
        while True:
            turn = None
            if self._limiter is not None:
                turn = yield from self._turn(request, trail, until_s)
            try:
                return (yield from self._attempt(request, consume, policy, trail, until_s, turn))
            except (ApiError, TransportError) as error:
                # Of the monotonic clock: the time of day may be set back while we wait.
                elapsed_s = self._clock.monotonic() - started_s
                after_s = wait_s(
                    error, policy, trail, elapsed_s=elapsed_s, jitter=self._clock.jitter()
                )
                if after_s is None:
                    raise
            logger.info("%s: again in %.1f s", request.operation, after_s)
            yield Sleep(after_s)

    def _attempt(
        self,
        request: PlannedRequest,
        consume: Consume[T],
        policy: Policy,
        trail: Trail,
        until_s: float | None,
        turn: Turn | None,
    ) -> Steps[T]:
        began_s = self._clock.monotonic()
        timeout_s = policy.timeout_s
        if until_s is not None:
            # Never zero, which would mean "no limit" to some and "at once" to others.
            timeout_s = max(0.001, min(timeout_s, until_s - began_s))
        trail.attempts += 1
        trail.sent_at = self._clock.now()
        try:
            reply = yield Send(request, timeout_s)
            # A turn without `queued_s` says nothing of the way to the service.
            if self._limiter is not None and turn is not None and turn.queued_s:
                self._limiter.answered(turn, self._clock.monotonic())
            # Contract, Idempotency 3.
            trail.replayed = reply.headers.get(REPLAYED_HEADER, "").lower() == "true"
            try:
                value = yield from consume(
                    reply, Body(request, reply, policy, self._clock, until_s)
                )
            except GeneratorExit:
                raise  # nobody runs the steps any more: a further one would be an error
            except BaseException:
                yield Close(reply)
                self._log(request, reply, began_s)
                raise
            if not policy.keeps_open:
                yield Close(reply)
            self._log(request, reply, began_s)
        except TransportError as error:
            # One attempt that may have arrived is enough, whatever became of the others.
            trail.maybe_sent = trail.maybe_sent or error.sent
            error.sent = trail.maybe_sent
            raise
        except RateLimited as error:
            self._pause(error, began_s)
            raise
        return value

    def _turn(self, request: PlannedRequest, trail: Trail, until_s: float | None) -> Steps[Turn]:
        now_s = self._clock.monotonic()
        # Without a deadline nobody waits in a queue for longer than a refusal may ask.
        latest_s = now_s + LONGEST_ASKED_S if until_s is None else until_s
        turn: Turn | None = yield TakeTurn(current_lane(), latest_s)
        if turn is None:
            raise TransportError(
                f"{request.operation}: the rate limit leaves no room in the next "
                f"{max(latest_s - now_s, 0):.0f} s: set a longer deadline_s, or come back later",
                operation=request.operation,
                sent=trail.maybe_sent,
            )
        return turn

    def _pause(self, error: RateLimited, began_s: float) -> None:
        # Contract, Errors: daily_cap_reached and spend_cap_reached are 429 as well.
        # A cap by another name is not the bucket's business, however it is called.
        if self._limiter is None or error.code not in ("rate_limit_exceeded", ""):
            return
        asked_s = PAUSE_UNASKED_S if error.retry_after_s is None else error.retry_after_s
        # Processes that pause together come back one by one.
        asked_s += APART_S * self._clock.jitter()
        # When it was sent tells whether it is news, or one of several refused together.
        self._limiter.pause(self._clock.monotonic(), for_s=asked_s, sent_at_s=began_s)

    def _log(self, request: PlannedRequest, reply: Any, began_s: float) -> None:
        logger.info(
            "%s: %d, request %s, %.0f ms",
            request.operation,
            reply.status,
            request_id_of(reply.headers),
            (self._clock.monotonic() - began_s) * 1000,
        )
