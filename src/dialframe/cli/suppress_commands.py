"""`dialframe suppress`: the firm's own list of numbers that must not be called."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from dialframe.cli import completion_words
from dialframe.cli.lead_options import expanded, goes_on, suppression_list
from dialframe.cli.terminal import (
    FAILURE,
    FINDINGS,
    FORMAT_HELP,
    OK,
    AccountOptions,
    Answer,
    Region,
    StoreFolder,
    Table,
    command,
    progress,
)
from dialframe.errors import ConfigError
from dialframe.instants import day

if TYPE_CHECKING:
    from dialframe.suppression import Entry

app = typer.Typer(
    help="Numbers that must not be called: add, list, remove, export.",
    no_args_is_help=True,
)

Numbers = Annotated[list[str] | None, typer.Argument(help="Phone numbers.", metavar="NUMBER...")]
FromFiles = Annotated[
    list[str] | None,
    typer.Option(
        "--file",
        help="File of numbers: any format that lead files have, plain numbers, or SHA-256 of E.164.",
    ),
]
Scrubber = Annotated[
    str | None,
    typer.Option(
        "--as",
        help=FORMAT_HELP,
        autocompletion=completion_words.of(completion_words.SCRUBBERS),
    ),
]


#: The id of a command that changed the list.
_RUN: Final = re.compile(r"run-\d{8}-\d{6}-\w+")


@command(app)
def add(
    numbers: Numbers = None,
    file: FromFiles = None,
    region: Region = None,
    codes: Scrubber = None,
    reason: Annotated[str | None, typer.Option(help="Why, in a word.")] = None,
    source: Annotated[
        str | None, typer.Option(help="Where it comes from: a name or a file.")
    ] = None,
    on: Annotated[str | None, typer.Option(help="Day of the request; else today.")] = None,
    store: StoreFolder = None,
) -> Answer:
    """Put numbers on the list.

    Every later list, screening and import leaves them out.

    Without a reason it is registry of a register's own file, and opt_out of everything else. Deletions of
    a register's change list take off what the register put there, and nothing that a person asked for.

    Of a file every row counts, unless --as names the scrubbing service whose result codes it holds. Examples:

        dialframe suppress add +12125550142 --source Ada
        dialframe suppress add --file complaints.csv --region GB --reason complaint
        dialframe suppress add --file october/internal_dnc.csv --reason audit
        dialframe suppress add --file scrubbed.csv --region US --as dncscrub --reason registry
    """
    from dialframe.flows import suppression_import
    from dialframe.suppression import Entry, run_id

    # The time to honor it runs from the day of the request (47 CFR 64.1200(d)(3)).
    requested_on = day("--on", on) or _now().date()
    # Read whole before anything is written: a file that cannot be read leaves the list as it was.
    phones = _numbers(numbers, region)
    files = suppression_import.read(expanded(file or []), region=region, codes=codes)
    if not phones and not files:
        raise ConfigError("suppress add takes numbers, or a file with --file")

    def entries() -> Iterator[Entry]:
        for phone in phones:
            # Who asked is evidence; that somebody typed it is all that is known without a source.
            yield Entry(phone, reason or "opt_out", source or "command line", requested_on)
        for file_read in files:
            why = file_read.reason(reason)
            yield from file_read.entries(reason=why, on=requested_on, source=source)

    suppressed = suppression_list(store)
    # Counted before: the list itself holds each number once.
    numbers_given = len(phones) + sum(len(file_read.barred) for file_read in files)
    now = _now()
    run = run_id(now)
    new = suppressed.add(entries(), now, run=run)
    deleted = sum(
        suppressed.delist(
            each.deleted,
            reason=each.reason(reason),
            source=source or each.name,
            now=now,
            run=run,
        )
        for each in files
        if each.deleted
    )
    facts: dict[str, Any] = {
        "given": numbers_given,
        "added": new,
        "deletions": sum(len(each.deleted) for each in files),
        "removed": deleted,
        "known": numbers_given - new,
        "free": sum(file_read.free for file_read in files),
        # Lines, and no cells: what cannot be read may be a number all the same.
        "unreadable": {
            file_read.name: list(file_read.unreadable)
            for file_read in files
            if file_read.unreadable
        },
        "on_list": len(suppressed),
        "run": run,
    }
    lines = [
        f"{new:,} numbers added, {numbers_given - new:,} were on the list; it holds {len(suppressed):,}"
    ]
    if new:
        lines.append(f"Take them off again with dialframe suppress remove {run}")
    if facts["deletions"]:
        lines.append(
            f"{facts['deletions']:,} numbers were deleted by the register; {deleted:,} of them stood on "
            "the list because of it and are off"
        )
    # A service's "may be called" keeps a row off the list, which whoever reads this may want to check.
    if facts["free"]:
        lines.append(f"{facts['free']:,} rows may be called, says the service that screened them")
    for file_read in files:
        if unreadable := file_read.unreadable:
            named = suppression_import.lines_named(unreadable)
            lines.append(f"{file_read.name}: {len(unreadable):,} cells hold no number, {named}")
    return Answer(facts, lines)


@command(app, "list")
def list_(
    reason: Annotated[str | None, typer.Option(help="Why, in a word.")] = None,
    source: Annotated[
        str | None, typer.Option(help="Where it comes from: a name or a file.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many, newest first.")] = 50,
    store: StoreFolder = None,
) -> Answer:
    """Show what is on the list, newest first, numbers masked.

    Example:
        dialframe suppress list --reason complaint
    """
    from collections import deque

    suppressed = suppression_list(store)
    # The list may have millions of rows: only as many as are shown are kept.
    last_entries = deque(
        (
            entry
            for entry in suppressed.entries()
            if reason in (None, entry.reason) and source in (None, entry.source)
        ),
        maxlen=limit,
    )
    rows = [_row(entry) for entry in reversed(last_entries)]
    runs = [
        {**run._asdict(), "at": run.at.isoformat()}
        for run in suppressed.runs()
        if source in (None, run.source) and reason in (None, run.reason)
    ]
    lines = [*_table(rows, "Suppression list")]
    shown = ("run", "source", "reason", "added", "standing")
    if runs:
        lines.append(
            Table(
                [[str(run[name]) for name in shown] for run in runs[:limit]],
                list(shown),
                "By command; dialframe suppress remove RUN takes one back",
            )
        )
    lines.append(f"{len(suppressed):,} numbers are on the list ({suppressed.path})")
    return Answer({"on_list": len(suppressed), "entries": rows, "runs": runs}, lines)


@command(app, hidden=True)
def check(
    numbers: Numbers = None,
    file: FromFiles = None,
    region: Region = None,
    store: StoreFolder = None,
) -> Answer:
    """Say which numbers are on the list, and why; status 3 if one is.

    Example:
        dialframe suppress check +12125550142
    """
    from dialframe.flows import suppression_import

    phones = _numbers(numbers, region)
    for file_read in suppression_import.read(expanded(file or []), region=region):
        phones += file_read.phones
    if not phones:
        raise ConfigError("suppress check takes numbers, or a file with --file")
    # A forgotten number is found too, by its keyed mark.
    listed = [entry for entry in suppression_list(store).check(phones) if entry is not None]
    rows = [_row(entry) for entry in listed]
    facts = {"checked": len(phones), "listed": len(rows), "entries": rows}
    lines = [*_table(rows, "On the list")]
    lines.append(f"{len(rows):,} of {len(phones):,} numbers are on the list")
    return Answer(facts, lines, FINDINGS if rows else OK)


@command(app, hidden=True)
def undo(
    run: Annotated[
        str, typer.Argument(help="Id of the command, as suppress list shows it.", metavar="RUN")
    ],
    reason: Annotated[str, typer.Option(help="Why, in a word.")] = "undone",
    who: Annotated[
        str, typer.Option("--who", help="Who says so, for the record.")
    ] = "command line",
    store: StoreFolder = None,
) -> Answer:
    """Take off what one command put on the list; the old name of `suppress remove RUN`.

    Example:
        dialframe suppress undo run-20261125-081500-3f2a
    """
    suppressed = suppression_list(store)
    removed = suppressed.undo(run, reason=reason, source=who, now=_now())
    facts = {"run": run, "removed": removed, "on_list": len(suppressed)}
    return Answer(
        facts, [f"{removed:,} numbers of {run} are off the list; it holds {len(suppressed):,}"]
    )


@command(app)
def remove(
    numbers: Annotated[
        list[str] | None,
        typer.Argument(
            help="Phone numbers, or the id of a command that added some.", metavar="NUMBER|RUN..."
        ),
    ] = None,
    *,
    reason: Annotated[str | None, typer.Option(help="Why, in a word.")] = None,
    file: FromFiles = None,
    from_source: Annotated[
        str | None,
        typer.Option("--source", help="Where it comes from: a name or a file."),
    ] = None,
    who: Annotated[
        str, typer.Option("--who", help="Who says so, for the record.")
    ] = "command line",
    region: Region = None,
    store: StoreFolder = None,
) -> Answer:
    """Take numbers off the list, or all that one command added.

    The history says why. What others said of the same numbers stays, and the service is not told. Examples:

        dialframe suppress remove run-20261125-081500-3f2a
        dialframe suppress remove +12125550142 --reason consent
        dialframe suppress remove --file wrong.csv --region US --reason "wrong file"
        dialframe suppress remove --source october.csv --reason "wrong column"
    """
    from dialframe.flows import suppression_import

    if numbers and all(map(_RUN.fullmatch, numbers)):
        answers = [undo(run, reason or "undone", who, store) for run in numbers]
        undone = [answered for answered in answers if answered is not None]
        facts = {
            "runs": numbers,
            "removed": sum(answered.facts["removed"] for answered in undone),
            "not_on_list": 0,
        }
        return Answer(facts, [line for answered in undone for line in answered.lines])
    # A removal has to be explained as long as the history is kept.
    if reason is None:
        raise ConfigError("suppress remove: say why with --reason, such as --reason consent")
    suppressed, phones = suppression_list(store), _numbers(numbers, region)
    for file_read in suppression_import.read(expanded(file or []), region=region):
        phones += file_read.phones
    if not phones and from_source is None:
        raise ConfigError("suppress remove takes numbers, a file with --file, or a --source")
    removed = 0
    if phones:
        removed = suppressed.remove(phones, reason=reason, source=who, now=_now())
    if from_source is not None:
        removed += suppressed.undo_source(from_source, reason=reason, source=who, now=_now())
    not_on_list = len(dict.fromkeys(phones)) - removed if from_source is None else 0
    lines = [f"{removed:,} numbers are off the list"]
    if not_on_list:
        lines.append(f"{not_on_list:,} were not on it")
    if removed:
        lines.append(
            "The account's own Do-Not-Call list is as it was: removing there is done in the console"
        )
    return Answer({"removed": removed, "not_on_list": not_on_list}, lines)


@command(app)
def export(
    *,
    to: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File to write; its ending names the format, such as .csv or .xlsx.",
        ),
    ] = None,
    to_service: Annotated[
        bool,
        typer.Option("--to-service", help="Add to the service's Do-Not-Call list what it lacks."),
    ] = False,
    hashed: Annotated[
        bool, typer.Option("--hashed", help="SHA-256 of E.164 instead of the numbers.")
    ] = False,
    account_options: AccountOptions,
) -> Answer:
    """Write the list to a file, or add it to the service's list.

    A file has the numbers in full and is readable by you alone. --to-service adds to the service's Do-Not-Call list.

    Examples:
        dialframe suppress export --to suppression.csv --hashed
        dialframe suppress export --to-service
    """
    if (to is None) != to_service:
        raise ConfigError("suppress export takes a file with --to, or --to-service")
    if to is None:
        answered = push(account_options)
        assert isinstance(answered, Answer)  # noqa: S101 - a registered command is typed as any
        return answered
    import pandas as pd

    from dialframe.evidence import hashed as hashed_number
    from dialframe.flows import reporting

    reporting.writable(to)

    # Hashes can be given away: whoever holds numbers of their own finds the common ones, and no others.
    names = ["sha256" if hashed else "phone", "reason", "source", "on", "added_at"]
    rows = [
        (
            # Of some entries the hash is all that was ever given.
            (hashed_number(entry.phone)[7:] if entry.phone else entry.digest.hex())
            if hashed
            else entry.name,
            entry.reason,
            entry.source,
            entry.on.isoformat(),
            "" if entry.added_at is None else entry.added_at.isoformat(),
        )
        for entry in suppression_list(account_options.store).entries()
    ]
    reporting.write_table(pd.DataFrame(rows, columns=names, dtype="str"), to)
    facts = {"entries": len(rows), "files": {"suppression": str(to)}}
    return Answer(facts, [f"{len(rows):,} numbers written to {to}"])


@command(app, hidden=True)
def push(account_options: AccountOptions) -> Answer:
    """Add to the account's Do-Not-Call list what it lacks; the old name of `suppress export --to-service`.

    Example:
        dialframe suppress push
    """
    from dialframe.flows import suppression_import

    # One request a number (contract, Endpoints: Do-Not-Call), so it takes its time and may break off.
    with goes_on(), account_options.connect() as account, progress() as listen:
        done = suppression_import.push(
            suppression_list(account_options.store),
            account.client.dnc,
            now=_now,
            on_progress=listen,
        )
    line = f"{done.pushed:,} numbers pushed, {done.refused:,} refused, {done.unknown:,} unknown"
    # What the service does not have yet is a failure: a script must not go on.
    return Answer(asdict(done), [line], FAILURE if done.refused or done.unknown else OK)


@command(app, "codes", hidden=True)
def codes_() -> Answer:
    """List the code tables of scrubbing services that --codes and --suppress-codes take.

    Example:
        dialframe suppress codes
    """
    from dialframe.flows.suppression_import import code_tables

    rows = [
        {
            "name": table.name,
            "service": table.title,
            "columns": ", ".join(table.columns),
            "may_be_called": ", ".join(sorted(code or "(empty)" for code in table.free)),
            "source": table.source,
        }
        for table in code_tables().values()
    ]
    shown = [{name: row[name] for name in row if name != "source"} for row in rows]
    return Answer({"codes": rows}, _table(shown, "Code tables"))


def _numbers(numbers: list[str] | None, region: str | None) -> list[str]:
    """E.164 of numbers that somebody typed."""
    from dialframe.phones import read_number
    from dialframe.privacy import mask

    phones = []
    for text in numbers or ():
        phone = read_number(text, region).e164
        # A number that nobody can read would bar nobody.
        if phone is None:
            raise ConfigError(
                f"{mask(text)} is not a phone number; write +12125550142, or name its country "
                "with --region"
            )
        phones.append(phone)
    return phones


def _row(entry: Entry) -> dict[str, str]:
    return {
        # Masked, also for machines: `suppress export` is the one way to the numbers.
        "number": entry.shown,
        "reason": entry.reason,
        "source": entry.source,
        "on": entry.on.isoformat(),
        "run": entry.run or "",
    }


def _table(rows: list[dict[str, str]], title: str) -> Iterator[Table | str]:
    if rows:
        yield Table([list(row.values()) for row in rows], list(rows[0]), title)


_now = partial(datetime.now, UTC)
