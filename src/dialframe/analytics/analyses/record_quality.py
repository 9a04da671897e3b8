"""Whether the records can be trusted: classes, leads, contradictions, gaps, missing and late outcomes."""

from __future__ import annotations

import itertools
from datetime import datetime
from typing import Final, Unpack

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dialframe.analytics.analysis_result import Result, result_of
from dialframe.analytics.attempt.argument_checks import Known, Selection, analysis
from dialframe.analytics.attempt.attempt_table import count_attempts
from dialframe.analytics.attempt.call_scope import Scope, balance, known_then, latest
from dialframe.analytics.attempt.classify import (
    Classes,
    class_table,
    classes,
    mapping_warnings,
    unmapped_codes,
)
from dialframe.analytics.attempt.frames_to_arrays import (
    DAY_US,
    HOUR_US,
    NO_TIME,
    Mask,
    arrow,
    in_order,
    micros,
    micros_of,
    repeated,
    require,
    seconds,
    text,
)
from dialframe.analytics.attempt.lead_match import QUALITIES, logged, match_rows
from dialframe.analytics.attempt.taxonomy import DEFAULT, NO_GROUP, NOTES, OUTCOMES, Taxonomy
from dialframe.analytics.claims_and_tables import plural, rated, sums, table, table_of_rows
from dialframe.errors import ConfigError
from dialframe.instants import instant

#: Hours since a call ended at which a new band begins.
AGES_H: Final = (1, 24, 168)


@analysis
def classify(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    taxonomy: Taxonomy = DEFAULT,
) -> Result:
    """The outcome of each call, in classes that rates are made of.

    Args:
        leads: Frame of the leads table; not needed.

    Returns:
        One row per call on the index of `calls`. `outcome` is the class; `layer` says which layer
        it comes from (`business` or `telephony`); `telephony` and `business` are the class of
        each, `business` null where no disposition that the taxonomy has was logged. `human` and
        `right_party` are null where the call was answered and nothing says by whom. `positive`,
        `appointment`, `conversion`, `machine`, `final` and `attempt` are flags of the class
        (see `analytics.OUTCOMES`), `answered` says whether `answered_at` is there. `dnc_request` is
        true on a conflict row too: a wish not to be called is never argued away. `conflict` marks
        layers that contradict each other, `unmapped` a code that would have decided the outcome
        and is not in the taxonomy.
    """
    del leads
    classified = classes(calls, taxonomy)
    odd = int(classified.unmapped.sum())
    return _of_every_call(
        "classify",
        f"{plural(len(calls), 'call')}: {int(classified.answered.sum()):,} answered, "
        f"{int(classified.flag('human').sum()):,} by a person who is known to be one",
        pd.DataFrame(class_table(classified), index=calls.index),
        "The outcome of each call by what the network and the agent said of it",
        calls, taxonomy, classified, mapping_warnings(calls, taxonomy, odd),
    )  # fmt: skip


@analysis
def unmapped(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    taxonomy: Taxonomy = DEFAULT,
) -> Result:
    """The codes that the taxonomy does not have, most frequent first.

    Args:
        leads: Frame of the leads table; not needed.

    Returns:
        Columns `field`, `code` (as it was written), `calls` and `stub`: a line for a mapping of
        your own. `.table.attrs["stub"]` has the whole file, for `Taxonomy.with_file`, once each `?`
        is replaced by a class.
    """
    del leads
    codes = unmapped_codes(calls, taxonomy)
    return _of_every_call(
        "unmapped",
        f"{plural(len(codes), 'code')} without a class, on {int(codes['calls'].sum()):,} of "
        f"{plural(len(calls), 'call')}" if len(codes) else "Every code has a class",
        codes, "Codes of calls that the taxonomy does not have, and how many calls carry each",
        calls, taxonomy, classes(calls, taxonomy),
    )  # fmt: skip


