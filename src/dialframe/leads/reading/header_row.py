"""Which record is the header: names that lists have, or words above values of another kind.

It knows records of cells, not files. Titles above a table are narrower than its header; a header is
never a record that looks like those below.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal

from dialframe.errors import ConfigError
from dialframe.leads import header_vocabulary
from dialframe.leads.lead_file import Records

#: What `header=` may say: find it, there is none, its physical line (1-based), or the names.
HeaderChoice = Literal["auto", "none"] | int | Sequence[str]

_SEARCHED_RECORDS: Final = 30
_TOP_RECORDS: Final = 10
_ABOVE_RECORDS: Final = 2
_TYPED_SHARE: Final = 0.6
_STRAY_DATA_SHARE: Final = 0.2
_PHONE_DIGITS: Final = 7
_SAMPLE_RECORDS: Final = 500
_NARROW: Final = 3
_LONGEST_VALUE: Final = 200
_DATA: Final = re.compile(
    r"\s*(?:[+(]*\d[\d\s().,:+/\-xX]*|[^\s@]+@[^\s@]+\.\w+|(?:https?://|www\.)\S+)\s*"
)
_CODE: Final = re.compile(r"\s*(?=[\w\-./:]*\d)[\w\-./:]*[\-./:\d][\w\-./:]*\s*")
_NOTHING: Final = re.compile(r"\s*(?:[-–—.?*]+|n/?a|null|none|nan|true|false)\s*", re.IGNORECASE)
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_SENTENCE: Final = re.compile(r"\S+(?:\s+\S+){4,}[.!]")
_CONTACT: Final = re.compile(r"\s*(?:[+(]*\d[\d\s().+/\-]*(?:x\d+)?|[^\s@]+@[^\s@]+\.\w+)\s*")
_DATE: Final = re.compile(r"\s*(?:\d{4}-\d\d?-\d\d?|\d\d?[./-]\d\d?[./-]\d{2,4})\b.*")


def find_header(
    records: Records, filled: list[int], choice: HeaderChoice, usual: int
) -> tuple[int | None, tuple[str, ...] | None, float]:
    """The header's record, its texts and how sure that is.

    Args:
        records: All records of the file.
        filled: Places of those that are not blank.
        choice: Where the header is, if it is known.
        usual: Cells of a usual record.

    Raises:
        ConfigError: No record begins on the line given.
    """
    # What somebody says of the header is not weighed.
    if choice == "none" or not filled:
        return None, None, 1.0
    if isinstance(choice, int):
        if choice - 1 not in records.starts:
            raise ConfigError(f"no record begins on line {choice}; pass the header's own line")
        at = records.starts.index(choice - 1)
        return at, tuple(records.cells[at]), 1.0
    if not isinstance(choice, str):
        return None, tuple(choice), 1.0
    # Somebody's own number above the header would end the search for it.
    plain = _plain_header(records.cells, filled[:_TOP_RECORDS])
    if plain is not None:
        return plain, tuple(records.cells[plain]), 1.0
    candidates = _before_data(records.cells, filled[:_SEARCHED_RECORDS], usual)
    named = {at: known_names(records.cells[at]) for at in candidates}
    # One known word alone may be a title; two are a header, however wide the table.
    named = {
        at: names
        for at, names in named.items()
        if names > 1 or filled_cells(records.cells[at]) >= usual / 2
    }
    best = max(named, key=lambda at: (named[at], -at), default=None)
    if best is not None and named[best] and _stands_on_top(records.cells, candidates, best):
        sure = 1.0 if named[best] > 1 else 0.8
        return best, tuple(records.cells[best]), sure
    return _by_contrast(records.cells, filled, candidates, usual)


def known_names(row: Sequence[str]) -> int:
    """How many names that lists of leads have stand in the record; 0 where values stand among them."""
    data = sum(bool(cell.strip()) and _DATA.fullmatch(cell) is not None for cell in row)
    # `Home`, `Work` and `Other` are values of a column as often as names of columns.
    if data > _STRAY_DATA_SHARE * len(row):
        return 0
    return len({name for name in map(header_vocabulary.known, row) if name})


def is_contact(cell: str) -> bool:
    """Whether a cell is a phone number or an e-mail address."""
    # `2024-01-05` has the digits and the signs of a phone number.
    if _CONTACT.fullmatch(cell) is None or _DATE.fullmatch(cell):
        return False
    return "@" in cell or sum(char.isdecimal() for char in cell) >= _PHONE_DIGITS


def filled_cells(row: Sequence[str]) -> int:
    """How many cells hold more than white space."""
    return sum(bool(cell.strip()) for cell in row)


def _plain_header(cells: list[list[str]], top: list[int]) -> int | None:
    """A record of names that lists have, with at most two records above: somebody's own number."""
    for at in top:
        names = known_names(cells[at])
        if (
            names > 1
            and names * 2 >= filled_cells(cells[at])
            and not any(map(is_contact, cells[at]))
        ):
            above = [row for row in top if row < at]
            numbered = sum(any(map(is_contact, cells[row])) for row in above)
            return at if 0 < numbered == len(above) <= _ABOVE_RECORDS else None
    return None


