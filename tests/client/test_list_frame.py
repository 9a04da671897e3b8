"""Frames have one schema whatever comes, and lose nothing of it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pandas.testing import assert_frame_equal

from client.fakes import START, FakeClock, Service, a_call, a_lead, a_page, an_id, connected
from dialframe import frames
from dialframe.client import pagination
from dialframe.client.tolerant_json import row_model
from dialframe.config import Progress
from dialframe.contract import operations
from dialframe.frames.frame_schemas import DTYPES

LISTS = [row for row in operations.ALL if row.paged]
every_list = pytest.mark.parametrize("row", LISTS, ids=lambda row: row.name)


def listing_of(row: Any, service: Service, tmp_path: Path, samples: Path) -> Any:
    """The row's listing for its sample's request."""
    request = json.loads((samples / "responses" / f"{row.name}.json").read_text())["request"]
    resource, _, name = row.name.partition(".")
    return getattr(getattr(connected(service, tmp_path), resource), name)(**request)


@every_list
def test_schema_does_not_depend_on_the_rows(row: Any, tmp_path: Path, samples: Path) -> None:
    """An empty list, a full one and one of nulls have the same columns and dtypes."""
    rows = json.loads((samples / "responses" / f"{row.name}.json").read_text())["body"]["data"]
    nulls = [{name: None if row.assumed else value for name, value in rows[0].items()}]
    list_frames = [
        listing_of(row, Service(a_page(data)), tmp_path, samples).to_frame()
        for data in ([], rows, nulls)
    ]

    table = pagination.table_of(row.name, row_model(row.response))
    assert all(list(frame.columns) == table.names for frame in list_frames)
    assert all(frame.dtypes.equals(list_frames[0].dtypes) for frame in list_frames)
    assert [str(dtype) for dtype in list_frames[0].dtypes] == [
        DTYPES[c.kind] for c in table.columns
    ]
    assert [len(frame) for frame in list_frames] == [0, len(rows), 1]


def test_lists_with_a_table_of_their_own_use_it() -> None:
    """The frame of a list is the one that everybody works with."""
    for table in frames.TABLES.values():
        if operations.BY_NAME[table.operation].paged:
            model = row_model(operations.BY_NAME[table.operation].response)
            assert pagination.table_of(table.operation, model) is table


def test_table_of_a_list_without_one_follows_from_its_fields() -> None:
    """Text, instants, integers and booleans keep their kind; lists become JSON."""
    table = pagination.table_of("webhooks.list", row_model(operations.WEBHOOKS_LIST.response))
    kinds = {column.name: column.kind for column in table.columns}

    assert kinds["id"] == "text"
    assert kinds["events"] == "json"
    assert kinds["enabled"] == "boolean"
    assert kinds["created_at"] == "instant"
    events = pagination.table_of("events.list", row_model(operations.EVENTS_LIST.response))
    assert {c.name: c.kind for c in events.columns}["schema_version"] == "integer"
    assert {c.name: c.kind for c in events.columns}["type"] == "text"


def test_frame_is_the_records_of_all_pages(tmp_path: Path) -> None:
    """Row for row what `frames` makes of the same JSON."""
    first, second = [a_call(1), a_call(2, new={"b": 1})], [a_call(3)]
    service = Service(a_page(first, "1"), a_page(second))

    frame = connected(service, tmp_path).calls.list().to_frame()

    assert_frame_equal(frame, frames.from_records(frames.CALLS, [*first, *second]))


def test_frame_says_when_it_was_read_and_what_is_missing(tmp_path: Path) -> None:
    """Rows in quarantine are counted where the frame goes."""
    clock = FakeClock()
    service = Service(a_page([a_call(1), 7], "1"), a_page([a_call(2)]))

    frame = connected(service, tmp_path, clock=clock).calls.list().to_frame()

    assert frame.attrs["dialframe"] == {
        "operation": "calls.list",
        "rows": 2,
        "pages": 2,
        "quarantined": 1,
        "observed_from": START.isoformat(),
        "observed_until": START.isoformat(),
    }


def test_progress_grows_and_ends_with_a_total(tmp_path: Path) -> None:
    """The total of a list is unknown until its end."""
    steps: list[Progress] = []
    service = Service(a_page([a_call(1), a_call(2)], "1"), a_page([a_call(3)]))

    connected(service, tmp_path).calls.list().to_frame(on_progress=steps.append)

    assert [(step.done, step.total) for step in steps] == [(2, None), (3, None), (3, 3)]


def test_long_list_is_put_together_from_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records become columns as they come; the whole is the same."""
    monkeypatch.setattr(pagination, "ROWS_AT_ONCE", 3)
    rows = [a_lead(n, custom_fields=None if n % 2 else {"n": n}) for n in range(10)]
    service = Service(*[a_page(rows[n : n + 2], str(n)) for n in range(0, 8, 2)], a_page(rows[8:]))

    frame = connected(service, tmp_path).leads.list().to_frame()

    assert_frame_equal(frame, frames.from_records(frames.LEADS, rows))


def test_value_of_an_assumed_shape_that_does_not_fit_goes_to_extra(tmp_path: Path) -> None:
    """The column stays what it is, and the value is not lost."""
    row = {"id": an_id("appt"), "duration_minutes": 2**63, "scheduled_at": "tomorrow"}

    frame = connected(Service(a_page([row])), tmp_path).appointments.list().to_frame()

    assert frame["duration_minutes"].isna().all()
    assert json.loads(frame.loc[0, "_extra"]) == {
        "duration_minutes": 2**63,
        "scheduled_at": "tomorrow",
    }


def test_client_alone_does_not_load_pandas() -> None:
    """Whoever wants no frame does not pay for one."""
    script = "import sys, dialframe.client; sys.exit('pandas' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
