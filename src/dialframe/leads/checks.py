"""Records of one file judged one by one, whole columns at a time: mapped fields, opt-outs, findings, warnings.

What a cell means is told by the functions of `cells`, `phones_in_cells` and `answers`. They are asked
once for each distinct text, and not at all for texts of which `plain_cells` knows that they stay as they
are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dialframe import arrow_text, opt_outs
from dialframe.contract import limits
from dialframe.leads import plain_cells
from dialframe.leads.cells import is_nothing, read_email, read_name, tidy, turn_name
from dialframe.leads.columns.column_decisions import flag_named
from dialframe.leads.columns.column_map import ColumnMap
from dialframe.leads.columns.country_names import ColumnDoubt, Regions, read_region, regions_of
from dialframe.leads.columns.questions import Tally, decision, phrase_beside_number, phrase_in
from dialframe.leads.lead_file import LEAD_COLUMNS, META, Batch, numbered
from dialframe.leads.phone_columns import (
    Doubts,
    Phones,
    choose_phones,
    each_number,
    phone_cells,
    read_phones,
)
from dialframe.leads.phones_in_cells import every_number
from dialframe.leads.plain_cells import numbers
from dialframe.leads.reasons import BY_CODE, RANK, REASONS
from dialframe.leads.record_notes import Notes
from dialframe.leads.rules import FieldRule, Policy
from dialframe.opt_outs import Phrase

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
        whereabouts: Country and line type of each number, as `Phones.whereabouts` has them.
        reach: Records that must not be called, and a number of each: none of them is called under
            any record.
        asked: Phrases that nobody has decided about.
    """

    fields: dict[str, pa.Array]
    notes: Notes
    whereabouts: np.ndarray
    reach: tuple[np.ndarray, np.ndarray]
    asked: Tally = field(default_factory=Tally)


def row_regions(
    cells: Mapping[str, pa.Array],
    columns: ColumnMap,
    region: str | None,
) -> Regions:
    """The region of national numbers: one for all rows, or one each where a column names it.

    A blank country is the region given. A country that nobody knows is None, so that a national
    number of it is refused rather than read as one of another country.
    """
    if columns.country is None:
        return region

    def read(cell: str) -> str | None:
        return region if is_nothing(tidy(cell)) else read_region(cell)

    which, readings = arrow_text.by_distinct(cells[columns.country], read)
    return [readings[at] for at in which.tolist()]


def leads_of(rows: Batch, judging: Judging) -> tuple[np.ndarray, Mapping[str, pa.Array]]:
    """The record of each lead, and the phone columns of each; see `each_number`.

    A record that could not be read whole is one.
    """
    regions = row_regions(rows.columns, judging.columns, judging.region)
    policy, doubts = judging.policy, judging.doubts
    return each_number(rows.columns, judging.columns, regions, policy, doubts, rows.faults)


def assess(
    rows: Batch, judging: Judging, single: Mapping[str, pa.Array] | None = None
) -> Assessed:
    """Map and judge records; the same whether all of a file come at once or in parts.

    Args:
        rows: The records.
        judging: By what they are judged.
        single: Phone columns with the one number of each, as `leads_of` gives them.
    """
    # The order of the steps is that of the warnings of a record; of findings the reason's rank decides.
    notes, count = Notes(), len(rows)
    empty = arrow_text.constant("", count)
    fields = dict.fromkeys(LEAD_COLUMNS, empty)
    for code in dict.fromkeys(rows.faults.values()):
        faulty = [row for row, fault in rows.faults.items() if fault == code]
        notes.find(np.array(sorted(faulty), np.int64), code)
    # What was noted while reading, in the order in which it was noted.
    by_code: dict[str, list[int]] = {}
    places: dict[str, int] = {}
    for row, codes in rows.warnings.items():
        for index, code in enumerate(codes):
            by_code.setdefault(code, []).append(row)
            places[code] = max(index, places.get(code, 0))
    for code in sorted(by_code, key=lambda each: places[each]):
        notes.warn(np.array(sorted(by_code[code]), np.int64), code)
    columns, cells, policy = judging.columns, rows.columns, judging.policy
    regions = row_regions(cells, columns, judging.region)
    chosen, whereabouts, read = choose_phones(
        cells, columns, regions, policy, judging.blocked, notes, judging.doubts, single
    )
    fields |= chosen
    _apply_earlier_run(rows, fields, notes)
    _names(rows, judging, fields, notes)
    _emails(rows, judging, fields, notes)
    asked = _decide_phones(columns, notes)
    permissions(cells, columns, policy, notes, asked)
    remarks(cells, columns, notes, asked)
    damaged(list(cells), columns, rows.faults, rows.raws, notes)
    if isinstance(regions, list):  # an opt-out of an unknown country holds the given one's number
        regions = [region or judging.region for region in regions]
    reach = reached(cells, columns, regions, read, rows.raws, notes, judging.doubts)
    _sizes(rows, columns, fields, notes)
    for rule in judging.rules:
        _rule(rows, columns, rule, fields, notes)
    return Assessed(fields, notes, whereabouts, reach, asked)


