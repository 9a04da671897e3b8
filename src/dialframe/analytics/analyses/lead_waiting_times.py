"""How long new leads wait for their first attempt, and how long until they are reached.

Where other things can end a wait first, the cumulative incidence of Aalen and Johansen (Scand. J. Stat. 5 (1978)
141-150) says what came to pass; one minus Kaplan and Meier's curve (J. Am. Stat. Assoc. 53 (1958) 457-481) says
what would have without the other ends, and is never below it. Bounds of the incidence are those of Gray's variance
on the complementary log-log scale (Lin, Stat. Med. 16 (1997) 901-910; Marubini and Valsecchi (1995), section 10.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import pandas as pd

from dialframe.analytics.analyses.adjusted_effects import (
    ASSUMPTIONS,
    KEEP_PLACE,
    adjusted_rates,
    bounds,
    campaign_code,
    level_claims,
    levels_judged,
    unless_sorted,
    usual_factors,
)
from dialframe.analytics.analysis_result import Result, result_of
from dialframe.analytics.attempt.argument_checks import analysis, one_name
from dialframe.analytics.attempt.attempt_table import Attempts, count_attempts, source_level
from dialframe.analytics.attempt.frames_to_arrays import (
    DAY_US,
    NEVER,
    NO_TIME,
    Floats,
    Ints,
    Mask,
    earliest,
    micros,
    require,
    word_of,
)
from dialframe.analytics.attempt.lead_match import SOURCE, lead_groups, of_campaign
from dialframe.analytics.attempt.taxonomy import DEFAULT, Taxonomy
from dialframe.analytics.claims_and_tables import (
    Claim,
    bands,
    counted,
    median,
    plural,
    points,
    rated,
    share,
    sums,
    table,
    table_of_rows,
)
from dialframe.analytics.effects import Verdict, joined
from dialframe.analytics.inference import Z_95
from dialframe.instants import When

#: Steps that a curve is drawn with at most; more are thinned out evenly.
MOST_STEPS: Final = 400


@dataclass(frozen=True, slots=True, eq=False)
class Curves:
    """Step curves: each value holds from its day to the next.

    Attributes:
        day: Days at which something ended, from 0.
        at_risk: How many were still waiting just before.
        incidence: Of each kind of end, the share that it came to by then.
        low: Lower bound of the first kind's incidence.
        high: Its upper bound.
        survival: Share that would still wait if the first kind were the only end (Kaplan, Meier).
        median: Day by which half came to the first kind's end; NaN where they do not.
    """

    day: Floats
    at_risk: Ints
    incidence: tuple[Floats, ...]
    low: Floats
    high: Floats
    survival: Floats
    median: float


def curves(days: Floats, ending: Ints, kinds: int) -> Curves:
    """Cumulative incidence of several ends, of which one comes first.

    Args:
        days: How long each waited.
        ending: What ended it: 0 nothing yet, else 1 to `kinds`.
        kinds: How many kinds of ends there are.

    Returns:
        The curves at the days on which something ended, ties kept, thinned to `MOST_STEPS`.
    """
    at, code = np.unique(days, return_inverse=True)
    size = len(at)
    at_risk = np.bincount(code, minlength=size).astype(float)
    # Who waited as long as a day is still at risk on it: ties end together.
    risk = len(days) - np.concatenate([[0.0], np.cumsum(at_risk)[:-1]]) if size else np.zeros(0)
    ends = np.array([np.bincount(code, ending == k, size) for k in range(1, kinds + 1)])
    ends = ends.reshape(kinds, size)
    every = ends.sum(axis=0)
    # Kaplan and Meier's curve of any end, in which Aalen and Johansen's incidence is summed.
    waiting = np.cumprod(1 - every / np.maximum(risk, 1))
    before = np.concatenate([[1.0], waiting[:-1]]) if size else waiting
    incidence = np.cumsum(before * ends / np.maximum(risk, 1), axis=1)
    alone = np.cumprod(1 - ends[0] / np.maximum(risk, 1)) if kinds else np.ones(size)
    low, high = _bounds(incidence[0], before, ends[0], every, risk)
    half = np.flatnonzero(incidence[0] >= 0.5)
    keep = np.flatnonzero(every > 0)
    if len(keep) > MOST_STEPS:
        even = np.linspace(0, len(keep) - 1, MOST_STEPS).round().astype(np.int64)
        keep = keep[np.unique(even)]
    return Curves(
        np.append(0.0, at[keep]), np.append(len(days), risk[keep]).astype(np.int64),
        tuple(np.append(0.0, row[keep]) for row in incidence), np.append(0.0, low[keep]),
        np.append(0.0, high[keep]), np.append(1.0, alone[keep]),
        float(at[half[0]]) if len(half) else float("nan"),
    )  # fmt: skip


def _bounds(
    incidence: Floats, before: Floats, first_ends: Floats, all_ends: Floats, risk: Floats
) -> tuple[Floats, Floats]:
    """95% bounds of an incidence: Marubini and Valsecchi's variance, summed in one pass."""
    n = np.maximum(risk, 1)
    first = np.where(n > all_ends, all_ends / (n * np.maximum(n - all_ends, 1)), 0.0)
    # sum over j <= i of (F_i - F_j)^2 a_j = F_i^2 A_i - 2 F_i B_i + C_i
    a, b, c = (np.cumsum(first * incidence**k) for k in (0, 1, 2))
    second = np.cumsum(before**2 * (n - first_ends) * first_ends / n**3)
    third = before * first_ends / n**2
    d, e = np.cumsum(third), np.cumsum(third * incidence)
    variance = np.maximum(
        incidence**2 * a - 2 * incidence * b + c + second - 2 * (incidence * d - e), 0.0
    )
    inside = (incidence > 0) & (incidence < 1)
    safe = np.where(inside, incidence, 0.5)
    spread = Z_95 * np.sqrt(variance) / ((1 - safe) * np.abs(np.log1p(-safe)))
    log_hazard = np.log1p(-safe)
    low, high = (1 - np.exp(log_hazard * np.exp(s * spread)) for s in (-1, 1))
    return np.where(inside, low, incidence), np.where(inside, high, incidence)


