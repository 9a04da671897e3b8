"""`dialframe firm`: asks what decides stored calls without a service, writes it once, and asks only what is still open."""

from __future__ import annotations

import csv
import tomllib
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from cli.commands import invoke
from conftest import SAMPLES
from dialframe import connect, sandbox
from dialframe.account import open_stored
from dialframe.compliance import Practice, Question, rulebook
from dialframe.compliance.rules.rule_model import FreshnessRule
from dialframe.config import Settings
from dialframe.errors import ConfigError, LeadFileError
from dialframe.firm import Firm
from dialframe.flows import firm_questions, firm_records
from dialframe.phones.zones import place

NOW = datetime.now(UTC)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of a tiny account whose service is gone."""
    folder = tmp_path_factory.mktemp("store")
    with (
        sandbox.start(seed=7, size="tiny", as_of=date(2026, 11, 21)) as service,
        connect(service.base_url, service.api_key, folder, environment={}) as account,
    ):
        account.sync()
    return folder


@pytest.fixture
def room(tmp_path: Path, store: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working folder without a firm file, and no address or key."""
    for name in ("DIALFRAME_BASE_URL", "DIALFRAME_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DIALFRAME_STORE", str(store))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_asks_what_decides_most_and_goes_on_with_what_is_open(room: Path) -> None:
    """At most eight questions by calls decided; what was answered is not asked again, and nothing else is claimed."""
    asked = invoke("firm --json").facts["questions"]
    calls = [each["calls"] for each in asked]

    assert 0 < len(asked) <= firm_questions.MOST
    assert calls == sorted(calls, reverse=True)
    assert all(firm_questions.UNKNOWN in each["choices"] for each in asked)
    assert list(room.iterdir()) == []

    invoke("firm --answer caller_ids=yes --answer recorded=no --answer", "dialing=don't know")
    said = tomllib.loads((room / "dialframe.toml").read_text(encoding="utf-8"))
    again = invoke("firm --json").facts["questions"]

    assert set(said) == {"practice"}
    assert set(said["practice"]) == {"caller_ids", "recorded"}
    assert {"caller_ids", "recorded"} & {each["key"] for each in again} == set()
    # The old name asks the same.


#: Checks that these answers and files are asked by.
DECIDED = (
    "calling_hours", "scrub_at_call", "scrub_coverage", "listed_number", "attempt_caps", "consent",
    "caller_id", "recording_consent",
)  # fmt: skip


def test_eight_answers_and_two_files_decide_nearly_every_call(room: Path, store: Path) -> None:
    """At least 95% of what each check counts that asks one of them."""
    write_files(room, store)
    asked = {each["key"]: each["question"] for each in invoke("firm --json").facts["questions"]}
    read = [part.split(" (")[0] for part in asked["confirmed"].split(": ", 1)[1].split("); ")]
    answers = {
        "caller_ids": "yes", "recorded": "yes", "recording_announced": "yes", "recording_agreed": "yes",
        "artificial_voice": "no", "dialing": "manual", "confirmed": "; ".join(read),
        "consents": "consents.csv", "scrubs": "scrubs.csv",
    }  # fmt: skip
    invoke("firm", "--who=J. Roe", *(f"--answer={key}={text}" for key, text in answers.items()))

    checks = {each["check"]: each for each in invoke("audit --json", ends=None).facts["checks"]}
    shares = {name: _decided(checks[name]) for name in DECIDED if name in checks}
    assert {name: share for name, share in shares.items() if share < 0.95} == {}
    assert len(shares) > len(DECIDED) - 2


def _decided(check: dict[str, int]) -> float:
    grades = ("violation", "uncertain", "not_evaluable", "not_asked", "passed")
    return (check["violation"] + check["passed"]) / sum(check[name] for name in grades)


def write_files(room: Path, store: Path) -> None:
    """What the firm of the account has: everybody's consent in writing, and a scrub every two weeks by a vendor."""
    with open_stored(Settings(store=store)) as account:
        calls, leads = account.calls(), account.leads()
    numbers = sorted({*calls["to_number"].dropna(), *leads["phone"].dropna()})
    first = calls["created_at"].min().to_pydatetime() - timedelta(days=1)
    days = [first + timedelta(days=day) for day in range(0, (NOW - first).days, 14)]
    state = dict(zip(numbers, place(np.array([int(n[1:]) for n in numbers])).codes, strict=True))
    kinds = place(np.array([int(n[1:]) for n in numbers])).kinds
    lists = {r.jurisdiction: r.parameters.registry for r in rulebook.load().of_kind(FreshnessRule)}
    scrubs = [
        (
            number,
            lists[region],
            "no",
            f"{day:%Y-%m-%dT%H:%M:%SZ}",
            ("mobile", "landline")[place_ % 2],
        )
        for place_, number in enumerate(numbers)
        for region in {"US", *kinds[state[number]].regions} & set(lists)
        for day in days
    ]
    consents = [(number, f"{first:%Y-%m-%dT%H:%M:%SZ}", "written", "form") for number in numbers]
    for name, header, rows in (
        ("consents.csv", ("phone", "granted_at", "kind", "record"), consents),
        ("scrubs.csv", ("phone", "list", "listed", "scrubbed_at", "line_type"), scrubs),
    ):
        with (room / name).open("w", newline="") as file:
            csv.writer(file).writerows([header, *rows])


