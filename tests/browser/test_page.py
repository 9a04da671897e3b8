"""What a person does on the web page, in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from browser import steps
from browser.checks import UNNAMED, cut, faint, overflow
from browser.conftest import AUTUMN, Served, Watched

pytestmark = pytest.mark.browser


DARK_PHONE = {"scheme": "dark", "size": (390, 844)}


def _reads_well(page: Page) -> None:
    """No control without a name, no faint text, nothing cut, no sideways scrolling."""
    assert page.evaluate(UNNAMED) == []
    assert faint(page) == []
    assert overflow(page) == 0
    assert cut(page) == []


def test_an_ugly_list_is_uploaded_mended_read_and_downloaded(
    watched: Watched, served: Served, samples: Path, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """The files that come back have the bytes that the command line writes."""
    path = samples / "leads" / AUTUMN
    counts = steps.command_line(path, tmp_path, capsys, "--column", "phone=Mobile")
    page = steps.opened(watched.page, served.address)
    steps.clean_an_ugly_list(page, path, ("Phone", "Mobile"), counts, tmp_path)
    _reads_well(page)


@pytest.mark.parametrize("watched", [DARK_PHONE], indirect=True, ids=["dark phone"])
def test_a_funnel_is_explored_and_a_gap_of_coverage_closed(
    watched: Watched, served: Served
) -> None:
    """On a dark phone: a picture with its words and its numbers, then verdict, gap, check and evidence."""
    page = steps.opened(watched.page, served.address + "&tab=funnel")
    steps.explore_a_funnel(page)
    _reads_well(page)
    page.get_by_role("tab", name="Coverage").first.click()
    steps.close_a_gap(page)
    _reads_well(page)


def test_the_address_says_what_is_shown(watched: Watched, served: Served) -> None:
    """A shared address shows the same; back and forward go through what was shown."""
    page = steps.opened(watched.page, served.address + "&tab=funnel&by=lead_source&window=30")
    face = steps.explorer(page)
    expect(face.get_by_label("Split by")).to_have_value("lead source")
    expect(face.get_by_label("Window, days")).to_have_value("30")
    face.get_by_label("Window, days").fill("7")
    steps.press(face, "Show")
    expect(page).to_have_url(f"{served.address}&tab=funnel&by=lead_source&window=7")
    page.go_back()
    expect(face.get_by_label("Window, days")).to_have_value("30")
    page.go_forward()
    expect(face.get_by_label("Window, days")).to_have_value("7")
    page.get_by_role("tab", name="Leads").click()
    expect(page).to_have_url(f"{served.address}&tab=leads")
    page.go_back()
    expect(face.get_by_label("Window, days")).to_be_visible()
