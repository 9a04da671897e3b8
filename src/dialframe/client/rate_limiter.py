"""The key's token bucket, mirrored and shared by this user's processes, so that the service refuses nobody.

The contract lets a key send `burst + rate * t` requests in t seconds. Requests sent so arrive so only if each
takes equally long on its way. If that time varies by up to J seconds, what was sent within `b + rate * t`
arrives within `(b + rate * J) + rate * t`; so a client that keeps to `b = burst - rate * J` is never refused.
With J = 1 s that is 10 of the 20.

The bucket is one number, the time at which it will be full again (the generic cell rate algorithm): a request
may go when that time is at most `(b - 1) / rate` ahead. `bulk` requests leave two tokens alone and never take a
turn that is still to come, so that a person's single call does not stand behind a sync.

After a refusal everybody with this key pauses for as long as the service asks, and begins with an empty bucket:
somebody else may be using the key.

Each key has a file of a few bytes. A turn opens it, locks it, reads the bucket and writes it back. The kernel
frees the lock of a killed process. No key is in the file: it is named by a hash.
"""

from __future__ import annotations

import logging
import os
import struct
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeVar

from dialframe.contract.limits import BUCKETS
from dialframe.files import lock

T = TypeVar("T")

logger: Final = logging.getLogger("dialframe.client")

JITTER_ALLOWED_S: Final = 1.0
RATE_PER_S: Final = BUCKETS[0].rate_per_s
BURST: Final = int(BUCKETS[0].burst - RATE_PER_S * JITTER_ALLOWED_S)
#: Requests of the burst that bulk work leaves to others.
LEFT_BY_BULK: Final = 2
#: A bucket that will be full only after this, or a pause that lasts longer, was written by another clock.
FAR_S: Final = 3_600.0
FAR_PAUSE_S: Final = 86_400.0

_BUCKET: Final = struct.Struct("<3di")
_NEVER: Final = float("-inf")
#: A lock is held for microseconds: a process that has it longer is stopped, and must not stop the others.
PATIENCE_S: Final = 1.0
_CLOSED: Final = getattr(os, "O_CLOEXEC", 0)
#: A gigabyte behind the bucket: where a lock keeps others from reading, it may lie where no byte is.
_LOCKED_AT: Final = 1 << 30

#: Whether calls in this thread or task are bulk work.
is_bulk: Final[ContextVar[bool]] = ContextVar("dialframe_bulk", default=False)


@contextmanager
def bulk() -> Iterator[None]:
    """Let calls made inside the `with` block, in this thread or task, leave room for other calls of the key.

    Yields:
        Nothing; the calls inside are those that wait.

    Example:
        with dialframe.client.bulk():
            records = list(client.calls.list())
    """
    token = is_bulk.set(True)
    try:
        yield
    finally:
        is_bulk.reset(token)


@dataclass(frozen=True, slots=True)
class Turn:
    """When to send, and whether the turn is taken; one that is not only says when to ask again.

    Attributes:
        at_s: When, in seconds of the limiter's clock.
        pauses: Number of the pauses before it.
        taken: Whether nobody else gets it.
    """

    at_s: float
    pauses: int
    taken: bool = True


@dataclass(frozen=True, slots=True)
class Bucket:
    """What is in a bucket.

    Attributes:
        full_at_s: When it will be full again.
        open_at_s: Nobody sends before this.
        paused_at_s: When the last pause began.
        pauses: How many pauses there were.
    """

    full_at_s: float = _NEVER
    open_at_s: float = _NEVER
    paused_at_s: float = _NEVER
    pauses: int = 0


