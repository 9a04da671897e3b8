"""What a firm brings to an audit as files: moments, tables of records, declared days."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

import pandas as pd

from dialframe import instants
from dialframe.compliance import Declared, Practice, RuleBook, rulebook
from dialframe.compliance.practice import read_practice
from dialframe.compliance.rules.overrides import read_declared
from dialframe.compliance.rules.rule_model import FreshnessRule


def instant(name: str, text: str | None) -> datetime | None:
    """An instant from ISO 8601 text with a zone, or a day as its midnight in UTC.

    Raises:
        ConfigError: The text is neither.
    """
    return None if text is None else instants.instant(name, text)


def table(path: Path | None) -> pd.DataFrame | None:
    """A CSV file as a frame: names that end in `_at` are instants, all else text.

    Raises:
        ConfigError: An instant cannot be read; the line is named.
        OSError: The file cannot be read.
    """
    if path is None:
        return None
    frame = pd.read_csv(path, dtype="str", keep_default_na=False, na_values=[""])
    for name in frame.columns:
        if not str(name).endswith("_at"):
            continue
        values = []
        for line, text in enumerate(frame[name], start=2):
            told = None if pd.isna(text) else str(text)
            values.append(instant(f"{path}, line {line}, {name}", told))
        frame[name] = pd.Series(values, dtype="datetime64[us, UTC]")
    return frame


def declared(path: Path | None) -> Declared:
    """Declared days of a file; none without one.

    Raises:
        ConfigError: The file does not fit its schema.
        OSError: The file cannot be read.
    """
    if path is None:
        return Declared()
    return read_declared(path.read_text(encoding="utf-8"), name=str(path))


def registries(book: RuleBook | None = None) -> list[str]:
    """Names of the Do-Not-Call lists that the rules speak of, in the order of the book."""
    rules = (rulebook.load() if book is None else book).of_kind(FreshnessRule)
    return list(dict.fromkeys(rule.parameters.registry for rule in rules))


def practice(path: Path | None, book: RuleBook | None = None) -> Practice:
    """What the firm declares of its calling; nothing without a file.

    Raises:
        ConfigError: The file does not fit its schema, or names a list that no rule speaks of.
        OSError: The file cannot be read.
    """
    if path is None:
        return Practice()
    return read_practice(path.read_text(encoding="utf-8"), registries(book), name=str(path))


def digests(files: Mapping[str, Path | None]) -> dict[str, str]:
    """Name of every file that was given to the SHA-256 of its content."""
    return {
        name: hashlib.sha256(path.read_bytes()).hexdigest()
        for name, path in files.items()
        if path is not None
    }
