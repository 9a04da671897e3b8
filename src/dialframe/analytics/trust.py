"""Whether the numbers can be trusted: contradictions, missing and late outcomes."""

from __future__ import annotations

import itertools
from datetime import datetime
from typing import Final

import numpy as np
import pandas as pd

from dialframe.analytics.columns import micros
from dialframe.analytics.dials import dials
from dialframe.analytics.matching import logged
from dialframe.analytics.outcomes import OUTCOMES
from dialframe.analytics.result import Result
from dialframe.analytics.stages import NO_GROUP
from dialframe.analytics.tabled import rated, sums, table
from dialframe.analytics.taxonomy import DEFAULT, Taxonomy
from dialframe.analytics.wording import plural
from dialframe.errors import ConfigError

_HOUR_US: Final = 3_600_000_000
#: Hours since a call ended at which a new band begins.
AGES_H: Final = (1, 24, 168)


def conflicts(
    calls: pd.DataFrame,
    *,
    taxonomy: Taxonomy = DEFAULT,
    as_of: datetime | None = None,
    campaign: str | None = None,
) -> Result:
    """Where network and agent contradict each other, as a matrix.

    Returns:
        One row per class by the network, disposition and class by it: `telephony`, `disposition`,
        `business`, `calls`, `denominator` (attempts), `share`; most frequent first. Table `each`
        has the ids.

    Raises:
        ConfigError: A column is missing, or the campaign is unknown.
    """
    found = dials(calls, None, taxonomy=taxonomy, as_of=as_of, campaign=campaign)
    odd = found.classes.conflict[found.rows]
    rows = found.rows[odd]
    names = np.array([*(o.name for o in OUTCOMES), NO_GROUP, NO_GROUP], dtype=object)
    each = table(
        {
            "id": found.calls["id"].iloc[rows].astype("str").array,
            "telephony": list(names[found.classes.telephony[rows]]),
            "disposition": found.calls["disposition"].iloc[rows].astype("str").array,
            "business": list(names[found.classes.business[rows]]),
        }
    )
    keys = ["telephony", "disposition", "business"]
    frame = each.groupby(keys, dropna=False).size().reset_index(name="calls")
    frame = frame.astype({**dict.fromkeys(keys, "str"), "calls": "Int64"})
    frame = frame.sort_values("calls", ascending=False, kind="stable", ignore_index=True)
    frame["denominator"] = pd.array([len(found)] * len(frame), dtype="Int64")
    frame["share"] = frame["calls"].astype("Float64") / max(len(found), 1)
    return Result(
        "conflicts",
        f"{plural(int(odd.sum()), 'call')} of {len(found):,} have a disposition or cause that "
        "contradicts the call",
        frame,
        "Attempts whose disposition cannot have happened on such a call, or whose cause or status "
        "contradicts answered_at; the network's word stands",
        found.balance(), taxonomy, found.as_of, {"each": each}, {}, found.warnings,
    )  # fmt: skip


def missing_dispositions(
    calls: pd.DataFrame,
    *,
    human_length_s: float = 30.0,
    due_h: float = 1.0,
    taxonomy: Taxonomy = DEFAULT,
    as_of: datetime | None = None,
    campaign: str | None = None,
) -> Result:
    """Conversations that nobody logged an outcome of, by campaign and age.

    Args:
        calls: Frame of the calls table.
        human_length_s: Talk from which a call must have been a conversation, seconds.
        due_h: Hours after its end at which a disposition is missing.
        taxonomy: What the codes mean.
        as_of: When the data was read.
        campaign: Calls of this campaign only.

    Returns:
        One row per campaign: `campaign_id`, `numerator` (missing), `denominator` (answered and
        long enough), `rate`, `low`, `high`. Table `ages` counts by hours since the end, `each` has
        the ids.

    Raises:
        ConfigError: A column is missing, or the campaign is unknown.
    """
    found = dials(calls, None, taxonomy=taxonomy, as_of=as_of, campaign=campaign)
    long = found.flag("answered") & (np.nan_to_num(found.talk_s) >= human_length_s)
    blank = np.asarray(
        found.calls["disposition"].iloc[found.rows].astype("str").fillna("").str.strip() == ""
    )
    ended = micros(found.calls["ended_at"])[found.rows]
    ends = 0 if found.as_of is None else round(found.as_of.timestamp() * 1e6)
    age_h = np.where(long, (ends - np.where(long, ended, 0)) / _HOUR_US, 0.0)
    due = long & (age_h > due_h)
    missing = due & blank
    code, names = found.text("campaign_id")
    frame = table(
        {
            "campaign_id": names,
            **rated(
                sums(np.where(missing, code, -1), len(names)),
                sums(np.where(due, code, -1), len(names)),
            ),
        }
    ).sort_values("numerator", ascending=False, kind="stable", ignore_index=True)
    band = np.searchsorted(np.array(AGES_H, float), age_h, side="right")
    labels = [f"up to {AGES_H[0]} h", *(f"{a} to {b} h" for a, b in itertools.pairwise(AGES_H)),
              f"over {AGES_H[-1]} h"]  # fmt: skip
    ages = table({"age": labels, "calls": sums(np.where(long & blank, band, -1), len(labels))})
    rows = found.rows[missing]
    each = table(
        {"id": found.calls["id"].iloc[rows].astype("str").array, "talk_s": found.talk_s[missing]}
    )
    return Result(
        "missing_dispositions",
        f"{plural(int(missing.sum()), 'conversation')} of {int(due.sum()):,} have no disposition",
        frame,
        f"Answered calls of {human_length_s:g} s or more without a disposition {due_h:g} h after "
        "their end",
        found.balance({("not_due", "calls"): int((long & ~due).sum())}, {"not_due": "ended lately"}),
        taxonomy, found.as_of, {"ages": ages, "each": each},
        {"human_length_s": human_length_s, "due_h": due_h}, found.warnings,
    )  # fmt: skip


