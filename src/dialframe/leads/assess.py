"""Every record of one file judged on its own: mapped fields, findings, warnings; knows no other record."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, NamedTuple

import pandas as pd

from dialframe.contract import limits
from dialframe.leads import answers
from dialframe.leads.cells import (
    by_distinct,
    is_nothing,
    read_email,
    read_name,
    tidy,
    turn_name,
    turns_names,
)
from dialframe.leads.column_map import ColumnMap
from dialframe.leads.lead_file import META, LeadFile
from dialframe.leads.line_types import fit
from dialframe.leads.phone_cells import PhoneReading, every_number, read_extension, read_phone
from dialframe.leads.phone_parts import phone_columns
from dialframe.leads.phone_remarks import is_fax, type_column
from dialframe.leads.reasons import BY_CODE
from dialframe.leads.regions import read_region
from dialframe.leads.remarks import Scope, read_remark, scope_of, suspects_of
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


#: Which decision of the policy a remark is subject to; a prohibition in so many words is `remark`.
_REMARK_POLICY: Final = {"opt_out_unclear": "unclear_remark", "wrong_number": "wrong_number"}
#: Between the cells of a record that was not read whole, whatever its delimiter.
_PIECES: Final = re.compile(r"[,;|\t\n\r\"¬^~]+")


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
        numbers: Row that must not be called to every number that stands in it, in E.164: none of
            them is called under any record.
    """

    file: LeadFile
    columns: ColumnMap
    fields: pd.DataFrame
    findings: dict[int, list[Finding]] = field(default_factory=dict)
    warnings: dict[int, list[str]] = field(default_factory=dict)
    numbers: dict[int, tuple[str, ...]] = field(default_factory=dict)

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
    regions = row_regions(file, columns, region)
    _phones(assessed, regions, policy, frozenset(blocked_countries))
    _names(assessed)
    _emails(assessed, policy)
    _permissions(assessed, policy)
    _remarks(assessed, policy)
    _damaged(assessed)
    _sizes(assessed)
    for rule in field_rules:
        _rule(assessed, rule)
    _reach(assessed, regions)
    return assessed


def kept_columns(columns: ColumnMap) -> list[str]:
    """Columns of the file that stay under their own name beside the mapped fields."""
    parts = columns.phone_parts
    phones = parts if len(parts) > 1 else ()
    return [*columns.leftovers, *phones, *columns.fax, *columns.opt_out, *columns.consent]


def row_regions(
    file: LeadFile, columns: ColumnMap, region: str | None
) -> list[str | None] | str | None:
    """The region of national numbers: one for all rows, or one each where a column names it.

    A blank country is the region given. A country that nobody knows is None, so that a national
    number of it is refused rather than read as one of another country.
    """
    if columns.country is None:
        return region
    return by_distinct(
        file.frame[columns.country],
        lambda cell: region if is_nothing(tidy(cell)) else read_region(cell),
    )


def read_phones(
    cells: pd.Series, regions: list[str | None] | str | None, policy: Policy
) -> list[PhoneReading]:
    """The number in each cell, and whether the policy takes it, asked once for each distinct cell.

    Plain cells: see `phone_cells`; of a plain valid number only its line type is left to ask
    (`line_types.fit`).
    """
    if isinstance(regions, str | None):
        return by_distinct(cells, lambda cell: fit(read_phone(cell, regions), policy))
    known: dict[tuple[str, str | None], PhoneReading] = {}
    readings = []
    for key in zip(cells.tolist(), regions, strict=True):
        if key not in known:
            known[key] = fit(read_phone(*key), policy)
        readings.append(known[key])
    return readings


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


def _phones(
    assessed: Assessed,
    regions: list[str | None] | str | None,
    policy: Policy,
    blocked: frozenset[str],
) -> None:
    """The first column of the preference that has a number, or the first reason why none has."""
    frame, columns = assessed.file.frame, assessed.columns
    phones = phone_columns(frame, columns.phone, columns.joined)
    cells = {name: text.tolist() for name, text in phones.items()}
    cells |= {name: frame[name].tolist() for name in columns.fax}
    tried = [read_phones(text, regions, policy) for text in phones.values()]
    for at, name in enumerate(columns.phone):
        kind = type_column(name, columns.phone, columns.leftovers)
        if kind is not None:
            faxes = by_distinct(frame[kind], is_fax)
            tried[at] = [
                PhoneReading(reason="fax_only", remark=one.remark) if fax and one.e164 else one
                for one, fax in zip(tried[at], faxes, strict=True)
            ]
    chosen: list[PhoneReading] = []
    for row, readings in enumerate(zip(*tried, strict=True)):
        for name, reading in zip(columns.phone, readings, strict=True):
            if reading.remark is not None:
                assessed.find(row, reading.remark, name, cells[name][row])
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
        known = read_phones(frame[columns.phone_other], regions, policy)
        others = [one or other.e164 for one, other in zip(others, known, strict=True)]
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


