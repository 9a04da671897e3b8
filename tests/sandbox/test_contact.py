"""Do-Not-Call, consent and SMS (contract, Endpoints: Do-Not-Call, SMS)."""

from __future__ import annotations

import datetime as dt
import uuid

import pytest

from dialframe.sandbox import Sandbox
from sandbox.calling import Api, Json, ok, phone, refused


def test_check_answers_in_order(sandbox: Sandbox, api: Api) -> None:
    """One result per number in the order of the request, repetitions included."""
    listed, free = phone(), phone()
    sandbox.console.add_dnc(sandbox.client_id, [listed])
    answer = ok(api.post("/v1/dnc/check", {"phones": [free, listed, free, listed]}))
    assert answer == {
        "data": [{"phone": number, "listed": number == listed}
                 for number in (free, listed, free, listed)]
    }  # fmt: skip


def test_bounds_of_a_check(api: Api) -> None:
    """1-100 E.164 numbers; more is `batch_too_large`."""
    number = phone()
    assert len(ok(api.post("/v1/dnc/check", {"phones": [number] * 100}))["data"]) == 100
    refused(api.post("/v1/dnc/check", {"phones": [number] * 101}), 400, "batch_too_large")
    for phones in ([], ["2125550142"], [""], [1], [None], "x", None, [number, "+1"]):
        refused(api.post("/v1/dnc/check", {"phones": phones}), 400, "validation_failed")
    refused(api.post("/v1/dnc/check", {"phones": [number], "x": 1}), 400, "validation_failed")
    refused(api.post("/v1/dnc/check"), 400, "validation_failed")


def test_added_number_is_listed_for_its_client_alone(api: Api, other: Api) -> None:
    """From the answer on, and adding it again changes nothing."""
    number = phone()
    first = ok(api.post("/v1/dnc", {"phone": number, "reason": "asked"}), 201)
    assert (first["phone"], first["listed"]) == (number, True)
    assert ok(api.post("/v1/dnc", {"phone": number}), 201) == first
    check = {"phones": [number]}
    assert ok(api.post("/v1/dnc/check", check))["data"][0]["listed"] is True
    assert ok(other.post("/v1/dnc/check", check))["data"][0]["listed"] is False


def sms(**more: object) -> Json:
    """A text with a reference of its own."""
    return {"to": phone(), "body": "hello", "client_reference": uuid.uuid4().hex, **more}


def test_text_is_queued_and_reported(sandbox: Sandbox, api: Api) -> None:
    """202 queued, an entry in the outbox, a report that becomes delivered, and it is counted."""
    before = ok(api.get("/v1/sms/usage"))["sent_today"]
    body = sms(body="ü" * 918, client_reference="r" * 64)
    message = ok(api.post("/v1/sms", body), 202)
    assert set(message) == {"id", "to", "status", "client_reference", "created_at"}
    assert (message["status"], message["to"]) == ("queued", body["to"])
    assert message["id"].startswith("msg_")
    entry = sandbox.console.outbox(sandbox.client_id)[-1]
    assert (entry["kind"], entry["to"], entry["body"]) == ("sms", body["to"], body["body"])
    (report,) = api.walk("/v1/sms/delivery-reports")
    assert (report["message_id"], report["status"]) == (message["id"], "queued")
    assert ok(api.get("/v1/sms/usage"))["sent_today"] == before + 1
    sandbox.console.advance_clock(60)
    (report,) = api.walk("/v1/sms/delivery-reports")
    assert report["status"] == "delivered"


def test_reference_is_taken_once(sandbox: Sandbox, api: Api, other: Api) -> None:
    """409 under a new key, and nothing is sent again; another client has its own."""
    body = sms()
    ok(api.post("/v1/sms", body), 202)
    sent = len(sandbox.console.outbox(sandbox.client_id))
    refused(api.post("/v1/sms", body), 409, "duplicate_client_reference")
    assert len(sandbox.console.outbox(sandbox.client_id)) == sent
    ok(other.post("/v1/sms", body), 202)


def test_bounds_of_a_text(api: Api) -> None:
    """Body 1-918, reference 1-64, an E.164 number."""
    for wrong in (
        sms(body=""), sms(body="x" * 919), sms(client_reference=""),
        sms(client_reference="x" * 65), sms(to="212"), sms(extra=1), {}, sms(body=None),
    ):  # fmt: skip
        refused(api.post("/v1/sms", wrong), 400, "validation_failed")


