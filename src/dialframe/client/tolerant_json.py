"""JSON into values and models, tolerantly where the contract says so.

Three degrees. A declared answer has to be what the contract shows. An answer whose shape the
contract leaves unshown is read as far as it fits: a field that does not fit is kept as it came, a
missing one is None. A row of a list that does not validate goes to quarantine and the others stay.

Half an emoji, `NaN`, a number beyond every float, a name that came twice: each spoils the value that
it is in, and the answer around it is still good. Such a value is an `Unreadable` in the tree.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import isfinite
from typing import Annotated, Any, Final, TypeVar, get_args

from pydantic import (
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    create_model,
)
from pydantic_core import from_json

from dialframe.client.request_building import where
from dialframe.contract.models.base_models import Answer

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
    """The JSON value of an answer."""
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
    # Bytes that are no UTF-8 become lone surrogates, which no text of the service can hold.
    text = data.decode("utf-8", "surrogateescape")
    try:
        value = json.loads(
            text,
            parse_constant=lambda name: Unreadable(name, NO_NUMBER),
            parse_float=lambda text: (
                number
                if isfinite(number := float(text))
                else Unreadable(text[:KEPT_CHARS], NO_NUMBER)
            ),
            parse_int=lambda text: (
                int(text)
                if len(text) <= LONGEST_INTEGER
                else Unreadable(text[:KEPT_CHARS], NO_NUMBER)
            ),
            object_pairs_hook=_object,
        )
    # RFC 8259, 9: a reader may set limits on the depth of nesting.
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    # A second look may find nothing: `":` stood in a text, or a name came twice with one value.
    return Tree(value, sound=first_unreadable(value) is None)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    # No name came twice.
    if len(value) == len(pairs):
        return value
    first: dict[str, Any] = {}
    for name, item in pairs:
        # RFC 8259, 4: names should be unique; with one value it does not matter which is meant.
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


Shape = TypeVar("Shape", bound=Answer)


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


class Mismatch(ValueError):
    """A value is not what its model says: where, and what was expected."""

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(reason)
        self.place = place
        self.reason = reason


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
    unreadable = None if sound else first_unreadable(raw)
    if unreadable is not None:
        raise Mismatch(where(unreadable[0]), unreadable[1])
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        if assumed:
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
    sound: bool = True,
    expected: Mapping[str, str] | None = None,
    prefix: str = "",
) -> tuple[list[Shape], tuple[Quarantined, ...]]:
    """The rows of a page, and those that do not fit with the reason."""
    # Looked at first: a row that answers another question is set aside though it is well formed.
    doubtful = _unexpected(raw, expected or {}, prefix)
    rows: list[Shape] = []
    set_aside: list[Quarantined] = []
    for index, item in enumerate(raw):
        try:
            row = read_object(model, item, assumed=assumed, sound=sound)
            if index in doubtful:
                raise doubtful[index]
            rows.append(row)
        except Mismatch as misfit:
            set_aside.append(Quarantined(index, printable(item), misfit.place, misfit.reason))
    return rows, tuple(set_aside)


def _unexpected(
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
        # Contract, Conventions: an id names one thing.
        first = places.setdefault(identifier, index)
        if first != index and raw[first] != row:
            # Which of the two is wrong cannot be told here; a reading by id can.
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
