"""People reached, talk time and agents by hour of the weeks to come, with bands held against held-out weeks.

Days are a Gaussian process on the logarithm of people reached (Rasmussen and Williams, 2006, ch. 2): weekday, a
trend that dies out, days that resemble their neighbors, and what a day has for itself. How strong each is, is not
chosen but averaged over, weighted by how well it explains the history. Inside a day hours have the shares of their
weekday. What is drawn from it gives the bands, so that a day's bad luck is in the band of the day and of its hours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import numpy.typing as npt
import pandas as pd

from dialframe.analytics.analysis_result import Result, result_of
from dialframe.analytics.attempt.argument_checks import analysis
from dialframe.analytics.attempt.attempt_table import Attempts, count_attempts
from dialframe.analytics.attempt.frames_to_arrays import Floats, Ints, Mask, instants, micros_of
from dialframe.analytics.attempt.local_clock import WEEKDAYS
from dialframe.analytics.attempt.taxonomy import DEFAULT, Taxonomy
from dialframe.analytics.claims_and_tables import counted, plural, ratio, table, table_of_rows
from dialframe.errors import ConfigError
from dialframe.instants import When, instant

Draws = npt.NDArray[np.float64]

#: Days of history that are looked at, and worked days below which nothing is forecast.
_MOST_DAYS: Final = 126
_LEAST_DAYS: Final = 15
#: Days of which the last tell the shares of hours and the length of talks.
_RECENT_DAYS: Final = 63
#: Weeks back at which the forecast is made again, to be held against what came.
_ORIGINS: Final = (1, 2, 3, 4, 6, 8)
_DRAWS: Final = 1_000
_FEWER_DRAWS: Final = 400
#: Part of a weekday's days with a call from which on an hour counts as worked.
_WORKED: Final = 0.2
#: Calls as which the shares of all days count beside those of a weekday.
_AS_IF: Final = 50
_SEED: Final = 20_260_101
#: Part of its weekday's usual calls below which a day counts as not worked.
_CLOSED: Final = 0.2
#: Spread of a week's growth, and the part of it that is left a week later.
_GROWTH: Final = 0.03
_DAMPING: Final = 0.85
#: Spreads that are averaged over: of slow waves, their length in days, and of each day alone.
_WAVES: Final = (0.03, 0.12, 0.4)
_LENGTHS: Final = (4.0, 28.0, 182.0)
_ALONE: Final = (0.03, 0.12, 0.3, 0.6)

_ASSUMPTIONS: Final = (
    "dialing goes on as in the history: as many calls, by lists of such quality, at such hours",
    "agents talk to people alone and are busy for no longer than they say",
    "a day that nobody names as closed is closed as often as such days were",
)


@analysis
def forecast(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    by: str | Sequence[str] | None = None,
    days: int = 28,
    zone: str = "UTC",
    closed: Sequence[str | date] = (),
    wrap_s: float = 30.0,
    occupancy: float = 0.85,
    level: float = 0.9,
    taxonomy: Taxonomy = DEFAULT,
    as_of: When | None = None,
    campaign: str | None = None,
    since: When | None = None,
    until: When | None = None,
) -> Result:
    """People reached, talk time and agents needed by hour of the coming weeks, with bands.

    The forecast is made again as it would have been made up to eight weeks ago, from the calls until then alone,
    and held against what came: table `backtest` has how often the bands held. The last day, which may not be over,
    and days whose outcomes are not in yet are no history.

    Args:
        calls: Frame of the calls table, or of `account.attempts()`.
        leads: Frame of the leads table; only needed to split by its columns.
        by: Columns of the attempts or of the leads, or custom fields, to answer for each group of; one or several.
        days: Days ahead.
        zone: IANA time zone of the hours: where the agents sit.
        closed: Days on which nobody works, such as `2026-12-25`, past or to come.
        wrap_s: Seconds that an agent needs after each talk.
        occupancy: Part of an hour that an agent is to be busy.
        level: Chance that an hour's number lies inside its band.
        taxonomy: What the codes mean.
        as_of: What was known at this instant counts; by default the latest instant in the data.
        campaign: Calls of this campaign only.
        since: Calls from this instant on.
        until: Calls before this instant; the forecast begins there.

    Returns:
        One row per hour that is usually worked: `at` (UTC), `day`, `weekday`, `hour` (of the zone), `contacts`
        (people reached), `talk_s`, `agents` (as much work as so many do; round up), each the mean with `_low` and
        `_high`. Table `days` has the sums by `day`, and `agents` of its busiest hour. Table `backtest` has, for each `origin` at which it was made
        again, `hours` since, the shares of them inside the bands (`contacts_inside`, `talk_inside`,
        `agents_inside`), and `contacts`, `forecast` and `ratio` of the two. Without enough history the tables are
        empty and the claim says why.

    Raises:
        ConfigError: A column is missing, the campaign or the zone is unknown, or an instant is none.

    Example:
        result = analytics.forecast(calls, zone="America/New_York", closed=["2026-12-25"])
        print(result.answer)
    """
    if not 1 <= days <= 366:
        raise ConfigError(f"days={days} is out of bounds; use 1 to 366")
    for name, share in (("occupancy", occupancy), ("level", level)):
        if not 0 < share < 1 and not (name == "occupancy" and share == 1):
            raise ConfigError(f"{name}={share} is no share; use 0.85, for instance")
    attempts = count_attempts(
        calls, leads, taxonomy=taxonomy, as_of=as_of, campaign=campaign, since=since, until=until
    )
    shut = _day_numbers(closed)
    history = _history(attempts, _zone(zone), shut, instant("until", until))
    work = _Work(wrap_s, occupancy)
    why, most = attempts.unknown_people
    reason = why if most else history.why_not
    ahead = np.arange(history.end, history.end + days)
    drawn, tests = _NOTHING, []
    if not reason:
        drawn, tests = (
            _draw(history, ahead, shut, work, _DRAWS),
            _backtest(history, shut, work, level, days),
        )
    hourly, daily, total = _rows(drawn, ahead, level, zone)
    warnings = [] if not why or most else [f"People are the least that they can be: {why}"]
    inside = (
        np.average([t[2] for t in tests], weights=[t[1] for t in tests]) if tests else math.nan
    )
    if not reason and not tests:
        warnings.append(
            "The history is too short to hold the bands against a week that was held out"
        )
    elif tests and inside < level - 0.1:
        warnings.append(
            f"In the backtest {100 * inside:.0f}% of the hours lay inside their bands, and {100 * level:.0f}% should: do not rely on them"
        )
    return result_of(
        attempts, "forecast", counted("people reached", _words(reason, daily, hourly, total, inside, level)), hourly,
        "Calls that a person answered, their seconds of talk, and agents who are busy with talks and the work after "
        f"them for {100 * occupancy:.0f}% of an hour at most",
        {("no_history", "calls"): int((~history.used).sum()), **attempts.not_logged}, _WORDS,
        tables={"days": daily, "backtest": _test_table(tests)},
        parameters={"days": days, "zone": zone, "closed": ", ".join(map(str, closed)), "wrap_s": wrap_s,
                    "occupancy": occupancy, "level": level},
        warnings=tuple(warnings), assumptions=_ASSUMPTIONS,
    )  # fmt: skip


_WORDS: Final = {
    "no_history": "older than eighteen weeks, of the last day, of a day whose outcomes are not in yet, or of one not worked",
}


@dataclass(frozen=True, slots=True)
class _Work:
    """What a talk costs an agent."""

    wrap_s: float
    occupancy: float

    def agents(self, talk_s: Draws, contacts: Draws) -> Draws:
        """Agents who are busy for so long in an hour."""
        return (talk_s + self.wrap_s * contacts) / (3600 * self.occupancy)


@dataclass(frozen=True, slots=True, eq=False)
class _History:
    """What was reached by day and hour.

    Attributes:
        end: Day since 1970 after the last one.
        day: Days that were worked.
        contacts: People by worked day and hour.
        dials: Calls by worked day and hour.
        talks: Lengths of the recent talks, seconds.
        talk_s: Seconds of talk by worked day and hour.
        shut: Part of the days of worked weekdays on which nobody worked, though nobody had said so.
        used: Which attempts are in it.
        why_not: Why nothing can be forecast; empty where it can.
    """

    end: int
    day: Ints
    contacts: Floats
    dials: Floats
    talk_s: Floats
    mean_talk_s: float
    talk_spread: float
    shut: float
    used: Mask
    why_not: str = ""

    def until(self, end: int) -> _History:
        """The same as it was known at the beginning of a day."""
        keep = (self.day < end) & (self.day >= end - _MOST_DAYS)
        return _History(
            end, self.day[keep], self.contacts[keep], self.dials[keep], self.talk_s[keep],
            *_talk(self.day[keep], self.contacts[keep], self.talk_s[keep], self.talk_spread), self.shut, self.used,
        )  # fmt: skip


def _talk(day: Ints, contacts: Floats, talk_s: Floats, spread: float) -> tuple[float, float]:
    """Mean length of recent talks, and their spread relative to it."""
    recent = day >= (day.max(initial=0) - _RECENT_DAYS)
    people = float(contacts[recent].sum())
    return (float(talk_s[recent].sum()) / people if people else 0.0), spread


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ConfigError(
            f"zone={name!r} is no time zone; use one such as America/New_York"
        ) from None


def _day_numbers(closed: Sequence[str | date]) -> Ints:
    """Days since 1970 of days as people write them."""
    given = [closed] if isinstance(closed, (str, date)) else list(closed)
    try:
        return np.array(
            [np.datetime64(str(each)[:10], "D").astype(int) for each in given], dtype=np.int64
        )
    except ValueError:
        raise ConfigError(f"closed={given} has what is no day; write days as 2026-12-25") from None


def _weekday(day: Ints) -> Ints:
    # 1970 began on a Thursday.
    return (day + 3) % 7


def _history(attempts: Attempts, zone: ZoneInfo, shut: Ints, until: datetime | None) -> _History:
    """The worked days until the last that is over and whose outcomes are in."""
    local = instants(attempts.when).tz_convert(zone).tz_localize(None)
    hours = np.asarray(local.to_numpy().astype("datetime64[h]").astype(np.int64))
    day, hour = hours // 24, hours % 24
    ends = attempts.as_of_us if until is None else min(attempts.as_of_us, micros_of(until))
    now = pd.Timestamp(ends, unit="us", tz="UTC").tz_convert(zone).tz_localize(None)
    end = int(now.to_datetime64().astype("datetime64[D]").astype(np.int64))
    if not len(day):
        nothing = np.zeros((0, 24))
        return _History(
            end, day, nothing, nothing, nothing, 0.0, 1.0, 0.0, day > 0, "there are no calls"
        )
    # Days whose outcomes are still on their way have too few people.
    dialed, code = np.unique(day, return_inverse=True)
    late = dialed[np.bincount(code, ~attempts.mature) > 0.05 * np.bincount(code)]
    end = min([end, *map(int, late[:1])])
    first = max(end - _MOST_DAYS, int(day.min()))
    span = max(end - first, 0)
    used = (day >= first) & (day < end)
    cell = (day[used] - first) * 24 + hour[used]
    human, talk = attempts.flag("human")[used], np.nan_to_num(attempts.talk_s[used])

    def summed(weights: Floats | Mask | None) -> Floats:
        return np.bincount(cell, weights, span * 24).reshape(span, 24).astype(float)

    dials, contacts, talk_s = summed(None), summed(human), summed(np.where(human, talk, 0.0))
    worked, closings = _worked(dials.sum(axis=1), first, shut)
    lengths = talk[human & (talk > 0)]
    spread = float(np.std(lengths) / np.mean(lengths)) if len(lengths) > 1 else 1.0
    used[used] = worked[day[used] - first]
    days = np.flatnonzero(worked) + first
    why_not = ""
    if not contacts[worked].sum():
        why_not = "nobody was reached on a day that is over"
    elif len(days) < _LEAST_DAYS:
        why_not = f"{plural(len(days), 'day')} with calls are over, and {_LEAST_DAYS} are needed"
    return _History(
        end, days, contacts[worked], dials[worked], talk_s[worked],
        *_talk(days, contacts[worked], talk_s[worked], spread), closings, used, why_not,
    )  # fmt: skip


def _worked(dials: Floats, first: int, shut: Ints) -> tuple[Mask, float]:
    """Days that were worked, and the part of those of worked weekdays that was not, though nobody said so."""
    weekday = _weekday(np.arange(len(dials)) + first)
    named = np.isin(np.arange(len(dials)) + first, shut)
    worked, missed, of = np.zeros(len(dials), dtype=bool), 0, 0
    for i in range(7):
        mine = (weekday == i) & ~named
        if not (dials[mine] > 0).any():
            continue
        usual = np.median(dials[mine][dials[mine] > 0])
        open_ = mine & (dials > _CLOSED * usual)
        if 2 * open_.sum() < mine.sum():
            continue
        worked |= open_
        missed, of = missed + int(mine.sum() - open_.sum()), of + int(mine.sum())
    return worked, missed / max(of, 1)


@dataclass(frozen=True, slots=True, eq=False)
class _Drawn:
    """What may come, by draw and worked hour.

    Attributes:
        day: Place of each worked hour's day among the days ahead.
        hour: Its hour.
        measures: By name, draws of each hour.
    """

    day: Ints
    hour: Ints
    measures: dict[str, Draws]


_NOTHING: Final = _Drawn(np.zeros(0, np.int64), np.zeros(0, np.int64), {
    name: np.zeros((1, 0)) for name in ("contacts", "talk_s", "agents")
})  # fmt: skip


def _draw(history: _History, ahead: Ints, shut: Ints, work: _Work, draws: int) -> _Drawn:
    """What the days ahead may bring."""
    rng = np.random.Generator(np.random.PCG64(_SEED))
    recent = history.day >= history.end - _RECENT_DAYS
    weekday, weekday_ahead = _weekday(history.day[recent]), _weekday(ahead)
    share, worked = np.zeros((7, 24)), np.zeros((7, 24), dtype=bool)
    contacts, dials = history.contacts[recent], history.dials[recent]
    usual = contacts.sum(axis=0) / max(contacts.sum(), 1e-9)
    counted_on = np.zeros(7)
    for i in np.unique(weekday):
        mine = weekday == i
        worked[i] = (dials[mine] > 0).mean(axis=0) >= _WORKED
        # A weekday's own shares, with those of all days as if seen in fifty calls.
        given = np.where(worked[i], contacts[mine].sum(axis=0) + _AS_IF * usual, 0.0)
        share[i], counted_on[i] = given / max(given.sum(), 1e-9), max(given.sum(), 1e-9)
    day, hour = np.nonzero(worked[weekday_ahead] & ~np.isin(ahead, shut)[:, None])
    people = _people_by_day(history, ahead, rng, draws)
    people *= rng.random(people.shape) >= history.shut
    # Shares are known as well as the calls that they were counted on.
    of, alpha = weekday_ahead[day], (share * counted_on[:, None])[weekday_ahead[day], hour]
    certain = rng.standard_gamma(np.maximum(alpha, 1e-9), (draws, len(alpha))) / counted_on[of]
    mean = people[:, day] * certain
    extra = _extra(contacts, share[weekday])
    if extra > 1e-6:
        mean = mean * rng.gamma(1 / extra, extra, mean.shape)
    drawn = rng.poisson(mean).astype(float)
    form = 1 / max(history.talk_spread**2, 1e-3)
    talk_s = rng.standard_gamma(drawn * form) * (history.mean_talk_s / form)
    return _Drawn(
        day, hour, {"contacts": drawn, "talk_s": talk_s, "agents": work.agents(talk_s, drawn)}
    )


def _extra(contacts: Floats, share: Floats) -> float:
    """Variance of an hour beyond chance, relative to its mean squared, given its day."""
    mean = contacts.sum(axis=1, keepdims=True) * share
    above = ((contacts - mean) ** 2 - mean * (1 - share)).sum()
    return float(np.clip(above / max((mean**2).sum(), 1e-9), 0.0, 1.0))


def _people_by_day(history: _History, ahead: Ints, rng: np.random.Generator, draws: int) -> Draws:
    """Draws of the mean of people of each day ahead."""
    total = history.contacts.sum(axis=1)
    weekday, weekday_ahead = _weekday(history.day), _weekday(ahead)
    usual = np.bincount(weekday, total, 7) / np.maximum(np.bincount(weekday, minlength=7), 1)
    y = np.log(total + 0.5)
    center = float(y.mean())
    noise = 1 / (usual[weekday] + 0.5)
    week, week_ahead = (history.day - history.end) / 7, (ahead - history.end) / 7
    # Growth goes on, less each week: straight lines do not last.
    damped = (1 - _DAMPING**week_ahead) / -math.log(_DAMPING)

    def linear(weekdays: Ints, growth: Floats) -> Floats:
        return np.column_stack([np.full(len(growth), 3.0), _GROWTH * growth, np.eye(7)[weekdays]])

    x, x_ahead = linear(weekday, week), linear(weekday_ahead, damped)
    near, near_ahead, near_both = (
        np.abs(a[:, None] - b[None, :]).astype(float)
        for a, b in ((history.day, history.day), (ahead, ahead), (ahead, history.day))
    )
    fits: list[tuple[float, Floats, Floats]] = []
    for length in _LENGTHS:
        decay, decay_ahead, decay_both = (
            np.exp(-n / length) for n in (near, near_ahead, near_both)
        )
        for wave in _WAVES:
            for alone in _ALONE:
                covariance = x @ x.T + wave**2 * decay + np.diag(noise + alone**2)
                root = np.linalg.cholesky(covariance)
                across = x_ahead @ x.T + wave**2 * decay_both
                half = np.linalg.solve(root, np.column_stack([y - center, across.T]))
                fit, rest = half[:, 0], half[:, 1:]
                likelihood = -0.5 * float(fit @ fit) - float(np.log(np.diag(root)).sum())
                spread = x_ahead @ x_ahead.T + wave**2 * decay_ahead - rest.T @ rest
                fits.append(
                    (likelihood, center + rest.T @ fit, spread + alone**2 * np.eye(len(ahead)))
                )
    best = max(f[0] for f in fits)
    weight = np.exp([f[0] - best for f in fits])
    counts = rng.multinomial(draws, weight / weight.sum())
    logs = [
        rng.multivariate_normal(mean, spread, size=n, method="cholesky")
        for n, (_, mean, spread) in zip(counts, fits, strict=True) if n
    ]  # fmt: skip
    # A day of ten times the most that ever was is none that anybody plans for.
    most = 10 * (float(total.max()) + 1)
    return np.asarray(np.minimum(np.exp(np.concatenate(logs)), most), dtype=np.float64)


def _band(draws: Draws, level: float, *, whole: bool) -> tuple[Floats, Floats]:
    """Bounds between which the share of draws is nearest to the level, of numbers along the first axis."""
    tail = (1 - level) / 2
    low, high = np.quantile(
        draws, [tail, 1 - tail], axis=0, method="higher" if whole else "linear"
    )
    if not whole:
        # What is nothing often enough begins at nothing, and has one tail.
        return low, np.where(low <= 0, np.quantile(draws, level, axis=0), high)
    # Of whole numbers a band holds more than its level; one end moved in may be nearer to it.
    ends = [(low, high), (low, high - 1), (low + 1, high), (low + 1, high - 1)]
    miss = [
        np.where(a <= b, np.abs(((draws >= a) & (draws <= b)).mean(axis=0) - level), 2.0)
        for a, b in ends
    ]
    best = np.argmin(miss, axis=0)
    return np.choose(best, [a for a, _ in ends]), np.choose(best, [b for _, b in ends])


def _rows(
    drawn: _Drawn, ahead: Ints, level: float, zone: str
) -> tuple[pd.DataFrame, pd.DataFrame, tuple[float, float, float]]:
    """The hours and the days of a forecast, and its people in all with their bounds."""
    day, hour = drawn.day, drawn.hour
    names = pd.DatetimeIndex(ahead.astype("datetime64[D]").astype("datetime64[us]")).strftime(
        "%Y-%m-%d"
    )
    local = pd.DatetimeIndex(
        (ahead[day] * 24 + hour).astype("datetime64[h]").astype("datetime64[us]")
    )
    at = local.tz_localize(zone, ambiguous=np.ones(len(local), bool), nonexistent="shift_forward")
    hourly = table({
        "at": pd.Series(at.tz_convert("UTC")), "day": list(names[day]),
        "weekday": [WEEKDAYS[i] for i in _weekday(ahead[day])], "hour": hour, **_numbers(drawn.measures, level),
    })  # fmt: skip
    first = np.flatnonzero(np.append(True, day[1:] != day[:-1])[: len(day)])
    by_day = {
        # Agents of a day are those of its busiest hour.
        name: (np.maximum if name == "agents" else np.add).reduceat(values, first, axis=1) if len(first) else values
        for name, values in drawn.measures.items()
    }  # fmt: skip
    daily = table({
        "day": list(names[day[first]]), "weekday": [WEEKDAYS[i] for i in _weekday(ahead[day[first]])],
        **_numbers(by_day, level),
    })  # fmt: skip
    whole = drawn.measures["contacts"].sum(axis=1)
    low, high = np.quantile(whole, [(1 - level) / 2, (1 + level) / 2])
    return hourly, daily, (float(whole.mean()), float(low), float(high))


def _numbers(measures: dict[str, Draws], level: float) -> dict[str, Ints | Floats]:
    """Mean and bounds of each measure; bounds of counts are whole numbers."""
    columns: dict[str, Ints | Floats] = {}
    for name, values in measures.items():
        columns[name] = np.round(values.mean(axis=0), 2)
        for end, bound in zip(
            ("low", "high"), _band(values, level, whole=name == "contacts"), strict=True
        ):
            columns[f"{name}_{end}"] = (
                bound.astype(np.int64) if name == "contacts" else np.round(bound, 2)
            )
    return columns


_Test = tuple[int, int, float, float, float, float, float]


def _backtest(history: _History, shut: Ints, work: _Work, level: float, days: int) -> list[_Test]:
    """The forecast as it would have been made weeks ago, and what came of it."""
    tests: list[_Test] = []
    place = {int(day): i for i, day in enumerate(history.day)}
    for weeks in _ORIGINS:
        origin = history.end - 7 * weeks
        then = history.until(origin)
        if len(then.day) < _LEAST_DAYS or not then.contacts.sum():
            break
        ahead = np.arange(origin, min(origin + days, history.end))
        drawn = _draw(then, ahead, shut, work, _FEWER_DRAWS)
        if not len(drawn.day):
            continue
        came = np.array([place.get(int(day), -1) for day in ahead])[drawn.day]
        # A day on which nobody worked reached nobody.
        contacts, talk_s = (
            np.where(came >= 0, values[came, drawn.hour], 0.0)
            for values in (history.contacts, history.talk_s)
        )
        real = {"contacts": contacts, "talk_s": talk_s, "agents": work.agents(talk_s, contacts)}
        inside = []
        for name, values in drawn.measures.items():
            low, high = _band(values, level, whole=name == "contacts")
            inside.append(float(((real[name] >= low) & (real[name] <= high)).mean()))
        meant = float(drawn.measures["contacts"].mean(axis=0).sum())
        tests.append((origin, len(drawn.day), *inside, float(contacts.sum()), meant))  # type: ignore[arg-type]
    return tests


def _test_table(tests: Sequence[_Test]) -> pd.DataFrame:
    kinds = {"origin": str, "hours": int, "contacts_inside": float, "talk_inside": float, "agents_inside": float,
             "contacts": int, "forecast": float}  # fmt: skip
    epoch = date(1970, 1, 1)
    rows = [
        ((epoch + timedelta(days=t[0])).isoformat(), t[1], *t[2:5], round(t[5]), round(t[6], 1))
        for t in tests
    ]
    frame = table_of_rows(kinds, rows)
    shares = ratio(frame["contacts"].to_numpy(float), frame["forecast"].to_numpy(float))
    return frame.assign(ratio=table({"ratio": shares})["ratio"])


def _words(
    why_not: str,
    daily: pd.DataFrame,
    hourly: pd.DataFrame,
    total: tuple[float, float, float],
    inside: float,
    level: float,
) -> str:
    """The forecast in a sentence."""
    if why_not:
        return f"People reached cannot be forecast, because {why_not}"
    if not len(daily):
        return "Nobody works on the days ahead, so nobody is reached"
    mean, low, high = total
    agents, talk_h = math.ceil(hourly["agents_high"].max()), round(daily["talk_s"].sum() / 3600)
    held = "" if math.isnan(inside) else (
        f"; in weeks that were held out {100 * inside:.0f}% of the hours lay inside their {100 * level:.0f}% bands"
    )  # fmt: skip
    return (
        f"From {daily['day'].iloc[0]} to {daily['day'].iloc[-1]} {mean:,.0f} people are reached ({low:,.0f} to {high:,.0f}), "
        f"with {plural(talk_h, 'hour')} of talk; {plural(agents, 'agent')} {'is' if agents == 1 else 'are'} enough for the "
        f"busiest hour{held}"
    )
