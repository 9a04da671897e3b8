"""Lead files in blocks that wait for judgment, whatever their format."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa

from dialframe.errors import LeadFileError
from dialframe.files import note_files
from dialframe.leads import arrow_text
from dialframe.leads.lead_file import Decisions, LeadFile, Rows, unique_names
from dialframe.leads.reading import delimited, text_plausibility
from dialframe.leads.reading.chunked_text import Content, open_utf8
from dialframe.leads.reading.delimited import Surveyed, survey
from dialframe.leads.reading.delimited_blocks import Block
from dialframe.leads.reading.file_bytes import kind_of
from dialframe.leads.reading.file_discovery import reaching, tables_in
from dialframe.leads.reading.lead_file_reader import (
    ReadOptions,
    begins_like_json,
    read_all,
    read_as,
)
from dialframe.leads.reading.spilled_tables import Spool

#: Rows of a block of a file that was read whole.
_ROWS: Final = 50_000
_SAMPLE_ROWS: Final = 50_000
_MAGIC_BYTES: Final = 512
_ZIP: Final = b"PK"
_LINE: Final = "line"
_ORDINAL: Final = "ordinal"


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
        surveyed: Which of their records are leads; None where all are.
    """

    file: LeadFile
    leads: int
    numbers: list[int]
    surveyed: Surveyed | None = field(default=None, repr=False)

    @property
    def records(self) -> int:
        """Records of the file, skipped ones among and behind the leads included."""
        return self.leads + int(self.file.skipped["_row"].notna().sum())

    def batches(self, spool: Spool) -> Iterator[Batch]:
        """Its leads, block by block."""
        names = [str(name) for name in self.file.frame.columns]
        for number in self.numbers:
            batch, notes = spool.get(number)
            yield _batch(names, batch, notes, self.surveyed)


def take_in(path: str | os.PathLike[str], options: ReadOptions, spool: Spool) -> list[TakenIn]:
    """Read every table at a path once, block by block where its format allows that.

    A folder, or an archive of which nothing is said, may hold several.

    Raises:
        LeadFileError: As `lead_file_reader.read`, and where the file changed meanwhile.
        ConfigError: As `lead_file_reader.read`.
    """
    is_here = "://" not in os.fspath(path)
    content = (
        open_utf8(Path(path), options.max_line_bytes) if is_here and _may_stream(options) else None
    )
    if content is not None and _is_delimited(Path(path), content, options):
        streamed = _streamed(Path(path), content, options, spool)
        if streamed is None:
            return [take_in_all(read_as(path, options, in_blocks=False), spool)]
        note_files([Path(path)])
        return [streamed]
    if options == ReadOptions(max_line_bytes=options.max_line_bytes) and is_here:
        if Path(path).is_dir():
            return [
                taken for file in tables_in(Path(path)) for taken in take_in(file, options, spool)
            ]
        every = read_all(path, max_line_bytes=options.max_line_bytes)
        return [take_in_all(file, spool) for file in every]
    return [take_in_all(read_as(path, options), spool)]


