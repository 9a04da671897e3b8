"""A country as people write it to the ISO region of its phone numbers.

Codes of two and three letters, dialing codes (`+44`, `0044`, `44`), and names in the languages of
this package and some more, as phonenumbers' own table has them.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib import resources
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from typing import Final, NamedTuple

import numpy as np
import phonenumbers

from dialframe.leads import header_vocabulary
from dialframe.opt_outs import plain

#: The region of national numbers: one for all rows, or one each.
Regions = list[str | None] | str | None


def regions_of(regions: Regions, rows: np.ndarray) -> Regions:
    """The regions of some rows."""
    return regions if isinstance(regions, str | None) else [regions[row] for row in rows.tolist()]


_DIALED: Final = re.compile(r"\s*(?:\+|00)?\s*\(?(\d{1,4})\)?(?:\.0+)?\s*")
_PLUS: Final = re.compile(r"\+\s?(\d{1,4})\b")
_LANGUAGES: Final = ("en", "es", "fr", "de", "pt", "ja", "it", "nl")
_CANADA_AND_MORE: Final = 1
_LONGEST_CHARS: Final = 200
_LONGEST_NAME: Final = 60


@lru_cache(maxsize=4096)
def read_region(cell: str) -> str | None:
    """The ISO 3166 region that a cell of a country column names, None for none that is known.

    `Germany`, `DE`, `deu`, `+49`, `0049`, `49`, `Alemania`, `Germany (+49)`; of a dialing code
    that several regions share, the main one, whose numbers are written alike.
    """
    cell = cell.strip()
    # Comparing a megabyte with names of countries takes seconds and finds none.
    if len(cell) > _LONGEST_CHARS:
        return None
    words = plain(cell)
    if not words or len(words) > _LONGEST_NAME:
        return None
    # `1-242` is a code with an area; `+49` and `0049` are one code.
    if dialed := _DIALED.fullmatch(cell.replace("-", "")):
        return _of_code(dialed[1])
    # `U.S.A.` is a code; `n/a` is no Namibia.
    compact = "" if "/" in cell else words.replace(" ", "").upper()
    if compact == "UK":
        return "GB"
    if compact in phonenumbers.SUPPORTED_REGIONS:
        return compact
    if (
        region := _names("names").get(words)
        or _codes().get(compact)
        or _regions_by_name().get(words)
    ):
        return region
    if plus := _PLUS.search(cell):
        return _of_code(plus[1])
    # `DE or FR` names two, so nobody knows which.
    codes = {code for token in cell.split() if (code := _code(token))}
    return codes.pop() if " " in words and len(codes) == 1 else None


_SHORTEST_NAME: Final = 3
_LONGEST_RUN: Final = 3
_TOKENS: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|[\W\d_]+")
_BRACKETED: Final = re.compile(r"[(\[]\s*([A-Z]{2,3})\s*[)\]]")
#: `Handy (D)`; elsewhere `Phone (D)` is one by day.
_SIGN: Final = re.compile(r"\(\s*([AD])\s*\)")


@lru_cache(maxsize=512)
def named_regions(header: str) -> frozenset[str]:
    """The countries that the header of a phone column names: `Mobil CH`, `Tel. (UK)`, `phone_us`, `Cell Mexico`.

    Args:
        header: The header; `No`, `ID` and the like in it are no codes.
    """
    text = header[:_LONGEST_NAME]
    tokens = [token for token in _TOKENS.split(text) if token]
    words = plain(text).split()
    phrases = (
        " ".join(words[at : at + size])
        for size in range(1, _LONGEST_RUN + 1)
        for at in range(len(words) - size + 1)
        # `New Mexico` is a state, and `New Guinea` another country than `Guinea`.
        if words[at - 1 : at] != ["new"]
    )
    names = {
        _names("in_headers").get(phrase) or _names("names").get(phrase)
        for phrase in phrases
        if len(phrase) >= _SHORTEST_NAME
    }
    codes = {_code(bracketed) for bracketed in _BRACKETED.findall(text)}
    codes |= {_of_code(digits) for digits in _PLUS.findall(text)}
    if _words("german_phones").intersection(words):
        codes |= {_names("names").get(sign.lower()) for sign in _SIGN.findall(text)}
    # A code alone is a header of countries, or a word.
    if len(tokens) > 1:
        codes.add(_last_code(tokens, words))
        codes.add(_first_code(tokens))
        codes |= {
            _header_code(token, "".join(words))  # the words are in lower case
            for token in tokens[1:-1]
            if token.isupper() and not text.isupper() and token not in _words("no_codes") | {"PH"}
        }
    return frozenset(region for region in (*names, *codes) if region)


class ColumnDoubt(NamedTuple):
    """Why numbers of a phone column without a country code may be others than they read.

    Attributes:
        named: Countries that its header names.
        keeps_zero: Whether some of its numbers have their trunk zero, so that one without it may be
            a local number.
    """

    named: frozenset[str]
    keeps_zero: bool

    def is_of_another(self, region: str | None) -> bool:
        """Whether the header names a country whose numbers are not those of the region."""
        code = phonenumbers.country_code_for_region(region) if region else 0
        return any(phonenumbers.country_code_for_region(named) != code for named in self.named)


def _last_code(tokens: Sequence[str], words: Sequence[str]) -> str | None:
    *rest, last = tokens
    code = last.upper()
    if code == "NO" and {"telefon", "mobil", "mobiltelefon", "tlf"}.intersection(words[:-1]):
        return code
    if code in _words("no_codes") or (
        code == "PH" and not header_vocabulary.PHONE_WORDS.intersection(words[:-1])
    ):
        return None
    if (
        code == "CO"
        and not last.isupper()
        and not _words("spanish_phones").intersection(words[:-1])
    ):
        return None
    return _header_code(last, "".join(rest))


def _first_code(tokens: Sequence[str]) -> str | None:
    first, *rest = tokens
    code, others = first.upper(), "".join(rest)
    if code in _words("no_codes") or code in _words("not_first") or code == "PH":
        return None
    if code in _words("words_too") and (not first.isupper() or others.isupper()):
        return None
    return _header_code(first, others)


def _header_code(token: str, others: str) -> str | None:
    """A code in a header: in capitals beside other letters, or in one case with all of them."""
    # `phone_us` has it, and `Tel. No` not: a code stands out from its header, or is written as all of it.
    if token.isupper() or (token.islower() and others.islower()):
        code = token.upper()
        plainly = token.isupper() and not others.isupper()
        if code in _words("not_in_headers") or (code in _words("words_of_three") and not plainly):
            return None
        return _code(code)
    return None


def _of_code(digits: str) -> str | None:
    code = int(digits)
    # 1-242, 1-809 and the like are written as one code; all of them are of the plan of +1.
    if digits.startswith("1") and len(digits) == len("1242"):
        code = _CANADA_AND_MORE
    region = phonenumbers.region_code_for_country_code(code)
    return region if region in phonenumbers.SUPPORTED_REGIONS else None


def _code(token: str) -> str | None:
    """A code of two letters that stands in capitals beside a name: `DE - Germany`, `Perú (PE)`."""
    bare = token.strip("()[]-–,;:/")
    if not bare.isupper():
        return None
    if bare == "UK":
        return "GB"
    return bare if bare in phonenumbers.SUPPORTED_REGIONS else _codes().get(bare)


@cache
def _tables() -> dict[str, dict[str, str]]:
    text = resources.files(__package__).joinpath("country_names.toml").read_text("utf-8")
    return tomllib.loads(text)


@cache
def _names(table: str) -> dict[str, str]:
    """Region by plain name."""
    rows = _tables()[table].items()
    return {
        name: region
        for region, names in rows
        if region != "source"
        for name in map(plain, names.split("|"))
    }


@cache
def _codes() -> dict[str, str]:
    """Region by its code of three letters."""
    return {pair[:3]: pair[4:] for pair in _tables()["codes"]["words"].split()}


@cache
def _words(table: str) -> frozenset[str]:
    return frozenset(_tables()[table]["words"].split())


@cache
def _regions_by_name() -> dict[str, str]:
    """Region by name."""
    named: dict[str, str] = {}
    for region in filter(phonenumbers.SUPPORTED_REGIONS.__contains__, _names_by_language()):
        for language in _LANGUAGES:
            if name := _name_in(language, region):
                named.setdefault(plain(name), region)
    return named


def country_name(region: str) -> str:
    """The English name of a region, or its code where there is none."""
    return _name_in("en", region) or region


def _name_in(language: str, region: str) -> str:
    names = _names_by_language().get(region, {})
    name = names.get(language, "")
    while name.startswith("*"):
        name = names.get(name[1:], "")
    return name


@cache
def _names_by_language() -> dict[str, dict[str, str]]:
    """Names of each region by language, as phonenumbers has them; `*de` stands for its name in German.

    The file is loaded by itself: its package loads all area codes of the world with it (0.3 s, 95 MiB).
    """
    spec = PathFinder.find_spec(
        "phonenumbers.geodata.locale", [f"{path}/geodata" for path in phonenumbers.__path__]
    )
    assert spec is not None  # noqa: S101 - a part of phonenumbers
    assert spec.loader is not None  # noqa: S101
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    names: dict[str, dict[str, str]] = module.LOCALE_DATA
    return names
