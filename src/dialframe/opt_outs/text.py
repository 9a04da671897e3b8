"""Texts as they are compared: plain words without accents, capitals and punctuation."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from functools import cache, lru_cache
from importlib import resources
from itertools import filterfalse
from typing import Any, Final

_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=\d)")
_WORDS: Final = re.compile(r"[^\W_]+")
#: A text of so many characters is no name or phrase, and is read in another way.
_LONG_CHARS: Final = 1_000
_NO_WORDS: Final = re.compile(r"(?:[^\w|]|_)+")
#: Letters that have no decomposition and are still a plain letter with something added.
_STROKES: Final = str.maketrans(
    {"ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D", "ı": "i"}
)


def fold(text: str) -> str:
    """The text without accents and capitals."""
    if text.isascii():
        return text.lower()
    return _without_accents(text).casefold()


def _without_accents(text: str) -> str:
    """Letters alone: NFKD parts a letter from its marks (Unicode Standard Annex 15)."""
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text.translate(_STROKES))
    return "".join(filterfalse(unicodedata.combining, decomposed))


def plain(text: str) -> str:
    """The text in plain words: no accents, capitals or punctuation; camel case taken apart.

    Args:
        text: A header, a cell, or a piece of one.

    Returns:
        Words parted by single blanks.

    Example:
        >>> plain("E-Mail_Adresse"), plain("CellPhone1"), plain("Nie dzwonić!")
        ('e mail adresse', 'cell phone 1', 'nie dzwonic')
    """
    return _plain(text) if len(text) < _LONG_CHARS else _plain_of_long(text)


def _plain(text: str) -> str:
    return " ".join(_WORDS.findall(_CAMEL.sub(" ", _without_accents(text)).casefold()))


#: A name of a column is asked for some fifty times, and may be a megabyte.
_plain_of_long: Final = lru_cache(maxsize=8)(_plain)


def plain_parts(text: str) -> list[str]:
    """Each part of a text parted by `|`, in plain words: for tables, where one by one would take long.

    Args:
        text: Parts with `|` between them.

    Example:
        >>> plain_parts("São Paulo|Rio-de-Janeiro")
        ['sao paulo', 'rio de janeiro']
    """
    words = _NO_WORDS.sub(" ", _CAMEL.sub(" ", _without_accents(text)).casefold())
    return [part.strip() for part in words.split("|")]


@cache
def read_table(name: str) -> dict[str, Any]:
    """A table of this room by its file name."""
    return tomllib.loads(resources.files(__package__).joinpath(name).read_text(encoding="utf-8"))
