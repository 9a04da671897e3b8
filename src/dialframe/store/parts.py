"""Sealed parts: immutable Parquet files of one folder, checked against their digest; knows no database.

A part is written under another name, brought to the disk, and only then given its own; nobody looks for it
before the database names it. A reader hashes the whole file before it believes one row of it.
"""

from __future__ import annotations

import hashlib
import os
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dialframe.frames.columns import Kind
from dialframe.store.encode import Value
from dialframe.store.layout import FEW, FOREVER, SCHEMA_VERSION, Layout

FOLDER: Final = "parts"
SUFFIX: Final = ".parquet"
FOLDER_MODE: Final = 0o700
FILE_MODE: Final = 0o600
#: Rows that are skipped or read together.
GROUP_ROWS: Final = 65_536

#: Arrow type of each kind, in parts and in what is read. Long offsets are what pandas wants.
TYPES: Final[dict[Kind, pa.DataType]] = {
    "text": pa.large_string(),
    "instant": pa.timestamp("us", "UTC"),
    "day": pa.large_string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "json": pa.large_string(),
}

#: Arrow type of a text column with few values while rows are picked and put in order.
CODED: Final = pa.dictionary(pa.int32(), pa.string())

Times = tuple[Value, Value]


class Damaged(Exception):
    """A part is not what was written; the message says how it is known."""

    def __init__(self, part: Part, why: str) -> None:
        super().__init__(why)
        self.part = part


class Vanished(Exception):
    """A part's file is not there: it was replaced since the snapshot, or somebody removed it."""

    def __init__(self, part: Part) -> None:
        super().__init__(part.name)
        self.part = part


@dataclass(frozen=True, slots=True)
class Part:
    """What the database knows of a part.

    Attributes:
        name: Name of its file.
        table: The table.
        history: Whether it holds versions that are followed by others, or none that are.
        rows: Number of versions.
        size_bytes: Size of the file.
        digest: SHA-256 of the file.
        seqs: Lowest and highest `seq`.
        times: First and last value of the table's time column, both None where all are null.
        blank_times: Rows without such a value.
        observed: First and last `_observed_at`, microseconds since 1970 UTC.
        until: Last `_until`, `FOREVER` where one is open.
    """

    name: str
    table: str
    history: bool
    rows: int
    size_bytes: int
    digest: bytes
    seqs: tuple[int, int]
    times: Times
    blank_times: int
    observed: tuple[int, int]
    until: int

    def may_hold(self, first: Value, end: Value) -> bool:
        """Whether a row of it may lie in a range of the time column."""
        low, high = self.times
        if low is None or high is None:
            return first is None and end is None
        before = end is None or low < end  # type: ignore[operator] # both of the column's kind
        return before and (first is None or high >= first)  # type: ignore[operator]


def schema(layout: Layout) -> pa.Schema:
    """The columns of a table's parts: `seq`, key, payload, when observed, until when it counted."""
    key = [] if layout.by_id or layout.ledger else [pa.field("_key", pa.large_string())]
    return pa.schema(
        [
            pa.field("seq", pa.int64()),
            *key,
            *(pa.field(column.name, TYPES[column.kind]) for column in layout.columns),
            pa.field("_until", pa.int64()),
            pa.field("_gone", pa.bool_()),
        ],
        metadata={"dialframe": f"{layout.table.name} {SCHEMA_VERSION}"},
    )


def coded(layout: Layout, names: Sequence[str]) -> pa.Schema:
    """Columns of `schema`, those with few different values as places in a list of them."""
    full = schema(layout)
    return pa.schema(
        [pa.field(name, CODED) if name in FEW else full.field(name) for name in names]
    )


def plain(layout: Layout, names: Sequence[str]) -> pa.Schema:
    """Columns of `schema`."""
    full = schema(layout)
    return pa.schema([full.field(name) for name in names])


