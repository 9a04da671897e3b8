"""What analyses claim, on accounts whose truth is known: the fast part of the bench.

Five accounts of each world in CI; `tests/claims/whole.py` runs hundreds and prints the table of the
documentation. The bounds here allow for the chance of five.
"""

from __future__ import annotations

import pytest

from claims.bench import ROWS, Row, run

TIMES = 5
#: At 5 % per account, more than 2 of 5 happen once in 860 runs of a world.
MOST_FALSE = 2 / 5


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_claim_is_true(row: Row) -> None:
    """No more false claims than chance allows, the effect near the truth, and nothing false beside it."""
    found = run(row, TIMES, first=1)
    assert found.null_rate <= MOST_FALSE
    assert found.wrong <= 1 / TIMES
    assert found.counts["without size"] == 0
    if row.truth is not None:
        assert 0.75 <= found.stated <= 1.3
    assert found.power >= 0.6
