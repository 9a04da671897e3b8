"""A workbook that would fill the memory is refused before a cell is read."""

from __future__ import annotations

import io
import zipfile

import pytest
import xlsxwriter

from dialframe.errors import LeadFileError
from dialframe.leads.workbook_parts import check_parts


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


def test_entities_are_refused(lead_file):
    """A document type may hold entities that grow without end."""
    data = with_part(
        workbook((0, 0)), "xl/sharedStrings.xml", b"?>", b'?><!DOCTYPE x [<!ENTITY a "b">]>'
    )

    with pytest.raises(LeadFileError, match=r"declares XML entities in xl/sharedStrings\.xml"):
        lead_file(data, "leads.xlsx")


def test_repeated_values_are_refused(tmp_path):
    """One cell of an ODS may stand for a million."""
    out = io.BytesIO()
    row = (
        '<table:table-row table:number-rows-repeated="1000000"><table:table-cell '
        'office:value-type="string"><text:p>x</text:p></table:table-cell></table:table-row>'
    )
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("content.xml", f"<office:body>{row}</office:body>")

    with pytest.raises(LeadFileError, match="repeats one value 1,000,000 times"):
        check_parts(tmp_path, out.getvalue())


def test_a_second_sheet_with_the_same_header_is_told(lead_file):
    """The list may go on there."""
    out = io.BytesIO()
    book = xlsxwriter.Workbook(out, {"in_memory": True})
    for name, header in (("North", "Phone"), ("South", "phone "), ("Notes", "Text")):
        sheet = book.add_worksheet(name)
        sheet.write_row(0, 0, ["Name", header])
        sheet.write_row(1, 0, ["Ann", "212-555-0142"])
    book.close()

    decisions = lead_file(out.getvalue(), "leads.xlsx").decisions

    assert decisions.sheet == "North"
    assert decisions.alike_sheets == ("South",)
