"""How plausible text is as something that a person wrote.

Each character beyond ASCII is weighed from 0 (nobody writes that there) to 1 (as it should be), or -1 for
one that no text has, and the weight of a text is their mean. Context tells more than frequency: a Cyrillic
letter between two Latin ones, a capital inside a word or a quotation mark inside a name is a sign of the
wrong code page. `code_pages.toml` has the letters of each script.
"""

from __future__ import annotations

import tomllib
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from importlib import resources
from typing import Any, Final, NamedTuple

_CONTROLS: Final = frozenset(chr(code) for code in (*range(2, 9), *range(0x0E, 0x1A), 0x7F))
_CONTROL_SHARE: Final = 0.02
_NUL_SHARE: Final = 0.1
_UNASSIGNED_SHARE: Final = 0.1
_BINARY_SAMPLE_CHARS: Final = 100_000

# What a character counts.
_OTHER_LANGUAGE: Final = 0.6
_NO_LANGUAGE: Final = 0.15
_CASE_BREAK: Final = 0.1
_UNCOMMON: Final = 0.6
_FOREIGN_NEIGHBOR: Final = 0.3
_IDEOGRAPH: Final = 0.75
_RARE_IDEOGRAPH: Final = 0.2
_WIDE_SIGN: Final = 0.8
_STRANGE: Final = 0.1
_NEVER: Final = -1.0
#: General categories of controls, of private use and of what is no character (Unicode Standard Annex 44).
_NO_TEXT: Final = ("Cc", "Co", "Cn")
#: Signs that Unicode holds for letters: `Nº`, `1ª`.
_RAISED: Final = frozenset("ªº")
#: First bytes of the second levels of JIS X 0208 in Shift JIS and of Big5, which hold rarer characters.
_SECOND_LEVELS: Final = {"shift_jis": 0x98, "big5": 0xC9}

#: What a character counts by what stands before it, itself, and what stands behind it.
Weigher = Callable[[str, str, str], float]


def is_binary(text: str) -> bool:
    """Whether the text has more control characters than any text has."""
    counts = Counter(text[:_BINARY_SAMPLE_CHARS])
    total = sum(counts.values())
    controls = sum(count for char, count in counts.items() if char in _CONTROLS)
    # A few stray NULs are damage; a tenth of them is UTF-16, or no text.
    return controls > _CONTROL_SHARE * total or counts["\x00"] > _NUL_SHARE * total


def is_assigned(text: str) -> bool:
    """Whether nearly all characters are ones that Unicode has."""
    counts = Counter(text[:_BINARY_SAMPLE_CHARS])
    strange = sum(
        count for char, count in counts.items() if unicodedata.category(char) in ("Cn", "Co")
    )
    return strange <= _UNASSIGNED_SHARE * sum(counts.values())


class Script(NamedTuple):
    """One script of `code_pages.toml`.

    Attributes:
        pages: The code pages that it is written in.
        is_single_byte: Whether each of their bytes is a character.
        domains: Endings of the domains of its countries.
        headers: Beginnings and ends of words of headers in its languages.
        facts: The rest of its table.
    """

    pages: frozenset[str]
    is_single_byte: bool
    domains: frozenset[str]
    headers: frozenset[str]
    facts: Mapping[str, Any]


@cache
def code_pages() -> dict[str, str]:
    """The code pages that are weighed, the preferred one first, with the names of their scripts."""
    return dict(_tables()["pages"])


@cache
def scripts() -> dict[str, Script]:
    """The scripts by name."""
    return {
        name: Script(
            frozenset(page for page, script in code_pages().items() if script == name),
            facts.get("bytes") is None,
            frozenset(facts["domains"].split()),
            frozenset(facts.get("headers", "").split()),
            facts,
        )
        for name, facts in _tables()["scripts"].items()
    }


def weigh(text: str, code_page: str) -> float:
    """Mean plausibility of the characters beyond ASCII, -1 to 1, if the text was read rightly.

    Args:
        text: Sample text as the code page reads it, U+FFFD for what it cannot read.
        code_page: One of `code_pages`.
    """
    name = code_pages()[code_page]
    facts = scripts()[name].facts
    # By what a script has: alphabets beside ASCII, ideographs, or letters of its own.
    if "crowded" in facts:
        weigher = _latin(text, facts)
    elif "everyday" in facts:
        weigher = _ideographs(facts)
    else:
        weigher = {"thai": _thai, "korean": _korean}.get(name, _letters)(facts)
    padded = f" {text} "
    weights = [
        weigher(padded[at - 1], char, padded[at + 1])
        for at, char in enumerate(text, start=1)
        if char > "\x7f"
    ]
    return sum(weights) / len(weights) if weights else 0.0


def _latin(text: str, facts: Mapping[str, Any]) -> Weigher:
    """Letters of the one language that the text is likeliest in, beside those that ASCII has."""
    languages, before_few = facts["languages"], facts.get("before", {})
    # The language that most of the letters are of; the letters of the others are guests.
    counts = Counter(char.lower() for char in text if char > "\x7f" and char.isalpha())
    best = frozenset(
        max(languages.values(), key=lambda letters: sum(counts[letter] for letter in letters))
    )
    others = frozenset("".join(languages.values()))

    def weight(before: str, char: str, after: str) -> float:
        if not char.isalpha() or char in _RAISED:
            return _sign(before, char, after)
        # `JOSé` and `PEñA` are what the wrong page makes of capitals.
        is_inside_capitals = before.isupper() and after.isupper()
        if is_inside_capitals if not char.isupper() else before.islower():
            return _CASE_BREAK
        lower = char.lower()
        following = after.lower() if after.isalpha() else " "
        if lower in before_few and following not in before_few[lower]:
            return _OTHER_LANGUAGE
        alone = _OTHER_LANGUAGE if lower in others else _NO_LANGUAGE
        alone = 1.0 if lower in best or char in best else alone
        return alone * (facts["crowded"] if _is_high(before) and _is_high(after) else 1.0)

    return weight


