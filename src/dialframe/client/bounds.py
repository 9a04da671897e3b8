"""The contract's bounds, checked before anything is sent; knows arguments and sentences, not HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar, get_args

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from dialframe.contract import ids, limits
from dialframe.contract.models.shape import E164
from dialframe.errors import ConfigError

Made = TypeVar("Made")

#: Patterns in words that a person can act on.
PATTERNS: Final[dict[str, str]] = {
    get_args(E164)[1].pattern: "an E.164 number: +, country code, number, 7 to 15 digits in all",
    **{
        ids.pattern(kind): f"a {kind.replace('_', ' ')} id: {prefix} and a lower-case UUID"
        for kind, prefix in ids.PREFIXES.items()
    },
}


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


def _sentence(problem: ErrorDetails, root: str) -> str:
    place = root + where(problem["loc"])
    if problem["type"] == "string_pattern_mismatch":
        pattern = str(problem.get("ctx", {}).get("pattern"))
        return f"{place} should be {PATTERNS.get(pattern, f'text like {pattern}')}"
    says = problem["msg"].removeprefix("Value error, ")
    says = says[:1].lower() + says[1:]
    return f"{place}: {says}" if place else says


def _depth(value: Any) -> int:
    if isinstance(value, Mapping):
        return 1 + max((_depth(item) for item in value.values()), default=0)
    if isinstance(value, list | tuple):
        return 1 + max((_depth(item) for item in value), default=0)
    return 0
