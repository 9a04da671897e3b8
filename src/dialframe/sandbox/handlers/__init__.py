"""One handler per operation of the contract; a row without one would answer `route_not_available`."""

from __future__ import annotations

from typing import Final

from dialframe.sandbox.handlers import (
    call_handlers,
    contact_handlers,
    lead_handlers,
    webhook_handlers,
)
from dialframe.sandbox.handlers.replies import Handler

#: Operation name to what answers it.
HANDLERS: Final[dict[str, Handler]] = {
    handler.operation.name: handler
    for handlers in (lead_handlers, call_handlers, webhook_handlers, contact_handlers)
    for handler in handlers.HANDLERS
}
