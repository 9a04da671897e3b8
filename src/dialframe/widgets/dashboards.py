"""The funnel explorer and the compliance dashboard as widgets: they show a model and pass on what is chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from html import escape
from pathlib import Path
from typing import Final

import ipywidgets as W  # noqa: N812 - its own documentation calls it so
import pandas as pd
import traitlets

from dialframe.errors import ConfigError
from dialframe.widgets.dashboard_models import (
    GRADES,
    VIEWS,
    CoverageModel,
    FunnelModel,
    FunnelState,
)
from dialframe.widgets.file_transfer import Downloads
from dialframe.widgets.html_and_controls import (
    Panel,
    bullets,
    button,
    drawing,
    field,
    html,
    paragraph,
    row,
    snapshot,
    table,
    tabs,
    turned,
    turns,
)
from dialframe.widgets.jobs import Jobs
from dialframe.widgets.lead_workbench_model import Connect

#: How stages follow each other, in words and as analytics.funnel takes it.
_ORDERS = (
    ("in this order", "ordered"),
    ("without a call between", "strict"),
    ("in any order", "any"),
)


class FunnelExplorer(Panel):
    """A funnel by campaigns, dates and breakdown: a picture, and the same numbers as a table.

    Attributes:
        model: What is shown.
        campaigns, since, until, by, order, window: What is asked; `show` asks it.
        saved: The state as JSON; `load` takes what is written there.
        picture, numbers, notes: What came of it.
        query: The state as an address says it.
    """

    model: FunnelModel
    query = traitlets.Unicode("")

    def __init__(
        self, model: FunnelModel, *, state: FunnelState | None = None, jobs: Jobs | None = None
    ) -> None:
        """Explore a model's frames, beginning with a state."""
        super().__init__(jobs)
        self.model = model
        self._make_choices()
        self.picture, self.numbers, self.notes = html(), html(), html()
        self.tabs = tabs(
            [
                self.picture,
                self.numbers,
                W.VBox([self.notes, row(self.saved, self.load), self.link]),
            ],
            ["Picture", "Numbers", "Notes and state"],
        )
        self.children = [
            self.status,
            self.running,
            row(self.campaigns, W.VBox([self.since, self.until, self.by])),
            row(self.order, self.window),
            row(self.show, self.reset),
            self.tabs,
        ]
        self.status.observe(lambda event: self.change(look=event["new"]), "look")
        begin = state or model.state
        self.act(lambda: self.model.choose(begin))

    def _make_choices(self) -> None:
        named = [(name, campaign_id) for campaign_id, name in self.model.campaigns.items()]
        self.campaigns = field(W.SelectMultiple(description="Campaigns", options=named, rows=5))
        self.since = field(W.DatePicker(description="From (UTC)"))
        self.until = field(W.DatePicker(description="To (UTC)"))
        split = [
            ("nothing", ""),
            *((field.replace("_", " "), field) for field in self.model.breakdowns),
        ]
        self.by = field(W.Dropdown(description="Split by", options=split))
        self.order = field(W.Dropdown(description="Stages", options=_ORDERS))
        self.window = field(W.Text(description="Window, days", placeholder="any time"))
        self.saved = field(W.Text(description="State"))
        self.load = button("Load state", "Ask what is written beside this button")
        self.link = html()
        self.show = button("Show", "Draw the funnel that is chosen here", main=True)
        self.reset = button("Start over", "All campaigns, all dates, nothing split")
        self.show.on_click(lambda _: self.act(lambda: self.model.choose(self.chosen())))
        self.load.on_click(
            lambda _: self.act(lambda: self.model.choose(FunnelState.from_json(self.saved.value)))
        )
        self.reset.on_click(lambda _: self.act(lambda: self.model.choose(FunnelState())))

    def chosen(self) -> FunnelState:
        """Read the controls.

        Returns:
            The state that they stand for.

        Raises:
            ConfigError: The window is no number, or the days are the wrong way round.
        """
        # Empty is any time; nought would be none.
        days = self.window.value.strip()
        return FunnelState(
            campaigns=tuple(self.campaigns.value),
            since=self.since.value,
            until=self.until.value,
            by=self.by.value or None,
            order=self.order.value,
            window_days=whole(days) if days else None,
        )

    def ask(self, query: str) -> None:
        """Show the funnel of an address; where the address is wrong, say so and change nothing.

        Args:
            query: The query of the address, as of `FunnelState.to_query`.
        """
        self.act(lambda: self.model.choose(FunnelState.from_query(query)))

    def draw(self) -> None:
        """Show the model as it is."""
        state = self.model.state
        campaigns = set(self.model.campaigns)
        # A saved state may name a campaign that is gone.
        self.campaigns.value = tuple(
            campaign_id for campaign_id in state.campaigns if campaign_id in campaigns
        )
        self.since.value, self.until.value = state.since, state.until
        self.by.value = state.by if state.by in self.model.breakdowns else ""
        self.order.value = state.order
        self.window.value = "" if state.window_days is None else str(state.window_days)
        self.saved.value = state.to_json()
        self.query = state.to_query()
        self.link.value = paragraph(f"In the page's address: ?tab=funnel&{state.to_query()}")
        funnel = self.model.result()
        self.picture.value = drawing(self.model.picture())
        self.numbers.value = table("Leads by stage", self.model.table())
        self.notes.value = bullets(
            filter(None, [self.model.freshness, *funnel.warnings, *funnel.explain().splitlines()])
        )

    def snapshot(self) -> str:
        """What a viewer without widgets shows.

        Returns:
            HTML: the picture with its alternative text, and its numbers.
        """
        return snapshot(
            "Funnel explorer",
            [self.model.picture().html(), table("Leads by stage", self.model.table())],
        )


