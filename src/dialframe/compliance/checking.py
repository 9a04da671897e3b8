"""The checks of calls and numbers against hours and lists, each as grades, counts and findings; knows the parts, not the whole.

A call passes only on evidence. For the check on listed numbers that means: the newest record
within the permitted age before the call, or the next one after it, said "not listed".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

import numpy as np
import pandas as pd

from dialframe.compliance.cases import Codes
from dialframe.compliance.dnc.deciding import BY_CHECK, BY_REQUEST
from dialframe.compliance.dnc.scrub import FRESH, OLD, Coverage
from dialframe.compliance.dnc.timely import IN_TIME, NO_CHECK, NO_LAW, Limits
from dialframe.compliance.facts import HolidayRule
from dialframe.compliance.grades import (
    CLEAR,
    INDETERMINATE,
    NOT_EVALUABLE,
    PASSED,
    PROVEN,
    UNCERTAIN,
    VIOLATION,
)
from dialframe.compliance.intake import look_up, shaped
from dialframe.compliance.result import FINDINGS, sentence
from dialframe.compliance.rulebook import Rule, RuleBook, citations, ids
from dialframe.phones.placing import place

TITLES: Final = {
    "calling_hours": "Calls inside the permitted hours and days of the called party",
    "emergency": "Calls outside of declared emergencies",
    "attempt_caps": "Calls within the permitted number of attempts",
    "scrub_at_call": "Calls with a Do-Not-Call check on record that was recent enough",
    "scrub_coverage": "Callable numbers with a Do-Not-Call check that is recent enough",
    "listed_number": "Calls to numbers on a Do-Not-Call list, or after a request",
    "internal_dnc": "Requests not to be called, honoured in time",
    "abandonment": "Campaigns and periods within the permitted share of abandoned calls",
    "consent": "Calls with the consent, or the look-up, that the rules ask for",
    "records": "Calls on record with every field that the rules ask for",
    "retention": "Rules on keeping records, by how far back stored calls go",
}

NO_RECORD: Final = "a recent Do-Not-Call check before the call, or any after it,"
NO_NUMBER_CHECK: Final = "a Do-Not-Call check of the number"

_UNSUPPORTED: Final = "no record shows that the number was not listed when it was called"

_COUNTED_AS: Final = {PROVEN: VIOLATION, INDETERMINATE: UNCERTAIN}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Check:
    """One check, carried out.

    Attributes:
        name: Key of `TITLES`.
        unit: What was checked, in the singular.
        rules: Rules that it rests on.
        grades: Grade of everything that was looked at.
        findings: Rows that did not pass, columns `result.FINDINGS`. Where a whole input was not
            given its rows are counted and not listed.
        missing: The missing input of everything that was looked at, null where none is.
    """

    name: str
    unit: str
    rules: Sequence[Rule]
    grades: pd.Series
    findings: pd.DataFrame
    missing: pd.Series

    def row(self) -> dict[str, object]:
        """The counts, by the columns of `result.CHECKS`."""
        told = self.grades.value_counts()
        counts = {
            "checked": len(self.grades),
            "pass": int(told.get(PASSED, 0)),
            "violation": int(told.get(VIOLATION, 0)),
            "uncertain": int(told.get(UNCERTAIN, 0)),
            "not_evaluable": int(told.get(NOT_EVALUABLE, 0)),
        }
        missing = self.missing[(self.grades == NOT_EVALUABLE).to_numpy()]
        return {
            "check": self.name,
            "title": TITLES[self.name],
            "unit": f"{self.unit}s",
            **counts,
            "rule_id": ids(self.rules),
            "citation": citations(self.rules),
            "sentence": sentence(self.unit, counts, missing),
        }


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Context:
    """What every check of calls writes into its findings.

    Attributes:
        outbound: The calls, as `intake` gives them.
        lead_id: Lead of each call, null where none or several are possible.
        local_times: Start of each call in its candidate zones.
    """

    outbound: pd.DataFrame
    lead_id: pd.Series
    local_times: pd.Series


def context(outbound: pd.DataFrame, people: pd.DataFrame, hours: pd.DataFrame) -> Context:
    """The context of the calls; leads are found by campaign and number, then by number alone."""
    leads = people.drop_duplicates("id")
    pairs = leads[leads["campaign_id"].notna()]
    pairs = pairs[~pairs.duplicated(["campaign_id", "phone"], keep=False)]
    single = leads[~leads["phone"].duplicated(keep=False)].set_index("phone")["id"]
    found = outbound[["campaign_id", "to_number"]].merge(
        pairs[["campaign_id", "phone", "id"]],
        left_on=["campaign_id", "to_number"],
        right_on=["campaign_id", "phone"],
        how="left",
    )["id"]
    return Context(
        outbound, found.fillna(look_up(outbound["to_number"], single)), hours["local_times"]
    )


def calling_hours(told: Context, hours: pd.DataFrame, book: RuleBook) -> Check:
    """Grades of `hours`, as they are."""
    rows = hours[hours["grade"] != PASSED]
    findings = _of_calls("calling_hours", told, rows, evidence=rows["zone_source"])
    rules: list[Rule] = [*book.hours(), *(r for r in book.of_kind(HolidayRule) if _is_public(r))]
    return Check("calling_hours", "call", rules, hours["grade"], findings, hours["missing"])


def scrub_at_call(
    told: Context, coverage: Coverage, rules: Sequence[Rule], limits: Limits
) -> Check:
    """Grades of `dnc.timely`, as they are."""
    graded = coverage.calls
    rows = graded[graded["grade"] != PASSED].copy()
    kinds = [(ids(kind), citations(kind)) for kind in limits.kinds] or [("", "")]
    which = limits.rules[rows.index.to_numpy()]
    rows["rule_id"] = np.array([kind[0] for kind in kinds], dtype=object)[which]
    rows["citation"] = np.array([kind[1] for kind in kinds], dtype=object)[which]
    findings = _of_calls("scrub_at_call", told, rows, evidence=_newest(rows))
    return Check("scrub_at_call", "call", rules, graded["grade"], findings, graded["missing"])


def scrub_coverage(
    coverage: Coverage,
    rules: Sequence[Rule],
    states: Mapping[str, str] | pd.Series | None = None,
) -> Check:
    """Callable numbers: fresh passes, stale is uncertain, never checked is not evaluable.

    A finding names the rules of the places where the number may be.
    """
    numbers = coverage.numbers[coverage.numbers["callable"]]
    grades = pd.Series(
        np.select(
            [numbers["state"] == FRESH, numbers["state"] == OLD],
            [PASSED, UNCERTAIN],
            NOT_EVALUABLE,
        ),
        index=numbers.index,
        dtype="str",
    )
    rows = numbers[grades != PASSED]
    never = grades[rows.index] == NOT_EVALUABLE
    placed = place(rows["phone"], states)
    of_place = [[r for r in rules if r.jurisdiction in each.regions] for each in placed.kinds]
    old = (
        "the newest check on record is more than "
        + rows["max_age_days"].astype("str")
        + " days old"
    )
    values: dict[str, object] = {
        "check": _same("scrub_coverage", rows),
        "grade": grades[rows.index],
        "detail": _same(None, rows),
        "call_id": _same(None, rows),
        "lead_id": rows["lead_id"],
        "phone": rows["phone"],
        "campaign_id": _same(None, rows),
        "at": pd.Series(coverage.as_of, index=rows.index, dtype="datetime64[us, UTC]"),
        "local_times": _same(None, rows),
        "rule_id": _picked(placed.codes, [ids(each) for each in of_place], rows),
        "citation": _picked(placed.codes, [citations(each) for each in of_place], rows),
        "evidence": _newest(rows),
        "missing": _same(NO_NUMBER_CHECK, rows).where(never, None),
        "reason": _same("no check of the number is on record", rows).where(never, old),
    }
    missing = pd.Series(
        [NO_NUMBER_CHECK if each == NOT_EVALUABLE else None for each in grades], dtype="str"
    )
    return Check("scrub_coverage", "number", rules, grades, shaped(values, FINDINGS), missing)


def _picked(codes: Codes, texts: Sequence[str], rows: pd.DataFrame) -> pd.Series:
    """One text for each row by its case."""
    chosen = np.array(texts or [""], dtype=object)[codes]
    return pd.Series(chosen, index=rows.index, dtype="str")


def listed_number(
    told: Context,
    coverage: Coverage,
    speaking: pd.DataFrame,
    book: RuleBook,
    day: date,
    reached_by: Callable[[int, Sequence[Rule]], Sequence[Rule]],
) -> Check:
    """Grades of `dnc.listed` where anything speaks against a number, elsewhere the records."""
    graded = coverage.calls
    said = speaking["grade"].reindex(graded.index)
    negative = (graded["state"] == IN_TIME) & graded["listed"].eq(other=False)
    negative |= graded["next_listed"].eq(other=False)
    basic = graded["missing"].notna() & ~graded["missing"].isin([NO_CHECK, NO_LAW])
    supported = negative.fillna(value=False).astype(bool) & ~basic
    open_ = said.isna() | (said == CLEAR)
    judged = supported.map({True: PASSED, False: NOT_EVALUABLE})
    grades = said.where(~open_, judged).astype("str")
    rows = speaking.reindex(graded.index)[grades != PASSED]
    unsupported, newest = open_[rows.index], graded.loc[rows.index]
    known = basic[rows.index]
    rows["detail"] = grades[rows.index].where(grades[rows.index].isin(list(_COUNTED_AS)), None)
    rows["grade"] = grades[rows.index].replace(_COUNTED_AS)
    rows["basis"] = rows["basis"].where(~unsupported, None)
    rows["missing"] = rows["missing"].where(
        ~unsupported, newest["missing"].where(known, NO_RECORD)
    )
    rows["reason"] = rows["reason"].where(
        ~unsupported, newest["reason"].where(known, _UNSUPPORTED)
    )
    rows[["rule_id", "citation"]] = _rule_texts(rows, book, day, reached_by)
    evidence = rows["evidence"].where(~unsupported, _newest(newest))
    findings = _of_calls("listed_number", told, rows, evidence=evidence)
    every: Sequence[Rule] = [*book.listed(day), *book.honour(day)]
    missing = pd.Series(None, index=graded.index, dtype="str")
    missing.loc[rows.index] = rows["missing"]
    return Check("listed_number", "call", every, grades.replace(_COUNTED_AS), findings, missing)


def _rule_texts(
    rows: pd.DataFrame,
    book: RuleBook,
    day: date,
    reached_by: Callable[[int, Sequence[Rule]], Sequence[Rule]],
) -> pd.DataFrame:
    """Rules of its place that each basis rests on, and their citations; a request has those of its own day."""

    def texts(row: int, basis: str | None, asked: date) -> tuple[str, str]:
        listed, honour = book.listed(day), book.honour(asked)
        rules: Sequence[Rule] = [*listed, *honour]
        if basis == BY_REQUEST:
            rules = honour
        elif basis is None or basis == BY_CHECK:
            rules = listed
        of_place = reached_by(row, rules)
        return ids(of_place), citations(of_place)

    found = [
        texts(
            int(row),
            basis if isinstance(basis, str) else None,
            day if pd.isna(asked) else asked.date(),
        )
        for row, basis, asked in zip(rows.index, rows["basis"], rows["requested_at"], strict=True)
    ]
    return pd.DataFrame(found, index=rows.index, columns=["rule_id", "citation"], dtype="str")


def _is_public(rule: HolidayRule) -> bool:
    return rule.parameters.type == "no_calls" and rule.status != "voluntary_code"


def _of_calls(
    name: str, told: Context, rows: pd.DataFrame, *, evidence: pd.Series
) -> pd.DataFrame:
    """Findings of calls from graded rows, whose index is that of the calls."""
    calls = told.outbound.loc[rows.index]
    values: dict[str, object] = {
        "check": _same(name, rows),
        "grade": rows["grade"],
        "detail": rows["detail"] if "detail" in rows.columns else _same(None, rows),
        "call_id": calls["id"],
        "lead_id": told.lead_id[rows.index],
        "phone": calls["to_number"],
        "campaign_id": calls["campaign_id"],
        "at": calls["created_at"],
        "local_times": told.local_times[rows.index],
        "rule_id": rows["rule_id"],
        "citation": rows["citation"],
        "evidence": evidence,
        "missing": rows["missing"],
        "reason": rows["reason"],
    }
    return shaped(values, FINDINGS)


def _newest(rows: pd.DataFrame) -> pd.Series:
    """The newest record of each row in words, null where there is none."""
    times = rows["checked_at"].dt.strftime("%Y-%m-%dT%H:%M:%SZ")
    said = rows["listed"].map({True: "listed", False: "not listed"}).astype("str")
    words = rows["source"] + " " + rows["ref"].fillna("(no id)") + " said " + said + " at " + times
    return words.astype("str")


def _same(value: str | None, rows: pd.DataFrame) -> pd.Series:
    return pd.Series(value, index=rows.index, dtype="str")
