"""The contract as an OpenAPI 3.1 document, derived from its rows and shapes.

What it adds to a row is where each field travels and which headers come along (contract, Endpoints: Common
request parts). Shapes become schemas in `schemas`; refusals become responses here, with an example for each
code (contract, Errors).
"""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Final

from dialframe.contract import limits
from dialframe.contract.error_codes import BY_CODE, Code
from dialframe.contract.models import webhook_models
from dialframe.contract.models.base_models import REQUEST_ID, Nothing
from dialframe.contract.openapi_schemas import (
    Schema,
    closure,
    definitions,
    name_of,
    only,
    reference,
)
from dialframe.contract.operations import ALL, Operation

Row = Operation[Any, Any]

MEDIA_TYPE: Final = "application/problem+json"

#: Refusals of every operation; those below depend on what an operation takes.
ALWAYS: Final = (
    "invalid_api_key", "api_access_disabled", "ip_not_allowed", "credential_in_url",
    "validation_failed", "rate_limit_exceeded", "internal_error", "upstream_invalid_response",
    "temporarily_unavailable", "upstream_unavailable",
)  # fmt: skip
WITH_SCOPE: Final = ("insufficient_scope",)
WITH_BODY: Final = ("credential_in_body", "payload_too_large", "unsupported_media_type")
WITH_KEY: Final = ("conflict", "idempotency_conflict", "outcome_unknown")
WITH_REQUIRED_KEY: Final = ("idempotency_key_required",)
#: Statuses that carry `Retry-After` (contract, Errors).
WAITING: Final = (429, 503)

#: Errors (contract, Errors), after RFC 9457.
PROBLEM: Final[Schema] = {
    "type": "object",
    "description": "Why a request was refused. Branch on the status and `code`, never on `detail`.",
    "properties": {
        "type": {"type": "string", "description": "{docs_base}/errors/<code with hyphens>"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "For people only."},
        "instance": {"type": "string", "description": "urn:service:request:<request_id>"},
        "code": {"type": "string", "description": "An open set: codes may be added."},
        "request_id": {"type": "string"},
        "errors": {
            "type": "array",
            "description": "With `validation_failed`: which fields are wrong.",
            "items": {
                "type": "object",
                "properties": {
                    "pointer": {"type": "string", "format": "json-pointer"},
                    "code": {"type": "string"},
                },
                "required": ["pointer", "code"],
                "additionalProperties": True,
            },
        },
    },
    "required": ["type", "title", "status", "detail", "instance", "code", "request_id"],
    "additionalProperties": True,
}


# Contract, Errors names codes by condition and not by operation: which apply is derived here.
def general_codes(row: Row) -> tuple[str, ...]:
    """Refusals that an operation shares with others of its kind (contract, Errors)."""
    return (
        *ALWAYS,
        *(WITH_SCOPE if row.scope else ()),
        *(WITH_BODY if takes_body(row) else ()),
        *(WITH_KEY if row.changes_data else ()),
        *(WITH_REQUIRED_KEY if row.key == "required" else ()),
    )


def takes_body(row: Row) -> bool:
    """Whether a request may carry a body."""
    return row.method in ("POST", "PATCH")


def responses(row: Row) -> dict[str, Schema]:
    """The refusals of a row by status; a code that has its status to itself is a component."""
    return {
        str(status): reference(_name(codes[0], status), "responses")
        if len(codes) == 1
        else _response(status, codes)
        for status, codes in _by_status(row).items()
    }


def components(rows: Iterable[Row]) -> dict[str, dict[str, Schema]]:
    """What the responses of the rows refer to: responses, examples, and the schema of all."""
    shared: dict[str, Schema] = {}
    examples: dict[str, Schema] = {}
    for row in rows:
        for status, codes in _by_status(row).items():
            examples |= {_name(code, status): _example(code, status) for code in codes}
            if len(codes) == 1:
                shared[_name(codes[0], status)] = _response(status, codes)
    return {"responses": shared, "examples": examples, "schemas": {"Problem": PROBLEM}}


def headers(names: Iterable[str]) -> Schema:
    """Headers of an answer, as references."""
    return {name: reference(name, "headers") for name in names}


