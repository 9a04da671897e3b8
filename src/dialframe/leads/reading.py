"""Lead files of any format to text cells with their source lines."""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeVar

import numpy as np
import pyarrow as pa

from dialframe import arrow_text
from dialframe.config import OnProgress, silent
from dialframe.csv_safety import unescape
from dialframe.errors import LeadFileError
from dialframe.files import note_files
from dialframe.leads import dialect as dialects
from dialframe.leads.input_files import (
    MAX_LINE_BYTES,
    Source,
    kind_of,
    not_a_table,
    sources,
    tables_in,
)
from dialframe.leads.layout import HeaderChoice
from dialframe.leads.lead_file import (
    META,
    SHEET_NAME,
    Decisions,
    Dialect,
    Earlier,
    LeadFile,
    Records,
    Shape,
    check_width,
    split_lines,
    unique_names,
    whole_numbers,
    wide,
)
from dialframe.leads.parser import parse, scan
from dialframe.leads.rows import (
    PIECE_BYTES,
    Block,
    ReadFile,
    Text,
    Waiting,
    Walk,
    read_rows,
    stamp_of,
)

# The readers of other formats and encodings load when a file asks for them: most lists are CSV in UTF-8.
if TYPE_CHECKING:
    from dialframe.leads.tables import Keyed, Workbook

Format = Literal["auto", "csv"]
Value = TypeVar("Value")

