"""The page of a jurisdiction: each of its rules with the sentence that it rests on, its days, how sure it is and its examples."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from sitepages.grid import Code, grid, text

if TYPE_CHECKING:
    from dialframe.compliance.rules import Rule
    from dialframe.compliance.rules.rule_model import Exemption


def setup(app: Sphinx) -> dict[str, Any]:
    """Join the directives to a build."""
    app.add_directive("law", Law)
    app.add_directive("calendar", Calendar)
    return {"parallel_read_safe": True}


class Law(SphinxDirective):
    """Every rule of a jurisdiction, in the order of the book."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """A section for each rule."""
        from dialframe.compliance.rules import rulebook

        code = self.arguments[0]
        chosen = [rule for rule in rulebook.load().rules if rule.jurisdiction == code]
        return [_section(rule) for rule in chosen]


class Calendar(SphinxDirective):
    """The days of a statutory calendar in some years."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The statute, and one row per day."""
        from dialframe.compliance.rules.calendars import statutory_calendars

        calendar = statutory_calendars()[self.arguments[0]]
        rows = [
            (day.isoformat(), name, f"uncertain: {why}" if why else "")
            for year in (2026, 2027)
            for day, (name, why) in calendar.in_year(year).items()
        ]
        opening = nodes.paragraph("", "", *text(f"{calendar.citation}. {calendar.note}"))
        return [opening, grid(("day", "holiday", ""), rows, widths=(14, 36, 50))]


def _section(rule: Rule) -> nodes.section:
    section = nodes.section(ids=[f"law-{rule.id}"], names=[rule.id])
    ended = f" (until {rule.effective_to})" if rule.status == "superseded" else ""
    section += nodes.title("", rule.title + ended)
    section += _facts(rule)
    if rule.quotation:
        quotation = nodes.paragraph("", "", *[nodes.Text(f"“{rule.quotation}”")])
        section += nodes.block_quote("", quotation)
        read = f"Read on {rule.read_on} at: {rule.quoted_from}"
        section += nodes.paragraph("", "", nodes.Text(read))
    if rule.ceiling_reason:
        kept = "No call passes by this rule and none" if rule.confidence == "low" else "No call"
        warning = f"{kept} breaks it for certain: {rule.ceiling_reason}."
        section += nodes.warning("", nodes.paragraph("", "", nodes.Text(warning)))
    if rule.notes:
        section += nodes.paragraph("", "", *text(rule.notes))
    rows = [
        (f"{example.at:%a %Y-%m-%d %H:%M}", example.grade, example.why)
        for example in rule.examples
    ]
    section += grid(("a call at (clock there)", "grade", "because"), rows, widths=(30, 20, 50))
    return section


def _facts(rule: Rule) -> nodes.table:
    """What the rule says, where it is written, since when, and what lifts it."""
    days = str(rule.effective_from or f"always ({rule.since_reason})")
    if rule.effective_to is not None:
        days += f" to {rule.effective_to}"
    parameters = rule.parameters.model_dump(mode="json", exclude_defaults=True)
    lifted = "; ".join(_lifting(exemption) for exemption in rule.exemptions)
    rows = [
        ("rule", Code(rule.id)),
        ("citation", rule.citation),
        ("force", rule.force_words),
        ("in force", days),
        ("replaces", Code(rule.replaces) if rule.replaces else "no rule of this book"),
        (
            "for",
            f"{rule.applies_text}; lines: {', '.join(rule.line_types)}; dialing: {rule.dialing}",
        ),
        ("says", Code(json.dumps(parameters, ensure_ascii=False))),
        ("lifted by", lifted or "nothing"),
        *([("a violation may cost", rule.exposure)] if rule.exposure else []),
        ("confidence", f"{rule.confidence}: {rule.confidence_reason}"),
        ("sources", "; ".join(rule.sources)),
    ]
    return grid(("", ""), rows, widths=(16, 84))


def _lifting(exemption: Exemption) -> str:
    """The record that lifts a rule, its condition, and for how long it does."""
    within = f"within {exemption.within_days} days" if exemption.within_days else ""
    detail = "; ".join(filter(None, (exemption.detail, within)))
    return f"{exemption.code} ({detail})" if detail else exemption.code
