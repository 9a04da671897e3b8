"""What is decided about each lead file, and its blocks judged one by one, wherever that runs.

Each file is read in blocks that wait in a spool, and each block is judged by itself and waits again.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal

import numpy as np
import pandas as pd
import pyarrow as pa

from dialframe.background import ahead
from dialframe.leads import arrow_text
from dialframe.leads.clean_list_sidecar import Origin, doubt_of, origin_of, restored
from dialframe.leads.cleaned import CleanedFile
from dialframe.leads.columns.column_decisions import map_columns, with_region
from dialframe.leads.columns.column_map import ColumnMap, Columns
from dialframe.leads.columns.country_names import ColumnDoubt
from dialframe.leads.columns.list_region import (
    RegionDecision,
    column_doubts,
    decide_region,
    given_region,
)
from dialframe.leads.columns.questions import Tally, answered
from dialframe.leads.dedupe.duplicate_detection import Compared, Found
from dialframe.leads.judging.record_judgment import (
    Assessed,
    Judging,
    assess,
    kept_names,
    leads_of,
    tidied,
)
from dialframe.leads.judging.rules import FieldRule, Policy
from dialframe.leads.lead_file import LEAD_COLUMNS, LeadFile
from dialframe.leads.names_and_emails import turns_names
from dialframe.leads.reading.lead_file_reader import ReadOptions, take_in
from dialframe.leads.reading.reading_in_blocks import Batch, Spool, TakenIn, sample_step
from dialframe.leads.writing import outcome_rows
from dialframe.phones import check_region
from dialframe.privacy import terminal_safe

_ENDINGS: Final = re.compile(
    r"(\.(csv|tsv|txt|tab|psv|xlsx|xlsm|xlsb|xls|ods|json|jsonl|ndjson|parquet|dat))?(\.gz)?$",
    re.IGNORECASE,
)

#: What says the columns of a file, of which it may have a part of the rows.
Choose = Callable[[LeadFile], ColumnMap]
#: Columns of a file as they are given, what says them, or None to find them.
ColumnChoice = ColumnMap | Mapping[str, Columns] | Choose | None


def decide(file: LeadFile, *, region: str | None, mapping: ColumnChoice) -> tuple[ColumnMap, bool]:
    """The columns of a file's fields, and whether its whole names are written `Last, First`.

    Up to 50,000 rows spread over the file tell that of all of them.
    """
    seen = sampled(file)
    if mapping is None or isinstance(mapping, ColumnMap | Mapping):
        columns = map_columns(seen, region=region, mapping=mapping)
    else:
        columns = mapping(seen)
    if columns.full_name is None:
        return columns, False
    names = tidied(arrow_text.of_series(seen.frame[columns.full_name]))
    return columns, turns_names(pd.Series(names.to_pylist(), dtype="str"))


def sampled(file: LeadFile) -> LeadFile:
    """The file with at most 50,000 rows, spread over all of it."""
    step = sample_step(len(file.frame))
    return file if step == 1 else replace(file, frame=file.frame.iloc[::step])


_NONE: Final = np.zeros(0, np.int64)
#: Blocks that are judged at once: what judges them lets go of the interpreter most of the time.
_THREADS: Final = 2
#: Column of physical lines in the spool.
LINE: Final = "_line"
_WARNINGS: Final = "_warnings"
_WHEREABOUTS: Final = "_whereabouts"


#: Decides the region of a file's national numbers, of which it may have a part of the rows.
ChooseRegion = Callable[[LeadFile, ColumnMap], RegionDecision]


@dataclass(frozen=True, slots=True)
class Choices:
    """What the caller decides about lead files; the rest is found.

    Attributes:
        region: ISO 3166 region of national numbers, or None to take numbers alone that say their
            own country.
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
        frame: pd.DataFrame | None = None,
    ) -> Judging:
        """By what the records of a file are judged.

        Args:
            columns: The columns of the file.
            region: Region of numbers without `+`.
            turned: Whether the file's whole names are written `Last, First`.
            frame: The file's rows, or a sample of them, where its numbers may have no country code.
        """
        blocked = frozenset(str(check_region(country)) for country in self.blocked_countries)
        given = given_region(region)
        doubts: Mapping[str, ColumnDoubt] = {}
        if frame is not None and not self.force_region:
            doubts = column_doubts(frame, columns)
        return Judging(
            columns, given, self.policy, blocked, tuple(self.field_rules), turned, doubts
        )


