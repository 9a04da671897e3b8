"""Bytes of a text file to text, proven on every byte.

Order of proof: a byte order mark, UTF-16 by where its NUL bytes stand, strict UTF-8 over the whole
file, a file in UTF-8 with a few bytes of another encoding in it, and last the legacy code pages,
each read strictly and weighed by how plausible its characters are.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import Final

from dialframe.errors import ConfigError, LeadFileError
from dialframe.leads.reading.text_plausibility import (
    code_pages,
    is_assigned,
    is_binary,
    scripts,
    weigh,
)

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
        return _given(data, encoding)
    # A mark is proof; that of UTF-32 begins with that of UTF-16, and is asked about first.
    for bom, name in _BOMS:
        if data.startswith(bom):
            return _marked(data[len(bom) :], name)
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


def _given(data: bytes, encoding: str) -> Decoded:
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


def _marked(data: bytes, name: str) -> Decoded:
    text = _strict(data, name)
    if text is not None:
        return Decoded(text, name, bom=True)
    # Programs write the mark and then paste another file behind it.
    if name == "utf-8":
        return _mixed(data, bom=True)
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
        return _mixed(data)
    ranked = _rank(_sample(bad, _delimiters(lines)) or _sample(bad, b""), _spoken(lines))
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


def _spoken(lines: list[bytes]) -> frozenset[str]:
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


def _mixed(data: bytes, *, bom: bool = False) -> Decoded:
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
