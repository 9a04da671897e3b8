"""The command line answers in one sentence and with a status, whatever it is given."""

from __future__ import annotations

import os
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

import dialframe
from cli.commands import invoke


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
def test_unusable_lead_file_is_one_sentence(tmp_path: Path, content: bytes, words: str) -> None:
    """A file that is no lead list fails with status 1 and one sentence, and nothing is written."""
    file, out = tmp_path / "list.csv", tmp_path / "out"
    file.write_bytes(content)
    err = invoke("leads clean --region US", file, "--out", out, ends=1).err

    assert _one_sentence(err)
    assert "list.csv" in err
    assert words in err
    assert not out.exists() or not list(out.iterdir())


@pytest.mark.parametrize("name", ["missing.csv", "."], ids=["missing", "folder"])
def test_missing_file_and_folder_are_named(tmp_path: Path, name: str) -> None:
    """A path that is no file is named."""
    assert _one_sentence(invoke("leads check --region US", tmp_path / name, ends=1).err)


def test_clean_prints_one_object_that_balances(tmp_path: Path, samples: Path) -> None:
    """`leads clean --json` prints the counts, which add up, and the files, which exist."""
    file = samples / "leads" / "us_autumn_campaign.csv"
    facts = invoke("leads clean --json", file, "--region", "us", "--out", tmp_path, ends=3).facts
    parts = ("clean", "rejected", "duplicates", "do_not_call", "skipped")

    assert facts["records"] == sum(facts[part] for part in parts)
    assert all(Path(path).is_file() for path in facts["files"].values())


def test_missing_key_names_the_ways_to_give_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without a key the command line says where it is looked for."""
    monkeypatch.delenv("DIALFRAME_API_KEY", raising=False)
    err = invoke("sync --base-url http://127.0.0.1:9 --store", tmp_path, ends=2).err

    assert "DIALFRAME_API_KEY" in err


def test_wrong_key_is_refused_in_words(
    account: dialframe.sandbox.Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key that is not accepted ends with status 1, and the key is not shown."""
    monkeypatch.setenv("DIALFRAME_API_KEY", "svc_test_nobody_wrongsecret")
    err = invoke("sync", ends=1).err

    assert _one_sentence(err)
    assert "invalid_api_key" in err
    assert "wrongsecret" not in err


def test_unreachable_host_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A host where nobody answers is named, with status 1."""
    monkeypatch.setenv("DIALFRAME_API_KEY", "svc_test_some_secret")
    err = invoke("sync calls --base-url http://127.0.0.1:9 --store", tmp_path, ends=1).err

    assert _one_sentence(err)
    assert "127.0.0.1:9" in err


def test_missing_scope_is_named(
    account: dialframe.sandbox.Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client without the scope hears which scope it lacks."""
    client = account.console.create_client("bare", scopes=[])
    monkeypatch.setenv("DIALFRAME_API_KEY", client["api_key"])
    err = invoke("sync calls", ends=1).err

    assert "calls:read" in err


def test_account_is_read_exported_and_asked_about(
    account: dialframe.sandbox.Sandbox, tmp_path: Path
) -> None:
    """Sync, export and audit work one after the other on one store; `--check` asks about numbers first."""
    import pandas as pd

    synced = invoke("sync --json").facts
    assert synced["complete"] is True

    calls = tmp_path / "calls.parquet"
    assert (
        invoke("export calls --json --to", calls).facts["rows"]
        == len(pd.read_parquet(calls))
        == 1000
    )
    assert calls.stat().st_mode & 0o777 == 0o600

    assert invoke("audit --rules us-tsr-hours --max-age 31d --json", ends=3).facts["checks"]
    checks = invoke("export dnc_checks --json --to", tmp_path / "checks.csv")
    assert checks.facts["rows"] > 100


def test_import_reports_the_ledger_and_goes_on(
    account: dialframe.sandbox.Sandbox, tmp_path: Path, samples: Path
) -> None:
    """`leads import --json` balances, and the same command again sends nothing anew."""
    campaign = account.console.create_campaign(account.client_id, "import", status="draft")
    file = samples / "leads" / "us_autumn_campaign.csv"
    arguments = [
        "leads", "import", str(file), "--campaign", campaign["id"], "--region", "US",
        "--out", str(tmp_path / "out"), "--json", "--yes",
    ]  # fmt: skip

    first = invoke(*arguments).facts
    assert (
        first["sent"] == first["accepted"] + first["refused"] + first["unknown"] == first["clean"]
    )
    assert first["unknown"] == 0

    again = invoke(*arguments).facts
    assert {name: again[name] for name in ("sent", "accepted", "refused", "unknown")} == {
        name: first[name] for name in ("sent", "accepted", "refused", "unknown")
    }


def test_full_disk_leaves_nothing_half_written(
    tmp_path: Path, samples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the disk is full, no file stands under its final name."""
    import errno

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    file = samples / "leads" / "us_autumn_campaign.csv"

    assert _one_sentence(
        invoke("leads clean --region US", file, "--out", tmp_path / "out", ends=1).err
    )
    assert not list((tmp_path / "out").iterdir())


@pytest.fixture
def empty_account(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """The environment of somebody whose account holds nothing yet."""
    with dialframe.sandbox.start(size="empty") as started:
        monkeypatch.setenv("DIALFRAME_BASE_URL", started.base_url)
        monkeypatch.setenv("DIALFRAME_API_KEY", started.api_key)
        monkeypatch.setenv("DIALFRAME_STORE", str(tmp_path / "store"))
        yield


@pytest.mark.usefixtures("empty_account")
def test_empty_account_has_empty_answers() -> None:
    """An account without leads and calls is read and counted; an audit of no calls is a finding, not a pass."""
    invoke("sync")
    invoke("funnel")
    assert invoke("audit --json", ends=3).facts["verdict"].startswith("Nothing was checked")


@pytest.mark.usefixtures("empty_account")
def test_audit_of_what_was_never_read_is_refused() -> None:
    """No finding in no data is no result: before the first sync an audit ends with status 1."""
    err = invoke("audit --fail-on violation", ends=1).err

    assert _one_sentence(err)
    assert "dialframe sync" in err


@pytest.mark.usefixtures("empty_account")
def test_campaign_that_is_no_id_is_refused_before_anything(tmp_path: Path) -> None:
    """A campaign that is not there ends with status 2 and its name; nothing is read, asked or written."""
    out = tmp_path / "out"

    said = "there is no campaign 'nope'"
    invoke("leads import --region US list.csv --campaign nope --out", out, ends=2, err=said)
    assert not out.exists()


def test_header_in_brackets_is_shown_as_it_is(tmp_path: Path) -> None:
    """Text of a file is never taken for markup."""
    file = tmp_path / "list.csv"
    file.write_text("Phone [/work],Name\n(212) 555-0142,Ada\n")

    invoke("leads check --region US", file, out="[/work]")


def test_what_strangers_wrote_does_nothing_to_a_terminal(
    account: dialframe.sandbox.Sandbox, tmp_path: Path
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
        told = invoke(*arguments, ends=None)
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
