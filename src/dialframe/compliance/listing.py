"""The check of calls to listed numbers: grades of `dnc.listed`, what supports a pass, and what a record lifts; grades no age.

A call passes only on evidence: the newest record within the permitted age before the call, or the
next one after it, said "not listed". A record that lifts every rule on lists that would reach the
call on its day lets it pass too, unless a request or a lead's status speaks against the number.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from dialframe.compliance.cases import Cases, reached, spared
from dialframe.compliance.checking import Check, Context, lists_of, newest, of_calls
from dialframe.compliance.dnc.deciding import BY_CHECK, BY_REQUEST
from dialframe.compliance.dnc.timely import IN_TIME, NO_CHECK, NO_LAW
from dialframe.compliance.facts import FreshnessRule
from dialframe.compliance.grades import (
    CLEAR,
    INDETERMINATE,
    NOT_EVALUABLE,
    PASSED,
    PROVEN,
    UNCERTAIN,
    VIOLATION,
)
from dialframe.compliance.rulebook import Rule, RuleBook, citations, ids

NO_RECORD: Final = "a recent Do-Not-Call check before the call, or any after it,"

_UNSUPPORTED: Final = "no record shows that the number was not listed when it was called"
_COUNTED_AS: Final = {PROVEN: VIOLATION, INDETERMINATE: UNCERTAIN}


def listed_number(
    told: Context,
    graded: pd.DataFrame,
    speaking: pd.DataFrame,
    book: RuleBook,
    day: date,
    cases: Cases,
) -> Check:
    """Grades of `dnc.listed` where anything speaks against a number, elsewhere the records.

    Rules are those in force on the day of each call; `day` stands in where a call has none.
    """
    on = days(graded["created_at"], day)
    said = speaking["grade"].reindex(graded.index)
    by_check = speaking["basis"].reindex(graded.index)
    free = _exempt(cases, book, on)
    free[(~said.isna() & (said != CLEAR) & (by_check != BY_CHECK)).to_numpy(dtype=bool)] = None
    exempt = pd.Series(free != None, index=graded.index)  # noqa: E711
    in_time = (graded["state"] == IN_TIME) | (
        (graded["missing"] == NO_LAW) & (graded["age_days"] <= _ages(cases, book, on))
    )
    negative = in_time.fillna(value=False).astype(bool) & graded["listed"].eq(other=False)
    negative |= graded["next_listed"].eq(other=False)
    basic = graded["missing"].notna() & ~graded["missing"].isin([NO_CHECK, NO_LAW])
    supported = negative.fillna(value=False).astype(bool) & ~basic
    open_ = said.isna() | (said == CLEAR)
    judged = supported.map({True: PASSED, False: NOT_EVALUABLE})
    grades = said.where(~open_, judged).mask(exempt & ~basic, PASSED).astype("str")
    rows = speaking.reindex(graded.index)[grades != PASSED]
    unsupported, records = open_[rows.index], graded.loc[rows.index]
    known = basic[rows.index]
    rows["detail"] = grades[rows.index].where(grades[rows.index].isin(list(_COUNTED_AS)), None)
    rows["grade"] = grades[rows.index].replace(_COUNTED_AS)
    rows["basis"] = rows["basis"].where(~unsupported, None)
    rows["missing"] = rows["missing"].where(
        ~unsupported, records["missing"].where(known, NO_RECORD)
    )
    rows["reason"] = rows["reason"].where(
        ~unsupported, records["reason"].where(known, _UNSUPPORTED)
    )
    rows[["rule_id", "citation", "lists"]] = _rule_texts(rows, book, on, cases)
    rows["reason"] = rows["reason"] + rows["lists"].where(~unsupported, "")
    evidence = rows["evidence"].where(~unsupported, newest(records))
    findings = of_calls("listed_number", told, rows, evidence=evidence)
    missing = pd.Series(None, index=graded.index, dtype="str")
    missing.loc[rows.index] = rows["missing"]
    rules = asked_rules(book, on)
    return Check("listed_number", "call", rules, grades.replace(_COUNTED_AS), findings, missing)


def days(at: pd.Series, day: date) -> list[date]:
    """The day of each call in UTC, another one where it has none."""
    return [day if pd.isna(each) else each for each in at.dt.date]


def asked_rules(book: RuleBook, on: Sequence[date]) -> Sequence[Rule]:
    """Rules on lists and requests that were in force on a day of the calls, in the order of the book."""
    first, last = (min(on), max(on)) if on else (date.min, date.min)
    turns = {first, last}
    for rule in book.rules:
        ends = (rule.effective_from, rule.effective_to)
        turns |= {each for each in ends if each is not None and first <= each <= last}
    found = {rule.id for each in turns for rule in (*book.listed(each), *book.honour(each))}
    return [rule for rule in book.rules if rule.id in found]


def _ages(cases: Cases, book: RuleBook, on: Sequence[date]) -> npt.NDArray[np.int64]:
    """How old a check may be that shows of each call that its number was not listed; 0 without a rule."""
    memory: dict[tuple[int, date], int] = {}
    for key in set(zip(cases.codes.tolist(), on, strict=True)):
        found = [each.rule for each in reached(cases.kinds[key[0]], book.listed(key[1]))]
        ages = [r.parameters.max_age_days for r in found if isinstance(r, FreshnessRule)]
        memory[key] = min(ages, default=0)
    ages_ = (memory[key] for key in zip(cases.codes.tolist(), on, strict=True))
    return np.fromiter(ages_, dtype=np.int64, count=len(on))


def _exempt(cases: Cases, book: RuleBook, on: Sequence[date]) -> npt.NDArray[np.object_]:
    """For each call the records that lift every rule on lists that would reach it, in words, or None."""
    words = np.full(len(on), None, dtype=object)
    lifted = np.array([bool(case.setting.lifted) for case in cases.kinds], dtype=bool)
    memory: dict[tuple[int, date], str | None] = {}
    for row in np.flatnonzero(lifted[cases.codes]) if len(on) else ():
        key = (int(cases.codes[row]), on[int(row)])
        if key not in memory:
            case, rules = cases.kinds[key[0]], book.listed(key[1])
            gone, left = spared(case, rules), reached(case, rules)
            codes = ", ".join(sorted(case.setting.lifted))
            memory[key] = f"exempt by record: {codes} lifts {ids(gone)}"
            memory[key] = memory[key] if gone and not left else None
        words[row] = memory[key]
    return words


def _rule_texts(
    rows: pd.DataFrame, book: RuleBook, on: Sequence[date], cases: Cases
) -> pd.DataFrame:
    """Rules of its place that each basis rests on, their citations and lists; a request has those of its own day."""
    memory: dict[tuple[int, date, date, str | None], tuple[str, str, str]] = {}

    def texts(row: int, basis: str | None, asked: date) -> tuple[str, str, str]:
        key = (int(cases.codes[row]), on[row], asked, basis)
        if key not in memory:
            listed, honour = book.listed(on[row]), book.honour(asked)
            rules: Sequence[Rule] = [*listed, *honour]
            if basis == BY_REQUEST:
                rules = honour
            elif basis is None or basis == BY_CHECK:
                rules = listed
            of_place = [each.rule for each in reached(cases.kinds[key[0]], rules)]
            lists = lists_of([rule for rule in of_place if isinstance(rule, FreshnessRule)])
            memory[key] = (ids(of_place), citations(of_place), lists)
        return memory[key]

    found = [
        texts(
            int(row),
            basis if isinstance(basis, str) else None,
            on[int(row)] if pd.isna(asked) else asked.date(),
        )
        for row, basis, asked in zip(rows.index, rows["basis"], rows["requested_at"], strict=True)
    ]
    names = ["rule_id", "citation", "lists"]
    return pd.DataFrame(found, index=rows.index, columns=names, dtype="str")