_MIN_US: Final = 60_000_000
#: Minutes after arrival at which a new band of delay begins.
DELAYS_MIN: Final = (0, 5, 30, 60, 240, 1_440, 4_320, 10_080)
_DELAY_EDGES: Final = ("0", "5 min", "30 min", "1 h", "4 h", "1 d", "3 d", "7 d")
_DELAYS: Final = bands(_DELAY_EDGES)


@analysis
def speed_to_lead(
    calls: pd.DataFrame,
    leads: pd.DataFrame,
    *,
    by: str | Sequence[str] | None = None,
    goal: Literal["positive", "human", "right_party", "appointment", "conversion"] = "positive",
    source: str = SOURCE,
    min_calls: int = 30,
    alpha: float = 0.05,
    taxonomy: Taxonomy = DEFAULT,
    as_of: When | None = None,
    campaign: str | None = None,
) -> Result:
    """How long new leads wait for their first attempt, and what the wait costs.

    Leads are compared inside campaign, week of the first attempt and source, so that a form on the
    web that is dialed at once is not taken for the gain of dialing at once, and all have had the same
    time since; local hour, weekday and time zone of the first attempt are held still. Where waits do not vary
    inside these, nothing can be said of them.

    Args:
        calls: Frame of the calls table, or of `account.attempts()`.
        leads: Frame of the leads table, with `created_at`.
        by: Column or custom field to split the table `groups` by.
        goal: What a lead should come to; for `human` on its first attempt, else at
            any time.
        source: Column or custom field with the source.
        min_calls: Leads below which a band of waits is not compared.
        alpha: Chance of a difference where there is none.
        taxonomy: What the codes mean.
        as_of: What was known at this instant counts; by default the latest instant in the data.
        campaign: Leads and calls of this campaign only.

    Returns:
        One row per band of delay, from arrival to first attempt, and one for leads not dialed:
        `delay`, `numerator` (leads with the goal), `denominator` (leads), `rate`, `low`, `high`,
        `adjusted` (null where not compared). Table `groups` has, by the column or custom field
        `by`: `leads`, `dialed`, `median_min`, `within_5_min`.

    Raises:
        ConfigError: A column is missing, the campaign is unknown, or the goal is.
    """
    by = None if by is None else one_name(by)
    require(leads, ("created_at",), "leads")
    attempts = count_attempts(calls, leads, taxonomy=taxonomy, as_of=as_of, campaign=campaign)
    in_campaign = of_campaign(leads, attempts.campaign)
    first = earliest(attempts.lead, attempts.when, len(leads))
    created = micros(leads["created_at"])
    known = (first != NEVER) & (created != NO_TIME)
    wait = np.where(known, (np.where(known, first, 0) - np.where(known, created, 0)), -1)
    wait_min = np.where(known & (wait >= 0), wait / _MIN_US, np.nan)
    size = len(DELAYS_MIN)
    band = np.searchsorted(np.array(DELAYS_MIN, float), wait_min, side="right") - 1
    # Leads without a dial, and those dialed before they arrived, have bands of their own behind the waits.
    band = np.where(np.isnan(wait_min), np.where(known, size + 1, size), band)
    band = np.where(in_campaign, band, -1)
    opening = (attempts.attempt == 1) & (attempts.lead >= 0)
    hit = attempts.flag(goal) & (opening if goal == "human" else True)
    won = attempts.leads_with(hit)
    # Inside campaign, week and source: a web form is dialed at once and answers more, whatever the wait.
    band_of = np.append(band, -1)[attempts.lead]
    rows = np.flatnonzero(opening & (band_of >= 0) & (band_of < size))
    verdict = levels_judged(
        attempts, band_of[rows], size, min_calls, alpha, rows=rows, name="wait", family="cuts",
        hit=np.append(won, False)[attempts.lead], factors=usual_factors(attempts, "attempt", source=source),
        coarse=joined([campaign_code(attempts), source_level(attempts, source)[0]], len(attempts)),
    )  # fmt: skip
    # Who was dialed and has no arrival has waited for nobody knows how long.
    band = np.where((band == size) & (first != NEVER), size + 2, band)
    labels = [*_DELAYS, "not dialed", "dialed before arrival", "arrival not known"]
    adjusted = np.full(size + 3, np.nan)
    adjusted[:size] = adjusted_rates(verdict, size)[0]
    frame = table(
        {
            "delay": labels,
            **rated(sums(band, size + 3, won), sums(band, size + 3)),
            "adjusted": adjusted,
        }
    )
    middle = median(wait_min[in_campaign])
    median_words = (
        f"{middle:,.0f} minutes is the median" if not np.isnan(middle)
        else "when those dialed had arrived is not known" if (first[in_campaign] != NEVER).any()
        else "no lead was dialed"
    )  # fmt: skip
    claims = counted("leads", f"{plural(int(in_campaign.sum()), 'lead')}: {median_words}")
    (verdict,) = unless_sorted(attempts, verdict)
    if verdict is not None:
        claims += _wait_claims(verdict)
    words = (
        "on the first attempt reached a person" if goal == "human" else f"were {goal} at any time"
    )
    return result_of(
        attempts, "speed_to_lead", claims, frame,
        f"Leads by the time from their arrival to their first counted attempt; numerator: leads that "
        f"{words.replace('_', ' ')}",
        attempts.not_logged, tables={"groups": _group_waits(leads, by, wait_min, in_campaign)},
        parameters={"goal": goal, "min_calls": min_calls, "alpha": alpha, "source": source},
        assumptions=ASSUMPTIONS, of_people=True,
    )  # fmt: skip


