"""Bytes as an answer: its value, the rows set aside, or the error that it stands for; pure.

An answer is believed only as far as it is the answer to what was asked: the id asked for is the id
answered, a filtered list has the rows of its filter, an import has one result for each lead.
"""

from __future__ import annotations

import json
import logging
import re
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from itertools import chain, repeat
from operator import attrgetter
from types import UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Generic,
    Literal,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
)
from urllib.parse import parse_qsl, unquote

from pydantic import BaseModel, TypeAdapter, ValidationError

from dialframe.client import tolerant_json
from dialframe.client.refusals import advice, retry_after_s
from dialframe.client.request_building import PlannedRequest
from dialframe.client.tolerant_json import (
    Mismatch,
    Quarantined,
    Tree,
    read_object,
    read_rows,
    row_model,
)
from dialframe.contract import error_codes, limits
from dialframe.contract.models.base_models import PREFIXES, Answer, Page, PageInfo
from dialframe.contract.operations import Operation
from dialframe.errors import (
    FAMILIES,
    ApiError,
    ContractError,
    FieldProblem,
    PreconditionFailed,
)
from dialframe.privacy import redact

Res = TypeVar("Res")
Row = TypeVar("Row")
Shown = TypeVar("Shown", bound=Answer)

logger: Final = logging.getLogger("dialframe.client")

PROBLEM: Final = "application/problem+json"
#: More than a page of rows that each hold what a request may: an answer beyond it never ends.
ANSWER_BYTES: Final = 128 * limits.BODY_BYTES

#: What the id of an operation's rows or answer begins with (contract, Conventions).
_ID_PREFIXES: Final[Mapping[str, str]] = {
    resource: PREFIXES[kind]
    for resource, kind in {
        "leads": "lead", "campaigns": "campaign", "calls": "call", "callbacks": "callback",
        "appointments": "appointment", "webhooks": "webhook_endpoint", "events": "webhook_event",
    }.items()
}  # fmt: skip
#: Fields of a request's body that its answer repeats; null says nothing.
_REPEATED: Final[Mapping[str, tuple[str, ...]]] = {
    "leads.create": ("campaign_id", "external_id"),
    "calls.start": ("to", "campaign_id", "lead_id"),
    "callbacks.create": ("lead_id",),
    "appointments.create": ("phone",),
    "sms.send": ("to", "client_reference"),
    "whatsapp.send": ("to",),
    "consents.record": ("phone",),
    "dnc.add": ("phone",),
}
#: Wider than the contract's `req_<ULID>`: ids of other makes are ids, too.
_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._:-]{1,80}")
#: Wider than the contract's codes, for those of a later v1: they are words joined by `_`, never prose.
_CODE: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")


