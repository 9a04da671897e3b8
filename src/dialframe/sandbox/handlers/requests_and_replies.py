"""What handlers are asked and answer with: requests, replies, and lists page by page.

A page (contract, Lists and pagination) is the next rows behind (created_at, id), so inserts shift
none. A cursor carries that position and when it was issued; its signature covers the list, the
client and the filters too, so that it fits no other request.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

from dialframe.contract.models.base_models import ListQuery, Request
from dialframe.contract.operations import Operation
from dialframe.sandbox.dialer.contact_checks import Sender
from dialframe.sandbox.world import clients_and_keys
from dialframe.sandbox.world.api_objects import (
    MEDIA_TYPE,
    Json,
    Refusal,
    Resource,
    document,
    encode,
    etag,
)
from dialframe.sandbox.world.clients_and_keys import Caller
from dialframe.sandbox.world.clock import SECOND_US
from dialframe.sandbox.world.sandbox_database import insert

Req = TypeVar("Req", bound=Request)


@dataclass(frozen=True, slots=True)
class Inbound:
    """One request, as it came.

    Attributes:
        path: The decoded path.
        path_values: What stands in the path's `{names}`.
        query: The raw query string.
        headers: Header names in lower case to all their values, in order.
        address: Source address.
        request_id: The answer's `X-Request-ID`.
    """

    path: str
    path_values: Mapping[str, str]
    query: str
    headers: Mapping[str, tuple[str, ...]] = field(repr=False)
    body: bytes = field(repr=False)
    address: str
    request_id: str

    def header(self, name: str) -> str | None:
        """The value of a header, several joined by commas; None when it was not sent."""
        values = self.headers.get(name)
        return None if values is None else ", ".join(values)


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer.

    Attributes:
        body: Bytes of the answer.
        stored_body: What is kept for a replay where that differs: signing secrets are not kept.
        stream: The bytes in parts, instead of `body`.
    """

    status: int
    body: bytes = field(default=b"", repr=False)
    headers: tuple[tuple[str, str], ...] = ()
    stored_body: bytes | None = field(default=None, repr=False)
    stream: Iterator[bytes] | None = None


@dataclass(frozen=True, slots=True)
class Context(Generic[Req]):
    """What a handler is asked.

    Attributes:
        request: The checked request: path, query and body fields in one.
        db: One transaction; a write's is kept with its idempotency record or not at all.
        now_us: The sandbox's clock.
        if_match: The `If-Match` header.
        cursor_key: What cursors are signed with.
    """

    request: Req
    operation: Operation[Any, Any]
    db: sqlite3.Connection
    caller: Caller
    now_us: int
    if_match: str | None
    cursor_key: bytes = field(repr=False)

    @property
    def client(self) -> int:
        """Number of the client whose data this is about."""
        return self.caller.client.number

    def find(self, resource: Resource, identifier: str) -> Json:
        """The client's object with this id, or the refusal `not_found`."""
        return resource.find(self.db, self.client, identifier)

    def change(self, resource: Resource, identifier: str, values: Mapping[str, object]) -> Json:
        """Set columns of the client's row with this id; the object as it is then."""
        return resource.change(self.db, self.client, identifier, values)

    def add(self, table: str, kind: str, values: Mapping[str, object]) -> str:
        """A new row of the client, made now; its id."""
        identifier = clients_and_keys.new_id(self.db, self.client, kind)
        row = {"id": identifier, **values, "created_at": self.now_us}
        insert(self.db, table, self.client, row)
        return identifier

    @property
    def sender(self) -> Sender:
        """Who this reaches a person for, as the checks before it take it."""
        caller = self.caller
        return Sender(
            self.db,
            self.client,
            caller.settings,
            caller.credential.credential_id,
            self.now_us,
            caller.client.scopes,
        )


@dataclass(frozen=True, slots=True)
class Handler:
    """An operation with the function that answers it and the shape that its request is read by."""

    operation: Operation[Any, Any]
    shape: type[Request]
    handle: Callable[[Context[Any]], Reply]


def on(operation: Operation[Req, Any]) -> Callable[[Callable[[Context[Req]], Reply]], Handler]:
    """Make the function below it the handler of an operation."""
    return taking(operation, operation.request)


#: Operation name to what answers it; a row without one would answer `route_not_available`.
HANDLERS: Final[dict[str, Handler]] = {}


def taking(
    operation: Operation[Any, Any], shape: type[Req]
) -> Callable[[Callable[[Context[Req]], Reply]], Handler]:
    """The same for an operation whose requests the service reads by a shape of its own."""

    def bind(handle: Callable[[Context[Req]], Reply]) -> Handler:
        HANDLERS[operation.name] = Handler(operation, shape, handle)
        return HANDLERS[operation.name]

    return bind


# States: from any other state an operation answers the same refusal, and the state stays.
def check_state(kind: str, body: Json, allowed: Collection[str], code: str) -> None:
    """Refuse an object whose state an operation does not start from."""
    if body["status"] not in allowed:
        raise Refusal(code, f"The {kind} is {body['status']}.")


def answer(body: Json, *, status: int = 200, headers: tuple[tuple[str, str], ...] = ()) -> Reply:
    """An answer in JSON."""
    return Reply(status, encode(body), (("Content-Type", "application/json"), *headers))


