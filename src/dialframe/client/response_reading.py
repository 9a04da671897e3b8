"""Bytes as an answer: its value, the rows set aside, or the error that it stands for; pure.

An answer is believed only as far as it is the answer to what was asked: the id asked for is the id
answered, a filtered list has the rows of its filter, an import has one result for each lead.

A declared answer has to be what the contract shows. An answer whose shape the contract leaves unshown is read as
far as it fits: a field that does not fit is kept as it came, a missing one is None. A row of a list that does not
validate goes to quarantine and the others stay; so does one with half an emoji or a number beyond every float.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from itertools import repeat
from operator import attrgetter
from typing import Annotated, Any, Final, Generic, TypeVar, cast, get_args
from urllib.parse import parse_qsl, unquote

from pydantic import (
    TypeAdapter,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    create_model,
)
from pydantic_core import from_json

from dialframe.client.refusals import advice, retry_after_s
from dialframe.client.request_building import PlannedRequest, where
from dialframe.contract import error_codes, limits
from dialframe.contract.models.base_models import PREFIXES, Answer, PageInfo
from dialframe.contract.operations import Operation
from dialframe.errors import (
    FAMILIES,
    ApiError,
    ContractError,
    FieldProblem,
    PreconditionFailed,
)

Res = TypeVar("Res")
Row = TypeVar("Row")
Shown = TypeVar("Shown", bound=Answer)
Shape = TypeVar("Shape", bound=Answer)

PROBLEM: Final = "application/problem+json"
#: More than a page of rows that each hold what a request may: an answer beyond it never ends.
ANSWER_BYTES: Final = 128 * limits.BODY_BYTES
#: Digits of an integer beyond which it is no number that anything can hold.
LONGEST_INTEGER: Final = 300

HALF_CHARACTER: Final = "half of a character (a lone surrogate, or bytes that are not UTF-8)"
NO_NUMBER: Final = "a finite number was expected"

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


class Mismatch(ValueError):
    """A value is not what its model says: where, and what was expected."""

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(reason)
        self.place = place
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Quarantined:
    """A row of a list that is not what the contract says.

    Attributes:
        index: Its 0-based place on the page.
        raw: The row as it came, what cannot be read in it as text.
        where: What is wrong in it, as a path.
        reason: What was expected there.
    """

    index: int
    raw: Any = field(repr=False)
    where: str
    reason: str


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
        return printable(parse(self.body).value)


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
        rows: list[Any] = printable(parse(self.body).value)["data"]
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


@dataclass(frozen=True, slots=True)
class Tree:
    """A JSON value, and whether it was read without a doubt, so that nobody need look for what is unreadable."""

    value: Any
    sound: bool


def parse(body: bytes) -> Tree:
    """The JSON value of an answer."""
    with suppress(ValueError):
        return Tree(from_json(body, allow_inf_nan=False), sound=True)
    # Bytes that are no UTF-8 become lone surrogates, which no text of the service can hold.
    text = body.decode("utf-8", "surrogateescape")
    try:
        value = json.loads(
            text,
            parse_int=lambda digits: int(digits) if len(digits) <= LONGEST_INTEGER else math.inf,
        )
    # RFC 8259, 9: a reader may set limits on the depth of nesting.
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    return Tree(value, sound=False)


def unreadable(value: Any, path: tuple[int | str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Place and reason of everything in a value that neither a file nor a model can hold."""
    match value:
        case float() if not math.isfinite(value):
            yield where(path), NO_NUMBER
        case str() if not value.isascii() and printable(value) != value:
            yield where(path), HALF_CHARACTER
        case dict():
            for name, item in value.items():
                if printable(name) != name:
                    yield where((*path, printable(name))), HALF_CHARACTER
                yield from unreadable(item, (*path, name))
        case list():
            for index, item in enumerate(value):
                yield from unreadable(item, (*path, index))


def printable(value: Any) -> Any:
    """The same with everything unreadable as text that can be stored and shown."""
    match value:
        case float() if not math.isfinite(value):
            return str(value)
        case str():
            return value.encode("utf-8", "backslashreplace").decode()
        case dict():
            return {printable(name): printable(item) for name, item in value.items()}
        case list():
            return [printable(item) for item in value]
    return value


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
            document = printable(parse(body).value)
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
                tree = parse(body)
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
    info = read_object(PageInfo, page, assumed=False)
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
    # What v1 may gain takes any value, and no file can hold these.
    if b"NaN" in body or b"Infinity" in body:
        return None
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
    return cast("Answer", page)


