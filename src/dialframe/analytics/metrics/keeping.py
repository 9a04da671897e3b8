"""Metrics that an analysis of its own stands behind: caller IDs, presence, promises, trust."""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd

from dialframe.analytics import callers, presence
from dialframe.analytics.columns import Mask, micros, require
from dialframe.analytics.metrics.inputs import Inputs
from dialframe.analytics.metrics.measures import Measure, call_share, share
from dialframe.analytics.mix import clock_of, expected_human
from dialframe.analytics.promises import callbacks_kept
from dialframe.analytics.reconciling import reconcile
from dialframe.analytics.tabled import ratio, sums, table

_HOUR_US: Final = 3_600_000_000
_DAY_US: Final = 86_400_000_000


def caller_id_drop(inputs: Inputs) -> Measure:
    """People that the worst caller ID reached lately, of those that its mix gives reason for."""
    found, choices = inputs.dials, inputs.choices
    used = ("recent_days", "least_dials")
    if not len(found):
        return Measure(None, None, None, used=used)
    code, names = found.text("from_number")
    chance = expected_human(found, clock_of(found)).expected
    recent = found.when > inputs.as_of_us - int(choices.recent_days * _DAY_US)
    size, human = len(names), found.flag("human")
    n, k = (sums(np.where(mask, code, -1), size) for mask in (recent, recent & human))
    meant = np.bincount(code[recent], chance[recent], size)
    judged = n >= choices.least_dials
    detail = table({"from_number": names, "people": k, "dials": n, "expected": meant,
                    "judged": judged})  # fmt: skip
    excluded = {"too_few_dials": int((~judged).sum())}
    if not judged.any():
        why = "no caller ID has enough dials in the last days"
        return Measure(None, None, None, excluded=excluded, detail=detail, used=used, why_null=why)
    kept = np.where(judged, ratio(k, meant), np.inf)
    worst = int(kept.argmin())
    return Measure(
        float(kept[worst]), int(k[worst]), float(meant[worst]), excluded=excluded, detail=detail,
        used=used,
    )  # fmt: skip


def caller_ids_alerted(inputs: Inputs) -> Measure:
    """Caller IDs whose answers dropped, of caller IDs with enough dials."""
    result = callers.of_dials(inputs.dials, inputs.choices.least_dials)
    judged, alert = (result.table[name].to_numpy(bool) for name in ("judged", "alert"))
    excluded = {"too_few_dials": int((~judged).sum())}
    return share(int(alert.sum()), int(judged.sum()), excluded, detail=result.table,
                 used=("least_dials",))  # fmt: skip


def presence_lift(inputs: Inputs) -> Measure:
    """Rate with a local caller ID less the rate without, inside strata."""
    result = presence.of_dials(inputs.dials)
    row = result.table.iloc[2]
    value, with_it, without, low, high = (
        None if pd.isna(row[name]) else float(row[name])
        for name in ("lift", "rate_matched", "rate_other", "low", "high")
    )
    why = "" if value is not None else "no stratum has calls with and without a local caller ID"
    return Measure(value, with_it, without, low, high, "stratified", {}, result.table, (), why)


def callback_kept(inputs: Inputs) -> Measure:
    """Callbacks dialled within the tolerance, of those due and not cancelled."""
    assert inputs.callbacks is not None  # noqa: S101 - `measured` has seen to it
    assert inputs.leads is not None  # noqa: S101
    choices = inputs.choices
    result = callbacks_kept(
        inputs.callbacks, inputs.calls, inputs.leads,
        early=pd.Timedelta(minutes=choices.callback_early_min).to_pytimedelta(),
        late=pd.Timedelta(minutes=choices.callback_late_min).to_pytimedelta(),
        taxonomy=inputs.taxonomy, as_of=inputs.asked_as_of, campaign=inputs.campaign,
    )  # fmt: skip
    count = {
        str(f): int(n)
        for f, n in zip(result.table["fate"], result.table["callbacks"], strict=True)
    }
    excluded = {name: count[name] for name in ("not_due", "cancelled", "no_number")}
    due = count["kept"] + count["late"] + count["lost"]
    used = ("callback_early_min", "callback_late_min")
    return share(count["kept"], due, excluded, detail=result.table, used=used)


def appointment_show(inputs: Inputs) -> Measure:
    """Completed appointments of completed and no-show."""
    assert inputs.appointments is not None  # noqa: S101 - `measured` has seen to it
    require(inputs.appointments, ("status",), "appointments")
    status = inputs.appointments["status"].astype("str").str.casefold()
    status = status.str.replace("_", "-", regex=False)
    came, missed = (int((status == word).sum()) for word in ("completed", "no-show"))
    other = {f"status_{k}": int(n) for k, n in status.value_counts().items()
             if k not in ("completed", "no-show")}  # fmt: skip
    return share(came, came + missed, other)


def missing_disposition(inputs: Inputs) -> Measure:
    """Answered calls of conversation length without a disposition, of answered calls."""
    found, choices = inputs.dials, inputs.choices
    answered = found.flag("answered")
    long = answered & (np.nan_to_num(found.talk_s) >= choices.human_length_s)
    said = found.calls["disposition"].iloc[found.rows].fillna("").str.strip()
    blank: Mask = np.asarray(said == "", dtype=bool)
    ended = micros(found.calls["ended_at"])[found.rows]
    due = np.where(long, ended, 0) < inputs.as_of_us - int(choices.disposition_due_h * _HOUR_US)
    excluded = {"not_due_yet": int((long & blank & ~due).sum())}
    used = ("human_length_s", "disposition_due_h")
    return call_share(inputs, long & blank & due, answered, excluded, used=used)


def report_delta(inputs: Inputs) -> Measure:
    """What the service's report and the calls here differ by, of the report."""
    assert inputs.report is not None  # noqa: S101 - `measured` has seen to it
    result = reconcile(inputs.report, inputs.calls, taxonomy=inputs.taxonomy,
                       as_of=inputs.asked_as_of)  # fmt: skip
    off, total = (int(str(result.parameters[name])) for name in ("difference", "server"))
    explained = {f"explained_{r}": int(n) for r, n in
                 zip(result.table["reason"], result.table["calls"], strict=True)}  # fmt: skip
    return Measure(off / total if total else None, off, total, excluded=explained,
                   detail=result.table)  # fmt: skip
