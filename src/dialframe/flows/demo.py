"""The whole way through on an embedded sandbox: a list cleaned and imported, an account read, a funnel, an audit."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from importlib import resources
from pathlib import Path
from typing import Final

from dialframe import analytics, sandbox
from dialframe.account import Account, SyncReport, connect
from dialframe.analytics import Funnel, Result
from dialframe.compliance import Audit, Question
from dialframe.config import OnProgress, Progress, silent
from dialframe.errors import DialframeError
from dialframe.files import folder, write_text
from dialframe.flows import audit as auditing
from dialframe.flows import cleaning_summary, demo_firm, firm_records, lead_cleaning, lead_import
from dialframe.flows.import_ledger import Ledger
from dialframe.flows.lead_cleaning import Prepared
from dialframe.reports import Page, Section, lead_list_page, render, result_sections
from dialframe.reports.audit_findings import headlines

#: The lead file that comes with the package; made by hand, with numbers reserved for fiction.
LEAD_FILE: Final = "us_autumn_campaign.csv"

#: Days of the forecast, and the history that it is made from.
_DAYS_AHEAD: Final = 14
_HISTORY: Final = timedelta(days=56)


@dataclass(frozen=True, slots=True, eq=False)
class Demo:
    """What the demo found, and where it is written.

    Attributes:
        prepared: The lead file, cleaned and screened.
        ledger: What the service said to each lead.
        synced: What was read of the account.
        funnel: The account's leads by stage.
        forecast: People who will be reached in the next days.
        audit: The account's calls against the rules.
        campaign: Name of the campaign that the leads were sent to.
        files: Name to path; `report` is the page to open first.
    """

    prepared: Prepared
    ledger: Ledger
    synced: SyncReport
    funnel: Funnel
    forecast: Result
    audit: Audit
    campaign: str
    files: dict[str, Path]

    @property
    def findings(self) -> tuple[str, ...]:
        """What was found, one sentence each."""
        # Each sentence has the numbers of one step, which balance.
        counts, sent = self.prepared.cleaned.counts, self.ledger.counts
        rows = {entry.table: entry.rows for entry in self.synced}
        return (
            f"The lead file has {lead_list_page.sentence(counts)}.",
            f"{sent['sent']:,} leads sent: {sent['accepted']:,} accepted, {sent['refused']:,} refused, "
            f"{sent['unknown']:,} unknown.",
            f"An account of {rows['leads']:,} leads and {rows['calls']:,} calls, read with "
            f"{self.synced.requests:,} requests.",
            *_questions(self.prepared),
            self.funnel.sentence,
            f"The busiest campaign: {self.forecast.answer.removesuffix('.')}.",
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
        # What the firm says of itself and keeps as evidence, in a folder as anybody has one.
        written["firm"] = demo_firm.write(
            out / "firm", account, service.ground_truth(), firm_records.registries()
        )
        scope, _ = firm_records.scope_of(out / "firm", Question(now=now()))
        audit = auditing.audit(
            account,
            now=now,
            max_age=lead_cleaning.MAX_AGE,
            scope=scope,
            on_progress=on_progress,
        )
        written |= auditing.write_evidence(audit, out / "audit")
        funnel, forecast, sections = _performance(account, ledger)
        names = account.campaigns().set_index("id")["name"]
        if on_sandbox is not None:
            on_sandbox(service)
    campaign = str(names[ledger.campaign_id])
    result = Demo(prepared, ledger, synced, funnel, forecast, audit, campaign, written)
    on_progress(Progress("report written", 0, 1))
    written["report"] = write_text(render(_page(result, sections)), out / "report.html")
    on_progress(Progress("report written", 1, 1))
    return result


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


def _questions(prepared: Prepared) -> Iterator[str]:
    """Each question that the list left open, in a sentence."""
    for question in (each for file in prepared.cleaned.files for each in file.questions):
        yield (
            f"A question is open: what does “{question.phrase}” in the column {question.column} mean? Until "
            "somebody says, the record is held."
        )


def _performance(
    account: Account, ledger: Ledger
) -> tuple[Funnel, Result, tuple[Section, Section]]:
    people, calls = account.leads(), account.calls()
    appointments = account.appointments()
    # Leads of a minute ago had no chance yet: among those that had one they would read as failures.
    new = ledger.frame.loc[ledger.frame["outcome"] == "accepted", "lead_id"].dropna()
    people = people[~people["id"].isin(new)]
    whole = analytics.funnel(calls, people, appointments=appointments)
    by_source = analytics.funnel(calls, people, appointments=appointments, by="lead_source")
    # Of the campaign that dials most; the weeks before count least in a forecast of days, and cost most.
    recent = calls["created_at"].max() - _HISTORY
    campaign = str(calls["campaign_id"].value_counts().idxmax())
    forecast = analytics.forecast(
        calls, days=_DAYS_AHEAD, campaign=campaign, since=recent.to_pydatetime()
    )
    mix = analytics.dispositions(calls, people).table
    return (
        whole, forecast,
        (result_sections.campaigns(whole, by_source, mix), _forecast(forecast)),
    )  # fmt: skip


def _forecast(result: Result) -> Section:
    return Section(
        title="Forecast",
        finding=f"The busiest campaign: {result.answer.removesuffix('.')}.",
        sheets=(
            result_sections.sheet("People reached each day, with bands", result.tables["days"]),
        ),
        notes=result.warnings,
        counted=(result.definition,),
    )


def _of_room(room: str, *sections: Section) -> Iterator[Section]:
    for each in sections:
        yield replace(each, title=f"{room}: {each.title}")


def _page(result: Demo, performance: Sequence[Section]) -> Page:
    cleaned = result.prepared.cleaned
    return Page(
        title="dialframe demo: results",
        header={"As of": f"{result.audit.as_of:%b %-d, %Y %H:%M} UTC", "Account": "synthetic"},
        headlines=headlines(result.audit),
        summary=tuple(result.findings[: -len(headlines(result.audit)) - 1]),
        # In the order of the web app, whose rooms are named.
        sections=(
            *_of_room(
                "Lists",
                result_sections.lead_file(
                    cleaned.counts,
                    cleaning_summary.reasons(cleaned),
                    cleaning_summary.columns(cleaned),
                    cleaned.files[0].name,
                ),
                result_sections.imports(
                    result.ledger.counts, result.ledger.reasons, result.campaign
                ),
            ),
            *_of_room("Performance", *performance),
            *_of_room("Compliance", *result_sections.audit(result.audit)),
        ),
        facts={
            "Account": "synthetic, made by the sandbox; every number is reserved for fiction or reaches nobody",
            "As of": f"{result.audit.as_of:%Y-%m-%d %H:%M} UTC",
            "Taxonomy": result.funnel.taxonomy_version,
            "Rule book": result.audit.rulebook_version,
            "Rule book SHA-256": result.audit.rulebook_sha256,
        },
    )
