"""Every write is on disk before it is sent, and what is on disk is nobody else's to read."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import stat
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from client.fakes import PHONE, START, on_disk
from dialframe.cli.entry_point import run
from dialframe.client import write_journal as journal_module
from dialframe.client.request_building import KEY_LIFE, PlannedRequest
from dialframe.client.write_journal import EVIDENCE, FILE_NAME, Journal
from dialframe.errors import ConfigError, StoreError
from forked import Forked

REQUEST = PlannedRequest(
    operation="sms.send", method="POST", path="/v1/sms", query="",
    headers={"Idempotency-Key": "k1", "Content-Type": "application/json"}, body=b'{"to":"+12125550142"}',
)  # fmt: skip


def keyed(key: str, body: bytes = b"{}") -> PlannedRequest:
    """The same request under another key."""
    return replace(REQUEST, headers={"Idempotency-Key": key}, body=body)


def test_nothing_is_made_before_the_first_write_and_then_for_the_owner_alone(
    tmp_path: Path,
) -> None:
    """Reading an empty journal leaves no trace; file and folder are 0600 and 0700."""
    folder = tmp_path / "state" / "journal"
    journal = Journal(folder, "a")

    assert journal.unsettled() == []
    assert journal.find("k1") is None
    assert not folder.parent.exists()
    journal.begin(REQUEST, START)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(journal.file.stat().st_mode) == 0o600


def test_entry_holds_the_request_byte_for_byte(tmp_path: Path) -> None:
    """It can be sent again as it was."""
    journal = Journal(tmp_path, "a")
    journal.begin(REQUEST, START)
    (write,) = journal.unsettled()

    assert write.request == REQUEST
    assert write.digest == REQUEST.digest
    assert (write.key, write.operation, write.state, write.created_at) == (
        "k1",
        "sms.send",
        "pending",
        START,
    )
    assert PHONE not in repr(write)


def begin_and_die(folder: Path) -> None:
    """Put a write down and end without another word."""
    Journal(folder, "a").begin(keyed("k9"), START)
    os._exit(9)


def test_entry_is_seen_by_another_process_and_by_no_other_account(tmp_path: Path) -> None:
    """What one process put down and did not live to finish another reads; keys are scoped to the API client."""
    assert Forked(begin_and_die, tmp_path).end()[0] == 9
    assert [write.key for write in Journal(tmp_path, "a").unsettled()] == ["k9"]
    assert Journal(tmp_path, "b").unsettled() == []
    assert Journal(tmp_path, "b").begin(keyed("k9", b"other"), START) is None


def test_settled_writes_leave_the_list_and_lose_their_bytes_in_time(tmp_path: Path) -> None:
    """Personal data goes when the key can no longer be asked with; the entry goes after 30 days."""
    journal = Journal(tmp_path, "a")
    journal.begin(REQUEST, START)
    journal.finish("k1", "answered", status=202, code=None, request_id="req_1")
    assert journal.unsettled() == []

    journal.begin(keyed("k2"), START + timedelta(hours=25))
    kept = journal.find("k1")
    assert kept is not None
    assert (kept.request, kept.state, kept.status, kept.request_id) == (
        None,
        "answered",
        202,
        "req_1",
    )
    assert PHONE.encode() not in on_disk(tmp_path)

    journal.begin(keyed("k3"), START + timedelta(days=31))
    assert journal.find("k1") is None
    assert [write.key for write in journal.unsettled()] == ["k2", "k3"]


def test_key_of_another_request_is_refused(tmp_path: Path) -> None:
    """The service would answer idempotency_conflict; it is not even asked."""
    journal = Journal(tmp_path, "a")
    journal.begin(REQUEST, START)

    with pytest.raises(ConfigError, match="belongs to another request"):
        journal.begin(keyed("k1", b"other"), START)


@pytest.mark.parametrize("state", ["pending", "answered", "outcome_unknown"])
def test_old_key_is_not_used_again_by_itself(tmp_path: Path, state: str) -> None:
    """After 24 hours the service has forgotten it, and sending it would be a second write."""
    journal = Journal(tmp_path, "a")
    journal.begin(REQUEST, START)
    journal.finish("k1", state, status=None, code=None, request_id=None)  # type: ignore[arg-type]

    assert journal.begin(REQUEST, START + KEY_LIFE - timedelta(seconds=1), late=True) == state
    with pytest.raises(ConfigError, match="24 hours"):
        journal.begin(REQUEST, START + KEY_LIFE)


def test_failed_write_may_begin_anew_under_its_key(tmp_path: Path) -> None:
    """It did not happen, so its key may live again, with its bytes."""
    journal = Journal(tmp_path, "a")
    journal.begin(REQUEST, START)
    journal.finish("k1", "failed", status=409, code="campaign_not_importable", request_id=None)
    later = START + timedelta(days=2)

    assert journal.begin(REQUEST, later) == "failed"
    (write,) = journal.unsettled()
    assert (write.created_at, write.state, write.request) == (later, "pending", REQUEST)


def test_what_is_no_folder_or_no_journal_is_said_and_left_alone(tmp_path: Path) -> None:
    """Where, and what next; a damaged file is not overwritten."""
    file = tmp_path / FILE_NAME
    file.write_bytes(b"not a database" * 100)

    with pytest.raises(
        StoreError, match=r"writes\.sqlite3 cannot be used .*: make its folder writable"
    ):
        Journal(file, "a").begin(REQUEST, START)
    with pytest.raises(StoreError, match="is not what was written"):
        Journal(tmp_path, "a").begin(REQUEST, START)
    assert file.read_bytes() == b"not a database" * 100


def test_request_without_key_has_no_entry(tmp_path: Path) -> None:
    """There would be nothing to ask with."""
    with pytest.raises(ConfigError, match="without an idempotency key"):
        Journal(tmp_path, "a").begin(replace(REQUEST, headers={}), START)


def test_default_folder_is_the_platforms_state_folder() -> None:
    """Beside other programs' state, under our own name."""
    folder = journal_module.default_folder()

    assert folder.parts[-2:] == ("dialframe", "journal")
    assert Journal(None, "a").file == folder / FILE_NAME


