"""Serves the web app on this machine alone, in one process, until it is closed."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from dialframe.account import Account
from dialframe.app import compliance, home, list_pages, performance
from dialframe.app.access import Access
from dialframe.app.list_work import ListWork
from dialframe.app.rendering import page
from dialframe.app.workspace import Workspace
from dialframe.errors import ConfigError, DialframeError
from dialframe.firm import Firm
from dialframe.privacy import redact
from dialframe.serving import ServerThread, listen, timed_protocol, url_of
from dialframe.suppression import SuppressionList

#: Loopback (RFC 1122, 3.2.1.3): no other machine reaches it.
HOST: Final = "127.0.0.1"
#: Connections at once; a browser opens six.
_CONNECTIONS: Final = 64


@dataclass(slots=True)
class App:
    """The web app while it runs; a context manager that ends it.

    Attributes:
        url: Its address, without the token.
        token: What lets a browser in.
    """

    url: str
    token: str = field(repr=False)
    _server: ServerThread = field(repr=False)
    _workspace: Workspace = field(repr=False)

    @property
    def link(self) -> str:
        """What a person opens."""
        return f"{self.url}/login?token={self.token}"

    def wait(self) -> None:
        """Return when it ended."""
        self._server.wait()

    def close(self) -> None:
        """End it within two seconds."""
        self._server.close()
        self._workspace.close()

    def __enter__(self) -> Self:
        """The app itself, which answers already."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End it."""
        self.close()


def serve(
    folder: Path,
    connect: Callable[[], Account] | None = None,
    *,
    firm: Firm | None = None,
    own_list: SuppressionList | None = None,
    profiles: Path | None = None,
    port: int = 0,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> App:
    """Serve the app in a thread of this process.

    Args:
        folder: The only folder that lists are read from and written to.
        connect: Opens the account when a page first needs it; None: lists are cleaned without one.
        firm: What the firm file says.
        own_list: The firm's suppression list, which every list is held against.
        profiles: Folder of what was answered about lists, by source; None: answers last as long as the app.
        port: Port on this machine; 0 takes a free one.
        now: The clock, UTC.

    Returns:
        The app, which answers already.

    Raises:
        ConfigError: There is no such folder, or the port is taken.

    Example:
        >>> import tempfile
        >>> with serve(Path(tempfile.mkdtemp())) as app:
        ...     app.link.startswith("http://127.0.0.1:")
        True
    """
    if not folder.is_dir():
        raise ConfigError(f"{folder} is not a folder; make it, or name another one")
    workspace = Workspace(folder, connect, firm or Firm(), own_list, now, profiles)
    listener = listen("the web app", HOST, port)
    url = url_of(listener)
    # 192 bits: nobody guesses it.
    token = secrets.token_urlsafe(24)
    at_port = url.rpartition(":")[2]
    hosts = frozenset({f"{HOST}:{at_port}", f"localhost:{at_port}"})
    # Windows has no such numbers, and says of no connection whose it is.
    user = os.getuid() if hasattr(os, "getuid") else None
    try:
        server = ServerThread(
            application(workspace, token=token, hosts=hosts, user=user), listener, name="the web app",
            http=timed_protocol(), lifespan="off", limit_concurrency=_CONNECTIONS,
        )  # fmt: skip
    except BaseException:
        listener.close()
        raise
    return App(url, token, server, workspace)


def application(
    workspace: Workspace, *, token: str, hosts: frozenset[str], user: int | None
) -> Starlette:
    """The app's pages behind its login."""
    work = ListWork(workspace)
    routes = [
        *home.routes(workspace, work),
        *list_pages.Lists(workspace, work).routes,
        *compliance.Compliance(workspace).routes,
        *performance.Performance(workspace).routes,
        Route("/jobs/{kind}", partial(_job, workspace)),
        Mount("/static", StaticFiles(packages=[("dialframe.app", "static")])),
    ]
    return Starlette(
        routes=routes,
        middleware=[Middleware(Access, token=token, hosts=hosts, user=user)],
        exception_handlers={
            404: _missing,
            405: _not_so,
            OSError: _unwritable,
            DialframeError: _error_page,
            Exception: _fault,
        },
    )


async def _job(workspace: Workspace, request: Request) -> Response:
    job = workspace.jobs.newest(request.path_params["kind"])
    return JSONResponse({"state": "none"} if job is None else job.as_dict())


async def _missing(request: Request, error: Exception) -> Response:
    del request, error
    return page("message.html", status=404, title="Page not found", text="There is no such page.")


async def _not_so(request: Request, error: Exception) -> Response:
    """An address that is asked for in a way that it does not know, such as a form's that was typed."""
    del request, error
    return page(
        "message.html",
        status=405,
        title="This address takes a form",
        text="Use the buttons of the pages.",
    )


async def _error_page(request: Request, error: Exception) -> Response:
    """Show an error of the toolkit in its own words."""
    del request
    return page("message.html", status=400, title="That did not work", text=redact(str(error)))


async def _unwritable(request: Request, error: Exception) -> Response:
    """A disk that is full, or a folder that nobody may write to."""
    del request
    words = error.strerror if isinstance(error, OSError) else str(error)
    return page(
        "message.html", status=507, title="That did not work", text=f"The disk refused: {words}."
    )


async def _fault(request: Request, error: Exception) -> Response:
    del request
    text = f"This is a fault of dialframe, please report it: {type(error).__name__}."
    return page("message.html", status=500, title="Something went wrong", text=text)
