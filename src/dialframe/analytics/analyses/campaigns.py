"""Campaigns against each other, and against their own past."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

import numpy as np
import pandas as pd

from dialframe.analytics.analyses.adjusted_effects import (
    ASSUMPTIONS,
    cannot_judge,
    one_look,
    second_claim,
    thick_strata,
    tried_level,
    two_groups_judged,
    unless_sorted,
    usual_factors,
    week_code,
)
from dialframe.analytics.analysis_result import Result, result_of
from dialframe.analytics.attempt.argument_checks import analysis, one_name
from dialframe.analytics.attempt.attempt_table import (
    Attempts,
    attempt_level,
    clock_of,
    count_attempts,
    hour_level,
    source_level,
)
from dialframe.analytics.attempt.frames_to_arrays import (
    Floats,
    Ints,
    Mask,
)
from dialframe.analytics.attempt.lead_match import SOURCE, known_campaign
from dialframe.analytics.attempt.taxonomy import DEFAULT, RATES, Taxonomy
from dialframe.analytics.claims_and_tables import (
    Claim,
    plural,
    points,
    rated_calls,
    ratio,
    seen,
    share,
    sums,
    table,
    table_of_rows,
)
from dialframe.analytics.effects import POWER, Verdict
from dialframe.analytics.inference import normal_quantile, sequential_level
from dialframe.errors import ConfigError
from dialframe.instants import When

#: What campaigns can be compared by.
COMPARED: Final = {name: rate for name, rate in RATES.items() if rate.compared}


@analysis
def compare(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None,
    *,
    a: str,
    b: str,
    metric: str = "human_contact_rate",
    alpha: float = 0.05,
    planned_calls: int | None = None,
    source: str = SOURCE,
    taxonomy: Taxonomy = DEFAULT,
    as_of: When | None = None,
    since: When | None = None,
    until: When | None = None,
) -> Result:
    """Whether one campaign is better than another by a rate, with the mix of its calls held still.

    The two are compared inside week and source, with attempt, local hour, weekday and time zone held
    still; attempts on one lead are one cluster. The minimum detectable effect says which difference such
    data would show four times out of five; a difference below it may be there unseen. Who looks
    every day says how many calls are planned: the level of each look is then that of O'Brien and
    Fleming's boundary (Lan and DeMets, Biometrika 70 (1983) 659), and the looks together keep
    `alpha`.

    Args:
        calls: Frame of the calls table, or of `account.attempts()`.
        leads: Frame of the leads table, for clusters and mix.
        a: Campaign id.
        b: Campaign id.
        metric: Of `COMPARED`, the names of `metrics`.
        alpha: Level of the test, over all looks.
        planned_calls: Attempts of both campaigns at which the comparison will end; None for one look.
        source: Custom field with the source.
        taxonomy: What the codes mean.
        as_of: What was known at this instant counts; by default the latest instant in the data.
        since: Calls from this instant on; attempts are numbered over the whole history.
        until: Calls before this instant.

    Returns:
        One row: `a`, `b`, `metric`, `numerator_a`, `denominator_a`, `rate_a`, `numerator_b`,
        `denominator_b`, `rate_b`, `difference` (a less b, crude), `low`, `high`, `adjusted`
        (with the mix held still), `adjusted_low`, `adjusted_high`, `p` (of the adjusted one),
        `minimum_detectable`, `standardized` (difference at the mix of a), `verdict`. Table `mix`
        has shares by attempt, source and local hour; table `groups` one row per campaign.

    Raises:
        ConfigError: A campaign or the metric is unknown, both campaigns are one, or a column is
            missing.

    Example:
        first, second = calls["campaign_id"].dropna().unique()[:2]
        result = analytics.compare(calls, leads, a=first, b=second)
    """
    if metric not in COMPARED:
        raise ConfigError(f"metric {metric!r} cannot be compared; use {', '.join(COMPARED)}")
    if a == b:
        raise ConfigError(f"campaign {a!r} is compared with itself; name two")
    for campaign in (a, b):
        known_campaign(campaign, calls, leads)
    whole = count_attempts(calls, leads, taxonomy=taxonomy, as_of=as_of, since=since, until=until)
    code, names = whole.numbered("campaign_id")
    side = np.full(len(names) + 1, -1)
    for index, name in enumerate((a, b)):
        if name in names:
            side[names.index(name)] = index
    above, below = COMPARED[metric].above, COMPARED[metric].below
    base = (side[code] >= 0) & (whole.flag(below) if below else True)
    attempts = whole.only(base)
    group, hit = side[code][base], attempts.flag(above)
    n, k = sums(group, 2), sums(group, 2, hit)
    rate = ratio(k, n)
    difference = float(rate[0] - rate[1])
    error = _error(hit, group, attempts.cluster, rate, n)
    # Who looks before the end spends a part of the level for it (Lan and DeMets, 1983).
    level = sequential_level(alpha, 1.0 if planned_calls is None else n.sum() / planned_calls)
    z = normal_quantile(1 - level / 2)
    mix, standard = _mix(attempts, group, hit, source)
    compared = _compare_within_days(attempts, group, hit, source, level)
    # Campaigns that open at other hours have other leads at the same hour, where lists are sorted.
    (compared,) = unless_sorted(whole, compared)
    nothing = compared is None or np.isnan(compared.p)
    values: dict[str, object] = {
        "a": a, "b": b, "metric": metric, "numerator_a": k[0], "denominator_a": n[0],
        "rate_a": rate[0], "numerator_b": k[1], "denominator_b": n[1], "rate_b": rate[1],
        "difference": difference, "low": difference - z * error, "high": difference + z * error,
        "adjusted": np.nan if compared is None else compared.effect,
        "adjusted_low": np.nan if compared is None else compared.low,
        "adjusted_high": np.nan if compared is None else compared.high,
        "p": np.nan if compared is None else compared.p,
        "minimum_detectable": np.nan if compared is None else compared.detectable,
        "standardized": standard, "verdict": "cannot be told" if nothing else _verdict(compared),
    }  # fmt: skip
    frame = table({name: [value] if isinstance(value, str) else np.array([value])
                   for name, value in values.items()})  # fmt: skip
    outside = int((side[code] < 0).sum())
    looks = (one_look("planned_calls= lets you look as often as you like."),) if (
        planned_calls is None
    ) else ()  # fmt: skip
    return result_of(
        whole, "compare", (_comparison_claim(values, compared),), frame,
        f"{above.replace('_', ' ')} of {(below or 'attempts').replace('_', ' ')}; two-sided test of "
        "the difference inside week and source with attempt, hour, weekday and time zone held still, attempts "
        "clustered by lead",
        {("other_campaigns", "calls"): outside, **attempts.not_logged},
        {"other_campaigns": "counted, of neither campaign: not compared"},
        tables={"mix": mix, "groups": table({"campaign_id": [a, b], **rated_calls(group, hit, attempts.cluster, 2)})},
        parameters={"alpha": alpha, "level": level, "power": POWER, "metric": metric,
            "planned_calls": planned_calls},
        warnings=(*looks, *_mix_warnings(mix)), assumptions=ASSUMPTIONS,
        of_people=above in _OF_PEOPLE,
    )  # fmt: skip


#: What campaigns are adjusted for.
COMPARED_ADJUSTED_FOR: Final = ("week", "source", "attempt", "hour", "weekday", "time zone")


def _compare_within_days(
    attempts: Attempts, group: Ints, hit: Mask, source: str, level: float
) -> Verdict | None:
    """What can be said of a against b with the mix held still: each day's difference is one observation."""
    if not 0 < int(hit.sum()) < len(hit):
        return None
    week = week_code(attempts)
    # The groups are dialed at hours of their own: who is left at an attempt differs by it.
    tried = tried_level(attempts, hit, thick_strata(group, week, hit))
    factors = usual_factors(attempts, source=source) | {"attempt": tried}
    return two_groups_judged(attempts, group == 0, level, paired=True, hit=hit, factors=factors)


