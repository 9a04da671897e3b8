"""Metrics of leads and calls: how many were dialed, reached, won, and when; how many calls connected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dialframe.analytics.analyses.telephony import LONGEST_RING_S, rejected
from dialframe.analytics.attempt.frames_to_arrays import (
    NO_TIME,
    Floats,
    Ints,
    Mask,
    arrow,
    micros,
    numbered,
    require,
)
from dialframe.analytics.attempt.taxonomy import BY_NAME
from dialframe.analytics.claims_and_tables import median, ratio, table
from dialframe.analytics.inference import clustered_mean
from dialframe.analytics.metrics.metric_types import (
    Inputs,
    Measure,
    Rows,
    call_mean,
    call_share,
    share,
)
from dialframe.errors import ConfigError


def acceptance(inputs: Inputs) -> Measure:
    """Accepted records of those that imports received."""
    imports = inputs.imports
    assert imports is not None  # noqa: S101 - `measured` has seen to it
    require(imports, ("status",), "imports")
    rows = imports
    if inputs.campaign is not None and "campaign_id" in rows.columns:
        rows = rows[rows["campaign_id"] == inputs.campaign]
    status = rows["status"].astype("str").str.casefold().fillna("unknown")
    known = status[status != "unknown"]
    refused = {f"refused_{name}": int(n) for name, n in known.value_counts().items()}
    refused.pop("refused_accepted", None)
    excluded = {"import_unknown": len(status) - len(known), **refused}
    statuses = status.to_numpy(dtype=object)
    cut = Rows("other", statuses == "accepted", statuses != "unknown", frame=rows,
               at=micros(rows["created_at"]) if "created_at" in rows.columns else None)  # fmt: skip
    return share(int((known == "accepted").sum()), len(known), excluded, rows=cut)


def list_penetration(inputs: Inputs) -> Measure:
    """Leads with an attempt, of leads loaded."""
    dialed = inputs.leads_with(np.ones(len(inputs.attempts), dtype=bool))
    rows = Rows("lead", dialed, inputs.loaded)
    return share(int(dialed.sum()), int(inputs.loaded.sum()), _unmatched(inputs), rows=rows)


def list_saturation(inputs: Inputs) -> Measure:
    """Attempts per lead loaded."""
    lead = inputs.attempts.lead
    of_lead = np.bincount(lead[lead >= 0], minlength=len(inputs.loaded))
    attempts_of_lead = of_lead[inputs.loaded]
    if not len(attempts_of_lead):
        return Measure(None, 0, 0, interval="mean over leads", excluded=_unmatched(inputs))
    mean, low, high = clustered_mean(
        attempts_of_lead.astype(float), np.arange(len(attempts_of_lead))
    ) or (0.0, 0.0, 0.0)
    bounded = not np.isnan(low)
    return Measure(
        mean,
        int(attempts_of_lead.sum()),
        len(attempts_of_lead),
        max(low, 0.0) if bounded else None,
        high if bounded else None,
        "mean over leads",
        _unmatched(inputs),
        rows=Rows("lead", of_lead.astype(float), inputs.loaded, "mean"),
    )


def phone_penetration(inputs: Inputs) -> Measure:
    """Distinct loaded numbers that were dialed, of distinct numbers loaded."""
    leads = inputs.leads
    assert leads is not None  # noqa: S101 - `measured` has seen to it
    loaded = pc.unique(arrow(leads["phone"][inputs.loaded]).drop_null())
    dialed = arrow(inputs.attempts.calls["to_number"]).take(inputs.attempts.rows)
    dialed_places = pc.unique(pc.index_in(dialed, value_set=loaded).drop_null())
    missing = int((leads["phone"].isna() & inputs.loaded).sum())
    code, names = numbered(leads["phone"])
    reached = pc.is_in(pa.array(names, loaded.type), value_set=loaded.take(dialed_places))
    tried = np.append(np.asarray(reached, dtype=bool), False)
    rows = Rows(
        "lead", tried[code], inputs.loaded & (code >= 0), "distinct", key=np.maximum(code, 0)
    )
    return share(len(dialed_places), len(loaded), {"no_phone": missing}, rows=rows)


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
    loaded = inputs.loaded
    rows = Rows("lead", ~going, loaded)
    return share(int((~going & loaded).sum()), int(loaded.sum()), used=used, rows=rows)


def completed_penetration(inputs: Inputs) -> Measure:
    """Leads that are completed or at the attempt cap, of leads loaded."""
    status, attempts = _states(inputs)
    done = status == "completed"
    if inputs.choices.attempt_cap is not None:
        done |= attempts >= inputs.choices.attempt_cap
    loaded = inputs.loaded
    rows = Rows("lead", done, loaded)
    return share(int((done & loaded).sum()), int(loaded.sum()), used=("attempt_cap",), rows=rows)


def leads_with(flag: str) -> Callable[[Inputs], Measure]:
    """The metric of leads with an attempt of a flag, of leads loaded."""
    return lambda inputs: _per_lead(inputs, inputs.attempts.flag(flag))


def conversion_per_lead(inputs: Inputs) -> Measure:
    """Leads converted, of leads loaded."""
    return _per_lead(inputs, converted(inputs), used=("conversions",))


def first_conversions(below: str = "") -> Callable[[Inputs], Measure]:
    """The metric of first conversions, of attempts with a flag; of all attempts without one."""

    def measure(inputs: Inputs) -> Measure:
        attempts, hit = inputs.attempts, converted(inputs)
        # A lead is won once: further conversions of it count for nothing.
        best = np.full(int(attempts.cluster.max(initial=0)) + 1, np.iinfo(np.int64).max)
        np.minimum.at(best, attempts.cluster[hit], attempts.attempt[hit].astype(np.int64))
        first = np.asarray(hit & (best[attempts.cluster] == attempts.attempt))
        return call_share(inputs, first, _flagged(inputs, below), used=("conversions",))

    return measure


def pass_contact(inputs: Inputs) -> Measure:
    """Leads that a person answered for on attempt k, of leads loaded."""
    k = inputs.choices.pass_number
    hit = inputs.attempts.flag("human") & (inputs.attempts.attempt == k)
    return _per_lead(inputs, hit, used=("pass_number",))


def pass_hazard(inputs: Inputs) -> Measure:
    """Leads first reached on attempt k, of leads not reached before that had an attempt k."""
    k, attempts = inputs.choices.pass_number, inputs.attempts
    first = first_contact(inputs)
    base = (attempts.attempt == k) & (attempts.lead >= 0) & ((first == 0) | (first >= k))
    used = ("pass_number",)
    rows = Rows("call", base & (first == k), base)
    return share(
        int((base & (first == k)).sum()), int(base.sum()), _unmatched(inputs), used=used, rows=rows
    )


def attempts_to_contact(inputs: Inputs) -> Measure:
    """Median attempt of the first contact, of leads with one."""
    first = first_contact(inputs)
    lead = inputs.attempts.lead
    is_first = (inputs.attempts.attempt == 1) & (lead >= 0)
    numbers = first[is_first & (first > 0)]
    value = float(np.median(numbers)) if len(numbers) else None
    excluded = {**_unmatched(inputs), "never_reached": int((is_first & (first == 0)).sum())}
    rows = Rows("call", first.astype(float), is_first & (first > 0), "median")
    return Measure(value, None, len(numbers), excluded=excluded, rows=rows)


def first_contact(inputs: Inputs) -> Ints:
    """For each attempt, at which attempt its lead was first reached; 0 where never."""
    whole = inputs.attempts.ever
    never = np.iinfo(np.int64).max
    first = np.full(int(whole.cluster.max(initial=0)) + 1, never)
    human = whole.flag("human")
    np.minimum.at(first, whole.cluster[human], whole.attempt[human].astype(np.int64))
    first_of_lead = first[whole.cluster]
    return inputs.attempts.of_history(np.where(first_of_lead == never, 0, first_of_lead))


def first_dial_s(inputs: Inputs) -> tuple[Floats, int]:
    """Seconds from each loaded lead's arrival to its first attempt, NaN without; and how many before it."""
    leads, attempts = inputs.leads, inputs.attempts
    assert leads is not None  # noqa: S101 - `measured` has seen to it
    require(leads, ("created_at",), "leads")
    never = np.iinfo(np.int64).max
    first = np.full(len(leads) + 1, never)
    np.minimum.at(first, attempts.lead, attempts.when)
    created = micros(leads["created_at"])
    known = (first[:-1] != never) & (created != NO_TIME) & inputs.loaded
    waited = np.where(
        known, (np.where(known, first[:-1], 0) - np.where(known, created, 0)) / 1e6, np.nan
    )
    early = waited < 0
    return np.where(early, np.nan, waited), int(early.sum())


