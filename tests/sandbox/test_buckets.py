"""Token buckets (contract, Limits: rate limits)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dialframe.contract.limits import Bucket
from dialframe.sandbox.request_checks import Buckets

KEY = Bucket("key", 10.0, 20)
CLIENT = Bucket("client", 20.0, 40)
SECOND = 1_000_000


def test_refused_request_takes_from_no_bucket() -> None:
    """While one level is empty the others keep what they have."""
    buckets = Buckets()
    for _ in range(20):
        assert buckets.take([(KEY, "a"), (CLIENT, "c")], 0) is None
    for _ in range(50):
        assert buckets.take([(KEY, "a"), (CLIENT, "c")], 0) == 1
    taken = [buckets.take([(KEY, "b"), (CLIENT, "c")], 0) for _ in range(21)]
    assert taken == [None] * 20 + [1]


def test_drain_never_goes_below_empty() -> None:
    """What was refused anyway takes what is there and leaves no debt."""
    buckets = Buckets()
    for _ in range(1000):
        buckets.drain(KEY, "a", 0)
    assert buckets.take([(KEY, "a")], 0) == 1
    assert buckets.take([(KEY, "a")], SECOND // 10) is None


def test_wait_is_told_in_whole_seconds() -> None:
    """A slow bucket that is empty says how long it takes."""
    slow = Bucket("slow", 0.25, 1)
    buckets = Buckets()
    assert buckets.take([(slow, "a")], 0) is None
    assert buckets.take([(slow, "a")], 0) == 4
    assert buckets.take([(slow, "a")], 3 * SECOND) == 1
    assert buckets.take([(slow, "a")], 4 * SECOND) is None


@given(st.lists(st.integers(min_value=0, max_value=3 * SECOND), max_size=200))
def test_never_more_than_burst_and_rate_allow(gaps: list[int]) -> None:
    """However requests are spaced, at most burst + rate x time of them pass."""
    buckets, now, passed = Buckets(), 0, 0
    for gap in gaps:
        now += gap
        passed += buckets.take([(KEY, "a")], now) is None
        assert passed <= KEY.burst + KEY.rate_per_s * now / SECOND + 1e-6
