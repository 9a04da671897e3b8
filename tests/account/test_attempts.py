"""Attempts of an account: one row each, as a frame, in SQL, and in the place of the calls."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import dialframe
from dialframe import analytics, sandbox


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> dialframe.Account:
    """A synced account of the sandbox."""
    folder: Path = tmp_path_factory.mktemp("attempts")
    with (
        sandbox.start(size="tiny", seed=5) as service,
        dialframe.connect(
            base_url=service.base_url, api_key=service.api_key, store=folder
        ) as opened,
    ):
        opened.sync()
        yield opened


def test_attempts_are_the_counted_calls_with_their_numbers(account: dialframe.Account) -> None:
    """One row per counted attempt; each lead's attempts are numbered from 1 without a gap."""
    frame = account.attempts()
    assert len(frame) == int(analytics.summary(account.calls()).table["denominator"].max())
    numbers = frame[frame["lead_id"].notna()].groupby("lead_id")["attempt"]
    assert (numbers.max() == numbers.count()).all()
    assert (numbers.min() == 1).all()


def test_a_window_keeps_the_number_of_the_whole_history(account: dialframe.Account) -> None:
    """The third attempt of a lead is the third in a window that leaves out the first two."""
    whole = account.attempts().set_index("call_id")
    middle = whole["created_at"].sort_values().iloc[len(whole) // 2]
    part = account.attempts(since=middle.to_pydatetime()).set_index("call_id")
    assert 0 < len(part) < len(whole)
    assert (part["attempt"] == whole.loc[part.index, "attempt"]).all()


def test_attempts_are_made_once_for_each_state_of_the_store(account: dialframe.Account) -> None:
    """Asked again, nothing is matched or classed again."""
    account.attempts()
    kept = account._attempts
    account.attempts(campaign=str(account.campaigns()["id"].iloc[0]))
    assert account._attempts is kept


def test_sql_has_the_attempts_too(account: dialframe.Account) -> None:
    """The view of the same name has the same rows, beside the tables of the store."""
    rows = account.query("SELECT count(*) AS n, sum(human::int) AS k FROM attempts").to_pylist()
    frame = account.attempts()
    assert rows == [{"n": len(frame), "k": int(frame["human"].fillna(value=False).sum())}]
    assert account.query("SELECT count(*) AS n FROM calls").to_pylist()[0]["n"] == len(
        account.calls()
    )


@pytest.mark.parametrize("name", ["hours", "attempts", "recycle", "caller_ids", "best_time"])
def test_an_analysis_takes_attempts_in_the_place_of_calls(
    name: str, account: dialframe.Account
) -> None:
    """The same numbers, whether of calls and leads, of attempts, or of attempts in polars."""
    polars = pytest.importorskip("polars")
    ask = getattr(analytics, name)
    expected = ask(account.calls(), account.leads()).table
    frame = account.attempts()
    for given in (frame, polars.from_pandas(frame)):
        found = ask(given).table
        pd.testing.assert_frame_equal(
            found.select_dtypes("number"), expected.select_dtypes("number"), check_exact=False
        )
