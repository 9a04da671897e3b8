"""Numbers are written one way everywhere."""

from __future__ import annotations

import pandas as pd
import pytest

from dialframe.analytics.claims_and_tables import (
    compact,
    count,
    first_few,
    interval,
    plural,
    share,
    shortened,
)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (count(1234567), "1,234,567"),
        (count(pd.NA), "–"),
        (compact(99_999), "99,999"),
        (compact(123_456), "123 k"),
        (compact(999_500), "1.0 M"),
        (compact(12_345_678), "12.3 M"),
        (share(0.1234), "12.3%"),
        (share(1), "100.0%"),
        (share(float("nan")), "–"),
        (interval(0.1, 0.25), "10.0 to 25.0%"),
        (interval(pd.NA, pd.NA), "–"),
        (first_few(["a", "b"]), "a, b"),
        (first_few(["a", "b", "c", "d"]), "a, b, c and 1 other"),
        (plural(1, "call"), "1 call"),
        (plural(0, "call"), "0 calls"),
        (plural(2, "entry", "entries"), "2 entries"),
        (shortened("short", 5), "short"),
        (shortened("cmp_0123456789abcdef", 12), "cmp_012…cdef"),
    ],
)
def test_wording(written: str, expected: str) -> None:
    """A number is written as people read it."""
    assert written == expected
