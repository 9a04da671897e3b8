"""An account's analyses asked of its store: a funnel, or the page of all of them; computes and draws nothing itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, Literal

import pandas as pd

from dialframe import analytics, extras
from dialframe.account import Account
from dialframe.analytics import DEFAULT, Funnel, Result, Taxonomy
from dialframe.analytics.claims_and_tables import campaign_names
from dialframe.config import OnProgress, Progress, silent
from dialframe.errors import ConfigError, StoreError
from dialframe.files import write_bytes, write_text
from dialframe.frames import TABLES, custom_field
from dialframe.frames.frame_files import WRITERS
from dialframe.headline import Headline
from dialframe.reports import render

#: Field by which leads are split where nobody says otherwise and some lead has it.
SOURCE: Final = "lead_source"
PAGE: Final = "report.html"
#: Pixels for messages, and lines for print.
PICTURES: Final = (".png", ".svg")

#: Longest window that is taken: no call is older.
_LONGEST: Final = timedelta(days=36_500)


@dataclass(frozen=True, slots=True)
class Scope:
    """What a funnel or a report is about.

    Attributes:
        campaign: This campaign only, by name or id.
        by: Column or custom field of the leads to split by.
        since: Calls from this instant on; aware.
        until: Calls before this instant; aware.
        taxonomy: What the codes of calls mean.
        fresh: Refuse calls and leads that were last read longer ago than this, such as `24h`.
    """

    campaign: str | None = None
    by: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    taxonomy: Taxonomy = DEFAULT
    fresh: str | None = None

    def of(self, account: Account) -> Scope:
        """The same, its campaign by the id that it has in an account."""
        if self.campaign is None:
            return self
        return replace(self, campaign=account.campaign_id(self.campaign))


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """The stored tables that analyses read."""

    calls: pd.DataFrame
    leads: pd.DataFrame
    campaigns: pd.DataFrame
    callbacks: pd.DataFrame
    appointments: pd.DataFrame
    dispositions: pd.DataFrame
    events: pd.DataFrame


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """The page of an account, and where it is.

    Attributes:
        file: The page; it needs nothing beside it.
        findings: What was found, one sentence each.
        headlines: The numbers on top of the page.
        sections: How many parts it has.
        pictures: How many pictures.
    """

    file: Path
    findings: tuple[str, ...]
    headlines: tuple[Headline, ...]
    sections: int
    pictures: int


def funnel(
    account: Account,
    scope: Scope,
    *,
    order: Literal["ordered", "strict", "any"] = "ordered",
    window: timedelta | None = None,
    entry: Literal["import", "first_dial"] = "import",
) -> Funnel:
    """The lead funnel of what the store has.

    Raises:
        ConfigError: The campaign or the field is unknown, or the window is no time.
        StoreError: Leads or calls were never synced, or are older than `fresh` of the scope.
    """
    if window is not None and window > _LONGEST:
        raise ConfigError(f"window={window} is longer than any history; use 90d, for instance")
    scope = scope.of(account)
    leads, calls = read_tables(account, scope)
    return analytics.funnel(
        calls,
        leads,
        appointments=account.appointments(),
        campaign=scope.campaign,
        by=scope.by,
        order=order,
        window=window,
        entry=entry,
        since=scope.since,
        until=scope.until,
        campaigns=account.campaigns(),
        taxonomy=scope.taxonomy,
    )


def drawable(path: Path) -> Path:
    """Refuse a kind of picture that there is not, before anything is read.

    Raises:
        ConfigError: It names what can be had.
    """
    if path.suffix.lower() not in PICTURES:
        raise ConfigError(f"{path}: the picture's name has to end in {' or '.join(PICTURES)}")
    return path


def picture(result: Result, path: Path) -> Path:
    """Draw a result into a file, readable by its owner alone.

    Raises:
        ConfigError: The name ends in neither .png nor .svg, or the result has no picture.
        OSError: The disk is full or the folder cannot be written.
    """
    drawn = result.plot()
    if drawable(path).suffix.lower() == ".svg":
        return write_bytes(drawn.svg().encode(), path)
    return write_bytes(drawn.png(), path)


def report(
    account: Account, out: Path, scope: Scope, *, on_progress: OnProgress = silent
) -> Report:
    """Write the main analyses of an account as one page that holds everything it needs.

    Numbers of people are masked; the account's own numbers are not.

    Args:
        account: The account whose store is read.
        out: Folder of `report.html`.
        scope: What the page is about; without `by` it is `lead_source` where leads have it.
        on_progress: Told of every analysis.

    Raises:
        ConfigError: The campaign or the field is unknown, or the campaign has no lead and no call.
        StoreError: Leads or calls were never synced.
        OSError: The disk is full or the folder cannot be written.
    """
    from dialframe.reports import result_sections

    scope = scope.of(account)
    # First: it refuses what was never synced or is unknown.
    whole = funnel(account, scope)
    tables = Tables(
        calls=account.calls(since=scope.since, until=scope.until),
        leads=account.leads(until=scope.until),
        campaigns=account.campaigns(),
        callbacks=account.callbacks(),
        appointments=account.appointments(),
        dispositions=account.dispositions(since=scope.since, until=scope.until),
        events=account.events(),
    )
    # A campaign without rows may be new, or its id mistyped: an empty page would hide that.
    of_campaign = [
        (frame["campaign_id"] == scope.campaign).any() for frame in (tables.leads, tables.calls)
    ]
    if scope.campaign is not None and not any(of_campaign):
        raise ConfigError(
            f"campaign {scope.campaign} has no lead and no call yet: nothing to report"
        )
    # Where leads came from is the split that most firms ask for; a campaign every lead has.
    has_source = custom_field(tables.leads, SOURCE).notna().any()
    by = scope.by or (SOURCE if has_source else "campaign_id")
    split = funnel(account, replace(scope, by=by))
    asked = _asked(tables, scope, by)
    sentences = []
    for number, (title, ask) in enumerate(asked):
        on_progress(Progress("analyses", number, len(asked)))
        result = ask().named(tables.campaigns)
        drawn = result.plot() if extras.installed("matplotlib") else None
        sentences.append(result_sections.Finding(title, result, drawn))
    on_progress(Progress("analyses", len(asked), len(asked)))
    metrics = analytics.metrics(
        tables.calls, tables.leads, campaign=scope.campaign, taxonomy=scope.taxonomy
    )
    # Names for people, in every part alike.
    page = result_sections.page(
        whole.named(tables.campaigns), split.named(tables.campaigns),
        analytics.dispositions(tables.calls, tables.leads, taxonomy=scope.taxonomy).table, metrics, sentences,
        facts=_facts(scope, whole, tables, account.journal_problems()),
    )  # fmt: skip
    file = write_text(render(page), out / PAGE)
    pictures = sum(len(section.figures) for section in page.sections)
    return Report(file, page.summary, page.headlines, len(page.sections), pictures)


def _asked(t: Tables, scope: Scope, by: str) -> list[tuple[str, Callable[[], Result]]]:
    """The analyses of the page in their order: title and question."""
    a, c, campaign, taxonomy = analytics, t.calls, scope.campaign, scope.taxonomy
    return [
        ("Leads by the week of their import", lambda: a.cohorts(c, t.leads, campaign=campaign, taxonomy=taxonomy)),
        ("Time to the first conversation", lambda: a.time_to_contact(c, t.leads, by=by, campaigns=t.campaigns, campaign=campaign, taxonomy=taxonomy)),
        ("When people answer", lambda: a.hours(c, t.leads, campaign=campaign, taxonomy=taxonomy)),
        ("How often to try", lambda: a.attempts(c, t.leads, campaign=campaign, taxonomy=taxonomy)),
        ("When to try again", lambda: a.recycle(c, t.leads, campaign=campaign, taxonomy=taxonomy)),
        ("Caller IDs", lambda: a.caller_ids(c, t.leads, campaign=campaign, taxonomy=taxonomy)),
        ("Carriers", lambda: a.carriers(c, campaign=campaign, taxonomy=taxonomy)),
        ("Machines", lambda: a.machines(c, taxonomy=taxonomy)),
        ("Sources", lambda: a.scorecard(c, t.leads, by=by, campaign=campaign, taxonomy=taxonomy)),
        ("Speed to lead", lambda: a.speed_to_lead(c, t.leads, campaign=campaign, taxonomy=taxonomy)),
        ("Numbers in several campaigns", lambda: a.duplicates(c, t.leads, taxonomy=taxonomy)),
        ("Is the data whole", lambda: a.completeness(c, t.leads, events=t.events, taxonomy=taxonomy)),
        ("The service's report and this one", lambda: a.reconcile(c, report=t.dispositions, taxonomy=taxonomy)),
    ]  # fmt: skip


def read_tables(account: Account, scope: Scope) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Leads and calls of an account whose store was filled; an analysis of nothing would be read as nobody reached.

    Raises:
        StoreError: Leads or calls were never synced, or are older than the scope takes.
    """
    return (
        _sync_facts("leads", account.leads(fresh=scope.fresh)),
        _sync_facts("calls", account.calls(fresh=scope.fresh)),
    )


