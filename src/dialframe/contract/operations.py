"""The service's 45 operations, a row each, and what a row holds: facts, never callables.

Rule 1: a row holds what the contract says, and `source` names the section that says it.
Rule 2: where the contract shows no shape, `assumed` is true and the shape is one that we chose; nothing may
depend on such a shape to work.
"""

from __future__ import annotations

import re
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, Final, Generic, Literal, TypeVar

from dialframe.contract.models import call_models as calls
from dialframe.contract.models import dnc_and_message_models as contacts
from dialframe.contract.models import lead_models as leads
from dialframe.contract.models import webhook_models as webhooks
from dialframe.contract.models.base_models import Answer, Empty, Media, Nothing, Page, Request
from dialframe.contract.scopes import BY_NAME as SCOPES_BY_NAME

Req = TypeVar("Req", bound=Request)
Res = TypeVar("Res", bound=Answer)

KeyRule = Literal["none", "required", "optional"]


@dataclass(frozen=True)
class Operation(Generic[Req, Res]):
    """One operation of the service.

    Attributes:
        name: `resource.verb`, the same everywhere: errors, logs, faults, documentation.
        route: HTTP method, and path below the base URL with `{names}` of the request's fields.
        scope: The scope that it needs, or None for any active key.
        request: Shape of the request: path, query and body fields in one.
        response: Shape of the answer.
        summary: One line on what it does.
        source: Section of the contract that it is taken from.
        query: Request fields that travel in the query although the method has a body.
        status: HTTP status of success.
        reads: Whether it changes nothing, although its method may.
        etag: Whether the answer carries an `ETag`.
        if_match: Whether `If-Match` is understood.
        codes: Codes that it can answer beyond the general ones and those of its kind.
    """

    name: str
    route: str
    scope: str | None
    request: type[Req]
    response: type[Res]
    _: KW_ONLY
    summary: str
    source: str
    query: tuple[str, ...] = ()
    status: int = 200
    reads: bool = False
    etag: bool = False
    if_match: bool = False
    codes: tuple[str, ...] = ()

    @cached_property
    def method(self) -> str:
        """HTTP method."""
        return self.route.partition(" ")[0]

    @cached_property
    def path(self) -> str:
        """Path below the base URL."""
        return self.route.partition(" ")[2]

    @cached_property
    def path_names(self) -> tuple[str, ...]:
        """Request fields that stand in the path."""
        return tuple(re.findall(r"{(\w+)}", self.path))

    @cached_property
    def query_names(self) -> tuple[str, ...]:
        """Request fields that travel in the query."""
        if self.method != "GET":
            return self.query
        return tuple(name for name in self.request.model_fields if name not in self.path_names)

    @cached_property
    def body_names(self) -> tuple[str, ...]:
        """Request fields that travel in the JSON body."""
        elsewhere = {*self.path_names, *self.query_names}
        return tuple(name for name in self.request.model_fields if name not in elsewhere)

    @cached_property
    def key(self) -> KeyRule:
        """Whether an `Idempotency-Key` is required, optional or not used (contract, Idempotency 1 and 8)."""
        if self.reads or self.method == "GET":
            return "none"
        return "optional" if self.method == "PATCH" else "required"

    @cached_property
    def changes_data(self) -> bool:
        """Whether it is a write: anything but GET and the Do-Not-Call check."""
        return self.key != "none"

    @cached_property
    def paged(self) -> bool:
        """Whether the answer is one page of a list."""
        return issubclass(self.response, Page)

    @cached_property
    def streamed(self) -> bool:
        """Whether the answer is bytes, not JSON."""
        return self.response is Media

    @cached_property
    def assumed(self) -> bool:
        """Whether the contract leaves its shapes unshown."""
        return self.source.endswith(_UNSHOWN)

    @cached_property
    def refusals(self) -> tuple[str, ...]:
        """Codes that it can answer beyond the general ones: its own, and those of its kind."""
        of_its_kind = {
            # Errors: webhooks not enabled, a switch that is off, an unknown id; Lists and pagination.
            "webhooks_disabled": (self.scope or "").startswith("webhooks:"),
            "tier_not_enabled": self.switch is not None,
            "not_found": bool(self.path_names),
            "invalid_cursor": self.paged,
        }
        return (*(code for code, holds in of_its_kind.items() if holds), *self.codes)

    @cached_property
    def tier(self) -> int:
        """1 for what is safe or reduces contact, 2 for what can reach or unlock real people."""
        return 1 if self.scope is None else SCOPES_BY_NAME[self.scope].tier

    @cached_property
    def switch(self) -> str | None:
        """The account switch that has to be on, or None."""
        return None if self.scope is None else SCOPES_BY_NAME[self.scope].switch

    @cached_property
    def sending_key(self) -> bool:
        """Whether only a key of the guided sending setup will do."""
        return self.scope is not None and SCOPES_BY_NAME[self.scope].sending_key


