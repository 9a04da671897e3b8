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
