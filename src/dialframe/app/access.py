"""Decides who may see the web app: a browser that was opened by the link with the token, at this machine's own address."""

from __future__ import annotations

import hashlib
import hmac
from typing import Final
from urllib.parse import parse_qs

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dialframe.app.rendering import page

LOGIN: Final = "/login"
_STATIC: Final = "/static/"
#: Longest form that is read: a login, an answer, a cell.
_MOST_BYTES: Final = 65_536

#: Nothing is loaded from anywhere else, no script stands in a page, and no page stands in another one's frame.
HEADERS: Final = {
    "content-security-policy": (
        "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
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
    (DNS rebinding).
    """

    def __init__(self, app: ASGIApp, *, token: str, hosts: frozenset[str]) -> None:
        """Guard an application.

        Args:
            app: The application.
            token: What the link carries.
            hosts: Values of the Host header that are this server's own.
        """
        self._app, self._token, self._hosts = app, token, hosts
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
        return page("login.html", status=401, wrong=False)

    async def _login(self, request: Request) -> Response:
        given = request.query_params.get("token", "")
        if request.method == "POST":
            body = b""
            async for part in request.stream():
                body += part
                if len(body) > _MOST_BYTES:
                    return PlainTextResponse("the form is too long", 413)
            given = parse_qs(body.decode(errors="replace")).get("token", [""])[0].strip()
            # The whole link is as good as its token.
            given = given.rpartition("token=")[2]
        if not hmac.compare_digest(given.encode(), self._token.encode()):
            return page("login.html", status=401, wrong=bool(given))
        answer = RedirectResponse("/", status_code=303)
        answer.set_cookie(self._name, self._cookie, httponly=True, samesite="strict", path="/")
        return answer