def speed_to_lead(inputs: Inputs) -> Measure:
    """Median seconds from arrival to first attempt."""
    waited, early = first_dial_s(inputs)
    known = ~np.isnan(waited)
    excluded = {"not_dialed": int(inputs.loaded.sum() - known.sum()) - early,
                "dialed_before_arrival": early}  # fmt: skip
    value = None if not known.any() else median(waited)
    quarters = np.percentile(waited[known], [25, 75, 90]) if known.any() else np.full(3, np.nan)
    names = ("p25_s", "p75_s", "p90_s")
    detail = table({name: quarters[i : i + 1] for i, name in enumerate(names)})
    rows = Rows("lead", np.nan_to_num(waited), known, "median")
    return Measure(value, None, int(known.sum()), excluded=excluded, detail=detail, rows=rows)


def quick_first_dial(inputs: Inputs) -> Measure:
    """Leads dialed within a few minutes of their arrival, of leads loaded."""
    waited, early = first_dial_s(inputs)
    quick = waited < inputs.choices.quick_min * 60
    n = int(inputs.loaded.sum()) - early
    late = ~np.isnan(waited) | inputs.loaded
    rows = Rows("lead", quick, late & inputs.loaded)
    return share(
        int(quick.sum()), n, {"dialed_before_arrival": early}, used=("quick_min",), rows=rows
    )


