"""An operation from its request to its answer, in steps: planned, put down, sent, read; the one way of every method."""

from __future__ import annotations

import logging
import uuid
import weakref
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, TypeVar

from dialframe.client import request_building, response_reading
from dialframe.client.client_settings import DEFAULTS, Clock, Options, current_correlation
from dialframe.client.pagination import ListPlan
from dialframe.client.request_building import PlannedRequest, State, Write, checked, reach_of
from dialframe.client.response_reading import (
    ANSWER_BYTES,
    Answered,
    ListPage,
    changed_since,
    request_id_of,
)
from dialframe.client.retry_loop import Body, Consume, Policy, RetryLoop, Trail
from dialframe.client.step_runners import Note, OnDisk, Steps
from dialframe.client.tolerant_json import Mismatch, Novelties, novel_values, row_model
from dialframe.client.write_journal import Journal
from dialframe.contract.models.base_models import Answer, ListQuery, Page, Request
from dialframe.contract.operations import BY_NAME, Operation
from dialframe.errors import (
    ApiError,
    ConfigError,
    ContractError,
    DialframeError,
    OutcomeUnknown,
    PreconditionFailed,
    StoreError,
    TransportError,
)

T = TypeVar("T")
Req = TypeVar("Req", bound=Request)
Res = TypeVar("Res", bound=Answer)
Query = TypeVar("Query", bound=ListQuery)
Row = TypeVar("Row", bound=Answer)

logger: Final = logging.getLogger("dialframe.client")

#: States of a journal entry whose request may have arrived.
_MAYBE: Final[tuple[State | None, ...]] = ("pending", "outcome_unknown", "answered")


