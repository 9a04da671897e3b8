"""Starting and ending: the first line, signals, data kept through a kill, seeds and sizes; in this process too."""

from __future__ import annotations

import datetime as dt
import json
import os
import signal
import socket
import stat
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path

import httpx
import pytest

from dialframe.errors import ConfigError
from dialframe.sandbox import Sandbox, serve, start
from forked import Forked
from sandbox.service_bench import (
    OPERATIONS,
    PHONE,
    SCOPES,
    SWITCHES,
    Json,
    Party,
    Receiver,
    Service,
    Site,
    answered,
    eventually,
    fresh_key,
    moment,
    problem,
    shaped,
)

AS_OF = "2026-09-30"


def test_account_is_open_out_of_the_box(tmp_path: Path) -> None:
    """One JSON object tells how to reach it, at the address asked for; every operation answers its key.

    Nothing else is ever written to standard output, and the data outlive a clean end.
    """
    data = ("--size", "empty", "--data", str(tmp_path))
    with Service(*data, "--host", "127.0.0.2") as service:
        ready = service.ready
        assert set(ready) == {"base_url", "api_key", "client_id", "console_url", "console_token"}
        assert ready["base_url"].startswith("http://127.0.0.2:")
        assert ready["console_url"] == ready["base_url"] + "/console"
        assert ready["api_key"].startswith("svc_test_")
        assert ready["client_id"].startswith("cli_")
        service.first_client().get("/v1/nothing")
        open_to_everything(service)
        campaign = service.first_client().campaign("draft")
        status, _, printed = service.stop(signal.SIGTERM)
        assert (status, printed) == (0, [])
    with Service(*data) as again:
        answered(again.first_client().get(f"/v1/campaigns/{campaign}"), 200)


def open_to_everything(service: Service) -> None:
    """Every scope, a sending key, every switch on, rate limits as in the contract."""
    account = service.console.account()
    assert all(account[switch] is True for switch in SWITCHES.values())
    assert account["webhooks_enabled"] is True
    assert account["allow_loopback_webhooks"] is True
    assert account["rate_limits"] == "contract"
    assert "IR" in account["sanctioned_countries"]
    service.console.change(rate_limits=None)
    party = service.first_client()
    me = answered(party.get("/v1/me"), 200)
    assert (sorted(me["scopes"]), me["sending_key"]) == (sorted(SCOPES), True)
    assert set(me["switches"].values()) == {True}
    assert not party.walk("/v1/calls")
    assert not party.walk("/v1/campaigns")
    for operation in OPERATIONS:
        response = party.run(operation.name)
        if operation.name == "whatsapp.send":
            problem(response, 403, "tier_not_enabled")
        else:
            assert response.status_code not in (401, 403), operation.name
    for path in ("/v1/leads", "/v1/calls", "/v1/campaigns", "/v1/appointments"):
        fresh = service.console.client(scopes=SCOPES)
        assert fresh.walk(path) == []


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signal_ends_it_within_two_seconds(
    tmp_path: Path, receiver: Receiver, how: signal.Signals
) -> None:
    """Status 0 within 2 s, with a slow request, a slow delivery and open connections; no trace."""
    with Service("--size", "empty", env={"TMPDIR": str(tmp_path)}) as service:
        party = service.first_client()
        body = {"url": receiver.url(receiver.new_path(hang=True)), "events": ["call.completed"]}
        answered(party.post("/v1/webhooks", body), 201)
        party.event()
        service.console.do("POST", "/faults", {"operation": "me", "delay_seconds": 8}, status=201)
        slow = threading.Thread(target=swallow, args=(party,), daemon=True)
        slow.start()
        time.sleep(0.2)
        status, seconds, _ = service.stop(how)
        slow.join(60)
        assert status == 0, service.log()[-2000:]
        assert seconds < 2
        assert "Traceback" not in service.log()
        assert [*tmp_path.iterdir()] == []


def swallow(party: Party) -> None:
    """A request whose answer, if any, does not matter."""
    url = party.service.base_url + "/v1/me"
    with suppress(httpx.TransportError):
        party.http.get(url, headers={"Authorization": f"Bearer {party.key}"})


