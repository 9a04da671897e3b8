"""Which numbers have a Do-Not-Call check that is recent enough; knows no list itself.

The age of a check is counted in spans of 24 hours, to the instant: the stricter reading of "no
more than 31 days". A check too old, or none, does not say that a number must not be called. It
says that these records do not show the safe harbour's condition.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import numpy as np
import pandas as pd

from dialframe.compliance.clock import Flags, Ints
from dialframe.compliance.dnc.evidence import IMPORT_SCREEN, records
from dialframe.compliance.dnc.timely import grade_calls
from dialframe.compliance.intake import (
    holds,
    look_up,
    moment,
    shaped,
    take_calls,
    take_checks,
    take_leads,
)
from dialframe.compliance.late import Late, settled
from dialframe.frames import Column

NUMBER_COLUMNS: Final = (
    Column("phone", "text", "number, E.164"),
    Column("lead_id", "text", "its lead, null when it has none or several"),
    Column("callable", "boolean", "a lead of it is neither dnc nor completed"),
    Column("called", "boolean", "an outbound call went to it"),
    Column("checked_at", "instant", "newest record, UTC"),
    Column("source", "text", "check or import screen"),
    Column("ref", "text", "request id of the check, or lead id of the import screen"),
    Column("listed", "boolean", "what that record said"),
    Column("age_days", "number", "from the record to now, days of 24 hours"),
    Column("max_age_days", "integer", "how old a record of this number may be"),
    Column("state", "text", "fresh, stale or never checked"),
)

SUMMARY_COLUMNS: Final = (
    Column("group", "text", "value of the column named by `by`, null without one"),
    Column("population", "text", "callable, called, or callable or called"),
    Column("numbers", "integer", "distinct numbers: the denominator"),
    Column("fresh", "integer", "with a record that is recent enough: the numerator"),
    Column("stale", "integer", "with a record that is too old"),
    Column("never", "integer", "with no record"),
    Column("fresh_by_import", "integer", "of the fresh ones, those that rest on the import alone"),
    Column("listed", "integer", "whose newest record says listed"),
    Column("share", "number", "fresh / numbers, null without numbers"),
)

POPULATIONS: Final = ("callable", "called", "callable or called")
FRESH, OLD, UNCHECKED = "fresh", "stale", "never checked"

_CLOSED: Final = ("dnc", "completed")
_DAY: Final = pd.Timedelta(days=1)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Coverage:
    """How far Do-Not-Call checks reach.

    Attributes:
        numbers: One row per number that is callable or was called, columns `NUMBER_COLUMNS`.
        calls: One row per outbound call, columns `timely.COLUMNS`.
        summary: Counts with their denominators, columns `SUMMARY_COLUMNS`.
        as_of: The moment at which numbers are judged, UTC.
        max_age_days: How old a record may be.
    """

    numbers: Late[pd.DataFrame] = Late()  # noqa: RUF009 - a descriptor, no value
    calls: Late[pd.DataFrame] = Late()  # noqa: RUF009 - a descriptor, no value
    summary: Late[pd.DataFrame] = Late()  # noqa: RUF009 - a descriptor, no value
    as_of: datetime
    max_age_days: int

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return settled(self)

    def __repr__(self) -> str:
        fresh = int((self.numbers["state"] == FRESH).sum())
        return (
            f"Coverage({fresh:,} of {len(self.numbers):,} numbers have a record of at most "
            f"{self.max_age_days} days on {self.as_of:%Y-%m-%d}; {len(self.calls):,} calls)"
        )

    def _repr_html_(self) -> str:
        return str(self.summary.to_html(index=False, na_rep=""))


def coverage(
    leads: pd.DataFrame,
    calls: pd.DataFrame,
    checks: pd.DataFrame,
    *,
    now: datetime,
    max_age_days: int = 31,
    by: str | None = None,
    import_screen_counts: bool = True,
) -> Coverage:
    """Numbers and calls held against the Do-Not-Call checks on record.

    Args:
        leads: Frame of the leads table. A number is callable if a lead of it is neither `dnc`
            nor `completed`.
        calls: Frame of the calls table, of the period that is of interest.
        checks: Ledger of checks, frame of the dnc_checks table.
        now: The moment at which numbers are judged; later calls and checks are left out.
        max_age_days: How old a record may be, in days of 24 hours.
        by: Column of the leads (`campaign_id`, or one that was added) to count by.
        import_screen_counts: Whether a lead's creation counts as a check that said "not listed".

    Returns:
        Numbers, calls and counts.

    Raises:
        ConfigError: A frame lacks a column, an instant or `now` has no time zone.
    """
    also = () if by in (None, "campaign_id") else (str(by),)
    people = take_leads(leads, as_of=now, also=also)
    taken = take_calls(calls, as_of=now)
    table = records(
        people, take_checks(checks, as_of=now), import_screen_counts=import_screen_counts
    )
    at, called = moment(now), dialled(taken.outbound)
    found = numbers(people, called, table, now=at, max_age_days=max_age_days)
    return Coverage(
        numbers=found,
        calls=grade_calls(taken.outbound, table, max_age_days=max_age_days),
        summary=summary(found, people, called, by=by),
        as_of=at.to_pydatetime(),
        max_age_days=max_age_days,
    )


def dialled(calls: pd.DataFrame) -> pd.DataFrame:
    """Calls that went to a number."""
    return calls[calls["direction_known"] & calls["to_number"].notna()]


def callable_leads(people: pd.DataFrame) -> Flags:
    """Whether each lead is neither dnc nor completed."""
    return ~holds(people["status"], lambda status: status.strip().lower() in _CLOSED)


def numbers(
    people: pd.DataFrame,
    called: pd.DataFrame,
    table: pd.DataFrame,
    *,
    now: pd.Timestamp,
    max_age_days: int,
    limit_of: Callable[[pd.Series], Ints] | None = None,
) -> pd.DataFrame:
    """Numbers that are callable or were called, columns `NUMBER_COLUMNS`.

    `limit_of` gives each number the age that the rules of its place allow, 0 where they have none.
    """
    open_ = people.loc[callable_leads(people), "phone"].drop_duplicates()
    reached = called["to_number"].drop_duplicates()
    phones = pd.concat([open_, reached], ignore_index=True).drop_duplicates(ignore_index=True)
    newest = table.drop_duplicates("phone", keep="last").set_index("phone")
    found = newest.reindex(phones).reset_index(drop=True)
    single = people[~people["phone"].duplicated(keep=False)].set_index("phone")["id"]
    age = (now - found["at"]) / _DAY
    limit = np.full(len(phones), max_age_days, dtype=np.int64)
    if limit_of is not None:
        own = limit_of(phones)
        limit = np.where(own > 0, own, max_age_days)
    values = {
        "phone": phones,
        "lead_id": look_up(phones, single),
        "callable": phones.isin(open_),
        "called": phones.isin(reached),
        "checked_at": found["at"],
        "source": found["source"],
        "ref": found["ref"],
        "listed": found["listed"],
        "age_days": age,
        "max_age_days": limit,
        "state": np.select(
            [(age <= limit).to_numpy(dtype=bool), age.notna().to_numpy()], [FRESH, OLD], UNCHECKED
        ).astype(object),
    }
    return shaped(values, NUMBER_COLUMNS)


def _groups(people: pd.DataFrame, called: pd.DataFrame, by: str | None) -> pd.DataFrame:
    """Pairs of number and group, with how the number belongs to it: columns phone, group, how."""
    open_ = people[callable_leads(people)]
    parts = [_pairs(open_["phone"], None if by is None else open_[by], "callable")]
    if by is None or by in called.columns:
        parts.append(_pairs(called["to_number"], None if by is None else called[by], "called"))
    else:
        known = called[["to_number"]].merge(
            people[["phone", by]], left_on="to_number", right_on="phone", how="left"
        )
        parts.append(_pairs(known["to_number"], known[by], "called"))
    return pd.concat(parts, ignore_index=True).drop_duplicates()


def _pairs(phones: pd.Series, groups: pd.Series | None, how: str) -> pd.DataFrame:
    names = pd.Series(None, index=phones.index, dtype="str") if groups is None else groups
    return pd.DataFrame({"phone": phones, "group": names.astype("str"), "how": how})


def summary(
    numbers: pd.DataFrame, people: pd.DataFrame, called: pd.DataFrame, *, by: str | None = None
) -> pd.DataFrame:
    """Counts with their denominators, columns `SUMMARY_COLUMNS`."""
    pairs = _groups(people, called, by)
    both = pairs.assign(how="callable or called").drop_duplicates()
    every = pd.concat([pairs, both], ignore_index=True).merge(numbers, on="phone", how="left")
    every["by_import"] = (every["state"] == FRESH) & (every["source"] == IMPORT_SCREEN)
    # No group at all still gives its three rows, so that nothing counted reads as nothing.
    groups = sorted(every["group"].dropna().unique())
    groups += [None] if every["group"].isna().any() or not groups else []
    rows = [_count(every, group, how) for group in groups for how in POPULATIONS]
    values = {c.name: [row[c.name] for row in rows] for c in SUMMARY_COLUMNS}
    return shaped(values, SUMMARY_COLUMNS)


def _count(every: pd.DataFrame, group: str | None, population: str) -> dict[str, object]:
    inside = every["group"].isna() if group is None else every["group"] == group
    numbers = every[inside & (every["how"] == population)]
    fresh = int((numbers["state"] == FRESH).sum())
    return {
        "group": group,
        "population": population,
        "numbers": len(numbers),
        "fresh": fresh,
        "stale": int((numbers["state"] == OLD).sum()),
        "never": int((numbers["state"] == UNCHECKED).sum()),
        "fresh_by_import": int(numbers["by_import"].sum()),
        "listed": int(numbers["listed"].fillna(value=False).sum()),
        "share": fresh / len(numbers) if len(numbers) else None,
    }
