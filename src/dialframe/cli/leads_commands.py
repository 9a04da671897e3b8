"""`dialframe leads`: a messy file in, a clean list, a reject file with reasons, an import that cannot double."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dialframe.cli.lead_options import (
    DryRun,
    EngineOptions,
    Failing,
    FailOn,
    Files,
    Keep,
    ListOptions,
    MaxAge,
    OutputOptions,
    Yes,
    at_terminal,
    expanded,
    goes_on,
    keep_opt_outs,
    known,
    memory_of,
    recipe,
    saved_mappings,
)
from dialframe.cli.terminal import (
    FINDINGS,
    AsJson,
    BaseUrl,
    OutFolder,
    StoreFolder,
    answer,
    connect,
    progress,
    reply,
    show,
    spread,
)
from dialframe.errors import ConfigError

if TYPE_CHECKING:
    from dialframe.flows.lead_import import BroughtIn
    from dialframe.leads import CleanedFiles

app = typer.Typer(
    help="Lead files: look, clean, screen against Do-Not-Call, import.", no_args_is_help=True
)


@app.callback()
def _before() -> None:
    # Arrow's own allocator keeps what it once had: on a list it takes a sixth more of CPU and of memory.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")


@app.command()
@spread
def check(
    files: Files,
    options: ListOptions,
    work: EngineOptions,
    store: StoreFolder = None,
    as_json: AsJson = False,
) -> None:
    """Say what would become of every record; no list is written.

    Examples:
        dialframe leads check autumn.csv --region US --show invalid_phone
        dialframe leads check autumn.csv --column phone=Mobile --save-mapping columns.json
    """
    from dialframe.cli.lead_terminal_output import tell
    from dialframe.flows import lead_cleaning

    with progress() as listen:
        chosen = recipe(options, store=store, as_json=as_json)
        result = lead_cleaning.look(
            expanded(files), chosen, engine=work.engine, scheduler=work.scheduler,
            reasons=known(options.reasons), on_progress=listen,
        )  # fmt: skip
        _save(result.cleaned, work.save_mapping)
    tell(result, memory=memory_of(chosen), as_json=as_json)


@app.command()
@spread
def clean(
    files: Files,
    options: ListOptions,
    output: OutputOptions,
    work: EngineOptions,
    out: OutFolder = Path("cleaned"),
    store: StoreFolder = None,
    as_json: AsJson = False,
) -> None:
    """Write a clean E.164 list, a reject file with a reason per row, and a report.

    Examples:
        dialframe leads clean autumn.csv --region US --out cleaned
        dialframe leads clean autumn.csv --format parquet --out cleaned --json
        dialframe leads clean autumn.csv --region US --suppress scrubbed.csv --suppress-codes dncscrub
        dialframe leads clean autumn.csv --region US --for hubspot --add time_zone --names title
    """
    from dialframe.cli.lead_terminal_output import tell
    from dialframe.flows import lead_cleaning

    with progress() as listen:
        chosen = recipe(options, output, store=store, as_json=as_json)
        result = lead_cleaning.clean(
            expanded(files), chosen, out, form=output.form, engine=work.engine,
            scheduler=work.scheduler, reasons=known(options.reasons), on_progress=listen,
        )  # fmt: skip
        _save(result.cleaned, work.save_mapping)
        opt_outs = keep_opt_outs(result, store)
    tell(result, memory=memory_of(chosen), suppressed=opt_outs, as_json=as_json)


@app.command()
@spread
def screen(
    files: Files,
    options: ListOptions,
    output: OutputOptions,
    out: OutFolder = Path("cleaned"),
    max_age: MaxAge = "31d",
    base_url: BaseUrl = None,
    store: StoreFolder = None,
    as_json: AsJson = False,
) -> None:
    """Clean, then ask the service which numbers are on a Do-Not-Call list; answers are kept as evidence.

    Example:
        dialframe leads screen autumn.csv --region US --out cleaned
    """
    from dialframe.cli.lead_terminal_output import tell
    from dialframe.flows import lead_cleaning

    with connect(base_url, store) as account, progress() as listen:
        chosen = recipe(options, output, store=store, as_json=as_json)
        result = lead_cleaning.screen(
            expanded(files), chosen, account, out, max_age=max_age, form=output.form,
            reasons=known(options.reasons), on_progress=listen,
        )  # fmt: skip
        opt_outs = keep_opt_outs(result, store)
    tell(result, memory=memory_of(chosen), suppressed=opt_outs, as_json=as_json)


@app.command("import")
@spread
def import_(
    files: Files,
    campaign: Annotated[
        str, typer.Option("--campaign", help="Campaign id; draft, ready or paused.")
    ],
    options: ListOptions,
    output: OutputOptions,
    out: OutFolder = Path("imported"),
    yes: Yes = False,
    dry_run: DryRun = False,
    max_age: MaxAge = "31d",
    keep: Keep = None,
    fail_on: FailOn = None,
    base_url: BaseUrl = None,
    store: StoreFolder = None,
    as_json: AsJson = False,
) -> None:
    """Plan, confirm, clean, screen and import; run again after a crash, it goes on where it was.

    Examples:
        dialframe leads import autumn.csv --campaign cmp_... --region US --dry-run
        dialframe leads import autumn.csv --campaign cmp_... --region US --out imported --yes
    """
    from dialframe.cli.lead_terminal_output import confirmed, tell
    from dialframe.contract.models.base_models import kind_of
    from dialframe.flows import lead_import

    # IDs are typed (contract, Conventions): a slip is known before anything is read.
    if kind_of(campaign) != "campaign":
        raise ConfigError(f"--campaign takes a campaign id (cmp_ and a UUID), not {campaign!r}")
    # The service has no delete: what is sent is sent.
    if not (yes or dry_run or at_terminal()):
        raise ConfigError(
            "an import needs a yes, and nobody is there to give it: read the plan with --dry-run, "
            "then pass --yes"
        )
    with goes_on(), connect(base_url, store) as account, progress() as listen:
        chosen = recipe(options, output, store=store, as_json=as_json)
        brought = lead_import.bring_in(
            expanded(files),
            chosen,
            account,
            campaign_id=campaign,
            out=out,
            max_age=max_age,
            keep=keep,
            form=output.form,
            now=partial(datetime.now, UTC),
            confirm=None if yes else confirmed,
            dry_run=dry_run,
            reasons=known(options.reasons),
            on_progress=listen,
        )
        # A plan that was not carried out changes nothing, here neither.
        opt_outs = None if brought.ledger is None else keep_opt_outs(brought.result, store)
    tell(
        brought.result,
        memory=memory_of(chosen),
        brought=brought,
        suppressed=opt_outs,
        as_json=as_json,
    )
    _leave(brought, fail_on)


def _leave(brought: BroughtIn, fail_on: Failing | None) -> None:
    """End with the status of what became of the leads."""
    if brought.ledger is None:
        # A dry run says by its status whether the import would go through.
        if brought.plan.doubts or not brought.plan.to_send:
            raise typer.Exit(FINDINGS)
        return
    failing = ("unknown", "refused") if fail_on == "refused" else ("unknown",)
    if any(brought.ledger.counts[name] for name in failing):
        raise typer.Exit(FINDINGS)


@app.command()
def forget(files: Files, as_json: AsJson = False) -> None:
    """Forget what was answered about the columns of lists with the same header; it is asked anew.

    Example:
        dialframe leads forget autumn.csv
    """
    from dialframe import leads

    folder = saved_mappings()
    rows = [
        {"file": file.name, "forgotten": leads.forget_mapping(file, folder)}
        for path in expanded(files)
        for file in leads.read_all(path)
    ]
    outcomes = {True: "forgotten", False: "nothing was answered for this header"}
    lines = (f"{row['file']}: {outcomes[bool(row['forgotten'])]}" for row in rows)
    reply({"files": rows}, lines, as_json=as_json)


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


def _save(cleaned: CleanedFiles, path: Path | None) -> None:
    """Keep the columns of the first file for the next list."""
    if path is not None:
        cleaned.files[0].columns.save(path)
