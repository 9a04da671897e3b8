"""Bytes of a text file to text, proven on every byte."""

from __future__ import annotations

import codecs
import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any, Final, NamedTuple

from dialframe.errors import ConfigError, LeadFileError

#: The code page of stray bytes in a file of UTF-8.
_STRAY: Final = "cp1252"
#: What people call a code page that has another name here.
NAMES: Final = {"cp932": "shift_jis"}

_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_UTF8_RUN: Final = re.compile(
    rb"(?:[\x00-\x7f]+|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|\xed[\x80-\x9f][\x80-\xbf]"
    rb"|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}"
    rb"|\xf4[\x80-\x8f][\x80-\xbf]{2})+"
)
_ISO_2022_JP: Final = (b"\x1b$B", b"\x1b$@")
_NUL_SHARE: Final = 0.05
_NUL_SURE_SHARE: Final = 0.3
_NUL_OTHER_SHARE: Final = 0.3
_SAMPLE_BYTES: Final = 2**16
_SURE: Final = 1.0
_BASE_TRUST: Final = 0.7
#: By how much the western code page is preferred, and by how many characters at the most.
_PREFERRED_MARGIN: Final = 0.03
_PREFERRED_CHARS: Final = 0.5
_MAIL_ENDING: Final = re.compile(rb"@[\w.-]{1,64}\.([a-z]{2})\b")
_HEADER_WORD: Final = re.compile(rb"[a-z]{3,}")
_SPOKEN_LINES: Final = 3
#: What mails or headers in one of the languages say for its code pages.
_SPOKEN: Final = 0.15
#: Encodings of two bytes of which neither is ASCII: what each even run of such bytes says for them.
_PAIRED: Final = frozenset({"euc_jp", "euc_kr", "gb18030"})
_HIGH_RUN: Final = re.compile(rb"[\x80-\xff]+")
_EVEN_RUN: Final = 0.03
_EVEN_RUNS_AT_MOST: Final = 0.15
#: Bytes of the delimiters beyond ASCII (`¬ ¦ § ¶ þ`) in Windows code pages, and of `¬` in cp850.
_SIGN_BYTES: Final = b"\xac\xa6\xa7\xb6\xfe\xaa"
_DELIMITER_LINES: Final = 3
_HEAD_LINES: Final = 500
_DELIMITER_SHARE: Final = 0.7
_CROWDED_SHARE: Final = 0.2


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text and how it was got.

    Attributes:
        text: The whole text, without a byte order mark.
        encoding: Name of the encoding.
        confidence: 0 to 1; 1 where the bytes prove it.
        runner_up: The next best encoding where it was weighed, with its weight.
        repaired: Offsets into `text` of characters that were read in another encoding.
        bom: Whether a byte order mark named the encoding.
    """

    text: str
    encoding: str
    confidence: float = _SURE
    runner_up: str | None = None
    repaired: tuple[int, ...] = ()
    bom: bool = False


def decode(data: bytes, encoding: str | None = None) -> Decoded:
    """The text of a file.

    Args:
        data: Every byte of it.
        encoding: The encoding where it is known; nothing is guessed then.

    Raises:
        ConfigError: The encoding is unknown.
        LeadFileError: The bytes are not of the encoding given.
    """
    decoded = _decode(data, encoding)
    # A mark again behind the mark is what two programs make, each of which puts one.
    marks = len(decoded.text) - len(decoded.text.lstrip("\ufeff"))
    if not marks:
        return decoded
    repaired = tuple(at - marks for at in decoded.repaired if at >= marks)
    return replace(decoded, text=decoded.text[marks:], repaired=repaired, bom=True)


def _decode(data: bytes, encoding: str | None) -> Decoded:
    if encoding is not None:
        return _decode_as(data, encoding)
    # A mark is proof; that of UTF-32 begins with that of UTF-16, and is asked about first.
    for bom, name in _BOMS:
        if data.startswith(bom):
            return _decode_marked(data[len(bom) :], name)
    wide = _wide(data)
    if wide is not None:
        return wide
    # Escape sequences of ISO 2022-JP (RFC 1468), which is ASCII, and so UTF-8, to any other reader.
    if any(mark in data for mark in _ISO_2022_JP):
        text = _strict(data, "iso2022_jp")
        if text is not None:
            return Decoded(text, "iso2022_jp")
    text = _strict(data, "utf-8")
    if text is not None:
        return Decoded(text, "utf-8")
    return _not_utf8(data)


def _decode_as(data: bytes, encoding: str) -> Decoded:
    try:
        codec = codecs.lookup(encoding).name
    except LookupError:
        raise ConfigError(f"encoding {encoding!r} is unknown; use a name such as cp1252") from None
    # A mark of another encoding than the one given is left to the decoder to refuse.
    bom = next((mark for mark, name in _BOMS if data.startswith(mark) and name == codec), b"")
    try:
        text = data[len(bom) :].decode(codec)
    except UnicodeDecodeError as problem:
        at = problem.start + len(bom)
        line = data.count(b"\n", 0, at) + 1
        raise LeadFileError(
            f"byte {at} (line {line}) is not {encoding}; leave the encoding out to have it found",
            line=line,
        ) from None
    return Decoded(text.removeprefix("\ufeff"), codec, bom=bool(bom))


def _decode_marked(data: bytes, name: str) -> Decoded:
    text = _strict(data, name)
    if text is not None:
        return Decoded(text, name, bom=True)
    # Programs write the mark and then paste another file behind it.
    if name == "utf-8":
        return _decode_mixed(data, bom=True)
    text = data.decode(name, errors="replace")
    bad = tuple(match.start() for match in re.finditer("\ufffd", text))
    return Decoded(text, name, repaired=bad, bom=True)


def _wide(data: bytes) -> Decoded | None:
    """UTF-16 without a mark: the ASCII characters in it put their NUL bytes on one side."""
    half = len(data) // 2
    nuls = (data[0::2].count(0), data[1::2].count(0))
    if max(nuls) < _NUL_SHARE * half or min(nuls) > _NUL_OTHER_SHARE * max(nuls):
        return None
    # A few NUL bytes may also have strayed into UTF-8, which UTF-16 never looks like.
    narrow = _strict(data, "utf-8") if max(nuls) < _NUL_SURE_SHARE * half else None
    if narrow is not None and not is_binary(narrow.replace("\x00", "")):
        return None
    name = "utf-16-be" if nuls[0] > nuls[1] else "utf-16-le"
    text = _strict(data, name)
    if text is None or is_binary(text) or not is_assigned(text):
        return None
    return Decoded(text, name)


def _not_utf8(data: bytes) -> Decoded:
    lines = data.splitlines()
    high = [line for line in lines if not line.isascii()]
    bad = [line for line in high if _strict(line, "utf-8") is None]
    # Chance hardly ever makes UTF-8 of half of the lines of another encoding.
    if len(high) >= 2 * len(bad):
        return _decode_mixed(data)
    ranked = _rank(_sample(bad, _delimiters(lines)) or _sample(bad, b""), _languages_of(lines))
    best, weight = ranked[0]
    second, second_weight = ranked[1]
    islands = len(high) > len(bad) and _is_single_byte(best)
    text, repaired = _by_line(data, best) if islands else _lossless(data, best)
    # Nobody is sure who could not tell two code pages apart.
    trust = min(_SURE, _BASE_TRUST + weight - second_weight)
    return Decoded(
        text,
        NAMES.get(best, best),
        confidence=round(max(0.0, min(_SURE, weight)) * trust, 2),
        runner_up=f"{NAMES.get(second, second)} ({second_weight:.2f})",
        repaired=repaired,
    )


def _rank(sample: bytes, spoken: frozenset[str]) -> list[tuple[str, float]]:
    """Code pages with their weight, the best first; an earlier one wins a near tie."""
    runs = _HIGH_RUN.findall(sample)
    count = sum(map(len, runs))
    extra = dict.fromkeys(spoken, _SPOKEN)
    if not any(len(run) % 2 for run in runs):  # which chance makes of n runs in 1 of 2^n texts
        paired = min(_EVEN_RUNS_AT_MOST, _EVEN_RUN * len(runs))
        extra |= {name: paired + extra.get(name, 0.0) for name in _PAIRED}
    preferred, *_ = code_pages()
    margin = min(_PREFERRED_MARGIN, _PREFERRED_CHARS / max(1, count))
    extra[preferred] = extra.get(preferred, 0.0) + margin
    weights = [(name, weigh(sample.decode(name, errors="replace"), name)) for name in code_pages()]
    return sorted(weights, key=lambda pair: -(pair[1] + extra.get(pair[0], 0.0)))


def _languages_of(lines: list[bytes]) -> frozenset[str]:
    """Code pages of the languages that the mails and headers of a list speak for, if they agree."""
    mails = set(_MAIL_ENDING.findall(b"\n".join(lines[:_HEAD_LINES]).lower()))
    words = set(_HEADER_WORD.findall(b" ".join(lines[:_SPOKEN_LINES]).lower()))
    spoken = [
        script.pages
        for script in scripts().values()
        if script.domains & {mail.decode() for mail in mails}
        or script.headers & {word.decode() for word in words}
    ]
    return spoken[0] if len(spoken) == 1 else frozenset()


def _sample(lines: list[bytes], delimiters: bytes) -> bytes:
    """Lines spread over the file that have high bytes besides the delimiters."""
    table = bytes.maketrans(delimiters, b"," * len(delimiters))
    high = [line for line in (line.translate(table) for line in lines) if not line.isascii()]
    # Spread over the file: a list may begin with the names of one language.
    step = max(1, sum(map(len, high)) // _SAMPLE_BYTES)
    return b"\n".join(line[:_SAMPLE_BYTES] for line in high[::step])


def _delimiters(lines: list[bytes]) -> bytes:
    """High bytes that stand for signs, in nearly every line as often as in the others."""
    sample = lines[: _DELIMITER_LINES * 100]
    delimiters = bytearray()
    for byte in _SIGN_BYTES:
        counts = Counter(line.count(byte) for line in sample)
        usual, lines_with_it = counts.most_common(1)[0]
        if usual and lines_with_it >= max(_DELIMITER_LINES, _DELIMITER_SHARE * len(sample)):
            escaped = re.escape(bytes([byte]))
            other = b"[^\x00-\x7f" + escaped + b"]"
            crowded = re.findall(
                b"(?<=%b)%b|%b(?=%b)" % (other, escaped, escaped, other), b"\n".join(sample)
            )
            if len(crowded) < _CROWDED_SHARE * sum(line.count(byte) for line in sample):
                delimiters.append(byte)
    return bytes(delimiters)


def _decode_mixed(data: bytes, *, bom: bool = False) -> Decoded:
    """UTF-8 with stray bytes in it, which are read as cp1252."""
    pieces: list[str] = []
    repaired: list[int] = []
    at = length = 0
    for run in _UTF8_RUN.finditer(data):
        stray = _lossless(data[at : run.start()], _STRAY)[0]
        repaired.extend(range(length, length + len(stray)))
        good = run.group().decode("utf-8")
        pieces += (stray, good)
        length += len(stray) + len(good)
        at = run.end()
    stray = _lossless(data[at:], _STRAY)[0]
    repaired.extend(range(length, length + len(stray)))
    share = len(repaired) / (length + len(stray))
    return Decoded(
        "".join([*pieces, stray]),
        "utf-8",
        confidence=round(_SURE - share, 2),
        runner_up=_STRAY,
        repaired=tuple(repaired),
        bom=bom,
    )


def _by_line(data: bytes, code_page: str) -> tuple[str, tuple[int, ...]]:
    """A file in a code page with lines of UTF-8 in it, which are read as that."""
    pieces: list[str] = []
    repaired: list[int] = []
    length = 0
    for line in data.splitlines(keepends=True):
        text = None if line.isascii() else _strict(line, "utf-8")
        if text is None:
            text, bad = _lossless(line, code_page)
            repaired.extend(length + at for at in bad)
        else:
            repaired.append(length)
        pieces.append(text)
        length += len(text)
    return "".join(pieces), tuple(repaired)


def _lossless(data: bytes, code_page: str) -> tuple[str, tuple[int, ...]]:
    """Text of a code page; bytes that it leaves undefined are kept where that is possible."""
    text = _strict(data, code_page)
    if text is not None:
        return text, ()
    text = data.decode(code_page, errors="replace")
    bad = tuple(match.start() for match in re.finditer("\ufffd", text))
    if _is_single_byte(code_page):
        chars = list(text)
        for at in bad:
            chars[at] = chr(data[at])
        text = "".join(chars)
    return text, bad


def _is_single_byte(code_page: str) -> bool:
    return scripts()[code_pages()[code_page]].is_single_byte


def _strict(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None


_CONTROLS: Final = frozenset(chr(code) for code in (*range(2, 9), *range(0x0E, 0x1A), 0x7F))
_CONTROL_SHARE: Final = 0.02
_BINARY_NUL_SHARE: Final = 0.1
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
    return controls > _CONTROL_SHARE * total or counts["\x00"] > _BINARY_NUL_SHARE * total


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