def _by_status(row: Row) -> dict[int, list[Code]]:
    codes: dict[int, list[Code]] = defaultdict(list)
    for code in dict.fromkeys((*row.refusals, *general_codes(row))):
        for status in BY_CODE[code].statuses:
            codes[status].append(BY_CODE[code])
    return dict(sorted(codes.items()))


def _response(status: int, codes: list[Code]) -> Schema:
    # Contract, Conventions: every response carries the first two.
    names = ["X-Request-ID", "Cache-Control", *(["Retry-After"] if status in WAITING else [])]
    # Idempotency 6: of the 409s `conflict` alone carries it, so in their response it is optional.
    conflict = {"Retry-After": reference("Retry-After-Conflict", "headers")}
    waits = conflict if BY_CODE["conflict"] in codes else {}
    examples = {code.code: reference(_name(code, status), "examples") for code in codes}
    return {
        "description": "; ".join(f"`{code.code}`: {code.condition}" for code in codes) + ".",
        "headers": {**headers(names), **waits},
        "content": {MEDIA_TYPE: {"schema": reference("Problem"), "examples": examples}},
    }


def _example(code: Code, status: int) -> Schema:
    words = code.condition[0].upper() + code.condition[1:]
    request_id = "req_01ARZ3NDEKTSV4RRFFQ69G5FAV"
    value: Schema = {
        "type": f"{{docs_base}}/errors/{code.code.replace('_', '-')}",
        "title": words,
        "status": status,
        "detail": f"{words}.",
        "instance": f"urn:service:request:{request_id}",
        "code": code.code,
        "request_id": request_id,
    }
    if code.code == "validation_failed":
        value["errors"] = [{"pointer": "/phone", "code": "missing"}]
    return {
        "summary": code.condition,
        "description": f"What next: {code.advice}.",
        "value": value,
    }


def _name(code: Code, status: int) -> str:
    return code.code if len(code.statuses) == 1 else f"{code.code}_{status}"


VERSION: Final = "1.0.0-rc6"
#: Stands for the service's address, which the contract leaves open.
OPEN_ADDRESS: Final = "{base_url}"
#: Where the sandbox listens unless it is told otherwise.
DEFAULT_ADDRESS: Final = "http://127.0.0.1:8787"

INTRODUCTION: Final = """\
A server-to-server API for accounts of an outbound dialing platform: leads go in, call results come out.

Operations marked `x-assumed` are named by the contract without their shapes. Theirs are assumed here, and nothing \
should depend on them.

An unknown path answers 404 `route_not_available`, a known path with another method 405 `method_not_allowed` with an \
`Allow` header. Answers may gain fields and values within v1; a request with an unknown field or parameter is refused.
"""


def _text(bounds: tuple[int, int] | None = None, **facts: Any) -> Schema:
    """The schema of a text, its length within bounds."""
    lengths = {} if bounds is None else {"minLength": bounds[0], "maxLength": bounds[1]}
    return {"type": "string", **lengths, **facts}


def _header(name: str, description: str, schema: Schema, *, required: bool = False) -> Schema:
    """A header of a request."""
    return {
        "name": name,
        "in": "header",
        "required": required,
        "description": description,
        "schema": schema,
    }


_SECONDS: Final[Schema] = {"type": "integer", "minimum": 0}
_NAMED_WRITE: Final = (
    "Names this write for 24 hours: sent again with the same request, it gives the stored answer."
)
_KEY: Final = _text(limits.IDEMPOTENCY_KEY_CHARS)
_ETAG: Final = _text(maxLength=limits.ETAG_CHARS)

PARAMETERS: Final[dict[str, Schema]] = {
    "IdempotencyKey": _header("Idempotency-Key", _NAMED_WRITE, _KEY, required=True),
    "OptionalIdempotencyKey": _header("Idempotency-Key", _NAMED_WRITE, _KEY),
    "IfMatch": _header(
        "If-Match", "`ETag` of the last read; a changed resource answers 412.", _ETAG
    ),
    "CorrelationId": _header(
        "X-Correlation-ID",
        "Logged as metadata, never used for identity.",
        _text(limits.CORRELATION_ID_CHARS, pattern=limits.CORRELATION_ID_PATTERN),
    ),
}

