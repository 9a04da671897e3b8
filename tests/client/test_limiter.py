"""Nobody is refused: one bucket for each key, shared by threads and processes, with room left by bulk work."""

from __future__ import annotations

import errno
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialframe.client import SHARED, RateLimiter
from dialframe.contract import limits
from forked import Forked

SERVER = limits.BUCKETS[0]
Shared = type(SHARED)
BURST = 10


def turn_of(limiter: RateLimiter, now_s: float, **more: Any) -> Any:
    """A turn that there is."""
    turn = limiter.reserve(now_s, **more)
    assert turn is not None
    return turn


class ServersBucket:
    """The contract's token bucket, counted at the service."""

    def __init__(self) -> None:
        self._tokens = float(SERVER.burst)
        self._at_s = 0.0

    def takes(self, at_s: float) -> bool:
        self._tokens = min(SERVER.burst, self._tokens + (at_s - self._at_s) * SERVER.rate_per_s)
        self._at_s = at_s
        if self._tokens < 1.0 - 1e-9:
            return False
        self._tokens -= 1.0
        return True


def test_burst_goes_at_once_and_the_rest_by_the_rate() -> None:
    """Ten at once, then one each tenth of a second."""
    limiter = RateLimiter()
    turns = [turn_of(limiter, 0.0) for _ in range(13)]

    assert [round(turn.at_s, 6) for turn in turns] == [0.0] * 10 + [0.1, 0.2, 0.3]


def test_turn_beyond_the_deadline_is_not_given_and_costs_nothing() -> None:
    """Who cannot wait takes no place in the queue."""
    limiter = RateLimiter(rate_per_s=1.0, burst=1)
    turn_of(limiter, 0.0)

    assert limiter.reserve(0.0, latest_s=0.5) is None
    turn = turn_of(limiter, 0.0, latest_s=1.0)
    assert turn.at_s == 1.0


def test_pause_holds_everybody_and_voids_the_turns_given_out() -> None:
    """After a refusal nobody sends before the service said, and waiting turns are taken anew."""
    limiter = RateLimiter()
    waiting = [turn_of(limiter, 0.0) for _ in range(12)][-1]

    limiter.pause(1.0, for_s=2.0, sent_at_s=0.5)
    turn = turn_of(limiter, 1.1)

    assert not limiter.stands(waiting, 1.1)
    assert turn.at_s == pytest.approx(3.0)
    assert limiter.stands(turn, 3.0)


def test_refusals_on_their_way_do_not_add_up() -> None:
    """Ten threads that are refused together begin one pause, which the longest wait ends."""
    limiter = RateLimiter()
    for _ in range(10):
        limiter.pause(1.0, for_s=2.0, sent_at_s=0.5)
    limiter.pause(1.0, for_s=2.5, sent_at_s=0.5)
    turn = turn_of(limiter, 1.0)

    assert turn.at_s == pytest.approx(3.5)
    assert turn.pauses == 1


def test_bucket_is_empty_after_a_pause() -> None:
    """What came back meanwhile is left to whoever else uses the key."""
    limiter = RateLimiter()
    limiter.pause(0.0, for_s=0.5, sent_at_s=-1.0)
    turns = [turn_of(limiter, 0.0) for _ in range(4)]

    assert [round(turn.at_s, 6) for turn in turns] == [0.5, 0.6, 0.7, 0.8]


def test_bulk_leaves_room_and_takes_no_turn_ahead() -> None:
    """A bulk request that cannot go now is told when to ask again, and nobody stands behind it."""
    limiter = RateLimiter()

    asked = [turn_of(limiter, 0.0, bulk=True) for _ in range(20)]
    first, second, third = (turn_of(limiter, 0.0) for _ in range(3))

    assert sum(turn.taken for turn in asked) == 8
    assert all(turn.at_s == pytest.approx(0.1) for turn in asked[8:])
    assert not limiter.stands(asked[-1], 0.1)
    assert (first.at_s, second.at_s, third.at_s) == (0.0, 0.0, pytest.approx(0.1))


def test_bucket_of_another_clock_is_full() -> None:
    """After a restart the machine's clock begins anew: what was written before says nothing."""
    limiter = RateLimiter()
    limiter.pause(1e6, for_s=30.0, sent_at_s=1e6 - 1)
    turn = turn_of(limiter, 5.0)

    assert turn.at_s == 5.0
    for _ in range(200):
        turn = turn_of(limiter, 5.0)
    assert turn.at_s == pytest.approx(5.0 + 19.1)


