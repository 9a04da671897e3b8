"""Appointments (contract, States: Appointment)."""

from __future__ import annotations

import pytest

from dialframe.sandbox import Sandbox
from sandbox.calling import Api, Json, ok, phone, refused

UNKNOWN = "appt_00000000-0000-4000-8000-000000000000"
WHEN, LATER = "2030-05-01T15:00:00Z", "2030-05-02T15:00:00Z"


def book(api: Api, **more: object) -> Json:
    """A scheduled appointment."""
    return ok(api.post("/v1/appointments", {"phone": phone(), "scheduled_at": WHEN, **more}), 201)


def events_of(api: Api, appointment: Json) -> list[str]:
    """Types of the events about an appointment, newest first."""
    found = []
    for row in api.walk("/v1/webhook-events"):
        data = ok(api.get(f"/v1/webhook-events/{row['id']}"))["data"]
        if data["appointment_id"] == appointment["id"]:
            found.append(row["type"])
    return found


def test_booking(api: Api) -> None:
    """All fields come back; each change is told as an event of its own."""
    made = book(
        api, duration_minutes=45, timezone="America/Chicago", service_type="demo",
        contact_name="Ada", notes="ring twice",
    )  # fmt: skip
    assert list(made) == [
        "id", "status", "scheduled_at", "timezone", "duration_minutes", "service_type",
        "contact_name", "phone", "email", "notes", "source", "created_at", "updated_at",
    ]  # fmt: skip
    assert (made["status"], made["scheduled_at"]) == ("scheduled", "2030-05-01T15:00:00.000Z")
    assert (made["duration_minutes"], made["timezone"]) == (45, "America/Chicago")
    path = f"/v1/appointments/{made['id']}"
    assert ok(api.get(path)) == made
    moved = ok(api.post(f"{path}/reschedule", {"scheduled_at": LATER}))
    assert moved["scheduled_at"] == "2030-05-02T15:00:00.000Z"
    assert ok(api.post(f"{path}/cancel"))["status"] == "cancelled"
    assert set(events_of(api, made)) == {
        "appointment.booked", "appointment.moved", "appointment.cancelled",
    }  # fmt: skip
    assert made["id"] in {row["id"] for row in api.walk("/v1/appointments", limit=1)}


@pytest.mark.parametrize("status", ["completed", "no-show"])
def test_final_states(sandbox: Sandbox, api: Api, status: str) -> None:
    """Completed and no-show are neither cancelled nor moved."""
    path = f"/v1/appointments/{book(api)['id']}"
    sandbox.console.set_appointment(sandbox.client_id, path.rpartition("/")[2], status)
    refused(api.post(f"{path}/cancel"), 409, "appointment_not_modifiable")
    answer = api.post(f"{path}/reschedule", {"scheduled_at": LATER})
    refused(answer, 409, "appointment_not_modifiable")
    assert ok(api.get(path))["status"] == status


def test_cancelled_stays_cancelled(api: Api) -> None:
    """Cancelling again is 200 and changes nothing; moving is 409."""
    path = f"/v1/appointments/{book(api)['id']}"
    first = api.post(f"{path}/cancel")
    second = api.post(f"{path}/cancel")
    assert ok(second) == ok(first)
    assert second.headers["ETag"] == first.headers["ETag"]
    answer = api.post(f"{path}/reschedule", {"scheduled_at": LATER})
    refused(answer, 409, "appointment_not_modifiable")


def test_if_match_guards_a_cancellation(api: Api) -> None:
    """412 when it changed since; the current tag works."""
    made = api.post("/v1/appointments", {"phone": phone(), "scheduled_at": WHEN})
    path = f"/v1/appointments/{ok(made, 201)['id']}"
    moved = api.post(f"{path}/reschedule", {"scheduled_at": LATER})
    stale = {"If-Match": made.headers["ETag"]}
    refused(api.post(f"{path}/cancel", headers=stale), 412, "precondition_failed")
    assert ok(api.get(path))["status"] == "scheduled"
    fresh = {"If-Match": moved.headers["ETag"]}
    assert ok(api.post(f"{path}/cancel", headers=fresh))["status"] == "cancelled"


def test_what_cannot_be_booked(settings: Sandbox, api: Api) -> None:
    """Bounds, zones, an e-mail, a blocked country, unknown ids."""
    body = {"phone": phone(), "scheduled_at": WHEN}
    for wrong in (
        {"phone": phone()}, {"scheduled_at": WHEN}, {**body, "email": "a@example.com"},
        {**body, "duration_minutes": 4}, {**body, "duration_minutes": 481},
        {**body, "duration_minutes": 30.5}, {**body, "duration_minutes": True},
        {**body, "timezone": "Mars/Olympus"}, {**body, "timezone": ""},
        {**body, "timezone": "../etc/passwd"}, {**body, "timezone": "America"},
        {**body, "timezone": "x" * 65}, {**body, "service_type": "x" * 101},
        {**body, "contact_name": "x" * 201}, {**body, "notes": "x" * 1001},
        {**body, "phone": "2125550142"}, {**body, "scheduled_at": "2030-05-01"},
    ):  # fmt: skip
        refused(api.post("/v1/appointments", wrong), 400, "validation_failed")
    for minutes in (5, 480):
        assert book(api, duration_minutes=minutes)["duration_minutes"] == minutes
    settings.console.update_account({"blocked_countries": ["GB"]})
    british = {**body, "phone": "+442079460018"}
    refused(api.post("/v1/appointments", british), 422, "blocked_country")
    refused(api.get(f"/v1/appointments/{UNKNOWN}"), 404, "not_found")
    refused(api.post(f"/v1/appointments/{UNKNOWN}/cancel"), 404, "not_found")
