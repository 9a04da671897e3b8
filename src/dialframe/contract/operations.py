"""The service's 45 operations, a row each, and what a row holds: facts, never callables.

Rule 1: a row holds what the contract says, and `source` names the section that says it.
Rule 2: where the contract shows no shape, `assumed` is true and the shape is one that we chose; nothing may
depend on such a shape to work.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, TypeVar

from dialframe.contract.models import (
    call_models,
    dnc_and_message_models,
    lead_models,
    webhook_models,
)
from dialframe.contract.models.base_models import Answer, Empty, Media, Nothing, Page, Request
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


_UNSHOWN = "Endpoints: Operations whose payload is not fully shown"

ME: Final = Operation(
    name="me", method="GET", path="/v1/me", scope=None,
    request=Empty, response=dnc_and_message_models.Me,
    summary="Read who the key belongs to and what it may do.",
    source=_UNSHOWN, assumed=True,
)  # fmt: skip

# --- leads

LEADS_LIST: Final = Operation(
    name="leads.list", method="GET", path="/v1/leads", scope="leads:read",
    request=lead_models.LeadQuery, response=Page[lead_models.Lead], paged=True,
    summary="List leads, newest first.",
    source="Endpoints: Leads", refusals=("invalid_cursor",),
)  # fmt: skip
LEADS_GET: Final = Operation(
    name="leads.get", method="GET", path="/v1/leads/{lead_id}", scope="leads:read",
    request=lead_models.LeadRef, response=lead_models.Lead, etag=True,
    summary="Read one lead.",
    source=_UNSHOWN, refusals=("not_found",), assumed=True,
)  # fmt: skip
LEADS_HISTORY: Final = Operation(
    name="leads.history", method="GET", path="/v1/leads/{lead_id}/history", scope="leads:read",
    request=lead_models.LeadHistoryQuery, response=Page[lead_models.LeadHistoryEntry], paged=True,
    summary="List what happened to one lead.",
    source=_UNSHOWN, refusals=("not_found", "invalid_cursor"), assumed=True,
)  # fmt: skip
LEADS_IMPORT: Final = Operation(
    name="leads.import", method="POST", path="/v1/leads/import", scope="leads:write",
    request=lead_models.LeadImport, response=lead_models.LeadImportAnswer, query=("campaign_id",),
    key="required",
    summary="Import up to 200 leads into a campaign.",
    source="Endpoints: Leads",
    refusals=("batch_too_large", "campaign_not_importable", "dnc_screen_unavailable", "not_found"),
)  # fmt: skip
LEADS_CREATE: Final = Operation(
    name="leads.create", method="POST", path="/v1/leads", scope="leads:write",
    request=lead_models.LeadCreate, response=lead_models.LeadCreated, key="required",
    summary="Add one lead, optionally to be dialed first.",
    source="Endpoints: Leads",
    refusals=("insufficient_scope", "tier_not_enabled", "campaign_not_importable",
              "dnc_screen_unavailable", "not_found"),
)  # fmt: skip
LEADS_UPDATE: Final = Operation(
    name="leads.update", method="PATCH", path="/v1/leads/{lead_id}", scope="leads:write",
    request=lead_models.LeadUpdate, response=lead_models.Lead, key="optional", etag=True, if_match=True,
    summary="Change a lead's name, e-mail or custom fields.",
    source="Endpoints: Leads", refusals=("not_found", "precondition_failed"),
)  # fmt: skip

# --- campaigns

CAMPAIGNS_LIST: Final = Operation(
    name="campaigns.list", method="GET", path="/v1/campaigns", scope="campaigns:read",
    request=lead_models.CampaignQuery, response=Page[lead_models.Campaign], paged=True,
    summary="List campaigns that are not archived.",
    source="Endpoints: Campaigns", refusals=("invalid_cursor",),
)  # fmt: skip
CAMPAIGNS_GET: Final = Operation(
    name="campaigns.get", method="GET", path="/v1/campaigns/{campaign_id}", scope="campaigns:read",
    request=lead_models.CampaignRef, response=lead_models.Campaign,
    summary="Read one campaign.",
    source=_UNSHOWN, refusals=("not_found",), assumed=True,
)  # fmt: skip
CAMPAIGNS_PROGRESS: Final = Operation(
    name="campaigns.progress", method="GET", path="/v1/campaigns/{campaign_id}/progress",
    scope="campaigns:read",
    request=lead_models.CampaignRef, response=lead_models.CampaignProgress,
    summary="Read how far a campaign is.",
    source=_UNSHOWN, refusals=("not_found",), assumed=True,
)  # fmt: skip
CAMPAIGNS_PAUSE: Final = Operation(
    name="campaigns.pause", method="POST", path="/v1/campaigns/{campaign_id}/pause",
    scope="campaigns:pause",
    request=lead_models.CampaignRef, response=lead_models.Campaign, key="required",
    summary="Pause a running campaign.",
    source="Endpoints: Campaigns", refusals=("not_found", "campaign_not_running"),
)  # fmt: skip
CAMPAIGNS_RESUME: Final = Operation(
    name="campaigns.resume", method="POST", path="/v1/campaigns/{campaign_id}/resume",
    scope="campaigns:resume",
    request=lead_models.CampaignRef, response=lead_models.Campaign, key="required",
    summary="Resume a paused campaign: real calls start.",
    source="Endpoints: Campaigns",
    refusals=("tier_not_enabled", "not_found", "campaign_not_paused", "registry_stale_blocked",
              "daily_cap_reached"),
)  # fmt: skip

# --- calls

CALLS_LIST: Final = Operation(
    name="calls.list", method="GET", path="/v1/calls", scope="calls:read",
    request=call_models.CallQuery, response=Page[call_models.Call], paged=True,
    summary="List every call of the account, newest first.",
    source="Endpoints: Calls", refusals=("invalid_cursor",),
)  # fmt: skip
CALLS_GET: Final = Operation(
    name="calls.get", method="GET", path="/v1/calls/{call_id}", scope="calls:read",
    request=call_models.CallRef, response=call_models.Call,
    summary="Read one call.",
    source=_UNSHOWN, refusals=("not_found",), assumed=True,
)  # fmt: skip
CALLS_RECORDING: Final = Operation(
    name="calls.recording", method="GET", path="/v1/calls/{call_id}/recording",
    scope="recordings:read",
    request=call_models.CallRef, response=Media, streamed=True,
    summary="Stream the recording of a call.",
    source=_UNSHOWN, refusals=("not_found",), assumed=True,
)  # fmt: skip
CALLS_TRANSCRIPT: Final = Operation(
    name="calls.transcript", method="GET", path="/v1/calls/{call_id}/transcript",
    scope="transcripts:read",
    request=call_models.CallRef, response=call_models.Transcript,
    summary="Read what was said in a call.",
    source=_UNSHOWN, refusals=("not_found",), assumed=True,
)  # fmt: skip
CALLS_SUMMARY: Final = Operation(
    name="calls.summary", method="GET", path="/v1/calls/{call_id}/summary",
    scope="summaries:read",
    request=call_models.CallRef, response=call_models.CallSummary,
    summary="Read the summary of a call.",
    source="Resources: Call summary (partial); " + _UNSHOWN, refusals=("not_found",), assumed=True,
)  # fmt: skip
CALLS_START: Final = Operation(
    name="calls.start", method="POST", path="/v1/calls", scope="calls:originate",
    request=call_models.CallStart, response=call_models.StartedCall, status=201, key="required",
    summary="Connect one of the account's agents with a customer.",
    source="Endpoints: Calls",
    refusals=("tier_not_enabled", "agent_unavailable", "dial_refused", "on_dnc", "blocked_country",
              "insufficient_balance", "daily_cap_reached", "rate_limit_exceeded",
              "spend_cap_reached", "sending_suspended", "outbound_not_approved", "not_found"),
)  # fmt: skip

# --- webhooks and events

WEBHOOKS_LIST: Final = Operation(
    name="webhooks.list", method="GET", path="/v1/webhooks", scope="webhooks:read",
    request=webhook_models.WebhookQuery, response=Page[webhook_models.WebhookEndpoint], paged=True,
    summary="List webhook endpoints.",
    source=_UNSHOWN, refusals=("webhooks_disabled", "invalid_cursor"), assumed=True,
)  # fmt: skip
WEBHOOKS_CREATE: Final = Operation(
    name="webhooks.create", method="POST", path="/v1/webhooks", scope="webhooks:write",
    request=webhook_models.WebhookCreate, response=webhook_models.WebhookCreated, status=201, key="required",
    summary="Create a webhook endpoint; its secret is shown once.",
    source="Endpoints: Webhooks",
    refusals=("webhooks_disabled", "webhook_url_refused", "webhook_limit_reached"),
)  # fmt: skip
WEBHOOKS_GET: Final = Operation(
    name="webhooks.get", method="GET", path="/v1/webhooks/{webhook_id}", scope="webhooks:read",
    request=webhook_models.WebhookRef, response=webhook_models.WebhookEndpoint,
    summary="Read one webhook endpoint.",
    source="Endpoints: Webhooks", refusals=("webhooks_disabled", "not_found"),
)  # fmt: skip
WEBHOOKS_UPDATE: Final = Operation(
    name="webhooks.update", method="PATCH", path="/v1/webhooks/{webhook_id}",
    scope="webhooks:write",
    request=webhook_models.WebhookUpdate, response=webhook_models.WebhookEndpoint, key="optional",
    summary="Change a webhook endpoint.",
    source="Endpoints: Webhooks",
    refusals=("webhooks_disabled", "not_found", "webhook_url_refused"),
)  # fmt: skip
WEBHOOKS_DELETE: Final = Operation(
    name="webhooks.delete", method="DELETE", path="/v1/webhooks/{webhook_id}",
    scope="webhooks:write",
    request=webhook_models.WebhookRef, response=Nothing, status=204, key="required",
    summary="Delete a webhook endpoint.",
    source=_UNSHOWN, refusals=("webhooks_disabled", "not_found"), assumed=True,
)  # fmt: skip
WEBHOOKS_TEST: Final = Operation(
    name="webhooks.test", method="POST", path="/v1/webhooks/{webhook_id}/test",
    scope="webhooks:write",
    request=webhook_models.WebhookRef, response=webhook_models.Replayed, status=202, key="required",
    summary="Send a test event to a webhook endpoint.",
    source=_UNSHOWN, refusals=("webhooks_disabled", "not_found"), assumed=True,
)  # fmt: skip
WEBHOOKS_ROTATE_SECRET: Final = Operation(
    name="webhooks.rotate_secret", method="POST", path="/v1/webhooks/{webhook_id}/rotate-secret",
    scope="webhooks:write",
    request=webhook_models.WebhookRef, response=webhook_models.SecretRotated, key="required",
    summary="Make a new signing secret; the old one signs along for 24 hours.",
    source="Endpoints: Webhooks", refusals=("webhooks_disabled", "not_found"),
)  # fmt: skip
EVENTS_LIST: Final = Operation(
    name="events.list", method="GET", path="/v1/webhook-events", scope="webhooks:read",
    request=webhook_models.EventQuery, response=Page[webhook_models.WebhookEventSummary], paged=True,
    summary="List webhook events of the last 30 days.",
    source=_UNSHOWN, refusals=("webhooks_disabled", "invalid_cursor"), assumed=True,
)  # fmt: skip
EVENTS_GET: Final = Operation(
    name="events.get", method="GET", path="/v1/webhook-events/{event_id}", scope="webhooks:read",
    request=webhook_models.EventRef, response=webhook_models.WebhookEvent,
    summary="Read one webhook event with its deliveries.",
    source="Endpoints: Webhooks", refusals=("webhooks_disabled", "not_found"),
)  # fmt: skip
EVENTS_REPLAY: Final = Operation(
    name="events.replay", method="POST", path="/v1/webhook-events/{event_id}/replay",
    scope="webhooks:write",
    request=webhook_models.EventReplay, response=webhook_models.Replayed, status=202, key="required",
    summary="Send a webhook event again.",
    source="Endpoints: Webhooks",
    refusals=("webhooks_disabled", "not_found", "replay_limit_reached", "replay_unavailable",
              "webhook_url_refused"),
)  # fmt: skip

# --- Do-Not-Call and consent

DNC_CHECK: Final = Operation(
    name="dnc.check", method="POST", path="/v1/dnc/check", scope="dnc:check",
    request=dnc_and_message_models.DncCheck, response=dnc_and_message_models.DncAnswer,
    summary="Check up to 100 numbers against Do-Not-Call.",
    source="Endpoints: Do-Not-Call", refusals=("batch_too_large",),
)  # fmt: skip
DNC_ADD: Final = Operation(
    name="dnc.add", method="POST", path="/v1/dnc", scope="dnc:add",
    request=dnc_and_message_models.DncAdd, response=dnc_and_message_models.DncEntry, status=201, key="required",
    summary="Add a number to the account's Do-Not-Call list.",
    source=_UNSHOWN, assumed=True,
)  # fmt: skip
CONSENTS_RECORD: Final = Operation(
    name="consents.record", method="POST", path="/v1/consents", scope="consent:write",
    request=dnc_and_message_models.ConsentRecord, response=dnc_and_message_models.Consent, status=201, key="required",
    summary="Record evidence of consent.",
    source=_UNSHOWN, refusals=("tier_not_enabled",), assumed=True,
)  # fmt: skip

# --- callbacks

CALLBACKS_LIST: Final = Operation(
    name="callbacks.list", method="GET", path="/v1/callbacks", scope="callbacks:read",
    request=call_models.CallbackQuery, response=Page[call_models.Callback], paged=True,
    summary="List one campaign's callbacks, newest created first.",
    source="Endpoints: Callbacks", refusals=("invalid_cursor",),
)  # fmt: skip
CALLBACKS_CREATE: Final = Operation(
    name="callbacks.create", method="POST", path="/v1/callbacks", scope="callbacks:write",
    request=call_models.CallbackCreate, response=call_models.Callback, status=201, key="required",
    summary="Schedule a callback; when due, the platform calls the lead.",
    source="Endpoints: Callbacks",
    refusals=("tier_not_enabled", "not_found", "on_dnc", "daily_cap_reached"),
)  # fmt: skip
CALLBACKS_CANCEL: Final = Operation(
    name="callbacks.cancel", method="POST", path="/v1/callbacks/{callback_id}/cancel",
    scope="callbacks:cancel",
    request=call_models.CallbackRef, response=call_models.Callback, key="required",
    summary="Cancel a pending callback.",
    source="Endpoints: Callbacks", refusals=("not_found", "callback_not_pending"),
)  # fmt: skip
CALLBACKS_RESCHEDULE: Final = Operation(
    name="callbacks.reschedule", method="POST", path="/v1/callbacks/{callback_id}/reschedule",
    scope="callbacks:write",
    request=call_models.CallbackReschedule, response=call_models.Callback, key="required",
    summary="Move a pending callback.",
    source="Endpoints: Callbacks",
    refusals=("tier_not_enabled", "not_found", "callback_not_pending"),
)  # fmt: skip

# --- appointments

APPOINTMENTS_LIST: Final = Operation(
    name="appointments.list", method="GET", path="/v1/appointments", scope="appointments:read",
    request=call_models.AppointmentQuery, response=Page[call_models.Appointment], paged=True,
    summary="List appointments.",
    source=_UNSHOWN, refusals=("invalid_cursor",), assumed=True,
)  # fmt: skip
APPOINTMENTS_GET: Final = Operation(
    name="appointments.get", method="GET", path="/v1/appointments/{appointment_id}",
    scope="appointments:read",
    request=call_models.AppointmentRef, response=call_models.Appointment, etag=True,
    summary="Read one appointment.",
    source=_UNSHOWN, refusals=("not_found",), assumed=True,
)  # fmt: skip
APPOINTMENTS_CREATE: Final = Operation(
    name="appointments.create", method="POST", path="/v1/appointments",
    scope="appointments:write",
    request=call_models.AppointmentCreate, response=call_models.Appointment, status=201,
    key="required", etag=True,
    summary="Book an appointment; the customer may be texted.",
    source="Endpoints: Appointments", refusals=("tier_not_enabled", "blocked_country"),
)  # fmt: skip
APPOINTMENTS_CANCEL: Final = Operation(
    name="appointments.cancel", method="POST", path="/v1/appointments/{appointment_id}/cancel",
    scope="appointments:write",
    request=call_models.AppointmentRef, response=call_models.Appointment, key="required",
    etag=True, if_match=True,
    summary="Cancel an appointment; the customer may be texted.",
    source="Endpoints: Appointments",
    refusals=("tier_not_enabled", "not_found", "appointment_not_modifiable",
              "precondition_failed"),
)  # fmt: skip
APPOINTMENTS_RESCHEDULE: Final = Operation(
    name="appointments.reschedule", method="POST",
    path="/v1/appointments/{appointment_id}/reschedule", scope="appointments:write",
    request=call_models.AppointmentReschedule, response=call_models.Appointment,
    key="required", etag=True,
    summary="Move an appointment.",
    source="States: Appointment; " + _UNSHOWN,
    refusals=("tier_not_enabled", "not_found", "appointment_not_modifiable"), assumed=True,
)  # fmt: skip

# --- messages

SMS_SEND: Final = Operation(
    name="sms.send", method="POST", path="/v1/sms", scope="messages:send",
    request=dnc_and_message_models.SmsSend, response=dnc_and_message_models.SmsMessage, status=202, key="required",
    summary="Send a text message.",
    source="Endpoints: SMS",
    refusals=("tier_not_enabled", "on_dnc", "blocked_country", "message_refused",
              "insufficient_balance", "duplicate_client_reference", "daily_cap_reached",
              "rate_limit_exceeded", "spend_cap_reached", "sending_suspended",
              "outbound_not_approved"),
)  # fmt: skip
SMS_DELIVERY_REPORTS: Final = Operation(
    name="sms.delivery_reports", method="GET", path="/v1/sms/delivery-reports", scope="sms:read",
    request=dnc_and_message_models.SmsReportQuery, response=Page[dnc_and_message_models.SmsDeliveryReport], paged=True,
    summary="List what became of text messages.",
    source=_UNSHOWN, refusals=("invalid_cursor",), assumed=True,
)  # fmt: skip
SMS_USAGE: Final = Operation(
    name="sms.usage", method="GET", path="/v1/sms/usage", scope="sms:read",
    request=Empty, response=dnc_and_message_models.SmsUsage,
    summary="Read how many text messages were sent.",
    source=_UNSHOWN, assumed=True,
)  # fmt: skip
WHATSAPP_SEND: Final = Operation(
    name="whatsapp.send", method="POST", path="/v1/whatsapp/messages", scope="whatsapp:send",
    request=dnc_and_message_models.WhatsAppSend, response=dnc_and_message_models.WhatsAppMessage, status=202, key="required",
    summary="Send a WhatsApp message; refused for every account until it is announced.",
    source="What the service does; " + _UNSHOWN, refusals=("tier_not_enabled",), assumed=True,
)  # fmt: skip

# --- reports

REPORTS_DISPOSITIONS: Final = Operation(
    name="reports.dispositions", method="GET", path="/v1/reports/dispositions",
    scope="reports:read",
    request=dnc_and_message_models.DispositionQuery, response=dnc_and_message_models.DispositionReport,
    summary="Read disposition counts of up to 92 days.",
    source="Limits: report date range; " + _UNSHOWN, assumed=True,
)  # fmt: skip

#: All rows, in the order of the contract's resources.
ALL: Final[tuple[Operation[Any, Any], ...]] = (
    ME,
    LEADS_LIST, LEADS_GET, LEADS_HISTORY, LEADS_IMPORT, LEADS_CREATE, LEADS_UPDATE,
    CAMPAIGNS_LIST, CAMPAIGNS_GET, CAMPAIGNS_PROGRESS, CAMPAIGNS_PAUSE, CAMPAIGNS_RESUME,
    CALLS_LIST, CALLS_GET, CALLS_RECORDING, CALLS_TRANSCRIPT, CALLS_SUMMARY, CALLS_START,
    WEBHOOKS_LIST, WEBHOOKS_CREATE, WEBHOOKS_GET, WEBHOOKS_UPDATE, WEBHOOKS_DELETE, WEBHOOKS_TEST,
    WEBHOOKS_ROTATE_SECRET, EVENTS_LIST, EVENTS_GET, EVENTS_REPLAY,
    DNC_CHECK, DNC_ADD, CONSENTS_RECORD,
    CALLBACKS_LIST, CALLBACKS_CREATE, CALLBACKS_CANCEL, CALLBACKS_RESCHEDULE,
    APPOINTMENTS_LIST, APPOINTMENTS_GET, APPOINTMENTS_CREATE, APPOINTMENTS_CANCEL,
    APPOINTMENTS_RESCHEDULE,
    SMS_SEND, SMS_DELIVERY_REPORTS, SMS_USAGE, WHATSAPP_SEND,
    REPORTS_DISPOSITIONS,
)  # fmt: skip

BY_NAME: Final[dict[str, Operation[Any, Any]]] = {row.name: row for row in ALL}