def _apply_earlier_run(rows: Batch, fields: Mapping[str, pa.Array], notes: Notes) -> None:
    """What an earlier run said of records that were set aside, unless their number is another one now."""
    if not rows.earlier:
        return
    phones = fields["phone"].to_pylist()
    for row, (code, name, value) in sorted(rows.earlier.items()):
        changed = name == "phone" and value and phones[row] and phones[row] != value
        if code in BY_CODE and not changed:
            notes.find(np.array([row]), code, name, arrow_text.column([value]))


def kept_names(names: Sequence[str], columns: ColumnMap, per: str = "record") -> dict[str, str]:
    """Columns of the file that stay, in its order, with their names beside the mapped fields.

    Args:
        names: All columns of the file.
        columns: The columns by field.
        per: What a lead is made of; beside the one number of a lead the others of its record, of
            which some may be held, do not stay.
    """
    parts = columns.phone_parts
    phones = parts if len(parts) > 1 and per == "record" else ()
    kept = {*columns.leftovers, *phones, *columns.fax, *columns.opt_out, *columns.consent}
    kept_columns = [column for column in names if column in kept]
    free = numbered(kept_columns, (*LEAD_COLUMNS, *META))
    return dict(zip(kept_columns, free, strict=True))


def _names(rows: Batch, judging: Judging, fields: dict[str, pa.Array], notes: Notes) -> None:
    for name in (*_NAME_CHARS, "external_id", "source"):
        column = getattr(judging.columns, name)
        if column is None:
            continue
        cells = rows.columns[column]
        values = tidied(cells)
        if name == "full_name" and judging.turned:
            values = arrow_text.mapped(values, turn_name)
        fields[name] = values
        if name == "source":
            continue
        most = _NAME_CHARS.get(name, limits.EXTERNAL_ID_CHARS[1])
        if len(values) and int(arrow_text.sizes(values).max()) > most:
            long_rows = np.flatnonzero(arrow_text.values_of(pc.utf8_length(values)) > most)
            code = "name_length" if name in _NAME_CHARS else f"{name}_length"
            notes.find(long_rows, code, name, arrow_text.take(cells, long_rows))


def tidied(cells: pa.Array) -> pa.Array:
    """`read_name` of each cell."""
    rows = plain_cells.untidy(cells)
    if not len(rows):
        return cells
    return arrow_text.put(cells, rows, arrow_text.mapped(arrow_text.take(cells, rows), read_name))


def _emails(rows: Batch, judging: Judging, fields: dict[str, pa.Array], notes: Notes) -> None:
    column = judging.columns.email
    if column is None:
        return
    cells = rows.columns[column]
    # A plain address stays as it is, and no reader is asked about it.
    odd = plain_cells.odd_emails(cells)
    if not len(odd):
        fields["email"] = cells
        return
    which, readings = arrow_text.by_distinct(arrow_text.take(cells, odd), read_email)
    values = arrow_text.column([reading.email for reading in readings]).take(
        arrow_text.numbers(which)
    )
    fields["email"] = arrow_text.put(cells, odd, values)
    warned = [(code, at) for at, reading in enumerate(readings) for code in reading.warnings]
    reject = judging.policy.bad_email == "reject"
    if not reject:
        warned += [(reading.reason, at) for at, reading in enumerate(readings) if reading.reason]
    for code in dict.fromkeys(code for code, _ in warned):
        places = np.array([at for each, at in warned if each == code])
        notes.warn(odd[np.isin(which, places)], code)
    for code in dict.fromkeys(reading.reason for reading in readings if reading.reason and reject):
        places = np.array([at for at, reading in enumerate(readings) if reading.reason == code])
        rejected = odd[np.isin(which, places)]
        notes.find(rejected, str(code), "email", arrow_text.take(cells, rejected))


