"""`dialframe leads import` shows what it is about to do, and sends nothing that is not sure or not wanted."""

from __future__ import annotations

import json
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
    """It has the campaign, samples of each column, masked, countries, and who is held back."""
    status, facts = go("--dry-run")
    plan = json.loads(Path(facts["files"]["plan"]).read_text())
    assert (status, facts["sent"]) == (0, 0)
    assert plan == facts["plan"]
    assert plan["campaign"] == {"id": CAMPAIGN, "name": "Dental", "status": "paused"}
    assert (plan["to_send"], plan["countries"]) == (2, {"US": 2})
    assert plan["held_back"]["rejected"] == {"phone_too_short": 1}
    assert plan["files"][0]["columns"]["phone"]["Phone"][0].startswith("(212")
    assert "0142" not in json.dumps(plan)
    assert (fake.checked, fake.imports) == ([], [])
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["autumn.plan.json"]


def test_without_a_yes_nothing_is_sent_in_a_pipe(go: Go, fake: Fake) -> None:
    status, facts = go()
    assert status == 2
    assert "--yes" in facts["error"]["message"]
    assert (fake.checked, fake.imports) == ([], [])


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


@pytest.mark.parametrize("status", ["running", "completed"])
def test_a_campaign_that_takes_no_leads_costs_no_check(go: Go, fake: Fake, status: str) -> None:
    """It is refused before a file is read; only a running one can be paused."""
    fake.told[WHERE] = 200, campaign(status)
    ended, facts = go("--yes")
    assert ended == 2
    assert f"is {status}" in facts["error"]["message"]
    assert ("pause it first" in facts["error"]["message"]) == (status == "running")
    assert (fake.checked, fake.imports) == ([], [])


def test_a_campaign_that_is_not_there_costs_no_check(go: Go, fake: Fake) -> None:
    fake.told[WHERE] = 404, {"code": "not_found"}
    assert go("--yes")[0] == 1
    assert (fake.checked, fake.imports) == ([], [])


def test_a_key_without_the_scope_costs_no_check(go: Go, fake: Fake) -> None:
    fake.told["/v1/me"] = 200, {"scopes": ["leads:read", "dnc:check"]}
    status, facts = go("--yes")
    assert status == 2
    assert "leads:write" in facts["error"]["message"]
    assert (fake.checked, fake.imports) == ([], [])


def test_a_doubt_about_who_is_dialed_stops_a_yes_until_it_is_answered(
    go: Go, fake: Fake, file: Path
) -> None:
    """A phone column that only its cells tell is a guess; an option that names it is none."""
    file.write_text("Name,Reach\nAda,(212) 555-0142\nBob,(212) 555-0143\n")
    status, facts = go("--yes")
    assert status == 2
    assert "--column 'phone=Reach'" in facts["error"]["message"]
    assert (fake.checked, fake.imports) == ([], [])
    status, facts = go("--dry-run")
    assert (status, facts["plan"]["doubts"][0]["about"]) == (3, "phone")
    status, facts = go("--yes", "--column", "phone=Reach")
    assert (status, facts["accepted"]) == (0, 2)


def test_nothing_clean_is_no_success(go: Go, fake: Fake, file: Path) -> None:
    file.write_text("Name,Phone\nAda,12\nBob,13\n")
    status, _ = go("--yes")
    assert status == 2
    assert (fake.checked, fake.imports) == ([], [])


def test_an_answer_for_another_campaign_says_nothing_of_the_leads(
    go: Go, fake: Fake, tmp_path: Path
) -> None:
    """It ends with a failure, and the ledger counts nobody as accepted."""
    fake.answered_for = CAMPAIGN.replace("3", "4")
    status, _ = go("--yes")
    assert status in (1, 3)
    ledger = (tmp_path / "out" / "autumn.import.csv").read_text()
    assert ledger.count(",unknown,") >= 2
    assert "accepted" not in ledger


def test_a_number_on_a_suppression_file_is_not_sent(go: Go, fake: Fake, tmp_path: Path) -> None:
    """Nor one of the firm's own list, to which the opt-outs of every list are added."""
    stop = tmp_path / "stop.txt"
    stop.write_text("+12125550142\n")
    status, facts = go("--yes", "--suppress", str(stop))
    assert (status, facts["accepted"]) == (0, 1)
    assert facts["reasons"]["do_not_call"] == {"suppressed": 1}
    assert set(fake.leads) == {"+12125550143"}
