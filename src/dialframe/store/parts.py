"""Sealed parts: immutable Parquet files.

A part is written under another name, brought to the disk, and only then given its own; nobody looks for it before
the database names it. Every page that is read is compared with its checksum (Parquet, Data Pages: CRC32), so that a
changed value is an error at the next read; `verify` compares the digest of the whole file.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dialframe import files
from dialframe.errors import StoreError
from dialframe.store.catalog import Part
from dialframe.store.layouts import FEW, FOREVER, Layout
from dialframe.store.records import Value, conformed

FOLDER: Final = "parts"
SUFFIX: Final = ".parquet"
#: Where files go that the catalog does not name, or that are damaged: nothing of the kind is deleted.
ASIDE: Final = "set-aside"
#: Rows that are skipped or read together.
GROUP_ROWS: Final = 65_536

Times = tuple[Value, Value]


class Vanished(StoreError):
    """A part's file is not there: it was replaced since the snapshot, or somebody removed it."""

    def __init__(self, path: Path) -> None:
        super().__init__(str(_not_written(path, "it is missing")))
        self.path = path


class Shelf:
    """The parts of one store.

    Attributes:
        folder: Where they are.
        aside: Where files go that are damaged, or that nobody names.
    """

    def __init__(self, store: Path) -> None:
        """The parts of the store in a folder."""
        self.folder = store / FOLDER
        self.aside = store / ASIDE

    def put(self, layout: Layout, table: pa.Table, *, history: bool) -> Part:
        """Write a part to the disk; nobody reads it until the database names it.

        Args:
            layout: The table.
            table: Its versions, in the columns of `schema`, oldest first.
            history: Whether they are followed by others.

        Raises:
            OSError: The disk is full or refuses; no file is left.
        """
        name = f"{layout.name}-{uuid.uuid4().hex}{SUFFIX}"
        files.folder(self.folder)
        # Ids are all different: a dictionary of them would only cost time.
        different = {"id", "seq"} if layout.table.key == ("id",) else {"seq"}
        staged = files.stage(
            self.folder / name,
            lambda file: pq.write_table(
                table.cast(layout.schema),
                file,
                # A codec of the format itself, so that every engine reads it.
                compression="zstd",
                row_group_size=GROUP_ROWS,
                use_dictionary=[
                    column for column in table.column_names if column not in different
                ],
                write_page_checksum=True,
            ),
        )
        staged.replace(self.folder / name)
        files.flush_names(self.folder)
        return self.describe(layout, table, name, history=history)

    def describe(self, layout: Layout, table: pa.Table, name: str, *, history: bool) -> Part:
        """What the catalog keeps of a part with these versions."""
        seqs = pc.min_max(table["seq"]).as_py()
        observed = pc.min_max(table["_observed_at"].cast(pa.int64())).as_py()
        times = pc.min_max(comparable(table[layout.time_column])).as_py()
        # Null is "nothing follows", and later than every instant.
        until = FOREVER if table["_until"].null_count else pc.max(table["_until"]).as_py()
        path = self.folder / name
        return Part(
            name, layout.name, history, table.num_rows, path.stat().st_size, files.digest(path),
            seqs["min"], seqs["max"], times["min"], times["max"], observed["min"],
            observed["max"], until,
        )  # fmt: skip

    def load(
        self,
        part: Part,
        layout: Layout,
        columns: Sequence[str] | None = None,
        times: Times = (None, None),
        *,
        few: bool = False,
        use_threads: bool = True,
    ) -> pa.Table:
        """Rows of a part, whole row groups that may hold a range of the time column.

        Args:
            part: The part.
            layout: Its table.
            columns: Columns wanted, None for all.
            times: First value of the time column wanted and the first one not wanted.
            few: Whether columns with few different values come as places in a list of them.
            use_threads: Whether all columns are decoded at once, which takes memory for each thread.

        Raises:
            Vanished: It is not there.
            StoreError: It is not what was written.
        """
        # Parquet keeps columns apart: what is not asked for is not read.
        names = tuple(layout.schema.names if columns is None else columns)
        wanted = layout.fields(names, few=few)
        path = self.folder / part.name
        try:
            file = pq.ParquetFile(
                path,
                read_dictionary=[name for name in names if few and name in FEW],
                page_checksum_verification=True,
            )
            held = set(file.schema_arrow.names)
            present = [name for name in names if name in held]
            # Row groups are sorted by time, so a range touches few of them.
            groups = _groups(file, layout, times)
            table = file.read_row_groups(groups, columns=present, use_threads=use_threads)
        except FileNotFoundError:
            raise Vanished(path) from None
        except (pa.ArrowException, OSError) as error:
            raise damaged(path) from error
        return conformed(table, wanted)

    def remove(self, names: Sequence[str]) -> None:
        """Delete files that nobody needs; one that cannot be deleted now is left for later."""
        for name in names:
            with suppress(PermissionError):  # open elsewhere, where the system minds
                (self.folder / name).unlink(missing_ok=True)

    def set_aside(self, names: Sequence[str]) -> None:
        """Move files to where nobody takes them for data, and nobody deletes them."""
        for name in names:
            with suppress(FileNotFoundError):
                (self.folder / name).replace(files.folder(self.aside) / name)

    def names(self) -> set[str]:
        """Names of all files."""
        return {path.name for path in self.folder.iterdir()} if self.folder.is_dir() else set()


