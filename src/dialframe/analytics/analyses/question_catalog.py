"""What an analyst asks of dialing data, and what answers it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pandas as pd

from dialframe.analytics.claims_and_tables import table_of_rows


@dataclass(frozen=True, slots=True)
class Capability:
    """One question.

    Attributes:
        name: The question in a few words.
        answered_by: Public functions that answer it, as dotted names below `dialframe`; empty
            where none can.
        why_not: Why none can, or what the answer cannot know; may be empty.
    """

    name: str
    answered_by: tuple[str, ...]
    why_not: str = ""


def _row(name: str, answered_by: str, why_not: str = "") -> Capability:
    return Capability(name, tuple(answered_by.split()), why_not)


#: In the order of a lead's way, then of trust.
CAPABILITIES: Final[tuple[Capability, ...]] = (
    _row("Lead funnel from received to appointment kept", "analytics.funnel analytics.appointments_kept"),
    _row("Funnel order, conversion window, censored leads", "analytics.funnel"),
    _row("List penetration and saturation in every variant", "analytics.penetration"),
    _row("Attempts-to-contact curve", "analytics.attempts"),
    _row("Contact rate by local hour and weekday", "analytics.hours"),
    _row("Best time to call, with its certainty", "analytics.best_time"),
    _row("Parts of the day in which a lead was never tried", "analytics.dayparts"),
    _row("Disposition mix over time", "analytics.outcome_mix"),
    _row("Disposition Pareto", "analytics.outcome_mix analytics.dispositions"),
    _row("Hangup causes in every spelling", "analytics.causes analytics.classify"),
    _row("Conflicts between cause and disposition", "analytics.conflicts"),
    _row("ASR, NER and length of call", "analytics.carriers analytics.metrics.connection_rate"),
    _row("Short calls against carriers' limits", "analytics.carriers analytics.metrics.short_call_share"),
    _row("Ring time", "analytics.ring_times"),
    _row("Machine share and voicemail that hides", "analytics.machines"),
    _row("Caller-ID health by a drop of answers", "analytics.caller_ids"),
    _row("Caller-ID age curve", "analytics.caller_ages"),
    _row("Blocked calls by caller ID and prefix", "analytics.carriers"),
    _row("Local-presence lift", "analytics.local_presence"),
    _row("Caller-ID load", "analytics.caller_load"),
    _row("Quality of lead sources", "analytics.scorecard"),
    _row("Cohorts by import date with a maturity mask", "analytics.cohorts"),
    _row("Speed to lead and decay by age", "analytics.speed_to_lead"),
    _row("Recycle advice", "analytics.recycle"),
    _row("Time to contact with competing ends", "analytics.time_to_contact"),
    _row("Comparison of two campaigns", "analytics.compare"),
    _row("Rates over running time only", "analytics.running_rates",
         "needs readings of the campaigns over time: the service gives the last instants alone"),
    _row("Callbacks kept, late and lost", "analytics.callbacks_kept"),
    _row("Callback backlog and broken promises", "analytics.callbacks_kept"),
    _row("Appointments kept, with the call they came of", "analytics.appointments_kept"),
    _row("Effect of SMS on answers", "", "the shape of the SMS reports is not published"),
    _row("Return calls", "analytics.return_calls"),
    _row("Import outcome audit", "analytics.import_outcomes"),
    _row("List cleaning before import", "leads.clean"),
    _row("Numbers in several campaigns", "analytics.duplicates"),
    _row("Do-Not-Call coverage", "analytics.metrics.dnc_coverage compliance.dnc.coverage"),
    _row("Calls to Do-Not-Call numbers, by strength of evidence",
         "analytics.metrics.dnc_risk_calls compliance.dnc.listed_calls"),
    _row("Do-Not-Call requests honored in time", "analytics.metrics.dnc_honor"),
    _row("Calling hours", "analytics.metrics.calling_hours_breach compliance.audit"),
    _row("Call frequency", "analytics.metrics.frequency_breach"),
    _row("Abandoned calls",
         "analytics.metrics.abandon_rate_ftc analytics.metrics.abandon_rate_ofcom",
         "only where a code that means dropped is mapped; the instant an agent joins is not in the "
         "API"),
    _row("Call-detail archive", "connect"),
    _row("Missing and late dispositions",
         "analytics.missing_dispositions analytics.late_dispositions"),
    _row("The service's report against the computed one", "analytics.reconcile"),
    _row("Completeness of a pull", "analytics.completeness"),
    _row("Taxonomy as versioned data", "analytics.Taxonomy analytics.taxonomy_effect"),
    _row("Definitions in the result", "analytics.metrics.definitions"),
    _row("Alerts on changed rates", "analytics.changes analytics.caller_ids"),
    _row("Agent metrics", "", "calls name no agent, and extensions are not guessed at"),
    _row("Agreement of AI calls with dispositions", "analytics.ai_agreement"),
    _row("Realistic data to try everything on", "sandbox.start"),
)  # fmt: skip


def capabilities() -> pd.DataFrame:
    """The table of questions: `name`, `answered_by` (joined by commas, null without), `why_not`.

    Returns:
        One row for each question that people ask of their calls.

    Example:
        analytics.capabilities()
    """
    return table_of_rows(
        {"name": str, "answered_by": str, "why_not": str},
        [
            (row.name, ", ".join(row.answered_by) or None, row.why_not or None)
            for row in CAPABILITIES
        ],
    )
