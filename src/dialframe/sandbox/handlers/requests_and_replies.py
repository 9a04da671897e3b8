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
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, TypeVar

from dialframe.contract.models.base_models import ListQuery, Request
from dialframe.contract.operations import Operation
from dialframe.sandbox.clock import SECOND_US
from dialframe.sandbox.world import sandbox_database
from dialframe.sandbox.world.api_objects import (
    Json,
    Refusal,
    Resource,
    Transaction,
    condition_of,
    encode,
    problem_slug,
)

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
class Handler:
    """An operation with the function that answers it and the shape that its request is read by."""

    operation: Operation[Any, Any]
    shape: type[Request]
    handle: Callable[[Transaction, Any], Reply]


#: Operation name to what answers it; a row without one would answer `route_not_available`.
HANDLERS: Final[dict[str, Handler]] = {}

Handle = Callable[[Transaction, Req], Reply]


def on(
    operation: Operation[Any, Any], shape: type[Req] | None = None
) -> Callable[[Handle[Req]], Handle[Req]]:
    """Make the function below it the handler of an operation.

    Args:
        operation: A row of the contract's table.
        shape: What its requests are read by, where the service takes more than the contract shows.
    """

    def bind(handle: Handle[Req]) -> Handle[Req]:
        HANDLERS[operation.name] = Handler(operation, shape or operation.request, handle)
        return handle

    return bind


# States: from any other state an operation answers the same refusal, and the state stays.
def check_state(kind: str, body: Json, allowed: Collection[str], code: str) -> None:
    """Refuse an object whose state an operation does not start from."""
    if body["status"] not in allowed:
        raise Refusal(code, f"The {kind} is {body['status']}.")


def answer(body: Json, *, status: int = 200) -> Reply:
    """An answer in JSON."""
    return Reply(status, encode(body), (("Content-Type", "application/json"),))


def refusal_answer(refusal: Refusal, *, request_id: str, docs_base: str) -> Reply:
    """The answer that a refusal becomes."""
    # Errors: the first five are RFC 9457's, the rest is the contract's.
    body: Json = {
        "type": f"{docs_base}/errors/{problem_slug(refusal.code)}",
        "title": condition_of(refusal.code),
        "status": refusal.status,
        "detail": refusal.detail,
        "instance": f"urn:service:request:{request_id}",
        "code": refusal.code,
        "request_id": request_id,
    }
    # Errors: validation errors add `errors`, each a JSON pointer and a code.
    if refusal.errors:
        body["errors"] = [asdict(error) for error in refusal.errors]
    headers = (("Content-Type", "application/problem+json"), *refusal.headers)
    if refusal.retry_after_s is not None:
        headers = (*headers, ("Retry-After", str(refusal.retry_after_s)))
    return Reply(refusal.status, encode(body), headers)


# Lists and pagination: cursors expire; after how long is not shown.
CURSOR_LIFE_US: Final = 3600 * SECOND_US

# 144 bits: more than anybody can guess, short enough for a cursor of at most 1024 characters.
_MAC_BYTES: Final = 18


def page(
    tx: Transaction,
    request: ListQuery,
    operation: Operation[Any, Any],
    resource: Resource,
    where: Mapping[str, object] | None = None,
    render: Callable[[tuple[Any, ...]], Json] | None = None,
) -> Reply:
    """One page of a list, newest first, ties by id.

    Args:
        tx: Whose list it is.
        request: What was asked.
        operation: Which list it is.
        resource: What is listed; its table has `client`, `created_at` and `id` among its columns.
        where: Conditions beside the client, each with `?` for its value.
        render: What makes an entry of its columns, where the resource does not.
    """
    where, render = where or {}, render or resource.render
    key = sandbox_database.read_meta(tx.db, "cursor_key").encode()
    # Contract, Lists and pagination: the cursor is bound to account, client and filters.
    filters = request.model_dump(mode="json", exclude={"limit", "cursor"})
    bound = [operation.name, tx.caller.client.client_id, filters]
    binding = json.dumps(bound, sort_keys=True).encode()
    conditions, values = ["client = ?", *where], list(where.values())
    if request.cursor is not None:
        conditions.append("(created_at, id) < (?, ?)")
        # By key and not by number of rows: what is inserted meanwhile shifts no page.
        values += _open(request.cursor, binding, key, tx.now_us)
    # One row more than the page holds says whether there is a next one (`has_more`).
    rows = tx.rows(
        f"SELECT created_at, id, {', '.join(resource.columns)} FROM {resource.table}"
        f" WHERE {' AND '.join(conditions)} ORDER BY created_at DESC, id DESC LIMIT ?",
        *values,
        request.limit + 1,
    )
    data, more = rows[: request.limit], len(rows) > request.limit
    # Lists and pagination: next_cursor is null on the last page.
    cursor = _seal([*data[-1][:2], tx.now_us], binding, key) if more else None
    following = {"next_cursor": cursor, "has_more": more}
    return answer({"data": [render(row[2:]) for row in data], "page": following})


def lists(
    operation: Operation[Any, Any],
    resource: Resource,
    fixed: Mapping[str, object] | None = None,
) -> None:
    """Answer an operation with pages of a table; its filters are columns, `fixed` holds for each row."""

    def handle(tx: Transaction, request: ListQuery) -> Reply:
        # Endpoints: each filter of a list is a column of its table.
        filters = request.model_dump(exclude={"limit", "cursor"}, exclude_none=True)
        wanted = {f"{name} = ?": value for name, value in filters.items()}
        return page(tx, request, operation, resource, {**(fixed or {}), **wanted})

    on(operation)(handle)


def finds(operation: Operation[Any, Any], resource: Resource) -> None:
    """Answer an operation with the object of the id in its path."""
    # `/v1/calls/{call_id}`: the one name in the path is the id.
    (name,) = operation.path_names

    def handle(tx: Transaction, request: Request) -> Reply:
        return answer(tx.find(resource, getattr(request, name)))

    on(operation)(handle)


def _seal(position: list[object], binding: bytes, key: bytes) -> str:
    carried = json.dumps(position, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(_mac(carried, binding, key) + carried).decode()


def _open(cursor: str, binding: bytes, key: bytes, now_us: int) -> tuple[object, object]:
    try:
        sealed = base64.b64decode(cursor, altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise _refusal() from None
    mac, carried = sealed[:_MAC_BYTES], sealed[_MAC_BYTES:]
    # Base 64 has several spellings of the same bytes; only the one that was issued is taken.
    as_issued = base64.urlsafe_b64encode(sealed).decode() == cursor
    if not as_issued or not hmac.compare_digest(mac, _mac(carried, binding, key)):
        raise _refusal()
    # The signature held: these are the bytes that were sealed here.
    created_at, identifier, issued_us = json.loads(carried)
    # Lists and pagination: an expired cursor answers 400 `invalid_cursor`; how long it lives is ours.
    if now_us - issued_us >= CURSOR_LIFE_US:
        raise _refusal()
    return created_at, identifier


def _mac(carried: bytes, binding: bytes, key: bytes) -> bytes:
    # The length keeps (binding, carried) apart: no other split has the same bytes.
    signed = len(binding).to_bytes(4, "big") + binding + carried
    return hmac.new(key, signed, hashlib.sha256).digest()[:_MAC_BYTES]


def _refusal() -> Refusal:
    return Refusal("invalid_cursor")
