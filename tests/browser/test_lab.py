"""The three faces in JupyterLab, as a data scientist works with them."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from browser import steps
from browser.axe import violations
from browser.conftest import AUTUMN, WAIT_MS, Served, Watched, account_at

pytest.importorskip("jupyterlab", reason="there is no JupyterLab to open a notebook in")
pytestmark = pytest.mark.browser

#: The whole notebook.
CELL = """import dialframe
from dialframe.widgets import CoverageDashboard, FunnelExplorer, FunnelModel, Workbench

with dialframe.connect() as account:
    model = FunnelModel.of(account)
display(Workbench(connect=dialframe.connect))
display(FunnelExplorer(model))
display(CoverageDashboard(dialframe.connect))
"""
# Clicking Run while a kernel still connects loses cells; the application's own promises do not.
RUN_ALL = """async () => { const app = window.jupyterapp; await app.started; await app.restored;
  const notebook = app.shell.currentWidget; await notebook.context.ready; await notebook.sessionContext.ready;
  await notebook.sessionContext.session.kernel.info;
  return await app.commands.execute('notebook:run-all-cells'); }"""

RESTART = """async () => { const notebook = window.jupyterapp.shell.currentWidget;
  await notebook.sessionContext.session.kernel.restart(); }"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """JupyterLab over a folder with one notebook, a tiny synthetic account, and no user's settings."""
    room = tmp_path_factory.mktemp("lab")
    with account_at(room / "store") as (box, account), _served(room, account) as (url, token):
        yield Served(url, f"{url}/lab/tree/leads.ipynb?token={token}&reset", box, room / "lists")


@contextmanager
def _served(room: Path, account: dict[str, str]) -> Iterator[tuple[str, str]]:
    cells = [{"cell_type": "code", "id": "a", "metadata": {}, "outputs": [],
              "execution_count": None, "source": CELL}]  # fmt: skip
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    book = {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    (room / "lists").mkdir()
    (room / "lists" / "leads.ipynb").write_text(json.dumps(book))
    quiet = room / "settings" / "@jupyterlab" / "apputils-extension"
    quiet.mkdir(parents=True)
    (quiet / "notification.jupyterlab-settings").write_text(
        '{"fetchNews": "false", "checkForUpdates": false}'
    )
    token = secrets.token_hex(16)
    process = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ServerApp.port=0",
         "--ServerApp.ip=127.0.0.1", f"--ServerApp.root_dir={room / 'lists'}",
         f"--IdentityProvider.token={token}", "--LabApp.news_url=None",
         "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
         "--LabApp.extension_manager=readonly", "--LabApp.expose_app_in_browser=True"],
        env={**os.environ, **account,
             "JUPYTERLAB_SETTINGS_DIR": str(room / "settings"), "JUPYTER_PREFER_ENV_PATH": "1",
             **{name: str(room / name.lower()) for name in
                ("JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTERLAB_WORKSPACES_DIR",
                 "IPYTHONDIR", "XDG_STATE_HOME")}},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        yield _url(room / "jupyter_runtime_dir"), token
    finally:
        process.terminate()
        process.wait(20)


def _url(runtime: Path) -> str:
    """The address that the server wrote down, once it answers."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        for file in runtime.glob("jpserver-*.json"):
            port = json.loads(file.read_text() or "{}").get("port")
            if port:
                httpx.get(f"http://127.0.0.1:{port}/api")
                return f"http://127.0.0.1:{port}"
        time.sleep(0.1)
    raise TimeoutError


@pytest.fixture(scope="module")
def notebook(chromium: Browser, lab: Served) -> Iterator[Page]:
    """The notebook, run; afterwards no error was said and no other host was asked."""
    context = chromium.new_context(
        accept_downloads=True, reduced_motion="reduce", viewport={"width": 1280, "height": 1000}
    )
    page = context.new_page()
    page.set_default_timeout(WAIT_MS)
    watched = Watched(page, lab.url)
    page.goto(lab.address)
    page.locator(".jp-NotebookPanel .jp-Cell").first.wait_for()
    assert page.evaluate(RUN_ALL) is True
    yield page
    context.close()
    assert watched.outside == []
    assert watched.errors == []


def test_a_person_works_with_all_three_faces_in_jupyterlab(
    notebook: Page, samples: Path, axe: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An ugly list is mended, read and written, a funnel explored, a gap closed; the same bytes as the command's."""
    path = samples / "leads" / AUTUMN
    counts = steps.command_line(path, tmp_path, capsys, "--column", "phone=Mobile")
    steps.says(steps.workbench(notebook), "No file is open")
    assert violations(notebook, axe, where=".df-panel") == []
    steps.clean_an_ugly_list(notebook, path, ("Phone", "Mobile"), counts, tmp_path)
    steps.explore_a_funnel(notebook)
    steps.close_a_gap(notebook)


def test_a_restarted_kernel_is_said_and_what_was_decided_comes_back(
    notebook: Page, lab: Served, samples: Path
) -> None:
    """The status line tells of the restart; run again, the list is taken up as it was decided."""
    shutil.copy(samples / "leads" / AUTUMN, lab.folder)
    face = steps.workbench(notebook)
    steps.open_by_name(face, AUTUMN)
    steps.says(face, "303 records read.")
    face.get_by_label("Phone", exact=True).select_option("Mobile")
    steps.press(face, "Read it so")
    steps.says(face, "Decided.")
    notebook.evaluate(RESTART)
    steps.says(face, "The kernel was started again, and has forgotten what was open here.")
    assert notebook.evaluate(RUN_ALL) is True
    steps.says(face, f"Go on takes up {AUTUMN} as it was decided.")
    steps.press(face, "Go on")
    steps.says(face, "Gone on as it was decided.")
    expect(face.get_by_label("Phone", exact=True)).to_contain_text("found: Mobile (")
