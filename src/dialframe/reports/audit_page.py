"""An audit as a page for a lawyer: counts first, then each finding with its proof, then what could not be evaluated."""

from __future__ import annotations

from typing import Final

import pandas as pd

from dialframe.compliance import Audit
from dialframe.privacy import mask, redact
from dialframe.reports import audit_answers as told
from dialframe.reports.page import Page, Section, Sheet

HEADINGS: Final = {
    "title": "Check", "verdict": "Verdict", "unit": "Of", "checked": "Checked", "pass": "Pass", "violation": "Violations",
    "uncertain": "Uncertain", "not_evaluable": "Not evaluable", "not_asked": "Not asked", "citation": "Rules",
    "check": "Check", "grade": "Grade", "detail": "Strength", "phone": "Number (masked)",
    "at": "Start (UTC)", "local_times": "Local time in each zone it may be in",
    "reason": "Why", "evidence": "Proof", "rule_id": "Rule", "campaign_id": "Campaign",
    "missing": "What is missing", "number": "How many", "jurisdiction": "Where", "kind": "What it rules",
    "confidence": "Reading", "status": "Status", "order": "No.", "do": "What to do",
    "view": "By", "group": "Which", "numbers": "Numbers", "fresh": "Checked in time",
    "screened": "Screened at import alone", "stale": "Check too old", "never": "Never checked", "share": "Share in time",
    "callable": "May be called next", "age_days": "Age, days", "max_age_days": "Permitted, days",
    "state": "State", "force": "Force",
}  # fmt: skip
WORDS: Final = {
    "calling_hours": "calling hours", "scrub_at_call": "check before the call",
    "scrub_coverage": "check of the number", "listed_number": "listed number",
    "attempt_caps": "attempts", "internal_dnc": "request not to be called", "emergency": "emergency",
    "abandonment": "abandoned calls", "consent": "consent", "records": "record of the call",
    "retention": "keeping of records", "sector_ban": "banned subjects", "caller_id": "number shown",
    "recording_consent": "consent to recording", "artificial_voice": "artificial voice", "calling_hours_rule": "calling hours", "holiday": "holidays",
    "attempt_cap": "attempts", "dnc_freshness": "Do-Not-Call lists", "abandonment_rate": "abandoned calls",
    "in_force": "in force", "superseded": "superseded", "voluntary_code": "voluntary code",
}  # fmt: skip
LEGAL: Final = "Facts for review, not legal advice."
#: Rows of each table of violations, and of findings that are not; the pack has every row.
SHOWN: Final = 200
SHOWN_OPEN: Final = 25

_PROOF: Final = ["phone", "at", "local_times", "reason", "evidence", "rule_id", "campaign_id"]
_GRADES: Final = (
    "Violation: the data shows that a limit was broken.",
    "Uncertain: it depends on what the data does not show, such as where the person was.",
    "Not evaluable: an input is missing. It is no pass.",
    "Pass: the data shows that the limit was kept.",
)


def page(result: Audit) -> Page:
    """The report of an audit; every number in it is masked."""
    warnings = [note for note in result.notes if "rules may have changed" in note]
    return Page(
        title="Compliance audit",
        summary=(*told.answers(result), *warnings),
        sections=(_first(result), *_graded(result, "violation", "Violations"),
                  *_graded(result, "uncertain", "Uncertain"), _open(result), *_advice(result),
                  *_coverage(result),
                  _rules(result)),
        facts=_facts(result),
    )  # fmt: skip


def _first(result: Audit) -> Section:
    what = told.first(result)
    found = Sheet("What to look at first, gravest first", what, HEADINGS)
    return Section(
        title="The answer on one page",
        finding=f"{LEGAL} {told.to_check_sentence(result)}",
        sheets=(
            *([found] if len(what) else []),
            Sheet("Every check and how many of each grade", told.counts(result), HEADINGS),
            *_left_out(result),
        ),
        notes=(*(f"Nothing was audited: {gap}." for gap in result.gaps), *_GRADES),
    )


def _left_out(result: Audit) -> list[Sheet]:
    """Places whose rules were not asked, and outcomes of which nobody said what they mean."""
    sheets = []
    places, codes = result.parts.get("not_asked"), result.parts.get("unmapped")
    if places is not None and len(places):
        title = "Not asked: places whose rules were left out; add them with --rules"
        sheets.append(Sheet(title, places, HEADINGS | {"checks": "Checks", "calls": "Calls"}))
    if codes is not None and len(codes):
        title = "Dispositions that nobody mapped; say what they mean with --codes FILE"
        named = {
            "calls": "Calls",
            "disposition": "Disposition",
            "like_refusal": "Reads like a refusal",
        }
        sheets.append(Sheet(title, codes, HEADINGS | named))
    return sheets


