"""The list pages over HTTP: questions are answered and remembered, cells are corrected, an import is planned and sent."""

from __future__ import annotations

import datetime as dt
import re
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

import dialframe
from dialframe.app import App, serve
from dialframe.firm import Firm
from dialframe.suppression import Entry, SuppressionList

NOW = dt.datetime(2026, 10, 30, tzinfo=dt.UTC)
REGION = Firm.from_text('lists = {region = "US"}')


@contextmanager
def login(app: App) -> Iterator[httpx.Client]:
    """A browser that opened the link."""
    with httpx.Client(
        base_url=app.url, headers={"origin": app.url}, follow_redirects=True
    ) as client:
        client.get(app.link)
        yield client


def finish(client: httpx.Client, kind: str) -> dict[str, object]:
    """Wait for a job."""
    deadline = time.monotonic() + 30
    while (state := client.get(f"/jobs/{kind}").json())["state"] == "running":
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert state["state"] == "done", state
    return dict(state)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of lists."""
    made = tmp_path / "lists"
    made.mkdir()
    return made


@pytest.fixture
def client(folder: Path, tmp_path: Path) -> Iterator[httpx.Client]:
    """An app without an account that remembers answers."""
    with (
        serve(folder, firm=REGION, own_list=SuppressionList.beside(tmp_path / "store"),
              profiles=tmp_path / "profiles") as running,
        login(running) as browser,
    ):  # fmt: skip
        yield browser


def test_words_are_asked_about_once_for_a_source(client: httpx.Client, folder: Path) -> None:
    """The answer holds for the next list with the same header, and can be forgotten."""
    rows = "Name,Phone,Notes\nAda,(212) 736-5000,do not call again\nBen,(212) 736-5001,\n"
    for name in ("may.csv", "june.csv"):
        (folder / name).write_text(rows)
    client.post("/lists/may.csv/clean", data={"region": "US"})
    finish(client, "list-may.csv")
    page = client.get("/lists/may.csv").text
    assert "What do these words mean?" in page
    phrase = re.search(r'name="phrase.1" value="([^"]+)"', page)
    assert phrase is not None
    client.post(
        "/lists/may.csv/answers",
        data={"answer.1": "nothing", "of.1": "Notes", "phrase.1": phrase[1]},
    )
    finish(client, "list-may.csv")
    assert "What do these words mean?" not in client.get("/lists/may.csv").text
    client.post("/lists/june.csv/clean", data={"region": "US"})
    finish(client, "list-june.csv")
    assert "What do these words mean?" not in client.get("/lists/june.csv").text
    assert client.get("/lists/june.csv/files/clean").text.count("+1212") == 2
    client.post("/lists/june.csv/forget")
    client.post("/lists/june.csv/clean", data={"region": "US"})
    finish(client, "list-june.csv")
    assert "What do these words mean?" in client.get("/lists/june.csv").text


def test_a_country_is_asked_for_with_what_the_numbers_fit(
    client: httpx.Client, folder: Path
) -> None:
    """The firm's country is the default, and every country is named that the numbers fit."""
    (folder / "list.csv").write_text("Name,Phone\n" + "Ada,020 7946 0018\n" * 3)
    page = client.get("/lists/list.csv").text
    assert 'value="US"' in page
    assert "United Kingdom GB" in page


def test_a_cell_is_corrected_and_the_list_has_it(client: httpx.Client, folder: Path) -> None:
    """Judged at once; written with its history; still there when the list is cleaned again."""
    (folder / "list.csv").write_text("Name,Phone\nAda,(212) 736-5000\nBen,12\n")
    SuppressionList.beside(folder.parent / "store").add(
        [Entry("+12127365000", "complaint", "a letter", dt.date(2026, 10, 1))], NOW, run="run-1"
    )
    client.post("/lists/list.csv/clean", data={"region": "US"})
    finish(client, "list-list.csv")
    assert "read 1, met 1 of this file" in client.get("/lists/list.csv").text
    assert "Ben" in client.get("/lists/list.csv/cells").text
    edit = {"file": "list.csv", "line": "3", "column": "Phone"}
    json = {"accept": "application/json"}
    wrong = client.post("/lists/list.csv/cells", data={**edit, "value": "13"}, headers=json).json()
    assert (wrong["why"], wrong["left"]) == ("digits are missing", 1)
    right = client.post(
        "/lists/list.csv/cells", data={**edit, "value": "917-736-5002"}, headers=json
    ).json()
    assert (right["why"], right["left"], right["edits"]) == (None, 0, 2)
    assert "Not in the files yet: 2 corrections" in client.get("/lists/list.csv").text
    client.post("/lists/list.csv/cells/save")
    finish(client, "list-list.csv")
    assert "+19177365002" in client.get("/lists/list.csv/files/clean").text
    assert "917-736-5002" in client.get("/lists/list.csv/files/history").text
    assert "read 1, met 1 of this file" in client.get("/lists/list.csv").text
    client.post("/lists/list.csv/clean", data={"region": "US"})
    finish(client, "list-list.csv")
    assert "+19177365002" in client.get("/lists/list.csv/files/clean").text
    assert (folder / "list.csv").read_text().endswith("Ben,12\n")


