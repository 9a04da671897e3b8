"""The sandbox and the contract's table: no row without a handler, no answer out of shape."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dialframe.contract import operations
from dialframe.sandbox import Sandbox, start
from dialframe.sandbox.handlers import HANDLERS
from sandbox.service_bench import Console, Json, Party, answered, invalid


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """An account with a past."""
    with start(size="tiny") as running:
        running.console.update_account({"rate_limits": None})
        yield running


def test_every_row_has_a_handler() -> None:
    """All 45, under the row's own name."""
    assert set(HANDLERS) == {row.name for row in operations.ALL}
    assert len(HANDLERS) == 45
    assert all(HANDLERS[row.name].operation is row for row in operations.ALL)


_numbers = itertools.count()


def unlisted() -> str:
    """A fictional British number: the account's past, all of it American, has listed none."""
    return f"+442079460{next(_numbers):03d}"


def _first(api: Party, path: str, **wanted: str) -> Json:
    row: Json = api.get(path, {"limit": 1, **wanted}).json()["data"][0]
    return row


@pytest.fixture(scope="module")
def requests(sandbox: Sandbox, api: Party) -> dict[str, tuple[str, str, Any]]:
    """A good request for every operation: method, path, body."""
    console, me = sandbox.console, sandbox.client_id
    paused = console.create_campaign(me, "p", status="paused")["id"]
    running = console.create_campaign(me, "r", status="running")["id"]
    (lead,) = console.add_leads(me, [{"phone": unlisted(), "campaign_id": paused}])
    call = next(row for row in api.walk("/v1/calls", limit=100) if row["answered_at"])["id"]
    console.add_agent(me, "parity", "parity@example.com")
    hook = api.post(
        "/v1/webhooks", {"url": "https://93.184.216.34/x", "events": ["call.completed"]}
    ).json()["id"]
    spare = api.post(
        "/v1/webhooks", {"url": "https://93.184.216.34/y", "events": ["call.completed"]}
    ).json()["id"]
    event = _first(api, "/v1/webhook-events")["id"]
    when = {"scheduled_at": "2030-01-01T00:00:00Z"}
    callback, kept = (
        api.post("/v1/callbacks", {"lead_id": lead, **when}).json()["id"] for _ in range(2)
    )
    booking, moved = (
        api.post("/v1/appointments", {"phone": unlisted(), **when}).json()["id"] for _ in range(2)
    )
    hook_body = {"url": "https://93.184.216.34/z", "events": ["call.completed"]}
    consent = {
        "phone": unlisted(), "channel": "sms", "source": "web", "obtained_at": "2026-01-01T00:00:00Z",
    }  # fmt: skip
    return {
        "me": ("GET", "/v1/me", None),
        "leads.list": ("GET", "/v1/leads", None),
        "leads.get": ("GET", f"/v1/leads/{lead}", None),
        "leads.history": ("GET", f"/v1/leads/{lead}/history", None),
        "leads.import": ("POST", f"/v1/leads/import?campaign_id={paused}",
                         {"leads": [{"phone": unlisted()}, {"phone": "x"}]}),
        "leads.create": ("POST", "/v1/leads",
                         {"campaign_id": running, "phone": unlisted(), "dial_now": True}),
        "leads.update": ("PATCH", f"/v1/leads/{lead}", {"full_name": "A"}),
        "campaigns.list": ("GET", "/v1/campaigns", None),
        "campaigns.get": ("GET", f"/v1/campaigns/{paused}", None),
        "campaigns.progress": ("GET", f"/v1/campaigns/{paused}/progress", None),
        "campaigns.pause": ("POST", f"/v1/campaigns/{running}/pause", None),
        "campaigns.resume": ("POST", f"/v1/campaigns/{paused}/resume", None),
        "calls.list": ("GET", "/v1/calls", None),
        "calls.get": ("GET", f"/v1/calls/{call}", None),
        "calls.recording": ("GET", f"/v1/calls/{call}/recording", None),
        "calls.transcript": ("GET", f"/v1/calls/{call}/transcript", None),
        "calls.summary": ("GET", f"/v1/calls/{call}/summary", None),
        "calls.start": ("POST", "/v1/calls", {"to": unlisted(), "agent_extension": "parity"}),
        "webhooks.list": ("GET", "/v1/webhooks", None),
        "webhooks.create": ("POST", "/v1/webhooks", hook_body),
        "webhooks.get": ("GET", f"/v1/webhooks/{hook}", None),
        "webhooks.update": ("PATCH", f"/v1/webhooks/{hook}", {"enabled": False}),
        "webhooks.delete": ("DELETE", f"/v1/webhooks/{spare}", None),
        "webhooks.test": ("POST", f"/v1/webhooks/{hook}/test", None),
        "webhooks.rotate_secret": ("POST", f"/v1/webhooks/{hook}/rotate-secret", None),
        "events.list": ("GET", "/v1/webhook-events", None),
        "events.get": ("GET", f"/v1/webhook-events/{event}", None),
        "events.replay": ("POST", f"/v1/webhook-events/{event}/replay", {"webhook_id": hook}),
        "dnc.check": ("POST", "/v1/dnc/check", {"phones": [unlisted()]}),
        "dnc.add": ("POST", "/v1/dnc", {"phone": unlisted()}),
        "consents.record": ("POST", "/v1/consents", consent),
        "callbacks.list": ("GET", f"/v1/callbacks?campaign_id={paused}", None),
        "callbacks.create": ("POST", "/v1/callbacks", {"lead_id": lead, **when}),
        "callbacks.reschedule": ("POST", f"/v1/callbacks/{kept}/reschedule", when),
        "callbacks.cancel": ("POST", f"/v1/callbacks/{callback}/cancel", None),
        "appointments.list": ("GET", "/v1/appointments", None),
        "appointments.get": ("GET", f"/v1/appointments/{booking}", None),
        "appointments.create": ("POST", "/v1/appointments", {"phone": unlisted(), **when}),
        "appointments.reschedule": ("POST", f"/v1/appointments/{moved}/reschedule", when),
        "appointments.cancel": ("POST", f"/v1/appointments/{booking}/cancel", None),
        "sms.send": ("POST", "/v1/sms", {"to": unlisted(), "body": "x", "client_reference": "p"}),
        "sms.delivery_reports": ("GET", "/v1/sms/delivery-reports", None),
        "sms.usage": ("GET", "/v1/sms/usage", None),
        "whatsapp.send": ("POST", "/v1/whatsapp/messages", {}),
        "reports.dispositions": (
            "GET", "/v1/reports/dispositions?start_date=2026-01-01&end_date=2026-04-02", None),
    }  # fmt: skip