_UNSHOWN = "Endpoints: Operations whose payload is not fully shown"

ME: Final = Operation(
    "me", "GET /v1/me", None, Empty, contacts.Me,
    summary="Read who the key belongs to and what it may do.", source=_UNSHOWN,
)  # fmt: skip

# --- leads

LEADS_LIST: Final = Operation(
    "leads.list", "GET /v1/leads", "leads:read", leads.LeadQuery, Page[leads.Lead],
    summary="List leads, newest first.", source="Endpoints: Leads",
)  # fmt: skip
LEADS_GET: Final = Operation(
    "leads.get", "GET /v1/leads/{lead_id}", "leads:read", leads.LeadRef, leads.Lead, etag=True,
    summary="Read one lead.", source=_UNSHOWN,
)  # fmt: skip
LEADS_HISTORY: Final = Operation(
    "leads.history", "GET /v1/leads/{lead_id}/history", "leads:read",
    leads.LeadHistoryQuery, Page[leads.LeadHistoryEntry],
    summary="List what happened to one lead.", source=_UNSHOWN,
)  # fmt: skip
LEADS_IMPORT: Final = Operation(
    "leads.import", "POST /v1/leads/import", "leads:write",
    leads.LeadImport, leads.LeadImportAnswer, query=("campaign_id",),
    summary="Import up to 200 leads into a campaign.", source="Endpoints: Leads",
    codes=("batch_too_large", "campaign_not_importable", "dnc_screen_unavailable", "not_found"),
)  # fmt: skip
LEADS_CREATE: Final = Operation(
    "leads.create", "POST /v1/leads", "leads:write", leads.LeadCreate, leads.LeadCreated,
    summary="Add one lead, optionally to be dialed first.", source="Endpoints: Leads",
    codes=("insufficient_scope", "tier_not_enabled", "campaign_not_importable", "dnc_screen_unavailable",
           "not_found"),
)  # fmt: skip
LEADS_UPDATE: Final = Operation(
    "leads.update", "PATCH /v1/leads/{lead_id}", "leads:write",
    leads.LeadUpdate, leads.Lead, etag=True, if_match=True,
    summary="Change a lead's name, e-mail or custom fields.", source="Endpoints: Leads",
    codes=("precondition_failed",),
)  # fmt: skip

# --- campaigns

CAMPAIGNS_LIST: Final = Operation(
    "campaigns.list", "GET /v1/campaigns", "campaigns:read", leads.CampaignQuery, Page[leads.Campaign],
    summary="List campaigns that are not archived.", source="Endpoints: Campaigns",
)  # fmt: skip
CAMPAIGNS_GET: Final = Operation(
    "campaigns.get", "GET /v1/campaigns/{campaign_id}", "campaigns:read", leads.CampaignRef, leads.Campaign,
    summary="Read one campaign.", source=_UNSHOWN,
)  # fmt: skip
CAMPAIGNS_PROGRESS: Final = Operation(
    "campaigns.progress", "GET /v1/campaigns/{campaign_id}/progress", "campaigns:read",
    leads.CampaignRef, leads.CampaignProgress,
    summary="Read how far a campaign is.", source=_UNSHOWN,
)  # fmt: skip
CAMPAIGNS_PAUSE: Final = Operation(
    "campaigns.pause", "POST /v1/campaigns/{campaign_id}/pause", "campaigns:pause",
    leads.CampaignRef, leads.Campaign,
    summary="Pause a running campaign.", source="Endpoints: Campaigns",
    codes=("campaign_not_running",),
)  # fmt: skip
CAMPAIGNS_RESUME: Final = Operation(
    "campaigns.resume", "POST /v1/campaigns/{campaign_id}/resume", "campaigns:resume",
    leads.CampaignRef, leads.Campaign,
    summary="Resume a paused campaign: real calls start.", source="Endpoints: Campaigns",
    codes=("campaign_not_paused", "registry_stale_blocked", "daily_cap_reached"),
)  # fmt: skip

