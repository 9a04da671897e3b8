"""Arrays of known dtype made of frames; pandas stops here."""

from __future__ import annotations

import hashlib
import itertools
import weakref
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeVar, cast

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dialframe.errors import ConfigError
from dialframe.instants import window

Mask = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

T = TypeVar("T")

#: What was made of text columns, by its name and their data, with weak references to that.
_KEPT: Final[dict[tuple[Hashable, ...], tuple[tuple[Any, ...], Any]]] = {}
_MOST_KEPT: Final = 32

#: Bytes at the end of an id that are looked at first: of a UUID they hold sixty random bits.
_TAIL: Final = 16
# An odd number with bits all over, so that the two halves of a tail do not cancel out.
MIX: Final = np.uint64(0x9E3779B97F4A7C15)
#: Bits that are dropped of a hash: numbers half as long are sorted in half the time.
_HALF: Final = np.uint64(32)
#: Hashes are looked up by their last bits, in a table that a processor's cache can hold.
_SLOTS: Final = np.uint32(1 << 22)

#: Characters of `+12125550100`.
NANP_LENGTH: Final = 12
#: Of eight digits in one word: the letter 0, what takes a byte above 9 beyond 127, and the bit that shows it.
_ZEROS, _PAST_NINE, _HIGH_BITS = (np.uint64(int(byte * 8, 16)) for byte in ("30", "76", "80"))
#: Factor, shift and mask that add neighbors up: digits to pairs, to fours, to eight.
_JOINS: Final = tuple(
    (np.uint64(factor), np.uint64(shift), np.uint64(mask))
    for factor, shift, mask in (
        (10, 8, 0x00FF_00FF_00FF_00FF), (100, 16, 0x0000_FFFF_0000_FFFF), (10_000, 32, 0xFFFF_FFFF),
    )
)  # fmt: skip

#: Rows that are worked on at a time: what is made of them on the way stays in a processor's cache, and
#: memory that is asked for anew, which the system must clear first, is that of results alone.
_BLOCK: Final = 1 << 16

_WEIGHTS: Final = np.random.default_rng(20).integers(
    0, 2**64, _BLOCK, dtype=np.uint64
) | np.uint64(1)

#: What a missing instant is as a number: numpy's own NaT.
NO_TIME: Final = int(np.iinfo(np.int64).min)
#: What is later than any instant: of what never happened.
NEVER: Final = int(np.iinfo(np.int64).max)
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
HOUR_US: Final = 3_600_000_000
DAY_US: Final = 24 * HOUR_US


def blocks(size: int) -> Iterator[slice]:
    """Rows 0 up to a size in parts that a processor's cache can hold.

    Args:
        size: How many rows there are.
    """
    for begin in range(0, size, _BLOCK):
        yield slice(begin, min(begin + _BLOCK, size))


def require(frame: pd.DataFrame, names: Iterable[str], what: str) -> None:
    """Check that a frame has the columns that follow will read.

    Args:
        frame: The frame that was passed.
        names: Columns that are needed.
        what: What the frame should be: `calls`, `leads`.

    Raises:
        ConfigError: A column is missing, or it is no frame.
    """
    given: object = frame
    if not isinstance(given, pd.DataFrame):
        raise ConfigError(
            f"{what} is {type(given).__name__}, not a frame; pass a DataFrame of pandas"
        )
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise ConfigError(
            f"the {what} frame has no column {missing[0]!r}; pass a frame with the columns of "
            f"the {what} table, as dialframe.frames.empty makes it"
        )


def import_answers(imports: pd.DataFrame) -> tuple[pd.Series, Mask, Mask]:
    """What the service answered to each record sent: its status, whether it was accepted, whether refused.

    A record whose outcome nobody knows was neither (contract, Lead outcome objects).

    Raises:
        ConfigError: There is no column `status`.
    """
    require(imports, ("status",), "imports")
    status = imports["status"].astype("str").str.casefold()
    accepted = np.asarray(status == "accepted", dtype=bool)
    unknown = np.asarray(status.isna() | (status == "unknown"), dtype=bool)
    return status, accepted, ~accepted & ~unknown


