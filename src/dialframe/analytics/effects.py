"""The one engine of effects: what the levels of a factor do to the chance of a hit, with errors of days and leads.

The model is a Poisson regression with a logarithmic link (Zou, Am. J. Epidemiol. 159 (2004) 702-706): rate
ratios, unlike odds ratios, do not change when something unrelated to the factor is left out. Strata are
profiled out exactly; the rest are effects of factors. The likelihood is concave, so Newton's method with
halved steps either converges or says that it did not, and then nothing is judged.

Two designs, by where the levels vary:

* *Inside days* (`inside_days`: an hour, a gap, a source). Every day has an effect of its own in the model, so
  that a day on which everything goes worse cancels. Errors are clustered by day and by lead (Cameron, Gelbach
  and Miller, J. Bus. Econ. Stat. 29 (2011) 238-249), with Bartlett weights for days that resemble their
  neighbors (Newey and West, Econometrica 55 (1987) 703-708).
* *Between days* (`between_days`: a weekday, a period, a campaign). The day is the observation: people
  reached over people expected. Calls of a day are one draw, however many there are. Where days resemble
  their neighbors the variance of their mean is estimated from slow cosine waves, whose number is the degrees
  of freedom (Mueller, J. Econom. 141 (2007) 1331-1352; Lazarus et al., J. Bus. Econ. Stat. 36 (2018) 541-559).

One method gives the p value, the point and the interval (`judge`): the greatest of all contrasts asked about
is held to the distribution of the greatest (single-step, as Tukey's and Dunnett's), and what was picked is
pulled back by `1 - 1 / t^2`, the posterior mean under a normal prior fitted to it. NumPy alone: statsmodels
with scipy takes 4 s to import and 180 MiB, and has no model with thousands of profiled strata; the tests hold
this one to theirs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from dialframe.analytics.attempt.frames_to_arrays import Floats, Ints, Mask
from dialframe.analytics.inference import normal_quantile, t_quantile, t_tail, two_sided_p

#: Independent days below which nothing is claimed.
LEAST_DAYS: Final = 10
#: Trials and hits below which a level of a nuisance factor is pooled with others.
LEAST_TRIALS: Final = 20
LEAST_HITS: Final = 5
_STEPS: Final = 60
_HALVINGS: Final = 30
#: Precision of the prior that keeps an unidentified direction finite: a standard deviation of ten.
_RIDGE: Final = 0.01
#: Log ratio beyond which a level hits nearly never or nearly always beside the others.
_SEPARATED: Final = 4.0
#: Neighbors on either side whose days a day may resemble.
_LAGS: Final = 3
_DRAWS: Final = 8_000
#: Trials whose products are taken at once.
_BLOCK: Final = 1 << 16
_SEED: Final = 20_260_101
#: Power at which an effect counts as one that would have been seen.
POWER: Final = 0.8

Family = Literal["runs", "cuts", "each"]


def joined(codes: Sequence[Ints], size: int) -> Ints:
    """One code for every combination of codes that occurs, from 0 up."""
    joint = np.zeros(size, dtype=np.int64)
    for code in codes:
        span = int(code.max(initial=0)) + 1
        if (int(joint.max(initial=0)) + 1) * span > 2**62:
            joint = dense(joint)
        joint = joint * span + code
    return dense(joint)


def dense(code: Ints) -> Ints:
    """The same codes without gaps, in their order."""
    top = int(code.max(initial=-1)) + 1
    # A table of all codes is faster than sorting, as long as it is not much longer than they are.
    if top <= max(4 * len(code), 1 << 16):
        used = np.zeros(top + 1, dtype=bool)
        used[code] = True
        return (np.cumsum(used) - 1)[code].astype(np.int64)
    return np.unique(code, return_inverse=True)[1].astype(np.int64)


def pool_sparse(level: Ints, hit: Mask) -> tuple[Ints, int]:
    """The levels of a nuisance factor with sparse ones as one, and how many were pooled.

    A level of a dozen trials says nothing of itself, and a fit that tries to hear it may not converge.

    Args:
        level: Level of each trial, from 0 up.
        hit: Whether each trial hit.
    """
    size = int(level.max(initial=0)) + 1
    trials, hits = np.bincount(level, minlength=size), np.bincount(level, hit, size)
    sparse = (trials > 0) & ((trials < LEAST_TRIALS) | (hits < LEAST_HITS))
    if not sparse.any():
        return dense(level), 0
    target = size
    together = sparse
    # Where all sparse ones together are still sparse, the smallest other level takes them in.
    if trials[together].sum() < LEAST_TRIALS or hits[together].sum() < LEAST_HITS:
        others = np.flatnonzero((trials > 0) & ~sparse)
        target = int(others[np.argmin(trials[others])]) if len(others) else size
    code = np.where(sparse, target, np.arange(size))
    return dense(code[level]), int(sparse.sum())


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A fitted model.

    Attributes:
        expected: Chance of each trial.
        relative: The same without what its stratum multiplies it by.
        stratum: Stratum of each trial, from 0 up.
        beta: Effects of all levels, factor after factor.
        inverse: Inverse of their information.
        codes: Level of each trial by factor.
        start: Place of the first level of each factor in `beta`.
        sizes: Levels of each factor.
        hits: Hits of each stratum.
        steps: Newton steps taken.
        pooled: Sparse nuisance levels that were pooled.
        why_not: Why the fit cannot be used; empty where it can.
    """

    expected: Floats
    relative: Floats
    stratum: Ints
    beta: Floats
    inverse: npt.NDArray[np.float64]
    codes: Mapping[str, Ints]
    start: Mapping[str, int]
    sizes: Mapping[str, int]
    hits: Floats
    steps: int
    pooled: int
    why_not: str = ""


