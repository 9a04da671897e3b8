"""One store, one number: how far Do-Not-Call checks reach is the same wherever it is asked."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest

import dialframe
from dialframe import compliance, sandbox
from dialframe.account import Account, connect
from dialframe.assistant import analysis_tools
from dialframe.reports.audit_findings import headlines

#: `DIALFRAME_ONE_NUMBER=10` for ten accounts.
SEEDS = range(1, 1 + int(os.environ.get("DIALFRAME_ONE_NUMBER", "2")))
#: Accounts whose slower faces are asked too: they ask the query of `dnc.coverage` again.
SOME = (1,)
TABLES = ["leads", "calls", "campaigns"]


@dataclass(frozen=True)
class Asked:
    """An account whose numbers were checked in part, its audit, and the moment of it."""

    seed: int
    account: Account
    audit: compliance.Audit
    now: dt.datetime
    folder: Path


@pytest.fixture(scope="module", params=SEEDS)
def asked(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Asked]:
    """One synthetic account for each seed, read once and audited once."""
    folder = tmp_path_factory.mktemp(f"seed_{request.param}")
    with (
        sandbox.start(size="tiny", seed=request.param, as_of=dt.date(2026, 10, 30)) as box,
        connect(base_url=box.base_url, api_key=box.api_key, store=folder / "store") as account,
    ):
        account.sync(TABLES)
        phones = account.leads()["phone"].dropna().unique()
        account.check_dnc(phones[:: 2 + request.param % 3])
        now = dt.datetime.now(dt.UTC)
        yield Asked(request.param, account, dialframe.audit(account, now=lambda: now), now, folder)


def test_every_face_gives_one_number(asked: Asked) -> None:
    """Numbers and fresh ones: audit, coverage, headline, assistant."""
    account, now = asked.account, asked.now
    leads, calls = account.leads(), account.calls()
    covered = compliance.dnc.coverage(leads, calls, account.dnc_checks(), now=now)

    _, _, fresh = headlines(asked.audit)
    said = {
        "audit": _whole(asked.audit.coverage.summary),
        "coverage": _whole(covered.summary),
        "headline": (int(fresh.value or 0), fresh.of),
        "pack": _added(_of_campaigns(asked.audit.parts["coverage_by"])),
    }  # fmt: skip
    if asked.seed in SOME:
        tool = analysis_tools.BY_NAME["dnc_coverage"].run(analysis_tools.Asked(account, {}, now))

        said["assistant"] = _added(pd.DataFrame(tool["groups"]))
    assert len(set(said.values())) == 1, said
    assert 0 < said["audit"][0] < said["audit"][1]


def _whole(summary: pd.DataFrame) -> tuple[int, int]:
    row = summary[summary["population"] == "callable or called"].iloc[0]
    return int(row["fresh"]), int(row["numbers"])


def _of_campaigns(groups: pd.DataFrame) -> pd.DataFrame:
    return groups[groups["view"] == "campaign"]


def _added(groups: pd.DataFrame) -> tuple[int, int]:
    return int(groups["fresh"].sum()), int(groups["numbers"].sum())
