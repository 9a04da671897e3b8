"""Files and folders that a flow writes: whole or not there, for their owner, by one process at a time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

import pandas as pd

from dialframe.errors import StoreError
from dialframe.leads import staging
from dialframe.leads.escaping import escape, escape_frame
from dialframe.leads.staging import folder
from dialframe.store.lock import exclusive

__all__ = ["alone", "csv_bytes", "folder", "write_bytes", "write_csv", "write_text"]

#: A folder may be held by a process that is about to end: so often, and so far apart, it is asked for.
_TRIES: Final = 40
_PAUSE_S: Final = 0.05
#: Lock of a whole folder.
LOCK: Final = ".dialframe.lock"


def write_bytes(content: bytes, path: Path) -> Path:
    """Write a file so that its name never stands for half of it.

    Raises:
        OSError: The disk is full or the folder cannot be written; nothing is left behind.
    """
    folder(path.parent)
    staging.publish({path: staging.stage(path, lambda file: file.write(content))})
    return path


def write_text(text: str, path: Path) -> Path:
    """Write text as UTF-8; see `write_bytes`."""
    return write_bytes(text.encode(), path)


def write_csv(frame: pd.DataFrame, path: Path) -> Path:
    """Write a frame as CSV; see `csv_bytes` and `write_bytes`."""
    return write_bytes(csv_bytes(frame), path)


def csv_bytes(frame: pd.DataFrame) -> bytes:
    """A frame as CSV that a spreadsheet cannot run: UTF-8, instants as ISO 8601, nulls as nothing.

    A text that begins like a formula carries an apostrophe (`leads.escaping`, which takes it off).
    """
    safe = escape_frame(frame)
    for name in safe.columns:
        if safe[name].dtype == object:
            safe[name] = [escape(cell) if isinstance(cell, str) else cell for cell in safe[name]]
    return str(safe.to_csv(index=False, date_format="%Y-%m-%dT%H:%M:%S.%fZ")).encode()


@contextmanager
def alone(where: Path, lock: str = LOCK) -> Iterator[None]:
    """Be the only process that writes into a folder while the block runs.

    The lock goes with its holder, however that ends; its file is taken away.

    Raises:
        StoreError: Another process is at work there.
        OSError: The folder cannot be made.
    """
    file = folder(where) / lock
    with ExitStack() as held:
        for _ in range(_TRIES):
            if _taken(file, held):
                break
            time.sleep(_PAUSE_S)
        else:
            raise StoreError(
                f"another run is writing into {where}; wait for its end, or choose another folder"
            )
        try:
            yield
        finally:
            # A system that cannot take an open file away leaves it there, without a lock.
            with suppress(OSError):
                file.unlink()


def _taken(file: Path, held: ExitStack) -> bool:
    """Whether the lock is ours, and of the file that others will look at."""
    with ExitStack() as attempt:
        if not attempt.enter_context(exclusive(file, wait=False)):
            return False
        # Who held it before took the file away: then what is locked has no name any more.
        # Of the descriptor nothing is known here, so the lock is asked for a second time.
        with exclusive(file, wait=False) as free:
            if free:
                return False
        held.enter_context(attempt.pop_all())
    return True
