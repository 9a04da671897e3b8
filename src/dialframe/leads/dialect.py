"""The dialect of a text file found from its lines: delimiter, quote, escape, fixed widths."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import resources
from typing import Final

from dialframe.errors import ConfigError
from dialframe.leads.header_vocabulary import known
from dialframe.leads.lead_file import (
    MOST_COLUMNS,
    Decisions,
    Dialect,
    Shape,
    has_many_digits,
    usual_width,
)
from dialframe.leads.parser import BROKEN, CLEAN, STRAY, Scan, scan

#: Characters that have been seen as quotes beside `"`; the last one, an apostrophe, needs less to be one.
_OTHERS: Final = ("~", "`", "|", "^", "*", "%", "$", "'")
_BAD_QUOTES_SHARE: Final = 0.5
_REGULAR_WITHOUT: Final = 3
_MANY_LINES: Final = 5
_MANY_SHARE: Final = 0.2
_LONGEST_CELL_LINES: Final = 100
_LITERAL_LINES: Final = 2
_QUOTED_REGULAR_SHARE: Final = 0.8

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
    return regular >= _QUOTED_REGULAR_SHARE * len(places)


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


_TABLES: Final = tomllib.loads(
    resources.files(__package__).joinpath("delimiters.toml").read_text(encoding="utf-8")
)
#: Characters that may be delimiters and how much each is to be expected; others score `_UNUSUAL`.
EXPECTED: Final[dict[str, float]] = _TABLES["expected"]
#: What people call a delimiter that is hard to type.
WORDS: Final[dict[str, str]] = _TABLES["words"]
_UNUSUAL: Final = 0.5
_LONG_EXPECTED: Final = 0.9
_LONG_SIGN: Final = re.compile(r"[^\w\s\"'.,()@+\-/]{2,3}")
#: Characters that stand inside names, numbers and addresses and delimit nothing.
_NEVER: Final = frozenset("\"'._-@/()+&\\`’‘“”[]{}<>?\u00a0\u3000\u200b\ufeff\x00\r\n")
_SEP_LINE: Final = re.compile(r'"?sep=(?P<delimiter>[^"\r\n]{1,3})"?\s*', re.IGNORECASE)

#: A line that is one quoted cell, and delimiters that may be inside.
_WRAPPED: Final = re.compile(r'\s*"(?:[^"]|"")*"\s*')
_USUAL: Final = (",", ";", "\t", "|")
#: A line that is one telephone number, of 7 to 15 digits (E.164, 6.1).
_ONE_PHONE: Final = re.compile(r"\s*\+?\(?(?:\d[\s().\-/]{0,3}){7,15}\s*")

_SAMPLE_CHARS: Final = 2**18
_LEAST_CONSISTENT: Final = 0.3
_HEADER_BONUS: Final = 0.3
_HEADER_LINES: Final = 20
_SPACED_SHARE: Final = 0.9
_NUMBERS_BONUS: Final = 0.45
_LOOSE: Final = 0.4
_COLUMN_SHARE: Final = 0.8
_ONE_COLUMN_STRONG: Final = 0.9
_ONE_COLUMN_WEAK: Final = 0.25
_FIXED_BELOW: Final = 0.6
_LONGEST_DELIMITER: Final = 3

# What a cell or a line of a table may look like, by its characters.
_NUMBER: Final = re.compile(
    r"\s*[+\-]?(?:[€$£¥]\s?)?\(?[+\-]?(?:\d+(?:[.,'’]\d+)*\.?|\.\d+)\)?(?:[eE][+\-]?\d+)?\s?[€$£¥%]?\s*"
)
_CELL: Final = re.compile(
    r"""\s*(?:
      [+\-(]*\d[\d\s().+/\-xX]*%?                                 # phone, number, date, time
      | [+\-]?\d*[.,]?\d+(?:[eE][+\-]?\d+)
      | \d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+\-]\d\d:?\d\d)?
      | \d{1,2}:\d\d(?::\d\d)?(?:\.\d+)?
      | [€$£¥]?\s?[+\-]?\d+(?:[.,]\d+)*\s?[€$£¥%]?
      | [^\s@,;|]+@[^\s@,;|]+\.\w+                                 # e-mail
      | (?:(?:https?|ftp)://|www\.)[^\s;|"]+
      | [@\#]\w+ | [-–—*?.…]{1,5}                                  # a handle, a mark for none
      | ~?(?:/|[A-Za-z]:\\)[\w./\\~+ \-]*                          # a path
      | [\w"'“„‘(\[¿¡*][\w ."'’´&\[\]/()+\-\#:!?*%°ªº“”„·\u00a0–—…\u3000-\u30ff]*(?:,\s[\w .'’&/()+\-!?:]+)*
    )?\s*""",
    re.VERBOSE,
)
#: Lines that are one value although they hold what could be a delimiter.
_WHOLE: Final = re.compile(
    r"""\s*(?:
      [^\s@,;|]+@[^\s@,;|]+\.\w+
      | (?:(?:https?|ftp)://|www\.)[^\s;|",]+
      | [\w.+\-]+                                                  # a word, a code, a number
      | [+\-]?[€$£¥]?\s?\d+(?:,\d{3})+(?:\.\d+)?
      | \d{4}-\d\d?-\d\d?(?:[T ]\d\d?:\d\d(?::\d\d)?(?:\.\d+)?\s?(?:Z|[+\-]\d\d:?\d\d)?)?
      | \d\d?[./\-]\d\d?[./\-]\d{2,4}(?:\s\d\d?:\d\d(?::\d\d)?(?:\s?[AaPp][Mm])?)?
      | \d\d?:\d\d(?::\d\d)?(?:\.\d+)?(?:\s?[AaPp][Mm])?
      | \d\d?\s[A-Za-z]{3,9}\.?,?\s\d{4} | [A-Z][a-z]{2,8}\s\d\d?,?\s\d{4}
      | [A-Z][a-z]{2},?\s\d\d?\s[A-Z][a-z]{2}\s\d{4}\s\d\d:\d\d:\d\d.*
      | [0-9a-fA-F]{1,4}(?::[0-9a-fA-F]{0,4}){5,7}
      | ~?(?:/|[A-Za-z]:\\)[^\s,;|\t]*
    )\s*""",
    re.VERBOSE,
)
_PHONE: Final = re.compile(r"\s*[+(]*\d[\d\s().+/\-]*(?:\s?(?:x|ext\.?)\s?\d+)?\s*")
_PHONE_DIGITS: Final = range(7, 16)
_LONGEST_PHONE: Final = 40
_DIGIT: Final = re.compile(r"\d")
_DIGITS: Final = re.compile(r"\d+")
#: Coordinates and measures, several to a line.
_DECIMALS: Final = re.compile(r"\d\.\d+\s")
#: In longer records quotes are not looked for around each cell, which would take the square of it.
_LONGEST_TEXT: Final = 20_000
#: Cells that are looked at to judge a dialect.
_MOST_CELLS: Final = 12_000
#: Longer cells are sentences, which no pattern tells apart from what they are cut out of.
_LONG: Final = 2_000
_REGULAR_SHARE: Final = 0.9
_SAME_GROUPS_SHARE: Final = 0.5


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

    def noted_in(self, known: Decisions) -> Decisions:
        """What was decided about a file, with the dialect."""
        return replace(
            known,
            format="tsv" if self.dialect.delimiter == "\t" else "csv",
            dialect=self.dialect,
            delimiter_confidence=self.confidence,
            delimiter_runner_up=self.runner_up,
        )


def detect(
    runs: Sequence[Sequence[str]], delimiter: str | None = None, quote: str | None = None
) -> Found:
    """The dialect of some lines.

    Args:
        runs: Lines of the head of a file, then of places spread over the rest.
        delimiter: The delimiter where it is known (empty for one column), or its name (`tab`).
        quote: The quote character where it is known.

    Raises:
        ConfigError: The quote is longer than a character.
    """
    if quote is not None and len(quote) != 1:
        raise ConfigError(f"quote {quote!r} is not one character; pass one such as '\"'")
    head = runs[0]
    named = _SEP_LINE.fullmatch(head[0]) if head else None
    sample = _sample([head[1:] if named else head, *runs[1:]])
    # Excel takes the word of such a line; what the caller says goes first.
    if delimiter is None and named:
        delimiter = named["delimiter"]
    if delimiter is not None:
        character = WORDS.get(delimiter.lower(), delimiter)
        dialect = _with_quotes(character, sample, quote)
        return Found(dialect, _shape(sample, dialect), 1.0, sep_line=bool(named))
    dialects = {sign: _with_quotes(sign, sample, quote) for sign in _candidates(sample)}
    scores = {sign: _score(sample, dialect) for sign, dialect in dialects.items()}
    # One column is an answer like any other, and has to be likelier than those.
    scores[""] = max(_ONE_COLUMN_STRONG * whole_share(sample), _ONE_COLUMN_WEAK)
    best, *others = sorted(scores, key=lambda sign: -scores[sign])
    rivals = [sign for sign in others if sign and scores[sign] > 0]
    second = scores[rivals[0]] if rivals else 0.0
    dialect = dialects.get(best) or _with_quotes(best, sample, quote)
    long = _longer_delimiter(sample, best)
    if long != best and not (dialect.quote and dialect.quote in long):
        dialect = _with_quotes(long, sample, quote)
    # Blanks that stand above each other are no delimiters: they fill columns up.
    if best == " " or (not best and scores[best] < _FIXED_BELOW):
        starts = column_starts(sample)
        dialect = Dialect(" ", None, starts=starts) if starts else dialect
    return Found(
        dialect,
        _shape(sample, dialect),
        confidence=round(1.0 - second / scores[best], 2),
        runner_up=f"{rivals[0]!r} ({second:.2f})" if rivals else None,
        sep_line=bool(named),
    )


def unwrapped(lines: Sequence[str]) -> list[str] | None:
    """Lines each of which is a record in one cell, as a list that was saved as one column has them.

    Args:
        lines: Physical lines of the whole file.

    Returns:
        The records without the quotes around them, or None where the lines are no such thing.
    """
    first = next((line for line in lines[:_HEADER_LINES] if line.strip()), "")
    if _WRAPPED.fullmatch(first) is None or len(lines) < 2:
        return None
    inner = first.strip()[1:-1].replace('""', '"')
    # A column of quoted sentences has commas, too, and no names of columns.
    if not any(_has_header([scan(inner, Dialect(delimiter)).cells]) for delimiter in _USUAL):
        return None
    if not all(_WRAPPED.fullmatch(line) or not line.strip() for line in lines):
        return None
    return [line.strip()[1:-1].replace('""', '"') for line in lines]


def _sample(runs: Sequence[Sequence[str]]) -> list[str]:
    """Records' texts of the runs, without blank lines."""
    chosen: list[str] = []
    left = _SAMPLE_CHARS
    for at, run in enumerate(runs):
        lines: list[str] = []
        for line in run:
            if left <= 0:
                break
            lines.append(line[:left].replace("\x00", ""))
            left -= len(lines[-1]) + 1
        # A sample from the middle may begin inside of a cell.
        chosen += joined(lines, inside=at > 0)
    return [line for line in chosen if line.strip()]


def _candidates(sample: list[str]) -> list[str]:
    """Characters that stand in enough lines, and longer signs that stand in nearly all."""
    chars = {char for char in set().union(*sample) - _NEVER if not char.isalnum()}
    lines = {char: sum(char in line for line in sample) for char in sorted(chars)}
    signs = Counter(sign for line in sample for sign in {*_LONG_SIGN.findall(line)})
    return [char for char in lines if lines[char] >= _LEAST_CONSISTENT * len(sample)] + [
        sign for sign in signs if signs[sign] >= _SPACED_SHARE * len(sample)
    ]


def _score(sample: list[str], dialect: Dialect) -> float:
    delimiter = dialect.delimiter
    scanned = [(text, scan(text, dialect)) for text in sample]
    # Where the quotes never close, the cells tell nothing of the delimiter.
    read = [(text, row.cells) for text, row in scanned if row.state in (CLEAN, STRAY)]
    width = usual_width(len(row) for _, row in read if len(row) > 1)
    usual = [(text, row) for text, row in read if len(row) == width]
    consistent = len(usual) / max(1, len(scanned))
    if width < 2 or consistent < _LEAST_CONSISTENT:
        return 0.0
    # Headers have brackets, stars and colons that no value has.
    below = usual[1:] or usual
    below = below[:: 1 + len(below) * width // _MOST_CELLS]
    total = sum(len(row) for _, row in below)
    typed = sum(is_cell(cell, text, dialect.quote) for text, row in below for cell in row)
    filled = sum(
        any(cell.strip() for cell in column)
        for column in zip(*(row for _, row in usual), strict=True)
    )
    # Two columns may be chance; each further one makes chance less likely.
    columns = (max(filled, 2) - 1) / max(filled, 2)
    if consistent < _SPACED_SHARE and dialect.skip_space:
        consistent *= _LOOSE  # the commas of sentences
    expected = EXPECTED.get(delimiter, _UNUSUAL if len(delimiter) == 1 else _LONG_EXPECTED)
    if delimiter == " ":
        if _is_within_phones(sample):
            return 0.0
        numbers = sum(is_number(cell) for _, row in below for cell in row)
        expected += _NUMBERS_BONUS * numbers / total
    # Squared: cells that look like nothing speak against a delimiter more than width speaks for it.
    score = expected * consistent * (typed / total) ** 2 * columns
    return score + (_HEADER_BONUS if _has_header([row for _, row in read]) else 0.0)


def _is_within_phones(sample: list[str]) -> bool:
    """Whether blanks stand within numbers: each line is one, or has one between usual delimiters."""
    # The first line may be a header.
    first, *rest = sample
    lines = rest if rest and not any(map(str.isdigit, first)) else sample
    if all(map(_ONE_PHONE.fullmatch, lines)):
        return True
    for delimiter in _USUAL:
        rows = [line.split(delimiter) for line in rest or sample]
        width = usual_width(map(len, rows))
        columns = list(zip(*(row for row in rows if len(row) == width > 1), strict=True))
        phones = [
            sum(_ONE_PHONE.fullmatch(cell.strip(' "')) is not None for cell in cells)
            for cells in columns
        ]
        if max(phones, default=0) >= _COLUMN_SHARE * len(rows):
            return True
    return False


def _has_header(rows: list[list[str]]) -> bool:
    """Whether one of the first lines falls into two or more names that lists have."""
    heads = (row[:MOST_COLUMNS] for row in rows[:_HEADER_LINES])
    return any(len({known(cell) for cell in head} - {None}) > 1 for head in heads)


def _with_quotes(delimiter: str, sample: list[str], quote: str | None) -> Dialect:
    """The dialect of a delimiter: its quote, its escape, and whether a blank behind it belongs to it."""
    quote = quote or quote_of(sample, delimiter)
    escape = escape_of(sample, delimiter, quote)
    # As in `name, phone, mail`.
    spaced = False
    if delimiter.strip() and not delimiter.endswith(" "):
        blank = f"{delimiter} "
        if quote and any(f"{blank}{quote}" in line for line in sample):
            spaced = not any(f"{delimiter}{quote}" in line for line in sample)
        else:
            total = sum(line.count(delimiter) for line in sample)
            within = sum(line.count(blank) + line.endswith(delimiter) for line in sample)
            spaced = total > 0 and within >= _SPACED_SHARE * total
    return Dialect(delimiter, quote, escape, spaced)


def _longer_delimiter(sample: list[str], delimiter: str) -> str:
    """The longer delimiter that every one of the character's places is part of, as in `a||b`."""
    if len(delimiter) != 1 or not delimiter.strip():
        return delimiter
    escaped = re.escape(delimiter)
    sign = r"[^\w\s\"'.,()@+\-/]"
    runs = Counter(re.findall(f"{sign}{{0,2}}{escaped}{sign}{{0,2}}", "\n".join(sample)))
    usual = [run for run, _ in runs.most_common(_LONGEST_DELIMITER)]
    for run in sorted(usual, key=len, reverse=True):
        long: str = run[:_LONGEST_DELIMITER]
        inside = long.count(delimiter)
        if len(long) > 1 and all(
            line.count(delimiter) == inside * line.count(long) for line in sample
        ):
            return long
    spaced = f" {delimiter} "
    padded = [f"{line} " for line in sample]
    if all(line.count(delimiter) == line.count(spaced) for line in padded):
        return spaced
    return delimiter


def _shape(sample: list[str], dialect: Dialect) -> Shape:
    scanned = (scan(text, dialect) for text in sample)
    rows = [row.cells for row in scanned if row.state == CLEAN]
    width = usual_width(len(row) for row in rows if len(row) > 1 or not dialect.delimiter)
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


# ---- columns of a fixed width, by the blanks that stand above each other

_LEAST_LINES: Final = 4
_FEW_LINES: Final = 40
_GAPPED_SHARE: Final = 0.6
_GAP: Final = re.compile(r"\S {2,}(?=\S)")


def column_starts(lines: Sequence[str]) -> tuple[int, ...]:
    """Where each column begins, or nothing where the lines are not set in columns.

    Args:
        lines: Lines of the table, its header among them.
    """
    rows = [line.rstrip() for line in lines]
    gapped = sum(_GAP.search(line) is not None for line in rows)
    # A tab reaches to the next stop, whatever its line holds.
    if len(rows) < _LEAST_LINES or gapped < _GAPPED_SHARE * len(rows) or "\t" in "".join(rows):
        return ()
    width = max(map(len, rows))
    filled = [any(at < len(row) and row[at] != " " for row in rows) for at in range(width)]
    starts = _starts(filled, 1)
    if len(rows) < _FEW_LINES and any(len(row.split()) != len(starts) for row in rows):
        # A column that is full has one blank before the next, whose name stands above its begin.
        named = {0, *(gap.end() for gap in _GAP.finditer(rows[0]))}
        starts = max(_starts(filled, 2), [at for at in starts if at in named], key=len)
    return tuple(starts) if len(starts) > 1 else ()


def _starts(filled: Sequence[bool], gap: int) -> list[int]:
    """Places behind so many that are blank in every line."""
    starts = [0]
    blank = 0
    for at, taken in enumerate(filled):
        if taken and blank >= gap and any(filled[:at]):
            starts.append(at)
        blank = 0 if taken else blank + 1
    return starts


def is_number(text: str) -> bool:
    """Whether the text is a number as people write it."""
    return _NUMBER.fullmatch(text) is not None


def is_cell(cell: str, text: str, quote: str | None) -> bool:
    """Whether a cell looks like one: a value of some kind, or quoted in the record's text."""
    if _CELL.fullmatch(cell[:_LONG]) is not None:
        return True
    if quote is None or quote not in text or len(text) > _LONGEST_TEXT:
        return False
    return f"{quote}{cell.replace(quote, quote * 2)}{quote}" in text or (
        quote in cell and f"{quote}{cell.replace(quote, chr(92) + quote)}{quote}" in text
    )


def whole_share(lines: Sequence[str]) -> float:
    """Share of the lines that are one value each, although a delimiter may seem to stand in them."""
    texts = [line.strip('"') for line in (lines[1:] if len(lines) > 2 else lines)]
    if not texts:
        return 0.0
    is_whole = [len(text) < _LONG and _WHOLE.fullmatch(text) is not None for text in texts]
    if not _is_matrix(texts):
        is_whole = [
            whole
            or (
                len(text) < _LONGEST_PHONE
                and _PHONE.fullmatch(text) is not None
                and len(_DIGIT.findall(text)) in _PHONE_DIGITS
                and not _DECIMALS.search(text)
            )
            for whole, text in zip(is_whole, texts, strict=True)
        ]
    return sum(is_whole) / len(texts)


def _is_matrix(texts: Sequence[str]) -> bool:
    """Whether the lines hold numbers with blanks between, grouped otherwise in each line."""
    rows = [text.split() for text in texts]
    width, lines = Counter(map(len, rows)).most_common(1)[0]
    if width < 2 or lines < _REGULAR_SHARE * len(texts):
        return False
    if not all(is_number(cell) for row in rows if len(row) == width for cell in row):
        return False
    groups = Counter(tuple(map(len, _DIGITS.findall(text))) for text in texts)
    return groups.most_common(1)[0][1] < max(2.0, _SAME_GROUPS_SHARE * len(texts))
