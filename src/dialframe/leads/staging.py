"""Files that are whole or not there: written beside their place, flushed, then renamed; knows no content."""

from __future__ import annotations

import glob
import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

#: Files and folders with personal data are for their owner alone.
FILE_MODE: Final = 0o600
FOLDER_MODE: Final = 0o700
_SUFFIX: Final = ".tmp"


def folder(path: Path) -> Path:
    """The folder, made for its owner alone where it is missing.

    Raises:
        OSError: It cannot be made, or a file stands in its place.
    """
    path.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    return path


def stage(target: Path, fill: Callable[[BinaryIO], object]) -> Path:
    """Let `fill` write a file that is whole on the disk, under a name of its own beside the target.

    Raises:
        OSError: The disk is full or the folder cannot be written; nothing is left behind.
    """
    handle, name = tempfile.mkstemp(prefix=_prefix(target), suffix=_SUFFIX, dir=target.parent)
    path = Path(name)
    try:
        with os.fdopen(handle, "w+b") as file:
            fill(file)
            file.flush()
            os.fsync(file.fileno())
        path.chmod(FILE_MODE)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path


def publish(staged: Mapping[Path, Path]) -> None:
    """Give staged files, by target, their names, in order.

    Raises:
        OSError: A file cannot be renamed; what is not renamed yet is taken away.
    """
    try:
        for target, path in staged.items():
            path.replace(target)
    finally:
        for path in staged.values():
            path.unlink(missing_ok=True)
    for parent in {target.parent for target in staged}:
        _sync(parent)


def sweep(parent: Path, begin: str) -> None:
    """Take away what a killed process staged for targets whose names begin so; only for who is alone there."""
    for path in parent.glob(f".{glob.escape(begin)}.*{_SUFFIX}"):
        path.unlink(missing_ok=True)


def _prefix(target: Path) -> str:
    return f".{target.name}."


def _sync(parent: Path) -> None:
    """Make the names themselves last; a system that cannot open a folder keeps them in its own time."""
    with suppress(OSError):
        descriptor = os.open(parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
