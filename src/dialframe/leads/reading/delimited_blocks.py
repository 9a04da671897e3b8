"""Delimited UTF-8 to columns, block by block: clean lines by compiled code, all others by the parser.

Whatever the blocks' size, the records are those that `parser.parse` finds in the whole text. What
is no lead (blank lines, totals, headers) is not decided here; records that may be such are kept
apart as texts, for `layout`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from dialframe.leads.lead_file import Dialect, Lines, Shape, split_lines
from dialframe.leads.reading import cell_splitting
from dialframe.leads.reading.layout import is_blank
from dialframe.leads.reading.parser import CLEAN, MAX_SPAN_LINES, STRAY, parse, scan
from dialframe.leads.reading.utf8_text import last_line_end

_NEAR_LINES: Final = 8
_SHORT_SPAN_LINES: Final = 5
_PATIENCE_LINES: Final = 100_000
_ASCII: Final = 128


class Doubt(NamedTuple):
    """A record that may be no lead: its cells, its text, its 0-based line, and its fault."""

    cells: list[str]
    raw: str
    line: int
    fault: str | None


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Records that follow each other.

    Attributes:
        first: Ordinal of the first one in the file, from 0.
        columns: Texts of each column, one entry a record; cells beyond the width are cut off,
            missing ones empty.
        starts: 0-based physical line of each record.
        faults: Record in the block to reason code, for records that could not be read whole.
        warnings: Record in the block to warning codes.
        raws: Record in the block to its text, for those in `faults`.
        doubts: Record in the block to what `layout` must see of it.
        usual: Records of the usual width.
        data: The text that the records are in.
        places: Begin, end and line of each record in it.
    """

    first: int
    columns: list[pa.Array]
    starts: np.ndarray
    faults: dict[int, str] = field(default_factory=dict)
    warnings: dict[int, tuple[str, ...]] = field(default_factory=dict)
    raws: dict[int, str] = field(default_factory=dict)
    doubts: dict[int, Doubt] = field(default_factory=dict)
    usual: int = 0
    data: bytes = field(default=b"", repr=False)
    places: np.ndarray | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.starts)

    def cells(self, row: int) -> list[str]:
        """Cells of one record."""
        return [str(column[row].as_py()) for column in self.columns]

    def raw(self, row: int) -> str:
        """Text of one record as it stands in the file."""
        if row in self.doubts or self.places is None:
            return self.doubts[row].raw
        return self.data[self.places[row, 0] : self.places[row, 1]].decode()


def is_plain(dialect: Dialect, shape: Shape) -> bool:
    """Whether compiled code knows the dialect."""
    signs = [sign for sign in (dialect.delimiter, dialect.quote) if sign]
    short = all(len(sign) == 1 and ord(sign) < _ASCII and sign not in "\r\n" for sign in signs)
    return (
        short and shape.width > 0 and not (dialect.escape or dialect.skip_space or dialect.starts)
    )


def split_blocks(
    chunks: Iterable[bytes], dialect: Dialect, shape: Shape, line: int = 0
) -> Iterator[Block]:
    """Blocks of records.

    Args:
        chunks: UTF-8, in pieces of any size that end anywhere.
        dialect: One of which `is_plain` holds.
        shape: What a usual record looks like.
        line: Physical lines before the first chunk.
    """
    walk = _Walk(dialect, shape, line)
    rest = b""
    pieces = iter(chunks)
    chunk = next(pieces, None)
    while chunk is not None:
        following = next(pieces, None)
        data = rest + chunk if rest else chunk
        final = following is None
        stop = len(data) if final else last_line_end(data)
        if stop:
            block, used = walk.block(data, stop, final=final)
            rest = data[used:]
            if len(block):
                yield block
        else:
            rest = data
        chunk = following


