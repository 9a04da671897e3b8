"""What commands share: options, progress on a terminal, tables and answers for people and for machines."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, is_dataclass
from functools import partial, wraps
from inspect import Parameter, Signature, getdoc, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from dialframe.cli import completion_words
from dialframe.config import OnProgress, Progress, Settings
from dialframe.errors import ConfigError
from dialframe.privacy import terminal_safe

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console
    from rich.progress import TaskID

    from dialframe.account import Account

OK: Final = 0
FAILURE: Final = 1
USAGE: Final = 2
#: Beside the usual statuses: it ran, and there is something to look at.
FINDINGS: Final = 3
#: 128 and the number of SIGINT, as a shell reports it (POSIX.1-2017, Shell, 2.8.2).
INTERRUPTED: Final = 130


#: Filled with what was given anywhere on the command line (`GLOBAL`), and an option of no command.
StoreFolder = Path | None
AsJson = bool


def _capitals(region: str | None) -> str | None:
    return None if region is None else region.upper()


REGION_HELP: Final = "Country of numbers written without a country code: US, GB, DE..."
Region = Annotated[
    str | None,
    typer.Option(
        "--region",
        "-r",
        callback=_capitals,
        help=REGION_HELP,
        autocompletion=completion_words.of(completion_words.REGIONS),
    ),
]
OutFolder = Annotated[
    Path, typer.Option("--out", "-o", metavar="FOLDER", help="Folder to write to.")
]
#: The one meaning of `--as`.
FORMAT_HELP: Final = (
    "Format of the file: vicidial, twilio, five9, dncscrub..., or a profile's path."
)
#: The one meaning of `--zone`.
ZONE_HELP: Final = "Time zone of clock times that name none, or of a forecast: America/New_York."
#: `sandbox serve` takes an empty one, too.
SIZE_HELP: Final = "Size of the account: empty, tiny (1,000 calls), small (10,000), medium, large."
Host = Annotated[str, typer.Option("--host", help="Address to listen on.")]
Port = Annotated[
    int, typer.Option("--port", help="Port to listen on; 0 takes a free one.", min=0, max=65535)
]
Codes = Annotated[
    Path | None,
    typer.Option("--codes", help="What your disposition codes mean (TOML); else the firm file's."),
]
Since = Annotated[
    str | None, typer.Option("--since", help="First day (UTC) or instant of the period.")
]
Until = Annotated[
    str | None, typer.Option("--until", help="First day (UTC) or instant after the period.")
]
Fresh = Annotated[
    str | None,
    typer.Option(
        "--fresh", hidden=True, help="Refuse calls and leads last read longer ago than this: 24h."
    ),
]
CampaignName = Annotated[
    str | None, typer.Option("--campaign", "-c", help="Campaign, by name or id.")
]


#: A function of options that says what it found, or has said everything itself.
Command = Callable[..., "Answer | None"]

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
    (r": try again; whether the write .* asks$", ""),
)
#: For somebody who has no service to ask yet.
NO_ACCOUNT: Final = (
    "; without an account, dialframe sandbox serve runs the service on this machine"
)


def settings(*, base_url: str | None = None, store: Path | None = None) -> Settings:
    """Settings of a command: options, then the environment, then the firm file of this folder or one above."""
    from dialframe.firm import Firm  # it loads pydantic, which not every command needs

    firm = Firm.find(Path.cwd())
    return Settings.from_environment(
        os.environ, base_url=base_url, store=store, in_file=firm.settings
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountOptions:
    """Which account is meant, and where what is known of it is kept; given anywhere on the command line."""

    base_url: str | None = None
    store: Path | None = None

    @property
    def settings(self) -> Settings:
        """What was given, else what the environment says, else the firm file of this folder."""
        return settings(base_url=self.base_url, store=self.store)

    def connect(self) -> Account:
        """The account of the environment, or of what was given instead; what its store lost is said at once."""
        from dialframe.account import connect

        return _with_losses(connect(base_url=self.base_url, store=self.store))

    def read(self) -> Account:
        """The account for what its store alone answers: without an address or a key it is read all the same."""
        from dialframe.account import open_stored

        known = self.settings
        if known.base_url and known.api_key:
            return self.connect()
        return _with_losses(open_stored(known))

    def connect_or_load(self) -> Account:
        """The same; where no service is named at all, the account of loaded files."""
        from dialframe.account.connecting import loaded_account

        if self.settings.base_url is None and self.settings.api_key is None:
            return loaded_account(self.store)
        return self.connect()


def _with_losses(account: Account) -> Account:
    """An account, once what its store lost is said."""
    # On standard error, before the answer: whoever reads numbers should know what is missing in them.
    lost = account.store.missing()
    for sentence in (*lost, *account.journal_problems()):
        typer.echo(f"dialframe: {terminal_safe(sentence)}", err=True)
    return account


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command has to say.

    Attributes:
        facts: The one JSON object for a machine.
        lines: Sentences and tables for a person; they may be made as they are shown.
        status: The exit status.
    """

    facts: Mapping[str, Any]
    lines: Iterable[str | Table] = ()
    status: int = OK

    def give(self, *, as_json: bool) -> None:
        """Print it, and end the command."""
        if as_json:
            answer(self.facts)
        else:
            for part in self.lines:
                say(part)
        if self.status:
            raise typer.Exit(self.status)


