"""The service's token bucket, mirrored, so that a client alone is never refused; knows times, sleeps never.

The contract lets a key send `burst + rate * t` requests in t seconds. Requests sent so arrive so only
if each takes equally long on its way. If that time varies by up to J seconds, what was sent within
`b + rate * t` arrives within `(b + rate * J) + rate * t`; so a client that keeps to `b = burst -
rate * J` is never refused. With J = 1 s that is 10 of the 20, and costs ten requests once.

The bucket is kept as one number, the time at which it will be full again (the generic cell rate
algorithm): a request may go when that time is at most `(b - 1) / rate` ahead.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Final

from dialframe.contract.limits import BUCKETS

_KEY_BUCKET: Final = BUCKETS[0]
JITTER_ALLOWED_S: Final = 1.0
RATE_PER_S: Final = _KEY_BUCKET.rate_per_s
BURST: Final = int(_KEY_BUCKET.burst - _KEY_BUCKET.rate_per_s * JITTER_ALLOWED_S)


@dataclass(frozen=True, slots=True)
class Turn:
    """A place in the queue: when to send, and which pause it was given out after."""

    at_s: float
    epoch: int


class RateLimiter:
    """One bucket for every thread that holds it.

    Times are seconds of one monotonic clock, handed in by the caller, who does the waiting.
    """

    def __init__(self, *, rate_per_s: float = RATE_PER_S, burst: int = BURST) -> None:
        """Start full."""
        self._interval_s = 1.0 / rate_per_s
        self._ahead_s = (burst - 1) * self._interval_s
        self._full_at_s = float("-inf")
        self._open_at_s = float("-inf")
        self._paused_at_s = float("-inf")
        self._epoch = 0
        self._lock = threading.Lock()

    def reserve(self, now_s: float, *, latest_s: float | None = None) -> Turn | None:
        """The next free turn, in the order of asking; None if it would come after `latest_s`."""
        with self._lock:
            at_s = max(now_s, self._open_at_s, self._full_at_s - self._ahead_s)
            if latest_s is not None and at_s > latest_s:
                return None
            self._full_at_s = max(self._full_at_s, at_s) + self._interval_s
            return Turn(at_s, self._epoch)

    def stands(self, turn: Turn) -> bool:
        """Whether a turn that was waited for may be taken: no pause came in between."""
        return turn.epoch == self._epoch

    def pause(self, now_s: float, *, for_s: float, sent_at_s: float) -> None:
        """Nobody sends for so many seconds: the service refused a request that was sent at `sent_at_s`.

        Refusals of requests that were already on their way when a pause began are news of the
        same shortage: they may lengthen the pause and empty the bucket no further.
        """
        with self._lock:
            self._open_at_s = max(self._open_at_s, now_s + for_s)
            if sent_at_s <= self._paused_at_s:
                return
            self._paused_at_s = now_s
            self._epoch += 1
            # Empty now: tokens come back while we wait.
            self._full_at_s = now_s + self._ahead_s + self._interval_s


class Shared:
    """The limiters of this process, one for each address and key.

    The service counts by key, so two clients with the same key have to count together, one after
    the other too. Nothing else in the room outlives its owner; it holds hashes and no keys.
    """

    def __init__(self) -> None:
        """Start with none."""
        self._limiters: dict[str, RateLimiter] = {}
        self._lock = threading.Lock()

    def of(self, account: str) -> RateLimiter:
        """The limiter of an address and key, made when it is first asked for."""
        with self._lock:
            return self._limiters.setdefault(account, RateLimiter())


#: The default of `Client(limiter=...)`.
SHARED: Final = Shared()
