"""The clock and the dice of the client, as a value that is passed in; knows no HTTP."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final


@dataclass(frozen=True, slots=True)
class Clock:
    """What the client asks of the machine; tests hand in their own.

    Attributes:
        now: The time of day, UTC-aware.
        monotonic: Seconds that never run backwards, for waits and deadlines.
        sleep: Wait so many seconds.
        jitter: A number from 0 up to 1, afresh each time.
    """

    now: Callable[[], datetime]
    monotonic: Callable[[], float]
    sleep: Callable[[float], None]
    jitter: Callable[[], float]


def _now() -> datetime:
    return datetime.now(UTC)


#: The machine's own clock.
SYSTEM: Final = Clock(_now, time.monotonic, time.sleep, random.random)
