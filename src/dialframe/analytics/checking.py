"""Whether everything is here, and whether each row can be true; knows one reading of an account."""

from __future__ import annotations

from datetime import datetime
from typing import Final

import numpy as np
import pandas as pd

from dialframe.analytics.columns import NO_TIME, Mask, micros, require
from dialframe.analytics.dials import dials
from dialframe.analytics.result import Result
from dialframe.analytics.tabled import table
from dialframe.analytics.taxonomy import DEFAULT, Taxonomy
from dialframe.analytics.wording import plural

_DAY_US: Final = 86_400_000_000


def completeness(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    events: pd.DataFrame | None = None,
    taxonomy: Taxonomy = DEFAULT,
    as_of: datetime | None = None,
) -> Result:
    """Whether everything is here, and whether each row can be true.

    The service's call list has no date of change, so a row that changed or came late cannot be seen
    in one reading; what can be seen is checked.

    Args:
        calls: Frame of the calls table.
        leads: Frame of the leads table, or None.
        events: Frame of the events table: calls that they name must be here.
        taxonomy: What the codes mean.
        as_of: When the data was read.

    Returns:
        One row per check: `check`, `unit`, `count`, `of`, `share` (null where `of` is 0), `ok`,
        `meaning`. Table `gaps` has the weekdays without a call between the first and the last.

    Raises:
        ConfigError: A column is missing.
    """
    found = dials(calls, leads, taxonomy=taxonomy, as_of=as_of, include_no_campaign=True)
    gaps = _gaps(calls)
    rows = [*_call_checks(calls, found.as_of), ("weekdays_without_calls", "days", len(gaps), 0,
            "weekdays between the first and the last call without any: a pull may have stopped"),
            *_event_checks(calls, events), *_lead_checks(found.leads, found.matched.lead)]  # fmt: skip
    frame = table(
        {
            "check": [row[0] for row in rows],
            "unit": [row[1] for row in rows],
            "count": np.array([row[2] for row in rows], dtype=int),
            "of": np.array([row[3] for row in rows], dtype=int),
            "share": np.array([row[2] / row[3] if row[3] else np.nan for row in rows]),
            "ok": np.array([row[2] == 0 for row in rows], dtype=bool),
            "meaning": [row[4] for row in rows],
        }
    )
    odd = frame[~frame["ok"].to_numpy(bool)]
    said = ", ".join(f"{r['check']} {int(r['count']):,}" for r in odd.to_dict("records"))
    return Result(
        "completeness",
        f"{plural(len(odd), 'check')} of {len(frame)} found something: {said}" if len(odd)
        else f"All {len(frame)} checks are clean" if len(calls) or (leads is not None and len(leads))
        else "There is nothing to check: no calls and no leads",
        frame,
        "Rows that cannot be true, rows that are missing, and rows that do not fit each other",
        found.balance(), taxonomy, found.as_of, {"gaps": gaps}, {},
        ("The service does not say when a call changed: a row that was edited after it was read is "
         "seen only when it is read again.", *found.warnings),
    )  # fmt: skip


_Check = tuple[str, str, int, int, str]


def _call_checks(calls: pd.DataFrame, as_of: datetime | None) -> list[_Check]:
    made, answered, ended = (micros(calls[n]) for n in ("created_at", "answered_at", "ended_at"))
    ends = 0 if as_of is None else round(as_of.timestamp() * 1e6)
    has = {"made": made != NO_TIME, "answered": answered != NO_TIME, "ended": ended != NO_TIME}
    duration = calls["duration_seconds"].to_numpy(float, na_value=np.nan) if (
        "duration_seconds" in calls.columns
    ) else np.full(len(calls), np.nan)  # fmt: skip
    ids = calls["id"] if "id" in calls.columns else pd.Series(dtype="str")
    blank = np.asarray(calls["to_number"].isna(), dtype=bool)
    open_ = ~has["ended"] & has["made"] & (np.where(has["made"], made, 0) < ends - _DAY_US)
    masks: list[tuple[str, Mask, str]] = [
        (
            "repeated_id",
            np.asarray(ids.duplicated() & ids.notna(), dtype=bool),
            "the same call twice",
        ),
        ("no_start", ~has["made"], "no created_at: in no window of time"),
        ("never_ended", open_, "no ended_at a day after the start: stuck, or not read again"),
        ("answered_before_start", has["answered"] & has["made"] & (answered < made), "impossible"),
        ("ended_before_answer", has["ended"] & has["answered"] & (ended < answered), "impossible"),
        ("ended_before_start", has["ended"] & has["made"] & (ended < made), "impossible"),
        ("negative_duration", np.nan_to_num(duration) < 0, "impossible"),
        ("in_the_future", has["made"] & (made > ends), "starts after the data was read"),
        ("no_number", blank, "no called number: matches no lead"),
    ]
    return [(name, "calls", int(mask.sum()), len(calls), why) for name, mask, why in masks]


def _event_checks(calls: pd.DataFrame, events: pd.DataFrame | None) -> list[_Check]:
    if events is None or "id" not in calls.columns:
        return []
    require(events, ("type", "data"), "events")
    data = events["data"].dropna().astype("str")
    named = set(data.str.extract(r'"call_id":\s*"([^"]+)"')[0].dropna())
    missing = named - set(calls["id"].dropna().astype("str"))
    why = "calls that events name and that are not here: pull again"
    return [("calls_of_events_missing", "calls", len(missing), len(named), why)]


def _lead_checks(leads: pd.DataFrame, lead: np.ndarray) -> list[_Check]:
    if not len(leads):
        return []
    seen = np.zeros(len(leads) + 1, dtype=bool)
    seen[lead] = True
    tried = leads["attempts"].to_numpy(float, na_value=0) > 0 if (
        "attempts" in leads.columns
    ) else np.zeros(len(leads), dtype=bool)  # fmt: skip
    lost = tried & ~seen[:-1]
    return [
        ("calls_without_lead", "calls", int((lead < 0).sum()), len(lead), "no lead, or several"),
        ("attempted_leads_without_calls", "leads", int(lost.sum()), len(leads),
         "the service counts attempts on them, and none of their calls is here"),
    ]  # fmt: skip


def _gaps(calls: pd.DataFrame) -> pd.DataFrame:
    at = micros(calls["created_at"])
    days = np.unique(at[at != NO_TIME] // _DAY_US)
    if not len(days):
        return table({"date": []})
    whole = np.arange(days[0], days[-1] + 1)
    missing = np.setdiff1d(whole, days).astype("datetime64[D]")
    return table({"date": [str(day) for day in missing[np.is_busday(missing)]]})