def fit(
    hit: Mask, stratum: Ints, factors: Mapping[str, Ints], *, studied: Sequence[str] = ()
) -> Model:
    """Fit the effects of factors on the chance of a hit, within strata.

    Args:
        hit: Whether each trial hit.
        stratum: Stratum of each trial, from 0 up; it takes its own mean chance.
        factors: Level of each trial from 0 up, by name of the factor.
        studied: Factors whose levels are the question, and are not pooled here.
    """
    stratum = dense(stratum)
    codes, pooled = {}, 0
    for name, level in factors.items():
        codes[name], count = (level, 0) if name in studied else pool_sparse(level, hit)
        pooled += count
    sizes = {name: int(code.max(initial=0)) + 1 for name, code in codes.items()}
    start, width = {}, 0
    for name, size in sizes.items():
        start[name], width = width, width + size
    # Trials that agree in all of it are one row, as the likelihood sees no difference.
    cell = joined([stratum, *codes.values()], len(hit))
    rows = int(cell.max(initial=-1)) + 1
    first = np.zeros(rows, dtype=np.int64)
    first[cell] = np.arange(len(hit))
    trials = np.bincount(cell, minlength=rows).astype(float)
    hits = np.bincount(cell, hit, rows).astype(float)
    of, levels = stratum[first], [start[n] + codes[n][first] for n in codes]
    strata = int(stratum.max(initial=-1)) + 1
    total = np.bincount(of, hits, strata).astype(float)
    design = _Design(of, levels, list(sizes.values()), list(start.values()), trials, hits, total)
    beta, inverse, steps, why_not = _maximum(design, width)
    relative, expected = design.chances(beta)
    return Model(
        (expected / np.maximum(trials, 1))[cell], relative[cell], stratum, beta, inverse, codes, start, sizes,
        total, steps, pooled, why_not,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class _Design:
    """Distinct rows of a model: their stratum, the place of each of their levels, trials and hits."""

    stratum: Ints
    levels: list[Ints]
    sizes: list[int]
    starts: list[int]
    trials: Floats
    hits: Floats
    total: Floats

    def chances(self, beta: Floats) -> tuple[Floats, Floats]:
        """Relative chance of each row, and the hits expected in it."""
        score = np.zeros(len(self.trials))
        for place in self.levels:
            score += beta[place]
        relative = np.exp(score)
        given = self.trials * relative
        meant = np.bincount(self.stratum, given, len(self.total))
        return relative, given * (self.total / np.where(meant > 0, meant, 1.0))[self.stratum]

    def likelihood(self, beta: Floats) -> float:
        """Logarithm of the likelihood with strata profiled out, and the prior."""
        score = np.zeros(len(self.trials))
        for place in self.levels:
            score += beta[place]
        meant = np.bincount(self.stratum, self.trials * np.exp(score), len(self.total))
        inside = self.total > 0
        return float(
            self.hits @ score
            - self.total[inside] @ np.log(meant[inside])
            - _RIDGE / 2 * (beta @ beta)
        )

    def gradient(self, expected: Floats, beta: Floats) -> Floats:
        """Slope of the likelihood."""
        gap = self.hits - expected
        slope: Floats = -_RIDGE * beta
        for place in self.levels:
            slope = slope + np.bincount(place, gap, len(beta))
        return slope

    def information(self, expected: Floats, width: int) -> npt.NDArray[np.float64]:
        """Curvature of the likelihood."""
        info = np.diag(np.full(width, _RIDGE))
        tables = np.zeros((len(self.total), width))
        for i, place in enumerate(self.levels):
            tables += np.bincount(
                self.stratum * width + place, expected, len(self.total) * width
            ).reshape(-1, width)
            for other in self.levels[i:]:
                block = np.bincount(place * width + other, expected, width * width)
                block = block.reshape(width, width)
                info += block if other is place else block + block.T
        inside = self.total > 0
        root = tables[inside] / np.sqrt(self.total[inside])[:, None]
        return np.asarray(info - root.T @ root, dtype=np.float64)


def _maximum(design: _Design, width: int) -> tuple[Floats, npt.NDArray[np.float64], int, str]:
    """Where the likelihood is greatest, the inverse of its curvature there, steps taken, why there is none."""
    beta = np.zeros(width)
    inverse = np.eye(width) / _RIDGE
    if not design.hits.sum() or not width:
        return beta, inverse, 0, "" if design.hits.sum() else "nobody was reached"
    value = design.likelihood(beta)
    for step_count in range(1, _STEPS + 1):
        expected = design.chances(beta)[1]
        inverse = np.asarray(np.linalg.inv(design.information(expected, width)), dtype=np.float64)
        step = inverse @ design.gradient(expected, beta)
        if np.abs(step).max() < 1e-7:
            return beta, inverse, step_count, ""
        size = 1.0
        for _ in range(_HALVINGS):
            following = design.likelihood(beta + size * step)
            if following >= value - 1e-9 * abs(value):
                break
            size /= 2
        else:
            break
        beta, value = beta + size * step, following
    return beta, inverse, _STEPS, "the model did not converge"


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """What the levels of one factor do, with everything else held still.

    Attributes:
        log_ratio: Logarithm of each level's rate ratio to the mean over all trials; NaN for levels that
            cannot be compared.
        covariance: Of the errors of the compared levels, in their order.
        compared: Which levels are compared.
        trials: Trials of each level.
        base: Mean chance over all trials with the factor taken out.
        weights: Of each compared level and day, the hits expected: what days carry a contrast.
        df: Degrees of freedom where the design gives them (between days); None where each contrast
            has those of the days that carry it.
        days: Days in the data.
        effective_days: Independent days that the comparison is worth.
        pooled: Sparse nuisance levels that were pooled.
        steps: Newton steps of the fit.
        why_not: Why nothing can be judged; empty where it can.
    """

    log_ratio: Floats
    covariance: npt.NDArray[np.float64]
    compared: Mask
    trials: Ints
    base: float
    weights: npt.NDArray[np.float64]
    df: float | None
    days: int
    effective_days: float
    pooled: int = 0
    steps: int = 0
    why_not: str = ""

    def rates(self, *, shrink: bool = False) -> Floats:
        """Mean chance if every trial were of a level; NaN of levels that are not compared."""
        values = self.log_ratio.copy()
        if shrink and self.compared.sum() > 1:
            values[self.compared] = shrunk(
                values[self.compared], self.covariance, self.trials[self.compared].astype(float)
            )
        return np.clip(self.base * np.exp(values), 0.0, 1.0)

    @property
    def error(self) -> Floats:
        """Standard error of each level's log ratio; NaN of those that are not compared."""
        error = np.full(len(self.log_ratio), np.nan)
        error[self.compared] = np.sqrt(np.maximum(np.diag(self.covariance), 0.0))
        return error

    def share(self, part: Sequence[int]) -> float:
        """Part of the compared trials that some levels have."""
        total = max(int(self.trials[self.compared].sum()), 1)
        return float(self.trials[list(part)].sum() / total)

    def against_rest(self, part: Sequence[int]) -> tuple[float, float, float]:
        """Log ratio of some levels to all other compared ones, its error, and the days that carry it."""
        places = np.flatnonzero(self.compared)
        chosen = np.isin(places, part)
        trials = self.trials[places].astype(float)
        weight = np.where(
            chosen, trials / trials[chosen].sum(), -trials / max(trials[~chosen].sum(), 1e-12)
        )
        gap = float(weight @ self.log_ratio[places])
        error = math.sqrt(max(float(weight @ self.covariance @ weight), 0.0))
        if self.df is not None:
            return gap, error, self.effective_days
        # Each level's mean has the variance of its hits; a contrast has that of its days.
        expected = np.maximum(self.weights.sum(axis=1), 1e-12)
        by_day = (weight / expected) ** 2 @ self.weights
        return gap, error, float(by_day.sum() ** 2 / max((by_day**2).sum(), 1e-300))

    def difference(self, share: float, gap: float) -> float:
        """Rate of a part of the trials less that of the rest, for a log ratio of the two."""
        return self.base * (math.exp((1 - share) * gap) - math.exp(-share * gap))


def shrunk(effects: Floats, covariance: npt.NDArray[np.float64], weights: Floats) -> Floats:
    """Effects pulled to their mean as far as their errors ask for.

    They are taken for normal around their weighted mean, with a variance fitted by moments (DerSimonian
    and Laird, Control. Clin. Trials 7 (1986) 177-188; Efron and Morris, J. Am. Stat. Assoc. 70 (1975)
    311-319).

    Args:
        effects: One per level.
        covariance: Of their errors.
        weights: How much each counts towards the mean.
    """
    share = weights / weights.sum()
    centering = np.eye(len(effects)) - share[None, :]
    centered, errors = centering @ effects, centering @ covariance @ centering.T
    spread = float(share @ centered**2 - share @ np.diag(errors))
    variance = max(spread / max(1 - float((share**2).sum()), 1e-12), 0.0)
    prior = variance * centering @ centering.T
    return np.asarray(prior @ np.linalg.pinv(prior + errors, rcond=1e-9) @ centered)


def inside_days(model: Model, name: str, hit: Mask, cluster: Ints, day: Ints) -> Levels:
    """The effects of a factor that varies inside days.

    Args:
        model: A model with the factor and, among the others, one of days.
        name: Name of the factor.
        hit: Whether each trial hit.
        cluster: Lead of each trial, from 0 up.
        day: Day of each trial, from 0 up, in the order of time.
    """
    day = dense(day)
    days = int(day.max(initial=-1)) + 1
    level, size = model.codes[name], model.sizes[name]
    first = model.start[name]
    trials: Ints = np.bincount(level, minlength=size).astype(np.int64)
    expected = model.expected
    compared = _levels_with_error(model, level, size, hit)
    keep = np.flatnonzero(compared)
    at = model.beta[first : first + size]
    by_day = np.bincount(level * max(days, 1) + day, expected, size * max(days, 1))
    weights: Floats = by_day.reshape(size, -1).astype(float)
    base = _base(model, level, at, trials, compared)
    nothing = Levels(
        np.full(size, np.nan), np.zeros((0, 0)), np.zeros(size, bool), trials, base, weights[:0], None, days,
        0.0, model.pooled, model.steps, model.why_not or TOO_LITTLE,
    )  # fmt: skip
    if model.why_not or len(keep) < 2:
        return nothing
    share = np.where(compared, trials, 0) / trials[keep].sum()
    centering = (np.eye(size) - share[None, :])[keep]
    pull = model.inverse[:, first : first + size] @ centering.T
    residual = hit - expected
    mean = _stratum_means(model, pull)
    of_day = _sums_of_days(model, pull, mean, residual, day)
    of_leads = _products_in_leads(model, pull, mean, residual, cluster)
    by_model = np.diag(
        centering @ model.inverse[first : first + size, first : first + size] @ centering.T
    )
    rate = np.clip(np.bincount(level, expected, size)[keep] / trials[keep], 0, 1)
    covariance = _two_way(of_day, of_leads, by_model * (1 - rate))
    log_ratio = np.full(size, np.nan)
    log_ratio[keep] = at[keep] - float(share @ at)
    per_day = weights.sum(axis=0)
    effective = float(per_day.sum() ** 2 / max((per_day**2).sum(), 1e-300))
    separated = np.abs(log_ratio[keep]).max() > _SEPARATED
    return Levels(
        log_ratio, covariance, compared, trials, base, weights[keep], None, days, effective, model.pooled,
        model.steps, "a group is reached nearly always or nearly never" if separated else "",
    )  # fmt: skip


#: Why levels cannot be judged, where nothing else is known of it.
TOO_LITTLE: Final = "the calls differ too little in it, or too few reached a person"
#: The same where an error is without bounds.
UNTOLD: Final = "it cannot be told from what is held still"
#: The same where days are few.
TOO_FEW_DAYS: Final = f"fewer than {LEAST_DAYS} independent days carry it"


def _levels_with_error(model: Model, level: Ints, size: int, hit: Mask) -> Mask:
    """Levels that strata hold beside other levels often enough for a ratio to have an error."""
    table = np.bincount(model.stratum * size + level, minlength=len(model.hits) * size)
    table = table.reshape(-1, size)
    part = table / np.maximum(table.sum(axis=1), 1)[:, None]
    hits = np.bincount(level, hit, size)
    return np.asarray((model.hits @ (part * (1 - part)) >= LEAST_HITS) & (hits >= LEAST_HITS))


def _base(model: Model, level: Ints, at: Floats, trials: Ints, compared: Mask) -> float:
    """Mean chance with the factor taken out."""
    if not compared.any():
        return float(model.expected.mean()) if len(level) else float("nan")
    mean = float(np.average(at[compared], weights=trials[compared]))
    inside = compared[level]
    return float((model.expected * np.exp(mean - at[level]))[inside].mean())


def _stratum_means(model: Model, pull: Floats) -> Floats:
    """Mean influence of a stratum's expected hits on each contrast, which profiling it out takes away."""
    strata, width = len(model.hits), len(pull)
    expected = np.zeros((strata, width))
    for name, code in model.codes.items():
        place = model.stratum * width + model.start[name] + code
        expected += np.bincount(place, model.expected, strata * width).reshape(strata, width)
    return np.asarray(expected @ pull / np.maximum(model.hits, 1e-12)[:, None])


def _sums_of_days(model: Model, pull: Floats, mean: Floats, residual: Floats, day: Ints) -> Floats:
    """What the trials of each day add to each contrast."""
    days = int(day.max(initial=-1)) + 1
    total = np.zeros((days, pull.shape[1]))
    for name, code in model.codes.items():
        size, first = model.sizes[name], model.start[name]
        left = np.bincount(day * size + code, residual, days * size).reshape(days, size)
        total += left @ pull[first : first + size]
    pair = joined([day, model.stratum], len(day))
    pairs = int(pair.max(initial=-1)) + 1
    row = np.zeros(pairs, dtype=np.int64)
    row[pair] = np.arange(len(day))
    left = np.bincount(pair, residual, pairs)
    np.subtract.at(total, day[row], mean[model.stratum[row]] * left[:, None])
    return total


def _products_in_leads(
    model: Model, pull: Floats, mean: Floats, residual: Floats, cluster: Ints
) -> npt.NDArray[np.float64]:
    """Products of what different trials of one lead add to the contrasts, over all leads."""
    # A lead with one trial has no other.
    rows = np.flatnonzero(np.bincount(cluster)[cluster] > 1)
    rows = rows[np.argsort(cluster[rows], kind="stable")]
    first = np.flatnonzero(np.append(True, np.diff(cluster[rows]) != 0)[: len(rows)])
    total = np.zeros((pull.shape[1], pull.shape[1]))
    # Blocks of whole leads keep the memory small.
    edges = np.unique(np.searchsorted(first, np.arange(0, len(rows) + _BLOCK, _BLOCK)))
    for begin, end in itertools.pairwise(edges):
        low = first[begin]
        chosen = rows[low : first[end] if end < len(first) else len(rows)]
        influence = -mean[model.stratum[chosen]]
        for name, code in model.codes.items():
            influence += pull[model.start[name] + code[chosen]]
        influence *= residual[chosen][:, None]
        of_lead = np.add.reduceat(influence, first[begin:end] - low, axis=0)
        total += of_lead.T @ of_lead - influence.T @ influence
    return total


def _two_way(
    of_day: Floats, leads: npt.NDArray[np.float64], by_model: Floats
) -> npt.NDArray[np.float64]:
    """Covariance with errors clustered by day and lead, in no direction below what the model says alone."""
    days = len(of_day)
    white = of_day.T @ of_day
    neighbors = white.copy()
    for lag in range(1, min(_LAGS, days - 1) + 1):
        product = of_day[lag:].T @ of_day[:-lag]
        neighbors += (1 - lag / (_LAGS + 1)) * (product + product.T)
    value, axes = np.linalg.eigh(leads)
    # What leads add is never less than nothing: a lead that is reached drops out, which only seems to help.
    leads = (axes * np.maximum(value, 0.0)) @ axes.T
    spare = days / max(days - 1, 1)
    least = np.maximum(np.diag(white) * spare + np.diag(leads), by_model)
    total = neighbors * spare + leads
    wider = np.sqrt(np.maximum(least / np.maximum(np.diag(total), 1e-300), 1.0))
    return np.asarray(total * wider[:, None] * wider[None, :])


def between_days(
    model: Model,
    name: str,
    hit: Mask,
    cluster: Ints,
    day: Ints,
    *,
    week: Ints | None = None,
    paired: bool = False,
    alike: bool = False,
) -> Levels:
    """The effects of a factor that is the same for a whole day, or for all calls of a group.

    Each day is one observation, its hits over those expected with the factor taken out, weighed by how
    well its hits and the spread between days let it be known.

    Args:
        model: A model with the factor.
        name: Name of the factor.
        hit: Whether each trial hit.
        cluster: Lead of each trial, from 0 up.
        day: Day of each trial in the order of time, from 0 up.
        week: Weeks, which take their own mean: for what repeats inside each week.
        paired: Two levels that share their days: each day's difference is the observation.
        alike: Days may resemble their neighbors, so that slow waves tell the error.
    """
    day = dense(day)
    level, size = model.codes[name], model.sizes[name]
    first = model.start[name]
    at = model.beta[first : first + size]
    trials = np.bincount(level, minlength=size)
    hits = np.bincount(level, hit, size)
    present = np.unique(level * (int(day.max(initial=0)) + 1) + day) // (
        int(day.max(initial=0)) + 1
    )
    # A weekday seen twice is two observations.
    compared = (hits >= LEAST_HITS) & (np.bincount(present, minlength=size) >= 3)
    compared &= _levels_with_error(model, level, size, hit) if week is None else True
    base = _base(model, level, at, trials, compared)
    days = int(day.max(initial=-1)) + 1
    nothing = Levels(
        np.full(size, np.nan), np.zeros((0, 0)), np.zeros(size, bool), trials, base, np.zeros((0, 1)), 1.0,
        days, 0.0, model.pooled, model.steps,
        model.why_not or (TOO_FEW_DAYS if days < LEAST_DAYS else TOO_LITTLE),
    )  # fmt: skip
    keep = np.flatnonzero(compared)
    if model.why_not or len(keep) < 2:
        return nothing
    used = compared[level]
    mean = float(np.average(at[keep], weights=trials[keep]))
    plain = model.expected * np.exp(mean - at[level])
    cell = joined([day[used], level[used]], int(used.sum()))
    count = int(cell.max()) + 1
    rows = np.zeros(count, dtype=np.int64)
    rows[cell] = np.flatnonzero(used)
    meant = np.bincount(cell, plain[used], count).astype(float)
    reached = np.bincount(cell, hit[used], count).astype(float)
    table = _Days(
        day[rows], level[rows], reached / np.maximum(meant, 1e-9), meant,
        None if week is None else dense(week[rows]),
    )  # fmt: skip
    ratio, covariance, df, effective = (
        table.paired(keep) if paired else table.regression(keep, alike=alike)
    )
    if effective < LEAST_DAYS:
        return replace(nothing, effective_days=effective, why_not=TOO_FEW_DAYS)
    # What is held still is estimated too: the model's error of the factor beside the one without it.
    block = model.inverse[first : first + size, first : first + size]
    share = trials[keep] / trials[keep].sum()
    centering = np.eye(len(keep)) - share[None, :]
    full = np.diag(centering @ block[np.ix_(keep, keep)] @ centering.T)
    simple = np.diag(centering @ np.diag(1 / np.maximum(hits[keep], 1)) @ centering.T)
    wider = np.sqrt(np.maximum(full / np.maximum(simple, 1e-12), 1.0))
    wider *= math.sqrt(_leads_wider(hit, model.expected, cluster))
    covariance = covariance * wider[:, None] * wider[None, :]
    log_ratio = np.full(size, np.nan)
    log_ratio[keep] = np.log(np.maximum(ratio, 1e-6))
    log_ratio[keep] -= float(share @ log_ratio[keep])
    return Levels(
        log_ratio, centering @ covariance @ centering.T, compared, trials, base, np.zeros((0, 1)), df, days,
        effective, model.pooled, model.steps,
    )  # fmt: skip


