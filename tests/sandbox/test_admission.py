"""Who is let through, and which refusal counts when several apply."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from dialframe.sandbox import Sandbox, start
from sandbox.calling import Api, ok, phone, refused

CMP = "cmp_00000000-0000-4000-8000-000000000000"


def test_me_needs_no_scope(sandbox: Sandbox) -> None:
    """A new client holds no scopes; its keys can call only GET /v1/me."""
    made = sandbox.console.create_client("nobody")
    api = Api(sandbox.base_url, made["api_key"])
    me = ok(api.get("/v1/me"))
    assert (me["client_id"], me["scopes"]) == (made["client_id"], [])
    for path in ("/v1/leads", "/v1/campaigns", "/v1/calls", "/v1/webhooks", "/v1/appointments"):
        refused(api.get(path), 403, "insufficient_scope")
    refused(api.post("/v1/dnc/check", {"phones": [phone()]}), 403, "insufficient_scope")
    api.close()


@pytest.mark.parametrize(
    "value",
    ["", "Bearer", "Basic abc", "Bearer nonsense", "Bearer svc_test_", "Bearer svc_test_a_b",
     "Bearer svc_live_0123456789abcdef_0123", "svc_test_a_b"],
)  # fmt: skip
def test_every_key_problem_has_one_answer(api: Api, value: str) -> None:
    """Missing, malformed and unknown keys answer 401 `invalid_api_key`."""
    refused(api.send("GET", "/v1/me", headers={"Authorization": value}), 401, "invalid_api_key")


def test_live_prefix_of_a_known_key_is_refused(api: Api) -> None:
    """The sandbox answers test keys alone."""
    live = api.api_key.replace("svc_test_", "svc_live_")
    headers = {"Authorization": f"Bearer {live}"}
    refused(api.send("GET", "/v1/me", headers=headers), 401, "invalid_api_key")


def test_revoked_key_and_disabled_client(sandbox: Sandbox) -> None:
    """A revoked key answers 401, a client that is switched off 403; both hold at once."""
    made = sandbox.console.create_client("leaving")
    api = Api(sandbox.base_url, made["api_key"])
    second = Api(sandbox.base_url, sandbox.console.create_key(made["client_id"]))
    sandbox.console.revoke_key(ok(api.get("/v1/me"))["credential_id"])
    refused(api.get("/v1/me"), 401, "invalid_api_key")
    ok(second.get("/v1/me"))
    sandbox.console.update_client(made["client_id"], enabled=False)
    refused(second.get("/v1/me"), 403, "api_access_disabled")
    api.close()
    second.close()


def test_both_address_lists_apply(settings: Sandbox, api: Api) -> None:
    """The account's list and the client's own: both have to hold the address."""
    console = settings.console
    made = console.create_client("near", ip_allow=["127.0.0.0/8"])
    near = Api(settings.base_url, made["api_key"])
    ok(near.get("/v1/me"))
    console.update_account({"ip_allow": ["10.0.0.0/8"]})
    refused(near.get("/v1/me"), 403, "ip_not_allowed")
    refused(api.get("/v1/me"), 403, "ip_not_allowed")
    console.update_account({"ip_allow": ["10.0.0.0/8", "127.0.0.1"]})
    ok(near.get("/v1/me"))
    console.update_client(made["client_id"], ip_allow=["192.0.2.1"])
    refused(near.get("/v1/me"), 403, "ip_not_allowed")
    near.close()


def test_forwarded_headers_claim_no_address(settings: Sandbox, api: Api) -> None:
    """The source address is the connection's, whatever a header says."""
    settings.console.update_account({"ip_allow": ["203.0.113.9"]})
    claim = {"X-Forwarded-For": "203.0.113.9", "Forwarded": "for=203.0.113.9"}
    refused(api.send("GET", "/v1/me", headers=claim), 403, "ip_not_allowed")


