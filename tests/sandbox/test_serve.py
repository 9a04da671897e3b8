"""Starting and ending: in this process, as a process, killed at any moment."""

from __future__ import annotations

import datetime as dt
import json
import os
import random
import socket
import stat
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest

from dialframe.errors import ConfigError
from dialframe.sandbox import serve, start
from forked import Forked
from sandbox.calling import Api, Json, ok, phone

PROGRAM = """
import json, sys
from dialframe.sandbox import serve
serve(port=0, size=sys.argv[1], data=sys.argv[2] or None,
      on_ready=lambda facts: print(json.dumps(facts), flush=True))
"""


def _serve(size: str, data: str) -> None:
    serve(
        port=0,
        size=size,
        data=data or None,
        on_ready=lambda facts: print(json.dumps(facts), flush=True),  # noqa: T201 - its first line
    )


@contextmanager
def process(size: str = "empty", data: Path | str = "") -> Iterator[tuple[Forked, Json]]:
    """A sandbox as a process, with its first line."""
    running = Forked(_serve, size, str(data))
    try:
        yield running, json.loads(running.stdout.readline())
    finally:
        running.kill()
        running.stdout.close()


def test_in_process(tmp_path: Path) -> None:
    """It answers on a real socket, and is gone afterwards with its temporary folder."""
    with start(size="tiny", seed=3, as_of=dt.date(2026, 3, 1)) as sandbox:
        api = Api(sandbox.base_url, sandbox.api_key)
        assert ok(api.get("/v1/me"))["client_id"] == sandbox.client_id
        calls = api.walk("/v1/calls", limit=100)
        assert len(calls) == 1_000
        assert calls[0]["created_at"] < "2026-03-01"
        truths = sandbox.ground_truth()
        assert truths
        assert set(truths[0]) == {"fault", "resource", "id", "expected", "detail"}
        assert sandbox.console_url == f"{sandbox.base_url}/console"
        api.close()
    sandbox.close()
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{sandbox.base_url}/v1/me", trust_env=False)


def test_first_key_reaches_every_operation() -> None:
    """All scopes, all switches, webhooks, a sending key."""
    with start(size="empty") as sandbox:
        api = Api(sandbox.base_url, sandbox.api_key)
        me = ok(api.get("/v1/me"))
        assert len(me["scopes"]) == 24
        assert (me["sending_key"], me["webhooks_enabled"]) == (True, True)
        assert set(me["switches"].values()) == {True}
        sms = {"to": phone(), "body": "x", "client_reference": "x"}
        ok(api.post("/v1/sms", sms), 202)
        api.close()


def test_restart_keeps_everything(tmp_path: Path) -> None:
    """Key, token, clients, data, settings, faults, the clock and stored answers."""
    folder = tmp_path / "kept"
    with start(size="tiny", data=folder) as sandbox:
        api = Api(sandbox.base_url, sandbox.api_key)
        more = sandbox.console.create_client("second", scopes=["calls:read"])
        sandbox.console.update_account({"balance": 7, "rate_limits": None})
        sandbox.console.advance_clock(7 * 86_400)
        sandbox.console.arm_fault("me", status=500, times=2)
        assert api.get("/v1/me").status_code == 500
        first = api.post("/v1/dnc", {"phone": "+12025550177"}, key="kept")
        cursor = ok(api.get("/v1/calls", limit=10))["page"]["next_cursor"]
        facts = sandbox.ready()
        api.close()
    with start(size="empty", seed=99, data=folder) as sandbox:
        again = sandbox.ready()
        for name in ("api_key", "client_id", "console_token"):
            assert again[name] == facts[name]
        api = Api(sandbox.base_url, sandbox.api_key)
        assert api.get("/v1/me").status_code == 500
        assert api.get("/v1/me").status_code == 200
        assert sandbox.console.account()["balance"] == 7
        ahead = dt.datetime.fromisoformat(sandbox.console.advance_clock(0)) - dt.datetime.now(
            dt.UTC
        )
        assert ahead > dt.timedelta(days=6)
        replayed = api.post("/v1/dnc", {"phone": "+12025550177"}, key="kept")
        assert (replayed.content, replayed.headers["Idempotency-Replayed"]) == (
            first.content,
            "true",
        )
        assert len(ok(api.get("/v1/calls", limit=10, cursor=cursor))["data"]) == 10
        assert len(api.walk("/v1/calls", limit=100)) == 1_000
        second = Api(sandbox.base_url, more["api_key"])
        assert ok(second.get("/v1/calls"))["data"] == []
        api.close()
        second.close()


def test_files_are_the_owners_alone(tmp_path: Path) -> None:
    """The folder 0700, every file in it 0600, whatever the umask says."""
    before = os.umask(0)
    try:
        with start(size="empty", data=tmp_path / "own") as sandbox:
            api = Api(sandbox.base_url, sandbox.api_key)
            ok(api.post("/v1/dnc", {"phone": phone()}), 201)
            files = list((tmp_path / "own").iterdir())
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in files}
            api.close()
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "own").stat().st_mode) == 0o700
    assert len(modes) >= 3
    assert set(modes.values()) == {0o600}, modes


def test_keys_are_kept_as_hashes(tmp_path: Path) -> None:
    """Of a further client's key nothing but its hash is on disk."""
    with start(size="empty", data=tmp_path / "own") as sandbox:
        key = sandbox.console.create_client("n")["api_key"]
    secret = key.rpartition("_")[2].encode()
    for path in (tmp_path / "own").iterdir():
        assert secret not in path.read_bytes()


