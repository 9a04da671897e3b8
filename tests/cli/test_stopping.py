"""Ctrl-C ends a command in words, with status 130, and leaves nothing half written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from dialframe.background import end_with_parent
from dialframe.cli import terminal
from dialframe.cli.entry_point import KEPT
from dialframe.config import Progress
from forked import Forked

SOURCE = str(Path(__file__).parent.parent.parent / "src")
#: Well below the time that the work itself takes, also on a machine with much else to do.
SOON_S = 30


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A list that takes a second or more to be cleaned."""
    path = tmp_path_factory.mktemp("lists") / "large.csv"
    lines = (
        f"({200 + n % 790}) 555-01{n % 100:02d},N{n},p{n}@example.com" for n in range(400_000)
    )
    path.write_text("Phone,First Name,Email\n" + "\n".join(lines) + "\n")
    return path


def interrupted(
    arguments: list[str], begun: Callable[[], bool], **environment: str
) -> tuple[int, str, str]:
    """Status, output and error of a command in a group of its own that gets Ctrl-C once it is at work."""
    process = subprocess.Popen(
        [sys.executable, "-m", "dialframe", *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        env={**os.environ, "PYTHONPATH": SOURCE, **environment},
    )  # fmt: skip
    deadline_s = time.monotonic() + 60
    while not begun() and process.poll() is None and time.monotonic() < deadline_s:
        time.sleep(0.02)
    # As a terminal does: to the command and to whatever it has started.
    os.killpg(process.pid, signal.SIGINT)
    at_s = time.monotonic()
    out, err = process.communicate(timeout=60)
    assert time.monotonic() - at_s < SOON_S
    return process.returncode, out, err


def test_cleaning_stops_with_no_list_half_written(large: Path, tmp_path: Path) -> None:
    """One line says so, and the folder holds no part of a file."""
    out = tmp_path / "out"
    status, said, err = interrupted(
        ["leads", "clean", "--region", "US", str(large), "--out", str(out)], begun=out.exists
    )

    assert (status, said) == (130, "")
    assert err.startswith("dialframe: stopped")
    assert "no list is half written; run the same command again" in err
    assert len(err.splitlines()) == 1
    names = [path.name for path in out.iterdir()]
    assert all(name.startswith("large.") and name.count(".") == 2 for name in names)


def test_where_it_was_is_part_of_the_words() -> None:
    """The newest step that was heard of, as far as it had come."""
    terminal.begin(["sync"]).step = Progress("calls", 300, 1000)
    assert terminal.current().words == " at 'calls' (300 of 1,000)"


def test_a_step_without_an_end_is_told_as_far_as_it_came() -> None:
    """Where no total is known, none is made up; with no step there are no words."""
    assert terminal.Course(step=Progress("pages", 7)).words == " at 'pages' (7)"
    assert terminal.Course().words == ""
    assert terminal.begin(["leads", "check", "--region", "US", "--", "--json"]).as_json is False
    assert terminal.begin(["leads", "check", "--region", "US", "--json"]).as_json is True


def test_every_long_command_says_what_it_keeps() -> None:
    """Whatever runs over a second has words of its own for Ctrl-C."""
    for path in (
        "demo", "sync", "export", "report", "audit", "app", "leads clean",
        "leads screen", "leads import", "sandbox serve", "store vacuum", "store publish",
        "webhooks listen", "assistant serve",
    ):  # fmt: skip
        assert KEPT[path], path


@pytest.mark.parametrize(("stopped", "heard"), [(True, False), (False, True)])
def test_what_a_library_leaves_half_made_is_quiet_after_a_stop_alone(
    stopped: bool, heard: bool
) -> None:
    """A compiler that Ctrl-C broke off complains when it is thrown away; any other time that is told."""
    program = (
        "import sys\n"
        "from dialframe.cli import entry_point, terminal\n"
        "class Half:\n"
        "    def __del__(self): raise AttributeError('half made')\n"
        "sys.unraisablehook = entry_point._unraisable\n"
        f"terminal.begin([]).stopped = {stopped}\n"
        "Half()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": SOURCE},
    )  # fmt: skip
    assert ("half made" in done.stderr) is heard


def _start_a_server() -> None:
    """Start what ends with this process, and wait."""
    if os.fork() == 0:
        end_with_parent(os.getppid())
        sys.stdout.write("serving\n")
        sys.stdout.flush()
    time.sleep(600)


def _start_a_server_too_late() -> None:
    """Start what learns of its parent when that is gone already."""
    parent = os.getpid()
    if os.fork() == 0:
        while os.getppid() == parent:
            time.sleep(0.01)
        end_with_parent(parent)
        time.sleep(600)
    sys.stdout.write("started\n")
    sys.stdout.flush()
    time.sleep(600)


def test_a_server_whose_parent_went_while_it_started_ends() -> None:
    """It takes seconds until a server answers; orphaned meanwhile, it would stay for ever."""
    parent = Forked(_start_a_server_too_late)
    assert parent.stdout.readline() == "started\n"
    parent.kill()
    assert parent.end()[1] == []


def test_a_server_ends_with_a_parent_that_is_killed() -> None:
    """App, receiver, assistant: nobody would be left who could end it, and it has a key."""
    parent = Forked(_start_a_server)
    assert parent.stdout.readline() == "serving\n"
    parent.kill()
    # Its output ends when the last process that has it open does.
    assert parent.end()[1] == []