#: How the header of a file that this package wrote goes on behind its own columns.
_OWN: Final = re.compile(r'_file"?(?P<delimiter>[,;\t|])"?_line"?(?P=delimiter)"?_row')
_OWN_COLUMNS: Final = frozenset({"_file", "_line", "_row"})
#: Columns of a file of records that were set aside which say what is wrong with each.
_WHY: Final = ("_reason", "_all_reasons", "_raw")
_HEAD_BYTES: Final = 2**18
_SEARCHED_CHARS: Final = 2**16
_BOM: Final = b"\xef\xbb\xbf"
#: Characters of which a file may consist and still be empty.
_NOTHING: Final = "\x00\t\n\r \ufeff"
#: A longer file that is UTF-8 is not held in memory.
_HELD_BYTES: Final = 2**25
_NAMED: Final = 9
_NONE: Final = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What the caller knows of the files; see `read`.

    Attributes:
        format: `csv` reads a text file as delimited text even if it looks like JSON.
        encoding: Encoding of text files.
        delimiter: Delimiter of text files.
        quote: Quote character of text files.
        header: Where the header is.
        sheet: Sheet of a workbook.
        max_line_bytes: Longest line of a text file that is read.
    """

    format: Format = "auto"
    encoding: str | None = None
    delimiter: str | None = None
    quote: str | None = None
    header: HeaderChoice = "auto"
    sheet: str | int | None = None
    max_line_bytes: int = MAX_LINE_BYTES


def read(
    path: str | os.PathLike[str],
    *,
    format: Format = "auto",  # noqa: A002 - the word that people look for
    encoding: str | None = None,
    delimiter: str | None = None,
    quote: str | None = None,
    header: HeaderChoice = "auto",
    sheet: str | int | None = None,
    max_line_bytes: int = MAX_LINE_BYTES,
) -> LeadFile:
    """Read a lead file; everything stays text.

    CSV and its relatives with any delimiter, TSV, XLSX, XLS, ODS, JSON lines, JSON arrays and
    Parquet, each also packed with gzip, Zstandard or zip. What the arguments do not say is found
    out, and `LeadFile.decisions` tells what was found and how sure that is.

    Args:
        path: The file; a folder, glob or zip archive whose tables all have the same columns; a
            member of an archive (`fairs.zip/leeds.csv`); a URL that fsspec understands; `-` for
            standard input.
        format: `csv` reads a text file as delimited text even if it looks like JSON.
        encoding: Encoding of a text file.
        delimiter: Delimiter of a text file, or its name (`tab`, `comma`); empty for one column.
        quote: Quote character of a text file.
        header: `none` for a file without one, its physical line (sheet row), or the names.
        sheet: Name or 0-based place of a workbook's sheet.
        max_line_bytes: Longest line of a text file that is read.

    Returns:
        The file: cells as text, header, and the line of each record.

    Raises:
        LeadFileError: The file is missing, a folder, empty, no table, damaged, or too large.
        ConfigError: An argument names something that does not exist.

    Example:
        file = dialframe.leads.read("autumn.csv")
        print(file.decisions.encoding, file.decisions.header_line)
    """
    options = ReadOptions(format, encoding, delimiter, quote, header, sheet, max_line_bytes)
    files = [each.whole() for each in _tables(path, options, Waiting(), silent)]
    return files[0] if len(files) == 1 else together(Path(path), files)


def read_all(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    max_line_bytes: int = MAX_LINE_BYTES,
) -> list[LeadFile]:
    """Each table at the paths as a lead file of its own, with nothing said about them.

    Args:
        paths: Files, folders, globs, zip archives, or URLs that fsspec understands.
        max_line_bytes: Longest line of a text file that is read.

    Returns:
        One for each table, in the order of the paths; the sheets of a workbook that have the same header
        are one table.

    Raises:
        LeadFileError: One of them is missing, damaged or no table.

    Example:
        files = dialframe.leads.read_all(["autumn.csv"])
    """
    several = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    options = ReadOptions(max_line_bytes=max_line_bytes)
    return [
        read_file.whole()
        for path in several
        for read_file in _tables(path, options, Waiting(), silent)
    ]


def read_tables(
    path: str | os.PathLike[str],
    options: ReadOptions,
    waiting: Waiting,
    on_progress: OnProgress = silent,
) -> list[ReadFile]:
    """Read every table at a path once; a folder, or an archive of which nothing is said, may hold several.

    Args:
        path: As for `read`.
        options: What is known of it.
        waiting: Where the records wait.
        on_progress: Told of bytes.

    Raises:
        LeadFileError: As `read`, and where the file changed meanwhile.
        ConfigError: As `read`.
    """
    is_here = "://" not in os.fspath(path)
    if is_here and options == ReadOptions(max_line_bytes=options.max_line_bytes):
        if Path(path).is_dir():
            return [
                read_file
                for each in tables_in(Path(path))
                for read_file in read_tables(each, options, waiting, on_progress)
            ]
        return _tables(path, options, waiting, on_progress)
    files = _tables(path, options, waiting, on_progress)
    if len(files) == 1:
        return files
    return [_held(together(Path(path), [each.whole() for each in files]))]


def _tables(
    path: str | os.PathLike[str], options: ReadOptions, waiting: Waiting, on_progress: OnProgress
) -> list[ReadFile]:
    """Every table at a path; of a workbook whose list goes on in other sheets, all of them as one."""
    long = _long_text(path, options)
    if long is not None:
        source, text, decisions = long
        return [_read_delimited(source, text, decisions, options, waiting, on_progress)]
    return [
        _table(source, options, waiting, on_progress)
        for source in sources(path, max_line_bytes=options.max_line_bytes)
    ]


def _held(file: LeadFile) -> ReadFile:
    """A file that is in memory as a whole."""
    return ReadFile(file, len(file.table), Waiting(), [])


def _table(
    source: Source, options: ReadOptions, waiting: Waiting, on_progress: OnProgress
) -> ReadFile:
    try:
        if source.kind == "workbook":
            return _held(_sheets(source, options))
        if source.kind == "parquet":
            from dialframe.leads.tables import read_parquet

            return _held(_read_keyed(source, read_parquet(source.path, source.data)))
        return _text(source, options, waiting, on_progress)
    except LeadFileError as problem:
        # What lies deeper does not know the file.
        if problem.path:
            raise
        raise LeadFileError(
            f"{source.path}: {problem}", path=source.path, line=problem.line
        ) from None


# ---- texts


def _long_text(
    path: str | os.PathLike[str], options: ReadOptions
) -> tuple[Source, Text, Decisions] | None:
    """A long file of this disk that is delimited UTF-8 to its last byte; it stays there."""
    text = os.fspath(path)
    encoding = (options.encoding or "utf-8").lower().replace("_", "-")
    if "://" in text or encoding not in ("utf-8", "utf8"):
        return None
    place = Path(text)
    try:
        if not place.is_file() or place.stat().st_size < _HELD_BYTES:
            return None
        stamp, digest, rest, mark, size, line_bytes = (
            stamp_of(place),
            hashlib.sha256(),
            b"",
            0,
            0,
            0,
        )
        with place.open("rb") as file:
            head = file.read(_HEAD_BYTES)
            if kind_of(place, head) != "text":
                return None
            file.seek(0)
            while part := file.read(PIECE_BYTES):
                digest.update(part)
                if not size and part.startswith(_BOM):
                    mark = len(_BOM)
                data = rest + (part if size else part[mark:])
                size += len(part)
                # A character may be cut in two.
                stop = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
                line_bytes = len(data) - stop
                if not is_text(data[:stop]) or line_bytes > options.max_line_bytes:
                    return None
                rest = data[stop:]
        if not is_text(rest) or stamp_of(place) != stamp:
            return None  # whoever reads it whole says what is wrong
    except OSError:
        return None
    shown = head[mark:].decode(errors="ignore")
    if not shown.strip() or (options.format == "auto" and begins_like_json(shown)):
        return None
    note_files([place])
    whole = Text(None, size - mark, place, mark, stamp)
    decisions = Decisions("csv", encoding="utf-8", bom=mark > 0)
    return Source(place, "text", b"", digest.hexdigest()), whole, decisions


def is_text(data: bytes) -> bool:
    """Whether bytes are UTF-8 without what makes other encodings likely.

    Args:
        data: The bytes.
    """
    if b"\x00" in data or b"\x1b" in data:
        return False
    offsets = np.array([0, len(data)], np.int64)
    array = pa.Array.from_buffers(
        arrow_text.TEXT, 1, [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    )
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def begins_like_json(text: str) -> bool:
    """Whether the text may be JSON, or is blank as far as it was looked at."""
    # Brackets around headers are no JSON: that is for `read_json` to say.
    return text[:_SEARCHED_CHARS].lstrip()[:1] in ("{", "[", "")


def _text(
    source: Source, options: ReadOptions, waiting: Waiting, on_progress: OnProgress
) -> ReadFile:
    """A file of text: JSON or delimited."""
    from dialframe.leads import encoding as encodings

    decoded = None
    data = source.data
    if options.encoding is None and is_text(data) and not data.startswith(_BOM * 2):
        mark = len(_BOM) if data.startswith(_BOM) else 0
        data = data[mark:]
        decisions = Decisions("csv", gzipped=source.gzipped, encoding="utf-8", bom=mark > 0)
    else:
        # Encodings first: what is binary shows in characters.
        decoded = encodings.decode(data, options.encoding)
        # Half of a surrogate pair cannot be written again.
        data = decoded.text.encode(errors="replace")
        decisions = Decisions(
            "csv",
            gzipped=source.gzipped,
            encoding=decoded.encoding,
            encoding_confidence=decoded.confidence,
            encoding_runner_up=decoded.runner_up,
            bom=decoded.bom,
        )
    head = data[:_HEAD_BYTES].decode(errors="ignore")
    if not head.strip(_NOTHING) and not data.decode().strip(_NOTHING):
        raise LeadFileError(f"{source.path} is empty; there is nothing to read", path=source.path)
    if encodings.is_binary(head):
        raise not_a_table(source.path, "binary data")
    repaired = _lines_of(decoded.text, decoded.repaired) if decoded and decoded.repaired else _NONE
    if options.format == "auto" and begins_like_json(head):
        from dialframe.leads.tables import read_json

        content = data.decode()
        keyed = read_json(source.path, content, split_lines(content))
        if keyed is not None:
            return _held(
                _read_keyed(source, keyed, decisions, header=options.header, repaired=repaired)
            )
    text = Text(data, len(data))
    return _read_delimited(source, text, decisions, options, waiting, on_progress, repaired)


def _lines_of(text: str, offsets: Sequence[int]) -> np.ndarray:
    """The 0-based lines of some characters, each once."""
    lines = split_lines(text)
    lengths = [len(line) + len(end) for line, end in zip(lines.texts, lines.ends, strict=True)]
    begins = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    return np.unique(np.searchsorted(begins, np.asarray(offsets), side="right") - 1)


def _read_delimited(
    source: Source,
    text: Text,
    decisions: Decisions,
    options: ReadOptions,
    waiting: Waiting,
    on_progress: OnProgress,
    repaired: np.ndarray = _NONE,
) -> ReadFile:
    own = _OWN.search(text.fetch(0, _HEAD_BYTES).decode(errors="ignore"), 0, _SEARCHED_CHARS)
    runs, wrapped = text.samples(), None
    if own is not None:
        dialect = Dialect(own["delimiter"])
        detected = dialects.Found(dialect, Shape(1), 1.0)
        width = len(scan(runs[0][0], dialect).cells)
    else:
        if dialects.unwrapped(runs[0]) is not None:
            # Each line is a record in one cell, if that holds to the last one.
            lines = split_lines(text.fetch(0, text.size).decode())
            wrapped = dialects.unwrapped(lines.texts)
        if wrapped is not None:
            pieces = [each + end for each, end in zip(wrapped, lines.ends, strict=True)]
            data = "".join(pieces).encode()
            text = Text(data, len(data))
            runs = text.samples()
        detected = dialects.detect(runs, options.delimiter, options.quote)
        width = detected.shape.width
    check_width(width)
    sep_line, at = "", 0
    if detected.sep_line:
        sep_line = runs[0][0]
        rest = text.fetch(len(sep_line.encode()), 3).decode(errors="ignore")
        at = len(sep_line.encode()) + len(rest) - len(rest.lstrip("\r\n"))
        end = re.match(r"\r{0,2}\n|\r", rest)
        at = len(sep_line.encode()) + (end.end() if end else 0)
    walk = Walk(
        text, detected.dialect, detected.shape, width=width, line=int(detected.sep_line), at=at,
        on_progress=on_progress,
    )  # fmt: skip

    def raw(begin: int, end: int) -> str:
        record = text.raw(begin, end)
        if wrapped is None or not record:
            return record
        return '"' + record.replace('"', '""') + '"'  # each line was one quoted cell

    read_file = read_rows(
        source.path, source.sha256, walk.blocks(), raw, detected.noted_in(decisions), waiting,
        width=walk.width, choice=options.header, own=own is not None, repaired=repaired,
        sep_line=sep_line,
    )  # fmt: skip
    if not _OWN_COLUMNS.issubset(read_file.file.header or ()):
        return read_file
    return _held(_without_own_columns(read_file.whole()))


# ---- workbooks, JSON and Parquet


def _sheets(source: Source, options: ReadOptions) -> LeadFile:
    """A workbook's list; where it goes on in other sheets with the same header, all of them."""
    from dialframe.leads.tables import Workbook

    # Opened once for all of its sheets: opening reads the whole archive.
    book = Workbook(source.path, source.data)
    file = _sheet(source, book, options)
    # Twelve months of one list, a sheet each.
    alike = file.decisions.alike_sheets
    if not alike or options.sheet is not None:
        return file
    sheets = [file, *(_sheet(source, book, replace(options, sheet=name)) for name in alike)]
    # Their first rows were alike; their headers, found one by one, may not be.
    headers = [[name.strip().casefold() for name in sheet.header or ()] for sheet in sheets]
    same = [sheet for sheet, header in zip(sheets, headers, strict=True) if header == headers[0]]
    names = tuple(str(sheet.decisions.sheet) for sheet in same[1:])
    decisions = replace(file.decisions, alike_sheets=names)
    if len(same) == 1:
        return replace(file, decisions=decisions)
    named = [replace(sheet, path=source.path / str(sheet.decisions.sheet)) for sheet in same]
    decisions = replace(
        decisions,
        hidden_rows=sum(sheet.decisions.hidden_rows for sheet in same),
        hidden_columns=max(sheet.decisions.hidden_columns for sheet in same),
    )
    return replace(together(source.path, named), sha256=file.sha256, decisions=decisions)


