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


@contextmanager
def shared(path: Path) -> Iterator[None]:
    """Hold the lock of a file together with others, so that nobody has it alone while the block runs.

    Where the lock file can be neither made nor opened nobody else can take it either, and on a system
    without shared locks an open file cannot be deleted: there the block runs without.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CREAT, 0o600)
    except OSError:
        yield
        return
    try:
        _join(descriptor)
        yield
    finally:
        os.close(descriptor)


if sys.platform == "win32":
    import msvcrt

    def _join(descriptor: int) -> None:
        """Nothing: the system keeps open files."""

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

    def _join(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_SH)

    def _take(descriptor: int, wait: bool) -> bool:  # noqa: FBT001 - private, called in one place
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
