"""The phone of each record out of all its phone columns, whole columns at a time."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dialframe.leads import texts
from dialframe.leads.cells import is_nothing, read_name, tidy
from dialframe.leads.columns.column_map import ColumnMap
from dialframe.leads.columns.country_names import Regions, read_region
from dialframe.leads.columns.phone_parts import join_columns
from dialframe.leads.judging.issues import Notes
from dialframe.leads.judging.line_types import RESERVED
from dialframe.leads.judging.phone_cells import read_extension
from dialframe.leads.judging.phone_columns import FOUND, NOTHING_SAID, TYPES, Phones, read_phones
from dialframe.leads.judging.phone_remarks import is_fax, type_column
from dialframe.leads.judging.rules import Policy
from dialframe.leads.reasons import RANK

Columns = Mapping[str, pa.Array]


def row_regions(cells: Columns, columns: ColumnMap, region: str | None) -> Regions:
    """The region of national numbers: one for all rows, or one each where a column names it.

    A blank country is the region given. A country that nobody knows is None, so that a national
    number of it is refused rather than read as one of another country.
    """
    if columns.country is None:
        return region
    which, found = texts.by_distinct(
        cells[columns.country],
        lambda cell: region if is_nothing(tidy(cell)) else read_region(cell),
    )
    return [found[at] for at in which.tolist()]


def phone_cells(cells: Columns, columns: ColumnMap) -> dict[str, pa.Array]:
    """The text of each phone column, in order; joined ones are put together."""
    found = {}
    for name in columns.phone:
        if name in columns.joined:
            parts = columns.joined[name]
            frame = pd.DataFrame({part: pd.array(cells[part], dtype="str") for part in parts})
            found[name] = texts.of_series(join_columns(frame, parts))
        else:
            found[name] = cells[name]
    return found


def choose_phones(
    cells: Columns,
    columns: ColumnMap,
    regions: Regions,
    policy: Policy,
    blocked: Collection[str],
    notes: Notes,
) -> tuple[dict[str, pa.Array], dict[str, Phones]]:
    """The first column of the preference that has a number, or the first reason why none has.

    Returns:
        `phone`, `phone_extension` and `phone_other` of each record, and what each phone column says.
    """
    own = phone_cells(cells, columns)
    read = {name: read_phones(text, regions) for name, text in own.items()}
    tried = [_taken(cells, columns, name, one, policy) for name, one in read.items()]
    good = [one.reason == FOUND for one in tried]
    none = ~np.logical_or.reduce(good)
    best = np.where(none, -1, np.argmax(np.stack(good), axis=0))
    for name, one in zip(own, tried, strict=True):
        for rank in np.unique(one.remark[one.remark != NOTHING_SAID]).tolist():
            rows = np.flatnonzero(one.remark == rank)
            notes.find(rows, np.full(len(rows), rank), name, texts.take(own[name], rows))
    for place, one in enumerate(tried):
        _chosen(tried, place, one, best, policy, blocked, notes)
    _no_number(cells, own, columns, tried, np.flatnonzero(none), notes)
    fields = {
        field: _of_best([getattr(one, name) for one in tried], best)
        for field, name in (
            ("phone", "e164"),
            ("phone_extension", "extension"),
            ("phone_other", "other"),
        )
    }
    if columns.extension is not None:
        which, values = texts.by_distinct(cells[columns.extension], read_extension)
        told = texts.column(values).take(pa.array(which))
        fields["phone_extension"] = _or_other(fields["phone_extension"], told)
    if columns.phone_other is not None:
        known = _fit(read_phones(cells[columns.phone_other], regions), policy).e164
        fields["phone_other"] = _or_other(fields["phone_other"], known)
    return fields, read


def _taken(
    cells: Columns, columns: ColumnMap, name: str, phones: Phones, policy: Policy
) -> Phones:
    """What a phone column says as the policy takes it, without what `Phone Type` says are faxes."""
    fitted = _fit(phones, policy)
    kind = type_column(name, columns.phone, columns.leftovers)
    if kind is None:
        return fitted
    which, faxes = texts.by_distinct(cells[kind], is_fax)
    rows = np.flatnonzero(texts.picked(faxes, which, np.bool_) & (fitted.reason == FOUND))
    return _refused(fitted, rows, "fax_only")


def _fit(phones: Phones, policy: Policy) -> Phones:
    """`line_types.fit` of each reading."""
    refused = [at for at, name in enumerate(TYPES) if name in policy.refused_types]
    rows = np.flatnonzero(np.isin(phones.kind, refused) & (phones.reason == FOUND))
    fitted = _refused(phones, rows, "phone_line_type")
    if policy.reserved_number != "reject":
        return fitted
    return _refused(fitted, np.flatnonzero(_is_reserved(fitted)), "phone_reserved")


def _is_reserved(phones: Phones) -> np.ndarray:
    found = pc.match_substring_regex(phones.e164, f"^(?:{RESERVED.pattern})$")
    return np.asarray(found.to_numpy(zero_copy_only=False))


def _refused(phones: Phones, rows: np.ndarray, code: str) -> Phones:
    if not len(rows):
        return phones
    blank = texts.constant("", len(rows))
    reason, warned, kind = phones.reason.copy(), phones.warned.copy(), phones.kind.copy()
    reason[rows], warned[rows], kind[rows] = RANK[code], 0, -1
    return Phones(
        e164=texts.put(phones.e164, rows, blank),
        extension=texts.put(phones.extension, rows, blank),
        other=texts.put(phones.other, rows, blank),
        region=phones.region,
        reason=reason,
        warned=warned,
        kind=kind,
        remark=phones.remark,
        plain=phones.plain,
        regions=phones.regions,
        warnings=phones.warnings,
    )


def _chosen(
    tried: Sequence[Phones],
    place: int,
    one: Phones,
    best: np.ndarray,
    policy: Policy,
    blocked: Collection[str],
    notes: Notes,
) -> None:
    """What is to be said of the records that use one phone column."""
    used = best == place
    warned = np.where(used, one.warned, 0)
    for at, codes in enumerate(one.warnings):
        for code in codes:
            notes.warn(np.flatnonzero(warned == at), code)
    named = [at for at, name in enumerate(TYPES) if name in policy.warned_types]
    notes.warn(np.flatnonzero(used & np.isin(one.kind, named)), "phone_line_type")
    if policy.reserved_number == "warn":
        notes.warn(np.flatnonzero(used & _is_reserved(one)), "phone_reserved")
    if place:
        filled = [other.reason != RANK["missing_phone"] for other in tried[:place]]
        notes.warn(np.flatnonzero(used & np.logical_or.reduce(filled)), "phone_fallback")
    barred = [at for at, region in enumerate(one.regions) if region in blocked]
    if barred:
        found = np.flatnonzero(used & np.isin(one.region, barred))
        notes.find(found, "blocked_country", "phone", texts.take(one.e164, found))


def _no_number(
    cells: Columns,
    own: Columns,
    columns: ColumnMap,
    tried: Sequence[Phones],
    none: np.ndarray,
    notes: Notes,
) -> None:
    missing = RANK["missing_phone"]
    filled = np.zeros(len(none), np.bool_)
    for text, one in zip(own.values(), tried, strict=True):
        rows = none[one.reason[none] != missing]
        filled |= one.reason[none] != missing
        notes.find(rows, one.reason[rows], "phone", texts.take(text, rows))
    empty = none[~filled]
    faxes = [""] * len(empty)
    for name in reversed(columns.fax):
        told = texts.take(cells[name], empty).to_pylist()
        faxes = [cell if read_name(cell) else fax for cell, fax in zip(told, faxes, strict=True)]
    is_filled = np.array([bool(fax) for fax in faxes], np.bool_)
    notes.find(empty[is_filled], "fax_only", "phone", texts.column([fax for fax in faxes if fax]))
    notes.find(empty[~is_filled], "missing_phone", "phone")


def _of_best(columns: Sequence[pa.Array], best: np.ndarray) -> pa.Array:
    """Each row's text from the column that was chosen for it, empty where none was."""
    if len(columns) == 1:
        return columns[0]
    found = texts.constant("", len(best))
    for place, column in enumerate(columns):
        rows = np.flatnonzero(best == place)
        found = texts.put(found, rows, texts.take(column, rows))
    return found


def _or_other(own: pa.Array, other: pa.Array) -> pa.Array:
    rows = np.flatnonzero(texts.sizes(own) == 0)
    return texts.put(own, rows, texts.take(other, rows))
