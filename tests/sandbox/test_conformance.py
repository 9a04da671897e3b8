"""The sandbox holds to every sentence of the conformance suite, in both profiles, and the suite notices what does not."""

from __future__ import annotations

import socket
from typing import Literal

import pytest

from cli.commands import invoke
from dialframe import sandbox
from dialframe.sandbox import conformance
from samples import a_row


@pytest.mark.parametrize("profile", ["friendly", "contract"])
def test_the_sandbox_conforms(
    profile: Literal["friendly", "contract"], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every sentence holds with its key; with a wrong one the command says what does not."""
    with sandbox.start(size="empty", profile=profile) as service:
        monkeypatch.setenv("DIALFRAME_API_KEY", service.api_key)
        held = invoke("sandbox conform", service.base_url, "--json").facts
        monkeypatch.setenv("DIALFRAME_API_KEY", "nonsense")
        wrong = invoke("sandbox conform", service.base_url, "--json", ends=3).facts

    assert held["broken"] == []
    assert held["checks"] >= 55
    assert any("200 was expected, and 401 came" in each["wrong"] for each in wrong["broken"])


def test_every_sentence_can_be_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """An account with rows leaves none out; what writes is tried only where that is allowed, and again and again."""
    with sandbox.start(seed=3, size="tiny") as service:
        monkeypatch.setenv("DIALFRAME_API_KEY", service.api_key)
        before = service.console.outbox(service.client_id)
        read = invoke("sandbox conform", service.base_url, "--json").facts
        for _ in range(2):
            written = invoke(
                "sandbox conform", service.base_url, "--write", "--json", ends=None
            ).facts
            assert (written["broken"], written["left_out"]) == ([], 0)
        after = service.console.outbox(service.client_id)

    assert (read["broken"], read["left_out"]) == ([], 0)
    assert written["checks"] >= read["checks"] + 15
    assert before == after


@pytest.mark.parametrize(
    ("changed", "wrong"),
    [
        ({"status": 7}, "data.0.status"),
        ({"id": "call_1"}, "data.0.id is not like"),
        ({"created_at": "2026-03-02 09:00"}, "data.0.created_at"),
        ({"hangup_cause": ...}, "data.0.hangup_cause is missing"),
    ],
)
def test_a_row_that_is_not_as_the_contract_says_is_named(
    changed: dict[str, object], wrong: str
) -> None:
    """By its path; the pattern says what was expected."""
    row = {
        name: value for name, value in (a_row("calls.list") | changed).items() if value is not ...
    }
    check = next(
        check for check in conformance.checks() if check.section == "Resources, Call record"
    )
    assert wrong in conformance._wrong(check, {"data": [row]}, {})


def test_nobody_is_asked_for_ever_and_no_live_key_goes_out_in_clear(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where nothing listens the command ends; a live key needs https."""
    monkeypatch.setenv("DIALFRAME_API_KEY", "svc_test_0000000000000000_x")
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    assert "no answer 3 times" in invoke(f"sandbox conform http://127.0.0.1:{port}", ends=1).err
    monkeypatch.setenv("DIALFRAME_API_KEY", "svc_live_0000000000000000_x")
    assert "https only" in invoke("sandbox conform http://service.example", ends=2).err