@pytest.mark.parametrize(
    ("switch", "method", "path"),
    [
        ("tier2_campaign_resume_enabled", "POST", f"/v1/campaigns/{CMP}/resume"),
        ("tier2_callback_write_enabled", "POST", "/v1/callbacks"),
        ("tier2_appointment_write_enabled", "POST", "/v1/appointments"),
        ("tier2_consent_write_enabled", "POST", "/v1/consents"),
        ("tier2_sms_send_enabled", "POST", "/v1/sms"),
        ("tier2_calls_originate_enabled", "POST", "/v1/calls"),
    ],
)
def test_tier_2_needs_its_switch(
    settings: Sandbox, api: Api, switch: str, method: str, path: str
) -> None:
    """Switch off: 403 `tier_not_enabled`, before the body is looked at."""
    settings.console.update_account({switch: False})
    refused(api.send(method, path, raw=b"{", key="k"), 403, "tier_not_enabled")


def test_switches_of_the_account(settings: Sandbox, api: Api) -> None:
    """Access off: 403; sandbox off: 401; webhooks off: 403 on every webhook operation."""
    console = settings.console
    console.update_account({"webhooks_enabled": False})
    refused(api.get("/v1/webhooks"), 403, "webhooks_disabled")
    refused(api.get("/v1/webhook-events"), 403, "webhooks_disabled")
    refused(api.post("/v1/webhooks", {}), 403, "webhooks_disabled")
    console.update_account({"api_access_enabled": False})
    refused(api.get("/v1/me"), 403, "api_access_disabled")
    console.update_account({"api_access_enabled": True, "sandbox_enabled": False})
    refused(api.get("/v1/me"), 401, "invalid_api_key")


def test_sending_needs_a_sending_key(sandbox: Sandbox) -> None:
    """The scope alone does not send."""
    scopes = ["messages:send", "calls:originate"]
    made = sandbox.console.create_client("quiet", scopes=scopes)
    quiet = Api(sandbox.base_url, made["api_key"])
    for path in ("/v1/sms", "/v1/calls"):
        refused(quiet.post(path, {}), 403, "tier_not_enabled")
    loud = Api(sandbox.base_url, sandbox.console.create_key(made["client_id"], sending=True))
    refused(loud.post("/v1/sms", {}), 400, "validation_failed")
    quiet.close()
    loud.close()


def test_whatsapp_is_refused_for_everybody(api: Api) -> None:
    """403 `tier_not_enabled`, whatever is sent."""
    refused(api.post("/v1/whatsapp/messages", {}), 403, "tier_not_enabled")
    answer = api.send("POST", "/v1/whatsapp/messages", headers={"Idempotency-Key": ""})
    refused(answer, 403, "tier_not_enabled")


@pytest.mark.parametrize(
    "url",
    ["/v1/leads?api_key=x", "/v1/leads?Token=x", "/v1/leads?external_id=svc_test_abc_def",
     "/v1/leads?external_id=svc%5Flive%5Fabc", "/v1/leads/svc_live_abc_def", "/v1/me?key=1"],
)  # fmt: skip
def test_key_in_the_url(api: Api, url: str) -> None:
    """400 `credential_in_url`, with a key or without one."""
    refused(api.send("GET", url), 400, "credential_in_url")
    refused(api.send("GET", url, headers={"Authorization": ""}), 400, "credential_in_url")


def test_key_in_the_body(api: Api) -> None:
    """400 `credential_in_body`, before anything else of the body counts."""
    body = {"leads": [{"phone": "x", "custom_fields": {"note": api.api_key}}], "unknown": 1}
    refused(api.post("/v1/leads/import", body), 400, "credential_in_body")


