"""What the documents show is sound: every block is run by the site's build, read as its language, or named with a reason."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import duckdb
import pytest
import typer
from sitepages.reader import DOCUMENTS, ROOT, Block, blocks, not_run

import dialframe
from dialframe.cli.command_tree import tree
from dialframe.compliance.rules import overrides, rulebook
from dialframe.firm import Firm
from dialframe.flows import audit as auditing
from dialframe.flows import firm_records
from rows import every_row

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = [block for path in DOCUMENTS for block in blocks(path)]
QUERIES = [block for block in BLOCKS if block.language == "sql" and block.path.stem == "audit"]
#: Most lines of the README: a stranger reads it whole.
LINES = 140


def test_the_readme_is_short_and_ends_each_journey_at_a_result() -> None:
    """Three journeys, each with commands or Python that the build of the site runs; a campaign has a name."""
    journeys = re.findall(r"^## 15 minutes for (\w+).*?(?=^## )", README, flags=re.M | re.S)
    assert journeys == ["operations", "data", "compliance"]
    assert len(README.splitlines()) <= LINES
    assert "--campaign cmp_" not in README


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The evidence of an audit of the README's account."""
    store = tmp_path_factory.mktemp("asked")
    with (
        dialframe.sandbox.start(seed=7, size="tiny") as sandbox,
        dialframe.connect(sandbox.base_url, sandbox.api_key, store=store / "store") as account,
    ):
        account.sync()
        audit = dialframe.audit(account, rules=["us", "us-*"])
        return auditing.write_pack(audit, store / "pack")["manifest"].parent


@pytest.mark.parametrize("block", QUERIES, ids=str)
def test_queries_of_a_page_run_in_the_folder_of_a_pack(
    pack: Path, block: Block, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the pack that the README's audit writes, they run as they stand and find the call by its id."""
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
            assert line.startswith("dialframe ") or not_run(line), line
            if line.startswith("dialframe "):
                parses(shlex.split(line, comments=True)[1:])
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
