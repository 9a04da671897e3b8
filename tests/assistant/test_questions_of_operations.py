"""Thirty questions of a head of operations have the numbers of the frames, in one call each; nothing else is within reach."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dialframe import analytics
from dialframe.account import Account, connect
from dialframe.analytics.metrics import HEADLINES, METRICS
from dialframe.assistant import analysis_tools
from dialframe.errors import ConfigError
from dialframe.frames import custom_field
from dialframe.sandbox import Sandbox
from dialframe.suppression import Entry, SuppressionList

QUESTIONS = tomllib.loads(Path(__file__).with_name("questions.toml").read_text("utf-8"))[
    "question"
]


@pytest.fixture(scope="module")
def account(tools_sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Account]:
    """An account whose store has every table that is asked about."""
    folder = tmp_path_factory.mktemp("questions")
    with connect(tools_sandbox.base_url, tools_sandbox.api_key, folder) as opened:
        opened.sync(["leads", "calls", "campaigns", "callbacks", "appointments"])
        yield opened


def asked(account: Account, name: str, **arguments: Any) -> dict[str, Any]:
    """What a tool answers."""
    now = datetime.now(UTC)
    return analysis_tools.BY_NAME[name].run(analysis_tools.Asked(account, arguments, now))


def test_each_question_has_the_number_of_the_frames(account: Account) -> None:
    """By one statement over the views."""
    names = {
        "c": account.calls(), "l": account.leads(), "g": account.campaigns(),
        "b": account.callbacks(), "p": account.appointments(), "custom_field": custom_field, "len": len,
    }  # fmt: skip
    wrong = []
    for row in QUESTIONS:
        expected = eval(row["number"], {"__builtins__": {}}, names)  # noqa: S307 - our own table
        answer = asked(account, "ask", sql=row["sql"])["rows"][0][0]
        if int(answer or 0) != int(expected):
            wrong.append((row["words"], answer, expected))
    assert wrong == []
    assert len(QUESTIONS) == 30


def test_every_metric_has_the_numbers_of_the_report(account: Account) -> None:
    """Of the whole account by default the rates that the report opens with; any metric by name; split, each group."""
    calls, leads = account.calls(), account.leads()
    expected = analytics.metrics(calls, leads).table.set_index("metric")
    answer = asked(account, "metric", names=list(METRICS))
    assert [row["metric"] for row in answer["metrics"]] == list(expected.index)
    for row in answer["metrics"]:
        for name in ("value", "numerator", "denominator"):
            known = expected.loc[row["metric"], name]
            assert row[name] == (None if pd.isna(known) else pytest.approx(known, abs=1e-4))
        assert answer["definitions"][row["metric"]]
    assert [row["metric"] for row in asked(account, "metric")["metrics"]] == list(HEADLINES)
    split = asked(account, "metric", names=["contact_rate"], by="lead_source")["metrics"]
    assert len(split) == len(analytics.metrics(calls, leads, names=("contact_rate",), by="lead_source").table)  # fmt: skip
    with pytest.raises(ConfigError, match="contact_rate"):
        asked(account, "metric", names=["happiness"])
    with pytest.raises(ConfigError, match="policy"):
        asked(account, "metric", by="plan")


@pytest.mark.parametrize(
    "sql",
    [
        "select * from read_csv('/etc/passwd')", "select * from glob('/*')", "select * from '/etc/passwd'",
        "copy calls to '/tmp/out.csv'", "attach '/tmp/other.db'", "install httpfs", "create table t as select 1",
        "select 1; select 2", "set lock_configuration = false", "select * from nowhere", "selec 1", "",
        "select getenv('HOME')",
    ],
)  # fmt: skip
def test_what_is_no_select_over_the_views_is_refused(account: Account, sql: str) -> None:
    """In a sentence, whatever the engine knows."""
    with pytest.raises(ConfigError, match=r"statement|nothing else"):
        asked(account, "ask", sql=sql)


def test_numbers_are_masked_and_people_left_out(account: Account) -> None:
    """An id tells people apart, is another one in the next question, and names nobody."""
    row = asked(account, "ask", sql="select phone, phone_id from leads where phone is not null")[
        "rows"
    ][0]
    again = asked(account, "ask", sql="select phone, phone_id from leads where phone is not null")[
        "rows"
    ][0]
    assert row[0] == again[0] != account.leads()["phone"].dropna().iloc[0]
    assert "*****" in row[0]
    assert row[1] != again[1]
    with pytest.raises(ConfigError, match="full_name"):
        asked(account, "ask", sql="select full_name from leads")


def test_rows_are_bounded_and_it_is_said(account: Account) -> None:
    """More rows are named as left out."""
    answer = asked(account, "ask", sql="select id from calls", limit=3)
    assert (len(answer["rows"]), answer["more"]) == (3, True)


def test_the_firms_own_list_and_the_gate_answer_alike(account: Account) -> None:
    """A number that asked not to be called is suppressed and held, beside those that the sync listed."""
    phone = str(account.leads()["phone"].dropna().iloc[0])
    now = datetime.now(UTC)
    listed = SuppressionList.beside(account.store.folder.parent)
    synced = len(list(listed.entries()))
    listed.add([Entry(phone, reason="opt_out", source="a call", on=now.date())], now)
    suppressed = asked(account, "who_is_suppressed", numbers=[phone, "+12125550199"])
    assert suppressed["entries"] == synced + 1
    row = {"reason": "opt_out", "source": "a call", "numbers": 1}
    assert row in suppressed["by_reason_and_source"]
    assert [row["suppressed"] for row in suppressed["numbers"]] == [True, False]
    verdicts = asked(account, "may_call", numbers=[phone])
    assert (verdicts["held"], verdicts["may_be_called"]) == (1, 0)