@dataclass(frozen=True, slots=True, eq=False)
class JudgedFile:
    """A file whose blocks are judged one by one: numbers of its blocks' tables in the spool.

    Attributes:
        taken: The file, read.
        judging: By what its records are judged.
        region: Why that region.
        leads: What a lead of it is: a record (`records`), each number of one (`numbers`), or a row
            of a clean list that was made so, where a record may have several (`listed`).
        tables: Numbers of its blocks' tables in the spool.
        sizes: Leads of each block.
        sources: Record of each lead, block by block, where that is not one each.
        filled: Fields that have a value in some record.
        asked: Phrases that nobody has decided about.
    """

    taken: TakenIn
    judging: Judging
    region: RegionDecision | None = None
    leads: Literal["records", "numbers", "listed"] = "records"
    tables: list[tuple[int, int]] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    sources: list[np.ndarray | None] = field(default_factory=list)
    filled: set[str] = field(default_factory=set)
    asked: Tally = field(default_factory=Tally)

    @property
    def extra_leads(self) -> int | None:
        """Leads beyond one of each record; None where a record is one lead."""
        return None if self.leads == "records" else sum(self.sizes) - self.taken.leads

    def facts(self, name: str) -> CleanedFile:
        """What is to be known of it once it was cleaned.

        Args:
            name: Its name as it stands in `_file`.
        """
        file = self.taken.file
        return CleanedFile(
            path=file.path,
            name=name,
            # Files are called after it: the name of an archive's member is a stranger's.
            stem=terminal_safe(_ENDINGS.sub("", file.name) or file.name),
            sha256=file.sha256,
            records=self.taken.records,
            header=file.header,
            names=tuple(map(str, file.frame.columns)),
            decisions=file.decisions,
            columns=self.judging.columns,
            region=self.judging.region,
            region_decision=self.region,
            extra_leads=self.extra_leads,
            questions=self.asked.questions(),
        )

    @property
    def kept_names(self) -> dict[str, str]:
        """Columns of the file that stay beside the fields, with their names there."""
        names = [str(name) for name in self.taken.file.frame.columns]
        return kept_names(names, self.judging.columns, self.judging.policy.one_lead_per)

    def batches(self, spool: Spool) -> Iterator[Batch]:
        """Its leads as they were judged, block by block."""
        for batch, source in zip(self.taken.batches(spool), self.sources, strict=True):
            yield batch if source is None else batch.repeated(source)


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """Files to read and to judge wherever a worker is."""

    path: str | Path
    choices: Choices


@dataclass(frozen=True, slots=True, eq=False)
class Shipped:
    """What came of one file of a task, without anything that stays where it ran."""

    judged: JudgedFile
    read: list[tuple[pa.RecordBatch, object]]
    tables: list[tuple[tuple[pa.RecordBatch, object], tuple[pa.RecordBatch, object]]]
    compared: Compared


#: Runs a function for each of some things, anywhere, and gives the answers in their order.
Workers = Callable[[Callable[[Task], list[Shipped]], Sequence[Task]], Iterable[list[Shipped]]]


def read_task(task: Task, spool: Spool) -> list[JudgedFile]:
    """The tables at a path, read, with what is decided about each; nothing is judged yet."""
    choices = task.choices
    return [
        decided(taken, choices, choices.mapping, spool)
        for taken in take_in(task.path, choices.options, spool)
    ]


def decided(taken: TakenIn, choices: Choices, mapping: ColumnChoice, spool: Spool) -> JudgedFile:
    """A file with what is decided about the whole of it."""
    origin = origin_of(taken.file)
    if doubt := doubt_of(taken.file, origin):
        decisions = replace(taken.file.decisions, doubt=doubt)
        taken = replace(taken, file=replace(taken.file, decisions=decisions))
    if origin is not None:
        taken = _restored(taken, origin, spool)
        if mapping is None or isinstance(mapping, Mapping):
            mapping = origin.mapping(taken.file.frame.columns) | dict(mapping or {})
    columns, turned = decide(taken.file, region=choices.region, mapping=mapping)
    columns = answered(columns, choices.answers)
    if origin is not None:
        # Numbers of a clean list are E.164, or none.
        return JudgedFile(
            taken,
            choices.judging(columns, None, turned=turned),
            leads="listed" if origin.one_lead_per == "number" else "records",
        )
    decision = choices.region_of(taken.file, columns)
    region = decision.region
    if decision.source == "given" and region != given_region(choices.region):
        # Somebody answered it meanwhile: the columns were scored without it.
        columns = with_region(sampled(taken.file), columns, region)
    return JudgedFile(
        taken,
        choices.judging(columns, region, turned=turned, frame=taken.file.frame),
        decision,
        "numbers" if choices.policy.one_lead_per == "number" else "records",
    )


