"""Runs what the documents show, as one reader would: in one folder, on one sandbox, in the order of the pages."""

from __future__ import annotations

import ast
import io
import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pandas as pd

from dialframe.cli.entry_point import run
from dialframe.config import ENVIRONMENT

ROOT: Final = Path(__file__).parents[2]
LISTS: Final = ROOT / "data_samples" / "leads"
README: Final = ROOT / "README.md"
PAGES: Final = (
    *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "tables").glob("*.md")),
)  # fmt: skip
DOCUMENTS: Final = (README, ROOT / "CONTRIBUTING.md", ROOT / "data_samples" / "README.md", *PAGES)

#: Lines and blocks that are shown and not run, by their beginning, and why.
NOT_RUN: Final = {
    "python3 -m venv": "makes an environment: .ci/run takes these lines and runs them",
    ".venv/bin/": "the tools of development: .ci/run runs them",
    "source .venv": "changes a shell: the next lines are what is tested",
    "curl -H": "asks an authority on the net; the tests of packs read what one answers",
    "export ": "sets a variable: the reader has them all",
    "read -rs ": "asks a person for a key",
    "dialframe leads clean 's3://": "needs an object store and a cluster: tests/leads has both",
}
_SERVING: Final = {"serve", "listen", "app"}
#: Columns of the terminal that a page shows.
COLUMNS: Final = 96


@dataclass(frozen=True)
class Block:
    """One fenced block of a document."""

    path: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}"

    @property
    def commands(self) -> list[str]:
        """Its lines that are commands of dialframe."""
        if self.language not in ("sh", "text", "console"):
            return []
        return [line for line in self.text.splitlines() if line.startswith("dialframe ")]


@dataclass(frozen=True)
class Ran:
    """What came of a block or of one command.

    Attributes:
        text: What it printed; of Python the value of its last line too, as a notebook shows it.
        status: Exit status of a command; 0 for Python.
    """

    text: str
    status: int = 0


def blocks(path: Path) -> Iterator[Block]:
    """The fenced blocks of a document."""
    text = path.read_text(encoding="utf-8")
    for found in re.finditer(r"^(`{3,})(\S*)[^\n]*\n(.*?)^\1\s*$", text, flags=re.M | re.S):
        yield Block(path, text.count("\n", 0, found.start()) + 1, found[2], found[3])


def not_run(text: str) -> str | None:
    """Why a line or a block is not run, or None."""
    return next((why for start, why in NOT_RUN.items() if text.startswith(start)), None)


class Reader:
    """Runs Python and commands in a folder, and keeps what they printed."""

    def __init__(self, folder: Path) -> None:
        """Begin in a folder."""
        self._folder = folder

    def python(self, block: Block, names: dict[str, Any]) -> Ran:
        """Run a block of Python among names; the value of its last line is shown as in a notebook."""
        tree = ast.parse(block.text)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        said = io.StringIO()
        with redirect_stdout(said), pd.option_context("display.width", COLUMNS):
            exec(compile(tree, str(block), "exec"), names)  # noqa: S102 - our own text
            if last is not None:
                value = eval(compile(ast.Expression(last.value), str(block), "eval"), names)  # noqa: S307 - as above
                if value is not None:
                    said.write(value if isinstance(value, str) else repr(value))
        return Ran(self._plain(said.getvalue()))

    def command(self, line: str) -> Ran:
        """Run a command line as it stands."""
        said = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
        with redirect_stdout(said), redirect_stderr(said):
            status = run(shlex.split(line, comments=True)[1:])
        return Ran(self._plain(said.buffer.getvalue().decode()), status)

    def _plain(self, text: str) -> str:
        return text.replace(f"{self._folder}/", "").rstrip()


@contextmanager
def environment() -> Iterator[Path]:
    """An empty folder to work in, with a home of its own; afterwards folder and variables are as before."""
    before, where = dict(os.environ), Path.cwd()
    with tempfile.TemporaryDirectory(prefix="dialframe-site-") as name:
        folder = Path(name)
        homes = ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME")
        os.environ.update({"COLUMNS": str(COLUMNS), "BROWSER": "true"})
        os.environ.update({home: str(folder / home.lower()) for home in homes})
        os.chdir(folder)
        try:
            yield folder
        finally:
            os.chdir(where)
            os.environ.clear()
            os.environ.update(before)


def read_documents() -> Iterator[tuple[Block, list[tuple[str, Ran]]]]:
    """Run every block of every document.

    The README's blocks for a shell are first, since they need no account, then its Python, whose names all pages have.

    Yields:
        The block, and what came of it: for each command its line, for Python one result under no line.
    """
    names: dict[str, Any] = {}
    with environment() as folder:
        _lay_out(folder)
        made = Reader(folder)
        try:
            for language in ("sh", "python"):
                for block in blocks(README):
                    if block.language == language:
                        yield from _run(made, block, names)
            sandbox = names["sandbox"]
            settings = ("base_url", sandbox.base_url), ("api_key", sandbox.api_key)
            for setting, value in (*settings, ("store", str(folder / "my-store"))):
                os.environ[ENVIRONMENT[setting]] = value
            for path in DOCUMENTS:
                yield from _read(made, path, dict(names))
        finally:
            for name in ("account", "sandbox"):
                if name in names:
                    names[name].close()


def _read(
    made: Reader, path: Path, names: dict[str, Any]
) -> Iterator[tuple[Block, list[tuple[str, Ran]]]]:
    for block in blocks(path):
        if path != README or block.language == "text":
            yield from _run(made, block, names)


def _run(
    made: Reader, block: Block, names: dict[str, Any]
) -> Iterator[tuple[Block, list[tuple[str, Ran]]]]:
    if block.language == "python":
        yield block, [("", made.python(block, names))]
    lines = [line for line in block.commands if not not_run(line) and not is_server(line)]
    if lines:
        yield block, [(line, made.command(line)) for line in lines]


def is_server(line: str) -> bool:
    """Whether a command serves until it is stopped: its line is parsed, the tests of each start it."""
    return bool(_SERVING & set(line.split()[1:3]))


def _lay_out(folder: Path) -> None:
    """The files that the pages speak of."""
    (folder / "data_samples").symlink_to(ROOT / "data_samples")
    shutil.copy(LISTS / "us_autumn_campaign.csv", folder / "autumn.csv")
    shutil.copy(LISTS / "uk_clinics_notsign_cp1252.csv", folder / "clinics.csv")
    (folder / "tps.csv").write_text("Phone\n020 7946 0018\n")
    pd.DataFrame({"Phone": ["020 7946 0021"]}).to_excel(folder / "complaints.xlsx", index=False)
    (folder / "hashes.txt").write_text("sha256\n" + "0" * 64 + "\n")
