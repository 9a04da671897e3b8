"""An account held against the rules, and the evidence written down; grades nothing itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

import pandas as pd

from dialframe import compliance, frames
from dialframe.account import Account
from dialframe.analytics import DEFAULT, Taxonomy
from dialframe.compliance import Audit
from dialframe.config import OnProgress, silent
from dialframe.errors import StoreError
from dialframe.flows.files import write_csv, write_text

#: Outcome class that means "do not call me again".
REQUEST_CLASS = "dnc_request"


def audit(
    account: Account,
    *,
    now: Callable[[], datetime],
    max_age: str | None = None,
    state_field: str | None = None,
    taxonomy: Taxonomy = DEFAULT,
    on_progress: OnProgress = silent,
) -> Audit:
    """Hold everything that the store knows of an account against the federal rules.

    Args:
        account: The account; synced before, so that the calls are there.
        now: The clock, UTC; read once the checks are made, since nothing later than it counts.
        max_age: If given, numbers whose newest check is older ("31d") are asked about first; the
            answers are kept as evidence.
        state_field: Custom field that names the called party's state; it adds candidate zones.
        taxonomy: Which dispositions are requests not to be called.
        on_progress: Told of the checks.
    """
    leads, calls = account.leads(), account.calls()
    _require_read(leads, calls)
    if max_age is not None:
        account.check_dnc(worth_checking(leads, calls), max_age=max_age, on_progress=on_progress)
    return compliance.audit(
        leads,
        calls,
        account.dnc_checks(),
        account.callbacks(),
        now=now(),
        states=None if state_field is None else known_states(leads, state_field),
        dnc_codes=request_codes(calls, taxonomy),
    )


def coverage_by_campaign(account: Account, *, now: datetime) -> pd.DataFrame:
    """How recent the Do-Not-Call records of each campaign's numbers are: `group, fresh, stale, never`.

    A number of several campaigns counts in each of them; `group` is the campaign's name.
    """
    covered = compliance.dnc.coverage(
        account.leads(), account.calls(), account.dnc_checks(), now=now, by="campaign_id"
    )
    table = covered.summary
    table = table.loc[(table["population"] == "callable or called") & table["group"].notna()]
    campaigns = account.campaigns()
    names = dict(zip(campaigns["id"], campaigns["name"], strict=True))
    return table.assign(group=table["group"].map(names).fillna(table["group"]))[
        ["group", "fresh", "stale", "never"]
    ].reset_index(drop=True)


def worth_checking(leads: pd.DataFrame, calls: pd.DataFrame) -> list[str]:
    """Numbers that are callable or were called, each once, in order."""
    open_leads = leads.loc[~leads["status"].isin(["dnc", "completed"]), "phone"]
    called = calls.loc[calls["direction"] == "outbound", "to_number"]
    return sorted({*open_leads.dropna(), *called.dropna()})


def known_states(leads: pd.DataFrame, state_field: str) -> pd.Series:
    """State of each number where a lead's custom field names it; number to state."""
    states = frames.custom_field(leads, state_field)
    known = pd.Series(states.to_numpy(), index=leads["phone"].to_numpy(), dtype="str").dropna()
    return known[~known.index.duplicated()]


def request_codes(calls: pd.DataFrame, taxonomy: Taxonomy) -> Sequence[str]:
    """Dispositions of the account that its taxonomy takes for a request not to be called."""
    used = calls["disposition"].dropna().unique()
    return sorted({*compliance.dnc.REQUEST_CODES, *(c for c in used if _is_request(c, taxonomy))})


def write_evidence(result: Audit, folder: Path) -> dict[str, Path]:
    """Write what an audit found, with whole numbers, readable by the owner alone.

    Args:
        result: The audit.
        folder: Folder of the files; made, for the owner alone, where it is missing.

    Returns:
        Name to path: `findings`, `calling_hours`, `listed_calls`, `coverage` (CSV) and `summary`
        (JSON: verdict, counts, rule book, hashes).
    """
    tables = {
        "findings": result.findings,
        "calling_hours": result.hours,
        "listed_calls": result.listed,
        "coverage": result.coverage.numbers,
    }
    files = {name: write_csv(frame, folder / f"{name}.csv") for name, frame in tables.items()}
    summary = json.dumps(facts(result), indent=2, ensure_ascii=False, default=str) + "\n"
    return {**files, "summary": write_text(summary, folder / "summary.json")}


def facts(result: Audit) -> dict[str, object]:
    """An audit as plain values for machines; no number in it."""
    columns = ["check", "checked", "pass", "violation", "uncertain", "not_evaluable"]
    return {
        "as_of": result.as_of.isoformat(),
        "verdict": result.verdict,
        "checks": result.checks[columns].to_dict("records"),
        "sentences": list(result.checks["sentence"]),
        "left_out": dict(result.excluded),
        "rulebook_version": result.rulebook_version,
        "rulebook_sha256": result.rulebook_sha256,
        "notes": list(result.notes),
    }


def _require_read(*frames_read: pd.DataFrame) -> None:
    """Refuse to audit what was never read: no finding in no data is no result.

    Raises:
        StoreError: A table was never synced.
    """
    for frame in frames_read:
        freshness = frame.attrs["dialframe"]
        if freshness["synced_at"] is None:
            raise StoreError(
                f"{freshness['table']} were never read, so nothing can be said of them: "
                "run `dialframe sync` first"
            )


def _is_request(code: str, taxonomy: Taxonomy) -> bool:
    return taxonomy.outcome("disposition", code) == REQUEST_CLASS
