"""`dialframe sync`, `export`: an account comes to this disk, and goes on from it."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer

from dialframe.cli import completion, values
from dialframe.cli.sync_progress import watch
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
from dialframe.errors import ConfigError, StoreError


def sync(
    tables: Annotated[
        list[str] | None,
        typer.Argument(
            help="Tables to bring up to date; all of them by default.",
            show_default=False,
            autocompletion=completion.of(values.SYNCED),
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
        if name not in values.SYNCED:
            close = get_close_matches(name, values.SYNCED, n=1)
            meant = f"did you mean {close[0]}?" if close else "choose from "
            rest = "" if close else ", ".join(values.SYNCED)
            raise ConfigError(f"there is no table {name!r} to sync; {meant}{rest}")


def export(
    table: Annotated[
        str,
        typer.Argument(
            help=f"Table to write: {', '.join(values.TABLES)}.",
            autocompletion=completion.of(values.TABLES),
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
