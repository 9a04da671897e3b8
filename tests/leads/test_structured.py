"""JSON and Parquet become text without a digit changed."""

from __future__ import annotations

import io
import json
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.growth import assert_steady

from dialframe.errors import LeadFileError
from dialframe.leads.lead_file import split_lines
from dialframe.leads.tables import read_json


def parquet(**columns: pa.Array) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


def test_numbers_keep_their_own_digits(lead_file):
    """Neither long, nor scientific, nor padded numbers are turned into floats."""
    text = '{"phone":2125550142.0,"big":123456789012345678901234567890,"e":2.12555E9,"n":-0.10}\n'

    row = lead_file(text * 2, "leads.jsonl").frame.iloc[0]

    assert row.tolist() == ["2125550142.0", "123456789012345678901234567890", "2.12555E9", "-0.10"]


def test_columns_are_the_union_in_order_of_appearance(lead_file):
    """A field that comes later, a null and a missing field are an empty cell."""
    file = lead_file('{"b":"1","a":null}\n{"a":"2","c":true}\n', "leads.jsonl")

    assert file.header == ("b", "a", "c")
    assert file.frame.to_numpy().tolist() == [["1", "", ""], ["", "2", "true"]]


def test_objects_become_dotted_columns_and_lists_stay_readable(lead_file):
    """Nothing inside a record is dropped."""
    record = {"contact": {"tel": "1", "more": {"x": 2}}, "tags": ["a", "b"], "pairs": [[1, 2.50]]}

    row = lead_file(json.dumps(record) + "\n{}\n", "leads.jsonl").frame.iloc[0]

    assert row.to_dict() == {
        "contact.tel": "1",
        "contact.more.x": "2",
        "tags": "a; b",
        "pairs": "[[1,2.5]]",
    }


def test_a_repeated_key_loses_nothing(lead_file):
    """Two values under one name are two columns."""
    assert lead_file('{"tel":"1","tel":"2"}\n{}\n', "leads.jsonl").header == ("tel", "tel (2)")


def test_broken_lines_are_records_with_a_fault(lead_file):
    """One bad line is one bad record, with its text; blank lines are skipped."""
    file = lead_file('{"phone":"1"}\n\n{"phone":\n{"phone":"3"}\n[1]\n', "leads.jsonl")

    assert file.lines.tolist() == [1, 3, 4, 5]
    assert dict(file.faults) == {1: "undecodable", 3: "undecodable"}
    assert file.raws[1] == '{"phone":'
    assert file.skipped["_code"].tolist() == ["blank"]


@pytest.mark.parametrize(
    "text",
    [
        '[{"phone":"1"},\n {"phone":\n"2"}]',
        '{"page":{"more":[1]},"data":\n[{"phone":"1"},\n{"phone":"2"}]}',
    ],
)
def test_arrays_are_read_with_the_line_of_each_record(lead_file, text):
    """Alone or inside an object; a record may run over lines."""
    file = lead_file(text, "leads.json")

    assert file.decisions.format == "json"
    assert file.frame["phone"].tolist() == ["1", "2"]
    assert file.lines.tolist()[1] == file.lines.tolist()[0] + 1


def test_elements_that_are_no_objects_are_faults(lead_file):
    """A number among the records is a record that cannot be read."""
    file = lead_file('[{"phone":"1"}, 7, {"phone":"2"}]', "leads.json")

    assert dict(file.faults) == {1: "undecodable"}
    assert file.raws[1] == "7"


@pytest.mark.parametrize(
    "text", ['[{"phone":"1"},{"pho', '[{"phone":"1"} {"phone":"2"}]', '[{"phone":"1"},']
)
def test_a_broken_array_is_refused_with_its_line(lead_file, text):
    """Behind the break nothing can be trusted."""
    with pytest.raises(LeadFileError, match="damaged JSON in the record that begins on line 1"):
        lead_file(text, "leads.json")


@pytest.mark.parametrize(
    "text", ["[Name],[Phone]\nAnn,2125550142\n", "{x},phone\n1,2125550142\n", "[" * 9000]
)
def test_what_only_begins_like_json_is_none(text):
    """Brackets around headers are no array, and endless brackets break nothing."""
    assert read_json("x", text, split_lines(text)) is None


def test_half_of_a_character_can_be_written_again(lead_file):
    """A lone surrogate is no character; it becomes the replacement character."""
    assert lead_file('{"name":"\\ud800x"}\n{}\n', "leads.jsonl").frame["name"][0] == "\ufffdx"


def test_csv_can_be_told(lead_file):
    """A text that happens to be JSON can be read as delimited text."""
    assert lead_file('{"a":1}\n{"a":2}\n', format="csv").decisions.format == "csv"


