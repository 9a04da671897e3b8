"""A good thing stays good when its writer is killed, or its disk is full."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

#: Kills, and full disks, of each kind; a hundred are run by hand before a release.
ROUNDS = os.environ.get("BROKEN_OFF", "2")
TESTS = Path(__file__).parent.parent


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="forks and limits of POSIX")
def test_what_is_broken_off_leaves_the_old_or_the_new() -> None:
    """Store, journal, pack, export, lead list, suppression list, published tables: never something between."""
    ran = subprocess.run(
        [sys.executable, "-m", "robustness.broken_off", ROUNDS],
        cwd=TESTS, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    kinds = ran.stdout.splitlines()
    assert len(kinds) == 7
    assert "killed" in ran.stdout
    assert "refused" in ran.stdout
