"""Shows how a sync comes on: bars in a notebook or on a terminal, nothing in a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from dialframe.account.sync_report import Meter, line
from dialframe.config import OnProgress, Progress, silent

if TYPE_CHECKING:
    from rich.console import Group

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
    """A listener for the command line: bars on a terminal or in a notebook; in a pipe it says nothing.

    Shown are rows, rows a second, the oldest creation reached, the time left where it can be known, and
    how much of the key's rate limit is used.
    """
    if in_notebook():
        with _notebook() as listener:
            yield listener
        return
    if not sys.stderr.isatty():
        yield silent
        return
    # Loaded here, so that a command's help comes without it.
    from rich.console import Console
    from rich.live import Live

    # A pipe wants standard output for the answer.
    console = Console(stderr=True)
    if console.is_dumb_terminal:
        yield silent
        return
    meter = Meter(time.monotonic())
    with Live(
        console=console,
        transient=True,
        refresh_per_second=1 / _REDRAW_S,
        get_renderable=lambda: _bars(meter),
    ):
        yield lambda progress: meter.hear(progress, time.monotonic())


def _bars(meter: Meter) -> Group:
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    now_s = time.monotonic()
    table = Table.grid(padding=(0, 1))
    for pace in meter.paces(now_s):
        done = 1.0 if pace.share is None else pace.share
        # Where the share is not known the bar only moves.
        bar = ProgressBar(total=1.0, completed=done, width=8, pulse=pace.share is None)
        table.add_row(bar, Text(line(pace)))
    return Group(table, Text(f"{meter.limit_share(now_s):.0%} of the rate limit used"))


@contextmanager
def _notebook() -> Iterator[OnProgress]:
    # In plain HTML: bars of rich would need one more package in a notebook.
    shown: Any = import_module("IPython.display")
    meter, drawn_s = Meter(time.monotonic()), time.monotonic()
    handle = shown.display(shown.HTML(""), display_id=True)

    def listen(progress: Progress) -> None:
        nonlocal drawn_s
        now_s = time.monotonic()
        meter.hear(progress, now_s)
        if handle is not None and now_s - drawn_s >= _REDRAW_S:
            drawn_s = now_s
            handle.update(shown.HTML(_html(meter, now_s)))

    try:
        yield listen
    finally:
        # The report takes its place.
        if handle is not None:
            handle.update(shown.HTML(""))


def _html(meter: Meter, now_s: float) -> str:
    rows = "".join(
        f'<tr><td><progress max="1"{"" if pace.share is None else f" value={pace.share:.3f}"}></progress></td>'
        f'<td style="text-align:left"><code>{escape(line(pace))}</code></td></tr>'
        for pace in meter.paces(now_s)
    )
    return f"<table>{rows}</table>{meter.limit_share(now_s):.0%} of the rate limit used"
