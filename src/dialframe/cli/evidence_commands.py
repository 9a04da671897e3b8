"""`dialframe evidence`: files of evidence that the firm has, taken into the log that the audit and the gate read."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dialframe.cli.lead_options import suppression_list
from dialframe.cli.terminal import (
    FINDINGS,
    FORMAT_HELP,
    OK,
    ZONE_HELP,
    Answer,
    Region,
    StoreFolder,
    Table,
    command,
)

if TYPE_CHECKING:
    from dialframe.evidence import EvidenceLog

#: What `evidence list` shows of a file.
_SHOWN = ("run", "file", "kind", "at", "taken", "refused", "undone")

app = typer.Typer(
    help="Scrub results, line types, look-ups, consents, relationships, registry downloads: add, list, undo.",
    no_args_is_help=True,
)


@command(app)
def add(
    files: Annotated[list[Path], typer.Argument(help="The files.", metavar="FILE...")],
    profile: Annotated[
        str | None,
        typer.Option("--as", help=FORMAT_HELP),
    ] = None,
    lists: Annotated[
        list[str] | None,
        typer.Option(
            "--list",
            help="List that a scrub was made against, where the file does not say: us, us-tx, or its name. Again for more.",
        ),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(
            "--made", help="When the scrub, look-up or download was made, where rows do not say."
        ),
    ] = None,
    zone: Annotated[
        str | None,
        typer.Option(help=ZONE_HELP),
    ] = None,
    region: Region = None,
    prefixes: Annotated[
        list[str] | None,
        typer.Option(
            "--prefix", help="Beginning of numbers that a registry download covers: +1212."
        ),
    ] = None,
    subscription: Annotated[str, typer.Option(help="Account number at the registry (SAN).")] = "",
    store: StoreFolder = None,
) -> Answer:
    """Take files of evidence into the log that the audit and the gate read.

    A scrub names its lists, a registry download the moment of it; a day without a time counts as its end, and
    times are UTC without --zone. Every row is taken or refused with a reason, and a file that was taken before is not
    taken again. Status 3: rows were refused.

    Examples:
        dialframe evidence add scrubbed.csv --list us --made 2026-10-01 --region US
    """
    from dialframe.flows import evidence_files, evidence_rows
    from dialframe.instants import instant

    job = evidence_rows.Job(
        region=region, zone=zone, at=instant("--made", at), lists=lists or (), prefixes=prefixes or (),
        subscription=subscription,
    )  # fmt: skip
    log = _log(store)
    done = [
        evidence_files.add(log, path, profile=profile, job=job, now=datetime.now(UTC))
        for path in files
    ]
    lines = []
    for each in done:
        lines.append(
            f"{each.file}: "
            + ("taken before, nothing written: " if each.known else "")
            + f"{each.taken:,} of {each.read:,} rows of {each.kind.replace('_', ' ')} taken ({each.profile}), {each.records:,} records"
        )
        for reason, number in each.refused.items():
            shown = ", ".join(map(str, each.lines[reason][:5]))
            lines.append(f"  {number:,} refused: {evidence_rows.REASONS[reason]} (lines {shown})")
        lines.append(f"  take it back with dialframe evidence undo {each.run}")
    facts = {
        "read": sum(each.read for each in done),
        "taken": sum(each.taken for each in done),
        "refused": sum(each.read - each.taken for each in done),
        "records": sum(each.records for each in done),
        "files": [asdict(each) for each in done],
    }
    return Answer(facts, lines, FINDINGS if facts["refused"] else OK)


@command(app, "list", hidden=True)
def list_(store: StoreFolder = None) -> Answer:
    """Show the files that were taken, oldest first.

    Example:
        dialframe evidence list
    """
    from dialframe.flows import evidence_files

    rows = [
        {
            "run": each.run, "file": each.source, "kind": each.detail["kind"], "profile": each.detail["profile"],
            "at": each.at, "taken": each.detail["taken"], "refused": each.detail["read"] - each.detail["taken"],
            "undone": each.detail["undone"],
        }
        for each in evidence_files.runs(_log(store))
    ]  # fmt: skip
    if not rows:
        return Answer(
            {"files": []}, ["no file of evidence was taken: dialframe evidence add FILE"]
        )
    cells = [[str(row[name]) for name in _SHOWN] for row in rows]
    return Answer({"files": rows}, [Table(cells, _SHOWN, "Evidence", right=(4, 5))])


@command(app, hidden=True)
def undo(
    run: Annotated[
        str, typer.Argument(help="Id of the run, as evidence list shows it.", metavar="RUN")
    ],
    store: StoreFolder = None,
) -> Answer:
    """Take a file of evidence back; its records stay in the log, and count no more.

    Example:
        dialframe evidence undo run-20261125-081500-3f2a
    """
    from dialframe.flows import evidence_files

    number = evidence_files.undo(_log(store), run, now=datetime.now(UTC))
    return Answer({"run": run, "records": number}, [f"{number:,} records of {run} count no more"])


def _log(store: Path | None) -> EvidenceLog:
    # One log for all accounts of a machine, beside the suppression list, which is a view of it.
    return suppression_list(store).log
