"""`dialframe webhooks listen` as a process: what it prints, what it keeps, how it ends."""

from __future__ import annotations

import json
import os
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

import httpx
import pytest

from cli.commands import example, invoke
from dialframe.account import connect
from webhooks.made import CALLER, OLD, PERSON, SECRET, Made, delivery, event

ACCOUNT = {
    "DIALFRAME_BASE_URL": "http://127.0.0.1:9",
    "DIALFRAME_API_KEY": "svc_test_some_secret",
    "DIALFRAME_WEBHOOK_SECRET": f"{SECRET}, {OLD}",
}
TRUST = ssl.create_default_context()


class Listening:
    """A receiver in a process of its own."""

    def __init__(
        self, store: Path, *options: str, stdout: int | IO[bytes] = subprocess.PIPE
    ) -> None:
        self.store = store
        self.process = subprocess.Popen(
            [sys.executable, "-m", "dialframe", *example("webhooks listen"), *options],
            env={**os.environ, **ACCOUNT, "DIALFRAME_STORE": str(store)},
            stdout=stdout,
            stderr=subprocess.PIPE,
        )
        assert self.process.stderr is not None
        self.ready = self.process.stderr.readline().decode()
        self.url = self.ready.split("received at ")[1].split(" ")[0]

    def post(self, made: Made) -> int:
        """The status that a delivery is answered with."""
        answer = httpx.post(self.url, content=made.body, headers=made.headers, verify=TRUST)
        return answer.status_code

    def line(self) -> str:
        """The next line on standard output."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().decode()

    def end(self, number: signal.Signals) -> tuple[str, str, float]:
        """What it printed since on standard output and error, and how many seconds it took to end."""
        began = time.monotonic()
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=10)
        return (out or b"").decode(), err.decode(), time.monotonic() - began

    def kept(self) -> list[str]:
        """Ids of the events in the store."""
        with connect(store=self.store, environment=ACCOUNT) as account:
            return list(account.events()["id"])


@pytest.fixture(scope="module")
def listening(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listening]:
    """One process for the tests that end nothing."""
    started = Listening(tmp_path_factory.mktemp("store"), "--json")
    yield started
    started.process.kill()
    started.process.communicate()


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The environment of somebody with an account and the secrets of an endpoint."""
    for name, value in {**ACCOUNT, "DIALFRAME_STORE": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)


def fresh(number: int = 1, secret: str = SECRET, **changes: object) -> Made:
    """A delivery signed now."""
    return delivery(event(number, **changes), at=datetime.now(UTC), secrets=(secret,))


def test_each_event_is_one_json_object_with_masked_numbers(listening: Listening) -> None:
    """Each new event is printed once, whichever of the two secrets signed, and is stored."""
    for number, secret in ((1, SECRET), (2, OLD), (1, OLD), (3, SECRET)):
        assert listening.post(fresh(number, secret)) == 204

    said = [listening.line() for _ in range(3)]

    assert [json.loads(line)["id"] for line in said] == [event(n)["id"] for n in (1, 2, 3)]
    assert json.loads(said[0])["data"]["to"] == "+121******42"
    assert json.loads(said[0])["type"] == "call.completed"
    assert not any(number[1:] in line for line in said for number in (PERSON, CALLER))
    assert "555-0142" not in said[0]
    assert listening.kept() == [event(n)["id"] for n in (1, 2, 3)]
    assert listening.url.endswith("/hooks/calls")


def test_what_is_not_genuine_is_refused(listening: Listening) -> None:
    """A wrong secret and an old timestamp are 401, and neither is stored."""
    assert listening.post(fresh(7, "whsec_wrong")) == 401
    assert listening.post(delivery(number=8)) == 401
    assert not {event(7)["id"], event(8)["id"]} & set(listening.kept())


def test_ctrl_c_ends_it_with_status_0(tmp_path: Path) -> None:
    """Within two seconds, with one line per event for people and one per kind of refusal."""
    one = Listening(tmp_path)
    assert one.post(fresh()) == 204
    line = one.line()
    for _ in range(12):
        assert one.post(fresh(2, "whsec_wrong")) == 401

    out, err, took_s = one.end(signal.SIGINT)

    assert (one.process.returncode, out) == (0, "")
    assert took_s < 2
    assert line.split()[2:] == ["call.completed", event()["id"], "+121******99", "+121******42"]
    assert len(err.splitlines()) == 3
    assert "refused: the delivery's signature" in err
    assert "(10 times)" in err.splitlines()[1]
    assert err.splitlines()[2] == "dialframe: stopped; new events kept in the store: 1"
    assert not any(secret in line + err + one.ready for secret in (SECRET, OLD, "some_secret"))


