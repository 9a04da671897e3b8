"""The service as an ASGI app: routes from the operation table and from the console's; no logic."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from types import MappingProxyType
from typing import Any, Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from dialframe.contract import operations
from dialframe.sandbox import pipeline
from dialframe.sandbox.console_http import ConsoleEndpoint
from dialframe.sandbox.deliveries import Courier
from dialframe.sandbox.edge import CONSOLE, Edge, cut, inbound_of, refused, send_half, send_reply
from dialframe.sandbox.exchange import Bound
from dialframe.sandbox.handlers import HANDLERS
from dialframe.sandbox.offload import in_thread
from dialframe.sandbox.pipeline import Outcome, Ticket
from dialframe.sandbox.problems import Refusal
from dialframe.sandbox.world import World

WORKERS = 6

_NOTHING_BESIDE: Final[Mapping[str, Starlette]] = MappingProxyType({})


class Place:
    """One path of the service with its operations, by method."""

    def __init__(self, world: World, pool: ThreadPoolExecutor, bounds: dict[str, Bound]) -> None:
        self._world = world
        self._pool = pool
        self._bounds = bounds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or cut its connection."""
        bound = self._bounds.get(scope["method"])
        if bound is None:
            allow = ("Allow", ", ".join(sorted(self._bounds)))
            refusal = Refusal("method_not_allowed", headers=(allow,))
            await send_reply(refused(scope, refusal, scope["state"]["request_id"]), send)
            return
        outcome = await self._outcome(scope, bound)
        if outcome.delay_s:
            await asyncio.sleep(outcome.delay_s)
        if outcome.reply is None:
            await cut(scope, receive)
        elif outcome.half:
            await send_half(outcome.reply, scope, receive, send)
        else:
            await send_reply(outcome.reply, send)

    async def _outcome(self, scope: Scope, bound: Bound) -> Outcome:
        world, inbound = self._world, inbound_of(scope)

        def at_once() -> Ticket | Outcome:
            step = pipeline.prepare(world, inbound, bound)
            if isinstance(step, Ticket) and not step.delay_s:
                return pipeline.perform(world, step)
            return step

        step = await in_thread(self._pool, at_once)
        if isinstance(step, Outcome):
            return step
        ticket = step
        try:
            await asyncio.sleep(ticket.delay_s)
        except asyncio.CancelledError:
            if ticket.held is not None:
                world.running.release(ticket.held)
            raise
        return await in_thread(self._pool, lambda: pipeline.perform(world, ticket))


def build(
    world: World, pool: ThreadPoolExecutor, beside: Mapping[str, Starlette] = _NOTHING_BESIDE
) -> Starlette:
    """The whole app, with further apps by path; it delivers webhooks while it runs."""
    courier = Courier(world, pool)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[dict[str, Any]]:
        del app
        async with courier.running(), AsyncExitStack() as stack:
            for one in beside.values():
                await stack.enter_async_context(one.router.lifespan_context(one))
            yield {"docs_base": world.docs_base}

    routes = [
        *(Route(path, Place(world, pool, bounds)) for path, bounds in _paths().items()),
        Route(CONSOLE, ConsoleEndpoint(world, pool)),
        Route(CONSOLE + "/{rest:path}", ConsoleEndpoint(world, pool)),
    ]
    app = Starlette(
        routes=routes,
        middleware=[Middleware(Edge, beside=beside)],
        exception_handlers={HTTPException: _no_route},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    return app


def _paths() -> dict[str, dict[str, Bound]]:
    paths: dict[str, dict[str, Bound]] = {}
    # A path without names comes before one that would take its last word for an id.
    for row in sorted(operations.ALL, key=lambda row: row.path.count("{")):
        if row.name in HANDLERS:
            paths.setdefault(row.path, {})[row.method] = HANDLERS[row.name]
    return paths


async def _no_route(request: Request, error: Exception) -> Response:
    del error
    refusal = Refusal("route_not_available", "No operation has this path.")
    reply = refused(request.scope, refusal, request.scope["state"]["request_id"])
    return Response(reply.body, reply.status, dict(reply.headers))
