"""Any dialer's export becomes an account: every line is loaded or set aside, and its analyses count what is there."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cli.commands import invoke
from dialframe import analytics
from dialframe.account.connecting import loaded_account
from dialframe.errors import ConfigError
from dialframe.flows import call_load

SAMPLES = Path(__file__).parents[2] / "data_samples" / "calls"
NOW = datetime(2026, 4, 1, tzinfo=UTC)
EXPECTED = tomllib.loads((SAMPLES / "expected.toml").read_text(encoding="utf-8"))
LOAD = ("--region", "US", "--zone", "America/New_York")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a store of somebody without a service."""
    for name in ("BASE_URL", "API_KEY"):
        monkeypatch.delenv(f"DIALFRAME_{name}", raising=False)
    monkeypatch.setenv("DIALFRAME_STORE", str(tmp_path / "store"))
    return tmp_path / "store"


@pytest.mark.parametrize("profile", EXPECTED)
def test_a_month_goes_from_file_to_answers(profile: str, store: Path) -> None:
    """Two commands, and each count is the expected one; a second time nothing changes."""
    e = EXPECTED[profile]
    for _ in range(2):
        done = invoke(
            "load calls", SAMPLES / e["file"], "--as", profile, *LOAD, "--json", ends=3
        ).facts
        aside = done["files"][0]["set_aside"]
        assert (done["rows"], aside) == (e["rows"], e["set_aside"])
        assert done["loaded"] + sum(aside.values()) == e["rows"]
    funnel = {row["stage"]: row for row in invoke("analyze funnel --json").facts["table"]}
    assert {stage: funnel[stage]["count"] for stage in e["funnel"]} == e["funnel"]
    assert funnel["human"]["unknown"] == e["nobody_knows"]
    hours = {
        row["level"].split(":")[0]: [row["numerator"], row["denominator"]]
        for row in invoke("analyze hours --json").facts["table"] if row["dimension"] == "hour"
    }  # fmt: skip
    assert hours == e["hours"]
    audit = invoke("audit --rules us --json", ends=3).facts
    hours_check = next(c for c in audit["checks"] if c["name"] == "calling_hours")
    assert (hours_check["checked"], hours_check["violation"]) == (e["audited"], e["outside_hours"])
    # Nobody screened these numbers: no lead was taken in by a service.
    coverage = next(c for c in audit["checks"] if c["name"] == "scrub_coverage")
    assert coverage["not_evaluable"] == coverage["checked"]
    assert "sync" not in " ".join(audit["gaps"])


def test_an_answer_of_nobody_knows_whom_is_never_no(store: Path, tmp_path: Path) -> None:
    """A log that does not say who answered leaves bounds, in every analysis and in the report."""
    invoke(
        "load calls",
        SAMPLES / EXPECTED["ringcentral"]["file"],
        "--as",
        "ringcentral",
        *LOAD,
        ends=3,
    )
    human = invoke("analyze funnel --json").facts["table"][4]
    assert (human["count"], human["unknown"], human["of_previous"], human["of_loaded"]) == (
        0,
        27,
        None,
        None,
    )
    assert human["high"] > 27 / 81
    for name in (
        "hours",
        "attempts",
        "time_to_contact",
        "speed_to_lead",
        "cohorts",
        "caller_ids",
        "scorecard",
    ):
        answer = invoke(f"analyze {name} --json").facts
        assert "of 27 of 81 answered calls nothing says by whom" in answer["answer"], name
        assert all(
            row.get("rate") is None and row.get("high") is None for row in answer["table"]
        ), name
    assert "0 to 27 reached a person" in invoke("report --out", tmp_path / "page").out
    assert "no lead was dialed" not in str(invoke("analyze speed_to_lead --json").facts["claims"])


def test_what_was_loaded_says_so(store: Path) -> None:
    """The table is complete as files go; a gate holds numbers as an audit would, and asks for no sync."""
    invoke("load calls", SAMPLES / EXPECTED["twilio"]["file"], "--as", "twilio", *LOAD, ends=3)
    sentence = invoke("store info --json").facts["freshness"]["calls"]
    assert sentence.startswith("calls: what files said that were loaded by")
    verdict = invoke("gate check +12125550101 --json", ends=None).facts["verdicts"][0]
    assert verdict["verdict"] == "held"


def test_a_person_is_a_person_and_unknown_is_unknown(tmp_path: Path) -> None:
    """Twilio says human or machine: people are counted, and nobody is said to be the person wanted."""
    with loaded_account(tmp_path) as account:
        call_load.load(
            account, "calls", SAMPLES / "twilio_calls.csv", profile="twilio", region="US", now=NOW
        )
        row = (
            analytics.summary(account.calls()).table.set_index("metric").loc["human_contact_rate"]
        )
    assert row["numerator"] > 15
    assert row["unknown"] == 0


def test_times_without_a_zone_ask_for_one(tmp_path: Path) -> None:
    """Nothing guesses whose clock it is."""
    with loaded_account(tmp_path) as account, pytest.raises(ConfigError, match="--zone"):
        call_load.load(
            account,
            "calls",
            SAMPLES / "vicidial_export_calls.csv",
            profile="vicidial",
            region="US",
            now=NOW,
        )


def test_what_reads_leads_reads_no_calls(tmp_path: Path) -> None:
    """A profile of another kind, or none, is refused with the names of those that fit."""
    with loaded_account(tmp_path) as account:
        for name in ("hubspot", "nothing"):
            with pytest.raises(ConfigError, match=r"twilio_calls|known:"):
                call_load.load(
                    account, "calls", SAMPLES / "twilio_calls.csv", profile=name, now=NOW
                )
