"""The assistant-tool server over standard input or HTTP; knows sockets and keys, no tool.

Over HTTP every request brings the key of the service as its bearer token: whoever has no key gets nothing, and a
tool does what that key may do.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final

import anyio
import anyio.to_thread
import uvicorn
from mcp.server.context import ServerRequestContext
from mcp.server.stdio import stdio_server
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from dialframe.account import Account
from dialframe.assistant.exposure import Exposure
from dialframe.assistant.server import Desk, build
from dialframe.errors import ApiError, ConfigError, DialframeError, TransportError

PATH: Final = "/mcp"
#: Keys whose accounts are kept open at once.
OPEN_ACCOUNTS: Final = 32

_REFUSED: Final = {"error": "a key of the service is needed: Authorization: Bearer svc_..."}

Open = Callable[[str], Account]


def serve_stdio(account: Account, exposure: Exposure) -> None:
    """Answer on standard input and output until the other side goes."""
    server = build(Desk(lambda _: account, exposure))

    async def run() -> None:
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    anyio.run(run)


def serve_http(open_account: Open, exposure: Exposure, *, host: str, port: int) -> None:
    """Answer at `http://host:port/mcp` until the process is stopped."""
    uvicorn.run(
        http_app(open_account, exposure, host=host),
        host=host,
        port=port,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=1,
    )


def http_app(open_account: Open, exposure: Exposure, *, host: str = "127.0.0.1") -> Starlette:
    """The server as an ASGI app with the one path `/mcp`.

    Args:
        open_account: The account of a key; it may not have been asked yet whether the service
            accepts it.
        exposure: What is offered.
        host: Where it will listen: on this machine alone, requests that a web page of another
            origin sends are refused.
    """
    desk = Desk(_account_of, exposure)
    app = build(desk).streamable_http_app(streamable_http_path=PATH, host=host)
    app.add_middleware(_Keyed, accounts=Accounts(open_account))
    return app


class Accounts:
    """Open accounts by key, the latest used; a key itself is not kept."""

    def __init__(self, open_account: Open) -> None:
        self._open = open_account
        self._known: OrderedDict[str, Account] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, key: str) -> Account:
        """The account of a key, opened where it is new.

        Raises:
            DialframeError: The service refuses the key, or does not answer.
        """
        name = hashlib.sha256(key.encode()).hexdigest()
        with self._lock:
            if name not in self._known:
                account = self._open(key)
                # Whoever is let in has a key that the service knows.
                account.client.me()
                self._known[name] = account
            self._known.move_to_end(name)
            while len(self._known) > OPEN_ACCOUNTS:
                self._known.popitem(last=False)[1].close()
            return self._known[name]

    def close(self) -> None:
        """Close every account."""
        with self._lock:
            while self._known:
                self._known.popitem()[1].close()


class _Keyed:
    """Lets nobody in without a key that the service knows."""

    def __init__(self, app: ASGIApp, accounts: Accounts) -> None:
        self._app = app
        self._accounts = accounts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        key = _bearer(Headers(scope=scope))
        try:
            if key is None:
                await _refuse(401)(scope, receive, send)
                return
            account = await anyio.to_thread.run_sync(self._accounts.of, key)
        except TransportError as error:
            await JSONResponse({"error": str(error)}, 503)(scope, receive, send)
            return
        except (ApiError, ConfigError) as error:
            await _refuse(getattr(error, "status", 401))(scope, receive, send)
            return
        except DialframeError as error:
            await JSONResponse({"error": str(error)}, 500)(scope, receive, send)
            return
        scope.setdefault("state", {})["account"] = account
        await self._app(scope, receive, send)


def _account_of(context: ServerRequestContext[Any, Any]) -> Account:
    request: Any = context.request
    account: Account = request.state.account
    return account


def _bearer(headers: Headers) -> str | None:
    scheme, _, key = headers.get("authorization", "").partition(" ")
    return key.strip() or None if scheme.lower() == "bearer" else None


def _refuse(status: int) -> JSONResponse:
    known = status if status in (401, 403, 429, 503) else 401
    return JSONResponse(_REFUSED, known, {"WWW-Authenticate": "Bearer"})
