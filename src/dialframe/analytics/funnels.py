"""The lead funnel: how many leads reach each stage; knows frames, not where they come from."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np
import pandas as pd

from dialframe.analytics.attempts import Notes, balance, latest, scope
from dialframe.analytics.classification import classify
from dialframe.analytics.columns import Ints, Mask, numbered, present, require, within
from dialframe.analytics.intervals import rates
from dialframe.analytics.ledger import Refused, refusals
from dialframe.analytics.matching import QUALITIES, Matched, match_rows
from dialframe.analytics.results import Funnel
from dialframe.analytics.stages import (
    NO_GROUP,
    NOTES,
    STAGES,
)
from dialframe.analytics.taxonomy import DEFAULT, Taxonomy
from dialframe.errors import ConfigError
from dialframe.frames import custom_field
from dialframe.frames.columns import DTYPES

#: Stages that calls decide, with the column of `classify` that does.
_CALL_STAGES: Final = {
    "attempted": "attempt",
    "connected": "answered",
    "human": "human",
    "right_party": "right_party",
    "positive": "positive",
    "appointment": "appointment",
}


@dataclass(frozen=True, slots=True, eq=False)
class _Booked:
    """Rows of the leads that have an appointment, and notes."""

    leads: Ints
    notes: Notes


def funnel(
    leads: pd.DataFrame,
    calls: pd.DataFrame,
    appointments: pd.DataFrame | None = None,
    *,
    imports: pd.DataFrame | None = None,
    campaign: str | None = None,
    by: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    include_no_campaign: bool = False,
    taxonomy: Taxonomy = DEFAULT,
    as_of: datetime | None = None,
) -> Funnel:
    """How many leads were loaded, attempted, connected, reached, and won.

    It counts leads, not calls, and it is ordered: a lead is in a stage only if it is in every
    stage before, so no stage is greater than the one before it.

    Args:
        leads: Frame of the leads table.
        calls: Frame of the calls table.
        appointments: Frame of the appointments table, or None where only calls are to speak.
        imports: The import ledger: one row per record sent, with column `status` (`accepted`,
            `duplicate`, `on_dnc`, `invalid`, ...); `lead_id`, `campaign_id` and the column named
            by `by` are used where they are there. Without it refusals are unknown and `loaded`
            equals `accepted`.
        campaign: Look at the leads of this campaign only.
        by: Split by a column of the leads frame or by a custom field, `lead_source` for instance.
        since: Count calls and appointments from this instant on; aware.
        until: Count calls and appointments before this instant, and leads that were there; aware.
        include_no_campaign: Count calls outside any campaign (click-to-call) too.
        taxonomy: What the codes of calls mean.
        as_of: When the data was read; by default the latest instant in it.

    Returns:
        A `Funnel`; print it, or ask it to `explain()`.

    Raises:
        ConfigError: A column is missing, `by` names nothing, or the window has no time zone.
    """
    classified = classify(calls, taxonomy)
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
    booked = _booked(appointments, calls, matched, counting.counted, since, until)
    inside = _stages(here, classified, matched, counting.counted, booked.leads)
    refused = refusals(imports, leads, campaign, by)
    notes = {
        **_call_notes(classified, matched, counting.counted),
        ("imported_after_window", "leads"): newer,
        **refused.notes,
        **booked.notes,
        ("not_positive", "leads"): len(
            set(booked.leads) - set(np.flatnonzero(inside["positive"]))
        ),
    }
    return Funnel(
        table=_table(inside, leads, by, refused),
        excluded=balance(counting, notes, NOTES),
        taxonomy_version=taxonomy.version,
        as_of=as_of or latest(calls, leads, appointments),
        by=by,
        campaign=campaign,
    )


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
    several = matched.quality == QUALITIES.index("ambiguous")
    return {
        "unmatched": ~found & ~several & ~elsewhere,
        "ambiguous": several & ~elsewhere,
        "other_lead": (found & ~ours) | (~found & elsewhere),
    }


def _stages(
    here: Mask, classified: pd.DataFrame, matched: Matched, counted: Mask, booked: Ints
) -> dict[str, Mask]:
    """The leads of each stage: those that a counted call puts there, if in every stage before."""
    inside = {"accepted": here}
    so_far = here
    for stage, column in _CALL_STAGES.items():
        says_so = classified[column].to_numpy(dtype=bool, na_value=False) & counted
        reached = np.zeros(len(here), dtype=bool)
        reached[matched.lead[says_so]] = True
        if stage == "appointment":
            reached[booked] = True
        so_far = so_far & reached
        inside[stage] = so_far
    return inside


def _booked(
    appointments: pd.DataFrame | None,
    calls: pd.DataFrame,
    matched: Matched,
    counted: Mask,
    since: datetime | None,
    until: datetime | None,
) -> _Booked:
    """Leads with an appointment booked at or after a counted call to its number.

    It is given to the lead of the last such call, which settles a number that several campaigns
    dialled.
    """
    if appointments is None:
        return _Booked(np.zeros(0, dtype=np.int64), {})
    require(appointments, ("phone", "created_at"), "appointments")
    inside = within(appointments["created_at"], since, until)
    wanted = _dated(appointments.loc[inside, ["phone", "created_at"]])
    dialled = pd.DataFrame(
        {
            "phone": calls["to_number"].array,
            "created_at": calls["created_at"].array,
            "lead": matched.lead,
        }
    )[counted]
    dialled = _dated(dialled[dialled["phone"].isin(wanted["phone"])])
    lead = np.zeros(0, dtype=np.int64)
    if len(wanted) and len(dialled):  # pandas does not join a text column without rows
        paired = pd.merge_asof(wanted, dialled, on="created_at", by="phone")
        lead = paired["lead"].dropna().to_numpy(dtype=np.int64)
    notes = {
        ("booked_outside_window", "appointments"): int((~inside).sum()),
        ("no_call_before", "appointments"): int(inside.sum()) - len(lead),
    }
    return _Booked(lead, notes)


def _dated(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows with number and instant, in time's order, ready to be paired."""
    known = rows.dropna(subset=["phone", "created_at"])
    known = known.astype({"created_at": DTYPES["instant"]})
    return known.sort_values("created_at", kind="stable")


