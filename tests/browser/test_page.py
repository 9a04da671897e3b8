"""What a person does on the web page, in a real browser."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from browser.checks import UNNAMED, faint, overflow
from browser.conftest import AUTUMN, WAIT_MS, Served, Watched
from dialframe.cli.run import run

pytestmark = pytest.mark.browser

expect.set_options(timeout=WAIT_MS)

DARK_PHONE = {"scheme": "dark", "size": (390, 844)}


def _open(watched: Watched, served: Served, query: str = "") -> Page:
    page = watched.page
    page.goto(served.address + query)
    expect(page.get_by_role("status").first).not_to_have_text("", timeout=WAIT_MS)
    return page


def _reads_well(page: Page) -> None:
    """No control without a name, no faint text, no sideways scrolling."""
    assert page.evaluate(UNNAMED) == []
    assert faint(page) == []
    assert overflow(page) == 0


def _save(page: Page, name: str, to: Path) -> bytes:
    with page.expect_download() as waiting:
        page.get_by_role("button", name=f"Download {name}", exact=True).click()
    waiting.value.save_as(to / name)
    return (to / name).read_bytes()


def test_an_ugly_list_is_uploaded_mended_read_and_downloaded(
    watched: Watched, served: Served, folder: Path, samples: Path, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """The files that come back have the bytes that the command line writes."""
    page, status = _open(watched, served), watched.page.get_by_role("status").first
    (folder.parent / "outside.csv").write_text("Phone\n+1 212 555 0100\n")
    page.get_by_label("File", exact=True).fill("../outside.csv")
    page.get_by_role("button", name="Open", exact=True).click()
    expect(status).to_contain_text("is not inside the folder")
    page.get_by_label("Upload a lead file").set_input_files(samples / "leads" / AUTUMN)
    expect(status).to_have_text(f"{AUTUMN}: 303 records read.")
    page.get_by_label("Phone", exact=True).select_option("Home Phone")
    page.get_by_role("button", name="Read it so").click()
    expect(status).to_contain_text("Decided.")
    page.get_by_role("button", name="Dry run").click()
    expect(status).to_contain_text("Dry run: 303 records")
    page.get_by_role("button", name="Undo").click()
    expect(status).to_contain_text("Undone.")
    page.get_by_role("button", name="Dry run").click()
    expect(status).to_contain_text("250 clean, 26 rejected, 14 duplicates, 10 do not call")
    page.get_by_role("tab", name="Issues").click()
    expect(page.get_by_text("1 to 50 of 53 records set aside")).to_be_visible()
    page.get_by_role("button", name="Later").first.click()
    expect(page.get_by_text("51 to 53 of 53 records set aside")).to_be_visible()
    page.get_by_role("button", name="Write files").click()
    expect(status).to_contain_text("Written: 8 files")
    page.get_by_role("tab", name="Files").click()
    out = tmp_path / "cli"
    assert run(["leads", "clean", str(samples / "leads" / AUTUMN), "--out", str(out)]) == 0
    capsys.readouterr()
    for kind in ("clean", "rejected"):
        name = AUTUMN.replace(".csv", f".{kind}.csv")
        assert _save(page, name, tmp_path) == (out / name).read_bytes()
    _reads_well(page)


@pytest.mark.parametrize("watched", [DARK_PHONE], indirect=True, ids=["dark phone"])
def test_a_funnel_is_explored_and_a_gap_of_coverage_closed(
    watched: Watched, served: Served
) -> None:
    """By keyboard on a dark phone: a picture with its words and its numbers, then verdict, gap and check."""
    page = _open(watched, served, "&tab=funnel&by=lead_source")
    expect(page.get_by_role("img", name="Lead funnel by lead_source")).to_be_visible()
    page.get_by_label("Split by").select_option("nothing")
    page.get_by_role("button", name="Show", exact=True).press("Enter")
    expect(page.get_by_role("img", name="Lead funnel, bars from top to bottom")).to_be_visible()
    _reads_well(page)
    page.get_by_role("tab", name="Numbers").click()
    expect(page.get_by_role("region", name="Leads by stage").first).to_contain_text("appointment")
    page.get_by_role("tab", name="Coverage").first.click()
    page.get_by_label("Rules").fill("us")
    page.get_by_role("button", name="Audit", exact=True).press("Enter")
    status = page.get_by_role("status").last
    expect(status).to_contain_text("the verdict is below")
    expect(page.get_by_role("img", name="numbers were checked in time")).to_be_visible()
    _reads_well(page)
    page.get_by_role("button", name="Check them now").press("Enter")
    expect(status).to_contain_text("numbers checked.")
    page.get_by_role("tab", name="To check").click()
    expect(page.get_by_text("0 of 0 numbers stale or never checked")).to_be_visible()


def test_nobody_gets_in_without_the_token(served: Served) -> None:
    """Without it, or with another one, there is no page, no kernel and no file."""
    with httpx.Client(base_url=served.url, follow_redirects=True) as outsider:
        for path in ("/", "/?token=guess", "/api/kernels/x", "/voila/files/page.ipynb"):
            answer = outsider.get(path)
            assert answer.status_code in (400, 401, 403, 404) or answer.url.path == "/login", path
            assert "jupyter-config-data" not in answer.text
