"""What somebody without an account types first: each mistake is named before anything is opened or made."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.commands import invoke

#: Words of a command, its status, and what it says.
MISTAKES = (
    ("load calls nope.csv --as bogus", 2, "bogus"),
    ("load calls nope.csv", 1, "there is no such file"),
    ("load bogus nope.csv", 2, "'bogus' cannot be loaded"),
    ("firm --answer foo", 2, "write KEY=ANSWER"),
    ("analyze hours", 2, "no account is stored"),
    ("rules list --kind bogus", 2, "no rule here is of kind 'bogus'"),
    ("audit --rules us-zz", 2, "`dialframe rules list` shows both"),
)


@pytest.mark.usefixtures("nothing_set")
@pytest.mark.parametrize(("line", "status", "words"), MISTAKES, ids=[row[0] for row in MISTAKES])
def test_a_mistake_is_named_at_once_in_one_short_sentence(
    line: str, status: int, words: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """And a command that did nothing leaves no account of files behind, which others would read as one."""
    monkeypatch.chdir(tmp_path)
    said = invoke(*line.split(), ends=status, err=words)
    assert len(said.err) < 600
    invoke("campaigns", ends=2, err="the service's address is missing")


@pytest.mark.usefixtures("nothing_set")
def test_campaigns_of_loaded_files_are_listed_without_a_service(tmp_path: Path) -> None:
    """The names that calls have."""
    calls = tmp_path / "march.csv"
    calls.write_text(
        "call_date,phone_number_dialed,status,user,campaign_id,length_in_sec\n"
        "2026-03-02 10:00:00,2125550142,NA,ada,SPRING,0\n"
    )
    invoke(
        "load", "calls", calls, "--as", "vicidial", "--region", "US", "--zone", "America/New_York"
    )
    assert [each["name"] for each in invoke("campaigns", "--json").facts["data"]] == ["SPRING"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("help", "Commands:"),
        ("help leads clean", "Usage: dialframe leads clean"),
        ("version", "dialframe 0."),
    ],
)
def test_help_and_version_are_words_too(line: str, words: str) -> None:
    """As in most programs."""
    invoke(*line.split(), out=words)
