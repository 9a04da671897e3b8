"""Delimited text to records, block by block: regular lines by Arrow, all others by the parser.

Whatever the size of the blocks, the records are those that `parser.Parser` finds in the whole text: a line
on which every quote opens or closes a cell is a record for both, so Arrow cuts it; any other line is read
with care, with the lines behind it. What is a header, a title, a total or a lead is decided by `layout`,
which sees the head, the tail and every record that may be no lead. A record of the usual width with a phone
number in it can only be a lead, so the others are not looked at, unless too much of the file is odd.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from dialframe import arrow_text
from dialframe.background import ahead
from dialframe.config import OnProgress, Progress, silent
from dialframe.errors import LeadFileError
from dialframe.files import FILE_MODE
from dialframe.leads.layout import HeaderChoice, Layout, find_top, is_blank, lay_out
from dialframe.leads.lead_file import (
    Batch,
    Decisions,
    Dialect,
    LeadFile,
    Lines,
    Records,
    Shape,
    Skipped,
    left_out_table,
    sample_step,
    split_lines,
    text_table,
    unique_names,
    usual_width,
    wide,
)
from dialframe.leads.parser import Parser, Record

#: Bytes that are cut into records at once.
PIECE_BYTES: Final = 2 * 2**20
#: Bytes of batches that wait in memory before the disk is used.
MEMORY_BYTES: Final = 24 * 2**20
#: Rows of the sample on which decisions about a whole file are taken.
SAMPLE_ROWS: Final = 50_000
#: Lines of the head of a file that tell its dialect, and of six further places.
_HEAD_LINES: Final = 300
_PLACES: Final = 6
_PLACE_LINES: Final = 50
_WHOLE_BYTES: Final = 4 * 2**20
_NEAR_LINES: Final = 8
_RUN_LINES: Final = 5_000
_ASCII: Final = 128
_DELETE: Final = 127
_CONTACT_DIGITS: Final = 9
#: Up to so many filled cells a record may be a blank line, a total or a remark.
_NARROW: Final = 3
_MARK: Final = b"\xef\xbb\xbf"
#: Stands for the delimiter of a file that has none.
_UNUSED: Final = "\x1f"
_HEAD_RECORDS: Final = 2000
_TAIL_RECORDS: Final = 200
_HEADER_RECORDS: Final = 30
_FEW: Final = 50
#: Doubtful records that are kept at the most.
_MOST_DOUBTS: Final = 500_000
_NONE: Final = np.zeros(0, np.int64)
_NOTES: Final = b"notes"
READ_STEP: Final = "bytes read"


@dataclass(slots=True, eq=False)
class Waiting:
    """Batches by number, in memory while they are few, in files from then on.

    Attributes:
        folder: Where the files go, the caller's to make and to remove; None to keep all in memory.
        memory_bytes: Bytes that stay in memory.
        held_bytes: Bytes that are there now.
        held: Batches that are there now.
        count: How many batches were put here.
    """

    folder: Path | None = None
    memory_bytes: int = MEMORY_BYTES
    held_bytes: int = 0
    held: dict[int, tuple[pa.RecordBatch, Any]] = field(default_factory=dict)
    count: int = 0

    def put(self, batch: pa.RecordBatch, notes: Any = None) -> int:
        """Keep a batch with plain values beside it; returns its number.

        Args:
            batch: The batch.
            notes: What JSON can hold.

        Raises:
            OSError: The disk is full.
        """
        number, size = self.count, batch.get_total_buffer_size()
        self.count += 1
        if self.folder is None or self.held_bytes + size <= self.memory_bytes:
            self.held_bytes += size
            self.held[number] = (batch, notes)
            return number
        schema = batch.schema.with_metadata({_NOTES: json.dumps(notes).encode()})
        path = self._path(number)
        path.touch(mode=FILE_MODE)
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, schema) as writer:
            writer.write_batch(pa.RecordBatch.from_arrays(batch.columns, schema=schema))
        return number

    def get(self, number: int, *, drop: bool = False) -> tuple[pa.RecordBatch, Any]:
        """A batch with its plain values.

        Args:
            number: Its number.
            drop: Whether it is not needed any more.
        """
        if number in self.held:
            batch, notes = self.held[number]
            if drop:
                del self.held[number]
                self.held_bytes -= batch.get_total_buffer_size()
            return batch, notes
        path = self._path(number)
        with pa.OSFile(str(path), "rb") as file:
            reader = pa.ipc.open_file(file)
            batch, notes = reader.get_batch(0), json.loads(reader.schema.metadata[_NOTES])
        if drop:
            path.unlink()
        return batch, notes

    def _path(self, number: int) -> Path:
        assert self.folder is not None  # noqa: S101 - without one everything is held
        return self.folder / f"{number:08d}.arrow"


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """A whole text as UTF-8 without a mark, in memory or in a file.

    Attributes:
        data: The text, or None where it stays in the file.
        size: Bytes of it.
        path: The file.
        begin: Bytes before it there.
        stamp: What the disk said of the file when it was looked at.
    """

    data: bytes | None = field(repr=False)
    size: int
    path: Path | None = None
    begin: int = 0
    stamp: tuple[int, ...] = ()

    def fetch(self, at: int, size: int) -> bytes:
        """Some bytes.

        Args:
            at: Where they begin.
            size: How many; fewer at the end.
        """
        if self.data is not None:
            return self.data[at : at + size]
        assert self.path is not None  # noqa: S101 - one of both is there
        with self.path.open("rb") as file:
            file.seek(self.begin + at)
            return file.read(min(size, self.size - at))

    def raw(self, begin: int, end: int) -> str:
        """The text of one record as it stands in the file.

        Args:
            begin: Where it begins.
            end: Behind its last byte.
        """
        return self.fetch(begin, end - begin).decode()

    def check_unchanged(self) -> None:
        """Refuse a file that somebody wrote while it was read.

        Raises:
            LeadFileError: It is not what it was.
        """
        if self.path is not None and self.stamp and stamp_of(self.path) != self.stamp:
            raise LeadFileError(
                f"{self.path} changed while it was read; wait until it is complete and run it again",
                path=self.path,
            )

    def samples(self) -> list[list[str]]:
        """Lines of the head, then of places spread over the rest."""
        if self.size <= _WHOLE_BYTES:
            lines = split_lines(self.fetch(0, self.size).decode(errors="ignore")).texts
            stop = min(len(lines), _HEAD_LINES)
            step = (len(lines) - stop) // _PLACES
            places = [stop + (at + 1) * step - min(step, _PLACE_LINES) for at in range(_PLACES)]
            size = min(step, _PLACE_LINES)
            runs = [lines[place : place + size] for place in places] if step else []
            return [lines[:stop], *runs]
        runs = [self._lines(0, _HEAD_LINES)]
        step = self.size // (_PLACES + 1)
        return runs + [self._lines((at + 1) * step, _PLACE_LINES) for at in range(_PLACES)]

    def _lines(self, at: int, count: int) -> list[str]:
        """So many whole lines from the first that begins behind a place."""
        size = 2**15
        while True:
            piece = self.fetch(at, size)
            lines = split_lines(piece.decode(errors="ignore")).texts
            first = 1 if at else 0
            if len(lines) > first + count or at + size >= self.size:
                return lines[first : first + count]
            size *= 4


def stamp_of(path: Path) -> tuple[int, ...]:
    """What changes when somebody writes a file.

    Args:
        path: The file.
    """
    facts = os.stat(path)  # noqa: PTH116 - a path of any kind
    return facts.st_size, facts.st_mtime_ns, facts.st_ino


# ---- lines to records


class _Odd(NamedTuple):
    """A record that Arrow did not cut: its cells and what was wrong with it."""

    cells: list[str]
    fault: str | None = None
    warning: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Records that follow each other.

    Attributes:
        first: Ordinal of the first one in the file, from 0.
        columns: Texts of each column, one entry a record; cells beyond the width are cut off.
        starts: 0-based physical line of each record.
        places: Begin and end of each record in the text.
        odd: Record in the block to what the parser read.
        doubts: Records of the usual width that may be no lead.
        nothing: Records without a character, ascending; a file may be a million of them.
        stop_line: The line behind the last record.
    """

    first: int
    columns: list[pa.Array]
    starts: np.ndarray
    places: np.ndarray
    odd: dict[int, _Odd]
    doubts: np.ndarray
    nothing: np.ndarray
    stop_line: int

    def __len__(self) -> int:
        return len(self.starts)

    def cells(self, rows: Sequence[int]) -> list[list[str]]:
        """Cells of some records.

        Args:
            rows: The records.
        """
        plain = [row for row in rows if row not in self.odd]
        columns = [column.take(arrow_text.numbers(plain)).to_pylist() for column in self.columns]
        cut = dict(zip(plain, map(list, zip(*columns, strict=True)), strict=True))
        empty = set(self.nothing.tolist())
        return [
            [""] if row in empty else self.odd[row].cells if row in self.odd else cut[row]
            for row in rows
        ]

    def batch(self) -> tuple[pa.RecordBatch, Any]:
        """The block as it waits."""
        names = [*map(str, range(len(self.columns))), "line", "begin", "end"]
        arrays = [*self.columns, self.starts, self.places[:, 0], self.places[:, 1]]
        notes = {
            "first": self.first,
            "odd": [[row, *odd] for row, odd in self.odd.items()],
            "nothing": self.nothing.tolist() if len(self.nothing) else [],
            "stop_line": self.stop_line,
        }
        return pa.RecordBatch.from_arrays(
            [each if isinstance(each, pa.Array) else arrow_text.numbers(each) for each in arrays],
            names=names,
        ), notes

    @classmethod
    def of_records(cls, records: Records) -> Block:
        """Records of a sheet or of JSON or Parquet as one block; their places are their ordinals.

        Args:
            records: The records, at least one.
        """
        filled = (
            len(row)
            for at, row in enumerate(records.cells)
            if at not in records.faults and not is_blank(row)
        )
        width = usual_width(filled) or 1
        count = np.arange(len(records.cells))
        nothing = [
            at
            for at, row in enumerate(records.cells)
            if not row and at not in records.raws and at not in records.faults
        ]
        # Empty rows may be a million, so that they share their cells.
        empty = [""] * width
        rows = (wide(row, width) if row else empty for row in records.cells)
        columns = [arrow_text.column(cells) for cells in zip(*rows, strict=True)]
        odd = {
            at: _Odd(row, records.faults.get(at))
            for at, row in enumerate(records.cells)
            if at in records.faults or (len(row) != width and (row or at in records.raws))
        }
        return cls(
            0, columns, np.array(records.starts, np.int64), np.stack([count, count + 1], axis=1),
            odd, np.setdiff1d(np.flatnonzero(~_are_leads(columns)), nothing),
            np.array(nothing, np.int64), records.stops[-1],
        )  # fmt: skip

    @classmethod
    def of(cls, batch: pa.RecordBatch, notes: Any) -> Block:
        """A block that waited.

        Args:
            batch: What `batch` gave.
            notes: The notes beside it.
        """
        columns = batch.columns
        places = np.stack([arrow_text.values_of(column) for column in columns[-2:]], axis=1)
        odd = {row: _Odd(*rest) for row, *rest in notes["odd"]}
        return cls(
            notes["first"], columns[:-3], arrow_text.values_of(columns[-3]), places, odd, _NONE,
            np.array(notes["nothing"], np.int64), notes["stop_line"],
        )  # fmt: skip


