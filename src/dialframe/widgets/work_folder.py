"""The one folder that a page works in: paths inside it, uploads, and the manifest of what was written."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from dialframe.errors import ConfigError
from dialframe.files import note_files, write_text

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
        file_names = sorted(
            path.name
            for path in folder.iterdir()
            if path.name.lower().endswith(endings) and not path.name.startswith(".")
        )
    except OSError:
        return ()
    return tuple(file_names[:_MOST_NAMES])


def plain_name(name: str) -> str:
    """The name of an upload without folders and control characters, so that it names no other place."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    printable = "".join(char for char in last if char.isprintable()).strip().lstrip(".")
    return printable[-_NAME_CHARS:] or "upload"


class Uploads:
    """Places for uploads; when this object goes, they go."""

    def __init__(self) -> None:
        self._room: Path | None = None

    def place_for(self, name: str) -> Path:
        """Where an upload of this name is put."""
        if self._room is None:
            self._room = Path(tempfile.mkdtemp(prefix="dialframe-upload-"))
            weakref.finalize(self, shutil.rmtree, self._room, ignore_errors=True)
            # Whoever is forgotten while the page is open may be in one of them.
            note_files([self._room])
        # Each in a place of its own: the one that is open may be at work.
        return Path(tempfile.mkdtemp(dir=self._room)) / plain_name(name)

    def holds(self, path: Path) -> bool:
        """Whether this is a place of an upload."""
        return self._room is not None and path.parent.parent == self._room

    def keep_only(self, path: Path) -> None:
        """Drop every upload but one."""
        for other in self._room.iterdir() if self._room is not None else ():
            if other != path.parent:
                shutil.rmtree(other, ignore_errors=True)


#: Name and version of the manifest's form.
SCHEMA: Final = "dialframe.manifest/1"


def write_manifest(written: Mapping[str, Path]) -> dict[str, Path]:
    """Write `<stem>.manifest.json` beside the files, the first of which begins so; the same bytes give the same manifest.

    Returns:
        The files by name, the manifest last.
    """
    entries = [entry(kind, path) for kind, path in written.items()]
    text = json.dumps({"schema": SCHEMA, "files": entries}, ensure_ascii=False, indent=2)
    first = next(iter(written.values()))
    stem = first.name.partition(".clean.")[0].removesuffix(".zip")
    return {
        **written,
        "manifest": write_text(text + "\n", first.with_name(f"{stem}.manifest.json")),
    }


def entry(kind: str, path: Path) -> dict[str, str | int]:
    """What a file is, its name, its size and its hash."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {
        "kind": kind, "name": path.name, "size_bytes": path.stat().st_size, "sha256": digest,
    }  # fmt: skip
