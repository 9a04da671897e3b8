"""Every example of every page of the manual runs as it stands, on a sandbox and the sample list."""

from __future__ import annotations

import shlex
import shutil
import signal
import tomllib
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import duckdb
import pytest
from sitepages.command_list import commands

import dialframe
from cli.commands import begun, example, invoke
from dialframe.cli.entry_point import SERVERS as SERVING

ROOT = Path(__file__).parent.parent.parent
SECRET = "whsec_" + "a" * 32

#: What an example ends with and says, where that is more than status 0 and something on a screen.
CLAIMS = tomllib.loads((Path(__file__).parent / "examples.toml").read_text(encoding="utf-8"))
#: What has to be there before others; an example leaves its files for the next.
FIRST = ("dialframe sync", "dialframe audit")
#: The id of a command, as an example of `suppress undo` has it.
RUN = "run-20261125-081500-3f2a"
OWN_RULES = """
[[change]]
id = "us-fl-cap"
by = "An officer"
why = "stricter"
on = 2026-10-01
parameters = { max_attempts = 2 }
"""

#: What a firm fills in where `rules new` left a skeleton.
FILLED_IN = {
    **{
        f'{name} = ""': f'{name} = "as the house decided"'
        for name in ("by", "why", "title", "citation", "quotation", "text_from")
    },
    'since_reason = ""': 'since_reason = "it has no first day"',
    'confidence_reason = ""': 'confidence_reason = "the text was read"',
    'source = ""': 'source = "https://house.example/manual"',
    "at = 2026-07-08T23:00:00,": "at = 2026-07-08T23:00:00, earlier = "
    "[2026-07-08T15:00:00, 2026-07-08T16:00:00, 2026-07-08T17:00:00],",
}

EXAMPLES = [(entry.path, line) for entry in commands() for line in entry.examples]
SERVERS = [line for path, line in EXAMPLES if tuple(path.split()) in SERVING]
#: Many seconds each. The script of the continuous checks runs the first, from the built package in an
#: empty folder; the tests of the report run the second with other words.
ELSEWHERE = (
    "dialframe demo",
    "dialframe report --out october --since 2026-10-01 --until 2026-11-01",
)
#: Tests start these in processes of their own: in a browser, with a real client, with deliveries and questions.
STARTED_ELSEWHERE = {"app", "assistant serve", "gate serve", "webhooks listen"}


@pytest.fixture(scope="module")
def service(unlimited: None) -> Iterator[dialframe.sandbox.Sandbox]:
    """A tiny account whose history ends with the period of the examples."""
    with dialframe.sandbox.start(size="tiny", seed=3, as_of=date(2026, 11, 1)) as started:
        started.console.update_account({"rate_limits": None})
        yield started


@pytest.fixture
def environment(
    service: dialframe.sandbox.Sandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Path:
    """The folder and the variables of somebody who tries the examples."""
    shutil.copy(
        ROOT / "data_samples" / "leads" / "us_autumn_campaign.csv", tmp_path / "autumn.csv"
    )
    (tmp_path / "lists").mkdir()
    shutil.copy(
        ROOT / "data_samples" / "calls" / "vicidial_export_calls.csv", tmp_path / "march.csv"
    )
    (tmp_path / "today.csv").write_text("Phone\n(212) 555-0142\n")
    (tmp_path / "complaints.csv").write_text("Phone\n020 7946 0018\n")
    (tmp_path / "wrong.csv").write_text("Phone\n(212) 555-0144\n")
    (tmp_path / "scrubbed.csv").write_text("Phone,ResultCode\n2125550143,D\n2125550144,C\n")
    (tmp_path / "our-rules.toml").write_text(OWN_RULES)
    monkeypatch.chdir(tmp_path)
    for name, value in {
        "DIALFRAME_BASE_URL": service.base_url,
        "DIALFRAME_API_KEY": service.api_key,
        "DIALFRAME_STORE": str(tmp_path / "store"),
        "DIALFRAME_WEBHOOK_SECRET": SECRET,
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "BROWSER": "true",
    }.items():
        monkeypatch.setenv(name, value)
    return tmp_path


def fill_in(skeleton: Path) -> None:
    """Write into a skeleton of a rule what only the firm can say."""
    text = skeleton.read_text()
    for empty, filled in FILLED_IN.items():
        assert empty in text, empty
        text = text.replace(empty, filled)
    skeleton.write_text(text)


def graded_call(pack: Path) -> str:
    """The id of a call that the pack's audit graded."""
    with duckdb.connect() as connection:
        calls = str(pack / "tables" / "calls.parquet")
        found = connection.execute(
            "select min(call_id) from read_parquet(?) where graded", [calls]
        ).fetchall()
    return str(found[0][0])


def made_run() -> str:
    """The id of a command that has put a number on the list."""
    invoke("suppress add +12125550199 --reason slip")
    return str(invoke("suppress list --reason slip --json").facts["runs"][0]["run"])


def added_run() -> str:
    """The id of a command that has taken a file of evidence."""
    invoke("evidence add scrubbed.csv --list us-tx --made 2026-10-01 --region US")
    return str(invoke("evidence list --json").facts["files"][-1]["run"])


def test_every_command_has_an_example_that_calls_it() -> None:
    """A page without one is no page; an example names the command that it stands with."""
    for entry in commands():
        assert entry.examples or not entry.runs, entry.name
        assert all(line.startswith(entry.name) for line in entry.examples), entry.name


def test_claims_are_about_examples_that_there_are() -> None:
    """No claim outlives its example."""
    assert set(CLAIMS) <= {line for _, line in EXAMPLES}
    assert set(ELSEWHERE) <= {line for _, line in EXAMPLES}
    assert {path for path, line in EXAMPLES if line in SERVERS} == {
        *STARTED_ELSEWHERE,
        "sandbox serve",
    }
    assert '/dialframe" demo' in (ROOT / ".ci" / "run").read_text()


def test_examples_run(environment: Path, service: dialframe.sandbox.Sandbox) -> None:
    """One after the other in one folder, each with its status and what it claims to say."""
    campaign = service.console.create_campaign(service.client_id, "autumn", status="draft")
    lines = [line for _, line in EXAMPLES if line not in (*SERVERS, *ELSEWHERE)]
    for line in sorted(lines, key=lambda line: not line.startswith(FIRST)):
        if "october-again" in line:
            shutil.copytree(environment / "october", environment / "october-again")
        if line == "dialframe rules check ours.toml":
            # A skeleton lacks words.
            invoke("rules check ours.toml", ends=3, out="to correct")
            fill_in(environment / "ours.toml")
        if line.startswith("dialframe store restore"):
            # A restore takes the place of a store that was lost.
            shutil.move(environment / "store", environment / "store-lost")
        claim = {"status": 0, "says": ""} | CLAIMS.get(line, {})
        here = line.replace("cmp_...", campaign["id"]).replace("/mnt/", f"{environment}/")
        if "call_01J..." in here:
            here = here.replace("call_01J...", graded_call(environment / "october"))
        if RUN in here:
            here = here.replace(RUN, added_run() if " evidence " in here else made_run())
        arguments = shlex.split(here)[1:]

        said = invoke(*arguments, ends=claim["status"]).out
        assert claim["says"] in said, f"{line}\n{said}"
        assert said.strip(), line


@pytest.mark.usefixtures("environment")
def test_the_sandbox_is_ready_and_ends_well() -> None:
    """It says where it is, and ends with status 0 when it is stopped."""
    process = begun(*example("sandbox serve"))
    assert process.stdout is not None
    ready = process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)

    assert ready.strip(), err
    assert process.returncode == 0, err
    assert "Traceback" not in err
