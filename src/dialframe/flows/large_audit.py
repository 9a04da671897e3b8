"""The audit of an account that does not fit into memory: in parts, on one machine or on several."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from weakref import finalize

import pandas as pd
import pyarrow as pa
from pyarrow.fs import LocalFileSystem

from dialframe.account import Account
from dialframe.compliance import Audit
from dialframe.compliance import number_partitions as parts
from dialframe.compliance.tables.query_tables import Question
from dialframe.errors import ConfigError
from dialframe.files import folder as make_folder
from dialframe.flows.audit import EVERYTHING, NOW, with_given
from dialframe.flows.executors import executor
from dialframe.flows.firm_records import Scope, gather, known_states, outcomes, request_codes
from dialframe.frames import (
    CALLBACKS,
    CALLS,
    CAMPAIGNS,
    DNC_CHECKS,
    EVENTS,
    LEADS,
    Table,
    from_records,
)

if TYPE_CHECKING:
    from pyarrow.dataset import Dataset

#: Tables of which an audit in parts reads some rows at a time.
_LARGE: Final = (CALLS, LEADS, DNC_CHECKS)
_ROWS: Final = 100_000
_SMALL: Final = (CAMPAIGNS, CALLBACKS, EVENTS)


def audit_in_parts(
    account: Account,
    *,
    now: Callable[[], datetime] = NOW,
    tables: str | None = None,
    partitions: int | None = None,
    scheduler: str | None = None,
    out: Path | None = None,
    pseudonyms: bytes | None = None,
    scope: Scope = EVERYTHING,
    as_of: datetime | None = None,
) -> Audit:
    """The audit of an account of any size: in parts, each with all calls of its numbers.

    Counts and findings are those of `audit`; frames of every call are not made. What the parts hold
    lies in a folder of its own, which goes when the audit is let go.

    Args:
        account: The account; synced before.
        now: The clock, UTC.
        tables: Folder or URL (as fsspec knows them) with `calls.parquet`, `leads.parquet` and
            `dnc_checks.parquet`, each a file or a folder of files, in place of the store's tables;
            `campaigns`, `callbacks` and `events` too where they are there.
        partitions: How many parts; None: as memory asks.
        scheduler: `threads`, `processes`, or the address of a Dask scheduler whose workers reach
            the parts; None: one part after another.
        out: Where the evidence pack will be, beside which the parts are laid out; None: there will be
            none, so that what it needs is not kept, and they go where temporary files go.
        pseudonyms: Key with which the numbers in it become pseudonyms.
        scope: Period, rules and records.
        as_of: The moment of the audit in place of the clock.

    Raises:
        StoreError: Calls or leads were never read.
        ConfigError: A table is not there or lacks a column, or no scheduler answers.
        OSError: The disk is full.

    Example:
        with dialframe.connect() as account:
            found = audit_in_parts(account, partitions=16, scheduler="processes")
    """
    small = None
    if tables is not None:
        files = {table: _dataset(tables, table) for table in _SMALL}
        small = {
            table.name: from_records(table, rows.to_table().to_pylist())
            for table, rows in files.items()
            if rows is not None
        }
    records = gather(account, scope, now=now, as_of=as_of, large_tables=False, given=small)
    rows = {table.name: _rows_of(account, table, tables, as_of) for table in _LARGE}
    if partitions is None:
        # So that one part with its tables fits the memory of this machine.
        partitions = parts.parts_for(sum(_count(account, table, tables) for table in _LARGE))
    # Beside the pack: linked into it instead of copied, on the same disk.
    room = None if out is None else make_folder(out.parent)
    folder = Path(tempfile.mkdtemp(prefix=".audit-", dir=room))
    try:
        (folder / "rows").mkdir(mode=0o700)
        laid = parts.split(rows, folder / "rows", partitions)

        def meaning(leads: pd.DataFrame, calls: pd.DataFrame) -> tuple[Any, Any]:
            return known_states(leads, scope.state_field), outcomes(calls, scope.taxonomy)

        data_version = "; ".join(
            f"{name} {laid.rows[name]:,} rows {laid.hashes[name]}" for name in sorted(laid.rows)
        )
        of_rows = {
            "dnc_codes": request_codes(laid.words, scope.taxonomy), "states": None, "outcomes": None
        }  # fmt: skip
        question = Question(
            now=records.at, since=scope.since, until=scope.until, began_at=records.began_at,
            taxonomy=scope.taxonomy.version, data_version=data_version, **records.given(scope) | of_rows,
        )  # fmt: skip
        with _workers(scheduler) as workers:
            result = parts.in_parts(
                laid, question, folder=folder, callbacks=records.callbacks, meaning=meaning,
                workers=workers, packed=out is not None, pseudonyms=pseudonyms,
            )  # fmt: skip
        shutil.rmtree(folder / "rows", ignore_errors=True)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    # The findings are read from there for as long as the audit is held.
    finalize(result.engine, shutil.rmtree, folder, ignore_errors=True)
    options = {"state_field": scope.state_field, "tables": tables, "parts": partitions}
    return with_given(account, result, records, scope, now=now, as_of=as_of, options=options)


@contextmanager
def _workers(scheduler: str | None) -> Iterator[parts.Workers | None]:
    """What runs the parts: one after another, threads or processes of this machine, or a cluster's workers."""
    if scheduler is None:
        yield None
    elif scheduler == "threads":
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            yield threads.map
    else:
        with executor(None if scheduler == "processes" else scheduler) as workers:
            yield workers.map


def _rows_of(
    account: Account, table: Table, tables: str | None, as_of: datetime | None
) -> parts.Rows:
    """The rows of a table some at a time: the store's, or those of Parquet files."""
    if tables is not None:
        files = _parquet(tables, table)
        if isinstance(files.filesystem, LocalFileSystem):
            # Workers read files of their own disk themselves; else the rows go through here.
            return parts.Files(tuple(files.files))
        return lambda: map(_table, files.to_batches(batch_readahead=1, fragment_readahead=1))
    if table == DNC_CHECKS:
        checks = pa.Table.from_pandas(account.dnc_checks(as_of=as_of), preserve_index=False)
        return lambda: map(_table, checks.to_batches(_ROWS))
    return lambda: map(_table, account.store.batches(table, as_of=as_of))


def _table(batch: pa.RecordBatch) -> pa.Table:
    return pa.Table.from_batches([batch])


def _count(account: Account, table: Table, tables: str | None) -> int:
    if tables is not None:
        return int(_parquet(tables, table).count_rows())
    if table == DNC_CHECKS:
        return len(account.dnc_checks())
    return account.store.info().table(table.name).rows


def _parquet(tables: str, table: Table) -> Dataset:
    """The Parquet files of a table; a ConfigError where there are none."""
    files = _dataset(tables, table)
    if files is None:
        raise ConfigError(
            f"{tables}: there is no {table.name}.parquet; export it: "
            f"dialframe export {table.name} --to {table.name}.parquet"
        )
    return files


def _dataset(tables: str, table: Table) -> Dataset | None:
    """The same, None where there are none."""
    import fsspec
    from pyarrow import dataset

    try:
        files, inside = fsspec.core.url_to_fs(tables)
        named = f"{inside.rstrip('/')}/{table.name}"
        paths = [path for path in (f"{named}.parquet", named) if files.exists(path)]
        return dataset.dataset(paths[0], filesystem=files, format="parquet") if paths else None
    except (ValueError, ImportError, OSError) as error:
        raise ConfigError(f"{tables}: {table.name} cannot be read: {error}") from error
