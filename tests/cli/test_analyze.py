"""`dialframe analyze` and `export`: the store alone answers, and campaigns go by their names."""

from __future__ import annotations

from pathlib import Path

import pytest

import dialframe
from cli.commands import invoke
from dialframe.cli.load_and_analyze_commands import ANALYSES


@pytest.fixture(scope="module")
def store(unlimited: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that was filled once, and whose service is gone."""
    folder = tmp_path_factory.mktemp("store")
    with dialframe.sandbox.start(size="tiny", seed=3) as started:
        started.console.update_account({"rate_limits": None})
        with dialframe.connect(started.base_url, started.api_key, folder) as account:
            account.sync()
    return folder


@pytest.fixture(autouse=True)
def offline(store: Path, nothing_set: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIALFRAME_STORE", str(store))


@pytest.mark.parametrize("name", [name for name in ANALYSES if name not in ("compare", "rank")])
def test_every_question_is_answered_without_a_service(name: str) -> None:
    ran = invoke("analyze", name, "--json")
    assert ran.status == 0, ran.err
    assert {"answer", "claims", "table"} <= set(ran.facts)
    assert ran.facts["answer"]


def test_campaigns_go_by_their_names() -> None:
    ran = invoke(
        "analyze",
        "compare",
        "--a",
        "Home insurance renewals",
        "--b",
        "solar survey follow-up",
        "--json",
    )
    assert ran.status == 0, ran.err
    assert ran.facts["table"][0]["denominator_a"] > 0
    one = invoke("analyze", "attempts", "--campaign", "Home insurance renewals", "--json")
    every = invoke("analyze", "attempts", "--json")
    assert 0 < one.facts["table"][0]["attempts"] < every.facts["table"][0]["attempts"]
    wrong = invoke("analyze", "attempts", "--campaign", "Home insurence renewals", ends=2)
    assert "did you mean 'Home insurance renewals'" in wrong.err


def test_an_option_that_a_question_does_not_take_is_refused() -> None:
    for name, option, value in (
        ("duplicates", "--campaign", "Winter tyres"),
        ("reconcile", "--since", "2026-10-01"),
        ("hours", "--a", "Winter tyres"),
    ):
        assert f"takes no {option}" in invoke("analyze", name, option, value, ends=2).err
    assert "compare needs two campaigns" in invoke("analyze", "compare", ends=2).err


def test_only_what_the_gate_lets_through_is_ranked() -> None:
    """Without a scrub at the call nobody may be called, and everybody is held with the check that holds."""
    ran = invoke("analyze", "rank", "--json")
    assert ran.facts["answer"]
    assert ran.facts["table"] == []
    held = ran.facts["tables"]["held"]
    assert {row["held_by"] for row in held} > {"scrub_at_call"}
    assert all(row["held_by"] for row in held)


def test_hours_of_a_forecast_are_of_the_zone_and_closed_days_have_none() -> None:
    ran = invoke("analyze", "forecast", "--zone", "America/New_York", "--json")
    day = ran.facts["tables"]["days"][0]["day"]
    assert ran.facts["parameters"]["zone"] == "America/New_York"
    other = invoke("analyze", "forecast", "--closed", day, "--json")
    assert other.facts["tables"]["days"][0]["day"] > day
    assert "options of analyze forecast" in invoke("analyze", "hours", "--closed", day, ends=2).err


def test_a_stored_table_is_exported_without_a_service(tmp_path: Path) -> None:
    ran = invoke("export", "calls", "--to", str(tmp_path / "calls.csv"), "--json")
    assert ran.status == 0, ran.err
    assert ran.facts["rows"] > 0
