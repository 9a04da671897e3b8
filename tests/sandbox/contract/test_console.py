"""The console: each row of its table, and its own refusals."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from sandbox.contract.service_bench import (
    BASELINE,
    PHONE,
    Console,
    Party,
    answered,
    moment,
    problem,
    shaped,
)

CLIENT = f"cli_{uuid.UUID(int=1)}"
ROWS = [
    ("POST", "/clients"),
    ("POST", f"/clients/{CLIENT}/keys"),
    ("PUT", f"/clients/{CLIENT}"),
    ("DELETE", "/keys/abcdef"),
    ("PUT", "/account"),
    ("GET", "/account"),
    ("POST", f"/clients/{CLIENT}/campaigns"),
    ("POST", f"/clients/{CLIENT}/leads"),
    ("POST", f"/clients/{CLIENT}/calls"),
    ("POST", f"/clients/{CLIENT}/agents"),
    ("POST", f"/clients/{CLIENT}/caller-ids"),
    ("POST", f"/clients/{CLIENT}/lead-sources"),
    ("POST", f"/clients/{CLIENT}/field-rules"),
    ("POST", f"/clients/{CLIENT}/dnc"),
    ("DELETE", f"/clients/{CLIENT}/dnc/{PHONE}"),
    ("PUT", f"/clients/{CLIENT}/callbacks/cb_{uuid.UUID(int=1)}"),
    ("PUT", f"/clients/{CLIENT}/appointments/appt_{uuid.UUID(int=1)}"),
    ("POST", f"/clients/{CLIENT}/events"),
    ("GET", f"/clients/{CLIENT}/outbox"),
    ("POST", "/clock"),
    ("POST", "/faults"),
    ("DELETE", "/faults"),
]


@pytest.mark.parametrize(("method", "path"), ROWS)
@pytest.mark.parametrize("auth", [None, "", "Bearer", "Bearer wrong", "Basic {token}", "{token}"])
def test_console_needs_its_token(
    console: Console, party: Party, method: str, path: str, auth: str | None
) -> None:
    """Without the token every call answers 401, before anything is looked at or done."""
    token = party.service.ready["console_token"]
    headers = {} if auth is None else {"Authorization": auth.format(token=token)}
    url = party.service.ready["console_url"] + path

    assert party.http.request(method, url, headers=headers, json={}).status_code == 401


def test_api_key_is_no_console_token(party: Party) -> None:
    """A client's key opens nothing of the console, and the token nothing of /v1."""
    ready = party.service.ready
    auth = {"Authorization": f"Bearer {party.key}"}
    assert party.http.get(ready["console_url"] + "/account", headers=auth).status_code == 401
    token = f"Bearer {ready['console_token']}"
    problem(party.get("/v1/me", auth=token), 401, "invalid_api_key")


@pytest.mark.parametrize("path", ["/nothing", "", "/clients/x/y/z", "/account/more", "/faults/1"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_unknown_console_path_is_404(console: Console, method: str, path: str) -> None:
    """A path that the console does not know answers 404."""
    assert console.call(method, path, {} if method == "POST" else None).status_code == 404


def test_account_shows_every_switch_and_setting(console: Console) -> None:
    """GET and PUT answer the whole account."""
    account = console.account()
    assert set(BASELINE) <= set(account)
    assert {name: account[name] for name in BASELINE} == BASELINE
    assert console.do("PUT", "/account", {"balance": 12.5}, status=200)["balance"] == 12.5
    assert console.change(balance=1000) == {**console.account(), "balance": 1000}


def test_keys_have_the_test_prefix_and_clients_typed_ids(console: Console) -> None:
    """`svc_test_...` keys, `cli_` ids, all different."""
    made = [console.client() for _ in range(2)]
    further = console.further_key(made[0])
    assert len({party.key for party in (*made, further)}) == 3
    assert all(party.key.startswith("svc_test_") for party in (*made, further))
    assert all(party.client_id.startswith("cli_") for party in made)


def test_campaign_is_answered_whole(party: Party) -> None:
    """201 with a Campaign; draft and predictive unless told otherwise."""
    plain = party.console("POST", "/campaigns", {"name": "spring"})
    shaped("campaign", plain)
    assert (plain["name"], plain["status"], plain["dialer_mode"]) == (
        "spring",
        "draft",
        "predictive",
    )
    other_mode = {"name": "summer", "status": "running", "dialer_mode": "preview"}
    made = party.console("POST", "/campaigns", other_mode)
    assert (made["status"], made["dialer_mode"]) == ("running", "preview")


def test_small_things_answer_201(party: Party) -> None:
    """Agents, caller ids, lead sources, field rules, Do-Not-Call numbers."""
    rows: list[tuple[str, Any]] = [
        ("/agents", {"extension": "5001", "email": "five@example.com"}),
        ("/caller-ids", {"number": "+12125550188"}),
        ("/lead-sources", {"code": "fair"}),
        ("/field-rules", {"field": "email", "required": False, "pattern": None}),
        ("/dnc", {"phones": [PHONE]}),
    ]
    for path, body in rows:
        party.console("POST", path, body, status=201)
    party.console("DELETE", f"/dnc/{PHONE}", status=204)


def test_outbox_tells_what_would_have_gone_out(party: Party) -> None:
    """Each entry has its kind, its number and its time."""
    party.caller_id()
    number = party.phone()
    sms = {"to": number, "body": "Hello", "client_reference": "outbox-1"}
    answered(party.post("/v1/sms", sms), 202)
    call = {"to": number, "agent_extension": party.agent()}
    answered(party.post("/v1/calls", call), 201)
    entries = party.outbox()
    assert {entry["kind"] for entry in entries if entry["to"] == number} == {"sms", "call"}
    assert all(moment(entry["at"]) for entry in entries)


def test_client_answer_of_a_change(console: Console, party: Party) -> None:
    """PUT answers the client as it then is."""
    client = console.client()
    changed = console.change_client(
        client, scopes=["calls:read"], ip_allow=["127.0.0.1"], enabled=True
    )
    assert changed["scopes"] == ["calls:read"]
    assert changed["ip_allow"] == ["127.0.0.1"]
    assert changed["enabled"] is True
    assert client.key not in str(changed)
