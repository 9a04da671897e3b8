"""A write is on disk before it is sent, and what became of it is put down afterwards."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from dialframe.client.client_settings import Clock
from dialframe.client.refusals import Trail
from dialframe.client.request_building import PlannedRequest, State, reach_of
from dialframe.client.response_reading import Answered
from dialframe.client.write_journal import Journal
from dialframe.errors import (
    ApiError,
    ContractError,
    DialframeError,
    OutcomeUnknown,
    StoreError,
    TransportError,
)

Res = TypeVar("Res")

logger: Final = logging.getLogger("dialframe.client")

#: States of a journal entry whose request may have arrived.
_MAYBE: Final[tuple[State | None, ...]] = ("pending", "outcome_unknown", "answered")


def state_after(error: DialframeError, *, maybe_sent: bool) -> State:
    """What is known of a write after an error."""
    match error:
        # Contract, Idempotency 7: never retry that operation with a new key.
        case OutcomeUnknown():
            return "outcome_unknown"
        case TransportError():
            return "pending" if maybe_sent else "failed"
        case ContractError():
            return "pending"
        # Idempotency 6: the first request with the key still runs.
        case ApiError(code="conflict"):
            return "pending"
        # Endpoints, Leads: nothing was written, and the same key may try again.
        case ApiError(code="dnc_screen_unavailable"):
            return "failed"
        case ApiError(status=status) if status >= 500:
            return "pending"
        case ApiError(status=401 | 403 | 429):
            # Answered ahead of the key: it says nothing of an attempt that came before.
            return "pending" if maybe_sent else "failed"
    return "failed"


async def recorded(
    journal: Journal,
    clock: Clock,
    on_disk: Callable[[Callable[[], Any]], Awaitable[Any]],
    request: PlannedRequest,
    trail: Trail,
    sending: Callable[[], Awaitable[Answered[Res]]],
    *,
    late: bool = False,
) -> Answered[Res]:
    """The answer to a write that is on disk before it is sent, and what became of it afterwards.

    Whatever ends it early, a kill or a cancellation among them, leaves it pending.
    """

    def finish(state: State, status: int | None, code: str | None, request_id: str | None) -> None:
        if request.key is None:
            return
        try:
            journal.finish(request.key, state, status=status, code=code, request_id=request_id)
        except StoreError as error:
            # The answer is worth more than its entry, which stays pending and can be settled.
            logger.warning("%s", error)

    earlier: State | None = await on_disk(lambda: journal.begin(request, clock.now(), late=late))
    trail.maybe_sent = earlier in _MAYBE
    try:
        answered = await sending()
    except DialframeError as error:
        state = state_after(error, maybe_sent=trail.maybe_sent)
        # A further attempt without an answer says less than what was known before it.
        recorded_state = earlier if earlier and state == "pending" else state
        known: tuple[Any, ...] = (None, None, None)
        if isinstance(error, ApiError):
            known = error.status, error.code, error.request_id
        await on_disk(lambda: finish(recorded_state, *known))
        if not isinstance(error, TransportError) or state != "pending":
            raise
        reach = reach_of(request, clock.now())
        consequence = ""
        if reach is not None and reach.late_at is not None:
            consequence = f", which {reach.what} now if it did not happen"
        raise TransportError(
            f"{error}; whether the write happened is open: client.writes.settle({request.key!r}) "
            f"sends it again with the same key{consequence}",
            operation=error.operation,
            sent=True,
        ) from None
    await on_disk(lambda: finish("answered", answered.status, None, answered.request_id))
    return answered
