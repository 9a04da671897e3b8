"""An operation from its request to its answer: planned, put down, sent, sent again, read; the one way of every method.

It is written once, as coroutines, for both kinds of client. What waits (a transport, a body, a sleep, the disk)
goes through a runner: the one of threads has waited when it hands its result over, so that a coroutine never
stops and is run by one `send`; the one of event loops hands over what is to be awaited.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Awaitable, Callable, Coroutine
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from dialframe.client import request_building, response_reading
from dialframe.client.client_settings import DEFAULTS, Clock, Options, current_correlation
from dialframe.client.rate_limiter import RateLimiter, is_bulk
from dialframe.client.recorded_writes import recorded
from dialframe.client.refusals import LONGEST_ASKED_S, Policy, Trail, wait_s
from dialframe.client.request_building import (
    Etags,
    PlannedRequest,
    Write,
    checked,
    fields_of,
    reach_of,
)
from dialframe.client.response_reading import (
    ANSWER_BYTES,
    Answered,
    ListPage,
    Mismatch,
    changed_since,
    request_id_of,
)
from dialframe.client.transport import AsyncTransport, Transport
from dialframe.client.write_journal import Journal
from dialframe.contract.models.base_models import Answer, ListQuery, Page, Request
from dialframe.contract.operations import BY_NAME, DNC_CHECK, Operation
from dialframe.errors import (
    ApiError,
    ConfigError,
    ContractError,
    DialframeError,
    PreconditionFailed,
    RateLimited,
    TransportError,
)
from dialframe.evidence import Record

T = TypeVar("T")
Req = TypeVar("Req", bound=Request)
Res = TypeVar("Res", bound=Answer)
Query = TypeVar("Query", bound=ListQuery)
Row = TypeVar("Row", bound=Answer)
#: A call that is not run yet.
Coro: TypeAlias = Coroutine[Any, Any, T]

logger: Final = logging.getLogger("dialframe.client")

#: An answer that comes in slower than this, after its first `timeout_s`, counts as none.
SLOWEST_BYTES_PER_S: Final = 1024
#: A rate refusal without `Retry-After`: the bucket gives a token in a tenth of that.
PAUSE_UNASKED_S: Final = 1.0
#: A pause is longer by up to this.
APART_S: Final = 0.1
REPLAYED_HEADER: Final = "idempotency-replayed"


class Runner(Protocol):
    """How a call waits: what its port gives goes through `finished`, whether it is a result or to be awaited."""

    transport: Any
    limiter: RateLimiter | None
    clock: Clock
    in_threads: bool
    next_chunk: Callable[..., Any]
    sleep: Callable[[float], Any]

    async def finished(self, result: Any) -> Any:
        """What there is to have."""

    async def on_disk(self, work: Callable[[], T]) -> T:
        """The result of what may block on a disk."""


class Sync:
    """Runs calls in the caller's thread; any number of threads may share it."""

    in_threads = True

    def __init__(self, transport: Transport, limiter: RateLimiter | None, clock: Clock) -> None:
        """Join a transport, a rate limit and a clock.

        Args:
            transport: What carries requests.
            limiter: The rate limit; None for none.
            clock: The time, and how to wait.
        """
        self.transport = transport
        self.limiter = limiter
        self.clock = clock
        self.next_chunk: Callable[..., Any] = next
        self.sleep: Callable[[float], Any] = clock.sleep

    async def finished(self, result: T) -> T:
        """Hand on what a function of the port gave, which has waited for it.

        Args:
            result: What it gave.

        Returns:
            The same.
        """
        return result

    async def on_disk(self, work: Callable[[], T]) -> T:
        """Do what may block on a disk.

        Args:
            work: What to do.

        Returns:
            Its result.
        """
        return work()

    def run(self, call: Coro[T]) -> T:
        """Run a call to its end.

        Args:
            call: The call.

        Returns:
            Its result.
        """
        try:
            call.send(None)
        except StopIteration as end:
            result: T = end.value
            return result
        raise TypeError("a call in a thread waited for an event loop")


