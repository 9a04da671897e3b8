"""Every error code of the contract, over real HTTP, becomes the error that a program can branch on."""

from __future__ import annotations

import pickle
import re
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from client.fakes import PHONE, an_id, client_at
from contract.promised import PROMISED
from dialframe import sandbox as sandboxes
from dialframe.client import SYSTEM, Client, Options
from dialframe.contract import error_codes
from dialframe.errors import FAMILIES, ApiError
from rows import every_row

REQUEST_ID = re.compile(r"req_[0-9A-HJKMNP-TV-Z]{26}")
SOON = SYSTEM.now() + timedelta(days=2)
LONDON = "+442079460123"
#: Answered ahead of the idempotency key or for good: the write did not happen.
FAILED_5XX = ("dnc_screen_unavailable",)


@dataclass(frozen=True)
class Bench:
    """A service, a client of it with every right, a paused campaign, and a folder of the test's own."""

    sandbox: sandboxes.Sandbox
    client: Client
    campaign: str
    folder: Path

    def lead(self, **fields: Any) -> Any:
        """A lead in the paused campaign, a number of its own."""
        number = sum(1 for _ in self.client.leads.list(campaign_id=self.campaign))
        phone = f"+1212555{100 + number:04d}"
        return self.client.leads.create(campaign_id=self.campaign, phone=phone, **fields)

    def sms(self, to: str = PHONE, reference: str = "r") -> Any:
        """A text."""
        return self.client.sms.send(to=to, body="hello", client_reference=reference)

    def call(self, **fields: Any) -> Any:
        """A click-to-call with an agent who is ready."""
        extension = str(900 + len(self.sandbox.console.outbox(self.sandbox.client_id)))
        self.sandbox.console.add_agent(
            self.sandbox.client_id, extension=extension, email=f"a{extension}@example.com"
        )
        return self.client.calls.start(to=PHONE, agent_extension=extension, **fields)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[sandboxes.Sandbox]:
    """An empty account, without its rate limits."""
    with sandboxes.start(size="empty") as running:
        running.console.update_account({"rate_limits": None})
        running.console.add_caller_id(running.client_id, "+12125550100")
        yield running


@pytest.fixture
def bench(sandbox: sandboxes.Sandbox, tmp_path: Path) -> Iterator[Bench]:
    """A client that asks once, and an account that is afterwards as it was."""
    before = sandbox.console.account()
    campaign = sandbox.console.create_campaign(sandbox.client_id, "Autumn", status="paused")["id"]
    with client_at(sandbox.base_url, sandbox.api_key, journal=tmp_path, max_attempts=1) as client:
        yield Bench(sandbox, client, str(campaign), tmp_path)
    sandbox.console.update_account(before)
    sandbox.console.clear_faults()


def the_error(
    act: Callable[[], object], family: type[ApiError], status: int, code: str, operation: str
) -> ApiError:
    """What an act is refused with: exactly this family, and every fact of the answer."""
    with pytest.raises(ApiError) as caught:
        act()
    error = caught.value
    # The client's own class of a 412 carries the resource as it is now.
    assert next(kind for kind in type(error).__mro__ if kind in FAMILIES.values()) is family
    assert (error.operation, error.status, error.code) == (operation, status, code)
    assert REQUEST_ID.fullmatch(error.request_id or "")
    assert error.request_id in str(error)
    assert str(error).startswith(f"{operation}: {status} {code} ")
    assert error_codes.BY_CODE[code].advice in str(error)
    assert vars(pickle.loads(pickle.dumps(error))) == vars(error)  # noqa: S301 - our own bytes
    if status in (429, 503):
        assert error.retry_after_s is not None
        assert error.retry_after_s >= 1
    return error


