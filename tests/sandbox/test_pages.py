"""Lists: their envelope, their order, their cursors."""

from __future__ import annotations

import base64
import random
import string
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox.service_bench import (
    SOON,
    Console,
    Json,
    Party,
    answered,
    invalid,
    iso,
    paged,
    problem,
)

LISTS = [
    "/v1/leads",
    "/v1/campaigns",
    "/v1/calls",
    "/v1/callbacks",
    "/v1/appointments",
    "/v1/webhooks",
    "/v1/webhook-events",
    "/v1/sms/delivery-reports",
]


@pytest.fixture(scope="module")
def calls(console: Console, party: Party) -> list[str]:
    """120 calls, ten to each instant, half of them inbound."""
    start = console.now() - timedelta(days=3)
    records = [
        {
            "created_at": iso(start + timedelta(minutes=n // 10)),
            "direction": "inbound" if n % 2 else "outbound",
        }
        for n in range(120)
    ]
    return party.calls(records)


def page_of(party: Party, path: str, **params: Any) -> tuple[list[str], str | None]:
    page = paged(party.get(path, params))
    return [record["id"] for record in page["data"]], page["page"]["next_cursor"]


def scoped(party: Party, path: str) -> dict[str, str]:
    return {"campaign_id": party.campaign()} if path.endswith("callbacks") else {}


@pytest.mark.parametrize("path", LISTS)
def test_empty_list_is_one_last_page(console: Console, path: str) -> None:
    """A list of nothing: no data, has_more false, next_cursor null."""
    nobody = console.client()
    params = scoped(nobody, path) if path.endswith("callbacks") else {}
    body = paged(nobody.get(path, params))

    if path != "/v1/campaigns":
        assert body["data"] == []
    assert body["page"] == {"next_cursor": None, "has_more": False}


@pytest.mark.parametrize("path", LISTS)
def test_limit_is_1_to_100(party: Party, path: str) -> None:
    """1 and 100 are taken; beyond and beside them, or twice, is an invalid request, as a filter that is none."""
    params = scoped(party, path)
    for good in ("1", "100"):
        paged(party.get(path, {**params, "limit": good}))
    for bad in ("0", "101", "-1", "x", "1.0", "1.5", "", "1e1", "+5", "5_0", "９", "9" * 20):
        invalid(party.get(path, {**params, "limit": bad}), "limit")
    invalid(party.get(path, {**params, "limit": ["5", "5"]}), "limit")
    invalid(party.get(path, {**params, "since": "2026-01-01"}), "since")


@pytest.mark.parametrize("path", LISTS)
def test_cursor_must_be_one_that_was_given(party: Party, path: str) -> None:
    """A cursor of one's own making answers 400 invalid_cursor; it has 1 to 1024 characters."""
    params = scoped(party, path)
    for made_up in ("x", "AAAA", "eyJpZCI6MX0", "a" * 1024):
        problem(party.get(path, {**params, "cursor": made_up}), 400, "invalid_cursor")
    for odd in ("!!!!", "\0", "é"):
        response = party.get(path, {**params, "cursor": odd})
        assert response.status_code == 400
        assert response.json()["code"] in ("invalid_cursor", "validation_failed")
    for out_of_bounds in ("", "a" * 1025):
        invalid(party.get(path, {**params, "cursor": out_of_bounds}), "cursor")


@pytest.mark.parametrize(("limit", "pages"), [({}, [50, 50, 20]), ({"limit": 60}, [60, 60])])
def test_page_has_50_unless_told_otherwise(
    party: Party, calls: list[str], limit: Json, pages: list[int]
) -> None:
    """The default limit is 50; the last page has no cursor, also one that is full."""
    sizes, cursor = [], None
    while cursor or not sizes:
        ids, cursor = page_of(
            party, "/v1/calls", **limit, **({"cursor": cursor} if cursor else {})
        )
        sizes.append(len(ids))
    assert sizes == pages


def test_calls_come_newest_first_then_by_id(party: Party, calls: list[str]) -> None:
    """The order is created_at descending, then id descending, across pages and ties."""
    records = party.walk("/v1/calls", limit="7")
    keys = [(record["created_at"], record["id"]) for record in records]

    assert keys == sorted(keys, reverse=True)
    assert sorted(record["id"] for record in records) == sorted(calls)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.integers(0, 4), max_size=25), limit=st.integers(1, 6))
