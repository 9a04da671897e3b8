"""Whole columns of phone cells, plain ones by their bytes, and which number of a record counts.

A column is read in three steps, each for what the one before it left open: by tables over the bytes
(`phones.column_reader`), with the zero that a spreadsheet takes from a number, and cell by cell
(`phone_cells.read_phone`), each distinct text once. What is certain of a plain cell is what the reader
would say of it; a test holds the two together.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from phonenumbers import country_code_for_region

from dialframe import arrow_text
from dialframe.leads import plain_cells
from dialframe.leads.cells import read_name
from dialframe.leads.columns.column_map import ColumnMap
from dialframe.leads.columns.country_names import ColumnDoubt, Regions, regions_of
from dialframe.leads.columns.split_phones import join_columns
from dialframe.leads.phones_in_cells import (
    RESERVED,
    TWO_NUMBERS_DIGITS,
    PhoneReading,
    is_fax,
    may_lack_area,
    read_extension,
    read_phone,
    type_column,
    zeroed_digits,
)
from dialframe.leads.plain_cells import numbers
from dialframe.leads.reasons import RANK
from dialframe.leads.record_notes import Notes
from dialframe.leads.rules import Policy
from dialframe.phones import TYPES as TYPES_BY_NUMBER
from dialframe.phones import number_outcomes as outcomes
from dialframe.phones.column_reader import REGIONS, read_column
from dialframe.phones.legacy_prefixes import rewritten
from dialframe.phones.number_outcomes import REASONS
from dialframe.phones.vectorized import are_valid

Columns = Mapping[str, pa.Array]
#: Phone columns whose numbers may be others than they read.
Doubts = Mapping[str, ColumnDoubt]


def phone_cells(cells: Columns, columns: ColumnMap) -> dict[str, pa.Array]:
    """The text of each phone column, in order; joined ones are put together."""
    return {
        name: _join_parts([cells[part] for part in columns.joined[name]])
        if name in columns.joined
        else cells[name]
        for name in columns.phone
    }


def _join_parts(parts: Sequence[pa.Array]) -> pa.Array:
    """A number that is split over columns, put together row by row; areas and exchanges repeat."""
    return arrow_text.column(join_columns([part.to_pylist() for part in parts]))


def choose_phones(
    cells: Columns,
    columns: ColumnMap,
    regions: Regions,
    policy: Policy,
    blocked: Collection[str],
    notes: Notes,
    doubts: Doubts,
    single: Columns | None = None,
) -> tuple[dict[str, pa.Array], np.ndarray, dict[str, Phones]]:
    """The first column of the preference that has a number, or the first reason why none has.

    Args:
        cells: All columns.
        columns: The columns by field.
        regions: As `assess.row_regions` gives them.
        policy: Decisions that are not the contract's.
        blocked: Regions whose numbers are rejected.
        notes: Takes what stands against the records.
        doubts: What speaks against the region in some phone columns.
        single: The phone columns with the one number that each record is about, as `each_number`
            gives them; without it all that stands in them.

    Returns:
        `phone`, `phone_extension` and `phone_other` of each record, its number's `whereabouts`, and
        what each phone column says.
    """
    texts = phone_cells(cells, columns)
    read = {name: _read_certain(text, regions, doubts.get(name)) for name, text in texts.items()}
    tried = []
    for name, phones in read.items():
        taken = _read_certain(single[name], regions, doubts.get(name)) if single else phones
        tried.append(_apply_policy(cells, columns, name, taken, policy))
    good = [phones.reason == FOUND for phones in tried]
    # `argmax` is the first that is good, so the order of the columns is the preference.
    none = ~np.logical_or.reduce(good)
    best = np.where(none, -1, np.argmax(np.stack(good), axis=0))
    for name, phones in read.items():
        for rank in np.unique(phones.remark[phones.remark != NOTHING_SAID]).tolist():
            rows = np.flatnonzero(phones.remark == rank)
            notes.find(rows, np.full(len(rows), rank), name, arrow_text.take(texts[name], rows))
    for index in range(len(tried)):
        _note_choice(tried, index, best, policy, blocked, notes)
    _no_number(cells, texts, columns, tried, np.flatnonzero(none), notes)
    fields = {
        field: _of_best([getattr(phones, name) for phones in tried], best)
        for field, name in (
            ("phone", "e164"),
            ("phone_extension", "extension"),
            ("phone_other", "other"),
        )
    }
    if columns.extension is not None:
        extensions = arrow_text.mapped(cells[columns.extension], read_extension)
        fields["phone_extension"] = _or_other(fields["phone_extension"], extensions)
    if columns.phone_other is not None:
        name = columns.phone_other
        known = _fit(_read_certain(cells[name], regions, doubts.get(name)), policy).e164
        fields["phone_other"] = _or_other(fields["phone_other"], known)
    chosen = [best == index for index in range(len(tried))]
    whereabouts = np.select(chosen, [phones.whereabouts for phones in tried]).astype(np.int16)
    return fields, whereabouts, read


def each_number(
    cells: Columns,
    columns: ColumnMap,
    regions: Regions,
    policy: Policy,
    doubts: Doubts,
    damaged: Collection[int] = (),
) -> tuple[np.ndarray, dict[str, pa.Array]]:
    """Records with several numbers once for each, in the order of the columns and of their cells.

    Args:
        cells: All columns.
        columns: The columns by field.
        regions: As `assess.row_regions` gives them.
        policy: Decisions that are not the contract's.
        doubts: What speaks against the region in some phone columns.
        damaged: Records that stay one lead.

    Returns:
        The record of each lead, and the phone columns of each: its number alone where the record
        has several, else the cells as they are.
    """
    texts = phone_cells(cells, columns)
    parts = [
        (place, *part)
        for place, (name, text) in enumerate(texts.items())
        for part in _usable(cells, columns, name, text, regions, policy, doubts.get(name))
    ]
    rows, number = (np.concatenate([part[at] for part in parts]) for at in (1, 2))
    columns_of = np.concatenate([np.full(len(part[1]), part[0]) for part in parts])
    spoken = pa.concat_arrays([part[3] for part in parts])
    order = np.argsort(rows, kind="stable")
    # A number that stands in two columns of a record is one lead.
    pairs = np.stack([rows[order], number[order]])
    once = np.zeros(len(order), np.bool_)
    once[np.unique(pairs, axis=1, return_index=True)[1]] = True
    order = order[once & ~np.isin(rows[order], list(damaged))]
    count = len(next(iter(texts.values())))
    counts = np.bincount(rows[order], minlength=count)
    several = order[counts[rows[order]] > 1]
    source = np.repeat(np.arange(count), np.maximum(counts, 1))
    places = np.flatnonzero(counts[source] > 1)
    single = {}
    for place, (name, text) in enumerate(texts.items()):
        alone = arrow_text.put(text.take(arrow_text.numbers(source)), places, [""] * len(places))
        ours = columns_of[several] == place
        single[name] = arrow_text.put(
            alone, places[ours], spoken.take(arrow_text.numbers(several[ours]))
        )
    return source, single


def _usable(
    cells: Columns,
    columns: ColumnMap,
    name: str,
    text: pa.Array,
    regions: Regions,
    policy: Policy,
    doubt: ColumnDoubt | None,
) -> Iterator[tuple[np.ndarray, np.ndarray, pa.Array]]:
    """Records, numbers and texts: the first number of each cell of a phone column, then the others."""
    phones = _apply_policy(cells, columns, name, _read_certain(text, regions, doubt), policy)
    rows = np.flatnonzero(phones.reason == FOUND)
    e164, extension = (arrow_text.take(array, rows) for array in (phones.e164, phones.extension))
    dialed = pc.binary_join_element_wise(e164, extension, arrow_text.text(" x"))
    with_extension = np.flatnonzero(arrow_text.sizes(extension) > 0)
    yield (
        rows,
        numbers(e164),
        arrow_text.put(e164, with_extension, arrow_text.take(dialed, with_extension)),
    )
    beside = np.flatnonzero((phones.reason == FOUND) & (arrow_text.sizes(phones.other) > 0))
    if not len(beside):
        return
    which, readings = _read(arrow_text.take(text, beside), regions_of(regions, beside))
    pairs = [
        (row, number)
        for row, at in zip(beside.tolist(), which.tolist(), strict=True)
        for number in (readings[at].other, *readings[at].more)
    ]
    others = _fit(read_phones(arrow_text.column([number for _, number in pairs]), None), policy)
    good = np.flatnonzero(others.reason == FOUND)
    rows = np.array([row for row, _ in pairs], np.int64)[good]
    yield rows, others.numbers[good], arrow_text.take(others.e164, good)


def _apply_policy(
    cells: Columns, columns: ColumnMap, name: str, phones: Phones, policy: Policy
) -> Phones:
    """What a phone column says as the policy takes it, without what `Phone Type` says are faxes."""
    fitted = _fit(phones, policy)
    kind = columns.labels.get(name) or type_column(name, columns.phone, columns.leftovers)
    if kind is None:
        return fitted
    which, faxes = arrow_text.by_distinct(cells[kind], is_fax)
    rows = np.flatnonzero(arrow_text.picked(faxes, which, np.bool_) & (fitted.reason == FOUND))
    return _refuse_rows(fitted, rows, "fax_only")


def _fit(phones: Phones, policy: Policy) -> Phones:
    """The numbers as the policy takes them: without those of refused types, and reserved ones on demand."""
    refused = [at for at, name in enumerate(TYPES) if name in policy.refused_types]
    rows = np.flatnonzero(np.isin(phones.kind, refused) & (phones.reason == FOUND))
    fitted = _refuse_rows(phones, rows, "phone_line_type")
    if policy.reserved_number != "reject":
        return fitted
    return _refuse_rows(fitted, np.flatnonzero(_is_reserved(fitted)), "phone_reserved")


def _is_reserved(phones: Phones) -> np.ndarray:
    return arrow_text.matches(phones.e164, f"^(?:{RESERVED.pattern})$")


def _refuse_rows(phones: Phones, rows: np.ndarray, code: str) -> Phones:
    if not len(rows):
        return phones
    blank = arrow_text.constant("", len(rows))
    reason, warned, kind = phones.reason.copy(), phones.warned.copy(), phones.kind.copy()
    reason[rows], warned[rows], kind[rows] = RANK[code], 0, -1
    plain = phones.plain.copy()
    plain[rows] &= code != "phone_ambiguous_region"  # its other numbers are to be found too
    return replace(
        phones,
        e164=arrow_text.put(phones.e164, rows, blank),
        extension=arrow_text.put(phones.extension, rows, blank),
        other=arrow_text.put(phones.other, rows, blank),
        reason=reason,
        warned=warned,
        kind=kind,
        plain=plain,
    )


def _note_choice(
    tried: Sequence[Phones],
    place: int,
    best: np.ndarray,
    policy: Policy,
    blocked: Collection[str],
    notes: Notes,
) -> None:
    """What is to be said of the records that use one phone column."""
    phones, used = tried[place], best == place
    warned = np.where(used, phones.warned, 0)
    for at, codes in enumerate(phones.warnings):
        for code in codes:
            notes.warn(np.flatnonzero(warned == at), code)
    named = [at for at, name in enumerate(TYPES) if name in policy.warned_types]
    notes.warn(np.flatnonzero(used & np.isin(phones.kind, named)), "phone_line_type")
    if policy.reserved_number == "warn":
        notes.warn(np.flatnonzero(used & _is_reserved(phones)), "phone_reserved")
    if place:
        filled = [other.reason != RANK["missing_phone"] for other in tried[:place]]
        notes.warn(np.flatnonzero(used & np.logical_or.reduce(filled)), "phone_fallback")
    # By the number's own country, which need not be that of the record.
    barred = [at for at, region in enumerate(phones.regions) if region in blocked]
    if barred:
        rows = np.flatnonzero(used & np.isin(phones.region, barred))
        notes.find(rows, "blocked_country", "phone", arrow_text.take(phones.e164, rows))


def _no_number(
    cells: Columns,
    texts: Columns,
    columns: ColumnMap,
    tried: Sequence[Phones],
    none: np.ndarray,
    notes: Notes,
) -> None:
    missing = RANK["missing_phone"]
    filled = np.zeros(len(none), np.bool_)
    for text, phones in zip(texts.values(), tried, strict=True):
        has_text = phones.reason[none] != missing
        rows = none[has_text]
        filled |= has_text
        notes.find(rows, phones.reason[rows], "phone", arrow_text.take(text, rows))
    # A record whose only number stands in a column of faxes is told apart from one without any.
    empty = none[~filled]
    faxes = [""] * len(empty)
    for name in reversed(columns.fax):
        column = arrow_text.take(cells[name], empty).to_pylist()
        faxes = [cell if read_name(cell) else fax for cell, fax in zip(column, faxes, strict=True)]
    is_filled = np.array([bool(fax) for fax in faxes], np.bool_)
    notes.find(
        empty[is_filled], "fax_only", "phone", arrow_text.column([fax for fax in faxes if fax])
    )
    notes.find(empty[~is_filled], "missing_phone", "phone")


def _of_best(columns: Sequence[pa.Array], best: np.ndarray) -> pa.Array:
    """Each row's text from the column that was chosen for it, empty where none was."""
    if len(columns) == 1:
        return columns[0]
    chosen = arrow_text.constant("", len(best))
    for index, column in enumerate(columns):
        rows = np.flatnonzero(best == index)
        chosen = arrow_text.put(chosen, rows, arrow_text.take(column, rows))
    return chosen


