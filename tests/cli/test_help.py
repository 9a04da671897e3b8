"""Every command has a page that says what it does, with an example."""

from __future__ import annotations

import pytest
from sitepages.command_list import Entry, commands

from cli.commands import invoke
from rows import every_row

COMMANDS = commands()
RUN = [entry for entry in COMMANDS if entry.runs and entry.path]


def named(entry: Entry) -> str:
    """The name of a command, for a test's id."""
    return entry.name


@pytest.mark.parametrize("entry", RUN, ids=named)
def test_a_page_shows_every_option_and_an_example(
    entry: Entry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Usage, every option with its words, and each example on a line of its own stand on the screen."""
    monkeypatch.setenv("COLUMNS", "200")
    shown = invoke(entry.path, "--help").out

    assert f"Usage: {entry.name}" in shown
    assert any(line.startswith(entry.name) for line in entry.examples)
    assert {line.strip() for line in shown.splitlines()}.issuperset(entry.examples)
    for option, words in entry.options:
        assert option.split(", ")[0] in shown or not option.startswith("-")
        assert words, option


@every_row("entry", COMMANDS)
def test_a_purpose_is_one_sentence(entry: Entry) -> None:
    """It begins with a capital, ends with a full stop and fits a line or two."""
    assert entry.purpose[0].isupper() or entry.purpose.startswith("`")
    assert entry.purpose.endswith(".")
    assert len(entry.purpose) <= 120


@every_row("entry", COMMANDS)
def test_a_page_is_written_for_people(entry: Entry, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal of 80 columns no summary is cut off, and no type or bound is Python's."""
    monkeypatch.setenv("COLUMNS", "80")
    lines = invoke(entry.path, "--help").out.splitlines()
    listed = lines[lines.index("Commands:") :] if "Commands:" in lines else []
    assert [line for line in listed if line.endswith("...")] == []
    assert [line for line in lines if "range>" in line or "x<=" in line or "[]" in line] == []
    usage = lines[0].removeprefix(f"Usage: {entry.name}").replace("[OPTIONS]", "")
    assert usage == usage.upper()


@pytest.mark.parametrize("arguments", [[], ["leads"], ["store"]], ids=str)
def test_without_a_command_the_help_is_shown(arguments: list[str]) -> None:
    """What there is, and wrong usage all the same."""
    ran = invoke(*arguments, ends=2)
    assert "Commands" in ran.out + ran.err
