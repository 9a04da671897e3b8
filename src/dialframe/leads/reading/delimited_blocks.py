"""Delimited UTF-8 to columns, block by block: clean lines all at once, all others by the parser.

Whatever the blocks' size, the records are those that `parser.parse` finds in the whole text. What
is no lead (blank lines, totals, headers) is not decided here; records that may be such are kept
apart as texts, for `layout`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from dialframe.background import ahead
from dialframe.leads import arrow_text
from dialframe.leads.lead_file import Dialect, Lines, Shape, split_lines
from dialframe.leads.reading.chunked_text import last_line_end, line_bounds
from dialframe.leads.reading.layout import is_blank
from dialframe.leads.reading.parser import Parser

_NEAR_LINES: Final = 8
_RUN_LINES: Final = 5_000
_ASCII: Final = 128
_DELETE: Final = 127
_CONTACT_DIGITS: Final = 9
#: Up to so many filled cells a record may be a blank line, a total or a remark.
_NARROW: Final = 3
_NONE: Final = np.zeros(0, np.int64)
_MARK: Final = b"\xef\xbb\xbf"
#: Stands for the delimiter of a file that has none.
_UNUSED: Final = "\x1f"


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
        nothing: Records in the block without a character, ascending; a file may be a million of them.
        usual: Records of the usual width.
        data: The text that the records are in.
        places: Begin and end of each record in it.
    """

    first: int
    columns: list[pa.Array]
    starts: np.ndarray
    faults: dict[int, str] = field(default_factory=dict)
    warnings: dict[int, tuple[str, ...]] = field(default_factory=dict)
    raws: dict[int, str] = field(default_factory=dict)
    doubts: dict[int, Doubt] = field(default_factory=dict)
    nothing: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
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
    """Whether the dialect is one whose lines are cut all at once."""
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
    return (block for block in ahead(walk.made, walk.runs(chunks)) if len(block))


class _Run(NamedTuple):
    """Records that follow each other, before they are cut into columns.

    Attributes:
        data: The text that they are in.
        cut: Its lines.
        first: Ordinal of the first one in the file.
        taken: Lines of the text in which they begin.
        lines: Physical lines of those.
        odd: Records that were read with care.
    """

    data: bytes
    cut: _Cut
    first: int
    taken: np.ndarray
    lines: np.ndarray
    odd: dict[int, _Odd]


