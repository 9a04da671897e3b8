"""A column of texts as numbers, each the way that is quickest for it, with the answer that phonenumbers would give.

Numpy reads the usual shapes (`vectorized`). Where many others are left, and there is a compiler, compiled code reads the whole
column (`kernel`). What neither knows, phonenumbers reads itself, each text once.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from phonenumbers import SUPPORTED_REGIONS, ValidationResult

from dialframe.phones import outcomes
from dialframe.phones.outcomes import NOWHERE, REASONS, WORLD
from dialframe.phones.parse_number import TYPES, Reading, is_placeholder, read_number
from dialframe.phones.vectorized import ABROAD, Usual, plan, read_usual

#: From so many rows on, reading the plan's tables from disk is the quicker way; once they are there, of any.
SHORT: Final = 500
#: Texts in unusual shapes from which on the kernel is worth loading, and compiling, for a process.
MANY: Final = 30_000
VERY_MANY: Final = 200_000
#: Verdicts on lengths that are in use: everywhere, and next door.
_POSSIBLE: Final = (ValidationResult.IS_POSSIBLE, ValidationResult.IS_POSSIBLE_LOCAL_ONLY)
#: The last digits of every placeholder: all the same, or counting up or down.
_TAIL: Final = 5
_ENDS: Final = pa.array(
    [
        "".join(str((digit + step * at) % 10) for at in range(_TAIL))
        for digit in range(10)
        for step in (-1, 0, 1)
    ],
    pa.large_string(),
)
_OUTCOMES: Final = {reason: outcome for outcome, reason in REASONS.items()}
#: Every region, and what calling codes without one are of.
REGIONS: Final = (*sorted(SUPPORTED_REGIONS), WORLD)
_KINDS: Final = {name: kind for kind, name in TYPES.items()} | {None: outcomes.NO_TYPE}


@dataclass(frozen=True, slots=True)
class Column:
    """What a column of texts says; one entry for each text.

    Attributes:
        e164: The numbers, null where they are not valid (large strings).
        extension: The extensions, null where there is none (large strings).
        outcome: Of `outcomes`.
        kind: `PhoneNumberType`, or `NO_TYPE` of what is no number.
        region: Index into `regions`, or `NOWHERE`.
        possible: Whether the length is in use.
        regions: Codes of the regions.
        left: How many texts phonenumbers itself has read.
    """

    e164: pa.Array
    extension: pa.Array
    outcome: NDArray[np.uint8]
    kind: NDArray[np.uint8]
    region: NDArray[np.int16]
    possible: NDArray[np.bool_]
    regions: tuple[str, ...]
    left: int = 0


class _ReadWithout:
    """How many texts of unusual shapes this process has read without the kernel."""

    texts = 0


_read_without: Final = _ReadWithout()


def pays(texts: int) -> bool:
    """Whether so many more texts of unusual shapes are worth loading the kernel, or compiling it if it never was.

    Measured: phonenumbers takes 45 microseconds for one; loading the kernel takes 1.2 s and compiling it
    8 s of CPU time, once after installation.
    """
    # Blocks of one list are counted together: compiling pays for all of them or for none.
    _read_without.texts += texts
    seen = _read_without.texts
    if not texts or seen < MANY or not is_available():
        return False
    return seen >= VERY_MANY or is_kept()


def misses_compiler() -> bool:
    """Whether this process has read so many texts of unusual shapes that the extra `fast` would have paid."""
    return _read_without.texts >= VERY_MANY and not is_available()


def is_available() -> bool:
    """Whether numba is installed, by the extra `fast`; looks without loading it."""
    if "numba" in sys.modules:
        return sys.modules["numba"] is not None
    return find_spec("numba") is not None


def is_kept() -> bool:
    """Whether an earlier run has left the compiled kernel beside its file."""
    try:
        return any(Path(__file__).parent.glob("__pycache__/kernel.kernel-*.nbi"))
    except OSError:
        return False


def is_loaded() -> bool:
    """Whether the compiled kernel is there already, so that it costs nothing to use it."""
    return "dialframe.phones.kernel" in sys.modules


def read_column(
    texts: pa.Array, regions: list[str | None] | str | None, *, spell: bool = True
) -> Column:
    """Read a column of texts; slices, nulls and both sizes of strings are as good as any.

    Args:
        texts: Strings or large strings.
        regions: The known region at home, one for all or one for each text.
        spell: Whether `e164` and `extension` are wanted; they may be null without, and a placeholder invalid.
    """
    texts = texts.cast(pa.large_string())
    by_tables = not is_loaded()
    column = _by_tables(texts, regions, spell=spell) if by_tables else _by_kernel(texts, regions)
    left, pairs = _left(column, texts, regions)
    if by_tables and pays(len(set(pairs))):
        column = _by_kernel(texts, regions)
        left, pairs = _left(column, texts, regions)
    if not pairs:
        return column
    # A text that is there a thousand times is read once.
    readings = {pair: read_number(*pair) for pair in dict.fromkeys(pairs)}
    return _merged(column, left, [readings[pair] for pair in pairs])


def _left(
    column: Column, texts: pa.Array, regions: list[str | None] | str | None
) -> tuple[NDArray[np.intp], list[tuple[str | None, str | None]]]:
    """The rows that are handed over, with their texts and the regions at home."""
    left = np.flatnonzero(column.outcome == outcomes.HANDED_OVER)
    cells = texts.take(pa.array(left)).to_pylist()
    if not isinstance(regions, list):
        return left, [(cell, regions) for cell in cells]
    return left, [(cell, regions[row]) for cell, row in zip(cells, left.tolist(), strict=True)]


def _by_tables(
    texts: pa.Array, regions: list[str | None] | str | None, *, spell: bool = True
) -> Column:
    """The column with the rows of usual shapes, the others handed over; of few all are."""
    count = len(texts)
    column = Column(
        e164=pa.nulls(count, pa.large_string()),
        extension=pa.nulls(count, pa.large_string()),
        outcome=np.full(count, outcomes.HANDED_OVER, np.uint8),
        kind=np.full(count, outcomes.NO_TYPE, np.uint8),
        region=np.full(count, NOWHERE, np.int16),
        possible=np.zeros(count, np.bool_),
        regions=REGIONS,
    )
    # phonenumbers is done with so few before the plan is read from disk.
    if count < SHORT and not plan.cache_info().currsize:
        return column
    usual = read_usual(texts, regions, spell=spell)
    rows, tables = usual.rows, plan()
    column.outcome[rows] = np.where(
        usual.valid, outcomes.VALID, outcomes.INVALID + usual.verdict.astype(np.int16)
    )
    column.kind[rows] = tables.kind[usual.state]
    column.region[rows] = np.where(
        usual.state != 0, tables.region[usual.state], tables.lone_region[usual.code]
    )
    # As `is_possible_number` has it: a local number can be dialed from next door.
    column.possible[rows] = np.isin(usual.verdict, _POSSIBLE)
    if not spell:
        return column
    _find_placeholders(column, texts, usual)
    places = np.zeros(count, np.int64)
    places[rows] = np.arange(len(rows))
    left = column.outcome == outcomes.HANDED_OVER
    return replace(
        column,
        e164=usual.e164.take(pa.array(places, mask=column.outcome != outcomes.VALID)),
        extension=usual.extension.take(pa.array(places, mask=left)),
    )


def _find_placeholders(column: Column, texts: pa.Array, usual: Usual) -> None:
    wrong = np.flatnonzero(~usual.valid)
    spoken = usual.e164.take(pa.array(wrong))
    is_suspect = pc.is_in(pc.utf8_slice_codeunits(spoken, -_TAIL, 100), value_set=_ENDS)
    # Of short ones a repeated digit may stand before others.
    is_suspect = pc.or_(is_suspect, pc.less(pc.binary_length(spoken), 2 * _TAIL))
    rows = usual.rows[wrong[is_suspect.to_numpy(zero_copy_only=False)]]
    cells = texts.take(pa.array(rows)).to_pylist()
    dummies = [is_placeholder(text, loose=True) for text in cells]
    column.outcome[rows[np.array(dummies, np.bool_)]] = outcomes.PLACEHOLDER


def _by_kernel(texts: pa.Array, regions: list[str | None] | str | None) -> Column:
    """The column by compiled code, with few rows handed over."""
    from dialframe.phones import kernel, number_lexer

    names = tuple(plan().regions.tolist())
    places = {name: index for index, name in enumerate(names)} | {None: ABROAD}
    at_home = regions if isinstance(regions, list) else [regions]
    homes = np.array([places[region] for region in at_home], np.int16)
    size = len(texts)
    _, offsets, data = texts.buffers()
    starts = _read_only(offsets or bytes(8), np.int64)[texts.offset : texts.offset + size + 1]
    # A slice begins in the middle of its buffers; nulls are bits there, and bytes for the kernel.
    nulls = texts.is_null().to_numpy(zero_copy_only=False)
    outcome, kind = np.empty(size, np.uint8), np.empty(size, np.uint8)
    region, possible = np.empty(size, np.int16), np.empty(size, np.bool_)
    e164_at, extension_at = np.zeros(size + 1, np.int64), np.zeros(size + 1, np.int64)
    # Only the pages that are written to become memory.
    e164 = np.empty(size * kernel.E164_ROOM, np.uint8)
    extension = np.empty(size * number_lexer.EXTENSION_ROOM, np.uint8)
    kernel.loaded()(
        _read_only(data or b"\0", np.uint8),
        starts, nulls, homes, int(len(homes) > 1), outcome, kind, region, possible,
        e164_at, e164, extension_at, extension,
    )  # fmt: skip
    return Column(
        e164=_strings(e164_at, e164[: e164_at[-1]], outcome == outcomes.VALID),
        extension=_strings(extension_at, extension[: extension_at[-1]], np.diff(extension_at) > 0),
        outcome=outcome,
        kind=kind,
        region=region,
        possible=possible,
        regions=names,
    )


def to_texts(codes: NDArray[Any], words: Sequence[str]) -> pa.Array:
    """The word of each code as large strings, null for codes below zero."""
    known = codes >= 0
    codes = np.where(known, codes, len(words)).astype(np.int16)
    _, starts, texts = pa.array([*words, ""], pa.large_string()).take(pa.array(codes)).buffers()
    return _strings(starts, texts, known)


def _read_only(buffer: Any, dtype: type[np.generic]) -> NDArray[Any]:
    """The buffer as an array of the one kind that the kernel is compiled for."""
    array = np.frombuffer(buffer, dtype)
    array.flags.writeable = False
    return array


def _strings(starts: Any, data: Any, known: NDArray[Any]) -> pa.Array:
    # Validity as Arrow keeps it: a bit for each row, the first one lowest (Arrow columnar format).
    bits = np.packbits(known, bitorder="little")
    buffers = [pa.py_buffer(bits), pa.py_buffer(starts), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_string(), len(known), buffers)


def _merged(column: Column, rows: NDArray[np.intp], readings: list[Reading]) -> Column:
    """The column with the readings in their rows."""
    places = {name: index for index, name in enumerate(column.regions)}
    e164, _, possible, region, kind, extension, reason = zip(*readings, strict=True)
    column.outcome[rows] = [_OUTCOMES[each] for each in reason]
    column.kind[rows] = [_KINDS[each] for each in kind]
    column.region[rows] = [places[each] if each else NOWHERE for each in region]
    column.possible[rows] = [bool(each) for each in possible]
    return replace(
        column,
        e164=_put(column.e164, rows, e164),
        extension=_put(column.extension, rows, extension),
        left=len(rows),
    )


def _put(texts: pa.Array, rows: NDArray[np.intp], values: Sequence[str | None]) -> pa.Array:
    """The texts with others in some rows, in which there are none."""
    if not any(values):
        return texts
    order = np.arange(len(texts))
    order[rows] = np.arange(len(rows)) + len(texts)
    both = [texts, pa.array(values, pa.large_string())]
    return pa.concat_arrays(both).take(pa.array(order))
