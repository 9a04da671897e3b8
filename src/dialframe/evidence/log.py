"""The log itself: one file of JSON lines in batches, each batch ended by a hash over itself and the batch before.

The first line is `{"log":ID,"before":HASH}`, the last of each batch `{"batch":NUMBER,"hash":HASH}`, where the hash is
SHA-256 over the hash before and the lines of the batch; the lines between are records. A batch is on the disk, whole, before `append` returns; what a kill or a full disk left of one has no end, was never
promised to anybody, and is cut off by the next writer. `head` beside the log notes how far it came, so that a log
of which lines are missing is an error and never a shorter log. One lock keeps writers apart; readers need none.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Final

from dialframe import files
from dialframe.errors import StoreError
from dialframe.evidence import index
from dialframe.evidence.index import ALWAYS, NOWHERE, Place
from dialframe.evidence.record import (
    FORGOTTEN,
    HASHED,
    Kind,
    NumberFacts,
    Record,
    hashes_of,
    national_digits,
)
from dialframe.privacy import E164, keyed_mark

FOLDER: Final = "evidence"
FILE_NAME: Final = "log.jsonl"
#: How often, and how far apart, a log is looked at that does not fit its note.
_TRIES: Final = 5
_PAUSE_S: Final = 0.01
_CUT: Final = "lines that were written are missing at its end"
KEYS: Final = "forgotten.key"
#: What the first batch of all follows.
ORIGIN: Final = "0" * 64
START: Final = NOWHERE._replace(hash=ORIGIN)
_END: Final = b'{"batch":'
_BEGIN: Final = b'{"log":'
#: Lines that are encoded and written at once.
_LINES: Final = 5_000
_KEY_BYTES: Final = 32
#: What of a record survives the erasure of its person: that it was so, when, and by which run.
_LASTING: Final = (
    "listed",
    "reason",
    "on",
    "undoes",
    "operation",
    "state",
    "status",
    "index",
    "created_at",
)
_ERASED: Final = "[forgotten]"
#: What people write between digits.
_BETWEEN: Final = rb"[\s().\-/]{0,3}"
#: A shorter run of digits stands in many numbers.
_NATIONAL_DIGITS: Final = 9


class EvidenceLog:
    """The evidence log in a folder; nothing is made before the first record.

    Any number of threads and processes may use one folder. What is read is compared with the hashes as it is
    taken into the index, and again as a whole by `verify`.

    Args:
        folder: Its folder, `STORE/evidence` for that of a store.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / FILE_NAME
        self._mutex = threading.RLock()
        self._depth = 0
        self._forgotten: tuple[str, Mapping[str, list[bytes]]] | None = None

    @classmethod
    def open(cls, folder: Path) -> EvidenceLog:
        """The log in a folder, whether there is one yet or not.

        Args:
            folder: Its folder.

        Returns:
            The log; nothing is made.
        """
        return cls(folder)

    @classmethod
    def beside(cls, store: Path) -> EvidenceLog:
        """The log of a store's folder.

        Args:
            store: The folder that the stores of all accounts lie in.

        Returns:
            The log; nothing is made.
        """
        return cls(store / FOLDER)

    @property
    def exists(self) -> bool:
        """Whether anything was ever written, whatever is left of it."""
        return self.path.exists() or self._head.exists()

    # Writing

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep other writers out while the block looks and appends; it may be entered again by its holder.

        Raises:
            StoreError: The folder cannot be made or locked.
        """
        with self._mutex:
            if self._depth:
                self._depth += 1
                try:
                    yield
                finally:
                    self._depth -= 1
                return
            try:
                files.folder(self.folder)
            except OSError as error:
                raise self._write_error(error) from error
            with files.exclusive(self.folder / "lock", wait=True):
                self._depth = 1
                try:
                    yield
                finally:
                    self._depth = 0

    def append(self, records: Iterable[Record]) -> int:
        """Write records as one batch, all or none, synced to the disk once.

        A number that was forgotten is written down by its keyed hash alone.

        Args:
            records: What happened, oldest first.

        Returns:
            How many.

        Raises:
            StoreError: The disk refuses (nothing was changed then), or the log is not what was written.
        """
        with self.writing():
            # Only where somebody was ever forgotten: a look into the index costs more than a record.
            erased = self._erased_hashes() if (self.folder / KEYS).exists() else {}
            if erased:
                records = (self._without_forgotten(record, erased) for record in records)
            return self._append(records)

    def _append(self, records: Iterable[Record]) -> int:
        lines = (record.encoded() for record in records)
        first = next(lines, None)
        if first is None:
            return 0
        before = self._end_for_writing()
        log, digest, count = before.log, sha256(before.hash.encode()), 0
        try:
            with self._open_for_append() as file:
                try:
                    if not before.size:
                        log = secrets.token_hex(8)
                        _write(file, digest, [_beginning(log, before.hash)])
                    more = [first]
                    while more:
                        count += len(more)
                        _write(file, digest, more)
                        more = list(islice(lines, _LINES))
                    place = _ended(file, Place(log, before.batch + 1, digest.hexdigest(), 0))
                    os.fsync(file.fileno())
                except BaseException:
                    # Whatever ended it, no half of a batch stays where it can be helped.
                    with suppress(OSError):
                        os.ftruncate(file.fileno(), before.size)
                    raise
            if not before.size:
                files.flush_names(self.folder)
        except OSError as error:
            raise self._write_error(error) from error
        self._note(place)
        return count

    def _open_for_append(self) -> BinaryIO:
        descriptor = files.open_in_place(self.path, os.O_RDWR | os.O_APPEND)
        # Unbuffered: a buffer that could not be written would be written again when the file is closed.
        return os.fdopen(descriptor, "ab", buffering=0)

    def _end_for_writing(self) -> Place:
        """Where the next batch goes; the rest of one whose writer was killed is cut off."""
        noted = self._last_noted_place()
        size = self._size()
        if size == noted.size:
            return noted
        end = next(reversed([place for place, _ in self._batches(noted)]), noted)
        if size > end.size:
            try:
                with self._open_for_append() as file:
                    os.ftruncate(file.fileno(), end.size)
            except OSError as error:
                raise self._write_error(error) from error
        return end

    # How far it came

    @property
    def _head(self) -> Path:
        return self.folder / "head"

    def _size(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    def _note(self, place: Place) -> None:
        """Note how far the log came; a disk that refuses leaves the note behind, which is no harm."""
        content = f"{place.log} {place.batch:012} {place.hash} {place.size:015}"
        # Always as long and in one piece: it is never half of two.
        line = f"{content} {sha256(content.encode()).hexdigest()[:8]}\n".encode()
        with suppress(OSError):
            descriptor = files.open_in_place(self._head, os.O_WRONLY)
            try:
                os.pwrite(descriptor, line, 0)
            finally:
                os.close(descriptor)

    def _last_noted_place(self) -> Place:
        """How far the log had come when it was noted last; the beginning where no note can be believed."""
        try:
            content, _, check = self._head.read_text("ascii").strip().rpartition(" ")
            if sha256(content.encode()).hexdigest()[:8] != check:
                return START
            log, batch, digest, size = content.split(" ")
            return Place(log, int(batch), digest, int(size))
        except (OSError, ValueError):
            return START

    # Reading

    def _batches(self, start: Place) -> Iterator[tuple[Place, list[bytes]]]:
        """Whole batches from a place on: where each ends, and the lines of its records.

        Raises:
            StoreError: What is there is not what was written, or lines are missing.
        """
        try:
            with self._steady() as (file, noted, log, before):
                if start.size and log != start.log:
                    raise self._damage_error("it is not the log that was noted")
                if os.fstat(file.fileno()).st_size < start.size:
                    raise self._damage_error(_CUT)
                file.seek(start.size)
                place = start if start.size else Place(log, start.batch, before, 0)
                yield from self._read(file, place, noted)
        except FileNotFoundError:
            return
        except OSError as error:
            raise StoreError(
                f"{self.path}: {error.strerror or error}; it cannot be read"
            ) from error

    @contextmanager
    def _steady(self) -> Iterator[tuple[BinaryIO, Place, str, str]]:
        """The log for reading, how far it had come, its id and the hash that it follows.

        Raises:
            FileNotFoundError: There is none, and never was.
            StoreError: It is shorter than was noted, or another one.
        """
        for attempt in range(_TRIES):
            # The note first: it is written behind the log, which is never shorter than it then.
            noted = self._last_noted_place()
            try:
                with self.path.open("rb") as file:
                    log, before = _log_start(file.readline())
                    size = os.fstat(file.fileno()).st_size
                    if not noted.size or (log == noted.log and size >= noted.size):
                        yield file, noted, log, before
                        return
            except FileNotFoundError:
                if not noted.size:
                    raise
                log, size = "", 0
            # Another process may be putting a new log in the place of this one.
            if attempt + 1 < _TRIES:
                time.sleep(_PAUSE_S)
        raise self._damage_error(
            _CUT if log in ("", noted.log) else "it is not the log that was noted"
        )

    def _read(
        self, file: BinaryIO, place: Place, noted: Place
    ) -> Iterator[tuple[Place, list[bytes]]]:
        lines: list[bytes] = []
        digest = sha256(place.hash.encode())
        at = place.size
        for line in file:
            if not line.endswith(b"\n"):
                break  # half a line, whose writer was killed
            at += len(line)
            if not line.startswith(_END):
                digest.update(line)
                lines.append(line)
                continue
            # The numbers of batches go on when a log is written anew, so the first one names its own.
            number, found = _end_of(line)
            if found != digest.hexdigest() or (place.size and number != place.batch + 1):
                if at > noted.size and not file.read(1):
                    return  # the end of a batch that is being written, or whose writer was killed
                raise self._damage_error(
                    f"bytes {place.size:,} to {at:,} are not what was written"
                )
            place = Place(place.log, number, found, at)
            yield place, [line for line in lines if not line.startswith(_BEGIN)]
            lines = []
            digest = sha256(place.hash.encode())
        if place.size < noted.size:
            raise self._damage_error(
                f"the end from byte {place.size:,} on is not what was written"
            )

    @contextmanager
    def _index(self) -> Iterator[sqlite3.Connection]:
        """The index, with all that was written so far."""
        try:
            with index.opened(self.folder) as connection:
                place = index.place(connection)
                noted = self._last_noted_place()
                size = self._size()
                if place.size != size or place.log != noted.log or place.hash != noted.hash:
                    connection.execute("begin immediate")
                    try:
                        place = index.place(connection)
                        if self._log_id() != place.log:
                            place = START
                        index.fill(connection, self._batches(place), place)
                        connection.execute("commit")
                    except BaseException:
                        connection.execute("rollback")
                        raise
                yield connection
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise StoreError(
                f"{self.folder / index.FILE_NAME}: {error}; delete it, it is made anew from the log"
            ) from error

    def _log_id(self) -> str:
        try:
            with self.path.open("rb") as file:
                return _log_start(file.readline())[0]
        except FileNotFoundError:
            return ""

    def records(
        self,
        kinds: Sequence[Kind] | None = None,
        *,
        numbers: Iterable[str] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        run: str | None = None,
        newest_first: bool = False,
    ) -> Iterator[Record]:
        """Records in the order in which they were written.

        Args:
            kinds: Only these.
            numbers: Only of these numbers, E.164; records that hold a hash of one are among them.
            since: From this instant on.
            until: Before this instant.
            run: Only of this run.
            newest_first: The other way round.

        Yields:
            Records.

        Raises:
            StoreError: The log is not what was written.
        """
        if not self.exists:
            return
        conditions, values = _conditions(kinds, since=since, until=until, run=run)
        with self._index() as connection:
            if numbers is not None:
                index.ask(connection, self._names(connection, numbers))
                conditions.append("number in (select name from asked)")
            order = "seq desc" if newest_first else "seq"
            yield from index.select(connection, conditions, values, order)

    def rows(
        self,
        kinds: Sequence[Kind],
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        only: str | None = None,
    ) -> Iterator[tuple[str | None, ...]]:
        """The same as plain text, for tables of many: columns as `dialframe.evidence.evidence_tables.COLUMNS` has them.

        Args:
            kinds: Only these.
            since: From this instant on.
            until: Before this instant.
            only: Only of this list.

        Yields:
            Rows in the order in which they were written.

        Raises:
            StoreError: The log is not what was written.
        """
        if not self.exists:
            return
        conditions, values = _conditions(kinds, since=since, until=until, list=only)
        with self._index() as connection:
            yield from index.rows(connection, conditions, values)

    def latest(self, numbers: Iterable[str], at: datetime | None = None) -> dict[str, NumberFacts]:
        """The latest facts about numbers: whether one must not be called, what the service said, what was permitted.

        Args:
            numbers: E.164.
            at: The instant; None for everything that was ever written.

        Returns:
            Facts by number, for each number that was asked.

        Raises:
            StoreError: The log is not what was written: nothing that it says may be relied on.
        """
        asked = dict.fromkeys(numbers)
        facts: dict[str, dict[str, Record]] = {number: {} for number in asked}
        if asked and self.exists:
            until = ALWAYS if at is None else _stamp(at)
            with self._index() as connection:
                index.ask(connection, self._names(connection, asked))
                # Oldest first, so that the newest one stays.
                for number, record in index.standing(connection, until, asked=True):
                    facts[number]["prohibition"] = record
                for kind in ("check", "consent"):
                    for number, record in index.newest(connection, kind, until):
                        facts[number][kind] = record
        return {number: NumberFacts(**known) for number, known in facts.items()}

    def standing(
        self, numbers: Iterable[str] | None = None, at: datetime | None = None
    ) -> Iterator[tuple[str, Record]]:
        """Everything that prohibits numbers at an instant, oldest first; a number may come more than once.

        Args:
            numbers: E.164; None for every number.
            at: The instant; None for everything that was ever written.

        Yields:
            The number as it was asked for (as its record names it, where none was), and what prohibits it.

        Raises:
            StoreError: The log is not what was written.
        """
        if not self.exists:
            return
        with self._index() as connection:
            if numbers is not None:
                index.ask(connection, self._names(connection, numbers))
            until = ALWAYS if at is None else _stamp(at)
            yield from index.standing(connection, until, asked=numbers is not None)

    def wishes(
        self, numbers: Iterable[str] | None = None, at: datetime | None = None
    ) -> Iterator[tuple[str, Record, datetime | None]]:
        """Everything that ever prohibited numbers, apart from checks, with its end: what stood at any instant before.

        Args:
            numbers: E.164; None for every number.
            at: Up to this instant; None for everything that was ever written.

        Yields:
            The number as it was asked for (as its record names it, where none was), what prohibits it, and when a
            person took that back (None: it stands). Oldest first.

        Raises:
            StoreError: The log is not what was written.
        """
        if not self.exists:
            return
        with self._index() as connection:
            if numbers is not None:
                index.ask(connection, self._names(connection, numbers))
            until = ALWAYS if at is None else _stamp(at)
            yield from index.wishes(connection, until, asked=numbers is not None)

    def newest_by_run(self, kind: Kind, says: Sequence[str]) -> list[Record]:
        """Of each run the newest record of a kind, where that says one of these: open writes, for one.

        Args:
            kind: The kind.
            says: States of a write.

        Returns:
            The records, in the order in which they were written.

        Raises:
            StoreError: The log is not what was written.
        """
        if not self.exists:
            return []
        with self._index() as connection:
            return list(index.newest_by_run(connection, kind, says))

    def standing_numbers(self, *, checks: bool = True) -> list[str]:
        """Every number that something prohibits now, as records name it; the quick way to all of them.

        Args:
            checks: Whether the service's word that a number is listed counts, however old it is.

        Returns:
            The numbers, each once.

        Raises:
            StoreError: The log is not what was written, or the key of forgotten numbers is missing.
        """
        if not self.exists:
            return []
        with self._index() as connection:
            numbers = list(index.standing_numbers(connection, checks=checks))
        if any(number.startswith(FORGOTTEN) for number in numbers):
            self.forget_keys()
        return numbers

    def _names(
        self, connection: sqlite3.Connection, numbers: Iterable[str]
    ) -> Iterator[tuple[str, str]]:
        """Each number under every name that a record may have for it."""
        has_hashes, has_marks = (
            connection.execute(
                "select 1 from records where number >= ? and number < ? limit 1",
                (prefix, f"{prefix}~"),
            ).fetchone()
            for prefix in (HASHED, FORGOTTEN)
        )
        keys = self.forget_keys() if has_marks else []
        for number in dict.fromkeys(numbers):
            yield number, number
            if number[:1] != "+":
                continue
            if has_hashes:
                for name in hashes_of(number):
                    yield name, number
            for key in keys:
                yield _mark(key, number), number

    # Forgetting

    def forget_keys(self, *, make: bool = False) -> list[bytes]:
        """The keys of forgotten numbers, which lie and move with the log; more than one after a merge of two logs.

        Args:
            make: Whether a key is made where there is none.

        Returns:
            32 bytes each.

        Raises:
            StoreError: The log holds forgotten numbers and the file of the keys is missing or damaged.
        """
        path = self.folder / KEYS
        try:
            if make and not path.exists():
                _write_keys(path, [secrets.token_bytes(_KEY_BYTES)])
            keys = _read_keys(path)
        except (OSError, ValueError):
            keys = []
        if not keys:
            raise StoreError(
                f"{path}: the key of forgotten numbers is missing or damaged; put it back from a backup: "
                "without it they would be called again"
            )
        return keys

    def forget(self, numbers: Iterable[str], now: datetime) -> int:
        """Erase numbers: each is known by a keyed hash alone from now on, and what prohibits it stays.

        Args:
            numbers: E.164.
            now: The present, with a zone.

        Returns:
            How many records were about them or named them.

        Raises:
            StoreError: The disk refuses (nothing was changed then), or the log is not what was written.
        """
        phones = [number for number in dict.fromkeys(numbers) if E164.fullmatch(number)]
        if not phones:
            return 0
        with self.writing():
            key = self.forget_keys(make=True)[0]
            marks = {phone: _mark(key, phone) for phone in phones}
            # A hash that anybody can try is no erasure.
            names = {
                name: mark for phone, mark in marks.items() for name in (phone, *hashes_of(phone))
            }
            pattern = _pattern(phones)
            changed = 0
            # Erased before, and nothing came since: the log stays as it is.
            if len(self.forgotten(phones)) == len(phones) and not any(
                pattern.search(line) for _, lines in self._batches(START) for line in lines
            ):
                return 0

            def erased(line: bytes) -> Iterator[bytes]:
                nonlocal changed
                content = json.loads(line)
                mark = names.get(content.get("number", ""))
                if mark is not None:
                    changed += 1
                    yield _bare(Record.decoded(content), mark).encoded().encode()
                elif pattern.search(line):
                    changed += 1
                    yield pattern.sub(_ERASED.encode(), line)
                else:
                    yield line

            wishes = [
                Record("forgotten", now, mark, detail=_traits(key, phone))
                for phone, mark in marks.items()
            ]
            self._rewrite(erased, wishes)
            return changed

    def forgotten(self, numbers: Iterable[str]) -> set[str]:
        """Which of some numbers belong to persons who were erased, so that a restore erases them again.

        Args:
            numbers: E.164.

        Returns:
            Those of them.

        Raises:
            StoreError: The log holds forgotten numbers and their key is missing.
        """
        erased = self._erased_hashes()
        return {number for number in numbers if _mark_of(number, erased)}

    def erasures(self) -> list[Record]:
        """One `forgotten` record, with its keyed hash, for each person who was erased."""
        return list(self.records(["forgotten"]))

    def _erased_hashes(self) -> Mapping[str, list[bytes]]:
        """Keyed hashes of the forgotten, with the keys to try; empty where nobody was forgotten."""
        log = self._last_noted_place().log
        # Who is forgotten changes with a new log alone.
        if self._forgotten is None or self._forgotten[0] != log or not log:
            marks = [record.number for record in self.records(["forgotten"])]
            keys = self.forget_keys() if marks else []
            self._forgotten = log, {mark: keys for mark in marks if mark is not None}
        return self._forgotten[1]

    def _without_forgotten(self, record: Record, erased: Mapping[str, list[bytes]]) -> Record:
        mark = _mark_of(record.number, erased)
        return record if mark is None else _bare(record, mark)

    def _rewrite(self, change: Callable[[bytes], Iterable[bytes]], more: Sequence[Record]) -> None:
        """Put a log with other lines in the place of this one, chained to where this one ended."""
        end = self._end_for_writing()
        place = end._replace(log=secrets.token_hex(8))

        def fill(file: BinaryIO) -> None:
            nonlocal place
            begun = False
            written = (
                changed
                for _, lines in self._batches(START)
                for changed in [[changed for line in lines for changed in change(line)]]
            )
            for lines in (*written, [record.encoded().encode() for record in more]):
                digest = sha256(place.hash.encode())
                if not begun:
                    lines.insert(0, _beginning(place.log, place.hash).encode())
                begun = True
                _write_hashed(
                    file,
                    digest,
                    b"".join(line if line.endswith(b"\n") else line + b"\n" for line in lines),
                )
                place = _ended(
                    file, place._replace(batch=place.batch + 1, hash=digest.hexdigest())
                )

        try:
            files.sweep(self.folder, FILE_NAME)
            staged = files.stage(self.path, fill)
            # The index first: whoever is killed between the two leaves nothing that holds what was erased.
            index.discard(self.folder)
            for aside in self.folder.glob(f"{FILE_NAME}.*.aside"):
                aside.unlink()
            # An older note fits no log of another name, so that it is gone before the log changes.
            self._head.unlink(missing_ok=True)
            staged.replace(self.path)
            files.flush_names(self.folder)
        except OSError as error:
            raise self._write_error(error) from error
        self._note(place)

    # Whole or not

    def glance(self) -> list[str]:
        """What is wrong with the log as far as opening it shows: lines are missing, or what came last was changed.

        Returns:
            One sentence, or nothing; `verify` reads all of it.
        """
        if not self.exists:
            return []
        try:
            with self._index():
                return []
        except StoreError as error:
            return [str(error)]

    def verify(self) -> list[str]:
        """What is not as it was written, in words; reads all of it, and has the index made anew.

        Returns:
            One sentence for each fault; empty where the log is whole.
        """
        if not self.exists:
            return []
        problem = self._fault()
        if problem is not None:
            return [problem]
        with suppress(OSError):
            index.discard(self.folder)
        try:
            self._forgotten = None
            self._erased_hashes()
        except StoreError as error:
            return [str(error)]
        # An empty note was never written: its writer was killed before, or the disk was full.
        noted = self._head.stat().st_size if self._head.exists() else 0
        if noted and self.path.exists() and not self._last_noted_place().size:
            return [f"{self._head}: it is not what was written; the next record mends it"]
        return []

    def _fault(self) -> str | None:
        """What is wrong with the log itself, every line read."""
        try:
            for _, lines in self._batches(START):
                for line in lines:
                    Record.decoded(json.loads(line))
        except (StoreError, ValueError) as error:
            return str(error)
        return None

    def repair(self) -> list[str]:
        """Make a log that is whole from every record that can still be read; the damaged one is put aside.

        Returns:
            What was done, in words; empty where nothing was to be done.

        Raises:
            StoreError: The disk refuses.
        """
        if not self.exists or self._fault() is None:
            return []
        with self.writing():
            noted = self._last_noted_place()
            readable, lost = self._salvage()
            aside = self.path.with_name(f"{FILE_NAME}.{secrets.token_hex(4)}.aside")
            try:
                if self.path.exists():
                    self.path.replace(aside)
                index.discard(self.folder)
                self._head.unlink(missing_ok=True)
            except OSError as error:
                raise self._write_error(error) from error
            self._append(readable)
        words = f"{self.path}: made anew with the {len(readable):,} records that can be read, {lost:,} lines cannot"
        missing = noted.size - (aside.stat().st_size if aside.exists() else 0)
        if missing > 0:
            words += f", {missing:,} bytes are missing at its end"
        return [
            f"{words}; {aside.name} is the damaged one; store restore takes in what a backup has"
        ]

    def _salvage(self) -> tuple[list[Record], int]:
        readable: list[Record] = []
        lost = 0
        for line in self.path.read_bytes().splitlines() if self.path.exists() else []:
            if line.startswith((_END, _BEGIN)):
                continue
            try:
                readable.append(Record.decoded(json.loads(line)))
            except ValueError:
                lost += 1
        return readable, lost

    def copy_to(self, folder: Path) -> list[Path]:
        """Copy the log with its keys into a folder of a backup, as it is at one moment.

        Args:
            folder: An empty folder, or one that is missing.

        Returns:
            The files that were written; none where there is no log.

        Raises:
            StoreError: The log is not what was written: a copy of it would be no backup.
            OSError: The folder cannot be written.
        """
        if not self.exists:
            return []
        with self.writing():
            problem = self._fault()
            if problem is not None:
                raise StoreError(problem)
            names = (FILE_NAME, KEYS, self._head.name)
            there = [self.folder / name for name in names if (self.folder / name).exists()]
            return [files.write_bytes(path.read_bytes(), folder / path.name) for path in there]

    def take_in(self, other: EvidenceLog) -> int:
        """Add what another log has and this one does not, such as one of a backup; what was erased here stays erased.

        Args:
            other: The other log; it is not changed.

        Returns:
            How many records are new.

        Raises:
            StoreError: One of the two is not what was written, or the disk refuses.
        """
        if not other.exists:
            return 0
        with self.writing():
            theirs = list(other.records())
            ours = {record.encoded() for record in self.records()}
            erased = {record.number for record in theirs if record.kind == "forgotten"}
            erased -= {record.number for record in self.records(["forgotten"])}
            if erased:
                path = self.folder / KEYS
                known = self.forget_keys() if path.exists() else []
                keys = [*known, *(key for key in other.forget_keys() if key not in known)]
                _write_keys(path, keys)
            else:
                keys = []
            here = self._erased_hashes()
            new: dict[str, Record] = {}
            for record in theirs:
                bare = self._without_forgotten(record, here) if here else record
                new.setdefault(bare.encoded(), bare)
            fresh = [record for line, record in new.items() if line not in ours]
            if not erased:
                return self._append(fresh)
            # Whom the other log had erased is erased here, too.
            theirs_erased = {mark: keys for mark in erased if mark is not None}

            def without(line: bytes) -> Iterator[bytes]:
                record = Record.decoded(json.loads(line))
                yield self._without_forgotten(record, theirs_erased).encoded().encode()

            self._rewrite(without, fresh)
            return len(fresh)

    def _damage_error(self, why: str) -> StoreError:
        return StoreError(
            f"the evidence log {self.path} is not what was written ({why}), so nothing that it says can be relied "
            "on: bring it back with dialframe store restore, or keep what can be read with dialframe store repair"
        )

    def _write_error(self, error: OSError) -> StoreError:
        return StoreError(
            f"the evidence log {self.path} cannot be written ({error.strerror or error}); nothing was changed: "
            "make room, or make its folder writable, and run it again"
        )


def _write(file: BinaryIO, digest: Any, lines: Sequence[str]) -> None:
    """Write lines, and take them into the hash."""
    _write_hashed(
        file, digest, "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")
    )


def _write_hashed(file: BinaryIO, digest: Any, data: bytes) -> None:
    digest.update(data)
    rest = memoryview(data)
    # An unbuffered file may take less than it is given.
    while rest:
        rest = rest[file.write(rest) :]


def _ended(file: BinaryIO, place: Place) -> Place:
    """Write the line that ends a batch; gives the place behind it."""
    _write_hashed(
        file, sha256(), b'{"batch":%d,"hash":"%s"}\n' % (place.batch, place.hash.encode())
    )
    return place._replace(size=file.seek(0, os.SEEK_END))


def _beginning(log: str, before: str) -> str:
    return f'{{"log":"{log}","before":"{before}"}}'


def _write_keys(path: Path, keys: Iterable[bytes]) -> None:
    # Each with a check: with a key that was changed, a forgotten number would look like one never seen.
    lines = (f"{key.hex()} {sha256(key).hexdigest()[:8]}\n" for key in keys)
    # What a killed process began is no key, and stays nowhere.
    files.sweep(path.parent, path.name)
    files.write_text("".join(lines), path)


def _read_keys(path: Path) -> list[bytes]:
    keys = []
    for line in path.read_text("ascii").splitlines():
        text, _, check = line.partition(" ")
        key = bytes.fromhex(text)
        if sha256(key).hexdigest()[:8] != check:
            raise ValueError(f"{path} is not what was written")
        keys.append(key)
    return keys


def _bare(record: Record, mark: str) -> Record:
    """What is left of a record whose person was forgotten: that it was so, when, and by which run."""
    detail = {name: value for name, value in record.detail.items() if name in _LASTING}
    return Record(record.kind, record.at, mark, list=record.list, run=record.run, detail=detail)


def _log_start(line: bytes) -> tuple[str, str]:
    """Id of a log and the hash that it follows, of its first line; nothing where that is torn or damaged."""
    try:
        first = json.loads(line)
        return str(first["log"]), str(first["before"])
    except (ValueError, KeyError, TypeError):
        return "", ORIGIN


def _end_of(line: bytes) -> tuple[int, str]:
    try:
        end = json.loads(line)
        return int(end["batch"]), str(end["hash"])
    except (ValueError, KeyError, TypeError):
        return 0, ""


def _mark(key: bytes, number: str) -> str:
    return FORGOTTEN + keyed_mark(key, "phone", number).hex()


def _traits(key: bytes, phone: str) -> dict[str, Any]:
    """What a store needs to find a number by its marks in text: how many digits it has, and the national mark."""
    traits: dict[str, Any] = {"digits": len(phone) - 1}
    # Without the zero of trunk calls: it is written with and without it.
    national = national_digits(phone).lstrip("0")
    if len(national) >= _NATIONAL_DIGITS:
        traits["national"] = {keyed_mark(key, "national", national).hex(): len(national)}
    return traits


def _mark_of(number: str | None, erased: Mapping[str, list[bytes]]) -> str | None:
    """The keyed hash by which a number was forgotten, or None."""
    if not erased or number is None or number[0] != "+":
        return None
    keys = next(iter(erased.values()))
    return next((mark for key in keys if (mark := _mark(key, number)) in erased), None)


def _pattern(phones: Iterable[str]) -> re.Pattern[bytes]:
    """The numbers as people write them, with their country code or, where that is long enough, without."""
    texts = [
        _BETWEEN.join(digit.encode() for digit in phone[1 + cut :])
        for phone in phones
        for cut in range(4)
        if cut == 0 or len(phone) - 1 - cut >= _NATIONAL_DIGITS
    ]
    return re.compile(rb"(?<!\d)\+?(?:" + b"|".join(texts) + rb")(?!\d)")


#: How a question names a bound, and what it means.
_RULES: Final = {
    "since": "at >= :since",
    "until": "at < :until",
    "run": "run = :run",
    "list": "list = :list",
}


def _conditions(
    kinds: Sequence[Kind] | None, **bounds: datetime | str | None
) -> tuple[list[str], dict[str, Any]]:
    """Conditions of a question to the index, and the values in them."""
    given = {name: value for name, value in bounds.items() if value is not None}
    conditions = [_RULES[name] for name in given]
    values: dict[str, Any] = {
        name: _stamp(value) if isinstance(value, datetime) else value
        for name, value in given.items()
    }
    if kinds is not None:
        names = {f"kind{number}": kind for number, kind in enumerate(kinds)}
        conditions.append(f"kind in ({', '.join(f':{name}' for name in names)})")
        values |= names
    return conditions, values


def _stamp(at: datetime) -> str:
    return at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
