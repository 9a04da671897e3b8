"""The web app as a person uses it: each room works, on a phone and in the dark, with the keyboard, without any issue of axe."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Browser, Page, expect

from browser.axe import violations
from dialframe.app import App

pytestmark = pytest.mark.browser

ADDRESSES = (
    "/", "/lists", "/lists/us_autumn_campaign.csv", "/compliance", "/compliance/gate?number=2125550142",
    "/performance", "/performance/hours", "/performance/sources?by=lead_source", "/nowhere",
)  # fmt: skip


@pytest.mark.parametrize(
    "page", [{}, {"width": 360, "height": 800}], indirect=True, ids=["wide", "phone"]
)
def test_no_room_has_an_issue_or_scrolls_sideways(page: Page, axe: str) -> None:
    """Axe finds nothing in light and dark, and no page is wider than its window."""
    for address in ADDRESSES[:-1]:
        page.goto(address)
        assert violations(page, axe) == [], address
        width = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert width <= 0, address


def test_a_dropped_list_becomes_a_list_that_may_be_dialed(page: Page, tmp_path: Path) -> None:
    """Uploaded, shown in clear, cleaned with its country, and downloaded."""
    file = tmp_path / "spring.csv"
    file.write_text("Name,Phone\nAda,(212) 555-0142\nBen,12\n")
    page.goto("/lists")
    page.get_by_label("Or choose a file").set_input_files(file)
    expect(page.get_by_role("heading", name="spring.csv")).to_be_visible()
    expect(page.get_by_role("cell", name="(212) 555-0142")).to_be_visible()
    page.get_by_label("Country of numbers").fill("US")
    page.get_by_role("button", name="Clean").click()
    tile = page.locator(".tile.good")
    expect(tile).to_contain_text("1 of 2")
    with page.expect_download() as download:
        page.get_by_role("link", name="spring.clean.csv").first.click()
    assert "+12125550142" in Path(download.value.path()).read_text(encoding="utf-8-sig")


@pytest.mark.parametrize(
    "page", [{}, {"width": 360, "height": 800}], indirect=True, ids=["wide", "phone"]
)
def test_a_rejected_cell_is_corrected_where_it_stands(page: Page, axe: str) -> None:
    """Judged when Enter is pressed, without a mouse; the pages around it have no issue either."""
    page.goto("/lists/us_autumn_campaign.csv")
    page.get_by_label("Country of numbers").fill("US")
    page.keyboard.press("Enter")
    expect(page.locator(".tile.good")).to_be_visible()
    for name in ("Show them as they were read", "each with the cell that caused it"):
        page.get_by_text(name).click()
    assert violations(page, axe) == []
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    page.get_by_role("link", name="Fix rejected cells").click()
    cell = page.get_by_label("Mobile on line 29")
    cell.fill("12")
    page.keyboard.press("Enter")
    row = page.locator("#line-29")
    expect(row).to_contain_text("digits are missing")
    cell.fill("(917) 736-0009")
    page.keyboard.press("Enter")
    expect(row).to_contain_text("Clean now")
    assert violations(page, axe) == []
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    cell.fill("2.12555E+09")
    page.keyboard.press("Enter")
    expect(row).not_to_contain_text("Clean now")


def test_the_page_that_the_command_opens_lets_the_browser_in(
    chromium: Browser, app: App, tmp_path: Path
) -> None:
    """From a file of the owner's alone; an address that somebody shared asks for no second login."""
    (tmp_path / "open.html").write_text(f'<meta http-equiv="refresh" content="0; url={app.link}">')
    (tmp_path / "chat.html").write_text(f'<a href="{app.url}/performance/hours">look</a>')
    context = chromium.new_context()
    opened = context.new_page()
    opened.goto((tmp_path / "open.html").as_uri())
    expect(opened.get_by_role("heading", name="What to do today")).to_be_visible()
    opened.goto((tmp_path / "chat.html").as_uri())
    opened.get_by_role("link").click()
    expect(opened.get_by_role("heading", name="When do people answer?")).to_be_visible()
    context.close()


def test_every_call_is_checked_and_each_violation_has_a_card(page: Page, axe: str) -> None:
    """The number of the headline is the number of distinct calls on the cards; a story and a day have addresses."""
    page.goto("/compliance")
    page.get_by_role("button", name="Check every call").click()
    tile = page.locator(".tile").first
    expect(tile).to_contain_text("calls with a violation")
    count = int(tile.locator(".value").inner_text().split(" of ")[0].replace(",", ""))
    links = page.get_by_role("link", name="Show the whole story")
    stories = {links.nth(at).get_attribute("href") for at in range(links.count())}
    assert len(stories) == count > 0
    assert violations(page, axe) == []
    page.locator(".month td.bad a").first.click()
    assert "day=" in page.url
    assert 0 < page.locator("article.violation").count() <= count
    page.get_by_role("link", name="Show the whole story").first.click()
    expect(page.get_by_role("heading", name="Why this call got its grade")).to_be_visible()
    assert violations(page, axe) == []
    page.set_viewport_size({"width": 360, "height": 800})
    for _ in range(2):
        assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
        page.go_back()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the evidence").click()
    assert zipfile.is_zipfile(download.value.path())
    with page.expect_download() as download:
        page.get_by_role("link", name="Findings as a workbook").click()
    assert download.value.suggested_filename.startswith("findings-")
    findings = pd.read_excel(download.value.path(), sheet_name="findings", engine="calamine")
    # The gravest first, and one row for each violation of the page at least.
    assert list(findings["grade"][:count]) == ["violation"] * count


def test_a_view_is_its_address(page: Page) -> None:
    """A choice changes the address, and going back shows what was there."""
    page.goto("/performance/funnel")
    page.get_by_label("Split by").select_option("lead_source")
    page.get_by_role("button", name="Show").click()
    # The whole page, its picture too: a browser goes back from what it has shown.
    page.wait_for_url("**by=lead_source*")
    expect(page.locator("img.picture")).to_be_visible()
    page.go_back()
    expect(page.get_by_label("Split by")).to_have_value("")
    assert "by=lead_source" not in page.url


def test_the_rooms_are_reached_by_keyboard(page: Page) -> None:
    """The first key reaches the way past the navigation."""
    page.goto("/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
