"""The index of the evidence log: a cache in SQLite that answers by number, run and kind.

It is filled from the log whenever it lags, holds nothing that the log does not, and is made anew where it is
missing, damaged or of another log. No commit of it waits for the disk.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from dialframe.evidence.record import PROHIBITIONS, Record
from dialframe.sqlite import make_private

FILE_NAME: Final = "index.sqlite"
_LAYOUT: Final = 1
_WAIT_S: Final = 30.0
_ROWS: Final = 10_000

_SCHEMA: Final = f"""
    create table records (
        seq integer primary key, kind text not null, at text not null, number text, source text, list text,
        who text, request_id text, run text, detail text,
        says text,     -- what a removal undoes, the state of a write, `listed` of a check
        holds integer  -- whether it prohibits its number until it is taken back, or checked again
    );
    create index records_number on records (number, kind, at) where number is not null;
    create index records_kind on records (kind, at) where kind not in ('check');
    create index records_run on records (run, kind) where run is not null;
    create index records_holds on records (number) where holds;
    create table place (log text not null, batch integer not null, hash text not null, size integer not null);
    pragma user_version = {_LAYOUT};
"""
#: The fact of a record that questions are asked by.
_SAYS: Final = {"check": "listed", "suppression_undone": "undoes", "write": "state"}
COLUMNS: Final = "seq, kind, at, number, source, list, who, request_id, run, detail"

#: The one rule of what stands: a wish that no person took back later, as a whole or by its run or source, and the
#: service's word that a number is listed, as long as it is its last one.
_ENDS: Final = """
    from records u where u.number = p.number and u.at <= :at and (u.at, u.seq) > (p.at, p.seq)
    and u.kind = case p.kind when 'check' then 'check' else 'suppression_undone' end
    and (p.kind = 'check' or u.says is null or u.says in (p.run, p.source))
