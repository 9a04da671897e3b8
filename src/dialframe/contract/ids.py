"""Typed ids (contract, Conventions): a prefix plus a lower-case UUID."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import StringConstraints

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