def _or_other(first: pa.Array, other: pa.Array) -> pa.Array:
    rows = np.flatnonzero(arrow_text.sizes(first) == 0)
    return arrow_text.put(first, rows, arrow_text.take(other, rows))


#: Cells that begin with 00, which read again as a number abroad may be one, or that have digits for two numbers.
_OF_MORE: Final = rf"^\(?00|^(?:\D*\d){{{TWO_NUMBERS_DIGITS}}}"
#: No reason: there is a number.
FOUND: Final = -1
#: No remark.
NOTHING_SAID: Final = -1
#: Line types by place.
TYPES: Final = tuple(TYPES_BY_NUMBER.values())

_REPAIRED: Final = ("phone_repaired",)
_PLACE_OF_TYPE: Final = {name: at for at, name in enumerate(TYPES)}
_KINDS: Final = np.full(256, -1, np.int16)
_KINDS[list(TYPES_BY_NUMBER)] = range(len(TYPES_BY_NUMBER))
_RANKS: Final = np.array([RANK.get(REASONS.get(at) or "", FOUND) for at in range(256)], np.int16)


@dataclass(slots=True, eq=False)
class Phones:
    """What a column of phone cells says, one entry a cell.

    Attributes:
        e164: The numbers, empty where there is none.
        extension: Their extensions, or empty.
        other: Second numbers of the cells, or empty.
        region: Place of the number's region in `regions`, negative for none.
        reason: Rank of the reason why there is no number, or `FOUND`.
        warned: Which of `warnings` each cell has.
        kind: Place of the number's line type in `TYPES`, negative for none.
        remark: Rank of what the cell says about calling the person, or `NOTHING_SAID`.
        plain: Cells that are a number and nothing else.
        regions: Codes of the regions.
        warnings: Warning codes.
    """

    e164: pa.Array
    extension: pa.Array
    other: pa.Array
    region: np.ndarray
    reason: np.ndarray
    warned: np.ndarray
    kind: np.ndarray
    remark: np.ndarray
    plain: np.ndarray
    regions: tuple[str, ...]
    warnings: list[tuple[str, ...]]

    @property
    def numbers(self) -> np.ndarray:
        """The numbers as integers, 0 for none."""
        return numbers(self.e164)

    @property
    def whereabouts(self) -> np.ndarray:
        """Country and line type of each number as one small integer, for `counted_whereabouts`."""
        whereabouts: np.ndarray = (self.region + 1) * (len(TYPES) + 1) + self.kind + 1
        return whereabouts


