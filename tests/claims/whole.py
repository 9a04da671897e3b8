"""The whole bench by hand: `python tests/claims/whole.py [ACCOUNTS] [FIRST SEED] [ROW]...`; prints the table of the documentation.

Thresholds were chosen by reason or on seeds below a million; the table is of seeds that were not
looked at before it was made. Who changes a threshold after a look at it takes another first seed.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from claims.bench import ROWS, Row, Tally, nulls_of
from dialframe.analytics.inference import wilson

#: First seed of the table.
HELD_OUT = 7_000_000


def asked(task: tuple[int, int, int]) -> Tally:
    """A row's worlds without the effect and with it, of some seeds."""
    place, first, count = task
    row, tally = ROWS[place], Tally()
    tally.asked, tally.claims = dict.fromkeys(nulls_of(row), 0), dict.fromkeys(nulls_of(row), 0)
    for seed in range(first, first + count):
        for name in nulls_of(row):
            tally.null(row, name, seed)
        if seed % 2 == 0:
            tally.effect(row, seed)
    return tally


def main() -> None:
    """Ask every row of every world and print the table."""
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    first = int(sys.argv[2]) if len(sys.argv) > 2 else HELD_OUT
    rows = [i for i, row in enumerate(ROWS) if len(sys.argv) <= 3 or row.name in sys.argv[3:]]
    print(
        "| claim | worlds x accounts | false claims | worst world | seen | stated / true | interval holds |"
    )
    print("|---|---|---|---|---|---|---|", flush=True)
    with ProcessPoolExecutor() as pool:
        for i in rows:
            parts = list(pool.map(asked, [(i, s, 5) for s in range(first, first + times, 5)]))
            total = Tally()
            for part in parts:
                for name, n in part.asked.items():
                    total.asked[name] += n
                    total.claims[name] += part.claims[name]
                total.effects += part.effects
            print(line(ROWS[i], total), flush=True)


def line(row: Row, tally: Tally) -> str:
    """A row of it: all worlds without the effect with their 95 % interval, and the worst one."""
    hits, asked_ = tally.false
    low, high = wilson(hits, asked_) or (0.0, 1.0)
    worst = max(tally.asked, key=lambda name: tally.claims[name] / tally.asked[name])
    effect = " |  |  " if row.effect is None else (
        f" {tally.power:.0%} | {tally.stated:.2f} | {tally.covers:.0%} ")  # fmt: skip
    return (
        f"| {row.name} | {len(tally.asked)} x {asked_ // len(tally.asked)} | {hits / asked_:.1%} "
        f"({low:.1%} to {high:.1%}) | {tally.worst:.1%} ({worst}) |{effect}|"
    )


if __name__ == "__main__":
    main()
