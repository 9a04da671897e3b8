"""The console over HTTP: every call of its table."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import httpx
import pytest

from dialframe.errors import ConfigError
from dialframe.sandbox import Sandbox
from sandbox.calling import REQUEST_ID, Api, Json, ok, phone, refused

NOBODY = "cli_00000000-0000-4000-8000-000000000000"

#: Method, path and a good body of every call, as the console's table has them.
CALLS: tuple[tuple[str, str, object, int], ...] = (
    ("POST", "/clients", {"name": "n"}, 201),
    ("POST", "/clients/{client}/keys", {}, 201),
    ("PUT", "/clients/{client}", {}, 200),
    ("PUT", "/account", {}, 200),
    ("GET", "/account", None, 200),
    ("POST", "/clients/{client}/campaigns", {"name": "n"}, 201),
    ("POST", "/clients/{client}/leads", [{}], 201),
    ("POST", "/clients/{client}/calls", [{}], 201),
    ("POST", "/clients/{client}/agents", {"extension": "1", "email": "a@example.com"}, 201),
    ("POST", "/clients/{client}/caller-ids", {"number": "+12025550123"}, 201),
    ("POST", "/clients/{client}/lead-sources", {"code": "web"}, 201),
    ("POST", "/clients/{client}/field-rules", {"field": "email", "required": False,
                                               "pattern": None}, 201),
    ("POST", "/clients/{client}/dnc", {"phones": ["+12025550123"]}, 201),
    ("DELETE", "/clients/{client}/dnc/+12025550123", None, 204),
    ("POST", "/clients/{client}/events", {"type": "call.completed", "data": {}}, 201),
    ("GET", "/clients/{client}/outbox", None, 200),
    ("POST", "/clock", {"advance_seconds": 0}, 200),
    ("POST", "/faults", {"operation": "me", "status": 500}, 201),
    ("DELETE", "/faults", None, 204),
)  # fmt: skip


class Http:
    """The console as anybody's HTTP client sees it."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.http = httpx.Client(base_url=sandbox.console_url, trust_env=False)

    def __call__(
        self, method: str, path: str, body: object = None, *, auth: str | None = None, **more: Any
    ) -> httpx.Response:
        """One call with the token."""
        headers = {"Authorization": auth or f"Bearer {self.sandbox.console_token}"}
        if body is not None:
            more["content"] = json.dumps(body)
        response = self.http.request(method, path, headers=headers, **more)
        assert REQUEST_ID.fullmatch(response.headers["X-Request-ID"])
        return response


@pytest.fixture
def http(sandbox: Sandbox) -> Any:
    """The console over HTTP."""
    calling = Http(sandbox)
    yield calling
    calling.http.close()


@pytest.mark.parametrize(("method", "path", "body", "status"), CALLS)
def test_every_call_answers(http: Http, method: str, path: str, body: object, status: int) -> None:
    """Its status with the token, 401 without one, with a wrong one and with an API key."""
    path = path.format(client=http.sandbox.client_id)
    answer = http(method, path, body)
    assert answer.status_code == status, answer.text
    assert (answer.content == b"") == (status == 204)
    for auth in ("Bearer", "Bearer x", f"Bearer {http.sandbox.api_key}", "Basic abc"):
        refused(http(method, path, body, auth=auth), 401, "invalid_api_key")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/clients", {}), ("POST", "/clients", {"name": ""}),
        ("POST", "/clients", {"name": "n", "scopes": ["calls:everything"]}),
        ("POST", "/clients", {"name": "n", "size": "huge"}),
        ("POST", "/clients", {"name": "n", "ip_allow": ["here"]}),
        ("POST", "/clients", {"name": "n", "sending": "yes"}),
        ("PUT", "/clients/{client}", {"enabled": 1}), ("PUT", "/clients/{client}", {"name": "x"}),
        ("PUT", "/account", {"balance": "1"}), ("PUT", "/account", {"unknown": 1}),
        ("PUT", "/account", {"rate_limits": "none"}), ("PUT", "/account", {"daily_cap": -1}),
        ("PUT", "/account", {"calling_hours": {"start": "8", "end": "21"}}),
        ("PUT", "/account", {"blocked_countries": ["Germany"]}), ("PUT", "/account", []),
        ("POST", "/clients/{client}/campaigns", {"name": "n", "status": "done"}),
        ("POST", "/clients/{client}/leads", {}), ("POST", "/clients/{client}/leads", [{"x": 1}]),
        ("POST", "/clients/{client}/leads", [{"created_at": "0001-01-01T00:00:00+14:00"}]),
        ("POST", "/clients/{client}/leads", [{"attempts": 2**70}]),
        ("POST", "/clients/{client}/calls", [{"created_at": 1_700_000_000}]),
        ("POST", "/clients/{client}/calls", [{"created_at": "2026-13-01T00:00:00Z"}]),
        ("POST", "/clients/{client}/calls", [{"duration_seconds": -1}]),
        ("POST", "/clients/{client}/agents", {"extension": "1"}),
        ("POST", "/clients/{client}/caller-ids", {"number": "212"}),
        ("POST", "/clients/{client}/field-rules", {"field": "email", "pattern": "("}),
        ("POST", "/clients/{client}/field-rules", {"field": "status"}),
        ("POST", "/clients/{client}/dnc", {"phones": ["212"]}),
        ("POST", "/clients/{client}/events", {"type": "call.started", "data": {}}),
        ("POST", "/clock", {"advance_seconds": -1}), ("POST", "/clock", {}),
        ("POST", "/clock", {"advance_seconds": 1e300}),
        ("POST", "/faults", {"operation": "nothing", "status": 500}), ("POST", "/faults", {}),
    ],
)  # fmt: skip
def test_bad_bodies_are_422(http: Http, method: str, path: str, body: object) -> None:
    """With the reason in words."""
    answer = http(method, path.format(client=http.sandbox.client_id), body)
    problem = refused(answer, 422, "validation_failed")
    assert problem["detail"]


