"""`dialframe load` and `dialframe analyze`: any dialer's export becomes an account, and an account answers a question."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from dialframe.cli.sync_and_report_commands import CallOptions, FunnelOptions, Picture
from dialframe.cli.terminal import (
    FINDINGS,
    FORMAT_HELP,
    OK,
    ZONE_HELP,
    AccountOptions,
    Answer,
    CampaignName,
    Region,
    in_options,
)
from dialframe.errors import ConfigError
from dialframe.instants import age

if TYPE_CHECKING:
    import pandas as pd

    from dialframe.account import Account
    from dialframe.flows.reporting import Scope

#: Questions that `analyze` answers, with what they need beside calls and leads.
ANALYSES: Final = (
    "attempts", "caller_ids", "carriers", "changes", "cohorts", "compare", "completeness", "dispositions", "duplicates",
    "forecast", "funnel", "hours", "machines", "metrics", "rank", "reconcile", "recycle", "scorecard", "speed_to_lead", "summary",
    "time_to_contact",
)  # fmt: skip


def load(
    table: Annotated[
        str, typer.Argument(help="What the files hold: calls, leads or dispositions.")
    ],
    files: Annotated[
        list[Path], typer.Argument(help="Files to load: CSV, a spreadsheet, JSON or Parquet.")
    ],
    *,
    profile: Annotated[
        str | None,
        typer.Option(
            "--as",
            help=FORMAT_HELP,
        ),
    ] = None,
    region: Region = None,
    zone: Annotated[
        str | None,
        typer.Option(help=ZONE_HELP),
    ] = None,
    campaign: CampaignName = None,
    account_options: AccountOptions,
) -> Answer:
    """Load another dialer's calls, leads or dispositions.

    Every line is loaded or set aside with a reason; a file that is loaded twice is in the store once. Without
    a service the files are an account of their own: funnel, analyze, report and audit then read it. Until a
    list of leads is loaded, the numbers dialed stand for leads. Rows that name no campaign get --campaign, else
    the name of the file.
    Status 3: rows were set aside.

    Examples:
        dialframe load calls march.csv --as vicidial --region US --zone America/New_York
    """
    from dialframe.firm import Firm
    from dialframe.flows import call_load

    lists = Firm.find(Path.cwd()).lists
    region, zone = region or lists.region, zone or lists.time_zone
    # What is wrong with the words of the command is said before an account of files is made.
    call_load.require(table, files, profile)
    with account_options.connect_or_load() as account:
        done = [
            call_load.load(
                account, table, path, profile=profile, region=region, zone=zone, campaign=campaign,
                now=datetime.now(UTC),
            )
            for path in files
        ]  # fmt: skip
    lines = []
    for each in done:
        lines.append(
            f"{each.file}: {each.loaded:,} of {each.rows:,} {table} loaded ({each.profile})"
        )
        lines += [
            f"  {count:,} set aside: {call_load.REASONS[reason]} (lines {', '.join(map(str, each.lines[reason][:5]))})"
            for reason, count in each.set_aside.items()
        ]
    aside = sum(each.rows - each.loaded for each in done)
    facts = {
        "table": table, "rows": sum(each.rows for each in done), "loaded": sum(each.loaded for each in done),
        "set_aside": aside, "files": [asdict(each) for each in done],
    }  # fmt: skip
    return Answer(facts, lines, FINDINGS if aside else OK)


def analyze(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The question: hours, recycle, compare...")
    ],
    *,
    calls: CallOptions,
    stages: FunnelOptions,
    picture: Picture = None,
    to: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File to write; its ending names the format, such as .csv or .xlsx.",
        ),
    ] = None,
    first: Annotated[
        str | None, typer.Option("--a", help="For compare: first campaign, by name or id.")
    ] = None,
    second: Annotated[
        str | None, typer.Option("--b", help="For compare: second campaign, by name or id.")
    ] = None,
    zone: Annotated[
        str | None,
        typer.Option(help=ZONE_HELP),
    ] = None,
    closed: Annotated[
        list[str] | None,
        typer.Option(metavar="DAY", help="For forecast: a day on which nobody works; repeatable."),
    ] = None,
    account_options: AccountOptions,
) -> Answer:
    """Answer one question about the calls.

    Names: attempts, caller_ids, carriers, changes, cohorts, compare, completeness, dispositions, duplicates,
    forecast, funnel, hours, machines, metrics, rank, reconcile, recycle, scorecard, speed_to_lead, summary, time_to_contact.
    rank lists the leads that the gate lets through now, by the rules of the firm file, and holds the others.

    Examples:
        dialframe analyze hours
        dialframe analyze hours --by campaign_id --json
        dialframe analyze carriers --to carriers.xlsx
        dialframe analyze funnel --by lead_source --window 30d --picture funnel.png
        dialframe analyze rank --to next.csv
        dialframe analyze forecast --closed 2026-12-25 --picture weeks.png
    """
    from dialframe import analytics
    from dialframe.firm import Firm

    if name not in ANALYSES:
        raise ConfigError(f"there is no analysis {name!r}; use {', '.join(ANALYSES)}")
    from dialframe.flows import reporting

    if to is not None:
        reporting.writable(to)
    if picture is not None:
        reporting.drawable(picture)
    if name != "funnel" and stages != FunnelOptions():
        raise ConfigError("--window is an option of analyze funnel")
    if name != "forecast" and (zone or closed):
        raise ConfigError("--zone and --closed are options of analyze forecast")
    scope = calls.scope()
    ask = getattr(analytics, name)
    given = _analysis_arguments(
        name, signature(ask).parameters, scope, stages, {"a": first, "b": second}
    )
    if name == "forecast":
        zone = zone or Firm.find(Path.cwd()).lists.time_zone or "UTC"
        given |= {"zone": zone, "closed": closed or ()}
    with account_options.read() as account:
        leads, calls_read = reporting.read_tables(account, scope)
        given |= _of_account(account, name, given, signature(ask).parameters, leads)
        result = ask(calls_read, leads, taxonomy=scope.taxonomy, **given)
        shown = result.named(account.campaigns())
    lines = [str(replace(shown, warnings=()))]
    lines += [f"\nwarning: {in_options(warning)}" for warning in shown.warnings]
    files = {}
    if picture is not None:
        files["picture"] = str(reporting.picture(shown, picture))
    if to is not None:
        files["table"] = str(reporting.write_table(shown.table, to))
    lines += [f"{name}: {path}" for name, path in files.items()]
    shown_by_all = [each.as_dict() for each in getattr(result, "headlines", ())]
    return Answer({**result.to_dict(), "headlines": shown_by_all, "files": files}, lines)


def _of_account(
    account: Account,
    name: str,
    given: Mapping[str, Any],
    taken: Collection[str],
    leads: pd.DataFrame,
) -> dict[str, Any]:
    """What an account adds to the arguments of an analysis: campaigns by their ids, further tables, a split."""
    added: dict[str, Any] = {
        option: account.campaign_id(str(given[option]))
        for option in given.keys() & {"campaign", "a", "b"}
    }
    # Appointments that no call's outcome names count as in every report.
    for option, table in (("report", "dispositions"), ("appointments", "appointments")):
        if option in taken:
            added[option] = getattr(account, table)()
    if name == "rank":
        added |= _callable(account, leads, added.get("campaign"))
    if name == "scorecard" and "by" not in given:
        from dialframe.analytics.attempt.lead_match import SOURCE
        from dialframe.frames import custom_field

        if not custom_field(leads, SOURCE).notna().any():
            added["by"] = "campaign_id"
    return added


def _callable(account: Account, leads: pd.DataFrame, campaign: str | None) -> dict[str, Any]:
    """What the gate says now of the numbers of the leads, by the rules of the firm file of this folder."""
    from dialframe.compliance import Question
    from dialframe.flows import audit, firm_records

    now = datetime.now(UTC)
    scope, _ = firm_records.scope_of(Path.cwd(), Question(now=now))
    numbers = [str(number) for number in leads["phone"].dropna().unique()]
    return {
        "gate": audit.may_call(account, numbers, at=now, campaign=campaign, scope=scope),
        "at": now,
    }


def _analysis_arguments(
    name: str,
    taken: Collection[str],
    scope: Scope,
    stages: FunnelOptions,
    pair: Mapping[str, str | None],
) -> dict[str, Any]:
    """The arguments of an analysis.

    Raises:
        ConfigError: An option was given that it does not take, or one that it needs was not.
    """
    by = scope.by.split(",") if scope.by is not None else []
    options = {
        "campaign": scope.campaign, "since": scope.since, "until": scope.until, **pair,
        "by": None if not by else by[0] if len(by) == 1 else tuple(by),
    }  # fmt: skip
    given: dict[str, Any] = {key: value for key, value in options.items() if value is not None}
    for option in given.keys() - set(taken):
        raise ConfigError(f"dialframe analyze {name} takes no --{option}: leave it out")
    if name == "compare" and not {"a", "b"} <= given.keys():
        raise ConfigError(
            "compare needs two campaigns: --a CAMPAIGN --b CAMPAIGN; dialframe campaigns lists them"
        )
    if name == "funnel":
        window = None if stages.window is None else age("--window", stages.window)
        given |= {"order": stages.order, "window": window, "entry": stages.entry}
    return given