def test_pages_join_to_the_whole(console: Console, rows: list[int], limit: int) -> None:
    """For any rows and any page size: the pages joined are the sorted whole."""
    client = console.client(scopes=["calls:read"])
    client.calls([{"created_at": f"2026-01-01T00:00:0{second}Z"} for second in rows])
    walked = [(row["created_at"], row["id"]) for row in client.walk("/v1/calls", limit=str(limit))]

    assert len({*walked}) == len(rows)
    assert walked == sorted(walked, reverse=True)


def test_filter_of_calls_holds(console: Console, party: Party, calls: list[str]) -> None:
    """Direction and campaign_id keep only what they name."""
    inbound = party.walk("/v1/calls", direction="inbound")
    outbound = party.walk("/v1/calls", direction="outbound")
    assert {record["direction"] for record in inbound} == {"inbound"}
    assert {record["direction"] for record in outbound} == {"outbound"}
    assert len(inbound) + len(outbound) == len(party.walk("/v1/calls"))
    client = console.client()
    campaign = client.campaign("running")
    made = client.calls([{"created_at": SOON, "campaign_id": campaign}, {"created_at": SOON}])
    calls_of_campaign = client.walk("/v1/calls", campaign_id=campaign)
    assert [record["id"] for record in calls_of_campaign] == made[:1]


def test_cursor_is_bound_to_its_list_and_filters(party: Party, calls: list[str]) -> None:
    """A cursor under another filter, without its own, or of another list answers 400 invalid_cursor."""
    _, cursor = page_of(party, "/v1/calls", limit=10, direction="inbound")
    _, free = page_of(party, "/v1/calls", limit=10)
    for params in (
        {"cursor": cursor},
        {"cursor": cursor, "direction": "outbound"},
        {"cursor": cursor, "direction": "inbound", "campaign_id": party.campaign()},
        {"cursor": free, "direction": "inbound"},
    ):
        problem(party.get("/v1/calls", params), 400, "invalid_cursor")
    paged(party.get("/v1/calls", {"cursor": cursor, "direction": "inbound"}))
    for path in set(LISTS) - {"/v1/calls"}:
        problem(party.get(path, {**scoped(party, path), "cursor": free}), 400, "invalid_cursor")


def test_cursor_takes_another_limit(party: Party, calls: list[str]) -> None:
    """The limit is no filter: a walk may go on with other pages."""
    first, cursor = page_of(party, "/v1/calls", limit=10)
    second, _ = page_of(party, "/v1/calls", limit=100, cursor=cursor)

    assert len(second) == 100
    assert not {*first} & {*second}


def test_cursor_is_bound_to_its_client(
    console: Console, party: Party, other: Party, calls: list[str]
) -> None:
    """Another client cannot use it; another key of the same client can. It names no client."""
    _, cursor = page_of(party, "/v1/calls", limit=10)

    assert cursor is not None
    assert b"cli_" not in base64.urlsafe_b64decode(cursor)
    problem(other.get("/v1/calls", {"cursor": cursor}), 400, "invalid_cursor")
    paged(console.further_key(party).get("/v1/calls", {"cursor": cursor}))


def test_altered_cursor_is_refused(party: Party, calls: list[str]) -> None:
    """Any other character anywhere, also one that would decode to the same bytes, answers 400 invalid_cursor."""
    _, cursor = page_of(party, "/v1/calls", limit=10)
    assert cursor is not None
    altered = {
        cursor[:-1],
        cursor[1:],
        cursor + "A",
        cursor + "=",
        " " + cursor,
        cursor.swapcase(),
    }
    letters = string.ascii_letters + string.digits + "-_"
    dice = random.Random(7)
    for place, letter in enumerate(cursor):
        other = dice.choice(letters.replace(letter, ""))
        altered.add(cursor[:place] + other + cursor[place + 1 :])
    for each in altered:
        problem(party.get("/v1/calls", {"cursor": each}), 400, "invalid_cursor")