def _restored(taken: TakenIn, origin: Origin, spool: Spool) -> TakenIn:
    """A clean list with its cells as they were before it was written."""
    names = [str(name) for name in taken.file.frame.columns]
    numbers = []
    for number in taken.numbers:
        batch, notes = spool.get(number)
        spool.drop(number)
        columns = restored(dict(zip(names, batch.columns, strict=False)), origin)
        cells = [columns[name] for name in names]
        whole = pa.RecordBatch.from_arrays(
            [*cells, *batch.columns[len(cells) :]], names=batch.schema.names
        )
        numbers.append(spool.put(whole, notes))
    seen = {name: arrow_text.of_series(taken.file.frame[name]) for name in names}
    frame = outcome_rows.frame([pa.table(restored(seen, origin))])
    return replace(taken, numbers=numbers, file=replace(taken.file, frame=frame))


def judge_file(
    file: JudgedFile, spool: Spool, compared: Compared, *, threads: int = _THREADS
) -> None:
    """Judge the blocks of a file, and remember what is compared with others.

    Args:
        file: The file.
        spool: Where its blocks are, and what was judged of them goes.
        compared: Takes what is compared with others.
        threads: How many blocks are judged at once.
    """
    policy = file.judging.policy.duplicates
    newest = newest_column(file.taken.file) if policy == "newest" else None
    before = ""

    def judged(batch: Batch) -> tuple[Batch, np.ndarray | None, Assessed]:
        if file.leads != "numbers":
            return batch, None, assess(batch.rows, file.judging)
        source, single = leads_of(batch.rows, file.judging)
        batch = batch.repeated(source)  # a lead each from here on
        return batch, source, assess(batch.rows, file.judging, single)

    for batch, source, assessed in ahead(judged, file.taken.batches(spool), threads=threads):
        file.sources.append(source)
        if source is not None:
            compared.follow(source)
        if file.leads == "listed":
            ids = assessed.fields["external_id"].to_pylist()
            compared.follow(_same_ids(ids, before))
            before = ids[-1] if ids else before
        file.tables.append(_keep(assessed, batch.lines, spool))
        file.sizes.append(len(batch.lines))
        file.asked.join(assessed.asked)
        file.filled.update(
            name for name, cells in assessed.fields.items() if arrow_text.sizes(cells).any()
        )
        if policy == "fullest":
            compared.scores.append(filled_cells(batch.rows.columns, len(batch.lines)))
        elif policy == "newest":
            cells = None if newest is None else batch.rows.columns[newest]
            compared.scores.append(ages(cells, compared.count, len(batch.lines)))
            compared.scores_are_ages = True
        compared.add(assessed)


def _same_ids(ids: Sequence[str], before: str) -> np.ndarray:
    """The record of each lead of a list of which those under one id follow each other.

    They count from 0; -1 is the record of the lead before them, which had the id `before`.
    """
    begins = [not each or each != last for each, last in zip(ids, [before, *ids], strict=False)]
    return np.cumsum(begins) - 1


def ship(task: Task) -> list[Shipped]:
    """Read and judge the tables of a path wherever this runs; what came of them, to be sent."""
    with tempfile.TemporaryDirectory(prefix="dialframe-") as folder:
        spool = Spool(Path(folder))
        shipped = []
        for judged in read_task(task, spool):
            compared = Compared()
            # The other processors are for other workers.
            judge_file(judged, spool, compared, threads=1)
            file = replace(judged.taken.file, faults={}, warnings={}, raws={})
            shipped.append(
                Shipped(
                    replace(judged, taken=replace(judged.taken, file=file), tables=[]),
                    [spool.get(number) for number in judged.taken.numbers],
                    [(spool.get(block), spool.get(other)) for block, other in judged.tables],
                    compared,
                )
            )
        return shipped


def unpacked(shipped: Shipped, spool: Spool) -> JudgedFile:
    """A file that was judged elsewhere, with its blocks in the spool here."""
    numbers = [spool.put(*block) for block in shipped.read]
    tables = [(spool.put(*block), spool.put(*other)) for block, other in shipped.tables]
    judged = shipped.judged
    return replace(judged, taken=replace(judged.taken, numbers=numbers), tables=tables)


