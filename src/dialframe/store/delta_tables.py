"""Writes the store's versions as Delta tables for engines on many machines, appending what is new.

Each table is an append-only log of observed versions: `seq`, the table's columns, `_observed_at`,
`_request_id`, `_gone`. A row's current version is the one with the highest `_observed_at`, then `seq`. A
publication and what it covers are one Delta commit under this store's own application id, so a killed one is
neither lost nor doubled. After a number was erased here the tables are written anew and old files deleted.
Digests of what lies on this disk are kept in the store, so that `store verify` can compare them.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.compute as pc

from dialframe.config import OnProgress, Progress
from dialframe.errors import ConfigError, StoreError
from dialframe.files import FILE_MODE, FOLDER_MODE, digest, exclusive, folder, shared
from dialframe.store.files.catalog import counted, live_parts, read_meta, write_meta
from dialframe.store.files.damaged_files import refusing
from dialframe.store.files.database import LEASE, Database
from dialframe.store.files.parts import Part
from dialframe.store.files.sqlite_rows import read_tail, schema
from dialframe.store.files.table_layouts import BY_NAME, Layout
from dialframe.store.forget import erasures

if TYPE_CHECKING:
    from deltalake import DeltaTable

PUBLISH_LOCK: Final = "lock.publish"
MISSING: Final = "publishing needs the extra: pip install 'dialframe[delta]'"
#: The one file of a Delta table that is written over.
_CHECKPOINT: Final = "_delta_log/_last_checkpoint"
#: Statistics in Delta's log would keep the numbers of people who are to be forgotten.
STATISTICS: Final = "seq,_observed_at"


def publish(
    database: Database,
    url: str,
    tables: Sequence[str],
    options: Mapping[str, str],
    tell: OnProgress,
) -> dict[str, int]:
    """Bring the Delta tables below a URL up to date, each below it by its name: see `Store.publish`."""
    try:
        # An extra: only who publishes loads it, and it is large.
        from deltalake.exceptions import DeltaError
    except ImportError:
        raise ConfigError(MISSING) from None
    written: dict[str, int] = {}
    with exclusive(database.folder / PUBLISH_LOCK, wait=True):
        for name in tables:
            address = f"{url.rstrip('/')}/{name}"
            # To tell files that Delta deleted itself from those that were missing before.
            before = _files(address)
            try:
                if "://" not in address:
                    folder(Path(address))
                written[name] = _table(database, BY_NAME[name], address, dict(options))
                root = _local(address)
                # delta-rs makes its files with the mode of the process.
                for path in (root, *root.rglob("*")) if root is not None and root.is_dir() else ():
                    path.chmod(FOLDER_MODE if path.is_dir() else FILE_MODE)
                _note(database, url, address, before)
            except (DeltaError, OSError) as error:
                raise StoreError(f"{address}: {error}") from error
            tell(Progress(f"publish {name}", written[name], written[name]))
    return written


def published(connection: sqlite3.Connection) -> list[str]:
    """Where tables of this store were published, so that an erasure reaches them."""
    return list(read_meta(connection, "published", []))


def problems(database: Database) -> list[tuple[str, str]]:
    """Files of published tables on this disk that are not what was written, and what is wrong with each.

    A table whose folder is gone was taken away as a whole: it is nobody's any more.
    """
    with database.reading() as connection:
        # Of this disk alone: what lies in an object store is its keeper's to check.
        noted = connection.execute("SELECT value FROM meta WHERE name LIKE 'published at %'")
        known = [(_local(address), dict(digests)) for (text,) in noted
                 for address, digests in [json.loads(text)]]  # fmt: skip
    return [
        (str(root / name), "published tables: it is missing or not what was written")
        for root, digests in known
        if root is not None and root.is_dir()
        for name, written in digests.items()
        if not (root / name).is_file() or digest(root / name) != written
    ]


def _note(database: Database, url: str, address: str, before: Collection[str]) -> None:
    """Keep where a table is, and the digests of its files as they were written first."""
    if database.read_only:
        return
    name, root, now = f"published at {address}", _local(address), _files(address)
    with database.writing() as connection:
        # An erasure says where the number may still be.
        urls = published(connection)
        _, noted = read_meta(connection, name, (address, {}))
        # What went meanwhile Delta deleted itself; what was missing before stays missing.
        kept = {file: noted[file] for file in noted if file in now or file not in before}
        if root is not None:
            new = {file: digest(root / file) for file in now - kept.keys() | now & {_CHECKPOINT}}
            write_meta(connection, name, [address, kept | new])
        if url not in urls:
            write_meta(connection, "published", [*urls, url])


def _local(address: str) -> Path | None:
    """The folder of a published table, where it lies on this disk."""
    root = address.removeprefix("file://")
    return None if "://" in root else Path(root)


def _files(address: str) -> set[str]:
    root = _local(address)
    paths = [] if root is None else [path for path in root.rglob("*") if path.is_file()]
    return {path.relative_to(root).as_posix() for path in paths if root is not None}


def _table(database: Database, layout: Layout, address: str, options: dict[str, str]) -> int:
    from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake

    with shared(database.folder / LEASE):
        with database.reading() as connection:
            # This store's application id in Delta's log: different for each store, and no secret.
            app = f"dialframe-{read_meta(connection, 'store_id')}"
            generation = erasures(connection)
            there = DeltaTable.is_deltatable(address, storage_options=options)
            published_table = DeltaTable(address, storage_options=options) if there else None
            whole = (
                published_table is None or _version(published_table, f"{app}-erased") != generation
            )
            since = 0 if whole or published_table is None else _version(published_table, app)
            last, _ = counted(connection, layout)
            parts = [p for p in live_parts(connection, layout) if p.seqs[1] > since]
            tail = read_tail(connection, layout, "seq > ?", [since])
        if last == since and not whole:
            return 0
        # Of each batch, as it goes.
        rows: list[int] = []
        batches = _batches(database, layout, parts, tail, since, rows)
        write_deltalake(
            address,
            pa.RecordBatchReader.from_batches(_shown(layout), batches),
            # An erasure writes all of it anew, since a log of appends would keep what was erased.
            mode="overwrite" if whole else "append",
            schema_mode="overwrite" if whole else "merge",
            configuration={"delta.dataSkippingStatsColumns": STATISTICS} if whole else None,
            storage_options=options,
            commit_properties=CommitProperties(
                app_transactions=[
                    # In the commit itself (Delta protocol, Transaction Identifiers): a killed publication is not
                    # repeated.
                    Transaction(app, last),
                    Transaction(f"{app}-erased", generation),
                ]
            ),
        )
    if whole and published_table is not None:
        made = DeltaTable(address, storage_options=options)
        # Files that the table does not name any more still hold the number.
        made.vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False)
    return sum(rows)


def _batches(
    database: Database,
    layout: Layout,
    parts: Sequence[Part],
    tail: pa.Table,
    since: int,
    rows: list[int],
) -> Iterator[pa.RecordBatch]:
    """Versions after a `seq`; how many each part of them has is added to `rows`."""
    shown = _shown(layout)
    for part in (*parts, None):
        with refusing(database, "publish again"):
            table = tail if part is None else database.shelf.load(part, layout)
        # A part may hold versions from before the last publication too.
        fresh = table.filter(pc.greater(table["seq"], since))
        rows.append(fresh.num_rows)
        yield from fresh.select(shown.names).cast(shown).to_batches()


def _shown(layout: Layout) -> pa.Schema:
    """The columns that are published, text with short offsets, as every engine has them."""
    # `_key` repeats columns, and `_until` changes: a log of appends has no place for it.
    hidden = ("_key", "_until")
    return pa.schema(
        [
            field.with_type(pa.string()) if pa.types.is_large_string(field.type) else field
            for field in schema(layout)
            if field.name not in hidden
        ]
    )


def _version(table: DeltaTable, app: str) -> int:
    version = table.transaction_version(app)
    return 0 if version is None else int(version)