class ChangedSince(PreconditionFailed):
    """The resource changed since it was read, and `fresh` is what it says now.

    Attributes:
        fresh: The resource, read again; None if it could not be read.
    """

    fresh: Answer | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered(Generic[Res]):
    """An answer with everything that came along with it.

    Attributes:
        value: The answer, parsed.
        body: The same as bytes, exactly as it came.
        status: HTTP status.
        headers: Headers by lower-case name.
        request_id: `X-Request-ID`, for the operator.
        etag: `ETag` of what was read or changed.
        replayed: Whether it is the stored answer of an earlier request with the same key.
        key: The idempotency key that was sent.
        attempts: How often the request was sent.
        observed_at: When the request was sent, UTC.
        quarantined: Rows of a list that did not validate; they are not in `value`.
    """

    value: Res = field(repr=False)
    body: bytes = field(repr=False)
    status: int
    headers: Mapping[str, str] = field(repr=False)
    request_id: str | None
    etag: str | None
    replayed: bool
    key: str | None
    attempts: int
    observed_at: datetime
    quarantined: tuple[Quarantined, ...] = ()

    @property
    def raw(self) -> Any:
        """The answer as JSON, exactly as it came; what cannot be read in it as text."""
        if not self.body:
            return {}
        return tolerant_json.printable(tolerant_json.parse(self.body).value)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListPage(Generic[Row]):
    """One page of a list; iterating gives its records.

    Attributes:
        records: Rows that are what the contract says, in order.
        body: The page as bytes, exactly as it came.
        quarantined: Rows that did not validate.
        next_cursor: Where the list goes on, or None at its end.
        request_id: `X-Request-ID`.
        observed_at: When the page was asked for, UTC: its rows are as of then or later.
    """

    records: list[Row] = field(repr=False)
    body: bytes = field(repr=False)
    quarantined: tuple[Quarantined, ...]
    next_cursor: str | None = field(repr=False)
    request_id: str | None
    observed_at: datetime

    @property
    def raw(self) -> list[Any]:
        """Every row as JSON, exactly as it came, those in quarantine included."""
        rows: list[Any] = tolerant_json.printable(tolerant_json.parse(self.body).value)["data"]
        return rows

    @property
    def rows(self) -> int:
        """How many rows came, those in quarantine included."""
        return len(self.records) + len(self.quarantined)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.records)

    def __len__(self) -> int:
        return len(self.records)

    def __bool__(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class Parsed(Generic[Res]):
    """An answer that was read: its value and the rows set aside."""

    value: Res
    quarantined: tuple[Quarantined, ...] = ()


def read(
    operation: Operation[Any, Shown],
    request: PlannedRequest,
    *,
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    now: datetime | None = None,
) -> Parsed[Shown]:
    """What an answer says, or the error that it stands for."""
    if status >= 400:
        document = None
        with suppress(ValueError):
            document = tolerant_json.printable(tolerant_json.parse(body).value)
        raise problem_error(
            operation, status=status, headers=headers, body=document, key=request.key, now=now
        )
    content_type = headers.get("content-type", "")
    if status >= 300:
        misfit = Mismatch(f"status {status}", "redirects are not followed: check base_url")
        raise broken(operation, misfit, headers, request.key)
    # Errors: `application/problem+json` (RFC 9457) is an error's type alone.
    if content_type.partition(";")[0].strip().lower() == PROBLEM:
        misfit = Mismatch(f"status {status}", "a problem document came with a status of success")
        raise broken(operation, misfit, headers, request.key)
    checks = _checks(operation)
    asked = _asked(checks, request)
    try:
        if operation.paged:
            expected = {name: asked[name] for name in checks.filters if name in asked}
            page = _sound_page(
                operation.response, body, expected=expected, prefix=checks.id_prefix
            )
            if page is not None:
                return Parsed(cast("Shown", page))
        if operation.assumed and not body:
            # An unshown shape may turn out to be no body at all: then every field is None.
            tree = Tree({}, sound=True)
        else:
            try:
                tree = tolerant_json.parse(body)
            except ValueError:
                kind = content_type or "no content type"
                raise Mismatch("", f"{len(body)} bytes of {kind} are not JSON") from None
        return _parse(operation, request, asked, tree)
    except Mismatch as mismatch:
        raise broken(operation, mismatch, headers, request.key) from None


def broken(
    operation: Operation[Any, Any], misfit: Mismatch, headers: Mapping[str, str], key: str | None
) -> ContractError:
    """The error of an answer that is not what the contract says."""
    location = misfit.place or "body"
    request_id = request_id_of(headers)
    named = f" (request {request_id})" if request_id else ""
    settle = f"; the write may have happened: client.writes.settle({key!r})" if key else ""
    return ContractError(
        f"{operation.name}: the answer is not what the contract says at {location}: {misfit.reason}"
        f"{named}{settle}",
        operation=operation.name,
        where=location,
    )


def _parse(
    operation: Operation[Any, Shown],
    request: PlannedRequest,
    asked: Mapping[str, str],
    tree: Tree,
) -> Parsed[Shown]:
    # Contract, Lists and pagination: what is no list has neither rows to set aside nor a cursor.
    model: type[Shown] = operation.response
    checks, raw = _checks(operation), tree.value
    if not operation.paged:
        value = read_object(model, raw, assumed=operation.assumed, sound=tree.sound)
        for name, location in checks.same:
            # A field that is missing or null contradicts nothing.
            if name in asked and raw.get(location) not in (None, asked[name]):
                raise Mismatch(location, "it is not the one that was asked for")
        if operation.name == "leads.import":
            # Contract, Endpoints, Leads: exactly one result per input lead, by 0-based index.
            sent = len(json.loads(request.body or b"{}").get("leads", ()))
            if sorted(row["index"] for row in raw["data"]) != list(range(sent)):
                reason = f"one result for each of {sent} leads was expected, by index"
                raise Mismatch("data", reason)
        return Parsed(value)
    if not isinstance(raw, dict):
        raise Mismatch("", "an object with data and page was expected")
    if not isinstance(raw.get("data"), list):
        raise Mismatch("data", "a list of rows was expected")
    rows, quarantined = read_rows(
        row_model(model),
        raw["data"],
        assumed=operation.assumed,
        sound=tree.sound,
        expected={name: asked[name] for name in checks.filters if name in asked},
        prefix=checks.id_prefix,
    )
    info = _page_info(raw)
    # Versioning: within v1 answers may gain fields; they are kept.
    extra = {name: value for name, value in raw.items() if name not in ("data", "page")}
    # Its parts were validated one by one, so the whole is not validated again.
    page = model.model_construct(data=rows, page=info, **extra)
    return Parsed(page, quarantined)


def _page_info(raw: Mapping[str, Any]) -> PageInfo:
    page = raw.get("page")
    if not isinstance(page, dict) or "next_cursor" not in page:
        raise Mismatch("page", "an object with next_cursor and has_more was expected")
    sound = tolerant_json.first_unreadable(page) is None
    info = read_object(PageInfo, page, assumed=False, sound=sound)
    # Lists and pagination: `next_cursor` is null on the last page alone.
    if info.has_more and not info.next_cursor:
        raise Mismatch("page.next_cursor", "has_more is true and there is no cursor to go on with")
    return info


@dataclass(frozen=True, slots=True)
class _Checks:
    """What an operation's answer has to repeat of its request.

    Attributes:
        path: Pattern of its paths, with a group for each id; None without ids.
        same: Names of the request, each with the field of the answer that has to be the same.
        filters: Filters of a list that are fields of its rows.
        body: Fields of the body among `same`.
        id_prefix: How each row's `id` begins; empty where rows are not named by the list's kind.
    """

    path: re.Pattern[str] | None
    same: tuple[tuple[str, str], ...]
    filters: tuple[str, ...]
    body: tuple[str, ...]
    id_prefix: str


@cache
def _checks(operation: Operation[Any, Any]) -> _Checks:
    resource = operation.name.partition(".")[0]
    path_names, body = operation.path_names, _REPEATED.get(operation.name, ())
    # What the path of `leads.get` calls `lead_id` is the `id` of its answer; other answers keep the name.
    identifier = "id" if "id" in operation.response.model_fields else ""
    same = [
        (name, (identifier if f"{name[:-3]}s" == resource else "") or name) for name in path_names
    ]
    same += [
        (name, name) for name in (*body, *operation.query_names) if "id" in name or name in body
    ]
    filters: tuple[str, ...] = ()
    if operation.paged:
        row = row_model(cast("type[Answer]", operation.response))
        filters = tuple(name for name in operation.query_names if name in row.model_fields)
    # A history or the delivery reports have rows of another kind than their resource.
    listed = operation.name == f"{resource}.list"
    return _Checks(
        path=re.compile(re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", operation.path))
        if path_names
        else None,
        same=tuple(same),
        filters=filters,
        body=body,
        id_prefix=_ID_PREFIXES.get(resource, "") if listed else "",
    )


def _asked(checks: _Checks, request: PlannedRequest) -> dict[str, str]:
    """Ids and filters that a request names, by field."""
    asked: dict[str, str] = {}
    if checks.path is not None and (match := checks.path.fullmatch(request.path)):
        asked |= zip(checks.path.groupindex, map(unquote, match.groups()), strict=True)
    if request.query:
        asked |= dict(parse_qsl(request.query))
    if checks.body and request.body:
        body = json.loads(request.body)
        asked |= {name: body[name] for name in checks.body if body.get(name) is not None}
    return asked


def _sound_page(
    model: type[Answer], body: bytes, *, expected: Mapping[str, str], prefix: str
) -> Answer | None:
    """A page read from its bytes in one go, or None where anything in it wants a second look."""
    try:
        page: Any = _page(cast("Any", model)).validate_json(body)
    except ValidationError:
        return None
    info, rows = page.page, page.data
    # Contract, Lists and pagination: null on the last page, and never left out.
    if "next_cursor" not in info.model_fields_set or (info.has_more and not info.next_cursor):
        return None
    for name, value in expected.items():
        if set(map(attrgetter(name), rows)) - {value}:
            return None
    if prefix:
        ids = list(map(_ID, rows))
        if len(set(ids)) != len(ids) or not all(map(str.startswith, ids, repeat(prefix))):
            return None
    # How many names the JSON has: counted from what was read, for the bytes are not parsed a second time.
    parts = (page, info, *rows)
    count = sum(map(len, map(_FIELDS_SET, parts)))
    for extra in filter(None, map(_EXTRA, parts)):
        count += tolerant_json.names(extra) - len(extra)
    for name in _nesting(cast("Any", type(rows[0]))) if rows else ():
        count += _names_in([value for value in map(attrgetter(name), rows) if value is not None])
    # `":` counts names: more than there are if one came twice, or stands inside a text.
    return cast("Answer", page) if count == body.count(b'":') else None


def _names_in(values: Sequence[Any]) -> int:
    """How many names the values of one field have; flat objects are counted without a look at each."""
    if set(map(type, values)) == {dict}:
        kinds = set(map(type, chain.from_iterable(map(dict.values, values))))
        # Flat objects, such as custom fields: their own names are all there are.
        if kinds <= _NAMELESS:
            return sum(map(len, values))
    return sum(map(tolerant_json.names, values))


#: Values without names, and never a number beyond every float.
_NAMELESS: Final = frozenset({str, int, bool, type(None)})
_FIELDS_SET: Final = attrgetter("__pydantic_fields_set__")
_EXTRA: Final = attrgetter("__pydantic_extra__")
_ID: Final = attrgetter("id")


@cache
def _nesting(model: type[BaseModel]) -> tuple[str, ...]:
    """Fields whose values may have names of their own."""
    return tuple(
        name for name, info in model.model_fields.items() if not _is_flat(info.annotation)
    )


def _is_flat(annotation: Any) -> bool:
    """Whether values of a type are text, numbers, flags or instants."""
    if _is_union(annotation):
        return all(_is_flat(option) for option in get_args(annotation))
    if get_origin(annotation) is Annotated:
        return _is_flat(get_args(annotation)[0])
    if get_origin(annotation) is Literal:
        return True
    # What is left (a model, a list, Any) may have names inside.
    return annotation in (str, int, float, bool, datetime, type(None))


@cache
def _page(model: type[Answer]) -> TypeAdapter[Any]:
    return TypeAdapter(model)


@dataclass(frozen=True, slots=True)
class Novelty:
    """A value of an open set that the contract does not name, and how often it came."""

    operation: str
    field: str
    value: str
    count: int


class Novelties:
    """How often each unknown value came, by operation and field."""

    def __init__(self) -> None:
        """Start with none."""
        self._counts: Counter[tuple[str, str, str]] = Counter()
        self._lock = threading.Lock()

    def note(self, operation: str, answer: Answer) -> None:
        """Count the unknown values of one answer or its rows; warn of each the first time."""
        values: Sequence[BaseModel] = answer.data if isinstance(answer, Page) else (answer,)
        if not values:
            return
        for name, known_values in _open_sets(type(values[0])):
            for value in map(attrgetter(name), values):
                # Versioning: a value that v1 gained since is kept, counted and said once.
                if not isinstance(value, str) or value in known_values:
                    continue
                with self._lock:
                    self._counts[operation, name, value] += 1
                    first = self._counts[operation, name, value] == 1
                if first:
                    logger.warning(
                        "%s: %s has the value %r, which the contract does not name; it is kept as it is",
                        operation,
                        name,
                        redact(value),
                    )

    def seen(self) -> list[Novelty]:
        """What came so far, in order of first sight."""
        with self._lock:
            return [Novelty(*novelty, count) for novelty, count in self._counts.items()]


@cache
def _open_sets(model: type[BaseModel]) -> tuple[tuple[str, frozenset[str]], ...]:
    sets = []
    for name, info in model.model_fields.items():
        options = get_args(info.annotation) if _is_union(info.annotation) else ()
        known_values = [
            value
            for option in options
            if get_origin(option) is Literal
            for value in get_args(option)
        ]
        if known_values:
            sets.append((name, frozenset(known_values)))
    return tuple(sets)


def _is_union(annotation: Any) -> bool:
    return get_origin(annotation) in (Union, UnionType)


def problem_error(
    operation: Operation[Any, Any],
    *,
    status: int,
    headers: Mapping[str, str],
    body: Any,
    key: str | None = None,
    now: datetime | None = None,
) -> ApiError:
    """The error that an answer of status 400 or above stands for."""
    document: dict[str, Any] = body if isinstance(body, dict) else {}
    # Contract, Errors: clients branch on the status and `code`, never on `detail`.
    code = _code(document.get("code"))
    request_id = request_id_of(headers, _text(document.get("request_id")))
    listed = document.get("errors")
    fields = tuple(
        FieldProblem(_text(entry.get("pointer")), _code(entry.get("code")))
        for entry in (listed if isinstance(listed, list) else ())
        if isinstance(entry, dict)
    )
    refusal = f"{operation.name}: {status} {code or 'without a problem document'}"
    request = f" (request {request_id})" if request_id else ""
    next_step = advice(operation, status, code, fields)
    # Contract, Endpoints, Leads: `dnc_screen_unavailable` wrote nothing, whatever its status says.
    open_still = status >= 500 and code != "dnc_screen_unavailable"
    if key and (open_still or code in ("conflict", "outcome_unknown")):
        next_step += f": client.writes.settle({key!r})"
    # A code with a status that is not its own is not believed: the status decides.
    return FAMILIES[error_codes.family_of(code, status)](
        f"{refusal}{request}: {next_step}",
        operation=operation.name,
        status=status,
        code=code,
        detail=_text(document.get("detail")),
        request_id=request_id,
        retry_after_s=retry_after_s(headers, now),
        errors=fields,
        key=key,
    )


def changed_since(error: PreconditionFailed, fresh: Answer | None) -> ChangedSince:
    """The same error with the resource as it is now."""
    richer = ChangedSince(str(error))
    # A plain copy: the error keeps its text, and pickles.
    richer.__dict__.update(error.__dict__)
    richer.fresh = fresh
    return richer


def request_id_of(headers: Mapping[str, str], beside: str = "") -> str | None:
    """`X-Request-ID`, or what the body gives for it; None where neither can be an id.

    Whatever stands between may write this header, and it is shown to people and to assistants: words have
    no place in it.
    """
    request_id = headers.get("x-request-id") or beside
    return request_id if _REQUEST_ID.fullmatch(request_id) else None


def _code(value: Any) -> str:
    # Shown to people and to assistants, and whatever stands between may have written it.
    return value if isinstance(value, str) and _CODE.fullmatch(value) else ""


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
