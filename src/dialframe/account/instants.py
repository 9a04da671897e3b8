"""What people write for instants and ages, read strictly; knows no tables."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from dialframe.errors import ConfigError

When = datetime | date | str

_AGE: Final = re.compile(r"(\d{1,6})\s*([smhdw])")
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def instant(name: str, value: When | None) -> datetime | None:
    """The UTC instant that somebody meant, or None.

    Args:
        name: Name of the argument, for the message.
        value: An aware datetime, ISO 8601 text with a zone, or a day, which is its midnight UTC.

    Raises:
        ConfigError: It is a time without a zone, or no instant at all.
    """
    if value is None:
        return None
    if isinstance(value, str):
        value = _parsed(name, value)
    if not isinstance(value, datetime):
        return datetime.combine(value, time(0), UTC)
    if value.tzinfo is None:
        raise ConfigError(
            f"{name} has no time zone; say which, as in 2026-09-30T08:00:00Z, or give a day"
        )
    return value.astimezone(UTC)


def midnight(name: str, value: When | None) -> datetime | None:
    """The beginning of the UTC day of an instant that somebody meant, or None.

    Raises:
        ConfigError: It is a time without a zone, or no instant at all.
    """
    found = instant(name, value)
    return None if found is None else datetime.combine(found.date(), time(0), UTC)


def age(name: str, value: object) -> timedelta:
    """An age such as `31d`, `12h` or a timedelta.

    Raises:
        ConfigError: It is neither (a bare number has no unit), or negative.
    """
    if isinstance(value, timedelta):
        found = value
    else:
        match = _AGE.fullmatch(value.strip()) if isinstance(value, str) else None
        if match is None:
            raise ConfigError(
                f"{name} takes a number and a unit (s, m, h, d, w) such as 31d, or a timedelta, not {value!r}"
            )
        found = timedelta(**{_UNITS[match[2]]: int(match[1])})
    if found < timedelta(0):
        raise ConfigError(f"{name} must not be negative")
    return found


def _parsed(name: str, text: str) -> datetime | date:
    try:
        if len(text) == len("2026-09-30"):
            return date.fromisoformat(text)
        return datetime.fromisoformat(text)
    except ValueError:
        raise ConfigError(
            f"{name} takes a day such as 2026-09-30 or an instant such as 2026-09-30T08:00:00Z, "
            f"not {text!r}"
        ) from None
