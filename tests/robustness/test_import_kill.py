"""An import killed at random moments, against a service with faults: every lead in the campaign once.

`DIALFRAME_IMPORT_KILLS=100` makes it 100 kills, `DIALFRAME_IMPORT_LEADS=3000` larger lists,
`DIALFRAME_IMPORT_SEED` other moments; `-o log_cli=true -o log_cli_level=INFO` shows each round.
"""

from __future__ import annotations

import json
import logging
import os
import random
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import pandas as pd
import pytest

from dialframe.evidence import EvidenceLog
from forked import Forked
from robustness.kill_load import CODES, LISTED_CODES
from sandbox.service_bench import Json, Service

#: What the sandbox is told to do wrong, as its console takes it.
FAULTS: Final[tuple[Json, ...]] = (
    {"status": 500},
    {"code": "upstream_unavailable"},
    {"code": "temporarily_unavailable"},
    {"code": "rate_limit_exceeded"},
    {"code": "conflict"},
    {"code": "outcome_unknown"},
    {"code": "dnc_screen_unavailable"},
    {"drop": "before"},
    {"drop": "during"},
    {"drop": "after-commit"},
    {"delay_seconds": 0.4},
    {"status": 200, "body": "not JSON"},
)


def numbers() -> list[str]:
    """Fictional numbers: 7,600 of them."""
    codes = (*CODES, *map(str, LISTED_CODES))
    return [f"+1{code}5550{last}" for code in codes for last in range(100, 200)]


def write_list(path: Path, dice: random.Random, size: int, mark: str) -> dict[str, str]:
    """A list of leads with repeated and broken records among them; the good ones by external id."""
    phones = dice.sample(numbers(), size)
    leads = {f"{mark}-{at}": phone for at, phone in enumerate(phones)}
    lines = ["Lead ID,Name,Phone,City"]
    for name, phone in leads.items():
        lines.append(f"{name},Ada {name},{phone},Berlin")
        if dice.random() < 0.02:
            lines.append(f"{name}-again,Ada {name},{phone},Berlin")
        if dice.random() < 0.02:
            lines.append(f"{name}-bad,Ada {name},12,Berlin")
    path.write_text("\n".join(lines) + "\n")
    return leads


class Sandbox:
    """A sandbox of its own process, whose state outlives it."""

    def __init__(self, service: Service, folder: Path) -> None:
        self.folder = folder
        self.facts = service.ready
        self.console, self.party = service.console, service.first_client()
        self.console.change(rate_limits=None, calling_hours=None)

    def arm(self, dice: random.Random, count: int) -> None:
        """Some of the next imports and checks go wrong."""
        for _ in range(count):
            fault = {
                **dice.choice(FAULTS),
                "operation": dice.choice(["leads.import"] * 4 + ["dnc.check"]),
                "times": dice.choice([1, 1, 2]),
                "after": dice.randrange(12),
            }
            self.console.do("POST", "/faults", fault, status=201)

    def disarm(self) -> None:
        """Nothing goes wrong any more."""
        self.console.do("DELETE", "/faults", status=204)

    def leads(self, campaign: str) -> list[Json]:
        """Every lead of a campaign."""
        return self.party.walk("/v1/leads", campaign_id=campaign, limit="100")

    def stored_answers(self) -> dict[str, bytes]:
        """Answers of writes that succeeded, by key, from the sandbox's own table."""
        with closing(sqlite3.connect(self.folder / "sandbox.sqlite")) as database:
            rows = database.execute("SELECT key, body FROM idempotency WHERE status = 200")
            return {str(key): bytes(body) for key, body in rows}


@contextmanager
def served(folder: Path) -> Iterator[Sandbox]:
    """A sandbox for the block."""
    with Service("--size", "empty", "--data", str(folder)) as service:
        yield Sandbox(service, folder)


class Import:
    """`dialframe leads import` as a user runs it, once or after every kill."""

    def __init__(self, sandbox: Sandbox, file: Path, out: Path, state: Path) -> None:
        self.out = out
        self.campaign = sandbox.party.campaign("draft")
        self.plan = out / f"{file.stem}.import.jsonl"
        self.log = EvidenceLog.beside(state / "store")
        self._arguments = [
            "leads", "import", str(file), "--campaign", self.campaign, "--region", "US",
            "--out", str(out), "--json", "--yes",
        ]  # fmt: skip
        self._environment = {
            "DIALFRAME_BASE_URL": sandbox.facts["base_url"],
            "DIALFRAME_API_KEY": sandbox.facts["api_key"],
            "DIALFRAME_STORE": str(state / "store"),
            "XDG_STATE_HOME": str(state),
        }
        self._said = state / "said.txt"

    def start(self) -> Forked:
        """Begin a run."""
        return Forked(run_here, self._arguments, self._environment, str(self._said))

    def killed(self, dice: random.Random) -> bool:
        """Run it and kill it at a drawn moment; whether it was still at work."""
        process = self.start()
        grown = self._size() + dice.randrange(120_000) if dice.random() < 0.7 else None
        until = time.monotonic() + (dice.uniform(0.0, 3.0) if grown is None else 6.0)
        while process.alive() and time.monotonic() < until:
            if grown is not None and self._size() > grown:
                time.sleep(dice.uniform(0.0, 0.05))
                break
            time.sleep(0.002)
        hit = process.alive()
        process.let_go()
        return hit

    def finish(self, most: int = 10) -> Json:
        """Run it until nothing is unknown; what it says then."""
        for _ in range(most):
            # What is unknown is a finding (3), and the next run asks again.
            assert self.start().end()[0] in (0, 3), self._said.read_text()
            facts: Json = json.loads(self._said.read_text())
            if not facts["unknown"]:
                return facts
        raise AssertionError("the import does not settle")

    def tried(self) -> bool:
        """Run it once, with faults as they are; whether it came to an end."""
        return self.start().end()[0] == 0

    def entries_of(self, state: str) -> list[Json]:
        """The records of the import in one state."""
        records = self.log.records(["import"])
        return [dict(each.detail) for each in records if each.detail.get("state") == state]

    def _size(self) -> int:
        files = (self.plan, self.log.path)
        return sum(path.stat().st_size for path in files if path.exists())


