"""Tools of our own: small tables with units, out of the store and out of a list."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from mcp import Client

from assistant.conftest import in_memory, text_of
from dialframe.account import Account, connect
from dialframe.assistant import analysis_tools, tool_answers
from dialframe.assistant.offered_operations import Exposure
from dialframe.errors import ConfigError, DialframeError, LeadFileError, StoreError
from dialframe.sandbox import Sandbox
from dialframe.suppression import Entry, SuppressionList

NOW = datetime.now(UTC)
CHECKED = 30
WHOLE_NUMBER = re.compile(r"\+\d{11}")


@pytest.fixture(scope="module")
def account(tools_sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Account]:
    """An account with leads, calls and some Do-Not-Call checks in its store."""
    folder = tmp_path_factory.mktemp("analyses")
    with connect(tools_sandbox.base_url, tools_sandbox.api_key, folder) as opened:
        opened.sync(["leads", "calls", "campaigns"])
        opened.check_dnc(opened.leads()["phone"].dropna().unique()[:CHECKED])
        yield opened


def ask(account: Account, name: str, now: datetime = NOW, **arguments: Any) -> dict[str, Any]:
    """One analysis."""
    return analysis_tools.BY_NAME[name].run(analysis_tools.Asked(account, arguments, now))


def through_the_server(account: Account, name: str, exposure: Exposure, **arguments: Any) -> str:
    """One analysis as a client gets it."""

    async def talk(client: Client) -> str:
        return text_of(await client.call_tool(name, arguments))

    return str(in_memory(account, talk, exposure))


def test_funnel_never_grows_and_says_what_it_counts(account: Account) -> None:
    """Counts, denominators, shares with an interval, and a definition of every stage."""
    made = ask(account, "campaign_funnel")
    counts = [row["count"] for row in made["stages"]]
    assert counts == sorted(counts, reverse=True)
    assert made["stages"][2]["denominator"] == counts[1]
    assert set(made["definitions"]) == {row["stage"] for row in made["stages"]}
    assert "leads" in made["units"]
    assert "UTC" in made["units"]
    assert all(
        len(digits) <= 4 for digits in re.findall(r"\.(\d+)[,}]", json.dumps(made["stages"]))
    )


def test_split_funnel_is_bounded_and_says_what_is_left_out(account: Account) -> None:
    """Whole groups, the greatest first."""
    made = ask(account, "campaign_funnel", by="region")
    rows = made["stages"]
    groups = list(dict.fromkeys(row["region"] for row in rows))
    assert len(groups) == analysis_tools.GROUPS
    assert len(rows) == len(groups) * len(made["definitions"])
    assert re.fullmatch(r"\d+ smaller groups of region", made["left_out"])


def test_funnel_of_a_period(account: Account) -> None:
    """Calls from a day on, before a day; a slip is a sentence."""
    whole = ask(account, "campaign_funnel")["stages"][2]["count"]
    none = ask(account, "campaign_funnel", until="2001-01-01")["stages"]
    assert sum(row["count"] for row in none[2:]) == 0 < whole
    with pytest.raises(ConfigError, match=r"since takes a day .* not 'yesterday'"):
        ask(account, "campaign_funnel", since="yesterday")
    with pytest.raises(ConfigError, match="policy names custom_fields"):
        ask(account, "campaign_funnel", by="Notes")


@pytest.mark.parametrize("view", ["campaign", "source", "state", "week"])
def test_coverage_counts_every_number_once(account: Account, view: str) -> None:
    """Fresh, screened, stale and never checked add up, and the numbers to check are the first few."""
    made = ask(account, "dnc_coverage", now=NOW + timedelta(hours=1), by=view)
    assert made["groups"]
    for group in made["groups"]:
        states = [group[state] for state in ("fresh", "screened", "stale", "never")]
        assert sum(states) == group["numbers"]
    assert sum(group["fresh"] for group in made["groups"]) > 0
    assert len(made["groups"]) <= analysis_tools.ROWS
    assert len(made["to_check_first"]) == min(made["to_check"], analysis_tools.NUMBERS)
    assert "31 days" in made["units"]


def test_older_checks_will_do_if_you_say_so(account: Account) -> None:
    """The limit is the caller's; however lax, an import's screening is no check."""
    later = NOW + timedelta(days=40)
    strict, lax = (
        ask(account, "dnc_coverage", now=later, max_age_days=days) for days in (1, 3650)
    )
    assert lax["to_check"] < strict["to_check"]
    assert {row["state"] for row in lax["to_check_first"]} <= {
        "screened at import",
        "never checked",
    }


@pytest.mark.parametrize("name", ["campaign_funnel", "dnc_coverage", "call_audit"])
def test_answers_are_small_and_numbers_masked(account: Account, name: str) -> None:
    """Unless whoever started the server asked for them whole."""
    said = through_the_server(account, name, Exposure())
    assert len(said) < tool_answers.MOST_CHARS + 200
    assert not WHOLE_NUMBER.search(said)
    assert "UTC" in json.loads(said)["units"]
    if name == "dnc_coverage":
        assert WHOLE_NUMBER.search(through_the_server(account, name, Exposure(reveal=True)))


def test_nothing_read_is_no_result(tools_sandbox: Sandbox, tmp_path: Any) -> None:
    """An empty store answers nothing, and says what comes first."""
    with connect(tools_sandbox.base_url, tools_sandbox.api_key, tmp_path) as empty:
        for name in ("campaign_funnel", "dnc_coverage", "call_audit"):
            with pytest.raises(StoreError, match="sync"):
                ask(empty, name)


def test_list_check_accounts_for_every_row(account: Account) -> None:
    """Each row is clean, rejected, a duplicate or skipped, with the reason and its meaning."""
    content = "Name,Phone\nAnn,212-555-0142\nBob,(212) 555-0142\nCy,12\n"
    made = ask(account, "check_lead_list", content=content, region="US")
    assert (made["records"], made["clean"], made["duplicates"], made["rejected"]) == (3, 1, 1, 1)
    assert {row["reason"] for row in made["reasons"]} == {"phone_too_short", "duplicate_in_file"}
    assert "555" not in json.dumps(made)


def test_list_check_honors_the_suppression_list(account: Account) -> None:
    """A number of the firm's own list beside the store is held back, in this process and in its own."""
    content = "Name,Phone\nAnn,212-555-0142\nBob,212-555-0187\n"
    own = SuppressionList.beside(account.store.folder.parent)
    own.add([Entry("+12125550187", "opt_out", "test", NOW.date())], NOW)
    made = ask(account, "check_lead_list", content=content, region="US")
    through = through_the_server(
        account, "check_lead_list", Exposure(), content=content, region="US"
    )

    assert (made["clean"], made["do_not_call"]) == (1, 1)
    assert [row["reason"] for row in made["reasons"]] == ["suppressed"]
    assert json.loads(through)["do_not_call"] == 1
    assert "0187" not in through


def test_list_check_guesses_no_country(account: Account) -> None:
    """Numbers that may be of several countries are read once the region is told."""
    content = "Name,Phone\nAnn,212-555-0142\n"
    with pytest.raises(LeadFileError, match="does not say of which country its numbers are"):
        ask(account, "check_lead_list", content=content)
    assert ask(account, "check_lead_list", content=content, region="US")["clean"] == 1


def test_list_check_takes_a_region_and_a_mapping(account: Account) -> None:
    """Where a number belongs to and which column it stands in can be told."""
    made = ask(
        account,
        "check_lead_list",
        content="a;b\n020 7946 0123;x\n",
        region="GB",
        mapping={"phone": "a"},
    )
    assert made["clean"] == 1
    assert "GB" in made["units"]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "\x00\x00",
        "x",
        "\ud800,\ud801\n1,2\n",
        "a,b\n" * 3,
        "x" * (analysis_tools.LIST_CHARS + 1),
    ],
    ids=["empty", "nul", "one cell", "surrogates", "no phone", "long"],
)
def test_what_is_no_list_is_said(account: Account, content: str) -> None:
    """In one sentence, never as a fault."""
    with pytest.raises(DialframeError):
        ask(account, "check_lead_list", content=content)