def test_parquet_types_become_text(lead_file):
    """Integral floats, integers, decimals, dates, lists, bytes and nulls."""
    import datetime as dt

    data = parquet(
        phone=pa.array([2125550142.0, None]),
        count=pa.array([7, None]),
        price=pa.array([Decimal("1.50"), None]),
        day=pa.array([dt.date(2024, 1, 5), None]),
        tags=pa.array([["a"], None]),
        raw=pa.array([b"x\xff", None]),
        ok=pa.array([True, None]),
    )

    file = lead_file(data, "leads.parquet")

    assert file.frame.iloc[0].tolist() == [
        "2125550142",
        "7",
        "1.50",
        "2024-01-05",
        '["a"]',
        "x\\xff",
        "TRUE",
    ]
    assert file.skipped["_code"].tolist() == ["blank"]
    assert file.decisions.format == "parquet"


def test_a_damaged_parquet_file_is_refused(lead_file):
    """A file that was cut is named as damaged."""
    with pytest.raises(LeadFileError, match="damaged Parquet"):
        lead_file(parquet(phone=pa.array(["1"] * 99))[:-20], "leads.parquet")


@pytest.mark.parametrize("cell", ["2125550142", None])
def test_a_parquet_file_of_one_value_a_million_times_is_refused(lead_file, cell):
    """A few kilobytes do not become gigabytes of alike rows."""
    rows = pa.array([cell] * 1_000_000, pa.string())
    with pytest.raises(LeadFileError, match=r"says it holds 1,000,000 records in [\d,]+ bytes"):
        lead_file(parquet(phone=rows), "leads.parquet")


@given(
    st.lists(
        st.dictionaries(st.sampled_from("abc"), st.text(max_size=5), min_size=1),
        min_size=2,
        max_size=5,
    )
)
def test_any_texts_come_back(records):
    """What was written as JSON lines is read cell by cell."""
    text = "\n".join(json.dumps(record) for record in records)

    keyed = read_json("x", text, split_lines(text))

    assert keyed is not None
    rows = [dict(zip(keyed.names, cells, strict=True)) for cells in keyed.records.cells]
    assert rows == [{name: record.get(name, "") for name in keyed.names} for record in records]


#: JSON, with the header and the records that it holds.
SHAPES = {
    "lists": (
        '[["Name","Phone"],["Ann","212-555-0142"]]',
        ("Name", "Phone"),
        [["Ann", "212-555-0142"]],
    ),
    "a list a line": (
        '["Name","Phone"]\n["Ann",2125550142]\n',
        ("Name", "Phone"),
        [["Ann", "2125550142"]],
    ),
    "values": ('["212-555-0142","212-555-0143"]', None, [["212-555-0142"], ["212-555-0143"]]),
    "below names": ('{"data":{"n":[1,2],"items":[{"a":1},{"a":2}]}}', ("a",), [["1"], ["2"]]),
    "one line and blank ones": ('{"data":[{"a":1}]}\n\n', ("a",), [["1"]]),
    "one object": ('{"a":1,\n"b":{"c":2}}', ("a", "b.c"), [["1", "2"]]),
    "an object of objects": ('{"x":{"a":1},"y":{"a":2}}', ("a",), [["1"], ["2"]]),
    "two marks": ('\ufeff\ufeff[{"a":1}]', ("a",), [["1"]]),
    "nothing": ("[]", (), []),
}


@pytest.mark.parametrize("case", sorted(SHAPES))
def test_shapes_of_json(lead_file, case):
    """Records are found wherever they are, and none is lost in silence."""
    text, header, records = SHAPES[case]
    file = lead_file(text, "leads.json")

    assert file.header == header
    assert file.frame.to_numpy().tolist() == records


def test_names_without_end_are_refused(lead_file):
    """A table of nine thousand records with a name each is none."""
    text = "\n".join(f'{{"k{n}":1}}' for n in range(9_000))

    with pytest.raises(LeadFileError, match="9,000 records with 9,000 names"):
        lead_file(text, "leads.jsonl")


def test_one_key_many_thousand_times_is_refused_steadily(lead_file):
    """Each copy gets a name of its own without a look at all that were given."""

    def refused(times):
        text = '[{"Phone":"212-555-0142",' + ",".join(['"a":1'] * times) + "}]"
        with pytest.raises(LeadFileError, match=f"{times + 1:,} columns"):
            lead_file(text, "leads.json")

    assert_steady(refused, lambda times: times, 40_000)


def test_a_parquet_file_says_how_large_it_is(lead_file):
    """A small file that would fill the memory is refused by what it says of itself."""
    column = pa.DictionaryArray.from_arrays(pa.array([0] * 1_000_000, pa.int8()), pa.array(["x"]))
    data = parquet(**{f"c{n}": column for n in range(60)})

    with pytest.raises(LeadFileError, match="1,000,000 records of 60 columns"):
        lead_file(data, "leads.parquet")
