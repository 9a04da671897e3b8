"""What the levels of one factor do, as a value: rates, tests, differences, and what would have been seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from dialframe.analytics.attempt.arrays import Floats, Ints, Mask
from dialframe.analytics.stats.inference import (
    chi2_limit,
    chi2_tail,
    detectable_effect,
    two_sided_p,
)

#: Part of the greatest variance below which a direction does not vary but by rounding.
_SINGULAR: Final = 1e-9


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
            trials = (1 - rate) / (rate * float(error[i]) ** 2)
            p[i] = two_sided_p(self._root(x, float(share[i]), trials))
        return p

    def _root(self, log_ratio: float, share: float, trials: float) -> float:
        """Root of the deviance of trials of a level against the others, at a ratio of the two."""
        rate = float(np.clip(self.base * np.exp((1 - share) * log_ratio), 1e-9, 0.999))
        rest = float(np.clip(self.base * np.exp(-share * log_ratio), 1e-9, 0.999))
        # An error estimated from few hits is too small one time in two: its leverage is 1 / hits.
        trials *= 1 - 1 / max(min(trials * rate, trials * rest), 2.0)
        apart = rate * np.log(rate / rest) + (1 - rate) * np.log((1 - rate) / (1 - rest))
        return float(np.sqrt(max(2 * trials * apart, 0.0)))

    def rest_seen(self, level: int, alpha: float) -> float:
        """Log ratio above the others at which `rest_p` of a level is below `alpha` four times out of five.

        Of a level that leads have for good: who is reached is not tried again, so that leads that are
        reached more often are tried less often.
        """
        _, error = self.against_rest()
        share = float(self.trials[level] / max(self.trials[self.compared].sum(), 1))
        trials = (1 - self.base) / (self.base * float(error[level]) ** 2)
        needed, low, high = detectable_effect(1.0, alpha), 0.0, -float(np.log(self.base))
        # As many attempts as give each lead its trials where a hit ends them.
        per_lead = float(self.trials.sum()) / max(self.clusters, 1)
        left = 1 - min(per_lead * self.base, 0.999)
        most = max(float(np.log(left) / np.log(1 - self.base)), 1.0)
        for _ in range(40):
            middle = (low + high) / 2
            rate = min(self.base * float(np.exp(middle)), 0.999)
            tried = (1 - (1 - rate) ** most) / rate / ((1 - left) / self.base)
            short = self._root(middle, share, trials * tried) < needed
            low, high = (middle, high) if short else (low, middle)
        return high

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
