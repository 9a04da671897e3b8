"""Every command has a page that says all of it, at every width."""

from __future__ import annotations

import re

import pytest

from dialframe.cli import manual, manual_text, notes
from dialframe.cli.run import run
from dialframe.cli.statuses import FINDINGS, INTERRUPTED

PAGES = manual.pages()
RUN = [page for page in PAGES if page.statuses and page.path]
COMMANDS = [page for page in RUN if not page.commands or page.path == "audit"]


def named(page: manual.Page) -> str:
    """The name of a page, for a test's id."""
    return page.name


@pytest.mark.parametrize("page", COMMANDS, ids=named)
def test_a_page_says_everything(page: manual.Page, capsys: pytest.CaptureFixture[str]) -> None:
    """Purpose, usage, every option, exit statuses, environment and an example stand on the screen."""
    assert run([*page.path.split(), "--help"]) == 0
    said = capsys.readouterr().out

    assert said.startswith(f"Usage: {page.name} [OPTIONS]")
    for title in ("Options:", "Exit status:", "Environment:"):
        assert f"\n{title}\n" in said
    assert re.search(r"^Examples?:\n  dialframe", said, flags=re.M)
    for item in (*page.arguments, *page.options):
        assert item.left in said
        assert item.words, item.left
    assert {0, 1, 2} <= set(page.statuses)
    assert "--help" in said


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_a_purpose_is_one_sentence(page: manual.Page) -> None:
    """It begins large, ends with a full stop and fits a line or two."""
    assert page.purpose[0].isupper() or page.purpose.startswith("`")
    assert page.purpose.endswith(".")
    assert len(page.purpose) <= 120


@pytest.mark.parametrize("page", COMMANDS, ids=named)
def test_every_command_takes_json_and_says_what_it_needs(page: manual.Page) -> None:
    """`--json` everywhere but where a protocol is spoken; whoever needs an account reads its variables."""
    names = {item.name for item in page.options}
    assert "as_json" in names or page.path == "assistant serve"
    assert ("DIALFRAME_API_KEY" in page.environment) == ("base_url" in names)
    assert ("DIALFRAME_STORE" in page.environment) == ("store" in names)


def test_what_stops_well_and_what_is_interrupted() -> None:
    """A server ends with 0 when it is stopped, everything else with 130."""
    serving = {page.path for page in COMMANDS if INTERRUPTED not in page.statuses}
    assert serving == {"app", "assistant serve", "sandbox serve", "webhooks listen"}
    assert {page.path for page in COMMANDS if FINDINGS in page.statuses} == {
        "audit", "audit verify", "leads import",
    }  # fmt: skip


def test_notes_are_about_commands_that_there_are() -> None:
    """No note outlives its command, and each says what Ctrl-C keeps."""
    assert set(notes.NOTES) <= {page.path for page in PAGES}
    assert all(one.kept and not one.kept.endswith(".") for one in notes.NOTES.values())


@pytest.mark.parametrize("width", [40, 60, 80, 200])
@pytest.mark.parametrize("page", PAGES, ids=named)
def test_a_page_fits_its_width(page: manual.Page, width: int) -> None:
    """Words are broken at blanks; only what is typed may be longer than a narrow terminal."""
    typed = {item.left for item in (*page.arguments, *page.options)} | set(page.examples)
    typed |= set(page.files)
    for line in manual_text.text(page, width=width).splitlines():
        own = line.strip()
        assert len(line) <= min(width, 100) or own in typed or " " not in own, line


def test_options_tell_unit_default_and_range() -> None:
    """What stands for a value says what it is; defaults and bounds are told."""
    by_path = {page.path: {item.name: item for item in page.options} for page in PAGES}

    assert by_path["leads screen"]["max_age"].left == "--max-age AGE"
    assert "[default: 31d]" in by_path["leads screen"]["max_age"].words
    assert "[0 to 65535]" in by_path["sandbox serve"]["port"].words
    assert "[required]" in by_path["export"]["to"].words
    assert by_path["leads clean"]["engine"].left == "--engine local|duckdb|dask"
    assert by_path["leads clean"]["out"].left == "--out FOLDER"
    assert by_path["app"]["browser"].left == "--browser / --no-browser"


def test_headings_stand_out_only_where_asked() -> None:
    """Plain text has no escape sequence in it."""
    page = PAGES[0]
    assert "\x1b" not in manual_text.text(page)
    assert "\x1b[1mOptions:\x1b[0m" in manual_text.text(page, bold=True)


def test_described_takes_the_examples_apart() -> None:
    """Purpose, paragraphs and examples of a docstring, wherever the word stands."""
    text = "Do it.\n\nMore of it,\nindeed. Examples:\n\n    dialframe do\n    dialframe do --all"

    assert manual.described(text) == (
        "Do it.",
        ("More of it, indeed.",),
        ("dialframe do", "dialframe do --all"),
    )
    assert manual.described("Do it.") == ("Do it.", (), ())


@pytest.mark.parametrize(
    "arguments", [[], ["leads"], ["store"]], ids=["program", "leads", "store"]
)
def test_without_a_command_what_there_is_is_said(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    """Short, with where to read more; wrong usage all the same."""
    assert run(arguments) == 2
    said = capsys.readouterr()

    assert said.out == ""
    assert "Commands:" in said.err
    assert "Exit status" not in said.err
    assert said.err.rstrip().endswith("--help")


def test_the_whole_manual_is_a_page_for_man(capsys: pytest.CaptureFixture[str]) -> None:
    """Every command is a section, and no line of words is an order to the formatter."""
    assert run(["--man"]) == 0
    lines = capsys.readouterr().out.splitlines()
    orders = {".TH", ".SH", ".SS", ".PP", ".TP", ".B", ".nf", ".fi", ".RS", ".RE"}

    assert lines[0].startswith(".TH DIALFRAME 1")
    assert {line.split()[0] for line in lines if line[:1] in (".", "'")} == orders
    sections = [line.replace("\\-", "-") for line in lines if line.startswith(".SS ")]
    assert sections == [f'.SS "{page.name}"' for page in PAGES[1:]]
    plain = [line.replace("\\-", "-") for line in lines]
    assert all(example in plain for page in PAGES[1:] for example in page.examples)
