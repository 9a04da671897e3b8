"""What all shapes share: tolerant answers, strict requests, and the types of single fields."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Generic, TypeVar

from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    StringConstraints,
)

from dialframe.contract import limits
from dialframe.privacy import redact


class Answer(BaseModel):
    """Root of what the service sends: fields that v1 may still gain are kept, in `model_extra`."""

    model_config = ConfigDict(extra="allow", frozen=True, populate_by_name=True)

    def __repr__(self) -> str:
        """The fields with every number masked and every secret hidden."""
        return redact(super().__repr__())

    def __str__(self) -> str:
        return repr(self)


class Request(BaseModel):
    """Root of what is sent: unknown fields are refused and the contract's bounds are checked."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    def __repr__(self) -> str:
        """The fields with every number masked."""
        return redact(super().__repr__())

    def __str__(self) -> str:
        return repr(self)


def _instant(value: Any) -> Any:
    if not isinstance(value, str | datetime):
        raise ValueError("an instant is ISO 8601 text with a zone")  # noqa: TRY004 - pydantic's way
    return value


Instant = Annotated[AwareDatetime, BeforeValidator(_instant)]
Integer = Annotated[int, Strict()]
Number = Annotated[float, Strict()]
Flag = Annotated[bool, Strict()]
E164 = Annotated[str, StringConstraints(pattern=r"^\+[1-9]\d{6,14}$")]

Row = TypeVar("Row")


class PageInfo(Answer):
    """Where a list goes on (contract, Lists and pagination)."""

    next_cursor: str | None = None
    has_more: Flag = False


class Page(Answer, Generic[Row]):
    """One page of a list; only `page.next_cursor` says whether there is another."""

    data: list[Row]
    page: PageInfo


class ListQuery(Request):
    """What every list takes (contract, Lists and pagination)."""

    limit: Annotated[int, Field(ge=1, le=limits.PAGE_MAX)] = limits.PAGE_DEFAULT
    cursor: Annotated[str, Field(min_length=1, max_length=limits.CURSOR_CHARS)] | None = None


class Empty(Request):
    """A request that carries nothing."""


class Nothing(Answer):
    """An answer that carries nothing."""


class Media(Answer):
    """An answer that is streamed bytes, not JSON."""
