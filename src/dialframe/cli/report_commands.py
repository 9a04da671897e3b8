"""`dialframe funnel`, `report`: how many leads reached each stage, and the main analyses as one page."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dialframe.cli.terminal import (
    AsJson,
    BaseUrl,
    Codes,
    OutFolder,
    StoreFolder,
    answer,
    connect,
    in_options,
    progress,
    say,
    spread,
)

if TYPE_CHECKING:
    from dialframe.analytics import Funnel
    from dialframe.flows.reporting import Report, Scope


class Order(StrEnum):
    """How the stages must follow each other in time."""

    ORDERED = "ordered"
    STRICT = "strict"
    ANY = "any"


class Entry(StrEnum):
    """Where the window begins."""

    IMPORT = "import"
    FIRST_DIAL = "first_dial"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOptions:
    """Which calls are counted, how they are split, and what the firm's codes mean."""

    campaign: Annotated[
        str | None, typer.Option("--campaign", help="Only this campaign id.", show_default=False)
    ] = None
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            help="Split by campaign_id, region or a custom field such as lead_source.",
            show_default=False,
        ),
    ] = None
    since: Annotated[
        str | None,
        typer.Option(
            "--since", help="Calls from this day (UTC) or instant on.", show_default=False
        ),
    ] = None
    until: Annotated[
        str | None,
        typer.Option(
            "--until", help="Calls before this day (UTC) or instant.", show_default=False
        ),
    ] = None
    codes: Codes = None

    def scope(self) -> Scope:
        """The same, read."""
        from dialframe.flows import firm_records, reporting

        return reporting.Scope(
            self.campaign,
            self.by,
            firm_records.instant("--since", self.since),
            firm_records.instant("--until", self.until),
            firm_records.own_codes(self.codes),
        )


@spread
def funnel(
    calls: CallOptions,
    order: Annotated[
        Order,
        typer.Option(
            "--order",
            help="Stages in time: each after the one before; with no call between; or in any order.",
        ),
    ] = Order.ORDERED,
    window: Annotated[
        str | None,
        typer.Option(
            "--window",
            help="Time in which all must happen, 30d for instance; younger leads stand apart.",
            show_default=False,
        ),
    ] = None,
    entry: Annotated[
        Entry, typer.Option("--entry", help="Where the window begins: import or first dial.")
    ] = Entry.IMPORT,
    picture: Annotated[
        Path | None,
        typer.Option(
            "--picture", help="Draw it into this file: .png or .svg.", show_default=False
        ),
    ] = None,
    base_url: BaseUrl = None,
    store: StoreFolder = None,
    as_json: AsJson = False,
) -> None:
    """Show how many leads reached each stage, from loaded to appointment.

    Reads the local store; run `dialframe sync` first. Codes without a known meaning are listed,
    with a file ready to fill in for --codes. Example:

        dialframe funnel --by lead_source --window 30d --picture funnel.png
    """
    from dialframe.flows import reporting
    from dialframe.instants import age

    if picture is not None:
        reporting.drawable(picture)
    scope = calls.scope()
    span = None if window is None else age("--window", window)
    with connect(base_url, store) as account:
        result = reporting.funnel(
            account, scope, order=order.value, window=span, entry=entry.value
        )
        shown = reporting.readable(account, result)
    drawn = None if picture is None else reporting.picture(shown, picture)
    if as_json:
        answer(_facts(result, drawn))
        return
    say(str(shown))
    for warning in shown.warnings:
        say(f"\nwarning: {in_options(warning)}")
    if drawn is not None:
        say(f"picture: {drawn}")


def _facts(result: Funnel, picture: Path | None) -> dict[str, Any]:
    """The funnel for machines; the keys do not depend on the data."""
    plain = result.to_dict()
    return {
        "as_of": plain["as_of"],
        "taxonomy": result.taxonomy_version,
        "parameters": plain["parameters"],
        "stages": [
            {name: value for name, value in row.items() if name != "definition"}
            for row in plain["table"]
        ],
        "definitions": result.definitions,
        "excluded": [
            {name: row[name] for name in ("reason", "unit", "count", "role")}
            for row in plain["excluded"]
        ],
        "warnings": plain["warnings"],
        "files": {} if picture is None else {"picture": str(picture)},
    }


@spread
def report(
    calls: CallOptions,
    out: OutFolder,
    base_url: BaseUrl = None,
    store: StoreFolder = None,
    as_json: AsJson = False,
) -> None:
    """Write the main analyses as one HTML page: pictures, their numbers, every definition.

    Reads the local store; run `dialframe sync` first. The page fetches nothing from anywhere, and
    numbers of people are masked. Example:

        dialframe report --out october --since 2026-10-01 --until 2026-11-01
    """
    from dialframe.flows import reporting

    scope = calls.scope()
    with connect(base_url, store) as account, progress() as listen:
        written = reporting.report(account, out, scope, on_progress=listen)
    if as_json:
        answer(_report_facts(written))
        return
    for finding in written.findings:
        say(finding)
    say(f"report: {written.file}")


def _report_facts(written: Report) -> dict[str, object]:
    return {
        "file": str(written.file),
        "sections": written.sections,
        "pictures": written.pictures,
        "findings": list(written.findings),
    }
