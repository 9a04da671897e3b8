"""Who to call next: the chance of a conversation at a lead's next attempt, by hour, held against the list's own order.

A ridge logistic regression on what is known before a call: source, campaign, which attempt it is, what came of the
call before and how long ago that was, the age of the lead, local hour and weekday. What a level does is pulled to
nothing as far as few calls speak for it (a normal prior of half a unit of log odds), so that rare levels rank nobody
first. Whether the order helps is asked of weeks that the model has not seen, against the order in which the list was
dialed; where no gain shows, that is the answer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from dialframe.analytics.analyses.adjusted_effects import (
    campaign_code,
    day_code,
    week_code,
)
from dialframe.analytics.analysis_result import Result, result_of
from dialframe.analytics.attempt.argument_checks import analysis
from dialframe.analytics.attempt.attempt_table import (
    Attempts,
    attempt_level,
    clock_of,
    count_attempts,
    hour_level,
    source_level,
    weekday_level,
)
from dialframe.analytics.attempt.frames_to_arrays import (
    DAY_US,
    HOUR_US,
    NO_TIME,
    Floats,
    Ints,
    Mask,
    instants,
    micros,
    micros_of,
    require,
    text,
)
from dialframe.analytics.attempt.lead_match import SOURCE, lead_groups
from dialframe.analytics.attempt.local_clock import local, zone_cases
from dialframe.analytics.attempt.taxonomy import DEFAULT, NO_GROUP, OUTCOMES, Taxonomy
from dialframe.analytics.claims_and_tables import Claim, Kind, plural, points, table, table_of_rows
from dialframe.analytics.effects import joined
from dialframe.analytics.inference import t_quantile
from dialframe.instants import When, instant

#: Calls before a held-out week that the model learns from, the last ones.
_LEARN_CALLS: Final = 50_000
#: Calls and people that a model needs.
_LEAST_CALLS: Final = 500
_LEAST_PEOPLE: Final = 50
#: Held-out weeks, the last ones, and days below which nothing is said of the order.
_WEEKS: Final = 8
_LEAST_DAYS: Final = 10
#: Calls of a campaign and day below which there is no order to compare.
_LEAST_A_DAY: Final = 4
#: Precision of the prior of each level: half a unit of log odds.
_RIDGE: Final = 4.0
#: Steps of the fit, after which it has failed; a fit that converges takes five to ten.
_STEPS: Final = 25
_RIDGE_HOURS: Final = 0.25
_GAP_EDGES_H: Final = np.array([4.0, 20.0, 48.0, 96.0, 192.0, 360.0])
_AGE_EDGES_D: Final = np.array([1.0, 3.0, 7.0, 14.0, 30.0, 60.0])
_FACTORS: Final = (
    "campaign",
    "source",
    "attempt",
    "before",
    "gap",
    "age",
    "reached",
    "hour",
    "weekday",
)
#: Lead statuses of the contract that nobody dials again.
_OVER: Final = ("dnc", "completed")

_ASSUMPTIONS: Final = (
    "the chance of a conversation depends on what is in the columns; who else a lead is, is not known",
    "the calls of a held-out day would have come out alike in another order",
    "a lead that may be called now is asked about again before its call",
)


@analysis
def rank(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    gate: pd.DataFrame | None = None,
    by: str | Sequence[str] | None = None,
    at: When | None = None,
    source: str = SOURCE,
    most: int = 100,
    alpha: float = 0.05,
    taxonomy: Taxonomy = DEFAULT,
    as_of: When | None = None,
    campaign: str | None = None,
    since: When | None = None,
    until: When | None = None,
) -> Result:
    """Which leads to call next: the chance of a conversation at the next attempt, and whether such an order helps.

    Only leads that the gate lets through are ranked; the others are in table `held`, with the reason. Leads that are
    over (an appointment, a wish not to be called, a dead number) are in neither. The claim is of held-out weeks: how
    many points more of the calls reach somebody in the first half of a day's calls, if they are made in this order and
    not in the list's own, with what the hour does taken out.

    Args:
        calls: Frame of the calls table, or of `account.attempts()`.
        leads: Frame of the leads table; without it nobody can be ranked.
        gate: What the gate says of the numbers at `at`, as `dialframe.may_call` gives it; without it nobody is
            known to be callable, and all leads are held.
        by: Columns of the attempts or of the leads, or custom fields, to answer for each group of; one or several.
        at: When the calls begin; by default `as_of`.
        source: Column or custom field with the source.
        most: Leads of which table `hours` has the chance at each hour.
        alpha: Chance of a gain, or of a loss, where there is none.
        taxonomy: What the codes mean.
        as_of: What was known at this instant counts; by default the latest instant in the data.
        campaign: Calls and leads of this campaign only.
        since: Calls from this instant on.
        until: Calls before this instant.

    Returns:
        One row per callable lead, the best first: `rank`, `lead_id`, `phone`, `campaign_id`, `chance` (at `at`),
        `best_hour` (local, of the hours that are usually dialed) with `best_chance`, `attempt` (the next), `before`
        (what came of the last call), `last_at`. Table `held` has the same of leads that the gate holds, without a
        rank, and `held_by`. Table `hours` has `lead_id`, `hour`, `chance` of the first leads. Table `weeks` has, for
        each held-out `week`, `calls`, `people`, and the shares of the first half of each day's calls that reached
        somebody in the list's order (`own`) and in this one (`ranked`).

    Raises:
        ConfigError: A column is missing, the campaign is unknown, or an instant is none.

    Example:
        verdicts = compliance.may_call(leads["phone"], at=now, tables={"leads": leads, "calls": calls})
        analytics.rank(calls, leads, gate=verdicts).table.head()
    """
    attempts = count_attempts(
        calls, leads, taxonomy=taxonomy, as_of=as_of, campaign=campaign, since=since, until=until
    )
    moment = instant("at", at)
    begins = attempts.as_of_us if moment is None else micros_of(moment)
    known = _Known(attempts, source)
    weeks, gain = _held_out(attempts, known, alpha)
    listed, held, hours, over = _leads(attempts, known, gate, begins, most, campaign)
    notes = {("over", "leads"): over, ("held", "leads"): len(held)}
    warnings = () if gate is not None or leads is None else (
        "Nobody is known to be callable: pass gate=, what dialframe.may_call says of the numbers",
    )  # fmt: skip
    return result_of(
        attempts, "rank", (_claim(gain, alpha),), listed,
        "Chance that a person answers the next attempt on a lead, of leads that may be called",
        {**notes, **attempts.not_logged}, _WORDS, tables={"held": held, "hours": hours, "weeks": weeks},
        parameters={"at": instants(np.array([begins]))[0].isoformat(), "source": source, "most": most, "alpha": alpha},
        warnings=warnings, assumptions=_ASSUMPTIONS, of_people=True,
    )  # fmt: skip


_WORDS: Final = {
    "over": "won, not to be called again, or of a dead number",
    "held": "the gate does not let them be called",
}


class _Known:
    """What is known before each attempt, as levels; and whether a person answered."""

    def __init__(self, attempts: Attempts, source: str) -> None:
        if len(attempts.leads):
            require(attempts.leads, ("created_at",), "leads")
        ever, clock = attempts.ever, clock_of(attempts)
        self.hit = attempts.flag("human")
        self.source_name = source
        self.source, self.sources = source_level(attempts, source)
        self.campaign = campaign_code(attempts)
        before = np.full(len(ever), len(OUTCOMES), dtype=np.int64)
        before[ever.order[1:]] = np.where(
            ever.opens[1:], len(OUTCOMES), ever.outcome[ever.order[:-1]]
        )
        human = ever.flag("human")[ever.order].astype(np.int64)
        total = np.cumsum(human) - human
        first = np.flatnonzero(ever.opens)
        reached = np.empty(len(ever), dtype=np.int64)
        reached[ever.order] = total - np.repeat(total[first], np.diff(np.append(first, len(ever))))
        self.created = np.append(micros(attempts.leads["created_at"]), NO_TIME) if (
            len(attempts.leads)
        ) else np.array([NO_TIME])  # fmt: skip
        self.levels = dict(zip(_FACTORS, (
            self.campaign, self.source, attempt_level(attempts), attempts.of_history(before),
            _gap(attempts.gap_h), _age(attempts.when, self.created[attempts.lead]),
            np.minimum(attempts.of_history(reached), 2), hour_level(clock), weekday_level(clock),
        ), strict=True))  # fmt: skip
        self.sizes = dict(zip(_FACTORS, (
            int(self.campaign.max(initial=0)) + 1, len(self.sources), 8, len(OUTCOMES) + 1, len(_GAP_EDGES_H) + 2,
            len(_AGE_EDGES_D) + 2, 3, 25, 8,
        ), strict=True))  # fmt: skip


def _gap(hours: Floats) -> Ints:
    """Band of the time since the call before; the last one without."""
    return np.where(
        np.isnan(hours),
        len(_GAP_EDGES_H) + 1,
        np.searchsorted(_GAP_EDGES_H, np.nan_to_num(hours), "right"),
    )


def _age(at: Ints, created: Ints) -> Ints:
    """Band of the time since a lead came; the last one where it is not known."""
    days = (at - np.where(created == NO_TIME, at, created)) / DAY_US
    return np.where(
        created == NO_TIME, len(_AGE_EDGES_D) + 1, np.searchsorted(_AGE_EDGES_D, days, "right")
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Model:
    """Effects on the log odds: a constant, and of the levels of each factor."""

    constant: float
    effects: dict[str, Floats]

    def score(self, levels: dict[str, Ints], *, without: Sequence[str] = ()) -> Floats:
        """Log odds of trials."""
        total = np.full(len(next(iter(levels.values()))), self.constant)
        for name, level in levels.items():
            if name not in without:
                total += self.effects[name][level]
        return total

    def ratio(self, name: str) -> Floats:
        """Chance at each level of a factor over that without it, of a trial that is usual in all else."""
        usual = self.constant
        return np.asarray((1 + math.exp(-usual)) / (1 + np.exp(-usual - self.effects[name])))


def _fit(levels: dict[str, Ints], sizes: dict[str, int], hit: Mask) -> _Model | None:
    """The effects that explain best who answered, with a prior that pulls them to nothing; None if they do not converge."""
    names = list(levels)
    start = np.cumsum([1, *(sizes[n] for n in names)])
    width = int(start[-1])
    places = [np.zeros(len(hit), np.int64), *(levels[n] + start[i] for i, n in enumerate(names))]
    prior = np.full(width, _RIDGE)
    prior[0] = 0.01
    # Hours have many calls, and what is left of their effect would be taken for a gain.
    prior[start[names.index("hour")] :][: sizes["hour"]] = _RIDGE_HOURS
    rate = (hit.sum() + 0.5) / (len(hit) + 1)
    beta = np.zeros(width)
    beta[0] = math.log(rate / (1 - rate))
    for _ in range(_STEPS):
        score = np.zeros(len(hit))
        for place in places:
            score += beta[place]
        chance = 1 / (1 + np.exp(-np.clip(score, -30, 30)))
        gap, weight = hit - chance, chance * (1 - chance)
        slope = -prior * (beta - np.where(np.arange(width) == 0, beta, 0))
        info: npt.NDArray[np.float64] = np.diag(prior)
        for i, place in enumerate(places):
            slope += np.bincount(place, gap, width)
            for other in places[i:]:
                block = np.bincount(place * width + other, weight, width * width).reshape(
                    width, width
                )
                info += block if other is place else block + block.T
        step = np.linalg.solve(info, slope)
        # The likelihood is concave, and its weight lies between half and double: a bounded step is enough.
        beta += np.clip(step, -2, 2)
        if np.abs(step).max() < 1e-6:
            effects = {n: beta[start[i] : start[i + 1]] for i, n in enumerate(names)}
            return _Model(float(beta[0]), effects)
    return None


def _learned(attempts: Attempts, known: _Known, rows: Mask) -> _Model | str:
    """The model that the last of some attempts give, or why there is none."""
    taught = np.flatnonzero(rows & attempts.mature)
    reached = int(known.hit[taught].sum())
    why, most = attempts.unknown_people
    if most:
        return why
    if len(taught) < _LEAST_CALLS or reached < _LEAST_PEOPLE:
        return (f"{plural(len(taught), 'call')} that reached {plural(reached, 'person', 'people')} are too few to learn "
                f"from ({_LEAST_CALLS} and {_LEAST_PEOPLE} are needed)")  # fmt: skip
    taught = taught[np.argsort(attempts.when[taught], kind="stable")][-_LEARN_CALLS:]
    model = _fit({n: v[taught] for n, v in known.levels.items()}, known.sizes, known.hit[taught])
    return model or f"the model did not converge in {_STEPS} steps"


@dataclass(frozen=True, slots=True)
class _Gain:
    """What the order reached beyond the list's own, a share of the calls; or why nothing can be said."""

    effect: float = math.nan
    low: float = math.nan
    high: float = math.nan
    error: float = math.nan
    days: int = 0
    weeks: int = 0
    why_not: str = ""