def test_unknown_paths_and_methods(api: Api) -> None:
    """404 `route_not_available`; 405 `method_not_allowed` with `Allow`."""
    for path in ("/", "/v1", "/v1/", "/v2/me", "/v1/me/", "/v1//me", "/v1/leads/a/b/c", "/docs"):
        refused(api.get(path), 404, "route_not_available")
    for method in ("PUT", "PATCH", "DELETE", "OPTIONS"):
        answer = api.send(method, "/v1/leads")
        refused(answer, 405, "method_not_allowed")
        assert answer.headers["Allow"] == "GET, POST"
    answer = api.get("/v1/leads/import")
    refused(answer, 405, "method_not_allowed")
    assert answer.headers["Allow"] == "POST"
    answer = api.send("HEAD", "/v1/me")
    assert (answer.status_code, answer.headers["Allow"], answer.content) == (405, "GET", b"")


#: One request that is wrong in as many ways as possible, mended step by step in the order of the
#: refusals: what is mended, and what it answers before.
LADDER = (
    ("body", 413, "payload_too_large"),
    ("path", 404, "route_not_available"),
    ("method", 405, "method_not_allowed"),
    ("url", 400, "credential_in_url"),
    ("key", 401, "invalid_api_key"),
    ("access", 403, "api_access_disabled"),
    ("address", 403, "ip_not_allowed"),
    ("rate", 429, "rate_limit_exceeded"),
    ("scope", 403, "insufficient_scope"),
    ("switch", 403, "tier_not_enabled"),
    ("sending", 403, "tier_not_enabled"),
    ("type", 415, "unsupported_media_type"),
    ("json", 400, "validation_failed"),
    ("secret", 400, "credential_in_body"),
    ("idempotency", 400, "idempotency_key_required"),
    ("fields", 400, "validation_failed"),
    ("lead", 404, "not_found"),
    ("agent", 409, "agent_unavailable"),
)


def test_first_refusal_counts(settings: Sandbox) -> None:
    """Of several refusals the first of the documented order is answered."""
    console = settings.console
    made = console.create_client("wrong", ip_allow=["192.0.2.1"])
    client_id = made["client_id"]
    console.update_account(
        {
            "api_access_enabled": False,
            "tier2_calls_originate_enabled": False,
            "rate_limits": "contract",
        }
    )
    good = {"to": phone(), "agent_extension": "1"}
    lead = console.add_leads(client_id, [{"phone": phone()}])[0]
    sent: dict[str, Any] = {
        "method": "PUT", "path": "/v1/nothing", "query": "?token=x", "auth": "Bearer x",
        "type": "text/plain", "idempotency": "", "body": b"x" * 1_048_577,
    }  # fmt: skip
    keys = {"plain": made["api_key"], "sending": console.create_key(client_id, sending=True)}

    unknown = "lead_00000000-0000-4000-8000-000000000000"
    mend: dict[str, Callable[[], object]] = {
        "body": lambda: sent.update(body=b"{"),
        "path": lambda: sent.update(path="/v1/calls"),
        "method": lambda: sent.update(method="POST"),
        "url": lambda: sent.update(query=""),
        "key": lambda: sent.update(auth=f"Bearer {keys['plain']}"),
        "access": lambda: console.update_account({"api_access_enabled": True}),
        "address": lambda: console.update_client(client_id, ip_allow=[]),
        "rate": lambda: console.update_account({"rate_limits": None}),
        "scope": lambda: console.update_client(client_id, scopes=["calls:originate"]),
        "switch": lambda: console.update_account({"tier2_calls_originate_enabled": True}),
        "sending": lambda: sent.update(auth=f"Bearer {keys['sending']}"),
        "type": lambda: sent.update(type="application/json"),
        "json": lambda: sent.update(body=b'{"to": "svc_test_a_b", "x": 1}'),
        "secret": lambda: sent.update(body=b'{"to": 1}'),
        "idempotency": lambda: sent.update(idempotency="a"),
        "fields": lambda: sent.update(body=_json({**good, "lead_id": unknown}), idempotency="b"),
        "lead": lambda: sent.update(body=_json({**good, "lead_id": lead}), idempotency="c"),
        "agent": lambda: None,
    }
    with httpx.Client(base_url=settings.base_url, trust_env=False) as client:
        for what, status, code in LADDER:
            answer = _request(client, sent)
            while what == "rate" and answer.status_code != 429:
                answer = _request(client, sent)
            assert (what, answer.status_code, answer.json()["code"]) == (what, status, code)
            mend[what]()


