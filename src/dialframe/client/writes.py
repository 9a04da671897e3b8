"""Writes whose outcome is open, and how they are settled; knows the journal and a way to send, not HTTP."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Final

from dialframe.client.answers import Answered, Res
from dialframe.client.clock import Clock
from dialframe.client.conversation import Trail
from dialframe.client.entries import State, Write, too_old
from dialframe.client.journal import Journal
from dialframe.client.options import DEFAULTS, Options
from dialframe.client.wire import PlannedRequest
from dialframe.contract.models.shape import Answer
from dialframe.errors import (
    ApiError,
    ConfigError,
    ContractError,
    DialframeError,
    OutcomeUnknown,
    StoreError,
    TransportError,
)

Resend = Callable[[Write, Options], Answered[Any]]

logger: Final = logging.getLogger("dialframe.client")

#: States of a journal entry whose request may have arrived.
_MAYBE: Final[tuple[State | None, ...]] = ("pending", "outcome_unknown", "answered")


def state_after(error: DialframeError, *, maybe_sent: bool) -> State:
    """What is known of a write after an error.

    Args:
        error: What the call ended with.
        maybe_sent: Whether an earlier attempt without an answer may have reached the service.
    """
    match error:
        case OutcomeUnknown():
            return "outcome_unknown"
        case TransportError():
            return "pending" if maybe_sent else "failed"
        case ContractError():
            return "pending"
        case ApiError(code="conflict"):
            return "pending"
        case ApiError(code="dnc_screen_unavailable"):
            return "failed"
        case ApiError(status=status) if status >= 500:
            return "pending"
        case ApiError(status=401 | 403 | 429):
            # Answered ahead of the key: it says nothing of an attempt that came before.
            return "pending" if maybe_sent else "failed"
    return "failed"


def recorded(
    journal: Journal,
    clock: Clock,
    request: PlannedRequest,
    trail: Trail,
    hold: Callable[[], Answered[Res]],
) -> Answered[Res]:
    """The answer to a write that is on disk before it is sent, and what became of it afterwards.

    Args:
        journal: Where it is put down.
        clock: What time it is.
        request: The write, with its key.
        trail: What the call leaves behind.
        hold: Sends it until there is an answer that stays.

    Raises:
        StoreError: The journal cannot be written; nothing was sent.
        TransportError: No answer came; the message names the key if the outcome is open.
    """
    earlier = journal.begin(request, clock.now())
    trail.maybe_sent = earlier in _MAYBE
    try:
        answered = hold()
    except DialframeError as error:
        state = state_after(error, maybe_sent=trail.maybe_sent)
        kept = earlier if earlier and state == "pending" else state
        if isinstance(error, ApiError):
            _finish(journal, request, kept, error.status, error.code, error.request_id)
        else:
            _finish(journal, request, kept, None, None, None)
        if isinstance(error, TransportError) and state == "pending":
            raise _open(error, request) from None
        raise
    _finish(journal, request, "answered", answered.status, None, answered.request_id)
    return answered


class Writes:
    """`client.writes`: what was sent and not answered, also by a process that is gone."""

    def __init__(self, journal: Journal, clock: Clock, resend: Resend) -> None:
        """Join the journal with a way to send a recorded write again."""
        self._journal = journal
        self._clock = clock
        self._resend = resend

    def pending(self) -> list[Write]:
        """Writes of this address and key whose outcome is open, oldest first.

        Those of a process that is still at work are among them.

        Raises:
            StoreError: The journal cannot be read.
        """
        return self._journal.unsettled()

    def settle(
        self, key: str, *, checked_absent: bool = False, options: Options | None = None
    ) -> Answered[Answer]:
        """Ask with the same key and the same bytes what became of a write.

        If it happened, the stored answer comes back (`.replayed`); if it did not, it happens
        now. A signing secret is not in a replayed answer: rotate it then.

        Args:
            key: The idempotency key, from `pending()` or from an error.
            checked_absent: You have looked at the resource and the write is not there: only then
                is a key older than 24 hours sent again, as if for the first time.
            options: Options of this call.

        Raises:
            ConfigError: The journal does not know the key, or it is older than 24 hours.
            OutcomeUnknown: The service still cannot say.
            ApiError: The service refuses it; the write did not happen.
        """
        write = self._known(key)
        now = self._clock.now()
        if write.request is None:
            raise ConfigError(
                f"{write.operation}: the idempotency key {key!r} is settled ({write.state}, status "
                f"{write.status}) and its bytes are gone: there is nothing to ask"
            )
        if write.expired(now):
            if not checked_absent:
                raise too_old(write)
            self._journal.restart(key, now)
        return self._resend(write, options or DEFAULTS)

    def dismiss(self, key: str) -> None:
        """Take a write off the list of open ones, after you have looked at its resource; sends nothing.

        Raises:
            ConfigError: The journal does not know the key.
        """
        write = self._known(key)
        self._journal.finish(
            key, "answered", status=write.status, code=write.code, request_id=write.request_id
        )

    def _known(self, key: str) -> Write:
        write = self._journal.find(key)
        if write is None:
            raise ConfigError(
                f"no write with the idempotency key {key!r} in {self._journal.file} for this "
                "address and key: client.writes.pending() lists the open ones"
            )
        return write


def _finish(
    journal: Journal,
    request: PlannedRequest,
    state: State,
    status: int | None,
    code: str | None,
    request_id: str | None,
) -> None:
    if request.key is None:
        return
    try:
        journal.finish(request.key, state, status=status, code=code, request_id=request_id)
    except StoreError as error:
        # The answer is worth more than its entry, which stays pending and can be settled.
        logger.warning("%s", error)


def _open(error: TransportError, request: PlannedRequest) -> TransportError:
    return TransportError(
        f"{error}; whether the write happened is open: client.writes.settle({request.key!r}) asks",
        operation=error.operation,
        sent=True,
    )
