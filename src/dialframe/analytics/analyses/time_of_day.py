"""When people answer, by local hour and weekday, and whether it matters."""

from __future__ import annotations

from typing import Final, Unpack

import numpy as np
import pandas as pd

from dialframe.analytics.analyses.adjusted_effects import (
    ASSUMPTIONS,
    TOO_LITTLE,
    Judged,
    adjusted_rates,
    judged,
    level_claims,
    levels_judged,
    people_by,
    pooled,
    usual_factors,
    usual_strata,
)
from dialframe.analytics.analysis_result import Result, result_of
from dialframe.analytics.attempt.argument_checks import Selection, analysis
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
from dialframe.analytics.claims_and_tables import (
    Claim,
    counted,
    rated,
    rated_calls,
    ratio,
    sums,
    table,
    table_of_rows,
)

_CELLS: Final = 7 * 24
_LEAST: Final = 30


@analysis
def hours(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    min_calls: int = 30,
    alpha: float = 0.05,
    **selection: Unpack[Selection],
) -> Result:
    """How often a person answers by weekday and hour of the person called.

    `shrunk` pulls each cell to the rate over all cells, the more the fewer calls it has: a beta
    distribution over cells is fitted by moments, and the cell's mean given it is taken.

    Args:
        leads: Frame of the leads table; not needed.
        min_calls: Calls below which a cell is thin: to be grayed, never to be ranked.
        alpha: Chance that the claims find a difference where there is none.

    Returns:
        All 168 cells: `weekday` (`Mon`), `hour`, `numerator` (people), `denominator` (attempts),
        `rate`, `low`, `high`, `shrunk` (null without calls), `thin`.
    """
    attempts = count_attempts(calls, leads, **selection)
    clock = clock_of(attempts)
    rated_cells = rated_calls(clock.cell, attempts.flag("human"), attempts.lead_or_number, _CELLS)
    people, dials = rated_cells["numerator"], rated_cells["denominator"]
    frame = table(
        {
            "weekday": [name for name in WEEKDAYS for _ in range(24)],
            "hour": np.tile(np.arange(24), 7),
            **rated_cells,
            "shrunk": shrunk(people, dials),
            "thin": dials < min_calls,
        }
    )

    def claims() -> tuple[Claim, ...]:
        return _Times(attempts, min_calls, alpha, 1.0, SOURCE).claims()

    return result_of(
        attempts, "hours", claims, frame,
        "Calls that a person answered of attempts, by the clock of the person called",
        {("no_zone", "calls"): int((clock.cell == -1).sum()),
            ("unclear_hour", "calls"): int((clock.cell == UNCLEAR).sum())},
        _CLOCK_WORDS, parameters={"min_calls": min_calls, "alpha": alpha}, assumptions=ASSUMPTIONS,
    )  # fmt: skip


@analysis
def best_time(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    source: str = SOURCE,
    alpha: float = 0.05,
    min_calls: int = 30,
    min_points: float = 1.0,
    **selection: Unpack[Selection],
) -> Result:
    """Whether the hour or the weekday makes a difference once everything else is held still.

    The chance of a person is compared inside campaign, week and source, with the attempt, the time
    zone and the other clock held still (`stats.rate_ratios`); errors are clustered by lead, and what
    days differ by among themselves is a part of them. `adjusted` is the rate
    if all calls had been made at that time, shrunk as far as its error asks for. There is a
    difference if the Wald test says so (hour and weekday are two tests, which share `alpha`) and the
    best and the worst are at least `min_points` apart; otherwise the answer says which difference
    would have been seen.

    Args:
        leads: Frame of the leads table, for source, attempt and clusters.
        source: Column or custom field with the source.
        alpha: Chance that either test finds a difference where there is none.
        min_calls: Calls below which a time is not compared; 1 % of all calls at least.
        min_points: Difference in percentage points that is worth a decision.

    Returns:
        One row per time (`dimension` `hour` or `weekday`, `level`): `numerator`, `denominator`,
        `rate`, `low`, `high`, `adjusted`, `rate_ratio` to the mean with `ratio_low`, `ratio_high`
        (null for times with too few calls). Table `tests` has `dimension`, `chi2`, `df`, `p`,
        `p_adjusted` (both null with nothing to compare), `spread_points`, `detectable_points`,
        `differs`.
    """
    whole = count_attempts(calls, leads, **selection)
    times = _Times(whole, min_calls, alpha, min_points, source)
    return result_of(
        whole, "best_time", times.claims(), times.table(),
        "Calls that a person answered of attempts with a certain local hour; adjusted for "
        + ", ".join(ADJUSTED_FOR),
        {("no_certain_hour", "calls"): len(whole) - len(times.attempts), **whole.not_logged},
        _CLOCK_WORDS, tables={"tests": times.tests()},
        parameters={"alpha": alpha, "min_calls": min_calls, "min_points": min_points, "source": source},
        assumptions=ASSUMPTIONS,
    )  # fmt: skip