def _sheet(source: Source, book: Workbook, options: ReadOptions) -> LeadFile:
    sheet = book.sheet(options.sheet)
    decisions = Decisions(
        "workbook",
        gzipped=source.gzipped,
        sheet=sheet.name,
        other_sheets=sheet.others,
        alike_sheets=sheet.alike,
        hidden_rows=len(sheet.hidden_rows),
        hidden_columns=len(sheet.hidden_columns),
    )
    file = _of_records(source, sheet.records, decisions, options.header)
    # In a workbook of our own texts need no apostrophe; a CSV of ours that was saved as one has them.
    return _without_own_columns(file, escaped=sheet.name != SHEET_NAME)


def _read_keyed(
    source: Source,
    keyed: Keyed,
    decisions: Decisions | None = None,
    *,
    header: HeaderChoice = "auto",
    repaired: np.ndarray = _NONE,
) -> LeadFile:
    check_width(len(keyed.names or ()))
    known = decisions or Decisions("", gzipped=source.gzipped)
    known = replace(known, format=keyed.format)
    file = _of_records(source, keyed.records, known, header, keyed.names, repaired)
    return file if keyed.names is None else _without_own_columns(file, escaped=False)


def _of_records(
    source: Source,
    records: Records,
    decisions: Decisions,
    header: HeaderChoice,
    names: tuple[str, ...] | None = None,
    repaired: np.ndarray = _NONE,
) -> LeadFile:
    """Records of a format that has no lines of text as a lead file."""
    blocks = [Block.of_records(records)] if records.cells else []
    return read_rows(
        source.path, source.sha256, blocks, lambda at, _: records.raw(at), decisions, Waiting(),
        width=len(blocks[0].columns) if blocks else 1, choice=header, names=names, repaired=repaired,
    ).whole()  # fmt: skip