# --- calls

CALLS_LIST: Final = Operation(
    "calls.list", "GET /v1/calls", "calls:read", calls.CallQuery, Page[calls.Call],
    summary="List every call of the account, newest first.", source="Endpoints: Calls",
)  # fmt: skip
CALLS_GET: Final = Operation(
    "calls.get", "GET /v1/calls/{call_id}", "calls:read", calls.CallRef, calls.Call,
    summary="Read one call.", source=_UNSHOWN,
)  # fmt: skip
CALLS_RECORDING: Final = Operation(
    "calls.recording", "GET /v1/calls/{call_id}/recording", "recordings:read", calls.CallRef, Media,
    summary="Stream the recording of a call.", source=_UNSHOWN,
)  # fmt: skip
CALLS_TRANSCRIPT: Final = Operation(
    "calls.transcript", "GET /v1/calls/{call_id}/transcript", "transcripts:read",
    calls.CallRef, calls.Transcript,
    summary="Read what was said in a call.", source=_UNSHOWN,
)  # fmt: skip
CALLS_SUMMARY: Final = Operation(
    "calls.summary", "GET /v1/calls/{call_id}/summary", "summaries:read", calls.CallRef, calls.CallSummary,
    summary="Read the summary of a call.", source="Resources: Call summary (partial); " + _UNSHOWN,
)  # fmt: skip
CALLS_START: Final = Operation(
    "calls.start", "POST /v1/calls", "calls:originate", calls.CallStart, calls.StartedCall, status=201,
    summary="Connect one of the account's agents with a customer.", source="Endpoints: Calls",
    codes=("agent_unavailable", "dial_refused", "on_dnc", "blocked_country", "insufficient_balance",
           "daily_cap_reached", "rate_limit_exceeded", "spend_cap_reached", "sending_suspended",
           "outbound_not_approved", "not_found"),
)  # fmt: skip

# --- webhooks and events

