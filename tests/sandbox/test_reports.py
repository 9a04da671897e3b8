"""The report of dispositions; its range is assumed to be `start_date` and `end_date`, in UTC days."""

from __future__ import annotations

import pytest

from sandbox.service_bench import Console, Party, answered, invalid


@pytest.fixture(scope="module")
def reported(console: Console) -> Party:
    """A client with the history of a real account."""
    return console.client(size="tiny")


@pytest.mark.parametrize("end", ["2026-01-01", "2026-01-02", "2026-04-01", "2026-04-02"])
def test_range_within_92_days_is_answered(reported: Party, end: str) -> None:
    """From one day to 92, both ends counted."""
    params = {"start_date": "2026-01-01", "end_date": end}
    body = answered(reported.get("/v1/reports/dispositions", params), 200)

    assert {name: body[name] for name in params} == params


@pytest.mark.parametrize(
    ("start", "end"),
    [
        *(("2026-01-01", end) for end in ("2026-04-03", "2026-04-05", "2027-01-01")),
        ("2026-01-02", "2026-01-01"),
        ("2026-02-30", "2026-03-01"),
        ("1767225600", "2026-01-01"),
        ("2026-01-01T00:00:00Z", "2026-01-02"),
    ],
)
def test_range_is_at_most_92_days(reported: Party, start: str, end: str) -> None:
    """A longer range, one that ends before it starts, and days that are none are invalid."""
    params = {"start_date": start, "end_date": end}
    invalid(reported.get("/v1/reports/dispositions", params))


def test_range_is_needed(reported: Party) -> None:
    """Neither end has a default."""
    for params in ({}, {"start_date": "2026-01-01"}, {"end_date": "2026-01-01"}):
        invalid(reported.get("/v1/reports/dispositions", params))
