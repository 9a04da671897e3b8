"""The lead funnel: how many leads reach each stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

import numpy as np
import pandas as pd

from dialframe.analytics.analysis_result import Funnel
from dialframe.analytics.attempt.argument_checks import analysis, one_name
from dialframe.analytics.attempt.attempt_table import MOST_UNKNOWN, Attempts, count_attempts
from dialframe.analytics.attempt.call_scope import Notes, balance, latest
from dialframe.analytics.attempt.frames_to_arrays import (
    NEVER,
    NO_TIME,
    Ints,
    Mask,
    earliest,
    import_answers,
    micros,
    micros_of,
    present,
    require,
    within,
)
from dialframe.analytics.attempt.lead_match import (
    Matched,
    known_campaign,
    lead_groups,
    next_to,
    of_campaign,
)
from dialframe.analytics.attempt.taxonomy import (
    DEFAULT,
    GOALS,
    LOADED,
    NO_GROUP,
    NOTES,
    OUTCOMES,
    STAGES,
    Taxonomy,
)
from dialframe.analytics.inference import rates
from dialframe.errors import ConfigError
from dialframe.instants import When, instant


@dataclass(frozen=True, slots=True, eq=False)
class Refused:
    """How many rows imports refused per group, what `loaded` therefore means, and notes."""

    per_group: dict[str, int]
    definition: str
    notes: Notes


def refusals(
    imports: pd.DataFrame | None, leads: pd.DataFrame, campaign: str | None, by: str | None
) -> Refused:
    """Count the rows that imports refused, per group where the ledger can say so.

    Args:
        imports: One row per record sent, with column `status`; None where nothing is known.
        leads: Frame of the leads table.
        campaign: Only rows of this campaign.
        by: Column to group by; without that column in `imports` no row is given to any group.

    Raises:
        ConfigError: A column is missing.
    """
    if imports is None:
        return Refused({}, LOADED["without_ledger"], {})
    rows = imports
    if campaign is not None:
        require(imports, ("campaign_id",), "imports")
        rows = imports[imports["campaign_id"] == campaign]
    _, accepted, is_refused = import_answers(rows)
    refused = rows[is_refused]
    notes: Notes = {
        ("refused", "records"): len(refused),
        ("import_unknown", "records"): len(rows) - int(accepted.sum()) - len(refused),
    }
    if "lead_id" in rows.columns:
        absent = ~np.asarray(rows["lead_id"].isin(leads["id"]), dtype=bool)
        notes["accepted_elsewhere", "records"] = int((accepted & absent).sum())
    if by is None:
        return Refused({"": len(refused)}, STAGES[0].definition, notes)
    # Without the column a refused row is of no group: to spread them over all would be a guess.
    if by not in rows.columns:
        return Refused({}, LOADED["without_groups"], notes)
    sizes = refused[by].astype("str").fillna(NO_GROUP).value_counts()
    per_group = {str(name): int(size) for name, size in sizes.items()}
    return Refused(per_group, STAGES[0].definition, notes)


#: Stages that calls decide, with the flag that does.
CALL_STAGES: Final = {stage.name: GOALS[stage.name] for stage in STAGES if stage.name in GOALS}


@dataclass(frozen=True, slots=True, eq=False)
class Booked:
    """Lead and instant of each appointment, the call that it came after, notes, and whether there is a table of them."""

    leads: Ints
    when: Ints
    call: Ints
    notes: Notes
    given: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Span:
    """Which leads are counted, and between which instants their events are."""

    here: Mask
    opens: Ints
    closes: Ints
    bounded: bool = True


def span_of(
    leads: pd.DataFrame, here: Mask, attempts: Attempts, window: timedelta | None, entry: str,
    read_at: datetime | None,
) -> Span:  # fmt: skip
    """When each lead's events count, and which leads have had all of their time."""
    if window is None:
        return Span(here, np.full(len(here), -NEVER), np.full(len(here), NEVER), bounded=False)
    opens = micros(leads["created_at"])
    if entry == "first_dial":
        opens = earliest(attempts.lead, attempts.when, len(here))
    entered = (opens != NEVER) & (opens != NO_TIME)
    opens = np.where(entered, opens, 0)
    closes = opens + round(window.total_seconds() * 1e6)
    # A lead is left out whether it converted or not: those that did would be counted sooner than the others.
    over = ~entered | (closes <= micros_of(read_at))
    return Span(here & over, opens, np.where(entered, closes, -NEVER))


