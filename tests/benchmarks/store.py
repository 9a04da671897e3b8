"""Speed and memory of the store, as ratios of CPU time in one run: `python -m benchmarks.store [ROWS]`, from `tests`.

The reference for reading is `pandas.read_parquet` of the very rows, in the very dtypes.
"""

from __future__ import annotations

import json
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.timing import in_turn
from dialframe.frames import CALLS
from dialframe.store import Store
from store.made import START, at, phone

PAGE = 100
RUNS = 5
CHANGED = 20


def main() -> None:
    """Print one JSON object of figures."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measure(Path(folder), rows), indent=1))


def measure(folder: Path, rows: int) -> dict[str, Any]:
    """Fill a store as a first sync does, change one row in twenty as a later one does, and read it."""
    with Store.open(folder / "part") as store:
        filled_s = cpu(lambda: fill(store, rows))
        middle = at(rows / 60 + 100_000)
        changed_s = cpu(lambda: change(store, rows))
        store.frame(CALLS).to_parquet(folder / "calls.parquet", index=False)
        store.close()
        calm = reads(store, folder, middle)
        store.compact()
        compacted = reads(store, folder, middle)
        held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        facts = store.info()
        phones = [phone(number) for number in range(0, 70_000, 700)]
        looked_up_s = cpu(lambda: store.last_checks(phones))
    return {
        "rows": facts.table("calls").rows,
        "versions": facts.table("calls").versions,
        "parts": facts.table("calls").parts,
        "size_mb": facts.size_bytes // 1_000_000,
        "fill_us_per_row": round(filled_s / rows * 1e6, 1),
        "change_us_per_row": round(changed_s / (rows / CHANGED) * 1e6, 1),
        "as_synced": calm,
        "compacted": compacted,
        "last_checks_of_100_ms": round(looked_up_s * 1e3, 2),
        "peak_mb": held,
    }


def fill(store: Store, rows: int) -> None:
    """Pages newest first, as the service lists them."""
    chance = np.random.default_rng(5)
    ids = chance.bytes(16 * rows).hex()
    for first in range(rows, 0, -PAGE):
        page = [call(number, ids) for number in range(first - 1, first - PAGE - 1, -1)]
        moment = at((rows * 2 - first) / 60)
        store.append(CALLS, page, observed_at=moment, request_id=f"req_{first:032x}")


def change(store: Store, rows: int) -> None:
    """A later walk finds other outcomes in the newest part of the list, and a few elsewhere."""
    ids = np.random.default_rng(5).bytes(16 * rows).hex()
    late = range(rows - rows // CHANGED // 2, rows)
    numbers = [*late, *range(0, rows, CHANGED * 2)]
    for start in range(0, len(numbers), PAGE):
        page = [call(n, ids) | {"disposition": "sale"} for n in numbers[start : start + PAGE]]
        moment = at(rows / 60 + 200_000 + start)
        store.append(CALLS, page, observed_at=moment, request_id=f"req_c{start}")


def call(number: int, ids: str) -> dict[str, Any]:
    """A call of which every id is different, as they are."""
    text = ids[32 * number : 32 * number + 32]
    created_at = START + timedelta(seconds=number)
    answered = number % 3 > 0
    return {
        "id": f"call_{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}",
        "direction": "outbound",
        "from_number": phone(number % 50),
        "to_number": phone(number),
        "status": "completed" if answered else "no_answer",
        "created_at": created_at,
        "answered_at": created_at + timedelta(seconds=9) if answered else None,
        "ended_at": created_at + timedelta(seconds=70),
        "duration_seconds": 61.5 if answered else None,
        "campaign_id": f"cmp_00000000-0000-0000-0000-0000000000{number % 40:02d}",
        "disposition": None,
        "hangup_cause": "normal_clearing",
    }


def reads(store: Store, folder: Path, middle: Any) -> dict[str, float]:
    """Ratios of medians of CPU time, each round in turn so that a busy machine hurts all alike."""
    ways: dict[str, Callable[[], object]] = {
        "read_parquet": lambda: pd.read_parquet(folder / "calls.parquet"),
        "frame": lambda: store.frame(CALLS),
        "as_of": lambda: store.frame(CALLS, as_of=middle),
        "a_day": lambda: store.frame(CALLS, since=at(1440), until=at(2880)),
        "batches": lambda: sum(batch.num_rows for batch in store.batches(CALLS)),
    }
    first_s = cpu(ways["frame"])
    medians = {name: statistics.median(times) for name, times in in_turn(ways, RUNS).items()}
    return {
        "read_parquet_s": round(medians["read_parquet"], 3),
        "frame_to_read_parquet": round(medians["frame"] / medians["read_parquet"], 2),
        "first_frame_to_read_parquet": round(first_s / medians["read_parquet"], 2),
        "as_of_to_frame": round(medians["as_of"] / medians["frame"], 2),
        "a_day_to_frame": round(medians["a_day"] / medians["frame"], 2),
        "batches_to_frame": round(medians["batches"] / medians["frame"], 2),
    }


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds of one run, all threads."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


if __name__ == "__main__":
    main()
