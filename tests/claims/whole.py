"""The whole bench by hand: `python tests/claims/whole.py [ACCOUNTS]`; prints the table of the documentation."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from claims.bench import ROWS, run

HEAD = "| claim | false claims per account | effect stated / true | power | detectable |"


def main() -> None:
    """Run every row and print its line."""
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    print(HEAD)
    print("|---|---|---|---|---|")
    for row in ROWS:
        found = run(row, times)
        stated = "" if found.stated != found.stated else f"{found.stated:.2f}"
        print(
            f"| {row.name} | {found.null_rate:.1%} | {stated} | {found.power:.0%} | "
            f"{found.detectable:.3f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
