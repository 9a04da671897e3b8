"""A page of the manual as text for a terminal or a pipe; knows no command."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import Final

from dialframe.cli.manual import Item, Page

#: Widest left column; what is longer stands on a line of its own.
_LEFT: Final = 26
#: Narrower than this, words stand below what they explain.
_NARROW: Final = 60
_WIDEST: Final = 100
_INDENT: Final = "  "
_BOLD: Final = ("\x1b[1m", "\x1b[0m")


def text(page: Page, *, width: int = 80, bold: bool = False, brief: bool = False) -> str:
    """The page with its headings.

    Args:
        page: What is to be shown.
        brief: Whether what it is for and its commands are enough.
        width: Characters of a line; long words may go beyond.
        bold: Whether headings and what is typed stand out, as a terminal understands it.
    """
    setting = _Setting(min(width, _WIDEST), bold=bold)
    lines = setting.first(page) if brief else setting.lines(page)
    return "\n".join(lines) + "\n"


class _Setting:
    """The width and the look of one page."""

    def __init__(self, width: int, *, bold: bool) -> None:
        self._width = max(width, 20)
        self._bold = bold

    def first(self, page: Page) -> Iterator[str]:
        yield from self._wrapped(page.usage, "Usage: ", " " * 9)
        for paragraph in (page.purpose, *page.about):
            yield ""
            yield from self._wrapped(paragraph)
        yield from self._section("Commands", page.commands)

    def lines(self, page: Page) -> Iterator[str]:
        yield from self.first(page)
        yield from self._section("Arguments", _pairs(page.arguments))
        yield from self._section("Options", _pairs(page.options))
        yield from self._section("Files", page.files.items())
        yield from self._section("Environment", page.environment.items())
        statuses = ((str(status), words) for status, words in page.statuses.items())
        yield from self._section("Exit status", statuses)
        if page.examples:
            yield ""
            yield self._strong("Example:" if len(page.examples) == 1 else "Examples:")
            yield from (_INDENT + line for line in page.examples)

    def _section(self, title: str, pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
        rows = list(pairs)
        if not rows:
            return
        yield ""
        yield self._strong(f"{title}:")
        left = min(max(len(name) for name, _ in rows), _LEFT)
        for name, words in rows:
            yield from self._row(name, words, left)

    def _row(self, name: str, words: str, left: int) -> Iterator[str]:
        if self._width < _NARROW:
            yield _INDENT + self._strong(name)
            yield from self._wrapped(words, _INDENT * 3, _INDENT * 3)
            return
        below = " " * (left + 4)
        if len(name) > left:
            yield _INDENT + self._strong(name)
            yield from self._wrapped(words, below, below)
            return
        first, *rest = list(self._wrapped(words, below, below)) or [""]
        yield f"{_INDENT}{self._strong(name)}{' ' * (left - len(name))}{first[left + 2 :]}".rstrip()
        yield from rest

    def _wrapped(self, words: str, first: str = "", rest: str = "") -> Iterator[str]:
        yield from textwrap.wrap(
            words, self._width, initial_indent=first, subsequent_indent=rest,
            break_long_words=False, break_on_hyphens=False,
        )  # fmt: skip

    def _strong(self, words: str) -> str:
        return f"{_BOLD[0]}{words}{_BOLD[1]}" if self._bold else words


def _pairs(items: Iterable[Item]) -> Iterator[tuple[str, str]]:
    return ((item.left, item.words) for item in items)
