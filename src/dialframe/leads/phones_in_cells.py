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
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple

from phonenumbers import PhoneMetadata, country_code_for_region

from dialframe.leads import header_vocabulary
from dialframe.leads.cells import is_nothing, tidy, unwrapped
from dialframe.leads.header_vocabulary import word_set
from dialframe.opt_outs import find_phrase, plain
from dialframe.phones import Reading, is_placeholder, read_number
from dialframe.phones.legacy_prefixes import rewritten
from dialframe.phones.parse_number import PHONE_LABEL, as_typed, phone_parts

#: Beginnings of the words for a fax in compounds.
_FAX_STEMS: Final = ("telefax", "faxn", "telecop", "facsim")
_TYPE_WORDS: Final = frozenset(["type", "typ", "tipo", "art", "kind", "label"])
_PHONE_HEADS: Final = header_vocabulary.PHONE_WORDS | {
    "1",
    "primary",
    "main",
    "contact",
    "line",
    "de",
    "du",
}
_LONGEST_NAME: Final = 12


def about_person(text: str) -> str | None:
    """Whether a phone cell says something about calling the person: `opt_out_unclear`, held until somebody decides.

    Args:
        text: The cell; one without letters says nothing.
    """
    alone = _words(text)
    for phrase in (find_phrase(text), find_phrase(" ".join(alone))):
        if phrase is not None and phrase.says != "wrong_number":
            return "opt_out_unclear"
    beside = len(alone) == 1 and alone[0] in word_set("short_beside_numbers")
    return "opt_out_unclear" if beside else None


def about_number(part: str) -> str | None:
    """Why the number in this part of a phone cell is not the person's phone, as a reason code."""
    alone = _words(part)
    if any(map(_is_fax_word, alone)):
        return "fax_only"
    if word_set("another").intersection(alone):
        return "phone_of_another"
    for phrase in (find_phrase(part), find_phrase(" ".join(alone))):
        if phrase is not None and phrase.says == "wrong_number":
            return "wrong_number"
    if word_set("wrong_beside").intersection(alone) and len(alone) <= _LONGEST_NAME:
        return "wrong_number"
    return None


def is_fax(kind: str) -> bool:
    """Whether the cell of a column such as `Phone Type` says that the number is a fax."""
    alone = _words(kind)
    others = [word for word in alone if not _is_fax_word(word)]
    return len(others) < len(alone) and header_vocabulary.PHONE_PLACES.issuperset(others)


def _is_fax_word(word: str) -> bool:
    return word in word_set("fax") or word.startswith(_FAX_STEMS)


def type_column(phone: str, phones: Sequence[str], columns: Sequence[str]) -> str | None:
    """The column that tells what kind of number a phone column holds: `Phone 1 Type`, or None.

    Args:
        phone: The phone column.
        phones: All phone columns.
        columns: Columns that may tell.
    """
    for column in columns:
        tokens = set(plain(column).split())
        rest = tokens - _TYPE_WORDS
        if rest == tokens or not rest:
            continue
        # `Phone 1 - Label` and `Phone 1 - Value` are a pair.
        if rest == set(plain(phone).split()) - {"value"} or (
            len(phones) == 1 and rest <= _PHONE_HEADS
        ):
            return column
    return None


def _words(text: str) -> list[str]:
    return [token for token in plain(text).split() if not token.isdecimal()]


