"""The values that a request passes through: what came in, what a handler is asked, what goes out."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from dialframe.contract.models.shape import Request
from dialframe.contract.row import Operation
from dialframe.sandbox.access import Caller
from dialframe.sandbox.problems import MEDIA_TYPE, Refusal, document, headers_of

Req = TypeVar("Req", bound=Request)

Json = dict[str, Any]


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
class Ask(Generic[Req]):
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


@dataclass(frozen=True, slots=True)
class Bound:
    """An operation with the function that answers it and the shape that its request is read by."""

    operation: Operation[Any, Any]
    shape: type[Request]
    handle: Callable[[Ask[Any]], Reply]


def on(operation: Operation[Req, Any]) -> Callable[[Callable[[Ask[Req]], Reply]], Bound]:
    """Make the function below it the handler of an operation."""
    return taking(operation, operation.request)


def taking(
    operation: Operation[Any, Any], shape: type[Req]
) -> Callable[[Callable[[Ask[Req]], Reply]], Bound]:
    """The same for an operation whose requests the service reads by a shape of its own."""

    def bind(handle: Callable[[Ask[Req]], Reply]) -> Bound:
        return Bound(operation, shape, handle)

    return bind


def answer(body: Json, *, status: int = 200, headers: tuple[tuple[str, str], ...] = ()) -> Reply:
    """An answer in JSON."""
    return Reply(status, encode(body), (("Content-Type", "application/json"), *headers))


def refusal_answer(refusal: Refusal, *, request_id: str, docs_base: str) -> Reply:
    """The answer that a refusal becomes."""
    text = document(refusal, request_id=request_id, docs_base=docs_base)
    headers = (("Content-Type", MEDIA_TYPE), *headers_of(refusal))
    return Reply(refusal.status, encode(text), headers)


def encode(body: Json) -> bytes:
    """A JSON document as the bytes that are sent."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
