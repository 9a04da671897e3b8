"""One random fault in one file of a store, and what the store's faces show before and after it."""

from __future__ import annotations

import hashlib
import random
import shutil
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dialframe.errors import StoreError
from dialframe.frames import CALLS, DNC_CHECKS, EVENTS, LEADS
from dialframe.store import Checkpoint, Store, verify_and_repair
from dialframe.store.compaction import Sizes
from dialframe.store.files.database import Database
from store.made import at, call, check, lead, phone, put

#: Every part holds ten rows.
TENS = Sizes(seal_rows=10, close_rows=10, part_rows=10, small_parts=5, patches=3)
KINDS = ("flip", "cut", "delete", "old copy")
NOW = datetime(2026, 4, 1, tzinfo=UTC)


def fill(store: Store, first: int, last: int) -> None:
    """Calls that change, leads, checks and events, in pages; some stay in SQLite."""
    for number in range(first, last):
        minute = number * 10
        calls = [call(number * 4 + row) for row in range(4)] + [call(number, status="failed")]
        put(store, calls, minute, checkpoint=Checkpoint("calls", {"next": number}))
        put(store, [lead(number * 3 + row) for row in range(3)], minute + 1, LEADS)
        checks = [check(number * 3 + row, minute + 2, listed=row == 0) for row in range(3)]
        put(store, checks, minute + 2, DNC_CHECKS)


def make(folder: Path) -> Path:
    """A store of some pages, and beside it what it was some pages before."""
    with Store(Database(folder), TENS) as store:
        fill(store, 0, 9)
        store.keep_verdict({"verdict": "3 violations"}, at=at(91))
    old = folder.with_name("old")
    shutil.copytree(folder, old)
    with Store(Database(folder), TENS) as store:
        fill(store, 9, 14)
        store.reconcile(LEADS, seen_before=at(60), at=at(200), misses=1)
        store.keep_verdict({"verdict": "4 violations"}, at=at(201))
    return old


def shown(folder: Path) -> dict[str, Any]:
    """Every number that a face can show: rows, versions, latest checks, counts, where walks stand."""
    numbers = kept(folder)
    with Store(Database(folder), TENS) as store:
        for table in (CALLS, LEADS, EVENTS):
            rows = store.arrow(table).to_pylist()
            numbers[table.name] = digest(sorted(map(repr, rows)))
            numbers[f"{table.name} as of"] = digest(
                sorted(map(repr, store.arrow(table, as_of=at(75)).to_pylist()))
            )
            numbers[f"{table.name} history"] = digest(store.history(table).to_csv())
        numbers["sql"] = store.query("select count(*) as n from calls").to_pylist()
        numbers["walk"] = store.state("calls")
        info = store.info()
        numbers["info"] = [
            (t.name, t.rows, t.versions, t.gone, t.quarantined) for t in info.tables
        ]
        numbers["missing"] = [one.sentence for one in info.damaged]
    return numbers


def kept(folder: Path) -> dict[str, Any]:
    """What no service can give again."""
    with Store(Database(folder), TENS) as store:
        checks = store.last_checks([phone(number) for number in range(45)])
        return {
            "dnc_checks": digest(sorted(map(repr, store.arrow(DNC_CHECKS).to_pylist()))),
            "dnc_checks as of": digest(
                sorted(map(repr, store.arrow(DNC_CHECKS, as_of=at(75)).to_pylist()))
            ),
            "dnc_checks history": digest(store.history(DNC_CHECKS).to_csv()),
            "checks": digest(sorted(map(repr, checks.values()))),
            "audits": store.verdicts(),
        }


def harm(folder: Path, old: Path, draw: random.Random) -> tuple[str, str]:
    """Do something bad to one file; gives the file and what was done."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.stat().st_size]
    # Each kind of file as often as the others, however many there are of it.
    kinds = sorted({(path.parent.name, path.suffix) for path in files})
    kind = draw.choice(kinds)
    path = draw.choice([path for path in files if (path.parent.name, path.suffix) == kind])
    earlier = old / path.relative_to(folder)
    how = draw.choice(KINDS if earlier.is_file() else KINDS[:3])
    content = bytearray(path.read_bytes())
    if how == "flip":
        content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
        path.write_bytes(content)
    elif how == "cut":
        path.write_bytes(content[: draw.randrange(len(content))])
    elif how == "delete":
        path.unlink()
    else:
        shutil.copyfile(earlier, path)
    return path.relative_to(folder).as_posix(), how


def one_fault(room: Path, whole: Path, old: Path, before: dict[str, Any], seed: int) -> str:
    """What came of one fault: `same` or `repaired`; anything else is a fault of ours."""
    folder = room / "store"
    shutil.rmtree(room, ignore_errors=True)
    shutil.copytree(whole, folder)
    file, how = harm(folder, old, random.Random(seed))
    with suppress(StoreError):
        after = shown(folder)
        if {**after, "missing": []} != {**before, "missing": []} and not after["missing"]:
            return f"silent: {how} of {file} (seed {seed})"
        if after == before:
            return "same"
    verify_and_repair.repair(folder, NOW)
    again = shown(folder)
    if any(again[ledger] != before[ledger] for ledger in kept(folder)):
        return f"checks or audits were lost: {how} of {file} (seed {seed})"
    if again != before:
        changed = [name for name, value in again.items() if value != before[name]]
        return f"not as before after repair, {changed}: {how} of {file} (seed {seed})"
    return "repaired"


def run(room: Path, faults: int, first: int = 0) -> Counter[str]:
    """What came of so many faults."""
    whole = room / "whole"
    old = make(whole)
    before = shown(whole)
    assert not verify_and_repair.verify(whole)
    return Counter(
        one_fault(room / "harmed", whole, old, before, seed)
        for seed in range(first, first + faults)
    )


def digest(value: Any) -> str:
    """A short name of a long value."""
    return hashlib.sha256(repr(value).encode()).hexdigest()[:16]