def test_a_file_that_was_taken_away_is_made_again(client: httpx.Client, folder: Path) -> None:
    """The page and the download say so; a list that is gone has no page."""
    (folder / "list.csv").write_text("Name,Phone\nAda,(212) 736-5000\n")
    client.post("/lists/list.csv/clean", data={"region": "US"})
    finish(client, "list-list.csv")
    for path in (folder / "cleaned" / "list.csv").iterdir():
        path.unlink()
    assert client.get("/lists/list.csv").status_code == 200
    answer = client.get("/lists/list.csv/files/clean")
    assert answer.status_code == 400
    assert "clean the list again" in answer.text
    (folder / "list.csv").unlink()
    for action in ("", "/cells"):
        assert client.get(f"/lists/list.csv{action}").status_code == 400
    assert client.post("/lists/list.csv/clean", data={"region": "US"}).status_code == 400


def test_two_lists_of_one_name_keep_their_files_apart(client: httpx.Client, folder: Path) -> None:
    """`a.csv` and `a.tsv` would otherwise write the same files."""
    (folder / "a.csv").write_text("Name,Phone\nAda,(212) 736-5000\n")
    (folder / "a.tsv").write_text("Name\tPhone\nBen\t(212) 736-5001\n")
    for name in ("a.csv", "a.tsv"):
        client.post(f"/lists/{name}/clean", data={"region": "US"})
        finish(client, f"list-{name}")
    for name, number in (("a.csv", "5000"), ("a.tsv", "5001")):
        text = client.get(f"/lists/{name}/files/clean").text
        assert f"+1212736{number}" in text
        assert text.count("+1212") == 1


@pytest.mark.parametrize(
    "name", ["عملاء.csv", "näme mit # und ? %41.csv", "x" * 150 + ".csv", "a & <b>.csv"]
)
def test_any_name_has_its_page(client: httpx.Client, name: str) -> None:
    """Right to left, with signs of addresses, long."""
    answer = client.put("/lists/upload", params={"name": name}, content=b"Name,Phone\nAda,1\n")
    assert answer.status_code == 201
    page = client.get(answer.headers["location"])
    assert page.status_code == 200
    assert "<b>" not in page.text


@pytest.mark.parametrize("name", ["a\n.csv", "x" * 400 + ".csv", "a\u202egpj.csv", ".csv"])
def test_a_name_that_deceives_or_fits_nowhere_is_refused(client: httpx.Client, name: str) -> None:
    """With a sentence."""
    answer = client.put("/lists/upload", params={"name": name}, content=b"Name,Phone\nAda,1\n")
    assert answer.status_code == 415


def test_only_lists_of_the_folder_have_a_page(client: httpx.Client, folder: Path) -> None:
    """Neither settings, hidden files, nor what a link leads to elsewhere; uploads are the owner's alone."""
    (folder / "dialframe.toml").write_text("secret = 1")
    (folder / ".hidden.csv").write_text("secret,1")
    (folder.parent / "other.csv").write_text("secret,1")
    (folder / "link.csv").symlink_to(folder.parent / "other.csv")
    for name in ("dialframe.toml", ".hidden.csv", "link.csv"):
        answer = client.get(f"/lists/{name}")
        assert answer.status_code == 400
        assert "secret" not in answer.text
        assert name not in client.get("/lists").text
    client.put("/lists/upload", params={"name": "own.csv"}, content=b"Name,Phone\nAda,1\n")
    assert stat.S_IMODE((folder / "own.csv").stat().st_mode) == 0o600
    assert [path.name for path in folder.iterdir() if path.name.endswith(".part")] == []


def test_a_list_is_imported_by_its_plan(folder: Path, tmp_path: Path) -> None:
    """Planned first, with leads in clear; the plan of an older cleaning sends nothing."""
    (folder / "list.csv").write_text("Name,Phone\nAda,(212) 736-5000\nBen,12\n")
    with (
        dialframe.sandbox.start(size="tiny", as_of=dt.date(2026, 10, 30)) as box,
        dialframe.connect(
            box.base_url, box.api_key, tmp_path / "store", environment={}
        ) as account,
    ):
        account.sync(["campaigns", "calls", "leads"])
        with (
            serve(folder, lambda: dialframe.connect(box.base_url, box.api_key, tmp_path / "store"),
                  firm=REGION) as running,
            login(running) as client,
        ):  # fmt: skip
            client.post("/lists/list.csv/clean", data={"region": "US"})
            finish(client, "list-list.csv")
            page = client.get("/lists/list.csv").text
            option = re.search(r'<option value="(cmp_[^"]+)">', page)
            assert option is not None
            campaign = {"campaign": option[1]}
            assert client.post("/lists/list.csv/import", data=campaign).status_code == 400
            client.post("/lists/list.csv/plan", data=campaign)
            finish(client, "plan-list.csv")
            page = client.get("/lists/list.csv").text
            assert "nothing was sent yet" in page
            assert "+12127365000" in page
            client.post("/lists/list.csv/clean", data={"region": "US"})
            finish(client, "list-list.csv")
            assert client.post("/lists/list.csv/import", data=campaign).status_code == 400
            client.post("/lists/list.csv/plan", data=campaign)
            finish(client, "plan-list.csv")
            client.post("/lists/list.csv/import", data=campaign)
            finish(client, "import-list.csv")
            assert "1 lead sent: 1 accepted" in client.get("/lists/list.csv").text
