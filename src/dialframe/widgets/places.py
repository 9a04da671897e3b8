"""Where a page may read and write: inside one folder, and under plain names; touches no file."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from dialframe.errors import ConfigError

_NAME_CHARS: Final = 120


def inside(folder: Path, name: str | Path) -> Path:
    """A path inside a folder, with links followed.

    Raises:
        ConfigError: It leads out of the folder.
    """
    try:
        path = (folder / name).resolve()
        within = path.is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):
        within = False
    if not within:
        raise ConfigError(f"{str(name)!r} is not inside the folder; name a file of the folder")
    return path


def plain_name(name: str) -> str:
    """The name of an upload without folders and control characters, so that it names no other place."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    kept = "".join(char for char in last if char.isprintable()).strip().lstrip(".")
    return kept[-_NAME_CHARS:] or "upload"
