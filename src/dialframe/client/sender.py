"""An operation, from a request to its answer: the one way that every method goes; knows rows, not resources."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from dialframe.client import downloads, wire
from dialframe.client.answers import Answered, ListPage, Res
from dialframe.client.bounds import checked
from dialframe.client.clock import Clock
from dialframe.client.conversation import Conversation, Policy, Trail
from dialframe.client.entries import Write
from dialframe.client.etags import Etags
from dialframe.client.journal import Journal
from dialframe.client.listing import Listing
from dialframe.client.novelties import Novelties
from dialframe.client.options import DEFAULTS, Options, current_correlation
from dialframe.client.problems import changed_since
from dialframe.client.shapes import novel_values, row_model
from dialframe.client.transport import Reply
from dialframe.client.wire import Parsed, PlannedRequest
from dialframe.client.writes import recorded
from dialframe.config import OnProgress, silent
from dialframe.contract.models.shape import Answer, ListQuery, Page, Request
from dialframe.contract.operations import BY_NAME
from dialframe.contract.row import Operation
from dialframe.errors import ConfigError, ContractError, DialframeError, PreconditionFailed

Req = TypeVar("Req", bound=Request)
Query = TypeVar("Query", bound=ListQuery)
Row = TypeVar("Row", bound=Answer)


@dataclass(frozen=True, slots=True)
class Defaults:
    """What holds for calls whose options say nothing."""

    timeout_s: float
    deadline_s: float | None
    max_attempts: int


class Sender:
    """Plans, journals, sends, reads; shared by every resource of a client and by its threads."""

    def __init__(
        self, conversation: Conversation, journal: Journal, clock: Clock, defaults: Defaults
    ) -> None:
        """Join the parts of one client."""
        self._conversation = conversation
        self._journal = journal
        self._clock = clock
        self._defaults = defaults
        self.etags = Etags()
        self.novelties = Novelties()

    def ask(
        self,
        operation: Operation[Req, Res],
        make: Callable[[], Req],
        options: Options | None = None,
    ) -> Res:
        """The answer of an operation to the request that `make` builds.

        Raises:
            ConfigError: An argument is out of the contract's bounds; nothing was sent.
            TransportError: No answer came.
            ApiError: The service refused it.
            ContractError: The answer is not what the contract says.
            StoreError: The write journal cannot be written; nothing was sent.
        """
        answered = self.ask_raw(operation, make, options)
        if answered.quarantined:
            raise ContractError(
                f"{operation.name}: {len(answered.quarantined)} rows are not what the contract "
                "says: walk the list page by page, or use send_raw, to have the others",
                operation=operation.name,
                where=f"data[{answered.quarantined[0].index}].{answered.quarantined[0].where}",
            )
        return answered.value

    def ask_raw(
        self,
        operation: Operation[Req, Res],
        make: Callable[[], Req],
        options: Options | None = None,
    ) -> Answered[Res]:
        """The same with status, headers, attempts and the JSON as it came."""
        if operation.streamed:
            raise ConfigError(f"{operation.name}: it streams bytes: use client.{operation.name}")
        chosen = options or DEFAULTS
        request = checked(operation.name, make)
        return self._exchange(operation, self._planned(operation, request, chosen), chosen)

    def listing(
        self,
        operation: Operation[Query, Page[Row]],
        make: Callable[[], Query],
        options: Options | None = None,
    ) -> Listing[Row]:
        """A list of the service, to be walked; its filters are checked at once."""
        query = checked(operation.name, make)

        def fetch(cursor: str | None) -> ListPage[Row]:
            turned = query.model_copy(update={"cursor": cursor})
            answered = self.ask_raw(operation, lambda: turned, options)
            return ListPage(
                records=answered.value.data,
                raw=answered.raw["data"],
                quarantined=answered.quarantined,
                next_cursor=answered.value.page.next_cursor or None,
                request_id=answered.request_id,
                observed_at=answered.observed_at,
            )

        return Listing(operation.name, row_model(operation.response), fetch, query.cursor)

    def download(
        self,
        operation: Operation[Req, Any],
        make: Callable[[], Req],
        path: str | Path,
        *,
        options: Options | None = None,
        on_progress: OnProgress | None = None,
    ) -> Path:
        """The bytes of a streamed answer, in a file that appears once it is whole."""
        chosen = options or DEFAULTS
        planned = self._planned(operation, checked(operation.name, make), chosen)
        file = downloads.target(path)

        def consume(reply: Reply, body: Iterator[bytes]) -> Path:
            if not 200 <= reply.status < 300:
                whole = wire.gathered(operation, body, headers=reply.headers)
                wire.read(operation, status=reply.status, headers=reply.headers, body=whole)
            return downloads.save(
                body,
                file,
                step=operation.name,
                total=_length(reply),
                on_progress=on_progress or silent,
            )

        return self._conversation.hold(planned, consume, self._policy(operation, chosen), Trail())

    def resend(self, write: Write, options: Options) -> Answered[Any]:
        """The answer to a journalled write, asked with its own bytes.

        Raises:
            ConfigError: Its bytes are gone, or the operation is none that we know.
        """
        if write.request is None or write.operation not in BY_NAME:
            raise ConfigError(
                f"{write.operation}: the write {write.key!r} cannot be sent again: its bytes are "
                "gone, or another version of dialframe made it"
            )
        return self._exchange(BY_NAME[write.operation], write.request, options)

    def fresh(self, error: PreconditionFailed, reread: Callable[[], Answer]) -> PreconditionFailed:
        """The error with the resource as it is now, or without it where it cannot be read."""
        try:
            return changed_since(error, reread())
        except DialframeError:
            return changed_since(error, None)

    def _planned(
        self, operation: Operation[Any, Any], request: Request, options: Options
    ) -> PlannedRequest:
        key = options.idempotency_key
        if key is None and operation.changes_data:
            # One key for one intent: made here, outside of every loop.
            key = str(uuid.uuid4())
        return wire.plan(
            operation,
            request,
            key=key,
            correlation_id=options.correlation_id or current_correlation(),
            if_match=self._if_match(operation, options),
        )

    def _if_match(self, operation: Operation[Any, Any], options: Options) -> str | None:
        asked = options.if_match
        if asked is None or isinstance(asked, str):
            return asked
        etag = self.etags.of(asked)
        if etag is None:
            raise ConfigError(
                f"{operation.name}: if_match: this {type(asked).__name__} came without an ETag "
                "(rows of a list have none): read it by its id first"
            )
        return etag

    def _exchange(
        self, operation: Operation[Any, Res], planned: PlannedRequest, options: Options
    ) -> Answered[Res]:
        trail = Trail()

        def consume(reply: Reply, body: Iterator[bytes]) -> Answered[Res]:
            parsed = wire.read(
                operation,
                status=reply.status,
                headers=reply.headers,
                body=wire.gathered(operation, body, headers=reply.headers, key=planned.key),
                key=planned.key,
            )
            return _answered(parsed, reply, planned, trail)

        def hold() -> Answered[Res]:
            policy = self._policy(operation, options)
            return self._conversation.hold(planned, consume, policy, trail)

        if operation.changes_data:
            answered = recorded(self._journal, self._clock, planned, trail, hold)
        else:
            answered = hold()
        if answered.etag is not None:
            self.etags.remember(answered.value, answered.etag)
        self.novelties.note(operation.name, novel_values(_values(answered.value)))
        return answered

    def _policy(self, operation: Operation[Any, Any], options: Options) -> Policy:
        own = self._defaults
        return Policy(
            timeout_s=options.timeout_s or own.timeout_s,
            deadline_s=options.deadline_s or own.deadline_s,
            max_attempts=options.max_attempts or own.max_attempts,
            writes=operation.changes_data,
        )


def _answered(
    parsed: Parsed[Res], reply: Reply, planned: PlannedRequest, trail: Trail
) -> Answered[Res]:
    return Answered(
        value=parsed.value,
        raw=parsed.raw,
        status=reply.status,
        headers=reply.headers,
        request_id=reply.headers.get("x-request-id"),
        etag=reply.headers.get("etag"),
        replayed=trail.replayed,
        key=planned.key,
        attempts=trail.attempts,
        observed_at=trail.sent_at,
        quarantined=parsed.quarantined,
    )


def _values(answer: Answer) -> Sequence[Answer]:
    return answer.data if isinstance(answer, Page) else (answer,)


def _length(reply: Reply) -> int | None:
    # Of packed bytes the length says nothing about what comes out of them.
    length = reply.headers.get("content-length", "")
    return int(length) if length.isdigit() and "content-encoding" not in reply.headers else None
