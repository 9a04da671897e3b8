"""Results put into words, pictures and tables, one function per kind of result; computes nothing new."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd

from dialframe.analytics import NOT_AVAILABLE, STAGES, Funnel, Result
from dialframe.compliance import Audit
from dialframe.privacy import mask
from dialframe.reports import audit_page, lead_list_page
from dialframe.reports.html_page import Figure, Page, Section, Sheet, words

FUNNEL_HEADINGS: Final = {
    "stage": "Stage",
    "count": "Leads",
    "denominator": "Of (stage before)",
    "of_previous": "Share of stage before",
    "low": "95% from",
    "high": "to",
    "of_loaded": "Share of loaded",
    "unknown": "Not known",
}
_SHARES: Final = ("of_previous", "low", "high", "of_loaded", "share", "rate")
_STAGES: Final = {stage.name: stage.label for stage in STAGES}
_MIX_HEADINGS: Final = {
    "denominator": "Of all attempts", "low": "95% from", "high": "to", "outcome": "Outcome class",
    "conflict": "Contradicted by the network", "unmapped": "Without a meaning",
}  # fmt: skip
_REASON_HEADINGS: Final = {
    "records": "Records", "outcome": "Outcome", "meaning": "Why", "remedy": "What to do", "first_lines": "Where",
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
    return Section(
        title="A lead file, cleaned and screened",
        finding=f"{name}: {lead_list_page.sentence(counts)}. Every record has one outcome.",
        sheets=(
            _reasons(reasons),
            Sheet(
                "Which column was used for which field",
                mapping,
                _headings(mapping.columns),
                folded=True,
            ),
        ),
    )


def _reasons(reasons: pd.DataFrame) -> Sheet:
    """Why records were set aside, in words; codes are for programs."""
    shown = reasons.assign(
        outcome=reasons["outcome"].map(lambda name: lead_list_page.OUTCOMES.get(name, name))
    )
    names = [name for name in _REASON_HEADINGS if name in shown.columns]
    return Sheet("Why records were set aside", shown[names], _REASON_HEADINGS, rows=8)


def imports(counts: Mapping[str, int], reasons: Mapping[str, int], campaign: str) -> Section:
    """What the service said to every lead that was sent."""
    frame = pd.DataFrame(
        {
            "answer": [_words_of(name) for name in reasons],
            "leads": pd.array(list(reasons.values()), dtype="Int64"),
        }
    )
    return Section(
        title="The import",
        finding=(
            f"{counts['sent']:,} leads sent to {campaign}: {counts['accepted']:,} accepted, "
            f"{counts['refused']:,} refused, {counts['unknown']:,} unknown. Each lead was sent once, and its "
            "answer is next to its line of the file."
        ),
        sheets=(Sheet("The service's answers", frame, {"answer": "Answer", "leads": "Leads"}),),
    )


def _words_of(answer: str) -> str:
    """`duplicate: duplicate_in_campaign` as `duplicate in campaign`."""
    return answer.rpartition(": ")[2].replace("_", " ")


def campaigns(
    result: Funnel, by: Funnel | None, mix: pd.DataFrame, *, pictures: bool = False
) -> Section:
    """A funnel, the same funnel by group, and the outcomes behind it; pictures need the drawing library."""
    table = _label_stages(result.table)[list(FUNNEL_HEADINGS)]
    figures = []
    meaning = pd.DataFrame(
        [(_STAGES.get(stage, stage), words) for stage, words in result.definitions.items()],
        columns=["Stage", "What is counted"],
    )
    sheets = [
        Sheet("Leads by stage", table, FUNNEL_HEADINGS, _SHARES, folded=True),
        Sheet("What each stage counts", meaning, folded=True),
    ]
    if by is not None:
        figures += [_figure(by.plot())] if pictures else []
        names = [str(by.by), *FUNNEL_HEADINGS]
        sheets.append(
            Sheet(
                f"Leads by stage and {words(str(by.by)).lower()}",
                _label_stages(by.table)[names],
                {**FUNNEL_HEADINGS, str(by.by): words(str(by.by))},
                _SHARES,
                rows=len(by.table),
                folded=True,
            )
        )
    if pictures:
        from dialframe import plots

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
    return Section(
        title="Campaign funnel",
        finding=result.sentence,
        bars=result.headlines,
        figures=tuple(figures),
        sheets=tuple(sheets),
        counted=tuple(result.explain().splitlines()[-6:]),
    )


def audit(result: Audit) -> tuple[Section, ...]:
    """An audit as parts of a page: the sections of its own report."""
    return audit_page.sections(result)


def _figure(picture: Any) -> Figure:
    return Figure(picture.png(), picture.alt)


def _label_stages(table: pd.DataFrame) -> pd.DataFrame:
    """A funnel's table with the stages by their labels."""
    return table.assign(stage=table["stage"].map(lambda stage: _STAGES.get(stage, stage)))


