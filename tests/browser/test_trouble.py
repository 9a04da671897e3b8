"""What a person sees when the way to the kernel breaks: in the middle of an upload, or for good."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import WebSocketRoute, expect

from browser import steps
from browser.conftest import Served, Watched

pytestmark = pytest.mark.browser

_ROWS = 20_000


def _large(path: Path) -> Path:
    """A list of a few pieces."""
    line = f"Ada Lovelace,+1 212 555 0100,{'x' * 300}\n"
    path.write_text("Name,Phone,Words\n" + line * _ROWS)
    return path


@pytest.fixture
def cut(watched: Watched) -> list[int]:
    """Breaks the connection behind the third piece of an upload; what was sent until then has arrived."""
    pieces: list[int] = []

    def routed(line: WebSocketRoute) -> None:
        server = line.connect_to_server()

        def up(message: str | bytes) -> None:
            server.send(message)
            if len(message) > 1 << 20:
                pieces.append(len(message))
                if len(pieces) == 3:
                    line.close(code=1001)
                    server.close(code=1001)

        line.on_message(up)
        server.on_message(line.send)

    watched.page.route_web_socket("**/channels*", routed)
    return pieces


def test_an_upload_goes_on_when_the_connection_comes_back(
    watched: Watched, served: Served, cut: list[int], tmp_path: Path
) -> None:
    """The connection breaks in the middle: the list arrives whole all the same, and is read once."""
    page, path = watched.page, _large(tmp_path / "large.csv")
    page.goto(served.address)
    face = steps.workbench(page)
    steps.says(face, "No file is open")
    page.evaluate("""() => { window.said = []; new MutationObserver(() => window.said.push(
        document.querySelector('.df-status').textContent)).observe(document.querySelector('.df-status'),
        {childList: true, characterData: true, subtree: true}); }""")
    face.get_by_label("Upload a lead file").set_input_files(path)
    steps.says(face, f"large.csv: {_ROWS:,} records read.")
    assert len(cut) >= 6
    said = page.evaluate("window.said")
    assert any("The connection is lost and is being made again." in each for each in said)
    # The browser itself tells of a connection that broke; that is not an error of ours.
    watched.errors[:] = [each for each in watched.errors if "WebSocket" not in each]


def test_a_kernel_that_dies_is_said_in_words(watched: Watched, served: Served) -> None:
    """The status line says what is kept and what to do; the page, loaded again, takes the list up."""
    page = watched.page
    before = _kernels()
    page.goto(served.address)
    face = steps.workbench(page)
    steps.says(face, "No file is open")
    face.get_by_label("File", exact=True).fill("de_haendler_semikolon.csv")
    steps.press(face, "Open")
    steps.says(face, "records read")
    face.get_by_label("Phone", exact=True).select_option("Handy")
    steps.press(face, "Read it so")
    steps.says(face, "Decided.")
    for number in _kernels() - before:
        os.kill(number, signal.SIGKILL)
    steps.says(face, "What was written is kept, and an import goes on where it was.")
    page.goto(served.address)
    steps.says(face, "Go on takes up de_haendler_semikolon.csv as it was decided.")
    steps.press(face, "Go on")
    steps.says(face, "Gone on as it was decided.")
    expect(face.get_by_label("Phone", exact=True)).to_contain_text("found: Handy")
    # The page says that its kernel is gone as often as it looks: the trouble that this test makes.
    expected = ("WebSocket", "Kernel connection")
    watched.errors[:] = [text for text in watched.errors if not text.startswith(expected)]


def _kernels() -> set[int]:
    """Kernels that this process's servers started."""
    found = subprocess.run(
        ["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True
    )
    rows = [line.split(None, 2) for line in found.stdout.splitlines()[1:]]
    ours, parents = {os.getpid()}, {int(pid): int(parent) for pid, parent, _ in rows}
    while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return {int(pid) for pid, _, args in rows if int(pid) in ours and "ipykernel_launcher" in args}