@pytest.mark.parametrize("raw", [b"", b"{", b"\xff", b'{"name": "a", "name": "b"}', b"NaN"])
def test_what_is_no_json_is_422(http: Http, raw: bytes) -> None:
    """So is what has a name twice."""
    refused(http("POST", "/clients", content=raw), 422, "validation_failed")


def test_unknown_paths_clients_and_methods(http: Http) -> None:
    """404, and 405 with `Allow`."""
    for path in ("", "/nothing", "/clients/x/y/z", "/faults/1", "/clients/"):
        assert http("POST", path, {}).status_code == 404
    for method, path, body, _ in CALLS:
        if "{client}" in path:
            refused(http(method, path.format(client=NOBODY), body), 404, "not_found")
    refused(http("DELETE", "/keys/0123"), 404, "not_found")
    for kind in ("callbacks/cb", "appointments/appt"):
        path = f"/clients/{http.sandbox.client_id}/{kind}_{NOBODY[4:]}"
        refused(http("PUT", path, {"status": "completed"}), 404, "not_found")
    answer = http("PATCH", "/account", {})
    refused(answer, 405, "method_not_allowed")
    assert answer.headers["Allow"] == "GET, PUT"


def test_clients_keys_and_scopes(http: Http) -> None:
    """A client is made without scopes, is changed, and its keys are revoked one by one."""
    made = ok(http("POST", "/clients", {"name": "n"}), 201)
    assert set(made) == {"client_id", "api_key"}
    assert made["api_key"].startswith("svc_test_")
    path = f"/clients/{made['client_id']}"
    second = ok(http("POST", f"{path}/keys", {"sending": True}), 201)["api_key"]
    shown = ok(http("PUT", path, {"scopes": ["calls:read"], "ip_allow": ["127.0.0.1"]}))
    assert (shown["scopes"], shown["ip_allow"], shown["enabled"]) == (
        ["calls:read"], ["127.0.0.1"], True,
    )  # fmt: skip
    api = Api(http.sandbox.base_url, second)
    me = ok(api.get("/v1/me"))
    assert (me["sending_key"], me["scopes"]) == (True, ["calls:read"])
    assert http("DELETE", f"/keys/{me['credential_id']}").status_code == 204
    refused(api.get("/v1/me"), 401, "invalid_api_key")
    first = Api(http.sandbox.base_url, made["api_key"])
    ok(first.get("/v1/calls"))
    api.close()
    first.close()


def test_client_with_an_account_of_its_own(http: Http) -> None:
    """A size fills the new client's data set, which differs from the next one's."""
    scopes = ["calls:read"]
    found = []
    for _ in range(2):
        made = ok(http("POST", "/clients", {"name": "n", "scopes": scopes, "size": "tiny"}), 201)
        api = Api(http.sandbox.base_url, made["api_key"])
        found.append({row["id"] for row in api.walk("/v1/calls", limit=100)})
        api.close()
    assert [len(ids) for ids in found] == [1_000, 1_000]
    assert not found[0] & found[1]


def test_account_settings_are_merged(http: Http) -> None:
    """What is not given stays; the answer is the whole account."""
    before = ok(http("GET", "/account"))
    assert {
        "tier2_campaign_resume_enabled", "tier2_callback_write_enabled",
        "tier2_appointment_write_enabled", "tier2_consent_write_enabled",
        "tier2_sms_send_enabled", "tier2_calls_originate_enabled", "webhooks_enabled",
        "api_access_enabled", "sandbox_enabled", "sending_suspended", "outbound_approved",
        "balance", "daily_cap", "spend_cap", "per_minute_cap", "blocked_countries",
        "sanctioned_countries", "calling_hours", "consent_required", "registry_stale",
        "block_stale_registry", "dnc_screen_available", "rate_limits",
        "allow_loopback_webhooks", "ip_allow", "dialer",
    } == set(before)  # fmt: skip
    hours = {"start": "08:00", "end": "21:00"}
    changed = ok(http("PUT", "/account", {"balance": 12.5, "calling_hours": hours}))
    assert changed == {**before, "balance": 12.5, "calling_hours": hours}
    assert ok(http("GET", "/account")) == changed
    assert ok(http("PUT", "/account", before)) == before


