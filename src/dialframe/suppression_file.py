"""Keeps the suppression list twice: an SQLite file, and a chained log that alone can rebuild it.

Nothing can give these rows again, so each is held by its hash. A change is in the log before it is committed,
and after it the log notes the SHA-256 of the SQLite file: a file that is not the one noted is compared with the
log row by row, and whichever of the two is whole mends the other. Only where neither is whole is there an error.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from dialframe import files, sqlite
from dialframe.chained_log import ORIGIN, ChainedLog, Mark
from dialframe.errors import StoreError

__all__ = ["ListFile"]

_SCHEMA_VERSION: Final = 2
_WAIT_S: Final = 30.0
_LIMIT: Final = 1 << 63

_SCHEMA: Final = """
    create table if not exists changes (
        seq integer primary key,
        action text not null check (action in ('add', 'remove', 'push')),
        digest blob not null,     -- SHA-256 of the E.164 text
        number integer,           -- digits of the E.164 number; null where only its hash is known
        reason text not null,
        source text not null,
        "on" text not null,       -- the day of the request, ISO 8601
        at text not null          -- when this row was written, UTC
    );
    create index if not exists changes_digest on changes (digest, seq);
    create table if not exists entries (
        digest blob primary key,
        seq integer not null references changes (seq),
        number integer
    ) without rowid;
    create index if not exists entries_number on entries (number) where number is not null;
    create table if not exists forgotten (mark blob primary key, at text not null) without rowid;
    -- how far the log had come with this file, and the sum of its rows' hashes
    create table if not exists chain (
        id integer primary key check (id = 1),
        number integer not null,
        digest text not null,
        rows integer not null,
        held integer not null
    );
