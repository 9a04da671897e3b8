"""Callbacks and appointments: kept, late, lost."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

import numpy as np
import pandas as pd

from dialframe.analytics.analysis_result import Result, result_of
from dialframe.analytics.attempt.argument_checks import analysis
from dialframe.analytics.attempt.attempt_table import Attempts, count_attempts
from dialframe.analytics.attempt.call_scope import latest
from dialframe.analytics.attempt.frames_to_arrays import (
    NEVER,
    NO_TIME,
    arrow,
    micros,
    numbered,
    require,
)
from dialframe.analytics.attempt.lead_match import known_campaign, next_to, of_campaign
from dialframe.analytics.attempt.taxonomy import DEFAULT, Taxonomy
from dialframe.analytics.claims_and_tables import plural, rated, share, sums, table
from dialframe.instants import When

#: What came of a callback.
FATES: Final = ("kept", "late", "lost", "not_due", "cancelled", "no_number")
_FATES_MEAN: Final = (
    "dialed within the tolerance", "dialed later", "not dialed since it was due",
    "not due yet", "cancelled before", "its lead is not here",
)  # fmt: skip


@analysis
def callbacks_kept(
    calls: pd.DataFrame,
    leads: pd.DataFrame,
    *,
    callbacks: pd.DataFrame,
    early: timedelta = timedelta(minutes=15),
    late: timedelta = timedelta(minutes=60),
    taxonomy: Taxonomy = DEFAULT,
    as_of: When | None = None,
    campaign: str | None = None,
) -> Result:
    """Whether the people who asked to be called again were called, and when.

    A callback is kept if an outbound call of any campaign went to its lead's number from `early`
    before to `late` after its time; late if the first one came afterwards. Those whose time with
    its tolerance is not over by `as_of` are not due.

    Args:
        early: How long before its time a call keeps the callback.
        late: How long after its time.
        campaign: Callbacks of this campaign only.

    Returns:
        One row per fate: `fate`, `callbacks`, `denominator` (due and not cancelled), `rate`, `low`,
        `high` (null for fates that are not of the denominator), `reached` (a person answered),
        `pending` (still pending by the service's own word), `meaning`. Table `broken` lists the
        promises that are late or lost and still pending, `each` every callback with its fate.

    Example:
        result = analytics.callbacks_kept(calls, leads, callbacks=callbacks)
    """
    require(callbacks, ("id", "lead_id", "scheduled_at", "status"), "callbacks")
    known_campaign(campaign, callbacks, calls, leads)
    promised = callbacks if campaign is None else callbacks[of_campaign(callbacks, campaign)]
    # A promise is kept by any call to the person, click-to-call outside campaigns too.
    attempts = count_attempts(calls, leads, taxonomy=taxonomy, include_no_campaign=True,
                  as_of=as_of or latest(calls, leads, callbacks))  # fmt: skip
    fates = _fates(promised, attempts, early, late)
    fate = fates["fate"].map({name: i for i, name in enumerate(FATES)}).to_numpy(dtype=int)
    count = sums(fate, len(FATES))
    due = int(count[:3].sum())
    # Only what was due can be kept or broken: the other fates are counted, and of no rate.
    base = np.where(np.arange(len(FATES)) < 3, due, 0)
    shares = rated(np.where(base > 0, count, 0), base)
    reached, pending = (fates[name].to_numpy(bool) for name in ("reached", "pending"))
    frame = table(
        {
            "fate": list(FATES),
            "callbacks": count,
            **{name: shares[name] for name in ("denominator", "rate", "low", "high")},
            "reached": sums(fate, len(FATES), reached),
            "pending": sums(fate, len(FATES), pending),
            "meaning": list(_FATES_MEAN),
        }
    )
    # The service still counts these as open: somebody has to call them, or to close them.
    broken = fates[pending & np.isin(fate, [1, 2])]
    kept = share(count[0] / due) if due else "none"
    return result_of(
        attempts, "callbacks_kept",
        f"{count[0]:,} of {plural(due, 'callback')} due were kept ({kept}); "
        f"{count[1]:,} came late, {count[2]:,} never",
        frame,
        f"Callbacks whose lead's number was dialed from {early} before to {late} after their "
        "time, of those that are due and not cancelled",
        tables={"broken": broken.reset_index(drop=True), "each": fates},
        parameters={"early_min": early.total_seconds() / 60, "late_min": late.total_seconds() / 60},
    )  # fmt: skip


@analysis
def appointments_kept(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    appointments: pd.DataFrame,
    window: timedelta = timedelta(hours=2),
    taxonomy: Taxonomy = DEFAULT,
    as_of: When | None = None,
) -> Result:
    """What became of the appointments, and which call each came of.

    An appointment is given to the last outbound call to its number that began before it was booked
    and no longer than `window` before; `sure` where that call's outcome is an appointment,
    `likely` where a person answered, `weak` otherwise, `none` without such a call.

    Args:
        window: Longest time from the call to the booking.

    Returns:
        One row per status: `status`, `appointments`, and of `completed` and `no-show` also
        `denominator` (both), `rate`, `low`, `high`. Table `each` has `id`, `status`, `call_id` and
        `confidence`; table `confidence` counts them.

    Example:
        result = analytics.appointments_kept(calls, appointments=appointments)
    """
    require(appointments, ("id", "phone", "status", "created_at"), "appointments")
    attempts = count_attempts(calls, leads, taxonomy=taxonomy, include_no_campaign=True,
                  as_of=as_of or latest(calls, leads, appointments))  # fmt: skip
    attributed = _attributed(appointments, attempts, round(window.total_seconds() * 1e6))
    status = attributed["status"].fillna("(none)").astype("str").str.casefold()
    # The contract writes `no-show` and says that it does not know all states (States: Appointment).
    status = status.str.replace("_", "-", regex=False)
    code, names = numbered(status)
    count = sums(code, len(names))
    shown = [i for i, name in enumerate(names) if name in ("completed", "no-show")]
    over = int(count[shown].sum())
    base = np.array([over if i in shown else 0 for i in range(len(names))], dtype=np.int64)
    shares = rated(np.where(base > 0, count, 0), base)
    frame = table(
        {
            "status": names,
            "appointments": count,
            **{name: shares[name] for name in ("denominator", "rate", "low", "high")},
        }
    ).sort_values("appointments", ascending=False, kind="stable", ignore_index=True)
    sure, kinds = numbered(attributed["confidence"])
    show = int(count[[i for i in shown if names[i] == "completed"]].sum())
    show_words = f" ({share(show / over)})" if over else ""
    return result_of(
        attempts, "appointments_kept",
        f"{show:,} of {plural(over, 'appointment')} that are over were kept{show_words}", frame,
        "Completed of completed and no-show; cancelled and those to come stand apart",
        tables={"each": attributed,
            "confidence": table({"confidence": kinds, "appointments": sums(sure, len(kinds))})},
        parameters={"window_h": window.total_seconds() / 3600},
    )  # fmt: skip


def _fates(
    callbacks: pd.DataFrame, attempts: Attempts, early: timedelta, late: timedelta
) -> pd.DataFrame:
    phone = dict(zip(attempts.leads["id"].astype("str"), attempts.leads["phone"], strict=False))
    number = pd.Series(callbacks["lead_id"].map(phone), dtype="str")
    due = micros(callbacks["scheduled_at"])
    opens = due - round(early.total_seconds() * 1e6)
    # Kept by a call within the tolerance, which dialers need: nobody dials to the minute.
    closes = due + round(late.total_seconds() * 1e6)
    call = next_to(attempts.numbers("to_number"), attempts.when, number, opens, before=False)
    at = np.append(attempts.when, NEVER)[call]
    reached = np.append(attempts.flag("human"), False)[call]
    status = callbacks["status"].astype("str").str.casefold().fillna("").to_numpy(dtype=object)
    # A callback whose lead was deleted names none (contract, Callback), and so no number.
    nobody = number.isna().to_numpy(bool) | (due == NO_TIME)
    # In the order of this list: a callback that was cancelled is neither kept nor broken by a call.
    fate = np.select(
        [status == "cancelled", nobody, at <= closes, closes > attempts.as_of_us, at != NEVER],
        [4, 5, 0, 3, 1],
        default=2,
    )  # fmt: skip
    return table(
        {
            "id": callbacks["id"].astype("str").array,
            "lead_id": callbacks["lead_id"].astype("str").array,
            "scheduled_at": callbacks["scheduled_at"].array,
            "fate": [FATES[i] for i in fate],
            "reached": reached & np.isin(fate, [0, 1]),
            "pending": status == "pending",
        }
    )


def _attributed(appointments: pd.DataFrame, attempts: Attempts, window_us: int) -> pd.DataFrame:
    """The call that each appointment came of, and how sure that is."""
    booked, dialed = micros(appointments["created_at"]), attempts.numbers("to_number")
    # The last call before the booking, not the first after it: a booking is written down during a call.
    row = next_to(dialed, attempts.when, appointments["phone"], booked, before=True)
    has_call = row >= 0
    has_call &= np.append(attempts.when, NO_TIME)[row] >= booked - window_us
    # Beyond the order of time only the outcome of the call says that it made the appointment.
    sure = has_call & np.append(attempts.flag("appointment"), False)[row]
    likely = has_call & np.append(attempts.flag("human"), False)[row]
    ids = arrow(attempts.column("id", attempts.rows[row[has_call]])).to_pylist()
    call = np.full(len(row), None, dtype=object)
    call[has_call] = [str(i) for i in ids]
    names = np.array(["sure", "likely", "weak", "none"], dtype=object)
    return table(
        {
            "id": appointments["id"].astype("str").array,
            "status": appointments["status"].astype("str").array,
            "call_id": list(call),
            "confidence": list(names[np.select([sure, likely, has_call], [0, 1, 2], default=3)]),
        }
    )
