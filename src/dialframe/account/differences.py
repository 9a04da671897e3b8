"""The service's disposition counts against those of the stored calls, row by row; knows frames, asks nobody."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final

from dialframe import frames
from dialframe.account.dispositions import asked_from
from dialframe.account.freshness import covered
from dialframe.frames.columns import CALLS, DISPOSITIONS, Column, Table
from dialframe.store import Store

if TYPE_CHECKING:
    import pandas as pd

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


def of_store(
    store: Store, days: tuple[datetime | None, datetime | None], campaign: str | None
) -> pd.DataFrame:
    """The differences of what is stored, from one midnight to another; columns of `DIFFERENCES`."""
    cover = covered(CALLS, store)
    reported, calls = (
        store.frame(table, since=days[0], until=days[1], campaign=campaign)
        for table in (DISPOSITIONS, CALLS)
    )
    return differences(
        reported,
        calls,
        asked_from=asked_from(store),
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
    """Reported and counted calls per UTC day, campaign and disposition, and why they differ.

    Args:
        reported: The stored report.
        calls: The stored calls.
        asked_from: The first day of the reports that were read; None where none was.
        covered_from: Creation from which calls are whole; None for the list's beginning.
        covered_to: The instant up to which they are; None where they are not whole at all.

    Returns:
        Columns of `DIFFERENCES`, by day, campaign and disposition.
    """
    report = reported[[*_KEY, "calls", "_observed_at"]].rename(
        columns={"calls": "reported", "_observed_at": "read_at"}
    )
    both = report.merge(_counted(calls), on=_KEY, how="outer").sort_values(_KEY)
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


def _counted(calls: pd.DataFrame) -> pd.DataFrame:
    keyed = calls[["campaign_id", "disposition", "_observed_at"]].assign(
        date=calls["created_at"].dt.strftime("%Y-%m-%d").astype("str")
    )
    groups = keyed.groupby(_KEY, dropna=False)["_observed_at"]
    return groups.agg(counted="size", changed_at="max").reset_index()


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
    found = []
    for day, gap, changed_at, report_at in zip(
        both["date"], difference, both["changed_at"], read_at, strict=True
    ):
        if gap == 0:
            found.append("equal")
        elif asked_from is None or day < asked_from:
            found.append("not_asked")
        elif not first <= day <= last:
            found.append("calls_missing")
        elif changed_at > report_at or day == last:
            found.append("changed_since")
        else:
            found.append("other_rule")
    return found


def _plain(column: pd.Series[object]) -> list[object]:
    return list(column.astype(object).where(column.notna(), None))