"""
_CHANGES: Final = 'select seq, action, digest, number, reason, source, "on", at from changes'
_FORGOTTEN: Final = "select mark, at from forgotten"
_EMPTY: Final = Mark(0, ORIGIN)

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class _State:
    """What one of the two copies holds, and whether it can be believed."""

    mark: Mark = _EMPTY
    whole: bool = False
    changes: Sequence[Row] = field(default=(), repr=False)
    forgotten: Sequence[Row] = field(default=(), repr=False)


class ListFile:
    """The two copies of one suppression list.

    Args:
        path: The SQLite file; the log and its lock lie beside it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._log = ChainedLog(path.with_suffix(".log"))
        self._lock = path.with_suffix(".lock")
        self._aside = path.with_name(f"{path.name}.aside")

    @property
    def exists(self) -> bool:
        """Whether anything was ever written."""
        return self.path.exists() or self._log.path.exists()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection | None]:
        """The file as it was written, or None where there is none; mended first where it is not.

        Raises:
            StoreError: Neither copy is what was written.
        """
        if not self.exists:
            yield None
            return
        if not self._sound():
            self.mend()
        try:
            with closing(sqlite.connect(self.path, read_only=True, busy_s=_WAIT_S)) as connection:
                (version,) = connection.execute("pragma user_version").fetchone()
                _check_version(version, self.path)
                yield connection if version else None
        except sqlite3.Error as problem:
            raise _damaged(self.path, str(problem)) from problem

    @contextmanager
    def writing(self, *, erasing: bool = False) -> Iterator[sqlite3.Connection]:
        """One transaction; it is kept whole in both copies, or not at all.

        Args:
            erasing: Whether rows are deleted, so that the log begins anew without them.

        Raises:
            StoreError: Neither copy is what was written, or the disk refuses.
        """
        files.folder(self.path.parent)
        with files.exclusive(self._lock, wait=True):
            if self.exists and not self._sound():
                self._mend_alone()
            size = self._log.size_bytes
            try:
                with closing(sqlite.connect(self.path, busy_s=_WAIT_S)) as connection:
                    fresh = _prepare(connection, self.path)
                    connection.execute("begin immediate")
                    try:
                        last = _last_seq(connection)
                        yield connection
                        staged = self._note(connection, last, anew=erasing or fresh)
                        connection.execute("commit")
                    except BaseException:
                        self._log.cut(size)
                        connection.execute("rollback")
                        raise
                    if staged is not None:
                        files.publish({self._log.path: staged})
                    if erasing:
                        # What was erased must not be found in pages that are free now.
                        connection.execute("vacuum")
                        for aside in self.path.parent.glob(f"{self.path.stem}.*.aside"):
                            aside.unlink()
                self._note_file()
            except sqlite3.Error as problem:
                raise _damaged(self.path, str(problem)) from problem
            except OSError as problem:
                raise StoreError(
                    f"{self.path}: {problem.strerror or problem}; nothing was changed"
                ) from problem

    def problems(self) -> list[str]:
        """What is not as it was written, in words; nothing is changed."""
        held, logged = self._of_file(), self._of_log()
        if not self.exists or (logged.whole and self._sound()):
            return []
        words = [
            f"{path.name}: {'it is missing' if not path.exists() else 'it is not what was written'}"
            for path, state in ((self.path, held), (self._log.path, logged))
            if not state.whole
        ]
        if words:
            return words
        behind = self._log.path if held.mark.number > logged.mark.number else self.path
        return [f"{behind.name}: it is not the one that was written last"]

    def mend(self) -> list[str]:
        """Make both copies what was written, from the one that is whole.

        Returns:
            What was done, in words.

        Raises:
            StoreError: Neither copy is what was written, or the disk refuses.
        """
        if not os.access(self.path.parent, os.W_OK):
            state = self._of_file()
            if state.whole and state.mark.number >= self._of_log().mark.number:
                return []
            raise _damaged(self.path, "it is not what was written")
        with files.exclusive(self._lock, wait=True):
            if not self.exists or (self._sound() and self._of_log().whole):
                return []
            return self._mend_alone()

    def set_aside(self) -> None:
        """Give both copies another name, where neither is what was written, so that a backup can take their place."""
        with files.exclusive(self._lock, wait=True):
            for path in (self.path, self._log.path):
                if path.exists():
                    path.replace(path.with_name(f"{path.name}.aside"))

    def _sound(self) -> bool:
        """Whether the file is the one that the log noted last."""
        noted = self._log.last_text()
        if noted is None or not self.path.is_file():
            return False
        if self.path.with_name(f"{self.path.name}-journal").exists():
            return False
        return noted == _file_record(self.path)

    def _mend_alone(self) -> list[str]:
        self._log.cut_torn_end()
        held, logged = self._of_file(), self._of_log()
        if held.whole and (not logged.whole or held.mark.number > logged.mark.number):
            self._renew_log()
            return [f"{self._log.path.name}: written anew from {self.path.name}"]
        if not logged.whole:
            raise _damaged(self.path, "neither it nor its second copy is what was written")
        self._rebuild(logged)
        return [f"{self.path.name}: rebuilt from {self._log.path.name}"]

    def _rebuild(self, logged: _State) -> None:
        """Make the SQLite file again from the log; the old one is kept until a number is forgotten."""
        fresh = self.path.with_suffix(".rebuilt")
        fresh.unlink(missing_ok=True)
        with closing(sqlite.connect(fresh)) as connection:
            _prepare(connection, fresh)
            connection.execute("begin immediate")
            connection.executemany(
                "insert into changes values (?, ?, ?, ?, ?, ?, ?, ?)", logged.changes
            )
            connection.executemany("insert into forgotten values (?, ?)", logged.forgotten)
            connection.executemany(
                "insert into entries values (?, ?, ?)", _entries(logged.changes)
            )
            rows, held = _held(logged.changes, logged.forgotten)
            _set_chain(connection, logged.mark, rows, held)
            connection.execute("commit")
        if self.path.exists():
            self.path.replace(self._aside)
        self.path.with_name(f"{self.path.name}-journal").unlink(missing_ok=True)
        files.publish({self.path: fresh})
        self._note_file()

    def _renew_log(self) -> None:
        with closing(sqlite.connect(self.path, busy_s=_WAIT_S)) as connection:
            _prepare(connection, self.path)
            connection.execute("begin immediate")
            staged = self._note(connection, 0, anew=True)
            connection.execute("commit")
        if staged is not None:
            files.publish({self._log.path: staged})
        self._note_file()

    def _note(self, connection: sqlite3.Connection, last: int, *, anew: bool) -> Path | None:
        """Write what changed to the log, inside the transaction; a log that begins anew gets its name later."""
        before, rows, held = _chain(connection)
        if anew:
            changes = connection.execute(f"{_CHANGES} order by seq").fetchall()
            forgotten = connection.execute(_FORGOTTEN).fetchall()
            rows, held = _held(changes, forgotten)
            mark, staged = self._log.stage(_snapshot(changes, forgotten, before), before)
            _set_chain(connection, mark, rows, held)
            return staged
        new = connection.execute(f"{_CHANGES} where seq > ? order by seq", (last,)).fetchall()
        if new:
            mark = self._log.append(_encoded({"rows": [_shown(row) for row in new]}), self._at())
            more, digest = _held(new, ())
            _set_chain(connection, mark, rows + more, (held + digest) % _LIMIT)
        return None

    def _note_file(self) -> None:
        """Note in the log which file it goes with; without the note the two are compared row by row."""
        with suppress(OSError):
            self._log.append(_file_record(self.path), self._at())

    def _at(self) -> Mark:
        return self._log.last() or _EMPTY

    def _of_file(self) -> _State:
        try:
            with closing(sqlite.connect(self.path, read_only=True, busy_s=_WAIT_S)) as connection:
                (version,) = connection.execute("pragma user_version").fetchone()
                _check_version(version, self.path)
                whole = connection.execute("pragma integrity_check(1)").fetchone() == ("ok",)
                changes = connection.execute(f"{_CHANGES} order by seq").fetchall()
                forgotten = connection.execute(_FORGOTTEN).fetchall()
                entries = connection.execute("select digest, seq, number from entries").fetchall()
                whole = whole and sorted(entries) == sorted(_entries(changes))
                if version == 1:  # from before rows had hashes
                    return _State(_EMPTY, whole, changes, forgotten)
                mark, rows, held = _chain(connection)
                whole = whole and (rows, held) == _held(changes, forgotten)
                return _State(mark, whole, changes, forgotten)
        except (sqlite3.Error, TypeError, ValueError):
            return _State()

    def _of_log(self) -> _State:
        changes: list[Row] = []
        forgotten: list[Row] = []
        mark, begun = _EMPTY, False
        for line in self._log.lines():
            content = json.loads(line.text) if line.whole else None
            if content is None or not (begun or "begin" in content or line.mark.number == 1):
                return _State()
            if "begin" in content:
                changes = [_row(one) for one in content["begin"]["rows"]]
                forgotten = [(bytes.fromhex(m), at) for m, at in content["begin"]["forgotten"]]
            changes += [_row(one) for one in content.get("rows", ())]
            mark, begun = line.mark if "file" not in content else mark, True
        ended = self._log.last() is not None
        return _State(mark, begun and ended, changes, forgotten)


