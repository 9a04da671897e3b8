"""The service as an ASGI app: routes from the operation table and from the console's; no logic."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from dialframe.contract import operations
from dialframe.contract.row import Operation
from dialframe.sandbox import pipeline
from dialframe.sandbox.console_http import ConsoleEndpoint
from dialframe.sandbox.deliveries import Courier
from dialframe.sandbox.edge import CONSOLE, Edge, cut, inbound_of, refused, send_half, send_reply
from dialframe.sandbox.handlers import HANDLERS
from dialframe.sandbox.pipeline import Outcome, Ticket
from dialframe.sandbox.problems import Refusal
from dialframe.sandbox.world import World

T = TypeVar("T")

WORKERS = 6


class Place:
    """One path of the service with its operations, by method."""

    def __init__(
        self, world: World, pool: ThreadPoolExecutor, rows: dict[str, Operation[Any, Any]]
    ) -> None:
        self._world = world
        self._pool = pool
        self._rows = rows

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or cut its connection."""
        operation = self._rows.get(scope["method"])
        if operation is None:
            allow = ("Allow", ", ".join(sorted(self._rows)))
            refusal = Refusal("method_not_allowed", headers=(allow,))
            await send_reply(refused(scope, refusal, scope["state"]["request_id"]), send)
            return
        outcome = await self._outcome(scope, operation)
        if outcome.delay_s:
            await asyncio.sleep(outcome.delay_s)
        if outcome.reply is None:
            await cut(scope, receive)
        elif outcome.half:
            await send_half(outcome.reply, scope, receive, send)
        else:
            await send_reply(outcome.reply, send)

    async def _outcome(self, scope: Scope, operation: Operation[Any, Any]) -> Outcome:
        world, inbound = self._world, inbound_of(scope)
        bound = HANDLERS.get(operation.name)

        def at_once() -> Ticket | Outcome:
            step = pipeline.prepare(world, inbound, operation, bound)
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


async def in_thread(pool: ThreadPoolExecutor, work: Callable[[], T]) -> T:
    """The result of work that waits for the disk, done beside the loop."""
    return await asyncio.get_running_loop().run_in_executor(pool, work)


def build(world: World, pool: ThreadPoolExecutor) -> Starlette:
    """The whole app; it delivers webhooks while it runs."""
    courier = Courier(world, pool)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[dict[str, Any]]:
        del app
        async with courier.running():
            yield {"docs_base": world.docs_base}

    routes = [
        *(Route(path, Place(world, pool, rows)) for path, rows in _paths().items()),
        Route(CONSOLE, ConsoleEndpoint(world, pool)),
        Route(CONSOLE + "/{rest:path}", ConsoleEndpoint(world, pool)),
    ]
    app = Starlette(
        routes=routes,
        middleware=[Middleware(Edge)],
        exception_handlers={HTTPException: _no_route},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    return app


def _paths() -> dict[str, dict[str, Operation[Any, Any]]]:
    paths: dict[str, dict[str, Operation[Any, Any]]] = {}
    # A path without names comes before one that would take its last word for an id.
    for row in sorted(operations.ALL, key=lambda row: row.path.count("{")):
        paths.setdefault(row.path, {})[row.method] = row
    return paths


async def _no_route(request: Request, error: Exception) -> Response:
    del error
    refusal = Refusal("route_not_available", "No operation has this path.")
    reply = refused(request.scope, refusal, request.scope["state"]["request_id"])
    return Response(reply.body, reply.status, dict(reply.headers))
