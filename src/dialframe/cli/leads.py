"""`dialframe leads`: a messy file in, a clean list, a reject file with reasons, an import that cannot double."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dialframe.cli.face import (
    AsJson,
    BaseUrl,
    OutFolder,
    Region,
    StoreFolder,
    answer,
    connect,
    progress,
    show,
)
from dialframe.cli.lead_options import (
    Columns,
    Delimiter,
    Encoding,
    Engine,
    EngineOption,
    FailOn,
    Files,
    Form,
    Format,
    Header,
    Keep,
    Mapping,
    MaxAge,
    NoSavedMapping,
    Rules,
    SaveMapping,
    Scheduler,
    Sheet,
    Show,
    expanded,
    in_options,
    known,
    memory_of,
    recipe,
)
from dialframe.cli.statuses import FINDINGS
from dialframe.errors import ConfigError

if TYPE_CHECKING:
    from dialframe.leads.report import Outcome

app = typer.Typer(
    help="Lead files: look, clean, screen against Do-Not-Call, import.", no_args_is_help=True
)


@app.command()
def check(
    files: Files,
    region: Region = "US",
    reasons: Show = None,
    column: Columns = None,
    mapping: Mapping = None,
    save_mapping: SaveMapping = None,
    no_saved_mapping: NoSavedMapping = False,
    rules: Rules = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    header: Header = "auto",
    sheet: Sheet = None,
    engine: EngineOption = Engine.LOCAL,
    scheduler: Scheduler = None,
    as_json: AsJson = False,
) -> None:
    """Say what would become of every record; no list is written.

    Examples:
        dialframe leads check autumn.csv --region US --show invalid_phone
        dialframe leads check autumn.csv --column phone=Mobile --save-mapping columns.json
    """
    from dialframe.cli.lead_words import tell
    from dialframe.flows import clean as flow

    with in_options(), progress() as listen:
        chosen = recipe(
            region, columns=column, mapping=mapping, rules=rules, encoding=encoding,
            delimiter=delimiter, header=header, sheet=sheet, no_saved_mapping=no_saved_mapping,
            as_json=as_json,
        )  # fmt: skip
        cleaned, lines = flow.look(
            expanded(files), chosen, engine=engine.value, scheduler=scheduler,
            reasons=known(reasons), on_progress=listen,
        )  # fmt: skip
        _save(cleaned, save_mapping)
    tell(cleaned, {}, memory=memory_of(chosen), lines=lines, as_json=as_json)


@app.command()
def clean(
    files: Files,
    region: Region = "US",
    out: OutFolder = Path("cleaned"),
    form: Format = Form.CSV,
    reasons: Show = None,
    column: Columns = None,
    mapping: Mapping = None,
    save_mapping: SaveMapping = None,
    no_saved_mapping: NoSavedMapping = False,
    rules: Rules = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    header: Header = "auto",
    sheet: Sheet = None,
    engine: EngineOption = Engine.LOCAL,
    scheduler: Scheduler = None,
    as_json: AsJson = False,
) -> None:
    """Write a clean E.164 list, a reject file with a reason per row, and a report.

    Examples:
        dialframe leads clean autumn.csv --region US --out cleaned
        dialframe leads clean autumn.csv --format parquet --out cleaned --json
    """
    from dialframe.cli.lead_words import tell
    from dialframe.flows import clean as flow

    with in_options(), progress() as listen:
        chosen = recipe(
            region, columns=column, mapping=mapping, rules=rules, encoding=encoding,
            delimiter=delimiter, header=header, sheet=sheet, no_saved_mapping=no_saved_mapping,
            as_json=as_json,
        )  # fmt: skip
        cleaned, lines, written = flow.clean(
            expanded(files), chosen, out, form=form.value, engine=engine.value,
            scheduler=scheduler, reasons=known(reasons), on_progress=listen,
        )  # fmt: skip
        _save(cleaned, save_mapping)
    tell(cleaned, written, memory=memory_of(chosen), lines=lines, as_json=as_json)


@app.command()
def screen(
    files: Files,
    region: Region = "US",
    out: OutFolder = Path("cleaned"),
    form: Format = Form.CSV,
    max_age: MaxAge = "31d",
    reasons: Show = None,
    column: Columns = None,
    mapping: Mapping = None,
    no_saved_mapping: NoSavedMapping = False,
    rules: Rules = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    header: Header = "auto",
    sheet: Sheet = None,
    base_url: BaseUrl = None,
    store: StoreFolder = None,
    as_json: AsJson = False,
) -> None:
    """Clean, then ask the service which numbers are on a Do-Not-Call list; answers are kept as evidence.

    Example:
        dialframe leads screen autumn.csv --region US --out cleaned
    """
    from dialframe.cli.lead_words import tell
    from dialframe.flows import clean as flow
    from dialframe.flows import lead_tables, listing

    with in_options(), connect(base_url, store) as account, progress() as listen:
        known(reasons)
        chosen = recipe(
            region, columns=column, mapping=mapping, rules=rules, encoding=encoding,
            delimiter=delimiter, header=header, sheet=sheet, no_saved_mapping=no_saved_mapping,
            as_json=as_json,
        )  # fmt: skip
        prepared = listing.prepare(
            expanded(files), chosen, account=account, max_age=max_age, on_progress=listen
        )
        written = flow.write(prepared, out, form=form.value)
    tell(
        prepared.cleaned,
        written,
        memory=memory_of(chosen),
        checks=prepared.checks,
        lines=lead_tables.lines(prepared.cleaned, reasons or ()),
        as_json=as_json,
    )


@app.command("import")
def import_(
    files: Files,
    campaign: Annotated[
        str, typer.Option("--campaign", help="Campaign id; draft, ready or paused.")
    ],
    region: Region = "US",
    out: OutFolder = Path("imported"),
    form: Format = Form.CSV,
    max_age: MaxAge = "31d",
    keep: Keep = None,
    fail_on: FailOn = None,
    reasons: Show = None,
    column: Columns = None,
    mapping: Mapping = None,
    no_saved_mapping: NoSavedMapping = False,
    rules: Rules = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    header: Header = "auto",
    sheet: Sheet = None,
    base_url: BaseUrl = None,
    store: StoreFolder = None,
    as_json: AsJson = False,
) -> None:
    """Clean, screen and import; run again after a crash, it goes on where it was.

    Example:
        dialframe leads import autumn.csv --campaign cmp_... --region US --out imported
    """
    from dialframe.cli.lead_words import tell
    from dialframe.contract.ids import kind_of
    from dialframe.flows import intake, lead_tables

    if kind_of(campaign) != "campaign":
        raise ConfigError(f"--campaign takes a campaign id (cmp_ and a UUID), not {campaign!r}")
    with in_options(goes_on=True), connect(base_url, store) as account, progress() as listen:
        known(reasons)
        chosen = recipe(
            region, columns=column, mapping=mapping, rules=rules, encoding=encoding,
            delimiter=delimiter, header=header, sheet=sheet, no_saved_mapping=no_saved_mapping,
            as_json=as_json,
        )  # fmt: skip
        brought = intake.bring_in(
            expanded(files),
            chosen,
            account,
            campaign_id=campaign,
            out=out,
            max_age=max_age,
            keep=keep,
            form=form.value,
            now=partial(datetime.now, UTC),
            on_progress=listen,
        )
    tell(
        brought.prepared.cleaned,
        brought.files,
        memory=memory_of(chosen),
        checks=brought.prepared.checks,
        lines=lead_tables.lines(brought.prepared.cleaned, reasons or ()),
        brought=brought,
        as_json=as_json,
    )
    if fail_on is not None and any(brought.ledger.counts[name] for name in fail_on.outcomes):
        raise typer.Exit(FINDINGS)


@app.command("reasons")
def reasons_(as_json: AsJson = False) -> None:
    """List every reason code with its meaning and what to do about it.

    Example:
        dialframe leads reasons
    """
    import pandas as pd

    from dialframe.leads.reasons import REASONS

    rows = [
        {"code": r.code, "outcome": r.outcome, "meaning": r.meaning, "remedy": r.remedy}
        for r in REASONS
    ]
    if as_json:
        answer({"reasons": rows})
    else:
        show(pd.DataFrame(rows), "Reason codes")


def _save(cleaned: Outcome, path: Path | None) -> None:
    """Keep the columns of the first file for the next list."""
    if path is not None:
        cleaned.files[0].columns.save(path)
