"""Tables of plain values, and the ids in them."""

from __future__ import annotations

import re
import uuid

import numpy as np
import pytest

from dialframe.sandbox.seed import sizes_and_columns
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


def test_a_table_shows_no_values() -> None:
    """The repr of a table names columns alone: values may be phone numbers."""
    phones = Column(["+12125550142"])
    assert "+1212" not in repr(Table.of({"phone": phones})) + repr(phones)


def test_ids_are_lower_case_random_uuids() -> None:
    """Every id is its prefix and a version 4 UUID, and no two are the same."""
    made = sizes_and_columns.draw(np.random.Generator(np.random.PCG64(1)), "call_", 2_000)
    assert len(set(made)) == 2_000
    assert all(
        re.fullmatch(r"call_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", id_) for id_ in made
    )
    assert {uuid.UUID(id_.removeprefix("call_")).version for id_ in made} == {4}
    assert {uuid.UUID(id_[5:]).variant for id_ in made} == {uuid.RFC_4122}
    assert sizes_and_columns.draw(np.random.Generator(np.random.PCG64(1)), "cb_", 0) == []
