"""`dialframe doctor`: exit status, JSON, and what it must not show."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from cli.commands import invoke
from dialframe import sandbox


def test_healthy_account_ends_with_zero(account: sandbox.Sandbox) -> None:
    """With a key that may do everything there is no failure, and JSON is one object."""
    ran = invoke("doctor --json")
    facts = ran.facts

    assert facts["ok"] is True
    assert facts["counts"]["failed"] == 0
    assert sum(facts["counts"].values()) == len(facts["checks"])
    assert all(set(row) == {"check", "state", "detail", "what_next"} for row in facts["checks"])
    assert os.environ["DIALFRAME_API_KEY"] not in ran.out


def test_table_names_every_check(
    account: sandbox.Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person reads a table and how many checks ended in which state."""
    monkeypatch.setenv("COLUMNS", "40")
    lines = invoke("doctor").out.splitlines()

    checks = ("address", "key", "scope reports:read", "clock", "rate limit", "store", "stored data",
              "disk", "versions", "extras", "chromium")  # fmt: skip
    for check in checks:
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


@pytest.mark.usefixtures("nothing_set")
def test_nothing_set_ends_with_one(tmp_path: Path) -> None:
    """Without an address it says which variable to set, and checks the rest."""
    facts = invoke("doctor --json --store", tmp_path, ends=1).facts
    rows = {row["check"]: row for row in facts["checks"]}

    assert rows["address"]["state"] == "failed"
    assert "DIALFRAME_BASE_URL" in rows["address"]["detail"]
    assert rows["versions"]["state"] == "ok"
