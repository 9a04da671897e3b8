"""Abandoned calls by campaign and period, against the limits of the rules; knows outcomes, not who ended a call.

Asked only where an outcome says that a call was dropped: without one nobody can tell a dropped
call from one that the called person ended. The rates are known by name:

- *FTC and FCC* (16 CFR 310.4(b)(4), 47 CFR 64.1200(a)(7)): dropped / answered by a person, machines
  on neither side, per campaign and 30 days, or the campaign's own days where they are fewer;
- *Ofcom* (persistent misuse, 2006 to 2017, an indicator since): dropped calls, less the share that
  machines took of the answers that agents heard, over those and the live calls, per 24 hours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np
import pandas as pd

from dialframe.compliance.cases import Cases
from dialframe.compliance.facts import AbandonmentRule
from dialframe.compliance.grades import NOT_EVALUABLE, PASSED, UNCERTAIN, VIOLATION
from dialframe.compliance.intake import shaped
from dialframe.compliance.rulebook import RuleBook
from dialframe.compliance.spans import Days, conditions, reach
from dialframe.frames import Column

#: What a call's outcome can be to this check; any other word is none of these.
DROPPED, LIVE, MACHINE = "dropped", "live", "machine"

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
    Column("rate", "number", "the measure's rate, null without an answered call"),
    Column("limit", "number", "the greatest rate allowed"),
    Column("grade", "text", "pass, violation, uncertain or not evaluable"),
    Column("missing", "text", "the input that is missing when not evaluable"),
    Column("reason", "text", "why this grade"),
)

NO_OUTCOME: Final = "an outcome that says that a call was dropped"
NO_ANSWERS: Final = "a call that a person answered"
#: With fewer answered calls one dropped call more or less decides.
SMALL: Final = 100

_DAY: Final = pd.Timedelta(days=1)


def grade(
    calls: pd.DataFrame,
    cases: Cases,
    days: Days,
    book: RuleBook,
    outcomes: Mapping[str, str] | pd.Series | None,
) -> pd.DataFrame:
    """Every rule, campaign and period.

    Args:
        calls: Outbound calls as they came through the door.
        cases: Their cases.
        days: Their local days.
        book: The rule book.
        outcomes: Call id to `dropped`, `live` or `machine`; other calls count for nothing. None,
            or no `dropped` among them: not evaluable.

    Returns:
        One row per rule, campaign and period that has a call, columns `COLUMNS`.
    """
    said = pd.Series(dtype="str") if outcomes is None else pd.Series(outcomes)
    usable = calls["created_at"].notna().to_numpy() & calls["direction_known"].to_numpy()
    mapped = bool((said == DROPPED).any())
    kind = calls["id"].map(said.to_dict()).astype("str")
    rows: list[dict[str, object]] = []
    rules = [r for r in book.of_kind(AbandonmentRule) if r.status != "voluntary_code"]
    for rule, mine, hits in reach(rules, cases, days, usable):
        part = calls.iloc[mine].assign(kind=kind.iloc[mine])
        unknown = bool(conditions(hits, cases.codes[mine])[0].any())
        missing = next((hit.missing for hit in hits if hit and hit.missing), "") if unknown else ""
        for campaign, period, group in _periods(rule, part):
            counts = group["kind"].value_counts()
            rows.append(
                {
                    "rule_id": rule.id,
                    "citation": rule.citation,
                    "campaign_id": campaign,
                    "from_at": period[0],
                    "until_at": period[1],
                    "limit": rule.parameters.max_rate,
                    **_graded(rule, counts, missing, mapped=mapped),
                }
            )
    return shaped({c.name: [row.get(c.name) for row in rows] for c in COLUMNS}, COLUMNS)


def ofcom(dropped: int, live: int, machines: int) -> float | None:
    """Ofcom's abandoned call rate: drops less those that machines would have taken, over those and the live calls."""
    heard = live + machines
    adjusted = dropped * (1 - machines / heard) if heard else float(dropped)
    return adjusted / (adjusted + live) if adjusted + live else None


def share(dropped: int, live: int) -> float | None:
    """Dropped calls over all that a person answered, as FTC and FCC count them."""
    return dropped / (dropped + live) if dropped + live else None


