"""Kills a process, or fills its disk, in the middle of writing each kind of thing that must stay good, or harms it later.

    python -m robustness.broken_off 100     # in tests/: each kind killed and filled up 100 times
    python -m robustness.broken_off harm 1000       # one file of each kind flipped, cut, deleted or made old

A child process forked from this one does the work, so that a round costs no import. It is killed at a drawn call
into the system or SQLite, or by a timer, which also hits native code; or it may write files of so many bytes only
(RLIMIT_FSIZE), which SQLite, Arrow and Delta meet as Python does. What a fault did not hit does not count.
"""

from __future__ import annotations

import itertools
import json
import os
import pickle
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from compliance import hand
from dialframe import leads
from dialframe.assistant import audit_log
from dialframe.client.request_building import PlannedRequest
from dialframe.client.write_journal import Journal
from dialframe.errors import DialframeError
from dialframe.flows import evidence_pack_diff, pack, reporting
from dialframe.flows.import_batches import check_journal
from dialframe.flows.import_ledger import Journal as ImportJournal
from dialframe.flows.import_ledger import Ledger
from dialframe.frames import CALLS
from dialframe.store import Store, verify_and_repair
from dialframe.store.files.database import Database
from dialframe.suppression import Entry, SuppressionList
from store import faults
from store.made import at, call

#: Where a flush to the disk costs nothing.
MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of its own is made in it
NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
#: Faults that came too late, for each one that is wanted, from which on no more are tried.
_MOST_MISSED = 8
#: Kills by a timer among all.
_TIMED = 0.3
#: Modules whose calls are steps of writing: system, files, SQLite.
_STEPS = frozenset({"posix", "_io", "sqlite3", "fcntl"})
KEYS = [f"key-{number}" for number in range(24)]
PHONES = [f"+1202555{number:04d}" for number in range(100, 148)]


#: Numbers by name, and what is said to be wrong.
Shown = tuple[dict[str, Any], list[str]]


@dataclass(frozen=True)
class Thing:
    """What must stay good.

    Attributes:
        make: Makes a good one in an empty folder.
        go_on: Writes the next one, or more of it: this is broken off.
        judge: Raises where what is there is neither the old nor the new, or something is lost.
        show: What a face shows of it, and what it says is wrong, in words; it may raise instead. None where no
            face reads it again.
        kept: What no fault in one file may take away, once it was mended; None where all may be refused.
        at: The folder of what is harmed.
    """

    make: Callable[[Path], None]
    go_on: Callable[[Path], None]
    judge: Callable[[Path], None]
    show: Callable[[Path], Shown] | None = None
    kept: Callable[[Path], Any] | None = None
    at: str = "."


def _store_make(room: Path) -> None:
    faults.make(room / "store")


def _store_go_on(room: Path) -> None:
    with Store(Database(room / "store"), faults.TENS) as store:
        faults.fill(store, 14, 17)
        store.compact()


def _store_judge(room: Path) -> None:
    verify_and_repair.repair(room / "store", NOW)
    problems = verify_and_repair.verify(room / "store")
    assert not problems, problems
    with Store(Database(room / "store"), faults.TENS) as store:
        checks = list(store.arrow(faults.DNC_CHECKS)["checked_at"].to_pylist())
        pages = int((store.state("calls") or {})["next"])
        assert pages >= 13
        # A page, its checkpoint and its rows are one; the checks of it may be the last that came.
        assert len(checks) in (3 * pages, 3 * (pages + 1))
        assert len(set(store.arrow(CALLS)["id"].to_pylist())) == len(store.arrow(CALLS))


def _write_of(key: str) -> PlannedRequest:
    body = json.dumps({"phone": PHONES[0]}).encode()
    return PlannedRequest(
        operation="dnc.add", method="POST", path="/v1/dnc", body=body,
        headers={"Idempotency-Key": key},
    )  # fmt: skip


def _journal_make(room: Path) -> None:
    journal = Journal(room / "journal", "account")
    for key in KEYS[:12]:
        journal.begin(_write_of(key), NOW)


