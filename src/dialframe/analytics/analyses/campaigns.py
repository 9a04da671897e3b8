"""Campaigns against each other, and against their own past."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Final, Unpack

import numpy as np
import pandas as pd

from dialframe.analytics.analyses.adjusted_effects import (
    ASSUMPTIONS,
    Compared,
    one_look,
    tried_level,
    two_compared,
    usual_factors,
    week_code,
)
from dialframe.analytics.analysis_result import Result, result_of
from dialframe.analytics.attempt.argument_checks import Known, Window, analysis
from dialframe.analytics.attempt.attempt_table import (
    Attempts,
    attempt_level,
    clock_of,
    count_attempts,
    hour_level,
    source_level,
)
from dialframe.analytics.attempt.frames_to_arrays import (
    NO_TIME,
    Floats,
    Ints,
    Mask,
    is_word,
    micros,
    require,
)
from dialframe.analytics.attempt.lead_match import SOURCE, known_campaign
from dialframe.analytics.attempt.taxonomy import BY_NAME, DEFAULT, RATES, Taxonomy
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
from dialframe.analytics.inference import (
    POWER,
    holm,
    normal_quantile,
    sequential_level,
    tested_level,
)
from dialframe.errors import ConfigError

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
    **selection: Unpack[Window],
) -> Result:
    """Whether one campaign is better than another by a rate, with the mix of its calls held still.

    The two are compared inside week and source, with attempt, local hour, weekday and time zone held
    still; attempts on one lead are one cluster. The minimum detectable effect says which difference such
    data would show four times out of five; a difference below it may be there unseen. Who looks
    every day says how many calls are planned: the level of each look is then that of O'Brien and
    Fleming's boundary (Lan and DeMets, Biometrika 70 (1983) 659), and the looks together keep
    `alpha`.

    Args:
        leads: Frame of the leads table, for clusters and mix.
        a: Campaign id.
        b: Campaign id.
        metric: Of `COMPARED`, the names of `metrics`.
        alpha: Level of the test, over all looks.
        planned_calls: Attempts of both campaigns at which the comparison will end; None for one look.
        source: Custom field with the source.

    Returns:
        One row: `a`, `b`, `metric`, `numerator_a`, `denominator_a`, `rate_a`, `numerator_b`,
        `denominator_b`, `rate_b`, `difference` (b less a, crude), `low`, `high`, `adjusted`
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
    whole = count_attempts(calls, leads, **selection)
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
    difference = float(rate[1] - rate[0])
    error = _error(hit, group, attempts.cluster, rate, n)
    # Who looks before the end spends a part of the level for it (Lan and DeMets, 1983).
    level = sequential_level(alpha, 1.0 if planned_calls is None else n.sum() / planned_calls)
    z = normal_quantile(1 - tested_level(level) / 2)
    mix, standard = _mix(attempts, group, hit, source)
    compared = _held_still(attempts, group, hit, source, level)
    adjusted = compared or (None, np.nan, np.nan, np.nan)
    values: dict[str, object] = {
        "a": a, "b": b, "metric": metric, "numerator_a": k[0], "denominator_a": n[0],
        "rate_a": rate[0], "numerator_b": k[1], "denominator_b": n[1], "rate_b": rate[1],
        "difference": difference, "low": difference - z * error, "high": difference + z * error,
        "adjusted": adjusted[1], "adjusted_low": adjusted[2], "adjusted_high": adjusted[3],
        "p": np.nan if compared is None else compared.verdict.p,
        "minimum_detectable": np.nan if compared is None else compared.verdict.detectable,
        "standardized": standard, "verdict": _verdict(compared),
    }  # fmt: skip
    frame = table({name: [value] if isinstance(value, str) else np.array([value])
                   for name, value in values.items()})  # fmt: skip
    outside = int((side[code] < 0).sum())
    looks = (one_look("planned_calls= lets you look as often as you like."),) if (
        planned_calls is None
    ) else ()  # fmt: skip
    return result_of(
        whole, "compare", (_compared_claim(values, compared),), frame,
        f"{above.replace('_', ' ')} of {(below or 'attempts').replace('_', ' ')}; two-sided test of "
        "the difference inside week and source with attempt, hour, weekday and time zone held still, attempts "
        "clustered by lead",
        {("other_campaigns", "calls"): outside, **attempts.not_logged},
        {"other_campaigns": "counted, of neither campaign: not compared"},
        tables={"mix": mix, "groups": table({"campaign_id": [a, b], **rated_calls(group, hit, attempts.cluster, 2)})},
        parameters={"alpha": alpha, "level": level, "power": POWER, "metric": metric,
            "planned_calls": planned_calls},
        warnings=(*looks, *_mixed(mix)), assumptions=ASSUMPTIONS,
    )  # fmt: skip


