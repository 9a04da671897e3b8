"""Erases one person everywhere that dialframe writes, and lists what is left where it must not decide.

It goes from the store, its replaced copies, the write journal, the evidence log and published tables.
Files of people (lists that were read, and what they asked for: clean lists, ledgers, exports, packs, reports, backups)
belong to them: each that still holds the number is named, found through the register (`dialframe.files.Outputs`).
"""

from __future__ import annotations

import glob
import gzip
import os
import re
import sqlite3
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from dialframe.errors import ConfigError, StoreError
from dialframe.evidence import EvidenceLog
from dialframe.files import Outputs

#: Most bytes that are looked through in one file, unpacked ones counted; larger files are named unread.
MOST_BYTES: Final = 1 << 30
#: Bytes read at once.
_PIECE: Final = 1 << 20
#: How files of sound begin: WAV, Ogg, FLAC, MP3 with a tag.
_RECORDINGS: Final = frozenset({b"RIFF", b"OggS", b"fLaC", b"ID3\x03", b"ID3\x04"})
#: A shorter run of digits stands in many numbers.
_NATIONAL_DIGITS: Final = 9

#: What is written between digits, most often: nothing, or one to three of these.
_BETWEEN: Final = rb"[\s().\-/]{0,3}"


@dataclass(frozen=True, slots=True)
class Remaining:
    """A file that still holds the number.

    Attributes:
        path: The file.
        why: Why it was left, and what to do.
    """

    path: Path
    why: str


@dataclass(frozen=True, slots=True)
class Erasure:
    """What was erased, and what was not.

    Attributes:
        versions: Row versions of the store that were erased or had the number replaced.
        writes: Entries of the write journal that lost their bytes.
        evidence: Records of the evidence log that know the number by its keyed hash alone from now on.
        published: Where published tables were written anew.
        looked_at: Files of the register that were looked through.
        remaining: Files that still hold the number, and whose they are.
    """

    versions: int
    writes: int
    evidence: int
    published: tuple[str, ...]
    looked_at: int
    remaining: tuple[Remaining, ...]

    def as_dict(self) -> dict[str, Any]:
        """As JSON values; no number in it."""
        remaining = [{"path": str(each.path), "why": each.why} for each in self.remaining]
        return {**asdict(self), "remaining": remaining}


def forget(
    root: Path,
    phone: str,
    now: datetime,
    *,
    outputs: Outputs | None = None,
) -> Erasure:
    """Erase a number from all that dialframe keeps, and name the files of others that hold it.

    Args:
        root: The folder of all stores; the number is erased from that of every account.
        phone: E.164.
        now: The instant, with a zone.
        outputs: The register of files that were written for people; None for that of this user.

    Returns:
        What was done, what remains, and whose it is.

    Raises:
        ConfigError: It is no E.164 number.
        StoreError: Another process is reading a store, or a file cannot be written.

    Example:
        forget(Path("store"), "+12125550142", datetime.now(UTC))
    """
    from dialframe.client.write_journal import Journal
    from dialframe.store import E164, Store, backups
    from dialframe.store.damage import stores

    if E164.fullmatch(phone) is None:
        raise ConfigError("the number to forget must be E.164, such as +12125550142")
    log = EvidenceLog.beside(root)
    # What could not be erased is said, and never passed over.
    remaining: list[Remaining] = []
    versions, published = 0, list[str]()
    with ExitStack() as opened:
        # Opened before the log is told: a store erases whoever the log knows when it is opened, and counts it then.
        open_stores = [opened.enter_context(Store.open(folder)) for folder in stores(root)]
        pushed_aside = []
        for path in backups.replaced(root):
            try:
                pushed_aside.append(opened.enter_context(Store.open(path, evidence=log)))
            except StoreError as error:
                sentence = f"a store that was replaced cannot be read: {error}"
                remaining.append(Remaining(path, sentence))
        # What prohibits the number stays, and a restore knows by it whom to erase again.
        rows = log.forget([phone], now)
        for store in (*open_stores, *pushed_aside):
            versions += store.forget(phone, at=now)
        places = [(store, url) for store in open_stores for url in store.published()]
        for owner, url in places:
            try:
                owner.publish(url)
                published.append(url)
            except (StoreError, ConfigError) as error:
                sentence = f"published tables could not be rewritten: {error}"
                remaining.append(Remaining(Path(url), sentence))
    writes = Journal(log.folder, "").forget(phone, now)
    register = Outputs.of_this_user() if outputs is None else outputs
    # Only now: what was erased above needs no look.
    files = list(_files(register.paths(), root))
    remaining += [
        leftover for path in files if (leftover := _find_remaining(path, phone)) is not None
    ]
    if register.path.exists() and holds(register.path, phone):
        remaining.append(
            Remaining(
                register.path, "a path that is noted in it holds the number: rename that file"
            )
        )
    return Erasure(versions, writes, rows, tuple(published), len(files), tuple(remaining))


