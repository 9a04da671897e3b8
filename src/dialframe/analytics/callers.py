"""Health of caller IDs: whether people stopped answering one, and since when."""

from __future__ import annotations

from datetime import datetime
from typing import Final

import numpy as np
import pandas as pd

from dialframe.analytics.columns import Floats, Ints, Mask
from dialframe.analytics.dials import Dials, dials
from dialframe.analytics.intervals import holm
from dialframe.analytics.mix import clock_of, expected_human
from dialframe.analytics.result import Result
from dialframe.analytics.stages import NO_GROUP
from dialframe.analytics.tabled import instants, rated, ratio, sums, table
from dialframe.analytics.taxonomy import DEFAULT, Taxonomy
from dialframe.analytics.wording import plural, share

#: The drop that the test is tuned to: half as many people answer.
_HALF: Final = 0.5
#: Chance of a false alarm over all caller IDs of one analysis.
ALARM: Final = 0.01
_SIMULATED: Final = 999
#: A few draws are enough for a number whose people go missing like this by chance one time in ten
#: (Besag and Clifford, Biometrika 78 (1991) 301: draw until enough are as extreme).
_FEW_DRAWS: Final = 99
_ORDINARY: Final = 0.1
_MOST_BINS: Final = 100
_DAY_US: Final = 86_400_000_000
SEED: Final = 20_260_101


def caller_ids(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    least_dials: int = 200,
    alarm: float = ALARM,
    taxonomy: Taxonomy = DEFAULT,
    as_of: datetime | None = None,
    campaign: str | None = None,
) -> Result:
    """Which caller IDs people answer less than the mix of their calls gives reason for.

    Each call's chance of a person is modelled from local hour, weekday, source, attempt and local
    presence over all caller IDs. A cumulative sum (Page 1954) then looks in the order of time for
    a stretch in which a number reaches half of that; its threshold is simulated from the same
    chances, and the chance of a false alarm is shared between the numbers (Holm).

    Args:
        calls: Frame of the calls table.
        leads: Frame of the leads table, for source and attempt.
        least_dials: Dials below which a number is not judged.
        alarm: Chance of a false alarm over all numbers together.
        taxonomy: What the codes mean.
        as_of: When the data was read; by default the latest instant in it.
        campaign: Calls of this campaign only.

    Returns:
        One row per caller ID: `from_number`, `numerator` (people), `denominator` (dials), `rate`,
        `low`, `high`, `expected` (rate that the mix gives), `ratio`, `p`, `p_adjusted`, `alert`,
        `changed_at` (start of the stretch, where alerted), `rate_before`, `rate_after`,
        `ratio_before`, `ratio_after`, `blocked` calls, `first_at`, `last_at`, `judged`. Table
        `series` has people, dials and expected people by number and week.

    Raises:
        ConfigError: A column is missing, or the campaign is unknown.
    """
    found = dials(calls, leads, taxonomy=taxonomy, as_of=as_of, campaign=campaign)
    return of_dials(found, least_dials, alarm)


def of_dials(found: Dials, least_dials: int, alarm: float = ALARM) -> Result:
    """The same of attempts that are counted already."""
    code, names = found.text("from_number")
    human = found.flag("human")
    chance = expected_human(found, clock_of(found)).expected if len(found) else np.zeros(0)
    count = len(names)
    # Calls without a caller ID are a row of the table, and no number that could rest.
    judged = (sums(code, count) >= least_dials) & (np.array(names, dtype=object) != NO_GROUP)
    p = np.full(count, np.nan)
    start = np.full(count, -1)
    rng = np.random.Generator(np.random.PCG64(SEED))
    by_time = np.argsort(found.when, kind="stable")
    for number in np.flatnonzero(judged):
        mine = by_time[code[by_time] == number]
        p[number], place = _changed(human[mine], chance[mine], rng)
        start[number] = mine[place]
    adjusted = holm(p)
    alert = judged & (adjusted < alarm)
    frame = _numbers(found, code, names, human, chance, judged, p, adjusted, alert, start)
    return Result(
        "caller_ids",
        _answer(frame),
        frame,
        "Rate: calls that a person answered of attempts from the number; expected: what hour, "
        "weekday, source, attempt and local presence of its calls give over all numbers",
        found.balance(),
        found.taxonomy,
        found.as_of,
        {"series": _weekly(found, code, names, human, chance)},
        {"least_dials": least_dials, "alarm": alarm, "drop_tested": _HALF},
        found.warnings,
    )


