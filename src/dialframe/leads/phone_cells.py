"""Phone cells as lists have them, repaired and split before they are read; knows no other column.

Repairs are only what undoes a spreadsheet (`2125550142.0`, `="2125550142"`, `2,125,550,142`, a
number in scientific notation with all its digits) or leaves one valid reading; a digit that is gone
is never guessed.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from dialframe.leads.cells import is_nothing, tidy
from dialframe.phones import Reading, is_placeholder, read_number

_FORMULA: Final = re.compile(r"=\s*\"(.*)\"")
_FLOAT: Final = re.compile(r"(\+?\d{6,})[.,]0+")
_THOUSANDS: Final = re.compile(r"\d{1,3}(?:,\d{3}){2,}|\d{1,3}(?:\.\d{3}){3,}")
_SCIENTIFIC: Final = re.compile(r"(\d)(?:[.,](\d+))?[eE]\+?(\d{1,2})")
_SEPARATOR: Final = re.compile(
    r"\s*[;,|/\\\n]\s*|\s+(?:or|o|ou|oder|und|and|y|e|et|&|bzw\.?)\s+|または", re.IGNORECASE
)
_REMARK: Final = re.compile(
    r"[(\[][^\d()\[\]]*[)\]]|(?<=\d)\s+[^\W\d_][^\d]*$|^[^\d+(]*[^\W\d_][^\d+(]*"
)
_DIGITS_ONLY: Final = re.compile(r"\d+")
_LONGEST_EXTENSION: Final = 7
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
    """

    e164: str = ""
    extension: str = ""
    other: str = ""
    region: str | None = None
    reason: str | None = None
    warnings: tuple[str, ...] = ()


def read_phone(cell: str, region: str | None) -> PhoneReading:
    """The phone number in a cell.

    Args:
        cell: The cell's text.
        region: Region of national numbers, or None.
    """
    text = _unwrap(cell)
    if is_nothing(text):
        return PhoneReading(reason="missing_phone")
    repaired = _undo_spreadsheet(text)
    warnings = () if repaired == text else ("phone_repaired",)
    if is_placeholder(repaired):
        return PhoneReading(reason="phone_placeholder")
    reading = read_number(repaired, region)
    if reading.valid:
        return _found(reading, warnings)
    if reading.reason in ("phone_precision_lost", "phone_placeholder"):
        return PhoneReading(reason=reading.reason)
    return (
        _several(repaired, region)
        or _readable(repaired, region)
        or PhoneReading(reason=reading.reason)
    )


def read_extension(cell: str) -> str:
    """The extension in a column of its own, empty where it is none."""
    match = re.fullmatch(r"(?:x|ext\.?)?\s*(\d+)(?:\.0+)?", tidy(cell), re.IGNORECASE)
    return match[1] if match and len(match[1]) <= _LONGEST_EXTENSION else ""


def _unwrap(cell: str) -> str:
    # A line end separates two numbers; tidying would join them.
    text = tidy(cell.strip().replace("\r\n", "\n").replace("\n", " ; "))
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
    )


def _several(text: str, region: str | None) -> PhoneReading | None:
    parts = [part for part in _SEPARATOR.split(text) if part]
    if len(parts) < 2:
        return None
    readings = [reading for part in parts if (reading := read_number(part, region)).valid]
    others = [one.e164 for one in readings if one.e164 != readings[0].e164]
    if not readings or is_placeholder(readings[0].e164 or ""):
        return None
    return _found(readings[0], ("phone_split",), (others[0] or "") if others else "")


def _readable(text: str, region: str | None) -> PhoneReading | None:
    """A number with a remark around it, or one that lost its leading zero."""
    bare = _REMARK.sub(" ", text).strip()
    candidates = [bare] if bare != text else []
    if _DIGITS_ONLY.fullmatch(bare):
        candidates.append(f"0{bare}")
    for candidate in candidates:
        reading = read_number(candidate, region)
        if reading.valid:
            return _found(reading, ("phone_repaired",))
    return None
