"""One thin class per resource, one typed method per operation, each written once for every kind of client.

A method is its signature and its words: `sent` and `listed` make of it what sends the arguments as fields of its
row's request, and complete its docstring from the contract. In `Client` such a method returns the result, in
`AsyncClient` a coroutine. What does more than one request is written as a
coroutine (see `dialframe.client.send_operation`), of which `operation` and `chunked` make methods.
"""

from __future__ import annotations

import functools
import inspect
import keyword
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from dataclasses import dataclass
from enum import Enum
from types import MethodType
from typing import Any, Concatenate, Final, Generic, Literal, ParamSpec, TypeVar, cast, overload

from dialframe.client.pagination import AsyncListing, Listing
from dialframe.client.request_building import checked
from dialframe.client.send_operation import (
    Async,
    Body,
    Coro,
    Res,
    Row,
    Runner,
    Sender,
    Sync,
)
from dialframe.contract.models.base_models import PREFIXES, Page
from dialframe.contract.operations import BY_NAME, Operation

P = ParamSpec("P")
T = TypeVar("T")
ShellT = TypeVar("ShellT", bound=Sync | Async)
InThread = TypeVar("InThread")
InLoop = TypeVar("InLoop")


class Unset(Enum):
    """The type of `UNSET`."""

    UNSET = "unset"

    def __repr__(self) -> str:
        return "UNSET"


#: Leave this field alone, as opposed to None, which clears it.
UNSET: Final[Literal[Unset.UNSET]] = Unset.UNSET


class Resource(Generic[ShellT]):
    """Operations of one kind of thing, and who runs their calls."""

    def __init__(self, sender: Sender, shell: ShellT) -> None:
        """Join a sender with who runs its calls."""
        self._sender = sender
        self._shell = shell
        self._runner: Runner = shell


class Method(Generic[P, InThread, InLoop]):
    """A method of a resource that gives each kind of client its own kind of result.

    The parameters behind its arguments are what it gives in `Client` and in `AsyncClient`.
    """

    def __init__(self, shown: Callable[..., Any], call: Callable[..., Any]) -> None:
        """Join the method as it is shown with what does its work in each kind of client."""
        # A plain function, so that `help()` and completion see the arguments.
        self._called = functools.wraps(shown)(call)
        signature = inspect.signature(shown)
        # A caller gets the bytes, and not what opens them.
        if str(signature.return_annotation).startswith("Callable["):
            signature = signature.replace(return_annotation="Iterator[bytes]")
        self._called.__signature__ = signature  # type: ignore[attr-defined]
        self.__doc__ = shown.__doc__

    @overload
    def __get__(self, resource: None, owner: type) -> Callable[..., Any]: ...
    @overload
    def __get__(self, resource: Resource[Sync], owner: type) -> Callable[P, InThread]: ...
    @overload
    def __get__(self, resource: Resource[Async], owner: type) -> Callable[P, InLoop]: ...
    def __get__(self, resource: Resource[Any] | None, owner: type) -> Any:
        return self._called if resource is None else MethodType(self._called, resource)


Operated = Method[P, T, Coroutine[Any, Any, T]]
Listed = Method[P, Listing[Row], AsyncListing[Row]]


def operation(
    method: Callable[Concatenate[Any, P], Coro[T]],
) -> Operated[P, T]:
    """A method that is written as a coroutine."""

    def call(resource: Resource[Any], *args: P.args, **kwargs: P.kwargs) -> Any:
        return resource._shell.run(method(resource, *args, **kwargs))  # noqa: SLF001 - its own half

    made: Operated[P, T] = Method(method, call)
    # A plain function to whoever asks: without this, tools would take it for a coroutine function.
    del call.__wrapped__  # type: ignore[attr-defined]
    return made


def sent(
    row: Operation[Any, Res], **conversions: Callable[[Any], Any]
) -> Callable[[Callable[Concatenate[Any, P], Res]], Operated[P, Res]]:
    """A method that sends its arguments as the fields of a row's request; its own body is its documentation.

    Args:
        row: The operation.
        **conversions: What is made of an argument that was given, by its name.
    """

    def decorated(blank: Callable[Concatenate[Any, P], Res]) -> Operated[P, Res]:
        given = _argument_splitter(blank)

        def call(resource: Resource[Any], *args: Any, **kwargs: Any) -> Any:
            fields, options = given(resource, *args, **kwargs)
            sender, shell = resource._sender, resource._shell  # noqa: SLF001 - its own half

            def request() -> Any:
                made = {name: convert(fields[name]) for name, convert in conversions.items()
                        if name in fields}  # fmt: skip
                return row.request(**fields | made)

            def ask() -> Any:
                return sender.ask(row, request, options)

            if not row.if_match:
                return shell.run(ask())
            # What can be matched can be read: its error says what the thing is now.
            read = BY_NAME[f"{row.name.partition('.')[0]}.get"]
            key = {name: fields[name] for name in row.path_names}
            return shell.run(
                sender.or_fresh(ask, lambda: sender.ask(read, lambda: read.request(**key)))
            )

        return Method(_document_arguments(row, blank), call)

    return decorated


