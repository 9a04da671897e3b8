"""The one way of lead files to clean leads: read in blocks, judge each, compare all, give each an outcome.

Every file is read in blocks that wait in a spool, every block is judged by itself and waits again, and
when all records have been compared the blocks become rows of the outcomes. What stays in memory of a
record is a few integers. `clean`, `clean_files`, screening and importing are this pipeline with other ends.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, Self

import numpy as np
import pyarrow as pa

from dialframe.background import ahead
from dialframe.config import OnProgress, Progress, silent
from dialframe.errors import ConfigError, LeadFileError
from dialframe.leads import arrow_text
from dialframe.leads.cleaned import Cleaned, CleanedFile
from dialframe.leads.columns.column_map import ColumnMap
from dialframe.leads.columns.list_region import given_region
from dialframe.leads.dedupe.duplicate_detection import (
    Barring,
    Compared,
    InMemory,
    Listed,
    Part,
    Repeats,
    Settled,
    settle,
)
from dialframe.leads.dedupe.keys_on_disk import Partitions
from dialframe.leads.file_judgment import (
    LINE,
    Choices,
    ColumnChoice,
    JudgedFile,
    Task,
    Workers,
    decided,
    judge_file,
    read_task,
    ship,
    tables_of,
    unpacked,
)
from dialframe.leads.judging.plain_cell_detection import numbers
from dialframe.leads.judging.rules import FieldRule, Policy
from dialframe.leads.lead_file import LEAD_COLUMNS, META, LeadFile, numbered
from dialframe.leads.reading.file_discovery import expanded
from dialframe.leads.reading.lead_file_reader import ReadOptions, read_all
from dialframe.leads.reading.reading_in_blocks import MEMORY_BYTES, Spool, take_in_all
from dialframe.leads.reasons import COUNT_KEYS
from dialframe.leads.writing import outcome_rows
from dialframe.leads.writing.clean_list_columns import CleanColumns, CleanLayout
from dialframe.leads.writing.import_bodies import LeadInput, custom_fields, inputs_of, once
from dialframe.leads.writing.outcome_counts import CleanedFiles, Tally
from dialframe.leads.writing.outcome_rows import OutcomeRows
from dialframe.leads.writing.output_files import Form, Outputs, Render, Target, outputs, targets_of
from dialframe.phones import normalize

_STEP: Final = "records cleaned"
_NONE: Final = np.zeros(0, np.int64)
_KEYS: Final = tuple(COUNT_KEYS.values())
#: Records that are made what the service takes at once.
_INPUT_ROWS: Final = 2_000
#: Where records are compared: in memory, in parts on the disk, or what suits their number.
Engine = Literal["auto", "memory", "disk"]
#: Records from which on the disk is used.
MANY: Final = 1_000_000


class Pipeline:
    """Lead files on their way; a context manager that gives back what it held.

        from pathlib import Path
        from dialframe.leads.pipeline import Choices, Pipeline
        from dialframe.leads.writing.output_files import Target

        with Pipeline(Choices(region="US")) as pipeline:
            pipeline.judge(["autumn.csv"])
            pipeline.compare()
            cleaned = pipeline.write(Target(Path("out")))

    Args:
        choices: What the caller decides.
        scratch: Folder for what does not fit into memory; the system's without it.
        memory_bytes: Bytes of leads that wait in memory before the disk is used; None for all.
        engine: Where the records are compared with each other; the result is the same.
        on_progress: Told of records.
    """

    def __init__(
        self,
        choices: Choices,
        *,
        scratch: str | Path | None = None,
        memory_bytes: int | None = MEMORY_BYTES,
        engine: Engine = "auto",
        on_progress: OnProgress = silent,
    ) -> None:
        given_region(choices.region)
        # Says what is wrong before anything is read.
        choices.judging(ColumnMap(()), choices.region)
        self._choices, self._engine, self._tell = choices, engine, on_progress
        self._scratch, self._memory_bytes = scratch, memory_bytes
        self._stack = ExitStack()
        self._judged: list[JudgedFile] = []
        self._compared = Compared()
        self._settled: Callable[[], Settled] | None = None
        self._folder: Path | None = None

    def __enter__(self) -> Self:
        if self._memory_bytes is not None:
            temporary = tempfile.TemporaryDirectory(prefix="dialframe-", dir=self._scratch)
            self._folder = Path(self._stack.enter_context(temporary))
        self._spool = Spool(self._folder, self._memory_bytes)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    @arrow_text.system_memory()
    def judge(self, paths: Sequence[str | Path], *, workers: Workers | None = None) -> None:
        """Judge the records of every table at the paths, each by itself, as they are read.

        Args:
            paths: Files, folders, globs, archives, or URLs, cleaned against each other in this order.
            workers: Reads and judges every file elsewhere, as `dask_workers.dask_workers` does.

        Raises:
            LeadFileError: A file cannot be read, changed while it was read, or has no phone column.
        """
        every = [Task(path, self._choices) for path in expanded(paths)]
        if workers is None:
            self._judge_each([judged for task in every for judged in read_task(task, self._spool)])
            return
        for shipped in (judged for answer in workers(ship, every) for judged in answer):
            self._judged.append(unpacked(shipped, self._spool))
            self._compared.join(shipped.compared)
            self._tell(Progress(_STEP, self._compared.count, None))

    @arrow_text.system_memory()
    def judge_read(self, files: Sequence[LeadFile], mappings: Sequence[ColumnChoice]) -> None:
        """The same with files that were read already, each with its own mapping.

        Args:
            files: Files that `read` gave.
            mappings: The columns of each, in the same order.
        """
        self._judge_each(
            [
                decided(take_in_all(file, self._spool), self._choices, mapping, self._spool)
                for file, mapping in zip(files, mappings, strict=True)
            ]
        )

    @property
    def files(self) -> tuple[CleanedFile, ...]:
        """What is to be known of each file, in order."""
        return tuple(map(JudgedFile.facts, self._judged, self._names))

    def compare(
        self, do_not_call: Iterable[str] = (), *, suppressed: Barring | None = None
    ) -> None:
        """Compare all records with each other and with lists, as soon as results are asked for.

        May be called again with longer lists.

        Args:
            do_not_call: Numbers that must not be called, in any form (reason `on_dnc`).
            suppressed: The firm's own lists (reason `suppressed`).
        """
        e164 = normalize(list(do_not_call), region=given_region(self._choices.region))[
            "e164"
        ].dropna()
        listed = [Listed("on_dnc", np.unique(numbers(arrow_text.of_series(e164))))]
        if suppressed is not None:
            listed.append(Listed.of("suppressed", suppressed))

        def settled() -> Settled:
            return settle(
                self._compared,
                listed,
                self._parts,
                self._repeats,
                ids_are_unique=self._choices.policy.repeated_external_id == "duplicate",
            )

        self._settled = settled

    def tables(self) -> Iterator[OutcomeRows]:
        """Rows of the outcomes, file after file and block after block."""
        if self._settled is None:
            self.compare()
        assert self._settled is not None  # noqa: S101 - `compare` sets it
        settled, names = self._settled(), self._names
        begins = np.cumsum([0, *(sum(judged.sizes) for judged in self._judged)]).tolist()
        begin = 0
        for at, judged in enumerate(self._judged):
            for batch, tables in zip(judged.batches(self._spool), judged.tables, strict=True):
                findings = settled.between(begin, begin + len(batch.lines))
                begin += len(batch.lines)
                yield from tables_of(
                    names, at, batch, tables, judged, findings, begins, self._spool
                )
            columns = [str(name) for name in judged.taken.file.frame.columns]
            skipped = outcome_rows.skipped(judged.taken.file.skipped, names[at], columns)
            yield OutcomeRows("skipped", skipped)

    @arrow_text.system_memory()
    def write(
        self,
        target: Target | None,
        *,
        show: Collection[str] = (),
    ) -> CleanedFiles:
        """Write the outcomes and the report, all files or none; count and show.

        Args:
            target: Where they go; None to write nothing.
            show: Reason codes whose first records are kept.

        Raises:
            LeadFileError: The folder cannot be written.
        """
        tally = Tally(frozenset(show))
        files = self.files
        paths = {} if target is None else targets_of(target, files)

        def fill(out: Outputs | None) -> CleanedFiles:
            def put(rows: OutcomeRows) -> None:
                tally.add(rows)
                if out is not None:
                    out.add(rows.key, rows.table)

            for _ in ahead(put, self.tables()):
                pass
            return tally.told(files, self.region, self.leftovers, paths)

        if target is None:
            return fill(None)
        clean = CleanColumns.of(
            self.orders["clean"],
            [judged.judging.columns for judged in self._judged],
            self.filled,
            target.layout,
        )
        return outputs(target, paths, files, self.orders, clean, self.region, fill)

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

    def opted_out(self) -> np.ndarray:
        """Every number of the records that say themselves not to be called, as integers, once each."""
        numbers = np.unique(np.concatenate([_NONE, *self._compared.opted_out]))
        return np.asarray(numbers[numbers != 0])

    def inputs(self, keep: Sequence[str] | None = None) -> Iterator[LeadInput]:
        """The clean records as the service takes them, block by block.

        Args:
            keep: Columns that become custom fields; without it all that no field explains.

        Raises:
            ConfigError: There are more custom fields than the service takes, or `keep` names a
                column that is not there.
        """
        custom = self.custom_fields(keep)
        several = any(judged.extra_leads is not None for judged in self._judged)
        before, order = "", self.orders["clean"]
        clean = (rows.table for rows in self.tables() if rows.key == "clean")
        for table in clean:
            aligned = outcome_rows.aligned(table, order)
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
    def filled(self) -> set[str]:
        """Fields that have a value in some record."""
        return {name for judged in self._judged for name in judged.filled}

    def samples(self, count: int = 5) -> list[dict[str, dict[str, list[str]]]]:
        """For each file, by field and column, the first cells that are filled.

        Args:
            count: How many cells of each column.
        """
        return [
            {
                name: {
                    part: _filled(judged.taken.file, part, count)
                    for column in columns
                    for part in judged.judging.columns.joined.get(column, (column,))
                }
                for name, columns in judged.judging.columns.fields().items()
            }
            for judged in self._judged
        ]

    def in_memory(self) -> Cleaned:
        """The outcomes as frames."""
        orders = self.orders  # looks at every file, so once and not for each of their tables
        tables: dict[str, list[pa.Table]] = {key: [] for key in _KEYS}
        for key, table, _ in self.tables():
            tables[key].append(table)
        frames = {
            key: outcome_rows.frame(
                [outcome_rows.aligned(table, orders[key]) for table in parts]
                or [outcome_rows.empty(orders[key])]
            )
            for key, parts in tables.items()
        }
        return Cleaned(
            **frames,
            files=self.files,
            region=self.region,
            leftovers=self.leftovers,
            filled=frozenset(self.filled),
        )

    @property
    def region(self) -> str | None:
        """The region of national numbers where it is the same in all files, or None."""
        regions = {judged.judging.region for judged in self._judged}
        return regions.pop() if len(regions) == 1 else None

    @property
    def leftovers(self) -> tuple[str, ...]:
        """Columns that no field explains."""
        return tuple(
            dict.fromkeys(
                name for judged in self._judged for name in judged.judging.columns.leftovers
            )
        )

    @property
    def orders(self) -> dict[str, list[str]]:
        """Columns of each outcome."""
        headers = [
            [str(name) for name in judged.taken.file.frame.columns] for judged in self._judged
        ]
        clean = [
            [*LEAD_COLUMNS, *judged.kept_names.values(), *outcome_rows.CLEAN_META]
            for judged in self._judged
        ]
        aside = outcome_rows.column_order([[*names, *META] for names in headers])
        return {
            key: outcome_rows.column_order(clean) if key == "clean" else aside for key in _KEYS
        }

    @property
    def _names(self) -> list[str]:
        return numbered([judged.taken.file.name for judged in self._judged])

    def _judge_each(self, files: Sequence[JudgedFile]) -> None:
        """Judge every block by itself, and remember what is compared with others."""
        total = self._compared.count + sum(judged.taken.leads for judged in files)
        for judged in files:
            judge_file(judged, self._spool, self._compared)
            self._judged.append(judged)
            self._tell(Progress(_STEP, self._compared.count, max(total, self._compared.count)))

    def _parts(self) -> Iterator[Part]:
        """Fields of all records once more."""
        line = len(LEAD_COLUMNS)
        for judged in self._judged:
            for number, _ in judged.tables:
                batch, _ = self._spool.get(number, range(line + 1))
                fields = {name: batch.column(name) for name in LEAD_COLUMNS}
                yield Part(fields, batch.column(LINE).to_numpy())

    def _repeats(self) -> Repeats:
        """What finds repetition: memory for short lists, the disk for long ones."""
        short = self._engine == "auto" and self._compared.count <= MANY
        if self._engine == "memory" or short or self._folder is None:
            return InMemory()
        return Partitions(self._folder)


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
        files: One file, or several that are cleaned against each other in this order: as they were read,
            or by their paths.
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
        on_progress: Told of records.

    Returns:
        The outcomes as frames.

    Raises:
        LeadFileError: A file cannot be read, has no phone column, or its numbers need a region and have none.
        ConfigError: A region, a country or a field is unknown.

    Example:
        cleaned = dialframe.leads.clean("autumn.csv", region="US")
        print(cleaned.counts)
    """
    every: list[Any] = list(files) if isinstance(files, list | tuple) else [files]
    listed: list[Any] = [
        file
        for each in every
        for file in (read_all(each) if isinstance(each, str | Path) else [each])
    ]
    if not listed:
        raise LeadFileError("there is no file to clean; pass at least one")
    unread = next((file for file in listed if not isinstance(file, LeadFile)), None)
    if unread is not None:
        raise LeadFileError(
            f"clean takes files that were read, not a {type(unread).__name__}: pass "
            "dialframe.leads.read(PATH), or let clean_files read them (a frame is written first, as CSV)"
        )
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
    engine: Engine = "auto",
    memory_bytes: int = MEMORY_BYTES,
    workers: Workers | None = None,
    show: Collection[str] = (),
    on_progress: OnProgress = silent,
) -> CleanedFiles:
    """Read, clean and write lead files of any size in bounded memory.

    The files are those of `write(clean([read(path) for path in paths]), out_dir)`, byte for byte.
    Delimited UTF-8 is read in blocks; other formats are read whole. What does not fit into memory
    waits in a folder of mode 0700 that is removed at the end.

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
        form: Format of the five outcomes.
        page: Makes a page of the report for people; None for no page.
        layout: What the clean list looks like.
        scratch: Folder for what does not fit into memory; the system's without it.
        engine: Where the records are compared with each other; the result is the same.
        memory_bytes: Bytes of leads that may wait in memory before the disk is used.
        workers: Reads and judges every file elsewhere, as `dask_workers.dask_workers` does; the result
            is the same.
        show: Reason codes whose first records are kept in `CleanedFiles.lines`.
        on_progress: Told of records.

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
        choices, scratch=scratch, memory_bytes=memory_bytes, engine=engine, on_progress=on_progress
    ) as pipeline:
        pipeline.judge(paths, workers=workers)
        pipeline.compare(do_not_call, suppressed=suppressed)
        return pipeline.write(target, show=show)


def _filled(file: LeadFile, column: str, count: int) -> list[str]:
    cells = file.frame[column]
    return [str(cell) for cell in cells[cells.str.strip() != ""].head(count)]
