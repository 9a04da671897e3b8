"""An analysis without an end, as a hostile cell would make it; loaded by a process of its own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any


def spin(arguments: Mapping[str, Any], stores: Path) -> dict[str, Any]:
    """Be at work for ever, in Python code that lets nobody else run."""
    del arguments, stores
    while True:
        pass
