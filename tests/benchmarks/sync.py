"""How a sync uses the rate limit, and what it costs: `python -m benchmarks.sync [NAME...]`, from `tests`.

Prints one line of JSON per benchmark. Nothing is asserted: figures belong to the machine that gave them.
The service is a sandbox in a process of its own, behind a line that delays every byte.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.slow_line import slow_line
from benchmarks.timing import print_named
from dialframe.account import connect
from dialframe.client import Client
from dialframe.client.rate_limiter import BURST, RATE_PER_S, Shared

WINDOW_S = 60.0
ROUND_TRIPS_S = (0.05, 0.3, 1.0)


@contextlib.contextmanager
def sandbox(size: str, seed: int = 7) -> Iterator[dict[str, Any]]:
    """A sandbox as its user starts it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "dialframe", "sandbox", "serve", "--size", size,
         "--seed", str(seed), "--port", "0", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())
    finally:
        process.terminate()
        process.wait()


def share() -> dict[str, Any]:
    """A first sync's accepted answers in a minute, against what the key's bucket allows, by round trip."""
    found = {}
    for round_trip_s in ROUND_TRIPS_S:
        with sandbox("medium") as facts, slow_line(facts["base_url"], round_trip_s) as line:
            found[f"{round_trip_s * 1000:.0f} ms"] = _share(line, facts["api_key"])
    return found


