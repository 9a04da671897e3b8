"""Nobody but the browser that was opened by the link sees anything of the web app."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from dialframe.app import App, serve
from dialframe.app.server import application
from dialframe.app.workspace import Workspace
from dialframe.firm import Firm
from dialframe.serving import ServerThread, listen, url_of
from dialframe.suppression import Entry, SuppressionList

ADDRESSES = (
    "/", "/lists", "/lists/secret.csv", "/compliance", "/compliance/evidence.zip", "/compliance/calls/call_1",
    "/compliance/gate?number=1", "/performance", "/jobs/audit", "/lists/secret.csv/files/clean",
)  # fmt: skip


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """An app without an account, with a list that nobody else may read."""
    folder = tmp_path_factory.mktemp("lists")
    (folder / "secret.csv").write_text("Name,Phone\nAda,(212) 555-0142\n")
    (folder.parent / "outside.csv").write_text("Name,Phone\nBen,(212) 555-0143\n")
    with serve(folder) as running:
        yield running


@pytest.fixture
def browser(app: App) -> Iterator[httpx.Client]:
    """A browser that is logged in."""
    with httpx.Client(base_url=app.url, headers={"origin": app.url}) as client:
        assert client.get(app.link).status_code == 303
        yield client


@pytest.mark.parametrize("address", ADDRESSES)
def test_without_the_link_a_page_says_how_to_get_in(app: App, address: str) -> None:
    """And nothing of what it would show; a guessed token is no better."""
    for cookies in ({}, {f"dialframe_{app.url.rpartition(':')[2]}": app.token}):
        answer = httpx.get(app.url + address, cookies=cookies)
        assert answer.status_code == 401
        assert "Open the link from your terminal" in answer.text
        assert "0142" not in answer.text


def test_a_wrong_link_is_refused_in_words(app: App) -> None:
    """The app starts with another token each time."""
    answer = httpx.get(f"{app.url}/login?token=guess")
    assert answer.status_code == 401
    assert "not the link of this app" in answer.text


def test_the_link_can_be_pasted(app: App) -> None:
    """Into the login page's form, whole."""
    answer = httpx.post(f"{app.url}/login", data={"token": app.link}, headers={"origin": app.url})
    assert answer.status_code == 303
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert app.token.lower() not in cookie


@pytest.mark.parametrize(
    ("after", "leads_to"),
    [
        ("/compliance?day=2026-10-01", "/compliance?day=2026-10-01"),
        ("//evil.example/", "/"),
        ("/\\evil.example", "/"),
        ("https://evil.example/", "/"),
        ("/a\r\nset-cookie: x=1", "/"),
    ],
)
def test_an_address_that_was_shared_is_shown_after_the_login(
    app: App, after: str, leads_to: str
) -> None:
    """And nothing else: the login leads nobody away."""
    answer = httpx.post(
        f"{app.url}/login", params={"after": after}, data={"token": app.token},
        headers={"origin": app.url},
    )  # fmt: skip
    assert answer.headers["location"] == leads_to
    asked = httpx.get(f"{app.url}/compliance?day=2026-10-01").text
    assert "/login?after=/compliance%3Fday%3D2026-10-01" in asked


@pytest.mark.skipif(
    not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can be somebody else"
)
@pytest.mark.parametrize(("user", "status"), [(4321, 403), (65534, 401), (0, 401), (None, 401)])
def test_a_stolen_cookie_is_of_no_use_to_another_user_of_the_machine(
    tmp_path: Path, user: int | None, status: int
) -> None:
    """A connection of somebody else is refused before anything is looked at."""
    listener = listen("the app", "127.0.0.1", 0)
    url = url_of(listener)
    hosts = frozenset({url.removeprefix("http://")})
    workspace = Workspace(tmp_path, None, Firm(), None, lambda: datetime.now(UTC))
    guarded = application(workspace, token="t", hosts=hosts, user=user)
    server = ServerThread(guarded, listener, name="the app", lifespan="off")
    ask = f"import urllib.request as u\ntry: u.urlopen('{url}/')\nexcept u.HTTPError as e: print(e.code)"
    try:
        done = subprocess.run(
            ["/usr/bin/python3", "-c", ask], user=65534, capture_output=True, check=True, cwd="/"
        )
    finally:
        server.close()
    assert done.stdout.decode().strip() == str(status)


