"""The tables of questions and of metrics as Markdown, for documentation; knows their rows alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dialframe.analytics.metrics import METRICS, NOT_AVAILABLE
from dialframe.analytics.questions import CAPABILITIES


def questions_markdown() -> str:
    """What people ask of dialling data, each with the functions that answer it, or why none can."""
    rows = (
        (row.name, ", ".join(f"`{name}`" for name in row.answered_by) or "none", row.why_not)
        for row in CAPABILITIES
    )
    return _markdown(("question", "answered by", "why not, or what it cannot know"), rows)


def metrics_markdown() -> str:
    """Every metric with numerator, denominator and exclusions, then what this API cannot give."""
    measured = (
        (f"`{row.name}`", row.unit, row.numerator, row.denominator, row.exclusions)
        for row in METRICS
    )
    given = _markdown(("metric", "unit", "numerator", "denominator", "left out"), measured)
    reasons = ((f"`{name}`", why) for name, why in NOT_AVAILABLE.items())
    return f"{given}\n\n{_markdown(('not from this API', 'why'), reasons)}"


def _markdown(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [headings, *rows]
    body = ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]
    return "\n".join([body[0], "|" + "---|" * len(headings), *body[1:]])
