"""Metrics of leads and calls: how many were dialed, reached, won, and when; how many calls connected.

A function here bears the name of its metric and says of which rows it is the sum; `from_rows` does the sums.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dialframe.analytics.analyses.telephony import (
    LONGEST_RING_S,
    TOLERANCE_S,
    length_fits,
    rejected,
)
from dialframe.analytics.attempt.frames_to_arrays import (
    NO_TIME,
    Floats,
    Ints,
    Mask,
    arrow,
    earliest,
    import_answers,
    micros,
    numbered,
    require,
)
from dialframe.analytics.attempt.taxonomy import BY_NAME
from dialframe.analytics.claims_and_tables import median, ratio, table
from dialframe.analytics.metrics.metric_types import Inputs, Measure, Rows, from_rows
from dialframe.errors import ConfigError


def import_acceptance(inputs: Inputs) -> Measure:
    """Accepted records of those that imports received."""
    imports = inputs.imports
    assert imports is not None  # noqa: S101 - `measured` has seen to it
    rows = imports
    if inputs.campaign is not None and "campaign_id" in rows.columns:
        rows = rows[rows["campaign_id"] == inputs.campaign]
    status, accepted, refused = import_answers(rows)
    known = accepted | refused
    reasons = {f"refused_{name}": int(n) for name, n in status[refused].value_counts().items()}
    excluded = {"import_unknown": int((~known).sum()), **reasons}
    cut = Rows("other", accepted, known, frame=rows,
               at=micros(rows["created_at"]) if "created_at" in rows.columns else None)  # fmt: skip
    return from_rows(inputs, cut, excluded)


def list_penetration(inputs: Inputs) -> Measure:
    """Leads with an attempt, of leads loaded."""
    return _leads(inputs, _flagged(inputs, ""))


def list_saturation(inputs: Inputs) -> Measure:
    """Attempts per lead loaded."""
    lead = inputs.attempts.lead
    of_lead = np.bincount(lead[lead >= 0], minlength=len(inputs.loaded))
    measure = from_rows(inputs, Rows("lead", of_lead, inputs.loaded, "mean"), _unmatched(inputs))
    # The bounds are those of the normal distribution, which goes below no attempt at all.
    return measure if measure.low is None else replace(measure, low=max(measure.low, 0.0))


def phone_penetration(inputs: Inputs) -> Measure:
    """Distinct loaded numbers that were dialed, of distinct numbers loaded."""
    leads = inputs.leads
    assert leads is not None  # noqa: S101 - `measured` has seen to it
    code, names = numbered(leads["phone"])
    dialed = arrow(inputs.attempts.calls["to_number"]).take(inputs.attempts.rows)
    tried = pc.is_in(pa.array(names, dialed.type), value_set=pc.unique(dialed))
    missing = int((leads["phone"].isna() & inputs.loaded).sum())
    rows = Rows("lead", np.append(np.asarray(tried, dtype=bool), False)[code],
                inputs.loaded & (code >= 0), "distinct", key=np.maximum(code, 0))  # fmt: skip
    return from_rows(inputs, rows, {"no_phone": missing})


def inventory_penetration(inputs: Inputs) -> Measure:
    """Leads that are no longer dialed, of leads loaded."""
    status, attempts = _states(inputs)
    # The states in which a lead waits for a call (contract, Other statuses): VICIdial's dialable leads.
    going = np.isin(status, ["new", "callback"])
    if inputs.choices.recycle_contacted:
        going |= status == "contacted"
    if inputs.choices.attempt_cap is not None:
        going &= attempts < inputs.choices.attempt_cap
    used = ("attempt_cap", "recycle_contacted")
    return from_rows(inputs, Rows("lead", ~going, inputs.loaded), used=used)


def completed_penetration(inputs: Inputs) -> Measure:
    """Leads that are completed or at the attempt cap, of leads loaded."""
    status, attempts = _states(inputs)
    done = status == "completed"
    if inputs.choices.attempt_cap is not None:
        done |= attempts >= inputs.choices.attempt_cap
    return from_rows(inputs, Rows("lead", done, inputs.loaded), used=("attempt_cap",))


def conversion_per_lead(inputs: Inputs) -> Measure:
    """Leads converted, of leads loaded."""
    return _leads(inputs, converted(inputs), used=("conversions",))


def first_conversions(below: str = "") -> Callable[[Inputs], Measure]:
    """The metric of first conversions, of attempts with a flag; of all attempts without one."""

    def measure(inputs: Inputs) -> Measure:
        attempts, hit = inputs.attempts, converted(inputs)
        # A lead is won once: further conversions of it count for nothing.
        first = np.asarray(hit & (attempts.first_attempt(hit) == attempts.attempt))
        return _calls(inputs, first, _flagged(inputs, below), used=("conversions",))

    return measure


def pass_contact_rate(inputs: Inputs) -> Measure:
    """Leads that a person answered for on attempt k, of leads loaded."""
    k = inputs.choices.pass_number
    hit = inputs.attempts.flag("human") & (inputs.attempts.attempt == k)
    return _leads(inputs, hit, used=("pass_number",))


def pass_hazard(inputs: Inputs) -> Measure:
    """Leads first reached on attempt k, of leads not reached before that had an attempt k."""
    k, attempts = inputs.choices.pass_number, inputs.attempts
    first = inputs.attempts.first_ever("human")
    base = (attempts.attempt == k) & (attempts.lead >= 0) & ((first == 0) | (first >= k))
    rows = Rows("call", base & (first == k), base)
    # One row per lead: there is nothing to be clustered by.
    return from_rows(inputs, rows, _unmatched(inputs), alone=True, used=("pass_number",))


def attempts_to_contact(inputs: Inputs) -> Measure:
    """Median attempt of the first contact, of leads with one."""
    first = inputs.attempts.first_ever("human")
    is_first = (inputs.attempts.attempt == 1) & (inputs.attempts.lead >= 0)
    excluded = {**_unmatched(inputs), "never_reached": int((is_first & (first == 0)).sum())}
    rows = Rows("call", first.astype(float), is_first & (first > 0), "median")
    return from_rows(inputs, rows, excluded)


def first_dial_s(inputs: Inputs) -> tuple[Floats, Mask]:
    """Seconds from each loaded lead's arrival to its first attempt, NaN without; and which were dialed before it."""
    leads, attempts = inputs.leads, inputs.attempts
    assert leads is not None  # noqa: S101 - `measured` has seen to it
    require(leads, ("created_at",), "leads")
    first = earliest(attempts.lead, attempts.when, len(leads))
    created = micros(leads["created_at"])
    known = inputs.leads_with(_flagged(inputs, "")) & (created != NO_TIME)
    waited = np.where(
        known, (np.where(known, first, 0) - np.where(known, created, 0)) / 1e6, np.nan
    )
    early = waited < 0
    return np.where(early, np.nan, waited), early