# --- kept data --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Killed:
    """A service that was killed, started again, and what was known before."""

    again: Service
    party: Party
    second_key: str
    clock: datetime
    stored: tuple[Json, str, Json]
    text: Json
    cursor: str
    cut_short: tuple[Json, str]
    delivery: tuple[str, str]
    console_token: str


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory, receiver: Receiver) -> Iterator[Killed]:
    """One kill, with a delivery that waits, a write under way and answered ones."""
    folder = tmp_path_factory.mktemp("killed") / "kept"
    data = ("--size", "empty", "--data", str(folder))
    path = receiver.new_path(500)
    with Service(*data) as first:
        first.console.change(rate_limits=None, balance=77)
        clock = first.console.advance(1_000)
        party, second = first.first_client(), first.console.client()
        campaign = party.campaign("paused")
        key, body = fresh_key(), {"campaign_id": campaign, "phone": party.phone()}
        stored = answered(party.post("/v1/leads", body, idem=key), 200)
        party.on_dnc(PHONE)
        text = {"to": party.phone(), "body": "Hello", "client_reference": "kept-1"}
        answered(party.post("/v1/sms", text), 202)
        party.calls([{"created_at": "2026-01-01T00:00:00Z"}] * 3)
        page = answered(party.get("/v1/calls", {"limit": "1"}), 200)
        hook = {"url": receiver.url(path), "events": ["call.completed"]}
        answered(party.post("/v1/webhooks", hook), 201)
        event_id = party.event()
        receiver.wait(path)
        slow_key, slow = fresh_key(), {"campaign_id": campaign, "phone": party.phone()}
        for fault in (
            {"operation": "leads.create", "delay_seconds": 30},
            {"operation": "me", "status": 500, "times": 2},
        ):
            first.console.do("POST", "/faults", fault, status=201)
        assert party.get("/v1/me").status_code == 500
        with pytest.raises(httpx.TimeoutException):
            party.post("/v1/leads", slow, idem=slow_key, timeout=0.3)
        first.process.kill()
    receiver.answer(path, 200)
    with Service(*data, "--port", first.base_url.rsplit(":", 1)[1]) as again:
        yield Killed(
            again, Party(again, party.key, party.client_id), second.key, clock, (body, key, stored), text, page["page"]["next_cursor"], (slow, slow_key),
            (path, event_id), first.ready["console_token"],
        )  # fmt: skip


def test_retry_outlives_a_kill(killed: Killed, receiver: Receiver) -> None:
    """A delivery that waits for its retry is made by the service that is started again."""
    path, event_id = killed.delivery
    killed.again.console.advance(61)
    assert receiver.wait(path, 2)[1].headers["service-event-id"] == event_id


def test_nothing_answered_is_lost_through_a_kill(killed: Killed) -> None:
    """Keys, token, settings, faults, clock, cursors, texts, stored answers and the Do-Not-Call list."""
    again, party = killed.again, killed.party
    seen = (again.ready["client_id"], again.ready["console_token"])
    assert seen == (party.client_id, killed.console_token)
    assert [party.get("/v1/me").status_code for _ in range(2)] == [500, 200]
    assert again.console.account()["balance"] == 77
    assert again.console.now() >= killed.clock
    for old_key in (party.key, again.ready["api_key"], killed.second_key):
        answered(Party(again, old_key, party.client_id).get("/v1/me"), 200)
    assert len(answered(party.get("/v1/calls", {"cursor": killed.cursor}), 200)["data"]) == 2
    assert killed.text["to"] in [entry["to"] for entry in party.outbox("sms")]
    problem(party.post("/v1/sms", killed.text), 409, "duplicate_client_reference")
    body, key, stored = killed.stored
    replayed = party.post("/v1/leads", body, idem=key)
    assert replayed.headers["idempotency-replayed"] == "true"
    assert replayed.json() == stored
    checked = answered(party.post("/v1/dnc/check", {"phones": [PHONE]}), 200)
    assert checked["data"][0]["listed"] is True


def test_write_that_a_kill_cut_short_is_settled_by_its_key(killed: Killed) -> None:
    """A key that was reserved when the service was killed does not answer `conflict` for ever."""
    party, (body, key) = killed.party, killed.cut_short
    retry = party.post("/v1/leads", body, idem=key)
    held = [
        lead for lead in party.walk("/v1/leads", limit="100") if lead["phone"] == body["phone"]
    ]
    if retry.status_code == 409:
        problem(retry, 409, "outcome_unknown")
        assert len(held) <= 1
    else:
        assert answered(retry, 200)["status"] == "accepted"
        assert len(held) == 1


# --- the synthetic account --------------------------------------------------------------------


KINDS = {
    "/v1/calls": "call",
    "/v1/leads": "lead",
    "/v1/campaigns": "campaign",
    "/v1/callbacks": "callback",
    "/v1/appointments": "appointment",
}