class _Walk:
    """Where the walk through one file stands."""

    def __init__(self, dialect: Dialect, shape: Shape, line: int) -> None:
        self.dialect, self.shape = dialect, shape
        self.delimiter = ord(dialect.delimiter) if dialect.delimiter else -1
        self.quote = ord(dialect.quote) if dialect.quote else -1
        self.records, self.line, self.in_vain = 0, line, 0

    def block(self, data: bytes, stop: int, *, final: bool) -> tuple[Block, int]:
        """The records of `data` up to `stop`, or up to one that needs more; bytes used."""
        width = self.shape.width
        view = np.frombuffer(data, np.uint8)
        room = int(np.count_nonzero(view == 10) + np.count_nonzero(view == 13)) + 1
        begins, lengths, places, kinds = cell_splitting.empty_places(room, width)
        odd: dict[int, _Odd] = {}
        at = row = 0
        while at < stop:
            at, row, self.line = cell_splitting.split(
                view, at, stop, self.delimiter, self.quote, width, row, self.line,
                begins, lengths, places, kinds,
            )  # fmt: skip
            if at >= stop:
                break
            found = self._careful(data, at, final=final)
            if found is None:
                break
            odd[row], behind = found
            places[row] = at, at, self.line
            self.line += odd[row].lines
            kinds[row] = cell_splitting.OTHER
            row, at = row + 1, behind
        others = np.flatnonzero(kinds[:row] == cell_splitting.OTHER)
        others = others[~np.isin(others, list(odd))]
        # A file may be a million lines without a character: nothing is scanned or noted of them.
        nothing = places[others, 0] == places[others, 1]
        for place in others[~nothing].tolist():
            text = data[places[place, 0] : places[place, 1]].decode()
            odd[place] = _Odd(scan(text, self.dialect).cells, None, (), text, 1)
        arrays = begins, lengths, places, kinds
        block = self._made(data, view, row, arrays, odd, others[nothing])
        self.records += row
        return block, at

    def _careful(self, data: bytes, at: int, *, final: bool) -> tuple[_Odd, int] | None:
        """The record that begins at a line that is not clean; None where it may need more data."""
        span = MAX_SPAN_LINES if self.in_vain < _PATIENCE_LINES else _SHORT_SPAN_LINES
        near = self._window(data, at, 1 + min(span, _NEAR_LINES), final=final)
        if near is None:
            return None
        records = parse(near[0], self.dialect, self.shape)
        window, behind = near
        opened = scan(window.texts[0], self.dialect).state not in (CLEAN, STRAY)
        if opened and 0 in records.faults:
            far = self._window(data, at, 1 + span, final=final)
            if far is None:
                return None
            window, behind = far
            records = parse(window, self.dialect, self.shape)
        stop = records.stops[0]
        fault = records.faults.get(0)
        if opened and fault and stop == 1:
            self.in_vain += span
        codes = (records.warnings[0],) if 0 in records.warnings else ()
        return _Odd(records.cells[0], fault, codes, records.raw(0), stop), behind[stop]

    def _window(
        self, data: bytes, at: int, count: int, *, final: bool
    ) -> tuple[Lines, list[int]] | None:
        """So many lines from `at` on, and where each begins and the last one ends."""
        view = np.frombuffer(data, np.uint8)
        begins = [at]
        while len(begins) <= count and begins[-1] < len(data):
            begins.append(cell_splitting.next_line(view, begins[-1], len(data)))
        if len(begins) <= count + 1 and begins[-1] >= len(data) and not final:
            return None
        return split_lines(data[at : begins[-1]].decode()), begins

    def _made(
        self,
        data: bytes,
        view: np.ndarray,
        rows: int,
        arrays: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
        odd: dict[int, _Odd],
        nothing: np.ndarray,
    ) -> Block:
        begins, lengths, places, kinds = arrays
        width = self.shape.width
        block = Block(self.records, [], places[:rows, 2].copy())
        side = bytearray()
        usual = rows - len(nothing) * (width != 1)
        lengths[nothing] = begins[nothing] = 0
        empty = [""]
        for row, line in zip(nothing.tolist(), places[nothing, 2].tolist(), strict=True):
            block.doubts[row] = Doubt(empty, "", line, None)
        for row, one in odd.items():
            usual -= len(one.cells) != width or one.fault is not None
            _note(block, row, one, width)
            for column in range(width):
                cell = one.cells[column].encode() if column < len(one.cells) else b""
                begins[row, column] = len(data) + len(side)
                lengths[row, column] = len(cell)
                side += cell
        for row in np.flatnonzero(kinds[:rows] == cell_splitting.PERHAPS).tolist():
            text = data[places[row, 0] : places[row, 1]].decode()
            cells = scan(text, self.dialect).cells
            block.doubts[row] = Doubt(cells, text, int(places[row, 2]), None)
        if side:
            view = np.concatenate([view, np.frombuffer(bytes(side), np.uint8)])
            view.flags.writeable = False
        for column in range(width):
            block.columns.append(self._column(view, begins, lengths, column, rows))
        return Block(
            block.first, block.columns, block.starts, block.faults, block.warnings,
            block.raws, block.doubts, usual, data, places[:rows],
        )  # fmt: skip

    def _column(
        self, view: np.ndarray, begins: np.ndarray, lengths: np.ndarray, column: int, rows: int
    ) -> pa.Array:
        offsets = np.empty(rows + 1, np.int64)
        total = cell_splitting.measure(view, self.quote, begins, lengths, column, rows, offsets)
        out = np.empty(total, np.uint8)
        cell_splitting.gather(view, self.quote, begins, lengths, column, rows, offsets, out)
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(out)]
        return pa.Array.from_buffers(pa.large_string(), rows, buffers)


class _Odd(NamedTuple):
    """A record read with care."""

    cells: list[str]
    fault: str | None
    warnings: tuple[str, ...]
    raw: str
    lines: int


def _note(block: Block, row: int, one: _Odd, width: int) -> None:
    fault = one.fault
    if fault is None and len(one.cells) > width and not is_blank(one.cells[width:]):
        fault = "too_many_cells"
    codes = one.warnings
    if fault is None and len(one.cells) < width:
        codes = (*codes, "short_row")
    if fault is not None:
        block.faults[row] = fault
        block.raws[row] = one.raw
    if codes:
        block.warnings[row] = codes
    block.doubts[row] = Doubt(one.cells, one.raw, int(block.starts[row]), one.fault)
