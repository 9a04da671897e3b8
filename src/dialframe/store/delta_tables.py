"""Writes the store's versions as Delta tables for engines on many machines, appending what is new.

Each table is an append-only log of observed versions: `seq`, the table's columns, `_observed_at`,
`_request_id`, `_gone`. A row's current version is the one with the highest `_observed_at`, then `seq`. A
publication and what it covers are one Delta commit under this store's own application id, so a killed one is
neither lost nor doubled. After a number was erased here the tables are written anew and old files deleted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.compute as pc

from dialframe.config import OnProgress, Progress
from dialframe.errors import ConfigError, StoreError
from dialframe.files import FILE_MODE, FOLDER_MODE, exclusive, folder, shared
from dialframe.store.catalog import Part, last_seq, live_parts, read_meta, write_meta
from dialframe.store.database import LEASE, Database
from dialframe.store.forget import erasures
from dialframe.store.layouts import BY_NAME, Layout
from dialframe.store.versions import read_pages

if TYPE_CHECKING:
    from deltalake import DeltaTable

PUBLISH_LOCK: Final = "lock.publish"
MISSING: Final = "publishing needs the extra: pip install 'dialframe[delta]'"
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
            root = Path(address.removeprefix("file://"))
            local = "://" not in str(address.removeprefix("file://"))
            try:
                if local:
                    folder(root)
                written[name] = _table(database, BY_NAME[name], address, dict(options))
                # delta-rs makes its files with the mode of the process.
                for path in (root, *root.rglob("*")) if local else ():
                    path.chmod(FOLDER_MODE if path.is_dir() else FILE_MODE)
            except (DeltaError, OSError) as error:
                raise StoreError(f"{address}: {error}") from error
            tell(Progress(f"publish {name}", written[name], written[name]))
    if not database.read_only:
        with database.writing() as connection:
            # An erasure says where the number may still be.
            urls = read_meta(connection, "published", [])
            write_meta(connection, "published", list(dict.fromkeys([*urls, url])))
    return written


def _table(database: Database, layout: Layout, address: str, options: dict[str, str]) -> int:
    from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake

    with shared(database.folder / LEASE):
        with database.reading() as connection:
            # This store's application id in Delta's log: different for each store, and no secret.
            app = f"dialframe-{read_meta(connection, 'store_id')}"
            generation = erasures(connection)
            there = DeltaTable.is_deltatable(address, storage_options=options)
            table = DeltaTable(address, storage_options=options) if there else None
            whole = table is None or _version(table, f"{app}-erased") != generation
            since = 0 if whole or table is None else _version(table, app)
            last = last_seq(connection, layout)
            parts = [part for part in live_parts(connection, layout) if part.last_seq > since]
            young, _ = read_pages(connection, layout)
        if last == since and not whole:
            return 0
        # Of each batch, as it goes.
        rows: list[int] = []
        write_deltalake(
            address,
            pa.RecordBatchReader.from_batches(
                _published_schema(layout), _batches(database, layout, parts, young, since, rows)
            ),
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
    if whole and table is not None:
        made = DeltaTable(address, storage_options=options)
        # Files that the table does not name any more still hold the number.
        made.vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False)
    return sum(rows)


def _batches(
    database: Database,
    layout: Layout,
    parts: Sequence[Part],
    young: pa.Table,
    since: int,
    rows: list[int],
) -> Iterator[pa.RecordBatch]:
    """Versions after a `seq`; how many each part of them has is added to `rows`."""
    shown = _published_schema(layout)
    for part in (*parts, None):
        table = young if part is None else database.shelf.load(part, layout)
        # A part may hold versions from before the last publication too.
        fresh = table.filter(pc.greater(table["seq"], since))
        rows.append(fresh.num_rows)
        yield from fresh.select(shown.names).cast(shown).to_batches()


def _published_schema(layout: Layout) -> pa.Schema:
    """The columns that are published, text with short offsets, as every engine has them."""
    return pa.schema(
        [
            field.with_type(pa.string()) if pa.types.is_large_string(field.type) else field
            for field in layout.schema
            # It changes: a log of appends has no place for it.
            if field.name != "_until"
        ]
    )


def _version(table: DeltaTable, app: str) -> int:
    version = table.transaction_version(app)
    return 0 if version is None else int(version)
