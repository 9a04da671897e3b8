"""`dialframe load` and `dialframe analyze`: any dialer's export becomes an account, and an account answers a question."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import UTC, datetime
from inspect import signature
from pathlib import Path
from typing import Annotated, Final

import typer

from dialframe.cli.sync_and_report_commands import CallOptions
from dialframe.cli.terminal import FINDINGS, OK, AccountOptions, Answer, in_options
from dialframe.errors import ConfigError

#: Questions that `analyze` answers, with what they need beside calls and leads.
ANALYSES: Final = (
    "attempts", "caller_ids", "carriers", "changes", "cohorts", "compare", "completeness", "dispositions", "duplicates",
    "funnel", "hours", "machines", "metrics", "reconcile", "recycle", "scorecard", "speed_to_lead", "summary",
    "time_to_contact",
)  # fmt: skip


def load(
    table: Annotated[
        str, typer.Argument(help="What the files hold: calls, leads or dispositions.")
    ],
    files: Annotated[list[Path], typer.Argument(help="The files.")],
    *,
    profile: Annotated[
        str | None,
        typer.Option(
            "--as",
            help="vicidial, twilio, five9, aircall, genesys, ringcentral, or a profile's path.",
        ),
    ] = None,
    region: Annotated[
        str | None, typer.Option(help="Region of numbers that name no country, US for instance.")
    ] = None,
    zone: Annotated[
        str | None,
        typer.Option(help="Zone of clock times that name none, America/New_York for instance."),
    ] = None,
    campaign: Annotated[
        str | None, typer.Option(help="Campaign of rows that name none; else the file's name.")
    ] = None,
    account_options: AccountOptions,
) -> Answer:
    """Load another dialer's calls, leads or dispositions.

    Every line is loaded or set aside with a reason; a file that is loaded twice is in the store once. Without
    a service the files are an account of their own: funnel, analyze, report and audit then read it. Until a
    list of leads is loaded, the numbers dialed stand for leads.
    Status 3: rows were set aside.

    Examples:
        dialframe load calls march.csv --as vicidial --region US --zone America/New_York
    """
    from dialframe.flows import call_load

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
    name: Annotated[str, typer.Argument(help="The question: hours, recycle, compare, ...")],
    *,
    calls: CallOptions,
    first: Annotated[
        str | None, typer.Option("--a", help="First campaign of compare, by name or id.")
    ] = None,
    second: Annotated[
        str | None, typer.Option("--b", help="Second campaign of compare, by name or id.")
    ] = None,
    account_options: AccountOptions,
) -> Answer:
    """Answer one question about the calls.

    Names: attempts, caller_ids, carriers, changes, cohorts, compare, completeness, dispositions, duplicates,
    funnel, hours, machines, metrics, reconcile, recycle, scorecard, speed_to_lead, summary, time_to_contact.

    Examples:
        dialframe analyze hours
        dialframe analyze hours --by campaign_id --json
        dialframe analyze carriers
    """
    from dialframe import analytics

    if name not in ANALYSES:
        raise ConfigError(f"there is no analysis {name!r}; use {', '.join(ANALYSES)}")
    scope = calls.scope()
    by = scope.by.split(",") if scope.by is not None else []
    options = {
        "campaign": scope.campaign, "since": scope.since, "until": scope.until, "a": first, "b": second,
        "by": None if not by else by[0] if len(by) == 1 else tuple(by),
    }  # fmt: skip
    ask = getattr(analytics, name)
    taken = signature(ask).parameters
    given = {option: value for option, value in options.items() if value is not None}
    for option in given.keys() - taken.keys():
        raise ConfigError(f"dialframe analyze {name} takes no --{option}: leave it out")
    if name == "compare" and not {"a", "b"} <= given.keys():
        raise ConfigError(
            "compare needs two campaigns: --a CAMPAIGN --b CAMPAIGN; dialframe campaigns lists them"
        )
    with account_options.read() as account:
        given |= {
            option: account.campaign_id(str(given[option]))
            for option in given.keys() & {"campaign", "a", "b"}
        }
        if "report" in taken:
            given["report"] = account.dispositions()
        result = ask(account.calls(), account.leads(), taxonomy=scope.taxonomy, **given)
        shown = result.named(account.campaigns())
    warnings = [f"\nwarning: {in_options(warning)}" for warning in shown.warnings]
    return Answer(result.to_dict(), [str(replace(shown, warnings=())), *warnings])
