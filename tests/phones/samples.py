"""Phone numbers as nobody planned them: sampled from every pattern of every plan, then spoilt."""

from __future__ import annotations

import random
from collections.abc import Iterator

import phonenumbers
from phonenumbers import PhoneMetadata

from dialframe.phones.number_automata import Node, nodes

REGIONS = sorted(phonenumbers.SUPPORTED_REGIONS)
KINDS = (
    "general_desc", "fixed_line", "mobile", "toll_free", "premium_rate", "shared_cost", "voip",
    "personal_number", "pager", "uan", "voicemail",
)  # fmt: skip
SEPARATORS = [" ", "-", ".", "(", ")", "/", "  ", "[", "]", " - ", ") ", "–", "\u00a0"]
LABELS = [
    "x", "X", " x ", " ext ", " ext. ", "ext", " EXT:", "#", " #", ";ext=", ",", ",,", ", ", ";",
    " extension ", " Extn ", "~", " int ", "anexo", " доб ", ", x", " - ext ", "xt", "\t", ",;",
]  # fmt: skip
NOISE = [
    "*", "+", "\u200b", "＋", "\u2060", "\u3000", "\u00ad", "E+9", "e9", ".0", "/x", " / ", "tel:",
    "Tel: ", "ABC", "FLOWERS", "a", "e", "t", "_", "\n", "\t", '"', "'", "=", "\u202a", "\u202c",
    "\u200e", "٤", "५", "\ufeff", "−", "ー", "²", "\U0001d7ce", ";phone-context=+1", ";isub=12",
    "\\", "\\x", ":", "é", " or ", " home", "cell ", "call ", "n/a", "؉", "ｘ", "．", "\x1f", "|",
    "Tél. ", "Móvil: ", "電話：", "☎ ", "📞", "·", " • ", "№ ", "º", "½", "日本", " (Büro)", "тел. ", "д", "о", "ó",
    "\u2028", "\u205f", "ſ", "\u212a", "ı", "①", "€", "～", "［", "⁓", "🄀", "\u202f", "הטל ", "ا", "전화 ",
    "\u0301", "+ ", "(+", "00", "011", " & ", ", ", "; ", "extn", "𐒠", "\x00",
]  # fmt: skip
WIDE = [str.maketrans("0123456789+-", "０１２３４５６７８９＋－"),
        str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩"),
        str.maketrans("0123456789", "۰۱۲۳۴۵۶۷۸۹"),
        str.maketrans("0123456789", "०१२३४५६७८९")]  # fmt: skip
DUMMIES = ["0000000", "1234567890", "9876543210", "5555555555", "123-4567", "2.12E+9", "2,1e+09",
           "12", "1 2", "911", "", " ", "\u00a0", "-", "N/A", "none", "+", "++1", "1e5"]  # fmt: skip


def written(rng: random.Random, region: str | None) -> str:
    """A text that somebody of the region may write for a phone number, more or less spoilt."""
    if rng.random() < 0.03:
        text = rng.choice(DUMMIES)
    else:
        text = _punctuated(rng, _with_slips(rng, _prefixed(rng, region)))
    for _ in range(rng.choice([0, 0, 0, 0, 1, 1, 2])):
        text = _spoilt(rng, text)
    return text


def _prefixed(rng: random.Random, region: str | None) -> str:
    home = PhoneMetadata.metadata_for_region(region or rng.choice(REGIONS))
    meta = home if rng.random() < 0.6 else PhoneMetadata.metadata_for_region(rng.choice(REGIONS))
    if rng.random() < 0.02:
        code = rng.choice(sorted(phonenumbers.COUNTRY_CODES_FOR_NON_GEO_REGIONS))
        meta = PhoneMetadata.metadata_for_nongeo_region(code)
    number, code, prefix = _national(rng, meta), str(meta.country_code), ""
    if meta.national_prefix_for_parsing and rng.random() < 0.4:
        prefix = sampled(rng, meta.national_prefix_for_parsing)
    elif rng.random() < 0.15:
        prefix = rng.choice(["0", "1", "8", "00", "06", "15"])
    shape = rng.random()
    if shape < 0.2:
        return "+" + code + (prefix if rng.random() < 0.3 else "") + number
    if shape < 0.35:
        return code + (prefix if rng.random() < 0.4 else "") + number
    if shape < 0.5 and home.international_prefix:
        return sampled(rng, home.international_prefix) + code + number
    if shape < 0.9:
        return prefix + number
    digits = "".join(rng.choices("0123456789", k=rng.randint(0, 21)))
    return rng.choice(["", "+", "++"]) + digits


def _national(rng: random.Random, meta: PhoneMetadata) -> str:
    while True:
        desc = getattr(meta, rng.choice(KINDS))
        if desc is not None and desc.national_number_pattern:
            return sampled(rng, desc.national_number_pattern)


def _with_slips(rng: random.Random, text: str) -> str:
    chars = list(text)
    for _ in range(rng.choice([0, 0, 0, 1, 1, 2, 3])):
        slip, at = rng.random(), rng.randrange(len(chars) + 1)
        if slip < 0.4 and chars:
            chars[at % len(chars)] = rng.choice("0123456789")
        elif slip < 0.6:
            chars.insert(at, rng.choice("0123456789"))
        elif slip < 0.8 and chars:
            del chars[at % len(chars)]
        else:
            chars = chars[: rng.randint(1, 20)]
    return "".join(chars)


def _punctuated(rng: random.Random, text: str) -> str:
    for _ in range(rng.choice([0, 0, 1, 2, 3])):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(SEPARATORS) + text[at:]
    return text


def _spoilt(rng: random.Random, text: str) -> str:
    way, at = rng.random(), rng.randrange(len(text) + 1)
    digits = "".join(rng.choices("0123456789", k=rng.randint(1, 11)))
    if way < 0.12:
        return text.translate(rng.choice(WIDE))
    if way < 0.4:
        return text[:at] + rng.choice(NOISE + LABELS) + text[at:]
    if way < 0.7:
        return text + rng.choice(LABELS) + digits + rng.choice(["", "", "#", " ", ".", "'"])
    if way < 0.8:
        return rng.choice(NOISE) + text
    if way < 0.95:
        return text + rng.choice(NOISE)
    return text + rng.choice([" / ", " or ", ", ", "; ", "/x"]) + text


def sampled(rng: random.Random, pattern: str) -> str:
    """A text that the pattern of a numbering plan matches."""
    return "".join(_sampled(rng, nodes(pattern)))


def _sampled(rng: random.Random, items: tuple[Node, ...]) -> Iterator[str]:
    for kind, *parts in items:
        if kind == "digits":
            yield rng.choice([digit for digit in "0123456789" if parts[0] >> int(digit) & 1])
        elif kind == "either":
            yield from _sampled(rng, rng.choice(parts[0]))
        elif kind == "repeat":
            least, most, body = parts
            for _ in range(rng.randint(least, min(most, least + 8))):
                yield from _sampled(rng, body)
