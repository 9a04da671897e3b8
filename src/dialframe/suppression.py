"""The suppression list: numbers that this firm must not call, with source, day and reason of each.

One SQLite file beside the store, and a second copy of it. Nothing in it is overwritten: every addition, removal
and push is a row of its own, and the newest addition or removal of a number says whether it is on the list. A number is
found by the SHA-256 of its E.164 form, so that lists of hashes and lists of numbers meet; a forgotten
number is held as a keyed hash alone, which nobody can undo without the key.

    from datetime import UTC, date, datetime
    from pathlib import Path
    from dialframe.suppression import Entry, SuppressionList

    suppressed = SuppressionList.beside(Path("store"))
    added = Entry("+12025550142", reason="opt_out", source="autumn.csv", on=date(2026, 10, 1))
    suppressed.add([added], datetime.now(UTC))
    suppressed.check(["+12025550142"])
"""

from __future__ import annotations

import hashlib
import sqlite3
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Final, Literal, NamedTuple

from dialframe.errors import ConfigError, StoreError
from dialframe.files import forget_key
from dialframe.privacy import E164, keyed_mark, mask
from dialframe.suppression_storage import ListFile

#: Name of the file in the folder of the store.
FILE_NAME: Final = "suppression.sqlite"
__all__ = ["Action", "Barred", "Change", "Entry", "SuppressionList", "digest_of", "forget_key"]

Action = Literal["add", "remove", "push"]

