"""Progress as bars on a terminal, one for each step; knows no step."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from dialframe.config import OnProgress, Progress


@contextmanager
def bars() -> Iterator[OnProgress]:
    """A listener that draws; what it drew is gone when it ends."""
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