# ---- files that this package wrote

# A record with a cell too many stands among those set aside with its cells where they fell: phone number
# perhaps under the name. Cleaned again as it is it would look whole, so it keeps its reason for as long
# as its cells are those that its own text (`_raw`) gives. Who finds them right as they are empties
# `_reason`. And a duplicate, a prohibition or a line that is no lead is one still, without the records that
# it was compared with, unless its number was changed.

#: Damage that the cells do not show.
DAMAGE: Final = ("unclosed_quote", "too_many_cells")
_QUOTES: Final = ('"', "'", None)
_HOLDS: Final = ("duplicate", "do_not_call", "skipped")


def _without_own_columns(file: LeadFile, *, escaped: bool = True) -> LeadFile:
    """A file as it was before this package wrote it: without its columns and apostrophes."""
    header = file.header or ()
    # A foreign list may have one column of these names, not all three.
    if not _OWN_COLUMNS.issubset(header):
        return file
    kept = [at for at, name in enumerate(header) if name not in META]

    def plain(texts: pa.Array) -> pa.Array:
        return arrow_text.mapped(texts, unescape) if escaped else texts

    columns = [plain(arrow_text.whole(column)) for column in file.table.columns]
    faults, raws, earlier = dict(file.faults), dict(file.raws), {}
    places = {name: header.index(name) for name in META if name in header}
    why = [columns[places[name]].to_pylist() for name in _WHY if name in places]
    if len(why) == len(_WHY):
        cells = list(zip(*(columns[at].to_pylist() for at in kept), strict=True))
        for row, (reason, every, raw) in enumerate(zip(*why, strict=True)):
            fault = damage(cells[row], reason, every, raw)
            if fault is not None:
                faults[row], raws[row] = fault, raw
    found = [name for name in ("_reason", "_field", "_value", "_outcome") if name in places]
    if len(found) == 4:
        said = zip(*(columns[places[name]].to_pylist() for name in found), strict=True)
        earlier = {
            row: Earlier(reason, field, value)
            for row, (reason, field, value, outcome) in enumerate(said)
            if reason.strip() and outcome in _HOLDS
        }
    names = tuple(unescape(header[at]) if escaped else header[at] for at in kept)
    dropped = tuple(name for name in header if name in META)
    unique = unique_names(names, len(kept))
    left_out = file.left_out.select([*kept, *range(len(columns), file.left_out.num_columns)])
    return replace(
        file,
        table=pa.table({name: columns[at] for name, at in zip(unique, kept, strict=True)}),
        header=names,
        left_out=left_out.rename_columns([*unique, *left_out.column_names[len(kept) :]]),
        decisions=replace(file.decisions, dropped_columns=dropped),
        faults=faults,
        raws=raws,
        earlier=earlier,
    )