def is_plain(dialect: Dialect, width: int) -> bool:
    """Whether the dialect is one whose regular lines Arrow can cut.

    Args:
        dialect: The dialect.
        width: Cells of a usual record.
    """
    signs = [sign for sign in (dialect.delimiter, dialect.quote) if sign]
    short = all(len(sign) == 1 and ord(sign) < _ASCII and sign not in "\r\n" for sign in signs)
    return short and width > 0 and not (dialect.escape or dialect.skip_space or dialect.starts)


class _Run(NamedTuple):
    """Records that follow each other, before they are cut into columns."""

    data: bytes
    at: int
    cut: _Cut
    first: int
    taken: np.ndarray
    line: int
    end: int
    odd: dict[int, _Odd]


class Walk:
    """The walk through one text.

    Args:
        text: The text.
        dialect: How its cells are written.
        shape: What a usual record looks like.
        width: Cells of a usual record; the shape's by default.
        line: Lines before the first record, which begin at `at`.
        at: Where the first record begins.
        on_progress: Told of bytes.
    """

    def __init__(
        self,
        text: Text,
        dialect: Dialect,
        shape: Shape,
        *,
        width: int | None = None,
        line: int = 0,
        at: int = 0,
        on_progress: OnProgress = silent,
    ) -> None:
        self.text, self.dialect = text, dialect
        self.width = max(1, shape.width if width is None else width)
        self.plain = is_plain(dialect, self.width)
        self.delimiter = ord(dialect.delimiter) if self.plain and dialect.delimiter else -1
        self.quote = ord(dialect.quote) if self.plain and dialect.quote else -1
        self.records, self.line, self.at = 0, line, at
        self.parser = Parser(dialect, shape)
        self.tell = on_progress

    def blocks(self) -> Iterator[Block]:
        """All records.

        Raises:
            LeadFileError: Somebody wrote the file meanwhile.
        """
        yield from (block for block in ahead(self._made, self._runs()) if len(block))
        self.text.check_unchanged()

    def _runs(self) -> Iterator[_Run]:
        """The records of the text, so many at a time; only this has to be done in order."""
        size = PIECE_BYTES
        while self.at < self.text.size:
            data = self.text.fetch(self.at, size)
            final = self.at + len(data) >= self.text.size
            stop = len(data) if final else _last_line_end(data)
            run, used = self._run(data, stop, final=final) if stop else (None, 0)
            if run is None or not used:
                size *= 2  # a record that is longer than the piece
                continue
            yield run
            self.at += used
            size = PIECE_BYTES
            self.tell(Progress(READ_STEP, self.at, self.text.size))

    def _run(self, data: bytes, stop: int, *, final: bool) -> tuple[_Run, int]:
        """The records of `data` up to `stop`, or up to one that needs more; bytes used."""
        cut = _cut(data, stop, self.delimiter, self.quote, plain=self.plain)
        odd: dict[int, _Odd] = {}
        begins_record = np.ones(len(cut.clean), np.bool_)
        behind, end = 0, len(cut.clean)
        window = _Window(data, cut, is_whole=final)
        for line in np.flatnonzero(~cut.clean).tolist():
            if line < behind:
                continue  # a record that began before goes on here
            record, lines = self._careful(window, line)
            if record is None:
                end = line
                break
            odd[line] = _Odd(record.cells, record.fault, record.warning)
            behind = line + lines
            begins_record[line + 1 : behind] = False
        taken = np.flatnonzero(begins_record[:end])
        rows = np.searchsorted(taken, np.array(list(odd), np.int64)).tolist()
        odd_rows = dict(zip(rows, odd.values(), strict=True))
        run = _Run(data, self.at, cut, self.records, taken, self.line, end, odd_rows)
        self.records, self.line = self.records + len(taken), self.line + end
        return run, int(cut.behind[end - 1]) if end else 0

    def _careful(self, window: _Window, line: int) -> tuple[Record | None, int]:
        """The record that begins at a line that is not clean, and its lines; None where it may need more data."""
        for count in (1 + _NEAR_LINES, 1 + self.parser.span):
            lines, at = window.lines(line, count)
            record = self.parser.tried(lines, at)
            is_seen = record.fault is None or len(lines.texts) - at >= 1 + self.parser.span
            if is_seen or window.is_last:
                self.parser.count(record)
                return record, record.stop - at
        return None, 0

    def _made(self, run: _Run) -> Block:
        """The block of some records."""
        data, at, cut, first, taken, line, end, odd = run
        rows = len(taken)
        # A record of several lines ends where its last line does.
        last = np.append(taken[1:], end)[:rows] - 1
        places = np.stack([cut.begins[taken], cut.ends[last]], axis=1)
        is_clean = np.ones(rows, np.bool_)
        is_clean[list(odd)] = False
        is_nothing = is_clean & (places[:, 0] == places[:, 1])
        nothing, clean = np.flatnonzero(is_nothing), np.flatnonzero(is_clean & ~is_nothing)
        # Without the empty ones: of a dialect that Arrow cannot cut, only those are clean.
        columns, others = self._columns(_lines(data, cut, taken[clean]))
        usual, others = np.delete(clean, others), clean[others]
        for row, (begin, stop) in zip(others.tolist(), places[others].tolist(), strict=True):
            odd[row] = _Odd(self.parser.scan(data[begin:stop].decode()).cells)
        doubts = usual[~_are_leads(columns)]
        if odd or len(nothing):
            # Behind the usual ones: an empty text, then the others.
            order = np.full(rows, len(usual))
            order[usual] = np.arange(len(usual))
            order[list(odd)] = np.arange(len(odd)) + len(usual) + 1
            for place, column in enumerate(columns):
                beside = [
                    record.cells[place] if place < len(record.cells) else ""
                    for record in odd.values()
                ]
                both = pa.concat_arrays([column, arrow_text.column(["", *beside])])
                columns[place] = both.take(arrow_text.numbers(order))
        return Block(first, columns, taken + line, places + at, odd, doubts, nothing, line + end)

    def _columns(self, lines: bytes | memoryview) -> tuple[list[pa.Array], np.ndarray]:
        """The columns of clean lines, and which of the lines are of another width; empty ones do not count."""
        names = [str(at) for at in range(self.width)]
        others: list[int] = []

        def leave_out(row: csv.InvalidRow) -> str:
            others.append(row.number - 1)
            return "skip"

        if not len(lines):
            return [arrow_text.column([])] * len(names), np.array(others, np.int64)
        if bytes(lines[: len(_MARK)]) == _MARK:
            lines = _MARK + bytes(lines)  # one is taken off
        table = csv.read_csv(
            pa.py_buffer(lines),
            csv.ReadOptions(use_threads=False, block_size=len(lines) + 1, column_names=names),
            csv.ParseOptions(
                # A line with the sign that no file has is read with care, as all of another width.
                delimiter=self.dialect.delimiter or _UNUSED,
                quote_char=self.dialect.quote or False,
                invalid_row_handler=leave_out,
            ),
            csv.ConvertOptions(
                check_utf8=False,
                column_types=dict.fromkeys(names, arrow_text.TEXT),
                strings_can_be_null=False,
            ),
        )
        return [arrow_text.whole(column) for column in table.columns], np.array(others, np.int64)


