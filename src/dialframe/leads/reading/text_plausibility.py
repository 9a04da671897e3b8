"""How plausible text is as something that a person wrote.

Each character beyond ASCII is weighed from 0 (nobody writes that there) to 1 (as it should be),
and the weight of a text is their mean. Context tells more than frequency: a Cyrillic letter
between two Latin ones, a capital inside a word or a quotation mark inside a name is a sign of the
wrong code page.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Final

from dialframe.leads.reading import code_page_letters

_CONTROLS: Final = frozenset(chr(code) for code in (*range(2, 9), *range(0x0E, 0x1A), 0x7F))
_CONTROL_SHARE: Final = 0.02
_NUL_SHARE: Final = 0.1
_UNASSIGNED_SHARE: Final = 0.1
_BINARY_SAMPLE_CHARS: Final = 100_000

_OTHER_LANGUAGE: Final = 0.6
_NO_LANGUAGE: Final = 0.15
_CASE_BREAK: Final = 0.1
_CROWDED: Final = 0.5
_CROWDED_CENTRAL: Final = 0.8
_UNCOMMON_CYRILLIC: Final = 0.6
_FOREIGN_NEIGHBOR: Final = 0.3
_IDEOGRAPH: Final = 0.75
_RARE_IDEOGRAPH: Final = 0.2
_JIS_LEVEL_2_LEAD: Final = 0x98
_BIG5_LEVEL_2_LEAD: Final = 0xC9

#: Letters that stand before one other letter only in the west: `õ` otherwise is the `ő` of another code page.
_FOLLOWED: Final = {"õ": "e"}

#: Signs that Unicode holds for letters: `Nº`, `1ª`.
_RAISED: Final = frozenset("ªº")

Neighbors = tuple[str, str, str]


def is_binary(text: str) -> bool:
    """Whether the text has more control characters than any text has."""
    counts = Counter(text[:_BINARY_SAMPLE_CHARS])
    total = sum(counts.values())
    controls = sum(count for char, count in counts.items() if char in _CONTROLS)
    return controls > _CONTROL_SHARE * total or counts["\x00"] > _NUL_SHARE * total


def is_assigned(text: str) -> bool:
    """Whether nearly all characters are ones that Unicode has."""
    counts = Counter(text[:_BINARY_SAMPLE_CHARS])
    strange = sum(
        count for char, count in counts.items() if unicodedata.category(char) in ("Cn", "Co")
    )
    return strange <= _UNASSIGNED_SHARE * sum(counts.values())


def weigh(text: str, code_page: str) -> float:
    """Mean plausibility of the characters beyond ASCII, -1 to 1, if the text was read rightly.

    Args:
        text: Sample text as the code page reads it, U+FFFD for what it cannot read.
        code_page: One of `encoding.LEGACY`.
    """
    return _FAMILIES[code_page](text)


def _latin(text: str, languages: Mapping[str, str], *, crowded: float) -> float:
    found = list(_beyond_ascii(text))
    counts = Counter(char.lower() for _, char, _ in found if char.isalpha())
    best = frozenset(max(languages.values(), key=lambda own: sum(counts[one] for one in own)))
    others = frozenset("".join(languages.values()))

    def weight(before: str, char: str, after: str) -> float:
        if not char.isalpha() or char in _RAISED:
            return _sign(before, char, after)
        if _breaks_case(before, char, after):
            return _CASE_BREAK
        lower = char.lower()
        if languages is code_page_letters.LATIN_WEST and after.lower() != _FOLLOWED.get(
            lower, after.lower()
        ):
            return _OTHER_LANGUAGE
        own = (
            1.0
            if lower in best or char in best
            else _OTHER_LANGUAGE
            if lower in others
            else _NO_LANGUAGE
        )
        return own * (crowded if _is_high(before) and _is_high(after) else 1.0)

    return _mean(weight(*place) for place in found)


def _west(text: str) -> float:
    return _latin(text, code_page_letters.LATIN_WEST, crowded=_CROWDED)


def _central(text: str) -> float:
    return _latin(text, code_page_letters.LATIN_CENTRAL, crowded=_CROWDED_CENTRAL)


def _turkish(text: str) -> float:
    return _latin(text, code_page_letters.LATIN_TURKISH, crowded=_CROWDED_CENTRAL)


def _baltic(text: str) -> float:
    return _latin(text, code_page_letters.LATIN_BALTIC, crowded=_CROWDED_CENTRAL)


def _greek(text: str) -> float:
    def weight(before: str, char: str, after: str) -> float:
        if not char.isalpha():
            return _sign(before, char, after)
        if not "\u0386" <= char <= "\u03ce" or _is_latin(before) or _is_latin(after):
            return 0.0
        if before.isalpha() and before.islower() and char.isupper():
            return _CASE_BREAK
        if char == code_page_letters.GREEK_FINAL and after.isalpha():
            return _CASE_BREAK
        return 1.0 if char.lower() in code_page_letters.GREEK_COMMON else _UNCOMMON_CYRILLIC

    return _mean(weight(*place) for place in _beyond_ascii(text))


def _hebrew(text: str) -> float:
    return _consonants(text, "\u05d0", "\u05ea", code_page_letters.HEBREW_FINALS)


def _arabic(text: str) -> float:
    return _consonants(text, "\u0621", "\u0652", code_page_letters.ARABIC_FINALS)


def _thai(text: str) -> float:
    def weight(before: str, char: str, after: str) -> float:
        if not "\u0e01" <= char <= "\u0e5b":
            return _sign(before, char, after)
        if _is_latin(before) or _is_latin(after):
            return 0.0
        if char in code_page_letters.THAI_LEADING:
            return 1.0 if after in code_page_letters.THAI_CONSONANTS else _CASE_BREAK
        if char in code_page_letters.THAI_CONSONANTS:
            return _UNCOMMON_CYRILLIC if char in code_page_letters.THAI_RARE else 1.0
        behind = "\u0e01" <= before <= "\u0e4e" and before not in code_page_letters.THAI_LEADING
        return 1.0 if char <= "\u0e4e" and behind else _CASE_BREAK

    return _mean(weight(*place) for place in _beyond_ascii(text))


def _consonants(text: str, first: str, last: str, finals: frozenset[str]) -> float:
    """A script without capitals, some letters of which end words only."""

    def weight(before: str, char: str, after: str) -> float:
        if not first <= char <= last:
            return _sign(before, char, after)
        if _is_latin(before) or _is_latin(after):
            return 0.0
        return _CASE_BREAK if char in finals and after.isalpha() else 1.0

    return _mean(weight(*place) for place in _beyond_ascii(text))


def _korean(text: str) -> float:
    def weight(before: str, char: str, after: str) -> float:
        if not "\uac00" <= char <= "\ud7a3":
            if char < "\u3000":
                return _sign(before, char, after)
            return -1.0 if unicodedata.category(char) in ("Cc", "Co", "Cn") else _RARE_IDEOGRAPH
        own = 1.0 if char in code_page_letters.KOREAN_COMMON else _IDEOGRAPH
        return own * (_FOREIGN_NEIGHBOR if _is_latin(before) or _is_latin(after) else 1.0)

    return _mean(weight(*place) for place in _beyond_ascii(text))


def _cyrillic(text: str) -> float:
    found = list(_beyond_ascii(text))
    known = frozenset("".join(code_page_letters.CYRILLIC.values()))

    def weight(before: str, char: str, after: str) -> float:
        if not char.isalpha():
            return _sign(before, char, after)
        if char.lower() not in known or _is_latin(before) or _is_latin(after):
            return 0.0
        if before.isalpha() and before.islower() and char.isupper():
            return _CASE_BREAK
        return 1.0 if char.lower() in code_page_letters.CYRILLIC_COMMON else _UNCOMMON_CYRILLIC

    return _mean(weight(*place) for place in found)


def _ideographs(text: str, common: frozenset[str], codec: str, kana: float) -> float:
    def weight(before: str, char: str, after: str) -> float:
        own = _cjk(char, common, codec, kana)
        if "\uff61" <= char <= "\uff9f":  # half-width kana come in runs
            own = 0.8 if _is_half_kana(before) or _is_half_kana(after) else 0.1
        return own * (_FOREIGN_NEIGHBOR if _is_latin(before) or _is_latin(after) else 1.0)

    return _mean(weight(*place) for place in _beyond_ascii(text))


def _cjk(char: str, common: frozenset[str], codec: str, kana: float) -> float:
    if char in common:
        return 1.0
    if "\u3041" <= char <= "\u30ff":
        return kana
    if "\u4e00" <= char <= "\u9fff":
        return _IDEOGRAPH if _is_everyday(char, codec) else _RARE_IDEOGRAPH
    if "\u3000" <= char <= "\u303f" or "\uff01" <= char <= "\uff60":
        return 0.8
    return -1.0 if unicodedata.category(char) in ("Cc", "Co", "Cn") or char == "\ufffd" else 0.1


@cache
def _is_everyday(char: str, codec: str) -> bool:
    """Whether the character stands in the code page's first level, the one for everyday use."""
    raw = char.encode(codec, errors="ignore")
    if codec == "shift_jis":
        return bool(raw) and raw[0] < _JIS_LEVEL_2_LEAD
    if codec == "big5":
        return bool(raw) and raw[0] < _BIG5_LEVEL_2_LEAD
    return bool(raw)


