"""JSON read strictly: what a body may be before anybody asks what it means; knows no operation."""

from __future__ import annotations

import json
import re
from typing import Any, Final, NoReturn

from dialframe.contract import limits
from dialframe.privacy import KEY
from dialframe.sandbox.problems import Refusal, invalid

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
