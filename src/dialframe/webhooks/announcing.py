"""Calls listeners with what was received, in a thread of its own."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from queue import Full
from typing import Final

from dialframe.background import Worker
from dialframe.errors import DialframeError
from dialframe.webhooks.delivery import Delivery

#: What may wait for a slow listener; it is all stored already, so the rest is counted and left out.
PLACES: Final = 1000

OnEvent = Callable[[Delivery], None]
OnTrouble = Callable[[DialframeError], None]


class Announcer:
    """Two listeners behind a queue: however slow they are, or how they fail, the receiver goes on."""

    def __init__(self, on_event: OnEvent, on_trouble: OnTrouble, *, places: int = PLACES) -> None:
        self._on_event = on_event
        self._on_trouble = on_trouble
        self._worker = Worker("dialframe-webhooks-tell", places=places)
        self._missed = 0

    def event(self, delivery: Delivery) -> None:
        """Report a new event."""
        self._tell_missed()
        try:
            announced = self._worker.submit(partial(self._on_event, delivery))
        except Full:
            self._missed += 1
        else:
            announced.add_done_callback(self._done)

    def trouble(self, error: DialframeError) -> None:
        """Report a delivery that was not accepted, unless too much waits already."""
        try:
            self._worker.submit(partial(self._on_trouble, error))
        except Full:
            return

    def close(self, *, within_s: float) -> None:
        """Deliver what waits in the queue, for so many seconds at most."""
        self._tell_missed()
        self._worker.close(within_s=within_s)

    def _tell_missed(self) -> None:
        if not self._missed:
            return
        missed = (
            f"{self._missed:,} events were stored but not shown: whoever reads them is too slow"
        )
        try:
            self._worker.submit(partial(self._on_trouble, DialframeError(missed)))
        except Full:
            return
        self._missed = 0

    def _done(self, announced: Future[None]) -> None:
        error = announced.exception()
        if error is not None:
            self.trouble(
                DialframeError(
                    f"the listener failed on an event with {type(error).__name__}; the event is stored"
                )
            )