#: What waits are adjusted for.
WAIT_ADJUSTED_FOR: Final = ("campaign", "week", "source", "hour", "weekday", "time zone")


def _wait_claims(verdict: Verdict) -> tuple[Claim, ...]:
    """What waiting does: the leads before and after the wait that parts them most."""
    if not verdict.differs:
        return level_claims(
            verdict, "wait", WAIT_ADJUSTED_FOR, what="the wait", words=lambda part: _DELAYS[part[-1]],
            others="the others",
            why_not=None if verdict.why_not == KEEP_PLACE
            else "each source is dialed after waits of its own, or too few leads were reached",
        )  # fmt: skip
    # Where a difference is certain, the cut that parts the leads most is what can be acted on.
    better, other = ("less", "more") if verdict.effect > 0 else ("more", "less")
    text = (
        f"The wait makes a difference: leads that wait {better} than {_DELAY_EDGES[verdict.part[-1] + 1]} are "
        f"better off by {points(abs(verdict.effect))} ({bounds(verdict.low, verdict.high)}) than those that "
        f"wait {other}, within campaign, week and source (p = {verdict.p:.2g})"
    )
    return (Claim("difference", "wait", verdict.effect, verdict.low, verdict.high, verdict.detectable,
                  WAIT_ADJUSTED_FOR, text, verdict.diagnostics),)  # fmt: skip


