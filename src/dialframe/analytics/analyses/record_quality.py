"""Whether the records can be trusted: classes, leads, contradictions, gaps, missing and late outcomes."""

from __future__ import annotations

from datetime import datetime
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dialframe.analytics.analysis_result import Result, result_of
from dialframe.analytics.attempt.argument_checks import analysis
from dialframe.analytics.attempt.attempt_table import Attempts, count_attempts
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
    NO_TIME,
    Mask,
    arrow,
    micros,
    micros_of,
    repeated,
    require,
    text,
)
from dialframe.analytics.attempt.lead_match import QUALITIES, match_rows
from dialframe.analytics.attempt.taxonomy import DEFAULT, NO_GROUP, NOTES, OUTCOMES, Taxonomy
from dialframe.analytics.claims_and_tables import plural, sums, table, table_of_rows
from dialframe.instants import When, instant


@analysis
def classify(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    taxonomy: Taxonomy = DEFAULT,
) -> Result:
    """The outcome of each call, in classes that rates are made of.

    Args:
        calls: Frame of the calls table, or of `account.attempts()`.
        leads: Frame of the leads table; not needed.
        taxonomy: What the codes mean.

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

    Raises:
        ConfigError: A column is missing.
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
        calls: Frame of the calls table, or of `account.attempts()`.
        leads: Frame of the leads table.
        events: Frame of the events table; `disposition.logged` names call and lead.
        started: Answers to click-to-call: columns `call_id`, `lead_id`.
        taxonomy: What the codes mean; it changes no match.

    Returns:
        One row per call on the index of `calls`: `lead_id` (null where none is given) and
        `match_quality`. Table `qualities` counts each: `match_quality`, `calls`.

    Raises:
        ConfigError: A column is missing.
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
def completeness(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    events: pd.DataFrame | None = None,
    taxonomy: Taxonomy = DEFAULT,
    as_of: When | None = None,
) -> Result:
    """Whether everything is here, and whether each row can be true.

    The service's call list has no date of change, so a row that changed or came late cannot be seen
    in one reading; what can be seen is checked.

    Args:
        calls: Frame of the calls table, or of `account.attempts()`.
        leads: Frame of the leads table, or None.
        events: Frame of the events table: calls that they name must be here.
        taxonomy: What the codes mean.
        as_of: What was known at this instant counts; by default the latest instant in the data.

    Returns:
        One row per check: `check`, `unit`, `count`, `of`, `share` (null where `of` is 0), `ok`,
        `meaning`. Table `gaps` has the weekdays without a call between the first and the last,
        `conflicts` the calls whose outcome cannot be true, `unmapped` the codes without a class.

    Raises:
        ConfigError: A column is missing, or an instant is none.
    """
    attempts = count_attempts(
        calls, leads, taxonomy=taxonomy, as_of=as_of, include_no_campaign=True
    )
    known = known_then(calls, instant("as_of", as_of))
    lead_of_call = attempts.matched.lead if known is calls else count_attempts(
        known, leads, taxonomy=taxonomy, as_of=as_of, include_no_campaign=True
    ).matched.lead  # fmt: skip
    made = micros(known["created_at"])
    # Weekdays of UTC: calling days nearly everywhere, so that one without any call asks for a reason.
    days = np.unique(made[made != NO_TIME] // DAY_US)
    every_day = np.arange(days[0], days[-1] + 1) if len(days) else days
    missing = np.setdiff1d(every_day, days).astype("datetime64[D]")
    gaps = table({"date": [str(day) for day in missing[np.is_busday(missing)]]})
    rows = [*_call_checks(known, attempts.as_of), ("weekdays_without_calls", "days", len(gaps), 0,
            "weekdays between the first and the last call without any: a pull may have stopped"),
            *_event_checks(known, events), *_lead_checks(attempts.leads, lead_of_call),
            *_outcome_checks(attempts)]  # fmt: skip
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
        tables={"gaps": gaps, "conflicts": _conflicts(attempts), "unmapped": unmapped_codes(known, attempts.taxonomy)},
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
    # A field that nobody writes says none of every lead, and a rate made of it is 0.
    unwritten = seen[:-1] & ~tried & ("attempts" in leads.columns)
    return [
        ("calls_without_lead", "calls", int((lead < 0).sum()), len(lead), "no lead, or several"),
        ("attempted_leads_without_calls", "leads", int(lost.sum()), len(leads),
         "the service counts attempts on them, and none of their calls is here"),
        ("called_leads_without_attempts", "leads", int(unwritten.sum()), len(leads),
         "calls of them are here, and their field attempts says none: it may never be written"),
    ]  # fmt: skip


def _outcome_checks(attempts: Attempts) -> list[_Check]:
    """What agents and network say of the counted calls: missing, unknown and contradicting."""
    odd = attempts.classes.conflict[attempts.rows]
    unmapped = attempts.classes.unmapped[attempts.rows]
    rows = [
        (
            "contradictions",
            int(odd.sum()),
            len(attempts),
            "disposition or cause cannot be true of such a call",
        ),
        (
            "unmapped_codes",
            int(unmapped.sum()),
            len(attempts),
            "the taxonomy does not have the code",
        ),
    ]
    if "disposition" in attempts.calls.columns:
        talk = attempts.flag("answered") & (np.nan_to_num(attempts.talk_s) >= _CONVERSATION_S)
        blank = np.asarray(
            attempts.column("disposition").astype("str").fillna("").str.strip() == ""
        )
        rows.append(("conversations_without_disposition", int((talk & blank).sum()), int(talk.sum()),
                     f"answered, {_CONVERSATION_S:g} s or more, and no outcome logged"))  # fmt: skip
    return [(name, "calls", count, of, why) for name, count, of, why in rows]


#: Talk from which a call must have been a conversation, seconds.
_CONVERSATION_S: Final = 30.0


def _conflicts(attempts: Attempts) -> pd.DataFrame:
    """Calls whose disposition cannot have happened on them, by id, with both classes."""
    rows = attempts.rows[attempts.classes.conflict[attempts.rows]]
    names = np.array([*(o.name for o in OUTCOMES), NO_GROUP, NO_GROUP], dtype=object)
    return table(
        {
            "id": attempts.column("id", rows).astype("str").array,
            "telephony": list(names[attempts.classes.telephony[rows]]),
            "disposition": attempts.column("disposition", rows).astype("str").array,
            "business": list(names[attempts.classes.business[rows]]),
        }
    )
