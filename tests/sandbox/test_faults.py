"""Failures on request, seen from outside."""

from __future__ import annotations

import http.client
import time
from urllib.parse import urlsplit

import httpx
import pytest

from contract.promised import PROMISED
from dialframe.contract import operations
from dialframe.sandbox import Sandbox
from sandbox.service_bench import Party, answered, problem, spoken


def me(api: Party) -> httpx.Response:
    """An answer as it comes: what a fault makes of it need not be the contract's."""
    url = f"{api.service.base_url}/v1/me"
    return api.http.get(url, headers={"Authorization": f"Bearer {api.key}"})


@pytest.mark.parametrize(("status", "code"), [row[:2] for row in PROMISED])
def test_every_error_of_the_contract_can_be_had(
    settings: Sandbox, api: Party, status: int, code: str
) -> None:
    """With each status of the contract's table, once, with `Retry-After` where the real one has it."""
    first = next(row[0] for row in PROMISED if row[1] == code)
    settings.console.arm_fault("me", code=code, status=None if status == first else status)
    answer = me(api)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    waits = status in (429, 503) or code == "conflict"
    assert ("Retry-After" in answer.headers) == waits
    answered(api.get("/v1/me"), 200)


def test_status_alone_and_unknown_codes(settings: Sandbox, api: Party) -> None:
    """A status names a fitting code; a code that the contract does not know needs a status."""
    settings.console.arm_fault("me", status=503)
    problem(api.get("/v1/me"), 503, "temporarily_unavailable")
    settings.console.arm_fault("me", status=422, code="something_new")
    problem(api.get("/v1/me"), 422, "something_new")
    settings.console.arm_fault("me", status=404, code="validation_failed")
    answer = me(api)
    assert (answer.status_code, answer.json()["code"]) == (404, "validation_failed")


def test_after_times_and_operation(settings: Sandbox, api: Party) -> None:
    """The first two pass, the next two fail, the fifth passes; other operations are spared."""
    settings.console.arm_fault("calls.list", after=2, times=2, status=500)
    codes_seen = []
    for _ in range(5):
        codes_seen.append(api.get("/v1/calls").status_code)
        assert api.get("/v1/leads").status_code == 200
    assert codes_seen == [200, 200, 500, 500, 200]


def test_any_operation_and_several_rules(settings: Sandbox, api: Party) -> None:
    """`*` befalls whatever comes; rules are used in the order in which they were armed."""
    settings.console.arm_fault(status=500)
    settings.console.arm_fault("me", status=503)
    assert [api.get("/v1/me").status_code for _ in range(3)] == [500, 503, 200]


def test_requests_that_are_not_let_in_use_up_nothing(settings: Sandbox, api: Party) -> None:
    """A wrong key is answered 401; the failure waits for the next good request."""
    settings.console.arm_fault("me", status=500)
    wrong = api.send("GET", "/v1/me", headers={"Authorization": "Bearer x"})
    problem(wrong, 401, "invalid_api_key")
    assert api.get("/v1/me").status_code == 500


def test_cleared_faults_are_gone(settings: Sandbox, api: Party) -> None:
    """DELETE forgets them all."""
    settings.console.arm_fault(times=100, status=500)
    settings.console.clear_faults()
    answered(api.get("/v1/me"), 200)


def test_where_a_connection_is_cut(settings: Sandbox, api: Party) -> None:
    """Before: not a byte; during: half of the answer, shorter than it says; after-commit: none."""
    request = f"GET /v1/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {api.key}\r\n\r\n".encode()
    for drop in ("before", "after-commit"):
        settings.console.arm_fault("me", drop=drop)
        assert spoken(api.service.base_url, request) == b""
    settings.console.arm_fault("me", drop="during")
    head, _, body = spoken(api.service.base_url, request).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200")
    length = next(
        line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")
    )
    assert 0 < len(body) < int(length.split(b":")[1])
    settings.console.arm_fault("me", drop="during")
    connection = http.client.HTTPConnection(urlsplit(api.service.base_url).netloc, timeout=5)
    connection.request("GET", "/v1/me", headers={"Authorization": f"Bearer {api.key}"})
    with pytest.raises(http.client.IncompleteRead):
        connection.getresponse().read()
    connection.close()


def test_slow_answer_holds_nobody_up(settings: Sandbox, api: Party) -> None:
    """It comes late, and meanwhile others are answered."""
    settings.console.arm_fault("me", delay_seconds=20)
    began = time.monotonic()
    with httpx.Client(base_url=api.service.base_url, trust_env=False, timeout=0.1) as hasty:
        with pytest.raises(httpx.ReadTimeout):
            hasty.get("/v1/me", headers={"Authorization": f"Bearer {api.key}"})
        answered(api.get("/v1/calls"), 200)
    assert time.monotonic() - began < 10
    settings.console.arm_fault("me", delay_seconds=0.2, status=500)
    began = time.monotonic()
    assert api.get("/v1/me").status_code == 500
    assert time.monotonic() - began >= 0.2


def test_body_that_is_not_json(settings: Sandbox, api: Party) -> None:
    """Status 200 unless another is named."""
    settings.console.arm_fault("me", body="<html>not json</html>")
    answer = me(api)
    assert (answer.status_code, answer.text) == (200, "<html>not json</html>")
    settings.console.arm_fault("me", body="", status=502)
    answer = me(api)
    assert (answer.status_code, answer.text) == (502, "")


def test_faults_name_every_operation(settings: Sandbox) -> None:
    """All 45 names are known to the console."""
    for name in operations.BY_NAME:
        assert settings.console.arm_fault(name, status=500)["operation"] == name
