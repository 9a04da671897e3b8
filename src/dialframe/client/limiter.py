"""The service's token buckets, mirrored, so that a machine alone is never refused; knows times, sleeps never.

The contract lets a key send `burst + rate * t` requests in t seconds. Requests sent so arrive so only
if each takes equally long on its way. If that time varies by up to J seconds, what was sent within
`b + rate * t` arrives within `(b + rate * J) + rate * t`; so a client that keeps to `b = burst -
rate * J` is never refused. With J = 1 s that is 10 of the 20, and costs ten requests once.

A bucket is kept as one number, the time at which it will be full again (the generic cell rate
algorithm): a request may go when that time is at most `(b - 1) / rate` ahead. There is one for each
level of the contract. Which client and account a key belongs to is not known here: all keys that go to
one address count as of one, which asks for no more room than the contract gives the machine's address.

Three lanes share a bucket. `bulk` leaves two requests of the burst alone, `spare` four; neither takes
a turn that is still to come, so that an `interactive` request never stands behind them. `spare` gets
what `bulk` leaves over.

After a refusal all of the key pause together, and then go slower: a fifth less for each refusal, and
slowly up again. Somebody else may be using the key.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal, Protocol

from dialframe.contract.limits import BUCKETS

Lane = Literal["interactive", "bulk", "spare"]

_KEY_BUCKET: Final = BUCKETS[0]
JITTER_ALLOWED_S: Final = 1.0
RATE_PER_S: Final = _KEY_BUCKET.rate_per_s
BURST: Final = int(_KEY_BUCKET.burst - _KEY_BUCKET.rate_per_s * JITTER_ALLOWED_S)
#: Requests of the burst that each lane leaves to the lanes before it.
LEFT: Final[Mapping[Lane, int]] = {"interactive": 0, "bulk": 2, "spare": 4}
#: A refusal cuts the rate to this share of what it was, at least to the second...
CUT: Final = 0.8
LOWEST_SHARE: Final = 0.2
#: ... and after so many quiet seconds it grows again by this share a second.
QUIET_S: Final = 2.0
GROWTH_PER_S: Final = 0.02
#: A bucket that will be full only after this, or a pause that lasts longer, is of another clock.
FAR_S: Final = 300.0
FAR_PAUSE_S: Final = 86_400.0

_NEVER: Final = float("-inf")
_lane: ContextVar[Lane] = ContextVar("dialframe_lane", default="interactive")


@contextmanager
def lane(name: Lane) -> Iterator[None]:
    """Let the calls made inside the `with` block, in this thread, take their turns in a lane."""
    token = _lane.set(name)
    try:
        yield
    finally:
        _lane.reset(token)


def current_lane() -> Lane:
    """The lane of the `with` block that we are in."""
    return _lane.get()


@dataclass(frozen=True, slots=True)
class Turn:
    """A place in the queue: when to send, after which pause it was given out, and whether it is taken.

    A turn that is not taken is only news of when to ask again.
    """

    at_s: float
    epoch: int
    taken: bool = True


@dataclass(frozen=True, slots=True)
class Level:
    """One bucket: whose it is (16 bytes of a hash), requests a second, burst."""

    name: bytes
    rate_per_s: float
    burst: int


@dataclass(frozen=True, slots=True)
class Tokens:
    """What is in a bucket.

    Attributes:
        full_at_s: When it will be full again.
        open_at_s: Nobody sends before this.
        paused_at_s: When the last pause began.
        share: The share of the rate that was left by that pause.
        epoch: Number of the pauses so far.
    """

    full_at_s: float = _NEVER
    open_at_s: float = _NEVER
    paused_at_s: float = _NEVER
    share: float = 1.0
    epoch: int = 0

    def share_at(self, now_s: float) -> float:
        """The share of the rate that may be used now."""
        quiet_s = max(0.0, now_s - self.paused_at_s - QUIET_S)
        return 1.0 if self.share >= 1.0 else min(1.0, self.share + GROWTH_PER_S * quiet_s)


class Memory(Protocol):
    """Where buckets are kept."""

    def held(self) -> AbstractContextManager[MutableMapping[bytes, Tokens]]:
        """The buckets by name, nobody else's until the block ends."""


class InProcess:
    """Buckets that every thread of this process shares."""

    def __init__(self) -> None:
        """Start full."""
        self._tokens: dict[bytes, Tokens] = {}
        self._lock = threading.Lock()

    @contextmanager
    def held(self) -> Iterator[MutableMapping[bytes, Tokens]]:
        """The buckets by name, nobody else's until the block ends."""
        with self._lock:
            yield self._tokens


