"""Bytes of an answer into a file, all of them or none; knows files, not HTTP."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from dialframe.config import OnProgress, Progress
from dialframe.errors import ConfigError, StoreError


def target(path: str | Path) -> Path:
    """The file that a download goes to.

    Raises:
        ConfigError: Its folder does not exist, or it is a folder itself.
    """
    file = Path(path)
    if not file.parent.is_dir():
        raise ConfigError(f"path: the folder {file.parent} does not exist: make it first")
    if file.is_dir():
        raise ConfigError(f"path: {file} is a folder: name a file in it")
    return file


def save(
    chunks: Iterable[bytes], file: Path, *, step: str, total: int | None, on_progress: OnProgress
) -> Path:
    """Write chunks to a file that appears, readable by its owner alone, once it is whole.

    Args:
        chunks: The bytes as they arrive.
        file: Where they go; a file that is there is replaced at the end.
        step: What progress is called.
        total: Bytes in all, where it is known.
        on_progress: Told after each chunk.

    Raises:
        StoreError: The file cannot be written.
    """
    try:
        return _save(chunks, file, step, total, on_progress)
    except OSError as error:
        raise StoreError(
            f"{step}: {file} cannot be written ({error.strerror}): make room, or name another file"
        ) from None


def _save(
    chunks: Iterable[bytes], file: Path, step: str, total: int | None, on_progress: OnProgress
) -> Path:
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.", suffix=".part")
    part = Path(name)
    try:
        done = 0
        with os.fdopen(descriptor, "wb") as stream:
            for chunk in chunks:
                stream.write(chunk)
                done += len(chunk)
                on_progress(Progress(step, done, total))
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)
    return file
