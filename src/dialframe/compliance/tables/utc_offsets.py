"""UTC offsets of time zones, from the zone database of the package `tzdata`, never from the host's.

An evidence pack carries this file, so that its `verify.py` makes the clocks again: it needs Python alone. A host may carry an older database than the one that an audit names. Every zone is read from the
pinned package, so that the same audit gives the same local times on every machine.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from functools import cache, lru_cache
from importlib import metadata, resources
from typing import Final
from zoneinfo import ZoneInfo

#: Clocks never change twice within a week, so one look a week finds every change.
_STEP_S: Final = 7 * 86_400
_NARROW_S: Final = 60
#: Stands for the time before the first and after the last change that is looked for.
ALWAYS: Final = datetime(1, 1, 1)  # noqa: DTZ001 - DuckDB's timestamps are UTC and bare
NEVER: Final = datetime(9999, 12, 31)  # noqa: DTZ001 - the same


@cache
def zone(name: str) -> ZoneInfo:
    """A time zone of the pinned database.

    Args:
        name: IANA name, `America/New_York`.

    Raises:
        ZoneInfoNotFoundError: The database has no such zone.
    """
    try:
        file = resources.files("tzdata").joinpath("zoneinfo", *name.split("/"))
        with file.open("rb") as content:
            return ZoneInfo.from_file(content, key=name)
    # Where a pack is verified there may be the host's database alone.
    except (FileNotFoundError, IsADirectoryError, ModuleNotFoundError):
        return ZoneInfo(name)


def version() -> str:
    """Version of the zone database, `2026.1`; empty where it is the host's."""
    try:
        return metadata.version("tzdata")
    except metadata.PackageNotFoundError:
        return ""


def offsets(
    names: Iterable[str], first: date, last: date
) -> list[tuple[str, datetime, datetime, timedelta]]:
    """Offsets of zones between two days.

    Returns:
        Rows of zone, first instant (UTC, without a zone), first instant after, and local time
        minus UTC. The rows of a zone follow one another without a gap.
    """
    return [
        (name, since, until, offset)
        for name in names
        for since, until, offset in _spans(name, first, last)
    ]


@lru_cache(maxsize=1024)
def _spans(name: str, first: date, last: date) -> tuple[tuple[datetime, datetime, timedelta], ...]:
    clock = zone(name)
    start = int(datetime.combine(first, time(), UTC).timestamp())
    end = int(datetime.combine(last, time(), UTC).timestamp()) + _STEP_S
    changes: list[tuple[datetime, int]] = [(ALWAYS, _offset(clock, start))]
    for at in range(start, end, _STEP_S):
        low, high = at, at + _STEP_S
        before = _offset(clock, low)
        if _offset(clock, high) == before:
            continue
        while high - low > _NARROW_S:
            middle = (low + high) // 2 // _NARROW_S * _NARROW_S
            low, high = (middle, high) if _offset(clock, middle) == before else (low, middle)
        changes.append(
            (datetime.fromtimestamp(high, UTC).replace(tzinfo=None), _offset(clock, high))
        )
    # Half-open: of two offsets at the instant of a change the later holds.
    ends = [*(since for since, _ in changes[1:]), NEVER]
    return tuple(
        (since, until, timedelta(seconds=offset))
        for (since, offset), until in zip(changes, ends, strict=True)
    )


def _offset(clock: ZoneInfo, at_s: int) -> int:
    shift = datetime.fromtimestamp(at_s, UTC).astimezone(clock).utcoffset() or timedelta(0)
    return int(shift.total_seconds())
