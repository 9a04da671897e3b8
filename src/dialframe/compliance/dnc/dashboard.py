"""Where Do-Not-Call coverage is thin and what closes it: by campaign, source, state and week; asks no service.

Every number counts once in each view: one that belongs to several groups is in a group of its own,
so that the groups of a view add up to all numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import pandas as pd

from dialframe.compliance.checks.check_results import shaped
from dialframe.compliance.dnc.coverage import FRESH, OLD, SCREENED
from dialframe.compliance.result import Coverage
from dialframe.frames import Column, custom_field
from dialframe.phones.number_places import place

SEVERAL: Final = "several"
NONE: Final = "none"
#: Numbers per request, and requests per second that one key may make (contract, Limits).
PHONES_PER_REQUEST: Final = 100
REQUESTS_PER_SECOND: Final = 10

BY_COLUMNS: Final = (
    Column("view", "text", "campaign, source, state or week"),
    Column("group", "text", "which one; `several`: more than one, `none`: nothing known"),
    Column("numbers", "integer", "distinct numbers: the denominator"),
    Column("fresh", "integer", "with a check that is recent enough for their place"),
    Column("screened", "integer", "screened at import alone"),
    Column("stale", "integer", "with a record that is too old"),
    Column("never", "integer", "with no record"),
    Column("share", "number", "fresh / numbers"),
)
NEXT_COLUMNS: Final = (
    Column("phone", "text", "number to check, E.164"),
    Column("state", "text", "screened at import, stale or never checked"),
    Column("callable", "boolean", "a lead of it is open, so it may be called next"),
    Column("age_days", "number", "age of its newest record; null: none"),
    Column("max_age_days", "integer", "age that the rules of its place allow"),
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Dashboard:
    """Coverage by group, and the numbers to check next.

    Attributes:
        by: Counts of each view and group, columns `BY_COLUMNS`.
        next: Numbers without a fresh check, those that may be called first, columns `NEXT_COLUMNS`;
            `account.check_dnc(dashboard.next["phone"])` closes the gap.
        requests: Requests that checking them takes.
        minutes: Minutes that it takes at the service's rate for one key.
    """

    by: pd.DataFrame
    next: pd.DataFrame
    requests: int
    minutes: float


def dashboard(
    covered: Coverage,
    leads: pd.DataFrame,
    calls: pd.DataFrame,
    *,
    source_field: str = "lead_source",
    campaigns: Mapping[str, str] | None = None,
) -> Dashboard:
    """Coverage by campaign, source, state and week, and what is to be checked next.

    Args:
        covered: Coverage of an audit, or of `dnc.coverage`.
        leads: Frame of the leads table.
        calls: Frame of the calls table.
        source_field: Custom field of the leads that names where they came from.
        campaigns: Campaign id to its name.
    """
    numbers = covered.numbers
    dialed = calls[(calls["direction"] == "outbound").to_numpy(dtype=bool)]
    pairs = pd.concat(
        [
            leads[["phone", "campaign_id"]],
            dialed[["to_number", "campaign_id"]].rename(columns={"to_number": "phone"}),
        ],
        ignore_index=True,
    )
    names = dict(campaigns or {})
    pairs["campaign_id"] = pairs["campaign_id"].map(lambda each: names.get(each, each))
    source = custom_field(leads, source_field).to_numpy()
    views = {
        "campaign": _single(pairs["phone"], pairs["campaign_id"]),
        "source": _single(leads["phone"], pd.Series(source, dtype="str")),
        "state": _states(numbers["phone"]),
        "week": _single(dialed["to_number"], _weeks(dialed["created_at"])),
    }
    parts = [_count(view, numbers, groups) for view, groups in views.items()]
    whole = pd.concat(parts, ignore_index=True)
    todo = numbers[numbers["state"] != FRESH].copy()
    todo = todo.sort_values(
        ["callable", "age_days", "phone"], ascending=[False, False, True], na_position="first"
    )
    requests, minutes = cost(len(todo))
    return Dashboard(
        by=shaped(whole, BY_COLUMNS),
        next=shaped(todo, NEXT_COLUMNS),
        requests=requests,
        minutes=minutes,
    )


def cost(numbers: int) -> tuple[int, float]:
    """Requests and minutes that checking so many numbers takes, at the service's rate for one key."""
    requests = math.ceil(numbers / PHONES_PER_REQUEST)
    return requests, requests / REQUESTS_PER_SECOND / 60


def _single(phones: pd.Series, groups: pd.Series) -> pd.Series:
    """Group of each number, `several` where there are more."""
    pairs = pd.DataFrame({"phone": phones.to_numpy(), "group": groups.to_numpy()}, dtype="str")
    pairs = pairs[pairs["phone"].notna() & pairs["group"].notna()].drop_duplicates()
    pairs.loc[pairs["phone"].duplicated(keep=False), "group"] = SEVERAL
    return pairs.drop_duplicates("phone").set_index("phone")["group"]


def _states(phones: pd.Series) -> pd.Series:
    """State or country of each number by its prefix."""
    placed = place(phones)
    said = [zones.regions[-1] if zones.regions else NONE for zones in placed.kinds]
    return pd.Series([said[code] for code in placed.codes], index=pd.Index(phones), dtype="str")


def _weeks(at: pd.Series) -> pd.Series:
    """Monday (UTC) of the week of each call."""
    day = at.dt.floor("D")
    codes, days = pd.factorize(day - pd.to_timedelta(day.dt.day_of_week, unit="D"))
    return pd.Series(
        days.strftime("%Y-%m-%d").astype("str").take(codes, fill_value=None, allow_fill=True),
        dtype="str",
    )


def _count(view: str, numbers: pd.DataFrame, groups: pd.Series) -> pd.DataFrame:
    named = groups.reindex(pd.Index(numbers["phone"])).to_numpy(dtype="object")
    group = pd.Series(named, index=numbers.index, dtype="str").fillna(NONE)
    state = numbers["state"]
    table = pd.DataFrame(
        {
            "group": group,
            "numbers": 1,
            "fresh": (state == FRESH).astype("int64"),
            "screened": (state == SCREENED).astype("int64"),
            "stale": (state == OLD).astype("int64"),
        }
    )
    counted = table.groupby("group", sort=True).sum().reset_index()
    counted["never"] = (
        counted["numbers"] - counted["fresh"] - counted["screened"] - counted["stale"]
    )
    counted["share"] = counted["fresh"] / counted["numbers"]
    return counted.assign(view=view)
