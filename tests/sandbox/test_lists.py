"""Lists and their cursors (contract, Lists and pagination)."""

from __future__ import annotations

import base64
import random
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dialframe.sandbox import Sandbox
from sandbox.calling import Api, Json, ok, pointers, refused

LISTS = (
    "/v1/leads",
    "/v1/campaigns",
    "/v1/calls",
    "/v1/webhooks",
    "/v1/webhook-events",
    "/v1/callbacks?campaign_id=cmp_00000000-0000-4000-8000-000000000000",
    "/v1/appointments",
    "/v1/sms/delivery-reports",
)


def _calls(sandbox: Sandbox, client_id: str, count: int, second: int = 0) -> list[str]:
    """Calls of which every three share an instant."""
    made = [
        {"created_at": f"2026-01-01T00:{second:02d}:{place // 3 % 60:02d}.5Z"}
        for place in range(count)
    ]
    return sandbox.console.add_calls(client_id, made)


@pytest.fixture(scope="module")
def walker(sandbox: Sandbox) -> Iterator[Api]:
    """A client with 130 calls, many of them at the same instant."""
    made = sandbox.console.create_client("walker", scopes=["calls:read", "leads:read"])
    _calls(sandbox, made["client_id"], 130)
    calling = Api(sandbox.base_url, made["api_key"])
    yield calling
    calling.close()


@pytest.mark.parametrize("path", LISTS)
def test_bounds_of_limit_and_cursor(api: Api, path: str) -> None:
    """1-100, whole, once; a cursor of 1-1024 characters."""
    join = "&" if "?" in path else "?"
    for limit in ("0", "101", "-1", "1.0", "", "x", "%2B5", "+5", "5_0", "９"):
        problem = refused(api.send("GET", f"{path}{join}limit={limit}"), 400, "validation_failed")
        assert pointers(problem) == {"/limit"}
    again = api.send("GET", f"{path}{join}limit=5&limit=5")
    assert pointers(refused(again, 400, "validation_failed")) == {"/limit"}
    for cursor in ("", "x" * 1025):
        answer = api.send("GET", f"{path}{join}cursor={cursor}")
        assert pointers(refused(answer, 400, "validation_failed")) == {"/cursor"}
    unknown = api.send("GET", f"{path}{join}since=2026-01-01")
    assert pointers(refused(unknown, 400, "validation_failed")) == {"/since"}


@pytest.mark.parametrize("path", LISTS)
@pytest.mark.parametrize("cursor", ["x", "AAAA", "!!!!", "%00", "é", "a" * 1024])
def test_made_up_cursor(api: Api, path: str, cursor: str) -> None:
    """400, never anything worse."""
    join = "&" if "?" in path else "?"
    answer = api.send("GET", f"{path}{join}cursor={cursor}")
    assert answer.status_code == 400
    assert answer.json()["code"] in ("invalid_cursor", "validation_failed")


@pytest.mark.parametrize("limit", [1, 3, 7, 50, 100])
def test_walk_meets_every_row_once_in_order(walker: Api, limit: int) -> None:
    """`created_at` descending, then `id` descending, whatever the page size."""
    rows = walker.walk("/v1/calls", limit=limit)
    order = [(row["created_at"], row["id"]) for row in rows]
    assert len(rows) == 130
    assert order == sorted(order, reverse=True)
    assert len({row["id"] for row in rows}) == 130


def test_every_altered_character_is_noticed(walker: Api) -> None:
    """Also one that would decode to the same bytes."""
    cursor = ok(walker.get("/v1/calls", limit=5))["page"]["next_cursor"]
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    dice = random.Random(7)
    for place in range(len(cursor)):
        altered = (
            cursor[:place] + dice.choice(alphabet.replace(cursor[place], "")) + cursor[place + 1 :]
        )
        refused(walker.get("/v1/calls", cursor=altered), 400, "invalid_cursor")
    for altered in (cursor[:-1], cursor + "A", cursor + "=", " " + cursor, cursor.lower()):
        refused(walker.get("/v1/calls", cursor=altered), 400, "invalid_cursor")


def test_cursor_names_nothing_of_another_client(walker: Api) -> None:
    """What it carries is a position in the caller's own list, signed."""
    cursor = ok(walker.get("/v1/calls", limit=5))["page"]["next_cursor"]
    assert len(cursor) <= 1024
    assert b"cli_" not in base64.urlsafe_b64decode(cursor)


def test_filters_of_leads_and_calls(sandbox: Sandbox, other: Api) -> None:
    """Each keeps what it names, alone and with others."""
    me = ok(other.get("/v1/me"))["client_id"]
    first, second = (
        sandbox.console.create_campaign(me, name)["id"] for name in ("first", "second")
    )
    leads = [
        {"campaign_id": first, "status": "new", "external_id": "a"},
        {"campaign_id": first, "status": "dnc", "external_id": "b"},
        {"campaign_id": second, "status": "new", "external_id": "c"},
    ]
    a, b, c = sandbox.console.add_leads(me, leads)

    def found(path: str, **wanted: str) -> set[str]:
        return {row["id"] for row in other.walk(path, **wanted)}

    assert found("/v1/leads") == {a, b, c}
    assert found("/v1/leads", campaign_id=first) == {a, b}
    assert found("/v1/leads", campaign_id=first, status="new") == {a}
    assert found("/v1/leads", external_id="c") == {c}
    assert found("/v1/leads", external_id="nobody") == set()
    x, y = sandbox.console.add_calls(me, [{"direction": "inbound"}, {"campaign_id": second}])
    assert found("/v1/calls", direction="inbound") == {x}
    assert found("/v1/calls", campaign_id=second) == {y}
    for query in ("status=nobody", "campaign_id=x", "external_id=", f"external_id={'x' * 129}"):
        refused(other.send("GET", f"/v1/leads?{query}"), 400, "validation_failed")
    refused(other.get("/v1/calls", direction="sideways"), 400, "validation_failed")


def test_archived_campaigns_are_not_listed(sandbox: Sandbox, other: Api) -> None:
    """They are still read by their id."""
    me = ok(other.get("/v1/me"))["client_id"]
    gone = sandbox.console.create_campaign(me, "gone", status="archived")["id"]
    kept = sandbox.console.create_campaign(me, "kept", status="draft")["id"]
    assert [row["id"] for row in other.walk("/v1/campaigns")] == [kept]
    assert ok(other.get(f"/v1/campaigns/{gone}"))["status"] == "archived"


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.integers(min_value=0, max_value=4), max_size=25),
    limit=st.integers(min_value=1, max_value=6),
)
def test_pages_join_to_the_whole(sandbox: Sandbox, rows: list[int], limit: int) -> None:
    """For any rows and any page size: the pages joined are the sorted whole."""
    made = sandbox.console.create_client("drawn", scopes=["calls:read"])
    records: list[Json] = [{"created_at": f"2026-01-01T00:00:0{second}Z"} for second in rows]
    sandbox.console.add_calls(made["client_id"], records)
    api = Api(sandbox.base_url, made["api_key"])
    walked = [(row["created_at"], row["id"]) for row in api.walk("/v1/calls", limit=limit)]
    assert len(walked) == len(rows)
    assert walked == sorted(walked, reverse=True)
    api.close()
