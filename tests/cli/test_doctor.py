"""`dialframe doctor`: exit status, JSON, and what it must not show."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.commands import invoke
from dialframe import sandbox


@pytest.fixture(scope="module")
def service() -> Iterator[sandbox.Sandbox]:
    """A tiny sandbox without rate limits."""
    with sandbox.start(size="tiny", seed=3) as started:
        started.console.update_account({"rate_limits": None})
        yield started


@pytest.fixture
def account(
    service: sandbox.Sandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> sandbox.Sandbox:
    """The environment of somebody with an account."""
    monkeypatch.setenv("DIALFRAME_BASE_URL", service.base_url)
    # A key of its own, so that no test waits for the rate limit that another has used up.
    key = service.console.create_key(service.client_id, sending=True)
    monkeypatch.setenv("DIALFRAME_API_KEY", key)
    monkeypatch.setenv("DIALFRAME_STORE", str(tmp_path / "store"))
    return service


def test_healthy_account_ends_with_zero(account: sandbox.Sandbox) -> None:
    """With a key that may do everything there is no failure, and JSON is one object."""
    said = invoke("doctor --json").out
    facts = json.loads(said)

    assert facts["ok"] is True
    assert facts["counts"]["failed"] == 0
    assert sum(facts["counts"].values()) == len(facts["checks"])
    assert all(set(row) == {"check", "state", "detail", "what_next"} for row in facts["checks"])
    assert os.environ["DIALFRAME_API_KEY"] not in said


def test_table_names_every_check(
    account: sandbox.Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person reads a table and how many checks ended in which state."""
    monkeypatch.setenv("COLUMNS", "40")
    lines = invoke("doctor").out.splitlines()

    for check in (
        "address",
        "key",
        "scope reports:read",
        "clock",
        "rate limit",
        "store",
        "stored data",
        "disk",
        "versions",
        "extras",
        "chromium",
    ):
        assert [line for line in lines if line.startswith(f"{check}  ")], check
    assert "0 failed" in lines[-1]


def test_wrong_key_ends_with_one(
    account: sandbox.Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key that is not accepted ends with status 1 and is not shown."""
    monkeypatch.setenv("DIALFRAME_API_KEY", "svc_test_nobody_wrongsecret")
    said = invoke("doctor --json", ends=1).out

    assert json.loads(said)["ok"] is False
    assert "invalid_api_key" in said
    assert "wrongsecret" not in said


def test_nothing_set_ends_with_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without an address it says which variable to set, and checks the rest."""
    for name in ("DIALFRAME_BASE_URL", "DIALFRAME_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    rows = {
        row["check"]: row
        for row in invoke("doctor --json --store", tmp_path, ends=1).facts["checks"]
    }

    assert rows["address"]["state"] == "failed"
    assert "DIALFRAME_BASE_URL" in rows["address"]["detail"]
    assert rows["versions"]["state"] == "ok"


def test_help_has_an_example() -> None:
    """The command explains itself with an example that calls it."""
    assert "dialframe doctor" in " ".join(invoke("doctor --help").out.split())