def _error(hit: Mask, group: Ints, cluster: Ints, rate: Floats, n: Ints) -> float:
    """Standard error of the difference, by linearisation over clusters; NaN without both."""
    if not n.all():
        return float("nan")
    # What each call adds to the difference; summed by lead, since calls of a lead are alike.
    influence = np.where(group == 0, 1.0, -1.0) * (hit - rate[group]) / n[group]
    _, code = np.unique(cluster, return_inverse=True)
    total = np.bincount(code, influence)
    m = len(total)
    return float(np.sqrt((total**2).sum() * m / max(m - 1, 1)))


def _mix(attempts: Attempts, group: Ints, hit: Mask, source: str) -> tuple[pd.DataFrame, float]:
    """Shares of calls by what matters, and the difference with the mix of the first campaign."""
    code, names = source_level(attempts, source)
    attempt = np.minimum(attempt_level(attempts), 5)
    # Four hours together, or hardly a cell would hold calls of both campaigns.
    hour = hour_level(clock_of(attempts)) // 4
    parts = [("source", code, names), ("attempt", attempt, ["1", "2", "3", "4", "5", "6+"]),
             ("hour", hour, [f"{h}-{h + 3}" for h in range(0, 24, 4)] + ["unclear"])]  # fmt: skip
    rows = []
    all_a, all_b = (max(int((group == g).sum()), 1) for g in (0, 1))
    for name, level, labels in parts:
        counts = [sums(level, len(labels), group == g) for g in (0, 1)]
        for i, label in enumerate(labels):
            if counts[0][i] or counts[1][i]:
                rows.append((name, label, counts[0][i] / all_a, counts[1][i] / all_b))
    frame = table_of_rows({"of": str, "level": str, "share_a": float, "share_b": float}, rows)
    cell = (code * 6 + attempt) * 7 + hour
    size = int(cell.max(initial=0)) + 1
    n = [sums(cell, size, group == g) for g in (0, 1)]
    k = [sums(cell, size, (group == g) & hit) for g in (0, 1)]
    both = (n[0] > 0) & (n[1] > 0)
    if not both.any():
        return frame, float("nan")
    # Direct standardization to the mix of a, over the cells that both have.
    weight = n[0][both] / n[0][both].sum()
    return frame, float((weight * (k[0][both] / n[0][both] - k[1][both] / n[1][both])).sum())


