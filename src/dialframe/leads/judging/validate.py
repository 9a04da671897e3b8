"""Records of one file judged one by one, whole columns at a time: mapped fields, findings, warnings.

What a cell means is told by the functions of `cells`, `phone_cells` and `answers`. They are asked
once for each distinct text, and not at all for texts of which `shapes` knows that they stay as they
are.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dialframe.contract import limits
from dialframe.leads import texts
from dialframe.leads.cells import read_email, read_name, turn_name
from dialframe.leads.columns.column_map import ColumnMap
from dialframe.leads.columns.region import ColumnDoubt
from dialframe.leads.judging import cell_kernel, do_not_call
from dialframe.leads.judging.issues import Notes
from dialframe.leads.judging.phone_columns import choose_phones, each_number, row_regions
from dialframe.leads.judging.rules import FieldRule, Policy
from dialframe.leads.lead_file import LEAD_COLUMNS, META, Rows

#: Most bytes of one record: what a request holds, less room for its frame.
MAX_RECORD_BYTES: Final = limits.BODY_BYTES - 4096

_NAME_CHARS: Final = {
    "first_name": limits.FIRST_NAME_CHARS,
    "last_name": limits.LAST_NAME_CHARS,
    "full_name": limits.FULL_NAME_CHARS,
}


@dataclass(frozen=True, slots=True, eq=False)
class Judging:
    """By what records are judged.

    Attributes:
        columns: Columns by field.
        region: Known region of national numbers, or None.
        policy: Decisions that are not the contract's.
        blocked: Regions whose numbers are rejected.
        rules: Further rules of the account.
        turned: Whether the file's whole names are written `Last, First`.
        doubts: What speaks against the region in some phone columns.
    """

    columns: ColumnMap
    region: str | None
    policy: Policy = field(default_factory=Policy)
    blocked: Collection[str] = ()
    rules: Sequence[FieldRule] = ()
    turned: bool = False
    doubts: Mapping[str, ColumnDoubt] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Assessed:
    """Records, judged one by one.

    Attributes:
        fields: Texts of `LEAD_COLUMNS`.
        notes: What stands against them, and what was done to them.
        reach: Records that must not be called, and a number of each: none of them is called under
            any record.
    """

    fields: dict[str, pa.Array]
    notes: Notes
    reach: tuple[np.ndarray, np.ndarray]


def leads_of(rows: Rows, judging: Judging) -> tuple[np.ndarray, Mapping[str, pa.Array]]:
    """The record of each lead, and the phone columns of each; see `each_number`.

    A record that could not be read whole is one.
    """
    regions = row_regions(rows.columns, judging.columns, judging.region)
    policy, doubts = judging.policy, judging.doubts
    return each_number(rows.columns, judging.columns, regions, policy, doubts, rows.faults)


def assess(rows: Rows, judging: Judging, single: Mapping[str, pa.Array] | None = None) -> Assessed:
    """Map and judge records; the same whether all of a file come at once or in parts.

    Args:
        rows: The records.
        judging: By what they are judged.
        single: Phone columns with the one number of each, as `leads_of` gives them.
    """
    notes, count = Notes(), len(rows)
    empty = texts.constant("", count)
    fields = dict.fromkeys(LEAD_COLUMNS, empty)
    for code in dict.fromkeys(rows.faults.values()):
        found = [row for row, fault in rows.faults.items() if fault == code]
        notes.find(np.array(sorted(found), np.int64), code)
    _file_warnings(rows, notes)
    columns, cells, policy = judging.columns, rows.columns, judging.policy
    regions = row_regions(cells, columns, judging.region)
    chosen, read = choose_phones(
        cells, columns, regions, policy, judging.blocked, notes, judging.doubts, single
    )
    fields |= chosen
    _names(rows, judging, fields, notes)
    _emails(rows, judging, fields, notes)
    do_not_call.permissions(cells, columns, policy, notes)
    do_not_call.remarks(cells, columns, policy, notes)
    do_not_call.damaged(list(cells), columns, rows.faults, rows.raws, notes)
    if isinstance(regions, list):  # an opt-out of an unknown country holds the given one's number
        regions = [region or judging.region for region in regions]
    reach = do_not_call.reach(cells, columns, regions, read, rows.raws, notes, judging.doubts)
    _sizes(rows, columns, fields, notes)
    for rule in judging.rules:
        _rule(rows, columns, rule, fields, notes)
    return Assessed(fields, notes, reach)


def kept_columns(columns: ColumnMap, per: str = "record") -> list[str]:
    """Columns of the file that stay under their own name beside the mapped fields.

    Args:
        columns: The columns by field.
        per: What a lead is made of; beside the one number of a lead the others of its record, of
            which some may be held, do not stay.
    """
    parts = columns.phone_parts
    phones = parts if len(parts) > 1 and per == "record" else ()
    return [*columns.leftovers, *phones, *columns.fax, *columns.opt_out, *columns.consent]


def kept_names(names: Sequence[str], columns: ColumnMap, per: str = "record") -> dict[str, str]:
    """Columns of the file that stay, in its order, with their names beside the fields."""
    kept = set(kept_columns(columns, per))
    found: dict[str, str] = {}
    taken = {*LEAD_COLUMNS, *META}
    for column in names:
        if column in kept:
            name, copy = column, 2
            while name in taken:
                name, copy = f"{column} ({copy})", copy + 1
            found[column] = name
            taken.add(name)
    return found


def _file_warnings(rows: Rows, notes: Notes) -> None:
    """What was noted while reading, in the order in which it was noted."""
    by_code: dict[str, list[int]] = {}
    places: dict[str, int] = {}
    for row, codes in rows.warnings.items():
        for place, code in enumerate(codes):
            by_code.setdefault(code, []).append(row)
            places[code] = max(place, places.get(code, 0))
    for code in sorted(by_code, key=lambda one: places[one]):
        notes.warn(np.array(sorted(by_code[code]), np.int64), code)


def _names(rows: Rows, judging: Judging, fields: dict[str, pa.Array], notes: Notes) -> None:
    for name in (*_NAME_CHARS, "external_id", "source"):
        column = getattr(judging.columns, name)
        if column is None:
            continue
        cells = rows.columns[column]
        values = tidied(cells)
        if name == "full_name" and judging.turned:
            which, turned = texts.by_distinct(values, turn_name)
            values = texts.column(turned).take(pa.array(which))
        fields[name] = values
        if name == "source":
            continue
        most = _NAME_CHARS.get(name, limits.EXTERNAL_ID_CHARS[1])
        if len(values) and int(texts.sizes(values).max()) > most:
            long = pc.greater(pc.utf8_length(values), most).to_numpy(zero_copy_only=False)
            found = np.flatnonzero(long)
            code = "name_length" if name in _NAME_CHARS else f"{name}_length"
            notes.find(found, code, name, texts.take(cells, found))


def tidied(cells: pa.Array) -> pa.Array:
    """`read_name` of each cell."""
    shape = np.empty(len(cells), np.uint8)
    cell_kernel.tidy(*texts.raw(cells), shape)
    rows = np.flatnonzero(shape == cell_kernel.UNKNOWN)
    if not len(rows):
        return cells
    which, values = texts.by_distinct(texts.take(cells, rows), read_name)
    return texts.put(cells, rows, texts.column(values).take(pa.array(which)))


def _emails(rows: Rows, judging: Judging, fields: dict[str, pa.Array], notes: Notes) -> None:
    column = judging.columns.email
    if column is None:
        return
    cells = rows.columns[column]
    shape = np.empty(len(cells), np.uint8)
    cell_kernel.emails(*texts.raw(cells), shape)
    odd = np.flatnonzero(shape == cell_kernel.UNKNOWN)
    if not len(odd):
        fields["email"] = cells
        return
    which, readings = texts.by_distinct(texts.take(cells, odd), read_email)
    values = texts.column([one.email for one in readings]).take(pa.array(which))
    fields["email"] = texts.put(cells, odd, values)
    said = [(code, at) for at, one in enumerate(readings) for code in one.warnings]
    reject = judging.policy.bad_email == "reject"
    if not reject:
        said += [(one.reason, at) for at, one in enumerate(readings) if one.reason]
    for code in dict.fromkeys(code for code, _ in said):
        own = np.array([at for each, at in said if each == code])
        notes.warn(odd[np.isin(which, own)], code)
    for code in dict.fromkeys(one.reason for one in readings if one.reason and reject):
        own = np.array([at for at, one in enumerate(readings) if one.reason == code])
        found = odd[np.isin(which, own)]
        notes.find(found, str(code), "email", texts.take(cells, found))


def _sizes(rows: Rows, columns: ColumnMap, fields: dict[str, pa.Array], notes: Notes) -> None:
    kept = [rows.columns[name] for name in kept_names(list(rows.columns), columns)]
    total = sum((texts.sizes(cells) for cells in (*fields.values(), *kept)), np.zeros(len(rows)))
    notes.find(np.flatnonzero(total > MAX_RECORD_BYTES), "row_too_large")


def _rule(
    rows: Rows, columns: ColumnMap, rule: FieldRule, fields: Mapping[str, pa.Array], notes: Notes
) -> None:
    own = {name: column for column, name in kept_names(list(rows.columns), columns).items()}
    if rule.column in fields:
        cells = fields[rule.column]
    elif rule.column in own:
        cells = rows.columns[own[rule.column]]
    else:
        cells = texts.constant("", len(rows))
    which, broken = texts.by_distinct(cells, rule.is_broken_by)
    found = np.flatnonzero(texts.picked(broken, which, np.bool_))
    if rule.severity == "warn":
        notes.warn(found, "field_rule")
    else:
        notes.find(found, "field_rule", rule.field, texts.take(cells, found))
