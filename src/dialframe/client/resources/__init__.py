"""One thin class per resource, one typed method per operation, each written once for every kind of client.

A method returns steps (`dialframe.client.step_runners`). `operation` makes of it a method that runs them: in
`Client` it returns the result, in `AsyncClient` a coroutine, below `with_raw_response` the whole answer.
"""

from __future__ import annotations

import functools
import inspect
import keyword
from collections.abc import Callable, Coroutine
from types import MethodType
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from dialframe.client.client_settings import Options
from dialframe.client.pagination import AsyncListing, Listing, ListPlan
from dialframe.client.response_reading import Answered
from dialframe.client.send_operation import Query, Req, Res, Row, Sender
from dialframe.client.step_runners import Async, RawAsync, RawSync, Steps, Sync
from dialframe.contract.models.base_models import Page
from dialframe.contract.operations import Operation

P = ParamSpec("P")
T = TypeVar("T")
ShellT = TypeVar("ShellT", bound=Sync | Async | RawSync | RawAsync)

__all__ = ["Resource", "ShellT", "listed", "method_path", "operation"]


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


class operation(Generic[P, T]):  # noqa: N801 - a decorator
    """A method that runs the steps that it is written in."""

    def __init__(self, plan: Callable[Concatenate[Any, P], Steps[T]]) -> None:
        """Wrap the function that gives the steps."""
        self.plan = plan

        @functools.wraps(plan)
        def run(resource: Resource[Any], *args: P.args, **kwargs: P.kwargs) -> Any:
            return resource._shell.run(plan(resource, *args, **kwargs))  # noqa: SLF001 - its own half

        run.__signature__ = _as_called(plan)  # type: ignore[attr-defined]
        self._run = run
        self.__doc__ = plan.__doc__

    @overload
    def __get__(self, resource: None, owner: type) -> Callable[..., Any]: ...
    @overload
    def __get__(self, resource: Resource[Sync], owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(
        self, resource: Resource[Async], owner: type
    ) -> Callable[P, Coroutine[Any, Any, T]]: ...
    @overload
    def __get__(self, resource: Resource[RawSync], owner: type) -> Callable[P, Answered[T]]: ...
    @overload
    def __get__(
        self, resource: Resource[RawAsync], owner: type
    ) -> Callable[P, Coroutine[Any, Any, Answered[T]]]: ...
    def __get__(self, resource: Resource[Any] | None, owner: type) -> Any:
        return self._run if resource is None else MethodType(self._run, resource)


class listed(Generic[P, Row]):  # noqa: N801 - a decorator
    """A method that gives a list to be walked."""

    def __init__(self, plan: Callable[Concatenate[Any, P], ListPlan[Row]]) -> None:
        """Wrap the function that gives the plan of the list."""
        self.plan = plan

        @functools.wraps(plan)
        def run(resource: Resource[Any], *args: P.args, **kwargs: P.kwargs) -> Any:
            shell = resource._shell  # noqa: SLF001 - its own half
            runner = shell.runner if isinstance(shell, RawSync | RawAsync) else shell
            if isinstance(runner, Sync):
                return Listing(plan(resource, *args, **kwargs), runner)
            return AsyncListing(plan(resource, *args, **kwargs), runner)

        run.__signature__ = _as_called(plan)  # type: ignore[attr-defined]
        self._run = run
        self.__doc__ = plan.__doc__

    @overload
    def __get__(self, resource: None, owner: type) -> Callable[..., Any]: ...
    @overload
    def __get__(
        self, resource: Resource[Sync] | Resource[RawSync], owner: type
    ) -> Callable[P, Listing[Row]]: ...
    @overload
    def __get__(
        self, resource: Resource[Async] | Resource[RawAsync], owner: type
    ) -> Callable[P, AsyncListing[Row]]: ...
    def __get__(self, resource: Resource[Any] | None, owner: type) -> Any:
        return self._run if resource is None else MethodType(self._run, resource)


def _as_called(plan: Callable[..., Any]) -> inspect.Signature:
    """The signature as a caller sees it: what the steps end in, not the steps."""
    signature = inspect.signature(plan)
    returned = str(signature.return_annotation)
    for wrapper, shown in (("Steps[", "{}"), ("ListPlan[", "Listing[{}]")):
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
