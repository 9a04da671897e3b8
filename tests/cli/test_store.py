"""`dialframe store`: what is deleted, published and given back, for people and for machines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import dialframe
from dialframe.cli.entry_point import run
from dialframe.client.request_building import PlannedRequest
from dialframe.client.write_journal import EVIDENCE, Journal
from dialframe.files import Outputs
from dialframe.flows.import_ledger import COLUMNS
from dialframe.store.files.change_log import log_of

WISH = PlannedRequest(
    operation="dnc.add", method="POST", path="/v1/dnc", body=b'{"phone":"+12025550142"}',
    headers={"Idempotency-Key": "k"},
)  # fmt: skip


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
        assert run(["sync", "calls", "leads", "--json"]) == 0
        yield folder


def told(capsys: pytest.CaptureFixture[str], *command: str) -> dict[str, object]:
    """What a command of `store` answers to machines."""
    capsys.readouterr()
    assert run(["store", *command, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert isinstance(answer, dict)
    return answer


def test_publishing_writes_what_is_new(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first time everything, the second time nothing."""
    first = told(capsys, "publish", str(tmp_path))["written"]
    again = told(capsys, "publish", str(tmp_path))["written"]

    assert isinstance(first, dict)
    assert first["calls"] > 100
    assert isinstance(again, dict)
    assert set(again.values()) == {0}
    assert run(["store", "publish", str(tmp_path)]) == 0
    assert "0 versions written" in capsys.readouterr().out


def test_pruning_says_what_it_deleted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only what is older, only in the tables asked for; a wrong age or table is refused in words."""
    deleted = told(capsys, "prune", "--older-than", "2d", "--table", "calls")["deleted"]

    assert isinstance(deleted, dict)
    assert list(deleted) == ["calls"]
    assert deleted["calls"] > 100
    assert told(capsys, "prune", "--older-than", "2d", "--table", "calls")["deleted"] == {
        "calls": 0
    }
    for wrong in (["--older-than", "soon"], ["--older-than", "2d", "--table", "nowhere"]):
        assert run(["store", "prune", *wrong]) == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_vacuum_says_what_it_gave_back(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Bytes before and after."""
    answer = told(capsys, "vacuum")

    assert isinstance(answer["size_bytes"], int)
    assert answer["size_bytes_before"] == pytest.approx(answer["size_bytes"], rel=5)
    assert run(["store", "vacuum"]) == 0
    assert "bytes before" in capsys.readouterr().out