def whole(text: str) -> int:
    """A whole number that was typed.

    Raises:
        ConfigError: It is none.
    """
    if not (text.isascii() and text.isdigit()):
        raise ConfigError(f"{text!r} is no number of days; leave it empty for any time")
    return int(text)


_NOW: Final = partial(datetime.now, UTC)


class CoverageDashboard(Panel):
    """Calls held against the rules: the verdict, coverage by group, findings with their proof, what to check.

    Attributes:
        model: What is shown.
        rules, audit: Which rules; `audit` holds the store against them.
        check: Asks the service about every number that is stale or unchecked.
        view, grade: Grouping of the coverage, filter of the findings.
        name, export: Name of the evidence pack; `export` writes it.
        downloads: What was written.
    """

    model: CoverageModel

    def __init__(
        self,
        connect: Connect,
        *,
        folder: str | Path = ".",
        now: Callable[[], datetime] = _NOW,
        jobs: Jobs | None = None,
    ) -> None:
        """A dashboard.

        Args:
            connect: Opens the account.
            folder: Writes inside this folder alone.
            now: The clock, UTC.
            jobs: What runs the work; by default a thread beside the page.
        """
        super().__init__(jobs)
        self.model = CoverageModel(connect, now, Path(folder))
        self._make_actions()
        self._make_results()
        self.children = [
            self.status, self.running, self.verdict, row(self.rules, self.audit, self.check),
            self.tabs,
        ]  # fmt: skip
        self.status.observe(lambda event: self.change(look=event["new"]), "look")
        self.say("Press Audit to hold the stored calls against the rules.")
        self.draw()

    def _make_actions(self) -> None:
        self.verdict = html()
        self.rules = field(W.Text(description="Rules", placeholder="all, or us, us-fl, gb"))
        self.audit = button("Audit", "Hold the stored calls against the rules", main=True)
        self.check = button("Check them now", "Ask the service about every number that is stale")
        self.name = field(W.Text(description="Pack", value="evidence.zip"))
        self.export = button("Write evidence pack", "Findings, proof and manifest as one file")
        self.audit.on_click(lambda _: self.run(self._audit))
        self.check.on_click(lambda _: self.run(self.model.check))
        self.export.on_click(
            lambda _: self.run(partial(self.model.export, self.name.value.strip()))
        )

    def _make_results(self) -> None:
        self.view = field(W.Dropdown(description="Group by", options=VIEWS))
        self.grade = field(
            W.Dropdown(description="Grade", options=[("all", ""), *((g, g) for g in GRADES)])
        )
        self.view.observe(lambda _: self.change(view=self.view.value), "value")
        self.grade.observe(lambda _: self.change(grade=self.grade.value or None, page=0), "value")
        self.coverage, self.findings, self.stale, self.counts = html(), html(), html(), html()
        self.finding_turns = turns(
            lambda step: self.change(page=self.model.findings().number + step)
        )
        self.stale_turns = turns(
            lambda step: self.change(stale_page=self.model.stale().number + step)
        )
        self.downloads = Downloads()
        self.tabs = tabs(
            [
                W.VBox([self.view, self.coverage]),
                W.VBox([self.grade, row(*self.finding_turns), self.findings]),
                W.VBox([row(*self.stale_turns), self.stale]),
                self.counts,
                W.VBox([row(self.name, self.export), self.downloads]),
            ],
            ["Coverage", "Findings", "To check", "Checks", "Evidence"],
        )

    def _audit(self, listen: Callable[..., None]) -> str:
        self.model.rules = self.rules.value
        return self.model.make(listen)

    def draw_running(self) -> None:
        """Grey out what cannot be clicked now."""
        is_audited = self.model.audit is not None
        self.audit.disabled = self.jobs.running
        self.check.disabled = self.export.disabled = self.jobs.running or not is_audited

    def draw(self) -> None:
        """Show the model as it is."""
        self.draw_running()
        if self.model.audit is None:
            self.verdict.value = "<p><b>Nothing was audited yet.</b></p>"
            return
        self.verdict.value = f"<p><b>{escape(self.model.audit.verdict)}</b></p>"
        self.coverage.value = drawing(self.model.picture()) + self._groups()
        findings, next_ = self.model.findings(), self.model.stale()
        findings = replace(findings, rows=proofs(findings.rows, self.model.campaigns))
        next_ = replace(next_, rows=next_.rows.round({"age_days": 1}))
        turned(findings, "Findings", self.findings, self.finding_turns)
        turned(next_, "To check next", self.stale, self.stale_turns)
        self.counts.value = self._checks()
        self.downloads.offer(self.model.written)

    def _groups(self) -> str:
        groups = self.model.groups()
        shares = groups["share"].map("{:.1%}".format, na_action="ignore").str.replace("%", " %")
        return table(f"Coverage by {self.model.view}", groups.assign(share=shares))

    def _checks(self) -> str:
        assert self.model.audit is not None  # noqa: S101 - asked by the caller
        names = ["title", "unit", "checked", "pass", "violation", "uncertain", "not_evaluable"]
        counts = table("Checks", self.model.audit.checks[names])
        sentences = self.model.audit.checks[["title", "sentence"]].itertuples(index=False)
        lines = [f"{title}: {sentence}." for title, sentence in sentences]
        return counts + bullets([*lines, *self.model.audit.notes])

    def snapshot(self) -> str:
        """What a viewer without widgets shows.

        Returns:
            HTML: the verdict, the coverage and the checks, numbers masked.
        """
        if self.model.audit is None:
            return snapshot("Coverage dashboard", [paragraph("Nothing was audited yet.")])
        drawn = self.model.picture().html()
        parts = [paragraph(self.model.audit.verdict), drawn, self._groups(), self._checks()]
        return snapshot("Coverage dashboard", parts)


def proofs(findings: pd.DataFrame, campaigns: Mapping[str, str]) -> pd.DataFrame:
    """Findings as a person reads them: `check, grade, phone, campaign, when, reason, proof`.

    `when` is the local time of the called party with its zone where that is known, and UTC where not.
    """
    # Where no zone of the called party is known.
    at = findings["at"].dt.strftime("%Y-%m-%d %H:%M UTC")
    return pd.DataFrame(
        {
            "check": findings["check"].str.replace("_", " "),
            "grade": findings["grade"],
            "phone": findings["phone"],
            "campaign": findings["campaign_id"].map(lambda each: campaigns.get(each, each)),
            "when": findings["local_times"].str.replace("T", " ").where(
                findings["local_times"].notna(), at
            ),
            "reason": findings["reason"],
            "proof": findings["evidence"].fillna("none").str.cat(
                findings["citation"].fillna("no citation"), sep="; "
            ),
        }
    )  # fmt: skip
