"""One call of every tool, each with arguments that make sense after the calls before it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from mcp import Client, types

from assistant.conftest import text_of

Facts = dict[str, Any]
Step = tuple[str, Callable[[Facts], dict[str, Any]]]

WHEN = "2030-01-02T10:00:00Z"
LATER = "2030-01-03T10:00:00Z"


@dataclass
class Walk:
    """Calls every tool once.

    Attributes:
        number: Two last digits of the numbers that it invents, so that walks do not meet; its agent is `2<number>`.
        answers: What each tool gave.
    """

    number: int
    answers: dict[str, types.CallToolResult] = field(default_factory=dict)

    async def __call__(self, client: Client) -> Walk:
        """Call them all."""
        facts: Facts = {}
        for name, arguments in self.steps():
            result = await client.call_tool(name, arguments(facts))
            self.answers[name] = result
            if not result.is_error:
                _learn(name, result.structured_content or {}, facts)
        return self

    def refused(self) -> dict[str, str]:
        """Tool to its words, where it was not done."""
        return {name: text_of(r) for name, r in self.answers.items() if r.is_error}

    def steps(self) -> list[Step]:
        """Tools and their arguments, in an order in which all can be done."""
        phone, other = f"+167155501{self.number:02}", f"+121255501{self.number + 1:02}"

        def one(name: str) -> Callable[[Facts], dict[str, Any]]:
            return lambda facts: {name: facts[name]}

        def of(**given: Any) -> Callable[[Facts], dict[str, Any]]:
            return lambda facts: {
                name: facts[value[1:]] if isinstance(value, str) and value[:1] == "$" else value
                for name, value in given.items()
            }

        return [
            ("me", of()),
            ("campaigns_list", of()),
            ("campaigns_get", of(campaign_id="$running")),
            ("campaigns_progress", of(campaign_id="$running")),
            ("campaigns_pause", of(campaign_id="$running")),
            ("campaigns_resume", of(campaign_id="$running")),
            ("leads_create", of(campaign_id="$ready", phone=phone, full_name="Ann Example")),
            ("leads_import", of(campaign_id="$ready", leads=[{"phone": other}])),
            ("leads_list", of(limit=2)),
            ("leads_get", one("lead_id")),
            ("leads_history", one("lead_id")),
            ("leads_update", of(lead_id="$lead_id", full_name="Ann Sample")),
            ("calls_list", of(direction="outbound", campaign_id="$running")),
            ("calls_get", one("call_id")),
            ("calls_recording", one("call_id")),
            ("calls_transcript", one("call_id")),
            ("calls_summary", one("call_id")),
            ("calls_start", of(to=phone, agent_extension=f"2{self.number}")),
            ("callbacks_create", of(lead_id="$lead_id", scheduled_at=WHEN)),
            ("callbacks_list", of(campaign_id="$ready")),
            ("callbacks_reschedule", of(callback_id="$callback_id", scheduled_at=LATER)),
            ("callbacks_cancel", one("callback_id")),
            ("appointments_create", of(phone=phone, scheduled_at=WHEN)),
            ("appointments_list", of(limit=1)),
            ("appointments_get", one("appointment_id")),
            ("appointments_reschedule", of(appointment_id="$appointment_id", scheduled_at=LATER)),
            ("appointments_cancel", one("appointment_id")),
            ("sms_send", of(to=phone, body="Hello", client_reference=f"walk-{self.number}")),
            ("sms_delivery_reports", of()),
            ("sms_usage", of()),
            ("whatsapp_send", of(to=phone, body="Hello")),
            (
                "consents_record",
                of(phone=phone, channel="sms", source="form", obtained_at="2026-01-01T00:00:00Z"),
            ),
            ("dnc_check", of(phones=[phone])),
            ("dnc_add", of(phone=other)),
            ("webhooks_create", of(url="http://127.0.0.1:9/hook", events=["call.completed"])),
            ("webhooks_list", of()),
            ("webhooks_get", one("webhook_id")),
            ("webhooks_update", of(webhook_id="$webhook_id", enabled=False)),
            ("webhooks_test", one("webhook_id")),
            ("webhooks_rotate_secret", one("webhook_id")),
            ("webhooks_delete", one("webhook_id")),
            ("events_list", of(limit=1)),
            ("events_get", one("event_id")),
            ("events_replay", one("event_id")),
            ("reports_dispositions", of(start_date="2026-09-01", end_date="2026-09-30")),
            ("store_sync", of(tables=["leads", "calls", "campaigns"])),
            ("campaign_funnel", of(by="lead_source")),
            ("dnc_coverage", of(by="state")),
            ("call_audit", of(rules=["us-tsr-hours"])),
            ("metric", of(by="lead_source")),
            ("ask", of(sql="select count(*) from leads")),
            ("may_call", of(numbers=["+12125550142"])),
            ("who_is_suppressed", of()),
            ("check_lead_list", of(content="name,phone\nAnn,212-555-0142\n", region="US")),
        ]


def _learn(name: str, said: Facts, facts: Facts) -> None:
    rows, result = said.get("rows") or [], said.get("result") or {}
    if name == "campaigns_list":
        facts.update({row["status"]: row["id"] for row in rows})
    if name == "leads_create":
        facts["lead_id"] = result["lead_id"]
    if name == "calls_list":
        facts["call_id"] = next(row["id"] for row in rows if row["duration_seconds"])
    if name == "events_list":
        facts["event_id"] = rows[0]["id"]
    for thing in ("callbacks", "appointments", "webhooks"):
        if name == f"{thing}_create":
            facts[f"{thing[:-1]}_id"] = result["id"]
