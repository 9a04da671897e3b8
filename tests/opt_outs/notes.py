"""Notes about calls, which stand in `notes.toml`."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Final

NOTES: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def parted(name: str) -> list[str]:
    """The notes of a table, one by one."""
    return [note for line in NOTES[name].strip().splitlines() for note in line.split(" | ")]
