"""Which records of a file are the header, leads, and neither; knows how lists are laid out, not files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from dialframe.errors import ConfigError, LeadFileError
from dialframe.leads import headers
from dialframe.leads.records import Records

#: What `header=` may say: find it, there is none, its physical line (1-based), or the names.
HeaderChoice = Literal["auto", "none"] | int | Sequence[str]

#: Most columns of a table; no list has so many, and each costs time.
MOST_COLUMNS: Final = 32_768

_SEARCHED_RECORDS: Final = 30
_TOP_RECORDS: Final = 10
_ABOVE_RECORDS: Final = 2
_SAMPLE_RECORDS: Final = 500
_TYPED_SHARE: Final = 0.6
_STRAY_DATA_SHARE: Final = 0.2
_SECOND_HEADER_NAMES: Final = 2
_PHONE_DIGITS: Final = 7
_NARROW: Final = 3
_DATA: Final = re.compile(
    r"\s*(?:[+(]*\d[\d\s().,:+/\-xX]*|[^\s@]+@[^\s@]+\.\w+|(?:https?://|www\.)\S+)\s*"
)
_CODE: Final = re.compile(r"\s*(?=[\w\-./:]*\d)[\w\-./:]*[\-./:\d][\w\-./:]*\s*")
_NOTHING: Final = re.compile(r"\s*(?:[-–—.?*]+|n/?a|null|none|nan|true|false)\s*", re.IGNORECASE)
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_SENTENCE: Final = re.compile(r"\S+(?:\s+\S+){4,}[.!]")
_CONTACT: Final = re.compile(r"\s*(?:[+(]*\d[\d\s().+/\-]*(?:x\d+)?|[^\s@]+@[^\s@]+\.\w+)\s*")
_DATE: Final = re.compile(r"\s*(?:\d{4}-\d\d?-\d\d?|\d\d?[./-]\d\d?[./-]\d{2,4})\b.*")
_SUBTOTAL: Final = re.compile(r"\W*(?:grand\W?|sub\W?)?totals?\b", re.IGNORECASE)
_REMARK: Final = re.compile(
    r"\W*(?:(?:grand|sub|report)\W?)?(?:totals?|sums?|summe|gesamt\w*|suma|somme|totale|count|anzahl|"
    r"rows?|records?|registros|datens[aä]tze|合計|итого|всего|page \d+|seite \d+|eof|"
    r"end of (?:file|report|list|data)|generated|printed|exported|created (?:on|at|by)|"
    r"erstellt|exportiert|stand|quelle|source|copyright|©|confidential|vertraulich)(?:\b|(?<=©))",
    re.IGNORECASE,
)
_COUNTED: Final = re.compile(
    r"\W*\d[\d.,]*\s(?:records?|rows?|leads?|contacts?|entries|lines?|registros|datens[aä]tze|"
    r"enregistrements|linhas|results?)\b\W*$",
    re.IGNORECASE,
)
_COMMENT: Final = re.compile(r"(?:#+|//+|--+)\s+\S")
_EOF_MARK: Final = "\x1a"


@dataclass(frozen=True, slots=True)
class Layout:
    """Where what stands.

    Attributes:
        header: Texts of the header, or None where there is none.
        header_record: Its record, or None.
        width: Columns of the table.
        usual: Cells that a usual record has; records with fewer are short.
        leads: Records that are leads, in order.
        preface: Records before the first lead with their code (`preamble`, `second_header`).
        furniture: Records behind it that are no leads, with their code (`blank`, `footer`,
            `repeated_header`).
        confidence: 0 to 1, of the header.
    """

    header: tuple[str, ...] | None
    header_record: int | None
    width: int
    usual: int
    leads: tuple[int, ...]
    preface: tuple[tuple[int, str], ...]
    furniture: tuple[tuple[int, str], ...]
    confidence: float


def lay_out(records: Records, choice: HeaderChoice = "auto", *, own: bool = False) -> Layout:
    """The layout of the records.

    Args:
        records: All records of the file.
        choice: Where the header is, if it is known.
        own: Whether this package wrote the file: the first record is the header, and no record
            behind it is a remark.

    Raises:
        ConfigError: No record begins on the line given.
        LeadFileError: The table has too many columns.
    """
    cells = records.cells
    filled = [at for at, row in enumerate(cells) if not is_blank(row)]
    usual = _usual_width(records, filled)
    if usual > MOST_COLUMNS:
        raise LeadFileError(
            f"the table has {usual:,} columns, more than {MOST_COLUMNS:,}; pass its delimiter, or "
            "keep the columns that matter"
        )
    at, header, confidence = (
        (0, tuple(cells[0]), 1.0) if own else _header(records, filled, choice, usual)
    )
    first = at + 1 if at is not None else _first_lead(cells, filled, usual, choice)
    preface = [(record, "preamble") for record in range(first) if record != at]
    if header and first < len(cells) and not own and _is_second_header(cells[first]):
        preface.append((first, "second_header"))
        first += 1
    furniture = dict.fromkeys(set(range(first, len(cells))).difference(filled), "blank")
    if not own:
        below = [record for record in filled if record >= first]
        furniture |= _footers(cells, below, usual, leads=_are_leads(cells, below, header))
        furniture |= _repeats(cells, first, header)
    return Layout(
        header=header,
        header_record=at,
        width=max(usual, len(header or ())),
        usual=min(usual, len(header)) if header else usual,
        leads=tuple(record for record in range(first, len(cells)) if record not in furniture),
        preface=tuple(preface),
        furniture=tuple(sorted(furniture.items())),
        confidence=confidence,
    )


def is_blank(cells: Sequence[str]) -> bool:
    """Whether no cell holds more than white space."""
    return not any(cell and cell != _EOF_MARK and not cell.isspace() for cell in cells)


def _header(
    records: Records, filled: list[int], choice: HeaderChoice, usual: int
) -> tuple[int | None, tuple[str, ...] | None, float]:
    """The header's record, its texts and how sure that is."""
    if choice == "none" or not filled:
        return None, None, 1.0
    if isinstance(choice, int):
        if choice - 1 not in records.starts:
            raise ConfigError(f"no record begins on line {choice}; pass the header's own line")
        at = records.starts.index(choice - 1)
        return at, tuple(records.cells[at]), 1.0
    if not isinstance(choice, str):
        return None, tuple(choice), 1.0
    plain = _plain_header(records.cells, filled[:_TOP_RECORDS])
    if plain is not None:
        return plain, tuple(records.cells[plain]), 1.0
    candidates = _before_data(records.cells, filled[:_SEARCHED_RECORDS], usual)
    named = {at: _known_names(records.cells[at]) for at in candidates}
    # One known word alone may be a title; two are a header, however wide the table.
    named = {
        at: names
        for at, names in named.items()
        if names > 1 or _filled(records.cells[at]) >= usual / 2
    }
    best = max(named, key=lambda at: (named[at], -at), default=None)
    if best is not None and named[best] and _stands_on_top(records.cells, candidates, best):
        sure = 1.0 if named[best] > 1 else 0.8
        return best, tuple(records.cells[best]), sure
    return _by_contrast(records.cells, filled, candidates, usual)


