"""Adjusted effects on the chance of a hit: rate ratios within strata, with errors clustered by lead.

The chance of a trial is `exp(stratum + sum of the levels of its factors)`. Strata are profiled out
exactly, so that there may be thousands of them; the factors are fitted by Newton's method. The model
is a modified Poisson regression (Zou, Am. J. Epidemiol. 159 (2004) 702-706): rate ratios, unlike
odds ratios, do not change when something unrelated to the factor is left out, which matters because
how easily a lead is reached is never known. With one factor of two levels the estimate is that of
a stratified analysis (Mantel and Haenszel, J. Natl. Cancer Inst. 22 (1959) 719-748) with weights of
its own. Errors are those of the sandwich, summed by cluster (Liang and Zeger, Biometrika 73 (1986)
13-22), with the residuals of small strata widened by n / (n - 1). Some days are better than others
for all calls of a campaign: how much they differ is a variance of its own, estimated by moments as
that of DerSimonian and Laird, and goes into the errors of whatever varies from day to day.

What it cannot say: a confounder that is neither a stratum nor a factor stays in the effect.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dialframe.analytics.attempt.arrays import Floats, Ints, Mask, digest
from dialframe.analytics.stats.inference import chi2_limit, chi2_tail, shrunk_effects, two_sided_p

_STEPS: Final = 30
_RIDGE: Final = 1e-6
#: Trials that are worked on at a time where errors are summed by cluster: what a processor's cache holds.
_BLOCK: Final = 1 << 11
#: Multiplications in a product of matrices from which the library divides it among threads, which wait
#: for each other longer than such a product takes.
_ALONE: Final = 1 << 18
#: Part of the greatest variance below which a direction does not vary but by rounding.
_SINGULAR: Final = 1e-9
_MOST_LOG: Final = 6.0
#: Precision of the prior that keeps a level without hits finite: a standard deviation of ten.
_HELD: Final = 0.01
#: Hits for each level that have to be left by what is held still, and that a level has to be meant to
#: have beside other levels (Vittinghoff and McCulloch, Am. J. Epidemiol. 165 (2007) 710-718: from five on
#: errors can be relied on).
_SPARE_HITS: Final = 5
#: Effects by what they were fitted to, those asked for last at the end: small, whatever the trials.
_FITTED: Final[dict[tuple[Hashable, ...], Mapping[str, Effects]]] = {}
_MOST_FITTED: Final = 64


@dataclass(frozen=True, slots=True, eq=False)
class Effects:
    """What the levels of one factor do, with everything else held still.

    Attributes:
        log_ratio: Logarithm of each level's rate ratio to the mean over all trials; NaN for levels
            without trials or that no stratum can compare, and for all where too few hits are left by
            what is held still.
        covariance: Of the errors of the levels that are compared, in their order.
        compared: Which levels are compared.
        trials: Trials of each level.
        base: Mean chance over all trials with the factor taken out.
        spread: Standard deviation of the true effects between levels, by moments.
        shrunk: `log_ratio` pulled to the mean as far as its errors ask for.
        clusters: How many leads (or numbers) the errors rest on.
    """

    log_ratio: Floats
    covariance: npt.NDArray[np.float64]
    compared: Mask
    trials: Ints
    base: float
    spread: float
    shrunk: Floats
    clusters: int

    @property
    def df(self) -> int:
        """Directions in which the compared levels can differ."""
        return max(int(self.compared.sum()) - 1, 0)

    def rates(self, *, shrink: bool = False) -> Floats:
        """Mean chance if every trial were of a level."""
        return self.base * np.exp(self.shrunk if shrink else self.log_ratio)

    def test(self) -> tuple[float, int, float]:
        """Wald test that no level differs from another: statistic, degrees of freedom, p.

        Two levels are tested by the deviance (`rest_p`): Wald's statistic is too great where the
        smaller of two levels hits more often by chance, and too small where it hits less often.
        """
        effects = self.log_ratio[self.compared]
        if len(effects) < 2:
            return 0.0, 0, float("nan")
        if len(effects) == 2:
            smaller = np.flatnonzero(self.compared)[np.argmin(self.trials[self.compared])]
            p = float(self.rest_p()[smaller])
            return (0.0, 0, p) if np.isnan(p) else (chi2_limit(1, max(p, 1e-300)), 1, p)
        variance, axes = np.linalg.eigh(self.covariance)
        keep = variance > _SINGULAR * max(float(variance[-1]), _SINGULAR)
        df = int(keep.sum())
        if not df:
            return 0.0, 0, float("nan")
        statistic = float((((effects @ axes)[keep]) ** 2 / variance[keep]).sum())
        # Few clusters make the estimated errors vary: Hotelling's correction of the statistic.
        spare = max(self.clusters - df, 1)
        statistic *= spare / (self.clusters + df) if self.clusters > 3 * df else 0.5
        return statistic, df, chi2_tail(statistic, df)

    def against_rest(self) -> tuple[Floats, Floats]:
        """Each level against all others together: log ratio and its standard error, NaN without."""
        share = np.where(self.compared, self.trials, 0) / max(self.trials[self.compared].sum(), 1)
        rest = np.where(share < 1, 1 - share, np.nan)
        error = np.full(len(self.log_ratio), np.nan)
        error[self.compared] = np.sqrt(np.maximum(np.diag(self.covariance), 0.0))
        return self.log_ratio / rest, error / rest

    def rest_p(self) -> Floats:
        """Of each level, the chance of so much a difference from the others where there is none.

        By the signed root of the binomial deviance of as many trials as the error is worth, which is
        near to normal for counts that are far too small for the estimate itself to be.
        """
        log_ratio, error = self.against_rest()
        share = np.where(self.compared, self.trials, 0) / max(self.trials[self.compared].sum(), 1)
        p = np.full(len(log_ratio), np.nan)
        for i in np.flatnonzero((error > 0) & ~np.isnan(log_ratio)):
            x = float(np.clip(log_ratio[i], -20, 20))
            rate = float(np.clip(self.base * np.exp((1 - share[i]) * x), 1e-9, 0.999))
            rest = float(np.clip(self.base * np.exp(-share[i] * x), 1e-9, 0.999))
            trials = (1 - rate) / (rate * float(error[i]) ** 2)
            # An error estimated from few hits is too small one time in two: its leverage is 1 / hits.
            trials *= 1 - 1 / max(min(trials * rate, trials * rest), 2.0)
            apart = rate * np.log(rate / rest) + (1 - rate) * np.log((1 - rate) / (1 - rest))
            p[i] = two_sided_p(float(np.sqrt(max(2 * trials * apart, 0.0))))
        return p

    def rest_difference(self, level: int, log_ratio: float | None = None) -> float:
        """Rate of a level less the rate of the others together, shrunk unless a ratio is given."""
        trials = np.where(self.compared, self.trials, 0)
        share = trials[level] / max(trials.sum(), 1)
        if log_ratio is None:
            log_ratio = float(self.shrunk[level] / max(1 - share, 1e-9))
        own = (1 - share) * log_ratio
        return float(self.base * (np.exp(own) - np.exp(own - log_ratio)))

    def between(self, one: int, other: int) -> tuple[float, float]:
        """Standard error of the log ratio of two levels, and the log ratio."""
        places = np.flatnonzero(self.compared)
        i, j = np.searchsorted(places, one), np.searchsorted(places, other)
        v = self.covariance
        error = float(np.sqrt(max(v[i, i] + v[j, j] - 2 * v[i, j], 0.0)))
        return error, float(self.log_ratio[one] - self.log_ratio[other])

    def precision(self, levels: Sequence[int]) -> float:
        """How well a step of one log unit between some levels and the others would be seen.

        Args:
            levels: Compared levels on one side of the step.

        Returns:
            The noncentrality of the test; 0 where nothing is compared.
        """
        if self.df < 1:
            return 0.0
        trials = self.trials[self.compared].astype(float)
        step = np.isin(np.flatnonzero(self.compared), levels).astype(float)
        step -= (trials / trials.sum()) @ step
        variance, axes = np.linalg.eigh(self.covariance)
        keep = variance > _SINGULAR * max(float(variance[-1]), _SINGULAR)
        return float((((step @ axes)[keep]) ** 2 / variance[keep]).sum())

    def thirds(self) -> list[list[int]]:
        """The runs of compared levels with about a third of the trials each; `half` where there is none."""
        places = np.flatnonzero(self.compared)
        until = np.append(0, np.cumsum(self.trials[places])) / max(
            int(self.trials[places].sum()), 1
        )
        runs = []
        for first in range(len(places)):
            sizes = until[first + 1 :] - until[first]
            size = int(np.argmin(np.abs(sizes - 1 / 3)))
            if abs(float(sizes[size]) - 1 / 3) < 0.1:
                runs.append([int(i) for i in places[first : first + size + 1]])
        return runs or [self.half()]

    def half(self) -> list[int]:
        """The compared levels before the cut in their order that splits the trials most evenly."""
        places = np.flatnonzero(self.compared)
        share = np.cumsum(self.trials[places]) / max(float(self.trials[places].sum()), 1.0)
        cut = int(np.argmin(np.abs(share[:-1] - 0.5))) if len(places) > 1 else 0
        return [int(i) for i in places[: cut + 1]]


@dataclass(frozen=True, slots=True, eq=False)
class RateRatios:
    """A fitted model.

    Attributes:
        expected: Chance of each trial by the model.
        relative: The same without what its stratum multiplies it by.
        stratum: Stratum of each trial.
        effects: What the levels of each factor asked for do.
    """

    expected: Floats
    relative: Floats
    stratum: Ints
    effects: Mapping[str, Effects]


def rate_ratios(
    hit: Mask,
    strata: Sequence[Ints],
    factors: Mapping[str, Ints],
    cluster: Ints,
    *,
    wanted: Sequence[str],
    day: Ints | None = None,
    day_spread: float = 0.0,
) -> RateRatios:
    """Fit the effects of factors on the chance of a hit, within strata.

    Args:
        hit: Whether each trial hit.
        strata: Codes from 0 up; trials that agree in all of them are one stratum.
        factors: Level of each trial from 0 up, by name of the factor.
        cluster: What each trial is of, from 0 up.
        wanted: Factors whose effects are wanted, with errors.
        day: What is not the same from one to the next for all trials in it, from 0 up: days.
        day_spread: Variance of days that more trials than these show; the larger one counts.
    """
    stratum = joined(strata, len(hit))
    cells = _cells(hit, stratum, factors)
    beta = _fitted(cells)
    mu, inverse = _information(cells, beta)
    scale = _scale(cells, beta)
    chance = scale[cells.stratum] * np.exp(_score(cells, beta))
    expected = chance[cells.cell]
    days = None
    if day is not None and wanted:
        days = _Days(_dense(day), max(day_variance(hit, stratum, expected, day), day_spread))
    effects = {
        name: _effects(cells, name, beta, mu, inverse, hit, expected, cluster, chance, days)
        for name in wanted
    }
    return RateRatios(expected, np.exp(_score(cells, beta))[cells.cell], stratum, effects)


def effects_of(
    hit: Mask,
    strata: Sequence[Ints],
    factors: Mapping[str, Ints],
    cluster: Ints,
    *,
    wanted: Sequence[str],
    day: Ints | None = None,
    day_spread: float = 0.0,
) -> Mapping[str, Effects]:
    """The effects of `rate_ratios` alone, fitted once to the same numbers: several analyses ask for them.

    Args:
        hit: Whether each trial hit.
        strata: Codes from 0 up; trials that agree in all of them are one stratum.
        factors: Level of each trial from 0 up, by name of the factor.
        cluster: What each trial is of, from 0 up.
        wanted: Factors whose effects are wanted, with errors.
        day: What is not the same from one to the next for all trials in it, from 0 up: days.
        day_spread: Variance of days that more trials than these show; the larger one counts.
    """
    numbers = [hit, *strata, *factors.values(), cluster, *([] if day is None else [day])]
    key = (
        len(strata),
        tuple(factors),
        tuple(wanted),
        day is None,
        day_spread,
        *map(digest, numbers),
    )
    effects = _FITTED.pop(key, None)
    if effects is None:
        effects = rate_ratios(
            hit, strata, factors, cluster, wanted=wanted, day=day, day_spread=day_spread
        ).effects
    _FITTED[key] = effects
    for oldest in list(_FITTED)[:-_MOST_FITTED]:
        _FITTED.pop(oldest, None)
    return effects


def joined(codes: Sequence[Ints], size: int) -> Ints:
    """One code for every combination of codes that occurs, from 0 up."""
    joint = np.zeros(size, dtype=np.int64)
    for code in codes:
        span = int(code.max(initial=0)) + 1
        if (int(joint.max(initial=0)) + 1) * span > 2**62:
            joint = _dense(joint)
        joint = joint * span + code
    return _dense(joint)


def _dense(code: Ints) -> Ints:
    """The same codes without gaps."""
    top = int(code.max(initial=-1)) + 1
    if top <= max(4 * len(code), 1 << 16):
        used = np.zeros(top + 1, dtype=bool)
        used[code] = True
        place = np.cumsum(used) - 1
        return place[code].astype(np.int64)
    return np.unique(code, return_inverse=True)[1].astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class _Days:
    """Days, and the variance of what each multiplies all its chances by."""

    day: Ints
    variance: float


def day_variance(hit: Mask, stratum: Ints, expected: Floats, day: Ints) -> float:
    """Variance of what each day multiplies all its chances by, beyond chance, by moments.

    A day's hits less those meant have the variance of its trials and that of the day itself, both less
    what the strata that it lies in took for theirs.

    Args:
        hit: Whether each trial hit.
        stratum: Stratum of each trial, whose hits were taken for those meant.
        expected: Chance of each trial.
        day: Day of each trial, from 0 up.
    """
    day = _dense(day)
    pair = joined([stratum, day], len(hit))
    size = int(pair.max(initial=-1)) + 1
    first = np.zeros(size, dtype=np.int64)
    first[pair] = np.arange(len(hit))
    of_day, of_stratum = day[first], stratum[first]
    meant = np.bincount(pair, expected, size)
    part = meant / np.maximum(np.bincount(of_stratum, meant)[of_stratum], 1e-12)
    together = np.bincount(of_stratum, part**2)[of_stratum]
    residual = hit - expected
    noise = np.bincount(of_day, np.bincount(pair, residual**2, size) * (1 - part))
    spread = np.bincount(of_day, meant * np.sqrt(np.maximum(1 - 2 * part + together, 0.0))) ** 2
    excess = np.bincount(day, residual) ** 2 - noise
    return max(float(excess.sum() / max(spread.sum(), 1e-12)), 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """Trials that agree in stratum and all levels, as one row each."""

    cell: Ints
    stratum: Ints
    levels: Mapping[str, Ints]
    start: Mapping[str, int]
    sizes: Mapping[str, int]
    trials: Floats
    hits: Floats
    strata: int
    hits_of: Floats
    trials_of: Floats

    @property
    def width(self) -> int:
        """Levels of all factors."""
        return sum(self.sizes.values())


def _cells(hit: Mask, stratum: Ints, factors: Mapping[str, Ints]) -> _Cells:
    cell = joined([stratum, *factors.values()], len(hit))
    size = int(cell.max(initial=-1)) + 1
    first = np.zeros(size, dtype=np.int64)
    first[cell] = np.arange(len(hit))
    trials = np.bincount(cell, minlength=size).astype(float)
    hits = np.bincount(cell, weights=hit, minlength=size).astype(float)
    sizes = {name: int(code.max(initial=0)) + 1 for name, code in factors.items()}
    start, at = {}, 0
    for name, width in sizes.items():
        start[name], at = at, at + width
    of = stratum[first]
    strata = int(stratum.max(initial=-1)) + 1
    return _Cells(
        cell, of, {name: code[first] for name, code in factors.items()}, start, sizes, trials, hits,
        strata, np.bincount(of, hits, strata).astype(float),
        np.bincount(of, trials, strata).astype(float),
    )  # fmt: skip


def _score(cells: _Cells, beta: Floats) -> Floats:
    total = np.zeros(len(cells.trials))
    for name, level in cells.levels.items():
        total += beta[cells.start[name] + level]
    return total


def _scale(cells: _Cells, beta: Floats) -> Floats:
    """What each stratum multiplies its chances by: its hits over what the levels give."""
    meant = np.bincount(cells.stratum, cells.trials * np.exp(_score(cells, beta)), cells.strata)
    return cells.hits_of / np.where(meant > 0, meant, 1.0)


def _information(cells: _Cells, beta: Floats) -> tuple[Floats, npt.NDArray[np.float64]]:
    """Expected hits of each cell, and the inverse of the information on the levels."""
    mu = cells.trials * np.exp(_score(cells, beta)) * _scale(cells, beta)[cells.stratum]
    information = np.zeros((cells.width, cells.width))
    tables = np.zeros((cells.strata, cells.width))
    names = list(cells.levels)
    for i, one in enumerate(names):
        a, size_a, level_a = cells.start[one], cells.sizes[one], cells.levels[one]
        flat = np.bincount(cells.stratum * size_a + level_a, mu, cells.strata * size_a)
        tables[:, a : a + size_a] = flat.reshape(cells.strata, size_a)
        for other in names[i:]:
            b, size_b, level_b = cells.start[other], cells.sizes[other], cells.levels[other]
            block = np.bincount(level_a * size_b + level_b, mu, size_a * size_b)
            information[a : a + size_a, b : b + size_b] = block.reshape(size_a, size_b)
            information[b : b + size_b, a : a + size_a] = block.reshape(size_a, size_b).T
    within = cells.hits_of > 0
    root = tables[within] / np.sqrt(cells.hits_of[within])[:, None]
    information -= _gram(root)
    # A level that never hits would go to minus infinity: half a hit spread over all holds it.
    held = np.diag(np.full(cells.width, _RIDGE + _HELD))
    return mu, np.asarray(np.linalg.inv(information + held), dtype=np.float64)


def _gram(rows: Floats) -> Floats:
    """Sums over rows of the products of their columns."""
    width = rows.shape[1]
    step = max(_ALONE // max(width * width, 1), 1)
    total = np.zeros((width, width))
    for first in range(0, len(rows), step):
        part = rows[first : first + step]
        total += part.T @ part
    return total


def _product(rows: npt.NDArray[Any], factor: Floats) -> Floats:
    """The product of many rows and a small matrix."""
    step = max(_ALONE // max(factor.size, 1), 1)
    total = np.empty((len(rows), factor.shape[1]))
    for first in range(0, len(rows), step):
        total[first : first + step] = rows[first : first + step] @ factor
    return total


def _fitted(cells: _Cells) -> Floats:
    beta = np.zeros(cells.width)
    if not cells.hits.sum():
        return beta
    for _ in range(_STEPS):
        mu, inverse = _information(cells, beta)
        gap = cells.hits - mu
        gradient = np.zeros(cells.width)
        for name, level in cells.levels.items():
            a, size = cells.start[name], cells.sizes[name]
            gradient[a : a + size] = np.bincount(level, gap, size)
        gradient -= _HELD * beta
        step = np.clip(inverse @ gradient, -1.5, 1.5)
        beta = np.clip(beta + step, -_MOST_LOG, _MOST_LOG)
        if np.abs(step).max(initial=0.0) < 1e-6:
            break
    return beta


def _effects(
    cells: _Cells, name: str, beta: Floats, mu: Floats, inverse: npt.NDArray[np.float64],
    hit: Mask, expected: Floats, cluster: Ints, chance: Floats, days: _Days | None,
) -> Effects:  # fmt: skip
    a, size = cells.start[name], cells.sizes[name]
    trials = np.bincount(cells.levels[name], cells.trials, size)
    tables = np.bincount(cells.stratum * size + cells.levels[name], mu, cells.strata * size)
    tables = tables.reshape(cells.strata, size)
    several = (tables > 0).sum(axis=1) > 1
    # A level that strata hardly hold beside others, at a rate at which it should hit, may well have no
    # hit there, however many elsewhere: its ratio is then anything, and so is its error.
    level_trials = np.bincount(
        cells.stratum * size + cells.levels[name], cells.trials, tables.size
    )
    part = level_trials.reshape(tables.shape) / np.maximum(cells.trials_of, 1)[:, None]
    compared = np.asarray(cells.hits_of @ (part * (1 - part)) >= _SPARE_HITS)
    if _spare_hits(cells, name, several) < _SPARE_HITS * int(compared.sum()):
        compared[:] = False
    share = np.where(compared, trials, 0.0)
    share = share / max(share.sum(), 1.0)
    own = beta[a : a + size]
    mean = float(share @ own)
    keep = np.flatnonzero(compared)
    centering = (np.eye(size) - share[None, :])[keep]
    covariance, clusters = _errors(
        cells, a, size, centering, mu, inverse, hit, expected, cluster, days
    )
    by_model = np.diag(centering @ inverse[a : a + size, a : a + size] @ centering.T)
    covariance = _no_luckier(covariance, by_model, trials[keep])
    effects = np.full(size, np.nan)
    effects[keep] = own[keep] - mean
    shrunk, spread = np.full(size, np.nan), 0.0
    if len(keep) > 1:
        shrunk[keep], spread = shrunk_effects(
            effects[keep], covariance, trials[keep].astype(float)
        )
    without = chance * np.exp(-(own - mean))[cells.levels[name]]
    base = float(cells.trials @ without) / max(float(cells.trials.sum()), 1.0)
    return Effects(effects, covariance, compared, trials.astype(np.int64), base, spread, shrunk,
                   clusters)  # fmt: skip


def _no_luckier(
    covariance: npt.NDArray[np.float64], by_model: Floats, trials: Ints
) -> npt.NDArray[np.float64]:
    """Errors of which none is less, beside the model's, than that of the typical level.

    An error that is estimated from few hits is too small one time in two, and of many levels it is
    those that seem to differ.
    """
    variance = np.diag(covariance)
    if len(variance) < 3 or not (variance > 0).all() or not (by_model > 0).all():
        return covariance
    typical = float(np.average(variance / by_model, weights=trials))
    wider = np.sqrt(np.maximum(typical * by_model / variance, 1.0))
    return covariance * wider[:, None] * wider[None, :]


def _spare_hits(cells: _Cells, name: str, several: Mask) -> float:
    """Hits that are left to judge a factor by: of strata with several of its levels, less what is fitted.

    Each such stratum takes one, and each level of another factor but its first.
    """
    used = several & (cells.hits_of > 0)
    others = [len(np.unique(level)) - 1 for other, level in cells.levels.items() if other != name]
    return float((cells.hits_of[used] - 1).sum()) - sum(others)


def _errors(
    cells: _Cells, a: int, size: int, centering: npt.NDArray[np.float64], mu: Floats,
    inverse: npt.NDArray[np.float64], hit: Mask, expected: Floats, cluster: Ints,
    days: _Days | None,
) -> tuple[npt.NDArray[np.float64], int]:  # fmt: skip
    """Covariance of contrasts of one factor's levels: influences of trials summed by cluster, and days."""
    weight = inverse[:, a : a + size] @ centering.T
    pulled = np.zeros((cells.strata, weight.shape[1]))
    for name, level in cells.levels.items():
        b, width = cells.start[name], cells.sizes[name]
        table = np.bincount(cells.stratum * width + level, mu, cells.strata * width)
        pulled += _product(table.reshape(cells.strata, width), weight[b : b + width])
    pulled /= np.where(cells.hits_of > 0, cells.hits_of, 1.0)[:, None]
    of_cell = -pulled[cells.stratum]
    for name, level in cells.levels.items():
        of_cell += weight[cells.start[name] + level]
    n = cells.trials_of[cells.stratum]
    between = np.zeros((weight.shape[1], weight.shape[1]))
    if days is not None and days.variance and of_cell.size:
        pull = np.array(
            [np.bincount(days.day, column[cells.cell] * expected) for column in of_cell.T]
        )
        between = days.variance * pull @ pull.T
    of_cell *= np.sqrt(n / np.maximum(n - 1, 1))[:, None]
    residual = hit - expected
    order = np.argsort(cluster, kind="stable")
    sorted_cluster = cluster[order]
    edges = np.flatnonzero(np.append(True, sorted_cluster[1:] != sorted_cluster[:-1]))
    meat = np.zeros((weight.shape[1], weight.shape[1]))
    clusters, begin = len(edges) if len(hit) else 0, 0
    while begin < clusters:
        first = int(edges[begin])
        end = max(int(np.searchsorted(edges, first + _BLOCK)), begin + 1)
        last = int(edges[end]) if end < clusters else len(order)
        rows = order[first:last]
        influence = of_cell[cells.cell[rows]] * residual[rows, None]
        summed = np.add.reduceat(influence, edges[begin:end] - first, axis=0)
        meat += _gram(summed)
        begin = end
    # Levels that were fitted take residuals away, as many as they are (Stata's correction).
    count, levels = float(len(hit)), sum(size - 1 for size in cells.sizes.values())
    spare = count / max(count - levels, 0.5 * count, 1.0)
    return meat * clusters / max(clusters - 1, 1) * spare + between, clusters