class _Window:
    """Lines of a piece as texts, decoded a run at a time."""

    def __init__(self, data: bytes, cut: _Cut, *, is_whole: bool) -> None:
        self._data, self._cut, self._is_whole = data, cut, is_whole
        self._first = self._stop = 0
        self._lines = Lines([], [])

    @property
    def is_last(self) -> bool:
        """Whether nothing follows these lines in the file."""
        return self._is_whole and self._stop == len(self._cut.clean)

    def lines(self, line: int, count: int) -> tuple[Lines, int]:
        """Lines with at least so many from a line of the piece on, where it has them; and that line's place."""
        total = len(self._cut.clean)
        if line + count > self._stop < total or line >= self._stop:
            # Where careful lines follow each other, more and more of them at once.
            near = line <= self._stop + _NEAR_LINES
            grown = min(4 * (self._stop - self._first), _RUN_LINES) if near else 0
            self._first, self._stop = line, min(line + max(count, grown), total)
            begin, behind = self._cut.begins[line], self._cut.behind[self._stop - 1]
            self._lines = split_lines(self._data[begin:behind].decode())
        return self._lines, line - self._first


class _Cut(NamedTuple):
    """Lines of a text: where each begins, where its text ends, where the next one begins, whether it is clean."""

    begins: np.ndarray
    ends: np.ndarray
    behind: np.ndarray
    clean: np.ndarray


