"""Every command as another user than the one who installed: nothing of the installation, and no home, can be written to."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dialframe

#: Gives up root, but for reading files of others: the installation may lie where nobody else may enter.
PROGRAM = """
import ctypes, io, json, os, sys
from contextlib import redirect_stderr, redirect_stdout
NOBODY, KEEP_CAPABILITIES, READ_ALL, VERSION_3 = 65534, 8, 1 << 2, 0x20080522
if os.geteuid() == 0:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(KEEP_CAPABILITIES, 1, 0, 0, 0)
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    libc.capset((ctypes.c_uint32 * 2)(VERSION_3, 0), (ctypes.c_uint32 * 6)(READ_ALL, READ_ALL, 0, 0, 0, 0))
import dialframe
from dialframe.cli.entry_point import _give_caches_a_place, run
try:
    open(os.path.join(os.path.dirname(dialframe.__file__), "written"), "w")
except OSError:
    sealed = True
else:
    sealed = False
_give_caches_a_place()
told = {"sealed": sealed, "user": os.geteuid(), "ended": []}
for arguments in json.load(sys.stdin):
    if arguments == ["forget the account"]:
        for name in [name for name in os.environ if name.startswith("DIALFRAME_")]:
            del os.environ[name]
        continue
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = run(arguments)
    told["ended"].append([arguments[0], status, out.getvalue(), err.getvalue()])
told["compilers"] = [name for name in ("numba", "llvmlite") if name in sys.modules]
json.dump(told, sys.stdout)
"""


NOBODY = 65534
#: What is loaded anew takes its time.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can be another user"
    ),
]


def _as_nobody(room: Path, commands: list[list[str]], **environment: str) -> dict[str, Any]:
    """What the commands told as another user, without a home and with nothing else in the environment."""
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps(commands),
        capture_output=True,
        text=True,
        check=False,
        cwd=room,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(Path(dialframe.__file__).parents[1]),
            "HOME": "/proc/nowhere",
            **environment,
        },
    )
    assert ran.returncode == 0, ran.stderr
    told: dict[str, Any] = json.loads(ran.stdout)
    return told


@pytest.fixture(scope="module")
def nobody() -> Iterator[tuple[Path, dict[str, Any]]]:
    """A folder of another user, and what every command told there: with an account, then a check-up without one."""
    # Outside of the tests' own folders, which nobody else may enter.
    with (
        dialframe.sandbox.start(size="tiny", seed=3) as service,
        tempfile.TemporaryDirectory() as root,
    ):
        room = Path(root)
        (room / "autumn.csv").write_text("name,phone\nAda,+12125550142\nBob,+12125550143\n")
        for path in (room, room / "autumn.csv"):
            shutil.chown(path, NOBODY, NOBODY)
        (room / "closed").mkdir(mode=0o755)
        commands = [
            ["sync", "--json"],
            ["doctor", "--json"],
            ["rules", "list", "--json"],
            ["leads", "clean", str(room / "autumn.csv"), "--region", "US", "--out", str(room / "lists"), "--json"],
            ["funnel", "--picture", str(room / "funnel.png"), "--json"],
            ["audit", "--rules", "us-tsr-hours", "-o", str(room / "pack"), "--json"],
            # Of a time without calls: its pictures are drawn like all others.
            ["report", "--out", str(room / "report"), "--since", "2030-01-01", "--json"],
            ["forget the account"],
            ["doctor", "--json"],
            ["doctor", "--json", "--store", str(room / "closed")],
        ]  # fmt: skip
        yield (
            room,
            _as_nobody(
                room,
                commands,
                DIALFRAME_BASE_URL=service.base_url,
                DIALFRAME_API_KEY=service.api_key,
                DIALFRAME_STORE=str(room / "store"),
            ),
        )


def test_every_command_works_as_another_user_without_a_home(
    nobody: tuple[Path, dict[str, Any]],
) -> None:
    """Funnel, audit, report, rules, lists, doctor: no cache and no drawing library's folder is missed, nothing compiled."""
    room, told = nobody
    assert (told["sealed"], told["user"]) == (True, NOBODY)
    assert told["compilers"] == []
    for name, status, out, err in told["ended"][:-2]:
        # An audit ends with 3 where it has findings.
        assert status == 0 or (name, status) == ("audit", 3), (name, out, err)
        assert "Traceback" not in err
    answers = {name: out for name, _, out, _ in told["ended"][:-2]}
    assert json.loads(answers["doctor"])["ok"] is True
    assert json.loads(answers["leads"])["clean"] == 2
    # A period in which nothing happened gives a page that says so.
    assert Path(json.loads(answers["report"])["file"]).suffix == ".html"
    first, *_ = json.loads(answers["report"])["findings"]
    assert " 0 were attempted" in first
    assert "There are no" not in first
    assert json.loads(answers["audit"])["checks"]
    written = [path for path in room.rglob("*") if path != room / "closed"]
    assert {path.stat().st_uid for path in written} == {NOBODY}


@pytest.mark.parametrize(
    ("place", "words"), [(-2, "/proc/nowhere"), (-1, "closed may not be written to")]
)
def test_doctor_says_that_there_is_no_place_for_a_store(
    nobody: tuple[Path, dict[str, Any]], place: int, words: str
) -> None:
    """Without a home and a folder that is named, and with one that may not be written to: what is wrong, and what helps."""
    _, status, out, err = nobody[1]["ended"][place]
    answer = json.loads(out)
    (store,) = [row for row in answer["checks"] if row["check"] == "store"]

    assert (status, answer["ok"], store["state"]) == (1, False, "failed")
    assert words in store["detail"]
    assert "folder" in store["what_next"]
    assert "Traceback" not in err
