"""`dialframe sync`, `export`: an account comes to this disk, and goes on from it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dialframe.cli import completion
from dialframe.cli.terminal import (
    FAILURE,
    FINDINGS,
    AsJson,
    BaseUrl,
    StoreFolder,
    answer,
    connect,
    say,
)
from dialframe.config import OnProgress, Progress, silent
from dialframe.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from rich.console import Group

    from dialframe.account.sync_report import Meter


def sync(
    tables: Annotated[
        list[str] | None,
        typer.Argument(
            help="Tables to bring up to date; all of them by default.",
            show_default=False,
            autocompletion=completion.of(completion.SYNCED),
        ),
    ] = None,
    base_url: BaseUrl = None,
    store: StoreFolder = None,
    whole: Annotated[
        bool,
        typer.Option("--whole", help="Read every list to its end, however fresh it is."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Bring the local store up to date with the account.

    Status 1: a table is not complete. Status 3: it is, and rows that are not what the contract says were
    set aside; they are named by id and field.

    Examples:
        dialframe sync
        dialframe sync calls leads --json
    """
    _known(tables or ())
    with connect(base_url, store) as account, watch() as listen:
        report = account.sync(
            tables or None, reconcile_after="0s" if whole else None, on_progress=listen
        )
    if as_json:
        answer(report.as_dict())
    else:
        say(str(report))
    if not report.complete:
        raise typer.Exit(FAILURE)
    if report.quarantined:
        raise typer.Exit(FINDINGS)


def _known(tables: Sequence[str]) -> None:
    """Refuse a table that no sync brings, before anybody is asked."""
    for name in tables:
        if name not in completion.SYNCED:
            close = get_close_matches(name, completion.SYNCED, n=1)
            meant = f"did you mean {close[0]}?" if close else "choose from "
            rest = "" if close else ", ".join(completion.SYNCED)
            raise ConfigError(f"there is no table {name!r} to sync; {meant}{rest}")


def export(
    table: Annotated[
        str,
        typer.Argument(
            help=f"Table to write: {', '.join(completion.TABLES)}.",
            autocompletion=completion.of(completion.TABLES),
        ),
    ],
    to: Annotated[Path, typer.Option("--to", help="File to write: .parquet, .csv or .jsonl.")],
    base_url: BaseUrl = None,
    store: StoreFolder = None,
    as_json: AsJson = False,
) -> None:
    """Write a stored table to a file, with the contract's field names.

    Examples:
        dialframe export calls --to calls.parquet
        dialframe export leads --to leads.csv
    """
    from dialframe.flows import table_export

    table_export.check(table, to)
    with connect(base_url, store) as account:
        frame = table_export.current(account, table)
    if frame.empty and "never synced" in frame.attrs["dialframe"]["sentence"]:
        raise StoreError(
            f"{table}: nothing to export, it was never synced; run dialframe sync first"
        )
    table_export.write(frame, to)
    if as_json:
        answer({"table": table, "rows": len(frame), "file": str(to)})
    else:
        say(f"{len(frame):,} rows of {table} written to {to}")


@contextmanager
def watch() -> Iterator[OnProgress]:
    """A listener that shows how a sync comes on; in a pipe it says nothing.

    Shown are rows, rows a second, the oldest creation reached, the time left where it can be known, and
    how much of the key's rate limit is used.
    """
    if not (sys.stderr.isatty() or _in_notebook()):
        yield silent
        return
    # Loaded here, so that a command's help comes without pandas.
    from rich.console import Console
    from rich.live import Live

    from dialframe.account.sync_report import Meter

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

    from dialframe.account.sync_report import line

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