def _cut(data: bytes, stop: int, delimiter: int, quote: int, *, plain: bool) -> _Cut:
    """Cut `data[:stop]` into lines; in a clean one every quote opens or closes a cell, or is doubled in one."""
    view = np.frombuffer(data or b"\0", np.uint8)
    begins, ends, behind = line_bounds(data, stop)
    if not plain:
        return _Cut(begins, ends, behind, begins == ends)
    clean = np.ones(len(begins), np.bool_)
    quotes = np.flatnonzero(view[:stop] == quote) if quote >= 0 else _NONE
    if len(quotes):
        line = np.searchsorted(begins, quotes, side="right") - 1
        firsts = np.searchsorted(quotes, begins)
        opens = (np.arange(len(quotes)) - firsts[line]) % 2 == 0
        before, after = view[quotes - 1], view[np.minimum(quotes + 1, len(view) - 1)]
        fits = np.where(
            opens,
            (quotes == begins[line]) | (before == delimiter) | (before == quote),
            (quotes + 1 == ends[line]) | (after == delimiter) | (after == quote),
        )
        clean[line[~fits]] = False
        clean[np.diff(firsts, append=len(quotes)) % 2 == 1] = False
    return _Cut(begins, ends, behind, clean)


def _last_line_end(data: bytes) -> int:
    """Behind the last line end that nothing behind it can change; 0 for none."""
    at = data.rfind(b"\n") + 1
    if at:
        return at
    # A carriage return may be the first half of a line end.
    at = data.rfind(b"\r", 0, max(0, len(data) - 2))
    return at + 1 if at >= 0 and data[at + 1 : at + 2] not in (b"\r", b"\n") else 0


