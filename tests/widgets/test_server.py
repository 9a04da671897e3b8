"""The page's server: who gets in, what it says when it cannot start; the page itself is tested in a browser."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from dialframe.errors import ConfigError
from dialframe.sandbox.launch import Sandbox
from dialframe.widgets.app_page import Pages, account_of
from dialframe.widgets.lead_workbench_model import Connect
from dialframe.widgets.page_server import HOST, serve, settings


def test_it_listens_on_loopback_behind_a_token() -> None:
    """What Voila is told: loopback, the token, no file of the folder, no other template."""
    told = settings(8900, "secret")
    assert told["Voila"]["ip"] == HOST == "127.0.0.1"
    assert told["Voila"]["token"] == "secret"
    assert told["VoilaConfiguration"]["file_allowlist"] == []
    assert told["VoilaConfiguration"]["show_tracebacks"] is False
    assert told["Voila"]["tornado_settings"]["allow_remote_access"] is False


def test_a_missing_folder_is_said_before_anything_starts(tmp_path: Path) -> None:
    """One sentence, no server."""
    with pytest.raises(ConfigError, match="no folder"), serve(tmp_path / "x", environment={}):
        pass


def test_a_taken_port_is_said_before_anything_starts(tmp_path: Path) -> None:
    """One sentence that names the port and what to do."""
    with socket.socket() as other:
        other.bind((HOST, 0))
        other.listen()
        port = other.getsockname()[1]
        with (
            pytest.raises(ConfigError, match=f"port {port} is taken"),
            serve(tmp_path, environment={}, port=port),
        ):
            pass


def test_without_an_account_the_lists_work_and_the_rest_says_what_is_missing(
    tmp_path: Path,
) -> None:
    """The first tab needs no account; the others name the settings."""
    assert account_of({}) is None
    pages = Pages({"DIALFRAME_APP_FOLDER": str(tmp_path)})
    assert list(pages.made) == ["Leads"]
    pages.tabs.selected_index = 1
    assert list(pages.made) == ["Leads"]
    assert "DIALFRAME_BASE_URL" in pages._places["Funnel"].children[0].value


def test_the_list_tab_loads_nothing_that_draws_or_computes() -> None:
    """What is first seen on the page waits for no library that lists do not need."""
    heavy = ("matplotlib", "PIL", "dialframe.analytics", "dialframe.plots")
    code = (
        f"import sys, dialframe.widgets.app_page; print([m for m in {heavy} if m in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"


def test_the_address_says_which_tab_is_opened(tmp_path: Path) -> None:
    """A link leads to a tab; a word that is none leads to the first."""
    assert Pages({"QUERY_STRING": "tab=coverage"}).tabs.selected_index == 2
    assert Pages({"QUERY_STRING": "tab=else"}).tabs.selected_index == 0


def test_the_address_follows_what_is_shown_and_leads_back_to_it(
    box: Sandbox, opened: Connect, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tab and funnel stand in the address; going back asks what stood there, nonsense is said."""
    told = {
        "DIALFRAME_BASE_URL": box.base_url,
        "DIALFRAME_API_KEY": box.api_key,
        "DIALFRAME_STORE": str(store),
    }
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    pages = Pages(
        {**told, "DIALFRAME_APP_FOLDER": str(tmp_path), "QUERY_STRING": "tab=funnel&by=region"}
    )
    assert pages.address.query == "tab=funnel&by=region"
    funnel = pages.made["Funnel"]
    funnel.window.value = "7"
    funnel.show.click()
    assert pages.address.query == "tab=funnel&by=region&window=7"
    pages.tabs.selected_index = 0
    assert pages.address.query == "tab=leads"
    pages.address._receive(None, {"kind": "asked", "query": "tab=funnel&by=region"}, [])
    assert pages.tabs.selected_index == 1
    assert funnel.window.value == ""
    assert pages.address.query == "tab=funnel&by=region"
    pages.address._receive(None, {"kind": "asked", "query": "tab=funnel&window=x"}, [])
    assert funnel.status.failed
    assert pages.address.query == "tab=funnel&by=region"


PARENT = """
import sys, time
from pathlib import Path
from dialframe.widgets.page_server import serve
import os
with serve(Path(sys.argv[1]), environment=dict(os.environ)) as page:
    print(page.process.pid, page.opener, flush=True)
    time.sleep(600)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_the_server_ends_with_its_parent_even_when_that_is_killed(tmp_path: Path) -> None:
    """No process with the key in its environment stays, and no folder with uploads and token."""
    pytest.importorskip("voila")
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        process, opener = parent.stdout.readline().split()
        room = Path(opener).parent
        assert stat.S_IMODE(Path(opener).stat().st_mode) == 0o600
        assert "token=" not in Path(f"/proc/{process}/cmdline").read_text()
        parent.kill()
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and (Path(f"/proc/{process}").exists() or room.exists()):
        time.sleep(0.2)
    assert not Path(f"/proc/{process}").exists()
    assert not room.exists()


SHELL = """
import signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
command = [sys.executable, "-m", "dialframe", "app", sys.argv[1], "--no-browser", "--json"]
app = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
app.stdout.readline()
print(app.pid, flush=True)
time.sleep(600)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("ended", ["told to", "orphaned"])
def test_a_page_in_the_background_ends_where_sigint_is_ignored(tmp_path: Path, ended: str) -> None:
    """By SIGTERM, and by the end of who started it, although a shell had it ignore Ctrl-C."""
    pytest.importorskip("voila")
    with subprocess.Popen(
        [sys.executable, "-c", SHELL, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as shell:
        assert shell.stdout is not None
        process = int(shell.stdout.readline())
        if ended == "told to":
            os.kill(process, signal.SIGTERM)
        else:
            shell.kill()
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and is_running(process):
            time.sleep(0.2)
        shell.kill()
    assert not is_running(process)


def is_running(process: int) -> bool:
    """Whether a process is there, and no zombie."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_who_sends_nothing_holds_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Headers have ten seconds, the rest of a request a minute; tornado alone waits for an hour, or for ever."""
    pytest.importorskip("voila")
    from tornado.httpserver import HTTPServer

    from dialframe.widgets.page_server import bound_waiting

    given: dict[str, float] = {}
    monkeypatch.setattr(HTTPServer, "configure", lambda impl, **more: given.update(more))
    bound_waiting()
    bounds = HTTPServer(lambda request: None, **given).conn_params

    assert (bounds.header_timeout, bounds.body_timeout) == (10, 60)


def test_only_so_many_pages_are_open_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each opened page starts a kernel; one too many is told to close another."""
    pytest.importorskip("voila")
    from jupyter_server.auth.identity import PasswordIdentityProvider, User
    from tornado.web import HTTPError

    from dialframe.widgets.page_access import Door
    from dialframe.widgets.page_server import KERNELS

    class VoilaHandler:
        """What asks for a page, known by its name."""

        def __init__(self, open_pages: int) -> None:
            kernels = SimpleNamespace(list_kernel_ids=lambda: ["kernel"] * open_pages)
            self.settings, self.xsrf_token = {"kernel_manager": kernels}, "made"

        def get_cookie(self, name: str) -> None:
            """No cookie is there yet."""

    reader = User("reader")
    monkeypatch.setattr(PasswordIdentityProvider, "get_user", lambda self, handler: reader)
    assert asyncio.run(Door().get_user(VoilaHandler(KERNELS - 1))) is reader
    with pytest.raises(HTTPError, match="pages are open already"):
        asyncio.run(Door().get_user(VoilaHandler(KERNELS)))
