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

# What text in each legacy code page is made of: French read as Central European has letters of four
# languages at once, Russian in the wrong one has capitals at the ends of words.

_RUSSIAN: Final = "абвгдежзийклмнопрстуфхцчшщъыьэюяё"
_UKRAINIAN: Final = "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя"
_BULGARIAN: Final = "абвгдежзийклмнопрстуфхцчшщъьюя"
_SERBIAN: Final = "абвгдђежзијклљмнњопрстћуфхцчџш"

#: Letters beyond ASCII that each language writes, in lower case, by script family.
LATIN_WEST: Final[dict[str, str]] = {
    "French": "àâæçèéêëîïôùûüÿœ",
    "Spanish": "áéíñóúü",
    "Portuguese": "áâãàçéêíóôõúü",
    "German": "äöüß",
    "Italian": "àèéìòù",
    "Nordic": "åäæöøéü",
    "Icelandic": "áðéíóúýþæö",
    "Dutch": "ëïéèöüá",
    "Catalan": "àçèéíïòóúü",
}
LATIN_CENTRAL: Final[dict[str, str]] = {
    "Polish": "ąćęłńóśźż",
    "Czech": "áčďéěíňóřšťúůýž",
    "Slovak": "áäčďéíĺľňóôŕšťúýž",
    "Hungarian": "áéíóöőúüű",
    "Romanian": "ăâîşţ",
    "Croatian": "čćđšž",
    "German": "äöüß",
}
CYRILLIC: Final[dict[str, str]] = {
    "Russian": _RUSSIAN,
    "Ukrainian": _UKRAINIAN,
    "Bulgarian": _BULGARIAN,
    "Serbian": _SERBIAN,
}

LATIN_TURKISH: Final[dict[str, str]] = {"Turkish": "çğıöşüâîİ"}
LATIN_BALTIC: Final[dict[str, str]] = {
    "Lithuanian": "ąčęėįšųūž",
    "Latvian": "āčēģīķļņšūž",
    "Estonian": "äõöüšž",
}
#: Letters that make up most of Greek text, and the one that ends words only.
GREEK_COMMON: Final = frozenset("αοιετσνηυρπκμλςάέήίόύώ")
GREEK_FINAL: Final = "ς"
#: Hebrew letters that end words only.
HEBREW_FINALS: Final = frozenset("ךםןףץ")
#: Arabic letters that end words only.
ARABIC_FINALS: Final = frozenset("ةى")
#: Syllables that Korean names, addresses and headers are full of.
KOREAN_COMMON: Final = frozenset(
    "가나다라마바사아자차카타하이김박최정강조윤장임한오서신권황안송류홍전고문양손배백허유남심노곽성주우구"
    "민진지도시군동로길번호화소명연락처대학교울부산인천기경상충청제은는을의에수현영미희선전회사름메일"
)

#: Letters that make up four fifths of Cyrillic text.
CYRILLIC_COMMON: Final = frozenset("оеаинтсрвлкмдпуя")

#: Signs that western and central European text uses.
SIGNS: Final = frozenset("‘’‚“”„–—…«»‹›§°·•ªº¿¡©®™¬´\u00a0№،؛؟")
#: Signs that stand beside an amount.
CURRENCIES: Final = frozenset("€£¥")
#: Signs that follow a figure or a metre.
FIGURE_SIGNS: Final = frozenset("½¼¾²³±×")
#: Signs that may stand between two letters.
INNER_SIGNS: Final = frozenset("’‘–—·\u00a0¬´…")