def _sizes(rows: Batch, columns: ColumnMap, fields: dict[str, pa.Array], notes: Notes) -> None:
    kept = [rows.columns[name] for name in kept_names(list(rows.columns), columns)]
    total = sum(
        (arrow_text.sizes(cells) for cells in (*fields.values(), *kept)), np.zeros(len(rows))
    )
    notes.find(np.flatnonzero(total > MAX_RECORD_BYTES), "row_too_large")


def _rule(
    rows: Batch, columns: ColumnMap, rule: FieldRule, fields: Mapping[str, pa.Array], notes: Notes
) -> None:
    by_name = {name: column for column, name in kept_names(list(rows.columns), columns).items()}
    if rule.column in fields:
        cells = fields[rule.column]
    elif rule.column in by_name:
        cells = rows.columns[by_name[rule.column]]
    else:
        cells = arrow_text.constant("", len(rows))
    # A column that the file does not have is empty in every record, so `required` rejects them.
    which, broken = arrow_text.by_distinct(cells, rule.is_broken_by)
    broken_rows = np.flatnonzero(arrow_text.picked(broken, which, np.bool_))
    if rule.severity == "warn":
        notes.warn(broken_rows, "field_rule")
    else:
        notes.find(broken_rows, "field_rule", rule.field, arrow_text.take(cells, broken_rows))


#: Between the cells of a record that was not read whole, whatever its delimiter.
PIECES: Final = re.compile(r"[,;|\t\n\r\"¬^~]+")


def remark_columns(columns: ColumnMap) -> tuple[str, ...]:
    """Columns in which a phrase can hold a record; flags and phones are read by themselves."""
    single = (
        columns.first_name,
        columns.last_name,
        columns.full_name,
        columns.source,
        columns.extension,
    )
    named = (*columns.leftovers, *columns.fax, *(name for name in single if name))
    silent = {*columns.ignored, columns.country}
    return tuple(name for name in dict.fromkeys(named) if name not in silent)


Columns = Mapping[str, pa.Array]

_ANSWERS: Final = ("yes", "no", "blank", "unclear")
_FORBIDS: Final = np.array([reason.outcome == "do_not_call" for reason in REASONS])


#: What a yes of a flag says of the record; of any other kind, that it must not be called.
_FLAG_CODES: Final = {
    "deceased": "deceased",
    "wrong_number": "wrong_number",
    "right_number": "wrong_number",
}


def permissions(
    cells: Columns, columns: ColumnMap, policy: Policy, notes: Notes, asked: Tally
) -> None:
    """Flags that forbid, and consents that are not given; a word that is neither holds the record.

    Whoever calls has to show the consent, and silence is none (GDPR, Article 7(1) and Recital 32; for
    marketing by an autodialer 47 CFR 64.1200(a)(2)): so a blank is no consent unless the policy says
    that the list was made of people who gave it.
    """
    for name in ("opt_out", "consent"):
        for column in getattr(columns, name):
            flag = flag_named(column, name)
            answers = _answers(cells[column], partial(opt_outs.read_flag, flag))
            if name == "consent":
                codes = {"no": "no_consent"}
                # A blank behind `Call?` is no answer; behind `Consent` it is none that was given.
                if policy.blank_consent != "clean" and flag.kind != "call":
                    codes["blank"] = "no_consent"
            else:
                codes = {"yes": _FLAG_CODES.get(flag.kind, "opt_out")}
            for answer, code in codes.items():
                matching = np.flatnonzero(answers == _ANSWERS.index(answer))
                notes.find(matching, code, column, arrow_text.take(cells[column], matching))
                asked.hold(column, len(matching))
            unclear = np.flatnonzero(answers == _ANSWERS.index("unclear"))
            _note_phrases(column, cells[column], unclear, columns, notes, asked, is_flag=True)


