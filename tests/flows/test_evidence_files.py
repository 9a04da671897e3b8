"""Files of evidence: every row taken or refused with a reason, once, and what they decide in an audit."""

from __future__ import annotations

import csv
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import dialframe
from cli.commands import invoke
from conftest import SAMPLES
from dialframe import compliance
from dialframe.compliance import Question
from dialframe.errors import ConfigError
from dialframe.evidence import EvidenceLog
from dialframe.flows import evidence_files, evidence_views
from dialframe.flows.evidence_rows import Job
from dialframe.flows.firm_records import with_logged
from dialframe.frames import CALLS, from_records

NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)
OCTOBER = datetime(2026, 10, 1, tzinfo=UTC)
US = Job(region="US", at=OCTOBER)

#: File, profile, what it does not say, rows taken, records, and rows refused by reason.
FILES = [
    ("dncscrub.csv", "scrub_dncscrub", Job(region="US", at=OCTOBER, lists=("us", "us-tx")), 5, 13,
     {"no_result": 1, "no_number": 1, "repeated": 1, "which_list": 1}),
    ("scrub_results.csv", "scrub_results", US, 4, 6, {"no_list": 1, "no_result": 1}),
    ("realphonevalidation.csv", "scrub_realphonevalidation", US, 3, 6, {"no_result": 1}),
    ("uk_tps.csv", "scrub_tps", US, 3, 3, {"no_number": 1}),
    ("line_types.csv", "line_types", US, 3, 3, {"no_line_type": 1}),
    ("twilio_line_types.csv", "twilio_line_types", US, 2, 2, {"no_line_type": 1}),
    ("reassigned.csv", "reassigned", US, 3, 3, {"no_answer": 1}),
    ("reassigned_batch.csv", "reassigned_batch", US, 3, 3, {}),
    ("twilio_reassigned.csv", "reassigned", US, 2, 2, {"no_answer": 1}),
    ("ported_to_wireless.txt", "us_ported_to_wireless", US, 2, 2, {"no_number": 1}),
    ("consents.csv", "consents", US, 2, 2, {"no_time": 1, "no_kind": 1}),
    ("relationships.csv", "relationships", US, 2, 2, {"no_kind": 1, "no_record": 1}),
    ("us_registry.txt", "us_registry", US, 3, 4, {}),
    ("us_registry_changes.txt", "us_registry_changes", US, 2, 3, {"no_number": 1}),
]  # fmt: skip


@pytest.fixture
def log(tmp_path: Path) -> EvidenceLog:
    """An empty log."""
    return EvidenceLog.beside(tmp_path)


@pytest.mark.parametrize(("name", "profile", "job", "taken", "records", "refused"), FILES)
def test_every_row_is_taken_or_refused_and_none_twice(
    log: EvidenceLog, name: str, profile: str, job: Job, taken: int, records: int, refused: dict[str, int]
) -> None:  # fmt: skip
    """By the recognized profile; added again nothing is written, taken back nothing counts, and it can be added anew."""
    path = SAMPLES / "evidence" / name
    # Ten digits a line say nothing of what they are.
    named = profile if profile.startswith("us_ported") else None
    added = evidence_files.add(log, path, profile=named, job=job, now=NOW)
    assert (added.profile, added.taken, added.records) == (profile, taken, records)
    assert added.refused == refused
    assert added.read == added.taken + sum(refused.values())
    size = log.path.stat().st_size
    again = evidence_files.add(log, path, profile=named, job=job, now=NOW + timedelta(days=1))
    assert (again.known, again.run, again.taken) == (True, added.run, taken)
    assert log.path.stat().st_size == size
    assert evidence_files.undo(log, added.run, now=NOW) == records
    assert evidence_files.undo(log, added.run, now=NOW) == 0
    assert evidence_views.tables_of(log, list, until=NOW) == evidence_views.Logged()
    later = NOW + timedelta(days=2)
    assert not evidence_files.add(log, path, profile=named, job=job, now=later).known


def test_what_a_file_does_not_say_is_asked_and_never_guessed(log: EvidenceLog) -> None:
    """Lists of a scrub, the moment of a download, a format that nobody knows, a run that there is not."""
    samples = SAMPLES / "evidence"
    for path, job, words in (
        (samples / "dncscrub.csv", US, "against which lists"),
        (samples / "dncscrub.csv", Job(lists=("us-zz",)), "no list of the rule book"),
        (samples / "us_registry.txt", Job(region="US"), "when the registry was downloaded"),
        (SAMPLES / "leads" / "us_autumn_campaign.csv", US, "no known format of evidence"),
    ):
        with pytest.raises(ConfigError, match=words):
            evidence_files.add(log, path, job=job, now=NOW)
    with pytest.raises(ConfigError, match="no file was taken"):
        evidence_files.undo(log, "run-0", now=NOW)


def test_a_registry_speaks_of_every_number_that_its_subscription_covers(log: EvidenceLog) -> None:
    """On it, or not on it, at each version; a number of another area code gets no answer."""
    samples = SAMPLES / "evidence"
    september = Job(at=datetime(2026, 9, 1, tzinfo=UTC), subscription="10001")
    changes = Job(at=datetime(2026, 9, 15, tzinfo=UTC))
    evidence_files.add(log, samples / "us_registry.txt", job=september, now=NOW)
    evidence_files.add(log, samples / "us_registry_changes.txt", job=changes, now=NOW)
    asked = ["+12125550103", "+12125550108", "+12125550199", "+15125550109", "+13105550100"]
    scrubs = evidence_views.tables_of(log, lambda: asked, until=NOW).scrubs
    assert scrubs is not None
    listed = scrubs.pivot_table(
        index="phone", columns="checked_at", values="listed", aggfunc="last"
    )
    assert {n: list(row) for n, row in zip(listed.index, listed.to_numpy(), strict=True)} == {
        "+12125550103": [True, True],
        "+12125550108": [True, False],
        "+12125550199": [False, False],
        "+15125550109": [False, True],
    }