def speed_to_lead(inputs: Inputs) -> Measure:
    """Median seconds from arrival to first attempt."""
    waited, early = first_dial_s(inputs)
    known = ~np.isnan(waited)
    excluded = {"not_dialed": int(inputs.loaded.sum() - known.sum() - early.sum()),
                "dialed_before_arrival": int(early.sum())}  # fmt: skip
    quarters = np.percentile(waited[known], [25, 75, 90]) if known.any() else np.full(3, np.nan)
    names = ("p25_s", "p75_s", "p90_s")
    detail = table({name: quarters[i : i + 1] for i, name in enumerate(names)})
    rows = Rows("lead", np.nan_to_num(waited), known, "median")
    return from_rows(inputs, rows, excluded, detail=detail)


def quick_first_dial(inputs: Inputs) -> Measure:
    """Leads dialed within a few minutes of their arrival, of leads loaded."""
    waited, early = first_dial_s(inputs)
    rows = Rows("lead", waited < inputs.choices.quick_min * 60, inputs.loaded & ~early)
    excluded = {"dialed_before_arrival": int(early.sum())}
    return from_rows(inputs, rows, excluded, used=("quick_min",))


def converted(inputs: Inputs) -> Mask:
    """Attempts that ended in what the campaign is for."""
    odd = [name for name in inputs.choices.conversions if name not in BY_NAME]
    if odd:
        raise ConfigError(f"conversions: {odd[0]!r} is not an outcome class")
    return inputs.attempts.is_class(*inputs.choices.conversions)


def _leads(inputs: Inputs, hit: Mask, used: tuple[str, ...] = ()) -> Measure:
    """Leads with an attempt that hit, of leads loaded."""
    rows = Rows("lead", inputs.leads_with(hit), inputs.loaded)
    return from_rows(inputs, rows, _unmatched(inputs), used=used)