def _files(paths: Iterable[Path], root: Path) -> Iterator[Path]:
    """The files of noted paths, and what lies beside them under the same first name, the store left out."""
    seen = set()
    for path in paths:
        beside = (
            path.parent.glob(f"{glob.escape(path.name.partition('.')[0])}*")
            if path.is_file()
            else [path]
        )
        for near in beside:
            for file in near.rglob("*") if near.is_dir() else [near]:
                if file.is_file() and file not in seen and not file.is_relative_to(root):
                    seen.add(file)
                    yield file


def _find_remaining(path: Path, phone: str) -> Remaining | None:
    """What there is to say of a file: that it holds the number, or that nobody can tell."""
    try:
        with path.open("rb") as file:
            if file.read(4) in _RECORDINGS:
                return Remaining(
                    path, "it is a recording: whose voice it holds cannot be read; listen yourself"
                )
        held = holds(path, phone) or _pattern(phone).search(os.fsencode(path.name)) is not None
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, sqlite3.Error) as error:
        return Remaining(path, f"it could not be read ({type(error).__name__}); look yourself")
    if not held:
        return None
    return Remaining(
        path, "it holds the number, and is yours: delete it, or what you need not keep of it"
    )


def holds(path: Path, phone: str) -> bool:
    """Whether a number stands in a file, however it is written: text, CSV, JSON, Parquet, archive, workbook.

    Raises:
        ValueError: It is larger than can be looked through.
        OSError: It cannot be read.
    """
    pattern = _pattern(phone)
    with path.open("rb") as file:
        head = file.read(16)
    if head.startswith(b"PAR1"):
        return _parquet_holds(path, pattern)
    if head.startswith(b"SQLite format 3"):
        return _sqlite_holds(path, pattern)
    if head.startswith(b"PK\x03\x04"):
        return _zip_holds(path, pattern)
    if head.startswith(b"\x1f\x8b"):
        with gzip.open(path) as file:
            return _stream_holds(file.read, pattern)
    with path.open("rb") as file:
        return _stream_holds(file.read, pattern)


def _pattern(phone: str) -> re.Pattern[bytes]:
    import phonenumbers

    digits = phone.lstrip("+")
    national = str(phonenumbers.parse(phone, None).national_number)
    # A short national number alone would be found in any long one.
    needle = national if len(national) >= _NATIONAL_DIGITS else digits
    return re.compile(
        rb"(?<!\d{4})" + _BETWEEN.join(digit.encode() for digit in needle) + rb"(?!\d)"
    )


def _stream_holds(read: Callable[[int], bytes], pattern: re.Pattern[bytes]) -> bool:
    """Whether a stream matches; pieces overlap, so that no number falls between two."""
    left, size = b"", 0
    while piece := read(_PIECE):
        size += len(piece)
        if size > MOST_BYTES:
            raise ValueError("too large to look through")
        # UTF-16 is text with a zero byte in each character.
        if pattern.search((left + piece).replace(b"\0", b"")):
            return True
        # Longer than any number with what is written between its digits.
        left = piece[-256:]
    return False


def _zip_holds(path: Path, pattern: re.Pattern[bytes]) -> bool:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            with archive.open(member) as file:
                if _stream_holds(file.read, pattern):
                    return True
    return False


def _sqlite_holds(path: Path, pattern: re.Pattern[bytes]) -> bool:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        # Of every table, whoever made the database.
        names = [
            name
            for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        ]
        return any(
            pattern.search(repr(row).encode())
            for name in names
            for row in database.execute(f'SELECT * FROM "{name}"')
        )


def _parquet_holds(path: Path, pattern: re.Pattern[bytes]) -> bool:
    import pyarrow.parquet as pq

    return any(
        pattern.search(repr(batch.to_pydict()).encode())
        for batch in pq.ParquetFile(path).iter_batches(10_000)
    )
