"""Where tables lie and the bytes of each: files, folders, globs, archives, object stores and standard input, unpacked and bounded."""

from __future__ import annotations

import glob
import hashlib
import io
import os
import re
import stat
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, Literal, cast

from dialframe.errors import LeadFileError
from dialframe.files import note_files

#: Most bytes that a packed file or a workbook may unpack to.
MAX_UNPACKED_BYTES: Final = 2**30
#: A file that unpacks to so many times its size, and to more than `_SMALL_BYTES`, is a trap.
_MOST_RATIO: Final = 200
_SMALL_BYTES: Final = 2**26
#: Packed files in packed files that are opened.
_MOST_LAYERS: Final = 4

_CHUNK_BYTES: Final = 2**20
_GZIP: Final = b"\x1f\x8b"
_GZIP_WINDOW: Final = 31
_ZSTD: Final = b"\x28\xb5\x2f\xfd"


class Packed:
    """The bytes of a file as it lies there, counted and digested as they go by."""

    def __init__(self, raw: BinaryIO) -> None:
        self.raw = raw
        self.digest = hashlib.sha256()
        self.size = 0

    def __iter__(self) -> Iterator[bytes]:
        # The digest is of the file as it lies there, so that any tool can check it.
        while chunk := self.raw.read(_CHUNK_BYTES):
            self.digest.update(chunk)
            self.size += len(chunk)
            yield chunk


def unpacked(path: Path, packed: Packed) -> tuple[Iterator[bytes], bool]:
    """The file's content, out of as many layers of packing as it has."""
    chunks = iter(packed)
    head = next(chunks, b"")
    layers = 0
    # Packed twice is what a download of a packed export often is.
    while head.startswith((_GZIP, _ZSTD)) and layers < _MOST_LAYERS:
        unpack = _gunzip if head.startswith(_GZIP) else _unzstd
        chunks = _limit_chunks(path, unpack(path, chain([head], chunks)), packed)
        head = next((chunk for chunk in chunks if chunk), b"")
        layers += 1
    return chain([head], chunks), layers > 0


def check_unpacked(path: Path, size: int, packed_size: int) -> None:
    """Refuse what unpacks to more than fits into memory, or to more than any list does.

    Raises:
        LeadFileError: It does.
    """
    if size > MAX_UNPACKED_BYTES:
        raise too_large(path)
    if size > max(_SMALL_BYTES, packed_size * _MOST_RATIO):
        raise LeadFileError(
            f"{path} unpacks to more than {_MOST_RATIO} times its size, as no list does; it is "
            "refused",
            path=path,
        )


def too_large(path: Path) -> LeadFileError:
    """The error for what does not fit into memory."""
    return LeadFileError(f"{path} unpacks to more than 1 GiB; split it first", path=path)


