"""The whole bench by hand: `python tests/claims/whole.py [ACCOUNTS] [FIRST SEED] [ROW]...`; prints the table of the documentation.

Thresholds were chosen by reason or on seeds below ten million; the table is of seeds that were not
looked at before it was made. Who changes a threshold after a look at it takes another first seed.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from claims.bench import ROWS, Tally
from dialframe.analytics import wilson

#: First seed of the table.
HELD_OUT = 43_000_000
HEAD = (
    "| claim | accounts | false claims | effect stated / true | power | seen at the stated limit |"
)


def main() -> None:
    """Ask every row of every account; print the table after every 25 accounts."""
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    first = int(sys.argv[2]) if len(sys.argv) > 2 else HELD_OUT
    named = sys.argv[3:]
    tallies = [Tally(row) for row in ROWS if not named or row.name.split(":")[0] in named]
    for i in range(times):
        for tally in tallies:
            tally.null(first + i)
            # Effects are seen with fewer accounts than false claims are counted with.
            if i % 4 == 3:
                tally.effect(first + 500_000 + i)
                tally.limit(first + 600_000 + i)
        if i % 25 == 24 or i == times - 1:
            print(f"{table(tallies)}\n", flush=True)


def table(tallies: list[Tally]) -> str:
    """The table of the documentation."""
    return "\n".join([HEAD, "|---|---|---|---|---|---|", *(line(tally) for tally in tallies)])


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
