"""`dialframe store`: what is deleted, published and given back, for people and for machines."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import dialframe
from cli.commands import invoke
from dialframe.evidence import EvidenceLog
from dialframe.flows.import_ledger import Journal


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a store that was synced once, with its account in the environment."""
    folder = tmp_path_factory.mktemp("store")
    with (
        dialframe.sandbox.start(size="tiny") as service,
        pytest.MonkeyPatch.context() as variables,
    ):
        variables.setenv("DIALFRAME_BASE_URL", service.base_url)
        variables.setenv("DIALFRAME_API_KEY", service.api_key)
        variables.setenv("DIALFRAME_STORE", str(folder))
        invoke("sync calls leads --json")
        yield folder


def test_publishing_writes_what_is_new(folder: Path, tmp_path: Path) -> None:
    """The first time everything, the second time nothing."""
    first = invoke("store publish --json", tmp_path).facts["written"]
    again = invoke("store publish --json", tmp_path).facts["written"]

    assert first["calls"] > 100
    assert set(again.values()) == {0}
    invoke("store publish", tmp_path, out="0 versions written")


def test_pruning_says_what_it_deleted(folder: Path, tmp_path: Path) -> None:
    """Only what is older, only in the tables asked for, and again from a backup of before; a wrong age is refused."""
    invoke("store backup", tmp_path)
    deleted = invoke("store prune --older-than 2d --table calls --json").facts["deleted"]

    assert isinstance(deleted, dict)
    assert list(deleted) == ["calls"]
    assert deleted["calls"] > 100
    again = invoke("store restore --replace --json", tmp_path).facts
    assert again["pruned"] == deleted["calls"]
    assert invoke("store prune --older-than 2d --table calls --json").facts["deleted"] == {
        "calls": 0
    }
    (first, _) = EvidenceLog.beside(folder).records(["pruned"])
    assert first.detail["deleted"] == deleted
    for wrong in (["--older-than", "soon"], ["--older-than", "2d", "--table", "nowhere"]):
        assert invoke("store prune", *wrong, ends=2).err.count("\n") == 1


