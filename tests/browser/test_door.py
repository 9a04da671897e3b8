"""Who gets in, and what can be read from there: the page attacked as a stranger and as a neighbor would."""

from __future__ import annotations

import asyncio
import json
import re
import socket
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

from browser.conftest import Served

pytestmark = pytest.mark.browser

#: What lies outside of the folder, and must never be seen.
SECRET = "Phone\n+1 212 555 0199\n"
_UP = "../" * 12
_DOTS = "%2e%2e/" * 12
_PATHS = [
    "/voila/files/page.ipynb", f"/voila/files/{_UP}etc/passwd", f"/voila/files/{_DOTS}etc/passwd",
    "/voila/files//etc/passwd", "/files/page.ipynb", f"/files/{_DOTS}etc/passwd",
    "/api/contents", "/api/contents/outside.csv", "/voila/api/contents", "/api/kernels",
    "/api/sessions", "/api/terminals", "/api/kernelspecs", "/voila/tree", "/voila/tree/..",
    "/voila/render/page.ipynb", f"/voila/static/{_UP}etc/passwd",
    f"/voila/static/{_DOTS}etc/passwd", "/voila/static//etc/passwd", f"/static/{_UP}etc/passwd",
    f"/voila/templates/lab/static/{_UP}etc/passwd",
    "/voila/templates/dialframe/static/../../../../../../page.ipynb",
    "/voila/templates/x/static/../../../../../../etc/passwd",
    "/voila/templates/..%2f..%2f..%2f/static/x", f"/voila/labextensions/{_UP}etc/passwd",
    f"/voila/api/themes/{_DOTS}etc/passwd", "/voila.json", "/server.log", "/../outside.csv",
    "/outside.csv", "//etc/passwd",
]  # fmt: skip


@pytest.fixture(scope="module")
def secret(folder: Path) -> str:
    """A list beside the folder."""
    (folder.parent / "outside.csv").write_text(SECRET)
    return SECRET


@pytest.fixture(scope="module")
def kernel(served: Served) -> str:
    """A kernel of somebody who got in."""
    with httpx.Client(follow_redirects=True, timeout=60) as inside:
        page = inside.get(served.address).text
    found = re.search(r'"kernelId": *"([0-9a-f-]{36})"', page)
    assert found
    return found[1]


def _raw(served: Served, path: str, *, method: str = "GET", **headers: str) -> tuple[int, bytes]:
    """Ask for a path as it stands; a client library would tidy it up first."""
    where = urlsplit(served.url)
    told = {"Host": where.netloc, "Connection": "close", **headers}
    lines = [
        f"{method} {path} HTTP/1.1",
        *(f"{key.replace('_', '-')}: {value}" for key, value in told.items()),
    ]
    with socket.create_connection((where.hostname, where.port), timeout=20) as line:
        line.sendall("\r\n".join([*lines, "", ""]).encode())
        answer = b""
        while piece := line.recv(65536):
            answer += piece
    return int(answer.split(b" ", 2)[1]), answer


def _token(served: Served) -> str:
    return served.address.partition("token=")[2]


@pytest.mark.parametrize("path", _PATHS)
def test_no_path_leads_to_a_file(served: Served, secret: str, path: str) -> None:
    """With the token or without, no address gives a file, a list of files or what the server was told."""
    key = _token(served)
    # Whatever path a notebook server has no place for shows the page itself to who has the token.
    for headers in (
        ({}, {"Authorization": f"token {key}"}) if path.startswith("/voila/") else ({},)
    ):
        status, answer = _raw(served, path, **headers)
        assert status in (302, 400, 403, 404, 500), path
        for seen in (secret, "root:", '"nbformat"', key):
            assert seen.encode() not in answer.replace(f"token={key}".encode(), b"")


