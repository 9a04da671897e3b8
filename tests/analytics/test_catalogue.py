"""The README has every question with what answers it, and every metric with its definition."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import dialframe
from dialframe.analytics import CAPABILITIES
from dialframe.analytics.catalogue import metrics_markdown, questions_markdown
from dialframe.analytics.metrics import METRICS, NOT_AVAILABLE

README = Path(__file__).parents[2] / "README.md"


@pytest.mark.parametrize(
    ("name", "table"), [("questions", questions_markdown), ("metrics", metrics_markdown)]
)
def test_readme_has_the_table(name: str, table: Callable[[], str]) -> None:
    """What stands between the markers of the README is what the rows say today."""
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    text = README.read_text(encoding="utf-8")

    assert text.count(begin) == text.count(end) == 1
    assert text.partition(begin)[2].partition(end)[0].strip() == table()


def test_each_question_and_metric_has_a_line() -> None:
    """A line for each row, all of a table with as many cells."""
    questions, metrics = questions_markdown().splitlines(), metrics_markdown().splitlines()

    assert len(questions) == 2 + len(CAPABILITIES)
    assert len(metrics) == 2 + len(METRICS) + 3 + len(NOT_AVAILABLE)
    assert len({line.replace("\\|", "").count("|") for line in questions}) == 1


@pytest.mark.parametrize("row", CAPABILITIES, ids=lambda row: row.name)
def test_each_question_is_answered_by_a_function_or_a_reason(
    row: dialframe.analytics.Capability,
) -> None:
    """Every dotted name below `dialframe` can be called; without one there is a reason."""
    for dotted in row.answered_by:
        found: object = dialframe
        for part in dotted.split("."):
            found = getattr(found, part)
        assert callable(found)
    assert row.answered_by or row.why_not
