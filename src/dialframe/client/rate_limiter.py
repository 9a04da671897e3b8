"""The service's token buckets, mirrored and shared by this user's processes, so that they are never refused.

The contract lets a key send `burst + rate * t` requests in t seconds. Requests sent so arrive so only
if each takes equally long on its way. If that time varies by up to J seconds, what was sent within
`b + rate * t` arrives within `(b + rate * J) + rate * t`; so a client that keeps to `b = burst -
rate * J` is never refused. With J = 1 s that is 10 of the 20.

The other ten are used where answers show that they may be. A request that goes while the requests
before it still fill the bucket for `w` seconds does no harm by being up to `w` seconds late: the
service has then no room that the mirror counts and that it lost by being full. So only requests
with `w < J` can put the mirror wrong, each by what it is late beyond `w`, and an answer says at
the latest how late that was. Each that is unanswered costs one request of the ten at most, however late
it arrives: so one is kept back for each of them, and for the others the largest lateness among them.
A second without requests begins this anew. Answers to interactive requests are not counted: a single
call should cost one turn of the file.

A bucket is kept as one number, the time at which it will be full again (the generic cell rate
algorithm): a request may go when that time is at most `(b - 1) / rate` ahead. There is one for each
level of the contract. Which client and account a key belongs to is not known here: all keys that go to
one address count as of one, which asks for no more room than the contract gives the machine's address.

Three lanes share a bucket. `bulk` leaves two requests of the burst alone, `spare` four; neither takes
a turn that is still to come, so that an `interactive` request never stands behind them. `spare` gets
what `bulk` leaves over.

After a refusal all of the key pause together, and then go slower: a fifth less for each refusal, and
slowly up again. Somebody else may be using the key.

The buckets are in a small file. One turn opens it, locks it, reads its own slots and writes those that
changed: some 30 microseconds. The kernel frees the lock of a killed process, and what it had not written
costs at most one request of the burst. There are no keys in the file: slots are named by hashes.
"""

from __future__ import annotations

import hashlib
import logging
import math
import os
import struct
import threading
import time
import warnings
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal, Protocol

import platformdirs

from dialframe.contract.limits import BUCKETS
from dialframe.files import lock

Lane = Literal["interactive", "bulk", "spare"]

logger: Final = logging.getLogger("dialframe.client")

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

FILE_NAME: Final = "rate-limits"
#: Name, full_at_s, open_at_s, paused_at_s, share, epoch, unanswered, late in milliseconds.
_SLOT: Final = struct.Struct("<16s4diHH")
_MOST: Final = 0xFFFF
#: Slots of buckets that nobody used for longest are given away beyond so many.
SLOTS: Final = 256
#: A lock is held for microseconds: who has it longer is stopped, and must not stop the others.
PATIENCE_S: Final = 1.0

_NEVER: Final = float("-inf")
#: The lane of the `with` block that we are in.
current_lane: Final[ContextVar[Lane]] = ContextVar("dialframe_lane", default="interactive")


@contextmanager
def lane(name: Lane) -> Iterator[None]:
    """Let the calls made inside the `with` block, in this thread, take their turns in a lane."""
    # A context variable: threads and tasks have lanes of their own.
    token = current_lane.set(name)
    try:
        yield
    finally:
        current_lane.reset(token)


@dataclass(frozen=True, slots=True)
class Turn:
    """A place in the queue: when to send, after which pause it was given out, and whether it is taken.

    A turn that is not taken is only news of when to ask again. `queued_s` says for how long requests
    before it fill each bucket, where its answer is of use to the limiter.
    """

    at_s: float
    epoch: int
    taken: bool = True
    queued_s: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Level:
    """One bucket.

    Attributes:
        name: Whose it is: 16 bytes of a hash.
        rate_per_s: Requests a second.
        burst: Requests at once, however unevenly they travel.
        kept_back: Further requests at once, while answers show that they travel evenly.
    """

    name: bytes
    rate_per_s: float
    burst: int
    kept_back: float = 0.0


@dataclass(frozen=True, slots=True)
class Tokens:
    """What is in a bucket.

    Attributes:
        full_at_s: When it will be full again.
        open_at_s: Nobody sends before this.
        paused_at_s: When the last pause began.
        share: The share of the rate that was left by that pause.
        epoch: Number of the pauses so far.
        unanswered: Requests that may put the mirror wrong and are not answered yet.
        late_s: How late one of those that are answered was at most.
    """

    full_at_s: float = _NEVER
    open_at_s: float = _NEVER
    paused_at_s: float = _NEVER
    share: float = 1.0
    epoch: int = 0
    unanswered: int = 0
    late_s: float = 0.0

    def share_at(self, now_s: float) -> float:
        """The share of the rate that may be used now."""
        quiet_s = max(0.0, now_s - self.paused_at_s - QUIET_S)
        return min(1.0, self.share + GROWTH_PER_S * quiet_s)

    def interval_s(self, level: Level, now_s: float) -> float:
        """Seconds in which a request comes back."""
        share = 1.0 if self.share >= 1.0 else self.share_at(now_s)
        return 1.0 / (level.rate_per_s * share)


