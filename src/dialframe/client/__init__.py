"""HTTP out: the service's operations as typed methods; loads httpx, and pandas only for a frame."""

from dialframe.client import credentials
from dialframe.client.address import Address
from dialframe.client.answers import Answered, DncChecked, ListPage, Quarantined
from dialframe.client.api import Client
from dialframe.client.clock import SYSTEM, Clock
from dialframe.client.entries import Write
from dialframe.client.limiter import SHARED, RateLimiter
from dialframe.client.listing import Listing
from dialframe.client.novelties import Novelty
from dialframe.client.options import Options, correlation
from dialframe.client.problems import ChangedSince
from dialframe.client.resources.given import UNSET
from dialframe.client.transport import HttpxTransport, Reply, Transport
from dialframe.client.wire import PlannedRequest

__all__ = [
    "SHARED",
    "SYSTEM",
    "UNSET",
    "Address",
    "Answered",
    "ChangedSince",
    "Client",
    "Clock",
    "DncChecked",
    "HttpxTransport",
    "ListPage",
    "Listing",
    "Novelty",
    "Options",
    "PlannedRequest",
    "Quarantined",
    "RateLimiter",
    "Reply",
    "Transport",
    "Write",
    "correlation",
    "credentials",
]
