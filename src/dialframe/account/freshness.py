"""How far a stored table can be trusted, as facts and as a sentence; reads checkpoints, walks nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from dialframe.account.list_walk import Look, Mark, State
from dialframe.account.sync_report import day_and_time
from dialframe.errors import StoreError
from dialframe.frames.frame_schemas import DNC_CHECKS, EVENTS, LAST_LOOKED_AT, TABLES, Table
from dialframe.instants import age
from dialframe.store import FROM_FILE, Checkpoint, Store

if TYPE_CHECKING:
    import pandas as pd

#: Where a row is not as young as it should be, so many ids of such rows are named.
NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class Cover:
    """What of a table is stored.

    Attributes:
        begun: Whether a walk was ever begun.
        complete: Whether a walk was finished and none is open.
        synced_at: Start of the last walk that was finished.
        covers_from: Creation of the oldest row reached by a first walk that is not finished; None for
            the list's beginning.
        covers_to: Rows created by then are stored, back to `covers_from`; None where nothing is.
        open_from: Rows created after this may be missing: a later walk is not finished.
        looks: Which rows were read when, newest rows first.
        by_campaign: When the rows of each campaign were read, of a table that is a list for each.
        loaded: Whether the rows came from files and no walk of the service's list was ever finished.
    """

    begun: bool = False
    complete: bool = False
    synced_at: datetime | None = None
    covers_from: datetime | None = None
    covers_to: datetime | None = None
    open_from: datetime | None = None
    looks: tuple[Look, ...] = ()
    by_campaign: Mapping[str, datetime] = field(default_factory=dict)
    loaded: bool = False

    @property
    def looked_at(self) -> datetime | None:
        """Every row was read then or later; None where that is not known."""
        known = [*(look.at for look in self.looks), *self.by_campaign.values()]
        return min(known, default=None)


def covered(table: Table, store: Store) -> Cover:
    """What of a table is stored, from its checkpoints."""
    states = {name: State.from_json(value) for name, value in store.states(table.name).items()}
    table_state = states.pop(table.name, None)
    cover = replace(
        _of_state(table_state or State()), begun=table_state is not None or bool(states)
    )
    if not states:
        return cover  # one list; callbacks alone are a list for each campaign
    # A table of several lists is as old as the oldest of them.
    read_at = {
        name.partition("/")[2]: min(look.at for look in state.mark.looks)
        for name, state in states.items()
        if state.mark.looks
    }
    return replace(
        cover,
        complete=cover.complete and all(state.complete for state in states.values()),
        looks=(),
        by_campaign=read_at,
    )


def looked_at(
    table: Table, frame: pd.DataFrame, cover: Cover, time_column: str, as_of: datetime | None
) -> pd.Series[pd.Timestamp]:
    """When each row of a frame was last read from the service, or later: never later than it really was."""
    import pandas as pd

    observed = frame["_observed_at"]
    # What was known at an earlier instant was looked at when it was first seen, as far as is kept.
    if as_of is not None or table in (DNC_CHECKS, EVENTS):
        return observed.rename(LAST_LOOKED_AT.name)
    if cover.by_campaign:
        read_at = frame["campaign_id"].map(dict(cover.by_campaign))
    else:
        created = pd.to_datetime(frame[time_column], utc=True)
        read_at = pd.Series(pd.NaT, index=frame.index, dtype=observed.dtype)
        # From the oldest rows to the newest: each look is for those created at its beginning or later.
        for look in reversed(cover.looks):
            if look.created_from is None:
                read_at[:] = look.at
            else:
                read_at[created >= look.created_from] = look.at
    read_at = pd.to_datetime(read_at, utc=True).astype(observed.dtype)
    read_at = read_at.where(read_at > observed, observed)
    if not cover.loaded:
        # No walk of the service's list looks at what a file brought.
        of_file = frame["_request_id"].str.startswith(FROM_FILE).fillna(value=False)
        read_at = read_at.where(~of_file.to_numpy(bool), observed)
    return read_at.rename(LAST_LOOKED_AT.name)


def check_fresh(frame: pd.DataFrame, fresh: timedelta | str, now: datetime) -> None:
    """Refuse rows that were last read too long ago.

    Args:
        frame: A frame of an account, with `last_looked_at`.
        fresh: The greatest age, such as `24h` or `7d`.
        now: This moment.

    Raises:
        StoreError: A row is older; its table, how many there are, the oldest, and what next.
        ConfigError: `fresh` is no age, or the frame does not say when its rows were read.
    """
    oldest = now - age("fresh", fresh)
    read_at = frame[LAST_LOOKED_AT.name]
    old = frame[~(read_at >= oldest)]
    if old.empty:
        return
    table = frame.attrs.get("dialframe", {}).get("table", "the frame")
    named = ", ".join(str(key) for key in old.iloc[:NAMED, 0])
    since = read_at.min()
    raise StoreError(
        f"{table}: {len(old):,} of {len(frame):,} rows were last looked at before {day_and_time(oldest)} "
        f"({named}), the oldest at {'a time that is not known' if since != since else day_and_time(since)}: "
        "run dialframe sync --whole, sync with more pages a day, or allow a greater age"
    )


def freshness(
    table: Table,
    frame: pd.DataFrame,
    cover: Cover,
    time_column: str,
    as_of: datetime | None,
    missing: Sequence[str] = (),
    beside: Sequence[str] = (),
) -> dict[str, Any]:
    """Facts for a frame's `.attrs`, as JSON values so that they survive a Parquet file."""
    moments = frame[time_column]
    ends = (moments.min(), moments.max()) if len(frame) else (None, None)
    # Days are text already; instants become it, for a Parquet file keeps no others in its metadata.
    oldest, newest = (
        end if end is None or isinstance(end, str) else end.isoformat() for end in ends
    )
    looked = frame[LAST_LOOKED_AT.name].min() if len(frame) else cover.looked_at
    return {
        "table": table.name,
        "rows": len(frame),
        "synced_at": _text(cover.synced_at),
        # Every row of the frame was read then or later.
        "last_looked_at": None if looked is None or looked != looked else looked.isoformat(),
        # A sync was finished, and nothing was lost since.
        "complete": cover.complete and not missing,
        "loaded": cover.loaded,
        "oldest": oldest,
        "newest": newest,
        "as_of": _text(as_of),
        "missing": list(missing),
        "beside": list(beside),
        "sentence": " ".join(
            [sentence(table, cover, as_of), *(f"{damage}." for damage in (*missing, *beside))]
        ),
    }


