"""A log of records, each chained by its hash to the one before, so that none is changed or left out unnoticed.

A record is a line of JSON and a short line `#<number> <hash>`; its hash is SHA-256 over the hash before it and
the JSON. A log that begins anew, because what it held was erased, says in its first record which hash it
follows (`{"before":"..."`). Every record is on the disk before `append` returns.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from dialframe import files

#: What the first record of a new log is chained to.
ORIGIN: Final = "0" * 64

_ENDS: Final = re.compile(rb"\n#(\d{1,18}) ([0-9a-f]{64})\n")
_END: Final = re.compile(_ENDS.pattern + rb"\Z")
_BEFORE: Final = re.compile(rb'\{"before":"([0-9a-f]{64})"')
#: Number, hash, and a check of both; notes of before had none.
_NOTED: Final = re.compile(rb"(\d{20} ([0-9a-f]{64}))(?: ([0-9a-f]{8}))?\n")
_END_BYTES: Final = 128


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a log has come: the number of its last record, and the chain's hash there."""

    number: int
    digest: str


@dataclass(frozen=True, slots=True)
class Record:
    """One record as it was read.

    Attributes:
        mark: Its number and hash, as written.
        whole: Whether the hash is that of its text and of the record before.
        content: Its JSON; empty where it cannot be read.
    """

    mark: Mark
    whole: bool
    content: dict[str, Any]


class ChainedLog:
    """The log in one file; nothing is made before something is appended.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def size_bytes(self) -> int:
        """Size of the file; 0 where there is none."""
        return self.path.stat().st_size if self.path.exists() else 0

    def last(self) -> Mark | None:
        """The last record's mark; None where there is no log, or none that ends with a record."""
        # The last line alone: number and hash are at most 86 bytes.
        end = _END.search(self._tail(_END_BYTES))
        return None if end is None else Mark(int(end[1]), end[2].decode())

    def last_text(self, most_bytes: int = 4096) -> bytes | None:
        """The last record's text; None where there is none, or it is longer than that."""
        tail = self._tail(most_bytes)
        ends = list(_ENDS.finditer(tail))
        if not ends or ends[-1].end() != len(tail):
            return None
        if len(ends) > 1:
            return tail[ends[-2].end() : ends[-1].start()]
        return tail[: ends[-1].start()] if len(tail) < most_bytes else None

    def append(self, content: Mapping[str, Any], before: Mark) -> Mark:
        """Write one record to the disk, behind the one whose mark is `before`.

        Raises:
            OSError: The disk is full or refuses; the log is as it was.
        """
        # The caller's mark and not the file's: who appends to another state than its own breaks the chain.
        text = encoded(content)
        mark = Mark(before.number + 1, _chained(before.digest, text))
        size = self.size_bytes
        files.folder(self.path.parent)
        try:
            descriptor = os.open(
                self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, files.FILE_MODE
            )
            with os.fdopen(descriptor, "ab") as file:
                file.write(text + f"\n#{mark.number} {mark.digest}\n".encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            self.cut(size)
            raise
        return mark

    def cut(self, size_bytes: int) -> None:
        """Take back what was appended for a change that failed."""
        if self.size_bytes > size_bytes:
            os.truncate(self.path, size_bytes)

    def cut_torn_end(self) -> None:
        """Take back the beginning of a record whose writer was killed."""
        if self.path.exists() and self.last() is None:
            ends = [end.end() for end in _ENDS.finditer(self.path.read_bytes())]
            self.cut(ends[-1] if ends else 0)

    def stage(self, pieces: Iterable[bytes], before: Mark) -> tuple[Mark, Path]:
        """Write a log of one record under a name of its own, to be put in the place of this one by `files.publish`.

        Args:
            pieces: Text of the record; it begins with `{"before":"<before.digest>"`.
            before: The mark that it follows.
        """
        files.folder(self.path.parent)
        digest = hashlib.sha256(before.digest.encode())

        def fill(file: BinaryIO) -> None:
            for piece in pieces:
                digest.update(piece)
                file.write(piece)
            file.write(f"\n#{before.number + 1} {digest.hexdigest()}\n".encode())

        staged = files.stage(self.path, fill)
        return Mark(before.number + 1, digest.hexdigest()), staged

    def records(self) -> Iterator[Record]:
        """Every record, oldest first, damaged ones among them."""
        if not self.path.exists():
            return
        # Whole: a log begins anew long before it is larger than memory.
        data = self.path.read_bytes()
        previous: str | None = None
        start = 0
        for end in _ENDS.finditer(data):
            text, start = data[start : end.start()], end.end()
            mark = Mark(int(end[1]), end[2].decode())
            # A log that begins anew says which hash it follows; the first of all follows `ORIGIN`.
            begun = _BEFORE.match(text)
            before = previous or (begun[1].decode() if begun else ORIGIN)
            # A hash that was changed itself breaks two records, never more.
            yield Record(mark, _chained(before, text) == mark.digest, _decoded(text))
            previous = mark.digest

    def _tail(self, most_bytes: int) -> bytes:
        try:
            with self.path.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - most_bytes))
                return file.read()
        except FileNotFoundError:
            return b""


