"""A workbook that would fill the memory is refused before a cell is read."""

from __future__ import annotations

import contextlib
import io
import zipfile

import pytest
import xlsxwriter
from tests.growth import assert_steady

from dialframe import leads
from dialframe.errors import LeadFileError
from dialframe.leads import tables as reader
from dialframe.leads.tables import check_parts


def workbook(*cells: tuple[int, int]) -> bytes:
    out = io.BytesIO()
    book = xlsxwriter.Workbook(out, {"in_memory": True})
    sheet = book.add_worksheet("List")
    for row, column in cells:
        sheet.write(row, column, "x")
    book.close()
    return out.getvalue()


def with_part(data: bytes, name: str, old: bytes, new: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as read, zipfile.ZipFile(out, "w") as written:
        for part in read.namelist():
            content = read.read(part)
            written.writestr(part, content.replace(old, new, 1) if part == name else content)
    return out.getvalue()


def test_a_stray_cell_in_the_far_corner_is_named(lead_file):
    """With its row, its column and what to do."""
    with pytest.raises(LeadFileError, match="row 1,048,576 and one in column 16,384"):
        lead_file(workbook((0, 0), (1_048_575, 16_383)), "leads.xlsx")


@pytest.mark.parametrize(
    "cells", [((0, 0),), ((0, 0), (999_999, 3)), ((0, 16_383),), ((999, 999),)]
)
def test_long_and_wide_sheets_are_fine(tmp_path, cells):
    """A million rows, sixteen thousand columns, but not both."""
    check_parts(tmp_path, workbook(*cells))


@pytest.mark.parametrize(
    ("part", "unit"),
    [
        ("xl/worksheets/sheet1.xml", "<row "),
        ("xl/worksheets/sheet1.xml", "<c "),
        ("xl/styles.xml", "<cellXfs "),
        ("xl/styles.xml", "<numFmt "),
        ("xl/workbook.xml", "<sheet "),
    ],
)
def test_near_misses_of_tags_are_looked_through_steadily(tmp_path, part, unit):
    """Hundreds of thousands of them weigh next to nothing in an archive."""
    data = workbook((0, 0))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        first = archive.read(part)[-20:]

    def hostile(chars):
        return with_part(data, part, first, (unit * chars)[:chars].encode() + first)

    def read(hostile):
        with contextlib.suppress(LeadFileError):
            leads.read(put(tmp_path / "leads.xlsx", hostile))

    assert_steady(read, hostile, 200_000)


def test_many_sheets_are_read_steadily(tmp_path, monkeypatch):
    """Each is looked at once, not once for every other; sheets beyond all use are refused."""

    def written(sheets):
        book = xlsxwriter.Workbook(tmp_path / f"{sheets}.xlsx")
        for _ in range(sheets):
            sheet = book.add_worksheet()
            sheet.write_row(0, 0, ["Name", "Phone"])
            sheet.write_row(1, 0, ["Ann", "212-555-0142"])
        book.close()
        return tmp_path / f"{sheets}.xlsx"

    assert_steady(lambda path: len(leads.read(path).frame), written, 300)
    monkeypatch.setattr(reader, "MOST_SHEETS", 299)
    with pytest.raises(LeadFileError, match="has 300 sheets"):
        leads.read(tmp_path / "300.xlsx")


def test_a_workbook_formatted_to_its_last_row_is_read(tmp_path):
    """Formats without values are no cells, and of a gap of a million rows a few are told."""
    book = xlsxwriter.Workbook(tmp_path / "leads.xlsx")
    form = book.add_format({"bold": True})
    for month, end in (("May", None), ("June", "212-555-0149")):
        sheet = book.add_worksheet(month)
        for at, row in enumerate((("Name", "Phone"), ("Ann", f"212-555-014{len(month)}"))):
            sheet.write_row(at, 0, row)
        sheet.write_blank(1_048_574, 0, None, form)
        if end:
            sheet.write_row(1_048_575, 0, ("Bob", end))
    book.close()

    file = leads.read(tmp_path / "leads.xlsx")

    assert file.frame["Phone"].tolist() == ["212-555-0143", "212-555-0144", "212-555-0149"]
    assert file.lines.tolist() == [2, 2, 1_048_576]
    assert file.records == 1_003


def put(path, data):
    path.write_bytes(data)
    return path


def test_entities_are_refused(lead_file):
    """A document type may hold entities that grow without end."""
    data = with_part(
        workbook((0, 0)), "xl/sharedStrings.xml", b"?>", b'?><!DOCTYPE x [<!ENTITY a "b">]>'
    )

    with pytest.raises(LeadFileError, match=r"declares XML entities in xl/sharedStrings\.xml"):
        lead_file(data, "leads.xlsx")


@pytest.mark.parametrize(
    ("times", "rows", "told"),
    [
        ('"1000000"', 1, "1,000,000"),
        ("'1000000'", 1, "1,000,000"),
        ('"20000000000"', 1, "20,000,000,000"),
        ('"19999"', 50, "999,950"),
    ],
)
def test_repeated_values_are_refused(tmp_path, times, rows, told):
    """One cell of an ODS may stand for a million, and many for some thousands each."""
    out = io.BytesIO()
    row = rows * (
        f"<table:table-row table:number-rows-repeated={times}><table:table-cell "
        'office:value-type="string"><text:p>x</text:p></table:table-cell></table:table-row>'
    )
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("content.xml", f"<office:body>{row}</office:body>")

    with pytest.raises(LeadFileError, match=f"repeats one value {told} times"):
        check_parts(tmp_path, out.getvalue())


def test_sheets_with_the_same_header_are_one_list(lead_file):
    """The others are named, and hidden rows and columns are counted."""
    out = io.BytesIO()
    book = xlsxwriter.Workbook(out, {"in_memory": True})
    for name, header in (("North", "Phone"), ("South", "phone "), ("Notes", "Text")):
        sheet = book.add_worksheet(name)
        sheet.write_row(0, 0, ["Name", header])
        sheet.write_row(1, 0, [f"Ann of {name}", "212-555-0142"])
        sheet.set_row(1, None, None, {"hidden": name == "South"})
        sheet.set_column(0, 0, None, None, {"hidden": name == "North"})
    book.close()

    file = lead_file(out.getvalue(), "leads.xlsx")
    decisions = file.decisions

    assert file.frame["Name"].tolist() == ["Ann of North", "Ann of South"]
    assert leads.clean_files([file.path], None, region="US").counts["records"] == 2
    assert [part.name for part in file.parts] == ["North", "South"]
    assert (decisions.hidden_rows, decisions.hidden_columns) == (1, 1)

    assert decisions.sheet == "North"
    assert decisions.alike_sheets == ("South",)


def test_a_workbook_with_a_password_is_no_damaged_one(lead_file):
    """Office keeps it as a stream in a container of the older format."""
    data = (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2048) + "EncryptedPackage".encode("utf-16-le")
    )

    with pytest.raises(LeadFileError, match="has a password; save it without one"):
        lead_file(data + bytes(4096), "leads.xlsx")


def test_the_odd_table_of_an_archive_is_named(lead_file):
    """With what to do about it."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in ("leeds", "york", "hull"):
            archive.writestr(f"{name}.csv", "Name,Phone\nAnn,212-555-0142\n")
        archive.writestr("prices.csv", "Item,Price,Tax\nDesk,12,2\n")

    with pytest.raises(LeadFileError, match=r"prices\.csv has other columns than the other 3"):
        lead_file(out.getvalue(), "fairs.zip")
