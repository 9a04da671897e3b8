"""The site has a page for each jurisdiction of the book."""

from __future__ import annotations

from pathlib import Path

from dialframe.compliance import rulebook
from dialframe.compliance.rules.calendars import statutory_calendars

PAGES = Path(__file__).parents[3] / ".docs" / "law"


def test_each_jurisdiction_has_a_page() -> None:
    """And no page is left of a jurisdiction that the book no longer has."""
    pages = {page.stem.upper() for page in PAGES.glob("*.md")} - {"INDEX"}
    assert pages == set(rulebook.load().jurisdictions)
    for page in PAGES.glob("*.md"):
        assert page.stem == "index" or f"```{{law}} {page.stem.upper()}" in page.read_text("utf-8")


def test_each_calendar_of_a_jurisdiction_is_on_its_page() -> None:
    """Those of statutes, day by day."""
    for code in set(statutory_calendars()) & set(rulebook.load().jurisdictions):
        assert f"```{{calendar}} {code}" in (PAGES / f"{code.lower()}.md").read_text("utf-8")
