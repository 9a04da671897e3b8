"""Tables fit a terminal of any width, and are the same everywhere in a pipe."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from fcntl import ioctl

import pytest
from rich.cells import cell_len

from cli.commands import SOURCE
from dialframe.cli.terminal import Table

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
COLORS = re.compile(r"\x1b\[(?:[0-9;]*;)?(?:3|4|9|10)[0-7](?:;[0-9;]*)?m")
TABLE = Table(
    [
        (
            "phone_precision_lost",
            "1,204",
            "a spreadsheet rounded the number, its last digits are gone",
        ),
        ("blank", "3", "東京のお客様, no filled cell"),
    ],
    ("code", "records", "meaning"),
    "Reasons",
    right=(1,),
)


@pytest.fixture
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The drawing library takes standard output for a terminal without colors."""
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.mark.parametrize("width", ["20", "80", "300"])
def test_a_pipe_gets_one_line_for_each_row(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: str
) -> None:
    """Two blanks between columns, numbers to the right, no lines, whatever the width is said to be."""
    monkeypatch.setenv("COLUMNS", width)
    TABLE.show()

    assert capsys.readouterr().out.splitlines() == [
        "code                  records  meaning",
        "phone_precision_lost    1,204  a spreadsheet rounded the number, its last digits are gone",
        "blank                       3  東京のお客様, no filled cell",
    ]


@pytest.mark.usefixtures("plain_terminal")
@pytest.mark.parametrize("width", [30, 40, 60, 80, 160])
def test_a_terminal_gets_what_fits(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    """No line is wider than the terminal, and no word of a short cell is cut."""
    monkeypatch.setenv("COLUMNS", str(width))
    TABLE.show()
    said = ESCAPES.sub("", capsys.readouterr().out)

    assert max(map(cell_len, said.splitlines())) <= width
    assert "phone_precision_lost" in said
    assert "1,204" in said
    assert "Reasons" in said
    assert "…" not in said
    assert ("┃" in said) == (width >= 60)


@pytest.mark.usefixtures("plain_terminal")
def test_a_grid_is_stacked_where_its_last_column_has_no_room(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Below the other cells, broken at blanks."""
    monkeypatch.setenv("COLUMNS", "40")
    rows = [("5", "phone_precision_lost", "lines 29, 55, 83", "a spreadsheet rounded the number")]
    Table(rows, right=(0,)).show()

    assert capsys.readouterr().out.splitlines() == [
        "  5  phone_precision_lost  lines 29, 55,",
        "      83",
        "      a spreadsheet rounded the number",
    ]


def test_a_frame_without_rows_is_its_headings(capsys: pytest.CaptureFixture[str]) -> None:
    """An empty answer is a table, too."""
    import pandas as pd

    Table.of(pd.DataFrame({"id": pd.Series([], dtype="str"), "n": []}), "Nothing").show()
    Table([]).show()

    assert capsys.readouterr().out == "id  n\n"


def screen(columns: int, **variables: str) -> str:
    """What `rules list` writes to a real terminal of this width."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    environment = {**os.environ, "PYTHONPATH": SOURCE, "TERM": "xterm-256color", **variables}
    environment.pop("COLUMNS", None)
    process = subprocess.Popen(
        [sys.executable, "-m", "dialframe", "rules", "list", "--rules", "us-fl"],
        stdin=theirs, stdout=theirs, stderr=theirs, env=environment,
    )  # fmt: skip
    os.close(theirs)
    said = b""
    with contextlib.suppress(OSError):
        while part := os.read(ours, 65536):
            said += part
    os.close(ours)
    assert process.wait() == 0
    return said.decode().replace("\r\n", "\n")


@pytest.mark.parametrize(
    ("columns", "variables", "styled"),
    [(40, {"NO_COLOR": "1"}, True), (80, {"TERM": "dumb"}, False)],
    ids=["narrow without colors", "dumb"],
)
def test_a_real_terminal_is_not_overrun(
    columns: int, variables: dict[str, str], styled: bool
) -> None:
    """Every line fits, sentences are broken at blanks, and nobody who minds colors gets any."""
    said = screen(columns, **variables)
    plain = ESCAPES.sub("", said)

    assert max(map(cell_len, plain.splitlines())) <= columns
    assert "us-fl-consent" in plain
    assert "not legal advice." in " ".join(plain.split())
    assert (plain != said) == styled
    assert "NO_COLOR" not in variables or not COLORS.search(said)
