"""JSON lines, JSON arrays and Parquet as text.

Nothing is coerced: a number stays the digits that stand in the file, null becomes an empty cell,
an object inside a record becomes columns `outer.inner`, a list stays JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from dialframe.errors import LeadFileError
from dialframe.leads.lead_file import LINE_END, Lines, Records, check_width
from dialframe.leads.reading.workbook import shown

_SPACE: Final = re.compile(r"\s*")
_HALF_PAIR: Final = re.compile("[\ud800-\udfff]")
_LIST_SEPARATOR: Final = "; "


#: Most cells of a table whose records name their own columns; each is held in memory.
MOST_CELLS: Final = 50_000_000
_MOST_PARQUET_BYTES: Final = 2**30
#: A Parquet file of more cells than `_FEW_CELLS`, and of so many for each of its bytes, repeats a few values
#: as no list does: numbers that differ cost some bytes a row.
_MOST_CELLS_PER_BYTE: Final = 50
_FEW_CELLS: Final = 500_000
_DEEPEST: Final = 8


@dataclass(frozen=True, slots=True)
class Keyed:
    """Records whose cells have names.

    Attributes:
        names: Every name, in order of first appearance; None where the records are plain lists,
            the first of which may be the header.
        records: Cells in the order of `names`.
        format: `jsonl`, `json` or `parquet`.
    """

    names: tuple[str, ...] | None
    records: Records
    format: str


class _Pairs(list[tuple[str, Any]]):
    """A JSON object as its pairs, so that order and repeated names survive."""


class _Number(str):
    """A JSON number as its own digits."""

    __slots__ = ()


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_Pairs, parse_float=_Number, parse_int=_Number, parse_constant=_Number
)


def read_json(path: Path, text: str, lines: Lines) -> Keyed | None:
    """The records of a JSON file, or None where the text is no JSON.

    One object or list a line, an array of objects, of lists or of values, an object that holds
    such an array at any depth, an object of objects, or a single object.

    Raises:
        LeadFileError: An array begins and breaks off, or the records have too many names.
    """
    begin = _skip(text, 0)
    if not text.startswith(("{", "["), begin):
        return None
    # JSON lines: each is a text of its own (jsonlines.org).
    filled = [line for line in lines.texts if line.strip()]
    first = _load(filled[0])
    if len(filled) > 1 and isinstance(first, (_Pairs, list)):
        return _from_lines(path, lines)
    # An array of objects is read element by element, so that a break has a line.
    if text.startswith("[", begin):
        records = text.startswith("{", _skip(text, begin + 1))
        array = begin + 1 if records or isinstance(_load(text), list) else None
    else:
        array = _array(text, begin, 0)[0]
    if array is not None:
        return _from_array(path, text, array)
    value = _load(text)
    return _from_object(path, text, value) if isinstance(value, _Pairs) else None


def read_parquet(path: Path, data: bytes) -> Keyed:
    """The records of a Parquet file, in its order.

    Raises:
        LeadFileError: It is damaged.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(pa.BufferReader(data))
        # Before a column is read: a few kilobytes of runs may stand for gigabytes.
        _check_size(path, file.metadata, len(data))
        table = file.read()
        columns = [[_value(cell) for cell in column.to_pylist()] for column in table.columns]
    except (pa.ArrowException, OSError, ValueError, OverflowError, KeyError) as problem:
        why = (str(problem).splitlines() or [type(problem).__name__])[0]
        raise LeadFileError(f"{path} is a damaged Parquet file: {why}", path=path) from None
    cells = [list(row) for row in zip(*columns, strict=True)]
    places = list(range(len(cells)))
    records = Records(cells, places, [index + 1 for index in places])
    return Keyed(tuple(table.column_names), records, "parquet")


def _check_size(path: Path, metadata: Any, packed_bytes: int) -> None:
    """Refuse what would not fit into memory, by what the file says of itself."""
    size = sum(metadata.row_group(at).total_byte_size for at in range(metadata.num_row_groups))
    cells = metadata.num_rows * max(1, metadata.num_columns)
    if cells > MOST_CELLS or size > _MOST_PARQUET_BYTES:
        raise LeadFileError(
            f"{path} holds {metadata.num_rows:,} records of {metadata.num_columns:,} columns, too "
            "many to be read at once; split it first",
            path=path,
        )
    if cells > max(_FEW_CELLS, packed_bytes * _MOST_CELLS_PER_BYTE):
        raise LeadFileError(
            f"{path} says it holds {metadata.num_rows:,} records in {packed_bytes:,} bytes, as no list "
            "does; it is not read",
            path=path,
        )


def _from_lines(path: Path, lines: Lines) -> Keyed:
    # Equal lines are parsed once: a file of one broken line half a million times is one, too.
    loaded = {line: _load(line) if line.strip() else _Pairs() for line in set(lines.texts)}
    values = [loaded[line] for line in lines.texts]
    places = list(range(len(values)))
    return _table(path, values, places, [index + 1 for index in places], lines.texts, "jsonl")


def _from_object(path: Path, text: str, value: _Pairs) -> Keyed:
    """An object of objects, each of which is a record, or one object that is one."""
    inner = [item for _, item in value]
    values = inner if inner and all(isinstance(item, _Pairs) for item in inner) else [value]
    line = len(LINE_END.findall(text, 0, _skip(text, 0)))
    stop = line + len(LINE_END.findall(text.strip())) + 1
    count = len(values)
    return _table(path, values, [line] * count, [stop] * count, [text] * count, "json")