def encoded(value: Any) -> bytes:
    """JSON in one line of what SQLite holds: text, numbers, bytes and nothing."""
    # Half of a character may be in what was set aside: it is kept as it came.
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_bytes_as_json)
    return text.encode("utf-8", "surrogatepass")


def _bytes_as_json(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    raise TypeError(f"{type(value).__name__} is no value of SQLite")


def _decoded(text: bytes) -> dict[str, Any]:
    def bytes_again(value: dict[str, Any]) -> Any:
        return bytes.fromhex(value["bytes"]) if list(value) == ["bytes"] else value

    try:
        # What cannot be read is empty: its hash says that it is not whole.
        content = json.loads(text.decode("utf-8", "surrogatepass"), object_hook=bytes_again)
    except (ValueError, TypeError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


class Witness:
    """How far another file (or what is in a folder) has come, in a file beside it, so that one that is cut, lost or old is noticed.

    It is written behind the other file, which may therefore be ahead of it by what was written last.

    Args:
        of: The other file, or the folder.
    """

    def __init__(self, of: Path) -> None:
        self.path = of.parent / f"{of.name}.head"

    def note(self, count: int, digest: str) -> None:
        """Write down what the other file has: so many bytes or changes, of this digest.

        Raises:
            OSError: The disk is full or refuses.
        """
        # Not staged and renamed: it is written with every commit, and 95 bytes are one sector.
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT, files.FILE_MODE)
        try:
            # Always as long, and in one piece: it is never half of two.
            content = f"{count:020} {digest:>64}".encode()
            os.pwrite(descriptor, content + f" {_check(content)}\n".encode(), 0)
        finally:
            os.close(descriptor)

    def last(self) -> tuple[int, str] | None:
        """Count and digest as they were noted last; None where nothing was.

        Raises:
            ValueError: It is not what was written.
        """
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return None
        # A full disk, or a kill, leaves a first note empty.
        if not content:
            return None
        noted = _NOTED.fullmatch(content)
        # A number that was harmed must not make the other file look old.
        if noted is None or (noted[3] or b"").decode() not in ("", _check(noted[1])):
            raise ValueError(f"{self.path} is not what was written")
        return int(noted[1][:20]), noted[2].decode()


class Heads:
    """How far a file has come, noted beside it and beside its folder.

    The second note stays where the whole folder is deleted or moved away, or an old copy of it brought back.

    Args:
        of: The file.
    """

    def __init__(self, of: Path) -> None:
        self._witnesses = Witness(of), Witness(of.parent.absolute())
        self.paths = tuple(witness.path for witness in self._witnesses)

    def note(self, count: int, digest: str) -> None:
        """Note how far the file has come; a disk that refuses a note leaves it behind, which is no harm."""
        for witness in self._witnesses:
            # The folder may be all that may be written to, or nothing.
            with suppress(OSError):
                witness.note(count, digest)

    def read(self) -> tuple[tuple[int, str] | None, list[Exception]]:
        """The later of the two notes, None where there is none, and why one cannot be read or believed."""
        notes, problems = list[tuple[int, str]](), list[Exception]()
        for witness in self._witnesses:
            try:
                if (note := witness.last()) is not None:
                    notes.append(note)
            except (OSError, ValueError) as problem:
                problems.append(problem)
        # One may be older: whoever wrote it was killed before the other, or may not write there.
        return max(notes, default=None), problems


def _check(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:8]


def _chained(before: str, text: bytes) -> str:
    return hashlib.sha256(before.encode() + text).hexdigest()
