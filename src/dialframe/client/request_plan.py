"""A request as bytes: its bounds checked, its fields put into path, query and body; pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import cache
from typing import Any, Final, TypeVar, get_args
from urllib.parse import quote, urlencode

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from dialframe.contract import ids, limits
from dialframe.contract.models.shape import E164, Request
from dialframe.contract.row import Operation
from dialframe.errors import ConfigError

KEY_HEADER: Final = "Idempotency-Key"
CORRELATION_HEADER: Final = "X-Correlation-ID"
IF_MATCH_HEADER: Final = "If-Match"

Made = TypeVar("Made")

#: Patterns in words that a person can act on.
PATTERNS: Final[dict[str, str]] = {
    get_args(E164)[1].pattern: "an E.164 number: +, country code, number, 7 to 15 digits in all",
    **{
        ids.pattern(kind): f"a {kind.replace('_', ' ')} id: {prefix} and a lower-case UUID"
        for kind, prefix in ids.PREFIXES.items()
    },
}


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


def checked(operation: str, make: Callable[[], Made], *, root: str = "") -> Made:
    """What `make` builds: a request, or a part of one.

    Args:
        operation: Name of the operation.
        make: Builds it.
        root: The argument that is checked, where `make` builds a single one.

    Raises:
        ConfigError: An argument is out of the contract's bounds; the message names the argument
            and the bound, never the value.
    """
    try:
        return make()
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False)
    first = problems[0]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    raise ConfigError(f"{operation}: {_sentence(first, root)}{more}; nothing was sent")


def encoded(operation: str, body: Mapping[str, Any], default: Callable[[Any], Any]) -> bytes:
    """The body as JSON in UTF-8.

    Raises:
        ConfigError: It holds what JSON cannot say, is nested deeper than 20 levels or is larger
            than 1 MiB (contract, Limits).
    """
    try:
        text = json.dumps(
            body, separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=default
        )
        data = text.encode()
    except (TypeError, ValueError, RecursionError):
        raise ConfigError(
            f"{operation}: a value is not JSON: use text, finite numbers, booleans, lists, "
            "objects; nothing was sent"
        ) from None
    if len(data) > limits.BODY_BYTES:
        raise ConfigError(
            f"{operation}: the request is {len(data):,} bytes and {limits.BODY_BYTES:,} are "
            "allowed: send less at once; nothing was sent"
        )
    if _depth(body) > limits.JSON_DEPTH:
        raise ConfigError(
            f"{operation}: the request is nested deeper than {limits.JSON_DEPTH} levels: "
            "flatten it; nothing was sent"
        )
    return data


def where(location: tuple[int | str, ...]) -> str:
    """A path into a value as Python writes it: `leads[3].phone`."""
    path = ""
    for step in location:
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else step
    return path


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


def _sentence(problem: ErrorDetails, root: str) -> str:
    field = root + where(problem["loc"])
    if problem["type"] == "string_pattern_mismatch":
        pattern = str(problem.get("ctx", {}).get("pattern"))
        return f"{field} should be {PATTERNS.get(pattern, f'text like {pattern}')}"
    says = problem["msg"].removeprefix("Value error, ")
    says = says[:1].lower() + says[1:]
    return f"{field}: {says}" if field else says


def _depth(value: Any) -> int:
    if isinstance(value, Mapping):
        return 1 + max((_depth(item) for item in value.values()), default=0)
    if isinstance(value, list | tuple):
        return 1 + max((_depth(item) for item in value), default=0)
    return 0