def _plain_header(cells: list[list[str]], top: list[int]) -> int | None:
    """A record of names that lists have, with at most two records above: somebody's own number."""
    for at in top:
        names = _known_names(cells[at])
        if names > 1 and names * 2 >= _filled(cells[at]) and not any(map(_is_contact, cells[at])):
            above = [one for one in top if one < at]
            numbered = sum(any(map(_is_contact, cells[one])) for one in above)
            return at if 0 < numbered == len(above) <= _ABOVE_RECORDS else None
    return None


def _stands_on_top(cells: list[list[str]], candidates: list[int], header: int) -> bool:
    """Whether at most one row above is as full as the header: above stand titles, not records."""
    full = _filled(cells[header]) - 1
    above = [at for at in candidates if at < header]
    return sum(_filled(cells[at]) >= max(full, _NARROW) for at in above) <= 1


def _by_contrast(
    cells: list[list[str]], filled: list[int], candidates: list[int], usual: int
) -> tuple[int | None, tuple[str, ...] | None, float]:
    """A header of unknown words: what stands under it is of another kind."""
    least = max(min(2, usual), usual / 2)
    at = next((one for one in candidates if _filled(cells[one]) >= least), None)
    if at is None:
        return None, None, 0.8
    row = cells[at]
    below = [cells[one] for one in filled if one > at][:_SAMPLE_RECORDS]
    kinds = {column: _kind(below, column) for column in range(usual)}
    typed = [column for column, kind in kinds.items() if kind is not None]
    own = [row[column : column + 1] for column in typed]
    alike = sum(_is_of(cell, kinds[column]) for cell, column in zip(own, typed, strict=True))
    named = sum(any(text.strip() for text in cell) for cell in own) - alike
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
        text.strip() and kind and (kind.fullmatch(text) or _NOTHING.fullmatch(text))
        for text in cell
    )


def _kind(rows: list[list[str]], column: int) -> re.Pattern[str] | None:
    """What most values of a column are: numbers and addresses, codes, or nothing that tells."""
    values = [row[column] for row in rows if column < len(row) and row[column].strip()]
    least = max(1.0, _TYPED_SHARE * len(values))
    for kind in (_DATA, _CODE):
        if sum(kind.fullmatch(value) is not None for value in values) >= least:
            return kind
    return None


def _are_years(row: Sequence[str], below: list[list[str]], columns: list[int]) -> bool:
    """Whether the names of columns are years, above values that are none."""
    named = [at for at in columns if at < len(row) and _YEAR.fullmatch(row[at].strip())]
    values = [one[at] for one in below for at in named if at < len(one)]
    years = sum(_YEAR.fullmatch(value.strip()) is not None for value in values)
    return len(named) * 2 > len(columns) and years * 2 < len(values)


