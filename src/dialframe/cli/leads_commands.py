"""`dialframe leads`: a messy file in, a clean list, a reject file with reasons, an import that cannot double."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from dialframe.cli import terminal
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
    current,
    progress,
    reply,
    say,
    show,
    spread,
)
from dialframe.contract.limits import CUSTOM_FIELDS
from dialframe.errors import ConfigError

if TYPE_CHECKING:
    import pandas as pd

    from dialframe.flows.column_choices import Memory
    from dialframe.flows.import_ledger import Ledger
    from dialframe.flows.lead_cleaning import Result, Screening
    from dialframe.flows.lead_import import BroughtIn, Plan
    from dialframe.leads import CleanedFiles
    from dialframe.leads.writing.report import Outcome

_NOT_OF_REGION: Final = ("invalid_phone", "phone_too_long", "phone_too_short")
#: Countries that are named before the rest is counted.
_SHOWN: Final = 8
_LEDGER: Final = ("sent", "accepted", "refused", "unknown")

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


def tell(
    result: Result,
    *,
    memory: Memory | None = None,
    brought: BroughtIn | None = None,
    suppressed: Mapping[str, int | str] | None = None,
    as_json: bool,
) -> None:
    """What was decided, what was set aside and why, what was sent, which files there are.

    Args:
        result: What was cleaned and screened.
        memory: What was remembered of headers.
        brought: The import, where there was one.
        suppressed: What the suppression list got of it: `added`, `on_list`.
        as_json: Whether to print one JSON object instead.
    """
    from dialframe.flows import cleaning_summary

    if as_json:
        answer(facts(result, memory=memory, brought=brought, suppressed=suppressed))
        return
    cleaned = result.cleaned
    _tell_files(cleaned, memory)
    _tell_outcome(cleaned)
    for reason, lines in cleaning_summary.kept_lines(cleaned).items():
        _tell_lines(reason, lines)
    if result.screening is not None:
        _tell_checks(result.screening)
    if brought is not None and brought.ledger is not None:
        _tell_ledger(brought.ledger)
    elif brought is not None:
        tell_plan(brought.plan)
        say("Nothing was checked or sent")
    if suppressed is not None:
        _tell_suppressed(suppressed)
    files = result.paths if brought is None else brought.files
    for name, path in files.items():
        say(f"  {name.replace('_', ' '):<16} {path}")
    from dialframe.phones.column_reader import misses_compiler  # it loads pandas

    if misses_compiler():
        say("  So many odd phone numbers are read faster with pip install 'dialframe[fast]'")
    if "clean" in files and files["clean"].suffix == ".csv":
        say(
            "  A spreadsheet rounds long numbers when it opens a CSV file: --format xlsx is safe to "
            "edit and save"
        )


def facts(
    result: Result,
    *,
    memory: Memory | None = None,
    brought: BroughtIn | None = None,
    suppressed: Mapping[str, int | str] | None = None,
) -> dict[str, Any]:
    """The same as one object for machines."""
    from dialframe import leads
    from dialframe.flows import cleaning_summary

    cleaned = result.cleaned
    report = leads.report(cleaned)
    content: dict[str, Any] = {
        **cleaned.counts,
        "countries": cleaned.countries,
        "line_types": cleaned.line_types,
        "reasons": cleaned.reasons,
        "examples": {
            reason["code"]: reason["examples"]
            for listed in report["reasons"].values()
            for reason in listed
        },
        "warnings": cleaned.warnings,
        "inputs": [
            {**opened, "saved_mapping": memory is not None and memory.of(file.header) is not None}
            for opened, file in zip(report["files"], cleaned.files, strict=True)
        ],
        "leftovers": report["leftovers"],
    }
    if lines := cleaning_summary.kept_lines(cleaned):
        content["lines"] = {reason: frame.to_dict("records") for reason, frame in lines.items()}
    if result.screening is not None:
        content["checks"] = result.screening.to_dict()
    files = result.paths
    if brought is not None:
        content["plan"] = brought.plan.to_dict()
        files = brought.files
    if brought is not None and brought.ledger is not None:
        ledger = brought.ledger
        content |= {**ledger.counts, "not_sent": ledger.not_sent, "answers": ledger.reasons}
    elif brought is not None:
        content |= dict.fromkeys(_LEDGER, 0)
    if suppressed is not None:
        content["suppression_list"] = dict(suppressed)
    if files:
        content["files"] = {name: str(path) for name, path in files.items()}
    return content


def confirmed(plan: Plan) -> bool:
    """Show a plan to the person at the terminal and ask for a yes; Enter is a no."""
    import typer

    current().hide_bars()
    tell_plan(plan)
    if not plan.to_send:
        return False
    where = plan.campaign_id if plan.campaign is None else f"{plan.campaign.name!r}"
    return typer.confirm(f"Send {plan.to_send:,} leads to {where}?", default=False, err=True)


def tell_plan(plan: Plan) -> None:
    """What an import is about to do."""
    campaign = plan.campaign
    name = (
        "which the key may not look at"
        if campaign is None
        else f"{campaign.name}, {campaign.status}"
    )
    say(f"Plan for campaign {plan.campaign_id} ({name})")
    for file, samples in zip(plan.cleaned.files, plan.samples, strict=True):
        say(f"\n{file.name}")
        if file.decisions.doubt:
            say(f"LOOK AT THIS  {file.decisions.doubt}")
        if file.region_decision is not None:
            say(f"  numbers of {file.region_decision.in_words()}")
        sure = file.columns.confidence
        rows = [
            (f"  {field}", column, f"{sure.get(field, 1.0):.2f}", ", ".join(cells))
            for field, columns in samples.items()
            for column, cells in columns.items()
        ]
        terminal.grid(rows)
    _tell_countries(plan.cleaned)
    for outcome, codes in plan.cleaned.reasons.items():
        held = ", ".join(f"{count:,} {code}" for code, count in codes.items())
        if held:
            say(f"{_words(outcome)}: {held}")
    for doubt in plan.doubts:
        say(f"DOUBT  {doubt.file}: {doubt.words}; say it with {doubt.answer}")
    say(f"{plan.to_send:,} leads to be checked against Do-Not-Call and sent")


def _tell_countries(cleaned: Outcome) -> None:
    for words, counts in (("countries", cleaned.countries), ("line types", cleaned.line_types)):
        if counts:
            shown = [f"{name} {count:,}" for name, count in list(counts.items())[:_SHOWN]]
            more = len(counts) - len(shown)
            rest = f" and {more:,} more" if more else ""
            say(f"{words} of the clean numbers: {', '.join(shown)}{rest}")


def _tell_suppressed(suppressed: Mapping[str, int | str]) -> None:
    if "problem" in suppressed:
        say(f"The opt-outs are not on your suppression list: {suppressed['problem']}")
    elif suppressed["added"]:
        say(
            f"{suppressed['added']:,} numbers whose records say not to call are new on your "
            f"suppression list, which holds {suppressed['on_list']:,}"
        )


def _tell_files(cleaned: Outcome, memory: Memory | None) -> None:
    from dialframe.flows import cleaning_summary

    for file in cleaned.files:
        say(
            f"{file.name}: {file.records:,} records; {'; '.join(cleaning_summary.decided(file.decisions))}"
        )
        if memory is not None and memory.of(file.header) is not None:
            say(
                "  columns as answered for this header before; dialframe leads forget FILE forgets them"
            )
        if file.region_decision is not None:
            say(f"  numbers of {file.region_decision.in_words()}")
        rows = cleaning_summary.columns_of(file)
        terminal.grid([(f"  {name}", column, sure, other) for name, column, sure, other in rows])
        others = file.columns.leftovers
        if others:
            say(f"  other columns, kept as custom fields: {', '.join(others)}")
        if len(others) > CUSTOM_FIELDS:
            say(
                f"  that is {len(others)}: an import takes {CUSTOM_FIELDS}, chosen with --keep NAME"
            )


def _tell_outcome(cleaned: Outcome) -> None:
    from dialframe.flows import cleaning_summary

    why = cleaning_summary.reasons(cleaned)
    for outcome in cleaned.reasons:
        rows = why[why["outcome"] == outcome]
        if rows.empty:
            continue
        say(f"\n{_words(outcome)}: {rows['records'].sum():,}")
        shown = rows[["records", "reason", "first_lines", "meaning"]]
        terminal.grid(
            [(f"{row[0]:,}", *row[1:]) for row in shown.itertuples(index=False)], right=True
        )
    warned = cleaning_summary.warnings(cleaned)
    if len(warned):
        say("\nclean, and mended:")
        terminal.grid(
            [(f"{row[0]:,}", *row[1:]) for row in warned.itertuples(index=False)], right=True
        )
    # Where most numbers are none of the region, it may be the wrong one.
    wrong = sum(cleaned.reasons["rejected"].get(code, 0) for code in _NOT_OF_REGION)
    if cleaned.region and 2 * wrong > cleaned.counts["records"]:
        say(
            f"\nMost numbers are none of {cleaned.region}: if they were written for another country, "
            "name it with --region"
        )
    _tell_countries(cleaned)
    counts = cleaned.counts
    went = ("records", "extra_leads")
    records, parts = (
        [f"{number:,} {_words(name)}" for name, number in counts.items() if (name in went) is into]
        for into in (True, False)
    )
    say(f"\n{' and '.join(records)}: {', '.join(parts)}")


def _tell_lines(reason: str, records: pd.DataFrame) -> None:
    from dialframe.leads.reasons import BY_CODE

    say(f"\n{reason}: {BY_CODE[reason].meaning}; {BY_CODE[reason].remedy}")
    rows = records.itertuples()
    terminal.grid([(f"{row.file}:{row.line}", row.field, row.value) for row in rows])
    if not len(records):
        say("  no record")


def _words(name: object) -> str:
    return str(name).replace("_", " ")


def _tell_checks(screening: Screening) -> None:
    counts, none = screening.to_dict(), ""
    if counts["unanswered"]:
        none = f"; {counts['unanswered']:,} have none and are set aside"
    say(
        f"Do-Not-Call: {counts['numbers']:,} numbers have an answer, the oldest of "
        f"{counts['oldest_at'] or 'no day'}; {counts['listed']:,} are listed{none}"
    )


def _tell_ledger(ledger: Ledger) -> None:
    from dialframe.flows import cleaning_summary

    counts = ledger.counts
    say(f"Import: {', '.join(f'{counts[name]:,} {name}' for name in _LEDGER)}")
    why = cleaning_summary.refusals(ledger)
    terminal.grid([(f"{row[0]:,}", *row[1:]) for row in why.itertuples(index=False)], right=True)
    if ledger.not_sent["set_aside"]:
        say(f"{ledger.not_sent['set_aside']:,} were listed since the plan was made, and not sent")
    if counts["unknown"]:
        say(
            "What is unknown is settled by the same command, run again: it asks with the same keys"
        )
