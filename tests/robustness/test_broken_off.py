"""A good thing stays good when its writer is killed, or its disk is full; harmed later, it is not taken for right."""

from __future__ import annotations

import ast
import os
import sys
from pathlib import Path

import pytest

from forked import Forked
from robustness import broken_off

#: Kills, and full disks, of each kind that hit it; a hundred are run by hand before a release.
ROUNDS = os.environ.get("BROKEN_OFF", "1")
#: Harmed files of each kind; a thousand are run by hand. Stores: `store/test_recovery.py`.
HARMED = int(os.environ.get("HARMED", "4"))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="forks and limits of POSIX")
def test_what_is_broken_off_leaves_the_old_or_the_new() -> None:
    """Store, journal, pack, export, lead list, suppression list, published tables: never something between."""
    status, lines = Forked(broken_off.main, int(ROUNDS)).end(timeout_s=3600)

    assert status == 0
    kinds = dict(line.split(": ", 1) for line in lines)
    assert len(kinds) == len(broken_off.THINGS)
    for outcomes in map(ast.literal_eval, kinds.values()):
        assert outcomes["killed"] == outcomes["refused"] == int(ROUNDS)


def test_no_harmed_file_changes_what_is_shown_unsaid(tmp_path: Path) -> None:
    """A flip, a cut, a deletion or an old copy: said, or nothing is different; what is kept twice is kept."""
    for kind in (
        "journal",
        "import ledger",
        "assistant's log",
        "published tables",
        "lead list",
        "suppression list",
    ):
        outcomes = broken_off.harm(kind, tmp_path / kind, HARMED)

        assert set(outcomes) <= {"same", "said"}, outcomes
