"""Analyses as a page for a meeting: funnel first, then each finding with its picture, numbers and definition."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pandas as pd

from dialframe.analytics import Funnel, Result, metrics
from dialframe.plots import Picture
from dialframe.privacy import mask
from dialframe.reports import sections
from dialframe.reports.page import Figure, Page, Section, Sheet

#: Findings that stand at the top of the page.
HEADLINES: Final = (
    "best_time",
    "attempts",
    "caller_ids",
    "scorecard",
    "completeness",
    "reconcile",
)
#: Rows of a table of the page; `dialframe export` and the library have them all.
SHOWN: Final = 30

_PERCENT: Final = (
    "rate", "share", "asr", "ner", "shrunk", "adjusted", "cumulative", "expected", "rate_all",
    "rate_before", "rate_after", "rate_matched", "rate_other", "reach_rate", "invalid_rate",
    "short_share", "blocked_share", "hidden_share", "hidden_low", "asr_low", "asr_high",
    "short_low", "short_high", "fits_talk", "fits_whole", "reached", "contact", "dnc", "invalid",
)  # fmt: skip
#: Where one of these is, `low` and `high` are shares too.
_RATES: Final = frozenset({"rate", "reach_rate", "rate_matched", "reached"})
#: A line of the file that gives codes a meaning.
_CODE: Final = re.compile(r'"(?P<code>[^"]*)" = "\?"\s*# (?P<what>.*)')
_HEADINGS: Final = {
    "low": "95 % from", "high": "to", "numerator": "Hits", "denominator": "Of", "phone": "Number (masked)",
    "asr": "Answered (ASR)", "ner": "Network reached (NER)", "aloc_s": "Mean talk (s)", "p": "p",
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """One analysis with its picture, under a title of the page."""

    title: str
    result: Result
    picture: Picture


def page(
    whole: Funnel,
    split: Funnel,
    mix: pd.DataFrame,
    measured: metrics.Metrics,
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
    first = sections.campaigns(whole, split, mix)
    headlines = (_headline(t) for t in findings if t.result.name in HEADLINES)
    return Page(
        title="What the calls say",
        summary=(first.finding, *headlines),
        sections=(first, *_first_known(findings), *map(section, findings), _measures(measured)),
        facts=facts,
    )


def section(finding: Finding) -> Section:
    """One analysis as a part of a page: finding, picture, numbers, how they are counted."""
    result, name = finding.result, finding.result.name
    further = [
        (f"{key.replace('_', ' ').capitalize()} ({name.replace('_', ' ')})", frame)
        for key, frame in result.tables.items()
        if key != "each" and len(frame)
    ]
    return Section(
        title=finding.title,
        finding=_sentence(result.answer),
        figures=(Figure(finding.picture.png(), finding.picture.alt),),
        sheets=tuple(
            sheet(caption, frame) for caption, frame in [("The numbers", result.table), *further]
        ),
        counted=(_sentence(result.definition), *_left_out(result)),
    )


def sheet(caption: str, frame: pd.DataFrame) -> Sheet:
    """A table of an analysis with readable headings, shares as per cent, and masked numbers."""
    shown = frame.drop(columns="definition", errors="ignore")
    if "phone" in shown.columns:
        masked = [None if pd.isna(p) else mask(str(p)) for p in shown["phone"]]
        shown = shown.assign(phone=pd.array(masked, dtype="str"))
    bounds = ("low", "high") if _RATES & set(shown.columns) else ()
    headings = _headings(shown.columns)
    return Sheet(caption, shown, headings, (*_PERCENT, *bounds), rows=SHOWN, folded=True)


def _headings(names: Iterable[str]) -> dict[str, str]:
    return {n: _HEADINGS.get(n, sections.words(n)) for n in map(str, names)}


def _first_known(findings: Sequence[Finding]) -> tuple[Section, ...]:
    """What must be known before the numbers are used, each once; no part where there is nothing."""
    warnings = tuple(dict.fromkeys(_plain(w) for each in findings for w in each.result.warnings))
    if not warnings:
        return ()
    return (
        Section(
            title="Before these numbers are used",
            finding="What must be known first, with what to do about it.",
            notes=warnings,
        ),
    )


def _measures(measured: metrics.Metrics) -> Section:
    """Every metric with numerator, denominator, interval and definition."""
    rows = measured.table
    names = ["metric", "unit", "value", "numerator", "denominator", "low", "high", "why_null", "definition"]  # fmt: skip
    shown = rows[[name for name in names if name in rows.columns]].rename(
        columns={"definition": "counted"}
    )
    missing = metrics.not_available()
    lacking = [f"{name}: {why}" for name, why in measured.not_computed.items()]
    return Section(
        title="Every metric with its definition",
        finding=f"{len(rows)} metrics of the same counted calls; a rate without a denominator is empty, not 0.",
        sheets=(
            Sheet("Metrics", shown, _headings(shown.columns), rows=len(shown)),
            Sheet("What this API cannot give", missing, _headings(missing.columns), folded=True),
        ),
        counted=tuple(lacking),
    )


def _left_out(result: Result) -> list[str]:
    rows = result.excluded
    counts = rows[(rows["count"] > 0) & (rows["role"] != "counted")].to_dict("records")
    return [
        f"{str(row['role']).capitalize()}: {int(row['count']):,} {row['unit']}, {row['meaning']}"
        for row in counts
    ]


def _headline(finding: Finding) -> str:
    """A finding of the top of the page, after what it is about."""
    return f"{finding.title}: {_sentence(finding.result.answer)}"


def _plain(warning: str) -> str:
    """A warning without the file that it offers to those who write Python: its codes are named."""
    first, *stub = warning.splitlines()
    codes = [found for line in stub if (found := _CODE.match(line))]
    if not codes:
        return first
    named = ", ".join(f"{code['code']} ({code['what']})" for code in codes)
    return (
        f"{_sentence(first.split(';')[0])} They are: {named}. Somebody who knows them has to say what "
        "they mean."
    )


def _sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."