def _leads_wider(hit: Mask, expected: Floats, cluster: Ints) -> float:
    """How much wider trials of one lead make an error: at least 1."""
    residual = hit - expected
    return max(
        1.0, float((np.bincount(cluster, residual) ** 2).sum() / max((residual**2).sum(), 1e-12))
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Days:
    """Observed over expected hits by day and level."""

    day: Ints
    level: Ints
    ratio: Floats
    meant: Floats
    week: Ints | None

    def regression(
        self, keep: Ints, *, alike: bool
    ) -> tuple[Floats, npt.NDArray[np.float64], float, float]:
        """Ratio of each level, covariance of their logarithms, degrees of freedom, effective days."""
        columns = [(self.level == i).astype(float) for i in keep]
        if self.week is not None:
            # The first week is the one that the levels' own columns stand for.
            columns += [(self.week == i).astype(float) for i in range(1, int(self.week.max()) + 1)]
        x = np.stack(columns, axis=1)
        df = len(self.ratio) - int(np.linalg.matrix_rank(x))
        if df < 2:
            return np.ones(len(keep)), np.eye(len(keep)), 1.0, 0.0
        between = 0.0
        for _ in range(12):
            weight = 1 / (1 / np.maximum(self.meant, 1e-9) + between)
            inverse = np.linalg.pinv((x * weight[:, None]).T @ x)
            beta = inverse @ (x * weight[:, None]).T @ self.ratio
            residual = self.ratio - x @ beta
            # Moments (DerSimonian and Laird, 1986): what days differ by beyond chance.
            excess = float(weight @ residual**2) - df
            between = max(between + excess / max(float(weight.sum()), 1e-9), 0.0)
        scale = max(float(weight @ residual**2) / df, 0.5)
        covariance = inverse[: len(keep), : len(keep)] * scale
        effective, freedom = float(len(np.unique(self.day))), float(df)
        if self.week is not None:
            # The levels' columns carry the mean of the other weeks too.
            beta[: len(keep)] += float(
                np.average(np.append(0.0, beta[len(keep) :])[self.week], weights=weight)
            )
        if alike:
            root = np.sqrt(weight)
            longer, freedom = _long_run(self.day, root * residual, root[:, None] * x)
            covariance, effective = covariance * longer, min(effective / longer, effective)
        ratio = np.maximum(beta[: len(keep)], 1e-3)
        return ratio, covariance / ratio[:, None] / ratio[None, :], freedom, effective

    def paired(self, keep: Ints) -> tuple[Floats, npt.NDArray[np.float64], float, float]:
        """The same of two levels by the difference of each day that has both."""
        size = int(self.day.max()) + 1
        value, meant = np.zeros((2, size)), np.zeros((2, size))
        for side, i in enumerate(keep):
            mine = self.level == i
            value[side, self.day[mine]], meant[side, self.day[mine]] = (
                self.ratio[mine],
                self.meant[mine],
            )
        both = np.flatnonzero((meant > 0).all(axis=0))
        if len(both) < LEAST_DAYS:
            return np.ones(2), np.eye(2), 1.0, float(len(both))
        gap, noise = value[1, both] - value[0, both], (1 / meant[:, both]).sum(axis=0)
        between = 0.0
        for _ in range(12):
            weight = 1 / (noise + between)
            mean = float(weight @ gap / weight.sum())
            excess = float(weight @ (gap - mean) ** 2) - (len(both) - 1)
            between = max(between + excess / float(weight.sum()), 0.0)
        residual = gap - mean
        scale = max(float(weight @ residual**2) / (len(both) - 1), 0.5)
        root = np.sqrt(weight)
        longer, freedom = _long_run(both, root * residual, root[:, None])
        variance = scale * longer / float(weight.sum())
        total = float((value[:, both] * meant[:, both]).sum() / meant[:, both].sum())
        part = meant[1, both].sum() / meant[:, both].sum()
        ratio = np.maximum(np.array([total - part * mean, total + (1 - part) * mean]), 1e-3)
        # The difference of the two has all the error there is; half of it is put on each side.
        error = variance / 2 * np.eye(2)
        effective = min(float(len(both)), len(both) / longer)
        return ratio, error / total**2, freedom, effective


def _long_run(day: Ints, residual: Floats, fitted: npt.NDArray[np.float64]) -> tuple[float, float]:
    """By how much days that resemble their neighbors widen the variance of a mean, and degrees of freedom.

    Args:
        day: Day of each residual.
        residual: What the fit left, each of the same variance.
        fitted: What was fitted, which took a part of every slow wave away.
    """
    order = np.argsort(day, kind="stable")
    values, taken = residual[order], np.linalg.qr(fitted[order])[0]
    n = len(values)
    waves = max(4, round(0.4 * n ** (2 / 3)))
    if n <= waves + 1:
        return 1.0, max(float(n - 1), 1.0)
    time = (np.arange(n) + 0.5) / n
    basis = math.sqrt(2 / n) * np.cos(math.pi * np.arange(1, waves + 1)[:, None] * time[None, :])
    left = 1 - ((basis @ taken) ** 2).sum(axis=1)
    slow = float(((basis @ values) ** 2).sum() / max(float(left.sum()), 1e-9))
    spare = float(values @ values) / max(n - fitted.shape[1], 1)
    return max(slow / max(spare, 1e-12), 1e-6), max(float(left.sum()), 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """What can be said of the levels of one thing.

    Attributes:
        levels: Their effects.
        p: Chance of so great a contrast somewhere where there is none; NaN where nothing can be judged.
        differs: Whether some levels differ from the rest.
        part: Levels of the contrast that stands out most; empty without one.
        effect: Rate of that part less the rest's.
        low: Lower bound of it, which holds for all contrasts asked about together.
        high: Upper bound.
        rate: Rate of the part.
        detectable: Difference that would have been seen four times out of five; NaN where none would.
        each_p: Of each contrast asked about, the same as `p`.
        parts: Levels of each contrast.
        effects: Of each contrast, effect and bounds.
        why_not: Why nothing can be judged; empty where it can.
    """

    levels: Levels
    p: float
    differs: bool
    part: tuple[int, ...] = ()
    effect: float = float("nan")
    low: float = float("nan")
    high: float = float("nan")
    rate: float = float("nan")
    detectable: float = float("nan")
    each_p: tuple[float, ...] = ()
    parts: tuple[tuple[int, ...], ...] = ()
    effects: tuple[tuple[float, float, float], ...] = ()
    why_not: str = ""

    @property
    def diagnostics(self) -> dict[str, object]:
        """How the fit went: `converged`, `steps`, `days`, `effective_days`, `pooled_levels`, `why_not`."""
        levels = self.levels
        return {
            "converged": "converge" not in levels.why_not, "steps": levels.steps, "days": levels.days,
            "effective_days": round(levels.effective_days, 1), "pooled_levels": levels.pooled,
            "why_not": self.why_not or None,
        }  # fmt: skip


def judge(
    levels: Levels,
    alpha: float,
    *,
    family: Family = "each",
    named: Mask | None = None,
    tests: int = 1,
    min_points: float = 0.0,
) -> Verdict:
    """Whether levels differ, which do, by how much, and what would have been seen.

    Args:
        levels: The levels.
        alpha: Chance of a difference where there is none, over all `tests`.
        family: Contrasts asked about: `each` level against the rest, `runs` of levels in an order, or
            `cuts` of that order in two.
        named: Levels that may be a part of a contrast; all count as the rest.
        tests: How many such questions are asked together.
        min_points: Difference in percentage points that is worth a word.
    """
    nan = float("nan")
    if levels.why_not:
        return Verdict(levels, nan, differs=False, why_not=levels.why_not)
    if family != "runs":
        # Half of the level is for what no model knows: who is reached drops out, which leaves a trace that
        # no factor takes out wholly, and a campaign's days may resemble each other for weeks. Runs are pulled back
        # the further instead.
        tests = 2 * tests
    keep = levels.compared & (True if named is None else _pad_mask(named, len(levels.compared)))
    contrasts, why_not = [], TOO_LITTLE
    for part in _parts(levels, np.flatnonzero(keep), family):
        gap, error, days = levels.against_rest(part)
        df, share = levels.df if levels.df is not None else days - 1, levels.share(part)
        if not error > 0 or not 0 < levels.base < 1:
            continue
        if days < LEAST_DAYS:
            why_not = TOO_FEW_DAYS
        elif (
            levels.base
            * math.exp(min((1 - share) * (gap + t_quantile(alpha / tests, df) * error), 50))
            > 1
        ):
            # Even alone it would have an interval that leaves 0 to 100 points.
            why_not = UNTOLD
        else:
            contrasts.append((part, gap, error, df))
    if not contrasts:
        return Verdict(levels, nan, differs=False, why_not=why_not)
    correlation = _correlation(levels, [part for part, *_ in contrasts])
    greatest = _greatest(correlation)
    z = _quantile(greatest, alpha / tests, len(contrasts))
    # A run is picked from many that overlap: it is pulled back, to the posterior mean under the normal
    # prior that it fits itself. A level that is named for itself is not picked.
    picked = family != "each" and len(contrasts) > 1
    each_p: list[float] = []
    bounds: list[tuple[float, float, float]] = []
    seen: list[tuple[float, float, float]] = []
    for part, gap, error, df in contrasts:
        t, pulled = abs(gap) / error, _shrink_factor(gap, error) if picked else 1.0
        limit = t_quantile(two_sided_p(z), df)
        p = t_tail(t * pulled, df)
        each_p.append(_greatest_p(greatest, p, len(contrasts)) * tests)
        share, center = levels.share(part), gap * pulled
        effect, low, high = (
            levels.difference(share, center + side * limit * error) for side in (0, -1, 1)
        )
        bounds.append((effect, low, high))
        needed = (limit + math.sqrt(limit**2 + 4 * picked)) / 2 + normal_quantile(POWER)
        seen.append((abs(share - 1 / 3), needed * error, share))
    p_values = np.minimum(np.array(each_p), 1.0)
    best = min(
        range(len(contrasts)), key=lambda i: (p_values[i], -abs(contrasts[i][1] / contrasts[i][2]))
    )
    part, gap, error, _ = contrasts[best]
    effect, low, high = bounds[best]
    share = levels.share(part)
    p = float(p_values[best])
    detectable = _typical(levels, seen, family)
    if not (low >= -1 and high <= 1):
        return Verdict(levels, nan, differs=False, why_not=UNTOLD)
    differs = p < alpha and 100 * abs(effect) >= min_points and (low > 0 or high < 0)
    rate = levels.base * math.exp(
        (1 - share) * gap * (_shrink_factor(gap, error) if picked else 1.0)
    )
    return Verdict(
        levels, p, differs, part, effect, low, high, min(rate, 1.0), max(detectable, min_points / 100),
        tuple(map(float, p_values)), tuple(part for part, *_ in contrasts), tuple(bounds),
    )  # fmt: skip


def _shrink_factor(gap: float, error: float) -> float:
    """Part of a contrast that is left of it: `1 - 1 / t^2`, and nothing below one error."""
    return max(1 - (error / gap) ** 2, 0.0) if gap else 0.0


def _pad_mask(mask: Mask, size: int) -> Mask:
    """A mask made as long as the levels: a level behind the named ones is where thin ones are pooled."""
    return np.append(mask, np.zeros(max(size - len(mask), 0), dtype=bool))[:size]


def _parts(levels: Levels, keep: Ints, family: Family) -> list[tuple[int, ...]]:
    """Levels of each contrast; a part and its opposite are one."""
    if levels.compared.sum() == 2 and len(keep) == 2:
        return [(int(keep[1]),)]
    if family == "each":
        return [(int(i),) for i in keep] if levels.compared.sum() > 1 else []
    size = len(keep)
    spans = [(0, end) for end in range(1, size)] if family == "cuts" else [
        (begin, end) for begin in range(size) for end in range(begin + 1, size + 1)
    ]  # fmt: skip
    parts = [tuple(int(i) for i in keep[begin:end]) for begin, end in spans]
    # More than half of the calls are the rest, of which the others are a part.
    return [part for part in parts if 0 < levels.share(part) <= (1 if family == "cuts" else 0.5)]


def _correlation(levels: Levels, parts: Sequence[tuple[int, ...]]) -> npt.NDArray[np.float64]:
    places = np.flatnonzero(levels.compared)
    trials = levels.trials[places].astype(float)
    rows = []
    for part in parts:
        chosen = np.isin(places, part)
        rows.append(
            np.where(
                chosen, trials / trials[chosen].sum(), -trials / max(trials[~chosen].sum(), 1e-12)
            )
        )
    weight = np.array(rows)
    covariance = weight @ levels.covariance @ weight.T
    error = np.sqrt(np.diag(covariance))
    return np.asarray(covariance / error[:, None] / error[None, :])


def _greatest(correlation: npt.NDArray[np.float64]) -> Floats:
    """Draws of the greatest absolute value of normal variables with such correlations, in order."""
    if len(correlation) == 1:
        return np.zeros(0)
    value, axes = np.linalg.eigh(correlation)
    used = value > 1e-9
    root = axes[:, used] * np.sqrt(value[used])
    # One seed: the same data give the same answer, whoever asks and when.
    rng = np.random.Generator(np.random.PCG64(_SEED))
    return np.sort(np.abs(rng.standard_normal((_DRAWS, root.shape[1])) @ root.T).max(axis=1))


def _quantile(greatest: Floats, alpha: float, contrasts: int) -> float:
    """What the greatest exceeds with a chance of `alpha`."""
    if not len(greatest):
        return normal_quantile(1 - alpha / 2)
    if alpha * len(greatest) < 20:
        # Far out the greatest is one of many that hardly go together (Bonferroni).
        return normal_quantile(1 - alpha / (2 * contrasts))
    return float(np.quantile(greatest, 1 - alpha))


def _greatest_p(greatest: Floats, p: float, contrasts: int) -> float:
    """Chance that the greatest goes beyond a value of which the two-sided chance alone is `p`."""
    if not len(greatest):
        return p
    alone = min(p * contrasts, 1.0)
    z = normal_quantile(1 - max(p, 1e-15) / 2)
    beyond = len(greatest) - int(np.searchsorted(greatest, z))
    return min(beyond / len(greatest), alone) if beyond >= 20 else alone


def _typical(levels: Levels, seen: Sequence[tuple[float, float, float]], family: Family) -> float:
    """The difference that would have been seen, of a contrast of about a third, or of the level in the middle."""
    if family == "each":
        ordered = sorted(seen, key=lambda row: row[1])
        _, gap, share = ordered[len(ordered) // 2]
    else:
        near = min(row[0] for row in seen)
        _, gap, share = max((row for row in seen if row[0] <= near + 0.08), key=lambda row: row[1])
    points = levels.difference(share, min(gap, 6.0))
    return points if levels.base * math.exp((1 - share) * gap) < 1 else float("nan")
