"""The suppression list: numbers that this firm must not call, with source, day and reason of each.

It is a view of the evidence log beside the store: an addition is a record of it, and so is a removal. A number is
on the list as long as something prohibits it that nobody took back: a word of the firm, a request that went to the
service, or what the service said. It is found by its SHA-256 too, so that lists of hashes and lists of numbers
meet, and by a keyed hash once its person was forgotten.

    from datetime import UTC, date, datetime
    from pathlib import Path
    from dialframe.suppression import Entry, SuppressionList

    suppressed = SuppressionList.beside(Path("store"))
    added = Entry("+12025550142", reason="opt_out", source="autumn.csv", on=date(2026, 10, 1))
    suppressed.add([added], datetime.now(UTC))
    suppressed.check(["+12025550142"])
"""

from __future__ import annotations

import secrets
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from hashlib import sha256
from pathlib import Path
from typing import Final, Literal, NamedTuple

from dialframe.errors import ConfigError
from dialframe.evidence import EvidenceLog, Kind, Record, hashes_of
from dialframe.privacy import E164, keyed_mark, mask

__all__ = ["Action", "Barred", "Change", "Entry", "Run", "SuppressionList", "run_id"]

Action = Literal["add", "remove", "push"]
_ACTIONS: Final[dict[Kind, Action]] = {
    "suppression": "add",
    "refusal": "add",
    "suppression_undone": "remove",
    "dnc_add": "push",
}
_REASONS: Final[dict[Kind, str]] = {"check": "listed by the service"}
#: Source and reason of what a forgotten person said: nobody knows any more.
_ERASED: Final[tuple[str, object]] = ("", None)
_NEVER: Final = datetime.min.replace(tzinfo=UTC)
_HASHED: Final = "sha256:"
_FORGOTTEN: Final = "forgotten:"


@dataclass(frozen=True, slots=True)
class Entry:
    """A number that must not be called.

    Attributes:
        phone: E.164, or None where only its hash is known.
        reason: Why, as a code: `opt_out`, `registry`, `complaint`, `consent_withdrawn`...
        source: Where it comes from: a file's name, `audit`, a person.
        on: The day of the request, or of the list that says so.
        digest: SHA-256 of some way to write the number, where `phone` is None.
        added_at: When it came onto the list, UTC; None before it does.
        run: Id of the command that added it, by which it can be undone.
        kind: `suppression` (the firm's own word), `dnc_add` (the service was asked) or `refusal` (the service said so).
    """

    phone: str | None
    reason: str
    source: str
    on: date
    digest: bytes = b""
    added_at: datetime | None = None
    run: str | None = None
    kind: Kind = "suppression"

    def __post_init__(self) -> None:
        if self.phone is not None:
            if E164.fullmatch(self.phone) is None:
                raise ConfigError(f"{mask(self.phone)} is not an E.164 number; write +12025550142")
        elif len(self.digest) not in (sha256().digest_size, _MARK_BYTES):
            raise ConfigError("an entry needs a number or its SHA-256")

    def __repr__(self) -> str:
        return (
            f"Entry({self.shown}, reason={self.reason!r}, source={self.source!r}, on={self.on!s})"
        )

    @property
    def shown(self) -> str:
        """The number, masked; the beginning of its hash where only that is known."""
        if self.phone is not None:
            return str(mask(self.phone))
        kind = "forgotten" if len(self.digest) == _MARK_BYTES else "sha256"
        return f"{kind}:{self.digest.hex()[:8]}..."

    @property
    def name(self) -> str:
        """The number as the evidence log names it."""
        if self.phone is not None:
            return self.phone
        prefix = _FORGOTTEN if len(self.digest) == _MARK_BYTES else _HASHED
        return prefix + self.digest.hex()


#: Bytes of the keyed hash of a forgotten number.
_MARK_BYTES: Final = 16