#: On the page of each command; the first page explains them.
EVERYWHERE: Final = (
    "--json  --quiet  --verbose  --base-url URL  --store FOLDER  (see dialframe --help)"
)

#: Where the examples of a command begin in its docstring.
_EXAMPLE: Final = re.compile(r"\b(Examples?:)[ \t]*\n(?!\n*\x08)")


class _Panels:
    """How a page is written: options in panels, arguments in capitals, examples line by line."""

    def format_options(self: Any, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then a list for each panel, then the commands of a family."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is None:
                continue
            is_argument = param.param_type_name == "argument"
            panel = getattr(param, "rich_help_panel", None) or (
                "Arguments" if is_argument else "Options"
            )
            # The parser says the bounds of a number as Python does.
            about = re.sub(r"(; )?(\d+<=x<=\d+|x>=\d+)", "", record[1]).replace("  []", "")
            panels.setdefault(panel, []).append((_plain_types(record[0]), about))
        for panel, rows in panels.items():
            with formatter.section(panel):
                formatter.write_dl(rows)
        if ctx.parent is not None:
            with formatter.section("Everywhere"):
                formatter.write_text(EVERYWHERE)
        if isinstance(self, TyperGroup):
            self.format_commands(ctx, formatter)

    def format_help_text(self: Any, ctx: Any, formatter: Any) -> None:
        """Write the words of the command; lines of an example do not run together as prose."""
        page: Any = self
        words = _EXAMPLE.split(page.help or "", maxsplit=1)
        if len(words) == 3:
            example = textwrap.indent(textwrap.dedent(words[2]).strip("\n"), "    ")
            page.help = f"{words[0].rstrip()}\n\n{words[1]}\n\n\b\n{example}"
        super().format_help_text(ctx, formatter)  # type: ignore[misc]

    def collect_usage_pieces(self: Any, ctx: Any) -> list[str]:
        """Name the arguments in capitals."""
        return [_plain_types(piece) for piece in super().collect_usage_pieces(ctx)]  # type: ignore[misc]


class Page(_Panels, TyperCommand):
    """A command with its page."""


class Family(_Panels, TyperGroup):
    """A family of commands with its page."""


#: How a page shows what a value is; the library shows the types of Python.
_TYPES: Final = {"str": "TEXT", "path": "PATH", "int": "N", "float": "X", "bool": ""}


def _plain_types(words: str) -> str:
    """`--out <path>` as `--out PATH`, `{files}... <list[str]>` as `FILES...`."""
    words = re.sub(r"\{(\w+)\}", lambda name: name[1].upper(), words)
    if words[:1] != "-":
        return re.sub(r"\s*<[^>]*>", "", words).strip("{}").upper()
    words = words.replace("<int range>", "N")
    return re.sub(
        r"<(?:list\[)?(\w+)\]?>", lambda kind: _TYPES.get(kind[1], kind[1].upper()), words
    ).rstrip()


def command(
    app: typer.Typer, name: str | None = None, *, hidden: bool = False
) -> Callable[[Command], Command]:
    """Make a function a command of this family: its options are spread, its answer is printed."""

    def register(function: Command) -> Command:
        app.command(name, help=getdoc(function), cls=Page, hidden=hidden)(spread(function))
        return function

    return register


def spread(command: Command) -> Callable[..., None]:
    """Give a command the options of each group that it takes, and what was given for every command; print its answer.

    A group is a dataclass with an option in each field. The library of commands declares options by the
    parameters of one function, so those that several commands share would stand in each of them.
    """
    hints = get_type_hints(command, include_extras=True)
    hints.pop("return", None)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    # What typer reads is the signature of one function, so it is made of the fields of each group.
    parameters: list[Parameter] = []
    for parameter in signature(command).parameters.values():
        if parameter.name in GLOBAL or hints[parameter.name] is AccountOptions:
            continue
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
        course = current()
        for name in hints:
            if name in GLOBAL:
                values[name] = getattr(course, name)
            elif hints[name] is AccountOptions:
                values[name] = AccountOptions(base_url=course.base_url, store=course.store)
            elif name in groups:
                values[name] = groups[name](
                    **{each.name: values.pop(each.name) for each in fields(groups[name])}
                )
        answered = command(**values)
        if answered is not None:
            answered.give(as_json=course.as_json)

    vars(run)["__signature__"] = Signature(parameters)
    return run


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
    if now.quiet or not sys.stderr.isatty():
        yield partial(setattr, now, "step")
        return
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
    now.hide_bars = drawn.stop
    # A bar for each step, in the order in which they began.
    tasks: dict[str, TaskID] = {}

    # From the first second on: what is drawn before the first step says that something happens.
    first: TaskID | None = drawn.add_task("starting", total=None)
    drawn.start()

    def listen(step: Progress) -> None:
        nonlocal first
        now.step = step
        # A question took it from the screen.
        drawn.start()
        if first is not None:
            drawn.remove_task(first)
            first = None
        if step.step not in tasks:
            tasks[step.step] = drawn.add_task(step.step, total=step.total)
        drawn.update(tasks[step.step], completed=step.done, total=step.total)

    try:
        yield listen
    finally:
        # What was drawn is gone when the command answers.
        drawn.stop()


def say(part: str | Table) -> None:
    """Words or a table for a person, on standard output; sentences are broken at blanks where a terminal is narrow."""
    if isinstance(part, Table):
        part.show()
        return
    if sys.stdout.isatty():
        width = shutil.get_terminal_size().columns
        part = "\n".join(_broken(line, width) for line in part.split("\n"))
    typer.echo(terminal_safe(part))


def answer(value: Mapping[str, Any]) -> None:
    """The one JSON object on standard output."""
    current().answered = True
    sys.stdout.write(json.dumps(value, ensure_ascii=False, default=str) + "\n")
    sys.stdout.flush()


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


_SERVES: Final = ("sandbox", "serve")


@dataclass(slots=True)
class Course:
    """The course of one command.

    Attributes:
        base_url: The service's address, where it was given.
        store: The store's folder, where it was given.
        as_json: Whether the answer is for a machine.
        quiet: Whether no progress is shown.
        verbose: Whether the library's log goes to standard error.
        answered: Whether the one JSON object stands on standard output.
        stopped: Whether a person stopped it.
        step: The newest step that was heard of.
        hide_bars: Takes the bars from the screen until the next step, so that a question stays on it.
    """

    base_url: str | None = None
    store: Path | None = None
    as_json: bool = False
    quiet: bool = False
    verbose: bool = False
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


#: Of this context alone: several commands may run in one process, one in each thread.
_COURSE: Final[ContextVar[Course]] = ContextVar("course")


#: Options of every command, which may stand anywhere on the line: the name, its short form, whether it takes a value.
GLOBAL: Final[Mapping[str, tuple[str, str, bool]]] = {
    "base_url": ("--base-url", "", True),
    "store": ("--store", "", True),
    "as_json": ("--json", "", False),
    "quiet": ("--quiet", "-q", False),
    "verbose": ("--verbose", "-v", False),
}


def begin(arguments: Sequence[str]) -> list[str]:
    """Begin the course of a command, with the options of every command taken out of its line.

    Returns:
        What is left of the line: the command and its own words.

    Raises:
        ConfigError: An option has no value.
    """
    given: dict[str, Any] = {}
    rest: list[str] = []
    words = iter(arguments)
    names = {name: field for field, (*both, _) in GLOBAL.items() for name in both if name}
    course = Course()
    _COURSE.set(course)
    course.as_json = "--json" in arguments
    for word in words:
        name, equals, value = word.partition("=")
        if word == "--":
            rest += [word, *words]
        elif name not in names or (equals and not GLOBAL[names[name]][2]):
            rest.append(word)
        elif not GLOBAL[names[name]][2]:
            given[names[name]] = True
        else:
            value = value if equals else next(words, "")
            if not value or value.startswith("--"):
                raise ConfigError(f"{name} needs a value")
            given[names[name]] = value
    if "store" in given:
        given["store"] = Path(given["store"])
    # Whoever starts the sandbox reads where it serves, or nothing, from standard output: no failure is an object there.
    _COURSE.set(Course(**given, answered=tuple(rest[:2]) == _SERVES))
    return rest


def current() -> Course:
    """The course of the command that runs; one that nobody reads where none does."""
    return _COURSE.get(Course())


#: Text up to this long stays on one line of a table.
SHORT_CHARS: Final = 24
#: A column of long text is of no use below this width.
_LEAST_CHARS: Final = 16
#: Two blanks part columns, since cells hold single ones.
_GAP: Final = "  "
#: Variables that make standard output a terminal to rich, whatever it is.
_TERMINALS: Final = frozenset({"FORCE_COLOR", "TTY_COMPATIBLE"})
#: Numbers in front of a sentence stand below each other from one table to the next.
_NUMBER_CHARS: Final = 6


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under each other, with headings or without.

    On a terminal it fits the width, with lines where it has headings; where it cannot fit, each row is a
    block. In a pipe it is columns with two blanks between, one line for each row, whatever the width.

    Attributes:
        rows: Text, as many cells in each row.
        names: The headings; none for rows that need none, whose last column takes what is left of the width.
        title: What stands above it on a terminal.
        right: Places of columns of numbers, which stand to the right.
    """

    rows: Sequence[Sequence[str]]
    names: Sequence[str] = ()
    title: str = ""
    right: Collection[int] = ()

    @classmethod
    def of(cls, frame: pd.DataFrame, title: str) -> Table:
        """A small frame, numbers to the right."""
        import pandas as pd

        cells = [["" if pd.isna(cell) else _cell(cell) for cell in frame[name]] for name in frame]
        numbers = [pd.api.types.is_numeric_dtype(frame[name]) for name in frame]
        right = [position for position, is_number in enumerate(numbers) if is_number]
        return cls(list(zip(*cells, strict=True)), [str(name) for name in frame], title, right)

    @classmethod
    def of_counts(cls, counted: Iterable[tuple[Any, ...]]) -> Table:
        """Rows whose first cell is a count, without headings."""
        rows = [(f"{count:,}", *cells) for count, *cells in counted]
        return cls(rows, right=(0,))

    def show(self) -> None:
        """Print it on standard output."""
        if not (self.rows or self.names):
            return
        rows = [[terminal_safe(cell) for cell in row] for row in self.rows]
        names = [terminal_safe(name) for name in self.names]
        columns = list(zip(*([names] if names else []), *rows, strict=True))
        widths = [_width(column) for column in columns]
        if not names and self.right:
            widths[0] = max(widths[0], _NUMBER_CHARS)
        plain = [names, *rows] if names else rows
        # Loading rich takes a tenth of the time of a small list, and a pipe needs none of it.
        if not sys.stdout.isatty() and _TERMINALS.isdisjoint(os.environ):
            self._print_plain(plain, widths)
            return
        from rich.console import Console
        from rich.table import Table as Drawn
        from rich.text import Text

        console = Console()
        if not console.is_terminal:
            self._print_plain(plain, widths)
            return
        last = len(columns) - 1
        short = [
            position in self.right or _width(column[1:]) <= SHORT_CHARS
            if names
            else position != last
            for position, column in enumerate(columns)
        ]
        least = [
            width if is_short else min(width, _LEAST_CHARS)
            for width, is_short in zip(widths, short, strict=True)
        ]
        # With lines a column takes three more, and one closes the table.
        if sum(least) + (3 * len(columns) + 1 if names else 2 * len(columns)) > console.width:
            self._print_blocks(console, names, rows)
            return
        table = Drawn.grid(padding=(0, 2))
        if names:
            table = Drawn(title=self.title, title_justify="left", header_style="bold")
        for position, column in enumerate(columns):
            table.add_column(
                Text(column[0]) if names else "",
                justify="right" if position in self.right else "left", no_wrap=short[position],
                min_width=None if names or position else widths[0], overflow="fold",
            )  # fmt: skip
        for row in rows:
            table.add_row(*map(Text, row))
        console.print(table)

    def _print_plain(self, rows: Sequence[Sequence[str]], widths: Sequence[int]) -> None:
        for row in rows:
            line = []
            for position, (cell, width) in enumerate(zip(row, widths, strict=True)):
                text = " ".join(cell.split("\n"))
                blanks = " " * (width - _width([text]))
                line.append(blanks + text if position in self.right else text + blanks)
            print(_GAP.join(line).rstrip())

    def _print_blocks(
        self, console: Console, names: Sequence[str], rows: Sequence[Sequence[str]]
    ) -> None:
        """Each row by itself: its cells beside their headings; without headings the last below the others."""
        from rich.table import Table as Drawn
        from rich.text import Text

        if names:
            console.print(Text(self.title, style="italic"))
        for row in rows:
            if not names:
                parts = _GAP.join(filter(None, row[:-1])), row[-1]
                for part, indent in zip(parts, ("  ", " " * 6), strict=True):
                    if part:
                        width = max(console.width, 20)
                        print(
                            textwrap.fill(
                                part, width, initial_indent=indent, subsequent_indent=" " * 6
                            )
                        )
                continue
            console.print()
            block = Drawn.grid(padding=(0, 2))
            block.add_column(min_width=min(_width(names), console.width // 2), style="bold")
            block.add_column(overflow="fold")
            for name, cell in zip(names, row, strict=True):
                if cell:
                    block.add_row(Text(name), Text(cell))
            console.print(block)


def _width(cells: Iterable[str]) -> int:
    """Characters that the widest of some cells takes on a screen."""
    from rich.cells import cell_len

    return max(map(cell_len, cells), default=0)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
