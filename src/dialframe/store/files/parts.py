"""Sealed parts: immutable Parquet files, each kept twice and checked against its digest.

A part is written under another name, brought to the disk, and only then given its own; nobody looks for it
before the database names it. A reader hashes the whole file before it believes one row of it.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dialframe import files
from dialframe.store.files import change_log
from dialframe.store.files.sqlite_rows import Value, coded, plain, schema
from dialframe.store.files.table_layouts import BY_NAME, FEW, FOREVER, Layout

FOLDER: Final = "parts"
SUFFIX: Final = ".parquet"
#: Where files go that the catalog does not name, or that are damaged: nothing of the kind is deleted.
ASIDE: Final = "set-aside"
#: What a part says of itself, so that a catalog can be made again from the parts alone.
ABOUT: Final = b"dialframe.part"
#: Rows that are skipped or read together.
GROUP_ROWS: Final = 65_536

Times = tuple[Value, Value]


class Damaged(Exception):
    """A part is not what was written; the message says how it is known."""

    def __init__(self, part: Part, why: str) -> None:
        super().__init__(why)
        self.part = part


class Vanished(Damaged):
    """A part's file is not there: it was replaced since the snapshot, or somebody removed it."""

    def __init__(self, part: Part) -> None:
        super().__init__(part, "its file is missing")


@dataclass(frozen=True, slots=True)
class Part:
    """What the database holds about a part.

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
            # Rows without a time are in no range.
            return first is None and end is None
        before = end is None or low < end  # type: ignore[operator] # both of the column's kind
        return before and (first is None or high >= first)  # type: ignore[operator]


class Shelf:
    """The parts of one store, each in two folders.

    Attributes:
        folder: Where they are read.
        copies: Where they are a second time.
        aside: Where files go that are damaged, or that nobody names.
    """

    def __init__(self, store: Path) -> None:
        """The parts of the store in a folder."""
        self.folder = store / FOLDER
        self.copies = store / change_log.FOLDER / change_log.PARTS
        self.aside = store / ASIDE
        # Hashing a part costs as much as reading it; a file that was not touched since is believed.
        self._verified: set[tuple[str, object]] = set()

    def put(
        self, layout: Layout, table: pa.Table, *, history: bool, replaced: Sequence[str] = ()
    ) -> Part:
        """Write a part to the disk, twice; nobody reads it until the database names it.

        Args:
            layout: The table.
            table: Its versions, in the columns of `schema`, oldest first.
            history: Whether they are followed by others.
            replaced: Names of the parts whose versions it takes over.

        Raises:
            OSError: The disk is full or refuses; no file is left.
        """
        data = _encoded(layout, table, history=history, replaced=replaced)
        part = _described(layout, table, history, data)
        places = [self.folder / part.name, self.copies / part.name]
        try:
            for path in places:
                files.write_bytes(data, path)
        except OSError:
            for path in places:
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
        use_threads: bool = True,
    ) -> pa.Table:
        """Rows of a part, whole row groups that may hold a range of the time column; raises as `check`.

        Args:
            part: The part.
            layout: Its table.
            columns: Columns wanted, None for all.
            times: First value of the time column wanted and the first one not wanted.
            few: Whether columns with few different values come as in `coded`.
            use_threads: Whether all columns are decoded at once, which takes memory for each thread.
        """
        # Parquet keeps columns apart: what is not asked for is not read.
        names = schema(layout).names if columns is None else list(columns)
        wanted = coded(layout, names) if few else plain(layout, names)
        dictionaries = [name for name in names if few and name in FEW]
        try:
            file = pq.ParquetFile(self.check(part), read_dictionary=dictionaries)
            held = set(file.schema_arrow.names)
            present = [name for name in names if name in held]
            # Row groups are sorted by time, so a range touches few of them.
            groups = _groups(file, layout, times)
            table = (
                file.read(columns=present, use_threads=use_threads)
                if len(groups) == file.num_row_groups
                else file.read_row_groups(groups, columns=present, use_threads=use_threads)
            )
        except (pa.ArrowException, OSError) as error:
            raise Damaged(part, f"it cannot be read: {type(error).__name__}") from None
        # A column that the table gained since the part was written is null in it.
        arrays = [
            table[field.name] if field.name in held else pa.nulls(table.num_rows, field.type)
            for field in wanted
        ]
        return pa.table(arrays, names=names).cast(wanted)

    def verify(self, part: Part) -> None:
        """Hash a part again; raises as `check`."""
        self._verified.clear()
        self.check(part)

    def place(self, part: Part) -> Path:
        """The file from which a part can be read, found to be what was written; raises as `check`."""
        self.check(part)
        path = self.folder / part.name
        # The first may be damaged on a disk that takes no mending.
        return path if self._is_verified(path) else self.copies / part.name

    def remove(self, names: Sequence[str]) -> None:
        """Delete files that nobody needs; one that cannot be deleted now is left for later."""
        # Copies first: from a copy alone a reader (`check`) would write the deleted part again.
        for path in (folder / name for name in names for folder in (self.copies, self.folder)):
            with suppress(PermissionError):  # open elsewhere, where the system minds
                path.unlink(missing_ok=True)

    def set_aside(self, names: Sequence[str]) -> None:
        """Move files to where nobody takes them for data, and nobody deletes them."""
        files.folder(self.aside)
        for name in names:
            for path, suffix in ((self.folder / name, ""), (self.copies / name, ".copy")):
                if path.exists():
                    path.replace(self.aside / f"{name}{suffix}")

    def names(self) -> set[str]:
        """Names of all files in either folder."""
        return {
            path.name
            for folder in (self.folder, self.copies)
            if folder.is_dir()
            for path in folder.iterdir()
        }

    def mend_copies(self, parts: Sequence[Part]) -> list[str]:
        """Write again what of these parts is missing or damaged in one folder and whole in the other."""
        mended = []
        for part in parts:
            content = {
                path: self._content(path / part.name, part) for path in (self.folder, self.copies)
            }
            # Both in memory: a part has no more rows than fit there (`Sizes.part_rows`).
            whole = next((data for data in content.values() if data is not None), None)
            for folder, data in content.items():
                if data is None and whole is not None:
                    files.write_bytes(whole, folder / part.name)
                    mended.append(f"{folder.name}/{part.name}")
        return mended

    def is_whole(self, path: Path, part: Part) -> bool:
        """Whether a file is what was written of a part."""
        return self._content(path, part) is not None

    def lacks_copy(self, part: Part) -> bool:
        """Whether one of a part's two files is not there, or has another size."""
        return any(
            not path.exists() or path.stat().st_size != part.size_bytes
            for path in (self.folder / part.name, self.copies / part.name)
        )

    def check(self, part: Part) -> pa.NativeFile:
        """Open a part that was hashed, now or since its file was last touched.

        Raises:
            Damaged: Neither of its two files is what was written.
            Vanished: Neither is there.
        """
        path = self.folder / part.name
        if self._is_verified(path):
            return pa.OSFile(str(path))
        data = self._content(path, part)
        if data is None:
            data = self._content(self.copies / part.name, part)
            if data is None:
                raise _fault(path, part)
            # On a disk that takes nothing the copy is read each time.
            with suppress(OSError):
                files.write_bytes(data, path)
        if path.exists():
            self._verified.add((path.name, files.signature(path)))
        return pa.BufferReader(data)

    def _is_verified(self, path: Path) -> bool:
        return path.exists() and (path.name, files.signature(path)) in self._verified

    def _content(self, path: Path, part: Part) -> bytes | None:
        """The bytes of a file, or None where they are not what was written."""
        try:
            data = path.read_bytes()
        except OSError:
            return None
        return data if hashlib.sha256(data).digest() == part.digest else None


