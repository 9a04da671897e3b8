"""What columns of contact lists are called, in plain words; `header_vocabulary.toml` has the names."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import Final

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
    return listed(_words(name))


def _parts(text: str) -> tuple[str, ...]:
    return tuple(sorted(listed(text)))


_TABLES: Final = tomllib.loads(
    resources.files(__package__).joinpath("header_vocabulary.toml").read_text(encoding="utf-8")
)


def _words(name: str) -> str:
    return str(_TABLES["words"][name]["words"])


#: Exact names of each field.
NAMES: Final[dict[str, frozenset[str]]] = {
    field: listed(table["words"]) for field, table in _TABLES["names"].items()
}
#: Words that tell which phone it is; the order of the kinds is the order of preference.
PHONE_KINDS: Final[tuple[tuple[str, frozenset[str]], ...]] = tuple(
    (kind, listed(table["words"])) for kind, table in _TABLES["kinds"].items()
)
PHONE_WORDS: Final = listed(_words("phone_words"))
VAGUE_NUMBERS: Final = listed(_words("vague_numbers"))
PHONE_PLACES: Final = listed(_words("phone_places"))
PHONE_PREFIXES: Final = _parts(_words("phone_prefixes"))
PHONE_PARTS: Final = _parts(_words("phone_parts"))
NOT_PHONE: Final = listed(_words("not_phone"))
NOT_PHONE_PARTS: Final = _parts(_words("not_phone_parts"))
NOT_PHONE_PREFIXES: Final = _parts(_words("not_phone_prefixes"))
NOT_PHONE_ENDINGS: Final = _parts(_words("not_phone_endings"))
AREA_NAMES: Final = listed(_words("area_names"))
AREA_WORDS: Final = listed(_words("area_words"))
LOCAL_NAMES: Final = listed(_words("local_names"))
COUNTRY_WORDS: Final = listed(_words("country_words"))
NOT_COUNTRY: Final = listed(_words("not_country"))
NOT_LEAD_NAME: Final = listed(_words("not_lead_name"))
NOT_LEAD_COMPOUND: Final = _parts(_words("not_lead_compound"))

#: Field by exact plain name; a name of two fields belongs to the one listed first.
_FIELD_OF: Final[dict[str, str]] = {
    name: field for field, names in reversed(NAMES.items()) for name in names
}