def late_dispositions(
    calls: pd.DataFrame,
    *,
    earlier: pd.DataFrame | None = None,
    events: pd.DataFrame | None = None,
    late_h: float = 1.0,
    taxonomy: Taxonomy = DEFAULT,
    as_of: datetime | None = None,
) -> Result:
    """Dispositions that came or changed after the call, and what that moves.

    The service's calls do not say when they changed, so this needs an earlier reading of the same
    calls, the events `disposition.logged`, or both.

    Args:
        calls: Frame of the calls table as it is now.
        earlier: The same calls as they were read before.
        events: Frame of the events table.
        late_h: Hours after the end of the call from which a logged disposition is late.
        taxonomy: What the codes mean.
        as_of: When the data was read.

    Returns:
        One row per change: `was` (null: none), `now`, `calls`. Table `each` has `id`, `was`,
        `now`, `seen_by` (`reading`, `event`) and `delay_h` where an event tells.

    Raises:
        ConfigError: A column is missing, or neither source is given.
    """
    if earlier is None and events is None:
        raise ConfigError(
            "late dispositions need an earlier reading of the calls (earlier=) or the events "
            "(events=): the calls themselves do not say when they changed"
        )
    found = dials(calls, None, taxonomy=taxonomy, as_of=as_of, include_no_campaign=True)
    parts = [_reread(calls, earlier), _told(calls, events, late_h)]
    each = pd.concat(parts, ignore_index=True).drop_duplicates("id", ignore_index=True)
    frame = each.groupby(["was", "now"], dropna=False).size().reset_index(name="calls")
    frame = frame.astype({"was": "str", "now": "str", "calls": "Int64"})
    frame = frame.sort_values("calls", ascending=False, kind="stable", ignore_index=True)
    return Result(
        "late_dispositions",
        f"{plural(len(each), 'disposition')} came or changed after the call",
        frame,
        f"Calls whose disposition differs from an earlier reading, or was logged more than "
        f"{late_h:g} h after the call ended",
        found.balance(), taxonomy, found.as_of, {"each": each}, {"late_h": late_h}, found.warnings,
    )  # fmt: skip


def _reread(calls: pd.DataFrame, earlier: pd.DataFrame | None) -> pd.DataFrame:
    if earlier is None:
        return _changes([], [], [], [], [])
    before = earlier.drop_duplicates("id", keep="first").set_index("id")["disposition"]
    there = calls[calls["id"].isin(before.index)]
    was = before.reindex(there["id"]).astype("str").fillna("").to_numpy(dtype=object)
    now = there["disposition"].astype("str").fillna("").to_numpy(dtype=object)
    differs = was != now
    ids = there["id"].to_numpy(dtype=object)[differs]
    return _changes(list(ids), list(was[differs]), list(now[differs]), ["reading"] * len(ids),
                    [np.nan] * len(ids))  # fmt: skip


def _told(calls: pd.DataFrame, events: pd.DataFrame | None, late_h: float) -> pd.DataFrame:
    """Calls whose last logged disposition came late, or after another one."""
    if events is None:
        return _changes([], [], [], [], [])
    said = logged(events)
    ended = dict(zip(calls["id"].astype("str"), micros(calls["ended_at"]), strict=False))
    rows: list[tuple[str, str, str, str, float]] = []
    for call, mine in said.dropna(subset=["call_id"]).groupby("call_id", sort=True):
        at = micros(mine["logged_at"])[-1]
        codes = ["" if pd.isna(code) else str(code) for code in mine["disposition"]]
        delay = (at - ended[call]) / _HOUR_US if call in ended else np.nan
        if len(set(codes)) > 1 or delay > late_h:
            was = codes[-2] if len(codes) > 1 else ""
            rows.append((str(call), was, codes[-1], "event", float(delay)))
    return _changes(*([list(column) for column in zip(*rows, strict=True)] or [[]] * 5))


def _changes(*columns: list[object]) -> pd.DataFrame:
    names = ("id", "was", "now", "seen_by")
    frame = {
        name: [value or None for value in values]
        for name, values in zip(names, columns, strict=False)
    }
    return table({**frame, "delay_h": np.array(columns[4], dtype=float)})
