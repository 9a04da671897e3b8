"""Which character quotes the cells of a text, which one escapes, and which lines one cell runs over."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from dialframe.leads.lead_file import Dialect
from dialframe.leads.reading.parser import BROKEN, CLEAN, STRAY, Scan, scan

#: Characters that have been seen as quotes beside `"`, the more usual first.
_OTHERS: Final = ("'", "~", "`", "|", "^", "*", "%", "$")
_BAD_QUOTES_SHARE: Final = 0.5
_REGULAR_WITHOUT: Final = 3
_MANY_LINES: Final = 5
_MANY_SHARE: Final = 0.2
_LONGEST_CELL_LINES: Final = 100
_LITERAL_LINES: Final = 2
_REGULAR_SHARE: Final = 0.8

#: A quote at the beginning of a cell that is still open at the end of the line.
_OPENS: Final = re.compile(r'(?:^|[^\w\s"]|\t)\s{0,9}"[^"]*(?:""[^"]*)*$')
#: The line that it closes on: nothing but text before the quote, the end of a cell behind it.
_CLOSES: Final = re.compile(r'[^"]*(?:""[^"]*)*"\s*(?:[^\w\s"]|\t|$)')


def joined(lines: Sequence[str], *, inside: bool) -> list[str]:
    """Lines with those of one quoted cell put together.

    Args:
        lines: Physical lines that follow each other.
        inside: Whether the first of them may stand in the middle of a cell.
    """
    # An escaped quote neither opens nor closes a cell.
    plain = [line.replace('\\"', '""') if "\\" in line else line for line in lines]
    odd = [at for at, line in enumerate(plain) if line.count('"') % 2]
    at = 0
    if inside and odd and not _OPENS.search(plain[odd[0]]) and _CLOSES.match(plain[odd[0]]):
        at = odd[0] + 1
    records: list[str] = []
    odds = iter([*odd, len(lines)])
    following = next(odds)
    while at < len(lines):
        while following < at:
            following = next(odds)
        stop = at + 1
        if at == following and _OPENS.search(plain[at]):
            close = next(odds)
            # Two lines with a single quote each may be two accidents.
            if close < min(len(lines), at + _LONGEST_CELL_LINES) and _CLOSES.match(plain[close]):
                stop = close + 1
            following = close
        records.append("\n".join(lines[at:stop]))
        at = stop
    return records


def quote_of(sample: list[str], delimiter: str) -> str | None:
    """The quote: `"` unless records are regular only without, another where only that one is used."""
    doubles = [at for at, line in enumerate(sample) if '"' in line]
    other = _other_quote(sample, delimiter) if delimiter else None
    if other is not None:
        return other
    if delimiter and _is_apostrophe(sample, delimiter):
        return "'"
    if not doubles:
        return '"'
    plain_texts = [line.replace('\\"', '""') for line in sample]
    scans = [scan(line, Dialect(delimiter, '"')) for line in plain_texts]
    quoted = _regular(scans, doubles)
    if quoted == len(doubles):
        return '"'
    plain = _regular([scan(line, Dialect(delimiter, None)) for line in sample], doubles)
    # Inches: quotes that mean nothing stand in many lines, and open everywhere.
    many = plain >= max(_MANY_LINES, _MANY_SHARE * len(sample))
    if many and plain > _REGULAR_WITHOUT * quoted:
        return None
    return None if plain > quoted and _is_literal(plain_texts, scans, delimiter) else '"'


def _is_apostrophe(sample: list[str], delimiter: str) -> bool:
    """Whether cells in `'` hold delimiters, and records are regular with it as quote."""
    escaped = re.escape(delimiter)
    cell = re.compile(
        rf"(?:^|{escaped}[ \t]{{0,9}}+)'((?:[^']++|'')*+)'(?=[ \t]{{0,9}}+(?:{escaped}|$))"
    )
    places = [
        at
        for at, line in enumerate(sample)
        if any(delimiter in match[1] for match in cell.finditer(line))
    ]
    if len(places) < _LITERAL_LINES:
        return False
    regular = _regular([scan(line, Dialect(delimiter, "'")) for line in sample], places)
    return regular >= _REGULAR_SHARE * len(places)


def _is_literal(sample: list[str], scans: list[Scan], delimiter: str) -> bool:
    """Whether quotes stand in pairs around words inside cells, and hardly around whole cells."""
    words = sum(
        row.state == BROKEN and line.count('"') % 2 == 0
        for line, row in zip(sample, scans, strict=True)
    )
    if words < _LITERAL_LINES:
        return False
    escaped = re.escape(delimiter)
    cell = re.compile(rf'(?:^|{escaped})\s{{0,9}}"[^"]*(?:""[^"]*)*"\s{{0,9}}(?:{escaped}|$)')
    return sum(cell.search(line) is not None for line in sample) < words


def escape_of(sample: list[str], delimiter: str, quote: str | None) -> str | None:
    """The backslash, where it takes a quote's or a delimiter's meaning away; it does so more cleanly."""
    if quote is not None and any(f"\\{quote}" in line for line in sample):
        marked = [line for line in sample if f"\\{quote}" in line]
        # Quotes at the edge of a cell are doubled there, so that the backslash is a backslash.
        if any(quote * 3 in line for line in sample):
            return None
        escaped = Dialect(delimiter, quote, escape="\\")
        return (
            "\\" if _clean(marked, escaped) > _clean(marked, Dialect(delimiter, quote)) else None
        )
    places = [at for at, line in enumerate(sample) if delimiter and f"\\{delimiter}" in line]
    if len(places) < _LITERAL_LINES:
        return None
    every = list(range(len(sample)))
    plain = _regular([scan(line, Dialect(delimiter, quote)) for line in sample], every)
    escaped = Dialect(delimiter, quote, escape="\\")
    regular = _regular([scan(line, escaped) for line in sample], every)
    return "\\" if regular > plain else None


def _other_quote(sample: list[str], delimiter: str) -> str | None:
    """A quote other than `"` that stands around cells of most lines."""
    escaped = re.escape(delimiter)
    for quote in _OTHERS:
        lines = [line for line in sample if line.count(quote) > 1]
        if quote in delimiter or not lines:
            continue
        mark = re.escape(quote)
        if quote == "'":
            opening = re.compile(
                rf"(?:^|{escaped}\s{{0,9}}){mark}[^{mark}]*{mark}(?:\s{{0,9}}{escaped}|$)"
            )
            count = sum(opening.search(line) is not None for line in lines)
        else:
            # A rarer one is believed only around every cell.
            whole = re.compile(rf"{mark}[^{mark}]*{mark}(?:{escaped}{mark}[^{mark}]*{mark})+")
            count = sum(whole.fullmatch(line) is not None for line in lines)
        if count > _BAD_QUOTES_SHARE * max(1, len(sample)):
            return quote
    return None


def _regular(rows: list[Scan], places: list[int]) -> int:
    """How many of the lines at the places have the usual width and quotes that close."""
    widths = Counter(len(row.cells) for row in rows if row.state in (CLEAN, STRAY))
    width = max(widths, key=lambda each: (widths[each], each)) if widths else 0
    chosen = (rows[at] for at in places)
    return sum(row.state in (CLEAN, STRAY) and len(row.cells) == width for row in chosen)


def _clean(lines: list[str], dialect: Dialect) -> int:
    return sum(scan(line, dialect).state == CLEAN for line in lines)
