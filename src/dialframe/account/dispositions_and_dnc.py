"""What no list has: disposition reports, held against the stored calls, and Do-Not-Call checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, Any, Final

from dialframe import frames
from dialframe.account.freshness import covered
from dialframe.account.list_sync import Context, Counts, LeftOpen
from dialframe.account.list_walk import Look, Mark, Rule, State
from dialframe.account.sync_report import ListProgress
from dialframe.background import side_by_side
from dialframe.config import OnProgress, Progress
from dialframe.contract.limits import PHONES_PER_DNC_CHECK, REPORT_RANGE_DAYS
from dialframe.contract.models.dnc_and_message_models import (
    DispositionCount,
    DispositionQuery,
    DispositionReport,
)
from dialframe.contract.operations import REPORTS_DISPOSITIONS
from dialframe.errors import ContractError
from dialframe.evidence import EvidenceLog, Record
from dialframe.evidence.evidence_tables import table
from dialframe.frames.frame_schemas import (
    CALLS,
    CAMPAIGNS,
    DISPOSITIONS,
    DNC_CHECKS,
    Column,
    Table,
)
from dialframe.privacy import E164
from dialframe.store import Checkpoint, Store, bad_record

if TYPE_CHECKING:
    import pandas as pd

    from dialframe.client import Client


#: No account is older: a row that claims so does not make us ask for reports of antiquity.
EARLIEST: Final = date(2000, 1, 1)

#: What the table below has; a day is of UTC.
DIFFERENCES: Final = Table(
    name="disposition_differences",
    operation="reports.dispositions",
    key=("date", "campaign_id", "disposition"),
    columns=(
        Column("date", "day", "UTC day on which the calls were created"),
        Column("campaign_id", "text", "campaign, null for calls outside any"),
        Column("disposition", "text", "the agent's outcome, null where none was logged"),
        Column("reported", "integer", "calls in the service's report; null where it has no row"),
        Column("counted", "integer", "stored calls"),
        Column("difference", "integer", "reported less counted"),
        Column("reason", "text", "why they differ: one of REASONS"),
    ),
)
#: Why two counts differ, in the order in which it is looked for.
REASONS: Final = {
    "equal": "both count the same",
    "not_asked": "the day is in no report that was read",
    "calls_missing": "calls of that day may be missing from the store: sync again",
    "changed_since": "calls of that day were seen to be new or changed after the report was read",
    "other_rule": "the service counts by another rule, or calls left the list after it counted them",
}
_KEY: Final = ["date", "campaign_id", "disposition"]


def sync_reports(
    table: Table, client: Client, context: Context, rule: Rule, counts: Counts
) -> None:
    """The report of the last 92 days; when due, of every 92 days since the account began."""
    started_at = context.now()
    state = State.from_json(context.store.state(table.name))
    reconciled_at = state.mark.reconciled_at
    every = rule.every or timedelta(0)
    due = context.whole or reconciled_at is None or started_at - reconciled_at >= every
    # The account can have had no call before its first campaign or call.
    firsts = [context.store.oldest(table) for table in (CAMPAIGNS, CALLS)]
    known_firsts = [instant.date() for instant in firsts if instant is not None]
    beginning = max(min(known_firsts), EARLIEST) if known_firsts else None
    # Days of a report are UTC days.
    last = started_at.astimezone(UTC).date()
    # Ranges as long as one may be (contract, Limits), latest first; one alone where nothing is due.
    while True:
        first = last - timedelta(days=REPORT_RANGE_DAYS - 1)
        if context.stopped.is_set():
            raise LeftOpen("it was stopped; the next sync reads the report again")
        _read_report(table, client, context, counts, (first, last))
        last = first - timedelta(days=1)
        if not due or beginning is None or last < beginning:
            break
    first_at = datetime.combine(first, time(0), UTC)
    whole_at = started_at if due and beginning is not None else reconciled_at
    looks = (Look(first_at, started_at), *([Look(None, whole_at)] if whole_at else []))
    mark = Mark(
        synced_at=started_at,
        reconciled_at=whole_at,
        looks=looks,
        # The oldest day that a report was asked for.
        oldest_at=min(first_at, state.mark.oldest_at or first_at),
    )
    context.store.save(Checkpoint(table.name, State(mark).as_json()))


def _read_report(
    table: Table, client: Client, context: Context, counts: Counts, days: tuple[date, date]
) -> None:
    """One report: what it has is stored, and what it no longer has is gone."""
    query = DispositionQuery(start_date=days[0], end_date=days[1])
    answer = client.send_raw(REPORTS_DISPOSITIONS, query)
    after = context.after(table)
    observed_at = answer.observed_at if after is None else max(answer.observed_at, after)
    records = _report_rows(answer.value)
    unread = []
    if records is None:
        unread = [bad_record(answer.value.model_dump(warnings=False), "no rows under data")]
    added = context.store.append(
        table,
        records or (),
        observed_at=observed_at,
        request_id=answer.request_id,
        quarantined=unread,
    )
    counts.page(added.rows, added.versions, added.quarantined)
    context.report(ListProgress(table.name, counts.entry.rows, requests=counts.entry.requests))
    if not added.quarantined:
        # A report is one answer of one moment: nothing can have slipped behind a cursor.
        gone = context.store.reconcile(
            table,
            seen_before=observed_at,
            at=observed_at,
            days=(days[0].isoformat(), days[1].isoformat()),
            misses=1,
        )
        counts.gone(gone)


def _report_rows(report: DispositionReport) -> list[dict[str, Any]] | None:
    """The rows of a report as far as they are rows: its shape is assumed, so anything may be there."""
    report_rows: object = report.data
    if not isinstance(report_rows, list):
        return None
    rows: list[object] = [
        row.model_dump(warnings=False) if isinstance(row, DispositionCount) else row
        for row in report_rows
    ]
    return [row if isinstance(row, dict) else {"value": row} for row in rows]


def of_store(
    store: Store, days: tuple[datetime | None, datetime | None], campaign: str | None
) -> pd.DataFrame:
    """The differences of what is stored, from one midnight to another; columns of `DIFFERENCES`."""
    cover = covered(CALLS, store)
    reported, calls = (
        store.frame(table, since=days[0], until=days[1], campaign=campaign)
        for table in (DISPOSITIONS, CALLS)
    )
    oldest_at = State.from_json(store.state(DISPOSITIONS.name)).mark.oldest_at
    return differences(
        reported,
        calls,
        asked_from=None if oldest_at is None else oldest_at.date().isoformat(),
        covered_from=cover.covers_from,
        covered_to=cover.covers_to if cover.complete else None,
    )


def differences(
    reported: pd.DataFrame,
    calls: pd.DataFrame,
    *,
    asked_from: str | None,
    covered_from: datetime | None,
    covered_to: datetime | None,
) -> pd.DataFrame:
    """Reported and counted calls per UTC day, campaign and disposition, and why they differ."""
    report = reported[[*_KEY, "calls", "_observed_at"]].rename(
        columns={"calls": "reported", "_observed_at": "read_at"}
    )
    # As text, like the report's days: pandas joins no day with an instant.
    keyed = calls[["campaign_id", "disposition", "_observed_at"]].assign(
        date=calls["created_at"].dt.strftime("%Y-%m-%d").astype("str")
    )
    groups = keyed.groupby(_KEY, dropna=False)["_observed_at"]
    counts = groups.agg(counted="size", changed_at="max").reset_index()
    both = report.merge(counts, on=_KEY, how="outer").sort_values(_KEY)
    counted = both["counted"].astype("Int64").fillna(0)
    difference = both["reported"].fillna(0) - counted
    read_at = both["read_at"].fillna(reported["_observed_at"].max())
    reasons = _reasons(both, difference, read_at, asked_from, covered_from, covered_to)
    return frames.from_columns(
        DIFFERENCES,
        {
            **{name: _plain(both[name]) for name in (*_KEY, "reported")},
            "counted": _plain(counted),
            "difference": _plain(difference),
            "reason": reasons,
        },
    )


def _reasons(
    both: pd.DataFrame,
    difference: pd.Series[int],
    read_at: pd.Series[pd.Timestamp],
    asked_from: str | None,
    covered_from: datetime | None,
    covered_to: datetime | None,
) -> list[str]:
    first = "" if covered_from is None else covered_from.date().isoformat()
    last = "" if covered_to is None else covered_to.date().isoformat()
    reasons = []
    for day, gap, changed_at, report_at in zip(
        both["date"], difference, both["changed_at"], read_at, strict=True
    ):
        if gap == 0:
            reasons.append("equal")
        elif asked_from is None or day < asked_from:
            reasons.append("not_asked")
        elif not first <= day <= last:
            reasons.append("calls_missing")
        # The last day of the cover was not over when the calls were read.
        elif changed_at > report_at or day == last:
            reasons.append("changed_since")
        else:
            reasons.append("other_rule")
    return reasons


def _plain(column: pd.Series[object]) -> list[object]:
    return list(column.astype(object).where(column.notna(), None))


REASON: Final = Column("reason", "text", "why there is no answer; null where there is one")
SOURCE: Final = Column(
    "source", "text", "`service` where it was asked now, `cache` where an earlier answer did"
)
NOT_E164: Final = "not an E.164 number"
_OBSERVED: Final = (
    Column("_observed_at", "instant", "when the question was sent, UTC"),
    Column("_request_id", "text", "the service's id of the answer"),
)
#: How old an answer of the service may be, at every door: the most that the United States allow between two versions
#: of their registry (16 CFR 310.4(b)(3)(iv), 47 CFR 64.1200(c)(2)(i)(D)).
MAX_AGE: Final = "31d"

_STEP: Final = "do-not-call checks"


def check_numbers(
    phones: Iterable[str],
    *,
    client: Client,
    evidence: EvidenceLog,
    account: str,
    now: datetime,
    max_age: timedelta | None,
    on_progress: OnProgress,
) -> pd.DataFrame:
    """One row per phone asked, in order; what this account answered is not asked again while it is fresh.

    An earlier "not listed" will not do for a number of which something else was learned since.
    """
    asked: list[object] = [phones] if isinstance(phones, str) else [*phones]
    wanted = list(
        dict.fromkeys(phone for phone in asked if isinstance(phone, str) and E164.fullmatch(phone))
    )
    known: dict[str, Record] = {}
    if max_age is not None:
        # An answer stamped in the future came from a wrong clock: its age is not known.
        for phone, facts in evidence.latest(wanted, now).items():
            check, other = facts.check, facts.prohibition
            fresh = check is not None and check.list == account and check.at >= now - max_age
            if check is not None and fresh and (other is None or other.at <= check.at):
                known[phone] = check
    answers = {phone: (check, "cache") for phone, check in known.items()}
    missing = [phone for phone in wanted if phone not in answers]
    jobs = [
        partial(_ask, missing[start : start + PHONES_PER_DNC_CHECK], client)
        for start in range(0, len(missing), PHONES_PER_DNC_CHECK)
    ]
    answered = len(answers)

    def count(batch: Progress) -> None:
        nonlocal answered
        answered += batch.done
        on_progress(Progress(_STEP, answered, len(wanted)))

    count(Progress(_STEP, 0))
    for checks in side_by_side(jobs, count):
        answers.update({check.number or "": (check, "service") for check in checks})
    return _frame(asked, answers)


def _ask(batch: Sequence[str], client: Client, tell: OnProgress, stopped: Event) -> list[Record]:
    if stopped.is_set():
        return []  # another hundred failed: what is not asked has no answer
    # The client has it kept, as evidence, before it hands it over.
    checks = client.dnc.check(batch)
    # One answer for each number, in their order (contract, Endpoints: Do-Not-Call).
    if [check.phone for check in checks] != list(batch):
        raise ContractError(
            "dnc.check: the answers are not those of the numbers asked, in order; nothing of this "
            "answer is kept",
            operation="dnc.check",
            where="data",
        )
    tell(Progress(_STEP, len(checks)))
    return [
        Record(
            "check",
            check.checked_at,
            check.phone,
            request_id=check.request_id,
            detail={"listed": check.listed},
        )
        for check in checks
    ]


def _frame(asked: Sequence[object], answers: Mapping[str, tuple[Record, str]]) -> pd.DataFrame:
    rows = [answers.get(phone) if isinstance(phone, str) else None for phone in asked]
    checks = [None if row is None else row[0] for row in rows]
    return frames.from_columns(
        DNC_CHECKS,
        {
            "phone": [phone if isinstance(phone, str) else None for phone in asked],
            "listed": [None if check is None else check.detail["listed"] for check in checks],
            "checked_at": [None if check is None else check.at for check in checks],
            "request_id": [None if check is None else check.request_id for check in checks],
            "reason": [NOT_E164 if check is None else None for check in checks],
            "source": [None if row is None else row[1] for row in rows],
        },
        extra=(REASON, SOURCE),
    )


def checks_of(
    evidence: EvidenceLog, account: str, since: datetime | None, until: datetime | None
) -> pd.DataFrame:
    """Every Do-Not-Call check of an account, oldest first; those of forgotten persons are left out."""
    import pyarrow.compute as pc

    rows = table(evidence, ["check"], since=since, until=until, only=account)
    rows = rows.filter(pc.starts_with(rows.column("number"), "+")).sort_by("at")
    ids = rows.column("request_id").to_pylist()
    times = rows.column("at").to_pylist()
    return frames.from_columns(
        DNC_CHECKS,
        {
            "phone": rows.column("number").to_pylist(),
            "listed": [says == "listed" for says in rows.column("says").to_pylist()],
            "checked_at": times,
            "request_id": ids,
            "_observed_at": times,
            "_request_id": ids,
        },
        extra=_OBSERVED,
    )
