"""The words that people read are those of the glossary, on every page, in every help text and message table."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from sitepages.command_list import commands

ROOT = Path(__file__).parent.parent
#: Phrases that no native engineer writes; each with what is meant.
FORBIDDEN = {
    r"goes? on where it was": "resumes where it stopped",
    r"what becomes of": "the outcome of",
    r"what became of": "the outcome of",
    r"what is not flagged": "no finding does not mean",
    r"by nothing else": "only by",
    r"said otherwise": "unless you say",
    r"say otherwise": "override",
    r"the whole way through": "from start to finish",
    r"read it so": "apply",
    r"\btold of\b": "given",
    r"\bblacklist(?!_)": "suppression list",
    r"\bwhitelist": "allow list",
    r"quarter-hour": "15 minutes",
    r"stands? beside": "is next to",
    r"nobody knows": "is not known",
    r"(?<!there )\bis no (?:phone|number|day|list|folder|country|time|E\.164|file of)\b": "is not a",
    r"\bto go on\b": "to continue",
    r"\bhere stands\b": "this page shows",
    r"what stands (in|behind|on)\b": "the content of, the evidence for",
    r"what came of (it|them)\b": "the results",
    r"\bas it came\b": "as it arrived, unchanged",
    r"\bof nobody\b": "synthetic",
    r"is told and never": "is reported and never",
    r"\bin the place of\b": "instead of",
    r"are held against": "are checked against",
    r"\b(is|are|it) left standing\b": "stays",
    r"until you say\b(?! so)": "until you answer",
    r"what was answered about": "earlier answers about",
    r"answers? to nobody\b": "answers no one",
    r"\bmend(s|ed|ing)?\b": "fix, correct, repair",
}
PAGES = sorted({
    *(ROOT / "docs").rglob("*.md"),
    ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md",
    *(ROOT / "src" / "dialframe").rglob("templates/*"),
})  # fmt: skip


def faults(text: str) -> list[str]:
    """The phrases of a text that are not used, each with what is."""
    plain = " ".join(text.split())
    return [
        f"{match[0]!r}: write {better!r}"
        for pattern, better in FORBIDDEN.items()
        for match in re.finditer(pattern, plain, re.IGNORECASE)
    ]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_page_uses_the_words_of_the_glossary(path: Path) -> None:
    """The glossary itself names the phrases that are not used."""
    if path.name != "glossary.md":
        assert faults(path.read_text(encoding="utf-8")) == []


#: Rooms whose messages people read in a terminal or in a browser.
FACES = sorted(
    path
    for room in ("cli", "app", "reports")
    for path in (ROOT / "src" / "dialframe" / room).rglob("*.py")
)


def messages(path: Path) -> str:
    """The texts of a module that somebody may read: its strings with a blank, but no docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and isinstance(node.body[0], ast.Expr)
    }
    return "\n".join(
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        and " " in node.value and id(node) not in documented
    )  # fmt: skip


@pytest.mark.parametrize("path", FACES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_message_uses_the_words_of_the_glossary(path: Path) -> None:
    """Errors, questions, sentences and headings of the faces."""
    assert faults(messages(path)) == []


#: A number, or the end of a field, before a blank and a sign of per cent that formats nothing.
SPACED_SHARE = re.compile(r"(?:\d|^) %(?![(%\w}]| \d)", re.MULTILINE)


def test_a_share_is_written_as_americans_write_it() -> None:
    """`94.1%` in every page, message, table of words and notebook."""
    package = ROOT / "src" / "dialframe"
    texts = {path: path.read_text(encoding="utf-8") for path in (*PAGES, *package.rglob("*.toml"))}
    texts |= {path: messages(path) for path in package.rglob("*.py")}
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        texts[path] = re.sub(r'"image/png": "[^"]*"', "", path.read_text(encoding="utf-8"))
    bad = {path.name: SPACED_SHARE.findall(text) for path, text in texts.items()}
    assert {name: hits for name, hits in bad.items() if hits} == {}


def test_help_uses_the_words_of_the_glossary() -> None:
    """Purpose, paragraphs and options of every command."""
    found = {
        entry.name: bad
        for entry in commands()
        if (
            bad := faults(
                " ".join([entry.purpose, *entry.about, *(words for _, words in entry.options)])
            )
        )
    }
    assert found == {}


def test_the_lint_finds_a_phrase() -> None:
    """Across line breaks and in either case."""
    assert faults("It Goes on\nwhere it was.") != []
