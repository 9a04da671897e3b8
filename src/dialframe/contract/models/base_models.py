"""What all shapes share: typed ids, tolerant answers, strict requests, and the types of single fields."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Any, Final, Generic, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    Strict,
    StringConstraints,
)
from pydantic_core import core_schema

from dialframe import privacy
from dialframe.contract import limits

# Contract, Conventions: a prefix plus a lower-case UUID.
UUID_PATTERN: Final = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

#: Kind of thing to prefix, as the contract's table has it.
PREFIXES: Final[dict[str, str]] = {
    "lead": "lead_",
    "call": "call_",
    "campaign": "cmp_",
    "callback": "cb_",
    "appointment": "appt_",
    "webhook_endpoint": "wh_",
    "webhook_event": "evt_",
    "webhook_delivery": "whd_",
    "client": "cli_",
    "message": "msg_",
    "consent": "cns_",
}

#: `X-Request-ID`: a ULID from the API, 32 hex digits from the edge in front of it.
REQUEST_ID: Final = re.compile(r"req_[0-9A-HJKMNP-TV-Z]{26}|edge_[0-9a-f]{32}")


def pattern(kind: str) -> str:
    """Regular expression, anchored, of the ids of one kind."""
    return f"^{PREFIXES[kind]}{UUID_PATTERN}$"


def kind_of(identifier: str) -> str | None:
    """Kind of thing that an id names, or None for text that is no typed id."""
    for kind in PREFIXES:
        if re.match(pattern(kind), identifier):
            return kind
    return None


LeadId = Annotated[str, StringConstraints(pattern=pattern("lead"))]
CallId = Annotated[str, StringConstraints(pattern=pattern("call"))]
CampaignId = Annotated[str, StringConstraints(pattern=pattern("campaign"))]
CallbackId = Annotated[str, StringConstraints(pattern=pattern("callback"))]
AppointmentId = Annotated[str, StringConstraints(pattern=pattern("appointment"))]
WebhookEndpointId = Annotated[str, StringConstraints(pattern=pattern("webhook_endpoint"))]
WebhookEventId = Annotated[str, StringConstraints(pattern=pattern("webhook_event"))]


class Answer(BaseModel):
    """Root of what the service sends: fields that v1 may still gain are kept, in `model_extra`."""

    # Contract, Conventions: clients ignore unknown response fields.
    # Built when first needed: a client uses few of the shapes.
    model_config = ConfigDict(extra="allow", frozen=True, populate_by_name=True, defer_build=True)

    def __repr__(self) -> str:
        """The fields with every number masked and every secret hidden."""
        return privacy.redact(super().__repr__())

    def __str__(self) -> str:
        return repr(self)


class Request(BaseModel):
    """Root of what is sent: unknown fields are refused and the contract's bounds are checked."""

    # Contract, Conventions: unknown request-body fields are refused with 400.
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, defer_build=True)

    def __repr__(self) -> str:
        """The fields with every number masked."""
        return privacy.redact(super().__repr__())

    def __str__(self) -> str:
        return repr(self)


class _InstantShape:
    """ISO 8601 text with a zone, or an aware datetime; never a number, which pydantic would take."""

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        del source, handler
        aware = core_schema.datetime_schema(tz_constraint="aware")
        words = core_schema.str_schema(strict=True, pattern=r"^\d{4}-\d\d-\d\d[T ]")
        ready = core_schema.datetime_schema(tz_constraint="aware", strict=True)
        text = core_schema.chain_schema([words, aware])
        return core_schema.union_schema(
            # JSON has no instants: there, `strict` would take any text, a number in it too.
            [text, core_schema.json_or_python_schema(json_schema=text, python_schema=ready)],
            mode="left_to_right",
            custom_error_type="instant",
            custom_error_message="an instant was expected: ISO 8601 text with its timezone",
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        del schema, handler
        return {"type": "string", "format": "date-time"}


def chars(bounds: tuple[int, int]) -> Any:
    """The bounds of a text's length."""
    return Field(min_length=bounds[0], max_length=bounds[1])


Instant = Annotated[datetime, _InstantShape]
Integer = Annotated[int, Strict(), Field(ge=-(2**63), le=2**63 - 1)]
#: Behind the bounds of an integer of a request: JSON has one kind of number, so 300.0 is 300.
WHOLE: Final = BeforeValidator(
    lambda value: int(value) if isinstance(value, float) and value.is_integer() else value
)
Number = Annotated[float, Strict(), Field(allow_inf_nan=False)]
Flag = Annotated[bool, Strict()]
E164 = Annotated[str, StringConstraints(pattern=f"^{privacy.E164.pattern}$")]

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