def run_here(arguments: list[str], environment: dict[str, str], said: str) -> None:
    """One command in this process, what it says in a file."""
    os.environ.update(environment)
    from dialframe.cli.entry_point import run

    with Path(said).open("w") as file:
        sys.stdout = sys.stderr = file
        status = run(arguments)
        file.flush()
    os._exit(status)


KILLS = int(os.environ.get("DIALFRAME_IMPORT_KILLS", "2"))
LEADS = int(os.environ.get("DIALFRAME_IMPORT_LEADS", "400"))
SEED = int(os.environ.get("DIALFRAME_IMPORT_SEED", "11"))
#: Faults cost waiting: the short form has few.
MOST_FAULTS = 4 if KILLS > 10 else 1
LOGGER = logging.getLogger(__name__)


def check_campaign(sandbox: Sandbox, work: Import, expected: dict[str, str]) -> None:
    """Every lead is there once, under its own number."""
    leads = sandbox.leads(work.campaign)
    assert Counter(lead["external_id"] for lead in leads) == Counter(expected.keys())
    assert {lead["external_id"]: lead["phone"] for lead in leads} == expected


def check_ledger(work: Import, facts: dict[str, int], expected: dict[str, str]) -> None:
    """The ledger balances, names every lead once, and agrees with what the command said."""
    ledger = pd.read_csv(work.plan.with_suffix(".csv"), dtype=str)
    assert (
        facts["sent"] == facts["accepted"] + facts["refused"] + facts["unknown"] == len(expected)
    )
    assert ledger["outcome"].value_counts().to_dict() == {"accepted": len(expected)}
    assert dict(zip(ledger["external_id"], ledger["phone"], strict=True)) == expected
    assert not ledger["_line"].duplicated().any()
    lines = Path(facts["inputs"][0]["name"])
    assert str(lines) == ledger["_file"].iloc[0]


def check_keys(sandbox: Sandbox, work: Import) -> None:
    """A batch has one key, in the log and in the service's own table, and a lead one batch."""
    sent: dict[int, set[str]] = {}
    for entry in work.entries_of("send"):
        sent.setdefault(entry["batch"], set()).add(entry["key"])
    assert all(len(keys) == 1 for keys in sent.values()), sent
    keys = {key for own in sent.values() for key in own}
    assert len(keys) == len(sent)
    leads: Counter[str] = Counter()
    for key, body in sandbox.stored_answers().items():
        if key in keys:
            leads.update(str(result["external_id"]) for result in json.loads(body)["data"])
    assert set(leads.values()) == {1}


@pytest.mark.slow
def test_killed_imports_end_with_every_lead_once(tmp_path: Path) -> None:
    """However often an import is killed, in the end each lead is in the campaign once, and the ledger balances."""
    dice = random.Random(SEED)
    done: Counter[str] = Counter()
    with served(tmp_path / "service") as sandbox:
        while done["kills"] < KILLS:
            number = done["imports"]
            folder = tmp_path / str(number)
            folder.mkdir()
            expected = write_list(folder / "list.csv", dice, LEADS, f"L{number}")
            work = Import(sandbox, folder / "list.csv", folder / "out", folder)
            for _ in range(dice.randint(2, 12)):
                sandbox.arm(dice, dice.randint(0, MOST_FAULTS))
                done["kills"] += work.killed(dice)
                if done["kills"] == KILLS:
                    break
            done["settled after faults"] += work.tried()
            sandbox.disarm()
            facts = work.finish()
            check_campaign(sandbox, work, expected)
            check_ledger(work, facts, expected)
            check_keys(sandbox, work)
            done["imports"] += 1
            done["batches"] += len({entry["batch"] for entry in work.entries_of("send")})
            done["unknown set aside"] += len(work.entries_of("unknown"))
            LOGGER.info("import %d: %s", number, dict(done))
    assert done["kills"] == KILLS
