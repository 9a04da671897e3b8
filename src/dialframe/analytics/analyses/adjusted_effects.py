"""What a level of something does to the chance of a person, with the rest held still, as claims.

Every analysis that says better, best, worse, advised or no difference asks here. The comparison is
made inside campaign and week, with source, attempt and what else is passed as factors; what the
answer cannot say is a part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypedDict, Unpack

import numpy as np

from dialframe.analytics.attempt.attempt_table import (
    MOST_ATTEMPTS,
    Attempts,
    attempt_level,
    clock_of,
    hour_level,
    local_match,
    source_level,
    weekday_level,
    zone_level,
)
from dialframe.analytics.attempt.frames_to_arrays import (
    DAY_US,
    HOUR_US,
    Floats,
    Ints,
    Mask,
    micros,
)
from dialframe.analytics.attempt.lead_match import SOURCE
from dialframe.analytics.attempt.taxonomy import CONNECTED_UNKNOWN
from dialframe.analytics.claims_and_tables import Claim, Kind, points, seen, share
from dialframe.analytics.effects import (
    LEAST_HITS,
    LEAST_TRIALS,
    Family,
    Levels,
    Model,
    Verdict,
    between_days,
    dense,
    fit,
    inside_days,
    joined,
    judge,
)
from dialframe.analytics.inference import t_quantile

#: What claims take for granted, in every result that makes them.
ASSUMPTIONS: Final = (
    "what was held still multiplies the chance of a person, alike in every campaign",
    "what is in no column (who a lead is, what was said) does not go with what is compared",
    "a day may be better or worse than another for all calls together, and attempts on one lead are "
    "one cluster; leads are otherwise independent of each other",
    "fewer than ten independent days carry no claim",
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
    """Week of each attempt's local day (from Monday), from 0 up."""
    # 1970 began on a Thursday.
    week = (attempts.local_day + 3) // 7
    return week - int(week.min(initial=0)) if len(week) else week


def campaign_code(attempts: Attempts) -> Ints:
    """Campaign of each attempt, from 0 up."""
    return attempts.text("campaign_id")[0]


def day_code(attempts: Attempts) -> Ints:
    """Local day of each attempt in its campaign, from 0 up."""
    day = attempts.local_day
    return joined([campaign_code(attempts), day - int(day.min(initial=0))], len(attempts))


