"""The console: every call of its table, its refusals, and the same calls as an object in this process."""

from __future__ import annotations

import datetime as dt
from typing import Any

import httpx
import pytest

from dialframe.errors import ConfigError
from dialframe.sandbox import Sandbox
from sandbox.service_bench import (
    BASELINE,
    NOBODY,
    PHONE,
    Console,
    Json,
    Party,
    answered,
    problem,
    shaped,
)

STRANGER = f"cli_{NOBODY}"

#: Method, path and a good body of every call, as the console's table has them, and the status.
CALLS: tuple[tuple[str, str, object, int], ...] = (
    ("POST", "/clients", {"name": "n"}, 201),
    ("POST", "/clients/{client}/keys", {}, 201),
    ("PUT", "/clients/{client}", {}, 200),
    ("DELETE", "/keys/{key}", None, 204),
    ("PUT", "/account", {}, 200),
    ("GET", "/account", None, 200),
    ("POST", "/clients/{client}/campaigns", {"name": "n"}, 201),
    ("POST", "/clients/{client}/leads", [{}], 201),
    ("POST", "/clients/{client}/calls", [{}], 201),
    ("POST", "/clients/{client}/agents", {"extension": "1", "email": "a@example.com"}, 201),
    ("POST", "/clients/{client}/caller-ids", {"number": PHONE}, 201),
    ("POST", "/clients/{client}/lead-sources", {"code": "web"}, 201),
    ("POST", "/clients/{client}/field-rules", {"field": "email", "required": False,
                                               "pattern": None}, 201),
    ("POST", "/clients/{client}/dnc", {"phones": [PHONE]}, 201),
    ("DELETE", "/clients/{client}/dnc/" + PHONE, None, 204),
    ("PUT", "/clients/{client}/callbacks/{callback}", {"status": "completed"}, 200),
    ("PUT", "/clients/{client}/appointments/{appointment}", {"status": "completed"}, 200),
    ("POST", "/clients/{client}/events", {"type": "call.completed", "data": {}}, 201),
    ("GET", "/clients/{client}/outbox", None, 200),
    ("GET", "/clients/{client}/refusals", None, 200),
    ("POST", "/clock", {"advance_seconds": 0}, 200),
    ("POST", "/faults", {"operation": "me", "status": 500}, 201),
    ("DELETE", "/faults", None, 204),
)  # fmt: skip


@pytest.fixture(scope="module")
def names(console: Console, party: Party) -> dict[str, str]:
    """What stands for the names in paths: things that are there."""
    lead, when = party.lead(), {"scheduled_at": "2031-03-01T15:00:00Z"}
    callback = answered(party.post("/v1/callbacks", {"lead_id": lead, **when}), 201)
    appointment = answered(party.post("/v1/appointments", {"phone": PHONE, **when}), 201)
    return {
        "client": party.client_id, "key": console.further_key(party).credential_id,
        "callback": callback["id"], "appointment": appointment["id"],
    }  # fmt: skip


def raw(party: Party, method: str, path: str, **more: Any) -> httpx.Response:
    """A console call without its token."""
    return party.http.request(method, party.service.ready["console_url"] + path, **more)


@pytest.mark.parametrize(("method", "path", "body", "status"), CALLS)
def test_every_call_answers_its_token_alone(
    console: Console,
    party: Party,
    names: dict[str, str],
    method: str,
    path: str,
    body: object,
    status: int,
) -> None:
    """401 without it, with a wrong one and with an API key, before anything is looked at; else its status."""
    path, token = path.format(**names), party.service.ready["console_token"]
    wrong = ("", "Bearer", "Bearer wrong", f"Bearer {party.key}", f"Basic {token}", token)
    for headers in ({}, *({"Authorization": auth} for auth in wrong)):
        refusal = raw(party, method, path, headers=headers, json=body)
        problem(refusal, 401, "invalid_api_key")
    answer = console.call(method, path, body)
    assert answer.status_code == status, answer.text
    assert (answer.content == b"") == (status == 204)


