"""Tables that wait between two passes: in memory while they are small, on the disk from then on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from dialframe.files import FILE_MODE

#: Bytes that wait in memory before the disk is used.
MEMORY_BYTES: Final = 96 * 2**20
_NOTES: Final = b"notes"


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
        told = batch.schema.with_metadata({_NOTES: json.dumps(notes).encode()})
        path = self._path(number)
        path.touch(mode=FILE_MODE)
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, told) as writer:
            writer.write_batch(pa.RecordBatch.from_arrays(batch.columns, schema=told))
        return number

    def get(self, number: int, columns: Sequence[int] | None = None) -> tuple[pa.RecordBatch, Any]:
        """A table, perhaps only some of its columns, with its plain values."""
        if number in self.kept:
            return self.kept[number]
        wanted = pa.ipc.IpcReadOptions(included_fields=list(columns) if columns else None)
        with pa.OSFile(str(self._path(number)), "rb") as file:
            reader = pa.ipc.open_file(file, options=wanted)
            batch = reader.get_batch(0)
            return batch, json.loads(reader.schema.metadata[_NOTES])

    def drop(self, number: int) -> None:
        """Forget a table."""
        found = self.kept.pop(number, None)
        if found is None:
            self._path(number).unlink(missing_ok=True)
        else:
            self.held_bytes -= found[0].get_total_buffer_size()

    def _path(self, number: int) -> Path:
        assert self.folder is not None  # noqa: S101 - without one everything is held
        return self.folder / f"{number:08d}.arrow"
