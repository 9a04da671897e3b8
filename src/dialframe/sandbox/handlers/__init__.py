"""One handler per operation of the contract, registered as its module is loaded."""

from dialframe.sandbox.handlers import (
    call_handlers,
    dnc_and_message_handlers,
    lead_handlers,
    states,
    webhook_handlers,
)
from dialframe.sandbox.handlers.requests_and_replies import HANDLERS

__all__ = [
    "HANDLERS",
    "call_handlers",
    "dnc_and_message_handlers",
    "lead_handlers",
    "states",
    "webhook_handlers",
]
