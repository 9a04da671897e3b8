"""The account's face: frames with freshness, attempts, checks that keep evidence, erasing, opening."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest

import dialframe
from account.conftest import IDENTITY
from account.service import CAMPAIGN, START, FakeService, FragileStore, phone
from dialframe import analytics, frames, sandbox
from dialframe.account import Account, connect
from dialframe.errors import ConfigError, ContractError, TransportError
from dialframe.frames.frame_schemas import PROVENANCE
from dialframe.store import Check, Store

URL = "https://api.example.com"


@pytest.mark.parametrize("table", frames.TABLES.values(), ids=lambda table: table.name)
def test_an_empty_store_gives_empty_frames_with_the_right_dtypes(
    account: Account, table: frames.Table
) -> None:
    """Before the first sync a frame has its columns and dtypes, and says that nothing was synced."""
    frame = getattr(account, table.name)()

    fresh = frame.attrs["dialframe"]
    assert len(frame) == 0
    assert frame.dtypes.equals(frames.empty(table, PROVENANCE).dtypes)
    assert (fresh["table"], fresh["rows"], fresh["synced_at"]) == (table.name, 0, None)
    assert fresh["complete"] is False
    assert (fresh["oldest"], fresh["newest"]) == (None, None)
    if table.name not in ("dnc_checks", "events"):
        assert fresh["sentence"] == f"{table.name}: never synced; run account.sync()."


def test_a_synced_frame_says_how_fresh_it_is(account: Account, service: FakeService) -> None:
    """Freshness has the rows shown, their ends, and when the service was last asked."""
    account.sync()

    fresh = account.calls(since=START - timedelta(days=3)).attrs["dialframe"]

    assert fresh["rows"] == 4
    assert fresh["complete"] is True
    assert datetime.fromisoformat(fresh["oldest"]) == START - timedelta(days=3)
    assert datetime.fromisoformat(fresh["newest"]) == START
    assert START <= datetime.fromisoformat(fresh["synced_at"]) <= service.now
    assert fresh["sentence"] == "calls: complete as of 2026-03-02 09:00 UTC."


def test_freshness_survives_a_parquet_file(account: Account, tmp_path: Path) -> None:
    """The facts in `.attrs` are JSON values, so a saved table still says how fresh it was."""
    account.sync()
    frame = account.dispositions()

    frame.to_parquet(tmp_path / "x.parquet")

    assert pd.read_parquet(tmp_path / "x.parquet").attrs == frame.attrs
    assert json.loads(json.dumps(frame.attrs)) == frame.attrs


def test_frames_take_since_until_campaign_and_as_of(
    account: Account, service: FakeService
) -> None:
    """Days are midnights UTC, `until` is left out, and as-of shows what was known then."""
    account.sync()
    before = service.now
    service.now += timedelta(hours=1)
    changed = service.put("calls", 0, START, campaign_id=None, disposition="sale")
    account.sync(["calls"])

    assert len(account.calls(since="2026-03-01", until="2026-03-02")) == 1
    assert len(account.calls(since=date(2026, 3, 1), until="2026-03-02T10:00:00Z")) == 2
    assert changed not in set(account.calls(campaign=CAMPAIGN)["id"])
    assert changed in set(account.calls(campaign=CAMPAIGN, as_of=before)["id"])
    assert list(account.campaigns(campaign=CAMPAIGN)["id"]) == [CAMPAIGN]
    assert account.calls(as_of=before).attrs["dialframe"]["as_of"] == before.isoformat()


def test_a_campaign_is_named_by_name_or_id(account: Account, service: FakeService) -> None:
    """In any case of letters; whoever names none is told the nearest names, and a young one is found."""
    service.put("campaigns", 1, START, name="Autumn renewals")
    service.put("campaigns", 2, START, name="Spring")
    account.sync()
    young = service.put("campaigns", 3, START, name="Winter")
    service.put("campaigns", 4, START, name="spring")

    assert account.campaign_id(" autumn RENEWALS") == CAMPAIGN == account.campaign_id(CAMPAIGN)
    assert account.campaign_id("Winter") == young == account.campaign_id(young)
    assert len(account.calls(campaign="Autumn renewals")) == 40
    with pytest.raises(ConfigError, match="did you mean 'Autumn renewals'"):
        account.leads(campaign="Autum renewal")
    account.sync()
    assert account.campaign_id("Spring").endswith("2")
    with pytest.raises(ConfigError, match="2 campaigns are called 'SPRING'"):
        account.attempts(campaign="SPRING")


@pytest.mark.parametrize(
    "text",
    ["yesterday", "2026-03-02T08:00:00", datetime(2026, 3, 2), "2026-13-01"],  # noqa: DTZ001
)
def test_an_instant_without_a_zone_is_refused(account: Account, text: str | datetime) -> None:
    """A time that could be anywhere's is an error that says how to write it."""
    with pytest.raises(ConfigError, match="since"):
        account.calls(since=text)