def damage(cells: Sequence[str], reason: str, all_reasons: str, raw: str) -> str | None:
    """The damage that a record which was set aside still has, or None.

    Args:
        cells: Its cells, without the columns that were added.
        reason: Its `_reason`.
        all_reasons: Its `_all_reasons`.
        raw: Its `_raw`.
    """
    codes = {reason, *all_reasons.split(";")}
    fault = next((code for code in DAMAGE if code in codes), None)
    if fault is None or not reason.strip() or not raw:
        return None
    width, lines = len(cells), split_lines(raw)
    # The dialect of the first file is not known any more: every usual one is tried.
    for delimiter, quote, skip_space in product(dialects.EXPECTED, _QUOTES, (False, True)):
        if delimiter in raw:
            dialect = Dialect(delimiter, quote, skip_space=skip_space)
            readings = (scan(raw, dialect).cells, *parse(lines, dialect, Shape(width)).cells[:1])
            for reading in readings:
                if [cell.strip() for cell in wide(reading, width)] == [*map(str.strip, cells)]:
                    return fault
    return None


# ---- several files as one


def together(path: Path, files: Sequence[LeadFile]) -> LeadFile:
    """One lead file with the records of all, in their order.

    Lines stay those of each record's own file, which `LeadFile.part_of` tells; the decisions are
    those of the first file, with the lowest confidence of all.

    Args:
        path: What they are called together.
        files: The files.

    Raises:
        LeadFileError: The files do not have the same columns.
    """
    first = files[0]
    if len(files) == 1:
        return first
    _check_alike(path, files)
    # A file whose records have a cell too many has a column more.
    widest = max((file.names for file in files), key=len)
    rows = _offsets([file.records for file in files])
    places = _offsets([len(file.table) for file in files])
    # One doubtful file makes the whole list doubtful.
    least = min(files, key=lambda file: file.decisions.delimiter_confidence).decisions
    left_out = []
    for file, at in zip(files, rows, strict=True):
        table = _widen_table(file.left_out, len(file.names), widest)
        moved = whole_numbers(
            [None if row is None else row + at for row in table["_row"].to_pylist()]
        )
        left_out.append(
            table.set_column(table.column_names.index("_row"), "_row", moved.cast(pa.int64()))
        )
    return LeadFile(
        path=path,
        table=pa.concat_tables(
            [_widen_table(file.table, len(file.names), widest) for file in files]
        ),
        header=first.header,
        lines=np.concatenate([file.lines for file in files]),
        rows=np.concatenate([file.rows + at for file, at in zip(files, rows, strict=True)]),
        left_out=pa.concat_tables(left_out),
        decisions=replace(first.decisions, delimiter_confidence=least.delimiter_confidence),
        # Of the digests: the files are not held together in memory.
        sha256=hashlib.sha256("".join(file.sha256 for file in files).encode()).hexdigest(),
        faults=_shift_lines([file.faults for file in files], places),
        warnings=_shift_lines([file.warnings for file in files], places),
        raws=_shift_lines([file.raws for file in files], places),
        earlier=_shift_lines([file.earlier for file in files], places),
        parts=tuple(file.path for file in files),
        part_of=np.repeat(np.arange(len(files)), [len(file.table) for file in files]),
    )


