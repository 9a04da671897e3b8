"""Which character quotes the cells of a text, which one escapes, and which lines one cell runs over."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from dialframe.leads.lead_file import Dialect, usual_width
from dialframe.leads.reading.parser import BROKEN, CLEAN, STRAY, Scan, scan

#: Characters that have been seen as quotes beside `"`; the last one, an apostrophe, needs less to be one.
_OTHERS: Final = ("~", "`", "|", "^", "*", "%", "$", "'")
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
    text = "\n".join(sample)
    others = [quote for quote in _OTHERS if quote in text and quote not in delimiter]
    for quote in others if delimiter else ():
        if _stands_around(quote, sample, delimiter):
            return quote
    doubles = [at for at, line in enumerate(sample) if '"' in line]
    if not doubles:
        return '"'
    plain_texts = [line.replace('\\"', '""') for line in sample]
    scans = [scan(line, Dialect(delimiter, '"')) for line in plain_texts]
    quoted = _regular(scans, doubles)
    if quoted == len(doubles):
        return '"'
    # A line without quotes is read alike with them and without.
    unquoted = list(scans)
    for at in doubles:
        unquoted[at] = scan(sample[at], Dialect(delimiter, None))
    plain = _regular(unquoted, doubles)
    # Inches: quotes that mean nothing stand in many lines, and open everywhere.
    many = plain >= max(_MANY_LINES, _MANY_SHARE * len(sample))
    if many and plain > _REGULAR_WITHOUT * quoted:
        return None
    return None if plain > quoted and _is_literal(plain_texts, scans, delimiter) else '"'


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


def _stands_around(quote: str, sample: list[str], delimiter: str) -> bool:
    """Whether a quote other than `"` stands around cells: of most lines, or those with a delimiter in them."""
    lines = [line for line in sample if line.count(quote) > 1]
    mark, escaped = re.escape(quote), re.escape(delimiter)
    if quote != "'":
        # A rarer one is believed only around every cell.
        record = re.compile(rf"{mark}[^{mark}]*{mark}(?:{escaped}{mark}[^{mark}]*{mark})+")
        whole = sum(record.fullmatch(line) is not None for line in lines)
        return whole > _BAD_QUOTES_SHARE * len(sample)
    around = re.compile(rf"(?:^|{escaped}\s{{0,9}})'[^']*'(?:\s{{0,9}}{escaped}|$)")
    if sum(around.search(line) is not None for line in lines) > _BAD_QUOTES_SHARE * len(sample):
        return True
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


def _regular(rows: list[Scan], places: list[int]) -> int:
    """How many of the lines at the places have the usual width and quotes that close."""
    width = usual_width(len(row.cells) for row in rows if row.state in (CLEAN, STRAY))
    chosen = (rows[at] for at in places)
    return sum(row.state in (CLEAN, STRAY) and len(row.cells) == width for row in chosen)


def _clean(lines: list[str], dialect: Dialect) -> int:
    return sum(scan(line, dialect).state == CLEAN for line in lines)