def stages_of(
    span: Span, attempts: Attempts, booked: Booked, order: str
) -> tuple[dict[str, Mask], dict[str, Mask]]:
    """The leads of each stage: those that a counted call puts there, if in every stage before.

    Beside them those of which no call says that they are there, and one leaves it open.
    """
    inside, maybe = {"accepted": span.here}, {"accepted": np.zeros(len(span.here), dtype=bool)}
    so_far, since, stage_before = span.here, span.opens, "accepted"
    lead, at, rows = attempts.lead, attempts.when, np.arange(len(attempts))
    if span.bounded:
        rows = np.flatnonzero((at >= span.opens[lead]) & (at <= span.closes[lead]))
    for stage, flag in CALL_STAGES.items():
        before = so_far | maybe[stage_before]
        last = rows = rows[attempts.flag(flag)[rows]]
        if order != "any" and (span.bounded or stage != "attempted"):
            last = last[at[last] >= since[lead[last]]]
        reached = earliest(lead[last], at[last], len(span.here))
        if stage == "appointment":
            # An appointment that was booked counts like a call that says so, under the same order.
            opens, closes = (bound[booked.leads] for bound in (span.opens, span.closes))
            keep = (booked.when >= opens) & (booked.when <= closes)
            in_time = booked.leads[keep]
            if order != "any":
                keep &= booked.when >= since[booked.leads]
            if order == "strict":
                keep &= attempts.flag("positive")[booked.call]
            bookings = earliest(booked.leads[keep], booked.when[keep], len(span.here))
            reached = np.minimum(reached, bookings)
        so_far = so_far & (reached != NEVER)
        since = reached
        inside[stage] = so_far
        if flag == "answered":
            answered, outcome = lead[rows], attempts.outcome[rows]
            # Who hung up said no; where no code ever says what came of a talk, nobody is known to have.
            silent = not attempts.flag("right_party").any()
        odd = np.zeros(len(span.here), dtype=bool)
        if flag not in ("attempt", "answered"):
            whom = flag == "right_party" or (flag != "human" and silent)
            odd[answered[_OPEN[not whom][outcome]]] = True
        if stage == "appointment" and booked.given:
            # The table has all of them: only what came before a booking is unknown.
            odd = np.zeros(len(span.here), dtype=bool)
            odd[in_time] = True
        maybe[stage] = before & odd & ~so_far
        stage_before = stage
    return inside, maybe


#: Whether an outcome leaves it open if a person answered (True), or whether it was the one wanted (False).
_OPEN: Final = {
    True: np.array([outcome.human is None for outcome in OUTCOMES]),
    False: np.array([outcome.right_party is None for outcome in OUTCOMES]),
}


def booked_of(
    appointments: pd.DataFrame | None,
    attempts: Attempts,
    since: datetime | None,
    until: datetime | None,
) -> Booked:
    """Leads with an appointment booked at or after a counted call to its number.

    It is given to the lead of the last such call, which settles a number that several campaigns
    dialed.
    """
    if appointments is None:
        none = np.zeros(0, dtype=np.int64)
        return Booked(none, none, none, {}, given=False)
    require(appointments, ("phone", "created_at"), "appointments")
    inside = within(appointments["created_at"], since, until)
    numbers, when = appointments["phone"][inside], micros(appointments["created_at"][inside])
    call = next_to(attempts.numbers("to_number"), attempts.when, numbers, when, before=True)
    known = call >= 0
    # Counted apart, so that bookings sum up: in the stage, outside the window, or before any call.
    notes = {
        ("booked_outside_window", "appointments"): int((~inside).sum()),
        ("no_call_before", "appointments"): int((~known).sum()),
    }
    return Booked(attempts.lead[call[known]].astype(np.int64), when[known], call[known], notes)


