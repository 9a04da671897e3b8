"""Authentication, access, scopes, switches and sending keys."""

from __future__ import annotations

import uuid

import httpx
import pytest

from sandbox.service_bench import (
    BY_NAME,
    LAG_S,
    OPERATIONS,
    PHONE,
    SCOPES,
    Console,
    Operation,
    Party,
    answered,
    common,
    named,
    problem,
)

SCOPED = [operation for operation in OPERATIONS if operation.scope is not None]
SWITCHED = [operation for operation in OPERATIONS if operation.switch is not None]


def me_from(party: Party, address: str, **headers: str) -> httpx.Response:
    """GET /v1/me from another address of this machine's loopback."""
    plain = httpx.HTTPTransport(local_address=address, verify=False)
    with httpx.Client(transport=plain, trust_env=False, timeout=20) as http:
        auth = {"Authorization": f"Bearer {party.key}", **headers}
        return common(http.get(party.service.base_url + "/v1/me", headers=auth))


# --- the key ----------------------------------------------------------------------------------


def bad_keys(key: str, revoked: str) -> dict[str, str | None]:
    credential, _, secret = key.removeprefix("svc_test_").partition("_")
    flipped = secret[:-1] + ("a" if secret[-1] != "a" else "b")
    return {
        "none": None,
        "empty": "",
        "scheme alone": "Bearer",
        "no scheme": key,
        "another scheme": f"Basic {key}",
        "unknown": f"Bearer svc_test_{uuid.uuid4().hex}_{uuid.uuid4().hex}",
        "wrong secret": f"Bearer svc_test_{credential}_{flipped}",
        "no secret": f"Bearer svc_test_{credential}_",
        "cut": f"Bearer {key[:-1]}",
        "longer": f"Bearer {key}x",
        "live": f"Bearer svc_live_{credential}_{secret}",
        "another prefix": f"Bearer {credential}_{secret}",
        "revoked": f"Bearer {revoked}",
        "not text": "Bearer \xff\xfe",
        "huge": "Bearer svc_test_" + "x" * 4000,
    }


def test_every_key_problem_has_one_answer(console: Console, party: Party) -> None:
    """Missing, malformed, unknown and revoked keys are answered alike, telling nothing apart."""
    revoked = console.further_key(party)
    answered(revoked.get("/v1/me"), 200)
    console.do("DELETE", f"/keys/{revoked.credential_id}", status=204)
    console.advance(LAG_S)
    answers = set()
    for what, auth in bad_keys(party.key, revoked.key).items():
        headers = {} if auth is None else {"Authorization": auth.encode("latin-1")}
        response = party.get("/v1/leads", auth=None, headers=headers)
        body = problem(response, 401, "invalid_api_key")
        body.pop("request_id")
        body.pop("instance")
        answers.add((str(body), tuple(sorted({*response.headers} - {"content-length"}))))
        assert len(answers) == 1, f"{what} is told apart: {answers}"


def test_test_key_needs_the_sandbox(console: Console, party: Party) -> None:
    """A test-prefixed key answers 401 unless the sandbox is enabled for the account."""
    with console.settings(sandbox_enabled=False):
        problem(party.get("/v1/me"), 401, "invalid_api_key")
    answered(party.get("/v1/me"), 200)


@pytest.mark.parametrize(
    "where",
    [
        "/v1/leads?api_key={key}",
        "/v1/leads?access_token={key}",
        "/v1/leads?limit={key}",
        "/v1/leads?{key}=1",
        "/v1/leads/{key}",
        "/v1/leads?note=see%20{key}",
        "/v1/leads?api_key=svc%5Flive%5Fabcdef12%5Fabcdefabcdefabcdefabcdefabcdefab",
    ],
)
@pytest.mark.parametrize("auth", ["auto", None])
def test_key_in_the_url_is_refused(party: Party, where: str, auth: str | None) -> None:
    """A key anywhere in the URL answers 400 credential_in_url, with or without a header."""
    response = party.get(where.format(key=party.key), auth=auth)

    problem(response, 400, "credential_in_url")
    assert party.key not in response.text


