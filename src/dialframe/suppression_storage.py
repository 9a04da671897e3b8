"""Keeps the suppression list twice: an SQLite file, and a chained log that alone can rebuild it.

Nothing can give these rows again, so each is held by its hash. A change is in the log before it is committed,
and after it the log notes the SHA-256 of the SQLite file: a file that is not the one noted is compared with the
log row by row, and whichever of the two is whole mends the other. Only where neither is whole is there an error.
How far the list has come stands in two more files (`.head`, one beside the two and one beside their folder), so
that a list of which both copies are gone, or old, is an error too, and never an empty list.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from dialframe import files, sqlite
from dialframe.chained_log import ORIGIN, ChainedLog, Heads, Mark, encoded
from dialframe.errors import StoreError

__all__ = ["ListFile"]

_SCHEMA_VERSION: Final = 2
#: Seconds to wait for another process: an import of a million numbers takes some.
_WAIT_S: Final = 30.0
#: The sum of hashes is kept below this, which SQLite's integers can hold.
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
#: Number of a change, and its hash.
Note = tuple[int, str]


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
        self._heads = Heads(path)
        self._lock = path.with_suffix(".lock")
        self._aside = path.with_name(f"{path.name}.aside")

    @property
    def exists(self) -> bool:
        """Whether anything was ever written, whatever is left of it."""
        paths = (self.path, self._log.path, *self._heads.paths)
        return any(path.exists() for path in paths)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The file as it was written, mended first where it is not; an empty list where there is none.

        Raises:
            StoreError: Neither copy is what was written.
        """
        if not self.exists:
            with _empty() as connection:
                yield connection
            return
        # A reader mends as well: nobody is to be called because a copy was torn.
        if not self._sound():
            self.mend()
        # Before the file is looked at: whoever writes meanwhile makes it newer, and never older.
        noted = self._noted()
        try:
            with closing(sqlite.connect(self.path, read_only=True, busy_s=_WAIT_S)) as connection:
                (version,) = connection.execute("pragma user_version").fetchone()
                _check_version(version, self.path)
                if version == _SCHEMA_VERSION:
                    self._check_last(_chain(connection)[0], noted)
                if version:
                    yield connection
                    return
            # Made, and never written: whoever began it was killed.
            with _empty() as connection:
                yield connection
        except sqlite3.Error as problem:
            raise self._damaged(str(problem)) from problem

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
            # Where the log goes back to if the transaction fails.
            size = self._log.size_bytes
            try:
                with closing(sqlite.connect(self.path, busy_s=_WAIT_S)) as connection:
                    fresh = _prepare(connection, self.path)
                    self._check_last(_chain(connection)[0], self._noted())
                    connection.execute("begin immediate")
                    try:
                        (last,) = connection.execute(
                            "select coalesce(max(seq), 0) from changes"
                        ).fetchone()
                        yield connection
                        # In the log before the commit: a crash between the two leaves a log that is ahead, and mends the file.
                        staged = self._note(connection, last, anew=erasing or fresh)
                        connection.execute("commit")
                    except BaseException:
                        # What the log has of the transaction goes with it.
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
                    mark = _chain(connection)[0]
                self._note_file(mark)
            except sqlite3.Error as problem:
                raise self._damaged(str(problem)) from problem
            except OSError as problem:
                raise StoreError(
                    f"{self.path}: {problem.strerror or problem}; nothing was changed"
                ) from problem

    def problems(self) -> list[str]:
        """What is not as it was written, in words; nothing is changed."""
        noted, harmed = self._noted(), self._heads.read()[1]
        held, logged = self._of_file(), self._of_log()
        if not self.exists:
            return []
        # Each copy by itself, so that it is said which of the two is to be mended.
        words = [
            f"{path.name}: {'it is missing' if not path.exists() else 'it is not what was written'}"
            for path, state in ((self.path, held), (self._log.path, logged))
            if not state.whole
        ]
        if harmed:
            words.append(f"{self._heads.paths[0].name}: it is not what was written")
        if words or (self._sound() and _follows(logged.mark, noted)):
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
        # On a read-only disk nothing can be mended: what is whole and newest may still be read.
        if not os.access(self.path.parent, os.W_OK):
            state = self._of_file()
            last = state.mark.number >= self._of_log().mark.number
            if state.whole and last and _follows(state.mark, self._noted()):
                return []
            raise self._damaged("it is not what was written")
        with files.exclusive(self._lock, wait=True):
            if not self.exists:
                return []
            logged = self._of_log()
            if self._sound() and logged.whole and _follows(logged.mark, self._noted()):
                self._heads.note(logged.mark.number, logged.mark.digest)
                return []
            return self._mend_alone()

    def set_aside(self) -> None:
        """Give both copies another name, where neither is what was written, so that a backup can take their place."""
        with files.exclusive(self._lock, wait=True):
            for path in (self.path, self._log.path):
                if path.exists():
                    path.replace(path.with_name(f"{path.name}.aside"))
            for path in self._heads.paths:
                path.unlink(missing_ok=True)

    def _noted(self) -> Note:
        """How far the list had come when it was last written; a note that was harmed does not count."""
        return self._heads.read()[0] or (0, ORIGIN)

    def _check_last(self, mark: Mark, noted: Note) -> None:
        if not _follows(mark, noted):
            raise self._damaged("it is not the one that was written last")

    def _sound(self) -> bool:
        """Whether the file is the one that the log noted last."""
        # The last line of the log is the file's hash, unless a writer was killed before it.
        noted = self._log.last_text()
        if noted is None or not self.path.is_file():
            return False
        # SQLite left its rollback journal: a writer was killed within a transaction.
        if self.path.with_name(f"{self.path.name}-journal").exists():
            return False
        return noted == encoded({"file": files.digest(self.path)})

    def _mend_alone(self) -> list[str]:
        self._log.cut_torn_end()
        held, logged = self._of_file(), self._of_log()
        if held.whole and (not logged.whole or held.mark.number > logged.mark.number):
            self._check_last(held.mark, self._noted())
            self._renew_log()
            return [f"{self._log.path.name}: written anew from {self.path.name}"]
        if not logged.whole:
            raise self._damaged("neither it nor its second copy is what was written")
        self._check_last(logged.mark, self._noted())
        self._rebuild(logged)
        return [f"{self.path.name}: rebuilt from {self._log.path.name}"]

    def _rebuild(self, logged: _State) -> None:
        """Make the SQLite file again from the log; the old one is kept until a number is forgotten."""
        # Beside it, and renamed when it is whole.
        fresh = self.path.with_suffix(".rebuilt")
        fresh.unlink(missing_ok=True)
        with closing(sqlite.connect(fresh)) as connection:
            _prepare(connection, fresh)
            connection.execute("begin immediate")
            # By number, as they were: what refers to a change finds it again.
            connection.executemany(
                "insert into changes values (?, ?, ?, ?, ?, ?, ?, ?)", logged.changes
            )
            connection.executemany("insert into forgotten values (?, ?)", logged.forgotten)
            connection.executemany(
                "insert into entries values (?, ?, ?)", _entries(logged.changes)
            )
            rows, held = sqlite.counted((*logged.changes, *logged.forgotten), _LIMIT)
            _set_chain(connection, logged.mark, rows, held)
            connection.execute("commit")
        if self.path.exists():
            self.path.replace(self._aside)
        self.path.with_name(f"{self.path.name}-journal").unlink(missing_ok=True)
        files.publish({self.path: fresh})
        self._note_file(logged.mark)

    def _renew_log(self) -> None:
        with closing(sqlite.connect(self.path, busy_s=_WAIT_S)) as connection:
            _prepare(connection, self.path)
            connection.execute("begin immediate")
            staged = self._note(connection, 0, anew=True)
            connection.execute("commit")
            mark = _chain(connection)[0]
        if staged is not None:
            files.publish({self._log.path: staged})
        self._note_file(mark)

    def _note(self, connection: sqlite3.Connection, last: int, *, anew: bool) -> Path | None:
        """Write what changed to the log, inside the transaction; a log that begins anew gets its name later."""
        # The sum over all rows is kept up by what is added, so that a change costs no look at the rest.
        before, rows, held = _chain(connection)
        if anew:
            changes = connection.execute(f"{_CHANGES} order by seq").fetchall()
            forgotten = connection.execute(_FORGOTTEN).fetchall()
            rows, held = sqlite.counted((*changes, *forgotten), _LIMIT)
            mark, staged = self._log.stage(_snapshot(changes, forgotten, before), before)
            _set_chain(connection, mark, rows, held)
            return staged
        new = connection.execute(f"{_CHANGES} where seq > ? order by seq", (last,)).fetchall()
        if new:
            mark = self._log.append({"rows": [_shown(row) for row in new]}, self._at())
            more, digest = sqlite.counted(new, _LIMIT)
            _set_chain(connection, mark, rows + more, (held + digest) % _LIMIT)
        return None

    def _note_file(self, mark: Mark) -> None:
        """Note in the log which file it goes with; without the note the two are compared row by row."""
        with suppress(OSError):
            self._log.append({"file": files.digest(self.path)}, self._at())
        self._heads.note(mark.number, mark.digest)

    def _at(self) -> Mark:
        return self._log.last() or _EMPTY

    def _damaged(self, problem: str) -> StoreError:
        heads = " and ".join(map(str, self._heads.paths))
        return StoreError(
            f"{self.path}: the suppression list cannot be used ({problem}); bring back a copy of it "
            f"(dialframe store restore) before anybody is called; where there is none, remove what is left of "
            f"it with {heads} and begin a new one"
        )

    def _of_file(self) -> _State:
        try:
            with closing(sqlite.connect(self.path, read_only=True, busy_s=_WAIT_S)) as connection:
                (version,) = connection.execute("pragma user_version").fetchone()
                _check_version(version, self.path)
                # Pages first, then what is on the list against the changes, then all rows against the sum of their hashes.
                whole = connection.execute("pragma integrity_check(1)").fetchone() == ("ok",)
                changes = connection.execute(f"{_CHANGES} order by seq").fetchall()
                forgotten = connection.execute(_FORGOTTEN).fetchall()
                entries = connection.execute("select digest, seq, number from entries").fetchall()
                whole = whole and sorted(entries) == sorted(_entries(changes))
                if version == 1:  # from before rows had hashes
                    return _State(_EMPTY, whole, changes, forgotten)
                mark, rows, held = _chain(connection)
                whole = whole and (rows, held) == sqlite.counted((*changes, *forgotten), _LIMIT)
                return _State(mark, whole, changes, forgotten)
        except (sqlite3.Error, TypeError, ValueError):
            return _State()

    def _of_log(self) -> _State:
        changes: list[Row] = []
        forgotten: list[Row] = []
        mark, begun = _EMPTY, False
        for record in self._log.records():
            content = record.content
            # A log without its beginning is the end of something that nobody has.
            if not (record.whole and (begun or "begin" in content or record.mark.number == 1)):
                return _State()
            if "begin" in content:
                changes = [_row(values) for values in content["begin"]["rows"]]
                forgotten = [(bytes.fromhex(m), at) for m, at in content["begin"]["forgotten"]]
            changes += [_row(values) for values in content.get("rows", ())]
            mark, begun = record.mark if "file" not in content else mark, True
        ended = self._log.last() is not None
        return _State(mark, begun and ended, changes, forgotten)