def read_phones(cells: pa.Array, regions: Regions) -> Phones:
    """The phone numbers of a column.

    Args:
        cells: Texts without nulls.
        regions: Known region of national numbers or None, one for all cells or one each.
    """
    rows = len(cells)
    shape, readable = plain_cells.phone_shapes(cells)
    read = read_column(readable, regions)
    valid = read.outcome == outcomes.VALID
    extension = read.extension.fill_null(arrow_text.text(""))
    # Cells without a number have no extension either.
    alone = np.flatnonzero(~valid & (arrow_text.sizes(extension) > 0))
    phones = Phones(
        e164=read.e164.fill_null(arrow_text.text("")),
        extension=arrow_text.put(extension, alone, [""] * len(alone)),
        other=arrow_text.constant("", rows),
        region=read.region.astype(np.int16),
        reason=_RANKS[read.outcome],
        warned=np.where((shape == plain_cells.FLOAT) & valid, 1, 0),
        kind=_KINDS[read.kind],
        remark=np.full(rows, NOTHING_SAID, np.int16),
        plain=valid & (shape >= plain_cells.PLAIN) & (shape != plain_cells.LABELED),
        regions=read.regions,
        warnings=[(), _REPAIRED],
    )
    phones.reason[shape == plain_cells.EMPTY] = RANK["missing_phone"]
    # A type says something of a valid number alone.
    invalid = ~valid
    phones.kind[invalid] = -1
    _with_zero(phones, readable, shape, invalid & (read.outcome != outcomes.PLACEHOLDER), regions)
    unknown = (shape == plain_cells.UNKNOWN) | ((shape == plain_cells.LABELED) & invalid)
    wrong = np.flatnonzero(invalid & (shape >= plain_cells.PLAIN))
    unknown[wrong[arrow_text.matches(arrow_text.take(readable, wrong), _OF_MORE)]] = True
    unknown[_of_old_form(readable, wrong, regions)] = True
    _by_reader(phones, cells, np.flatnonzero(unknown), regions)
    # Some plans have longer numbers (Germany: up to 17 digits); the service takes E.164 alone.
    too_long = np.flatnonzero(arrow_text.sizes(phones.e164) > _E164_CHARS)
    phones = _refuse_rows(phones, too_long, "phone_too_long")
    return _refuse_rows(
        phones, _of_two_countries(phones, readable, regions), "phone_ambiguous_region"
    )


