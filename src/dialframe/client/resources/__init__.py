"""One thin class per resource, one typed method per operation, each written once for every kind of client.

A method returns steps (`dialframe.client.step_runners`). `operation` makes of it a method that runs them: in
`Client` it returns the result, in `AsyncClient` a coroutine, below `with_raw_response` the whole answer.
`listed` and `chunked` make methods whose result is walked, with `for` or with `async for`.
"""

from __future__ import annotations

import functools
import inspect
import keyword
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from dataclasses import dataclass
from types import MethodType
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from dialframe.client.client_settings import Options
from dialframe.client.pagination import AsyncListing, Listing, ListPlan
from dialframe.client.response_reading import Answered
from dialframe.client.retry_loop import Body
from dialframe.client.send_operation import Query, Req, Res, Row, Sender
from dialframe.client.step_runners import Async, RawAsync, RawSync, Steps, Sync
from dialframe.contract.models.base_models import Page
from dialframe.contract.operations import Operation

P = ParamSpec("P")
T = TypeVar("T")
ShellT = TypeVar("ShellT", bound=Sync | Async | RawSync | RawAsync)
InThread = TypeVar("InThread")
InLoop = TypeVar("InLoop")
RawInThread = TypeVar("RawInThread")
RawInLoop = TypeVar("RawInLoop")

__all__ = ["Opened", "Resource", "ShellT", "chunked", "listed", "method_path", "operation"]


class Resource(Generic[ShellT]):
    """Operations of one kind of thing, and who runs their steps."""

    def __init__(self, sender: Sender, shell: ShellT) -> None:
        """Join a sender with who runs its steps."""
        self._sender = sender
        self._shell = shell

    def _ask(
        self, operation: Operation[Req, Res], options: Options | None, **fields: Any
    ) -> Steps[Res]:
        """The answer of an operation to the request of these fields."""
        return self._sender.ask(operation, lambda: operation.request(**fields), options)

    def _list(
        self, operation: Operation[Query, Page[Row]], options: Options | None, **fields: Any
    ) -> ListPlan[Row]:
        """A list, to be walked, of what the filters among these fields ask for."""
        return self._sender.listing(operation, lambda: operation.request(**fields), options)


class Method(Generic[P, InThread, InLoop, RawInThread, RawInLoop]):
    """A method of a resource that gives each kind of client its own kind of result.

    The four parameters behind its arguments are what it gives in `Client`, in `AsyncClient`, and below
    `with_raw_response` of either.
    """

    def __init__(self, plan: Callable[..., Any], run: Callable[[Any, Any], Any]) -> None:
        """Join what plans a call with what runs the plan for whoever runs a resource's steps."""

        # A plain function, so that `help()` and completion see the arguments of the plan.
        @functools.wraps(plan)
        def called(resource: Resource[Any], *args: P.args, **kwargs: P.kwargs) -> Any:
            return run(resource._shell, plan(resource, *args, **kwargs))  # noqa: SLF001 - its own half

        called.__signature__ = _as_called(plan)  # type: ignore[attr-defined]
        self._called = called
        self.__doc__ = plan.__doc__

    @overload
    def __get__(self, resource: None, owner: type) -> Callable[..., Any]: ...
    @overload
    def __get__(self, resource: Resource[Sync], owner: type) -> Callable[P, InThread]: ...
    @overload
    def __get__(self, resource: Resource[Async], owner: type) -> Callable[P, InLoop]: ...
    @overload
    def __get__(self, resource: Resource[RawSync], owner: type) -> Callable[P, RawInThread]: ...
    @overload
    def __get__(self, resource: Resource[RawAsync], owner: type) -> Callable[P, RawInLoop]: ...
    def __get__(self, resource: Resource[Any] | None, owner: type) -> Any:
        return self._called if resource is None else MethodType(self._called, resource)


def operation(
    plan: Callable[Concatenate[Any, P], Steps[T]],
) -> Method[
    P, T, Coroutine[Any, Any, T], Answered[T], Coroutine[Any, Any, Answered[T]]
]:  # fmt: skip
    """A method that runs the steps that it is written in."""
    return Method(plan, lambda shell, steps: shell.run(steps))


def listed(
    plan: Callable[Concatenate[Any, P], ListPlan[Row]],
) -> Method[P, Listing[Row], AsyncListing[Row], Listing[Row], AsyncListing[Row]]:
    """A method that gives a list to be walked."""
    return Method(plan, lambda shell, to_walk: _by_runner(shell, to_walk, Listing, AsyncListing))


@dataclass(frozen=True, slots=True)
class Opened:
    """An answer whose body somebody reads later."""

    reply: Any
    body: Body


def chunked(
    plan: Callable[Concatenate[Any, P], Callable[[], Steps[Opened]]],
) -> Method[P, Iterator[bytes], AsyncIterator[bytes], Iterator[bytes], AsyncIterator[bytes]]:
    """A method that gives the bytes of an answer one chunk after another, written as what opens the answer."""

    def chunks(opening: Callable[[], Steps[Opened]], runner: Sync) -> Iterator[bytes]:
        opened = runner.run(opening())
        try:
            while (chunk := runner.run(opened.body.next())) is not None:
                yield chunk
        finally:
            opened.reply.close()

    async def chunks_async(
        opening: Callable[[], Steps[Opened]], runner: Async
    ) -> AsyncIterator[bytes]:
        opened = await runner.run(opening())
        try:
            while (chunk := await runner.run(opened.body.next())) is not None:
                yield chunk
        finally:
            await opened.reply.close()

    return Method(plan, lambda shell, opening: _by_runner(shell, opening, chunks, chunks_async))


def _by_runner(
    shell: Any, planned: Any, in_thread: Callable[..., Any], in_loop: Callable[..., Any]
) -> Any:
    # What is walked has an answer for each page, so the whole answer is the page's own.
    runner = shell.runner if isinstance(shell, RawSync | RawAsync) else shell
    return (in_thread if isinstance(runner, Sync) else in_loop)(planned, runner)


def _as_called(plan: Callable[..., Any]) -> inspect.Signature:
    """The signature as a caller sees it: what the steps end in, not the steps."""
    signature = inspect.signature(plan)
    returned = str(signature.return_annotation)
    shown_as = {
        "Steps[": "{}",
        "ListPlan[": "Listing[{}]",
        "Callable[[], Steps[": "Iterator[bytes]",
    }
    for wrapper, shown in shown_as.items():
        if returned.startswith(wrapper):
            returned = shown.format(returned[len(wrapper) : -1])
    return signature.replace(return_annotation=returned)


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
