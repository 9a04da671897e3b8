"""The lead report as a page: whole, self-contained, and nothing of the list runs or shows in it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dialframe import leads
from dialframe.reports import lead_list_page


@pytest.fixture
def page(tmp_path: Path) -> str:
    """The report of a list that tries to be code."""
    file = tmp_path / "<script>alert(1)<.csv"
    file.write_text(
        "Phone,Name,<img src=x>,{{ 7 * 7 }}\n(212) 555-0142,Ada,a,b\n12125550,<b>Bob</b>,a,b\n"
    )
    return lead_list_page.render(leads.report(leads.clean(leads.read(file), region="US")))


def test_page_needs_nothing_from_anywhere(page: str) -> None:
    """No script, no link, no picture from elsewhere."""
    assert not re.findall(r"<script|<link|<img|<iframe|@import|url\(|<[^>]*(?:src|href)=", page)
    assert "https://" not in page


def test_text_of_the_list_is_text(page: str) -> None:
    """File and column names are shown, not run."""
    assert "&lt;script&gt;alert(1)&lt;.csv" in page
    assert "&lt;img src=x&gt;" in page
    assert "{{ 7 * 7 }}" in page


def test_numbers_are_masked_and_lines_are_named(page: str) -> None:
    """An example says where to look, and does not show whom."""
    assert "line 3" in page
    assert "12125550<" not in page


def test_page_says_what_was_decided_and_the_hashes(page: str) -> None:
    """Outcome, reason with its remedy, decision, columns, digests."""
    for words in ("1 clean", "phone_too_short", "correct the number", "utf-8", "comma", "line 1"):
        assert words in re.sub(r"<[^>]+>", "", page), words
    assert re.search(r"[0-9a-f]{64}", page)


def test_same_report_gives_the_same_page(tmp_path: Path) -> None:
    """Nothing in it depends on when it was made."""
    file = tmp_path / "list.csv"
    file.write_text("phone\n+12125550142\n")
    first, second = (
        lead_list_page.render(leads.report(leads.clean(leads.read(file), region="US")))
        for _ in range(2)
    )

    assert first == second
