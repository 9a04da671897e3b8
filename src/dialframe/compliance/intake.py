"""What the audit takes in: frames checked at the door, outbound calls apart from the rest; grades nothing.

Rows are never dropped in silence: what is left out is counted under its reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dialframe.compliance.instants import of_texts
from dialframe.errors import ConfigError
from dialframe.frames import CALLBACKS, CALLS, DNC_CHECKS, LEADS, Column, Table
from dialframe.frames.columns import DTYPES

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

#: Stands for an instant that is not known.
UNKNOWN: Final = np.iinfo(np.int64).min

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


@dataclass(frozen=True, eq=False, repr=False)
class Intake:
    """Calls at the door of the audit: the rows as they came, and which of them count for what.

    Frames of the chosen rows are made when they are asked for, so that millions of calls are not
    copied to be counted.

    Attributes:
        rows: All rows, with the columns of `CALLS` that the audit reads, index 0 to n - 1.
        seen: Whether each row is of a call up to the moment, each call once; both directions.
        directed: Whether each row is of an outbound call.
        inbound: Whether it is of an inbound one.
        excluded: Reason to number of calls that are not graded.
        earlier: Rows of outbound calls up to the end of the period, those before it among them.
        positions: Place of each graded call in `earlier`.
    """

    rows: pd.DataFrame
    seen: Flags
    directed: Flags
    inbound: Flags
    excluded: Mapping[str, int]
    earlier: Ints
    positions: Ints

    @cached_property
    def graded(self) -> Ints:
        """Rows of the calls that are graded."""
        return self.earlier[self.positions]

    @cached_property
    def outbound(self) -> pd.DataFrame:
        """Calls that are graded, those of unknown direction among them; with `direction_known`."""
        return self.chosen(self.graded)

    @cached_property
    def history(self) -> pd.DataFrame:
        """Outbound calls up to the end of the period: what counts in windows."""
        return self.chosen(self.earlier)

    @cached_property
    def every(self) -> pd.DataFrame:
        """All calls up to the moment, each once; a request not to be called can come on any."""
        return self.rows[self.seen].reset_index(drop=True)

    def chosen(self, rows: Ints) -> pd.DataFrame:
        """Some rows, in that order, with `direction_known`."""
        part = self.rows if len(rows) == len(self.rows) else self.rows.iloc[rows]
        return part.reset_index(drop=True).assign(direction_known=self.directed[rows])


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
    at = instants(rows["created_at"])
    once = ~repeated(rows["id"])
    seen = once if as_of is None else once & (at <= _us(as_of))
    codes, said = distinct(rows["direction"])
    ways = np.array([*(each.strip().lower() for each in said), ""], dtype=object)
    inbound, outbound = ((ways == way).astype(bool)[codes] for way in ("inbound", "outbound"))
    kept = np.flatnonzero(seen & ~inbound)
    history = kept if until is None else kept[at[kept] < _us(until)]
    inside = history if since is None else history[~_before(at[history], since)]
    counts = {
        INBOUND: int((seen & inbound).sum()),
        LATER: int(once.sum() - seen.sum()),
        REPEATED: int((~once).sum()),
    }
    if since is not None or until is not None:
        counts[OTHER_TIME] = len(kept) - len(inside)
    positions = (
        np.arange(len(history)) if since is None else np.flatnonzero(~_before(at[history], since))
    )
    return Intake(rows, seen, outbound, inbound, MappingProxyType(counts), history, positions)


def instants(at: pd.Series) -> Ints:
    """Instants as microseconds since 1970 in UTC, `UNKNOWN` for null, which is before all others."""
    found: Ints = np.asarray(at.array, dtype="datetime64[us]").view(np.int64)
    return found


def repeated(ids: pd.Series) -> Flags:
    """Whether an id comes again further down; null never does."""
    if ids.empty:
        return np.zeros(0, dtype=bool)
    text = _arrow(ids)
    if not text.null_count and bool(pc.all(pc.less(text[:-1], text[1:])).as_py() in (True, None)):
        return np.zeros(len(ids), dtype=bool)
    found: Flags = (ids.duplicated(keep="last") & ids.notna()).to_numpy(dtype=bool)
    return found


def _us(at: datetime) -> int:
    return int(moment(at).asm8.astype("datetime64[us]").astype(np.int64))


def _before(at: Ints, limit: datetime) -> Flags:
    """Whether an instant lies before a limit; an unknown one does not."""
    found: Flags = (at < _us(limit)) & (at != UNKNOWN)
    return found


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
    keep = rows["phone"].notna()
    if as_of is not None:
        keep &= ~(rows["created_at"] > moment(as_of))
    return only(rows, keep)


def take_checks(checks: pd.DataFrame | None, *, as_of: datetime | None = None) -> pd.DataFrame:
    """Checks of the ledger that have a number, an answer and a time not after the moment.

    Raises:
        ConfigError: A column is missing or an instant has no time zone.
    """
    rows = checked(_or_empty(checks, _CHECKS), DNC_CHECKS, _CHECKS)
    keep = rows["phone"].notna() & rows["listed"].notna() & rows["checked_at"].notna()
    if as_of is not None:
        keep &= rows["checked_at"] <= moment(as_of)
    return only(rows, keep)


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


def only(rows: pd.DataFrame, keep: pd.Series) -> pd.DataFrame:
    """The rows to keep on a fresh index; nothing is copied where that is all of them."""
    told = keep.to_numpy(dtype=bool)
    return rows if told.all() else rows[told].reset_index(drop=True)


def holds(texts: pd.Series, test: Callable[[str], bool]) -> Flags:
    """Whether a test holds for each text, asked once per distinct text; it never holds for null."""
    codes, values = distinct(texts)
    told = np.array([test(each) for each in values] + [False], dtype=bool)
    found: Flags = told[codes]
    return found


def distinct(texts: pd.Series) -> tuple[npt.NDArray[np.int32], list[str]]:
    """The distinct texts, and for each row which of them it has, -1 for null."""
    coded = _arrow(texts).dictionary_encode()
    codes = coded.indices.fill_null(-1) if coded.indices.null_count else coded.indices
    return codes.to_numpy(zero_copy_only=False), coded.dictionary.to_pylist()


def _arrow(texts: pd.Series) -> pa.LargeStringArray:
    """Text as one Arrow array."""
    found = pa.array(texts, type=pa.large_string(), from_pandas=True)
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found


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
    if isinstance(values.dtype, pd.DatetimeTZDtype):
        return False
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
