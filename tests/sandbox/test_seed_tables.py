"""Tables of plain values."""

from __future__ import annotations

import numpy as np
import pytest

from dialframe.sandbox.seed.sizes_and_columns import ROWS_AT_ONCE, Column, Table


def test_rows_are_plain_values_as_often_as_they_are_read() -> None:
    """Null, text and whole numbers are Python's own; a table longer than one part loses no row at the seam."""
    count = 2 * ROWS_AT_ONCE + 7
    numbers = np.arange(count)
    table = Table.of(
        {
            "number": Column(np.where(numbers == 1, -1, numbers)),
            "word": Column(np.where(numbers == 1, -1, numbers % 2), ("no", "yes")),
            "text": Column([None, *map(str, range(1, count))]),
        }
    )
    rows = list(table.rows)
    assert (table.columns, len(table)) == (("number", "word", "text"), count)
    assert rows[:3] == [(0, "no", None), (None, None, "1"), (2, "no", "2")]
    assert rows[3:] == [(n, ("no", "yes")[n % 2], str(n)) for n in range(3, count)]
    assert rows == list(table.rows)
    assert [type(value) for value in rows[2]] == [int, str, str]


def test_columns_of_different_lengths_are_refused() -> None:
    """A table whose columns do not fit together is not made."""
    with pytest.raises(ValueError, match="different lengths"):
        Table.of({"a": Column(["x"]), "b": Column([])})
