"""Phone numbers to E.164, one row of facts each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Final

import numpy as np
import pandas as pd
import phonenumbers
import pyarrow as pa

from dialframe.errors import ConfigError
from dialframe.phones.column_reader import Column, pays, read_column, to_arrow
from dialframe.phones.single_number import Reading, check_region
from dialframe.phones.vectorized import read_all

#: Columns of `normalize` and their dtypes, in order.
COLUMNS: Final[dict[str, str]] = {
    "e164": "str",
    "valid": "boolean",
    "possible": "boolean",
    "region": "str",
    "type": "str",
    "extension": "str",
    "reason": "str",
}

_EXACT_FLOAT: Final = 2**53


def normalize(
    values: Iterable[object], region: str | Sequence[str | None] | None = None
) -> pd.DataFrame:
    """Read phone numbers as people and programs write them.

    Long columns go through a compiled kernel; the answers are the same. Numbers given as numbers
    are read as the digits that a person sees (`2125550142.0` of a float column is `2125550142`).

    >>> normalize(["(212) 555-0142", "555"], region="US")[["e164", "reason"]].values.tolist()
    [['+12125550142', nan], [nan, 'phone_too_short']]

    Args:
        values: Texts; None, NaN and blank text are missing.
        region: ISO 3166 region whose national format numbers without `+` have, one for all or
            one for each value; None, the default, accepts international numbers only, since a
            number that does not say its country may be one of many.

    Returns:
        One row per value in the order given, with the index of `values` where it has one:
        `e164` (only of valid numbers), `valid`, `possible`, `region`, `type`, `extension`,
        `reason` (null for valid numbers, otherwise `missing_phone`, `invalid_phone`,
        `phone_too_short`, `phone_too_long`, `phone_precision_lost`, `phone_placeholder` or
        `phone_ambiguous_region`), with the dtypes of `COLUMNS`. Missing values are null in all
        columns but `reason`.

    Raises:
        ConfigError: The one region is unknown, or there are not as many regions as values.
    """
    if isinstance(values, str):
        raise ConfigError("values is one text; pass a list of phone numbers, as in [value]")
    index = values.index if isinstance(values, pd.Series) else None
    if not isinstance(values, Sequence | pd.Series):
        values = list(values)
    regions: list[str | None] | str | None
    if region is None or isinstance(region, str):
        regions = check_region(region)
    else:
        regions = [_region_or_none(each) for each in region]
    if isinstance(regions, list) and len(regions) != len(values):
        raise ConfigError(
            f"there are {len(regions)} regions for {len(values)} values; pass one each, or one for all"
        )
    if pays(len(values)):
        texts = _arrow(values)
        if texts is not None:
            return _column_frame(read_column(texts, regions), index)
    return _read_each([_text(value) for value in values], regions, index)


#: The same under its British name.
normalise = normalize


def _read_each(
    texts: list[str | None], regions: list[str | None] | str | None, index: pd.Index | None
) -> pd.DataFrame:
    """Without the kernel; a value costs once however often it is repeated."""
    if not isinstance(regions, list):
        codes, distinct = pd.factorize(pd.Series(texts, dtype=object), use_na_sentinel=False)
        known = [text if isinstance(text, str) else None for text in distinct]
        readings = read_all(known, [regions] * len(known))
        return _frame(readings, np.asarray(codes, dtype=np.intp), index)
    seen: dict[tuple[str | None, str | None], int] = {}
    rows = [seen.setdefault(pair, len(seen)) for pair in zip(texts, regions, strict=True)]
    readings = read_all([text for text, _ in seen], [region for _, region in seen])
    return _frame(readings, np.asarray(rows, dtype=np.intp), index)


def _arrow(values: Sequence[object] | pd.Series) -> pa.Array | None:
    """The texts as Arrow has them; None for text that is no Unicode."""
    if isinstance(values, pd.Series) and isinstance(values.dtype, pd.StringDtype):
        texts: object = values.array
    else:
        texts = [_text(value) for value in values]
    try:
        array = pa.array(texts, pa.large_string(), from_pandas=True)
    except (UnicodeEncodeError, pa.ArrowInvalid):
        return None  # half of a surrogate pair
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _region_or_none(region: object) -> str | None:
    """A region out of data: what is no country is as good as none."""
    known = region.strip().upper() if isinstance(region, str) else None
    return known if known in phonenumbers.SUPPORTED_REGIONS else None


def _text(value: object) -> str | None:
    if isinstance(value, str):
        return value
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        number = float(value)
        if number != number:
            return None
        exact = number.is_integer() and abs(number) < _EXACT_FLOAT
        return f"{number:.0f}" if exact else repr(number)
    return str(value)


def _frame(readings: list[Reading], codes: np.ndarray, index: pd.Index | None) -> pd.DataFrame:
    columns = list(zip(*readings, strict=True)) or [()] * len(COLUMNS)
    data = {
        name: pd.array(list(values), dtype=dtype).take(codes)
        for (name, dtype), values in zip(COLUMNS.items(), columns, strict=True)
    }
    return pd.DataFrame(data, index=index)


def _column_frame(column: Column, index: pd.Index | None) -> pd.DataFrame:
    table = to_arrow(column)
    data = {}
    for name, dtype in COLUMNS.items():
        values = table[name]
        if pa.types.is_dictionary(values.type):
            values = values.cast(pa.large_string())
        data[name] = pd.api.types.pandas_dtype(dtype).__from_arrow__(values)
    return pd.DataFrame(data, index=index)
