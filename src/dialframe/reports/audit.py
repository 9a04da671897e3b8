"""An audit as a page for a lawyer: counts first, then each finding with its proof, then what could not be evaluated."""

from __future__ import annotations

from typing import Final

import pandas as pd

from dialframe.compliance import Audit
from dialframe.privacy import redact
from dialframe.reports.page import Page, Section, Sheet

HEADINGS: Final = {
    "title": "Check", "unit": "Of", "checked": "Checked", "pass": "Pass", "violation": "Violations",
    "uncertain": "Uncertain", "not_evaluable": "Not evaluable", "citation": "Rules",
    "check": "Check", "grade": "Grade", "detail": "Strength", "phone": "Number (masked)",
    "at": "Start (UTC)", "local_times": "Local time in each zone it may be in",
    "reason": "Why", "evidence": "Proof", "rule_id": "Rule", "campaign_id": "Campaign",
    "missing": "What is missing", "number": "How many", "jurisdiction": "Where", "kind": "What it rules",
    "confidence": "Reading", "status": "Status",
}  # fmt: skip
WORDS: Final = {
    "calling_hours": "calling hours", "scrub_at_call": "check before the call",
    "scrub_coverage": "check of the number", "listed_number": "listed number",
    "attempt_caps": "attempts", "internal_dnc": "request not to be called", "emergency": "emergency",
    "abandonment": "abandoned calls", "consent": "consent", "records": "record of the call",
    "retention": "keeping of records", "calling_hours_rule": "calling hours", "holiday": "holidays",
    "attempt_cap": "attempts", "dnc_freshness": "Do-Not-Call lists", "abandonment_rate": "abandoned calls",
    "in_force": "in force", "superseded": "superseded", "voluntary_code": "voluntary code",
}  # fmt: skip
SHOWN: Final = 200

_PROOF: Final = [
    "phone", "campaign_id", "at", "local_times", "reason", "evidence", "rule_id", "citation",
]  # fmt: skip


def page(result: Audit) -> Page:
    """The report of an audit; every number in it is masked."""
    return Page(
        title="Compliance audit",
        summary=(result.verdict, *(note for note in result.notes if "older" in note or "old," in note)),
        sections=(_counts(result), *_graded(result, "violation", "Violations"),
                  *_graded(result, "uncertain", "Uncertain"), _open(result), _rules(result)),
        facts=_facts(result),
    )  # fmt: skip


def _counts(result: Audit) -> Section:
    names = [
        "title",
        "unit",
        "checked",
        "pass",
        "violation",
        "uncertain",
        "not_evaluable",
        "citation",
    ]
    return Section(
        title="Counts",
        finding=result.verdict,
        sheets=(Sheet("Checks", result.checks[names], HEADINGS),),
        notes=(*result.checks["sentence"], *result.notes),
    )


def _graded(result: Audit, grade: str, title: str) -> tuple[Section, ...]:
    """Findings of one grade, a table for each check."""
    masked = result.masked()
    rows = masked[(masked["grade"] == grade).to_numpy()]
    if rows.empty:
        return (Section(title, f"None of the tests that could be made was graded {grade}."),)
    sheets = []
    for name, part in rows.groupby("check", sort=False):
        columns = ["detail", *_PROOF] if part["detail"].notna().any() else _PROOF
        kept = [c for c in columns if part[c].notna().any()]
        sheets.append(Sheet(_title(str(name)), part[kept], HEADINGS, rows=SHOWN))
    said = f"{len(rows):,} finding{'' if len(rows) == 1 else 's'}, each with what it rests on."
    return (Section(title, said, sheets=tuple(sheets)),)


def _open(result: Audit) -> Section:
    rows = result.findings[result.findings["grade"] == "not evaluable"]
    table = rows.groupby(["check", "missing"], dropna=False).size().rename("number").reset_index()
    table["check"] = table["check"].map(_title)
    sentences = tuple(result.checks.loc[result.checks["not_evaluable"] > 0, "sentence"])
    return Section(
        title="What could not be evaluated",
        finding="Nothing here was shown to be lawful: an input was missing.",
        sheets=(Sheet("Findings by what is missing", table, HEADINGS),),
        notes=tuple(f"{sentence}." for sentence in sentences),
    )


def _rules(result: Audit) -> Section:
    rules = result.parts.get("rules")
    if rules is None:
        rules = pd.DataFrame({name: [] for name in ("title", "jurisdiction", "citation")})
    shown = rules.copy()
    for name in ("kind", "status"):
        if name in shown:
            shown[name] = shown[name].map(lambda each: WORDS.get(each, each.replace("_", " ")))
    names = ["title", "jurisdiction", "kind", "status", "confidence", "citation"]
    return Section(
        title="Rules asked",
        finding=f"{len(rules):,} rules; each was applied to calls of the days on which it was in force.",
        sheets=(Sheet("Rules", shown[[n for n in names if n in shown]], HEADINGS, rows=SHOWN),),
    )


def _title(name: str) -> str:
    words = WORDS.get(name, name.replace("_", " "))
    return words[0].upper() + words[1:]


def _facts(result: Audit) -> dict[str, str]:
    def day(at: object) -> str:
        return "no bound" if at is None else f"{at:%Y-%m-%d %H:%M:%S} UTC"

    return {
        "As of": day(result.as_of),
        "Period": f"{day(result.since)} until {day(result.until)}",
        "Rule book": result.rulebook_version,
        "Rule book SHA-256": result.rulebook_sha256,
        "Taxonomy": result.taxonomy or "none",
        "Rows read": redact(result.data_version) or "not named",
        "Left out": ", ".join(f"{why}: {n:,}" for why, n in result.excluded.items() if n)
        or "none",
        "Notice": "Facts for review, not legal advice.",
    }