@analysis
def match(
    calls: pd.DataFrame,
    leads: pd.DataFrame,
    *,
    events: pd.DataFrame | None = None,
    started: pd.DataFrame | None = None,
    taxonomy: Taxonomy = DEFAULT,
) -> Result:
    """The lead of each call.

    A lead is found by the ids of an event or of a click-to-call; else by campaign and number; else
    by number alone, if one lead only has it. The number is `to_number`, or `from_number` of an
    inbound call. Nothing is guessed: several leads with the number are `ambiguous` and no lead is
    given.

    Args:
        events: Frame of the events table; `disposition.logged` names call and lead.
        started: Answers to click-to-call: columns `call_id`, `lead_id`.
        taxonomy: What the codes mean; it changes no match.

    Returns:
        One row per call on the index of `calls`: `lead_id` (null where none is given) and
        `match_quality`. Table `qualities` counts each: `match_quality`, `calls`.
    """
    matched = match_rows(calls, leads, events=events, started=started)
    ids: list[str | None] = [None if pd.isna(value) else str(value) for value in leads["id"]]
    frame = pd.DataFrame(
        {
            "lead_id": text([*ids, None], np.maximum(matched.lead, -1)),
            "match_quality": text(list(QUALITIES), matched.quality),
        },
        index=calls.index,
    )
    # Every quality has its row, those without a call too: the table has the same rows for every account.
    counts = sums(matched.quality, len(QUALITIES))
    qualities = table({"match_quality": list(QUALITIES), "calls": counts})
    return _of_every_call(
        "match",
        f"{int((matched.lead >= 0).sum()):,} of {plural(len(calls), 'call')} have a lead; the numbers "
        f"of {int(counts[QUALITIES.index('ambiguous')]):,} belong to several",
        frame, "The lead of each call: by ids, by campaign and number, or by a number of one lead only",
        calls, taxonomy, classes(calls, taxonomy), tables={"qualities": qualities},
    )  # fmt: skip


def _of_every_call(
    name: str, answer: str, frame: pd.DataFrame, definition: str, calls: pd.DataFrame,
    taxonomy: Taxonomy, classified: Classes, warnings: tuple[str, ...] = (),
    tables: dict[str, pd.DataFrame] | None = None,
) -> Result:  # fmt: skip
    """What is said of every call that was given, inbound and unfinished ones too."""
    every = np.ones(len(calls), dtype=bool)
    notes = {
        ("unmapped", "calls"): int(classified.unmapped.sum()),
        ("conflict", "calls"): int(classified.conflict.sum()),
    }
    return Result(
        name, answer, frame, definition, balance(Scope(every, {}, every), notes, NOTES), taxonomy,
        latest(calls), tables or {}, warnings=warnings,
    )  # fmt: skip


@analysis
def conflicts(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    **selection: Unpack[Selection],
) -> Result:
    """Where network and agent contradict each other, as a matrix.

    Returns:
        One row per class by the network, disposition and class by it: `telephony`, `disposition`,
        `business`, `calls`, `denominator` (attempts), `share`; most frequent first. Table `each`
        has the ids.
    """
    attempts = count_attempts(calls, leads, **selection)
    odd = attempts.classes.conflict[attempts.rows]
    # Ids, so that each contradiction can be looked up where the calls are.
    rows = attempts.rows[odd]
    names = np.array([*(o.name for o in OUTCOMES), NO_GROUP, NO_GROUP], dtype=object)
    conflicting = table(
        {
            "id": attempts.column("id", rows).astype("str").array,
            "telephony": list(names[attempts.classes.telephony[rows]]),
            "disposition": attempts.column("disposition", rows).astype("str").array,
            "business": list(names[attempts.classes.business[rows]]),
        }
    )
    keys = ["telephony", "disposition", "business"]
    frame = conflicting.groupby(keys, dropna=False).size().reset_index(name="calls")
    frame = frame.astype({**dict.fromkeys(keys, "str"), "calls": "Int64"})
    frame = frame.sort_values("calls", ascending=False, kind="stable", ignore_index=True)
    frame["denominator"] = pd.array([len(attempts)] * len(frame), dtype="Int64")
    frame["share"] = frame["calls"].astype("Float64") / max(len(attempts), 1)
    return result_of(
        attempts, "conflicts",
        f"{plural(int(odd.sum()), 'call')} of {len(attempts):,} have a disposition or cause that "
        "contradicts the call",
        frame,
        "Attempts whose disposition cannot have happened on such a call, or whose cause or status "
        "contradicts answered_at; the network's word stands",
        tables={"each": conflicting},
    )  # fmt: skip


