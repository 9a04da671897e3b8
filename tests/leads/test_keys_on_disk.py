"""Keys in files of their parts repeat themselves where keys in memory do."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialframe.leads import arrow_text
from dialframe.leads.dedupe import keys_on_disk
from dialframe.leads.dedupe.duplicate_detection import InMemory, Repeats
from dialframe.leads.dedupe.keys_on_disk import Partitions


def found(repeats: Repeats, parts: list[list[str]], *, as_text: bool) -> list[tuple[int, ...]]:
    begin = 0
    for part in parts:
        rows = np.arange(begin, begin + len(part)) * 3
        keys: np.ndarray | pa.Array = arrow_text.column(part)
        if not as_text:
            keys = np.array([int(key or 0) for key in part], np.int64)
        repeats.add(rows, keys, rows + 1)
        begin += len(part)
    twice = [
        [tuple(row) for again in repeats.found() for row in zip(*map(list, again), strict=True)]
        for _ in range(2)
    ]
    assert twice[0] == twice[1]
    return twice[0]


@pytest.mark.parametrize("as_text", [True, False])
@given(st.lists(st.lists(st.integers(0, 60).map(str), max_size=20), max_size=6))
@settings(deadline=None, max_examples=20)
def test_the_disk_finds_what_memory_finds(tmp_path_factory, as_text, parts):
    """Records, the first ones with their keys, and their lines."""
    folder = tmp_path_factory.mktemp("repeats")

    expected = found(InMemory(), parts, as_text=as_text)

    assert found(Partitions(folder), parts, as_text=as_text) == expected


def test_more_records_than_are_handed_over_at_once(tmp_path, monkeypatch):
    """They still come in order."""
    monkeypatch.setattr(keys_on_disk, "_SPAN", 7)
    monkeypatch.setattr(keys_on_disk, "_TAKEN", 5)
    parts = [[str(at % 11) for at in range(40)], [str(at % 7) for at in range(30)]]

    assert found(Partitions(tmp_path), parts, as_text=True) == found(
        InMemory(), parts, as_text=True
    )


def test_one_hash_alone_does_not_make_texts_equal():
    """Rows with the same first hash and another second one are told apart."""
    rows = np.array([[0, 1, 5, 1], [1, 2, 5, 2], [2, 3, 5, 1], [3, 4, 5, 2]], np.int64)

    assert keys_on_disk._by_both(rows).tolist() == [0, 1, 0, 1]