#: What campaigns are adjusted for.
COMPARED_ADJUSTED_FOR: Final = ("week", "source", "attempt", "hour", "weekday", "time zone")


def _held_still(
    attempts: Attempts, group: Ints, hit: Mask, source: str, level: float
) -> Compared | None:
    """What can be said of b against a with the mix held still."""
    if not 0 < int(hit.sum()) < len(hit):
        return None
    strata = [week_code(attempts), source_level(attempts, source)[0]]
    # The groups are dialed at hours of their own: who is left at an attempt differs by it.
    tried = tried_level(attempts, hit, [*strata, group])
    return two_compared(
        attempts, {"campaign": group == 1}, level, hit=hit, strata=strata,
        factors=usual_factors(attempts) | {"attempt": tried},
        z=normal_quantile(1 - tested_level(level) / 2),
    )  # fmt: skip


def _error(hit: Mask, group: Ints, cluster: Ints, rate: Floats, n: Ints) -> float:
    """Standard error of the difference, by linearisation over clusters; NaN without both."""
    if not n.all():
        return float("nan")
    # What each call adds to the difference; summed by lead, since calls of a lead are alike.
    influence = np.where(group == 1, 1.0, -1.0) * (hit - rate[group]) / n[group]
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
    return frame, float((weight * (k[1][both] / n[1][both] - k[0][both] / n[0][both])).sum())


def _mixed(mix: pd.DataFrame) -> tuple[str, ...]:
    """A warning for everything by which the campaigns differ by ten points or more."""
    off = [(str(name), float((part["share_a"] - part["share_b"]).abs().max()))
           for name, part in mix.groupby("of", sort=False)]  # fmt: skip
    # Ten points of another mix can turn a comparison round (Simpson, 1951).
    odd = [f"{name} (up to {100 * most:.0f} points)" for name, most in off if most >= 0.1]
    return (f"The campaigns differ in {', '.join(odd)}: see mix and standardized.",) if odd else ()


def _verdict(compared: Compared | None) -> str:
    if compared is None:
        return "cannot be told"
    if not compared.verdict.differs:
        return "no certain difference"
    return "b is better" if compared.difference > 0 else "a is better"


def _compared_claim(row: dict[str, object], compared: Compared | None) -> Claim:
    subject = f"{row['b']} against {row['a']}"
    if compared is None:
        few = row["numerator_a"] == row["numerator_b"] == 0 or not row["denominator_a"] or (
            not row["denominator_b"]
        )  # fmt: skip
        why = "One of the campaigns has no calls to compare" if few else (
            "Nothing can be told of the difference: with week, source, attempt and hour held still "
            "there are too few calls of both"
        )  # fmt: skip
        return Claim("none", subject, text=why)
    verdict, effect, low, high = compared
    words = (
        f"{share(row['rate_a'])} against {share(row['rate_b'])}: {row['verdict']} with the mix held "
        f"still ({100 * effect:+.1f} points, {100 * low:.1f} to {100 * high:.1f}; "
        f"p = {verdict.p:.2g})"
    )
    return compared.claim(subject, COMPARED_ADJUSTED_FOR, words, words)