def test_an_event_that_was_accepted_survives_kill_9(tmp_path: Path) -> None:
    """Killed right after the answer, with nobody reading its output: what it accepted is there."""
    one = Listening(tmp_path, "--show-numbers")
    answers = [one.post(fresh(number)) for number in range(20)]
    one.process.kill()
    out, _ = one.process.communicate()

    assert answers == [204] * 20
    assert one.kept() == [event(number)["id"] for number in range(20)]
    assert PERSON in out.decode()


def test_output_that_nobody_reads_hinders_nothing(tmp_path: Path) -> None:
    """With a full pipe deliveries are still kept and answered, and a signal still ends it in time."""
    one = Listening(tmp_path, "--json")
    big = [fresh(number, data={"x": "a" * 50_000}) for number in range(5)]
    answers = [one.post(made) for made in big]
    began = time.monotonic()
    one.process.send_signal(signal.SIGTERM)
    status = one.process.wait(timeout=10)
    took_s = time.monotonic() - began
    _, err = one.process.communicate()

    assert (answers, status) == ([204] * 5, 0)
    assert took_s < 2
    assert err.decode() == "dialframe: stopped; new events kept in the store: 5\n"
    assert len(one.kept()) == 5


def test_a_closed_pipe_is_said_once(tmp_path: Path) -> None:
    """When the reader is gone, events are stored all the same, until the terminal is closed."""
    reading, writing = os.pipe()
    one = Listening(tmp_path, stdout=writing)
    os.close(reading)
    os.close(writing)
    answers = [one.post(fresh(number)) for number in range(3)]

    _, err, took_s = one.end(signal.SIGHUP)

    assert took_s < 2
    assert (answers, one.process.returncode) == ([204] * 3, 0)
    assert err.splitlines() == [
        "dialframe: nobody reads the events any more; they are still stored",
        "dialframe: stopped; new events kept in the store: 3",
    ]
    assert len(one.kept()) == 3


@pytest.mark.parametrize(
    ("variables", "options", "words"),
    [
        ({"DIALFRAME_WEBHOOK_SECRET": ""}, [], "set DIALFRAME_WEBHOOK_SECRET"),
        ({"DIALFRAME_WEBHOOK_SECRET": " , "}, [], "set DIALFRAME_WEBHOOK_SECRET"),
        ({}, ["--secret-env", "OTHER"], "set OTHER"),
        ({}, ["--secret-env", "whsec_abc-def"], "never the secret itself"),
        ({"DIALFRAME_BASE_URL": ""}, [], "DIALFRAME_BASE_URL"),
        ({}, ["--path", "hooks"], "path"),
        ({}, ["--host", "256.0.0.1"], "256.0.0.1"),
    ],
)
@pytest.mark.usefixtures("settings")
def test_a_wrong_setting_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], options: list[str], words: str
) -> None:
    """Status 2, one line, and no secret in it."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    err = invoke("webhooks listen --port 0", *options, ends=2).err

    assert len(err.splitlines()) == 1
    assert words in err
    assert "whsec_" not in err


@pytest.mark.usefixtures("settings")
def test_a_port_that_is_taken_is_named(listening: Listening) -> None:
    """Two receivers cannot have one port."""
    port = listening.url.split(":")[2].split("/")[0]
    invoke("webhooks listen --port", port, ends=2, err=f"port {port}")


@pytest.mark.usefixtures("settings")
def test_events_are_exported(listening: Listening, tmp_path: Path) -> None:
    """`dialframe export events` writes the stored events."""
    assert listening.post(fresh(9)) == 204
    file = tmp_path / "events.jsonl"
    told = invoke("export events --json --to", file, "--store", listening.store).facts

    written = [json.loads(line)["id"] for line in file.read_text().splitlines()]
    assert told["rows"] == len(written)
    assert event(9)["id"] in written
    assert written == listening.kept()
