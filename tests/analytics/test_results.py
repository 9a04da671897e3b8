"""A result explains itself: on a terminal, on a page and in words."""

from __future__ import annotations

import dataclasses
import inspect
import json
from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Any

import pandas as pd
import pytest

from analytics.everything import EVERYTHING, Account
from analytics.made import CAMPAIGN, call, calls, lead, leads
from dialframe import analytics, plots
from dialframe.analytics import (
    DEFAULT,
    STAGES,
    Claim,
    Funnel,
    Result,
    Summary,
    funnel,
    summary,
)
from dialframe.errors import ConfigError
from rows import every_row

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
        "Attempted             2        66.7%   20.8 to 93.9%      66.7%",
        "Reached a person      1            –   9.5 to 100.0%          –        1",
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
    assert "2 of 3, 66.7% (20.8 to 93.9%)" in words
    assert "Note: 1 call, unmapped" in words


def test_explain_by_group() -> None:
    """Split, the words give each group's numbers."""
    words = funnel(CALLS, PEOPLE, by="src").explain()
    assert "  <b>web</b>: 2 of 3, 66.7%" in words


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
        self.seen.add(tag)
        if tag == "img":
            assert dict(attrs)["alt"]
            return
        self.open.append(tag)
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
        assert not {"b", "script"} & parser.seen
    parser = _Tags()
    parser.feed(funnel(CALLS, PEOPLE, by="src")._repr_html_())
    assert "<b>web</b>" in parser.text


def test_summary_says_what_is_not_known(rates: Summary) -> None:
    """The words give the definition, the counts and how many calls nobody knows about."""
    assert (
        "human_contact_rate: calls that a person answered of attempts. 1 of 2" in rates.explain()
    )
    assert "unknown: 1" in rates.explain()
    assert "human contact rate" in str(rates)
    assert rates.definitions["connection_rate"].startswith("answered calls")


def test_names_take_the_place_of_whole_ids_and_of_nothing_in_a_name() -> None:
    """An id that begins like another one is another one, and a name that mentions an id stays as it is."""
    names = {"cmp_1": "after cmp_2", "cmp_2": "Two", "cmp_12": "Twelve"}
    claim = Claim("none", "cmp_12", text="cmp_1, cmp_12 and cmp_2").renamed(names)
    assert (claim.subject, claim.text) == ("Twelve", "after cmp_2, Twelve and Two")
    made = calls(*(call(i, campaign_id=name) for i, name in enumerate(names)))
    campaigns = pd.DataFrame({"id": list(names), "name": list(names.values())})
    table = analytics.carriers(made).named(campaigns).table
    assert set(table["campaign_id"]) == set(names.values())


def test_results_are_values(result: Funnel) -> None:
    """A result cannot be changed."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.table = pd.DataFrame()  # type: ignore[misc]


#: Every public analysis.
FACES: dict[str, Any] = {name: ask for name, ask in EVERYTHING.items() if name != "attempts_frame"}


@every_row("name", FACES)
def test_every_result_has_the_same_face(name: str) -> None:
    """Answer made of claims, tables, parameters, definition, words, plain values and a picture or why none."""
    other = calls(call(2, 1, campaign_id="cmp_b"))
    found: Any = FACES[name](Account(pd.concat([CALLS, other], ignore_index=True), PEOPLE))
    assert isinstance(found, Result)
    assert all(isinstance(claim, Claim) for claim in found.claims)
    assert found.answer == ". ".join(claim.text for claim in found.claims)
    for table in (found.table, *found.tables.values()):
        assert isinstance(table, pd.DataFrame)
    assert isinstance(found.parameters, Mapping)
    assert str(found.definition)
    assert found.explain().startswith(found.answer)
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["answer"] == found.answer
    assert "ax" in inspect.signature(found.plot).parameters
    if name not in plots.__all__:
        with pytest.raises(ConfigError, match="picture"):
            found.plot()


@every_row("name", EVERYTHING)
def test_every_analysis_takes_calls_and_leads_first_and_the_rest_by_keyword(name: str) -> None:
    """One order of frames everywhere, so that nobody has to look it up."""
    function = getattr(analytics, name)
    calls_first, leads_next, *rest = inspect.signature(function).parameters.values()
    assert (calls_first.name, leads_next.name) == ("calls", "leads")
    assert {each.kind for each in rest} == {inspect.Parameter.KEYWORD_ONLY}
