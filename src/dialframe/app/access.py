"""Decides who may see the web app: a browser that was opened by the link with the token, at this machine's own address."""

from __future__ import annotations

import hashlib
import hmac
from pathlib import Path
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dialframe.app.forms import form_of
from dialframe.app.rendering import page

LOGIN: Final = "/login"
_STATIC: Final = "/static/"
#: Open connections of this machine with the user of each end (proc_net_tcp(5)); Linux has it.
_CONNECTIONS: Final = Path("/proc/net/tcp")

#: Nothing is loaded from anywhere else, no script stands in a page, and no page stands in another one's frame.
HEADERS: Final = {
    "content-security-policy": (
        "default-src 'self'; img-src 'self' data:; object-src 'none'; frame-ancestors 'none'; base-uri 'none'; "
        "form-action 'self'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Access:
    """Middleware: a request needs this machine's address and the cookie that the link gives.

    Other users of the machine reach the port, so every answer but the login page asks for the token first. A page of
    another site can name the port but not read answers, send the cookie (SameSite) or use another host's name
    (DNS rebinding). Cookies do not know ports: a server of another user that lures the browser to itself is given the
    cookie too, so that where the machine says whose a connection is, only its own user's and root's are answered.
    """

    def __init__(
        self, app: ASGIApp, *, token: str, hosts: frozenset[str], user: int | None = None
    ) -> None:
        """Guard an application.

        Args:
            app: The application.
            token: What the link carries.
            hosts: Values of the Host header that are this server's own.
            user: Whose connections are answered, beside root's; None or root: anybody's.
        """
        self._app, self._token, self._hosts, self._user = app, token, hosts, user
        # The cookie differs from the token, so that neither can be read off the other.
        self._cookie = hashlib.sha256(f"dialframe app {token}".encode()).hexdigest()
        # Cookies do not know ports: two apps on one machine must not log each other out.
        port = min(hosts).rpartition(":")[2]
        self._name = f"dialframe_{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it here."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        request = Request(scope, receive)
        answer = await self._refusal(request)
        await (answer or self._app)(scope, receive, send_with_headers)

    async def _refusal(self, request: Request) -> Response | None:
        """What is answered in the application's place; None lets the request in."""
        if request.headers.get("host", "") not in self._hosts:
            return PlainTextResponse("this address is not the app's own", 421)
        if self._user and user_of(request) not in (None, 0, self._user):
            return PlainTextResponse("the app belongs to another user of this machine", 403)
        origin = request.headers.get("origin")
        own = {f"http://{host}" for host in self._hosts}
        if request.method != "GET" and origin not in own:
            return PlainTextResponse("this request does not come from the app's own page", 403)
        path = request.url.path
        if path.startswith(_STATIC):
            return None
        if path == LOGIN:
            return await self._login(request)
        if hmac.compare_digest(request.cookies.get(self._name, ""), self._cookie):
            return None
        if request.headers.get("accept", "").startswith("application/json"):
            return PlainTextResponse("log in again: open the link that the terminal printed", 401)
        return page("login.html", status=401, wrong=False, after=_after(request))

    async def _login(self, request: Request) -> Response:
        after = _inside(request.query_params.get("after", "/"))
        given = request.query_params.get("token", "")
        if request.method == "POST":
            # The whole link is as good as its token.
            form = await form_of(request)
            given = form.get("token", "").strip().rpartition("token=")[2]
        if not hmac.compare_digest(given.encode(), self._token.encode()):
            return page("login.html", status=401, wrong=bool(given), after=after)
        answer = RedirectResponse(after, status_code=303)
        # Lax, and not strict: a page that leads here from a file or a chat is no reason to log in again, and whatever
        # changes something asks for its origin.
        answer.set_cookie(self._name, self._cookie, httponly=True, samesite="lax", path="/")
        return answer


def _after(request: Request) -> str:
    """Where to go once somebody logged in: the page that was asked for."""
    query = f"?{request.url.query}" if request.url.query else ""
    return _inside(request.url.path + query) if request.method == "GET" else "/"


def _inside(address: str) -> str:
    """The address, if it is of this app; else the start page."""
    inside = address.startswith("/") and address[1:2] not in ("/", "\\") and address.isprintable()
    return address if inside else "/"


def user_of(request: Request) -> int | None:
    """The user of this machine that a connection comes from; None where the machine does not say."""
    client, server = request.scope.get("client"), request.scope.get("server")
    if client is None or server is None:
        return None
    ends = tuple(f":{port:04X}" for port in (client[1], server[1]))
    try:
        with _CONNECTIONS.open() as lines:
            for line in lines:
                cells = line.split()
                if cells[1].endswith(ends[0]) and cells[2].endswith(ends[1]):
                    return int(cells[7])
    except (OSError, ValueError, IndexError):
        return None
    return None