def _letters(facts: Mapping[str, Any]) -> Weigher:
    """Letters of a script of its own, some of which are common and some of which end words only."""
    if "languages" in facts:
        lower = "".join(facts["languages"].values())
        letters = frozenset(lower + lower.upper())
    else:
        letters = frozenset(map(chr, range(ord(facts["first"]), ord(facts["last"]) + 1)))
    common, final = facts.get("common"), facts.get("final", "")

    def weight(before: str, char: str, after: str) -> float:
        if char not in letters:
            return 0.0 if char.isalpha() else _sign(before, char, after)
        # No word is written in two scripts.
        if _is_latin(before) or _is_latin(after):
            return 0.0
        if (before.islower() and char.isupper()) or (char in final and after.isalpha()):
            return _CASE_BREAK
        return 1.0 if common is None or char.lower() in common else _UNCOMMON

    return weight


def _thai(facts: Mapping[str, Any]) -> Weigher:
    """Consonants, and vowels where they can stand."""
    first, last, last_consonant = facts["first"], facts["last"], facts["last_consonant"]

    def weight(before: str, char: str, after: str) -> float:
        if not first <= char <= last:
            return _sign(before, char, after)
        if _is_latin(before) or _is_latin(after):
            return 0.0
        if char in facts["leading"]:
            return 1.0 if first <= after <= last_consonant else _CASE_BREAK
        if char <= last_consonant:
            return _UNCOMMON if char in facts["rare"] else 1.0
        is_behind = first <= before <= "\u0e4e" and before not in facts["leading"]
        return 1.0 if char <= "\u0e4e" and is_behind else _CASE_BREAK

    return weight


def _korean(facts: Mapping[str, Any]) -> Weigher:
    """Syllables of Hangul."""
    common = frozenset(facts["common"])

    def weight(before: str, char: str, after: str) -> float:
        # Hangul Syllables (The Unicode Standard, U+AC00 to U+D7A3).
        if "\uac00" <= char <= "\ud7a3":
            alone = 1.0 if char in common else _IDEOGRAPH
            return alone * _beside(before, after)
        if char < "\u3000":
            return _sign(before, char, after)
        # Ideographs are rare among syllables.
        return _NEVER if unicodedata.category(char) in _NO_TEXT else _RARE_IDEOGRAPH

    return weight


def _ideographs(facts: Mapping[str, Any]) -> Weigher:
    """Ideographs of everyday use and rarer ones, and kana."""
    common = frozenset(facts["common"])

    def weight(before: str, char: str, after: str) -> float:
        if _is_half_kana(char):  # they come in runs
            alone = _WIDE_SIGN if _is_half_kana(before) or _is_half_kana(after) else _STRANGE
        elif char in common:
            alone = 1.0
        elif "\u3041" <= char <= "\u30ff":
            alone = facts["kana"]
        elif "\u4e00" <= char <= "\u9fff":
            alone = _IDEOGRAPH if _is_everyday(char, facts["everyday"]) else _RARE_IDEOGRAPH
        elif "\u3000" <= char <= "\u303f" or "\uff01" <= char <= "\uff60":
            alone = _WIDE_SIGN
        else:
            alone = _NEVER if _is_no_text(char) else _STRANGE
        return alone * _beside(before, after)

    return weight


@cache
def _is_everyday(char: str, codec: str) -> bool:
    """Whether the character stands in the code page's first level, the one for everyday use."""
    raw = char.encode(codec, errors="ignore")
    # GB 2312 has its everyday characters alone.
    return bool(raw) and raw[0] < _SECOND_LEVELS.get(codec, 256)


def _sign(before: str, char: str, after: str) -> float:
    """What a sign counts beside what it stands."""
    signs = _tables()["signs"]
    if _is_no_text(char):
        return _NEVER
    if char in signs["behind_figures"]:
        return 1.0 if before.isdecimal() or before == "m" else 0.0
    if char in signs["currencies"]:
        return 0.0 if before.isalpha() or after.isalpha() else 1.0
    if char not in signs["usual"]:
        return 0.0
    return 1.0 if not (before.isalpha() and after.isalpha()) or char in signs["inner"] else 0.0


def _is_no_text(char: str) -> bool:
    return char == "\ufffd" or unicodedata.category(char) in _NO_TEXT


def _beside(before: str, after: str) -> float:
    """What a letter of the far east keeps of its weight: less beside a Latin one."""
    return _FOREIGN_NEIGHBOR if _is_latin(before) or _is_latin(after) else 1.0


def _is_high(char: str) -> bool:
    return char > "\x7f" and char.isalpha()


def _is_latin(char: str) -> bool:
    return char.isascii() and char.isalpha()


def _is_half_kana(char: str) -> bool:
    return "\uff61" <= char <= "\uff9f"


@cache
def _tables() -> dict[str, Any]:
    text = resources.files(__package__).joinpath("code_pages.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
