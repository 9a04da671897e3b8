"""Phone cells as lists have them, repaired and split before they are read.

Repairs are only what undoes a spreadsheet (`2125550142.0`, `="2125550142"`, `2,125,550,142`, a
number in scientific notation with all its digits) or leaves one valid reading; a digit that is gone
is never guessed. Words beside a number are read before they are taken off: `DNC 212-555-0142` is a
prohibition, `212-555-0142 (fax)` no phone, `(wrong number)` and `(wife)` no number of this person.

A cell of digits, blanks and `+ ( ) . - /` alone has no words, so it is what `read_number` says of
it where that is valid and no placeholder: such cells need nothing from this module.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from dialframe.leads.cells import is_nothing, tidy
from dialframe.leads.judging.phone_remarks import about_number, about_person
from dialframe.phones import Reading, is_placeholder, read_number

_FORMULA: Final = re.compile(r"=\s*\"(.*)\"")
_FLOAT: Final = re.compile(r"(\+?\d{6,})[.,]0+")
_THOUSANDS: Final = re.compile(r"\d{1,3}(?:,\d{3}){2,}|\d{1,3}(?:\.\d{3}){3,}")
_SCIENTIFIC: Final = re.compile(r"(\d)(?:[.,](\d+))?[eE]\+?(\d{1,2})")
_SEPARATOR: Final = re.compile(
    r"\s*[;,|/\\\n]\s*|\s+(?:or|o|ou|oder|und|and|y|e|et|&|bzw\.?)\s+|または", re.IGNORECASE
)
#: A word between two numbers that names the second one: `212-555-0142 Fax 212-555-0190`.
_LABEL: Final = re.compile(
    r"(?<=\d)[\s)]+(?=(?!(?:x|ext|extn|extension|poste|ramal|anexo|int|app|durchwahl)\b)"
    r"[^\W\d_]+[\s.:#-]*[+(]?\d[\d\s().+-]{5,})",
    re.IGNORECASE,
)
_REMARK: Final = re.compile(
    r"[(\[](?:[^\d()\[\]]*|[^()\[\]]*[^\W\d_]{3}[^()\[\]]*)[)\]]"
    r"|(?<=\d)\s+[^\W\d_][^\d]*$|^[^\d+(]*[^\W\d_][^\d+(]*"
)
#: A remark behind a whole number, with an hour or a day in it: `212-555-0142 call after 5pm`.
_TAIL: Final = re.compile(
    r"((?:[^\d]*\d){9,}[^\W\d_]*)\s+(?!(?:ext|extn|extension|poste|ramal|anexo|durchwahl)\b)"
    r"[^\W\d_]{3,}\b(?:[^\d]*\d){1,4}[^\d]*"
)
_WIDE: Final = str.maketrans("（）［］；／，", "()[];/,")
_WORDS: Final = re.compile(r"[^\W\d_]{1,}")
_MASKED: Final = re.compile(r"[?…*]|(?<=\d)[xX]{2,}|[xX]{3,}(?=\d)|\b[xX]{3,}\b")
_ABROAD: Final = re.compile(r"\(?00\s?(?=[1-9])")
_DIGITS_ONLY: Final = re.compile(r"\d+")
#: A cell in which no second number can hide, and reasons that say that there is no first.
_ONE_NUMBER: Final = re.compile(r"[\d\s().+'-]*")
_NOTHING_IN_IT: Final = frozenset(
    {"missing_phone", "phone_too_short", "phone_too_long", "invalid_phone", "phone_placeholder"}
    | {"phone_precision_lost", "phone_ambiguous_region"}
)
_LEAST_DIGITS: Final = 5
_MOST_DIGITS: Final = 25
_LONGEST_EXTENSION: Final = 7
#: Words and digits of a cell that may hold several numbers, and digits of the shortest of them.
_MOST_WORDS: Final = 10
_TWO_NUMBERS_DIGITS: Final = 14
_LEAST_PART_DIGITS: Final = 7
_EXACT_DIGITS: Final = 15


class PhoneReading(NamedTuple):
    """One phone cell.

    Attributes:
        e164: The number, empty where there is none.
        extension: Its extension, or empty.
        other: A second valid number of the same cell, or empty.
        region: The number's region, or None.
        reason: Why there is no number, as a reason code, or None.
        warnings: What was done to get it.
        type: The number's line type (`phones.TYPES`), or None.
        remark: What the cell says about calling the person (`opt_out`, `opt_out_unclear`,
            `deceased`), or None; it stands against the record whatever number is used.
    """

    e164: str = ""
    extension: str = ""
    other: str = ""
    region: str | None = None
    reason: str | None = None
    warnings: tuple[str, ...] = ()
    type: str | None = None
    remark: str | None = None


def read_phone(cell: str, region: str | None) -> PhoneReading:
    """The phone number in a cell.

    Args:
        cell: The cell's text.
        region: Region of national numbers, or None.
    """
    text = _unwrap(cell)
    if is_nothing(text):
        return PhoneReading(reason="missing_phone")
    remark = about_person(text) if _WORDS.search(text) else None
    reading = _read(text, region)
    return reading if remark is None else reading._replace(remark=remark)


def numbers_of(cell: str, reading: PhoneReading, region: str | None) -> tuple[str, ...]:
    """All valid numbers of a cell that has been read, in E.164; for a prohibition's reach.

    The reading has the answer for a cell of one number; the others are read again.
    """
    if reading.e164 and reading.remark is None and "phone_split" not in reading.warnings:
        return (reading.e164,)
    if reading.reason in _NOTHING_IN_IT and _ONE_NUMBER.fullmatch(cell):
        return ()
    return every_number(cell, region)


def every_number(cell: str, region: str | None) -> tuple[str, ...]:
    """All valid numbers in the cell in E.164, whatever is said about them; for a prohibition's reach."""
    text = _undo_spreadsheet(_unwrap(cell))
    found: dict[str, None] = {}
    if (split := _by_blanks(text, region)) is not None:
        found |= dict.fromkeys(number for number in (split.e164, split.other) if number)
    for part in dict.fromkeys((text, *_parts(text))):
        tail = _TAIL.fullmatch(part)
        bare = _REMARK.sub(" ", tail[1] if tail else part).strip()
        for candidate in dict.fromkeys((part, bare, re.sub(r"[^\d+]", "", part))):
            digits = sum(char.isdecimal() for char in candidate)
            if not _LEAST_DIGITS <= digits <= _MOST_DIGITS:
                continue
            reading = read_number(candidate, region)
            if reading.valid and reading.e164 and not is_placeholder(reading.e164):
                found[reading.e164] = None
                break
    return tuple(found)