#: Headers of answers: what each says, whether it always comes, and its schema.
_HEADERS: Final[dict[str, tuple[str, bool, Schema]]] = {
    "X-Request-ID": (
        "Names this answer: `req_` and a ULID, or `edge_` and 32 hex digits when the edge answered "
        "before the request reached the API.",
        True,
        _text(pattern=f"^({REQUEST_ID.pattern})$"),
    ),
    "Cache-Control": ("", True, _text(const="no-store")),
    "ETag": ("Version of the resource, for `If-Match`.", True, _ETAG),
    "Idempotency-Replayed": ("Comes with the stored answer of a key.", False, _text(const="true")),
    "Retry-After": ("Seconds to wait.", True, _SECONDS),
    "Retry-After-Conflict": ("Seconds to wait; comes with `conflict`.", False, _SECONDS),
}
HEADERS: Final[dict[str, Schema]] = {
    name: ({"description": words} if words else {}) | {"required": required, "schema": schema}
    for name, (words, required, schema) in _HEADERS.items()
}


def document(base_url: str = OPEN_ADDRESS) -> dict[str, Any]:
    """The OpenAPI document, ready for JSON; the same for the same address."""
    shapes = definitions(ALL, (webhook_models.Envelope,))
    # OpenAPI 3.1, Path Item Object: the methods of one path stand together.
    paths: dict[str, dict[str, Any]] = defaultdict(dict)
    for row in ALL:
        paths[row.path][row.method.lower()] = _operation(row, shapes[name_of(row.request)])
    # OpenAPI 3.1, Server Variable Object: what is open in the address needs a default.
    server: Schema = {"url": base_url.rstrip("/")}
    if base_url == OPEN_ADDRESS:
        where = "The service's address; by default where `dialframe sandbox serve` listens."
        server["variables"] = {"base_url": {"default": DEFAULT_ADDRESS, "description": where}}
    description = {
        "openapi": "3.1.0",
        "info": {
            "title": "Outbound dialing service",
            "version": VERSION,
            "description": INTRODUCTION,
        },
        "servers": [server],
        "security": [{"bearer": []}],
        "tags": [{"name": name} for name in dict.fromkeys(_tag(row) for row in ALL)],
        "paths": dict(paths),
        "webhooks": {kind: {"post": _webhook_schema(kind)} for kind in webhook_models.EVENT_DATA},
        "components": _components(shapes),
    }
    # The tables above are in it many times over; who edits a document must not edit them.
    return copy.deepcopy(description)


def _components(shapes: Mapping[str, Schema]) -> Schema:
    shared = components(ALL)
    bodies = {
        _body_name(row): only(name_of(row.request), shapes[name_of(row.request)], row.body_names)
        if row.body_names
        else {"type": "object", "additionalProperties": False}
        for row in ALL
        if takes_body(row)
    }
    every = {**shapes, **bodies, **shared["schemas"]}
    answers = [name_of(row.response) for row in ALL]
    used = closure(
        every, [*bodies, *answers, *shared["schemas"], webhook_models.Envelope.__name__]
    )
    return {
        "securitySchemes": {
            "bearer": {
                "type": "http",
                "scheme": "bearer",
                "bearerFormat": "svc_live_... or svc_test_...",
                "description": "A key of an API client; an operation names the scope that the client "
                "has to hold.",
            }
        },
        "parameters": PARAMETERS,
        "headers": HEADERS,
        **shared,
        "schemas": {name: every[name] for name in sorted(used)},
    }


