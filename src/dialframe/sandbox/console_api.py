"""The console: as an object in the sandbox's own process, and the same calls over HTTP."""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, Literal

from starlette.routing import Match, Route
from starlette.types import Receive, Scope, Send

from dialframe.errors import ConfigError
from dialframe.sandbox import console_actions, request_checks
from dialframe.sandbox.asgi_app import inbound_of, refused, send_reply
from dialframe.sandbox.handlers.requests_and_replies import Inbound, Reply, answer
from dialframe.sandbox.world.api_objects import Json, Refusal
from dialframe.sandbox.world.runtime_state import Drop, World


class Console:
    """What an administrator, the operator and a rehearsal do, one method per call.

        with dialframe.sandbox.start(size="empty") as sandbox:
            console, me = sandbox.console, sandbox.client_id
            campaign = console.create_campaign(me, "autumn", status="running")["id"]
            console.add_leads(me, [{"campaign_id": campaign, "phone": "+12125550142"}])
            console.update_account({"dialer": {"enabled": True}})
            console.advance_clock(86_400)
            console.outbox(me)

    Raises:
        ConfigError: From every method, where the console over HTTP answers 404 or 422.
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
        """A client with a data set of its own: `client_id` and `api_key`.

        Args:
            name: A name for people.
            scopes: Scopes of the contract that it holds.
            sending: Whether the key is one of the guided sending setup.
            ip_allow: Addresses or networks that it may call from; all where there are none.
            size: Its synthetic account: `empty`, `tiny`, `small`, `medium` or `large`.

        Returns:
            `client_id` and `api_key`.
        """
        body = {
            "name": name,
            "scopes": list(scopes),
            "sending": sending,
            "ip_allow": list(ip_allow),
            "size": size,
        }
        return self._call(console_actions.create_client, body)

    def create_key(self, client_id: str, *, sending: bool = False) -> str:
        """A further key of a client.

        Args:
            client_id: The client whose data set it is.
            sending: Whether the key is one of the guided sending setup.

        Returns:
            The key, in plain text for the last time.
        """
        answer = self._call(console_actions.create_key, {"sending": sending}, client_id=client_id)
        return str(answer["api_key"])

    def update_client(
        self,
        client_id: str,
        *,
        scopes: Sequence[str] | None = None,
        ip_allow: Sequence[str] | None = None,
        enabled: bool | None = None,
    ) -> Json:
        """Change what is given: the client as it is then, with its keys' ids.

        Args:
            client_id: The client whose data set it is.
            scopes: Scopes of the contract that it holds.
            ip_allow: Addresses or networks that it may call from; all where there are none.
            enabled: Whether it may call at all.

        Returns:
            The client as it is then, with the ids of its keys.
        """
        changes = {"scopes": scopes, "ip_allow": ip_allow, "enabled": enabled}
        body = {name: value for name, value in changes.items() if value is not None}
        return self._call(console_actions.update_client, body, client_id=client_id)

    def revoke_key(self, credential_id: str) -> None:
        """Make a key worthless.

        Args:
            credential_id: The key's public half: `svc_test_<credential_id>_...`.
        """
        self._call(console_actions.revoke_key, {}, credential_id=credential_id)

    def account(self) -> Json:
        """All switches and settings of the account.

        Returns:
            Every switch and setting by its name.
        """
        return self._call(console_actions.read_account, {})

    def update_account(self, settings: Mapping[str, object]) -> Json:
        """Change the switches and settings that are given: all of them as they are then.

        Args:
            settings: Names of settings to new values; of `dialer` any part.

        Returns:
            Every switch and setting as it is then.
        """
        return self._call(console_actions.update_account, dict(settings))

    def create_campaign(
        self,
        client_id: str,
        name: str,
        *,
        status: str = "draft",
        dialer_mode: str = "predictive",
        max_attempts: int | None = None,
        retry_gap_minutes: float | None = None,
        calls_per_minute: float | None = None,
    ) -> Json:
        """A campaign in any state; what it does not say of its dialing, the account's settings say.

        Args:
            client_id: The client whose data set it is.
            name: A name for people.
            status: `draft`, `ready`, `running`, `paused`, `completed` or `archived`.
            dialer_mode: `predictive`, `progressive` (60 % of the pace) or `preview` (20 %).
            max_attempts: Attempts on a lead.
            retry_gap_minutes: Shortest time between two attempts on a lead, in minutes.
            calls_per_minute: Calls of this campaign in a minute.

        Returns:
            The campaign.
        """
        body = {
            "name": name,
            "status": status,
            "dialer_mode": dialer_mode,
            "max_attempts": max_attempts,
            "retry_gap_minutes": retry_gap_minutes,
            "calls_per_minute": calls_per_minute,
        }
        return self._call(console_actions.create_campaign, body, client_id=client_id)

    def add_leads(self, client_id: str, leads: Sequence[Mapping[str, object]]) -> list[str]:
        """Leads with any of their fields: their ids.

        Args:
            client_id: The client whose data set it is.
            leads: Lead objects of the contract, any field.

        Returns:
            The leads' ids, in their order.
        """
        body = [dict(lead) for lead in leads]
        answer = self._call(console_actions.add_leads, body, client_id=client_id)
        return list(answer["ids"])

    def add_calls(self, client_id: str, records: Sequence[Mapping[str, object]]) -> list[str]:
        """Calls with any of their fields: their ids.

        Args:
            client_id: The client whose data set it is.
            records: Call records of the contract, any field, and `lead_id` and
                `agent_extension`.

        Returns:
            The calls' ids, in their order.
        """
        body = [dict(record) for record in records]
        answer = self._call(console_actions.add_calls, body, client_id=client_id)
        return list(answer["ids"])

    def add_agent(
        self, client_id: str, extension: str, email: str, *, state: str = "ready"
    ) -> Json:
        """An agent, or a known one in another state.

        Args:
            client_id: The client whose data set it is.
            extension: The agent's extension.
            email: The agent's e-mail address.
            state: `ready`, or anything else for one that takes no call.

        Returns:
            The agent.
        """
        body = {"extension": extension, "email": email, "state": state}
        return self._call(console_actions.add_agent, body, client_id=client_id)

    def add_caller_id(self, client_id: str, number: str) -> Json:
        """A verified number.

        Args:
            client_id: The client whose data set it is.
            number: E.164.

        Returns:
            The number.
        """
        return self._call(console_actions.add_caller_id, {"number": number}, client_id=client_id)

    def add_lead_source(self, client_id: str, code: str) -> Json:
        """A source that leads may name.

        Args:
            client_id: The client whose data set it is.
            code: The code.

        Returns:
            The source.
        """
        return self._call(console_actions.add_lead_source, {"code": code}, client_id=client_id)

    def add_field_rule(
        self, client_id: str, field: str, *, required: bool = False, pattern: str | None = None
    ) -> Json:
        """A rule that leads have to keep.

        Args:
            client_id: The client whose data set it is.
            field: `phone`, `full_name`, `email`, `external_id` or `custom_fields.<name>`.
            required: Whether it has to be there.
            pattern: Regular expression that is searched for in it.

        Returns:
            The rule.
        """
        body = {"field": field, "required": required, "pattern": pattern}
        return self._call(console_actions.add_field_rule, body, client_id=client_id)

    def add_dnc(self, client_id: str, phones: Sequence[str]) -> Json:
        """Numbers for the Do-Not-Call list.

        Args:
            client_id: The client whose data set it is.
            phones: E.164 numbers.

        Returns:
            The numbers.
        """
        body = {"phones": list(phones)}
        return self._call(console_actions.add_dnc, body, client_id=client_id)

    def remove_dnc(self, client_id: str, phone: str) -> None:
        """Take a number off the Do-Not-Call list.

        Args:
            client_id: The client whose data set it is.
            phone: E.164.
        """
        self._call(console_actions.remove_dnc, {}, client_id=client_id, phone=phone)

    def set_callback(self, client_id: str, callback_id: str, status: str) -> Json:
        """Move a callback to any state.

        Args:
            client_id: The client whose data set it is.
            callback_id: The callback.
            status: `pending`, `completed` or `cancelled`.

        Returns:
            The callback.
        """
        path = {"client_id": client_id, "callback_id": callback_id}
        return self._call(console_actions.set_callback, {"status": status}, **path)

    def set_appointment(self, client_id: str, appointment_id: str, status: str) -> Json:
        """Move an appointment to any state.

        Args:
            client_id: The client whose data set it is.
            appointment_id: The appointment.
            status: `scheduled`, `confirmed`, `cancelled`, `completed` or `no-show`.

        Returns:
            The appointment.
        """
        path = {"client_id": client_id, "appointment_id": appointment_id}
        return self._call(console_actions.set_appointment, {"status": status}, **path)

    def emit_event(self, client_id: str, kind: str, data: Mapping[str, object]) -> str:
        """Let something have happened: the event's id.

        Args:
            client_id: The client whose data set it is.
            kind: An event type of the contract.
            data: The event's data.

        Returns:
            The event's id.
        """
        body = {"type": kind, "data": dict(data)}
        answer = self._call(console_actions.emit_event, body, client_id=client_id)
        return str(answer["event_id"])

    def outbox(self, client_id: str) -> list[Json]:
        """What would have been sent, in order: `kind`, `to`, `at` and more.

        Args:
            client_id: The client whose data set it is.

        Returns:
            Entries in the order of their time: `kind`, `to`, `at`, `id`, and `call_id` of a
            call.
        """
        answer = self._call(console_actions.read_outbox, {}, client_id=client_id)
        return list(answer["data"])

    def refusals(self, client_id: str) -> list[Json]:
        """What a check at dial time refused, in order: `kind`, `to`, `at`, `code` and `reason`.

        Args:
            client_id: The client whose data set it is.

        Returns:
            Entries in the order of their time: `kind`, `to`, `at`, `code`, `reason` and
            `id`.
        """
        answer = self._call(console_actions.read_refusals, {}, client_id=client_id)
        return list(answer["data"])

    def advance_clock(self, seconds: float) -> str:
        """Move the clock forward and play what falls into it: what it shows then.

        Args:
            seconds: How far; 0 only asks what it shows.

        Returns:
            What the clock shows then, as the contract writes an instant.
        """
        answer = self._call(console_actions.advance_clock, {"advance_seconds": seconds})
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
        """Have the next matching requests fail; `faults.Rule` says how.

        Args:
            operation: Name of an operation such as `calls.list`, or `*` for any.
            times: How many requests fail.
            after: How many pass first.
            status: HTTP status of the error, or of the answer with `body`.
            code: Code of the error; `outcome_unknown` lasts until `reconcile`.
            delay_seconds: Real seconds that the operation takes longer.
            drop: Where the connection is cut: `before`, `during` or `after-commit`.
            body: What is answered instead of JSON.

        Returns:
            The failure as it is kept.
        """
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
        return self._call(console_actions.arm_fault, rule)

    def reconcile(self, key: str, outcome: Literal["done", "not_done"]) -> Json:
        """Say what became of a write whose key answers `outcome_unknown`.

        Args:
            key: The write's idempotency key.
            outcome: `done` or `not_done`.

        Returns:
            `idempotency_key`, `outcome` and the HTTP `status` of a write that was done.
        """
        return self._call(console_actions.reconcile, {"outcome": outcome}, idempotency_key=key)

    def clear_faults(self) -> None:
        """Have nothing fail any more."""
        self._call(console_actions.clear_faults, {})

    def _call(self, run: Any, body: object, **path: str) -> Json:
        # The calls over HTTP and those of the object are rows of one table.
        call = next(call for call in console_actions.CALLS if call.run is run)
        try:
            return call.perform(self._world, path, json.dumps(body)) or {}
        except Refusal as refusal:
            raise ConfigError(f"the sandbox's console refused: {refusal.detail}") from None


_BEARER: Final = "bearer "


class ConsoleEndpoint:
    """Everything under `/console`."""

    def __init__(self, world: World, pool: ThreadPoolExecutor) -> None:
        self._world = world
        self._pool = pool
        self._calls = [
            (Route(call.path, self, methods=[call.method]), call) for call in console_actions.CALLS
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one call; without the token it says nothing, not even which paths there are."""
        # The edge has read the body already.
        del receive
        inbound = inbound_of(scope)
        try:
            self._check_token(inbound)
            call, path = self._find(scope)
            reply = await asyncio.get_running_loop().run_in_executor(
                self._pool, lambda: _run(self._world, call, path, inbound)
            )
        except Refusal as refusal:
            reply = refused(scope, refusal, inbound.request_id)
        await send_reply(reply, send)

    def _check_token(self, inbound: Inbound) -> None:
        values = inbound.headers.get("authorization", ())
        token_given = values[0] if len(values) == 1 else ""
        right = self._world.console_token.encode()
        # Header bytes are Latin-1 (RFC 9110, 5.5); compared in constant time, so that no prefix can be told.
        token = token_given[len(_BEARER) :].strip().encode("latin-1")
        if not token_given.lower().startswith(_BEARER) or not hmac.compare_digest(token, right):
            raise Refusal("invalid_api_key", "The console's token is missing or wrong.")

    def _find(self, scope: Scope) -> tuple[console_actions.Call, dict[str, Any]]:
        allowed = []
        for route, call in self._calls:
            # FULL says path and method fit, PARTIAL that the path alone does (405 instead of 404).
            match, matched = route.matches(scope)
            if match is Match.FULL and scope["method"] == call.method:
                return call, matched["path_params"]
            if match is not Match.NONE:
                allowed.append(call.method)
        if not allowed:
            raise Refusal("not_found", "The console has no such path.")
        raise Refusal("method_not_allowed", headers=(("Allow", ", ".join(sorted(allowed))),))


def _run(
    world: World, call: console_actions.Call, path: dict[str, Any], inbound: Inbound
) -> Reply:
    # A call without a body takes an empty one for `{}`; any other has to send JSON.
    text = inbound.body if call.shape is not console_actions.NoBody or inbound.body else b"{}"
    try:
        request_checks.parse(text)
    except Refusal as refusal:
        raise console_actions.unprocessable(refusal) from None
    # RFC 8259, 4: what `parse` refuses (a name twice, NaN, half a surrogate pair) never reaches a shape.
    result = call.perform(world, path, text)
    return Reply(call.status) if result is None else answer(result, status=call.status)