def _json(body: object) -> bytes:
    return json.dumps(body).encode()


def _request(client: httpx.Client, sent: dict[str, Any]) -> httpx.Response:
    headers = {
        "Authorization": str(sent["auth"]),
        "Content-Type": str(sent["type"]),
        "Idempotency-Key": str(sent["idempotency"]),
    }
    headers = {name: value for name, value in headers.items() if value}
    return client.request(
        str(sent["method"]),
        f"{sent['path']}{sent['query']}",
        content=sent["body"],
        headers=headers,
    )


def _until_refused(api: Api) -> tuple[int, float]:
    """How many requests pass before the first 429, and how long that took."""
    began, passed = time.monotonic(), 0
    while (answer := api.get("/v1/me")).status_code == 200:
        passed += 1
    refused(answer, 429, "rate_limit_exceeded")
    return passed, time.monotonic() - began


def test_rate_limits_of_key_client_and_address() -> None:
    """20 at once for a key, 40 for its client and for the address; then 10 and 20 a second."""
    with start(size="empty") as sandbox:
        keys = [sandbox.api_key]
        keys += [sandbox.console.create_key(sandbox.client_id) for _ in range(3)]
        apis = [Api(sandbox.base_url, key) for key in keys]
        first, first_s = _until_refused(apis[0])
        assert 20 <= first <= 20 + 10 * first_s + 1
        began = time.monotonic()
        rest = sum(_until_refused(api)[0] for api in apis[1:])
        assert first + rest <= 40 + 20 * (time.monotonic() - began + first_s) + 1
        sandbox.console.advance_clock(10)
        assert _until_refused(apis[0])[0] >= 20
        sandbox.console.update_account({"rate_limits": None})
        assert {apis[0].get("/v1/me").status_code for _ in range(60)} == {200}
        for api in apis:
            api.close()


def test_refused_keys_count_against_their_address() -> None:
    """They are answered 401 all the same, and leave less for whoever shares the address."""
    with start(size="empty") as sandbox:
        wrong = Api(sandbox.base_url, "svc_test_0_0")
        right = Api(sandbox.base_url, sandbox.api_key)
        assert {wrong.get("/v1/me").status_code for _ in range(200)} == {401}
        passed, took_s = _until_refused(right)
        assert passed <= 20 * took_s + 5
        wrong.close()
        right.close()


def test_body_over_one_mebibyte(api: Api) -> None:
    """413 with a length that says so and without one; one byte less is read."""
    refused(api.send("POST", "/v1/dnc/check", raw=b" " * 1_048_577), 413, "payload_too_large")
    refused(api.send("POST", "/v1/nothing", raw=b" " * 1_048_577), 413, "payload_too_large")
    refused(api.send("POST", "/v1/dnc/check", raw=b" " * 1_048_576), 400, "validation_failed")
    host = urlsplit(api.base_url).netloc
    connection = http.client.HTTPConnection(host, timeout=20)
    chunks = (b"x" * 65_536 for _ in range(40))
    headers = {"Authorization": f"Bearer {api.api_key}", "Content-Type": "application/json"}
    connection.request("POST", "/v1/dnc/check", chunks, headers, encode_chunked=True)
    assert connection.getresponse().status == 413
    connection.close()


def test_what_is_no_http_is_answered_by_the_edge(sandbox: Sandbox) -> None:
    """400 as a problem document with an `edge_` request id."""
    parts = urlsplit(sandbox.base_url)
    with socket.create_connection((parts.hostname, parts.port), timeout=5) as line:
        line.sendall(b"THIS IS NOT HTTP\r\n\r\n")
        answer = b""
        while part := line.recv(4096):
            answer += part
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400")
    assert b"application/problem+json" in head
    assert b"x-request-id: edge_" in head
    assert b'"code":"validation_failed"' in body
