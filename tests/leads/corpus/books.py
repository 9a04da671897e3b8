"""The suite of made spreadsheets: what is stored and what a person sees."""

from __future__ import annotations

import datetime as dt
import io
from random import Random
from typing import Any, Final

import xlsxwriter
from tests.leads.corpus import values
from tests.leads.corpus.case import Case
from tests.leads.corpus.suites import Maker

_EPOCH: Final = dt.date(2020, 1, 1)


class _Book:
    """A workbook while it is written."""

    def __init__(self) -> None:
        self.out = io.BytesIO()
        self.book = xlsxwriter.Workbook(self.out, {"in_memory": True})
        self.header: tuple[str, ...] | None = None
        self.records: list[tuple[str, ...]] = []
        self.lines: list[int] = []

    def sheet(self, name: str, *, hidden: bool = False) -> Any:
        sheet = self.book.add_worksheet(name)
        if hidden:
            sheet.hide()
        return sheet

    def row(
        self, sheet: Any, at: int, stored: list[Any], seen: tuple[str, ...], form: Any = None
    ) -> None:
        for column, value in enumerate(stored):
            if isinstance(value, (dt.date, dt.datetime)):
                sheet.write_datetime(at, column, value, form)
            elif form is not None and isinstance(value, int):
                sheet.write_number(at, column, value, form)
            else:
                sheet.write(at, column, value)
        self.records.append(seen)
        self.lines.append(at + 1)

    def case(self, name: str) -> Case:
        self.book.close()
        return Case(
            "xlsx",
            name,
            "book.xlsx",
            self.out.getvalue(),
            self.header,
            tuple(self.records),
            tuple(self.lines),
        )


def _head(book: _Book, sheet: Any, at: int, names: tuple[str, ...]) -> None:
    book.header = names
    for column, name in enumerate(names):
        sheet.write_string(at, column, name)


def _numbers(random: Random, name: str) -> Case:
    book = _Book()
    sheet = book.sheet("Leads")
    _head(book, sheet, 0, ("Name", "Phone", "Score", "VIP"))
    for at in range(random.randrange(2, 40)):
        digits, score, vip = (
            random.randrange(2_125_550_100, 2_125_550_199),
            random.choice((1, 2.5, 0.1, 29.02)),
            random.random() < 0.5,
        )
        book.row(
            sheet,
            at + 1,
            [values.person(random), digits, score, vip],
            (book_person(sheet, at), str(digits), str(score), "TRUE" if vip else "FALSE"),
        )
    return _with_names(book, name, sheet)


def book_person(sheet: Any, at: int) -> str:
    """Placeholder that `_with_names` fills with the text that was written."""
    return f"\x00{at}"


def _with_names(book: _Book, name: str, sheet: Any) -> Case:
    strings = {place: text for text, place in sheet.str_table.string_table.items()}
    first = [strings[sheet.table[line - 1][0].string] for line in book.lines]
    book.records = [(text, *row[1:]) for text, row in zip(first, book.records, strict=True)]
    return book.case(name)


def _dates(random: Random, name: str) -> Case:
    book = _Book()
    sheet = book.sheet("Sheet1")
    form = book.book.add_format(
        {"num_format": random.choice(("yyyy-mm-dd", "dd/mm/yyyy", "d mmm yyyy"))}
    )
    _head(book, sheet, 0, ("Phone", "Joined"))
    for at in range(random.randrange(2, 40)):
        when = _EPOCH + dt.timedelta(days=random.randrange(2000))
        number = values.phone(random)
        book.row(sheet, at + 1, [number, when], (number, when.isoformat()), form)
    return book.case(name)


def _zeros(random: Random, name: str) -> Case:
    book = _Book()
    sheet = book.sheet("Sheet1")
    form = book.book.add_format({"num_format": "00000"})
    _head(book, sheet, 0, ("Name", "Zip"))
    for at in range(random.randrange(2, 40)):
        code, who = random.randrange(500, 99_999), values.person(random)
        book.row(sheet, at + 1, [who, code], (who, f"{code:05d}"), form)
    return book.case(name)


def _low_header(random: Random, name: str) -> Case:
    book = _Book()
    sheet = book.sheet("Export")
    sheet.write_string(0, 0, "Autumn campaign")
    sheet.write_string(1, 0, f"made on {values.day(random)}")
    top = random.choice((3, 4))
    header = random.choice(values.LEAD_HEADERS)
    _head(book, sheet, top, header)
    for at in range(random.randrange(2, 40)):
        row = values.lead(random, header)
        book.row(sheet, top + 1 + at, list(row), row)
    return book.case(name)


def _sheets(random: Random, name: str) -> Case:
    book = _Book()
    notes = book.sheet("Read me")
    notes.write_string(0, 0, "This workbook holds the list of the fair.")
    old = book.sheet("Old", hidden=True)
    header = random.choice(values.LEAD_HEADERS[:6])
    for column, text in enumerate(header):
        old.write_string(0, column, text)
    for at in range(60):
        for column, text in enumerate(values.lead(random, header)):
            old.write_string(at + 1, column, text)
    sheet = book.sheet("List")
    _head(book, sheet, 0, header)
    for at in range(random.randrange(2, 40)):
        row = values.lead(random, header)
        book.row(sheet, at + 1, list(row), row)
    return book.case(name)


def _gaps(random: Random, name: str) -> Case:
    """Empty rows between the records and an empty first column."""
    book = _Book()
    sheet = book.sheet("Sheet1")
    header = ("", "Name", "Phone", "City")
    _head(book, sheet, 0, header)
    line = 1
    for _ in range(random.randrange(3, 40)):
        line += random.choice((0, 0, 0, 1))
        row = ("", values.person(random), values.phone(random), values.city(random))
        book.row(sheet, line, ["", *row[1:]], row)
        line += 1
    return book.case(name)


def _no_header(random: Random, name: str) -> Case:
    book = _Book()
    sheet = book.sheet("Sheet1")
    for at in range(random.randrange(2, 40)):
        row = (values.person(random), values.phone(random), values.city(random))
        book.row(sheet, at, list(row), row)
    return book.case(name)


BOOKS: Final[dict[str, Maker]] = {
    "numbers": _numbers, "dates": _dates, "leading zeros": _zeros, "header low": _low_header,
    "several sheets": _sheets, "gaps": _gaps, "no header": _no_header,
}  # fmt: skip
