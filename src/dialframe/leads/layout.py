"""Which records of a file are the header, leads, and neither.

The header holds names that lists have, or words above values of another kind. Titles above a table are
narrower than it; a header is never a record that looks like those below.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeVar

from dialframe.errors import ConfigError
from dialframe.leads import header_vocabulary
from dialframe.leads.lead_file import Records, check_width, usual_width

T = TypeVar("T")

_SAMPLE_RECORDS: Final = 500
_SECOND_HEADER_NAMES: Final = 2
_NARROW: Final = 3
_LEAST_GROUPS: Final = 2
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
#: A footnote below the table.
_NOTE: Final = re.compile(r"[*†‡§]+\s*\S+\s+\S")
#: A count, share or amount, which no phone number is as short as.
_FIGURE: Final = re.compile(r"[-+$€£]?\d{1,3}(?:[.,]\d{1,3})?\s?%?")
#: A cell of the line that a table in Markdown draws under its header.
_RULED: Final = re.compile(r"\s*:?[-=]{2,}:?\s*")
_EOF_MARK: Final = "\x1a"

#: What `header=` may say: find it, there is none, its physical line (1-based), or the names.
HeaderChoice = Literal["auto", "none"] | int | Sequence[str]

_SEARCHED_RECORDS: Final = 30
_TOP_RECORDS: Final = 10
_ABOVE_RECORDS: Final = 2
_TYPED_SHARE: Final = 0.6
_STRAY_DATA_SHARE: Final = 0.2
_PHONE_DIGITS: Final = 7
_LONGEST_VALUE: Final = 200
#: What columns hold, as a header never does: numbers, addresses, codes.
_DATA: Final = re.compile(
    r"\s*(?:[+(]*\d[\d\s().,:+/\-xX]*|[^\s@]+@[^\s@]+\.\w+|(?:https?://|www\.)\S+)\s*"
)
_CODE: Final = re.compile(r"\s*(?=[\w\-./:]*\d)[\w\-./:]*[\-./:\d][\w\-./:]*\s*")
_NO_VALUE: Final = re.compile(r"\s*(?:[-–—.?*]+|n/?a|null|none|nan|true|false)\s*", re.IGNORECASE)
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_SENTENCE: Final = re.compile(r"\S+(?:\s+\S+){4,}[.!]")
_CONTACT: Final = re.compile(r"\s*(?:[+(]*\d[\d\s().+/\-]*(?:x\d+)?|[^\s@]+@[^\s@]+\.\w+)\s*")
#: It has the digits and the signs of a phone number.
_DATE: Final = re.compile(r"\s*(?:\d{4}-\d\d?-\d\d?|\d\d?[./-]\d\d?[./-]\d{2,4})\b.*")


@dataclass(frozen=True, slots=True)
class Layout:
    """Where what stands.

    Attributes:
        header: Texts of the header, or None where there is none.
        header_record: Its record, or None.
        width: Columns of the table.
        usual: Cells that a usual record has; records with fewer are short.
        preface: Records before the first lead with their code (`preamble`, `second_header`).
        furniture: Records behind it that are no leads, with their code (`blank`, `footer`,
            `repeated_header`).
        confidence: 0 to 1, of the header.
    """

    header: tuple[str, ...] | None
    header_record: int | None
    width: int
    usual: int
    preface: tuple[tuple[int, str], ...]
    furniture: tuple[tuple[int, str], ...]
    confidence: float


class Top(NamedTuple):
    """The header of a file and the widths of its records: what can be known before all are looked into.

    Attributes:
        header: Texts of the header, or None where there is none.
        record: Its record, or None.
        confidence: 0 to 1, of the header.
        filled: Records that are not blank.
        widths: How many of them have each number of cells; damaged ones do not count.
        cells: The most frequent number of cells; 1 where there is no record.
    """

    header: tuple[str, ...] | None
    record: int | None
    confidence: float
    filled: list[int]
    widths: Counter[int]
    cells: int

    @property
    def width(self) -> int:
        """Columns of the table."""
        return max(self.cells, len(self.header or ()))

    @property
    def usual(self) -> int:
        """Cells that a usual record has."""
        return min(self.cells, len(self.header)) if self.header else self.cells


def find_top(records: Records, choice: HeaderChoice = "auto", *, own: bool = False) -> Top:
    """Find the header; see `lay_out`."""
    cells = records.cells
    filled = [at for at, blank in enumerate(asked_once(cells, is_blank)) if not blank]
    # A damaged record has the cells that its damage left.
    widths = Counter(len(cells[at]) for at in filled if at not in records.faults)
    usual = usual_width(widths) or 1
    check_width(usual)
    if own:
        return Top(tuple(cells[0]), 0, 1.0, filled, widths, usual)
    at, header, confidence = find_header(records, filled, choice, usual)
    # Where the header is the first record, there is nothing above it.
    if at and header:
        header = with_groups(cells[at - 1], header)
    return Top(header, at, confidence, filled, widths, usual)


def lay_out(
    records: Records, choice: HeaderChoice = "auto", *, own: bool = False, top: Top | None = None
) -> Layout:
    """The layout of the records.

    Args:
        records: All records of the file.
        choice: Where the header is, if it is known.
        own: Whether this package wrote the file: the first record is the header, and no record
            behind it is a remark.
        top: What `find_top` gives for the same, where that is known.

    Raises:
        ConfigError: No record begins on the line given.
        LeadFileError: The table has too many columns.
    """
    top = top or find_top(records, choice, own=own)
    cells, header, at, usual = records.cells, top.header, top.record, top.cells
    # Titles above a table without a header look like nothing but narrow records.
    first = at + 1 if at is not None else _first_lead(cells, top.filled, usual, choice)
    preface = [(record, "preamble") for record in range(first) if record != at]
    if header and first < len(cells) and not own:
        # Technical names above, words for people below.
        names = known_names(cells[first])
        if names >= _SECOND_HEADER_NAMES and not any(map(is_contact, cells[first])):
            preface.append((first, "second_header"))
            first += 1
    # A blank line is a record that is counted: what went in comes out.
    furniture = dict.fromkeys(set(range(first, len(cells))).difference(top.filled), "blank")
    # What this package wrote are records only, whatever they look like.
    if not own:
        below = [record for record in top.filled if record >= first]
        # In a list of people and numbers a total is no record.
        is_list = header is not None and known_names(header) > 1
        if not is_list:
            sample = below[:_SAMPLE_RECORDS]
            is_list = sum(any(map(is_contact, cells[at])) for at in sample) * 2 > len(sample)
        furniture |= _footers(cells, below, usual, leads=is_list)
        furniture |= _repeats(cells, first, header)
    return Layout(
        header=header,
        header_record=at,
        width=top.width,
        usual=top.usual,
        preface=tuple(preface),
        furniture=tuple(sorted(furniture.items())),
        confidence=top.confidence,
    )


def asked_once(rows: Iterable[list[str]], ask: Callable[[list[str]], T]) -> Iterator[T]:
    """What is to be said of each row, asked once for the equal lines of a run: they share their cells."""
    last: list[str] | None = None
    for row in rows:
        # By identity: the parser gives equal lines of a run one list.
        if row is not last:
            last, answer = row, ask(row)
        yield answer


def is_blank(cells: Sequence[str]) -> bool:
    """Whether no cell holds more than white space."""
    return not any(cell and cell != _EOF_MARK and not cell.isspace() for cell in cells)


def _first_lead(
    cells: list[list[str]], filled: list[int], usual: int, choice: HeaderChoice
) -> int:
    """First record of a file without a header: titles above the table are narrower than it."""
    # Who says that there is no header says that the first record is a lead.
    if choice != "auto":
        return 0
    for at in filled:
        count = filled_cells(cells[at])
        narrow = count * 2 <= usual and (
            len(cells[at]) < usual or (usual >= _NARROW and count == 1)
        )
        if not narrow or any(map(is_contact, cells[at])):
            return at
    return 0


def with_groups(above: Sequence[str], header: tuple[str, ...]) -> tuple[str, ...]:
    """A header whose repeated and empty names say in the row above of what they are.

    `Home`, blank, `Work`, blank over `Phone`, `City`, `Phone`, `City` are `Home Phone`, `Home City`
    and so on; a title above the table is no such row.

    Args:
        above: The record just above the header.
        header: The header.
    """
    names = [name.strip().casefold() for name in header]
    names_above = [cell.strip() for cell in above]
    doubtful = [not name or names.count(name) > 1 for name in names]
    groups = {cell for cell in names_above if cell}
    # One group over all columns is a title.
    if len(groups) < _LEAST_GROUPS or len(names_above) > len(header) or not any(doubtful):
        return header
    if any(map(is_contact, names_above)):
        return header
    joined: list[str] = []
    group = ""
    for index, name in enumerate(header):
        # A merged cell has its text in the first of its columns.
        group = (names_above[index] if index < len(names_above) else "") or group
        joined.append(f"{group} {name}".strip() if doubtful[index] and group else name)
    return tuple(joined)


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
    if best is not None and named[best]:
        # Above stand titles, not records as full as it; a column without a name stands in many headers.
        full = max(filled_cells(records.cells[best]) - 1, _NARROW)
        above = [at for at in candidates if at < best]
        if sum(filled_cells(records.cells[at]) >= full for at in above) <= 1:
            return best, tuple(records.cells[best]), 1.0 if named[best] > 1 else 0.8
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
    typed = {column: kind for column, kind in kinds.items() if kind is not None}
    # Names that are no values of their columns, against values that are, or stand for none.
    named = alike = 0
    for column, kind in typed.items():
        if column < len(row) and row[column].strip():
            is_value = _is_match(kind, row[column]) or _is_match(_NO_VALUE, row[column])
            named, alike = named + (not is_value), alike + is_value
    if typed and named <= alike and not _are_years(row, below, typed):
        return None, None, 0.7
    if typed:
        return at, tuple(row), 0.7
    if _is_record(row, below):
        return None, None, 0.5
    return at, tuple(row), 0.3


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


def _are_years(row: Sequence[str], below: list[list[str]], columns: Collection[int]) -> bool:
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


def _repeats(cells: list[list[str]], first: int, header: tuple[str, ...] | None) -> dict[int, str]:
    if header is None:
        return {}
    names = [name.strip().casefold() for name in header]
    return {
        at: "repeated_header"
        for at in range(first, len(cells))
        # The first cell decides for nearly every record, and saves comparing the others.
        if cells[at]
        and cells[at][0].strip().casefold() == names[0]
        and [cell.strip().casefold() for cell in cells[at]] == names
        and any(names)
    }


def _footers(
    cells: list[list[str]], filled: list[int], usual: int, *, leads: bool
) -> dict[int, str]:
    """Totals anywhere in a list of leads, and remarks behind the last record."""
    rows = [cells[at] for at in filled]
    comments = asked_once(rows if usual > 1 else (), _is_comment)
    footers = {at: "footer" for at, is_one in zip(filled, comments, strict=False) if is_one}
    if leads:
        totals = asked_once(rows, lambda row: _is_remark(row, usual, _SUBTOTAL))
        footers |= {at: "footer" for at, is_one in zip(filled, totals, strict=True) if is_one}
    # From the end up to the first record that may be a lead.
    for index in range(len(filled) - 1, 0, -1):
        if filled[index] in footers:
            continue
        row = cells[filled[index]]
        # A blank line sets apart what stands below it.
        apart = filled[index] - filled[index - 1] > 1
        lone = (
            filled_cells(row) == 1
            and usual >= _NARROW
            and (len(row) < usual or (apart and row[0]))
        )
        words = lone and len(" ".join(row).split()) >= _NARROW and not any(map(is_contact, row))
        remark = (leads or len(row) < usual) and _is_remark(row, usual, _REMARK)
        if not words and not remark:
            break
        footers[filled[index]] = "footer"
    if leads:
        footers |= dict.fromkeys(_tables_below(cells, filled, usual), "footer")
    return footers


def _tables_below(cells: list[list[str]], filled: list[int], usual: int) -> list[int]:
    """Records of other tables below the list: behind a blank line, and no contact among them.

    Their rows are of another width, or begin with names over columns of short figures. Anything
    that might be a lead ends them.
    """
    below: list[int] = []
    block: list[int] = []
    for index in range(len(filled) - 1, 0, -1):
        if any(map(is_contact, cells[filled[index]])):
            break
        block.append(filled[index])
        if filled[index] - filled[index - 1] > 1:
            rows = [cells[at] for at in reversed(block)]
            other = all(len(row) != usual for row in rows)
            if not other and not _has_figures(rows):
                break
            below += block
            block = []
    return below


def _has_figures(rows: Sequence[Sequence[str]]) -> bool:
    """Whether names stand over short figures, perhaps below a title."""
    head, *body = rows[1:] if filled_cells(rows[0]) == 1 < len(rows) else rows
    named = [at for at, cell in enumerate(head) if cell.strip()]
    if not body or len(named) <= 1 or any(char.isdecimal() for cell in head for char in cell):
        return False
    columns = [[row[at].strip() if at < len(row) else "" for row in body] for at in named]
    return any(all(map(_FIGURE.fullmatch, column)) for column in columns)


def _is_comment(row: Sequence[str]) -> bool:
    for cell in row:
        if cell.strip() and not _RULED.fullmatch(cell):
            break
    else:
        return len(row) > 1
    return len(row) == 1 and _COMMENT.match(row[0]) is not None and not any(map(is_contact, row))


def _is_remark(row: Sequence[str], usual: int, words: re.Pattern[str]) -> bool:
    first = next(cell for cell in row if cell.strip())
    counted = words is _REMARK and _COUNTED.fullmatch(first) is not None
    noted = words is _REMARK and len(row) == 1 and _NOTE.match(first) is not None
    if not (words.match(first) or counted or noted) or any(map(is_contact, row)):
        return False
    # A record that begins with `Total` may be a firm of that name.
    return filled_cells(row) <= max(_NARROW, usual // 2)