@analysis
def missing_dispositions(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    human_length_s: float = 30.0,
    due_h: float = 1.0,
    **selection: Unpack[Selection],
) -> Result:
    """Conversations that nobody logged an outcome of, by campaign and age.

    Args:
        leads: Frame of the leads table, so that calls to one lead count as one cluster.
        human_length_s: Talk from which a call must have been a conversation, seconds.
        due_h: Hours after its end at which a disposition is missing.

    Returns:
        One row per campaign: `campaign_id`, `numerator` (missing), `denominator` (answered and
        long enough), `rate`, `low`, `high`. Table `ages` counts by hours since the end, `each` has
        the ids.
    """
    attempts = count_attempts(calls, leads, **selection)
    long = attempts.flag("answered") & (np.nan_to_num(attempts.talk_s) >= human_length_s)
    blank = np.asarray(attempts.column("disposition").astype("str").fillna("").str.strip() == "")
    ended = micros(attempts.calls["ended_at"])[attempts.rows]
    ends = attempts.as_of_us
    age_h = np.where(long, (ends - np.where(long, ended, 0)) / HOUR_US, 0.0)
    due = long & (age_h > due_h)
    missing = due & blank
    code, names = attempts.text("campaign_id")
    frame = table(
        {
            "campaign_id": names,
            **rated(
                sums(code, len(names), missing),
                sums(code, len(names), due),
            ),
        }
    ).sort_values("numerator", ascending=False, kind="stable", ignore_index=True)
    band = np.searchsorted(np.array(AGES_H, float), age_h, side="right")
    labels = [f"up to {AGES_H[0]} h", *(f"{a} to {b} h" for a, b in itertools.pairwise(AGES_H)),
              f"over {AGES_H[-1]} h"]  # fmt: skip
    ages = table({"age": labels, "calls": sums(band, len(labels), long & blank)})
    rows = attempts.rows[missing]
    missing_calls = table(
        {"id": attempts.column("id", rows).astype("str").array, "talk_s": attempts.talk_s[missing]}
    )
    return result_of(
        attempts, "missing_dispositions",
        f"{plural(int(missing.sum()), 'conversation')} of {int(due.sum()):,} have no disposition",
        frame,
        f"Answered calls of {human_length_s:g} s or more without a disposition {due_h:g} h after "
        "their end",
        {("not_due", "calls"): int((long & ~due).sum())}, {"not_due": "ended lately"},
        tables={"ages": ages, "each": missing_calls},
        parameters={"human_length_s": human_length_s, "due_h": due_h},
    )  # fmt: skip


@analysis
def late_dispositions(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    earlier: pd.DataFrame | None = None,
    events: pd.DataFrame | None = None,
    late_h: float = 1.0,
    **selection: Unpack[Known],
) -> Result:
    """Dispositions that came or changed after the call, and what that moves.

    The service's calls do not say when they changed, so this needs an earlier reading of the same
    calls, the events `disposition.logged`, or both.

    Args:
        calls: Frame of the calls table as it is now.
        leads: Frame of the leads table, so that calls to one lead count as one cluster.
        earlier: The same calls as they were read before.
        events: Frame of the events table.
        late_h: Hours after the end of the call from which a logged disposition is late.

    Returns:
        One row per change: `was` (null: none), `now`, `calls`. Table `each` has `id`, `was`,
        `now`, `seen_by` (`reading`, `event`) and `delay_h` where an event tells.

    Raises:
        ConfigError: A column is missing, or neither source is given.

    Example:
        result = analytics.late_dispositions(calls, leads, earlier=calls)
    """
    if earlier is None and events is None:
        raise ConfigError(
            "late dispositions need an earlier reading of the calls (earlier=) or the events "
            "(events=): the calls themselves do not say when they changed"
        )
    require(calls, ("id",), "calls")
    attempts = count_attempts(calls, leads, **selection, include_no_campaign=True)
    known = known_then(calls, instant("as_of", selection.get("as_of")))
    # A reading sees the change itself; an event says when. Where both tell of a call the reading stands.
    parts = [_reread(known, earlier), _told(known, events, late_h)]
    late_calls = pd.concat(parts, ignore_index=True).drop_duplicates("id", ignore_index=True)
    frame = late_calls.groupby(["was", "now"], dropna=False).size().reset_index(name="calls")
    frame = frame.astype({"was": "str", "now": "str", "calls": "Int64"})
    frame = frame.sort_values("calls", ascending=False, kind="stable", ignore_index=True)
    return result_of(
        attempts, "late_dispositions",
        f"{plural(len(late_calls), 'disposition')} came or changed after the call", frame,
        f"Calls whose disposition differs from an earlier reading, or was logged more than "
        f"{late_h:g} h after the call ended",
        tables={"each": late_calls}, parameters={"late_h": late_h},
    )  # fmt: skip


