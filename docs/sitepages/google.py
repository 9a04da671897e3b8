"""Docstrings as this project writes them, as reStructuredText.

The form is Google's without types: the first line is a fact and may have a colon in it, `Returns:` holds
sentences. (The usual reader takes the words before a colon for a type.) An indented block below a blank
line is an example or a drawing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_HEADINGS = ("Args", "Attributes", "Raises", "Returns", "Yields", "Example")
_ENTRY = re.compile(r"(\*{0,2}[\w.]+(?:, \*{0,2}[\w.]+)*): (.*)")


def as_rest(lines: Sequence[str]) -> list[str]:
    """The lines of a docstring, its margin taken off, for Sphinx."""
    made: list[str] = []
    for heading, body in _parts(lines):
        if heading in ("Args", "Raises"):
            field = "param" if heading == "Args" else "raises"
            for name, text in entries(body):
                made += [f":{field} {name}: {text[0]}", *(f"    {line}" for line in text[1:])]
        elif heading in ("Returns", "Yields"):
            first, *rest = body or [""]
            made += [
                f":{heading.lower()}: {first}",
                *(f"    {line}" if line else "" for line in rest),
            ]
        elif heading == "Attributes":
            made += [""]
            for name, text in entries(body):
                made += [f"``{name}``", *(f"    {line}" for line in text), ""]
        elif heading == "Example":
            made += ["", "::", "", *(f"    {line}" for line in body), ""]
        else:
            made += list(_drawn(body))
    return made


def entries(body: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Names with their words, as they stand below `Args:`, `Attributes:` and `Raises:`."""
    name, text = "", []
    for line in filter(str.strip, body):
        found = None if line.startswith(" ") else _ENTRY.fullmatch(line)
        if found is None:
            text.append(line.strip())
            continue
        if name:
            yield name, text
        name, text = found[1].replace("*", r"\*"), [found[2]]
    if name:
        yield name, text


def _parts(lines: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    heading, body = "", []
    for line in lines:
        if line.rstrip(":") in _HEADINGS and line.endswith(":"):
            yield heading, body
            heading, body = line[:-1], []
        elif heading and line and not line.startswith(" "):
            yield heading, body
            heading, body = "", [line]
        else:
            body.append(line[4:] if heading else line)
    yield heading, body


def _drawn(body: Sequence[str]) -> Iterator[str]:
    """Text as it is, with a mark before each indented block."""
    before = ""
    for line in body:
        if line.startswith("    ") and before and not before.startswith(" "):
            yield from ("::", "")
        if line:
            before = line
        yield line
