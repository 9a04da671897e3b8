"""Lead files to files of outcomes without ever holding them whole; the rules are those of `cleaning`.

Three passes: every file is read in blocks that wait in a spool, every block is judged by itself and
waits again, and when all records have been compared the blocks become rows of the outcomes. What
stays in memory of a record is a few integers.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal

import numpy as np
import pyarrow as pa

from dialframe.config import OnProgress, Progress, silent
from dialframe.errors import LeadFileError
from dialframe.leads import parts
from dialframe.leads.columnwise import Assessed, Judging, assess, kept_names
from dialframe.leads.deciding import Told as ToldColumns
from dialframe.leads.deciding import decide, facts, listed_numbers, unique_file_names
from dialframe.leads.findings import LEAD_COLUMNS
from dialframe.leads.intake import Batch, TakenIn, Told, expanded, take_in
from dialframe.leads.lead_file import META
from dialframe.leads.notes import Notes
from dialframe.leads.partitions import Partitions
from dialframe.leads.reasons import COUNT_KEYS
from dialframe.leads.rules import FieldRule, Policy
from dialframe.leads.settling import Compared, Found, InMemory, Part, Repeats, Settled, settle
from dialframe.leads.spool import MEMORY_BYTES, Spool
from dialframe.leads.tally import CleanedFiles, Tally
from dialframe.leads.writing import Form, Outputs, Render, Target, outputs, targets_of
from dialframe.phones import check_region

_STEP: Final = "records cleaned"
_NONE: Final = np.zeros(0, np.int64)
_LINE: Final = "_line"
#: What compares records: memory, parts on the disk, DuckDB out of core, or what suits their number.
Engine = Literal["auto", "memory", "disk", "duckdb"]
#: Records from which on the disk is used.
MANY: Final = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class _Judged:
    """A file whose blocks are judged one by one: numbers of its blocks' tables in the spool."""

    taken: TakenIn
    judging: Judging
    tables: list[tuple[int, int]] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    """One file to read and to judge."""

    path: str | Path
    told: Told
    region: str | None
    mapping: ToldColumns
    rest: dict[str, object]


@dataclass(frozen=True, slots=True, eq=False)
class _Shipped:
    """What came of a task, without anything that stays where it ran."""

    judged: _Judged
    read: list[tuple[pa.RecordBatch, object]]
    tables: list[tuple[tuple[pa.RecordBatch, object], tuple[pa.RecordBatch, object]]]
    compared: Compared


#: Runs a function for each of some things, anywhere, and gives the answers in their order.
Workers = Callable[[Callable[[_Task], _Shipped], Sequence[_Task]], Iterable[_Shipped]]