#: Numbers that regulators keep free for films and samples (NANPA 555-01XX, Ofcom, ACMA, ARCEP,
#: Bundesnetzagentur), in E.164.
RESERVED: Final = re.compile(
    r"\+1[2-9]\d{2}55501\d{2}"
    r"|\+44(?:2079460|1134960|1144960|1154960|1164960|1174960|1184960|1214960|1314960|1414960"
    r"|1514960|1614960|1914980|2896496|2920180|1632960|7700900|8081570|9098790|3069990)\d{3}"
    r"|\+61[2378](?:5550|7010)\d{4}|\+61491570(?:006|15[6-9]|737)"
    r"|\+33(?:19900|26191|35301|46571|53649|63998)\d{4}"
    r"|\+49(?:3023125|6990009|4066969|2214710|8999998)\d{3}|\+49(?:17139200|176040690)\d{2}"
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
_WORDS: Final = re.compile(r"[^\W\d_]{1,}")
_MASKED: Final = re.compile(r"[?…*]|(?<=\d)[xX]{2,}|[xX]{3,}(?=\d)|\b[xX]{3,}\b")
_ABROAD: Final = re.compile(r"\(?00\s?(?=[1-9])")
_DIGITS_ONLY: Final = re.compile(r"\d+")
#: A cell in which no second number can hide.
_ONE_NUMBER: Final = re.compile(r"[\d\s().+'-]*")
#: Fewer digits are a short code, and more are no one number with its prefixes (ITU-T E.164: 15).
_LEAST_DIGITS: Final = 5
_MOST_DIGITS: Final = 25
_LONGEST_EXTENSION: Final = 7
#: Words and digits of a cell that may hold several numbers, and digits of the shortest of them.
_MOST_WORDS: Final = 10
TWO_NUMBERS_DIGITS: Final = 14
_LEAST_PART_DIGITS: Final = 7
#: A mobile number of so many digits is no local number.
_MOBILE_DIGITS: Final = 9


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
        more: Further valid numbers of the same cell.
    """

    e164: str = ""
    extension: str = ""
    other: str = ""
    region: str | None = None
    reason: str | None = None
    warnings: tuple[str, ...] = ()
    type: str | None = None
    remark: str | None = None
    more: tuple[str, ...] = ()


def read_phone(cell: str, region: str | None) -> PhoneReading:
    """The phone number in a cell.

    Args:
        cell: The cell's text.
        region: Region of national numbers, or None.
    """
    text = unwrapped(cell)
    if is_nothing(text):
        return PhoneReading(reason="missing_phone")
    # The whole cell is asked before it is parted: `DNC` may stand beside either number.
    remark = about_person(text) if _WORDS.search(text) else None
    repaired = as_typed(text)
    if is_placeholder(repaired):
        reading = PhoneReading(reason="phone_placeholder")
    else:
        read = _read_with_words if _WORDS.search(repaired) else _read_plain
        reading = read(repaired, region, () if repaired == text else ("phone_repaired",))
    return reading if remark is None else reading._replace(remark=remark)


def every_number(cell: str, region: str | None) -> tuple[str, ...]:
    """All valid numbers in the cell in E.164, whatever is said about them; for a prohibition's reach."""
    text = as_typed(unwrapped(cell))
    # Every way in which the cell can be read counts: a number too many is one that is not dialed.
    numbers: dict[str, None] = {}
    if (split := _by_blanks(text, region)) is not None:
        numbers |= dict.fromkeys(
            number for number in (split.e164, split.other, *split.more) if number
        )
    for part in dict.fromkeys((text, *phone_parts(text))):
        tail = _TAIL.fullmatch(part)
        bare = _REMARK.sub(" ", tail[1] if tail else part).strip()
        for candidate in dict.fromkeys((part, bare, re.sub(r"[^\d+]", "", part))):
            if (whole := with_sign(candidate, region)) is not None:
                numbers[whole] = None
            digits = sum(char.isdecimal() for char in candidate)
            if not _LEAST_DIGITS <= digits <= _MOST_DIGITS:
                continue
            reading = read_number(candidate, region)
            if reading.valid and reading.e164 and not is_placeholder(reading.e164):
                numbers[reading.e164] = None
                break
    return tuple(numbers)


def with_sign(text: str, region: str | None, taken: str = "") -> str | None:
    """The number in E.164 whose `+` may be missing, where a text begins with the calling code of a region.

    Args:
        text: A number without letters.
        region: Region by which it is read as a national number, or None.
        taken: What it is as one; another number is looked for.
    """
    if region is None:
        return None
    digits = re.sub(r"\D", "", text)
    if taken == f"+{digits}" or not digits.startswith(str(country_code_for_region(region))):
        return None
    return read_number(f"+{digits}", None).e164


def may_lack_area(cell: str, e164: str, region: str, kind: str | None) -> bool:
    """Whether a number without its zero may be a local one, in a column whose other cells keep the zero.

    A local number is shorter than the longest national one, and where the zero is a part of the number
    (Italy) every number that begins with it has to show it.

    Args:
        cell: The cell's text, without a `+` before its number.
        e164: The number as it was read.
        region: The region by which it was read.
        kind: Its line type.
    """
    code = f"+{country_code_for_region(region)}"
    if not e164.startswith(code) or re.sub(r"\D", "", cell).startswith(("0", e164[1:])):
        return False
    national, (trunk, longest) = e164.removeprefix(code), _trunk(region)
    if national.startswith("0"):
        return True
    # Where no zero is dialed (Spain, Denmark) a number without one is whole.
    if trunk != "0" or kind not in ("fixed_line", "mobile", "fixed_line_or_mobile"):
        return False
    return len(national) < longest and not (kind == "mobile" and len(national) >= _MOBILE_DIGITS)


@cache
def _trunk(region: str) -> tuple[str | None, int]:
    """The trunk prefix of a region, and the digits of its longest number of a landline."""
    metadata = PhoneMetadata.metadata_for_region(region, None)
    if metadata is None or metadata.fixed_line is None:
        return None, 0
    return metadata.national_prefix, max(metadata.fixed_line.possible_length, default=0)


def read_extension(cell: str) -> str:
    """The extension in a column of its own, empty where it is none."""
    match = re.fullmatch(r"(?:x|ext\.?)?\s*(\d+)(?:\.0+)?", tidy(cell), re.IGNORECASE)
    return match[1] if match and len(match[1]) <= _LONGEST_EXTENSION else ""


def _read_with_words(text: str, region: str | None, warnings: tuple[str, ...]) -> PhoneReading:
    """A cell with words: what they say of the number decides before the number does."""
    parts = phone_parts(text)
    remarks = [about_number(part) for part in parts]
    if not any(remarks):
        return _read_plain(text, region, warnings)
    if all(remarks) or len(parts) == 1:
        return PhoneReading(reason=next(code for code in remarks if code))
    # A word without a number of its own speaks of the number before it: `212-555-0142, fax`.
    kept = [
        part
        for at, part in enumerate(parts)
        if not remarks[at]
        and not (at + 1 < len(parts) and remarks[at + 1] and not _has_digits(parts[at + 1]))
        and not (at == 1 and remarks[0] and not _has_digits(parts[0]))
    ]
    if not kept:
        return PhoneReading(reason=next(code for code in remarks if code))
    reading = _read_plain(" ; ".join(kept), region, ("phone_split",))
    return reading if reading.reason is None else reading._replace(warnings=())


def _read_plain(text: str, region: str | None, warnings: tuple[str, ...]) -> PhoneReading:
    if _MASKED.search(text):
        return PhoneReading(reason="phone_too_short")
    # phonenumbers takes what stands behind a semicolon for a parameter.
    several = _several(text, region) if ";" in text else None
    if several is not None and several.other:
        return several
    reading = read_number(text, region)
    if reading.valid and _WORDS.search(text):
        # Letters can be digits (1-800-FLOWERS), so a remark would make another number of it.
        bare = _readable(text, region)
        if bare is not None and bare.e164 != reading.e164:
            return bare
    if reading.valid and not PHONE_LABEL.search(text):
        return _make_reading(reading, warnings)
    if reading.reason in ("phone_precision_lost", "phone_placeholder"):
        # A placeholder beside a number is nothing beside a number.
        return _several(text, region) or PhoneReading(reason=reading.reason)
    return (
        _several(text, region)
        or _by_blanks(text, region)
        or _readable(text, region)
        or (
            _make_reading(reading, warnings)
            if reading.valid
            else PhoneReading(reason=reading.reason)
        )
    )


def _has_digits(text: str) -> bool:
    return any(char.isdecimal() for char in text)


def _make_reading(
    reading: Reading, warnings: tuple[str, ...], others: Sequence[Reading] = ()
) -> PhoneReading:
    second, *more = [
        other.e164 for other in others if other.e164 and other.e164 != reading.e164
    ] or [""]
    return PhoneReading(
        e164=reading.e164 or "",
        extension=reading.extension or "",
        other=second,
        region=reading.region,
        warnings=warnings,
        type=reading.type,
        more=tuple(more),
    )


def _several(text: str, region: str | None) -> PhoneReading | None:
    parts = phone_parts(text)
    if len(parts) < 2:
        return None
    readings = []
    for part in parts:
        reading = read_number(part, region)
        if not reading.valid:  # as it stands, with the word that names it
            reading = read_number(_REMARK.sub(" ", part).strip(), region)
        if reading.valid and not is_placeholder(part):
            readings.append(reading)
    if not readings or is_placeholder(readings[0].e164 or ""):
        return None
    return _make_reading(readings[0], ("phone_split",), readings[1:])


def _by_blanks(text: str, region: str | None) -> PhoneReading | None:
    """Numbers that only blanks part, or a dash between blanks, where they are whole numbers in one way alone."""
    words = [word for word in text.split() if word != "-"]
    digits = sum(char.isdecimal() for char in text)
    if not 2 <= len(words) <= _MOST_WORDS or digits < TWO_NUMBERS_DIGITS:
        return None
    if not _ONE_NUMBER.fullmatch(text):
        return None
    # `212 555 0142 212 555 0143` is two numbers in one way; with two ways of as few nobody knows.
    ways = list(_whole_numbers(tuple(words), region))
    fewest = min(map(len, ways), default=0)
    shortest = [way for way in ways if len(way) == fewest]
    if len(shortest) != 1:
        return None
    first, *rest = shortest[0]
    return _make_reading(first, ("phone_split",), rest)


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


def zeroed_digits(text: str, region: str | None) -> str:
    """Digits with the zero that a spreadsheet takes from the beginning of a number, or nothing.

    Where a zero makes them a number abroad, nobody knows whether it was there: `0662` of Salzburg is
    no `0066 2` of Thailand.
    """
    if region is None or not _DIGITS_ONLY.fullmatch(text):
        return ""
    zeroed = f"0{text}"
    return "" if _exit_codes(region).match(zeroed) else zeroed


@cache
def _exit_codes(region: str) -> re.Pattern[str]:
    """What is dialed in a region before the calling code of another."""
    metadata = PhoneMetadata.metadata_for_region(region, None)
    return re.compile((metadata and metadata.international_prefix) or "00")


def _readable(text: str, region: str | None) -> PhoneReading | None:
    """A number with a remark around it, or one that lost its leading zero."""
    bare = _REMARK.sub(" ", text).strip()
    candidates = [bare] if bare != text else []
    if tail := _TAIL.fullmatch(text):
        candidates.append(_REMARK.sub(" ", tail[1]).strip())
    if zeroed := zeroed_digits(bare, region):
        candidates.append(zeroed)
    if _ABROAD.match(bare):
        # 00 is how most of the world begins a number abroad, and no number of a country begins so.
        candidates.append(_ABROAD.sub("+", bare))
    if not _WORDS.search(bare) and (today := rewritten(bare, region)) is not None:
        candidates.append(today)
    for candidate in candidates:
        reading = read_number(candidate, region)
        if reading.valid:
            return _make_reading(reading, ("phone_repaired",))
    return None
