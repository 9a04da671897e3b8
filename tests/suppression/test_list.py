"""The suppression list keeps every word ever said about a number, honors the last, and takes a command back."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import pytest

from dialframe.errors import ConfigError, StoreError
from dialframe.evidence import Record
from dialframe.suppression import Entry, SuppressionList, run_id

NOW = datetime(2026, 10, 3, 12, tzinfo=UTC)
LATER = NOW + timedelta(days=2)
DAY = date(2026, 10, 1)
ADA, BOB, CY = "+12025550142", "+12025550143", "+442079460123"


def entry(phone: str, **changes: object) -> Entry:
    """An opt-out of a list."""
    facts = {"reason": "opt_out", "source": "autumn.csv", "on": DAY} | changes
    return Entry(phone, **facts)  # type: ignore[arg-type]


@pytest.fixture
def suppressed(tmp_path: Path) -> SuppressionList:
    """An empty list."""
    return SuppressionList.beside(tmp_path / "store")


def test_an_empty_list_is_no_file_and_knows_nobody(suppressed: SuppressionList) -> None:
    assert suppressed.check([ADA]) == [None]
    assert (len(suppressed), list(suppressed.entries()), suppressed.runs()) == (0, [], [])
    assert not suppressed.path.exists()


def test_an_entry_comes_back_with_source_day_and_reason(suppressed: SuppressionList) -> None:
    assert suppressed.add([entry(ADA), entry(CY, reason="complaint")], NOW) == 2
    entries = suppressed.check([CY, BOB, ADA])
    assert [each and (each.phone, each.reason, each.source, each.on) for each in entries] == [
        (CY, "complaint", "autumn.csv", DAY),
        None,
        (ADA, "opt_out", "autumn.csv", DAY),
    ]
    assert entries[0] is not None
    assert entries[0].added_at == NOW
    again = entry(ADA, source="winter.csv")
    # A number is new once, and shown with its first word.
    assert suppressed.add([again, entry(BOB), replace(again, phone=BOB)], NOW) == 1
    assert [each.source for each in suppressed.entries()] == ["autumn.csv"] * 3
    # The same word of the same source is not written twice.
    before = suppressed.path.read_bytes()
    assert suppressed.add([entry(ADA), entry(BOB)], LATER) == 0
    assert suppressed.path.read_bytes() == before


def test_removing_asks_for_a_reason_and_keeps_the_history(suppressed: SuppressionList) -> None:
    suppressed.add([entry(ADA)], NOW)
    with pytest.raises(ConfigError, match="needs a reason"):
        suppressed.remove([ADA], reason=" ", source="Ada", now=NOW)
    assert suppressed.remove([ADA, BOB], reason="new consent", source="Ada", now=LATER) == 1
    assert suppressed.check([ADA]) == [None]
    assert [(each.action, each.reason, each.source) for each in suppressed.history(ADA)] == [
        ("add", "opt_out", "autumn.csv"),
        ("remove", "new consent", "Ada"),
    ]
    suppressed.add([entry(ADA, source="again.csv")], LATER)
    assert [each.source for each in suppressed.entries()] == ["again.csv"]


@pytest.mark.parametrize("text", [ADA, ADA[1:], ADA[2:], f"0{ADA[2:]}"])
def test_a_hash_and_a_number_meet(text: str, suppressed: SuppressionList) -> None:
    """Whether a list hashed the number with its sign, without it, national, or with a zero before it."""
    hashed = Entry(None, "registry", "hashes.csv", DAY, sha256(text.encode()).digest())
    assert suppressed.add([hashed], NOW) == 1
    assert suppressed.add([entry(ADA), entry(CY)], NOW) == 1
    assert [each and each.reason for each in suppressed.check([ADA, BOB])] == ["registry", None]
    barred = suppressed.barred()
    assert [int(phone) in barred for phone in (ADA, BOB, CY)] == [True, False, True]
    assert barred.met([int(ADA), int(BOB), int(CY)]) == 2
    # Whoever is taken off the list is off it by every name.
    assert suppressed.remove([ADA], reason="consent", source="Ada", now=LATER) == 1
    assert suppressed.check([ADA]) == [None]


def test_a_run_is_taken_back_and_what_others_said_stays(suppressed: SuppressionList) -> None:
    wrong, right = run_id(NOW), run_id(LATER)
    suppressed.add([entry(ADA), entry(BOB)], NOW, run=wrong)
    suppressed.add([entry(BOB, source="complaints.csv")], LATER, run=right)
    assert [(run.run, run.added, run.standing) for run in suppressed.runs()] == [
        (right, 1, 1),
        (wrong, 2, 2),
    ]
    assert suppressed.undo(wrong, reason="a wrong column", source="Ada", now=LATER) == 2
    assert suppressed.check([ADA]) == [None]
    assert [each.source for each in suppressed.entries()] == ["complaints.csv"]
    assert [run.standing for run in suppressed.runs()] == [1, 0]
    assert suppressed.undo(wrong, reason="again", source="Ada", now=LATER) == 0
    with pytest.raises(ConfigError, match="no run"):
        suppressed.undo("run-0", reason="again", source="Ada", now=LATER)
    assert suppressed.undo_source("complaints.csv", reason="test", source="Ada", now=LATER) == 1
    assert len(suppressed) == 0


def test_what_the_service_was_asked_or_said_holds_a_number_too(
    suppressed: SuppressionList,
) -> None:
    suppressed.log.append([
        Record("dnc_add", NOW, ADA, source="dnc.add", detail={"reason": "asked on the phone"}),
        Record("refusal", NOW, BOB, source="leads", detail={"reason": "status dnc"}),
    ])  # fmt: skip
    assert [each and each.kind for each in suppressed.check([ADA, BOB, CY])] == [
        "dnc_add",
        "refusal",
        None,
    ]
    assert suppressed.barred().met([int(ADA), int(BOB)]) == len(suppressed) == 2
    # Its own words are not sent to the service again.
    assert suppressed.unpushed() == []


def test_what_was_pushed_is_not_pushed_again(suppressed: SuppressionList) -> None:
    suppressed.add([entry(ADA), entry(BOB)], NOW)
    first, second = suppressed.unpushed()
    suppressed.pushed([first], NOW)
    assert suppressed.unpushed() == [second]
    suppressed.remove([ADA], reason="consent", source="Ada", now=LATER)
    suppressed.add([entry(ADA)], LATER + timedelta(hours=1))
    assert [each.phone for each in suppressed.unpushed()] == [BOB, ADA]


def test_a_forgotten_number_leaves_a_keyed_hash_and_stays_suppressed(
    suppressed: SuppressionList,
) -> None:
    suppressed.add([entry(ADA), entry(BOB)], NOW)
    suppressed.log.forget([ADA], NOW)
    content = suppressed.path.read_text()
    assert (ADA in content, BOB in content) == (False, True)
    (held,) = suppressed.check([ADA])
    assert held is not None
    assert (held.reason, held.source) == ("forgotten", "")
    assert int(ADA) in suppressed.barred()
    assert suppressed.add([entry(ADA)], NOW) == 0
    assert ADA not in suppressed.path.read_text()
    assert any(each.shown.startswith("forgotten:") for each in suppressed.entries())
    (suppressed.log.folder / "forgotten.key").unlink()
    with pytest.raises(StoreError, match=r"the key .* is missing"):
        suppressed.barred()


def test_numbers_are_masked_in_words(suppressed: SuppressionList) -> None:
    assert ADA not in repr(entry(ADA))
    with pytest.raises(ConfigError) as caught:
        entry("202 555 0142")
    assert "0142" not in str(caught.value).split(";")[0]


def test_an_addition_is_kept_whole_or_not_at_all(suppressed: SuppressionList) -> None:
    def broken() -> object:
        yield entry(ADA)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        suppressed.add(broken(), NOW)  # type: ignore[arg-type]
    assert suppressed.check([ADA]) == [None]
