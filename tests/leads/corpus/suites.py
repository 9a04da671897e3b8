"""Files of the made corpus, each drawn by its number from the description of its kind in `corpus.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

from tests.leads.corpus.case import SPOILT, Book, Case, Cells, Paper

_MADE: Final = tomllib.loads(Path(__file__).with_name("corpus.toml").read_text(encoding="utf-8"))
_TABLES: Final = _MADE["tables"] | _MADE["leads"] | _MADE["others"]
_POOLS: Final = _MADE["pools"] | {"table": list(_MADE["tables"]), "lead": list(_MADE["leads"])}

#: How many files each suite has, and the share of them that must be read exactly right.
SUITES: Final[dict[str, dict[str, Any]]] = _MADE["suites"]

#: Descriptions of the kinds of files, by suite.
KINDS: Final[dict[str, dict[str, dict[str, Any]]]] = _MADE["kinds"]

#: What a record is written as when it is damaged, and what a reader should make of it.
_DAMAGES: Final[dict[str, Callable[[Random, Paper, Cells], tuple[str, Cells]]]] = {
    "a cell too many": lambda _, paper, row: (paper.line((*row, "x")), SPOILT),
    "cells too few": lambda _, paper, row: (paper.line(row[:6]), row[:6]),
    "a missing delimiter": lambda _, paper, row: (
        paper.line(merged := (f"{row[0]} {row[1]}", *row[2:])),
        merged,
    ),
    "an unclosed quote": lambda random, paper, row: (_unclosed(random, paper, row), SPOILT),
}

_HOLE: Final = re.compile(r"\{([^{}]*?)(?::([^{}]*))?\}")
_RANGE: Final = re.compile(r"(-?\d+)\.\.(-?\d+)")


def draw(suite: str, every: int = 1) -> Iterator[Case]:
    """The files of a suite, its kinds in turn, or every so-manieth of them."""
    names = list(KINDS[suite])
    for at in range(0, SUITES[suite]["files"], every):
        name = names[at % len(names)]
        yield _Maker(suite, name, Random(f"{suite} {name} {at}")).case()


def fill(random: Random, text: str, known: dict[str, Any]) -> str:
    """A text with something in each of its holes: what is `known`, one of several, a number, or a text of a pool."""

    def drawn(hole: re.Match[str]) -> str:
        what, form = hole.groups("")
        if what in known:
            return str(known[what])
        if "|" in what:
            return random.choice(what.split("|"))
        if ends := _RANGE.fullmatch(what):
            low, high = map(int, ends.groups())
            real = form.endswith(("f", "e"))
            return format(random.uniform(low, high) if real else random.randint(low, high), form)
        inner = fill(random, random.choice(_POOLS[what]), known)
        return getattr(inner, form)() if form else inner

    return _HOLE.sub(drawn, text)


def _unclosed(random: Random, paper: Paper, row: Cells) -> str:
    cells = list(map(paper.cell, row))
    at = random.randrange(len(cells))
    cells[at] = '"' + row[at]
    return paper.delimiter.join(cells)


class _Maker:
    """One file while it is made after the description of its kind.

    The settings: `delimiter`, `quote`, `always`, `escape`, `widths` as of `Paper`; `end` of lines, `last_end`
    whether the last has one, `mixed` whether they differ, `tail` behind them, `encoding`, and `stray`, which
    is written in cp1252; `table` or `columns`, or `wide` columns of one `cell`, and `empty` ones at the right;
    `rows`, `named` whether there is a header, `cut` after how many cells a row ends; lines `above` and
    `below` the table, `under` its header and `between` records `every` so many; `once` in one row other
    cells, or a `damage`; the columns `stored` otherwise than as text and rows of a `hidden` sheet;
    `variants` that are laid over the rest.
    """

    def __init__(self, suite: str, name: str, random: Random) -> None:
        self.suite, self.name, self.random = suite, name, random
        kind = KINDS[suite][name]
        self.kind = kind | random.choice(kind.get("variants", [{}]))
        self.known: dict[str, Any] = {}

    def pick(self, setting: str, default: Any = None) -> Any:
        """What a setting is in this file."""
        return self.one(self.kind.get(setting, default))

    def one(self, choice: Any) -> Any:
        """One of several, with its holes filled."""
        value = self.random.choice(choice) if isinstance(choice, list) else choice
        return self.fill(value) if isinstance(value, str) else value

    def fill(self, text: str) -> str:
        """A text with its holes filled."""
        return fill(self.random, text, self.known)

    def columns(self) -> tuple[Cells, list[str]]:
        """Names of the columns, and what fills them."""
        if "wide" in self.kind:
            columns = {f"x{at}": self.kind["cell"] for at in range(int(self.pick("wide")))}
        else:
            columns = self.kind.get("columns") or _TABLES[self.pick("table", "{table}")]
        blank = [""] * int(self.pick("empty", "0"))
        fills = [
            self.random.choice(cell) if isinstance(cell, list) else cell
            for cell in columns.values()
        ]
        return (*map(self.fill, columns), *blank), [*fills, *blank]

    def case(self) -> Case:
        """The file with its truth."""
        names, fills = self.columns()
        file = self.book(names, fills) if self.suite == "xlsx" else self.paper()
        count = int(self.pick("rows", "{2..39}" if self.suite == "xlsx" else "{3..59}"))
        if isinstance(file, Paper):
            self.known |= {
                "delimiter": file.delimiter,
                "blanks": file.delimiter * (len(names) - 1),
                "header": file.line(names),
            }
        self.known["records"] = count
        self.write(file, "above")
        named = self.pick("named", default=True)
        if named:
            file.names(names)
        self.write(file, "under")
        records, lines = self.records(file, names, fills, count)
        self.write(file, "below")
        return Case(
            self.suite,
            self.name,
            "table.csv" if isinstance(file, Paper) else "book.xlsx",
            self.encoded(file) if isinstance(file, Paper) else file.finished(),
            names if named else None,
            tuple(records),
            tuple(lines),
        )

    def paper(self) -> Paper:
        """A text file in the dialect of this file."""
        return Paper(
            self.pick("delimiter", ","),
            self.pick("quote", '"') or None,
            self.pick("always", default=False),
            self.pick("escape"),
            self.kind.get("widths", ()),
        )

    def book(self, names: Cells, fills: list[str]) -> Book:
        """A workbook, with two sheets before that of the list where one is hidden."""
        stored = self.kind.get("stored", {})
        book = Book({names.index(name): self.one(form) for name, form in stored.items()})
        if hidden := self.kind.get("hidden"):
            book.sheet("Read me")
            book.write("This workbook holds the list of the fair.")
            book.sheet("Old", hidden=True)
            book.names(names)
            for _ in range(hidden):
                book.names(tuple(map(self.fill, fills)))
        book.sheet(self.fill("{Export|Leads|List|Sheet1}"))
        return book

    def write(self, file: Paper | Book, setting: str) -> None:
        """The lines that stand somewhere beside the table."""
        text = self.pick(setting, default=False)
        for line in text.split("\n") if text is not False else ():
            file.write(line)

    def records(
        self, file: Paper | Book, names: Cells, fills: list[str], count: int
    ) -> tuple[list[Cells], list[int]]:
        """Write the records; their true cells, and the lines where they begin."""
        records: list[Cells] = []
        lines: list[int] = []
        once, damage = self.kind.get("once", {}), self.kind.get("damage")
        odd = self.random.randrange(count) if once or damage else None
        gap = int(self.pick("every", "0"))
        for at in range(count):
            if gap and at == gap:
                self.write(file, "between")
                gap += int(self.pick("every"))
            self.known["record"] = at + 1
            own = [once.get(name, cell) for name, cell in zip(names, fills, strict=True)]
            row = tuple(map(self.fill, own if at == odd else fills))
            if "cut" in self.kind:
                row = row[: int(self.pick("cut"))]
            lines.append(file.at)
            if at == odd and damage and isinstance(file, Paper):
                text, row = _DAMAGES[damage](self.random, file, row)
                file.write(text)
            else:
                file.row(row)
            records.append(row)
        return records, lines

    def encoded(self, paper: Paper) -> bytes:
        """The bytes of a text file."""
        end = self.pick("end", "\n")
        ends = ("\n", "\r\n") if self.pick("mixed", default=False) else (end,)
        text = "".join(piece + self.random.choice(ends) for piece in paper.pieces)
        if not self.pick("last_end", default=True):
            text = text.removesuffix(end)
        data = (text + self.pick("tail", "")).encode(self.pick("encoding", "utf-8"))
        stray = self.kind.get("stray")
        return data.replace(stray.encode(), stray.encode("cp1252")) if stray else data
