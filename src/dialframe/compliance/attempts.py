"""Attempts on one number against the caps of the rules, in exact sliding windows; knows no list and no consent.

Every attempt counts, answered or not. A window of hours is half-open: of two attempts exactly 24
hours apart each has a window of its own. A window of days goes by the called party's date, in
every candidate zone. Attempts that never reached the network are left out and counted as such.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numba
import numpy as np
import numpy.typing as npt
import pandas as pd

from dialframe.compliance.cases import Cases, Reached
from dialframe.compliance.clock import Ints, local
from dialframe.compliance.facts import CapRule
from dialframe.compliance.grades import (
    CREATED_AT,
    DIRECTION,
    NOT_EVALUABLE,
    PASSED,
    UNCERTAIN,
    VIOLATION,
)
from dialframe.compliance.intake import shaped
from dialframe.compliance.rulebook import RuleBook
from dialframe.compliance.spans import Days, conditions, reach
from dialframe.frames import Column
from dialframe.phones.zones import NO_NUMBER

COLUMNS: Final = (
    Column("call_id", "text", "call id"),
    Column("to_number", "text", "called number, E.164"),
    Column("campaign_id", "text", "campaign of the call"),
    Column("created_at", "instant", "the call was started, UTC"),
    Column(
        "attempts", "integer", "attempts in the window that the grade rests on, this one included"
    ),
    Column("allowed", "integer", "attempts that the rule allows"),
    Column("grade", "text", "pass, violation, uncertain or not evaluable"),
    Column("rule_id", "text", "rules that the grade rests on"),
    Column("citation", "text", "their citations"),
    Column("missing", "text", "the input that is missing when not evaluable"),
    Column("reason", "text", "why this grade"),
)

#: Causes and outcomes with which a call never left the caller's own network, or was never dialled.
UNREACHED: Final = (
    "2", "3", "34", "38", "41", "42", "44", "47", "58", "63", "65", "66", "79", "127",
    "NO_ROUTE_TRANSIT_NET", "NO_ROUTE_DESTINATION", "NORMAL_CIRCUIT_CONGESTION",
    "NETWORK_OUT_OF_ORDER", "NORMAL_TEMPORARY_FAILURE", "SWITCH_CONGESTION", "ACCESS_INFO_DISCARDED",
    "REQUESTED_CHAN_UNAVAIL", "RESOURCE_UNAVAILABLE", "FACILITY_NOT_SUBSCRIBED",
    "BEARERCAPABILITY_NOTAVAIL", "SERVICE_UNAVAILABLE", "CHAN_NOT_IMPLEMENTED",
    "FACILITY_NOT_IMPLEMENTED", "SERVICE_NOT_IMPLEMENTED", "GATEWAY_DOWN", "CONGESTION",
    "NETWORK_FAIL", "CHANUNAVAIL", "DNCL", "DNCC",
)  # fmt: skip
NO_CAP: Final = "a cap on attempts for the place of the number"
SUBJECT: Final = "the campaign of the call"

_HOUR_US: Final = 3_600_000_000
_OK, _OPEN, _MIXED, _OVER = 1, 2, 3, 4
_GRADES: Final = np.array([PASSED, PASSED, NOT_EVALUABLE, UNCERTAIN, VIOLATION], dtype=object)


@dataclass(frozen=True, slots=True, eq=False)
class _Board:
    level: Ints
    attempts: Ints
    allowed: Ints
    rules: npt.NDArray[np.object_]
    reason: npt.NDArray[np.object_]
    asked: npt.NDArray[np.bool_]


def reached_network(calls: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Whether each call reached the network: false only where its cause or outcome says so.

    Args:
        calls: Columns `hangup_cause`, `disposition`, `answered_at`, `status`; an answered call
            reached somebody whatever its cause says.
    """
    silent = pd.Series(data=False, index=calls.index)
    for name in ("hangup_cause", "disposition", "status"):
        silent |= calls[name].map(_plain, na_action="ignore").isin(_SILENT)
    server_error = calls["hangup_cause"].str.fullmatch(r"(?i)\s*(?:SIP\s*)?5\d\d\b.*")
    silent |= server_error.fillna(value=False).astype(bool)
    return np.asarray(~silent | calls["answered_at"].notna(), dtype=bool)


