"""What changed: rates against the time before, running time against paused, one taxonomy against another."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Final

import numpy as np
import pandas as pd
from scipy import special

from dialframe.analytics import metrics
from dialframe.analytics.columns import NO_TIME, Mask, is_word, micros, require
from dialframe.analytics.comparing import COMPARED
from dialframe.analytics.dials import dials
from dialframe.analytics.outcomes import BY_NAME
from dialframe.analytics.result import Result
from dialframe.analytics.tabled import rated, ratio, sums, table
from dialframe.analytics.taxonomy import DEFAULT, Taxonomy
from dialframe.analytics.wording import plural
from dialframe.errors import ConfigError

_LEAST: Final = 100


def changes(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    metric: str = "human_per_attempt",
    recent: timedelta = timedelta(days=7),
    by: str = "campaign_id",
    alarm: float = 0.01,
    taxonomy: Taxonomy = DEFAULT,
    as_of: datetime | None = None,
) -> Result:
    """Groups whose rate in the last days differs from their own rate before.

    Attempts of a lead count as one cluster; the chance of a false alarm is shared between groups.

    Args:
        calls: Frame of the calls table.
        leads: Frame of the leads table, for clusters.
        metric: Of `comparing.COMPARED`.
        recent: How long the last days are.
        by: Column of the calls to look at groups of.
        alarm: Chance of a false alarm over all groups together.
        taxonomy: What the codes mean.
        as_of: When the data was read.

    Returns:
        One row per group: the column `by`, `numerator_before`, `denominator_before`,
        `rate_before`, `numerator`, `denominator`, `rate`, `low`, `high` (of the last days),
        `change`, `p_adjusted` (null where either side has under 100 calls), `alert`.

    Raises:
        ConfigError: A column is missing, or the metric is unknown.
    """
    if metric not in COMPARED:
        raise ConfigError(f"metric {metric!r} is not watched; use {', '.join(COMPARED)}")
    found = dials(calls, leads, taxonomy=taxonomy, as_of=as_of)
    above, below = COMPARED[metric]
    found_all, found = found, found.only(found.flag(below)) if below else found
    ends = 0 if found.as_of is None else round(found.as_of.timestamp() * 1e6)
    new = found.when > ends - round(recent.total_seconds() * 1e6)
    hit, (code, names) = found.flag(above), found.text(by)
    size = len(names)
    n0, k0 = sums(np.where(~new, code, -1), size), sums(np.where(~new & hit, code, -1), size)
    n1, k1 = sums(np.where(new, code, -1), size), sums(np.where(new & hit, code, -1), size)
    p = np.array([_p(hit, new, found.cluster, code == i) for i in range(size)], dtype=float)
    p = np.where((n0 >= _LEAST) & (n1 >= _LEAST), p, np.nan)
    adjusted = np.minimum(p * max(int((~np.isnan(p)).sum()), 1), 1.0)
    after = rated(k1, n1)
    frame = table(
        {
            by: names, "numerator_before": k0, "denominator_before": n0,
            "rate_before": ratio(k0, n0), **after, "change": ratio(k1, n1) - ratio(k0, n0),
            "p_adjusted": adjusted, "alert": np.nan_to_num(adjusted, nan=1.0) < alarm,
        }
    ).sort_values(["alert", "denominator_before"], ascending=False, kind="stable", ignore_index=True)  # fmt: skip
    odd = int(frame["alert"].sum())
    return Result(
        "changes",
        f"{plural(odd, 'group')} of {size} changed in the last {recent.days} days",
        frame,
        f"{above.replace('_', ' ')} of {(below or 'attempts').replace('_', ' ')}, in the last days "
        "and before",
        found_all.balance(), taxonomy, found.as_of, {},
        {"metric": metric, "recent_days": recent.days, "alarm": alarm}, found_all.warnings,
    )  # fmt: skip


def running_rates(
    calls: pd.DataFrame,
    campaigns: pd.DataFrame,
    *,
    taxonomy: Taxonomy = DEFAULT,
    as_of: datetime | None = None,
) -> Result:
    """Rates over the time in which each campaign was seen to run.

    Args:
        calls: Frame of the calls table.
        campaigns: Readings of the campaigns table, one row per campaign and reading: `id`,
            `status`, `_observed_at`. A campaign counts as running from a reading that says so until
            the next reading.
        taxonomy: What the codes mean.
        as_of: When the data was read.

    Returns:
        One row per campaign: `campaign_id`, `running_h`, `numerator` (people), `denominator`
        (attempts while running), `rate`, `low`, `high`, `per_hour` (attempts), `outside` (attempts
        while not seen to run).

    Raises:
        ConfigError: A column is missing.
    """
    require(campaigns, ("id", "status", "_observed_at"), "campaigns readings")
    found = dials(calls, None, taxonomy=taxonomy, as_of=as_of)
    code, names = found.text("campaign_id")
    ends = 0 if found.as_of is None else round(found.as_of.timestamp() * 1e6)
    ran, hours = np.zeros(len(found), dtype=bool), np.zeros(len(names))
    for i, name in enumerate(names):
        mine = campaigns[(campaigns["id"] == name).fillna(value=False)]
        at = micros(mine["_observed_at"])
        order = np.argsort(at, kind="stable")
        at, runs = at[order], is_word(mine["status"], "running")[order]
        later = np.append(at[1:], max(ends, int(at.max(initial=NO_TIME))))
        hours[i] = float((later - at)[runs].sum()) / 3_600e6 if len(at) else 0.0
        calls_here = np.flatnonzero(code == i)
        place = np.searchsorted(at, found.when[calls_here], side="right") - 1
        ran[calls_here] = (place >= 0) & np.append(runs, False)[place]
    n = sums(np.where(ran, code, -1), len(names))
    frame = table(
        {
            "campaign_id": names,
            "running_h": hours,
            **rated(sums(np.where(ran & found.flag("human"), code, -1), len(names)), n),
            "per_hour": ratio(n, hours),
            "outside": sums(np.where(~ran, code, -1), len(names)),
        }
    )
    return Result(
        "running_rates",
        f"{plural(int(n.sum()), 'attempt')} fell into {hours.sum():,.0f} hours seen to run; "
        f"{len(found) - int(n.sum()):,} did not",
        frame, "Attempts while the last reading of the campaign said running; people of these",
        found.balance(), taxonomy, found.as_of, warnings=found.warnings,
    )  # fmt: skip


def taxonomy_effect(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None,
    before: Taxonomy,
    after: Taxonomy,
    *,
    as_of: datetime | None = None,
) -> Result:
    """What another taxonomy does to every metric.

    Returns:
        One row per metric that changes: `metric`, `before`, `after`, `change`. Table `codes` has
        the codes that the two do not agree on: `field`, `code`, `before`, `after`.

    Raises:
        ConfigError: A column is missing.
    """
    inputs = metrics.of_calls(calls, leads, before, as_of)
    old = metrics.every(inputs).table
    changed = inputs.under(after)
    new = metrics.every(changed).table
    both = old[["metric", "value"]].merge(new[["metric", "value"]], on="metric")
    values = [both[name].to_numpy(float, na_value=np.nan) for name in ("value_x", "value_y")]
    moved: Mask = ~np.isclose(values[0], values[1], rtol=1e-12, atol=0, equal_nan=True)
    frame = table(
        {
            "metric": list(both["metric"][moved]),
            "before": values[0][moved],
            "after": values[1][moved],
            "change": values[1][moved] - values[0][moved],
        }
    )
    rows = before.differences(after)
    codes = table(
        {
            name: [row[i] for row in rows]
            for i, name in enumerate(("field", "code", "before", "after"))
        }
    )
    found = changed.dials
    return Result(
        "taxonomy_effect",
        f"{plural(len(codes), 'code')} {'differs' if len(codes) == 1 else 'differ'}; {plural(len(frame), 'metric')} of {len(both)} change",
        frame, f"Every metric under taxonomy {before.version} and under {after.version}",
        found.balance(), after, found.as_of, {"codes": codes}, {"before": before.version},
        found.warnings,
    )  # fmt: skip


def ai_agreement(
    events: pd.DataFrame, calls: pd.DataFrame, *, taxonomy: Taxonomy = DEFAULT
) -> Result:
    """Whether the outcome that an AI agent's event gives agrees with the disposition of the call.

    Returns:
        One row per pair of classes: `event`, `call` (`unmapped` where a code is not known), `calls`.
        `parameters["kappa"]` is Cohen's agreement beyond chance, null under two classes.

    Raises:
        ConfigError: A column is missing.
    """
    require(events, ("type", "data"), "events")
    require(calls, ("id", "disposition"), "calls")
    told = {}
    for cell in events.loc[is_word(events["type"], "ai_call.completed"), "data"]:
        try:
            data = json.loads(cell) if isinstance(cell, str) else cell
        except ValueError:
            continue
        if isinstance(data, dict) and data.get("call_id") and data.get("disposition_code"):
            told[str(data["call_id"])] = str(data["disposition_code"])
    mine = calls[calls["id"].isin(told) & calls["disposition"].notna()]
    pairs = [
        tuple(taxonomy.outcome("disposition", code) or "unmapped" for code in (told[i], d))
        for i, d in zip(mine["id"], mine["disposition"], strict=True)
    ]
    counts = pd.Series(pairs, dtype=object).value_counts()
    frame = table(
        {
            "event": [pair[0] for pair in counts.index],
            "call": [pair[1] for pair in counts.index],
            "calls": counts.to_numpy(dtype=int),
        }
    )
    kappa = _kappa(pairs)
    same = sum(a == b for a, b in pairs)
    found = dials(calls, None, taxonomy=taxonomy)
    return Result(
        "ai_agreement", f"{same:,} of {plural(len(pairs), 'call')} agree", frame,
        "Calls with an ai_call.completed event and a disposition, by the class of either",
        found.balance(), taxonomy, found.as_of, {}, {"kappa": kappa}, found.warnings,
    )  # fmt: skip


def _p(hit: Mask, new: Mask, cluster: np.ndarray, mine: Mask) -> float:
    """Two-sided p of a difference between before and now, clustered."""
    h, side = hit[mine], new[mine]
    n = np.array([(~side).sum(), side.sum()])
    if not n.all():
        return float("nan")
    rate = np.array([h[~side].mean(), h[side].mean()])
    part = side.astype(int)
    influence = np.where(side, 1.0, -1.0) * (h - rate[part]) / n[part]
    _, code = np.unique(cluster[mine], return_inverse=True)
    error = float(np.sqrt((np.bincount(code, influence) ** 2).sum()))
    return float(2 * special.ndtr(-abs(rate[1] - rate[0]) / error)) if error else 1.0


def _kappa(pairs: list[tuple[str, ...]]) -> float | None:
    if len({name for pair in pairs for name in pair}) < 2:
        return None
    n = len(pairs)
    agreed = sum(a == b for a, b in pairs) / n
    names = [*BY_NAME, "unmapped"]
    chance = sum(
        sum(p[0] == name for p in pairs) * sum(p[1] == name for p in pairs) for name in names
    ) / n**2  # fmt: skip
    return None if chance == 1 else (agreed - chance) / (1 - chance)
