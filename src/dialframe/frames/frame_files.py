"""Tables as files, and files or frames of one's own as tables: with the dtypes of the contract's fields."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import pandas as pd
import pyarrow as pa
from pyarrow import csv

from dialframe.csv_safety import escape_frame, unescape_frame
from dialframe.errors import ConfigError
from dialframe.frames.frame_schemas import (
    DTYPES,
    PROVENANCE,
    TABLES,
    Column,
    Kind,
    Table,
    as_json,
    from_columns,
)
from dialframe.privacy import redact

__all__ = ["WRITERS", "conform", "read", "workbook"]

_INSTANT: Final = "%Y-%m-%dT%H:%M:%S.%fZ"
#: Rows of a worksheet, and characters of a cell.
_SHEET_ROWS: Final = 1_048_576
_CELL_CHARS: Final = 32_767
#: When each file says that it was made, so that the same table is the same file.
_MADE: Final = datetime(1980, 1, 1)  # noqa: DTZ001 - a worksheet knows no zone
_FLAGS: Final = {"true": True, "false": False, "1": True, "0": False}
_MANY: Final = 6


def _csv_bytes(frame: pd.DataFrame) -> bytes:
    # A null is nothing and an empty text is "", so that both come back as they were.
    safe = escape_frame(_plain(frame))
    texts = {name: safe[name].where(frame[name].notna()) for name in safe.columns}
    sink = io.BytesIO()
    csv.write_csv(pa.Table.from_pandas(pd.DataFrame(texts), preserve_index=False), sink)
    return sink.getvalue()


def _xlsx_bytes(frame: pd.DataFrame) -> bytes:
    return workbook({str(frame.attrs.get("table", "table"))[:31]: frame})


def workbook(sheets: Mapping[str, pd.DataFrame]) -> bytes:
    """An Excel file with a table on each sheet, its header fixed and with filters; the same tables give the same bytes.

    Args:
        sheets: Name of each sheet to its table; numbers of people are text, since Excel rounds long ones.

    Raises:
        ConfigError: A table has more rows, or a text more characters, than a worksheet takes.
    """
    import xlsxwriter

    sink = io.BytesIO()
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    with xlsxwriter.Workbook(sink, options) as book:
        book.set_properties({"created": _MADE})
        for title, frame in sheets.items():
            sheet, plain = book.add_worksheet(title), _plain(frame)
            sheet.freeze_panes(1, 0)
            if len(plain.columns):
                sheet.autofilter(0, 0, max(len(plain), 1), len(plain.columns) - 1)
            _fill(sheet, plain)
    return sink.getvalue()


def _fill(sheet: Any, plain: pd.DataFrame) -> None:
    """The header and the cells of a worksheet."""
    if len(plain) >= _SHEET_ROWS:
        raise ConfigError(
            f"a worksheet has {_SHEET_ROWS - 1:,} rows and these are {len(plain):,}: write .parquet or .csv"
        )
    for place, name in enumerate(plain.columns):
        sheet.write_string(0, place, str(name))
        for row, value in enumerate(plain[name].tolist(), 1):
            if pd.isna(value):
                continue
            if isinstance(value, str):
                if len(value) > _CELL_CHARS:
                    raise ConfigError(
                        f"{name}: a text has {len(value):,} characters, and a cell of a worksheet holds "
                        f"{_CELL_CHARS:,}: write .parquet or .csv"
                    )
                sheet.write_string(row, place, value)
            elif isinstance(value, bool):
                sheet.write_boolean(row, place, value)
            else:
                sheet.write_number(row, place, value)


def _plain(frame: pd.DataFrame) -> pd.DataFrame:
    """Instants as ISO 8601 text in UTC, everything else as it is."""
    return pd.DataFrame(
        {
            name: column.dt.strftime(_INSTANT).astype("str")
            if isinstance(column.dtype, pd.DatetimeTZDtype)
            else column
            for name, column in frame.items()
        },
        index=frame.index,
    )


#: How a table is written, by the ending of the file's name.
WRITERS: Final[Mapping[str, Callable[[pd.DataFrame], bytes]]] = {
    ".parquet": lambda frame: bytes(frame.to_parquet(index=False, compression="zstd")),
    ".csv": _csv_bytes,
    ".xlsx": _xlsx_bytes,
    ".jsonl": lambda frame: str(
        frame.to_json(orient="records", lines=True, date_format="iso", date_unit="us")
    ).encode(),
}


def read(path: str | Path, table: str | None = None) -> pd.DataFrame:
    """Read a table that `dialframe export` wrote: the same frame, with the dtypes of the contract's fields.

    Args:
        path: The file: .parquet, .csv, .xlsx or .jsonl.
        table: Name of the table, such as `calls`; None to know it by its columns.

    Returns:
        The table's columns and what an account's frame has behind them.

    Raises:
        ConfigError: There is no such file or kind of file, no table has its columns, or a value is not of its kind.

    Example:
        calls = dialframe.read("calls.parquet")
    """
    file = Path(path)
    ending = file.suffix.lower()
    if ending not in WRITERS:
        raise ConfigError(f"{file}: the file's name has to end in {', '.join(WRITERS)}")
    try:
        frame = _READERS[ending](file)
    except FileNotFoundError:
        raise ConfigError(f"{file}: there is no such file") from None
    except (OSError, ValueError, pa.ArrowException) as error:
        raise ConfigError(
            f"{file}: it cannot be read as {ending} ({type(error).__name__})"
        ) from None
    return conform(frame, table or _table_of(frame, file))


def _read_csv(file: Path) -> pd.DataFrame:
    data = file.read_bytes()
    names = csv.read_csv(
        io.BytesIO(data.partition(b"\n")[0] + b"\n"),
        read_options=csv.ReadOptions(autogenerate_column_names=True),
    ).to_pylist()
    header = [str(value) for value in names[0].values()] if names else []
    read_options = csv.ReadOptions(column_names=header, skip_rows=1)
    convert = csv.ConvertOptions(
        column_types=dict.fromkeys(header, pa.large_string()),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    parse = csv.ParseOptions(newlines_in_values=True)
    table = csv.read_csv(
        io.BytesIO(data), read_options=read_options, convert_options=convert, parse_options=parse
    )
    return unescape_frame(table.to_pandas().astype("str"))


def _read_xlsx(file: Path) -> pd.DataFrame:
    import python_calamine

    try:
        book = python_calamine.CalamineWorkbook.from_path(file)
    except python_calamine.CalamineError as error:
        raise ValueError(str(error)) from None
    header, *rows = book.get_sheet_by_index(0).to_python(skip_empty_area=False) or [[]]
    cells = [[None if cell == "" else cell for cell in row] for row in rows]
    return pd.DataFrame(cells, columns=[str(name) for name in header], dtype=object)


def _read_jsonl(file: Path) -> pd.DataFrame:
    with file.open(encoding="utf-8") as lines:
        return pd.DataFrame([json.loads(line) for line in lines], dtype=object)


_READERS: Final[Mapping[str, Callable[[Path], pd.DataFrame]]] = {
    ".parquet": pd.read_parquet,
    ".csv": _read_csv,
    ".xlsx": _read_xlsx,
    ".jsonl": _read_jsonl,
}


def _table_of(frame: pd.DataFrame, file: Path) -> str:
    names = {str(name) for name in frame.columns} - {column.name for column in PROVENANCE}
    for table in TABLES.values():
        if names == set(table.names):
            return table.name
    raise ConfigError(
        f"{file}: its columns are those of no table: give table=, one of {', '.join(TABLES)}, or use "
        "dialframe.frames.conform with columns="
    )


def conform(
    frame: pd.DataFrame,
    table: str,
    columns: Mapping[str, str] | None = None,
    *,
    time_zone: str | None = None,
) -> pd.DataFrame:
    """A frame of one's own as one of the tables: its columns in order, with the dtypes of the contract's fields.

    Args:
        frame: Any frame.
        table: Name of the table, such as `calls`.
        columns: What the frame calls a column of the table: `{"created_at": "Start time"}`. A column that is
            not named here is taken by the table's own name.
        time_zone: Zone of times that name none (IANA), such as `America/New_York`.

    Returns:
        One row for each, in the same order. Columns that the frame lacks are null; what the table does not name
        is kept in `_extra`, where it has that column.

    Raises:
        ConfigError: There is no such table or column, a key is missing, or a value is not of its kind.

    Example:
        >>> import pandas as pd
        >>> own = pd.DataFrame({"call": ["c1"], "when": ["2026-10-05T12:00:00Z"]})
        >>> calls = conform(own, "calls", columns={"id": "call", "created_at": "when"})
        >>> str(calls["created_at"].dtype)
        'datetime64[us, UTC]'
    """
    if table not in TABLES:
        raise ConfigError(f"there is no table {table!r}; the tables are {', '.join(TABLES)}")
    shape, index, frame = TABLES[table], frame.index, frame.reset_index(drop=True)
    behind = tuple(column for column in PROVENANCE if column.name in frame.columns)
    every = (*shape.columns, *behind)
    source = _sources(frame, shape, every, columns or {})
    taken = set(source.values())
    values: dict[str, Any] = {
        column.name: _values(frame[source[column.name]], column, time_zone)
        for column in every
        if column.name in source
    }
    unnamed = [name for name in frame.columns if name not in taken]
    if unnamed and "_extra" in shape.names:
        kept = _extra(frame[unnamed])
        own = values.get("_extra", [None] * len(frame))
        values["_extra"] = [a if a is not None else b for a, b in zip(own, kept, strict=True)]
    made = from_columns(shape, values or {shape.key[0]: []}, behind)
    return made.set_index(index) if len(made) == len(index) else made


def _sources(
    frame: pd.DataFrame, shape: Table, every: tuple[Column, ...], given: Mapping[str, str]
) -> dict[str, str]:
    """The frame's column of each column of the table."""
    names = [column.name for column in every]
    for name, own in given.items():
        if name not in names:
            raise ConfigError(
                f"columns: {shape.name} has no column {name!r}; it has {', '.join(names)}"
            )
        if own not in frame.columns:
            shown = ", ".join(map(str, frame.columns[:_MANY]))
            raise ConfigError(f"columns: the frame has no column {own!r}; it has {shown} ...")
    source = {name: name for name in names if name in frame.columns and name not in given}
    source |= given
    for key in shape.key:
        if key not in source:
            raise ConfigError(
                f"{shape.name} needs {key}, and no column of the frame is: name it in columns="
            )
    return source