@pytest.mark.parametrize(
    ("change", "status", "code", "reason"),
    [
        ({"blocked_countries": ["US"]}, 422, "blocked_country", None),
        ({"calling_hours": {"start": "12:00", "end": "12:00"}}, 422, "message_refused",
         "outside_calling_hours"),
        ({"consent_required": True}, 422, "message_refused", "consent_missing"),
        ({"balance": 0.001}, 402, "insufficient_balance", None),
        ({"daily_cap": 0}, 429, "daily_cap_reached", None),
        ({"per_minute_cap": 0}, 429, "rate_limit_exceeded", None),
        ({"spend_cap": 0}, 429, "spend_cap_reached", None),
        ({"sending_suspended": True}, 403, "sending_suspended", None),
        ({"outbound_approved": False}, 403, "outbound_not_approved", None),
    ],
)  # fmt: skip
def test_checks_before_sending(
    settings: Sandbox, api: Api, change: Json, status: int, code: str, reason: str | None
) -> None:
    """Each refuses, and the same text goes out once nothing stands against it."""
    body, before = sms(), settings.console.account()
    settings.console.update_account(change)
    problem = refused(api.post("/v1/sms", body), status, code)
    assert reason is None or problem["errors"][0]["code"] == reason
    settings.console.update_account(before)
    ok(api.post("/v1/sms", body), 202)


def test_listed_number_gets_no_text(sandbox: Sandbox, api: Api) -> None:
    """422 `on_dnc`."""
    body = sms()
    sandbox.console.add_dnc(sandbox.client_id, [body["to"]])
    refused(api.post("/v1/sms", body), 422, "on_dnc")


def test_consent_opens_the_way(settings: Sandbox, api: Api) -> None:
    """Recorded evidence of the number lets it be texted where consent is asked for."""
    settings.console.update_account({"consent_required": True})
    body = sms()
    refused(api.post("/v1/sms", body), 422, "message_refused")
    evidence = {
        "phone": body["to"], "channel": "sms", "source": "web form",
        "obtained_at": "2026-01-01T00:00:00Z", "evidence": "ticked",
    }  # fmt: skip
    kept = ok(api.post("/v1/consents", evidence), 201)
    assert kept["id"].startswith("cns_")
    assert kept["obtained_at"] == "2026-01-01T00:00:00.000Z"
    ok(api.post("/v1/sms", body), 202)


def test_hours_are_the_called_partys(settings: Sandbox, other: Api) -> None:
    """Half-open and local: at 15:00 UTC it is 10:00 in New York and 07:00 in Los Angeles."""
    now = dt.datetime.fromisoformat(settings.console.advance_clock(0))
    # A winter's day, which no clock change is near.
    winter = dt.datetime(now.year + 1, 12, 1, 15, tzinfo=dt.UTC)
    settings.console.advance_clock((winter - now).total_seconds())
    settings.console.update_account({"calling_hours": {"start": "08:00", "end": "21:00"}})
    ok(other.post("/v1/sms", sms(to="+12125550142")), 202)
    refused(other.post("/v1/sms", sms(to="+12135550142")), 422, "message_refused")
    settings.console.update_account({"calling_hours": {"start": "10:01", "end": "21:00"}})
    refused(other.post("/v1/sms", sms(to="+12125550142")), 422, "message_refused")
    settings.console.update_account({"calling_hours": {"start": "22:00", "end": "10:30"}})
    ok(other.post("/v1/sms", sms(to="+12125550142")), 202)


def test_caps_count_what_was_sent(settings: Sandbox, api: Api) -> None:
    """Two a minute, then none until a minute has passed; a refused text is not counted."""
    settings.console.advance_clock(61)
    settings.console.update_account({"per_minute_cap": 2})
    ok(api.post("/v1/sms", sms()), 202)
    ok(api.post("/v1/sms", sms()), 202)
    answer = api.post("/v1/sms", sms())
    refused(answer, 429, "rate_limit_exceeded")
    assert 1 <= int(answer.headers["Retry-After"]) <= 60
    settings.console.advance_clock(61)
    ok(api.post("/v1/sms", sms()), 202)


def test_caps_start_afresh_each_utc_day(settings: Sandbox, api: Api) -> None:
    """The daily cap counts until midnight; `Retry-After` says how long that is."""
    settings.console.advance_clock(86_400)
    settings.console.update_account({"daily_cap": 1})
    ok(api.post("/v1/sms", sms()), 202)
    answer = api.post("/v1/sms", sms())
    refused(answer, 429, "daily_cap_reached")
    settings.console.advance_clock(int(answer.headers["Retry-After"]))
    ok(api.post("/v1/sms", sms()), 202)
