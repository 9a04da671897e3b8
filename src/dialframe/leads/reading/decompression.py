"""Packed files unpacked as they go by, bounded."""

from __future__ import annotations

import hashlib
import io
import zlib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Final

from dialframe.errors import LeadFileError

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
        chunks = _bounded(path, unpack(path, chain([head], chunks)), packed)
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


def _bounded(path: Path, chunks: Iterator[bytes], packed: Packed) -> Iterator[bytes]:
    size = 0
    # As it goes by: a trap is refused before it fills the memory.
    for chunk in chunks:
        size += len(chunk)
        check_unpacked(path, size, packed.size)
        yield chunk