def _entries(changes: Iterable[Row]) -> list[Row]:
    """What is on the list after all changes: digest, number of the addition, number of the phone."""
    on_list: dict[bytes, Row] = {}
    for seq, action, digest, number, *_ in changes:
        if action == "add":
            on_list[digest] = (digest, seq, number)
        elif action == "remove":
            on_list.pop(digest, None)
    return list(on_list.values())


def _held(changes: Sequence[Row], forgotten: Sequence[Row]) -> tuple[int, int]:
    """How many rows there are, and the sum of their hashes."""
    total = 0
    for row in (*changes, *forgotten):
        digest = hashlib.blake2b(repr(tuple(row)).encode("utf-8", "surrogatepass"), digest_size=8)
        total += int.from_bytes(digest.digest())
    return len(changes) + len(forgotten), total % _LIMIT


def _snapshot(changes: Sequence[Row], forgotten: Sequence[Row], before: Mark) -> Iterator[bytes]:
    yield f'{{"before":"{before.digest}","begin":{{"rows":['.encode()
    for place, row in enumerate(changes):
        yield (b"," if place else b"") + _encoded(_shown(row))
    yield b'],"forgotten":' + _encoded([[mark.hex(), at] for mark, at in forgotten]) + b"}}"


def _shown(row: Row) -> list[Any]:
    return [value.hex() if isinstance(value, bytes) else value for value in row]


def _row(values: Sequence[Any]) -> Row:
    seq, action, digest, *rest = values
    return (seq, action, bytes.fromhex(digest), *rest)


def _encoded(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _file_record(path: Path) -> bytes:
    with path.open("rb") as file:
        return _encoded({"file": hashlib.file_digest(file, "sha256").hexdigest()})


def _chain(connection: sqlite3.Connection) -> tuple[Mark, int, int]:
    row = connection.execute("select number, digest, rows, held from chain").fetchone()
    return (_EMPTY, 0, 0) if row is None else (Mark(row[0], row[1]), row[2], row[3])


def _set_chain(connection: sqlite3.Connection, mark: Mark, rows: int, held: int) -> None:
    connection.execute(
        "insert or replace into chain values (1, ?, ?, ?, ?)",
        (mark.number, mark.digest, rows, held),
    )


def _last_seq(connection: sqlite3.Connection) -> int:
    (last,) = connection.execute("select coalesce(max(seq), 0) from changes").fetchone()
    return int(last)


def _prepare(connection: sqlite3.Connection, path: Path) -> bool:
    """Make what is missing of the schema; gives whether the log has nothing of this file yet."""
    (version,) = connection.execute("pragma user_version").fetchone()
    _check_version(version, path)
    if version < _SCHEMA_VERSION:
        connection.executescript(_SCHEMA)
        connection.execute(f"pragma user_version = {_SCHEMA_VERSION}")
    return bool(version < _SCHEMA_VERSION)


def _check_version(version: int, path: Path) -> None:
    if version > _SCHEMA_VERSION:
        raise StoreError(f"{path} is of a newer dialframe; update this one")


def _damaged(path: Path, problem: str) -> StoreError:
    return StoreError(
        f"{path}: the suppression list cannot be used ({problem}); bring back a copy of it "
        "(dialframe store restore) before anybody is called"
    )


def __dir__() -> list[str]:
    """The public names alone."""
    return sorted(__all__)