@pytest.mark.parametrize("how", ["value", "inside", "deep", "live", "name", "api_key", "Bearer"])
def test_key_in_the_body_is_refused(party: Party, how: str) -> None:
    """A credential anywhere in the body, or under a name that says so, answers 400 credential_in_body, not echoed."""
    found = {
        "value": {"custom_fields": {"note": party.key}},
        "inside": {"full_name": f"my key is {party.key}, use it"},
        "deep": {"custom_fields": {"list": [{"of": party.key}]}},
        "live": {"email": party.key.replace("svc_test_", "svc_live_")},
        "name": {party.key: 1},
    }.get(how, {how: "anything"})
    response = party.post("/v1/leads", {**BY_NAME["leads.create"].body, **found})

    problem(response, 400, "credential_in_body")
    assert party.key not in response.text


def test_what_is_no_credential_passes(party: Party, campaign: str) -> None:
    """The bare prefix and ordinary custom fields are nobody's key."""
    fields = {"token": "blue", "svc": "svc_test_", "key": 0}
    body = {"campaign_id": campaign, "phone": party.phone(), "custom_fields": fields}
    assert answered(party.post("/v1/leads", body), 200)["status"] == "accepted"


# --- access and address -----------------------------------------------------------------------


def test_access_off_is_403(console: Console, party: Party) -> None:
    """Access of the account or of the client switched off answers 403, /v1/me too; other clients go on."""
    client = console.client()
    with console.settings(api_access_enabled=False):
        problem(client.get("/v1/me"), 403, "api_access_disabled")
        problem(client.get("/v1/leads"), 403, "api_access_disabled")
    console.change_client(client, enabled=False)
    problem(client.get("/v1/me"), 403, "api_access_disabled")
    answered(party.get("/v1/me"), 200)
    console.change_client(client, enabled=True)
    answered(client.get("/v1/me"), 200)


@pytest.mark.parametrize(
    ("of_account", "of_client", "passing", "refused"),
    [
        (["127.0.0.9"], [], ["127.0.0.9"], ["127.0.0.1"]),
        ([], ["127.0.0.9"], ["127.0.0.9"], ["127.0.0.1"]),
        ([], ["127.0.0.8/30"], ["127.0.0.9", "127.0.0.11"], ["127.0.0.12"]),
        (["127.0.0.7", "127.0.0.8"], ["127.0.0.8", "127.0.0.9"], ["127.0.0.8"],
         ["127.0.0.7", "127.0.0.9"]),
    ],
)  # fmt: skip
def test_address_must_be_in_both_lists(
    console: Console,
    of_account: list[str],
    of_client: list[str],
    passing: list[str],
    refused: list[str],
) -> None:
    """A source outside the account's or the client's own allow-list answers 403 ip_not_allowed."""
    client = console.client(ip_allow=of_client)
    with console.settings(ip_allow=of_account):
        for address in passing:
            answered(me_from(client, address), 200)
        for address in refused:
            problem(me_from(client, address), 403, "ip_not_allowed")
    console.change_client(client, ip_allow=[])
    answered(client.get("/v1/me"), 200)


def test_a_header_does_not_change_the_source_address(console: Console) -> None:
    """A forwarded-for header of the caller's own making opens no door."""
    client = console.client(ip_allow=["127.0.0.9"])
    spoof = {
        "X-Forwarded-For": "127.0.0.9",
        "X-Real-IP": "127.0.0.9",
        "Forwarded": "for=127.0.0.9",
    }
    for name, value in spoof.items():
        problem(me_from(client, "127.0.0.1", **{name: value}), 403, "ip_not_allowed")


# --- scopes -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def holders(console: Console) -> dict[str | None, Party]:
    """One client for each scope, holding that scope alone, and one without any."""
    alone = {scope: console.client(scopes=[scope]) for scope in SCOPES}
    return {None: console.client(scopes=[]), **alone}


