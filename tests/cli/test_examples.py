"""Every example of every page of the manual runs as it stands, on a sandbox and the sample list."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

import dialframe
from dialframe.cli import manual, notes
from dialframe.cli.run import run

ROOT = Path(__file__).parent.parent.parent
SECRET = "whsec_" + "a" * 32

#: What an example ends with and says, where that is more than status 0 and something on a screen.
CLAIMS: dict[str, tuple[int, str]] = {
    "dialframe leads reasons": (0, "phone_precision_lost"),
    "dialframe --show-completion bash": (0, "complete -o default -F"),
    "dialframe sync": (0, "campaigns"),
    "dialframe sync calls leads --json": (0, '"complete": true'),
    "dialframe export calls --to calls.parquet": (0, "1,000 rows of calls written to calls.parquet"),
    "dialframe export leads --to leads.csv": (0, "300 rows of leads written to leads.csv"),
    "dialframe doctor": (0, "0 failed"),
    "dialframe leads check autumn.csv --region US --show invalid_phone": (0, "autumn.csv:66"),
    "dialframe leads check autumn.csv --column phone=Mobile --save-mapping columns.json": (
        0, "303 records",
    ),
    "dialframe leads clean autumn.csv --region US --out cleaned": (0, "autumn.clean.csv"),
    "dialframe leads clean autumn.csv --format parquet --out cleaned --json": (
        0, '"records": 303',
    ),
    "dialframe leads screen autumn.csv --region US --out cleaned": (0, "Do-Not-Call:"),
    "dialframe leads import autumn.csv --campaign cmp_... --region US --out imported": (
        0, "accepted",
    ),
    "dialframe audit --since 2026-10-01 --until 2026-11-01 --rules us,us-fl -o october": (
        3, "Evidence:",
    ),
    "dialframe audit verify october": (0, "every byte as it was written"),
    "dialframe audit diff october october-again": (0, "no finding differs"),
    "dialframe rules list --rules us,us-fl": (0, "us-fl-hours"),
    "dialframe rules list --kind calling_hours": (0, "us-tsr-hours"),
    "dialframe rules show us-fl-hours": (0, "Fla. Stat."),
    "dialframe rules diff --own our-rules.toml": (0, "us-fl-cap"),
    "dialframe store info": (0, "dispositions"),
    "dialframe store publish lake": (0, "calls"),
    "dialframe store vacuum": (0, "bytes before"),
    "dialframe store forget +12125550142": (0, "versions erased"),
    "dialframe store prune --older-than 730d": (0, "versions deleted"),
    "dialframe contract operations": (0, "calls.list"),
    "dialframe contract openapi --out openapi.json": (0, "openapi.json"),
}  # fmt: skip
#: What has to be there before others; an example leaves its files for the next.
FIRST = ("dialframe sync", "dialframe audit")
OWN_RULES = """
[[change]]
id = "us-fl-cap"
by = "An officer"
why = "stricter"
on = 2026-10-01
parameters = { max_attempts = 2 }
"""

EXAMPLES = [(page.path, line) for page in manual.pages() for line in page.examples]
SERVERS = [line for path, line in EXAMPLES if notes.of(path).serves]
#: Many seconds each. The script of the continuous checks runs the first, from the built package in an
#: empty folder; the tests of the report run the second with other words.
ELSEWHERE = (
    "dialframe demo",
    "dialframe report --out october --since 2026-10-01 --until 2026-11-01",
)
#: Tests start these in processes of their own, in a browser and with a real client.
STARTED_ELSEWHERE = ("dialframe app", "dialframe assistant serve")


@pytest.fixture(scope="module")
def service() -> Iterator[dialframe.sandbox.Sandbox]:
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
    (tmp_path / "our-rules.toml").write_text(OWN_RULES)
    monkeypatch.chdir(tmp_path)
    for name, value in {
        "DIALFRAME_BASE_URL": service.base_url,
        "DIALFRAME_API_KEY": service.api_key,
        "DIALFRAME_STORE": str(tmp_path / "store"),
        "DIALFRAME_WEBHOOK_SECRET": SECRET,
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "BROWSER": "true",
    }.items():
        monkeypatch.setenv(name, value)
    return tmp_path


def test_every_command_has_an_example_that_calls_it() -> None:
    """A page without one is no page; an example names the command that it stands with."""
    for page in manual.pages():
        families = page.commands and page.path != "" and not page.statuses
        assert families or page.examples, page.name
        assert all(line.startswith(page.name) for line in page.examples), page.name


def test_claims_are_about_examples_that_there_are() -> None:
    """No claim outlives its example."""
    assert set(CLAIMS) <= {line for _, line in EXAMPLES}
    assert set(ELSEWHERE) <= {line for _, line in EXAMPLES}
    assert '/dialframe" demo' in (ROOT / ".ci" / "run").read_text()


def test_examples_run(
    environment: Path, service: dialframe.sandbox.Sandbox, capsys: pytest.CaptureFixture[str]
) -> None:
    """One after the other in one folder, each with its status and what it claims to say."""
    campaign = service.console.create_campaign(service.client_id, "autumn", status="draft")
    lines = [line for _, line in EXAMPLES if line not in (*SERVERS, *ELSEWHERE)]
    for line in sorted(lines, key=lambda line: not line.startswith(FIRST)):
        if "october-again" in line:
            shutil.copytree(environment / "october", environment / "october-again")
        status, words = CLAIMS.get(line, (0, ""))
        arguments = shlex.split(line.replace("cmp_...", campaign["id"]))[1:]

        assert run(arguments) == status, f"{line}\n{capsys.readouterr().err}"
        said = capsys.readouterr().out
        assert words in said, f"{line}\n{said}"
        assert said.strip(), line


@pytest.mark.parametrize(
    "line", [line for line in SERVERS if not line.startswith(STARTED_ELSEWHERE)]
)
@pytest.mark.usefixtures("environment")
def test_servers_are_ready_and_end_well(line: str) -> None:
    """Each says where it is, and ends with status 0 when it is stopped."""
    arguments = shlex.split(line.replace("--port 8788", "--port 0"))[1:]
    process = subprocess.Popen(
        [sys.executable, "-m", "dialframe", *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    ready = (process.stderr if "webhooks" in line else process.stdout).readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)

    assert ready.strip(), err
    assert process.returncode == 0, err
    assert "Traceback" not in err
