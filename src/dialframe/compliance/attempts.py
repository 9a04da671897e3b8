"""Attempts on one number against the caps of the rules, in exact sliding windows; knows no list and no consent.

Attempts that never reached the network are left out and counted as such; `capping` counts the rest
for one rule at a time, and here the strictest answer of all rules is put together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from dialframe.compliance import following
from dialframe.compliance.capping import MIXED, OK, OPEN, OVER, Levels, levels, windows
from dialframe.compliance.cases import Cases, Reached
from dialframe.compliance.clock import Flags, Ints
from dialframe.compliance.facts import CapRule
from dialframe.compliance.following import Earlier
from dialframe.compliance.grades import (
    CREATED_AT,
    DIRECTION,
    NOT_EVALUABLE,
    PASSED,
    UNCERTAIN,
    VIOLATION,
)
from dialframe.compliance.intake import distinct, shaped
from dialframe.compliance.rulebook import RuleBook
from dialframe.compliance.spans import Days, conditions, in_force_everywhere, reach
from dialframe.frames import Column
from dialframe.phones.zones import NO_NUMBER

__all__ = ["COLUMNS", "NO_CAP", "SUBJECT", "UNREACHED", "grade", "reached_network", "windows"]

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

_GRADES: Final = np.array([PASSED, PASSED, NOT_EVALUABLE, UNCERTAIN, VIOLATION], dtype=object)


@dataclass(frozen=True, slots=True, eq=False)
class Board:
    """What is known of each call: its level, the window that decides, the rules behind it, and why.

    The rules of a call are a place in `sets`, of which the first is empty.
    """

    level: Ints
    attempts: Ints
    allowed: Ints
    rules: npt.NDArray[np.int32]
    sets: list[tuple[CapRule, ...]]
    reason: npt.NDArray[np.object_]
    missing: npt.NDArray[np.object_]
    asked: npt.NDArray[np.bool_]

    @classmethod
    def blank(cls, size: int) -> Board:
        """No grade yet for any call."""
        numbers = (np.zeros(size, dtype=np.int64) for _ in range(3))
        level, attempts, allowed = numbers
        reason, missing = (np.full(size, None, dtype=object) for _ in range(2))
        rules = np.zeros(size, dtype=np.int32)
        asked = np.zeros(size, dtype=bool)
        return cls(level, attempts, allowed, rules, [()], reason, missing, asked)

    def place_of(self, rules: tuple[CapRule, ...]) -> int:
        """The place of a set of rules."""
        ids = [rule.id for rule in rules]
        for place, known in enumerate(self.sets):
            if [rule.id for rule in known] == ids:
                return place
        self.sets.append(rules)
        return len(self.sets) - 1


def reached_network(calls: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Whether each call reached the network: false only where its cause or outcome says so.

    Args:
        calls: Columns `hangup_cause`, `disposition`, `answered_at`, `status`; an answered call
            reached somebody whatever its cause says.
    """
    silent = np.zeros(len(calls), dtype=bool)
    for name in ("hangup_cause", "disposition", "status"):
        codes, said = distinct(calls[name])
        told = [_is_silent(each, cause=name == "hangup_cause") for each in said]
        silent |= np.array([*told, False], dtype=bool)[codes]
    return np.asarray(~silent | calls["answered_at"].notna().to_numpy(), dtype=bool)


