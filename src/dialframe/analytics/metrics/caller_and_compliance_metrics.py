"""Metrics that an analysis of its own or an audit stands behind: caller IDs, presence, promises, trust, law."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from dialframe.analytics.analyses import caller_id_use, caller_ids
from dialframe.analytics.analyses.adjusted_effects import caller_model
from dialframe.analytics.analyses.callbacks_and_appointments import callbacks_kept
from dialframe.analytics.analyses.reconcile import differences, reconcile, report_days
from dialframe.analytics.attempt.attempt_table import local_match
from dialframe.analytics.attempt.call_scope import known_then
from dialframe.analytics.attempt.frames_to_arrays import (
    DAY_US,
    HOUR_US,
    Floats,
    Ints,
    Mask,
    micros,
    require,
)
from dialframe.analytics.attempt.lead_match import of_campaign
from dialframe.analytics.attempt.taxonomy import NO_GROUP
from dialframe.analytics.claims_and_tables import ratio, sums, table
from dialframe.analytics.inference import normal_quantile, wilson_bounds
from dialframe.analytics.metrics.metric_types import Audited, Inputs, Measure, Rows, from_rows

#: Grades of an audit that leave open what happened.
_OPEN: Final = ("uncertain", "not_evaluable", "not_asked")
_AGES: Final = {
    "screened": "screened_at_import",
    "stale": "check_too_old",
    "never": "never_checked",
}


def caller_id_answer_drop(inputs: Inputs) -> Measure:
    """People that the worst caller ID reached lately, of those that its own rate before lets expect."""
    attempts, choices = inputs.attempts, inputs.choices
    used = ("recent_days", "min_calls")
    if not len(attempts):
        return Measure(None, None, None, excluded={"too_few_dials": 0}, used=used)
    code, names = attempts.text("from_number")
    # Over the whole time: inside a week the week itself would take up what a number lost lately.
    chance = caller_model(attempts, weekly=False).expected
    recent = attempts.when > inputs.attempts.as_of_us - int(choices.recent_days * DAY_US)
    human, size = attempts.flag("human"), len(names)
    lately, before = (
        _Tally(
            sums(code, size, times & human), sums(code, size, times),
            np.bincount(code[times], chance[times], size).astype(float),
        )
        for times in (recent, ~recent)
    )  # fmt: skip
    meant = lately.expected * ratio(before.people, before.expected)
    judged = (lately.dials >= choices.min_calls) & (before.dials >= choices.min_calls)
    # A number that reached nobody before cannot have lost anything.
    judged &= (before.people > 0) & (np.array(names, dtype=object) != NO_GROUP)
    low, high = _drop_bounds(lately, before, int(judged.sum()))
    detail = table({"from_number": names, "people": lately.people, "dials": lately.dials,
                    "expected": meant, "ratio": ratio(lately.people, meant), "low": low,
                    "high": high, "people_before": before.people, "dials_before": before.dials,
                    "judged": judged})  # fmt: skip
    excluded = {"too_few_dials": int((~judged).sum())}
    if not judged.any():
        why = (
            f"no caller ID has {choices.min_calls:,} dials in the last {choices.recent_days:g} days "
            "and as many before, so no drop can be judged; Choices(min_calls=) sets how many"
        )
        return Measure(None, None, None, excluded=excluded, detail=detail, used=used, why_null=why)
    kept = np.where(judged, ratio(lately.people, meant), np.inf)
    worst = int(kept.argmin())
    kept_before = np.nan_to_num(ratio(before.people, before.expected))[code]
    rows = Rows("call", human, (code >= 0) & judged[code], "worst", key=code,
                weight=chance * kept_before, least=choices.min_calls)  # fmt: skip
    return Measure(
        float(kept[worst]), int(lately.people[worst]), float(meant[worst]), float(low[worst]),
        float(high[worst]), "simultaneous", excluded, detail, used, rows=rows,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class _Tally:
    """People, dials and expected people of each caller ID."""

    people: Ints
    dials: Ints
    expected: Floats


def _drop_bounds(lately: _Tally, before: _Tally, judged: int) -> tuple[Floats, Floats]:
    """Bounds of each caller ID's ratio that hold for all judged ones together (Bonferroni).

    Of the people of both times, those lately are a binomial share, whose odds are the ratio times
    what the mix expects of either time (Przyborowski and Wilenski, Biometrika 31 (1940) 313).
    """
    z = float(normal_quantile(1 - 0.025 / max(judged, 1)))
    _, low, high = wilson_bounds(lately.people, lately.people + before.people, z)
    odds = ratio(before.expected, lately.expected)
    return ratio(low, 1 - low) * odds, ratio(high, 1 - high) * odds


def caller_ids_alerted(inputs: Inputs) -> Measure:
    """Caller IDs whose answers dropped, of caller IDs with enough dials."""
    result = caller_ids.of_attempts(inputs.attempts, inputs.choices.min_calls)
    judged, alert = (result.table[name].to_numpy(bool) for name in ("judged", "alert"))
    excluded = {"too_few_dials": int((~judged).sum())}
    code, names = inputs.attempts.text("from_number")
    number = {str(name): i for i, name in enumerate(result.table["from_number"])}
    row_of_call = np.array([*(number[name] for name in names), 0], dtype=np.int64)[code]
    rows = Rows("call", np.append(alert, False)[row_of_call], np.append(judged, False)[row_of_call], "distinct",
                key=row_of_call)  # fmt: skip
    return from_rows(inputs, rows, excluded, detail=result.table, used=("min_calls",))


def local_presence_lift(inputs: Inputs) -> Measure:
    """Rate with a local caller ID less the rate without, inside strata."""
    result = caller_id_use.of_attempts(inputs.attempts)
    row = result.table.iloc[2]
    value, with_it, without, low, high = (
        None if pd.isna(row[name]) else float(row[name])
        for name in ("lift", "rate_matched", "rate_other", "low", "high")
    )
    why = (
        ""
        if value is not None
        else "inside campaign, week and source too few people were reached with and without a local caller ID"
    )
    human, near = inputs.attempts.flag("human"), local_match(inputs.attempts)
    everything = np.ones(len(human), dtype=bool)
    rows = Rows("call", human, everything, "formula", parts=(human & near, near, human & ~near, ~near),
                formula=_lift)  # fmt: skip
    return Measure(value, with_it, without, low, high, "stratified", {}, result.table, (), why,
                   rows if value is not None else None)  # fmt: skip


def _lift(
    near_hits: Floats, near: Floats, hits: Floats, other: Floats
) -> tuple[Floats, Floats, Floats]:
    """Inside a cell: the rate with a local caller ID less the rate with another, and the two."""
    with_it, without = ratio(near_hits, near), ratio(hits, other)
    return with_it - without, with_it, without


def callback_kept(inputs: Inputs) -> Measure:
    """Callbacks dialed within the tolerance, of those due and not cancelled."""
    assert inputs.callbacks is not None  # noqa: S101 - `measured` has seen to it
    assert inputs.leads is not None  # noqa: S101
    choices = inputs.choices
    result = callbacks_kept(
        inputs.calls, inputs.leads, callbacks=inputs.callbacks,
        early=pd.Timedelta(minutes=choices.callback_early_min).to_pytimedelta(),
        late=pd.Timedelta(minutes=choices.callback_late_min).to_pytimedelta(),
        taxonomy=inputs.taxonomy, as_of=inputs.as_of, campaign=inputs.campaign,
    )  # fmt: skip
    count = {
        str(f): int(n)
        for f, n in zip(result.table["fate"], result.table["callbacks"], strict=True)
    }
    excluded = {name: count[name] for name in ("not_due", "cancelled", "no_number")}
    used = ("callback_early_min", "callback_late_min")
    fates = result.tables["each"]
    fate = fates["fate"].to_numpy(dtype=object)
    rows = Rows("other", fate == "kept", np.isin(fate, ["kept", "late", "lost"]),
                lead=_place(fates["lead_id"], inputs.leads["id"]), at=micros(fates["scheduled_at"]))  # fmt: skip
    return from_rows(inputs, rows, excluded, detail=result.table, used=used)


def _place(values: pd.Series, among: pd.Series) -> Ints:
    """The first row of each value among others, -1 where it is not there."""
    row_of = pd.Series(np.arange(len(among)), index=among.astype("str").array)
    row_of = row_of[row_of.index.notna() & ~row_of.index.duplicated()]
    return np.asarray(values.astype("str").map(row_of).fillna(-1), dtype=np.int64)


def appointment_show(inputs: Inputs) -> Measure:
    """Completed appointments of completed and no-show; of a campaign, those of its leads' numbers."""
    appointments = inputs.appointments
    assert appointments is not None  # noqa: S101 - `measured` has seen to it
    require(appointments, ("status",), "appointments")
    is_due = np.ones(len(appointments), dtype=bool)
    elsewhere = {}
    if inputs.campaign is not None:
        require(appointments, ("phone",), "appointments")
        # Appointments name no campaign: numbers of its leads are of it, and those dialed for it.
        known = set(inputs.attempts.column("to_number").dropna().astype("str"))
        if inputs.leads is not None:
            known |= set(inputs.leads["phone"][inputs.loaded].dropna().astype("str"))
        is_due = np.asarray(appointments["phone"].astype("str").isin(known), dtype=bool)
        elsewhere = {"appointments_elsewhere": int((~is_due).sum())}
    status = appointments["status"][is_due].astype("str").str.casefold()
    # The contract writes `no-show` and does not know all states (States: Appointment).
    status = status.str.replace("_", "-", regex=False)
    by_status = {f"status_{k}": int(n) for k, n in status.value_counts().items()
             if k not in ("completed", "no-show")}  # fmt: skip
    statuses = np.asarray(status.fillna(""), dtype=object)
    due = appointments[is_due]
    rows = Rows(
        "other", statuses == "completed", np.isin(statuses, ["completed", "no-show"]), frame=due,
        lead=None if inputs.leads is None or "phone" not in due.columns
        else _place(due["phone"], inputs.leads["phone"]),
        at=micros(due["scheduled_at"]) if "scheduled_at" in due.columns else None,
    )  # fmt: skip
    return from_rows(inputs, rows, by_status | elsewhere)