def grade(
    calls: pd.DataFrame, cases: Cases, book: RuleBook, days: Days
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Calls against the caps of the rules, and the counts of each rule.

    Args:
        calls: Outbound calls as they came through the door (`intake`).
        cases: Their cases.
        book: The rule book.
        days: Their local days.

    Returns:
        One row per call, columns `COLUMNS`; a call is graded by the window that ends with it.
    """
    rules = [r for r in book.of_kind(CapRule) if r.parameters.trigger is None]
    counted = reached_network(calls) & calls["created_at"].notna().to_numpy()
    counted &= calls["direction_known"].to_numpy() & (cases.phones >= 0)
    size = len(calls)
    board = _Board(
        np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64),
        np.zeros(size, dtype=np.int64), np.full(size, None, dtype=object),
        np.full(size, None, dtype=object), np.zeros(size, dtype=bool),
    )  # fmt: skip
    tally = [
        _one(rule, rows, hits, calls, cases, board)
        for rule, rows, hits in reach(rules, cases, days, counted)
    ]
    by_rule = pd.DataFrame(
        tally, columns=["rule_id", "pass", "violation", "uncertain", "not_evaluable"]
    )
    return _frame(calls, cases, board, counted), by_rule


def windows(phones: Ints, groups: Ints, at_us: Ints, window_us: int) -> tuple[Ints, Ints]:
    """For each attempt how many there are in the window that ends with it, itself included.

    Args:
        phones: Number of each attempt.
        groups: Group (campaign) of each attempt; negative: unknown.
        at_us: Start of each attempt, microseconds.
        window_us: Length of the half-open window.

    Returns:
        Attempts on the number, and attempts on the number in the same known group.
    """
    order = np.lexsort((at_us, phones))
    every, same = _slide(phones[order], groups[order], at_us[order], window_us)
    back_every, back_same = np.empty_like(every), np.empty_like(same)
    back_every[order], back_same[order] = every, same
    return back_every, back_same


def _one(
    rule: CapRule,
    mine: Ints,
    hits: Sequence[Reached | None],
    calls: pd.DataFrame,
    cases: Cases,
    board: _Board,
) -> tuple[str, int, int, int, int]:
    """Grade every call that one rule reaches."""
    at = _instants(calls["created_at"].iloc[mine])
    campaigns = pd.factorize(calls["campaign_id"].iloc[mine])[0].astype(np.int64)
    level, found = _levels(rule, cases, mine, at, campaigns)
    missing, doubtful = conditions(hits, cases.codes[mine])
    level[(level > _OK) & doubtful] = _MIXED
    level[(level > _OK) & missing] = _OPEN
    _write(board, rule, mine, level, found, hits, cases)
    totals = [int((level == value).sum()) for value in (_OK, _OVER, _MIXED, _OPEN)]
    return rule.id, totals[0], totals[1], totals[2], totals[3]


def _levels(
    rule: CapRule, cases: Cases, mine: Ints, at: Ints, campaigns: Ints
) -> tuple[Ints, Ints]:
    parameters = rule.parameters
    phones = cases.phones[mine]
    if parameters.window_type == "rolling":
        hours = parameters.window_hours or 24 * (parameters.window_days or 1)
        every, same = windows(phones, campaigns, at, hours * _HOUR_US)
        low = high = every
    else:
        low, high = _by_days(cases, mine, phones, at, parameters.window_days or 1)
        every, same = high, low
    if parameters.subject_proxy is None:
        level = np.where(low > parameters.max_attempts, _OVER, _OK)
        level = np.where((high > parameters.max_attempts) & (level == _OK), _MIXED, level)
        return level.astype(np.int64), high
    # Other campaigns may have the same subject, and a call without one may have any.
    level = np.where(every > parameters.max_attempts, _MIXED, _OK)
    level = np.where(same > parameters.max_attempts, _OVER, level)
    return level.astype(np.int64), np.where(level == _OVER, same, every)


def _by_days(cases: Cases, mine: Ints, phones: Ints, at: Ints, days: int) -> tuple[Ints, Ints]:
    """Fewest and most attempts of any candidate zone in a window of local dates."""
    low = np.full(len(mine), np.iinfo(np.int64).max, dtype=np.int64)
    high = np.zeros(len(mine), dtype=np.int64)
    none = np.zeros(len(mine), dtype=np.int64)
    instants = pd.Series(pd.to_datetime(at, unit="us", utc=True)).astype("datetime64[us, UTC]")
    codes = cases.codes[mine]
    for code in np.unique(codes):
        rows = np.flatnonzero(codes == code)
        for zone in cases.kinds[code].zones.names:
            day = local(instants.iloc[rows], zone).day
            order = np.lexsort((at[rows], day, phones[rows]))
            every, _ = _slide(phones[rows][order], none[rows], day[order], days)
            back = np.empty_like(every)
            back[order] = every
            low[rows], high[rows] = np.minimum(low[rows], back), np.maximum(high[rows], back)
    low[high == 0] = 0
    return low, high


def _write(
    board: _Board,
    rule: CapRule,
    mine: Ints,
    level: Ints,
    found: Ints,
    hits: Sequence[Reached | None],
    cases: Cases,
) -> None:
    board.asked[mine] = True
    worse = level > board.level[mine]
    equal = (level == board.level[mine]) & (level > _OK)
    for row in mine[equal]:
        board.rules[row] = (*board.rules[row], rule)
    rows = mine[worse]
    board.level[rows], board.attempts[rows] = level[worse], found[worse]
    board.allowed[rows] = rule.parameters.max_attempts
    within = _window_words(rule)
    for row, how, attempts in zip(rows, level[worse], found[worse], strict=True):
        board.rules[row] = (rule,)
        if how == _OK:
            continue
        said = f"attempt {attempts} within {within}, {rule.parameters.max_attempts} allowed"
        if how == _MIXED and rule.parameters.subject_proxy:
            said += "; over several campaigns, whose subject may be the same"
        hit = hits[cases.codes[row]]
        if how == _OPEN and hit is not None:
            said += f", if the rule reaches the call; {hit.missing} is missing"
        board.reason[row] = said


def _window_words(rule: CapRule) -> str:
    p = rule.parameters
    if p.window_hours is not None:
        return f"{p.window_hours} hours"
    if p.window_type == "calendar_day":
        return "one day by the called party's date"
    kind = "consecutive days" if p.window_type == "consecutive_days" else "days"
    return f"{p.window_days} {kind}"


def _frame(
    calls: pd.DataFrame, cases: Cases, board: _Board, counted: npt.NDArray[np.bool_]
) -> pd.DataFrame:
    grade = _GRADES[board.level]
    missing = np.full(len(calls), None, dtype=object)
    reason = board.reason.copy()
    openly = board.level == _OPEN
    for row in np.flatnonzero(openly):
        missing[row] = reason[row].rsplit("; ", 1)[1].removesuffix(" is missing")
    within = board.asked & (board.level == _OK)
    reason[within] = "no more attempts than the rules allow"
    unasked = ~board.asked & counted
    reason[unasked] = "no rule of those asked caps attempts where the number may be"
    out = ~counted & np.asarray(~reached_network(calls))
    reason[out] = "left out: the call never reached the network"
    for rows, name, words in (
        (cases.phones < 0, NO_NUMBER, "to_number is missing or no number"),
        (calls["created_at"].isna().to_numpy(), CREATED_AT, "created_at is missing"),
        (
            ~calls["direction_known"].to_numpy(),
            DIRECTION,
            "direction is neither inbound nor outbound",
        ),
    ):
        missing[rows], reason[rows], grade[rows] = name, words, NOT_EVALUABLE
    attempts = pd.array(board.attempts, dtype="Int64")
    allowed = pd.array(board.allowed, dtype="Int64")
    attempts[~board.asked], allowed[~board.asked] = pd.NA, pd.NA
    rules = [each or () for each in board.rules]
    values: dict[str, object] = {
        "call_id": calls["id"],
        "to_number": calls["to_number"],
        "campaign_id": calls["campaign_id"],
        "created_at": calls["created_at"],
        "attempts": attempts,
        "allowed": allowed,
        "grade": grade,
        "rule_id": ["; ".join(rule.id for rule in each) or None for each in rules],
        "citation": ["; ".join(rule.citation for rule in each) or None for each in rules],
        "missing": missing,
        "reason": reason,
    }
    return shaped(values, COLUMNS)


def _instants(at: pd.Series) -> Ints:
    found: Ints = at.dt.tz_localize(None).to_numpy(dtype="datetime64[us]").astype(np.int64)
    return found


def _plain(code: str) -> str:
    return re.sub(r"[\W_]+", "", code).casefold()


_SILENT: Final = frozenset(_plain(code) for code in UNREACHED)


@numba.njit(cache=True, nogil=True)
def _slide(phones, groups, at, window):  # type: ignore[no-untyped-def]
    """Count, for sorted attempts, those of the number in `(at - window, at]`, and of its group."""
    size = len(phones)
    every = np.zeros(size, dtype=np.int64)
    same = np.zeros(size, dtype=np.int64)
    first = 0
    for row in range(size):
        if row and phones[row] != phones[row - 1]:
            first = row
        while at[row] - at[first] >= window:
            first += 1
        every[row] = row - first + 1
        if groups[row] < 0:
            continue
        for other in range(first, row + 1):
            if groups[other] == groups[row]:
                same[row] += 1
    return every, same
