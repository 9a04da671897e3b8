"""Loops are interpreted while there is little to do and compiled from then on, with one answer."""

from __future__ import annotations

import importlib
import pickle
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialframe import compiled as module
from dialframe.compiled import compiled
from dialframe.leads import texts
from dialframe.leads.judging import cell_kernel
from dialframe.leads.reading import cell_splitting
from dialframe.leads.writing import csv_rows

numba = pytest.importorskip("numba", reason="there is nothing to compare without it")

_TABLE = np.arange(256)


@compiled
def _double(value):
    return 2 * value


@compiled
def _sum(data, out):
    total = 0
    for at in range(len(data)):
        total += _double(_TABLE[data[at]])
    out[0] = total
    return total


def forced(function, *arguments):
    """The answer of compiled code, whatever the size."""
    function._compile()
    return function._compiled(*arguments)


def test_a_small_input_is_interpreted_and_much_input_compiled(monkeypatch):
    """The switch is the number of bytes that were seen."""
    monkeypatch.setattr(module, "KEPT_BYTES", 100)
    monkeypatch.setattr(module, "NEW_BYTES", 100)
    out = np.zeros(1, np.int64)

    assert _sum(np.frombuffer(b"abc", np.uint8), out) == 2 * sum(b"abc")
    assert _sum._compiled is None
    assert _sum(np.frombuffer(b"abc" * 40, np.uint8), out) == 80 * sum(b"abc")
    assert _sum._compiled is not None
    assert out[0] == 80 * sum(b"abc")


def test_without_numba_everything_is_interpreted(monkeypatch):
    """However large it is."""
    monkeypatch.setattr(module, "is_available", lambda: False)
    function = module.Compiled(_sum.function, None)

    assert function(np.frombuffer(b"a" * 10_000, np.uint8), np.zeros(1, np.int64)) == 10_000 * 194
    assert function._compiled is None


def test_no_folder_for_compiled_code_is_needed(monkeypatch):
    """A read-only installation compiles in memory."""

    def njit(*, cache=False, nogil=False):
        if cache:
            raise RuntimeError("no locator available")
        return numba.jit(nopython=True, nogil=nogil)

    monkeypatch.setattr(numba, "njit", njit)
    fresh = module.jit(_double.function)

    assert fresh(4) == 8


def test_kept_code_that_cannot_be_loaded_is_compiled_anew(tmp_path, monkeypatch):
    """Empty, damaged, or of a module that is not here."""
    (tmp_path / "thrice.py").write_text("def thrice(value):\n    return 3 * value\n")
    monkeypatch.syspath_prepend(tmp_path)
    thrice = importlib.import_module("thrice").thrice
    monkeypatch.delitem(sys.modules, "thrice")
    assert module.jit(thrice)(4) == 12
    (index,) = (tmp_path / "__pycache__").glob("thrice.thrice-*.nbi")
    version = pickle.dumps(numba.__version__, pickle.HIGHEST_PROTOCOL)
    assert index.read_bytes().startswith(version)

    for damage in (b"", version, version + b"no code", version + b"cnowhere\nName\n."):
        index.write_bytes(damage)
        assert module.is_kept(tmp_path / "thrice.py", "thrice")
        assert module.jit(thrice)(5) == 15


CELLS = st.lists(
    st.one_of(
        st.text(max_size=20),
        st.from_regex(r"[+(]?[0-9 ().-]{0,14}(x|ext\.?)?[0-9]{0,5}(\.0)?", fullmatch=True),
        st.from_regex(r"[a-z.]{1,8}@[a-z-]{1,8}(\.[a-z]{1,4})?", fullmatch=True),
        st.sampled_from(["n/a", "=1+1", "+12125550142", "'x", "-5", 'a"b', "", "1,234,567"]),
    ),
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(CELLS)
def test_cells_are_judged_alike_interpreted_and_compiled(cells):
    """Every function of the kernel, on the same bytes."""
    cells = [cell.encode("utf-8", "ignore").decode() for cell in cells]
    data, offsets = texts.raw(texts.column(cells))
    count = len(cells)
    for function, outs in (
        (cell_kernel.tidy, (np.uint8,)),
        (cell_kernel.wordless, (np.bool_,)),
        (cell_kernel.emails, (np.uint8,)),
        (cell_kernel.phones, (np.uint8, np.int64)),
        (cell_kernel.keys, (np.int64, np.int64)),
    ):
        slow = [np.zeros(count, dtype) for dtype in outs]
        fast = [np.zeros(count, dtype) for dtype in outs]
        function._interpret((data, offsets, *slow))
        forced(function, data, offsets, *fast)
        for one, other in zip(slow, fast, strict=True):
            assert one.tolist() == other.tolist(), function.name


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.text('ab",;\n 1+(', max_size=5), min_size=3, max_size=3), max_size=6))
def test_lines_are_split_alike_interpreted_and_compiled(rows):
    """Where cells begin, how long they are, and where the walk stops."""
    text = "\n".join(",".join(row) for row in rows).encode() + b"\n"
    data = np.frombuffer(text, np.uint8)
    answers = []
    for run in (
        cell_splitting.split._interpret,
        lambda given: forced(cell_splitting.split, *given),
    ):
        places = [np.zeros_like(one) for one in cell_splitting.empty_places(40, 3)]
        stop = run((data, 0, len(data), 44, 34, 3, 0, 0, *places))
        answers.append((tuple(map(int, stop)), [one.tolist() for one in places]))
    assert answers[0] == answers[1]


@settings(max_examples=40, deadline=None)
@given(CELLS)
def test_csv_is_written_alike_interpreted_and_compiled(cells):
    """Quotes, apostrophes and line ends."""
    cells = [cell.encode("utf-8", "ignore").decode() for cell in cells] or [""]
    column = texts.column(cells)
    slow = b"".join(bytes(part) for part in csv_rows.rows([column, column]))
    before = csv_rows._write._compiled
    csv_rows._write._compile()
    fast = b"".join(bytes(part) for part in csv_rows.rows([column, column]))
    csv_rows._write._compiled = before

    assert isinstance(column, pa.Array)
    assert slow == fast
