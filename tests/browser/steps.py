"""What a person does with each face, whether the page shows it or a notebook; each step waits for its own words."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from dialframe.cli.entry_point import run


def opened(page: Page, address: str) -> Page:
    """The page at an address, once its first face speaks."""
    page.goto(address)
    expect(page.get_by_role("status").first).not_to_have_text("")
    return page


def workbench(page: Page) -> Locator:
    """The lead workbench."""
    return page.locator(".df-panel", has=page.get_by_label("Upload a lead file"))


def explorer(page: Page) -> Locator:
    """The funnel explorer."""
    return page.locator(".df-panel", has=page.get_by_label("Split by"))


def dashboard(page: Page) -> Locator:
    """The coverage dashboard."""
    return page.locator(".df-panel", has=page.get_by_label("Group by"))


def says(face: Locator, words: str) -> None:
    """Wait until the status line says this."""
    expect(face.locator(".df-status")).to_contain_text(words)


def press(face: Locator, name: str) -> None:
    """Press a button."""
    face.get_by_role("button", name=name, exact=True).click()


def open_by_name(face: Locator, name: str) -> None:
    """Name a file and open it; once more where a busy kernel heard of the press before the name."""
    for _ in range(3):
        face.get_by_label("File", exact=True).fill(name)
        press(face, "Open")
        expect(face.locator(".df-status")).to_contain_text(
            re.compile("records read|There is no file")
        )
        if "There is no file" not in face.locator(".df-status").inner_text():
            return


def turn_to(face: Locator, name: str) -> None:
    """Turn to a tab."""
    face.get_by_role("tab", name=name, exact=True).click()


def command_line(
    path: Path, out: Path, capsys: pytest.CaptureFixture[str], *options: str
) -> dict[str, int]:
    """What `dialframe leads clean` makes of the same file: its counts; the files are in `out`."""
    capsys.readouterr()
    assert run(["leads", "clean", str(path), *options, "--out", str(out), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    return {name: told[name] for name in ("records", "clean", "rejected", "duplicates")}


def download(page: Page, face: Locator, name: str) -> bytes:
    """The bytes of a file that is offered."""
    with page.expect_download() as waiting:
        press(face, f"Download {name}")
    return Path(waiting.value.path()).read_bytes()


def clean_an_ugly_list(
    page: Page, path: Path, mended: tuple[str, str], counts: dict[str, int], out: Path
) -> None:
    """Upload, mend a column, read the issues by reason, write, and compare both files byte for byte."""
    face = workbench(page)
    says(face, "No file is open")
    face.get_by_label("Upload a lead file").set_input_files(path)
    says(face, f"{path.name}: {counts['records']} records read.")
    face.get_by_label(mended[0], exact=True).select_option(mended[1])
    press(face, "Read it so")
    says(face, "Decided.")
    press(face, "Dry run")
    says(face, f"Dry run: {counts['records']} records: {counts['clean']} clean, "
         f"{counts['rejected']} rejected, {counts['duplicates']} duplicates")  # fmt: skip
    turn_to(face, "Issues")
    aside = counts["records"] - counts["clean"]
    expect(face.get_by_text(f"1 to 50 of {aside} records set aside")).to_be_visible()
    face.get_by_label("Reason").select_option(index=1)
    expect(face.get_by_text(f"filtered from {aside}")).to_be_visible()
    press(face, "Write files")
    says(face, "Written: 9 files")
    turn_to(face, "Files")
    for kind in ("clean", "rejected"):
        name = f"{path.stem}.{kind}.csv"
        assert download(page, face, name) == (out / name).read_bytes()


def explore_a_funnel(page: Page) -> None:
    """A funnel that is split and put together again: a picture with its words, and its numbers."""
    face = explorer(page)
    says(face, "leads loaded")
    face.get_by_label("Split by").select_option("lead source")
    press(face, "Show")
    expect(face.get_by_role("img", name="by lead source. Lead funnel")).to_be_visible()
    face.get_by_label("Split by").select_option("nothing")
    press(face, "Show")
    expect(face.get_by_role("img", name="by lead source. Lead funnel")).to_have_count(0)
    expect(face.get_by_role("img", name="Lead funnel")).to_be_visible()
    turn_to(face, "Numbers")
    expect(face.get_by_role("region", name="Leads by stage").last).to_contain_text("appointment")


def close_a_gap(page: Page) -> None:
    """Verdict, gap, check: afterwards nothing is stale. Then the evidence, as a file with its manifest."""
    face = dashboard(page)
    face.get_by_label("Rules", exact=True).fill("us")
    press(face, "Audit")
    says(face, "the verdict is below")
    expect(face.get_by_role("img", name="numbers were checked in time")).to_be_visible()
    press(face, "Check them now")
    says(face, "numbers checked.")
    turn_to(face, "To check")
    expect(face.get_by_text("0 of 0 numbers stale or never checked")).to_be_visible()
    turn_to(face, "Evidence")
    press(face, "Write evidence pack")
    says(face, "Written: evidence.zip")
    assert download(page, face, "evidence.zip")[:2] == b"PK"
