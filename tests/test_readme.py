"""What the documents say runs, runs: every block of the README, of CONTRIBUTING and of the site's pages."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import tomllib
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
import typer

import dialframe
from dialframe.cli.command_tree import tree
from dialframe.cli.entry_point import FINDINGS, OK, run
from dialframe.compliance.rules import overrides, rulebook
from dialframe.config import ENVIRONMENT
from dialframe.firm import Firm
from dialframe.flows import audit as auditing
from dialframe.flows import firm_records
from rows import every_row

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = sorted((ROOT / "docs").glob("*.md")) + sorted((ROOT / "docs" / "tables").glob("*.md"))
DOCUMENTS = [
    ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "data_samples" / "README.md", *PAGES,
]  # fmt: skip

#: Lines and blocks that no test here runs, by their beginning, and why.
NOT_RUN = {
    "python3 -m venv": "makes an environment: .ci/run takes these lines and runs them",
    ".venv/bin/python -m sphinx": "tests/test_docs.py builds the site",
    ".venv/bin/": "the tools of development: .ci/run runs them",
    "pip install": "needs the net: .ci/run installs every extra that the tests use",
    "source .venv": "changes a shell: the next lines are what is tested",
    "curl -H": "asks an authority on the net; the tests of packs read what one answers",
    "export ": "sets a variable: the test sets them all",
    "read -rs ": "asks a person for a key",
    "dialframe leads clean 's3://": "needs an object store and a cluster: tests/leads has both",
}
#: Commands that serve until they are stopped: their lines are parsed, the tests of each start it.
SERVING = {"serve", "listen", "app"}


@dataclass(frozen=True)
class Block:
    """One fenced block."""

    path: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}"


def blocks(path: Path) -> Iterator[Block]:
    """The fenced blocks of a document."""
    text = path.read_text(encoding="utf-8")
    for found in re.finditer(r"^(`{3,})(\S*)[^\n]*\n(.*?)^\1\s*$", text, flags=re.M | re.S):
        yield Block(path, text.count("\n", 0, found.start()) + 1, found[2], found[3])


def why_not(text: str) -> str | None:
    """Why a line or a block is not run, or None."""
    return next((why for start, why in NOT_RUN.items() if text.startswith(start)), None)


BLOCKS = [block for path in DOCUMENTS for block in blocks(path)]
COMMANDS = {
    path: [line for block in BLOCKS if block.path == path and block.language in ("sh", "text", "console")
           for line in block.text.splitlines() if line.startswith("dialframe ")]
    for path in DOCUMENTS
}  # fmt: skip
QUERIES = [block for block in BLOCKS if block.language == "sql" and block.path.stem == "audit"]
WITH_PYTHON = [path for path in PAGES if any(block.language == "python" for block in blocks(path))]


@dataclass
class Session:
    """A folder in which the Python of the README has run, and the names that it left."""

    folder: Path
    names: dict[str, Any]

    def run(self, block: Block) -> str:
        """Run one block; what it printed."""
        said = StringIO()
        with redirect_stdout(said):
            exec(compile(block.text, str(block), "exec"), self.names)  # noqa: S102 - our own text
        return said.getvalue()


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """The Python of the README, from top to bottom in one notebook, on a sandbox."""
    folder = tmp_path_factory.mktemp("reader")
    (folder / "data_samples").symlink_to(ROOT / "data_samples")
    shutil.copy(ROOT / "data_samples" / "leads" / "us_autumn_campaign.csv", folder / "autumn.csv")
    shutil.copy(
        ROOT / "data_samples" / "leads" / "uk_clinics_notsign_cp1252.csv", folder / "clinics.csv"
    )
    (folder / "tps.csv").write_text("Phone\n020 7946 0018\n")
    pd.DataFrame({"Phone": ["020 7946 0021"]}).to_excel(folder / "complaints.xlsx", index=False)
    (folder / "hashes.txt").write_text("sha256\n" + "0" * 64 + "\n")
    made = Session(folder, {})
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        made.names["said"] = "".join(
            made.run(block) for block in blocks(ROOT / "README.md") if block.language == "python"
        )
        sandbox = made.names["sandbox"]
        patch.setenv(ENVIRONMENT["base_url"], sandbox.base_url)
        patch.setenv(ENVIRONMENT["api_key"], sandbox.api_key)
        patch.setenv(ENVIRONMENT["store"], str(folder / "my-store"))
        yield made
        made.names["account"].close()
        sandbox.close()


def test_python_of_the_readme_runs_in_order(session: Session) -> None:
    """It leaves an account, frames and an audit, and has printed the funnel in words."""
    assert isinstance(session.names["account"], dialframe.Account)
    assert len(session.names["calls"]) > 0
    assert "Loaded" in session.names["said"]


@pytest.mark.parametrize("path", WITH_PYTHON, ids=lambda path: path.stem)
def test_python_of_a_page_goes_on_from_there(session: Session, path: Path) -> None:
    """Each page of the site runs behind the README's blocks, whatever page was read before."""
    reader = Session(session.folder, dict(session.names))
    said = "".join(reader.run(block) for block in blocks(path) if block.language == "python")

    assert said.strip() or path.stem in {"importing", "pages"}