#: Rows that are written or looked up at once.
_ROWS: Final = 10_000
#: Columns of what is on the list, as `_entry` takes them.
_ENTRIES: Final = (
    'select c.number, c.reason, c.source, c."on", c.digest, c.at '
    "from entries e join changes c using (seq)"
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A number that must not be called.

    Attributes:
        phone: E.164, or None where only its hash is known.
        reason: Why, as a code: `opt_out`, `registry`, `complaint`, `consent_withdrawn`...
        source: Where it comes from: a file's name, `audit`, a person.
        on: The day of the request, or of the list that says so.
        digest: SHA-256 of the E.164 text; made from `phone` where that is given.
        added_at: When it came onto the list, UTC; None before it does.
    """

    phone: str | None
    reason: str
    source: str
    on: date
    digest: bytes = b""
    added_at: datetime | None = None

    def __post_init__(self) -> None:
        if self.phone is not None:
            if E164.fullmatch(self.phone) is None:
                raise ConfigError(f"{mask(self.phone)} is no E.164 number; write +12025550142")
            # Made here, so that a number and its hash are never two entries.
            object.__setattr__(self, "digest", digest_of(self.phone))
        elif len(self.digest) != hashlib.sha256().digest_size:
            raise ConfigError("an entry needs a number or its SHA-256")

    def __repr__(self) -> str:
        return (
            f"Entry({self.shown}, reason={self.reason!r}, source={self.source!r}, on={self.on!s})"
        )

    @property
    def shown(self) -> str:
        """The number, masked; the beginning of its hash where only that is known."""
        return mask(self.phone) if self.phone else f"sha256:{self.digest.hex()[:8]}..."


class Change(NamedTuple):
    """What happened to a number on the list.

    Attributes:
        action: `add`, `remove` or `push` (sent to the service).
        reason: Why, such as `opt_out`.
        source: Who or what asked for it, such as a file.
        on: Day of the request.
        at: When it was written down, UTC.
    """

    action: Action
    reason: str
    source: str
    on: date
    at: datetime


@dataclass(frozen=True, slots=True)
class Barred:
    """Numbers of one or more lists, for looking up many at once.

    Attributes:
        numbers: Digits of E.164 numbers, in order.
        digests: SHA-256 of E.164 numbers of which only that is known.
        marks: Keyed hashes of forgotten numbers.
        key: The key of those.
    """

    numbers: array[int] = field(default_factory=lambda: array("q"))
    digests: frozenset[bytes] = frozenset()
    marks: frozenset[bytes] = frozenset()
    key: bytes = field(default=b"", repr=False)

    @property
    def is_hashed(self) -> bool:
        """Whether a number has to be hashed to be found."""
        return bool(self.digests or self.marks)

    def __len__(self) -> int:
        return len(self.numbers) + len(self.digests) + len(self.marks)

    def __contains__(self, number: int) -> bool:
        # In order, eight bytes each: ten million numbers take 80 MB.
        index = bisect_left(self.numbers, number)
        if index < len(self.numbers) and self.numbers[index] == number:
            return True
        if not self.is_hashed:
            return False
        phone = f"+{number}"
        # Hashing takes a microsecond: only lists that hold hashes pay for it.
        if self.digests and digest_of(phone) in self.digests:
            return True
        return bool(self.marks) and keyed_mark(self.key, "phone", phone) in self.marks

    def joined(self, other: Barred) -> Barred:
        """The numbers of both; only one of the two may hold forgotten numbers.

        Args:
            other: Numbers of another list.

        Returns:
            A new value; both stay as they were.
        """
        return Barred(
            # Sorted, because a number is found by halving.
            array("q", sorted({*self.numbers, *other.numbers})),
            self.digests | other.digests,
            self.marks or other.marks,
            self.key or other.key,
        )


class SuppressionList:
    """The list of one firm in one file; every method opens it, does its work whole, and closes it.

    Args:
        path: The file; made by the first addition, with mode 0600.
        key: Key of forgotten numbers (`forget_key`); needed where there are some.
    """

    def __init__(self, path: Path, *, key: bytes | None = None) -> None:
        self.path = path
        self.file = ListFile(path)
        self._key = key

    @classmethod
    def beside(cls, store: Path, *, key: bytes | None = None) -> SuppressionList:
        """The list in the folder of a store; no file is made before something is added.

        Args:
            store: Folder of the store.
            key: The key of forgotten numbers, where there are any.

        Returns:
            The list.
        """
        return cls(store / FILE_NAME, key=key)

    def add(self, entries: Iterable[Entry], now: datetime) -> int:
        """Put numbers on the list; one that is on it already stays as it is.

        Args:
            entries: What is to be added.
            now: The present, UTC.

        Returns:
            How many are new.

        Raises:
            StoreError: The file is damaged or cannot be written.
        """
        new = 0
        with self.file.writing() as connection:
            # The first addition stays: its day is when the time to honor it began (47 CFR 64.1200(d)(3)).
            for entry in entries:
                if not _is_in(connection, "entries", entry):
                    new += self._add_unforgotten(connection, entry, now)
        return new

    def remove(self, phones: Iterable[str], *, reason: str, source: str, now: datetime) -> int:
        """Take numbers off the list; what stood there before stays as history.

        Args:
            phones: E.164.
            reason: Why they may be called again; must not be empty.
            source: Whose word that is.
            now: The present, UTC.

        Returns:
            How many were on the list.

        Raises:
            ConfigError: There is no reason.
            StoreError: The file is damaged or cannot be written.
        """
        if not reason.strip():
            raise ConfigError("taking a number off the suppression list needs a reason")
        removed = 0
        with self.file.writing() as connection:
            for phone in phones:
                # A row of its own, so that who lifted a request, and why, can be shown.
                entry = Entry(phone, reason, source, now.date())
                if _is_in(connection, "entries", entry):
                    _put(connection, "remove", entry, now)
                    removed += 1
        return removed

    def check(self, phones: Sequence[str]) -> list[Entry | None]:
        """Look numbers up.

        A forgotten number has an entry without source: reason `forgotten`.

        Args:
            phones: Numbers in E.164.

        Returns:
            For each number, in order: its entry, or None where it is not on the list.

        Raises:
            StoreError: The list is damaged, or holds forgotten numbers and there is no key.
        """
        with self.file.reading() as connection:
            # Without the key a forgotten number looks like one that was never listed, and would be called.
            self._check_key(connection)
            return [self._find(connection, phone) for phone in phones]

    def entries(self) -> Iterator[Entry]:
        """What is on the list now.

        Yields:
            Entries, oldest first.
        """
        with self.file.reading() as connection:
            rows = connection.execute(f"{_ENTRIES} order by c.seq")
            # So many at once, as a list may be larger than memory.
            while batch := rows.fetchmany(_ROWS):
                for row in batch:
                    yield _entry(row)

    def history(self, phone: str) -> list[Change]:
        """All that ever happened to a number.

        Args:
            phone: The number in E.164.

        Returns:
            Additions, removals and pushes, oldest first.
        """
        with self.file.reading() as connection:
            rows = connection.execute(
                'select action, reason, source, "on", at from changes where digest = ? order by seq',
                (digest_of(phone),),
            )
            return [
                Change(what, why, whose, date.fromisoformat(on), datetime.fromisoformat(at))
                for what, why, whose, on, at in rows
            ]

    def barred(self) -> Barred:
        """Everything on the list, for looking up many numbers.

        Returns:
            The numbers and hashes, in memory.

        Raises:
            StoreError: The list holds forgotten numbers and there is no key to find them by.
        """
        with self.file.reading() as connection:
            self._check_key(connection)
            marks = [mark for (mark,) in connection.execute("select mark from forgotten")]
            numbers = connection.execute(
                "select number from entries where number is not null order by number"
            )
            digests = connection.execute("select digest from entries where number is null")
            return Barred(
                array("q", (number for (number,) in numbers)),
                frozenset(digest for (digest,) in digests),
                frozenset(marks),
                self._key or b"",
            )

    def unpushed(self) -> list[Entry]:
        """Entries that were not sent to the service since they were added.

        Returns:
            Those that have a number, not only a hash.
        """
        with self.file.reading() as connection:
            rows = connection.execute(
                # A hash cannot be sent: the service takes numbers (contract, Endpoints: Do-Not-Call).
                f"{_ENTRIES} where c.number is not null "
                "and not exists (select 1 from changes p where p.digest = e.digest "
                "and p.action = 'push' and p.seq > e.seq) order by c.seq"
            )
            return [_entry(row) for row in rows]

    def pushed(self, entries: Iterable[Entry], now: datetime) -> None:
        """Write down that entries were sent to the service.

        Args:
            entries: What was sent.
            now: When, with a zone.
        """
        with self.file.writing() as connection:
            for entry in entries:
                _put(connection, "push", entry, now)

    def forget(self, phone: str, now: datetime) -> int:
        """Erase a number and its history, and leave a keyed hash by which it stays suppressed.

        Where the number is not on the list nothing is written: forgetting suppresses nobody.

        Args:
            phone: E.164.
            now: The present, UTC.

        Returns:
            How many rows were erased.

        Raises:
            ConfigError: There is no key.
            StoreError: The file is damaged or cannot be written.
        """
        if not self.file.exists:
            return 0
        if self._key is None:
            raise ConfigError("forgetting a number needs a key; see suppression.forget_key")
        digest = digest_of(phone)
        with self.file.writing(erasing=True) as connection:
            # The history goes with the entry: it holds the number, too.
            listed = connection.execute("delete from entries where digest = ?", (digest,)).rowcount
            erased = connection.execute("delete from changes where digest = ?", (digest,)).rowcount
            # What was not on the list leaves no mark: forgetting must not suppress anybody.
            if listed:
                connection.execute(
                    "insert or ignore into forgotten values (?, ?)",
                    (keyed_mark(self._key, "phone", phone), now.isoformat()),
                )
        return erased

    def take_in(self, other: SuppressionList, now: datetime) -> int:
        """Add what another list has and this one never heard of, such as one from a backup.

        A number that was taken off this list stays off.

        Args:
            other: The other list.
            now: The present, UTC.

        Returns:
            How many numbers are new.

        Raises:
            StoreError: One of the two is damaged or cannot be written.
        """
        theirs = list(other.entries())
        with other.file.reading() as connection:
            # A forgotten number has no entry: its keyed mark alone is taken over.
            marks = connection.execute("select mark, at from forgotten").fetchall()
        new = 0
        with self.file.writing(erasing=bool(marks)) as connection:
            for entry in theirs:
                # A change is enough: whoever was taken off here knows better than the backup.
                if not _is_in(connection, "changes", entry):
                    new += self._add_unforgotten(connection, entry, now)
            for mark in marks:
                new += connection.execute(
                    "insert or ignore into forgotten values (?, ?)", mark
                ).rowcount
        return new

    def __len__(self) -> int:
        with self.file.reading() as connection:
            (count,) = connection.execute(
                "select (select count(*) from entries) + (select count(*) from forgotten)"
            ).fetchone()
            return int(count)

    def _check_key(self, connection: sqlite3.Connection) -> None:
        some = connection.execute("select 1 from forgotten limit 1").fetchone()
        if some is not None and self._key is None:
            raise StoreError(
                f"{self.path} holds forgotten numbers, and the key that they are known by is "
                "missing; put it back, so that none of them is called"
            )

    def _find(self, connection: sqlite3.Connection, phone: str) -> Entry | None:
        # By hash first, which needs no key; marks only for what is not found.
        row = connection.execute(f"{_ENTRIES} where e.digest = ?", (digest_of(phone),)).fetchone()
        if row is not None:
            return _entry(row)
        forgotten_at = self._forgotten_at(connection, phone)
        if forgotten_at is None:
            return None
        return Entry(phone, "forgotten", "", forgotten_at.date(), added_at=forgotten_at)

    def _forgotten_at(self, connection: sqlite3.Connection, phone: str | None) -> datetime | None:
        if self._key is None or phone is None:
            return None
        mark = (keyed_mark(self._key, "phone", phone),)
        row = connection.execute("select at from forgotten where mark = ?", mark).fetchone()
        return None if row is None else datetime.fromisoformat(row[0])

    def _add_unforgotten(
        self, connection: sqlite3.Connection, entry: Entry, now: datetime
    ) -> bool:
        """Put a number down, unless it is held as a keyed hash already; whether it was put."""
        new = self._forgotten_at(connection, entry.phone) is None
        if new:
            _put(connection, "add", entry, now)
        return new


def digest_of(phone: str) -> bytes:
    """SHA-256 of a number.

    Args:
        phone: The number in E.164; its `+` is hashed as well.

    Returns:
        32 bytes.

    Example:
        >>> digest_of('+12025550142').hex()[:12]
        '409483139e44'
    """
    return hashlib.sha256(phone.encode()).digest()


def _is_in(connection: sqlite3.Connection, table: str, entry: Entry) -> bool:
    query = f"select 1 from {table} where digest = ?"
    return connection.execute(query, (entry.digest,)).fetchone() is not None


def _put(connection: sqlite3.Connection, action: Action, entry: Entry, now: datetime) -> None:
    # An integer takes eight bytes where the text takes thirteen.
    number = None if entry.phone is None else int(entry.phone)
    seq = connection.execute(
        'insert into changes (action, digest, number, reason, source, "on", at) '
        "values (?, ?, ?, ?, ?, ?, ?)",
        (action, entry.digest, number, entry.reason, entry.source, entry.on.isoformat(),
         now.isoformat()),
    ).lastrowid  # fmt: skip
    if action == "add":
        # `entries` is what the changes come to, so that a look-up need not replay them.
        connection.execute("insert into entries values (?, ?, ?)", (entry.digest, seq, number))
    elif action == "remove":
        connection.execute("delete from entries where digest = ?", (entry.digest,))


def _entry(row: tuple[int | None, str, str, str, bytes, str]) -> Entry:
    number, reason, source, on, digest, at = row
    return Entry(
        None if number is None else f"+{number}",
        reason,
        source,
        date.fromisoformat(on),
        digest,
        datetime.fromisoformat(at),
    )


def __dir__() -> list[str]:
    """The public names alone."""
    return sorted(__all__)