def _from_array(path: Path, text: str, begin: int) -> Keyed:
    values: list[Any] = []
    starts: list[int] = []
    stops: list[int] = []
    raws: list[str] = []
    line, seen = 0, 0
    for value, start, end in _elements(path, text, begin):
        line += len(LINE_END.findall(text, seen, start))
        values.append(value)
        starts.append(line)
        raws.append(text[start:end])
        line += len(LINE_END.findall(text, start, end))
        stops.append(line + 1)
        seen = end
    return _table(path, values, starts, stops, raws, "json")


def _elements(path: Path, text: str, begin: int) -> Iterator[tuple[Any, int, int]]:
    """Each element of the array whose bracket stands before `begin`, with its place."""
    at = _skip(text, begin)
    while not text.startswith("]", at):
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            # Nesting without end is damage like any other.
            value, end = None, len(text)
        behind = _skip(text, end)
        # Behind a break nothing can be trusted, since nobody knows where the next record begins.
        if text[behind : behind + 1] not in (",", "]"):
            line = len(LINE_END.findall(text, 0, at)) + 1
            raise LeadFileError(
                f"{path} is damaged JSON in the record that begins on line {line}",
                path=path,
                line=line,
            )
        yield value, at, end
        at = _skip(text, behind + 1) if text[behind] == "," else behind


def _array(text: str, begin: int, depth: int) -> tuple[int | None, int]:
    """Where the elements of the first array of records in the object begin, and where it ends."""
    at = _skip(text, begin + 1)
    while text.startswith('"', at):
        try:
            _, end = _DECODER.raw_decode(text, at)
            colon = _skip(text, end)
            value = _skip(text, colon + 1)
            # An array of plain values beside the records is a list of something else.
            if text.startswith("[", value) and text.startswith(("{", "["), _skip(text, value + 1)):
                return value + 1, value
            if text.startswith("{", value) and depth < _DEEPEST:
                array, end = _array(text, value, depth + 1)
                if array is not None:
                    return array, end
            if not text.startswith("{", value) or depth >= _DEEPEST:
                _, end = _DECODER.raw_decode(text, value)
        except (ValueError, RecursionError):
            return None, len(text)
        behind = _skip(text, end)
        if not text.startswith(",", behind):
            return None, behind + 1
        at = _skip(text, behind + 1)
    return None, at + 1


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _load(line: str) -> Any:
    """The line's value, or None where it is none."""
    try:
        return _DECODER.decode(line)
    except (ValueError, RecursionError):
        return None


def _table(
    path: Path,
    values: list[Any],
    starts: list[int],
    stops: list[int],
    raws: Sequence[str],
    form: str,
) -> Keyed:
    # Lists have no names: the first of them may be the header.
    if values and not any(isinstance(value, _Pairs) and value for value in values):
        cells = [_listed(value) for value in values]
        return Keyed(None, Records(cells, starts, stops, raws=dict(enumerate(raws))), form)
    flats = [_flattened(value) for value in values]
    names = tuple(dict.fromkeys(name for flat in flats if flat for name in flat))
    if len(names) * len(flats) > MOST_CELLS:
        raise LeadFileError(
            f"{path} holds {len(flats):,} records with {len(names):,} names between them, too many "
            "for a table; is it a list of leads?",
            path=path,
        )
    check_width(len(names))
    # A record that lacks a name has an empty cell there.
    cells = [[flat.get(name, "") for name in names] if flat else [] for flat in flats]
    bad = [at for at, flat in enumerate(flats) if flat is None]
    records = Records(
        cells,
        starts,
        stops,
        faults=dict.fromkeys(bad, "undecodable"),
        raws={at: raws[at] for at in bad},
    )
    return Keyed(names, records, form)


def _listed(value: Any) -> list[str]:
    """Cells of a record that is a list, or a single value."""
    if isinstance(value, list):
        return [_text(cell) if not isinstance(cell, _Pairs) else _json(cell) for cell in value]
    return [] if isinstance(value, _Pairs) else [_text(value)]


def _flattened(value: Any) -> dict[str, str] | None:
    """Name to text of a record, or None where it is no object or nested beyond reason."""
    try:
        return _flat(value) if isinstance(value, _Pairs) else None
    except RecursionError:
        return None


def _flat(pairs: _Pairs, prefix: str = "") -> dict[str, str]:
    flat: dict[str, str] = {}
    copies: dict[str, int] = {}
    for key, value in pairs:
        if isinstance(value, _Pairs):
            flat |= _flat(value, f"{prefix}{key}.")
            continue
        # RFC 8259, 4: names should be unique, and what is not is still the sender's data.
        name, copy = _text(f"{prefix}{key}"), copies.get(key, 2)
        while name in flat:
            name, copy = f"{prefix}{key} ({copy})", copy + 1
        copies[key] = copy
        flat[name] = _text(value)
    return flat


def _text(value: Any) -> str:
    if isinstance(value, list):
        plain = not any(isinstance(item, list) for item in value)
        return _LIST_SEPARATOR.join(map(_text, value)) if plain else _json(value)
    if value is None:
        return ""
    if isinstance(value, str):
        # An escape such as \\ud800 alone is no character and could not be written again.
        return value if value.isascii() else _HALF_PAIR.sub("\ufffd", value)
    return "true" if value else "false"


def _json(value: Any) -> str:
    if isinstance(value, _Number):
        return str(value)
    if isinstance(value, _Pairs):
        return "{" + ",".join(f"{json.dumps(key)}:{_json(item)}" for key, item in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_json, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _value(cell: Any) -> str:
    """A Parquet value as text."""
    # Columns of bytes are text in files of older programs.
    if isinstance(cell, bytes):
        return cell.decode("utf-8", errors="backslashreplace")
    if isinstance(cell, (list, dict)):
        return json.dumps(cell, ensure_ascii=False, default=str)
    return shown(cell)
