"""The evidence log loses nothing that it promised, notices what was changed, and answers with the newest word."""

from __future__ import annotations

import os
import random
import resource
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from multiprocessing import get_context
from pathlib import Path

import pytest

from dialframe.errors import ConfigError, StoreError
from dialframe.evidence import EvidenceLog, Kind, NumberFacts, Record, hashed

NOW = datetime(2026, 10, 3, 12, tzinfo=UTC)
DAY = timedelta(days=1)
ADA, BOB, CY = "+12025550142", "+12025550143", "+442079460123"
#: Faults in the suite; a thousand are run by hand before a release.
FAULTS = int(os.environ.get("FAULTS", "200"))


def made(kind: Kind, number: str | None = ADA, days: float = 0, **more: object) -> Record:
    """A record, some days from now."""
    return Record(kind, NOW + days * DAY, number, **more)  # type: ignore[arg-type]


@pytest.fixture
def log(tmp_path: Path) -> EvidenceLog:
    """The log beside an empty store."""
    return EvidenceLog.beside(tmp_path / "store")


@contextmanager
def disk_of(size_bytes: int) -> Iterator[None]:
    """No file grows beyond this, as on a full disk; what fits of a write is written."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_reading_an_empty_log_makes_nothing(log: EvidenceLog) -> None:
    assert log.latest([ADA]) == {ADA: NumberFacts()}
    assert (list(log.records()), log.verify(), log.append([])) == ([], [], 0)
    assert not log.path.exists()
    assert not log.exists


def test_a_record_comes_back_as_it_was(log: EvidenceLog) -> None:
    records = [
        made("consent", source="web\u2028form\n", list="autumn", who="Ada", request_id="req_1", run="r1",
             detail={"text": "yes \udc80", "at": 1}),
        made("audit", None),
        made("suppression", hashed(BOB)),
    ]  # fmt: skip
    assert log.append(records) == 3
    assert list(EvidenceLog.open(log.folder).records()) == records
    assert [stat.S_IMODE(path.stat().st_mode) for path in (log.path, log.folder)] == [0o600, 0o700]
    assert "0142" not in repr(made("check"))
    assert list(log.records(["audit", "suppression"], newest_first=True)) == records[:0:-1]
    assert list(log.records(since=NOW, until=NOW)) == []
    assert list(log.records(run="r1", numbers=[ADA])) == records[:1]


@pytest.mark.parametrize(
    "arguments", [("nothing", NOW), ("check", NOW.replace(tzinfo=None)), ("check", NOW, "12"), ("check", NOW, "sha256:0")]
)  # fmt: skip
def test_what_is_no_record_is_refused(arguments: tuple[object, ...]) -> None:
    with pytest.raises(ConfigError):
        Record(*arguments)  # type: ignore[arg-type]


#: What was written of one number, day by day, and what holds it at the end (None: nothing).
STANDING: dict[str, tuple[list[Record], str | None]] = {
    "an answer of the service prohibits nothing": ([made("check", detail={"listed": False})], None),
    "a listed number is held": ([made("check", detail={"listed": True})], "check"),
    "the service's last answer counts": (
        [made("check", days=1, detail={"listed": False}), made("check", detail={"listed": True})],
        None,
    ),
    "a person takes back no word of the service": (
        [made("check", detail={"listed": True}), made("suppression_undone", days=1)],
        "check",
    ),
    "not listed does not take a wish back": (
        [made("dnc_add"), made("check", days=1, detail={"listed": False})],
        "dnc_add",
    ),
    "an old answer does not outlive a wish": (
        [made("check", detail={"listed": False}), made("refusal", days=1)],
        "refusal",
    ),
    "the newest prohibition is named": ([made("dnc_add"), made("suppression", days=1)], "suppression"),
    "a person takes all of it back": (
        [made("dnc_add"), made("suppression"), made("suppression_undone", days=1)],
        None,
    ),
    "and it is asked for again": (
        [made("suppression"), made("suppression_undone", days=1), made("suppression", days=2)],
        "suppression",
    ),
    "what was taken back before it was said stays": (
        [made("suppression", days=2), made("suppression_undone", days=1)],
        "suppression",
    ),
    "undoing a run undoes no other": (
        [
            made("suppression", run="a"),
            made("suppression", run="b"),
            made("suppression_undone", days=1, detail={"undoes": "b"}),
        ],
        "suppression",
    ),
    "undoing the run that said it": (
        [made("suppression", run="b"), made("suppression_undone", days=1, detail={"undoes": "b"})],
        None,
    ),
    "undoing a source": (
        [
            made("suppression", source="a.csv"),
            made("suppression_undone", days=1, detail={"undoes": "a.csv"}),
        ],
        None,
    ),
    "undoing another source": (
        [
            made("suppression", source="a.csv"),
            made("suppression_undone", days=1, detail={"undoes": "b.csv"}),
        ],
        "suppression",
    ),
    "a hash with its sign": ([made("suppression", hashed(ADA))], "suppression"),
    "a hash without": ([made("suppression", hashed(ADA[1:]))], "suppression"),
    "a national hash": ([made("suppression", hashed(ADA[2:]))], "suppression"),
    "a national hash with a zero": ([made("suppression", hashed(f"0{ADA[2:]}"))], "suppression"),
    "of another number": ([made("suppression", BOB), made("suppression", hashed(CY))], None),
    "a consent takes no wish back": ([made("suppression"), made("consent", days=1)], "suppression"),
}  # fmt: skip


@pytest.mark.parametrize("case", STANDING)
def test_the_newest_wish_that_nobody_took_back_holds_a_number(case: str, log: EvidenceLog) -> None:
    records, held = STANDING[case]
    log.append(records)
    facts = log.latest([ADA, CY[:-1]])
    assert facts[CY[:-1]] == NumberFacts()
    assert (facts[ADA].prohibition and facts[ADA].prohibition.kind) == held
    # At an instant before any of it nothing was known.
    assert log.latest([ADA], NOW - DAY)[ADA] == NumberFacts()


def test_a_question_about_the_past_is_answered_as_of_then(log: EvidenceLog) -> None:
    log.append([made("suppression"), made("suppression_undone", days=2), made("consent", days=3)])
    facts = [log.latest([ADA], NOW + days * DAY)[ADA] for days in (1, 2, 4)]
    assert [bool(fact.prohibition) for fact in facts] == [True, False, False]
    assert [bool(fact.consent) for fact in facts] == [False, False, True]
    assert [len(list(log.standing(at=NOW + days * DAY))) for days in (1, 4)] == [1, 0]


@pytest.mark.parametrize("first", [True, False], ids=["the first write", "a later write"])
def test_a_kill_anywhere_in_a_write_leaves_what_was_before(first: bool, tmp_path: Path) -> None:
    """A killed write leaves some first bytes of a batch: each of 200 lengths is a log that works."""
    draw = random.Random(20261003)
    log = EvidenceLog.open(tmp_path / "whole")
    before = 0 if first else log.append([made("suppression", CY)])
    start, head = (
        (0, b"") if first else (log.path.stat().st_size, (log.folder / "head").read_bytes())
    )
    log.append([made("suppression"), made("dnc_add", BOB)])
    content = log.path.read_bytes()
    for number in range(FAULTS):
        cut = draw.randrange(start, len(content))
        left = EvidenceLog.open(tmp_path / f"{number}")
        left.folder.mkdir()
        left.path.write_bytes(content[:cut])
        if head:
            (left.folder / "head").write_bytes(head)
        assert left.verify() == []
        assert left.latest([ADA, CY])[ADA].prohibition is None
        assert bool(left.latest([CY])[CY].prohibition) is not first
        assert left.append([made("suppression")]) == 1
        assert left.latest([ADA])[ADA].prohibition is not None
        assert len(list(left.records())) == before + 1
        assert left.verify() == []


@pytest.mark.parametrize("first", [True, False], ids=["the first write", "a later write"])
def test_a_full_disk_changes_nothing(first: bool, tmp_path: Path) -> None:
    draw = random.Random(3)
    log = EvidenceLog.open(tmp_path)
    if not first:
        log.append([made("suppression", CY)])
    records = [made("suppression", source="x" * 3000), made("dnc_add", BOB, source="y" * 3000)]
    start = 0 if first else log.path.stat().st_size
    before = log.path.read_bytes() if start else b""
    for _ in range(FAULTS):
        with (
            disk_of(draw.randrange(start, start + 6000)),
            pytest.raises(StoreError, match="nothing was changed"),
        ):
            log.append(records)
        assert (log.path.read_bytes() if log.path.exists() else b"") == before
    assert log.verify() == []
    assert log.append(records) == 2
    assert [bool(facts.prohibition) for facts in log.latest([ADA, BOB]).values()] == [True, True]


def test_a_changed_byte_is_noticed_or_changes_nothing(tmp_path: Path) -> None:
    """Of log, head, key and index: `verify` names the fault, or every answer is as before."""
    draw = random.Random(5)
    log = EvidenceLog.open(tmp_path / "whole")
    for number in range(5):
        log.append(
            [
                made("suppression", f"+1202555010{number}"),
                made("check", ADA, detail={"listed": False}),
            ]
        )
    log.append([made("suppression"), made("suppression", BOB)])
    log.forget([BOB], NOW)
    asked = [ADA, BOB, CY, *(f"+1202555010{number}" for number in range(6))]
    right = log.latest(asked)
    files = sorted(path.name for path in log.folder.iterdir() if path.stat().st_size)
    assert {"head", "index.sqlite", "log.jsonl", "forgotten.key"} <= set(files)
    noticed = 0
    for number in range(FAULTS):
        harmed = EvidenceLog.open(tmp_path / f"{number}")
        shutil.copytree(log.folder, harmed.folder)
        path = harmed.folder / files[number % len(files)]
        data = bytearray(path.read_bytes())
        if draw.random() < 0.3:
            del data[draw.randrange(len(data)) :]
        else:
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        path.write_bytes(data)
        problems = harmed.verify()
        noticed += bool(problems)
        if problems:
            harmed.repair()
        else:
            assert harmed.latest(asked) == right, (path, number)
    assert noticed > FAULTS // 4
    (tmp_path / "whole" / "log.jsonl").unlink()
    with pytest.raises(StoreError, match="store restore"):
        EvidenceLog.open(log.folder).latest([ADA])


def test_repair_keeps_what_can_be_read(log: EvidenceLog) -> None:
    for number in (ADA, BOB, CY):
        log.append([made("suppression", number)])
    data = log.path.read_bytes()
    log.path.write_bytes(data.replace(BOB.encode(), b'+1202"550143'))
    with pytest.raises(StoreError, match="store repair"):
        log.latest([ADA])
    with pytest.raises(StoreError, match="store repair"):
        list(log.records())
    assert "2 records that can be read, 1 lines cannot" in log.repair()[0]
    assert (log.verify(), log.repair()) == ([], [])
    assert [bool(fact.prohibition) for fact in log.latest([ADA, BOB, CY]).values()] == [
        True,
        False,
        True,
    ]
    # An erasure takes what was put aside with it.
    log.forget([ADA], NOW)
    assert not any(ADA.encode() in path.read_bytes() for path in log.folder.iterdir())


def test_a_forgotten_number_is_nowhere_and_stays_prohibited(log: EvidenceLog) -> None:
    log.append([
        made("suppression", source=f"call of {ADA}", who="Ada", run="r1", detail={"on": "2026-10-03", "name": "Ada"}),
        made("suppression", hashed(BOB[1:])),
        made("check", CY, detail={"listed": False}),
        made("assistant", None, detail={"words": f"call (202) 555-0142, {BOB} or +44 20 7946 0123"}),
    ])  # fmt: skip
    assert log.forget([ADA, BOB, CY], NOW) == 4
    left = b"".join(path.read_bytes() for path in log.folder.iterdir())
    for trace in (ADA[1:], "555-0142", BOB[1:], hashed(BOB[1:]), CY[1:], " 7946", '"Ada"'):
        assert trace.encode() not in left, trace
    facts = log.latest([ADA, BOB, CY])
    # What was prohibited stays so, and forgetting prohibits nobody.
    assert [bool(fact.prohibition) for fact in facts.values()] == [True, True, False]
    prohibition = facts[ADA].prohibition
    assert prohibition is not None
    assert (prohibition.source, prohibition.run, prohibition.detail) == (
        "",
        "r1",
        {"on": "2026-10-03"},
    )
    assert log.forgotten([ADA, CY, "+12025550199"]) == {ADA, CY}
    assert len(log.erasures()) == 3
    # What is learned of a forgotten person later is known by the hash alone.
    log.append([made("check", ADA, 1, detail={"listed": True})])
    assert ADA.encode() not in log.path.read_bytes()
    assert log.latest([ADA])[ADA].check is not None
    assert log.verify() == []


def test_a_log_moved_to_another_home_knows_whom_it_forgot(
    log: EvidenceLog, tmp_path: Path
) -> None:
    log.append([made("suppression")])
    log.forget([ADA], NOW)
    shutil.move(log.folder, tmp_path / "elsewhere")
    moved = EvidenceLog.open(tmp_path / "elsewhere")
    assert moved.latest([ADA])[ADA].prohibition is not None
    (moved.folder / "forgotten.key").unlink()
    # Without its key nobody could be recognized: nothing is answered, and verify says why.
    with pytest.raises(StoreError, match=r"key .* is missing"):
        moved.latest([ADA])
    assert "missing" in moved.verify()[0]


def test_a_log_of_a_backup_brings_no_erased_person_back(log: EvidenceLog, tmp_path: Path) -> None:
    log.append([made("suppression"), made("check", BOB, detail={"listed": True})])
    shutil.copytree(log.folder, tmp_path / "backup")
    backup = EvidenceLog.open(tmp_path / "backup")
    backup.append([made("suppression", CY)])
    log.forget([ADA], NOW)
    assert log.take_in(backup) == 1
    assert log.take_in(backup) == 0
    assert [bool(fact.prohibition) for fact in log.latest([ADA, BOB, CY]).values()] == [True] * 3
    assert ADA.encode() not in log.path.read_bytes()
    assert log.verify() == []


def test_a_log_that_is_merged_erases_whom_the_other_one_had_erased(tmp_path: Path) -> None:
    here, there = EvidenceLog.open(tmp_path / "here"), EvidenceLog.open(tmp_path / "there")
    here.append([made("suppression"), made("suppression", BOB)])
    here.forget([BOB], NOW)
    there.append([made("check", detail={"listed": True}), made("refusal", CY)])
    there.forget([ADA], NOW)
    here.take_in(there)
    assert ADA.encode() not in here.path.read_bytes()
    assert here.forgotten([ADA, BOB, CY]) == {ADA, BOB}
    assert [bool(fact.prohibition) for fact in here.latest([ADA, BOB, CY]).values()] == [True] * 3
    assert here.take_in(there) == 0


def _append_many(folder: Path) -> None:
    log = EvidenceLog.open(folder)
    for _ in range(40):
        log.append([made("check"), made("check", BOB)])
        log.latest([ADA])


@pytest.mark.parametrize("name", ["log.jsonl", "head", "index.sqlite", "lock"])
@pytest.mark.parametrize("content", ["somebody's own file\n", ""])
def test_a_link_in_the_place_of_a_file_is_not_written_through(
    log: EvidenceLog, tmp_path: Path, name: str, content: str
) -> None:
    victim = tmp_path / "victim"
    victim.write_text(content)
    victim.chmod(0o644)
    log.folder.mkdir(parents=True)
    (log.folder / name).symlink_to(victim)
    with suppress(StoreError):
        log.append([made("suppression")])
        log.latest([ADA])
    assert (victim.read_text(), stat.S_IMODE(victim.stat().st_mode)) == (content, 0o644)


def test_a_link_to_nothing_makes_no_file_elsewhere(log: EvidenceLog, tmp_path: Path) -> None:
    log.folder.mkdir(parents=True)
    (log.folder / "log.jsonl").symlink_to(tmp_path / "victim")
    with pytest.raises(StoreError, match="a link stands in its place"):
        log.append([made("suppression")])
    assert not (tmp_path / "victim").exists()


def test_several_processes_write_one_chain(tmp_path: Path) -> None:
    context = get_context("fork")
    writers = [context.Process(target=_append_many, args=(tmp_path,)) for _ in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    log = EvidenceLog.open(tmp_path)
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    assert len(list(log.records())) == 240
    assert log.verify() == []


def test_a_holder_of_the_lock_looks_and_appends_in_one(log: EvidenceLog) -> None:
    with log.writing():
        assert log.latest([ADA])[ADA].prohibition is None
        log.append([made("suppression")])
        assert log.latest([ADA])[ADA].prohibition is not None


def test_a_hundred_thousand_checks_are_written_within_a_second(log: EvidenceLog) -> None:
    numbers = [f"+1202{number:07d}" for number in range(20_000)]
    records = [
        made("check", number, source="service", detail={"listed": False}) for number in numbers
    ]
    begun = time.process_time()
    log.append(records)
    assert time.process_time() - begun < 0.4  # a fifth of the number: a second with room
    assert len(log.latest(numbers)) == len(numbers)
    begun = time.process_time()
    log.latest(numbers[:1])
    # The index answers: nothing is read again.
    assert time.process_time() - begun < 0.05