class RateLimiter:
    """One bucket for everybody who shares its file, or for the threads of this process without one.

    Times are seconds of one monotonic clock, given by the caller, who does the waiting.
    """

    def __init__(
        self, *, rate_per_s: float = RATE_PER_S, burst: int = BURST, file: str | None = None,
        folder: Path | None = None,
    ) -> None:  # fmt: skip
        """Start full.

        Args:
            rate_per_s: Requests a second.
            burst: Requests at once.
            file: Name of the file that the bucket is kept in; None for this process's memory.
            folder: Folder of the file; None for the platform's folder for running programs.
        """
        self._interval_s = 1.0 / rate_per_s
        self._burst = burst
        self._file = file
        self._folder = folder
        self._path: Path | None = None
        self._lock = threading.Lock()
        # Counted here where there is no file.
        self._bucket = Bucket()

    def reserve(
        self, now_s: float, *, latest_s: float | None = None, bulk: bool = False
    ) -> Turn | None:
        """Find the next free turn, and take it; bulk work takes none that is still to come.

        Args:
            now_s: This moment, in seconds of the limiter's clock.
            latest_s: The latest moment that is of use, on the same clock; None for any.
            bulk: Whether to leave two requests of the burst to others.

        Returns:
            The turn, or None if it would come after `latest_s`.
        """
        ahead_s = max(self._burst - 1 - LEFT_BY_BULK * bulk, 0) * self._interval_s

        def step(bucket: Bucket) -> tuple[Bucket, Turn | None]:
            at_s = max(now_s, bucket.open_at_s, bucket.full_at_s - ahead_s)
            if latest_s is not None and at_s > latest_s:
                return bucket, None
            if bulk and at_s > now_s:
                return bucket, Turn(at_s, bucket.pauses, taken=False)
            full_at_s = max(bucket.full_at_s, at_s) + self._interval_s
            after = Bucket(full_at_s, bucket.open_at_s, bucket.paused_at_s, bucket.pauses)
            return after, Turn(at_s, bucket.pauses)

        return self._change(now_s, step)

    def stands(self, turn: Turn, now_s: float) -> bool:
        """Whether a turn that was waited for may still be used.

        Args:
            turn: What `reserve` gave.
            now_s: This moment, in seconds of the limiter's clock.

        Returns:
            True if it was taken and no pause began in between.
        """
        return turn.taken and self._change(
            now_s, lambda bucket: (bucket, bucket.pauses == turn.pauses)
        )

    def pause(self, now_s: float, *, for_s: float, sent_at_s: float) -> None:
        """Let nobody send for some seconds: the service refused a request.

        Refusals of requests that were already on their way when a pause began may lengthen it, and begin no
        other.

        Args:
            now_s: This moment, in seconds of the limiter's clock.
            for_s: Seconds that the service asks to wait.
            sent_at_s: When the refused request was sent, on the same clock.
        """

        def step(bucket: Bucket) -> tuple[Bucket, None]:
            bucket = replace(bucket, open_at_s=max(bucket.open_at_s, now_s + for_s))
            if sent_at_s > bucket.paused_at_s:
                bucket = replace(bucket, paused_at_s=now_s, pauses=bucket.pauses + 1)
            # What comes back while nobody sends is left to whoever else uses the key.
            empty = bucket.open_at_s + (self._burst - 1) * self._interval_s
            return replace(bucket, full_at_s=max(bucket.full_at_s, empty)), None

        self._change(now_s, step)

    def _change(self, now_s: float, step: Callable[[Bucket], tuple[Bucket, T]]) -> T:
        """The result of a step, which nobody else's comes between; the bucket that it gives is kept."""
        # The file's lock is between processes, and does not part threads of one.
        with self._lock:
            descriptor = self._open_locked()
            if descriptor is None:
                self._bucket, result = step(_sane(self._bucket, now_s))
                return result
            try:
                return self._on_file(descriptor, now_s, step)
            except OSError as error:
                self._warn(error)
            finally:
                os.close(descriptor)
            self._bucket, result = step(_sane(self._bucket, now_s))
            return result

    @staticmethod
    def _on_file(descriptor: int, now_s: float, step: Callable[[Bucket], tuple[Bucket, T]]) -> T:
        os.lseek(descriptor, 0, os.SEEK_SET)
        data = os.read(descriptor, _BUCKET.size)
        # A file that a full disk cut off says nothing.
        before = Bucket(*_BUCKET.unpack(data)) if len(data) == _BUCKET.size else Bucket()
        after, result = step(_sane(before, now_s))
        if after is not before:
            os.lseek(descriptor, 0, os.SEEK_SET)
            values = (after.full_at_s, after.open_at_s, after.paused_at_s, after.pauses)
            os.write(descriptor, _BUCKET.pack(*values))
        return result

    def _open_locked(self) -> int | None:
        """The file, locked; None where the bucket is kept in memory."""
        if self._file is None:
            return None
        try:
            self._path = self._path or _prepare_folder(self._folder) / self._file
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | _CLOSED, 0o600)
            until_s = time.monotonic() + PATIENCE_S
            try:
                os.lseek(descriptor, _LOCKED_AT, os.SEEK_SET)
                while not lock(descriptor, wait=False):
                    if time.monotonic() > until_s:
                        raise BlockingIOError
                    time.sleep(0.0002)
            except OSError:
                os.close(descriptor)
                raise
        except OSError as error:
            self._warn(error)
            return None
        return descriptor

    def _warn(self, error: OSError) -> None:
        self._file = None
        logger.warning(
            "the rate limit is counted for this process alone, so several at once may be refused: %s",
            error.strerror or type(error).__name__,
        )


def _sane(bucket: Bucket, now_s: float) -> Bucket:
    """A bucket as it was written, or a full one where a clock before a restart of the machine filled it in."""
    # Times are of the monotonic clock, which begins anew with the machine.
    if bucket.open_at_s > now_s + FAR_PAUSE_S or bucket.full_at_s > max(
        now_s + FAR_S, bucket.open_at_s + FAR_S
    ):
        return Bucket(pauses=bucket.pauses + 1)
    return bucket


def _prepare_folder(folder: Path | None) -> Path:
    if folder is None:
        import platformdirs

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
    return folder


class Shared:
    """The limiters of this process, one for each address and key; their buckets are the machine's.

    The service counts by key, so two clients with the same key have to count together, one after the other
    too, and in other processes.
    """

    def __init__(self, folder: Path | None = None) -> None:
        """Start with none; buckets are in files of a folder, by default the platform's for running programs."""
        self._folder = folder
        self._limiters: dict[str, RateLimiter] = {}
        self._lock = threading.Lock()

    def of(self, account: str) -> RateLimiter:
        """The limiter of an address and key (`account`, a hash)."""
        with self._lock:
            if account not in self._limiters:
                name = f"rate-limit-{account[:32]}"
                self._limiters[account] = RateLimiter(file=name, folder=self._folder)
            return self._limiters[account]


#: The default of `Client(limiter=...)`.
SHARED: Final = Shared()
