"""JSON into models, tolerantly where the contract says so; knows models, not operations or HTTP.

Three degrees. A declared answer has to be what the contract shows. An answer whose shape the
contract leaves unshown is read as far as it fits: a field that does not fit is kept as it came, a
missing one is None. A row of a list that does not validate goes to quarantine and the others stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import (
    BaseModel,
    TypeAdapter,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    create_model,
)

from dialframe.client.answers import Quarantined
from dialframe.client.bounds import where
from dialframe.contract.models.shape import Answer

Shape = TypeVar("Shape", bound=Answer)


class Mismatch(ValueError):
    """A value is not what its model says: where, and what was expected."""

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(reason)
        self.place = place
        self.reason = reason


def read_object(model: type[Shape], raw: Any, *, assumed: bool) -> Shape:
    """One object as its model.

    Args:
        model: The shape.
        raw: JSON value.
        assumed: Whether the contract leaves the shape unshown.

    Raises:
        Mismatch: It is no object, or a declared shape does not fit.
    """
    if not isinstance(raw, dict):
        raise Mismatch("", f"an object was expected, and {_kind(raw)} came")
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        if assumed:
            loose: type[Shape] = _loose(model)
            return loose.model_validate(raw)
        raise _mismatch(error, raw) from None


def read_rows(
    model: type[Shape], raw: Sequence[Any], *, assumed: bool
) -> tuple[list[Shape], tuple[Quarantined, ...]]:
    """The rows of a page, and those that do not fit with the reason."""
    try:
        return _rows(model).validate_python(raw), ()
    except ValidationError:
        pass
    rows: list[Shape] = []
    set_aside: list[Quarantined] = []
    for index, item in enumerate(raw):
        try:
            rows.append(read_object(model, item, assumed=assumed))
        except Mismatch as misfit:
            set_aside.append(Quarantined(index, item, misfit.place, misfit.reason))
    return rows, tuple(set_aside)


@cache
def row_model(page: type[Answer]) -> type[Answer]:
    """The shape of a list's rows."""
    data = page.model_fields.get("data")
    row = next(iter(get_args(data.annotation)), None) if data else None
    if not (isinstance(row, type) and issubclass(row, Answer)):
        raise TypeError(f"{page.__name__} has no rows of a contract shape")
    return row


def novel_values(values: Sequence[BaseModel]) -> Iterator[tuple[str, str]]:
    """Field and value wherever an open set has a value that the contract does not name."""
    if not values:
        return
    for name, known in _open_sets(type(values[0])):
        for found in [getattr(value, name, None) for value in values]:
            if isinstance(found, str) and found not in known:
                yield name, found


@cache
def _open_sets(model: type[BaseModel]) -> tuple[tuple[str, frozenset[str]], ...]:
    sets = []
    for name, field in model.model_fields.items():
        options = get_args(field.annotation) if _is_union(field.annotation) else ()
        known = [
            value
            for option in options
            if get_origin(option) is Literal
            for value in get_args(option)
        ]
        if known:
            sets.append((name, frozenset(known)))
    return tuple(sets)


def _is_union(annotation: Any) -> bool:
    return get_origin(annotation) in (Union, UnionType)


@cache
def _rows(model: type[Shape]) -> TypeAdapter[list[Shape]]:
    return TypeAdapter(list[model])  # type: ignore[valid-type]  # a list of a model known at run time only


@cache
def _loose(model: type[Shape]) -> type[Shape]:
    """The same shape with every field optional and whatever comes accepted."""
    fields: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        metadata = (*field.metadata, WrapValidator(_keep))
        fields[name] = (Annotated[(field.annotation, *metadata)], None)
    return create_model(model.__name__, __base__=model, __module__=model.__module__, **fields)


def _keep(value: Any, validate: ValidatorFunctionWrapHandler) -> Any:
    try:
        return validate(value)
    except ValidationError:
        return value


def _mismatch(error: ValidationError, raw: Any) -> Mismatch:
    first = error.errors(include_url=False, include_input=False)[0]
    says = first["msg"].removeprefix("Value error, ")
    return Mismatch(where(_path(first["loc"], raw)), says[:1].lower() + says[1:])


def _path(location: tuple[int | str, ...], raw: Any) -> tuple[int | str, ...]:
    """A location without the names of a union's branches, which pydantic puts behind a value."""
    for depth, step in enumerate(location):
        if isinstance(raw, dict):
            raw = raw.get(step)
        elif isinstance(raw, list) and isinstance(step, int) and step < len(raw):
            raw = raw[step]
        else:
            return location[:depth]
    return location


def _kind(raw: Any) -> str:
    kinds = {list: "a list", str: "text", bool: "a boolean", int: "a number", float: "a number"}
    return "null" if raw is None else kinds.get(type(raw), "an object")
