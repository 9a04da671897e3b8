"""Every write is on disk before it is sent, and what is on disk is nobody else's to read."""

from __future__ import annotations

import json
import os
import shutil
import stat
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from client.fakes import PHONE, START, on_disk
from dialframe.cli.entry_point import run
from dialframe.client import Journal, PlannedRequest
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
    """Personal data goes when the key can no longer be asked with; what became of it is evidence."""
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
    # Those of a write that nobody settled go too; that it is open is known.
    journal.begin(keyed("k3"), START + timedelta(days=31))
    assert list((tmp_path / "open").iterdir()) == [journal._bytes_of("a", "k3")]
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

    assert journal.begin(REQUEST, START + timedelta(hours=24, minutes=-6), late=True) == state
    with pytest.raises(ConfigError, match="24 hours"):
        journal.begin(REQUEST, START + timedelta(hours=24))


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
    file = tmp_path / "log.jsonl"
    Journal(tmp_path, "a").begin(REQUEST, START)
    (tmp_path / "index.sqlite").unlink(missing_ok=True)
    harmed = file.read_bytes().replace(b"pending", b"pendinG")
    file.write_bytes(harmed)

    with pytest.raises(StoreError, match=r"log\.jsonl cannot be written .*nothing was changed"):
        Journal(file, "a").begin(REQUEST, START)
    with pytest.raises(StoreError, match="is not what was written"):
        Journal(tmp_path, "a").begin(REQUEST, START)
    assert "dialframe store repair" in Journal(tmp_path, "a").problems()[0]
    assert file.read_bytes() == harmed


def test_bytes_that_were_changed_are_never_sent(tmp_path: Path) -> None:
    """The service would take them for the write that they are not."""
    journal = Journal(tmp_path, "a")
    journal.begin(REQUEST, START)
    (path,) = (tmp_path / "open").iterdir()
    path.write_text(path.read_text().replace("0142", "0143"))
    (write,) = journal.unsettled()

    assert write.request is None
    assert "dismiss" in journal.problems()[0]
    path.write_text("{")
    assert journal.unsettled()[0].request is None
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_request_without_key_has_no_entry(tmp_path: Path) -> None:
    """There would be nothing to ask with."""
    with pytest.raises(ConfigError, match="without an idempotency key"):
        Journal(tmp_path, "a").begin(replace(REQUEST, headers={}), START)


def test_a_write_waits_for_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bytes first, then that they are about to be sent; each before `begin` comes back."""
    synced: list[bytes] = []
    fsync = os.fsync

    def traced(file: int) -> None:
        synced.append(Path(f"/proc/self/fd/{file}").readlink().name.encode())
        fsync(file)

    monkeypatch.setattr(os, "fsync", traced)
    Journal(tmp_path, "a").begin(REQUEST, START)

    assert [name for name in synced if b"." in name][-1] == b"log.jsonl"
    assert any(name.endswith(b".tmp") for name in synced)


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

    kept = list(journal.log.records(["dnc_add", "consent"]))

    assert [(each.kind, each.source, each.run, each.at) for each in kept] == [
        ("dnc_add", "dnc.add", "k1", START), ("consent", "consents.record", "k2", START),
    ]  # fmt: skip
    assert kept[0].detail["reason"] == "by letter"
    assert "+12025550123" not in repr(kept)
    journal.forget("+12025550123", START)
    assert [each.number for each in journal.log.records(["dnc_add"])] != ["+12025550123"]
    assert b"2025550123" not in on_disk(tmp_path)


def test_the_journal_of_an_account_moves_with_its_store(tmp_path: Path) -> None:
    """Open writes and wishes are known wherever the folder is."""
    Journal(tmp_path / "here", "a").begin(REQUEST, START)
    shutil.move(tmp_path / "here", tmp_path / "there")
    assert [write.request for write in Journal(tmp_path / "there", "a").unsettled()] == [REQUEST]
    assert run(["store", "verify", "--journal", str(tmp_path / "there")]) == 0
    assert run(["store", "verify", "--journal", str(tmp_path / "here")]) == 2