def _mix_warnings(mix: pd.DataFrame) -> tuple[str, ...]:
    """A warning for everything by which the campaigns differ by ten points or more."""
    off = [(str(name), float((part["share_a"] - part["share_b"]).abs().max()))
           for name, part in mix.groupby("of", sort=False)]  # fmt: skip
    # Ten points of another mix can turn a comparison round (Simpson, 1951).
    odd = [f"{name} (up to {100 * most:.0f} points)" for name, most in off if most >= 0.1]
    return (f"The campaigns differ in {', '.join(odd)}: see mix and standardized.",) if odd else ()


def _verdict(compared: Verdict | None) -> str:
    if compared is None or not compared.differs:
        return "no certain difference"
    return "a is better" if compared.effect > 0 else "b is better"


def _comparison_claim(row: dict[str, object], compared: Verdict | None) -> Claim:
    subject = f"{row['a']} against {row['b']}"
    if compared is None or np.isnan(compared.p):
        few = row["numerator_a"] == row["numerator_b"] == 0 or not row["denominator_a"] or (
            not row["denominator_b"]
        )  # fmt: skip
        why = (
            "one of the campaigns has no calls to compare"
            if few or compared is None
            else compared.why_not
        )
        return cannot_judge(subject, "The difference", why, compared)
    effect, low, high = (100 * v for v in (compared.effect, compared.low, compared.high))
    words = (
        f"{share(row['rate_a'])} against {share(row['rate_b'])}: {row['verdict']} with the mix held still "
        f"(a less b {effect:+.1f} points, {low:.1f} to {high:.1f}; p = {compared.p:.2g})"
    )
    return second_claim(compared, subject, COMPARED_ADJUSTED_FOR, words, words)


