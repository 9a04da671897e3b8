"""What was refused for what can be mended is a lead file: read again, it gives the same leads."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from dialframe import leads
from dialframe.evidence import EvidenceLog
from dialframe.flows.import_ledger import Journal, Ledger
from leads.tables import inputs

AT = datetime(2026, 9, 14, 12, tzinfo=UTC)
BODIES: tuple[dict[str, Any], ...] = (
    {
        "phone": "+12125550142",
        "external_id": "=A1",
        "first_name": "Zoë",
        "last_name": "O'Hara",
        "email": "zoe@example.com",
        "custom_fields": {"City": "=cmd|' /C calc'!A0", "lead_source": "Trade fair", "Größe": "ü"},
    },
    {"phone": "+12125550143", "external_id": "2", "full_name": "Ada Lane", "custom_fields": {"City": "a\nb"}},
    {
        "phone": "+12125550144",
        "external_id": "3",
        "custom_fields": {"phone_other": "+12125550145", "phone_extension": "12"},
    },
)  # fmt: skip


def _book(folder: Path, *results: dict[str, Any]) -> Journal:
    """A journal of one batch with these results."""
    book = Journal(folder / "list.import.jsonl", EvidenceLog.beside(folder))
    leads = [
        {"file": "list.csv", "line": at + 2, "row": at + 1, "body": body}
        for at, body in enumerate(BODIES)
    ]
    book.begin(AT, "c", "s", [leads])
    book.send(0, AT, "k")
    book.close(0, AT, "answer", dict(enumerate(results)))
    return book


def test_file_gives_the_same_leads_again(tmp_path: Path) -> None:
    """Fields, custom fields and dangerous texts survive the way out and in."""
    refused = {"status": "failed", "reason": "not_stored"}
    book = _book(tmp_path, refused, refused, refused)
    path = tmp_path / "again.csv"
    path.write_bytes(leads.to_csv(Ledger(book).send_again()))

    assert [one.body for one in inputs(path)] == list(BODIES)


def test_file_says_what_was_wrong(tmp_path: Path) -> None:
    """Line, reason, field and value stand beside each lead."""
    book = _book(
        tmp_path,
        {"status": "invalid", "reason": "field_rule", "field": "custom_fields.City"},
        {"status": "accepted", "reason": None},
        {"status": "invalid", "reason": "invalid_phone", "field": "phone"},
    )
    found = Ledger(book).send_again()

    assert found["_line"].tolist() == ["2", "4"]
    assert found["_reason"].tolist() == ["field_rule", "invalid_phone"]
    assert found["_field"].tolist() == ["custom_fields.City", "phone"]
    assert found["_value"].tolist() == ["=cmd|' /C calc'!A0", "+12125550144"]


@pytest.mark.parametrize(
    "result",
    [
        {"status": "on_dnc", "reason": None},
        {"status": "duplicate", "reason": "duplicate_in_campaign"},
        {"status": "blocked_country", "reason": None},
        {"status": "accepted", "reason": None},
    ],
    ids=lambda result: str(result["status"]),
)
def test_what_cannot_be_mended_is_not_in_it(tmp_path: Path, result: dict[str, Any]) -> None:
    """Who must not be called, and who is there already, is not sent again."""
    book = _book(tmp_path, result, result, result)

    assert Ledger(book).send_again().empty


def test_import_reads_as_it_was_written(tmp_path: Path) -> None:
    """An import in hand and the same one read from the disk agree; a key's day begins when it is first used."""
    book = _book(tmp_path, {"status": "accepted", "lead_id": "lead_1"}, {"why": "two_results"})
    book.send(0, AT.replace(hour=20), "k")
    book.close(0, AT, "found", {1: {"status": "duplicate"}}, complete=False)
    again = Journal.open(tmp_path / "list.import.jsonl", EvidenceLog.beside(tmp_path))

    assert again.standing(0) == book.standing(0)
    assert again.standing(0).sent_at == AT
    assert again.batch(0) == book.batch(0)
    assert again.answers(0)[1]["status"] == "duplicate"
    assert Ledger(again).counts == {"sent": 3, "accepted": 1, "refused": 1, "unknown": 1}
