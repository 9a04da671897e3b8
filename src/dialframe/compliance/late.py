"""Values that are made when they are first asked for, and then kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, overload

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")

_MARK: Final = "late "


@dataclass(frozen=True, slots=True, eq=False)
class Pending(Generic[T]):
    """A value that is not made yet."""

    make: Callable[[], T]


class Late(Generic[T]):
    """A field of a frozen dataclass that may be given as a `Pending` value."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = _MARK + name

    @overload
    def __get__(self, instance: None, owner: type) -> Late[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> T | Late[T]:
        if instance is None:
            raise AttributeError(self._name)  # so that the field has no default
        value: T | Pending[T] = instance.__dict__[self._name]
        if isinstance(value, Pending):
            value = instance.__dict__[self._name] = value.make()
        return value

    def __set__(self, instance: object, value: T | Pending[T]) -> None:
        instance.__dict__[self._name] = value


def unmade(value: Any) -> dict[str, Any]:
    """The fields of a dataclass with late ones, made or not."""
    held = vars(value)
    return {
        e.name: held[_MARK + e.name if _MARK + e.name in held else e.name] for e in fields(value)
    }


def rebuild(kind: type[T], values: Mapping[str, Any]) -> T:
    """A dataclass from its fields; what pickling one with late fields comes to."""
    return kind(**values)


def settled(value: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """How to pickle a dataclass with late fields: all of them are made first."""
    return rebuild, (type(value), {each.name: getattr(value, each.name) for each in fields(value)})


class Parts(Mapping[str, "pd.DataFrame"]):
    """Frames by name, each made when it is first asked for."""

    def __init__(self, given: Mapping[str, pd.DataFrame | Pending[pd.DataFrame]]) -> None:
        self._given = dict(given)

    def __getitem__(self, name: str) -> pd.DataFrame:
        value = self._given[name]
        if isinstance(value, Pending):
            value = self._given[name] = value.make()
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._given)

    def __len__(self) -> int:
        return len(self._given)

    def joined(self, more: Mapping[str, pd.DataFrame | Pending[pd.DataFrame]]) -> Parts:
        """The same and further frames; nothing is made."""
        return Parts({**self._given, **more})

    def __reduce__(self) -> tuple[type[Parts], tuple[dict[str, pd.DataFrame]]]:
        return Parts, (dict(self),)
