"""Physical lines, records and the dialect they are written in, as values; they parse nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

# CR CR LF is what a file gets that was translated to Windows line ends twice.
LINE_END: Final = re.compile("\r{0,2}\n|\r")
_DIGITS: Final = re.compile(r"\d")
_MANY_DIGITS: Final = 5


@dataclass(frozen=True, slots=True)
class Dialect:
    """How cells are written.

    Attributes:
        delimiter: Between cells; empty for a file of one column.
        quote: Around cells, or None where the file has no quotes.
        escape: A character that takes a quote's meaning away, or None (quotes are doubled).
        skip_space: Whether blanks behind a delimiter belong to it.
        starts: Where each column begins, in a file whose columns have a fixed width.
    """

    delimiter: str = ","
    quote: str | None = '"'
    escape: str | None = None
    skip_space: bool = False
    starts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Shape:
    """What a usual record looks like.

    Attributes:
        width: Cells that most records have.
        digits: Columns in which nearly every record has many digits (phones, ids).
        ats: Columns in which nearly every record has an `@`.
    """

    width: int
    digits: tuple[int, ...] = ()
    ats: tuple[int, ...] = ()

    def fits(self, cells: Sequence[str]) -> bool:
        """Whether the cells are a usual record; never for a single column."""
        return len(cells) == self.width and self.resembles(cells)

    def begins(self, cells: Sequence[str]) -> bool:
        """Whether the cells may be a record of their own, not a line inside a cell."""
        return len(cells) >= self.width > 1 or self.resembles(cells)

    def resembles(self, cells: Sequence[str]) -> bool:
        """Whether the cells are a record of their own, perhaps with some too few or too many."""
        if self.width < 2:
            return False
        if not self.digits and not self.ats:
            return len(cells) == self.width > 3
        telling = (*self.digits, *self.ats)
        return (
            max(telling) < len(cells)
            and all(has_many_digits(cells[at]) for at in self.digits)
            and all("@" in cells[at] for at in self.ats)
        )


@dataclass(frozen=True, slots=True)
class Lines:
    """Physical lines and what ended each (empty for a last line without an end)."""

    texts: list[str]
    ends: list[str]

    def raw(self, start: int, stop: int) -> str:
        """Lines `start` to `stop` as they stand in the file, without the last one's end."""
        inner = range(start, stop - 1)
        return "".join(self.texts[at] + self.ends[at] for at in inner) + self.texts[stop - 1]


@dataclass(frozen=True, slots=True)
class Records:
    """Records in the order of the file.

    Attributes:
        cells: Texts of each record.
        starts: 0-based physical line where each begins.
        stops: Line behind its last one.
        faults: Record to reason code, for records that could not be read whole.
        warnings: Record to warning code.
        lines: The physical lines; empty lists where the format has none.
        raws: Record to its own text, where lines do not tell it.
    """

    cells: list[list[str]]
    starts: list[int]
    stops: list[int]
    faults: dict[int, str] = field(default_factory=dict)
    warnings: dict[int, str] = field(default_factory=dict)
    lines: Lines = field(default_factory=lambda: Lines([], []))
    raws: dict[int, str] = field(default_factory=dict)

    def raw(self, record: int) -> str:
        """The record's own text; cells joined by tabs where the format has no lines of text."""
        if record in self.raws:
            return self.raws[record]
        if not self.lines.texts:
            return "\t".join(self.cells[record]).rstrip("\t")
        return self.lines.raw(self.starts[record], self.stops[record])


def split_lines(text: str) -> Lines:
    """Physical lines, ended by CR LF, LF or CR, mixed as they come."""
    texts = LINE_END.split(text)
    ends = [*LINE_END.findall(text), ""]
    if texts[-1] == "":
        texts.pop()
        ends.pop()
    return Lines(texts, ends)


def has_many_digits(cell: str) -> bool:
    """Whether the cell holds as many digits as a short phone number or id."""
    return len(_DIGITS.findall(cell)) >= _MANY_DIGITS
