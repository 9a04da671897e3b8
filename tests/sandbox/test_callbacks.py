"""Callbacks (contract, States: Callback)."""

from __future__ import annotations

import pytest

from dialframe.sandbox import Sandbox
from sandbox.calling import Api, Json, ok, phone, refused

UNKNOWN = "00000000-0000-4000-8000-000000000000"
SOON, LATER = "2030-01-01T10:00:00Z", "2030-01-02T12:30:00+02:00"


@pytest.fixture
def lead(sandbox: Sandbox) -> Json:
    """A lead of a campaign."""
    number = phone()
    campaign = sandbox.console.create_campaign(sandbox.client_id, "c")["id"]
    (lead_id,) = sandbox.console.add_leads(
        sandbox.client_id, [{"campaign_id": campaign, "phone": number}]
    )
    return {"id": lead_id, "campaign_id": campaign, "phone": number}


def schedule(api: Api, lead: Json, **more: object) -> Json:
    """A pending callback."""
    body = {"lead_id": lead["id"], "scheduled_at": SOON, **more}
    return ok(api.post("/v1/callbacks", body), 201)


def test_life_of_a_callback(api: Api, lead: Json) -> None:
    """Pending, moved, cancelled; cancelled again nothing changes; then it is not moved any more."""
    made = schedule(api, lead, notes="after work")
    assert made == {
        "id": made["id"], "lead_id": lead["id"], "campaign_id": lead["campaign_id"],
        "scheduled_at": "2030-01-01T10:00:00.000Z", "status": "pending", "notes": "after work",
        "created_at": made["created_at"],
    }  # fmt: skip
    path = f"/v1/callbacks/{made['id']}"
    moved = ok(api.post(f"{path}/reschedule", {"scheduled_at": LATER}))
    assert (moved["status"], moved["scheduled_at"]) == ("pending", "2030-01-02T10:30:00.000Z")
    cancelled = ok(api.post(f"{path}/cancel"))
    assert cancelled == {**moved, "status": "cancelled"}
    assert ok(api.post(f"{path}/cancel", {})) == cancelled
    answer = api.post(f"{path}/reschedule", {"scheduled_at": SOON})
    refused(answer, 409, "callback_not_pending")


def test_completed_callback_is_final(sandbox: Sandbox, api: Api, lead: Json) -> None:
    """The console completes it; then 409 for both."""
    made = schedule(api, lead)
    sandbox.console.set_callback(sandbox.client_id, made["id"], "completed")
    path = f"/v1/callbacks/{made['id']}"
    refused(api.post(f"{path}/cancel"), 409, "callback_not_pending")
    answer = api.post(f"{path}/reschedule", {"scheduled_at": SOON})
    refused(answer, 409, "callback_not_pending")


def test_list_is_of_one_campaign(sandbox: Sandbox, api: Api, lead: Json) -> None:
    """`campaign_id` is required; newest created first; a strange campaign has an empty page."""
    first, second = schedule(api, lead), schedule(api, lead)
    ok(api.post(f"/v1/callbacks/{first['id']}/cancel"))
    rows = api.walk("/v1/callbacks", campaign_id=lead["campaign_id"], limit=1)
    assert {row["id"] for row in rows} == {first["id"], second["id"]}
    assert [row["created_at"] for row in rows] == sorted(
        (row["created_at"] for row in rows), reverse=True
    )
    wanted = {"campaign_id": lead["campaign_id"], "status": "pending"}
    assert [row["id"] for row in api.walk("/v1/callbacks", **wanted)] == [second["id"]]
    assert api.walk("/v1/callbacks", campaign_id=f"cmp_{UNKNOWN}") == []
    refused(api.get("/v1/callbacks"), 400, "validation_failed")


def test_what_cannot_be_scheduled(settings: Sandbox, api: Api, lead: Json) -> None:
    """Unknown lead, listed number, used-up cap, malformed fields."""
    body = {"lead_id": lead["id"], "scheduled_at": SOON}
    for wrong in (
        {}, {"lead_id": lead["id"]}, {**body, "lead_id": "x"}, {**body, "notes": "x" * 501},
        {**body, "scheduled_at": "tomorrow"}, {**body, "scheduled_at": 1_900_000_000},
        {**body, "scheduled_at": "1900000000"}, {**body, "scheduled_at": "2030-01-01T10:00:00"},
        {**body, "scheduled_at": "2030-02-30T10:00:00Z"}, {**body, "phone": phone()},
    ):  # fmt: skip
        refused(api.post("/v1/callbacks", wrong), 400, "validation_failed")
    unknown = {**body, "lead_id": f"lead_{UNKNOWN}"}
    refused(api.post("/v1/callbacks", unknown), 404, "not_found")
    settings.console.update_account({"daily_cap": 0})
    refused(api.post("/v1/callbacks", body), 429, "daily_cap_reached")
    settings.console.update_account({"daily_cap": None})
    settings.console.add_dnc(settings.client_id, [lead["phone"]])
    refused(api.post("/v1/callbacks", body), 422, "on_dnc")


def test_due_callback_is_in_the_outbox(sandbox: Sandbox, api: Api, lead: Json) -> None:
    """Once its time has come by the clock, and not if it was cancelled before."""

    def called() -> list[str]:
        entries = sandbox.console.outbox(sandbox.client_id)
        return [entry["id"] for entry in entries if entry["kind"] == "callback"]

    now = sandbox.console.advance_clock(0)
    year = str(int(now[:4]) + 1)
    soon = {"scheduled_at": f"{year}{now[4:]}"} if "02-29" not in now else {"scheduled_at": SOON}
    kept, dropped = schedule(api, lead, **soon), schedule(api, lead, **soon)
    ok(api.post(f"/v1/callbacks/{dropped['id']}/cancel"))
    assert kept["id"] not in called()
    sandbox.console.advance_clock(366 * 86_400)
    assert kept["id"] in called()
    assert dropped["id"] not in called()
