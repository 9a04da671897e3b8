"""The one folder that a page works in: paths inside it, uploads, the manifest of what was written, and the work left off.

What was decided about the folder's last file is saved outside it, under the folder's own name, so that a new kernel can go
on: the file's name, its hash and the recipe. What is damaged there counts as never saved.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dialframe.errors import ConfigError, DialframeError
from dialframe.files import digest, note_files, write_text
from dialframe.flows.lead_cleaning import Recipe
from dialframe.leads import ColumnMap

#: Below the 255 bytes of a file's name (POSIX.1-2017, NAME_MAX), with room for endings.
_NAME_CHARS: Final = 120
#: Names that are suggested; whoever has more types the name.
_MOST_NAMES: Final = 300

#: Another form gets another number, and an older one is not guessed at.
_WORK_SCHEMA: Final = "dialframe.workbench/1"
#: What a person decides about reading; none of it is of a record.
_DECIDED: Final = ("region", "encoding", "delimiter", "sheet", "header")


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
    # Control characters and right-to-left marks can make a name look like another one.
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
        for entry in self._room.iterdir() if self._room is not None else ():
            if entry != path.parent:
                shutil.rmtree(entry, ignore_errors=True)


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
    return {
        "kind": kind, "name": path.name, "size_bytes": path.stat().st_size, "sha256": digest(path),
    }  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """A file and what was decided about it.

    Attributes:
        name: Its name inside the folder, or the name that it was uploaded under.
        uploaded: Whether it came from a browser; such a file is not kept.
        sha256: Its hash.
        recipe: What was decided; without the rules.
        rules_file: Name of the rules file inside the folder, empty for none.
    """

    name: str
    uploaded: bool
    sha256: str
    recipe: Recipe
    rules_file: str = ""


def work_path(room: Path, folder: Path) -> Path:
    """Where the work of a folder is kept."""
    name = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()
    return room / f"{name[:32]}.json"


def save_work(work: Work, path: Path) -> None:
    """Keep it; what was kept before goes.

    Raises:
        OSError: The disk is full or the place cannot be written.
    """
    decisions = {name: getattr(work.recipe, name) for name in _DECIDED}
    # By the names of columns alone: no cell of the list is kept.
    mapping = work.recipe.mapping
    fields = mapping.fields() if isinstance(mapping, ColumnMap) else mapping
    saved = {"schema": _WORK_SCHEMA, "name": work.name, "uploaded": work.uploaded, "sha256": work.sha256,
            "rules_file": work.rules_file, "mapping": fields and dict(fields), **decisions}  # fmt: skip
    write_text(json.dumps(saved, ensure_ascii=False, indent=2) + "\n", path)


def load_work(path: Path) -> Work | None:
    """What was kept, or None."""
    try:
        saved = json.loads(path.read_text(encoding="utf-8"))
        # An older form is not guessed at.
        if saved["schema"] != _WORK_SCHEMA:
            return None
        # JSON has lists alone, and the columns of a field are a tuple.
        mapping = saved["mapping"] and {
            field: tuple(columns) if isinstance(columns, list) else columns
            for field, columns in saved["mapping"].items()
        }
        recipe = Recipe(mapping=mapping, **{name: saved[name] for name in _DECIDED})
        name, digest, rules = str(saved["name"]), str(saved["sha256"]), str(saved["rules_file"])
        return Work(name, bool(saved["uploaded"]), digest, recipe, rules)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, DialframeError):
        return None