def read_extension(cell: str) -> str:
    """The extension in a column of its own, empty where it is none."""
    match = re.fullmatch(r"(?:x|ext\.?)?\s*(\d+)(?:\.0+)?", tidy(cell), re.IGNORECASE)
    return match[1] if match and len(match[1]) <= _LONGEST_EXTENSION else ""


def _read(text: str, region: str | None) -> PhoneReading:
    repaired = _undo_spreadsheet(text)
    warnings = () if repaired == text else ("phone_repaired",)
    if is_placeholder(repaired):
        return PhoneReading(reason="phone_placeholder")
    if _WORDS.search(repaired):
        return _read_with_words(repaired, region, warnings)
    return _read_plain(repaired, region, warnings)


def _read_with_words(text: str, region: str | None, warnings: tuple[str, ...]) -> PhoneReading:
    """A cell with words: what they say of the number decides before the number does."""
    parts = _parts(text)
    said = [about_number(part) for part in parts]
    if not any(said):
        return _read_plain(text, region, warnings)
    if all(said) or len(parts) == 1:
        return PhoneReading(reason=next(code for code in said if code))
    # A word without a number of its own speaks of the number before it: `212-555-0142, fax`.
    kept = [
        part
        for at, part in enumerate(parts)
        if not said[at]
        and not (at + 1 < len(parts) and said[at + 1] and not _has_digits(parts[at + 1]))
        and not (at == 1 and said[0] and not _has_digits(parts[0]))
    ]
    if not kept:
        return PhoneReading(reason=next(code for code in said if code))
    reading = _read_plain(" ; ".join(kept), region, ("phone_split",))
    return reading if reading.reason is None else reading._replace(warnings=())


def _read_plain(text: str, region: str | None, warnings: tuple[str, ...]) -> PhoneReading:
    if _MASKED.search(text):
        return PhoneReading(reason="phone_too_short")
    reading = read_number(text, region)
    if reading.valid and _WORDS.search(text):
        # Letters can be digits (1-800-FLOWERS), so a remark would make another number of it.
        bare = _readable(text, region)
        if bare is not None and bare.e164 != reading.e164:
            return bare
    if reading.valid and not _LABEL.search(text):
        return _found(reading, warnings)
    if reading.reason in ("phone_precision_lost", "phone_placeholder"):
        # A placeholder beside a number is nothing beside a number.
        return _several(text, region) or PhoneReading(reason=reading.reason)
    return (
        _several(text, region)
        or _by_blanks(text, region)
        or _readable(text, region)
        or (_found(reading, warnings) if reading.valid else PhoneReading(reason=reading.reason))
    )


