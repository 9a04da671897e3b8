"""`dialframe leads import` shows what it is about to do, and sends nothing that is not sure or not wanted."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dialframe.cli import lead_options, leads_commands
from robustness.import_service import CAMPAIGN, Fake

LIST = (
    "Name,Phone,City\nAda Lane,(212) 555-0142,Rome\nBob Rowe,(212) 555-0143,Bonn\nCy Poe,12,Pisa\n"
)
WHERE = f"/v1/campaigns/{CAMPAIGN}"

Go = Callable[..., tuple[int, dict[str, Any]]]


def campaign(status: str) -> dict[str, Any]:
    """A campaign as the service shows it."""
    nothing = dict.fromkeys(("updated_at", "started_at", "completed_at"))
    facts = {"id": CAMPAIGN, "name": "Dental", "status": status, "dialer_mode": "predictive"}
    return {**facts, "created_at": "2026-01-01T00:00:00Z", **nothing}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Two leads and a number that is none."""
    path = tmp_path / "autumn.csv"
    path.write_text(LIST)
    return path


@pytest.fixture(autouse=True)
def _paused(fake: Fake) -> None:
    """The service's campaign is paused."""
    fake.told[WHERE] = 200, campaign("paused")


@pytest.fixture
def go(importing: Callable[..., int], file: Path, capsys: pytest.CaptureFixture[str]) -> Go:
    """Runs the import: its status and its JSON."""

    def do(*more: str) -> tuple[int, dict[str, Any]]:
        status = importing(file, "--region", "US", "--json", *more)
        return status, json.loads(capsys.readouterr().out)

    return do


def test_a_dry_run_writes_the_plan_and_sends_nothing(go: Go, fake: Fake, tmp_path: Path) -> None:
    """It has the campaign, five cells of each column in clear, countries, and who is held back."""
    status, facts = go("--dry-run")
    plan = json.loads(Path(facts["files"]["plan"]).read_text())
    assert (status, facts["sent"]) == (0, 0)
    assert plan == facts["plan"]
    assert plan["campaign"] == {"id": CAMPAIGN, "name": "Dental", "status": "paused"}
    assert (plan["to_send"], plan["countries"]) == (2, {"US": 2})
    assert plan["held_back"]["rejected"] == {"phone_too_short": 1}
    assert plan["files"][0]["columns"]["phone"]["Phone"][0] == "(212) 555-0142"
    assert (fake.checked, fake.imports) == ([], [])
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["autumn.plan.json"]


@pytest.mark.parametrize(("said", "sent"), [("y", 2), ("n", 0), ("", 0)])
def test_a_person_confirms(
    fake: Fake,
    importing: Callable[..., int],
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    said: str,
    sent: int,
) -> None:
    """The plan is shown before the question, and Enter is a no."""
    monkeypatch.setattr(leads_commands, "at_terminal", lambda: True)
    monkeypatch.setattr(lead_options, "at_terminal", lambda: False)
    monkeypatch.setattr("sys.stdin", __import__("io").StringIO(f"{said}\n"))
    importing(file, "--region", "US")
    out = capsys.readouterr().out
    assert "Dental, paused" in out
    assert "countries of the clean numbers: US 2" in out
    assert "2 leads to be checked against Do-Not-Call and sent" in out
    assert len(fake.leads) == sent
    assert bool(fake.checked) == bool(sent)


GUESSED = "Name,Reach\nAda,(212) 555-0142\nBob,(212) 555-0143\n"
#: Answers of the service by path, the file, options, and the exit status and words that an import ends with.
NOTHING_SENT: dict[str, tuple[dict[str, Any], str, list[str], int, str]] = {
    "nobody says yes, in a pipe": ({}, LIST, [], 2, "--yes"),
    # Only a running campaign can be paused.
    "the campaign runs": ({WHERE: (200, campaign("running"))}, LIST, ["--yes"], 2,
                          "is running.*pause it first"),
    "the campaign is over": ({WHERE: (200, campaign("completed"))}, LIST, ["--yes"], 2,
                             "is completed(?!.*pause it first)"),
    "no such campaign": ({WHERE: (404, {"code": "not_found"})}, LIST, ["--yes"], 1, "not_found"),
    "a key without the scope": ({"/v1/me": (200, {"scopes": ["leads:read", "dnc:check"]})}, LIST,
                                ["--yes"], 2, "leads:write"),
    "nothing is clean": ({}, "Name,Phone\nAda,12\nBob,13\n", ["--yes", "--column", "phone=Phone"], 2, "none of the 2 records is clean"),
    # A phone column that only its cells tell is a guess.
    "a doubt about who is dialed": ({}, GUESSED, ["--yes"], 2, "--column 'phone=Reach'"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("told", "content", "options", "ends", "words"), NOTHING_SENT.values(), ids=NOTHING_SENT
)
def test_what_is_not_sure_costs_no_check_and_sends_nothing(
    go: Go, fake: Fake, file: Path,
    told: dict[str, Any], content: str, options: list[str], ends: int, words: str,
) -> None:  # fmt: skip
    """The exit status says that it failed, and the message why."""
    fake.told |= told
    file.write_text(content)
    status, facts = go(*options)
    assert status == ends
    assert re.search(words, facts["error"]["message"]), facts["error"]
    assert (fake.checked, fake.imports) == ([], [])


def test_a_doubt_about_who_is_dialed_is_answered_by_an_option(go: Go, file: Path) -> None:
    """A plan names it; an option that names the column leaves none."""
    file.write_text(GUESSED)
    status, facts = go("--dry-run")
    assert (status, facts["plan"]["doubts"][0]["about"]) == (3, "phone")
    status, facts = go("--yes", "--column", "phone=Reach")
    assert (status, facts["accepted"]) == (0, 2)


def test_a_number_on_a_suppression_file_is_not_sent(go: Go, fake: Fake, tmp_path: Path) -> None:
    """Nor one of the firm's own list, to which the opt-outs of every list are added."""
    stop = tmp_path / "stop.txt"
    stop.write_text("+12125550142\n")
    status, facts = go("--yes", "--suppress", str(stop))
    assert (status, facts["accepted"]) == (0, 1)
    assert facts["reasons"]["do_not_call"] == {"suppressed": 1}
    assert set(fake.leads) == {"+12125550143"}
