"""Phone numbers to E.164, one row of facts each; knows the world's numbering plans, not where a number came from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import partial
from numbers import Integral, Real
from typing import Final, NamedTuple

import numpy as np
import pandas as pd
import phonenumbers
from phonenumbers import NumberParseException, PhoneNumberType, ValidationResult, re_util

from dialframe.errors import ConfigError

#: Columns of `normalise` and their dtypes, in order.
COLUMNS: Final[dict[str, str]] = {
    "e164": "str",
    "valid": "boolean",
    "possible": "boolean",
    "region": "str",
    "type": "str",
    "extension": "str",
    "reason": "str",
}

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

_PARSE_REASONS: Final = {
    NumberParseException.TOO_SHORT_AFTER_IDD: "phone_too_short",
    NumberParseException.TOO_SHORT_NSN: "phone_too_short",
    NumberParseException.TOO_LONG: "phone_too_long",
}
_LENGTH_REASONS: Final = {
    # A local number (no area code) can be dialled from next door only.
    ValidationResult.IS_POSSIBLE_LOCAL_ONLY: "phone_too_short",
    ValidationResult.TOO_SHORT: "phone_too_short",
    ValidationResult.TOO_LONG: "phone_too_long",
}
_SCIENTIFIC: Final = re.compile(r"\s*\+?\d([.,]\d+)?[eE]\+?\d{1,3}\s*")
_PLUS: Final = re.compile(r"^[^\d]*[+＋]")
_ASCENDING: Final = "01234567890123456789"
_DESCENDING: Final = "98765432109876543210"
_PLACEHOLDER_DIGITS: Final = 5
_PLACEHOLDER_TAIL: Final = 7
_COUNTING_TAIL: Final = 9
_EXACT_FLOAT: Final = 2**53


class Reading(NamedTuple):
    """What one text says as a phone number; the fields are the columns of `normalise`.

    Attributes:
        e164: The number in E.164, only where it is valid, so that nobody dials another.
        valid: Whether the numbering plan knows it; None for a missing value.
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


def normalise(
    values: Iterable[object], region: str | Sequence[str | None] | None = "US"
) -> pd.DataFrame:
    """Read phone numbers as people and programs write them.

    A value costs once however often it is repeated. Numbers given as numbers are read as the
    digits that a person sees (`2125550142.0` of a float column is `2125550142`).

    Args:
        values: Texts; None, NaN and blank text are missing.
        region: ISO 3166 region whose national format numbers without `+` have, one for all or
            one for each value; None accepts international numbers only.

    Returns:
        One row per value in the order given, with the index of `values` where it has one:
        `e164` (only of valid numbers), `valid`, `possible`, `region`, `type`, `extension`,
        `reason` (null for valid numbers, otherwise `missing_phone`, `invalid_phone`,
        `phone_too_short`, `phone_too_long`, `phone_precision_lost`, `phone_placeholder` or
        `phone_ambiguous_region`), with the dtypes of `COLUMNS`. Missing values are null in all
        columns but `reason`.

    Raises:
        ConfigError: The one region is unknown, or there are not as many regions as values.
    """
    if isinstance(values, str):
        raise ConfigError("values is one text; pass a list of phone numbers, as in [value]")
    index = values.index if isinstance(values, pd.Series) else None
    texts = [_text(value) for value in values]
    if region is None or isinstance(region, str):
        codes, distinct = pd.factorize(pd.Series(texts, dtype=object), use_na_sentinel=False)
        read = partial(read_number, region=check_region(region))
        readings = [read(text if isinstance(text, str) else None) for text in distinct]
    else:
        codes, readings = _with_regions(texts, list(region))
    return _frame(readings, np.asarray(codes, dtype=np.intp), index)


def read_number(text: str | None, region: str | None) -> Reading:
    """Read one text as a phone number; the scalar form of `normalise`.

    Args:
        text: The text, None or blank where it is missing.
        region: A known ISO 3166 region or None.
    """
    if text is None or not text.strip():
        return Reading(reason="missing_phone")
    re_util.enable_pattern_cache()
    try:
        number = phonenumbers.parse(text, region)
    except NumberParseException as problem:
        return Reading(
            valid=False, possible=False, reason=_parse_reason(text, region, problem.error_type)
        )
    valid = phonenumbers.is_valid_number(number)
    return Reading(
        e164=phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
        if valid
        else None,
        valid=valid,
        possible=phonenumbers.is_possible_number(number),
        region=phonenumbers.region_code_for_number(number),
        type=TYPES.get(phonenumbers.number_type(number), "unknown"),
        extension=number.extension or None,
        reason=None if valid else _invalid_reason(text, number),
    )


def check_region(region: str | None) -> str | None:
    """The region in capitals, or None for None.

    Raises:
        ConfigError: No numbering plan is known under this name.
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
    """
    digits = "".join(char for char in text if char.isdecimal())
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


def _parse_reason(text: str, region: str | None, error_type: int) -> str:
    if _SCIENTIFIC.fullmatch(text):
        return "phone_precision_lost"
    if is_placeholder(text, loose=True):
        return "phone_placeholder"
    if error_type == NumberParseException.INVALID_COUNTRY_CODE and region is None:
        return "invalid_phone" if _PLUS.match(text) else "phone_ambiguous_region"
    return _PARSE_REASONS.get(error_type, "invalid_phone")


def _invalid_reason(text: str, number: phonenumbers.PhoneNumber) -> str:
    if _SCIENTIFIC.fullmatch(text):
        return "phone_precision_lost"
    if is_placeholder(text, loose=True):
        return "phone_placeholder"
    verdict = phonenumbers.is_possible_number_with_reason(number)
    return _LENGTH_REASONS.get(verdict, "invalid_phone")


def _with_regions(
    texts: list[str | None], regions: list[str | None]
) -> tuple[list[int], list[Reading]]:
    if len(texts) != len(regions):
        raise ConfigError(
            f"there are {len(regions)} regions for {len(texts)} values; pass one each, or one for all"
        )
    seen: dict[tuple[str | None, str | None], int] = {}
    codes = [
        seen.setdefault((text, _region_or_none(region)), len(seen))
        for text, region in zip(texts, regions, strict=True)
    ]
    return codes, [read_number(text, region) for text, region in seen]


def _region_or_none(region: object) -> str | None:
    """A region out of data: what is no country is as good as none."""
    known = region.strip().upper() if isinstance(region, str) else None
    return known if known in phonenumbers.SUPPORTED_REGIONS else None


def _text(value: object) -> str | None:
    if isinstance(value, str):
        return value
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        number = float(value)
        if number != number:
            return None
        exact = number.is_integer() and abs(number) < _EXACT_FLOAT
        return f"{number:.0f}" if exact else repr(number)
    return str(value)


def _frame(readings: list[Reading], codes: np.ndarray, index: pd.Index | None) -> pd.DataFrame:
    columns = list(zip(*readings, strict=True)) or [()] * len(COLUMNS)
    data = {
        name: pd.array(list(values), dtype=dtype).take(codes)
        for (name, dtype), values in zip(COLUMNS.items(), columns, strict=True)
    }
    return pd.DataFrame(data, index=index)
