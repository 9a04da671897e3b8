"""Brings one table up to date: which lists feed it and how often they are read whole; knows no threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, timedelta
from typing import Any, Final

from dialframe.account.freshness import covered
from dialframe.account.lists import LeftOpen, Part, Tally, Work, bring_up, is_due
from dialframe.account.ports import Source
from dialframe.account.report import TableSync, day_and_time
from dialframe.account.walk import Mark, Rule, State
from dialframe.config import Progress
from dialframe.contract.limits import REPORT_RANGE_DAYS
from dialframe.contract.models.account import DispositionCount, DispositionQuery, DispositionReport
from dialframe.contract.operations import REPORTS_DISPOSITIONS
from dialframe.errors import DialframeError, StoreError
from dialframe.frames.columns import CALLBACKS, CALLS, CAMPAIGNS, LEADS, Table
from dialframe.store import Checkpoint, bad_record

#: How often each list is read whole, and up to which size each time. Calls settle within the overlap, so
#: that only a call moved in from elsewhere needs a full walk; everything else changes as long as it lives.
RULES: Final[Mapping[str, Rule]] = {
    "calls": Rule(timedelta(days=7)),
    "leads": Rule(timedelta(hours=24), small=500),
    "campaigns": Rule(timedelta(hours=24), small=1000),
    "callbacks": Rule(timedelta(hours=24), small=100),
    "appointments": Rule(timedelta(hours=24), small=500),
    "dispositions": Rule(timedelta(days=7)),
}

#: What is brought up to date before a table: callbacks are listed campaign by campaign, and the first
#: campaign says how far back the reports go.
NEEDS: Final[Mapping[str, tuple[str, ...]]] = {
    "callbacks": ("campaigns",),
    "dispositions": ("campaigns",),
}

#: No account is older: a row that claims so does not make us ask for reports of antiquity.
EARLIEST: Final = date(2000, 1, 1)

CLOCK_LEEWAY: Final = timedelta(minutes=5)
FROM_THE_FUTURE = (
    "which is still to come: this machine's clock is or was wrong, and changes found before then do not "
    "show"
)
BUSY = "another process is bringing it up to date"
NO_CAMPAIGNS = "campaigns are not up to date, so callbacks of some may be missing"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a table's sync came to: its entry, and the error that ended it early, if one did."""

    entry: TableSync
    error: DialframeError | None = None


def bring_table_up(
    table: Table, source: Source, work: Work, reconcile_after: timedelta | None
) -> Outcome:
    """Bring one table up to date, alone among all processes.

    Args:
        table: The table.
        source: The client.
        work: Store, clock and listeners.
        reconcile_after: When lists are read whole; None for the table's own rule.

    Raises:
        StoreError: The store cannot be written.
    """
    rule = RULES[table.name]
    if reconcile_after is not None:
        # Asked for expressly, it holds for large lists and small ones alike.
        small = rule.small if reconcile_after <= rule.reconcile_after else 0
        rule = replace(rule, reconcile_after=reconcile_after, small=small)
    tally = Tally(TableSync(table=table.name))
    note, error = "", None
    with work.store.lock(table.name) as held:
        if not held:
            return Outcome(_entry(table, work, tally, BUSY))
        try:
            _work_of(table)(table, source, work, rule, tally)
        except StoreError:
            raise
        except LeftOpen as left:
            note = str(left)
        except DialframeError as failure:
            note, error = str(failure), failure
        seen_at = work.store.last_seen(table)
        if not note and seen_at is not None and seen_at > work.now() + CLOCK_LEEWAY:
            note = f"rows were observed at {day_and_time(seen_at)}, {FROM_THE_FUTURE}"
    entry = _entry(table, work, tally, note)
    work.tell(Progress(table.name, entry.rows, entry.rows if entry.complete else None))
    return Outcome(entry, error)


def _work_of(table: Table) -> Callable[[Table, Source, Work, Rule, Tally], None]:
    return {"callbacks": _callbacks, "dispositions": _dispositions}.get(table.name, _list)


def _entry(table: Table, work: Work, tally: Tally, note: str) -> TableSync:
    cover = covered(table, work.store)
    return replace(
        tally.entry,
        complete=cover.complete and not note,
        covers_from=cover.covers_from,
        covers_to=cover.covers_to,
        note=note,
    )


def _list(table: Table, source: Source, work: Work, rule: Rule, tally: Tally) -> None:
    lists = {
        "calls": source.calls,
        "leads": source.leads,
        "campaigns": source.campaigns,
        "appointments": source.appointments,
    }
    bring_up(Part(table.name, table, lists[table.name].list, rule), work, tally)