def _of_old_form(readable: pa.Array, wrong: np.ndarray, regions: Regions) -> np.ndarray:
    """Which of some rows have a number in a form that its plan has given up: `044 55 1234 5678`."""
    homes = regions_of(regions, wrong)
    by_row = [homes] * len(wrong) if isinstance(homes, str | None) else homes
    texts = arrow_text.take(readable, wrong).to_pylist()
    old = [rewritten(*pair) is not None for pair in zip(texts, by_row, strict=True)]
    return wrong[np.array(old, np.bool_)]


_E164_CHARS: Final = 16  # a plus and at most 15 digits (ITU-T E.164, 6)
_OWN_CODE: Final = r"^[\s'\"=(]*(?:\+|00[1-9])"
_WITHOUT_ZERO: Final = r"^[^\d+]*[1-9]"


def _read_certain(cells: pa.Array, regions: Regions, doubt: ColumnDoubt | None) -> Phones:
    """`read_phones`, without numbers of which the column makes it doubtful that they are of the region."""
    phones = read_phones(cells, regions)
    if doubt is None:
        return phones
    held = np.zeros(len(cells), np.bool_)
    is_read = (phones.reason == FOUND) & (arrow_text.sizes(phones.e164) > 0)
    has_code = arrow_text.matches(cells, _OWN_CODE)
    bare = arrow_text.matches(cells, _WITHOUT_ZERO)
    for region, is_of_region in _by_region(regions, len(cells)):
        if doubt.is_of_another(region):
            held |= is_of_region & is_read & (~has_code | (arrow_text.sizes(phones.other) > 0))
        if not doubt.keeps_zero:
            continue
        rows = np.flatnonzero(is_of_region & is_read & bare)
        texts, e164 = (arrow_text.take(array, rows).to_pylist() for array in (cells, phones.e164))
        kinds = [TYPES[kind] if kind >= 0 else None for kind in phones.kind[rows].tolist()]
        for row, *number in zip(rows.tolist(), texts, e164, kinds, strict=True):
            held[row] |= may_lack_area(number[0], number[1], region, number[2])
    return _refuse_rows(phones, np.flatnonzero(held), "phone_ambiguous_region")


