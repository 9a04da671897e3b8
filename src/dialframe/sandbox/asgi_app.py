"""The service as an ASGI app: routes, the first and the last thing that every request meets."""

from __future__ import annotations

import asyncio
import html
import ipaddress
import json
import logging
import re
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dialframe.background import Worker
from dialframe.contract import limits, openapi, operations
from dialframe.contract.error_codes import BY_CODE
from dialframe.sandbox import request_handling
from dialframe.sandbox.handlers import HANDLERS
from dialframe.sandbox.handlers.requests_and_replies import Handler, Inbound, Reply, refusal_answer
from dialframe.sandbox.request_handling import AcceptedRequest, Outcome
from dialframe.sandbox.webhook_delivery import DeliveryLoop
from dialframe.sandbox.world import clients_and_keys
from dialframe.sandbox.world.api_objects import Refusal, invalid, problem_slug
from dialframe.sandbox.world.runtime_state import World
from dialframe.serving import timed_protocol

if TYPE_CHECKING:  # a type checker takes no class that is made by a call for a base
    from uvicorn.protocols.http.h11_impl import H11Protocol as TimedProtocol
else:
    TimedProtocol = timed_protocol()

Choice = TypeVar("Choice")

LOGGER: Final = logging.getLogger("dialframe.sandbox")

CONSOLE: Final = "/console"
# The contract's 1 MiB holds for /v1; the console loads whole accounts.
CONSOLE_BODY_BYTES: Final = 256 * 1024 * 1024

#: An overlong body is read on for so long, so that its sender gets to see the answer.
_DRAIN_S: Final = 5.0
#: What makes the apps beside the service, by path.
NOTHING_BESIDE: Final[Mapping[str, Any]] = MappingProxyType({})

# Conventions: `Cache-Control: no-store` on every response.
_BASE_HEADERS: Final = ((b"cache-control", b"no-store"),)


