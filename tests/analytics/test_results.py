"""A result explains itself: on a terminal, on a page and in words."""

from __future__ import annotations

import dataclasses
from html.parser import HTMLParser

import pandas as pd
import pytest

from analytics.made import CAMPAIGN, call, calls, lead, leads
from dialframe.analytics import DEFAULT, STAGES, Funnel, Summary, funnel, summary

PEOPLE = leads(*(lead(i, custom_fields={"src": "<b>web</b>"}) for i in range(3)))
CALLS = calls(
    call(0, answered=True, disposition="NI"),
    call(1, answered=True, disposition="ZZTOP"),
    call(2, direction="inbound"),
)


@pytest.fixture
def result() -> Funnel:
    """A small funnel."""
    return funnel(CALLS, PEOPLE, campaign=CAMPAIGN)


@pytest.fixture
def rates() -> Summary:
    """Rates of the same calls."""
    return summary(CALLS)


def test_str_is_a_table_with_its_notes(result: Funnel) -> None:
    """The text shows each stage with its share and interval, and what was not counted."""
    text = str(result)
    assert "Lead funnel of campaign cmp_spring as of 2026-03-02 15:00 UTC" in text
    for line in (
        "Attempted             2       66.7 %   20.8 to 93.9 %     66.7 %",
        "Reached a person      1       50.0 %    9.5 to 90.5 %     33.3 %",
        "Set aside: 1 call, inbound (made by the customer)",
        "Loaded: equals accepted: no import ledger",
        f"Taxonomy {DEFAULT.version}",
    ):
        assert line in text


def test_explain_defines_every_stage(result: Funnel) -> None:
    """The words give every definition, numerator and denominator."""
    words = result.explain()
    for stage in STAGES:
        assert f"{stage.label}: {result.definitions[stage.name]}." in words
    assert "2 of 3, 66.7 % (20.8 to 93.9 %)" in words
    assert "Note: 1 call, unmapped" in words


def test_explain_by_group() -> None:
    """Split, the words give each group's numbers."""
    words = funnel(CALLS, PEOPLE, by="src").explain()
    assert "  <b>web</b>: 2 of 3, 66.7 %" in words


def test_repr_is_one_line(result: Funnel, rates: Summary) -> None:
    """The repr names the counts and nothing of any person."""
    assert repr(result).startswith("<Funnel Lead funnel of campaign cmp_spring as of")
    assert "attempted 2, connected 2, human 1" in repr(result)
    assert repr(rates).startswith("<Summary Calls as of")
    assert "\n" not in repr(result) + repr(rates)
    assert "+1" not in repr(result) + repr(rates)


class _Tags(HTMLParser):
    """Checks that tags nest, and keeps their text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.seen.add(tag)
        if tag == "th":
            assert dict(attrs)["scope"] in {"row", "col"}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_html_is_a_table_that_can_be_read_aloud(rates: Summary) -> None:
    """The page has a caption and headings with scope, and what it shows is escaped."""
    for shown in (funnel(CALLS, PEOPLE, by="src"), rates):
        parser = _Tags()
        parser.feed(shown._repr_html_())
        assert parser.open == []
        assert {"caption", "thead", "tbody", "th"} <= parser.seen
        assert "b" not in parser.seen
    parser = _Tags()
    parser.feed(funnel(CALLS, PEOPLE, by="src")._repr_html_())
    assert "<b>web</b>" in parser.text


def test_summary_says_what_is_not_known(rates: Summary) -> None:
    """The words give the definition, the counts and how many calls nobody knows about."""
    assert "human_contact_rate: calls that a person answered of attempts. 1 of 2, 50.0 %" in (
        rates.explain()
    )
    assert "unknown: 1" in rates.explain()
    assert "human contact rate" in str(rates)
    assert rates.definitions["connection_rate"].endswith("ASR of ITU-T E.411")


def test_results_are_values(result: Funnel) -> None:
    """A result cannot be changed."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.table = pd.DataFrame()  # type: ignore[misc]
