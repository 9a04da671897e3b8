"""Lists are walked to their end, however they are cut into pages, and as a frame have one schema."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from client import fakes
from client.fakes import (
    REQUEST_ID,
    START,
    FakeClock,
    Service,
    a_call,
    a_lead,
    a_page,
    an_id,
    answer,
    connected,
    problem,
)
from dialframe import frames
from dialframe.config import Progress
from dialframe.contract import CallQuery, operations
from dialframe.errors import ContractError, InvalidRequest


def paged(pages: list[list[Any]]) -> Service:
    """A service whose list has these pages; its cursors are page numbers."""

    def page(request: httpx.Request) -> httpx.Response:
        page_index = int(request.url.params.get("cursor", "0"))
        return a_page(
            pages[page_index], str(page_index + 1) if page_index + 1 < len(pages) else None
        )

    return Service(page)


def test_iterating_gives_every_record_page_after_page(tmp_path: Path) -> None:
    """A hundred a page, filters on each, cursors as they came."""
    service = paged([[a_call(1), a_call(2)], [a_call(3)]])

    listing = connected(service, tmp_path).calls.list(direction="outbound")
    pages = list(listing.pages())

    assert [[call.id[-1] for call in page] for page in pages] == [["1", "2"], ["3"]]
    assert [len(page) for page in pages] == [2, 1]
    assert [dict(request.url.params) for request in service.requests] == [
        {"limit": "100", "direction": "outbound"},
        {"limit": "100", "direction": "outbound", "cursor": "1"},
    ]
    # A listing is a question, not an answer: each walk starts anew.
    assert list(listing) == list(listing) == [call for page in pages for call in page]


def test_pages_are_asked_for_when_they_are_needed(tmp_path: Path) -> None:
    """Nothing before the first record, and the second page not before its turn."""
    service = paged([[a_call(1), a_call(2)], [a_call(3)]])
    listing = connected(service, tmp_path).calls.list()
    assert service.requests == []

    records = iter(listing)
    next(records)
    next(records)
    assert len(service.requests) == 1
    next(records)
    assert len(service.requests) == 2


def test_first_record_is_the_first_pages(tmp_path: Path) -> None:
    """Nothing is asked beyond the first page that has one; an empty list has none."""
    service = paged([[], [a_call(1), a_call(2)], [a_call(3)]])
    first = connected(service, tmp_path).calls.list().first()

    assert first is not None
    assert first.id[-1] == "1"
    assert len(service.requests) == 2
    assert connected(paged([[]]), tmp_path).calls.list().first() is None


def test_page_says_where_it_came_from(tmp_path: Path) -> None:
    """Request id, time of asking, cursor, and the rows as they came."""
    row = a_call(1, new_field={"a": 1})
    page = next(connected(paged([[row], []]), tmp_path).calls.list().pages())

    assert (page.request_id, page.observed_at, page.next_cursor) == (REQUEST_ID, START, "1")
    assert page.raw == [row]
    assert page.records[0].model_extra == {"new_field": {"a": 1}}
    assert page.quarantined == ()


def test_walk_may_start_at_a_cursor(tmp_path: Path) -> None:
    """A saved cursor goes on where it was, from either side."""
    client = connected(paged([[a_call(1)], [a_call(2)], [a_call(3)]]), tmp_path)

    assert [page.next_cursor for page in client.calls.list().pages(cursor="1")] == ["2", None]
    assert [page.next_cursor for page in client.calls.list(cursor="2").pages()] == [None]
    assert [call.id[-1] for call in client.calls.list(cursor="1")] == ["2", "3"]


def test_empty_page_with_a_cursor_goes_on(tmp_path: Path) -> None:
    """A filtered page may be empty and the list not at its end."""
    pages: list[list[Any]] = [[], *[[]] * 18, [a_call(1)], [], [a_call(2)]]

    assert len(list(connected(paged(pages), tmp_path).calls.list())) == 2


def test_nothing_but_empty_pages_is_an_error(tmp_path: Path) -> None:
    """Twenty in a row: the list is stuck, and says so."""
    service = paged([[]] * 40)

    with pytest.raises(ContractError, match="20 pages in a row had no row that is new") as caught:
        list(connected(service, tmp_path).calls.list())

    assert caught.value.where == "page.next_cursor"
    assert len(service.requests) == 20


@pytest.mark.parametrize(
    ("start", "cursors"),
    [(None, "aa"), (None, "aba"), (None, "abb"), (None, "abcdea"), ("a", "a")],
)
def test_cursor_that_comes_twice_is_an_error(
    start: str | None, cursors: str, tmp_path: Path
) -> None:
    """A loop would go on for ever; however long it is, and where it began, each page of it is read once."""
    service = Service(*[a_page([a_call(n)], cursor) for n, cursor in enumerate(cursors)])

    with pytest.raises(
        ContractError, match=r"^calls\.list: .*cursor came a second time"
    ) as caught:
        list(connected(service, tmp_path).calls.list(cursor=start))

    assert caught.value.where == "page.next_cursor"
    assert len(service.requests) == len(cursors)


def test_only_the_cursor_decides_whether_a_list_goes_on(tmp_path: Path) -> None:
    """has_more false with a cursor goes on; with an empty cursor it ends."""
    service = Service(
        answer({"data": [a_call(1)], "page": {"next_cursor": "x", "has_more": False}}),
        answer({"data": [a_call(2)], "page": {"next_cursor": "", "has_more": False}}),
    )

    assert len(list(connected(service, tmp_path).calls.list())) == 2


def test_rows_in_quarantine_stop_no_walk(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """They stand on their page with the raw JSON; the log says how many and why."""
    bad = a_call(2, created_at="soon")
    client = connected(paged([[a_call(1), bad], [a_call(3)]]), tmp_path)

    pages = list(client.calls.list().pages())

    assert [call.id[-1] for page in pages for call in page.records] == ["1", "3"]
    assert [q.raw for page in pages for q in page.quarantined] == [bad]
    assert (
        "calls.list: 1 of 2 rows of a page are set aside (first: row 1, created_at:" in caplog.text
    )
    assert "soon" not in caplog.text


def test_list_of_rows_that_were_seen_ends_however_new_its_cursors_are(tmp_path: Path) -> None:
    """A service that begins anew with every cursor; what came is kept, and it is said after twenty pages."""
    service = Service(lambda _: a_page([a_call(1)], str(len(service.requests))))
    listing = connected(service, tmp_path).calls.list()

    records = []
    with pytest.raises(ContractError, match="20 pages in a row had no row that is new"):
        records.extend(listing)

    assert (len(records), len(service.requests)) == (1, 21)
    assert listing.first() is not None


def test_bad_rows_that_are_new_are_progress(tmp_path: Path) -> None:
    """A service that changed a field's type sends a list of bad rows, which is walked to its end."""
    service = paged([[a_call(n, created_at="soon")] for n in range(30)])

    pages = list(connected(service, tmp_path).calls.list().pages())

    assert sum(len(page.quarantined) for page in pages) == 30