def _sign(before: str, char: str, after: str) -> float:
    if char == "\ufffd" or unicodedata.category(char) in ("Cc", "Co", "Cn"):
        return -1.0
    if char in code_page_letters.FIGURE_SIGNS:
        return 1.0 if before.isdecimal() or before == "m" else 0.0
    if char in code_page_letters.CURRENCIES:
        return 0.0 if before.isalpha() or after.isalpha() else 1.0
    if char not in code_page_letters.SIGNS:
        return 0.0
    inside = before.isalpha() and after.isalpha()
    return 1.0 if not inside or char in code_page_letters.INNER_SIGNS else 0.0


def _breaks_case(before: str, char: str, after: str) -> bool:
    if char.isupper():
        return before.isalpha() and before.islower()
    return before.isalpha() and before.isupper() and after.isalpha() and after.isupper()


def _is_high(char: str) -> bool:
    return char > "\x7f" and char.isalpha()


def _is_latin(char: str) -> bool:
    return char.isascii() and char.isalpha()


def _is_half_kana(char: str) -> bool:
    return "\uff61" <= char <= "\uff9f"


def _beyond_ascii(text: str) -> Iterator[Neighbors]:
    padded = f" {text} "
    for at, char in enumerate(text, start=1):
        if char > "\x7f":
            yield padded[at - 1], char, padded[at + 1]


def _mean(weights: Iterator[float]) -> float:
    found = list(weights)
    return sum(found) / len(found) if found else 0.0


_FAMILIES: Final[dict[str, Callable[[str], float]]] = {
    "cp1252": _west,
    "cp1250": _central,
    "cp1251": _cyrillic,
    "koi8-r": _cyrillic,
    "iso8859_2": _central,
    "cp866": _cyrillic,
    "cp932": lambda text: _ideographs(text, code_page_letters.JAPANESE_COMMON, "shift_jis", 1.0),
    "euc_jp": lambda text: _ideographs(text, code_page_letters.JAPANESE_COMMON, "shift_jis", 1.0),
    "gb18030": lambda text: _ideographs(text, code_page_letters.SIMPLIFIED_COMMON, "gb2312", 0.3),
    "big5": lambda text: _ideographs(text, code_page_letters.TRADITIONAL_COMMON, "big5", 0.3),
    "mac_roman": _west,
    "cp874": _thai,
    "cp1253": _greek,
    "cp1254": _turkish,
    "iso8859_7": _greek,
    "cp1255": _hebrew,
    "cp1256": _arabic,
    "cp1257": _baltic,
    "euc_kr": _korean,
    "cp850": _west,
}
