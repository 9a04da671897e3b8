"""`dialframe firm`: asks what decides stored calls without a service, writes it once, and asks only what is still open."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from cli.commands import invoke
from dialframe import connect, sandbox
from dialframe.compliance import Practice
from dialframe.firm import Firm
from dialframe.flows import firm_questions, firm_records


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


def test_an_answer_that_proves_nothing_is_refused(room: Path) -> None:
    """A list whose copy may be of any age, a word that is no answer, a file that is not there."""
    cases = {
        "covers=US National DNC Registry": "refreshed_days",
        "dialing=fast": "'fast' is no answer",
        "consents=nowhere.csv": "there is no file nowhere.csv",
        "colour=red": "is no question",
    }
    for answer, words in cases.items():
        invoke("firm --who A --answer", answer, ends=2, err=words)
    assert list(room.iterdir()) == []


def test_answers_join_a_firm_file_and_either_file_is_a_practice(tmp_path: Path) -> None:
    """Other sections and what was declared before stay; `--practice` takes the firm file too."""
    path = tmp_path / "dialframe.toml"
    path.write_text('[lists]\nregion = "GB"\n[practice]\npurpose = "survey"\n[practice.campaigns."a b"]\ndialing = "manual"\n', encoding="utf-8")  # fmt: skip
    covers = [{"registry": "US National DNC Registry", "check": True, "screen": False, "refreshed_days": 7, "by": "A", "on": date(2026, 1, 1)}]  # fmt: skip
    firm_questions.write_firm(tmp_path, {"practice": {"dialing": "predictive", "covers": covers}})
    firm = Firm.read(path)
    practice = firm_records.scope_of(tmp_path, practice=path, now=datetime.now(UTC))[
        0
    ].question.practice

    assert firm.lists.region == "GB"
    assert practice == firm_records.firm_practice(firm) != Practice()
    assert (practice.purpose, practice.dialing, dict(practice.dialings)) == ("survey", "predictive", {"a b": "manual"})  # fmt: skip
    assert [each.refreshed_days for each in practice.covers] == [7]
