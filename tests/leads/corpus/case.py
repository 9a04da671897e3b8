"""A made file with its exact truth, and the writing of tables line by line; it reads nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

#: A record of the truth that is damaged: it must be one row with a fault, whatever its cells.
SPOILT: tuple[str, ...] = ("\x00spoilt",)


@dataclass(frozen=True, slots=True)
class Case:
    """One file and what a reader should make of it.

    Attributes:
        suite: Name of the suite.
        name: What is messy about it.
        file: Its name.
        data: Its bytes.
        header: Its header, or None where it has none.
        records: The cells of each record, or `SPOILT`.
        lines: 1-based physical line (sheet row) where each record begins.
    """

    suite: str
    name: str
    file: str
    data: bytes
    header: tuple[str, ...] | None
    records: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]


@dataclass
class Paper:
    """A text file while it is written.

    Attributes:
        delimiter: Between cells.
        quote: Around cells.
        always: Whether every cell is quoted.
        escape: What stands before a quote inside a quoted cell, None to double it.
        end: Line end.
    """

    delimiter: str = ","
    quote: str | None = '"'
    always: bool = False
    escape: str | None = None
    end: str = "\n"
    header: tuple[str, ...] | None = None
    pieces: list[str] = field(default_factory=list)
    records: list[tuple[str, ...]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    at: int = 1

    def write(self, text: str) -> None:
        """A piece of text as it is, with the file's line end behind it."""
        self.pieces.append(text + self.end)
        self.at += text.count("\n") + 1

    def row(self, cells: Sequence[str], *, behind: str = "") -> None:
        """A record, as the dialect writes it."""
        self.damaged(self.delimiter.join(map(self.cell, cells)) + behind, tuple(cells))

    def damaged(self, text: str, cells: tuple[str, ...]) -> None:
        """A record that is written otherwise than the dialect says, with its true cells."""
        self.records.append(cells)
        self.lines.append(self.at)
        self.write(text)

    def names(self, cells: Sequence[str], *, behind: str = "") -> None:
        """The header."""
        self.header = tuple(cells)
        self.write(self.delimiter.join(map(self.cell, cells)) + behind)

    def cell(self, text: str) -> str:
        """A cell as the dialect writes it."""
        quote = self.quote
        if quote is None:
            return text
        marks = (self.delimiter, self.delimiter[0], quote, "\n", "\r")
        if not self.always and not any(mark in text for mark in marks):
            return text
        inner = text
        if self.escape:
            inner = inner.replace(self.escape, self.escape * 2)
        inner = inner.replace(quote, (self.escape or quote) + quote)
        return f"{quote}{inner}{quote}"

    def case(
        self,
        suite: str,
        name: str,
        encoding: str = "utf-8",
        *,
        last_end: bool = True,
        file: str = "table.csv",
    ) -> Case:
        """The finished file."""
        text = "".join(self.pieces)
        text = text if last_end else text.removesuffix(self.end)
        return Case(
            suite,
            name,
            file,
            text.encode(encoding),
            self.header,
            tuple(self.records),
            tuple(self.lines),
        )
