"""Which refusals an operation can answer with, as responses of an OpenAPI 3.1 document.

A row names the refusals of its own; those that it shares with others (contract, Endpoints: "Every operation
below can also answer the authentication and general errors") follow from what it takes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, Final

from dialframe.contract.error_codes import BY_CODE, Code
from dialframe.contract.row import Operation
from dialframe.contract.schemas import Schema, reference

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
    found: dict[int, list[Code]] = defaultdict(list)
    for code in dict.fromkeys((*row.refusals, *general_codes(row))):
        for status in BY_CODE[code].statuses:
            found[status].append(BY_CODE[code])
    return dict(sorted(found.items()))


def _response(status: int, codes: list[Code]) -> Schema:
    names = ["X-Request-ID", "Cache-Control", *(["Retry-After"] if status in WAITING else [])]
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
