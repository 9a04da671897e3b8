"""The shape of one row of the operation table; holds facts, never callables."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from dialframe.contract.models.shape import Answer, Request
from dialframe.contract.scopes import BY_NAME as SCOPES_BY_NAME

Req = TypeVar("Req", bound=Request)
Res = TypeVar("Res", bound=Answer)

Method = Literal["GET", "POST", "PATCH", "DELETE"]
KeyRule = Literal["none", "required", "optional"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation(Generic[Req, Res]):
    """One operation of the service.

    Attributes:
        name: `resource.verb`, the same everywhere: errors, logs, faults, documentation.
        method: HTTP method.
        path: Path below the base URL, with `{names}` of the request's fields.
        scope: The scope that it needs, or None for any active key.
        request: Shape of the request: path, query and body fields in one.
        response: Shape of the answer.
        summary: One line on what it does.
        source: Section of the contract that it is taken from.
        query: Request fields that travel in the query although the method has a body.
        status: HTTP status of success.
        key: Whether an `Idempotency-Key` is required, optional or not used.
        paged: Whether the answer is one page of a list.
        streamed: Whether the answer is bytes, not JSON.
        etag: Whether the answer carries an `ETag`.
        if_match: Whether `If-Match` is understood.
        refusals: Codes that it can answer beyond the general ones.
        assumed: Whether the contract leaves its shapes unshown.
    """

    name: str
    method: Method
    path: str
    scope: str | None
    request: type[Req]
    response: type[Res]
    summary: str
    source: str
    query: tuple[str, ...] = ()
    status: int = 200
    key: KeyRule = "none"
    paged: bool = False
    streamed: bool = False
    etag: bool = False
    if_match: bool = False
    refusals: tuple[str, ...] = ()
    assumed: bool = False

    @property
    def path_names(self) -> tuple[str, ...]:
        """Request fields that stand in the path."""
        return tuple(re.findall(r"{(\w+)}", self.path))

    @property
    def query_names(self) -> tuple[str, ...]:
        """Request fields that travel in the query."""
        if self.method != "GET":
            return self.query
        return tuple(name for name in self.request.model_fields if name not in self.path_names)

    @property
    def body_names(self) -> tuple[str, ...]:
        """Request fields that travel in the JSON body."""
        elsewhere = {*self.path_names, *self.query_names}
        return tuple(name for name in self.request.model_fields if name not in elsewhere)

    @property
    def tier(self) -> int:
        """1 for what is safe or reduces contact, 2 for what can reach or unlock real people."""
        return 1 if self.scope is None else SCOPES_BY_NAME[self.scope].tier

    @property
    def switch(self) -> str | None:
        """The account switch that has to be on, or None."""
        return None if self.scope is None else SCOPES_BY_NAME[self.scope].switch

    @property
    def sending_key(self) -> bool:
        """Whether only a key of the guided sending setup will do."""
        return self.scope is not None and SCOPES_BY_NAME[self.scope].sending_key

    @property
    def changes_data(self) -> bool:
        """Whether it is a write: anything but GET and the Do-Not-Call check."""
        return self.key != "none"
