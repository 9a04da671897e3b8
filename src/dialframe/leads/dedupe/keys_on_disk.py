"""Repetition among more keys than memory should hold: keys wait on the disk, parted so that equal ones meet.

Each part is small enough to be looked through at once. Numbers are their own keys; of texts two
hashes of 64 bits stand for the text.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa

from dialframe.files import FILE_MODE, FOLDER_MODE
from dialframe.leads.dedupe.duplicate_detection import Again
from dialframe.leads.judging import plain_cell_detection

#: Parts; a hundred million keys make parts of some 1,600,000.
PARTS: Final = 64
_SHIFT: Final = np.uint64(64 - PARTS.bit_length() + 1)
#: The golden ratio's fraction of 2 to the 64th: its multiples spread numbers that follow each other
#: (Knuth, The Art of Computer Programming 3, 6.4, on multiplicative hashing).
_MIX: Final = np.uint64(0x9E3779B97F4A7C15)
#: Keys that are parted at once.
_TAKEN: Final = 1_000_000
#: Records whose repetitions are handed over at once.
_SPAN: Final = 1_000_000
_COLUMNS: Final = 4
_FOUND: Final = 3


class Partitions:
    """Finds repetition with files of a folder of its own.

    Args:
        folder: Where that folder goes; the caller removes it.
    """

    def __init__(self, folder: Path) -> None:
        number = next(at for at in count() if not (folder / f"repeats{at}").exists())
        self._folder = folder / f"repeats{number}"
        self._folder.mkdir(mode=FOLDER_MODE)
        self._waiting: list[np.ndarray] = []
        self._rows = self._last = 0
        self._is_found = False

    def add(self, records: np.ndarray, keys: np.ndarray | pa.Array, lines: np.ndarray) -> None:
        """The next records with their keys and physical lines."""
        if not len(records):
            return
        rows = np.empty((len(records), _COLUMNS), np.int64)
        rows[:, 0], rows[:, 1] = records, lines
        if isinstance(keys, np.ndarray):
            rows[:, 2], rows[:, 3] = keys, 0
        else:
            rows[:, 2], rows[:, 3] = plain_cell_detection.keys(keys)
        self._waiting.append(rows)
        self._rows += len(rows)
        self._last = int(records[-1])
        if self._rows >= _TAKEN:
            self._part()

    def found(self) -> Iterator[Again]:
        """Records whose key an earlier one has, in order."""
        if not self._is_found:
            self._part()
            for part in range(PARTS):
                self._look_through(part)
            self._is_found = True
        # Each part is in the order of its records; of all parts together one span at a time is merged.
        paths = [path for path in map(self._again, range(PARTS)) if path.exists()]
        done = dict.fromkeys(paths, 0)
        for begin in range(0, self._last + 1, _SPAN):
            parts = []
            for path in paths:
                rows = _read(path, done[path], _FOUND, begin + _SPAN)
                done[path] += len(rows)
                parts.append(rows)
            rows = np.concatenate([np.empty((0, _FOUND), np.int64), *parts])
            rows = rows[np.argsort(rows[:, 0], kind="stable")]
            yield Again(rows[:, 0].copy(), rows[:, 1].copy(), rows[:, 2].copy())

    def _part(self) -> None:
        """Add what waits to the files of its parts."""
        if not self._waiting:
            return
        rows = np.concatenate(self._waiting)
        self._waiting, self._rows = [], 0
        part = ((rows[:, 2].astype(np.uint64) * _MIX) >> _SHIFT).astype(np.uint8)
        order = np.argsort(part, kind="stable")
        rows = rows[order]
        stops = np.searchsorted(part[order], np.arange(PARTS), side="right").tolist()
        begin = 0
        for at, stop in enumerate(stops):
            if stop > begin:
                path = self._path(at)
                if not path.exists():
                    path.touch(mode=FILE_MODE)
                with path.open("ab") as file:
                    file.write(rows[begin:stop].data)
            begin = stop

    def _look_through(self, part: int) -> None:
        """Find what repeats itself in one part; equal keys are all in it, in order."""
        path = self._path(part)
        if not path.exists():
            return
        rows = np.fromfile(path, np.int64).reshape(-1, _COLUMNS)
        path.unlink()
        # One hash tells nearly all apart; the second is asked only where it does not.
        codes, distinct = pd.factorize(rows[:, 2])
        firsts = np.empty(len(distinct), np.int64)
        firsts[codes[::-1]] = np.arange(len(rows))[::-1]
        first = firsts[codes]
        if (rows[first, 3] != rows[:, 3]).any():
            first = _by_both(rows)
        again = np.flatnonzero(first != np.arange(len(rows)))
        if not len(again):
            return
        repeats = np.stack([rows[again, 0], rows[first[again], 0], rows[first[again], 1]], axis=1)
        path = self._again(part)
        path.touch(mode=FILE_MODE)
        path.write_bytes(np.ascontiguousarray(repeats).data)

    def _path(self, part: int) -> Path:
        return self._folder / f"{part:03d}.keys"

    def _again(self, part: int) -> Path:
        return self._folder / f"{part:03d}.again"


def _by_both(rows: np.ndarray) -> np.ndarray:
    """The first row of each pair of hashes, where one of them alone does not tell texts apart."""
    order = np.lexsort((np.arange(len(rows)), rows[:, 3], rows[:, 2]))
    ordered = rows[order]
    new = np.ones(len(rows), np.bool_)
    new[1:] = (ordered[1:, 2:] != ordered[:-1, 2:]).any(axis=1)
    first = np.empty(len(rows), np.int64)
    first[order] = order[np.flatnonzero(new)][np.cumsum(new) - 1]
    return first


def _read(path: Path, done: int, columns: int, stop: int) -> np.ndarray:
    """Rows from a place on whose record is below `stop`."""
    rows = np.memmap(path, np.int64, "r").reshape(-1, columns)
    last = int(np.searchsorted(rows[done:, 0], stop)) + done
    return np.array(rows[done:last])