class Async:
    """Runs calls in an event loop; what is cancelled is cancelled where it waits, with its connection closed."""

    in_threads = False

    def __init__(
        self, transport: AsyncTransport, limiter: RateLimiter | None, clock: Clock
    ) -> None:
        """Join a transport, a rate limit (None for none) and a clock."""
        self.transport = transport
        self.limiter = limiter
        self.clock = clock
        self.next_chunk: Callable[..., Any] = anext
        self.sleep: Callable[[float], Any] = clock.sleep_async

    async def finished(self, awaitable: Awaitable[T]) -> T:
        """The result of what is to be awaited."""
        return await awaitable

    async def on_disk(self, work: Callable[[], T]) -> T:
        """The result of what may block on a disk: it would hold up every other call of the loop."""
        import asyncio

        return await asyncio.to_thread(work)

    def run(self, call: Coro[T]) -> Coro[T]:
        """The call, for the loop to run."""
        return call


class Body:
    """The bytes of one answer as they arrive, with a bound on how slowly they may."""

    def __init__(
        self,
        runner: Runner,
        request: PlannedRequest,
        reply: Any,
        policy: Policy,
        until_s: float | None,
    ) -> None:
        """Read a reply of a request until a deadline (None for no end)."""
        self._runner = runner
        self._operation = request.operation
        self._chunks = reply.chunks()
        self._policy = policy
        self._until_s = until_s
        self._waited_s = 0.0
        self._came = 0

    async def next(self) -> bytes | None:
        """The next bytes, None at the end."""
        # What whoever takes the bytes does with them in between is no waiting.
        asked_s = self._runner.clock.monotonic()
        chunk: bytes | None = await self._runner.finished(
            self._runner.next_chunk(self._chunks, None)
        )
        if chunk is None:
            return None
        now_s = self._runner.clock.monotonic()
        self._waited_s += now_s - asked_s
        too_slow = None
        # A deadline is for the whole call, the body with it.
        if self._until_s is not None and now_s >= self._until_s:
            too_slow = "was still coming in at the deadline: raise deadline_s"
        elif self._waited_s > self._policy.timeout_s + self._came / SLOWEST_BYTES_PER_S:
            too_slow = "drips in and does not end: try again, or raise timeout_s"
        if too_slow is not None:
            raise TransportError(
                f"{self._operation}: the answer {too_slow}", operation=self._operation
            )
        # Counted after the look: the first bytes may take the whole timeout.
        self._came += len(chunk)
        return chunk


def _cursor_behind(page: Page[Any]) -> str | None:
    """Where a list goes on; None at its end."""
    info = page.page
    # Contract, Lists and pagination: `has_more` says the same, and may be believed where nothing came.
    if not page.data and not info.has_more and "has_more" in info.model_fields_set:
        return None
    return info.next_cursor or None


def _checks(planned: PlannedRequest, answered: Answered[Any]) -> list[Record]:
    """What an answer says of the Do-Not-Call list; nothing where it is not about the numbers that were asked."""
    asked, answers = fields_of(planned).get("phones"), answered.value.data
    # Contract, Endpoints, Do-Not-Call: one result per input number in input order.
    if [answer.phone for answer in answers] != asked:
        return []
    return [
        Record("check", answered.observed_at, answer.phone, DNC_CHECK.name,
               request_id=answered.request_id, detail={"listed": answer.listed})
        for answer in answers
    ]  # fmt: skip


#: What is made of an answer; it raises the error that a refusal stands for.
Consume = Callable[[Any, Body], Awaitable[T]]


