"""What a level of something does to the chance of a person, with the rest held still, as claims.

Every analysis that says better, best, worse, advised or no difference asks here. The comparison is
made inside campaign, week and source, with the attempt and what else is passed as factors; what the
answer cannot say is a part of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypedDict, Unpack

import numpy as np

from dialframe.analytics.attempt.attempt_table import (
    MOST_ATTEMPTS,
    Attempts,
    ahead_h,
    attempt_level,
    clock_of,
    hour_level,
    local_match,
    source_level,
    weekday_level,
    zone_level,
)
from dialframe.analytics.attempt.frames_to_arrays import HOUR_US, Floats, Ints, Mask, digest
from dialframe.analytics.attempt.lead_match import SOURCE
from dialframe.analytics.claims_and_tables import Claim, Kind, points, seen, share, sums
from dialframe.analytics.inference import (
    Effects,
    detectable_effect,
    holm,
    needed_noncentrality,
    normal_quantile,
    tested_level,
)
from dialframe.analytics.rate_ratios import (
    RateRatios,
    day_variance,
    effects_of,
    joined,
    rate_ratios,
)

#: Log ratio from which on a difference is beyond everything that calls show.
_MOST_LOG: Final = 6.0
_WEEK_US: Final = 7 * 24 * HOUR_US
#: 1970 began on a Thursday: weeks are counted from a Monday.
_MONDAY_US: Final = 3 * 24 * HOUR_US

#: What a difference between levels may look like, where its detectable size is stated.
Shape = Literal["halves", "third", "one", "named"]

#: Why levels cannot be judged, where nothing else is known of it.
TOO_LITTLE: Final = "the calls differ too little in it, or too few reached a person"

#: What claims take for granted, in every result that makes them.
ASSUMPTIONS: Final = (
    "what was held still multiplies the chance of a person, alike in every campaign",
    "what is in no column (who a lead is, what was said) does not go with what is compared",
    "attempts on one lead are one cluster, calls of one day of a campaign may be better or worse than "
    "those of another, and leads are otherwise independent of each other",
)


def one_look(otherwise: str) -> str:
    """The warning of a test whose level is that of one look.

    Args:
        otherwise: What lets one look more often.
    """
    return (
        "The test is for one look at a time fixed beforehand: looking again until it says yes makes "
        f"it say yes. {otherwise}"
    )


def week_code(attempts: Attempts) -> Ints:
    """Week of each attempt (from Monday, UTC), from 0 up."""
    week = (attempts.when + _MONDAY_US) // _WEEK_US
    return week - int(week.min(initial=0)) if len(week) else week


def campaign_code(attempts: Attempts) -> Ints:
    """Campaign of each attempt, from 0 up."""
    return attempts.text("campaign_id")[0]


def local_day(attempts: Attempts) -> Ints:
    """Local day of each attempt since 1970 (that of UTC where it is not certain)."""
    return (attempts.when // HOUR_US + ahead_h(attempts)) // 24


def day_code(attempts: Attempts) -> Ints:
    """Local day of each attempt in its campaign, from 0 up."""
    day = local_day(attempts)
    # A good day of one campaign says nothing of another: a day is one of its campaign.
    day -= int(day.min(initial=0))
    return joined([campaign_code(attempts), day], len(attempts))


def usual_strata(attempts: Attempts, source: str = SOURCE) -> list[Ints]:
    """Campaign, week and source: inside these everything is compared."""
    return [campaign_code(attempts), week_code(attempts), source_level(attempts, source)[0]]


def usual_factors(attempts: Attempts, *without: str) -> dict[str, Ints]:
    """Attempt, local hour, weekday and time zone, but for those that are under study themselves."""
    clock = clock_of(attempts)
    # The zone is a factor beside the local hour: where people live is known to change who answers.
    factors = {
        "attempt": attempt_level(attempts),
        "hour": hour_level(clock),
        "weekday": weekday_level(clock),
        "zone": zone_level(attempts),
    }
    return {name: code for name, code in factors.items() if name not in without}


def caller_model(attempts: Attempts, *, weekly: bool = True) -> RateRatios:
    """The chance of a person that campaign, week, source, attempt, hour and presence give a call.

    Args:
        attempts: The attempts.
        weekly: Inside the week, or over the whole time, for who compares a number with its own past.
    """
    return rate_ratios(
        attempts.flag("human"), [campaign_code(attempts), *([week_code(attempts)] if weekly else [])],
        {"source": source_level(attempts)[0], **usual_factors(attempts),
         "local": local_match(attempts).astype(np.int64)},
        attempts.cluster, wanted=[],
    )  # fmt: skip


def day_spread(attempts: Attempts) -> float:
    """Variance of what a day multiplies all chances of its campaign by, from all attempts.

    Of some attempts alone, first ones for instance, strata and factors take up what days differ by, and
    the variance seems to be nothing.
    """
    # Kept for all who count the same calls: the model behind it is the dearest part of a claim.
    key = f"day spread {digest(source_level(attempts)[0]).hex()}"
    if key not in attempts.arrays:
        model = caller_model(attempts)
        attempts.arrays[key] = day_variance(
            attempts.flag("human"), model.stratum, model.expected, day_code(attempts)
        )
    return float(attempts.arrays[key])


def tried_level(attempts: Attempts, hit: Mask, strata: Sequence[Ints]) -> Ints:
    """Attempt, and within it how good the hours of the lead's earlier attempts were, in quarters.

    Who was tried at good hours and not reached is harder to reach than who was tried at poor ones.
    Groups that are dialed at hours of their own would differ by it at the same attempt.

    Args:
        attempts: The attempts.
        hit: What the chance is of.
        strata: What hours and weekdays are compared inside of, the groups among it.
    """
    attempt = attempt_level(attempts)
    chance = rate_ratios(
        hit, strata, usual_factors(attempts), attempts.cluster, wanted=[]
    ).relative
    order = attempts.order
    total = np.cumsum(chance[order])
    first = np.flatnonzero(attempts.opens)
    before = total - chance[order]
    before -= np.repeat(before[first], np.diff(first, append=len(order)))
    tried = np.empty(len(attempts))
    # Equal hours are equal: the sum's last digits depend on the calls before and on the processor.
    tried[order] = np.round(before, 8)
    quarter = np.zeros(len(attempts), dtype=np.int64)
    for i in range(1, MOST_ATTEMPTS):
        of_attempt = attempt == i
        if of_attempt.any():
            edges = np.quantile(tried[of_attempt], (0.25, 0.5, 0.75))
            quarter[of_attempt] = np.searchsorted(edges, tried[of_attempt], side="right")
    return attempt * 4 + quarter


def pooled(level: Ints, size: int, least: int) -> tuple[Ints, Mask]:
    """Levels with too few trials as one level behind the others, and which levels have enough."""
    # A level with few trials has errors that cannot be relied on (Vittinghoff and McCulloch, 2007): it is
    # held still with others like it, and never named.
    count = sums(level, size)
    enough = count >= max(least, 1)
    return np.where(enough[level], level, size), enough


class Inside(TypedDict, total=False):
    """What a comparison of levels is of and is made inside of; each is of all attempts but `rows`.

    Attributes:
        rows: Which attempts; by default all.
        strata: What to compare inside of; by default campaign, week and source.
        factors: What else is held still; by default attempt, local hour, weekday and time zone.
        hit: What the chance is of; by default that a person answered.
    """

    rows: Ints
    strata: Sequence[Ints]
    factors: Mapping[str, Ints]
    hit: Mask


def people_by(
    attempts: Attempts, levels: Mapping[str, Ints], **inside: Unpack[Inside]
) -> Mapping[str, Effects]:
    """The effects of levels on the chance of a person, or of what else is to hit.

    Only attempts that are old enough for their outcome to be known have a say.

    Args:
        attempts: The attempts.
        levels: Level of each attempt (of `rows`, where given) from 0 up, by what they are of: `hour`.
        inside: What it is of and inside of.
    """
    rows = inside.get("rows", np.arange(len(attempts)))
    # Answered calls without an outcome yet would count as no person, and as the fault of the last level.
    mature = attempts.mature[rows]
    rows = rows[mature]
    strata = inside["strata"] if "strata" in inside else usual_strata(attempts)
    factors = inside["factors"] if "factors" in inside else usual_factors(attempts, *levels)
    return effects_of(
        inside.get("hit", attempts.flag("human"))[rows],
        [code[rows] for code in strata],
        {
            **{name: code[rows] for name, code in factors.items()},
            **{name: level[mature] for name, level in levels.items()},
        },
        attempts.cluster[rows],
        wanted=list(levels),
        day=day_code(attempts)[rows],
        day_spread=day_spread(attempts.ever),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """What can be said of the levels of one thing.

    Attributes:
        effects: Their effects.
        p: Of the test that none differs; NaN where nothing can be compared.
        differs: Whether they do.
        best: Level with the highest shrunk rate, -1 without.
        worst: Level with the lowest.
        best_stands_out: Whether the best one is certainly above all others together.
        effect: Difference of the shrunk rates of best and worst.
        low: Lower bound of the difference of the two.
        high: Upper bound.
        detectable: Difference that would have been seen four times out of five, of the shape that was
            asked for; NaN where nothing can be compared.
    """

    effects: Effects
    p: float
    differs: bool
    best: int
    worst: int
    best_stands_out: bool
    effect: float
    low: float
    high: float
    detectable: float


def judged(
    effects: Effects, keep: Mask, alpha: float, *, min_points: float = 0.0, tests: int = 1,
    shape: Shape = "halves",
) -> Judged:  # fmt: skip
    """Whether levels differ, which is best, and what would have been seen.

    Args:
        effects: Of the levels, and perhaps of a last one where thin ones are pooled.
        keep: Levels that may be named.
        alpha: Chance of a difference where there is none, over all `tests`.
        min_points: Difference in points below which a difference is not worth a word.
        tests: How many such questions are asked together.
        shape: The difference whose detectable size is stated: between the two halves of levels in an
            order, of a third of the trials in a row from the others, of one level from the others, or of
            one level that is also known to be the one.
    """
    # Bonferroni over the questions of one analysis; within one, Holm names the best level.
    level = tested_level(alpha) / tests
    _, df, p = effects.test()
    known = min(len(effects.compared), len(keep))
    named = np.flatnonzero(effects.compared[:known] & keep[:known])
    nan = float("nan")
    nothing = Judged(
        effects, nan, differs=False, best=-1, worst=-1, best_stands_out=False, effect=0.0,
        low=nan, high=nan, detectable=nan,
    )  # fmt: skip
    if df < 1 or len(named) < 2 or np.isnan(p) or not 0 < effects.base < 1:
        return nothing
    rates = effects.rates(shrink=True)
    best = int(named[np.argmax(rates[named])])
    worst = int(named[np.argmin(rates[named])])
    # The bounds are of the difference of the two, whose errors are not independent of each other.
    error, gap = effects.between(best, worst)
    z = normal_quantile(1 - alpha / 2)
    scale = float(rates[worst])
    bounds = [scale * (np.exp(gap + sign * z * error) - 1) for sign in (-1, 1)]
    effect = float(rates[best] - rates[worst])
    ratio, _ = effects.against_rest()
    # To be the best is one of several questions, of which the first to be seen is the one that looks best.
    above = holm(np.nan_to_num(effects.rest_p()[named], nan=1.0))
    best_index = int(np.flatnonzero(named == best)[0])
    # Certain and of use are two things: with many calls a tenth of a point is certain.
    differs = bool(p < level and 100 * effect >= min_points)
    return Judged(
        effects, p, differs, best, worst,
        bool(differs and above[best_index] < tested_level(alpha) and ratio[best] > 0), effect,
        min(bounds[0], effect), max(bounds[1], effect),
        max(
            _named_detectable(effects, df, level, named) if shape == "named"
            else _halves_detectable(effects, df, level) if shape == "halves"
            else _part_detectable(effects, df, level, shape),
            min_points / 100,
        ),
    )  # fmt: skip


def levels_judged(
    attempts: Attempts, levels: Mapping[str, Ints], size: int, least: int, alpha: float, *,
    tests: int = 1, shape: Shape = "halves", **inside: Unpack[Inside],
) -> Judged | None:  # fmt: skip
    """What can be said of the levels of one thing, where some trials hit and some do not.

    Args:
        attempts: The attempts.
        levels: As `people_by` takes them, of one thing.
        size: How many levels there are.
        least: Trials below which a level is pooled with others, and not named.
        alpha: As `judged` takes it, like `tests` and `shape`.
        tests: How many such questions are asked together.
        shape: The difference whose detectable size is stated.
        inside: What it is of and inside of.
    """
    ((name, level),) = levels.items()
    hits = inside.get("hit", attempts.flag("human"))[inside.get("rows", slice(None))]
    if not 0 < int(hits.sum()) < len(hits):
        return None
    thin, enough = pooled(level, size, least)
    effects = people_by(attempts, {name: thin}, **inside)[name]
    return judged(effects, enough, alpha, tests=tests, shape=shape)


class Compared(NamedTuple):
    """What can be said of two levels: the second less the first as a difference of rates, with its bounds."""

    verdict: Judged
    difference: float
    low: float
    high: float

    def claim(self, subject: str, adjusted_for: tuple[str, ...], so: str, not_so: str) -> Claim:
        """The claim that they differ, or that it is not certain, with what would have been seen."""
        kind: Kind = "difference" if self.verdict.differs else "none"
        text = so if self.verdict.differs else f"{not_so}{seen(self.verdict.detectable)}"
        return Claim(kind, subject, *self[1:], self.verdict.detectable, adjusted_for, text)


def two_compared(
    attempts: Attempts, levels: Mapping[str, Mask], alpha: float, *,
    tests: int = 1, z: float = 1.96, **inside: Unpack[Inside],
) -> Compared | None:  # fmt: skip
    """What can be said of the attempts of a level against all others, with bounds `z` errors away.

    Args:
        attempts: The attempts.
        levels: Which of them are of the second level, by what it is of.
        alpha: As `judged` takes it, like `tests`.
        tests: How many such questions are asked together.
        z: How many errors the bounds are away.
        inside: What it is of and inside of.
    """
    ((name, second),) = levels.items()
    verdict = (
        levels_judged(attempts, {name: second.astype(np.int64)}, 2, 1, alpha, tests=tests, **inside)
        if 0 < int(second.sum()) < len(second) else None
    )  # fmt: skip
    if verdict is None or np.isnan(verdict.p):
        return None
    return Compared(verdict, *second_less_first(verdict.effects, z))


def second_less_first(effects: Effects, z: float = 1.96) -> tuple[float, float, float]:
    """Rate of the second of two levels less that of the first, and its bounds `z` errors away."""
    error, gap = effects.between(1, 0)
    # The bounds of a ratio are carried over to the rate of the first, which is taken for known.
    rate = float(effects.rates()[0])
    difference, low, high = (rate * float(np.expm1(gap + s * z * error)) for s in (0, -1, 1))
    return difference, low, high


def _halves_detectable(effects: Effects, df: int, alpha: float) -> float:
    """The difference between two halves of the levels, or from one level to another, that is seen so often."""
    precision = effects.precision(effects.half())
    if precision <= 0:
        return float("inf")
    if df == 1:
        return effects.base * float(np.expm1(detectable_effect(precision**-0.5, alpha)))
    # Half a step up and half a step down from the mean are a difference of two sinh of half a step.
    step = float(np.sqrt(needed_noncentrality(df, alpha) / precision))
    return 2 * effects.base * float(np.sinh(step / 2))


def _part_detectable(effects: Effects, df: int, alpha: float, shape: Shape) -> float:
    """How far above the others a part of the levels is where that is seen so often.

    The typical level; of thirds of the day the one that is seen least well, since shifts show some of
    them to a part of the campaigns alone.

    The part hits more often than it did where nothing differs, which makes its own error smaller: the
    noncentrality of a step x is not `precision` times x squared but as much more as the variance
    1 / hits of the part is less.
    """
    parts = (
        effects.thirds()
        if shape == "third"
        else [[int(i)] for i in np.flatnonzero(effects.compared)]
    )
    # Hotelling's correction of the test is one of what it needs to see, too.
    few = max(effects.clusters - df, 1) / (effects.clusters + df)
    needed = needed_noncentrality(df, alpha) / few
    trials = np.where(effects.compared, effects.trials, 0)
    steps = []
    for part in parts:
        precision, share_of = effects.precision(part), float(trials[part].sum() / trials.sum())
        low, high = 0.0, _MOST_LOG
        for _ in range(40):
            step = (low + high) / 2
            widened = (1 / share_of + 1 / (1 - share_of)) / (
                np.exp(-step) / share_of + 1 / (1 - share_of)
            )
            low, high = (step, high) if precision * widened * step**2 < needed else (low, step)
        steps.append(high)
    step = float(max(steps) if shape == "third" else np.median(steps)) if steps else _MOST_LOG
    return effects.base * float(np.expm1(step)) if step < 0.99 * _MOST_LOG else float("inf")


def _named_detectable(effects: Effects, df: int, alpha: float, named: Ints) -> float:
    """How far the typical level is from the others together where it is seen so often."""
    _, error = effects.against_rest()
    # That some level differs has to be seen, and that it is this one.
    alone = [detectable_effect(float(e), alpha / len(named)) for e in error[named]]
    together = [
        float(np.sqrt(needed_noncentrality(df, alpha) / max(effects.precision([i]), 1e-12)))
        for i in named
    ]
    ratio = float(np.median(np.maximum(alone, together)))
    if not ratio < _MOST_LOG:
        return float("inf")
    at = int(named[np.argsort(error[named])[len(named) // 2]])
    return effects.rest_difference(at, ratio)


def level_claims(
    j: Judged,
    subject: str,
    labels: Sequence[str],
    adjusted_for: tuple[str, ...],
    *,
    what: str,
    why_not: str = TOO_LITTLE,
    one: str | None = None,
) -> tuple[Claim, ...]:
    """The claims on the levels of one thing: a difference and what is best, or none.

    Args:
        j: What was found.
        subject: `hour`.
        labels: Names of the levels.
        adjusted_for: What was held still.
        what: Words for it at the beginning of a sentence: `the hour`.
        why_not: Why it cannot be judged, where it cannot.
        one: Words for one level, where the levels have no order: `a weekday`.
    """
    start = what[0].upper() + what[1:]
    if np.isnan(j.p):
        return (Claim("none", subject, text=f"{start} cannot be judged, because {why_not}"),)
    detectable = float(j.detectable) if np.isfinite(j.detectable) else None
    common = {"detectable": detectable, "adjusted_for": adjusted_for}
    if not j.differs:
        text = (
            f"{start} makes no difference that can be seen (p = {j.p:.2g}){seen(detectable, one)}"
        )
        return (Claim("none", subject, j.effect, text=text, **common),)  # type: ignore[arg-type]
    rates = j.effects.rates(shrink=True)
    text = (
        f"{start} makes a difference: {labels[j.best]} reaches {share(rates[j.best])}, "
        f"{points(j.effect)} above {labels[j.worst]} ({points(j.low)} to {points(j.high)}, "
        f"p = {j.p:.2g})"
    )
    claims = [Claim("difference", subject, j.effect, j.low, j.high, text=text, **common)]  # type: ignore[arg-type]
    if j.best_stands_out:
        ratio, error = j.effects.against_rest()
        z, at = normal_quantile(0.975), j.best
        gain = j.effects.rest_difference(at)
        low, high = (
            j.effects.rest_difference(at, float(ratio[at] + s * z * error[at])) for s in (-1, 1)
        )
        claims.append(
            Claim("best", labels[j.best], gain, low, high, detectable, adjusted_for,
                  f"{labels[j.best]} is above the others together by {points(gain)}")
        )  # fmt: skip
    return tuple(claims)


def best_cut(effects: Effects, size: int) -> tuple[int, float, float, float]:
    """The cut in the order of the levels that parts them most, and the difference of the two parts.

    Args:
        effects: Of levels with an order.
        size: How many levels there are.

    Returns:
        The last level before the cut; rate before less rate after, each level weighed by its
        trials; the bounds of the size of that difference.
    """
    places = np.flatnonzero(effects.compared[:size])
    trials = effects.trials[places].astype(float)
    values = effects.log_ratio[places]
    covariance = effects.covariance[: len(places), : len(places)]
    best: tuple[float, int, float, float] = (-1.0, 0, 0.0, 1.0)
    # Where levels have an order, a cut says more than a best level: of two neighbors either may be it.
    for cut in range(len(places) - 1):
        weights = np.append(trials[: cut + 1] / trials[: cut + 1].sum(),
                            -trials[cut + 1 :] / trials[cut + 1 :].sum())  # fmt: skip
        gap, error = float(weights @ values), float(np.sqrt(weights @ covariance @ weights))
        if error > 0 and abs(gap) / error > best[0]:
            best = (abs(gap) / error, int(places[cut]), gap, error)
    _, place, gap, error = best
    share = float(trials[places <= place].sum() / trials.sum())

    def apart(log_ratio: float) -> float:
        """Rate before the cut less the rate after it, for a ratio of the two."""
        before = (1 - share) * log_ratio
        return float(effects.base * (np.exp(before) - np.exp(before - log_ratio)))

    size_of = abs(apart(gap))
    low, high = sorted(abs(apart(gap + s * 1.96 * error)) for s in (-1, 1))
    return place, float(np.copysign(size_of, gap)), low, high


def adjusted_rates(j: Judged, size: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Shrunk rate of each level, its rate ratio to the mean, and the bounds of that; NaN without."""
    ratio, low, high, rate = (np.full(size, np.nan) for _ in range(4))
    effects = j.effects
    keep, error = np.flatnonzero(effects.compared), effects.error
    keep = keep[keep < size]
    # A rate of the model may be above 1 where a level hits nearly always: the model multiplies chances.
    rate[keep] = np.clip(effects.rates(shrink=True)[keep], 0, 1)
    ratio[keep] = np.exp(effects.log_ratio[keep])
    low[keep] = np.exp(effects.log_ratio[keep] - 1.96 * error[keep])
    high[keep] = np.exp(effects.log_ratio[keep] + 1.96 * error[keep])
    return rate, ratio, low, high