def _unzstd(path: Path, chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Unpacked chunks of a Zstandard file."""
    import pyarrow as pa

    try:
        with pa.CompressedInputStream(pa.PythonFile(_Chunks(chunks), "r"), "zstd") as stream:
            while chunk := stream.read(_CHUNK_BYTES):
                yield chunk
    except (pa.ArrowException, OSError):
        raise LeadFileError(f"{path} is a damaged zstd file; fetch it again", path=path) from None


class _Chunks(io.RawIOBase):
    """Chunks as a file, for a reader that wants one."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self.chunks = chunks
        self.left = b""

    def readable(self) -> bool:
        """It is; nothing else can be done with it."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Up to `size` bytes, or the next chunk."""
        self.left = self.left or next(self.chunks, b"")
        size = len(self.left) if size < 0 else size
        taken, self.left = self.left[:size], self.left[size:]
        return taken


def _gunzip(path: Path, chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Unpacked chunks, never much larger than the packed ones; members follow each other."""
    inflate = zlib.decompressobj(_GZIP_WINDOW)
    begun = False
    try:
        for chunk in chunks:
            rest = chunk
            # Members follow each other (RFC 1952, 2.2), and tapes and disks fill up with NUL bytes.
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


def _limit_chunks(path: Path, chunks: Iterator[bytes], packed: Packed) -> Iterator[bytes]:
    size = 0
    # As it goes by: a trap is refused before it fills the memory.
    for chunk in chunks:
        size += len(chunk)
        check_unpacked(path, size, packed.size)
        yield chunk


Kind = Literal["text", "workbook", "parquet", "archive"]

#: What stands for standard input.
STDIN: Final = "-"
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
                f"{path} has a line of more than {max_line_bytes / 2**20:g} MiB: it is not a list of "
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


if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

#: Endings of files in folders and archives that are taken for tables.
TABLES: Final = frozenset({
    "csv", "tsv", "tab", "psv", "ssv", "txt", "dat", "asc", "json", "jsonl", "ndjson", "parquet", "pq",
    "xlsx", "xlsm", "xlsb", "xls", "ods",
})  # fmt: skip
_PACKED: Final = frozenset({"gz", "zst", "zstd", "zip"})
_MAGIC: Final = frozenset("*?[")
_MOST_PLACES: Final = 10_000
#: Each table costs some 15 ms however small it is; a zip of a few kilobytes names thousands.
_MOST_MEMBERS: Final = 200
_HIDDEN: Final = (".", "__MACOSX", "~$")


@dataclass(frozen=True, slots=True)
class Place:
    """A file that may hold a table.

    Attributes:
        path: What it is called in messages.
        opened: Opens it, or None for a file of this disk.
    """

    path: Path
    opened: Callable[[], BinaryIO] | None = None


def sources(
    path: str | os.PathLike[str], *, max_line_bytes: int = MAX_LINE_BYTES
) -> Iterator[Source]:
    """Every table at the path, in the order of their names.

    Raises:
        LeadFileError: Nothing is there, it cannot be read, or it holds no table.
    """
    # Names of files are bytes, and need be no Unicode.
    places = _places(os.fsdecode(path))
    for each in places:
        source = load(each.path, max_line_bytes=max_line_bytes, opened=each.opened)
        if source.kind != "archive":
            yield source
            continue
        for member in _members(source):
            inner = load(member.path, max_line_bytes=max_line_bytes, opened=member.opened)
            # Each layer may be a thousand times its size.
            if inner.kind == "archive":
                raise LeadFileError(
                    f"{inner.path} is an archive inside an archive; unpack it first",
                    path=inner.path,
                )
            yield inner


def _places(text: str) -> list[Place]:
    if text == STDIN:
        return [Place(Path("stdin"), lambda: sys.stdin.buffer)]
    # `zip://leeds.csv::https://...` is a chain of file systems (fsspec, URL chaining).
    if "://" in text or "::" in text:
        return _remote(text)
    path = Path(text)
    try:
        if path.is_dir():
            return [Place(each) for each in tables_in(path)]
        if path.exists():
            return [Place(path)]
    except (OSError, ValueError) as problem:
        why = (getattr(problem, "strerror", None) or str(problem)).lower()
        raise LeadFileError(f"{path} cannot be read: {why}", path=path) from None
    # Asked last: a file may have a bracket in its name.
    if _MAGIC.intersection(text):
        matched = sorted(map(Path, glob.glob(text, recursive=True)))  # noqa: PTH207 - an absolute pattern
        if not matched:
            raise LeadFileError(f"{path} matches no file; check the pattern", path=path)
        return [
            Place(each)
            for each in _limit_paths(path, [each for each in matched if each.is_file()])
        ]
    return _of_archive(path) or [Place(path)]


def tables_in(folder: Path) -> list[Path]:
    """Files of a folder that are called like tables, by name.

    Raises:
        LeadFileError: There is none, or it cannot be read.
    """
    try:
        paths = sorted(folder.iterdir())
    except OSError as problem:
        why = (problem.strerror or "input error").lower()
        raise LeadFileError(f"{folder} cannot be read: {why}", path=folder) from None
    tables = [path for path in paths if is_table(path.name) and path.is_file()]
    if not tables:
        raise LeadFileError(
            f"{folder} is a folder that holds no table; name one, or put CSV, XLSX, JSON or Parquet "
            "files into it",
            path=folder,
        )
    return _limit_paths(folder, tables)


def is_table(name: str) -> bool:
    """Whether a file is called like a table, packed or not."""
    if name.startswith(_HIDDEN):
        return False
    endings = name.lower().split(".")[1:]
    # `list.csv.gz.zst`: however often it was packed.
    while endings and endings[-1] in _PACKED:
        packed = endings.pop()
        if not endings or packed == "zip":
            return True
    return bool(endings) and endings[-1] in TABLES


def _limit_paths(path: Path, paths: list[Path]) -> list[Path]:
    if len(paths) > _MOST_PLACES:
        raise LeadFileError(
            f"{path} holds {len(paths):,} files, more than {_MOST_PLACES:,}; name fewer", path=path
        )
    return paths


def _of_archive(path: Path) -> list[Place]:
    """The member of an archive on this disk that a path names, as in `fairs.zip/leeds.csv`."""
    # `fairs.zip/leeds.csv` is no path of the disk: what is a file cannot be a folder.
    archive = next((each for each in path.parents if each.is_file()), None)
    if archive is None or not zipfile.is_zipfile(archive):
        return []
    name = path.relative_to(archive).as_posix()
    opened, infos = _infos(load(archive))
    members = {each.filename: each for each in infos}
    if name not in members:
        raise LeadFileError(
            f"{archive} has no member {name}; it has: {', '.join(sorted(members))}", path=archive
        )
    return [_member(archive, opened, members[name])]


def _members(source: Source) -> list[Place]:
    archive, infos = _infos(source)
    named = [info for info in infos if is_table(info.filename.rpartition("/")[2])]
    # One file alone in an archive is meant, whatever it is called.
    chosen = named or (infos if len(infos) == 1 else [])
    if not chosen:
        raise LeadFileError(
            f"{source.path} is a zip archive that holds no table; it has: "
            f"{', '.join(info.filename for info in infos[:9]) or 'nothing'}",
            path=source.path,
        )
    if len(chosen) > _MOST_MEMBERS:
        raise LeadFileError(
            f"{source.path} holds {len(chosen):,} tables, more than {_MOST_MEMBERS:,}; unpack it into a "
            "folder, or put the tables together",
            path=source.path,
        )
    # Members may share the same bytes: each is small for its size, all of them are not.
    unpacked_bytes = min(sum(info.file_size for info in chosen), MAX_UNPACKED_BYTES)
    check_unpacked(source.path, unpacked_bytes, len(source.data))
    # The order in an archive is that of whoever packed it.
    chosen = sorted(chosen, key=lambda info: info.filename)
    return [_member(source.path, archive, info) for info in chosen]


def _infos(source: Source) -> tuple[zipfile.ZipFile, list[zipfile.ZipInfo]]:
    """An archive and its files; opened once, since opening reads the names of all of them."""
    archive = zipfile.ZipFile(io.BytesIO(source.data))
    return archive, [
        info
        for info in archive.infolist()
        # A damaged archive has members without a name (`is_dir` would look at its last letter).
        if info.filename
        and not info.is_dir()
        and not any(part.startswith(_HIDDEN) for part in _parts_of(info))
    ]


def _parts_of(info: zipfile.ZipInfo) -> list[str]:
    """Folders and name of a member; what leads out of the archive (`../x.csv`) is inside like all others."""
    return [part for part in info.filename.split("/") if part not in ("", ".", "..")]


def _member(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Place:
    name = path.joinpath(*_parts_of(info))
    return Place(name, partial(_extract_member, name, archive, info))


def _extract_member(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> BinaryIO:
    """The member's content, never more than is allowed."""
    # By what the archive says of itself, before a byte is unpacked; `member.read` stops there.
    check_unpacked(path, info.file_size, info.compress_size)
    try:
        with archive.open(info) as member:
            data = member.read()
    except RuntimeError:
        raise LeadFileError(
            f"{path} has a password; unpack it without one first", path=path
        ) from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError) as problem:
        raise LeadFileError(f"{path} is damaged: {problem}", path=path) from None
    return io.BytesIO(data)


def _remote(url: str) -> list[Place]:
    """Files behind a URL, by way of fsspec."""
    import fsspec

    with reaching(url):
        system, root = fsspec.core.url_to_fs(url)
        if _MAGIC.intersection(root):
            names = sorted(system.glob(root))
        elif system.isdir(root):
            inside = sorted(system.ls(root, detail=False))
            names = [
                address for address in inside if is_table(address.rstrip("/").rpartition("/")[2])
            ]
        else:
            names = [root]
    if not names:
        raise LeadFileError(f"{url} holds no table; check the path", path=Path(url))
    scheme = url.partition("://")[0]
    return [
        Place(
            Path(url if address == root else f"{scheme}://{address}"),
            partial(_open_remote, system, address),
        )
        for address in names
    ]


def expanded(paths: Sequence[str | Path]) -> list[str | Path]:
    """The paths with every URL that has wildcards in it as the files that it stands for, in order.

    Raises:
        LeadFileError: It stands for no file, or cannot be reached.
    """
    places: list[str | Path] = []
    for path in paths:
        text = str(path)
        if "://" not in text or _MAGIC.isdisjoint(text):
            places.append(path)
            continue
        import fsspec

        with reaching(text):
            filesystem, inside = fsspec.core.url_to_fs(text)
            names = sorted(filesystem.glob(inside))
        if not names:
            raise LeadFileError(f"{text} stands for no file; check the URL")
        places += [filesystem.unstrip_protocol(name) for name in names]
    return places


def _open_remote(system: AbstractFileSystem, name: str) -> BinaryIO:
    with reaching(name):
        return cast(BinaryIO, system.open(name, "rb"))


@contextmanager
def reaching(url: str) -> Iterator[None]:
    """Say in one sentence what keeps a URL from being reached.

    Raises:
        LeadFileError: Something does.
    """
    try:
        yield
    except FileNotFoundError:
        raise
    except Exception as problem:
        # Each store raises errors of its own, for a missing key as for a missing network.
        raise LeadFileError(f"{url} cannot be reached: {problem}", path=Path(url)) from problem