def _periods(
    rule: AbandonmentRule, calls: pd.DataFrame
) -> Iterator[tuple[str | None, tuple[pd.Timestamp, pd.Timestamp], pd.DataFrame]]:
    whole = rule.parameters.scope == "caller"
    groups = [(None, calls)] if whole else list(calls.groupby("campaign_id", dropna=False))
    for name, group in groups:
        campaign = None if pd.isna(name) else str(name)
        at = group["created_at"]
        if rule.parameters.period_type == "calendar_month":
            starts = at.dt.tz_localize(None).dt.to_period("M").dt.start_time.dt.tz_localize("UTC")
            for start, part in group.groupby(starts):
                yield campaign, (start, start + pd.offsets.MonthBegin(1)), part
            continue
        length = _DAY * (rule.parameters.period_days or 1)
        origin = at.min().floor("D")
        number = ((at - origin) // length).to_numpy()
        last = int(number.max()) if len(number) else 0
        for turn in np.unique(number):
            start = origin + length * int(turn)
            until = start + length
            if rule.parameters.period_type == "successive_30_day_or_campaign" and not last:
                until = min(until, at.max().floor("D") + _DAY)
            yield campaign, (start, until), group[number == turn]


def _conditions(rule: AbandonmentRule) -> str:
    """What the rule asks for beside the rate, of which the data says nothing."""
    p = rule.parameters
    start = p.clock_starts.replace("_", " ")
    said = [f"the {p.seconds_to_answer} seconds" + (f" from {start}" if start else "")]
    ringing = []
    if p.min_ring_seconds is not None:
        ringing.append(f"{p.min_ring_seconds} seconds")
    if p.min_rings is not None:
        ringing.append(f"{p.min_rings} rings")
    if ringing:
        said.append(f"the ringing of {' or '.join(ringing)}")
    if p.recorded_message_required:
        said.append("the recorded message")
    whether = "were" if len(said) > 1 or p.seconds_to_answer > 1 else "was"
    return f"whether {' and '.join(said)} {whether} kept is not in the data"


def _graded(
    rule: AbandonmentRule, counts: pd.Series, missing: str, *, mapped: bool
) -> dict[str, object]:
    dropped, live, machines = (int(counts.get(name, 0)) for name in (DROPPED, LIVE, MACHINE))
    place = rule.jurisdiction
    measure = {"US": "FTC and FCC", "GB": "Ofcom", "CA": "CRTC"}.get(place, "plain share")
    by_live_calls = rule.parameters.denominator == "live_calls"
    rate = ofcom(dropped, live, machines) if by_live_calls else share(dropped, live)
    told: dict[str, object] = {
        "measure": measure, "dropped": dropped, "live": live, "machines": machines, "rate": rate,
    }  # fmt: skip
    if not mapped:
        return told | {
            "rate": None, "grade": NOT_EVALUABLE, "missing": NO_OUTCOME,
            "reason": "no outcome of the taxonomy says that a call was dropped",
        }  # fmt: skip
    if rate is None:
        return told | {
            "grade": NOT_EVALUABLE, "missing": NO_ANSWERS, "reason": "no call was answered by a person",
        }  # fmt: skip
    limit = rule.parameters.max_rate
    kept = rate <= limit if rule.parameters.comparison == "<=" else rate < limit
    words = f"{dropped:,} dropped, {live:,} answered and spoken to: {rate:.2%} against {limit:.0%}"
    if dropped + live < SMALL:
        words += f"; only {dropped + live:,} answered calls, so one more or less decides"
    if kept:
        words += f"; {_conditions(rule)}"
        return told | {"grade": PASSED, "reason": words}
    if missing:
        return told | {"grade": NOT_EVALUABLE, "missing": missing, "reason": words}
    if not rule.parameters.safe_harbour:
        what = f"a {rule.parameters.severity}" if rule.parameters.severity else "an indicator"
        return told | {"grade": UNCERTAIN, "reason": f"{words}; {what}, no limit in law"}
    return told | {"grade": VIOLATION, "reason": words}
