"""The coverage dashboard as a widget: shows a `CoverageModel`, verdict first."""

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

from dialframe.plots.style import Look
from dialframe.widgets.coverage_state import GRADES, VIEWS, CoverageModel
from dialframe.widgets.elements import (
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
from dialframe.widgets.file_transfer import Downloads
from dialframe.widgets.jobs import Jobs
from dialframe.widgets.lead_bench import Connect

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
        self.status.observe(self._relook, "look")
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
        self.view.observe(self._regroup, "value")
        self.grade.observe(self._filter, "value")
        self.coverage, self.findings, self.stale, self.counts = html(), html(), html(), html()
        self.finding_turns = turns(self._turn_findings)
        self.stale_turns = turns(self._turn_stale)
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

    def _regroup(self, _: object) -> None:
        self.model.view = self.view.value
        self._draw_safely()

    def _filter(self, _: object) -> None:
        self.model.grade, self.model.page = self.grade.value or None, 0
        self._draw_safely()

    def _turn_findings(self, step: int) -> None:
        self.model.page = self.model.findings().number + step
        self._draw_safely()

    def _turn_stale(self, step: int) -> None:
        self.model.stale_page = self.model.stale().number + step
        self._draw_safely()

    def _relook(self, change: dict[str, Look]) -> None:
        self.model.look = change["new"]
        self._draw_safely()

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
