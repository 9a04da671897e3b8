"""What columns of contact lists are called, in plain words; `header_vocabulary.toml` has the names."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import Final, NamedTuple

from dialframe.opt_outs import plain

_LONGEST_HEADER: Final = 60


def known(header: str) -> str | None:
    """The field that bears exactly this name, or None."""
    return _FIELD_OF.get(plain(header)) if len(header) <= _LONGEST_HEADER else None


def listed(text: str) -> frozenset[str]:
    """The names of a table written as `one | two | three`, in plain words."""
    return frozenset(plain(name) for name in text.split("|")) - {""}


@cache
def word_set(name: str) -> frozenset[str]:
    """The words of one table of `header_vocabulary.toml`, in plain words."""
    return listed(TABLES["words"][name]["words"])


class Parts(NamedTuple):
    """What a header may hold of a field's name, in plain words.

    Attributes:
        never: Words that are another field's.
        phrases: Words or phrases between other words.
        parts: Parts of words.
        beginnings: Beginnings of words.
        endings: Ends of words.
        last: Words that stand last, behind others.
        words: Words that say less.
    """

    never: frozenset[str] = frozenset()
    phrases: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    beginnings: tuple[str, ...] = ()
    endings: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


#: The tables as they stand in the file.
TABLES: Final = tomllib.loads(
    resources.files(__package__).joinpath("header_vocabulary.toml").read_text(encoding="utf-8")
)
#: Exact names of each field.
NAMES: Final[dict[str, frozenset[str]]] = {
    field: listed(table["words"]) for field, table in TABLES["names"].items()
}
#: Words and parts of words that tell which phone it is, in the order of preference of the kinds.
PHONE_KINDS: Final = tuple(
    (listed(kind["words"]), listed(kind.get("parts", ""))) for kind in TABLES["kinds"].values()
)
#: What a header may hold of a field's name, by field.
PARTS: Final = {
    field: Parts(
        frozenset[str]().union(*map(word_set, row.get("never", "").split())),
        **{kind: tuple(sorted(listed(row[kind]))) for kind in row if kind != "never"},
    )
    for field, row in TABLES["parts"].items()
}
PHONE_WORDS: Final = word_set("phone_words")
VAGUE_NUMBERS: Final = word_set("vague_numbers")
PHONE_PLACES: Final = word_set("phone_places")

#: Field by exact plain name; a name of two fields belongs to the one listed first.
_FIELD_OF: Final[dict[str, str]] = {
    name: field for field, names in reversed(NAMES.items()) for name in names
}
