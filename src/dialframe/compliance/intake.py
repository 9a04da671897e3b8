"""What the audit takes in: frames checked at the door, outbound calls apart from the rest; grades nothing.

Rows are never dropped in silence: what is left out is counted under its reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from dialframe.compliance.instants import of_texts
from dialframe.errors import ConfigError
from dialframe.frames import CALLBACKS, CALLS, DNC_CHECKS, LEADS, Column, Table
from dialframe.frames.columns import DTYPES

INBOUND: Final = "inbound call"
LATER: Final = "call after the moment of the audit"
OTHER_TIME: Final = "call outside the period"
REPEATED: Final = "second row of a call that is already counted"

_CALLS: Final = (
    "id",
    "direction",
    "from_number",
    "to_number",
    "created_at",
    "ended_at",
    "campaign_id",
    "disposition",
)
#: Columns that some checks read where a frame has them; null throughout where it has not.
_OPTIONAL: Final = ("status", "answered_at", "duration_seconds", "hangup_cause")
_LEADS: Final = ("id", "campaign_id", "phone", "status", "created_at", "updated_at")
_CALLBACKS: Final = ("id", "lead_id", "campaign_id", "scheduled_at", "status")
_CHECKS: Final = ("phone", "listed", "checked_at", "request_id")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Intake:
    """Calls at the door of the audit.

    Attributes:
        outbound: Calls that are graded, those of unknown direction among them; the columns of
            `CALLS` that the audit reads and `direction_known` (boolean), index 0 to n - 1.
        every: All calls up to the moment, both directions, each once; a request not to be called
            can come on either.
        excluded: Reason to number of calls that are not graded.
        history: Outbound calls up to the end of the period, those before it among them; what
            counts in windows.
        positions: Place of each call of `outbound` in `history`.
    """

    outbound: pd.DataFrame
    every: pd.DataFrame
    excluded: Mapping[str, int]
    history: pd.DataFrame
    positions: npt.NDArray[np.int64]


def take_calls(
    calls: pd.DataFrame,
    *,
    as_of: datetime | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> Intake:
    """Calls for the audit, with what is left out counted.

    Args:
        calls: Frame of the calls table.
        as_of: Calls that started later are left out; None keeps all.
        since: First instant of the period; earlier calls are not graded and count in windows.
        until: First instant after the period. A call without a start is graded in any period.

    Raises:
        ConfigError: A column is missing or an instant has no time zone.
    """
    rows = checked(_with_optional(calls), CALLS, (*_CALLS, *_OPTIONAL))
    once = rows[~(rows["id"].duplicated(keep="last") & rows["id"].notna())]
    seen = once if as_of is None else once[~(once["created_at"] > moment(as_of))]
    direction = seen["direction"].str.strip().str.lower()
    kept = seen[(direction != "inbound").to_numpy(dtype=bool)].reset_index(drop=True)
    said = kept["direction"].str.strip().str.lower()
    kept["direction_known"] = (said == "outbound").to_numpy(dtype=bool)
    counts = {
        INBOUND: len(seen) - len(kept),
        LATER: len(once) - len(seen),
        REPEATED: len(rows) - len(once),
    }
    history, graded = _of_period(kept, since, until)
    if since is not None or until is not None:
        counts[OTHER_TIME] = len(kept) - len(graded)
    outbound = kept if len(graded) == len(kept) else history.iloc[graded].reset_index(drop=True)
    return Intake(outbound, seen.reset_index(drop=True), MappingProxyType(counts), history, graded)


def _of_period(
    kept: pd.DataFrame, since: datetime | None, until: datetime | None
) -> tuple[pd.DataFrame, npt.NDArray[np.int64]]:
    """Calls up to the end of a period, and the positions of those in it."""
    at = kept["created_at"]
    history = kept if until is None else kept[~(at >= moment(until))].reset_index(drop=True)
    inside = np.ones(len(history), dtype=bool)
    if since is not None:
        inside = ~(history["created_at"] < moment(since)).to_numpy(dtype=bool)
    return history, np.flatnonzero(inside)


def take_leads(
    leads: pd.DataFrame | None, *, as_of: datetime | None = None, also: tuple[str, ...] = ()
) -> pd.DataFrame:
    """Leads that existed at the moment and have a number; none for None.

    Columns named in `also` are kept as text.

    Raises:
        ConfigError: A column is missing or an instant has no time zone.
    """
    given = _or_empty(leads, _LEADS)
    rows = checked(given, LEADS, _LEADS)
    for name in also:
        if name not in given.columns:
            raise ConfigError(f"compliance: the leads frame has no column {name}; add it first")
        rows[name] = given[name].reset_index(drop=True).astype("str")
    rows = rows[rows["phone"].notna()]
    late = rows["created_at"] > moment(as_of) if as_of is not None else rows["phone"].isna()
    return rows[~late].reset_index(drop=True)


def take_checks(checks: pd.DataFrame | None, *, as_of: datetime | None = None) -> pd.DataFrame:
    """Checks of the ledger that have a number, an answer and a time not after the moment.

    Raises:
        ConfigError: A column is missing or an instant has no time zone.
    """
    rows = checked(_or_empty(checks, _CHECKS), DNC_CHECKS, _CHECKS)
    rows = rows[rows[["phone", "listed", "checked_at"]].notna().all(axis=1)]
    if as_of is not None:
        rows = rows[rows["checked_at"] <= moment(as_of)]
    return rows.reset_index(drop=True)


def take_callbacks(callbacks: pd.DataFrame | None) -> pd.DataFrame:
    """Callbacks; none for None.

    Raises:
        ConfigError: A column is missing or an instant has no time zone.
    """
    return checked(_or_empty(callbacks, _CALLBACKS), CALLBACKS, _CALLBACKS)


def moment(at: datetime) -> pd.Timestamp:
    """An aware moment as a UTC timestamp.

    Raises:
        ConfigError: The moment has no time zone.
    """
    if at.tzinfo is None:
        raise ConfigError(
            "compliance: the moment of the audit has no time zone; pass an aware datetime"
        )
    return pd.Timestamp(at.astimezone(UTC)).as_unit("us")


def checked(frame: pd.DataFrame, table: Table, names: tuple[str, ...]) -> pd.DataFrame:
    """The named columns of a frame with the table's dtypes, on a fresh index.

    Instants may be text with a zone; a text that names none is null, so its row is graded as one
    whose time is missing.

    Raises:
        ConfigError: A column is missing, of another kind, or an instant without a time zone.
    """
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise ConfigError(
            f"compliance: the {table.name} frame has no column {', '.join(missing)}; "
            f"pass a frame of the {table.name} table"
        )
    kinds = {column.name: column for column in table.columns}
    return pd.DataFrame({name: _column(frame[name], kinds[name], table) for name in names})


def shaped(values: Mapping[str, object], columns: tuple[Column, ...]) -> pd.DataFrame:
    """A frame of exactly these columns, in this order, with the dtypes of their kinds."""
    return pd.DataFrame({c.name: pd.Series(values[c.name], dtype=DTYPES[c.kind]) for c in columns})


def look_up(keys: pd.Series, table: pd.Series) -> pd.Series:
    """The value of each key in a table with a unique index, on the index of the keys.

    `Series.map` does the same but changes the dtype when the table is empty.
    """
    return table.reindex(keys).set_axis(keys.index)


def _column(series: pd.Series, column: Column, table: Table) -> pd.Series:
    bare = series.reset_index(drop=True)
    if column.kind == "instant" and _is_text(bare):
        return of_texts(bare)
    if (
        column.kind == "instant"
        and not isinstance(bare.dtype, pd.DatetimeTZDtype)
        and bare.notna().any()
    ):
        raise ConfigError(
            f"compliance: {column.name} of the {table.name} frame is not an instant with a time "
            "zone; convert it to UTC first"
        )
    try:
        if column.kind == "instant":
            return pd.to_datetime(bare, utc=True).astype(DTYPES["instant"])
        return bare.astype(DTYPES[column.kind])
    except (TypeError, ValueError) as error:
        raise ConfigError(
            f"compliance: {column.name} of the {table.name} frame cannot be read as "
            f"{column.kind}; pass a frame of the {table.name} table"
        ) from error


def _is_text(values: pd.Series) -> bool:
    """Whether a column is text throughout, some of which may name no instant."""
    told = values.dropna()
    return len(told) > 0 and all(isinstance(each, str) for each in told)


def _with_optional(calls: pd.DataFrame) -> pd.DataFrame:
    kinds = {column.name: column.kind for column in CALLS.columns}
    absent = [name for name in _OPTIONAL if name not in calls.columns]
    if not absent:
        return calls
    empty = {
        name: pd.Series(None, index=calls.index, dtype=DTYPES[kinds[name]]) for name in absent
    }
    return calls.assign(**empty)


def _or_empty(frame: pd.DataFrame | None, names: tuple[str, ...]) -> pd.DataFrame:
    return pd.DataFrame({name: [] for name in names}) if frame is None else frame
