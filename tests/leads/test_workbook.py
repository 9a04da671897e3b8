"""Sheets are read as a person sees them, and the sheet with the leads is found."""

from __future__ import annotations

import datetime as dt
import io
import zipfile
from collections.abc import Sequence

import openpyxl
import pytest

from dialframe.errors import LeadFileError
from dialframe.leads.tables import shown

HEADER = ("Name", "Phone", "ZIP")
LEADS = (("Ann", 2125550142, 2134), ("Bob", "212-555-0143", 10001))


def book(
    sheets: dict[str, Sequence[Sequence[object]]], *, hidden: str = "", zeros: str = ""
) -> bytes:
    """A workbook; the column `zeros` shows five digits."""
    workbook = openpyxl.Workbook()
    workbook.remove(workbook.active)
    for name, rows in sheets.items():
        sheet = workbook.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
        if name == hidden:
            sheet.sheet_state = "hidden"
        for cell in sheet[zeros] if zeros else ():
            cell.number_format = "00000"
    out = io.BytesIO()
    workbook.save(out)
    return out.getvalue()


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (2125550142, "2125550142"),
        (2125550142.0, "2125550142"),
        (-3.0, "-3"),
        (1.5, "1.5"),
        (0.1, "0.1"),
        (1e16, "1e+16"),
        (float("nan"), ""),
        (True, "TRUE"),
        (False, "FALSE"),
        (dt.datetime.fromisoformat("2024-01-05"), "2024-01-05"),
        (dt.datetime.fromisoformat("2024-01-05T10:30"), "2024-01-05T10:30:00"),
        (dt.date(2024, 1, 5), "2024-01-05"),
        (dt.time(10, 30), "10:30:00"),
        (dt.timedelta(hours=1), "1:00:00"),
        (None, ""),
        ("  as is ", "  as is "),
    ],
)
def test_cells_are_shown_as_a_person_sees_them(cell, text):
    """Whole numbers have no `.0`, dates are ISO, texts are untouched."""
    assert shown(cell) == text


def test_numbers_are_not_changed(lead_file):
    """A phone stored as a number is its digits, and lines are rows of the sheet."""
    file = lead_file(book({"Leads": [HEADER, *LEADS]}), "leads.xlsx")

    assert file.frame["Phone"].tolist() == ["2125550142", "212-555-0143"]
    assert file.lines.tolist() == [2, 3]
    assert file.decisions.format == "workbook"


def test_the_sheet_that_looks_like_leads_is_taken(lead_file):
    """A cover and a hidden old list are passed over, and named."""
    sheets = {"Cover": [("Autumn",)], "Old": [HEADER, *LEADS * 9], "New": [HEADER, *LEADS]}

    file = lead_file(book(sheets, hidden="Old"), "leads.xlsx")

    assert file.decisions.sheet == "New"
    assert file.decisions.other_sheets == ("Cover", "Old (hidden)")


@pytest.mark.parametrize(("sheet", "rows"), [("Old", 2), (0, 1)])
def test_a_sheet_can_be_told(lead_file, sheet, rows):
    """By name, also a hidden one, or by its place."""
    data = book({"New": [HEADER, LEADS[0]], "Old": [HEADER, *LEADS]}, hidden="Old")

    assert len(lead_file(data, "leads.xlsx", sheet=sheet).frame) == rows


def test_an_unknown_sheet_is_refused_with_the_names(lead_file):
    """The error lists what there is."""
    with pytest.raises(LeadFileError, match=r"no sheet 'Sales'; it has: New"):
        lead_file(book({"New": [HEADER]}), "leads.xlsx", sheet="Sales")


def test_title_rows_and_gaps_keep_the_row_numbers(lead_file):
    """A title, an empty row, and rows that begin in a later column."""
    rows = [("Autumn list",), (), HEADER, LEADS[0], (), LEADS[1]]

    file = lead_file(book({"Leads": rows}), "leads.xlsx")

    assert file.decisions.header_line == 3
    assert file.lines.tolist() == [4, 6]
    assert file.skipped["_code"].tolist() == ["preamble", "preamble", "blank"]


