"""Phone numbers to E.164 and what a numbering plan says of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Final

import numpy as np
import phonenumbers
import pyarrow as pa

from dialframe.errors import ConfigError
from dialframe.phones import number_outcomes as outcomes
from dialframe.phones.column_reader import Column, read_column, to_texts
from dialframe.phones.number_outcomes import REASONS
from dialframe.phones.parse_number import (
    TYPES,
    Reading,
    check_region,
    is_placeholder,
    read_number,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "COLUMNS",
    "TYPES",
    "Reading",
    "check_region",
    "is_placeholder",
    "normalise",
    "normalize",
    "read_number",
]

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

    Numbers given as numbers are read as the digits that a person sees (`2125550142.0` of a float column is `2125550142`).

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
    import pandas as pd

    if isinstance(values, str):
        raise ConfigError("values is one text; pass a list of phone numbers, as in [value]")
    # A frame of the answer joins the frame that it was asked about.
    index = values.index if isinstance(values, pd.Series) else None
    if not isinstance(values, Sequence | pd.Series):
        values = list(values)
    regions: list[str | None] | str | None
    if region is None or isinstance(region, str):
        regions = check_region(region)
    else:
        # Out of data: what is no country is as good as none.
        codes = (each.strip().upper() if isinstance(each, str) else None for each in region)
        regions = [code if code in phonenumbers.SUPPORTED_REGIONS else None for code in codes]
    if isinstance(regions, list) and len(regions) != len(values):
        raise ConfigError(
            f"there are {len(regions)} regions for {len(values)} values; pass one each, or one for all"
        )
    texts = _arrow(values)
    if texts is not None:
        # Text that Arrow cannot hold is read one by one below.
        return _column_frame(read_column(texts, regions), index)
    each = regions if isinstance(regions, list) else [regions] * len(values)
    readings = [read_number(*pair) for pair in zip(map(_text, values), each, strict=True)]
    columns = zip(COLUMNS.items(), zip(*readings, strict=True), strict=True)
    return pd.DataFrame(
        {name: pd.array(list(cells), dtype=dtype) for (name, dtype), cells in columns}, index=index
    )


#: The same under its British name.
normalise = normalize


def _arrow(values: Sequence[object] | pd.Series) -> pa.Array | None:
    """The texts as Arrow has them; None for text that is no Unicode."""
    import pandas as pd

    if isinstance(values, pd.Series) and isinstance(values.dtype, pd.StringDtype):
        texts: object = values.array
    else:
        texts = values
    try:
        try:
            array = pa.array(texts, pa.large_string(), from_pandas=True)
        except (pa.ArrowTypeError, TypeError):
            # Not texts alone: numbers are read as they are shown.
            array = pa.array([_text(value) for value in values], pa.large_string())
    except (UnicodeEncodeError, pa.ArrowInvalid):
        return None  # half of a surrogate pair
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _text(value: object) -> str | None:
    import pandas as pd

    if isinstance(value, str):
        return value
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    # numpy's and Python's, and no text of them with a sign or separators.
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        number = float(value)
        if number != number:
            return None
        # Above, neighbors of a number are no numbers (IEEE 754, binary64): its digits are not the typed ones.
        exact = number.is_integer() and abs(number) < _EXACT_FLOAT
        return f"{number:.0f}" if exact else repr(number)
    return str(value)


def _column_frame(column: Column, index: pd.Index | None) -> pd.DataFrame:
    import pandas as pd

    missing = column.outcome == outcomes.MISSING
    # By type a place in the names, -1 for what is no number.
    kinds = np.full(outcomes.NO_TYPE + 1, -1, np.int8)
    kinds[list(TYPES)] = range(len(TYPES))
    reasons = tuple(filter(None, REASONS.values()))
    codes = np.full(outcomes.HANDED_OVER + 1, -1, np.int8)
    codes[[outcome for outcome, reason in REASONS.items() if reason]] = range(len(reasons))
    data = {
        "e164": column.e164,
        "valid": pd.arrays.BooleanArray(column.outcome == outcomes.VALID, missing),
        "possible": pd.arrays.BooleanArray(column.possible, missing),
        "region": to_texts(column.region, column.regions),
        "type": to_texts(kinds[column.kind], tuple(TYPES.values())),
        "extension": column.extension,
        "reason": to_texts(codes[column.outcome], reasons),
    }
    for name, dtype in COLUMNS.items():
        if dtype == "str":
            data[name] = pd.api.types.pandas_dtype(dtype).__from_arrow__(data[name])
    return pd.DataFrame(data, index=index, copy=False)


def __dir__() -> list[str]:
    """The public names alone."""
    return sorted(__all__)