def test_cursor_lives_one_hour(console: Console, party: Party, calls: list[str]) -> None:
    """By the service's clock a cursor is good for an hour and no longer."""
    _, cursor = page_of(party, "/v1/calls", limit=10)
    console.advance(3_500)
    paged(party.get("/v1/calls", {"cursor": cursor}))
    console.advance(160)

    problem(party.get("/v1/calls", {"cursor": cursor}), 400, "invalid_cursor")


def test_walk_is_stable_under_inserts(console: Console) -> None:
    """Leads that come in during a walk shift no page: each of the first is seen exactly once."""
    client = console.client()
    campaign = client.campaign("paused")
    body = {"leads": [{"phone": client.phone()} for _ in range(25)]}
    params = {"campaign_id": campaign}
    done = answered(client.post("/v1/leads/import", body, params=params), 200)
    first = {result["lead_id"] for result in done["data"]}
    seen: list[str] = []
    cursor = None
    while True:
        page = {"limit": 4, **({"cursor": cursor} if cursor else {})}
        ids, cursor = page_of(client, "/v1/leads", **page)
        seen += ids
        if cursor is None:
            break
        client.lead(campaign)
        console.advance(1)
    assert len(seen) == len({*seen})
    assert first <= {*seen}


def test_leads_come_newest_first(console: Console) -> None:
    """Leads are listed newest first; those of one instant keep one order on every walk."""
    client = console.client()
    campaign = client.campaign("paused")
    ids = []
    for _ in range(3):
        body = {"leads": [{"phone": client.phone()} for _ in range(4)]}
        params = {"campaign_id": campaign}
        done = answered(client.post("/v1/leads/import", body, params=params), 200)
        ids.append({result["lead_id"] for result in done["data"]})
        console.advance(5)
    seen = [lead["id"] for lead in client.walk("/v1/leads", limit="3")]
    assert [{*seen[0:4]}, {*seen[4:8]}, {*seen[8:12]}] == ids[::-1]
    assert seen == [lead["id"] for lead in client.walk("/v1/leads", limit="100")]


def test_callbacks_come_newest_created_first(console: Console) -> None:
    """The order goes by creation, not by when they are due."""
    client = console.client()
    campaign = client.campaign("paused")
    made = []
    for day in (3, 1, 2):
        body = {"lead_id": client.lead(campaign), "scheduled_at": f"2031-03-0{day}T15:00:00Z"}
        made.append(answered(client.post("/v1/callbacks", body), 201)["id"])
        console.advance(2)
    callbacks = client.walk("/v1/callbacks", campaign_id=campaign, limit="2")

    assert [record["id"] for record in callbacks] == made[::-1]


def test_filters_of_leads_and_campaigns_hold(console: Console) -> None:
    """status, campaign_id and external_id keep only what they name."""
    client = console.client()
    one, two = client.campaign("paused"), client.campaign("running")
    new = client.lead(one, external_id="crm-1")
    done = client.lead(two, status="completed")
    listed: list[tuple[dict[str, str], list[str]]] = [
        ({"status": "new"}, [new]),
        ({"status": "completed"}, [done]),
        ({"status": "dnc"}, []),
        ({"campaign_id": one}, [new]),
        ({"campaign_id": two}, [done]),
        ({"external_id": "crm-1"}, [new]),
        ({"external_id": "crm-2"}, []),
        ({"campaign_id": one, "status": "new"}, [new]),
        ({"campaign_id": two, "status": "new"}, []),
        ({}, [new, done]),
    ]
    for params, expected in listed:
        found = client.walk("/v1/leads", **params)
        assert {lead["id"] for lead in found} == {*expected}, params
    for state in ("draft", "ready", "running", "paused", "completed"):
        client.campaign(state)
    for state in ("draft", "ready", "running", "paused", "completed"):
        found = client.walk("/v1/campaigns", status=state)
        assert found
        assert {record["status"] for record in found} == {state}
    assert {one, two} <= {record["id"] for record in client.walk("/v1/campaigns", limit="1")}


def test_archived_campaigns_are_not_listed(console: Console) -> None:
    """They are still read by their id."""
    client = console.client()
    gone, kept = client.campaign("archived"), client.campaign("draft")
    assert [record["id"] for record in client.walk("/v1/campaigns")] == [kept]
    assert answered(client.get(f"/v1/campaigns/{gone}"), 200)["status"] == "archived"