def _held_out(attempts: Attempts, known: _Known, alpha: float) -> tuple[pd.DataFrame, _Gain]:
    """Each held-out week in the list's order and in the model's, which has learned from the weeks before alone."""
    kinds = {"week": str, "calls": int, "people": int, "own": float, "ranked": float}
    week, mature = week_code(attempts), attempts.mature
    rows: list[tuple[object, ...]] = []
    days: list[tuple[float, float, float]] = []
    last = int(week.max(initial=-1))
    whole = _learned(attempts, known, np.ones(len(attempts), dtype=bool))
    day, cell = attempts.local_day, day_code(attempts)
    # Who is called again on the same day was not reached before: only the first call of a day can be compared.
    by_time = np.argsort(attempts.when, kind="stable")
    first = np.zeros(len(attempts), dtype=bool)
    pair = joined([cell, attempts.cluster], len(attempts))
    first[by_time[np.unique(pair[by_time], return_index=True)[1]]] = True
    for held in range(max(last - _WEEKS + 1, 1), last + 1):
        mine = np.flatnonzero((week == held) & mature & first)
        model = _learned(attempts, known, week < held)
        if not len(mine) or isinstance(model, str):
            continue
        levels = {n: v[mine] for n, v in known.levels.items()}
        # Another order would not change how many calls are made at which hour: what the hour does is taken out.
        ratio = model.ratio("hour")[levels["hour"]]
        value = known.hit[mine] * (ratio.mean() / ratio)
        score = model.score(levels, without=("hour", "weekday"))
        sums = _halves(
            cell[mine], day[mine], attempts.when[mine], score, value, attempts.cluster[mine]
        )
        days += sums
        if sums:
            own, ranked, size = (float(sum(s[i] for s in sums)) for i in range(3))
            monday = np.datetime64(int(day[mine].min() - (day[mine].min() + 3) % 7), "D")
            rows.append(
                (str(monday), len(mine), int(known.hit[mine].sum()), own / size, ranked / size)
            )
    frame = table_of_rows(kinds, rows)
    if isinstance(whole, str) or len(days) < _LEAST_DAYS:
        few = f"{plural(len(days), 'day')} could be held out, and {_LEAST_DAYS} are needed"
        return frame, _Gain(why_not=whole if isinstance(whole, str) else few)
    own, ranked, size = np.array(days).T
    effect = float((ranked - own).sum() / size.sum())
    residual = ranked - own - effect * size
    n = len(days)
    error = math.sqrt(float((residual**2).sum()) * n / (n - 1)) / float(size.sum())
    effective = float(size.sum() ** 2 / (size**2).sum())
    half = t_quantile(alpha, max(effective - 1, 1.0)) * error
    return frame, _Gain(
        effect, max(effect - half, -1.0), min(effect + half, 1.0), error, n, len(rows)
    )


