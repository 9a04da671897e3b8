"""The client against the service on this machine, over real HTTP."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from client.fakes import PHONE, client_at
from dialframe import sandbox as sandboxes
from dialframe.client import SYSTEM, Client, Options
from dialframe.contract import SmsSend, operations
from dialframe.errors import (
    NotFound,
    TransportError,
)


def ten_leads(client: Client, prefix: str) -> list[dict[str, str]]:
    """Leads whose external ids are nobody else's, with numbers that no list of this day's account has."""
    numbers = [f"+1212555{n:04d}" for n in range(100, 200)]
    free = [check.phone for check in client.dnc.check(numbers) if not check.listed]
    tag = f"{prefix}-{uuid.uuid4()}"
    return [{"phone": phone, "external_id": f"{tag}-{n}"} for n, phone in enumerate(free[:10])]


@pytest.fixture(scope="module")
def sandbox() -> Iterator[sandboxes.Sandbox]:
    """A small account, without its rate limits."""
    with sandboxes.start(seed=7, size="tiny") as running:
        running.console.update_account({"rate_limits": None})
        yield running
        running.console.update_account({"rate_limits": "contract"})


@pytest.fixture
def client(sandbox: sandboxes.Sandbox, tmp_path: Path) -> Iterator[Client]:
    """The first client of the account."""
    with client_at(sandbox.base_url, sandbox.api_key, journal=tmp_path) as connected:
        yield connected
    sandbox.console.clear_faults()


@pytest.fixture
def paused(sandbox: sandboxes.Sandbox) -> str:
    """A campaign that takes imports."""
    made = sandbox.console.create_campaign(sandbox.client_id, "Autumn", status="paused")
    return str(made["id"])


def test_key_knows_who_it_is(client: Client, sandbox: sandboxes.Sandbox) -> None:
    """The account's identity, whose shape the contract leaves open."""
    assert client.me().client_id == sandbox.client_id


def test_every_list_is_walked_to_its_end(client: Client) -> None:
    """Rows of all lists validate, ids come once, small pages and large ones agree."""
    campaign = next(iter(client.campaigns.list())).id
    lead = next(iter(client.leads.list())).id
    listings: dict[str, Any] = {
        "calls": client.calls.list(),
        "leads": client.leads.list(),
        "campaigns": client.campaigns.list(),
        "callbacks": client.callbacks.list(campaign_id=campaign),
        "appointments": client.appointments.list(),
        "webhooks": client.webhooks.list(),
        "events": client.events.list(),
        "history": client.leads.history(lead),
        "sms": client.sms.delivery_reports(),
    }
    for listing in listings.values():
        assert not [row for page in listing.pages() for row in page.quarantined]

    calls = [call.id for call in listings["calls"]]
    assert len(calls) == len(set(calls)) > 500
    assert [call.id for call in client.calls.list(limit=37)] == calls


def test_every_single_read_answers(client: Client, tmp_path: Path) -> None:
    """One of each, by an id from a list."""
    call = next(call for call in client.calls.list(direction="outbound") if call.answered_at)
    lead = next(iter(client.leads.list(status="contacted")))
    campaign = next(iter(client.campaigns.list(status="running")))

    assert client.calls.get(call.id) == call
    assert client.leads.get(lead.id) == lead
    assert client.campaigns.get(campaign.id) == campaign
    assert client.campaigns.progress(campaign.id).leads_total
    assert client.calls.summary(call.id).status
    assert client.calls.recording(call.id, tmp_path / "call.wav").stat().st_size > 0
    assert client.calls.transcript(call.id).call_id == call.id
    assert client.sms.usage().sent_today is not None
    day = call.created_at.date()
    report = client.reports.dispositions(day - timedelta(days=7), day)
    assert sum(count.calls or 0 for count in report.data or []) > 0
    for appointment in client.appointments.list():
        assert client.appointments.get(appointment.id) == appointment


def test_import_answers_for_each_lead(client: Client, paused: str) -> None:
    """By index; the leads are there afterwards."""
    leads = ten_leads(client, "first")
    answer = client.leads.import_(paused, [*leads, {"phone": "not a number"}])

    assert [result.index for result in answer.data] == list(range(11))
    assert [result.status for result in answer.data] == ["accepted"] * 10 + ["invalid"]
    assert {lead.external_id for lead in client.leads.list(campaign_id=paused)} == {
        lead["external_id"] for lead in leads
    }


def test_lost_answer_of_an_import_is_fetched_with_its_key(
    client: Client, sandbox: sandboxes.Sandbox, paused: str
) -> None:
    """The write happened, its answer was cut off: the same key brings it, and nothing is written twice."""
    sandbox.console.arm_fault("leads.import", drop="after-commit", times=4)
    key = str(uuid.uuid4())

    with pytest.raises(TransportError, match="settle") as caught:
        client.leads.import_(
            paused, ten_leads(client, "lost"), options=Options(idempotency_key=key)
        )
    assert caught.value.sent
    (write,) = client.writes.pending()
    sandbox.console.clear_faults()
    answered = client.writes.settle(write.key)

    assert answered.replayed
    assert [result["status"] for result in answered.raw["data"]] == ["accepted"] * 10
    assert len(list(client.leads.list(campaign_id=paused))) == 10
    assert client.writes.pending() == []