class _Walk:
    """Where the walk through one file stands."""

    def __init__(self, dialect: Dialect, shape: Shape, line: int) -> None:
        self.dialect, self.shape = dialect, shape
        self.delimiter = ord(dialect.delimiter) if dialect.delimiter else -1
        self.quote = ord(dialect.quote) if dialect.quote else -1
        self.records, self.line = 0, line
        self.parser = Parser(dialect, shape)

    def runs(self, chunks: Iterable[bytes]) -> Iterator[_Run]:
        """The records of the text, so many at a time; only this has to be done in order."""
        rest = b""
        pieces = iter(chunks)
        chunk = next(pieces, None)
        while chunk is not None:
            following = next(pieces, None)
            data = rest + chunk if rest else chunk
            final = following is None
            stop = len(data) if final else last_line_end(data)
            if stop:
                run, used = self._run(data, stop, final=final)
                rest = data[used:]
                yield run
            else:
                rest = data
            chunk = following

    def _run(self, data: bytes, stop: int, *, final: bool) -> tuple[_Run, int]:
        """The records of `data` up to `stop`, or up to one that needs more; bytes used."""
        cut = _cut(data, stop, self.delimiter, self.quote)
        odd: dict[int, _Odd] = {}
        begins_record = np.ones(len(cut.clean), np.bool_)
        behind, end = 0, len(cut.clean)
        window = _Window(data, cut, is_whole=final)
        for line in np.flatnonzero(~cut.clean).tolist():
            if line < behind:
                continue  # a record that began before goes on here
            record = self._careful(window, line)
            if record is None:
                end = line
                break
            odd[line] = record
            behind = line + record.lines
            begins_record[line + 1 : behind] = False
        taken = np.flatnonzero(begins_record[:end])
        rows = np.searchsorted(taken, np.array(list(odd), np.int64)).tolist()
        odd_rows = dict(zip(rows, odd.values(), strict=True))
        run = _Run(data, cut, self.records, taken, taken + self.line, odd_rows)
        self.records, self.line = self.records + len(taken), self.line + end
        return run, int(cut.behind[end - 1]) if end else 0

    def _careful(self, window: _Window, line: int) -> _Odd | None:
        """The record that begins at a line that is not clean; None where it may need more data."""
        for count in (1 + _NEAR_LINES, 1 + self.parser.span):
            lines, at = window.lines(line, count)
            record = self.parser.tried(lines, at)
            is_seen = record.fault is None or len(lines.texts) - at >= 1 + self.parser.span
            if is_seen or window.is_last:
                self.parser.count(record)
                codes = (record.warning,) if record.warning else ()
                raw = lines.raw(at, record.stop)
                return _Odd(record.cells, record.fault, codes, raw, record.stop - at)
        return None

    def made(self, run: _Run) -> Block:
        """The block of some records."""
        data, cut, first, taken, lines, odd = run
        width, rows = self.shape.width, len(taken)
        places = np.stack([cut.begins[taken], cut.ends[taken]], axis=1)
        is_clean = np.ones(rows, np.bool_)
        is_clean[list(odd)] = False
        is_nothing = is_clean & (places[:, 0] == places[:, 1])
        nothing, clean = np.flatnonzero(is_nothing), np.flatnonzero(is_clean & ~is_nothing)
        columns, others = self._columns(_lines(data, cut, taken[is_clean]))
        usual, others = np.delete(clean, others), clean[others]
        texts_of = [data[begin:end].decode() for begin, end in places[others].tolist()]
        for row, text in zip(others.tolist(), texts_of, strict=True):
            odd[row] = _Odd(self.parser.scan(text).cells, None, (), text, 1)
        is_lead = _are_leads(columns)
        block = Block(
            first, columns, lines, nothing=nothing, usual=rows - len(nothing) * (width != 1),
            data=data, places=places,
        )  # fmt: skip
        not_usual = 0
        for row, record in odd.items():
            not_usual += len(record.cells) != width or record.fault is not None
            _note(block, row, record, width)
        for row in usual[~is_lead].tolist():
            text = data[places[row, 0] : places[row, 1]].decode()
            block.doubts[row] = Doubt(self.parser.scan(text).cells, text, int(lines[row]), None)
        if odd or len(nothing):
            # Behind the usual ones: an empty text, then the others.
            order = np.full(rows, len(usual))
            order[usual] = np.arange(len(usual))
            order[list(odd)] = np.arange(len(odd)) + len(usual) + 1
            for at, column in enumerate(columns):
                beside = [
                    record.cells[at] if at < len(record.cells) else "" for record in odd.values()
                ]
                columns[at] = pa.concat_arrays([column, arrow_text.column(["", *beside])]).take(
                    pa.array(order)
                )
        return replace(block, usual=block.usual - not_usual)

    def _columns(self, lines: bytes | memoryview) -> tuple[list[pa.Array], np.ndarray]:
        """The columns of clean lines, and which of the lines are of another width; empty ones do not count."""
        names = [str(at) for at in range(self.shape.width)]
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
    """Lines of a block as texts, decoded a run at a time."""

    def __init__(self, data: bytes, cut: _Cut, *, is_whole: bool) -> None:
        self._data, self._cut, self._is_whole = data, cut, is_whole
        self._first = self._stop = 0
        self._lines = Lines([], [])

    @property
    def is_last(self) -> bool:
        """Whether nothing follows these lines in the file."""
        return self._is_whole and self._stop == len(self._cut.clean)

    def lines(self, line: int, count: int) -> tuple[Lines, int]:
        """Lines with at least so many from a line of the block on, where it has them; and that line's place."""
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
    """Lines of a text.

    Attributes:
        begins: Where each line begins.
        ends: Where its text ends.
        behind: Where the next one begins.
        clean: Whether a strict reader would accept it by itself.
    """

    begins: np.ndarray
    ends: np.ndarray
    behind: np.ndarray
    clean: np.ndarray


def _cut(data: bytes, stop: int, delimiter: int, quote: int) -> _Cut:
    """Cut `data[:stop]` into lines; in a clean one every quote opens or closes a cell, or is doubled in one."""
    view = np.frombuffer(data, np.uint8)
    begins, ends, behind = line_bounds(data, stop)
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
    is_contact[rows] = digits.to_numpy(zero_copy_only=False) >= _CONTACT_DIGITS
    return is_contact


class _Odd(NamedTuple):
    """A record read with care."""

    cells: list[str]
    fault: str | None
    warnings: tuple[str, ...]
    raw: str
    lines: int


def _note(block: Block, row: int, record: _Odd, width: int) -> None:
    fault = record.fault
    if fault is None and len(record.cells) > width and not is_blank(record.cells[width:]):
        fault = "too_many_cells"
    codes = record.warnings
    if fault is None and len(record.cells) < width:
        codes = (*codes, "short_row")
    if fault is not None:
        block.faults[row] = fault
        block.raws[row] = record.raw
    if codes:
        block.warnings[row] = codes
    block.doubts[row] = Doubt(record.cells, record.raw, int(block.starts[row]), record.fault)
