"""Results put into words, pictures and tables, one function per kind of result; computes nothing new."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pandas as pd

from dialframe import plots
from dialframe.analytics import STAGES, Funnel
from dialframe.compliance import Audit
from dialframe.plots import Picture
from dialframe.privacy import mask
from dialframe.reports.audit_page import HEADINGS, WORDS
from dialframe.reports.page import Figure, Section, Sheet

FUNNEL_HEADINGS: Final = {
    "stage": "Stage",
    "count": "Leads",
    "denominator": "Of (stage before)",
    "of_previous": "Share of stage before",
    "low": "95 % from",
    "high": "to",
    "of_loaded": "Share of loaded",
}
_SHARES: Final = ("of_previous", "low", "high", "of_loaded", "share", "rate")
_STAGES: Final = {stage.name: stage.label for stage in STAGES}
_MIX_HEADINGS: Final = {
    "denominator": "Of all attempts", "low": "95 % from", "high": "to", "outcome": "Outcome class",
    "conflict": "Contradicted by the network", "unmapped": "Without a meaning",
}  # fmt: skip
_OUTCOMES: Final = {
    "clean": "clean",
    "rejected": "rejected",
    "duplicates": "duplicate",
    "do_not_call": "not to be called",
    "skipped": "skipped",
}
_CHECK_HEADINGS: Final = {
    "title": "Check",
    "checked": "Checked",
    "pass": "Pass",
    "violation": "Violations",
    "uncertain": "Uncertain",
    "not_evaluable": "Not evaluable",
    "citation": "Rules",
}
_FINDING_COLUMNS: Final = ["check", "grade", "detail", "phone", "at", "reason"]
_FINDINGS_SHOWN: Final = 25
_GRAVEST_FIRST: Final = {"violation": 0, "uncertain": 1}
_LISTED_HEADINGS: Final = {
    "to_number": "Number (masked)", "created_at": "Start (UTC)", "grade": "Strength",
    "listed_after": "Listed after (UTC)", "listed_by": "Listed or asked by (UTC)", "reason": "Why",
    "local_times": "Local time in each zone", "zone_source": "Zones rest on", "group": "Group",
    "population": "Numbers that are", "numbers": "Numbers", "fresh": "Checked in time",
    "stale": "Check too old", "never": "Never checked", "screened": "Screened at import alone",
    "listed": "Listed", "share": "Share in time",
}  # fmt: skip


def lead_file(
    counts: Mapping[str, int], reasons: pd.DataFrame, mapping: pd.DataFrame, name: str
) -> Section:
    """A lead file that was cleaned and screened.

    Args:
        counts: `records, clean, rejected, duplicates, do_not_call, skipped`.
        reasons: Columns `outcome`, `reason`, `records`, `meaning`.
        mapping: Columns `field`, `column`, `confidence`.
        name: Name of the file.
    """
    told = ", ".join(f"{counts[part]:,} {words}" for part, words in _OUTCOMES.items())
    return Section(
        title="A lead file, cleaned and screened",
        finding=f"{name}: {counts['records']:,} records in, {told}; every record has one outcome.",
        sheets=(
            Sheet("Why records were set aside", reasons),
            Sheet("Which column was taken for which field", mapping),
        ),
    )


def imports(counts: Mapping[str, int], reasons: Mapping[str, int], campaign: str) -> Section:
    """What the service said to every lead that was sent."""
    frame = pd.DataFrame(
        {"answer": list(reasons), "leads": pd.array(list(reasons.values()), dtype="Int64")}
    )
    return Section(
        title="The import",
        finding=(
            f"{counts['sent']:,} leads sent to {campaign}: {counts['accepted']:,} accepted, "
            f"{counts['refused']:,} refused, {counts['unknown']:,} unknown; each under one "
            "idempotency key, each joined back to its source line."
        ),
        sheets=(Sheet("The service's answers", frame),),
    )


def campaigns(result: Funnel, by: Funnel | None, mix: pd.DataFrame) -> Section:
    """A funnel, the same funnel by group, and the outcomes behind it."""
    table = _staged(result.table)[list(FUNNEL_HEADINGS)]
    figures = [_figure(plots.funnel(result))]
    meaning = pd.DataFrame(
        [(_STAGES.get(stage, stage), words) for stage, words in result.definitions.items()],
        columns=["Stage", "What is counted"],
    )
    sheets = [
        Sheet("Leads by stage", table, FUNNEL_HEADINGS, _SHARES),
        Sheet("What each stage counts", meaning),
    ]
    if by is not None:
        figures.append(_figure(plots.funnel_by(by)))
        names = [str(by.by), *FUNNEL_HEADINGS]
        sheets.append(
            Sheet(
                f"Leads by stage and {words(str(by.by)).lower()}",
                _staged(by.table)[names],
                {**FUNNEL_HEADINGS, str(by.by): words(str(by.by))},
                _SHARES,
                rows=len(by.table),
                folded=True,
            )
        )
    figures.append(_figure(plots.outcomes(mix)))
    sheets.append(
        Sheet(
            "Attempts by disposition and outcome class",
            mix,
            {str(name): _MIX_HEADINGS.get(str(name), words(str(name))) for name in mix.columns},
            (*_SHARES, "high", "low"),
            folded=True,
        )
    )
    counts = dict(zip(result.table["stage"], table["count"], strict=True))
    return Section(
        title="Campaign funnel",
        finding=(
            f"Of {counts['accepted']:,} leads accepted, {counts['attempted']:,} were attempted, "
            f"{counts['human']:,} reached a person, {counts['right_party']:,} the right one, and "
            f"{counts['appointment']:,} made an appointment."
        ),
        figures=tuple(figures),
        sheets=tuple(sheets),
        counted=tuple(result.explain().splitlines()[-6:]),
    )


def words(name: str) -> str:
    """The name of a column as a heading."""
    return "Campaign" if name == "campaign_id" else name.replace("_", " ").capitalize()


def audit(result: Audit, by_campaign: pd.DataFrame) -> tuple[Section, ...]:
    """An audit: the verdict with its checks, then what is behind each.

    Args:
        result: The audit.
        by_campaign: Coverage of each campaign: `group`, `fresh`, `stale`, `never`.
    """
    return (_verdict(result), _coverage(result, by_campaign), _listed(result), _hours(result))


def _verdict(result: Audit) -> Section:
    order = result.findings["grade"].map(_GRAVEST_FIRST).fillna(2).argsort(kind="stable")
    findings = result.masked().iloc[order][_FINDING_COLUMNS]
    findings = findings.assign(check=findings["check"].map(lambda each: WORDS.get(each, each)))
    return Section(
        title="Compliance audit",
        finding=result.verdict,
        sheets=(
            Sheet("Checks", result.checks[list(_CHECK_HEADINGS)], _CHECK_HEADINGS),
            Sheet(
                "Findings, gravest first (numbers masked; the CSV has them whole)",
                findings,
                HEADINGS,
                rows=_FINDINGS_SHOWN,
            ),
        ),
        notes=result.notes,
    )


def _coverage(result: Audit, by_campaign: pd.DataFrame) -> Section:
    summary = result.coverage.summary
    row = summary.loc[summary["population"] == "callable or called"].iloc[0]
    return Section(
        title="Do-Not-Call coverage",
        finding=(
            f"{row['fresh']:,} of {row['numbers']:,} numbers that are callable or were called have "
            f"a record of at most {result.coverage.max_age_days} days; {row['listed']:,} are listed."
        ),
        figures=(_figure(plots.coverage(by_campaign)),),
        sheets=(
            Sheet(
                "Numbers by age of their newest record",
                summary.dropna(axis="columns", how="all"),
                _LISTED_HEADINGS,
                _SHARES,
            ),
            Sheet("Numbers of each campaign, each once", by_campaign, _LISTED_HEADINGS),
        ),
    )


def _listed(result: Audit) -> Section:
    listed = result.listed
    grades = listed["grade"].value_counts()
    told = ", ".join(
        f"{int(grades.get(g, 0)):,} {g}" for g in ("proven", "indeterminate", "clear")
    )
    columns = ["to_number", "created_at", "grade", "listed_after", "listed_by", "reason"]
    rows = listed.loc[listed["grade"].isin(["proven", "indeterminate"]), columns]
    masked = rows.assign(to_number=rows["to_number"].map(mask).astype("str"))
    return Section(
        title="Calls to listed numbers",
        finding=f"Of the calls to numbers that are listed or asked not to be called: {told}.",
        figures=(_figure(plots.listed_calls(listed)),),
        sheets=(
            Sheet("Calls that are not clear", masked, _LISTED_HEADINGS, rows=_FINDINGS_SHOWN),
        ),
        notes=(
            "Proven: the number was known to be listed, or its owner had asked, before the call.",
            "Indeterminate: it became listed between two records, and the call lies between them.",
        ),
    )


def _hours(result: Audit) -> Section:
    hours = result.hours
    grades = hours["grade"].value_counts()
    names = ("violation", "uncertain", "not evaluable")
    told = ", ".join(f"{int(grades.get(name, 0)):,} {name}" for name in names)
    columns = ["to_number", "created_at", "grade", "local_times", "zone_source", "reason"]
    rows = hours.loc[~hours["grade"].isin(["pass", "not asked"]), columns]
    masked = rows.assign(to_number=rows["to_number"].map(mask, na_action="ignore").astype("str"))
    return Section(
        title="Calling hours",
        finding=f"{len(hours):,} outbound calls against the hours where the called party may be: {told}.",
        figures=(_figure(plots.calling_hours(hours)),),
        sheets=(
            Sheet(
                "Calls outside the hours in some candidate zone",
                masked,
                _LISTED_HEADINGS,
                rows=_FINDINGS_SHOWN,
            ),
        ),
        notes=(
            "Inside in every candidate zone is a pass, outside in every one a violation, else uncertain.",
        ),
    )


def _figure(picture: Picture) -> Figure:
    return Figure(picture.png(), picture.alt)


def _staged(table: pd.DataFrame) -> pd.DataFrame:
    """A funnel's table with the stages by their labels."""
    return table.assign(stage=table["stage"].map(lambda stage: _STAGES.get(stage, stage)))