def _reread(calls: pd.DataFrame, earlier: pd.DataFrame | None) -> pd.DataFrame:
    if earlier is None:
        return _changes([], [], [], [], [])
    require(earlier, ("id", "disposition"), "earlier")
    # Of rows that repeat an id the first one counts, here as everywhere.
    before = earlier.drop_duplicates("id", keep="first").set_index("id")["disposition"]
    seen_before = calls[calls["id"].isin(before.index)]
    was = before.reindex(seen_before["id"]).astype("str").fillna("").to_numpy(dtype=object)
    now = seen_before["disposition"].astype("str").fillna("").to_numpy(dtype=object)
    differs = was != now
    ids = seen_before["id"].to_numpy(dtype=object)[differs]
    return _changes(list(ids), list(was[differs]), list(now[differs]), ["reading"] * len(ids),
                    [np.nan] * len(ids))  # fmt: skip


def _told(calls: pd.DataFrame, events: pd.DataFrame | None, late_h: float) -> pd.DataFrame:
    """Calls whose last logged disposition came late, or after another one."""
    if events is None:
        return _changes([], [], [], [], [])
    logged_events = logged(events).dropna(subset=["call_id"])
    code, names = in_order(logged_events["call_id"])
    # Events are in the order of time, and stay so within their call.
    order = np.argsort(code, kind="stable")
    first = np.flatnonzero(np.diff(code[order], prepend=-1))
    last = np.append(first[1:], len(order))[: len(first)] - 1
    codes = logged_events["disposition"].fillna("").to_numpy(dtype=object)[order]
    unlike = codes != codes[np.repeat(first, last - first + 1)]
    several = np.bincount(code[order], unlike, len(names)) > 0
    was = np.where(last > first, codes[last - 1], "")
    ids = arrow(calls["id"])
    event_of_call = np.asarray(pc.index_in(ids, value_set=pa.array(names, ids.type)).fill_null(-1))
    # Of rows that repeat an id the first one counts: it is written last.
    rows = np.flatnonzero(event_of_call >= 0)[::-1]
    ended = np.full(len(names), NO_TIME)
    ended[event_of_call[rows]] = micros(calls["ended_at"])[rows]
    delay = seconds(micros(logged_events["logged_at"])[order[last]], ended) / 3_600
    changed = several | (delay > late_h)
    return _changes(
        [name for name, hit in zip(names, changed, strict=True) if hit], list(was[changed]),
        list(codes[last][changed]), ["event"] * int(changed.sum()), list(delay[changed]),
    )  # fmt: skip


def _changes(*columns: list[object]) -> pd.DataFrame:
    names = ("id", "was", "now", "seen_by")
    frame = {
        name: [value or None for value in values]
        for name, values in zip(names, columns, strict=False)
    }
    return table({**frame, "delay_h": np.array(columns[4], dtype=float)})


