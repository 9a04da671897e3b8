"""The command line answers in one sentence and with a status, whatever it is given."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

import dialframe
from dialframe.cli.entry_point import run


@pytest.fixture(scope="module")
def service() -> Iterator[dialframe.sandbox.Sandbox]:
    """A tiny sandbox without rate limits."""
    with dialframe.sandbox.start(size="tiny", seed=3) as started:
        started.console.update_account({"rate_limits": None})
        yield started


@pytest.fixture
def account(
    service: dialframe.sandbox.Sandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> dialframe.sandbox.Sandbox:
    """The environment of somebody with an account."""
    monkeypatch.setenv("DIALFRAME_BASE_URL", service.base_url)
    monkeypatch.setenv("DIALFRAME_API_KEY", service.api_key)
    monkeypatch.setenv("DIALFRAME_STORE", str(tmp_path / "store"))
    return service


@pytest.fixture
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of somebody without one."""
    for name in ("DIALFRAME_BASE_URL", "DIALFRAME_API_KEY", "DIALFRAME_STORE"):
        monkeypatch.delenv(name, raising=False)


def _one_sentence(err: str) -> bool:
    return len(err.strip().splitlines()) == 1 and "Traceback" not in err


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20, ""),
        (b"\x7fELF" + bytes(4096), ""),
        (b"Name,City\nAda,Berlin\nBob,Rome\n", "phone"),
    ],
    ids=["empty", "picture", "program", "no phone column"],
)
@pytest.mark.usefixtures("nothing_set")
def test_unusable_lead_file_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, words: str
) -> None:
    """A file that is no lead list fails with status 1 and one sentence, and nothing is written."""
    file, out = tmp_path / "list.csv", tmp_path / "out"
    file.write_bytes(content)
    status = run(["leads", "clean", "--region", "US", str(file), "--out", str(out)])
    err = capsys.readouterr().err

    assert status == 1
    assert _one_sentence(err)
    assert "list.csv" in err
    assert words in err
    assert not out.exists() or not list(out.iterdir())


@pytest.mark.parametrize("name", ["missing.csv", "."], ids=["missing", "folder"])
def test_missing_file_and_folder_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """A path that is no file is named."""
    status = run(["leads", "check", "--region", "US", str(tmp_path / name)])

    assert status == 1
    assert _one_sentence(capsys.readouterr().err)


