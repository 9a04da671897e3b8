"""Health of caller IDs: whose calls people stopped answering."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
import pandas as pd

from dialframe.analytics.analyses import caller_id_parts as parts
from dialframe.analytics.analyses.adjusted_effects import (
    ASSUMPTIONS,
    caller_model,
    campaign_code,
    day_code,
    list_codes,
    one_look,
    week_code,
)
from dialframe.analytics.analysis_result import Result, result_of
from dialframe.analytics.attempt.argument_checks import analysis
from dialframe.analytics.attempt.attempt_table import Attempts, count_attempts
from dialframe.analytics.attempt.frames_to_arrays import (
    DAY_US,
    Floats,
    Ints,
    Mask,
    instants,
)
from dialframe.analytics.attempt.taxonomy import DEFAULT, NO_GROUP, Taxonomy
from dialframe.analytics.claims_and_tables import (
    Claim,
    plural,
    rated_calls,
    ratio,
    share,
    sums,
    table,
)
from dialframe.analytics.effects import POWER, dense, joined
from dialframe.analytics.inference import holm
from dialframe.instants import When

#: The drop that the test is tuned to: half as many people answer.
_HALF: Final = 0.5
#: Chance of a false alarm over all caller IDs of one analysis.
ALARM: Final = 0.01
_SIMULATED: Final = 999
#: A few draws are enough for a number whose people go missing like this by chance one time in ten
#: (Besag and Clifford, Biometrika 78 (1991) 301: draw until enough are as extreme).
_FEW_DRAWS: Final = 99
_ORDINARY: Final = 0.1
#: Part of the draws whose tail is continued beyond the largest.
_TAIL: Final = 0.05
_HALVINGS: Final = 8
#: Part of the variance by chance below which that of days is not drawn.
_NEGLIGIBLE: Final = 0.01
_MOST_BINS: Final = 100
_ROUNDS: Final = 12
#: Part of the judged numbers that has to be healthy for the others to be compared with it.
_HEALTHY: Final = 0.25
SEED: Final = 20_260_101
#: What caller IDs are adjusted for.
ADJUSTED_FOR: Final = (
    "campaign", "week", "source", "attempt", "hour", "weekday", "time zone", "local presence",
)  # fmt: skip


@analysis
def caller_ids(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    by: str | Sequence[str] | None = None,
    min_calls: int = 200,
    alpha: float = ALARM,
    looks: int = 1,
    most_per_day: int = 100,
    local_alpha: float = 0.05,
    taxonomy: Taxonomy = DEFAULT,
    as_of: When | None = None,
    campaign: str | None = None,
    since: When | None = None,
    until: When | None = None,
) -> Result:
    """Which caller IDs people stopped answering, against the other numbers of the same campaign and week.

    Each call's chance of a person is modeled inside campaign and week from source, attempt, local
    hour, weekday, time zone and local presence. What a number should reach is what the *other* numbers of that
    campaign and week reach, and among those the ones that are not themselves sick: numbers that reach
    about half are left out of the baseline, until nothing changes. What the days of a campaign differ by
    is taken from the others too, as far as their people tell it. A cumulative sum (Page, Biometrika
    41 (1954) 100) then looks in the order of time for a stretch in which a number reaches half of
    that; its threshold is simulated, with the doubt about baseline and days in it, and the chance of a
    false alarm is shared between the numbers (Holm).

    Args:
        calls: Frame of the calls table, or of `account.attempts()`.
        leads: Frame of the leads table, for source and attempt.
        by: Columns of the attempts or of the leads, or custom fields, to answer for each group of; one or several.
        min_calls: Calls below which a number is not judged.
        alpha: Chance of a false alarm over all numbers and looks together.
        looks: How often this is looked at, for instance 30 for every day of a month; the looks
            together keep `alpha`.
        most_per_day: Calls a day (UTC) above which a number is over its load.
        local_alpha: Chance that local caller IDs are said to make a difference where there is none.
        taxonomy: What the codes mean.
        as_of: What was known at this instant counts; by default the latest instant in the data.
        campaign: Calls of this campaign only.
        since: Calls from this instant on; attempts are numbered over the whole history.
        until: Calls before this instant.

    Returns:
        One row per caller ID: `from_number`, `numerator` (people), `denominator` (dials), `rate`,
        `low`, `high`, `expected` (rate that the others give), `ratio`, `p`, `p_adjusted`, `alert`,
        `changed_at` (start of the stretch, where alerted), `rate_before`, `rate_after`,
        `ratio_before`, `ratio_after`, `blocked` calls, `first_at`, `last_at`, `judged`. Table
        `series` has people, dials and expected people by number and week; `ages` rates by the days that
        numbers have been in use; `load` dials by number and day; `local_presence` what a caller ID of the
        called area does.

    Raises:
        ConfigError: A column is missing, the campaign is unknown, or an instant is none.
    """
    attempts = count_attempts(
        calls, leads, taxonomy=taxonomy, as_of=as_of, campaign=campaign, since=since, until=until
    )
    result = _judge_numbers(attempts, min_calls, alpha, looks)
    sick = sick_calls(attempts, result.table)
    claim, local = parts.local_presence(attempts, sick, local_alpha)
    by_day, gini = parts.load(attempts, most_per_day)
    over = int((by_day["days_over"] > 0).sum())
    words = f"{over} of {plural(len(by_day), 'caller ID')} had days with more than {most_per_day} calls"
    return replace(
        result,
        stated=(*result.claims, claim, Claim("none", "load", text=words)),
        tables={
            **result.tables,
            "ages": parts.ages(attempts),
            "load": by_day,
            "local_presence": local,
        },
        parameters={**result.parameters, "most_per_day": most_per_day, "gini": gini},
    )


def _judge_numbers(attempts: Attempts, min_calls: int, alpha: float, looks: int) -> Result:
    code, names = attempts.text("from_number")
    count = len(names)
    # Calls without a caller ID are a row of the table, and no number that could rest.
    judged = (sums(code, count) >= min_calls) & (np.array(names, dtype=object) != NO_GROUP)
    by_time = np.argsort(attempts.when, kind="stable")
    rows_of = (
        [by_time[code[by_time] == number] for number in range(count)] if len(attempts) else []
    )
    # Bonferroni over looks: whoever looks daily sees thirty chances of a false alarm a month.
    others, level = _Others(attempts, code, count), alpha / max(looks, 1)
    alarms = _find_alarms(
        attempts, others, judged, rows_of, others.suspects(judged, rows_of), level
    )
    if int((judged & ~alarms.alert).sum()) < _HEALTHY * int(judged.sum()):
        # Hardly a number is left that could be healthy: the suspects were no baseline to go by.
        nobody = np.zeros(len(attempts), dtype=bool)
        alarms = _find_alarms(attempts, others, judged, rows_of, nobody, level)
    frame = _numbers(attempts, code, names, judged, alarms)
    return result_of(
        attempts, "caller_ids", _alarm_claims(frame, alarms.detectable), frame,
        "Rate: calls that a person answered of attempts from the number; expected: what the other "
        "numbers of its campaigns and weeks reach with its source, attempt, hour, weekday, time zone and local "
        "presence",
        tables={"series": _weekly(attempts, code, names, alarms.chance)},
        parameters={"min_calls": min_calls, "alpha": alpha, "looks": looks, "drop_tested": _HALF},
        warnings=(() if looks > 1 else (one_look("looks= says how often you will."),)),
        assumptions=(*ASSUMPTIONS, "a campaign that has one caller ID alone is judged by the other campaigns"),
        of_people=True,
    )  # fmt: skip


class _Alarms(NamedTuple):
    """Of each call its chance; of each number p, with all others, whether alarmed, and since when."""

    chance: Floats
    p: Floats
    adjusted: Floats
    alert: Mask
    start: Ints
    detectable: float


def _find_alarms(
    attempts: Attempts,
    others: _Others,
    judged: Mask,
    rows_of: list[Ints],
    sick: Mask,
    alpha: float,
) -> _Alarms:
    """Which numbers are alarmed, beginning with some calls left out of the baseline."""
    alert, human = np.zeros(len(judged), dtype=bool), attempts.flag("human")
    # A sick number pulls down what the others are held to, so that who is sick is asked again without it.
    for turn in range(_ROUNDS):
        expected = others.expected(sick)
        p, start = _judge(attempts, rows_of, judged, expected)
        adjusted = holm(p)
        following = judged & (np.nan_to_num(adjusted, nan=1.0) < alpha)
        # Suspects are left out of the first baseline alone: a number that is not alarmed with the
        # others in it is healthy. The set can only shrink from there.
        if turn and (following == alert).all():
            break
        alert = following & (alert if turn > 1 else True)
        sick = _sick_stretches(rows_of, alert, human, expected.chance, len(attempts))
    return _Alarms(
        expected.chance,
        p,
        adjusted,
        alert,
        start,
        _detectable_drop(rows_of, judged, expected, alpha),
    )


def sick_calls(attempts: Attempts, table: pd.DataFrame) -> Mask:
    """The attempts from caller IDs that lost their answers, from the day on which they did."""
    code, names = attempts.text("from_number")
    alerted = table[table["alert"].to_numpy(bool)]
    # A number was well before it was flagged: its calls until then stay.
    since = np.full(len(names) + 1, np.iinfo(np.int64).max)
    index_of = {name: i for i, name in enumerate(names)}
    for number, at in zip(alerted["from_number"], alerted["changed_at"], strict=True):
        since[index_of[str(number)]] = at.value // 1000
    return np.asarray(attempts.when >= since[code], dtype=bool)


class _Expected(NamedTuple):
    """What calls should reach.

    Attributes:
        chance: Of each call, by the other numbers.
        doubt: Of each number, the variance of its expected people relative to their square.
        luck: What calls have their luck in common by (days, lists): of each call its code, and its share in the
            variance of the expected people of its number and code.
    """

    chance: Floats
    doubt: Floats
    luck: tuple[tuple[Ints, Floats], ...]

    def shared_luck(self, rows: Ints) -> list[tuple[Floats, Floats]]:
        """Of the calls of a number, the people meant by bin and day, and by bin and list; the relative variance of each."""
        return [self._by_code(rows, code[rows], noise[rows]) for code, noise in self.luck]

    def _by_code(self, rows: Ints, code: Ints, variance: Floats) -> tuple[Floats, Floats]:
        codes, place = np.unique(code, return_inverse=True)
        size = len(codes)
        edge = _edges(len(rows))
        bin_of = np.repeat(np.arange(len(edge) - 1), np.diff(edge))
        meant = np.bincount(bin_of * size + place, self.chance[rows], (len(edge) - 1) * size)
        total = np.bincount(place, self.chance[rows], size)
        noise = np.bincount(place, variance, size)
        # Drawing what hardly differs would cost most of the time and change nothing.
        if noise.sum() < _NEGLIGIBLE * total.sum():
            noise[:] = 0.0
        return np.maximum(meant.reshape(-1, size), 1e-9 / size), noise / np.maximum(
            total, 1e-9
        ) ** 2


class _Others:
    """What a number should reach by the other numbers of its campaigns and weeks."""

    def __init__(self, attempts: Attempts, code: Ints, count: int) -> None:
        self.attempts, self.code, self.count = attempts, code, count
        self.human = attempts.flag("human").astype(float)
        if not len(attempts):
            return
        self.relative = caller_model(attempts).relative
        # A campaign that one number dials alone has no other numbers: its weeks are those of all.
        week = week_code(attempts)
        pair = joined([campaign_code(attempts), week], len(attempts))
        size = int(pair.max()) + 1
        low, high = np.full(size, count), np.full(size, -1)
        np.minimum.at(low, pair, code)
        np.maximum.at(high, pair, code)
        several = low != high
        self.stratum = joined([np.where(several[pair], pair, size + week)], len(attempts))
        self.size = int(self.stratum.max()) + 1
        # A number that belongs to one list is not worse for the people on it, nor for a poor day.
        self.luck = [*list_codes(attempts), day_code(attempts)]
        self.parts = [joined([each, code], len(attempts)) for each in self.luck]

    def expected(self, sick: Mask) -> _Expected:
        """What each call should reach by the healthy calls from other numbers, and how uncertain that is.

        Args:
            sick: Calls that are left out of the baseline.
        """
        attempts, healthy = self.attempts, ~sick
        if not len(attempts):
            return _Expected(np.zeros(0), np.zeros(self.count), ((attempts.when, np.zeros(0)),))
        shape, cell = (self.size, self.count), self.stratum * self.count + self.code
        hits, meant = (
            np.bincount(cell, value * healthy, self.size * self.count).reshape(shape)
            for value in (self.human, self.relative)
        )
        hits_of, meant_of = hits.sum(axis=1, keepdims=True), meant.sum(axis=1, keepdims=True)
        # Where next to nothing is left of the others, half a call at the rate of all is added.
        others_hits, others_meant = hits_of - hits, meant_of - meant
        overall = self.human[healthy].sum() / max(self.relative[healthy].sum(), 1e-12)
        # By the other numbers alone: a number is not held to itself (leave one out).
        scale = (others_hits + 0.5 * overall) / (others_meant + 0.5)
        # A chance stays below one, however much better the others are than the model.
        chance = np.minimum(scale[self.stratum, self.code] * self.relative, 0.95)
        variances = []
        for each, part in zip(self.luck, self.parts, strict=True):
            better, varies = self._better(each, part, healthy, chance)
            chance = np.minimum(chance * better, 0.95)
            variances.append(varies)
        expected = np.bincount(cell, chance, self.size * self.count).reshape(shape)
        unsure = expected**2 / np.maximum(others_hits, 0.5)
        spread = unsure.sum(axis=0) / np.maximum(expected.sum(axis=0), 1e-9) ** 2
        luck = []
        for each, part, varies in zip(self.luck, self.parts, variances, strict=True):
            total = np.bincount(part, chance)[part]
            luck.append((each, varies * total**2 / np.bincount(part)[part]))
        return _Expected(chance, spread, tuple(luck))

    def _better(
        self, code: Ints, part: Ints, healthy: Mask, chance: Floats
    ) -> tuple[Floats, Floats]:
        """By how much each call's day or list is better, by other numbers, and the variance of that.

        They are gamma with mean 1 and the variance that they show; the people that the other numbers reached on
        a day, or of a list, make that the posterior.

        Args:
            code: Day or list of each call.
            part: The same by number.
            healthy: Calls that the others are judged by.
            chance: Of each call.
        """
        rows = np.flatnonzero(healthy)
        variance = (
            day_variance(self.human[rows] > 0, self.stratum[rows], chance[rows], code[rows])
            if len(rows) else 0.0
        )  # fmt: skip
        if not variance:
            return np.ones(len(chance)), np.zeros(len(chance))
        people, meant = (
            np.bincount(code, value)[code] - np.bincount(part, value)[part]
            for value in (self.human * healthy, chance * healthy)
        )
        # Gamma prior and Poisson counts: the posterior of the factor in closed form.
        known = 1 / variance + people
        return known / (1 / variance + meant), 1 / known

    def suspects(self, judged: Mask, rows_of: list[Ints]) -> Mask:
        """Stretches that are left out of the first baseline, so that many sick numbers cannot hide.

        To begin with, thirds of the time in which a number reaches less than the middle one does;
        then, turn by turn, stretches in which half as many people are likelier than all.
        """
        if not len(self.attempts):
            return np.zeros(0, dtype=bool)
        third = np.zeros(len(self.attempts), dtype=np.int64)
        for rows in rows_of:
            third[rows] = np.arange(len(rows)) * 3 // max(len(rows), 1)
        part = self.code * 3 + third
        chance = self.expected(np.zeros(len(self.attempts), dtype=bool)).chance
        reached, meant = (
            np.bincount(part, value, 3 * self.count) for value in (self.human, chance)
        )
        kept = ratio(reached, meant).reshape(-1, 3)
        # The median of the numbers, which a sick half cannot move as it moves the mean.
        middle = (
            np.nanmedian(kept[judged], axis=0) if self.human.any() and judged.any() else np.ones(3)
        )
        sick = np.asarray((kept < middle[None, :]).reshape(-1)[part] & judged[self.code], bool)
        for _ in range(_ROUNDS):
            chance = self.expected(sick).chance
            following = _sick_stretches(rows_of, judged, self.human, chance, len(self.attempts))
            if (following == sick).all():
                break
            sick = following
        return sick


def _judge(
    attempts: Attempts, rows_of: list[Ints], judged: Mask, expected: _Expected
) -> tuple[Floats, Ints]:
    """Of each number: p, and the call at which its stretch starts."""
    count, human = len(judged), attempts.flag("human")
    p, start = np.full(count, np.nan), np.full(count, -1)
    # One seed: the same calls give the same alarm whoever asks, and whenever.
    rng = np.random.Generator(np.random.PCG64(SEED))
    for number in np.flatnonzero(judged):
        rows = rows_of[number]
        if expected.chance[rows].sum() > 0:
            p[number], first_row = _change_point(
                human[rows], expected, rows, expected.doubt[number], rng
            )
            start[number] = rows[first_row]
    return p, start


def _sick_stretches(
    rows_of: list[Ints], judged: Mask, human: Mask | Floats, chance: Floats, size: int
) -> Mask:
    """The stretch of each number in which half as many people are likelier than all of them."""
    sick = np.zeros(size, dtype=bool)
    for number in np.flatnonzero(judged):
        rows = rows_of[number]
        # Log-likelihood of half the people against all, call by call, in the order of time (Page, 1954).
        gain = human[rows] * np.log(_HALF) + (1 - _HALF) * chance[rows]
        total = np.concatenate([[0.0], np.cumsum(gain)])
        rise = total - np.minimum.accumulate(total)
        end = int(rise.argmax())
        if rise[end] > _STRETCH:
            sick[rows[int(total[: end + 1].argmin()) : end]] = True
    return sick


#: Log-likelihood from which a stretch is left out of the baseline.
_STRETCH: Final = 2.0


def _detectable_drop(
    rows_of: list[Ints], judged: Mask, expected: _Expected, alpha: float
) -> float:
    """The part of its answers that the middle number must lose, from its first call on, to be seen.

    Found by the same simulation as p: at the threshold that Holm's first step asks for, the loss
    at which four of five draws go beyond it. NaN where no number is judged or none could be seen.
    """
    chance, doubt = expected.chance, expected.doubt
    numbers = [int(i) for i in np.flatnonzero(judged) if chance[rows_of[i]].sum() > 0]
    if not numbers:
        return float("nan")
    numbers.sort(key=lambda i: float(chance[rows_of[i]].sum()))
    # The number in the middle by expected people: of small ones less would be seen, of great ones more.
    middle = numbers[len(numbers) // 2]
    luck = expected.shared_luck(rows_of[middle])
    rng = np.random.Generator(np.random.PCG64(SEED))
    peaks = _peak(_gains(luck, float(doubt[middle]), rng, _SIMULATED))
    high, slope = _tail(peaks)
    threshold = high + slope * np.log(_TAIL * len(numbers) / alpha)
    low, lost = 0.0, 1.0
    for _ in range(_HALVINGS):
        part = (low + lost) / 2
        again = np.random.Generator(np.random.PCG64(SEED + 1))
        drawn = _peak(_gains(luck, float(doubt[middle]), again, _FEW_DRAWS * 2, 1 - part))
        low, lost = (part, lost) if (drawn > threshold).mean() < POWER else (low, part)
    return lost if lost < 1 else float("nan")


def _change_point(
    human: Mask, expected: _Expected, rows: Ints, doubt: float, rng: np.random.Generator
) -> tuple[float, int]:
    """How likely so long a stretch of missing people is by chance, and where it starts."""
    luck, edge = expected.shared_luck(rows), _edges(len(human))
    meant = luck[0][0].sum(axis=1)
    seen_people = np.add.reduceat(human.astype(float), edge[:-1])
    # Log-likelihood of half as many people, bin by bin; Poisson is close where people are few.
    gain = seen_people * np.log(_HALF) + (1 - _HALF) * meant
    total = np.append(0.0, np.cumsum(gain))
    rise = total - np.minimum.accumulate(total)
    end = int(rise.argmax())
    peak, start = float(rise[end]), min(int(total[: end + 1].argmin()), len(gain) - 1)
    peaks, tail = np.zeros(0), 0.0
    for draws in (_FEW_DRAWS, _SIMULATED - _FEW_DRAWS):
        peaks = np.append(peaks, _peak(_gains(luck, doubt, rng, draws)))
        tail = (1 + int((peaks >= peak).sum())) / (len(peaks) + 1)
        if tail > _ORDINARY:
            break
    # Beyond the largest draws the tail goes on as an exponential does.
    high, slope = _tail(peaks)
    if tail <= 0.01 and slope:
        tail = float(min(tail, _TAIL * np.exp(-(peak - high) / slope)))
    return tail, int(edge[start])


def _edges(size: int) -> Ints:
    """Where the bins of so many calls begin, and the end of the last one."""
    # Bins of calls keep the simulation small; a stretch shorter than a bin could not be told from chance.
    bins = min(_MOST_BINS, max(1, size // 5))
    return np.linspace(0, size, bins + 1).astype(np.int64)


def _gains(
    luck: Sequence[tuple[Floats, Floats]],
    doubt: float,
    rng: np.random.Generator,
    draws: int,
    keeps: float = 1.0,
) -> Floats:
    """Log-likelihoods by bin of draws in which a number keeps a part of its people."""
    meant = luck[0][0].sum(axis=1)
    # The baseline is itself counted: a gamma with the variance of its doubt, and one for each day and list.
    off = rng.gamma(1 / doubt, doubt, (draws, 1)) if doubt > 1e-6 else 1.0
    drawn = meant[None, :]
    for by_code, varies in luck:
        if varies.max(initial=0.0) > 1e-6:
            spread = np.maximum(varies, 1e-6)
            drawn = drawn + (rng.gamma(1 / spread, spread, (draws, len(spread))) - 1) @ by_code.T
    people = rng.poisson(np.maximum(drawn, 0.0) * off * keeps, (draws, len(meant)))
    return np.asarray(people * np.log(_HALF) + (1 - _HALF) * meant)


def _peak(gain: Floats) -> Floats:
    """Highest cumulative sum of each row that starts anew below zero (Page)."""
    total = np.cumsum(gain, axis=1)
    lowest = np.minimum(np.minimum.accumulate(total, axis=1), 0.0)
    return np.asarray((total - lowest).max(axis=1))


def _tail(peaks: Floats) -> tuple[float, float]:
    """Where the highest draws begin, and how far they go beyond that on average."""
    high = float(np.quantile(peaks, 1 - _TAIL))
    above = peaks[peaks > high] - high
    return high, float(above.mean()) if len(above) else 0.0


def _numbers(
    attempts: Attempts, code: Ints, names: list[str], judged: Mask, alarms: _Alarms
) -> pd.DataFrame:
    """The table of caller IDs; before and after are told apart where one is alarmed."""
    human, chance, alert, size = attempts.flag("human"), alarms.chance, alarms.alert, len(names)
    dialed, people = sums(code, size), sums(code, size, human)
    meant = np.bincount(code, chance, size) if len(code) else np.zeros(size)
    began = np.append(attempts.when, np.iinfo(np.int64).min)[np.where(alert, alarms.start, -1)]
    after = (attempts.when >= began[code]) & alert[code]
    n, k = sums(code, size, after), sums(code, size, after & human)
    e = np.bincount(code[after], chance[after], size)
    blocked = sums(code, size, attempts.is_class("blocked_or_rejected"))
    first, last = (np.full(size, v) for v in (np.iinfo(np.int64).max, np.iinfo(np.int64).min))
    np.minimum.at(first, code, attempts.when)
    np.maximum.at(last, code, attempts.when)
    nan = np.full(size, np.nan)
    frame = table(
        {
            "from_number": names,
            **rated_calls(code, human, attempts.cluster, size),
            "expected": ratio(meant, dialed),
            "ratio": ratio(people, meant),
            "p": alarms.p,
            "p_adjusted": alarms.adjusted,
            "alert": alert,
            "changed_at": instants(np.where(alert, began, np.iinfo(np.int64).min)),
            "rate_before": np.where(alert, ratio(people - k, dialed - n), nan),
            "rate_after": np.where(alert, ratio(k, n), nan),
            "ratio_before": np.where(alert, ratio(people - k, meant - e), nan),
            "ratio_after": np.where(alert, ratio(k, e), nan),
            "expected_after": np.where(alert, e, nan),
            "blocked": blocked,
            "first_at": instants(first),
            "last_at": instants(last),
            "judged": judged,
        }
    )
    return frame.sort_values(
        ["alert", "denominator"], ascending=False, kind="stable", ignore_index=True
    )


def _weekly(attempts: Attempts, code: Ints, names: list[str], chance: Floats) -> pd.DataFrame:
    """People, dials and expected people by number and week."""
    # 1970 began on a Thursday: weeks are counted from a Monday.
    week = (attempts.when // DAY_US + 3) // 7
    first = int(week.min(initial=0)) if len(week) else 0
    span = int(week.max(initial=first)) - first + 1
    pairs, pair = np.unique(code * span + (week - first), return_inverse=True)
    size = len(pairs)
    return table(
        {
            "from_number": [names[i] for i in pairs // span],
            "week": instants(((pairs % span + first) * 7 - 3) * DAY_US),
            **rated_calls(pair, attempts.flag("human"), attempts.cluster, size),
            "expected": ratio(np.bincount(pair, chance, size), sums(pair, size)),
        }
    )


def _alarm_claims(frame: pd.DataFrame, detectable: float) -> tuple[Claim, ...]:
    alerted = frame[frame["alert"].to_numpy(bool)]
    judged = int(frame["judged"].sum())
    drop = None if np.isnan(detectable) else detectable
    claims = []
    for row in alerted.to_dict("records"):
        kept = float(row["ratio_after"])
        # Poisson: the relative error of a count is one over its root.
        error = 1.96 / np.sqrt(max(kept * float(row["expected_after"]), 1.0))
        claims.append(Claim(
            "alarm", str(row["from_number"]), kept - 1, kept * float(np.exp(-error)) - 1,
            kept * float(np.exp(error)) - 1, drop, ADJUSTED_FOR,
            f"{row['from_number']} reached {share(row['rate_after'])} since "
            f"{row['changed_at']:%Y-%m-%d}, {share(kept)} of what the other numbers reach",
        ))  # fmt: skip
    if claims:
        return tuple(claims)
    if not judged:
        return (Claim("none", "caller ID", text="No caller ID has enough calls to be judged"),)
    lost = ", but no loss could have been seen" if drop is None else (
        f"; a number that lost {share(drop)} of its answers throughout would have been seen four times out of "
        "five"
    )  # fmt: skip
    return (Claim(
        "none", "caller ID", 0.0, None, None, drop, ADJUSTED_FOR,
        f"None of {plural(judged, 'caller ID')} with enough calls lost its answers{lost}",
    ),)  # fmt: skip


def day_variance(hit: Mask, stratum: Ints, expected: Floats, day: Ints) -> float:
    """Variance of what each day multiplies all its chances by, beyond chance, by moments.

    A day's hits less those meant have the variance of its trials and that of the day itself, both less
    what the strata that it lies in took for theirs.

    Args:
        hit: Whether each trial hit.
        stratum: Stratum of each trial, whose hits were taken for those meant.
        expected: Chance of each trial.
        day: Day of each trial, from 0 up.
    """
    day = dense(day)
    pair = joined([stratum, day], len(hit))
    size = int(pair.max(initial=-1)) + 1
    first = np.zeros(size, dtype=np.int64)
    first[pair] = np.arange(len(hit))
    of_day, of_stratum = day[first], stratum[first]
    meant = np.bincount(pair, expected, size)
    part = meant / np.maximum(np.bincount(of_stratum, meant)[of_stratum], 1e-12)
    together = np.bincount(of_stratum, part**2)[of_stratum]
    residual = hit - expected
    noise = np.bincount(of_day, np.bincount(pair, residual**2, size) * (1 - part))
    spread = np.bincount(of_day, meant * np.sqrt(np.maximum(1 - 2 * part + together, 0.0))) ** 2
    excess = np.bincount(day, residual) ** 2 - noise
    return max(float(excess.sum() / max(spread.sum(), 1e-12)), 0.0)
