"""Reads and writes instants: the one place that says what text names a moment.

The text is ISO 8601 (RFC 3339 and its usual relatives) with a zone: `2026-09-30T08:00:00Z`. Two forms
are legal and refused by most readers: a leap second, `23:59:60` (RFC 3339, 5.7), which is the last
microsecond of its minute so that it stays on its day, and `24:00:00` (ISO 8601-1, 5.3.2), the midnight
that ends its day. A time without a zone names no instant: whose clock it was is not known. Week dates
and ordinal dates are refused: people type them by mistake.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from dialframe.errors import ConfigError

#: What a caller may give where an instant is asked for.
When = datetime | date | str

_DAY: Final = re.compile(r"(\d{4})-(\d\d)-(\d\d)", re.ASCII)
_INSTANT: Final = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)[T ](?P<hour>\d\d):?(?P<minute>\d\d)"
    r"(?::?(?P<second>\d\d)(?:[.,](?P<fraction>\d+))?)?"
    r"\s?(?P<zone>Z|[+-]\d\d(?::?\d\d)?)",
    re.ASCII | re.IGNORECASE,
)
_AGE: Final = re.compile(r"(\d{1,6})\s*([smhdw])")
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}

_LEAP_SECOND: Final = 60
_END_OF_DAY: Final = 24


def parse(text: str) -> datetime | None:
    """The instant, UTC, that ISO 8601 text with a zone names (digits behind the microsecond are cut off), or None.

    Example:
        >>> parse("2016-12-31T23:59:60Z").isoformat()
        '2016-12-31T23:59:59.999999+00:00'
        >>> parse("2026-09-30T08:00:00") is None
        True
    """
    match = _INSTANT.fullmatch(text.strip())
    if match is None:
        return None
    hour, minute = int(match["hour"]), int(match["minute"])
    second = int(match["second"] or 0)  # ISO 8601-1, 5.3.1.3: to the minute is a time too
    micros = int((match["fraction"] or "0")[:6].ljust(6, "0"))
    days = 0
    # RFC 3339, 5.7: the last microsecond of the minute, so that it stays on its day.
    if second == _LEAP_SECOND:
        second, micros = 59, 999_999
    if hour == _END_OF_DAY:
        # ISO 8601-1, 5.3.2: 24 is the end of the day and no hour of it.
        if minute or second or micros:
            return None
        hour, days = 0, 1
    try:
        offset = _offset(match["zone"])
        local = datetime.combine(
            date.fromisoformat(match["day"]), time(hour, minute, second, micros), UTC
        )
        return local - offset + timedelta(days=days)
    except (ValueError, OverflowError):
        return None


def to_text(at: datetime) -> str:
    """An aware datetime as `parse` reads it again: UTC with `Z`, milliseconds, or microseconds where there are any.

    Example:
        >>> to_text(datetime(2026, 9, 30, 8, tzinfo=UTC))
        '2026-09-30T08:00:00.000Z'
    """
    # Contract, Conventions: UTC, and `Z` rather than `+00:00`.
    utc = at.astimezone(UTC).replace(tzinfo=None)
    return (
        utc.isoformat(timespec="microseconds" if utc.microsecond % 1000 else "milliseconds") + "Z"
    )


def instant(name: str, value: When | None) -> datetime | None:
    """The UTC instant that somebody meant, or None where nothing was given.

    Args:
        name: Name of the argument, option or cell, for the message.
        value: An aware datetime, text as `parse` reads it, or a day, which is its midnight in UTC.

    Returns:
        An aware datetime in UTC, or None.

    Raises:
        ConfigError: It is a time without a zone, or no instant at all.

    Example:
        >>> instant("since", "2026-10-01").isoformat()
        '2026-10-01T00:00:00+00:00'
    """
    if value is None:
        return None
    if isinstance(value, str):
        # A day first: it is no instant, and stands for its midnight.
        read = _day(value.strip()) or parse(value)
        if read is None:
            raise ConfigError(_refusal(name, value))
        value = read
    if not isinstance(value, date):
        raise ConfigError(_refusal(name, value))
    if not isinstance(value, datetime):
        return datetime.combine(value, time(0), UTC)
    if value.tzinfo is None:
        raise ConfigError(
            f"{name} has no time zone; say which, as in 2026-09-30T08:00:00Z, or give a day"
        )
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise ConfigError(
            f"{name}={value.isoformat()} is before year 1 or after year 9999 in UTC"
        ) from None


def window(since: When | None, until: When | None) -> tuple[datetime | None, datetime | None]:
    """The UTC instants between which somebody wants rows: from `since` on and before `until`; None for no bound.

    Raises:
        ConfigError: One is no instant, or the window ends before it begins.

    Example:
        >>> window("2026-10-01", None)
        (datetime.datetime(2026, 10, 1, 0, 0, tzinfo=datetime.timezone.utc), None)
    """
    begin, end = instant("since", since), instant("until", until)
    # Equal ends are an empty window, and a fair question.
    if begin is not None and end is not None and begin > end:
        raise ConfigError(f"since={begin.isoformat()} is after until={end.isoformat()}")
    return begin, end


def midnight(name: str, value: When | None) -> datetime | None:
    """The first instant of the UTC day that somebody meant, as `instant` takes it.

    Example:
        >>> midnight("since", "2026-10-01T18:00:00-07:00").isoformat()
        '2026-10-02T00:00:00+00:00'
    """
    at = instant(name, value)
    return None if at is None else datetime.combine(at.date(), time(0), UTC)


def day(name: str, value: When | None) -> date | None:
    """The day that somebody meant (of an instant: its day in UTC), as `instant` takes it.

    Example:
        >>> day("since", "2026-10-01T18:00:00-07:00")
        datetime.date(2026, 10, 2)
    """
    at = instant(name, value)
    return None if at is None else at.date()


def age(name: str, value: object) -> timedelta:
    """The length of an age such as `31d`, `12h` (units s, m, h, d, w) or a timedelta, zero or more.

    Raises:
        ConfigError: It is neither (a bare number has no unit), or negative.

    Example:
        >>> age("max_age", "31d").days
        31
    """
    if isinstance(value, timedelta):
        length = value
    else:
        # A bare number has no unit, and days are not to be guessed.
        match = _AGE.fullmatch(value.strip()) if isinstance(value, str) else None
        if match is None:
            raise ConfigError(
                f"{name} takes a number and a unit (s, m, h, d, w) such as 31d, or a timedelta, not {value!r}"
            )
        length = timedelta(**{_UNITS[match[2]]: int(match[1])})
    if length < timedelta(0):
        raise ConfigError(f"{name} must not be negative")
    return length


def _day(text: str) -> date | None:
    if _DAY.fullmatch(text) is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _offset(zone: str) -> timedelta:
    if zone in {"Z", "z"}:
        return timedelta(0)
    digits = zone[1:].replace(":", "").ljust(4, "0")
    hours, minutes = int(digits[:2]), int(digits[2:])
    # RFC 3339, 5.6: offsets go to 23:59.
    if hours >= _END_OF_DAY or minutes >= _LEAP_SECOND:
        raise ValueError(zone)
    length = timedelta(hours=hours, minutes=minutes)
    return -length if zone[0] == "-" else length


def _refusal(name: str, value: object) -> str:
    text = str(value).strip()
    if isinstance(value, str) and parse(text + "Z") is not None:
        return f"{name} has no time zone; say which, as in 2026-09-30T08:00:00Z, or give a day"
    return (
        f"{name} takes a day such as 2026-09-30 or an instant such as 2026-09-30T08:00:00Z, "
        f"not {value!r}"
    )
