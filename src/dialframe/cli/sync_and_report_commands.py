"""`dialframe sync`, `export`, `funnel`, `report`: an account comes to this disk, and goes on from it as files and answers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from dialframe import instants
from dialframe.cli import completion_words
from dialframe.cli.terminal import (
    FAILURE,
    FINDINGS,
    OK,
    AccountOptions,
    Answer,
    CampaignName,
    Codes,
    Fresh,
    OutFolder,
    Since,
    Until,
    in_options,
    progress,
)
from dialframe.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from dialframe.analytics import Funnel
    from dialframe.flows.reporting import Scope


def sync(
    *,
    tables: Annotated[
        list[str] | None,
        typer.Argument(
            help="Tables to bring up to date; all of them by default.",
            autocompletion=completion_words.of(completion_words.SYNCED),
        ),
    ] = None,
    account_options: AccountOptions,
    whole: Annotated[
        bool, typer.Option("--whole", help="Read every list to its end, even where it is fresh.")
    ] = False,
) -> Answer:
    """Bring the local store up to date with the account.

    Reads what is new, the last 48 hours again, and older rows as far as the pages of the day go.
    Status 1: a table is not complete. Status 3: it is, and rows that are not what the contract says were
    set aside; they are named by id and field.

    Examples:
        dialframe sync
        dialframe sync calls leads --json
    """
    for name in tables or ():
        if name not in completion_words.SYNCED:
            close = get_close_matches(name, completion_words.SYNCED, n=1)
            choices = f"choose from {', '.join(completion_words.SYNCED)}"
            advice = f"did you mean {close[0]}?" if close else choices
            raise ConfigError(f"there is no table {name!r} to sync; {advice}")
    from dialframe.account.sync_progress import watch

    with account_options.connect() as account, watch() as listen:
        # How many older pages a day are read again is in the firm file.
        report = account.sync(tables or None, whole=whole, on_progress=listen)
    # Complete tables may have rows that are not what the contract says.
    findings = FINDINGS if report.quarantined else OK
    return Answer(report.as_dict(), [str(report)], findings if report.complete else FAILURE)


def campaigns(account_options: AccountOptions) -> Answer:
    """List the account's campaigns, with the names that every --campaign takes.

    Example:
        dialframe campaigns --json
    """
    from dialframe.account.connecting import LOADED_ADDRESS

    with account_options.connect() as account:
        # Files that were loaded without a service are an account whose campaigns are on this disk alone.
        known = (
            account.client.campaigns.list()
            if account.client.base_url != LOADED_ADDRESS
            else account.campaigns().itertuples()
        )
        listed = [
            {"id": each.id, "name": each.name, "status": each.status or ""} for each in known
        ]
    width = max((len(row["name"]) for row in listed), default=0)
    lines = [f"{row['name']:<{width}}  {row['status']:<9}  {row['id']}" for row in listed]
    return Answer({"data": listed}, lines or ["the account has no campaigns"])


def export(
    *,
    table: Annotated[
        str,
        typer.Argument(
            help=f"Table to write: {', '.join(completion_words.TABLES)}.",
            autocompletion=completion_words.of(completion_words.TABLES),
        ),
    ],
    to: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="File to write; its ending names the format, such as .csv or .xlsx.",
        ),
    ],
    account_options: AccountOptions,
) -> Answer:
    """Write a stored table to a file, with the contract's field names.

    The table `all` goes to a folder or an object store (s3://bucket/calls) as Delta tables, for engines that
    run on many machines; run again, it writes what is new. Examples:

        dialframe export calls --to calls.parquet
        dialframe export leads --to leads.xlsx
        dialframe export all --to lake
    """
    from dialframe.flows import reporting

    if table == "all":
        from dialframe.cli.store_commands import publish

        answered = publish(url=to, account_options=account_options)
        assert isinstance(answered, Answer)  # noqa: S101 - a registered command is typed as any
        return answered
    file = Path(to)
    # A name that cannot be written is said before the store is read.
    reporting.exportable(table, file)
    with account_options.read() as account:
        # The method that reads a table has its name.
        frame = getattr(account, table)()
    # An empty file would look like an account without calls.
    if frame.empty and "never synced" in frame.attrs["dialframe"]["sentence"]:
        raise StoreError(
            f"{table}: nothing to export, it was never synced; run dialframe sync first"
        )
    reporting.write_table(frame, file)
    facts = {"table": table, "rows": len(frame), "file": str(file)}
    return Answer(facts, [f"{len(frame):,} rows of {table} written to {to}"])


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOptions:
    """Which calls are counted, how they are split, and what the firm's codes mean."""

    campaign: CampaignName = None
    by: Annotated[
        str | None,
        typer.Option(help="Split by campaign_id, region or a custom field such as lead_source."),
    ] = None
    since: Since = None
    until: Until = None
    codes: Codes = None
    fresh: Fresh = None

    def scope(self) -> Scope:
        """The same, read."""
        from dialframe.firm import Firm
        from dialframe.flows import firm_records, reporting

        return reporting.Scope(
            self.campaign,
            self.by,
            # A day is its midnight in UTC.
            instants.instant("--since", self.since),
            instants.instant("--until", self.until),
            firm_records.own_codes(self.codes or Firm.find(Path.cwd()).audit.codes),
            self.fresh,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FunnelOptions:
    """How the stages of a funnel follow each other."""

    order: Annotated[
        Literal["ordered", "strict", "any"],
        typer.Option(
            hidden=True,
            help="ordered: each stage after the one before; strict: with no call between; any.",
        ),
    ] = "ordered"
    window: Annotated[
        str | None,
        typer.Option(help="For funnel: time in which all stages must happen, such as 30d."),
    ] = None
    entry: Annotated[
        Literal["import", "first_dial"],
        typer.Option(hidden=True, help="Where the window begins."),
    ] = "import"


Picture = Annotated[
    Path | None,
    typer.Option("--picture", metavar="FILE", help="Draw it, .png or .svg."),
]


def funnel(
    *,
    calls: CallOptions,
    stages: FunnelOptions,
    picture: Picture = None,
    account_options: AccountOptions,
) -> Answer:
    """Show how many leads reached each stage; the old name of `analyze funnel`.

    Reads the local store; run `dialframe sync` first. Codes without a known meaning are listed,
    with a file ready to fill in for --codes. Example:

        dialframe funnel --by lead_source --window 30d --picture funnel.png
    """
    from dialframe.flows import reporting
    from dialframe.instants import age

    if picture is not None:
        reporting.drawable(picture)
    scope = calls.scope()
    # None: however long it took.
    span = None if stages.window is None else age("--window", stages.window)
    with account_options.read() as account:
        result = reporting.funnel(
            account, scope, order=stages.order, window=span, entry=stages.entry
        )
        # For people, campaigns have names; for machines they keep their ids.
        shown = result.named(account.campaigns())
    # Drawn after the store is closed: a picture takes seconds.
    drawn = None if picture is None else reporting.picture(shown, picture)
    lines = [str(shown), *(f"\nwarning: {in_options(warning)}" for warning in shown.warnings)]
    lines += [] if drawn is None else [f"picture: {drawn}"]
    return Answer(_facts(result, drawn), lines)


def _facts(result: Funnel, picture: Path | None) -> dict[str, Any]:
    """The funnel for machines; the keys do not depend on the data."""
    plain = result.to_dict()
    return {
        "as_of": plain["as_of"],
        "taxonomy": result.taxonomy_version,
        "parameters": plain["parameters"],
        # Definitions stand apart, once: they are the same for every row of a stage.
        "stages": [
            {name: value for name, value in row.items() if name != "definition"}
            for row in plain["table"]
        ],
        "headlines": [each.as_dict() for each in result.headlines],
        "definitions": result.definitions,
        "excluded": [
            {name: row[name] for name in ("reason", "unit", "count", "role")}
            for row in plain["excluded"]
        ],
        "warnings": plain["warnings"],
        "files": {} if picture is None else {"picture": str(picture)},
    }


def report(
    calls: CallOptions,
    out: OutFolder,
    account_options: AccountOptions,
) -> Answer:
    """Write the main analyses as one HTML page: pictures, their numbers, every definition.

    Reads the local store; run `dialframe sync` first. The page fetches nothing from anywhere, and
    numbers of people are masked. Example:

        dialframe report --out october --since 2026-10-01 --until 2026-11-01
    """
    from dialframe.flows import reporting

    scope = calls.scope()
    with account_options.read() as account, progress() as listen:
        written = reporting.report(account, out, scope, on_progress=listen)
    lines = (*written.findings, f"report: {written.file}")
    facts = {**asdict(written), "headlines": [each.as_dict() for each in written.headlines]}
    return Answer(facts, lines)
