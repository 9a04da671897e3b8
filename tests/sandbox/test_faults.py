"""Failures on request, seen from outside."""

from __future__ import annotations

import http.client
import socket
import time
from urllib.parse import urlsplit

import httpx
import pytest

from dialframe.contract import error_codes, operations
from dialframe.errors import ConfigError
from dialframe.sandbox import Sandbox
from sandbox.calling import Api, ok, phone, refused


@pytest.mark.parametrize("code", [row.code for row in error_codes.ALL])
def test_every_error_of_the_contract_can_be_had(settings: Sandbox, api: Api, code: str) -> None:
    """By its code alone, once, with `Retry-After` on every 429 and 503."""
    settings.console.arm_fault("me", code=code)
    refused(api.get("/v1/me"), error_codes.BY_CODE[code].statuses[0], code)
    ok(api.get("/v1/me"))


def test_armed_conflict_says_when_to_come_back(settings: Sandbox, api: Api) -> None:
    """As a real one does."""
    settings.console.arm_fault("me", code="conflict")
    assert api.get("/v1/me").headers["Retry-After"] == "1"


def test_status_alone_and_unknown_codes(settings: Sandbox, api: Api) -> None:
    """A status names a fitting code; a code that the contract does not know needs a status."""
    settings.console.arm_fault("me", status=503)
    refused(api.get("/v1/me"), 503, "temporarily_unavailable")
    settings.console.arm_fault("me", status=422, code="something_new")
    refused(api.get("/v1/me"), 422, "something_new")
    settings.console.arm_fault("me", status=404, code="validation_failed")
    refused(api.get("/v1/me"), 404, "validation_failed")


def test_after_times_and_operation(settings: Sandbox, api: Api) -> None:
    """The first two pass, the next two fail, the fifth passes; other operations are spared."""
    settings.console.arm_fault("calls.list", after=2, times=2, status=500)
    codes_seen = []
    for _ in range(5):
        codes_seen.append(api.get("/v1/calls").status_code)
        assert api.get("/v1/leads").status_code == 200
    assert codes_seen == [200, 200, 500, 500, 200]


def test_any_operation_and_several_rules(settings: Sandbox, api: Api) -> None:
    """`*` befalls whatever comes; rules are used in the order in which they were armed."""
    settings.console.arm_fault(status=500)
    settings.console.arm_fault("me", status=503)
    assert [api.get("/v1/me").status_code for _ in range(3)] == [500, 503, 200]


def test_requests_that_are_not_let_in_use_up_nothing(settings: Sandbox, api: Api) -> None:
    """A wrong key is answered 401; the failure waits for the next good request."""
    settings.console.arm_fault("me", status=500)
    wrong = api.send("GET", "/v1/me", headers={"Authorization": "Bearer x"})
    refused(wrong, 401, "invalid_api_key")
    assert api.get("/v1/me").status_code == 500


def test_cleared_faults_are_gone(settings: Sandbox, api: Api) -> None:
    """DELETE forgets them all."""
    settings.console.arm_fault(times=100, status=500)
    settings.console.clear_faults()
    ok(api.get("/v1/me"))


def test_failed_write_wrote_nothing_and_kept_no_key(settings: Sandbox, api: Api) -> None:
    """After an error on request the same key does the work."""
    number = phone()
    for fault in ({"status": 500}, {"body": "<html>"}, {"drop": "before"}, {"drop": "during"}):
        settings.console.arm_fault("dnc.add", **fault)  # type: ignore[arg-type]
        try:
            assert api.post("/v1/dnc", {"phone": number}, key="retry").status_code in (200, 500)
        except httpx.TransportError:
            assert "drop" in fault
        listed = ok(api.post("/v1/dnc/check", {"phones": [number]}))["data"][0]["listed"]
        assert listed is False
    answer = api.post("/v1/dnc", {"phone": number}, key="retry")
    assert (answer.status_code, answer.headers.get("Idempotency-Replayed")) == (201, None)


