"""`dialframe leads`: a messy file in, a clean list, a reject file with reasons, an import that cannot double."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from dialframe.cli.lead_options import (
    DryRun,
    EngineOptions,
    FailOn,
    FailOnRejected,
    Files,
    ImportOutput,
    Keep,
    ListOptions,
    MaxAge,
    OutputOptions,
    SaveMapping,
    Yes,
    ask_words,
    at_terminal,
    expanded,
    goes_on,
    keep_opt_outs,
    memory_of,
    profiles_folder,
    recipe,
)
from dialframe.cli.terminal import (
    FINDINGS,
    OK,
    AccountOptions,
    Answer,
    OutFolder,
    StoreFolder,
    Table,
    command,
    current,
    progress,
    say,
)
from dialframe.contract.limits import CUSTOM_FIELDS
from dialframe.errors import ConfigError

if TYPE_CHECKING:
    from dialframe.flows.column_choices import Memory
    from dialframe.flows.import_ledger import Ledger
    from dialframe.flows.lead_cleaning import Recipe, Result, Screening
    from dialframe.flows.lead_import import BroughtIn, Plan
    from dialframe.flows.list_fixing import Fixing
    from dialframe.leads import CleanedFiles
    from dialframe.leads.report import Outcome

#: What a number of another country is refused for.
_NOT_OF_REGION: Final = ("invalid_phone", "phone_too_long", "phone_too_short")
#: Countries that are named before the rest is counted.
_SHOWN: Final = 8
#: The last three add up to the first.
_LEDGER: Final = ("sent", "accepted", "refused", "unknown")

app = typer.Typer(
    help="Lead files: look, clean, screen against Do-Not-Call, import.", no_args_is_help=True
)


@app.callback()
def _before() -> None:
    # Arrow's own allocator keeps what it once had: on a list it takes a sixth more of CPU and of memory.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")


Screen = Annotated[
    bool,
    typer.Option(
        "--screen",
        help="Ask the service too which numbers are on a Do-Not-Call list; answers are kept as evidence.",
    ),
]


@command(app)
def clean(
    files: Files,
    options: ListOptions,
    output: OutputOptions,
    work: EngineOptions,
    out: OutFolder = Path("cleaned"),
    dry_run: DryRun = False,
    screen: Screen = False,
    fail_on: FailOnRejected = None,
    max_age: MaxAge = "31d",
    save_mapping: SaveMapping = None,
    *,
    account_options: AccountOptions,
) -> Answer:
    """Write a clean list, and a reason for every record set aside.

    The clean list has E.164 numbers; a report says how the file was read.

    Examples:
        dialframe leads clean autumn.csv --region US --out cleaned
        dialframe leads clean autumn.csv --region US --dry-run --show invalid_phone
        dialframe leads clean autumn.csv --region US --format parquet --json
        dialframe leads clean autumn.csv --region US --suppress scrubbed.csv --suppress-codes dncscrub
        dialframe leads clean autumn.csv --region US --screen
    """
    if dry_run and screen:
        raise ConfigError("--dry-run asks nobody; leave --screen out")
    answered = _run_cleaning(
        files,
        options,
        output,
        out,
        dry_run=dry_run,
        account_options=account_options if screen else None,
        work=work,
        max_age=max_age,
        save_mapping=save_mapping,
        store=account_options.store,
    )
    failed = fail_on == "rejected" and answered.facts["rejected"]
    return replace(answered, status=FINDINGS) if failed else answered


def _run_cleaning(
    files: list[str],
    options: ListOptions,
    output: OutputOptions,
    out: Path,
    *,
    dry_run: bool = False,
    account_options: AccountOptions | None = None,
    work: EngineOptions | None = None,
    max_age: str = "31d",
    save_mapping: Path | None = None,
    store: Path | None = None,
) -> Answer:
    """Look, clean or screen: one way, with what it writes and whom it asks."""
    from dialframe.flows import lead_cleaning

    with ExitStack() as stack:
        account = None
        if account_options is not None:
            # The account first: a wrong key is known before a large file is read.
            account = stack.enter_context(account_options.connect())
        listen = stack.enter_context(progress())
        chosen = recipe(
            options,
            output,
            work=work,
            max_age=max_age,
            asks=account is not None,
            store=store,
        )
        paths = expanded(files)

        def run(chosen: Recipe) -> Result:
            if dry_run:
                # The firm's list counts in a dry run too, so that its numbers are those of the real one.
                return lead_cleaning.look(paths, chosen, on_progress=listen)
            if account is not None:
                return lead_cleaning.screen(paths, chosen, account, out, on_progress=listen)
            # Written whole or not at all; an interrupted run leaves the earlier lists in place.
            return lead_cleaning.clean(paths, chosen, out, on_progress=listen)

        result = _ask_and_rerun(run(chosen), chosen, run)
        _save(result.cleaned, save_mapping)
        # After the files: what somebody asked for in a list holds for every later list.
        opt_outs = None if dry_run else keep_opt_outs(result, store)
    return told(result, memory=memory_of(chosen), suppressed=opt_outs)


def _ask_and_rerun(result: Result, chosen: Recipe, run: Callable[[Recipe], Result]) -> Result:
    """The result once somebody answered what its words mean, where somebody is there; answers are kept."""
    asked = any(file.questions for file in result.cleaned.files)
    answers = ask_words(result) if asked and chosen.ask is not None else []
    if answers:
        chosen = replace(chosen, answers=[*chosen.answers, *answers])
        result = run(chosen)
    memory = memory_of(chosen)
    if memory is not None and chosen.answers:
        from dialframe.flows.lead_import import keep_answers

        for file in result.cleaned.files:
            keep_answers(memory, file)
    return result


@command(app, hidden=True)
def check(
    files: Files,
    options: ListOptions,
    save_mapping: SaveMapping = None,
    store: StoreFolder = None,
) -> Answer:
    """Say what would become of every record; the old name of `clean --dry-run`.

    Example:
        dialframe leads check autumn.csv --region US
    """
    return _run_cleaning(
        files,
        options,
        OutputOptions(),
        Path("cleaned"),
        dry_run=True,
        save_mapping=save_mapping,
        store=store,
    )


@command(app, hidden=True)
def screen(
    *,
    files: Files,
    options: ListOptions,
    output: OutputOptions,
    out: OutFolder = Path("cleaned"),
    max_age: MaxAge = "31d",
    account_options: AccountOptions,
) -> Answer:
    """Clean and ask the service which numbers are listed; the old name of `clean --screen`.

    Example:
        dialframe leads screen autumn.csv --region US --out cleaned
    """
    return _run_cleaning(
        files,
        options,
        output,
        out,
        account_options=account_options,
        max_age=max_age,
        store=account_options.store,
    )


@command(app)
def fix(
    files: Files,
    options: ListOptions,
    edits: Annotated[
        list[str] | None,
        typer.Option("--set", help="An edit without a question: LINE:COLUMN=VALUE; repeatable."),
    ] = None,
    out: OutFolder = Path("cleaned"),
    store: StoreFolder = None,
) -> Answer:
    """Correct the cells of rejected records.

    Each correction is judged at once.     The list is cleaned with the corrections; `NAME.history.csv` has what stood there before.

    Examples:
        dialframe leads fix autumn.csv --region US
        dialframe leads fix autumn.csv --region US --set 23:Mobile=212-736-0009 --json
    """
    from dialframe.flows import list_fixing

    with progress() as listen:
        chosen = recipe(options, store=store)
        work = list_fixing.Fixing.of(expanded(files), chosen, on_progress=listen)
        for text in edits or ():
            work.set(*list_fixing.parsed(text), at=datetime.now(UTC))
        if chosen.ask is not None:
            fix_at_terminal(work)
        written = work.write(out) if work.edits else {}
    rejects = work.rejects()
    facts = {
        **work.cleaned.counts,
        "rejects": [reject._asdict() for reject in rejects],
        "edits": [edit.to_dict() for edit in work.edits],
        "files": {name: str(path) for name, path in written.items()},
    }
    rows = [
        (f"{reject.file}:{reject.line}", reject.column, reject.value, reject.meaning)
        for reject in rejects
    ]
    lines: list[str | Table] = [
        f"{len({edit[:3] for edit in work.edits}):,} corrected, {len(rejects):,} still rejected",
        Table(rows),
        *(f"  {name.replace('_', ' '):<16} {path}" for name, path in written.items()),
    ]
    return replace(Answer(facts, lines), status=FINDINGS if rejects else OK)


@command(app, "import")
def import_(
    *,
    files: Files,
    campaign: Annotated[str, typer.Option("--campaign", "-c", help="Campaign, by name or id.")],
    options: ListOptions,
    output: ImportOutput,
    out: OutFolder = Path("imported"),
    yes: Yes = False,
    dry_run: DryRun = False,
    max_age: MaxAge = "31d",
    keep: Keep = None,
    fail_on: FailOn = None,
    account_options: AccountOptions,
) -> Answer:
    """Plan, confirm, clean, screen and import a list.

    Run it again after a crash to resume where it stopped.

    Examples:
        dialframe leads import autumn.csv --campaign Autumn --region US --dry-run
        dialframe leads import autumn.csv --campaign cmp_... --region US --out imported --yes
    """
    from dialframe.flows import lead_import

    store = account_options.store
    with goes_on(), account_options.connect() as account, progress() as listen:
        # A slip is known before anything is asked or read.
        campaign_id = account.campaign_id(campaign)
        # The service has no delete: what is sent is sent.
        if not (yes or dry_run or at_terminal()):
            raise ConfigError(
                "an import needs a yes, and nobody is there to give it: read the plan with --dry-run, "
                "then pass --yes"
            )
        chosen = recipe(options, output, max_age=max_age, asks=True, store=store)
        brought = lead_import.bring_in(
            expanded(files),
            chosen,
            account,
            campaign_id=campaign_id,
            out=out,
            keep=keep,
            now=partial(datetime.now, UTC),
            confirm=None if yes else confirmed,
            dry_run=dry_run,
            on_progress=listen,
        )
        # A plan that was not carried out changes nothing, here neither.
        opt_outs = None if brought.ledger is None else keep_opt_outs(brought.result, store)
    # Unknown fails always: such leads may be in the campaign or not.
    failing = ("unknown", "refused") if fail_on == "refused" else ("unknown",)
    if brought.ledger is None:
        # A dry run says by its status whether the import would go through.
        failed = bool(brought.plan.doubts) or not brought.plan.to_send
    else:
        failed = any(brought.ledger.counts[name] for name in failing)
    answer = told(brought.result, memory=memory_of(chosen), brought=brought, suppressed=opt_outs)
    return replace(answer, status=FINDINGS if failed else OK)


@command(app, hidden=True)
def forget(files: Files) -> Answer:
    """Forget the saved column mapping for lists with this header.

    Example:
        dialframe leads forget autumn.csv
    """
    from dialframe import leads

    folder = profiles_folder(None)
    rows = [
        {"file": file.name, "forgotten": leads.forget_mapping(file, folder)}
        for path in expanded(files)
        for file in leads.read_all(path)
    ]
    # A second run is no mistake either.
    outcomes = {True: "forgotten", False: "nothing was answered for this header"}
    lines = (f"{row['file']}: {outcomes[bool(row['forgotten'])]}" for row in rows)
    return Answer({"files": rows}, lines)


@command(app, "reasons", hidden=True)
def reasons_() -> Answer:
    """List every reason code with its meaning and what to do about it.

    Example:
        dialframe leads reasons
    """
    from dialframe.leads.reasons import REASONS

    names = ("code", "outcome", "meaning", "remedy")
    rows = [[getattr(reason, name) for name in names] for reason in REASONS]
    facts = {"reasons": [dict(zip(names, row, strict=True)) for row in rows]}
    return Answer(facts, [Table(rows, names, "Reason codes")])


def _save(cleaned: CleanedFiles, path: Path | None) -> None:
    """Keep the columns of the first file for the next list."""
    if path is not None:
        cleaned.files[0].columns.save(path)


def told(
    result: Result,
    *,
    memory: Memory | None = None,
    brought: BroughtIn | None = None,
    suppressed: Mapping[str, int | str] | None = None,
) -> Answer:
    """What was decided, what was set aside and why, what was sent, which files there are.

    Args:
        result: What was cleaned and screened.
        memory: What was remembered of headers.
        brought: The import, where there was one.
        suppressed: What the suppression list got of it: `added`, `on_list`.
    """
    answer = Answer(
        _facts(result, memory, brought, suppressed), _lines(result, memory, brought, suppressed)
    )
    # An open question, or something strange, stops a script that goes on with the list.
    is_open = answer.facts["questions"] or answer.facts["doubts"]
    return replace(answer, status=FINDINGS) if is_open else answer


def _lines(
    result: Result,
    memory: Memory | None,
    brought: BroughtIn | None,
    suppressed: Mapping[str, int | str] | None,
) -> Iterator[str | Table]:
    from dialframe.flows import cleaning_summary

    cleaned = result.cleaned
    yield from _file_lines(cleaned, memory)
    yield from _outcome_lines(cleaned)
    yield from _question_lines(result)
    for reason, records in cleaning_summary.list_kept_lines(cleaned).items():
        yield from _record_lines(reason, records)
    if result.screening is not None:
        yield _checks_line(result.screening)
    if brought is not None and brought.ledger is not None:
        yield from _ledger_lines(brought.ledger)
    elif brought is not None:
        yield from plan_lines(brought.plan)
        yield "Nothing was checked or sent"
    if suppressed is not None and "problem" in suppressed:
        yield f"The opt-outs are not on your suppression list: {suppressed['problem']}"
    elif suppressed is not None and suppressed["added"]:
        yield (
            f"{suppressed['added']:,} numbers of flag columns and answers are new on your suppression "
            f"list, which holds {suppressed['on_list']:,}; dialframe suppress undo "
            f"{suppressed['run']} takes them off again"
        )
    # Paths come last, where the eye is when a long answer ends.
    files = result.paths if brought is None else brought.files
    for name, path in files.items():
        yield f"  {name.replace('_', ' '):<16} {path}"
    if "clean" in files and files["clean"].suffix == ".csv":
        yield (
            "  A spreadsheet rounds long numbers when it opens a CSV file: --format xlsx is safe to "
            "edit and save"
        )


def _facts(
    result: Result,
    memory: Memory | None,
    brought: BroughtIn | None,
    suppressed: Mapping[str, int | str] | None,
) -> dict[str, Any]:
    from dialframe.flows import cleaning_summary
    from dialframe.reports import lead_list_page

    cleaned = result.cleaned
    report = result.report()
    content: dict[str, Any] = {
        **cleaned.counts,
        "headlines": [each.as_dict() for each in lead_list_page.headlines(cleaned.counts)],
        **{key: report[key] for key in ("held", "region", "questions", "doubts", "suppression")},
        "countries": cleaned.countries,
        "line_types": cleaned.line_types,
        "reasons": cleaned.reasons,
        # Masked, with file and line, so that a record is found without its number in a log.
        "examples": {
            reason["code"]: reason["examples"]
            for listed in report["reasons"].values()
            for reason in listed
        },
        "warnings": cleaned.warnings,
        "inputs": [
            {**opened, "saved_mapping": memory is not None and memory.of(file) is not None}
            for opened, file in zip(report["files"], cleaned.files, strict=True)
        ],
        "leftovers": report["leftovers"],
    }
    if lines := cleaning_summary.list_kept_lines(cleaned):
        content["lines"] = lines
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
        # The same keys whether it was sent or planned: a script need not ask which.
        content |= dict.fromkeys(_LEDGER, 0)
    content |= {"run": None, "suppressed_new": 0}
    if suppressed is not None:
        content["suppression_list"] = dict(suppressed)
        content |= {"run": suppressed.get("run"), "suppressed_new": suppressed["added"]}
    if files:
        content["files"] = {name: str(path) for name, path in files.items()}
    return content


def _question_lines(result: Result) -> Iterator[str | Table]:
    """Which words hold records, in clear; what every list of forbidden numbers met; what is strange."""
    from dialframe.leads.report import OWN_LIST

    report = result.report()
    rows = [
        (
            f"{question['records']:,}",
            question["column"],
            "any text" if question["phrase"] == "*" else question["phrase"],
            "; ".join(question["examples"]),
        )
        for question in report["questions"]
    ]
    if rows:
        yield (
            "\nrecords with these words are held for this list until somebody says what they mean "
            "(at a terminal, or with --answers):"
        )
        yield Table(rows, ("records", "column", "words", "for example"))
    holding = [f"{each['column']} {each['records']:,}" for each in report["holding"]]
    if holding:
        yield f"records not to be called, by column: {', '.join(holding)}"
    for name, counts in report["suppression"].items():
        # Of a file that was given is said, too, that it holds nothing.
        if counts["entries"] or name != OWN_LIST:
            yield f"{name}: read {counts['entries']:,}, met {counts['met']:,} of this list"
    for doubt in report["doubts"]:
        yield f"LOOK AT THIS  {doubt}"


def fix_at_terminal(work: Fixing) -> None:
    """Ask for each rejected cell what stands there; Enter leaves it, q ends."""
    current().hide_bars()
    for reject in work.rejects():
        say(f"\n{reject.file}:{reject.line}  {reject.column}: {reject.value}")
        say(f"  {reject.meaning}; {reject.remedy}")
        while True:
            text = typer.prompt("New text (Enter leaves it, q ends)", default="", err=True).strip()
            if text in ("", "q"):
                break
            reason = work.set(reject.line, reject.column, text, at=datetime.now(UTC))
            if reason is None:
                say("  clean now")
                break
            say(f"  {reason}")
        if text == "q":
            return


def confirmed(plan: Plan) -> bool:
    """Show a plan to the person at the terminal and ask for a yes; Enter is a no."""
    current().hide_bars()
    for part in plan_lines(plan):
        say(part)
    # There is nothing to ask about.
    if not plan.to_send:
        return False
    where = plan.campaign_id if plan.campaign is None else f"{plan.campaign.name!r}"
    return typer.confirm(f"Send {plan.to_send:,} leads to {where}?", default=False, err=True)


def plan_lines(plan: Plan) -> Iterator[str | Table]:
    """What an import is about to do."""
    campaign = plan.campaign
    name = (
        "which the key may not look at"
        if campaign is None
        else f"{campaign.name}, {campaign.status}"
    )
    yield f"Plan for campaign {plan.campaign_id} ({name})"
    for file, samples in zip(plan.cleaned.files, plan.samples, strict=True):
        yield f"\n{file.name}"
        if file.decisions.doubt:
            yield f"LOOK AT THIS  {file.decisions.doubt}"
        if file.columns.profile is not None:
            yield f"  read as {file.columns.profile}"
        if file.region_decision is not None:
            yield f"  numbers of {file.region_decision.in_words()}"
        # What somebody named is certain.
        sure = file.columns.confidence
        rows = [
            # Cells beside each column: a wrong column is seen in them at once, and in its name hardly ever.
            (f"  {field}", column, f"{sure.get(field, 1.0):.2f}", ", ".join(cells))
            for field, columns in samples.items()
            for column, cells in columns.items()
        ]
        yield Table(rows)
    yield from _country_lines(plan.cleaned)
    for outcome, codes in plan.cleaned.reasons.items():
        held = ", ".join(f"{count:,} {code}" for code, count in codes.items())
        if held:
            yield f"{_words(outcome)}: {held}"
    for doubt in plan.doubts:
        yield f"DOUBT  {doubt.file}: {doubt.words}; say it with {doubt.answer}"
    yield f"{plan.to_send:,} leads to be checked against Do-Not-Call and sent"


def _country_lines(cleaned: Outcome) -> Iterator[str]:
    for words, counts in (("countries", cleaned.countries), ("line types", cleaned.line_types)):
        if counts:
            shown = [f"{name} {count:,}" for name, count in list(counts.items())[:_SHOWN]]
            more = len(counts) - len(shown)
            hidden = f" and {more:,} more" if more else ""
            yield f"{words} of the clean numbers: {', '.join(shown)}{hidden}"


def _file_lines(cleaned: Outcome, memory: Memory | None) -> Iterator[str | Table]:
    from dialframe.flows import cleaning_summary

    for file in cleaned.files:
        yield (
            f"{file.name}: {file.records:,} records; {'; '.join(cleaning_summary.decided(file.decisions))}"
        )
        if memory is not None and memory.of(file) is not None:
            yield (
                "  columns as answered for this header before; dialframe leads forget FILE forgets them"
            )
        elif file.columns.profile is not None:
            yield f"  read as {file.columns.profile}"
        if file.region_decision is not None:
            yield f"  numbers of {file.region_decision.in_words()}"
        rows = cleaning_summary.columns_of(file)
        yield Table([(f"  {name}", *cells) for name, *cells in rows])
        others = file.columns.leftovers
        if others:
            yield f"  other columns, kept as custom fields: {', '.join(others)}"
        if len(others) > CUSTOM_FIELDS:
            yield (
                f"  that is {len(others)}: an import takes {CUSTOM_FIELDS}, chosen with --keep NAME"
            )


def _outcome_lines(cleaned: Outcome) -> Iterator[str | Table]:
    from dialframe.flows import cleaning_summary
    from dialframe.reports import lead_list_page

    why = cleaning_summary.reason_rows(cleaned)
    for outcome in cleaned.reasons:
        rows = [row for row in why if row["outcome"] == outcome]
        if not rows:
            continue
        yield f"\n{lead_list_page.OUTCOMES[outcome]}: {sum(row['records'] for row in rows):,}"
        shown = ("records", "reason", "first_lines", "meaning")
        yield Table.of_counts(tuple(row[name] for name in shown) for row in rows)
    if warned := cleaning_summary.warning_rows(cleaned):
        yield "\nclean, with repairs:"
        yield Table.of_counts(tuple(row.values()) for row in warned)
    # Where most numbers are none of the region, it may be the wrong one.
    wrong = sum(cleaned.reasons["rejected"].get(code, 0) for code in _NOT_OF_REGION)
    # Half of them: a list of two countries is no mistake.
    if cleaned.region and 2 * wrong > cleaned.counts["records"]:
        yield (
            f"\nMost numbers are none of {cleaned.region}: if they were written for another country, "
            "name it with --region"
        )
    yield from _country_lines(cleaned)
    yield f"\n{lead_list_page.sentence(cleaned.counts)}"


def _record_lines(reason: str, records: list[dict[str, Any]]) -> Iterator[str | Table]:
    from dialframe.leads.reasons import BY_CODE

    yield f"\n{reason}: {BY_CODE[reason].meaning}; {BY_CODE[reason].remedy}"
    yield Table([(f"{row['file']}:{row['line']}", row["field"], row["value"]) for row in records])
    if not records:
        yield "  no record"


def _words(name: object) -> str:
    return str(name).replace("_", " ")


def _checks_line(screening: Screening) -> str:
    counts, none = screening.to_dict(), ""
    if counts["unanswered"]:
        none = f"; {counts['unanswered']:,} have none and are set aside"
    return (
        f"Do-Not-Call: {counts['numbers']:,} numbers have an answer, the oldest of "
        f"{counts['oldest_at'] or 'no day'}; {counts['listed']:,} are listed{none}"
    )


def _ledger_lines(ledger: Ledger) -> Iterator[str | Table]:
    from dialframe.flows import cleaning_summary

    counts = ledger.counts
    yield f"Import: {', '.join(f'{counts[name]:,} {name}' for name in _LEDGER)}"
    why = cleaning_summary.refusals(ledger)
    yield Table.of_counts(why)
    if ledger.not_sent["set_aside"]:
        yield f"{ledger.not_sent['set_aside']:,} were listed since the plan was made, and not sent"
    if counts["unknown"]:
        yield (
            "What is unknown is settled by the same command, run again: it asks with the same keys"
        )
