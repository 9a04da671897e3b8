"""Runs an ASGI application on a socket in a thread of this process, until it is closed."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final

from dialframe.background import in_thread
from dialframe.errors import ConfigError, DialframeError

if TYPE_CHECKING:
    import uvicorn

__all__ = ["ServerThread", "listen", "timed_protocol", "url_of"]

_START_S: Final = 10.0
#: Ends within two seconds, whatever is under way: a second for requests, the rest for the loop.
_GRACE_S: Final = 1
_END_S: Final = 1.4
#: A client that sends its headers slower than this is disconnected.
HEADERS_S: Final = 10.0


def listen(what: str, host: str, port: int) -> socket.socket:
    """A socket that listens.

    Args:
        what: Who listens, for the message.
        host: Name or address.
        port: The port; 0 takes a free one.

    Raises:
        ConfigError: The address cannot be used or the port is taken.
    """
    where = f"{what} cannot listen at {host} port {port}"
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except (OSError, OverflowError) as error:
        raise ConfigError(f"{where}: {error}") from None
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        # Listening before the server does: two that want one port must not both believe they have it.
        listener.listen()
    except (OSError, OverflowError) as error:
        listener.close()
        raise ConfigError(f"{where} ({error}); choose another, or 0 for a free one") from None
    return listener


def url_of(listener: socket.socket) -> str:
    """The http address of a listening socket; IPv6 in brackets."""
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def timed_protocol() -> type[asyncio.Protocol]:
    """HTTP/1.1 whose clients have ten seconds for the headers of a request; idle ones are disconnected too.

    Without it connections that never send a whole request take the places of those that do.
    """
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Timed(H11Protocol):
        """One connection."""

        _due: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._wait_for_headers()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if _is_answering(self):
                self._stop_waiting()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if not self.transport.is_closing() and not _is_answering(self):
                self._wait_for_headers()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_waiting()
            super().connection_lost(exc)

        def _wait_for_headers(self) -> None:
            self._stop_waiting()
            self._due = self.loop.call_later(HEADERS_S, self.transport.close)

        def _stop_waiting(self) -> None:
            if self._due is not None:
                self._due.cancel()
                self._due = None

    return Timed


def _is_answering(connection: Any) -> bool:
    """Whether a request is under way on a connection."""
    return connection.cycle is not None and not connection.cycle.response_complete


class ServerThread:
    """A server that accepts requests until it is closed."""

    def __init__(
        self,
        app: Callable[..., Any],
        listener: socket.socket,
        *,
        name: str,
        on_end: Callable[[], None] | None = None,
        **options: Any,
    ) -> None:
        """Start it, and come back when it accepts requests.

        Args:
            app: The ASGI application.
            listener: A bound socket; closed with the server.
            name: What it is, for its thread and for messages.
            on_end: Called in the server's thread when it ended, however that was.
            **options: Further settings of `uvicorn.Config`.

        Raises:
            DialframeError: It did not start within ten seconds.
        """
        import uvicorn

        self._name = name
        self._on_end = on_end
        # Not the thread's join: a signal that interrupts one makes it believe that the thread ended.
        self._ended = Event()
        settings: dict[str, Any] = {
            "ws": "none",
            "log_config": None,
            "access_log": False,
            "server_header": False,
            # The source address is the socket's: no header may claim another.
            "proxy_headers": False,
            "timeout_graceful_shutdown": _GRACE_S,
        }
        self._server: uvicorn.Server = uvicorn.Server(uvicorn.Config(app, **(settings | options)))
        self._thread: Thread = in_thread(lambda: self._run(listener), name)
        until_s = time.monotonic() + _START_S
        while not self._server.started:
            if self._ended.is_set() or time.monotonic() > until_s:
                self.close()
                raise DialframeError(f"{name} did not start; try another port")
            time.sleep(0.002)

    @property
    def running(self) -> bool:
        """Whether it still accepts requests."""
        return not self._ended.is_set()

    def wait(self) -> None:
        """Come back when it ended."""
        while not self._ended.wait(1.0):
            pass

    def close(self) -> None:
        """End it within two seconds; requests that are under way have one to be answered."""
        self._server.should_exit = True
        self._ended.wait(_END_S)
        self._server.force_exit = True

    def _run(self, listener: socket.socket) -> None:
        try:
            asyncio.run(self._server.serve(sockets=[listener]))
        finally:
            self._ended.set()
            if self._on_end is not None:
                self._on_end()