def converted(inputs: Inputs) -> Mask:
    """Attempts that ended in what the campaign is for."""
    odd = [name for name in inputs.choices.conversions if name not in BY_NAME]
    if odd:
        raise ConfigError(f"conversions: {odd[0]!r} is not an outcome class")
    return inputs.attempts.is_class(*inputs.choices.conversions)


def _per_lead(inputs: Inputs, hit: Mask, used: tuple[str, ...] = ()) -> Measure:
    reached = inputs.leads_with(hit)
    rows = Rows("lead", reached, inputs.loaded)
    return share(
        int(reached.sum()), int(inputs.loaded.sum()), _unmatched(inputs), used=used, rows=rows
    )


def _states(inputs: Inputs) -> tuple[np.ndarray, Ints]:
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


_TOLERANCE_S: Final = 1.5


def _flagged(inputs: Inputs, flag: str) -> Mask:
    """Attempts with a flag; all of them without one."""
    return inputs.attempts.flag(flag) if flag else np.ones(len(inputs.attempts), dtype=bool)


def calls_with(
    flag: str, below: str = "", *, notes_unknown: bool = True
) -> Callable[[Inputs], Measure]:
    """The metric of calls with a flag, of calls with another one; of all attempts without.

    Args:
        flag: Flag of the outcome class above the line.
        below: Flag below the line.
        notes_unknown: Whether calls are noted of which nothing says who answered.
    """
    return lambda inputs: call_share(
        inputs, inputs.attempts.flag(flag), _flagged(inputs, below),
        _open(inputs) if notes_unknown else None,
    )  # fmt: skip


def network_effectiveness(inputs: Inputs) -> Measure:
    """Answered, busy, ring without answer and rejected by the person, of attempts."""
    attempts = inputs.attempts
    effective = (
        attempts.flag("answered") | attempts.is_class("busy", "no_answer") | rejected(attempts)
    )
    blocked = attempts.is_class("blocked_or_rejected") & ~rejected(attempts)
    return call_share(
        inputs, effective, _flagged(inputs, ""), {"blocked_on_the_way": int(blocked.sum())}
    )


def human_per_valid(inputs: Inputs) -> Measure:
    """A person answered, of attempts on numbers that are in service."""
    bad = inputs.attempts.is_class("disconnected")
    excluded = {**_open(inputs), "bad_number": int(bad.sum())}
    return call_share(inputs, inputs.attempts.flag("human"), ~bad, excluded)


def talk_time(inputs: Inputs) -> Measure:
    """Mean seconds from answer to end."""
    answered = inputs.attempts.flag("answered")
    values = np.where(answered, inputs.attempts.talk_s, np.nan)
    unknown = int((answered & np.isnan(values)).sum())
    detail = table({"median_s": np.array([median(values)])})
    return call_mean(inputs, values, {"no_length": unknown}, detail=detail)