class Shelf:
    """The folder of one store's parts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._verified: set[tuple[str, int, int, int]] = set()

    def put(self, layout: Layout, table: pa.Table, *, history: bool) -> Part:
        """Write a part to the disk; nobody knows it until the database names it.

        Args:
            layout: The table.
            table: Its versions, in the columns of `schema`, oldest first.
            history: Whether they are followed by others.

        Raises:
            OSError: The disk is full or refuses; no file is left.
        """
        data = _encoded(layout, table)
        part = _described(layout, table, history, data)
        self.folder.mkdir(mode=FOLDER_MODE, exist_ok=True)
        self.folder.chmod(FOLDER_MODE)
        path, draft = self.folder / part.name, self.folder / f"{part.name}.draft"
        try:
            _write_through(draft, data)
            draft.rename(path)
            _settle(self.folder)
        except OSError:
            draft.unlink(missing_ok=True)
            path.unlink(missing_ok=True)
            raise
        return part

    def load(
        self,
        part: Part,
        layout: Layout,
        columns: Sequence[str] | None = None,
        times: Times = (None, None),
        *,
        few: bool = False,
    ) -> pa.Table:
        """Rows of a part, whole row groups that may hold a range of the time column.

        Args:
            part: The part.
            layout: Its table.
            columns: Columns wanted, None for all.
            times: First value of the time column wanted and the first one not wanted.
            few: Whether columns with few different values come as in `coded`.

        Raises:
            Damaged: The file is not what was written.
            Vanished: It is not there.
        """
        names = schema(layout).names if columns is None else list(columns)
        wanted = coded(layout, names) if few else plain(layout, names)
        dictionaries = [name for name in names if few and name in FEW]
        try:
            file = pq.ParquetFile(self._checked(part), read_dictionary=dictionaries)
            present = [name for name in names if name in file.schema_arrow.names]
            groups = _groups(file, layout, times)
            table = (
                file.read(columns=present)
                if len(groups) == file.num_row_groups
                else file.read_row_groups(groups, columns=present)
            )
        except FileNotFoundError:
            raise Vanished(part) from None
        except (pa.ArrowException, OSError) as error:
            raise Damaged(part, f"it cannot be read: {type(error).__name__}") from None
        # A column that the table gained since the part was written is null in it.
        arrays = [
            table[field.name] if field.name in present else pa.nulls(table.num_rows, field.type)
            for field in wanted
        ]
        return pa.table(arrays, names=names).cast(wanted)

    def verify(self, part: Part) -> None:
        """Hash a part again.

        Raises:
            Damaged: The file is not what was written.
            Vanished: It is not there.
        """
        self._verified.clear()
        self.check(part)

    def check(self, part: Part) -> None:
        """Hash a part, unless this store has done so since the file was last touched; raises as `verify`."""
        try:
            self._checked(part)
        except FileNotFoundError:
            raise Vanished(part) from None

    def remove(self, names: Sequence[str]) -> None:
        """Delete files that nobody needs; one that cannot be deleted now is left for later."""
        for name in names:
            try:
                (self.folder / name).unlink(missing_ok=True)
            except PermissionError:  # open elsewhere, where the system minds
                continue

    def names(self) -> set[str]:
        """Names of all files, drafts of a killed writer among them."""
        return {path.name for path in self.folder.iterdir()} if self.folder.is_dir() else set()

    def _checked(self, part: Part) -> pa.NativeFile:
        path = self.folder / part.name
        found = path.stat()
        mark = (part.name, found.st_size, found.st_mtime_ns, found.st_ino)
        if mark in self._verified:
            return pa.OSFile(str(path))
        data = path.read_bytes()
        if len(data) != part.size_bytes:
            raise Damaged(part, f"it has {len(data)} bytes instead of {part.size_bytes}")
        if hashlib.sha256(data).digest() != part.digest:
            raise Damaged(part, "its checksum differs from what was written")
        self._verified.add(mark)
        return pa.BufferReader(data)


def integers(column: pa.ChunkedArray) -> Any:
    """A column of instants or integers as a numpy array of int64; there must be no null."""
    return column.cast(pa.int64()).to_numpy()


def ordered(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """The rows in ascending order of columns, those without the first of them before all others."""
    return table.combine_chunks().take(order_of(table, names))


def order_of(table: pa.Table, names: Sequence[str]) -> pa.Array:
    """Places of the rows in ascending order of columns, as for `ordered`."""
    keys = {name: table[name] for name in names}
    if keys[names[0]].null_count:
        keys = {"_there": pc.is_valid(keys[names[0]]), **keys}
    return pc.sort_indices(pa.table(keys), sort_keys=[(name, "ascending") for name in keys])


def _encoded(layout: Layout, table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    # Ids are all different: a dictionary of them would only cost time.
    plain = {"id", "seq"} if layout.by_id else {"seq"}
    pq.write_table(
        table,
        sink,
        compression="zstd",
        row_group_size=GROUP_ROWS,
        use_dictionary=[name for name in table.schema.names if name not in plain],
    )
    return bytes(sink.getvalue())


def _described(layout: Layout, table: pa.Table, history: bool, data: bytes) -> Part:  # noqa: FBT001 - private
    seqs = pc.min_max(table["seq"]).as_py()
    observed = pc.min_max(table["_observed_at"].cast(pa.int64())).as_py()
    column = table[layout.time_column]
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    times = pc.min_max(column).as_py()
    until = FOREVER if table["_until"].null_count else pc.max(table["_until"]).as_py()
    return Part(
        name=f"{layout.table.name}-{uuid.uuid4().hex}{SUFFIX}",
        table=layout.table.name,
        history=history,
        rows=table.num_rows,
        size_bytes=len(data),
        digest=hashlib.sha256(data).digest(),
        seqs=(seqs["min"], seqs["max"]),
        times=(times["min"], times["max"]),
        blank_times=column.null_count,
        observed=(observed["min"], observed["max"]),
        until=until,
    )


def _groups(file: pq.ParquetFile, layout: Layout, times: Times) -> list[int]:
    every = list(range(file.num_row_groups))
    first, end = times
    if first is None and end is None:
        return every
    place = file.schema_arrow.get_field_index(layout.time_column)
    return [number for number in every if _group_may_hold(file, number, place, first, end)]


def _group_may_hold(
    file: pq.ParquetFile, number: int, place: int, first: Value, end: Value
) -> bool:
    found = file.metadata.row_group(number).column(place).statistics
    if found is None:
        return True
    if not found.has_min_max:
        return False  # all null, which no range holds
    low, high = found.min_raw, found.max_raw
    if isinstance(low, bytes):
        low, high = low.decode(), high.decode()
    return (end is None or low < end) and (first is None or high >= first)


def _write_through(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _settle(folder: Path) -> None:
    """Bring the folder's list of names to the disk, where the system has such a thing."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