#: Days of the monthly scrub before the call, grade of the check before the call, and of the listed number.
SCRUBBED = [
    ([3], "pass", "pass"),
    ([30], "pass", "pass"),
    ([33, 3], "pass", "pass"),
    ([33], "uncertain", "not evaluable"),
    ([], "not evaluable", "not evaluable"),
]


@pytest.mark.parametrize(("days", "before", "listed"), SCRUBBED)
def test_a_firm_that_scrubs_every_31_days_is_decided(
    log: EvidenceLog, tmp_path: Path, days: list[int], before: str, listed: str
) -> None:
    """A vendor's file that names the national list decides both checks for each call; nothing else is declared."""
    at = datetime(2026, 11, 10, 17, tzinfo=UTC)
    for age in days:
        path = tmp_path / f"scrub_{age}.csv"
        rows = [("Phone", "ResultCode"), *((f"21255501{n:02}", "C") for n in range(20))]
        with path.open("w", newline="") as file:
            csv.writer(file).writerows(rows)
        job = Job(region="US", at=at - timedelta(days=age), lists=("us",))
        evidence_files.add(log, path, job=job, now=NOW)
    checks = _grades(log, at, [f"+121255501{n:02}" for n in range(20)])
    assert checks["scrub_at_call"] == {before: 20}
    assert checks["listed_number"] == {listed: 20}


def test_a_call_to_a_number_that_the_scrub_said_is_listed_is_a_violation(log: EvidenceLog) -> None:
    """By the rule of that list; a relationship that a file shows lifts it, and no list says anything of another."""
    samples, at = SAMPLES / "evidence", datetime(2026, 9, 20, 17, tzinfo=UTC)
    evidence_files.add(log, samples / "scrub_results.csv", job=US, now=NOW)
    assert _grades(log, at, ["+12125550103"])["listed_number"] == {"violation": 1}
    assert _grades(log, at, ["+12125550101"])["listed_number"] == {"pass": 1}
    # Held against the list of Texas alone.
    assert _grades(log, at, ["+15125550104"])["listed_number"] == {"not evaluable": 1}
    # The inquiry of 1 August ended on 20 August.
    evidence_files.add(log, samples / "relationships.csv", job=US, now=NOW)
    before = datetime(2026, 8, 15, 17, tzinfo=UTC)
    assert _grades(log, at, ["+12125550103"])["listed_number"] == {"violation": 1}
    assert "violation" not in _grades(log, before, ["+12125550103"])["listed_number"]


def _grades(log: EvidenceLog, at: datetime, numbers: list[str]) -> dict[str, dict[str, int]]:
    """Calls by grade of each check, by the federal rules and what the log says."""
    calls = [
        {"id": f"c{n}", "direction": "outbound", "from_number": "+16465550180", "to_number": number, "campaign_id": "cmp_1",
         "created_at": at, "ended_at": at + timedelta(seconds=60)}
        for n, number in enumerate(numbers)
    ]  # fmt: skip
    question = Question(now=NOW, rules=["us"])
    logged = evidence_views.tables_of(log, lambda: numbers, until=NOW)
    result = compliance.audit({"calls": from_records(CALLS, calls)}, with_logged(question, logged))
    grades = ("pass", "violation", "uncertain", "not_evaluable")
    return {
        row.check: {g.replace("_", " "): n for g in grades if (n := int(getattr(row, _column(g))))}
        for row in result.checks.rename(columns={"pass": "passed"}).itertuples()
    }


def _column(grade: str) -> str:
    return "passed" if grade == "pass" else grade


def test_a_file_is_taken_for_an_account_in_one_call(log: EvidenceLog) -> None:
    """`dialframe.add_evidence` writes into the log that the audits of the account read."""
    scrub = SAMPLES / "evidence" / "dncscrub.csv"
    account: Any = SimpleNamespace(evidence=log)
    taken = dialframe.add_evidence(
        account, scrub, lists=["us", "us-tx"], made_at=OCTOBER, region="US", now=lambda: NOW
    )
    assert (taken.taken, taken.records) == (5, 13)
    assert evidence_files.runs(log)[0].run == taken.run


def test_the_command_takes_lists_and_takes_back(tmp_path: Path) -> None:
    """Status 3 where rows were refused, 0 where all were taken; numbers are on no screen."""
    store = ("--store", tmp_path)
    scrub = SAMPLES / "evidence" / "dncscrub.csv"
    add = [
        "evidence add --json",
        scrub,
        "--list",
        "us",
        "--list",
        "us-tx",
        "--made",
        "2026-10-01",
        "--region",
        "US",
        *store,
    ]
    facts = invoke(*add, ends=3).facts
    assert (facts["read"], facts["taken"], facts["refused"], facts["records"]) == (9, 5, 4, 13)
    assert invoke(*add, ends=3).facts["files"][0]["known"]
    run = facts["files"][0]["run"]
    listed = invoke("evidence list", *store).out
    assert run in listed
    assert "5550" not in listed
    assert invoke("evidence undo --json", run, *store).facts["records"] == 13
    assert invoke("evidence list --json", *store).facts["files"][0]["undone"]
    registry = SAMPLES / "evidence" / "us_registry.txt"
    invoke(
        "evidence add",
        registry,
        "--made",
        "2026-10-01",
        *store,
        out="3 of 3 rows of registry taken",
    )
