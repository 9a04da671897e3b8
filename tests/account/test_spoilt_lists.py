"""A sync of lists with spoilt rows: what is healthy is stored, what is not is named; `DIALFRAME_SPOILT=100` for more."""

from __future__ import annotations

import json
import os
import random
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from account.conftest import IDENTITY
from client.fakes import BASE_URL, KEY, a_call, answer, transport_to
from client.test_tolerance import mutated
from dialframe.account import Account
from dialframe.client import Client
from dialframe.client.client_settings import SYSTEM
from dialframe.store import Store

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
        self.swapped = not {own, other} & self.spoilt
        if self.swapped:
            texts[own] = json.dumps({**self.rows[own], "id": self.rows[other]["id"]})
            self.spoilt = self.spoilt | {own}
        self.texts = texts

    def __call__(self, request: httpx.Request) -> httpx.Response:
        single = re.fullmatch(r"/v1/calls/(call_.+)", request.url.path)
        if single:
            return answer(next(row for row in self.rows if row["id"] == single[1]))
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
    """Surrogates, NaN, 1e400, wrong types, names that came twice, ids of others."""
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
    # A swapped id makes two rows doubtful; which of them is right, its own reading told.
    assert report.quarantined == len(service.spoilt) + service.swapped
    assert len(report["calls"].set_aside) == min(report.quarantined, 20)
    assert all(": " in named for named in report["calls"].set_aside)