def test_the_token_is_no_api_key(party: Party) -> None:
    """It opens nothing of /v1."""
    token = f"Bearer {party.service.ready['console_token']}"
    problem(party.get("/v1/me", auth=token), 401, "invalid_api_key")


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
def test_bad_bodies_are_422(
    console: Console, party: Party, method: str, path: str, body: object
) -> None:
    """With the reason in words."""
    problem(
        console.call(method, path.format(client=party.client_id), body), 422, "validation_failed"
    )


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b'{"name": "a", "name": "b"}', b"NaN"])
def test_what_is_no_json_is_422(console: Console, content: bytes) -> None:
    """So is what has a name twice."""
    problem(console.call("POST", "/clients", content=content), 422, "validation_failed")


@pytest.mark.parametrize(
    "path", ["", "/nothing", "/clients/", "/clients/x/y/z", "/account/more", "/faults/1"]
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_unknown_path_is_404(console: Console, method: str, path: str) -> None:
    """A path that the console does not know answers 404."""
    assert console.call(method, path, {} if method == "POST" else None).status_code == 404


@pytest.mark.parametrize(
    ("method", "path", "body"), [call[:3] for call in CALLS if "{" in call[1]]
)
def test_what_is_nobodys_is_not_found(
    console: Console, party: Party, method: str, path: str, body: object
) -> None:
    """A client, key, callback or appointment that is not there answers 404."""
    ids = {"key": "0123", "callback": f"cb_{NOBODY}", "appointment": f"appt_{NOBODY}"}
    problem(console.call(method, path.format(client=STRANGER, **ids), body), 404, "not_found")
    if "{callback}" in path or "{appointment}" in path:
        path = path.format(client=party.client_id, **ids)
        problem(console.call(method, path, body), 404, "not_found")


def test_another_method_is_405(console: Console) -> None:
    """With `Allow`."""
    answer = console.call("PATCH", "/account", {})
    problem(answer, 405, "method_not_allowed")
    assert answer.headers["Allow"] == "GET, PUT"


def test_clients_keys_and_scopes(console: Console) -> None:
    """A client is made without scopes, is changed, and its keys are revoked one by one."""
    made = console.do("POST", "/clients", {"name": "n"}, status=201)
    assert set(made) == {"client_id", "api_key"}
    assert made["client_id"].startswith("cli_")
    first = Party(console.service, made["api_key"], made["client_id"])
    second = console.further_key(first)
    changes = {"scopes": ["calls:read"], "ip_allow": ["127.0.0.1"], "enabled": True}
    shown = console.change_client(first, **changes)
    assert {name: shown[name] for name in changes} == changes
    assert first.key not in str(shown)
    assert first.key != second.key
    assert all(party.key.startswith("svc_test_") for party in (first, second))
    me = answered(second.get("/v1/me"), 200)
    assert (me["sending_key"], me["scopes"]) == (True, ["calls:read"])
    console.do("DELETE", f"/keys/{me['credential_id']}", status=204)
    problem(second.get("/v1/me"), 401, "invalid_api_key")
    answered(first.get("/v1/calls"), 200)


def test_client_with_an_account_of_its_own(console: Console) -> None:
    """A size fills the new client's data set, which differs from the next one's."""
    clients = [console.client(scopes=["calls:read"], size="tiny") for _ in range(2)]
    calls = [{call["id"] for call in client.walk("/v1/calls", limit="100")} for client in clients]
    assert [len(ids) for ids in calls] == [1_000, 1_000]
    assert not calls[0] & calls[1]


def test_account_settings_are_merged(console: Console) -> None:
    """What is not given stays; the answer is the whole account, each switch and setting of it."""
    before = console.account()
    assert set(before) == {*BASELINE, "dialer"}
    assert {name: before[name] for name in BASELINE} == BASELINE
    changes = {"balance": 12.5, "calling_hours": {"start": "08:00", "end": "21:00"}}
    assert console.change(**changes) == {**before, **changes} == console.account()
    assert console.change(**before) == before


def test_campaign_is_answered_whole(party: Party) -> None:
    """201 with a Campaign; draft and predictive unless told otherwise."""
    plain = shaped("campaign", party.console("POST", "/campaigns", {"name": "spring"}))
    assert (plain["name"], plain["status"], plain["dialer_mode"]) == (
        "spring",
        "draft",
        "predictive",
    )
    other_mode = {"name": "summer", "status": "running", "dialer_mode": "preview"}
    made = party.console("POST", "/campaigns", other_mode)
    assert (made["status"], made["dialer_mode"]) == ("running", "preview")


def test_leads_and_calls_take_any_field(party: Party) -> None:
    """They come back through the API as they were given, ids included; an id twice is refused."""
    campaign = party.campaign("paused")
    lead: Json = {
        "id": f"lead_{NOBODY}", "campaign_id": campaign, "external_id": "e",
        "phone": party.phone(), "full_name": "A", "email": "a@example.com", "status": "callback",
        "attempts": 3, "custom_fields": {"x": [1]}, "last_attempt_at": "2026-01-02T00:00:00.000Z",
        "next_attempt_at": "2026-01-03T00:00:00.000Z", "disposition_code": "CB",
        "hangup_cause": "BUSY", "created_at": "2026-01-01T00:00:00.000Z",
        "updated_at": "2026-01-02T00:00:00.000Z",
    }  # fmt: skip
    call: Json = {
        "id": f"call_{NOBODY}", "direction": "inbound", "from_number": party.phone(),
        "to_number": party.phone(), "status": "no-answer",
        "created_at": "2026-01-01T00:00:00.123456Z", "answered_at": None,
        "ended_at": "2026-01-01T00:00:09.000Z", "duration_seconds": 8.25,
        "campaign_id": campaign, "disposition": "NA", "hangup_cause": "NO_ANSWER",
    }  # fmt: skip
    for kind, row in (("leads", lead), ("calls", call)):
        ids = party.console("POST", f"/{kind}", [row, {}])["ids"]
        assert (ids[0], len(ids)) == (row["id"], 2)
        assert answered(party.get(f"/v1/{kind}/{row['id']}"), 200) == row
        again = party.service.console.call("POST", f"/clients/{party.client_id}/{kind}", [row])
        problem(again, 422, "validation_failed")
        assert party.console("POST", f"/{kind}", []) == {"ids": []}


def test_many_leads_at_once(party: Party) -> None:
    """The console takes bodies that are longer than the service's."""
    rows = [{"phone": "+12025550111", "full_name": "x" * 100} for _ in range(12_000)]
    assert len(set(party.console("POST", "/leads", rows)["ids"])) == 12_000


def test_clock_only_goes_forward(console: Console) -> None:
    """By what it is told, on top of real time."""
    before = console.now()
    gap = console.advance(3_600.5) - before
    assert dt.timedelta(seconds=3_600) <= gap < dt.timedelta(seconds=3_610)


def test_object_says_what_http_says(sandbox: Sandbox) -> None:
    """The same answers, and one error of ours for every refusal."""
    console = sandbox.console
    made = console.create_client("n", scopes=["calls:read"])
    assert console.update_client(made["client_id"], enabled=False)["enabled"] is False
    assert console.account()["balance"] == 100
    with pytest.raises(ConfigError, match="No client has this id"):
        console.create_key(STRANGER)
    with pytest.raises(ConfigError, match="balance"):
        console.update_account({"balance": "much"})
    with pytest.raises(ConfigError):
        console.revoke_key("0123")
    with pytest.raises(ConfigError):
        console.set_callback(sandbox.client_id, f"cb_{NOBODY}", "completed")
    with pytest.raises(ConfigError):
        console.remove_dnc(sandbox.client_id, PHONE)
    with pytest.raises(ConfigError, match="unconfirmed"):
        console.reconcile("never", "done")
