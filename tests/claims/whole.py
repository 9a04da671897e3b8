"""The whole bench by hand: `python tests/claims/whole.py [ACCOUNTS] [FIRST SEED] [ROW]...`; prints the table of the documentation.

Thresholds were chosen by reason or on seeds below ten million; the table is of seeds that were not
looked at before it was made. Who changes a threshold after a look at it takes another first seed.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from claims.bench import ROWS, Tally, ask_nulls
from dialframe.analytics import wilson

#: First seed of the table.
HELD_OUT = 140_000_000
#: Accounts that are asked in a row: every analysis of one world, while it is there.
_PART = 20
HEAD = (
    "| claim | accounts | false claims | worst world | effect stated / true | power | seen at the "
    "stated limit |"
)


def main() -> None:
    """Ask every row of every account and print the table; after each tenth, what it is so far."""
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    first = int(sys.argv[2]) if len(sys.argv) > 2 else HELD_OUT
    named = sys.argv[3:]
    tallies = [Tally(row) for row in ROWS if not named or row.name.split(":")[0] in named]
    starts = range(first, first + times, _PART)
    for done, start in enumerate(starts, 1):
        ask(tallies, start)
        if done % max(len(starts) // 10, 1) == 0 or done == len(starts):
            print(HEAD, "|---|---|---|---|---|---|---|", *map(line, tallies), sep="\n", flush=True)


def ask(tallies: list[Tally], first: int) -> None:
    """Some accounts of each world without the effect, and a fourth as many with it."""
    for seed in range(first, first + _PART):
        ask_nulls(tallies, seed)
        if seed % 4 == 3:
            for tally in tallies:
                tally.effect(seed + 500_000)
    for seed in range(first, first + _PART, 4):
        for tally in tallies:
            tally.limit(seed + 600_000)


def line(tally: Tally) -> str:
    """A row of it: all worlds without the effect with their 95 % interval, and the worst one."""
    asked, hits = tally.falsely
    low, high = wilson(hits, asked) or (0.0, 1.0)
    stated = "" if tally.stated != tally.stated else f"{tally.stated:.2f}"
    tried, seen = tally.counts["at limit"], tally.counts["seen at limit"]
    return (
        f"| {tally.row.name} | {len(tally.accounts)} x {asked // len(tally.accounts)} | "
        f"{hits / asked:.1%} ({low:.1%} to {high:.1%}) | {tally.null_rate:.1%} | {stated} | "
        f"{tally.power:.0%} | {f'{seen / tried:.0%}' if tried else ''} |"
    )


if __name__ == "__main__":
    main()
