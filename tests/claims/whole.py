"""The whole bench by hand, written to a file as it goes, and the table of the documentation from that file.

`python tests/claims/whole.py run FILE [--accounts 300] [--first 8000000] [--large] [--worlds WORDS] [--rows ROW...]` asks every row of each
account and appends a line for each; run again it resumes. `python tests/claims/whole.py table FILE...` prints the
table. Thresholds were chosen by reason or on seeds below a million; the table is of seeds that were not looked at
before it was made. Who changes a threshold after a look at it takes another first seed.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from claims.bench import CLAIMING, NULLS, ROWS, Row, account, check, large, nulls_of, stated
from dialframe.analytics.inference import wilson


def run(given: Namespace, rows: Sequence[Row]) -> None:
    """Ask the rows of every account that the file does not have, and append what they say."""
    known = {(line["row"], line["world"], line["seed"]) for line in read(given.file)}
    parts = (_nulls,) if given.worlds else (_nulls, _effects)
    with given.file.open("a", encoding="utf-8") as out:
        for seed in range(given.first, given.first + given.accounts):
            for part in parts:
                for line in part(rows, seed, known, given):
                    out.write(json.dumps(line) + "\n")
            out.flush()


def _nulls(
    rows: Sequence[Row], seed: int, known: set[Any], given: Namespace
) -> Iterator[dict[str, Any]]:
    for name, world in NULLS.items():
        mine = [
            row for row in rows if name in nulls_of(row) and (row.name, name, seed) not in known
        ]
        if not mine or not name.startswith(given.worlds):
            continue
        asked = account(seed, large(world) if given.large else world)
        # Two rows may read one result.
        results = {ask: ask(asked) for ask in {row.ask for row in mine}}
        for row in mine:
            claims = [c for c in results[row.ask].claims if row.about(c)]
            for claim in claims:
                check(claim)
            yield {"row": row.name, "world": name, "seed": seed, "calls": len(asked.calls),
                   "false": [c.text for c in claims if c.kind in CLAIMING]}  # fmt: skip


def _effects(
    rows: Sequence[Row], seed: int, known: set[Any], given: Namespace
) -> Iterator[dict[str, Any]]:
    for row in rows:
        if row.effect is None or row.truth is None or (row.name, "the effect", seed) in known:
            continue
        asked = account(seed, large(row.effect) if given.large else row.effect)
        seen = stated(row, row.ask(asked), row.truth(asked))
        yield {
            "row": row.name,
            "world": "the effect",
            "seed": seed,
            "calls": len(asked.calls),
            "seen": seen,
        }


def read(file: Path) -> list[dict[str, Any]]:
    """The lines of a file; a line cut off by a crash is left out."""
    if not file.exists():
        return []
    return [json.loads(line) for line in file.read_text().splitlines() if line.endswith("}")]


def table(files: Sequence[Path]) -> None:
    """Print the table of the documentation."""
    lines = [line for file in files for line in read(file)]
    print(
        "| claim | worlds x accounts | false claims | worst world | seen | stated / true | interval holds |\n"
        "|---|---|---|---|---|---|---|"
    )
    for row in ROWS:
        nulls: dict[str, list[bool]] = defaultdict(list)
        effects = []
        for line in lines:
            if line["row"] == row.name and "seen" in line:
                effects.append(line["seen"])
            elif line["row"] == row.name:
                nulls[line["world"]].append(bool(line["false"]))
        if nulls:
            print(_words(row.name, nulls, effects))


def _words(name: str, nulls: dict[str, list[bool]], effects: list[Any]) -> str:
    hits, asked = sum(map(sum, nulls.values())), sum(map(len, nulls.values()))
    low, high = wilson(hits, asked) or (0.0, 1.0)
    worst = max(nulls, key=lambda world: np.mean(nulls[world]))
    seen = np.array([e for e in effects if e is not None], dtype=float).reshape(-1, 3)
    effect = " |  |  "
    if len(seen):
        size = np.abs(seen[:, 0]).mean() / np.abs(seen[:, 1]).mean()
        effect = f" {len(seen)} of {len(effects)} | {size:.2f} | {seen[:, 2].mean():.0%} "
    return (
        f"| {name} | {len(nulls)} x {min(map(len, nulls.values()))} | {hits / asked:.1%} ({low:.1%} to {high:.1%}) | "
        f"{np.mean(nulls[worst]):.1%} ({worst}) |{effect}|"
    )


def main() -> None:
    """Run, or print the table."""
    parser = ArgumentParser(description=__doc__)
    parts = parser.add_subparsers(dest="part", required=True)
    runs, prints = parts.add_parser("run"), parts.add_parser("table")
    runs.add_argument("file", type=Path)
    runs.add_argument("--rows", nargs="+", choices=[row.name for row in ROWS], default=())
    runs.add_argument("--accounts", type=int, default=300)
    runs.add_argument("--first", type=int, default=8_000_000)
    runs.add_argument("--large", action="store_true", help="ten times the calls")
    runs.add_argument(
        "--worlds", default="", help="only worlds whose names begin like this, and no effects"
    )
    prints.add_argument("files", type=Path, nargs="+")
    given = parser.parse_args()
    if given.part == "table":
        table(given.files)
        return
    rows = [row for row in ROWS if not given.rows or row.name in given.rows]
    run(given, rows)


if __name__ == "__main__":
    main()