def _states(inputs: Inputs) -> tuple[np.ndarray, Ints]:
    """Status and attempts of each lead by the service's own word (contract, Lead)."""
    leads = inputs.leads
    assert leads is not None  # noqa: S101 - `measured` has seen to it
    require(leads, ("status", "attempts"), "leads")
    status = leads["status"].astype("str").fillna("").to_numpy(dtype=object)
    return status, leads["attempts"].to_numpy(dtype=float, na_value=0).astype(np.int64)


def _unmatched(inputs: Inputs) -> dict[str, int]:
    """Attempts that no lead can be given, by how that came."""
    matched = inputs.attempts.matched
    rows = inputs.attempts.rows
    return {
        name: int(matched.quality_is(quality)[rows].sum())
        for name, quality in (("ambiguous", "ambiguous"), ("no_lead", "none"))
    }


def _flagged(inputs: Inputs, flag: str) -> Mask:
    """Attempts with a flag; all of them without one."""
    return inputs.attempts.flag(flag) if flag else np.ones(len(inputs.attempts), dtype=bool)


def _calls(
    inputs: Inputs,
    hit: Mask,
    base: Mask,
    excluded: dict[str, int] | None = None,
    used: tuple[str, ...] = (),
) -> Measure:
    """A share of calls: the interval is clustered by lead, or by number where there is no lead."""
    return from_rows(inputs, Rows("call", hit & base, base), excluded, used=used)


def calls_with(flag: str, below: str = "") -> Callable[[Inputs], Measure]:
    """The metric of calls with a flag, of calls with another one; of all attempts without.

    Args:
        flag: Flag of the outcome class above the line.
        below: Flag below the line.
    """

    def measure(inputs: Inputs) -> Measure:
        # Whether a call was answered is known of all; by whom is not.
        unknown = {} if flag == "answered" else _open(inputs)
        return _calls(inputs, inputs.attempts.flag(flag), _flagged(inputs, below), unknown)

    return measure


def leads_with(flag: str) -> Callable[[Inputs], Measure]:
    """The metric of leads with an attempt of a flag, of leads loaded."""
    return lambda inputs: _leads(inputs, inputs.attempts.flag(flag))


def network_effectiveness(inputs: Inputs) -> Measure:
    """Answered, busy, ring without answer and rejected by the person, of attempts."""
    attempts, by_person = inputs.attempts, rejected(inputs.attempts)
    # ITU-T E.425: the network has done its work where the person called did not want or did not come.
    effective = attempts.flag("answered") | attempts.is_class("busy", "no_answer") | by_person
    blocked = attempts.is_class("blocked_or_rejected") & ~by_person
    return _calls(
        inputs, effective, _flagged(inputs, ""), {"blocked_on_the_way": int(blocked.sum())}
    )


def human_contact_rate_valid(inputs: Inputs) -> Measure:
    """A person answered, of attempts on numbers that are in service."""
    bad = inputs.attempts.is_class("disconnected")
    excluded = {**_open(inputs), "bad_number": int(bad.sum())}
    return _calls(inputs, inputs.attempts.flag("human"), ~bad, excluded)


def _mean(inputs: Inputs, values: Floats, excluded: dict[str, int], **medians: float) -> Measure:
    """A mean over calls whose value is known (not NaN), with medians beside it."""
    rows = Rows("call", np.nan_to_num(values), ~np.isnan(values), "mean")
    detail = table({name: np.array([value]) for name, value in medians.items()})
    return from_rows(inputs, rows, excluded, detail=detail)


def talk_time(inputs: Inputs) -> Measure:
    """Mean seconds from answer to end."""
    answered = inputs.attempts.flag("answered")
    values = np.where(answered, inputs.attempts.talk_s, np.nan)
    unknown = int((answered & np.isnan(values)).sum())
    return _mean(inputs, values, {"no_length": unknown}, median_s=median(values))


def duration_meaning(inputs: Inputs) -> Measure:
    """Share of answered calls whose `duration_seconds` is the talk rather than the whole call."""
    fits = length_fits(inputs.attempts)
    # Where both are as near, the length tells nothing of what it counts.
    tells_apart = fits.known & (np.abs(fits.to_talk - fits.to_whole) > TOLERANCE_S)
    talk = tells_apart & (fits.to_talk < fits.to_whole)
    detail = table({
        "median_off_talk_s": np.array([median(fits.to_talk[fits.known])]),
        "median_off_whole_s": np.array([median(fits.to_whole[fits.known])]),
    })  # fmt: skip
    excluded = {"no_duration": fits.unknown, "both_fit": int((fits.known & ~tells_apart).sum())}
    return from_rows(inputs, Rows("call", talk, tells_apart), excluded, alone=True, detail=detail)