def _check_alike(path: Path, files: Sequence[LeadFile]) -> None:
    # Filling up columns that a file does not have would make leads of prices.
    kinds = list(map(_columns, files))
    if all(kind == kinds[0] for kind in kinds):
        return
    usual, count = Counter(kinds).most_common(1)[0]
    # One odd table among many is named, since it is to be taken out.
    odd = [file.name for file, kind in zip(files, kinds, strict=True) if kind != usual]
    if count > 1 and len(odd) <= _NAMED:
        raise LeadFileError(
            f"{path}: {', '.join(odd)} has other columns than the other {count} tables; take it "
            "out, or read each by itself with leads.read_all",
            path=path,
        )
    names = ", ".join(file.name for file in files[:_NAMED])
    more = f" and {len(files) - _NAMED} more" if len(files) > _NAMED else ""
    raise LeadFileError(
        f"{path} holds {len(files)} tables with different columns: {names}{more}; name one of "
        "them (a zip's as fairs.zip/leeds.csv), or read each with leads.read_all",
        path=path,
    )


def _columns(file: LeadFile) -> tuple[str, ...] | int:
    """What the columns are called, or how many there are where they have no names."""
    if file.header is None:
        return len(file.names)
    return tuple(name.strip().casefold() for name in file.header)


def _offsets(counts: Sequence[int]) -> list[int]:
    return [sum(counts[:at]) for at in range(len(counts))]


def _widen_table(table: pa.Table, width: int, names: list[str]) -> pa.Table:
    """The table with the names of the widest one, its own columns filled up with empty ones."""
    columns = dict(zip(names[:width], table.columns[:width], strict=True))
    columns |= {name: arrow_text.constant("", len(table)) for name in names[width:]}
    return pa.table(columns | {name: table[name] for name in table.column_names[width:]})


def _shift_lines(maps: Sequence[Mapping[int, Value]], offsets: Sequence[int]) -> dict[int, Value]:
    return {
        at + offset: value
        for values, offset in zip(maps, offsets, strict=True)
        for at, value in values.items()
    }