def _group_waits(
    leads: pd.DataFrame, by: str | None, wait_min: np.ndarray, in_campaign: Mask
) -> pd.DataFrame:
    code, names = lead_groups(leads, by)
    rows = []
    for i, name in enumerate(names):
        in_group = in_campaign & (code == i)
        waits = wait_min[in_group & ~np.isnan(wait_min)]
        rows.append((name, int(in_group.sum()), len(waits), median(waits), int((waits < 5).sum())))
    rows.sort(key=lambda row: (-row[1], row[0]))
    kinds = {"leads": int, "dialed": int, "median_min": float, "within_5_min": int}
    return table_of_rows({by or "group": str, **kinds}, rows)


#: What ends the wait for a first contact.
ENDINGS: Final = ("contact", "dnc", "invalid")


@analysis
def time_to_contact(
    calls: pd.DataFrame,
    leads: pd.DataFrame,
    *,
    by: str | Sequence[str] | None = None,
    entry: Literal["first_dial", "import"] = "first_dial",
    campaigns: pd.DataFrame | None = None,
    idle_days: float = 30.0,
    taxonomy: Taxonomy = DEFAULT,
    as_of: When | None = None,
    campaign: str | None = None,
) -> Result:
    """How long until a lead is reached, where numbers can prove dead and people can opt out first.

    A lead waits from its entry until a person answers, the number proves invalid, or it asks not to
    be called (of the last two, whichever was first); else it is censored at `as_of`. `reached` is the
    cumulative incidence of Aalen and Johansen: the share of all leads that was reached by a day.
    `without_other_ends` is one minus Kaplan and Meier's curve: what it would be if no number were
    dead, which is more than what was.

    Args:
        calls: Frame of the calls table, or of `account.attempts()`.
        leads: Frame of the leads table.
        by: Column or custom field to split by.
        entry: `first_dial` or `import`.
        campaigns: Frame of the campaigns table: leads of completed ones are no longer dialed.
        idle_days: Days without an attempt after which a lead counts as no longer dialed.
        taxonomy: What the codes mean.
        as_of: What was known at this instant counts; by default the latest instant in the data.
        campaign: Leads and calls of this campaign only.

    Returns:
        One row per group and day on which a wait ended: `group`, `day`, `at_risk`, `reached`, `low`,
        `high` (95%), `without_other_ends`, and the incidence of `dnc` and `invalid`. Table `groups`
        has `leads`, `contact`, `dnc`, `invalid`, `waiting` (may still be dialed), `given_up` (nobody
        dials them any more: completed or of a completed campaign, or idle), `median_days` (null
        where under half are reached).

    Raises:
        ConfigError: A column is missing, the campaign is unknown, or `entry` is another word.
    """
    by = None if by is None else one_name(by)
    require(leads, ("id", "created_at", "campaign_id"), "leads")
    attempts = count_attempts(calls, leads, taxonomy=taxonomy, as_of=as_of, campaign=campaign)
    days, ending, entered = _waits(attempts, leads, entry)
    over = (ending == 0) & _find_abandoned(attempts, leads, campaigns, idle_days)
    code, names = lead_groups(leads, by)
    parts, rows = [_curve(np.zeros(0), np.zeros(0, dtype=np.int64), "")[0].iloc[:0]], []
    for i, name in sorted(enumerate(names), key=lambda pair: pair[1]):
        in_group = entered & (code == i)
        if not in_group.any():
            continue
        curve, middle = _curve(days[in_group], ending[in_group], name)
        parts.append(curve)
        count = sums(ending[in_group], len(ENDINGS) + 1)
        gone = int(over[in_group].sum())
        rows.append(
            (name, int(in_group.sum()), *count[1:].tolist(), int(count[0]) - gone, gone, middle)
        )
    counts = dict.fromkeys(("leads", *ENDINGS, "waiting", "given_up"), int)
    groups = table_of_rows({"group": str, **counts, "median_days": float}, rows)
    total, reached, waiting, gone = (
        int(groups[name].sum()) for name in ("leads", "contact", "waiting", "given_up")
    )
    part = f" ({share(reached / total)})" if total else ""
    return result_of(
        attempts, "time_to_contact",
        f"{reached:,} of {plural(total, 'lead')} were reached{part}; {waiting:,} may still be, and "
        f"{gone:,} are no longer dialed",
        pd.concat(parts, ignore_index=True),
        f"Days from {entry.replace('_', ' ')} to the first call that a person answered; competing "
        "ends: a request not to be called, a number that is not in service",
        {("not_entered", "leads"): int((~entered).sum())},
        {"not_entered": "not dialed, of another campaign, or without a date"},
        tables={"groups": groups}, parameters={"by": by, "entry": entry, "idle_days": idle_days},
        assumptions=("a lead that is not dialed any more would have been reached like those that are",),
        of_people=True,
    )  # fmt: skip


