"""What analyses claim, on accounts whose truth is known: the fast part of the bench.

Five accounts of each world in CI; `tests/claims/whole.py` runs hundreds and prints the table of the
documentation. The bounds here allow for the chance of five.
"""

from __future__ import annotations

import pytest

from claims.bench import ROWS, Row, Tally, ask_nulls

TIMES = 5
#: At 5 % per account, more than 2 of 5 happen once in 860 runs of a world.
MOST_FALSE = 2 / 5


@pytest.fixture(scope="module")
def tallies() -> dict[str, Tally]:
    """What came of each row."""
    found = {row.name: Tally(row) for row in ROWS}
    for seed in range(1, 1 + TIMES):
        ask_nulls(list(found.values()), seed)
        for tally in found.values():
            tally.effect(seed + 500_000)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_claim_is_true(tallies: dict[str, Tally], row: Row) -> None:
    """No more false claims than chance allows, the effect near the truth, and nothing false beside it."""
    found = tallies[row.name]
    assert [asked for asked, _ in found.accounts] == [TIMES] * len(row.nulls)
    assert found.null_rate <= MOST_FALSE
    assert found.wrong <= 1 / TIMES
    assert found.counts["without size"] == 0
    if row.truth is not None:
        assert 0.75 <= found.stated <= 1.3
    assert found.power >= 0.6


@pytest.mark.slow
def test_all_worlds_together_show_an_effect_less_often_than_the_level(
    tallies: dict[str, Tally],
) -> None:
    """Without anything held still it was 10 accounts of 180, in no world more than its own bound."""
    asked, hits = (sum(part) for part in zip(*(t.falsely for t in tallies.values()), strict=True))
    assert hits <= 0.05 * asked
