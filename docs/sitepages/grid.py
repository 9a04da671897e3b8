"""Tables as document nodes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from docutils import nodes
from sphinx import addnodes

_CODE = re.compile(r"`+([^`]+)`+|(?<![\w-])(--[a-z][a-z-]+)|(https?://[^\s<>`]*[^\s<>`.,;:)])")


@dataclass(frozen=True, slots=True)
class Code:
    """A cell in the face of code."""

    text: str


@dataclass(frozen=True, slots=True)
class Name:
    """A cell that is a public name, and leads to where it is described."""

    target: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Link:
    """A cell that leads to another page of the net."""

    text: str
    address: str


@dataclass(frozen=True, slots=True)
class Page:
    """A cell that leads to another page of the site."""

    address: str
    text: str


Part = str | Code | Name | Link | Page
Cell = Part | Sequence[Part]


def grid(
    headings: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    *,
    widths: Sequence[int],
    prefix: str = "",
) -> nodes.table:
    """A table with a heading line.

    Args:
        headings: One text for each column.
        rows: The cells; text in backticks becomes code.
        widths: Shares of the columns.
        prefix: With it each row can be linked to, as `prefix` and the text of its first cell.
    """
    group = nodes.tgroup(cols=len(headings))
    group += [nodes.colspec(colwidth=width) for width in widths]
    group += nodes.thead("", _row(headings))
    body = nodes.tbody()
    for cells in rows:
        line = _row(cells)
        if prefix:
            line["ids"].append(nodes.make_id(f"{prefix}-{line.children[0].astext()}"))
        body += line
    group += body
    return nodes.table("", group, classes=["made"])


def text(words: str) -> list[nodes.Node]:
    """Words, with what is in backticks and options of a command as code, and addresses as links."""
    made: list[nodes.Node] = []
    end = 0
    for found in _CODE.finditer(words):
        code = found[1] or found[2]
        made.append(nodes.Text(words[end : found.start()]))
        if code:
            made.append(nodes.literal(code, code))
        else:
            made.append(nodes.reference("", found[3], refuri=found[3], internal=False))
        end = found.end()
    return [*made, nodes.Text(words[end:])]


def reference(name: Name) -> nodes.Node:
    """A name that leads to its description, and is plain code where it has none."""
    shown = nodes.literal(name.text or name.target, name.text or name.target)
    return addnodes.pending_xref(
        "",
        shown,
        refdomain="py",
        reftype="obj",
        reftarget=name.target,
        refexplicit=True,
        maybe=True,
    )


def _row(cells: Sequence[Cell]) -> nodes.row:
    return nodes.row(
        "", *(nodes.entry("", nodes.paragraph("", "", *_cell(cell))) for cell in cells)
    )


def _cell(cell: Cell) -> list[nodes.Node]:
    if isinstance(cell, str):
        return text(cell)
    if isinstance(cell, Code):
        return [nodes.literal(cell.text, cell.text)] if cell.text else []
    if isinstance(cell, Name):
        return [reference(cell)]
    if isinstance(cell, Page):
        shown = nodes.literal(cell.text, cell.text)
        return [
            addnodes.pending_xref(
                "", shown, refdomain="std", reftype="doc", reftarget=cell.address, refexplicit=True
            )
        ]
    if isinstance(cell, Link):
        return [nodes.reference("", cell.text, refuri=cell.address, internal=False)]
    made: list[nodes.Node] = []
    for part in cell:
        made += [*([nodes.Text(", ")] if made else []), *_cell(part)]
    return made
