"""UTF-8 text in memory or on disk, read in pieces as often as needed."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, overload

import numpy as np
import pyarrow as pa

from dialframe.errors import LeadFileError
from dialframe.leads.lead_file import split_lines
from dialframe.leads.reading.file_bytes import MAX_LINE_BYTES

#: Bytes that are read at once.
PIECE_BYTES: Final = 2 * 2**20
#: Up to this size a file is kept in memory between the passes.
_SMALL_BYTES: Final = 64 * 2**20
#: A shorter text of fewer line ends is read whole: up to some two thousand records blocks cost more than they save.
SHORT_BYTES: Final = 2**17
SHORT_LINES: Final = 4_000
_EVERY: Final = 512
_HEAD_BYTES: Final = 2**18
_BOM: Final = b"\xef\xbb\xbf"
_LINE_END: Final = re.compile(rb"\r{0,2}\n|\r")


@dataclass(frozen=True, slots=True, eq=False)
class Content:
    """A whole text as UTF-8 without a mark.

    Attributes:
        path: The file, or None for text in memory.
        data: The text, or None where it stays on the disk.
        begin: Bytes before it (the mark).
        size_bytes: Bytes of it.
        lines: Physical lines.
        marks: Where every 512th line begins.
        sha256: Hexadecimal digest of the file; empty for text in memory.
        stamp: What the disk said of the file when it was read.
    """

    path: Path | None
    data: bytes | None = field(repr=False)
    begin: int
    size_bytes: int
    lines: int
    marks: np.ndarray = field(repr=False)
    sha256: str = ""
    stamp: tuple[int, ...] = ()

    @property
    def has_mark(self) -> bool:
        """Whether a byte order mark stood before the text."""
        return self.begin > 0

    def head(self) -> str:
        """The first quarter of a mebibyte."""
        return self.fetch(0, _HEAD_BYTES).decode(errors="ignore")

    def fetch(self, at: int, size: int) -> bytes:
        """Some bytes from the middle."""
        if self.data is not None:
            return self.data[self.begin + at : self.begin + at + size]
        assert self.path is not None  # noqa: S101 - one of both is there
        with self.path.open("rb") as file:
            file.seek(self.begin + at)
            return file.read(min(size, self.size_bytes - at))

    def chunks(self, at: int = 0, size: int = PIECE_BYTES) -> Iterator[bytes]:
        """The text from a place on, in pieces that end anywhere.

        Raises:
            LeadFileError: The file is not what it was at first.
        """
        if self.data is not None:
            yield from _whole_lines(self.data, self.begin + at, size)
            return
        assert self.path is not None  # noqa: S101 - one of both is there
        digest = hashlib.sha256()
        with self.path.open("rb") as file:
            digest.update(file.read(self.begin + at))
            left = self.size_bytes - at
            while left > 0 and (piece := file.read(min(size, left))):
                digest.update(piece)
                left -= len(piece)
                yield piece
            if digest.hexdigest() != self.sha256 or _stamp(file.fileno()) != self.stamp:
                raise changed(self.path)

    def line_begin(self, line: int) -> int:
        """Where a 0-based line begins."""
        if line >= self.lines:
            return self.size_bytes
        at = int(self.marks[line // _EVERY])
        left = line % _EVERY
        size = 2**16
        while left:
            piece = self.fetch(at, size)
            stop = len(piece) if at + len(piece) >= self.size_bytes else last_line_end(piece)
            behind = line_bounds(piece, stop)[2]
            if len(behind) >= left:
                return at + int(behind[left - 1])
            size *= 2
        return at

    def lines_between(self, line: int, count: int) -> list[str]:
        """The texts of so many lines from a 0-based one on."""
        at = self.line_begin(line)
        text = self.fetch(at, self.line_begin(line + count) - at).decode(errors="ignore")
        return split_lines(text).texts

    def line(self, line: int) -> str:
        """The text of a 0-based line."""
        at, size = self.line_begin(line), 2**11
        while True:
            piece = self.fetch(at, size)
            if at + len(piece) >= self.size_bytes or last_line_end(piece):
                end = _LINE_END.search(piece)
                return piece[: end.start() if end else None].decode(errors="ignore")
            size *= 4


class LineView(Sequence[str]):
    """The physical lines of a content, fetched when they are asked for."""

    def __init__(self, content: Content, first: int = 0) -> None:
        self._content, self._first = content, first

    def __len__(self) -> int:
        return self._content.lines - self._first

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[str]: ...

    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            if index.stop is None and (index.step or 1) == 1:
                return LineView(self._content, self._first + index.indices(len(self))[0])
            chosen = range(*index.indices(len(self)))
            if chosen.step == 1 and chosen:
                return self._content.lines_between(self._first + chosen[0], len(chosen))
            return [self[at] for at in chosen]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        return self._content.line(self._first + index % len(self))


def in_memory(text: bytes) -> Content | None:
    """Content of a text that is there already; None where it is short."""
    # A hundred kilobytes may be as many empty lines.
    if len(text) < SHORT_BYTES and text.count(b"\n") + text.count(b"\r") < SHORT_LINES:
        return None
    marks, lines = _noted(text, len(text), 0, 0)
    return Content(None, text, 0, len(text), lines, marks)


def open_utf8(path: Path, max_line_bytes: int = MAX_LINE_BYTES) -> Content | None:
    """Content of a long file that is UTF-8 to its last byte; None for any other file.

    Raises:
        LeadFileError: The file cannot be read, or changed meanwhile.
    """
    try:
        if not path.is_file() or path.stat().st_size < SHORT_BYTES:
            return None
        with path.open("rb") as file:
            return _index(path, file.fileno(), max_line_bytes)
    except OSError:
        return None  # whoever reads it whole says what is wrong


def changed(path: Path) -> LeadFileError:
    """The error for a file that somebody writes while it is read."""
    return LeadFileError(
        f"{path} changed while it was read; wait until it is complete and run it again", path=path
    )


def last_line_end(data: bytes) -> int:
    """Behind the last line end that nothing behind it can change; 0 for none."""
    at = data.rfind(b"\n") + 1
    if at:
        return at
    # A carriage return may be the first half of a line end.
    at = data.rfind(b"\r", 0, max(0, len(data) - 2))
    return at + 1 if at >= 0 and data[at + 1 : at + 2] not in (b"\r", b"\n") else 0


def line_bounds(data: bytes, stop: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where each line begins, where its text ends, and where the next one begins.

    Args:
        data: The text.
        stop: Behind its last line, which may have no end.
    """
    view = np.frombuffer(data or b"\0", np.uint8)[:stop]
    ends = np.flatnonzero(view == ord("\n"))
    behind = ends + 1
    returns = np.count_nonzero(view == ord("\r"))
    # A line feed takes up to two carriage returns before it; any other one ends a line itself.
    taken: list[np.ndarray] = []
    for width in (1, 2) if returns else ():
        hit = (behind - ends == width) & (ends > 0)
        hit &= view[ends - 1] == ord("\r")
        ends = ends - hit
        returns -= np.count_nonzero(hit)
        taken.append(ends[hit])
        if not returns:
            break
    if returns:
        alone = np.setdiff1d(np.flatnonzero(view == ord("\r")), np.concatenate(taken))
        ends = np.sort(np.concatenate([ends, alone]))
        behind = np.sort(np.concatenate([behind, alone + 1]))
    if stop > (behind[-1] if len(behind) else 0):
        ends, behind = np.append(ends, stop), np.append(behind, stop)
    return np.concatenate([[0], behind])[:-1], ends, behind


