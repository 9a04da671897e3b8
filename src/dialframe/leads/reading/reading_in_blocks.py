"""Leads of a file in blocks that wait for judgment, in memory while they are few, on the disk from then on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa

from dialframe.files import FILE_MODE
from dialframe.leads import arrow_text
from dialframe.leads.lead_file import LeadFile, Rows
from dialframe.leads.reading.delimited_blocks import Block

#: Rows of a block of a file that was read whole.
_ROWS: Final = 50_000
_SAMPLE_ROWS: Final = 50_000
_LINE: Final = "line"
_ORDINAL: Final = "ordinal"
#: Bytes of tables that wait in memory before the disk is used.
MEMORY_BYTES: Final = 96 * 2**20
_NOTES: Final = b"notes"

#: Row of a block, its fault, its warnings, and its text if it could not be read whole; JSON keeps them.
Note = tuple[int, str | None, Sequence[str], str | None]
#: What has faults, warnings and texts by row.
Noted = LeadFile | Rows | Block


@dataclass(slots=True, eq=False)
class Spool:
    """Tables by number.

    Attributes:
        folder: Where they go when they become too many; it is the caller's to make and to remove.
            None to keep all in memory.
        memory_bytes: How many bytes stay in memory; None for all.
        held_bytes: How many do.
        kept: Those that do.
        count: How many tables there are.
    """

    folder: Path | None
    memory_bytes: int | None = MEMORY_BYTES
    held_bytes: int = 0
    kept: dict[int, tuple[pa.RecordBatch, Any]] = field(default_factory=dict)
    count: int = 0

    def put(self, batch: pa.RecordBatch, notes: Any = None) -> int:
        """Keep a table with plain values beside it; returns its number.

        Raises:
            OSError: The disk is full.
        """
        number = self.count
        self.count += 1
        size = batch.get_total_buffer_size()
        if self.memory_bytes is None or self.held_bytes + size <= self.memory_bytes:
            self.held_bytes += size
            self.kept[number] = (batch, notes)
            return number
        schema = batch.schema.with_metadata({_NOTES: json.dumps(notes).encode()})
        path = self._path(number)
        path.touch(mode=FILE_MODE)
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, schema) as writer:
            writer.write_batch(pa.RecordBatch.from_arrays(batch.columns, schema=schema))
        return number

    def get(self, number: int, columns: Sequence[int] | None = None) -> tuple[pa.RecordBatch, Any]:
        """A table, perhaps only some of its columns, with its plain values."""
        if number in self.kept:
            return self.kept[number]
        options = pa.ipc.IpcReadOptions(included_fields=list(columns) if columns else None)
        with pa.OSFile(str(self._path(number)), "rb") as file:
            reader = pa.ipc.open_file(file, options=options)
            batch = reader.get_batch(0)
            return batch, json.loads(reader.schema.metadata[_NOTES])

    def drop(self, number: int) -> None:
        """Forget a table."""
        if number in self.kept:
            batch, _ = self.kept.pop(number)
            self.held_bytes -= batch.get_total_buffer_size()
        else:
            self._path(number).unlink(missing_ok=True)

    def _path(self, number: int) -> Path:
        assert self.folder is not None  # noqa: S101 - without one everything is held
        return self.folder / f"{number:08d}.arrow"


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Leads of one file that follow each other.

    Attributes:
        rows: As they are judged.
        lines: Their physical lines.
        ordinals: Their ordinals among all records.
    """

    rows: Rows
    lines: np.ndarray
    ordinals: np.ndarray

    def repeated(self, source: np.ndarray) -> Batch:
        """Some of these leads, in order, perhaps several times each."""
        return Batch(self.rows.repeated(source), self.lines[source], self.ordinals[source])