def missing_disposition(inputs: Inputs) -> Measure:
    """Answered calls of conversation length without a disposition, of answered calls."""
    attempts, choices = inputs.attempts, inputs.choices
    answered = attempts.flag("answered")
    long = answered & (np.nan_to_num(attempts.talk_s) >= choices.human_length_s)
    written = attempts.column("disposition").astype("str").fillna("").str.strip()
    blank: Mask = np.asarray(written == "", dtype=bool)
    ended = micros(attempts.calls["ended_at"])[attempts.rows]
    due = np.where(long, ended, 0) < inputs.attempts.as_of_us - int(
        choices.disposition_due_h * HOUR_US
    )
    excluded = {"not_due_yet": int((long & blank & ~due).sum())}
    used = ("human_length_s", "disposition_due_h")
    return from_rows(inputs, Rows("call", long & blank & due, answered), excluded, used=used)


def report_delta(inputs: Inputs) -> Measure:
    """What the service's report and the calls here differ by, of the report."""
    report, calls = inputs.report, inputs.calls
    assert report is not None  # noqa: S101 - `measured` has seen to it
    if inputs.campaign is not None:
        require(report, ("campaign_id",), "dispositions report")
        report, calls = (frame[of_campaign(frame, inputs.campaign)] for frame in (report, calls))
    calls = known_then(calls, inputs.as_of)
    report = report[_whole_days(report, inputs)]
    result = reconcile(calls, report=report, taxonomy=inputs.taxonomy, as_of=inputs.as_of)
    off, total = (int(str(result.parameters[name])) for name in ("difference", "server"))
    explained = {f"explained_{r}": int(n) for r, n in
                 zip(result.table["reason"], result.table["calls"], strict=True)}  # fmt: skip
    by_day = differences(calls, report)
    rows = Rows("other", by_day["off"].to_numpy(float), np.ones(len(by_day), dtype=bool), "mean",
                weight=by_day["server"].to_numpy(float), frame=by_day, at=report_days(by_day["date"]))  # fmt: skip
    return Measure(off / total if total else None, off, total, excluded=explained,
                   detail=result.table, rows=rows)  # fmt: skip


