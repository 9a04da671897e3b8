"""Speed as ratios against a named peer in the same run: `python -m benchmarks.run [NAME...]`, from `tests`.

Prints one line of JSON per benchmark. Nothing is asserted: figures belong to the machine that gave them.
"""

from __future__ import annotations

import http.server
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

import dialframe
from benchmarks.sync import sandbox, unlimited
from benchmarks.timing import in_turn, print_named
from dialframe.client import RateLimiter

RUNS = 300
DEEP_PAGES = 9000
EVENTS = 1000


def pages() -> dict[str, Any]:
    """`GET /v1/calls?limit=100` over a million calls: a page nine tenths down against the first."""
    begun = time.perf_counter()
    with dialframe.sandbox.start(size="large") as service:
        made_s = time.perf_counter() - begun
        client = _bare(service)
        page = client.get("/v1/calls?limit=100").json()
        begun = time.perf_counter()
        for _ in range(DEEP_PAGES):
            deep = {"limit": 100, "cursor": page["page"]["next_cursor"]}
            page = client.get("/v1/calls", params=deep).json()
        walked_s = time.perf_counter() - begun
        ways = {"first": {"limit": 100}, "last": deep}
        first, last = map(statistics.median, in_turn(
            {name: lambda page=page: client.get("/v1/calls", params=page) for name, page in ways.items()},  # type: ignore[misc]
            RUNS, time.perf_counter,
        ).values())  # fmt: skip
    return {
        "account_made_s": round(made_s, 1),
        "pages_per_s": round(DEEP_PAGES / walked_s),
        "first_page_ms": round(first * 1e3, 2),
        "deep_page_ms": round(last * 1e3, 2),
        "deep_over_first": round(last / first, 2),
    }


def overhead() -> dict[str, Any]:
    """Processor time of the client, its default rate limit included, against bare httpx; one connection each.

    The service is a process of its own. The limit is one that nobody has to wait for.
    """
    with sandbox("tiny") as facts, tempfile.TemporaryDirectory() as folder:
        unlimited(facts)
        url, key = facts["base_url"], facts["api_key"]
        headers = {"Authorization": f"Bearer {key}"}
        limiter = RateLimiter(rate_per_s=1e6, burst=10**6, file="rate-limit", folder=Path(folder))
        bare = httpx.Client(base_url=url, headers=headers)
        client = dialframe.Client(url, key, limiter=limiter)
        campaign = next(iter(client.campaigns.list())).id
        pairs: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
            "campaigns.get": (
                lambda: client.campaigns.get(campaign_id=campaign),
                lambda: bare.get(f"/v1/campaigns/{campaign}").json(),
            ),
            **{
                f"{name}.list, a page of 100": (
                    lambda rows=rows: next(iter(rows.list(limit=100).pages())),  # type: ignore[misc]
                    lambda name=name: bare.get(f"/v1/{name}?limit=100").json(),  # type: ignore[misc]
                )
                for name, rows in (("calls", client.calls), ("leads", client.leads))
            },
        }
        return {name: _processor_time(*pair) for name, pair in pairs.items()}


def _processor_time(ours: Callable[[], object], peer: Callable[[], object]) -> dict[str, float]:
    """Milliseconds of both, and the median ratio."""

    def forty(call: Callable[[], object]) -> Callable[[], object]:
        return lambda: [call() for _ in range(40)]

    client, bare = in_turn({"client": forty(ours), "httpx": forty(peer)}, 20).values()
    ratios = [ours_s / peer_s for ours_s, peer_s in zip(client, bare, strict=True)]
    return {
        "client_ms": round(min(client) / 40 * 1e3, 2),
        "httpx_ms": round(min(bare) / 40 * 1e3, 2),
        "ratio": round(statistics.median(ratios), 2),
    }


def deliveries() -> dict[str, Any]:
    """Signed webhook deliveries a second to one receiver on this machine."""
    arrived: list[int] = []
    complete = threading.Event()

    class Receiver(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(204)
            self.end_headers()
            arrived.append(1)
            if len(arrived) == EVENTS:
                complete.set()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
            del format, args

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with dialframe.sandbox.start(size="empty") as service:
        client = dialframe.Client(service.base_url, service.api_key, limiter=None)
        url = f"http://127.0.0.1:{server.server_port}/"
        client.webhooks.create(url=url, events=["call.completed"])
        begun = time.perf_counter()
        for _ in range(EVENTS):
            service.console.emit_event(service.client_id, "call.completed", {})
        complete.wait(60)
        took_s = time.perf_counter() - begun
    server.shutdown()
    return {"deliveries": len(arrived), "deliveries_per_s": round(len(arrived) / took_s)}


BENCHMARKS: dict[str, Callable[[], dict[str, Any]]] = {
    "overhead": overhead,
    "deliveries": deliveries,
    "pages": pages,
}


def _bare(service: dialframe.sandbox.Sandbox) -> httpx.Client:
    service.console.update_account({"rate_limits": None})
    headers = {"Authorization": f"Bearer {service.api_key}"}
    return httpx.Client(base_url=service.base_url, headers=headers)


if __name__ == "__main__":
    print_named(BENCHMARKS)
