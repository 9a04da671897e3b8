"""A number is shown in the places that its format has, as a person sees it."""

from __future__ import annotations

import io

import pytest
import xlsxwriter

from dialframe.leads.tables import masked


@pytest.mark.parametrize(
    ("digits", "mask", "shown"),
    [
        ("2134", "00000", "02134"),
        ("123456", "00000", "123456"),
        ("7700900123", "00000 000000", "07700 900123"),
        ("2125550142", "000-000-0000", "212-555-0142"),
        ("2125550142", r"\(000\)\ 000\-0000", "(212) 555-0142"),
        ("2125550142", r"[<=9999999]###\-####;\(###\)\ ###\-####", "(212) 555-0142"),
        ("5550142", r"[<=9999999]###\-####;\(###\)\ ###\-####", "555-0142"),
        ("12125550142", '"+"0 000 000 0000', "+1 212 555 0142"),
        ("12", "000-00", "000-12"),
    ],
)
def test_digits_fall_into_their_places(digits, mask, shown):
    """From the right; zeros fill up, what is too much stands in the first place."""
    assert masked(digits, mask) == shown


@pytest.mark.parametrize(
    ("code", "number", "shown"),
    [
        ("000-000-0000", 2125550142, "212-555-0142"),
        ("00000", 501, "00501"),
        ("0", 501, "501"),
        ("#,##0", 12345, "12345"),
        ("0.00", 5, "5"),
        ("General", 2125550142, "2125550142"),
    ],
)
def test_formats_of_a_workbook(lead_file, code, number, shown):
    """Only formats of places are followed; amounts stay the number that they are."""
    out = io.BytesIO()
    book = xlsxwriter.Workbook(out, {"in_memory": True})
    sheet = book.add_worksheet("List")
    sheet.write_row(0, 0, ["Name", "Phone"])
    sheet.write_string(1, 0, "Ann")
    sheet.write_number(1, 1, number, book.add_format({"num_format": code}))
    book.close()

    assert lead_file(out.getvalue(), "leads.xlsx").frame["Phone"].tolist() == [shown]