def _changed(human: Mask, chance: Floats, rng: np.random.Generator) -> tuple[float, int]:
    """How likely so long a stretch of missing people is by chance, and where it starts."""
    bins = min(_MOST_BINS, max(1, len(human) // 5))
    edge = np.linspace(0, len(human), bins + 1).astype(int)
    seen = np.add.reduceat(human.astype(float), edge[:-1])
    meant = np.maximum(np.add.reduceat(chance, edge[:-1]), 1e-9)
    # Log-likelihood of half as many people, bin by bin; Poisson is close where people are few.
    gain = seen * np.log(_HALF) + (1 - _HALF) * meant
    peak, start = _page(gain[None, :])
    peaks, tail = np.zeros(0), 0.0
    for draws in (_FEW_DRAWS, _SIMULATED - _FEW_DRAWS):
        drawn = rng.poisson(meant, (draws, bins)) * np.log(_HALF) + (1 - _HALF) * meant
        peaks = np.append(peaks, _peak(drawn))
        tail = (1 + int((peaks >= peak[0]).sum())) / (len(peaks) + 1)
        if tail > _ORDINARY:
            break
    return _extreme(peaks, float(peak[0]), tail), int(edge[start[0]])


def _peak(gain: Floats) -> Floats:
    """Highest cumulative sum of each row that starts anew below zero."""
    total = np.cumsum(gain, axis=1)
    lowest = np.minimum(np.minimum.accumulate(total, axis=1), 0.0)
    return np.asarray((total - lowest).max(axis=1))


def _page(gain: Floats) -> tuple[Floats, Ints]:
    """Highest cumulative sum that starts anew below zero, and the bin where it started."""
    total = np.concatenate([np.zeros((len(gain), 1)), np.cumsum(gain, axis=1)], axis=1)
    lowest = np.minimum.accumulate(total, axis=1)
    rise = total - lowest
    end = rise.argmax(axis=1)
    row = np.arange(len(gain))
    within = np.where(np.arange(total.shape[1])[None, :] <= end[:, None], total, np.inf)
    start = np.minimum(within.argmin(axis=1), gain.shape[1] - 1)
    return rise[row, end], start


def _extreme(peaks: Floats, peak: float, tail: float) -> float:
    """The simulated tail; beyond the largest draws, its exponential continuation."""
    high = float(np.quantile(peaks, 0.95))
    above = peaks[peaks > high] - high
    if tail > 0.01 or not len(above):
        return tail
    return float(min(tail, 0.05 * np.exp(-(peak - high) / above.mean())))


def _numbers(
    found: Dials, code: Ints, names: list[str], human: Mask, chance: Floats, judged: Mask,
    p: Floats, adjusted: Floats, alert: Mask, start: Ints,
) -> pd.DataFrame:  # fmt: skip
    size = len(names)
    dialled, people = sums(code, size), sums(np.where(human, code, -1), size)
    meant = np.bincount(code, chance, size) if len(code) else np.zeros(size)
    began = np.append(found.when, np.iinfo(np.int64).min)[np.where(alert, start, -1)]
    after = (found.when >= began[code]) & alert[code]
    n, k = sums(np.where(after, code, -1), size), sums(np.where(after & human, code, -1), size)
    e = np.bincount(code[after], chance[after], size)
    blocked = sums(np.where(found.is_class("blocked_or_rejected"), code, -1), size)
    first, last = (np.full(size, v) for v in (np.iinfo(np.int64).max, np.iinfo(np.int64).min))
    np.minimum.at(first, code, found.when)
    np.maximum.at(last, code, found.when)
    nan = np.full(size, np.nan)
    frame = table(
        {
            "from_number": names,
            **rated(people, dialled),
            "expected": ratio(meant, dialled),
            "ratio": ratio(people, meant),
            "p": p,
            "p_adjusted": adjusted,
            "alert": alert,
            "changed_at": instants(np.where(alert, began, np.iinfo(np.int64).min)),
            "rate_before": np.where(alert, ratio(people - k, dialled - n), nan),
            "rate_after": np.where(alert, ratio(k, n), nan),
            "ratio_before": np.where(alert, ratio(people - k, meant - e), nan),
            "ratio_after": np.where(alert, ratio(k, e), nan),
            "blocked": blocked,
            "first_at": instants(first),
            "last_at": instants(last),
            "judged": judged,
        }
    )
    return frame.sort_values(
        ["alert", "denominator"], ascending=False, kind="stable", ignore_index=True
    )


def _weekly(
    found: Dials, code: Ints, names: list[str], human: Mask, chance: Floats
) -> pd.DataFrame:
    # 1970 began on a Thursday: weeks are counted from a Monday.
    week = (found.when // _DAY_US + 3) // 7
    first = int(week.min(initial=0)) if len(week) else 0
    span = int(week.max(initial=first)) - first + 1
    pairs, place = np.unique(code * span + (week - first), return_inverse=True)
    size = len(pairs)
    return table(
        {
            "from_number": [names[i] for i in pairs // span],
            "week": instants(((pairs % span + first) * 7 - 3) * _DAY_US),
            **rated(sums(np.where(human, place, -1), size), sums(place, size)),
            "expected": ratio(np.bincount(place, chance, size), sums(place, size)),
        }
    )


def _answer(frame: pd.DataFrame) -> str:
    alerted = frame[frame["alert"].to_numpy(bool)]
    judged = int(frame["judged"].sum())
    if not len(alerted):
        if not judged:
            return "No caller ID has enough calls to be judged"
        return f"None of {plural(judged, 'caller ID')} with enough calls lost its answers"
    worst = alerted.iloc[0]
    more = f", and {len(alerted) - 1} more did" if len(alerted) > 1 else ""
    return (
        f"{worst['from_number']} reached {share(worst['rate_after'])} since "
        f"{worst['changed_at']:%Y-%m-%d}, {share(worst['ratio_after'])} of what its calls should"
        f"{more}; {plural(judged, 'caller ID')} judged"
    )
