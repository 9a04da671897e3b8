"""From text and JSON to a checked request (contract, Conventions); knows shapes, not handlers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl

from pydantic import ValidationError

from dialframe.contract import limits
from dialframe.contract.models.shape import Request
from dialframe.contract.row import Operation
from dialframe.sandbox import instants
from dialframe.sandbox.body import UNFIT, escape
from dialframe.sandbox.problems import FieldError, Refusal, invalid

#: Field code by the start of pydantic's error type, first match first.
CODES: Final[tuple[tuple[str, str], ...]] = (
    ("missing", "missing"),
    ("extra_forbidden", "unknown_field"),
    ("too_long", "too_long"),
    ("string_too_long", "too_long"),
    ("too_short", "too_short"),
    ("string_too_short", "too_short"),
    ("greater_than", "out_of_range"),
    ("less_than", "out_of_range"),
    ("literal_error", "not_allowed"),
    ("string_pattern_mismatch", "invalid_format"),
    ("timezone_aware", "invalid_format"),
    ("datetime", "invalid_format"),
    ("date", "invalid_format"),
    ("int_parsing", "invalid_format"),
)

#: Lists that answer `batch_too_large` beyond their limit, by operation.
BATCHES: Final[dict[str, tuple[str, int]]] = {
    "leads.import": ("leads", limits.LEADS_PER_IMPORT),
    "dnc.check": ("phones", limits.PHONES_PER_DNC_CHECK),
}

#: Forms of text that a shape alone would take too generously, by field.
FORMS: Final[dict[str, re.Pattern[str]]] = {
    "limit": re.compile(r"[0-9]{1,9}"),
    "scheduled_at": instants.TEXT,
    "obtained_at": instants.TEXT,
    "start_date": instants.DAY_TEXT,
    "end_date": instants.DAY_TEXT,
}


def query_pairs(query: str) -> list[tuple[str, str]]:
    """Names and values of a query string.

    Raises:
        Refusal: It is not UTF-8, or holds text that no field takes.
    """
    try:
        pairs = parse_qsl(query, keep_blank_values=True, errors="strict")
    except ValueError:
        raise invalid("", "invalid_encoding", "The query is not UTF-8.") from None
    for name, value in pairs:
        if UNFIT.search(name + value):
            raise invalid("/" + escape(name), "invalid_text")
    return pairs


def validate(
    operation: Operation[Any, Any],
    shape: type[Request],
    *,
    path: Mapping[str, str],
    query: str,
    body: Any,
) -> Request:
    """The checked request.

    Raises:
        Refusal: `validation_failed` with every field that is wrong, `batch_too_large`, or
            `not_found` where nothing is wrong but the form of an id in the path.
    """
    if not isinstance(body, dict):
        raise invalid("", "wrong_type", "The body has to be a JSON object.")
    _refuse_large_batch(operation.name, body)
    pairs = query_pairs(query)
    problems = [
        *_unknown((name for name, _ in pairs), operation.query_names),
        *_twice([name for name, _ in pairs]),
        *_unknown(body, operation.body_names),
        *_malformed({**dict(pairs), **body}),
    ]
    known = {
        **{name: body[name] for name in operation.body_names if name in body},
        **{name: value for name, value in pairs if name in operation.query_names},
        **path,
    }
    try:
        request = shape.model_validate(known)
    except ValidationError as error:
        problems += _translated(error, problems, operation.path_names)
        raise _refusal(problems) from None
    if problems:
        raise _refusal(problems)
    return request


def _refuse_large_batch(name: str, body: dict[str, Any]) -> None:
    field, most = BATCHES.get(name, ("", 0))
    items = body.get(field)
    if isinstance(items, list) and len(items) > most:
        raise Refusal("batch_too_large", f"At most {most} items at once; {len(items)} were sent.")


def _unknown(names: Iterable[str], allowed: tuple[str, ...]) -> list[FieldError]:
    return [
        FieldError("/" + escape(name), "unknown_field") for name in names if name not in allowed
    ]


def _twice(names: list[str]) -> list[FieldError]:
    again = {name for name in names if names.count(name) > 1}
    return [FieldError("/" + escape(name), "duplicate_name") for name in sorted(again)]


def _malformed(fields: Mapping[str, Any]) -> list[FieldError]:
    return [
        FieldError("/" + name, "invalid_format")
        for name, form in FORMS.items()
        if isinstance(fields.get(name), str) and not form.fullmatch(fields[name])
    ]


def _translated(
    error: ValidationError, known: list[FieldError], path_names: tuple[str, ...]
) -> list[FieldError]:
    already = {problem.pointer for problem in known}
    found = [
        FieldError("".join(f"/{escape(str(part))}" for part in one["loc"]), _code(one["type"]))
        for one in error.errors(include_url=False, include_context=False, include_input=False)
        if not one["loc"] or one["loc"][0] not in path_names
    ]
    return [problem for problem in found if problem.pointer not in already]


def _code(kind: str) -> str:
    for start, code in CODES:
        if kind.startswith(start):
            return code
    return "wrong_type" if kind.endswith("_type") else "invalid"


def _refusal(problems: list[FieldError]) -> Refusal:
    if not problems:
        # Nothing is wrong but the form of an id in the path: it names nothing.
        return Refusal("not_found", "The id names nothing of the account.")
    named = ", ".join(problem.pointer or "the request" for problem in problems[:3])
    return Refusal(
        "validation_failed", f"The request is not valid: {named}.", errors=tuple(problems)
    )
