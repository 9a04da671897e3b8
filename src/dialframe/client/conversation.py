"""One call: attempts, waits between them, the rate limit, the deadline; knows no JSON and no operations."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final, Protocol, TypeVar

from dialframe.client.clock import Clock
from dialframe.client.decide import LONGEST_ASKED_S, Retry, Seen, decide
from dialframe.client.limiter import RateLimiter, current_lane
from dialframe.client.transport import Reply, Transport
from dialframe.client.wire import REPLAYED_HEADER, PlannedRequest
from dialframe.errors import ApiError, RateLimited, TransportError

T = TypeVar("T")

logger: Final = logging.getLogger("dialframe.client")

#: Stands for the time of sending until something is sent.
NEVER: Final = datetime.min.replace(tzinfo=UTC)
#: An answer that comes in slower than this, after its first `timeout_s`, counts as none.
SLOWEST_BYTES_PER_S: Final = 1024
#: A rate refusal without `Retry-After`: the bucket gives a token in a tenth of that.
PAUSE_UNASKED_S: Final = 1.0
#: A pause is longer by up to this.
APART_S: Final = 0.1


class Consume(Protocol[T]):  # type: ignore[misc]  # T is only returned
    """What is made of an answer; it raises the error that a refusal stands for."""

    def __call__(self, reply: Reply, body: Iterator[bytes]) -> T:
        """Turn an answer into a value; `body` gives its bytes as they arrive, until the deadline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How long and how often; `writes` and the request's key say what may be repeated."""

    timeout_s: float
    deadline_s: float | None
    max_attempts: int
    writes: bool


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


class Conversation:
    """The service on one side, a caller on the other; any number of threads may hold calls."""

    def __init__(self, transport: Transport, limiter: RateLimiter | None, clock: Clock) -> None:
        """Join a transport, a rate limit (None for none) and a clock."""
        self._transport = transport
        self._limiter = limiter
        self._clock = clock

    def hold(
        self, request: PlannedRequest, consume: Consume[T], policy: Policy, trail: Trail
    ) -> T:
        """Send a request until there is an answer that stays.

        Args:
            request: What is sent, the same bytes each time.
            consume: What is made of an answer.
            policy: How long and how often.
            trail: Filled in as the call goes on.

        Raises:
            TransportError: No answer came.
            ApiError: The service refused it.
            ContractError: The answer is not what the contract says.
        """
        started_s = self._clock.monotonic()
        until_s = None if policy.deadline_s is None else started_s + policy.deadline_s
        while True:
            self._take_turn(request, trail, until_s)
            try:
                return self._attempt(request, consume, policy, trail, until_s)
            except (ApiError, TransportError) as error:
                elapsed_s = self._clock.monotonic() - started_s
                verdict = decide(
                    _seen(error, request, policy, trail, elapsed_s), self._clock.jitter()
                )
                if not isinstance(verdict, Retry):
                    raise
            logger.info("%s: again in %.1f s", request.operation, verdict.after_s)
            self._clock.sleep(verdict.after_s)

    def _attempt(
        self,
        request: PlannedRequest,
        consume: Consume[T],
        policy: Policy,
        trail: Trail,
        until_s: float | None,
    ) -> T:
        began_s = self._clock.monotonic()
        timeout_s = _within(policy.timeout_s, began_s, until_s)
        trail.attempts += 1
        trail.sent_at = self._clock.now()
        try:
            reply = self._transport.send(request, timeout_s=timeout_s)
            try:
                trail.replayed = reply.headers.get(REPLAYED_HEADER, "").lower() == "true"
                return consume(reply, self._body(request, reply, policy, until_s))
            finally:
                reply.close()
                self._say(request, reply, began_s)
        except TransportError as error:
            trail.maybe_sent = trail.maybe_sent or error.sent
            error.sent = trail.maybe_sent
            raise
        except RateLimited as error:
            self._pause(error, began_s)
            raise

    def _take_turn(self, request: PlannedRequest, trail: Trail, until_s: float | None) -> None:
        if self._limiter is None:
            return
        lane, asked_s = current_lane(), self._clock.monotonic()
        latest_s = asked_s + LONGEST_ASKED_S if until_s is None else until_s
        with self._limiter.line(lane, latest_s - asked_s) as moved_up:
            while moved_up:
                now_s = self._clock.monotonic()
                turn = self._limiter.reserve(now_s, latest_s=latest_s, lane=lane)
                if turn is None:
                    break
                if turn.at_s <= now_s:
                    return
                self._clock.sleep(turn.at_s - now_s)
                if self._limiter.stands(turn):
                    return
        raise TransportError(
            f"{request.operation}: the rate limit leaves no room in the next "
            f"{max(latest_s - asked_s, 0):.0f} s: set a longer deadline_s, or come back later",
            operation=request.operation,
            sent=trail.maybe_sent,
        )

    def _body(
        self, request: PlannedRequest, reply: Reply, policy: Policy, until_s: float | None
    ) -> Iterator[bytes]:
        waited_s, came = 0.0, 0
        asked_s = self._clock.monotonic()
        for chunk in reply.chunks():
            now_s = self._clock.monotonic()
            # What whoever takes the bytes does with them in between is no waiting.
            waited_s += now_s - asked_s
            if until_s is not None and now_s >= until_s:
                raise _too_slow(request, "was still coming in at the deadline: raise deadline_s")
            if waited_s > policy.timeout_s + came / SLOWEST_BYTES_PER_S:
                raise _too_slow(
                    request, "drips in and does not end: try again, or raise timeout_s"
                )
            came += len(chunk)
            yield chunk
            asked_s = self._clock.monotonic()

    def _pause(self, error: RateLimited, began_s: float) -> None:
        # A cap by another name is not the bucket's business, however it is called.
        if self._limiter is None or error.code not in ("rate_limit_exceeded", ""):
            return
        asked_s = PAUSE_UNASKED_S if error.retry_after_s is None else error.retry_after_s
        # Processes that pause together come back one by one.
        asked_s += APART_S * self._clock.jitter()
        self._limiter.pause(self._clock.monotonic(), for_s=asked_s, sent_at_s=began_s)

    def _say(self, request: PlannedRequest, reply: Reply, began_s: float) -> None:
        logger.info(
            "%s: %d, request %s, %.0f ms",
            request.operation,
            reply.status,
            reply.headers.get("x-request-id"),
            (self._clock.monotonic() - began_s) * 1000,
        )


def _too_slow(request: PlannedRequest, what: str) -> TransportError:
    return TransportError(f"{request.operation}: the answer {what}", operation=request.operation)


def _within(timeout_s: float, now_s: float, until_s: float | None) -> float:
    # Never zero, which would mean "no limit" to some and "at once" to others.
    return timeout_s if until_s is None else max(0.001, min(timeout_s, until_s - now_s))


def _seen(
    error: ApiError | TransportError,
    request: PlannedRequest,
    policy: Policy,
    trail: Trail,
    elapsed_s: float,
) -> Seen:
    known = Seen(
        phase="answered",
        writes=policy.writes,
        has_key=request.key is not None,
        attempt=trail.attempts,
        max_attempts=policy.max_attempts,
        elapsed_s=elapsed_s,
        deadline_s=policy.deadline_s,
    )
    if isinstance(error, TransportError):
        return replace(known, phase="maybe_sent" if error.sent else "not_sent")
    return replace(
        known,
        status=error.status,
        code=error.code,
        retry_after_s=error.retry_after_s,
        replayed=trail.replayed,
    )
