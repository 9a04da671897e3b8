"""How far a stored table can be trusted, as facts and as a sentence; reads checkpoints, walks nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from dialframe.account.list_walk import State
from dialframe.account.sync_report import day_and_time
from dialframe.frames.frame_schemas import DNC_CHECKS, EVENTS, TABLES, Table
from dialframe.store import Store

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Cover:
    """What of a table is stored.

    Attributes:
        begun: Whether a walk was ever begun.
        complete: Whether a walk was finished and none is open.
        synced_at: Start of the last walk that was finished.
        reconciled_at: Start of the last one that read everything.
        covers_from: Creation of the oldest row reached by a first walk that is not finished; None for
            the list's beginning.
        covers_to: Rows created by then are stored, back to `covers_from`; None where nothing is.
        open_from: Rows created after this may be missing: a later walk is not finished.
        synced_from: Rows created before this are older than `synced_at`; None where none are.
        reread_at: Rows created before that are as of this...
        reread_from: ... and those created before this as of `reconciled_at`.
    """

    begun: bool = False
    complete: bool = False
    synced_at: datetime | None = None
    reconciled_at: datetime | None = None
    covers_from: datetime | None = None
    covers_to: datetime | None = None
    open_from: datetime | None = None
    synced_from: datetime | None = None
    reread_at: datetime | None = None
    reread_from: datetime | None = None


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
    wholes = [state.mark.reconciled_at for state in states.values()]
    known_wholes = [instant for instant in wholes if instant is not None]
    return replace(
        cover,
        complete=cover.complete and all(state.complete for state in states.values()),
        reconciled_at=min(known_wholes)
        if known_wholes and len(known_wholes) == len(wholes)
        else None,
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
    return {
        "table": table.name,
        "rows": len(frame),
        "synced_at": _text(cover.synced_at),
        "reconciled_at": _text(cover.reconciled_at),
        # A sync was finished, and nothing was lost since.
        "complete": cover.complete and not missing,
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
        "missing": [damage.sentence for damage in store.missing()],
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
    # The last walk looked at every row, so that none is older than it.
    if cover.reconciled_at is None or cover.reconciled_at == cover.synced_at:
        return ""
    whole_at = day_and_time(cover.reconciled_at)
    if cover.synced_from is None:
        return f"Some of its rows were last read again at {whole_at}."
    before = f"Rows created before {day_and_time(cover.synced_from)} were last read again at "
    reread_at, reread_from = cover.reread_at, cover.reread_from
    if reread_at is None or reread_from is None or reread_at == cover.synced_at:
        return f"{before}{whole_at}."
    return (
        f"{before}{day_and_time(reread_at)}, those created before {day_and_time(reread_from)} "
        f"at {whole_at}."
    )


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
        reconciled_at=mark.reconciled_at,
        covers_to=mark.synced_at,
        open_from=None if walk is None else mark.watermark_at,
        synced_from=mark.synced_from,
        reread_at=mark.reread_at,
        reread_from=mark.reread_from,
    )


def _text(instant: datetime | None) -> str | None:
    return None if instant is None else instant.isoformat()