def _journal_go_on(room: Path) -> None:
    journal = Journal(room / "journal", "account")
    for key in KEYS[12:]:
        journal.begin(_write_of(key), NOW)
        journal.finish(KEYS[0], "answered", status=201, code=None, request_id="req_1")


def _journal_judge(room: Path) -> None:
    journal = Journal(room / "journal", "account")
    known = [journal.find(key) for key in KEYS]
    assert all(known[:12])
    later = [one is not None for one in known[12:]]
    assert later == sorted(later, reverse=True)
    journal.begin(_write_of("after"), NOW)


def _audit_make(room: Path) -> None:
    """An audit is made once; what is broken off is the writing of its pack."""
    when = datetime(2026, 10, 6, 15, tzinfo=UTC)
    checks = hand.checks(hand.check(datetime(2026, 10, 6, 14, tzinfo=UTC)))
    audit = hand.audit(
        hand.leads(hand.lead()),
        hand.calls(hand.call(at=when)),
        checks,
        rules=["us-tsr-hours"],
        now=NOW,
    )
    (room / "audit.pickle").write_bytes(pickle.dumps(audit))
    pack.write(audit, room / "pack", summary={"version": "old"})


def _pack_go_on(room: Path) -> None:
    audit = pickle.loads((room / "audit.pickle").read_bytes())  # noqa: S301 - our own
    pack.write(audit, room / "pack", summary={"version": "new"}, replace=True)


def _pack_judge(room: Path) -> None:
    verified = pack.verify(room / "pack")
    assert not verified.faults, verified.faults


def _export_make(room: Path) -> None:
    reporting.write_table(_frame("old"), room / "calls.csv")


def _export_go_on(room: Path) -> None:
    for ending in ("csv", "parquet", "jsonl"):
        reporting.write_table(_frame("new"), room / f"calls.{ending}")


def _export_judge(room: Path) -> None:
    content = pd.read_csv(room / "calls.csv", dtype="str")
    assert content.equals(_frame("old")) or content.equals(_frame("new"))
    for ending, read in (("parquet", pd.read_parquet), ("jsonl", _jsonl)):
        if (room / f"calls.{ending}").exists():
            assert len(read(room / f"calls.{ending}")) == len(_frame("new"))


def _frame(word: str) -> pd.DataFrame:
    return pd.DataFrame({"id": [f"call_{n}" for n in range(400)], "status": word}, dtype="str")


def _jsonl(path: Path) -> pd.DataFrame:
    return pd.read_json(path, lines=True)


def _list_make(room: Path) -> None:
    rows = "".join(f"Ada {phone[-3:]},{phone}\n" for phone in PHONES)
    (room / "autumn.csv").write_text("name,phone\n" + rows)
    leads.clean_files([room / "autumn.csv"], room / "out", region="US")


def _list_go_on(room: Path) -> None:
    with (room / "autumn.csv").open("a") as file:
        file.write("Bob,+12025550199\n")
    leads.clean_files([room / "autumn.csv"], room / "out", region="US")


def _list_judge(room: Path) -> None:
    clean = pd.read_csv(room / "out" / "autumn.clean.csv", dtype="str")
    assert len(clean) in (len(PHONES), len(PHONES) + 1)


def _suppression_make(room: Path) -> None:
    _suppressed(room).add([_entry(phone) for phone in PHONES[:24]], NOW)


def _suppression_go_on(room: Path) -> None:
    listed = _suppressed(room)
    for phone in PHONES[24:]:
        listed.add([_entry(phone)], NOW)


def _suppression_judge(room: Path) -> None:
    listed = [entry is not None for entry in _suppressed(room).check(PHONES)]
    assert all(listed[:24])
    assert listed == sorted(listed, reverse=True)
    assert _suppressed(room).add([_entry("+12025550199")], NOW) == 1
    assert not _suppressed(room).log.verify()


def _suppressed(room: Path) -> SuppressionList:
    return SuppressionList.beside(room / "store")


def _entry(phone: str) -> Entry:
    return Entry(phone, "opt_out", "autumn.csv", date(2026, 10, 1))


def _published_make(room: Path) -> None:
    with Store(Database(room / "store"), faults.TENS) as store:
        faults.fill(store, 0, 3)
        store.publish(str(room / "lake"), tables=[CALLS])


