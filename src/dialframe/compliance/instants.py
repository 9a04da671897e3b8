"""Instants written as text: ISO 8601 with a zone, leap seconds among them; knows no table and drops no row."""

from __future__ import annotations

import re
from typing import Final

import pandas as pd

#: A second that clocks insert, and midnight at the end of a day: both are legal and few readers take them.
_LEAP: Final = re.compile(r"(T|\s)(\d\d:\d\d):60(?:\.\d+)?(?=Z|[+-]|$)", re.IGNORECASE)
_END_OF_DAY: Final = re.compile(r"(T|\s)24:00(:00(?:\.0+)?)?(?=Z|[+-]|$)", re.IGNORECASE)
_ZONE: Final = re.compile(r"(Z|[+-]\d\d(:?\d\d)?)$", re.IGNORECASE)


def of_texts(texts: pd.Series) -> pd.Series:
    """Instants of texts, `datetime64[us, UTC]`; null where a text names no instant.

    A leap second is the last microsecond of its minute, so it stays on its day. A text without a
    zone names no instant: whose clock it was is not known.
    """
    return pd.Series(
        [_one(text) for text in texts], index=texts.index, dtype="datetime64[us, UTC]"
    )


def _one(text: object) -> pd.Timestamp | None:
    if not isinstance(text, str) or not _ZONE.search(text.strip()):
        return None
    plain = _LEAP.sub(r"\g<1>\g<2>:59.999999", text.strip())
    next_day = _END_OF_DAY.search(plain) is not None
    plain = _END_OF_DAY.sub(r"\g<1>00:00:00", plain)
    try:
        found = pd.Timestamp(plain).tz_convert("UTC")
    except (ValueError, TypeError, OverflowError):
        return None
    if pd.isna(found):
        return None
    return found + pd.Timedelta(days=1) if next_day else found
