"""Old rows are read again under a budget: each within a week, none in vain, and the rows say when."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import dialframe
from account.conftest import IDENTITY
from account.service import START, FakeService, FragileStore
from client.fakes import BASE_URL, KEY, a_call, answer, transport_to
from client.test_listing import A_PAGE
from dialframe.account import Account
from dialframe.account.sync import MOST_PAGES_PER_DAY
from dialframe.client import SYSTEM, Client
from dialframe.errors import ConfigError, DialframeError, StoreError
from dialframe.store import Store

DAY = timedelta(days=1)
#: Calls of the long list, an hour apart, and how many a page has.
CALLS, PAGE = 700, 25
PAGES = CALLS // PAGE
#: Pages of two days.
HEAD = 2


class Reading:
    """A long list of calls, an account of it, and when each call was last read from it."""

    def __init__(self, folder: Path) -> None:
        self.service = FakeService(page_size=PAGE)
        for number in range(CALLS):
            self.service.put("calls", number, START - timedelta(hours=number))
        self.read_at: dict[str, datetime] = {}
        page_of = self.service.calls._page

        def page(cursor: str | None) -> Any:
            read = page_of(cursor)
            self.read_at.update((record.id, read.observed_at) for record in read.records)
            return read

        self.service.calls._page = page  # type: ignore[method-assign]
        self.account = Account(
            self.service,  # type: ignore[arg-type]
            FragileStore.open(folder / "part", IDENTITY),
            now=self.service.clock,
        )

    def sync(self, after: timedelta = DAY, **options: Any) -> int:
        """Pages of a sync so much later."""
        self.service.now += after
        self.service.requests.clear()
        assert self.account.sync(["calls"], **options).complete
        return self.service.count("calls.list")

    def change_all(self) -> None:
        """A bulk edit: every call gets another disposition."""
        for number in range(CALLS):
            self.service.put("calls", number, START, disposition=f"d{self.service.now}")

    def agrees(self) -> bool:
        """Whether every stored call is what the service has."""
        stored = self.account.calls().set_index("id")["disposition"].to_dict()
        return stored == {
            key: row["disposition"] for key, row in self.service.rows["calls"].items()
        }

    def ages(self) -> list[timedelta]:
        """How long ago each call was looked at, by its own word; never younger than it is."""
        looked = self.account.calls().set_index("id")["last_looked_at"].to_dict()
        assert all(at <= self.read_at[key] for key, at in looked.items())
        return [self.service.now - at for at in looked.values()]


@pytest.fixture
def reading(tmp_path: Path) -> Reading:
    """Nothing of it is stored yet."""
    return Reading(tmp_path)


def test_every_row_is_looked_at_once_a_week_a_seventh_a_day(reading: Reading) -> None:
    """No day costs more than its share, and no row is older than a week and a day."""
    assert reading.sync() == PAGES
    pages = [reading.sync() for _ in range(30)]

    assert max(pages) <= HEAD + math.ceil(PAGES / 7) + 1
    assert sum(pages[7:14]) <= PAGES + 7 * (HEAD + 1)
    assert max(reading.ages()) <= 8.5 * DAY
    fresh = reading.account.calls().attrs["dialframe"]
    assert reading.service.now - datetime.fromisoformat(fresh["last_looked_at"]) <= 8.5 * DAY


def test_a_bulk_change_costs_one_walk(reading: Reading) -> None:
    """Every row changed at once: it is found in a week, and the syncs after it cost what they cost before."""
    reading.sync()
    before = [reading.sync(timedelta(hours=12)) for _ in range(14)]
    reading.change_all()
    after = [reading.sync(timedelta(hours=12)) for _ in range(30)]

    assert reading.agrees()
    assert max(after) <= max(before) + 1
    assert sum(after[14:28]) <= sum(before) + 4


def test_pages_a_day_can_be_set(reading: Reading) -> None:
    """None of them for no sweeps; fewer for older rows; all of them for a whole reading."""
    reading.sync()
    assert [reading.sync(pages_per_day=0) for _ in range(3)] == [HEAD] * 3
    assert max(reading.ages()) >= 3 * DAY
    assert [reading.sync(pages_per_day=4) for _ in range(3)] == [HEAD + 4] * 3
    assert reading.sync(whole=True) == PAGES
    assert max(reading.ages()) < timedelta(minutes=1)
    with pytest.raises(ConfigError, match="pages_per_day"):
        reading.account.sync(pages_per_day=-1)


def test_a_list_too_long_for_a_week_takes_a_tenth_of_the_keys_rate(
    reading: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten requests a second are 864,000 a day (contract, Rate limits); two pages a day stand for their tenth here."""
    assert MOST_PAGES_PER_DAY == 86_400
    monkeypatch.setattr("dialframe.account.sync.MOST_PAGES_PER_DAY", 2)
    reading.sync()
    assert [reading.sync() for _ in range(7)] == [HEAD + 2] * 7


