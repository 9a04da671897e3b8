"""Runs commands as somebody types them, and keeps what they said."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any

from dialframe.cli.entry_point import run


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
