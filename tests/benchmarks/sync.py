"""Wall time of a first sync over that of a bare loop with two threads: `python -m benchmarks.sync [PAGES]`, from `tests`."""

from __future__ import annotations

import json
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx

import dialframe
from samples import a_row
from store.made import START

KEY = "svc_test_0000000000000000_" + "0" * 48
LATENCIES_S = (0.05, 0.3, 1.0)


def main() -> None:
    """Print one JSON object of figures."""
    pages = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    print(json.dumps([measure(latency_s, pages) for latency_s in LATENCIES_S], indent=1))


def measure(latency_s: float, pages: int) -> dict[str, float]:
    """Calls and leads of so many pages each, where every answer takes so long."""
    with service(latency_s, pages) as (base_url, asked):
        loop_s = wall(lambda: loop(base_url))
        asked.clear()
        with (
            tempfile.TemporaryDirectory() as folder,
            dialframe.connect(base_url, KEY, store=Path(folder)) as account,
        ):
            sync_s = wall(lambda: account.sync(["calls", "leads"]))
        lists = [path for path in asked if path.startswith(("/v1/calls", "/v1/leads"))]
    return {
        "latency_s": latency_s,
        "loop_s": round(loop_s, 2),
        "sync_s": round(sync_s, 2),
        "sync_to_loop": round(sync_s / loop_s, 3),
        "requests_to_pages": round(len(lists) / (2 * pages), 3),
    }


def loop(base_url: str) -> None:
    """What a script would do: both lists at once, page after page, ten requests a second in all."""
    turn, due = threading.Lock(), [time.monotonic()]

    def walk(path: str) -> None:
        cursor: str | None = None
        with httpx.Client(base_url=base_url, headers={"Authorization": f"Bearer {KEY}"}) as client:
            while True:
                # Contract, Limits: 10 requests a second and a burst of 20 for each key.
                with turn:
                    due[0] = max(due[0] + 0.1, time.monotonic() - 2.0)
                    wait_s = due[0] - time.monotonic()
                time.sleep(max(wait_s, 0.0))
                answer = client.get(
                    path, params={"limit": 100} | ({"cursor": cursor} if cursor else {})
                )
                cursor = answer.json()["page"]["next_cursor"]
                if cursor is None:
                    return

    threads = [
        threading.Thread(target=walk, args=(path,), daemon=True)
        for path in ("/v1/calls", "/v1/leads")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(600)


@contextmanager
def service(latency_s: float, pages: int) -> Iterator[tuple[str, list[str]]]:
    """A service with two long lists whose answers take so long, and what it was asked."""
    asked: list[str] = []
    answers = {
        (name, number): page(name, number, pages).encode()
        for name in ("calls", "leads")
        for number in range(pages)
    }

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            """Answer late."""
            asked.append(self.path)
            parts = urlsplit(self.path)
            name = parts.path.rpartition("/")[2]
            number = int(parse_qs(parts.query).get("cursor", ["0"])[0])
            body = answers.get((name, number), b'{"client_id": "cli_1"}')
            time.sleep(latency_s)
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()


def page(name: str, number: int, pages: int) -> str:
    """A page of a list, newest first."""
    rows: list[dict[str, Any]] = []
    for place in range(number * 100, number * 100 + 100):
        row = a_row(f"{name}.list")
        identifier = f"{row['id'].partition('_')[0]}_{uuid.UUID(int=place)}"
        rows.append(row | {"id": identifier, "created_at": str(START - timedelta(hours=place))})
    cursor = str(number + 1) if number + 1 < pages else None
    return json.dumps(
        {"data": rows, "page": {"next_cursor": cursor, "has_more": cursor is not None}}
    )


def wall(work: Any) -> float:
    """Seconds of one run."""
    began_s = time.monotonic()
    work()
    return time.monotonic() - began_s


if __name__ == "__main__":
    main()
