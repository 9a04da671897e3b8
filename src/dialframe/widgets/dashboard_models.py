"""The funnel explorer and the compliance dashboard without a widget: what is chosen, and what it shows."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any, Final, Literal, cast, get_args
from urllib.parse import parse_qs, urlencode

import pandas as pd

from dialframe import analytics, compliance, plots
from dialframe.account import Account
from dialframe.analytics import Funnel
from dialframe.analytics.claims_and_tables import campaign_names
from dialframe.compliance import Audit
from dialframe.compliance.dnc import Dashboard
from dialframe.config import OnProgress, silent
from dialframe.errors import ConfigError
from dialframe.flows import audit as auditing
from dialframe.flows import firm_records
from dialframe.plots import Picture
from dialframe.plots.style import Look
from dialframe.widgets.cleaning_findings import Page, masked, page_of
from dialframe.widgets.jobs import step
from dialframe.widgets.lead_workbench_model import Connect
from dialframe.widgets.work_folder import inside, write_manifest

Order = Literal["ordered", "strict", "any"]
#: Breakdowns that every account has; custom fields of its leads come behind them.
BREAKDOWNS: Final = ("campaign_id", "region")
#: Different custom fields that are looked through for breakdowns.
_FIELDS_SEARCHED: Final = 2000


@dataclass(frozen=True, slots=True)
class FunnelState:
    """What a funnel is asked; equal states show equal funnels.

    Attributes:
        campaigns: Ids of the campaigns, empty for all.
        since: First day (UTC) whose calls count, or None.
        until: Last day (UTC) whose calls count, or None.
        by: Breakdown: `campaign_id`, `region` or a custom field; None for none.
        order: How stages must follow each other.
        window_days: Days from import in which everything must happen, or None.
    """

    campaigns: tuple[str, ...] = ()
    since: date | None = None
    until: date | None = None
    by: str | None = None
    order: Order = "ordered"
    window_days: int | None = None

    def __post_init__(self) -> None:
        if self.order not in get_args(Order):
            raise ConfigError(
                f"order={self.order!r} is not known; use {', '.join(get_args(Order))}"
            )
        if self.window_days is not None and self.window_days < 1:
            raise ConfigError(f"a window of {self.window_days} days is none; use 1 or more")
        if self.since and self.until and self.until < self.since:
            raise ConfigError(f"{self.until} is before {self.since}; swap the days")

    def to_json(self) -> str:
        """Write the state as JSON.

        Returns:
            The text, for `from_json`.
        """
        return json.dumps(asdict(self), default=str)

    @classmethod
    def from_json(cls, text: str) -> FunnelState:
        """Read a state that was saved.

        Args:
            text: What `to_json` gave.

        Returns:
            The state.

        Raises:
            ConfigError: The text is no saved state.
        """
        try:
            return cls._of(json.loads(text))
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            if isinstance(error, ConfigError):
                raise
            raise ConfigError(
                "this is no saved state of a funnel; make one with to_json"
            ) from None

    def to_query(self) -> str:
        """Write the state as the query of an address.

        Returns:
            Only what differs from the default; an empty text for the default.
        """
        pairs = [("campaign", each) for each in self.campaigns]
        named = {"since": self.since, "until": self.until, "by": self.by, "window": self.window_days,
                 "order": None if self.order == "ordered" else self.order}  # fmt: skip
        return urlencode(
            [*pairs, *((name, str(choice)) for name, choice in named.items() if choice)]
        )

    @classmethod
    def from_query(cls, query: str) -> FunnelState:
        """Read the state from the query of an address; parameters of others are left alone.

        Args:
            query: The query, without `?`.

        Returns:
            The state.

        Raises:
            ConfigError: A day, a number or the order is not valid.
        """
        values_by_name = parse_qs(query)
        first_values = {name: values[0] for name, values in values_by_name.items()}
        settings: dict[str, Any] = {
            name: first_values[name]
            for name in ("since", "until", "by", "order")
            if name in first_values
        }
        try:
            window = int(first_values["window"]) if "window" in first_values else None
            return cls._of(
                {
                    **settings,
                    "campaigns": values_by_name.get("campaign", ()),
                    "window_days": window,
                }
            )
        except ValueError as error:
            if isinstance(error, ConfigError):
                raise
            raise ConfigError("the address names a day or a number that is none") from None

    @classmethod
    def _of(cls, saved: Mapping[str, Any]) -> FunnelState:
        since, until = saved.get("since"), saved.get("until")
        return cls(
            campaigns=tuple(map(str, saved.get("campaigns") or ())),
            since=date.fromisoformat(since) if since else None,
            until=date.fromisoformat(until) if until else None,
            by=saved.get("by") or None,
            order=cast("Order", saved.get("order", "ordered")),
            window_days=saved.get("window_days"),
        )


@dataclass(slots=True, eq=False)
class FunnelModel:
    """Frames of an account, and the funnel of a state.

    Attributes:
        leads: Frame of the leads table.
        calls: Frame of the calls table.
        appointments: Frame of the appointments table, or None.
        campaigns: Campaign id to its name.
        state: What is asked.
        look: Light or dark pictures.
        freshness: How fresh the frames are, in words.
    """

    leads: pd.DataFrame = field(repr=False)
    calls: pd.DataFrame = field(repr=False)
    appointments: pd.DataFrame | None = field(default=None, repr=False)
    campaigns: Mapping[str, str] = field(default_factory=dict)
    state: FunnelState = field(default_factory=FunnelState)
    look: Look = "light"
    freshness: str = ""
    _last: tuple[FunnelState, Funnel] | None = field(default=None, repr=False)

    @classmethod
    def of(cls, account: Account) -> FunnelModel:
        """Read an account's stored tables.

        Args:
            account: The account.

        Returns:
            The model, with its first funnel still to be counted.

        Raises:
            StoreError: The store cannot be read.
        """
        calls = account.calls()
        return cls(
            account.leads(),
            calls,
            account.appointments(),
            campaign_names(account.campaigns()),
            freshness=str(calls.attrs.get("dialframe", {}).get("sentence", "")),
        )

    @property
    def breakdowns(self) -> tuple[str, ...]:
        """What a funnel can be split by."""
        named: dict[str, None] = {}
        for text in self.leads["custom_fields"].dropna().unique()[:_FIELDS_SEARCHED]:
            named |= dict.fromkeys(json.loads(text))
        columns = set(self.leads.columns)
        return (*BREAKDOWNS, *sorted(name for name in named if name not in columns))

    def result(self) -> Funnel:
        """Count the funnel of the state.

        Returns:
            The funnel; the same object until the state changes.

        Raises:
            ConfigError: No lead has this campaign or this breakdown.
        """
        state = self.state
        if self._last is not None and self._last[0] == state:
            return self._last[1]
        leads, calls, campaign = self.leads, self.calls, None
        if len(state.campaigns) == 1:
            # One is asked by its id, so that one without leads is an empty funnel and no error.
            campaign = state.campaigns[0]
        elif state.campaigns:
            leads = leads[leads["campaign_id"].isin(state.campaigns)]
            calls = calls[calls["campaign_id"].isin(state.campaigns)]
        funnel = analytics.funnel(
            calls,
            leads,
            appointments=self.appointments,
            campaign=campaign,
            by=state.by,
            order=state.order,
            window=None if state.window_days is None else timedelta(days=state.window_days),
            since=_midnight(state.since),
            until=None if state.until is None else _midnight(state.until + timedelta(days=1)),
        )
        self._last = (state, funnel)
        return funnel

    def picture(self) -> Picture:
        """Draw the funnel.

        Returns:
            The picture with its alternative text.

        Raises:
            ConfigError: As for `result`.
        """
        funnel = self.result().renamed(self.campaigns)
        draw = plots.funnel if funnel.by is None else plots.funnel_by
        return draw(funnel, look=self.look)

    def table(self) -> pd.DataFrame:
        """The numbers that are drawn.

        Returns:
            One row each stage: its count, and its shares with their confidence intervals.

        Raises:
            ConfigError: As for `result`.
        """
        return self.result().renamed(self.campaigns).table.drop(columns="definition")

    def choose(self, state: FunnelState) -> str:
        """Change the state, and count its funnel.

        Args:
            state: The new state.

        Returns:
            A sentence for the status line.

        Raises:
            ConfigError: As for `result`; the state stays as it was.
        """
        before = self.state
        self.state = state
        try:
            funnel = self.result()
        except Exception:
            self.state = before
            raise
        # Of all groups together, as the status line has one number.
        counts = funnel.table.groupby("stage", sort=False)["count"].sum()
        first, last = counts.index[0], counts.index[-1]
        return f"{counts[first]:,} leads {first}, {counts[last]:,} reached an {last}."


def _midnight(day: date | None) -> datetime | None:
    return None if day is None else datetime.combine(day, time(), UTC)


#: How coverage can be grouped.
VIEWS: Final = ("campaign", "source", "state", "week")
#: Grades that are findings, the gravest first.
GRADES: Final = ("violation", "uncertain", "not evaluable")
#: What a finding is shown with, so that it can be checked.
_PROOF: Final = (
    "check", "grade", "phone", "campaign_id", "at", "local_times", "reason", "evidence", "citation",
)  # fmt: skip
#: Bars of one picture.
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

    @step
    def make(self, on_progress: OnProgress = silent) -> str:
        """Audit the stored calls, and measure the coverage.

        Raises:
            StoreError: Calls or leads were never synced.
            ConfigError: A jurisdiction is not in the book.
        """
        # Blanks behind a comma are typed by people.
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

    @step
    def check(self, on_progress: OnProgress = silent) -> str:
        """Check every number that is stale or unchecked at the service, store its answers, and audit again.

        Raises:
            ConfigError: Nothing was audited yet.
            ApiError: The service refused.
        """
        numbers = self._made()[1].next["phone"]
        with self.connect() as account:
            account.check_dnc(numbers, on_progress=on_progress)
        return f"{len(numbers):,} numbers checked. {self.make(on_progress)}"

    @step
    def export(self, name: str = "evidence.zip", on_progress: OnProgress = silent) -> str:
        """Write the evidence pack, whole numbers in it, inside the folder.

        Args:
            name: Name of the file; it ends with `.zip`.

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
        # More bars than these cannot be read.
        most = self.groups().nlargest(_GROUPS_DRAWN, "numbers")
        return plots.coverage(most, look=self.look)

    def findings(self) -> Page:
        """Findings with their proof, gravest first.

        Returns:
            The page that `page` names, numbers masked.
        """
        if self._masked is None:
            frame = self._made()[0].masked()
            # Stable, so that findings of one grade keep the order of the report.
            order = frame["grade"].map({grade: rank for rank, grade in enumerate(GRADES)})
            self._masked = frame.iloc[order.argsort(kind="stable")][list(_PROOF)]
        whole = self._masked
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

    def _made(self) -> tuple[Audit, Dashboard]:
        if self.audit is None or self.dashboard is None:
            raise ConfigError("nothing was audited yet; press Audit first")
        return self.audit, self.dashboard
