"""One handler per operation of the contract; a row without one would answer `route_not_available`."""

from __future__ import annotations

from typing import Final

from dialframe.sandbox.handlers import bookings, calls, campaigns, contact, leads, webhooks
from dialframe.sandbox.handlers.exchange import Handler

#: Operation name to what answers it.
HANDLERS: Final[dict[str, Handler]] = {
    handler.operation.name: handler
    for handlers in (campaigns, leads, calls, webhooks, contact, bookings)
    for handler in handlers.HANDLERS
}
