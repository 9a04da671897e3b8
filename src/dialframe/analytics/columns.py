"""What a frame must have on entry, and the arrays made of it; knows frames, not calls.

pandas stops here: past this edge the room works on numpy arrays of known dtype.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import numpy as np
import numpy.typing as npt
import pandas as pd

from dialframe.errors import ConfigError

Mask = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


def require(frame: pd.DataFrame, names: Iterable[str], what: str) -> None:
    """Check that a frame has the columns that follow will read.

    Args:
        frame: The frame that was passed.
        names: Columns that are needed.
        what: What the frame should be: `calls`, `leads`.

    Raises:
        ConfigError: A column is missing.
    """
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise ConfigError(
            f"the {what} frame has no column {missing[0]!r}; pass a frame with the columns of "
            f"the {what} table, as dialframe.frames.empty makes it"
        )


def numbered(values: pd.Series) -> tuple[Ints, list[str]]:
    """Each value's place in the list of distinct values; -1 where it is null."""
    places, distinct = pd.factorize(values)
    return np.asarray(places, dtype=np.int64), [str(value) for value in distinct]


def present(values: pd.Series) -> Mask:
    """True where a value is there."""
    return np.asarray(values.notna(), dtype=bool)


def booleans(values: Mask, unknown: Mask | None = None) -> pd.arrays.BooleanArray:
    """A nullable boolean column; null where `unknown`."""
    mask = np.zeros(len(values), dtype=bool) if unknown is None else unknown
    return pd.arrays.BooleanArray(np.asarray(values, dtype=bool), np.asarray(mask, dtype=bool))


def text(choices: list[str | None], places: Ints) -> pd.api.extensions.ExtensionArray:
    """A text column from places in a list of choices; negative places count from the end."""
    column = pd.array(choices, dtype="str")
    return column.take(np.where(places < 0, places + len(choices), places))


def within(values: pd.Series, since: datetime | None, until: datetime | None) -> Mask:
    """True where an instant is in [since, until); null instants are in no bounded window.

    Raises:
        ConfigError: A bound has no time zone, or they are the wrong way round.
    """
    for name, bound in (("since", since), ("until", until)):
        if bound is not None and bound.tzinfo is None:
            raise ConfigError(
                f"{name}={bound.isoformat()} has no time zone; pass an aware datetime, "
                "datetime(2026, 3, 1, tzinfo=UTC) for instance"
            )
        if bound is not None and getattr(values.dtype, "tz", None) is None:
            raise ConfigError(
                f"column {values.name!r} has no time zone, so {name} cannot be compared with it; "
                "make it UTC, with dt.tz_localize('UTC') for instance"
            )
    if since is not None and until is not None and since > until:
        raise ConfigError(f"since={since.isoformat()} is after until={until.isoformat()}")
    inside = np.ones(len(values), dtype=bool)
    if since is not None:
        inside &= np.asarray(values >= since, dtype=bool)
    if until is not None:
        inside &= np.asarray(values < until, dtype=bool)
    return inside
