"""Every example of every page of the manual runs as it stands, on a sandbox and the sample list."""

from __future__ import annotations

import re
import shlex
import shutil
import signal
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from sitepages.command_list import commands

import dialframe
from cli.commands import begun, invoke
from dialframe.cli.entry_point import SERVERS as SERVING

ROOT = Path(__file__).parent.parent.parent
SECRET = "whsec_" + "a" * 32

#: What an example ends with and says, where that is more than status 0 and something on a screen.
CLAIMS: dict[str, tuple[int, str]] = {
    "dialframe leads reasons": (0, "phone_precision_lost"),
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
    "dialframe leads import autumn.csv --campaign cmp_... --region US --out imported --yes": (
        0, "accepted",
    ),
    "dialframe audit --since 2026-10-01 --until 2026-11-01 --rules us,us-fl -o october": (
        3, "Evidence:",
    ),
    "dialframe audit verify october": (0, "every byte as it was written"),
    "dialframe audit diff october october-again": (0, "no finding differs"),
    "dialframe audit history": (0, "Violations found by"),
    "dialframe suppress add --file scrubbed.csv --region US --codes dncscrub --reason registry": (
        0, "1 numbers added",
    ),
    "dialframe suppress add --file october/internal_dnc.csv --reason audit": (0, "added"),
    "dialframe suppress check +12125550142": (3, "on the list"),
    "dialframe suppress codes": (0, "DNCScrub"),
    "dialframe rules list --rules us,us-fl": (0, "us-fl-hours"),
    "dialframe rules list --kind calling_hours": (0, "us-tsr-hours"),
    "dialframe rules show us-fl-hours": (0, "Fla. Stat."),
    "dialframe rules diff --own our-rules.toml": (0, "us-fl-cap"),
    "dialframe rules new --in US-FL --kind attempt_cap --to ours.toml": (0, "skeleton written"),
    "dialframe rules check ours.toml": (0, "nothing is wrong"),
    "dialframe rules test ours.toml": (0, "2 of 2 examples hold"),
    "dialframe rules test --rules us-fl": (0, "21 of 21 examples hold"),
    "dialframe gate check +12125550142 --campaign cmp_...": (3, "held"),
    "dialframe gate check --file today.csv --region US --rules us,us-* --json": (3, "held"),
    "dialframe store info": (0, "dispositions"),
    "dialframe store publish lake": (0, "calls"),
    "dialframe store vacuum": (0, "bytes before"),
    # Files written before hold the number, and are the user's to delete.
    "dialframe store forget +12125550142": (3, "cleaned/autumn.clean.csv: it holds the number"),
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

#: What a firm fills in where `rules new` left a skeleton.
FILLED_IN = {
    **{
        f'{name} = ""': f'{name} = "as the house decided"'
        for name in ("by", "why", "title", "citation", "quotation", "quoted_from")
    },
    'since_reason = ""': 'since_reason = "it has no first day"',
    'confidence_reason = ""': 'confidence_reason = "the text was read"',
    'sources = [""]': 'sources = ["https://house.example/manual"]',
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
    (tmp_path / "today.csv").write_text("Phone\n(212) 555-0142\n")
    (tmp_path / "complaints.csv").write_text("Phone\n020 7946 0018\n")
    (tmp_path / "scrubbed.csv").write_text("Phone,ResultCode\n2125550143,D\n2125550144,C\n")
    (tmp_path / "our-rules.toml").write_text(OWN_RULES)
    monkeypatch.chdir(tmp_path)
    for name, value in {
        "DIALFRAME_BASE_URL": service.base_url,
        "DIALFRAME_API_KEY": service.api_key,
        "DIALFRAME_STORE": str(tmp_path / "store"),
        "DIALFRAME_WEBHOOK_SECRET": SECRET,
        "DIALFRAME_GATE_TOKEN": "a-long-random-text-that-nobody-guesses",
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


def test_every_command_has_an_example_that_calls_it() -> None:
    """A page without one is no page; an example names the command that it stands with."""
    for entry in commands():
        assert entry.examples or not entry.runs, entry.name
        assert all(line.startswith(entry.name) for line in entry.examples), entry.name


def test_claims_are_about_examples_that_there_are() -> None:
    """No claim outlives its example."""
    assert set(CLAIMS) <= {line for _, line in EXAMPLES}
    assert set(ELSEWHERE) <= {line for _, line in EXAMPLES}
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
        status, words = CLAIMS.get(line, (0, ""))
        here = line.replace("cmp_...", campaign["id"]).replace("/mnt/", f"{environment}/")
        arguments = shlex.split(here)[1:]

        said = invoke(*arguments, ends=status).out
        assert words in said, f"{line}\n{said}"
        assert said.strip(), line


@pytest.mark.parametrize(
    "line", [line for line in SERVERS if not line.startswith(STARTED_ELSEWHERE)]
)
@pytest.mark.usefixtures("environment")
def test_servers_are_ready_and_end_well(line: str) -> None:
    """Each says where it is, and ends with status 0 when it is stopped."""
    arguments = shlex.split(re.sub(r"--port \d+", "--port 0", line))[1:]
    process = begun(*arguments)
    assert process.stdout is not None
    assert process.stderr is not None
    ready = (process.stdout if "--json" in line else process.stderr).readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)

    assert ready.strip(), err
    assert process.returncode == 0, err
    assert "Traceback" not in err