#: French numbers of the overseas departments: the code of France leads nowhere with them, they have codes of
#: their own (+262, +590, +594, +596). ARCEP, decision 2018-0881, national numbering plan.
_OVERSEAS: Final = r"^\+33(26[239]|5(08|90|94|96)|639|69[0-7])"
_LONG_DIGITS: Final = 8


def _of_two_countries(phones: Phones, readable: pa.Array, regions: Regions) -> np.ndarray:
    """Rows whose number has another one beside it, and nobody can know which of the two is meant.

    `4915123456789` in Germany is a number of Ostfriesland without its 0, or a mobile number whose `+` a system
    has dropped. And a number of La Réunion is written like one of France.
    """
    abroad = arrow_text.matches(phones.e164, _OVERSEAS)
    for region, is_of_region in _by_region(regions, len(readable)):
        code = str(country_code_for_region(region))
        # Taken whole, the cell is as long as its number without `+` and calling code.
        whole = arrow_text.sizes(phones.e164) - arrow_text.sizes(readable) <= 1 + len(code)
        begins = arrow_text.values_of(pc.starts_with(phones.e164, f"+{code}{code}"))
        rows = np.flatnonzero(begins & whole & is_of_region)
        digits = [re.sub(r"\D", "", cell) for cell in arrow_text.take(readable, rows).to_pylist()]
        e164 = arrow_text.take(phones.e164, rows).to_pylist()
        doubtful = [
            (row, f"+{number}")
            for row, number, taken in zip(rows.tolist(), digits, e164, strict=True)
            if taken == f"+{code}{number}" and len(number) > _LONG_DIGITS
        ]
        valid = are_valid([number for _, number in doubtful], [None] * len(doubtful))
        abroad[[row for (row, _), also in zip(doubtful, valid, strict=True) if also]] = True
    return np.flatnonzero(abroad)


