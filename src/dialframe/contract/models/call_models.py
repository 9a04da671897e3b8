"""Shapes of calls, callbacks and appointments (contract, Resources: Call record to Appointment)."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from dialframe.contract import limits
from dialframe.contract.models.base_models import (
    E164,
    WHOLE,
    Answer,
    AppointmentId,
    CallbackId,
    CallId,
    CampaignId,
    Flag,
    Instant,
    Integer,
    LeadId,
    ListQuery,
    Number,
    Request,
    chars,
)

Direction = Literal["inbound", "outbound"]


class Call(Answer):
    """One call record. It names no lead and no agent."""

    id: str
    # Resources, Call record: the two directions are named as filters alone, and no status is listed.
    direction: Direction | str
    from_number: str
    to_number: str
    status: str
    created_at: Instant
    answered_at: Instant | None
    ended_at: Instant | None
    duration_seconds: Number | None
    campaign_id: str | None
    disposition: str | None
    hangup_cause: str | None


class CallQuery(ListQuery):
    """Filters of the call list; `created_at` descending, then `id` descending."""

    # Endpoints, Calls, GET: no filter by time; a sync walks from the newest call to what it has.
    campaign_id: CampaignId | None = None
    direction: Direction | None = None


class CallRef(Request):
    """One call by id."""

    call_id: CallId


class CallStart(Request):
    """A click-to-call: an agent of the account, by extension or e-mail, and a customer."""

    to: E164
    agent_extension: Annotated[str, Field(min_length=1)] | None = None
    agent_email: Annotated[str, chars(limits.AGENT_EMAIL_CHARS)] | None = None
    caller_id: E164 | None = None
    campaign_id: CampaignId | None = None
    lead_id: LeadId | None = None

    # Endpoints, Calls, CallCreateRequest: exactly one of the two names.
    @model_validator(mode="after")
    def _one_agent(self) -> Self:
        if (self.agent_extension is None) == (self.agent_email is None):
            raise ValueError("name the agent by exactly one of agent_extension or agent_email")
        return self


class StartedCall(Answer):
    """A call that is being dialed; `call_id` is null when the record is not matched at once."""

    # Resources, Started call: null until it is matched; the list and the events of calls have it then.
    call_id: str | None
    status: Literal["dialing"] | str
    to: str
    agent_extension: str
    caller_id: str | None
    campaign_id: str | None
    lead_id: str | None
    recording: Flag
    created_at: Instant


class TranscriptSegment(Answer):
    """One turn of a conversation; its shape is assumed."""

    # Resources, last paragraph: transcripts are "not shown", so that no field may be counted on.
    speaker: str | None = None
    start_seconds: Number | None = None
    end_seconds: Number | None = None
    text: str | None = None


class Transcript(Answer):
    """What was said; its shape is assumed."""

    call_id: str | None = None
    language: str | None = None
    segments: list[TranscriptSegment] | None = None


class CallSummary(Answer):
    """A summary of a call; partly shown: content is null unless `status` is ready."""

    call_id: str | None = None
    status: Literal["ready", "processing", "not_generated"] | str
    schema_version: Integer
    not_generated_reason: str | None = None
    # Resources, Call summary: seven fields are known; what else the object holds is not shown.
    summary: dict[str, Any] | None = None


CallbackStatus = Literal["pending", "completed", "cancelled"]


class Callback(Answer):
    """A call promised to a lead; `lead_id` is null when the lead was deleted after scheduling."""

    id: str
    lead_id: str | None
    campaign_id: str
    scheduled_at: Instant
    status: CallbackStatus | str
    notes: str | None
    created_at: Instant


class CallbackQuery(ListQuery):
    """Callbacks of one campaign, newest created first."""

    # Endpoints, Callbacks, GET: required; another account's campaign gives an empty page and no 404.
    campaign_id: CampaignId
    status: CallbackStatus | None = None


class CallbackCreate(Request):
    """A callback to be scheduled; when due, the platform calls the lead."""

    # Endpoints, Callbacks, POST: one on the Do-Not-Call list answers 422 `on_dnc`.
    lead_id: LeadId
    scheduled_at: Instant
    notes: Annotated[str, Field(max_length=limits.CALLBACK_NOTES_CHARS)] | None = None


class CallbackRef(Request):
    """One callback by id."""

    callback_id: CallbackId


class CallbackReschedule(Request):
    """A new time for a pending callback."""

    callback_id: CallbackId
    scheduled_at: Instant


Minutes = Annotated[
    Integer, Field(ge=limits.APPOINTMENT_MINUTES[0], le=limits.APPOINTMENT_MINUTES[1]), WHOLE
]
Zone = Annotated[str, Field(max_length=limits.TIMEZONE_CHARS)]


class Appointment(Answer):
    """A booked appointment; it names neither the lead nor the call that it came from."""

    id: str
    # States, Appointment: five names are seen, and the complete set is not shown.
    status: str
    scheduled_at: Instant
    timezone: str | None
    duration_minutes: Integer
    service_type: str | None
    contact_name: str | None
    phone: str
    email: str | None
    notes: str | None
    source: str
    created_at: Instant
    updated_at: Instant


class AppointmentQuery(ListQuery):
    """The appointment list; it takes no filters that the contract shows."""


class AppointmentRef(Request):
    """One appointment by id."""

    appointment_id: AppointmentId


# Endpoints, Appointments, POST: its answer carries the `ETag` that a cancellation may be held to.
class AppointmentCreate(Request):
    """An appointment to be booked; no e-mail is accepted."""

    phone: E164
    scheduled_at: Instant
    duration_minutes: Minutes | None = None
    timezone: Zone | None = None
    service_type: Annotated[str, Field(max_length=limits.APPOINTMENT_SERVICE_CHARS)] | None = None
    contact_name: Annotated[str, Field(max_length=limits.APPOINTMENT_NAME_CHARS)] | None = None
    notes: Annotated[str, Field(max_length=limits.APPOINTMENT_NOTES_CHARS)] | None = None


# Endpoints, last section: named without its shape; these are the fields of a booking that can move.
class AppointmentReschedule(Request):
    """A new time for an appointment; its shape is assumed."""

    appointment_id: AppointmentId
    scheduled_at: Instant
    duration_minutes: Minutes | None = None
    timezone: Zone | None = None