def remarks(cells: Columns, columns: ColumnMap, notes: Notes, asked: Tally) -> None:
    """Codes of a known status, and phrases in columns that are no flags: notes, tags, dispositions, names."""
    for column, codes in columns.statuses.items():
        if column not in cells:
            continue
        which, says = arrow_text.by_distinct(cells[column], partial(_code_of, codes))
        for code in dict.fromkeys(filter(None, says)):
            rows = np.flatnonzero(
                np.isin(which, [at for at, each in enumerate(says) if each == code])
            )
            notes.find(rows, code, column, arrow_text.take(cells[column], rows))
            asked.hold(column, len(rows))
    for column in remark_columns(columns):
        if column in cells:
            rows = _rows_with_words(cells[column], column)
            _note_phrases(column, cells[column], rows, columns, notes, asked)


def _code_of(codes: Mapping[str, str], cell: str) -> str | None:
    return codes.get(cell.strip().casefold())


def _note_phrases(
    column: str,
    cells: pa.Array,
    rows: np.ndarray,
    columns: ColumnMap,
    notes: Notes,
    asked: Tally,
    *,
    is_flag: bool = False,
) -> None:
    """Note the phrases of some cells: as they were answered, or held until they are."""
    if not len(rows):
        return
    statuses = columns.statuses.get(column, {})
    texts = arrow_text.take(cells, rows)

    def read(cell: str) -> Phrase | None:
        known = cell.strip().casefold() in statuses
        return None if known else phrase_in(column, cell, is_flag=is_flag)

    which, phrases = arrow_text.by_distinct(texts, read)
    counts = np.bincount(which, minlength=len(phrases))
    codes: dict[str, list[int]] = {}
    for at, phrase in enumerate(phrases):
        if phrase is None:
            continue
        code = decision(columns, column, phrase)
        if code is None:
            first = int(np.argmax(which == at))
            asked.add(column, phrase, texts[first].as_py(), int(counts[at]))
        if code != "":
            codes.setdefault(code or "opt_out_unclear", []).append(at)
    for code, places in codes.items():
        matching = rows[np.isin(which, places)]
        asked.hold(column, len(matching))
        notes.find(matching, code, column, arrow_text.take(cells, matching))


def _decide_phones(columns: ColumnMap, notes: Notes) -> Tally:
    """Phrases beside numbers, as they were answered: those that mean nothing are taken back."""
    asked, held = Tally(), RANK["opt_out_unclear"]
    for at in reversed(range(len(notes.rows))):
        column = notes.fields[at]
        if not (notes.ranks[at] == held).all() or not len(notes.rows[at]):
            continue
        ranks = notes.ranks[at].copy()
        for place, cell in enumerate(notes.cells[at].to_pylist()):
            phrase = phrase_beside_number(cell)
            code = decision(columns, column, phrase)
            if code is None:
                asked.add(column, phrase, cell)
                asked.hold(column, 1)
            else:
                ranks[place] = RANK[code] if code else -1
        kept = ranks >= 0
        notes.rows[at], notes.ranks[at] = notes.rows[at][kept], ranks[kept]
        notes.cells[at] = notes.cells[at].filter(arrow_text.numbers(kept))
    return asked


def damaged(
    names: list[str],
    columns: ColumnMap,
    faults: Mapping[int, str],
    raws: Mapping[int, str],
    notes: Notes,
) -> None:
    """A record that could not be read whole may say anywhere that it must not be called."""
    # A cell too many or too few moves the others, so a yes is looked for from the flag's place on.
    first = min((names.index(column) for column in columns.opt_out), default=len(names))

    def said_in(raw: str) -> tuple[str, str] | None:
        pieces = [piece.strip() for piece in PIECES.split(raw)]
        # Its cells may have moved, so that nothing of it is for ever.
        if columns.opt_out and True in {opt_outs.plain_yes(piece) for piece in pieces[first:]}:
            return "opt_out_unclear", columns.opt_out[0]
        says = {phrase.says for phrase in map(opt_outs.find_phrase, pieces) if phrase}
        return ("opt_out_unclear", "") if says & {"refusal", "deceased"} else None

    # A broken file repeats its lines, and one finding of many rows costs what one of one row does.
    remarks_read = {raw: said_in(raw) for raw in {raws.get(row, "") for row in faults}}
    rows: dict[tuple[str, str, str], list[int]] = {}
    for row, fault in sorted(faults.items()):
        if (remark := remarks_read[raws.get(row, "")]) is not None:
            rows.setdefault((*remark, fault), []).append(row)
    for (code, column, fault), matching in rows.items():
        notes.find(np.array(matching), code, column, arrow_text.constant(fault, len(matching)))


