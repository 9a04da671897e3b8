"""The page without a mouse and without eyes: every state held against WCAG, the whole workbench by keyboard."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from browser import steps
from browser.axe import violations
from browser.conftest import AUTUMN, Served, Watched
from browser.keys import Keys

pytestmark = pytest.mark.browser


def test_every_face_is_accessible_in_every_state(
    watched: Watched, served: Served, axe: str
) -> None:
    """axe-core finds nothing against WCAG A and AA: empty, failed, loaded, with issues; light and dark."""
    page = steps.opened(watched.page, served.address)
    face = steps.workbench(page)
    assert violations(page, axe) == []
    face.get_by_label("File", exact=True).fill("../nowhere.csv")
    steps.press(face, "Open")
    steps.says(face, "is not inside the folder")
    assert violations(page, axe) == []
    face.get_by_label("File", exact=True).fill("de_haendler_semikolon.csv")
    steps.press(face, "Open")
    steps.says(face, "records read")
    steps.press(face, "Dry run")
    steps.says(face, "Dry run:")
    for tab in ("Issues", "Before and after", "Files"):
        steps.turn_to(face, tab)
        assert violations(page, axe) == []
    page.get_by_role("tab", name="Funnel").click()
    face = steps.explorer(page)
    steps.says(face, "leads loaded")
    for tab in ("Picture", "Notes and state"):
        steps.turn_to(face, tab)
        assert violations(page, axe) == []
    face.get_by_label("Window, days").fill("x")
    steps.press(face, "Show")
    steps.says(face, "no number of days")
    assert violations(page, axe) == []
    page.get_by_role("tab", name="Coverage").first.click()
    face = steps.dashboard(page)
    assert violations(page, axe) == []
    face.get_by_label("Rules", exact=True).fill("us")
    steps.press(face, "Audit")
    steps.says(face, "the verdict is below")
    for tab in ("Coverage", "Findings", "Evidence"):
        steps.turn_to(face, tab)
        assert violations(page, axe) == []


def test_the_whole_workbench_is_worked_by_keyboard(
    watched: Watched, served: Served, samples: Path
) -> None:
    """Upload, path, mapping, undo, dry run, filter, files, screening, import, stop and ledger without a mouse."""
    page = steps.opened(watched.page, served.address)
    keys, box = Keys(page), served.box
    keys.to("File").types("de_haendler_semikolon.csv").to("Open").press("Enter")
    keys.hears("de_haendler_semikolon.csv")
    keys.to("Region").types("de").to("Phone").picks("Handy").to("Read it so").press("Enter")
    keys.hears("Decided.")
    keys.to("Undo").press("Enter")
    keys.hears("Undone.")
    keys.to("Upload a lead file")
    with page.expect_file_chooser() as chooser:
        keys.press("Space")
    chooser.value.set_files(samples / "leads" / AUTUMN)
    keys.hears(f"{AUTUMN}: 303 records read.")
    keys.to("Dry run").press("Enter")
    keys.hears("Dry run:")
    keys.to("Outcome").press("ArrowRight").press("Enter")
    keys.to("Reason").press("ArrowDown")
    expect(page.get_by_text("filtered from")).to_be_visible()
    keys.to("Show values whole").press("Space")
    keys.to("Write files").press("Enter")
    keys.hears("Written: 9 files")
    keys.to("Issues").press("ArrowRight").press("ArrowRight").press("Enter")
    name = AUTUMN.replace(".csv", ".clean.csv")
    keys.to(f"Download {name}")
    with page.expect_download() as waiting:
        keys.press("Enter")
    assert waiting.value.suggested_filename == name
    keys.to("Screen").press("Enter")
    keys.hears("Screened:")
    keys.to("Campaign").types(_ready_campaign(served))
    box.console.arm_fault("leads.import", delay_seconds=5.0)
    keys.to("Import").press("Enter")
    expect(page.get_by_role("button", name="Stop", exact=True).first).to_be_visible()
    keys.to("Stop").press("Enter")
    keys.hears("Stopped. What was finished is kept; start again to go on.")
    keys.to("Import").press("Enter")
    keys.hears("Imported: ")
    keys.to("Files").press("ArrowRight").press("Enter")
    expect(
        page.get_by_text("246 sent, 246 accepted, 0 refused, 0 unknown.", exact=True)
    ).to_be_visible()


def _ready_campaign(served: Served) -> str:
    """A campaign that takes leads."""
    from dialframe import Client

    with Client(base_url=served.box.base_url, api_key=served.box.api_key) as client:
        return next(
            each.id
            for each in client.campaigns.list()
            if each.status in ("draft", "ready", "paused")
        )