def test_clean_prints_one_object_that_balances(
    tmp_path: Path, samples: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`leads clean --json` prints the counts, which add up, and the files, which exist."""
    file = samples / "leads" / "us_autumn_campaign.csv"
    status = run(["leads", "clean", str(file), "--region", "us", "--out", str(tmp_path), "--json"])
    facts = json.loads(capsys.readouterr().out)
    parts = ("clean", "rejected", "duplicates", "do_not_call", "skipped")

    assert status == 0
    assert facts["records"] == sum(facts[part] for part in parts)
    assert all(Path(path).is_file() for path in facts["files"].values())


@pytest.mark.usefixtures("nothing_set")
@pytest.mark.parametrize(
    "arguments",
    [["sync"], ["export", "calls", "--to", "x.csv"], ["funnel"], ["audit"], ["store", "info"]],
    ids=lambda arguments: arguments[0],
)
def test_without_an_account_the_setting_is_named(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    """A missing setting ends with status 2 and says which variable to set."""
    status = run(arguments)
    err = capsys.readouterr().err

    assert status == 2
    assert _one_sentence(err)
    assert "DIALFRAME_BASE_URL" in err
    assert "--base-url" in err
    assert "dialframe sandbox serve" in err


@pytest.mark.usefixtures("nothing_set")
def test_a_mistyped_table_is_refused_before_anybody_is_asked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The one that may have been meant is named, else all that there are."""
    assert run(["sync", "cals"]) == 2
    assert "did you mean calls?" in capsys.readouterr().err
    assert run(["sync", "xyz"]) == 2
    assert "choose from calls, leads" in capsys.readouterr().err


def test_missing_key_names_the_ways_to_give_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Without a key the command line says where it is looked for."""
    monkeypatch.delenv("DIALFRAME_API_KEY", raising=False)
    status = run(["sync", "--base-url", "http://127.0.0.1:9", "--store", str(tmp_path)])
    err = capsys.readouterr().err

    assert status == 2
    assert "DIALFRAME_API_KEY" in err


def test_wrong_key_is_refused_in_words(
    account: dialframe.sandbox.Sandbox,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A key that is not accepted ends with status 1, and the key is not shown."""
    monkeypatch.setenv("DIALFRAME_API_KEY", "svc_test_nobody_wrongsecret")
    status = run(["sync"])
    err = capsys.readouterr().err

    assert status == 1
    assert _one_sentence(err)
    assert "invalid_api_key" in err
    assert "wrongsecret" not in err


def test_unreachable_host_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A host where nobody answers is named, with status 1."""
    monkeypatch.setenv("DIALFRAME_API_KEY", "svc_test_some_secret")
    status = run(["sync", "calls", "--base-url", "http://127.0.0.1:9", "--store", str(tmp_path)])
    err = capsys.readouterr().err

    assert status == 1
    assert _one_sentence(err)
    assert "127.0.0.1:9" in err


def test_missing_scope_is_named(
    account: dialframe.sandbox.Sandbox,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A client without the scope hears which scope it lacks."""
    client = account.console.create_client("bare", scopes=[])
    monkeypatch.setenv("DIALFRAME_API_KEY", client["api_key"])
    status = run(["sync", "calls"])
    err = capsys.readouterr().err

    assert status == 1
    assert "calls:read" in err


def test_account_is_read_exported_and_answered(
    account: dialframe.sandbox.Sandbox, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Sync, export, funnel and audit work one after the other on one store."""
    import pandas as pd

    assert run(["sync", "--json"]) == 0
    synced = json.loads(capsys.readouterr().out)
    assert synced["complete"] is True

    calls = tmp_path / "calls.parquet"
    assert run(["export", "calls", "--to", str(calls), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == len(pd.read_parquet(calls)) == 1000
    assert calls.stat().st_mode & 0o777 == 0o600

    assert run(["funnel", "--by", "lead_source", "--json"]) == 0
    assert {row["stage"] for row in json.loads(capsys.readouterr().out)["stages"]} >= {"loaded"}

    out = tmp_path / "evidence"
    arguments = ["audit", "--check", "31d", "--out", str(out), "--json", "--fail-on", "violation"]
    assert run(arguments) == 3
    facts = json.loads(capsys.readouterr().out)
    assert facts["checks"]
    assert (out / "findings.csv").is_file()

    assert run(["store", "info", "--json"]) == 0
    json.loads(capsys.readouterr().out)


def test_import_reports_the_ledger_and_goes_on(
    account: dialframe.sandbox.Sandbox,
    tmp_path: Path,
    samples: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """`leads import --json` balances, and the same command again sends nothing anew."""
    campaign = account.console.create_campaign(account.client_id, "import", status="draft")
    file = samples / "leads" / "us_autumn_campaign.csv"
    arguments = [
        "leads", "import", str(file), "--campaign", campaign["id"], "--region", "US",
        "--out", str(tmp_path / "out"), "--json", "--yes",
    ]  # fmt: skip

    assert run(arguments) == 0
    first = json.loads(capsys.readouterr().out)
    assert (
        first["sent"] == first["accepted"] + first["refused"] + first["unknown"] == first["clean"]
    )
    assert first["unknown"] == 0

    assert run(arguments) == 0
    again = json.loads(capsys.readouterr().out)
    assert {name: again[name] for name in ("sent", "accepted", "refused", "unknown")} == {
        name: first[name] for name in ("sent", "accepted", "refused", "unknown")
    }


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["leads", "clean"],
        ["export", "calls"],
        ["export", "nothing", "--to", "x.csv"],
        ["export", "calls", "--to", "x.txt"],
        ["sandbox", "serve", "--size", "vast"],
        ["sandbox", "serve", "--as-of", "yesterday"],
        ["leads", "clean", "--region", "US", "x.csv", "--column", "phone"],
    ],
    ids=" ".join,
)
def test_wrong_usage_is_status_two(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    """Wrong usage ends with status 2 and says what would be right."""
    status = run(arguments)
    said = capsys.readouterr()

    assert status == 2
    assert said.err.strip()
    assert "Traceback" not in said.err


def test_full_disk_leaves_nothing_half_written(
    tmp_path: Path,
    samples: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """When the disk is full, no file stands under its final name."""
    import errno

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    file = samples / "leads" / "us_autumn_campaign.csv"
    status = run(["leads", "clean", "--region", "US", str(file), "--out", str(tmp_path / "out")])

    assert status == 1
    assert _one_sentence(capsys.readouterr().err)
    assert not list((tmp_path / "out").iterdir())


COMMANDS = [
    ["demo"], ["sync"], ["export"], ["funnel"], ["audit"],
    ["leads", "check"], ["leads", "clean"], ["leads", "screen"], ["leads", "import"],
    ["leads", "reasons"], ["sandbox", "serve"], ["store", "info"], ["store", "forget"],
    ["store", "vacuum"], ["webhooks", "listen"], ["contract", "openapi"],
    ["contract", "operations"], ["doctor"],
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help_has_an_example(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Every command explains itself with an example that calls it."""
    assert run([*command, "--help"]) == 0
    assert f"dialframe {' '.join(command)}" in " ".join(capsys.readouterr().out.split())


def test_import_of_the_package_is_light() -> None:
    """`import dialframe` and its command line load neither pandas nor httpx."""
    code = (
        "import sys, dialframe, dialframe.cli.command_tree\n"
        "print(sorted({'pandas', 'httpx', 'pyarrow', 'matplotlib', 'starlette'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


@pytest.fixture
def empty_account(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """The environment of somebody whose account holds nothing yet."""
    with dialframe.sandbox.start(size="empty") as started:
        monkeypatch.setenv("DIALFRAME_BASE_URL", started.base_url)
        monkeypatch.setenv("DIALFRAME_API_KEY", started.api_key)
        monkeypatch.setenv("DIALFRAME_STORE", str(tmp_path / "store"))
        yield


@pytest.mark.usefixtures("empty_account")
def test_empty_account_has_empty_answers(capsys: pytest.CaptureFixture[str]) -> None:
    """An account without leads and calls is read and counted; an audit of no calls is a finding, not a pass."""
    assert run(["sync"]) == 0
    assert run(["funnel"]) == 0
    capsys.readouterr()
    assert run(["audit", "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["verdict"].startswith("Nothing was checked")


@pytest.mark.usefixtures("empty_account")
def test_audit_of_what_was_never_read_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """No finding in no data is no result: before the first sync an audit ends with status 1."""
    status = run(["audit", "--fail-on", "violation"])
    err = capsys.readouterr().err

    assert status == 1
    assert _one_sentence(err)
    assert "dialframe sync" in err


@pytest.mark.usefixtures("empty_account")
def test_campaign_that_is_no_id_is_refused_before_anything(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A mistyped campaign id ends with status 2, and nothing is read, asked or written."""
    out = tmp_path / "out"
    status = run(
        ["leads", "import", "--region", "US", "list.csv", "--campaign", "nope", "--out", str(out)]
    )

    assert status == 2
    assert "cmp_" in capsys.readouterr().err
    assert not out.exists()


def test_header_in_brackets_is_shown_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Text of a file is never taken for markup."""
    file = tmp_path / "list.csv"
    file.write_text("Phone [/work],Name\n(212) 555-0142,Ada\n")

    assert run(["leads", "check", "--region", "US", str(file)]) == 0
    assert "[/work]" in capsys.readouterr().out


def test_what_strangers_wrote_does_nothing_to_a_terminal(
    account: dialframe.sandbox.Sandbox, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Escapes and marks that turn text around, in sources, names of campaigns and lists, are shown as code points."""
    evil = "a\x1b[2J\x1b]0;title\x07\x9b31m\u202eevil\u2066\u200f\x08"
    campaign = account.console.create_campaign(account.client_id, evil)["id"]
    lead = {
        "campaign_id": campaign,
        "phone": "+12125550177",
        "custom_fields": {"lead_source": evil},
    }
    (lead_id,) = account.console.add_leads(account.client_id, [lead])
    record = {"direction": "outbound", "status": "completed", "campaign_id": campaign,
              "lead_id": lead_id, "to_number": "+12125550177", "hangup_cause": evil}  # fmt: skip
    account.console.add_calls(account.client_id, [record])
    leads = tmp_path / "list\x1b[31m\u202e.csv"
    leads.write_text(f"name,phone,{evil}\n{evil},+12125550142,{evil}\n{evil},{evil},x\n")

    said = ""
    for arguments in (
        ["sync"],
        ["funnel", "--by", "lead_source"],
        ["funnel", "--by", "campaign_id"],
        ["store", "info"],
        ["audit", "--rules", "us-tsr-hours"],
        ["leads", "check", str(leads), "--region", "US"],
        ["leads", "clean", str(leads), "--region", "US", "--out", str(tmp_path / "out")],
        ["leads", "import", str(leads), "--campaign", evil, "--out", str(tmp_path / "out")],
        ["rules", "show", evil],
        ["export", evil],
    ):
        run(arguments)
        told = capsys.readouterr()
        raw = {character for character in told.out + told.err if _obeyed(character)}
        assert not raw, (arguments, raw)
        said += told.out + told.err
    assert "<U+202E>" in said
    assert "<U+001B>" in said


def _obeyed(character: str) -> bool:
    """Whether a terminal would do something on it."""
    return unicodedata.category(character) in ("Cc", "Cf") and character not in "\n\t"


def test_commands_work_without_a_home() -> None:
    """Compiler and drawing library get a place for the process alone, which goes with it."""
    code = (
        "import os\n"
        "from dialframe.cli.entry_point import _give_caches_a_place\n"
        "_give_caches_a_place()\n"
        "print(os.environ['NUMBA_CACHE_DIR'], os.environ['MPLCONFIGDIR'])\n"
        "from dialframe.phones import normalize\n"
        "print(normalize(['+12125550142'], region='US')['valid'][0])\n"
    )
    environment = {**os.environ, "HOME": "/proc/nowhere"}
    for name in ("NUMBA_CACHE_DIR", "MPLCONFIGDIR"):
        environment.pop(name, None)
    told = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    first, second, valid = told.stdout.split()
    assert first == second
    assert valid == "True"
    assert not Path(first).exists()
