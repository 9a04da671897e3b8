"""Keeps the suppression list twice: an SQLite file, and a chained log that alone can rebuild it.

Nothing can give these rows again, so each is held by its hash. A change is in the log before it is committed,
and after it the log notes the SHA-256 of the SQLite file: a file that is not the one noted is compared with the
log row by row, and whichever of the two is whole mends the other. Only where neither is whole is there an error.
How far the list has come stands in two more files (`.head`, one beside the two and one beside their folder), so
that a list of which both copies are gone, or old, is an error too, and never an empty list.
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
from dialframe.chained_log import ORIGIN, ChainedLog, Mark, Witness
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

#: Characters of a hash that the heads have.
_NOTED_CHARS: Final = 32

Row = tuple[Any, ...]
#: Number of a change, and its hash with that of the note.
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
        self._lock = path.with_suffix(".lock")
        self._aside = path.with_name(f"{path.name}.aside")

    @property
    def exists(self) -> bool:
        """Whether anything was ever written, whatever is left of it."""
        return any(path.exists() for path in self._files)

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
        # Before the file is looked at: whoever writes meanwhile makes it newer, and never older.
        noted, _ = self._noted()
        try:
            with closing(sqlite.connect(self.path, read_only=True, busy_s=_WAIT_S)) as connection:
                (version,) = connection.execute("pragma user_version").fetchone()
                _check_version(version, self.path)
                if version == _SCHEMA_VERSION:
                    self._check_last(_chain(connection)[0], noted)
                yield connection if version else None
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
            size = self._log.size_bytes
            try:
                with closing(sqlite.connect(self.path, busy_s=_WAIT_S)) as connection:
                    fresh = _prepare(connection, self.path)
                    self._check_last(_chain(connection)[0], self._noted()[0])
                    connection.execute("begin immediate")
                    try:
                        last = _last_seq(connection)
                        yield connection
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
        noted, readable = self._noted()
        held, logged = self._of_file(), self._of_log()
        if not self.exists:
            return []
        words = [
            f"{path.name}: {'it is missing' if not path.exists() else 'it is not what was written'}"
            for path, state in ((self.path, held), (self._log.path, logged))
            if not state.whole
        ]
        if not readable:
            words.append(f"{self._witnesses[0].path.name}: it is not what was written")
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
        if not os.access(self.path.parent, os.W_OK):
            noted, _ = self._noted()
            state = self._of_file()
            last = state.mark.number >= self._of_log().mark.number
            if state.whole and last and _follows(state.mark, noted):
                return []
            raise self._damaged("it is not what was written")
        with files.exclusive(self._lock, wait=True):
            if not self.exists:
                return []
            logged = self._of_log()
            if self._sound() and logged.whole and _follows(logged.mark, self._noted()[0]):
                self._note_heads(logged.mark)
                return []
            return self._mend_alone()

    def set_aside(self) -> None:
        """Give both copies another name, where neither is what was written, so that a backup can take their place."""
        with files.exclusive(self._lock, wait=True):
            for path in (self.path, self._log.path):
                if path.exists():
                    path.replace(path.with_name(f"{path.name}.aside"))
            for witness in self._witnesses:
                witness.path.unlink(missing_ok=True)

    @property
    def _files(self) -> tuple[Path, ...]:
        return (self.path, self._log.path, *(witness.path for witness in self._witnesses))

    @property
    def _witnesses(self) -> tuple[Witness, Witness]:
        # The second one stays where the whole folder is moved away, or an old copy of it brought back.
        return Witness(self.path), Witness(self.path.parent.absolute())

    def _noted(self) -> tuple[Note, bool]:
        """How far the list had come when it was last written, and whether every note of that can be read."""
        notes, readable = [_note_of(_EMPTY)], True
        for witness in self._witnesses:
            try:
                note = witness.last() or notes[0]
            except (OSError, ValueError):
                readable = False
            else:
                # A note that was harmed must not make the list look old.
                whole = note == _note_of(Mark(note[0], note[1][:_NOTED_CHARS]))
                readable = readable and whole
                notes += [note] if whole else []
        return max(notes), readable

    def _note_heads(self, mark: Mark) -> None:
        """Note how far the list has come; a note that the disk refuses is behind, which is no harm."""
        for witness in self._witnesses:
            with suppress(OSError):
                witness.note(*_note_of(mark))

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
        return noted == _file_record(self.path)

    def _mend_alone(self) -> list[str]:
        self._log.cut_torn_end()
        held, logged = self._of_file(), self._of_log()
        if held.whole and (not logged.whole or held.mark.number > logged.mark.number):
            self._check_last(held.mark, self._noted()[0])
            self._renew_log()
            return [f"{self._log.path.name}: written anew from {self.path.name}"]
        if not logged.whole:
            raise self._damaged("neither it nor its second copy is what was written")
        self._check_last(logged.mark, self._noted()[0])
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
            mark = self._log.append(_encoded({"rows": [_shown(row) for row in new]}), self._at())
            more, digest = sqlite.counted(new, _LIMIT)
            _set_chain(connection, mark, rows + more, (held + digest) % _LIMIT)
        return None

    def _note_file(self, mark: Mark) -> None:
        """Note in the log which file it goes with; without the note the two are compared row by row."""
        with suppress(OSError):
            self._log.append(_file_record(self.path), self._at())
        self._note_heads(mark)

    def _at(self) -> Mark:
        return self._log.last() or _EMPTY

    def _damaged(self, problem: str) -> StoreError:
        heads = " and ".join(str(witness.path) for witness in self._witnesses)
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
        for line in self._log.lines():
            content = json.loads(line.text) if line.whole else None
            if content is None or not (begun or "begin" in content or line.mark.number == 1):
                return _State()
            if "begin" in content:
                changes = [_row(values) for values in content["begin"]["rows"]]
                forgotten = [(bytes.fromhex(m), at) for m, at in content["begin"]["forgotten"]]
            changes += [_row(values) for values in content.get("rows", ())]
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


def _snapshot(changes: Sequence[Row], forgotten: Sequence[Row], before: Mark) -> Iterator[bytes]:
    yield f'{{"before":"{before.digest}","begin":{{"rows":['.encode()
    for index, row in enumerate(changes):
        yield (b"," if index else b"") + _encoded(_shown(row))
    yield b'],"forgotten":' + _encoded([[mark.hex(), at] for mark, at in forgotten]) + b"}}"


def _shown(row: Row) -> list[Any]:
    return [value.hex() if isinstance(value, bytes) else value for value in row]


def _row(values: Sequence[Any]) -> Row:
    seq, action, digest, *rest = values
    return (seq, action, bytes.fromhex(digest), *rest)


def _encoded(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _file_record(path: Path) -> bytes:
    return _encoded({"file": files.digest(path)})


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


def _note_of(mark: Mark) -> Note:
    """What the heads have of a mark: its number, and the beginning of its hash with a hash of both."""
    begin = mark.digest[:_NOTED_CHARS]
    check = hashlib.sha256(f"{mark.number} {begin}".encode()).hexdigest()
    return mark.number, begin + check[:_NOTED_CHARS]


def _follows(mark: Mark, noted: Note) -> bool:
    """Whether a copy that has come so far is no older than what was noted."""
    return mark.number > noted[0] or _note_of(mark) == noted


def __dir__() -> list[str]:
    """The public names alone."""
    return sorted(__all__)