def _webhook_schema(kind: str) -> Schema:
    """An event as the service posts it to an endpoint (contract, Events: Delivery)."""
    data = {
        "type": "object",
        "properties": {name: {} for name in webhook_models.EVENT_DATA[kind]},
    }
    body = {
        "allOf": [
            reference(webhook_models.Envelope.__name__),
            {"properties": {"type": {"const": kind}, "data": data}},
        ]
    }
    headers = {
        webhook_models.SIGNATURE_HEADER: "`sha256=<hex>` of `<timestamp>.<raw body>`; two during a rotation.",
        webhook_models.TIMESTAMP_HEADER: "Unix seconds when this attempt was signed.",
        webhook_models.EVENT_ID_HEADER: "The event; retries and replays keep it.",
        webhook_models.EVENT_HEADER: "The event's type.",
        webhook_models.DELIVERY_ID_HEADER: "The delivery; a replay has a new one.",
    }
    return {
        "operationId": f"events.{kind}",
        "summary": f"{kind} is delivered",
        "tags": ["webhooks"],
        # Events, Delivery: no key comes along; the signature says who sent it.
        "security": [],
        "parameters": [
            _header(name, words, _text(), required=True) for name, words in headers.items()
        ],
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": {
            "2XX": {"description": "Received, within ten seconds."},
            # Events, Delivery 5.
            "default": {"description": "Sent again after 1, 5, 15, 60 and 240 minutes."},
        },
    }


def _operation(row: Row, request: Schema) -> Schema:
    body: Schema = {}
    if takes_body(row):
        content = {"application/json": {"schema": reference(_body_name(row))}}
        # Contract, Endpoints: "body empty or {}" where nothing is demanded; a PATCH without one says nothing.
        demanded = set(request.get("required", ())) & set(row.body_names)
        required = bool(demanded) or row.method == "PATCH"
        body = {"requestBody": {"required": required, "content": content}}
    # OpenAPI 3.1, Specification Extensions: what it has no field for begins with `x-`.
    marks = {
        "x-dialframe-scope": row.scope,
        "x-dialframe-tier": row.tier,
        "x-dialframe-switch": row.switch,
        "x-dialframe-sending-key": row.sending_key or None,
        "x-dialframe-source": row.source,
        "x-assumed": row.assumed or None,
    }
    return {
        "operationId": row.name,
        "summary": row.summary.removesuffix("."),
        "description": _description(row),
        "tags": [_tag(row)],
        # OpenAPI 3.1, Security Requirement Object: for `http` the list names roles, and ours are scopes.
        "security": [{"bearer": [row.scope] if row.scope else []}],
        "parameters": _parameters(row, request),
        **body,
        "responses": {str(row.status): _success(row), **responses(row)},
        **{name: value for name, value in marks.items() if value is not None},
    }


def _description(row: Row) -> str:
    scope = f"Scope `{row.scope}`" if row.scope else "Any active key, no scope"
    parts = [f"{scope}, tier {row.tier}."]
    if row.switch:
        parts.append(f"The account's switch `{row.switch}` has to be on.")
    if row.sending_key:
        parts.append("Only a key of the guided sending setup will do.")
    if row.assumed:
        parts.append("Its shapes are assumed: the contract does not show them.")
    return " ".join(parts)


def _parameters(row: Row, request: Schema) -> list[Schema]:
    keys = {"required": ["IdempotencyKey"], "optional": ["OptionalIdempotencyKey"], "none": []}
    headers = [*keys[row.key], *(["IfMatch"] if row.if_match else []), "CorrelationId"]
    return [
        *(_parameter(name, "path", request) for name in row.path_names),
        *(_parameter(name, "query", request) for name in row.query_names),
        *(reference(name, "parameters") for name in headers),
    ]


def _parameter(name: str, location: str, request: Schema) -> Schema:
    schema = dict(request["properties"][name])
    description = schema.pop("description", None)
    return {
        "name": name,
        "in": location,
        "required": name in request.get("required", ()),
        **({"description": description} if description else {}),
        "schema": schema,
    }


def _body_name(row: Row) -> str:
    # Bodies without a field are one shape, whatever stands in their paths.
    return name_of(row.request) if row.body_names else "NoFields"


def _success(row: Row) -> Schema:
    names = ["X-Request-ID", "Cache-Control"]
    names += ["ETag"] if row.etag else []
    names += ["Idempotency-Replayed"] if row.changes_data else []
    response: Schema = {"description": "Done.", "headers": headers(names)}
    if row.streamed:
        # Which kind of bytes the contract does not say.
        response["content"] = {"*/*": {}}
    elif row.response is not Nothing:
        response["content"] = {"application/json": {"schema": reference(name_of(row.response))}}
    return response


def _tag(row: Row) -> str:
    return row.name.partition(".")[0]
