"""How often to try and how long to wait in between; knows attempts and gaps, not days."""

from __future__ import annotations

import itertools
from datetime import datetime
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from dialframe.analytics.columns import Floats, Ints, Mask
from dialframe.analytics.dials import Dials, dials
from dialframe.analytics.mix import SOURCE, source_level
from dialframe.analytics.outcomes import OUTCOMES
from dialframe.analytics.result import Result
from dialframe.analytics.tabled import rated, ratio, sums, table
from dialframe.analytics.taxonomy import DEFAULT, Taxonomy
from dialframe.analytics.wording import plural, share

#: Hours between two attempts at which a new band begins.
GAPS_H: Final = (0, 1, 4, 12, 24, 48, 96, 168)


def attempts(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    most: int = 12,
    source: str = SOURCE,
    taxonomy: Taxonomy = DEFAULT,
    as_of: datetime | None = None,
    campaign: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> Result:
    """What each further attempt is worth.

    The leads that get many attempts are those that did not answer the first ones, so a raw rate by
    attempt speaks of another people each time. The hazard is taken of leads not reached before, and
    `adjusted` weighs the sources as they are at the first attempt.

    Args:
        calls: Frame of the calls table.
        leads: Frame of the leads table; without it numbers stand for leads.
        most: Attempts from this one on are one row.
        source: Custom field with the source.
        taxonomy: What the codes mean.
        as_of: When the data was read.
        campaign: Calls of this campaign only.
        since: Calls from this instant on; aware.
        until: Calls before this instant; aware.

    Returns:
        One row per attempt: `attempt`, `attempts` (all), `people` (all reached, `rate_all` of
        attempts), and of leads not reached before: `numerator` (first contacts), `denominator`
        (waiting), `rate` (the hazard), `low`, `high`, `adjusted`; `cumulative` (share of all leads
        reached by then), `appointments` (first ones, of all attempts) and
        `appointments_per_1000` attempts.

    Raises:
        ConfigError: A column is missing, or the campaign is unknown.
    """
    found = dials(calls, leads, taxonomy=taxonomy, as_of=as_of, campaign=campaign, since=since,
                  until=until)  # fmt: skip
    number = np.minimum(found.attempt, np.int32(most)) - np.int32(1)
    human = found.flag("human")
    first = _first_attempt(found, human)
    waiting = (first == 0) | (found.attempt <= first)
    contact = waiting & human
    booked = found.flag("appointment") | found.flag("conversion")
    won = booked & (_first_attempt(found, booked) == found.attempt)
    tried, gained = sums(number, most), sums(np.where(won, number, -1), most)
    people = sums(np.where(human, number, -1), most)
    n, k = sums(np.where(waiting, number, -1), most), sums(np.where(contact, number, -1), most)
    total = int(tried[0]) if len(tried) else 0
    used = int(np.flatnonzero(tried).max(initial=-1)) + 1
    columns = {
        "attempt": [str(i + 1) if i + 1 < most else f"{most}+" for i in range(most)],
        "attempts": tried,
        "people": people,
        "rate_all": ratio(people, tried),
        **rated(k, n),
        "adjusted": _standardised(found, number, waiting, contact, source, most),
        "cumulative": ratio(np.cumsum(k), np.full(most, total)),
        "appointments": gained,
        "appointments_per_1000": 1000 * ratio(gained, tried),
    }
    frame = table({name: values[:used] for name, values in columns.items()})
    return Result(
        "attempts", _worth(frame), frame,
        "First contacts of leads not reached before, by attempt; appointments and conversions are "
        "the first of their lead",
        found.balance(), taxonomy, found.as_of, {}, {"most": most, "source": source},
        found.warnings,
    )  # fmt: skip


def recycle(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    least: int = 50,
    taxonomy: Taxonomy = DEFAULT,
    as_of: datetime | None = None,
    campaign: str | None = None,
) -> Result:
    """How long to wait after which outcome: the chance that the next attempt reaches a person.

    A gap is advised only where its lower bound is above the rate of all gaps of the outcome, among
    gaps with `least` pairs; else the advice is that the gap makes no certain difference. `simulated`
    tells what the same number of retries would have reached at the advised gap.

    Args:
        calls: Frame of the calls table.
        leads: Frame of the leads table; without it numbers stand for leads.
        least: Pairs of attempts below which a gap is not advised.
        taxonomy: What the codes mean.
        as_of: When the data was read.
        campaign: Calls of this campaign only.

    Returns:
        One row per outcome and gap: `outcome`, `gap`, `numerator` (people on the next attempt),
        `denominator` (pairs), `rate`, `low`, `high`, `thin`. Table `advice` has by outcome `final`,
        `advised_gap` (null without), `retries`, `people`, `rate`, `simulated`, `why`; table
        `after_attempt` has the rate after each attempt and outcome.

    Raises:
        ConfigError: A column is missing, or the campaign is unknown.
    """
    found = dials(calls, leads, taxonomy=taxonomy, as_of=as_of, campaign=campaign)
    order = found.order
    same = found.cluster[order[1:]] == found.cluster[order[:-1]]
    before, after = order[:-1][same], order[1:][same]
    gap_h = (found.when[after] - found.when[before]) / 3_600e6
    band = np.searchsorted(np.array(GAPS_H, float), gap_h, side="right") - 1
    outcome, size = found.outcome[before].astype(np.int64), len(GAPS_H)
    hit = found.flag("human")[after]
    cell = outcome * size + np.maximum(band, 0)
    n = sums(cell, len(OUTCOMES) * size).reshape(-1, size)
    k = sums(np.where(hit, cell, -1), len(OUTCOMES) * size).reshape(-1, size)
    seen = [i for i in range(len(OUTCOMES)) if n[i].any()]
    labels = _gap_labels()
    frame = table(
        {
            "outcome": [OUTCOMES[i].name for i in seen for _ in range(size)],
            "gap": labels * len(seen),
            **rated(k[seen].ravel(), n[seen].ravel()),
            "thin": n[seen].ravel() < least,
        }
    )
    advice = _advice(frame, seen)
    sure = advice["advised_gap"].dropna()
    answer = (
        f"{plural(len(sure), 'outcome')} of {len(advice)} have a gap that is better than the rest"
        if len(sure) else f"No gap is certainly better than another, after {plural(int(n.sum()), 'retry', 'retries')}"
    )  # fmt: skip
    return Result(
        "recycle", answer, frame,
        "Pairs of an attempt and the next one on the same lead, by outcome of the first and hours "
        "between; numerator: a person answered the next one",
        found.balance(), taxonomy, found.as_of,
        {"advice": advice, "after_attempt": _after(found, before, hit)}, {"least": least},
        found.warnings,
    )  # fmt: skip


def _first_attempt(found: Dials, hit: Mask) -> Ints:
    """For each attempt, the first attempt of its lead that hits; 0 where none does."""
    first = np.full(int(found.cluster.max(initial=0)) + 1, np.iinfo(np.int32).max, dtype=np.int32)
    np.minimum.at(first, found.cluster[hit], found.attempt[hit])
    each = first[found.cluster]
    return np.where(each == np.iinfo(np.int32).max, 0, each)


def _standardised(
    found: Dials, number: npt.NDArray[np.int32], waiting: Mask, contact: Mask, source: str,
    most: int,
) -> Floats:  # fmt: skip
    """The hazard with the sources as they are at the first attempt; NaN where a source is missing."""
    code, names = source_level(found, source)
    size = len(names)
    cell = number * size + code
    n = sums(np.where(waiting, cell, -1), most * size).reshape(most, size)
    k = sums(np.where(contact, cell, -1), most * size).reshape(most, size)
    weight = n[0] / n[0].sum() if n[0].sum() else np.zeros(size)
    rates = ratio(k, n)
    there = ~np.isnan(rates) | (weight[None, :] == 0)
    total = np.nansum(np.where(weight[None, :] > 0, rates, 0.0) * weight[None, :], axis=1)
    return np.where(there.all(axis=1) & (n.sum(axis=1) > 0), total, np.nan)


def _worth(frame: pd.DataFrame) -> str:
    if not len(frame):
        return "There are no attempts"
    last = frame[frame["numerator"] > 0]
    if not len(last):
        return f"No lead was reached in {int(frame['attempts'].sum()):,} attempts"
    row = last.iloc[-1]
    if len(last) == 1 and row["attempt"] == frame["attempt"].iloc[0]:
        return f"The first attempt reaches {share(row['rate'])} of leads, and no later one reaches any"
    return (
        f"The first attempt reaches {share(frame['rate'].iloc[0])} of leads, attempt "
        f"{row['attempt']} reaches {share(row['rate'])} of those still waiting; by then "
        f"{share(row['cumulative'])} are reached"
    )


def _advice(frame: pd.DataFrame, seen: list[int]) -> pd.DataFrame:
    rows = []
    for place in seen:
        name = OUTCOMES[place].name
        mine = frame[frame["outcome"] == name]
        pairs, people = int(mine["denominator"].sum()), int(mine["numerator"].sum())
        rate = people / pairs
        good = mine[(~mine["thin"]) & (mine["low"] > rate)]
        best = good.sort_values("low", ascending=False, kind="stable").head(1)
        gap = str(best["gap"].iloc[0]) if len(best) else None
        gain = float(best["rate"].iloc[0]) * pairs if len(best) else np.nan
        why = "final: the taxonomy says not to call again" if OUTCOMES[place].final else (
            f"{share(best['rate'].iloc[0])} of {int(best['denominator'].iloc[0]):,} against "
            f"{share(rate)} over all gaps" if gap else "no gap is certainly better than the rest"
        )  # fmt: skip
        if OUTCOMES[place].final:
            gap, gain = None, np.nan
        rows.append((name, OUTCOMES[place].final, gap, pairs, people, rate, gain, why))
    return table(
        {
            "outcome": [row[0] for row in rows],
            "final": np.array([row[1] for row in rows], dtype=bool),
            "advised_gap": [row[2] for row in rows],
            "retries": np.array([row[3] for row in rows], dtype=int),
            "people": np.array([row[4] for row in rows], dtype=int),
            "rate": np.array([row[5] for row in rows], dtype=float),
            "simulated": np.array([row[6] for row in rows], dtype=float),
            "why": [row[7] for row in rows],
        }
    )


def _after(found: Dials, before: Ints, hit: Mask) -> pd.DataFrame:
    size = 8
    number = np.minimum(found.attempt[before], size).astype(np.int64) - 1
    cell = found.outcome[before].astype(np.int64) * size + number
    n, k = sums(cell, len(OUTCOMES) * size), sums(np.where(hit, cell, -1), len(OUTCOMES) * size)
    used = np.flatnonzero(n)
    return table(
        {
            "outcome": [OUTCOMES[i // size].name for i in used],
            "attempt": used % size + 1,
            **rated(k[used], n[used]),
        }
    )


def _gap_labels() -> list[str]:
    names = [f"{h} h" if h < 48 else f"{h // 24} d" for h in GAPS_H]
    return [
        *(f"{a} to {b}" for a, b in itertools.pairwise(names)),
        f"{names[-1]} and more",
    ]