class Sender:
    """Plans, journals, sends, reads; shared by every resource of a client, its threads and tasks."""

    def __init__(self, loop: RetryLoop, journal: Journal, clock: Clock, policy: Policy) -> None:
        """Join the parts of one client; the policy is that of calls whose options say nothing."""
        self._loop = loop
        self.journal = journal
        self.clock = clock
        self.policy = policy
        self.etags = Etags()
        self.novelties = Novelties()

    def with_policy(self, policy: Policy) -> Sender:
        """The same sender with another policy; what it has seen is shared."""
        other = Sender(self._loop, self.journal, self.clock, policy)
        other.etags, other.novelties = self.etags, self.novelties
        return other

    def ask(
        self,
        operation: Operation[Req, Res],
        make: Callable[[], Req],
        options: Options | None = None,
    ) -> Steps[Res]:
        """The answer of an operation to the request that `make` builds."""
        answered = yield from self.ask_raw(operation, make, options)
        if answered.quarantined:
            first = answered.quarantined[0]
            raise ContractError(
                f"{operation.name}: {len(answered.quarantined)} rows are not what the contract "
                "says: walk the list page by page, or use send_raw, to have the others",
                operation=operation.name,
                where=f"data[{first.index}].{first.where}",
            )
        return answered.value

    def ask_raw(
        self,
        operation: Operation[Req, Res],
        make: Callable[[], Req],
        options: Options | None = None,
    ) -> Steps[Answered[Res]]:
        """The same with status, headers, attempts and the JSON as it came."""
        if operation.streamed:
            raise ConfigError(f"{operation.name}: it streams bytes: use client.{operation.name}")
        chosen = options or DEFAULTS
        planned = self._planned(operation, checked(operation.name, make), chosen)
        answered = yield from self._exchange(operation, planned, chosen)
        # Below `with_raw_response` this is what a method gives, whatever it makes of the value.
        yield Note(answered)
        return answered

    def listing(
        self,
        operation: Operation[Query, Page[Row]],
        make: Callable[[], Query],
        options: Options | None = None,
    ) -> ListPlan[Row]:
        """A list of the service, to be walked; its filters are checked at once."""
        query = checked(operation.name, make)

        # Every page is a call of its own, with its own attempts and deadline.
        def fetch(cursor: str | None) -> Steps[ListPage[Row]]:
            # The cursor is the service's own, whose bounds need not be looked at again.
            page_query = query.model_copy(update={"cursor": cursor})
            answered = yield from self.ask_raw(operation, lambda: page_query, options)
            return ListPage(
                records=answered.value.data,
                body=answered.body,
                quarantined=answered.quarantined,
                # Contract, Lists and pagination: a cursor has 1 character at least.
                next_cursor=answered.value.page.next_cursor or None,
                request_id=answered.request_id,
                observed_at=answered.observed_at,
            )

        return ListPlan(operation.name, row_model(operation.response), fetch, query.cursor)

    def stream(
        self,
        operation: Operation[Req, Any],
        make: Callable[[], Req],
        options: Options | None,
        consume: Consume[T],
        *,
        keeps_open: bool = False,
    ) -> Steps[T]:
        """What `consume` makes of a streamed answer; a refusal is raised before it is asked."""
        chosen = options or DEFAULTS
        planned = self._planned(operation, checked(operation.name, make), chosen)

        def checked_first(reply: Any, body: Body) -> Steps[T]:
            # What is refused is JSON, whatever the answer would have been.
            if not 200 <= reply.status < 300:
                yield from self._read(operation, planned, reply, body)
            return (yield from consume(reply, body))

        policy = replace(self.policy.of_call(chosen), keeps_open=keeps_open)
        return (yield from self._loop.send(planned, checked_first, policy, Trail()))

    def resend(self, write: Write, options: Options) -> Steps[Answered[Any]]:
        """The answer to a journalled write, asked with its own bytes."""
        if write.request is None or write.operation not in BY_NAME:
            raise ConfigError(
                f"{write.operation}: the write {write.key!r} cannot be sent again: its bytes are "
                "gone, or another version of dialframe made it"
            )
        return (yield from self._exchange(BY_NAME[write.operation], write.request, options))

    def or_fresh(self, steps: Steps[T], reread: Callable[[], Steps[Answer]]) -> Steps[T]:
        """The result of a call; where the resource has changed, its error carries what it says now."""
        try:
            return (yield from steps)
        # Contract, Endpoints, Common request parts: 412 says that it changed, and not into what.
        except PreconditionFailed as error:
            try:
                fresh = yield from reread()
            except DialframeError:
                # The change was refused, and that is the news; why it cannot be read now is not.
                fresh = None
            raise changed_since(error, fresh) from None

    def _planned(
        self, operation: Operation[Any, Any], request: Request, options: Options
    ) -> PlannedRequest:
        key = options.idempotency_key
        if key is None and operation.changes_data:
            # One key for one intent: made here, outside of every loop.
            # Contract, Idempotency 1 and Endpoints, Calls 7: a new key is a new call.
            # 122 random bits: no two intents ever share one (RFC 9562, 5.4).
            key = str(uuid.uuid4())
        return request_building.plan(
            operation,
            request,
            key=key,
            correlation_id=options.correlation_id or current_correlation(),
            if_match=self._if_match(operation, options),
        )

    def _if_match(self, operation: Operation[Any, Any], options: Options) -> str | None:
        if_match = options.if_match
        if if_match is None or isinstance(if_match, str):
            return if_match
        # Endpoints, Common request parts: `If-Match` is the ETag of the last read.
        etag = self.etags.of(if_match)
        if etag is None:
            raise ConfigError(
                f"{operation.name}: if_match: this {type(if_match).__name__} came without an ETag "
                "(rows of a list have none): read it by its id first"
            )
        return etag

    def _exchange(
        self, operation: Operation[Any, Res], planned: PlannedRequest, options: Options
    ) -> Steps[Answered[Res]]:
        trail = Trail()

        def consume(reply: Any, body: Body) -> Steps[Answered[Res]]:
            whole, parsed = yield from self._read(operation, planned, reply, body)
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

        policy = self.policy.of_call(options)
        if operation.changes_data:
            reach = reach_of(planned, self.clock.now())
            if reach is not None and reach.late_at is not None and not options.late:
                # Nobody is called or texted by an attempt that comes when its moment is over.
                window_s = (reach.late_at - self.clock.now()).total_seconds()
                policy = replace(policy, deadline_s=min(policy.deadline_s or window_s, window_s))
            answered = yield from recorded(
                self.journal,
                self.clock,
                planned,
                trail,
                lambda: self._loop.send(planned, consume, policy, trail),
                late=options.late,
            )
        else:
            answered = yield from self._loop.send(planned, consume, policy, trail)
        if answered.etag is not None:
            self.etags.remember(answered.value, answered.etag)
        values = answered.value.data if isinstance(answered.value, Page) else (answered.value,)
        self.novelties.note(operation.name, novel_values(values))
        return answered

    def _read(
        self, operation: Operation[Any, Res], planned: PlannedRequest, reply: Any, body: Body
    ) -> Steps[tuple[bytes, response_reading.Parsed[Res]]]:
        parts, length = [], 0
        while (chunk := (yield from body.next())) is not None:
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
            now=self.clock.now(),
        )
        return whole, parsed