def _share(line: Any, key: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        account = connect(line.url, key, folder, environment={})
        thread = threading.Thread(target=_until_closed, args=(account,), daemon=True)
        begun_s = time.monotonic()
        thread.start()
        time.sleep(WINDOW_S)
        accepted, refused, took_s = line.accepted, line.refused, time.monotonic() - begun_s
        rows = account.info()["rows"]
        account.close()
        thread.join(10)
    ceiling = BURST + RATE_PER_S * took_s
    return {
        "accepted": accepted,
        "refused": refused,
        "share_of_ceiling": round(accepted / ceiling, 3),
        "rows": rows["calls"] + rows["leads"],
    }


def _until_closed(account: Any) -> None:
    with contextlib.suppress(Exception):
        account.sync(["calls", "leads", "campaigns"])


def loop(round_trips_s: tuple[float, ...] = ROUND_TRIPS_S, size: str = "small") -> dict[str, Any]:
    """A first sync of calls and leads against two threads that fetch their pages and do nothing else."""
    figures = {}
    for round_trip_s in round_trips_s:
        with sandbox(size) as facts, slow_line(facts["base_url"], round_trip_s) as line:
            begun_s = time.monotonic()
            _together(
                threading.Thread(target=_fetch, args=(line.url, facts["api_key"], table))
                for table in ("calls", "leads")
            )
            loop_s, pages, loop_refused = time.monotonic() - begun_s, line.accepted, line.refused
        with sandbox(size) as facts, slow_line(facts["base_url"], round_trip_s) as line:
            with tempfile.TemporaryDirectory() as folder:
                begun_s = time.monotonic()
                with connect(line.url, facts["api_key"], folder, environment={}) as account:
                    report = account.sync(["calls", "leads"])
                sync_s = time.monotonic() - begun_s
            figures[f"{round_trip_s * 1000:.0f} ms"] = {
                "pages": pages,
                "requests": line.accepted,
                "requests_a_page": round(line.accepted / pages, 3),
                "loop_s": round(loop_s, 1),
                "sync_s": round(sync_s, 1),
                "of_the_loop": round(sync_s / loop_s, 3),
                "refused": line.refused,
                "refused_to_the_loop": loop_refused,
                "complete": report.complete,
            }
    return figures


def _fetch(url: str, key: str, table: str) -> None:
    """Every page of a list, each asked for when the one before it is there."""
    import httpx

    query = {"limit": "100"}
    with httpx.Client(
        headers={"Authorization": f"Bearer {key}"}, trust_env=False, timeout=60
    ) as http:
        while True:
            answer = http.get(f"{url}/v1/{table}", params=query)
            if answer.status_code == 429:
                time.sleep(float(answer.headers["Retry-After"]))
                continue
            cursor = answer.json()["page"]["next_cursor"]
            if cursor is None:
                return
            query["cursor"] = cursor


def second() -> dict[str, Any]:
    """Requests of a second sync with nothing new, per table."""
    with sandbox("medium") as facts, tempfile.TemporaryDirectory() as folder:
        with connect(facts["base_url"], facts["api_key"], folder, environment={}) as account:
            first = account.sync()
        with connect(facts["base_url"], facts["api_key"], folder, environment={}) as account:
            again = account.sync()
    return {
        "first": {entry.table: entry.requests for entry in first},
        "second": {entry.table: entry.requests for entry in again},
        "complete": again.complete,
    }


def processes() -> dict[str, Any]:
    """Four processes of four threads on one key, each asking as fast as it may, for a minute."""
    with sandbox("small") as facts, slow_line(facts["base_url"], 0.05) as line:
        begun_s = time.monotonic()
        _together(
            multiprocessing.Process(target=_ask, args=(line.url, facts["api_key"], WINDOW_S))
            for _ in range(4)
        )
        took_s = time.monotonic() - begun_s
        return {
            "accepted": line.accepted,
            "refused": line.refused,
            "per_s": round(line.accepted / took_s, 2),
        }


def _together(workers: Iterable[threading.Thread | multiprocessing.Process]) -> None:
    """Start all, and wait for all."""
    running = list(workers)
    for worker in running:
        worker.start()
    for worker in running:
        worker.join()


def _ask(url: str, key: str, seconds: float) -> None:
    client = Client(url, key)
    until_s = time.monotonic() + seconds

    def work() -> None:
        while time.monotonic() < until_s:
            next(iter(client.campaigns.list().pages()))

    _together(threading.Thread(target=work) for _ in range(4))


def turns() -> dict[str, Any]:
    """Milliseconds for a turn of the shared bucket, 16 threads of 4 processes at it."""
    with tempfile.TemporaryDirectory() as folder:
        told: multiprocessing.Queue[list[float]] = multiprocessing.Queue()
        running = [multiprocessing.Process(target=_turns, args=(folder, told)) for _ in range(4)]
        for process in running:
            process.start()
        taken = sorted(turn for _ in running for turn in told.get())
        for process in running:
            process.join()
    return {
        name: round(taken[int(len(taken) * part)] * 1e3, 3)
        for name, part in (("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999))
    }


def _turns(folder: str, told: Any) -> None:
    limiter, taken = Shared(Path(folder)).of("a"), []

    def work() -> None:
        for _ in range(1000):
            begun_s = time.perf_counter()
            limiter.reserve(time.monotonic(), bulk=True)
            taken.append(time.perf_counter() - begun_s)
            time.sleep(0.002)

    _together(threading.Thread(target=work) for _ in range(4))
    told.put(taken)


_SYNC = """
import resource, sys
from dialframe.account import connect
with connect(sys.argv[1], sys.argv[2], sys.argv[3], environment={}) as account:
    account.client._shell.limiter = None
    rows = account.sync(["calls"])["calls"].rows
print(rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def memory() -> dict[str, Any]:
    """The most memory of a process that syncs 10,000 calls, and of one that syncs 100,000."""
    found = {}
    for size in ("small", "medium"):
        with sandbox(size) as facts, tempfile.TemporaryDirectory() as folder:
            unlimited(facts)
            arguments = [facts["base_url"], facts["api_key"], folder]
            said = subprocess.run(
                [sys.executable, "-c", _SYNC, *arguments],
                capture_output=True,
                text=True,
                check=True,
            )
            rows, peak_kib = said.stdout.split()
            found[f"{rows} calls"] = f"{int(peak_kib) / 1024:.0f} MiB"
    return found


def unlimited(facts: dict[str, Any]) -> None:
    request = urllib.request.Request(  # noqa: S310 - the sandbox's own address
        f"{facts['console_url']}/account",
        method="PUT",
        data=json.dumps({"rate_limits": None}).encode(),
        headers={"Authorization": f"Bearer {facts['console_token']}"},
    )
    urllib.request.urlopen(request).close()  # noqa: S310 - the sandbox's own address


BENCHMARKS: dict[str, Callable[[], dict[str, Any]]] = {
    "turns": turns,
    "loop": loop,
    "second": second,
    "processes": processes,
    "share": share,
    "memory": memory,
}

if __name__ == "__main__":
    print_named(BENCHMARKS)