def damaged(path: Path) -> StoreError:
    """What there is to say of a file that is not what was written."""
    return _not_written(path, "it is not what was written")


def _not_written(path: Path, what: str) -> StoreError:
    return StoreError(
        f"{path}: {what}; dialframe store info --verify names all such files, and dialframe store restore brings them "
        "back from a backup"
    )


def comparable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A time column as it is compared: instants as microseconds since 1970 UTC, days as ISO 8601 text."""
    return column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column


def flags(column: pa.ChunkedArray) -> Any:
    """A column of booleans as a numpy array, null as false."""
    return pc.fill_null(column, False).to_numpy()  # noqa: FBT003 - the value that fills


def ordered(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """The rows in ascending order of columns, those without the first of them before all others."""
    return table.combine_chunks().take(order_of(table, names))


def order_of(table: pa.Table, names: Sequence[str]) -> pa.Array:
    """Places of the rows in ascending order of columns, as for `ordered`."""
    # Places in a list of values have no order of their own.
    keys = {
        name: table[name].cast(pa.large_string())
        if pa.types.is_dictionary(table[name].type)
        else table[name]
        for name in names
    }
    if keys[names[0]].null_count:
        # Arrow sorts null last, a row without a time comes first.
        keys = {"_there": pc.is_valid(keys[names[0]]), **keys}
    return pc.sort_indices(pa.table(keys), sort_keys=[(name, "ascending") for name in keys])


def _groups(file: pq.ParquetFile, layout: Layout, times: Times) -> list[int]:
    every = range(file.num_row_groups)
    if times == (None, None):
        return list(every)
    # Statistics are by place; a part of before a column was added has others.
    column = file.schema_arrow.get_field_index(layout.time_column)
    return [number for number in every if _group_may_hold(file, number, column, times)]


def _group_may_hold(file: pq.ParquetFile, number: int, column: int, times: Times) -> bool:
    statistics = file.metadata.row_group(number).column(column).statistics
    # A writer may leave them out: then it may hold anything.
    if statistics is None:
        return True
    if not statistics.has_min_max:
        return False  # all null, which no range holds
    low, high = statistics.min_raw, statistics.max_raw
    if isinstance(low, bytes):
        # Days: Parquet keeps text as bytes.
        low, high = low.decode(), high.decode()
    first, end = times
    return (end is None or low < end) and (first is None or high >= first)
