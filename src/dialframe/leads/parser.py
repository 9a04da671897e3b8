"""Text to records of cells, each with its physical lines.

RFC 4180 with the damage that real files have. A quote that opens and never closes must not swallow
the leads behind it, so a quoted cell runs over line ends only to a quote that closes cleanly and,
where a line in between looks like a record of its own (`Shape`), only if the whole record then has
the usual width. Otherwise the record is faulty, alone, and the next line that looks like a record
is read as one.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from dialframe.leads.lead_file import Dialect, Lines, Records, Shape

#: Most physical lines that one quoted cell may run over.
MAX_SPAN_LINES: Final = 500
#: The same once that many lines were searched in vain: a file whose quotes mean nothing.
_SHORT_SPAN_LINES: Final = 5
_PATIENCE_LINES: Final = 100_000
#: A note of so many lines may consist of lines that look like records.
_NOTE_LINES: Final = 10
#: Lines of up to so many characters are remembered, so many of them at a time.
_SHORT_CHARS: Final = 500
_KEPT_LINES: Final = 5_000

CLEAN: Final = "clean"
STRAY: Final = "stray"
OPEN: Final = "open"
BROKEN: Final = "broken"


class Scan(NamedTuple):
    """Cells of one record's text, and whether its quotes are clean, stray, open or both (broken)."""

    cells: list[str]
    state: str


def scan(text: str, dialect: Dialect) -> Scan:
    """Cells of one record's text."""
    quote, delimiter = dialect.quote, dialect.delimiter
    if dialect.escape and delimiter and dialect.escape in text:
        return _scan(text, dialect, quote or "\x00\x00")
    if quote is None or quote not in text:
        return Scan(_plain(text, dialect), CLEAN)
    if len(delimiter) == 1 and dialect.escape is None and not dialect.skip_space:
        record, cell = _patterns(delimiter, quote)
        if record.fullmatch(text):
            pairs = cell.findall(text)
            return Scan([bare or piece.replace(quote * 2, quote) for piece, bare in pairs], CLEAN)
    return _scan(text, dialect, quote)