def _published_go_on(room: Path) -> None:
    with Store(Database(room / "store"), faults.TENS) as store:
        store.append(CALLS, [call(n) for n in range(90, 96)], observed_at=at(900), request_id=None)
        store.publish(str(room / "lake"), tables=[CALLS])


def _published_judge(room: Path) -> None:
    from deltalake import DeltaTable

    seqs = DeltaTable(room / "lake" / "calls").to_pyarrow_table()["seq"].to_pylist()
    assert len(seqs) == len(set(seqs)) >= 12
    with Store(Database(room / "store"), faults.TENS) as store:
        store.publish(str(room / "lake"), tables=[CALLS])
        wanted = len(store.history(CALLS))
    assert len(DeltaTable(room / "lake" / "calls").to_pyarrow_table()) == wanted


def _store_show(room: Path) -> Shown:
    shown = faults.shown(room / "store")
    return {**shown, "missing": []}, shown["missing"]


def _store_kept(room: Path) -> Any:
    verify_and_repair.repair(room / "store", NOW)
    return faults.kept(room / "store")


def _journal_show(room: Path) -> Shown:
    journal = Journal(room / "journal", "account")
    if problems := [*journal.log.verify(), *journal.problems()]:
        return {}, problems
    return {
        "writes": [repr(journal.find(key)) for key in KEYS],
        # Bytes that were changed are none, and the write that they were of is open all the same.
        "open": [write.key for write in journal.unsettled()],
        "evidence": [(one.key, one.at, dict(one.fields)) for one in journal.evidence()],
    }, []


def _pack_show(room: Path) -> Shown:
    verified = pack.verify(room / "pack")
    with suppress(DialframeError):
        compared = evidence_pack_diff.compare(room / "pack", room / "pack")
        return {"head": verified.head, "diff": compared.to_csv()}, list(verified.faults)
    return {}, list(verified.faults)


def _import_make(room: Path) -> None:
    plan = [
        {"batch": number, "leads": [
            {"file": "a.csv", "line": row + 2, "row": row, "body": {"phone": PHONES[row]}}
            for row in range(number * 4, number * 4 + 4)
        ]}
        for number in range(6)
    ]  # fmt: skip
    book = ImportJournal.open(room / "a.import.jsonl")
    book.begin(NOW, {"campaign_id": "c", "source": "s"}, plan)
    _import_answered(book, range(2))


def _import_go_on(room: Path) -> None:
    _import_answered(check_journal(room / "a.import.jsonl", "c", "s"), range(2, 5))


def _import_answered(book: ImportJournal, batches: Iterable[int]) -> None:
    for number in batches:
        key = {"batch": number, "key": f"key-{number}"}
        book.append("send", NOW, key)
        results = [
            {"index": index, "status": status, "reason": None, "field": None, "lead_id": None}
            for index, status in enumerate(("accepted", "duplicate", "accepted", "invalid"))
        ]
        book.append("answer", NOW, {**key, "request_id": f"req_{number}", "results": results})


def _import_show(room: Path) -> Shown:
    ledger = Ledger(check_journal(room / "a.import.jsonl", "c", "s"))
    assert ledger.counts["sent"] == ledger.counts["accepted"] + ledger.counts["refused"]
    return {"rows": ledger.frame.to_csv(), "again": ledger.send_again().to_csv()}, []


def _import_judge(room: Path) -> None:
    book = check_journal(room / "a.import.jsonl", "c", "s")
    sent = [book.standing(number).key is not None for number in range(6)]
    assert all(sent[:2])
    assert sent == sorted(sent, reverse=True)
    _import_answered(book, [5])


def _log_make(room: Path) -> None:
    (room / "store").mkdir()
    for number in range(12):
        audit_log.write(room / "store", _log_entry(number))


def _log_go_on(room: Path) -> None:
    for number in range(12, 18):
        audit_log.write(room / "store", _log_entry(number))


def _log_entry(number: int) -> audit_log.Entry:
    return audit_log.Entry(
        at=NOW, call=f"call-{number}", tool="sms_send", client="test", outcome="done",
        arguments={"to": PHONES[number]},
    )  # fmt: skip


