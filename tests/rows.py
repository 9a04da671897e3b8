"""A law over a table as one test: thousands of rows need no item, no report and no message to another process each."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest


def every_row(names: str | tuple[str, ...], rows: Iterable[Any]) -> Callable[..., Any]:
    """As `pytest.mark.parametrize`, in one test, for functions that leave nothing behind.

    All rows are tried; those that fail are raised together, each with a note of what it was given.

    Args:
        names: Names of the arguments, as `parametrize` takes them.
        rows: Their values; there is at least one row.
    """
    keys = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    values = [getattr(row, "values", row) if _is_param(row) or keys[1:] else [row] for row in rows]
    table = [dict(zip(keys, row, strict=True)) for row in values]
    assert table, "a law over no rows holds for nothing"

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def law(**fixtures: Any) -> None:
            failures = []
            for row in table:
                try:
                    test(**fixtures, **row)
                except (Exception, BaseExceptionGroup, pytest.fail.Exception) as error:
                    error.add_note(f"with {row!r:.400}")
                    failures.append(error)
            if failures:
                raise BaseExceptionGroup(f"{len(failures)} of {len(table)} rows", failures)

        signature = inspect.signature(test)
        left = [each for each in signature.parameters.values() if each.name not in keys]
        law.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return law

    return decorate


def labeled(text: str) -> list[tuple[str, str]]:
    """Rows of a table in words: each line is a label, a colon, and its values with ` | ` between them."""
    lines = (line.split(": ", maxsplit=1) for line in text.strip().splitlines())
    return [(label, value) for label, line in lines for value in line.split(" | ")]


def _is_param(row: Any) -> bool:
    return isinstance(row, type(pytest.param()))
