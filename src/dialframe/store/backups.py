"""Copies a store as it is at one moment, with a manifest of digests, and puts a copy back in its place."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from dialframe.errors import ConfigError, StoreError
from dialframe.files import (
    FILE_MODE,
    FOLDER_MODE,
    digest,
    exclusive,
    folder,
    staged_folder,
    write_text,
)
from dialframe.store.files.catalog import live_parts
from dialframe.store.files.change_log import FOLDER as COPY
from dialframe.store.files.change_log import LOG
from dialframe.store.files.database import FILE, KEYS, PARTS_LOCK, Database
from dialframe.store.files.parts import Damaged
from dialframe.store.files.table_layouts import LAYOUTS

MANIFEST: Final = "backup.json"
#: Where stores are kept that a backup was put in the place of.
REPLACED: Final = "replaced"
_SCHEMA: Final = "dialframe.backup/1"


def replaced(store: Path) -> list[Path]:
    """Folders of what stood where a backup was put in the place of this store."""
    return sorted((store.parent / REPLACED).glob(f"{store.name}-*"))


def backup(store: Path, target: Path, *, replace: bool = False, keys: Path | None = None) -> Path:
    """Copy a store as it is at one moment into a folder for backups, there under the store's name.

    Raises:
        ConfigError: An older backup stands there.
        StoreError: The store is damaged, or the disk refuses; an older backup stays as it was.
    """
    database = Database(store, keys=keys)
    try:
        with (
            _backup(target / store.name, replace=replace) as staging,
            # Nobody seals or merges meanwhile, and nobody writes: one moment for all of it.
            exclusive(store / PARTS_LOCK, wait=True),
            database.writing() as connection,
        ):
            # From a connection of its own: the one that holds the write lock may not be copied from.
            with closing(sqlite3.connect(staging / FILE)) as copied, database.reading() as reading:
                reading.backup(copied)
            folder(staging / COPY / "parts")
            folder(staging / "parts")
            shutil.copyfile(database.copy.path, staging / COPY / LOG)
            for layout in LAYOUTS:
                for part in live_parts(connection, layout):
                    # Whichever of its two files is whole.
                    source = database.shelf.place(part)
                    shutil.copyfile(source, staging / "parts" / part.name)
                    shutil.copyfile(source, staging / COPY / "parts" / part.name)
            if database.key_file.exists():
                # Without it the numbers that were forgotten would come back with the next sync.
                shutil.copyfile(database.key_file, folder(staging / KEYS) / database.key_file.name)
    except Damaged as error:
        raise StoreError(
            f"{store}: {error.part.name} is damaged; run dialframe store repair first"
        ) from None
    finally:
        database.close()
    return target / store.name


@contextmanager
def _backup(made: Path, *, replace: bool) -> Iterator[Path]:
    """An empty folder that becomes a backup, with a manifest of digests, when the block ends well."""
    try:
        with staged_folder(made, replace=replace) as staging:
            yield staging
            digests = {
                path.relative_to(staging).as_posix(): digest(path)
                for path in sorted(staging.rglob("*"))
                if path.is_file()
            }
            manifest = json.dumps({"schema": _SCHEMA, "files": digests}, indent=1)
            write_text(manifest, staging / MANIFEST)
            for path in staging.rglob("*"):
                path.chmod(FOLDER_MODE if path.is_dir() else FILE_MODE)
    except FileExistsError:
        raise ConfigError(
            f"{made} holds an older backup; name another folder, or pass --replace"
        ) from None
    except (OSError, sqlite3.Error) as error:
        words = getattr(error, "strerror", None) or error
        raise StoreError(f"{made}: {words}; no backup was made") from error


def restore(
    source: Path, store: Path, now: datetime, *, replace: bool = False, keys: Path | None = None
) -> Path | None:
    """Put a backup in the place of a store; gives where the one that stood there (if `replace`) is kept.

    Raises:
        ConfigError: A store stands there and `replace` is off.
        StoreError: The backup is not what was written, or the disk refuses.
    """
    # Before anything is moved: a backup that is not whole takes no store's place.
    _check_manifest(source)
    if store.exists() and not replace:
        raise ConfigError(
            f"{store} holds a store already; pass --replace to put the backup in its place, which keeps "
            "it beside"
        )
    # A folder deeper than stores are looked for.
    kept = store.parent / REPLACED / f"{store.name}-{now.astimezone(UTC):%Y%m%dT%H%M%SZ}"
    try:
        with staged_folder(store.with_name(f"{store.name}.restored"), replace=True) as staging:
            shutil.copytree(source, staging, dirs_exist_ok=True)
            (staging / MANIFEST).unlink()
            for key in (staging / KEYS).glob("*"):
                # A key that is there is the one by which the present marks were made.
                if not (target := (keys or store.parent / KEYS) / key.name).exists():
                    write_text(key.read_text(encoding="ascii"), target)
            shutil.rmtree(staging / KEYS, ignore_errors=True)
        if store.exists():
            folder(kept.parent)
            store.rename(kept)
        # Two names change; killed between them, the old one is in `replaced`, and nothing is lost.
        store.with_name(f"{store.name}.restored").rename(store)
    except OSError as error:
        raise StoreError(f"{store}: {error.strerror or error}; nothing was replaced") from error
    store.chmod(0o700)
    return kept if kept.exists() else None


def _check_manifest(source: Path) -> None:
    try:
        manifest = json.loads((source / MANIFEST).read_text(encoding="utf-8"))
        digests = dict(manifest["files"])
    except (OSError, ValueError, KeyError, TypeError):
        raise StoreError(f"{source}: it is no backup of a store; it has no {MANIFEST}") from None
    # Files beyond the list are nobody's, and those of the list have to be there.
    for name, written in digests.items():
        path = source / name
        if not path.is_file() or digest(path) != written:
            raise StoreError(f"{path}: it is not what was written; take another backup")
