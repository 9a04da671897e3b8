"""The log of tool calls."""

from __future__ import annotations

import json
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from dialframe.assistant import audit_log, offered_operations
from dialframe.contract import operations

AT = datetime(2026, 10, 1, 9, 30, tzinfo=UTC)
KEY = "svc_test_0123456789abcdef_secret"
MISSING = "lines that were written are missing at its end"


def entry(**given: Any) -> audit_log.Entry:
    """An entry, with this in it."""
    facts = {
        "call": "assistant-1",
        "tool": "me",
        "client": "x 1",
        "arguments": {},
        "outcome": "done",
    }
    return audit_log.Entry(at=AT, **{**facts, **given})


def test_lines_are_appended_for_the_owner_alone(tmp_path: Path) -> None:
    """One object on a line, instants in UTC, mode 0600 from the first byte."""
    for outcome in ("asked", "sending", "done"):
        audit_log.write(tmp_path, entry(outcome=outcome))
    file = tmp_path / audit_log.FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert [line["outcome"] for line in lines] == ["asked", "sending", "done"]
    assert lines[0]["at"] == "2026-10-01T09:30:00.000+00:00"


def test_no_number_and_no_key_stands_in_it(tmp_path: Path) -> None:
    """Not even where a client puts one into its own name, or into that of a tool."""
    audit_log.write(
        tmp_path,
        entry(
            tool=f"{KEY}\n{{}}", client="call 212-555-0142 \ud800", words=f"no +12125550142 {KEY}"
        ),
    )
    text = (tmp_path / audit_log.FILE).read_text(encoding="utf-8")
    assert "5550142" not in text
    assert "555-0142" not in text
    assert "secret" not in text
    assert len(text.splitlines()) == 1


def test_arguments_keep_codes_and_lose_words() -> None:
    """Ids and days as they are, numbers masked, what somebody wrote as its length."""
    schema = offered_operations.definition(operations.BY_NAME["callbacks.create"]).input_schema
    lead = "lead_00000000-0000-4000-8000-000000000000"
    given = {"lead_id": lead, "scheduled_at": "2030-01-01T10:00:00Z", "notes": "call Ann"}
    assert audit_log.brief(given, schema) == {
        "lead_id": lead,
        "scheduled_at": "2030-01-01T10:00:00Z",
        "notes": "(8 characters)",
    }
    sms = offered_operations.definition(operations.BY_NAME["sms.send"]).input_schema
    assert audit_log.brief({"to": "+12125550142", "body": "Hello"}, sms) == {
        "to": "+121******42",
        "body": "(5 characters)",
    }


def test_where_data_goes_stands_whole_and_who_it_is_about_masked() -> None:
    """An address is what was agreed to; a person's number is found by the key of the write instead."""
    url = "https://2125550142.example/hook?for=+12125550143"
    webhook = offered_operations.definition(operations.BY_NAME["webhooks.update"]).input_schema
    webhook_id = "wh_00000000-0000-4000-8000-000000000000"
    told = audit_log.brief({"webhook_id": webhook_id, "url": url}, webhook)
    assert told == {"webhook_id": webhook_id, "url": url.replace("+12125550143", "+121******43")}
    start = offered_operations.definition(operations.BY_NAME["calls.start"]).input_schema
    assert audit_log.brief({"to": "+12125550142"}, start) == {"to": "+121******42"}


def test_long_lists_and_unknown_arguments_stay_small() -> None:
    """Whatever a client sends, a line stays a line."""
    checks = offered_operations.definition(operations.BY_NAME["dnc.check"]).input_schema
    phones = [f"+1212555{n:04}" for n in range(100, 200)]
    told = audit_log.brief({"phones": phones, "x" * 10_000: "y" * 10_000}, checks)
    assert told["phones"][-1] == "(90 more)"
    assert "5550100" not in json.dumps(told)
    assert len(json.dumps(told)) < 500


def test_a_cut_lost_or_old_log_is_said(tmp_path: Path) -> None:
    """Its chain says nothing of an end that is gone; the file beside it does."""
    path = tmp_path / audit_log.FILE
    for _ in range(3):
        audit_log.write(tmp_path, entry())
    whole = path.read_bytes()
    assert audit_log.problems(tmp_path) == []
    for content in (b"", whole[: whole.index(b"\n") + 1], whole[:-3]):
        path.write_bytes(content)
        assert any(line.startswith(MISSING) for line in audit_log.problems(tmp_path))
    for lost in (path, path.with_name(f"{path.name}.head")):
        lost.unlink()
        assert [line[: len(MISSING)] for line in audit_log.problems(tmp_path)] == [MISSING]


def test_what_was_lost_is_said_though_lines_were_written_since(tmp_path: Path) -> None:
    """Log and note deleted together, then as many lines again and more: it is another log."""
    folder = tmp_path / "store"
    folder.mkdir()
    for _ in range(2):
        audit_log.write(folder, entry())
    for path in folder.iterdir():
        path.unlink()
    (said,) = audit_log.problems(folder)
    assert said.startswith(MISSING)
    assert "store.assistant.jsonl.head" in said
    for _ in range(3):
        audit_log.write(folder, entry(call="later"))
        assert len(audit_log.problems(folder)) == 1
    (tmp_path / f"store.{audit_log.FILE}.head").unlink()
    assert audit_log.problems(folder) == []


def test_what_is_broken_off_or_too_long_breaks_no_chain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk takes the line back, the beginning of a killed writer's line goes, and no line is endless."""
    path = tmp_path / audit_log.FILE
    audit_log.write(tmp_path, entry())
    kept = path.read_bytes()
    with monkeypatch.context() as full:
        full.setattr(audit_log.Witness, "note", _refuse)
        with pytest.raises(OSError, match="full"):
            audit_log.write(tmp_path, entry())
    assert path.read_bytes() == kept
    path.write_bytes(kept + kept[:40])
    arguments = audit_log.brief({f"x{number:04}{'y' * 40}": 1 for number in range(2_000)}, {})
    for given in (entry(), entry(arguments=arguments), entry()):
        audit_log.write(tmp_path, given)

    assert audit_log.problems(tmp_path) == []
    assert len(path.read_bytes().splitlines()) == 4
    assert "2000 arguments" in path.read_text()


def _refuse(*_: object) -> None:
    raise OSError("the disk is full")
