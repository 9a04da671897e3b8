"""Starting and ending: in this process, as a process, killed at any moment."""

from __future__ import annotations

import datetime as dt
import json
import os
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from dialframe.errors import ConfigError
from dialframe.sandbox import Sandbox, start
from sandbox.service_bench import Party, Site, answered

PROGRAM = """
import json, sys
from dialframe.sandbox import serve
serve(port=0, size=sys.argv[1], data=sys.argv[2] or None,
      on_ready=lambda facts: print(json.dumps(facts), flush=True))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a sandbox keeps its data."""
    return tmp_path / "own"


@contextmanager
def first_client(sandbox: Sandbox) -> Iterator[Party]:
    """The first client of a sandbox in this process."""
    with Site(sandbox.ready()) as site:
        yield site.first_client()


def test_in_process() -> None:
    """It answers on a real socket, and is gone afterwards."""
    with (
        start(size="tiny", seed=3, as_of=dt.date(2026, 3, 1)) as sandbox,
        first_client(sandbox) as api,
    ):
        assert answered(api.get("/v1/me"), 200)["client_id"] == sandbox.client_id
        calls = api.walk("/v1/calls", limit=100)
        assert len(calls) == 1_000
        assert calls[0]["created_at"] < "2026-03-01"
        truths = sandbox.ground_truth()
        assert truths
        assert set(truths[0]) == {"fault", "resource", "id", "expected", "detail"}
        assert sandbox.console_url == f"{sandbox.base_url}/console"
    sandbox.close()
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{sandbox.base_url}/v1/me", trust_env=False)


def test_files_are_the_owners_alone(folder: Path) -> None:
    """The folder 0700, every file in it 0600, whatever the umask says."""
    before = os.umask(0)
    try:
        with start(size="empty", data=folder) as sandbox, first_client(sandbox) as api:
            answered(api.post("/v1/dnc", {"phone": api.phone()}), 201)
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert len(modes) >= 3
    assert set(modes.values()) == {0o600}, modes


def test_keys_are_kept_as_hashes(folder: Path) -> None:
    """Of a further client's key nothing but its hash is on disk."""
    with start(size="empty", data=folder) as sandbox:
        key = sandbox.console.create_client("n")["api_key"]
    secret = key.rpartition("_")[2].encode()
    for path in folder.iterdir():
        assert secret not in path.read_bytes()


def test_what_cannot_be_used(tmp_path: Path, folder: Path) -> None:
    """A folder in use, of somebody else or that is a file; an unknown size; a port that is taken."""
    with start(size="empty", data=folder) as sandbox:
        with pytest.raises(ConfigError, match="another sandbox"):
            start(size="empty", data=folder)
        port = int(sandbox.base_url.rpartition(":")[2])
        with pytest.raises(ConfigError, match="choose another"):
            start(size="empty", port=port)
    (tmp_path / "file").write_text("x")
    with pytest.raises(ConfigError, match="is a file"):
        start(size="empty", data=tmp_path / "file")
    with pytest.raises(ConfigError, match="other files"):
        start(size="empty", data=tmp_path)
    with pytest.raises(ConfigError, match="unknown size"):
        start(size="huge")
    with pytest.raises(ConfigError, match="cannot listen"):
        start(size="empty", host="192.0.2.1")


def test_start_that_was_broken_off_leaves_no_half(folder: Path) -> None:
    """What it left is taken for what it is, and the next start makes the whole; size and seed are the first's."""
    folder.mkdir()
    (folder / "sandbox.new").write_bytes(b"half of a database")
    for size, seed in (("tiny", 7), ("empty", 99)):
        with start(size=size, seed=seed, data=folder) as sandbox, first_client(sandbox) as api:
            assert len(api.walk("/v1/calls", limit=100)) == 1_000


def test_ipv6() -> None:
    """An address of the other family is written with brackets."""
    try:
        probe = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        # A machine without IPv6 says so here, and not in the sandbox.
        with pytest.raises(ConfigError):
            start(size="empty", host="::1")
        return
    probe.close()
    with start(size="empty", host="::1") as sandbox, first_client(sandbox) as api:
        assert sandbox.base_url.startswith("http://[::1]:")
        answered(api.get("/v1/me"), 200)


def test_it_ends_with_its_parent(tmp_path: Path) -> None:
    """Killed without a word, the parent takes the sandbox with it: no orphan keeps a key."""
    program = tmp_path / "sandbox.py"
    program.write_text(PROGRAM)
    parent = (
        "import subprocess, sys, time\n"
        f"started = subprocess.Popen([sys.executable, {str(program)!r}, 'empty', ''])\n"
        "print(started.pid, file=sys.stderr, flush=True)\n"
        "time.sleep(60)\n"
    )
    source = str(Path(__file__).parents[2] / "src")
    running = subprocess.Popen(
        [sys.executable, "-c", parent],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": source},
    )
    assert running.stdout is not None
    assert running.stderr is not None
    try:
        pid = int(running.stderr.readline())
        base_url = json.loads(running.stdout.readline())["base_url"]
        running.kill()
        running.wait()
        until = time.monotonic() + 20
        while _answers(base_url) and time.monotonic() < until:
            time.sleep(0.1)
        assert not _answers(base_url)
        while _lives(pid) and time.monotonic() < until:
            time.sleep(0.1)
        assert not _lives(pid)
    finally:
        running.kill()
        running.wait()
        running.stdout.close()
        running.stderr.close()


def _answers(base_url: str) -> bool:
    try:
        httpx.get(f"{base_url}/v1/me", trust_env=False, timeout=5)
    except httpx.TransportError:
        return False
    return True


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
