"""The console: every call of its table, its refusals, and the same calls as an object in this process."""

from __future__ import annotations

import datetime as dt
import json
import re
from pathlib import Path
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

#: Method, path, body or none, and status.
CALLS: list[tuple[str, str, Any, int]] = [
    (method, path.strip("'"), json.loads(body or "null"), int(status))
    for method, path, body, status in re.findall(
        r"^([A-Z]+) (\S+) (?:(.+) )?-> (\d+)$",
        (Path(__file__).parent / "console_calls.txt").read_text(),
        re.MULTILINE,
    )
]
CODES = {404: "not_found", 405: "method_not_allowed", 422: "validation_failed"}


@pytest.fixture(scope="module")
def names(console: Console, party: Party) -> dict[str, str]:
    """What stands for the names in paths: things that are there."""
    lead, when = party.lead(), {"scheduled_at": "2031-03-01T15:00:00Z"}
    callback = answered(party.post("/v1/callbacks", {"lead_id": lead, **when}), 201)
    appointment = answered(party.post("/v1/appointments", {"phone": PHONE, **when}), 201)
    return {
        "client": party.client_id, "key": console.further_key(party).credential_id,
        "callback": callback["id"], "appointment": appointment["id"], "nobody": NOBODY,
    }  # fmt: skip


def raw(party: Party, method: str, path: str, **more: Any) -> httpx.Response:
    """A console call without its token."""
    return party.http.request(method, party.service.ready["console_url"] + path, **more)


@pytest.mark.parametrize(("method", "path", "body", "status"), CALLS)
def test_call_has_its_answer(
    console: Console,
    party: Party,
    names: dict[str, str],
    method: str,
    path: str,
    body: Any,
    status: int,
) -> None:
    """Nothing is looked at without the token, with a wrong one or with an API key: that is 401; else its status."""
    path, token = path.format(**names), party.service.ready["console_token"]
    wrong = ("", "Bearer", "Bearer wrong", f"Bearer {party.key}", f"Basic {token}", token)
    for headers in ({}, *({"Authorization": auth} for auth in wrong)) if status < 300 else ():
        problem(raw(party, method, path, headers=headers, json=body), 401, "invalid_api_key")
    answer = console.call(method, path, body)
    assert answer.status_code == status, answer.text
    assert (answer.content == b"") == (status == 204)
    if status >= 400:
        problem(answer, status, CODES[status])
    assert answer.headers.get("Allow") == ("GET, PUT" if status == 405 else None)


def test_the_token_is_no_api_key(party: Party) -> None:
    """It opens nothing of /v1."""
    token = f"Bearer {party.service.ready['console_token']}"
    problem(party.get("/v1/me", auth=token), 401, "invalid_api_key")


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b'{"name": "a", "name": "b"}', b"NaN"])
def test_what_is_no_json_is_422(console: Console, content: bytes) -> None:
    """So is what has a name twice."""
    problem(console.call("POST", "/clients", content=content), 422, "validation_failed")


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
    with pytest.raises(ConfigError, match="status"):
        console.arm_fault("me", status=99)
    with pytest.raises(ConfigError):
        console.revoke_key("0123")
    with pytest.raises(ConfigError):
        console.set_callback(sandbox.client_id, f"cb_{NOBODY}", "completed")
    with pytest.raises(ConfigError):
        console.remove_dnc(sandbox.client_id, PHONE)
    with pytest.raises(ConfigError, match="unconfirmed"):
        console.reconcile("never", "done")
