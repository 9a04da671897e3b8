"""A lock between processes and threads that the system frees when its holder dies; knows no database."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dialframe.errors import StoreError


@contextmanager
def exclusive(path: Path, *, wait: bool) -> Iterator[bool]:
    """Hold the lock of a file while the block runs.

    Args:
        path: The lock file; made with mode 0600 and left in place.
        wait: Whether to wait for another holder.

    Yields:
        True when the lock is held; False when somebody else has it and `wait` is off.

    Raises:
        StoreError: The lock file cannot be made.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror}; choose another folder") from error
    try:
        yield _take(descriptor, wait)
    finally:
        os.close(descriptor)


if sys.platform == "win32":
    import msvcrt

    def _take(descriptor: int, wait: bool) -> bool:  # noqa: FBT001 - the twin of the one below
        while True:
            try:
                msvcrt.locking(descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
            except OSError:
                if not wait:
                    return False
            else:
                return True

else:
    import fcntl

    def _take(descriptor: int, wait: bool) -> bool:  # noqa: FBT001 - private, called in one place
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
