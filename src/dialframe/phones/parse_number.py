"""Reads one text as a phone number by phonenumbers itself: the truth that the tables are held to."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

import phonenumbers
from phonenumbers import NumberParseException, PhoneNumberType, phonenumberutil, re_util

from dialframe.errors import ConfigError
from dialframe.phones import number_outcomes as outcomes
from dialframe.phones.number_outcomes import REASONS

#: Line types by the number that phonenumbers gives them.
TYPES: Final[dict[int, str]] = {
    PhoneNumberType.FIXED_LINE: "fixed_line",
    PhoneNumberType.MOBILE: "mobile",
    PhoneNumberType.FIXED_LINE_OR_MOBILE: "fixed_line_or_mobile",
    PhoneNumberType.TOLL_FREE: "toll_free",
    PhoneNumberType.PREMIUM_RATE: "premium_rate",
    PhoneNumberType.SHARED_COST: "shared_cost",
    PhoneNumberType.VOIP: "voip",
    PhoneNumberType.PERSONAL_NUMBER: "personal_number",
    PhoneNumberType.PAGER: "pager",
    PhoneNumberType.UAN: "uan",
    PhoneNumberType.VOICEMAIL: "voicemail",
    PhoneNumberType.UNKNOWN: "unknown",
}

_SCIENTIFIC: Final = re.compile(r"\s*\+?\d([.,]\d+)?[eE]\+?\d{1,3}\s*")
_WITH_NOUGHT: Final = re.compile(r"(\+?\d{6,})[.,]0+")
_THOUSANDS: Final = re.compile(r"\d{1,3}(?:,\d{3}){2,}|\d{1,3}(?:\.\d{3}){3,}")
_WRITTEN_SCIENTIFIC: Final = re.compile(r"(\d)(?:[.,](\d+))?[eE]\+?(\d{1,2})")
_SEPARATOR: Final = re.compile(
    r"\s*(?:[;,|/\\\n]|:::)\s*|\s+(?:or|o|ou|oder|und|and|y|e|et|&|bzw\.?)\s+|または",
    re.IGNORECASE,
)
#: A word between two numbers that names the second one: `212-555-0142 Fax 212-555-0190`.
PHONE_LABEL: Final = re.compile(
    r"(?<=\d)[\s)]+(?=(?!(?:x|ext|extn|extension|poste|ramal|anexo|int|app|durchwahl)\b)"
    r"[^\W\d_]+[\s.:#-]*[+(]?\d[\d\s().+-]{5,})",
    re.IGNORECASE,
)
#: A spreadsheet keeps so many digits of a number (IEEE 754, binary64).
_EXACT_DIGITS: Final = 15
_PLUS_SIGNS: Final = "+＋"
_PLUS: Final = re.compile(r"^[^\d]*[+＋]")
_NOT_DIGITS: Final = re.compile(r"\D+")
_ASCENDING: Final = "01234567890123456789"
_DESCENDING: Final = "98765432109876543210"
_PLACEHOLDER_DIGITS: Final = 5
_PLACEHOLDER_TAIL: Final = 7
_COUNTING_TAIL: Final = 9


class Reading(NamedTuple):
    """What one text says as a phone number; the fields are the columns of `normalize`.

    Attributes:
        e164: The number in E.164, only where it is valid, so that nobody dials another.
        valid: Whether it is a number of the numbering plan; None for a missing value.
        possible: Whether its length is one that its country uses; None for a missing value.
        region: ISO 3166 region, `001` for a number of no country, None where it is not known.
        type: A value of `TYPES`; None where the text cannot be read as a number at all.
        extension: Digits behind `ext`, `x`, `;ext=` and the like.
        reason: Why it is not valid, as a reason code; None for a valid number.
    """

    e164: str | None = None
    valid: bool | None = None
    possible: bool | None = None
    region: str | None = None
    type: str | None = None
    extension: str | None = None
    reason: str | None = None


#: Readings of late: a list is read once to find its columns and once more to judge its records.
_known: Final[dict[tuple[str, str | None], Reading]] = {}
_MOST_KNOWN: Final = 20_000


def read_number(text: str | None, region: str | None) -> Reading:
    """Read one text as a phone number; the scalar form of `normalize`.

    Args:
        text: The text, None or blank where it is missing.
        region: A known ISO 3166 region or None.

    Returns:
        The number and what the numbering plan says of it, or the reason why it is none.

    Example:
        >>> read_number("020 7946 0018", "GB").e164
        '+442079460018'
        >>> read_number("020 7946", "GB").reason
        'invalid_phone'
    """
    if text is None or not text.strip():
        return Reading(reason=REASONS[outcomes.MISSING])
    reading = _known.get((text, region))
    if reading is None:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        reading = _known[text, region] = _read(text, region)
        if reading.e164 is not None:
            # A number is asked about again in its final form, by whoever counts countries.
            _known[reading.e164, None] = reading._replace(extension=None)
    return reading


def _read(text: str, region: str | None) -> Reading:
    # phonenumbers compiles its patterns anew otherwise, which takes longer than the rest.
    re_util.enable_pattern_cache()
    try:
        number = phonenumbers.parse(text, region)
    except NumberParseException as problem:
        outcome = judged(text, region, problem.error_type)
        return Reading(valid=False, possible=False, reason=REASONS[outcome])
    # Of a code that many regions share, finding the region is most of the work.
    place = phonenumbers.region_code_for_number(number)
    # By its own region: a number of Jersey is none of Britain, though they share a code.
    if valid := place is not None and phonenumbers.is_valid_number_for_region(number, place):
        outcome, kind = outcomes.VALID, phonenumbers.number_type(number)
    else:
        verdict = phonenumbers.is_possible_number_with_reason(number)
        outcome = judged(text, region, outcomes.INVALID + verdict)
        kind = PhoneNumberType.UNKNOWN
    return Reading(
        e164=phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
        if valid
        else None,
        valid=valid,
        possible=phonenumbers.is_possible_number(number),
        region=place,
        type=TYPES.get(kind, "unknown"),
        extension=number.extension or None,
        reason=REASONS[outcome],
    )


#: Characters that phonenumbers reads at most; a longer text is too long, whatever it says.
_MOST_CHARACTERS: Final = 250


def digits_of(text: str, region: str | None) -> tuple[str, str] | int | None:
    """What phonenumbers dials of a text before it asks any numbering plan.

    Args:
        text: The text.
        region: The region at home, or None.

    Returns:
        The digits behind their plus, if any, and those of the extension; the error of the parse where it
        ends before a plan is asked; None where only the whole parse tells.
    """
    if len(text) > _MOST_CHARACTERS or not text.strip() or ";" in text:
        return None
    # phonenumbers compiles its patterns anew otherwise, which takes longer than the rest.
    re_util.enable_pattern_cache()
    number = phonenumberutil._extract_possible_number(text)  # noqa: SLF001
    if not phonenumberutil._is_viable_phone_number(number):  # noqa: SLF001
        return int(NumberParseException.NOT_A_NUMBER)
    has_plus = number[0] in _PLUS_SIGNS
    if region is None and not has_plus:
        return int(NumberParseException.INVALID_COUNTRY_CODE)
    extension, number = phonenumberutil._maybe_strip_extension(number)  # noqa: SLF001
    digits = phonenumberutil._normalize(number.lstrip(_PLUS_SIGNS))  # noqa: SLF001
    return ("+" + digits if has_plus else digits), extension


def judged(text: str, region: str | None, outcome: int) -> int:
    """The outcome that is more useful to a person than the parse of an invalid number."""
    if has_lost_digits(text):
        return outcomes.PRECISION_LOST
    if is_placeholder(text, loose=True):
        return outcomes.PLACEHOLDER
    if outcome == NumberParseException.INVALID_COUNTRY_CODE and region is None:
        return outcome if _PLUS.match(text) else outcomes.AMBIGUOUS_REGION
    return outcome


def check_region(region: str | None) -> str | None:
    """The region in capitals, or None for None.

    Args:
        region: ISO 3166 region in upper or lower case, or None.

    Returns:
        The region, which has a numbering plan.

    Raises:
        ConfigError: No numbering plan is known under this name.

    Example:
        >>> check_region('gb')
        'GB'
    """
    if region is None:
        return None
    known = region.strip().upper()
    if known in phonenumbers.SUPPORTED_REGIONS:
        return known
    hint = "GB" if known == "UK" else "a two-letter code such as US, GB or DE"
    raise ConfigError(f"region {region!r} is not a country of ISO 3166; use {hint}")


def is_placeholder(text: str, *, loose: bool = False) -> bool:
    """Whether the digits are what people type to get past a form: `0000000`, `1234567890`.

    Args:
        text: The phone number as text.
        loose: Also accept a country or area code before the repeated or counting digits; only
            safe for numbers that are known to be invalid.

    Returns:
        True for a placeholder; letters and blanks around the digits do not count.

    Example:
        >>> is_placeholder('0000000'), is_placeholder('020 7946 0018')
        (True, False)
    """
    # Four digits are an extension, or a short code.
    digits = _NOT_DIGITS.sub("", text)
    if len(digits) < _PLACEHOLDER_DIGITS:
        return False
    if len(set(digits)) == 1 or _counts(digits):
        return True
    if not loose or len(digits) <= _PLACEHOLDER_TAIL:
        return False
    repeated = len(set(digits[-_PLACEHOLDER_TAIL:])) == 1
    return repeated or (len(digits) > _COUNTING_TAIL and _counts(digits[-_COUNTING_TAIL:]))


def _counts(digits: str) -> bool:
    return len(digits) >= _PLACEHOLDER_TAIL and (digits in _ASCENDING or digits in _DESCENDING)


def as_typed(text: str) -> str:
    """A number as it was typed before a spreadsheet wrote it as a quantity, with `.0`, commas or an `E+09`."""
    # A column of numbers with a blank in it is one of floats to most programs.
    if match := _WITH_NOUGHT.fullmatch(text):
        return match[1]
    if _THOUSANDS.fullmatch(text):
        return re.sub(r"\D", "", text)
    if match := _WRITTEN_SCIENTIFIC.fullmatch(text):
        digits, places = match[1] + (match[2] or ""), int(match[3])
        # Only a number that was written with all of its digits can be got back.
        if len(digits) == places + 1 <= _EXACT_DIGITS:
            return digits
    return text


def phone_parts(text: str) -> list[str]:
    """The texts of a phone cell that separators or labels part; each may be a number."""
    return [part for part in _SEPARATOR.split(PHONE_LABEL.sub(" ; ", text)) if part]


def has_lost_digits(text: str) -> bool:
    """Whether a number stands in scientific notation without all of its digits."""
    return _SCIENTIFIC.fullmatch(text) is not None
