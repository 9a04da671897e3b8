"""Where tables lie: in a file, a folder, a glob, an archive or an object store.

A path may be a file of this disk, a folder, a glob (`fairs/*.csv`), a member of an archive
(`fairs.zip/leeds.csv`), or a URL that fsspec understands (`s3://bucket/fairs/*.csv`,
`zip://leeds.csv::https://...`).
"""

from __future__ import annotations

import glob
import io
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from dialframe.errors import LeadFileError
from dialframe.leads.reading.decompression import MAX_UNPACKED_BYTES, check_unpacked
from dialframe.leads.reading.file_bytes import MAX_LINE_BYTES, Source, load

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
            Place(each) for each in _bounded(path, [each for each in matched if each.is_file()])
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
    return _bounded(folder, tables)


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


def _bounded(path: Path, paths: list[Path]) -> list[Path]:
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
        and not any(part.startswith(_HIDDEN) for part in info.filename.split("/"))
    ]


def _member(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Place:
    return Place(path / info.filename, partial(_extracted, path / info.filename, archive, info))


def _extracted(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> BinaryIO:
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
            partial(_opened, system, address),
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


def _opened(system: AbstractFileSystem, name: str) -> BinaryIO:
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
