"""Buckets in a small file that every process of this user shares; knows bytes and locks, no rates.

One transaction opens the file, locks it, reads the slots, writes those that changed, and closes it:
some 50 microseconds. The kernel frees the lock of a killed process, and what it had not written costs
at most one request of the burst. There are no keys in the file: slots are named by hashes.
"""

from __future__ import annotations

import logging
import os
import struct
import sys
import threading
import time
import warnings
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import platformdirs

from dialframe.client.limiter import InProcess, Tokens

logger: Final = logging.getLogger("dialframe.client")

FILE_NAME: Final = "rate-limits"
#: Name, full_at_s, open_at_s, paused_at_s, share, epoch.
_SLOT: Final = struct.Struct("<16s4dq")
#: Slots of buckets that nobody used for longest are given away beyond so many.
SLOTS: Final = 256
#: A lock is held for microseconds: who has it longer is stopped, and must not stop the others.
PATIENCE_S: Final = 1.0


class BucketFile:
    """Buckets in a file, or in this process where there can be no such file, with one warning."""

    def __init__(self, folder: Path | None) -> None:
        """Name the folder, None for the platform's; nothing is made yet."""
        self._folder = folder
        self._path: Path | None = None
        self._lock = threading.Lock()
        self._alone: InProcess | None = None

    @contextmanager
    def held(self) -> Iterator[MutableMapping[bytes, Tokens]]:
        """The buckets by name, nobody else's until the block ends."""
        with self._lock:
            descriptor = self._opened()
            if descriptor is None:
                with self._private().held() as tokens:
                    yield tokens
                return
            try:
                slots = _read(descriptor)
                before = dict(slots)
                yield slots
                _write(descriptor, before, slots)
            finally:
                os.close(descriptor)

    def _private(self) -> InProcess:
        self._alone = self._alone or InProcess()
        return self._alone

    def _opened(self) -> int | None:
        """The file, locked; None where that cannot be."""
        if self._alone is not None:
            return None
        try:
            self._path = self._path or _prepared(self._folder)
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | _CLOSED, 0o600)
            try:
                _take(descriptor)
            except OSError:
                os.close(descriptor)
                raise
        except OSError as error:
            self._private()
            logger.warning(
                "the rate limit is counted for this process alone, so several at once may be refused: %s",
                error.strerror or type(error).__name__,
            )
            return None
        return descriptor


_CLOSED: Final = getattr(os, "O_CLOEXEC", 0)


def _prepared(folder: Path | None) -> Path:
    if folder is None:
        with warnings.catch_warnings():
            # Where the system names no such folder there is one in its place, and nothing to warn of.
            warnings.simplefilter("ignore")
            folder = platformdirs.user_runtime_path("dialframe", appauthor=False)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    facts = folder.stat()
    if hasattr(os, "getuid") and (facts.st_uid != os.getuid() or facts.st_mode & 0o022):
        raise PermissionError(f"{folder} is not this user's alone")
    return folder / FILE_NAME


def _read(descriptor: int) -> dict[bytes, Tokens]:
    data = os.read(descriptor, SLOTS * _SLOT.size)
    # A slot that was cut off by a full disk is none.
    whole = len(data) - len(data) % _SLOT.size
    return {
        name: Tokens(full, open_, paused, share, epoch)
        for name, full, open_, paused, share, epoch in _SLOT.iter_unpack(data[:whole])
    }


def _write(
    descriptor: int, before: dict[bytes, Tokens], after: MutableMapping[bytes, Tokens]
) -> None:
    """Write what changed where it was, and what is new behind it, or over what is oldest."""
    if before == after:
        return
    names = list(before)
    for name in after:
        if name not in before:
            if len(names) < SLOTS:
                names.append(name)
            else:
                names[min(range(SLOTS), key=lambda place: after[names[place]].full_at_s)] = name
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.write(descriptor, b"".join(_SLOT.pack(name, *_values(after[name])) for name in names))


def _values(tokens: Tokens) -> tuple[float, float, float, float, int]:
    return (
        tokens.full_at_s,
        tokens.open_at_s,
        tokens.paused_at_s,
        tokens.share,
        tokens.epoch,
    )


def _take(descriptor: int) -> None:
    until_s = time.monotonic() + PATIENCE_S
    while True:
        try:
            _lock_now(descriptor)
        except BlockingIOError:
            if time.monotonic() > until_s:
                raise
            time.sleep(0.0002)
        else:
            return


if sys.platform == "win32":
    import msvcrt

    def _lock_now(descriptor: int) -> None:
        try:
            os.lseek(descriptor, 1 << 30, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError as error:
            raise BlockingIOError from error
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)

else:
    import fcntl

    def _lock_now(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
