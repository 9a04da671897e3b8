"""The whole bench by hand: `python tests/claims/whole.py [ACCOUNTS] [FIRST SEED] [ROW]...`; prints the table of the documentation.

Thresholds were chosen by reason or on seeds below ten million; the table is of seeds that were not
looked at before it was made. Who changes a threshold after a look at it takes another first seed.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from claims.bench import ROWS, Tally
from dialframe.analytics import wilson

#: First seed of the table.
HELD_OUT = 51_000_000
HEAD = (
    "| claim | accounts | false claims | effect stated / true | power | seen at the stated limit |"
)


def main() -> None:
    """Ask every row of every account, a row to a process, and print each as it is done."""
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 600
    first = int(sys.argv[2]) if len(sys.argv) > 2 else HELD_OUT
    named = sys.argv[3:]
    rows = [i for i, row in enumerate(ROWS) if not named or row.name.split(":")[0] in named]
    print(HEAD, "|---|---|---|---|---|---|", sep="\n")
    with ProcessPoolExecutor() as pool:
        for text in pool.map(partial(asked, times, first), rows):
            print(text, flush=True)


def asked(times: int, first: int, row: int) -> str:
    """A row asked of so many accounts of each world without the effect, and of a third as many with it."""
    tally = Tally(ROWS[row])
    for i in range(times):
        tally.null(first + i)
        if i % 3 == 2:
            tally.effect(first + 500_000 + i)
            tally.limit(first + 600_000 + i)
    return line(tally)


def line(tally: Tally) -> str:
    """A row of it: the worst world without the effect, with its 95 % interval."""
    asked, hits = max(tally.accounts, key=lambda count: count[1] / count[0])
    low, high = wilson(hits, asked) or (0.0, 1.0)
    stated = "" if tally.stated != tally.stated else f"{tally.stated:.2f}"
    tried, seen = tally.at_limit
    return (
        f"| {tally.row.name} | {len(tally.accounts)} x {asked} | {hits / asked:.1%} ({low:.1%} to "
        f"{high:.1%}) | {stated} | {tally.power:.0%} | {f'{seen / tried:.0%}' if tried else ''} |"
    )


if __name__ == "__main__":
    main()
