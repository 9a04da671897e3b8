"""Campaigns stand under their names wherever people read, and under their ids where machines do."""

from __future__ import annotations

import pandas as pd

from analytics.made import call, calls, lead, leads
from dialframe import analytics, frames, plots
from dialframe.analytics.claims_and_tables import campaign_names
from dialframe.reports import result_sections
from dialframe.reports.html_page import Page, render

ONE, TWO = "cmp_one1", "cmp_two2"
CAMPAIGNS = frames.from_records(
    frames.CAMPAIGNS,
    [
        {"id": ONE, "name": "Spring"},
        {"id": TWO, "name": "Autumn <b>"},
        {"id": "cmp_x", "name": None},
    ],
)
PEOPLE = leads(*(lead(i, campaign_id=(ONE, TWO)[i % 2]) for i in range(20)))
CALLS = calls(
    *(call(i, answered=i % 4 == 0, disposition="NI" if i % 4 == 0 else "ZZTOP",
           campaign_id=(ONE, TWO)[i % 2]) for i in range(20))
)  # fmt: skip


def test_names_tell_campaigns_apart() -> None:
    """Two campaigns of one name keep the end of their id; one without a name keeps its id."""
    twice = pd.concat([CAMPAIGNS, CAMPAIGNS.iloc[[0]].assign(id="cmp_three")], ignore_index=True)
    assert campaign_names(twice) == {
        ONE: "Spring (one1)",
        TWO: "Autumn <b>",
        "cmp_three": "Spring (hree)",
    }


def test_a_result_has_names_in_words_and_tables() -> None:
    """Answer, table and picture have names; numbers and the result that was given stay as they are."""
    result = analytics.carriers(CALLS, PEOPLE, by="campaign_id")
    shown = result.named(CAMPAIGNS)

    assert set(shown.table["campaign_id"]) == {"Spring", "Autumn <b>"}
    assert set(result.table["campaign_id"]) == {ONE, TWO}
    assert ONE not in shown.answer
    assert list(shown.table["attempts"]) == list(result.table["attempts"])
    assert "Spring" in plots.carriers(shown).alt


def test_a_funnel_has_names() -> None:
    """Groups and the one campaign of a funnel are named; without names it is the same value."""
    funnel = analytics.funnel(CALLS, PEOPLE, by="campaign_id")
    names = campaign_names(CAMPAIGNS)

    assert set(funnel.renamed(names).groups) == {"Spring", "Autumn <b>"}
    one = analytics.funnel(CALLS, PEOPLE, campaign=ONE)
    assert one.renamed(names).campaign == "Spring"
    assert funnel.renamed({}) is funnel


def test_the_page_is_for_people_who_write_no_code() -> None:
    """Stages and headings in words, codes named without a file to write, long tables folded, names escaped."""
    names = campaign_names(CAMPAIGNS)
    split = analytics.funnel(CALLS, PEOPLE, by="campaign_id").renamed(names)
    carriers = analytics.carriers(CALLS)
    told = [result_sections.Finding("Carriers", carriers, plots.carriers(carriers))]
    whole = analytics.funnel(CALLS, PEOPLE)
    measured = analytics.metrics(CALLS, PEOPLE)
    page = result_sections.page(
        whole, split, analytics.dispositions(CALLS).table, measured, told, facts={}
    )
    html = render(page)

    assert "Reached a person" in html
    assert ">right_party<" not in html
    assert "ZZTOP (disposition, 15 calls)" in html
    assert "with_file" not in html
    assert "<summary>The numbers (" in html
    assert "How this is counted" in html
    assert "Autumn &lt;b&gt;" in html
    assert page.summary[1:] == ()


def test_a_short_page_has_nothing_folded() -> None:
    """Sheets of other pages stand open, as they did."""
    section = result_sections.imports(
        {"sent": 1, "accepted": 1, "refused": 0, "unknown": 0}, {"ok": 1}, "c"
    )
    assert "<details>" not in render(Page("t", ("s",), (section,)))