def _whole_days(report: pd.DataFrame, inputs: Inputs) -> Mask:
    """Days of the report that lie in the window from midnight to midnight UTC."""
    inside = np.ones(len(report), dtype=bool)
    require(report, ("date",), "dispositions report")
    if inputs.since is None and inputs.until is None:
        return inside
    # A day that the window cuts has a count that nobody can divide.
    day = pd.to_datetime(report["date"].astype("str"), utc=True, errors="coerce")
    if inputs.since is not None:
        inside &= np.asarray(day >= inputs.since, dtype=bool)
    if inputs.until is not None:
        inside &= np.asarray(day + pd.Timedelta(days=1) <= inputs.until, dtype=bool)
    return inside


# ---- counts of an audit; nothing is judged a second time here


def dnc_coverage(inputs: Inputs) -> Measure:
    """Callable and called numbers that have a check which is recent enough."""
    audit = _audit_of(inputs)
    if isinstance(audit, str):
        return Measure(None, None, None, why_null=audit)
    summary = audit.coverage.summary
    # Whoever is called without being a lead any more is of the population too.
    row = summary[(summary["population"] == "callable or called").to_numpy(dtype=bool)].iloc[0]
    fresh, numbers = int(row["fresh"]), int(row["numbers"])
    return Measure(
        fresh / numbers if numbers else None, fresh, numbers,
        excluded={words: int(row[name]) for name, words in _AGES.items()}, audited_at=audit.as_of,
    )  # fmt: skip


