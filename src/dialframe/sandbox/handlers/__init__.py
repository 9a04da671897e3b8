"""One handler per operation of the contract; a row without one would answer `route_not_available`."""

from __future__ import annotations

from typing import Final

from dialframe.sandbox.exchange import Bound
from dialframe.sandbox.handlers import (
    account,
    appointments,
    callbacks,
    calls,
    campaigns,
    contact,
    events,
    leads,
    webhooks,
)

_ROOMS: Final = (
    account, leads, campaigns, calls, webhooks, events, contact, callbacks, appointments,
)  # fmt: skip

#: Operation name to what answers it.
HANDLERS: Final[dict[str, Bound]] = {
    bound.operation.name: bound for room in _ROOMS for bound in room.HANDLERS
}
