"""Calling hours: each outbound call held against the clock of every zone its number may be in; never picks a zone.

A call is inside the hours only if it is inside in all candidate zones, and outside only if it is
outside in all; anything between is uncertain, and a number without a zone is not evaluable. The
start of the call (`created_at`) counts, against half-open windows: 21:00:00 is outside 08:00-21:00.
Every rule that reaches the call is asked, of its country and of its state, and holidays are rules
like others: the strictest answer counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Final

import numpy as np
import pandas as pd

from dialframe.compliance import cases as sorting
from dialframe.compliance import lifting, sums, tables
from dialframe.compliance.calendars import Declared, in_parts
from dialframe.compliance.cases import Cases
from dialframe.compliance.clock import Ints
from dialframe.compliance.explaining import RULE, Board, Judged, add_callbacks, end_day, explain
from dialframe.compliance.facts import HolidayRule, HoursRule
from dialframe.compliance.grades import NOT_EVALUABLE, PASSED, UNCERTAIN, VIOLATION
from dialframe.compliance.intake import UNKNOWN, shaped, take_callbacks, take_calls, take_leads
from dialframe.compliance.practice import Practice, frozen
from dialframe.compliance.rulebook import RuleBook
from dialframe.compliance.tables import Layout
from dialframe.frames import Column

__all__ = ["COLUMNS", "RULE", "Judged", "asked_rules", "audit", "grade", "measure", "span"]

COLUMNS: Final = (
    Column("call_id", "text", "call id"),
    Column("to_number", "text", "called number, E.164"),
    Column("campaign_id", "text", "campaign of the call"),
    Column("created_at", "instant", "the call was started, UTC"),
    Column("zones", "text", "candidate zones, `; ` between them"),
    Column("zone_source", "text", "what the zones rest on"),
    Column("zone_confidence", "text", "high, medium, low or none"),
    Column("local_times", "text", "start of the call in each zone, `; ` between them"),
    Column("local_minute", "integer", "minute of the local day in the most exposed zone, 0-1439"),
    Column("grade", "text", "pass, violation, uncertain or not evaluable"),
    Column("rule_id", "text", "rules that the grade rests on"),
    Column("citation", "text", "their citations"),
    Column("missing", "text", "the input that is missing when not evaluable"),
    Column("reason", "text", "why this grade"),
)

#: Grade of each level of `sums`.
_GRADES: Final = np.array(
    [NOT_EVALUABLE, PASSED, NOT_EVALUABLE, UNCERTAIN, VIOLATION], dtype=object
)
_NOTHING: Final = Declared()
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def audit(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    rules: RuleBook,
    states: Mapping[str, str] | pd.Series | None = None,
    callbacks: pd.DataFrame | None = None,
    practice: Practice | None = None,
    exemptions: pd.DataFrame | None = None,
    declared: Declared = _NOTHING,
) -> pd.DataFrame:
    """Every outbound call graded against the calling hours and holidays in force on its local day.

    Args:
        calls: Frame of the calls table.
        leads: Frame of the leads table; needed to tell which number a callback is for.
        rules: The rule book; `rules.select(["us", "us-fl"])` takes some jurisdictions.
        states: Number to state or ZIP code, where the account knows it; adds zones and the rules
            of the state, never takes one away.
        callbacks: Frame of the callbacks table. A pending or completed callback of the same
            campaign and number whose time is near is named in `reason`; the grade stays.
        practice: What the firm says of its calling.
        exemptions: Records that lift a rule, columns `lifting.COLUMNS`.
        declared: Days that were declared, such as a governor's holidays.

    Returns:
        One row per call that is not inbound, in the order given, columns `COLUMNS`.
        `attrs["excluded"]` counts the calls left out by reason.

    Raises:
        ConfigError: A frame lacks a column or an instant has no time zone.
    """
    taken = take_calls(calls)
    sorted_ = sorting.sort(
        taken.outbound,
        practice=frozen(practice),
        states=states,
        lifted=lifting.take(exemptions, rules),
    )
    graded, _ = grade(
        taken.outbound,
        take_leads(leads),
        take_callbacks(callbacks),
        rules=rules,
        cases=sorted_,
        declared=declared,
    )
    graded.attrs["excluded"] = dict(taken.excluded)
    return graded


def grade(
    outbound: pd.DataFrame,
    leads: pd.DataFrame,
    callbacks: pd.DataFrame,
    *,
    rules: RuleBook,
    cases: Cases,
    declared: Declared = _NOTHING,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The same for frames that came through the door, and the counts of each rule."""
    asked = asked_rules(rules)
    known = outbound["created_at"].notna().to_numpy() & outbound["direction_known"].to_numpy()
    at = outbound["created_at"].fillna(pd.Timestamp(0, tz="UTC"))
    layout = tables.lay_out(
        cases.kinds, asked, first=end_day(at[known], "min"), last=end_day(at[known], "max"),
        declared=declared,
    )  # fmt: skip
    counts = np.zeros((max(len(asked), 1), 5), dtype=np.int64)
    judged = measure(at, np.where(known, cases.codes, -1).astype(np.int32), layout, counts)
    board = explain(outbound, cases, known, layout, judged, declared)
    add_callbacks(board, outbound, callbacks, leads)
    return _frame(board, outbound, cases), counted(asked, counts)