class Memory(Protocol):
    """Where buckets are kept."""

    def held(
        self, names: Sequence[bytes]
    ) -> AbstractContextManager[MutableMapping[bytes, Tokens]]:
        """The buckets of these names, nobody else's until the block ends."""


class InProcess:
    """Buckets that every thread of this process shares."""

    def __init__(self) -> None:
        """Start full."""
        self._tokens: dict[bytes, Tokens] = {}
        self._lock = threading.Lock()

    @contextmanager
    def held(self, names: Sequence[bytes]) -> Iterator[MutableMapping[bytes, Tokens]]:
        """The buckets by name, nobody else's until the block ends."""
        del names
        with self._lock:
            yield self._tokens


class BucketFile:
    """Buckets in a file, or in this process where there can be no such file, with one warning."""

    def __init__(self, folder: Path | None) -> None:
        """Name the folder, None for the platform's; nothing is made yet."""
        self._folder = folder
        self._path: Path | None = None
        self._lock = threading.Lock()
        self._alone: InProcess | None = None

    @contextmanager
    def held(self, names: Sequence[bytes]) -> Iterator[MutableMapping[bytes, Tokens]]:
        """The buckets of these names, nobody else's until the block ends."""
        # The file's lock is between processes, and does not part threads of one.
        with self._lock:
            descriptor = self._opened()
            if descriptor is None:
                self._alone = self._alone or InProcess()
                with self._alone.held(names) as alone:
                    yield alone
                return
            try:
                # Read afresh each turn: another process may have moved any slot since.
                slots, tokens, starts = _slots(descriptor), {}, {}
                for name in names:
                    start = slots.find(name)
                    # The sixteen bytes may stand across two slots by chance.
                    while start >= 0 and start % _SLOT.size:
                        start = slots.find(name, start + 1)
                    if start >= 0:
                        (_, full_at_s, open_at_s, paused_at_s, share, epoch, unanswered,
                         late_ms) = _SLOT.unpack_from(slots, start)  # fmt: skip
                        tokens[name] = Tokens(full_at_s, open_at_s, paused_at_s, share, epoch,
                                              unanswered, late_ms / 1000)  # fmt: skip
                        starts[name] = start
                before = dict(tokens)
                yield tokens
                for name, bucket in tokens.items():
                    if bucket != before.get(name):
                        _write(descriptor, starts.get(name), name, bucket)
            finally:
                os.close(descriptor)

    def _opened(self) -> int | None:
        """The file, locked; None where that cannot be."""
        if self._alone is not None:
            return None
        try:
            self._path = self._path or _prepared(self._folder)
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | _CLOSED, 0o600)
            until_s = time.monotonic() + PATIENCE_S
            try:
                # Where the system keeps others from reading what is locked, that is a byte behind the slots.
                os.lseek(descriptor, _LOCKED_AT, os.SEEK_SET)
                while not lock(descriptor, wait=False):
                    if time.monotonic() > until_s:
                        raise BlockingIOError
                    time.sleep(0.0002)
            except OSError:
                os.close(descriptor)
                raise
        except OSError as error:
            self._alone = InProcess()
            logger.warning(
                "the rate limit is counted for this process alone, so several at once may be refused: %s",
                error.strerror or type(error).__name__,
            )
            return None
        return descriptor


