"""`dialframe funnel` and `dialframe report`: table, picture, page, and refusals in words."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import dialframe
from cli.commands import invoke
from dialframe.evidence import EvidenceLog, Record

OWN_CODES = '[disposition]\n"NI" = "callback"\n'


@pytest.fixture(scope="module")
def service(unlimited: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """A tiny account that was synced, with a draft campaign without leads."""
    store = tmp_path_factory.mktemp("store")
    with dialframe.sandbox.start(size="tiny", seed=3) as started:
        started.console.update_account({"rate_limits": None})
        draft = started.console.create_campaign(started.client_id, "spring", status="draft")
        with dialframe.connect(started.base_url, started.api_key, store) as account:
            account.sync()
            phones = set(account.leads()["phone"].dropna())
        yield {
            "draft": draft["id"],
            "phones": phones,
            "environment": {
                "DIALFRAME_BASE_URL": started.base_url,
                "DIALFRAME_API_KEY": started.api_key,
                "DIALFRAME_STORE": str(store),
            },
        }


@pytest.fixture
def synced(service: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The environment of somebody whose store is up to date."""
    for name, value in service["environment"].items():
        monkeypatch.setenv(name, value)
    return service


def _counts(found: dict[str, Any]) -> list[int]:
    return [row["count"] for row in found["stages"]]


@pytest.mark.usefixtures("synced")
def test_table_names_every_stage() -> None:
    """A person sees all eight stages with shares, and what was not counted."""
    out = invoke("funnel").out

    stages = ("Loaded", "Accepted", "Attempted", "Connected", "Reached a person", "Right person",
              "Positive", "Appointment")  # fmt: skip
    assert [line.split("  ")[0] for line in out.splitlines()[3:11]] == list(stages)
    assert "Set aside:" in out