@every_row("status, code, family", PROMISED)
def test_refusal_is_an_error_of_its_family(
    bench: Bench, status: int, code: str, family: type[ApiError]
) -> None:
    """Of a list when it is walked, of a write with its key; it stays open exactly where it may have happened."""
    for operation in ("calls.list", "leads.create"):
        bench.sandbox.console.arm_fault(operation, status=status, code=code)
    # An unknown outcome stays with its key, so every case has its own.
    name = f"write-{uuid.uuid4()}"
    key = Options(idempotency_key=name)

    read = the_error(lambda: list(bench.client.calls.list()), family, status, code, "calls.list")
    error = the_error(
        lambda: bench.client.leads.create(campaign_id=bench.campaign, phone=PHONE, options=key),
        family, status, code, "leads.create",
    )  # fmt: skip

    assert read.key is None
    assert list(bench.client.calls.list()) == []
    may_have_happened = code in ("conflict", "outcome_unknown") or (
        status >= 500 and code not in FAILED_5XX
    )
    assert error.key == name
    assert [write.key for write in bench.client.writes.pending()] == [name] * may_have_happened
    assert (f"client.writes.settle('{name}')" in str(error)) is may_have_happened
    if may_have_happened:
        bench.client.writes.dismiss(name)


def _poor(bench: Bench) -> Client:
    key = bench.sandbox.console.create_client("poor")["api_key"]
    return bench.client.with_key(str(key))


def _under(settings: dict[str, object], act: Callable[[Bench], object]) -> Callable[[Bench], None]:
    def provoke(bench: Bench) -> None:
        bench.sandbox.console.update_account(settings)
        act(bench)

    return provoke


def _idempotency_conflict(bench: Bench) -> None:
    with client_at(
        bench.sandbox.base_url, bench.sandbox.api_key, journal=bench.folder / "another"
    ) as other:
        other.dnc.add("+12125550188", options=Options(idempotency_key=bench.campaign))
    bench.client.dnc.add("+12125550189", options=Options(idempotency_key=bench.campaign))


def _on_dnc(bench: Bench) -> None:
    bench.client.dnc.add(LONDON)
    bench.sms(LONDON)


def _reference_twice(bench: Bench) -> None:
    bench.sms(reference=bench.campaign)
    bench.sms(reference=bench.campaign)


def _eleven_endpoints(bench: Bench) -> None:
    for number in range(11):
        bench.client.webhooks.create(url=f"http://127.0.0.1:9/{number}", events=["call.completed"])


def _six_replays(bench: Bench) -> None:
    for endpoint in bench.client.webhooks.list():
        bench.client.webhooks.delete(endpoint.id)
    bench.client.webhooks.create(url="http://127.0.0.1:9/x", events=["call.completed"])
    event = bench.sandbox.console.emit_event(
        bench.sandbox.client_id, "call.completed", {"call_id": an_id("call")}
    )
    for _ in range(6):
        bench.client.events.replay(event)


def _stale(bench: Bench) -> None:
    bench.lead()
    bench.client.campaigns.resume(bench.campaign)


def _running_import(bench: Bench) -> None:
    bench.client.campaigns.resume(bench.campaign)
    bench.client.leads.import_(bench.campaign, [{"phone": PHONE}])


def _cancelled_callback(bench: Bench) -> None:
    made = bench.client.callbacks.create(lead_id=bench.lead().lead_id, scheduled_at=SOON)
    bench.client.callbacks.cancel(made.id)
    bench.client.callbacks.reschedule(made.id, scheduled_at=SOON)


def _cancelled_appointment(bench: Bench) -> None:
    made = bench.client.appointments.create(phone=PHONE, scheduled_at=SOON, duration_minutes=30)
    bench.client.appointments.cancel(made.id)
    bench.client.appointments.reschedule(made.id, scheduled_at=SOON)


def _changed_since(bench: Bench) -> None:
    lead = bench.client.leads.get(bench.lead().lead_id)
    bench.client.leads.update(lead.id, full_name="Theirs")
    bench.client.leads.update(lead.id, full_name="Mine", options=Options(if_match=lead))


def _draft(bench: Bench) -> str:
    made = bench.sandbox.console.create_campaign(bench.sandbox.client_id, "x", status="draft")
    return str(made["id"])


