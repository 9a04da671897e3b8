"""Calling hours: each outbound call held against the clock of every zone its number may be in; never picks a zone.

A call is inside the hours only if it is inside in all candidate zones, and outside only if it is
outside in all; anything between is uncertain, and a number without a zone is not evaluable. The
start of the call (`created_at`) counts, against half-open windows: 21:00:00 is outside 08:00-21:00.
Every rule that reaches the call is asked, of its country and of its state, and holidays are rules
like others: the strictest answer counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

import numpy as np
import pandas as pd

from dialframe.compliance import cases as sorting
from dialframe.compliance import lifting, sums, tables
from dialframe.compliance.calendars import Declared
from dialframe.compliance.cases import Cases, Reached
from dialframe.compliance.clock import Flags, Ints, Texts, local
from dialframe.compliance.exempt import candidates
from dialframe.compliance.facts import HolidayRule, HoursRule
from dialframe.compliance.grades import (
    CREATED_AT,
    DIRECTION,
    NOT_EVALUABLE,
    PASSED,
    UNCERTAIN,
    VIOLATION,
)
from dialframe.compliance.intake import shaped, take_callbacks, take_calls, take_leads
from dialframe.compliance.practice import Practice, frozen
from dialframe.compliance.rulebook import RuleBook, citations, ids
from dialframe.compliance.tables import Layout
from dialframe.frames import Column

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

RULE: Final = "a rule in force on the day"

#: Grade of each level of `sums`.
_GRADES: Final = np.array(
    [NOT_EVALUABLE, PASSED, NOT_EVALUABLE, UNCERTAIN, VIOLATION], dtype=object
)
_NOTHING: Final = Declared()


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
        taken.outbound, practice=frozen(practice), states=states, lifted=lifting.take(exemptions)
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
        cases.kinds, asked, first=_day(at[known], "min"), last=_day(at[known], "max"),
        declared=declared,
    )  # fmt: skip
    counts = np.zeros((max(len(asked), 1), 5), dtype=np.int64)
    judged = measure(at, np.where(known, cases.codes, -1).astype(np.int32), layout, counts)
    board = _Board.blank(len(outbound))
    for code in np.unique(cases.codes[known]) if known.any() else ():
        rows = np.flatnonzero(known & (cases.codes == code))
        _explain(board, rows, at.iloc[rows], cases, int(code), layout, judged)
    _explain_missing(board, outbound, cases)
    _spare(board, known, cases, asked)
    _add_objections(board, cases)
    _add_exemptions(board, outbound, callbacks, leads)
    return _frame(board, outbound, cases), _counted(asked, counts)


def asked_rules(book: RuleBook) -> list[HoursRule | HolidayRule]:
    """Rules on hours and on holidays that the check asks; declared emergencies are a check of their own."""
    public = [r for r in book.of_kind(HolidayRule) if r.parameters.type == "no_calls"]
    both: list[HoursRule | HolidayRule] = [*book.hours(), *public]
    return [rule for rule in both if rule.status != "voluntary_code"]


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """What `sums.grade` says of each call: level, bits of rules, bits of zones, minute."""

    level: Ints
    worst: Ints
    inner: Ints
    minute: Ints


def measure(at: pd.Series, codes: Ints, layout: Layout, counts: Ints) -> Judged:
    """Levels of calls; `counts` (rules by levels) is added to. Case -1 leaves a call out."""
    instants = at.dt.tz_localize(None).to_numpy(dtype="datetime64[us]").astype(np.int64)
    return Judged(*sums.grade(instants, codes, *layout.arguments, counts, True))  # noqa: FBT003 - compiled


def _day(at: pd.Series, which: str) -> date:
    """The first or last UTC day of some instants; any where there is none."""
    found = at.agg(which) if len(at) else pd.Timestamp(0, tz="UTC")
    day: date = found.date()
    return max(date(1971, 1, 1), min(day, date(2099, 1, 1)))


@dataclass(frozen=True, slots=True, eq=False)
class _Board:
    """Where the grades of all calls are put together, one array per column."""

    level: Ints
    minute: Ints
    times: Texts
    rule_id: Texts
    citation: Texts
    missing: Texts
    reason: Texts

    @classmethod
    def blank(cls, length: int) -> _Board:
        """No grade yet for any call."""
        texts = [np.full(length, None, dtype=object) for _ in range(5)]
        return cls(np.zeros(length, dtype=np.int64), np.full(length, -1, dtype=np.int64), *texts)


def _explain(
    board: _Board,
    rows: Ints,
    at: pd.Series,
    cases: Cases,
    code: int,
    layout: Layout,
    judged: Judged,
) -> None:
    """Put the grades of the calls of one case into words, once per distinct answer."""
    names = cases.kinds[code].zones.names
    if not names:
        return
    levels = judged.level[rows].astype(np.int64)
    board.level[rows], board.minute[rows] = levels, judged.minute[rows]
    clocks = [local(at, name).text() for name in names]
    whole = clocks[0]
    for text in clocks[1:]:
        whole = whole + "; " + text
    board.times[rows] = whole
    keys = np.vstack([levels, judged.worst[rows], judged.inner[rows]])
    distinct, which = np.unique(keys, axis=1, return_inverse=True)
    words = np.empty((4, distinct.shape[1]), dtype=object)
    for number, (level, worst, inner) in enumerate(distinct.T.tolist()):
        said = [e for bit, e in enumerate(layout.reached[code]) if worst >> bit & 1]
        words[:, number] = _words(level, said, inner, names)
    board.rule_id[rows], board.citation[rows], board.missing[rows], board.reason[rows] = words[
        :, which.ravel()
    ]


def _words(
    level: int, said: Sequence[Reached], inner: int, names: Sequence[str]
) -> tuple[str | None, str | None, str | None, str | None]:
    if level == sums.NO_RULE or not said:
        return None, None, None, None
    rules = [each.rule for each in said]
    inside = [name for place, name in enumerate(names) if inner >> place & 1]
    outside = [name for name in names if name not in inside]
    reason = _reason(level, _hours(rules[0]), inside, outside)
    if level == sums.OPEN:
        missing = said[0].missing
        return ids(rules), citations(rules), missing, f"{reason}, if the rule reaches the call"
    if any(each.doubtful for each in said) and not inside:
        reason += "; only the area code speaks for that state"
    return ids(rules), citations(rules), None, reason


def _reason(level: int, hours: str, inner: Sequence[str], outer: Sequence[str]) -> str:
    if inner and outer:
        return f"inside {hours} in {', '.join(inner)}, outside in {', '.join(outer)}"
    zones = [*inner, *outer]
    where = zones[0] if len(zones) == 1 else "every candidate zone"
    return f"{'inside' if level == sums.INSIDE else 'outside'} {hours} in {where}"


def _hours(rule: object) -> str:
    if isinstance(rule, HolidayRule):
        return "the days on which calls are permitted"
    if not isinstance(rule, HoursRule):
        return "the permitted hours"
    parameters = rule.parameters
    if len(parameters.windows) > 1 or parameters.closed_days or parameters.sunday_and_holiday:
        return f"the permitted hours of {rule.jurisdiction}"
    window = parameters.windows[0]
    return f"{window.start:%H:%M}-{window.end:%H:%M}"


def _explain_missing(board: _Board, outbound: pd.DataFrame, cases: Cases) -> None:
    """Say which input is missing where there is no grade; the most basic one wins."""
    zones = [case.zones for case in cases.kinds]
    none = board.level == sums.NO_RULE
    board.missing[none] = RULE
    board.reason[none] = cases.pick([_no_rule(z.regions) for z in zones])[none]
    unplaced = cases.pick([not z.names for z in zones]).astype(bool)
    for column, texts in (
        (board.missing, [z.missing for z in zones]),
        (board.reason, [z.reason for z in zones]),
    ):
        column[unplaced] = cases.pick(texts)[unplaced]
    for column in (board.missing, board.reason):
        nobody = outbound["to_number"].isna().to_numpy()
        column[nobody] = "to_number" if column is board.missing else "to_number is missing"
    untimed = outbound["created_at"].isna().to_numpy()
    board.missing[untimed] = CREATED_AT
    board.reason[untimed] = "created_at is missing, so the start of the call is unknown"
    aimless = ~outbound["direction_known"].to_numpy()
    board.missing[aimless] = DIRECTION
    board.reason[aimless] = "direction is neither inbound nor outbound"
    for rows in (none, untimed, aimless):
        board.minute[rows] = -1


def _spare(
    board: _Board, known: Flags, cases: Cases, rules: Sequence[HoursRule | HolidayRule]
) -> None:
    """A call whose every rule a record lifts keeps the hours, and says by which record kind."""
    words = [
        "exempt by record: " + ", ".join(sorted(case.setting.lifted)) + " lifts " + ids(lifted)
        if (lifted := sorting.spared(case, rules))
        else None
        for case in cases.kinds
    ]
    said = cases.pick(words)
    rows = np.flatnonzero(known & (board.level == sums.NO_RULE) & (said != None))  # noqa: E711
    board.level[rows], board.missing[rows] = sums.INSIDE, None
    board.reason[rows] = said[rows]


def _no_rule(regions: Sequence[str]) -> str:
    where = " and ".join(regions) or "an unknown country"
    return f"the rules asked have none on calling hours for {where} that was in force on that day"


def _add_objections(board: _Board, cases: Cases) -> None:
    """Add to a graded call what speaks against its zones, and what lifts a rule for it."""
    said = cases.pick([_objections(case) for case in cases.kinds])
    rows = np.flatnonzero((said != "") & (board.level > sums.NO_RULE))
    board.reason[rows] = board.reason[rows] + "; " + said[rows]


def _objections(case: sorting.Case) -> str:
    lifted = ", ".join(sorted(case.setting.lifted))
    exempt = f"a record shows {lifted}: rules that it lifts were left out" if lifted else ""
    return "; ".join(part for part in (case.zones.reason, exempt) if part)


def _add_exemptions(
    board: _Board, outbound: pd.DataFrame, callbacks: pd.DataFrame, leads: pd.DataFrame
) -> None:
    rows = np.flatnonzero(board.level >= sums.MIXED)
    words = candidates(outbound.iloc[rows], callbacks, leads)
    named = words.notna().to_numpy()
    board.reason[rows[named]] = board.reason[rows[named]] + "; " + words[named].to_numpy(object)


def _counted(rules: Sequence[HoursRule | HolidayRule], counts: Ints) -> pd.DataFrame:
    """Calls of each rule by grade: `rule_id`, `pass`, `violation`, `uncertain`, `not_evaluable`."""
    table = counts[: len(rules)]
    return pd.DataFrame(
        {
            "rule_id": pd.Series([rule.id for rule in rules], dtype="str"),
            "pass": table[:, sums.INSIDE],
            "violation": table[:, sums.OUTSIDE],
            "uncertain": table[:, sums.MIXED],
            "not_evaluable": table[:, sums.OPEN],
        }
    )


def _frame(board: _Board, outbound: pd.DataFrame, cases: Cases) -> pd.DataFrame:
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


def span(outbound: pd.DataFrame) -> tuple[date, date]:
    """First and last day that calls can touch in any zone."""
    at = outbound["created_at"].dropna()
    return _day(at, "min") - timedelta(days=1), _day(at, "max") + timedelta(days=1)
