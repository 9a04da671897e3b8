"""The account against the sandbox: real HTTP, the real client, a real store."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from dialframe import sandbox
from dialframe.account import Account, SyncReport, connect
from dialframe.contract import REQUEST_ID

PERSON = "+12125550142"
#: A number of an area that the synthetic account does not call.
FREE = "+16715550177"


@pytest.fixture(scope="module")
def service() -> Iterator[sandbox.Sandbox]:
    """A sandbox with a tiny account."""
    with sandbox.start(seed=7, size="tiny") as started:
        # The client keeps to the limits; what the tests ask for themselves need not.
        started.console.update_account({"rate_limits": None})
        yield started


@pytest.fixture
def account(service: sandbox.Sandbox, tmp_path: Path) -> Iterator[Account]:
    """An account of it with an empty store."""
    with connect(service.base_url, service.api_key, tmp_path, environment={}) as opened:
        yield opened


@pytest.fixture(scope="module")
def synced(
    service: sandbox.Sandbox, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Account, SyncReport]]:
    """An account of it after its first sync, and what that said."""
    folder = tmp_path_factory.mktemp("synced")
    with connect(service.base_url, service.api_key, folder, environment={}) as opened:
        yield opened, opened.sync()


def listed(service: sandbox.Sandbox, path: str) -> list[dict[str, object]]:
    """A list as the service gives it, asked for without the client."""
    rows: list[dict[str, object]] = []
    cursor: str | None = ""
    while cursor is not None:
        after = f"&cursor={cursor}" if cursor else ""
        request = urllib.request.Request(  # noqa: S310 - the sandbox's own address
            f"{service.base_url}{path}?limit=100{after}",
            headers={"Authorization": f"Bearer {service.api_key}"},
        )
        with urllib.request.urlopen(request) as answer:  # noqa: S310 - the sandbox's own address
            page = json.loads(answer.read())
        rows += page["data"]
        cursor = page["page"]["next_cursor"]
    return rows


def test_a_sync_stores_what_the_service_lists(
    synced: tuple[Account, SyncReport], service: sandbox.Sandbox
) -> None:
    """Every call, lead and campaign is there with its content, and every table is whole."""
    account, report = synced

    assert report.complete
    assert all(entry.complete or entry.optional for entry in report)
    for table, column in (("calls", "hangup_cause"), ("leads", "status"), ("campaigns", "name")):
        there = {row["id"]: row[column] for row in listed(service, f"/v1/{table}")}
        frame = getattr(account, table)()
        here = dict(zip(frame["id"], frame[column].astype(object), strict=True))
        assert {
            key: value if isinstance(value, str) else None for key, value in here.items()
        } == there
        assert frame["_request_id"].str.fullmatch(REQUEST_ID.pattern).all()
    assert len(account.callbacks()) > 0
    assert len(account.dispositions()) > 0
    assert account.store.owner is not None
    assert account.store.owner.client_id == service.client_id


def test_a_second_sync_finds_what_changed_with_few_requests(
    synced: tuple[Account, SyncReport], service: sandbox.Sandbox
) -> None:
    """A changed lead and a new call are found; what is stored is not fetched again."""
    account, _ = synced
    before = datetime.now(UTC)
    lead = account.leads()["id"].iloc[0]
    account.client.leads.update(lead, full_name="Ada Renamed")
    now = before.isoformat()
    (call,) = service.console.add_calls(
        service.client_id,
        [{"direction": "inbound", "from_number": PERSON, "to_number": "+12125550143"}],
    )

    report = account.sync()

    leads = account.leads().set_index("id")
    assert leads.loc[lead, "full_name"] == "Ada Renamed"
    assert account.leads(as_of=now).set_index("id").loc[lead, "full_name"] != "Ada Renamed"
    assert call in set(account.calls()["id"])
    assert (report["leads"].versions, report["calls"].versions) == (1, 1)
    assert report["calls"].requests <= 2
    assert report.requests <= 20


def test_a_broken_connection_leaves_a_walk_that_goes_on(
    account: Account, service: sandbox.Sandbox
) -> None:
    """An outage in the middle of the calls is said, and the next sync reads the rest only."""
    service.console.arm_fault("calls.list", after=3, times=50, status=503)
    try:
        report = account.sync(["calls"])
    finally:
        service.console.clear_faults()
    halfway = len(account.calls())
    sentence = account.calls().attrs["dialframe"]["sentence"]

    again = account.sync(["calls"])

    assert not report.complete
    assert (report["calls"].requests, report["calls"].rows, halfway) == (3, 300, 300)
    assert "not here yet" in sentence
    assert again.complete
    assert again["calls"].versions == len(account.calls()) - halfway
    assert len(account.calls()) == len(listed(service, "/v1/calls"))


def test_an_expired_cursor_is_no_hindrance(account: Account, service: sandbox.Sandbox) -> None:
    """`invalid_cursor` twice in the middle restarts the walk, which ends with everything."""
    service.console.arm_fault("calls.list", after=4, times=2, code="invalid_cursor")

    report = account.sync(["calls"])

    assert report.complete
    assert report["calls"].rows == 400 + len(account.calls())
    assert len(account.calls()) == len(listed(service, "/v1/calls"))
    assert report["calls"].versions == len(account.calls())


def test_checks_are_evidence(account: Account, service: sandbox.Sandbox) -> None:
    """A listed number is listed, each answer has its request id, and fresh ones are not asked again."""
    service.console.add_dnc(service.client_id, [PERSON])
    numbers = [PERSON, FREE, "nobody"]

    first = account.check_dnc(numbers)
    second = account.check_dnc(numbers, max_age=timedelta(days=31))

    assert list(first["listed"].fillna(value=False)) == [True, False, False]
    assert REQUEST_ID.fullmatch(str(first["request_id"].iloc[0]))
    assert first.drop(columns="source").equals(second.drop(columns="source"))
    assert len(account.dnc_checks()) == 2


def test_a_further_key_of_the_client_opens_the_same_data(
    account: Account, service: sandbox.Sandbox, tmp_path: Path
) -> None:
    """After a key rotation the history and the checks are still there; another client has its own."""
    account.sync(["campaigns"])
    further = service.console.create_key(service.client_id)
    stranger = service.console.create_client("stranger", scopes=["calls:read"])["api_key"]

    with connect(service.base_url, further, tmp_path, environment={}) as rotated:
        assert rotated.store.folder == account.store.folder
    with connect(service.base_url, str(stranger), tmp_path, environment={}) as other:
        assert other.store.folder != account.store.folder
        report = other.sync()
        assert report["calls"].complete
        assert "insufficient_scope" in report["leads"].note
