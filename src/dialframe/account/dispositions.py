"""The service's disposition reports, range by range, as the service gives them; knows no lists."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final

from dialframe.account.lists import LeftOpen, Tally, Work
from dialframe.account.ports import Source
from dialframe.account.progress import ListProgress
from dialframe.account.walk import Mark, Rule, State
from dialframe.contract.limits import REPORT_RANGE_DAYS
from dialframe.contract.models.account import DispositionCount, DispositionQuery, DispositionReport
from dialframe.contract.operations import REPORTS_DISPOSITIONS
from dialframe.frames.columns import CALLS, CAMPAIGNS, DISPOSITIONS, Table
from dialframe.store import Checkpoint, Store, bad_record

#: No account is older: a row that claims so does not make us ask for reports of antiquity.
EARLIEST: Final = date(2000, 1, 1)


def bring_up_reports(table: Table, source: Source, work: Work, rule: Rule, tally: Tally) -> None:
    """The report of the last 92 days; when due, of every 92 days since the account began.

    Raises:
        LeftOpen: It was stopped.
        DialframeError: The service or the store failed.
    """
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
        # The oldest day that a report was asked for.
        oldest_at=min(_midnight(first), state.mark.oldest_at or _midnight(first)),
    )
    work.store.save(Checkpoint(table.name, State(mark).as_json()))


def asked_from(store: Store) -> str | None:
    """The first day of the reports that were read, ISO 8601; None where none was."""
    oldest_at = State.from_json(store.state(DISPOSITIONS.name)).mark.oldest_at
    return None if oldest_at is None else oldest_at.date().isoformat()


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(0), UTC)


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
    after = work.after(table)
    observed_at = answer.observed_at if after is None else max(answer.observed_at, after)
    records = _report_rows(answer.value)
    unread = [bad_record(answer.value.model_dump(warnings=False), "no rows under data")]
    added = work.store.append(
        table,
        records or (),
        observed_at=observed_at,
        request_id=answer.request_id,
        quarantined=unread if records is None else (),
    )
    tally.page(added.rows, added.versions, added.quarantined)
    work.tell(ListProgress(table.name, tally.entry.rows, requests=tally.entry.requests))
    if not added.quarantined:
        # A report is one answer of one moment: nothing can have slipped behind a cursor.
        gone = work.store.reconcile(
            table,
            seen_before=observed_at,
            at=observed_at,
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