@dataclass(frozen=True, slots=True, eq=False)
class TakenIn:
    """A file whose leads wait in blocks.

    Attributes:
        file: The file with a sample of its rows.
        leads: How many leads it has.
        numbers: The blocks' numbers in the spool.
        first: Ordinal of its first record among those of the blocks.
        no_leads: Ordinals of the records behind that one that are no leads, ascending; None where the
            blocks hold nothing but leads.
    """

    file: LeadFile
    leads: int
    numbers: list[int]
    first: int = 1
    no_leads: np.ndarray | None = field(default=None, repr=False)

    @property
    def records(self) -> int:
        """Records of the file, skipped ones among and behind the leads included."""
        return self.leads + int(self.file.skipped["_row"].notna().sum())

    def batches(self, spool: Spool) -> Iterator[Batch]:
        """Its leads, block by block."""
        names = [str(name) for name in self.file.frame.columns]
        for number in self.numbers:
            batch, notes = spool.get(number)
            lines, ordinals = (batch.column(name).to_numpy() for name in (_LINE, _ORDINAL))
            is_lead = np.ones(len(lines), np.bool_)
            if self.no_leads is not None and len(lines):
                # Two ends of a sorted list instead of a set: a file has millions of records.
                is_lead = ordinals >= self.first
                ends = (ordinals[0], ordinals[-1] + 1)
                since, until = np.searchsorted(self.no_leads, ends)
                is_lead[self.no_leads[since:until] - ordinals[0]] = False
            rows = np.flatnonzero(is_lead)
            leads = Rows(
                {name: arrow_text.take(batch.column(at), rows) for at, name in enumerate(names)},
                *_by_row(
                    (np.searchsorted(rows, row), *what) for row, *what in notes if is_lead[row]
                ),
            )
            yield Batch(leads, lines[rows], ordinals[rows] - self.first + 1)

    def sample(self, spool: Spool) -> pd.DataFrame:
        """Rows spread over the whole file."""
        return _frame(self.file, self.batches(spool), sample_step(self.leads))

    def whole(self, spool: Spool) -> LeadFile:
        """The file with all its rows."""
        batches = list(self.batches(spool))
        notes: list[tuple[Any, ...]] = []
        done = 0
        for batch in batches:
            notes += [
                (done + row, *what) for row, *what in _notes(batch.rows, 0, len(batch.lines))
            ]
            done += len(batch.lines)
        faults, warnings, raws = _by_row(notes)
        return replace(
            self.file,
            frame=_frame(self.file, batches, 1),
            lines=np.concatenate([batch.lines for batch in batches]),
            rows=np.concatenate([batch.ordinals for batch in batches]),
            faults=MappingProxyType(faults),
            warnings=MappingProxyType(warnings),
            raws=MappingProxyType(raws),
        )


def keep_block(
    spool: Spool,
    columns: Sequence[pa.Array],
    lines: np.ndarray,
    ordinals: np.ndarray,
    noted: Noted,
    begin: int = 0,
) -> int:
    """Put records that follow each other into the spool; returns their block's number.

    Args:
        spool: Where they wait.
        columns: Their texts by column.
        lines: Their physical lines.
        ordinals: Their ordinals among all records.
        noted: What has the notes of them, and perhaps of others.
        begin: The first of them there.
    """
    names = [*map(str, range(len(columns))), _LINE, _ORDINAL]
    arrays = [*columns, pa.array(lines), pa.array(ordinals)]
    batch = pa.RecordBatch.from_arrays(arrays, names=names)
    return spool.put(batch, _notes(noted, begin, begin + len(lines)))


def take_in_all(file: LeadFile, spool: Spool) -> TakenIn:
    """A file that was read whole, cut into blocks."""
    columns = [arrow_text.of_series(file.frame[name]) for name in file.frame.columns]
    numbers = []
    for begin in range(0, len(file.frame), _ROWS):
        block = [column.slice(begin, _ROWS) for column in columns]
        lines, ordinals = (each[begin : begin + _ROWS] for each in (file.lines, file.rows))
        numbers.append(keep_block(spool, block, lines, ordinals, file, begin))
    seen = file.frame.iloc[:: sample_step(len(file.frame))]
    return TakenIn(replace(file, frame=seen), len(file.frame), numbers)


def sample_step(rows: int) -> int:
    """Every how manieth row is in the sample on which decisions are taken: odd, to see rows of two kinds in turn."""
    return max(1, -(-rows // _SAMPLE_ROWS)) | 1


def _notes(noted: Noted, begin: int, stop: int) -> list[Note]:
    """What is noted of some rows, counted from the first of them."""
    faults, warnings, raws = noted.faults, noted.warnings, noted.raws
    rows = sorted(row for row in {*faults, *warnings, *raws} if begin <= row < stop)
    return [(row - begin, faults.get(row), warnings.get(row, ()), raws.get(row)) for row in rows]


def _by_row(
    notes: Iterable[Sequence[Any]],
) -> tuple[dict[int, str], dict[int, tuple[str, ...]], dict[int, str]]:
    """The faults, warnings and texts of the rows that have one."""
    every = [(int(row), fault, tuple(codes), raw) for row, fault, codes, raw in notes]
    return (
        {row: fault for row, fault, _, _ in every if fault is not None},
        {row: codes for row, _, codes, _ in every if codes},
        {row: raw for row, _, _, raw in every if raw is not None},
    )


def _frame(file: LeadFile, batches: Iterable[Batch], step: int) -> pd.DataFrame:
    """Every so manieth row of the batches of a file."""
    names = [str(name) for name in file.frame.columns]
    columns: dict[str, list[pa.Array]] = {name: [arrow_text.column([])] for name in names}
    done = 0
    for batch in batches:
        rows = np.arange(-done % step, len(batch.lines), step)
        done += len(batch.lines)
        for name in names:
            columns[name].append(arrow_text.take(batch.rows.columns[name], rows))
    whole = {
        name: pd.array(pa.concat_arrays(parts), dtype="str") for name, parts in columns.items()
    }
    return pd.DataFrame(whole, index=pd.RangeIndex(-(-done // step)))
