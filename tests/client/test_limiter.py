"""The client's bucket keeps below the service's, also for threads and processes that share it."""

from __future__ import annotations

import errno
import json
import os
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialframe.client import rate_limiter as limits_file
from dialframe.client.rate_limiter import (
    BURST,
    FILE_NAME,
    RATE_PER_S,
    SLOTS,
    Level,
    RateLimiter,
    Shared,
    Turn,
    current_lane,
    lane,
)
from dialframe.contract.limits import BUCKETS
from forked import Forked

SERVER = BUCKETS[0]


def turn_of(limiter: RateLimiter, now_s: float, **more: Any) -> Turn:
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


def test_margin_is_one_second_of_the_rate() -> None:
    """Burst 20 less 10 a second times one second of jitter."""
    assert (RATE_PER_S, BURST) == (10.0, 10)


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

    assert not limiter.stands(waiting)
    assert turn.at_s == 3.0
    assert limiter.stands(turn)


def test_refusals_on_their_way_do_not_add_up() -> None:
    """Ten threads that are refused together begin one pause, which the longest wait ends."""
    limiter = RateLimiter()
    for _ in range(10):
        limiter.pause(1.0, for_s=2.0, sent_at_s=0.5)
    limiter.pause(1.0, for_s=2.5, sent_at_s=0.5)
    turn = turn_of(limiter, 1.0)

    assert turn.at_s == 3.5
    assert turn.epoch == 1


def test_pause_empties_the_bucket_once() -> None:
    """After the pause as many go at once as tokens came back during it, at a fifth less of the rate."""
    limiter = RateLimiter()
    limiter.pause(0.0, for_s=0.5, sent_at_s=-1.0)
    turns = [turn_of(limiter, 0.0) for _ in range(6)]

    assert [round(turn.at_s, 6) for turn in turns] == [0.5] * 4 + [0.625, 0.75]


def test_refusals_cut_the_rate_and_quiet_gives_it_back() -> None:
    """Each refusal takes a fifth, never more than four fifths in all; two quiet seconds later it grows."""
    limiter = RateLimiter()

    def rate(now_s: float) -> float:
        """What the bucket gives when it is empty."""
        turns = [turn_of(limiter, now_s) for _ in range(40)]
        return 1 / (turns[-1].at_s - turns[-2].at_s)

    limiter.pause(100.0, for_s=0.0, sent_at_s=99.0)
    assert rate(100.0) == pytest.approx(8.0)
    limiter.pause(200.0, for_s=0.0, sent_at_s=199.0)
    assert rate(200.0) == pytest.approx(8.0)  # it had grown back to the whole
    limiter.pause(201.0, for_s=0.0, sent_at_s=200.5)
    assert rate(201.0) == pytest.approx(6.4)
    for at_s in range(202, 220):
        limiter.pause(float(at_s), for_s=0.0, sent_at_s=at_s - 0.5)
    assert rate(219.0) == pytest.approx(2.0)
    assert rate(231.0) == pytest.approx(4.0)


def test_bulk_leaves_room_and_takes_no_turn_ahead() -> None:
    """A bulk request that cannot go now is told when to ask again, and nobody stands behind it."""
    limiter = RateLimiter()

    bulk = [turn_of(limiter, 0.0, lane="bulk") for _ in range(20)]
    first, second, third = (turn_of(limiter, 0.0) for _ in range(3))

    assert sum(turn.taken for turn in bulk) == 8
    assert all(turn.at_s == pytest.approx(0.1) for turn in bulk[8:])
    assert not limiter.stands(bulk[-1])
    assert (first.at_s, second.at_s, third.at_s) == (0.0, 0.0, pytest.approx(0.1))


def test_spare_gets_what_bulk_leaves_over() -> None:
    """While bulk asks for everything spare gets nothing; when bulk rests, the rest of the rate."""
    limiter = RateLimiter()
    now_s, got = 0.0, Counter[str]()
    while now_s < 10:
        for name in ("spare", "bulk", "bulk"):
            turn = turn_of(limiter, now_s, lane=name)
            got[name] += turn.taken
        now_s += 0.05
    assert got["bulk"] >= 100
    assert got["spare"] <= 6
    before = got["spare"]
    while now_s < 20:
        turn = turn_of(limiter, now_s, lane="spare")
        got["spare"] += turn.taken
        now_s += 0.05
    assert got["spare"] - before == pytest.approx(98, abs=2)


def test_a_line_moves_one_by_one() -> None:
    """Threads of a lane that is not interactive ask one at a time; who waits too long is told."""
    limiter = RateLimiter()
    with limiter.line("bulk", 1.0) as first:
        moved_up: list[bool] = []

        def second() -> None:
            with limiter.line("bulk", 0.01) as moved:
                moved_up.append(moved)
            with limiter.line("interactive", 0.0) as moved:
                moved_up.append(moved)

        thread = threading.Thread(target=second)
        thread.start()
        thread.join()

    assert first
    assert moved_up == [False, True]