def _log_show(room: Path) -> Shown:
    path = room / "store" / audit_log.FILE
    return {"log": path.read_bytes() if path.exists() else b""}, audit_log.problems(room / "store")


def _log_judge(room: Path) -> None:
    assert not audit_log.problems(room / "store")
    _log_go_on(room)
    assert not audit_log.problems(room / "store")


def _list_show(room: Path) -> Shown:
    """What an import of the clean list would send."""
    cleaned = leads.clean_files([room / "out" / "autumn.clean.csv"], None, region="GB")
    listed = leads.clean(leads.read(room / "out" / "autumn.clean.csv"), region="GB")
    inputs = [repr(one) for one in leads.lead_inputs(listed)]
    return {"counts": cleaned.counts, "inputs": inputs}, [
        file.decisions.doubt for file in cleaned.files if file.decisions.doubt
    ]


def _suppression_show(room: Path) -> Shown:
    listed = _suppressed(room)
    if problems := listed.log.verify():
        return {}, problems
    return {
        "entries": list(map(repr, listed.entries())),
        "found": list(map(repr, listed.check(PHONES))),
        "history": [listed.history(phone) for phone in PHONES],
    }, []


def _published_show(room: Path) -> Shown:
    from deltalake import DeltaTable

    with Store(Database(room / "store"), faults.TENS) as store:
        problems = store.published_problems()
    if problems:
        return {}, [what for _, what in problems]
    rows = DeltaTable(room / "lake" / "calls").to_pyarrow_table().sort_by("seq")
    return {"rows": rows.to_pylist()}, []


THINGS = {
    "store": Thing(
        _store_make, _store_go_on, _store_judge, _store_show, _store_kept, at="store"
    ),
    "journal": Thing(
        _journal_make, _journal_go_on, _journal_judge, _journal_show, at="journal",
    ),
    "pack": Thing(_audit_make, _pack_go_on, _pack_judge, _pack_show, at="pack"),
    "export": Thing(_export_make, _export_go_on, _export_judge),
    "lead list": Thing(_list_make, _list_go_on, _list_judge, _list_show, at="out"),
    "import ledger": Thing(_import_make, _import_go_on, _import_judge, _import_show),
    "assistant's log": Thing(_log_make, _log_go_on, _log_judge, _log_show),
    "suppression list": Thing(
        _suppression_make, _suppression_go_on, _suppression_judge, _suppression_show,
        at="store/evidence",
    ),
    "published tables": Thing(
        _published_make, _published_go_on, _published_judge, _published_show, at="lake"
    ),
}  # fmt: skip


def in_child(work: Callable[[], None], log: Path) -> tuple[str, float]:
    """Do something in a process of its own; how it ended, and how many seconds it took."""
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        except (DialframeError, OSError):
            status = 2
        except BaseException:
            log.write_text(traceback.format_exc())
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    spent = time.monotonic() - began
    if os.WIFSIGNALED(status):
        return "killed", spent
    return ("done", "fault", "refused")[os.WEXITSTATUS(status)], spent


def killed_after(seconds: float) -> Callable[[], None]:
    """What lets this process be killed after so long."""

    def arm() -> None:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, seconds)

    return arm


def at_each_step(act: Callable[[int], object]) -> None:
    """Do something before each call into the system that this process makes, counted from 0."""
    steps = itertools.count()

    def at_call(frame: object, event: str, called: Any) -> None:
        owner = getattr(called, "__self__", None)
        module = type(owner).__module__
        if event == "c_call" and {getattr(owner, "__name__", module), module} & _STEPS:
            act(next(steps))

    sys.setprofile(at_call)


def killed_before(step: int) -> Callable[[], None]:
    """What lets this process be killed before that call into the system, counted from 0."""
    return lambda: at_each_step(
        lambda number: number == step and os.kill(os.getpid(), signal.SIGKILL)
    )


def counted(into: Path) -> Callable[[], None]:
    """What writes down at each call into the system how many there were."""

    def arm() -> None:
        file = os.open(into, os.O_WRONLY | os.O_CREAT)
        at_each_step(lambda number: os.pwrite(file, f"{number + 1:10}".encode(), 0))

    return arm


