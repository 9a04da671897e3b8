"""Tables that a spreadsheet cannot run, and folders of one run at a time."""

from __future__ import annotations

import csv
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pandas as pd
import pytest

from compliance import hand
from dialframe.csv_safety import escape, write_csv
from dialframe.errors import StoreError
from dialframe.files import LOCK, alone
from dialframe.flows import pack, reporting


def test_table_opens_without_running_anything(tmp_path: Path) -> None:
    """Texts that begin like a formula carry an apostrophe; numbers, nulls and E.164 stay."""
    frame = pd.DataFrame(
        {
            "phone": pd.array(["+12125550142", None], dtype="str"),
            "name": pd.array(["=1+1", "-x"], dtype="str"),
            "mixed": pd.Series(["@y", 3], dtype=object),
            "count": pd.array([-5, None], dtype="Int64"),
        }
    )
    lines = write_csv(frame, tmp_path / "x.csv").read_text().splitlines()

    assert lines[1:] == ["+12125550142,'=1+1,'@y,-5", ",'-x,3,"]


def test_export_opens_without_running_anything(tmp_path: Path) -> None:
    """The same holds for stored tables that are exported as CSV; Parquet keeps every text."""
    frame = pd.DataFrame({"full_name": pd.array(["=cmd|' /C calc'!A0"], dtype="str")})

    assert "'=cmd" in reporting.write_table(frame, tmp_path / "leads.csv").read_text()
    kept = pd.read_parquet(reporting.write_table(frame, tmp_path / "leads.parquet"))
    assert kept["full_name"].tolist() == ["=cmd|' /C calc'!A0"]


def test_no_table_of_a_pack_runs_anything(tmp_path: Path) -> None:
    """Ids, states, outcomes and numbers of the account are texts; findings are read back as they were."""
    at, formula = hand.utc("2026-11-20T04:00:00"), "=cmd|' /C calc'!A0"
    fields = {"campaign_id": formula, "status": formula, "hangup_cause": formula}
    calls = hand.calls(
        hand.call(hand.NEW_YORK, at, id="=1+1", disposition="=a", **fields),
        hand.call(hand.CHICAGO, at, id="@call", disposition="DNC", **fields),
        hand.call(hand.NEW_YORK, at + timedelta(days=1), id="-call", disposition="+b()", **fields),
        hand.call("=tel()", at, id="\t=x", disposition="-2+3", **fields),
    )
    leads = hand.leads(
        hand.lead(id=formula, campaign_id=formula, custom_fields={"lead_source": formula}),
        hand.lead(hand.CHICAGO, id="@lead", campaign_id=formula, disposition_code=formula),
    )
    checks = hand.checks(hand.check(at - timedelta(days=1), listed=True, request_id=formula))
    result = hand.audit(leads, calls, checks, rules=["us"], now=at + timedelta(days=2))

    pack.write(result, tmp_path / "pack", summary={})

    escaped = set()
    for path in (tmp_path / "pack").glob("*.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            for cell in (cell for row in csv.reader(file) for cell in row):
                assert escape(cell) == cell or cell.startswith("'"), (path.name, cell)
                if cell.startswith("'"):
                    escaped.add(path.name)
    assert escaped >= {"findings.csv", "calls.csv", "unmapped.csv", "coverage.csv"}
    again = pack.findings_of(tmp_path / "pack")
    for name in ("call_id", "lead_id", "campaign_id", "evidence"):
        assert again[name].dropna().tolist() == result.findings[name].dropna().tolist()


def test_second_run_is_refused_and_a_later_one_is_not(tmp_path: Path) -> None:
    """The lock goes with its holder, and its file with it."""
    with alone(tmp_path / "out"):
        with (
            pytest.raises(StoreError, match="another run is writing into"),
            alone(tmp_path / "out"),
        ):
            raise AssertionError
        assert [path.name for path in (tmp_path / "out").iterdir()] == [LOCK]
    with alone(tmp_path / "out"):
        pass
    assert list((tmp_path / "out").iterdir()) == []


def test_killed_holder_holds_nothing(tmp_path: Path) -> None:
    """A run that was killed leaves a file without a lock."""
    code = (
        "import os, signal, sys; from pathlib import Path; from dialframe.files import alone\n"
        "with alone(Path(sys.argv[1])): os.kill(os.getpid(), signal.SIGKILL)"
    )
    source = str(Path(__file__).parents[2] / "src")
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], check=False, env={"PYTHONPATH": source}
    )

    assert done.returncode == -9
    assert (tmp_path / LOCK).exists()
    with alone(tmp_path):
        pass
    assert not (tmp_path / LOCK).exists()
