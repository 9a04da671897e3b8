"""Cleaning record by record, as slow as it is plain: the truth to which cleaning by columns is held."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd

from dialframe.config import OnProgress, Progress, silent
from dialframe.errors import ConfigError, LeadFileError
from dialframe.leads.cleaned import Cleaned, CleanedFile
from dialframe.leads.columns.column_decisions import map_columns
from dialframe.leads.columns.column_map import ColumnMap, Columns
from dialframe.leads.judging.rules import FieldRule, Policy
from dialframe.leads.lead_file import META, LeadFile
from dialframe.leads.reasons import COUNT_KEYS
from dialframe.phones import check_region, normalize
from leads.row_across import Judged, judge
from leads.row_assess import assess
from leads.row_findings import Assessed

#: Columns of one file as they are told, or None to find them.
ReadOptions = ColumnMap | Mapping[str, Columns] | None

_STEP: Final = "lead files cleaned"
_INTEGERS: Final = frozenset({"_line", "_row", "_kept_line"})
_ENDINGS: Final = re.compile(
    r"(\.(csv|tsv|txt|tab|psv|xlsx|xlsm|xlsb|xls|ods|json|jsonl|ndjson|parquet|dat))?(\.gz)?$",
    re.IGNORECASE,
)


def clean(
    files: LeadFile | Sequence[LeadFile],
    *,
    region: str | None,
    mapping: ReadOptions | Sequence[ReadOptions] = None,
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
            (such as `saved_mapping` of each, None where there is none).
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
    blocked = [str(check_region(country)) for country in blocked_countries]
    assessed = []
    for done, file in enumerate(listed):
        on_progress(Progress(_STEP, done, len(listed)))
        columns = map_columns(file, region=known, mapping=told[done])
        assessed.append(
            assess(
                file,
                columns,
                region=known,
                policy=policy or Policy(),
                blocked_countries=blocked,
                field_rules=field_rules,
            )
        )
    numbers = normalize(list(do_not_call), region=known)["e164"].dropna()
    unique = (policy or Policy()).repeated_external_id == "duplicate"
    judged = judge(assessed, frozenset(numbers), ids_are_unique=unique)
    cleaned = _cleaned(assessed, judged, known)
    on_progress(Progress(_STEP, len(listed), len(listed)))
    return cleaned


def _each(mapping: ReadOptions | Sequence[ReadOptions], files: int) -> list[ReadOptions]:
    if mapping is None or isinstance(mapping, ColumnMap | Mapping):
        return [mapping] * files
    if len(mapping) != files:
        raise ConfigError(
            f"there are {len(mapping)} mappings for {files} files; pass one each, or one for all"
        )
    return list(mapping)


def _cleaned(assessed: Sequence[Assessed], judged: Judged, region: str | None) -> Cleaned:
    names = unique_file_names([one.file.name for one in assessed])
    parts: dict[str, list[pd.DataFrame]] = {outcome: [] for outcome in COUNT_KEYS}
    for at, one in enumerate(assessed):
        records = np.arange(judged.begins[at], judged.begins[at + 1])
        outcomes = np.array([judged.outcome(record) for record in records.tolist()], dtype=object)
        for outcome in COUNT_KEYS:
            rows = np.flatnonzero(outcomes == outcome)
            if outcome == "clean":
                silenced = judged.silenced.intersection((rows + judged.begins[at]).tolist())
                drop = {record - judged.begins[at] for record in silenced}
                parts[outcome].append(_clean_part(one, rows, names[at], drop))
            elif outcome == "skipped":
                parts[outcome].append(_skipped_part(one, names[at]))
            else:
                parts[outcome].append(_set_aside(one, rows, judged, at, names, assessed))
    leftovers = dict.fromkeys(name for one in assessed for name in one.columns.leftovers)
    return Cleaned(
        **{COUNT_KEYS[outcome]: _join(frames) for outcome, frames in parts.items()},
        files=tuple(_facts(one, name) for one, name in zip(assessed, names, strict=True)),
        region=region,
        leftovers=tuple(leftovers),
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


def _clean_part(one: Assessed, rows: np.ndarray, name: str, silenced: set[int]) -> pd.DataFrame:
    """Clean leads of one file; a second number that must not be called is left out."""
    fields = one.fields
    if silenced:
        others = fields["phone_other"].copy()
        others.iloc[sorted(silenced)] = ""
        fields = fields.assign(phone_other=others)
        for row in sorted(silenced):
            one.warn(row, ["phone_other_forbidden"])
    meta = {
        "_file": [name] * len(rows),
        "_line": one.file.lines[rows],
        "_row": one.file.rows[rows],
        "_outcome": ["clean"] * len(rows),
        "_warnings": [_warnings(one, row) for row in rows.tolist()],
    }
    return _with_meta(fields, rows, meta)


def _set_aside(
    one: Assessed,
    rows: np.ndarray,
    judged: Judged,
    at: int,
    names: Sequence[str],
    assessed: Sequence[Assessed],
) -> pd.DataFrame:
    """Original cells of records that are not clean, with why."""
    records = (rows + judged.begins[at]).tolist()
    found = [judged.findings[record] for record in records]
    kept = [judged.kept.get(record) for record in records]
    places = [None if record is None else judged.file_of(record) for record in kept]
    lines = [
        None
        if record is None or place is None
        else int(assessed[place].file.lines[record - judged.begins[place]])
        for record, place in zip(kept, places, strict=True)
    ]
    meta = {
        "_file": [names[at]] * len(rows),
        "_line": one.file.lines[rows],
        "_row": one.file.rows[rows],
        "_outcome": [judged.outcome(record) for record in records],
        "_reason": [findings[0].code for findings in found],
        "_field": [findings[0].field for findings in found],
        "_value": [findings[0].value for findings in found],
        "_all_reasons": [_codes(finding.code for finding in findings) for findings in found],
        "_warnings": [_warnings(one, row) for row in rows.tolist()],
        "_kept_file": ["" if place is None else names[place] for place in places],
        "_kept_line": lines,
        "_raw": [one.file.raws.get(row, "") for row in rows.tolist()],
    }
    return _with_meta(one.file.frame, rows, meta)


def _skipped_part(one: Assessed, name: str) -> pd.DataFrame:
    skipped = one.file.skipped
    records = skipped[skipped["_row"].notna().to_numpy()]
    count = len(records)
    meta = {
        "_file": [name] * count,
        "_line": records["_line"],
        "_row": records["_row"],
        "_outcome": ["skipped"] * count,
        "_reason": records["_code"],
        "_all_reasons": records["_code"],
        "_raw": records["_raw"],
    }
    meta |= {column: [""] * count for column in ("_field", "_value", "_warnings", "_kept_file")}
    meta |= {"_kept_line": [None] * count}
    cells = records[[column for column in records.columns if column in one.file.frame.columns]]
    return _with_meta(cells, np.arange(count), {column: meta[column] for column in META})


def _with_meta(cells: pd.DataFrame, rows: np.ndarray, meta: Mapping[str, Any]) -> pd.DataFrame:
    added = pd.DataFrame(
        {
            name: pd.array(list(values), dtype="Int64" if name in _INTEGERS else "str")
            for name, values in meta.items()
        }
    )
    return pd.concat([cells.iloc[rows].reset_index(drop=True), added], axis=1)


def _join(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """The files' records one behind the other; columns that a file does not have are empty."""
    if len(frames) == 1:
        return frames[0]
    names = dict.fromkeys(name for frame in frames for name in frame.columns)
    meta = [name for name in names if name in META]
    ordered = [name for name in names if name not in META] + meta
    aligned = [frame.reindex(columns=ordered) for frame in frames]
    both = pd.concat(
        [frame.astype({name: _dtype(name) for name in ordered}) for frame in aligned],
        ignore_index=True,
    )
    texts = {name: "" for name in ordered if name not in _INTEGERS}
    return both.fillna(texts)


def _dtype(name: str) -> str:
    return "Int64" if name in _INTEGERS else "str"


def _facts(one: Assessed, name: str) -> CleanedFile:
    file = one.file
    return CleanedFile(
        path=file.path,
        name=name,
        stem=_ENDINGS.sub("", file.name) or file.name,
        sha256=file.sha256,
        records=file.records,
        header=file.header,
        names=tuple(map(str, file.frame.columns)),
        decisions=file.decisions,
        columns=one.columns,
    )


def _warnings(one: Assessed, row: int) -> str:
    return _codes(one.warnings.get(row, ()))


def _codes(codes: Iterable[str]) -> str:
    return ";".join(dict.fromkeys(codes))