def _curve(days: Floats, ending: Ints, name: str) -> tuple[pd.DataFrame, float]:
    curve = curves(days, ending, len(ENDINGS))
    frame = table(
        {
            "group": [name] * len(curve.day),
            "day": curve.day,
            "at_risk": curve.at_risk,
            "reached": curve.incidence[0],
            "low": curve.low,
            "high": curve.high,
            "without_other_ends": 1 - curve.survival,
            **dict(zip(ENDINGS[1:], curve.incidence[1:], strict=True)),
        }
    )
    return frame, curve.median


def _find_abandoned(
    attempts: Attempts, leads: pd.DataFrame, campaigns: pd.DataFrame | None, idle_days: float
) -> Mask:
    """Leads that nobody dials any more."""
    ends = attempts.as_of_us
    last = np.full(len(leads) + 1, NO_TIME)
    np.maximum.at(last, attempts.lead, attempts.when)
    tried = last[:-1] != NO_TIME
    # Idle for long: a dialer has no reason to come back, and the service does not say that it will not.
    gone = tried & (np.where(tried, last[:-1], ends) < ends - round(idle_days * DAY_US))
    gone |= attempts.leads_with(attempts.flag("final"))
    if "status" in leads.columns:
        # Two of the five states of a lead (contract, Other statuses) say that it is dialed no more.
        gone |= word_of(leads["status"], ("completed", "dnc")) >= 0
    if campaigns is not None and "status" in campaigns.columns:
        require(campaigns, ("id",), "campaigns")
        over = campaigns["id"][word_of(campaigns["status"], ("completed", "archived")) >= 0]
        gone |= np.asarray(leads["campaign_id"].isin(over), dtype=bool)
    return np.asarray(gone, dtype=bool)


def _waits(attempts: Attempts, leads: pd.DataFrame, entry: str) -> tuple[Floats, Ints, Mask]:
    """Days waited by each lead, what ended it (0: nothing, else 1 + place in `ENDINGS`), and who waits."""
    at, lead = attempts.when, attempts.lead
    marks = [
        attempts.flag("human"),
        attempts.classes.dnc_request[attempts.rows],
        attempts.is_class("disconnected"),
    ]
    dialed, *firsts = (
        earliest(lead[mask], at[mask], len(leads))
        for mask in [np.ones(len(attempts), dtype=bool), *marks]
    )
    # From the import on leads wait that nobody has dialed yet; from the first dial on only those who were tried.
    start = dialed if entry == "first_dial" else micros(leads["created_at"])
    entered = (start != NEVER) & (start != NO_TIME)
    # A request is made by a person who answered: it is the end where no contact came before it.
    contact, asked, bad = firsts
    first_end = np.minimum(np.minimum(contact, asked), bad)
    ending = np.select(
        [first_end == NEVER, asked == first_end, contact == first_end], [0, 2, 1], default=3
    )
    over = np.where(first_end == NEVER, attempts.as_of_us, first_end)
    days = np.where(entered, over - np.where(entered, start, 0), -1) / DAY_US
    return days, ending, entered & (days >= 0) & of_campaign(leads, attempts.campaign)