def test_leads_and_calls_take_any_field(http: Http) -> None:
    """They come back through the API as they were given, ids included; an id twice is refused."""
    me = http.sandbox.client_id
    campaign = ok(http("POST", f"/clients/{me}/campaigns", {"name": "n", "status": "paused"}), 201)
    lead: Json = {
        "id": f"lead_{NOBODY[4:]}", "campaign_id": campaign["id"], "external_id": "e",
        "phone": phone(), "full_name": "A", "email": "a@example.com", "status": "callback",
        "attempts": 3, "custom_fields": {"x": [1]}, "last_attempt_at": "2026-01-02T00:00:00.000Z",
        "next_attempt_at": "2026-01-03T00:00:00.000Z", "disposition_code": "CB",
        "hangup_cause": "BUSY", "created_at": "2026-01-01T00:00:00.000Z",
        "updated_at": "2026-01-02T00:00:00.000Z",
    }  # fmt: skip
    call: Json = {
        "id": f"call_{NOBODY[4:]}", "direction": "inbound", "from_number": phone(),
        "to_number": phone(), "status": "no-answer", "created_at": "2026-01-01T00:00:00.123456Z",
        "answered_at": None, "ended_at": "2026-01-01T00:00:09.000Z", "duration_seconds": 8.25,
        "campaign_id": campaign["id"], "disposition": "NA", "hangup_cause": "NO_ANSWER",
    }  # fmt: skip
    api = Api(http.sandbox.base_url, http.sandbox.api_key)
    for path, row in (("leads", lead), ("calls", call)):
        ids = ok(http("POST", f"/clients/{me}/{path}", [row, {}]), 201)["ids"]
        assert (ids[0], len(ids)) == (row["id"], 2)
        assert ok(api.get(f"/v1/{path}/{row['id']}")) == row
        refused(http("POST", f"/clients/{me}/{path}", [row]), 422, "validation_failed")
        assert ok(http("POST", f"/clients/{me}/{path}", []), 201) == {"ids": []}
    api.close()


def test_many_leads_at_once(http: Http) -> None:
    """The console takes bodies that are longer than the service's."""
    rows = [{"phone": "+12025550111", "full_name": "x" * 100} for _ in range(12_000)]
    ids = ok(http("POST", f"/clients/{http.sandbox.client_id}/leads", rows), 201)["ids"]
    assert len(set(ids)) == 12_000


def test_number_leaves_the_list(http: Http) -> None:
    """What the API does not offer: a Do-Not-Call number is removed."""
    me, number = http.sandbox.client_id, phone()
    api = Api(http.sandbox.base_url, http.sandbox.api_key)
    ok(http("POST", f"/clients/{me}/dnc", {"phones": [number]}), 201)
    assert ok(api.post("/v1/dnc/check", {"phones": [number]}))["data"][0]["listed"] is True
    assert http("DELETE", f"/clients/{me}/dnc/{number}").status_code == 204
    assert ok(api.post("/v1/dnc/check", {"phones": [number]}))["data"][0]["listed"] is False
    refused(http("DELETE", f"/clients/{me}/dnc/{number}"), 404, "not_found")
    api.close()


def test_clock_only_goes_forward(http: Http) -> None:
    """By what it is told, on top of real time."""
    before = ok(http("POST", "/clock", {"advance_seconds": 0}))["now"]
    after = ok(http("POST", "/clock", {"advance_seconds": 3_600.5}))["now"]
    gap = dt.datetime.fromisoformat(after) - dt.datetime.fromisoformat(before)
    assert 3_600 <= gap.total_seconds() < 3_610


def test_object_says_what_http_says(sandbox: Sandbox) -> None:
    """The same answers, and one error of ours for every refusal."""
    console = sandbox.console
    made = console.create_client("n", scopes=["calls:read"])
    assert console.update_client(made["client_id"], enabled=False)["enabled"] is False
    assert console.account()["balance"] == 100
    with pytest.raises(ConfigError, match="No client has this id"):
        console.create_key(NOBODY)
    with pytest.raises(ConfigError, match="balance"):
        console.update_account({"balance": "much"})
    with pytest.raises(ConfigError):
        console.revoke_key("0123")
    with pytest.raises(ConfigError):
        console.set_callback(sandbox.client_id, f"cb_{NOBODY[4:]}", "completed")
    with pytest.raises(ConfigError):
        console.remove_dnc(sandbox.client_id, phone())


def test_a_write_is_reconciled_once(sandbox: Sandbox, api: Api) -> None:
    """The outcome comes back; a write whose outcome is confirmed is not there to be reconciled again."""
    campaign = sandbox.console.create_campaign(sandbox.client_id, "u", status="paused")["id"]
    sandbox.console.arm_fault("leads.create", code="outcome_unknown")
    refused(
        api.post("/v1/leads", {"campaign_id": campaign, "phone": phone()}, key="once"),
        409,
        "outcome_unknown",
    )
    assert sandbox.console.reconcile("once", "done")["outcome"] == "done"
    with pytest.raises(ConfigError, match="unconfirmed"):
        sandbox.console.reconcile("once", "done")