"""
_STANDS: Final = f"p.holds and p.at <= :at and not exists (select 1 {_ENDS})"
ALWAYS: Final = "9999-12-31T23:59:59.999999Z"


class Place(NamedTuple):
    """How far a reader of the log came."""

    log: str
    batch: int
    hash: str
    size: int


NOWHERE: Final = Place("", 0, "", 0)


@contextmanager
def opened(folder: Path) -> Iterator[sqlite3.Connection]:
    """The index of a folder, in memory where the folder cannot be written to."""
    path = folder / FILE_NAME
    try:
        connection = _connect(path)
    except (OSError, sqlite3.Error):
        # A damaged index is no loss: the log has all of it.
        try:
            discard(folder)
            connection = _connect(path)
        except (OSError, sqlite3.Error):
            connection = sqlite3.connect(":memory:", isolation_level=None)
            connection.executescript(_SCHEMA)
    try:
        yield connection
    finally:
        connection.close()


def discard(folder: Path) -> None:
    """Delete the index, so that it is made anew."""
    for suffix in ("-wal", "-shm", ""):
        (folder / f"{FILE_NAME}{suffix}").unlink(missing_ok=True)


def _connect(path: Path) -> sqlite3.Connection:
    make_private(path)
    connection = sqlite3.connect(path, timeout=_WAIT_S, isolation_level=None)
    try:
        # sqlite.org/wal.html: with a WAL, NORMAL never leaves a broken file; it may lose the last commits, which the
        # log still has.
        connection.execute("pragma journal_mode = wal")
        connection.execute("pragma synchronous = normal")
        connection.execute("begin immediate")
        (version,) = connection.execute("pragma user_version").fetchone()
        if version != _LAYOUT:
            tables = connection.execute("select name from sqlite_schema where type = 'table'")
            for (name,) in tables.fetchall():
                connection.execute(f'drop table "{name}"')
            for statement in filter(str.strip, _SCHEMA.split(";")):
                connection.execute(statement)
        connection.execute("commit")
    except BaseException:
        connection.close()
        raise
    return connection


def place(connection: sqlite3.Connection) -> Place:
    """How far the index came."""
    row = connection.execute("select log, batch, hash, size from place").fetchone()
    return NOWHERE if row is None else Place(*row)


def fill(
    connection: sqlite3.Connection, batches: Iterable[tuple[Place, Sequence[bytes]]], start: Place
) -> None:
    """Take in whole batches of lines; those of another log than before replace everything."""
    (last,) = connection.execute("select coalesce(max(seq), 0) from records").fetchone()
    came_to = start
    if start.size == 0:
        connection.execute("delete from records")
        last = 0
    for end, lines in batches:
        rows = (_row(seq, json.loads(line)) for seq, line in enumerate(lines, last + 1))
        connection.executemany(f"insert into records values ({', '.join('?' * 12)})", rows)
        last += len(lines)
        came_to = end
    connection.execute("delete from place")
    connection.execute("insert into place values (?, ?, ?, ?)", came_to)


def _row(seq: int, content: dict[str, Any]) -> tuple[Any, ...]:
    get, kind = content.get, content["kind"]
    detail = get("detail") or {}
    says = detail.get(_SAYS[kind]) if kind in _SAYS else None
    if kind == "check":
        says = "listed" if says else None
    return (
        seq, kind, content["at"], get("number"), get("source"), get("list"), get("who"),
        get("request_id"), get("run"), json.dumps(detail) if detail else None, says,
        says == "listed" or kind in PROHIBITIONS,
    )  # fmt: skip


def select(
    connection: sqlite3.Connection, conditions: Sequence[str], values: dict[str, Any], order: str
) -> Iterator[Record]:
    """Records that meet every condition."""
    where = f"where {' and '.join(conditions)}" if conditions else ""
    rows = connection.execute(f"select {COLUMNS} from records {where} order by {order}", values)
    while batch := rows.fetchmany(_ROWS):
        for row in batch:
            yield record(row[1:])


def rows(
    connection: sqlite3.Connection, conditions: Sequence[str], values: dict[str, Any]
) -> Iterator[tuple[Any, ...]]:
    """Rows that meet every condition, without `seq`, and what each says."""
    where = f"where {' and '.join(conditions)}" if conditions else ""
    query = f"select {COLUMNS}, says from records {where} order by seq"
    yield from (row[1:] for row in connection.execute(query, values))


def record(row: Sequence[Any]) -> Record:
    """The record of a row without its `seq`."""
    kind, at, number, source, list_, who, request_id, run, detail = row
    return Record(
        kind, datetime.fromisoformat(at), number, source or "", list_, who, request_id, run,
        json.loads(detail) if detail else {},
    )  # fmt: skip


def ask(connection: sqlite3.Connection, subjects: Iterable[tuple[str, str]]) -> None:
    """Put down which numbers are asked for, each under every name that a record may have for it."""
    with suppress(sqlite3.OperationalError):
        connection.execute("drop table temp.asked")
    connection.execute("create temp table asked (name text not null, number text not null)")
    connection.executemany("insert into asked values (?, ?)", subjects)


def standing(
    connection: sqlite3.Connection, at: str, *, asked: bool
) -> Iterator[tuple[str, Record]]:
    """What prohibits numbers at an instant, oldest first: of the asked ones (by their own name), or of all."""
    rows = connection.execute(
        f"select a.number, {_of('p')} from asked a join records p on p.number = a.name where {_STANDS} order by p.at, p.seq"
        if asked
        else f"select p.number, {_of('p')} from records p where {_STANDS} order by p.at, p.seq",
        {"at": at},
    )
    while batch := rows.fetchmany(_ROWS):
        for row in batch:
            yield row[0], record(row[1:])


def wishes(
    connection: sqlite3.Connection, at: str, *, asked: bool
) -> Iterator[tuple[str, Record, datetime | None]]:
    """What ever prohibited numbers up to an instant but the service's own list, and when a person took it back."""
    source = "asked a join records p on p.number = a.name" if asked else "records p"
    rows = connection.execute(
        f"select {'a' if asked else 'p'}.number, {_of('p')}, (select min(u.at) {_ENDS}) from {source} "
        "where p.holds and p.kind <> 'check' and p.number is not null and p.at <= :at order by p.at, p.seq",
        {"at": at},
    )
    while batch := rows.fetchmany(_ROWS):
        for number, *row, ended_at in batch:
            yield number, record(row), ended_at and datetime.fromisoformat(ended_at)


def standing_numbers(connection: sqlite3.Connection, *, checks: bool) -> Iterator[str]:
    """Every number that something prohibits now, as records name it, once."""
    but = "" if checks else "and p.kind <> 'check'"
    query = f"select distinct p.number from records p where {_STANDS} {but}"
    for (number,) in connection.execute(query, {"at": ALWAYS}):
        yield number


def newest_by_run(
    connection: sqlite3.Connection, kind: str, says: Sequence[str]
) -> Iterator[Record]:
    """Of each run (the key of a write) the newest record, where it says one of these."""
    # sqlite.org/lang_select.html: with max(), the other columns are those of its row.
    rows = connection.execute(
        f"select {COLUMNS}, says, max(seq) from records where kind = ? and run is not null group by run, who "
        f"having says in ({', '.join('?' * len(says))}) order by seq",
        (kind, *says),
    )
    for row in rows:
        yield record(row[1:-2])


def newest(connection: sqlite3.Connection, kind: str, at: str) -> Iterator[tuple[str, Record]]:
    """The newest record of a kind of each asked number."""
    # sqlite.org/lang_select.html: with max(), the other columns are those of its row.
    rows = connection.execute(
        f"select a.number, {_of('r')}, max(r.at || printf('%015d', r.seq)) from asked a "
        "join records r on r.number = a.name where r.kind = :kind and r.at <= :at group by a.number",
        {"kind": kind, "at": at},
    )
    for row in rows:
        yield row[0], record(row[1:-1])


def _of(table: str) -> str:
    return ", ".join(f"{table}.{name}" for name in COLUMNS.split(", ")[1:])
