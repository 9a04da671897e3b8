"""Every record of one file judged on its own: mapped fields, findings, warnings; knows no other record."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import pandas as pd

from dialframe.contract import limits
from dialframe.leads import answers
from dialframe.leads.cells import by_distinct, read_email, read_name, turn_name, turns_names
from dialframe.leads.column_map import ColumnMap
from dialframe.leads.lead_file import META, LeadFile
from dialframe.leads.phone_cells import PhoneReading, read_extension, read_phone
from dialframe.leads.rules import FieldRule, Policy

#: Columns of a cleaned record that come from mapped columns, in order.
LEAD_COLUMNS: Final = (
    "phone",
    "phone_extension",
    "phone_other",
    "first_name",
    "last_name",
    "full_name",
    "email",
    "external_id",
    "source",
)
#: Most bytes of one record: what a request holds, less room for its frame.
MAX_RECORD_BYTES: Final = limits.BODY_BYTES - 4096

_NAME_CHARS: Final = {
    "first_name": limits.FIRST_NAME_CHARS,
    "last_name": limits.LAST_NAME_CHARS,
    "full_name": limits.FULL_NAME_CHARS,
}


class Finding(NamedTuple):
    """One reason against a record, the field that it concerns and the value found there."""

    code: str
    field: str = ""
    value: str = ""


@dataclass(frozen=True, slots=True)
class Assessed:
    """One file's records, judged one by one.

    Attributes:
        file: The file.
        columns: Its columns by field.
        fields: One row per row of the file: `LEAD_COLUMNS`, then every column that no single field
            used up, under its own name.
        findings: Row to what stands against it.
        warnings: Row to warning codes.
    """

    file: LeadFile
    columns: ColumnMap
    fields: pd.DataFrame
    findings: dict[int, list[Finding]] = field(default_factory=dict)
    warnings: dict[int, list[str]] = field(default_factory=dict)

    def find(self, row: int, code: str, name: str = "", value: str = "") -> None:
        """Note a finding."""
        self.findings.setdefault(row, []).append(Finding(code, name, value))

    def warn(self, row: int, codes: Sequence[str]) -> None:
        """Note warnings."""
        if codes:
            self.warnings.setdefault(row, []).extend(codes)


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
    _phones(assessed, region, frozenset(blocked_countries))
    _names(assessed)
    _emails(assessed, policy)
    _permissions(assessed, policy)
    _sizes(assessed)
    for rule in field_rules:
        _rule(assessed, rule)
    return assessed


def kept_columns(columns: ColumnMap) -> list[str]:
    """Columns of the file that stay under their own name beside the mapped fields."""
    phones = columns.phone if len(columns.phone) > 1 else ()
    return [*columns.leftovers, *phones, *columns.fax, *columns.opt_out, *columns.consent]


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


def _phones(assessed: Assessed, region: str | None, blocked: frozenset[str]) -> None:
    """The first column of the preference that has a number, or the first reason why none has."""
    frame, columns = assessed.file.frame, assessed.columns
    cells = {name: frame[name].tolist() for name in (*columns.phone, *columns.fax)}
    tried = [
        by_distinct(frame[name], lambda cell: read_phone(cell, region)) for name in columns.phone
    ]
    chosen: list[PhoneReading] = []
    for row, readings in enumerate(zip(*tried, strict=True)):
        best = next((at for at, one in enumerate(readings) if one.e164), None)
        chosen.append(readings[best] if best is not None else PhoneReading())
        if best is None:
            _no_number(assessed, row, readings, cells)
            continue
        assessed.warn(row, readings[best].warnings)
        if any(one.reason != "missing_phone" for one in readings[:best]):
            assessed.warn(row, ["phone_fallback"])
        if readings[best].region in blocked:
            assessed.find(row, "blocked_country", "phone", readings[best].e164)
    extensions = [one.extension for one in chosen]
    if columns.extension is not None:
        told = by_distinct(frame[columns.extension], read_extension)
        extensions = [one or other for one, other in zip(extensions, told, strict=True)]
    _put(assessed, "phone", [one.e164 for one in chosen])
    _put(assessed, "phone_extension", extensions)
    others = [one.other for one in chosen]
    if columns.phone_other is not None:
        known = by_distinct(frame[columns.phone_other], lambda cell: read_phone(cell, region).e164)
        others = [one or other for one, other in zip(others, known, strict=True)]
    _put(assessed, "phone_other", others)


def _no_number(
    assessed: Assessed,
    row: int,
    readings: Sequence[PhoneReading],
    cells: Mapping[str, Sequence[str]],
) -> None:
    filled = False
    for name, reading in zip(assessed.columns.phone, readings, strict=True):
        if reading.reason and reading.reason != "missing_phone":
            filled = True
            assessed.find(row, reading.reason, "phone", cells[name][row])
    if not filled:
        faxes = (cells[name][row] for name in assessed.columns.fax)
        fax = next((cell for cell in faxes if read_name(cell)), "")
        assessed.find(row, "fax_only" if fax else "missing_phone", "phone", fax)


def _names(assessed: Assessed) -> None:
    for name in (*_NAME_CHARS, "external_id", "source"):
        column = getattr(assessed.columns, name)
        if column is None:
            continue
        cells = assessed.file.frame[column]
        values = pd.Series(by_distinct(cells, read_name), dtype="str")
        if name == "full_name" and turns_names(values):
            values = pd.Series(by_distinct(values, turn_name), dtype="str")
        _put(assessed, name, list(values))
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
    _put(assessed, "email", [reading.email for reading in readings])
    for row, reading in enumerate(readings):
        assessed.warn(row, reading.warnings)
        if reading.reason and policy.bad_email == "reject":
            assessed.find(row, reading.reason, "email", originals[row])
        elif reading.reason:
            assessed.warn(row, [reading.reason])


def _permissions(assessed: Assessed, policy: Policy) -> None:
    """Opt-outs, and consents that are not given; a word that is neither forbids the call."""
    frame = assessed.file.frame
    for column in assessed.columns.opt_out:
        cells = frame[column].tolist()
        for row, answer in enumerate(by_distinct(frame[column], answers.read_answer)):
            if answer in ("yes", "unclear"):
                code = "opt_out" if answer == "yes" else "opt_out_unclear"
                assessed.find(row, code, column, cells[row])
    for column in assessed.columns.consent:
        cells = frame[column].tolist()
        for row, answer in enumerate(by_distinct(frame[column], answers.read_consent)):
            if answer == "yes" or (answer == "blank" and policy.blank_consent == "clean"):
                continue
            code = "opt_out_unclear" if answer == "unclear" else "no_consent"
            assessed.find(row, code, column, cells[row])


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
            assessed.find(row, "field_rule", rule.field, value)


def _put(assessed: Assessed, name: str, values: Sequence[str]) -> None:
    assessed.fields[name] = pd.array(list(values), dtype="str")


def _where(mask: pd.Series) -> list[int]:
    return [int(row) for row in mask.to_numpy().nonzero()[0]]