def numbered(values: pd.Series) -> tuple[Ints, list[str]]:
    """Each value's place in the list of distinct values; -1 where it is null."""
    places, distinct = pd.factorize(values)
    return np.asarray(places, dtype=np.int64), [str(value) for value in distinct.tolist()]


def in_order(values: pd.Series) -> tuple[Ints, list[str]]:
    """The same with the distinct values sorted, so that the order of rows does not matter."""
    places, distinct = numbered(values)
    if all(a <= b for a, b in itertools.pairwise(distinct)):
        return places, distinct
    order = sorted(range(len(distinct)), key=distinct.__getitem__)
    rank = np.empty(len(order) + 1, dtype=np.int64)
    rank[order] = np.arange(len(order))
    rank[-1] = -1
    return rank[places], [distinct[i] for i in order]


def once(
    name: Hashable, columns: Sequence[pd.Series], make: Callable[[], T], most: int = _MOST_KEPT
) -> T:
    """What is made of some text columns: made once, kept for as long as their data lives.

    Arrow's data never changes: a column that is assigned to has other data from then on. What is made
    of columns of any other kind is not kept, and of all that is kept those asked for last are.

    Args:
        name: What is made, with everything else that it depends on.
        columns: Text columns that it is made of.
        make: Makes it; what it gives must not hold the columns.
        most: How many of its kind (the first part of the name) are kept; few where one is large.
    """
    data = [_data(values) for values in columns]
    if any(part is None for part in data):
        return make()
    key = (name, *map(id, data))
    kept = _KEPT.pop(key, None)
    if kept is not None and all(ref() is part for ref, part in zip(kept[0], data, strict=True)):
        _KEPT[key] = kept
        return cast(T, kept[1])
    made = make()
    _KEPT[key] = (tuple(weakref.ref(part, lambda _: _KEPT.pop(key, None)) for part in data), made)
    kind, *_ = name if isinstance(name, tuple) else (name,)
    alike = [k for k in list(_KEPT) if (k[0][0] if isinstance(k[0], tuple) else k[0]) == kind]
    for oldest in (*alike[:-most], *list(_KEPT)[:-_MOST_KEPT]):
        _KEPT.pop(oldest, None)
    return made


def _data(values: pd.Series) -> pa.ChunkedArray | None:
    """The Arrow data of a text column, the same object as long as nobody assigns to it."""
    array = values.array
    data = array.__arrow_array__() if isinstance(array, pd.arrays.ArrowStringArray) else None
    return data if isinstance(data, pa.ChunkedArray) else None


