"""`dialframe sync` as a process: a service that says nothing, Ctrl-C, several at once, a terminal of 80 columns."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.commands import begun, invoke
from dialframe import sandbox
from dialframe.account import account as accounts

#: The command line, which waits ten minutes for each answer: a stop that comes sooner is not the waiting's end.
PATIENT = (
    "-c",
    """
import runpy
from dialframe.account import account
account.GREETING_S = 600.0
runpy.run_module("dialframe", run_name="__main__", alter_sys=True)
""",
)


@pytest.fixture
def silent() -> Iterator[str]:
    """The address of a service that takes connections and answers nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture(scope="module")
def service() -> Iterator[sandbox.Sandbox]:
    """A sandbox with a tiny account and no rate limits."""
    with sandbox.start(seed=7, size="tiny") as started:
        yield started


def start(
    base_url: str, key: str, store: Path, *arguments: str, **more: Any
) -> subprocess.Popen[str]:
    """The command in a process of its own, on an account."""
    named = {"BASE_URL": base_url, "API_KEY": key, "STORE": store}
    return begun(*arguments, **more, **{f"DIALFRAME_{name}": named[name] for name in named})


def test_ctrl_c_ends_a_sync_soon_and_says_so(silent: str, tmp_path: Path) -> None:
    """Also while every thread waits for an answer: one line, status 130, no traceback; machines are told."""
    process = start(silent, "svc_test_a_b", tmp_path, "sync", "--json", program=PATIENT)
    while not list(tmp_path.glob("*/lock.calls")) and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    begun_s = time.monotonic()

    said, complained = process.communicate()

    assert time.monotonic() - begun_s < 500
    assert process.returncode == 130
    assert complained.strip() == "dialframe: stopped; what was read is kept, the next sync goes on"
    assert json.loads(said)["error"] == {
        "kind": "Stopped",
        "message": "stopped; what was read is kept, the next sync goes on",
        "status": 130,
    }


def test_a_service_that_says_nothing_is_given_up(
    silent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After three short questions, with one sentence; nobody waits for every table's own patience."""
    monkeypatch.setattr(accounts, "GREETING_S", 0.2)
    monkeypatch.setenv("DIALFRAME_API_KEY", "svc_test_a_b")
    begun_s = time.monotonic()

    err = invoke("sync --base-url", silent, "--store", tmp_path, ends=1).err

    assert time.monotonic() - begun_s < 60
    assert "did not answer in time" in err


def test_two_notebooks_and_a_job_at_once(service: sandbox.Sandbox, tmp_path: Path) -> None:
    """Three syncs of one store end well, none is refused by the service, and nothing is doubled."""
    running = [
        start(service.base_url, service.api_key, tmp_path, "sync", "calls", "leads", "--json")
        for _ in range(3)
    ]
    reports = []
    for process in running:
        said, complained = process.communicate(timeout=60)
        assert process.returncode == 0, complained
        reports.append(json.loads(said))

    assert all(report["complete"] for report in reports)
    added = sum(report["tables"]["calls"]["versions"] for report in reports)
    exported = start(
        service.base_url, service.api_key, tmp_path, "export", "calls", "--to",
        str(tmp_path / "calls.jsonl"), "--json",
    )  # fmt: skip
    said, _ = exported.communicate(timeout=60)
    assert json.loads(said)["rows"] == added == 1000


def test_what_was_never_synced_is_not_exported(
    service: sandbox.Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An empty file would look like an empty account."""
    monkeypatch.setenv("DIALFRAME_API_KEY", service.api_key)
    monkeypatch.setenv("DIALFRAME_BASE_URL", service.base_url)
    file = tmp_path / "calls.parquet"

    invoke("export calls --to", file, "--store", tmp_path, ends=1)

    assert not file.exists()


def test_the_table_fits_a_narrow_terminal(
    service: sandbox.Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eighty columns, one line for each table; `--whole` reads everything again."""
    monkeypatch.setenv("DIALFRAME_API_KEY", service.api_key)
    monkeypatch.setenv("DIALFRAME_BASE_URL", service.base_url)

    lines = invoke("sync campaigns appointments --store", tmp_path).out.splitlines()
    lines += invoke("sync campaigns --whole --store", tmp_path).out.splitlines()
    assert [line.split()[0] for line in lines] == [
        "table", "campaigns", "appointments", "table", "campaigns",
    ]  # fmt: skip
    assert max(len(line) for line in lines) <= 80