def _parts(text: str) -> list[str]:
    return [part for part in _SEPARATOR.split(_LABEL.sub(" ; ", text)) if part]


def _has_digits(text: str) -> bool:
    return any(char.isdecimal() for char in text)


def _unwrap(cell: str) -> str:
    # A line end separates two numbers; tidying would join them.
    text = tidy(cell.strip().replace("\r\n", "\n").replace("\n", " ; ").translate(_WIDE))
    formula = _FORMULA.fullmatch(text)
    return (formula[1] if formula else text).strip("'\"` ")


def _undo_spreadsheet(text: str) -> str:
    match = _FLOAT.fullmatch(text)
    if match:
        return match[1]
    if _THOUSANDS.fullmatch(text):
        return re.sub(r"\D", "", text)
    match = _SCIENTIFIC.fullmatch(text)
    if match:
        digits, places = match[1] + (match[2] or ""), int(match[3])
        # Only a number that was written with all of its digits can be got back.
        if len(digits) == places + 1 <= _EXACT_DIGITS:
            return digits
    return text


def _found(reading: Reading, warnings: tuple[str, ...], other: str = "") -> PhoneReading:
    return PhoneReading(
        e164=reading.e164 or "",
        extension=reading.extension or "",
        other=other,
        region=reading.region,
        warnings=warnings,
        type=reading.type,
    )


def _several(text: str, region: str | None) -> PhoneReading | None:
    parts = _parts(text)
    if len(parts) < 2:
        return None
    readings = [
        reading
        for part in parts
        if (reading := _part(part, region)).valid and not is_placeholder(part)
    ]
    if not readings or is_placeholder(readings[0].e164 or ""):
        return None
    others = [one.e164 for one in readings if one.e164 != readings[0].e164]
    return _found(readings[0], ("phone_split",), (others[0] or "") if others else "")


def _by_blanks(text: str, region: str | None) -> PhoneReading | None:
    """Numbers that only a blank parts, where they fall into whole numbers in one way alone."""
    words = text.split()
    digits = sum(char.isdecimal() for char in text)
    if not 2 <= len(words) <= _MOST_WORDS or digits < _TWO_NUMBERS_DIGITS:
        return None
    if not _ONE_NUMBER.fullmatch(text):
        return None
    ways = list(_whole_numbers(tuple(words), region))
    fewest = min(map(len, ways), default=0)
    shortest = [way for way in ways if len(way) == fewest]
    if len(shortest) != 1:
        return None
    first, *rest = shortest[0]
    others = [one.e164 for one in rest if one.e164 != first.e164]
    return _found(first, ("phone_split",), (others[0] or "") if others else "")


def _whole_numbers(words: tuple[str, ...], region: str | None) -> Iterator[tuple[Reading, ...]]:
    """Every way in which the words are valid numbers one behind the other."""
    for stop in range(1, len(words) + 1):
        part = " ".join(words[:stop])
        if sum(char.isdecimal() for char in part) < _LEAST_PART_DIGITS:
            continue
        reading = read_number(part, region)
        if not reading.valid or is_placeholder(reading.e164 or ""):
            continue
        if stop == len(words):
            yield (reading,)
            continue
        for rest in _whole_numbers(words[stop:], region):
            yield (reading, *rest)


def _part(part: str, region: str | None) -> Reading:
    """One of several numbers, with or without the word that names it."""
    reading = read_number(part, region)
    return reading if reading.valid else read_number(_REMARK.sub(" ", part).strip(), region)


def _readable(text: str, region: str | None) -> PhoneReading | None:
    """A number with a remark around it, or one that lost its leading zero."""
    bare = _REMARK.sub(" ", text).strip()
    candidates = [bare] if bare != text else []
    if tail := _TAIL.fullmatch(text):
        candidates.append(_REMARK.sub(" ", tail[1]).strip())
    if _DIGITS_ONLY.fullmatch(bare):
        candidates.append(f"0{bare}")
    if _ABROAD.match(bare):
        # 00 is how most of the world begins a number abroad, and no number of a country begins so.
        candidates.append(_ABROAD.sub("+", bare))
    for candidate in candidates:
        reading = read_number(candidate, region)
        if reading.valid:
            return _found(reading, ("phone_repaired",))
    return None
