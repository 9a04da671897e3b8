"""Faults of a rule file by line: where what the schema refuses stands in the text; knows no meaning."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from pydantic import ValidationError

_TABLES: Final = re.compile(r"\s*\[\[([\w.]+)\]\]")
_KEY: Final = re.compile(r"\s*(?:\[(?P<table>[\w.]+)\]|\"?(?P<key>[\w-]+)\"?\s*=)")


def first_problem(error: ValidationError, text: str, name: str) -> str:
    """The first fault of a file in one sentence, with its line."""
    problems = error.errors(include_url=False)
    # A misspelt field is also a missing one: the misspelling is what there is to correct.
    problems.sort(key=lambda problem: problem["type"] != "extra_forbidden")
    place = problems[0]["loc"]
    # The schema writes the kind of a rule into the path; the file does not.
    steps = [
        step
        for before, step in zip((None, *place), place, strict=False)
        if not (step in _KINDS and (isinstance(before, int) or before == "rule"))
    ]
    where = ".".join(str(step) for step in steps) or "the whole"
    more = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
    return (
        f"{name}, line {_line_of(text, steps)}: {where}: {problems[0]['msg']}{more}; "
        "correct the text"
    )


def of_rule(text: str, rule_id: str) -> int:
    """Line on which a rule's id stands, 1 where it is not found."""
    for number, line in enumerate(text.splitlines(), start=1):
        if re.match(rf'\s*id\s*=\s*"{re.escape(rule_id)}"', line):
            return number
    return 1


_KINDS: Final = frozenset(
    {
        "calling_hours", "holiday", "attempt_cap", "dnc_freshness", "internal_dnc",
        "abandonment_rate", "consent", "retention",
    }
)  # fmt: skip


def _line_of(text: str, steps: Sequence[int | str]) -> int:
    """Line of the deepest part of a path that can be found in the text."""
    lines = text.splitlines()
    first, last = 0, len(lines)
    if len(steps) > 1 and isinstance(steps[1], int):
        starts = [
            number
            for number, line in enumerate(lines)
            if (found := _TABLES.match(line)) and found[1] == steps[0]
        ]
        if steps[1] < len(starts):
            first = starts[steps[1]]
            later = [s for s in starts if s > first]
            last = later[0] if later else len(lines)
    names = [str(step) for step in steps if isinstance(step, str)]
    for name in reversed(names):
        for number in range(first, last):
            found = _KEY.match(lines[number])
            if found and (found["key"] == name or (found["table"] or "").split(".")[-1] == name):
                return number + 1
    return first + 1