@analysis
def funnel(
    calls: pd.DataFrame,
    leads: pd.DataFrame,
    *,
    appointments: pd.DataFrame | None = None,
    imports: pd.DataFrame | None = None,
    by: str | Sequence[str] | None = None,
    order: Literal["ordered", "strict", "any"] = "ordered",
    window: timedelta | None = None,
    entry: Literal["import", "first_dial"] = "import",
    include_no_campaign: bool = False,
    campaigns: pd.DataFrame | None = None,
    taxonomy: Taxonomy = DEFAULT,
    as_of: When | None = None,
    campaign: str | None = None,
    since: When | None = None,
    until: When | None = None,
) -> Funnel:
    """How many leads were loaded, attempted, connected, reached, and won.

    It counts leads, not calls: a lead is in a stage only if it is in every stage before, so no
    stage is greater than the one before it. One call can carry a lead through several stages.

    Args:
        calls: Frame of the calls table, or of `account.attempts()`.
        leads: Frame of the leads table.
        appointments: Frame of the appointments table, or None where only calls are to speak.
        imports: The import ledger: one row per record sent, with column `status` (`accepted`,
            `duplicate`, `on_dnc`, `invalid`, ...); `lead_id`, `campaign_id` and the column named
            by `by` are used where they are there. Without it refusals are unknown and `loaded`
            equals `accepted`.
        by: Split by a column of the leads frame, a custom field (`lead_source` for instance), or
            `region` (the area code).
        order: `ordered`: each stage at the time of the stage before or later, whatever is between;
            `strict`: besides, with no call of the lead between it and the stage before, though a
            later call may start the sequence anew; `any`: all stages, in whatever order in time.
        window: Time from the entry in which everything must happen. Leads whose time is not over
            by `as_of` are censored: left out whether they converted or not, and counted apart.
        entry: Where the window begins: `import` (the lead's `created_at`) or `first_dial`.
        include_no_campaign: Count calls outside any campaign (click-to-call) too.
        campaigns: Frame of the campaigns table, so that a campaign without leads is known.
        taxonomy: What the codes mean.
        as_of: What was known at this instant counts; by default the latest instant in the data.
        campaign: Look at the leads of this campaign only.
        since: Count calls and appointments from this instant on; attempts are numbered over the whole history.
        until: Count calls and appointments before this instant, and leads that were there; aware.

    Returns:
        A `Funnel`; print it, or ask it to `explain()`.

    Raises:
        ConfigError: A column is missing, the campaign or `by` names nothing, `order` or `entry` is
            another word, or the window has no time zone.
    """
    by = None if by is None else one_name(by)
    if window is not None and window <= timedelta(0):
        raise ConfigError(f"window={window} is no time; use timedelta(days=30), for instance")
    # A draft campaign has neither leads nor calls: its own table knows it.
    known_campaign(campaign, leads, calls, campaigns, imports)
    begin = instant("since", since)
    end = instant("until", until)
    require(leads, ("id", "phone", "campaign_id", "created_at"), "leads")
    wanted = of_campaign(leads, campaign)
    # A lead without an instant is not known to be newer.
    in_time = within(leads["created_at"], None, end) | ~present(leads["created_at"])
    is_in_funnel = wanted & in_time
    attempts = count_attempts(
        calls, leads, taxonomy=taxonomy, as_of=as_of, since=since, until=until,
        include_no_campaign=include_no_campaign,
        further=lambda matched: _not_here(calls, matched, is_in_funnel, campaign),
    )  # fmt: skip
    read_at = instant("as_of", as_of) or latest(calls, leads, appointments)
    booked = booked_of(appointments, attempts, begin, end)
    span = span_of(leads, is_in_funnel, attempts, window, entry, read_at)
    inside, maybe = stages_of(span, attempts, booked, order)
    refused = refusals(imports, leads, campaign, by)
    positive = np.flatnonzero(inside["positive"])
    of_calls = attempts.notes()
    notes = {
        # Of a call that was made in another campaign than its lead is of the number alone tells the lead.
        ("number_only", "calls"): of_calls.get(("match_number_only", "calls"), 0),
        **{key: n for key, n in of_calls.items() if not key[0].startswith("match_")},
        ("imported_after_window", "leads"): int((wanted & ~in_time).sum()),
        **refused.notes,
        **booked.notes,
        ("not_positive", "leads"): len(set(booked.leads) - set(positive)),
    }
    censored = int((is_in_funnel & ~span.here).sum())
    if window is not None:
        notes["censored", "leads"] = censored
    words = ["Lead funnel"]
    words += [f"by {by}"] if by else []
    words += [f"of campaign {campaign}"] if campaign else []
    words += [f"as of {read_at:%Y-%m-%d %H:%M} UTC"] if read_at else []
    table = _table(inside, maybe, leads, by, refused)
    dark = [STAGE_LABELS[stage] for stage, mask in maybe.items() if mask.any()]
    warnings = (
        f"Who answered some calls is not known: {', '.join(dark)} may be higher by the column unknown; "
        "a share is left empty where that is more than 5% of its denominator",
    ) if dark else ()  # fmt: skip
    return Funnel(
        "funnel",
        " ".join(words),
        table,
        "Leads by the furthest stage that a counted call took them to; a lead is in a stage only if "
        "it is in every stage before",
        balance(attempts.scope, notes, NOTES),
        attempts.taxonomy,
        read_at,
        parameters={
            "by": by,
            "campaign": campaign,
            "order": order,
            "window_s": None if window is None else window.total_seconds(),
            "entry": entry,
            "censored": censored,
        },
        warnings=(*warnings, *attempts.warnings),
    )