@pytest.mark.parametrize(
    "path", [path for path in DOCUMENTS if COMMANDS[path]], ids=lambda path: path.stem
)
def test_command_lines_run_in_order(
    session: Session, path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every `dialframe` line runs as it stands, against the sandbox, or is parsed where it only serves."""
    campaigns = session.names["account"].campaigns()
    campaign = str(campaigns.loc[campaigns["status"] == "paused", "id"].iloc[0])
    for line in COMMANDS[path]:
        words = shlex.split(line.replace("cmp_...", campaign), comments=True)[1:]
        if "september" in words:
            shutil.copytree("october", "september", dirs_exist_ok=True)
        if why_not(line) or SERVING & set(words[:2]):
            parses(words)
            continue
        assert run(words) in (OK, FINDINGS), (line, capsys.readouterr().err)
        assert capsys.readouterr().out.strip(), line


@pytest.mark.parametrize("block", QUERIES, ids=str)
def test_queries_of_a_page_run_in_the_folder_of_a_pack(
    session: Session, block: Block, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the pack that the README's audit writes, they run as they stand and find the call by its id."""
    pack = auditing.write_pack(session.names["audit"], session.folder / "asked")["manifest"].parent
    monkeypatch.chdir(pack)
    with duckdb.connect() as connection:
        calls = connection.execute("select id from 'tables/calls_in.parquet' limit 1")
        text = block.text.replace("call_...", str(calls.fetchall()[0][0]))
        answers = [connection.execute(each).fetchall() for each in text.strip().split(";")[:-1]]

    assert len(answers) == block.text.count(";")
    assert any(len(rows) == 1 for rows in answers)


def parses(words: list[str]) -> None:
    """The command is there and takes these arguments; nothing is run."""
    command: Any = typer.main.get_command(tree())
    path: list[str] = []
    while getattr(command, "commands", None) and words and words[0] in command.commands:
        path.append(words[0])
        command, words = command.commands[words[0]], words[1:]
    assert path, words
    command.make_context(" ".join(path), list(words))


@every_row("block", BLOCKS)
def test_no_block_is_left_out(block: Block) -> None:
    """Each block is run, read as its language, built by the site, or named here with a reason."""
    if block.language in ("sh", "text", "console"):
        if block.path.stem == "architecture":
            return  # Drawings of what passes from room to room.
        for line in filter(None, block.text.splitlines()):
            assert line.startswith("dialframe ") or why_not(line), line
    elif block.language == "json":
        assert json.loads(block.text)
    elif block.language == "toml":
        assert tomllib.loads(block.text)
    elif block.language == "sql":
        assert block in QUERIES, "test_queries_of_a_page_run_in_the_folder_of_a_pack runs those"
    elif block.path.stem == "recipes":
        assert block.language in {"py", "yaml", "shell"}, "schedulers run those"
    else:
        assert block.language == "python" or re.fullmatch(r"{[a-z]+}", block.language), block


def test_the_firms_own_file_of_the_audit_page_is_one() -> None:
    """The example is taken by the rule book, and its rule says what it says."""
    texts = [b.text for b in BLOCKS if b.language == "toml" and b.path.stem == "audit"]
    (text,) = [text for text in texts if "[[change]]" in text]
    changed = overrides.apply(rulebook.load(), text)

    assert len(changed.origins) == 1
    assert changed.sha256 != rulebook.load().sha256


def test_the_practice_of_the_audit_page_is_one() -> None:
    """The example of a firm file is read, and says which list the check covers."""
    texts = [b.text for b in BLOCKS if b.language == "toml" and b.path.stem == "audit"]
    (text,) = [text for text in texts if "[[practice.covers]]" in text]
    declared = firm_records.firm_practice(Firm.from_text(text), rulebook.load())

    assert [(each.registry, each.by, each.refreshed_days) for each in declared.covers] == [
        ("US National DNC Registry", "check", 7)
    ]


def test_links_and_pictures_exist() -> None:
    """Every file that the README and CONTRIBUTING point to is there."""
    texts = README, (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    targets = [t for text in texts for t in re.findall(r"\]\(([^)#]+)", text) if "://" not in t]

    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []
