"""What the processes of the race and kill tests do: writers, readers and compactors on one folder."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

from dialframe.errors import StoreError
from dialframe.frames import CALLS
from dialframe.store import Checkpoint, Store
from dialframe.store.files.database import Database
from dialframe.store.write.seal import Sizes
from store.made import START, phone

PAGE = 50
SHARED = 10
FORGOTTEN = 4
SMALL = Sizes(seal_rows=300, close_rows=50, part_rows=600, small_parts=3, patches=20)


def start(role: str, folder: Path, name: str, seconds: float) -> subprocess.Popen[str]:
    """A process of one role; it prints JSON lines."""
    return subprocess.Popen(
        [sys.executable, "-m", "store.racing", role, str(folder), name, str(seconds)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[1],
    )


def tell(fact: dict[str, Any]) -> None:
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


def write(store: Store, name: str, end: float) -> dict[str, Any]:
    """Append pages until the time is up, each with its number as the checkpoint."""
    number = (store.state(name) or {"next": 0})["next"]
    while time.monotonic() < end:
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


def read(store: Store, name: str, end: float) -> dict[str, Any]:
    """Read again and again; every answer must be of whole pages, without doubles."""
    reads = pages = 0
    while time.monotonic() < end:
        pages = max(pages, check(store, read_whole=reads % 2 == 0))
        reads += 1
    return {"reads": reads, "pages": pages}


def forget(store: Store, name: str, end: float) -> dict[str, Any]:
    """Forget one number of each page after another, as soon as nobody reads an old state."""
    tries = 0
    for number in range(FORGOTTEN):
        while True:
            tries += 1
            try:
                store.forget(phone(number), at=START)
            except StoreError as error:
                if "still reading" not in str(error):
                    raise
            else:
                break
        time.sleep(0.1)
    return {"tries": tries}


def check(store: Store, *, read_whole: bool) -> int:
    """One answer, read at once or in batches; gives the number of pages.

    Forgetting is one moment for all pages: all of them have lost the same rows, or none has.
    """
    if read_whole:
        ids = store.arrow(CALLS, columns=["id"])["id"].to_pylist()
    else:
        try:
            found = list(store.batches(CALLS, columns=["id"], rows=100))
        except StoreError as error:
            if "replaced while it was read" not in str(error):
                raise
            return 0
        ids = [value for batch in found for value in batch["id"].to_pylist()]
    assert len(ids) == len(set(ids)), "an id twice"
    torn = Counter(key.rsplit("_", 1)[0] for key in ids)
    common = torn.pop("call_shared", SHARED)
    assert common == SHARED, f"{common} shared rows"
    assert len(set(torn.values())) <= 1, "a torn page"
    assert set(torn.values()) <= set(range(PAGE - FORGOTTEN, PAGE + 1)), "rows lost"
    return len(torn)


def compact(store: Store, name: str, end: float) -> dict[str, Any]:
    """Seal and merge again and again."""
    rounds = 0
    while time.monotonic() < end:
        store.compact()
        rounds += 1
        time.sleep(0.02)
    return {"rounds": rounds}


def main() -> None:
    """Play a role for some seconds and print what came of it."""
    role, folder, name, seconds = sys.argv[1:]
    play = {"write": write, "read": read, "compact": compact, "forget": forget}[role]
    with opened(folder) as store:
        tell(play(store, name, time.monotonic() + float(seconds)))


if __name__ == "__main__":
    main()