def list_codes(attempts: Attempts) -> list[Ints]:
    """Lists of each attempt's lead: leads of a source that came on one day (UTC), and those of its campaign among them.

    Empty where nothing says when leads came.
    """
    if not len(attempts.leads) or "created_at" not in attempts.leads.columns:
        return []
    day = np.append(micros(attempts.leads["created_at"]) // DAY_US, 0)[attempts.lead]
    day = np.unique(day, return_inverse=True)[1].astype(np.int64)
    upload = joined([source_level(attempts)[0], day], len(attempts))
    return [upload, joined([campaign_code(attempts), upload], len(attempts))]


def thick_strata(coarse: Ints, fine: Ints, hit: Mask) -> Ints:
    """Coarse by fine, where that has enough trials and hits; else the coarse stratum, or what is left over.

    In a stratum of a few leads a lead is compared with itself, of whose attempts it is the last that
    hits: later would always seem the better.

    Args:
        coarse: Campaign of each trial.
        fine: Week of each trial.
        hit: Whether each trial hit.
    """

    def thin(code: Ints) -> Mask:
        trials, hits = np.bincount(code), np.bincount(code, hit)
        return np.asarray((trials < 3 * LEAST_TRIALS) | (hits < LEAST_HITS))[code]

    pair = joined([coarse, fine], len(hit))
    pair = np.where(thin(pair), int(pair.max(initial=0)) + 1 + coarse, pair)
    return dense(np.where(thin(pair), int(pair.max(initial=0)) + 1, pair))


def usual_factors(attempts: Attempts, *without: str, source: str = SOURCE) -> dict[str, Ints]:
    """Source, attempt, local hour, weekday and time zone, but for those that are under study themselves."""
    clock = clock_of(attempts)
    # The zone is a factor beside the local hour: where people live is known to change who answers.
    factors = {
        "source": source_level(attempts, source)[0],
        "attempt": attempt_level(attempts),
        "hour": hour_level(clock),
        "weekday": weekday_level(clock),
        "zone": zone_level(attempts),
    }
    return {name: code for name, code in factors.items() if name not in without}


def caller_model(attempts: Attempts, *, weekly: bool = True) -> Model:
    """The chance of a person that campaign, week, source, attempt, hour, day and presence give a call.

    Args:
        attempts: The attempts.
        weekly: Inside the week and day, or over the whole time, for who compares a number with its own past.
    """
    hit, campaign = attempts.flag("human"), campaign_code(attempts)
    factors = usual_factors(attempts) | {"local": local_match(attempts).astype(np.int64)}
    if not weekly:
        return fit(hit, campaign, factors)
    # A day on which everything goes worse is no fault of the numbers that dialed on it.
    days = attempts.local_day
    factors = {n: c for n, c in factors.items() if n != "weekday"} | {
        "day": days - int(days.min(initial=0))
    }
    return fit(hit, thick_strata(campaign, week_code(attempts), hit), factors)


def tried_level(attempts: Attempts, hit: Mask, strata: Ints) -> Ints:
    """Attempt, and within it how good the hours of the lead's earlier attempts were, in quarters.

    Who was tried at good hours and not reached is harder to reach than who was tried at poor ones.
    Groups that are dialed at hours of their own would differ by it at the same attempt.

    Args:
        attempts: The attempts.
        hit: What the chance is of.
        strata: What hours and weekdays are compared inside of, the groups among it.
    """
    attempt = attempt_level(attempts)
    chance = fit(hit, strata, usual_factors(attempts)).relative
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
    # A level with few trials has errors that cannot be relied on (Vittinghoff and McCulloch, Am. J.
    # Epidemiol. 165 (2007) 710-718): it is held still with others like it, and never named.
    count = np.bincount(level, minlength=size + 1)[:size]
    enough = count >= max(least, 1)
    # Who has pooled some already has given them the level behind the others.
    return np.where(np.append(enough, False)[level], level, size), enough


class Inside(TypedDict, total=False):
    """What a comparison of levels is of and is made inside of; each is of all attempts but `rows`.

    Attributes:
        rows: Which attempts; by default all.
        coarse: What to compare inside of, with the week; by default the campaign.
        factors: What else is held still; by default source, attempt, local hour and time zone.
        hit: What the chance is of; by default that a person answered.
    """

    rows: Ints
    coarse: Ints
    factors: Mapping[str, Ints]
    hit: Mask


def levels_inside_days(
    attempts: Attempts, level: Ints, *, name: str = "level", **inside: Unpack[Inside]
) -> Levels:
    """The effects of levels that vary inside days; only attempts whose outcome is in have a say.

    Args:
        attempts: The attempts.
        level: Level of each of the `rows`, from 0 up.
        name: What the levels are of.
        inside: What it is of and inside of.
    """
    rows = inside.get("rows", np.arange(len(attempts)))
    mature = attempts.mature[rows]
    rows, level = rows[mature], level[mature]
    hit = inside.get("hit", attempts.flag("human"))[rows]
    day = attempts.local_day[rows]
    day = day - int(day.min(initial=0))
    factors = inside.get("factors", usual_factors(attempts))
    held = {n: code[rows] for n, code in factors.items() if n not in ("weekday", name)}
    strata = thick_strata(
        inside.get("coarse", campaign_code(attempts))[rows], week_code(attempts)[rows], hit
    )
    model = fit(hit, strata, {**held, "day": day, name: level}, studied=[name])
    return inside_days(model, name, hit, attempts.cluster[rows], day)


def levels_judged(
    attempts: Attempts, level: Ints, size: int, least: int, alpha: float, *,
    name: str = "level", tests: int = 1, family: Family = "each", min_points: float = 0.0,
    **inside: Unpack[Inside],
) -> Verdict | None:  # fmt: skip
    """What can be said of the levels of one thing, where some trials hit and some do not.

    Args:
        attempts: The attempts.
        level: Level of each of the `rows`, from 0 up.
        size: How many levels there are.
        least: Trials below which a level is pooled with others, and not named.
        alpha: As `judge` takes it, like `tests`, `family` and `min_points`.
        name: What the levels are of.
        tests: How many such questions are asked together.
        family: Contrasts asked about.
        min_points: Difference in points below which a difference is not worth a word.
        inside: What it is of and inside of.
    """
    hits = inside.get("hit", attempts.flag("human"))[inside.get("rows", slice(None))]
    if not 0 < int(hits.sum()) < len(hits):
        return None
    thin, enough = pooled(level, size, least)
    levels = levels_inside_days(attempts, thin, **inside)
    return judge(levels, alpha, family=family, named=enough, tests=tests, min_points=min_points)


def kept_place(attempts: Attempts) -> float:
    """How far leads keep their place in the day: correlation of it between a call and the lead's next; NaN without.

    A list that is worked from its best lead to its worst gives each lead an hour of its own, and then no hour can be
    told from the leads that are dialed in it. A place is a share of the calls of its campaign and local day.
    """
    day = day_code(attempts)
    local_us = attempts.when + attempts.ahead_h * HOUR_US
    order = np.lexsort((local_us, day))
    first = np.flatnonzero(np.append(True, np.diff(day[order]) != 0)[: len(day)])
    size = np.diff(np.append(first, len(day)))
    place = np.empty(len(day))
    place[order] = (np.arange(len(day)) - np.repeat(first, size) + 0.5) / np.repeat(size, size)
    again = np.flatnonzero(~attempts.opens)
    by_lead = place[attempts.order]
    if len(again) < _LEAST_AGAIN or not by_lead[again].std() or not by_lead[again - 1].std():
        return float("nan")
    return float(np.corrcoef(by_lead[again - 1], by_lead[again])[0, 1])


def unless_sorted(attempts: Attempts, *verdicts: Verdict | None) -> tuple[Verdict | None, ...]:
    """Verdicts on times as they are, or that nothing can be judged where leads keep their place in the day."""
    if not any(v is not None for v in verdicts) or not kept_place(attempts) >= _SORTED:
        return verdicts
    nan = float("nan")
    return tuple(v and replace(v, p=nan, differs=False, why_not=KEEP_PLACE) for v in verdicts)


#: Why no time is judged where a list is worked in the same order every day.
KEEP_PLACE: Final = (
    "leads keep their place in the day, as a list that is worked from its best lead on makes them, so that no time can "
    "be told from the leads that are dialed then; deal the leads out by a draw (dialframe.experiments)"
)
#: Correlation from which on leads keep their place: lists in the order of their age come to .25, sorted ones to .5.
_SORTED: Final = 0.35
#: Calls to a lead called before, below which nothing is said of it.
_LEAST_AGAIN: Final = 100


def weekdays_judged(
    attempts: Attempts, level: Ints, enough: Mask, alpha: float, *, tests: int, min_points: float,
    source: str = SOURCE,
) -> Verdict | None:  # fmt: skip
    """What can be said of weekdays: the day is the observation, inside its week.

    Args:
        attempts: The attempts.
        level: Weekday of each, thin ones pooled.
        enough: Weekdays that may be named.
        alpha: As `judge` takes it, like `tests` and `min_points`.
        tests: How many such questions are asked together.
        min_points: Difference in points below which a difference is not worth a word.
        source: Custom field with the source.
    """
    rows = np.flatnonzero(attempts.mature)
    hit, level = attempts.flag("human")[rows], level[rows]
    if not 0 < int(hit.sum()) < len(hit):
        return None
    week = week_code(attempts)[rows]
    factors = {n: c[rows] for n, c in usual_factors(attempts, "weekday", source=source).items()}
    strata = thick_strata(campaign_code(attempts)[rows], week, hit)
    model = fit(hit, strata, {**factors, "week": week, "weekday": level}, studied=["weekday"])
    levels = between_days(
        model, "weekday", hit, attempts.cluster[rows], attempts.local_day[rows] - int(attempts.local_day.min()),
        week=week,
    )  # fmt: skip
    return judge(levels, alpha, family="runs", named=enough, tests=tests, min_points=min_points)


def two_groups_judged(
    attempts: Attempts,
    second: Mask,
    alpha: float,
    *,
    paired: bool,
    tests: int = 1,
    **inside: Unpack[Inside],
) -> Verdict | None:
    """What can be said of one group of attempts, or one period, against all others.

    Args:
        attempts: The attempts.
        second: Which of them are of the group.
        alpha: As `judge` takes it, like `tests`.
        paired: The groups share their days, and each day's difference counts; else days are compared.
        tests: How many such questions are asked together.
        inside: What it is of and inside of.
    """
    rows = np.flatnonzero(attempts.mature)
    hit, level = inside.get("hit", attempts.flag("human"))[rows], second[rows].astype(np.int64)
    if not 0 < int(level.sum()) < len(level) or not 0 < int(hit.sum()) < len(hit):
        return None
    factors = {n: c[rows] for n, c in inside.get("factors", usual_factors(attempts)).items()}
    coarse = inside.get("coarse", np.zeros(len(attempts), dtype=np.int64))[rows]
    fine = week_code(attempts)[rows] if paired else np.zeros(len(rows), dtype=np.int64)
    model = fit(
        hit, thick_strata(coarse, fine, hit), {**factors, "second": level}, studied=["second"]
    )
    day = attempts.local_day[rows]
    day = day - int(day.min(initial=0))
    levels = between_days(
        model, "second", hit, attempts.cluster[rows], day, paired=paired, alike=True
    )
    if paired and levels.why_not:
        # Groups that hardly share a day are compared by the days of each.
        levels = between_days(model, "second", hit, attempts.cluster[rows], day, alike=True)
    return judge(levels, alpha, tests=tests)


def level_claims(
    v: Verdict,
    subject: str,
    adjusted_for: tuple[str, ...],
    *,
    what: str,
    words: Callable[[tuple[int, ...]], str],
    others: str,
    one: str | None = None,
    why_not: str | None = None,
    min_points: float = 0.0,
) -> tuple[Claim, ...]:
    """The claim on the levels of one thing: the part that stands out, or none.

    Args:
        v: What was found.
        subject: `hour`.
        adjusted_for: What was held still.
        what: Words for it at the beginning of a sentence: `the hour`.
        words: Words for a part: `17:00 to 20:59`.
        others: Words for the rest: `the other hours`.
        one: Words for what would have been seen: `a third of the calling day`.
        why_not: Words for why it cannot be judged, beside the engine's own.
        min_points: Difference that was asked to be worth a word.
    """
    start = what[0].upper() + what[1:]
    if np.isnan(v.p):
        return (cannot_judge(subject, start, why_not or v.why_not, v),)
    detectable = float(v.detectable) if np.isfinite(v.detectable) else None
    common = (v.effect, v.low, v.high, detectable, adjusted_for)
    if v.differs:
        word = "above" if v.effect > 0 else "below"
        text = (
            f"{start} makes a difference: {words(v.part)} reaches {share(v.rate)}, {points(abs(v.effect))} "
            f"{word} {others} ({bounds(v.low, v.high)}, p = {v.p:.2g})"
        )
        return (Claim("difference", subject, *common, text, v.diagnostics),)
    if abs(100 * v.effect) < min_points and (v.low > 0 or v.high < 0):
        # Certain and of use are two things: with many calls a tenth of a point is certain.
        text = f"{start} makes a difference of less than {min_points:g} points (p = {v.p:.2g})"
    else:
        text = (
            f"{start} makes no difference that can be seen (p = {v.p:.2g}){seen(detectable, one)}"
        )
    return (Claim("none", subject, *common, text, v.diagnostics),)


def cannot_judge(subject: str, start: str, why: str, v: Verdict | None = None) -> Claim:
    """The claim that nothing can be said, and why."""
    return Claim("none", subject, text=f"{start} cannot be judged, because {why}",
                 diagnostics=None if v is None else v.diagnostics)  # fmt: skip


def why_nobody(attempts: Attempts) -> str:
    """Why nothing can be compared where all attempts, or none, reached a person."""
    human, answered = attempts.flag("human"), attempts.flag("answered")
    unknown = int((answered & attempts.is_class(CONNECTED_UNKNOWN)).sum())
    if unknown:
        return f"of {unknown:,} of {int(answered.sum()):,} answered calls nothing says by whom"
    return "everybody answers" if human.any() else "nobody answers"


def bounds(low: float, high: float) -> str:
    """Bounds of a difference by their size: `3.9 to 8.4`."""
    low, high = sorted((low, high), key=abs) if low * high > 0 else (low, high)
    low, high = (abs(low), abs(high)) if low * high > 0 else (low, high)
    return f"{100 * low:.1f} to {100 * high:.1f} points"


def run_words(
    labels: Sequence[str], ends: Sequence[str] | None = None
) -> Callable[[tuple[int, ...]], str]:
    """Words for a run of levels: its first and last label.

    Args:
        labels: Names of the levels.
        ends: Names of the levels where they end a run, if those are others.
    """
    last = labels if ends is None else ends

    def words(part: tuple[int, ...]) -> str:
        return labels[part[0]] if len(part) == 1 else f"{labels[part[0]]} to {last[part[-1]]}"

    return words


def second_claim(
    v: Verdict,
    subject: str,
    adjusted_for: tuple[str, ...],
    so: str,
    not_so: str,
    kind: Kind = "difference",
) -> Claim:
    """The claim that two groups differ, or that it is not certain, with what would have been seen."""
    detectable = float(v.detectable) if np.isfinite(v.detectable) else None
    text = so if v.differs else f"{not_so}{seen(detectable)}"
    return Claim(kind if v.differs else "none", subject, v.effect, v.low, v.high, detectable, adjusted_for, text,
                 v.diagnostics)  # fmt: skip


def adjusted_rates(v: Verdict | None, size: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Shrunk rate of each level, its rate ratio to the mean, and the bounds of that; NaN without."""
    ratio, low, high, rate = (np.full(size, np.nan) for _ in range(4))
    if v is None or not v.levels.compared.any():
        return rate, ratio, low, high
    levels = v.levels
    keep, error = np.flatnonzero(levels.compared), levels.error
    keep = keep[keep < size]
    z = t_quantile(0.05, levels.df or max(levels.effective_days - 1, 1.0))
    rate[keep] = levels.rates(shrink=True)[keep]
    ratio[keep] = np.exp(levels.log_ratio[keep])
    low[keep] = np.exp(levels.log_ratio[keep] - z * error[keep])
    high[keep] = np.exp(levels.log_ratio[keep] + z * error[keep])
    return rate, ratio, low, high
