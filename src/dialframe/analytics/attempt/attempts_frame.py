"""The public frame of attempts: one row per counted outbound attempt with all that is known of it.

It is where a model of one's own starts, and every analysis takes it in the place of the calls: then
nothing is matched, classed or numbered twice.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pandas as pd

from dialframe.analytics.attempt.argument_checks import analysis
from dialframe.analytics.attempt.attempt_table import (
    Attempts,
    clock_of,
    count_attempts,
    local_match,
    source_level,
)
from dialframe.analytics.attempt.classify import class_table
from dialframe.analytics.attempt.frames_to_arrays import (
    DAY_US,
    NO_TIME,
    Floats,
    booleans,
    earliest,
    floats,
    instants,
    micros,
    require,
    text,
)
from dialframe.analytics.attempt.lead_match import QUALITIES, SOURCE
from dialframe.analytics.attempt.local_clock import NO_ZONE, WEEKDAYS
from dialframe.analytics.attempt.taxonomy import DEFAULT, Taxonomy
from dialframe.instants import When

#: Columns of `classify` that an attempt has too.
_CLASS_COLUMNS: Final = (
    "outcome", "telephony", "business", "layer", "answered", "human", "right_party", "positive",
    "appointment", "conversion", "machine", "final", "dnc_request",
)  # fmt: skip


@analysis
def attempts_frame(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    campaigns: pd.DataFrame | None = None,
    events: pd.DataFrame | None = None,
    source: str = SOURCE,
    include_no_campaign: bool = False,
    taxonomy: Taxonomy = DEFAULT,
    as_of: When | None = None,
    campaign: str | None = None,
    since: When | None = None,
    until: When | None = None,
) -> pd.DataFrame:
    """Outbound attempts, one row each, with everything that analyses look at.

    Args:
        calls: Frame of the calls table, or of `account.attempts()`.
        leads: Frame of the leads table; without it numbers stand for leads.
        campaigns: Frame of the campaigns table, for names.
        events: Frame of the events table; `disposition.logged` names call and lead.
        source: Column or custom field of the leads that says where they came from.
        include_no_campaign: Count calls outside any campaign (click-to-call) too.
        taxonomy: What the codes mean.
        as_of: What was known at this instant counts; by default the latest instant in the data.
        campaign: Calls of this campaign only.
        since: Calls from this instant on; attempts are numbered over the whole history.
        until: Calls before this instant.

    Returns:
        One row per counted attempt, in the order of `calls`: `call_id`, `lead_id` (null without),
        `match_quality`, `campaign_id`, `campaign` (name, or the id), `source`, `created_at`,
        `answered_at`, `ended_at` (UTC), `outcome` with `telephony` and `business` (classes of the
        two layers), `layer`, `answered`, `human` and `right_party` (null where nothing says by whom
        it was answered), `positive`, `appointment`, `conversion`, `machine`, `final`,
        `dnc_request`, `attempt` (of its lead in the whole history, from 1), `gap_h` (hours since
        the attempt before, null for the first), `lead_age_days`, `lead_created_at`, `local_hour`,
        `local_weekday` (`Mon`), `local_certainty` (`certain`, `unclear`, `none`), `to_number`,
        `caller_id`, `caller_age_days` (since its first call in this data), `local_match` (caller ID
        and number share a North American area code), `ring_s`, `talk_s`, `duration_seconds`,
        `status`, `hangup_cause`, `disposition`. `.attrs["set_aside"]` counts the calls that are
        not here by reason.

    Raises:
        ConfigError: A column is missing, the campaign is unknown, or an instant is none.

    Example:
        >>> from dialframe import frames
        >>> table = attempts_frame(frames.empty(frames.CALLS), frames.empty(frames.LEADS))
        >>> list(table.columns[:3])
        ['call_id', 'lead_id', 'match_quality']
    """
    attempts = count_attempts(
        calls,
        leads,
        taxonomy=taxonomy,
        as_of=as_of,
        campaign=campaign,
        since=since,
        until=until,
        include_no_campaign=include_no_campaign,
        events=events,
    )
    frame = frame_of(attempts, campaigns, source)
    frame.attrs |= {
        "set_aside": dict(attempts.scope.set_aside),
        "taxonomy_version": attempts.taxonomy.version,
        "as_of": None if attempts.as_of is None else attempts.as_of.isoformat(),
    }
    return frame


def frame_of(attempts: Attempts, campaigns: pd.DataFrame | None, source: str) -> pd.DataFrame:
    """The same of attempts that are counted already."""
    rows, clock = attempts.rows, clock_of(attempts)
    words = class_table(attempts.classes.take(rows))
    code, sources = source_level(attempts, source)
    # A number of several zones has an hour where they agree; without a zone it has none.
    certainty = np.where(clock.known, 0, np.where(clock.cell == NO_ZONE, 2, 1))
    require(attempts.leads, ("created_at",), "leads")
    created = np.append(
        micros(attempts.leads["created_at"]) if len(attempts.leads) else np.zeros(0, np.int64),
        NO_TIME,
    )[attempts.lead]
    # A lead without an instant has no age, and an attempt without a lead has none either.
    dated = created != NO_TIME
    age_days = np.where(dated, (attempts.when - np.where(dated, created, 0)) / DAY_US, np.nan)
    columns: dict[str, Any] = {
        "call_id": attempts.column("id").astype("str").array
        if "id" in attempts.calls.columns else pd.array([None] * len(rows), dtype="str"),
        "lead_id": text([*(str(i) for i in attempts.leads["id"]), None], np.maximum(attempts.lead, -1)),
        "match_quality": text(list(QUALITIES), attempts.matched.quality[rows]),
        "campaign_id": attempts.column("campaign_id").array,
        "campaign": _names(attempts, campaigns),
        "source": text(list(sources), code),
        "created_at": attempts.column("created_at").array,
        "answered_at": attempts.column("answered_at").array,
        "ended_at": attempts.column("ended_at").array,
        **{name: words[name] for name in _CLASS_COLUMNS},
        "attempt": pd.array(attempts.attempt, dtype="Int32"),
        "gap_h": floats(attempts.gap_h),
        "lead_age_days": floats(age_days),
        "lead_created_at": instants(created),
        "local_hour": pd.arrays.IntegerArray(
            np.where(clock.known, clock.hour, 0).astype(np.int8), ~clock.known),
        "local_weekday": text([*WEEKDAYS, None], np.where(clock.known, clock.weekday, -1)),
        "local_certainty": text(["certain", "unclear", "none"], certainty),
        "to_number": attempts.column("to_number").array,
        "caller_id": attempts.column("from_number").array,
        "caller_age_days": floats(_caller_days(attempts)),
        "local_match": booleans(local_match(attempts)),
        "ring_s": floats(attempts.ring_s),
        "talk_s": floats(attempts.talk_s),
        **{
            name: attempts.column(name).array
            for name in ("duration_seconds", "status", "hangup_cause", "disposition")
            if name in attempts.calls.columns
        },
    }  # fmt: skip
    return pd.DataFrame(columns)


def _names(attempts: Attempts, campaigns: pd.DataFrame | None) -> Any:
    code, ids = attempts.numbered("campaign_id")
    # Without the campaigns table an id is the name.
    names = dict.fromkeys(ids)
    if campaigns is not None and "name" in campaigns.columns:
        known = campaigns.dropna(subset=["id", "name"]).drop_duplicates("id", keep="last")
        names = dict(zip(known["id"], known["name"], strict=True))
    return text([*(str(names.get(i) or i) for i in ids), None], code)


def _caller_days(attempts: Attempts) -> Floats:
    """Days since the first call from the caller ID in the whole history."""
    # By the whole history: in a window every number would begin anew.
    whole = attempts.ever
    code, names = whole.text("from_number")
    first = earliest(code, whole.when, len(names))
    return attempts.of_history((whole.when - first[code]) / DAY_US)