def _keep(assessed: Assessed, lines: np.ndarray, spool: Spool) -> tuple[int, int]:
    notes = assessed.notes
    fields = pa.RecordBatch.from_pydict(
        {
            **assessed.fields,
            LINE: lines,
            _WARNINGS: notes.warnings(len(lines)),
            _WHEREABOUTS: assessed.whereabouts,
        }
    )
    values = pa.concat_arrays(notes.cells) if notes.cells else pa.array([], pa.large_string())
    findings = pa.RecordBatch.from_pydict(
        {
            "row": np.concatenate([*notes.rows, _NONE]),
            "rank": np.concatenate([*notes.ranks, _NONE]),
            "value": values,
        }
    )
    groups = [(name, len(group)) for name, group in zip(notes.fields, notes.rows, strict=True)]
    return spool.put(fields), spool.put(findings, groups)


def tables_of(
    names: Sequence[str],
    at: int,
    batch: Batch,
    tables: tuple[int, int],
    judged: JudgedFile,
    findings: tuple[list[Found], np.ndarray],
    begins: Sequence[int],
    spool: Spool,
) -> Iterator[outcome_rows.OutcomeRows]:
    """Rows of the outcomes of one block, once all records have been compared.

    Args:
        names: Names of all files.
        at: Place of the block's file among them.
        batch: The block's leads.
        tables: Numbers of what was judged of it.
        judged: Its file.
        findings: What stands against its leads because of others, and whose second number is left out.
        begins: First record of each file.
        spool: Where the tables are.
    """
    fields, _ = spool.get(tables[0])
    noted, groups = spool.get(tables[1])
    ends = np.cumsum([count for _, count in groups])[:-1]
    leads = {name: fields.column(name) for name in LEAD_COLUMNS}
    part = outcome_rows.Part(
        file=names[at],
        columns=batch.rows.columns,
        kept=judged.kept_names,
        fields=leads,
        lines=batch.lines,
        rows=batch.ordinals,
        warnings=fields.column(_WARNINGS),
        whereabouts=fields.column(_WHEREABOUTS).to_numpy(),
        findings=outcome_rows.with_settled(
            (
                np.split(noted.column("row").to_numpy(), ends) if groups else [],
                np.split(noted.column("rank").to_numpy(), ends) if groups else [],
                [name for name, _ in groups],
                [noted.column("value")],
            ),
            findings[0],
            leads,
        ),
        settled=findings[0],
        files=names,
        begins=begins,
        raws=batch.rows.raws,
        silenced=findings[1],
    )
    yield from part.tables()


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
#: Share of the filled cells that have to be such days.
_MOST: Final = 0.9


def newest_column(file: LeadFile) -> str | None:
    """The column that says when a record was last changed, or made; None where none says so.

    Only days written year first count: of `03/04/2026` nobody knows which of two it is.
    """
    days = []
    for name, cells in file.frame.items():
        filled = cells[cells.str.strip() != ""].head(1000)
        if len(filled) and filled.str.fullmatch(_ISO.pattern).mean() >= _MOST:
            days.append(str(name))
    for pattern in (_CHANGED, _MADE):
        named = [name for name in days if pattern.search(name)]
        if named:
            return named[0]
    return None


def ages(cells: pa.Array | None, first: int, count: int) -> np.ndarray:
    """A score that is higher the newer a record is; a later one is newer where no day says so.

    Args:
        cells: The days, or None where no column has them.
        first: Ordinal of the first record among all.
        count: How many records there are.
    """
    ordinals = np.arange(first, first + count, dtype=np.int64)
    if cells is None:
        return ordinals
    days = pd.to_datetime(
        pd.Series(cells.to_pylist(), dtype="str"), format="ISO8601", errors="coerce", utc=True
    )
    known = days.notna().to_numpy()
    # Seconds since 1970 are fewer than this; a record without a day is older than all with one.
    seconds = np.where(known, days.astype("int64").to_numpy() // 10**6, -(10**10))
    return np.asarray(seconds * 10**8 + ordinals, np.int64)


def filled_cells(columns: Mapping[str, pa.Array], count: int) -> np.ndarray:
    """How many cells of each record hold something."""
    total = np.zeros(count, np.int64)
    for cells in columns.values():
        total += arrow_text.sizes(cells) > 0
    return total
