"""The manual as one page for `man`, in roff; knows no command and no terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dialframe.cli.manual import Page


def roff(pages: Iterable[Page], *, version: str) -> str:
    """The page `dialframe(1)`: the program first, then every command.

    Args:
        pages: The program's own page, then those of its commands, as `manual.pages()` gives them.
        version: Version of the program.
    """
    program, *commands = pages
    lines = [
        f'.TH DIALFRAME 1 "" "dialframe {version}" "User Commands"',
        *(".SH NAME", f"dialframe \\- {_text(program.purpose.removesuffix('.'))}"),
        *(".SH SYNOPSIS", f".B {_text(program.usage)}"),
        ".SH DESCRIPTION",
        *_paragraphs(program.about),
        ".SH OPTIONS",
        *_terms((item.left, item.words) for item in program.options),
        ".SH COMMANDS",
        *(line for page in commands for line in _command(page)),
        ".SH ENVIRONMENT",
        *_terms(program.environment.items()),
        ".SH EXIT STATUS",
        *_terms((str(status), words) for status, words in program.statuses.items()),
    ]
    return "\n".join(lines) + "\n"


def _command(page: Page) -> Iterator[str]:
    yield f'.SS "{_text(page.name)}"'
    yield from _paragraphs((page.purpose, *page.about))
    if page.commands:
        yield from _terms(page.commands)
    if not page.examples:
        return
    yield from (".PP", f".B {_text(page.usage)}")
    yield from _terms((item.left, item.words) for item in (*page.arguments, *page.options))
    yield from _titled("Files", page.files.items())
    own = ((str(status), words) for status, words in page.statuses.items())
    yield from _titled("Exit status", own)
    yield from (".PP", "Example:", ".PP", ".nf", ".RS", *map(_text, page.examples), ".RE", ".fi")


def _titled(title: str, pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    rows = list(pairs)
    if rows:
        yield from (".PP", f"{title}:", *_terms(rows))


def _terms(pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, words in pairs:
        yield from (".TP", f".B {_text(name)}", _text(words))


def _paragraphs(texts: Iterable[str]) -> Iterator[str]:
    for number, text in enumerate(texts):
        yield from (*((".PP",) if number else ()), _text(text))


def _text(words: str) -> str:
    """Words in which nothing is an order to the formatter."""
    plain = words.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq")
    return f"\\&{plain}" if plain[:1] in (".", "'") else plain
