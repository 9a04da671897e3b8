"""Backs a store up to another place, taking over only what is new, and puts a backup back.

A backup is a folder with the store's parts, a copy of its SQLite file, and `backup.json`, which names them with their
digests. It is replaced last: a process killed before leaves the older backup, which has all its files still.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, Final

from dialframe.errors import ConfigError, StoreError
from dialframe.files import (
    digest,
    exclusive,
    flush_names,
    folder,
    note_files,
    stage,
    staged_folder,
    sweep,
    write_text,
)
from dialframe.store.catalog import live_parts
from dialframe.store.damage import problems, verify
from dialframe.store.database import FILE, PARTS_LOCK, Database
from dialframe.store.layouts import LAYOUTS
from dialframe.store.parts import FOLDER

MANIFEST: Final = "backup.json"
#: Where stores are kept that a backup was put in the place of.
REPLACED: Final = "replaced"
_SCHEMA: Final = "dialframe.backup/2"
_DATABASE: Final = "store-"


def replaced(root: Path) -> list[Path]:
    """Folders of stores of this folder that a backup was put in the place of."""
    return sorted((root / REPLACED).glob("*-*"))


def made_at(place: Path) -> datetime | None:
    """When the backup in a folder was last brought up to date, UTC; None where there is none."""
    path = place / MANIFEST
    return datetime.fromtimestamp(path.stat().st_mtime, UTC) if path.is_file() else None


def backup(store: Path, target: Path) -> Path:
    """Bring the backup of a store up to date, in a folder for backups, there under the store's name.

    Raises:
        StoreError: The store is not what was written, or the disk refuses; an older backup stays as it was.
    """
    place = target / store.name
    database = Database(store)
    try:
        # Nobody seals, merges or deletes parts meanwhile; whoever appends goes on.
        with exclusive(store / PARTS_LOCK, wait=True):
            if faults := problems(database):
                raise StoreError(
                    f"{store / faults[0].file}: {faults[0].what}; no backup was made of what is damaged"
                )
            folder(place / FOLDER)
            sweep(place, FILE)
            copied = stage(place / FILE, lambda _: None)
            with closing(sqlite3.connect(copied)) as written, database.reading() as connection:
                connection.backup(written)
                parts = [part for layout in LAYOUTS for part in live_parts(connection, layout)]
            name = f"{_DATABASE}{digest(copied)}.sqlite"
            copied.replace(place / name)
            for part in parts:
                path = place / FOLDER / part.name
                if not path.exists():
                    _copy(database.shelf.folder / part.name, path)
        manifest: dict[str, Any] = {
            "schema": _SCHEMA,
            "database": name,
            "parts": {part.name: part.digest for part in parts},
        }
        write_text(json.dumps(manifest, indent=1), place / MANIFEST)
        _remove_older(place, name, {part.name for part in parts})
        note_files([place])
    except OSError as error:
        raise StoreError(f"{place}: {error.strerror or error}; the backup is not made") from error
    finally:
        database.close()
    return place


def _copy(source: Path, target: Path) -> None:
    """Copy a file whole or not at all, brought to the disk."""

    def fill(file: BinaryIO) -> None:
        with source.open("rb") as read:
            shutil.copyfileobj(read, file)

    stage(target, fill).replace(target)
    flush_names(target.parent)


def _remove_older(place: Path, database: str, parts: set[str]) -> None:
    """Delete what the manifest does not name any more: what was merged, pruned, and forgotten."""
    for path in (*place.glob(f"{_DATABASE}*"), *(place / FOLDER).iterdir()):
        if path.name != database and path.name not in parts:
            path.unlink(missing_ok=True)


def restore(source: Path, store: Path, now: datetime, *, replace: bool = False) -> Path | None:
    """Put a backup in the place of a store; gives where the one that stood there (if `replace`) is kept.

    Whom the evidence log has erased since is erased again when the store is opened.

    Raises:
        ConfigError: A store stands there and `replace` is off.
        StoreError: The backup is not what was written, or the disk refuses.
    """
    # Before anything is moved: a backup that is not whole takes no store's place.
    name, parts = _check_backup(source)
    if store.exists() and not replace:
        raise ConfigError(
            f"{store} holds a store already; pass --replace to put the backup in its place, which keeps it beside"
        )
    # A folder deeper than stores are looked for.
    kept = store.parent / REPLACED / f"{store.name}-{now.astimezone(UTC):%Y%m%dT%H%M%SZ}"
    restored = store.with_name(f"{store.name}.restored")
    try:
        with staged_folder(restored, replace=True) as staging:
            folder(staging / FOLDER)
            _copy(source / name, staging / FILE)
            for part in parts:
                _copy(source / FOLDER / part, staging / FOLDER / part)
        if store.exists():
            folder(kept.parent)
            store.rename(kept)
        # Two names change; killed between them, the old one is in `replaced`, and nothing is lost.
        restored.rename(store)
    except OSError as error:
        raise StoreError(f"{store}: {error.strerror or error}; nothing was replaced") from error
    store.chmod(0o700)
    return kept if kept.exists() else None


def mend(source: Path, store: Path) -> list[str] | None:
    """Bring back parts of a store that are missing or damaged, where a backup has all of them.

    Gives their names; None where something else is wrong, or a part is not in the backup.

    Raises:
        StoreError: The backup is not what was written, or the disk refuses.
    """
    wrong = verify(store)
    names = [Path(fault.file).name for fault in wrong if fault.part]
    _, parts = _check_backup(source)
    if len(names) < len(wrong) or not parts.keys() >= set(names):
        return None
    try:
        with exclusive(store / PARTS_LOCK, wait=True):
            for name in names:
                _copy(source / FOLDER / name, store / FOLDER / name)
    except OSError as error:
        raise StoreError(f"{store}: {error.strerror or error}") from error
    return names


def _check_backup(source: Path) -> tuple[str, dict[str, str]]:
    """The SQLite file and the parts of a backup, with their digests; every file is what was written."""
    try:
        manifest = json.loads((source / MANIFEST).read_text(encoding="utf-8"))
        database, parts = str(manifest["database"]), dict(manifest["parts"])
    except (OSError, ValueError, KeyError, TypeError):
        raise StoreError(f"{source}: it is no backup of a store; it has no {MANIFEST}") from None
    wanted = {f"{FOLDER}/{name}": written for name, written in parts.items()}
    wanted[database] = database.removeprefix(_DATABASE).removesuffix(".sqlite")
    for name, written in wanted.items():
        path = source / name
        if not path.is_file() or digest(path) != written:
            raise StoreError(f"{path}: it is not what was written; take another backup")
    return database, parts
