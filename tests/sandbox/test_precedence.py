"""Where several refusals apply, the first of the sandbox's order is the answer."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import httpx
import pytest

from sandbox.service_bench import CAMPAIGN, MIB, PHONE, Console, Party, fresh_key, problem


@dataclass(frozen=True)
class Request:
    """A click-to-call that the conditions spoil one after the other."""

    method: str = "POST"
    path: str = "/v1/calls"
    params: dict[str, str] = field(default_factory=dict)
    body: dict[str, Any] = field(default_factory=dict)
    raw: bytes | None = None
    pad: int = 0
    auth: bool = True
    scoped: bool = True
    sending: bool = True
    kind: str = "application/json"
    idem: bool = True
    settings: dict[str, Any] = field(default_factory=dict)


Spoil = Callable[[Request, str], Request]


@dataclass(frozen=True)
class Condition:
    """One refusal: how to provoke it and what it answers."""

    name: str
    status: int
    code: str
    spoil: Spoil


def with_body(request: Request, **more: Any) -> Request:
    return replace(request, body={**request.body, **more})


def with_params(request: Request, **more: str) -> Request:
    return replace(request, params={**request.params, **more})


def with_settings(request: Request, **more: Any) -> Request:
    return replace(request, settings={**request.settings, **more})


#: Name, status, code and how a request is spoiled, in the order of the sandbox's design.
CONDITIONS = [Condition(*row) for row in (
    ("size", 413, "payload_too_large", lambda r, k: replace(r, pad=MIB + 1)),
    ("route", 404, "route_not_available", lambda r, k: replace(r, path="/v1/nothing")),
    ("method", 405, "method_not_allowed", lambda r, k: replace(r, method="PUT")),
    ("url", 400, "credential_in_url", lambda r, k: with_params(r, api_key=k)),
    ("key", 401, "invalid_api_key", lambda r, k: replace(r, auth=False)),
    ("access", 403, "api_access_disabled", lambda r, k: with_settings(r, api_access_enabled=False)),
    ("address", 403, "ip_not_allowed", lambda r, k: with_settings(r, ip_allow=["192.0.2.1"])),
    ("rate", 429, "rate_limit_exceeded", lambda r, k: with_settings(r, rate_limits="contract")),
    ("scope", 403, "insufficient_scope", lambda r, k: replace(r, scoped=False)),
    ("switch", 403, "tier_not_enabled",
     lambda r, k: with_settings(r, tier2_calls_originate_enabled=False)),
    ("sending", 403, "tier_not_enabled", lambda r, k: replace(r, sending=False)),
    ("type", 415, "unsupported_media_type", lambda r, k: replace(r, kind="text/plain")),
    ("json", 400, "validation_failed", lambda r, k: replace(r, raw=b"{")),
    ("body", 400, "credential_in_body", lambda r, k: with_body(r, agent_email=k)),
    ("idempotency", 400, "idempotency_key_required", lambda r, k: replace(r, idem=False)),
    ("validation", 400, "validation_failed", lambda r, k: with_params(r, unheard_of="1")),
    ("existence", 404, "not_found", lambda r, k: with_body(r, campaign_id=CAMPAIGN)),
    ("state", 409, "agent_unavailable", lambda r, k: with_body(r, agent_extension="999999")),
)]  # fmt: skip
TOGETHER = {("route", "method"), ("json", "body"), ("switch", "sending")}  # no order to see


@dataclass(frozen=True)
class Callers:
    """A client with the scope, with both kinds of key, and one without it."""

    console: Console
    keys: dict[tuple[bool, bool], Party]
    extension: str

    def send(self, request: Request) -> httpx.Response:
        """Send it under its settings."""
        party = self.keys[request.scoped, request.sending]
        body = request.raw
        if body is None:
            agent = {"to": PHONE, "agent_extension": self.extension}
            body = json.dumps({**agent, **request.body}).encode()
        headers = {"Content-Type": request.kind}
        if request.idem:
            headers["Idempotency-Key"] = fresh_key()
        if not request.settings:
            return self._send(party, request, body, headers)
        with self.console.settings(**request.settings):
            if "rate_limits" not in request.settings:
                return self._send(party, request, body, headers)
            self._exhaust(party)
            # A token may have come in since the last refusal: the second or third try meets none.
            for _ in range(3):
                response = self._send(party, request, body, headers)
                if response.status_code == 429:
                    break
            return response

    def _send(
        self, party: Party, request: Request, body: bytes, headers: dict[str, str]
    ) -> httpx.Response:
        return party.send(
            request.method,
            request.path,
            content=body + b" " * max(0, request.pad - len(body)),
            params=request.params,
            headers=headers,
            idem=None,
            auth="auto" if request.auth else None,
        )

    def _exhaust(self, party: Party) -> None:
        for _ in range(200):
            if party.get("/v1/me").status_code in (403, 429):
                return


@pytest.fixture(scope="module")
def callers(console: Console, party: Party) -> Iterator[Callers]:
    """Both clients, each with a ready agent under the same extension."""
    bare = console.client(scopes=["leads:read"])
    keys = {
        (True, True): party,
        (True, False): console.further_key(party, sending=False),
        (False, True): bare,
        (False, False): console.further_key(bare, sending=False),
    }
    extension = "7001"
    for one in (party, bare):
        body = {"extension": extension, "email": "agent@example.com", "state": "ready"}
        one.console("POST", "/agents", body)
    party.caller_id()
    return Callers(console, keys, extension)


@pytest.mark.parametrize("condition", CONDITIONS, ids=lambda condition: condition.name)
def test_refusal_alone(callers: Callers, condition: Condition) -> None:
    """Each condition by itself provokes its own answer."""
    spoiled = condition.spoil(Request(), callers.keys[True, True].key)
    status = (400, 422) if condition.code == "validation_failed" else condition.status

    problem(callers.send(spoiled), status, condition.code)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(first, second, id=f"{first.name}-{second.name}")
        for first, second in itertools.combinations(CONDITIONS, 2)
        if (first.name, second.name) not in TOGETHER
    ],
)
def test_first_refusal_wins(callers: Callers, first: Condition, second: Condition) -> None:
    """Of two refusals that apply, the one that comes first in the order is answered."""
    key = callers.keys[True, True].key
    spoiled = first.spoil(second.spoil(Request(), key), key)
    status = (400, 422) if first.code == "validation_failed" else first.status

    problem(callers.send(spoiled), status, first.code)


def test_client_access_comes_before_the_address(console: Console) -> None:
    """A disabled client at a wrong address is told of its access."""
    client = console.client(ip_allow=["192.0.2.1"])
    console.change_client(client, enabled=False)

    problem(client.get("/v1/me"), 403, "api_access_disabled")