def test_commits_are_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite is told to wait for the disk at each commit."""
    seen: list[str] = []
    connect = sqlite3.connect

    def traced(*args: object, **kwargs: object) -> sqlite3.Connection:
        database = connect(*args, **kwargs)  # type: ignore[call-overload]
        database.set_trace_callback(seen.append)
        return database  # type: ignore[no-any-return]

    monkeypatch.setattr(sqlite3, "connect", traced)
    Journal(tmp_path, "a").begin(REQUEST, START)

    assert seen.index("PRAGMA synchronous = FULL") < seen.index("COMMIT")


def test_times_compare_as_text(tmp_path: Path) -> None:
    """Whole seconds and fractions, any zone: the oldest comes first."""
    journal = Journal(tmp_path, "a")
    moments = [START + timedelta(microseconds=n) for n in (1, 0, 500_000)]
    for moment in moments:
        journal.begin(keyed(str(moment)), moment.astimezone())

    created: list[datetime] = [write.created_at for write in journal.unsettled()]
    assert created == sorted(moments)


def test_a_wish_and_a_consent_stay_as_evidence_when_their_write_is_settled(tmp_path: Path) -> None:
    """Who asked not to be called is known after the write is long gone, until the number is forgotten."""
    journal = Journal(tmp_path, "a")
    for key, operation in (("k1", "dnc.add"), ("k2", "consents.record"), ("k3", "sms.send")):
        body = json.dumps({"phone": "+12025550123", "reason": "by letter"}).encode()
        write = replace(REQUEST, operation=operation, headers={"Idempotency-Key": key}, body=body)
        journal.begin(write, START)
        journal.finish(key, "answered", status=201, code=None, request_id=None)
    journal.begin(replace(REQUEST, headers={"Idempotency-Key": "k4"}), START + timedelta(days=90))

    kept = journal.evidence()

    assert [(each.operation, each.key, each.at) for each in kept] == [
        ("dnc.add", "k1", START), ("consents.record", "k2", START),
    ]  # fmt: skip
    assert kept[0].fields["reason"] == "by letter"
    assert "+12025550123" not in repr(kept)
    assert Journal(tmp_path, "another").evidence() == []
    journal.forget("+12025550123")
    assert journal.evidence() == []


WISH = PlannedRequest(
    operation="dnc.add", method="POST", path="/v1/dnc", query="",
    headers={"Idempotency-Key": "wish"}, body=b'{"phone":"+12125550142"}',
)  # fmt: skip


@pytest.mark.parametrize("harm", ["delete", "change", "old", "cut", "trigger"])
def test_a_harmed_journal_is_said_and_no_wish_is_lost(tmp_path: Path, harm: str) -> None:
    """Nothing is sent and no open write is taken for settled; mending keeps what can be read."""
    journal = Journal(tmp_path, "a")
    journal.begin(REQUEST, START)
    old = journal.file.read_bytes()
    journal.begin(WISH, START)
    journal.finish("wish", "answered", status=201, code=None, request_id="r")
    content = journal.file.read_bytes()
    if harm == "delete":
        journal.file.unlink()
    else:
        changed = {
            "change": content.replace(b"pending", b"pendinG"),
            "old": old,
            "cut": content[:5000],
            "trigger": content.replace(b"changes + 1, rows", b"changes + 1,\xffrows"),
        }
        journal.file.write_bytes(changed[harm])

    for read in (journal.unsettled, lambda: journal.find("k1")):
        with pytest.raises(StoreError, match="store repair"):
            read()
    assert [wish.key for wish in journal.evidence()] == ["wish"]
    assert journal.problems()[0].startswith(FILE_NAME)

    assert "1 wishes" in journal.mend()[0]
    assert journal.problems() == []
    assert [wish.fields["phone"] for wish in journal.evidence()] == [PHONE]
    assert journal.begin(keyed("k2"), START) is None
    journal.forget(PHONE)
    assert PHONE[1:].encode() not in on_disk(tmp_path)
    assert journal.problems() == journal.evidence() == []


def test_a_journal_of_before_and_one_without_a_wish_are_whole(tmp_path: Path) -> None:
    """An update counts what was there, and writes wishes a second time; a first note that a full disk left empty is none."""
    journal = Journal(tmp_path, "a")
    journal.begin(REQUEST, START)
    assert journal.problems() == []
    Path(f"{journal.file}.head").write_bytes(b"")
    journal.begin(WISH, START)
    kept = journal.evidence()
    assert [wish.key for wish in kept] == ["wish"]

    with closing(sqlite3.connect(journal.file)) as database:
        triggers = database.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'trigger'"
        ).fetchall()
        for (name,) in triggers:
            database.execute(f"DROP TRIGGER {name}")
        database.executescript("DROP TABLE held; PRAGMA user_version = 0")
    for beside in (EVIDENCE, f"{FILE_NAME}.head", f"../{tmp_path.name}.head"):
        (tmp_path / beside).unlink()

    assert journal.problems() == []
    assert journal.evidence() == kept
    assert [write.key for write in journal.unsettled()] == ["k1", "wish"]
    journal.file.unlink()
    assert journal.evidence() == kept


@pytest.mark.parametrize("emptied", [False, True])
def test_wishes_come_back_from_the_second_copy_alone(tmp_path: Path, *, emptied: bool) -> None:
    """The file is gone, or was begun anew, and nothing beside it says so but the log."""
    journal = Journal(tmp_path, "a")
    journal.begin(WISH, START)
    for path in (journal.file, Path(f"{journal.file}.head"), Path(f"{tmp_path}.head")):
        path.unlink()
    if emptied:
        journal.file.touch()

    assert journal.problems()
    journal.mend()
    assert journal.problems() == []
    assert [wish.key for wish in journal.evidence()] == ["wish"]


@pytest.mark.parametrize("old", [False, True])
def test_a_folder_that_is_deleted_or_old_is_said(tmp_path: Path, *, old: bool) -> None:
    """What the journal came to is noted beside its folder too; the sentence names a command that mends it."""
    folder, kept = tmp_path / "journal", tmp_path / "kept"
    journal = Journal(folder, "a")
    journal.begin(REQUEST, START)
    shutil.copytree(folder, kept)
    journal.begin(WISH, START)
    shutil.rmtree(folder)
    if old:
        kept.rename(folder)

    assert f"dialframe store repair --journal {folder}" in journal.problems()[0]
    with pytest.raises(StoreError, match="not what was written"):
        journal.begin(keyed("k2"), START)
    assert run(["store", "verify", "--journal", str(folder)]) == 3
    assert run(["store", "repair", "--journal", str(folder)]) == 0
    assert run(["store", "verify", "--journal", str(folder)]) == 0
    assert run(["store", "repair", "--journal", str(tmp_path / "none")]) == 2
    assert [write.key for write in journal.unsettled()] == ["k1"] * old
    assert journal.begin(keyed("k2"), START) is None


def test_a_second_copy_that_is_gone_is_written_anew(tmp_path: Path) -> None:
    """As is one of a journal from before there was one."""
    journal = Journal(tmp_path, "a")
    journal.begin(WISH, START)
    (tmp_path / EVIDENCE).unlink()

    assert [wish.key for wish in journal.evidence()] == ["wish"]
    assert journal.problems() == ["evidence.log: it is not what was written"]
    journal.begin(replace(WISH, headers={"Idempotency-Key": "second"}), START)
    assert journal.problems() == []
    journal.file.unlink()
    assert [wish.key for wish in journal.evidence()] == ["second", "wish"]


def test_a_journal_that_another_process_holds_is_not_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lock is no damage: the file stays, with all its writes."""
    monkeypatch.setattr(journal_module, "_BUSY_S", 0.01)
    journal = Journal(tmp_path, "a")
    journal.begin(REQUEST, START)
    kept = on_disk(tmp_path)
    with closing(sqlite3.connect(journal.file)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="another process"):
            journal.mend()
    assert on_disk(tmp_path) == kept