class Connection(TimedProtocol):
    """One connection; hands its transport to the app, which may have to cut it."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Remember the transport for every request of this connection."""
        super().connection_made(transport)
        self.app_state = {**self.app_state, "transport": transport}

    # Conventions: every response carries X-Request-ID, `edge_` where the edge answered before the API.
    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP request, in the shape of every other refusal."""
        begun = getattr(self.cycle, "response_started", False)
        if begun and not self.cycle.response_complete:
            # Another answer is on its way over the same line: nothing may be put in its middle.
            self.transport.close()
            return
        edge_id = clients_and_keys.new_edge_id()
        reply = refusal_answer(
            invalid("", "invalid_http", msg),
            request_id=edge_id,
            docs_base=self.app_state["docs_base"],
        )
        headers = [
            *_encode_headers(reply.headers),
            (b"x-request-id", edge_id.encode()),
            (b"content-length", str(len(reply.body)).encode()),
            (b"connection", b"close"),
            *_BASE_HEADERS,
        ]
        lines = [b"HTTP/1.1 400 Bad Request", *(b": ".join(header) for header in headers)]
        self.transport.write(b"\r\n".join([*lines, b"", reply.body]))
        self.transport.close()


class MadeLater:
    """An app that is made for its first request, since what it is made of takes long to load.

    Args:
        make: Makes it, in a thread.
    """

    def __init__(self, make: Callable[[], Starlette]) -> None:
        self._make = make
        self._wanted = asyncio.Event()
        self._ready: asyncio.Future[Starlette]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        self._wanted.set()
        app = await asyncio.shield(self._ready)
        await app(scope, receive, send)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """While this holds, it can be made; what it runs in the background ends with it."""
        self._ready = asyncio.get_running_loop().create_future()
        # What an app starts has to be ended by the task that started it.
        task = asyncio.create_task(self._live())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _live(self) -> None:
        await self._wanted.wait()
        # A thread that nobody waits for when the sandbox ends, unlike those of an executor.
        worker = Worker("dialframe-sandbox-beside", places=1)
        try:
            app = await asyncio.wrap_future(worker.submit(self._make))
        except Exception as error:  # whoever asked for the app is told
            self._ready.set_exception(error)
            return
        finally:
            worker.close(within_s=0)
        async with app.router.lifespan_context(app):
            self._ready.set_result(app)
            await asyncio.Event().wait()


class Disconnected(Exception):
    """The sender hung up before its request was whole: nothing is done about it."""


class Edge:
    """Gives every answer its request id, reads the body within its limit, hides what breaks.

    The app behind it finds `request_id` and `body` in the scope's state. Apps beside it, by path, get
    their requests as they came.

    Args:
        listening: The name or address that the service listens at; without one it answers to any name.
    """

    def __init__(
        self,
        app: ASGIApp,
        beside: Mapping[str, ASGIApp] = NOTHING_BESIDE,
        listening: str | None = None,
    ) -> None:
        self._app = app
        self._beside = beside
        self._names = {listening.lower(), socket.gethostname().lower()} if listening else set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id, begun = clients_and_keys.new_request_id(), asyncio.Event()
        beside = self._beside.get(scope["path"])
        # Apps beside the service answer in their own shape, so nothing of it is put around them.
        if beside is not None and self._answers_to_host(scope):
            try:
                await beside(scope, receive, send)
            except asyncio.CancelledError:
                await cut(scope, receive)
            return
        send = _mark_send(send, request_id, begun)
        try:
            body = await self._body(scope, receive)
            scope["state"] |= {"request_id": request_id, "body": body}
            await self._app(scope, receive, send)
        except Disconnected:
            return
        except asyncio.CancelledError:
            # The sandbox ends while this answer is being made: nobody can say what became of it.
            await cut(scope, receive)
        except Refusal as refusal:
            await _send_refusal(refusal, scope, request_id, send)
        except Exception:  # the last line: a face shows no traceback
            LOGGER.exception("the sandbox failed at request %s", request_id)
            if begun.is_set():
                raise
            failed = Refusal("internal_error", "The sandbox failed at this request.")
            await _send_refusal(failed, scope, request_id, send)

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        """The body of a request that is for the service."""
        if not self._answers_to_host(scope):
            # A page in a browser whose name was made to lead here must not reach the service.
            raise invalid("/Host", "not_allowed", "The service does not answer to this name.")
        # Limits: request body 1,048,576 bytes; the console is no part of the contract.
        on_console = f"{scope['path']}/".startswith(f"{CONSOLE}/")
        limit = CONSOLE_BODY_BYTES if on_console else limits.BODY_BYTES
        body = await _body(scope, receive, limit)
        if body is None:
            raise Refusal("payload_too_large")
        # `$` of a regular expression also matches before a line end.
        if "\n" in scope["path"]:
            # A route's pattern would take a path with a line end for the path without it.
            raise Refusal("route_not_available")
        return body

    def _answers_to_host(self, scope: Scope) -> bool:
        """Any address in digits, names of this machine, its own name; who sends none is no browser.

        What is refused is a name with a dot: whoever owns one can make it lead here, so that a page
        that a browser got from there could talk to the service. Nobody owns a name without a dot.
        """
        host = _header(scope, b"host").decode("latin-1").lower()
        # RFC 9110, 7.2: a port may follow; a trailing dot names the same host.
        name = re.sub(r":[0-9]*$", "", host).strip("[]").rstrip(".")
        if not self._names or "." not in name or name in self._names:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True


def inbound_of(scope: Scope) -> Inbound:
    """The request of a scope whose body was read."""
    headers: dict[str, tuple[str, ...]] = {}
    for name, value in scope["headers"]:
        values = headers.get(name.decode("latin-1"), ())
        headers[name.decode("latin-1")] = (*values, value.decode("latin-1"))
    return Inbound(
        path=scope["path"],
        path_values=scope.get("path_params", {}),
        query=scope["query_string"].decode("latin-1"),
        headers=headers,
        body=scope["state"]["body"],
        address=scope["client"][0] if scope.get("client") else "127.0.0.1",
        request_id=scope["state"]["request_id"],
    )


async def _send_refusal(refusal: Refusal, scope: Scope, request_id: str, send: Send) -> None:
    docs_base = scope["state"]["docs_base"]
    reply = refusal_answer(refusal, request_id=request_id, docs_base=docs_base)
    await send_reply(reply, send)


async def send_reply(reply: Reply, send: Send) -> None:
    """Send an answer whole."""
    headers = _encode_headers(reply.headers)
    # RFC 9110, 8.6: a 204 has no Content-Length.
    if reply.stream is None and reply.status != 204:
        headers.append((b"content-length", str(len(reply.body)).encode()))
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    if reply.stream is not None:
        for part in reply.stream:
            await send({"type": "http.response.body", "body": part, "more_body": True})
    await send({"type": "http.response.body", "body": reply.body, "more_body": False})


async def cut(scope: Scope, receive: Receive) -> None:
    """Break the connection off."""
    # At once and without another byte: whoever waits for the answer sees the connection end.
    scope["state"]["transport"].abort()
    while (await receive())["type"] != "http.disconnect":
        pass


async def send_half(reply: Reply, scope: Scope, receive: Receive, send: Send) -> None:
    """Send the first half of an answer that says how long it is, then break off."""
    body = reply.body if reply.stream is None else next(reply.stream, b"")
    headers = [pair for pair in _encode_headers(reply.headers) if pair[0] != b"content-length"]
    headers.append((b"content-length", str(len(body) + 1).encode()))
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    half = body[: len(body) // 2]
    await send({"type": "http.response.body", "body": half, "more_body": True})
    # Closing, unlike aborting, lets the half that was written arrive.
    scope["state"]["transport"].close()
    while (await receive())["type"] != "http.disconnect":
        pass


def _encode_headers(headers: tuple[tuple[str, str], ...]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(), value.encode("latin-1")) for name, value in headers]


def _mark_send(send: Send, request_id: str, begun: asyncio.Event) -> Send:
    marks = [(b"x-request-id", request_id.encode()), *_BASE_HEADERS]

    async def marked(message: Message) -> None:
        if message["type"] == "http.response.start":
            begun.set()
            message["headers"] = [*message.get("headers", ()), *marks]
        await send(message)

    return marked


async def _body(scope: Scope, receive: Receive, limit: int) -> bytes | None:
    length: Any = _header(scope, b"content-length")
    declared = int(length) if length.isdigit() else 0
    # Who waits for leave to send (RFC 9110, 10.1.1) sends nothing that would have to be read.
    if declared > limit and _header(scope, b"expect").lower() == b"100-continue":
        return None
    whole = bytearray()
    over = declared > limit
    try:
        async with asyncio.timeout(None) as deadline:
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise Disconnected
                over = over or len(whole) + len(message.get("body", b"")) > limit
                if over and deadline.when() is None:
                    deadline.reschedule(asyncio.get_running_loop().time() + _DRAIN_S)
                # Beyond the limit the rest is read and dropped: who is still sending sees no answer.
                if not over:
                    whole += message.get("body", b"")
                if not message.get("more_body", False):
                    return None if over else bytes(whole)
    except TimeoutError:
        return None


def _header(scope: Scope, wanted: bytes) -> bytes:
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    return next((value for name, value in headers if name == wanted), b"")


# Threads for handlers: SQLite has one writer, and readers wait for the disk at most.
WORKERS = 6


class Endpoint(Generic[Choice]):
    """One path with what it has for each method, and what answers a request with one of them."""

    def __init__(
        self,
        choices: Mapping[str, Choice],
        answer: Callable[[Choice, Inbound], Awaitable[Outcome]],
    ) -> None:
        self._choices = choices
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or cut its connection."""
        choice = self._choices.get(scope["method"])
        if choice is None:
            # Contract, Conventions: a known path with another method answers 405 and says which it takes.
            allowed = ", ".join(sorted(self._choices))
            raise Refusal("method_not_allowed", headers=(("Allow", allowed),))
        # The edge has read the body already.
        outcome = await self._answer(choice, inbound_of(scope))
        if outcome.reply is None:
            await cut(scope, receive)
        elif outcome.half:
            await send_half(outcome.reply, scope, receive, send)
        else:
            await send_reply(outcome.reply, send)