_ID: Final = attrgetter("id")


@cache
def _page(model: type[Answer]) -> TypeAdapter[Any]:
    return TypeAdapter(model)


def read_object(model: type[Shape], raw: Any, *, assumed: bool, sound: bool = True) -> Shape:
    """One object as its model."""
    if not isinstance(raw, dict):
        kinds = {
            list: "a list",
            str: "text",
            bool: "a boolean",
            int: "a number",
            float: "a number",
        }
        kind = "null" if raw is None else kinds.get(type(raw), "an object")
        raise Mismatch("", f"an object was expected, and {kind} came")
    if not sound:
        for place, reason in unreadable(raw):
            raise Mismatch(place, reason)
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        if assumed:
            for place, reason in unreadable(raw):
                raise Mismatch(place, reason) from None
            loose: type[Shape] = _loose(model)
            return loose.model_validate(raw)
        first = error.errors(include_url=False, include_input=False)[0]
        says = first["msg"].removeprefix("Value error, ")
        place = where(_path(first["loc"], raw))
        raise Mismatch(place, says[:1].lower() + says[1:]) from None


def read_rows(
    model: type[Shape],
    raw: Sequence[Any],
    *,
    assumed: bool,
    sound: bool,
    expected: Mapping[str, str],
    prefix: str,
) -> tuple[list[Shape], tuple[Quarantined, ...]]:
    """The rows of a page, and those that do not fit with the reason."""
    # Looked at first: a row that answers another question is set aside though it is well formed.
    doubtful = _find_mismatches(raw, expected, prefix)
    rows: list[Shape] = []
    quarantined: list[Quarantined] = []
    for index, item in enumerate(raw):
        try:
            row = read_object(model, item, assumed=assumed, sound=sound)
            if index in doubtful:
                raise doubtful[index]
            rows.append(row)
        except Mismatch as misfit:
            quarantined.append(Quarantined(index, printable(item), misfit.place, misfit.reason))
    return rows, tuple(quarantined)


def _find_mismatches(
    raw: Sequence[Any], expected: Mapping[str, str], prefix: str
) -> dict[int, Mismatch]:
    """Rows that are of another kind, that were not asked for, or whose id another row has as well."""
    doubtful: dict[int, Mismatch] = {}
    places: dict[str, int] = {}
    for index, row in enumerate(raw):
        if type(row) is not dict:
            continue
        for name, value in expected.items():
            if row.get(name, value) != value:
                doubtful[index] = Mismatch(name, "it is not the one that was asked for")
        identifier = row.get("id")
        if type(identifier) is not str:
            continue
        if not identifier.startswith(prefix):
            doubtful[index] = Mismatch("id", f"an id that begins with {prefix} was expected")
        # Contract, Conventions: an id names one thing; which of two different rows is right cannot be told here.
        first = places.setdefault(identifier, index)
        if first != index and raw[first] != row:
            doubtful[first] = doubtful[index] = Mismatch("id", "two rows of this page have it")
    return doubtful


@cache
def row_model(page: type[Answer]) -> type[Answer]:
    """The shape of a list's rows."""
    data = page.model_fields.get("data")
    row = next(iter(get_args(data.annotation)), None) if data else None
    if not (isinstance(row, type) and issubclass(row, Answer)):
        raise TypeError(f"{page.__name__} has no rows of a contract shape")
    return row


@cache
def _loose(model: type[Shape]) -> type[Shape]:
    """The same shape with every field optional and whatever comes accepted."""
    fields: dict[str, Any] = {}
    for name, info in model.model_fields.items():
        metadata = (*info.metadata, WrapValidator(_keep))
        # What does not fit is kept as it came; None where nothing came.
        fields[name] = (Annotated[(info.annotation, *metadata)], None)
    return create_model(model.__name__, __base__=model, __module__=model.__module__, **fields)


def _keep(value: Any, validate: ValidatorFunctionWrapHandler) -> Any:
    try:
        return validate(value)
    except ValidationError:
        return value


def _path(location: tuple[int | str, ...], raw: Any) -> tuple[int | str, ...]:
    """A location without the names of a union's branches, which pydantic puts behind a value."""
    # As far as the value goes, the location is a path into it.
    for depth, step in enumerate(location):
        if isinstance(raw, dict):
            raw = raw.get(step)
        elif isinstance(raw, list) and isinstance(step, int) and step < len(raw):
            raw = raw[step]
        else:
            return location[:depth]
    return location


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