@pytest.mark.parametrize(
    ("method", "address", "status"),
    [
        ("GET", "/static/%2e%2e/lists", 404), ("GET", "/static/..%2faccess.py", 404), ("GET", "/static/app.css", 200),
        ("GET", "/sync", 405), ("POST", "/lists", 405), ("DELETE", "/lists/list.csv", 405),
        ("GET", "/lists/upload", 400), ("GET", "/compliance/calls/%3Cscript%3E", 400),
        ("GET", "/performance/__class__", 404), ("GET", "/jobs/%00", 200), ("PUT", "/lists/upload", 415),
    ],
)  # fmt: skip
def test_an_odd_request_gets_an_answer_and_no_fault(
    browser: httpx.Client, method: str, address: str, status: int
) -> None:
    """Addresses that nobody clicks, with their headers all the same."""
    answer = browser.request(method, address)
    assert answer.status_code == status
    assert "<script>" not in answer.text
    assert "default-src" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_form_that_never_ends_is_cut_off(browser: httpx.Client) -> None:
    """Whether it is too long or has too many fields."""
    long = browser.post("/compliance/audit", content=b"a=" + b"x" * 100_000)
    many = browser.post("/compliance/audit", content=b"a=1&" * 5_000)
    assert (long.status_code, many.status_code) == (400, 400)


def test_another_host_name_is_refused(app: App, browser: httpx.Client) -> None:
    """A page whose name was bound anew to this machine is not the app's."""
    assert browser.get("/", headers={"host": "evil.example"}).status_code == 421


def test_a_form_of_another_site_is_refused(browser: httpx.Client) -> None:
    """Even with the cookie."""
    for origin in ("http://evil.example", "null"):
        assert browser.post("/sync", headers={"origin": origin}).status_code == 403


@pytest.mark.parametrize(
    "name",
    [
        "../outside.csv",
        "..%2foutside.csv",
        "%2e%2e/outside.csv",
        "/etc/passwd",
        "..%2f..%2fetc%2fpasswd",
    ],
)
def test_no_name_leads_out_of_the_folder(browser: httpx.Client, name: str) -> None:
    """Neither to read nor to write."""
    answer = browser.get(f"/lists/{name}")
    assert answer.status_code in (400, 404)
    assert "0143" not in answer.text
    written = browser.put(f"/lists/upload?name={name}", content=b"x,y\n")
    assert written.status_code in (201, 415)
    assert (
        "outside" not in written.headers.get("location", "")
        or "%2F" not in written.headers["location"]
    )


def test_uploads_are_of_tables_and_never_replace_a_file(browser: httpx.Client, app: App) -> None:
    """A second file of the same name gets a name of its own; a program is refused."""
    first = browser.put("/lists/upload?name=list.csv", content=b"Name,Phone\nAda,1\n")
    second = browser.put("/lists/upload?name=list.csv", content=b"Name,Phone\nBen,2\n")
    assert (first.headers["location"], second.headers["location"]) == (
        "/lists/list.csv",
        "/lists/list-2.csv",
    )
    assert browser.put("/lists/upload?name=run.sh", content=b"x").status_code == 415
    assert browser.put("/lists/upload?name=.hidden.csv", content=b"x").status_code == 415
    assert browser.put("/lists/upload?name=empty.csv", content=b"").status_code == 422


def test_what_a_list_says_is_shown_as_text(browser: httpx.Client) -> None:
    """A name that is a tag stays a name, and no script may stand in a page."""
    browser.put(
        "/lists/upload?name=tags.csv",
        content=b"Name,Phone\n<script>alert(1)</script>,2125550142\n",
    )
    answer = browser.get("/lists/tags.csv")
    assert "<script>alert" not in answer.text
    assert "&lt;script&gt;" in answer.text
    assert (
        "script-src" in answer.headers["content-security-policy"]
        or "default-src 'self'" in answer.headers["content-security-policy"]
    )


def test_without_an_account_lists_work_and_the_rest_says_why(browser: httpx.Client) -> None:
    """A sentence, and no fault."""
    assert browser.get("/lists").status_code == 200
    assert "without an account" in browser.get("/").text
    assert browser.get("/performance").status_code == 400


def test_a_list_is_held_against_the_firms_own_list(tmp_path: Path) -> None:
    """A number on it is not clean here either; a flag column adds to it as one run."""
    own = SuppressionList.beside(tmp_path / "store")
    now = datetime(2026, 11, 22, tzinfo=UTC)
    own.add([Entry("+12125550142", reason="opt_out", source="a call", on=now.date())], now)
    folder = tmp_path / "lists"
    folder.mkdir()
    (folder / "list.csv").write_text(
        "Name,Phone,Do Not Call\nAda,(212) 555-0142,\nBen,(212) 555-0143,\nCy,(212) 555-0144,yes\n"
    )
    with (
        serve(folder, own_list=own, now=lambda: now) as running,
        httpx.Client(base_url=running.url, headers={"origin": running.url}) as client,
    ):
        client.get(running.link)
        client.post("/lists/list.csv/clean", content="region=US")
        while client.get("/jobs/list-list.csv").json()["state"] == "running":
            time.sleep(0.05)
        clean = client.get("/lists/list.csv/files/clean").text
    assert "+12125550143" in clean
    assert "+12125550142" not in clean
    assert [entry is not None for entry in own.check(["+12125550142", "+12125550144"])] == [
        True,
        True,
    ]