@pytest.mark.parametrize("path", ["/", "/?token=guess", "/page.ipynb", "/voila/execution/x"])
def test_nobody_gets_in_without_the_token(served: Served, path: str) -> None:
    """Without it, or with another one, there is the login and nothing else."""
    with httpx.Client(base_url=served.url, follow_redirects=True) as outsider:
        answer = outsider.get(path)
    assert answer.url.path == "/login"
    assert "jupyter-config-data" not in answer.text


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "192.0.2.7", "127.0.0.1.evil.example"]
)
def test_another_name_for_this_machine_is_refused(served: Served, host: str) -> None:
    """A name of somebody else's that leads here opens nothing, even with the token (DNS rebinding)."""
    for headers in ({}, {"Authorization": f"token {_token(served)}"}):
        status, answer = _raw(served, "/", Host=host, **headers)
        assert status == 403
        assert b"jupyter-config-data" not in answer


def test_a_kernel_is_ended_by_nobody_else(served: Served, kernel: str) -> None:
    """Neither a stranger nor another site's form can end it or look at it."""
    for path in (f"/api/kernels/{kernel}", f"/voila/api/shutdown/{kernel}"):
        for method in ("GET", "POST", "DELETE"):
            status, _ = _raw(
                served, path, method=method, Origin="http://evil.example", Content_Length="0"
            )
            assert status in (403, 404, 405), (method, path)
    own = {"Authorization": f"token {_token(served)}"}
    assert httpx.get(f"{served.url}/api/kernels/{kernel}", headers=own).status_code == 200


async def _hang_up(line: WebSocketClientConnection) -> None:
    """Close it and wait until it is closed, or its socket would outlive the loop."""
    line.close()
    while await asyncio.wait_for(line.read_message(), 20) is not None:
        pass


async def _handshake(served: Served, kernel: str, **headers: str) -> int:
    url = f"ws{served.url.removeprefix('http')}/api/kernels/{kernel}/channels"
    try:
        line = await websocket_connect(HTTPRequest(url, headers=headers))
    except HTTPClientError as error:
        return int(error.code)
    await _hang_up(line)
    return 101


def test_a_websocket_needs_the_token_and_the_pages_own_origin(served: Served, kernel: str) -> None:
    """The way to the kernel is closed to strangers, and to other sites in the same browser."""
    own, other = {"Authorization": f"token {_token(served)}"}, {"Origin": "http://evil.example"}
    with httpx.Client(follow_redirects=True, timeout=60) as browser:
        browser.get(served.address)
        cookies = {
            "Cookie": "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
        }
    assert asyncio.run(_handshake(served, kernel)) == 403
    assert asyncio.run(_handshake(served, kernel, **other)) == 403
    assert asyncio.run(_handshake(served, kernel, **cookies, **other)) == 403
    assert asyncio.run(_handshake(served, kernel, **own)) == 101


async def _runs(served: Served, kernel: str, code: str) -> set[str]:
    """Send code to a kernel, then a question; the kinds of answers until the question's."""
    url = f"ws{served.url.removeprefix('http')}/api/kernels/{kernel}/channels"
    line = await websocket_connect(
        HTTPRequest(url, headers={"Authorization": f"token {_token(served)}"})
    )
    contents = {"execute_request": {"code": code, "silent": False}, "kernel_info_request": {}}
    for kind, content in contents.items():
        head = {"msg_id": kind, "msg_type": kind, "session": "s", "username": "", "version": "5.3"}
        await line.write_message(json.dumps({"header": head, "parent_header": {}, "metadata": {},
                                             "content": content, "channel": "shell"}))  # fmt: skip
    kinds: set[str] = set()
    while "kernel_info_reply" not in kinds:
        said = await asyncio.wait_for(line.read_message(), 20)
        assert said is not None
        kinds.add(json.loads(said)["msg_type"] if isinstance(said, str) else "binary")
    await _hang_up(line)
    return kinds


def test_who_is_in_runs_no_code_of_their_own(served: Served, kernel: str, folder: Path) -> None:
    """A browser with the token speaks with the widgets alone: code that is sent is not run."""
    mark = folder.parent / "ran"
    kinds = asyncio.run(_runs(served, kernel, f"open({str(mark)!r}, 'w')"))
    assert "execute_reply" not in kinds
    assert not mark.exists()
