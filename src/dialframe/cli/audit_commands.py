"""`dialframe audit` and its commands: calls held against the rules, packs held against themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from dialframe import instants
from dialframe.cli.rules_commands import Jurisdictions, split
from dialframe.cli.terminal import (
    FINDINGS,
    OK,
    AccountOptions,
    Answer,
    Since,
    Table,
    Until,
    command,
    progress,
    spread,
)
from dialframe.privacy import mask, redact

if TYPE_CHECKING:
    from dialframe.compliance import Audit
    from dialframe.compliance.why import Step
    from dialframe.evidence import EvidenceLog
    from dialframe.flows.firm_records import Scope

app = typer.Typer()

#: Violations shown on a terminal, and other findings; the pack has them all.
SHOWN, FEW = 20, 5

#: What has to be looked at first.
_ORDER = {"violation": 0, "uncertain": 1, "not evaluable": 2}


#: From which grade on an audit ends with status 3; an audit of nothing always does.
FailOn = Literal["violation", "uncertain", "not-evaluable", "empty", "never"]

_PROOF: Final = "Evidence pack"
TablesPlace = Annotated[str | None, typer.Option("--tables", metavar="FOLDER|URL",
    help="Folder or object store with calls, leads and dnc_checks as Parquet, instead of the local store.")]  # fmt: skip
AsOf = Annotated[str | None, typer.Option("--as-of", metavar="INSTANT", help="The moment that counts as now.")]  # fmt: skip
After = Annotated[Path | None, typer.Option("--after", hidden=True, help="The pack before this one, which the manifest names.", rich_help_panel=_PROOF)]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleOptions:
    """Which rules are asked, and what the firm says of itself: for the audit and for the gate."""

    rules: Jurisdictions = None
    practice: Annotated[
        Path | None,
        typer.Option(help="Firm file or practice file; else dialframe.toml of this folder."),
    ] = None

    def scope(
        self,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        fail_on: str | None = None,
    ) -> Scope:
        """Everything that the firm file brings, with these rules; a place that the book does not have is said here."""
        from dialframe.compliance import Question
        from dialframe.flows import firm_records

        question = Question(
            now=datetime.now(UTC), since=since, until=until, rules=split(self.rules)
        )
        scope, left = firm_records.scope_of(Path.cwd(), question, practice=self.practice)
        for name, columns in left.items():
            typer.echo(f"dialframe: {name}: not read: {', '.join(columns)}", err=True)
        return replace(scope, options={"fail_on": fail_on, **scope.options})


@app.callback(invoke_without_command=True)
@spread
def audit(
    *,
    context: typer.Context,
    since: Since = None,
    until: Until = None,
    options: RuleOptions,
    as_of: AsOf = None,
    max_age: Annotated[
        str | None,
        typer.Option(help="Ask the service first about numbers whose newest check is older: 31d."),
    ] = None,
    fresh: Annotated[
        str | None,
        typer.Option(help="Refuse calls and leads last read longer ago than this: 24h."),
    ] = None,
    fail_on: Annotated[
        FailOn,
        typer.Option(help="Exit with 3 from findings of this grade on."),
    ] = "violation",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FOLDER", help="Folder to write to.", rich_help_panel=_PROOF
        ),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(
            help="The officer's key, which signs; dialframe audit keygen makes one.",
            rich_help_panel=_PROOF,
        ),
    ] = None,
    pseudonyms: Annotated[
        Path | None,
        typer.Option(
            help="File with a key; numbers in the pack become pseudonyms.", rich_help_panel=_PROOF
        ),
    ] = None,
    zipped: Annotated[
        bool,
        typer.Option(
            "--zip", hidden=True, help="Write the pack as one file too.", rich_help_panel=_PROOF
        ),
    ] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace what is there.", rich_help_panel=_PROOF)
    ] = False,
    after: After = None,
    pdf: Annotated[
        bool,
        typer.Option("--pdf", hidden=True, help="Write the report as PDF too; needs Chromium."),
    ] = False,
    timestamp: Annotated[
        bool,
        typer.Option(
            "--timestamp",
            hidden=True,
            help="Write a request for a time stamp (RFC 3161); the answer belongs beside it as manifest.tsr.",
        ),
    ] = False,
    tables: TablesPlace = None,
    partitions: Annotated[
        int | None,
        typer.Option(
            hidden=True,
            min=1,
            help="Audit in this many parts, each with all calls of its numbers.",
        ),
    ] = None,
    jobs: Annotated[
        int,
        typer.Option(
            hidden=True, min=1, help="How many parts at once, each in a process of its own."
        ),
    ] = 1,
    account_options: AccountOptions,
) -> Answer | None:
    """Check the account's calls against the rules on hours, attempts, Do-Not-Call and consent.

    Reads the local store, with no service or key; run `dialframe sync` first. Every jurisdiction that
    the calls reach is asked; --rules narrows. Ends with status 3 when there are violations. Example:

        dialframe audit --since 2026-10-01 --until 2026-11-01 --rules us,us-fl -o october
    """
    if context.invoked_subcommand is not None:
        return None
    from dialframe.flows import audit as flow
    from dialframe.flows import pack_seal

    # Everything that can be wrong with the options is said before the store is read.
    if tables is None and partitions is not None:
        raise typer.BadParameter("--partitions needs --tables: a store is audited whole")
    moment = instants.instant("--as-of", as_of)
    scope = options.scope(
        since=instants.instant("--since", since),
        until=instants.instant("--until", until),
        fail_on=fail_on,
    )
    if out is not None:
        flow.refuse_occupied(out, replace=replace)
    # Keys come in files: what stands on a command line is in the list of processes.
    secret = None if key is None else pack_seal.read_signing_key(key)
    hidden = None if pseudonyms is None else pack_seal.read_key(pseudonyms)
    if tables is not None:
        if max_age is not None or fresh is not None:
            raise typer.BadParameter(
                "files are asked about no numbers, and do not say when they were read: dialframe audit --max-age and "
                "--fresh are for the store"
            )
        result = flow.audit_tables(
            tables,
            now=partial(datetime.now, UTC),
            scope=scope,
            as_of=moment,
            partitions=partitions,
            jobs=jobs,
            log=_log(account_options),
        )
    else:
        # What is stored is read without an address or a key; only asking about numbers needs the service.
        with (
            account_options.read() if max_age is None else account_options.connect() as account,
            progress() as listen,
        ):
            result = flow.audit(
                account, now=partial(datetime.now, UTC), max_age=max_age, scope=scope, as_of=moment,
                fresh=fresh, on_progress=listen,
            )  # fmt: skip
    # The pack is written after the account is closed: it stands on what was read, and on nothing later.
    files: dict[str, Path] = {}
    if out is not None:
        files = flow.write_pack(
            result, out, key=secret, pseudonyms=hidden, zipped=zipped, pdf=pdf, replace=replace,
            after=after, time_stamp=timestamp,
        )  # fmt: skip
    # Written first: what a screen cannot show is in the pack.
    facts = {**flow.facts(result), "files": {name: str(path) for name, path in files.items()}}
    lines = _lines(result, files)
    return Answer(facts, lines, FINDINGS if _fails(result, fail_on) else OK)


def _log(account_options: AccountOptions) -> EvidenceLog:
    """What the firm knows of numbers, beside the store that an option, the environment or the firm file names."""
    from dialframe.account.connecting import stores_folder
    from dialframe.evidence import EvidenceLog

    return EvidenceLog.beside(stores_folder(account_options.settings))


@command(app, "why")
def why(
    *,
    call_id: Annotated[str, typer.Argument(help="The call.")],
    options: RuleOptions,
    as_of: AsOf = None,
    tables: TablesPlace = None,
    account_options: AccountOptions,
) -> Answer:
    """Show why a call got its grades, step by step.

    Shows the places, the clocks, the rules with the words of the law, the records, and each step of each check.

    Example:
        dialframe audit why call_01J...
    """
    from dialframe.flows import audit as flow

    moment = instants.instant("--as-of", as_of)
    now = partial(datetime.now, UTC)
    if tables is not None:
        result = flow.audit_tables(
            tables, now=now, scope=options.scope(), as_of=moment, log=_log(account_options)
        )
    else:
        with account_options.read() as account:
            result = flow.audit(account, now=now, scope=options.scope(), as_of=moment, keep=False)
    steps = result.why(call_id)
    titles = dict(zip(result.checks["check"], result.checks["title"], strict=True))
    return Answer(
        {"call": call_id, "steps": [step.facts for step in steps]}, _story(steps, titles)
    )


def _story(steps: Sequence[Step], titles: Mapping[str, str]) -> Iterator[str | Table]:
    """The steps of a story; numbers are masked, as on every screen."""
    from dialframe.reports.audit_findings import story_value
    from dialframe.reports.html_page import words

    for step in steps:
        yield f"\n{step.title}"
        if step.text:
            yield f"  {redact(step.text)}"
        for row in step.rows:
            shown = [
                f"{words(name)}: {redact(said)}"
                for name, value in zip(step.columns, row, strict=True)
                if (said := story_value(value, name, titles))
            ]
            yield from (
                (f"  {line}" for line in shown)
                if len(step.rows) == 1
                else [f"  - {'; '.join(shown)}"]
            )


@command(app, "verify")
def verify(
    pack: Annotated[Path, typer.Argument(help="An evidence pack: its folder or its zip file.")],
    public_key: Annotated[
        Path | None,
        typer.Option(
            "--public-key", help="The officer's public key; a pack signed with another key fails."
        ),
    ] = None,
    key: Annotated[
        Path | None, typer.Option(hidden=True, help="Old name of --public-key.")
    ] = None,
    after: After = None,
) -> Answer:
    """Rebuild a pack from its own rules and calls, and compare.

    Everything is compared with the pack and with the installed release; status 3 if anything differs.

    Example:
        dialframe audit verify october
    """
    from dialframe.flows import pack as packs
    from dialframe.flows import pack_seal

    public = public_key or key
    # No account and no key of ours is needed: a third party runs the same command.
    verdict = packs.verify(
        pack, key=None if public is None else pack_seal.read_public_key(public), after=after
    )
    # A pack that was changed is not run.
    remade, differences = packs.remake(pack) if verdict.whole else ([], [])
    facts = {
        "pack": str(pack), "whole": verdict.whole and not differences,
        "faults": [*verdict.faults, *differences], "remade": remade,
        "files": verdict.files, "head": verdict.head, "signed": verdict.signed,
        "proves": verdict.proves, "public_key": verdict.public_key,
        "stamped": verdict.stamped, "before": verdict.before,
    }  # fmt: skip
    lines = [
        f"signature: {verdict.signed}; proven: {verdict.proves}",
        f"{pack}: {verdict.files} files, {'every byte as its manifest says' if verdict.whole else 'changed since the manifest was written'}",
        *(f"{pack}: {fault}" for fault in verdict.faults),
        *remade,
        f"time stamp: {verdict.stamped}",
        f"follows the pack with head {verdict.before}" if verdict.before else "follows no pack",
        *([f"public key {verdict.public_key}"] if verdict.public_key else ()),
        *([f"head {verdict.head}"] if verdict.head else ()),
    ]
    return Answer(facts, lines, OK if facts["whole"] else FINDINGS)


@command(app, "keygen", hidden=True)
def keygen(
    out: Annotated[Path, typer.Option("--out", "-o", help="The file of the key.")] = Path(
        "officer.key"
    ),
) -> Answer:
    """Make a key that signs packs (Ed25519), and beside it the public one for those who verify.

    Example:
        dialframe audit keygen -o officer.key
    """
    from dialframe.flows import pack_seal

    public = pack_seal.keygen(out)
    lines = (
        f"{out}: keep it secret; it signs packs: dialframe audit --key {out} -o PACK",
        f"{public}: for those who verify: dialframe audit verify PACK --public-key {public}",
    )
    return Answer({"key": str(out), "public_key": str(public)}, lines)


@command(app, "diff")
def diff(
    before: Annotated[Path, typer.Argument(help="The earlier pack.")],
    after: Annotated[Path, typer.Argument(help="The later pack.")],
) -> Answer:
    """Show whose grade differs between two packs, and why.

    Example:
        dialframe audit diff october october-again
    """
    from dialframe.flows import evidence_pack_diff

    changes = evidence_pack_diff.compare(before, after)
    facts = {"changes": changes.to_dict("records")}
    if changes.empty:
        return Answer(facts, ["no finding differs"])
    # A finding without a call is about a lead.
    about = changes["call_id"].mask(changes["call_id"] == "", changes["lead_id"])
    columns = ["check", "about", "change", "before", "after", "why", "reason"]
    table = Table.of(changes.assign(about=about)[columns], "Changes")
    because = f"What differs between the two audits: {changes['because'].iloc[0]}"
    return Answer(facts, [table, because])


@command(app, "history", hidden=True)
def history(account_options: AccountOptions) -> Answer:
    """Say which audits were made of the store, over what, and what each said.

    Each is a record of the evidence log; no phone number is in it. Example:

        dialframe audit history
    """
    with account_options.read() as account:
        verdicts = account.store.verdicts()
    audits = [
        {"number": verdict.number, "made_at": verdict.made_at.isoformat(), **verdict.content}
        for verdict in verdicts
    ]
    lines = [] if verdicts else ["no audit was made of this store"]
    for verdict in verdicts:
        content = verdict.content
        period = f"{content['since'] or 'the beginning'} to {content['until'] or 'then'}"
        lines.append(
            f"{verdict.number:>4} {verdict.made_at:%Y-%m-%d %H:%M} UTC, {period}: {content['verdict']}"
        )
    return Answer({"audits": audits}, lines)


def _lines(result: Audit, files: dict[str, Path]) -> Iterator[str | Table]:
    from dialframe.reports import audit_page

    yield from audit_page.answers(result)
    short = {
        "violation": "viol.", "uncertain": "unc.", "not_evaluable": "not eval.",
        "not_asked": "not asked",
    }  # fmt: skip
    counts = audit_page.counts(result).drop(columns=["pass", "verdict"]).rename(columns=short)
    yield Table.of(counts, "Checks")
    yield from _finding_lines(result)
    yield from _coverage_lines(result)
    for sentence in audit_page.gaps(result):
        yield sentence[0].lower() + sentence[1:]
    for each in result.worth:
        yield f"give {each.input}: {each.calls:,} calls are decided ({', '.join(f'{n.replace(chr(95), chr(32))} {c:,}' for n, c in each.checks.items())})"
    for never in result.never_settled:
        since = (
            ""
            if never.provable_from is None
            else f"; calls can be proven from {never.provable_from:%Y-%m-%d} on"
        )
        yield (
            f"never settled: {never.calls:,} calls: {never.why}{since}. "
            f"From now on: {never.from_now_on}"
        )
    missing = audit_page.unanswered(result)
    for row in missing.itertuples():
        help_ = f"; {row.do}" if row.do else ""
        yield f"not evaluable: {row.check}, {row.number:,}: {row.missing}{help_}"
    if files:
        pack = files["manifest"].parent if "report" in files else next(iter(files.values()))
        read = f"read {files['report']}, and " if "report" in files else ""
        yield f"Evidence: {pack}; {read}verify it with: dialframe audit verify {pack}"
    for note in result.notes:
        yield f"note: {note}"


def _finding_lines(result: Audit) -> Iterator[str]:
    """The gravest findings, one paragraph each; violations alone where there are any."""
    from dialframe.reports import audit_page

    findings = result.findings
    grade = findings["grade"].map(_ORDER)
    # The grade first, within it the order of the report.
    order = (grade * 100 + audit_page.in_order(findings["check"])).argsort(kind="stable")
    ordered = findings.iloc[order]
    shown = ordered[ordered["grade"] == "violation"].head(SHOWN)
    if shown.empty:
        shown = ordered[ordered["grade"] == "uncertain"].head(FEW)
    if shown.empty:
        return
    yield f"Findings, gravest first: {len(shown)} of {len(ordered):,}; numbers masked"
    for row in result.masked(shown).itertuples():
        whom = row.phone if isinstance(row.phone, str) else row.campaign_id
        whom = whom if isinstance(whom, str) else ""
        yield f"  {row.grade}: {audit_page.title_of(row.check)}"
        yield f"    {row.at:%Y-%m-%d %H:%M:%S} UTC {whom} {row.reason} ({row.rule_id})"


def _coverage_lines(result: Audit) -> Iterator[str | Table]:
    """Where checks are thin, and what closes the gap."""
    from dialframe.reports import audit_page

    by, due = result.parts.get("coverage_by"), result.parts.get("next_checks")
    if by is None or due is None:
        return
    campaigns = by[by["view"] == "campaign"]
    if len(campaigns):
        names = ["group", "numbers", "fresh", "screened", "stale", "never"]
        shown = campaigns[names].rename(columns={"group": "campaign"})
        yield Table.of(shown, "Do-Not-Call coverage")
    yield audit_page.to_check_sentence(result)
    if len(due):
        # Masked, as on every screen: the pack has them whole.
        few = ", ".join(mask(phone) for phone in due["phone"].head(FEW))
        yield f"first of them: {few}; check them: dialframe audit --max-age 31d"


def _fails(result: Audit, fail_on: FailOn) -> bool:
    """Whether an audit ends with status 3; one of nothing does unless it never may."""
    if fail_on == "never":
        return False
    # Each option counts the grades up to its own.
    order = ["violation", "uncertain", "not_evaluable"]
    last = {"empty": 0, "violation": 1, "uncertain": 2}.get(fail_on, 3)
    return bool(result.gaps) or bool(result.checks[order[:last]].to_numpy().sum())