@pytest.mark.parametrize("operation", SCOPED, ids=named)
def test_operation_takes_its_scope_alone(
    holders: dict[str | None, Party], operation: Operation
) -> None:
    """The one scope of the table opens the operation; none at all or any other answers 403."""
    for scope, holder in holders.items():
        response = holder.run(operation.name)
        if scope != operation.scope:
            problem(response, 403, "insufficient_scope")
        else:
            assert response.status_code not in (401, 403) or operation.name == "whatsapp.send"


def test_new_client_can_read_itself(console: Console) -> None:
    """A new client holds no scopes; its keys can call GET /v1/me."""
    made = console.do("POST", "/clients", {"name": "plain"}, status=201)
    plain = Party(console.service, made["api_key"], made["client_id"])

    assert isinstance(answered(plain.get("/v1/me"), 200), dict)
    problem(plain.get("/v1/leads"), 403, "insufficient_scope")


def test_scopes_can_be_granted_and_taken(console: Console) -> None:
    """A change of scopes by the administrator takes effect within 15 seconds."""
    client = console.client(scopes=[])
    console.change_client(client, scopes=["leads:read"])
    answered(client.get("/v1/leads"), 200)
    console.change_client(client, scopes=["calls:read"])
    problem(client.get("/v1/leads"), 403, "insufficient_scope")
    answered(client.get("/v1/calls"), 200)


# --- tiers ------------------------------------------------------------------------------------


@pytest.mark.parametrize("operation", SWITCHED, ids=named)
def test_tier_2_needs_its_switch(console: Console, party: Party, operation: Operation) -> None:
    """With its switch off an operation answers 403 tier_not_enabled, and no other one does."""
    assert operation.switch is not None
    with console.settings(**{operation.switch: False}):
        problem(party.run(operation.name), 403, "tier_not_enabled")
        for bystander in SWITCHED:
            if bystander.switch != operation.switch:
                assert party.run(bystander.name).status_code != 403


def test_whatsapp_answers_403_for_every_account(party: Party) -> None:
    """WhatsApp sending answers 403 tier_not_enabled with scope and switches all there."""
    for body in ({}, {"to": PHONE, "body": "Hello"}):
        problem(party.post("/v1/whatsapp/messages", body), 403, "tier_not_enabled")


@pytest.mark.parametrize("name", ["calls.start", "sms.send"])
def test_sending_needs_a_sending_key(console: Console, party: Party, name: str) -> None:
    """Scope and switch are not enough: the key must be a sending key of the guided setup."""
    plain = console.further_key(party, sending=False)
    problem(plain.run(name), 403, "tier_not_enabled")
    assert party.run(name).status_code != 403


# --- privacy of a client's data ---------------------------------------------------------------


def test_nothing_of_one_client_is_in_a_list_of_another(party: Party, other: Party) -> None:
    """Whatever is asked for."""
    campaign = party.campaign("paused")
    party.lead(campaign, external_id="shared-id")
    party.calls([{"created_at": "2026-01-01T00:00:00Z"}])
    assert {len(each) for each in other.everything()} == {0}
    for path, params in (
        ("leads", {"external_id": "shared-id"}),
        ("leads", {"campaign_id": campaign}),
        ("callbacks", {"campaign_id": campaign}),
    ):
        assert other.walk(f"/v1/{path}", **params) == []


@pytest.mark.parametrize(
    "name",
    [
        operation.name
        for operation in OPERATIONS
        if any(name.endswith("_id") for name in operation.names)
        and operation.name != "callbacks.list"
    ],
)
def test_what_is_another_clients_is_not_found(console: Console, party: Party, name: str) -> None:
    """404 for the id of nothing and for another client's, in path, query or body; and nothing changes."""
    owner = console.client()
    request, before = owner.good(name), owner.everything()
    for operation in (BY_NAME[name], request):
        problem(party.run(operation), 404, "not_found")
    assert owner.everything() == before
