"""The bytes of a lead file and the kind that they are; knows containers and magic numbers, not tables."""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from dialframe.errors import LeadFileError

Kind = Literal["text", "workbook", "parquet"]

#: Longest line of a text file that is read; a longer one is no line of a lead file.
MAX_LINE_BYTES: Final = 64 * 2**20
#: Most bytes that a packed file or a workbook may unpack to.
MAX_UNPACKED_BYTES: Final = 2 * 2**30

_CHUNK_BYTES: Final = 2**20
_GZIP: Final = b"\x1f\x8b"
_GZIP_WINDOW: Final = 31
_ZIP: Final = b"PK\x03\x04"
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
    (b"\x28\xb5\x2f\xfd", "a zstd archive"),
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
        data: The content, unpacked where the file was gzipped.
        sha256: Hexadecimal digest of the file as it lies on disk.
        gzipped: Whether it was unpacked.
    """

    path: Path
    kind: Kind
    data: bytes = field(repr=False)
    sha256: str = ""
    gzipped: bool = False


def load(path: Path, *, max_line_bytes: int = MAX_LINE_BYTES) -> Source:
    """The file's content and kind.

    Args:
        path: The file.
        max_line_bytes: Longest line that a text file may have.

    Raises:
        LeadFileError: It is missing, a folder, empty, unreadable, no table, or has an endless line.
    """
    digest = hashlib.sha256()
    try:
        with path.open("rb") as raw:
            chunks = _hashed(iter(lambda: raw.read(_CHUNK_BYTES), b""), digest)
            head = next(chunks, b"")
            gzipped = head.startswith(_GZIP)
            chunks = _after(head, chunks)
            content = _bounded(path, _gunzip(path, chunks)) if gzipped else chunks
            data = _gather(path, content, max_line_bytes)
    except FileNotFoundError:
        raise LeadFileError(f"{path} does not exist; check the path", path=path) from None
    except IsADirectoryError:
        raise LeadFileError(f"{path} is a folder; name a file in it", path=path) from None
    except OSError as problem:
        why = (problem.strerror or "input error").lower()
        raise LeadFileError(f"{path} cannot be read: {why}", path=path) from problem
    if not data.strip(b"\x00\t\n\r \xef\xbb\xbf\xff\xfe"):
        raise LeadFileError(f"{path} is empty; there is nothing to read", path=path)
    return Source(path, kind_of(path, data), data, digest.hexdigest(), gzipped)


def kind_of(path: Path, data: bytes) -> Kind:
    """What the first bytes and the shape of the content say that it is.

    Raises:
        LeadFileError: It is a known format without leads.
    """
    if data.startswith(_ZIP):
        _check_workbook(path, data)
        return "workbook"
    if data.startswith(_OLE):
        return "workbook"
    if data.startswith(_PARQUET):
        return "parquet"
    for magic, name in _FOREIGN:
        if data.startswith(magic):
            raise not_a_table(path, name)
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


def _hashed(chunks: Iterator[bytes], digest: hashlib._Hash) -> Iterator[bytes]:
    for chunk in chunks:
        digest.update(chunk)
        yield chunk


def _after(head: bytes, chunks: Iterator[bytes]) -> Iterator[bytes]:
    if head:
        yield head
    yield from chunks


def _gunzip(path: Path, chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Unpacked chunks, never much larger than the packed ones; members follow each other."""
    inflate = zlib.decompressobj(_GZIP_WINDOW)
    begun = False
    try:
        for chunk in chunks:
            rest = chunk
            while rest and (begun or rest.strip(b"\x00")):
                begun = True
                yield inflate.decompress(rest, _CHUNK_BYTES)
                rest = inflate.unconsumed_tail
                if inflate.eof:
                    rest, inflate, begun = (
                        inflate.unused_data,
                        zlib.decompressobj(_GZIP_WINDOW),
                        False,
                    )
        yield inflate.flush()
    except zlib.error:
        begun = True
    if begun and not inflate.eof:
        raise LeadFileError(f"{path} is a damaged gzip file; fetch it again", path=path)


def _bounded(path: Path, chunks: Iterator[bytes]) -> Iterator[bytes]:
    size = 0
    for chunk in chunks:
        size += len(chunk)
        if size > MAX_UNPACKED_BYTES:
            raise _too_large(path)
        yield chunk


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


def _check_workbook(path: Path, data: bytes) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = archive.infolist()
    except zipfile.BadZipFile:
        raise LeadFileError(f"{path} is a damaged workbook or archive", path=path) from None
    if not _WORKBOOK_PARTS.intersection(part.filename for part in parts):
        raise LeadFileError(
            f"{path} is a zip archive that holds no workbook; unpack it and name a file in it",
            path=path,
        )
    if sum(part.file_size for part in parts) > MAX_UNPACKED_BYTES:
        raise _too_large(path)


def _too_large(path: Path) -> LeadFileError:
    return LeadFileError(f"{path} unpacks to more than 2 GiB; split it first", path=path)