def sample_step(rows: int) -> int:
    """Every how manieth row is in the sample on which decisions are taken: odd, to see rows of two kinds in turn."""
    return max(1, -(-rows // _SAMPLE_ROWS)) | 1


def _may_stream(options: ReadOptions) -> bool:
    return options.encoding is None or options.encoding.lower().replace("_", "-") in (
        "utf-8",
        "utf8",
    )


def _streamed(path: Path, content: Content, options: ReadOptions, spool: Spool) -> TakenIn | None:
    numbers: list[int] = []

    def keep(block: Block) -> None:
        numbers.append(_keep(block, spool))

    surveyed = survey(content, options.delimiter, options.quote, options.header, keep)
    if surveyed is None:
        for number in numbers:
            spool.drop(number)
        return None
    layout = surveyed.layout
    names = unique_names(layout.header, layout.width)
    sep_line = content.line(0) if surveyed.found.sep_line else ""
    known = Decisions("csv", encoding="utf-8", bom=content.has_mark)
    empty = pd.DataFrame({name: pd.Series([], dtype="str") for name in names})
    file = LeadFile(
        path=path,
        frame=empty,
        header=layout.header,
        lines=np.zeros(0, np.int64),
        rows=np.zeros(0, np.int64),
        skipped=delimited.skipped(surveyed, names, sep_line),
        decisions=delimited.decisions(surveyed, known),
        sha256=content.sha256,
    )
    taken = TakenIn(file, surveyed.leads_count, numbers, surveyed)
    return replace(taken, file=replace(file, frame=_sampled(taken, spool)))


def _is_delimited(path: Path, content: Content, options: ReadOptions) -> bool:
    """Whether nothing but a delimited text can be meant; all other files are read whole."""
    begin = content.fetch(0, _MAGIC_BYTES)
    if begin.startswith(_ZIP) or kind_of(path, begin) != "text":
        return False
    head = content.head()
    blank = not head.strip()
    like_json = options.format == "auto" and begins_like_json(head)
    return not (blank or like_json or text_plausibility.is_binary(head))


def _sampled(taken: TakenIn, spool: Spool) -> pd.DataFrame:
    """Rows spread over the whole file."""
    step = sample_step(taken.leads)
    names = [str(name) for name in taken.file.frame.columns]
    columns: dict[str, list[pa.Array]] = {name: [] for name in names}
    done = 0
    for batch in taken.batches(spool):
        rows = np.arange(-done % step, len(batch.lines), step)
        done += len(batch.lines)
        for name in names:
            columns[name].append(arrow_text.take(batch.rows.columns[name], rows))
    return pd.DataFrame({name: delimited.text(_joined(parts)) for name, parts in columns.items()})


def _joined(parts: list[pa.Array]) -> pa.Array:
    return pa.concat_arrays(parts) if parts else arrow_text.column([])


def _keep(block: Block, spool: Spool) -> int:
    names = [str(at) for at in range(len(block.columns))]
    ordinals = np.arange(block.first, block.first + len(block))
    batch = pa.RecordBatch.from_arrays(
        [*block.columns, pa.array(block.starts + 1), pa.array(ordinals)],
        names=[*names, _LINE, _ORDINAL],
    )
    return spool.put(batch, _notes(block.faults, block.warnings, block.raws, block.first))


def _notes(
    faults: Mapping[int, str],
    warnings: Mapping[int, tuple[str, ...]],
    raws: Mapping[int, str],
    first: int,
) -> dict[str, object]:
    return {
        "first": first,
        "faults": list(faults.items()),
        "warnings": [(row, list(codes)) for row, codes in warnings.items()],
        "raws": list(raws.items()),
    }


def take_in_all(file: LeadFile, spool: Spool) -> TakenIn:
    """A file that was read whole, cut into blocks."""
    columns = [arrow_text.of_series(file.frame[name]) for name in file.frame.columns]
    numbers = []
    for begin in range(0, len(file.frame), _ROWS):
        stop = min(begin + _ROWS, len(file.frame))
        notes = {
            name: {row - begin: what for row, what in marks.items() if begin <= row < stop}
            for name, marks in (("f", file.faults), ("w", file.warnings), ("r", file.raws))
        }
        batch = pa.RecordBatch.from_arrays(
            [
                *(column.slice(begin, stop - begin) for column in columns),
                pa.array(file.lines[begin:stop]),
                pa.array(file.rows[begin:stop]),
            ],
            names=[*(str(at) for at in range(len(columns))), _LINE, _ORDINAL],
        )
        numbers.append(spool.put(batch, _notes(notes["f"], notes["w"], notes["r"], 0)))  # type: ignore[arg-type]
    seen = file.frame.iloc[:: sample_step(len(file.frame))]
    return TakenIn(replace(file, frame=seen), len(file.frame), numbers)


def expanded(paths: Sequence[str | Path]) -> list[str | Path]:
    """The paths with every URL that has wildcards in it as the files that it stands for, in order.

    Raises:
        LeadFileError: It stands for no file, or cannot be reached.
    """
    places: list[str | Path] = []
    for path in paths:
        text = str(path)
        if "://" not in text or not any(sign in text for sign in "*?["):
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


def _batch(
    names: list[str],
    batch: pa.RecordBatch,
    notes: dict[str, list[tuple[int, object]]],
    surveyed: Surveyed | None,
) -> Batch:
    """The leads of a block; records that are none are left out."""
    lines = batch.column(_LINE).to_numpy()
    ordinals = batch.column(_ORDINAL).to_numpy()
    rows = np.arange(len(lines))
    if surveyed is not None:
        rows = surveyed.leads_between(int(ordinals[0]), len(lines)) if len(lines) else rows
        ordinals = ordinals - surveyed.first + 1
    columns = {name: arrow_text.take(batch.column(at), rows) for at, name in enumerate(names)}
    places = (
        {row: at for at, row in enumerate(rows.tolist())}
        if any(notes[name] for name in ("faults", "warnings", "raws"))
        else {}
    )
    faults, warnings, raws = (
        {places[row]: what for row, what in notes[name] if row in places}
        for name in ("faults", "warnings", "raws")
    )
    warned: dict[int, tuple[str, ...]] = {row: tuple(codes) for row, codes in warnings.items()}  # type: ignore[arg-type]
    judged = Rows(columns, MappingProxyType(faults), MappingProxyType(warned), raws)  # type: ignore[arg-type]
    return Batch(judged, lines[rows], ordinals[rows])
