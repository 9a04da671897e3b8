"""`dialframe sync`, `export`: an account comes to this disk, and goes on from it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from dialframe.cli.face import (
    AsJson,
    BaseUrl,
    StoreFolder,
    answer,
    connect,
    say,
)
from dialframe.cli.run import INTERRUPTED
from dialframe.cli.watching import watch
from dialframe.errors import StoreError


def sync(
    tables: Annotated[
        list[str] | None,
        typer.Argument(
            help="Tables to bring up to date; all of them by default.", show_default=False
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

    Example:
        dialframe sync calls leads
    """
    with connect(base_url, store) as account, _said_when_stopped(), watch() as listen:
        report = account.sync(
            tables or None, reconcile_after="0s" if whole else None, on_progress=listen
        )
    if as_json:
        answer(report.as_dict())
    else:
        say(str(report))
    if not report.complete:
        raise typer.Exit(1)


@contextmanager
def _said_when_stopped() -> Iterator[None]:
    """Say what Ctrl-C left behind: the library of commands would end without a word."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo("dialframe: stopped; what was read is kept, the next sync goes on", err=True)
        raise typer.Exit(INTERRUPTED) from None


def export(
    table: Annotated[
        str,
        typer.Argument(
            help="calls, leads, campaigns, callbacks, appointments, dispositions, dnc_checks, events."
        ),
    ],
    to: Annotated[Path, typer.Option("--to", help="File to write: .parquet, .csv or .jsonl.")],
    base_url: BaseUrl = None,
    store: StoreFolder = None,
    as_json: AsJson = False,
) -> None:
    """Write a stored table to a file, with the contract's field names.

    Example:
        dialframe export calls --to calls.parquet
    """
    from dialframe.flows import exporting

    exporting.check(table, to)
    with connect(base_url, store) as account:
        frame = exporting.current(account, table)
    if frame.empty and "never synced" in frame.attrs["dialframe"]["sentence"]:
        raise StoreError(
            f"{table}: nothing to export, it was never synced; run dialframe sync first"
        )
    exporting.write(frame, to)
    if as_json:
        answer({"table": table, "rows": len(frame), "file": str(to)})
    else:
        say(f"{len(frame):,} rows of {table} written to {to}")