#: Characters that names, addresses and everyday text are full of.
JAPANESE_COMMON: Final = frozenset(
    "日本東京都大阪府県市区町村田中山川藤佐木高井橋鈴小林加伊渡吉松清森池石前岡長野崎島原千葉"
    "子一二三四五六七八九十上下内外東西南北名電話番号所在地社株式会様人年月学校病院福祉健康"
)
SIMPLIFIED_COMMON: Final = frozenset(
    "的一是不了在人有我他这中大来上国王李张刘陈杨赵黄周吴徐孙马朱胡林郭何高罗"
    "省市区县路号街北京海广州深圳电话姓名地址公司客户编手机码小明华伟强红丽"
)
TRADITIONAL_COMMON: Final = frozenset(
    "的一是不我在人有他這中大來上國陳林黃張李王吳劉蔡楊許鄭謝洪郭邱曾廖賴徐"
    "市區路街號巷縣鄉鎮台臺北高雄電話姓名地址公司客戶編手機碼小明華志美"
)
#: Thai vowels are written before, above, below and behind their consonant.
THAI_CONSONANTS: Final = frozenset(map(chr, range(0x0E01, 0x0E2F)))
THAI_LEADING: Final = frozenset("เแโใไ")
THAI_RARE: Final = frozenset("ฃฅฆฌฎฏฑฒฬฮฝฤฦฉฟ")

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

#: Letters that stand before few others in the west, or end a word: `õ` and `ã` otherwise are the `ő` and
#: `ă` of another code page (`Corações`, `João`, `Guimarães`, `irmã`).
_FOLLOWED: Final = {"õ": "e", "ã": "oeis "}

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
    beyond_ascii = list(_beyond_ascii(text))
    counts = Counter(char.lower() for _, char, _ in beyond_ascii if char.isalpha())
    best = frozenset(
        max(languages.values(), key=lambda alone: sum(counts[letter] for letter in alone))
    )
    others = frozenset("".join(languages.values()))

    def weight(before: str, char: str, after: str) -> float:
        if not char.isalpha() or char in _RAISED:
            return _sign(before, char, after)
        if _breaks_case(before, char, after):
            return _CASE_BREAK
        lower = char.lower()
        if languages is LATIN_WEST and not _may_follow(lower, after):
            return _OTHER_LANGUAGE
        alone = (
            1.0
            if lower in best or char in best
            else _OTHER_LANGUAGE
            if lower in others
            else _NO_LANGUAGE
        )
        return alone * (crowded if _is_high(before) and _is_high(after) else 1.0)

    return _mean(weight(*each) for each in beyond_ascii)


def _may_follow(char: str, after: str) -> bool:
    """Whether a letter stands before such a one in the west."""
    following = _FOLLOWED.get(char)
    return following is None or (after.lower() if after.isalpha() else " ") in following


def _west(text: str) -> float:
    return _latin(text, LATIN_WEST, crowded=_CROWDED)


def _central(text: str) -> float:
    return _latin(text, LATIN_CENTRAL, crowded=_CROWDED_CENTRAL)


def _turkish(text: str) -> float:
    return _latin(text, LATIN_TURKISH, crowded=_CROWDED_CENTRAL)


def _baltic(text: str) -> float:
    return _latin(text, LATIN_BALTIC, crowded=_CROWDED_CENTRAL)


def _greek(text: str) -> float:
    def weight(before: str, char: str, after: str) -> float:
        if not char.isalpha():
            return _sign(before, char, after)
        if not "\u0386" <= char <= "\u03ce" or _is_latin(before) or _is_latin(after):
            return 0.0
        if before.isalpha() and before.islower() and char.isupper():
            return _CASE_BREAK
        if char == GREEK_FINAL and after.isalpha():
            return _CASE_BREAK
        return 1.0 if char.lower() in GREEK_COMMON else _UNCOMMON_CYRILLIC

    return _mean(weight(*each) for each in _beyond_ascii(text))


def _hebrew(text: str) -> float:
    return _consonants(text, "\u05d0", "\u05ea", HEBREW_FINALS)


def _arabic(text: str) -> float:
    return _consonants(text, "\u0621", "\u0652", ARABIC_FINALS)


