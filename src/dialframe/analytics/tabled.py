"""Result tables with dtypes that never depend on the data; knows numbers, not what they count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dialframe.analytics.columns import NO_TIME, Floats, Ints
from dialframe.analytics.intervals import rates

_DTYPES = {"i": "Int64", "u": "Int64", "f": "Float64", "b": "boolean"}


def table(columns: Mapping[str, Any]) -> pd.DataFrame:
    """A frame of arrays and lists: whole numbers, shares (NaN is null), flags and text.

    Pandas columns stay what they are; a list is text.
    """
    return pd.DataFrame({name: _column(values) for name, values in columns.items()})


def rated(
    numerators: Sequence[int] | npt.NDArray[np.integer],
    denominators: Sequence[int] | npt.NDArray[np.integer],
) -> dict[str, Any]:
    """Columns `numerator`, `denominator`, `rate`, `low`, `high` (Wilson 95 %)."""
    above, below = np.asarray(numerators, np.int64), np.asarray(denominators, np.int64)
    found = rates(above, below)
    return {
        "numerator": above,
        "denominator": below,
        "rate": found["rate"].array,
        "low": found["low"].array,
        "high": found["high"].array,
    }


def instants(micros: Ints) -> pd.DatetimeIndex:
    """Microseconds since 1970 as instants, UTC."""
    values = micros.astype("datetime64[us]")
    values[micros == NO_TIME] = np.datetime64("NaT", "us")
    return pd.DatetimeIndex(values, tz="UTC")


def sums(codes: npt.NDArray[np.integer], size: int, weights: Any = None) -> Ints:
    """How many (or how much) of each code, as whole numbers; negative codes are left out."""
    known = codes >= 0
    if weights is None:
        return np.bincount(codes[known], minlength=size).astype(np.int64)
    return np.rint(np.bincount(codes[known], np.asarray(weights)[known], size)).astype(np.int64)


def ratio(above: Floats | Ints, below: Floats | Ints) -> Floats:
    """A quotient; NaN where there is nothing to divide by."""
    known = np.asarray(below) != 0
    return np.where(known, np.asarray(above) / np.where(known, below, 1), np.nan)


def median(values: Floats) -> float:
    """The median of the values that are known; NaN without any."""
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else float("nan")


def _column(values: Any) -> Any:
    if isinstance(values, (pd.api.extensions.ExtensionArray, pd.Series, pd.Index)):
        return values.array if isinstance(values, pd.Series) else values
    if isinstance(values, (list, tuple)):
        return pd.array(list(values), dtype="str")
    kind = _DTYPES[values.dtype.kind]
    if kind == "Float64":
        return pd.arrays.FloatingArray(
            np.nan_to_num(values.astype(float)), np.isnan(values.astype(float))
        )
    return pd.array(values, dtype=kind)
