"""`dialframe leads import` against a service that cuts lines, refuses and forgets: no lead lost or doubled."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from client.fakes import a_lead
from dialframe.evidence import EvidenceLog
from dialframe.files import LOCK, alone
from robustness.import_service import CAMPAIGN, Fake

Go = Callable[..., tuple[int, dict[str, Any], str]]
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
Twist = Callable[[dict[str, Any]], Any]


@pytest.fixture
def lead_list(tmp_path: Path) -> Path:
    """450 leads in a file."""
    file = tmp_path / "autumn.csv"
    numbers = (
        f"({code}) 555-01{last:02d}" for code in (212, 312, 415, 206, 305) for last in range(90)
    )
    rows = [f"A-{at},Ada Lane,{number},Berlin" for at, number in enumerate(numbers)]
    file.write_text("\n".join(["Lead ID,Name,Phone,City", *rows]) + "\n")
    return file


@pytest.fixture
def go(importing: Callable[..., int], lead_list: Path, capsys: pytest.CaptureFixture[str]) -> Go:
    """Runs the import: its status, its JSON, what it said on standard error."""

    def do(*more: str) -> tuple[int, dict[str, Any], str]:
        status = importing(lead_list, "--region", "US", "--json", "--yes", *more)
        captured = capsys.readouterr()
        return status, json.loads(captured.out or "{}"), captured.err

    return do


def ledger(folder: Path) -> list[dict[str, str]]:
    """The rows of the ledger."""
    with (folder / "out" / "autumn.import.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def check_whole(fake: Fake, facts: dict[str, Any]) -> None:
    """Every lead once, every key with one body, the ledger balanced."""
    assert len(fake.leads) == 450
    assert sorted(lead["external_id"] for lead in fake.leads.values()) == sorted(
        f"A-{at}" for at in range(450)
    )
    assert all(len(bodies) == 1 for bodies in fake.keys.values())
    assert facts["sent"] == facts["accepted"] + facts["refused"] + facts["unknown"] == 450
    assert facts["accepted"] == 450


@pytest.mark.parametrize("trouble", ["drop", "lose"])
def test_line_cut_once_is_asked_again(fake: Fake, go: Go, trouble: str) -> None:
    """A request whose answer never came is repeated with its key and its bytes."""
    fake.trouble = lambda n: trouble if n == 2 else None
    status, facts, _ = go()

    assert status == 0
    check_whole(fake, facts)
    assert len(fake.keys) == 3


def test_line_that_stays_cut_ends_the_run_and_not_the_import(
    fake: Fake, go: Go, tmp_path: Path
) -> None:
    """The run fails in one sentence with a ledger of how far it came; the next one goes on."""
    fake.trouble = lambda n: "lose" if n >= 2 else None
    status, _, err = go()
    half = ledger(tmp_path)
    fake.trouble = lambda _: None
    again, facts, _ = go()

    assert status == 1
    assert len(err.strip().splitlines()) == 1
    assert [row["outcome"] for row in half].count("accepted") == 200
    assert [row["outcome"] for row in half].count("unknown") == 200
    assert [row["outcome"] for row in half].count("waiting") == 50
    assert again == 0
    check_whole(fake, facts)
    assert len(fake.keys) == 3


def test_refused_batch_is_a_file_to_send_again(
    fake: Fake, go: Go, importing: Callable[..., int]
) -> None:
    """The leads of a batch that was refused as a whole are a list of their own, fit to be imported."""
    fake.trouble = lambda n: (422, "validation_failed") if n == 2 else None
    status, facts, _ = go()
    again = Path(facts["files"]["send_again"])

    assert status == 0
    assert (facts["accepted"], facts["refused"], facts["unknown"]) == (250, 200, 0)
    assert facts["answers"]["batch_refused: validation_failed"] == 200

    fake.trouble = lambda _: None
    assert importing(again, "--yes", out="2") == 0
    assert len(fake.leads) == 450
    assert fake.leads["+12125550142"]["custom_fields"] == {"City": "Berlin"}
    assert fake.leads["+13125550150"]["full_name"] == "Ada Lane"


def rows_as(change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> Twist:
    """An answer with other results."""
    return lambda answer: {**answer, "data": change([dict(row) for row in answer["data"]])}


LIES: dict[str, Twist] = {
    "a result missing": rows_as(lambda rows: rows[:-1]),
    "a result too many": rows_as(lambda rows: [*rows, {**rows[0], "index": len(rows)}]),
    "no results": rows_as(lambda _: []),
    "another index": rows_as(lambda rows: [{**rows[0], "index": 7_000}, *rows[1:]]),
    "an index below 0": rows_as(lambda rows: [{**rows[0], "index": -1}, *rows[1:]]),
    "an index twice": rows_as(lambda rows: [{**rows[0], "index": 1}, *rows[1:]]),
    "another lead": rows_as(lambda rows: [{**rows[0], "external_id": "B-1"}, *rows[1:]]),
    "an outcome nobody knows": rows_as(lambda rows: [{**rows[0], "status": "queued"}, *rows[1:]]),
    "an empty outcome": rows_as(lambda rows: [{**rows[0], "status": ""}, *rows[1:]]),
    "no outcome": rows_as(lambda rows: [{**rows[0], "status": None}, *rows[1:]]),
    "another campaign": lambda answer: {**answer, "campaign_id": CAMPAIGN.replace("3", "4")},
    "a page of HTML": lambda _: "<html><body>Sign in to the network</body></html>",
    "no JSON": lambda _: "{",
    "a list": lambda answer: answer["data"],
}
#: Those that leave no doubt about the other leads.
OF_ONE_LEAD = {"another lead", "an outcome nobody knows", "an empty outcome"}


@pytest.mark.parametrize("lie", LIES)
def test_answer_that_cannot_be_is_no_success(
    fake: Fake, go: Go, tmp_path: Path, lead_list: Path, lie: str
) -> None:
    """What nobody can know is unknown in the ledger, and the next run doubles nothing."""
    five = "".join(lead_list.read_text().splitlines(keepends=True)[:6])
    lead_list.write_text(five.replace("Berlin", "New York"))
    fake.twist = LIES[lie]
    status, _, _ = go()
    first = ledger(tmp_path)
    fake.twist = lambda answer: answer
    again, facts, _ = go()

    assert status in (1, 3)
    others = "accepted" if lie in OF_ONE_LEAD else "unknown"
    assert [row["outcome"] for row in first] == ["unknown", *[others] * 4]
    assert len(fake.leads) == 5
    assert len(fake.keys) == 1
    assert all(len(bodies) == 1 for bodies in fake.keys.values())
    assert facts["accepted"] + facts["unknown"] == 5
    assert again == (3 if facts["unknown"] else 0)


def test_broken_answer_that_is_repeated_holds_up_nothing(
    fake: Fake, go: Go, tmp_path: Path
) -> None:
    """The stored answer of one key stays broken: its batch is unknown, by name, and the others are sent.

    The next run asks with the same key, and where that says nothing looks at the campaign.
    """
    broken = LIES["a result missing"]
    fake.twist = lambda answer: broken(answer) if len(answer["data"]) == 50 else answer
    status, facts, _ = go()

    assert status == 3
    assert (facts["accepted"], facts["unknown"]) == (400, 50)
    assert facts["answers"]["unknown: unreadable_answer"] == 50

    fake.told["/v1/leads"] = (200, {
        "data": [
            a_lead(
                campaign_id=CAMPAIGN,
                created_at="2031-01-01T00:00:00Z",
                **{name: lead[name] for name in ("id", "phone", "external_id")},
            )
            for lead in fake.leads.values()
        ],
        "page": {"next_cursor": None, "has_more": False},
    })  # fmt: skip
    status, facts, _ = go()
    assert status == 0
    check_whole(fake, facts)
    assert len(fake.keys) == 3


def test_something_else_that_answers_stops_the_run(fake: Fake, go: Go, tmp_path: Path) -> None:
    """A page of HTML for every batch is no matter of one key: three are tried, then the run ends."""
    fake.twist = LIES["a page of HTML"]
    status, _, err = go()

    assert status == 1
    assert "not JSON" in err
    assert len(fake.imports) == 3
    fake.twist = lambda answer: answer
    status, facts, _ = go()
    assert status == 0
    check_whole(fake, facts)
    assert len(fake.keys) == 3


def test_key_that_the_service_says_is_anothers_is_never_replaced(
    fake: Fake, go: Go, tmp_path: Path
) -> None:
    """After `idempotency_conflict` nobody knows what is under the key: the batch is set aside."""
    fake.trouble = lambda n: (409, "idempotency_conflict") if n == 1 else None
    status, facts, _ = go("--fail-on", "unknown")

    assert status == 3
    assert (facts["accepted"], facts["unknown"]) == (250, 200)
    assert len(fake.keys) == 3

    status, facts, _ = go("--fail-on", "refused")
    assert status == 0
    check_whole(fake, facts)
    assert len(fake.keys) == 3


def test_key_of_yesterday_is_not_asked_with(fake: Fake, go: Go, tmp_path: Path) -> None:
    """A batch that was open for a day may be a second write: it is set aside and named."""
    fake.trouble = lambda n: "lose" if n >= 1 else None
    assert go()[0] == 1
    log = EvidenceLog.beside(tmp_path / "store")
    records = [
        replace(each, at=LONG_AGO) if each.detail.get("state") == "send" else each
        for each in log.records()
    ]
    shutil.rmtree(log.folder)
    EvidenceLog.beside(tmp_path / "store").append(records)
    fake.trouble = lambda _: None
    status, facts, _ = go()

    assert status == 3
    assert (facts["accepted"], facts["unknown"]) == (250, 200)
    assert facts["answers"]["unknown: key_expired"] == 200
    assert len(fake.keys) == 3


def test_numbers_listed_between_two_runs_are_set_aside(fake: Fake, go: Go, tmp_path: Path) -> None:
    """Screened again before what is unsent is sent, when the stored answers are too old."""
    fake.trouble = lambda n: "drop"
    assert go()[0] == 1
    fake.listed = {"+13055550105", "+13055550106"}
    fake.trouble = lambda _: None
    status, facts, _ = go("--max-age", "0s")

    assert status == 0
    assert facts["do_not_call"] == 2
    assert (facts["sent"], facts["accepted"]) == (448, 448)
    assert facts["not_sent"] == {"set_aside": 2, "waiting": 0}
    assert not fake.listed & set(fake.leads)
    assert [row["status"] for row in ledger(tmp_path)].count("on_dnc") == 2


def test_fresh_answers_are_not_asked_for_again(fake: Fake, go: Go) -> None:
    """A second run asks nothing, and sends nothing."""
    go()
    checked, imports = len(fake.checked), len(fake.imports)
    go()

    assert checked == 450
    assert (len(fake.checked), len(fake.imports)) == (checked, imports)


def test_two_runs_on_one_folder(go: Go, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second of two runs is refused in one sentence and touches nothing."""
    monkeypatch.setattr("dialframe.files._LOCK_PAUSE_S", 0.001)
    with alone(tmp_path / "out"):
        status, _, err = go()
        there = [path.name for path in (tmp_path / "out").iterdir()]

    assert status == 1
    assert len(err.strip().splitlines()) == 1
    assert "another run" in err
    assert there == [LOCK]
    assert go()[0] == 0
    assert LOCK not in [path.name for path in (tmp_path / "out").iterdir()]


