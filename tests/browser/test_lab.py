"""The workbench in JupyterLab, as a data scientist works with it."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, expect

import dialframe
from browser.conftest import AUTUMN, WAIT_MS, Served, Watched
from dialframe.cli.run import run

pytest.importorskip("jupyterlab", reason="there is no JupyterLab to open a notebook in")
pytestmark = pytest.mark.browser

#: The whole notebook.
CELL = "from dialframe.widgets import Workbench\n\nWorkbench()"
# Clicking Run while a kernel still connects loses cells; the application's own promises do not.
RUN_ALL = """async () => { const app = window.jupyterapp; await app.started; await app.restored;
  const notebook = app.shell.currentWidget; await notebook.context.ready; await notebook.sessionContext.ready;
  await notebook.sessionContext.session.kernel.info;
  return await app.commands.execute('notebook:run-all-cells'); }"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """JupyterLab over a folder with one notebook, without a user's settings."""
    room = tmp_path_factory.mktemp("lab")
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
        env={**os.environ, "PYTHONPATH": str(Path(dialframe.__file__).parents[1]),
             "JUPYTERLAB_SETTINGS_DIR": str(room / "settings"), "JUPYTER_PREFER_ENV_PATH": "1",
             **{name: str(room / name.lower()) for name in
                ("JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTERLAB_WORKSPACES_DIR",
                 "IPYTHONDIR")}},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        url = _url(room / "jupyter_runtime_dir")
        yield Served(url, f"{url}/lab/tree/leads.ipynb?token={token}&reset")
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


def test_an_ugly_list_is_cleaned_in_jupyterlab(
    chromium: Browser, lab: Served, samples: Path, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """The same widget, the same bytes; no error in the console, no other host."""
    context = chromium.new_context(accept_downloads=True, reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(WAIT_MS)
    watched = Watched(page, lab.url)
    page.goto(lab.address)
    page.locator(".jp-NotebookPanel .jp-Cell").first.wait_for()
    assert page.evaluate(RUN_ALL) is True
    status = page.get_by_role("status").filter(has_text="No file is open")
    expect(status).to_be_visible()
    status = page.locator(".df-status")
    page.get_by_label("Upload a lead file").set_input_files(samples / "leads" / AUTUMN)
    expect(status).to_have_text(f"{AUTUMN}: 303 records read.")
    page.get_by_role("button", name="Write files").click()
    expect(status).to_contain_text("Written: 8 files")
    page.get_by_role("tab", name="Files").click()
    name = AUTUMN.replace(".csv", ".clean.csv")
    with page.expect_download() as waiting:
        page.get_by_role("button", name=f"Download {name}", exact=True).click()
    came = waiting.value.path().read_bytes()
    assert run(["leads", "clean", str(samples / "leads" / AUTUMN), "--out", str(tmp_path)]) == 0
    capsys.readouterr()
    assert (tmp_path / name).read_bytes() == came
    context.close()
    assert watched.outside == []
    assert watched.errors == []