def graded(check: str, grade: str) -> Callable[[Inputs], Measure]:
    """Share of one grade among all that a check of the audit looked at."""

    def measure(inputs: Inputs) -> Measure:
        audit = _audit_of(inputs)
        if isinstance(audit, str):
            return Measure(None, None, None, why_null=audit)
        rows = audit.checks[(audit.checks["check"] == check).to_numpy(dtype=bool)]
        if not len(rows):
            why = f"the audit has no check {check}: none of its rules asks for it"
            return Measure(None, None, None, why_null=why, audited_at=audit.as_of)
        row = rows.iloc[0]
        part, whole = int(row[grade]), int(row["checked"])
        open_counts = {name: int(row[name]) for name in _OPEN}
        # Where nothing could be judged a share of violations would be 0, and would look like an answer.
        judged = whole - open_counts["not_evaluable"] - open_counts["not_asked"]
        why = (
            "" if judged or not whole else f"the audit could judge none of {whole:,} {row['unit']}"
        )
        value = part / whole if judged else None
        return Measure(
            value, part, whole, excluded=open_counts, why_null=why, audited_at=audit.as_of
        )  # fmt: skip

    return measure


def _audit_of(inputs: Inputs) -> Audited | str:
    """The audit, or why it cannot answer for these inputs: it counts an account and its own period."""
    audit = inputs.audit
    assert audit is not None  # noqa: S101 - `measured` has seen to it
    if inputs.campaign is not None:
        return "an audit counts the whole account, not one campaign: see its findings by campaign"
    if inputs.since is not None or inputs.until is not None:
        return "an audit has a period of its own: pass since= and until= to dialframe.audit alone"
    if inputs.as_of is not None and inputs.as_of < audit.as_of:
        return (
            f"the audit is of {audit.as_of:%Y-%m-%d %H:%M} UTC, which is after as_of: pass as_of= to "
            "dialframe.audit too"
        )
    return audit