class RateLimiter:
    """Buckets for everybody who shares their memory.

    Times are seconds of one monotonic clock, handed in by the caller, who does the waiting.
    """

    def __init__(
        self,
        *,
        rate_per_s: float = RATE_PER_S,
        burst: int = BURST,
        levels: tuple[Level, ...] = (),
        memory: Memory | None = None,
    ) -> None:
        """Start full: with one bucket of a rate and burst, or with the given levels, the key's first."""
        self._levels = levels or (Level(b"", rate_per_s, burst),)
        self._memory = memory or InProcess()
        self._lines: dict[Lane, threading.Lock] = {
            "bulk": threading.Lock(),
            "spare": threading.Lock(),
        }

    def reserve(
        self, now_s: float, *, latest_s: float | None = None, lane: Lane = "interactive"
    ) -> Turn | None:
        """The next free turn; None if it would come after `latest_s`.

        An interactive turn is taken, however far ahead. In the other lanes one that is ahead is not.
        """
        with self._memory.held() as tokens:
            known = {level.name: _sane(tokens, level, now_s) for level in self._levels}
            at_s = max(
                now_s, *(_free_at(known[one.name], one, now_s, lane) for one in self._levels)
            )
            epoch = known[self._levels[0].name].epoch
            if latest_s is not None and at_s > latest_s:
                return None
            if lane != "interactive" and at_s > now_s:
                return Turn(at_s, epoch, taken=False)
            for level in self._levels:
                found = known[level.name]
                full_at_s = max(found.full_at_s, at_s) + _interval_s(found, level, now_s)
                tokens[level.name] = replace(found, full_at_s=full_at_s)
            return Turn(at_s, epoch)

    def stands(self, turn: Turn) -> bool:
        """Whether a turn that was waited for may be taken: it is ours, and no pause came in between."""
        if not turn.taken:
            return False
        with self._memory.held() as tokens:
            return turn.epoch == tokens.get(self._levels[0].name, Tokens()).epoch

    @contextmanager
    def line(self, lane: Lane, wait_s: float) -> Iterator[bool]:
        """Stand in line with this process's other threads of the lane, so that one asks at a time.

        Yields:
            False if the line did not move up within `wait_s`.
        """
        lock = self._lines.get(lane)
        if lock is None:
            yield True
            return
        held = lock.acquire(timeout=max(wait_s, 0.0))
        try:
            yield held
        finally:
            if held:
                lock.release()

    def pause(self, now_s: float, *, for_s: float, sent_at_s: float) -> None:
        """Nobody sends for so many seconds: the service refused a request that was sent at `sent_at_s`.

        Refusals of requests that were already on their way when a pause began are news of the
        same shortage: they may lengthen the pause, but neither empty the bucket nor cut the rate further.
        """
        level = self._levels[0]
        with self._memory.held() as tokens:
            found = _sane(tokens, level, now_s)
            found = replace(found, open_at_s=max(found.open_at_s, now_s + for_s))
            if sent_at_s > found.paused_at_s:
                cut = replace(
                    found,
                    share=max(LOWEST_SHARE, CUT * found.share_at(now_s)),
                    paused_at_s=now_s,
                    epoch=found.epoch + 1,
                )
                # Empty now: tokens come back while we wait.
                found = replace(
                    cut, full_at_s=now_s + level.burst * _interval_s(cut, level, now_s)
                )
            tokens[level.name] = found


def _free_at(tokens: Tokens, level: Level, now_s: float, lane: Lane) -> float:
    ahead_s = max(level.burst - LEFT[lane] - 1, 0) * _interval_s(tokens, level, now_s)
    return max(tokens.open_at_s, tokens.full_at_s - ahead_s)


def _interval_s(tokens: Tokens, level: Level, now_s: float) -> float:
    return 1.0 / (level.rate_per_s * tokens.share_at(now_s))


def _sane(tokens: Mapping[bytes, Tokens], level: Level, now_s: float) -> Tokens:
    """A bucket as it is known, or a full one where a clock before a restart of the machine filled it in."""
    found = tokens.get(level.name, Tokens())
    if found.paused_at_s > now_s + FAR_S or found.open_at_s > now_s + FAR_PAUSE_S:
        return Tokens(epoch=found.epoch + 1)
    queue_s = level.burst * _interval_s(found, level, now_s) + FAR_S
    return replace(found, full_at_s=_NEVER) if found.full_at_s > now_s + queue_s else found


class Shared:
    """The limiters of this process, one for each address and key; their buckets are the machine's.

    The service counts by key, so two clients with the same key have to count together, one after
    the other too, and in other processes. Nothing else in the room outlives its owner; it holds hashes
    and no keys.
    """

    def __init__(self, folder: Path | None = None) -> None:
        """Start with none; the buckets' file is in a folder, by default the platform's for running programs."""
        self._folder = folder
        self._limiters: dict[str, RateLimiter] = {}
        self._lock = threading.Lock()
        self._memory: Memory | None = None

    def of(self, account: str, service: str = "") -> RateLimiter:
        """The limiter of an address and key (`account`, a hash) at a service's base address."""
        from dialframe.client.bucket_file import BucketFile

        with self._lock:
            if self._memory is None:
                self._memory = BucketFile(self._folder)
            known = self._limiters.get(account)
            if known is None:
                known = self._limiters[account] = RateLimiter(
                    levels=_levels(account, service), memory=self._memory
                )
            return known


def _levels(account: str, service: str) -> tuple[Level, ...]:
    owners = {"key": account}
    return tuple(
        Level(
            hashlib.sha256(f"{one.level}\0{owners.get(one.level, service)}".encode()).digest()[
                :16
            ],
            one.rate_per_s,
            int(one.burst - one.rate_per_s * JITTER_ALLOWED_S),
        )
        for one in BUCKETS
    )


#: The default of `Client(limiter=...)`.
SHARED: Final = Shared()
