"""What every request meets first and every answer last; knows bytes and headers, no operation."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from dialframe.contract import limits
from dialframe.sandbox import identifiers
from dialframe.sandbox.exchange import Inbound, Reply, refusal_answer
from dialframe.sandbox.problems import Refusal, invalid

LOGGER: Final = logging.getLogger("dialframe.sandbox")

CONSOLE: Final = "/console"
CONSOLE_BODY_BYTES: Final = 256 * 1024 * 1024

#: An overlong body is read on for so long, so that its sender gets to see the answer.
_DRAIN_S: Final = 5.0
#: Apps beside the service, by path.
NOTHING_BESIDE: Final[Mapping[str, ASGIApp]] = MappingProxyType({})

_BASE_HEADERS: Final = ((b"cache-control", b"no-store"),)


class Line(H11Protocol):
    """One connection; hands its transport to the app, which may have to cut it."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Remember the transport for every request of this connection."""
        super().connection_made(transport)
        self.app_state = {**self.app_state, "transport": transport}

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP request, in the shape of every other refusal."""
        begun = getattr(self.cycle, "response_started", False)
        if begun and not self.cycle.response_complete:
            # Another answer is on its way over the same line: nothing may be put in its middle.
            self.transport.close()
            return
        edge_id = identifiers.new_edge_id()
        reply = refusal_answer(
            invalid("", "invalid_http", msg),
            request_id=edge_id,
            docs_base=self.app_state["docs_base"],
        )
        headers = [
            *_encoded(reply.headers),
            (b"x-request-id", edge_id.encode()),
            (b"content-length", str(len(reply.body)).encode()),
            (b"connection", b"close"),
            *_BASE_HEADERS,
        ]
        lines = [b"HTTP/1.1 400 Bad Request", *(b": ".join(header) for header in headers)]
        self.transport.write(b"\r\n".join([*lines, b"", reply.body]))
        self.transport.close()


class Gone(Exception):
    """The sender hung up before its request was whole: nothing is done about it."""


class Edge:
    """Gives every answer its request id, reads the body within its limit, hides what breaks.

    The app behind it finds `request_id` and `body` in the scope's state. Apps beside it, by path, get
    their requests as they came.
    """

    def __init__(self, app: ASGIApp, beside: Mapping[str, ASGIApp] = NOTHING_BESIDE) -> None:
        self._app = app
        self._beside = beside

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["path"] in self._beside:
            try:
                await self._beside[scope["path"]](scope, receive, send)
            except asyncio.CancelledError:
                await cut(scope, receive)
            return
        request_id, begun = identifiers.new_request_id(), asyncio.Event()
        send = _marked(send, request_id, begun)
        limit = CONSOLE_BODY_BYTES if on_console(scope["path"]) else limits.BODY_BYTES
        try:
            body = await _body(scope, receive, limit)
        except Gone:
            return
        if body is None:
            refusal = Refusal("payload_too_large", f"The body is longer than {limit} bytes.")
            await send_reply(refused(scope, refusal, request_id), send)
            return
        if "\n" in scope["path"]:
            # A route's pattern would take a path with a line end for the path without it.
            unknown = Refusal("route_not_available", "No operation has this path.")
            await send_reply(refused(scope, unknown, request_id), send)
            return
        scope["state"] |= {"request_id": request_id, "body": body}
        try:
            await self._app(scope, receive, send)
        except asyncio.CancelledError:
            # The sandbox ends while this answer is being made: nobody can say what became of it.
            await cut(scope, receive)
        except Exception:  # the last line: a face shows no traceback
            LOGGER.exception("the sandbox failed at request %s", request_id)
            if begun.is_set():
                raise
            refusal = Refusal("internal_error", "The sandbox failed at this request.")
            await send_reply(refused(scope, refusal, request_id), send)


def on_console(path: str) -> bool:
    """Whether a path belongs to the console."""
    return path == CONSOLE or path.startswith(CONSOLE + "/")


def inbound_of(scope: Scope) -> Inbound:
    """The request of a scope whose body was read."""
    headers: dict[str, tuple[str, ...]] = {}
    for name, value in scope["headers"]:
        known = headers.get(name.decode("latin-1"), ())
        headers[name.decode("latin-1")] = (*known, value.decode("latin-1"))
    return Inbound(
        path=scope["path"],
        path_values=scope.get("path_params", {}),
        query=scope["query_string"].decode("latin-1"),
        headers=headers,
        body=scope["state"]["body"],
        address=scope["client"][0] if scope.get("client") else "127.0.0.1",
        request_id=scope["state"]["request_id"],
    )


def refused(scope: Scope, refusal: Refusal, request_id: str) -> Reply:
    """The answer that a refusal becomes where no operation is known."""
    docs_base = scope["state"]["docs_base"]
    return refusal_answer(refusal, request_id=request_id, docs_base=docs_base)


async def send_reply(reply: Reply, send: Send) -> None:
    """Send an answer whole."""
    headers = _encoded(reply.headers)
    if reply.stream is None and reply.status != 204:
        headers.append((b"content-length", str(len(reply.body)).encode()))
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    if reply.stream is not None:
        for part in reply.stream:
            await send({"type": "http.response.body", "body": part, "more_body": True})
    await send({"type": "http.response.body", "body": reply.body, "more_body": False})


async def cut(scope: Scope, receive: Receive) -> None:
    """Break the connection off."""
    scope["state"]["transport"].abort()
    while (await receive())["type"] != "http.disconnect":
        pass


async def send_half(reply: Reply, scope: Scope, receive: Receive, send: Send) -> None:
    """Send the first half of an answer that says how long it is, then break off."""
    body = reply.body if reply.stream is None else next(reply.stream, b"")
    headers = [pair for pair in _encoded(reply.headers) if pair[0] != b"content-length"]
    headers.append((b"content-length", str(len(body) + 1).encode()))
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    half = body[: len(body) // 2]
    await send({"type": "http.response.body", "body": half, "more_body": True})
    # Closing, unlike aborting, lets the half that was written arrive.
    scope["state"]["transport"].close()
    while (await receive())["type"] != "http.disconnect":
        pass


def _encoded(headers: tuple[tuple[str, str], ...]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(), value.encode("latin-1")) for name, value in headers]


def _marked(send: Send, request_id: str, begun: asyncio.Event) -> Send:
    marks = [(b"x-request-id", request_id.encode()), *_BASE_HEADERS]

    async def marked(message: Message) -> None:
        if message["type"] == "http.response.start":
            begun.set()
            message["headers"] = [*message.get("headers", ()), *marks]
        await send(message)

    return marked


async def _body(scope: Scope, receive: Receive, limit: int) -> bytes | None:
    declared = _declared_length(scope)
    if declared > limit and _waits_for_leave(scope):
        return None
    whole = bytearray()
    over = declared > limit
    try:
        async with asyncio.timeout(None) as deadline:
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise Gone
                over = over or len(whole) + len(message.get("body", b"")) > limit
                if over and deadline.when() is None:
                    deadline.reschedule(asyncio.get_running_loop().time() + _DRAIN_S)
                if not over:
                    whole += message.get("body", b"")
                if not message.get("more_body", False):
                    return None if over else bytes(whole)
    except TimeoutError:
        return None


def _header(scope: Scope, wanted: bytes) -> bytes:
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    return next((value for name, value in headers if name == wanted), b"")


def _declared_length(scope: Scope) -> int:
    text: Any = _header(scope, b"content-length")
    return int(text) if text.isdigit() else 0


def _waits_for_leave(scope: Scope) -> bool:
    return _header(scope, b"expect").lower() == b"100-continue"
