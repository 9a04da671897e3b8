"""Lead files to clean, rejected, duplicate, do-not-call and skipped records; knows no disk and no service."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa

from dialframe.config import OnProgress, Progress, silent
from dialframe.errors import LeadFileError
from dialframe.leads import parts, phone_columns, texts
from dialframe.leads.across import Found, keys, settle
from dialframe.leads.assess import Assessed, Judging, Rows, assess, kept_names, tidied
from dialframe.leads.cells import turns_names
from dialframe.leads.cleaned import Cleaned, CleanedFile
from dialframe.leads.column_map import ColumnMap, Columns
from dialframe.leads.columns import map_columns
from dialframe.leads.intake import sample_step
from dialframe.leads.lead_file import LeadFile
from dialframe.leads.parts import Part
from dialframe.leads.reasons import COUNT_KEYS
from dialframe.leads.rules import FieldRule, Policy
from dialframe.phones import check_region, normalise

_STEP: Final = "lead files cleaned"
_ENDINGS: Final = re.compile(
    r"(\.(csv|tsv|txt|tab|psv|xlsx|xlsm|xlsb|xls|ods|json|jsonl|ndjson|parquet|dat))?(\.gz)?$",
    re.IGNORECASE,
)


def clean(
    files: LeadFile | Sequence[LeadFile],
    *,
    region: str | None,
    mapping: ColumnMap | Mapping[str, Columns] | None = None,
    policy: Policy | None = None,
    blocked_countries: Collection[str] = (),
    field_rules: Sequence[FieldRule] = (),
    do_not_call: Iterable[str] = (),
    on_progress: OnProgress = silent,
) -> Cleaned:
    """Put every record of the files into exactly one of five outcomes.

    A record is known by its first reason in the order of `reasons.REASONS`: damage of the record
    itself, then its phone number, then a prohibition to call, then blocked countries, lengths and
    field rules, and last repetition. An opt-out forbids all records with the same number, in all
    files. Of records with the same number the first that nothing stands against is kept.

    Args:
        files: One file, or several that are cleaned against each other in this order.
        region: ISO 3166 region of national numbers, or None.
        mapping: Columns by field, as for `map_columns`; for all files.
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
    known = check_region(region)
    names = unique_file_names([file.name for file in listed])
    blocked = frozenset(str(check_region(country)) for country in blocked_countries)
    own_policy = policy or Policy()
    judgings, assessed, compared = [], [], []
    for done, file in enumerate(listed):
        on_progress(Progress(_STEP, done, len(listed)))
        columns, turned = decide(file, region=known, mapping=mapping)
        judgings.append(Judging(columns, known, own_policy, blocked, tuple(field_rules), turned))
        assessed.append(assess(_rows(file), judgings[-1]))
        unique = own_policy.repeated_external_id == "duplicate"
        compared.append(keys(assessed[-1], file.lines, ids_are_unique=unique))
    settled = settle(compared, listed_numbers(do_not_call, known))
    begins = np.cumsum([0, *map(len, compared)]).tolist()
    tables: dict[str, list[pa.Table]] = {outcome: [] for outcome in COUNT_KEYS}
    for at, (file, one) in enumerate(zip(listed, assessed, strict=True)):
        found = list(settled.between(begins[at], begins[at + 1]))
        own = part(names, at, _rows(file), one, judgings[at].columns, (file.lines, file.rows, file.raws), found, begins)
        for outcome, table in own.tables().items():
            tables[outcome].append(table)
        tables["skipped"].append(parts.skipped(file.skipped, names[at], list(map(str, file.frame.columns))))
    cleaned = _cleaned(listed, names, [one.columns for one in judgings], tables, known)
    on_progress(Progress(_STEP, len(listed), len(listed)))
    return cleaned


def decide(
    file: LeadFile, *, region: str | None, mapping: ColumnMap | Mapping[str, Columns] | None
) -> tuple[ColumnMap, bool]:
    """The columns of a file's fields, and whether its whole names are written `Last, First`.

    Up to 50,000 rows spread over the file tell that of all of them.
    """
    step = sample_step(len(file.frame))
    seen = file if step == 1 else replace(file, frame=file.frame.iloc[::step])
    columns = map_columns(seen, region=region, mapping=mapping)
    if columns.full_name is None:
        return columns, False
    names = tidied(texts.of_series(seen.frame[columns.full_name]))
    return columns, turns_names(pd.Series(names.to_pylist(), dtype="str"))


def listed_numbers(numbers: Iterable[str], region: str | None) -> np.ndarray:
    """Numbers in any form as integers, in order; what is none is left out."""
    found = normalise(list(numbers), region=region)["e164"].dropna()
    return np.unique(phone_columns.numbers(texts.of_series(found)))


def part(
    names: Sequence[str],
    at: int,
    rows: Rows,
    assessed: Assessed,
    columns: ColumnMap,
    places: tuple[np.ndarray, np.ndarray, Mapping[int, str]],
    found: Sequence[Found],
    begins: Sequence[int],
) -> Part:
    """Records of one file with everything that is to be said of them.

    Args:
        names: Names of all files.
        at: Place of their file.
        rows: The records.
        assessed: The same, judged one by one.
        columns: The file's columns by field.
        places: Their lines, ordinals and, where they could not be read whole, texts.
        found: What stands against them because of others.
        begins: First record of each file.
    """
    lines, ordinals, raws = places
    notes = assessed.notes
    own = (notes.rows, notes.ranks, notes.fields, notes.cells)
    return Part(
        file=names[at],
        columns=rows.columns,
        kept=kept_names(list(rows.columns), columns),
        fields=assessed.fields,
        lines=lines,
        rows=ordinals,
        warnings=notes.warnings(len(rows)),
        findings=parts.with_settled(own, found, assessed.fields),
        others=parts.others(found, names, begins),
        raws=raws,
    )


def _rows(file: LeadFile) -> Rows:
    columns = {str(name): texts.of_series(file.frame[name]) for name in file.frame.columns}
    return Rows(columns, file.faults, file.warnings)


def _cleaned(
    files: Sequence[LeadFile],
    names: Sequence[str],
    maps: Sequence[ColumnMap],
    tables: Mapping[str, Sequence[pa.Table]],
    region: str | None,
) -> Cleaned:
    frames = {}
    for outcome, own in tables.items():
        order = parts.column_order([table.column_names for table in own])
        frames[COUNT_KEYS[outcome]] = parts.frame([parts.aligned(table, order) for table in own])
    return Cleaned(
        **frames,
        files=tuple(
            facts(file, name, columns, file.records)
            for file, name, columns in zip(files, names, maps, strict=True)
        ),
        region=region,
        leftovers=tuple(dict.fromkeys(name for one in maps for name in one.leftovers)),
    )


def facts(file: LeadFile, name: str, columns: ColumnMap, records: int) -> CleanedFile:
    """What is to be known of one file that was cleaned."""
    return CleanedFile(
        path=file.path,
        name=name,
        stem=_ENDINGS.sub("", file.name) or file.name,
        sha256=file.sha256,
        records=records,
        header=file.header,
        names=tuple(map(str, file.frame.columns)),
        decisions=file.decisions,
        columns=columns,
    )


def unique_file_names(names: Sequence[str]) -> list[str]:
    """Names as they stand in `_file`; a repeated one gets ` (2)` behind it."""
    unique: list[str] = []
    for name in names:
        own, copy = name, 2
        while own in unique:
            own, copy = f"{name} ({copy})", copy + 1
        unique.append(own)
    return unique
