"""The console over HTTP: a token, one path per call, JSON both ways; no part of the contract."""

from __future__ import annotations

import hmac
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from starlette.routing import Match, Route
from starlette.types import Receive, Scope, Send

from dialframe.sandbox import body, console_calls
from dialframe.sandbox.console_calls import Call
from dialframe.sandbox.console_shapes import Nothing
from dialframe.sandbox.edge import inbound_of, refused, send_reply
from dialframe.sandbox.exchange import Inbound, Reply, answer
from dialframe.sandbox.offload import in_thread
from dialframe.sandbox.problems import Refusal
from dialframe.sandbox.world import World

_BEARER: Final = "bearer "


class ConsoleEndpoint:
    """Everything under `/console`."""

    def __init__(self, world: World, pool: ThreadPoolExecutor) -> None:
        self._world = world
        self._pool = pool
        self._calls = [(Route(call.path, self, methods=[call.method]), call) for call in CALLS]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one call; without the token nothing is told, not even which paths there are."""
        del receive
        inbound = inbound_of(scope)
        try:
            self._check_token(inbound)
            call, path = self._find(scope)
            reply = await in_thread(self._pool, lambda: _run(self._world, call, path, inbound))
        except Refusal as refusal:
            reply = refused(scope, refusal, inbound.request_id)
        await send_reply(reply, send)

    def _check_token(self, inbound: Inbound) -> None:
        values = inbound.headers.get("authorization", ())
        given = values[0] if len(values) == 1 else ""
        right = self._world.console_token.encode()
        token = given[len(_BEARER) :].strip().encode("latin-1")
        if not given.lower().startswith(_BEARER) or not hmac.compare_digest(token, right):
            raise Refusal("invalid_api_key", "The console's token is missing or wrong.")

    def _find(self, scope: Scope) -> tuple[Call, dict[str, Any]]:
        allowed = []
        for route, call in self._calls:
            match, found = route.matches(scope)
            if match is Match.FULL and scope["method"] == call.method:
                return call, found["path_params"]
            if match is not Match.NONE:
                allowed.append(call.method)
        if not allowed:
            raise Refusal("not_found", "The console has no such path.")
        raise Refusal("method_not_allowed", headers=(("Allow", ", ".join(sorted(allowed))),))


CALLS: Final = console_calls.CALLS


def _run(world: World, call: Call, path: dict[str, Any], inbound: Inbound) -> Reply:
    text = inbound.body if call.shape is not Nothing or inbound.body else b"{}"
    try:
        body.parse(text)
    except Refusal as refusal:
        raise Refusal(refusal.code, refusal.detail, status=422, errors=refusal.errors) from None
    given = console_calls.read_body(call.shape, text)
    result = call.run(world, given, path)
    return Reply(call.status) if result is None else answer(result, status=call.status)