@analysis
def changes(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    metric: str = "human_contact_rate",
    recent: timedelta = timedelta(days=7),
    by: str = "campaign_id",
    alpha: float = 0.01,
    looks: int = 1,
    min_calls: int = 100,
    **selection: Unpack[Known],
) -> Result:
    """Groups whose rate in the last days differs from their own rate before.

    Now and before are compared inside source, with attempt, local hour, weekday and time zone held still, so
    that another shift is not taken for a change. Attempts of a lead are one cluster; the chance of a
    false alarm is shared between the groups (Holm) and the looks.

    Args:
        leads: Frame of the leads table, for clusters and source.
        metric: Of `campaigns.COMPARED`, the names of `metrics`.
        recent: How long the last days are.
        by: Column of the calls to look at groups of.
        alpha: Chance of a false alarm over all groups and looks together.
        looks: How often this is looked at, for instance 30 for every day of a month; the looks
            together keep `alpha`.
        min_calls: Calls on either side below which a group is not judged.

    Returns:
        One row per group: the column `by`, `numerator_before`, `denominator_before`,
        `rate_before`, `numerator`, `denominator`, `rate`, `low`, `high` (of the last days),
        `change` (crude), `adjusted`, `detectable`, `p_adjusted` (null where not judged), `alert`.

    Raises:
        ConfigError: A column is missing, or the metric is unknown.
    """
    if metric not in COMPARED:
        raise ConfigError(f"metric {metric!r} is not watched; use {', '.join(COMPARED)}")
    whole = count_attempts(calls, leads, **selection)
    above, below = COMPARED[metric].above, COMPARED[metric].below
    attempts = whole.only(whole.mature & (whole.flag(below) if below else True))
    # The last days whose outcomes are in: the very last ones always look like a fall.
    new = attempts.when > attempts.logged_until - round(recent.total_seconds() * 1e6)
    hit, (code, names) = attempts.flag(above), attempts.text(by)
    size = len(names)
    n0, k0 = sums(code, size, ~new), sums(code, size, ~new & hit)
    n1, k1 = sums(code, size, new), sums(code, size, new & hit)
    enough = (n0 >= min_calls) & (n1 >= min_calls)
    level = tested_level(alpha) / max(looks, 1)
    p, change, detectable, low, high = (np.full(size, np.nan) for _ in range(5))
    groups = max(int(enough.sum()), 1)
    for i in np.flatnonzero(enough):
        mine = code == i
        part = attempts.only(mine)
        compared = two_compared(
            part, {"now": new[mine]}, alpha / max(looks, 1), hit=hit[mine], tests=groups,
            strata=[source_level(part)[0]],
        )  # fmt: skip
        if compared is not None:
            verdict, change[i], low[i], high[i] = compared
            p[i], detectable[i] = verdict.p, verdict.detectable
    # Of twenty campaigns one falls by chance: the groups share one level.
    adjusted = holm(p)
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
        assumptions=ASSUMPTIONS,
    )  # fmt: skip


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
    middle = float(np.nanmedian(detectable))
    text = f"None of {plural(judged_groups, 'group')} changed in the last {days}{seen(middle)}"
    return (Claim("none", "change", None, None, None, middle, CHANGE_ADJUSTED_FOR, text),)


