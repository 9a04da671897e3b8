"""The service's disposition counts against those of the stored calls."""

from __future__ import annotations

from datetime import timedelta

import pandas as pd
import pytest

from account.service import CAMPAIGN, START, FakeService
from dialframe import frames
from dialframe.account import Account
from dialframe.account.dispositions_and_dnc import DIFFERENCES, REASONS

DAY = timedelta(days=1)


@pytest.fixture
def service() -> FakeService:
    """Three days of calls, three a day, each sold; and a report that says so."""
    made = FakeService()
    made.put("campaigns", 1, START - 40 * DAY)
    for number in range(9):
        made.put("calls", number, START - DAY * (1 + number // 3), disposition="sale")
    for day in range(1, 4):
        made.counts.append(row(day, 3))
    return made


def row(day: int, calls: int, disposition: str | None = "sale") -> dict[str, object]:
    """A line of the report, so many days ago."""
    date = (START - day * DAY).date().isoformat()
    return {"date": date, "campaign_id": CAMPAIGN, "disposition": disposition, "calls": calls}


def reasons(account: Account) -> dict[tuple[int, object], str]:
    """Reasons by days ago and disposition."""
    frame = account.disposition_differences()
    return {
        (
            (START.date() - pd.Timestamp(one.date).date()).days,
            None if pd.isna(one.disposition) else one.disposition,
        ): one.reason
        for one in frame.itertuples()
    }


def test_equal_counts_are_equal(account: Account) -> None:
    """One row per day, campaign and disposition, with fixed dtypes, also for none."""
    empty = account.disposition_differences()
    account.sync()

    frame = account.disposition_differences()

    assert list(frame["reported"]) == list(frame["counted"]) == [3, 3, 3]
    assert set(frame["reason"]) == {"equal"}
    assert frame["date"].is_monotonic_increasing
    assert len(empty) == 0
    assert empty.dtypes.equals(frame.dtypes)
    assert frame.dtypes.equals(frames.empty(DIFFERENCES).dtypes)
    assert len(account.disposition_differences(since=START - 2 * DAY, until=START - DAY)) == 1


def test_each_difference_has_a_reason(account: Account, service: FakeService) -> None:
    """Another rule, a row on one side only, a day that was not asked for."""
    service.counts[1]["calls"] = 5
    service.counts.append(row(3, 2, None))
    service.put("calls", 100, START - 200 * DAY, disposition="sale")
    account.sync()

    assert reasons(account) == {
        (1, "sale"): "equal",
        (2, "sale"): "other_rule",
        (3, "sale"): "equal",
        (3, None): "other_rule",
        (200, "sale"): "other_rule",
    }
    assert set(reasons(account).values()) <= set(REASONS)
    assert list(account.disposition_differences()["difference"].abs()) == [1, 0, 2, 2, 0]


def test_what_changed_after_the_report_explains_a_difference(
    account: Account, service: FakeService
) -> None:
    """A disposition logged after the report was read is news, not a contradiction."""
    account.sync()
    service.now += timedelta(hours=1)
    service.put("calls", 1, START, disposition="no_sale")
    account.sync(["calls"])

    found = reasons(account)

    assert found[1, "no_sale"] == "changed_since"
    assert found[2, "sale"] == "equal"


def test_calls_that_may_be_missing_explain_a_difference(
    account: Account, service: FakeService
) -> None:
    """Without whole calls nothing can be said of the service's rule."""
    account.sync(["dispositions"])

    assert set(reasons(account).values()) == {"calls_missing"}
