"""Which records of a file are the header, leads, and neither; knows how lists are laid out, not files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from dialframe.errors import ConfigError
from dialframe.leads import headers
from dialframe.leads.records import Records

#: What `header=` may say: find it, there is none, its physical line (1-based), or the names.
HeaderChoice = Literal["auto", "none"] | int | Sequence[str]

_SEARCHED_RECORDS: Final = 30
_SAMPLE_RECORDS: Final = 500
_TYPED_SHARE: Final = 0.6
_STRAY_DATA_SHARE: Final = 0.2
_SECOND_HEADER_NAMES: Final = 2
_PHONE_DIGITS: Final = 7
_NARROW: Final = 3
_DATA: Final = re.compile(
    r"\s*(?:[+(]*\d[\d\s().,:+/\-xX]*|[^\s@]+@[^\s@]+\.\w+|(?:https?://|www\.)\S+)\s*"
)
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
    """
    cells = records.cells
    filled = [at for at, row in enumerate(cells) if not is_blank(row)]
    usual = _usual_width(records, filled)
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
        furniture |= _footers(cells, [record for record in filled if record >= first], usual)
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
    candidates = _before_data(records.cells, filled[:_SEARCHED_RECORDS], usual)
    named = {at: _known_names(records.cells[at]) for at in candidates}
    # One known word alone may be a title; two are a header, however wide the table.
    named = {
        at: names
        for at, names in named.items()
        if names > 1 or _filled(records.cells[at]) >= usual / 2
    }
    best = max(named, key=lambda at: (named[at], -at), default=None)
    if best is not None and named[best]:
        sure = 1.0 if named[best] > 1 else 0.8
        return best, tuple(records.cells[best]), sure
    return _by_contrast(records.cells, filled, candidates, usual)


def _by_contrast(
    cells: list[list[str]], filled: list[int], candidates: list[int], usual: int
) -> tuple[int | None, tuple[str, ...] | None, float]:
    """A header of unknown words: what stands under it is of another kind."""
    at = next((one for one in candidates if _filled(cells[one]) >= max(1, usual / 2)), None)
    if at is None:
        return None, None, 0.8
    row = cells[at]
    below = [cells[one] for one in filled if one > at][:_SAMPLE_RECORDS]
    typed = [column for column in range(usual) if _is_typed(below, column)]
    plain = [column for column in typed if _is_word(row[column : column + 1])]
    if typed and len(plain) * 2 < len(typed):
        return None, None, 0.7
    names = [cell.strip() for cell in row if cell.strip()]
    if len(set(names)) < len(names):
        return None, None, 0.5
    return at, tuple(row), 0.7 if typed else 0.3


def _is_word(cell: Sequence[str]) -> bool:
    return any(text.strip() and not _DATA.fullmatch(text) for text in cell)


def _is_typed(rows: list[list[str]], column: int) -> bool:
    values = [row[column] for row in rows if column < len(row) and row[column].strip()]
    typed = sum(_DATA.fullmatch(value) is not None for value in values)
    return bool(values) and typed >= _TYPED_SHARE * len(values)


def _before_data(cells: list[list[str]], filled: list[int], usual: int) -> list[int]:
    """Records before the first that holds a phone number or an e-mail address like a lead."""
    found: list[int] = []
    for at in filled:
        contacts = sum(map(_is_contact, cells[at]))
        if contacts and _filled(cells[at]) >= min(2, usual):
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
        narrow = len(cells[at]) < usual or (usual >= _NARROW and _filled(cells[at]) == 1)
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


def _footers(cells: list[list[str]], filled: list[int], usual: int) -> dict[int, str]:
    """Totals anywhere, and remarks behind the last lead."""
    found = {at: "footer" for at in filled if _is_remark(cells[at], usual, _SUBTOTAL)}
    for place in range(len(filled) - 1, 0, -1):
        row = cells[filled[place]]
        apart = filled[place] - filled[place - 1] > 1
        lone = _filled(row) == 1 and usual >= _NARROW and (len(row) < usual or (apart and row[0]))
        words = lone and len(" ".join(row).split()) >= _NARROW and not any(map(_is_contact, row))
        if not words and not _is_remark(row, usual, _REMARK):
            break
        found[filled[place]] = "footer"
    return found


def _is_remark(row: Sequence[str], usual: int, words: re.Pattern[str]) -> bool:
    first = next(cell for cell in row if cell.strip())
    if words.match(first) is None or any(map(_is_contact, row)):
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