def _stands_on_top(cells: list[list[str]], candidates: list[int], header: int) -> bool:
    """Whether at most one row above is as full as the header: above stand titles, not records."""
    # A column without a name stands in many headers.
    full = filled_cells(cells[header]) - 1
    above = [at for at in candidates if at < header]
    return sum(filled_cells(cells[at]) >= max(full, _NARROW) for at in above) <= 1


def _by_contrast(
    cells: list[list[str]], filled: list[int], candidates: list[int], usual: int
) -> tuple[int | None, tuple[str, ...] | None, float]:
    """A header of unknown words: what stands under it is of another kind."""
    least = max(min(2, usual), usual / 2)
    at = next((row_at for row_at in candidates if filled_cells(cells[row_at]) >= least), None)
    if at is None:
        return None, None, 0.8
    row = cells[at]
    # Kinds of columns show in five hundred records; a file may have millions.
    below = [cells[row_at] for row_at in filled if row_at > at][:_SAMPLE_RECORDS]
    kinds = {column: _kind(below, column) for column in range(usual)}
    typed = [column for column, kind in kinds.items() if kind is not None]
    cells_above = [row[column : column + 1] for column in typed]
    alike = sum(
        _is_of(cell, kinds[column]) for cell, column in zip(cells_above, typed, strict=True)
    )
    # Names that are no values of their columns, against values that are.
    named = sum(any(text.strip() for text in cell) for cell in cells_above) - alike
    if typed and named <= alike and not _are_years(row, below, typed):
        return None, None, 0.7
    if typed:
        return at, tuple(row), 0.7
    if _is_record(row, below):
        return None, None, 0.5
    return at, tuple(row), 0.3


def _is_of(cell: Sequence[str], kind: re.Pattern[str] | None) -> bool:
    """Whether a cell is a value of its column's kind, or stands for none."""
    return any(
        text.strip() and kind and (_is_match(kind, text) or _is_match(_NOTHING, text))
        for text in cell
    )


def _kind(rows: list[list[str]], column: int) -> re.Pattern[str] | None:
    """What most values of a column are: numbers and addresses, codes, or nothing that tells."""
    values = [row[column] for row in rows if column < len(row) and row[column].strip()]
    least = max(1.0, _TYPED_SHARE * len(values))
    for kind in (_DATA, _CODE):
        if sum(_is_match(kind, value) for value in values) >= least:
            return kind
    return None


def _is_match(kind: re.Pattern[str], text: str) -> bool:
    return len(text) <= _LONGEST_VALUE and kind.fullmatch(text) is not None


def _are_years(row: Sequence[str], below: list[list[str]], columns: list[int]) -> bool:
    """Whether the names of columns are years, above values that are none."""
    named = [at for at in columns if at < len(row) and _YEAR.fullmatch(row[at].strip())]
    values = [row_below[at] for row_below in below for at in named if at < len(row_below)]
    years = sum(_YEAR.fullmatch(value.strip()) is not None for value in values)
    return len(named) * 2 > len(columns) and years * 2 < len(values)


def _is_record(row: Sequence[str], below: list[list[str]]) -> bool:
    """Whether a row of words above rows of words is one of them."""
    # A table does not have two columns of one name as often as a record has one value twice.
    names = [cell.strip() for cell in row if cell.strip()]
    if len(set(names)) < len(names):
        return True
    if sum(_is_match(_DATA, name) for name in names) * 2 > len(names):
        return True
    sentences = sum(_is_match(_SENTENCE, name) for name in names)
    if sentences * 2 >= len(names):
        return True
    again = sum(
        any(name in row_below[at : at + 1] for row_below in below)
        for at, name in enumerate(row)
        if name.strip()
    )
    return again * 2 >= len(names) > 0


def _before_data(cells: list[list[str]], filled: list[int], usual: int) -> list[int]:
    """Records before the first that holds a phone number or an e-mail address like a lead."""
    rows: list[int] = []
    for at in filled:
        contacts = sum(map(is_contact, cells[at]))
        # A lone number above the table is the sender's.
        if contacts and filled_cells(cells[at]) >= max(min(2, usual), usual / 2):
            break
        rows.append(at)
    return rows