#: Labels of stages by name.
STAGE_LABELS: Final = {stage.name: stage.label for stage in STAGES}


def _not_here(
    calls: pd.DataFrame, matched: Matched, is_in_funnel: Mask, campaign: str | None
) -> dict[str, Mask]:
    """Calls that no lead of this funnel can be given, by reason."""
    is_matched = matched.lead >= 0
    # Where a campaign is asked for, calls of other campaigns on its leads still carry them through.
    ours = is_matched & np.append(is_in_funnel, np.False_)[matched.lead]
    elsewhere = ~of_campaign(calls, campaign)
    several = matched.quality_is("ambiguous")
    return {
        "unmatched": ~is_matched & ~several & ~elsewhere,
        "ambiguous": several & ~elsewhere,
        "other_lead": (is_matched & ~ours) | (~is_matched & elsewhere),
    }


def _table(
    inside: dict[str, Mask], maybe: dict[str, Mask], leads: pd.DataFrame, by: str | None, refused: Refused
) -> pd.DataFrame:  # fmt: skip
    """The long table: one row per group and stage, the greatest group first."""
    group, names = (np.zeros(len(leads), np.int64), [""]) if by is None else lead_groups(leads, by)
    names += sorted(set(refused.per_group) - set(names))
    reached = [np.bincount(group[mask], minlength=len(names)) for mask in inside.values()]
    loaded = reached[0] + [refused.per_group.get(name, 0) for name in names]
    counts = np.column_stack([loaded, *reached])
    of_group = [np.bincount(group[mask], minlength=len(names)) for mask in maybe.values()]
    unknown = np.column_stack([np.zeros(len(names), dtype=np.int64), *of_group])
    # The greatest group on top, and by name where they are as great: an order that the rows do not change.
    order = sorted(range(len(names)), key=lambda i: (-loaded[i], names[i]))
    order = [i for i in order if by is None or loaded[i]]
    counts, unknown, groups = counts[order], unknown[order].ravel(), len(order)
    # The first stage has none before it: 0 of 0 gives null.
    before = np.column_stack([np.zeros(groups, dtype=np.int64), counts[:, :-1]])
    first = np.tile([stage is STAGES[0] for stage in STAGES], groups)
    below, above = np.where(first, 0, counts.ravel()), before.ravel()
    previous = rates(below, above)
    # Between none of the unknown and all of them; the stage before may hold unknown ones too.
    upper = rates(np.minimum(below + unknown, above), above)["high"]
    dark = unknown > MOST_UNKNOWN * np.maximum(above, 1)
    of_loaded = rates(counts.ravel(), np.repeat(counts[:, 0], len(STAGES)))["rate"]
    of_loaded = of_loaded.mask(unknown > MOST_UNKNOWN * np.repeat(counts[:, 0], len(STAGES)))
    # Where nobody was ever tried, nobody knows who would have been reached.
    tried = [stage.name for stage in STAGES].index("attempted")
    later = np.tile(np.arange(len(STAGES)) > tried, groups)
    of_loaded = of_loaded.mask(later & np.repeat(counts[:, tried] == 0, len(STAGES)))
    definitions = [refused.definition, *(stage.definition for stage in STAGES[1:])]
    frame = pd.DataFrame(
        {
            "stage": pd.array([stage.name for stage in STAGES] * groups, dtype="str"),
            "count": pd.array(counts.ravel(), dtype="Int64"),
            "denominator": pd.arrays.IntegerArray(before.ravel().astype(np.int64), first),
            "of_previous": previous["rate"].mask(dark),
            "of_loaded": of_loaded,
            "low": previous["low"],
            "high": upper,
            "unknown": pd.array(unknown.astype(np.int64), dtype="Int64"),
            "definition": pd.array(definitions * groups, dtype="str"),
        }
    )
    if by is not None:
        if by in frame.columns:
            raise ConfigError(f"by={by!r} is the name of a column of the result; rename the field")
        column = np.repeat([names[i] for i in order], len(STAGES))
        frame.insert(0, by, pd.array(column.tolist(), dtype="str"))
    return frame