def test_a_window_that_ends_before_it_begins_is_refused(account: Account) -> None:
    """As analyses refuse it: an empty table would look like an account without calls."""
    for ask in (account.calls, account.attempts, account.events):
        with pytest.raises(ConfigError, match=r"since=2026-03-02.* is after until=2026-03-01"):
            ask(since="2026-03-02", until=date(2026, 3, 1))
    assert len(account.calls(since="2026-03-02", until="2026-03-02")) == 0


def test_check_asks_once_and_answers_in_order(account: Account, service: FakeService) -> None:
    """Repeated numbers are asked about once and answered each time, with time and request id."""
    service.listed = {phone(2)}

    frame = account.check_dnc([phone(1), phone(2), phone(1)])

    assert service.asked == [[phone(1), phone(2)]]
    assert list(frame["phone"]) == [phone(1), phone(2), phone(1)]
    assert list(frame["listed"]) == [False, True, False]
    assert set(frame["request_id"]) == {"req_1"}
    assert frame["checked_at"].notna().all()
    assert frame.dtypes.equals(account.check_dnc([]).dtypes)
    assert len(account.dnc_checks()) == 2


def test_a_text_that_is_no_number_is_unknown(account: Account, service: FakeService) -> None:
    """What cannot be asked about has no answer and a reason; it is not "not listed"."""
    frame = account.check_dnc([phone(1), "0212 555 0142", "", None])  # type: ignore[list-item]

    assert service.asked == [[phone(1)]]
    assert list(frame["listed"].isna()) == [False, True, True, True]
    assert list(frame["reason"].fillna("")) == ["", *["not an E.164 number"] * 3]


def test_fresh_answers_are_not_asked_again(account: Account, service: FakeService) -> None:
    """With an age, only what is older, or was never asked, is asked; every check is kept."""
    account.check_dnc([phone(1)])
    service.now += timedelta(days=20)
    account.check_dnc([phone(1), phone(2)], max_age="31d")
    service.now += timedelta(days=20)
    frame = account.check_dnc([phone(1), phone(2)], max_age=timedelta(days=31))
    account.check_dnc([phone(2)], max_age=None)

    assert service.asked == [[phone(1)], [phone(2)], [phone(1)], [phone(2)]]
    assert list(frame["source"]) == ["service", "cache"]
    assert list(frame["request_id"]) == ["req_3", "req_2"]
    assert len(account.dnc_checks()) == 4


def test_an_answer_stamped_in_the_future_is_not_fresh(
    account: Account, service: FakeService
) -> None:
    """A check made while the clock was wrong has no age that could be trusted."""
    service.now += timedelta(days=400)
    account.check_dnc([phone(1)])
    service.now = START

    account.check_dnc([phone(1)], max_age="31d")

    assert len(service.asked) == 2


def test_many_numbers_go_in_hundreds(account: Account, service: FakeService) -> None:
    """Batches are of a hundred, progress is told, and each batch is stored by itself."""
    numbers = [phone(n) for n in range(950)]
    seen: list[int] = []

    frame = account.check_dnc(numbers, on_progress=lambda progress: seen.append(progress.done))

    assert sorted(len(batch) for batch in service.asked) == [50, *[100] * 9]
    assert list(frame["phone"]) == numbers
    assert seen[0] == 0
    assert seen[-1] == 950
    assert frame["request_id"].nunique() == 10


def test_answers_before_a_failure_are_kept(account: Account, service: FakeService) -> None:
    """A check that breaks off raises, and the next one asks only for the rest."""
    service.fails = lambda _: TransportError("no answer") if len(service.asked) >= 3 else None

    with pytest.raises(TransportError):
        account.check_dnc([phone(n) for n in range(500)])
    kept = len(account.dnc_checks())
    service.fails = lambda _: None
    frame = account.check_dnc([phone(n) for n in range(500)], max_age="1h")

    assert kept >= 300
    assert frame["listed"].notna().all()
    assert sum(len(batch) for batch in service.asked) == 500


