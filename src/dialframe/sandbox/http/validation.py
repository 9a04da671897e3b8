"""From bytes to a checked request (contract, Conventions): JSON, then fields, then shape."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NoReturn
from urllib.parse import parse_qsl

from pydantic import ValidationError

from dialframe.contract import limits
from dialframe.contract.models.shape import Request
from dialframe.contract.row import Operation
from dialframe.privacy import KEY
from dialframe.sandbox.world import clock
from dialframe.sandbox.world.refusals import FieldError, Refusal, invalid

#: Names that carry a credential wherever they stand in a query or at the top of a body.
CREDENTIAL_NAMES: Final = frozenset(
    {
        "api_key", "apikey", "api-key", "x-api-key", "access_token", "token", "authorization",
        "bearer", "credential", "credentials",
    }
)  # fmt: skip

#: What no text may hold: NUL, and halves of a surrogate pair, which are not characters.
UNFIT: Final = re.compile("[\x00\ud800-\udfff]")

_JSON_TYPE: Final = re.compile(
    r"application/json\s*(;\s*charset\s*=\s*\"?utf-?8\"?\s*)?;?", re.ASCII | re.IGNORECASE
)


def check_media_type(content_type: str | None) -> None:
    """Refuse anything but `application/json` in UTF-8.

    Raises:
        Refusal: `unsupported_media_type`.
    """
    if content_type is None or not _JSON_TYPE.fullmatch(content_type.strip()):
        raise Refusal(
            "unsupported_media_type", "The body's Content-Type has to be application/json."
        )


def parse(raw: bytes) -> Any:
    """The value of a JSON text: UTF-8, no name twice in an object, finite numbers, fit text.

    Raises:
        Refusal: `validation_failed`, with what is wrong; also more than 20 levels of nesting.
    """
    try:
        value = json.loads(
            raw.decode("utf-8"), object_pairs_hook=_object, parse_constant=_no_number
        )
    except RecursionError:
        raise invalid("", "too_deep", "The body is nested too deeply.") from None
    except UnicodeDecodeError:
        raise invalid("", "invalid_encoding", "The body is not UTF-8.") from None
    except ValueError:
        # Also a number with more digits than Python turns into an integer.
        raise invalid("", "invalid_json", "The body is not JSON.") from None
    _check(value, "", 1)
    return value


def refuse_credential(value: Any) -> None:
    """Refuse a body that carries a key.

    Raises:
        Refusal: `credential_in_body`.
    """
    named = isinstance(value, dict) and any(
        name.lower() in CREDENTIAL_NAMES and isinstance(held, str) and held
        for name, held in value.items()
    )
    if named or _holds_key(value):
        raise Refusal(
            "credential_in_body",
            "The body carries a credential: send it in the Authorization header only.",
        )


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise invalid("", "duplicate_name", "An object of the body has the same name twice.")
    return value


def _no_number(word: str) -> NoReturn:
    raise invalid("", "invalid_json", f"{word} is not a JSON number.")


def _check(value: Any, pointer: str, level: int) -> None:
    if isinstance(value, str):
        if UNFIT.search(value):
            raise invalid(pointer, "invalid_text")
    elif isinstance(value, float):
        if value in (float("inf"), float("-inf")):
            raise invalid(pointer, "out_of_range")
    elif isinstance(value, dict | list):
        if level > limits.JSON_DEPTH:
            raise invalid("", "too_deep", f"More than {limits.JSON_DEPTH} levels of nesting.")
        _check_inside(value, pointer, level + 1)


def _check_inside(value: dict[str, Any] | list[Any], pointer: str, level: int) -> None:
    if isinstance(value, list):
        for index, item in enumerate(value):
            _check(item, f"{pointer}/{index}", level)
        return
    for name, item in value.items():
        if UNFIT.search(name):
            raise invalid(pointer, "invalid_text")
        _check(item, f"{pointer}/{escape(name)}", level)


def escape(name: str) -> str:
    """A name as one token of a JSON pointer (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1")


def _holds_key(value: Any) -> bool:
    if isinstance(value, str):
        return KEY.search(value) is not None
    if isinstance(value, dict):
        return any(_holds_key(name) or _holds_key(held) for name, held in value.items())
    return isinstance(value, list) and any(_holds_key(item) for item in value)


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
    "scheduled_at": clock.TEXT,
    "obtained_at": clock.TEXT,
    "start_date": clock.DAY_TEXT,
    "end_date": clock.DAY_TEXT,
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
    translated = [
        FieldError(
            "".join(f"/{escape(str(part))}" for part in problem["loc"]), _code(problem["type"])
        )
        for problem in error.errors(include_url=False, include_context=False, include_input=False)
        if not problem["loc"] or problem["loc"][0] not in path_names
    ]
    return [problem for problem in translated if problem.pointer not in already]


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