def test_a_later_sync_brings_nothing_older_back(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was pruned is listed by the service still, and not stored again."""
    assert run(["sync", "calls", "--json"]) == 0
    tables = json.loads(capsys.readouterr().out)["tables"]

    assert tables["calls"]["complete"]
    assert told(capsys, "prune", "--older-than", "2d", "--table", "calls")["deleted"] == {
        "calls": 0
    }


def test_a_damaged_store_is_found_mended_backed_up_and_restored(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`verify` ends with 3 and names the file; `repair` and `restore` bring back what was there."""
    listed = folder / "suppression.sqlite", folder / "suppression.log"
    assert run(["suppress", "add", "+12025550142", "--source", "Ada"]) == 0
    capsys.readouterr()
    (store,) = [path for path in folder.iterdir() if (path / "store.sqlite").exists()]
    rows = told(capsys, "info")["rows"]
    made, beside = told(capsys, "backup", str(tmp_path / "backups"))["backups"]  # type: ignore[misc]
    assert Path(made, "backup.json").exists()
    assert {path.name for path in Path(beside).iterdir()} >= {
        "suppression.sqlite", "suppression.log", "backup.json",
    }  # fmt: skip
    (store / "store.sqlite").unlink()

    assert run(["store", "verify"]) == 3
    assert "store.sqlite: it is missing or empty" in capsys.readouterr().out
    assert run(["store", "info"]) == 1
    assert "dialframe store repair" in capsys.readouterr().err
    assert run(["store", "repair"]) == 0
    assert "rebuilt from the second copy" in capsys.readouterr().out
    assert run(["store", "verify"]) == 0
    assert told(capsys, "info")["rows"] == rows

    assert run(["store", "restore", str(tmp_path / "backups")]) == 2
    assert "--replace" in capsys.readouterr().err
    listed[0].unlink()
    journal = Journal(folder / "journal", "account")
    journal.begin(WISH, datetime.now(UTC))
    journal.file.unlink()
    head = store / "assistant.jsonl.head"
    head.write_text("cut")
    assert run(["store", "verify"]) == 3
    words = capsys.readouterr().out
    assert "suppression/suppression.sqlite: it is missing" in words
    assert "journal/writes.sqlite3: the write journal" in words
    assert f"{store.name}/assistant.jsonl: " in words
    head.unlink()
    assert run(["store", "repair"]) == 0
    assert "and 1 wishes and consents" in capsys.readouterr().out
    assert [wish.key for wish in journal.evidence()] == ["k"]
    assert run(["suppress", "add", "+12025550143", "--source", "Ada"]) == 0
    for path in listed:
        path.write_bytes(path.read_bytes()[:99])
    assert run(["suppress", "list"]) == 1
    capsys.readouterr()
    assert told(capsys, "restore", str(tmp_path / "backups"), "--replace")["restored"]
    assert run(["suppress", "check", "+12025550142"]) == 3
    assert run(["store", "verify"]) == 0
    capsys.readouterr()
    assert told(capsys, "info")["rows"] == rows


def test_what_is_lost_is_said_by_every_command_until_acknowledged(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both copies of a part gone: each command says on standard error how many rows of which table."""
    assert run(["store", "vacuum"]) == 0
    (store,) = [path for path in folder.iterdir() if (path / "store.sqlite").exists()]
    part = next((store / "parts").glob("calls-*"))
    for path in (part, store / "copy" / "parts" / part.name):
        path.write_bytes(b"no part")
    assert run(["export", "calls", "--to", str(folder / "calls.csv")]) == 1

    for _ in range(2):
        capsys.readouterr()
        run(["store", "info"])
        assert "versions observed from" in capsys.readouterr().err
    with dialframe.connect() as account:
        attrs = account.calls().attrs["dialframe"]
    assert attrs["complete"] is False
    assert "are missing" in attrs["sentence"]
    assert attrs["missing"]

    assert run(["sync", "calls", "leads", "--json"]) == 0
    Journal(folder / "journal", "account").begin(WISH, datetime.now(UTC))
    (folder / "journal" / EVIDENCE).unlink()
    capsys.readouterr()
    run(["audit", "--rules", "us", "-o", str(folder / "pack"), "--json"])
    said = capsys.readouterr()
    written = b"".join(path.read_bytes() for path in (folder / "pack").rglob("*.json")).decode()
    for words in ("versions observed from", f"{EVIDENCE}: it is not what was written"):
        assert words in said.out
        assert words in said.err
        assert words in written
    with dialframe.connect() as account:
        attrs = account.leads().attrs["dialframe"]
    assert EVIDENCE in attrs["beside"][0]
    assert EVIDENCE in attrs["sentence"]
    assert attrs["complete"]

    assert run(["store", "repair", "--acknowledge"]) == 0
    capsys.readouterr()
    run(["store", "info"])
    assert "missing" not in capsys.readouterr().err


def test_what_only_the_register_of_outputs_knows_of_is_named(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A store deleted with its note, and the journal of an import whose ledger is still here."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    ledger, other = tmp_path / "list.import.csv", tmp_path / "own.import.csv"
    ledger.write_text(",".join(COLUMNS) + "\n")
    other.write_text("name,phone\n")
    gone = folder / "test-0123456789abcdef"
    Outputs.of_this_user().add([ledger, other, log_of(gone).path], datetime.now(UTC))

    assert run(["store", "verify"]) == 3
    words = capsys.readouterr().out
    assert f"{gone}: the store is gone" in words
    assert f"{ledger}: its journal is gone" in words
    assert "outputs: 2 problems" in words
