"""Numbers that are split over columns are put together, and no digit is guessed."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialframe.leads import map_columns
from dialframe.leads.columns.split_phones import find_joined, join_parts, phone_columns
from dialframe.leads.phones_in_cells import read_phone
from leads.tables import table
from rows import every_row

PARTS = table("phone_parts")


@every_row("cells, text", PARTS["joined"])
def test_cells_are_joined(cells, text):
    """Whole numbers stay, missing first digits are marked, blanks stay blank."""
    assert join_parts(cells) == text


@given(
    st.sampled_from(["", "n/a", " ", "-"]),
    st.from_regex(r"[1-9]\d{2}[- ]?\d{4,5}", fullmatch=True),
)
def test_a_local_number_without_its_area_is_never_called(area, local):
    """Not even where its digits are those of a number in some other town."""
    for region in ("US", "DE", "BR", "JP", "FR", "GB"):
        assert read_phone(join_parts((area, local)), region).e164 == ""


def test_joined_columns_are_one_phone_column(lead_file):
    """Beside others, in the order of the map."""
    file = lead_file("Area,Phone,Cell\n212,555-0142,x\n")
    joined = {"Area + Phone": ("Area", "Phone")}

    columns = phone_columns(file, ("Cell", "Area + Phone"), joined)

    assert columns == {
        "Cell": ["x"],
        "Area + Phone": ["212 555-0142"],
    }


@every_row("columns", PARTS["columns"])
def test_split_numbers_are_found_by_header_and_by_trying(lead_file, columns):
    """Only where what is joined are valid numbers, and where joining changes something."""
    table = {name: pa.array(cells, pa.large_string()) for name, cells in columns["table"].items()}
    file = replace(lead_file("a\nb\n"), table=pa.table(table))
    groups = [list(group) for group, _ in find_joined(file, file.names, "US", None)]

    assert groups == ([columns["group"]] if columns["group"] else [])


@pytest.mark.parametrize(
    ("header", "row", "region"),
    [
        ("Name,phone1,phone2", "Kim {},212,55501{:02}", "US"),
        ("Name,Phone 1,Phone 2,Phone 3", "Kim {},212,555,01{:02}", "US"),
        ("Name,area,number", "Kim {},20,794600{:02}", "GB"),
        ("Name,tel1,tel2", "Kim {},020,794600{:02}", "GB"),
    ],
)
def test_pieces_are_joined_where_joining_makes_valid_numbers(lead_file, header, row, region):
    """However long they are; and the joining can be said."""
    rows = "".join(row.format(at, at) + "\n" for at in range(20, 40))
    file = lead_file(f"{header}\n{rows}")
    parts = header.split(",")[1:]

    assert map_columns(file, region=region).phone == (" + ".join(parts),)
    told = map_columns(file, region=region, mapping={"phone": "+".join(parts)})
    assert told.phone == (" + ".join(parts),)


def test_two_columns_of_whole_numbers_are_not_joined(lead_file):
    """Each is a phone."""
    rows = "".join(f"Kim {at},212-555-01{at},646-555-01{at}\n" for at in range(20, 40))

    columns = map_columns(lead_file(f"Name,phone1,phone2\n{rows}"), region="US")
    assert sorted(columns.phone) == ["phone1", "phone2"]
