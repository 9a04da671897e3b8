"""Offers the words that fit what is being typed, loading nothing heavy.

The shell starts this program for each Tab, so what may be typed comes from tables that are plain words, and from the text of the rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import dialframe

Complete = Callable[[str], list[str]]


def of(words: Sequence[str]) -> Complete:
    """Completes one of some words, in either case."""

    def complete(incomplete: str) -> list[str]:
        typed = incomplete.lower()
        fitting = [word for word in words if word.lower().startswith(typed)]

        # Whoever types small letters goes on with them: the shell keeps what stands there.
        return [word.lower() if incomplete and incomplete == typed else word for word in fitting]

    return complete


def listed(words: Sequence[str]) -> Complete:
    """Completes the last of several words with commas between; none is offered twice."""

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        taken = set(before.split(","))
        return [
            f"{before}{comma}{word}"
            for word in words
            if word.startswith(last) and word not in taken
        ]

    return complete


def rules(incomplete: str) -> list[str]:
    """Completes jurisdictions and rule ids of the book, with commas between."""
    places = [place.lower() for place in _in_book("jurisdiction")]
    return listed(("all", "us-*", *places, *_in_book("id")))(incomplete)


def rule_ids(incomplete: str) -> list[str]:
    """Completes the id of a rule of the book."""
    return of(_in_book("id"))(incomplete)


def rule_kinds(incomplete: str) -> list[str]:
    """Completes a kind of rules of the book."""
    return of(_in_book("kind"))(incomplete)


def _in_book(field: str) -> list[str]:
    """What a field of the packaged rules says, each once; read as text, for the rule book loads pandas."""
    book = Path(dialframe.__file__).parent / "compliance" / "rules" / "book"
    text = "\n".join(file.read_text(encoding="utf-8") for file in sorted(book.glob("*.toml")))
    found = re.findall(rf'^{field} = "([^"]+)"', text, flags=re.M)
    return list(dict.fromkeys(found))
