"""A good thing stays good when its writer is killed, or its disk is full."""

from __future__ import annotations

import ast
import os
import sys

import pytest

from forked import Forked
from robustness import broken_off

#: Kills, and full disks, of each kind that hit it; a hundred are run by hand before a release.
ROUNDS = os.environ.get("BROKEN_OFF", "2")


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