def _remarks(assessed: Assessed, policy: Policy) -> None:
    """Prohibitions in columns that are not for them: notes, tags, dispositions, names, faxes.

    A plain cell is one in which `remarks.SUSPECT` finds nothing; nothing is to be done for it.
    """
    for column in remark_columns(assessed.columns):
        cells = assessed.file.frame[column]
        rows = suspects_of(cells)
        suspects = cells.iloc[rows]
        said = by_distinct(
            suspects, partial(read_remark, scope=remark_scope(assessed.columns, column))
        )
        for row, cell, remark in zip(rows, suspects, said, strict=True):
            if remark is None:
                continue
            if getattr(policy, _REMARK_POLICY.get(remark, "remark")) == "warn":
                assessed.warn(row, ["remark"])
            else:
                assessed.find(row, remark, column, cell)


def name_columns(columns: ColumnMap) -> list[str]:
    """Columns of names, in which only a prohibition in so many words is one."""
    return [name for name in (columns.first_name, columns.last_name, columns.full_name) if name]


def remark_scope(columns: ColumnMap, column: str) -> Scope:
    """What of a remark counts in one of `remark_columns`."""
    if column in columns.fax:
        return "any"
    return "names" if column in name_columns(columns) else scope_of(column)


def remark_columns(columns: ColumnMap) -> list[str]:
    """Columns in which a remark can forbid the call; opt-outs and phones are read by themselves."""
    own = (columns.source, columns.extension)
    return [
        *(name for name in columns.leftovers if name != columns.country),
        *columns.fax,
        *name_columns(columns),
        *(name for name in own if name),
    ]


def _damaged(assessed: Assessed) -> None:
    """A record that could not be read whole may say anywhere that it must not be called."""
    frame, columns = assessed.file.frame, assessed.columns
    names = [str(name) for name in frame.columns]
    first = min((names.index(column) for column in columns.opt_out), default=len(names))
    for row, fault in assessed.file.faults.items():
        raw = assessed.file.raws.get(row, "")
        pieces = [piece.strip() for piece in _PIECES.split(raw)]
        shifted = {answers.plain_yes(piece) for piece in pieces[first:]}
        remark = next((said for piece in pieces if (said := read_remark(piece))), None)
        if columns.opt_out and True in shifted:
            assessed.find(row, "opt_out", columns.opt_out[0], fault)
        elif remark is not None and BY_CODE[remark].outcome == "do_not_call":
            assessed.find(row, remark, "", fault)


def _reach(assessed: Assessed, regions: list[str | None] | str | None) -> None:
    """Every number of the records that must not be called, in whatever phone column it stands."""
    frame, columns = assessed.file.frame, assessed.columns
    names = [
        *columns.phone_parts,
        *columns.fax,
        *([columns.phone_other] if columns.phone_other else []),
    ]
    joined = phone_columns(frame, columns.phone, columns.joined)
    for row, found in assessed.findings.items():
        if not any(BY_CODE[finding.code].outcome == "do_not_call" for finding in found):
            continue
        region = regions if isinstance(regions, str | None) else regions[row]
        cells = [text.iloc[row] for text in joined.values()]
        cells += [str(frame[name].iloc[row]) for name in names]
        cells += (
            _PIECES.split(assessed.file.raws.get(row, "")) if row in assessed.file.faults else []
        )
        numbers = (number for cell in cells for number in every_number(cell, region))
        assessed.numbers[row] = tuple(dict.fromkeys(numbers))


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


def _put(assessed: Assessed, name: str, values: Sequence[str]) -> None:
    assessed.fields[name] = pd.array(list(values), dtype="str")


def _where(mask: pd.Series) -> list[int]:
    return [int(row) for row in mask.to_numpy().nonzero()[0]]
