"""Tables of plain values, and the ids in them."""

from __future__ import annotations

import re
import uuid

import numpy as np
import pytest

from dialframe.sandbox.seed import sizes_and_columns
from dialframe.sandbox.seed.sizes_and_columns import ROWS_AT_ONCE, Coded, Integers, Table, Texts


def test_rows_are_tuples_of_plain_values() -> None:
    """Null, text and whole numbers come out as Python's own, as often as they are read."""
    table = Table.of(
        {
            "number": Integers(np.array([1, 2, 3]), np.array([False, True, False])),
            "word": Coded(np.array([1, -1, 0]), ("no", "yes")),
            "text": Texts(["a", None, "c"]),
        }
    )
    wanted = [(1, "yes", "a"), (None, None, None), (3, "no", "c")]
    assert table.columns == ("number", "word", "text")
    assert list(table.rows) == wanted
    assert list(table.rows) == wanted
    assert [type(value) for value in next(iter(table.rows))] == [int, str, str]


def test_rows_go_on_after_a_part() -> None:
    """A table longer than one part loses no row at the seam."""
    count = 2 * ROWS_AT_ONCE + 7
    table = Table.of(
        {"a": Integers(np.arange(count)), "b": Coded(np.arange(count) % 2, ("x", "y"))}
    )
    assert len(table) == count
    rows = list(table.rows)
    assert [row[0] for row in rows] == list(range(count))
    assert {row[1] for row in rows[1::2]} == {"y"}


def test_columns_of_different_lengths_are_refused() -> None:
    """A table whose columns do not fit together is not made."""
    with pytest.raises(ValueError, match="different lengths"):
        Table.of({"a": Texts(["x"]), "b": Texts([])})


def test_a_table_shows_no_values() -> None:
    """The repr of a table names columns alone: values may be phone numbers."""
    table = Table.of({"phone": Texts(["+12125550142"])})
    assert "+1212" not in repr(table)
    assert "+1212" not in repr(Texts(["+12125550142"]))


def test_ids_are_lower_case_random_uuids() -> None:
    """Every id is its prefix and a version 4 UUID, and no two are the same."""
    made = sizes_and_columns.draw(np.random.Generator(np.random.PCG64(1)), "call_", 2_000)
    assert len(set(made)) == 2_000
    assert all(
        re.fullmatch(r"call_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", id_) for id_ in made
    )
    assert {uuid.UUID(id_.removeprefix("call_")).version for id_ in made} == {4}
    assert {uuid.UUID(id_[5:]).variant for id_ in made} == {uuid.RFC_4122}


def test_no_ids() -> None:
    """None are drawn where none are asked for."""
    assert sizes_and_columns.draw(np.random.Generator(np.random.PCG64(1)), "cb_", 0) == []