def _empty() -> closing[sqlite3.Connection]:
    """A list without rows, in memory: reading needs no file."""
    connection = sqlite3.connect(":memory:")
    connection.executescript(_SCHEMA)
    return closing(connection)


def _entries(changes: Iterable[Row]) -> list[Row]:
    """What is on the list after all changes: digest, number of the addition, number of the phone."""
    on_list: dict[bytes, Row] = {}
    for seq, action, digest, number, *_ in changes:
        if action == "add":
            on_list[digest] = (digest, seq, number)
        elif action == "remove":
            on_list.pop(digest, None)
    return list(on_list.values())


def _snapshot(changes: Sequence[Row], forgotten: Sequence[Row], before: Mark) -> Iterator[bytes]:
    yield f'{{"before":"{before.digest}","begin":{{"rows":['.encode()
    for index, row in enumerate(changes):
        yield (b"," if index else b"") + encoded(_shown(row))
    yield b'],"forgotten":' + encoded([[mark.hex(), at] for mark, at in forgotten]) + b"}}"


def _shown(row: Row) -> list[Any]:
    return [value.hex() if isinstance(value, bytes) else value for value in row]


def _row(values: Sequence[Any]) -> Row:
    seq, action, digest, *rest = values
    return (seq, action, bytes.fromhex(digest), *rest)


def _chain(connection: sqlite3.Connection) -> tuple[Mark, int, int]:
    row = connection.execute("select number, digest, rows, held from chain").fetchone()
    return (_EMPTY, 0, 0) if row is None else (Mark(row[0], row[1]), row[2], row[3])


def _set_chain(connection: sqlite3.Connection, mark: Mark, rows: int, held: int) -> None:
    connection.execute(
        "insert or replace into chain values (1, ?, ?, ?, ?)",
        (mark.number, mark.digest, rows, held),
    )


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


def _follows(mark: Mark, noted: Note) -> bool:
    """Whether a copy that has come so far is no older than what was noted."""
    number, digest = noted
    # Notes of before had the first half of the hash alone.
    return mark.number > number or (mark.number, mark.digest[:32]) == (number, digest[:32])


def __dir__() -> list[str]:
    """The public names alone."""
    return sorted(__all__)
