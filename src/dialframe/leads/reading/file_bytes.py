"""The bytes of a lead file and the kind that they are."""

from __future__ import annotations

import io
import os
import re
import stat
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final, Literal

from dialframe.errors import LeadFileError
from dialframe.files import note_files
from dialframe.leads.reading.decompression import Packed, check_unpacked, too_large, unpacked

Kind = Literal["text", "workbook", "parquet", "archive"]

#: Longest line of a text file that is read; a longer one is no line of a lead file.
MAX_LINE_BYTES: Final = 64 * 2**20

_ZIP: Final = b"PK\x03\x04"
_TAR_MARK: Final = slice(257, 262)
_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_PARQUET: Final = b"PAR1"
_ONE_LINE_KINDS: Final = (_ZIP, _OLE, _PARQUET)

#: First bytes of formats that hold no leads, and what to call them.
_FOREIGN: Final[tuple[tuple[bytes, str], ...]] = (
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"%PDF", "a PDF document"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90\x00", "a program"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!", "a RAR archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"SQLite format 3", "an SQLite database"),
    (b"{\\rtf", "an RTF document"),
)
_MARKUP: Final = re.compile(rb"\s*<(!doctype|html|\?xml|table|script|head|body)\b", re.IGNORECASE)
_WORKBOOK_PARTS: Final = frozenset({"xl/workbook.xml", "xl/workbook.bin", "content.xml"})


@dataclass(frozen=True, slots=True)
class Source:
    """A lead file's content in memory.

    Attributes:
        path: Where it was read from.
        kind: How its content is to be read.
        data: The content, unpacked where the file was packed with gzip or Zstandard.
        sha256: Hexadecimal digest of the file as it lies on disk.
        gzipped: Whether it was unpacked.
    """

    path: Path
    kind: Kind
    data: bytes = field(repr=False)
    sha256: str = ""
    gzipped: bool = False


def load(
    path: Path,
    *,
    max_line_bytes: int = MAX_LINE_BYTES,
    opened: Callable[[], BinaryIO] | None = None,
) -> Source:
    """The file's content and kind.

    Args:
        path: The file, or what it is called where `opened` opens it.
        max_line_bytes: Longest line that a text file may have.
        opened: Opens a file that does not lie on this disk.

    Raises:
        LeadFileError: It is missing, a folder, no ordinary file, empty, unreadable, changed while
            it was read, no table, unpacks to too much, or has an endless line.
    """
    try:
        if opened is None:
            _check_ordinary(path)
        with opened() if opened else path.open("rb") as raw:
            before = None if opened else os.fstat(raw.fileno())
            packed = Packed(raw)
            chunks, gzipped = unpacked(path, packed)
            data = _gather(path, chunks, max_line_bytes)
            after = None if opened else os.fstat(raw.fileno())
    except FileNotFoundError:
        raise LeadFileError(f"{path} does not exist; check the path", path=path) from None
    except IsADirectoryError:
        raise LeadFileError(f"{path} is a folder; name a file in it", path=path) from None
    except MemoryError:
        raise too_large(path) from None
    except (OSError, ValueError) as problem:
        why = (getattr(problem, "strerror", None) or str(problem) or "input error").lower()
        raise LeadFileError(f"{path} cannot be read: {why}", path=path) from problem
    if (
        before
        and after
        and (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns)
    ):
        raise LeadFileError(f"{path} changed while it was read; read it again", path=path)
    if not data.strip(b"\x00\t\n\r \xef\xbb\xbf\xff\xfe"):
        raise LeadFileError(f"{path} is empty; there is nothing to read", path=path)
    if opened is None:
        note_files([path])
    return Source(path, kind_of(path, data), data, packed.digest.hexdigest(), gzipped)


def kind_of(path: Path, data: bytes) -> Kind:
    """What the first bytes and the shape of the content say that it is.

    Raises:
        LeadFileError: It is a known format without leads.
    """
    if data.startswith(_ZIP):
        return _zip_kind(path, data)
    if data.startswith(_OLE):
        return "workbook"
    if data.startswith(_PARQUET):
        return "parquet"
    for magic, name in _FOREIGN:
        if data.startswith(magic):
            raise not_a_table(path, name)
    if data[_TAR_MARK] == b"ustar":
        raise not_a_table(path, "a tar archive")
    if _MARKUP.match(data[:256]):
        raise LeadFileError(
            f"{path} is a web page or XML, whatever its name says; save it as CSV or XLSX first",
            path=path,
        )
    return "text"


def not_a_table(path: Path, name: str) -> LeadFileError:
    """The error for content that is something else than a table."""
    return LeadFileError(
        f"{path} is {name}, not a table of leads; give CSV, TSV, XLSX, XLS, ODS, JSON or Parquet",
        path=path,
    )


def _check_ordinary(path: Path) -> None:
    """Refuse pipes and devices, which may never end."""
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise LeadFileError(
            f"{path} is a pipe or a device, not a file; save what it gives to a file first",
            path=path,
        )


def _gather(path: Path, chunks: Iterator[bytes], max_line_bytes: int) -> bytes:
    """All chunks as one; a text whose line does not end is given up early."""
    gathered: list[bytes] = []
    line_bytes = 0
    for chunk in chunks:
        gathered.append(chunk)
        last = max(chunk.rfind(b"\n"), chunk.rfind(b"\r"))
        line_bytes = line_bytes + len(chunk) if last < 0 else len(chunk) - last - 1
        if line_bytes > max_line_bytes and not gathered[0].startswith(_ONE_LINE_KINDS):
            raise LeadFileError(
                f"{path} has a line of more than {max_line_bytes / 2**20:g} MiB: it is no list of "
                "leads, or its line ends are lost",
                path=path,
            )
    return b"".join(gathered)


def _zip_kind(path: Path, data: bytes) -> Kind:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, ValueError, OverflowError, NotImplementedError):
        raise LeadFileError(f"{path} is a damaged workbook or archive", path=path) from None
    if not _WORKBOOK_PARTS.intersection(part.filename for part in parts):
        return "archive"
    check_unpacked(path, sum(part.file_size for part in parts), len(data))
    return "workbook"
