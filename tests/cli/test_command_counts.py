"""The commands stay few, their options stay few, and an option means one thing wherever it is taken."""

from __future__ import annotations

from collections import defaultdict

from sitepages.command_list import Entry, commands

from cli.commands import invoke
from dialframe.cli.terminal import GLOBAL
from rows import every_row

#: Limits that hold what was reached: a person has to find a command by reading one page.
COMMANDS, OPTIONS, A_COMMAND = 36, 172, 16
#: Options of every command; the first page explains them.
EVERYWHERE = {name for name, _, _ in GLOBAL.values()}
LEAVES = [entry for entry in commands() if entry.runs and entry.path]

#: What answers under an old name, and is on no page.
OLD_NAMES = (
    "funnel", "contract openapi", "contract operations", "leads check", "leads screen", "leads forget",
    "leads reasons", "suppress check", "suppress undo", "suppress push", "suppress codes", "audit keygen",
    "audit history", "rules history", "rules changes", "rules export", "rules test", "store verify",
    "store prune", "store publish", "store vacuum", "store repair", "sandbox conform",
)  # fmt: skip


def flags(entry: Entry) -> dict[str, str]:
    """The options of a command with what they mean, by their long names."""
    return {
        written.split(", ")[-1]: words for written, words in entry.options if written[:1] == "-"
    }


def test_commands_and_options_are_few() -> None:
    """So many commands, so many options in all, and so many of one command."""
    counts = {entry.path: len(flags(entry)) for entry in LEAVES}
    assert len(counts) <= COMMANDS
    assert sum(counts.values()) + len(EVERYWHERE) <= OPTIONS
    assert max(counts.values()) <= A_COMMAND


def test_an_option_means_one_thing() -> None:
    """Whatever command takes it says the same of it, and no command takes what all of them take."""
    meanings: dict[str, set[str]] = defaultdict(set)
    for entry in LEAVES:
        for name, words in flags(entry).items():
            meanings[name].add(words)
    assert {name: words for name, words in meanings.items() if len(words) > 1} == {}
    assert EVERYWHERE.isdisjoint(meanings)


@every_row("name", OLD_NAMES)
def test_an_old_name_answers_and_is_on_no_page(name: str) -> None:
    """Scripts go on; whoever reads the pages learns one name."""
    assert name not in {entry.path for entry in commands()}
    invoke(f"{name} --help", out=f"Usage: dialframe {name}")


def test_options_of_every_command_stand_anywhere() -> None:
    """Before the command, after it, with an equals sign; behind `--` a word is a word."""
    for line in ("--json rules list --rules us-fl", "rules list --json --rules us-fl"):
        assert invoke(line).facts["rules"]
    invoke("--store=nowhere store info", ends=2, err="no account is stored")
    invoke("rules show -- --json", ends=2, err="--json")
