"""Tab offers what may stand there, in the words of each shell, and loads nothing for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from cli.commands import SOURCE, invoke
from dialframe.cli import completion_words

#: What has been typed, and what must be offered for it.
OFFERED = tomllib.loads((Path(__file__).parent / "completions.toml").read_text(encoding="utf-8"))


def offered(monkeypatch: pytest.MonkeyPatch, *words: str) -> list[str]:
    """What bash is answered for these words, the last of which is being typed."""
    monkeypatch.setenv("_DIALFRAME_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "\n".join(["dialframe", *words]))
    monkeypatch.setenv("COMP_CWORD", str(len(words)))
    return invoke().out.split()


@pytest.mark.parametrize(("line", "wanted"), OFFERED.items(), ids=OFFERED)
def test_what_may_stand_there_is_offered(
    monkeypatch: pytest.MonkeyPatch, line: str, wanted: list[str]
) -> None:
    """Commands, options and the values of options, each by its beginning."""
    words = line.split(" ")
    found = offered(monkeypatch, *words)

    assert set(wanted) <= set(found)
    assert all(word.startswith(words[-1]) for word in found)


def test_nothing_is_offered_twice_or_where_a_file_belongs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A jurisdiction that was chosen is not offered again; for a file the shell offers its own."""
    assert "us-fl,us-fl" not in offered(monkeypatch, "audit", "--rules", "us-fl,us-f")
    assert offered(monkeypatch, "leads", "clean", "") == []
    assert offered(monkeypatch, "audit", "--practice", "") == []


@pytest.mark.parametrize(("shell", "begin"), [("zsh", "_arguments '*: :(("), ("fish", "leads\t")])
def test_zsh_and_fish_are_answered_in_their_words(
    monkeypatch: pytest.MonkeyPatch, shell: str, begin: str
) -> None:
    """Each with the purpose of the command beside it."""
    monkeypatch.setenv("_DIALFRAME_COMPLETE", f"complete_{shell}")
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", "dialframe le")
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")

    said = invoke().out
    assert said.startswith(begin)
    assert "leads" in said
    assert "Lead files" in said


def test_completion_and_help_load_nothing_heavy() -> None:
    """Neither pandas, nor a client, nor what draws tables stands between Tab and its answer."""
    code = (
        "import json, sys\n"
        "from dialframe.cli.entry_point import run\n"
        "import contextlib, io\n"
        "with contextlib.redirect_stdout(io.StringIO()): assert run(['audit', '--help']) == 0\n"
        "heavy = {'pandas', 'numpy', 'httpx', 'pyarrow', 'matplotlib', 'starlette'}\n"
        "print(json.dumps(sorted(heavy & set(sys.modules))))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": SOURCE}, capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert json.loads(done.stdout) == []


def test_the_words_are_those_of_their_sources() -> None:
    """What Tab offers is what the commands take, word for word."""
    from phonenumbers import SUPPORTED_REGIONS

    from dialframe.account.sync import RULES
    from dialframe.flows.suppression_import import code_tables
    from dialframe.frames import TABLES
    from dialframe.leads.outputs import ADDITIONS
    from dialframe.leads.reasons import REASONS
    from dialframe.sandbox.seed import SIZES
    from dialframe.store.forget import PERSONAL

    assert tuple(RULES) == completion_words.SYNCED
    assert tuple(TABLES) == completion_words.TABLES
    assert completion_words.PERSONAL == PERSONAL
    assert tuple(code_tables()) == completion_words.SCRUBBERS
    assert completion_words.ADDITIONS == ADDITIONS
    assert tuple(reason.code for reason in REASONS) == completion_words.REASONS
    assert set(completion_words.SIZES) == {"empty", *SIZES}
    # A release of the numbering plans may bring a region.
    assert set(completion_words.REGIONS) <= SUPPORTED_REGIONS
    assert len(completion_words.REGIONS) > 240


def test_the_rules_are_those_of_the_book() -> None:
    """Read as text for the sake of speed, they are what the rule book says."""
    from dialframe.compliance.rules import rulebook

    book = rulebook.load()
    assert {rule.id for rule in book.rules} <= set(completion_words.rules(""))
    assert {place.lower() for place in book.jurisdictions} <= set(completion_words.rules(""))
    assert set(completion_words.rule_ids("")) == {rule.id for rule in book.rules}
    assert set(completion_words.rule_kinds("")) == {rule.kind for rule in book.rules}


@pytest.mark.parametrize("word", completion_words.ENCODINGS)
def test_encodings_are_known_to_python(word: str) -> None:
    """Each can be read."""
    assert "a".encode(word)
