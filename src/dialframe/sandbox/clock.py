"""The sandbox's clock: real time plus whatever it was advanced by; every timer goes by it."""

from __future__ import annotations

import time
from collections.abc import Callable

from dialframe.sandbox.instants import SECOND_US


class Clock:
    """Real time, moved forward on request.

    Attributes:
        ahead_us: Microseconds that it is ahead of real time.
    """

    def __init__(self, ahead_us: int = 0, source: Callable[[], float] = time.time) -> None:
        self.ahead_us = ahead_us
        self._source = source

    def now_us(self) -> int:
        """Now, in microseconds since 1970 (UTC), whole milliseconds."""
        return int(self._source() * 1000) * 1000 + self.ahead_us

    def real_s(self) -> int:
        """Unix seconds of real time: what a receiver compares a signature with."""
        return int(self._source())

    def advance(self, seconds: float) -> int:
        """Move forward and say how far ahead of real time the clock is now, in microseconds."""
        self.ahead_us += int(seconds * 1000) * (SECOND_US // 1000)
        return self.ahead_us