def records(service: Service) -> dict[str, list[Json]]:
    """Everything that the lists of the first client have."""
    service.console.change(rate_limits=None)
    party = service.first_client()
    lists = {path: party.walk(path, limit="100") for path in KINDS if path != "/v1/callbacks"}
    lists["/v1/callbacks"] = [
        callback
        for campaign in lists["/v1/campaigns"]
        for callback in party.walk("/v1/callbacks", campaign_id=campaign["id"], limit="100")
    ]
    return lists


def details(service: Service, found: dict[str, list[Json]]) -> dict[str, bytes]:
    """What is read one by one of some calls, leads and campaigns, as bytes."""
    party = service.first_client()
    paths = [f"/v1/campaigns/{each['id']}" for each in found["/v1/campaigns"]]
    paths += [f"{path}/progress" for path in paths]
    paths += [f"/v1/leads/{each['id']}/history" for each in found["/v1/leads"][:20]]
    for call in found["/v1/calls"][:40]:
        where = f"/v1/calls/{call['id']}"
        paths += [where, *(f"{where}/{what}" for what in ("recording", "transcript", "summary"))]
    answers = {path: party.get(path) for path in paths}
    return {path: answer.content for path, answer in answers.items() if answer.is_success}


def account(*options: str) -> tuple[dict[str, list[Json]], dict[str, bytes]]:
    """The tiny account that a service makes."""
    with Service("--size", "tiny", *options) as service:
        lists = records(service)
        return lists, details(service, lists)


@pytest.fixture(scope="module")
def tiny() -> tuple[dict[str, list[Json]], dict[str, bytes]]:
    """The account of seed 7."""
    return account("--seed", "7", "--as-of", AS_OF)


@pytest.mark.parametrize(
    "options", [("--as-of", AS_OF), ("--seed", "8", "--as-of", AS_OF), ("--as-of", "2026-06-15")]
)
def test_seed_and_day_make_the_account_byte_for_byte(
    tiny: tuple[dict[str, list[Json]], dict[str, bytes]], options: tuple[str, ...]
) -> None:
    """A second run has the same records in the same order; another seed or day none; history ends on the day."""
    lists, single = account(*options)
    assert len(single) > 100
    if options == ("--as-of", AS_OF):
        assert json.dumps(lists) == json.dumps(tiny[0])
        assert single == tiny[1]
    else:
        assert not {each["id"] for each in lists["/v1/calls"]} & {
            each["id"] for each in tiny[0]["/v1/calls"]
        }
    calls = [moment(call["created_at"]) for call in lists["/v1/calls"]]
    assert 0 < (date.fromisoformat(options[-1]) - max(calls).date()).days <= 7
    for path, kind in KINDS.items():
        assert lists[path], f"no {kind} at all"
        for record in lists[path]:
            shaped(kind, record)


@pytest.mark.parametrize(
    "options", [("--as-of", "yesterday"), ("--as-of", "2026-13-01"), ("--size", "gigantic")]
)
def test_bad_option_ends_the_start(options: tuple[str, str]) -> None:
    """A day or size that is none is refused before anything is served."""
    with pytest.raises(AssertionError, match="said nothing"):
        Service(*options)


def test_dial_option_lets_campaigns_dial(service: Service) -> None:
    """With `--dial` a running campaign's leads are called as the clock goes on; without it, none."""
    assert service.console.account()["dialer"]["enabled"] is False
    with Service("--size", "empty", "--dial") as dialing:
        party = dialing.console.client()
        campaign = party.campaign("running")
        for _ in range(3):
            party.lead(campaign, phone=party.phone())
        dialing.console.advance(3 * 86_400)
        assert party.outbox("call")
        assert len(party.walk("/v1/calls")) == len(party.outbox())


# --- in this process ---------------------------------------------------------------------------


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


def parent_of_a_sandbox() -> None:
    """Start a sandbox in a process of one's own, and do nothing more."""
    if os.fork():
        time.sleep(60)
        return

    def say(facts: Mapping[str, str]) -> None:
        print(json.dumps({"pid": os.getpid(), **facts}), flush=True)  # noqa: T201 - read by the test

    serve(port=0, size="empty", on_ready=say)


def test_it_ends_with_its_parent() -> None:
    """Killed without a word, the parent takes the sandbox with it: no orphan keeps a key."""
    parent = Forked(parent_of_a_sandbox)
    ready = json.loads(parent.stdout.readline())
    answered_before = _answers(ready["base_url"])
    parent.kill()

    assert answered_before
    eventually(lambda: not _answers(ready["base_url"]), 20)
    eventually(lambda: not _lives(ready["pid"]), 20)
    parent.let_go()


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