def test_a_lane_holds_inside_its_block() -> None:
    """Calls are interactive unless somebody says otherwise."""
    with lane("bulk"):
        with lane("spare"):
            assert current_lane.get() == "spare"
        assert current_lane.get() == "bulk"
    assert current_lane.get() == "interactive"


def test_buckets_of_another_clock_are_full() -> None:
    """After a restart the machine's clock begins anew: what was written before says nothing."""
    limiter = RateLimiter()
    limiter.pause(1e6, for_s=30.0, sent_at_s=1e6 - 1)
    turn = turn_of(limiter, 5.0)

    assert turn.at_s == 5.0


@given(
    gaps=st.lists(st.floats(0, 0.4), min_size=1, max_size=150),
    delays=st.lists(st.floats(0, 1.0), min_size=150, max_size=150),
)
def test_alone_it_is_never_refused(gaps: list[float], delays: list[float]) -> None:
    """Whatever the demand, and however unevenly requests travel up to a second, none is over the limit."""
    limiter, asked_s, sent = RateLimiter(), 0.0, []
    for gap in gaps:
        asked_s += gap
        turn = turn_of(limiter, asked_s)
        sent.append(turn.at_s)
    server = ServersBucket()

    arrivals = sorted(at_s + delay for at_s, delay in zip(sent, delays, strict=False))
    assert all(server.takes(at_s) for at_s in arrivals)


WHOLE = Level(b"", RATE_PER_S, BURST, kept_back=SERVER.burst - BURST)


def test_answers_open_the_rest_of_the_burst() -> None:
    """Ten at once until the way is known to be even; then what the service allows, less the lateness."""
    limiter, now_s, sent = RateLimiter(levels=(WHOLE,)), 0.0, 0
    for _ in range(40):
        turn = turn_of(limiter, now_s, lane="bulk")
        sent += turn.taken
        now_s += 0.02
        limiter.answered(turn, now_s)

    # 18 less what a lateness of 20 ms may cost, and what came back in 0.8 s.
    assert sent == pytest.approx(18 - 0.2 + 8, abs=1)


def test_two_chains_use_the_burst_though_one_request_is_always_under_way() -> None:
    """But for what these two and the lateness of the others may cost."""
    limiter, sent, free_at_s = RateLimiter(levels=(WHOLE,)), 0, [0.0, 0.025]
    under_way: list[limits_file.Turn | None] = [None, None]
    for tick in range(600):
        for chain in range(2):
            if tick * 0.005 < free_at_s[chain]:
                continue
            if (answered := under_way[chain]) is not None:
                limiter.answered(answered, tick * 0.005)
                under_way[chain] = None
            turn = turn_of(limiter, tick * 0.005, lane="bulk")
            if turn.taken:
                sent, under_way[chain], free_at_s[chain] = sent + 1, turn, tick * 0.005 + 0.12

    assert sent == pytest.approx(18 - 2 - 1.2 + 30, abs=2)


def test_unanswered_request_keeps_the_margin() -> None:
    """An answer that does not come, or comes late, keeps back its one request until it was quiet."""
    limiter = RateLimiter(levels=(WHOLE,))
    turns = [turn_of(limiter, 0.0, lane="bulk") for _ in range(8)]
    for turn in turns[1:]:
        limiter.answered(turn, 0.05)
    limiter.answered(turns[0], 1.5)

    def taken(now_s: float) -> int:
        return sum(
            turn.taken for turn in (turn_of(limiter, now_s, lane="bulk") for _ in range(30))
        )

    assert taken(1.5) <= 8
    assert taken(10.0) == 9


@given(
    gaps=st.lists(
        st.sampled_from([0.0, 0.0, 0.01, 0.05, 0.1, 0.4, 1.2]), min_size=20, max_size=250
    ),
    delays=st.lists(st.sampled_from([0.0, 0.02, 0.3, 1.0]), min_size=250, max_size=250),
    answers=st.lists(st.sampled_from([0.0, 0.02, 0.5, 9.0]), min_size=250, max_size=250),
    lanes=st.lists(st.sampled_from(["bulk", "bulk", "interactive"]), min_size=250, max_size=250),
)
def test_with_answers_it_is_never_refused(
    gaps: list[float], delays: list[float], answers: list[float], lanes: list[limits_file.Lane]
) -> None:
    """However requests travel up to a second, and however late their answers come."""
    limiter, asked_s, sent, coming = RateLimiter(levels=(WHOLE,)), 0.0, [], []
    for gap, delay, answer, name in zip(gaps, delays, answers, lanes, strict=False):
        asked_s += gap
        coming.sort(key=lambda entry: entry[0])
        while coming and coming[0][0] <= asked_s:
            limiter.answered(coming[0][1], coming.pop(0)[0])
        turn = turn_of(limiter, asked_s, lane=name)
        if turn.taken:
            sent.append(turn.at_s + delay)
            coming.append((turn.at_s + delay + answer, turn))
    server = ServersBucket()

    assert all(server.takes(at_s) for at_s in sorted(sent))