def _index(path: Path, handle: int, max_line_bytes: int) -> Content | None:
    stamp = _stamp(handle)
    digest = hashlib.sha256()
    whole = os.read(handle, stamp[0] + 1) if stamp[0] <= _SMALL_BYTES else None
    marks: list[np.ndarray] = []
    rest, read, done, lines, begin = b"", 0, 0, 0, 0
    parts = (
        iter(partial(os.read, handle, PIECE_BYTES), b"")
        if whole is None
        else _whole_lines(whole, 0, PIECE_BYTES)
    )
    for part in parts:
        digest.update(part)
        if read == 0:
            begin = len(_BOM) if part.startswith(_BOM) else 0
        piece = part if read else part[begin:]
        read += len(piece)
        data = rest + piece if rest else piece
        stop = last_line_end(data)
        if not _is_text(data[:stop] if stop < len(data) else data):
            return None
        noted, lines = _noted(data, stop, lines, done)
        marks.append(noted)
        done += stop
        rest = data[stop:]
        if len(rest) > max_line_bytes:
            return None
    if not _is_text(rest):
        return None
    noted, lines = _noted(rest, len(rest), lines, done)
    if _stamp(handle) != stamp or read + begin != stamp[0]:
        raise changed(path)
    return Content(
        path, whole, begin, read, lines, np.concatenate([*marks, noted]), digest.hexdigest(), stamp
    )


def _whole_lines(data: bytes, at: int, size: int) -> Iterator[bytes]:
    """Pieces of a text that end with a line, where there is one: a line cut in two has to be joined."""
    while at < len(data):
        is_last = at + size >= len(data)
        stop = len(data) if is_last else data.rfind(b"\n", at, at + size) + 1 or at + size
        yield data[at:stop]
        at = stop


def _noted(data: bytes, stop: int, lines: int, done: int) -> tuple[np.ndarray, int]:
    begins = line_bounds(data, stop)[0]
    return begins[-lines % _EVERY :: _EVERY] + done, lines + len(begins)


def _is_text(data: bytes) -> bool:
    """Whether the bytes are UTF-8 without what makes other encodings likely."""
    if b"\x00" in data or b"\x1b" in data:
        return False
    offsets = np.array([0, len(data)], np.int64)
    array = pa.Array.from_buffers(
        pa.large_string(), 1, [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    )
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _stamp(handle: int) -> tuple[int, ...]:
    facts = os.fstat(handle)
    return facts.st_size, facts.st_mtime_ns, facts.st_ino
