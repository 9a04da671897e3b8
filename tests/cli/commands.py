"""Runs commands as somebody types them, and keeps what they said."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sitepages.command_list import commands

from dialframe.cli.entry_point import run

SOURCE = str(Path(__file__).parents[2] / "src")


@dataclass(frozen=True)
class Ran:
    """What a command that has ended said."""

    status: int
    out: str
    err: str

    @property
    def facts(self) -> dict[str, Any]:
        """The one object of `--json`."""
        return dict(json.loads(self.out))


def begun(
    *words: object,
    program: Sequence[str] = ("-m", "dialframe"),
    session: bool = False,
    **variables: object,
) -> subprocess.Popen[str]:
    """Begin a command in a process of its own, whose output can be read.

    Args:
        words: Its words, each as it stands.
        program: What runs it.
        session: Whether it gets a session of its own, as from a terminal.
        variables: Further variables of its environment.
    """
    return subprocess.Popen(
        [sys.executable, *program, *map(str, words)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=session,
        env={**os.environ, "PYTHONPATH": SOURCE} | {name: str(value) for name, value in variables.items()},
    )  # fmt: skip


def example(path: str) -> list[str]:
    """The words of a server's example in the manual, as they stand but for the port, which is a free one."""
    (line,) = next(entry.examples for entry in commands() if entry.path == path)
    return shlex.split(re.sub(r"--port \d+", "--port 0", line))[1:]


def invoke(
    line: str = "", *words: object, ends: int | None = 0, out: str = "", err: str = ""
) -> Ran:
    """Run a command line and see how it ends.

    Args:
        line: Its first words, with blanks between.
        words: Further words, each as it stands.
        ends: The status; None for whichever.
        out: Words that it says to whoever reads the answer.
        err: Words that it says beside the answer.
    """
    texts = [io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2)]
    with redirect_stdout(texts[0]), redirect_stderr(texts[1]):
        status = run([*line.split(), *map(str, words)])
    ran = Ran(status, *(text.buffer.getvalue().decode() for text in texts))
    assert ends in (None, status), (line, status, ran.err)
    assert out in ran.out
    assert err in ran.err
    return ran