def _fault(path: Path, part: Part) -> Damaged:
    """What is wrong with a file that is not what was written."""
    if not path.exists():
        return Vanished(part)
    if (size := path.stat().st_size) != part.size_bytes:
        return Damaged(part, f"it has {size} bytes instead of {part.size_bytes}")
    return Damaged(part, "its checksum differs from what was written")


@dataclass(frozen=True, slots=True)
class About:
    """What a part's file says of itself.

    Attributes:
        table: The table.
        history: Whether it holds versions that are followed by others.
        replaced: Names of the parts whose versions it took over.
    """

    table: str
    history: bool
    replaced: tuple[str, ...]


def describe_file(path: Path) -> tuple[Part, About]:
    """What a part's file holds, read from the file alone: its pages are compared with their checksums.

    Raises:
        ValueError: It is no part, or it is damaged.
    """
    try:
        data = path.read_bytes()
        # No catalog to compare with here: the checksums of its pages are all there is.
        table = pq.read_table(pa.BufferReader(data), page_checksum_verification=True)
        facts = json.loads((table.schema.metadata or {})[ABOUT])
        about = About(str(facts["table"]), bool(facts["history"]), tuple(facts["replaced"]))
        layout = BY_NAME[about.table]
        part = _described(layout, table, about.history, data)
    except (OSError, KeyError, TypeError, ValueError, pa.ArrowException) as error:
        raise ValueError(f"{path.name}: it is no part, or it is damaged") from error
    return replace(part, name=path.name.removesuffix(".copy")), about


def integers(column: pa.ChunkedArray) -> Any:
    """A column of instants or integers as a numpy array of int64; there must be no null."""
    return column.cast(pa.int64()).to_numpy()


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
    keys = {name: table[name] for name in names}
    if keys[names[0]].null_count:
        # Arrow sorts null last, a row without a time comes first.
        keys = {"_there": pc.is_valid(keys[names[0]]), **keys}
    return pc.sort_indices(pa.table(keys), sort_keys=[(name, "ascending") for name in keys])


def _encoded(layout: Layout, table: pa.Table, *, history: bool, replaced: Sequence[str]) -> bytes:
    # Beside the schema, in the file's own metadata: it goes wherever the file goes.
    facts = {"table": layout.table.name, "history": history, "replaced": list(replaced)}
    metadata = {**(table.schema.metadata or {}), ABOUT: json.dumps(facts).encode()}
    sink = pa.BufferOutputStream()
    # Ids are all different: a dictionary of them would only cost time.
    plain = {"id", "seq"} if layout.by_id else {"seq"}
    pq.write_table(
        table.replace_schema_metadata(metadata),
        sink,
        # A codec of the format itself, so that every engine reads it.
        compression="zstd",
        row_group_size=GROUP_ROWS,
        use_dictionary=[name for name in table.schema.names if name not in plain],
        write_page_checksum=True,
    )
    return bytes(sink.getvalue())


def _described(layout: Layout, table: pa.Table, history: bool, data: bytes) -> Part:  # noqa: FBT001 - private
    seqs = pc.min_max(table["seq"]).as_py()
    observed = pc.min_max(table["_observed_at"].cast(pa.int64())).as_py()
    column = comparable(table[layout.time_column])
    times = pc.min_max(column).as_py()
    # Null is "nothing follows", and later than every instant.
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
    # Statistics are by place; a part of before a column was added has others.
    column = file.schema_arrow.get_field_index(layout.time_column)
    return [number for number in every if _group_may_hold(file, number, column, first, end)]


def _group_may_hold(
    file: pq.ParquetFile, number: int, column: int, first: Value, end: Value
) -> bool:
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
    return (end is None or low < end) and (first is None or high >= first)
