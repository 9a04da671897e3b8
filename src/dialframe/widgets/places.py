"""Where a page may read and write: inside one folder, and under plain names; opens no file."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from dialframe.errors import ConfigError

_NAME_CHARS: Final = 120
_MOST_NAMES: Final = 300


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


def names(folder: Path, endings: tuple[str, ...]) -> tuple[str, ...]:
    """Files of a folder with one of these endings, by name; the first few hundred."""
    try:
        found = sorted(
            path.name
            for path in folder.iterdir()
            if path.name.lower().endswith(endings) and not path.name.startswith(".")
        )
    except OSError:
        return ()
    return tuple(found[:_MOST_NAMES])


def plain_name(name: str) -> str:
    """The name of an upload without folders and control characters, so that it names no other place."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    kept = "".join(char for char in last if char.isprintable()).strip().lstrip(".")
    return kept[-_NAME_CHARS:] or "upload"