WEBHOOKS_LIST: Final = Operation(
    "webhooks.list", "GET /v1/webhooks", "webhooks:read", webhooks.WebhookQuery, Page[webhooks.WebhookEndpoint],
    summary="List webhook endpoints.", source=_UNSHOWN,
)  # fmt: skip
WEBHOOKS_CREATE: Final = Operation(
    "webhooks.create", "POST /v1/webhooks", "webhooks:write",
    webhooks.WebhookCreate, webhooks.WebhookCreated, status=201,
    summary="Create a webhook endpoint; its secret is shown once.", source="Endpoints: Webhooks",
    codes=("webhook_url_refused", "webhook_limit_reached"),
)  # fmt: skip
WEBHOOKS_GET: Final = Operation(
    "webhooks.get", "GET /v1/webhooks/{webhook_id}", "webhooks:read",
    webhooks.WebhookRef, webhooks.WebhookEndpoint,
    summary="Read one webhook endpoint.", source="Endpoints: Webhooks",
)  # fmt: skip
WEBHOOKS_UPDATE: Final = Operation(
    "webhooks.update", "PATCH /v1/webhooks/{webhook_id}", "webhooks:write",
    webhooks.WebhookUpdate, webhooks.WebhookEndpoint,
    summary="Change a webhook endpoint.", source="Endpoints: Webhooks",
    codes=("webhook_url_refused",),
)  # fmt: skip
WEBHOOKS_DELETE: Final = Operation(
    "webhooks.delete", "DELETE /v1/webhooks/{webhook_id}", "webhooks:write",
    webhooks.WebhookRef, Nothing, status=204,
    summary="Delete a webhook endpoint.", source=_UNSHOWN,
)  # fmt: skip
WEBHOOKS_TEST: Final = Operation(
    "webhooks.test", "POST /v1/webhooks/{webhook_id}/test", "webhooks:write",
    webhooks.WebhookRef, webhooks.Replayed, status=202,
    summary="Send a test event to a webhook endpoint.", source=_UNSHOWN,
)  # fmt: skip
WEBHOOKS_ROTATE_SECRET: Final = Operation(
    "webhooks.rotate_secret", "POST /v1/webhooks/{webhook_id}/rotate-secret", "webhooks:write",
    webhooks.WebhookRef, webhooks.SecretRotated,
    summary="Make a new signing secret; the old one signs along for 24 hours.", source="Endpoints: Webhooks",
)  # fmt: skip
EVENTS_LIST: Final = Operation(
    "events.list", "GET /v1/webhook-events", "webhooks:read",
    webhooks.EventQuery, Page[webhooks.WebhookEventSummary],
    summary="List webhook events of the last 30 days.", source=_UNSHOWN,
)  # fmt: skip
EVENTS_GET: Final = Operation(
    "events.get", "GET /v1/webhook-events/{event_id}", "webhooks:read",
    webhooks.EventRef, webhooks.WebhookEvent,
    summary="Read one webhook event with its deliveries.", source="Endpoints: Webhooks",
)  # fmt: skip
EVENTS_REPLAY: Final = Operation(
    "events.replay", "POST /v1/webhook-events/{event_id}/replay", "webhooks:write",
    webhooks.EventReplay, webhooks.Replayed, status=202,
    summary="Send a webhook event again.", source="Endpoints: Webhooks",
    codes=("replay_limit_reached", "replay_unavailable", "webhook_url_refused"),
)  # fmt: skip

# --- Do-Not-Call and consent

DNC_CHECK: Final = Operation(
    "dnc.check", "POST /v1/dnc/check", "dnc:check", contacts.DncCheck, contacts.DncAnswer, reads=True,
    summary="Check up to 100 numbers against Do-Not-Call.", source="Endpoints: Do-Not-Call",
    codes=("batch_too_large",),
)  # fmt: skip
DNC_ADD: Final = Operation(
    "dnc.add", "POST /v1/dnc", "dnc:add", contacts.DncAdd, contacts.DncEntry, status=201,
    summary="Add a number to the account's Do-Not-Call list.", source=_UNSHOWN,
)  # fmt: skip
CONSENTS_RECORD: Final = Operation(
    "consents.record", "POST /v1/consents", "consent:write",
    contacts.ConsentRecord, contacts.Consent, status=201,
    summary="Record evidence of consent.", source=_UNSHOWN,
)  # fmt: skip

# --- callbacks

CALLBACKS_LIST: Final = Operation(
    "callbacks.list", "GET /v1/callbacks", "callbacks:read", calls.CallbackQuery, Page[calls.Callback],
    summary="List one campaign's callbacks, newest created first.", source="Endpoints: Callbacks",
)  # fmt: skip
CALLBACKS_CREATE: Final = Operation(
    "callbacks.create", "POST /v1/callbacks", "callbacks:write",
    calls.CallbackCreate, calls.Callback, status=201,
    summary="Schedule a callback; when due, the platform calls the lead.", source="Endpoints: Callbacks",
    codes=("not_found", "on_dnc", "daily_cap_reached"),
)  # fmt: skip
CALLBACKS_CANCEL: Final = Operation(
    "callbacks.cancel", "POST /v1/callbacks/{callback_id}/cancel", "callbacks:cancel",
    calls.CallbackRef, calls.Callback,
    summary="Cancel a pending callback.", source="Endpoints: Callbacks",
    codes=("callback_not_pending",),
)  # fmt: skip
CALLBACKS_RESCHEDULE: Final = Operation(
    "callbacks.reschedule", "POST /v1/callbacks/{callback_id}/reschedule", "callbacks:write",
    calls.CallbackReschedule, calls.Callback,
    summary="Move a pending callback.", source="Endpoints: Callbacks",
    codes=("callback_not_pending",),
)  # fmt: skip

