"""`dialframe audit`, `audit verify`, `audit diff`: calls held against the rules, and packs held against themselves."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dialframe.cli import completing
from dialframe.cli.face import AsJson, BaseUrl, StoreFolder, answer, connect, progress, say, show
from dialframe.cli.rules import read_book, split
from dialframe.cli.statuses import FINDINGS
from dialframe.privacy import mask_phone

if TYPE_CHECKING:
    import pandas as pd

    from dialframe.compliance import Audit

app = typer.Typer()

#: Violations shown on a terminal, and other findings; the pack has them all.
SHOWN = 20
FEW = 5

_ORDER = {"violation": 0, "uncertain": 1, "not evaluable": 2}


class FailOn(StrEnum):
    """From which grade on an audit ends with status 3."""

    VIOLATION = "violation"
    UNCERTAIN = "uncertain"
    NEVER = "never"


@app.callback(invoke_without_command=True)
def audit(
    context: typer.Context,
    since: Annotated[
        str | None,
        typer.Option(
            "--since", help="First day (UTC) or instant of the period.", show_default=False
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            "--until", help="First day or instant that is not in it any more.", show_default=False
        ),
    ] = None,
    rules: Annotated[
        str | None,
        typer.Option(
            "--rules",
            help="Jurisdictions or rule ids, commas between: us, us-fl, us-*, gb. All by default.",
            show_default=False,
            autocompletion=completing.rules,
        ),
    ] = None,
    as_of: Annotated[
        str | None,
        typer.Option(
            "--as-of",
            metavar="INSTANT",
            help="The moment of the audit; the store is read as it was then. Now by default.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Folder of the evidence pack, or PACK.zip.", show_default=False
        ),
    ] = None,
    check: Annotated[
        str | None,
        typer.Option(
            "--check",
            help="First ask about numbers whose newest check is older than this, 31d for instance.",
            show_default=False,
        ),
    ] = None,
    state_field: Annotated[
        str | None,
        typer.Option(
            "--state-field",
            help="Custom field that names the called party's state or ZIP code.",
            show_default=False,
        ),
    ] = None,
    own: Annotated[
        Path | None,
        typer.Option("--own", help="The firm's own changes and rules (TOML).", show_default=False),
    ] = None,
    declared: Annotated[
        Path | None,
        typer.Option(
            "--declared", help="Declared emergencies and holidays (TOML).", show_default=False
        ),
    ] = None,
    exemptions: Annotated[
        Path | None,
        typer.Option(
            "--exemptions", help="Records that lift a rule for calls (CSV).", show_default=False
        ),
    ] = None,
    consents: Annotated[
        Path | None,
        typer.Option("--consents", help="Records of consent (CSV).", show_default=False),
    ] = None,
    look_ups: Annotated[
        Path | None,
        typer.Option(
            "--look-ups", help="Look-ups of reassigned numbers (CSV).", show_default=False
        ),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(
            "--key", help="File with the officer's key; signs the pack.", show_default=False
        ),
    ] = None,
    pseudonyms: Annotated[
        Path | None,
        typer.Option(
            "--pseudonyms",
            help="File with a key; numbers in the pack become pseudonyms.",
            show_default=False,
        ),
    ] = None,
    zipped: Annotated[bool, typer.Option("--zip", help="Write the pack as one file too.")] = False,
    pdf: Annotated[
        bool, typer.Option("--pdf", help="Write the report as PDF too; needs Chromium.")
    ] = False,
    fail_on: Annotated[
        FailOn,
        typer.Option("--fail-on", help="End with status 3 from findings of this grade on."),
    ] = FailOn.VIOLATION,
    base_url: BaseUrl = None,
    store: StoreFolder = None,
    as_json: AsJson = False,
) -> None:
    """Hold the account's calls against the rules on hours, attempts, Do-Not-Call and consent.

    Reads the local store; run `dialframe sync` first. Ends with status 3 when there are
    violations. Example:

        dialframe audit --since 2026-10-01 --until 2026-11-01 --rules us,us-fl -o october
    """
    if context.invoked_subcommand is not None:
        return
    from dialframe.flows import audit as flow
    from dialframe.flows import pack, records

    moment = records.instant("--as-of", as_of)
    scope = flow.Scope(
        since=records.instant("--since", since),
        until=records.instant("--until", until),
        rules=split(rules),
        book=read_book(own),
        exemptions=records.table(exemptions),
        declared=records.declared(declared),
        consents=records.table(consents),
        look_ups=records.table(look_ups),
    )
    secret = None if key is None else pack.read_key(key)
    hidden = None if pseudonyms is None else pack.read_key(pseudonyms)
    with connect(base_url, store) as account, progress() as listen:
        result = flow.audit(
            account,
            now=partial(datetime.now, UTC),
            max_age=check,
            state_field=state_field,
            scope=scope,
            as_of=moment,
            on_progress=listen,
        )
    files: dict[str, Path] = {}
    if out is not None:
        files = flow.write_pack(result, out, key=secret, pseudonyms=hidden, zipped=zipped, pdf=pdf)
    if as_json:
        answer({**flow.facts(result), "files": {name: str(path) for name, path in files.items()}})
    else:
        _tell(result, files)
    if _found(result.checks, fail_on):
        raise typer.Exit(FINDINGS)


@app.command("verify")
def verify(
    pack: Annotated[Path, typer.Argument(help="An evidence pack: its folder or its zip file.")],
    key: Annotated[
        Path | None,
        typer.Option("--key", help="File with the officer's key.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Hold every byte of an evidence pack against its manifest; status 3 when something was changed.

    Example:
        dialframe audit verify october
    """
    from dialframe.flows import pack as packs

    found = packs.verify(pack, key=None if key is None else packs.read_key(key))
    if as_json:
        answer(
            {
                "pack": str(pack), "whole": found.whole, "faults": list(found.faults),
                "files": found.files, "head": found.head, "signed": found.signed,
            }
        )  # fmt: skip
    elif found.whole:
        say(
            f"{pack}: {found.files} files, every byte as it was written; signature: {found.signed}"
        )
        say(f"head {found.head}")
    else:
        for fault in found.faults:
            say(f"{pack}: {fault}")
    if not found.whole:
        raise typer.Exit(FINDINGS)


