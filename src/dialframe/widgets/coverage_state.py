"""The coverage dashboard without a widget: an audit with its verdict, coverage by group, what to check next."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

import pandas as pd

from dialframe import compliance, plots
from dialframe.analytics.result.result_tables import campaign_names
from dialframe.compliance import Audit
from dialframe.compliance.dnc import Dashboard
from dialframe.config import OnProgress, silent
from dialframe.errors import ConfigError
from dialframe.flows import audit as auditing
from dialframe.flows import firm_records
from dialframe.plots import Picture
from dialframe.plots.style import Look
from dialframe.widgets.cleaning_findings import Page, masked, page_of
from dialframe.widgets.lead_bench import Connect
from dialframe.widgets.work_folder import inside, write_manifest

#: How coverage can be grouped.
VIEWS: Final = ("campaign", "source", "state", "week")
GRADES: Final = ("violation", "uncertain", "not evaluable")
_PROOF: Final = (
    "check", "grade", "phone", "campaign_id", "at", "local_times", "reason", "evidence", "citation",
)  # fmt: skip
_GROUPS_DRAWN: Final = 20


@dataclass(slots=True, eq=False)
class CoverageModel:
    """The state of a coverage dashboard.

    Attributes:
        connect: Opens the account.
        now: The clock, UTC.
        folder: The only folder that is written to.
        rules: Jurisdictions or rule ids, separated by commas; empty for all.
        view: Grouping of the coverage: campaign, source, state or week.
        grade: Grade that the findings are filtered by; None for all.
        page: Page of the findings, from 0.
        stale_page: Page of the numbers to check, from 0.
        look: Light or dark pictures.
        audit: The audit, once it was made.
        dashboard: Its coverage by group.
        campaigns: Campaign id to its name.
        written: Files of the evidence pack by name, once it is written.
    """

    connect: Connect
    now: Callable[[], datetime]
    folder: Path
    rules: str = ""
    view: str = "campaign"
    grade: str | None = None
    page: int = 0
    stale_page: int = 0
    look: Look = "light"
    audit: Audit | None = None
    dashboard: Dashboard | None = None
    campaigns: Mapping[str, str] = field(default_factory=dict)
    written: dict[str, Path] = field(default_factory=dict)
    _masked: pd.DataFrame | None = field(default=None, repr=False)

    def make(self, on_progress: OnProgress = silent) -> str:
        """Audit the stored calls, and measure the coverage.

        Args:
            on_progress: Called as the work goes on.

        Returns:
            A sentence for the status line.

        Raises:
            StoreError: Calls or leads were never synced.
            ConfigError: A jurisdiction is not in the book.
        """
        asked = [each.strip() for each in self.rules.split(",") if each.strip()]
        scope = firm_records.Scope(rules=asked or None)
        with self.connect() as account:
            audit = auditing.audit(account, now=self.now, scope=scope, on_progress=on_progress)
            self.campaigns = campaign_names(account.campaigns())
            self.dashboard = compliance.dnc.dashboard(
                audit.coverage, account.leads(), account.calls(), campaigns=self.campaigns
            )
        self.audit, self._masked, self.written = audit, None, {}
        self.page = self.stale_page = 0
        return f"Audited {int(audit.checks['checked'].sum()):,} tests; the verdict is below."

    def check(self, on_progress: OnProgress = silent) -> str:
        """Check every number that is stale or unchecked at the service, store its answers, and audit again.

        Args:
            on_progress: Called as the work goes on.

        Returns:
            A sentence for the status line.

        Raises:
            ConfigError: Nothing was audited yet.
            ApiError: The service refused.
        """
        numbers = self._made()[1].next["phone"]
        with self.connect() as account:
            account.check_dnc(numbers, on_progress=on_progress)
        return f"{len(numbers):,} numbers checked. {self.make(on_progress)}"

    def export(self, name: str = "evidence.zip", on_progress: OnProgress = silent) -> str:
        """Write the evidence pack, whole numbers in it, inside the folder.

        Args:
            name: Name of the file; it ends with `.zip`.
            on_progress: Called as the work goes on.

        Returns:
            A sentence for the status line.

        Raises:
            ConfigError: Nothing was audited yet, the name is outside the folder or no name of a
                pack, or something is in the way.
        """
        del on_progress
        audit, _ = self._made()
        path = inside(self.folder, name)
        if path.suffix != ".zip":
            raise ConfigError(f"{name!r} is no name of a pack; end it with .zip")
        written = auditing.write_pack(audit, path, replace=True)
        self.written = write_manifest({"evidence": written["zip"]})
        return f"Written: {path.name}, for authorized eyes: numbers in it are whole."

    def groups(self) -> pd.DataFrame:
        """Coverage of the view.

        Returns:
            Columns `group, numbers, fresh, screened, stale, never, share`, one row each group.
        """
        by = self._made()[1].by
        return by[by["view"] == self.view].drop(columns="view").reset_index(drop=True)

    def picture(self) -> Picture:
        """The largest groups drawn; the table has them all.

        Returns:
            The picture with its alternative text.
        """
        most = self.groups().nlargest(_GROUPS_DRAWN, "numbers")
        return plots.coverage(most, look=self.look)

    def findings(self) -> Page:
        """Findings with their proof, gravest first.

        Returns:
            The page that `page` names, numbers masked.
        """
        whole = self._findings()
        selected = whole if self.grade is None else whole[whole["grade"] == self.grade]
        return page_of(selected, self.page, noun="findings", whole=len(whole))

    def stale(self) -> Page:
        """Numbers to check next, those that may be called first.

        Returns:
            The page that `stale_page` names, numbers masked.
        """
        whole = self._made()[1].next
        page = page_of(whole, self.stale_page, noun="numbers stale or never checked")
        return masked(page, "phone")

    def _findings(self) -> pd.DataFrame:
        if self._masked is None:
            frame = self._made()[0].masked()
            order = frame["grade"].map({grade: at for at, grade in enumerate(GRADES)})
            self._masked = frame.iloc[order.argsort(kind="stable")][list(_PROOF)]
        return self._masked

    def _made(self) -> tuple[Audit, Dashboard]:
        if self.audit is None or self.dashboard is None:
            raise ConfigError("nothing was audited yet; press Audit first")
        return self.audit, self.dashboard