class RateLimiter:
    """Buckets for everybody who shares their memory.

    Times are seconds of one monotonic clock, given by the caller, who does the waiting.
    """

    def __init__(
        self,
        *,
        rate_per_s: float = RATE_PER_S,
        burst: int = BURST,
        levels: tuple[Level, ...] = (),
        memory: Memory | None = None,
    ) -> None:
        """Start full.

        Args:
            rate_per_s: Requests a second, of a single bucket.
            burst: Requests at once, of a single bucket.
            levels: Several buckets instead of the single one, the key's first.
            memory: Where the buckets are held; in this process without one.
        """
        self._levels = levels or (Level(b"", rate_per_s, burst),)
        self._names = [level.name for level in self._levels]
        self._memory = memory or InProcess()
        self._lines: dict[Lane, threading.Lock] = {
            "bulk": threading.Lock(),
            "spare": threading.Lock(),
        }

    def reserve(
        self, now_s: float, *, latest_s: float | None = None, lane: Lane = "interactive"
    ) -> Turn | None:
        """Find the next free turn.

        An interactive turn is taken, however far ahead. In the other lanes one that is ahead is not.

        Args:
            now_s: This moment, in seconds of the limiter's clock.
            latest_s: The latest moment that is of use, on the same clock; None for any.
            lane: `interactive`, `bulk` or `spare`.

        Returns:
            The turn, or None if it would come after `latest_s`.
        """
        with self._memory.held(self._names) as tokens:
            at_s, buckets = now_s, []
            for level in self._levels:
                bucket = _sane(tokens, level, now_s)
                # One request each for what is unanswered, and for the others the largest lateness among them.
                lost = bucket.unanswered + level.rate_per_s * bucket.late_s
                burst = level.burst + max(level.kept_back - lost, 0.0)
                interval_s = bucket.interval_s(level, now_s)
                ahead_s = max(burst - LEFT[lane] - 1, 0.0) * interval_s
                at_s = max(at_s, bucket.open_at_s, bucket.full_at_s - ahead_s)
                buckets.append((level.name, bucket, interval_s))
            # A pause is put on the key's own bucket, see `pause`.
            epoch = buckets[0][1].epoch
            if latest_s is not None and at_s > latest_s:
                return None
            # A turn ahead would make whoever is interactive stand behind it.
            if lane != "interactive" and at_s > now_s:
                return Turn(at_s, epoch, taken=False)
            queued_s = []
            for name, bucket, interval_s in buckets:
                # For how long the requests before it keep the bucket from being full.
                queue_s = max(bucket.full_at_s - at_s, 0.0)
                queued_s.append(queue_s)
                tokens[name] = Tokens(
                    at_s + queue_s + interval_s,
                    bucket.open_at_s,
                    bucket.paused_at_s,
                    bucket.share,
                    bucket.epoch,
                    # Only one that may find the service's bucket full, and so lose what the mirror counts.
                    bucket.unanswered + (queue_s < JITTER_ALLOWED_S),
                    bucket.late_s,
                )
            if lane == "interactive" or min(queued_s) >= JITTER_ALLOWED_S:
                return Turn(at_s, epoch)
            return Turn(at_s, epoch, queued_s=tuple(queued_s))

    def answered(self, turn: Turn, now_s: float) -> None:
        """Take note that the request of a turn is answered, by the service or by whatever is in front.

        Args:
            turn: What `reserve` gave.
            now_s: This moment, in seconds of the limiter's clock.
        """
        # An answer that took longer says nothing of the way, and its bucket may have begun anew.
        took_s = now_s - turn.at_s
        if not turn.queued_s or took_s > JITTER_ALLOWED_S:
            return
        with self._memory.held(self._names) as tokens:
            for level, queue_s in zip(self._levels, turn.queued_s, strict=True):
                bucket = tokens.get(level.name)
                if bucket is not None and queue_s < JITTER_ALLOWED_S:
                    tokens[level.name] = replace(
                        bucket,
                        unanswered=max(bucket.unanswered - 1, 0),
                        # Late beyond what was queued: up to that the service had no room to lose.
                        late_s=max(bucket.late_s, took_s - queue_s),
                    )

    def stands(self, turn: Turn) -> bool:
        """Whether a turn that was waited for may still be used.

        Args:
            turn: What `reserve` gave.

        Returns:
            True if it was taken and no pause began in between.
        """
        if not turn.taken:
            return False
        with self._memory.held(self._names) as tokens:
            return turn.epoch == tokens.get(self._levels[0].name, Tokens()).epoch

    @contextmanager
    def line(self, lane: Lane, wait_s: float) -> Iterator[bool]:
        """Stand in line with this process's other threads of the lane, so that one asks at a time.

        Args:
            lane: The lane.
            wait_s: Seconds to wait at most.

        Yields:
            False if the line did not move up within `wait_s`.
        """
        lock = self._lines.get(lane)
        if lock is None:
            yield True
            return
        at_front = lock.acquire(timeout=max(wait_s, 0.0))
        try:
            yield at_front
        finally:
            if at_front:
                lock.release()

    def pause(self, now_s: float, *, for_s: float, sent_at_s: float) -> None:
        """Let nobody send for some seconds: the service refused a request.

        Refusals of requests that were already on their way when a pause began are news of the
        same shortage: they may lengthen the pause, but neither empty the bucket nor cut the rate further.

        Args:
            now_s: This moment, in seconds of the limiter's clock.
            for_s: Seconds that the service asks to wait.
            sent_at_s: When the refused request was sent, on the same clock.
        """
        level = self._levels[0]
        with self._memory.held(self._names) as tokens:
            bucket = _sane(tokens, level, now_s)
            bucket = replace(bucket, open_at_s=max(bucket.open_at_s, now_s + for_s))
            if sent_at_s > bucket.paused_at_s:
                cut = replace(
                    bucket,
                    # Somebody else uses the key: with a fifth less each time, all find their share.
                    share=max(LOWEST_SHARE, CUT * bucket.share_at(now_s)),
                    paused_at_s=now_s,
                    epoch=bucket.epoch + 1,
                )
                # Empty now: tokens come back while we wait.
                bucket = replace(
                    cut,
                    full_at_s=now_s + level.burst * cut.interval_s(level, now_s),
                    late_s=JITTER_ALLOWED_S,
                )
            tokens[level.name] = bucket


