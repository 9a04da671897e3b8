"""What commands share: options, progress on a terminal, tables and answers for people and for machines."""

from __future__ import annotations

import json
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, get_type_hints

import typer

from dialframe.cli import completion_words
from dialframe.config import OnProgress, Progress
from dialframe.privacy import terminal_safe

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console
    from rich.progress import TaskID
    from rich.table import Table

    from dialframe.account import Account

OK: Final = 0
FAILURE: Final = 1
USAGE: Final = 2
FINDINGS: Final = 3
INTERRUPTED: Final = 130

#: What each says to a script; a command's help tells what it adds.
STATUSES: Final[dict[int, str]] = {
    OK: "it did what was asked",
    FAILURE: "it could not: a file, the service, the store or the disk is in the way",
    USAGE: "wrong usage, or a setting that is missing or wrong; nothing was done",
    INTERRUPTED: "stopped with Ctrl-C; what was finished is kept",
}


BaseUrl = Annotated[
    str | None, typer.Option("--base-url", help="Address of the service; else DIALFRAME_BASE_URL.")
]
StoreFolder = Annotated[
    Path | None, typer.Option("--store", help="Folder of the local store; else DIALFRAME_STORE.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object for machines.")]


def _capitals(region: str | None) -> str | None:
    return None if region is None else region.upper()


Region = Annotated[
    str | None,
    typer.Option(
        "--region",
        callback=_capitals,
        help="Country of numbers written without one: US, GB, DE...; else inferred or asked for.",
        autocompletion=completion_words.of(completion_words.REGIONS),
    ),
]
NumbersRegion = Annotated[
    str | None,
    typer.Option(
        "--region",
        callback=_capitals,
        help="Country of numbers that are written without one: US, GB, DE...",
        autocompletion=completion_words.of(completion_words.REGIONS),
    ),
]
OutFolder = Annotated[
    Path, typer.Option("--out", metavar="FOLDER", help="Folder for what is written.")
]
Host = Annotated[str, typer.Option("--host", help="Address to listen on.")]
Port = Annotated[
    int, typer.Option("--port", help="Port to listen on; 0 takes a free one.", min=0, max=65535)
]
Codes = Annotated[
    Path | None, typer.Option("--codes", help="What your own codes mean: a TOML file.")
]


#: How the library names an argument, and how it is given here.
_WORDS: Final = (
    (r"base_url is missing", "the service's address is missing"),
    (r"pass base_url=\.\.\.", "pass --base-url"),
    (r"check base_url", "check --base-url or DIALFRAME_BASE_URL"),
    (r" such as 31d, or a timedelta,", " such as 31d,"),
    (r"pass taxonomy\.with_file\(path\)", "give the file as --codes"),
    (r"mapping=\{'(\w+)': '((?:[^'\\]|\\.)*)'\}", r"--column '\1=\2'"),
    (r"mapping=\{'(\w+)': \.\.\.\}", r"--column \1=NAME"),
    (r"\bkeep=\[\.\.\.\]", "--keep NAME (once for each)"),
    (r"\b(sheet|encoding|delimiter|header|region)=(?!\w)", r"--\1"),
    (r"\bkeep names\b", "--keep names"),
    (r"\bpass engine=dask\b", "pass --engine dask"),
    (r"\bleave engine out\b", "leave --engine out"),
    (r"^a scheduler\b", "--scheduler"),
    (r"\bwith map_columns\b", "with --save-mapping"),
    (r": try again; whether the write .* asks$", ""),
)
#: For somebody who has no service to ask yet.
NO_ACCOUNT: Final = (
    "; without an account, dialframe sandbox serve runs the service on this machine"
)


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of each group that it takes.

    A group is a dataclass with an option in each field. The library of commands declares options by the
    parameters of one function, so those that several commands share would stand in each of them.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters: list[Parameter] = []
    for parameter in signature(command).parameters.values():
        # Options are keywords: a group may stand between two of them.
        if parameter.name not in groups:
            hint = hints[parameter.name]
            parameters.append(parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=hint))
            continue
        group = groups[parameter.name]
        options = get_type_hints(group, include_extras=True)
        parameters += [
            Parameter(
                field.name, Parameter.KEYWORD_ONLY,
                default=field.default, annotation=options[field.name],
            )
            for field in fields(group)
        ]  # fmt: skip

    @wraps(command)
    def run(**values: Any) -> None:
        for name, group in groups.items():
            values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
        command(**values)

    vars(run)["__signature__"] = Signature(parameters)
    return run


def connect(base_url: str | None, store: Path | None) -> Account:
    """The account of the environment, or of what was given instead; what its store lost is said at once."""
    from dialframe.account import connect as open_account

    account = open_account(base_url=base_url, store=store)
    lost = [damage.sentence for damage in account.store.missing()]
    for sentence in (*lost, *account.journal_problems()):
        typer.echo(f"dialframe: {terminal_safe(sentence)}", err=True)
    return account


