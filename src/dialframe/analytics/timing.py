"""When people answer: by local hour and weekday, shrunk where calls are few, and whether it matters."""

from __future__ import annotations

from datetime import datetime
from typing import Final

import numpy as np
import pandas as pd

from dialframe.analytics.clock import UNCLEAR, WEEKDAYS
from dialframe.analytics.columns import Floats, Ints, Mask
from dialframe.analytics.dials import dials
from dialframe.analytics.intervals import holm
from dialframe.analytics.logistic import fit
from dialframe.analytics.mix import (
    AGE_BANDS,
    SOURCE,
    age_level,
    attempt_level,
    clock_of,
    hour_level,
    source_level,
    weekday_level,
)
from dialframe.analytics.result import Result
from dialframe.analytics.tabled import rated, sums, table
from dialframe.analytics.taxonomy import DEFAULT, Taxonomy
from dialframe.analytics.wording import share

_CELLS: Final = 7 * 24
_LEAST: Final = 30
#: Shrunk rates that are closer than this are one rate.
_STANDS_OUT: Final = 0.005


def hours(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    thin: int = 30,
    taxonomy: Taxonomy = DEFAULT,
    as_of: datetime | None = None,
    campaign: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> Result:
    """How often a person answers by weekday and hour of the person called.

    `shrunk` pulls each cell to the rate over all cells, the more the fewer calls it has: a beta
    distribution over cells is fitted by moments, and the cell's mean given it is taken.

    Args:
        calls: Frame of the calls table.
        leads: Frame of the leads table; not needed.
        thin: Calls below which a cell is thin: to be greyed, never to be ranked.
        taxonomy: What the codes mean.
        as_of: When the data was read.
        campaign: Calls of this campaign only.
        since: Calls from this instant on; aware.
        until: Calls before this instant; aware.

    Returns:
        All 168 cells: `weekday` (`Mon`), `hour`, `numerator` (people), `denominator` (attempts),
        `rate`, `low`, `high`, `shrunk` (null without calls), `thin`.

    Raises:
        ConfigError: A column is missing, or the campaign is unknown.
    """
    found = dials(calls, leads, taxonomy=taxonomy, as_of=as_of, campaign=campaign, since=since,
                  until=until)  # fmt: skip
    clock = clock_of(found)
    n = sums(clock.cell, _CELLS)
    k = sums(np.where(found.flag("human"), clock.cell, np.int16(-1)), _CELLS)
    frame = table(
        {
            "weekday": [name for name in WEEKDAYS for _ in range(24)],
            "hour": np.tile(np.arange(24), 7),
            **rated(k, n),
            "shrunk": shrunk(k, n),
            "thin": n < thin,
        }
    )
    ranked = frame[~frame["thin"].to_numpy(bool)]
    if len(ranked) and float(np.ptp(ranked["shrunk"].to_numpy(float))) < _STANDS_OUT:
        answer = (
            f"No hour stands out: {share(int(k.sum()) / int(n.sum()))} of {int(n.sum()):,} calls reach "
            "a person, whatever the hour, as far as so many calls can tell"
        )
    elif len(ranked):
        best = ranked.sort_values("shrunk", ascending=False, kind="stable").iloc[0]
        answer = (
            f"Most often a person answers on {best['weekday']} at {best['hour']}:00 local time: "
            f"{share(best['rate'])} of {int(best['denominator']):,} calls"
        )
    else:
        answer = f"No hour has {thin} calls, so none can be said to be best"
    return Result(
        "hours", answer, frame,
        "Calls that a person answered of attempts, by the clock of the person called",
        found.balance({("no_zone", "calls"): int((clock.cell == -1).sum()),
                       ("unclear_hour", "calls"): int((clock.cell == UNCLEAR).sum())}, _CLOCK_WORDS),
        taxonomy, found.as_of, {}, {"thin": thin}, found.warnings,
    )  # fmt: skip


def best_time(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    source: str = SOURCE,
    alpha: float = 0.05,
    least_points: float = 1.0,
    taxonomy: Taxonomy = DEFAULT,
    as_of: datetime | None = None,
    campaign: str | None = None,
) -> Result:
    """Whether the hour or the weekday makes a difference once everything else is held still.

    A logistic model of a person answering has local hour, weekday, attempt, source and age of the
    lead; errors are clustered by lead. `adjusted` is the rate if all calls had been made at that
    time. The answer is "no difference" unless the Wald test says otherwise (hour and weekday are two
    tests, which share `alpha`: Holm) and the adjusted rates of times with enough calls are at least
    `least_points` apart; where there is nothing to compare, it says that.

    Args:
        calls: Frame of the calls table.
        leads: Frame of the leads table, for source and age.
        source: Custom field with the source.
        alpha: Chance that either test finds a difference where there is none.
        least_points: Difference in percentage points that is worth a decision.
        taxonomy: What the codes mean.
        as_of: When the data was read.
        campaign: Calls of this campaign only.

    Returns:
        One row per time (`dimension` `hour` or `weekday`, `level`): `numerator`, `denominator`,
        `rate`, `low`, `high`, `adjusted`, `odds_ratio` with `odds_low`, `odds_high` (1: the level
        with most calls; null for times with under 1 % of the calls). Table `tests` has `dimension`, `chi2`, `df`, `p`, `p_adjusted` (both
        null with nothing to compare), `spread_points`, `differs`.

    Raises:
        ConfigError: A column is missing, or the campaign is unknown.
    """
    found = dials(calls, leads, taxonomy=taxonomy, as_of=as_of, campaign=campaign)
    clock = clock_of(found)
    whole, found = found, found.only(clock.known)
    clock = clock.take(clock.known)
    levels = {"hour": hour_level(clock), "weekday": weekday_level(clock)}
    human = found.flag("human")
    names = {"hour": [f"{h}:00" for h in range(24)], "weekday": list(WEEKDAYS)}
    counts = {name: sums(level, len(names[name])) for name, level in levels.items()}
    # A time with next to no calls can be fitted to anything, so these are one level of their own.
    used = {name: n >= max(_LEAST, 0.01 * n.sum()) for name, n in counts.items()}
    rows, tests = [], []
    if len(found):
        model = fit(
            {
                **{
                    name: np.where(used[name][v], v, len(names[name]))
                    for name, v in levels.items()
                },
                "attempt": attempt_level(found),
                "source": source_level(found, source)[0],
                "age": age_level(found),
            },
            human,
            found.cluster,
        )
        for name, level in levels.items():
            n, keep = counts[name], used[name]
            k = sums(np.where(human, level, -1), len(n))
            grouped = np.where(keep[level], level, len(n))
            odds, low, high = (
                np.append(_padded(v, len(n)), v[len(n) :])[: len(n) + 1] for v in model.odds(name)
            )
            adjusted = _adjusted(model.expected, odds, grouped, keep)
            odds, low, high = (np.where(keep, v[: len(n)], np.nan) for v in (odds, low, high))
            spread = 100 * float(np.ptp(adjusted[keep])) if keep.sum() > 1 else 0.0
            chi2, df, p = model.test(name, len(n))
            told = df > 0 and 0 < int(human.sum()) < len(found)
            tests.append((name, chi2, df, p if told else np.nan, spread))
            rows.append((name, names[name], k, n, adjusted, odds, low, high))
    frame = _times(rows)
    check = _tests(tests, alpha, least_points)
    return Result(
        "best_time", _said(frame, check), frame,
        "Calls that a person answered of attempts with a certain local hour; adjusted for attempt, "
        "source and age of the lead",
        whole.balance({("no_certain_hour", "calls"): len(whole) - len(found)}, _CLOCK_WORDS),
        taxonomy, found.as_of, {"tests": check},
        {"alpha": alpha, "least_points": least_points, "source": source,
         "age_bands_days": list(AGE_BANDS)},
        whole.warnings,
    )  # fmt: skip


def shrunk(k: Ints, n: Ints) -> Floats:
    """Rates pulled to their common mean by a beta prior fitted by moments; NaN without trials."""
    used = n > 0
    if not used.any():
        return np.full(len(n), np.nan)
    total, cells = float(n.sum()), int(used.sum())
    mean = float(k.sum()) / total
    spread = float((n[used] * (k[used] / n[used] - mean) ** 2).sum())
    # Kleinman (J. Am. Stat. Assoc. 68 (1973) 46): between-cell share of the variance.
    weight = total - float((n[used] ** 2).sum()) / total
    base = mean * (1 - mean)
    between = (spread - base * (cells - 1)) / weight if weight > 0 else 0.0
    prior = base / between - 1 if between > 1e-12 and base > 0 else 1e9
    prior = min(max(prior, 1.0), 1e9)
    return np.where(used, (k + prior * mean) / (n + prior), np.nan)


_CLOCK_WORDS: Final = {
    "no_zone": "no time zone can be told from the number",
    "unclear_hour": "the zones that the number may be in show different hours",
    "no_certain_hour": "no time zone, or several that show different hours",
}


def _adjusted(expected: Floats, odds: Floats, level: Ints, keep: Mask) -> Floats:
    """Mean chance if every call were at a level: each call's own odds moved to that level's."""
    own = expected / (1 - expected) / odds[level]
    # A few hundred points of the distribution of odds stand for all calls.
    points = np.quantile(own, (np.arange(400) + 0.5) / 400)[:, None]
    moved = points * np.where(keep, odds[: len(keep)], 1.0)[None, :]
    return np.where(keep, (moved / (1 + moved)).mean(axis=0), np.nan)


def _tests(
    rows: list[tuple[str, float, int, float, float]], alpha: float, least_points: float
) -> pd.DataFrame:
    p, spread = (np.array([row[i] for row in rows], dtype=float) for i in (3, 4))
    together = holm(p)
    return table(
        {
            "dimension": [row[0] for row in rows],
            "chi2": np.array([row[1] for row in rows], dtype=float),
            "df": np.array([row[2] for row in rows], dtype=int),
            "p": p,
            "p_adjusted": together,
            "spread_points": spread,
            "differs": (np.nan_to_num(together, nan=1.0) < alpha) & (spread >= least_points),
        }
    )


def _padded(values: Floats, size: int) -> Floats:
    return np.append(values, np.full(max(size - len(values), 0), np.nan))[:size]


def _times(
    rows: list[tuple[str, list[str], Ints, Ints, Floats, Floats, Floats, Floats]],
) -> pd.DataFrame:
    used = [(row, i) for row in rows for i in range(len(row[1])) if row[3][i]]
    return table(
        {
            "dimension": [row[0] for row, _ in used],
            "level": [row[1][i] for row, i in used],
            **rated([int(row[2][i]) for row, i in used], [int(row[3][i]) for row, i in used]),
            **{
                name: np.array([row[place][i] for row, i in used], dtype=float)
                for place, name in enumerate(
                    ("adjusted", "odds_ratio", "odds_low", "odds_high"), 4
                )
            },
        }
    )


def _said(frame: pd.DataFrame, tests: pd.DataFrame) -> str:
    if not len(frame):
        return "There are no calls with a certain local hour"
    parts = []
    for row in tests.to_dict("records"):
        mine = frame[frame["dimension"] == row["dimension"]]
        best = mine.sort_values("adjusted", ascending=False, kind="stable").iloc[0]
        if pd.isna(row["p"]):
            said = f"cannot be judged, because {_why(mine)}"
        elif not row["differs"]:
            said = f"makes no difference (p = {row['p_adjusted']:.2g})"
        else:
            said = (
                f"makes a difference: best {best['level']} with {share(best['adjusted'])}, "
                f"{row['spread_points']:.1f} points above the worst (p = {row['p_adjusted']:.2g})"
            )
        parts.append(f"the {row['dimension']} {said}")
    sentence = "; ".join(parts)
    return sentence[0].upper() + sentence[1:]


def _why(times: pd.DataFrame) -> str:
    reached, tried = (int(times[name].sum()) for name in ("numerator", "denominator"))
    if reached in (0, tried):
        return "everybody answers" if reached else "nobody answers"
    return "the calls differ too little in it"
