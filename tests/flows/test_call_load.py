"""Any dialer's export becomes an account: every line is loaded or set aside, and its analyses count what is there."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from dialframe import analytics
from dialframe.account.connecting import connect, loaded_account
from dialframe.errors import ConfigError
from dialframe.flows import call_load

SAMPLES = Path(__file__).parents[2] / "data_samples" / "calls"
NOW = datetime(2026, 4, 1, tzinfo=UTC)
#: File and profile: rows, reasons to set aside; of what was loaded outbound calls, answered, people, machines.
EXPECTED = {
    ("vicidial_export_calls.csv", "vicidial"): (241, {"no_number": 15, "repeated": 1}),
    ("twilio_calls.csv", "twilio"): (240, {"no_direction": 1, "no_number": 13}),
    ("five9_call_log.csv", "five9"): (240, {"no_number": 15, "no_start": 1}),
    ("aircall_calls.csv", "aircall"): (240, {"no_number": 15}),
    ("genesys_interactions.csv", "genesys"): (240, {"no_number": 15}),
    ("ringcentral_call_log.csv", "ringcentral"): (240, {"no_number": 13}),
}


@pytest.mark.parametrize(("file", "profile"), EXPECTED)
def test_every_line_of_an_export_is_accounted_for(file: str, profile: str, tmp_path: Path) -> None:
    """Rows are loaded and set aside; a second time nothing changes; funnel, hours and summary read the account."""
    rows, aside = EXPECTED[file, profile]
    with loaded_account(tmp_path) as account:
        for _ in range(2):
            done = call_load.load(account, "calls", SAMPLES / file, profile=profile, region="US",
                                  zone="America/New_York", now=NOW)  # fmt: skip
            assert (done.rows, dict(done.set_aside)) == (rows, aside)
            assert done.loaded + sum(aside.values()) == rows
            assert len(account.calls()) == done.loaded
    # No service is named: what was loaded is the account.
    with connect(store=tmp_path, environment={}) as account:
        calls, leads = account.calls(), account.leads()
        outbound = calls[(calls["direction"] == "outbound").to_numpy(bool)]
        table = analytics.summary(calls, leads).table.set_index("metric")
        assert table.loc["connection_rate", "denominator"] == len(outbound)
        assert (
            table.loc["connection_rate", "numerator"] == outbound["answered_at"].notna().sum() > 50
        )
        assert table.loc["machine_share", "numerator"] > 30
        funnel = analytics.funnel(calls, leads).table.set_index("stage")["count"]
        assert funnel["attempted"] == funnel["loaded"] > 150
        assert analytics.hours(calls, leads).answer


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