async def answer_of(
    world: World, pool: ThreadPoolExecutor, handler: Handler, inbound: Inbound
) -> Outcome:
    """What an operation of the service answers; handlers run in threads."""

    def at_once() -> AcceptedRequest | Outcome:
        step = request_handling.prepare(world, inbound, handler)
        if isinstance(step, AcceptedRequest) and not step.delay_s:
            return request_handling.perform(world, step)
        return step

    # One hop to a thread for most requests; only a delay that was asked for waits outside.
    loop = asyncio.get_running_loop()
    step = await loop.run_in_executor(pool, at_once)
    try:
        await asyncio.sleep(step.delay_s)
    except asyncio.CancelledError:
        if isinstance(step, AcceptedRequest) and step.reserved is not None:
            world.running.release(step.reserved)
        raise
    if isinstance(step, Outcome):
        return step
    return await loop.run_in_executor(pool, request_handling.perform, world, step)


def build(
    world: World,
    pool: ThreadPoolExecutor,
    *,
    console: ASGIApp,
    listening: str,
    beside: Mapping[str, Callable[[], Starlette]] = NOTHING_BESIDE,
) -> Starlette:
    """The whole app; it delivers webhooks while it runs."""
    deliveries = DeliveryLoop(world, pool)
    later = {path: MadeLater(make) for path, make in beside.items()}

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[dict[str, Any]]:
        del app
        async with deliveries.running(), AsyncExitStack() as stack:
            for app_beside in later.values():
                await stack.enter_async_context(app_beside.running())
            yield {"docs_base": world.docs_base}

    paths: dict[str, dict[str, Handler]] = {}
    # A path without names comes before one that would take its last word for an id.
    for row in sorted(operations.ALL, key=lambda row: row.path.count("{")):
        if row.name in HANDLERS:
            paths.setdefault(row.path, {})[row.method] = HANDLERS[row.name]
    answer = partial(answer_of, world, pool)
    routes = [
        *(Route(path, Endpoint(handlers, answer)) for path, handlers in paths.items()),
        *_documents(world),
        Route(CONSOLE, console),
        Route(CONSOLE + "/{rest:path}", console),
    ]
    app = Starlette(
        routes=routes,
        middleware=[Middleware(Edge, beside=later, listening=listening)],
        exception_handlers={HTTPException: _unknown},
        lifespan=lifespan,
    )
    # Conventions: an unknown path answers 404; a redirect to another path would be an answer to it.
    app.router.redirect_slashes = False
    return app


