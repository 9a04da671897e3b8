"""The client's bucket keeps below the service's, also for threads that share it."""

from __future__ import annotations

import threading

from hypothesis import given
from hypothesis import strategies as st

from dialframe.client.limiter import BURST, RATE_PER_S, RateLimiter, Shared
from dialframe.contract.limits import BUCKETS

SERVER = BUCKETS[0]


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
    turns = [limiter.reserve(0.0) for _ in range(13)]

    assert [round(turn.at_s, 6) for turn in turns if turn] == [0.0] * 10 + [0.1, 0.2, 0.3]


def test_turn_beyond_the_deadline_is_not_given_and_costs_nothing() -> None:
    """Who cannot wait takes no place in the queue."""
    limiter = RateLimiter(rate_per_s=1.0, burst=1)
    limiter.reserve(0.0)

    assert limiter.reserve(0.0, latest_s=0.5) is None
    turn = limiter.reserve(0.0, latest_s=1.0)
    assert turn is not None
    assert turn.at_s == 1.0


def test_pause_holds_everybody_and_voids_the_turns_given_out() -> None:
    """After a refusal nobody sends before the service said, and waiting turns are taken anew."""
    limiter = RateLimiter()
    waiting = [limiter.reserve(0.0) for _ in range(12)][-1]
    assert waiting is not None

    limiter.pause(1.0, for_s=2.0, sent_at_s=0.5)
    turn = limiter.reserve(1.1)

    assert not limiter.stands(waiting)
    assert turn is not None
    assert turn.at_s == 3.0
    assert limiter.stands(turn)


def test_refusals_on_their_way_do_not_add_up() -> None:
    """Ten threads that are refused together begin one pause, which the longest wait ends."""
    limiter = RateLimiter()
    for _ in range(10):
        limiter.pause(1.0, for_s=2.0, sent_at_s=0.5)
    limiter.pause(1.0, for_s=2.5, sent_at_s=0.5)
    turn = limiter.reserve(1.0)

    assert turn is not None
    assert turn.at_s == 3.5
    assert turn.epoch == 1


def test_pause_empties_the_bucket_once() -> None:
    """After the pause as many go at once as tokens came back during it."""
    limiter = RateLimiter()
    limiter.pause(0.0, for_s=0.5, sent_at_s=-1.0)
    turns = [limiter.reserve(0.0) for _ in range(7)]

    assert [round(turn.at_s, 6) for turn in turns if turn] == [0.5] * 5 + [0.6, 0.7]


@given(
    gaps=st.lists(st.floats(0, 0.4), min_size=1, max_size=150),
    delays=st.lists(st.floats(0, 1.0), min_size=150, max_size=150),
)
def test_alone_it_is_never_refused(gaps: list[float], delays: list[float]) -> None:
    """Whatever the demand, and however unevenly requests travel up to a second, none is over the limit."""
    limiter, asked_s, sent = RateLimiter(), 0.0, []
    for gap in gaps:
        asked_s += gap
        turn = limiter.reserve(asked_s)
        assert turn is not None
        sent.append(turn.at_s)
    server = ServersBucket()

    arrivals = sorted(at_s + delay for at_s, delay in zip(sent, delays, strict=False))
    assert all(server.takes(at_s) for at_s in arrivals)


def test_threads_share_one_bucket() -> None:
    """Eight threads together get what one would."""
    limiter, found, lock = RateLimiter(), [], threading.Lock()

    def ask() -> None:
        for _ in range(25):
            turn = limiter.reserve(0.0)
            assert turn is not None
            with lock:
                found.append(round(turn.at_s, 6))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(found) == [0.0] * 10 + [round(n / 10, 6) for n in range(1, 191)]


def test_one_limiter_for_each_address_and_key() -> None:
    """Clients of the same account count together, others apart."""
    shared = Shared()

    assert shared.of("a") is shared.of("a")
    assert shared.of("a") is not shared.of("b")
