"""The whole way through on an embedded sandbox: a list cleaned and imported, an account read, a funnel, an audit."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from importlib import resources
from pathlib import Path
from typing import Final

import pandas as pd

from dialframe import analytics, sandbox
from dialframe.account import Account, SyncReport, connect
from dialframe.analytics import Funnel
from dialframe.compliance import Audit, Question
from dialframe.compliance.practice import Conduct, Cover, Practice
from dialframe.config import OnProgress, Progress, silent
from dialframe.errors import DialframeError
from dialframe.files import folder, write_text
from dialframe.flows import audit as auditing
from dialframe.flows import cleaning_summary, lead_cleaning, lead_import
from dialframe.flows.firm_records import Scope
from dialframe.flows.import_ledger import Ledger
from dialframe.flows.lead_cleaning import Prepared
from dialframe.reports import Page, Section, render, result_sections
from dialframe.reports.audit_findings import headlines

#: The lead file that comes with the package; made by hand, with numbers reserved for fiction.
LEAD_FILE: Final = "us_autumn_campaign.csv"

#: The sandbox answers for one made-up list, which stands for the national registry here.
_REGISTRY: Final = "US National DNC Registry"
_DAY: Final = pd.Timedelta(days=1)


@dataclass(frozen=True, slots=True, eq=False)
class Demo:
    """What the demo found, and where it is written.

    Attributes:
        prepared: The lead file, cleaned and screened.
        ledger: What the service said to each lead.
        synced: What was read of the account.
        funnel: The account's leads by stage.
        audit: The account's calls against the rules.
        campaign: Name of the campaign that the leads were sent to.
        files: Name to path; `report` is the page to open first.
    """

    prepared: Prepared
    ledger: Ledger
    synced: SyncReport
    funnel: Funnel
    audit: Audit
    campaign: str
    files: dict[str, Path]

    @property
    def findings(self) -> tuple[str, ...]:
        """What was found, one sentence each."""
        # Each sentence has the numbers of one step, which balance.
        counts, sent = self.prepared.cleaned.counts, self.ledger.counts
        stages = result_sections.stage_counts(self.funnel)
        rows = {entry.table: entry.rows for entry in self.synced}
        return (
            f"A lead file of {counts['records']:,} records: {counts['clean']:,} clean, "
            f"{counts['rejected']:,} rejected, {counts['duplicates']:,} duplicates, "
            f"{counts['do_not_call']:,} not to be called, {counts['skipped']:,} skipped.",
            f"{sent['sent']:,} leads sent: {sent['accepted']:,} accepted, {sent['refused']:,} refused, "
            f"{sent['unknown']:,} unknown.",
            f"An account of {rows['leads']:,} leads and {rows['calls']:,} calls, read with "
            f"{self.synced.requests:,} requests.",
            f"{stages['attempted']} leads attempted, {stages['human']} reached a person, "
            f"{stages['appointment']} made an appointment.",
            self.audit.verdict,
            *(f"{each.sentence}" for each in headlines(self.audit)),
        )


def demo(
    out: Path,
    *,
    now: Callable[[], datetime],
    size: str = "small",
    seed: int = 7,
    as_of: date | None = None,
    on_progress: OnProgress = silent,
    on_sandbox: Callable[[sandbox.Sandbox], None] | None = None,
) -> Demo:
    """Run everything once against a sandbox of its own, at the contract's own rate limits.

    Args:
        out: Folder for the report, the lead files and the evidence.
        now: The clock, UTC.
        size: Size of the synthetic account.
        seed: Its seed.
        as_of: Day on which its history ends; today in UTC.
        on_progress: Told of every step.
        on_sandbox: Given the sandbox before it is closed, to compare with its ground truth.

    Raises:
        DialframeError: A step failed.
        OSError: The disk is full or the folder cannot be written.
    """
    folder(out)
    on_progress(Progress("sandbox started", 0, 1))
    with (
        # Of this process alone, at a free port, and gone when the demo ends.
        sandbox.start(seed=seed, size=size, as_of=as_of) as service,
        tempfile.TemporaryDirectory(prefix="dialframe-demo-") as store,
        connect(service.base_url, service.api_key, store, environment={}) as account,
    ):
        on_progress(Progress("sandbox started", 1, 1))
        prepared, ledger, written = _bring_in(account, out / "leads", now, on_progress)
        synced = account.sync(on_progress=on_progress)
        audit = auditing.audit(
            account,
            now=now,
            max_age=lead_cleaning.MAX_AGE,
            scope=_scope(account, now()),
            on_progress=on_progress,
        )
        written |= auditing.write_evidence(audit, out / "audit")
        funnel, sentence = _funnel(account, ledger)
        names = account.campaigns().set_index("id")["name"]
        if on_sandbox is not None:
            on_sandbox(service)
    campaign = str(names[ledger.campaign_id])
    result = Demo(prepared, ledger, synced, funnel, audit, campaign, written)
    on_progress(Progress("report written", 0, 1))
    written["report"] = write_text(render(_page(result, sentence)), out / "report.html")
    on_progress(Progress("report written", 1, 1))
    return result


def _scope(account: Account, now: datetime) -> Scope:
    """What the synthetic firm brings: how it calls, whom, from which numbers, with whose consent, checked by whom."""
    calls, leads = account.calls(), account.leads()
    outbound = calls[calls["direction"] == "outbound"]
    shown = outbound["from_number"].dropna().unique()
    # Everybody who was called had agreed to it in writing, on a number that was looked up, before the import.
    known = leads.groupby("phone")["created_at"].min()
    consents = pd.DataFrame(
        {
            "phone": known.index,
            "kind": "written",
            "granted_at": known.to_numpy() - _DAY,
            "record": "web form",
        }
    )
    look_ups = pd.DataFrame(
        {"phone": known.index, "checked_at": known.to_numpy() - _DAY / 24, "result": "no"}
    )
    for table, column in ((consents, "granted_at"), (look_ups, "checked_at")):
        table[column] = pd.to_datetime(table[column], utc=True).astype("datetime64[us, UTC]")
    practice = Practice(
        dialing="manual",
        covers=(Cover(_REGISTRY, "check"), Cover(_REGISTRY, "screen")),
        caller_ids=frozenset(map(str, shown)),
        conduct=Conduct(recorded=False, artificial_voice=False),
        line_types={str(phone): "residential" for phone in known.index},
    )
    return Scope(Question(now=now, practice=practice, consents=consents, look_ups=look_ups))


def _bring_in(
    account: Account, out: Path, now: Callable[[], datetime], on_progress: OnProgress
) -> tuple[Prepared, Ledger, dict[str, Path]]:
    """Clean, screen and import the lead file that comes with the package."""
    packaged = resources.files("dialframe.flows") / "data" / LEAD_FILE
    # Every demo has a service of its own: what an earlier one sent says nothing here.
    for earlier in out.glob(f"{Path(LEAD_FILE).stem}.import.*"):
        earlier.unlink()
    with resources.as_file(packaged) as path:
        brought = lead_import.bring_in(
            [path],
            lead_cleaning.Recipe("US"),
            account,
            campaign_id=_campaign(account),
            out=out,
            now=now,
            in_memory=True,
            on_progress=on_progress,
        )
    assert brought.prepared is not None  # noqa: S101 - frames were asked for
    assert brought.ledger is not None  # noqa: S101 - it was no dry run
    return brought.prepared, brought.ledger, brought.files


def _campaign(account: Account) -> str:
    """The first campaign that takes leads."""
    account.sync(["campaigns"])
    # As the store has them, so that the demo goes the way of every user.
    campaigns = account.campaigns()
    # A campaign that has begun shows more than one in draft.
    for status in reversed(lead_import.IMPORTABLE):
        ids = campaigns.loc[campaigns["status"] == status, "id"]
        if len(ids):
            return str(ids.iloc[0])
    raise DialframeError("no campaign takes leads: pause one, or make one in the console")


def _funnel(account: Account, ledger: Ledger) -> tuple[Funnel, Section]:
    people, calls = account.leads(), account.calls()
    appointments = account.appointments()
    # Leads of a minute ago had no chance yet: among those that had one they would read as failures.
    new = ledger.frame.loc[ledger.frame["outcome"] == "accepted", "lead_id"].dropna()
    people = people[~people["id"].isin(new)]
    whole = analytics.funnel(calls, people, appointments=appointments)
    by_source = analytics.funnel(calls, people, appointments=appointments, by="lead_source")
    return whole, result_sections.campaigns(
        whole, by_source, analytics.dispositions(calls, people).table
    )


def _page(result: Demo, funnel: Section) -> Page:
    cleaned = result.prepared.cleaned
    return Page(
        title="dialframe demo: results",
        header={"As of": f"{result.audit.as_of:%b %-d, %Y %H:%M} UTC", "Account": "synthetic"},
        headlines=headlines(result.audit),
        summary=result.findings[:4],
        sections=(
            result_sections.lead_file(
                cleaned.counts,
                cleaning_summary.reasons(cleaned),
                cleaning_summary.columns(cleaned),
                cleaned.files[0].name,
            ),
            result_sections.imports(result.ledger.counts, result.ledger.reasons, result.campaign),
            funnel,
            *result_sections.audit(result.audit),
        ),
        facts={
            "Account": "synthetic, made by the sandbox; every number is reserved for fiction or reaches nobody",
            "As of": f"{result.audit.as_of:%Y-%m-%d %H:%M} UTC",
            "Taxonomy": result.funnel.taxonomy_version,
            "Rule book": result.audit.rulebook_version,
            "Rule book SHA-256": result.audit.rulebook_sha256,
        },
    )
