"""HTTP out: the service's operations as typed methods; loads httpx, and pandas only for a frame."""

from dialframe.client.client import AsyncClient, Client, Operations
from dialframe.client.client_settings import (
    MISSING_KEY,
    SYSTEM,
    Address,
    Clock,
    Credential,
    Options,
    correlation,
    parse_address,
    resolve_key,
)
from dialframe.client.pagination import AsyncListing, Listing
from dialframe.client.rate_limiter import SHARED, RateLimiter, bulk
from dialframe.client.request_building import PlannedRequest, Write
from dialframe.client.resources import UNSET, method_path
from dialframe.client.resources.dnc_and_message_methods import DncChecked
from dialframe.client.resources.lead_methods import Leads
from dialframe.client.response_reading import Answered, ChangedSince, ListPage, Quarantined
from dialframe.client.send_operation import Sync
from dialframe.client.transport import (
    AsyncHttpxTransport,
    AsyncReply,
    AsyncTransport,
    HttpxTransport,
    Network,
    Reply,
    Transport,
)
from dialframe.client.write_journal import Journal

__all__ = [
    "MISSING_KEY",
    "SHARED",
    "SYSTEM",
    "UNSET",
    "Address",
    "Answered",
    "AsyncClient",
    "AsyncHttpxTransport",
    "AsyncListing",
    "AsyncReply",
    "AsyncTransport",
    "ChangedSince",
    "Client",
    "Clock",
    "Credential",
    "DncChecked",
    "HttpxTransport",
    "Journal",
    "Leads",
    "ListPage",
    "Listing",
    "Network",
    "Operations",
    "Options",
    "PlannedRequest",
    "Quarantined",
    "RateLimiter",
    "Reply",
    "Sync",
    "Transport",
    "Write",
    "bulk",
    "correlation",
    "method_path",
    "parse_address",
    "resolve_key",
]


def __dir__() -> list[str]:
    """The public names alone."""
    return sorted(__all__)