def _sync_facts(name: str, frame: pd.DataFrame) -> pd.DataFrame:
    if frame.empty and "never synced" in frame.attrs["dialframe"]["sentence"]:
        raise StoreError(f"{name} were never synced; run dialframe sync first")
    return frame


def _facts(scope: Scope, whole: Funnel, tables: Tables, problems: Sequence[str]) -> dict[str, str]:
    def bound(at: datetime | None) -> str:
        return "no bound" if at is None else f"{at:%Y-%m-%d %H:%M:%S} UTC"

    frames = (tables.calls, tables.leads, tables.events)
    missing = [words for frame in frames for words in frame.attrs["dialframe"]["missing"]]
    missing += problems
    names = campaign_names(tables.campaigns)
    return {
        "As of": bound(whole.as_of),
        "Period": f"{bound(scope.since)} until {bound(scope.until)}",
        "Campaign": names.get(scope.campaign or "", scope.campaign or "all"),
        "Rows read": f"{len(tables.leads):,} leads, {len(tables.calls):,} calls",
        "Taxonomy": whole.taxonomy_version,
        **({} if extras.installed("matplotlib") else {"Pictures": extras.NO_PICTURES}),
        **({"Missing": "; ".join(missing)} if missing else {}),
    }


def exportable(table: str, path: Path) -> None:
    """Refuse a table or a kind of file that there is not, before anything is read.

    Raises:
        ConfigError: It names what can be had.
    """
    if table not in TABLES:
        raise ConfigError(f"there is no table {table!r}; the tables are {', '.join(TABLES)}")
    writable(path)


def writable(path: Path) -> None:
    """Refuse a kind of file that no table is written in, before anything is read.

    Raises:
        ConfigError: It names what can be had.
    """
    if path.suffix.lower() not in WRITERS:
        raise ConfigError(f"{path}: the file's name has to end in {', '.join(WRITERS)}")


def write_table(frame: pd.DataFrame, path: Path) -> Path:
    """Write the frame in the format that the file's name asks for, readable by its owner alone.

    Raises:
        OSError: The disk is full or the folder cannot be written.
    """
    # The caller's frame keeps its attributes.
    plain = frame.copy()
    # What a frame says of its freshness is no part of the file's rows.
    plain.attrs = {}
    return write_bytes(WRITERS[path.suffix.lower()](plain), path)
