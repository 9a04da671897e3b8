"""Files that are whole or not there: written beside their place, flushed, then renamed; owner only."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pandas as pd

FOLDER_MODE = 0o700
FILE_MODE = 0o600


def folder(path: Path) -> Path:
    """The folder, made for its owner alone where it is missing.

    Raises:
        OSError: It cannot be made, or a file stands in its place.
    """
    path.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    return path


def write_bytes(content: bytes, path: Path) -> Path:
    """Write a file so that its name never stands for half of it.

    Raises:
        OSError: The disk is full or the folder cannot be written; nothing is left behind.
    """
    folder(path.parent)
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(FILE_MODE)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return path


def write_text(text: str, path: Path) -> Path:
    """Write text as UTF-8; see `write_bytes`."""
    return write_bytes(text.encode(), path)


def write_csv(frame: pd.DataFrame, path: Path) -> Path:
    """Write a frame as CSV: UTF-8, instants as ISO 8601, nulls as nothing; see `write_bytes`."""
    return write_text(frame.to_csv(index=False, date_format="%Y-%m-%dT%H:%M:%S.%fZ"), path)
