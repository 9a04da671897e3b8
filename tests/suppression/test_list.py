"""The suppression list keeps every word ever said about a number, and honors the last."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import signal
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from dialframe.errors import ConfigError, StoreError
from dialframe.suppression import Entry, SuppressionList, digest_of, forget_key

NOW = datetime(2026, 10, 3, 12, tzinfo=UTC)
DAY = date(2026, 10, 1)
#: Faults in the suite; a thousand are run by hand before a release.
FAULTS = int(os.environ.get("FAULTS", "40"))
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
    assert len(suppressed) == 0
    assert list(suppressed.entries()) == []
    assert not suppressed.path.exists()


def test_an_entry_comes_back_with_source_day_and_reason(suppressed: SuppressionList) -> None:
    assert suppressed.add([entry(ADA), entry(CY, reason="complaint")], NOW) == 2
    found = suppressed.check([CY, BOB, ADA])
    assert [one and (one.phone, one.reason, one.source, one.on) for one in found] == [
        (CY, "complaint", "autumn.csv", DAY),
        None,
        (ADA, "opt_out", "autumn.csv", DAY),
    ]
    assert found[0] is not None
    assert found[0].added_at == NOW
    again = entry(ADA, source="winter.csv")
    # A number is added once and keeps its first word.
    assert suppressed.add([again, entry(BOB), replace(again, phone=BOB)], NOW) == 1
    assert [one.source for one in suppressed.entries()] == ["autumn.csv"] * 3


def test_removing_asks_for_a_reason_and_keeps_the_history(suppressed: SuppressionList) -> None:
    suppressed.add([entry(ADA)], NOW)
    with pytest.raises(ConfigError, match="needs a reason"):
        suppressed.remove([ADA], reason=" ", source="Ada", now=NOW)
    later = NOW + timedelta(days=2)
    assert suppressed.remove([ADA, BOB], reason="new consent", source="Ada", now=later) == 1
    assert suppressed.check([ADA]) == [None]
    history = suppressed.history(ADA)
    assert [(one.action, one.reason, one.source) for one in history] == [
        ("add", "opt_out", "autumn.csv"),
        ("remove", "new consent", "Ada"),
    ]
    suppressed.add([entry(ADA, source="again.csv")], later)
    assert [one.source for one in suppressed.entries()] == ["again.csv"]


def test_a_hash_and_a_number_meet(suppressed: SuppressionList) -> None:
    """A list of SHA-256 suppresses the number, and the same number is not added twice."""
    hashed = Entry(None, "registry", "hashes.csv", DAY, hashlib.sha256(ADA.encode()).digest())
    assert suppressed.add([hashed], NOW) == 1
    assert suppressed.add([entry(ADA)], NOW) == 0
    assert suppressed.check([ADA, BOB])[0] is not None
    suppressed.add([entry(CY)], NOW)
    barred = suppressed.barred()
    assert [int(phone) in barred for phone in (ADA, BOB, CY)] == [True, False, True]
    assert len(barred) == 2


def test_what_was_pushed_is_not_pushed_again(suppressed: SuppressionList) -> None:
    suppressed.add([entry(ADA), entry(BOB)], NOW)
    first, second = suppressed.unpushed()
    suppressed.pushed([first], NOW)
    assert suppressed.unpushed() == [second]
    suppressed.remove([ADA], reason="consent", source="Ada", now=NOW)
    suppressed.add([entry(ADA)], NOW)
    assert [one.phone for one in suppressed.unpushed()] == [BOB, ADA]


def test_a_forgotten_number_leaves_a_keyed_hash_and_stays_suppressed(tmp_path: Path) -> None:
    key = forget_key(tmp_path / "elsewhere" / "suppression.key")
    known = SuppressionList.beside(tmp_path, key=key)
    known.add([entry(ADA), entry(BOB)], NOW)
    assert known.forget(ADA, NOW) == 1
    content = known.path.read_bytes()
    for trace in (ADA.encode(), int(ADA).to_bytes(6, "big"), digest_of(ADA)):
        assert trace not in content
    assert int(BOB).to_bytes(6, "big").lstrip(b"\0") in content
    found = known.check([ADA])[0]
    assert found is not None
    assert (found.reason, found.source) == ("forgotten", "")
    assert int(ADA) in known.barred()
    assert known.add([entry(ADA)], NOW) == 0
    with pytest.raises(StoreError, match=r"the key .* is missing"):
        SuppressionList.beside(tmp_path).barred()


def test_forgetting_somebody_who_is_not_listed_suppresses_nobody(tmp_path: Path) -> None:
    known = SuppressionList.beside(tmp_path, key=b"k" * 32)
    known.add([entry(BOB)], NOW)
    assert known.forget(ADA, NOW) == 0
    assert known.check([ADA]) == [None]


def test_the_file_is_the_owners_alone(suppressed: SuppressionList) -> None:
    suppressed.add([entry(ADA)], NOW)
    assert stat.S_IMODE(suppressed.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(suppressed.path.parent.stat().st_mode) == 0o700


def test_numbers_are_masked_in_words(suppressed: SuppressionList) -> None:
    assert ADA not in repr(entry(ADA))
    with pytest.raises(ConfigError) as caught:
        entry("202 555 0142")
    assert "0142" not in str(caught.value).split(";")[0]


def test_two_damaged_copies_are_an_error_and_never_an_empty_list(
    suppressed: SuppressionList,
) -> None:
    suppressed.add([entry(ADA)], NOW)
    for path in (suppressed.path, suppressed.path.with_suffix(".log")):
        path.write_bytes(b"nonsense" * 1000)
    with pytest.raises(StoreError, match="cannot be used"):
        suppressed.barred()
    with pytest.raises(StoreError, match="cannot be used"):
        suppressed.add([entry(BOB)], NOW)
    assert suppressed.file.problems()


def test_a_list_of_which_both_copies_are_gone_or_old_is_an_error(tmp_path: Path) -> None:
    """Deleted, brought back from before the last word, or moved away with its folder: nobody takes it for empty."""
    store = tmp_path / "store"
    copies = [store / name for name in ("suppression.sqlite", "suppression.log")]
    known = SuppressionList.beside(store)
    known.add([entry(ADA)], NOW)
    before = [copy.read_bytes() for copy in copies]
    known.add([entry(BOB)], NOW)
    after = [copy.read_bytes() for copy in copies]

    def is_refused() -> None:
        again = SuppressionList.beside(store, key=b"k" * 32)
        for ask in (again.barred, lambda: again.check([BOB]), lambda: again.add([entry(ADA)], NOW),
                    lambda: again.forget(ADA, NOW), again.file.mend):  # fmt: skip
            with pytest.raises(StoreError, match="dialframe store restore"):
                ask()
        assert again.file.problems()

    for copy in copies:
        copy.unlink()
    is_refused()
    for copy, content in zip(copies, before, strict=True):
        copy.write_bytes(content)
    is_refused()
    shutil.rmtree(store)
    is_refused()
    store.mkdir(exist_ok=True)
    for copy, content in zip(copies, after, strict=True):
        copy.write_bytes(content)
    assert [found is not None for found in known.check([ADA, BOB])] == [True, True]
    assert known.file.problems() == []
    head = store / "suppression.sqlite.head"
    known.file.mend()
    harmed = bytearray(head.read_bytes())
    harmed[0] ^= 1
    head.write_bytes(harmed)
    assert known.file.problems() == ["suppression.sqlite.head: it is not what was written"]
    assert len(known) == 2
    known.file.mend()
    assert known.file.problems() == []


def test_one_fault_in_either_copy_changes_nothing_that_is_listed(tmp_path: Path) -> None:
    """A flip, a cut, a deletion, an old copy of the file or of its log: the other one mends it."""
    whole, old, harmed = (tmp_path / name for name in ("whole", "old", "harmed"))
    numbers = [f"+1202555{number:04d}" for number in range(100, 140)]
    known = SuppressionList.beside(whole, key=b"k" * 32)
    known.add([entry(phone) for phone in numbers[:20]], NOW)
    known.forget(numbers[0], NOW)
    shutil.copytree(whole, old)
    known.add([entry(phone) for phone in numbers[20:]], NOW)
    known.remove([numbers[5]], reason="consent", source="Ada", now=NOW)
    before = known.check(numbers), known.history(numbers[5]), len(known)
    assert known.file.problems() == []
    for seed in range(FAULTS):
        draw = random.Random(seed)
        shutil.rmtree(harmed, ignore_errors=True)
        (tmp_path / "harmed.head").unlink(missing_ok=True)
        shutil.copytree(whole, harmed)
        name = draw.choice(["suppression.sqlite", "suppression.log"])
        how = draw.choice(["flip", "cut", "delete", "old copy"])
        content = bytearray((harmed / name).read_bytes())
        if how == "flip":
            content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
        content = content[: draw.randrange(len(content))] if how == "cut" else content
        (harmed / name).write_bytes((old / name).read_bytes() if how == "old copy" else content)
        if how == "delete":
            (harmed / name).unlink()
        again = SuppressionList.beside(harmed, key=b"k" * 32)
        assert again.file.problems(), (seed, how, name)
        assert (again.check(numbers), again.history(numbers[5]), len(again)) == before, (seed, how)
        again.file.mend()
        assert again.file.problems() == [], (seed, how, name)
        assert again.add([entry("+12025550199")], NOW) == 1


def test_a_list_from_before_it_was_kept_twice_gets_its_second_copy(tmp_path: Path) -> None:
    known = SuppressionList.beside(tmp_path / "store")
    known.add([entry(ADA)], NOW)
    for head in tmp_path.rglob("*.head"):
        head.unlink()
    with closing(sqlite3.connect(known.path)) as older:
        older.execute("drop table chain")
        older.execute("pragma user_version = 1")
    known.path.with_suffix(".log").unlink()
    assert known.check([ADA])[0] is not None
    known.path.unlink()
    assert known.check([ADA])[0] is not None


def test_a_writer_killed_anywhere_leaves_a_list_that_is_whole(tmp_path: Path) -> None:
    """Killed before, within and after the commit: what was listed stays listed, and both copies agree."""
    for step in range(12):
        store = tmp_path / str(step)
        SuppressionList.beside(store).add([entry(ADA)], NOW)
        child = os.fork()
        if child == 0:
            kill_at(step)
            SuppressionList.beside(store).add([entry(BOB)], NOW)
            os._exit(0)
        os.waitpid(child, 0)
        left = SuppressionList.beside(store)
        assert left.check([ADA])[0] is not None
        assert left.add([entry(BOB)], NOW) in (0, 1)
        assert [found is not None for found in left.check([ADA, BOB])] == [True, True]
        assert left.file.problems() == []


def kill_at(step: int) -> None:
    """Let this process be killed at its so manieth flush or rename."""
    left = [step]

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def act(*given: Any, **named: Any) -> Any:
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left[0] -= 1
            return real(*given, **named)

        return act

    os.fsync = counted(os.fsync)  # type: ignore[assignment]
    os.truncate = counted(os.truncate)  # type: ignore[assignment]
    Path.replace = counted(Path.replace)  # type: ignore[method-assign]
    hashlib.file_digest = counted(hashlib.file_digest)  # type: ignore[assignment]


def test_an_addition_is_kept_whole_or_not_at_all(suppressed: SuppressionList) -> None:
    def broken() -> object:
        yield entry(ADA)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        suppressed.add(broken(), NOW)  # type: ignore[arg-type]
    assert suppressed.check([ADA]) == [None]


def test_notes_of_before_they_had_a_check_are_read(suppressed: SuppressionList) -> None:
    """They had half of the hash and a hash of that; what is older than they say is refused as ever."""
    suppressed.add([entry(ADA)], NOW)
    copies = [suppressed.path, suppressed.path.with_suffix(".log")]
    before = [copy.read_bytes() for copy in copies]
    suppressed.add([entry(BOB)], NOW)
    for head in suppressed.path.parent.parent.rglob("*.head"):
        number, digest, _ = head.read_text().split()
        half = digest[:32]
        rest = hashlib.sha256(f"{int(number)} {half}".encode()).hexdigest()[:32]
        head.write_text(f"{number} {half}{rest}\n")

    assert suppressed.file.problems() == []
    assert len(suppressed) == 2
    for copy, content in zip(copies, before, strict=True):
        copy.write_bytes(content)
    with pytest.raises(StoreError, match="cannot be used"):
        suppressed.barred()