#: What hour and weekday are adjusted for.
ADJUSTED_FOR: Final = ("campaign", "week", "source", "attempt", "time zone", "hour and weekday")
#: What would differ from the others, in the words of a negative answer.
_ONE: Final = {"hour": "a third of the calling day", "weekday": "a weekday"}
_NAMES: Final = {"hour": [f"{h}:00" for h in range(24)], "weekday": list(WEEKDAYS)}


class _Times:
    """Local hours and weekdays of some attempts, and what each does."""

    def __init__(
        self, whole: Attempts, min_calls: int, alpha: float, min_points: float, source: str
    ) -> None:
        known = clock_of(whole).known
        self.attempts = whole.only(known)
        clock = clock_of(whole).take(known)
        self.levels = {"hour": hour_level(clock), "weekday": weekday_level(clock)}
        self.human = self.attempts.flag("human")
        self.count = {name: sums(v, len(_NAMES[name])) for name, v in self.levels.items()}
        self.judged: dict[str, Judged] = {}
        reached = int(self.human.sum())
        if not 0 < reached < len(self.attempts):
            return
        # An hour with a hundredth of the calls is no hour that anybody works: it is not ranked.
        least = max(min_calls, round(0.01 * len(self.attempts)))
        used = {
            name: pooled(level, len(_NAMES[name]), least) for name, level in self.levels.items()
        }
        fitted = people_by(
            self.attempts,
            {name: code for name, (code, _) in used.items()},
            strata=usual_strata(self.attempts, source),
        )
        for name, effects in fitted.items():
            self.judged[name] = judged(
                effects,
                used[name][1],
                alpha,
                min_points=min_points,
                tests=len(self.levels),
                shape="third" if name == "hour" else "one",
            )

    def claims(self) -> tuple[Claim, ...]:
        """A difference of hours and of weekdays with the best one, or none."""
        if not len(self.attempts):
            return counted("hour", "There are no calls with a certain local hour")
        reached = int(self.human.sum())
        why = TOO_LITTLE
        if not self.judged:
            why = "everybody answers" if reached else "nobody answers"
        claims: list[Claim] = []
        for name, labels in _NAMES.items():
            rest = tuple(x for x in ADJUSTED_FOR if x != "hour and weekday")
            other = "weekday" if name == "hour" else "hour"
            if name in self.judged:
                claims += level_claims(
                    self.judged[name], name, labels, (*rest, other), what=f"the {name}",
                    why_not=why, one=_ONE[name],
                )  # fmt: skip
            else:
                claims.append(
                    Claim("none", name, text=f"The {name} cannot be judged, because {why}")
                )
        return tuple(claims)

    def table(self) -> pd.DataFrame:
        """One row per time that has calls."""
        rows = []
        for name, labels in _NAMES.items():
            n, k = self.count[name], sums(self.levels[name], len(labels), self.human)
            adjusted = [np.full(len(labels), np.nan)] * 4
            if name in self.judged:
                adjusted = list(adjusted_rates(self.judged[name], len(labels)))
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
        rows = []
        for name, verdict in self.judged.items():
            chi2, df, _ = verdict.effects.test()
            rows.append((name, chi2, df, verdict.p, np.minimum(verdict.p * len(_NAMES), 1.0),
                         100 * verdict.effect, 100 * verdict.detectable, verdict.differs))  # fmt: skip
        kinds = {"chi2": float, "df": int, "p": float, "p_adjusted": float, "spread_points": float,
                 "detectable_points": float, "differs": bool}  # fmt: skip
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
    "no_certain_hour": "no time zone, or several that show different hours",
}


#: Parts of the local day: name, first hour, first hour after.
DAYPARTS: Final = (
    ("night", 0, 8), ("morning", 8, 12), ("afternoon", 12, 17), ("evening", 17, 24),
)  # fmt: skip


