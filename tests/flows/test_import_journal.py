"""The import journal says how far an import came, wherever its last write broke off."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from dialframe.errors import StoreError
from dialframe.flows.import_ledger import Journal

AT = datetime(2026, 9, 14, 12, tzinfo=UTC)
LEAD = {"file": "a.csv", "line": 2, "row": 1, "body": {"phone": "+12125550142"}}


def _begun(path: Path) -> Journal:
    book = Journal.open(path)
    book.begin(AT, {"campaign_id": "c", "source": "s"}, [{"batch": 0, "leads": [LEAD, LEAD]}])
    return book


def test_journal_reads_as_it_was_written(tmp_path: Path) -> None:
    """A journal in hand and the same one read from the disk agree."""
    book = _begun(tmp_path / "j")
    book.append("aside", AT, {"batch": 0, "leads": {1: "on_dnc"}})
    book.append("send", AT, {"batch": 0, "key": "k"})
    book.append("answer", AT, {"batch": 0, "key": "k", "results": []})
    again = Journal.open(tmp_path / "j")

    assert again == book
    assert again.sent(0) == [LEAD]
    assert again.standing(0).outcome == "answer"
    assert again.facts(0)["results"] == []


@pytest.mark.parametrize("cut", [1, 10, 40])
def test_line_that_broke_off_never_was(tmp_path: Path, cut: int) -> None:
    """A torn last line is taken away, and what follows is appended to whole lines."""
    book = _begun(tmp_path / "j")
    noted = (tmp_path / "j.head").read_bytes()
    book.append("send", AT, {"batch": 0, "key": "k"})
    whole = (tmp_path / "j").read_bytes()
    (tmp_path / "j").write_bytes(whole[:-cut])
    (tmp_path / "j.head").write_bytes(noted)
    torn = Journal.open(tmp_path / "j")

    assert torn.standing(0).key is None
    torn.append("send", AT, {"batch": 0, "key": "k"})
    assert (tmp_path / "j").read_bytes() == whole


def test_plan_that_broke_off_is_begun_anew(tmp_path: Path) -> None:
    """Without its last line a plan is no plan."""
    _begun(tmp_path / "j")
    (tmp_path / "j.head").unlink()
    lines = (tmp_path / "j").read_bytes().splitlines(keepends=True)
    (tmp_path / "j").write_bytes(b"".join(lines[:-1]))

    assert not Journal.open(tmp_path / "j").planned
    assert _begun(tmp_path / "j").planned


def test_second_sending_keeps_the_keys_first_instant(tmp_path: Path) -> None:
    """A key's day begins when it is first used."""
    book = _begun(tmp_path / "j")
    book.append("send", AT, {"batch": 0, "key": "k"})
    book.append("send", AT.replace(hour=20), {"batch": 0, "key": "k"})

    assert book.standing(0).sent_at == AT


@pytest.mark.parametrize("line", [b"{half\n", b"[]\n", b"{}\n", b'{"kind": "send"}\n'])
def test_damaged_line_is_named(tmp_path: Path, line: bytes) -> None:
    """What cannot be read in the middle stops everything, with its line number."""
    _begun(tmp_path / "j")
    lines = (tmp_path / "j").read_bytes().splitlines(keepends=True)
    (tmp_path / "j").write_bytes(b"".join([lines[0], line, *lines[1:]]))

    with pytest.raises(StoreError, match="line 2"):
        Journal.open(tmp_path / "j")


@pytest.mark.parametrize("harm", ["cut", "delete", "change"])
def test_sent_lines_that_are_gone_are_no_crash(tmp_path: Path, harm: str) -> None:
    """What was flushed and noted beside is missing or another: nothing is sent a second time."""
    book = _begun(tmp_path / "j")
    book.append("send", AT, {"batch": 0, "key": "k"})
    whole = (tmp_path / "j").read_bytes()
    (tmp_path / "j").unlink()
    if harm != "delete":
        content = whole.replace(b"0142", b"0143") if harm == "change" else whole[:-9]
        (tmp_path / "j").write_bytes(content)

    with pytest.raises(StoreError, match="missing or changed"):
        Journal.open(tmp_path / "j")
    (tmp_path / "j").write_bytes(whole)
    assert Journal.open(tmp_path / "j") == book
