"""Who of some records must not be called, whole columns at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dialframe import opt_outs
from dialframe.leads import texts
from dialframe.leads.columns.column_map import ColumnMap
from dialframe.leads.columns.country_names import Regions
from dialframe.leads.columns.header_match import is_screening
from dialframe.leads.judging import cell_kernel
from dialframe.leads.judging.issues import Notes
from dialframe.leads.judging.phone_cells import every_number
from dialframe.leads.judging.phone_columns import (
    Doubts,
    Phones,
    numbers,
    phone_cells,
    read_phones,
)
from dialframe.leads.judging.rules import Policy
from dialframe.leads.reasons import BY_CODE, REASONS
from dialframe.opt_outs import (
    Scope,
    scope_of,
)

#: Which decision of the policy a remark is subject to; a prohibition in so many words is `remark`.
REMARK_POLICY: Final = {"opt_out_unclear": "unclear_remark", "wrong_number": "wrong_number"}
#: Between the cells of a record that was not read whole, whatever its delimiter.
PIECES: Final = re.compile(r"[,;|\t\n\r\"¬^~]+")


def remark_columns(columns: ColumnMap) -> list[str]:
    """Columns in which a remark can forbid the call; opt-outs and phones are read by themselves."""
    own = (columns.source, columns.extension)
    return [
        *(name for name in columns.leftovers if name != columns.country),
        *columns.fax,
        *name_columns(columns),
        *(name for name in own if name),
    ]


def remark_scope(columns: ColumnMap, column: str) -> Scope:
    """What of a remark counts in one of `remark_columns`."""
    if column in columns.fax:
        return "any"
    return "names" if column in name_columns(columns) else scope_of(column)


def name_columns(columns: ColumnMap) -> list[str]:
    """Columns of names, in which only a prohibition in so many words is one."""
    return [name for name in (columns.first_name, columns.last_name, columns.full_name) if name]


Columns = Mapping[str, pa.Array]

_ANSWERS: Final = ("yes", "no", "blank", "unclear")
_FORBIDS: Final = np.array([reason.outcome == "do_not_call" for reason in REASONS])
#: Of so many cells is seen whether a column repeats itself.
_SEEN_CELLS: Final = 1000
_FEW_CELLS: Final = 2000


def permissions(cells: Columns, columns: ColumnMap, policy: Policy, notes: Notes) -> None:
    """Opt-outs, and consents that are not given; a word that is neither forbids the call."""
    for column in columns.opt_out:
        said = _answers(cells[column], answer_reader(column))
        for answer, code in (("yes", "opt_out"), ("unclear", "opt_out_unclear")):
            found = np.flatnonzero(said == _ANSWERS.index(answer))
            notes.find(found, code, column, texts.take(cells[column], found))
    for column in columns.consent:
        said = _answers(cells[column], opt_outs.read_consent)
        refused = ["no"] if policy.blank_consent == "clean" else ["no", "blank"]
        found = np.flatnonzero(np.isin(said, [_ANSWERS.index(one) for one in refused]))
        notes.find(found, "no_consent", column, texts.take(cells[column], found))
        found = np.flatnonzero(said == _ANSWERS.index("unclear"))
        notes.find(found, "opt_out_unclear", column, texts.take(cells[column], found))


def answer_reader(column: str) -> Callable[[str], str]:
    """How the cells of an opt-out column are read: those of `DNC Scrub Result` as codes."""
    return opt_outs.read_screening if is_screening(column) else opt_outs.read_answer


def remarks(cells: Columns, columns: ColumnMap, policy: Policy, notes: Notes) -> None:
    """Prohibitions in columns that are not for them: notes, tags, dispositions, names, faxes."""
    for column in remark_columns(columns):
        rows = _suspects(cells[column])
        if not len(rows):
            continue
        read = partial(opt_outs.read_remark, scope=remark_scope(columns, column))
        which, said = texts.by_distinct(texts.take(cells[column], rows), read)
        for remark in dict.fromkeys(one for one in said if one is not None):
            own = rows[np.isin(which, [at for at, one in enumerate(said) if one == remark])]
            if getattr(policy, REMARK_POLICY.get(remark, "remark")) == "warn":
                notes.warn(own, "remark")
            else:
                notes.find(own, remark, column, texts.take(cells[column], own))


def damaged(
    names: list[str],
    columns: ColumnMap,
    faults: Mapping[int, str],
    raws: Mapping[int, str],
    notes: Notes,
) -> None:
    """A record that could not be read whole may say anywhere that it must not be called."""
    first = min((names.index(column) for column in columns.opt_out), default=len(names))
    for row, fault in sorted(faults.items()):
        pieces = [piece.strip() for piece in PIECES.split(raws.get(row, ""))]
        shifted = {opt_outs.plain_yes(piece) for piece in pieces[first:]}
        remark = next((said for piece in pieces if (said := opt_outs.read_remark(piece))), None)
        own, value = np.array([row]), texts.column([fault])
        if columns.opt_out and True in shifted:
            notes.find(own, "opt_out", columns.opt_out[0], value)
        elif remark is not None and BY_CODE[remark].outcome == "do_not_call":
            notes.find(own, remark, "", value)


def forbidding(notes: Notes) -> np.ndarray:
    """Records that must not be called, by what was noted so far."""
    found = [rows[_FORBIDS[ranks]] for rows, ranks in zip(notes.rows, notes.ranks, strict=True)]
    return np.unique(np.concatenate([np.zeros(0, np.int64), *found]))


def reach(
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
        regions: As `phone_choice.row_regions` gives them.
        read: What the phone columns say.
        raws: Row to the text of a record that could not be read whole.
        notes: What stands against the records.
        doubts: What speaks against the region in some phone columns.

    Returns:
        Records, and a number of each; a record stands there once for each of its numbers.
    """
    rows = forbidding(notes)
    if not len(rows):
        return rows, rows
    own = _of(regions, rows)
    found = [
        _spoken(text, read.get(name), rows, own)
        for name, text in phone_cells(cells, columns).items()
    ]
    # A column whose header names another country is read in both.
    found += [
        _spoken(text, None, rows, region)
        for name, text in phone_cells(cells, columns).items()
        if name in doubts
        for region in sorted(doubts[name].named)
    ]
    more = [
        *columns.phone_parts,
        *columns.fax,
        *([columns.phone_other] if columns.phone_other else []),
    ]
    found += [
        _spoken(cells[name], None, rows, own) for name in dict.fromkeys(more) if name not in read
    ]
    for row in (row for row in rows.tolist() if row in raws):
        region = regions if isinstance(regions, str | None) else regions[row]
        spoken = [one for piece in PIECES.split(raws[row]) for one in every_number(piece, region)]
        found.append((np.full(len(spoken), row), numbers(texts.column(spoken))))
    return np.concatenate([one for one, _ in found]), np.concatenate([one for _, one in found])


