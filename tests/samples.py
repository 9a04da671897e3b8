"""Rows as the service sends them, out of the samples of its answers."""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path
from typing import Any

RESPONSES = Path(__file__).parent.parent / "data_samples" / "responses"


def a_row(operation: str, **changes: Any) -> dict[str, Any]:
    """The first row of an operation's list, with other values for some of its fields."""
    return copy.deepcopy(_first(operation)) | changes


@cache
def _first(operation: str) -> dict[str, Any]:
    rows = json.loads((RESPONSES / f"{operation}.json").read_text())["body"]["data"]
    return dict(rows[0])
