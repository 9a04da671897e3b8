"""Takes frames in: columns and instants checked, nothing dropped and nothing graded."""

from __future__ import annotations

from datetime import datetime
from typing import Final

import pandas as pd

from dialframe import instants
from dialframe.errors import ConfigError
from dialframe.frames import CALLBACKS, CALLS, DNC_CHECKS, LEADS, Column, Table
from dialframe.frames.columns import DTYPES

_CALLS: Final = (
    "id", "direction", "from_number", "to_number", "created_at", "ended_at", "campaign_id", "disposition",
)  # fmt: skip
#: Columns that some checks read where a frame has them; null throughout where it has not.
_OPTIONAL: Final = ("status", "answered_at", "duration_seconds", "hangup_cause")
_LEADS: Final = ("id", "campaign_id", "phone", "status", "created_at", "updated_at")
_CALLBACKS: Final = ("id", "lead_id", "campaign_id", "scheduled_at", "status")
_CHECKS: Final = ("phone", "listed", "checked_at", "request_id")


def take_calls(calls: pd.DataFrame) -> pd.DataFrame:
    """Columns of the calls table that an audit reads, on a fresh index.

    Raises:
        ConfigError: A column is missing or an instant has no time zone.
    """
    kinds = {column.name: column.kind for column in CALLS.columns}
    absent = {
        name: pd.Series(None, index=calls.index, dtype=DTYPES[kinds[name]])
        for name in _OPTIONAL
        if name not in calls.columns
    }
    return checked(calls.assign(**absent) if absent else calls, CALLS, (*_CALLS, *_OPTIONAL))


def take_leads(leads: pd.DataFrame | None) -> pd.DataFrame:
    """Columns of the leads table; no rows for None.

    Raises:
        ConfigError: A column is missing or an instant has no time zone.
    """
    return checked(_or_empty(leads, _LEADS), LEADS, _LEADS)


def take_checks(checks: pd.DataFrame | None) -> pd.DataFrame:
    """Columns of the ledger of checks; no rows for None.

    Raises:
        ConfigError: A column is missing or an instant has no time zone.
    """
    return checked(_or_empty(checks, _CHECKS), DNC_CHECKS, _CHECKS)


def take_callbacks(callbacks: pd.DataFrame | None) -> pd.DataFrame:
    """Columns of the callbacks table; no rows for None.

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
    return pd.Timestamp(at).tz_convert("UTC").as_unit("us")


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


def _column(series: pd.Series, column: Column, table: Table) -> pd.Series:
    values = series.reset_index(drop=True)
    if column.kind == "instant" and _is_text(values):
        told = [instants.parse(text) if isinstance(text, str) else None for text in values]
        return pd.Series(told, index=values.index, dtype=DTYPES["instant"])
    zoned = isinstance(values.dtype, pd.DatetimeTZDtype)
    if column.kind == "instant" and not zoned and values.notna().any():
        raise ConfigError(
            f"compliance: {column.name} of the {table.name} frame is not an instant with a time "
            "zone; convert it to UTC first"
        )
    try:
        if column.kind == "instant":
            return pd.to_datetime(values, utc=True).astype(DTYPES["instant"])
        return values.astype(DTYPES[column.kind])
    except (TypeError, ValueError) as error:
        raise ConfigError(
            f"compliance: {column.name} of the {table.name} frame cannot be read as "
            f"{column.kind}; pass a frame of the {table.name} table"
        ) from error


def _is_text(values: pd.Series) -> bool:
    """Whether a column is text throughout, some of which may name no instant."""
    if isinstance(values.dtype, pd.DatetimeTZDtype):
        return False
    told = values.dropna()
    return len(told) > 0 and all(isinstance(each, str) for each in told)


def _or_empty(frame: pd.DataFrame | None, names: tuple[str, ...]) -> pd.DataFrame:
    return pd.DataFrame({name: [] for name in names}) if frame is None else frame