@pytest.mark.parametrize(
    "fault",
    [{"drop": "before"}, {"drop": "during"}, {"status": 503, "code": "temporarily_unavailable"},
     {"status": 500, "code": "internal_error"}, {"status": 429, "code": "rate_limit_exceeded"}],
    ids=str,
)  # fmt: skip
def test_read_outlives_a_failure(
    client: Client, sandbox: sandboxes.Sandbox, fault: dict[str, Any]
) -> None:
    """Twice in the middle of a walk, and not a row is lost."""
    whole = [call.id for call in client.calls.list()]
    sandbox.console.arm_fault("calls.list", after=3, times=2, **fault)

    assert [call.id for call in client.calls.list()] == whole


def test_write_outlives_a_failure_and_happens_once(
    client: Client, sandbox: sandboxes.Sandbox, paused: str
) -> None:
    """Cut off before and after its commit: one lead in the end."""
    for drop in ("before", "after-commit"):
        sandbox.console.arm_fault("leads.create", drop=drop)

    created = client.leads.create(campaign_id=paused, phone=PHONE)

    assert created.status == "accepted"
    assert [lead.id for lead in client.leads.list(campaign_id=paused)] == [created.lead_id]


def test_webhook_is_made_tested_and_deleted(client: Client) -> None:
    """The secret is shown once, a replayed answer has none."""
    made = client.webhooks.create(url="http://127.0.0.1:9/hook", events=["call.completed"])
    tested = client.webhooks.test(made.id)
    event = client.events.get(tested.event_id)
    once = Options(idempotency_key=str(uuid.uuid4()))
    rotated = client.webhooks.rotate_secret(made.id, options=once)
    again = client.send_raw(
        operations.WEBHOOKS_ROTATE_SECRET,
        operations.WEBHOOKS_ROTATE_SECRET.request(webhook_id=made.id),
        once,
    )

    assert (made.secret or "").startswith("whsec_")
    assert rotated.secret not in (None, made.secret)
    assert (again.replayed, again.value.secret) == (True, None)
    assert event.type == "webhook.test"
    assert client.webhooks.update(made.id, enabled=False).enabled is False
    client.webhooks.delete(made.id)
    with pytest.raises(NotFound):
        client.webhooks.get(made.id)


def test_contact_goes_through_its_whole_life(client: Client, paused: str) -> None:
    """Callback, appointment, consent, text, Do-Not-Call: each can be made and moved."""
    soon = SYSTEM.now() + timedelta(days=1)
    lead_id = client.leads.create(campaign_id=paused, phone=PHONE).lead_id or ""
    callback = client.callbacks.create(lead_id=lead_id, scheduled_at=soon, notes="after work")
    moved = client.callbacks.reschedule(callback.id, scheduled_at=soon + timedelta(hours=1))
    booked = client.appointments.create(phone=PHONE, scheduled_at=soon, duration_minutes=30)
    shifted = client.appointments.reschedule(booked.id, scheduled_at=soon + timedelta(hours=2))

    assert moved.scheduled_at - callback.scheduled_at == timedelta(hours=1)
    assert client.callbacks.cancel(callback.id).status == "cancelled"
    assert shifted.scheduled_at > booked.scheduled_at
    cancelled = client.appointments.cancel(booked.id, options=Options(if_match=shifted))
    assert cancelled.status == "cancelled"
    assert client.consents.record(
        phone=PHONE, channel="sms", source="form", obtained_at=SYSTEM.now()
    )
    assert client.dnc.add("+12125550177", reason="asked").phone == "+12125550177"
    assert client.campaigns.resume(paused).status == "running"
    assert client.campaigns.pause(paused).status == "paused"


def test_text_is_sent_once_under_one_reference(client: Client, sandbox: sandboxes.Sandbox) -> None:
    """What would have been sent is in the outbox, once, though the request was made twice."""
    sandbox.console.update_account({"calling_hours": None, "consent_required": False})
    reference = str(uuid.uuid4())
    request = SmsSend(to=PHONE, body="hello", client_reference=reference)
    once = Options(idempotency_key=reference)
    first, second = (client.send_raw(operations.SMS_SEND, request, once) for _ in range(2))

    texts = [item["client_reference"] for item in sandbox.console.outbox(sandbox.client_id)
             if item["kind"] == "sms"]  # fmt: skip
    assert (first.replayed, second.replayed) == (False, True)
    assert second.value == first.value
    assert texts.count(reference) == 1


def test_threads_that_share_a_key_are_never_refused(tmp_path: Path) -> None:
    """Four threads under the contract's limits: no rate refusal, though none is repeated."""
    with (
        sandboxes.start(seed=7, size="empty") as limited,
        Client(limited.base_url, limited.api_key, max_attempts=1, journal=tmp_path) as client,
        ThreadPoolExecutor(4) as threads,
    ):
        answers = list(threads.map(lambda _: client.me(), range(32)))

    assert {answer.client_id for answer in answers} == {limited.client_id}
