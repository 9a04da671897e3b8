"""How long until something happens, where other things can happen first: incidence and survival.

The cumulative incidence of Aalen and Johansen (Scand. J. Stat. 5 (1978) 141-150) says what came to
pass; one minus Kaplan and Meier's curve (J. Am. Stat. Assoc. 53 (1958) 457-481) says what would have
without the other ends, and is never below it. Bounds of the incidence are those of Gray's variance on
the complementary log-log scale (Lin, Stat. Med. 16 (1997) 901-910; Marubini and Valsecchi (1995),
section 10.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from dialframe.analytics.attempt.arrays import Floats, Ints

_Z: Final = 1.959963984540054
#: Steps that a curve is drawn with at most; more are thinned out evenly.
MOST_STEPS: Final = 400


@dataclass(frozen=True, slots=True, eq=False)
class Curves:
    """Step curves: each value holds from its day to the next.

    Attributes:
        day: Days at which something ended, from 0.
        at_risk: How many were still waiting just before.
        incidence: Of each kind of end, the share that it came to by then.
        low: Lower bound of the first kind's incidence.
        high: Its upper bound.
        survival: Share that would still wait if the first kind were the only end (Kaplan, Meier).
        median: Day by which half came to the first kind's end; NaN where they do not.
    """

    day: Floats
    at_risk: Ints
    incidence: tuple[Floats, ...]
    low: Floats
    high: Floats
    survival: Floats
    median: float


def curves(days: Floats, ending: Ints, kinds: int) -> Curves:
    """Cumulative incidence of several ends, of which one comes first.

    Args:
        days: How long each waited.
        ending: What ended it: 0 nothing yet, else 1 to `kinds`.
        kinds: How many kinds of ends there are.

    Returns:
        The curves at the days on which something ended, ties kept, thinned to `MOST_STEPS`.
    """
    at, code = np.unique(days, return_inverse=True)
    size = len(at)
    left = np.bincount(code, minlength=size).astype(float)
    risk = len(days) - np.concatenate([[0.0], np.cumsum(left)[:-1]]) if size else np.zeros(0)
    ends = np.array([np.bincount(code, ending == k, size) for k in range(1, kinds + 1)])
    ends = ends.reshape(kinds, size)
    every = ends.sum(axis=0)
    waiting = np.cumprod(1 - every / np.maximum(risk, 1))
    before = np.concatenate([[1.0], waiting[:-1]]) if size else waiting
    incidence = np.cumsum(before * ends / np.maximum(risk, 1), axis=1)
    alone = np.cumprod(1 - ends[0] / np.maximum(risk, 1)) if kinds else np.ones(size)
    low, high = _bounds(incidence[0], before, ends[0], every, risk)
    half = np.flatnonzero(incidence[0] >= 0.5)
    keep = _steps(every > 0)
    return Curves(
        np.append(0.0, at[keep]), np.append(len(days), risk[keep]).astype(np.int64),
        tuple(np.append(0.0, row[keep]) for row in incidence), np.append(0.0, low[keep]),
        np.append(0.0, high[keep]), np.append(1.0, alone[keep]),
        float(at[half[0]]) if len(half) else float("nan"),
    )  # fmt: skip


def _bounds(
    incidence: Floats, before: Floats, mine: Floats, every: Floats, risk: Floats
) -> tuple[Floats, Floats]:
    """95 % bounds of an incidence: Marubini and Valsecchi's variance, summed in one pass."""
    n = np.maximum(risk, 1)
    first = np.where(n > every, every / (n * np.maximum(n - every, 1)), 0.0)
    # sum over j <= i of (F_i - F_j)^2 a_j = F_i^2 A_i - 2 F_i B_i + C_i
    a, b, c = (np.cumsum(first * incidence**k) for k in (0, 1, 2))
    second = np.cumsum(before**2 * (n - mine) * mine / n**3)
    third = before * mine / n**2
    d, e = np.cumsum(third), np.cumsum(third * incidence)
    variance = np.maximum(
        incidence**2 * a - 2 * incidence * b + c + second - 2 * (incidence * d - e), 0.0
    )
    inside = (incidence > 0) & (incidence < 1)
    safe = np.where(inside, incidence, 0.5)
    spread = _Z * np.sqrt(variance) / ((1 - safe) * np.abs(np.log1p(-safe)))
    log_hazard = np.log1p(-safe)
    low, high = (1 - np.exp(log_hazard * np.exp(s * spread)) for s in (-1, 1))
    return np.where(inside, low, incidence), np.where(inside, high, incidence)


def _steps(ended: np.ndarray) -> Ints:
    places = np.flatnonzero(ended)
    if len(places) <= MOST_STEPS:
        return places
    even = np.linspace(0, len(places) - 1, MOST_STEPS).round().astype(np.int64)
    return np.asarray(places[np.unique(even)], dtype=np.int64)
