"""`dialframe sync`, `export`, `funnel`, `audit`: an account becomes knowledge."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dialframe.cli.face import (
    AsJson,
    BaseUrl,
    StoreFolder,
    answer,
    connect,
    progress,
    say,
    show,
)
from dialframe.cli.run import FINDINGS

if TYPE_CHECKING:
    import pandas as pd


class FailOn(StrEnum):
    """From which grade on an audit ends with status 3."""

    VIOLATION = "violation"
    UNCERTAIN = "uncertain"


def sync(
    tables: Annotated[
        list[str] | None,
        typer.Argument(
            help="Tables to bring up to date; all of them by default.", show_default=False
        ),
    ] = None,
    base_url: BaseUrl = None,
    store: StoreFolder = None,
    as_json: AsJson = False,
) -> None:
    """Bring the local store up to date with the account.

    Example:
        dialframe sync calls leads
    """
    with connect(base_url, store) as account, progress() as listen:
        report = account.sync(tables or None, on_progress=listen)
    if as_json:
        answer(report.as_dict())
    else:
        say(str(report))
    if not report.complete:
        raise typer.Exit(1)


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
    exporting.write(frame, to)
    if as_json:
        answer({"table": table, "rows": len(frame), "file": str(to)})
    else:
        say(f"{len(frame):,} rows of {table} written to {to}")


def funnel(
    campaign: Annotated[
        str | None, typer.Option("--campaign", help="Only this campaign id.", show_default=False)
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            help="Split by campaign_id or a custom field such as lead_source.",
            show_default=False,
        ),
    ] = None,
    base_url: BaseUrl = None,
    store: StoreFolder = None,
    as_json: AsJson = False,
) -> None:
    """Show how many leads reached each stage, from loaded to appointment.

    Reads the local store; run `dialframe sync` first. Example:

        dialframe funnel --by lead_source
    """
    from dialframe import analytics

    with connect(base_url, store) as account:
        leads, calls = account.leads(), account.calls()
        appointments = account.appointments()
    result = analytics.funnel(leads, calls, appointments, campaign=campaign, by=by)
    if as_json:
        rows = result.table.drop(columns="definition")
        answer(
            {
                "as_of": result.as_of,
                "taxonomy": result.taxonomy_version,
                "stages": rows.astype(object).where(rows.notna(), None).to_dict("records"),
                "definitions": result.definitions,
                "excluded": result.excluded[["reason", "unit", "count", "role"]].to_dict(
                    "records"
                ),
            }
        )
        return
    say(str(result))


def audit(
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Folder for the evidence (CSV and JSON).", show_default=False),
    ] = None,
    check: Annotated[
        str | None,
        typer.Option(
            "--check",
            help="First ask about numbers whose newest check is older than this, 31d for instance.",
            show_default=False,
        ),
    ] = None,
    state_field: Annotated[
        str | None,
        typer.Option(
            "--state-field",
            help="Custom field that names the called party's state.",
            show_default=False,
        ),
    ] = None,
    fail_on: Annotated[
        FailOn | None,
        typer.Option(
            "--fail-on",
            help="End with status 3 if there are findings of this grade or graver.",
            show_default=False,
        ),
    ] = None,
    base_url: BaseUrl = None,
    store: StoreFolder = None,
    as_json: AsJson = False,
) -> None:
    """Hold the account's calls against the federal calling-hours and Do-Not-Call rules.

    Reads the local store; run `dialframe sync` first. Example:

        dialframe audit --check 31d --out evidence
    """
    from dialframe.flows import audit as flow

    with connect(base_url, store) as account, progress() as listen:
        result = flow.audit(
            account,
            now=partial(datetime.now, UTC),
            max_age=check,
            state_field=state_field,
            on_progress=listen,
        )
    files = {} if out is None else flow.write_evidence(result, out)
    if as_json:
        answer({**flow.facts(result), "files": {name: str(path) for name, path in files.items()}})
    else:
        say(result.verdict)
        show(
            result.checks[["title", "checked", "violation", "uncertain", "not_evaluable"]],
            "Checks",
        )
        for path in files.values():
            say(f"  {path}")
        for note in result.notes:
            say(f"note: {note}")
    if fail_on is not None and _found(result.checks, fail_on):
        raise typer.Exit(FINDINGS)


def _found(checks: pd.DataFrame, fail_on: FailOn) -> bool:
    grades = ["violation"] if fail_on is FailOn.VIOLATION else ["violation", "uncertain"]
    return bool(checks[grades].to_numpy().sum())