@analysis
def completeness(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    events: pd.DataFrame | None = None,
    **selection: Unpack[Known],
) -> Result:
    """Whether everything is here, and whether each row can be true.

    The service's call list has no date of change, so a row that changed or came late cannot be seen
    in one reading; what can be seen is checked.

    Args:
        leads: Frame of the leads table, or None.
        events: Frame of the events table: calls that they name must be here.

    Returns:
        One row per check: `check`, `unit`, `count`, `of`, `share` (null where `of` is 0), `ok`,
        `meaning`. Table `gaps` has the weekdays without a call between the first and the last.
    """
    attempts = count_attempts(calls, leads, **selection, include_no_campaign=True)
    known = known_then(calls, instant("as_of", selection.get("as_of")))
    lead_of_call = attempts.matched.lead if known is calls else count_attempts(
        known, leads, **selection, include_no_campaign=True
    ).matched.lead  # fmt: skip
    made = micros(known["created_at"])
    # Weekdays of UTC: calling days nearly everywhere, so that one without any call asks for a reason.
    days = np.unique(made[made != NO_TIME] // DAY_US)
    every_day = np.arange(days[0], days[-1] + 1) if len(days) else days
    missing = np.setdiff1d(every_day, days).astype("datetime64[D]")
    gaps = table({"date": [str(day) for day in missing[np.is_busday(missing)]]})
    rows = [*_call_checks(known, attempts.as_of), ("weekdays_without_calls", "days", len(gaps), 0,
            "weekdays between the first and the last call without any: a pull may have stopped"),
            *_event_checks(known, events), *_lead_checks(attempts.leads, lead_of_call)]  # fmt: skip
    frame = table_of_rows(
        {"check": str, "unit": str, "count": int, "of": int, "share": float, "ok": bool,
         "meaning": str},
        [(check, unit, count, whole, count / whole if whole else np.nan, count == 0, meaning)
         for check, unit, count, whole, meaning in rows],
    )  # fmt: skip
    odd = frame[~frame["ok"].to_numpy(bool)]
    odd_words = ", ".join(f"{r['check']} {int(r['count']):,}" for r in odd.to_dict("records"))
    return result_of(
        attempts, "completeness",
        f"{plural(len(odd), 'check')} of {len(frame)} found something: {odd_words}" if len(odd)
        else f"All {len(frame)} checks are clean" if len(calls) or (leads is not None and len(leads))
        else "There is nothing to check: no calls and no leads",
        frame,
        "Rows that cannot be true, rows that are missing, and rows that do not fit each other",
        tables={"gaps": gaps},
        warnings=("The service does not say when a call changed: a row that was edited after it was read is "
            "seen only when it is read again.",),
    )  # fmt: skip


_Check = tuple[str, str, int, int, str]


def _call_checks(calls: pd.DataFrame, as_of: datetime | None) -> list[_Check]:
    made, answered, ended = (micros(calls[n]) for n in ("created_at", "answered_at", "ended_at"))
    ends = micros_of(as_of)
    has_time = {
        "made": made != NO_TIME,
        "answered": answered != NO_TIME,
        "ended": ended != NO_TIME,
    }
    duration = calls["duration_seconds"].to_numpy(float, na_value=np.nan) if (
        "duration_seconds" in calls.columns
    ) else np.full(len(calls), np.nan)  # fmt: skip
    ids = calls["id"] if "id" in calls.columns else pd.Series(dtype="str")
    blank = np.asarray(calls["to_number"].isna(), dtype=bool)
    # A day is longer than any call: what has no end by then is stuck, or was not read again.
    open_ = (
        ~has_time["ended"]
        & has_time["made"]
        & (np.where(has_time["made"], made, 0) < ends - DAY_US)
    )
    masks: list[tuple[str, Mask, str]] = [
        (
            "repeated_id",
            repeated(ids),
            "the same call twice",
        ),
        ("no_start", ~has_time["made"], "no created_at: in no window of time"),
        ("never_ended", open_, "no ended_at a day after the start: stuck, or not read again"),
        (
            "answered_before_start",
            has_time["answered"] & has_time["made"] & (answered < made),
            "impossible",
        ),
        (
            "ended_before_answer",
            has_time["ended"] & has_time["answered"] & (ended < answered),
            "impossible",
        ),
        (
            "ended_before_start",
            has_time["ended"] & has_time["made"] & (ended < made),
            "impossible",
        ),
        ("negative_duration", np.nan_to_num(duration) < 0, "impossible"),
        ("in_the_future", has_time["made"] & (made > ends), "starts after the data was read"),
        ("no_number", blank, "no called number: matches no lead"),
    ]
    return [(name, "calls", int(mask.sum()), len(calls), why) for name, mask, why in masks]


def _event_checks(calls: pd.DataFrame, events: pd.DataFrame | None) -> list[_Check]:
    if events is None or "id" not in calls.columns:
        return []
    require(events, ("type", "data"), "events")
    data = events["data"].dropna().astype("str")
    named = set(data.str.extract(r'"call_id":\s*"([^"]+)"')[0].dropna())
    ids = arrow(calls["id"])
    is_stored = pc.is_in(ids, value_set=pa.array(sorted(named), ids.type))
    missing = named - set(ids.filter(is_stored).to_pylist())
    why = "calls that events name and that are not here: pull again"
    return [("calls_of_events_missing", "calls", len(missing), len(named), why)]


def _lead_checks(leads: pd.DataFrame, lead: np.ndarray) -> list[_Check]:
    if not len(leads):
        return []
    seen = np.zeros(len(leads) + 1, dtype=bool)
    seen[lead] = True
    # The service's own count (contract, Lead): more than none, and no call of it here, is a gap.
    tried = leads["attempts"].to_numpy(float, na_value=0) > 0 if (
        "attempts" in leads.columns
    ) else np.zeros(len(leads), dtype=bool)  # fmt: skip
    lost = tried & ~seen[:-1]
    return [
        ("calls_without_lead", "calls", int((lead < 0).sum()), len(lead), "no lead, or several"),
        ("attempted_leads_without_calls", "leads", int(lost.sum()), len(leads),
         "the service counts attempts on them, and none of their calls is here"),
    ]  # fmt: skip