def line_bounds(data: bytes, stop: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where each line begins, where its text ends, and where the next one begins.

    Args:
        data: The text.
        stop: Behind its last line, which may have no end.
    """
    view = np.frombuffer(data or b"\0", np.uint8)[:stop]
    ends = np.flatnonzero(view == ord("\n"))
    behind = ends + 1
    returns = np.count_nonzero(view == ord("\r"))
    # A line feed takes up to two carriage returns before it; any other one ends a line itself.
    taken: list[np.ndarray] = []
    for width in (1, 2) if returns else ():
        hit = (behind - ends == width) & (ends > 0)
        hit &= view[ends - 1] == ord("\r")
        ends = ends - hit
        returns -= np.count_nonzero(hit)
        taken.append(ends[hit])
        if not returns:
            break
    if returns:
        alone = np.setdiff1d(np.flatnonzero(view == ord("\r")), np.concatenate(taken))
        ends = np.sort(np.concatenate([ends, alone]))
        behind = np.sort(np.concatenate([behind, alone + 1]))
    if stop > (behind[-1] if len(behind) else 0):
        ends, behind = np.append(ends, stop), np.append(behind, stop)
    return np.concatenate([[0], behind])[:-1], ends, behind


def _lines(data: bytes, cut: _Cut, lines: np.ndarray) -> bytes | memoryview:
    """Some lines with their ends."""
    if not len(lines):
        return b""
    apart = np.flatnonzero(cut.begins[lines[1:]] != cut.behind[lines[:-1]])
    begins = cut.begins[lines[np.concatenate([[0], apart + 1])]].tolist()
    ends = cut.behind[lines[np.concatenate([apart, [len(lines) - 1]])]].tolist()
    parts = [memoryview(data)[begin:end] for begin, end in zip(begins, ends, strict=True)]
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _are_leads(columns: list[pa.Array]) -> np.ndarray:
    """Which records are certainly leads."""
    enough = max(_NARROW, len(columns) // 2)
    filled = np.zeros(len(columns[0]), np.int64)
    for done, column in enumerate(columns):
        if done > enough and filled.min(initial=done) > enough:
            break
        data, starts = arrow_text.raw(column)
        heads = data.take(starts[:-1], mode="clip")
        filled += (np.diff(starts) > 0) & (heads > ord(" ")) & (heads < _DELETE)
    is_lead = filled > enough
    for column in columns:
        unknown = np.flatnonzero(~is_lead)
        if not len(unknown):
            break
        is_lead[unknown] = _are_contacts(arrow_text.take(column, unknown))
    return is_lead


def _are_contacts(cells: pa.Array) -> np.ndarray:
    """Which cells are a phone number beyond doubt, and no date."""
    # A date has a separator among its first five characters, and no bracket or plus before them.
    is_contact = arrow_text.matches(cells, r"^(?:[+(][0-9]|[0-9]{5})[0-9 ()-]*$")
    rows = np.flatnonzero(is_contact)
    digits = pc.count_substring_regex(arrow_text.take(cells, rows), "[0-9]")
    is_contact[rows] = arrow_text.values_of(digits) >= _CONTACT_DIGITS
    return is_contact


# ---- records to leads


class _Seen(NamedTuple):
    """A record that `layout` looks at."""

    cells: list[str]
    line: int
    place: tuple[int, int]
    fault: str | None = None


@dataclass(slots=True)
class _Outline:
    """What was seen of a file so far: the head, the tail, and what may be no lead.

    Attributes:
        width: Cells of a usual record.
        own: Whether this package wrote the file: all of it are records.
        records: Records seen.
        usual: Those of the usual width.
        nothing: Ordinal and line of those without a character, a block each.
        seen: Ordinal to a record that matters.
        last: The last blocks.
    """

    width: int
    own: bool
    records: int = 0
    usual: int = 0
    nothing: list[np.ndarray] = field(default_factory=list)
    seen: dict[int, _Seen] = field(default_factory=dict)
    last: list[Block] = field(default_factory=list)

    def add(self, block: Block) -> None:
        """See one block."""
        lines = block.starts[block.nothing]
        self.nothing.append(np.column_stack([block.first + block.nothing, lines]))
        self.records += len(block)
        of_width = sum(
            len(odd.cells) == self.width and odd.fault is None for odd in block.odd.values()
        )
        nothing = len(block.nothing) if self.width != 1 else 0
        self.usual += len(block) - nothing - len(block.odd) + of_width
        # Which block is the last is known when there is no other.
        self.last.append(block)
        while sum(map(len, self.last[1:-1])) >= _TAIL_RECORDS:
            del self.last[0]
        if len(self.seen) >= _MOST_DOUBTS:
            return
        # A header, its titles and blank lines are at the top, whatever they look like.
        head = min(max(0, _HEAD_RECORDS - block.first), len(block))
        rows = {*range(head), *block.odd}
        if not self.own:
            rows.update(block.doubts.tolist())
        self.seen |= _records(block, sorted(rows))
        if not self.own:
            self.seen |= _records(block, _repeats(block, self.seen))

    def everything(self, blocks: Iterable[Block]) -> None:
        """See all records, of a file in which too many are odd."""
        for block in blocks:
            self.seen |= _records(block, range(len(block)))
        self.nothing = [np.zeros((0, 2), np.int64)]

    def empty(self) -> np.ndarray:
        """Ordinal and line of the records without a character that were not looked at."""
        # Their cells are known, so that a number and a line are all that is kept of them.
        nothing = np.concatenate([np.zeros((0, 2), np.int64), *self.nothing])
        return nothing[~np.isin(nothing[:, 0], np.fromiter(self.seen, np.int64))]

    def lay_out(self, choice: HeaderChoice, names: tuple[str, ...] | None = None) -> Layout | None:
        """The layout by ordinals; None where all records have to be seen.

        Args:
            choice: Where the header is, if it is known.
            names: Names that every cell has; then all but what is blank is a lead.
        """
        if names is not None:
            blank = [
                at for at, each in self.seen.items() if not each.fault and is_blank(each.cells)
            ]
            return Layout(
                names, None, len(names), 0, (), tuple((at, "blank") for at in blank), 1.0
            )
        for block in self.last:
            self.seen |= _records(block, range(max(0, len(block) - _TAIL_RECORDS), len(block)))
        # An empty line sets apart what stands below it, and a hundred do no more than one.
        nothing = np.concatenate([np.zeros((0, 2), np.int64), *self.nothing])
        for at, line in nothing[np.diff(nothing[:, 0], prepend=-2) > 1].tolist():
            self.seen.setdefault(at, _Seen([""], line, (0, 0)))
        self.seen = dict(sorted(self.seen.items()))
        ordinals = list(self.seen)
        has_all = len(ordinals) + len(self.empty()) == self.records
        if not has_all and (len(ordinals) >= _MOST_DOUBTS or self.usual * 2 <= self.records):
            return None
        records = self._as_records()
        top = find_top(records, choice, own=self.own)
        if not has_all and not self.own and top.cells != self.width:
            return None
        layout = lay_out(records, choice, own=self.own, top=top)
        # What was not seen may only be leads: where the seen part says otherwise, all have to be.
        if not has_all and not self.own:
            first = max([-1, *(at for at, _ in layout.preface), layout.header_record or 0])
            furniture = {at for at, _ in layout.furniture}
            tail = range(len(ordinals) - min(_TAIL_RECORDS, len(ordinals)), len(ordinals))
            if first >= _HEAD_RECORDS // 2 or furniture.issuperset(tail):
                return None
        header = layout.header_record
        return replace(
            layout,
            header_record=None if header is None else ordinals[header],
            preface=tuple((ordinals[at], code) for at, code in layout.preface),
            furniture=tuple((ordinals[at], code) for at, code in layout.furniture),
        )

    def _as_records(self) -> Records:
        cells = [record.cells for record in self.seen.values()]
        starts = [record.line for record in self.seen.values()]
        faults = {at: each.fault for at, each in enumerate(self.seen.values()) if each.fault}
        return Records(cells, starts, starts, faults=faults, lines=Lines([], []))


def _records(block: Block, rows: Sequence[int]) -> dict[int, _Seen]:
    """Some records of a block by ordinal."""
    places = block.places[list(rows)].tolist()
    lines = block.starts[list(rows)].tolist()
    return {
        block.first + row: _Seen(
            cells, line, (begin, end), block.odd[row].fault if row in block.odd else None
        )
        for row, cells, line, (begin, end) in zip(
            rows, block.cells(rows), lines, places, strict=True
        )
    }


def _repeats(block: Block, seen: dict[int, _Seen]) -> list[int]:
    """Records all of whose cells stand in the first ones too: perhaps the header again."""
    heads = [seen[at].cells for at in range(_HEADER_RECORDS) if at in seen]
    rows = np.arange(len(block))
    for index, column in enumerate(block.columns):
        if len(rows) < _FEW or not heads:
            break
        known = {cells[index].strip().casefold() for cells in heads if index < len(cells)}
        cells = column if len(rows) == len(block) else column.take(arrow_text.numbers(rows))
        folded = pc.utf8_lower(pc.utf8_trim_whitespace(cells))
        is_known = pc.is_in(folded, value_set=arrow_text.column(sorted(known)))
        rows = rows[arrow_text.values_of(is_known)]
    rows = np.setdiff1d(rows, block.nothing, assume_unique=True)
    return [row for row in rows.tolist() if block.first + row not in seen]


@dataclass(frozen=True, slots=True, eq=False)
class ReadFile:
    """A file whose leads wait in batches.

    Attributes:
        file: The file with a sample of its rows.
        leads: How many leads it has.
        waiting: Where they wait.
        numbers: Their blocks there.
        cutter: Makes batches of blocks; None where `file` has all its rows.
        change: What is done to every batch of blocks.
    """

    file: LeadFile
    leads: int
    waiting: Waiting = field(repr=False)
    numbers: list[int]
    cutter: Cutter | None = field(default=None, repr=False)
    change: Callable[[Batch], Batch] | None = field(default=None, repr=False)

    @property
    def records(self) -> int:
        """Records of the file, skipped ones included."""
        return self.leads + self.file.skipped_records

    def batches(self, *, drop: bool = False) -> Iterator[Batch]:
        """Its leads, batch by batch.

        Args:
            drop: Whether they are not needed any more.
        """
        if self.cutter is None:
            yield from self.file.batch().slices(SAMPLE_ROWS)
            return
        for number in self.numbers:
            batch = self.cutter.leads(Block.of(*self.waiting.get(number, drop=drop)))
            if len(batch):
                yield self.change(batch) if self.change else batch

    def whole(self) -> LeadFile:
        """The file with all its rows."""
        if self.cutter is None:
            return self.file
        return whole_file(self.file, list(self.batches(drop=True)))


def whole_file(file: LeadFile, batches: Sequence[Batch]) -> LeadFile:
    """A file with the rows of some batches.

    Args:
        file: The file.
        batches: Its records.
    """
    names, done = file.names, 0
    notes: tuple[dict[int, Any], ...] = ({}, {}, {}, {})
    for batch in batches:
        every = (batch.faults, batch.warnings, batch.raws, batch.earlier)
        for note, known in zip(notes, every, strict=True):
            note.update({done + row: value for row, value in known.items()})
        done += len(batch)
    columns = {
        name: pa.chunked_array([batch.columns[name] for batch in batches], arrow_text.TEXT)
        for name in names
    }
    faults, warnings, raws, earlier = notes
    return replace(
        file,
        table=pa.table(columns),
        lines=np.concatenate([_NONE, *(batch.lines for batch in batches)]),
        rows=np.concatenate([_NONE, *(batch.ordinals for batch in batches)]),
        faults=faults,
        warnings=warnings,
        raws=raws,
        earlier=earlier,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Cutter:
    """Blocks of records to batches of leads, by what `layout` decided.

    Attributes:
        names: Names of the columns.
        width: Columns of the table.
        usual: Cells that a usual record has; those with fewer are short.
        first: Ordinal of the first record.
        no_leads: Ordinals of the records from there on that are no leads, ascending.
        repaired: 0-based lines with characters of another encoding, ascending.
        raw: The text of the record at a place, as it stands in the file.
    """

    names: Sequence[str]
    width: int
    usual: int
    first: int
    no_leads: np.ndarray
    repaired: np.ndarray
    raw: Callable[[int, int], str]

    def leads(self, block: Block) -> Batch:
        """The leads of a block."""
        ordinals = np.arange(block.first, block.first + len(block))
        is_lead = ordinals >= self.first
        since, until = np.searchsorted(self.no_leads, [block.first, block.first + len(block)])
        is_lead[self.no_leads[since:until] - block.first] = False
        faults, warnings, raws = self._notes(block, is_lead)
        batch = Batch(
            dict(zip(self.names, self._columns(block), strict=True)),
            block.starts + 1,
            ordinals - self.first + 1,
            faults,
            warnings,
            raws,
        )
        return batch if is_lead.all() else batch.taken(np.flatnonzero(is_lead))

    def _columns(self, block: Block) -> list[pa.Array]:
        columns = block.columns[: self.width]
        # Only an odd record has more cells than usual.
        for at in range(len(columns), self.width):
            rows = [row for row, odd in sorted(block.odd.items()) if at < len(odd.cells)]
            empty = arrow_text.constant("", len(block))
            cells = [block.odd[row].cells[at] for row in rows]
            columns.append(arrow_text.put(empty, np.array(rows, np.int64), cells))
        return columns

    def _notes(
        self, block: Block, is_lead: np.ndarray
    ) -> tuple[dict[int, str], dict[int, tuple[str, ...]], dict[int, str]]:
        faults: dict[int, str] = {}
        codes: dict[int, list[str]] = {}
        for row, (cells, fault, warning) in sorted(block.odd.items()):
            if not is_lead[row]:
                continue
            # Delimiters at the end of a record are what spreadsheets leave of empty columns.
            if fault is None and len(cells) > self.width and not is_blank(cells[self.width :]):
                fault = "too_many_cells"  # noqa: PLW2901
            if fault is not None:
                faults[row] = fault
            if warning:
                codes.setdefault(row, []).append(warning)
            # Programs leave out empty cells at the end; cells that are missing in the middle look the same.
            if fault is None and len(cells) < self.usual:
                codes.setdefault(row, []).append("short_row")
        since, until = np.searchsorted(self.repaired, [block.starts[0], block.stop_line])
        hit = np.searchsorted(block.starts, self.repaired[since:until], side="right") - 1
        for row in np.unique(hit).tolist():
            codes.setdefault(row, []).append("encoding_repaired")
        raws = {row: self.raw(*block.places[row].tolist()) for row in faults}
        return faults, {row: tuple(each) for row, each in codes.items()}, raws


def read_rows(
    path: Path,
    sha256: str,
    blocks: Iterable[Block],
    raw: Callable[[int, int], str],
    decisions: Decisions,
    waiting: Waiting,
    *,
    width: int,
    choice: HeaderChoice = "auto",
    own: bool = False,
    names: tuple[str, ...] | None = None,
    repaired: np.ndarray = _NONE,
    sep_line: str = "",
) -> ReadFile:
    """The leads of a table.

    Args:
        path: Where it was read from.
        sha256: Digest of the file.
        blocks: Its records.
        raw: The text of the record at a place, as it stands in the file.
        decisions: What was decided so far.
        waiting: Where its records wait.
        width: Cells of a usual record.
        choice: Where the header is, if it is known.
        own: Whether this package wrote the file.
        names: Names that every cell has, in a format without a header.
        repaired: 0-based lines with characters of another encoding.
        sep_line: The line above all that names the delimiter, if there is one.
    """
    outline, numbers = _Outline(width, own), []
    for block in blocks:
        outline.add(block)
        numbers.append(waiting.put(*block.batch()))
    layout = outline.lay_out(choice, names) if outline.records or names is not None else None
    if layout is None:
        outline.everything(Block.of(*waiting.get(number)) for number in numbers)
        layout = outline.lay_out(choice)
        assert layout is not None  # noqa: S101 - all records were seen
    # Leads begin behind all that stands above them, the header among it.
    header = layout.header_record
    before = [at for at, _ in layout.preface] + ([] if header is None else [header])
    first = max(before, default=-1) + 1
    empty = outline.empty()
    # Of a run of empty lines `layout` saw the first one.
    follow = empty[empty[:, 0] >= first, 0]
    if before:
        first += int(np.count_nonzero(follow == first + np.arange(len(follow))))
    behind = np.array([at for at, _ in layout.furniture], np.int64)
    no_leads = np.sort(np.concatenate([behind, follow[follow >= first]]))
    columns = unique_names(layout.header, layout.width)
    cutter = Cutter(columns, layout.width, layout.usual, first, no_leads, repaired, raw)
    above = empty[empty[:, 0] < first, 1] + 1
    titles = [outline.seen[at].line + 1 for at, _ in layout.preface]
    file = LeadFile(
        path=path,
        table=text_table([], columns),
        header=layout.header,
        lines=_NONE,
        rows=_NONE,
        left_out=_left_out_table(outline, layout, cutter, empty, sep_line),
        decisions=replace(
            decisions,
            header_line=None if header is None else outline.seen[header].line + 1,
            header_confidence=layout.confidence,
            preamble_lines=tuple(sorted([*titles, *above.tolist()])),
            repaired_lines=tuple((repaired + 1).tolist()),
        ),
        sha256=sha256,
    )
    leads = outline.records - first - len(no_leads)
    read = ReadFile(file, leads, waiting, numbers, cutter)
    return replace(read, file=_sample_rows(read))


def _sample_rows(read: ReadFile) -> LeadFile:
    """The file with a sample of its rows, spread over all of it."""
    step, done, parts = sample_step(read.leads, SAMPLE_ROWS), 0, []
    for batch in read.batches():
        rows = np.arange(-done % step, len(batch), step)
        done += len(batch)
        parts.append(batch if step == 1 else batch.taken(rows))
    return whole_file(read.file, parts)


def _left_out_table(
    outline: _Outline, layout: Layout, cutter: Cutter, empty: np.ndarray, sep_line: str
) -> pa.Table:
    """The records that are no leads, as `LeadFile.left_out` has them."""
    first = cutter.first
    skipped = [
        Skipped(
            seen.line + 1, at - first + 1 if at >= first else None, code,
            cutter.raw(*seen.place), seen.cells,
        )
        for at, code in sorted((*layout.preface, *layout.furniture))
        for seen in [outline.seen[at]]
    ]  # fmt: skip
    if sep_line:
        skipped.insert(0, Skipped(1, None, "sep_line", sep_line, []))
    table = left_out_table(cutter.names, skipped)
    if not len(empty):
        return table
    # Empty lines may be most of a file: no object is made of each.
    blank = arrow_text.constant("", len(empty))
    is_record = empty[:, 0] >= first
    rows = arrow_text.numbers(empty[:, 0] - first + 1, ~is_record)
    codes = pc.if_else(
        arrow_text.numbers(is_record), arrow_text.text("blank"), arrow_text.text("preamble")
    )
    more = {"_line": arrow_text.numbers(empty[:, 1] + 1), "_row": rows, "_code": codes}
    lines = pa.table({name: more.get(name, blank) for name in table.column_names})
    return pa.concat_tables([table, lines]).sort_by("_line")
