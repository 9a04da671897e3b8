"""The figures of the widgets: first widget on the page, issues of a million rows, 200 MB uploaded, a funnel drawn again.

Run by hand from `tests`: `python -m benchmarks.widgets [page] [issues] [upload] [funnel]`. The page is
measured as a person waits for it, from the address to the first status line; an upload has to arrive
with its hash or the run stops. Figures are wall seconds, with CPU seconds of this process beside
them. The lists and the calls are drawn from a seed; nobody has these numbers.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

import dialframe
from benchmarks.analytics import _frames
from benchmarks.leads import write
from dialframe.widgets import FunnelExplorer, FunnelModel, FunnelState, LeadBench
from dialframe.widgets.html_and_controls import table
from dialframe.widgets.jobs import Jobs
from dialframe.widgets.page_server import serve

_ROWS, _CALLS, _UPLOAD_BYTES = 1_000_000, 100_000, 200_000_000
_WAIT_MS = 240_000


def main() -> None:
    """Measure what is named, or everything."""
    every: dict[str, Callable[[Path], None]] = {
        "page": _page, "issues": _issues, "upload": _upload, "funnel": _funnel,
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as room:
        for name in sys.argv[1:] or every:
            every[name](Path(room))


@contextmanager
def _timed(what: str) -> Iterator[None]:
    wall, cpu = time.perf_counter(), time.process_time()
    yield
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(f"{what}: {wall:.2f} s (CPU {cpu:.2f} s)")


@contextmanager
def _shown(folder: Path) -> Iterator[tuple[Page, str]]:
    """A browser, and the address of a page over a folder."""
    environment = {**os.environ, "PYTHONPATH": str(Path(dialframe.__file__).parents[1])}
    with serve(folder, environment=environment) as page, sync_playwright() as playwright:
        path = shutil.which("chromium") or "/usr/bin/chromium"
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser.new_page(), page.address
        browser.close()


def _page(room: Path) -> None:
    folder = room / "page"
    folder.mkdir()
    with _shown(folder) as (page, address):
        for turn in ("first", "second"):
            with _timed(f"{turn} opening of the page to its first usable widget"):
                page.goto(address)
                expect(page.get_by_role("status").first).to_contain_text(
                    "No file is open", timeout=_WAIT_MS
                )
                expect(page.get_by_role("button", name="Open", exact=True)).to_be_enabled()


def _issues(room: Path) -> None:
    write(room / "million.csv", _ROWS)
    bench = LeadBench(room)
    with _timed(f"opening {_ROWS:,} rows"):
        bench.open("million.csv")
    with _timed("dry run"):
        print(bench.clean())
    with _timed("first page of the issues"):
        page = bench.issues()
        sent = table("Records set aside", page.rows)
    print(f"{page.words}; {len(sent.encode()) / 1000:,.0f} kB sent")
    bench.page, bench.reason = 10, next(iter(bench.reasons()))
    with _timed("another page, filtered"):
        bench.issues()
    with _timed("first page of the changed cells"):
        print(bench.changes().words)


def _upload(room: Path) -> None:
    folder, path = room / "upload", room / "large.csv"
    folder.mkdir()
    line = b"Ada Lovelace,+1 212 555 0100," + b"x" * 170 + b"\n"
    path.write_bytes(b"Name,Phone,Notes\n" + line * (_UPLOAD_BYTES // len(line)))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    with _shown(folder) as (page, address):
        page.goto(address)
        status = page.get_by_role("status").first
        expect(status).to_contain_text("No file is open", timeout=_WAIT_MS)
        with _timed(f"upload of {path.stat().st_size / 1e6:,.0f} MB, read"):
            page.get_by_label("Upload a lead file").set_input_files(path)
            expect(status).to_contain_text("records read", timeout=_WAIT_MS)
        room_of_uploads = next(
            Path(tempfile.gettempdir()).glob("dialframe-app-*/dialframe-upload-*/*/large.csv")
        )
        came = hashlib.sha256(room_of_uploads.read_bytes()).hexdigest()
    if came != digest:
        raise SystemExit("the upload is not the file")
    print("SHA-256 equal")


def _funnel(room: Path) -> None:
    calls, leads, *_ = _frames(_CALLS, _CALLS // 5)
    names = {each: f"Campaign {at}" for at, each in enumerate(leads["campaign_id"].unique())}
    shown = FunnelExplorer(FunnelModel(leads, calls, campaigns=names), jobs=Jobs(inline=True))
    state = FunnelState()
    for asked in (
        FunnelState(window_days=30),
        FunnelState(order="any"),
        replace(state, campaigns=tuple(names)[:3]),
    ):
        with _timed(f"a funnel of {len(calls):,} calls asked and drawn"):
            shown.act(lambda asked=asked: shown.model.choose(asked))
        if shown.status.failed:
            raise SystemExit(shown.status.text)


if __name__ == "__main__":
    main()