def test_what_cannot_be_used(tmp_path: Path) -> None:
    """A folder in use, of somebody else or that is a file; an unknown size; a port that is taken."""
    with start(size="empty", data=tmp_path / "own") as sandbox:
        with pytest.raises(ConfigError, match="another sandbox"):
            start(size="empty", data=tmp_path / "own")
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


def test_start_that_was_broken_off_leaves_no_half(tmp_path: Path) -> None:
    """What it left is taken for what it is, and the next start makes the whole."""
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "sandbox.new").write_bytes(b"half of a database")
    with start(size="tiny", data=folder) as sandbox:
        api = Api(sandbox.base_url, sandbox.api_key)
        assert len(api.walk("/v1/calls", limit=100)) == 1_000
        api.close()


#: How often the service is killed; more with `DIALFRAME_KILLS=50`.
KILLS = int(os.environ.get("DIALFRAME_KILLS", "2"))


def test_killed_under_load_no_answered_write_is_lost(tmp_path: Path) -> None:
    """Killed again and again while four clients write: each write is there once, in the end all are."""
    moments = random.Random(20261121)
    wanted: dict[str, Json] = {}
    answered: dict[str, bytes] = {}

    def write(facts: Json, stop: threading.Event) -> None:
        api = Api(facts["base_url"], facts["api_key"])
        while not stop.is_set():
            key = uuid.uuid4().hex
            body = {"to": "+12025550188", "body": "x", "client_reference": key}
            wanted[key] = body
            try:
                answer = api.post("/v1/sms", body, key=key)
            except httpx.TransportError:
                break
            assert answer.status_code == 202, answer.text
            answered[key] = answer.content
        api.close()

    for _ in range(KILLS):
        with process(data=tmp_path / "own") as (running, facts):
            _unlimited(facts)
            stop = threading.Event()
            writers = [threading.Thread(target=write, args=(facts, stop)) for _ in range(4)]
            for writer in writers:
                writer.start()
            enough, until = len(answered) + 12, time.monotonic() + 30
            while len(answered) < enough and time.monotonic() < until:
                time.sleep(0.02)
            time.sleep(moments.uniform(0, 0.3))
            running.kill()
            stop.set()
            for writer in writers:
                writer.join()
    assert len(answered) >= 12 * KILLS
    with process(data=tmp_path / "own") as (_, facts):
        _unlimited(facts)
        api = Api(facts["base_url"], facts["api_key"])
        for key, body in wanted.items():
            answer = api.post("/v1/sms", body, key=key)
            assert answer.status_code == 202, answer.text
            if key in answered:
                assert answer.headers["Idempotency-Replayed"] == "true"
                assert answer.content == answered[key]
        reports = api.walk("/v1/sms/delivery-reports", limit=100)
        references = [row["client_reference"] for row in reports]
        assert sorted(references) == sorted(wanted)
        token = {"Authorization": f"Bearer {facts['console_token']}"}
        url = f"{facts['console_url']}/clients/{facts['client_id']}/outbox"
        outbox = httpx.get(url, headers=token, trust_env=False).json()["data"]
        assert sorted(entry["client_reference"] for entry in outbox) == sorted(wanted)
        api.close()


def _unlimited(facts: Json) -> None:
    token = {"Authorization": f"Bearer {facts['console_token']}"}
    url = f"{facts['console_url']}/account"
    httpx.put(url, json={"rate_limits": None}, headers=token, trust_env=False).raise_for_status()


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
    with start(size="empty", host="::1") as sandbox:
        assert sandbox.base_url.startswith("http://[::1]:")
        api = Api(sandbox.base_url, sandbox.api_key)
        ok(api.get("/v1/me"))
        api.close()


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


def test_killed_while_dialing_nothing_is_half_done(tmp_path: Path) -> None:
    """Whenever it is killed: calls, attempts, outbox and events agree, and answers are replayed."""
    chance, answers = random.Random(5), {}
    campaign = ""
    for turn in range(4):
        with (
            process(data=tmp_path / "d") as (running, facts),
            closing(Api(facts["base_url"], facts["api_key"])) as api,
            httpx.Client(base_url=facts["console_url"], trust_env=False, timeout=30) as console,
        ):
            console.headers["Authorization"] = f"Bearer {facts['console_token']}"
            mine = f"/clients/{facts['client_id']}"
            if not campaign:
                settings = {"dialer": {"enabled": True, "hours": None}, "rate_limits": None}
                assert console.put("/account", json=settings).status_code == 200
                made = console.post(f"{mine}/campaigns", json={"name": "c", "status": "running"})
                campaign = made.json()["id"]
            for key, content in answers.items():
                body = {"campaign_id": campaign, "phone": key}
                replayed = api.post("/v1/leads", body, key=key)
                assert replayed.headers["Idempotency-Replayed"] == "true"
                assert replayed.content == content
            for _ in range(10):
                key = phone()
                made = api.post("/v1/leads", {"campaign_id": campaign, "phone": key}, key=key)
                answers[key] = made.content
            calls = {call["id"] for call in api.walk("/v1/calls", limit=100)}
            assert calls == {
                entry["call_id"] for entry in console.get(f"{mine}/outbox").json()["data"]
            }
            leads = api.walk("/v1/leads", limit=100)
            assert sum(lead["attempts"] for lead in leads) == len(calls)
            assert turn < 2 or calls

            def advance(console: httpx.Client = console) -> None:
                try:
                    # The turns stay within the 24 hours for which an answer is kept (limits).
                    for _ in range(100):
                        console.post("/clock", json={"advance_seconds": 140})
                except httpx.TransportError:
                    pass

            moving = threading.Thread(target=advance)
            moving.start()
            time.sleep(0.1 + 0.5 * chance.random())
            running.kill()
            moving.join()
