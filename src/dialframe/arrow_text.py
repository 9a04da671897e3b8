"""Columns of text as Arrow has them: their bytes, and values put into some of their rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    import pandas as pd

Value = TypeVar("Value")

#: The one type of text columns.
TEXT: Final = pa.large_string()
#: Of so many rows is seen whether a column repeats itself.
_SEEN_ROWS: Final = 1000


#: The pools that were in use before those at work now changed them.
_pools_before: Final[list[pa.MemoryPool]] = []
_pools_lock: Final = Lock()


@contextmanager
def system_memory() -> Iterator[None]:
    """Arrow takes memory from the system meanwhile.

    Its own allocator asks for huge pages, and has them cleared anew for many short-lived columns: a
    tenth of the time of cleaning a list.
    """
    with _pools_lock:
        _pools_before.append(pa.default_memory_pool())
        pa.set_memory_pool(pa.system_memory_pool())
    try:
        yield
    finally:
        with _pools_lock:
            # The first of several at work knows what was there before all of them.
            before = _pools_before.pop()
            pa.set_memory_pool(pa.system_memory_pool() if _pools_before else before)


# `pa.array`, `pa.scalar` and `to_numpy` load pandas wherever it is installed, which takes longer than cleaning a
# small list. So columns are made of their buffers here, and their values are read from them (Arrow columnar format).


def column(texts: Iterable[str | None]) -> pa.Array:
    """A column of the texts; None is null."""
    given = list(texts)
    missing = np.array([text is None for text in given], np.bool_)
    words = [text or "" for text in given] if missing.any() else given
    joined = "".join(words)  # type: ignore[arg-type]
    data = joined.encode()
    sizes = words if len(data) == len(joined) else [text.encode() for text in words]  # type: ignore[union-attr]
    starts = np.zeros(len(given) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, sizes), np.int64, len(given)), out=starts[1:])  # type: ignore[arg-type]
    known = _bits(~missing) if missing.any() else None
    buffers = [known, pa.py_buffer(starts), pa.py_buffer(data)]
    return pa.Array.from_buffers(TEXT, len(given), buffers)


def text(word: str) -> pa.Scalar:
    """A text as functions of Arrow take it."""
    return column([word])[0]


def constant(word: str, rows: int) -> pa.Array:
    """The same text in every row."""
    return pa.repeat(text(word), rows)


def numbers(values: np.ndarray | Sequence[Any], missing: np.ndarray | None = None) -> pa.Array:
    """A column of whole numbers or of yes and no.

    Args:
        values: The values, of the type that the column gets.
        missing: Which of them are null.
    """
    given = np.ascontiguousarray(values)
    known = None if missing is None else _bits(~missing)
    if given.dtype == np.bool_:
        return pa.Array.from_buffers(pa.bool_(), len(given), [known, _bits(given)])
    if not len(given):
        given = given.astype(np.int64)
    buffers = [known, pa.py_buffer(given)]
    return pa.Array.from_buffers(pa.from_numpy_dtype(given.dtype), len(given), buffers)


def _bits(values: np.ndarray) -> pa.Buffer:
    # A bit for each row, the first one lowest.
    return pa.py_buffer(np.packbits(values, bitorder="little"))


def values_of(given: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """The values of a column of whole numbers, or of yes and no with null as no; they are not to be changed."""
    array = whole(given)
    if not len(array):
        return np.zeros(0, np.bool_ if pa.types.is_boolean(array.type) else np.int64)
    validity, data = array.buffers()
    if not pa.types.is_boolean(array.type):
        sign = "u" if pa.types.is_unsigned_integer(array.type) else "i"
        width = np.dtype(f"{sign}{array.type.bit_width // 8}")
        return np.frombuffer(data, width)[array.offset : array.offset + len(array)]
    hits = _flags(data, array)
    return hits if validity is None else hits & _flags(validity, array)


def _flags(bits: pa.Buffer, array: pa.Array) -> np.ndarray:
    every = np.unpackbits(np.frombuffer(bits, np.uint8), bitorder="little")
    return every[array.offset : array.offset + len(array)].astype(np.bool_)


def frame(table: pa.Table) -> pd.DataFrame:
    """A table as a frame: texts are `str`, whole numbers `Int64`.

    Args:
        table: Columns of text and of whole numbers.
    """
    import pandas as pd

    text, number = pd.api.types.pandas_dtype("str"), pd.Int64Dtype()
    columns = {
        name: (number if pa.types.is_integer(table[name].type) else text).__from_arrow__(
            table[name]
        )
        for name in table.column_names
    }
    return pd.DataFrame(columns, index=pd.RangeIndex(len(table)))


def whole(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """A column of a table as one piece."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)
    combined = column.combine_chunks()
    return pa.concat_arrays(combined.chunks) if isinstance(combined, pa.ChunkedArray) else combined