def test_lost_answer_is_replayed(settings: Sandbox, api: Api) -> None:
    """After-commit: the write happened, and the same key gets the answer that was lost."""
    number = phone()
    settings.console.arm_fault("dnc.add", drop="after-commit")
    with pytest.raises(httpx.TransportError):
        api.post("/v1/dnc", {"phone": number}, key="lost")
    assert ok(api.post("/v1/dnc/check", {"phones": [number]}))["data"][0]["listed"] is True
    answer = api.post("/v1/dnc", {"phone": number}, key="lost")
    assert (answer.status_code, answer.headers["Idempotency-Replayed"]) == (201, "true")


def _raw_answer(api: Api, path: str) -> bytes:
    parts = urlsplit(api.base_url)
    request = f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {api.api_key}\r\n\r\n"
    with socket.create_connection((parts.hostname, parts.port), timeout=5) as line:
        line.sendall(request.encode())
        answer = b""
        while True:
            try:
                part = line.recv(65_536)
            except ConnectionResetError:
                return answer
            if not part:
                return answer
            answer += part


def test_where_a_connection_is_cut(settings: Sandbox, api: Api) -> None:
    """Before: not a byte; during: half of the answer, shorter than it says; after-commit: none."""
    settings.console.arm_fault("me", drop="before")
    assert _raw_answer(api, "/v1/me") == b""
    settings.console.arm_fault("me", drop="after-commit")
    assert _raw_answer(api, "/v1/me") == b""
    settings.console.arm_fault("me", drop="during")
    head, _, body = _raw_answer(api, "/v1/me").partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200")
    length = next(
        line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")
    )
    assert 0 < len(body) < int(length.split(b":")[1])
    settings.console.arm_fault("me", drop="during")
    connection = http.client.HTTPConnection(urlsplit(api.base_url).netloc, timeout=5)
    connection.request("GET", "/v1/me", headers={"Authorization": f"Bearer {api.api_key}"})
    with pytest.raises(http.client.IncompleteRead):
        connection.getresponse().read()
    connection.close()


def test_slow_answer_holds_nobody_up(settings: Sandbox, api: Api) -> None:
    """It comes late, and meanwhile others are answered."""
    settings.console.arm_fault("me", delay_seconds=1)
    began = time.monotonic()
    with httpx.Client(base_url=api.base_url, trust_env=False, timeout=0.1) as hasty:
        with pytest.raises(httpx.ReadTimeout):
            hasty.get("/v1/me", headers={"Authorization": f"Bearer {api.api_key}"})
        ok(api.get("/v1/calls"))
    assert time.monotonic() - began < 0.9
    settings.console.arm_fault("me", delay_seconds=0.2, status=500)
    began = time.monotonic()
    assert api.get("/v1/me").status_code == 500
    assert time.monotonic() - began >= 0.2


def test_body_that_is_not_json(settings: Sandbox, api: Api) -> None:
    """Status 200 unless another is named."""
    settings.console.arm_fault("me", body="<html>not json</html>")
    answer = api.get("/v1/me")
    assert (answer.status_code, answer.text) == (200, "<html>not json</html>")
    settings.console.arm_fault("me", body="", status=502)
    answer = api.get("/v1/me")
    assert (answer.status_code, answer.text) == (502, "")


@pytest.mark.parametrize(
    "rule",
    [
        {"operation": "calls.nothing", "status": 500},
        {"operation": "me"},
        {"operation": "me", "code": "no_such_code"},
        {"operation": "me", "status": 200},
        {"operation": "me", "status": 99},
        {"operation": "me", "status": 500, "times": 0},
        {"operation": "me", "status": 500, "after": -1},
        {"operation": "me", "delay_seconds": -1},
        {"operation": "me", "drop": "sometimes"},
    ],
)
def test_rules_that_make_no_sense(sandbox: Sandbox, rule: dict[str, object]) -> None:
    """Unknown operations, codes and effects, and a failure without any effect, are refused."""
    with pytest.raises(ConfigError):
        sandbox.console.arm_fault(**rule)  # type: ignore[arg-type]


def test_faults_name_every_operation(settings: Sandbox) -> None:
    """All 45 names are known to the console."""
    for name in operations.BY_NAME:
        assert settings.console.arm_fault(name, status=500)["operation"] == name
