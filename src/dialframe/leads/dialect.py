"""The dialect of a text file found from its lines; knows how cells of lists look, not what they mean.

Each character that could be a delimiter is tried on lines spread over the file. Its score is the
share of lines with the usual number of cells, times the share of cells that look like something a
list holds (a name, a number, an address), times how much that character is to be expected. One
column is a valid answer too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from dialframe.leads.headers import known
from dialframe.leads.parser import CLEAN, STRAY, Scan, scan
from dialframe.leads.records import Dialect, Shape, has_many_digits

#: Characters that may be delimiters and how much each is to be expected; others score `_UNUSUAL`.
EXPECTED: Final[dict[str, float]] = {
    ",": 1.0,
    ";": 1.0,
    "\t": 1.0,
    "|": 1.0,
    "¬": 0.95,
    "¦": 0.95,
    "\x1f": 0.95,
    "\x01": 0.95,
    "^": 0.9,
    "~": 0.9,
    "#": 0.85,
    "§": 0.85,
    ":": 0.75,
    " ": 0.45,
}
_UNUSUAL: Final = 0.6
#: Characters that stand inside names, numbers and addresses and delimit nothing.
_NEVER: Final = frozenset("\"'._-@/()+&\\`’‘“”\u00a0\u3000\u200b\ufeff\x00")
_SEP_LINE: Final = re.compile(r'"?sep=(?P<delimiter>[^"\r\n]{1,3})"?\s*', re.IGNORECASE)

_TYPED: Final = re.compile(
    r"""\s*(?:
      [+\-(]*\d[\d\s().+/\-xX]*%?                                 # phone, number, date, time
      | \d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?Z?
      | \d{1,2}:\d\d(?::\d\d)?
      | [€$£¥]?\s?\d[\d.,]*\s?[€$£¥%]?
      | [^\s@,;|]+@[^\s@,;|]+\.\w+                                 # e-mail
      | (?:https?://|www\.)\S+
      | [\w"'“„‘(\[][\w ."'’´&\[\]/()+\-\#:!?*%°ªº“”„·\u00a0–—…\u3000-\u30ff]*(?:,\s[\w .'’&/()+\-]+)*
    )?\s*""",
    re.VERBOSE,
)
_STRONG: Final = re.compile(r"\s*(?:[+(]*\d[\d\s().+/\-xX]{5,}|[^\s@,;|]+@[^\s@,;|]+\.\w+)\s*")

_SAMPLE_LINES: Final = 600
_LONGEST_LINE: Final = 20_000
_LEAST_CONSISTENT: Final = 0.3
_HEADER_BONUS: Final = 0.3
_HEADER_LINES: Final = 20
_SPACED_SHARE: Final = 0.9
_COLUMN_SHARE: Final = 0.8
_BAD_QUOTES_SHARE: Final = 0.5
_REGULAR_WITHOUT: Final = 3
_MANY_LINES: Final = 5
_MANY_SHARE: Final = 0.2
_ONE_COLUMN_STRONG: Final = 0.9
_ONE_COLUMN_WEAK: Final = 0.25


@dataclass(frozen=True, slots=True)
class Found:
    """A dialect and how sure it is.

    Attributes:
        dialect: The dialect.
        shape: What a usual record looks like in it.
        confidence: 0 to 1; low where another delimiter fits nearly as well.
        runner_up: The next best delimiter with its score, or None.
        sep_line: Whether the first line names the delimiter (`sep=;`) and is no record.
    """

    dialect: Dialect
    shape: Shape
    confidence: float
    runner_up: str | None = None
    sep_line: bool = False


def detect(lines: Sequence[str], delimiter: str | None = None, quote: str | None = None) -> Found:
    """The dialect of the lines.

    Args:
        lines: Physical lines of the whole file.
        delimiter: The delimiter where it is known (empty for one column).
        quote: The quote character where it is known.
    """
    named = _SEP_LINE.fullmatch(lines[0]) if lines else None
    sample = _sample(lines[1:] if named else lines)
    if delimiter is None and named:
        delimiter = named["delimiter"]
    if delimiter is not None:
        dialect = _finish(delimiter, sample, quote)
        return Found(dialect, _shape(sample, dialect), 1.0, sep_line=bool(named))
    scores = {one: _score(sample, one, quote) for one in _candidates(sample)}
    scores[""] = _one_column(sample)
    best, *others = sorted(scores, key=lambda one: -scores[one])
    rivals = [one for one in others if one and scores[one] > 0]
    second = scores[rivals[0]] if rivals else 0.0
    dialect = _finish(best, sample, quote)
    return Found(
        dialect,
        _shape(sample, dialect),
        confidence=round(1.0 - second / scores[best], 2),
        runner_up=f"{rivals[0]!r} ({second:.2f})" if rivals else None,
        sep_line=bool(named),
    )


def _sample(lines: Sequence[str]) -> list[str]:
    """The first lines and as many spread over the rest, without blank and endless ones."""
    half = _SAMPLE_LINES // 2
    step = max(1, len(lines) // half)
    chosen = [*lines[:half], *lines[half::step]]
    usable = (line.replace("\x00", "") for line in chosen if len(line) <= _LONGEST_LINE)
    return [line for line in usable if line.strip()]


def _candidates(sample: list[str]) -> list[str]:
    counts = Counter(char for line in sample for char in set(line))
    return sorted(
        char
        for char, lines in counts.items()
        if lines >= _LEAST_CONSISTENT * len(sample) and not char.isalnum() and char not in _NEVER
    )


def _score(sample: list[str], delimiter: str, quote: str | None) -> float:
    dialect = Dialect(delimiter, quote or _quote(sample, delimiter))
    rows = [row.cells for row in _scans(sample, dialect) if row.state in (CLEAN, STRAY)]
    width = _width([row for row in rows if len(row) > 1])
    usual = [row for row in rows if len(row) == width]
    consistent = len(usual) / max(1, len(rows))
    if width < 2 or consistent < _LEAST_CONSISTENT:
        return 0.0
    # Headers have brackets, stars and colons that no value has.
    cells = [cell for row in usual[1:] or usual for cell in row]
    typed = sum(_TYPED.fullmatch(cell) is not None for cell in cells) / len(cells)
    filled = sum(any(cell.strip() for cell in column) for column in zip(*usual, strict=True))
    columns = (max(filled, 2) - 1) / max(filled, 2)
    score = EXPECTED.get(delimiter, _UNUSUAL) * consistent * typed**2 * columns
    return score + (_HEADER_BONUS if _has_header(rows) else 0.0)


def _has_header(rows: list[list[str]]) -> bool:
    """Whether one of the first lines falls into two or more names that lists have."""
    return any(len({known(cell) for cell in row} - {None}) > 1 for row in rows[:_HEADER_LINES])


def _one_column(sample: list[str]) -> float:
    """How well the lines read as one column: all phones, all e-mail addresses, or just words."""
    if not sample:
        return _ONE_COLUMN_WEAK
    strong = sum(_STRONG.fullmatch(line.strip('"')) is not None for line in sample) / len(sample)
    return max(_ONE_COLUMN_STRONG * strong, _ONE_COLUMN_WEAK)


def _finish(delimiter: str, sample: list[str], quote: str | None) -> Dialect:
    """The dialect with everything that follows from the delimiter."""
    own_quote = quote or _quote(sample, delimiter)
    doubled = delimiter * 2 if _is_doubled(sample, delimiter) else delimiter
    plain = Dialect(doubled, own_quote)
    if own_quote is not None and _wants_escape(sample, plain, own_quote):
        plain = Dialect(doubled, own_quote, escape="\\")
    spaced = bool(delimiter.strip()) and _is_spaced(sample, doubled, own_quote)
    return Dialect(plain.delimiter, plain.quote, plain.escape, skip_space=spaced)


def _quote(sample: list[str], delimiter: str) -> str | None:
    """The quote: `"` unless records are regular only without, `'` where only that one is used."""
    doubles = [at for at, line in enumerate(sample) if '"' in line]
    if doubles:
        quoted = _regular(_scans(sample, Dialect(delimiter, '"')), doubles)
        plain = _regular(_scans(sample, Dialect(delimiter, None)), doubles)
        many = plain >= max(_MANY_LINES, _MANY_SHARE * len(sample))
        return None if many and plain > _REGULAR_WITHOUT * quoted else '"'
    if not delimiter:
        return '"'
    opening = re.compile(rf"(?:^|{re.escape(delimiter)})'[^']*'(?:{re.escape(delimiter)}|$)")
    singles = sum(opening.search(line) is not None for line in sample)
    return "'" if singles > _BAD_QUOTES_SHARE * max(1, len(sample)) else '"'


def _regular(rows: list[Scan], places: list[int]) -> int:
    """How many of the lines at the places have the usual width and quotes that close."""
    width = _width([row.cells for row in rows if row.state in (CLEAN, STRAY)])
    own = (rows[at] for at in places)
    return sum(row.state in (CLEAN, STRAY) and len(row.cells) == width for row in own)


def _wants_escape(sample: list[str], dialect: Dialect, quote: str) -> bool:
    """Whether a backslash takes the quote's meaning away: it does so more cleanly than not."""
    marked = [line for line in sample if f"\\{quote}" in line]
    if not marked or any(quote * 3 in line for line in sample):
        return False
    escaped = Dialect(dialect.delimiter, quote, escape="\\")
    return _clean(marked, escaped) > _clean(marked, dialect)


def _clean(lines: list[str], dialect: Dialect) -> int:
    return sum(row.state == CLEAN for row in _scans(lines, dialect))


def _is_doubled(sample: list[str], delimiter: str) -> bool:
    """Whether the delimiter always stands twice, as in `name||phone||mail`."""
    if not delimiter.strip() or not sample:
        return False
    return all(
        line.count(delimiter) == 2 * line.count(delimiter * 2) and delimiter * 2 in line
        for line in sample
    )


def _is_spaced(sample: list[str], delimiter: str, quote: str | None) -> bool:
    """Whether a blank behind the delimiter belongs to it, as in `name, phone, mail`."""
    if quote and any(f"{delimiter} {quote}" in line for line in sample):
        return not any(f"{delimiter}{quote}" in line for line in sample)
    total = sum(line.count(delimiter) for line in sample)
    spaced = sum(line.count(f"{delimiter} ") + line.endswith(delimiter) for line in sample)
    return total > 0 and spaced >= _SPACED_SHARE * total


def _shape(sample: list[str], dialect: Dialect) -> Shape:
    rows = [row.cells for row in _scans(sample, dialect) if row.state == CLEAN]
    width = _width([row for row in rows if len(row) > 1 or not dialect.delimiter])
    # The first of them is most likely the header.
    usual = [row for row in rows if len(row) == width][1:]
    share = _COLUMN_SHARE * len(usual)
    columns = list(zip(*usual, strict=True))
    return Shape(
        width,
        digits=tuple(
            at for at, cells in enumerate(columns) if sum(map(has_many_digits, cells)) >= share
        ),
        ats=tuple(
            at for at, cells in enumerate(columns) if sum("@" in cell for cell in cells) >= share
        ),
    )


def _scans(lines: list[str], dialect: Dialect) -> list[Scan]:
    return [scan(line, dialect) for line in lines]


def _width(rows: list[list[str]]) -> int:
    """The usual number of cells; the larger one of two equally usual ones."""
    widths = Counter(len(row) for row in rows)
    return max(widths, key=lambda width: (widths[width], width)) if widths else 0