#: Findings that stand at the top of the page.
HEADLINES: Final = (
    "best_time",
    "attempts",
    "caller_ids",
    "scorecard",
    "completeness",
    "reconcile",
)
#: Stages on top of the page.
_SHOWN_STAGES: Final = ("leads_attempted", "leads_human", "leads_appointment")
#: Rows of a table of the page; `dialframe export` and the library have them all.
SHOWN: Final = 30

_PERCENT: Final = (
    "rate", "share", "asr", "ner", "shrunk", "adjusted", "cumulative", "expected", "rate_all",
    "rate_before", "rate_after", "rate_matched", "rate_other", "reach_rate", "invalid_rate",
    "short_share", "blocked_share", "hidden_share", "hidden_low", "asr_low", "asr_high",
    "short_low", "short_high", "fits_talk", "fits_whole", "reached", "contact", "dnc", "invalid",
    "of_previous", "of_loaded",
)  # fmt: skip
#: Where one of these is, `low` and `high` are shares too.
_RATES: Final = frozenset({"rate", "reach_rate", "rate_matched", "reached", "of_loaded"})
#: A line of the file that gives codes a meaning.
_CODE: Final = re.compile(r'"(?P<code>[^"]*)" = "\?"\s*# (?P<what>.*)')
_HEADINGS: Final = {
    "low": "95% from", "high": "to", "numerator": "Hits", "denominator": "Of", "phone": "Number (masked)",
    "count": "Leads", "of_previous": "Share of stage before", "of_loaded": "Share of loaded", "unknown": "Not known",
    "asr": "Answered (ASR)", "ner": "Network reached (NER)", "aloc_s": "Mean talk (s)", "p": "p",
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """One analysis with its picture, None where nothing draws, under a title of the page."""

    title: str
    result: Result
    picture: Any = None


def page(
    whole: Funnel,
    split: Funnel,
    mix: pd.DataFrame,
    measured: Result,
    findings: Sequence[Finding],
    *,
    facts: Mapping[str, str],
) -> Page:
    """The page of an account's analyses; numbers of people are masked.

    Args:
        whole: The funnel of all leads.
        split: The same by group.
        mix: Attempts by disposition and outcome class.
        measured: The metrics.
        findings: The analyses in the order of the page.
        facts: Small print.
    """
    first = campaigns(whole, split, mix, pictures=any(each.picture for each in findings))
    answers = (
        f"{finding.title}: {_sentence(finding.result.answer)}"
        for finding in findings
        if finding.result.name in HEADLINES
    )
    sections = [first]
    # Each once, however many analyses warn of it.
    warnings = dict.fromkeys(
        warning_text(w) for finding in findings for w in finding.result.warnings
    )
    if warnings:
        sections.append(
            Section(
                title="Before these numbers are used",
                finding="Read this first: what limits these numbers, and what to do about it.",
                notes=tuple(warnings),
            )
        )
    return Page(
        title="What the calls say",
        header={name: facts[name] for name in ("Campaign", "Period", "As of") if name in facts},
        headlines=tuple(each for each in whole.headlines if each.key in _SHOWN_STAGES),
        summary=(first.finding, *answers),
        sections=(*sections, *map(section, findings), _measures(measured)),
        facts=facts,
    )


def section(finding: Finding) -> Section:
    """One analysis as a part of a page: finding, picture, numbers, how they are counted."""
    result, name = finding.result, finding.result.name
    # Lists of single calls or leads (`each`) are for `dialframe export`: a page is for rates.
    further = [
        (f"{key.replace('_', ' ').capitalize()} ({name.replace('_', ' ')})", frame)
        for key, frame in result.tables.items()
        if key != "each" and len(frame)
    ]
    # What was counted is the result itself; what was not stands below how it was counted.
    excluded = result.excluded
    excluded = excluded[(excluded["count"] > 0) & (excluded["role"] != "counted")]
    left_out = (
        f"{str(row['role']).capitalize()}: {int(row['count']):,} {row['unit']}, {row['meaning']}"
        for row in excluded.to_dict("records")
    )
    return Section(
        title=finding.title,
        finding=_sentence(result.answer),
        figures=() if finding.picture is None else (_figure(finding.picture),),
        sheets=tuple(
            sheet(caption, frame) for caption, frame in [("The numbers", result.table), *further]
        ),
        counted=(_sentence(result.definition), *left_out),
    )


def sheet(caption: str, frame: pd.DataFrame) -> Sheet:
    """A table of an analysis with readable headings, shares as per cent, and masked numbers."""
    shown = frame.drop(columns="definition", errors="ignore")
    if "phone" in shown.columns:
        masked = [None if pd.isna(p) else mask(str(p)) for p in shown["phone"]]
        shown = shown.assign(phone=pd.array(masked, dtype="str"))
    if "stage" in shown.columns:
        shown = _label_stages(shown)
    # Bounds have the unit of what they are of: beside a ratio they are no percentages.
    bounds = ("low", "high") if _RATES & set(shown.columns) else ()
    headings = _headings(shown.columns)
    return Sheet(caption, shown, headings, (*_PERCENT, *bounds), rows=SHOWN, folded=True)


def _headings(names: Iterable[str]) -> dict[str, str]:
    return {n: _HEADINGS.get(n, words(n)) for n in map(str, names)}


def _measures(measured: Result) -> Section:
    """Every metric with numerator, denominator, interval and definition."""
    rows = measured.table
    names = ["metric", "unit", "value", "numerator", "denominator", "low", "high", "why_null", "definition"]  # fmt: skip
    shown = rows[[name for name in names if name in rows.columns]].rename(
        columns={"definition": "counted"}
    )
    # Asked for often, and not to be had: the page says why, so that nobody looks further.
    missing = pd.DataFrame(
        {"metric": list(NOT_AVAILABLE), "reason": list(NOT_AVAILABLE.values())}, dtype="str"
    )
    return Section(
        title="Every metric with its definition",
        finding=f"{len(rows)} metrics of the same calls. A rate without a denominator is empty rather than 0.",
        sheets=(
            Sheet("Metrics", shown, _headings(shown.columns), rows=len(shown)),
            Sheet("What this API cannot give", missing, _headings(missing.columns), folded=True),
        ),
    )


def warning_text(warning: str) -> str:
    """A warning without the file that it offers to those who write Python: its codes are named."""
    # Who reads a page writes no Python.
    first, *stub = warning.splitlines()
    codes = [match for line in stub if (match := _CODE.match(line))]
    if not codes:
        return first
    named = ", ".join(f"{code['code']} ({code['what']})" for code in codes)
    return (
        f"{_sentence(first.split(';')[0])} They are: {named}. Say what they mean in a file of "
        "codes."
    )


def _sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."
