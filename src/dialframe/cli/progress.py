"""Follows a running command: its last step, whether it has answered, and bars on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dialframe.config import OnProgress, Progress

if TYPE_CHECKING:
    from rich.progress import TaskID

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
