"""The sandbox's clock: real time plus whatever it was advanced by, in whole microseconds of UTC."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from typing import Final

SECOND_US: Final = 1_000_000
DAY_US: Final = 86_400 * SECOND_US

#: RFC 3339 with a zone; the years keep every shift to UTC inside what a datetime can hold.
TEXT: Final = re.compile(
    r"(19[7-9]\d|[2-8]\d{3}|9[0-8]\d{2})-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)",
    re.ASCII,
)
# RFC 3339, 5.6, `full-date`.
DAY_TEXT: Final = re.compile(r"(19[7-9]\d|[2-8]\d{3}|9[0-8]\d{2})-\d\d-\d\d", re.ASCII)

_EPOCH: Final = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - naive on purpose, everything here is UTC
_EPOCH_UTC: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MICROSECOND: Final = dt.timedelta(microseconds=1)


def text(instant_us: int) -> str:
    """ISO 8601 in UTC with `Z`: milliseconds, or microseconds where there are any."""
    moment = _EPOCH + dt.timedelta(microseconds=instant_us)
    # The console may set instants to the microsecond; those come back as they were given.
    exact = "microseconds" if instant_us % 1000 else "milliseconds"
    return moment.isoformat(timespec=exact) + "Z"


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


class Clock:
    """Real time, moved forward on request.

    Attributes:
        ahead_us: Microseconds that it is ahead of real time.
    """

    def __init__(self, source: Callable[[], float]) -> None:
        self.ahead_us = 0
        self._source = source

    def now_us(self) -> int:
        """Now, in microseconds since 1970 (UTC), whole milliseconds."""
        # Truncated to milliseconds, so that what is answered is what is stored.
        return int(self._source() * 1000) * 1000 + self.ahead_us

    # Events, Delivery 2: receivers compare the timestamp with their own clock, which nobody advances.
    def real_s(self) -> int:
        """Unix seconds of real time: what a receiver compares a signature with."""
        return int(self._source())
