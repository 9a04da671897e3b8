"""The log of tool calls."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dialframe.assistant import audit_log, offered_operations
from dialframe.contract import operations
from dialframe.evidence import EvidenceLog

AT = datetime(2026, 10, 1, 9, 30, tzinfo=UTC)
KEY = "svc_test_0123456789abcdef_secret"


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


def test_steps_are_records_of_the_evidence_log(tmp_path: Path) -> None:
    """By call and account, in order."""
    log = EvidenceLog(tmp_path)
    for outcome in ("asked", "sending", "done"):
        audit_log.write(log, "test-1", entry(outcome=outcome, key="k", request_id="req_1"))
    records = list(log.records(["assistant"], run="assistant-1"))
    assert [record.detail["outcome"] for record in records] == ["asked", "sending", "done"]
    assert {(each.at, each.list, each.source, each.request_id) for each in records} == {
        (AT, "test-1", "me", "req_1")
    }


def test_no_number_and_no_key_stands_in_it(tmp_path: Path) -> None:
    """Not even where a client puts one into its own name, or into that of a tool."""
    log = EvidenceLog(tmp_path)
    tool, client = f"{KEY}\n{{}}", "call 212-555-0142 \ud800"
    audit_log.write(log, "test-1", entry(tool=tool, client=client, words=f"no +12125550142 {KEY}"))
    text = log.path.read_text(encoding="utf-8")
    assert "5550142" not in text
    assert "555-0142" not in text
    assert "secret" not in text


def test_no_record_is_endless(tmp_path: Path) -> None:
    """Arguments without end are counted."""
    log = EvidenceLog(tmp_path)
    arguments = audit_log.brief({f"x{number:04}{'y' * 40}": 1 for number in range(2_000)}, {})
    audit_log.write(log, "test-1", entry(arguments=arguments))
    (record,) = log.records(["assistant"])
    assert record.detail["arguments"] == {"...": "(2000 arguments, too long to keep)"}


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