@given(
    gaps=st.lists(st.floats(0, 0.4), min_size=1, max_size=150),
    delays=st.lists(st.floats(0, 1.0), min_size=150, max_size=150),
)
def test_alone_it_is_never_refused(gaps: list[float], delays: list[float]) -> None:
    """Whatever the demand, and however unevenly requests travel up to a second, none is over the limit."""
    limiter, asked_s, sent = RateLimiter(), 0.0, []
    for number, gap in enumerate(gaps):
        asked_s += gap
        turn = turn_of(limiter, asked_s, bulk=number % 3 == 0)
        sent += [turn.at_s] * turn.taken
    server = ServersBucket()

    arrivals = sorted(at_s + delay for at_s, delay in zip(sent, delays, strict=False))
    assert all(server.takes(at_s) for at_s in arrivals)


def test_threads_share_one_bucket() -> None:
    """Eight threads together get what one would."""
    limiter = RateLimiter()
    with ThreadPoolExecutor(8) as threads:
        turns = threads.map(lambda _: turn_of(limiter, 0.0), range(200))

    assert sorted(round(turn.at_s, 6) for turn in turns) == [0.0] * 10 + [
        round(n / 10, 6) for n in range(1, 191)
    ]


def test_each_key_has_its_own_bucket(tmp_path: Path) -> None:
    """What one sends is none of the other's business; the same key is the same limiter."""
    shared = Shared(tmp_path)
    for _ in range(BURST):
        turn_of(shared.of("a"), 0.0)
    a, b = turn_of(Shared(tmp_path).of("a"), 0.0), turn_of(shared.of("b"), 0.0)

    assert (a.at_s, b.at_s) == (pytest.approx(0.1), 0.0)
    assert shared.of("a") is shared.of("a")


@pytest.mark.parametrize("wrong", ["missing", "file", "open to all"])
def test_without_a_folder_the_process_counts_alone(
    tmp_path: Path, wrong: str, caplog: pytest.LogCaptureFixture
) -> None:
    """One warning, and a bucket all the same."""
    folder = tmp_path / "folder"
    if wrong == "missing":
        (tmp_path / "file").write_text("")
        folder = tmp_path / "file" / "folder"
    elif wrong == "file":
        folder.write_text("")
    else:
        folder.mkdir()
        folder.chmod(0o777)
    limiter = Shared(folder).of("a")

    turns = [turn_of(limiter, 0.0) for _ in range(11)]

    assert [round(turn.at_s, 6) for turn in turns] == [0.0] * 10 + [0.1]
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "for this process alone" in caplog.text


def test_a_lock_that_cannot_be_had_leaves_no_file_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a network disk without locks: the process counts alone."""
    opened: list[int] = []

    def no_lock(descriptor: int, *, wait: bool) -> bool:
        opened.append(descriptor)
        raise OSError(errno.ENOLCK, "no locks available")

    monkeypatch.setattr("dialframe.client.rate_limiter.lock", no_lock)

    turn_of(Shared(tmp_path).of("a"), 0.0)

    (descriptor,) = opened
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)


def test_the_file_is_this_users_and_holds_no_key(tmp_path: Path) -> None:
    """Mode 0600 in a folder of mode 0700, and a name that is a hash."""
    folder = tmp_path / "folder"
    Shared(folder).of("0123456789abcdef").reserve(0.0)

    (file,) = folder.iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (file.name, file.stat().st_size) == ("rate-limit-0123456789abcdef", 28)


def test_a_file_cut_off_is_no_hindrance(tmp_path: Path) -> None:
    """Half a bucket is none."""
    turn_of(Shared(tmp_path).of("a"), 0.0)
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-5])

    turn = turn_of(Shared(tmp_path).of("a"), 300.0)

    assert turn.at_s == 300.0
    assert file.stat().st_size == 28


def take_turns(folder: Path) -> None:
    """Twenty-five turns, printed."""
    limiter = Shared(folder).of("a")
    print(json.dumps([round(turn_of(limiter, 0.0).at_s, 6) for _ in range(25)]))  # noqa: T201 - read by the test


def test_processes_share_one_bucket(tmp_path: Path) -> None:
    """Three processes together get what one would, each turn once."""
    running = [Forked(take_turns, tmp_path) for _ in range(3)]
    sent_at_s = [at_s for process in running for at_s in json.loads(process.end()[1][0])]

    assert sorted(sent_at_s) == [0.0] * 10 + [round(n / 10, 6) for n in range(1, 66)]


def test_a_pause_is_everybodys(tmp_path: Path) -> None:
    """What one process is told, all heed: turns given out elsewhere are void."""
    one, other = (Shared(tmp_path).of("a") for _ in range(2))
    waiting = [turn_of(other, 0.0) for _ in range(12)][-1]
    one.pause(0.5, for_s=2.0, sent_at_s=0.1)
    turn = turn_of(other, 0.6)

    assert not other.stands(waiting, 0.6)
    assert turn.at_s == 2.5