def test_answers_of_other_numbers_are_not_kept(account: Account, service: FakeService) -> None:
    """An answer that is not about the numbers asked is an error, not evidence."""
    service.dnc.check = lambda phones: [  # type: ignore[method-assign]
        Check(phone(7), False, service.now, "req_x") for _ in phones
    ]

    with pytest.raises(ContractError, match=r"dnc\.check"):
        account.check_dnc([phone(1)])

    assert len(account.dnc_checks()) == 0


def test_a_forgotten_number_is_answered_and_not_kept(
    account: Account, service: FakeService
) -> None:
    """After forgetting, neither a sync nor a check brings the number back to the disk."""
    account.sync()
    account.check_dnc([phone(3)])
    assert account.forget(phone(3)) == 4

    account.sync(whole=True)
    frame = account.check_dnc([phone(3)])

    assert list(frame["listed"]) == [False]
    assert len(account.dnc_checks()) == 0
    assert phone(3) not in set(account.leads()["phone"]) | set(account.calls()["to_number"])


def test_info_is_numbers_and_sentences(account: Account) -> None:
    """What is stored can be shown to anybody: no content and no key, as JSON values."""
    account.sync()

    facts = json.loads(json.dumps(account.info()))

    assert facts["rows"]["calls"] == 40
    assert facts["base_url"] == URL
    assert facts["environment"] == "test"
    assert "complete as of" in facts["freshness"]["leads"]
    assert "555" not in json.dumps(facts)


def test_the_repr_names_no_key(account: Account) -> None:
    """An account in a notebook cell shows whose data it is, and no secret."""
    assert "test data of https://api.example.com" in repr(account)
    assert "secret" not in repr(account)


def test_leaving_the_block_closes_both(service: FakeService, tmp_path: Path) -> None:
    """The context manager closes the client; the store can be opened again."""
    with Account(
        service, FragileStore.open(tmp_path / "part", IDENTITY), now=service.clock
    ) as account:
        account.sync(["calls"])

    assert service.closed
    with Store.open(tmp_path / "part", IDENTITY) as store:
        assert len(store.frame(frames.CALLS)) == 40


def test_connect_takes_what_is_missing_from_the_environment(tmp_path: Path) -> None:
    """Address, key and folder come from arguments, else from the variables."""
    variables = {
        "DIALFRAME_BASE_URL": URL,
        "DIALFRAME_API_KEY": "svc_test_abc_secret",
        "DIALFRAME_STORE": str(tmp_path / "store"),
    }

    with connect(environment=variables) as account:
        assert account.store.folder.parent == tmp_path / "store"
        assert account.calls().attrs["dialframe"]["rows"] == 0
    with connect(URL, "svc_test_abc_secret", tmp_path / "other", environment={}) as other:
        assert other.store.folder == tmp_path / "other" / account.store.folder.name


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({}, "DIALFRAME_BASE_URL"),
        ({"DIALFRAME_BASE_URL": URL}, "DIALFRAME_API_KEY"),
        ({"DIALFRAME_BASE_URL": URL, "DIALFRAME_API_KEY": "hunter2"}, "svc_"),
        ({"DIALFRAME_BASE_URL": "x", "DIALFRAME_API_KEY": "svc_test_a_b"}, "http"),
    ],
)
def test_what_is_missing_is_named(tmp_path: Path, variables: dict[str, str], message: str) -> None:
    """Without address or key there is one sentence that names the variable, and no folder is made."""
    with pytest.raises(ConfigError, match=message):
        connect(store=tmp_path / "store", environment=variables)

    assert not (tmp_path / "store").exists()


def test_a_key_can_be_asked_for(tmp_path: Path) -> None:
    """A face may hand in how to ask; the answer is used and not shown."""
    with connect(
        URL, store=tmp_path, environment={}, prompt=lambda _: "svc_test_abc_secret"
    ) as account:
        assert "secret" not in repr(account)