def _values(
    column: pd.Series[Any], wanted: Column, time_zone: str | None
) -> list[Any] | pd.Series[Any]:
    if str(column.dtype) == DTYPES[wanted.kind]:
        return column
    if wanted.kind == "instant":
        return _instants(column, wanted.name, time_zone)
    return [
        None if _is_null(value) else _CASTS[wanted.kind](value, wanted.name) for value in column
    ]


def _instants(column: pd.Series[Any], name: str, time_zone: str | None) -> pd.Series[Any]:
    if isinstance(column.dtype, pd.DatetimeTZDtype):
        return column.dt.tz_convert("UTC").astype(DTYPES["instant"])
    known = column.dropna()
    if isinstance(known.dtype, pd.DatetimeTZDtype) or known.empty:
        return pd.to_datetime(column, utc=True).astype(DTYPES["instant"])
    zoned = known.astype("str").str.fullmatch(r".*(?:Z|[+-]\d\d:?\d\d)", case=False)
    try:
        if bool(zoned.all()):
            return pd.to_datetime(column, utc=True, format="ISO8601").astype(DTYPES["instant"])
        if time_zone is None:
            bad = redact(str(known[~zoned].iloc[0]))
            raise ConfigError(f"{name}: {bad!r} names no time zone: give time_zone=")
        naive = pd.to_datetime(column, format="ISO8601")
        local = naive.dt.tz_localize(time_zone, ambiguous=True, nonexistent="shift_forward")
        return local.dt.tz_convert("UTC").astype(DTYPES["instant"])
    except (ValueError, TypeError) as error:
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(f"{name}: a value is not a time in ISO 8601") from None


