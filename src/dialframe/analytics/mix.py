"""What a call's chance of a person depends on beside the thing under study: hour, source, attempt, age, place."""

from __future__ import annotations

from typing import Final

import numpy as np

from dialframe.analytics.clock import Local, local
from dialframe.analytics.columns import NO_TIME, Ints, Mask, micros, numbered
from dialframe.analytics.dials import Dials
from dialframe.analytics.logistic import Fit, fit

#: Attempts are told apart up to this one.
MOST_ATTEMPTS: Final = 8
#: Days of a lead's age at which a new band begins.
AGE_BANDS: Final = (1, 7, 30)

SOURCE: Final = "lead_source"


def clock_of(found: Dials) -> Local:
    """The clock of the person called, of each attempt."""
    if "clock" not in found.known:
        found.known["clock"] = local(found.numbers("to_number"), found.when)
    clock: Local = found.known["clock"]
    return clock


def hour_level(clock: Local) -> Ints:
    """Local hour, or 24 where it is not certain."""
    return np.where(clock.known, clock.hour, 24).astype(np.int64)


def weekday_level(clock: Local) -> Ints:
    """Local weekday, or 7 where it is not certain."""
    return np.where(clock.known, clock.weekday, 7).astype(np.int64)


def attempt_level(found: Dials) -> Ints:
    """Attempt less one, the late ones together."""
    return np.minimum(found.attempt, MOST_ATTEMPTS).astype(np.int64) - 1


def source_level(found: Dials, field: str = SOURCE) -> tuple[Ints, list[str]]:
    """Source of each attempt's lead; one for all where leads have no such field."""
    if not len(found.leads) or not _has(found, field):
        return np.zeros(len(found), dtype=np.int64), ["(none)"]
    key = f"field {field}"
    if key not in found.known:
        found.known[key] = found.lead_text(field)
    level: tuple[Ints, list[str]] = found.known[key]
    return level


def age_level(found: Dials) -> Ints:
    """Band of the lead's age at the call; the last one where it is not known."""
    if not len(found.leads) or "created_at" not in found.leads.columns:
        return np.zeros(len(found), dtype=np.int64)
    created = np.append(micros(found.leads["created_at"]), NO_TIME)[found.lead]
    known = created != NO_TIME
    days = np.where(known, found.when - np.where(known, created, 0), 0) / 86_400e6
    band = np.searchsorted(np.array(AGE_BANDS, dtype=float), days, side="right")
    return np.where(known, band, len(AGE_BANDS) + 1).astype(np.int64)


def local_match(found: Dials) -> Mask:
    """Whether caller ID and called number share their area code (North American plan only)."""
    return np.asarray(area(found, "from_number") == area(found, "to_number"))


def area(found: Dials, column: str) -> Ints:
    """Area code of a number; -1 or -2 outside the North American plan, which never match."""
    key = f"area {column}"
    if key not in found.known:
        found.known[key] = _area(found, column)
    codes: Ints = found.known[key]
    return codes


def _area(found: Dials, column: str) -> Ints:
    code, names = numbered(found.calls[column].iloc[found.rows])
    outside = -1 if column == "from_number" else -2
    digits = [int(n[2:5]) if n.startswith("+1") and n[2:5].isdigit() and len(n) == 12 else outside
              for n in names]  # fmt: skip
    return np.array([*digits, outside], dtype=np.int64)[code]


def expected_human(found: Dials, clock: Local) -> Fit:
    """The chance of a person that hour, weekday, source, attempt and local presence give a call."""
    if "human" not in found.known:
        found.known["human"] = _human(found, clock)
    model: Fit = found.known["human"]
    return model


def _human(found: Dials, clock: Local) -> Fit:
    return fit(
        {
            "hour": hour_level(clock),
            "weekday": weekday_level(clock),
            "attempt": attempt_level(found),
            "source": source_level(found)[0],
            "local": local_match(found).astype(np.int64),
        },
        found.flag("human"),
        found.cluster,
    )


def _has(found: Dials, field: str) -> bool:
    if field in found.leads.columns:
        return True
    if "custom_fields" not in found.leads.columns:
        return False
    fields = found.leads["custom_fields"].dropna()
    return bool(fields.astype("str").str.contains(f'"{field}"', regex=False).any())
