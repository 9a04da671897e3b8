"""A made file with its exact truth, and the writing of tables line by line; it reads nothing."""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import xlsxwriter

Cells = tuple[str, ...]

#: A record of the truth that is damaged: it must be one row with a fault, whatever its cells.
SPOILT: Cells = ("\x00spoilt",)


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
    header: Cells | None
    records: tuple[Cells, ...]
    lines: tuple[int, ...]


@dataclass
class Paper:
    """A text file.

    Attributes:
        delimiter: Between cells.
        quote: Around cells, None where a quotation mark is a character like any other.
        always: Whether every cell is quoted.
        escape: What stands before a quote inside a quoted cell, None to double it.
        widths: Of the columns, where blanks fill them up and nothing delimits them.
    """

    delimiter: str = ","
    quote: str | None = '"'
    always: bool = False
    escape: str | None = None
    widths: Sequence[int] = ()
    pieces: list[str] = field(default_factory=list)
    at: int = 1

    def write(self, text: str) -> None:
        """A line as it is."""
        self.pieces.append(text)
        self.at += text.count("\n") + 1

    def names(self, cells: Cells) -> None:
        """The header, as the dialect writes it."""
        self.write(self.line(cells))

    row = names

    def line(self, cells: Cells) -> str:
        """Cells as the dialect writes them."""
        if self.widths:
            return "".join(map(str.ljust, cells, self.widths)).rstrip()
        return self.delimiter.join(map(self.cell, cells))

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


class Book:
    """A workbook; `stored` has the format of each column that is not text."""

    def __init__(self, stored: Mapping[int, str]) -> None:
        self._out = io.BytesIO()
        self._book = xlsxwriter.Workbook(self._out, {"in_memory": True})
        self._forms = {
            column: self._book.add_format({"num_format": form}) for column, form in stored.items()
        }
        self._sheet: Any = None
        self.at = 1

    def sheet(self, name: str, *, hidden: bool = False) -> None:
        """Begin a sheet."""
        self._sheet, self.at = self._book.add_worksheet(name), 1
        if hidden:
            self._sheet.hide()

    def write(self, text: str) -> None:
        """A row with one cell, or an empty row."""
        self.names((text,))

    def names(self, cells: Cells) -> None:
        """Cells as text."""
        for column, text in enumerate(cells):
            if text:
                self._sheet.write_string(self.at - 1, column, text)
        self.at += 1

    def row(self, cells: Cells) -> None:
        """Cells as their columns store them."""
        at = self.at - 1
        self.names(tuple("" if at in self._forms else text for at, text in enumerate(cells)))
        for column, form in self._forms.items():
            self._sheet.write(at, column, _stored(cells[column]), form)

    def finished(self) -> bytes:
        """The file."""
        self._book.close()
        return self._out.getvalue()


def _stored(seen: str) -> bool | dt.date | float:
    if seen in ("TRUE", "FALSE"):
        return seen == "TRUE"
    return dt.date.fromisoformat(seen) if "-" in seen else float(seen)
