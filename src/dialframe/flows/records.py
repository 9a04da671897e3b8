"""What a firm brings to an audit as files: moments, tables of records, declared days; grades nothing."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pandas as pd

from dialframe.compliance import Declared
from dialframe.compliance.calendars import read_declared
from dialframe.errors import ConfigError

_LEAP: Final = re.compile(r"(.*[T ]\d\d:\d\d):60(\.\d+)?(.*)")
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


def instant(name: str, text: str | None) -> datetime | None:
    """An instant from ISO 8601 text with a zone, or a day as its midnight in UTC.

    A leap second (`23:59:60`) is the second after it, as clocks without leap seconds have it.

    Raises:
        ConfigError: The text is neither.
    """
    if text is None:
        return None
    given, extra = text.strip(), timedelta(0)
    leap = _LEAP.fullmatch(given)
    if leap is not None:
        given, extra = f"{leap[1]}:59{leap[3]}", timedelta(seconds=1)
    try:
        at = datetime.fromisoformat(given)
    except ValueError as error:
        raise ConfigError(
            f"{name}: {text!r} is no day and no instant; write 2026-10-01"
        ) from error
    if _DAY.fullmatch(given):
        return at.replace(tzinfo=UTC)
    if at.tzinfo is None:
        raise ConfigError(f"{name}: {text!r} has no time zone; add Z or an offset")
    return at.astimezone(UTC) + extra


def table(path: Path | None) -> pd.DataFrame | None:
    """A CSV file as a frame: names that end in `_at` are instants, all else text.

    Raises:
        ConfigError: An instant cannot be read; the line is named.
        OSError: The file cannot be read.
    """
    if path is None:
        return None
    frame = pd.read_csv(path, dtype="str", keep_default_na=False, na_values=[""])
    for name in frame.columns:
        if not str(name).endswith("_at"):
            continue
        values = []
        for line, text in enumerate(frame[name], start=2):
            told = None if pd.isna(text) else str(text)
            values.append(instant(f"{path}, line {line}, {name}", told))
        frame[name] = pd.Series(values, dtype="datetime64[us, UTC]")
    return frame


def declared(path: Path | None) -> Declared:
    """Declared days of a file; none without one.

    Raises:
        ConfigError: The file does not fit its schema.
        OSError: The file cannot be read.
    """
    if path is None:
        return Declared()
    return read_declared(path.read_text(encoding="utf-8"), name=str(path))
