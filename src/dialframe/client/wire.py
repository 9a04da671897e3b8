"""A request as bytes, and bytes as an answer: pure functions over a row; knows no transport and no clock."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import cache
from typing import Any, Final, Generic
from urllib.parse import quote, urlencode

from pydantic_core import from_json

from dialframe.client.answers import Quarantined, Res
from dialframe.client.bounds import encoded
from dialframe.client.problems import problem_error
from dialframe.client.shapes import Mismatch, read_object, read_rows, row_model
from dialframe.contract import limits
from dialframe.contract.models.shape import Answer, PageInfo, Request
from dialframe.contract.row import Operation
from dialframe.errors import ConfigError, ContractError

KEY_HEADER: Final = "Idempotency-Key"
CORRELATION_HEADER: Final = "X-Correlation-ID"
IF_MATCH_HEADER: Final = "If-Match"
REPLAYED_HEADER: Final = "idempotency-replayed"
PROBLEM: Final = "application/problem+json"

#: More than a page of rows that each hold what a request may: an answer beyond it never ends.
ANSWER_BYTES: Final = 128 * limits.BODY_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRequest:
    """A request, ready to be sent as often as need be, each time with the same bytes.

    Attributes:
        operation: Name of the row.
        method: HTTP method.
        path: Below the base URL, ids filled in.
        query: Encoded query, without `?`.
        headers: All but `Authorization`, which the transport adds last.
        body: The body, or None.
    """

    operation: str
    method: str
    path: str
    query: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = field(default=None, repr=False)

    @property
    def key(self) -> str | None:
        """The idempotency key, or None."""
        return self.headers.get(KEY_HEADER)

    @property
    def digest(self) -> str:
        """SHA-256 of what makes two requests the same: method, path, query and body."""
        head = f"{self.method} {self.path}?{self.query}\n".encode()
        return hashlib.sha256(head + (self.body or b"")).hexdigest()


@dataclass(frozen=True, slots=True)
class Parsed(Generic[Res]):
    """An answer that was read: its value, the JSON as it came, the rows set aside."""

    value: Res
    raw: Any
    quarantined: tuple[Quarantined, ...] = ()


@dataclass(frozen=True, slots=True)
class _Places:
    """Which fields of a request travel where."""

    path: tuple[str, ...]
    query: tuple[str, ...]
    body: tuple[str, ...]


def plan(
    operation: Operation[Any, Any],
    request: Request,
    *,
    key: str | None = None,
    correlation_id: str | None = None,
    if_match: str | None = None,
) -> PlannedRequest:
    """The bytes of a request.

    Args:
        operation: The row.
        request: Its request; a field that is None is left out, except that a PATCH says null
            where null was given.
        key: Idempotency key.
        correlation_id: `X-Correlation-ID`.
        if_match: `If-Match`.

    Raises:
        ConfigError: The body is too large, too deep or no JSON, or a header does not belong to
            this operation.
    """
    _refuse_stray(operation, key=key, if_match=if_match)
    values, places = _values(operation, request), _places(operation)
    path = operation.path.format_map(
        {name: quote(str(values.get(name, "")), safe="") for name in places.path}
    )
    query = urlencode([(name, _text(values[name])) for name in places.query
                       if values.get(name) is not None])  # fmt: skip
    body = _body(operation, places, values)
    headers = {
        "Accept": "*/*" if operation.streamed else "application/json",
        "Content-Type": None if body is None else "application/json",
        KEY_HEADER: key,
        CORRELATION_HEADER: correlation_id,
        IF_MATCH_HEADER: if_match,
    }
    return PlannedRequest(
        operation=operation.name,
        method=operation.method,
        path=path,
        query=query,
        headers={name: value for name, value in headers.items() if value is not None},
        body=body,
    )


def gathered(
    operation: Operation[Any, Any],
    parts: Iterable[bytes],
    *,
    headers: Mapping[str, str],
    key: str | None = None,
) -> bytes:
    """The whole body of an answer; a `ContractError` where it goes on beyond `ANSWER_BYTES`."""
    body = bytearray()
    for part in parts:
        body += part
        if len(body) > ANSWER_BYTES:
            misfit = Mismatch("", f"it is longer than {ANSWER_BYTES:,} bytes")
            raise _broken(operation, misfit, headers, key)
    return bytes(body)


def read(
    operation: Operation[Any, Res],
    *,
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    key: str | None = None,
) -> Parsed[Res]:
    """What an answer says.

    Args:
        operation: The row that was asked.
        status: HTTP status.
        headers: Headers by lower-case name.
        body: The whole body.
        key: The idempotency key that was sent, for errors to name.

    Raises:
        ApiError: The status is 400 or above.
        ContractError: It is neither an error nor what the contract promises.
    """
    if status >= 400:
        raise refusal(operation, status=status, headers=headers, body=body, key=key)
    try:
        return _parse(operation, _json(operation, status, headers, body))
    except Mismatch as misfit:
        raise _broken(operation, misfit, headers, key) from None


def refusal(
    operation: Operation[Any, Any],
    *,
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    key: str | None,
) -> Exception:
    """The error of an answer of status 400 or above, whatever its body is."""
    try:
        document = from_json(body)
    except ValueError:
        document = None
    return problem_error(operation, status=status, headers=headers, body=document, key=key)


def _json(
    operation: Operation[Any, Any], status: int, headers: Mapping[str, str], body: bytes
) -> Any:
    if status >= 300:
        raise Mismatch(f"status {status}", "redirects are not followed: check base_url")
    kind = headers.get("content-type", "no content type")
    if kind.partition(";")[0].strip().lower() == PROBLEM:
        raise Mismatch(f"status {status}", "a problem document came with a status of success")
    if operation.assumed and not body:
        # An unshown shape may turn out to be no body at all: then every field is None.
        return {}
    try:
        return from_json(body, allow_inf_nan=False)
    except ValueError:
        raise Mismatch("", f"{len(body)} bytes of {kind} are not JSON") from None


def _parse(operation: Operation[Any, Res], raw: Any) -> Parsed[Res]:
    model: type[Res] = operation.response
    if not operation.paged:
        return Parsed(read_object(model, raw, assumed=operation.assumed), raw)
    rows, quarantined = _page_rows(operation, raw)
    info = _page_info(raw)
    extra = {name: value for name, value in raw.items() if name not in ("data", "page")}
    return Parsed(model.model_construct(data=rows, page=info, **extra), raw, quarantined)


def _page_rows(
    operation: Operation[Any, Res], raw: Any
) -> tuple[list[Answer], tuple[Quarantined, ...]]:
    if not isinstance(raw, dict):
        raise Mismatch("", "an object with data and page was expected")
    if not isinstance(raw.get("data"), list):
        raise Mismatch("data", "a list of rows was expected")
    return read_rows(row_model(operation.response), raw["data"], assumed=operation.assumed)


def _page_info(raw: Mapping[str, Any]) -> PageInfo:
    page = raw.get("page")
    if not isinstance(page, dict) or "next_cursor" not in page:
        raise Mismatch("page", "an object with next_cursor and has_more was expected")
    info = read_object(PageInfo, page, assumed=False)
    if info.has_more and not info.next_cursor:
        raise Mismatch("page.next_cursor", "has_more is true and there is no cursor to go on with")
    return info


def _broken(
    operation: Operation[Any, Any], misfit: Mismatch, headers: Mapping[str, str], key: str | None
) -> ContractError:
    place = misfit.place or "body"
    request_id = headers.get("x-request-id")
    named = f" (request {request_id})" if request_id else ""
    settle = f"; the write may have happened: client.writes.settle({key!r})" if key else ""
    return ContractError(
        f"{operation.name}: the answer is not what the contract says at {place}: {misfit.reason}"
        f"{named}{settle}",
        operation=operation.name,
        where=place,
    )


@cache
def _places(operation: Operation[Any, Any]) -> _Places:
    return _Places(operation.path_names, operation.query_names, operation.body_names)


def _refuse_stray(
    operation: Operation[Any, Any], *, key: str | None, if_match: str | None
) -> None:
    if key is not None and operation.key == "none":
        raise ConfigError(f"{operation.name}: it changes nothing and takes no idempotency_key")
    if key is None and operation.key == "required":
        raise ConfigError(f"{operation.name}: it changes data and needs an idempotency_key")
    if if_match is not None and not operation.if_match:
        raise ConfigError(f"{operation.name}: it does not understand if_match")


def _body(
    operation: Operation[Any, Any], places: _Places, values: Mapping[str, Any]
) -> bytes | None:
    if operation.method not in ("POST", "PATCH"):
        return None
    named = {name: values[name] for name in places.body if name in values}
    return encoded(operation.name, named, _jsonable)


def _values(operation: Operation[Any, Any], request: Request) -> dict[str, Any]:
    if operation.method == "PATCH":
        return request.model_dump(exclude_unset=True)
    return request.model_dump(exclude_none=True)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=_jsonable).strip('"')


def _jsonable(value: Any) -> str:
    # Contract, Conventions: timestamps are ISO 8601 in UTC.
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} is not JSON")
