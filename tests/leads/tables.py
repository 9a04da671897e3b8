"""Tables of tests of lead files, which stand beside them as TOML, and what is compared with them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from dialframe.leads import Cleaned


def table(name: str) -> dict[str, Any]:
    """One table by its name without the ending."""
    return tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))


def reasons(cleaned: Cleaned) -> dict[int, str]:
    """Row to reason, of everything that is not clean."""
    frames = (cleaned.rejected, cleaned.duplicates, cleaned.do_not_call, cleaned.skipped)
    return {
        int(row): code
        for frame in frames
        for row, code in zip(frame["_row"], frame["_reason"], strict=True)
    }