def _table(
    inside: dict[str, Mask], leads: pd.DataFrame, by: str | None, refused: Refused
) -> pd.DataFrame:
    """The long table: one row per group and stage, the greatest group first."""
    place, names = _groups(leads, by)
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


def _groups(leads: pd.DataFrame, by: str | None) -> tuple[Ints, list[str]]:
    """Each lead's group as a place in the list of groups."""
    if by is None:
        return np.zeros(len(leads), dtype=np.int64), [""]
    values = leads[by].astype("str") if by in leads.columns else _custom(leads, by)
    return numbered(values.fillna(NO_GROUP))


def _custom(leads: pd.DataFrame, by: str) -> pd.Series:
    require(leads, ("custom_fields",), "leads")
    # Many leads carry the same fields, and reading JSON is the slow part.
    place, distinct = numbered(leads["custom_fields"])
    once = custom_field(pd.DataFrame({"custom_fields": [*distinct, None]}, dtype="str"), by)
    values = once.take(np.where(place < 0, len(distinct), place)).set_axis(leads.index)
    if len(leads) and not values.notna().any():
        raise ConfigError(
            f"by={by!r} is neither a column of the leads frame nor a custom field of any lead; "
            "lead_source and campaign_id are usual"
        )
    return values


def _call_notes(classified: pd.DataFrame, matched: Matched, counted: Mask) -> Notes:
    """What is worth knowing of the calls that were counted."""
    unmapped = classified["unmapped"].to_numpy(dtype=bool)
    known = {
        "number_only": matched.quality == QUALITIES.index("number_only"),
        "unmapped": unmapped,
        "answered_by_unknown": np.asarray(classified["human"].isna(), dtype=bool) & ~unmapped,
        "conflict": classified["conflict"].to_numpy(dtype=bool),
    }
    return {(name, "calls"): int((mask & counted).sum()) for name, mask in known.items()}