def test_a_backup_is_made_as_often_as_the_firm_says(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where to and how often stands in the firm file; a younger backup is left as it is."""
    monkeypatch.chdir(tmp_path)
    invoke("store backup", ends=2, err="name a folder for backups")
    (tmp_path / "dialframe.toml").write_text('[backup]\nto = "backups"\nevery = "day"\n')
    assert invoke("store backup --json").facts["backups"]
    assert invoke("store backup --json").facts["backups"] == []
    for path in (tmp_path / "backups").glob("*/backup.json"):
        os.utime(path, (0, 0))
    assert invoke("store backup --json --every week").facts["backups"]
    assert invoke("store backup --json", tmp_path / "backups").facts["backups"]


def test_vacuum_says_what_it_gave_back(folder: Path) -> None:
    """Bytes before and after."""
    answer = invoke("store vacuum --json").facts

    assert isinstance(answer["size_bytes"], int)
    assert answer["size_bytes_before"] == pytest.approx(answer["size_bytes"], rel=5)
    invoke("store vacuum", out="bytes before")


def test_a_later_sync_brings_nothing_older_back(folder: Path) -> None:
    """What was pruned is listed by the service still, and not stored again."""
    tables = invoke("sync calls --json").facts["tables"]

    assert tables["calls"]["complete"]
    assert invoke("store prune --older-than 2d --table calls --json").facts["deleted"] == {
        "calls": 0
    }


def test_a_damaged_store_is_found_backed_up_and_restored(folder: Path, tmp_path: Path) -> None:
    """`verify` ends with 3 and names the file; `restore` brings back what was there, or the files that lack."""
    log = EvidenceLog.beside(folder).path
    invoke("suppress add +12025550142 --source Ada")
    invoke("store vacuum")
    (store,) = [path for path in folder.iterdir() if (path / "store.sqlite").exists()]
    rows = invoke("store info --json").facts["rows"]
    made, evidence = invoke("store backup --json", tmp_path / "backups").facts["backups"]
    assert Path(made, "backup.json").exists()
    assert Path(evidence, log.name).read_bytes() == log.read_bytes()
    invoke("store restore", tmp_path / "backups", ends=2, err="--replace")

    part = next((store / "parts").glob("leads-*"))
    part.write_bytes(part.read_bytes()[:-1] + b"?")
    invoke(
        "store verify", ends=3, out=f"{store.name}/parts/{part.name}: it is not what was written"
    )
    invoke("export leads --to", folder / "leads.csv", ends=1, err="dialframe store restore")
    invoke("store backup", tmp_path / "backups", ends=1, err="what is damaged")
    invoke("store restore", tmp_path / "backups", out="1 files brought back")
    invoke("store verify")

    whole = log.read_bytes()
    log.write_bytes(whole[:99])
    (store / "store.sqlite").unlink()
    words = invoke("store verify", ends=3).out
    assert "lines that were written are missing at its end" in words
    assert "store.sqlite: it is missing or empty" in words
    invoke("store info", ends=1, err="dialframe store restore")
    assert invoke("store restore --replace --json", tmp_path / "backups").facts["restored"]
    invoke("suppress check +12025550142", ends=3)
    invoke("store verify")
    assert invoke("store info --json").facts["rows"] == rows


def test_damaged_files_can_be_given_up_and_are_said_from_then_on(folder: Path) -> None:
    """Without a backup: the rest is used, each command says what is lost, and a sync brings what the service has."""
    invoke("store vacuum")
    (store,) = [path for path in folder.iterdir() if (path / "store.sqlite").exists()]
    rows = invoke("store info --json").facts["rows"]
    next((store / "parts").glob("leads-*")).write_bytes(b"no part")

    invoke("store verify --set-aside", ends=3, out="versions observed from")
    invoke("store verify")
    with dialframe.connect() as account:
        attrs = account.leads().attrs["dialframe"]
    assert attrs["complete"] is False
    assert "are lost with" in attrs["sentence"]
    invoke("sync leads --json", err="are lost with")
    assert invoke("store info --json").facts["rows"]["leads"] == rows["leads"]  # type: ignore[index]


def test_the_store_is_used_without_an_address_and_a_key(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What lies on this disk is looked at, counted and erased without the service; a bad number is said first."""
    monkeypatch.delenv("DIALFRAME_BASE_URL")
    monkeypatch.delenv("DIALFRAME_API_KEY")

    assert invoke("store info --json").facts["rows"]
    invoke("store verify")
    invoke("store forget 555", ends=2, err="is not a number in E.164")
    assert invoke("store forget +12025550199 --json", ends=None).facts["erased"] == 0
    monkeypatch.setenv("DIALFRAME_STORE", str(folder / "nothing"))
    invoke("store info", ends=2, err="no account is stored")


def test_an_import_whose_plan_is_gone_before_its_end_is_named(
    folder: Path, tmp_path: Path
) -> None:
    """What became of leads that were sent is not known, and the log says of which import."""
    log, now = EvidenceLog.beside(folder), datetime.now(UTC)
    journal = Journal(tmp_path / "list.import.jsonl", log)
    lead = {"file": "list.csv", "line": 2, "row": 1, "body": {"phone": "+12025550142"}}
    journal.begin(now, "c", "s", [[lead]])
    journal.send(0, now, "k")
    invoke("store verify")
    journal.path.rename(tmp_path / "elsewhere")

    assert f"{journal.path}: the plan of an import is gone" in invoke("store verify", ends=3).out
    (tmp_path / "elsewhere").rename(journal.path)
    journal.close(0, now, "refused", {0: {"why": "validation_failed"}})
    journal.path.unlink()
    invoke("store verify")
