"""What was exported is read back as it was, and a frame of one's own becomes a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

import dialframe
from dialframe import frames
from dialframe.errors import ConfigError
from dialframe.flows import reporting
from dialframe.frames.frame_schemas import PROVENANCE
from frames.test_build import VALUES

#: Texts that a spreadsheet would run, that look like numbers, and that are nothing.
ODD = st.sampled_from(
    [
        "",
        "=1+1",
        "'=1",
        "''-2",
        "+12125550142",
        "007",
        "1e5",
        "a,b",
        'a"b',
        "a\nb",
        "NaN",
        "null",
        "Å\u00e9",
    ]
)


def _record(table: frames.Table) -> st.SearchStrategy[dict[str, Any]]:
    text = st.none() | ODD
    cells = {
        column.name: text if column.kind == "text" else st.none() | VALUES[column.kind]
        for column in (*table.columns, *PROVENANCE)
        if column.name != "_extra"
    }
    # A row has its key.
    keys = ["2026-09-14"] if table.key[0] == "date" else ["k1", "=k2"]
    cells[table.key[0]] = st.sampled_from(keys)
    return st.fixed_dictionaries(cells)


@pytest.mark.parametrize("ending", [".parquet", ".csv", ".jsonl", ".xlsx"])
@pytest.mark.parametrize("name", ["leads", "dnc_checks", "dispositions"])
@given(data=st.data())
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=5, deadline=None
)
def test_an_export_is_read_back_as_it_was(
    name: str, ending: str, data: st.DataObject, tmp_path: Path
) -> None:
    """Values, nulls, columns and dtypes, whatever the texts look like."""
    table = frames.TABLES[name]
    records = data.draw(st.lists(_record(table), min_size=1, max_size=5))
    if ending == ".xlsx":
        # A worksheet has no empty texts, and no characters that XML has not.
        records = [
            {n: (v or None) if isinstance(v, str) else v for n, v in r.items()} for r in records
        ]
    frame = frames.from_records(table, records, PROVENANCE)
    path = tmp_path / f"{name}{ending}"

    reporting.write_table(frame, path)
    back = dialframe.read(path)

    assert_frame_equal(back, frame)


def test_file_that_is_no_table_is_refused(tmp_path: Path) -> None:
    """With what can be done about it."""
    (tmp_path / "own.csv").write_text("a,b\n1,2\n")
    (tmp_path / "broken.parquet").write_text("no")

    for name, words in (
        ("own.csv", "columns are those of no table"),
        ("broken.parquet", "cannot be read as .parquet"),
        ("none.csv", "there is no such file"),
        ("x.pdf", "has to end in .parquet, .csv, .xlsx, .jsonl"),
    ):
        with pytest.raises(ConfigError, match=words):
            dialframe.read(tmp_path / name)


def test_frame_of_ones_own_becomes_a_table() -> None:
    """By the names that are given; the rest is kept, and what is missing is null."""
    own = pd.DataFrame(
        {
            "CallSid": [1, 2],
            "direction": ["outbound", "inbound"],
            "Start": ["2026-10-05 08:00:00", "2026-10-05 09:30:00"],
            "Seconds": ["30", None],
            "Agent": ["Ada", None],
        },
        index=[7, 9],
    )
    columns = {"id": "CallSid", "created_at": "Start", "duration_seconds": "Seconds"}

    calls = frames.conform(own, "calls", columns, time_zone="America/New_York")

    assert_frame_equal(calls.iloc[:0].reset_index(drop=True), frames.empty(frames.CALLS))
    assert calls["id"].tolist() == ["1", "2"]
    assert calls["created_at"].iloc[0] == pd.Timestamp("2026-10-05T12:00:00Z")
    assert calls["duration_seconds"].tolist() == [30.0, pd.NA]
    assert calls["_extra"].tolist()[0] == '{"Agent":"Ada"}'
    assert calls["hangup_cause"].isna().all()
    assert calls.index.tolist() == [7, 9]


@pytest.mark.parametrize(
    ("changes", "columns", "words"),
    [
        ({}, {"created_at": "Start"}, "calls needs id"),
        ({}, {"id": "CallSid"}, "the frame has no column 'CallSid'"),
        ({"id": ["a"]}, {"started": "x"}, "calls has no column 'started'"),
        ({"id": ["a"], "created_at": ["2026-10-05 08:00"]}, {}, "names no time zone"),
        ({"id": ["a"], "created_at": ["soon Z"]}, {}, "not a time in ISO 8601"),
        ({"id": ["a"], "duration_seconds": ["long"]}, {}, "'long' is not a number"),
    ],
)
def test_what_does_not_conform_is_said(
    changes: dict[str, list[str]], columns: dict[str, str], words: str
) -> None:
    """Which column, and what next."""
    with pytest.raises(ConfigError, match=words):
        frames.conform(pd.DataFrame(changes or {"Start": ["x"]}), "calls", columns)
    with pytest.raises(ConfigError, match="no table 'call'"):
        frames.conform(pd.DataFrame(changes), "call")
