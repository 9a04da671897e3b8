"""`dialframe doctor`: exit status, JSON, and what it must not show."""

from __future__ import annotations

import os

import pytest

from cli.commands import invoke
from dialframe import sandbox


@pytest.mark.parametrize(
    ("variables", "check", "state", "words"),
    [
        ({}, "key", "ok", "accepted"),
        ({"DIALFRAME_API_KEY": "svc_test_nobody_wrongsecret"}, "key", "failed", "invalid_api_key"),
        ({"DIALFRAME_BASE_URL": ""}, "address", "failed", "DIALFRAME_BASE_URL"),
    ],
    ids=["healthy", "wrong key", "no address"],
)
def test_what_fails_is_said_by_status_and_row(
    account: sandbox.Sandbox, monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str], check: str, state: str, words: str,
) -> None:  # fmt: skip
    """Status 1 where a check failed; JSON is one object whose counts add up; no key is shown."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    ran = invoke("doctor --json", ends=int(state == "failed"))
    rows = {row["check"]: row for row in ran.facts["checks"]}

    assert ran.facts["ok"] is (ran.facts["counts"]["failed"] == 0) is (state == "ok")
    assert sum(ran.facts["counts"].values()) == len(rows)
    assert all(set(row) == {"check", "state", "detail", "what_next"} for row in rows.values())
    assert (rows[check]["state"], words in rows[check]["detail"]) == (state, True)
    assert rows["versions"]["state"] == "ok"
    assert os.environ["DIALFRAME_API_KEY"].rpartition("_")[2] not in ran.out


def test_table_names_every_check(
    account: sandbox.Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person reads a table and how many checks ended in which state."""
    monkeypatch.setenv("COLUMNS", "40")
    lines = invoke("doctor").out.splitlines()

    checks = ("address", "key", "scopes", "scope whatsapp:send", "clock", "rate limit", "store", "stored data",
              "disk", "versions", "extras", "chromium")  # fmt: skip
    for check in checks:
        assert [line for line in lines if line.startswith(f"{check}  ")], check
    assert "0 failed" in lines[-1]