def _sane(tokens: Mapping[bytes, Tokens], level: Level, now_s: float) -> Tokens:
    """A bucket as it is known, or a full one where a clock before a restart of the machine filled it in."""
    bucket = tokens.get(level.name) or Tokens()
    # Times are of the monotonic clock, which begins anew with the machine.
    if bucket.paused_at_s > now_s + FAR_S or bucket.open_at_s > now_s + FAR_PAUSE_S:
        return Tokens(epoch=bucket.epoch + 1)
    queue_s = (level.burst + level.kept_back) * bucket.interval_s(level, now_s) + FAR_S
    if bucket.full_at_s > now_s + queue_s:
        return replace(bucket, full_at_s=_NEVER, unanswered=0, late_s=0.0)
    # A second without requests, see above.
    if (bucket.unanswered or bucket.late_s) and now_s >= bucket.full_at_s + JITTER_ALLOWED_S:
        # Whatever was sent has arrived: nothing of it is left at the service either.
        return replace(bucket, unanswered=0, late_s=0.0)
    return bucket


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
        with self._lock:
            if self._memory is None:
                self._memory = BucketFile(self._folder)
            limiter = self._limiters.get(account)
            if limiter is None:
                limiter = self._limiters[account] = RateLimiter(
                    levels=_levels(account, service), memory=self._memory
                )
            return limiter


def _levels(account: str, service: str) -> tuple[Level, ...]:
    # Contract, Limits: which client and account a key is of is not known here; one for all is the safe side.
    owners = {"key": account}
    return tuple(
        Level(
            hashlib.sha256(
                f"{bucket.level}\0{owners.get(bucket.level, service)}".encode()
            ).digest()[:16],
            bucket.rate_per_s,
            int(bucket.burst - bucket.rate_per_s * JITTER_ALLOWED_S),
            bucket.rate_per_s * JITTER_ALLOWED_S,
        )
        for bucket in BUCKETS
    )


_CLOSED: Final = getattr(os, "O_CLOEXEC", 0)
#: A gigabyte behind the last slot: a lock may lie where no byte is.
_LOCKED_AT: Final = 1 << 30


def _prepared(folder: Path | None) -> Path:
    if folder is None:
        with warnings.catch_warnings():
            # Where the system names no such folder there is one in its place, and nothing to warn of.
            warnings.simplefilter("ignore")
            folder = platformdirs.user_runtime_path("dialframe", appauthor=False)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    # A folder that others may write to could be swapped for another under us.
    facts = folder.stat()
    # 0o022: writable by group or others.
    if hasattr(os, "getuid") and (facts.st_uid != os.getuid() or facts.st_mode & 0o022):
        raise PermissionError(f"{folder} is not this user's alone")
    return folder / FILE_NAME


def _slots(descriptor: int) -> bytes:
    """All slots: they are few. One that was cut off by a full disk is none."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    slots = os.read(descriptor, SLOTS * _SLOT.size)
    return slots[: len(slots) - len(slots) % _SLOT.size]


def _write(descriptor: int, start: int | None, name: bytes, tokens: Tokens) -> None:
    if start is None:
        # Read again, for the names before this one may have been given slots meanwhile.
        slots = _slots(descriptor)
        start = len(slots)
        if start == SLOTS * _SLOT.size:
            # A bucket that was full first has nothing left to remember.
            full_at_s = [slot[1] for slot in _SLOT.iter_unpack(slots)]
            start = full_at_s.index(min(full_at_s)) * _SLOT.size
    packed = _SLOT.pack(
        name,
        tokens.full_at_s,
        tokens.open_at_s,
        tokens.paused_at_s,
        tokens.share,
        tokens.epoch,
        min(tokens.unanswered, _MOST),
        min(math.ceil(tokens.late_s * 1000), _MOST),
    )
    os.lseek(descriptor, start, os.SEEK_SET)
    os.write(descriptor, packed)


#: The default of `Client(limiter=...)`.
SHARED: Final = Shared()
