"""How often to try a lead and how long to wait in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from dialframe.analytics.analyses.adjusted_effects import (
    ASSUMPTIONS,
    adjusted_rates,
    bounds,
    cannot_judge,
    levels_judged,
)
from dialframe.analytics.analysis_result import Result, result_of
from dialframe.analytics.attempt.argument_checks import analysis
from dialframe.analytics.attempt.attempt_table import Attempts, count_attempts, source_level
from dialframe.analytics.attempt.frames_to_arrays import Floats, Ints, Mask
from dialframe.analytics.attempt.lead_match import SOURCE
from dialframe.analytics.attempt.taxonomy import DEFAULT, OUTCOMES, Taxonomy
from dialframe.analytics.claims_and_tables import (
    Claim,
    Kind,
    bands,
    plural,
    points,
    rated,
    rated_calls,
    ratio,
    seen,
    share,
    sums,
    table,
    table_of_rows,
)
from dialframe.analytics.effects import Verdict
from dialframe.instants import When

#: Hours between two attempts at which a new band begins.
GAPS_H: Final = (0, 1, 4, 12, 24, 48, 96, 168)
_GAP_EDGES: Final = [f"{h} h" if h < 48 else f"{h // 24} d" for h in GAPS_H]
_GAPS: Final = bands(_GAP_EDGES)


@analysis
def attempts(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    by: str | Sequence[str] | None = None,
    most: int = 12,
    source: str = SOURCE,
    taxonomy: Taxonomy = DEFAULT,
    as_of: When | None = None,
    campaign: str | None = None,
    since: When | None = None,
    until: When | None = None,
) -> Result:
    """What each further attempt is worth.

    The leads that get many attempts are those that did not answer the first ones, so a raw rate by
    attempt speaks of another people each time. The hazard is taken of leads not reached before, and
    `adjusted` weighs the sources as they are at the first attempt.

    Args:
        calls: Frame of the calls table, or of `account.attempts()`.
        leads: Frame of the leads table; without it numbers stand for leads.
        by: Columns of the attempts or of the leads, or custom fields, to answer for each group of; one or several.
        most: Attempts from this one on are one row.
        source: Custom field with the source.
        taxonomy: What the codes mean.
        as_of: What was known at this instant counts; by default the latest instant in the data.
        campaign: Calls of this campaign only.
        since: Calls from this instant on; attempts are numbered over the whole history.
        until: Calls before this instant.

    Returns:
        One row per attempt: `attempt`, `attempts` (all), `people` (all reached, `rate_all` of
        attempts), and of leads not reached before: `numerator` (first contacts), `denominator`
        (waiting), `rate` (the hazard), `low`, `high`, `adjusted`; `cumulative` (share of all leads
        reached by then), `appointments` (first ones, of all attempts) and
        `appointments_per_1000` attempts.

    Raises:
        ConfigError: A column is missing, the campaign is unknown, or an instant is none.
    """
    attempts = count_attempts(
        calls, leads, taxonomy=taxonomy, as_of=as_of, campaign=campaign, since=since, until=until
    )
    # Late attempts are few, and one row: a row of three leads would say anything.
    number = np.minimum(attempts.attempt, np.int32(most)) - np.int32(1)
    human, first = attempts.flag("human"), attempts.first_ever("human")
    # A discrete hazard: of those not reached before, the ones that this attempt reaches.
    waiting = (first == 0) | (attempts.attempt <= first)
    contact = waiting & human
    booked = attempts.flag("appointment") | attempts.flag("conversion")
    won = booked & (attempts.first_ever("appointment", "conversion") == attempts.attempt)
    tried, gained = sums(number, most), sums(number, most, won)
    people = sums(number, most, human)
    n, k = sums(number, most, waiting), sums(number, most, contact)
    total = int(tried[0]) if len(tried) else 0
    used = int(np.flatnonzero(tried).max(initial=-1)) + 1
    columns = {
        "attempt": [str(i + 1) if i + 1 < most else f"{most}+" for i in range(most)],
        "attempts": tried,
        "people": people,
        "rate_all": ratio(people, tried),
        **rated(k, n),
        "adjusted": _standardize_sources(attempts, number, waiting, contact, source, most),
        "cumulative": ratio(np.cumsum(k), np.full(most, total)),
        "appointments": gained,
        "appointments_per_1000": 1000 * ratio(gained, tried),
    }
    frame = table({name: values[:used] for name, values in columns.items()})
    return result_of(
        attempts, "attempts", _worth(frame), frame,
        "First contacts of leads not reached before, by attempt; appointments and conversions are "
        "the first of their lead",
        parameters={"most": most, "source": source}, of_people=True,
    )  # fmt: skip


@analysis
def recycle(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    by: str | Sequence[str] | None = None,
    min_calls: int = 50,
    alpha: float = 0.05,
    taxonomy: Taxonomy = DEFAULT,
    as_of: When | None = None,
    campaign: str | None = None,
    since: When | None = None,
    until: When | None = None,
) -> Result:
    """How long to wait after which outcome: the chance that the next attempt reaches a person.

    Gaps are compared inside campaign, week and day, with source, attempt, local hour and time zone of the
    next attempt held still, so that a ladder of attempts is not taken for a good gap. A run of gaps is advised
    where it is certainly above the other ones; what would have been seen is said otherwise. `simulated` is
    what the same retries would have reached at these gaps.

    Args:
        calls: Frame of the calls table, or of `account.attempts()`.
        leads: Frame of the leads table; without it numbers stand for leads.
        by: Columns of the attempts or of the leads, or custom fields, to answer for each group of; one or several.
        min_calls: Pairs of attempts below which a gap is not compared.
        alpha: Chance of any advice where gaps make no difference, over all outcomes.
        taxonomy: What the codes mean.
        as_of: What was known at this instant counts; by default the latest instant in the data.
        campaign: Calls of this campaign only.
        since: Calls from this instant on; attempts are numbered over the whole history.
        until: Calls before this instant.

    Returns:
        One row per outcome and gap: `outcome`, `gap`, `numerator` (people on the next attempt),
        `denominator` (pairs), `rate`, `low`, `high`, `adjusted`, `thin`. Table `advice` has by
        outcome `final`, `advised_gap` (null without), `retries`, `people`, `rate`, `simulated`,
        `p`, `detectable_points`, `why`; table `after_attempt` the rate after each attempt and
        outcome.

    Raises:
        ConfigError: A column is missing, the campaign is unknown, or an instant is none.
    """
    attempts = count_attempts(
        calls, leads, taxonomy=taxonomy, as_of=as_of, campaign=campaign, since=since, until=until
    )
    order = attempts.order
    # Neighbors in the order of leads and time are an attempt and the next one on the same lead.
    same = attempts.cluster[order[1:]] == attempts.cluster[order[:-1]]
    before, after = order[:-1][same], order[1:][same]
    gap_h = (attempts.when[after] - attempts.when[before]) / 3_600e6
    band = np.maximum(np.searchsorted(np.array(GAPS_H, float), gap_h, side="right") - 1, 0)
    outcome, size = attempts.outcome[before].astype(np.int64), len(GAPS_H)
    hit = attempts.flag("human")[after]
    cell = outcome * size + band
    n = sums(cell, len(OUTCOMES) * size).reshape(-1, size)
    k = sums(cell, len(OUTCOMES) * size, hit).reshape(-1, size)
    # Outcomes without a retry have no row: nothing followed them that could be compared.
    seen_outcomes = [i for i in range(len(OUTCOMES)) if n[i].any()]
    open_outcomes = [i for i in range(len(OUTCOMES))
                     if not OUTCOMES[i].final and (outcome == i).sum() >= 2 * min_calls]  # fmt: skip
    verdicts: dict[int, Verdict] = {}
    adjusted = np.full((len(OUTCOMES), size), np.nan)
    for i in open_outcomes:
        # One question for each outcome that is tried again: they share one level.
        verdict = levels_judged(
            attempts, band[outcome == i], size, min_calls, alpha, name="gap",
            rows=after[outcome == i], tests=len(open_outcomes), family="runs",
        )  # fmt: skip
        if verdict is not None:
            verdicts[i] = verdict
            adjusted[i] = adjusted_rates(verdict, size)[0]
    frame = table(
        {
            "outcome": [OUTCOMES[i].name for i in seen_outcomes for _ in range(size)],
            "gap": _GAPS * len(seen_outcomes),
            **{
                name: np.asarray(values).reshape(-1, size)[seen_outcomes].ravel()
                for name, values in rated_calls(
                    cell, hit, attempts.cluster[after], len(OUTCOMES) * size
                ).items()
            },
            "adjusted": adjusted[seen_outcomes].ravel(),
            "thin": n[seen_outcomes].ravel() < min_calls,
        }
    )
    advice = _advice(n, k, seen_outcomes, verdicts)
    return result_of(
        attempts, "recycle", _gap_claims(verdicts, n), frame,
        "Pairs of an attempt and the next one on the same lead, by outcome of the first and hours "
        "between; numerator: a person answered the next one",
        attempts.not_logged,
        tables={"advice": advice, "after_attempt": _after(attempts, before, hit)},
        parameters={"min_calls": min_calls, "alpha": alpha}, assumptions=ASSUMPTIONS, of_people=True,
    )  # fmt: skip


#: What gaps are adjusted for.
GAP_ADJUSTED_FOR: Final = ("campaign", "week", "source", "attempt", "hour", "weekday", "time zone")


def _gap_words(part: tuple[int, ...]) -> str:
    """`24 h to 96 h` for a run of gaps."""
    if part[-1] == len(GAPS_H) - 1:
        return f"{_GAP_EDGES[part[0]]} or more"
    return f"{_GAP_EDGES[part[0]]} to {_GAP_EDGES[part[-1] + 1]}"


def _turn_to_better_side(v: Verdict) -> Verdict:
    """The same said of the better side, where short or long gaps all are worse."""
    rest = tuple(
        i for i in range(len(GAPS_H)) if i not in v.part and v.levels.trials[i : i + 1].sum()
    )
    ends = v.part[0] == 0 or v.part[-1] == len(GAPS_H) - 1 or v.part[-1] > max(rest, default=0)
    if v.effect > 0 or not ends or not rest:
        return v
    return replace(
        v, part=rest, effect=-v.effect, low=-v.high, high=-v.low, rate=v.rate - v.effect
    )


def _gap_claims(verdicts: dict[int, Verdict], pairs: npt.NDArray[np.int64]) -> tuple[Claim, ...]:
    claims = []
    for i, verdict in verdicts.items():
        if not verdict.differs:
            continue
        v = _turn_to_better_side(verdict)
        kind: Kind = "advice" if v.effect > 0 else "difference"
        word = "above" if v.effect > 0 else "below"
        claims.append(Claim(
            kind, f"{OUTCOMES[i].name}: {_gap_words(v.part)}", v.effect, v.low, v.high, v.detectable,
            GAP_ADJUSTED_FOR,
            f"After {OUTCOMES[i].name}, gaps of {_gap_words(v.part)} reach {share(v.rate)}, "
            f"{points(abs(v.effect))} {word} the other gaps ({bounds(v.low, v.high)}, p = {v.p:.2g})",
            v.diagnostics,
        ))  # fmt: skip
    if claims:
        return tuple(claims)
    # A negative answer names what it would have seen, of the outcome that is tried again most.
    known = {i: v for i, v in verdicts.items() if np.isfinite(v.detectable)}
    if not known:
        why = next(
            (v.why_not for v in verdicts.values() if v.why_not), "there are too few retries"
        )
        return (cannot_judge("gap", "The gap", why),)
    most = max(known, key=lambda i: int(pairs[i].sum()))
    detectable = float(known[most].detectable)
    return (Claim(
        "none", "gap", detectable=detectable, adjusted_for=GAP_ADJUSTED_FOR,
        text=f"No gap is certainly better than another after {plural(int(pairs.sum()), 'retry', 'retries')}"
        f"{seen(detectable, 'a third of the retries')} after {OUTCOMES[most].name}",
        diagnostics=known[most].diagnostics,
    ),)  # fmt: skip


def _advice(
    n: npt.NDArray[np.int64], k: npt.NDArray[np.int64], seen_outcomes: list[int],
    verdicts: dict[int, Verdict],
) -> pd.DataFrame:  # fmt: skip
    rows = []
    for i in seen_outcomes:
        pairs, people, verdict = int(n[i].sum()), int(k[i].sum()), verdicts.get(i)
        # No advice is the usual answer: gaps are named where they are certainly above the others together.
        gap, gain, why = None, np.nan, "no gap is certainly better than the rest"
        if OUTCOMES[i].final:
            why = "final: the taxonomy says not to call again"
        elif verdict is None or np.isnan(verdict.p):
            why = (verdict and verdict.why_not) or "too few retries to compare"
        elif verdict.differs and (verdict := _turn_to_better_side(verdict)).effect > 0:
            gap, gain = _gap_words(verdict.part), verdict.rate * pairs
            why = f"{share(verdict.rate)} against {share(people / pairs)} over all gaps, adjusted"
        rows.append((
            OUTCOMES[i].name, OUTCOMES[i].final, gap, pairs, people, people / pairs, gain,
            np.nan if verdict is None else verdict.p,
            np.nan if verdict is None else 100 * verdict.detectable, why,
        ))  # fmt: skip
    return table_of_rows(
        {"outcome": str, "final": bool, "advised_gap": str, "retries": int, "people": int,
         "rate": float, "simulated": float, "p": float, "detectable_points": float, "why": str},
        rows,
    )  # fmt: skip


def _standardize_sources(
    attempts: Attempts, number: npt.NDArray[np.int32], waiting: Mask, contact: Mask, source: str,
    most: int,
) -> Floats:  # fmt: skip
    """The hazard with the sources as they are at the first attempt; NaN where a source is missing."""
    code, names = source_level(attempts, source)
    size = len(names)
    # Direct standardization: the rates of each source, weighed as the sources are at the first attempt.
    cell = number * size + code
    n = sums(cell, most * size, waiting).reshape(most, size)
    k = sums(cell, most * size, contact).reshape(most, size)
    weight = n[0] / n[0].sum() if n[0].sum() else np.zeros(size)
    rates = ratio(k, n)
    # A source without calls at an attempt leaves its weight without a rate: then there is no number.
    is_known = ~np.isnan(rates) | (weight[None, :] == 0)
    total = np.nansum(np.where(weight[None, :] > 0, rates, 0.0) * weight[None, :], axis=1)
    return np.where(is_known.all(axis=1) & (n.sum(axis=1) > 0), total, np.nan)


def _worth(frame: pd.DataFrame) -> str:
    if not len(frame):
        return "There are no attempts"
    # The last attempt that reached anybody: what later ones are worth is not known to be more than nothing.
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


def _after(attempts: Attempts, before: Ints, hit: Mask) -> pd.DataFrame:
    size = 8
    number = np.minimum(attempts.attempt[before], size).astype(np.int64) - 1
    cell = attempts.outcome[before].astype(np.int64) * size + number
    n, k = sums(cell, len(OUTCOMES) * size), sums(cell, len(OUTCOMES) * size, hit)
    used = np.flatnonzero(n)
    return table(
        {
            "outcome": [OUTCOMES[i // size].name for i in used],
            "attempt": used % size + 1,
            **rated(k[used], n[used]),
        }
    )
