"""Shows how a sync comes on: bars in a notebook or on a terminal, nothing in a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from importlib import import_module
from typing import Any, Final

from dialframe.account.sync_report import ListProgress
from dialframe.config import OnProgress, Progress, silent

#: Four times a second is smooth enough to the eye, and costs nothing beside the requests.
_REDRAW_S: Final = 0.25


def in_notebook() -> bool:
    """Whether this runs in a notebook's kernel, which has no terminal and draws all the same."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return hasattr(shell, "kernel")


@contextmanager
def listening(on_progress: OnProgress | None) -> Iterator[OnProgress]:
    """The listener that was given, else one that draws bars in a notebook and is silent elsewhere."""
    if on_progress is not None:
        yield on_progress
    elif in_notebook():
        with _notebook() as listener:
            yield listener
    else:
        yield silent


@contextmanager
def watch() -> Iterator[OnProgress]:
    """A listener for the command line: bars on a terminal, lines in a notebook; in a pipe it says nothing.

    Shown are rows, the oldest creation reached, and the time left where it can be known.
    """
    if in_notebook():
        with _notebook() as listener:
            yield listener
        return
    if not sys.stderr.isatty():
        yield silent
        return
    # Loaded here, so that a command's help comes without it.
    from rich import progress as rich
    from rich.console import Console

    # A pipe wants standard output for the answer.
    console = Console(stderr=True)
    if console.is_dumb_terminal:
        yield silent
        return
    columns = (rich.BarColumn(8), rich.TextColumn("{task.description:<12} {task.completed:>11,.0f} rows"),
               rich.TextColumn("{task.fields[back]}"), rich.TimeRemainingColumn())  # fmt: skip
    tasks: dict[str, rich.TaskID] = {}
    with rich.Progress(*columns, console=console, transient=True) as bars:

        def listen(progress: Progress) -> None:
            if progress.step not in tasks:
                tasks[progress.step] = bars.add_task(progress.step, total=None, back="")
            total = progress.done if _is_finished(progress) else progress.total
            back = progress.back if isinstance(progress, ListProgress) else ""
            bars.update(tasks[progress.step], completed=progress.done, total=total, back=back)

        yield listen


def _is_finished(progress: Progress) -> bool:
    return isinstance(progress, ListProgress) and progress.finished


@contextmanager
def _notebook() -> Iterator[OnProgress]:
    # In plain HTML: bars of rich would need one more package in a notebook.
    shown: Any = import_module("IPython.display")
    latest: dict[str, Progress] = {}
    drawn_s = time.monotonic()
    handle = shown.display(shown.HTML(""), display_id=True)

    def listen(progress: Progress) -> None:
        nonlocal drawn_s
        latest[progress.step] = progress
        if handle is not None and time.monotonic() - drawn_s >= _REDRAW_S:
            drawn_s = time.monotonic()
            handle.update(shown.HTML(f"<table>{''.join(map(_row, latest.values()))}</table>"))

    try:
        yield listen
    finally:
        # The report takes its place.
        if handle is not None:
            handle.update(shown.HTML(""))


def _row(progress: Progress) -> str:
    share = 1.0 if _is_finished(progress) else progress.total and progress.done / progress.total
    back = progress.back if isinstance(progress, ListProgress) else ""
    return (
        f'<tr><td><progress max="1"{f" value={share:.3f}" if share else ""}></progress></td>'
        f'<td style="text-align:left">{escape(progress.step)}</td><td>{progress.done:,} rows</td><td>{back}</td></tr>'
    )
