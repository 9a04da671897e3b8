"""The lead funnel: how many leads reach each stage; knows frames, not where they come from."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final, Literal

import numpy as np
import pandas as pd

from dialframe.analytics.classification import PLACE, Classes, classes
from dialframe.analytics.columns import (
    Ints,
    Mask,
    micros,
    present,
    require,
    within,
)
from dialframe.analytics.counting import Notes, balance, latest, scope
from dialframe.analytics.dials import mapping_warnings
from dialframe.analytics.groups import known_campaign, lead_groups
from dialframe.analytics.intervals import rates
from dialframe.analytics.ledger import Refused, refusals
from dialframe.analytics.matching import Matched, match_rows
from dialframe.analytics.outcomes import CONNECTED_UNKNOWN
from dialframe.analytics.results import Funnel
from dialframe.analytics.stages import NOTES, STAGES
from dialframe.analytics.staging import booked_of, span_of, stages_of
from dialframe.analytics.taxonomy import DEFAULT, Taxonomy
from dialframe.errors import ConfigError

#: How the stages must follow each other in time.
ORDERS: Final = ("ordered", "strict", "any")
ENTRIES: Final = ("import", "first_dial")


def funnel(
    leads: pd.DataFrame,
    calls: pd.DataFrame,
    appointments: pd.DataFrame | None = None,
    *,
    imports: pd.DataFrame | None = None,
    campaign: str | None = None,
    by: str | None = None,
    order: Literal["ordered", "strict", "any"] = "ordered",
    window: timedelta | None = None,
    entry: Literal["import", "first_dial"] = "import",
    since: datetime | None = None,
    until: datetime | None = None,
    include_no_campaign: bool = False,
    campaigns: pd.DataFrame | None = None,
    taxonomy: Taxonomy = DEFAULT,
    as_of: datetime | None = None,
) -> Funnel:
    """How many leads were loaded, attempted, connected, reached, and won.

    It counts leads, not calls: a lead is in a stage only if it is in every stage before, so no
    stage is greater than the one before it. One call can carry a lead through several stages.

    Args:
        leads: Frame of the leads table.
        calls: Frame of the calls table.
        appointments: Frame of the appointments table, or None where only calls are to speak.
        imports: The import ledger: one row per record sent, with column `status` (`accepted`,
            `duplicate`, `on_dnc`, `invalid`, ...); `lead_id`, `campaign_id` and the column named
            by `by` are used where they are there. Without it refusals are unknown and `loaded`
            equals `accepted`.
        campaign: Look at the leads of this campaign only.
        by: Split by a column of the leads frame, a custom field (`lead_source` for instance), or
            `region` (the area code).
        order: `ordered`: each stage at the time of the stage before or later, whatever is between;
            `strict`: besides, with no call of the lead between it and the stage before, though a
            later call may start the sequence anew; `any`: all stages, in whatever order in time.
        window: Time from the entry in which everything must happen. Leads whose time is not over
            by `as_of` are censored: left out whether they converted or not, and counted apart.
        entry: Where the window begins: `import` (the lead's `created_at`) or `first_dial`.
        since: Count calls and appointments from this instant on; aware.
        until: Count calls and appointments before this instant, and leads that were there; aware.
        include_no_campaign: Count calls outside any campaign (click-to-call) too.
        campaigns: Frame of the campaigns table, so that a campaign without leads is known.
        taxonomy: What the codes of calls mean.
        as_of: When the data was read; by default the latest instant in it.

    Returns:
        A `Funnel`; print it, or ask it to `explain()`.

    Raises:
        ConfigError: A column is missing, the campaign or `by` names nothing, `order` or `entry` is
            another word, or the window has no time zone.
    """
    _choices(order, entry, window)
    known_campaign(campaign, leads, calls, campaigns, imports)
    read_at = as_of or latest(calls, leads, appointments)
    classified = classes(calls, taxonomy)
    matched = match_rows(calls, leads)
    here, newer = _leads_here(leads, campaign, until)
    counting = scope(
        calls,
        classified,
        since=since,
        until=until,
        include_no_campaign=include_no_campaign,
        further=_not_here(calls, matched, here, campaign),
    )
    booked = booked_of(appointments, calls, matched, counting.counted, since, until)
    at = micros(calls["created_at"])
    span = span_of(leads, here, at, matched, counting.counted, window, entry, read_at)
    inside = stages_of(span, classified, matched, counting.counted, at, booked, order)
    refused = refusals(imports, leads, campaign, by)
    positive = np.flatnonzero(inside["positive"])
    notes = {
        **_call_notes(classified, matched, counting.counted),
        ("imported_after_window", "leads"): newer,
        **refused.notes,
        **booked.notes,
        ("not_positive", "leads"): len(set(booked.leads) - set(positive)),
    }
    censored = int((here & ~span.here).sum())
    if window is not None:
        notes["censored", "leads"] = censored
    return Funnel(
        table=_table(inside, leads, by, refused),
        excluded=balance(counting, notes, NOTES),
        taxonomy_version=taxonomy.version,
        as_of=read_at,
        by=by,
        campaign=campaign,
        order=order,
        window=window,
        entry=entry,
        censored=censored,
        warnings=mapping_warnings(calls, taxonomy, int(classified.unmapped.sum())),
    )


def _choices(order: str, entry: str, window: timedelta | None) -> None:
    if order not in ORDERS:
        raise ConfigError(f"order={order!r} is not known; use {', '.join(ORDERS)}")
    if entry not in ENTRIES:
        raise ConfigError(f"entry={entry!r} is not known; use {', '.join(ENTRIES)}")
    if window is not None and window <= timedelta(0):
        raise ConfigError(f"window={window} is no time; use timedelta(days=30), for instance")


def _leads_here(
    leads: pd.DataFrame, campaign: str | None, until: datetime | None
) -> tuple[Mask, int]:
    """Which leads the funnel is of, and how many are left out for being newer than the window."""
    require(leads, ("id", "phone", "campaign_id", "created_at"), "leads")
    wanted = np.ones(len(leads), dtype=bool)
    if campaign is not None:
        wanted &= np.asarray(leads["campaign_id"] == campaign, dtype=bool)
    # A lead without an instant is not known to be newer.
    there = within(leads["created_at"], None, until) | ~present(leads["created_at"])
    return wanted & there, int((wanted & ~there).sum())


def _not_here(
    calls: pd.DataFrame, matched: Matched, here: Mask, campaign: str | None
) -> dict[str, Mask]:
    """Calls that no lead of this funnel can be given, by reason."""
    found = matched.lead >= 0
    ours = found & np.append(here, np.False_)[matched.lead]
    elsewhere = np.zeros(len(calls), dtype=bool)
    if campaign is not None:
        elsewhere = np.asarray(calls["campaign_id"] != campaign, dtype=bool)
    several = matched.quality_is("ambiguous")
    return {
        "unmatched": ~found & ~several & ~elsewhere,
        "ambiguous": several & ~elsewhere,
        "other_lead": (found & ~ours) | (~found & elsewhere),
    }


def _table(
    inside: dict[str, Mask], leads: pd.DataFrame, by: str | None, refused: Refused
) -> pd.DataFrame:
    """The long table: one row per group and stage, the greatest group first."""
    place, names = (np.zeros(len(leads), np.int64), [""]) if by is None else lead_groups(leads, by)
    names += sorted(set(refused.per_group) - set(names))
    reached = [np.bincount(place[mask], minlength=len(names)) for mask in inside.values()]
    loaded = reached[0] + [refused.per_group.get(name, 0) for name in names]
    counts = np.column_stack([loaded, *reached])
    order = sorted(range(len(names)), key=lambda i: (-loaded[i], names[i]))
    order = [i for i in order if by is None or loaded[i]]
    frame = _rates(counts[order], refused.definition)
    if by is not None:
        if by in frame.columns:
            raise ConfigError(f"by={by!r} is the name of a column of the result; rename the field")
        column = np.repeat([names[i] for i in order], len(STAGES))
        frame.insert(0, by, pd.array(column.tolist(), dtype="str"))
    return frame


def _rates(counts: Ints, loaded_means: str) -> pd.DataFrame:
    """The table of one row of counts per group, one column per stage."""
    groups = len(counts)
    before = np.column_stack([np.zeros(groups, dtype=np.int64), counts[:, :-1]])
    first = np.tile([stage is STAGES[0] for stage in STAGES], groups)
    # The first stage has none before it: 0 of 0 gives null.
    previous = rates(np.where(first, 0, counts.ravel()), before.ravel())
    definitions = [loaded_means, *(stage.definition for stage in STAGES[1:])]
    return pd.DataFrame(
        {
            "stage": pd.array([stage.name for stage in STAGES] * groups, dtype="str"),
            "count": pd.array(counts.ravel(), dtype="Int64"),
            "denominator": pd.arrays.IntegerArray(before.ravel().astype(np.int64), first),
            "of_previous": previous["rate"],
            "of_loaded": rates(counts.ravel(), np.repeat(counts[:, 0], len(STAGES)))["rate"],
            "low": previous["low"],
            "high": previous["high"],
            "definition": pd.array(definitions * groups, dtype="str"),
        }
    )


def _call_notes(classified: Classes, matched: Matched, counted: Mask) -> Notes:
    """What is worth knowing of the calls that were counted."""
    unmapped = classified.unmapped
    known = {
        "number_only": matched.quality_is("number_only"),
        "unmapped": unmapped,
        "answered_by_unknown": (classified.outcome == PLACE[CONNECTED_UNKNOWN]) & ~unmapped,
        "conflict": classified.conflict,
    }
    return {(name, "calls"): int((mask & counted).sum()) for name, mask in known.items()}