def test_clients_and_environments_do_not_mix(tmp_path: Path) -> None:
    """Live and test keys, and two addresses, have a folder each below one store."""
    folders = set()
    for url, key in (
        (URL, "svc_test_abc_secret"),
        (URL, "svc_live_abc_secret"),
        ("https://api.example.org", "svc_test_abc_secret"),
    ):
        with connect(url, key, tmp_path, environment={}) as account:
            folders.add(account.store.folder)

    assert len(folders) == 3


@pytest.mark.parametrize(
    "wrong", [31, 1.5, "31", "", "a month", "-3d", -1, timedelta(days=-1), [], True]
)
def test_an_age_that_is_none_is_refused_in_one_sentence(account: Account, wrong: object) -> None:
    """A bare number has no unit: nobody guesses days."""
    with pytest.raises(ConfigError, match=r"max_age (takes a number and a unit|must not)"):
        account.check_dnc([phone(1)], max_age=wrong)  # type: ignore[arg-type]


def test_many_numbers_are_asked_a_hundred_at_a_time(
    account: Account, service: FakeService
) -> None:
    """Only for what is not fresh; every answer ever given stays in the ledger with its request."""
    numbers = [f"+1{200 + n // 100}55501{n % 100:02d}" for n in range(250)]

    account.check_dnc(numbers[:120])
    service.now += timedelta(days=40)
    account.check_dnc(numbers, max_age="31d")
    account.check_dnc(numbers, max_age="31d")

    assert sorted(map(len, service.asked)) == [20, 50, 100, 100, 100]
    checks = account.dnc_checks()
    assert len(checks) == 370
    assert checks["request_id"].notna().all()
    assert checks["checked_at"].is_monotonic_increasing
    assert service.bulk == {True}


@pytest.fixture(scope="module")
def synced(tmp_path_factory: pytest.TempPathFactory) -> dialframe.Account:
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


def test_attempts_are_the_counted_calls_with_their_numbers(synced: dialframe.Account) -> None:
    """One row per counted attempt; each lead's attempts are numbered from 1 without a gap."""
    frame = synced.attempts()
    assert len(frame) == int(analytics.summary(synced.calls()).table["denominator"].max())
    numbers = frame[frame["lead_id"].notna()].groupby("lead_id")["attempt"]
    assert (numbers.max() == numbers.count()).all()
    assert (numbers.min() == 1).all()


def test_a_window_keeps_the_number_of_the_whole_history(synced: dialframe.Account) -> None:
    """The third attempt of a lead is the third in a window that leaves out the first two."""
    whole = synced.attempts().set_index("call_id")
    middle = whole["created_at"].sort_values().iloc[len(whole) // 2]
    part = synced.attempts(since=middle.to_pydatetime()).set_index("call_id")
    assert 0 < len(part) < len(whole)
    assert (part["attempt"] == whole.loc[part.index, "attempt"]).all()


def test_attempts_are_made_once_for_each_state_of_the_store(synced: dialframe.Account) -> None:
    """Asked again, nothing is matched or classed again."""
    synced.attempts()
    kept = synced._attempts
    synced.attempts(campaign=str(synced.campaigns()["id"].iloc[0]))
    assert synced._attempts is kept


def test_sql_has_the_attempts_too(synced: dialframe.Account) -> None:
    """The view of the same name has the same rows, beside the tables of the store."""
    rows = synced.query("SELECT count(*) AS n, sum(human::int) AS k FROM attempts").to_pylist()
    frame = synced.attempts()
    assert rows == [{"n": len(frame), "k": int(frame["human"].fillna(value=False).sum())}]
    assert synced.query("SELECT count(*) AS n FROM calls").to_pylist()[0]["n"] == len(
        synced.calls()
    )


@pytest.mark.parametrize("name", ["hours", "attempts", "recycle", "caller_ids"])
def test_an_analysis_takes_attempts_in_the_place_of_calls(
    name: str, synced: dialframe.Account
) -> None:
    """The same numbers, whether of calls and leads, of attempts, or of attempts in polars."""
    polars = pytest.importorskip("polars")
    ask = getattr(analytics, name)
    expected = ask(synced.calls(), synced.leads()).table
    frame = synced.attempts()
    for given in (frame, polars.from_pandas(frame)):
        found = ask(given).table
        pd.testing.assert_frame_equal(
            found.select_dtypes("number"), expected.select_dtypes("number"), check_exact=False
        )
