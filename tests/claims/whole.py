"""The whole bench by hand: `python tests/claims/whole.py [ACCOUNTS] [FIRST SEED] [ROW]...`; prints the table of the documentation.

Thresholds were chosen by reason or on seeds below ten million; the table is of seeds that were not
looked at before it was made. Who changes a threshold after a look at it takes another first seed.
"""

from __future__ import annotations

import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from claims.bench import ROWS, Tally
from dialframe.analytics import wilson

#: First seed of the table.
HELD_OUT = 51_000_000
#: Accounts that one process asks in a row: every analysis of one world, while it is there.
_PART = 20
HEAD = (
    "| claim | accounts | false claims | effect stated / true | power | seen at the stated limit |"
)


def main() -> None:
    """Ask every row of every account and print the table; after each tenth, what it is so far."""
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 600
    first = int(sys.argv[2]) if len(sys.argv) > 2 else HELD_OUT
    named = sys.argv[3:]
    rows = [i for i, row in enumerate(ROWS) if not named or row.name.split(":")[0] in named]
    tallies = {i: Tally(ROWS[i]) for i in rows}
    starts = range(first, first + times, _PART)
    with ProcessPoolExecutor() as pool:
        for done, part in enumerate(pool.map(partial(asked, rows), starts), 1):
            for i, counts in part.items():
                tallies[i].counts += counts
            if done % max(len(starts) // 10, 1) == 0 or done == len(starts):
                lines = [HEAD, "|---|---|---|---|---|---|", *map(line, tallies.values())]
                print(*lines, sep="\n", flush=True)


def asked(rows: list[int], first: int) -> dict[int, Counter[str]]:
    """Rows asked of some accounts of each world without the effect, and of a fourth as many with it."""
    tallies = {i: Tally(ROWS[i]) for i in rows}
    for seed in range(first, first + _PART):
        for tally in tallies.values():
            tally.null(seed)
        if seed % 4 == 3:
            for tally in tallies.values():
                tally.effect(seed + 500_000)
    for seed in range(first, first + _PART, 4):
        for tally in tallies.values():
            tally.limit(seed + 600_000)
    return {i: tally.counts for i, tally in tallies.items()}


def line(tally: Tally) -> str:
    """A row of it: the worst world without the effect, with its 95 % interval."""
    asked, hits = max(tally.accounts, key=lambda count: count[1] / count[0])
    low, high = wilson(hits, asked) or (0.0, 1.0)
    stated = "" if tally.stated != tally.stated else f"{tally.stated:.2f}"
    tried, seen = tally.counts["at limit"], tally.counts["seen at limit"]
    return (
        f"| {tally.row.name} | {len(tally.accounts)} x {asked} | {hits / asked:.1%} ({low:.1%} to "
        f"{high:.1%}) | {stated} | {tally.power:.0%} | {f'{seen / tried:.0%}' if tried else ''} |"
    )


if __name__ == "__main__":
    main()