def digest(values: npt.NDArray[Any]) -> bytes:
    """A fingerprint of some numbers, for what is kept of them.

    Each block is summed with random odd weights modulo 2**64 (multilinear hashing: Lemire and Kaser,
    "Strongly universal string hashing is fast", 2014), which is several times as fast as SHA-256; the
    sums are hashed.
    """
    raw = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
    words = raw[: len(raw) // 8 * 8].view(np.uint64)
    sums = [
        (words[rows] * _WEIGHTS[: rows.stop - rows.start]).sum() for rows in blocks(len(words))
    ]
    rest = raw[len(words) * 8 :].tobytes()
    return hashlib.sha256(np.array(sums, np.uint64).tobytes() + rest + b"%d" % len(raw)).digest()


def frozen(values: T) -> T:
    """The same, so that nobody who shares an array changes it."""
    if isinstance(values, np.ndarray):
        values.setflags(write=False)
    return values


def placed(values: pd.Series) -> tuple[npt.NDArray[np.integer], pa.Array]:
    """Each text's place among the distinct ones, which come at last for null, and the distinct ones."""

    def make() -> tuple[npt.NDArray[np.integer], pa.Array]:
        texts, whole = arrow(values), kept_numbers(values)
        if whole is None:
            return _dictionary_places(texts)
        # Numbers of the North American length are told apart as whole numbers, in half the time.
        places, numbers = _dictionary_places(pa.array(whole))
        words = pc.binary_join_element_wise("+", numbers.cast(pa.string()), "")
        return places, words.cast(texts.type)

    return once("placed", [values], make)


def _dictionary_places(values: pa.Array) -> tuple[npt.NDArray[np.integer], pa.Array]:
    """Each value's place among the distinct ones, in the order in which they come.

    The first part tells whether they are few: then each further part has its own few, which are put
    in their places among all.
    """
    # Campaigns and codes are few, numbers and ids are many: the two are put in place in two ways.
    first = values.slice(0, _BLOCK).dictionary_encode()
    # Many distinct ones: a dictionary of the whole is faster than one of each part put together.
    if len(first.dictionary) > _BLOCK // 16:
        whole = values.dictionary_encode()
        places = np.asarray(whole.indices.fill_null(len(whole.dictionary)))
        kind = np.int16 if len(whole.dictionary) < np.iinfo(np.int16).max else np.int32
        return frozen(places.astype(kind)), whole.dictionary
    seen: dict[Any, int] = {}
    places = np.empty(len(values), dtype=np.int16)
    for rows in blocks(len(values)):
        part = values.slice(rows.start, rows.stop - rows.start).dictionary_encode()
        codes = [seen.setdefault(value, len(seen)) for value in part.dictionary.to_pylist()]
        if len(seen) >= np.iinfo(np.int16).max and places.dtype == np.int16:
            places = places.astype(np.int32)
        places[rows] = np.array([*codes, -1])[part.indices.fill_null(len(codes))]
    places[places < 0] = len(seen)
    return frozen(places), pa.array(list(seen), values.type)


def encoded(values: pd.Series) -> tuple[npt.NDArray[np.integer], list[str]]:
    """The same with the distinct ones as a list."""
    places, words = placed(values)
    return places, once("words", [values], lambda: [str(word) for word in words.to_pylist()])


def arrow(values: pd.Series) -> pa.Array:
    """A text column as one Arrow array, without copying where it is one already.

    Raises:
        ConfigError: A text is no Unicode.
    """
    try:
        texts = pa.array(values.astype("str").array, from_pandas=True)
    except UnicodeEncodeError as error:
        raise ConfigError(
            f"column {values.name!r} holds text that is no Unicode ({error.reason}); write it anew"
        ) from None
    return texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts


def letters(text: pa.Array) -> npt.NDArray[np.uint8] | None:
    """The bytes of a text column, one row each, where all values are there and of one length."""
    kinds = {pa.string(): np.int32, pa.large_string(): np.int64}
    if not len(text) or text.null_count or text.type not in kinds:
        return None
    _, offsets, data = text.buffers()
    ends = np.frombuffer(offsets, dtype=kinds[text.type])[
        text.offset : text.offset + len(text) + 1
    ]
    length = int(ends[1] - ends[0])
    if not length or int(ends[-1] - ends[0]) != length * len(text):
        return None
    for rows in blocks(len(text)):
        if not (ends[rows.start + 1 : rows.stop + 1] - ends[rows] == length).all():
            return None
    plain = np.frombuffer(data, dtype=np.uint8)[int(ends[0]) : int(ends[-1])]
    return plain.reshape(len(text), length)


def whole_numbers(texts: pa.Array) -> Ints | None:
    """E.164 texts of the North American length as whole numbers; None where one is another text.

    The last eight digits are one word of 64 bits: pairs of neighbors are added up within it, then
    pairs of pairs (Mula and Lemire, "Number parsing at a gigabyte per second", 2021).
    """
    digits = letters(texts)
    if digits is None or digits.shape[1] != NANP_LENGTH:
        return None
    whole = np.empty(len(digits), dtype=np.int64)
    for rows in blocks(len(digits)):
        part = digits[rows]
        word = np.ascontiguousarray(part[:, 4:]).view("<u8").ravel() ^ _ZEROS
        first = part[:, 1:4] - np.uint8(ord("0"))
        # A byte that is no digit shows in its highest bit: eight letters are looked at in one step.
        odd = ((word + _PAST_NINE) | word) & _HIGH_BITS
        if (
            odd.any() or (part[:, 0] != ord("+")).any() or (first > 9).any() or not first[:, 0].all()
        ):  # fmt: skip
            return None
        for factor, shift, mask in _JOINS:
            word = (word * factor + (word >> shift)) & mask
        head = first[:, 0].astype(np.int64) * 100 + first[:, 1] * np.int64(10) + first[:, 2]
        whole[rows] = word.view(np.int64) + head * 10**8
    return whole


def kept_numbers(values: pd.Series) -> Ints | None:
    """A column of E.164 texts as whole numbers, read once; None where one is another text."""
    return once("numbers", [values], lambda: frozen(whole_numbers(arrow(values))))


def area_codes(numbers: pd.Series, outside: int) -> Ints:
    """Area code of each E.164 text of the North American plan; `outside` for any other."""
    whole = kept_numbers(numbers)
    if whole is not None:
        return np.where(whole // 10**10 == 1, whole // 10**7 % 1000, outside)
    encoded = arrow(numbers).dictionary_encode()
    codes = [int(n[2:5]) if n.startswith("+1") and n[2:5].isdigit() and len(n) == NANP_LENGTH else outside
             for n in map(str, encoded.dictionary.to_pylist())]  # fmt: skip
    places = np.asarray(encoded.indices.fill_null(len(codes)))
    code_of_number: Ints = np.array([*codes, outside], dtype=np.int64)[places]
    return code_of_number


def repeated(values: pd.Series) -> Mask:
    """True where a value was there before; nulls do not repeat each other.

    Ids that differ nearly always differ in a hash of their last sixteen bytes, so only rows that
    share it with another, or look as if, are compared in full.
    """
    return once("repeated", [values], lambda: frozen(_duplicate_rows(values)))


def _duplicate_rows(values: pd.Series) -> Mask:
    rows = np.arange(len(values))
    texts = letters(arrow(values))
    if texts is not None and texts.shape[1] >= _TAIL:
        tail = np.empty(len(texts), dtype=np.uint32)
        for part in blocks(len(texts)):
            halves = np.ascontiguousarray(texts[part, -_TAIL:]).view(np.uint64)
            tail[part] = (halves[:, 0] * MIX ^ halves[:, 1]) * MIX >> _HALF
        rows = shared_rows(tail)
    mask = np.zeros(len(values), dtype=bool)
    part = values.iloc[rows]
    mask[rows] = np.asarray(part.duplicated() & part.notna(), dtype=bool)
    return mask


def shared_rows(hashes: npt.NDArray[np.uint32]) -> Ints:
    """Rows whose hash another row has too, and some that look as if.

    Args:
        hashes: A hash of each row, good in its last bits.
    """
    ordered = np.sort(hashes)
    shared = np.zeros(_SLOTS, dtype=bool)
    for rows in blocks(len(hashes)):
        part = ordered[rows.start : rows.stop + 1]
        shared[part[1:][part[1:] == part[:-1]] % _SLOTS] = True
    row_parts = [
        rows.start + np.flatnonzero(shared[hashes[rows] % _SLOTS]) for rows in blocks(len(hashes))
    ]
    return np.concatenate([np.zeros(0, dtype=np.int64), *row_parts])


def micros(values: pd.Series) -> Ints:
    """Instants as whole microseconds since 1970 UTC; `NO_TIME` where null.

    Instants without a time zone are taken for UTC, which is what the service speaks.

    Raises:
        ConfigError: The column holds no instants.
    """
    kind = values.dtype
    if not pd.api.types.is_datetime64_any_dtype(kind):
        if values.notna().any():
            raise ConfigError(
                f"column {values.name!r} holds {kind} where instants are needed; convert it with "
                "pandas.to_datetime(..., utc=True)"
            )
        return np.full(len(values), NO_TIME, dtype=np.int64)
    array: Any = values.array
    # Of the usual unit it is the data itself, without a copy, and so must not be written to.
    array = array if array.unit == "us" else array.as_unit("us")
    return frozen(np.asarray(array.asi8).view())


def instants(at: Ints) -> pd.DatetimeIndex:
    """Microseconds since 1970 as instants, UTC; null where `NO_TIME`."""
    values = at.astype("datetime64[us]")
    values[at == NO_TIME] = np.datetime64("NaT", "us")
    return pd.DatetimeIndex(values, tz="UTC")


def micros_of(at: datetime | None) -> int:
    """An instant as whole microseconds since 1970 UTC; 0 for none."""
    return 0 if at is None else (at - EPOCH) // timedelta(microseconds=1)


def first_days(at: Ints, period: str) -> npt.NDArray[np.datetime64]:
    """The first UTC day of the `day`, `week` (from Monday) or `month` of each instant."""
    day: npt.NDArray[np.datetime64] = (at // DAY_US).astype("datetime64[D]")
    if period == "month":
        day = day.astype("datetime64[M]").astype("datetime64[D]")
    elif period == "week":
        # 1970 began on a Thursday.
        day = day - ((day.astype(np.int64) + 3) % 7)
    return day


def earliest(code: npt.NDArray[np.integer], at: Ints, size: int) -> Ints:
    """The first instant of each code, `NEVER` without one; negative codes are left out."""
    # One place more at the end, which code -1 finds: who has no lead is looked for by nobody.
    first = np.full(size + 1, NEVER)
    np.minimum.at(first, code, at)
    return first[:-1]


def seconds(later: Ints, earlier: Ints) -> Floats:
    """Seconds between two instants; NaN where one is missing."""
    known = (later != NO_TIME) & (earlier != NO_TIME)
    return np.where(known, (later - np.where(known, earlier, 0)) / 1e6, np.nan)


def word_of(values: pd.Series, words: tuple[str, ...]) -> npt.NDArray[np.int8]:
    """Place of each text among some words, in any case; -1 where it is none of them, or null."""
    places, written = encoded(values)
    index_of = {word: i for i, word in enumerate(words)}
    codes = [index_of.get(text.casefold(), -1) for text in written]
    return np.array([*codes, -1], dtype=np.int8).take(places)


def is_word(values: pd.Series, word: str) -> Mask:
    """True where a text is that word in any case; False where null."""
    return np.asarray(word_of(values, (word,)) == 0)


def present(values: pd.Series) -> Mask:
    """True where a value is there."""
    return np.asarray(values.notna(), dtype=bool)


def booleans(values: Mask, unknown: Mask | None = None) -> pd.arrays.BooleanArray:
    """A nullable boolean column; null where `unknown`."""
    mask = np.zeros(len(values), dtype=bool) if unknown is None else unknown
    return pd.arrays.BooleanArray(np.asarray(values, dtype=bool), np.asarray(mask, dtype=bool))


def floats(values: Floats) -> pd.arrays.FloatingArray:
    """A nullable column of numbers; null where NaN."""
    return pd.arrays.FloatingArray(np.nan_to_num(values), np.isnan(values))


def text(
    choices: list[str | None], places: npt.NDArray[np.integer]
) -> pd.api.extensions.ExtensionArray:
    """A text column from places in a list of choices; negative places count from the end."""
    column = pd.array(choices, dtype="str")
    return column.take(np.where(places < 0, places + len(choices), places))


def within(values: pd.Series, since: datetime | None, until: datetime | None) -> Mask:
    """True where an instant is in [since, until); null instants are in no bounded window.

    Raises:
        ConfigError: A bound has no time zone, or they are the wrong way round.
    """
    for name, bound in (("since", since), ("until", until)):
        if bound is not None and bound.tzinfo is None:
            raise ConfigError(
                f"{name}={bound.isoformat()} has no time zone; pass an aware datetime, "
                "datetime(2026, 3, 1, tzinfo=UTC) for instance"
            )
        if bound is not None and getattr(values.dtype, "tz", None) is None:
            raise ConfigError(
                f"column {values.name!r} has no time zone, so {name} cannot be compared with it; "
                "make it UTC, with dt.tz_localize('UTC') for instance"
            )
    window(since, until)
    inside = np.ones(len(values), dtype=bool)
    if since is not None:
        inside &= np.asarray(values >= since, dtype=bool)
    if until is not None:
        inside &= np.asarray(values < until, dtype=bool)
    return inside