def in_options(text: str) -> str:
    """What the library says of its arguments, in the words of the command line."""
    for theirs, ours in _WORDS:
        text = re.sub(theirs, ours, text)
    return text


@contextmanager
def progress() -> Iterator[OnProgress]:
    """A listener that draws bars on a terminal and says nothing in a pipe.

    What it hears is remembered, so that a command that is stopped can say where it was.
    """
    now = current()

    def remember(step: Progress) -> None:
        now.step = step

    if not sys.stderr.isatty():
        yield remember
        return
    with bars() as draw:

        def listen(step: Progress) -> None:
            remember(step)
            draw(step)

        yield listen


def say(text: str) -> None:
    """Words for a person, on standard output; sentences are broken at blanks where a terminal is narrow."""
    if sys.stdout.isatty():
        width = shutil.get_terminal_size().columns
        text = "\n".join(_broken(line, width) for line in text.split("\n"))
    typer.echo(terminal_safe(text))


def answer(value: Mapping[str, Any]) -> None:
    """The one JSON object on standard output."""
    current().answered = True
    sys.stdout.write(json.dumps(value, ensure_ascii=False, default=str) + "\n")
    sys.stdout.flush()


def reply(facts: Mapping[str, Any], lines: Iterable[str], *, as_json: bool) -> None:
    """The one JSON object for a machine, or lines for a person."""
    if as_json:
        answer(facts)
        return
    for line in lines:
        say(line)


def show(frame: pd.DataFrame, title: str) -> None:
    """A small table on standard output, numbers to the right; see `show_columns`."""
    import pandas as pd

    columns = [
        Column(
            str(name),
            tuple("" if pd.isna(cell) else _cell(cell) for cell in frame[name]),
            right=bool(pd.api.types.is_numeric_dtype(frame[name])),
        )
        for name in frame.columns
    ]
    show_columns(columns, title)


def _broken(line: str, width: int) -> str:
    """A sentence on lines of its own; what is set in columns stays as it is."""
    words = line.lstrip()
    if len(line) <= width or "  " in words:
        return line
    indent = " " * (len(line) - len(words))
    return textwrap.fill(
        words, max(width, 20), initial_indent=indent, subsequent_indent=indent + "  ",
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


#: Whoever starts this one reads where it serves, or nothing, from standard output.
_SERVES: Final = ("sandbox", "serve")


@dataclass(slots=True)
class Course:
    """The course of one command.

    Attributes:
        as_json: Whether the answer is for a machine.
        answered: Whether the one JSON object stands on standard output.
        stopped: Whether a person stopped it.
        step: The newest step that was heard of.
        hide_bars: Takes the bars from the screen until the next step, so that a question stays on it.
    """

    as_json: bool = False
    answered: bool = False
    stopped: bool = False
    step: Progress | None = None
    hide_bars: Callable[[], None] = field(default=lambda: None)

    @property
    def words(self) -> str:
        """Where it is, for a sentence: ` while reading autumn.csv (2 of 7)`, or nothing."""
        if self.step is None:
            return ""
        total = "" if self.step.total is None else f" of {self.step.total:,}"
        return f" at '{self.step.step}' ({self.step.done:,}{total})"


_COURSE: Final[ContextVar[Course]] = ContextVar("course")


def begin(arguments: Sequence[str]) -> Course:
    """The course of the command that these arguments ask for; it begins here."""
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    serves = tuple(arguments[:2]) == _SERVES
    course = Course(as_json="--json" in options and not serves)
    _COURSE.set(course)
    return course


def current() -> Course:
    """The course of the command that runs; one that nobody reads where none does."""
    return _COURSE.get(Course())


@contextmanager
def bars() -> Iterator[OnProgress]:
    """A listener that draws a bar for each step; what it drew is gone when it ends."""
    # Loaded here, so that help and completion come without it.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(),
        TimeElapsedColumn(),
    )  # fmt: skip
    console = Console(stderr=True)
    drawn = Bars(*columns, console=console, transient=True, disable=console.is_dumb_terminal)
    current().hide_bars = drawn.stop
    tasks: dict[str, TaskID] = {}

    def listen(step: Progress) -> None:
        # Nothing is drawn before there is something to tell: a question may come first.
        drawn.start()
        if step.step not in tasks:
            tasks[step.step] = drawn.add_task(step.step, total=step.total)
        drawn.update(tasks[step.step], completed=step.done, total=step.total)

    try:
        yield listen
    finally:
        if tasks:
            drawn.stop()


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


def show_columns(columns: Sequence[Column], title: str) -> None:
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
    # A sentence of a word a line is no sentence.
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
        line = []
        for cell, width, is_number in zip(row, widths, right, strict=True):
            blanks = " " * (width - cell_len(cell))
            line.append(blanks + cell if is_number else cell + blanks)
        print(_GAP.join(line).rstrip())