async def _unknown(request: Request, error: Exception) -> Response:
    del request, error
    # Contract, Conventions: an unknown path answers 404.
    raise Refusal("route_not_available")


DOCS: Final = "/docs"

_PAGE: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>
<body><h1>{title}</h1>{body}</body></html>
"""

# Errors: the last part of a problem's type is its code with hyphens.
_CODES: Final = {problem_slug(code): code for code in BY_CODE}


def _documents(world: World) -> list[Route]:
    """The OpenAPI description and a page for every problem type; no key is needed for them."""

    async def description(request: Request) -> Response:
        del request
        base_url = world.docs_base.removesuffix(DOCS)
        # Derived from the contract's rows at each request: the address depends on the port.
        return Response(json.dumps(openapi.document(base_url)), media_type="application/json")

    return [
        Route("/openapi.json", description),
        Route(DOCS + "/errors/{slug}", _problem),
    ]


async def _problem(request: Request) -> Response:
    code = _CODES.get(request.path_params["slug"])
    if code is None:
        raise Refusal("not_found")
    row = BY_CODE[code]
    statuses = " or ".join(map(str, row.statuses))
    condition = html.escape(row.condition[0].upper() + row.condition[1:])
    body = f"<p>{condition}.</p><p>HTTP status {statuses}.</p>"
    return HTMLResponse(_PAGE.format(title=code, body=body))
