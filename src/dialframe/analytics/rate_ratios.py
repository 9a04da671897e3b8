"""Adjusted effects on the chance of a hit: rate ratios within strata, with errors clustered by lead.

The chance of a trial is `exp(stratum + sum of the levels of its factors)`. Strata are profiled out
exactly, so that there may be thousands of them; the factors are fitted by Newton's method. The model
is a modified Poisson regression (Zou, Am. J. Epidemiol. 159 (2004) 702-706): rate ratios, unlike
odds ratios, do not change when something unrelated to the factor is left out, which matters because
how easily a lead is reached is never known. With one factor of two levels the estimate is that of
a stratified analysis (Mantel and Haenszel, J. Natl. Cancer Inst. 22 (1959) 719-748) with weights of
its own. Errors are those of the sandwich, summed by cluster (Liang and Zeger, Biometrika 73 (1986)
13-22). Some days are better than others
for all calls of a campaign: how much they differ is a variance of its own, estimated by moments as
that of DerSimonian and Laird, and goes into the errors of whatever varies from day to day.

Who is reached is not dialed again, so that of one lead's attempts it is the last that hits: inside one
lead a later day, a longer gap, another caller ID would always seem the better one. Attempts are
compared between leads only: each is held to what the *other* leads of its stratum reach. With pairs
of leads instead of trials this is Mantel and Haenszel's estimating function, which is right however
few leads a stratum has, and whatever ended the dialing of each.

What it cannot say: a confounder that is neither a stratum nor a factor stays in the effect.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from dialframe.analytics.attempt.frames_to_arrays import Floats, Ints, Mask, digest
from dialframe.analytics.inference import Effects, shrunk_effects

_STEPS: Final = 30
_RIDGE: Final = 1e-6
#: Trials that are worked on at a time where errors are summed by cluster: what a processor's cache holds.
_BLOCK: Final = 1 << 11
#: Multiplications in a product of matrices from which the library divides it among threads, which wait
#: for each other longer than such a product takes.
_ALONE: Final = 1 << 18
_MOST_LOG: Final = 6.0
#: Precision of the prior that keeps a level without hits finite: a standard deviation of ten.
_HELD: Final = 0.01
#: Hits for each level that have to be left by what is held still, and that a level has to be meant to
#: have beside other levels (Vittinghoff and McCulloch, Am. J. Epidemiol. 165 (2007) 710-718: from five on
#: errors can be relied on).
_SPARE_HITS: Final = 5
#: Leads of a stratum from which on what one of them has to say of itself is nothing beside the others.
_MANY_CLUSTERS: Final = 400
#: Effects by what they were fitted to, those asked for last at the end: small, whatever the trials.
_FITTED: Final[dict[tuple[Hashable, ...], Mapping[str, Effects]]] = {}
_MOST_FITTED: Final = 64


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
    cells = _cells(hit, stratum, factors, cluster)
    beta = _fitted(cells)
    chances = _chances(cells, beta)
    chance = chances.hits / cells.trials
    expected = chance[cells.cell]
    days = None
    if day is not None and wanted:
        days = _Days(_dense(day), max(day_variance(hit, stratum, expected, day), day_spread))
    effects: dict[str, Effects] = {}
    if wanted:
        inverse = _information(cells, chances)
        effects = {
            name: _effects(cells, name, beta, chances, inverse, hit, cluster, days)
            for name in wanted
        }
    return RateRatios(expected, chances.relative[cells.cell], stratum, effects)


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
    """The effects of `rate_ratios`, which says what is taken, alone; fitted once to the same numbers.

    Several analyses ask for them.
    """
    # By what the numbers are, not by whose they are: a copy of a frame asks the same question.
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
    # A table of all codes up to the greatest is faster than sorting, as long as it is not much longer than they are.
    if top <= max(4 * len(code), 1 << 16):
        used = np.zeros(top + 1, dtype=bool)
        used[code] = True
        new_code = np.cumsum(used) - 1
        return new_code[code].astype(np.int64)
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
    clusters_of: Floats
    own: _Own

    @property
    def width(self) -> int:
        """Levels of all factors."""
        return sum(self.sizes.values())


@dataclass(frozen=True, slots=True, eq=False)
class _Own:
    """Trials of clusters that have a hit and another trial in their stratum: what has no say there.

    Attributes:
        rows: Which trials.
        pair: Cluster and stratum of each, from 0 up and in order.
        hit: Whether each hit.
        stratum: Stratum of each.
        cell: Cell of each.
    """

    rows: Ints
    pair: Ints
    hit: Floats
    stratum: Ints
    cell: Ints


def _own(hit: Mask, stratum: Ints, cluster: Ints, cell: Ints) -> tuple[_Own, Floats]:
    """What of clusters' trials is their own, and the clusters of each stratum."""
    pair = joined([stratum, cluster], len(hit))
    size = int(pair.max(initial=-1)) + 1
    first = np.zeros(size, dtype=np.int64)
    first[pair] = np.arange(len(hit))
    clusters = np.bincount(stratum[first], minlength=int(stratum.max(initial=-1)) + 1)
    several = (np.bincount(pair, hit, size) > 0) & (np.bincount(pair, minlength=size) > 1)
    # Beside hundreds of leads a lead's own attempts weigh next to nothing, and would cost most of the time.
    several &= clusters[stratum[first]] < _MANY_CLUSTERS
    rows = np.flatnonzero(several[pair])
    rows = rows[np.argsort(pair[rows], kind="stable")]
    own = _Own(rows, _dense(pair[rows]), hit[rows].astype(float), stratum[rows], cell[rows])
    return own, clusters.astype(float)