def facts(store: Store) -> dict[str, Any]:
    """What a store holds and how fresh each table is, as JSON values: no content, no key."""
    info = store.info()
    return {
        "store": str(info.folder),
        "base_url": info.base_url,
        "environment": info.environment,
        "schema_version": info.schema_version,
        "size_bytes": info.size_bytes,
        "forgotten": info.forgotten,
        **{
            name: {table.name: getattr(table, name) for table in info.tables}
            for name in ("rows", "versions", "gone", "quarantined")
        },
        "missing": list(store.missing()),
        "freshness": {
            table.name: sentence(table, covered(table, store)) for table in TABLES.values()
        },
    }


def sentence(table: Table, cover: Cover, as_of: datetime | None = None) -> str:
    """What a person should know before trusting the table."""
    shown = "" if as_of is None else f" Shown as last observed by {day_and_time(as_of)}."
    # The service lists no checks: there is nothing to be synced.
    if table == DNC_CHECKS:
        return f"{table.name}: only numbers that were asked about, each time they were.{shown}"
    # Contract, Events: a receiver gets them without any sync.
    if table == EVENTS and cover.synced_at is None:
        return f"{table.name}: only those that were delivered to a receiver here.{shown}"
    if not cover.begun:
        return f"{table.name}: never synced; run account.sync()."
    if cover.synced_at is None:
        reached = cover.covers_from
        gap = (
            ""
            if reached is None
            else f": rows created before {day_and_time(reached)} are not here yet"
        )
        return f"{table.name}: its first sync is not finished{gap}; run account.sync() to go on.{shown}"
    if cover.loaded:
        return f"{table.name}: what files said that were loaded by {day_and_time(cover.synced_at)}.{shown}"
    words = f"{table.name}: complete as of {day_and_time(cover.synced_at)}"
    if not cover.complete:
        since = (
            "" if cover.open_from is None else f" created after {day_and_time(cover.open_from)}"
        )
        words += (
            f"; a later sync is not finished, so rows{since} may be missing; "
            "run account.sync() to go on"
        )
    return " ".join(part for part in (f"{words}.", older(cover)) if part) + shown


def older(cover: Cover) -> str:
    """What rows are older than the last sync and how old, as a sentence; empty where none are."""
    looked_at, synced_at = cover.looked_at, cover.synced_at
    # The last walk looked at every row, so that none is older than it.
    if looked_at is None or synced_at is None or looked_at >= synced_at:
        return ""
    if cover.by_campaign:
        return f"Some of its rows were last looked at at {day_and_time(looked_at)}."
    head = cover.looks[0].created_from
    before = "Rows" if head is None else f"Rows created before {day_and_time(head)}"
    return f"{before} were last looked at at {day_and_time(looked_at)} or later."


def _of_state(state: State) -> Cover:
    mark, walk = state.mark, state.walk
    # The first walk is still open: what it has read reaches back to its last row.
    if mark.synced_at is None:
        reached = None if walk is None else walk.oldest_at
        started_at = None if walk is None else walk.started_at
        return Cover(covers_from=reached, covers_to=None if reached is None else started_at)
    return Cover(
        complete=state.complete,
        synced_at=mark.synced_at,
        covers_to=mark.synced_at,
        open_from=None if walk is None else mark.watermark_at,
        looks=mark.looks,
        loaded=mark.loaded,
    )


def load_mark(table: Table, at: datetime, store: Store) -> None:
    """Write down that a table holds what files said; where the service's list was walked, that stands.

    The next sync walks the whole list, since nothing of it was covered.
    """
    state = State.from_json(store.state(table.name))
    if state.walk is None and (state.mark.loaded or state.mark.synced_at is None):
        mark = Mark(synced_at=at, looks=(Look(None, at),), loaded=True)
        store.save(Checkpoint(table.name, State(mark).as_json()))


def _text(instant: datetime | None) -> str | None:
    return None if instant is None else instant.isoformat()
