"""The report of dispositions."""

from __future__ import annotations

import pytest

from sandbox.service_bench import Console, Json, Party, answered, invalid, iso

PAIRS = [
    ("from", "to"),
    ("date_from", "date_to"),
    ("start_date", "end_date"),
    ("from_date", "to_date"),
    ("start", "end"),
    ("since", "until"),
    ("start_on", "end_on"),
    ("from_at", "to_at"),
]


@pytest.fixture(scope="module")
def reported(console: Console) -> Party:
    """A client with the history of a real account."""
    return console.client(size="tiny")


def named(reported: Party, console: Console) -> tuple[str, str, str]:
    """The names of the range's two ends, which are not shown, and their form."""
    now = console.now()
    for first, last in PAIRS:
        for form in ("day", "instant"):
            cut = 10 if form == "day" else 20
            params = {first: iso(now)[:cut], last: iso(now)[:cut]}
            if reported.get("/v1/reports/dispositions", params).is_success:
                return first, last, form
    raise AssertionError("no pair of names for a date range is known to the service")


def test_report_answers_200(console: Console, reported: Party) -> None:
    """The report can be read without a range."""
    response = reported.get("/v1/reports/dispositions")
    if not response.is_success:
        invalid(response)
        first, last, form = named(reported, console)
        cut = 10 if form == "day" else 20
        params = {first: iso(console.now())[:cut], last: iso(console.now())[:cut]}
        response = reported.get("/v1/reports/dispositions", params)
    assert isinstance(answered(response, 200), dict)


def test_range_is_at_most_92_days(console: Console, reported: Party) -> None:
    """A range within 92 days is answered, one of more is an invalid request."""
    first, last, form = named(reported, console)
    cut = 10 if form == "day" else 20

    def report(start: str, end: str) -> Json:
        return {first: start[:cut], last: end[:cut]}

    path = "/v1/reports/dispositions"
    near = report("2026-01-01T00:00:00Z", "2026-04-01T00:00:00Z")
    answered(reported.get(path, near), 200)
    for end in ("2026-04-05T00:00:00Z", "2027-01-01T00:00:00Z"):
        invalid(reported.get(path, report("2026-01-01T00:00:00Z", end)))
    invalid(reported.get(path, report("2026-02-01T00:00:00Z", "2026-01-01T00:00:00Z")))
