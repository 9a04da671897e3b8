"""Reads a file of rules or of practice by its schema, and says by line what does not fit."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from dialframe.compliance.rules.rule_parameters import KINDS
from dialframe.config import read_toml
from dialframe.errors import ConfigError

__all__ = ["form_problems", "of_rule", "read_form"]

_Form = TypeVar("_Form")
#: Faults of one file that are named by their lines; nobody reads more before mending these.
_MOST_FAULTS: Final = 50
_ID: Final = re.compile(r'\s*id\s*=\s*"([^"]*)"')
_TABLES: Final = re.compile(r"\s*\[\[([\w.]+)\]\]")
_KEY: Final = re.compile(r"\s*(?:\[(?P<table>[\w.]+)\]|\"?(?P<key>[\w-]+)\"?\s*=)")


def read_form(form: TypeAdapter[_Form], text: str, name: str) -> _Form:
    """What a TOML text says, by its schema.

    Args:
        form: The schema.
        text: The text.
        name: What errors call it.

    Raises:
        ConfigError: The text is no TOML or does not fit the schema: the first fault, with its line.
    """
    try:
        return form.validate_python(read_toml(text))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{name}: not valid TOML ({error}); correct the text") from error
    except ValidationError as error:
        (line, words), *others = form_problems(error, text)
        count = error.error_count() - 1 if len(others) >= _MOST_FAULTS else len(others)
        more = f", and {count:,} more" if others else ""
        raise ConfigError(f"{name}, line {line}: {words}{more}; correct the text") from error


def form_problems(error: ValidationError, text: str) -> list[tuple[int, str]]:
    """Faults that the schema finds in a file, the first fifty: line and what is wrong, misspelled fields first."""
    problems = error.errors(include_url=False)
    # A misspelled field is also a missing one: the misspelling is what there is to correct.
    problems.sort(key=lambda problem: problem["type"] != "extra_forbidden")
    faults: list[tuple[int, str]] = []
    reported: set[tuple[int | str, ...]] = set()
    for place, problem in enumerate(problems):
        if len(faults) == _MOST_FAULTS:
            lines = text.count("\n") + 1
            faults.append((lines, f"{len(problems) - place:,} faults more; correct these first"))
            break
        location = problem["loc"]
        # A part that is wrong leaves its whole short: the part is what there is to correct.
        if problem["type"] == "too_short" and any(
            each[: len(location)] == location for each in reported
        ):
            continue
        reported.add(location)
        # The schema writes the kind of a rule into the path; the file does not.
        steps = [
            step
            for before, step in zip((None, *location), location, strict=False)
            if not (step in KINDS and (not isinstance(before, str) or before == "rule"))
        ]
        where = ".".join(str(step) for step in steps) or "the whole"
        faults.append((_line_of(text, steps), f"{where}: {_plain(problem)}"))
    return faults


#: Bounds of a number: where the fault names the limit, and the words for it.
_BOUNDS: Final[Mapping[str, tuple[str, str]]] = {
    "greater_than": ("gt", "more than"), "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "less than"), "less_than_equal": ("le", "at most"),
}  # fmt: skip


def _plain(problem: ErrorDetails) -> str:
    """A fault in words for who wrote the file."""
    value, context = problem["input"], problem.get("ctx", {})
    shown = repr(value) if isinstance(value, str) else ""
    if problem["type"] in ("string_too_short", "too_short"):
        return "is empty; fill it in"
    if problem["type"] == "missing":
        return "is missing; add it"
    if problem["type"] == "extra_forbidden":
        return "is no field of it; see `dialframe rules new` for those that there are"
    # The schema's own words speak of types; who writes a rule thinks of values.
    if problem["type"] == "literal_error":
        return f"{shown} is none of {context.get('expected', '')}"
    if problem["type"] == "union_tag_invalid":
        return (
            f"{context.get('tag', '')!r} is no kind; use one of {context.get('expected_tags', '')}"
        )
    if problem["type"] in _BOUNDS:
        limit, words = _BOUNDS[problem["type"]]
        return f"is {value!r}; it has to be {words} {context.get(limit, '')}"
    if problem["type"] == "value_error":
        return str(context.get("error", problem["msg"]))
    if problem["type"] == "string_pattern_mismatch":
        return f"{shown} is not of the form {context.get('pattern', '')}"
    return problem["msg"] + (f", not {shown}" if shown else "")


def of_rule(text: str, rule_id: str) -> int:
    """Line on which a rule's id stands, 1 where it is not found."""
    return _rule_lines(text).get(rule_id, 1)


@lru_cache(maxsize=4)
def _rule_lines(text: str) -> dict[str, int]:
    lines: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if match := _ID.match(line):
            lines.setdefault(match[1], number)
    return lines


@lru_cache(maxsize=4)
def _outline(text: str) -> tuple[list[str], dict[str, list[int]]]:
    """Lines of a text, and by the name of an array of tables the lines where its tables begin."""
    lines = text.splitlines()
    tables: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        if match := _TABLES.match(line):
            tables.setdefault(match[1], []).append(number)
    return lines, tables


def _line_of(text: str, steps: Sequence[int | str]) -> int:
    """Line of the deepest part of a path that can be found in the text."""
    lines, tables = _outline(text)
    first, last = 0, len(lines)
    if len(steps) > 1 and isinstance(steps[1], int):
        starts = tables.get(str(steps[0]), [])
        if steps[1] < len(starts):
            first = starts[steps[1]]
            later = bisect_right(starts, first)
            last = starts[later] if later < len(starts) else len(lines)
    # A field that is missing has no line: the table it belongs to has.
    names = [str(step) for step in steps if isinstance(step, str)]
    for name in reversed(names):
        for number in range(first, last):
            match = _KEY.match(lines[number])
            if match and (match["key"] == name or (match["table"] or "").split(".")[-1] == name):
                return number + 1
    return first + 1