@analysis
def changes(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    metric: str = "human_contact_rate",
    recent: timedelta = timedelta(days=7),
    by: str | Sequence[str] = "campaign_id",
    alpha: float = 0.01,
    looks: int = 1,
    min_calls: int = 100,
    taxonomy: Taxonomy = DEFAULT,
    as_of: When | None = None,
) -> Result:
    """Groups whose rate in the last days differs from their own rate before.

    Now and before are compared inside source, with attempt, local hour, weekday and time zone held still, so
    that another shift is not taken for a change. Attempts of a lead are one cluster; the chance of a
    false alarm is shared between the groups (Holm) and the looks.

    Args:
        calls: Frame of the calls table, or of `account.attempts()`.
        leads: Frame of the leads table, for clusters and source.
        metric: Of `campaigns.COMPARED`, the names of `metrics`.
        recent: How long the last days are.
        by: Column of the calls to look at groups of.
        alpha: Chance of a false alarm over all groups and looks together.
        looks: How often this is looked at, for instance 30 for every day of a month; the looks
            together keep `alpha`.
        min_calls: Calls on either side below which a group is not judged.
        taxonomy: What the codes mean.
        as_of: What was known at this instant counts; by default the latest instant in the data.

    Returns:
        One row per group: the column `by`, `numerator_before`, `denominator_before`,
        `rate_before`, `numerator`, `denominator`, `rate`, `low`, `high` (of the last days),
        `change` (crude), `adjusted`, `detectable`, `p_adjusted` (null where not judged), `alert`.

    Raises:
        ConfigError: A column is missing, or the metric is unknown.
    """
    by = one_name(by)
    if metric not in COMPARED:
        raise ConfigError(f"metric {metric!r} is not watched; use {', '.join(COMPARED)}")
    whole = count_attempts(calls, leads, taxonomy=taxonomy, as_of=as_of)
    above, below = COMPARED[metric].above, COMPARED[metric].below
    attempts = whole.only(whole.mature & (whole.flag(below) if below else True))
    # The last days whose outcomes are in: the very last ones always look like a fall.
    new = attempts.when > attempts.logged_until - round(recent.total_seconds() * 1e6)
    hit, (code, names) = attempts.flag(above), attempts.text(by)
    size = len(names)
    n0, k0 = sums(code, size, ~new), sums(code, size, ~new & hit)
    n1, k1 = sums(code, size, new), sums(code, size, new & hit)
    enough = (n0 >= min_calls) & (n1 >= min_calls)
    level = alpha / max(looks, 1)
    p, change, detectable, low, high = (np.full(size, np.nan) for _ in range(5))
    groups = max(int(enough.sum()), 1)
    for i in np.flatnonzero(enough):
        mine = code == i
        part = attempts.only(mine)
        verdict = two_groups_judged(
            part, new[mine], level, paired=False, hit=hit[mine], tests=groups
        )
        if verdict is not None:
            change[i], low[i], high[i] = verdict.effect, verdict.low, verdict.high
            p[i], detectable[i] = verdict.p, verdict.detectable
    # Of twenty campaigns one falls by chance: the groups share one level, which is in each p and its bounds.
    adjusted = p
    alert = np.nan_to_num(adjusted, nan=1.0) < level
    frame = table(
        {
            by: names, "numerator_before": k0, "denominator_before": n0,
            "rate_before": ratio(k0, n0), **rated_calls(np.where(new, code, -1), hit, attempts.cluster, size),
            "change": ratio(k1, n1) - ratio(k0, n0),
            "adjusted": change, "detectable": detectable, "p_adjusted": adjusted, "alert": alert,
        }
    ).sort_values(["alert", "denominator_before"], ascending=False, kind="stable", ignore_index=True)  # fmt: skip
    return result_of(
        whole, "changes", _change_claims(names, p, adjusted, change, detectable, low, high, level, recent),
        frame,
        f"{above.replace('_', ' ')} of {(below or 'attempts').replace('_', ' ')}, in the last days "
        "and before",
        whole.not_logged,
        parameters={"metric": metric, "recent_days": recent / timedelta(days=1), "alpha": alpha,
         "looks": looks, "min_calls": min_calls},
        warnings=() if looks > 1 else (one_look("looks= says how often you will."),),
        assumptions=ASSUMPTIONS, of_people=above in _OF_PEOPLE,
    )  # fmt: skip


#: Flags that say that a person answered.
_OF_PEOPLE: Final = ("human", "right_party", "positive", "appointment", "conversion")
#: What a change is adjusted for.
CHANGE_ADJUSTED_FOR: Final = ("source", "attempt", "hour", "weekday", "time zone")


def _change_claims(
    names: list[str], p: Floats, adjusted: Floats, change: Floats, detectable: Floats, low: Floats,
    high: Floats, level: float, recent: timedelta,
) -> tuple[Claim, ...]:  # fmt: skip
    days = f"{recent / timedelta(days=1):g} days"
    claims = []
    for i in np.flatnonzero(np.nan_to_num(adjusted, nan=1.0) < level):
        word = "rose" if change[i] > 0 else "fell"
        claims.append(Claim(
            "alarm", names[i], float(change[i]), float(low[i]), float(high[i]),
            float(detectable[i]), CHANGE_ADJUSTED_FOR,
            f"{names[i]} {word} by {points(abs(change[i]))} in the last {days}",
        ))  # fmt: skip
    if claims:
        return tuple(claims)
    judged_groups = int((~np.isnan(p)).sum())
    if not judged_groups:
        return (Claim("none", "change", text=f"No group has enough calls in the last {days}"),)
    known = detectable[np.isfinite(detectable)]
    middle = float(np.median(known)) if len(known) else None
    text = f"None of {plural(judged_groups, 'group')} changed in the last {days}{seen(middle)}"
    return (Claim("none", "change", None, None, None, middle, CHANGE_ADJUSTED_FOR, text),)