def _halves(
    cell: Ints, day: Ints, at: Ints, score: Floats, value: Floats, tie: Ints
) -> list[tuple[float, float, float]]:
    """By day, who was reached in the first half of each campaign's calls: in the list's order, in the score's, of how many."""
    # Equal scores are put in an order that has nothing to do with the list's.
    mixed = (tie.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(40)
    firsts = []
    for keys in ((at,), (mixed, -score)):
        order = np.lexsort((*keys, cell))
        starts = np.flatnonzero(np.append(True, np.diff(cell[order]) != 0)[: len(cell)])
        size = np.diff(np.append(starts, len(cell)))
        place = np.arange(len(cell)) - np.repeat(starts, size)
        first = np.empty(len(cell), dtype=bool)
        first[order] = (place < np.repeat(size // 2, size)) & np.repeat(size >= _LEAST_A_DAY, size)
        firsts.append(first)
    own, ranked = firsts
    code = day - int(day.min())
    sums = [np.bincount(code[f], weights, int(code.max()) + 1) for f, weights in
            ((own, value[own]), (ranked, value[ranked]), (own, np.ones(int(own.sum()))))]  # fmt: skip
    return [(float(a), float(b), float(n)) for a, b, n in zip(*sums, strict=True) if n]


def _claim(gain: _Gain, alpha: float) -> Claim:
    """Whether the order helps, in words."""
    held = ("campaign", "day", "local hour")
    if gain.why_not:
        return Claim(
            "none",
            "order",
            text=f"Whether an order of the leads helps cannot be judged, because {gain.why_not}",
        )
    detectable = gain.error * (t_quantile(alpha, max(gain.days - 1, 1)) + 0.84)
    words = (
        f"of the first half of each day's calls ({100 * gain.low:+.1f} to {100 * gain.high:+.1f} points; {plural(gain.weeks, 'week')} "
        f"held out, {plural(gain.days, 'day')})"
    )
    kind: Kind
    if gain.low > 0:
        kind, start = (
            "advice",
            f"Calling in this order reaches {points(gain.effect)} more {words} than the list's own order",
        )
    elif gain.high < 0:
        kind, start = (
            "none",
            f"No gain: the list's own order reaches {points(-gain.effect)} more {words}",
        )
    else:
        kind, start = "none", (
            f"No gain over the list's own order can be seen: {100 * gain.effect:+.1f} points {words}; {points(detectable)} would "
            "have been seen four times out of five"
        )  # fmt: skip
    return Claim(kind, "order", gain.effect, gain.low, gain.high, detectable, held, start,
                 {"converged": True, "days": gain.days, "weeks": gain.weeks, "why_not": None})  # fmt: skip


def _leads(
    attempts: Attempts,
    known: _Known,
    gate: pd.DataFrame | None,
    at: int,
    most: int,
    campaign: str | None,
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, int]:
    """Callable leads with their chances, those held, the first ones' chances at each hour, and how many are over."""
    model = _learned(attempts, known, np.ones(len(attempts), dtype=bool))
    leads, ever = attempts.leads, attempts.ever
    size = len(leads)
    mine = ever.lead >= 0
    last = np.full(size, -1)
    ordered = ever.order[mine[ever.order]]
    last[ever.lead[ordered]] = ordered
    final = np.zeros(size, dtype=bool)
    for flag in ("final", "dnc_request"):
        final |= ever.leads_with(ever.flag(flag) & mine)
    if "status" in leads.columns:
        final |= leads["status"].astype("str").str.casefold().isin(_OVER).to_numpy(bool)
    wanted = leads["phone"].notna().to_numpy(bool) if size else np.zeros(0, bool)
    if campaign is not None:
        wanted &= (leads["campaign_id"] == campaign).fillna(value=False).to_numpy(bool)
    rows = np.flatnonzero(wanted & ~final)
    over = int((wanted & final).sum())
    chosen = leads.iloc[rows]
    before = last[rows]
    tried = np.bincount(ever.lead[mine], minlength=size)[rows]
    when = np.append(ever.when, NO_TIME)[before]
    human = np.bincount(ever.lead[mine], ever.flag("human")[mine], size)[rows].astype(np.int64)
    case, zones = zone_cases(chosen["phone"])
    clock = local(case, zones, np.full(len(rows), at))
    codes = dict(
        zip(attempts.text("campaign_id")[1], range(known.sizes["campaign"]), strict=False)
    )
    campaigns = np.array([codes.get(str(c), -1) for c in chosen["campaign_id"]], dtype=np.int64)
    # Where no lead has a source, all have the same.
    sources = np.zeros(len(rows), np.int64) if known.sources == [NO_GROUP] else (
        lead_groups(leads, known.source_name)[0][rows]
    )  # fmt: skip
    levels = {
        "campaign": campaigns, "source": sources, "attempt": np.minimum(tried, 7),
        "before": np.where(before < 0, len(OUTCOMES), np.append(ever.outcome, 0)[before].astype(np.int64)),
        "gap": _gap(np.where(before < 0, np.nan, (at - when) / HOUR_US)), "age": _age(np.full(len(rows), at), known.created[rows]),
        "reached": np.minimum(human, 2), "hour": hour_level(clock), "weekday": weekday_level(clock),
    }  # fmt: skip
    chance = np.full((len(rows), 24), np.nan)
    now = np.full(len(rows), np.nan)
    dialed = np.zeros(24, dtype=bool)
    if not isinstance(model, str):
        # A level that no call has had does nothing.
        model = _Model(model.constant, {n: np.append(e, 0.0) for n, e in model.effects.items()})
        usual = np.bincount(known.levels["hour"], minlength=25)[:24]
        dialed = usual >= 0.01 * max(usual.sum(), 1)
        rest = model.score(levels, without=("hour",))
        chance = 1 / (1 + np.exp(-(rest[:, None] + model.effects["hour"][:24])))
        now = 1 / (1 + np.exp(-model.score(levels)))
    shown = np.where(dialed, chance, np.nan)
    best = np.where(dialed, chance, -1.0).argmax(axis=1)
    holders = _holders(chosen["phone"], gate)
    free = np.array([not h for h in holders], dtype=bool)
    first = np.lexsort((rows, -np.nan_to_num(now)))

    def framed(which: Ints, further: dict[str, object]) -> pd.DataFrame:
        any_best = bool(dialed.any())
        return table({
            **further, "lead_id": list(chosen["id"].iloc[which].astype("str")), "phone": list(chosen["phone"].iloc[which]),
            "campaign_id": list(chosen["campaign_id"].iloc[which].astype("str")), "chance": now[which],
            "best_hour": np.where(any_best, best[which], 0), "best_chance": chance[which, best[which]] if any_best else now[which],
            "attempt": tried[which] + 1, "before": text([*(o.name for o in OUTCOMES), None], levels["before"][which]),
            "last_at": pd.Series(instants(when[which])),
        })  # fmt: skip

    listed, held = first[free[first]], first[~free[first]]
    frame = framed(listed, {"rank": np.arange(1, len(listed) + 1)})
    few = listed[:most]
    hours = np.flatnonzero(dialed)
    by_hour = table({
        "lead_id": [str(i) for i in chosen["id"].iloc[few] for _ in hours], "hour": np.tile(hours, len(few)),
        "chance": shown[few][:, hours].ravel(),
    })  # fmt: skip
    return frame, framed(held, {"held_by": [holders[i] for i in held]}), by_hour, over


def _holders(phones: pd.Series, gate: pd.DataFrame | None) -> list[str]:
    """What holds each number; empty where it may be called."""
    if gate is None:
        return ["the gate was not asked"] * len(phones)
    require(gate, ("number", "verdict"), "gate")
    reasons = gate["check"] if "check" in gate.columns else gate["verdict"]
    said = {
        str(number): "" if verdict == "may be called" else str(reason)
        for number, verdict, reason in zip(gate["number"], gate["verdict"], reasons, strict=True)
    }
    return [said.get(str(phone), "the gate was not asked about it") for phone in phones]
