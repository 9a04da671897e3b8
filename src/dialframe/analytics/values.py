"""Results as plain values that JSON knows; knows frames and scalars, not what they mean."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows as plain values."""
    return [{str(k): plain(v) for k, v in row.items()} for row in frame.to_dict("records")]


def plain(value: object) -> object:
    """A value that JSON knows; None where missing."""
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if value is None or value is pd.NA or value is pd.NaT or (
        isinstance(value, float) and np.isnan(value)
    ):  # fmt: skip
        return None
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, datetime):
        return value.isoformat()
    return value if isinstance(value, (str, int, float, bool)) else str(value)