# --- appointments

APPOINTMENTS_LIST: Final = Operation(
    "appointments.list", "GET /v1/appointments", "appointments:read",
    calls.AppointmentQuery, Page[calls.Appointment],
    summary="List appointments.", source=_UNSHOWN,
)  # fmt: skip
APPOINTMENTS_GET: Final = Operation(
    "appointments.get", "GET /v1/appointments/{appointment_id}", "appointments:read",
    calls.AppointmentRef, calls.Appointment, etag=True,
    summary="Read one appointment.", source=_UNSHOWN,
)  # fmt: skip
APPOINTMENTS_CREATE: Final = Operation(
    "appointments.create", "POST /v1/appointments", "appointments:write",
    calls.AppointmentCreate, calls.Appointment, status=201, etag=True,
    summary="Book an appointment; the customer may be texted.", source="Endpoints: Appointments",
    codes=("blocked_country",),
)  # fmt: skip
APPOINTMENTS_CANCEL: Final = Operation(
    "appointments.cancel", "POST /v1/appointments/{appointment_id}/cancel", "appointments:write",
    calls.AppointmentRef, calls.Appointment, etag=True, if_match=True,
    summary="Cancel an appointment; the customer may be texted.", source="Endpoints: Appointments",
    codes=("appointment_not_modifiable", "precondition_failed"),
)  # fmt: skip
APPOINTMENTS_RESCHEDULE: Final = Operation(
    "appointments.reschedule", "POST /v1/appointments/{appointment_id}/reschedule", "appointments:write",
    calls.AppointmentReschedule, calls.Appointment, etag=True,
    summary="Move an appointment.", source="States: Appointment; " + _UNSHOWN,
    codes=("appointment_not_modifiable",),
)  # fmt: skip

# --- messages

SMS_SEND: Final = Operation(
    "sms.send", "POST /v1/sms", "messages:send", contacts.SmsSend, contacts.SmsMessage, status=202,
    summary="Send a text message.", source="Endpoints: SMS",
    codes=("on_dnc", "blocked_country", "message_refused", "insufficient_balance",
           "duplicate_client_reference", "daily_cap_reached", "rate_limit_exceeded", "spend_cap_reached",
           "sending_suspended", "outbound_not_approved"),
)  # fmt: skip
SMS_DELIVERY_REPORTS: Final = Operation(
    "sms.delivery_reports", "GET /v1/sms/delivery-reports", "sms:read",
    contacts.SmsReportQuery, Page[contacts.SmsDeliveryReport],
    summary="List what became of text messages.", source=_UNSHOWN,
)  # fmt: skip
SMS_USAGE: Final = Operation(
    "sms.usage", "GET /v1/sms/usage", "sms:read", Empty, contacts.SmsUsage,
    summary="Read how many text messages were sent.", source=_UNSHOWN,
)  # fmt: skip
WHATSAPP_SEND: Final = Operation(
    "whatsapp.send", "POST /v1/whatsapp/messages", "whatsapp:send",
    contacts.WhatsAppSend, contacts.WhatsAppMessage, status=202,
    summary="Send a WhatsApp message; refused for every account until it is announced.",
    source="What the service does; " + _UNSHOWN,
    codes=("tier_not_enabled",),
)  # fmt: skip

# --- reports

REPORTS_DISPOSITIONS: Final = Operation(
    "reports.dispositions", "GET /v1/reports/dispositions", "reports:read",
    contacts.DispositionQuery, contacts.DispositionReport,
    summary="Read disposition counts of up to 92 days.", source="Limits: report date range; " + _UNSHOWN,
)  # fmt: skip

#: All rows, in the order of the contract's resources.
ALL: Final[tuple[Operation[Any, Any], ...]] = tuple(
    row for row in list(globals().values()) if isinstance(row, Operation)
)

BY_NAME: Final[dict[str, Operation[Any, Any]]] = {row.name: row for row in ALL}