def _spoken(
    cells: pa.Array, phones: Phones | None, rows: np.ndarray, regions: Regions
) -> tuple[np.ndarray, np.ndarray]:
    """All numbers in one column's cells of some records."""
    texts_ = texts.take(cells, rows)
    if phones is None:
        phones, at = read_phones(texts_, regions), np.arange(len(rows))
    else:
        at = rows
    plain = np.flatnonzero(phones.plain[at])
    found = [(rows[plain], numbers(texts.take(phones.e164, at[plain])))]
    others = np.flatnonzero(~phones.plain[at] & (texts.sizes(texts_) > 0))
    asked = zip(
        texts.take(texts_, others).to_pylist(),
        _each(_of(regions, others), len(others)),
        strict=True,
    )
    known: dict[tuple[str, str | None], tuple[str, ...]] = {}
    spoken: list[str] = []
    by: list[int] = []
    for row, pair in zip(rows[others].tolist(), asked, strict=True):
        if pair not in known:
            known[pair] = every_number(*pair)
        spoken += known[pair]
        by += [row] * len(known[pair])
    found.append((np.array(by, np.int64), numbers(texts.column(spoken))))
    return np.concatenate([one for one, _ in found]), np.concatenate([one for _, one in found])


def _each(regions: Regions, count: int) -> list[str | None]:
    return [regions] * count if isinstance(regions, str | None) else regions


def _of(regions: Regions, rows: np.ndarray) -> Regions:
    return regions if isinstance(regions, str | None) else [regions[row] for row in rows.tolist()]


def _suspects(cells: pa.Array) -> np.ndarray:
    """Rows in whose cells `suspect_pattern` finds something; without letters it finds nothing."""
    few = len(cells) > _SEEN_CELLS and (
        len(cells.slice(0, _SEEN_CELLS).unique()) < _SEEN_CELLS // 2
    )
    if not few:
        return _matching(cells)
    encoded = cells.dictionary_encode()
    found = _matching(encoded.dictionary)
    if not len(found):
        return found
    return np.flatnonzero(np.isin(encoded.indices.to_numpy(zero_copy_only=False), found))


def _matching(cells: pa.Array) -> np.ndarray:
    wordless = np.empty(len(cells), np.bool_)
    cell_kernel.wordless(*texts.raw(cells), wordless)
    rows = np.flatnonzero(~wordless)
    if not len(rows):
        return rows
    if len(rows) <= _FEW_CELLS:
        # Compiling the pattern takes as long as some thousand cells.
        suspect = [opt_outs.is_suspect(cell) for cell in texts.take(cells, rows).to_pylist()]
        return rows[np.array(suspect, np.bool_)]
    found = pc.match_substring_regex(texts.take(cells, rows), opt_outs.suspect_pattern())
    return np.asarray(rows[found.to_numpy(zero_copy_only=False)])


def _answers(cells: pa.Array, read: Callable[[str], str]) -> np.ndarray:
    which, values = texts.by_distinct(cells, read)
    return texts.picked([_ANSWERS.index(one) for one in values], which, np.uint8)
