"""What the processes of the race and kill tests do: writers, readers and compactors on one folder."""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

from dialframe.errors import StoreError
from dialframe.frames import CALLS
from dialframe.store import Checkpoint, Store
from dialframe.store.compaction import Sizes
from dialframe.store.database import Database
from forked import Forked
from store.made import START, call, phone, put

PAGE = 50
SHARED = 10
FORGOTTEN = 2
#: A user who owns nothing.
NOBODY = 65534
SMALL = Sizes(seal_rows=300, part_rows=600, small_parts=3, patches=20)


class Bell:
    """Tells the processes of a folder that they have done enough."""

    def __init__(self, folder: Path) -> None:
        self._file = folder.with_name("rung")

    def ring(self) -> None:
        """Let everybody end after what they are at."""
        self._file.touch()

    def silent(self) -> bool:
        """Whether to go on."""
        return not self._file.exists()


def start(role: str, folder: Path, name: str, most: int = 0) -> Forked:
    """A process of one role, for so many rounds or until the bell is rung; it prints JSON lines."""
    return Forked(play, role, folder, name, most)


def tell(fact: Any) -> None:
    """Say something to the process that started this one."""
    sys.stdout.write(json.dumps(fact) + "\n")
    sys.stdout.flush()


def opened(folder: str | Path) -> Store:
    """The store with parts so small that everything happens often."""
    return Store(Database(Path(folder)), SMALL)


def page(name: str, number: int) -> list[dict[str, Any]]:
    """A page of new rows, and rows that every page of every writer changes."""
    created_at = START + timedelta(minutes=number)
    fresh = [
        {
            "id": f"call_{name}_{number}_{row}",
            "to_number": phone(row),
            "status": name,
            "created_at": created_at,
        }
        for row in range(PAGE)
    ]
    common = [
        {"id": f"call_shared_{row}", "status": f"{name} {number}", "created_at": START}
        for row in range(SHARED)
    ]
    return fresh + common


def write(store: Store, name: str, bell: Bell, most: int) -> dict[str, Any]:
    """Append pages, each with its number as the checkpoint."""
    number = (store.state(name) or {"next": 0})["next"]
    while bell.silent() and (not most or number < most):
        store.append(
            CALLS,
            page(name, number),
            observed_at=START + timedelta(microseconds=time.time_ns() // 1000),
            request_id=None,
            checkpoint=Checkpoint(name, {"next": number + 1}),
        )
        number += 1
        tell({"next": number})
    return {"pages": number}


def read(store: Store, name: str, bell: Bell, most: int) -> dict[str, Any]:
    """Read again and again; every answer must be of whole pages, without doubles."""
    reads = pages = 0
    while bell.silent() or not reads:
        pages = max(pages, check(store, read_whole=reads % 2 == 0))
        reads += 1
    return {"reads": reads, "pages": pages}


def forget(store: Store, name: str, bell: Bell, most: int) -> dict[str, Any]:
    """Forget one number of each page after another, as soon as nobody reads an old state."""
    tries, until_s = 0, time.monotonic() + 60
    for number in range(FORGOTTEN):
        while True:
            tries += 1
            try:
                store.forget(phone(number), at=START)
            except StoreError as error:
                if "still reading" not in str(error) or time.monotonic() > until_s:
                    raise
                time.sleep(0.005)
            else:
                break
        time.sleep(0.02)
    return {"tries": tries}


def check(store: Store, *, read_whole: bool) -> int:
    """One answer, read at once or in batches; gives the number of pages.

    Forgetting is one moment for all pages: all of them have lost the same rows, or none has.
    """
    if read_whole:
        ids = store.arrow(CALLS, columns=["id"])["id"].to_pylist()
    else:
        try:
            batches = list(store.batches(CALLS, columns=["id"], rows=100))
        except StoreError as error:
            if "replaced while it was read" not in str(error):
                raise
            return 0
        ids = [value for batch in batches for value in batch["id"].to_pylist()]
    assert len(ids) == len(set(ids)), "an id twice"
    torn = Counter(key.rsplit("_", 1)[0] for key in ids)
    common = torn.pop("call_shared", SHARED)
    assert common == SHARED, f"{common} shared rows"
    assert len(set(torn.values())) <= 1, "a torn page"
    assert set(torn.values()) <= set(range(PAGE - FORGOTTEN, PAGE + 1)), "rows lost"
    return len(torn)


def compact(store: Store, name: str, bell: Bell, most: int) -> dict[str, Any]:
    """Seal and merge again and again."""
    rounds = 0
    while bell.silent():
        store.compact()
        rounds += 1
        time.sleep(0.1)
    return {"rounds": rounds}


def play(role: str, folder: Path, name: str, most: int) -> None:
    """Play a role and print what came of it."""
    roles = {"write": write, "read": read, "compact": compact, "forget": forget}
    with opened(folder) as store:
        tell(roles[role](store, name, Bell(folder), most))


def append_without_room(folder: Path, limit_bytes: int) -> None:
    """Append pages of a hundred calls until no file may grow any more; what was said, and how many are there."""
    sizes = Sizes(seal_rows=400, part_rows=400, small_parts=3, patches=50)
    with Store(Database(folder), sizes) as store:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, limit_bytes))
        try:
            for number in range(400):
                calls = [call(number * 100 + row) for row in range(100)]
                put(store, calls, number, checkpoint=Checkpoint("calls", {"n": number + 1}))  # fmt: skip
                tell(number + 1)
        except StoreError as error:
            tell(str(error))
        try:
            store.compact()
        except StoreError as error:
            tell(str(error))
        tell(len(store.frame(CALLS)))


def read_as_nobody(folder: Path) -> None:
    """Read a store as a user who may not write to it, and try to change it."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    with Store.open(folder) as store:
        sys.stdout.write(
            f"{len(store.frame(CALLS))} {store.state('calls')} {len(list(store.batches(CALLS)))}\n"
        )
        for work in (
            lambda: store.append(CALLS, [], observed_at=START, request_id=None),
            store.compact,
            store.vacuum,
            lambda: store.lock("calls").__enter__(),
        ):
            try:
                sys.stdout.write(f"{work()}\n")
            except StoreError as error:
                sys.stdout.write(f"{error}\n")