def shown(context: Context[Any], body: Json, *, status: int = 200) -> Reply:
    """An object in JSON, with its `ETag` where the operation has one."""
    # Endpoints, Leads and Appointments: the operations whose answers carry an `ETag`.
    tag = (("ETag", etag(body)),) if context.operation.etag else ()
    return answer(body, status=status, headers=tag)


def refusal_answer(refusal: Refusal, *, request_id: str, docs_base: str) -> Reply:
    """The answer that a refusal becomes."""
    text = document(refusal, request_id=request_id, docs_base=docs_base)
    headers = (("Content-Type", MEDIA_TYPE), *refusal.headers)
    if refusal.retry_after_s is not None:
        headers = (*headers, ("Retry-After", str(refusal.retry_after_s)))
    return Reply(refusal.status, encode(text), headers)


# Lists and pagination: cursors expire; after how long is not shown.
CURSOR_LIFE_US: Final = 3600 * SECOND_US

# 144 bits: more than anybody can guess, short enough for a cursor of at most 1024 characters.
_MAC_BYTES: Final = 18

Query = TypeVar("Query", bound=ListQuery)


def page(
    context: Context[Query],
    resource: Resource,
    where: Mapping[str, object] | None = None,
    fixed: tuple[str, ...] = (),
    render: Callable[[tuple[Any, ...]], Json] | None = None,
) -> Reply:
    """One page of a list, newest first, ties by id.

    Args:
        context: What was asked.
        resource: What is listed; its table has `client`, `created_at` and `id` among its columns.
        where: Conditions beside the client, each with `?` for its value.
        fixed: Conditions that take no value.
        render: What makes an entry of its columns, where the resource does not.
    """
    where, render = where or {}, render or resource.render
    # Contract, Lists and pagination: the cursor is bound to account, client and filters.
    filters = context.request.model_dump(mode="json", exclude={"limit", "cursor"})
    bound = [context.operation.name, context.caller.client.client_id, filters]
    binding = json.dumps(bound, sort_keys=True).encode()
    conditions, values = ["client = ?", *fixed, *where], [context.client, *where.values()]
    if context.request.cursor is not None:
        conditions.append("(created_at, id) < (?, ?)")
        # By key and not by number of rows: what is inserted meanwhile shifts no page.
        values += _open(context.request.cursor, binding, context.cursor_key, context.now_us)
    # One row more than the page holds says whether there is a next one (`has_more`).
    rows = context.db.execute(
        f"SELECT created_at, id, {', '.join(resource.columns)} FROM {resource.table}"
        f" WHERE {' AND '.join(conditions)} ORDER BY created_at DESC, id DESC LIMIT ?",
        (*values, context.request.limit + 1),
    ).fetchall()
    shown, more = rows[: context.request.limit], len(rows) > context.request.limit
    # Lists and pagination: next_cursor is null on the last page.
    cursor = None
    if more:
        cursor = _seal([*shown[-1][:2], context.now_us], binding, context.cursor_key)
    return answer(
        {
            "data": [render(row[2:]) for row in shown],
            "page": {"next_cursor": cursor, "has_more": more},
        }
    )


def lists(operation: Operation[Query, Any], resource: Resource, *fixed: str) -> None:
    """Answer an operation with pages of a table; its filters are columns, `fixed` holds for each row."""

    def handle(context: Context[Query]) -> Reply:
        # Endpoints: each filter of a list is a column of its table.
        filters = context.request.model_dump(exclude={"limit", "cursor"}, exclude_none=True)
        wanted = {f"{name} = ?": value for name, value in filters.items()}
        return page(context, resource, wanted, fixed)

    on(operation)(handle)


def finds(operation: Operation[Req, Any], resource: Resource) -> None:
    """Answer an operation with the object of the id in its path."""
    # `/v1/calls/{call_id}`: the one name in the path is the id.
    (name,) = operation.path_names

    def handle(context: Context[Req]) -> Reply:
        return shown(context, context.find(resource, getattr(context.request, name)))

    on(operation)(handle)


def _seal(position: list[object], binding: bytes, key: bytes) -> str:
    carried = json.dumps(position, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(_mac(carried, binding, key) + carried).decode()


def _open(cursor: str, binding: bytes, key: bytes, now_us: int) -> tuple[object, object]:
    try:
        sealed = base64.b64decode(cursor, altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise _refused() from None
    mac, carried = sealed[:_MAC_BYTES], sealed[_MAC_BYTES:]
    # Base 64 has several spellings of the same bytes; only the one that was issued is taken.
    as_issued = base64.urlsafe_b64encode(sealed).decode() == cursor
    if not as_issued or not hmac.compare_digest(mac, _mac(carried, binding, key)):
        raise _refused()
    # The signature held: these are the bytes that were sealed here.
    created_at, identifier, issued_us = json.loads(carried)
    # Lists and pagination: an expired cursor answers 400 `invalid_cursor`; how long it lives is ours.
    if now_us - issued_us >= CURSOR_LIFE_US:
        raise _refused()
    return created_at, identifier


def _mac(carried: bytes, binding: bytes, key: bytes) -> bytes:
    # The length keeps (binding, carried) apart: no other split has the same bytes.
    signed = len(binding).to_bytes(4, "big") + binding + carried
    return hmac.new(key, signed, hashlib.sha256).digest()[:_MAC_BYTES]


def _refused() -> Refusal:
    return Refusal(
        "invalid_cursor", "The cursor is not one of this list, or it expired: start at the head."
    )
