"""Calling hours: each outbound call held against the clock of every zone its number may be in; never picks a zone.

A call is inside the hours only if it is inside in all candidate zones, and outside only if it is
outside in all; anything between is uncertain, and a number without a zone is not evaluable. The
start of the call (`created_at`) counts, against half-open windows: 21:00:00 is outside 08:00-21:00.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from dialframe.compliance.clock import Ints, Texts
from dialframe.compliance.exempt import candidates
from dialframe.compliance.grades import (
    CREATED_AT,
    DIRECTION,
    NOT_EVALUABLE,
    PASSED,
    UNCERTAIN,
    VIOLATION,
)
from dialframe.compliance.intake import shaped, take_callbacks, take_calls, take_leads
from dialframe.compliance.judging import MIXED, NO_RULE, Judged, alike, judge
from dialframe.compliance.rulebook import RuleBook
from dialframe.compliance.zones import NO_NUMBER, Zones, of_numbers
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

#: Grade of each level of `judging`.
_GRADES: Final = np.array([NOT_EVALUABLE, PASSED, UNCERTAIN, VIOLATION], dtype=object)


def audit(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    rules: RuleBook,
    states: Mapping[str, str] | pd.Series | None = None,
    callbacks: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Every outbound call graded against the calling hours in force on its local day.

    Args:
        calls: Frame of the calls table.
        leads: Frame of the leads table; needed to tell which number a callback is for.
        rules: The rule book.
        states: Number to state, where the account knows it; adds zones, never takes one away.
        callbacks: Frame of the callbacks table. A pending or completed callback of the same
            campaign and number whose time is near is named in `reason`; the grade stays.

    Returns:
        One row per call that is not inbound, in the order given, columns `COLUMNS`.
        `attrs["excluded"]` counts the calls left out by reason.

    Raises:
        ConfigError: A frame lacks a column or an instant has no time zone.
    """
    taken = take_calls(calls)
    graded = grade(
        taken.outbound, take_leads(leads), take_callbacks(callbacks), rules=rules, states=states
    )
    graded.attrs["excluded"] = dict(taken.excluded)
    return graded


def grade(
    outbound: pd.DataFrame,
    leads: pd.DataFrame,
    callbacks: pd.DataFrame,
    *,
    rules: RuleBook,
    states: Mapping[str, str] | pd.Series | None = None,
) -> pd.DataFrame:
    """The same for frames that came through the door (`intake`)."""
    places, kinds = _places(outbound["to_number"], states)
    board = _Board.blank(len(outbound))
    known = outbound["created_at"].notna().to_numpy() & outbound["direction_known"].to_numpy()
    codes = np.array(_positions([zones.names for zones in kinds]), dtype=np.int64)
    groups = alike(rules.hours())
    for code, zones in enumerate(dict.fromkeys(zones.names for zones in kinds)):
        rows = np.flatnonzero(known & (codes[places] == code))
        if zones and groups and len(rows):
            board.put(rows, judge(outbound["created_at"].iloc[rows], zones, groups))
    _explain_missing(board, outbound, places, kinds)
    _add_objections(board, places, kinds)
    _add_exemptions(board, outbound, callbacks, leads)
    return _frame(board, outbound, places, kinds)


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

    def put(self, rows: Ints, judged: Judged) -> None:
        """Write down what was judged of the calls at `rows`."""
        self.level[rows] = judged.level
        self.minute[rows] = judged.minute
        self.times[rows] = judged.times
        self.rule_id[rows] = judged.rule_id
        self.citation[rows] = judged.citation
        self.reason[rows] = judged.reason


def _places(
    numbers: pd.Series, states: Mapping[str, str] | pd.Series | None
) -> tuple[Ints, list[Zones]]:
    """For each call a position in the list of the distinct zones found."""
    codes, distinct = pd.factorize(numbers)
    found = of_numbers(distinct, states)
    each = [found[phone] for phone in distinct]
    each.append(Zones((), "none", "none", NO_NUMBER, "to_number is missing"))  # of code -1
    positions = _positions(each)
    return np.array(positions, dtype=np.int64)[codes], list(dict.fromkeys(each))


def _positions(values: Sequence[Hashable]) -> list[int]:
    """Positions of values among the distinct ones, in order of first appearance."""
    seen: dict[Hashable, int] = {}
    return [seen.setdefault(value, len(seen)) for value in values]


def _explain_missing(
    board: _Board, outbound: pd.DataFrame, places: Ints, kinds: list[Zones]
) -> None:
    """Say which input is missing where there is no grade; the most basic one wins."""
    unplaced = np.array([not zones.names for zones in kinds])[places]
    none = board.level == NO_RULE
    board.missing[none] = RULE
    board.reason[none] = "no rule on calling hours was in force on that day"
    for column, texts in (
        (board.missing, [zones.missing for zones in kinds]),
        (board.reason, [zones.reason for zones in kinds]),
    ):
        column[unplaced] = np.array(texts, dtype=object)[places[unplaced]]
    untimed = outbound["created_at"].isna().to_numpy()
    board.missing[untimed] = CREATED_AT
    board.reason[untimed] = "created_at is missing, so the start of the call is unknown"
    aimless = ~outbound["direction_known"].to_numpy()
    board.missing[aimless] = DIRECTION
    board.reason[aimless] = "direction is neither inbound nor outbound"


def _add_objections(board: _Board, places: Ints, kinds: list[Zones]) -> None:
    """Add to a graded call what speaks against its zones."""
    said = np.array([zones.reason for zones in kinds], dtype=object)[places]
    rows = np.flatnonzero((said != "") & (board.level > NO_RULE))
    board.reason[rows] = board.reason[rows] + "; " + said[rows]


def _add_exemptions(
    board: _Board, outbound: pd.DataFrame, callbacks: pd.DataFrame, leads: pd.DataFrame
) -> None:
    rows = np.flatnonzero(board.level >= MIXED)
    words = candidates(outbound.iloc[rows], callbacks, leads)
    named = words.notna().to_numpy()
    board.reason[rows[named]] = board.reason[rows[named]] + "; " + words[named].to_numpy(object)


def _frame(
    board: _Board, outbound: pd.DataFrame, places: Ints, kinds: list[Zones]
) -> pd.DataFrame:
    def of_kind(words: list[str | None]) -> Texts:
        return np.array(words, dtype=object)[places]

    minutes = pd.array(board.minute, dtype="Int64")
    minutes[board.minute < 0] = pd.NA
    values: dict[str, object] = {
        "call_id": outbound["id"],
        "to_number": outbound["to_number"],
        "campaign_id": outbound["campaign_id"],
        "created_at": outbound["created_at"],
        "zones": of_kind(["; ".join(zones.names) or None for zones in kinds]),
        "zone_source": of_kind([zones.source for zones in kinds]),
        "zone_confidence": of_kind([zones.confidence for zones in kinds]),
        "local_times": board.times,
        "local_minute": minutes,
        "grade": _GRADES[board.level],
        "rule_id": board.rule_id,
        "citation": board.citation,
        "missing": board.missing,
        "reason": board.reason,
    }
    return shaped(values, COLUMNS)