def clean_files(
    paths: Sequence[str | Path],
    out_dir: str | Path | None,
    *,
    region: str | None,
    mapping: ToldColumns = None,
    policy: Policy | None = None,
    blocked_countries: Collection[str] = (),
    field_rules: Sequence[FieldRule] = (),
    do_not_call: Iterable[str] = (),
    told: Told | None = None,
    stem: str | None = None,
    form: Form = "csv",
    page: Render | None = None,
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
        region: ISO 3166 region of national numbers, or None.
        mapping: Columns by field, as for `map_columns`, for all files; or what says them of each.
        policy: Decisions that are not the contract's.
        blocked_countries: Regions whose numbers are rejected.
        field_rules: Further rules of the account.
        do_not_call: Numbers that must not be called, in any form.
        told: What is known of the files; the rest is found out.
        stem: Beginning of the names; without it the first file's name without endings.
        form: Format of the five outcomes.
        page: Makes a page of the report for people; None for no page.
        scratch: Folder for what does not fit into memory; the system's without it.
        engine: What compares the records with each other; the result is the same.
        memory_bytes: Bytes of leads that may wait in memory before the disk is used.
        workers: Reads and judges every file elsewhere, as `cluster.dask_workers` does; the result
            is the same.
        show: Reason codes whose first records are kept in `CleanedFiles.lines`.
        on_progress: Told of records.

    Raises:
        LeadFileError: A file cannot be read, changed while it was read, or has no phone column;
            the folder cannot be written.
        ConfigError: A region, a country or a field is unknown.
    """
    if not paths:
        raise LeadFileError("there is no file to clean; pass at least one")
    known = check_region(region)
    rest = {
        "policy": policy or Policy(),
        "blocked": frozenset(str(check_region(country)) for country in blocked_countries),
        "rules": tuple(field_rules),
    }
    with tempfile.TemporaryDirectory(prefix="dialframe-", dir=scratch) as folder:
        spool = Spool(Path(folder), memory_bytes)
        every = [_Task(path, told or Told(), known, mapping, rest) for path in expanded(paths)]
        judged: list[_Judged] = []
        compared = Compared()
        if workers is None:
            judged = [_decided(task, spool) for task in every]
            _judge(judged, spool, compared, on_progress)
        else:
            for shipped in workers(_ship, every):
                judged.append(_unpacked(shipped, spool))
                compared.join(shipped.compared)
                on_progress(Progress(_STEP, compared.count, None))
        with ExitStack() as stack:
            settled = settle(
                compared,
                listed_numbers(do_not_call, known),
                lambda: _parts(judged, spool),
                lambda: _repeats(compared.count, engine, Path(folder), stack),
                ids_are_unique=rest["policy"].repeated_external_id == "duplicate",  # type: ignore[attr-defined]
            )
            target = None if out_dir is None else Target(Path(out_dir), stem, form, page)
            return _write(judged, settled, spool, target, known, show)


def _decided(task: _Task, spool: Spool) -> _Judged:
    taken = take_in(task.path, task.told, spool)
    columns, turned = decide(taken.file, region=task.region, mapping=task.mapping)
    return _Judged(taken, Judging(columns, task.region, turned=turned, **task.rest))  # type: ignore[arg-type]


def _ship(task: _Task) -> _Shipped:
    """Read and judge one file wherever this runs; what came of it, to be sent."""
    with tempfile.TemporaryDirectory(prefix="dialframe-") as folder:
        spool, compared = Spool(Path(folder)), Compared()
        judged = _decided(task, spool)
        _judge([judged], spool, compared, silent)
        file = replace(judged.taken.file, faults={}, warnings={}, raws={})
        return _Shipped(
            _Judged(replace(judged.taken, file=file), judged.judging, sizes=judged.sizes),
            [spool.get(number) for number in judged.taken.numbers],
            [(spool.get(one), spool.get(other)) for one, other in judged.tables],
            compared,
        )


def _unpacked(shipped: _Shipped, spool: Spool) -> _Judged:
    numbers = [spool.put(*one) for one in shipped.read]
    tables = [(spool.put(*one), spool.put(*other)) for one, other in shipped.tables]
    own = shipped.judged
    return _Judged(replace(own.taken, numbers=numbers), own.judging, tables, own.sizes)


def _judge(
    judged: Sequence[_Judged], spool: Spool, compared: Compared, on_progress: OnProgress
) -> None:
    """Judge every block by itself, and remember what is compared with others."""
    total = sum(one.taken.leads for one in judged)
    for one in judged:
        for batch in one.taken.batches(spool):
            assessed = assess(batch.rows, one.judging)
            one.tables.append(_keep(assessed, batch.lines, spool))
            one.sizes.append(len(batch.lines))
            compared.add(assessed)
            on_progress(Progress(_STEP, compared.count, total))


def _repeats(count: int, engine: Engine, folder: Path, stack: ExitStack) -> Repeats:
    """What finds repetition: memory for short lists, the disk for long ones."""
    if engine == "memory" or (engine == "auto" and count <= MANY):
        return InMemory()
    if engine == "duckdb":
        from dialframe.leads.out_of_core import OutOfCore

        repeats = OutOfCore(folder)
        stack.callback(repeats.close)
        return repeats
    return Partitions(folder)


def _keep(assessed: Assessed, lines: np.ndarray, spool: Spool) -> tuple[int, int]:
    notes = assessed.notes
    fields = pa.RecordBatch.from_pydict(
        {**assessed.fields, "_warnings": notes.warnings(len(lines)), _LINE: lines}
    )
    values = pa.concat_arrays(notes.cells) if notes.cells else pa.array([], pa.large_string())
    found = pa.RecordBatch.from_pydict(
        {
            "row": np.concatenate([*notes.rows, _NONE]),
            "rank": np.concatenate([*notes.ranks, _NONE]),
            "value": values,
        }
    )
    groups = [(name, len(own)) for name, own in zip(notes.fields, notes.rows, strict=True)]
    return spool.put(fields), spool.put(found, groups)


def _kept(numbers: tuple[int, int], spool: Spool) -> tuple[dict[str, pa.Array], Notes, pa.Array]:
    fields, _ = spool.get(numbers[0])
    found, groups = spool.get(numbers[1])
    rows, ranks = found.column("row").to_numpy(), found.column("rank").to_numpy()
    notes, at = Notes(), 0
    for name, count in groups:
        notes.rows.append(rows[at : at + count])
        notes.ranks.append(ranks[at : at + count])
        notes.fields.append(name)
        notes.cells.append(found.column("value").slice(at, count))
        at += count
    own = {name: fields.column(name) for name in LEAD_COLUMNS}
    return own, notes, fields.column("_warnings")


def _parts(judged: Sequence[_Judged], spool: Spool) -> Iterator[Part]:
    """Fields of all records once more."""
    line = len(LEAD_COLUMNS) + 1
    for one in judged:
        for number, _ in one.tables:
            batch, _ = spool.get(number, [*range(len(LEAD_COLUMNS)), line])
            fields = {name: batch.column(name) for name in LEAD_COLUMNS}
            yield Part(fields, batch.column(_LINE).to_numpy())


def _write(
    judged: Sequence[_Judged],
    settled: Settled,
    spool: Spool,
    target: Target | None,
    region: str | None,
    show: Collection[str],
) -> CleanedFiles:
    names = unique_file_names([one.taken.file.name for one in judged])
    files = tuple(
        facts(one.taken.file, name, one.judging.columns, one.taken.records)
        for one, name in zip(judged, names, strict=True)
    )
    leftovers = dict.fromkeys(name for one in judged for name in one.judging.columns.leftovers)
    tally = Tally(frozenset(show))
    paths = {} if target is None else targets_of(target, files)

    def fill(out: Outputs | None) -> CleanedFiles:
        for key, table in _tables(judged, names, settled, spool):
            tally.add(key, table)
            if out is not None:
                out.add(key, table)
        return tally.told(files, region, tuple(leftovers), paths)

    if target is None:
        return fill(None)
    return outputs(target, paths, files, _orders(judged), fill)


def _tables(
    judged: Sequence[_Judged], names: Sequence[str], settled: Settled, spool: Spool
) -> Iterator[tuple[str, pa.Table]]:
    """Rows of the outcomes, file after file and block after block."""
    begins = np.cumsum([0, *(sum(one.sizes) for one in judged)]).tolist()
    begin = 0
    for at, one in enumerate(judged):
        for batch, numbers in zip(one.taken.batches(spool), one.tables, strict=True):
            found = settled.between(begin, begin + len(batch.lines))
            begin += len(batch.lines)
            yield from _of_batch(names, at, batch, _kept(numbers, spool), one, found, begins)
        columns = [str(name) for name in one.taken.file.frame.columns]
        yield "skipped", parts.skipped(one.taken.file.skipped, names[at], columns)


def _of_batch(
    names: Sequence[str],
    at: int,
    batch: Batch,
    kept: tuple[dict[str, pa.Array], Notes, pa.Array],
    one: _Judged,
    found: tuple[list[Found], np.ndarray],
    begins: Sequence[int],
) -> Iterator[tuple[str, pa.Table]]:
    fields, notes, warnings = kept
    part = parts.Part(
        file=names[at],
        columns=batch.rows.columns,
        kept=kept_names(list(batch.rows.columns), one.judging.columns),
        fields=fields,
        lines=batch.lines,
        rows=batch.ordinals,
        warnings=warnings,
        findings=parts.with_settled(
            (notes.rows, notes.ranks, notes.fields, notes.cells), found[0], fields
        ),
        others=parts.others(found[0], names, begins),
        raws=batch.rows.raws,
        silenced=found[1],
    )
    for outcome, table in part.tables().items():
        yield COUNT_KEYS[outcome], table


def _orders(judged: Sequence[_Judged]) -> dict[str, list[str]]:
    """Columns of each outcome."""
    own = [
        ([str(name) for name in one.taken.file.frame.columns], one.judging.columns)
        for one in judged
    ]
    clean = [
        [*LEAD_COLUMNS, *kept_names(names, columns).values(), *parts.CLEAN_META]
        for names, columns in own
    ]
    aside = parts.column_order([[*names, *META] for names, _ in own])
    return {
        key: parts.column_order(clean) if key == "clean" else aside for key in COUNT_KEYS.values()
    }