def listed(
    row: Operation[Any, Page[Row]],
) -> Callable[[Callable[Concatenate[Any, P], Listing[Row]]], Listed[P, Row]]:
    """A method that gives a list to be walked, of what the filters among its arguments ask for."""

    def decorated(blank: Callable[Concatenate[Any, P], Listing[Row]]) -> Listed[P, Row]:
        given = _argument_splitter(blank)

        def call(resource: Resource[Any], *args: Any, **kwargs: Any) -> Any:
            fields, options = given(resource, *args, **kwargs)
            # Looked at before anything is walked.
            query = checked(row.name, lambda: row.request(**fields))
            sender, runner = resource._sender, resource._runner  # noqa: SLF001 - its own half
            listing: Any = Listing if runner.in_threads else AsyncListing
            return listing(sender, runner, row, query, options)

        return Method(_document_arguments(row, blank), call)

    return decorated


@dataclass(frozen=True, slots=True)
class Opened:
    """An answer whose body somebody reads later."""

    reply: Any
    body: Body


def chunked(
    method: Callable[Concatenate[Any, P], Callable[[], Coro[Opened]]],
) -> Method[P, Iterator[bytes], AsyncIterator[bytes]]:
    """A method that gives the bytes of an answer one chunk after another, written as what opens the answer."""

    def chunks(runner: Sync, opening: Callable[[], Coro[Opened]]) -> Iterator[bytes]:
        opened = runner.run(opening())
        try:
            while (chunk := runner.run(opened.body.next())) is not None:
                yield chunk
        finally:
            opened.reply.close()

    async def chunks_async(opening: Callable[[], Coro[Opened]]) -> AsyncIterator[bytes]:
        opened = await opening()
        try:
            while (chunk := await opened.body.next()) is not None:
                yield chunk
        finally:
            await opened.reply.close()

    def call(resource: Resource[Any], *args: P.args, **kwargs: P.kwargs) -> Any:
        runner, opening = resource._runner, method(resource, *args, **kwargs)  # noqa: SLF001 - its own half
        return (
            chunks(cast("Sync", runner), opening) if runner.in_threads else chunks_async(opening)
        )

    return Method(method, call)


def _argument_splitter(blank: Callable[..., Any]) -> Callable[..., tuple[dict[str, Any], Any]]:
    """What takes a method's arguments apart: the fields that were given, and the options."""
    parameters = list(inspect.signature(blank).parameters.values())[1:]
    positional = [each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
    defaults = {each.name: each.default for each in parameters if each.default is not each.empty}
    # Such a default says that a field is not sent.
    silent = [
        name
        for name, default in defaults.items()
        if default in (None, UNSET) and name != "options"
    ]

    def given(resource: Any, *args: Any, **kwargs: Any) -> tuple[dict[str, Any], Any]:
        # Python's own error where an argument is missing, or there is none of that name.
        blank(resource, *args, **kwargs)
        values = defaults | dict(zip(positional, args, strict=False)) | kwargs
        options = values.pop("options")
        for name in silent:
            if values[name] is defaults[name]:
                del values[name]
        return values, options

    return given


#: Words for arguments that mean the same in every method (contract, Conventions; Lists and pagination).
_WORDS: Final = {
    **{f"{kind}_id": f"`{prefix}` and a UUID." for kind, prefix in PREFIXES.items()},
    "webhook_id": f"`{PREFIXES['webhook_endpoint']}` and a UUID.",
    "event_id": f"`{PREFIXES['webhook_event']}` and a UUID.",
    "limit": "Rows on a page, 1-100.",
    "cursor": "Where to start, `next_cursor` of a page of the same filters.",
}


def _document_arguments(row: Operation[Any, Any], blank: Callable[..., Any]) -> Callable[..., Any]:
    """The method with words for the arguments that it says nothing of itself."""
    text, below, results = inspect.cleandoc(blank.__doc__ or "").partition("\n\nReturns:")
    words = _WORDS | {"options": f"Options of {'each page' if row.paged else 'this call'}."}
    described = text.partition("\n\nArgs:")[2]
    lines = [
        f"\n    {name}: {words[name]}"
        for name in inspect.signature(blank).parameters
        if name in words and f"\n    {name}:" not in described
    ]
    blank.__doc__ = "".join([text, "" if described else "\n\nArgs:", *lines, below, results])
    return blank


def method_path(row: Operation[Any, Any]) -> str:
    """The attributes that lead from a client to an operation's method.

    It is the operation's own name, a word that Python keeps for itself with an underscore.

    Args:
        row: A row of `dialframe.contract.operations`.

    Returns:
        Such as `calls.list`.

    Example:
        >>> from dialframe.contract.operations import LEADS_IMPORT
        >>> method_path(LEADS_IMPORT)
        'leads.import_'
    """
    words = row.name.split(".")
    return ".".join(f"{word}_" if keyword.iskeyword(word) else word for word in words)