def limited_to(size_bytes: int) -> Callable[[], None]:
    """What lets no file of this process grow beyond so many bytes."""

    def arm() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, size_bytes))

    return arm


def run(name: str, room: Path, rounds: int, seed: int = 1) -> Counter[str]:
    """Break the writing of one kind of thing off so often by a kill, and as often by a full disk."""
    thing, draw = THINGS[name], random.Random(f"{name} {seed}")
    good, log = room / "good", room / "log"
    good.mkdir(parents=True)
    assert in_child(lambda: thing.make(good), log)[0] == "done", log.read_text()
    trial = room / "trial"

    def broken_off(arm: Callable[[], None]) -> tuple[str, float]:
        shutil.rmtree(trial, ignore_errors=True)
        shutil.copytree(good, trial)

        def work() -> None:
            arm()
            thing.go_on(trial)

        ended, spent = in_child(work, log)
        judged, _ = in_child(lambda: thing.judge(trial), log)
        assert (ended, judged) in {(one, "done") for one in ("done", "killed", "refused")}, (
            f"{name}: {ended}, then {judged}: {log.read_text() if log.exists() else ''}"
        )
        return ended, spent

    broken_off(counted(room / "steps"))
    steps = int((room / "steps").read_text())
    _, whole_s = broken_off(lambda: None)
    files = [path for path in trial.rglob("*") if path.is_file() and path.suffix != ".pickle"]
    sizes = sorted(path.stat().st_size for path in files)

    def kill() -> Callable[[], None]:
        if draw.random() < _TIMED:
            return killed_after(draw.uniform(0.001, whole_s))
        return killed_before(draw.randrange(steps))

    def fill_up() -> Callable[[], None]:
        return limited_to(int(draw.choice(sizes) * draw.random()))

    total: Counter[str] = Counter()
    for fault, wanted in ((kill, "killed"), (fill_up, "refused")):
        for _ in range(rounds * _MOST_MISSED):
            total[broken_off(fault())[0]] += 1
            if total[wanted] == rounds:
                break
    shutil.rmtree(room)
    return total


def harm(name: str, room: Path, rounds: int, seed: int = 1) -> Counter[str]:
    """Harm one file so often; how often nothing changed, or what is wrong was said. All else is a fault of ours."""
    thing, log = THINGS[name], room / "log"
    if (show := thing.show) is None:
        return Counter()
    old, whole, trial = room / "old", room / "whole", room / "trial"
    trial.mkdir(parents=True)
    # A published table knows where it stands: everything is made and harmed in one place.
    for write, made in ((thing.make, old), (thing.go_on, whole)):
        assert in_child(partial(write, trial), log)[0] == "done", log.read_text()
        shutil.copytree(trial, made)

    def outcome(done: str) -> str:
        try:
            after, said = show(trial)
        except DialframeError as error:
            after, said = {}, [str(error)]
        if not said and after != before:
            changed = [name for name in before if before[name] != after.get(name)]
            return f"SILENT {done}: {changed}"
        with suppress(DialframeError):
            if thing.kept is None or thing.kept(trial) == kept:
                return "said" if said else "same"
        return f"LOST {done}"

    before, said = show(trial)
    assert not said, said
    kept = None if thing.kept is None else thing.kept(trial)
    total: Counter[str] = Counter()
    for number in range(rounds):
        shutil.rmtree(trial)
        shutil.copytree(whole, trial)
        draw = random.Random(f"{name} {seed} {number}")
        total[outcome(" of ".join(faults.harm(trial / thing.at, old / thing.at, draw)[::-1]))] += 1
    shutil.rmtree(room)
    return total


def main(rounds: int, *names: str, work: Callable[..., Counter[str]] = run) -> None:
    """Every kind, or those that are named, so many rounds each."""
    for name in names or THINGS:
        with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as room:
            sys.stdout.write(f"{name}: {dict(work(name, Path(room) / 'room', rounds))}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    if sys.argv[1] == "harm":
        main(int(sys.argv[2]), *sys.argv[3:], work=harm)
    else:
        main(int(sys.argv[1]), *sys.argv[2:])
