"""Abandoned calls by campaign and period in words."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd

from dialframe.compliance.checks.check_results import Check, View, graded, shaped
from dialframe.compliance.rules.rule_model import AbandonmentRule
from dialframe.frames import Column

COLUMNS: Final = (
    Column("rule_id", "text", "the rule"),
    Column("citation", "text", "its citation"),
    Column("measure", "text", "FTC and FCC, Ofcom, or CRTC"),
    Column("campaign_id", "text", "campaign; null: all calls, or those outside any"),
    Column("from_at", "instant", "the period begins, UTC"),
    Column("until_at", "instant", "the period ends, UTC, not included"),
    Column("dropped", "integer", "dropped calls"),
    Column("live", "integer", "calls that a person answered and was spoken to"),
    Column("machines", "integer", "calls that a machine answered: on neither side"),
    Column("untold", "integer", "answered calls of which nobody says what came of them"),
    Column("rate", "number", "the measure's rate, null without an answered call"),
    Column("limit", "number", "the greatest rate allowed"),
    Column("grade", "text", "pass, violation, uncertain or not evaluable"),
    Column("missing", "text", "the input that is missing when not evaluable"),
    Column("reason", "text", "why this grade"),
)
#: With fewer answered calls one dropped call more or less decides.
SMALL: Final = 100
_UNCERTAIN: Final = 3


def words(rows: pd.DataFrame, view: View) -> pd.DataFrame:
    """The share of each campaign and period beside its limit."""
    laws = [view.law.by_number[int(n)] for n in rows["rule"]]
    pairs = list(zip(rows.itertuples(index=False), laws, strict=True))
    days = (
        rows["from_day"].dt.strftime("%Y-%m-%d")
        + " until "
        + rows["until_day"].dt.strftime("%Y-%m-%d")
    )
    return rows.assign(
        reason=pd.Series([_sentence(row, law) for row, law in pairs], index=rows.index, dtype="object"),
        measure=[{"US": "FTC and FCC", "GB": "Ofcom", "CA": "CRTC"}.get(law.jurisdiction, "plain share") for law in laws],
        limit=rows["max_rate"], from_at=rows["from_day"], until_at=rows["until_day"], evidence=days,
    )  # fmt: skip


def table(view: View) -> pd.DataFrame:
    """Every rule, campaign and period that has a call, columns `COLUMNS`."""
    shares = view.frame(
        "select * from abandonment order by rule, campaign_id nulls last, from_day"
    )
    return shaped(graded(shares, view, words), COLUMNS)


def _sentence(row: Any, law: Any) -> str:
    assert isinstance(law, AbandonmentRule)  # noqa: S101 - no other kind is in the table
    if row.missing == "an outcome that says that a call was dropped":
        return "no outcome of the taxonomy says that a call was dropped"
    if pd.isna(row.rate):
        return "no call was answered by a person"
    p = law.parameters
    answered = int(row.dropped + row.live)
    sentence = f"{int(row.dropped):,} dropped, {int(row.live):,} answered and spoken to: {row.rate:.2%} against {p.max_rate:.0%}"
    if answered < SMALL:
        sentence += f"; only {answered:,} answered calls, so one more or less decides"
    if row.missing == "campaign_id":
        return f"{sentence}; the calls are of no campaign, and the rule counts by campaign"
    if row.missing == "the outcome of every answered call":
        return f"{sentence}; with {int(row.untold):,} answered calls of which nobody says what came of them {row.least:.2%} to {row.most:.2%}"
    if row.severity == 0:
        return f"{sentence}; {_conditions(law)}"
    if row.severity == _UNCERTAIN:
        return (
            f"{sentence}; {f'a {p.severity}' if p.severity else 'an indicator'}, no limit in law"
        )
    return sentence


def _conditions(law: AbandonmentRule) -> str:
    """What the rule asks for beside the rate, of which the data says nothing.

    16 CFR 310.4(b)(4): a rate of 3 % is a safe harbor with the ringing and the message alone.
    """
    p = law.parameters
    start = p.clock_starts.replace("_", " ")
    conditions = [f"the {p.seconds_to_answer} seconds" + (f" from {start}" if start else "")]
    ringing = [] if p.min_ring_seconds is None else [f"{p.min_ring_seconds} seconds"]
    ringing += [] if p.min_rings is None else [f"{p.min_rings} rings"]
    if ringing:
        conditions.append(f"the ringing of {' or '.join(ringing)}")
    if p.recorded_message_required:
        conditions.append("the recorded message")
    whether = "were" if len(conditions) > 1 or p.seconds_to_answer > 1 else "was"
    return f"whether {' and '.join(conditions)} {whether} kept is not in the data"


CHECK: Final = Check("abandonment", "campaign period", words, COLUMNS, by_call=False)
