"""Opens SQLite databases that hold what must not be lost or seen: private files, full flushes, real deletion."""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path
from typing import Final
from urllib.parse import quote

from dialframe.files import FILE_MODE, folder, open_in_place

#: How long to wait for another writer before giving up.
BUSY_S: Final = 5.0


def connect(
    path: Path,
    *,
    read_only: bool = False,
    immutable: bool = False,
    busy_s: float = BUSY_S,
    across_threads: bool = False,
) -> sqlite3.Connection:
    """A connection without implicit transactions: the caller says `BEGIN`.

    A writer flushes every commit to the disk (`synchronous = FULL`) and overwrites what it deletes
    (`secure_delete`), so that a kept row stays and a deleted one is gone.

    Args:
        path: The file; made with mode 0600 where it is missing, but not by a reader.
        read_only: Whether to open it for reading alone.
        immutable: Whether nobody can write it meanwhile, so that no lock is needed (read-only disks).
        busy_s: Seconds to wait for a lock.
        across_threads: Whether the caller sees to it that one thread uses it at a time.

    Raises:
        OSError: The file cannot be made, or a link stands in its place.
        sqlite3.Error: It is no database, or cannot be opened.
    """
    if not read_only:
        make_private(path)
    # sqlite.org/uri.html: `immutable` takes no locks, `rw` does not make the file.
    mode = "immutable=1" if immutable else "mode=ro" if read_only else "mode=rw"
    connection = sqlite3.connect(
        f"file:{quote(str(path.absolute()))}?{mode}",
        uri=True,
        timeout=busy_s,
        isolation_level=None,
        check_same_thread=not across_threads,
    )
    try:
        if not read_only:
            # sqlite.org/pragma.html: each commit waits for the disk, and deleted content is overwritten with zeros.
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA secure_delete = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def make_private(path: Path) -> None:
    """Make the file, readable by its owner alone, before SQLite does: its journal takes the mode from it.

    Raises:
        OSError: The file cannot be made, or a link stands in its place.
    """
    folder(path.parent)
    # sqlite.org/howtocorrupt.html, 2.2: closing any descriptor of a database drops the locks that SQLite holds on it,
    # so that one which is there is not opened.
    if path.is_symlink() or not path.exists():
        os.close(open_in_place(path, os.O_RDWR))
    path.chmod(FILE_MODE)


def is_full(error: Exception) -> bool:
    """Whether an error of a file or of SQLite says that there is no room left."""
    if isinstance(error, OSError):
        # A quota is full as a disk is.
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    return getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