def test_threads_share_one_bucket() -> None:
    """Eight threads together get what one would."""
    limiter = RateLimiter()
    with ThreadPoolExecutor(8) as threads:
        turns = threads.map(lambda _: turn_of(limiter, 0.0), range(200))

    assert sorted(round(turn.at_s, 6) for turn in turns) == [0.0] * 10 + [
        round(n / 10, 6) for n in range(1, 191)
    ]


def test_several_keys_stay_below_the_limit_of_the_address(tmp_path: Path) -> None:
    """Three keys of one machine get 20 a second together, not 30."""
    shared = Shared(tmp_path)
    keys = [shared.of(name, "https://service.example") for name in ("a", "b", "c")]

    turns = [turn_of(keys[number % 3], 0.0) for number in range(141)]

    sent = sorted(turn.at_s for turn in turns)
    assert all(number < 20 + 20 * at_s + 1e-6 for number, at_s in enumerate(sent))
    assert sent[-1] == pytest.approx(6.05, abs=0.5)


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

    monkeypatch.setattr(limits_file, "lock", no_lock)

    turn_of(Shared(tmp_path).of("a"), 0.0)

    (descriptor,) = opened
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)


def test_the_file_is_this_users_and_holds_no_key(tmp_path: Path) -> None:
    """Mode 0600 in a folder of mode 0700, and names that are hashes."""
    folder = tmp_path / "folder"
    Shared(folder).of("svc_test_cred01", "https://service.example").reserve(0.0)

    (file,) = folder.iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700
    assert b"cred01" not in file.read_bytes()
    assert b"service" not in file.read_bytes()


def test_a_file_cut_off_or_full_is_no_hindrance(tmp_path: Path) -> None:
    """Half a slot is none; the slot that was used longest ago makes room."""
    shared = Shared(tmp_path)
    for number in range(SLOTS + 3):
        turn_of(shared.of(f"key {number}"), float(number))
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    file.write_bytes(whole[:-5])

    turn = turn_of(Shared(tmp_path).of("key 100"), 300.0)

    assert len(whole) == SLOTS * 56
    assert turn.at_s == 300.0


def take_turns(folder: Path) -> None:
    """Twenty-five turns, printed."""
    limiter = Shared(folder).of("a", "s")
    print(json.dumps([round(turn_of(limiter, 0.0).at_s, 6) for _ in range(25)]))  # noqa: T201 - read by the test


def test_processes_share_one_bucket(tmp_path: Path) -> None:
    """Three processes together get what one would, each turn once."""
    running = [Forked(take_turns, tmp_path) for _ in range(3)]
    sent_at_s = [at_s for process in running for at_s in json.loads(process.end()[1][0])]

    assert sorted(sent_at_s) == [0.0] * 10 + [round(n / 10, 6) for n in range(1, 66)]


def test_a_pause_is_everybodys(tmp_path: Path) -> None:
    """What one process is told, all heed: turns given out elsewhere are void."""
    one, other = (Shared(tmp_path).of("a", "s") for _ in range(2))
    waiting = [turn_of(other, 0.0) for _ in range(12)][-1]
    one.pause(0.5, for_s=2.0, sent_at_s=0.1)
    turn = turn_of(other, 0.6)

    assert not other.stands(waiting)
    assert turn.at_s == 2.5


def test_turn_reads_once_and_writes_its_own_slots_however_many_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Buckets that were used long ago cost a turn one read of a few kilobytes."""
    for number in range(60):
        Shared(tmp_path).of(f"account {number}", f"https://{number}.example").reserve(1.0)
    limiter = Shared(tmp_path).of("mine", "https://mine.example")
    turn_of(limiter, 1.0)
    sizes: list[int] = []
    read, write = os.read, os.write
    monkeypatch.setattr(os, "read", lambda fd, size: sizes.append(size) or read(fd, size))
    monkeypatch.setattr(os, "write", lambda fd, data: sizes.append(len(data)) or write(fd, data))
    turn_of(limiter, 1.0)

    assert (tmp_path / FILE_NAME).stat().st_size > 200 * 56
    assert sizes == [256 * 56, *[56] * 4]


def test_slot_that_was_given_away_is_found_again(tmp_path: Path) -> None:
    """Another process may have moved a bucket since it was looked at."""
    limiter, other = Shared(tmp_path).of("a", "s"), Shared(tmp_path).of("a", "s")
    for _ in range(BURST):
        turn_of(limiter, 1.0)
    whole = (tmp_path / FILE_NAME).read_bytes()
    slots = [whole[at : at + 56] for at in range(0, len(whole), 56)]
    (tmp_path / FILE_NAME).write_bytes(b"".join(reversed(slots)))

    for one in (limiter, other):
        turn = turn_of(one, 1.0)
        assert turn.at_s > 1.0
