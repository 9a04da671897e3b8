"""Lead files to clean leads in five steps: read, map, check, compare, write.

Every file is read in batches that wait, every batch is checked by itself and waits again, and when all records
have been compared the batches become rows of the outcomes. What stays in memory of a record is a few integers.
An executor takes files: each worker reads, checks and writes its own, and tells the caller the numbers alone;
where a duplicate is decided is here, in one place (`duplicates.Comparison`).
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Literal, Self

import numpy as np
import pyarrow as pa

from dialframe import arrow_text
from dialframe.background import ahead
from dialframe.config import OnProgress, Progress, silent
from dialframe.errors import ConfigError, LeadFileError
from dialframe.leads import outcomes
from dialframe.leads.cells import turns_names
from dialframe.leads.checks import Assessed, Judging, assess, kept_names, leads_of, tidied
from dialframe.leads.columns.column_decisions import map_columns, with_region
from dialframe.leads.columns.column_map import ColumnMap, Columns
from dialframe.leads.columns.country_names import ColumnDoubt
from dialframe.leads.columns.list_region import (
    RegionDecision,
    column_doubts,
    decide_region,
    given_region,
)
from dialframe.leads.columns.questions import Tally as Asked
from dialframe.leads.columns.questions import answered
from dialframe.leads.duplicates import Barring, Comparison, Keys, Settled
from dialframe.leads.formats import Form
from dialframe.leads.import_bodies import LeadInput, custom_fields, inputs_of, once
from dialframe.leads.input_files import expanded
from dialframe.leads.lead_file import LEAD_COLUMNS, META, Batch, LeadFile, numbered
from dialframe.leads.outcomes import Cleaned, CleanedFile, CleanedFiles, OutcomeRows, Tally
from dialframe.leads.outputs import CleanColumns, CleanLayout, Outputs, Render, Target, write_lists
from dialframe.leads.own_lists import Origin, doubt_of, origin_of, restored
from dialframe.leads.plain_cells import numbers
from dialframe.leads.reading import ReadOptions, read_all, read_tables
from dialframe.leads.reasons import COUNT_KEYS
from dialframe.leads.rows import MEMORY_BYTES, SAMPLE_ROWS, ReadFile, Waiting
from dialframe.leads.rules import FieldRule, Policy
from dialframe.phones import check_region
from dialframe.phones.column_reader import read_column
from dialframe.privacy import terminal_safe

_STEP: Final = "bytes"
_NONE: Final = np.zeros(0, np.int64)
_KEYS: Final = tuple(COUNT_KEYS.values())
#: Records that are made what the service takes at once.
_INPUT_ROWS: Final = 2_000
#: Batches that are checked at once: what checks them lets go of the interpreter most of the time.
_THREADS: Final = 2
#: Shares of the work, for progress: reading, checking, writing.
_SHARES: Final = {"read": 0.2, "check": 0.5, "write": 0.3}
_ENDINGS: Final = re.compile(
    r"(\.(csv|tsv|txt|tab|psv|xlsx|xlsm|xlsb|xls|ods|json|jsonl|ndjson|parquet|dat))?(\.gz)?$",
    re.IGNORECASE,
)

#: What says the columns of a file, of which it may have a part of the rows.
Choose = Callable[[LeadFile], ColumnMap]
#: Columns of a file as they are given, what says them, or None to find them.
ColumnChoice = ColumnMap | Mapping[str, Columns] | Choose | None
#: Decides the region of a file's national numbers, of which it may have a part of the rows.
ChooseRegion = Callable[[LeadFile, ColumnMap], RegionDecision]


@dataclass(frozen=True, slots=True)
class Choices:
    """What the caller decides about lead files; the rest is found.

    Attributes:
        region: ISO 3166 region of national numbers, or None to find it.
        force_region: Whether the region counts although a file speaks against it.
        choose_region: Decides the region of each file instead, from its sample and its columns.
        mapping: Columns by field, as for `map_columns`, for all files; or what says them of each.
        policy: Decisions that are not the contract's.
        blocked_countries: Regions whose numbers are rejected.
        field_rules: Further rules of the account.
        options: What is known of how the files are written; the rest is found out.
        answers: What somebody answered about words in columns: mappings with `column`, `phrase`, `answer`.
    """

    region: str | None
    mapping: ColumnChoice = None
    policy: Policy = field(default_factory=Policy)
    blocked_countries: Collection[str] = ()
    field_rules: Sequence[FieldRule] = ()
    options: ReadOptions = field(default_factory=ReadOptions)
    choose_region: ChooseRegion | None = None
    force_region: bool = False
    answers: Sequence[Mapping[str, str | None]] = ()

    def region_of(self, file: LeadFile, columns: ColumnMap) -> RegionDecision:
        """The region of a file's national numbers, settled.

        Args:
            file: The file, or a sample of its rows.
            columns: The columns of the file.

        Raises:
            LeadFileError: No region is known, or the file plainly speaks against the given one.
        """
        if self.choose_region is not None:
            decision = self.choose_region(file, columns)
        else:
            decision = decide_region(file, self.region, columns)
        decision.settled(force=self.force_region)
        return decision

    def judging(
        self,
        columns: ColumnMap,
        region: str | None,
        *,
        turned: bool = False,
        file: LeadFile | None = None,
    ) -> Judging:
        """By what the records of a file are checked.

        Args:
            columns: The columns of the file.
            region: Region of numbers without `+`.
            turned: Whether the file's whole names are written `Last, First`.
            file: The file, where its numbers may have no country code.
        """
        blocked = frozenset(str(check_region(country)) for country in self.blocked_countries)
        given = given_region(region)
        doubts: Mapping[str, ColumnDoubt] = {}
        if file is not None and not self.force_region:
            doubts = column_doubts(file, columns)
        return Judging(
            columns, given, self.policy, blocked, tuple(self.field_rules), turned, doubts
        )


# ---- one file: mapped and checked


@dataclass(frozen=True, slots=True, eq=False)
class CheckedFile:
    """A file whose batches are checked one by one and wait.

    Attributes:
        read_file: The file, read; of its rows a sample.
        judging: By what its records are checked.
        region: Why that region.
        leads: What a lead of it is: a record (`records`), each number of one (`numbers`), or a row
            of a clean list that was made so, where a record may have several (`listed`).
        waiting: Where its checked batches wait.
        numbers: Their numbers there.
        sizes: Leads of each batch.
        filled: Fields that have a value in some record.
        asked: Phrases that nobody has decided about.
    """

    read_file: ReadFile
    judging: Judging
    waiting: Waiting
    region: RegionDecision | None = None
    leads: Literal["records", "numbers", "listed"] = "records"
    numbers: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    filled: set[str] = field(default_factory=set)
    asked: Asked = field(default_factory=Asked)

    @property
    def file(self) -> LeadFile:
        """The file with a sample of its rows."""
        return self.read_file.file

    @property
    def extra_leads(self) -> int | None:
        """Leads beyond one of each record; None where a record is one lead."""
        return None if self.leads == "records" else sum(self.sizes) - self.read_file.leads

    def facts(self, name: str) -> CleanedFile:
        """What is to be known of it once it was cleaned.

        Args:
            name: Its name as it stands in `_file`.
        """
        file = self.file
        return CleanedFile(
            path=file.path,
            name=name,
            # Files are called after it: the name of an archive's member is a stranger's.
            stem=terminal_safe(_ENDINGS.sub("", file.name) or file.name),
            sha256=file.sha256,
            records=self.read_file.records,
            header=file.header,
            names=tuple(file.names),
            decisions=file.decisions,
            columns=self.judging.columns,
            region=self.judging.region,
            region_decision=self.region,
            extra_leads=self.extra_leads,
            questions=self.asked.questions(),
            held=dict(self.asked.held),
        )

    @property
    def kept_names(self) -> dict[str, str]:
        """Columns of the file that stay beside the fields, with their names there."""
        columns, policy = self.judging.columns, self.judging.policy
        return kept_names(self.file.names, columns, policy.one_lead_per)

    def keys(self, on_batch: Callable[[int], None] = lambda _: None) -> Iterator[Keys]:
        """Check every batch, have it wait, and give what is compared of it.

        Args:
            on_batch: Told of so many records.
        """
        policy = self.judging.policy.duplicates
        newest = newest_column(self.file) if policy == "newest" else None
        before, count, last = "", 0, 0

        def checked(batch: Batch) -> tuple[Batch, np.ndarray | None, Assessed]:
            if self.leads != "numbers":
                return batch, None, assess(batch, self.judging)
            source, single = leads_of(batch, self.judging)
            batch = batch.taken(source)  # a lead each from here on
            return batch, source, assess(batch, self.judging, single)

        batches = self.read_file.batches(drop=True)
        for batch, source, assessed in ahead(checked, batches, threads=_THREADS):
            lead_of = source
            if self.leads == "listed":
                ids = assessed.fields["external_id"].to_pylist()
                lead_of = _same_ids(ids, before, last - count)
                before, last = ids[-1], count + int(lead_of[-1])
            self.numbers.append(self.waiting.put(*_pack_batch(batch, assessed)))
            self.sizes.append(len(batch))
            self.asked.join(assessed.asked)
            self.filled.update(
                name for name, cells in assessed.fields.items() if arrow_text.sizes(cells).any()
            )
            scores = None
            if policy == "fullest":
                scores = filled_cells(batch.columns, len(batch))
            elif policy == "newest":
                cells = None if newest is None else batch.columns[newest]
                scores = ages(cells, count, len(batch))
            count += len(batch)
            on_batch(len(batch))
            yield Keys.of(assessed, batch.lines, lead_of, scores)

    def parts(
        self, names: Sequence[str], at: int, begins: Sequence[int], settled: Sequence[Settled]
    ) -> Iterator[list[OutcomeRows]]:
        """Rows of its outcomes, batch by batch, once all records have been compared.

        Args:
            names: Names of all files.
            at: Place of this one among them.
            begins: First record of each file.
            settled: What stands against the records of each batch because of others.
        """
        kept, columns = self.kept_names, self.file.names
        # What is no lead stands between the leads, and comes out there.
        skipped = outcomes.skipped(self.file, names[at])
        ordinals, done = arrow_text.values_of(skipped["_row"]), 0
        last = len(self.numbers) - 1
        for place, (number, against) in enumerate(zip(self.numbers, settled, strict=True)):
            batch, notes = self.waiting.get(number)
            cells = dict(zip(columns, batch.columns, strict=False))
            fields = {name: batch.column(name) for name in LEAD_COLUMNS}
            part = outcomes.Part(
                file=names[at],
                columns=cells,
                kept=kept,
                fields=fields,
                lines=arrow_text.values_of(batch.column("_line")),
                rows=arrow_text.values_of(batch.column("_row")),
                warnings=batch.column("_warnings"),
                whereabouts=arrow_text.values_of(batch.column("_whereabouts")),
                findings=outcomes.with_settled(_findings(notes), against.found, fields),
                settled=against.found,
                files=names,
                begins=begins,
                raws={int(row): raw for row, raw in notes["raws"]},
                silenced=against.silenced,
            )
            stop = len(ordinals)
            if place < last and len(part.rows):
                stop = int(np.searchsorted(ordinals, part.rows[-1]))
            between = OutcomeRows("skipped", skipped.slice(done, stop - done))
            done = stop
            yield [*part.tables(), *([between] if len(between.table) else [])]
        if done < len(ordinals):
            yield [OutcomeRows("skipped", skipped.slice(done))]


def _pack_batch(batch: Batch, assessed: Assessed) -> tuple[pa.RecordBatch, Any]:
    """A checked batch as it waits: cells, fields, and what was noted."""
    notes = assessed.notes
    named = {
        **assessed.fields,
        "_line": batch.lines,
        "_row": batch.ordinals,
        "_warnings": notes.warnings(len(batch)),
        "_whereabouts": assessed.whereabouts,
    }
    names = [*(f"c{at}" for at in range(len(batch.columns))), *named]
    arrays = [
        *batch.columns.values(),
        *(
            each if isinstance(each, pa.Array) else arrow_text.numbers(each)
            for each in named.values()
        ),
    ]
    found = [
        [rows.tolist(), ranks.tolist(), name, cells.to_pylist()]
        for rows, ranks, name, cells in zip(
            notes.rows, notes.ranks, notes.fields, notes.cells, strict=True
        )
    ]
    raws = [[row, raw] for row, raw in batch.raws.items()]
    return pa.RecordBatch.from_arrays(arrays, names=names), {"found": found, "raws": raws}


def _findings(notes: Mapping[str, Any]) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
    found = notes["found"]
    return (
        [np.array(rows, np.int64) for rows, *_ in found],
        [np.array(ranks, np.int64) for _, ranks, *_ in found],
        [name for _, _, name, _ in found],
        [arrow_text.column(cells) for *_, cells in found],
    )


def map_file(
    read_file: ReadFile, choices: Choices, mapping: ColumnChoice, waiting: Waiting
) -> CheckedFile:
    """A file with what is decided about the whole of it; nothing is checked yet.

    Args:
        read_file: The file.
        choices: What the caller decided.
        mapping: Its columns, as far as they are given.
        waiting: Where its checked batches will wait.
    """
    origin = origin_of(read_file.file)
    if doubt := doubt_of(read_file.file, origin):
        decisions = replace(read_file.file.decisions, doubt=doubt)
        read_file = replace(read_file, file=replace(read_file.file, decisions=decisions))
    if origin is not None:
        read_file = replace(
            read_file,
            file=_restore_sample(read_file.file, origin),
            change=lambda batch: replace(batch, columns=restored(batch.columns, origin)),
        )
        if mapping is None or isinstance(mapping, Mapping):
            mapping = origin.mapping(read_file.file.names) | dict(mapping or {})
    file = read_file.file.sample(SAMPLE_ROWS)
    if mapping is None or isinstance(mapping, ColumnMap | Mapping):
        columns = map_columns(file, region=choices.region, mapping=mapping)
    else:
        columns = mapping(file)
    columns, turned = answered(columns, choices.answers), False
    if columns.full_name is not None:
        names = tidied(arrow_text.whole(file.table[columns.full_name]))
        turned = turns_names(names.to_pylist())
    if origin is not None:
        # Numbers of a clean list are E.164, or none.
        judging = choices.judging(columns, None, turned=turned)
        by_number = origin.one_lead_per == "number"
        return CheckedFile(read_file, judging, waiting, leads="listed" if by_number else "records")
    decision = choices.region_of(file, columns)
    if decision.source == "given" and decision.region != given_region(choices.region):
        # Somebody answered it meanwhile: the columns were scored without it.
        columns = with_region(file, columns, decision.region)
    judging = choices.judging(columns, decision.region, turned=turned, file=file)
    by_number = choices.policy.one_lead_per == "number"
    return CheckedFile(
        read_file, judging, waiting, decision, "numbers" if by_number else "records"
    )


def _restore_sample(file: LeadFile, origin: Origin) -> LeadFile:
    """The sample of a clean list with its cells as they were before it was written."""
    columns = {name: arrow_text.whole(file.table[name]) for name in file.names}
    return replace(file, table=pa.table(dict(restored(columns, origin))))


def _same_ids(ids: Sequence[str], before: str, last: int) -> np.ndarray:
    """The first lead of the record of each, in a list of which leads under one id follow each other.

    Args:
        ids: The ids of some leads, which count from 0.
        before: The id of the lead before them.
        last: The first lead of its record.
    """
    follow = [bool(each) and each == prior for each, prior in pairwise([before, *ids])]
    places = np.where(follow, -1, np.arange(len(ids)))
    firsts = np.maximum.accumulate(places)
    return np.where(firsts < 0, last, firsts)


#: Headers of the day a record was last changed, then of the day it was made.
_CHANGED: Final = re.compile(
    r"updat|modif|chang|last|geändert|aktual|actualiz|modifi", re.IGNORECASE
)
_MADE: Final = re.compile(
    r"creat|added|date|day|time|datum|erstellt|fecha|creado|data|criado|created|ajout",
    re.IGNORECASE,
)
#: Days that everybody reads alike: year, month, day, perhaps with a time.
_ISO: Final = re.compile(r"\s*\d{4}-\d{2}-\d{2}(?:[T ].*)?\s*")
#: Share of the filled cells that have to be such days, of so many cells.
_MOST: Final = 0.9
_LOOKED_AT: Final = 1000


def newest_column(file: LeadFile) -> str | None:
    """The column that says when a record was last changed, or made; None where none says so.

    Only days written year first count: of `03/04/2026` nobody knows which of two it is.
    """
    days = []
    for name in file.names:
        filled = [cell for cell in file.cells(name) if cell.strip()][:_LOOKED_AT]
        if filled and sum(map(bool, map(_ISO.fullmatch, filled))) >= _MOST * len(filled):
            days.append(name)
    for pattern in (_CHANGED, _MADE):
        named = [name for name in days if pattern.search(name)]
        if named:
            return named[0]
    return None


def ages(cells: pa.Array | None, first: int, count: int) -> np.ndarray:
    """A score that is higher the newer a record is; a later one is newer where no day says so.

    Args:
        cells: The days, or None where no column has them.
        first: Ordinal of the first record in its file.
        count: How many records there are.
    """
    ordinals = np.arange(first, first + count, dtype=np.int64)
    if cells is None:
        return ordinals
    # Seconds since 1970 are fewer than this; a record without a day is older than all with one.
    seconds = np.array([_seconds(cell) for cell in cells.to_pylist()], np.int64)
    return np.asarray(seconds * 10**8 + ordinals, np.int64)


def _seconds(cell: str) -> int:
    from datetime import UTC, datetime

    try:
        at = datetime.fromisoformat(cell.strip())
    except ValueError:
        return -(10**10)
    return int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp())


def filled_cells(columns: Mapping[str, pa.Array], count: int) -> np.ndarray:
    """How many cells of each record hold something."""
    total = np.zeros(count, np.int64)
    for cells in columns.values():
        total += arrow_text.sizes(cells) > 0
    return total


# ---- work on files, wherever it runs


@dataclass(frozen=True, slots=True, eq=False)
class _Checked:
    """What comes of the files of one path."""

    files: list[CheckedFile]
    keys: list[list[Keys]]


def _check_path(path: str | Path, choices: Choices, folder: Path) -> _Checked:
    """Read and check the tables of a path in a worker; their batches stay in a folder.

    Args:
        path: Where they lie.
        choices: What the caller decided.
        folder: A folder that the caller and all workers see.
    """
    with arrow_text.system_memory():
        folder.mkdir(mode=0o700)
        files: list[CheckedFile] = []
        keys: list[list[Keys]] = []
        for at, read_file in enumerate(read_tables(path, choices.options, Waiting())):
            place = folder / str(at)
            place.mkdir(mode=0o700)
            checked = map_file(read_file, choices, choices.mapping, Waiting(place, 0))
            keys.append(list(checked.keys()))
            # What was read is not needed any more, and need not be sent.
            facts = replace(checked.read_file, numbers=[], cutter=None, change=None)
            files.append(replace(checked, read_file=facts))
        return _Checked(files, keys)


@dataclass(frozen=True, slots=True, eq=False)
class _Render:
    """How a worker writes the rows of one file."""

    file: CheckedFile
    names: Sequence[str]
    at: int
    begins: Sequence[int]
    settled: Sequence[Settled]
    wanted: frozenset[str]
    orders: Mapping[str, Sequence[str]]
    clean: CleanColumns | None
    folder: Path

    def __call__(self) -> tuple[Tally, dict[str, Path], dict[str, int]]:
        """Write them; the numbers and the files."""
        with arrow_text.system_memory():
            tally = Tally(self.wanted)
            rows = self.file.parts(self.names, self.at, self.begins, self.settled)
            if self.clean is None:
                for each in rows:
                    tally.add(each)
                return tally, {}, {}
            paths = {key: self.folder / f"{self.at}.{key}" for key in ("clean", "set_aside")}
            orders = self.orders
            with Outputs(paths, "csv", orders, self.clean, orders["rejected"], bare=True) as out:
                for each in rows:
                    tally.add(each)
                    out.add(each)
            return tally, out.files, dict(out.rows)


def _render(work: _Render) -> tuple[Tally, dict[str, Path], dict[str, int]]:
    return work()


# ---- all files


class Pipeline:
    """Lead files on their way; a context manager that gives back what it held.

        from pathlib import Path
        from dialframe.leads import Choices, Pipeline, Target

        with Pipeline(Choices(region="US")) as pipeline:
            pipeline.judge(["autumn.csv"])
            pipeline.compare()
            cleaned = pipeline.write(Target(Path("out")))

    Args:
        choices: What the caller decides.
        scratch: Folder for what does not fit into memory; the system's without it. With an executor on
            other machines, one that all of them see.
        memory_bytes: Bytes of leads that wait in memory before the disk is used; None for all.
        executor: Takes files, any of `concurrent.futures`; None to do all here.
        on_progress: Told of bytes.
    """

    def __init__(
        self,
        choices: Choices,
        *,
        scratch: str | Path | None = None,
        memory_bytes: int | None = MEMORY_BYTES,
        executor: Executor | None = None,
        on_progress: OnProgress = silent,
    ) -> None:
        given_region(choices.region)
        # Says what is wrong before anything is read.
        choices.judging(ColumnMap(()), choices.region)
        self._choices, self._executor, self._tell = choices, executor, on_progress
        self._scratch, self._memory_bytes = scratch, memory_bytes
        self._stack = ExitStack()
        self._files: list[CheckedFile] = []
        self._settled: Settled | None = None
        self._against: tuple[np.ndarray, Barring | None] = (_NONE, None)
        self._folder: Path | None = None
        self._size = self._done = 0.0

    def __enter__(self) -> Self:
        if self._memory_bytes is not None or self._executor is not None:
            temporary = tempfile.TemporaryDirectory(prefix="dialframe-", dir=self._scratch)
            self._folder = Path(self._stack.enter_context(temporary))
        self._waiting = Waiting(self._folder, self._memory_bytes or 0)
        self._comparison = self._stack.enter_context(Comparison(self._folder))
        return self

    def __exit__(self, *problem: object) -> None:
        self._stack.close()

    @arrow_text.system_memory()
    def judge(self, paths: Sequence[str | Path]) -> None:
        """Read, map and check the records of every table at the paths, each by itself.

        Args:
            paths: Files, folders, globs, archives, or URLs, cleaned against each other in this order.

        Raises:
            LeadFileError: A file cannot be read, changed while it was read, or has no phone column.
        """
        every = expanded(paths)
        self._size = float(sum(map(_size_bytes, every)))
        if self._executor is not None and self._folder is not None:
            folders = [self._folder / f"file-{at}" for at in range(len(every))]
            jobs = [
                self._executor.submit(_check_path, path, self._choices, folder)
                for path, folder in zip(every, folders, strict=True)
            ]
            for path, job in zip(every, jobs, strict=True):
                checked = job.result()
                for file, keys in zip(checked.files, checked.keys, strict=True):
                    self._add(file, keys)
                self._advance(_size_bytes(path) * (_SHARES["read"] + _SHARES["check"]))
            return
        for path in every:
            size, read = float(_size_bytes(path)), 0.0

            def listen(progress: Progress, size: float = size) -> None:
                nonlocal read
                share = min(1.0, progress.done / max(1, progress.total or 1))
                self._advance(size * _SHARES["read"] * max(0.0, share - read))
                read = max(read, share)

            tables = read_tables(path, self._choices.options, self._waiting, listen)
            mapped = [
                map_file(each, self._choices, self._choices.mapping, self._waiting)
                for each in tables
            ]
            rows = max(1, sum(each.leads for each in tables))
            for file in mapped:
                per_row = size * _SHARES["check"] / rows

                def on_batch(count: int, per_row: float = per_row) -> None:
                    self._advance(count * per_row)

                self._add(file, file.keys(on_batch))

    @arrow_text.system_memory()
    def judge_read(self, files: Sequence[LeadFile], mappings: Sequence[ColumnChoice]) -> None:
        """The same with files that were read already, each with its own mapping.

        Args:
            files: Files that `read` gave.
            mappings: The columns of each, in the same order.
        """
        for file, mapping in zip(files, mappings, strict=True):
            read_file = ReadFile(file, len(file.table), self._waiting, [])
            checked = map_file(read_file, self._choices, mapping, self._waiting)
            self._add(checked, checked.keys())

    def _add(self, file: CheckedFile, keys: Iterable[Keys]) -> None:
        for each in keys:
            self._comparison.add(each)
        self._files.append(file)

    def _advance(self, size: float) -> None:
        self._done += size
        if self._size:
            total = int(self._size)
            self._tell(Progress(_STEP, min(total, int(self._done)), total))

    @property
    def files(self) -> tuple[CleanedFile, ...]:
        """What is to be known of each file, in order."""
        return tuple(map(CheckedFile.facts, self._files, self._names))

    def compare(
        self, do_not_call: Iterable[str] = (), *, suppressed: Barring | None = None
    ) -> None:
        """Compare all records with each other and with lists, as soon as results are asked for.

        May be called again with longer lists.

        Args:
            do_not_call: Numbers that must not be called, in any form (reason `on_dnc`).
            suppressed: The firm's own lists (reason `suppressed`).
        """
        texts = arrow_text.column(list(do_not_call))
        e164 = read_column(texts, given_region(self._choices.region)).e164.drop_null()
        self._against, self._settled = (numbers(e164), suppressed), None

    def _compare_batches(self) -> Settled:
        if self._settled is None:
            listed, suppressed = self._against
            unique = self._choices.policy.repeated_external_id == "duplicate"
            self._settled = self._comparison.settle(listed, suppressed, ids_are_unique=unique)
        return self._settled

    def _work(self) -> Iterator[tuple[int, CheckedFile, list[Settled]]]:
        """Each file with what stands against its batches because of others."""
        settled, begin = self._compare_batches(), 0
        for at, file in enumerate(self._files):
            stops = (begin + np.cumsum([0, *file.sizes])).tolist()
            yield at, file, [settled.between(*span) for span in pairwise(stops)]
            begin = stops[-1]

    @property
    def _begins(self) -> list[int]:
        begins: list[int] = np.cumsum([0, *(sum(file.sizes) for file in self._files)]).tolist()
        return begins

    def batches(self) -> Iterator[list[OutcomeRows]]:
        """Rows of the outcomes, file after file and batch after batch."""
        names, begins = self._names, self._begins
        for at, file, settled in self._work():
            yield from file.parts(names, at, begins, settled)

    def tables(self) -> Iterator[OutcomeRows]:
        """The same, outcome by outcome."""
        return (rows for batch in self.batches() for rows in batch)

    @arrow_text.system_memory()
    def write(self, target: Target | None, *, show: Collection[str] = ()) -> CleanedFiles:
        """Write the lists and the report, all files or none; count and show.

        Args:
            target: Where they go; None to write nothing.
            show: Reason codes whose first records are kept.

        Raises:
            LeadFileError: The folder cannot be written.
        """
        wanted = frozenset(show)
        if target is None:
            return self._fill(wanted, None, {}, None)
        clean = CleanColumns.of(
            self.orders["clean"],
            [file.judging.columns for file in self._files],
            self.filled,
            target.layout,
        )

        def fill(out: Outputs, paths: Mapping[str, Path]) -> CleanedFiles:
            return self._fill(wanted, out, paths, clean if target.form == "csv" else None)

        return write_lists(target, self.files, self.orders, clean, fill)

    def _fill(
        self,
        wanted: frozenset[str],
        out: Outputs | None,
        paths: Mapping[str, Path],
        clean: CleanColumns | None,
    ) -> CleanedFiles:
        tally = Tally(wanted)
        share = self._size * _SHARES["write"]
        total = max(1, self._comparison.count)
        # Only CSV can be put together of parts.
        if self._executor is not None and self._folder is not None and (clean or out is None):
            names, begins, orders = self._names, self._begins, self.orders
            jobs = [
                self._executor.submit(
                    _render,
                    _Render(file, names, at, begins, settled, wanted, orders, clean, self._folder),
                )
                for at, file, settled in self._work()
            ]
            for file, job in zip(self._files, jobs, strict=True):
                counted, parts, rows = job.result()
                tally.join(counted)
                if out is not None:
                    out.join(parts, rows)
                self._advance(share * sum(file.sizes) / total)
        else:

            def put(rows: list[OutcomeRows]) -> int:
                tally.add(rows)
                if out is not None:
                    out.add(rows)
                return sum(len(each.table) for each in rows)

            for count in ahead(put, self.batches()):
                self._advance(share * count / total)
        return tally.summary(self.files, self.region, self.leftovers, paths)

    @arrow_text.system_memory()
    def numbers(self) -> np.ndarray:
        """Every number that the clean records carry (`phone`, `phone_other`), as integers, once each."""
        parts = [_NONE]
        for key, table, _ in self.tables():
            if key == "clean":
                parts += [
                    numbers(arrow_text.whole(table[name])) for name in ("phone", "phone_other")
                ]
                parts = [np.unique(np.concatenate(parts))]
        every: np.ndarray = parts[0]
        return np.asarray(every[every != 0])

    def every_number(self) -> np.ndarray:
        """Every number of the records, clean or not, as integers, once each."""
        return self._comparison.every_number()

    def opted_out(self) -> np.ndarray:
        """Every number of the records that say themselves not to be called, as integers, once each."""
        return self._comparison.opted_out

    def inputs(self, keep: Sequence[str] | None = None) -> Iterator[LeadInput]:
        """The clean records as the service takes them, batch by batch.

        Columns that no field explains become custom fields under their own names, the source column
        `lead_source`, an extension `phone_extension` and a second number `phone_other`.

        Args:
            keep: Columns of `Cleaned.clean` that become custom fields; without it all that no field explains.

        Raises:
            ConfigError: There are more custom fields than the service takes, or `keep` names a
                column that is not there.
        """
        custom = self.custom_fields(keep)
        several = any(file.extra_leads is not None for file in self._files)
        before, order = "", self.orders["clean"]
        clean = (rows.table for rows in self.tables() if rows.key == "clean")
        for table in clean:
            aligned = outcomes.aligned(table, order)
            # Cells as Python has them take ten times the memory.
            for begin in range(0, len(aligned), _INPUT_ROWS):
                cells = aligned.slice(begin, _INPUT_ROWS).to_pydict()
                ids = cells["external_id"]
                if several:
                    cells["external_id"] = once(ids, before)
                    before = ids[-1] if ids else before
                yield from inputs_of(cells, custom)

    def custom_fields(self, keep: Sequence[str] | None = None) -> dict[str, str]:
        """The custom fields of the clean records; see `inputs`.

        Args:
            keep: Columns that may become custom fields; all by default.
        """
        return custom_fields(self.orders["clean"], self.leftovers, self.filled, keep)

    @property
    def filled(self) -> frozenset[str]:
        """Fields that have a value in some record."""
        return frozenset(name for file in self._files for name in file.filled)

    def samples(self, count: int = 5) -> list[dict[str, dict[str, list[str]]]]:
        """For each file, by field and column, the first cells that are filled.

        Args:
            count: How many cells of each column.
        """
        return [
            {
                name: {
                    part: [cell for cell in file.file.cells(part) if cell.strip()][:count]
                    for column in columns
                    for part in file.judging.columns.joined.get(column, (column,))
                }
                for name, columns in file.judging.columns.fields().items()
            }
            for file in self._files
        ]

    def in_memory(self) -> Cleaned:
        """The outcomes as tables."""
        orders = self.orders  # looks at every file, so once and not for each of their tables
        tally, tables = Tally(), {key: [outcomes.empty(orders[key])] for key in _KEYS}
        for batch in self.batches():
            tally.add(batch)
            for rows in batch:
                tables[rows.key].append(outcomes.aligned(rows.table, orders[rows.key]))
        summary = tally.summary(self.files, self.region, self.leftovers, {})
        whole = {key: pa.concat_tables(parts) for key, parts in tables.items()}
        return Cleaned(summary, whole, self.filled)

    @property
    def region(self) -> str | None:
        """The region of national numbers where it is the same in all files, or None."""
        regions = {file.judging.region for file in self._files}
        return regions.pop() if len(regions) == 1 else None

    @property
    def leftovers(self) -> tuple[str, ...]:
        """Columns that no field explains."""
        every = (name for file in self._files for name in file.judging.columns.leftovers)
        return tuple(dict.fromkeys(every))

    @property
    def orders(self) -> dict[str, list[str]]:
        """Columns of each outcome."""
        clean = [
            [*LEAD_COLUMNS, *file.kept_names.values(), *outcomes.CLEAN_META]
            for file in self._files
        ]
        aside = outcomes.column_order([[*file.file.names, *META] for file in self._files])
        return {key: outcomes.column_order(clean) if key == "clean" else aside for key in _KEYS}

    @property
    def _names(self) -> list[str]:
        return numbered([file.file.name for file in self._files])


def _size_bytes(path: str | Path) -> int:
    """Bytes of a file or of the files in a folder; 1 of what lies elsewhere."""
    place = Path(path)
    try:
        if place.is_dir():
            return sum(each.stat().st_size for each in place.iterdir() if each.is_file())
        return place.stat().st_size
    except OSError:
        return 1


def clean(
    files: LeadFile | str | Path | Sequence[LeadFile | str | Path],
    *,
    region: str | None = None,
    mapping: ColumnChoice | Sequence[ColumnChoice] = None,
    policy: Policy | None = None,
    blocked_countries: Collection[str] = (),
    field_rules: Sequence[FieldRule] = (),
    do_not_call: Iterable[str] = (),
    suppressed: Barring | None = None,
    force_region: bool = False,
    answers: Sequence[Mapping[str, str | None]] = (),
    on_progress: OnProgress = silent,
) -> Cleaned:
    """Put every record of the files into exactly one of five outcomes.

    A record is known by its first reason in the order of `reasons.REASONS`: a prohibition to call,
    damage of the record itself, then its phone number, then blocked countries, lengths and field
    rules, and last repetition. An opt-out forbids all records with any number of its record, with
    its external id, or with its e-mail address and name, in all files. Of records with the same
    number one that nothing stands against is kept: the first, or what `Policy.duplicates` says.

    Args:
        files: Files that were read, or their paths; several are cleaned against each other in this order.
        region: Country of national numbers (code or name); None where each number says its own.
        mapping: Columns by field, as for `map_columns`: one for all files, or a list of one each
            (such as `saved_mapping` of each, None where there is none), or what says them of each.
        policy: Decisions that are not the contract's.
        blocked_countries: Regions whose numbers are rejected.
        field_rules: Further rules of the account.
        do_not_call: Numbers that must not be called, in any form.
        suppressed: Numbers of the firm's own lists, such as `SuppressionList.barred()`.
        force_region: Take the region although most numbers are none of it.
        answers: Answers to the `questions` of an earlier run: mappings with `column`, `phrase` and
            `answer` (`never_call`, `nothing` or `never_look`).
        on_progress: Told of bytes.

    Returns:
        The outcomes as frames.

    Raises:
        LeadFileError: A file cannot be read, has no phone column, or its numbers need a region and have none.
        ConfigError: A region, a country or a field is unknown.

    Example:
        cleaned = dialframe.leads.clean("autumn.csv", region="US")
        print(cleaned.counts)
    """
    given: list[Any] = list(files) if isinstance(files, list | tuple) else [files]
    if not given:
        raise LeadFileError("there is no file to clean; pass at least one")
    unread = next((each for each in given if not isinstance(each, LeadFile | str | Path)), None)
    if unread is not None:
        raise LeadFileError(
            f"clean takes lead files and their paths, not a {type(unread).__name__}: pass "
            "dialframe.leads.read(PATH), or the path (a frame is written first, as CSV)"
        )
    listed: list[LeadFile] = []
    for each in given:
        listed += [each] if isinstance(each, LeadFile) else read_all(each)
    mappings: list[ColumnChoice]
    if mapping is None or callable(mapping) or isinstance(mapping, ColumnMap | Mapping):
        mappings = [mapping] * len(listed)
    else:
        mappings = list(mapping)
    if len(mappings) != len(listed):
        raise ConfigError(
            f"there are {len(mappings)} mappings for {len(listed)} files; pass one each, or one for all"
        )
    choices = Choices(
        region,
        None,
        policy or Policy(),
        blocked_countries,
        field_rules,
        force_region=force_region,
        answers=answers,
    )
    with Pipeline(choices, memory_bytes=None, on_progress=on_progress) as pipeline:
        pipeline.judge_read(listed, mappings)
        pipeline.compare(do_not_call, suppressed=suppressed)
        return pipeline.in_memory()


def clean_files(
    paths: Sequence[str | Path],
    out_dir: str | Path | None,
    *,
    region: str | None = None,
    mapping: ColumnChoice = None,
    policy: Policy | None = None,
    blocked_countries: Collection[str] = (),
    field_rules: Sequence[FieldRule] = (),
    do_not_call: Iterable[str] = (),
    suppressed: Barring | None = None,
    force_region: bool = False,
    options: ReadOptions | None = None,
    stem: str | None = None,
    form: Form = "csv",
    page: Render | None = None,
    layout: CleanLayout | None = None,
    scratch: str | Path | None = None,
    memory_bytes: int = MEMORY_BYTES,
    executor: Executor | None = None,
    show: Collection[str] = (),
    on_progress: OnProgress = silent,
) -> CleanedFiles:
    """Read, clean and write lead files of any size in bounded memory.

    The files are those of `write(clean(paths), out_dir)`, byte for byte. Delimited text is read in blocks;
    other formats are read whole. What does not fit into memory waits in a folder of mode 0700 that is
    removed at the end.

    Args:
        paths: The files, cleaned against each other in this order.
        out_dir: Folder; made with mode 0700 if it is missing. None to write nothing and only tell.
        region: Country of national numbers (code or name); None where each number says its own.
        mapping: Columns by field, as for `map_columns`, for all files; or what says them of each.
        policy: Decisions that are not the contract's.
        blocked_countries: Regions whose numbers are rejected.
        field_rules: Further rules of the account.
        do_not_call: Numbers that must not be called, in any form.
        suppressed: Numbers of the firm's own lists, such as `SuppressionList.barred()`.
        force_region: Take the region although a file plainly speaks against it.
        options: What is known of how the files are written; the rest is found out.
        stem: Beginning of the names; without it the first file's name without endings.
        form: Format of the lists.
        page: Makes a page of the report for people; None for no page.
        layout: What the clean list looks like.
        scratch: Folder for what does not fit into memory; the system's without it. With an executor on
            other machines, one that all of them see.
        memory_bytes: Bytes of leads that may wait in memory before the disk is used.
        executor: Takes files, any of `concurrent.futures`; the result is the same.
        show: Reason codes whose first records are kept in `CleanedFiles.lines`.
        on_progress: Told of bytes.

    Returns:
        Counts, reasons and paths.

    Raises:
        LeadFileError: A file cannot be read, changed while it was read, has no phone column, or
            plainly speaks against the given region; the folder cannot be written.
        ConfigError: A region, a country or a field is unknown.

    Example:
        written = dialframe.leads.clean_files(["autumn.csv"], "cleaned", region="US")
    """
    if not paths:
        raise LeadFileError("there is no file to clean; pass at least one")
    choices = Choices(
        region,
        mapping,
        policy or Policy(),
        blocked_countries,
        field_rules,
        options or ReadOptions(),
        force_region=force_region,
    )
    target = (
        None
        if out_dir is None
        else Target(Path(out_dir), stem, form, page, layout or CleanLayout())
    )
    with Pipeline(
        choices, scratch=scratch, memory_bytes=memory_bytes, executor=executor,
        on_progress=on_progress,
    ) as pipeline:  # fmt: skip
        pipeline.judge(paths)
        pipeline.compare(do_not_call, suppressed=suppressed)
        return pipeline.write(target, show=show)
