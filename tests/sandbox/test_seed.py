"""The synthetic account: the same every time, and consistent in itself."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
from typing import Any

import pytest

from dialframe.errors import ConfigError
from dialframe.sandbox.seed import SIZES, SyntheticAccount, generate
from sandbox.drawn import AUTUMN, CLAIMS, Claim, account


def everything(made: SyntheticAccount) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table."""
    return {name: list(table.rows) for name, table in made.tables.items()}


def test_the_same_seed_gives_the_same_account() -> None:
    """Two accounts of one seed, size and day are equal in every value."""
    assert everything(account()) == everything(generate(seed=7, size="small", as_of=AUTUMN))


def test_another_process_gives_the_same_account() -> None:
    """The account does not depend on the process: hash seeds change nothing."""
    code = (
        "import datetime as d, hashlib;from dialframe.sandbox.seed import generate;"
        "a=generate(seed=7,size='tiny',as_of=d.date(2026,11,21));"
        "t={n:list(x.rows) for n,x in a.tables.items()};"
        "print(hashlib.sha256(repr(t).encode()).hexdigest())"
    )
    here: list[str] = []
    exec(code, {"print": here.append})  # noqa: S102 - the same lines as there
    # Hashes are random here unless somebody said how, and differ from those of any seed.
    path = ":".join(path for path in sys.path if path)
    there = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120,
        env={"PYTHONHASHSEED": "1", "PYTHONPATH": path},
    )  # fmt: skip
    assert there.stdout.split() == here


def test_another_seed_gives_another_account() -> None:
    """Seeds differ in ids, numbers and calls."""
    mine, theirs = everything(account()), everything(account(seed=8))
    for table in ("leads", "calls", "callbacks", "appointments", "ground_truth"):
        assert mine[table] != theirs[table]
    assert not {row[0] for row in mine["calls"]} & {row[0] for row in theirs["calls"]}


def test_the_sizes_are_exact() -> None:
    """Leads and calls are as many as the size says."""
    for size in ("tiny", "small", "medium"):
        made = account(size)
        assert len(made.tables["leads"]) == SIZES[size].leads
        assert len(made.tables["calls"]) == SIZES[size].calls
    assert (SIZES["small"].leads, SIZES["small"].calls) == (3_000, 10_000)
    assert (SIZES["large"].leads, SIZES["large"].calls) == (300_000, 1_000_000)


@pytest.mark.parametrize("seed", range(8))
def test_every_seed_makes_a_tiny_account(seed: int) -> None:
    """No seed is unlucky: sizes are exact and every fault has its row."""
    made = generate(seed=seed, size="tiny", as_of=AUTUMN)
    faults = {row[0] for row in made.tables["ground_truth"].rows}
    assert len(made.tables["calls"]) == 1_000
    assert faults == {row[0] for row in account().tables["ground_truth"].rows}


def test_empty_has_the_tables_without_rows() -> None:
    """An empty account has the same tables and columns, and nothing in them."""
    empty = generate(seed=7, size="empty", as_of=AUTUMN)
    shape = {name: table.columns for name, table in account().tables.items()}
    assert {name: table.columns for name, table in empty.tables.items()} == shape
    assert not any(everything(empty).values())


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"seed": 7, "size": "huge", "as_of": AUTUMN}, "unknown size 'huge'"),
        ({"seed": -1, "size": "tiny", "as_of": AUTUMN}, "give 0 or more"),
        ({"seed": 7, "size": "tiny", "as_of": dt.date(1969, 7, 20)}, "from 2000 on"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, Any], match: str) -> None:
    """A size, seed or day that cannot be is one clear sentence."""
    with pytest.raises(ConfigError, match=match):
        generate(**arguments)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.says)
def test_claim_holds(claim: Claim) -> None:
    """Whatever the size, the seed and the day."""
    for case in claim.cases:
        claim.holds(case)


def test_the_repr_shows_no_numbers() -> None:
    """An account printed by chance gives away no phone number."""
    tables = account().tables.values()
    assert "+1" not in repr([account(), *tables])
