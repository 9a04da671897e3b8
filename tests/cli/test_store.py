"""`dialframe store`: what is deleted, published and given back, for people and for machines."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import dialframe
from cli.commands import invoke
from dialframe.client.request_building import PlannedRequest
from dialframe.client.write_journal import Journal
from dialframe.evidence import EvidenceLog
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
        invoke("sync calls leads --json")
        yield folder


def test_publishing_writes_what_is_new(folder: Path, tmp_path: Path) -> None:
    """The first time everything, the second time nothing."""
    first = invoke("store publish --json", tmp_path).facts["written"]
    again = invoke("store publish --json", tmp_path).facts["written"]

    assert first["calls"] > 100
    assert set(again.values()) == {0}
    invoke("store publish", tmp_path, out="0 versions written")


def test_pruning_says_what_it_deleted(folder: Path) -> None:
    """Only what is older, only in the tables asked for; a wrong age or table is refused in words."""
    deleted = invoke("store prune --older-than 2d --table calls --json").facts["deleted"]

    assert isinstance(deleted, dict)
    assert list(deleted) == ["calls"]
    assert deleted["calls"] > 100
    assert invoke("store prune --older-than 2d --table calls --json").facts["deleted"] == {
        "calls": 0
    }
    for wrong in (["--older-than", "soon"], ["--older-than", "2d", "--table", "nowhere"]):
        assert invoke("store prune", *wrong, ends=2).err.count("\n") == 1


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


def test_a_damaged_store_is_found_mended_backed_up_and_restored(
    folder: Path, tmp_path: Path
) -> None:
    """`verify` ends with 3 and names the file; `repair` and `restore` bring back what was there."""
    listed = folder / "evidence" / "log.jsonl"
    invoke("suppress add +12025550142 --source Ada")
    (store,) = [path for path in folder.iterdir() if (path / "store.sqlite").exists()]
    rows = invoke("store info --json").facts["rows"]
    made, evidence, *_ = invoke("store backup --json", tmp_path / "backups").facts["backups"]
    assert Path(made, "backup.json").exists()
    assert Path(evidence, listed.name).read_bytes() == listed.read_bytes()
    (store / "store.sqlite").unlink()

    invoke("store verify", ends=3, out="store.sqlite: it is missing or empty")
    invoke("store info", ends=1, err="dialframe store repair")
    invoke("store repair", out="rebuilt from the second copy")
    invoke("store verify")
    assert invoke("store info --json").facts["rows"] == rows

    invoke("store restore", tmp_path / "backups", ends=2, err="--replace")
    whole = listed.read_bytes()
    listed.unlink()
    head = store / "assistant.jsonl.head"
    head.write_text("cut")
    words = invoke("store verify", ends=3).out
    assert "lines that were written are missing at its end" in words
    assert f"{store.name}/assistant.jsonl: " in words
    head.unlink()
    listed.write_bytes(whole)
    invoke("store repair", out="nothing to repair")
    journal = Journal(EvidenceLog.beside(folder).folder, "account")
    journal.begin(WISH, datetime.now(UTC))
    invoke("suppress add +12025550143 --source Ada")
    listed.write_bytes(listed.read_bytes()[:99])
    invoke("suppress list", ends=1)
    assert invoke("store restore --replace --json", tmp_path / "backups").facts["restored"]
    invoke("suppress check +12025550142", ends=3)
    invoke("store verify")
    assert invoke("store info --json").facts["rows"] == rows


def test_what_is_lost_is_said_by_every_command_until_acknowledged(folder: Path) -> None:
    """Both copies of a part gone: each command says on standard error how many rows of which table."""
    invoke("store vacuum")
    (store,) = [path for path in folder.iterdir() if (path / "store.sqlite").exists()]
    part = next((store / "parts").glob("calls-*"))
    for path in (part, store / "copy" / "parts" / part.name):
        path.write_bytes(b"no part")
    invoke("export calls --to", folder / "calls.csv", ends=1)

    for _ in range(2):
        invoke("store info", ends=None, err="versions observed from")
    with dialframe.connect() as account:
        attrs = account.calls().attrs["dialframe"]
    assert attrs["complete"] is False
    assert "are missing" in attrs["sentence"]
    assert attrs["missing"]

    invoke("sync calls leads --json")
    evidence = EvidenceLog.beside(folder)
    Journal(evidence.folder, "account").begin(WISH, datetime.now(UTC))
    whole = evidence.path.read_bytes()
    evidence.path.write_bytes(whole[:99])
    # What must not be called is not known any more: nobody is judged by what is left of it.
    cut = "lines that were written are missing at its end"
    invoke("audit --rules us --json", ends=1, err=cut)
    with dialframe.connect() as account:
        attrs = account.leads().attrs["dialframe"]
    assert cut in attrs["beside"][0]
    assert cut in attrs["sentence"]
    assert attrs["complete"]
    evidence.path.write_bytes(whole)
    said = invoke("audit --rules us --json -o", folder / "pack", ends=None)
    written = b"".join(path.read_bytes() for path in (folder / "pack").rglob("*.json")).decode()
    for text in (said.out, said.err, written):
        assert "versions observed from" in text

    invoke("store repair --acknowledge")
    assert "missing" not in invoke("store info", ends=None).err


def test_what_only_the_register_of_outputs_knows_of_is_named(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store deleted with its note, and the journal of an import whose ledger is still here."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    ledger, other = tmp_path / "list.import.csv", tmp_path / "own.import.csv"
    ledger.write_text(",".join(COLUMNS) + "\n")
    other.write_text("name,phone\n")
    gone = folder / "test-0123456789abcdef"
    Outputs.of_this_user().add([ledger, other, log_of(gone).path], datetime.now(UTC))

    words = invoke("store verify", ends=3).out
    assert f"{gone}: the store is gone" in words
    assert f"{ledger}: its journal is gone" in words
    assert "outputs: 2 problems" in words