class Change(NamedTuple):
    """What happened to a number on the list.

    Attributes:
        action: `add`, `remove` or `push` (the service was asked to hold it).
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


class Run(NamedTuple):
    """What one command put on the list.

    Attributes:
        run: Its id, which `undo` takes.
        at: When it was, UTC.
        source: Where the first of its numbers came from.
        reason: Why that one is held.
        added: Numbers that it added.
        standing: Those of them that nobody took off since.
    """

    run: str
    at: datetime
    source: str
    reason: str
    added: int
    standing: int


@dataclass(frozen=True, slots=True)
class Barred:
    """Numbers of one or more lists, for looking up many at once.

    Attributes:
        numbers: Digits of E.164 numbers, in order.
        digests: SHA-256 of numbers of which only that is known: with or without `+`, or national.
        marks: Keyed hashes of forgotten numbers.
        keys: The keys of those.
    """

    numbers: array[int] = field(default_factory=lambda: array("q"))
    digests: frozenset[bytes] = frozenset()
    marks: frozenset[bytes] = frozenset()
    keys: tuple[bytes, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, phones: Iterable[str], digests: Iterable[bytes] = ()) -> Barred:
        """The numbers of a list, and the hashes of others.

        Args:
            phones: E.164.
            digests: SHA-256, 32 bytes each.

        Returns:
            Both, for looking up.
        """
        return cls(array("q", sorted({int(phone) for phone in phones})), frozenset(digests))

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
        # Hashing takes microseconds: only lists that hold hashes pay for it.
        if self.digests and any(
            bytes.fromhex(name[len(_HASHED) :]) in self.digests for name in hashes_of(phone)
        ):
            return True
        return any(keyed_mark(key, "phone", phone) in self.marks for key in self.keys)

    def met(self, numbers: Iterable[int]) -> int:
        """How many of some numbers are on the list: what a file of leads and a list have in common.

        Args:
            numbers: Digits of E.164 numbers, each once.

        Returns:
            Their number.
        """
        return sum(number in self for number in numbers)

    def joined(self, other: Barred) -> Barred:
        """The numbers of both; both stay as they were.

        Args:
            other: Numbers of another list.

        Returns:
            A new value.
        """
        return Barred(
            # Sorted, because a number is found by halving.
            array("q", sorted({*self.numbers, *other.numbers})),
            self.digests | other.digests,
            self.marks | other.marks,
            tuple(dict.fromkeys((*self.keys, *other.keys))),
        )


class SuppressionList:
    """The list of one firm, as its evidence log has it.

    Args:
        log: The evidence log.
    """

    def __init__(self, log: EvidenceLog) -> None:
        self.log = log

    @classmethod
    def beside(cls, store: Path) -> SuppressionList:
        """The list in the folder of a store; nothing is made before something is added.

        Args:
            store: The folder that the stores of all accounts lie in.

        Returns:
            The list.
        """
        return cls(EvidenceLog.beside(store))

    @property
    def path(self) -> Path:
        """Where it is: the file of the evidence log."""
        return self.log.path

    def add(self, entries: Iterable[Entry], now: datetime, *, run: str | None = None) -> int:
        """Put numbers on the list; what one source said of a number for one reason is written once.

        Args:
            entries: What is to be added.
            now: The present, UTC.
            run: Id of the command that adds them (`run_id`), by which all of it can be undone.

        Returns:
            How many numbers were not on the list.

        Raises:
            StoreError: The log is damaged or cannot be written; nothing was added then.
        """
        given = list(entries)
        with self.log.writing():
            known: dict[str, set[tuple[str, object]]] = {entry.name: set() for entry in given}
            # The first addition stays: its day is when the time to honor it began (47 CFR 64.1200(d)(3)).
            for number, record in self.log.standing(known):
                forgotten = (record.number or "").startswith(_FORGOTTEN)
                known[number].add(
                    _ERASED if forgotten else (record.source, record.detail.get("reason"))
                )
            new = sum(not words for words in known.values())
            records = []
            for entry in given:
                said = known[entry.name]
                # Of a forgotten number that is held nothing more is written: it would name the person again.
                if _ERASED in said or (entry.source, entry.reason) in said:
                    continue
                said.add((entry.source, entry.reason))
                detail = {"reason": entry.reason, "on": entry.on.isoformat()}
                records.append(
                    Record(
                        "suppression", now, entry.name, source=entry.source, run=run, detail=detail
                    )
                )
            self.log.append(records)
        return new

    def remove(
        self,
        phones: Iterable[str],
        *,
        reason: str,
        source: str,
        now: datetime,
        run: str | None = None,
    ) -> int:
        """Take numbers off the list, whoever put them there; what stood there before stays as history.

        Args:
            phones: E.164.
            reason: Why they may be called again; must not be empty.
            source: Whose word that is.
            now: The present, UTC.
            run: Id of the command that removes them.

        Returns:
            How many were on the list.

        Raises:
            ConfigError: There is no reason.
            StoreError: The log is damaged or cannot be written.
        """
        with self.log.writing():
            held: dict[str, dict[str, None]] = {}
            for number, record in self.log.standing(phones):
                # By every name: a hash of it may stand on its own.
                held.setdefault(number, {number: None})[record.number or number] = None
            names = dict.fromkeys(name for same in held.values() for name in same)
            self._take_off(names, None, reason, source, now, run)
        return len(held)

    def delist(
        self, phones: Iterable[str], *, reason: str, source: str, now: datetime, run: str
    ) -> int:
        """Take off what a register put on the list and has deleted since; what people asked for stays.

        Args:
            phones: Numbers that the register deleted, E.164.
            reason: The reason under which the register's numbers stand on the list.
            source: The change list.
            now: The present, UTC.
            run: Id of the command that read the change list.

        Returns:
            How many numbers the register held.

        Raises:
            StoreError: The log is damaged or cannot be written.
        """
        held: dict[str, dict[str, None]] = {}
        with self.log.writing():
            for number, record in self.log.standing(phones):
                if record.kind == "suppression" and record.detail.get("reason") == reason:
                    held.setdefault(record.source, {})[number] = None
            for register, numbers in held.items():
                self._take_off(numbers, register, "deleted by the register", source, now, run)
        return len({number for numbers in held.values() for number in numbers})

    def undo(self, run: str, *, reason: str, source: str, now: datetime) -> int:
        """Take off what one command put on the list; what others said of the same numbers stays.

        Args:
            run: Id of the command, as `runs` lists it.
            reason: Why.
            source: Whose word that is.
            now: The present, UTC.

        Returns:
            How many numbers it had put there that were still held by it.

        Raises:
            ConfigError: No command of that id added anything, or there is no reason.
            StoreError: The log is damaged or cannot be written.
        """
        if next(self.log.records(["suppression"], run=run), None) is None:
            raise ConfigError(
                f"no run {run!r} added a number; dialframe suppress list shows the runs"
            )
        return self._undo(lambda record: record.run == run, run, reason, source, now)

    def undo_source(self, name: str, *, reason: str, source: str, now: datetime) -> int:
        """Take off what one source put on the list, such as a file's name; see `undo`.

        Args:
            name: The source, as `Entry.source` has it.
            reason: Why.
            source: Whose word that is.
            now: The present, UTC.

        Returns:
            How many numbers it had put there that were still held by it.

        Raises:
            ConfigError: There is no reason.
            StoreError: The log is damaged or cannot be written.
        """
        return self._undo(lambda record: record.source == name, name, reason, source, now)

    def _undo(
        self,
        chosen: Callable[[Record], bool],
        undoes: str,
        reason: str,
        source: str,
        now: datetime,
    ) -> int:
        with self.log.writing():
            names = [
                number
                for number, record in self.log.standing()
                if record.kind == "suppression" and chosen(record)
            ]
            self._take_off(dict.fromkeys(names), undoes, reason, source, now, None)
        return len(dict.fromkeys(names))

    def _take_off(
        self,
        names: Iterable[str],
        undoes: str | None,
        reason: str,
        source: str,
        now: datetime,
        run: str | None,
    ) -> None:
        # A row of its own, so that who lifted a request, and why, can be shown.
        if not reason.strip():
            raise ConfigError("taking a number off the suppression list needs a reason")
        detail = {"reason": reason, "on": now.date().isoformat()}
        if undoes is not None:
            detail["undoes"] = undoes
        self.log.append(
            Record("suppression_undone", now, name, source=source, run=run, detail=detail)
            for name in names
        )

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
        held: dict[str, Record] = {}
        for number, record in self.log.standing(phones):
            held.setdefault(number, record)
        return [_entry(held[phone], phone) if phone in held else None for phone in phones]

    def entries(self) -> Iterator[Entry]:
        """What is on the list now, each number once by what was said first.

        Yields:
            Entries, oldest first.
        """
        seen: set[str] = set()
        for number, record in self.log.standing():
            if number not in seen:
                seen.add(number)
                yield _entry(record, record.number or "")

    def runs(self) -> list[Run]:
        """What each command put on the list, newest first; removals by hand are not among them.

        Raises:
            StoreError: The list is damaged.
        """
        first: dict[str, Record] = {}
        added: dict[str, set[str | None]] = {}
        standing: dict[str, set[str]] = {}
        for record in self.log.records(["suppression"]):
            if record.run:
                first.setdefault(record.run, record)
                added.setdefault(record.run, set()).add(record.number)
        for number, record in self.log.standing():
            if record.run in added:
                standing.setdefault(record.run, set()).add(number)
        return [
            Run(run, record.at, record.source, str(record.detail.get("reason", "")),
                len(added[run]), len(standing.get(run, ())))
            for run, record in reversed(first.items())
        ]  # fmt: skip

    def history(self, phone: str) -> list[Change]:
        """All that ever happened to a number.

        Args:
            phone: The number in E.164.

        Returns:
            Additions, removals and pushes, oldest first.
        """
        changes = []
        for record in self.log.records(list(_ACTIONS), numbers=[phone]):
            entry = _entry(record, phone)
            action = _ACTIONS[record.kind]
            changes.append(Change(action, entry.reason, entry.source, entry.on, record.at))
        return changes

    def barred(self, *, checks: bool = True) -> Barred:
        """Everything on the list, for looking up many numbers.

        Args:
            checks: Whether the service's earlier word that a number is listed counts; off where it is asked anew.

        Returns:
            The numbers and hashes, in memory.

        Raises:
            StoreError: The list is damaged, or holds forgotten numbers and there is no key to find them by.
        """
        phones, digests, marks = array("q"), set(), set()
        for number in self.log.standing_numbers(checks=checks):
            if number[0] == "+":
                phones.append(int(number))
            elif number.startswith(_HASHED):
                digests.add(bytes.fromhex(number[len(_HASHED) :]))
            else:
                marks.add(bytes.fromhex(number[len(_FORGOTTEN) :]))
        keys = tuple(self.log.forget_keys()) if marks else ()
        return Barred(array("q", sorted(phones)), frozenset(digests), frozenset(marks), keys)

    def unpushed(self) -> list[Entry]:
        """Entries that were not sent to the service since they were added.

        Returns:
            Those that have a number, not only a hash.
        """
        listed = [entry for entry in self.entries() if entry.kind == "suppression" and entry.phone]
        return self._unsent(listed)

    def _unsent(self, entries: Iterable[Entry]) -> list[Entry]:
        # A hash cannot be sent: the service takes numbers (contract, Endpoints: Do-Not-Call).
        given = [entry for entry in entries if entry.phone is not None]
        names = [entry.name for entry in given]
        sent = {each.number: each.at for each in self.log.records(["dnc_add"], numbers=names)}
        return [
            entry
            for entry in given
            if entry.added_at is None or sent.get(entry.name, _NEVER) < entry.added_at
        ]

    def pushed(self, entries: Iterable[Entry], now: datetime) -> None:
        """Write down that entries were sent to the service.

        Args:
            entries: What was sent.
            now: When, with a zone.
        """
        # An account's client wrote its request down itself.
        self.log.append(
            Record("dnc_add", now, entry.name, source="suppress push",
                   detail={"reason": entry.reason, "on": entry.on.isoformat()})
            for entry in self._unsent(entries)
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.log.standing_numbers())


def run_id(now: datetime) -> str:
    """A new id for what one command writes, which sorts by time.

    Args:
        now: The present, with a zone.

    Returns:
        Such as `run-20261125-081500-3f2a`.

    Example:
        >>> run_id(datetime(2026, 11, 25, 8, 15))[:19]
        'run-20261125-081500'
    """
    return f"run-{now:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


def _entry(record: Record, phone: str) -> Entry:
    on = record.detail.get("on")
    forgotten = (record.number or "").startswith(_FORGOTTEN)
    digest = b"" if phone[:1] == "+" else bytes.fromhex(phone.partition(":")[2])
    return Entry(
        phone if phone[:1] == "+" else None,
        "forgotten"
        if forgotten
        else str(record.detail.get("reason") or _REASONS.get(record.kind, record.kind)),
        record.source,
        date.fromisoformat(on) if isinstance(on, str) else record.at.date(),
        digest,
        record.at,
        record.run,
        record.kind,
    )


def __dir__() -> list[str]:
    """The public names alone."""
    return sorted(__all__)
