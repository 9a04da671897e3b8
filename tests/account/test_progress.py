"""Progress of a sync in figures: speed, share of the limit, how far back, how long still."""

from __future__ import annotations

from datetime import timedelta

import pytest

from account.service import START, FakeService
from dialframe.account import Account
from dialframe.account.sync_report import ListProgress, Meter, line
from dialframe.config import Progress

DAY = timedelta(days=1)


def test_rows_a_second_and_time_left_are_of_the_last_seconds() -> None:
    """A slow beginning is forgotten after ten seconds."""
    meter = Meter(0.0)
    for second in range(1, 31):
        rows = second * 10 if second <= 15 else 150 + (second - 15) * 100
        meter.hear(ListProgress("calls", rows, 10_000, requests=second), float(second))

    (pace,) = meter.paces(30.0)

    assert pace.rows == 1650
    assert pace.rows_per_s == pytest.approx(100, rel=0.01)
    assert pace.share == pytest.approx(0.165)
    assert pace.left_s == pytest.approx(83.5, rel=0.02)
    assert meter.limit_share(30.0) == pytest.approx(0.1, rel=0.1)
    assert meter.limit_share(60.0) == 0.0


def test_a_head_walk_knows_its_share_by_time() -> None:
    """Half of the way back to its stop is half of the walk."""
    walk = ListProgress(
        "calls", 500, oldest_at=START - DAY, newest_at=START, until_at=START - 2 * DAY, requests=5
    )

    assert walk.share == 0.5
    assert ListProgress("calls", 500).share is None
    assert ListProgress("calls", 500, finished=True).share == 1.0


def test_a_line_says_what_is_known_and_fits() -> None:
    """Nothing is invented: without a total there is no time left."""
    meter = Meter(0.0)
    meter.hear(ListProgress("calls", 1200, requests=12, oldest_at=START), 2.0)
    meter.hear(Progress("leads", 300, 600), 2.0)
    meter.hear(ListProgress("campaigns", 6, 6, requests=1, finished=True), 2.0)

    lines = [line(pace) for pace in meter.paces(2.0)]

    assert lines == [
        "calls              1,200 rows    600/s  back to 2026-03-02",
        "leads                300 rows    150/s  2 s left",
        "campaigns              6 rows",
    ]


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
