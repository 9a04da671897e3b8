"""Instants as whole microseconds of UTC and back to the contract's text; knows no clock."""

from __future__ import annotations

import datetime as dt
import re
from typing import Final

SECOND_US: Final = 1_000_000
DAY_US: Final = 86_400 * SECOND_US

#: RFC 3339 with a zone; the years keep every shift to UTC inside what a datetime can hold.
TEXT: Final = re.compile(
    r"(19[7-9]\d|[2-8]\d{3}|9[0-8]\d{2})-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)",
    re.ASCII,
)
DAY_TEXT: Final = re.compile(r"(19[7-9]\d|[2-8]\d{3}|9[0-8]\d{2})-\d\d-\d\d", re.ASCII)

_EPOCH: Final = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - naive on purpose, everything here is UTC
_EPOCH_UTC: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MICROSECOND: Final = dt.timedelta(microseconds=1)


def text(instant_us: int) -> str:
    """ISO 8601 in UTC with `Z`: milliseconds, or microseconds where there are any."""
    moment = _EPOCH + dt.timedelta(microseconds=instant_us)
    exact = "microseconds" if instant_us % 1000 else "milliseconds"
    return moment.isoformat(timespec=exact) + "Z"


def text_or_none(instant_us: int | None) -> str | None:
    """The same, with nothing for nothing."""
    return None if instant_us is None else text(instant_us)


def from_datetime(moment: dt.datetime) -> int:
    """Microseconds of an aware datetime."""
    return (moment - _EPOCH_UTC) // _MICROSECOND


def from_day(day: dt.date) -> int:
    """Microseconds of a day's first instant in UTC."""
    return (day - _EPOCH.date()).days * DAY_US


def day_of(instant_us: int) -> str:
    """The UTC day, as `YYYY-MM-DD`."""
    return text(instant_us)[:10]


def next_midnight(instant_us: int) -> int:
    """The first instant of the next UTC day."""
    return (instant_us // DAY_US + 1) * DAY_US