class Etags:
    """ETags by the identity of the value that came with them.

    Models compare by content, and two reads of one lead may be equal with different ETags, so
    the value itself is the key and not what it says.
    """

    def __init__(self) -> None:
        """Start with none."""
        # By `id()`: weak keys would compare by content, as models do.
        self._known: dict[int, tuple[weakref.ref[Answer], str]] = {}

    def remember(self, value: Answer, etag: str) -> None:
        """Keep the ETag for as long as the value lives."""
        identity = id(value)

        def forget(_: object) -> None:
            self._known.pop(identity, None)

        self._known[identity] = (weakref.ref(value, forget), etag)

    def of(self, value: Answer) -> str | None:
        """The ETag that the value came with, or None."""
        reference, etag = self._known.get(id(value), (None, None))
        # An id may be another object's by now: the reference says whose it was.
        return etag if reference is not None and reference() is value else None


def state_after(error: DialframeError, *, maybe_sent: bool) -> State:
    """What is known of a write after an error."""
    match error:
        # Contract, Idempotency 7: never retry that operation with a new key.
        case OutcomeUnknown():
            return "outcome_unknown"
        case TransportError():
            return "pending" if maybe_sent else "failed"
        case ContractError():
            return "pending"
        # Idempotency 6: the first request with the key still runs.
        case ApiError(code="conflict"):
            return "pending"
        # Endpoints, Leads: nothing was written, and the same key may try again.
        case ApiError(code="dnc_screen_unavailable"):
            return "failed"
        case ApiError(status=status) if status >= 500:
            return "pending"
        case ApiError(status=401 | 403 | 429):
            # Answered ahead of the key: it says nothing of an attempt that came before.
            return "pending" if maybe_sent else "failed"
    return "failed"


def recorded(
    journal: Journal,
    clock: Clock,
    request: PlannedRequest,
    trail: Trail,
    sending: Callable[[], Steps[Answered[Res]]],
    *,
    late: bool = False,
) -> Steps[Answered[Res]]:
    """The answer to a write that is on disk before it is sent, and what became of it afterwards.

    Whatever ends it early, a kill or a cancellation among them, leaves it pending.
    """
    earlier: State | None = yield OnDisk(lambda: journal.begin(request, clock.now(), late=late))
    trail.maybe_sent = earlier in _MAYBE
    try:
        answered = yield from sending()
    except DialframeError as error:
        state = state_after(error, maybe_sent=trail.maybe_sent)
        # A further attempt without an answer says less than what was known before it.
        recorded_state = earlier if earlier and state == "pending" else state
        status, code, request_id = None, None, None
        if isinstance(error, ApiError):
            status, code, request_id = error.status, error.code, error.request_id
        yield OnDisk(lambda: _finish(journal, request, recorded_state, status, code, request_id))
        if isinstance(error, TransportError) and state == "pending":
            raise _open(error, request, clock) from None
        raise
    yield OnDisk(
        lambda: _finish(journal, request, "answered", answered.status, None, answered.request_id)
    )
    return answered


def _finish(
    journal: Journal,
    request: PlannedRequest,
    state: State,
    status: int | None,
    code: str | None,
    request_id: str | None,
) -> None:
    if request.key is None:
        return
    try:
        journal.finish(request.key, state, status=status, code=code, request_id=request_id)
    except StoreError as error:
        # The answer is worth more than its entry, which stays pending and can be settled.
        logger.warning("%s", error)


def _open(error: TransportError, request: PlannedRequest, clock: Clock) -> TransportError:
    reach = reach_of(request, clock.now())
    consequence = ""
    if reach is not None and reach.late_at is not None:
        consequence = f", which {reach.what} now if it did not happen"
    return TransportError(
        f"{error}; whether the write happened is open: client.writes.settle({request.key!r}) sends "
        f"it again with the same key{consequence}",
        operation=error.operation,
        sent=True,
    )
