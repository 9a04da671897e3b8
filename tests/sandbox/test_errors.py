"""Every code of the Errors table, provoked."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from sandbox.service_bench import (
    CALL,
    LONDON,
    MIB,
    PHONE,
    PUBLIC_URL,
    SOON,
    Console,
    answered,
    fresh_key,
    problem,
)

Provoke = Callable[["Bench"], httpx.Response]


class Bench:
    """What a provocation needs: the console, a client and short ways to its operations."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.party = console.client()
        self.party.caller_id()
        self.campaign = self.party.campaign("paused")

    def sms(self, to: str = PHONE, **fields: Any) -> httpx.Response:
        body = {"to": to, "body": "Hello", "client_reference": fresh_key(), **fields}
        return self.party.post("/v1/sms", body)

    def call(self, **fields: Any) -> httpx.Response:
        fields.setdefault("agent_extension", self.party.agent())
        return self.party.post("/v1/calls", {"to": PHONE, **fields})

    def lead(self, campaign: str | None = None, idem: str = "auto") -> httpx.Response:
        body = {"campaign_id": campaign or self.campaign, "phone": self.party.phone()}
        return self.party.post("/v1/leads", body, idem=idem)

    def me(self) -> httpx.Response:
        return self.party.get("/v1/me")

    def under(self, act: Callable[[], httpx.Response], **settings: Any) -> httpx.Response:
        with self.console.settings(**settings):
            return act()

    def failing(self, status: int, code: str) -> httpx.Response:
        with self.console.fault("calls.list", status=status, code=code):
            return self.party.get("/v1/calls")


def _idempotency_conflict(bench: Bench) -> httpx.Response:
    key = fresh_key()
    answered(bench.lead(idem=key), 200)
    return bench.lead(idem=key)


def _conflict(bench: Bench) -> httpx.Response:
    key = fresh_key()
    body = {"campaign_id": bench.campaign, "phone": bench.party.phone()}
    with bench.console.fault("leads.create", delay_seconds=0.4):
        first = threading.Thread(target=lambda: bench.party.post("/v1/leads", body, idem=key))
        first.start()
        threading.Event().wait(0.15)
        response = bench.party.post("/v1/leads", body, idem=key)
        first.join()
    return response


def _webhook_limit(bench: Bench) -> httpx.Response:
    for _ in range(10):
        answered(_endpoint(bench), 201)
    response = _endpoint(bench)
    for endpoint in bench.party.walk("/v1/webhooks"):
        answered(bench.party.delete(f"/v1/webhooks/{endpoint['id']}"))
    return response


def _replay_limit(bench: Bench) -> httpx.Response:
    bench.console.to_next_day()
    path = f"/v1/webhook-events/{bench.party.event()}/replay"
    return [bench.party.post(path) for _ in range(6)][-1]


def _stale_registry(bench: Bench) -> httpx.Response:
    bench.party.lead(bench.campaign)
    path = f"/v1/campaigns/{bench.campaign}/resume"
    settings = {"registry_stale": True, "block_stale_registry": True}
    return bench.under(lambda: bench.party.post(path), **settings)


def _callback_not_pending(bench: Bench) -> httpx.Response:
    body = {"lead_id": bench.party.lead(bench.campaign), "scheduled_at": SOON}
    path = f"/v1/callbacks/{answered(bench.party.post('/v1/callbacks', body), 201)['id']}"
    answered(bench.party.post(f"{path}/cancel"), 200)
    return bench.party.post(f"{path}/reschedule", {"scheduled_at": SOON})


def _appointment(bench: Bench, etag: str | None) -> httpx.Response:
    body = {"phone": PHONE, "scheduled_at": SOON}
    made = answered(bench.party.post("/v1/appointments", body), 201)["id"]
    path = f"/v1/appointments/{made}"
    if etag is not None:
        return bench.party.post(f"{path}/cancel", headers={"If-Match": etag})
    answered(bench.party.post(f"{path}/cancel"), 200)
    return bench.party.post(f"{path}/reschedule", {"scheduled_at": SOON})


def _on_dnc(bench: Bench) -> httpx.Response:
    bench.party.on_dnc(LONDON)
    return bench.sms(LONDON)


def _duplicate_reference(bench: Bench) -> httpx.Response:
    answered(bench.sms(client_reference="twice"), 202)
    return bench.sms(client_reference="twice")


def _rate_limit(bench: Bench) -> httpx.Response:
    def act() -> httpx.Response:
        for _ in range(200):
            response = bench.me()
            if response.status_code == 429:
                break
        return response

    return bench.under(act, rate_limits="contract")


def _endpoint(bench: Bench, url: str = PUBLIC_URL) -> httpx.Response:
    return bench.party.post("/v1/webhooks", {"url": url, "events": ["call.completed"]})


def _campaign(bench: Bench, operation: str) -> httpx.Response:
    return bench.party.post(f"/v1/campaigns/{bench.party.campaign('draft')}/{operation}")