def grade(
    calls: pd.DataFrame,
    cases: Cases,
    book: RuleBook,
    days: Days,
    earlier: Earlier | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Calls against the caps of the rules, and the counts of each rule.

    Args:
        calls: Outbound calls as they came through the door (`intake`).
        cases: Their cases.
        book: The rule book.
        days: Their local days.
        earlier: Calls of both directions with how they ended (`following.take`), for rules that
            follow a dropped call, a machine or a conversation; None: nobody says how calls ended.

    Returns:
        One row per call, columns `COLUMNS`; a call is graded by the window that ends with it.
    """
    counted = reached_network(calls) & calls["created_at"].notna().to_numpy()
    counted &= calls["direction_known"].to_numpy(dtype=bool) & (cases.phones >= 0)
    before = following.take(calls, calls.iloc[:0], None) if earlier is None else earlier
    board, by_rule = measure(calls, cases, book, days, counted, lambda: before)
    return _frame(calls, cases, board, counted), by_rule


def measure(
    calls: pd.DataFrame,
    cases: Cases,
    book: RuleBook,
    days: Days,
    counted: Flags,
    earlier: Callable[[], Earlier],
) -> tuple[Board, pd.DataFrame]:
    """Levels of the calls that count, and the counts of each rule; nothing is put into a frame.

    Calls before others are asked for only where a rule follows what happened on them.
    """
    board = Board.blank(len(calls))
    reaching = list(reach(book.of_kind(CapRule), cases, days, counted))
    before = earlier() if any(follows(rule) for rule, *_ in reaching) else following.NOTHING
    tally = [
        _one(rule, rows, hits, calls, cases, days, board, before) for rule, rows, hits in reaching
    ]
    by_rule = pd.DataFrame(
        tally, columns=["rule_id", "pass", "violation", "uncertain", "not_evaluable"]
    )
    return board, by_rule


def follows(rule: CapRule) -> bool:
    """Whether a cap goes by what happened on calls before."""
    p = rule.parameters
    return p.trigger is not None or p.cooldown_after_conversation_days is not None


def _one(
    rule: CapRule,
    mine: Ints,
    hits: Sequence[Reached | None],
    calls: pd.DataFrame,
    cases: Cases,
    days: Days,
    board: Board,
    earlier: Earlier,
) -> tuple[str, int, int, int, int]:
    """Grade every call that one rule reaches."""
    at = following.microseconds(calls["created_at"].iloc[mine])
    campaigns = pd.factorize(calls["campaign_id"].iloc[mine])[0].astype(np.int64)
    found = levels(rule, cases, mine, at, campaigns, earlier)
    missing, doubtful = conditions(hits, cases.codes[mine])
    doubtful = doubtful | ~in_force_everywhere(rule, days, mine)
    found.level[(found.level > OPEN) & doubtful] = MIXED
    open_ = (found.level > OK) & missing
    found.level[open_] = OPEN
    wanted = np.array([hit.missing if hit else "" for hit in hits], dtype=object)
    found.missing[open_] = wanted[cases.codes[mine]][open_]
    _write(board, rule, mine, found)
    totals = [int((found.level == value).sum()) for value in (OK, OVER, MIXED, OPEN)]
    return rule.id, totals[0], totals[1], totals[2], totals[3]


def _write(board: Board, rule: CapRule, mine: Ints, found: Levels) -> None:
    board.asked[mine] = True
    worse = found.level > board.level[mine]
    equal = (found.level == board.level[mine]) & (found.level > OK)
    for before in np.unique(board.rules[mine[equal]]):
        same = mine[equal & (board.rules[mine] == before)]
        board.rules[same] = board.place_of((*board.sets[before], rule))
    rows = mine[worse]
    board.level[rows], board.attempts[rows] = found.level[worse], found.attempts[worse]
    board.allowed[rows] = found.allowed[worse]
    board.rules[rows] = board.place_of((rule,))
    over = np.flatnonzero(worse & (found.level > OK))
    for row, place in zip(mine[over], over, strict=True):
        how = found.level[place]
        board.reason[row] = _words(rule, found, int(place))
        board.missing[row] = found.missing[place] if how == OPEN else None


def _words(rule: CapRule, found: Levels, place: int) -> str:
    """Why a call is no pass, by one rule."""
    p = rule.parameters
    how, missing = found.level[place], found.missing[place]
    attempts = int(found.attempts[place])
    said = f"attempt {attempts} within {found.within[place]}, {found.allowed[place]} allowed"
    if not attempts:
        said = f"perhaps within {found.within[place]}"
    said += f", counted by {', '.join(p.scope).replace('_', ' ')}"
    if how == MIXED and p.subject_proxy:
        said += "; over several campaigns, whose subject may be the same"
    if p.nature == "rebuttable_presumption":
        said += "; a presumption, which can be rebutted"
    return f"{said}; {missing} is missing" if how == OPEN else said


def _frame(
    calls: pd.DataFrame, cases: Cases, board: Board, counted: npt.NDArray[np.bool_]
) -> pd.DataFrame:
    grade = _GRADES[board.level]
    missing, reason = board.missing.copy(), board.reason.copy()
    within = board.asked & (board.level == OK)
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
    which, rules = board.rules, board.sets
    values: dict[str, object] = {
        "call_id": calls["id"],
        "to_number": calls["to_number"],
        "campaign_id": calls["campaign_id"],
        "created_at": calls["created_at"],
        "attempts": attempts,
        "allowed": allowed,
        "grade": grade,
        "rule_id": _spread(["; ".join(r.id for r in each) or None for each in rules], which),
        "citation": _spread(
            ["; ".join(r.citation for r in each) or None for each in rules], which
        ),
        "missing": missing,
        "reason": reason,
    }
    return shaped(values, COLUMNS)


def _spread(texts: Sequence[str | None], which: npt.NDArray[np.int32]) -> npt.NDArray[np.object_]:
    table = np.empty(len(texts), dtype=object)
    table[:] = list(texts)
    spread: npt.NDArray[np.object_] = table[which]
    return spread


def _is_silent(said: str, *, cause: bool) -> bool:
    return _plain(said) in _SILENT or (cause and bool(_SERVER_ERROR.fullmatch(said)))


def _plain(code: str) -> str:
    return re.sub(r"[\W_]+", "", code).casefold()


_SILENT: Final = frozenset(_plain(code) for code in UNREACHED)
_SERVER_ERROR: Final = re.compile(r"(?i)\s*(?:SIP\s*)?5\d\d\b.*")
