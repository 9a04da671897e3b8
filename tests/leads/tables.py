"""Tables of tests of lead files, which stand beside them as TOML."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any


def table(name: str) -> dict[str, Any]:
    """One table by its name without the ending."""
    return tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))