#: What a caller really does to be refused so, and the operation that refuses.
PROVOKED: tuple[tuple[str, str, Callable[[Bench], object]], ...] = (
    ("invalid_api_key", "me", lambda b: b.client.with_key("svc_test_no_body").me()),
    ("api_access_disabled", "me", _under({"api_access_enabled": False}, lambda b: b.client.me())),
    ("ip_not_allowed", "me", _under({"ip_allow": ["192.0.2.1"]}, lambda b: b.client.me())),
    ("insufficient_scope", "calls.list", lambda b: list(_poor(b).calls.list())),
    ("credential_in_body", "leads.create", lambda b: b.lead(full_name=b.sandbox.api_key)),
    ("invalid_cursor", "calls.list", lambda b: list(b.client.calls.list(cursor="nonsense"))),
    ("tier_not_enabled", "whatsapp.send", lambda b: b.client.whatsapp.send(to=PHONE, body="x")),
    ("not_found", "calls.get", lambda b: b.client.calls.get(an_id("call", 9))),
    ("idempotency_conflict", "dnc.add", _idempotency_conflict),
    ("agent_unavailable", "calls.start",
     lambda b: b.client.calls.start(to=PHONE, agent_extension="none")),
    ("dial_refused", "calls.start", lambda b: b.call(caller_id="+12125550199")),
    ("on_dnc", "sms.send", _on_dnc),
    ("blocked_country", "sms.send",
     _under({"blocked_countries": ["GB"]}, lambda b: b.sms("+442079460124"))),
    ("message_refused", "sms.send", _under({"consent_required": True}, lambda b: b.sms())),
    ("insufficient_balance", "calls.start", _under({"balance": 0}, lambda b: b.call())),
    ("sending_suspended", "sms.send", _under({"sending_suspended": True}, lambda b: b.sms())),
    ("outbound_not_approved", "calls.start",
     _under({"outbound_approved": False}, lambda b: b.call())),
    ("duplicate_client_reference", "sms.send", _reference_twice),
    ("rate_limit_exceeded", "sms.send", _under({"per_minute_cap": 0}, lambda b: b.sms())),
    ("daily_cap_reached", "calls.start", _under({"daily_cap": 0}, lambda b: b.call())),
    ("spend_cap_reached", "sms.send", _under({"spend_cap": 0}, lambda b: b.sms())),
    ("webhooks_disabled", "webhooks.list",
     _under({"webhooks_enabled": False}, lambda b: list(b.client.webhooks.list()))),
    ("webhook_url_refused", "webhooks.create",
     lambda b: b.client.webhooks.create(url="https://10.0.0.1/x", events=["call.completed"])),
    ("webhook_limit_reached", "webhooks.create", _eleven_endpoints),
    ("replay_limit_reached", "events.replay", _six_replays),
    ("campaign_not_importable", "leads.import", _running_import),
    ("dnc_screen_unavailable", "leads.create",
     _under({"dnc_screen_available": False}, lambda b: b.lead())),
    ("campaign_not_paused", "campaigns.resume", lambda b: b.client.campaigns.resume(_draft(b))),
    ("campaign_not_running", "campaigns.pause", lambda b: b.client.campaigns.pause(_draft(b))),
    ("registry_stale_blocked", "campaigns.resume",
     _under({"registry_stale": True, "block_stale_registry": True}, _stale)),
    ("callback_not_pending", "callbacks.reschedule", _cancelled_callback),
    ("appointment_not_modifiable", "appointments.reschedule", _cancelled_appointment),
    ("precondition_failed", "leads.update", _changed_since),
)  # fmt: skip


@pytest.mark.parametrize(
    ("code", "operation", "provoke"), PROVOKED, ids=[case[0] for case in PROVOKED]
)
def test_refusal_that_a_caller_runs_into_is_the_same_error(
    bench: Bench, code: str, operation: str, provoke: Callable[[Bench], object]
) -> None:
    """Not armed but earned: what the client sends meets what the service refuses."""
    status, family = next((row[0], row[2]) for row in PROMISED if row[1] == code)

    the_error(lambda: provoke(bench), family, status, code, operation)