@app.command("diff")
def diff(
    before: Annotated[Path, typer.Argument(help="The earlier pack.")],
    after: Annotated[Path, typer.Argument(help="The later pack.")],
    as_json: AsJson = False,
) -> None:
    """Show what differs between two packs, and which inputs changed between them.

    Example:
        dialframe audit diff october october-again
    """
    from dialframe.flows import audit as flow

    found = flow.compare(before, after)
    if as_json:
        answer({"changes": found.to_dict("records")})
    elif len(found):
        show(found[["check", "change", "before", "after", "reason", "because"]], "Changes")
    else:
        say("no finding differs")


def _tell(result: Audit, files: dict[str, Path]) -> None:
    from dialframe.reports import audit_answers as told

    for sentence in told.answers(result):
        say(sentence)
    short = {"violation": "viol.", "uncertain": "unc.", "not_evaluable": "not eval."}
    counts = told.counts(result).drop(columns="pass").rename(columns=short)
    show(counts, "Checks")
    _tell_findings(result)
    _tell_coverage(result)
    missing = told.unanswered(result)
    for row in missing.itertuples():
        help_ = f"; {row.do}" if row.do else ""
        say(f"not evaluable: {row.check}, {row.number:,}: {row.missing}{help_}")
    if files:
        say(f"Evidence: {', '.join(sorted(path.name for path in files.values()))}")
        say(
            f"in {next(iter(files.values())).parent}; hold it against itself: dialframe audit verify"
        )
    for note in result.notes:
        say(f"note: {note}")


def _tell_findings(result: Audit) -> None:
    """The gravest findings, one paragraph each; violations alone where there are any."""
    from dialframe.reports import audit_answers as told

    masked = result.masked()
    grade = masked["grade"].map(_ORDER)
    order = (grade * 100 + told.in_order(masked["check"])).argsort(kind="stable")
    ordered = masked.iloc[order]
    shown = ordered[ordered["grade"] == "violation"].head(SHOWN)
    if shown.empty:
        shown = ordered[ordered["grade"] == "uncertain"].head(FEW)
    if shown.empty:
        return
    say(f"Findings, gravest first: {len(shown)} of {len(ordered):,}; numbers masked")
    for row in shown.itertuples():
        whom = row.phone if isinstance(row.phone, str) else row.campaign_id
        whom = whom if isinstance(whom, str) else ""
        say(f"  {row.grade}: {told.title_of(row.check)}")
        say(f"    {row.at:%Y-%m-%d %H:%M:%S} UTC {whom} {row.reason} ({row.rule_id})")


def _tell_coverage(result: Audit) -> None:
    """Where checks are thin, and what closes the gap."""
    from dialframe.reports import audit_answers as told

    by, due = result.parts.get("coverage_by"), result.parts.get("next_checks")
    if by is None or due is None:
        return
    campaigns = by[by["view"] == "campaign"]
    if len(campaigns):
        names = ["group", "numbers", "fresh", "stale", "never"]
        show(campaigns[names].rename(columns={"group": "campaign"}), "Do-Not-Call coverage")
    say(told.to_check_sentence(result))
    if len(due):
        few = ", ".join(mask_phone(phone) for phone in due["phone"].head(FEW))
        say(f"first of them: {few}; check them: dialframe audit --check 31d")


def _found(checks: pd.DataFrame, fail_on: FailOn) -> bool:
    if fail_on is FailOn.NEVER:
        return False
    grades = ["violation"] if fail_on is FailOn.VIOLATION else ["violation", "uncertain"]
    return bool(checks[grades].to_numpy().sum())
