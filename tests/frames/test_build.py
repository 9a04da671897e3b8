"""Frames have one schema, whatever the rows say."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas.testing import assert_series_equal

from dialframe import frames
from dialframe.contract import operations
from dialframe.frames import Column
from dialframe.frames.frame_schemas import DTYPES

VALUES: dict[str, st.SearchStrategy[Any]] = {
    "text": st.text(max_size=8),
    "day": st.just("2026-09-14"),
    "instant": st.datetimes(
        min_value=pd.Timestamp("1990-01-01").to_pydatetime(),
        max_value=pd.Timestamp("2100-01-01").to_pydatetime(),
    ).map(lambda moment: moment.isoformat() + "Z"),
    "integer": st.integers(-(2**53), 2**53),
    "number": st.floats(allow_nan=False, allow_infinity=False),
    "boolean": st.booleans(),
    "json": st.dictionaries(st.text(max_size=4), st.integers(), max_size=3),
}


def _record(table: frames.Table) -> st.SearchStrategy[dict[str, Any]]:
    cells = {column.name: st.none() | VALUES[column.kind] for column in table.columns}
    return st.fixed_dictionaries({}, optional=cells)


tables = pytest.mark.parametrize("table", frames.TABLES.values(), ids=lambda table: table.name)


@tables
@given(data=st.data())
def test_schema_never_depends_on_the_data(table: frames.Table, data: st.DataObject) -> None:
    """Any rows, also none, give the same columns and dtypes."""
    records = data.draw(st.lists(_record(table), max_size=4))
    frame = frames.from_records(table, records)

    assert len(frame) == len(records)
    assert_series_equal(frame.dtypes, frames.empty(table).dtypes)
    assert [str(dtype) for dtype in frame.dtypes] == [DTYPES[c.kind] for c in table.columns]


@tables
def test_columns_are_the_contracts_fields(table: frames.Table) -> None:
    """A table that comes from a list has every field of the list's rows, and no other."""
    row = operations.BY_NAME[table.operation]
    if not row.paged:
        return
    shape = row.response.model_fields["data"].annotation.__args__[0]

    assert table.names == [*shape.model_fields, "_extra"]


def test_unknown_fields_are_kept() -> None:
    """What the contract does not name yet is kept as JSON, and only then."""
    frame = frames.from_records(frames.CALLS, [{"id": "call_1", "mood": "glad"}, {"id": "call_2"}])

    assert frame["_extra"].tolist()[0] == '{"mood":"glad"}'
    assert frame["_extra"].isna().tolist() == [False, True]


def test_extra_columns_stand_behind() -> None:
    """Columns that a store adds follow the table's own."""
    seen = Column("_observed_at", "instant", "when it was read")
    frame = frames.from_records(
        frames.DNC_CHECKS, [{"phone": "+1", "_observed_at": "2026-01-01T00:00:00Z"}], [seen]
    )

    assert frame.columns[-1] == "_observed_at"
    assert frame["_observed_at"].iloc[0] == pd.Timestamp("2026-01-01", tz="UTC")


def test_text_that_is_no_instant_is_null_and_its_row_stays() -> None:
    """30 February, nonsense; and neither they nor nanoseconds nor a leap second cost a row its time."""
    texts = [
        "2016-12-31T23:59:60Z", "2026-02-30T12:00:00Z", "garbage", None,
        "2024-02-29T12:00:00Z", "2026-10-05T15:00:00.123456789Z", "9999-12-31T23:59:59Z",
    ]  # fmt: skip
    frame = frames.from_records(frames.CALLS, [{"id": "call_1", "created_at": at} for at in texts])

    assert frame["id"].tolist() == ["call_1"] * len(texts)
    assert frame["created_at"].dtype == "datetime64[us, UTC]"
    assert frame["created_at"].isna().tolist() == [False] + [True] * 3 + [False] * 3
    assert frame["created_at"].iloc[0].isoformat() == "2016-12-31T23:59:59.999999+00:00"
    assert frame["created_at"].iloc[5].isoformat() == "2026-10-05T15:00:00.123456+00:00"
    assert frame["created_at"].iloc[6].isoformat() == "9999-12-31T23:59:59+00:00"


def test_custom_field_of_each_lead() -> None:
    """A custom field comes as text, null where a lead lacks it."""
    leads = frames.from_records(
        frames.LEADS,
        [
            {"custom_fields": {"lead_source": "web"}},
            {"custom_fields": None},
            {"custom_fields": {"n": 3}},
        ],
    )

    assert frames.custom_field(leads, "lead_source").tolist()[0] == "web"
    assert frames.custom_field(leads, "lead_source").isna().tolist() == [False, True, True]
    assert frames.custom_field(leads, "n").tolist()[2] == "3"