@analysis
def running_rates(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    campaigns: pd.DataFrame,
    **selection: Unpack[Window],
) -> Result:
    """Rates over the time in which each campaign was seen to run.

    Args:
        leads: Frame of the leads table, so that calls to one lead count as one cluster.
        campaigns: Readings of the campaigns table, one row per campaign and reading: `id`,
            `status`, `_observed_at`. A campaign counts as running from a reading that says so until
            the next reading.
        since: Count calls from this instant on; hours are those of all readings.

    Returns:
        One row per campaign: `campaign_id`, `running_h`, `numerator` (people), `denominator`
        (attempts while running), `rate`, `low`, `high`, `per_hour` (attempts), `outside` (attempts
        while not seen to run).

    Example:
        result = analytics.running_rates(calls, campaigns=account.campaigns())
    """
    require(campaigns, ("id", "status", "_observed_at"), "campaigns readings")
    attempts = count_attempts(calls, leads, **selection)
    code, names = attempts.text("campaign_id")
    ran, hours = np.zeros(len(attempts), dtype=bool), np.zeros(len(names))
    for i, name in enumerate(names):
        campaign_rows = campaigns[(campaigns["id"] == name).fillna(value=False)]
        at = micros(campaign_rows["_observed_at"])
        order = np.argsort(at, kind="stable")
        at, runs = at[order], is_word(campaign_rows["status"], "running")[order]
        # The contract gives a campaign's last instants alone: it ran where a reading saw it run.
        later = np.append(at[1:], max(attempts.as_of_us, int(at.max(initial=NO_TIME))))
        hours[i] = float((later - at)[runs].sum()) / 3_600e6 if len(at) else 0.0
        calls_here = np.flatnonzero(code == i)
        reading = np.searchsorted(at, attempts.when[calls_here], side="right") - 1
        ran[calls_here] = (reading >= 0) & np.append(runs, False)[reading]
    n = sums(code, len(names), ran)
    frame = table(
        {
            "campaign_id": names,
            "running_h": hours,
            **rated_calls(
                np.where(ran, code, -1), attempts.flag("human"), attempts.cluster, len(names)
            ),
            "per_hour": ratio(n, hours),
            "outside": sums(code, len(names), ~ran),
        }
    )
    return result_of(
        attempts, "running_rates",
        f"{plural(int(n.sum()), 'attempt')} fell into {hours.sum():,.0f} hours seen to run; "
        f"{len(attempts) - int(n.sum()):,} did not",
        frame, "Attempts while the last reading of the campaign said running; people of these",
    )  # fmt: skip


@analysis
def ai_agreement(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    events: pd.DataFrame,
    taxonomy: Taxonomy = DEFAULT,
) -> Result:
    """Whether the outcome that an AI agent's event gives agrees with the disposition of the call.

    Args:
        events: Frame of the events table.

    Returns:
        One row per pair of classes: `event`, `call` (`unmapped` where a code is not known), `calls`.
        `parameters["kappa"]` is Cohen's agreement beyond chance, null under two classes.

    Example:
        result = analytics.ai_agreement(calls, events=events)
    """
    require(events, ("type", "data"), "events")
    require(calls, ("id", "disposition"), "calls")
    ai_outcome = {}
    for cell in events.loc[is_word(events["type"], "ai_call.completed"), "data"]:
        try:
            data = json.loads(cell) if isinstance(cell, str) else cell
        except ValueError:
            continue
        if isinstance(data, dict) and data.get("call_id") and data.get("disposition_code"):
            ai_outcome[str(data["call_id"])] = str(data["disposition_code"])
    # Only calls of which both have said something can agree or not.
    judged_twice = calls[calls["id"].isin(ai_outcome) & calls["disposition"].notna()]
    pairs = [
        tuple(taxonomy.outcome("disposition", code) or "unmapped" for code in (ai_outcome[i], d))
        for i, d in zip(judged_twice["id"], judged_twice["disposition"], strict=True)
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
    attempts = count_attempts(calls, leads, taxonomy=taxonomy)
    return result_of(
        attempts, "ai_agreement", f"{same:,} of {plural(len(pairs), 'call')} agree", frame,
        "Calls with an ai_call.completed event and a disposition, by the class of either",
        parameters={"kappa": kappa},
    )  # fmt: skip


def _kappa(pairs: list[tuple[str, ...]]) -> float | None:
    if len({name for pair in pairs for name in pair}) < 2:
        return None
    n = len(pairs)
    agreed = sum(a == b for a, b in pairs) / n
    names = [*BY_NAME, "unmapped"]
    chance = sum(
        sum(p[0] == name for p in pairs) * sum(p[1] == name for p in pairs) for name in names
    ) / n**2  # fmt: skip
    # Cohen, Educ. Psychol. Meas. 20 (1960) 37-46.
    return None if chance == 1 else (agreed - chance) / (1 - chance)