def _by_region(regions: Regions, count: int) -> Iterator[tuple[str, np.ndarray]]:
    """Each region that is known of so many rows, and which of them are of it."""
    if isinstance(regions, str | None):
        if regions is not None:
            yield regions, np.ones(count, np.bool_)
        return
    by_row = np.array([region or "" for region in regions])
    for region in filter(None, set(regions)):
        yield region, by_row == region


def counted_whereabouts(whereabouts: np.ndarray) -> tuple[dict[str, int], dict[str, int]]:
    """How many of some `Phones.whereabouts` are of each country, and of each line type."""
    width = len(TYPES) + 1
    counts = np.bincount(whereabouts, minlength=(len(REGIONS) + 1) * width).reshape(-1, width)
    regions, kinds = counts.sum(axis=1)[1:].tolist(), counts.sum(axis=0)[1:].tolist()
    return (
        {name: count for name, count in zip(REGIONS, regions, strict=True) if count},
        {name: count for name, count in zip(TYPES, kinds, strict=True) if count},
    )


def _with_zero(
    phones: Phones, readable: pa.Array, shape: np.ndarray, wrong: np.ndarray, regions: Regions
) -> None:
    """Digits that are no number, as if a leading zero was lost."""
    rows = np.flatnonzero(wrong & ((shape == plain_cells.DIGITS) | (shape == plain_cells.FLOAT)))
    if not len(rows):
        return
    cells = readable.take(arrow_text.numbers(rows))
    row_regions = regions_of(regions, rows)
    codes = [row_regions] * len(rows) if isinstance(row_regions, str | None) else row_regions
    pairs = zip(cells.to_pylist(), codes, strict=True)
    zeroed = arrow_text.column([zeroed_digits(cell, region) for cell, region in pairs])
    read = read_column(zeroed, row_regions)
    good = np.flatnonzero(read.outcome == outcomes.VALID)
    if len(good):
        read_rows, at = rows[good], arrow_text.numbers(good)
        phones.e164 = arrow_text.put(phones.e164, read_rows, read.e164.take(at))
        phones.extension = arrow_text.put(
            phones.extension, read_rows, read.extension.take(at).fill_null(arrow_text.text(""))
        )
        phones.region[read_rows] = read.region[good]
        phones.reason[read_rows] = FOUND
        phones.warned[read_rows] = 1
        phones.kind[read_rows] = _KINDS[read.kind[good]]


