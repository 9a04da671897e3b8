"""Every record of one file judged on its own: mapped fields, findings, warnings; knows no other record."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import pandas as pd

from dialframe.contract import limits
from dialframe.leads.columns.column_map import ColumnMap
from dialframe.leads.judging.record_judgment import MAX_RECORD_BYTES, kept_columns
from dialframe.leads.judging.rules import FieldRule, Policy
from dialframe.leads.lead_file import LEAD_COLUMNS, META, LeadFile
from dialframe.leads.names_and_emails import read_email, read_name, turn_name, turns_names
from leads.row_findings import Assessed, by_distinct
from leads.row_phones import find_phones, row_regions
from leads.row_prohibitions import forbid

_NAME_CHARS: Final = {
    "first_name": limits.FIRST_NAME_CHARS,
    "last_name": limits.LAST_NAME_CHARS,
    "full_name": limits.FULL_NAME_CHARS,
}


def assess(
    file: LeadFile,
    columns: ColumnMap,
    *,
    region: str | None,
    policy: Policy,
    blocked_countries: Collection[str] = (),
    field_rules: Sequence[FieldRule] = (),
) -> Assessed:
    """Map and judge the records of one file.

    Args:
        file: The file.
        columns: Its columns by field.
        region: Region of national numbers, or None.
        policy: Decisions that are not the contract's.
        blocked_countries: Regions (ISO 3166) whose numbers are rejected.
        field_rules: Further rules of the account.
    """
    fields = pd.DataFrame(
        {name: pd.Series("", index=file.frame.index, dtype="str") for name in LEAD_COLUMNS}
    )
    assessed = Assessed(file, columns, pd.concat([fields, _rest(file, columns)], axis=1))
    for row, fault in file.faults.items():
        assessed.find(row, fault)
    for row, codes in file.warnings.items():
        assessed.warn(row, codes)
    regions = row_regions(file, columns, region)
    read = find_phones(assessed, regions, policy, frozenset(blocked_countries))
    _names(assessed)
    _emails(assessed, policy)
    if isinstance(regions, list):  # an opt-out of an unknown country holds the given one's number
        regions = [one or region for one in regions]
    forbid(assessed, policy, regions, read)
    _sizes(assessed)
    for rule in field_rules:
        _rule(assessed, rule)
    return assessed


def _rest(file: LeadFile, columns: ColumnMap) -> pd.DataFrame:
    kept = set(kept_columns(columns))
    names: dict[str, str] = {}
    taken = {*LEAD_COLUMNS, *META}
    for column in map(str, file.frame.columns):
        if column in kept:
            name, copy = column, 2
            while name in taken:
                name, copy = f"{column} ({copy})", copy + 1
            names[column] = name
            taken.add(name)
    return file.frame[list(names)].rename(columns=names)


def _names(assessed: Assessed) -> None:
    for name in (*_NAME_CHARS, "external_id", "source"):
        column = getattr(assessed.columns, name)
        if column is None:
            continue
        cells = assessed.file.frame[column]
        values = pd.Series(by_distinct(cells, read_name), dtype="str")
        if name == "full_name" and turns_names(values):
            values = pd.Series(by_distinct(values, turn_name), dtype="str")
        assessed.put(name, list(values))
        most = _NAME_CHARS.get(name, limits.EXTERNAL_ID_CHARS[1])
        code = "name_length" if name in _NAME_CHARS else f"{name}_length"
        if name != "source":
            originals = cells.tolist()
            for row in _where(values.str.len() > most):
                assessed.find(row, code, name, originals[row])


def _emails(assessed: Assessed, policy: Policy) -> None:
    column = assessed.columns.email
    if column is None:
        return
    cells = assessed.file.frame[column]
    readings, originals = by_distinct(cells, read_email), cells.tolist()
    assessed.put("email", [reading.email for reading in readings])
    for row, reading in enumerate(readings):
        assessed.warn(row, reading.warnings)
        if reading.reason and policy.bad_email == "reject":
            assessed.find(row, reading.reason, "email", originals[row])
        elif reading.reason:
            assessed.warn(row, [reading.reason])


def _sizes(assessed: Assessed) -> None:
    frame = assessed.fields
    chars = sum((frame[name].str.len() for name in frame.columns), start=pd.Series(0, frame.index))
    for row in _where(chars > MAX_RECORD_BYTES // 6):
        cells = frame.iloc[row]
        if sum(len(str(cell).encode()) for cell in cells) > MAX_RECORD_BYTES:
            assessed.find(row, "row_too_large")


def _rule(assessed: Assessed, rule: FieldRule) -> None:
    if rule.column not in assessed.fields.columns:
        values = [""] * len(assessed.fields)
    else:
        values = list(assessed.fields[rule.column])
    for row, value in enumerate(values):
        if rule.is_broken_by(value):
            if rule.severity == "warn":
                assessed.warn(row, ["field_rule"])
            else:
                assessed.find(row, "field_rule", rule.field, value)


def _where(mask: pd.Series) -> list[int]:
    return [int(row) for row in mask.to_numpy().nonzero()[0]]