def forbidding(notes: Notes) -> np.ndarray:
    """Records that must not be called, by what was noted so far."""
    parts = [rows[_FORBIDS[ranks]] for rows, ranks in zip(notes.rows, notes.ranks, strict=True)]
    return np.unique(np.concatenate([np.zeros(0, np.int64), *parts]))


def reached(
    cells: Columns,
    columns: ColumnMap,
    regions: Regions,
    read: Mapping[str, Phones],
    raws: Mapping[int, str],
    notes: Notes,
    doubts: Doubts,
) -> tuple[np.ndarray, np.ndarray]:
    """Every number of the records that must not be called, in whatever phone column it stands.

    Args:
        cells: All columns.
        columns: The columns by field.
        regions: As `row_regions` gives them.
        read: What the phone columns say.
        raws: Row to the text of a record that could not be read whole.
        notes: What stands against the records.
        doubts: What speaks against the region in some phone columns.

    Returns:
        Records, and a number of each; a record stands there once for each of its numbers.
    """
    # An opt-out is one of the person: every number that was given with it is out of reach.
    rows = forbidding(notes)
    if not len(rows):
        return rows, rows
    row_regions = regions_of(regions, rows)
    parts = [
        _all_numbers(text, read.get(name), rows, row_regions)
        for name, text in phone_cells(cells, columns).items()
    ]
    # A column whose header names another country is read in both.
    parts += [
        _all_numbers(text, None, rows, region)
        for name, text in phone_cells(cells, columns).items()
        if name in doubts
        for region in sorted(doubts[name].named)
    ]
    more = [
        *columns.phone_parts,
        *columns.fax,
        *([columns.phone_other] if columns.phone_other else []),
    ]
    parts += [
        _all_numbers(cells[name], None, rows, row_regions)
        for name in dict.fromkeys(more)
        if name not in read
    ]
    for row in (row for row in rows.tolist() if row in raws):
        region = regions if isinstance(regions, str | None) else regions[row]
        numbers_said = [
            part for piece in PIECES.split(raws[row]) for part in every_number(piece, region)
        ]
        parts.append((np.full(len(numbers_said), row), numbers(arrow_text.column(numbers_said))))
    return np.concatenate([part for part, _ in parts]), np.concatenate([part for _, part in parts])


def _all_numbers(
    cells: pa.Array, phones: Phones | None, rows: np.ndarray, regions: Regions
) -> tuple[np.ndarray, np.ndarray]:
    """All numbers in one column's cells of some records."""
    texts = arrow_text.take(cells, rows)
    if phones is None:
        phones, at = read_phones(texts, regions), np.arange(len(rows))
    else:
        at = rows
    plain = np.flatnonzero(phones.plain[at])
    parts = [(rows[plain], numbers(arrow_text.take(phones.e164, at[plain])))]
    others = np.flatnonzero(~phones.plain[at] & (arrow_text.sizes(texts) > 0))
    region = regions_of(regions, others)
    by_row = [region] * len(others) if isinstance(region, str | None) else region
    asked = list(zip(arrow_text.take(texts, others).to_pylist(), by_row, strict=True))
    known = {pair: every_number(*pair) for pair in dict.fromkeys(asked)}
    numbers_said = [number for pair in asked for number in known[pair]]
    by = np.repeat(rows[others], [len(known[pair]) for pair in asked])
    parts.append((by.astype(np.int64), numbers(arrow_text.column(numbers_said))))
    return np.concatenate([part for part, _ in parts]), np.concatenate([part for _, part in parts])


def _rows_with_words(cells: pa.Array, column: str) -> np.ndarray:
    """Rows whose cells have letters; of a doubtful flag all that are filled."""
    if (flag := opt_outs.flag_of(column)) is not None and not flag.sure:
        return np.flatnonzero(arrow_text.sizes(cells) > 0)
    encoded = cells.dictionary_encode() if arrow_text.repeats(cells) else None
    rows = plain_cells.worded(cells if encoded is None else encoded.dictionary)
    if encoded is None or not len(rows):
        return rows
    return np.flatnonzero(np.isin(arrow_text.values_of(encoded.indices), rows))


def _answers(cells: pa.Array, read: Callable[[str], str]) -> np.ndarray:
    which, values = arrow_text.by_distinct(cells, read)
    return arrow_text.picked([_ANSWERS.index(value) for value in values], which, np.uint8)
