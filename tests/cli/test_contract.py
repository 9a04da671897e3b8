"""`dialframe contract`: the operations as tables, and the OpenAPI document."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.commands import invoke
from dialframe.contract import operations
from dialframe.contract.openapi import document


def test_markdown_names_each_operation_once() -> None:
    """A heading, a rule, and a line for each of the 45 operations."""
    lines = invoke("contract operations --markdown").out.splitlines()

    assert len(lines) == 2 + 45
    assert [line.split("`")[1] for line in lines[2:]] == [row.name for row in operations.ALL]
    assert lines[2] == "| `me` | `GET /v1/me` | any key | 1 | `client.me` | assumed |"
    assert (
        "| `calls.start` | `POST /v1/calls` | `calls:originate` | 2 | `client.calls.start` |  |"
        in lines
    )
    assert len({line.count("|") for line in lines}) == 1


def test_json_says_what_each_operation_needs() -> None:
    """`--json` prints one object with a row for each operation."""
    rows = invoke("contract operations --json").facts["operations"]
    by_name = {row["name"]: row for row in rows}

    assert len(rows) == len(by_name) == 45
    assert by_name["leads.import"] == {
        "name": "leads.import",
        "endpoint": "POST /v1/leads/import",
        "scope": "leads:write",
        "tier": 1,
        "switch": None,
        "sending_key": False,
        "client": "client.leads.import_",
        "assumed": False,
        "summary": "Import up to 200 leads into a campaign.",
    }
    assert by_name["sms.send"]["switch"] == "tier2_sms_send_enabled"
    assert by_name["sms.send"]["sending_key"] is True
    assert sum(row["assumed"] for row in rows) == 22


def test_table_for_a_person_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every operation has its line, however wide a pipe is said to be."""
    monkeypatch.setenv("COLUMNS", "40")
    out = invoke("contract operations").out

    assert all(f" client.{name}" in out for name in ("me", "leads.import_", "sms.usage"))
    assert all(row.path in out for row in operations.ALL)


def test_openapi_goes_to_standard_output_or_a_file(tmp_path: Path) -> None:
    """The document is the same either way; with `--server` it names the address."""
    assert invoke("contract openapi").facts == document()

    file = tmp_path / "new" / "openapi.json"
    written = invoke("contract openapi --server https://dialing.example --out", file)
    assert str(file) in written.out
    assert json.loads(file.read_text(encoding="utf-8")) == document("https://dialing.example")


def test_two_forms_at_once_are_wrong_usage() -> None:
    """`--json` with `--markdown` ends with status 2 and a sentence."""
    invoke("contract operations --json --markdown", ends=2, err="choose one")
