"""`dialframe sync` as a process: a service that says nothing, Ctrl-C, several at once, a terminal of 80 columns."""

from __future__ import annotations

import json
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

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


@pytest.fixture
def settings(service: sandbox.Sandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The environment of somebody with that account and a store in which nothing is."""
    monkeypatch.setenv("DIALFRAME_API_KEY", service.api_key)
    monkeypatch.setenv("DIALFRAME_BASE_URL", service.base_url)
    monkeypatch.setenv("DIALFRAME_STORE", str(tmp_path))


def test_ctrl_c_ends_a_sync_soon_and_says_so(silent: str, tmp_path: Path) -> None:
    """Also while every thread waits for an answer: one line, status 130, no traceback; machines are told."""
    asked = {"DIALFRAME_BASE_URL": silent, "DIALFRAME_API_KEY": "svc_test_a_b"}
    process = begun("sync", "--json", program=PATIENT, **asked, DIALFRAME_STORE=tmp_path)
    while not list(tmp_path.glob("*/lock.calls")) and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    begun_s = time.monotonic()

    said, complained = process.communicate()

    assert time.monotonic() - begun_s < 500
    assert process.returncode == 130
    assert (
        complained.strip()
        == "dialframe: stopped; what was read is kept; the next sync resumes where it stopped"
    )
    assert json.loads(said)["error"] == {
        "kind": "Stopped",
        "message": "stopped; what was read is kept; the next sync resumes where it stopped",
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


@pytest.mark.usefixtures("settings")
def test_two_notebooks_and_a_job_at_once(tmp_path: Path) -> None:
    """Three syncs of one store end well, none is refused by the service, and nothing is doubled."""
    running = [begun("sync", "calls", "leads", "--json") for _ in range(3)]
    reports = []
    for process in running:
        said, complained = process.communicate(timeout=60)
        assert process.returncode == 0, complained
        reports.append(json.loads(said))

    assert all(report["complete"] for report in reports)
    added = sum(report["tables"]["calls"]["versions"] for report in reports)
    exported = invoke("export calls --json --to", tmp_path / "calls.jsonl").facts
    assert exported["rows"] == added == 1000


@pytest.mark.usefixtures("settings")
def test_what_was_never_synced_is_not_exported(tmp_path: Path) -> None:
    """An empty file would look like an empty account."""
    file = tmp_path / "calls.parquet"

    invoke("export calls --to", file, ends=1)

    assert not file.exists()


@pytest.mark.usefixtures("settings")
def test_the_table_fits_a_narrow_terminal() -> None:
    """Eighty columns, one line for each table; `--whole` reads everything again."""
    lines = invoke("sync campaigns appointments").out.splitlines()
    lines += invoke("sync campaigns --whole").out.splitlines()
    assert [line.split()[0] for line in lines] == [
        "table", "campaigns", "appointments", "table", "campaigns",
    ]  # fmt: skip
    assert max(len(line) for line in lines) <= 80
