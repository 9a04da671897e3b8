"""How far a sync has come, and what it keeps of spoilt lists."""

from __future__ import annotations

import json
import os
import random
import sys
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from account.conftest import IDENTITY
from account.service import START, FakeService
from client.fakes import BASE_URL, KEY, a_call, answer, transport_to
from client.test_tolerance import mutated
from dialframe.account import Account, sync_progress
from dialframe.account.sync_report import ListProgress
from dialframe.client import SYSTEM, Client
from dialframe.config import Progress
from dialframe.store import Store

DAY = timedelta(days=1)


def test_a_notebook_shows_bars_and_a_script_nothing(
    account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a listener of one's own; the report takes their place."""
    shown: list[str] = []

    class Handle:
        def update(self, html: str) -> None:
            shown.append(html)

    def display(html: str, *, display_id: bool) -> Handle:
        assert display_id
        shown.append(html)
        return Handle()

    account.sync(["campaigns"])
    assert shown == []
    kernel = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=1))
    monkeypatch.setitem(sys.modules, "IPython", kernel)
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(HTML=str, display=display))
    monkeypatch.setattr(sync_progress, "_REDRAW_S", 0.0)

    report = account.sync(["calls"])

    assert (shown[0], shown[-1]) == ("", "")
    assert any("<progress" in html and "calls" in html for html in shown)
    assert len(repr(report)) < 120


def test_a_sync_says_how_far_back_it_is(account: Account, service: FakeService) -> None:
    """The oldest creation reached only goes back, and the table's last word is that it is finished."""
    heard: list[Progress] = []

    account.sync(["calls"], on_progress=heard.append)

    calls = [one for one in heard if isinstance(one, ListProgress)]
    reached = [one.oldest_at for one in calls if one.oldest_at is not None]
    assert reached == sorted(reached, reverse=True)
    assert reached[-1] == START - 39 * DAY
    assert calls[-1].finished
    assert [one.requests for one in calls] == [*range(1, 9), 8]


SEEDS = int(os.environ.get("DIALFRAME_SPOILT", "12"))
PAGES = 10


class SpoiltCalls:
    """A list of calls on ten pages, some of its rows spoilt, two of them swapped."""

    def __init__(self, seed: int) -> None:
        dice = random.Random(seed)
        self.rows = [
            a_call(n, created_at=f"2026-11-20T15:{59 - n // 2:02d}:{(99 - n) % 60:02d}Z")
            for n in range(100)
        ]
        self.rows.sort(key=lambda row: row["created_at"], reverse=True)
        texts, self.spoilt = mutated([json.dumps(row) for row in self.rows], dice)
        page = dice.randrange(PAGES)
        own, other = page * 10 + 3, page * 10 + 4
        # Two rows with one id: which of them is right, the page does not say.
        if not {own, other} & self.spoilt:
            texts[own] = json.dumps({**self.rows[own], "id": self.rows[other]["id"]})
            self.spoilt = self.spoilt | {own, other}
        self.texts = texts

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.url.path != "/v1/calls":
            return answer({"client_id": "cli_x"})
        number = int(request.url.params.get("cursor", "0"))
        rows = ", ".join(self.texts[number * 10 : number * 10 + 10])
        cursor = "null" if number == PAGES - 1 else f'"{number + 1}"'
        more = "false" if number == PAGES - 1 else "true"
        body = f'{{"data": [{rows}], "page": {{"next_cursor": {cursor}, "has_more": {more}}}}}'
        return httpx.Response(200, content=body.encode())


@pytest.mark.parametrize("seed", range(SEEDS))
def test_every_healthy_row_is_stored_and_every_bad_one_named(seed: int, tmp_path: Path) -> None:
    """Surrogates, NaN, 1e400, wrong types, ids of others."""
    service = SpoiltCalls(seed)
    client = Client(
        BASE_URL,
        KEY,
        transport=transport_to(service),
        limiter=None,
        journal=tmp_path,
        clock=SYSTEM,
    )
    with Account(client, Store.open(tmp_path / "store", IDENTITY), now=SYSTEM.now) as account:
        report = account.sync(["calls"])
        stored: Any = account.calls().set_index("id")

    healthy = [row for n, row in enumerate(service.rows) if n not in service.spoilt]
    assert report.complete
    assert set(stored.index) == {row["id"] for row in healthy}
    for row in healthy:
        assert stored.loc[row["id"], "created_at"].isoformat() == row["created_at"].replace(
            "Z", "+00:00"
        )
    assert report.quarantined == len(service.spoilt)
    assert len(report["calls"].set_aside) == min(report.quarantined, 20)
    assert all(": " in named for named in report["calls"].set_aside)
