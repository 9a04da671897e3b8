"""The page of a jurisdiction: each of its rules with the sentence that it rests on, its days, how sure it is and its examples."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from sitepages.generated import write_pages
from sitepages.grid import Code, grid, text

if TYPE_CHECKING:
    from dialframe.compliance.rules import Rule
    from dialframe.compliance.rules.rule_model import Exemption


def setup(app: Sphinx) -> dict[str, Any]:
    """Join the directives to a build."""
    app.connect("config-inited", lambda app, _: write_pages(Path(app.srcdir) / "law", pages()))
    app.add_directive("law", Law)
    app.add_directive("calendar", Calendar)
    return {"parallel_read_safe": True}


_STATES = {
    "AK": "Alaska", "AL": "Alabama", "AR": "Arkansas", "AZ": "Arizona", "CA": "California",
    "CO": "Colorado", "CT": "Connecticut", "DC": "District of Columbia", "DE": "Delaware",
    "FL": "Florida", "GA": "Georgia", "HI": "Hawaii", "IA": "Iowa", "ID": "Idaho",
    "IL": "Illinois", "IN": "Indiana", "KS": "Kansas", "KY": "Kentucky", "LA": "Louisiana",
    "MA": "Massachusetts", "MD": "Maryland", "ME": "Maine", "MI": "Michigan", "MN": "Minnesota",
    "MO": "Missouri", "MS": "Mississippi", "MT": "Montana", "NC": "North Carolina",
    "ND": "North Dakota", "NE": "Nebraska", "NH": "New Hampshire", "NJ": "New Jersey",
    "NM": "New Mexico", "NV": "Nevada", "NY": "New York", "OK": "Oklahoma", "OR": "Oregon",
    "PA": "Pennsylvania", "PR": "Puerto Rico", "RI": "Rhode Island", "SC": "South Carolina",
    "SD": "South Dakota", "TN": "Tennessee", "TX": "Texas", "UT": "Utah", "VA": "Virginia",
    "VT": "Vermont", "WA": "Washington", "WI": "Wisconsin", "WV": "West Virginia",
    "WY": "Wyoming",
}  # fmt: skip

_INDEX = """# The law, place by place

Each rule has the sentence that it rests on, where and when that was read, since when it applies, how sure the reading is, and
example calls. These are facts with citations, not legal advice. A rule whose source was not read passes no call and makes no
call a violation; where sources disagree, both are named.

`dialframe rules show us-ct` lists the rules of a place and what changed; `dialframe rules list --to rules.csv` writes all of them
as a table.

```{toctree}
:titlesonly:
:maxdepth: 1

"""


def pages() -> dict[str, str]:
    """A page for each jurisdiction of the book, and their index."""
    from dialframe.compliance.rules import rulebook
    from dialframe.compliance.rules.calendars import statutory_calendars

    codes = sorted(rulebook.load().jurisdictions, key=lambda code: (code[:2] != "US", code))
    made = {"index": _INDEX + "\n".join(map(str.lower, codes)) + "\n```\n"}
    for code in codes:
        parts = [f"# {_name(code)}", f"```{{law}} {code}\n```"]
        if code in statutory_calendars():
            parts += ["## Holidays in 2026 and 2027", f"```{{calendar}} {code}\n```"]
        made[code.lower()] = "\n\n".join(parts) + "\n"
    return made


def _name(code: str) -> str:
    """A jurisdiction in words."""
    from babel import Locale

    country, _, state = code.partition("-")
    return _STATES[state] if state else str(Locale("en").territories[country])


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
        from dialframe.compliance.rules.closed_days import statutory_days

        calendar = statutory_calendars()[self.arguments[0]]
        rows = [
            (day.isoformat(), name, f"uncertain: {why}" if why else "")
            for year in (2026, 2027)
            for day, (name, why) in statutory_days(calendar, year).items()
        ]
        opening = nodes.paragraph(
            "", "", *text(f"{calendar['citation']}. {calendar.get('note', '')}")
        )
        return [opening, grid(("day", "holiday", ""), rows, widths=(14, 36, 50))]


def _section(rule: Rule) -> nodes.section:
    section = nodes.section(ids=[f"law-{rule.id}"], names=[rule.id])
    ended = f" (until {rule.effective_to})" if rule.status == "superseded" else ""
    section += nodes.title("", rule.title + ended)
    section += _facts(rule)
    if rule.quotation:
        quotation = nodes.paragraph("", "", *[nodes.Text(f"“{rule.quotation}”")])
        section += nodes.block_quote("", quotation)
        read = f"Read on {rule.read_on} at: {rule.text_from}"
        section += nodes.paragraph("", "", *text(read))
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
        ("says", _in_words(parameters)),
        ("lifted by", lifted or "nothing"),
        *([("a violation may cost", rule.exposure)] if rule.exposure else []),
        ("confidence", f"{rule.confidence}: {rule.confidence_reason}"),
        ("source", rule.source),
        *([("also", "; ".join(rule.also))] if rule.also else []),
    ]
    return grid(("", ""), rows, widths=(16, 84))


def _in_words(value: object) -> str:
    """The parameters of a rule as a person reads them."""
    if isinstance(value, dict):
        named = ((str(key).replace("_", " "), _in_words(part)) for key, part in value.items())
        return "; ".join(f"{name}: {part}" for name, part in named if part)
    if isinstance(value, list):
        return ", ".join(map(_in_words, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value).replace("_", " ")


def _lifting(exemption: Exemption) -> str:
    """The record that lifts a rule, its condition, and for how long it does."""
    within = f"within {exemption.within_days} days" if exemption.within_days else ""
    detail = "; ".join(filter(None, (exemption.detail, within)))
    return f"{exemption.code} ({detail})" if detail else exemption.code
