"""What analyses claim, on accounts of two authors whose truth is known: the fast part of the bench.

A few accounts of each world in CI; `tests/claims/whole.py` asks hundreds and prints the table of the
documentation. The bounds here allow for the chance of so few.
"""

from __future__ import annotations

import pytest

from claims.bench import NULLS, ROWS, Row, Tally, nulls_of


@pytest.mark.slow
@pytest.mark.parametrize("name", NULLS)
def test_what_is_not_there_is_seldom_claimed(name: str) -> None:
    """Of two accounts of a world, all claims together: at 5% each, more than three of eighteen once in 400."""
    total = Tally()
    for row in ROWS:
        if name in nulls_of(row):
            for seed in (11, 12):
                total.null(row, name, seed)
    assert total.false[0] <= 3


@pytest.mark.slow
@pytest.mark.parametrize("row", [row for row in ROWS if row.effect], ids=lambda row: row.name)
def test_what_is_there_is_seen_and_stated_right(row: Row) -> None:
    """Three accounts: seen in most, near its size, and inside its interval."""
    tally = Tally()
    for seed in (21, 22, 23):
        tally.effect(row, seed)
    assert tally.power >= 0.6
    assert 0.6 <= tally.stated <= 1.6
    assert tally.covers >= 0.6