class Sender:
    """Plans, journals, sends, reads; shared by every resource of a client, its threads and tasks."""

    def __init__(self, runner: Runner, journal: Journal, policy: Policy) -> None:
        """Join the parts of one client; the policy is that of calls whose options say nothing."""
        self.runner = runner
        self.journal = journal
        self.policy = policy
        self.etags = Etags()
        #: Takes what an account keeps as evidence; a client of its own keeps nothing.
        self.learn: Callable[[list[Record]], object] | None = None

    def with_policy(self, policy: Policy) -> Sender:
        """The same sender with another policy; what it has seen is shared."""
        other = copy(self)
        other.policy = policy
        return other

    async def ask(
        self,
        operation: Operation[Req, Res],
        make: Callable[[], Req],
        options: Options | None = None,
    ) -> Res:
        """The answer of an operation to the request that `make` builds."""
        answered = await self.ask_raw(operation, make, options)
        if answered.quarantined:
            first = answered.quarantined[0]
            raise ContractError(
                f"{operation.name}: {len(answered.quarantined)} rows are not what the contract "
                "says: walk the list page by page, or use send_raw, to have the others",
                operation=operation.name,
                where=f"data[{first.index}].{first.where}",
            )
        return answered.value

    async def ask_raw(
        self,
        operation: Operation[Req, Res],
        make: Callable[[], Req],
        options: Options | None = None,
    ) -> Answered[Res]:
        """The same with status, headers, attempts and the JSON as it came."""
        if operation.streamed:
            raise ConfigError(f"{operation.name}: it streams bytes: use client.{operation.name}")
        chosen = options or DEFAULTS
        planned = self._plan_request(operation, checked(operation.name, make), chosen)
        return await self._exchange(operation, planned, chosen)

    async def page(
        self,
        operation: Operation[Query, Page[Row]],
        query: Query,
        cursor: str | None,
        options: Options | None,
    ) -> ListPage[Row]:
        """The page of a list at a cursor: a call of its own, with its own attempts and deadline."""
        # The cursor is the service's own, whose bounds need not be looked at again.
        request, chosen = query.model_copy(update={"cursor": cursor}), options or DEFAULTS
        planned = self._plan_request(operation, request, chosen)
        answered = await self._exchange(operation, planned, chosen)
        return ListPage(
            records=answered.value.data,
            body=answered.body,
            quarantined=answered.quarantined,
            next_cursor=_cursor_behind(answered.value),
            request_id=answered.request_id,
            observed_at=answered.observed_at,
        )

    async def stream(
        self,
        operation: Operation[Req, Any],
        make: Callable[[], Req],
        options: Options | None,
        consume: Consume[T],
        *,
        keeps_open: bool = False,
    ) -> T:
        """What `consume` makes of a streamed answer; a refusal is raised before it is asked."""
        chosen = options or DEFAULTS
        planned = self._plan_request(operation, checked(operation.name, make), chosen)

        async def checked_first(reply: Any, body: Body) -> T:
            # What is refused is JSON, whatever the answer would have been.
            if not 200 <= reply.status < 300:
                await self._read(operation, planned, reply, body)
            return await consume(reply, body)

        policy = replace(self.policy.of_call(chosen), keeps_open=keeps_open)
        return await self._send(planned, checked_first, policy, Trail())

    async def resend(self, write: Write, options: Options) -> Answered[Any]:
        """The answer to a journalled write, asked with its own bytes."""
        if write.request is None or write.operation not in BY_NAME:
            raise ConfigError(
                f"{write.operation}: the write {write.key!r} cannot be sent again: its bytes are "
                "gone, or another version of dialframe made it"
            )
        return await self._exchange(BY_NAME[write.operation], write.request, options)

    async def or_fresh(self, ask: Callable[[], Coro[T]], reread: Callable[[], Coro[Answer]]) -> T:
        """The result of a call; where the resource has changed, its error carries what it says now."""
        try:
            return await ask()
        # Contract, Endpoints, Common request parts: 412 says that it changed, and not into what.
        except PreconditionFailed as error:
            try:
                fresh = await reread()
            except DialframeError:
                # The change was refused, and that is the news; why it cannot be read now is not.
                fresh = None
            raise changed_since(error, fresh) from None

    def _plan_request(
        self, operation: Operation[Any, Any], request: Request, options: Options
    ) -> PlannedRequest:
        key, if_match = options.idempotency_key, options.if_match
        if key is None and operation.changes_data:
            # One key for one intent: made here, outside of every loop.
            # Contract, Idempotency 1 and Endpoints, Calls 7: a new key is a new call.
            # 122 random bits: no two intents ever share one (RFC 9562, 5.4).
            key = str(uuid.uuid4())
        if if_match is not None and not isinstance(if_match, str):
            # Endpoints, Common request parts: `If-Match` is the ETag of the last read.
            etag = self.etags.of(if_match)
            if etag is None:
                raise ConfigError(
                    f"{operation.name}: if_match: this {type(if_match).__name__} came without an "
                    "ETag (rows of a list have none): read it by its id first"
                )
            if_match = etag
        return request_building.plan(
            operation,
            request,
            key=key,
            correlation_id=options.correlation_id or current_correlation.get(),
            if_match=if_match,
        )

    async def _exchange(
        self, operation: Operation[Any, Res], planned: PlannedRequest, options: Options
    ) -> Answered[Res]:
        trail, clock = Trail(), self.runner.clock

        async def consume(reply: Any, body: Body) -> Answered[Res]:
            whole, parsed = await self._read(operation, planned, reply, body)
            return Answered(
                value=parsed.value,
                body=whole,
                status=reply.status,
                headers=reply.headers,
                request_id=request_id_of(reply.headers),
                etag=reply.headers.get("etag"),
                replayed=trail.replayed,
                key=planned.key,
                attempts=trail.attempts,
                observed_at=trail.sent_at,
                quarantined=parsed.quarantined,
            )

        policy = self.policy if options is DEFAULTS else self.policy.of_call(options)
        if operation.changes_data:
            reach = reach_of(planned, clock.now())
            if reach is not None and reach.late_at is not None and not options.late:
                # Nobody is called or texted by an attempt that comes when its moment is over.
                window_s = (reach.late_at - clock.now()).total_seconds()
                policy = replace(policy, deadline_s=min(policy.deadline_s or window_s, window_s))
            answered = await recorded(
                self.journal,
                clock,
                self.runner.on_disk,
                planned,
                trail,
                lambda: self._send(planned, consume, policy, trail),
                late=options.late,
            )
        else:
            answered = await self._send(planned, consume, policy, trail)
        if self.learn is not None and operation.name == DNC_CHECK.name:
            # Before anybody sees it: an answer is evidence, whatever becomes of who asked.
            await self.runner.on_disk(partial(self.learn, _checks(planned, answered)))
        if answered.etag is not None:
            self.etags.remember(answered.value, answered.etag)
        return answered

    async def _read(
        self, operation: Operation[Any, Res], planned: PlannedRequest, reply: Any, body: Body
    ) -> tuple[bytes, response_reading.Parsed[Res]]:
        parts, length = [], 0
        while (chunk := await body.next()) is not None:
            parts.append(chunk)
            length += len(chunk)
            if length > ANSWER_BYTES:
                misfit = Mismatch("", f"it is longer than {ANSWER_BYTES:,} bytes")
                raise response_reading.broken(operation, misfit, reply.headers, planned.key)
        whole = parts[0] if len(parts) == 1 else b"".join(parts)
        parsed = response_reading.read(
            operation,
            planned,
            status=reply.status,
            headers=reply.headers,
            body=whole,
            now=self.runner.clock.now(),
        )
        return whole, parsed

    async def _send(
        self, request: PlannedRequest, consume: Consume[T], policy: Policy, trail: Trail
    ) -> T:
        """Send a request until there is an answer that stays."""
        clock = self.runner.clock
        started_s = clock.monotonic()
        until_s = None if policy.deadline_s is None else started_s + policy.deadline_s
        while True:
            if self.runner.limiter is not None:
                await self._turn(self.runner.limiter, request, trail, until_s)
            try:
                return await self._attempt(request, consume, policy, trail, until_s)
            except (ApiError, TransportError) as error:
                # Of the monotonic clock: the time of day may be set back while we wait.
                elapsed_s = clock.monotonic() - started_s
                after_s = wait_s(error, policy, trail, elapsed_s=elapsed_s, jitter=clock.jitter())
                if after_s is None:
                    raise
            logger.info("%s: again in %.1f s", request.operation, after_s)
            await self.runner.finished(self.runner.sleep(after_s))

    async def _turn(
        self, limiter: RateLimiter, request: PlannedRequest, trail: Trail, until_s: float | None
    ) -> None:
        """Wait until the rate limit lets the request go."""
        runner, bulk, now_s = self.runner, is_bulk.get(), self.runner.clock.monotonic()
        # Without a deadline nobody waits in a queue for longer than a refusal may ask.
        latest_s = now_s + LONGEST_ASKED_S if until_s is None else until_s
        asked_s = now_s
        # The bucket's file is locked for microseconds: less than handing it to a thread would cost.
        while (turn := limiter.reserve(asked_s, latest_s=latest_s, bulk=bulk)) is not None:
            if turn.at_s > asked_s:
                await runner.finished(runner.sleep(turn.at_s - asked_s))
                asked_s = runner.clock.monotonic()
                if not limiter.stands(turn, asked_s):
                    continue
            return
        raise TransportError(
            f"{request.operation}: the rate limit leaves no room in the next "
            f"{max(latest_s - now_s, 0):.0f} s: set a longer deadline_s, or come back later",
            operation=request.operation,
            sent=trail.maybe_sent,
        )

    async def _attempt(
        self,
        request: PlannedRequest,
        consume: Consume[T],
        policy: Policy,
        trail: Trail,
        until_s: float | None,
    ) -> T:
        runner, clock, limiter = self.runner, self.runner.clock, self.runner.limiter
        began_s = clock.monotonic()
        timeout_s = policy.timeout_s
        if until_s is not None:
            # Never zero, which would mean "no limit" to some and "at once" to others.
            timeout_s = max(0.001, min(timeout_s, until_s - began_s))
        trail.attempts += 1
        trail.sent_at = clock.now()
        try:
            reply: Any = await runner.finished(runner.transport.send(request, timeout_s=timeout_s))
            # Contract, Idempotency 3.
            trail.replayed = reply.headers.get(REPLAYED_HEADER, "").lower() == "true"
            leave_open = False
            try:
                value = await consume(reply, Body(runner, request, reply, policy, until_s))
                leave_open = policy.keeps_open
            except GeneratorExit:
                leave_open = True  # nobody runs the call any more: to wait would be an error
                raise
            finally:
                if not leave_open:
                    await runner.finished(reply.close())
                logger.info(
                    "%s: %d, request %s, %.0f ms",
                    request.operation,
                    reply.status,
                    request_id_of(reply.headers),
                    (clock.monotonic() - began_s) * 1000,
                )
        except TransportError as error:
            # One attempt that may have arrived is enough, whatever became of the others.
            trail.maybe_sent = trail.maybe_sent or error.sent
            error.sent = trail.maybe_sent
            raise
        except RateLimited as error:
            # Contract, Errors: daily_cap_reached and spend_cap_reached are 429 as well.
            # A cap by another name is not the bucket's business, however it is called.
            if limiter is not None and error.code in ("rate_limit_exceeded", ""):
                asked_s = PAUSE_UNASKED_S if error.retry_after_s is None else error.retry_after_s
                # Processes that pause together come back one by one.
                asked_s += APART_S * clock.jitter()
                # When it was sent tells whether it is news, or one of several refused together.
                limiter.pause(clock.monotonic(), for_s=asked_s, sent_at_s=began_s)
            raise
        return value