def _graded(result: Audit, grade: str, title: str) -> tuple[Section, ...]:
    """Findings of one grade, a table for each check, gravest first."""
    masked = result.masked()
    rows = masked[(masked["grade"] == grade).to_numpy()]
    if rows.empty:
        return (Section(title, f"None of the tests that could be made was graded {grade}."),)
    rows = rows.iloc[told.in_order(rows["check"]).argsort(kind="stable")]
    shown = SHOWN if grade == "violation" else SHOWN_OPEN
    sheets = []
    for name, part in rows.groupby("check", sort=False):
        kept = [c for c in _PROOF if part[c].notna().any()]
        sheets.append(Sheet(told.title_of(str(name)), part[kept], HEADINGS, rows=shown))
    more = (
        " findings.csv of the pack has every row."
        if (rows["check"].value_counts() > shown).any()
        else ""
    )
    said = (
        f"{len(rows):,} finding{'' if len(rows) == 1 else 's'}, each with what it rests on.{more}"
    )
    return (Section(title, said, sheets=tuple(sheets)),)


def _open(result: Audit) -> Section:
    table = told.unanswered(result)
    sentences = tuple(result.checks.loc[result.checks["not_evaluable"] > 0, "sentence"])
    finding = "Nothing here was shown to be lawful: an input was missing."
    return Section(
        title="What could not be evaluated",
        finding=finding if len(table) else "Every test that was made had its inputs.",
        sheets=(Sheet("Findings by what is missing", table, HEADINGS),) if len(table) else (),
        notes=(
            *(f"{sentence}." for sentence in sentences),
            *(note for note in result.notes if note != LEGAL),
        ),
    )


def _advice(result: Audit) -> tuple[Section, ...]:
    """What voluntary codes say, apart from the law; numbers masked."""
    checks, found = result.parts.get("advisory_checks"), result.parts.get("advisory")
    if checks is None or found is None or checks.empty:
        return ()
    rows = result.with_findings(found.drop(columns="force")).masked()
    rows = rows.assign(force=found["force"])
    names = ["force", "grade", *(c for c in _PROOF if rows[c].notna().any())]
    sheets = [Sheet(
        "Counts by voluntary codes",
        checks[["force", "title", "checked", "pass", "violation", "uncertain", "not_evaluable"]],
        HEADINGS,
    )]  # fmt: skip
    if len(rows):
        sheets.append(Sheet("Departures and doubts", rows[names], HEADINGS, rows=SHOWN_OPEN))
    return (
        Section(
            "Voluntary codes: advice, not law",
            "Nothing here is a violation of law or is counted above. A code binds a firm that joined "
            "it; to hold calls to it, name its rule by its id or adopt it in the firm's own file.",
            sheets=tuple(sheets),
        ),
    )


def _coverage(result: Audit) -> tuple[Section, ...]:
    """Coverage by group and the numbers to check next, where the audit has them."""
    by, due = result.parts.get("coverage_by"), result.parts.get("next_checks")
    if by is None or due is None:
        return ()
    masked = due.head(SHOWN_OPEN).assign(
        phone=due["phone"].head(SHOWN_OPEN).map(mask, na_action="ignore").astype("str")
    )
    sheets = [
        Sheet(f"Numbers by {view}", part.drop(columns="view"), HEADINGS, ("share",), SHOWN_OPEN)
        for view, part in by.groupby("view", sort=False)
    ]
    if len(masked):
        caption = f"Numbers to check next, the first of {len(due):,} (next_checks.csv has all)"
        sheets.append(Sheet(caption, masked, HEADINGS))
    return (Section("Do-Not-Call coverage", told.to_check_sentence(result), sheets=tuple(sheets)),)


def _rules(result: Audit) -> Section:
    rules = result.parts.get("rules")
    if rules is None:
        rules = pd.DataFrame(
            {name: [] for name in ("rule_id", "title", "jurisdiction", "citation")}
        )
    shown = rules.copy()
    for name in ("kind", "status"):
        if name in shown:
            shown[name] = shown[name].map(lambda each: WORDS.get(each, each.replace("_", " ")))
    names = ["rule_id", "title", "jurisdiction", "kind", "status", "confidence", "citation"]
    return Section(
        title="Rules asked",
        finding=f"{len(rules):,} rules; each was applied to calls of the days on which it was in force.",
        sheets=(Sheet("Rules", shown[[n for n in names if n in shown]], HEADINGS, rows=SHOWN),),
    )


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
    }
