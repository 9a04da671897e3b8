"""Repetition among more keys than fit into memory, found by DuckDB."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Final

import duckdb
import numpy as np
import pyarrow as pa

from dialframe.leads.dedupe.compare import Again

#: Memory that DuckDB may take before it uses the disk.
MEMORY_LIMIT: Final = "200MB"
_ROWS: Final = 50_000
#: Rows that are handed over at once.
_TAKEN: Final = 500_000
_FOUND: Final = """
    create table again as
    with firsts as (
        select key, min(record) as kept, arg_min(line, record) as line
        from keys group by key having count(*) > 1
    )
    select record, kept, firsts.line as line
    from keys join firsts using (key)
    where record <> kept
    order by record
"""


class OutOfCore:
    """Finds repetition in a database of its own that lies in a folder.

    Args:
        folder: Where the database and what it cannot hold in memory go; the caller removes it.
        memory_limit: Memory that DuckDB may take, as it writes sizes.
    """

    def __init__(self, folder: Path, memory_limit: str = MEMORY_LIMIT) -> None:
        number = next(at for at in count() if not (folder / f"repeats{at}.duckdb").exists())
        path = folder / f"repeats{number}.duckdb"
        self._connection = duckdb.connect(
            str(path),
            config={
                "memory_limit": memory_limit,
                "temp_directory": str(folder / f"repeats{number}.tmp"),
                "threads": 1,
                "preserve_insertion_order": False,
            },
        )
        self._waiting: list[pa.RecordBatch] = []
        self._rows = 0
        self._is_made = self._is_found = False

    def add(self, records: np.ndarray, keys: np.ndarray | pa.Array, lines: np.ndarray) -> None:
        """The next records with their keys and physical lines."""
        batch = pa.RecordBatch.from_arrays(
            [
                pa.array(records),
                pa.array(keys) if isinstance(keys, np.ndarray) else keys,
                pa.array(lines),
            ],
            names=["record", "key", "line"],
        )
        self._waiting.append(batch)
        self._rows += len(batch)
        if self._rows >= _TAKEN:
            self._flush()

    def found(self) -> Iterator[Again]:
        """Records whose key an earlier one has, in order."""
        self._flush()
        if not self._is_made:
            return
        if not self._is_found:
            self._connection.execute(_FOUND)
            self._connection.execute("drop table keys")
            self._is_found = True
        rows = self._connection.sql("select record, kept, line from again order by record")
        for batch in rows.to_arrow_reader(_ROWS):
            yield Again(*(one.to_numpy() for one in batch.columns))

    def close(self) -> None:
        """Give back what was held."""
        self._connection.close()

    def _flush(self) -> None:
        if not self._waiting:
            return
        taken = pa.Table.from_batches(self._waiting)  # noqa: F841 - DuckDB finds it by its name
        verb = "insert into keys" if self._is_made else "create table keys as"
        self._connection.execute(f"{verb} select * from taken")
        self._is_made = True
        self._waiting, self._rows = [], 0
