"""A write that reaches people is not sent long after it was meant, and says whom it would reach."""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import os
import random
import resource
import signal
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from client.fakes import (
    CAMPAIGN,
    LEAD,
    PHONE,
    SENT,
    START,
    FakeClock,
    Service,
    a_text,
    an_id,
    answer,
    connected,
    on_disk,
    problem,
    send_sms,
)
from dialframe.client import Client, Options
from dialframe.errors import (
    ConfigError,
    DialframeError,
    OutcomeUnknown,
    StoreError,
    TransportError,
)

MASKED = "+121******42"
CUT = httpx.ReadError("cut")
APPOINTMENT, CALLBACK = an_id("appt"), an_id("cb")

Asking = Callable[[Client, Options], Any]

#: A write, what it does in words, whom it reaches, its tier, and when sending it again is late.
REACHING: list[tuple[str, Asking, str, str, int, timedelta | None]] = [
    ("calls.start", lambda c, o: c.calls.start(to=PHONE, agent_extension="1", options=o),
     f"calls {MASKED}", MASKED, 2, timedelta(minutes=5)),
    ("sms.send", lambda c, o: c.sms.send(to=PHONE, body="b", client_reference="r", options=o),
     f"texts {MASKED}", MASKED, 2, timedelta(minutes=5)),
    ("leads.create", lambda c, o: c.leads.create(
        campaign_id=CAMPAIGN, phone=PHONE, dial_now=True, dial_within_seconds=60, options=o),
     f"calls {MASKED}", MASKED, 1, timedelta(seconds=60)),
    ("leads.create, dialed by default", lambda c, o: c.leads.create(
        campaign_id=CAMPAIGN, phone=PHONE, dial_now=True, options=o),
     f"calls {MASKED}", MASKED, 1, timedelta(seconds=300)),
    ("leads.create, not dialed", lambda c, o: c.leads.create(
        campaign_id=CAMPAIGN, phone=PHONE, options=o),
     f"leads.create {MASKED}", MASKED, 1, None),
    ("campaigns.resume", lambda c, o: c.campaigns.resume(CAMPAIGN, options=o),
     f"starts the calls of {CAMPAIGN}", CAMPAIGN, 2, timedelta(minutes=5)),
    ("campaigns.pause", lambda c, o: c.campaigns.pause(CAMPAIGN, options=o),
     f"campaigns.pause {CAMPAIGN}", CAMPAIGN, 1, None),
    ("callbacks.create", lambda c, o: c.callbacks.create(
        lead_id=LEAD, scheduled_at=START + timedelta(hours=3), options=o),
     f"has the platform call {LEAD} at 2026-11-21 12:00 UTC", LEAD, 2, timedelta(hours=3)),
    ("appointments.cancel", lambda c, o: c.appointments.cancel(APPOINTMENT, options=o),
     f"may text the customer of {APPOINTMENT}", APPOINTMENT, 2, timedelta(minutes=5)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("ask", "what", "to", "tier", "window"), [case[1:] for case in REACHING],
    ids=[case[0] for case in REACHING],
)  # fmt: skip
def test_open_write_says_whom_it_would_reach_and_is_refused_when_late(
    ask: Asking, what: str, to: str, tier: int, window: timedelta | None, tmp_path: Path
) -> None:
    """In time it is sent again; after its window only with `late=True`; what reaches nobody always."""
    clock, service = FakeClock(), Service(CUT, CUT, answer({}), answer({}))
    client = connected(service, tmp_path, clock=clock, max_attempts=1)
    with pytest.raises(TransportError):
        ask(client, Options(idempotency_key="k"))

    (write,) = client.writes.pending()

    assert (write.what, write.to, write.tier) == (what, to, tier)
    assert write.late_at == (None if window is None else START + window)
    assert PHONE not in f"{write} {write!r}"
    clock.elapsed_s += 59
    with pytest.raises(DialframeError):
        client.writes.settle("k")
    assert len(service.requests) == 2
    clock.elapsed_s += (window or timedelta(hours=20)).total_seconds()
    if window is not None:
        with pytest.raises(ConfigError, match="late: look at the resource first") as caught:
            client.writes.settle("k")
        assert what in str(caught.value)
        assert len(service.requests) == 2
    with pytest.raises(DialframeError):
        client.writes.settle("k", late=True)
    assert len(service.requests) == 3


def test_the_error_of_a_lost_answer_says_what_settling_does(tmp_path: Path) -> None:
    """Not that it asks, but that it sends, and whom that reaches."""
    client = connected(Service(CUT), tmp_path, max_attempts=1)

    with pytest.raises(TransportError) as caught:
        send_sms(client)

    assert "sends it again with the same key, which texts +121******42 now" in str(caught.value)
    assert PHONE not in str(caught.value)


def test_no_attempt_is_made_after_the_window(tmp_path: Path) -> None:
    """A service that says `not yet` for half an hour does not get a text half an hour late."""
    clock = FakeClock()
    service = Service(problem(409, "conflict", Retry_After="100"))
    client = connected(service, tmp_path, clock=clock)

    with pytest.raises(DialframeError):
        send_sms(client)

    assert clock.elapsed_s < 300
    assert len(service.requests) == 3


#: Writes whose window is over after an hour.
RESENT = [REACHING[n][1] for n in (0, 1, 2, 3, 5)]


@pytest.mark.parametrize("ask", RESENT)
@pytest.mark.parametrize("end", [KeyboardInterrupt(), CUT], ids=["interrupted", "cut"])
def test_nothing_is_dialed_late_after_a_crash(
    ask: Asking, end: BaseException, tmp_path: Path
) -> None:
    """Ended while it was being sent, and resumed an hour later by everything there is."""
    clock, service = FakeClock(), Service(answer({}))
    client = connected(Service(end), tmp_path, clock=clock, max_attempts=1)
    with pytest.raises((KeyboardInterrupt, TransportError)):
        ask(client, Options(idempotency_key="k"))
    clock.elapsed_s += 3600

    resumed = connected(service, tmp_path, clock=clock, max_attempts=1)
    (write,) = resumed.writes.pending()
    with pytest.raises(ConfigError, match="late"):
        resumed.writes.settle(write.key)
    with pytest.raises(ConfigError, match="late"):
        ask(resumed, Options(idempotency_key="k"))

    assert service.requests == []


def dial_until_killed(folder: str, seed: int) -> None:
    """Writes that reach people, one after the other; each that arrives is a line of the file `dialed`."""
    dice = random.Random(seed)
    dialed = os.open(f"{folder}/dialed", os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)

    def service(request: httpx.Request) -> httpx.Response:
        time.sleep(dice.uniform(0, 0.003))
        os.write(dialed, request.headers["Idempotency-Key"].encode() + b"\n")
        time.sleep(dice.uniform(0, 0.003))
        return problem(503, "temporarily_unavailable", Retry_After="1")

    client = connected(service, Path(folder) / "journal", clock=FakeClock(), max_attempts=1)
    for n in itertools.count():
        with contextlib.suppress(DialframeError):
            RESENT[n % len(RESENT)](client, Options(idempotency_key=f"k{n}"))


#: `DIALFRAME_LATE_KILLS=100` for more.
KILLS = int(os.environ.get("DIALFRAME_LATE_KILLS", "3"))


def test_nothing_is_dialed_late_after_a_kill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Processes that were killed at any moment, and everything of theirs that is open an hour later."""
    # The server that forks finds this module, so that no child has to load it.
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    starting = multiprocessing.get_context("forkserver")
    starting.set_forkserver_preload(["client.test_late_writes"])
    dice, arrived, opened = random.Random(4), 0, 0
    for crash in range(KILLS):
        folder = tmp_path / str(crash)
        folder.mkdir()
        process = starting.Process(target=dial_until_killed, args=(str(folder), crash))
        process.start()
        until_s = time.monotonic() + 120
        while not (folder / "dialed").exists() or not (folder / "dialed").stat().st_size:
            assert time.monotonic() < until_s
            time.sleep(0.002)
        time.sleep(dice.uniform(0, 0.03))
        process.kill()
        process.join(60)
        assert process.exitcode == -signal.SIGKILL
        arrived += len((folder / "dialed").read_text().split())

        clock, service = FakeClock(), Service(answer({}))
        clock.elapsed_s += 3600
        resumed = connected(service, folder / "journal", clock=clock, max_attempts=1)
        pending = resumed.writes.pending()
        opened += len(pending)
        for write in pending:
            with pytest.raises(ConfigError, match="late"):
                resumed.writes.settle(write.key)
            with pytest.raises(ConfigError, match="late"):
                RESENT[int(write.key[1:]) % len(RESENT)](
                    resumed, Options(idempotency_key=write.key)
                )
        assert service.requests == []
    # Kills that never hit a write would prove nothing.
    assert arrived >= KILLS
    assert opened >= KILLS / 2


def test_outcome_that_the_service_does_not_know_is_asked_for_at_any_time(tmp_path: Path) -> None:
    """It keeps the key and never acts on it again (contract, Idempotency 7)."""
    clock, service = FakeClock(), Service(problem(409, "outcome_unknown"))
    client = connected(service, tmp_path, clock=clock)
    with pytest.raises(OutcomeUnknown):
        send_sms(client, "k")
    clock.elapsed_s += 7200

    with pytest.raises(OutcomeUnknown):
        client.writes.settle("k")
    assert len(service.requests) == 2


def test_bytes_leave_the_journal_when_a_write_is_settled(tmp_path: Path) -> None:
    """An answered or refused one at once, an open one after 24 hours."""
    clock = FakeClock()
    service = Service(SENT, problem(422, "on_dnc"), CUT, answer(a_text("+12125550143")))
    client = connected(service, tmp_path, clock=clock, max_attempts=1)
    send_sms(client)
    with pytest.raises(DialframeError):
        send_sms(client)
    assert PHONE.encode() not in on_disk(tmp_path)

    with pytest.raises(TransportError):
        send_sms(client)
    assert PHONE.encode() in on_disk(tmp_path)
    clock.elapsed_s += 24 * 3600
    send_sms(client, to="+12125550143")
    assert PHONE.encode() not in on_disk(tmp_path)


def test_a_number_can_be_erased_from_the_journal(tmp_path: Path) -> None:
    """What is open and was about it can then be dismissed, and no more."""
    client = connected(Service(CUT), tmp_path, max_attempts=1)
    for phone in (PHONE, "+12125550143"):
        with pytest.raises(TransportError):
            client.dnc.add(phone, options=Options(idempotency_key=phone[-2:]))

    erased = client.writes.forget(PHONE)

    assert erased == 1
    assert PHONE.encode() not in on_disk(tmp_path)
    assert {write.key: write.request is None for write in client.writes.pending()} == {
        "42": True, "43": False,
    }  # fmt: skip
    with pytest.raises(ConfigError, match="were erased"):
        client.writes.settle("42")
    client.writes.dismiss("42")


def test_full_disk_is_called_so(tmp_path: Path) -> None:
    """Nothing is sent, and what to do is said; with room again it goes."""
    connected(Service(answer({})), tmp_path).dnc.add(PHONE)
    service = Service(answer({}))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    # No file grows beyond this: the bytes of the write do not fit.
    resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, before[1]))
    try:
        with pytest.raises(StoreError, match=r"so nothing was sent: make room"):
            connected(service, tmp_path).leads.create(
                campaign_id=CAMPAIGN, phone=PHONE, custom_fields={"x": "y" * 50_000}
            )
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not service.requests
    assert (tmp_path / "log.jsonl").exists()
