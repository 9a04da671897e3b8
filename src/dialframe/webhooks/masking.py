"""Numbers hidden in JSON values that people wrote or the service filled in; knows no events.

A number in a field of its own is masked whatever it looks like. In other text every run of seven digits or
more is, with or without `+`, blanks, brackets, dots, hyphens and slashes: better a harmless figure hidden
than a number shown. Typed ids, instants and days are left readable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from dialframe.contract.ids import kind_of
from dialframe.privacy import mask_phone, redact

#: Fields of event data (contract, Events: Event data) that are a person's or the account's number.
PHONES: Final = frozenset({"from", "to", "phone", "from_number", "to_number"})

#: Whole numbers from here on may be a number with its country code.
LEAST_NUMBER: Final = 10**9

_RUN: Final = re.compile(r"(?<!\w)\+?\d(?:[\s().\-/\u2010-\u2015]{0,3}\d){6,}(?!\w)")
_MOMENT: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}([.,]\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?", re.ASCII
)


def masked(value: Any) -> Any:
    """The same JSON value with every number in it masked."""
    if isinstance(value, dict):
        return {
            masked(name): _field(inner) if name in PHONES else masked(inner)
            for name, inner in value.items()
        }
    if isinstance(value, list):
        return [masked(inner) for inner in value]
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= LEAST_NUMBER:
        return mask_phone(str(value))
    return value


def numbers(value: Any) -> Iterator[str]:
    """What stands in the fields that are numbers, in order, wherever they are in the value."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name in PHONES and _is_number(inner):
                yield str(inner)
            else:
                yield from numbers(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from numbers(inner)


def _field(value: Any) -> Any:
    return mask_phone(str(value)) if _is_number(value) else masked(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _text(text: str) -> str:
    if _MOMENT.fullmatch(text) or kind_of(text) is not None:
        return text
    return _RUN.sub(lambda match: mask_phone(match.group()), redact(text))