def test_leading_zeros_of_a_format_are_given_back(lead_file):
    """A post code that shows 02134 is 02134, though 2134 is stored."""
    file = lead_file(book({"Leads": [HEADER, *LEADS]}, zeros="C"), "leads.xlsx")

    assert file.frame["ZIP"].tolist() == ["02134", "10001"]


def test_zeros_are_given_back_on_the_right_sheet_only(lead_file):
    """Another sheet's formats do not matter."""
    data = book({"Leads": [HEADER, *LEADS], "Notes": [("x", "y", 5)]}, hidden="Notes")

    assert lead_file(data, "leads.xlsx").frame["ZIP"].tolist() == ["2134", "10001"]


def test_a_workbook_without_rows_is_refused(lead_file):
    """An empty sheet is no list."""
    with pytest.raises(LeadFileError, match="no visible sheet has rows"):
        lead_file(book({"Leads": []}), "leads.xlsx")


def test_a_workbook_of_hidden_sheets_is_refused_with_their_names(lead_file):
    """Nothing hidden is taken unasked."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(book({"Secret": [HEADER, *LEADS]}))) as whole,
        zipfile.ZipFile(out, "w") as changed,
    ):
        for part in whole.namelist():
            # openpyxl itself never writes a workbook without a visible sheet.
            text = whole.read(part).replace(b'state="visible"', b'state="hidden"')
            changed.writestr(part, text)

    with pytest.raises(
        LeadFileError, match="no visible sheet; name one with sheet=, it has: Secret"
    ):
        lead_file(out.getvalue(), "leads.xlsx")


def test_a_damaged_workbook_is_refused(lead_file):
    """The error says that it is damaged."""
    with pytest.raises(LeadFileError, match="damaged workbook"):
        lead_file(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "leads.xls")


def test_open_document_sheets_are_read(lead_file):
    """ODS is a workbook like any other: numbers as shown, dates ISO, repeated empty rows counted."""
    spaces = "urn:oasis:names:tc:opendocument:xmlns"

    def cell(kind: str, value: str) -> str:
        told = {
            "string": "",
            "float": f' office:value="{value}"',
            "date": f' office:date-value="{value}"',
        }
        return f'<table:table-cell office:value-type="{kind}"{told[kind]}><text:p>{value}</text:p></table:table-cell>'

    def row(*cells: str) -> str:
        return f"<table:table-row>{''.join(cells)}</table:table-row>"

    head = row(*(cell("string", name) for name in ("Name", "Phone", "Since")))
    lead = row(cell("string", "Ann"), cell("float", "2125550142"), cell("date", "2024-01-05"))
    content = (
        f'<office:document-content xmlns:office="{spaces}:office:1.0" xmlns:table="{spaces}:table:1.0" '
        f'xmlns:text="{spaces}:text:1.0"><office:body><office:spreadsheet>'
        f'<table:table table:name="Leads">{head}<table:table-row table:number-rows-repeated="2">'
        f"<table:table-cell/></table:table-row>{lead}</table:table>"
        "</office:spreadsheet></office:body></office:document-content>"
    )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", content)
        archive.writestr("META-INF/manifest.xml", f'<m:manifest xmlns:m="{spaces}:manifest:1.0"/>')

    file = lead_file(out.getvalue(), "leads.ods")

    assert file.frame.to_numpy().tolist() == [["Ann", "2125550142", "2024-01-05"]]
    assert file.lines.tolist() == [4]
    assert file.skipped["_code"].tolist() == ["blank", "blank"]


@pytest.mark.parametrize("part", ["xl/workbook.xml", "xl/styles.xml", "xl/worksheets/sheet2.xml"])
def test_a_workbook_with_a_damaged_part_is_refused(lead_file, samples, part):
    """Whichever part it is, the error is the same one sentence."""
    data = bytearray((samples / "leads" / "us_walk_ins.xlsx").read_bytes())
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        whole = archive.getinfo(part)
    data[whole.header_offset + 30 + len(part) + whole.file_size // 2] ^= 0xFF

    with pytest.raises(LeadFileError, match="damaged workbook"):
        lead_file(bytes(data), "leads.xlsx")
