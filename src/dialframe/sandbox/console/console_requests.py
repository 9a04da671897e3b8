"""Bodies of the console's calls: their fields and bounds."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    RootModel,
    StringConstraints,
)

from dialframe.contract.ids import pattern
from dialframe.contract.scopes import BY_NAME as SCOPES
from dialframe.sandbox.world.clients_and_keys import Address
from dialframe.sandbox.world.clock import TEXT


def _scope(name: str) -> str:
    if name not in SCOPES:
        raise ValueError(f"no scope is called {name!r}")
    return name


def _regular_expression(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"not a regular expression: {error}") from None
    return text


def _moment(text: Any) -> Any:
    if not isinstance(text, str) or not TEXT.fullmatch(text):
        raise ValueError("an instant is ISO 8601 text with a zone, from 1970 on")
    return datetime.fromisoformat(text)


Moment = Annotated[datetime, BeforeValidator(_moment)]
Scope = Annotated[str, AfterValidator(_scope)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Text = Annotated[str, Field(max_length=2000)]
Phone = Annotated[str, StringConstraints(pattern=r"^\+[1-9][0-9]{6,14}$")]
Count = Annotated[int, Field(ge=0, le=10**9)]
CampaignId = Annotated[str, StringConstraints(pattern=pattern("campaign"))]
LeadId = Annotated[str, StringConstraints(pattern=pattern("lead"))]
CallId = Annotated[str, StringConstraints(pattern=pattern("call"))]
Size = Literal["empty", "tiny", "small", "medium", "large"]


class Body(BaseModel):
    """Root of all bodies: no unknown fields, no conversions."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class NewClient(Body):
    """A client with its first key."""

    name: Name
    scopes: tuple[Scope, ...] = ()
    sending: bool = False
    ip_allow: tuple[Address, ...] = ()
    size: Size = "empty"


class NewKey(Body):
    """A further key."""

    sending: bool = False


class ClientChange(Body):
    """What is given replaces what is there."""

    scopes: tuple[Scope, ...] = ()
    ip_allow: tuple[Address, ...] = ()
    enabled: bool = True


class NewCampaign(Body):
    """A campaign in any state; `archived` is one that lists leave out.

    What it does not say of attempts, gaps and pace, the account's dialer settings say.
    """

    name: Name
    status: Literal["draft", "ready", "running", "paused", "completed", "archived"] = "draft"
    dialer_mode: Name = "predictive"
    max_attempts: Annotated[int, Field(ge=1, le=100)] | None = None
    retry_gap_minutes: Annotated[float, Field(ge=0, le=525_600, allow_inf_nan=False)] | None = None
    calls_per_minute: Annotated[float, Field(gt=0, le=1_000_000, allow_inf_nan=False)] | None = (
        None
    )


class AnyLead(Body):
    """A lead with any of its fields; those not given get plain values."""

    id: LeadId | None = None
    campaign_id: CampaignId | None = None
    external_id: Name | None = None
    phone: Annotated[str, Field(min_length=1, max_length=32)] = "+12025550100"
    full_name: Text | None = None
    email: Text | None = None
    status: Name = "new"
    attempts: Count = 0
    custom_fields: dict[str, Any] | None = None
    last_attempt_at: Moment | None = None
    next_attempt_at: Moment | None = None
    disposition_code: Text | None = None
    hangup_cause: Text | None = None
    created_at: Moment | None = None
    updated_at: Moment | None = None


class AnyCall(Body):
    """A call with any of its fields, and with the lead and agent that no answer shows."""

    id: CallId | None = None
    direction: Name = "outbound"
    from_number: Name = "+12025550100"
    to_number: Name = "+12025550101"
    status: Name = "completed"
    created_at: Moment | None = None
    answered_at: Moment | None = None
    ended_at: Moment | None = None
    duration_seconds: (
        Annotated[int, Field(ge=0, le=10**9)]
        | Annotated[float, Field(ge=0, allow_inf_nan=False)]
        | None
    ) = None
    campaign_id: CampaignId | None = None
    disposition: Text | None = None
    hangup_cause: Text | None = None
    lead_id: LeadId | None = None
    agent_extension: Name | None = None


class Leads(RootModel[list[AnyLead]]):
    """A list of leads."""


class Calls(RootModel[list[AnyCall]]):
    """A list of calls."""


class NewAgent(Body):
    """An agent; one with the same extension is replaced."""

    extension: Name
    email: Annotated[str, Field(min_length=3, max_length=254)]
    state: Name = "ready"


class NewCallerId(Body):
    """A verified number of the account."""

    number: Phone


class NewLeadSource(Body):
    """A source that leads may name."""

    code: Annotated[str, Field(min_length=1, max_length=100)]


class NewFieldRule(Body):
    """What a lead's field has to be."""

    field: Annotated[
        str,
        StringConstraints(
            pattern=r"^(phone|external_id|first_name|last_name|full_name|email|custom_fields\..+)$"
        ),
    ]
    required: bool = False
    pattern: Annotated[str, Field(max_length=500), AfterValidator(_regular_expression)] | None = (
        None
    )


class Phones(Body):
    """Numbers for the Do-Not-Call list."""

    phones: list[Phone]


class CallbackStatus(Body):
    """A state of a callback."""

    status: Literal["pending", "completed", "cancelled"]


class AppointmentStatus(Body):
    """A state of an appointment."""

    status: Literal["scheduled", "confirmed", "cancelled", "completed", "no-show"]


class NewEvent(Body):
    """A webhook event."""

    type: Literal[
        "call.completed",
        "ai_call.completed",
        "disposition.logged",
        "appointment.booked",
        "appointment.moved",
        "appointment.cancelled",
        "webhook.test",
    ]
    data: dict[str, Any]


class Reconciled(Body):
    """What became of a write that could not be confirmed."""

    outcome: Literal["done", "not_done"]


class Advance(Body):
    """Seconds to move the clock forward by; ten years at most."""

    advance_seconds: (
        Annotated[int, Field(ge=0, le=315_360_000)]
        | Annotated[float, Field(ge=0, le=315_360_000, allow_inf_nan=False)]
    )


class Nothing(Body):
    """No body at all."""
