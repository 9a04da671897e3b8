"""JSON as it comes: fast where it is clean, and value by value where one of them cannot be read.

Half an emoji, `NaN`, a number beyond every float, a name that came twice: each spoils the value that
it is in, and the answer around it is still good. A value that cannot be read is an `Unreadable` in
the tree, so that whoever reads the tree sets aside that row, by its field, and keeps the others.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final

from pydantic_core import from_json

#: Stands for a number that is not finite, in a count.
NOT_FINITE: Final = -(2**62)
#: Digits of an integer beyond which it is no number that anything can hold.
LONGEST_INTEGER: Final = 300
#: Characters of an unreadable value that are kept.
KEPT_CHARS: Final = 200

HALF_CHARACTER: Final = "half of a character (a lone surrogate, or bytes that are not UTF-8)"
TWICE: Final = "the name came more than once with different values"
NO_NUMBER: Final = "a finite number was expected"


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A value that nothing can hold: what came, and why."""

    text: str
    reason: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Tree:
    """A JSON value, and whether all of it is sound, so that nobody need look for `Unreadable`."""

    value: Any
    sound: bool


def parse(data: bytes) -> Tree:
    """The JSON value of an answer.

    Raises:
        ValueError: It is not JSON even so: cut off, something else, or nested too deep.
    """
    try:
        value = from_json(data, allow_inf_nan=False)
    except ValueError:
        return _second_look(data)
    # `":` counts names, and more than there are if one came twice (or stands inside a text).
    if names(value) == data.count(b'":'):
        return Tree(value, sound=True)
    return _second_look(data)


def first_unreadable(value: Any) -> tuple[tuple[int | str, ...], str] | None:
    """Path and reason of the first value in a tree that cannot be read, or None."""
    return next(_unreadable(value, ()), None)


def printable(value: Any) -> Any:
    """The tree with everything unreadable as text that can be stored and shown."""
    match value:
        case Unreadable():
            return value.text
        case str():
            return value.encode("utf-8", "backslashreplace").decode()
        case dict():
            return {printable(name): printable(item) for name, item in value.items()}
        case list():
            return [printable(item) for item in value]
    return value


def _second_look(data: bytes) -> Tree:
    text = data.decode("utf-8", "surrogateescape")
    try:
        value = json.loads(
            text,
            parse_constant=lambda name: Unreadable(name, NO_NUMBER),
            parse_float=_float,
            parse_int=_int,
            object_pairs_hook=_object,
        )
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    return Tree(value, sound=first_unreadable(value) is None)


def _float(text: str) -> float | Unreadable:
    number = float(text)
    return number if abs(number) != float("inf") else Unreadable(text[:KEPT_CHARS], NO_NUMBER)


def _int(text: str) -> int | Unreadable:
    return int(text) if len(text) <= LONGEST_INTEGER else Unreadable(text[:KEPT_CHARS], NO_NUMBER)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) == len(pairs):
        return value
    first: dict[str, Any] = {}
    for name, item in pairs:
        if name in first and first[name] != item:
            value[name] = Unreadable(f"{first[name]!s} | {item!s}"[:KEPT_CHARS], TWICE)
        first.setdefault(name, item)
    return value


def names(value: Any) -> int:
    """How many names the objects of a tree have; far less than none where a number is beyond every float."""
    count = 0
    if type(value) is dict:
        count = len(value)
        value = value.values()
    elif type(value) is not list:
        return NOT_FINITE if type(value) is float and not isfinite(value) else 0
    for item in value:
        kind = type(item)
        if kind is str:
            continue
        if kind is dict or kind is list:
            count += names(item)
        elif kind is float and not isfinite(item):
            return NOT_FINITE
    return count


def _unreadable(
    value: Any, path: tuple[int | str, ...]
) -> Iterator[tuple[tuple[int | str, ...], str]]:
    match value:
        case Unreadable():
            yield path, value.reason
        case str() if _broken(value):
            yield path, HALF_CHARACTER
        case dict():
            for name, item in value.items():
                if _broken(name):
                    yield (*path, printable(name)), HALF_CHARACTER
                yield from _unreadable(item, (*path, name))
        case list():
            for index, item in enumerate(value):
                yield from _unreadable(item, (*path, index))


def _broken(text: str) -> bool:
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
