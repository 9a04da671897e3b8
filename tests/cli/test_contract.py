"""`dialframe contract`: the operations as tables, and the OpenAPI document."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dialframe.cli.entry_point import run
from dialframe.contract import operations
from dialframe.contract.openapi import document


def test_markdown_names_each_operation_once(capsys: pytest.CaptureFixture[str]) -> None:
    """A heading, a rule, and a line for each of the 45 operations."""
    assert run(["contract", "operations", "--markdown"]) == 0
    lines = capsys.readouterr().out.splitlines()

    assert len(lines) == 2 + 45
    assert [line.split("`")[1] for line in lines[2:]] == [row.name for row in operations.ALL]
    assert lines[2] == "| `me` | `GET /v1/me` | any key | 1 | `client.me` | assumed |"
    assert (
        "| `calls.start` | `POST /v1/calls` | `calls:originate` | 2 | `client.calls.start` |  |"
        in lines
    )
    assert len({line.count("|") for line in lines}) == 1


def test_json_says_what_each_operation_needs(capsys: pytest.CaptureFixture[str]) -> None:
    """`--json` prints one object with a row for each operation."""
    assert run(["contract", "operations", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["operations"]
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


def test_table_for_a_person_is_whole(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every operation has its line, however wide a pipe is said to be."""
    monkeypatch.setenv("COLUMNS", "40")
    assert run(["contract", "operations"]) == 0
    out = capsys.readouterr().out

    assert all(f" client.{name}" in out for name in ("me", "leads.import_", "sms.usage"))
    assert all(row.path in out for row in operations.ALL)


def test_openapi_goes_to_standard_output_or_a_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The document is the same either way; with `--server` it names the address."""
    assert run(["contract", "openapi"]) == 0
    assert json.loads(capsys.readouterr().out) == document()

    file = tmp_path / "new" / "openapi.json"
    arguments = ["contract", "openapi", "--out", str(file), "--server", "https://dialing.example"]
    assert run(arguments) == 0
    assert str(file) in capsys.readouterr().out
    assert json.loads(file.read_text(encoding="utf-8")) == document("https://dialing.example")


def test_two_forms_at_once_are_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    """`--json` with `--markdown` ends with status 2 and a sentence."""
    assert run(["contract", "operations", "--json", "--markdown"]) == 2
    assert "choose one" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command", [["contract", "openapi"], ["contract", "operations"]], ids=" ".join
)
def test_help_has_an_example(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Each command explains itself with an example that calls it."""
    assert run([*command, "--help"]) == 0
    assert f"dialframe {' '.join(command)}" in " ".join(capsys.readouterr().out.split())