def _cells(hit: Mask, stratum: Ints, factors: Mapping[str, Ints], cluster: Ints) -> _Cells:
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
    stratum_of = stratum[first]
    strata = int(stratum.max(initial=-1)) + 1
    own, clusters = _own(hit, stratum, cluster, cell)
    return _Cells(
        cell, stratum_of, {name: code[first] for name, code in factors.items()}, start, sizes, trials, hits,
        strata, np.bincount(stratum_of, hits, strata).astype(float),
        np.bincount(stratum_of, trials, strata).astype(float), clusters, own,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class _Chances:
    """What some effects of the levels give.

    Attributes:
        relative: Chance of each cell before what its stratum multiplies it by.
        meant: Of each stratum, the sum of these over its trials.
        hits: Of each cell, what its stratum's hits make of it.
        weight: Weight of each stratum: with it each pair of leads has one, whatever ended their dialing.
        own: Of each trial of `_Own`, its residual against its cluster, as far as that is its stratum.
    """

    relative: Floats
    meant: Floats
    hits: Floats
    weight: Floats
    own: Floats


def _chances(cells: _Cells, beta: Floats) -> _Chances:
    score = np.zeros(len(cells.trials))
    for name, level in cells.levels.items():
        score += beta[cells.start[name] + level]
    relative = np.exp(score)
    given: Floats = cells.trials * relative
    meant = np.bincount(cells.stratum, given, cells.strata)
    meant = np.where(meant > 0, meant, 1.0)
    weight: Floats = meant / np.maximum(cells.clusters_of, 1)
    total, own = float(cells.hits_of @ weight), cells.own
    if total:
        weight *= float(cells.hits_of.sum()) / total
    alone = relative[own.cell]
    together, hits = (np.bincount(own.pair, value)[own.pair] for value in (alone, own.hit))
    residual: Floats = (own.hit * together - alone * hits) / meant[own.stratum]
    expected: Floats = given * (cells.hits_of / meant)[cells.stratum]
    return _Chances(relative, np.asarray(meant, float), expected, weight, residual)


def _information(cells: _Cells, chances: _Chances) -> npt.NDArray[np.float64]:
    """The inverse of the information on the levels."""
    expected = chances.hits * chances.weight[cells.stratum]
    information = np.zeros((cells.width, cells.width))
    tables = np.zeros((cells.strata, cells.width))
    names = list(cells.levels)
    for i, name in enumerate(names):
        a, size_a, level_a = cells.start[name], cells.sizes[name], cells.levels[name]
        flat = np.bincount(cells.stratum * size_a + level_a, expected, cells.strata * size_a)
        tables[:, a : a + size_a] = flat.reshape(cells.strata, size_a)
        for other in names[i:]:
            b, size_b, level_b = cells.start[other], cells.sizes[other], cells.levels[other]
            block = np.bincount(level_a * size_b + level_b, expected, size_a * size_b)
            information[a : a + size_a, b : b + size_b] = block.reshape(size_a, size_b)
            information[b : b + size_b, a : a + size_a] = block.reshape(size_a, size_b).T
    within = cells.hits_of > 0
    root = tables[within] / np.sqrt((cells.hits_of * chances.weight)[within])[:, None]
    information -= _gram(root) + _own_information(cells, chances)
    # A level that never hits would go to minus infinity: half a hit spread over all holds it.
    held = np.diag(np.full(cells.width, _RIDGE + _HELD))
    return np.asarray(np.linalg.inv(information + held), dtype=np.float64)


def _own_information(cells: _Cells, chances: _Chances) -> npt.NDArray[np.float64]:
    """What differences inside clusters would tell of the levels."""
    own, total = cells.own, np.zeros((cells.width, cells.width))
    hits = np.bincount(own.pair, own.hit)[own.pair]
    weight = chances.relative[own.cell] * hits * (chances.weight / chances.meant)[own.stratum]
    edges = np.flatnonzero(np.append(True, own.pair[1:] != own.pair[:-1]))
    # In parts, so that rows as wide as all levels are never all in memory.
    edges = np.append(edges, len(own.pair))
    step = _BLOCK // 4
    for begin in range(0, len(edges) - 1 if len(own.pair) else 0, step):
        last = min(begin + step, len(edges) - 1)
        part = slice(edges[begin], edges[last])
        rows = np.zeros((edges[last] - edges[begin], cells.width))
        for name, level in cells.levels.items():
            rows[np.arange(len(rows)), cells.start[name] + level[own.cell[part]]] = 1.0
        rows *= np.sqrt(weight[part])[:, None]
        first = edges[begin:last] - edges[begin]
        summed = np.add.reduceat(rows * np.sqrt(weight[part])[:, None], first, axis=0)
        over = np.add.reduceat(weight[part], first)
        total += _gram(rows) - _gram(summed / np.sqrt(over)[:, None])
    return total


def _gram(rows: Floats) -> Floats:
    """Sums over rows of the products of their columns."""
    width = rows.shape[1]
    step = max(_ALONE // max(width * width, 1), 1)
    total = np.zeros((width, width))
    for first in range(0, len(rows), step):
        part = rows[first : first + step]
        total += part.T @ part
    return total


def _fitted(cells: _Cells) -> Floats:
    beta = np.zeros(cells.width)
    if not cells.hits.sum():
        return beta
    for _ in range(_STEPS):
        chances = _chances(cells, beta)
        gap = (cells.hits - chances.hits) * chances.weight[cells.stratum]
        own = chances.own * chances.weight[cells.own.stratum]
        gradient = np.zeros(cells.width)
        for name, level in cells.levels.items():
            a, size = cells.start[name], cells.sizes[name]
            gradient[a : a + size] = np.bincount(level, gap, size)
            gradient[a : a + size] -= np.bincount(level[cells.own.cell], own, size)
        gradient -= _HELD * beta
        # Short steps: the first ones of a level with few hits would be thrown far away.
        step = np.clip(_information(cells, chances) @ gradient, -1.5, 1.5)
        beta = np.clip(beta + step, -_MOST_LOG, _MOST_LOG)
        if np.abs(step).max(initial=0.0) < 1e-6:
            break
    return beta


def _effects(
    cells: _Cells, name: str, beta: Floats, chances: _Chances, inverse: npt.NDArray[np.float64],
    hit: Mask, cluster: Ints, days: _Days | None,
) -> Effects:  # fmt: skip
    a, size = cells.start[name], cells.sizes[name]
    trials = np.bincount(cells.levels[name], cells.trials, size)
    tables = np.bincount(
        cells.stratum * size + cells.levels[name], chances.hits, cells.strata * size
    )
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
    level_effects = beta[a : a + size]
    mean = float(share @ level_effects)
    keep = np.flatnonzero(compared)
    centering = (np.eye(size) - share[None, :])[keep]
    covariance, clusters = _errors(cells, a, size, centering, chances, inverse, hit, cluster, days)
    by_model = np.diag(centering @ inverse[a : a + size, a : a + size] @ centering.T)
    # Hits that are frequent vary less than the model's, which are of Poisson.
    rate = np.bincount(cells.levels[name], chances.hits, size)[keep] / trials[keep]
    by_model = by_model * (1 - rate)
    covariance = _no_luckier(covariance, by_model, trials[keep])
    effects = np.full(size, np.nan)
    effects[keep] = level_effects[keep] - mean
    shrunk, spread = np.full(size, np.nan), 0.0
    if len(keep) > 1:
        shrunk[keep], spread = shrunk_effects(
            effects[keep], covariance, trials[keep].astype(float)
        )
    without = chances.hits * np.exp(-(level_effects - mean))[cells.levels[name]]
    base = float(without.sum()) / max(float(cells.trials.sum()), 1.0)
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
    # Ratio to the model's error, not the error itself: levels with few trials may well have a larger one.
    wider = np.sqrt(np.maximum(typical * by_model / variance, 1.0))
    return covariance * wider[:, None] * wider[None, :]


def _spare_hits(cells: _Cells, name: str, several: Mask) -> float:
    """Hits that are left to judge a factor by: of strata with several of its levels, less what is fitted.

    Each such stratum takes one, and each level of another factor but its first.
    """
    used = several & (cells.hits_of > 0) & (cells.clusters_of > 1)
    others = [len(np.unique(level)) - 1 for other, level in cells.levels.items() if other != name]
    return float((cells.hits_of[used] - 1).sum()) - sum(others)


def _errors(
    cells: _Cells, a: int, size: int, centering: npt.NDArray[np.float64], chances: _Chances,
    inverse: npt.NDArray[np.float64], hit: Mask, cluster: Ints, days: _Days | None,
) -> tuple[npt.NDArray[np.float64], int]:  # fmt: skip
    """Covariance of contrasts of one factor's levels: influences of trials summed by cluster, and days."""
    weight = inverse[:, a : a + size] @ centering.T
    direct = np.zeros((len(cells.trials), weight.shape[1]))
    for name, level in cells.levels.items():
        direct += weight[cells.start[name] + level]
    hits_of = np.where(cells.hits_of > 0, cells.hits_of, 1.0)
    pulled, reached = (
        np.array([np.bincount(cells.stratum, column * hits, cells.strata) for column in direct.T])
        .reshape(weight.shape[1], cells.strata).T / hits_of[:, None]
        for hits in (chances.hits, cells.hits)
    )  # fmt: skip
    expected = (chances.hits / cells.trials)[:, None]
    of_cell = (direct - pulled[cells.stratum]) * chances.weight[cells.stratum][:, None]
    between = np.zeros((weight.shape[1], weight.shape[1]))
    if days is not None and days.variance and of_cell.size:
        pull = np.array(
            [np.bincount(days.day, column[cells.cell]) for column in (of_cell * expected).T]
        )
        between = days.variance * pull @ pull.T
    # A pair of leads is in the influence of both of them: of few leads, too often.
    few = np.sqrt(np.maximum(cells.clusters_of - 1, 0) / np.maximum(cells.clusters_of, 1))
    of_cell *= few[cells.stratum][:, None]
    few = (few * chances.weight)[:, None]
    without = ((reached - pulled) * few)[cells.stratum] * expected - of_cell * expected
    own_residual = np.zeros(len(hit))
    own_residual[cells.own.rows] = -2 * chances.own
    direct *= few[cells.stratum]
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
        cell = cells.cell[rows]
        influence = without[cell]
        hits, held = np.flatnonzero(hit[rows]), np.flatnonzero(own_residual[rows])
        influence[hits] += of_cell[cell[hits]]
        influence[held] += direct[cell[held]] * own_residual[rows[held], None]
        summed = np.add.reduceat(influence, edges[begin:end] - first, axis=0)
        meat += _gram(summed)
        begin = end
    # Levels that were fitted take residuals away, as many as they are (Stata's correction).
    count, levels = float(len(hit)), sum(size - 1 for size in cells.sizes.values())
    spare = count / max(count - levels, 0.5 * count, 1.0)
    return meat * clusters / max(clusters - 1, 1) * spare + between, clusters
