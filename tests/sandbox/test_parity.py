"""The sandbox and the contract's table: no answer out of shape."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from contract.test_openapi import conforming
from dialframe.contract import operations
from sandbox.service_bench import Console, Party, answered, invalid


@pytest.fixture(scope="module")
def owner(console: Console) -> Party:
    """A client with the history of a real account, and an endpoint."""
    client = console.client(size="tiny")
    answered(client.run(client.good("webhooks.create")), 201)
    return client


@pytest.mark.parametrize("name", operations.BY_NAME)
def test_answer_has_the_rows_shape(owner: Party, name: str) -> None:
    """Its status, its model without a field more or less, its ETag; and it is what the document says."""
    row = operations.BY_NAME[name]
    answer = owner.run(owner.good(name))
    if name == "whatsapp.send":
        assert answer.status_code == 403
        return
    assert answer.status_code == row.status, answer.text
    assert ("ETag" in answer.headers) is row.etag
    if row.streamed or row.status == 204:
        return
    conforming(name, answer)
    model = row.response.model_validate(answer.json())
    assert model.model_extra == {}
    assert set(answer.json()) == set(type(model).model_fields)
    if row.paged:
        assert answer.json()["data"]
        for entry in answer.json()["data"]:
            shape = type(model).model_fields["data"].annotation.__args__[0]  # type: ignore[union-attr]
            assert set(entry) == set(shape.model_fields)


def test_report_counts_the_accounts_calls(owner: Party) -> None:
    """Each call of the range once, by UTC day, campaign and disposition."""
    rows = owner.walk("/v1/calls", limit=100)
    day = rows[-1]["created_at"][:10]
    path = f"/v1/reports/dispositions?start_date={day}&end_date={day}"
    report = owner.send("GET", path).json()
    counted = {
        (row["date"], row["campaign_id"], row["disposition"]): row["calls"]
        for row in report["data"]
    }
    expected: dict[tuple[str, str | None, str | None], int] = {}
    for row in rows:
        if row["created_at"][:10] == day:
            key = (day, row["campaign_id"], row["disposition"])
            expected[key] = expected.get(key, 0) + 1
    assert counted == expected


def test_starting_loads_little() -> None:
    """Neither pandas nor the client, and no HTTP client or generator before one is needed."""
    program = (
        "import sys, dialframe.sandbox as s\n"
        "with s.start(size='empty'): pass\n"
        "print([name for name in ('pandas', 'numpy', 'pyarrow', 'httpx', 'phonenumbers',"
        " 'dialframe.client', 'dialframe.frames') if name in sys.modules])"
    )
    source = str(Path(__file__).parents[2] / "src")
    answer = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env={"PYTHONPATH": source},
    )
    assert answer.stdout.strip() == "[]"
    assert answer.stderr == ""


# --- the report of dispositions: its range is assumed, in UTC days -----------------------------


@pytest.mark.parametrize("end", ["2026-01-01", "2026-01-02", "2026-04-01", "2026-04-02"])
def test_range_within_92_days_is_answered(owner: Party, end: str) -> None:
    """From one day to 92, both ends counted."""
    params = {"start_date": "2026-01-01", "end_date": end}
    body = answered(owner.get("/v1/reports/dispositions", params), 200)

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
def test_range_is_at_most_92_days(owner: Party, start: str, end: str) -> None:
    """A longer range, one that ends before it starts, and days that are none are invalid."""
    params = {"start_date": start, "end_date": end}
    invalid(owner.get("/v1/reports/dispositions", params))


def test_range_is_needed(owner: Party) -> None:
    """Neither end has a default."""
    for params in ({}, {"start_date": "2026-01-01"}, {"end_date": "2026-01-01"}):
        invalid(owner.get("/v1/reports/dispositions", params))
