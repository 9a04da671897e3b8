"""Experiments: leads drawn to arms by a hash, a check of the draw, intervals that hold whenever one looks, and power.

A claim from history stays a guess; a draw does not. Arms may be caller IDs, times, cadences, scripts or lists. The day
is the unit: the difference between arms of a day is one observation, so that a bad Monday, which hits all arms, cancels.
The interval is the asymptotic confidence sequence of Waudby-Smith et al. (Ann. Stat. 52 (2024) 2613-2640): it holds at
all looks together, so that one may look every day and stop when it says so.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np
import pandas as pd

from dialframe.analytics.inference import normal_quantile, t_quantile, t_tail
from dialframe.errors import ConfigError
from dialframe.evidence import EvidenceLog, Record

__all__ = ["Difference", "Draw", "assign", "difference", "enroll", "power", "sample_ratio"]

#: Days below which nothing is said.
LEAST_DAYS: Final = 10
#: Days at which the interval is narrowest for its level.
_BEST_DAYS: Final = 20.0


def assign(
    leads: pd.DataFrame,
    arms: Sequence[str] | Mapping[str, float],
    *,
    by: str | Sequence[str] = (),
    seed: str,
) -> pd.Series[str]:
    """Draw leads to arms: the same lead always to the same arm, equally often in each stratum.

    A hash of the experiment's name and the number orders leads, so that a lead that stands in two campaigns
    has one arm where no strata are given. Without strata an arm depends on the number alone: leads that come
    later are drawn without moving any other. With strata the draw is of the leads given: keep it.

    Args:
        leads: Frame with `phone`, one row per lead.
        arms: Names of the arms, or their shares.
        by: Columns whose every combination is split as the arms say.
        seed: Name of the experiment; another name is another draw.

    Returns:
        The arm of each lead, on the index of `leads`, named `arm`.

    Raises:
        ConfigError: A column is missing, a phone is null, or the arms are fewer than two.

    Example:
        >>> leads = pd.DataFrame({"phone": ["+12025550101", "+12025550102"]})
        >>> assign(leads, ["morning", "evening"], seed="time of day").tolist()
        ['evening', 'morning']
    """
    shares = _shares(arms)
    columns = [by] if isinstance(by, str) else list(by)
    for column in ("phone", *columns):
        if column not in leads.columns:
            raise ConfigError(
                f"leads have no column {column!r}; they have {', '.join(map(str, leads.columns[:6]))}"
            )
    if leads["phone"].isna().any():
        raise ConfigError("phone: a lead has none; leave it out before the draw")
    names, ends = list(shares), np.cumsum(list(shares.values()))
    place = np.array([_place(seed, str(phone)) for phone in leads["phone"]])
    if columns:
        # Leads of one number go together: within a stratum numbers are ordered by their hash and dealt out.
        keys = leads[columns].astype("str").fillna("")
        group = keys.groupby(columns, sort=True).ngroup().to_numpy()
        dealt = np.empty(len(leads))
        for stratum in np.unique(group):
            rows = np.flatnonzero(group == stratum)
            numbers, code = np.unique(place[rows], return_inverse=True)
            # Where a stratum begins is drawn too, so that small ones do not all favor the first arm.
            start = _place(seed, f"stratum {keys.iloc[rows[0]].tolist()}")
            dealt[rows] = ((code + start) / max(len(numbers), 1)) % 1.0
        place = dealt
    arm = np.minimum(np.searchsorted(ends, place, side="right"), len(names) - 1)
    return pd.Series([names[i] for i in arm], index=leads.index, dtype="str", name="arm")


def enroll(
    evidence: EvidenceLog,
    leads: pd.DataFrame,
    arms: Sequence[str] | Mapping[str, float],
    *,
    by: str | Sequence[str] = (),
    seed: str,
    now: datetime,
) -> pd.Series[str]:
    """Draw the leads that have no arm yet, and keep every draw in the evidence log of the store.

    Who was drawn once keeps the arm, whatever leads come later and however often this is called.

    Args:
        evidence: Where draws are kept: `account.evidence`, `EvidenceLog.beside(store)`.
        leads: Frame with `phone`, one row per lead.
        arms: Names of the arms, or their shares: the same at every call.
        by: Columns whose every combination is split as the arms say.
        seed: Name of the experiment.
        now: When they are drawn, with a zone.

    Returns:
        The arm of each lead, on the index of `leads`, named `arm`.

    Raises:
        ConfigError: As `assign`, or the experiment was begun with other arms.
        StoreError: The log is not what was written.

    Example:
        >>> import tempfile
        >>> from datetime import UTC
        >>> from pathlib import Path
        >>> leads = pd.DataFrame({"phone": ["+12025550101", "+12025550102"]})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     log = EvidenceLog.beside(Path(folder))
        ...     enroll(log, leads, ["morning", "evening"], seed="time", now=datetime(2026, 3, 2, tzinfo=UTC)).tolist()
        ['morning', 'evening']
    """
    shares = _shares(arms)
    drawn = {}
    for record in evidence.records(["experiment"]):
        if record.detail.get("experiment") != seed:
            continue
        if record.detail["arms"] != shares:
            raise ConfigError(
                f"experiment {seed!r} was begun with arms {record.detail['arms']}; give these, or another seed"
            )
        drawn[record.number] = str(record.detail["arm"])
    missing = leads["phone"].isna() if "phone" in leads.columns else pd.Series(dtype=bool)
    new = leads if missing.any() or missing.empty else leads[~leads["phone"].isin(list(drawn))]
    arm = assign(new, arms, by=by, seed=seed)
    pairs = dict(zip(new["phone"].astype(str), arm, strict=True)) if len(new) else {}
    evidence.append(
        [
            Record("experiment", now, number, source=seed,
                   detail={"experiment": seed, "arm": name, "arms": shares})
            for number, name in pairs.items()
        ]
    )  # fmt: skip
    drawn |= pairs
    return pd.Series(
        [drawn[str(phone)] for phone in leads["phone"]], index=leads.index, dtype="str", name="arm"
    )


def _shares(arms: Sequence[str] | Mapping[str, float]) -> dict[str, float]:
    given = dict(arms) if isinstance(arms, Mapping) else dict.fromkeys(arms, 1.0)
    if isinstance(arms, str) or len(given) < 2 or not all(share > 0 for share in given.values()):
        raise ConfigError(
            'arms are two or more names, or names with shares above 0: ["morning", "evening"]'
        )
    total = sum(given.values())
    return {str(name): share / total for name, share in given.items()}


def _place(seed: str, key: str) -> float:
    """A number from 0 to 1 that a name and a key always have."""
    return int.from_bytes(hashlib.sha256(f"{seed}\0{key}".encode()).digest()[:7], "big") / 2**56


@dataclass(frozen=True, slots=True)
class Draw:
    """Whether arms have the leads that they were to have.

    Attributes:
        counts: Leads of each arm.
        p: Chance of counts so far from the shares.
        fair: Whether the draw may be trusted; below p = .001 something takes leads out of an arm.
        text: The same in a sentence.
    """

    counts: Mapping[str, int]
    p: float
    fair: bool
    text: str


def sample_ratio(arm: pd.Series[str], arms: Sequence[str] | Mapping[str, float]) -> Draw:
    """Check that the leads that came to be dialed are split as they were drawn.

    Args:
        arm: Arm of each lead that was dialed, or of each that is counted.
        arms: As it was given to `assign`.

    Returns:
        A `Draw`: counts by arm, the chance of counts so far from the shares, and whether the draw may be trusted.

    Example:
        >>> sample_ratio(pd.Series(["a"] * 500 + ["b"] * 400), ["a", "b"]).fair
        False
    """
    shares = _shares(arms)
    counts = {name: int((arm == name).sum()) for name in shares}
    total = sum(counts.values())
    # Each arm against the rest, and as many tests as arms (Bonferroni): exact enough beyond a few leads.
    p = 1.0
    for name, share in shares.items():
        spread = math.sqrt(max(total * share * (1 - share), 1e-12))
        p = min(
            p,
            t_tail((counts[name] - total * share) / spread, 1e9)
            * (len(shares) if len(shares) > 2 else 1),
        )
    words = ", ".join(f"{name} {count:,}" for name, count in counts.items())
    fair = p >= 0.001
    text = f"Leads are split as they were drawn ({words})" if fair else (
        f"Leads are not split as they were drawn ({words}, p = {p:.1g}): nothing may be compared until it is known "
        "what takes leads out of an arm"
    )  # fmt: skip
    return Draw(counts, p, fair, text)


@dataclass(frozen=True, slots=True)
class Difference:
    """What two arms differ by, at whatever look.

    Attributes:
        effect: Rate of the second arm less the first; None where nothing can be said.
        low: Lower bound, which holds at all looks together.
        high: Upper bound.
        days: Days on which both arms were dialed.
        differs: Whether zero is outside.
        text: The same in a sentence.
    """

    effect: float | None
    low: float | None
    high: float | None
    days: int
    differs: bool
    text: str


def difference(
    trials: pd.DataFrame, first: str, second: str, *, alpha: float = 0.05
) -> Difference:
    """What the second arm reaches beyond the first, with an interval that holds under daily looks.

    Args:
        trials: One row per attempt or lead: `arm`, `day` (anything that tells days apart), `hit` (a person, a
            sale). Unknown outcomes are null, and left out of both arms.
        first: Name of the arm that it is held against.
        second: Name of the other arm.
        alpha: Chance of a difference, over all looks, where there is none.

    Returns:
        A `Difference`: rate of the second arm less the first (parts of 1), with bounds; all None where too few days say
        anything.

    Raises:
        ConfigError: A column is missing.

    Example:
        >>> difference(pd.DataFrame({"arm": ["a", "b"], "day": [1, 1], "hit": [0, 1]}), "a", "b").effect is None
        True
    """
    for column in ("arm", "day", "hit"):
        if column not in trials.columns:
            raise ConfigError(f"trials have no column {column!r}; they need arm, day and hit")
    known = trials[trials["arm"].isin([first, second]) & trials["hit"].notna()]
    counts = known.assign(hit=known["hit"].astype(float)).pivot_table(
        index="day", columns="arm", values="hit", aggfunc=["sum", "count"], fill_value=0
    )  # fmt: skip
    if counts.empty or not {first, second} <= set(known["arm"]):
        return _nothing(first, second, 0, "one of them has no known outcome")
    k, n = (
        np.array([counts[what][arm].to_numpy(float) for arm in (first, second)])
        for what in ("sum", "count")
    )
    both = (n > 0).all(axis=0)
    days = int(both.sum())
    if days < LEAST_DAYS:
        return _nothing(
            first,
            second,
            days,
            f"{days} days have both arms, and fewer than {LEAST_DAYS} say nothing",
        )
    k, n = k[:, both], n[:, both]
    if not 0 < k.sum() < n.sum():
        return _nothing(first, second, days, "all outcomes are the same")
    # A day weighs as much as its smaller arm lets it be known.
    weight = 1 / (1 / n).sum(axis=0)
    share, gap = weight / weight.sum(), k[1] / n[1] - k[0] / n[0]
    effect = float(share @ gap)
    effective = 1 / float((share**2).sum())
    if effective < LEAST_DAYS:
        return _nothing(first, second, days, f"the calls are of {effective:.0f} days' worth alone")
    pooled = k.sum() / n.sum()
    spread = float(share**2 @ (gap - effect) ** 2) * effective / (effective - 1)
    # Never below what chance alone gives: few days may look alike by luck.
    error = math.sqrt(max(spread, float(share**2 @ (pooled * (1 - pooled) * (1 / n).sum(axis=0)))))
    half = error * _boundary(effective, alpha)
    low, high = max(effect - half, -1.0), min(effect + half, 1.0)
    differs = low > 0 or high < 0
    points = (
        f"{100 * abs(effect):.1f} points ({100 * low:+.1f} to {100 * high:+.1f}, at every look)"
    )
    text = (
        f"{second} reaches {'more' if effect > 0 else 'less'} than {first}, by {points}" if differs
        else f"{first} and {second} do not differ as far as {days} days tell: {100 * low:+.1f} to {100 * high:+.1f} points"
    )  # fmt: skip
    return Difference(effect, low, high, days, differs, text)


def _boundary(days: float, alpha: float) -> float:
    """Standard errors that the mean of so many days stays inside of, at all looks together."""
    rho = 1 / _BEST_DAYS
    scaled = days * rho + 1
    z = math.sqrt(2 * scaled / (days * rho) * math.log(math.sqrt(scaled) / alpha))
    # The error is estimated: as Student's t at the level that the boundary has alone.
    level = math.erfc(z / math.sqrt(2))
    return float(t_quantile(max(level, 1e-12), days - 1))


def _nothing(first: str, second: str, days: int, why: str) -> Difference:
    return Difference(
        None,
        None,
        None,
        days,
        differs=False,
        text=f"{first} and {second} cannot be compared yet: {why}",
    )


def power(
    rate: float, leads_a_day: float, points: float, *, alpha: float = 0.05, chance: float = 0.8
) -> tuple[int | None, str]:
    """How many days it takes to see a difference between two equal arms, in words, before it starts.

    Args:
        rate: What the first arm reaches, from 0 to 1.
        leads_a_day: Leads of both arms together.
        points: Difference in percentage points.
        alpha: Chance of a difference over all looks where there is none.
        chance: Chance that the difference is seen by then.

    Returns:
        The days, None where two years do not do, and the sentence.

    Example:
        >>> power(0.12, 400, 8)[1]
        'with your 400 leads a day, 13 days for 8 points (seen four times out of five)'
    """
    other = rate + points / 100
    if not (0 < rate < 1 and 0 < other < 1 and leads_a_day > 0 and points):
        raise ConfigError(
            "power needs a rate between 0 and 1 before and after, leads a day above 0, and points that are not 0"
        )
    alone = 2 * (rate * (1 - rate) + other * (1 - other)) / leads_a_day
    often = "four times out of five" if chance == 0.8 else f"with a chance of {chance:.0%}"
    for days in range(LEAST_DAYS, 731):
        # The error is the greater of what days differ by and of chance alone, which is more than either.
        greater = 1 + 0.4 * math.sqrt(2 / (days - 1))
        needed = (_boundary(days, alpha) + normal_quantile(chance)) * math.sqrt(
            greater * alone / days
        )
        if needed <= abs(points) / 100:
            return (
                days,
                f"with your {leads_a_day:,.0f} leads a day, {days} days for {points:g} points (seen {often})",
            )
    return (
        None,
        f"with your {leads_a_day:,.0f} leads a day, two years do not show {points:g} points",
    )


def __dir__() -> list[str]:
    """The public names alone."""
    return sorted(__all__)