PROVOKED: dict[str, tuple[int | tuple[int, ...], Provoke]] = {
    "invalid_api_key": (401, lambda b: b.party.get("/v1/me", auth=None)),
    "api_access_disabled": (403, lambda b: b.under(b.me, api_access_enabled=False)),
    "ip_not_allowed": (403, lambda b: b.under(b.me, ip_allow=["192.0.2.1"])),
    "insufficient_scope": (403, lambda b: b.console.client(scopes=[]).get("/v1/calls")),
    "credential_in_url": (400, lambda b: b.party.get("/v1/calls", {"key": b.party.key})),
    "credential_in_body": (400, lambda b: b.sms(body=b.party.key)),
    "validation_failed": ((400, 422), lambda b: b.party.get("/v1/calls", {"limit": "0"})),
    "batch_too_large": (400, lambda b: b.party.post("/v1/dnc/check", {"phones": [PHONE] * 101})),
    "invalid_cursor": (400, lambda b: b.party.get("/v1/calls", {"cursor": "x"})),
    "payload_too_large": (413, lambda b: b.party.post("/v1/dnc/check", content=b" " * (MIB + 1))),
    "unsupported_media_type": (415, lambda b: b.party.post("/v1/dnc/check", content=b"{}")),
    "idempotency_key_required": (400, lambda b: b.party.post("/v1/sms", {}, idem=None)),
    "tier_not_enabled": (403, lambda b: b.party.post("/v1/whatsapp/messages", {})),
    "not_found": (404, lambda b: b.party.get(f"/v1/calls/{CALL}")),
    "route_not_available": (404, lambda b: b.party.get("/v1/nothing")),
    "method_not_allowed": (405, lambda b: b.party.delete("/v1/calls")),
    "conflict": (409, _conflict),
    "idempotency_conflict": (409, _idempotency_conflict),
    "outcome_unknown": (409, lambda b: b.failing(409, "outcome_unknown")),
    "agent_unavailable": (409, lambda b: b.call(agent_extension="999999")),
    "dial_refused": (422, lambda b: b.call(caller_id="+12125550111")),
    "on_dnc": (422, _on_dnc),
    "blocked_country": (422, lambda b: b.under(b.sms, blocked_countries=["US"])),
    "message_refused": (422, lambda b: b.under(b.sms, consent_required=True)),
    "insufficient_balance": (402, lambda b: b.under(b.sms, balance=0)),
    "sending_suspended": (403, lambda b: b.under(b.sms, sending_suspended=True)),
    "outbound_not_approved": (403, lambda b: b.under(b.call, outbound_approved=False)),
    "duplicate_client_reference": (409, _duplicate_reference),
    "rate_limit_exceeded": (429, _rate_limit),
    "daily_cap_reached": (429, lambda b: b.under(b.call, daily_cap=0)),
    "spend_cap_reached": (429, lambda b: b.under(b.call, spend_cap=0)),
    "webhooks_disabled": (403, lambda b: b.under(lambda: _endpoint(b), webhooks_enabled=False)),
    "webhook_url_refused": (422, lambda b: _endpoint(b, "https://10.0.0.1/x")),
    "webhook_limit_reached": (409, _webhook_limit),
    "replay_unavailable": (409, lambda b: b.failing(409, "replay_unavailable")),
    "replay_limit_reached": (429, _replay_limit),
    "campaign_not_importable": (409, lambda b: b.lead(b.party.campaign("completed"))),
    "dnc_screen_unavailable": (503, lambda b: b.under(b.lead, dnc_screen_available=False)),
    "campaign_not_paused": (409, lambda b: _campaign(b, "resume")),
    "campaign_not_running": (409, lambda b: _campaign(b, "pause")),
    "registry_stale_blocked": (409, _stale_registry),
    "callback_not_pending": (409, _callback_not_pending),
    "appointment_not_modifiable": (409, lambda b: _appointment(b, None)),
    "precondition_failed": (412, lambda b: _appointment(b, '"made-up"')),
    "temporarily_unavailable": (503, lambda b: b.failing(503, "temporarily_unavailable")),
    "upstream_unavailable": (503, lambda b: b.failing(503, "upstream_unavailable")),
    "upstream_invalid_response": (502, lambda b: b.failing(502, "upstream_invalid_response")),
    "internal_error": (500, lambda b: b.failing(500, "internal_error")),
}


@pytest.fixture(scope="module")
def bench(console: Console) -> Bench:
    """A client with a campaign and a number to call from."""
    return Bench(console)


@pytest.mark.parametrize("code", PROVOKED)
def test_code_can_be_provoked(bench: Bench, code: str) -> None:
    """The condition of the table gives the code with its status, as a problem document."""
    status, provoke = PROVOKED[code]

    problem(provoke(bench), status, code)


def test_table_is_whole() -> None:
    """The contract's table has 48 codes."""
    assert len(PROVOKED) == 48