def _thai(text: str) -> float:
    def weight(before: str, char: str, after: str) -> float:
        if not "\u0e01" <= char <= "\u0e5b":
            return _sign(before, char, after)
        if _is_latin(before) or _is_latin(after):
            return 0.0
        if char in THAI_LEADING:
            return 1.0 if after in THAI_CONSONANTS else _CASE_BREAK
        if char in THAI_CONSONANTS:
            return _UNCOMMON_CYRILLIC if char in THAI_RARE else 1.0
        behind = "\u0e01" <= before <= "\u0e4e" and before not in THAI_LEADING
        return 1.0 if char <= "\u0e4e" and behind else _CASE_BREAK

    return _mean(weight(*each) for each in _beyond_ascii(text))


def _consonants(text: str, first: str, last: str, finals: frozenset[str]) -> float:
    """A script without capitals, some letters of which end words only."""

    def weight(before: str, char: str, after: str) -> float:
        if not first <= char <= last:
            return _sign(before, char, after)
        if _is_latin(before) or _is_latin(after):
            return 0.0
        return _CASE_BREAK if char in finals and after.isalpha() else 1.0

    return _mean(weight(*each) for each in _beyond_ascii(text))


def _korean(text: str) -> float:
    def weight(before: str, char: str, after: str) -> float:
        if not "\uac00" <= char <= "\ud7a3":
            if char < "\u3000":
                return _sign(before, char, after)
            return -1.0 if unicodedata.category(char) in ("Cc", "Co", "Cn") else _RARE_IDEOGRAPH
        alone = 1.0 if char in KOREAN_COMMON else _IDEOGRAPH
        return alone * (_FOREIGN_NEIGHBOR if _is_latin(before) or _is_latin(after) else 1.0)

    return _mean(weight(*each) for each in _beyond_ascii(text))


def _cyrillic(text: str) -> float:
    beyond_ascii = list(_beyond_ascii(text))
    known = frozenset("".join(CYRILLIC.values()))

    def weight(before: str, char: str, after: str) -> float:
        if not char.isalpha():
            return _sign(before, char, after)
        if char.lower() not in known or _is_latin(before) or _is_latin(after):
            return 0.0
        if before.isalpha() and before.islower() and char.isupper():
            return _CASE_BREAK
        return 1.0 if char.lower() in CYRILLIC_COMMON else _UNCOMMON_CYRILLIC

    return _mean(weight(*each) for each in beyond_ascii)


def _ideographs(text: str, common: frozenset[str], codec: str, kana: float) -> float:
    def weight(before: str, char: str, after: str) -> float:
        alone = _cjk(char, common, codec, kana)
        if "\uff61" <= char <= "\uff9f":  # half-width kana come in runs
            alone = 0.8 if _is_half_kana(before) or _is_half_kana(after) else 0.1
        return alone * (_FOREIGN_NEIGHBOR if _is_latin(before) or _is_latin(after) else 1.0)

    return _mean(weight(*each) for each in _beyond_ascii(text))


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
    if char in FIGURE_SIGNS:
        return 1.0 if before.isdecimal() or before == "m" else 0.0
    if char in CURRENCIES:
        return 0.0 if before.isalpha() or after.isalpha() else 1.0
    if char not in SIGNS:
        return 0.0
    inside = before.isalpha() and after.isalpha()
    return 1.0 if not inside or char in INNER_SIGNS else 0.0


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
    values = list(weights)
    return sum(values) / len(values) if values else 0.0


_FAMILIES: Final[dict[str, Callable[[str], float]]] = {
    "cp1252": _west,
    "cp1250": _central,
    "cp1251": _cyrillic,
    "koi8-r": _cyrillic,
    "iso8859_2": _central,
    "cp866": _cyrillic,
    "cp932": lambda text: _ideographs(text, JAPANESE_COMMON, "shift_jis", 1.0),
    "euc_jp": lambda text: _ideographs(text, JAPANESE_COMMON, "shift_jis", 1.0),
    "gb18030": lambda text: _ideographs(text, SIMPLIFIED_COMMON, "gb2312", 0.3),
    "big5": lambda text: _ideographs(text, TRADITIONAL_COMMON, "big5", 0.3),
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