@pytest.mark.parametrize("name", [row.name for row in operations.ALL])
def test_answer_has_the_rows_shape(
    api: Party, requests: dict[str, tuple[str, str, Any]], name: str
) -> None:
    """Its status, its model without a field more or less, its ETag."""
    row = operations.BY_NAME[name]
    method, path, body = requests[name]
    answer = api.send(method, path, body)
    if name == "whatsapp.send":
        assert answer.status_code == 403
        return
    assert answer.status_code == row.status, answer.text
    assert ("ETag" in answer.headers) is row.etag
    if row.streamed or row.status == 204:
        return
    model = row.response.model_validate(answer.json())
    assert model.model_extra == {}
    assert set(answer.json()) == set(type(model).model_fields)
    if row.paged:
        for entry in answer.json()["data"]:
            shape = type(model).model_fields["data"].annotation.__args__[0]  # type: ignore[union-attr]
            assert set(entry) == set(shape.model_fields)


def test_report_counts_the_accounts_calls(sandbox: Sandbox, api: Party) -> None:
    """Each call of the range once, by UTC day, campaign and disposition."""
    rows = api.walk("/v1/calls", limit=100)
    day = rows[-1]["created_at"][:10]
    path = f"/v1/reports/dispositions?start_date={day}&end_date={day}"
    report = api.send("GET", path).json()
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
        env={"PYTHONPATH": source},
    )
    assert answer.stdout.strip() == "[]"
    assert answer.stderr == ""


# --- the report of dispositions: its range is assumed, in UTC days -----------------------------


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