@analysis
def dayparts(
    calls: pd.DataFrame,
    leads: pd.DataFrame,
    *,
    min_attempts: int = 2,
    min_calls: int = 30,
    alpha: float = 0.05,
    **selection: Unpack[Selection],
) -> Result:
    """Leads that were only ever tried in one part of their day, and what another part would give.

    Another part is named only where the parts certainly differ, with campaign, week, source, attempt
    and weekday held still.

    Args:
        min_attempts: Attempts from which a lead was tried in earnest.
        min_calls: Calls below which a part has no rate.
        alpha: Chance of a difference where there is none.

    Returns:
        One row per part: `daypart`, `leads` (tried at least so often, never reached, only in this
        part), `other` (the part with the best chance next; null where none is certainly better),
        `rate` (people per call there, on leads that no attempt had reached before),
        `expected_contacts`. Table `each` lists the leads.
    """
    attempts = count_attempts(calls, leads, **selection)
    clock = clock_of(attempts)
    # Each part begins where the one before ends, and the last one ends with the day; -1 where not known.
    begins = [first for _, first, _ in DAYPARTS]
    part = np.searchsorted(begins, np.where(clock.known, clock.hour, -1), side="right") - 1
    with_lead = (attempts.lead >= 0) & (part >= 0)
    size, count = len(DAYPARTS), len(attempts.leads)
    tried = np.zeros((count + 1, size), dtype=np.int64)
    np.add.at(tried, (attempts.lead[with_lead], part[with_lead]), 1)
    tried = tried[:-1]
    over = attempts.leads_with(attempts.flag("human") | attempts.flag("final"))
    once = (tried > 0).sum(axis=1) == 1
    # Tried in earnest in one part of the day only, never reached and still open: another part is untried.
    alone = once & (tried.sum(axis=1) >= min_attempts) & ~over
    only = tried.argmax(axis=1)
    # On leads that no attempt reached before, as the leads are that this is about.
    first = attempts.first_ever("human")
    later = with_lead & (attempts.attempt > 1) & ((first == 0) | (attempts.attempt <= first))
    reached = later & attempts.flag("human")
    n, k = (sums(part, size, mask) for mask in (later, reached))
    # Only leads that no attempt had reached: the others say nothing of a first contact.
    rate = np.where(n >= min_calls, ratio(k, n), np.nan)
    waiting = attempts.only(later)
    verdict = levels_judged(waiting, {"part": part[later]}, size, min_calls, alpha, shape="named",
                            factors=usual_factors(waiting, "hour"))  # fmt: skip
    adjusted = np.full(size, np.nan) if verdict is None else adjusted_rates(verdict, size)[0]
    # Where the parts do not certainly differ no other part is named, however much the raw rates do.
    other = [-1] * size
    if verdict is not None and verdict.differs:
        # Each row without its own part: the best of the others.
        rest = np.where(np.eye(size, dtype=bool), -np.inf, np.nan_to_num(adjusted, nan=-np.inf))
        other = [int(row.argmax()) if np.isfinite(row).any() else -1 for row in rest]
    leads_in = sums(only, size, alone)
    gained = np.array([np.nan if o < 0 else rate[o] for o in other], dtype=float)
    alone_words = (
        f"{int(alone.sum()):,} leads were tried {min_attempts} times or more, only in one part of "
        "their day, and never reached"
    )
    claims = counted("leads", alone_words)
    if verdict is not None:
        claims += level_claims(
            verdict, "part of the day", [name for name, _, _ in DAYPARTS],
            ("campaign", "week", "source", "attempt", "weekday", "time zone"), what="the part of the day",
            one="a part of the day",
        )[:1]  # fmt: skip
    frame = table(
        {
            "daypart": [name for name, _, _ in DAYPARTS],
            "leads": leads_in,
            "other": [None if o < 0 else DAYPARTS[o][0] for o in other],
            "rate": gained,
            "expected_contacts": gained * leads_in,
        }
    )
    leads_of_one = table(
        {
            "lead_id": attempts.leads["id"].astype("str").array[alone],
            "daypart": [DAYPARTS[i][0] for i in only[alone]],
            "attempts": tried.sum(axis=1)[alone],
        }
    )
    return result_of(
        attempts, "dayparts", claims, frame,
        "Leads not reached and not closed, by the only part of their local day in which they were "
        "tried: " + ", ".join(f"{n} {a}-{b} h" for n, a, b in DAYPARTS),
        attempts.not_logged, tables={"each": leads_of_one},
        parameters={"min_attempts": min_attempts, "min_calls": min_calls, "alpha": alpha},
        assumptions=ASSUMPTIONS,
    )  # fmt: skip
