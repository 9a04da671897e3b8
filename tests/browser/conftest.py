"""A real Chromium and the web app behind a tiny account: one of each for all tests, a fresh page for each test."""

from __future__ import annotations

import datetime as dt
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import dialframe
from browser.axe import script
from dialframe.app import App, serve

pytest.importorskip("playwright", reason="there is no playwright to drive a browser with")
from playwright.sync_api import Browser, Page, expect, sync_playwright

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
_SWITCHES = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
WAIT_MS = 45_000
expect.set_options(timeout=WAIT_MS)


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """The browser; where there is none the tests are skipped."""
    if not Path(CHROMIUM).exists():
        pytest.skip("there is no Chromium on this machine")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=_SWITCHES)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def app(tmp_path_factory: pytest.TempPathFactory, samples: Path) -> Iterator[App]:
    """The app with a synced account and one list in its folder."""
    folder = tmp_path_factory.mktemp("lists")
    shutil.copy(samples / "leads" / "us_autumn_campaign.csv", folder)
    store = tmp_path_factory.mktemp("account")
    with dialframe.sandbox.start(size="tiny", as_of=dt.date(2026, 10, 30)) as box:
        with dialframe.connect(box.base_url, box.api_key, store) as account:
            account.sync()
        with serve(folder, lambda: dialframe.connect(box.base_url, box.api_key, store)) as running:
            yield running


@pytest.fixture(scope="package")
def axe() -> str:
    """The source of axe-core; where it is not installed the test is skipped."""
    return script()


@pytest.fixture
def page(chromium: Browser, app: App, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page of a browser that is logged in; afterwards it must have asked no other host and said no error."""
    options = {"width": 1280, "height": 900, "color_scheme": "light"} | getattr(
        request, "param", {}
    )
    context = chromium.new_context(
        viewport={"width": options["width"], "height": options["height"]},
        color_scheme=options["color_scheme"], reduced_motion="reduce", base_url=app.url,
    )  # fmt: skip
    opened = context.new_page()
    opened.set_default_timeout(WAIT_MS)
    outside: list[str] = []
    errors: list[str] = []
    opened.on(
        "request",
        lambda sent: None if sent.url.startswith((app.url, "data:")) else outside.append(sent.url),
    )
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    opened.goto(app.link)
    yield opened
    context.close()
    assert outside == []
    assert errors == []