def duration_meaning(inputs: Inputs) -> Measure:
    """Share of answered calls whose `duration_seconds` is the talk rather than the whole call."""
    attempts = inputs.attempts
    reported = attempts.column("duration_seconds")
    duration = reported.to_numpy(dtype=float, na_value=np.nan)
    to_talk = np.abs(duration - attempts.talk_s)
    to_whole = np.abs(duration - attempts.talk_s - attempts.ring_s)
    answered = attempts.flag("answered")
    known = answered & ~np.isnan(to_talk) & ~np.isnan(to_whole)
    tells_apart = known & (np.abs(to_talk - to_whole) > _TOLERANCE_S)
    talk = tells_apart & (to_talk < to_whole)
    detail = table(
        {
            "median_off_talk_s": np.array([median(to_talk[known])]),
            "median_off_whole_s": np.array([median(to_whole[known])]),
        }
    )
    excluded = {
        "no_duration": int((answered & ~known).sum()),
        "both_fit": int((known & ~tells_apart).sum()),
    }
    rows = Rows("call", talk, tells_apart)
    return share(int(talk.sum()), int(tells_apart.sum()), excluded, detail=detail, rows=rows)


def short_calls(inputs: Inputs) -> Measure:
    """Answered calls of a few seconds, of answered calls."""
    attempts, limit = inputs.attempts, inputs.choices.short_call_s
    answered = attempts.flag("answered")
    known = answered & ~np.isnan(attempts.talk_s)
    short = np.nan_to_num(attempts.talk_s, nan=np.inf) <= limit
    excluded = {"no_length": int((answered & ~known).sum())}
    return call_share(inputs, short, known, excluded, used=("short_call_s",))


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
    detail = table(
        {
            "median_s": np.array([median(kept)]),
            "median_answered_s": np.array([median(kept[answered])]),
            "median_unanswered_s": np.array([median(kept[~answered])]),
        }
    )
    return call_mean(inputs, kept, excluded, detail=detail)


def bad_numbers_per_attempt(inputs: Inputs) -> Measure:
    """Attempts on numbers that are not in service."""
    return call_share(inputs, inputs.attempts.is_class("disconnected"), _flagged(inputs, ""))


def bad_numbers_per_number(inputs: Inputs) -> Measure:
    """Distinct numbers dialed that were found not to be in service."""
    attempts = inputs.attempts
    number, names = attempts.numbered("to_number")
    off = attempts.is_class("disconnected")
    bad = np.unique(number[off & (number >= 0)])
    rows = Rows("call", off, number >= 0, "distinct", key=np.maximum(number, 0))
    return share(len(bad), len(names), rows=rows)


def abandoned_of_people(inputs: Inputs) -> Measure:
    """Calls that a person answered and no agent took, of calls that a person answered."""
    attempts, days = inputs.attempts, inputs.choices.abandon_days
    # The safe harbor is measured over 30 days of a campaign (16 CFR 310.4(b)(4)(i)).
    recent = attempts.when > inputs.attempts.as_of_us - int(days * 86_400e6)
    dropped, human = attempts.is_class("dropped_by_us"), attempts.flag("human") & recent
    used = ("abandon_days",)
    if not dropped.any():
        return _no_drops(int(human.sum()), used)
    excluded = {"older": int((~recent).sum())}
    return call_share(inputs, dropped & recent, human, excluded, used=used)


def abandoned_ofcom(inputs: Inputs) -> Measure:
    """Drops less those that machines answered, of live answers and these drops."""
    attempts = inputs.attempts
    dropped = int(attempts.is_class("dropped_by_us").sum())
    live = int((attempts.flag("human") & ~attempts.is_class("dropped_by_us")).sum())
    if not dropped:
        return _no_drops(live, ())
    machines = int(attempts.flag("machine").sum())
    # A drop may have met a machine: as large a part of them as of all answers is taken off.
    adjusted = dropped * (1 - (machines / (live + machines) if live + machines else 0.0))
    total = live + adjusted
    lost, human = attempts.is_class("dropped_by_us"), attempts.flag("human")
    rows = Rows("call", lost, _flagged(inputs, ""), "formula", formula=_ofcom,
                parts=(lost, human & ~lost, attempts.flag("machine")))  # fmt: skip
    return Measure(adjusted / total if total else None, adjusted, total, rows=rows)


def _ofcom(lost: Floats, live: Floats, machines: Floats) -> tuple[Floats, Floats, Floats]:
    """Share, adjusted drops and their base of each cell."""
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