def short_call_share(inputs: Inputs) -> Measure:
    """Answered calls of a few seconds, of answered calls."""
    attempts, limit = inputs.attempts, inputs.choices.short_call_s
    answered = attempts.flag("answered")
    known = answered & ~np.isnan(attempts.talk_s)
    short = np.nan_to_num(attempts.talk_s, nan=np.inf) <= limit
    excluded = {"no_length": int((answered & ~known).sum())}
    return _calls(inputs, short, known, excluded, used=("short_call_s",))


def ring_time(inputs: Inputs) -> Measure:
    """Mean seconds of ringing, with the median beside it."""
    ring = inputs.attempts.ring_s
    negative, long = ring < 0, ring > LONGEST_RING_S
    # Over two minutes it is queueing most likely: no network rings so long.
    kept = np.where(negative | long, np.nan, ring)
    excluded = {
        "ring_unknown": int(np.isnan(ring).sum()),
        "ring_negative": int(negative.sum()),
        "ring_over_120_s": int(long.sum()),
    }
    answered = inputs.attempts.flag("answered")
    return _mean(
        inputs, kept, excluded, median_s=median(kept), median_answered_s=median(kept[answered]),
        median_unanswered_s=median(kept[~answered]),
    )  # fmt: skip


def bad_number_ratio(inputs: Inputs) -> Measure:
    """Attempts on numbers that are not in service."""
    return _calls(inputs, inputs.attempts.is_class("disconnected"), _flagged(inputs, ""))


def bad_number_ratio_numbers(inputs: Inputs) -> Measure:
    """Distinct numbers dialed that were found not to be in service."""
    number, _ = inputs.attempts.numbered("to_number")
    off = inputs.attempts.is_class("disconnected")
    rows = Rows("call", off, number >= 0, "distinct", key=np.maximum(number, 0))
    return from_rows(inputs, rows)


def abandon_rate_ftc(inputs: Inputs) -> Measure:
    """Calls that a person answered and no agent took, of calls that a person answered."""
    attempts, days = inputs.attempts, inputs.choices.abandon_days
    # The safe harbor is measured over 30 days of a campaign (16 CFR 310.4(b)(4)(i)).
    recent = attempts.when > inputs.attempts.as_of_us - int(days * 86_400e6)
    dropped, human = attempts.is_class("dropped_by_us"), attempts.flag("human") & recent
    used = ("abandon_days",)
    if not dropped.any():
        return _no_drops(int(human.sum()), used)
    return _calls(inputs, dropped & recent, human, {"older": int((~recent).sum())}, used)


def abandon_rate_ofcom(inputs: Inputs) -> Measure:
    """Drops less those that machines answered, of live answers and these drops."""
    attempts = inputs.attempts
    lost, human = attempts.is_class("dropped_by_us"), attempts.flag("human")
    live = human & ~lost
    if not lost.any():
        return _no_drops(int(live.sum()), ())
    rows = Rows("call", lost, _flagged(inputs, ""), "formula", formula=_ofcom,
                parts=(lost, live, attempts.flag("machine")))  # fmt: skip
    return from_rows(inputs, rows)


def _ofcom(lost: Floats, live: Floats, machines: Floats) -> tuple[Floats, Floats, Floats]:
    """Share, adjusted drops and their base of each cell."""
    # A drop may have met a machine: as large a part of them as of all answers is taken off.
    adjusted = lost * (1 - np.nan_to_num(ratio(machines, live + machines)))
    return ratio(adjusted, live + adjusted), adjusted, live + adjusted


def _no_drops(people: int, used: tuple[str, ...]) -> Measure:
    why = (
        "no call carries an outcome that means dropped by us, so whether calls were abandoned "
        "cannot be told; map the code of a drop, or measure it where the calls are placed"
    )
    return Measure(None, None, people, used=used, why_null=why)


def _open(inputs: Inputs) -> dict[str, int]:
    """Calls of which nothing says who answered: they count as not reached."""
    return {"answered_by_unknown": int(inputs.attempts.is_class("connected_unknown").sum())}