def _is_null(value: Any) -> bool:
    return value is None or (not isinstance(value, list | dict | str) and bool(pd.isna(value)))


def _number(value: Any, name: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ConfigError(f"{name}: {redact(str(value))!r} is not a number") from None


def _integer(value: Any, name: str) -> int:
    # A large integer of a text has more digits than a float.
    if isinstance(value, str) and value.strip().lstrip("+-").isdigit():
        return int(value)
    if isinstance(value, int):
        return value
    number = _number(value, name)
    if not number.is_integer():
        raise ConfigError(f"{name}: {number} is no whole number")
    return int(number)


def _flag(value: Any, name: str) -> bool:
    flag = _FLAGS.get(str(value).strip().lower())
    if flag is None:
        raise ConfigError(f"{name}: {redact(str(value))!r} is neither true nor false")
    return flag


def _text(value: Any, name: str) -> str:
    del name
    # A number that came as one, such as an id: 12.0 is 12.
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


_CASTS: Final[Mapping[Kind, Callable[[Any, str], Any]]] = {
    "text": _text,
    "day": lambda value, _: value.date().isoformat() if hasattr(value, "date") else str(value),
    "integer": _integer,
    "number": _number,
    "boolean": _flag,
    "json": lambda value, _: value if isinstance(value, str) else as_json(value),
}


def _extra(frame: pd.DataFrame) -> list[str | None]:
    rows = []
    for record in frame.to_dict("records"):
        fields = {str(name): value for name, value in record.items() if not _is_null(value)}
        rows.append(as_json(fields) if fields else None)
    return rows