def test_every_file_of_evidence_that_the_firm_file_names_is_read(tmp_path: Path) -> None:
    """All of them, of every kind; rows that are none are said, and what a file does not say of itself is asked for."""
    samples = SAMPLES / "evidence"
    (tmp_path / "requests.csv").write_text("phone,requested_at\n+12125550101,2026-09-01\n")
    named = {
        "consents": ["consents.csv"], "scrubs": ["scrub_results.csv", "realphonevalidation.csv"], "line_types": ["line_types.csv"],
        "relationships": ["relationships.csv"], "reassigned": ["reassigned.csv"],
    }  # fmt: skip
    lines = [f"{key} = {[str(samples / name) for name in files]}" for key, files in named.items()]
    # Rows of these samples cannot count, which a table of consents refuses whole.
    lines[0] = f"consents = ['{_consents(tmp_path, 1)}', '{_consents(tmp_path, 2)}']"
    lines[-1] = f"reassigned = ['{_look_ups(tmp_path)}']"
    text = "\n".join(
        ["[lists]", 'region = "US"', "[evidence]", 'requests = ["requests.csv"]', *lines]
    )
    firm = Firm.from_text(text, path=tmp_path / "dialframe.toml")
    scope, left = firm_records.firm_scope(firm, Question(now=NOW))

    kinds = Counter(record.kind for record in scope.evidence)
    assert kinds == {"scrub": 8, "line_type": 6, "relationship": 2}
    question = scope.question
    assert (len(question.consents), len(question.look_ups), len(question.events)) == (2, 1, 1)
    assert sum(map(len, left.values())) > 0
    assert set(scope.inputs) >= {"consents", "consents 2", "scrubs", "scrubs 2", "requests"}
    for line, words in (
        (f"scrubs = ['{samples / 'dncscrub.csv'}']", "dialframe evidence add"),
        ("scrubs = ['nowhere.csv']", "nowhere.csv: there is no such file"),
        ("requests = ['nowhere.csv']", "nowhere.csv"),
    ):
        broken = Firm.from_text(f"[evidence]\n{line}\n", path=tmp_path / "dialframe.toml")
        with pytest.raises((ConfigError, LeadFileError), match=words):
            firm_records.firm_scope(broken, Question(now=NOW))


def _consents(folder: Path, number: int) -> Path:
    path = folder / f"consents{number}.csv"
    path.write_text(f"phone,granted_at,kind\n+1212555010{number},2026-01-01,written\n")
    return path


def _look_ups(folder: Path) -> Path:
    path = folder / "look_ups.csv"
    path.write_text("phone,checked_at,result\n+12125550101,2026-09-01,no\n")
    return path


def test_an_answer_that_proves_nothing_is_refused(room: Path) -> None:
    """A list whose copy may be of any age, a word that is no answer, a file that is not there."""
    cases = {
        "covers=US National DNC Registry": "refreshed_days",
        "dialing=fast": "'fast' is no answer",
        "consents=nowhere.csv": "there is no file nowhere.csv",
        "colour=red": "is no question",
        "confirmed=us-tsr-hours": "is no rule that calls wait for",
    }
    for answer, words in cases.items():
        # One rule is enough to ask: the answer is at fault.
        invoke("firm --rules us-tsr-hours --who A --answer", answer, ends=2, err=words)
    assert list(room.iterdir()) == []


def test_answers_join_a_firm_file_and_either_file_is_a_practice(tmp_path: Path) -> None:
    """Other sections and what was declared before stay; `--practice` takes the firm file too."""
    path = tmp_path / "dialframe.toml"
    path.write_text('[lists]\nregion = "GB"\n[practice]\npurpose = "survey"\n[practice.campaigns."a b"]\ndialing = "manual"\n', encoding="utf-8")  # fmt: skip
    covers = [{"registry": "US National DNC Registry", "check": True, "screen": False, "refreshed_days": 7, "by": "A", "on": date(2026, 1, 1)}]  # fmt: skip
    firm_questions.write_firm(tmp_path, {"practice": {"dialing": "predictive", "covers": covers}})
    firm = Firm.read(path)
    scope, _ = firm_records.scope_of(tmp_path, Question(now=datetime.now(UTC)), practice=path)
    practice = scope.question.practice

    assert firm.lists.region == "GB"
    assert practice == firm_records.firm_practice(firm) != Practice()
    assert (practice.purpose, practice.dialing, dict(practice.dialings)) == ("survey", "predictive", {"a b": "manual"})  # fmt: skip
    assert [each.refreshed_days for each in practice.covers] == [7]
