"""Which records of a file are the header, leads, and neither."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeVar

from dialframe.leads.lead_file import Records, check_width
from dialframe.leads.reading.header_row import (
    HeaderChoice,
    filled_cells,
    find_header,
    is_contact,
    known_names,
)

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


class Top(NamedTuple):
    """The header of a file and the widths of its records: what can be known before all are looked into.

    Attributes:
        header: Texts of the header, or None where there is none.
        record: Its record, or None.
        confidence: 0 to 1, of the header.
        filled: Records that are not blank.
        widths: How many of them have each number of cells; damaged ones do not count.
    """

    header: tuple[str, ...] | None
    record: int | None
    confidence: float
    filled: list[int]
    widths: Counter[int]

    @property
    def cells(self) -> int:
        """The most frequent number of cells."""
        return _most_frequent(self.widths)

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
    usual = _most_frequent(widths)
    check_width(usual)
    if own:
        return Top(tuple(cells[0]), 0, 1.0, filled, widths)
    at, header, confidence = find_header(records, filled, choice, usual)
    # Where the header is the first record, there is nothing above it.
    if at and header:
        header = with_groups(cells[at - 1], header)
    return Top(header, at, confidence, filled, widths)


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
    if header and first < len(cells) and not own and _is_second_header(cells[first]):
        preface.append((first, "second_header"))
        first += 1
    # A blank line is a record that is counted: what went in comes out.
    furniture = dict.fromkeys(set(range(first, len(cells))).difference(top.filled), "blank")
    # What this package wrote are records only, whatever they look like.
    if not own:
        below = [record for record in top.filled if record >= first]
        furniture |= _footers(cells, below, usual, leads=_are_leads(cells, below, header))
        furniture |= _repeats(cells, first, header)
    return Layout(
        header=header,
        header_record=at,
        width=top.width,
        usual=top.usual,
        leads=tuple(record for record in range(first, len(cells)) if record not in furniture),
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


def _most_frequent(widths: Counter[int]) -> int:
    """The larger one of two that are as frequent; 1 where there is none."""
    return max(widths, key=lambda width: (widths[width], width), default=1)


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


def _is_second_header(row: Sequence[str]) -> bool:
    return known_names(row) >= _SECOND_HEADER_NAMES and not any(map(is_contact, row))


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


def _are_leads(cells: list[list[str]], below: list[int], header: tuple[str, ...] | None) -> bool:
    """Whether the table is a list of people and numbers, in which a total is no record."""
    if header is not None and known_names(header) > 1:
        return True
    sample = below[:_SAMPLE_RECORDS]
    return sum(any(map(is_contact, cells[at])) for at in sample) * 2 > len(sample)


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
