"""The site has a page for each jurisdiction of the book."""

from __future__ import annotations

from pathlib import Path

import pytest

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


@pytest.mark.parametrize(
    ("rule_id", "told"),
    [
        ("us-ct-hours-pre2023", "09:00-21:00 (until 2023-09-30)"),
        ("us-ct-hours", "us-ct-hours-pre2023"),
        ("us-nv-hours", "No call passes by this rule and none breaks it for certain"),
        ("nz-hours", "voluntary code: evaluated as advice"),
        ("us-tcpa-hours", "47 U.S.C. 227(c)(5)"),
        ("us-fl-consent", "lines: residential, wireless; dialing: autodialer_or_prerecorded"),
    ],
)
def test_a_section_says_what_a_reader_could_mistake(
    rule_id: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Law that ended, what it took the place of, doubt, advice, and the calls that it reaches."""
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(str(PAGES.parent))
    from sitepages import law

    assert told in law._section(rulebook.load().rule(rule_id)).astext()
