"""Ctrl-C ends a command in words, with status 130, and leaves nothing half written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cli.commands import SOURCE, begun
from dialframe.background import end_with_parent
from forked import Forked

#: The command line, which is at work for ten minutes where its first file is flushed to the disk.
AT_WORK = """
import os, pathlib, runpy, sys, time
begun = pathlib.Path(sys.argv.pop(1))
def flush(_descriptor):
    begun.touch()
    time.sleep(600)
    os._exit(1)
os.fsync = flush
runpy.run_module("dialframe", run_name="__main__", alter_sys=True)
"""


def test_cleaning_stops_with_no_list_half_written(tmp_path: Path) -> None:
    """One line says so, and the folder holds no part of a file."""
    path, out, mark = tmp_path / "large.csv", tmp_path / "out", tmp_path / "begun"
    path.write_text("Phone,First Name,Email\n(212) 555-0142,Ada,ada@example.com\n")
    words = ("leads", "clean", "--region", "US", path, "--out", out)
    process = begun(mark, *words, program=("-c", AT_WORK), session=True)
    while not mark.exists() and process.poll() is None:
        time.sleep(0.02)
    half_written = [item.name for item in out.iterdir()]
    # As a terminal does: to the command and to whatever it has started.
    os.killpg(process.pid, signal.SIGINT)
    said, err = process.communicate()

    assert len(half_written) > 1
    assert (process.returncode, said) == (130, "")
    assert err.startswith("dialframe: stopped")
    assert "no list is half written; run the same command again" in err
    assert len(err.splitlines()) == 1
    assert list(out.iterdir()) == []


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
        "terminal.begin([])\n"
        f"terminal.current().stopped = {stopped}\n"
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