def _callbacks(table: Table, source: Source, work: Work, rule: Rule, tally: Tally) -> None:
    """Each campaign's list; those of campaigns that are over or archived only when due."""
    started_at = work.now()
    campaigns = work.store.frame(CAMPAIGNS)
    at_work = set(campaigns.loc[campaigns["status"] != "completed", "id"])
    for campaign in sorted(at_work | work.store.campaign_ids(CAMPAIGNS, LEADS, CALLS, CALLBACKS)):
        part = _campaign_part(campaign, table, source, rule)
        if campaign in at_work or is_due(part, work.store, work.now()):
            bring_up(part, work, tally)
    listed_at = covered(CAMPAIGNS, work.store).synced_at
    if listed_at is None or listed_at < work.began_at:
        raise LeftOpen(NO_CAMPAIGNS)
    # The table as a whole has been looked at, also where no campaign has a callback.
    whole = Mark(synced_at=started_at, reconciled_at=started_at)
    work.store.save(Checkpoint(table.name, State(whole).as_json()))


def _campaign_part(campaign: str, table: Table, source: Source, rule: Rule) -> Part:
    return Part(
        name=f"{table.name}/{campaign}",
        table=table,
        listing=lambda: source.callbacks.list(campaign_id=campaign),
        rule=rule,
        campaign=campaign,
    )


def _dispositions(table: Table, source: Source, work: Work, rule: Rule, tally: Tally) -> None:
    """The report of the last 92 days; when due, of every 92 days since the account began."""
    started_at = work.now()
    state = State.from_json(work.store.state(table.name))
    reconciled_at = state.mark.reconciled_at
    due = reconciled_at is None or started_at - reconciled_at >= rule.reconcile_after
    today = started_at.astimezone(UTC).date()
    beginning = _beginning(work)
    for first, last in _ranges(beginning if due else None, today):
        if work.stopped.is_set():
            raise LeftOpen("it was stopped; the next sync reads the report again")
        _range(table, source, work, tally, (first, last))
    mark = Mark(
        synced_at=started_at,
        reconciled_at=started_at if due and beginning is not None else reconciled_at,
    )
    work.store.save(Checkpoint(table.name, State(mark).as_json()))


def _ranges(beginning: date | None, today: date) -> Iterator[tuple[date, date]]:
    """Ranges of at most 92 days, latest first, back to a beginning; one only where there is none."""
    last = today
    while True:
        first = last - timedelta(days=REPORT_RANGE_DAYS - 1)
        yield first, last
        last = first - timedelta(days=1)
        if beginning is None or last < beginning:
            return


def _beginning(work: Work) -> date | None:
    """The first UTC day on which the account can have had a call."""
    firsts = [work.store.oldest(table) for table in (CAMPAIGNS, CALLS)]
    known = [instant for instant in firsts if instant is not None]
    return max(min(known).date(), EARLIEST) if known else None


def _range(
    table: Table, source: Source, work: Work, tally: Tally, days: tuple[date, date]
) -> None:
    """One report: what it has is stored, and what it no longer has is gone."""
    query = DispositionQuery(start_date=days[0], end_date=days[1])
    answer = source.send_raw(REPORTS_DISPOSITIONS, query)
    records = _report_rows(answer.value)
    unread = [bad_record(answer.value.model_dump(warnings=False), "no rows under data")]
    added = work.store.append(
        table,
        records or (),
        observed_at=answer.observed_at,
        request_id=answer.request_id,
        quarantined=unread if records is None else (),
    )
    tally.page(added.rows, added.versions, added.quarantined)
    work.tell(Progress(table.name, tally.entry.rows))
    if not added.quarantined:
        # A report is one answer of one moment: nothing can have slipped behind a cursor.
        gone = work.store.reconcile(
            table,
            seen_before=answer.observed_at,
            at=answer.observed_at,
            days=(days[0].isoformat(), days[1].isoformat()),
            misses=1,
        )
        tally.gone(gone)


def _report_rows(report: DispositionReport) -> list[dict[str, Any]] | None:
    """The rows of a report as far as they are rows: its shape is assumed, so anything may be there."""
    data: object = report.data
    if not isinstance(data, list):
        return None
    rows: list[object] = [
        row.model_dump(warnings=False) if isinstance(row, DispositionCount) else row
        for row in data
    ]
    return [row if isinstance(row, dict) else {"value": row} for row in rows]
