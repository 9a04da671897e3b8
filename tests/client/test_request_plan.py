"""The contract's bounds stop a request before it is sent, in a sentence that names argument and bound."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from client.fakes import CAMPAIGN, LEAD, PHONE, START, Service, an_id, answer, connected
from dialframe.client import Client, Options
from dialframe.errors import ConfigError

Asking = Callable[[Client], Any]
WEBHOOK = an_id("wh")

# What is asked, and the words that the message has to hold.
BEYOND: list[tuple[str, Asking, str]] = [
    ("limit", lambda c: c.calls.list(limit=101), r"calls\.list: limit: .*100"),
    ("limit below", lambda c: c.leads.list(limit=0), r"leads\.list: limit: .*1"),
    ("cursor", lambda c: c.calls.list(cursor="c" * 1025), r"calls\.list: cursor: .*1024"),
    ("direction", lambda c: c.calls.list(direction="up"), r"direction: .*'inbound' or 'outbound'"),
    ("status", lambda c: c.leads.list(status="old"), r"status: .*'new'"),
    ("external_id", lambda c: c.leads.list(external_id="x" * 129), r"external_id: .*128"),
    ("id", lambda c: c.leads.get("42"), r"lead_id should be a lead id: lead_ and a lower-case UUID"),
    ("id kind", lambda c: c.calls.get(LEAD), r"call_id should be a call id"),
    ("import none", lambda c: c.leads.import_(CAMPAIGN, []), r"leads: .*at least 1"),
    ("import many", lambda c: c.leads.import_(CAMPAIGN, [{"phone": PHONE}] * 201), r"leads: .*200"),
    ("import row", lambda c: c.leads.import_(CAMPAIGN, [{"phone": PHONE}, {"phone": ""}]),
     r"leads\[1\]\.phone: .*1 char"),
    ("import field", lambda c: c.leads.import_(CAMPAIGN, [{"phone": PHONE, "fax": "1"}]),
     r"leads\[0\]\.fax: .*not permitted"),
    ("first_name", lambda c: c.leads.create(campaign_id=CAMPAIGN, phone=PHONE, first_name="x" * 101),
     r"first_name: .*100"),
    ("dial_within", lambda c: c.leads.create(campaign_id=CAMPAIGN, phone=PHONE, dial_within_seconds=29),
     r"dial_within_seconds: .*30"),
    ("custom_fields", lambda c: c.leads.update(LEAD, custom_fields={str(n): n for n in range(21)}),
     r"custom_fields: .*20"),
    ("agents none", lambda c: c.calls.start(to=PHONE), r"exactly one of agent_extension or agent_email"),
    ("agents both", lambda c: c.calls.start(to=PHONE, agent_extension="1", agent_email="a@b.c"),
     r"exactly one of"),
    ("to", lambda c: c.calls.start(to="5550142", agent_extension="1"), r"to should be an E\.164 number"),
    ("events none", lambda c: c.webhooks.create(url="https://x.example/", events=[]), r"events: .*1"),
    ("event type", lambda c: c.webhooks.create(url="https://x.example/", events=["webhook.test"]),
     r"events\[0\]: .*'call\.completed'"),
    ("url", lambda c: c.webhooks.create(url="https://", events=["call.completed"]), r"url: .*9"),
    ("description", lambda c: c.webhooks.update(WEBHOOK, description="x" * 201), r"description: .*200"),
    ("sms", lambda c: c.sms.send(to=PHONE, body="x" * 919, client_reference="r"), r"body: .*918"),
    ("sms reference", lambda c: c.sms.send(to=PHONE, body="x", client_reference="r" * 65),
     r"client_reference: .*64"),
    ("naive", lambda c: c.callbacks.create(lead_id=LEAD, scheduled_at=datetime(2026, 1, 1)),  # noqa: DTZ001 - that is the point
     r"scheduled_at: .*timezone"),
    ("notes", lambda c: c.callbacks.create(lead_id=LEAD, scheduled_at=START, notes="x" * 501),
     r"notes: .*500"),
    ("minutes", lambda c: c.appointments.create(phone=PHONE, scheduled_at=START, duration_minutes=4),
     r"duration_minutes: .*5"),
    ("range", lambda c: c.reports.dispositions(date(2026, 1, 1), date(2026, 4, 3)), r"1 to 92 days"),
    ("range back", lambda c: c.reports.dispositions(date(2026, 1, 2), date(2026, 1, 1)), r"1 to 92 days"),
    ("phones", lambda c: c.dnc.check([PHONE] * 150 + ["555"]), r"phones\[150\] should be an E\.164"),
    ("phones text", lambda c: c.dnc.check(PHONE), r"phones: give a list"),
    ("key of a read", lambda c: c.me(options=Options(idempotency_key="k")), r"me: .*no idempotency_key"),
    ("etag of a read", lambda c: c.me(options=Options(if_match='"1"')), r"me: .*if_match"),
    ("not JSON", lambda c: c.leads.update(LEAD, custom_fields={"x": {1, 2}}), r"not JSON"),
    ("not a number", lambda c: c.leads.update(LEAD, custom_fields={"x": float("nan")}), r"not JSON"),
    ("half a character", lambda c: c.leads.update(LEAD, full_name="\ud800"), r"leads\.update: .*"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("ask", "words"), [case[1:] for case in BEYOND], ids=[c[0] for c in BEYOND]
)
def test_argument_out_of_bounds_is_refused_before_anything_is_sent(
    ask: Asking, words: str, tmp_path: Path
) -> None:
    """The error names operation, argument and bound; no request leaves and no write is journalled."""
    service = Service(answer({}))
    client = connected(service, tmp_path)

    with pytest.raises(ConfigError, match=words) as caught:
        ask(client)

    assert not service.requests
    assert not client.writes.pending()
    assert PHONE not in str(caught.value)


def test_body_over_a_mebibyte_is_refused(tmp_path: Path) -> None:
    """1,048,576 bytes are the limit of a request."""
    leads = [{"phone": PHONE, "custom_fields": {"x": "y" * 6000}}] * 200
    service = Service(answer({}))

    with pytest.raises(ConfigError, match=r"1,048,576"):
        connected(service, tmp_path).leads.import_(CAMPAIGN, leads)

    assert not service.requests


def test_body_nested_too_deep_is_refused(tmp_path: Path) -> None:
    """20 levels of JSON are allowed; body, custom_fields and what is in it all count."""
    deep: Any = "x"
    for _ in range(18):
        deep = [deep]
    service = Service(answer({}))
    client = connected(service, tmp_path)

    with pytest.raises(ConfigError, match="20 levels"):
        client.leads.update(LEAD, custom_fields={"x": [deep]})
    with pytest.raises(Exception, match="the answer is not"):
        client.leads.update(LEAD, custom_fields={"x": deep})

    assert len(service.requests) == 1


def test_several_problems_are_counted(tmp_path: Path) -> None:
    """The first is named, the others are counted."""
    client = connected(Service(answer({})), tmp_path)

    with pytest.raises(ConfigError, match=r"\(and 1 more\)"):
        client.callbacks.create(
            lead_id="x", scheduled_at=datetime(2026, 1, 1, tzinfo=UTC), notes="x" * 501
        )
