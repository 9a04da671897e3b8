"""When people answer, by local hour and weekday, and whether it matters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd

from dialframe.analytics.analyses.adjusted_effects import (
    ASSUMPTIONS,
    adjusted_rates,
    cannot_judge,
    level_claims,
    levels_judged,
    pooled,
    run_words,
    unless_sorted,
    usual_factors,
    weekdays_judged,
    why_nobody,
)
from dialframe.analytics.analysis_result import Result, result_of
from dialframe.analytics.attempt.argument_checks import analysis
from dialframe.analytics.attempt.attempt_table import (
    Attempts,
    clock_of,
    count_attempts,
    hour_level,
    weekday_level,
)
from dialframe.analytics.attempt.frames_to_arrays import Floats, Ints
from dialframe.analytics.attempt.lead_match import SOURCE
from dialframe.analytics.attempt.local_clock import UNCLEAR, WEEKDAYS
from dialframe.analytics.attempt.taxonomy import DEFAULT, Taxonomy
from dialframe.analytics.claims_and_tables import (
    Claim,
    counted,
    rated,
    rated_calls,
    sums,
    table,
    table_of_rows,
)
from dialframe.analytics.effects import Verdict
from dialframe.instants import When

_CELLS: Final = 7 * 24


@analysis
def hours(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    by: str | Sequence[str] | None = None,
    source: str = SOURCE,
    min_calls: int = 30,
    min_points: float = 1.0,
    alpha: float = 0.05,
    taxonomy: Taxonomy = DEFAULT,
    as_of: When | None = None,
    campaign: str | None = None,
    since: When | None = None,
    until: When | None = None,
) -> Result:
    """When people answer, by local hour and weekday, and whether it matters with everything else held still.

    Hours are compared inside campaign, week and day, with source, attempt and time zone held still; errors
    are clustered by day and lead. Of weekdays the day is the observation, inside its week. What stands out is
    a run of hours or weekdays against the rest; its bounds hold for all runs that could have been picked.
    Hour and weekday are two questions that share `alpha`.

    Args:
        calls: Frame of the calls table, or of `account.attempts()`.
        leads: Frame of the leads table, for source, attempt and clusters.
        by: Columns of the attempts or of the leads, or custom fields, to answer for each group of; one or several.
        source: Column or custom field with the source.
        min_calls: Calls below which a time is thin: to be grayed, never to be named; 1% of all at least.
        min_points: Difference in percentage points that is worth a decision.
        alpha: Chance that the claims find a difference where there is none.
        taxonomy: What the codes mean.
        as_of: What was known at this instant counts; by default the latest instant in the data.
        campaign: Calls of this campaign only.
        since: Calls from this instant on; attempts are numbered over the whole history.
        until: Calls before this instant.

    Returns:
        One row per time (`dimension` `hour` or `weekday`, `level`): `numerator` (people), `denominator`
        (attempts), `rate`, `low`, `high`, `adjusted` (the rate if all calls had been made then, shrunk as
        far as its error asks for), `rate_ratio` to the mean with `ratio_low`, `ratio_high` (null for times
        with too few calls). Table `cells` has all 168 hours of the week: `weekday` (`Mon`), `hour`,
        `numerator`, `denominator`, `rate`, `low`, `high`, `shrunk` to the rate over all cells (null without
        calls), `thin`. Table `tests` has `dimension`, `p`, `effect_points`, `low_points`, `high_points`,
        `detectable_points`, `differs`, `effective_days`.

    Raises:
        ConfigError: A column is missing, the campaign is unknown, or an instant is none.
    """
    whole = count_attempts(
        calls, leads, taxonomy=taxonomy, as_of=as_of, campaign=campaign, since=since, until=until
    )
    clock = clock_of(whole)
    rated_cells = rated_calls(clock.cell, whole.flag("human"), whole.lead_or_number, _CELLS)
    people, dials = rated_cells["numerator"], rated_cells["denominator"]
    cells = table(
        {
            "weekday": [name for name in WEEKDAYS for _ in range(24)],
            "hour": np.tile(np.arange(24), 7),
            **rated_cells,
            "shrunk": shrunk(people, dials),
            "thin": dials < min_calls,
        }
    )
    times = _Times(whole, min_calls, alpha, min_points, source)
    return result_of(
        whole, "hours", times.claims(), times.table(),
        "Calls that a person answered of attempts with a certain local hour; adjusted for "
        + ", ".join(ADJUSTED_FOR),
        {("no_zone", "calls"): int((clock.cell == -1).sum()),
            ("unclear_hour", "calls"): int((clock.cell == UNCLEAR).sum()), **whole.not_logged},
        _CLOCK_WORDS, tables={"cells": cells, "tests": times.tests()},
        parameters={"alpha": alpha, "min_calls": min_calls, "min_points": min_points, "source": source},
        assumptions=ASSUMPTIONS, of_people=True,
    )  # fmt: skip


#: What hour and weekday are adjusted for.
ADJUSTED_FOR: Final = ("campaign", "week", "source", "attempt", "time zone", "hour and weekday")
#: What would differ from the others, in the words of a negative answer.
_ONE: Final = {"hour": "a third of the calling day", "weekday": "a part of the week"}
_NAMES: Final = {"hour": [f"{h}:00" for h in range(24)], "weekday": list(WEEKDAYS)}
_RUNS: Final = {
    "hour": run_words(_NAMES["hour"], [f"{h}:59" for h in range(24)]), "weekday": run_words(WEEKDAYS),
}  # fmt: skip


class _Times:
    """Local hours and weekdays of some attempts, and what each does."""

    def __init__(
        self, whole: Attempts, min_calls: int, alpha: float, min_points: float, source: str
    ) -> None:
        known = clock_of(whole).known
        self.attempts, self.min_points = whole.only(known), min_points
        clock = clock_of(whole).take(known)
        self.levels = {"hour": hour_level(clock), "weekday": weekday_level(clock)}
        self.human = self.attempts.flag("human")
        self.count = {name: sums(v, len(_NAMES[name])) for name, v in self.levels.items()}
        self.verdicts: dict[str, Verdict] = {}
        reached = int(self.human.sum())
        if not 0 < reached < len(self.attempts):
            return
        # An hour with a hundredth of the calls is no hour that anybody works: it is not ranked.
        least = max(min_calls, round(0.01 * len(self.attempts)))
        factors = usual_factors(self.attempts, "hour", "weekday", source=source)
        hour = levels_judged(
            self.attempts, self.levels["hour"], 24, least, alpha, tests=2, family="runs",
            min_points=min_points, name="hour", factors=factors,
        )  # fmt: skip
        weekday = weekdays_judged(
            self.attempts, *pooled(self.levels["weekday"], 7, least), alpha, tests=2, min_points=min_points,
            source=source,
        )  # fmt: skip
        hour, weekday = unless_sorted(self.attempts, hour, weekday)
        self.verdicts = {n: v for n, v in (("hour", hour), ("weekday", weekday)) if v is not None}

    def claims(self) -> tuple[Claim, ...]:
        """A difference of hours and of weekdays, or none."""
        if not len(self.attempts):
            return counted("hour", "There are no calls with a certain local hour")
        claims: list[Claim] = []
        for name in _NAMES:
            rest = tuple(x for x in ADJUSTED_FOR if x != "hour and weekday")
            other = "weekday" if name == "hour" else "hour"
            if name in self.verdicts:
                claims += level_claims(
                    self.verdicts[name], name, (*rest, other), what=f"the {name}", words=_RUNS[name],
                    others=f"the other {name}s", one=_ONE[name], min_points=self.min_points,
                )  # fmt: skip
            else:
                claims.append(cannot_judge(name, f"The {name}", why_nobody(self.attempts)))
        return tuple(claims)

    def table(self) -> pd.DataFrame:
        """One row per time that has calls."""
        rows = []
        for name, labels in _NAMES.items():
            n, k = self.count[name], sums(self.levels[name], len(labels), self.human)
            adjusted = adjusted_rates(self.verdicts.get(name), len(labels))
            rows += [(name, labels[i], int(k[i]), int(n[i]), *(float(v[i]) for v in adjusted))
                     for i in np.flatnonzero(n)]  # fmt: skip
        names = ("adjusted", "rate_ratio", "ratio_low", "ratio_high")
        kinds = {"dimension": str, "level": str, "numerator": int, "denominator": int,
                 **dict.fromkeys(names, float)}  # fmt: skip
        frame = table_of_rows(kinds, rows)
        shares = rated(frame["numerator"].to_numpy(int), frame["denominator"].to_numpy(int))
        return table({**frame[["dimension", "level"]], **shares, **frame[list(names)]})

    def tests(self) -> pd.DataFrame:
        """One row per dimension: what the test says and what it would have seen."""
        rows = [(name, v.p, 100 * v.effect, 100 * v.low, 100 * v.high, 100 * v.detectable, v.differs,
                 v.levels.effective_days) for name, v in self.verdicts.items()]  # fmt: skip
        kinds = {"p": float, "effect_points": float, "low_points": float, "high_points": float,
                 "detectable_points": float, "differs": bool, "effective_days": float}  # fmt: skip
        return table_of_rows({"dimension": str, **kinds}, rows)


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
    # Of a beta distribution with this mean and variance, the sum of its two parameters.
    prior = base / between - 1 if between > 1e-12 and base > 0 else 1e9
    prior = min(max(prior, 1.0), 1e9)
    return np.where(used, (k + prior * mean) / (n + prior), np.nan)


_CLOCK_WORDS: Final = {
    "no_zone": "no time zone can be told from the number",
    "unclear_hour": "the zones that the number may be in show different hours",
}
