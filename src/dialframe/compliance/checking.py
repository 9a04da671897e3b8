"""The checks of calls and numbers against hours and the age of checks, each as grades, counts and findings; knows the parts, not the whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from dialframe.compliance.cases import Codes
from dialframe.compliance.clock import Flags
from dialframe.compliance.dnc.scrub import FRESH, OLD, Coverage
from dialframe.compliance.dnc.timely import IN_TIME, Limits
from dialframe.compliance.facts import FreshnessRule
from dialframe.compliance.grades import NOT_EVALUABLE, PASSED, UNCERTAIN, VIOLATION
from dialframe.compliance.hours import shown_rules
from dialframe.compliance.intake import look_up, shaped
from dialframe.compliance.result import FINDINGS, in_words
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

NO_NUMBER_CHECK: Final = "a Do-Not-Call check of the number"


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
        told = {str(grade): int(count) for grade, count in self.grades.value_counts().items()}
        missing = self.missing[(self.grades == NOT_EVALUABLE).to_numpy()]
        return counted_row(self.name, self.unit, self.rules, told, missing.value_counts())


def counted_row(
    name: str, unit: str, rules: Sequence[Rule], told: Mapping[str, int], missing: pd.Series
) -> dict[str, object]:
    """Counts of a check by the columns of `result.CHECKS`; `missing` has the counts of each input."""
    counts = {
        "checked": sum(told.values()),
        "pass": told.get(PASSED, 0),
        "violation": told.get(VIOLATION, 0),
        "uncertain": told.get(UNCERTAIN, 0),
        "not_evaluable": told.get(NOT_EVALUABLE, 0),
    }
    return {
        "check": name,
        "title": TITLES[name],
        "unit": f"{unit}s",
        **counts,
        "rule_id": ids(rules),
        "citation": citations(rules),
        "sentence": in_words(unit, counts, missing),
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
    findings = of_calls("calling_hours", told, rows, evidence=rows["zone_source"])
    return Check(
        "calling_hours", "call", shown_rules(book), hours["grade"], findings, hours["missing"]
    )


def scrub_at_call(
    told: Context, graded: pd.DataFrame, rules: Sequence[Rule], limits: Limits
) -> Check:
    """Grades of `dnc.timely`, as they are; the rules are those of the days of the calls."""
    rows = graded[graded["grade"] != PASSED].copy()
    kinds = [(ids(kind), citations(kind), lists_of(kind)) for kind in limits.kinds] or [
        ("", "", "")
    ]
    which = limits.rules[rows.index.to_numpy()]
    rows["rule_id"] = np.array([kind[0] for kind in kinds], dtype=object)[which]
    rows["citation"] = np.array([kind[1] for kind in kinds], dtype=object)[which]
    rows["reason"] += np.array([kind[2] for kind in kinds], dtype=object)[which]
    used = {rule.id for kind in limits.kinds for rule in kind}
    findings = of_calls("scrub_at_call", told, rows, evidence=newest(rows))
    behind: Sequence[Rule] = [rule for rule in limits.asked if rule.id in used] or rules
    return Check("scrub_at_call", "call", behind, graded["grade"], findings, graded["missing"])


def lists_of(rules: Sequence[FreshnessRule]) -> str:
    """The lists that some rules ask about, in words."""
    named = (
        r.parameters.registry + (f", of each {r.parameters.period}" if r.parameters.period else "")
        for r in rules
    )
    whole = "; ".join(dict.fromkeys(name.replace("_", " ") for name in named))
    return f"; list: {whole}" if whole else ""


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
        "evidence": newest(rows),
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


def unlisted(calls: pd.DataFrame) -> Flags:
    """Whether a record in time before each call said that its number was not listed."""
    said = (calls["state"] == IN_TIME) & calls["listed"].eq(other=False)
    return np.asarray(said.fillna(value=False), dtype=bool)


def of_calls(name: str, told: Context, rows: pd.DataFrame, *, evidence: pd.Series) -> pd.DataFrame:
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


def newest(rows: pd.DataFrame) -> pd.Series:
    """The newest record of each row in words, null where there is none."""
    times = rows["checked_at"].dt.strftime("%Y-%m-%dT%H:%M:%SZ")
    said = rows["listed"].map({True: "listed", False: "not listed"}).astype("str")
    words = rows["source"] + " " + rows["ref"].fillna("(no id)") + " said " + said + " at " + times
    return words.astype("str")


def _same(value: str | None, rows: pd.DataFrame) -> pd.Series:
    return pd.Series(value, index=rows.index, dtype="str")
