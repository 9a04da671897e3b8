"""Two campaigns against each other: the difference, how sure it is, and what could have been seen."""

from __future__ import annotations

from datetime import datetime
from typing import Final

import numpy as np
import pandas as pd
from scipy import special

from dialframe.analytics.columns import Floats, Ints, Mask, numbered
from dialframe.analytics.dials import Dials, dials
from dialframe.analytics.groups import known_campaign
from dialframe.analytics.mix import SOURCE, attempt_level, clock_of, hour_level, source_level
from dialframe.analytics.result import Result
from dialframe.analytics.tabled import rated, ratio, sums, table
from dialframe.analytics.taxonomy import DEFAULT, Taxonomy
from dialframe.analytics.wording import share
from dialframe.errors import ConfigError

#: What campaigns can be compared by: numerator flag, denominator flag (None: all attempts).
COMPARED: Final[dict[str, tuple[str, str | None]]] = {
    "human_per_attempt": ("human", None),
    "right_party_per_attempt": ("right_party", None),
    "right_party_per_human": ("right_party", "human"),
    "positive_per_attempt": ("positive", None),
    "positive_per_human": ("positive", "human"),
    "connection_rate": ("answered", None),
}
_POWER: Final = 0.8


def compare(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None,
    a: str,
    b: str,
    *,
    metric: str = "human_per_attempt",
    alpha: float = 0.05,
    source: str = SOURCE,
    taxonomy: Taxonomy = DEFAULT,
    as_of: datetime | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> Result:
    """Whether one campaign is better than another by a rate, once and without peeking.

    Attempts on one lead are one cluster. The minimum detectable effect says which difference such
    data would show four times out of five; a difference below it may be there unseen. The test
    holds for one look at a time fixed beforehand, and says nothing of why: the table `mix` shows
    how the calls differ, and `standardised` gives campaign b the mix of a.

    Args:
        calls: Frame of the calls table.
        leads: Frame of the leads table, for clusters and mix.
        a: Campaign id.
        b: Campaign id.
        metric: Of `COMPARED`.
        alpha: Level of the test.
        source: Custom field with the source.
        taxonomy: What the codes mean.
        as_of: When the data was read.
        since: Calls from this instant on; aware.
        until: Calls before this instant; aware.

    Returns:
        One row: `a`, `b`, `metric`, `numerator_a`, `denominator_a`, `rate_a`, `numerator_b`,
        `denominator_b`, `rate_b`, `difference` (b less a), `low`, `high`, `p`,
        `minimum_detectable`, `standardised` (difference at the mix of a), `verdict`. Table `mix`
        has shares by attempt, source and local hour; table `groups` one row per campaign.

    Raises:
        ConfigError: A campaign or the metric is unknown, both campaigns are one, or a column is
            missing.
    """
    if metric not in COMPARED:
        raise ConfigError(f"metric {metric!r} cannot be compared; use {', '.join(COMPARED)}")
    if a == b:
        raise ConfigError(f"campaign {a!r} is compared with itself; name two")
    for campaign in (a, b):
        known_campaign(campaign, calls, leads)
    whole = dials(calls, leads, taxonomy=taxonomy, as_of=as_of, since=since, until=until)
    code, names = numbered(whole.calls["campaign_id"].iloc[whole.rows])
    side = np.full(len(names) + 1, -1)
    for place, name in enumerate((a, b)):
        if name in names:
            side[names.index(name)] = place
    above, below = COMPARED[metric]
    base = (side[code] >= 0) & (whole.flag(below) if below else True)
    found = whole.only(base)
    group, hit = side[code][base], found.flag(above)
    n, k = sums(group, 2), sums(np.where(hit, group, -1), 2)
    rate = ratio(k, n)
    difference = float(rate[1] - rate[0])
    error = _error(hit, group, found.cluster, rate, n)
    p = float(2 * special.ndtr(-abs(difference) / error)) if error > 0 else np.nan
    reach = (special.ndtri(1 - alpha / 2) + special.ndtri(_POWER)) * error
    z = float(special.ndtri(1 - alpha / 2))
    mix, standard = _mix(found, group, hit, source)
    verdict = _verdict(difference, p, alpha)
    row: dict[str, object] = {
        "a": a, "b": b, "metric": metric, "numerator_a": k[0], "denominator_a": n[0],
        "rate_a": rate[0], "numerator_b": k[1], "denominator_b": n[1], "rate_b": rate[1],
        "difference": difference, "low": difference - z * error, "high": difference + z * error,
        "p": p, "minimum_detectable": reach, "standardised": standard, "verdict": verdict,
    }  # fmt: skip
    frame = table({name: [value] if isinstance(value, str) else np.array([value])
                   for name, value in row.items()})  # fmt: skip
    outside = int((side[code] < 0).sum())
    return Result(
        "compare", _said(row, verdict), frame,
        f"{above.replace('_', ' ')} of {(below or 'attempts').replace('_', ' ')}; two-sided test "
        "of the difference, attempts clustered by lead",
        whole.balance({("other_campaigns", "calls"): outside}, {"other_campaigns": "counted, of "
                      "neither campaign: not compared"}),
        taxonomy, whole.as_of,
        {"mix": mix, "groups": table({"campaign_id": [a, b], **rated(k, n)})},
        {"alpha": alpha, "power": _POWER, "metric": metric},
        ("The test is for one look at a time fixed beforehand: looking again until it says yes makes "
         "it say yes.", *_mixed(mix), *whole.warnings),
    )  # fmt: skip


def _error(hit: Mask, group: Ints, cluster: Ints, rate: Floats, n: Ints) -> float:
    """Standard error of the difference, by linearisation over clusters; NaN without both."""
    if not n.all():
        return float("nan")
    influence = np.where(group == 1, 1.0, -1.0) * (hit - rate[group]) / n[group]
    _, code = np.unique(cluster, return_inverse=True)
    total = np.bincount(code, influence)
    m = len(total)
    return float(np.sqrt((total**2).sum() * m / max(m - 1, 1)))


def _mix(found: Dials, group: Ints, hit: Mask, source: str) -> tuple[pd.DataFrame, float]:
    """Shares of calls by what matters, and the difference with the mix of the first campaign."""
    code, names = source_level(found, source)
    attempt = np.minimum(attempt_level(found), 5)
    hour = hour_level(clock_of(found)) // 4
    parts = [("source", code, names), ("attempt", attempt, ["1", "2", "3", "4", "5", "6+"]),
             ("hour", hour, [f"{h}-{h + 3}" for h in range(0, 24, 4)] + ["unclear"])]  # fmt: skip
    rows = []
    for name, level, labels in parts:
        counts = [sums(np.where(group == g, level, -1), len(labels)) for g in (0, 1)]
        for i, label in enumerate(labels):
            if counts[0][i] or counts[1][i]:
                rows.append((name, label, counts[0][i], counts[1][i]))
    total = [max(int((group == g).sum()), 1) for g in (0, 1)]
    frame = table(
        {
            "of": [row[0] for row in rows],
            "level": [row[1] for row in rows],
            **{
                f"share_{side}": np.array([row[place] for row in rows], dtype=float) / total[g]
                for g, (side, place) in enumerate((("a", 2), ("b", 3)))
            },
        }
    )
    cell = (code * 6 + attempt) * 7 + hour
    size = int(cell.max(initial=0)) + 1
    n = [sums(np.where(group == g, cell, -1), size) for g in (0, 1)]
    k = [sums(np.where((group == g) & hit, cell, -1), size) for g in (0, 1)]
    both = (n[0] > 0) & (n[1] > 0)
    if not both.any():
        return frame, float("nan")
    weight = n[0][both] / n[0][both].sum()
    return frame, float((weight * (k[1][both] / n[1][both] - k[0][both] / n[0][both])).sum())


def _mixed(mix: pd.DataFrame) -> tuple[str, ...]:
    """A warning for everything by which the campaigns differ by ten points or more."""
    off = [(str(name), float((part["share_a"] - part["share_b"]).abs().max()))
           for name, part in mix.groupby("of", sort=False)]  # fmt: skip
    odd = [f"{name} (up to {100 * most:.0f} points)" for name, most in off if most >= 0.1]
    return (f"The campaigns differ in {', '.join(odd)}: see mix and standardised.",) if odd else ()


def _verdict(difference: float, p: float, alpha: float) -> str:
    if np.isnan(p):
        return "cannot be told"
    if p >= alpha:
        return "no certain difference"
    return "b is better" if difference > 0 else "a is better"


def _said(row: dict[str, object], verdict: str) -> str:
    if verdict == "cannot be told":
        return "One of the campaigns has no calls to compare"
    points = 100 * float(str(row["difference"]))
    return (
        f"{share(row['rate_a'])} against {share(row['rate_b'])}: {verdict} "
        f"({points:+.1f} points, {100 * float(str(row['low'])):.1f} to "
        f"{100 * float(str(row['high'])):.1f}; p = {float(str(row['p'])):.2g}); "
        f"{100 * float(str(row['minimum_detectable'])):.1f} points could have been seen"
    )