def test_other_campaign_in_the_same_folder_leaves_the_files(
    fake: Fake,
    go: Go,
    importing: Callable[..., int],
    tmp_path: Path,
    lead_list: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Before an output is replaced, a check asked or a lead sent, the journal says whose it is."""
    go()
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()}
    seen = len(fake.checked), len(fake.imports)
    other = CAMPAIGN.replace("3", "4")
    status = importing(lead_list, "--region", "US", "--yes", campaign=other)

    assert status == 1
    assert "another campaign" in capsys.readouterr().err
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()} == before
    assert (len(fake.checked), len(fake.imports)) == seen


def test_nothing_is_sent_that_was_not_asked_about(fake: Fake, go: Go, lead_list: Path) -> None:
    """Where the kept record of an external id is listed, the next one takes its place, and is asked about."""
    lead_list.write_text(
        "Lead ID,Name,Phone,Other phone\n"
        "A-1,Ada Lane,(212) 555-0142,\n"
        "A-1,Ada Lane,(212) 555-0143,\n"
        "A-2,Bob Rowe,(212) 555-0144,(212) 555-0145\n"
    )
    fake.listed = {"+12125550142", "+12125550145"}
    status, facts, _ = go("--column", "phone=Phone", "--column", "phone_other=Other phone")

    assert status == 0
    assert set(fake.leads) == {"+12125550143", "+12125550144"}
    assert set(fake.leads) | fake.listed == set(fake.checked)
    assert "custom_fields" not in fake.leads["+12125550144"]
    assert facts["checks"]["listed"] == 2


def test_each_number_of_a_record_is_a_lead_and_its_clean_list_the_same_leads(
    fake: Fake, go: Go, importing: Callable[..., int], tmp_path: Path, lead_list: Path
) -> None:
    """Each is asked about and held by itself; an external id is sent once, as the service wants it."""
    lead_list.write_text(
        "Lead ID,Name,Mobile,Home phone\n"
        "A-1,Ada Lane,(212) 555-0142,(212) 555-0143\n"
        "A-2,Bob Rowe,(212) 555-0144,(212) 555-0145\n"
        "A-3,Cy Fox,(212) 555-0146; (212) 555-0147,\n"
    )
    fake.listed = {"+12125550144"}
    status, facts, _ = go("--one-lead-per", "number")
    sent = {number: lead.get("external_id") for number, lead in fake.leads.items()}

    assert status == 0
    assert (facts["records"], facts["extra_leads"], facts["clean"], facts["do_not_call"]) == (3, 3, 5, 1)  # fmt: skip
    assert sent == {
        "+12125550142": "A-1", "+12125550143": None, "+12125550145": "A-2",
        "+12125550146": "A-3", "+12125550147": None,
    }  # fmt: skip

    fake.leads.clear()
    lead_list.write_bytes(b"Name,Phone\n")
    clean = tmp_path / "out" / "autumn.clean.csv"
    assert importing(clean, "--yes", out="again") == 0
    assert {number: lead.get("external_id") for number, lead in fake.leads.items()} == sent
