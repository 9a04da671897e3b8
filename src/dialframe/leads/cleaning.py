"""Lead files to clean, rejected, duplicate, do-not-call and skipped records; knows no disk and no service."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa

from dialframe.config import OnProgress, Progress, silent
from dialframe.errors import ConfigError, LeadFileError
from dialframe.leads import parts, texts
from dialframe.leads.cleaned import Cleaned
from dialframe.leads.column_map import ColumnMap
from dialframe.leads.columnwise import Assessed, Judging, Rows, assess, kept_names
from dialframe.leads.deciding import Told, decide, facts, listed_numbers, unique_file_names
from dialframe.leads.lead_file import LeadFile
from dialframe.leads.reasons import COUNT_KEYS
from dialframe.leads.rules import FieldRule, Policy
from dialframe.leads.settling import Compared, InMemory, Settled, settle
from dialframe.leads.settling import Part as Compare
from dialframe.phones import check_region

_STEP: Final = "lead files cleaned"


def clean(
    files: LeadFile | Sequence[LeadFile],
    *,
    region: str | None,
    mapping: Told | Sequence[Told] = None,
    policy: Policy | None = None,
    blocked_countries: Collection[str] = (),
    field_rules: Sequence[FieldRule] = (),
    do_not_call: Iterable[str] = (),
    on_progress: OnProgress = silent,
) -> Cleaned:
    """Put every record of the files into exactly one of five outcomes.

    A record is known by its first reason in the order of `reasons.REASONS`: a prohibition to call,
    damage of the record itself, then its phone number, then blocked countries, lengths and field
    rules, and last repetition. An opt-out forbids all records with any number of its record, with
    its external id, or with its e-mail address and name, in all files. Of records with the same number the first that nothing stands against is kept.

    Args:
        files: One file, or several that are cleaned against each other in this order.
        region: ISO 3166 region of national numbers, or None.
        mapping: Columns by field, as for `map_columns`: one for all files, or a list of one each
            (such as `saved_mapping` of each, None where there is none), or what says them of each.
        policy: Decisions that are not the contract's.
        blocked_countries: Regions whose numbers are rejected.
        field_rules: Further rules of the account.
        do_not_call: Numbers that must not be called, in any form.
        on_progress: Told about each file.

    Raises:
        LeadFileError: A file has no phone column.
        ConfigError: A region, a country or a field is unknown.
    """
    listed = [files] if isinstance(files, LeadFile) else list(files)
    if not listed:
        raise LeadFileError("there is no file to clean; pass at least one")
    told = _each(mapping, len(listed))
    known = check_region(region)
    own = policy or Policy()
    blocked = frozenset(str(check_region(country)) for country in blocked_countries)
    judged: list[tuple[Rows, Judging, Assessed]] = []
    compared = Compared()
    for done, file in enumerate(listed):
        on_progress(Progress(_STEP, done, len(listed)))
        columns, turned = decide(file, region=known, mapping=told[done])
        judging = Judging(columns, known, own, blocked, tuple(field_rules), turned)
        rows = _rows(file)
        judged.append((rows, judging, assess(rows, judging)))
        compared.add(judged[-1][2])

    def again() -> Iterator[Compare]:
        for file, (_, _, assessed) in zip(listed, judged, strict=True):
            yield Compare(assessed.fields, file.lines)

    settled = settle(
        compared,
        listed_numbers(do_not_call, known),
        again,
        InMemory,
        ids_are_unique=own.repeated_external_id == "duplicate",
    )
    cleaned = _cleaned(listed, judged, settled, known)
    on_progress(Progress(_STEP, len(listed), len(listed)))
    return cleaned


def _each(mapping: Told | Sequence[Told], files: int) -> list[Told]:
    if mapping is None or callable(mapping) or isinstance(mapping, ColumnMap | Mapping):
        return [mapping] * files
    if len(mapping) != files:
        raise ConfigError(
            f"there are {len(mapping)} mappings for {files} files; pass one each, or one for all"
        )
    return list(mapping)


def _cleaned(
    files: Sequence[LeadFile],
    judged: Sequence[tuple[Rows, Judging, Assessed]],
    settled: Settled,
    region: str | None,
) -> Cleaned:
    names = unique_file_names([file.name for file in files])
    begins = np.cumsum([0, *(len(file.frame) for file in files)]).tolist()
    tables: dict[str, list[pa.Table]] = {outcome: [] for outcome in COUNT_KEYS}
    for at, (file, (rows, judging, assessed)) in enumerate(zip(files, judged, strict=True)):
        found, silenced = settled.between(begins[at], begins[at + 1])
        notes = assessed.notes
        part = parts.Part(
            file=names[at],
            columns=rows.columns,
            kept=kept_names(list(rows.columns), judging.columns),
            fields=assessed.fields,
            lines=file.lines,
            rows=file.rows,
            warnings=notes.warnings(len(file.frame)),
            findings=parts.with_settled(
                (notes.rows, notes.ranks, notes.fields, notes.cells), found, assessed.fields
            ),
            others=parts.others(found, names, begins),
            raws=file.raws,
            silenced=silenced,
        )
        for outcome, table in part.tables().items():
            tables[outcome].append(table)
        tables["skipped"].append(parts.skipped(file.skipped, names[at], list(rows.columns)))
    return Cleaned(
        **{COUNT_KEYS[outcome]: _frame(own) for outcome, own in tables.items()},
        files=tuple(
            facts(file, name, judging.columns, file.records)
            for file, name, (_, judging, _) in zip(files, names, judged, strict=True)
        ),
        region=region,
        leftovers=tuple(
            dict.fromkeys(name for _, judging, _ in judged for name in judging.columns.leftovers)
        ),
    )


def _frame(tables: Sequence[pa.Table]) -> pd.DataFrame:
    order = parts.column_order([table.column_names for table in tables])
    return parts.frame([parts.aligned(table, order) for table in tables])


def _rows(file: LeadFile) -> Rows:
    columns = {str(name): texts.of_series(file.frame[name]) for name in file.frame.columns}
    return Rows(columns, file.faults, file.warnings, file.raws)
