"""Lead files of any format to text cells with their source lines."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from dialframe.errors import LeadFileError
from dialframe.files import note_files
from dialframe.frames.csv_safety import unescape
from dialframe.leads.lead_file import (
    META,
    SHEET_NAME,
    Decisions,
    Dialect,
    LeadFile,
    Lines,
    Records,
    Shape,
    Skipped,
    check_width,
    skipped_frame,
    split_lines,
    text_frame,
    unique_names,
    wide,
)
from dialframe.leads.reading import dialect as dialects
from dialframe.leads.reading import text_plausibility
from dialframe.leads.reading.chunked_text import in_memory, open_utf8
from dialframe.leads.reading.delimited import OWN, OWN_SEARCHED_CHARS, stream
from dialframe.leads.reading.dialect import EXPECTED
from dialframe.leads.reading.file_bytes import MAX_LINE_BYTES, Source, kind_of, not_a_table
from dialframe.leads.reading.file_discovery import sources, tables_in
from dialframe.leads.reading.file_merging import together
from dialframe.leads.reading.layout import HeaderChoice, Layout, asked_once, is_blank, lay_out
from dialframe.leads.reading.parser import parse, scan
from dialframe.leads.reading.reading_in_blocks import Spool, TakenIn, take_in_all

# The readers of other formats and encodings load when a file asks for them: most lists are CSV in UTF-8.
if TYPE_CHECKING:
    from dialframe.leads.reading import encoding as encodings
    from dialframe.leads.reading import json_and_parquet
    from dialframe.leads.reading.workbook import Workbook

Format = Literal["auto", "csv"]

_OWN_COLUMNS: Final = frozenset({"_file", "_line", "_row"})
#: Columns of a reject file that say what is wrong with a record.
_WHY: Final = ("_reason", "_all_reasons", "_raw")
_MAGIC_BYTES: Final = 512
_JSON_SEARCHED_CHARS: Final = 2**16
#: Characters of which a file may consist and still be empty.
_NOTHING: Final = "\x00\t\n\r \ufeff"


@dataclass(frozen=True, slots=True)
class _Table:
    """Records with their layout, before they become a frame."""

    records: Records
    layout: Layout
    decisions: Decisions
    sep_line: bool = False
    repaired: frozenset[int] = frozenset()


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

    @property
    def of_text(self) -> tuple[str | None, str | None, HeaderChoice]:
        """What is known of a delimited text."""
        return self.delimiter, self.quote, self.header


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
            member of an archive (`fairs.zip/leeds.csv`); or a URL that fsspec understands.
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
    return read_as(
        path, ReadOptions(format, encoding, delimiter, quote, header, sheet, max_line_bytes)
    )


def read_as(
    path: str | os.PathLike[str], options: ReadOptions, *, in_blocks: bool = True
) -> LeadFile:
    """`read`, with what is known of the file as one value; not in blocks where that was tried in vain."""
    files = [
        _with_alike_sheets(source, options, in_blocks=in_blocks)
        for source in sources(path, max_line_bytes=options.max_line_bytes)
    ]
    return files[0] if len(files) == 1 else together(Path(path), files)


def _with_alike_sheets(
    source: Source, options: ReadOptions, *, in_blocks: bool = True
) -> LeadFile:
    """A table; of a workbook whose list goes on in other sheets with the same header, all of them."""
    file = _read(source, options, in_blocks=in_blocks)
    # Twelve months of one list, a sheet each.
    alike = file.decisions.alike_sheets
    if not alike or options.sheet is not None:
        return file
    # Opened once for all of them: opening reads the whole archive.
    book = _workbook(source)
    sheets = [file, *(_read(source, replace(options, sheet=name), book=book) for name in alike)]
    # Their first rows were alike; their headers, found one by one, may not be.
    headers = [[name.strip().casefold() for name in sheet.header or ()] for sheet in sheets]
    same = [sheet for sheet, header in zip(sheets, headers, strict=True) if header == headers[0]]
    names = tuple(str(sheet.decisions.sheet) for sheet in same[1:])
    decisions = replace(file.decisions, alike_sheets=names)
    if len(same) == 1:
        return replace(file, decisions=decisions)
    named = [replace(sheet, path=source.path / str(sheet.decisions.sheet)) for sheet in same]
    whole = together(source.path, named)
    decisions = replace(
        decisions,
        hidden_rows=sum(sheet.decisions.hidden_rows for sheet in same),
        hidden_columns=max(sheet.decisions.hidden_columns for sheet in same),
    )
    return replace(whole, sha256=file.sha256, decisions=decisions)


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
    return [
        _with_alike_sheets(source, ReadOptions())
        for path in several
        for source in sources(path, max_line_bytes=max_line_bytes)
    ]


def take_in(path: str | os.PathLike[str], options: ReadOptions, spool: Spool) -> list[TakenIn]:
    """Read every table at a path once, block by block where its format allows that.

    A folder, or an archive of which nothing is said, may hold several.

    Raises:
        LeadFileError: As `read`, and where the file changed meanwhile.
        ConfigError: As `read`.
    """
    is_here = "://" not in os.fspath(path)
    is_utf8 = (options.encoding or "utf-8").lower().replace("_", "-") in ("utf-8", "utf8")
    content = open_utf8(Path(path), options.max_line_bytes) if is_here and is_utf8 else None
    head = content.head() if content else ""
    # Nothing but a delimited text can be meant; all other files are read whole.
    if (
        content is not None
        and head.strip()
        and not (options.format == "auto" and begins_like_json(head))
        and not text_plausibility.is_binary(head)
        and kind_of(Path(path), content.fetch(0, _MAGIC_BYTES)) == "text"
    ):
        known = Decisions("csv", encoding="utf-8", bom=content.has_mark)
        taken = stream(Path(path), content.sha256, content, options.of_text, known, spool)
        if taken is None:
            return [take_in_all(read_as(path, options, in_blocks=False), spool)]
        note_files([Path(path)])
        return [replace(taken, file=replace(taken.file, frame=taken.sample(spool)))]
    if options == ReadOptions(max_line_bytes=options.max_line_bytes) and is_here:
        if Path(path).is_dir():
            return [
                taken for file in tables_in(Path(path)) for taken in take_in(file, options, spool)
            ]
        every = read_all(path, max_line_bytes=options.max_line_bytes)
        return [take_in_all(file, spool) for file in every]
    return [take_in_all(read_as(path, options), spool)]


def _read(
    source: Source, options: ReadOptions, *, in_blocks: bool = True, book: Workbook | None = None
) -> LeadFile:
    try:
        if source.kind == "workbook":
            table = _sheet(book or _workbook(source), options)
        elif source.kind == "parquet":
            from dialframe.leads.reading import json_and_parquet

            table = _keyed(json_and_parquet.read_parquet(source.path, source.data))
        else:
            text, known = _decoded(source, options.encoding)
            file = _in_blocks(source, text, known, options) if in_blocks else None
            if file is not None:
                return file
            table = _text(source, text, known, options)
        table = replace(table, decisions=replace(table.decisions, gzipped=source.gzipped))
        return _lead_file(source, table)
    except LeadFileError as problem:
        # What lies deeper does not know the file.
        if problem.path:
            raise
        raise LeadFileError(
            f"{source.path}: {problem}", path=source.path, line=problem.line
        ) from None


def _workbook(source: Source) -> Workbook:
    from dialframe.leads.reading.workbook import Workbook

    return Workbook(source.path, source.data)


def _sheet(book: Workbook, options: ReadOptions) -> _Table:
    sheet = book.sheet(options.sheet)
    layout = lay_out(sheet.records, options.header)
    decisions = Decisions(
        "workbook",
        sheet=sheet.name,
        other_sheets=sheet.others,
        alike_sheets=sheet.alike,
        hidden_rows=len(sheet.hidden_rows),
        hidden_columns=len(sheet.hidden_columns),
    )
    # In a workbook of our own texts need no apostrophe; a CSV of ours that was saved as one has them.
    return _without_own_columns(
        _Table(sheet.records, layout, decisions), escaped=sheet.name != SHEET_NAME
    )


def _keyed(keyed: json_and_parquet.Keyed, header: HeaderChoice = "auto") -> _Table:
    records = keyed.records
    check_width(len(keyed.names or ()))
    if keyed.names is None:
        return _Table(records, lay_out(records, header), Decisions(keyed.format))
    blank = [
        at for at, row in enumerate(records.cells) if is_blank(row) and at not in records.faults
    ]
    # A record of a JSON file without a name is blank, and no header stands among them.
    leads = set(range(len(records.cells))).difference(blank)
    layout = Layout(
        header=keyed.names,
        header_record=None,
        width=len(keyed.names),
        usual=0,
        leads=tuple(sorted(leads)),
        preface=(),
        furniture=tuple((at, "blank") for at in blank),
        confidence=1.0,
    )
    return _without_own_columns(_Table(records, layout, Decisions(keyed.format)), escaped=False)


def _decoded(source: Source, encoding: str | None) -> tuple[encodings.Decoded, Decisions]:
    """The text of a file, and what was decided about its encoding."""
    from dialframe.leads.reading import encoding as encodings

    # Encodings first: what is binary shows in characters.
    decoded = encodings.decode(source.data, encoding)
    if not decoded.text.strip(_NOTHING):
        raise LeadFileError(f"{source.path} is empty; there is nothing to read", path=source.path)
    if text_plausibility.is_binary(decoded.text):
        raise not_a_table(source.path, "binary data")
    return decoded, Decisions(
        "csv",
        gzipped=source.gzipped,
        encoding=decoded.encoding,
        encoding_confidence=decoded.confidence,
        encoding_runner_up=decoded.runner_up,
        bom=decoded.bom,
    )


def _in_blocks(
    source: Source, decoded: encodings.Decoded, known: Decisions, options: ReadOptions
) -> LeadFile | None:
    """The file in blocks, or None where it is too short or too irregular for that."""
    # Which record has the strange byte is asked of lines, which blocks do not keep.
    if decoded.repaired or (options.format == "auto" and begins_like_json(decoded.text)):
        return None
    try:
        content = in_memory(decoded.text.encode())
    except UnicodeEncodeError:
        return None  # half of a surrogate pair
    if content is None:
        return None
    spool = Spool(None, None)
    taken = stream(source.path, source.sha256, content, options.of_text, known, spool)
    return taken.whole(spool) if taken else None


def begins_like_json(text: str) -> bool:
    """Whether the text may be JSON, or is blank as far as it was looked at."""
    # Brackets around headers are no JSON: that is for `read_json` to say.
    return text[:_JSON_SEARCHED_CHARS].lstrip()[:1] in ("{", "[", "")


def _text(
    source: Source, decoded: encodings.Decoded, known: Decisions, options: ReadOptions
) -> _Table:
    lines, keyed = split_lines(decoded.text), None
    if options.format == "auto" and begins_like_json(decoded.text):
        from dialframe.leads.reading import json_and_parquet

        keyed = json_and_parquet.read_json(source.path, decoded.text, lines)
    if keyed is not None:
        table = _keyed(keyed, options.header)
        known = replace(
            known, format=table.decisions.format, dropped_columns=table.decisions.dropped_columns
        )
        table = replace(table, decisions=known)
    else:
        table = _delimited(decoded.text, lines, known, options)
    return _with_repaired(table, lines, decoded.repaired) if decoded.repaired else table


def _delimited(text: str, lines: Lines, known: Decisions, options: ReadOptions) -> _Table:
    is_own, whole = OWN.search(text, 0, OWN_SEARCHED_CHARS), lines
    if is_own is not None:
        detected = dialects.Found(Dialect(is_own["delimiter"]), Shape(1), 1.0)
    else:
        # The file's own lines stay: what is refused is given back as it stood there.
        lines = replace(lines, texts=dialects.unwrapped(lines.texts) or lines.texts)
        detected = dialects.detect(lines.texts, options.delimiter, options.quote)
    check_width(detected.shape.width)
    records = parse(lines, detected.dialect, detected.shape, start=int(detected.sep_line))
    records = replace(records, lines=whole)
    layout = lay_out(records, options.header, own=is_own is not None)
    table = _Table(records, layout, detected.noted_in(known), sep_line=detected.sep_line)
    return _without_own_columns(table)


def _with_repaired(table: _Table, lines: Lines, offsets: Sequence[int]) -> _Table:
    """A table with the lines and the records that hold characters of another encoding."""
    lengths = [len(text) + len(end) for text, end in zip(lines.texts, lines.ends, strict=True)]
    begins = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    hit = np.unique(np.searchsorted(begins, np.asarray(offsets), side="right") - 1)
    # The record that a line belongs to is the last that begins at or above it.
    records = np.searchsorted(np.asarray(table.records.starts), hit, side="right") - 1
    decisions = replace(table.decisions, repaired_lines=tuple((hit + 1).tolist()))
    return replace(table, decisions=decisions, repaired=frozenset(records.tolist()))


def _without_own_columns(table: _Table, *, escaped: bool = True) -> _Table:
    """A table as it was before this package wrote it: without its columns and apostrophes."""
    header = table.layout.header or ()
    # A foreign list may have one column of these names, not all three.
    if not _OWN_COLUMNS.issubset(header):
        return table
    kept = [at for at, name in enumerate(header) if name not in META]
    plain = unescape if escaped else str
    cells = [[plain(row[at]) for at in kept if at < len(row)] for row in table.records.cells]
    faults, raws = dict(table.records.faults), dict(table.records.raws)
    places = [header.index(name) for name in _WHY if name in header]
    for record, row in enumerate(table.records.cells):
        # A row that was cut by hand has no reason any more.
        if len(places) == len(_WHY) and len(row) > max(places):
            reason, every, raw = (plain(row[at]) for at in places)
            fault = damage(cells[record], reason, every, raw)
            if fault is not None:
                faults[record], raws[record] = fault, raw
    names = tuple(plain(header[at]) for at in kept)
    dropped = tuple(name for name in header if name in META)
    return replace(
        table,
        records=replace(table.records, cells=cells, faults=faults, raws=raws),
        layout=replace(table.layout, header=names, width=len(kept), usual=len(kept)),
        decisions=replace(table.decisions, dropped_columns=dropped),
    )


def _lead_file(source: Source, table: _Table) -> LeadFile:
    records, layout = table.records, table.layout
    names = unique_names(layout.header, layout.width)
    cells, faults, warnings = _fit(table)
    starts = np.asarray(records.starts, dtype=np.int64)
    leads = np.asarray(layout.leads, dtype=np.int64)
    # Records are counted from the first one behind the header.
    first = min([*layout.leads, *(at for at, _ in layout.furniture)], default=0)
    header_line = None if layout.header_record is None else int(starts[layout.header_record]) + 1
    # What stands above the first lead is no record.
    left_out: list[tuple[int, int | None, str]] = [(at, None, code) for at, code in layout.preface]
    left_out += [(at, at - first + 1, code) for at, code in layout.furniture]
    skipped = [
        Skipped(records.starts[at] + 1, row, code, records.raw(at), records.cells[at])
        for at, row, code in left_out
    ]
    if table.sep_line:
        skipped.insert(0, Skipped(1, None, "sep_line", records.lines.texts[0], []))
    decisions = replace(
        table.decisions,
        header_line=header_line,
        header_confidence=layout.confidence,
        preamble_lines=tuple(records.starts[at] + 1 for at, _ in layout.preface),
    )
    return LeadFile(
        path=source.path,
        frame=text_frame(cells, names),
        header=layout.header,
        lines=starts[leads] + 1,
        rows=leads - first + 1,
        skipped=skipped_frame(names, skipped),
        decisions=decisions,
        sha256=source.sha256,
        faults=MappingProxyType(faults),
        warnings=MappingProxyType(warnings),
        raws=MappingProxyType({at: records.raw(layout.leads[at]) for at in faults}),
    )


def _fit(table: _Table) -> tuple[list[list[str]], dict[int, str], dict[int, tuple[str, ...]]]:
    """Cells of each lead in the table's width, with the faults and warnings of its row."""
    records, layout = table.records, table.layout
    cells: list[list[str]] = []
    faults: dict[int, str] = {}
    warnings: dict[int, tuple[str, ...]] = {}
    rows = [records.cells[record] for record in layout.leads]
    filled = asked_once(rows, lambda row: wide(row, layout.width))
    for at, (record, row) in enumerate(zip(layout.leads, rows, strict=True)):
        fault = records.faults.get(record)
        # Delimiters at the end of a record are what spreadsheets leave of empty columns.
        if fault is None and len(row) > layout.width and not is_blank(row[layout.width :]):
            fault = "too_many_cells"
        codes = [records.warnings[record]] if record in records.warnings else []
        # Programs leave out empty cells at the end; cells that are missing in the middle look the same.
        if fault is None and len(row) < layout.usual:
            codes.append("short_row")
        if record in table.repaired:
            codes.append("encoding_repaired")
        if fault is not None:
            faults[at] = fault
        if codes:
            warnings[at] = tuple(codes)
        cells.append(next(filled))
    return cells, faults, warnings


# A record with a cell too many stands in the reject file with its cells where they fell: phone number
# perhaps under the name. Cleaned again as it is it would look whole, so it keeps its reason for as long
# as its cells are those that its own text (`_raw`) gives. Who finds them right as they are empties
# `_reason`.

#: Damage that the cells do not show.
DAMAGE: Final = ("unclosed_quote", "too_many_cells")
_QUOTES: Final = ('"', "'", None)


def damage(cells: Sequence[str], reason: str, all_reasons: str, raw: str) -> str | None:
    """The damage that a record of a reject file still has, or None.

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
    for delimiter, quote, skip_space in product(EXPECTED, _QUOTES, (False, True)):
        if delimiter in raw:
            dialect = Dialect(delimiter, quote, skip_space=skip_space)
            for read in (scan(raw, dialect).cells, *parse(lines, dialect, Shape(width)).cells[:1]):
                if [cell.strip() for cell in wide(read, width)] == [*map(str.strip, cells)]:
                    return fault
    return None
