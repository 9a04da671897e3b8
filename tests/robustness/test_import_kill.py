"""An import killed at random moments, against a service with faults: every lead in the campaign once.

`DIALFRAME_IMPORT_KILLS=100` makes it 100 kills, `DIALFRAME_IMPORT_LEADS=3000` larger lists,
`DIALFRAME_IMPORT_SEED` other moments; `-o log_cli=true -o log_cli_level=INFO` shows each round.
"""

from __future__ import annotations

import json
import logging
import os
import random
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from robustness.import_kill import Import, Sandbox, served, write_list

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
    ledger = pd.read_csv(work.journal.with_suffix(".csv"), dtype=str)
    assert (
        facts["sent"] == facts["accepted"] + facts["refused"] + facts["unknown"] == len(expected)
    )
    assert ledger["outcome"].value_counts().to_dict() == {"accepted": len(expected)}
    assert dict(zip(ledger["external_id"], ledger["phone"], strict=True)) == expected
    assert not ledger["_line"].duplicated().any()
    lines = Path(facts["inputs"][0]["name"])
    assert str(lines) == ledger["_file"].iloc[0]


def check_keys(sandbox: Sandbox, work: Import) -> None:
    """A batch has one key, in the journal and in the service's own table, and a lead one batch."""
    sent: dict[int, set[str]] = {}
    for entry in work.entries():
        if entry["kind"] == "send":
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
            done["batches"] += len(work.entries_of("batch"))
            done["unknown set aside"] += len(work.entries_of("unknown"))
            LOGGER.info("import %d: %s", number, dict(done))
    assert done["kills"] == KILLS
