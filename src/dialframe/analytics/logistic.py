"""A logistic regression on a few categories; knows levels and hits, not what they mean.

Calls that agree in all categories are one cell, so ten million calls are fitted as some thousand
rows. Errors are clustered (Liang and Zeger, Biometrika 73 (1986) 13-22).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy import sparse, special

from dialframe.analytics.columns import Floats, Ints, Mask

# Enough to keep a level that never hits finite, too little to move one that does.
_RIDGE: Final = 1e-3
_STEPS: Final = 40
_MOST_CELLS: Final = 40_000_000
#: Part of the greatest variance below which a direction does not vary but by rounding.
_SINGULAR: Final = 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A fitted model.

    Attributes:
        expected: Chance of each trial by the model.
        columns: Of each category, its place among the coefficients by level; -1 is the level that
            the others are compared with.
        coefficients: Logarithms of odds ratios; the first is the intercept.
        covariance: Theirs, clustered.
    """

    expected: Floats
    columns: Mapping[str, Ints]
    coefficients: Floats
    covariance: npt.NDArray[np.float64]

    def test(self, category: str, levels: int) -> tuple[float, int, float]:
        """Wald test that the first levels of a category make no difference: statistic, df, p."""
        places = self.columns[category][:levels]
        places = places[places >= 0]
        if not len(places):
            return 0.0, 0, 1.0
        b = self.coefficients[places]
        # Levels that go together in all calls (one hour for each attempt, say) are fewer
        # directions than levels: only the directions that vary are tested.
        spread, axes = np.linalg.eigh(self.covariance[np.ix_(places, places)])
        keep = spread > _SINGULAR * max(float(spread[-1]), _SINGULAR)
        df = int(keep.sum())
        if not df:
            return 0.0, 0, 1.0
        statistic = float((((b @ axes)[keep]) ** 2 / spread[keep]).sum())
        return statistic, df, float(special.chdtrc(df, statistic))

    def odds(self, category: str) -> tuple[Floats, Floats, Floats]:
        """Odds ratio of each level to the reference, with 95 % bounds; the reference is 1."""
        places = self.columns[category]
        b = np.where(places >= 0, self.coefficients[places], 0.0)
        variance = np.maximum(np.diag(self.covariance), 0.0)
        error = np.where(places >= 0, np.sqrt(variance[places]), 0.0)
        return np.exp(b), np.exp(b - 1.96 * error), np.exp(b + 1.96 * error)


def fit(categories: Mapping[str, Ints], hit: Mask, cluster: Ints) -> Fit:
    """Fit main effects of categories on the chance of a hit.

    Args:
        categories: Level of each trial, whole numbers from 0 up, by name of the category. The most
            frequent level is what the others are compared with.
        hit: Whether each trial hit.
        cluster: What each trial is of, whole numbers from 0 up.
    """
    codes = list(categories.values())
    sizes = [int(code.max(initial=0)) + 1 for code in codes]
    joint = np.ravel_multi_index(tuple(codes), tuple(sizes)) if codes else np.zeros(len(hit), int)
    cells, cell = np.unique(joint, return_inverse=True)
    levels = np.unravel_index(cells, tuple(sizes)) if codes else ()
    design, columns = _design(
        list(categories), [np.asarray(level) for level in levels], codes, sizes
    )
    n = np.bincount(cell, minlength=len(cells)).astype(float)
    k = np.bincount(cell, weights=hit, minlength=len(cells)).astype(float)
    beta, inverse = _solve(design, n, k)
    chance = _chance(design @ beta)
    residual = hit - chance[cell]
    meat = _meat(design, cell, residual, cluster)
    covariance = inverse if meat is None else inverse @ meat @ inverse
    return Fit(chance[cell], columns, beta, (covariance + covariance.T) / 2)


def _design(
    names: list[str], levels: list[Ints], codes: list[Ints], sizes: list[int]
) -> tuple[sparse.csr_array, dict[str, Ints]]:
    """One row per cell: the intercept and a flag per level but the most frequent one."""
    rows = len(levels[0]) if levels else 1
    flags, columns, width = [np.zeros(rows, dtype=np.int64)], {}, 1
    for name, level, code, size in zip(names, levels, codes, sizes, strict=True):
        counts = np.bincount(code, minlength=size)
        reference = int(counts.argmax()) if len(code) else 0
        used = [i for i in range(size) if i != reference and counts[i]]
        place = np.full(size, -1)
        place[used] = width + np.arange(len(used))
        columns[name] = place
        flags.append(place[level])
        width += len(used)
    column = np.concatenate(flags)
    row = np.tile(np.arange(rows), len(flags))
    there = column >= 0
    design = sparse.csr_array(
        (np.ones(int(there.sum())), (row[there], column[there])), shape=(rows, width)
    )
    return design, columns


def _solve(
    design: sparse.csr_array, n: Floats, k: Floats
) -> tuple[Floats, npt.NDArray[np.float64]]:
    """Coefficients and the inverse of the information, by reweighted least squares."""
    width = design.shape[1]
    penalty = np.full(width, _RIDGE)
    penalty[0] = 1e-9
    beta = np.zeros(width)
    overall = (k.sum() + 0.5) / (n.sum() + 1.0)
    beta[0] = np.log(overall / (1 - overall))
    turned = design.T.tocsr()
    for _ in range(_STEPS):
        chance = _chance(design @ beta)
        weight = np.maximum(n * chance * (1 - chance), 1e-12)
        information = _squared(turned, weight, design) + np.diag(penalty)
        step = np.linalg.solve(information, turned @ (k - n * chance) - penalty * beta)
        beta = beta + np.clip(step, -3, 3)
        if np.abs(step).max() < 1e-8:
            break
    return beta, np.linalg.inv(information)


def _squared(
    turned: sparse.csr_array, weight: Floats, design: sparse.csr_array
) -> npt.NDArray[np.float64]:
    found: npt.NDArray[np.float64] = (turned @ sparse.diags_array(weight) @ design).toarray()
    return found


def _chance(score: Floats) -> Floats:
    return 1 / (1 + np.exp(-np.clip(score, -30, 30)))


def _meat(
    design: sparse.csr_array, cell: Ints, residual: Floats, cluster: Ints
) -> npt.NDArray[np.float64] | None:
    """Scores summed by cluster, squared; None where that would take too much memory."""
    _, code = np.unique(cluster, return_inverse=True)
    size = int(code.max(initial=-1)) + 1
    if not size or size * design.shape[1] > _MOST_CELLS:
        return None
    # Residuals by cluster and cell, times the cells' rows of the design: scores by cluster.
    by_cell = sparse.csr_array((residual, (code, cell)), shape=(size, design.shape[0]))
    scores = by_cell @ design
    found: npt.NDArray[np.float64] = (scores.T @ scores).toarray() * (size / max(size - 1, 1))
    return found
