"""Runs every example of every command's help, one after the other in one folder, on a sandbox and the sample list."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Final

import duckdb

import dialframe
from dialframe.cli.entry_point import SERVERS
from sitepages.command_list import commands
from sitepages.reader import LISTS, ROOT, Ran, Reader, environment

#: Every example with the command that it stands with.
EXAMPLES: Final = [(entry.path, line) for entry in commands() for line in entry.examples]
#: What serves until it is stopped: tests start these.
SERVING: Final = [line for path, line in EXAMPLES if tuple(path.split()) in SERVERS]
#: Many seconds each. The script of the continuous checks runs the first, from the built package in an
#: empty folder; the tests of the report run the second with other words.
ELSEWHERE: Final = (
    "dialframe demo",
    "dialframe report --out october --since 2026-10-01 --until 2026-11-01",
)
#: What has to be there before others; an example leaves its files for the next.
_FIRST: Final = ("dialframe sync", "dialframe audit")
#: Ids as the examples have them: of a command that changed something, of a campaign, of a call.
_RUN, _CAMPAIGN, _CALL = "run-20261125-081500-3f2a", "cmp_...", "call_01J..."
_OWN_RULES: Final = """
[[change]]
id = "us-fl-cap"
by = "An officer"
why = "stricter"
on = 2026-10-01
parameters = { max_attempts = 2 }
"""
#: What a firm fills in where `rules new` left a skeleton.
_FILLED_IN: Final = {
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


def run_examples() -> Iterator[tuple[str, Ran]]:
    """Run each example that ends; its line, and what came of it."""
    with (
        environment() as folder,
        dialframe.sandbox.start(size="tiny", seed=3, as_of=date(2026, 11, 1)) as service,
    ):
        service.console.update_account({"rate_limits": None})
        _lay_out(folder)
        os.environ.update(
            {
                "DIALFRAME_BASE_URL": service.base_url,
                "DIALFRAME_API_KEY": service.api_key,
                "DIALFRAME_STORE": str(folder / "store"),
                "DIALFRAME_WEBHOOK_SECRET": "whsec_" + "a" * 32,
            }
        )
        campaign = service.console.create_campaign(service.client_id, "autumn", status="draft")
        made = Reader(folder)
        lines = [line for _, line in EXAMPLES if line not in (*SERVING, *ELSEWHERE)]
        for line in sorted(lines, key=lambda line: not line.startswith(_FIRST)):
            _prepare(line, folder)
            here = line.replace(_CAMPAIGN, campaign["id"]).replace("/mnt/", f"{folder}/")
            if _CALL in here:
                here = here.replace(_CALL, _graded_call(folder / "october"))
            if _RUN in here:
                here = here.replace(_RUN, _run_of(made, evidence=" evidence " in here))
            yield line, made.command(here)


def _lay_out(folder: Path) -> None:
    """The files that the examples name."""
    shutil.copy(LISTS / "us_autumn_campaign.csv", folder / "autumn.csv")
    shutil.copy(
        ROOT / "data_samples" / "calls" / "vicidial_export_calls.csv", folder / "march.csv"
    )
    (folder / "lists").mkdir()
    for name, text in {
        "today.csv": "Phone\n(212) 555-0142\n",
        "complaints.csv": "Phone\n020 7946 0018\n",
        "wrong.csv": "Phone\n(212) 555-0144\n",
        "scrubbed.csv": "Phone,ResultCode\n2125550143,D\n2125550144,C\n",
        "our-rules.toml": _OWN_RULES,
    }.items():
        (folder / name).write_text(text)


def _prepare(line: str, folder: Path) -> None:
    """Do what a person does between two examples."""
    if "october-again" in line:
        shutil.copytree(folder / "october", folder / "october-again")
    if line == "dialframe rules check ours.toml":
        skeleton = folder / "ours.toml"
        text = skeleton.read_text()
        for empty, filled in _FILLED_IN.items():
            if empty not in text:
                raise ValueError(f"the skeleton of a rule has no {empty}")
            text = text.replace(empty, filled)
        skeleton.write_text(text)
    if line.startswith("dialframe store restore"):
        # A restore takes the place of a store that was lost.
        shutil.move(folder / "store", folder / "store-lost")


def _graded_call(pack: Path) -> str:
    """The id of a call that the pack's audit graded."""
    with duckdb.connect() as connection:
        calls = str(pack / "tables" / "calls.parquet")
        found = connection.execute(
            "select min(call_id) from read_parquet(?) where graded", [calls]
        ).fetchall()
    return str(found[0][0])


def _run_of(made: Reader, *, evidence: bool) -> str:
    """The id of a command that has taken a file of evidence, or put a number on the list."""
    if evidence:
        made.command(
            "dialframe evidence add scrubbed.csv --list us-tx --made 2026-10-01 --region US"
        )
        return str(
            json.loads(made.command("dialframe evidence list --json").text)["files"][-1]["run"]
        )
    made.command("dialframe suppress add +12125550199 --reason slip")
    listed = json.loads(made.command("dialframe suppress list --reason slip --json").text)
    return str(listed["runs"][0]["run"])