def test_a_list_whose_cursors_do_not_last_is_swept_in_one_go(reading: Reading) -> None:
    """Once its pages are saved up; on the average it costs no more, and a row is older than twice a week at most."""
    lists: Callable[..., Any] = reading.service.calls._page
    given_out: dict[str, datetime] = {}

    def expiring(cursor: str | None) -> Any:
        late = reading.service.now - given_out.get(cursor or "", reading.service.now)
        reading.service.refused = {cursor} if cursor and late > timedelta(hours=1) else set()
        page = lists(cursor)
        given_out[page.next_cursor] = reading.service.now
        return page

    reading.service.calls._page = expiring  # type: ignore[method-assign]
    reading.sync()
    pages = [reading.sync() for _ in range(30)]

    assert sum(pages[10:]) / 20 <= HEAD + PAGES / 7 + 1
    assert max(reading.ages()) <= 15 * DAY
    reading.change_all()
    for _ in range(16):
        reading.sync()
    assert reading.agrees()


def test_deleted_rows_go_with_the_second_sweep(reading: Reading) -> None:
    """And a row that was moved in is found by the first."""
    reading.sync()
    deleted = reading.service.put("calls", 500, START)
    del reading.service.rows["calls"][deleted]
    moved = reading.service.put("calls", 5000, START - timedelta(hours=400, minutes=1))
    for _ in range(9):
        reading.sync()
    stored = set(reading.account.calls()["id"])
    for _ in range(9):
        reading.sync()

    assert {deleted, moved} <= stored
    assert deleted not in set(reading.account.calls()["id"])


def test_killed_sweep_goes_on_where_it_was(reading: Reading) -> None:
    """Nothing is lost, and no row says that it was looked at when it was not."""
    reading.sync()
    reading.change_all()
    for number in range(12):
        reading.service.fails = lambda request, at=number: (
            KeyboardInterrupt()
            if reading.service.count("calls.list") == 3 + at % 4
            and request.startswith("calls.list")
            else None
        )
        with contextlib.suppress(KeyboardInterrupt):
            reading.sync()
        assert reading.ages()
        reading.service.fails = lambda _: None
    for _ in range(9):
        reading.sync()

    assert reading.agrees()


def test_rows_that_are_too_old_are_refused(reading: Reading) -> None:
    """Every table, the attempts and the audit take `fresh=`; the refusal names the rows and what next."""
    reading.sync()
    for _ in range(3):
        reading.sync(pages_per_day=0)

    assert len(reading.account.calls(fresh="4d")) == CALLS
    assert len(reading.account.calls(fresh="1h", since=START - DAY)) == 25

    reading.account.sync(["leads"])

    def audit(**given: Any) -> object:
        return dialframe.audit(reading.account, now=lambda: reading.service.now, **given)

    for table in (reading.account.calls, reading.account.attempts, audit):
        with pytest.raises(StoreError, match=r"calls: \d+ of 700 rows were last looked at before"):
            table(fresh="2d")


#: Each refused cursor is taken the second time, and behind it come rows that nobody has seen.
REFUSED_ONCE = [([], "old", None), ([], "new", True), ([None], "new", True), ([None], "new", True)]


@given(script=st.lists(A_PAGE, min_size=1, max_size=8))
@example(script=REFUSED_ONCE)
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=15, deadline=None
)
def test_every_sync_ends(
    script: list[tuple[list[int | None], str, bool | None]],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Whatever rows, cursors, flags and refusals a service chooses: within the stated number of pages."""
    sent: list[int] = []

    def respond(request: httpx.Request) -> httpx.Response:
        if request.url.path != "/v1/calls":
            return answer({"client_id": "cli_x"})
        number = len(sent)
        sent.append(number)
        assert number < 1_000, "it does not end"
        rows, cursor, has_more = script[number % len(script)]
        if cursor == "old" and has_more is None and "cursor" in request.url.params:
            return httpx.Response(400, json={"code": "invalid_cursor", "status": 400})
        calls = [a_call(1_000 + 10 * number + place if row is None else abs(row),
                        **({"status": [row, number]} if row is not None and row < 0 else {}))
                 for place, row in enumerate(rows)]  # fmt: skip
        cursors = {"new": f"c{number}", "old": "c0", "none": None, "empty": "",
                   "same": request.url.params.get("cursor", "c0")}  # fmt: skip
        info = {"next_cursor": cursors[cursor]} | (
            {} if has_more is None else {"has_more": has_more}
        )
        return httpx.Response(200, content=json.dumps({"data": calls, "page": info}).encode())

    folder = tmp_path_factory.mktemp("sync")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dialframe.client.pagination.MOST_PAGES", 25)
        patch.setattr("dialframe.account.list_sync.RESTARTS_IN_ALL", 3)
        patch.setattr("dialframe.account.list_sync.SECOND_LOOK_S", 0.0)
        client = Client(
            BASE_URL,
            KEY,
            transport=transport_to(respond),
            limiter=None,
            journal=folder,
            clock=SYSTEM,
        )
        with Account(client, Store.open(folder / "store", IDENTITY), now=SYSTEM.now) as account:
            for _ in range(2):
                before = len(sent)
                with contextlib.suppress(DialframeError):
                    report = account.sync(["calls"])
                    assert report.complete or report["calls"].note
                # Twice for what cannot be read, as often as a refused cursor is gone back from, and once more each.
                assert len(sent) - before <= 25 * (2 + 2 * 3)