def _by_reader(phones: Phones, cells: pa.Array, rows: np.ndarray, regions: Regions) -> None:
    """The cells that their bytes do not settle, each distinct text once."""
    if not len(rows):
        return
    places = {name: at for at, name in enumerate(phones.regions)} | {None: -1}
    known = {codes: at for at, codes in enumerate(phones.warnings)}
    which, readings = _read(arrow_text.take(cells, rows), regions_of(regions, rows))
    for reading in readings:
        known.setdefault(reading.warnings, len(known))
    phones.warnings = list(known)

    def each(name: str) -> pa.Array:
        values = arrow_text.column([getattr(cell, name) for cell in readings])
        return values.take(arrow_text.numbers(which))

    phones.e164 = arrow_text.put(phones.e164, rows, each("e164"))
    phones.extension = arrow_text.put(phones.extension, rows, each("extension"))
    phones.other = arrow_text.put(phones.other, rows, each("other"))
    phones.region[rows] = arrow_text.picked(
        [places.get(cell.region, -1) for cell in readings], which, np.int16
    )
    phones.reason[rows] = arrow_text.picked(
        [RANK[cell.reason] if cell.reason else FOUND for cell in readings], which, np.int16
    )
    phones.warned[rows] = arrow_text.picked(
        [known[cell.warnings] for cell in readings], which, np.int64
    )
    phones.kind[rows] = arrow_text.picked(
        [_PLACE_OF_TYPE.get(cell.type or "", -1) for cell in readings], which, np.int16
    )
    phones.remark[rows] = arrow_text.picked(
        [RANK[cell.remark] if cell.remark else NOTHING_SAID for cell in readings], which, np.int16
    )


def _read(cells: pa.Array, regions: Regions) -> tuple[np.ndarray, list[PhoneReading]]:
    if isinstance(regions, str | None):
        return arrow_text.by_distinct(cells, lambda cell: _read_again(cell, regions))
    known: dict[tuple[str, str | None], int] = {}
    pairs = zip(cells.to_pylist(), regions, strict=True)
    which = np.array([known.setdefault(pair, len(known)) for pair in pairs], np.int64)
    return which, [_read_again(*pair) for pair in known]


# What stands in many cells stands in the next block too.
_read_again = lru_cache(maxsize=2**14)(read_phone)
