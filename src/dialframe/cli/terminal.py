"""What commands share: options, progress on a terminal, answers for people and for machines."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, get_type_hints

import typer

from dialframe.cli import completion
from dialframe.config import OnProgress, Progress
from dialframe.privacy import terminal_safe

if TYPE_CHECKING:
    import pandas as pd
    from rich.progress import TaskID

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
    str | None,
    typer.Option(
        "--base-url", help="Address of the service; else DIALFRAME_BASE_URL.", show_default=False
    ),
]
StoreFolder = Annotated[
    Path | None,
    typer.Option(
        "--store", help="Folder of the local store; else DIALFRAME_STORE.", show_default=False
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object for machines.")]
Region = Annotated[
    str | None,
    typer.Option(
        "--region",
        help="Country of numbers written without one: US, GB, DE...; else inferred or asked for.",
        show_default=False,
        autocompletion=completion.of(completion.REGIONS),
    ),
]
NumbersRegion = Annotated[
    str | None,
    typer.Option(
        "--region",
        help="Country of numbers that are written without one: US, GB, DE...",
        show_default=False,
        autocompletion=completion.of(completion.REGIONS),
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
    Path | None,
    typer.Option("--codes", help="What your own codes mean: a TOML file.", show_default=False),
]


#: How the library names an argument, and how it is given here.
_WORDS: Final = (
    ("base_url is missing", "the service's address is missing"),
    ("pass base_url=...", "pass --base-url"),
    ("check base_url", "check --base-url or DIALFRAME_BASE_URL"),
    (" such as 31d, or a timedelta,", " such as 31d,"),
    ("pass taxonomy.with_file(path)", "give the file as --codes"),
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
        text = text.replace(theirs, ours)
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


def show(frame: pd.DataFrame, title: str) -> None:
    """A small table on standard output, numbers to the right; see `dialframe.cli.text_tables.show`."""
    import pandas as pd

    from dialframe.cli import text_tables

    columns = [
        text_tables.Column(
            str(name),
            tuple("" if pd.isna(cell) else _cell(cell) for cell in frame[name]),
            right=bool(pd.api.types.is_numeric_dtype(frame[name])),
        )
        for name in frame.columns
    ]
    text_tables.show(columns, title)


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
    """

    as_json: bool = False
    answered: bool = False
    stopped: bool = False
    step: Progress | None = None

    @property
    def words(self) -> str:
        """Where it is, for a sentence: ` while reading autumn.csv (2 of 7)`, or nothing."""
        if self.step is None:
            return ""
        of = "" if self.step.total is None else f" of {self.step.total:,}"
        return f" at '{self.step.step}' ({self.step.done:,}{of})"


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
