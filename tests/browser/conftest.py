"""A real Chromium and the page's server: one of each for all tests, a fresh page for each test."""

from __future__ import annotations

import datetime as dt
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import httpx
import pytest

import dialframe
from browser.axe import script
from dialframe import sandbox
from dialframe.account import connect
from dialframe.cli.entry_point import OK
from dialframe.sandbox.launch import Sandbox

pytest.importorskip("playwright", reason="there is no playwright to drive a browser with")
if find_spec("voila") is None:
    pytest.skip("there is no voila to serve the page with", allow_module_level=True)
from playwright.sync_api import Browser, Page, expect, sync_playwright

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
AUTUMN = "us_autumn_campaign.csv"
_SWITCHES = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
WAIT_MS = 45_000
expect.set_options(timeout=WAIT_MS)


@dataclass(frozen=True)
class Served:
    """Where a page is, without and with its token; the account behind it, and the folder it was given."""

    url: str
    address: str
    box: Sandbox
    folder: Path


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """The browser; where there is none the tests are skipped."""
    if not Path(CHROMIUM).exists():
        pytest.skip("there is no Chromium on this machine")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=_SWITCHES)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def folder(tmp_path_factory: pytest.TempPathFactory, samples: Path) -> Path:
    """The folder that the page was given."""
    made = tmp_path_factory.mktemp("lists")
    shutil.copy(samples / "leads" / "de_haendler_semikolon.csv", made)
    return made


@contextmanager
def account_at(store: Path) -> Iterator[tuple[Sandbox, dict[str, str]]]:
    """A tiny synthetic account that was read, and the environment that names it."""
    with sandbox.start(size="tiny", as_of=dt.date(2026, 10, 30)) as box:
        with connect(base_url=box.base_url, api_key=box.api_key, store=store) as account:
            account.sync()
        yield (
            box,
            {
                "PYTHONPATH": str(Path(dialframe.__file__).parents[1]),
                "DIALFRAME_BASE_URL": box.base_url,
                "DIALFRAME_API_KEY": box.api_key,
                "DIALFRAME_STORE": str(store),
            },
        )


@pytest.fixture(scope="package")
def served(tmp_path_factory: pytest.TempPathFactory, folder: Path) -> Iterator[Served]:
    """The page as the command serves it, with a tiny synthetic account behind it; it ends whole."""
    with account_at(tmp_path_factory.mktemp("account")) as (box, account):
        state = str(tmp_path_factory.mktemp("state"))
        environment = {**os.environ, **account, "XDG_STATE_HOME": state}
        command = [sys.executable, "-m", "dialframe", "app", str(folder), "--no-browser", "--json"]
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        told = json.loads(process.stdout.readline())
        yield Served(told["url"], told["address"], box, folder)
        process.terminate()
        assert process.wait(20) == OK
        process.stdout.close()
        with pytest.raises(httpx.ConnectError):
            httpx.get(told["url"])


class Watched:
    """A page of the browser, with what it asked of other hosts and what went wrong in it."""

    def __init__(self, page: Page, host: str) -> None:
        self.page = page
        self.outside: list[str] = []
        self.errors: list[str] = []
        ours = (host, host.replace("http", "ws", 1), "data:", "blob:", "about:")
        page.on(
            "request",
            lambda sent: None if sent.url.startswith(ours) else self.outside.append(sent.url),
        )
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on(
            "console",
            lambda said: self.errors.append(said.text) if said.type == "error" else None,
        )


@pytest.fixture(scope="package")
def axe() -> str:
    """The source of axe-core; where it is not installed the test is skipped."""
    return script()


@pytest.fixture
def watched(
    chromium: Browser, served: Served, request: pytest.FixtureRequest
) -> Iterator[Watched]:
    """A fresh page; afterwards it must have asked no other host, and said no error."""
    told = getattr(request, "param", {})
    width, height = told.get("size", (1280, 1000))
    context = chromium.new_context(
        viewport={"width": width, "height": height},
        accept_downloads=True,
        reduced_motion="reduce",
        color_scheme=told.get("scheme", "light"),
    )
    page = context.new_page()
    page.set_default_timeout(WAIT_MS)
    made = Watched(page, served.url)
    yield made
    context.close()
    assert made.outside == []
    assert made.errors == []