@pytest.mark.usefixtures("synced")
def test_a_funnel_without_a_picture_loads_nothing_that_draws() -> None:
    """Stages as JSON need no matplotlib."""
    code = (
        "import sys; from dialframe.cli.entry_point import run; run(['funnel', '--json']); "
        "print(sorted({'matplotlib', 'PIL'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    *facts, loaded = done.stdout.splitlines()

    assert json.loads("\n".join(facts))["stages"]
    assert loaded == "[]"


@pytest.mark.usefixtures("synced")
def test_stages_shrink_in_every_order() -> None:
    """No stage is greater than the one before; `any` has all that `ordered` has, that all of `strict`."""
    found = {o: _counts(invoke("funnel --json --order", o).facts) for o in ("strict", "ordered", "any")}  # fmt: skip

    assert all(counts == sorted(counts, reverse=True) for counts in found.values())
    triples = zip(found["strict"], found["ordered"], found["any"], strict=True)
    assert all(a <= b <= c for a, b, c in triples)


@pytest.mark.usefixtures("synced")
def test_groups_add_up_to_the_whole() -> None:
    """Split by source, the stages of all groups sum to the funnel of all leads."""
    whole = _counts(invoke("funnel --json").facts)
    split = invoke("funnel --json --by lead_source").facts["stages"]

    names = list(dict.fromkeys(row["stage"] for row in split))
    assert [sum(r["count"] for r in split if r["stage"] == n) for n in names] == whole
    assert len({row["lead_source"] for row in split}) > 1


@pytest.mark.usefixtures("synced")
def test_window_sets_young_leads_apart() -> None:
    """Leads whose time is not over are censored: counted, and in no stage."""
    whole = invoke("funnel --json").facts
    found = invoke("funnel --json --window 30d").facts

    assert found["parameters"]["window_s"] == 30 * 86_400
    assert found["parameters"]["censored"] > 0
    assert _counts(found)[1] + found["parameters"]["censored"] == _counts(whole)[1]


@pytest.mark.usefixtures("synced")
def test_period_leaves_calls_out() -> None:
    """Calls outside `--since` and `--until` are set aside and counted."""
    whole = invoke("funnel --json").facts
    since = whole["as_of"][:10]
    found = invoke("funnel --json --since", since).facts

    aside = {row["reason"]: row["count"] for row in found["excluded"]}
    assert aside["outside_window"] > 0
    assert _counts(found)[2] < _counts(whole)[2]


def test_draft_campaign_is_empty_and_not_refused(synced: dict[str, Any]) -> None:
    """A campaign without leads has a funnel of noughts, with null where there is nothing to divide by."""
    found = invoke("funnel --json --campaign", synced["draft"]).facts

    assert _counts(found) == [0] * 8
    assert {row["of_previous"] for row in found["stages"]} == {None}


@pytest.mark.usefixtures("synced")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--campaign", "cmp_nope"], "cmp_nope"),
        (["--by", "shoe_size"], "lead_source"),
        (["--window", "0d"], "window"),
        (["--window", "9999999w"], "window"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_is_refused_in_words(arguments: list[str], words: str) -> None:
    """Status 2 and a sentence that names what is wrong or what can be had."""
    err = invoke("funnel", *arguments, ends=2).err
    assert words in err
    assert "Traceback" not in err
    assert "fault of dialframe" not in err


@pytest.mark.usefixtures("synced")
@pytest.mark.parametrize(("name", "begins"), [("f.png", b"\x89PNG"), ("f.svg", b"<?xml")])
def test_picture_is_a_file_of_its_kind(tmp_path: Path, name: str, begins: bytes) -> None:
    """The picture is written whole, for its owner alone."""
    file = tmp_path / name
    invoke("funnel --picture", file)
    assert file.read_bytes().startswith(begins)
    assert file.stat().st_mode & 0o777 == 0o600


class _Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.images: list[dict[str, str | None]] = []
        self.names: list[str] = []
        self.addresses: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        found = dict(attrs)
        if tag == "img":
            self.images.append(found)
        self.addresses += [str(found[name]) for name in ("src", "href") if name in found]


def test_report_is_one_page_with_pictures_words_and_tables(
    synced: dict[str, Any], tmp_path: Path
) -> None:
    """Every picture has its words, every part its table; nothing is fetched, no person's number shown.

    The codes of a file are named.
    """
    # All that is left of an evidence log.
    evidence = EvidenceLog.beside(Path(os.environ["DIALFRAME_STORE"]))
    evidence.append([Record("audit", datetime.now(UTC))])
    log = evidence.path
    whole = log.read_bytes()
    log.write_bytes(whole[:9])
    codes = tmp_path / "codes.toml"
    codes.write_text(OWN_CODES, encoding="utf-8")
    found = invoke("report --json --out", tmp_path / "out", "--codes", codes).facts
    log.write_bytes(whole)
    file = Path(found["file"])
    text = file.read_text(encoding="utf-8")
    page = _Page(text)

    assert "the write journal, which keeps requests not to be called and consents: " in text

    assert list(file.parent.iterdir()) == [file]
    assert file.stat().st_mode & 0o777 == 0o600
    assert len(page.images) == found["pictures"] > 10
    assert all(str(image["alt"]).strip() for image in page.images)
    assert page.names.count("table") >= found["sections"] - 1
    assert all(address.startswith(("data:", "#")) for address in page.addresses)
    assert not {"script", "link", "iframe"} & set(page.names)
    assert not [phone for phone in synced["phones"] if phone in text]
    assert found["findings"]
    assert invoke("funnel --json --codes", codes).facts["taxonomy"] in text


def test_report_on_nothing_is_refused(synced: dict[str, Any], tmp_path: Path) -> None:
    """A campaign without leads and calls has nothing to report: status 2, and no file."""
    out = tmp_path / "out"
    invoke("report --out", out, "--campaign", synced["draft"], ends=2, err="nothing to report")
    assert not out.exists()


@pytest.mark.parametrize("command", ["funnel", "report"])
def test_nothing_synced_is_no_result(
    command: str, service: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the first sync both say so and end with status 1."""
    for name, value in (service["environment"] | {"DIALFRAME_STORE": str(tmp_path)}).items():
        monkeypatch.setenv(name, value)
    more = ["--out", tmp_path / "out"] if command == "report" else []
    invoke(command, *more, ends=1, err="dialframe sync")


@pytest.mark.usefixtures("synced")
def test_people_read_names_and_machines_ids() -> None:
    """Split by campaign, the table has the names of the campaigns and the object their ids."""
    found = invoke("funnel --json --by campaign_id").facts
    assert all(row["campaign_id"].startswith("cmp_") for row in found["stages"])

    out = invoke("funnel --by campaign_id").out
    assert "cmp_" not in out
    assert "Home insurance renewals" in out


@pytest.mark.usefixtures("synced")
def test_own_codes_come_from_a_file(tmp_path: Path) -> None:
    """A mapping changes the taxonomy of the funnel, and a slip in it is refused."""
    file = tmp_path / "codes.toml"
    file.write_text(OWN_CODES, encoding="utf-8")
    usual = invoke("funnel --json").facts
    own = invoke("funnel --json --codes", file).facts
    assert own["taxonomy"] != usual["taxonomy"]
    file.write_text('[disposition]\n"NI" = "calback"\n', encoding="utf-8")
    invoke("funnel --codes", file, ends=2, err="did you mean 'callback'")
