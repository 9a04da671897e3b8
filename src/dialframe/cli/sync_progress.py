"""A sync watched on a terminal or in a notebook: a line for each table, and the share of the limit."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dialframe.config import OnProgress, Progress, silent

if TYPE_CHECKING:
    from rich.console import Group

    from dialframe.account.list_progress import Meter


@contextmanager
def watch() -> Iterator[OnProgress]:
    """A listener that shows how a sync comes on; in a pipe it says nothing.

        with dialframe.cli.sync_progress.watch() as listen:
            account.sync(on_progress=listen)

    Shown are rows, rows a second, the oldest creation reached, the time left where it can be known, and
    how much of the key's rate limit is used.
    """
    if not (sys.stderr.isatty() or _in_notebook()):
        yield silent
        return
    # Loaded here, so that a command's help comes without pandas.
    from rich.console import Console
    from rich.live import Live

    from dialframe.account.list_progress import Meter

    console = Console(stderr=not _in_notebook())
    if console.is_dumb_terminal:
        yield silent
        return

    meter = Meter(time.monotonic())
    with Live(
        console=console, transient=True, refresh_per_second=4, get_renderable=lambda: _shown(meter)
    ):

        def listen(progress: Progress) -> None:
            meter.hear(progress, time.monotonic())

        yield listen


def _shown(meter: Meter) -> Group:
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    from dialframe.account.list_progress import line

    now_s = time.monotonic()
    table = Table.grid(padding=(0, 1))
    for pace in meter.paces(now_s):
        done = 1.0 if pace.share is None else pace.share
        bar = ProgressBar(total=1.0, completed=done, width=8, pulse=pace.share is None)
        table.add_row(bar, Text(line(pace)))
    return Group(table, Text(f"{meter.limit_share(now_s):.0%} of the rate limit used"))


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    return shell is not None and hasattr(shell.get_ipython(), "kernel")