@pytest.mark.parametrize("has_more", [False, None])
def test_empty_page_ends_a_list_that_says_so(has_more: bool | None, tmp_path: Path) -> None:
    """Cursors that are never null: `has_more` is believed where nothing came, and not where it is missing."""

    def page(request: httpx.Request) -> httpx.Response:
        number = int(request.url.params.get("cursor", "0"))
        info = {"next_cursor": str(number + 1)} | (
            {} if has_more is None else {"has_more": has_more}
        )
        return answer({"data": [a_call(number)] if number < 3 else [], "page": info})

    service = Service(page)
    listing = connected(service, tmp_path).calls.list()

    if has_more is None:
        with pytest.raises(ContractError, match="20 pages in a row"):
            list(listing)
    else:
        assert len(list(listing)) == 3
        assert len(service.requests) == 4


#: One page of a service that does as it likes: its rows by number (None: a new one, negative: a bad one), its
#: cursor, its flag.
A_PAGE = st.tuples(
    st.lists(st.one_of(st.none(), st.integers(-5, 10)), max_size=4),
    st.sampled_from(["new", "old", "same", "none", "empty"]),
    st.sampled_from([True, False, None]),
)


@pytest.mark.parametrize("kind", ["threads", "event loop"])
@given(script=st.lists(A_PAGE, min_size=1, max_size=8))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_every_walk_ends(
    kind: str, script: list[tuple[list[int | None], str, bool | None]], tmp_path: Path
) -> None:
    """Whatever rows, cursors and flags a service chooses, within the stated number of pages, with a sentence or whole."""
    sent: list[int] = []
    where = None

    def page(request: httpx.Request) -> httpx.Response:
        number = len(sent)
        sent.append(number)
        rows, cursor, has_more = script[number % len(script)]
        # A new row each time, and one that is not what the contract says.
        calls = [a_call(1_000 + 10 * number + place if row is None else abs(row),
                        **({"status": [row, number]} if row is not None and row < 0 else {}))
                 for place, row in enumerate(rows)]  # fmt: skip
        cursors = {"new": f"c{number}", "old": "c0", "none": None, "empty": "",
                   "same": request.url.params.get("cursor", "c0")}  # fmt: skip
        info = {"next_cursor": cursors[cursor]} | (
            {} if has_more is None else {"has_more": has_more}
        )
        return answer({"data": calls, "page": info})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dialframe.client.pagination.MOST_PAGES", 60)
        patch.setattr(fakes, "KIND", kind)
        client = connected(page, tmp_path)
        try:
            for read in client.calls.list().pages():
                assert read.rows <= 4
        except ContractError as error:
            where = error.where
        finally:
            client.close()

    assert len(sent) <= 60
    assert where in (None, "page.next_cursor", "page")