def raw(texts: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Bytes of a column without nulls, and where each text begins in them."""
    _, offsets, data = texts.buffers()
    first = texts.offset
    starts = np.frombuffer(offsets, np.int64)[first : first + len(texts) + 1] if offsets else None
    if starts is None or not len(starts):
        starts = np.zeros(1, np.int64)
    content = np.frombuffer(data if data is not None and data.size else b"\0", np.uint8)
    # The bytes are the column's own, which others read, too.
    starts.flags.writeable = content.flags.writeable = False
    return content, starts


def bytes_of(texts: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """The bytes of these texts alone, and where each begins in them; a column without nulls may be part of another."""
    data, starts = raw(texts)
    return data[starts[0] : starts[-1]], starts - starts[0]


def classes(data: np.ndarray, table: np.ndarray) -> np.ndarray:
    """What a table of 256 entries of one byte says of each byte; three times as fast as `take`."""
    return np.frombuffer(bytearray(data).translate(table.tobytes()), np.uint8)


def put(texts: pa.Array, rows: np.ndarray, values: Sequence[str] | pa.Array) -> pa.Array:
    """The column with other texts in some rows, which are in order."""
    if not len(rows):
        return texts
    new = values if isinstance(values, pa.Array) else column(values)
    # Three times as fast as replacing by a mask.
    order = np.arange(len(texts))
    order[rows] = np.arange(len(rows)) + len(texts)
    return pa.concat_arrays([texts, new]).take(numbers(order))


def take(texts: pa.Array, rows: np.ndarray) -> pa.Array:
    """The texts of some rows, each once and in order."""
    if len(rows) == len(texts):
        return texts
    # A run of rows costs nothing: a slice shares the bytes.
    if len(rows) and rows[-1] - rows[0] == len(rows) - 1:
        return texts.slice(rows[0], len(rows))
    return texts.take(numbers(rows))


def sizes(texts: pa.Array) -> np.ndarray:
    """Bytes of each text."""
    return np.diff(raw(texts)[1])


def rows_of(places: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """The rows in which bytes stand, each once, in order.

    Args:
        places: Places of bytes, in order.
        starts: Where each text begins, as `raw` gives it.
    """
    rows = np.searchsorted(starts, places, side="right") - 1
    return rows[np.diff(rows, prepend=-1) > 0]


def repeats(texts: pa.Array) -> bool:
    """Whether a column of many rows seems to have few different texts, by its first ones."""
    return len(texts) > _SEEN_ROWS and len(texts.slice(0, _SEEN_ROWS).unique()) < _SEEN_ROWS // 2


def by_distinct(texts: pa.Array, read: Callable[[str], Value]) -> tuple[np.ndarray, list[Value]]:
    """`read` of each distinct text, and for each row which of them it is."""
    # Names, cities and answers repeat; reading a text takes longer than finding it again.
    encoded = texts.dictionary_encode()
    values = [read(text) for text in encoded.dictionary.to_pylist()]
    return values_of(encoded.indices), values


def mapped(texts: pa.Array, change: Callable[[str], str]) -> pa.Array:
    """The column with `change` of each text in its place."""
    which, values = by_distinct(texts, change)
    return column(values).take(numbers(which))


def matches(texts: pa.Array, pattern: str) -> np.ndarray:
    """Which texts have a match of a regular expression (RE2)."""
    hits = pc.match_substring_regex(texts, pattern)
    return values_of(hits)


def picked(values: Sequence[Any], codes: np.ndarray, dtype: Any) -> np.ndarray:
    """The value of each row as an array."""
    table = np.empty(len(values), dtype)
    table[:] = values
    return np.asarray(table[codes])
