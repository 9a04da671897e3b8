"""Numbers that are split over columns are put together, and no digit is guessed."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialframe.leads import map_columns
from dialframe.leads.columns.split_phones import find_joined, join_parts, phone_columns
from dialframe.leads.judging.phone_cells import read_phone

#: Cells from left to right, and the text.
ROWS = [
    (("212", "555-0142"), "212 555-0142"),
    (("(212)", "5550142"), "(212) 5550142"),
    (("212.0", "5550142.0"), "212 5550142"),
    (("212", "555", "0142"), "212 555 0142"),
    (("030", "23125123"), "030 23125123"),
    (("", "555-0142"), "? 555-0142"),
    (("212", "", "0142"), "? 0142"),
    (("n/a", "555-0142"), "? 555-0142"),
    (("212", ""), ""),
    (("", ""), ""),
    (("212", "n/a"), ""),
    (("212", "(312) 555-0142"), "(312) 555-0142"),
    (("212", "2125550142"), "2125550142"),
    (("030", "030 23125123"), "030 23125123"),
    (("030", "+49 30 23125123"), "+49 30 23125123"),
    (("", "+1 212 555 0142"), "+1 212 555 0142"),
    (("", "030 23125123"), "030 23125123"),
]


@pytest.mark.parametrize(("cells", "text"), ROWS)
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


def test_joined_columns_are_one_phone_column():
    """Beside others, in the order of the map."""
    frame = pd.DataFrame({"Area": ["212"], "Phone": ["555-0142"], "Cell": ["x"]}, dtype="str")
    joined = {"Area + Phone": ("Area", "Phone")}

    columns = phone_columns(frame, ("Cell", "Area + Phone"), joined)

    assert {name: text.tolist() for name, text in columns.items()} == {
        "Cell": ["x"],
        "Area + Phone": ["212 555-0142"],
    }


def frame(**columns: list[str]) -> pd.DataFrame:
    """Text columns."""
    return pd.DataFrame(columns, dtype="str")


@pytest.mark.parametrize(
    ("table", "group"),
    [
        (
            frame(**{"Area Code": ["212", "312"], "Phone": ["555-0142", "555-0143"]}),
            ("Area Code", "Phone"),
        ),
        (frame(Phone=["555-0142"], Area=["212"]), ("Area", "Phone")),
        (frame(p1=["212"], p2=["555"], Phone=["0142"]), None),
        (
            frame(**{"Phone 1": ["212"], "Phone 2": ["555"], "Phone 3": ["0142"]}),
            ("Phone 1", "Phone 2", "Phone 3"),
        ),
        (
            frame(市外局番=["212"], 市内局番=["555"], 番号=["0142"]),
            ("市外局番", "市内局番", "番号"),
        ),
        (frame(**{"Area Code": ["212"], "Phone": ["212-555-0142"]}), None),
        (frame(Area=["North"], Phone=["555-0142"]), None),
        (frame(Area=["7"], Phone=["555-0142"]), None),
        (frame(**{"Area Code": [""], "Phone": [""]}), None),
    ],
)
def test_split_numbers_are_found_by_header_and_by_trying(table, group):
    """Only where what is joined are valid numbers, and where joining changes something."""
    found = find_joined(table, list(table.columns), "US", None)

    assert [columns for columns, _ in found] == ([] if group is None else [group])


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
