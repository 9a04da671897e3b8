"""The console as an object: the same calls as over HTTP, in the sandbox's own process."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from dialframe.errors import ConfigError
from dialframe.sandbox import console_calls as calls
from dialframe.sandbox import console_data, console_people
from dialframe.sandbox import console_shapes as shapes
from dialframe.sandbox.exchange import Json
from dialframe.sandbox.faults import Drop, Rule
from dialframe.sandbox.problems import Refusal
from dialframe.sandbox.settings import Settings
from dialframe.sandbox.world import World


class Console:
    """What an administrator, the operator and a rehearsal do, one method per call.

    Every method raises `ConfigError` where the console over HTTP answers 404 or 422.
    """

    def __init__(self, world: World) -> None:
        self._world = world

    def create_client(
        self,
        name: str,
        *,
        scopes: Sequence[str] = (),
        sending: bool = False,
        ip_allow: Sequence[str] = (),
        size: str = "empty",
    ) -> Json:
        """A client with a data set of its own: `client_id` and `api_key`."""
        body = {
            "name": name,
            "scopes": list(scopes),
            "sending": sending,
            "ip_allow": list(ip_allow),
            "size": size,
        }
        return self._call(console_people.create_client, shapes.NewClient, body)

    def create_key(self, client_id: str, *, sending: bool = False) -> str:
        """A further key of a client."""
        body = {"sending": sending}
        answer = self._call(console_people.create_key, shapes.NewKey, body, client_id=client_id)
        return str(answer["api_key"])

    def update_client(
        self,
        client_id: str,
        *,
        scopes: Sequence[str] | None = None,
        ip_allow: Sequence[str] | None = None,
        enabled: bool | None = None,
    ) -> Json:
        """Change what is given: the client as it is then, with its keys' ids."""
        given = {"scopes": scopes, "ip_allow": ip_allow, "enabled": enabled}
        body = {name: value for name, value in given.items() if value is not None}
        return self._call(
            console_people.update_client, shapes.ClientChange, body, client_id=client_id
        )

    def revoke_key(self, credential_id: str) -> None:
        """Make a key worthless."""
        self._call(console_people.revoke_key, shapes.Nothing, {}, credential_id=credential_id)

    def account(self) -> Json:
        """All switches and settings of the account."""
        return self._call(console_people.read_account, shapes.Nothing, {})

    def update_account(self, settings: Mapping[str, object]) -> Json:
        """Change the switches and settings that are given: all of them as they are then."""
        return self._call(console_people.update_account, Settings, dict(settings))

    def create_campaign(
        self,
        client_id: str,
        name: str,
        *,
        status: str = "draft",
        dialer_mode: str = "predictive",
    ) -> Json:
        """A campaign in any state."""
        body = {"name": name, "status": status, "dialer_mode": dialer_mode}
        return self._call(
            console_data.create_campaign, shapes.NewCampaign, body, client_id=client_id
        )

    def add_leads(self, client_id: str, leads: Sequence[Mapping[str, object]]) -> list[str]:
        """Leads with any of their fields: their ids."""
        body = [dict(lead) for lead in leads]
        answer = self._call(console_data.add_leads, shapes.Leads, body, client_id=client_id)
        return list(answer["ids"])

    def add_calls(self, client_id: str, records: Sequence[Mapping[str, object]]) -> list[str]:
        """Calls with any of their fields: their ids."""
        body = [dict(record) for record in records]
        answer = self._call(console_data.add_calls, shapes.Calls, body, client_id=client_id)
        return list(answer["ids"])

    def add_agent(
        self, client_id: str, extension: str, email: str, *, state: str = "ready"
    ) -> Json:
        """An agent, or a known one in another state."""
        body = {"extension": extension, "email": email, "state": state}
        return self._call(console_data.add_agent, shapes.NewAgent, body, client_id=client_id)

    def add_caller_id(self, client_id: str, number: str) -> Json:
        """A verified number."""
        body = {"number": number}
        return self._call(
            console_data.add_caller_id, shapes.NewCallerId, body, client_id=client_id
        )

    def add_lead_source(self, client_id: str, code: str) -> Json:
        """A source that leads may name."""
        body = {"code": code}
        return self._call(
            console_data.add_lead_source, shapes.NewLeadSource, body, client_id=client_id
        )

    def add_field_rule(
        self, client_id: str, field: str, *, required: bool = False, pattern: str | None = None
    ) -> Json:
        """A rule that leads have to keep."""
        body = {"field": field, "required": required, "pattern": pattern}
        return self._call(
            console_data.add_field_rule, shapes.NewFieldRule, body, client_id=client_id
        )

    def add_dnc(self, client_id: str, phones: Sequence[str]) -> Json:
        """Numbers for the Do-Not-Call list."""
        body = {"phones": list(phones)}
        return self._call(console_data.add_dnc, shapes.Phones, body, client_id=client_id)

    def remove_dnc(self, client_id: str, phone: str) -> None:
        """Take a number off the Do-Not-Call list."""
        self._call(console_data.remove_dnc, shapes.Nothing, {}, client_id=client_id, phone=phone)

    def set_callback(self, client_id: str, callback_id: str, status: str) -> Json:
        """Move a callback to any state."""
        path = {"client_id": client_id, "callback_id": callback_id}
        body = {"status": status}
        return self._call(console_data.set_callback, shapes.CallbackStatus, body, **path)

    def set_appointment(self, client_id: str, appointment_id: str, status: str) -> Json:
        """Move an appointment to any state."""
        path = {"client_id": client_id, "appointment_id": appointment_id}
        body = {"status": status}
        return self._call(console_data.set_appointment, shapes.AppointmentStatus, body, **path)

    def emit_event(self, client_id: str, kind: str, data: Mapping[str, object]) -> str:
        """Let something have happened: the event's id."""
        body = {"type": kind, "data": dict(data)}
        answer = self._call(console_data.emit_event, shapes.NewEvent, body, client_id=client_id)
        return str(answer["event_id"])

    def outbox(self, client_id: str) -> list[Json]:
        """What would have been sent, in order: `kind`, `to`, `at` and more."""
        answer = self._call(console_data.read_outbox, shapes.Nothing, {}, client_id=client_id)
        return list(answer["data"])

    def advance_clock(self, seconds: float) -> str:
        """Move the clock forward: what it shows then."""
        answer = self._call(calls.advance_clock, shapes.Advance, {"advance_seconds": seconds})
        return str(answer["now"])

    def arm_fault(
        self,
        operation: str = "*",
        *,
        times: int = 1,
        after: int = 0,
        status: int | None = None,
        code: str | None = None,
        delay_seconds: float | None = None,
        drop: Drop | None = None,
        body: str | None = None,
    ) -> Json:
        """Have the next matching requests fail; `faults.Rule` says how."""
        rule = {
            "operation": operation,
            "times": times,
            "after": after,
            "status": status,
            "code": code,
            "delay_seconds": delay_seconds,
            "drop": drop,
            "body": body,
        }
        return self._call(calls.arm_fault, Rule, rule)

    def clear_faults(self) -> None:
        """Have nothing fail any more."""
        self._call(calls.clear_faults, shapes.Nothing, {})

    def _call(self, run: Any, shape: type[BaseModel], body: object, **path: str) -> Json:
        try:
            given = calls.read_body(shape, json.dumps(body))
            answer: Json | None = run(self._world, given, path)
        except Refusal as refusal:
            raise ConfigError(f"the sandbox's console refused: {refusal.detail}") from None
        return answer or {}
