"""Rows of text as a table: for the width of a terminal, or plain and the same everywhere in a pipe."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from dialframe.privacy import terminal_safe

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

#: Text up to this long stays on one line of a table.
SHORT_CHARS: Final = 24
#: A column of long text is of no use below this width.
_LEAST_CHARS: Final = 16
_GAP: Final = "  "


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table.

    Attributes:
        name: Its heading.
        cells: Text, one for each row.
        right: Whether the cells are numbers, which stand to the right.
    """

    name: str
    cells: tuple[str, ...]
    right: bool = False

    @property
    def width(self) -> int:
        """Characters that the widest cell takes on a screen."""
        from rich.cells import cell_len

        return max(map(cell_len, (self.name, *self.cells)))

    @property
    def short(self) -> bool:
        """Whether its cells stay on one line."""
        from rich.cells import cell_len

        return self.right or max((cell_len(cell) for cell in self.cells), default=0) <= SHORT_CHARS


def show(columns: Sequence[Column], title: str) -> None:
    """A table with headings on standard output.

    On a terminal it has lines and fits the width; where it cannot, each row is a block. In a pipe it is
    columns with two blanks between, one line for each row, whatever the width.
    """
    from rich.console import Console

    columns = [
        replace(
            each,
            name=terminal_safe(each.name),
            cells=tuple(map(terminal_safe, each.cells)),
        )
        for each in columns
    ]
    console = Console()
    if not console.is_terminal:
        rows = zip(*(column.cells for column in columns), strict=True)
        names = [column.name for column in columns]
        _plain([names, *rows], [column.right for column in columns])
    elif _least(columns) <= console.width:
        console.print(_lined(columns, title))
    else:
        _blocks(console, columns, title)


def grid(rows: Sequence[Sequence[str]], *, right: bool = False) -> None:
    """Rows under each other without lines or headings; the last column takes what is left of the width.

    Args:
        rows: Cells, as many in each row.
        right: Whether the first column is numbers.
    """
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    if not rows:
        return
    rows = [[terminal_safe(cell) for cell in row] for row in rows]
    console = Console()
    if not console.is_terminal:
        _plain(rows, [right, *(False for _ in rows[0][1:])], least=6 if right else 0)
        return
    widths = [max(map(cell_len, cells)) for cells in zip(*rows, strict=True)]
    before = sum(widths[:-1]) + 2 * len(widths)
    if before + min(widths[-1], _LEAST_CHARS) > console.width:
        _stacked(rows, console.width)
        return
    table = Table.grid(padding=(0, 2))
    for index in range(len(rows[0])):
        last = index == len(rows[0]) - 1
        table.add_column(justify="right" if right and index == 0 else "left", no_wrap=not last,
                         min_width=6 if right and index == 0 else None, overflow="fold")  # fmt: skip
    for row in rows:
        table.add_row(*map(Text, row))
    console.print(table)


def _lined(columns: Sequence[Column], title: str) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left", header_style="bold")
    for column in columns:
        table.add_column(
            Text(column.name),
            justify="right" if column.right else "left",
            no_wrap=column.short,
            overflow="fold",
        )
    for row in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*map(Text, row))
    return table


def _least(columns: Sequence[Column]) -> int:
    """Width that a table with lines needs for every short cell to be whole."""
    widths = [
        column.width if column.short else min(column.width, _LEAST_CHARS) for column in columns
    ]
    return sum(widths) + 3 * len(columns) + 1


def _blocks(console: Console, columns: Sequence[Column], title: str) -> None:
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    console.print(Text(title, style="italic"))
    left = max(cell_len(column.name) for column in columns)
    for row in zip(*(column.cells for column in columns), strict=True):
        console.print()
        block = Table.grid(padding=(0, 2))
        block.add_column(min_width=min(left, console.width // 2), style="bold")
        block.add_column(overflow="fold")
        for column, cell in zip(columns, row, strict=True):
            if cell:
                block.add_row(Text(column.name), Text(cell))
        console.print(block)


def _stacked(rows: Sequence[Sequence[str]], width: int) -> None:
    """The last cell of a row below the others."""
    below = " " * 6
    for row in rows:
        for part, indent in ((_GAP.join(filter(None, row[:-1])), "  "), (row[-1], below)):
            if not part:
                continue
            filled = textwrap.fill(
                part, max(width, 20), initial_indent=indent, subsequent_indent=below
            )
            print(filled)


def _plain(rows: Sequence[Sequence[str]], right: Sequence[bool], *, least: int = 0) -> None:
    from rich.cells import cell_len

    cells = [[" ".join(cell.split("\n")) for cell in row] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
    widths[0] = max(widths[0], least)
    for row in cells:
        line = _GAP.join(
            _filled(cell, width, to_right=numbers)
            for cell, width, numbers in zip(row, widths, right, strict=True)
        )
        print(line.rstrip())


def _filled(cell: str, width: int, *, to_right: bool) -> str:
    from rich.cells import cell_len

    blanks = " " * (width - cell_len(cell))
    return blanks + cell if to_right else cell + blanks
