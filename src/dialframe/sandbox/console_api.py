"""The console: as an object in the sandbox's own process, and the same calls over HTTP."""

from __future__ import annotations

import asyncio
import hmac
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, Literal

from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

from dialframe.errors import ConfigError
from dialframe.sandbox import console_actions, request_checks
from dialframe.sandbox.asgi_app import Endpoint, inbound_of
from dialframe.sandbox.console_actions import Call
from dialframe.sandbox.handlers.requests_and_replies import Inbound, Reply, answer
from dialframe.sandbox.request_handling import Outcome
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
        """
        return self._call(console_actions.create_client, locals())

    def create_key(self, client_id: str, *, sending: bool = False) -> str:
        """A further key of a client.

        Args:
            client_id: The client whose data set it is.
            sending: Whether the key is one of the guided sending setup.

        Returns:
            The key, in plain text for the last time.
        """
        return str(self._call(console_actions.create_key, locals())["api_key"])

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
        """
        return self._call(console_actions.update_client, locals())

    def revoke_key(self, credential_id: str) -> None:
        """Make a key worthless.

        Args:
            credential_id: The key's public half: `svc_test_<credential_id>_...`.
        """
        self._call(console_actions.revoke_key, locals())

    def account(self) -> Json:
        """All switches and settings of the account."""
        return self._call(console_actions.read_account, locals())

    def update_account(self, settings: Mapping[str, object]) -> Json:
        """Change the switches and settings that are given: all of them as they are then.

        Args:
            settings: Names of settings to new values; of `dialer` any part.
        """
        return self._call(console_actions.update_account, locals(), settings)

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
            dialer_mode: `predictive`, `progressive` (60% of the pace) or `preview` (20%).
            max_attempts: Attempts on a lead.
            retry_gap_minutes: Shortest time between two attempts on a lead, in minutes.
            calls_per_minute: Calls of this campaign in a minute.
        """
        return self._call(console_actions.create_campaign, locals())

    def add_leads(self, client_id: str, leads: Sequence[Mapping[str, object]]) -> list[str]:
        """Leads with any of their fields: their ids, in order.

        Args:
            client_id: The client whose data set it is.
            leads: Lead objects of the contract, any field.
        """
        return list(self._call(console_actions.add_leads, locals(), leads)["ids"])

    def add_calls(self, client_id: str, records: Sequence[Mapping[str, object]]) -> list[str]:
        """Calls with any of their fields: their ids, in order.

        Args:
            client_id: The client whose data set it is.
            records: Call records of the contract, any field, and `lead_id` and
                `agent_extension`.
        """
        return list(self._call(console_actions.add_calls, locals(), records)["ids"])

    def add_agent(
        self, client_id: str, extension: str, email: str, *, state: str = "ready"
    ) -> Json:
        """An agent, or a known one in another state.

        Args:
            client_id: The client whose data set it is.
            extension: The agent's extension.
            email: The agent's e-mail address.
            state: `ready`, or anything else for one that takes no call.
        """
        return self._call(console_actions.add_agent, locals())

    def add_caller_id(self, client_id: str, number: str) -> Json:
        """A verified number.

        Args:
            client_id: The client whose data set it is.
            number: E.164.
        """
        return self._call(console_actions.add_caller_id, locals())

    def add_lead_source(self, client_id: str, code: str) -> Json:
        """A source that leads may name.

        Args:
            client_id: The client whose data set it is.
            code: The code.
        """
        return self._call(console_actions.add_lead_source, locals())

    def add_field_rule(
        self, client_id: str, field: str, *, required: bool = False, pattern: str | None = None
    ) -> Json:
        """A rule that leads have to keep.

        Args:
            client_id: The client whose data set it is.
            field: `phone`, `full_name`, `email`, `external_id` or `custom_fields.<name>`.
            required: Whether it has to be there.
            pattern: Regular expression that is searched for in it.
        """
        return self._call(console_actions.add_field_rule, locals())

    def add_dnc(self, client_id: str, phones: Sequence[str]) -> Json:
        """Numbers for the Do-Not-Call list.

        Args:
            client_id: The client whose data set it is.
            phones: E.164 numbers.
        """
        return self._call(console_actions.add_dnc, locals())

    def remove_dnc(self, client_id: str, phone: str) -> None:
        """Take a number off the Do-Not-Call list.

        Args:
            client_id: The client whose data set it is.
            phone: E.164.
        """
        self._call(console_actions.remove_dnc, locals())

    def set_callback(self, client_id: str, callback_id: str, status: str) -> Json:
        """Move a callback to any state.

        Args:
            client_id: The client whose data set it is.
            callback_id: The callback.
            status: `pending`, `completed` or `cancelled`.
        """
        return self._call(console_actions.set_callback, locals())

    def set_appointment(self, client_id: str, appointment_id: str, status: str) -> Json:
        """Move an appointment to any state.

        Args:
            client_id: The client whose data set it is.
            appointment_id: The appointment.
            status: `scheduled`, `confirmed`, `cancelled`, `completed` or `no-show`.
        """
        return self._call(console_actions.set_appointment, locals())

    def emit_event(self, client_id: str, kind: str, data: Mapping[str, object]) -> str:
        """Let something have happened: the event's id.

        Args:
            client_id: The client whose data set it is.
            kind: An event type of the contract.
            data: The event's data.
        """
        event = {"type": kind, "data": data}
        return str(self._call(console_actions.emit_event, locals(), event)["event_id"])

    def outbox(self, client_id: str) -> list[Json]:
        """What would have been sent, in order: `kind`, `to`, `at` and more.

        Args:
            client_id: The client whose data set it is.

        Returns:
            Entries in the order of their time: `kind`, `to`, `at`, `id`, and `call_id` of a
            call.
        """
        return list(self._call(console_actions.read_outbox, locals())["data"])

    def refusals(self, client_id: str) -> list[Json]:
        """What a check at dial time refused, in order: `kind`, `to`, `at`, `code` and `reason`.

        Args:
            client_id: The client whose data set it is.

        Returns:
            Entries in the order of their time: `kind`, `to`, `at`, `code`, `reason` and
            `id`.
        """
        return list(self._call(console_actions.read_refusals, locals())["data"])

    def advance_clock(self, seconds: float) -> str:
        """Move the clock forward and play what falls into it: the instant that it shows then.

        Args:
            seconds: How far; 0 only asks what it shows.
        """
        advance = {"advance_seconds": seconds}
        return str(self._call(console_actions.advance_clock, locals(), advance)["now"])

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
        """Have the next matching requests fail: the failure as it is kept.

        Args:
            operation: Name of an operation such as `calls.list`, or `*` for any.
            times: How many requests fail.
            after: How many pass first.
            status: HTTP status of the error, or of the answer with `body`.
            code: Code of the error; `outcome_unknown` lasts until `reconcile`.
            delay_seconds: Real seconds that the operation takes longer.
            drop: Where the connection is cut: `before`, `during` or `after-commit`.
            body: What is answered instead of JSON.
        """
        return self._call(console_actions.arm_fault, locals())

    def reconcile(self, key: str, outcome: Literal["done", "not_done"]) -> Json:
        """Say what became of a write whose key answers `outcome_unknown`.

        Args:
            key: The write's idempotency key.
            outcome: `done` or `not_done`.

        Returns:
            `idempotency_key`, `outcome` and the HTTP `status` of a write that was done.
        """
        path = {"idempotency_key": key}
        return self._call(console_actions.reconcile, path, {"outcome": outcome})

    def clear_faults(self) -> None:
        """Have nothing fail any more."""
        self._call(console_actions.clear_faults, locals())

    def _call(self, run: Any, given: Mapping[str, Any], body: object = None) -> Json:
        """Make a call of the table.

        Args:
            run: The row's function.
            given: What a method was given; names of the row's path are taken for it.
            body: The body; without one it is the other names that were given, but for nulls.
        """
        # The calls over HTTP and those of the object are rows of one table.
        call = next(call for call in console_actions.CALLS if call.run is run)
        path = {name: given[name] for name in re.findall(r"{(\w+)", call.path)}
        if body is None:
            left_out = {"self", *path}
            body = {
                name: value
                for name, value in given.items()
                if name not in left_out and value is not None
            }
        try:
            return call.perform(self._world, path, json.dumps(body, default=_plain)) or {}
        except Refusal as refusal:
            raise ConfigError(f"the sandbox's console refused: {refusal.detail}") from None


def _plain(value: Mapping[str, object] | Iterable[object]) -> object:
    """A mapping or a sequence of any kind as JSON has it."""
    return dict(value) if isinstance(value, Mapping) else list(value)


_BEARER: Final = "bearer "


class ConsoleEndpoint:
    """Everything under `/console`; without the token it says nothing, not even which paths there are."""

    def __init__(self, world: World, pool: ThreadPoolExecutor) -> None:
        self._token = world.console_token.encode()
        paths: dict[str, dict[str, Call]] = {}
        for call in console_actions.CALLS:
            paths.setdefault(call.path, {})[call.method] = call

        async def answer(call: Call, inbound: Inbound) -> Outcome:
            loop = asyncio.get_running_loop()
            return Outcome(await loop.run_in_executor(pool, _run, world, call, inbound))

        routes = [Route(path, Endpoint(calls, answer)) for path, calls in paths.items()]
        self._router = Router(routes, redirect_slashes=False, default=_unknown)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one call."""
        values = inbound_of(scope).headers.get("authorization", ())
        token_given = values[0] if len(values) == 1 else ""
        # Header bytes are Latin-1 (RFC 9110, 5.5); compared in constant time, so that no prefix can be told.
        token = token_given[len(_BEARER) :].strip().encode("latin-1")
        if not token_given.lower().startswith(_BEARER) or not hmac.compare_digest(
            token, self._token
        ):
            raise Refusal("invalid_api_key", "The console's token is missing or wrong.")
        await self._router(scope, receive, send)


async def _unknown(scope: Scope, receive: Receive, send: Send) -> None:
    del scope, receive, send
    raise Refusal("not_found", "The console has no such path.")


def _run(world: World, call: Call, inbound: Inbound) -> Reply:
    # A call without a body takes an empty one for `{}`; any other has to send JSON.
    text = inbound.body if call.shape is not console_actions.NoBody or inbound.body else b"{}"
    try:
        request_checks.parse(text)
    except Refusal as refusal:
        raise console_actions.unprocessable(refusal) from None
    # RFC 8259, 4: what `parse` refuses (a name twice, NaN, half a surrogate pair) never reaches a shape.
    result = call.perform(world, inbound.path_values, text)
    return Reply(call.status) if result is None else answer(result, status=call.status)