def test_page_asked_for_by_hand_is_whole_or_an_error(tmp_path: Path) -> None:
    """`send` gives rows only, so it may not leave any out; `send_raw` shows what is set aside."""
    client = connected(paged([[a_call(1), 7]]), tmp_path)

    with pytest.raises(ContractError, match="1 rows are not"):
        client.send(operations.CALLS_LIST, CallQuery())
    assert len(client.send_raw(operations.CALLS_LIST, CallQuery()).quarantined) == 1


def test_cursor_that_ran_out_is_told_apart(tmp_path: Path) -> None:
    """The caller decides to start at the head again."""
    service = Service(a_page([a_call()], "a"), problem(400, "invalid_cursor"))

    with pytest.raises(InvalidRequest, match="read the list again from its head") as caught:
        list(connected(service, tmp_path).calls.list())

    assert caught.value.code == "invalid_cursor"


def test_listing_shows_its_name_and_no_filter(tmp_path: Path) -> None:
    """A filter may be personal."""
    listing = connected(Service(a_page([])), tmp_path).leads.list(external_id="crm-7")

    assert repr(listing) == "<Listing of leads.list>"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.lists(st.integers(0, 4), min_size=1, max_size=12))
def test_every_row_comes_once_however_the_list_is_cut(cuts: list[int], tmp_path: Path) -> None:
    """Pages of any size, empty ones among them: in equals out, in order."""
    numbers = iter(range(1000))
    pages = [[a_lead(next(numbers)) for _ in range(size)] for size in cuts]

    ids = [lead.id for lead in connected(paged(pages), tmp_path).leads.list()]

    assert ids == [row["id"] for page in pages for row in page]
    assert json.dumps(ids) == json.dumps(sorted(ids))


def test_a_row_that_an_earlier_page_had_is_set_aside(tmp_path: Path) -> None:
    """The first of the two stays, the second is named; page by page and in a frame."""
    again = a_call(1, status="busy")
    service = paged([[a_call(1), a_call(2)], [a_call(3), again], [a_call(4)]])
    listing = connected(service, tmp_path).calls.list()

    assert [call.id[-1] for call in listing] == ["1", "2", "3", "4"]
    (set_aside,) = [row for page in listing.pages() for row in page.quarantined]
    assert (set_aside.index, set_aside.raw["status"], set_aside.where) == (1, "busy", "id")
    assert "earlier page" in set_aside.reason
    assert listing.to_frame().attrs["dialframe"]["quarantined"] == 1


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

    assert all(list(frame.columns) == list(list_frames[0].columns) for frame in list_frames)
    assert all(frame.dtypes.equals(list_frames[0].dtypes) for frame in list_frames)
    assert [len(frame) for frame in list_frames] == [0, len(rows), 1]


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
    monkeypatch.setattr("dialframe.client.pagination.ROWS_AT_ONCE", 3)
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

    assert subprocess.run([sys.executable, "-c", script], check=False, timeout=120).returncode == 0