@lru_cache(maxsize=64)
def _patterns(delimiter: str, quote: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A whole record without damage, and one cell of it: what nearly all lines are, read fast."""
    d, q = re.escape(delimiter), re.escape(quote)
    quoted, bare = f"[^{q}]*+(?:{q}{q}[^{q}]*+)*+", f"[^{q}{d}]*+"
    any_cell = f"(?:{q}{quoted}{q}|{bare})"
    return (
        re.compile(f"{any_cell}(?:{d}{any_cell})*+"),
        re.compile(f"(?:^|{d})(?:{q}({quoted}){q}|({bare}))"),
    )


def parse(lines: Lines, dialect: Dialect, shape: Shape, start: int = 0) -> Records:
    """All records from physical line `start` on."""
    records, parser = Records([], [], [], lines=lines), Parser(dialect, shape)
    at, total = start, len(lines.texts)
    while at < total:
        record = parser.tried(lines, at)
        parser.count(record)
        if record.fault:
            records.faults[len(records.cells)] = record.fault
        if record.warning:
            records.warnings[len(records.cells)] = record.warning
        records.cells.append(record.cells)
        records.starts.append(at)
        records.stops.append(record.stop)
        at = record.stop
    return records


class Record(NamedTuple):
    """One record: its cells, the line behind it, what was wrong, and whether a quote of it never closed."""

    cells: list[str]
    stop: int
    fault: str | None = None
    warning: str | None = None
    in_vain: bool = False


class Parser:
    """Reads records one after the other, and looks ahead less once that was in vain too often."""

    def __init__(self, dialect: Dialect, shape: Shape) -> None:
        self.dialect, self.shape = dialect, shape
        self._in_vain = 0
        # Behind an open quote the same lines are looked at again for every record.
        self._scans: dict[str, Scan] = {}

    @property
    def span(self) -> int:
        """Lines that are searched for the quote that closes."""
        return MAX_SPAN_LINES if self._in_vain < _PATIENCE_LINES else _SHORT_SPAN_LINES

    def count(self, record: Record) -> None:
        """Note a record that is taken: whether its quote was searched in vain."""
        self._in_vain += self.span if record.in_vain else 0

    def tried(self, lines: Lines, at: int) -> Record:
        """The record that begins at a line, as far as these lines tell."""
        text, stop, warning = lines.texts[at], at + 1, None
        cells, state = self.scan(text)
        if state == BROKEN and _is_whole(text, self.dialect, self.shape):
            cells, state, warning = _plain(text, self.dialect), CLEAN, "stray_quote"
        in_vain = False
        if state in (OPEN, BROKEN):
            cells, state, stop = self._close(lines, at)
            in_vain = state == OPEN and stop == at + 1
        if state == STRAY:
            cells, state = _stray(lines.raw(at, stop), cells, self.dialect, self.shape)
            warning = "stray_quote"
        if state == OPEN:
            return Record(cells, stop, "unclosed_quote", None, in_vain)
        return Record(cells, stop, None, warning)

    def scan(self, text: str) -> Scan:
        """Cells of one line; those of equal short lines are the same list, which nobody changes."""
        if len(text) > _SHORT_CHARS:
            return scan(text, self.dialect)
        scanned = self._scans.get(text)
        if scanned is None:
            if len(self._scans) >= _KEPT_LINES:
                self._scans.clear()
            scanned = self._scans[text] = scan(text, self.dialect)
        return scanned

    def _close(self, lines: Lines, start: int) -> tuple[list[str], str, int]:
        """The record whose quote is still open at the end of its first line.

        Returns:
            Its cells, `CLEAN` where it closes cleanly or `OPEN` where it does not, and the line
            behind it.
        """
        quote, shape = self.dialect.quote or "", self.shape
        last = min(len(lines.texts), start + 1 + self.span)
        first = self.scan(lines.texts[start])
        broken = first.state == BROKEN
        cells, parts = first.cells[:-1], first.cells[-1:]
        next_record = 0
        for at in range(start + 1, last):
            text = lines.texts[at]
            closing = self.scan(text)
            if not broken:
                parts.append(lines.ends[at - 1])
                # Inside the open cell, a line is read as if the cell's quote stood before it.
                more = self.scan(quote + text) if quote in text else Scan([text], OPEN)
                if len(more.cells) > 1 or more.state != OPEN:
                    begun = _unquote("".join(parts), self.dialect, quote)
                    cells += [begun + more.cells[0], *more.cells[1:]]
                    parts = [cells.pop()] if more.state == OPEN else []
                else:
                    parts += more.cells
                if more.state == CLEAN and _belongs(
                    lines, self.dialect, shape, (start, at), cells, next_record
                ):
                    return cells, CLEAN, at + 1
                broken = more.state != OPEN
            if closing.state in (CLEAN, OPEN) and shape.begins(closing.cells):
                next_record = next_record or at
                if broken:
                    break
        literal = _plain(lines.texts[start], self.dialect)
        return literal, OPEN, next_record or start + 1


def _is_whole(text: str, dialect: Dialect, shape: Shape) -> bool:
    """Whether the quotes of a line are pairs around words, so that it is a record without them."""
    cells = _plain(text, dialect)
    if text.count(dialect.quote or "") % 2 or shape.width < 2 or len(cells) != shape.width:
        return False
    return not (shape.digits or shape.ats) or shape.resembles(cells)


def _plain(text: str, dialect: Dialect) -> list[str]:
    if not dialect.delimiter:
        return [text]
    if dialect.starts:
        stops = (*dialect.starts[1:], None)
        return [text[at:stop].strip(" ") for at, stop in zip(dialect.starts, stops, strict=True)]
    cells = text.split(dialect.delimiter)
    return [cell.lstrip(" ") for cell in cells] if dialect.skip_space else cells


def _scan(text: str, dialect: Dialect, quote: str) -> Scan:
    cells: list[str] = []
    state, at, width = CLEAN, 0, len(dialect.delimiter)
    while True:
        begin = _skip(text, at) if dialect.skip_space else at
        if text.startswith(quote, begin):
            cell, behind, piece_state = _read_quoted(text, begin, dialect, quote)
            if piece_state in (OPEN, BROKEN):
                return Scan([*cells, cell], BROKEN if state == STRAY else piece_state)
        else:
            behind = _end(text, at, dialect)
            cell = text[begin:behind]
            piece_state = STRAY if quote in cell else CLEAN
            if dialect.escape and dialect.escape in cell:
                cell = cell.replace(dialect.escape + dialect.delimiter, dialect.delimiter)
                piece_state = (
                    STRAY if cell.count(quote) > cell.count(dialect.escape + quote) else CLEAN
                )
                cell = cell.replace(dialect.escape + quote, quote)
        state = STRAY if piece_state == STRAY else state
        cells.append(cell)
        if behind >= len(text):
            return Scan(cells, state)
        at = behind + width


def _end(text: str, at: int, dialect: Dialect) -> int:
    """Where a cell without quotes ends: at the next delimiter that is not escaped."""
    if not dialect.delimiter:
        return len(text)
    end = text.find(dialect.delimiter, at)
    while end >= 0 and dialect.escape and _is_escaped(text, end, at - 1, dialect.escape):
        end = text.find(dialect.delimiter, end + 1)
    return len(text) if end < 0 else end


def _skip(text: str, at: int) -> int:
    while text.startswith(" ", at):
        at += 1
    return at


def _read_quoted(text: str, begin: int, dialect: Dialect, quote: str) -> tuple[str, int, str]:
    """One cell that begins with a quote: its text, where it ends, and its state."""
    at, state, total = begin + 1, CLEAN, len(text)
    while True:
        at = text.find(quote, at)
        if at < 0:
            return text[begin + 1 :], total, BROKEN if state == STRAY else OPEN
        if dialect.escape and _is_escaped(text, at, begin, dialect.escape):
            at += 1
        elif text.startswith(quote, at + 1) and not dialect.escape:
            at += 2
        else:
            behind = _skip(text, at + 1)
            if behind >= total or (
                dialect.delimiter and text.startswith(dialect.delimiter, behind)
            ):
                return _unquote(text[begin + 1 : at], dialect, quote), behind, state
            # Text behind a closing quote: the quote was part of the cell.
            state = STRAY
            at += 1


def _is_escaped(text: str, at: int, begin: int, escape: str) -> bool:
    count = 0
    while at - 1 - count > begin and text[at - 1 - count] == escape:
        count += 1
    return count % 2 == 1


def _unquote(cell: str, dialect: Dialect, quote: str) -> str:
    if dialect.escape:
        return cell.replace(dialect.escape + quote, quote).replace(
            dialect.escape * 2, dialect.escape
        )
    return cell.replace(quote * 2, quote)


def _belongs(
    lines: Lines,
    dialect: Dialect,
    shape: Shape,
    begin: tuple[int, int],
    cells: list[str],
    next_record: int,
) -> bool:
    """Whether a quote that closes is that of the record, not of another one far below.

    A note may hold lines that look like records; but where the first and the last line and all
    between are usual records if the quotes mean nothing, the quotes are two accidents.
    """
    if not next_record:
        return True
    start, at = begin
    if len(cells) != shape.width:
        return False
    if at - start <= _NOTE_LINES:
        return True
    between = (_plain(text, dialect) for text in lines.texts[start : at + 1])
    return not all(shape.fits(row) for row in between)


def _stray(text: str, cells: list[str], dialect: Dialect, shape: Shape) -> Scan:
    """A record with quotes inside cells: read so that it has the usual width, or not at all."""
    if len(cells) == shape.width:
        return Scan(cells, CLEAN)
    literal = _plain(text, dialect)
    if shape.fits(literal):
        return Scan(literal, CLEAN)
    quoted_cell = dialect.quote is not None and any(
        cell.lstrip(" ").startswith(dialect.quote) for cell in literal
    )
    return Scan(literal, OPEN) if quoted_cell else Scan(cells, CLEAN)