def _is_record(row: Sequence[str], below: list[list[str]]) -> bool:
    """Whether a row of words above rows of words is one of them."""
    names = [cell.strip() for cell in row if cell.strip()]
    if len(set(names)) < len(names):
        return True
    if sum(_DATA.fullmatch(name) is not None for name in names) * 2 > len(names):
        return True
    sentences = sum(_SENTENCE.fullmatch(name) is not None for name in names)
    if sentences * 2 >= len(names):
        return True
    again = sum(
        any(name in one[at : at + 1] for one in below)
        for at, name in enumerate(row)
        if name.strip()
    )
    return again * 2 >= len(names) > 0


def _before_data(cells: list[list[str]], filled: list[int], usual: int) -> list[int]:
    """Records before the first that holds a phone number or an e-mail address like a lead."""
    found: list[int] = []
    for at in filled:
        contacts = sum(map(_is_contact, cells[at]))
        if contacts and _filled(cells[at]) >= max(min(2, usual), usual / 2):
            break
        found.append(at)
    return found


def _known_names(row: Sequence[str]) -> int:
    data = sum(bool(cell.strip()) and _DATA.fullmatch(cell) is not None for cell in row)
    if data > _STRAY_DATA_SHARE * len(row):
        return 0
    return len({name for name in map(headers.known, row) if name})


def _first_lead(
    cells: list[list[str]], filled: list[int], usual: int, choice: HeaderChoice
) -> int:
    """First record of a file without a header: titles above the table are narrower than it."""
    if choice != "auto":
        return 0
    for at in filled:
        count = _filled(cells[at])
        narrow = count * 2 <= usual and (
            len(cells[at]) < usual or (usual >= _NARROW and count == 1)
        )
        if not narrow or any(map(_is_contact, cells[at])):
            return at
    return 0


def _is_second_header(row: Sequence[str]) -> bool:
    return _known_names(row) >= _SECOND_HEADER_NAMES and not any(map(_is_contact, row))


def _repeats(cells: list[list[str]], first: int, header: tuple[str, ...] | None) -> dict[int, str]:
    if header is None:
        return {}
    names = [name.strip().casefold() for name in header]
    return {
        at: "repeated_header"
        for at in range(first, len(cells))
        if cells[at]
        and cells[at][0].strip().casefold() == names[0]
        and [cell.strip().casefold() for cell in cells[at]] == names
        and any(names)
    }


def _are_leads(cells: list[list[str]], below: list[int], header: tuple[str, ...] | None) -> bool:
    """Whether the table is a list of people and numbers, in which a total is no record."""
    if header is not None and _known_names(header) > 1:
        return True
    sample = below[:_SAMPLE_RECORDS]
    return sum(any(map(_is_contact, cells[at])) for at in sample) * 2 > len(sample)


def _footers(
    cells: list[list[str]], filled: list[int], usual: int, *, leads: bool
) -> dict[int, str]:
    """Totals anywhere in a list of leads, and remarks behind the last record."""
    found = {at: "footer" for at in filled if usual > 1 and _is_comment(cells[at])}
    if leads:
        found |= {at: "footer" for at in filled if _is_remark(cells[at], usual, _SUBTOTAL)}
    for place in range(len(filled) - 1, 0, -1):
        if filled[place] in found:
            continue
        row = cells[filled[place]]
        apart = filled[place] - filled[place - 1] > 1
        lone = _filled(row) == 1 and usual >= _NARROW and (len(row) < usual or (apart and row[0]))
        words = lone and len(" ".join(row).split()) >= _NARROW and not any(map(_is_contact, row))
        remark = (leads or len(row) < usual) and _is_remark(row, usual, _REMARK)
        if not words and not remark:
            break
        found[filled[place]] = "footer"
    return found


def _is_comment(row: Sequence[str]) -> bool:
    return len(row) == 1 and _COMMENT.match(row[0]) is not None and not any(map(_is_contact, row))


def _is_remark(row: Sequence[str], usual: int, words: re.Pattern[str]) -> bool:
    first = next(cell for cell in row if cell.strip())
    counted = words is _REMARK and _COUNTED.fullmatch(first) is not None
    if (words.match(first) is None and not counted) or any(map(_is_contact, row)):
        return False
    return _filled(row) <= max(_NARROW, usual // 2)


def _is_contact(cell: str) -> bool:
    if _CONTACT.fullmatch(cell) is None or _DATE.fullmatch(cell):
        return False
    return "@" in cell or sum(char.isdecimal() for char in cell) >= _PHONE_DIGITS


def _filled(row: Sequence[str]) -> int:
    return sum(bool(cell.strip()) for cell in row)


def _usual_width(records: Records, filled: list[int]) -> int:
    widths = Counter(len(records.cells[at]) for at in filled if at not in records.faults)
    return max(widths, key=lambda width: (widths[width], width)) if widths else 1