def shown_rules(book: RuleBook) -> list[HoursRule | HolidayRule]:
    """Rules that a report names for the check."""
    public = [
        rule
        for rule in book.of_kind(HolidayRule)
        if rule.parameters.type != "emergency_ban" and rule.status != "voluntary_code"
    ]
    return [*book.hours(), *public]


def asked_rules(book: RuleBook) -> list[HoursRule | HolidayRule]:
    """Rules on hours and on holidays that the check asks; declared emergencies are a check of their own."""
    public = [r for r in book.of_kind(HolidayRule) if r.parameters.type != "emergency_ban"]
    parts = [part for rule in public for part in in_parts(rule)]
    both: list[HoursRule | HolidayRule] = [*book.hours(), *parts]
    return [rule for rule in both if rule.status != "voluntary_code"]


def measure(at: pd.Series, codes: Ints, layout: Layout, counts: Ints) -> Judged:
    """Levels of calls; `counts` (rules by levels) is added to. Case -1 leaves a call out."""
    instants = at.dt.tz_localize(None).to_numpy(dtype="datetime64[us]").astype(np.int64)
    return Judged(*sums.grade(instants, codes, *layout.arguments, counts, True))  # noqa: FBT003 - compiled


def counted(rules: Sequence[HoursRule | HolidayRule], counts: Ints) -> pd.DataFrame:
    """Calls of each rule by grade: `rule_id`, `pass`, `violation`, `uncertain`, `not_evaluable`."""
    table = counts[: len(rules)].copy()
    places = {rule.id: place for place, rule in reversed(list(enumerate(rules)))}
    for place, rule in enumerate(rules):
        if (
            places[rule.id] != place
        ):  # holidays of a part of the place: a pass of the whole is none
            for level in (sums.MIXED, sums.OPEN):
                table[places[rule.id], level] += table[place, level]
                table[places[rule.id], sums.INSIDE] -= table[place, level]
    whole = [place for place, rule in enumerate(rules) if places[rule.id] == place]
    return pd.DataFrame(
        {
            "rule_id": pd.Series([rules[place].id for place in whole], dtype="str"),
            "pass": table[whole, sums.INSIDE],
            "violation": table[whole, sums.OUTSIDE],
            "uncertain": table[whole, sums.MIXED],
            "not_evaluable": table[whole, sums.OPEN],
        }
    )


def _frame(board: Board, outbound: pd.DataFrame, cases: Cases) -> pd.DataFrame:
    zones = [case.zones for case in cases.kinds]
    minutes = pd.array(board.minute, dtype="Int64")
    minutes[board.minute < 0] = pd.NA
    values: dict[str, object] = {
        "call_id": outbound["id"],
        "to_number": outbound["to_number"],
        "campaign_id": outbound["campaign_id"],
        "created_at": outbound["created_at"],
        "zones": cases.pick(["; ".join(z.names) or None for z in zones]),
        "zone_source": cases.pick([z.source for z in zones]),
        "zone_confidence": cases.pick([z.confidence for z in zones]),
        "local_times": board.times,
        "local_minute": minutes,
        "grade": _GRADES[board.level],
        "rule_id": board.rule_id,
        "citation": board.citation,
        "missing": board.missing,
        "reason": board.reason,
    }
    return shaped(values, COLUMNS)


def utc_span(at_us: Ints) -> tuple[date, date]:
    """First and last UTC day of some instants in microseconds; any where none is known."""
    first, final, known = sums.ends(at_us, UNKNOWN)
    ends = (first, final) if known else (0, 0)
    days = (EPOCH + timedelta(microseconds=int(end)) for end in ends)
    low, high = (max(date(1971, 1, 1), min(day.date(), date(2099, 1, 1))) for day in days)
    return low, high


def span(outbound: pd.DataFrame) -> tuple[date, date]:
    """First and last day that calls can touch in any zone."""
    at = outbound["created_at"].dropna()
    return end_day(at, "min") - timedelta(days=1), end_day(at, "max") + timedelta(days=1)
