"""`--json` is one object on standard output whatever happens; the rest is on standard error."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from sitepages.command_list import commands

from cli.commands import SOURCE, invoke

#: What a command needs beside its options so that it gets as far as the account.
ARGUMENTS = {
    "export": ["calls", "--to", "x.csv"],
    "report": ["--out", "x"],
    "audit verify": ["nothing"],
    "audit diff": ["nothing", "nothing-else"],
    "leads clean": ["missing.csv"],
    "leads import": [
        "missing.csv",
        "--yes",
        "--campaign",
        "cmp_3f1c0a4e-8b8e-4a55-9d0a-000000000001",
    ],
    "rules show": ["no-such-rule"],
    "rules list": ["--rules", "atlantis"],
    "rules diff": ["missing.toml"],
    "store forget": ["5551234"],
    "rules check": ["missing.toml"],
    "suppress export": ["--to-service"],
    "app": ["no-such-folder", "--no-browser"],
}
#: Cannot fail without an account, or is seconds of reading the program before it does.
SURE = ("demo", "evidence list", "suppress list")
#: It speaks a protocol on standard output.
PROTOCOL = "assistant serve"
#: Its first line on standard output says where it serves, so a failure leaves that empty.
SERVES = "sandbox serve"
COMMANDS = [
    entry.path
    for entry in commands()
    if entry.runs and entry.path not in ("", *SURE, SERVES, PROTOCOL)
]


@pytest.mark.usefixtures("nothing_set")
@pytest.mark.parametrize("path", COMMANDS)
def test_a_failure_is_one_object_too(
    path: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It has the kind, the sentence and the status that the process ends with."""
    monkeypatch.chdir(tmp_path)
    said = invoke(path, *ARGUMENTS.get(path, []), "--json", ends=None)
    facts = said.facts

    assert said.status in (1, 2)
    assert said.out.count("\n") == 1
    if path == "doctor":
        assert facts["ok"] is False
        return
    assert facts["error"]["status"] == said.status
    assert facts["error"]["message"] in said.err
    assert facts["error"]["kind"]
    assert "Traceback" not in said.err


@pytest.mark.parametrize("wrong", [["--size", "vast"], ["--as-of", "yesterday"], ["--qqqq-wwww"]])
def test_a_sandbox_that_does_not_start_says_so_on_standard_error_alone(wrong: list[str]) -> None:
    """Whoever waits for the line with its address reads the end of the output instead."""
    said = invoke(SERVES, *wrong, "--json", ends=2)

    assert said.out == ""
    assert wrong[-1] in said.err


@pytest.mark.parametrize("path", COMMANDS)
def test_wrong_usage_is_one_object_too(path: str) -> None:
    """An option that there is not, beside `--json`: status 2, and the sentence says where help is."""
    said = invoke(path, "--qqqq-wwww", "--json", ends=2)
    facts = said.facts["error"]

    assert facts["kind"] == "UsageError"
    assert facts["message"] == "there is no option --qqqq-wwww"
    assert f"Try: dialframe {path} --help" in said.err


def test_a_missing_library_names_what_brings_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """No traceback, and the command that installs it."""
    monkeypatch.setitem(sys.modules, "deltalake", None)
    monkeypatch.setenv("DIALFRAME_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("DIALFRAME_API_KEY", "svc_test_a_b")
    ran = invoke("store publish --store", tmp_path / "store", tmp_path / "lake", ends=None)
    err = ran.err

    assert ran.status in (1, 2)
    assert "deltalake" in err or "dialframe[delta]" in err
    assert "pip install" in err or "install" in err
    assert len(err.splitlines()) == 1


def test_a_reader_that_goes_away_is_no_fault() -> None:
    """`| head` ends the command quietly, however much was left to say."""
    program = f'"{sys.executable}" -m dialframe contract openapi'
    command = f'{program} | head -c 20; echo " ${{PIPESTATUS[0]}}"'
    done = subprocess.run(
        ["bash", "-c", command],
        env={"PYTHONPATH": SOURCE, "PATH": "/usr/bin:/bin", "PYTHONUNBUFFERED": "1"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert done.stderr == ""
    assert done.stdout[-1:] == "\n"
    assert done.stdout.split()[-1] in ("0", "1")
