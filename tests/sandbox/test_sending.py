"""What is checked before anybody is called or texted; texts and the Do-Not-Call list."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import httpx
import pytest

from sandbox.service_bench import (
    AUTO,
    LONDON,
    OPERATIONS,
    Console,
    Json,
    Party,
    answered,
    fresh_key,
    iso,
    problem,
    shaped,
)

NEW_YORK = "+12125550142"
#: Both ways to reach a person at once: the operation's path, and what it answers.
KINDS = {"call": ("/v1/calls", 201), "sms": ("/v1/sms", 202)}
every_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(scope="module", autouse=True)
def _caller_id(party: Party) -> None:
    """The account has a verified number to call from."""
    party.caller_id()


def send(party: Party, kind: str, to: str) -> httpx.Response:
    """Call or text a number."""
    if kind == "sms":
        return text_to(party, to)
    return party.post("/v1/calls", {"to": to, "agent_extension": party.agent()})


def text_to(party: Party, number: str, **fields: Any) -> httpx.Response:
    """Send one SMS."""
    body = {"to": number, "body": "Hello", "client_reference": fresh_key(), **fields}
    return party.post("/v1/sms", body)


def sent(party: Party, kind: str, to: str) -> None:
    """Demand that it goes."""
    answered(send(party, kind, to), KINDS[kind][1])


def refused(party: Party, kind: str, to: str, status: int, code: str) -> Json:
    """Demand a refusal that reaches nobody."""
    before = len(party.outbox(kind))
    body = problem(send(party, kind, to), status, code)
    assert len(party.outbox(kind)) == before
    return body


def compliance(party: Party, kind: str, to: str) -> str:
    """Demand a compliance refusal, 422; its reason."""
    code = "dial_refused" if kind == "call" else "message_refused"
    return str(refused(party, kind, to, 422, code)["errors"][0]["code"])


REACHING = ["calls.start", "sms.send"]
WRITING = ["leads.import", "leads.create"]
#: Settings to what they answer, and what they stop.
STOPS: list[tuple[Json, int, str, list[str]]] = [
    ({"balance": 0}, 402, "insufficient_balance", REACHING),
    ({"sending_suspended": True}, 403, "sending_suspended", REACHING),
    ({"outbound_approved": False}, 403, "outbound_not_approved", REACHING),
    ({"blocked_countries": ["GB"]}, 422, "blocked_country", [*REACHING, "appointments.create"]),
    ({"sanctioned_countries": ["GB"]}, 422, "blocked_country", REACHING),
    ({"daily_cap": 0}, 429, "daily_cap_reached", [*REACHING, "callbacks.create", "campaigns.resume"]),
    ({"per_minute_cap": 0}, 429, "rate_limit_exceeded", REACHING),
    ({"spend_cap": 0}, 429, "spend_cap_reached", REACHING),
    ({"spend_cap": 0.001}, 429, "spend_cap_reached", REACHING),
    ({"dnc_screen_available": False}, 503, "dnc_screen_unavailable", REACHING + WRITING),
    ({"webhooks_enabled": False}, 403, "webhooks_disabled",
     [each.name for each in OPERATIONS if (each.scope or "").startswith("webhooks:")]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "status", "code", "name"),
    [(*stop[:3], name) for stop in STOPS for name in stop[3]],
)
def test_a_setting_stops_it(
    console: Console, client: Party, settings: Json, status: int, code: str, name: str
) -> None:
    """Nothing changes and nobody is reached; afterwards it goes, where a refusal is not stored under the same key."""
    operation, key = client.good(name), fresh_key()
    before = client.everything()
    with console.settings(**settings):
        problem(client.run(operation, idem=key), status, code)
    assert client.everything() == before
    went = client.run(operation, idem=key if status in (429, 503) else AUTO)
    assert answered(went) is not None or operation.method == "DELETE"
    assert "idempotency-replayed" not in went.headers


@pytest.mark.parametrize("name", [*REACHING, "appointments.create"])
def test_a_blocked_country_is_that_country_alone(
    console: Console, client: Party, name: str
) -> None:
    """A number of another one is reached."""
    with console.settings(blocked_countries=["US"], sanctioned_countries=["DE"]):
        answered(client.run(client.good(name)))


@every_kind
def test_calling_hours_are_the_called_partys(console: Console, party: Party, kind: str) -> None:
    """422 outside them, half-open, over midnight too, with the reason in errors[0].code."""
    here = console.now().astimezone(ZoneInfo("America/New_York"))
    noon = here.replace(hour=12, minute=0, second=0, microsecond=0)
    noon += timedelta(days=1) if noon <= here else timedelta()
    console.advance(int((noon - here).total_seconds()) + 5)
    for start, end, open_to, closed_to in (
        ("12:00", "13:00", [NEW_YORK], [LONDON]),
        ("08:00", "12:00", [], [NEW_YORK]),
        ("16:00", "18:00", [LONDON], [NEW_YORK]),
        ("22:00", "12:30", [NEW_YORK], [LONDON]),
        ("00:00", "00:00", [], [NEW_YORK, LONDON]),
    ):
        with console.settings(calling_hours={"start": start, "end": end}):
            for number in open_to:
                sent(party, kind, number)
            for number in closed_to:
                assert compliance(party, kind, number) == "outside_calling_hours"


@every_kind
def test_recorded_consent_opens_the_way(console: Console, party: Party, kind: str) -> None:
    """With consent required, 422 without one; a recorded one lets it go."""
    number = party.phone()
    consent = {"phone": number, "channel": "sms", "source": "web_form", "evidence": "I agree."}
    answered(party.post("/v1/consents", {**consent, "obtained_at": iso(console.now())}), 201)
    with console.settings(consent_required=True):
        sent(party, kind, number)
        assert compliance(party, kind, party.phone()) == "consent_missing"


def test_message_is_queued(party: Party) -> None:
    """202 with the message, queued; the outbox has what would have been sent."""
    number, reference = party.phone(), fresh_key()
    response = text_to(party, number, client_reference=reference)
    message = shaped("message", answered(response, 202))

    assert (message["to"], message["status"]) == (number, "queued")
    assert message["client_reference"] == reference
    sent = party.outbox("sms")[-1]
    assert (sent["kind"], sent["to"]) == ("sms", number)
    assert sent["at"]


def test_longest_message_and_reference_are_taken(party: Party) -> None:
    """918 characters of body, also beyond ASCII, and 64 of reference."""
    for letter in ("x", "ü", "\N{WAVING HAND SIGN}"):
        reference = fresh_key().ljust(64, "r")
        response = text_to(party, NEW_YORK, body=letter * 918, client_reference=reference)
        answered(response, 202)
    answered(text_to(party, NEW_YORK, body="x", client_reference=fresh_key()[:1]), 202)


def test_repeated_reference_is_refused(party: Party, other: Party) -> None:
    """409 duplicate_client_reference under a new key, to whomever; nothing is sent again."""
    reference = fresh_key()
    answered(text_to(party, NEW_YORK, client_reference=reference), 202)
    sent = len(party.outbox("sms"))
    for number, body in ((NEW_YORK, "Hello"), (LONDON, "Other")):
        response = text_to(party, number, body=body, client_reference=reference)
        problem(response, 409, "duplicate_client_reference")
    assert len(party.outbox("sms")) == sent


def test_listed_number_is_refused_and_its_reference_stays_free(party: Party) -> None:
    """A reference whose message was refused was not sent, so it repeats nothing."""
    number, reference = party.phone(), fresh_key()
    party.on_dnc(number)
    sent = len(party.outbox("sms"))
    problem(text_to(party, number, client_reference=reference), 422, "on_dnc")
    assert len(party.outbox("sms")) == sent
    party.console("DELETE", f"/dnc/{number}", status=204)

    answered(text_to(party, number, client_reference=reference), 202)


@pytest.mark.parametrize(
    ("cap", "code", "next_one"),
    [
        ({"daily_cap": 2}, "daily_cap_reached", Console.to_next_day),
        ({"per_minute_cap": 2}, "rate_limit_exceeded", lambda console: console.advance(61)),
        ({"spend_cap": 0.02}, "spend_cap_reached", Console.to_next_day),
    ],
)
def test_caps_count_by_the_day_or_the_minute(
    console: Console, party: Party, cap: Json, code: str, next_one: Callable[[Console], object]
) -> None:
    """Two of them go, the third answers 429; of the next day or minute the first goes again."""
    console.to_next_day()
    with console.settings(**cap):
        for _ in range(2):
            answered(text_to(party, NEW_YORK), 202)
        refused(party, "sms", NEW_YORK, 429, code)
        next_one(console)
        answered(text_to(party, NEW_YORK), 202)


def test_usage_and_delivery_reports_can_be_read(party: Party) -> None:
    """Each text is counted, and its report is in the list, newest first."""
    before = answered(party.get("/v1/sms/usage"), 200)["sent_today"]
    sent = answered(text_to(party, NEW_YORK), 202)
    assert answered(party.get("/v1/sms/usage"), 200)["sent_today"] == before + 1
    report = answered(party.get("/v1/sms/delivery-reports"), 200)["data"][0]
    assert (report["message_id"], report["status"]) == (sent["id"], "queued")


# --- the Do-Not-Call list ----------------------------------------------------------------------


def test_check_answers_each_number_in_order(party: Party) -> None:
    """One result per input number, in input order, repeated numbers too."""
    listed, free = party.phone(), party.phone()
    party.on_dnc(listed)
    phones = [free, listed, LONDON, listed, free, free]
    body = answered(party.post("/v1/dnc/check", {"phones": phones}, idem=None), 200)

    assert set(body) == {"data"}
    assert [shaped("dnc check", each)["phone"] for each in body["data"]] == phones
    assert [each["listed"] for each in body["data"]] == [phone == listed for phone in phones]
    # A number that was only checked stays unlisted.
    assert answered(party.post("/v1/dnc/check", {"phones": phones}), 200) == body


def test_check_takes_100_and_no_more(party: Party) -> None:
    """100 numbers are answered; 101 answer 400 batch_too_large."""
    phones = [f"+1212555{n:04d}" for n in range(100, 200)]
    body = answered(party.post("/v1/dnc/check", {"phones": phones}), 200)
    assert [each["phone"] for each in body["data"]] == phones
    response = party.post("/v1/dnc/check", {"phones": [*phones, LONDON]})
    problem(response, 400, "batch_too_large")


def test_added_number_is_listed(console: Console, party: Party, other: Party) -> None:
    """POST /v1/dnc lists the number for this client alone; only the console removes it."""
    number = party.phone()
    answered(party.post("/v1/dnc", {"phone": number, "reason": "asked"}), 201)
    for client, listed in ((party, True), (other, False)):
        body = answered(client.post("/v1/dnc/check", {"phones": [number]}), 200)
        assert body["data"] == [{"phone": number, "listed": listed}]
    problem(party.send("DELETE", "/v1/dnc"), 405, "method_not_allowed")
    party.console("DELETE", f"/dnc/{number}", status=204)
    body = answered(party.post("/v1/dnc/check", {"phones": [number]}), 200)
    assert body["data"][0]["listed"] is False
