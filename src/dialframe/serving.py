"""Runs an ASGI application on a socket in a thread of this process, until it is closed."""

from __future__ import annotations

import asyncio
import signal
import socket
import time
from collections.abc import AsyncIterable, Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

from dialframe.background import in_thread
from dialframe.errors import ConfigError, DialframeError

if TYPE_CHECKING:
    import uvicorn
    from uvicorn.protocols.http.flow_control import FlowControl
    from uvicorn.protocols.http.h11_impl import H11Protocol

#: What ends a server; SIGHUP says that its terminal was closed.
SIGNALS: Final = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP") if hasattr(signal, name)
)
_START_S: Final = 10.0
#: Ends within two seconds, whatever is under way: a second for requests, the rest for the loop.
_GRACE_S: Final = 1
_END_S: Final = 1.4
#: A client that sends its headers slower than this is disconnected.
HEADERS_S: Final = 10.0
#: So is one that lets its body pause for so long, or drip below the rate for as long in all; the rate is the
#: default of Apache's mod_reqtimeout, at which a thousand leads take some minutes.
BODY_S: Final = 30.0
BODY_BYTES_PER_S: Final = 500


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
        # A port that was closed a moment ago is still held by the system otherwise (RFC 9293, 3.6: TIME-WAIT).
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


async def body_of(stream: AsyncIterable[bytes], most_bytes: int) -> bytes | None:
    """The raw body of a request as it arrives, or None when it is larger than it may be."""
    parts: list[bytes] = []
    size_bytes = 0
    async for part in stream:
        size_bytes += len(part)
        # Counted as it comes: a chunked body declares no length.
        if size_bytes > most_bytes:
            return None
        parts.append(part)
    return b"".join(parts)


def timed_protocol() -> type[H11Protocol]:
    """HTTP/1.1 whose clients have ten seconds for the headers of a request, and must not let its body drip.

    Without it connections that never send a whole request take the places of those that do.
    """
    import h11
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Timed(H11Protocol):
        """One connection."""

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._deadline = _Deadline(self.loop, transport, self.flow)
            self._deadline.for_headers()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.conn.their_state is h11.SEND_BODY:
                self._deadline.for_body(len(data))
            # Between two requests of one connection the next headers are awaited.
            elif self.conn.their_state is h11.IDLE and not _is_answering(self):
                self._deadline.for_headers()
            else:
                self._deadline.stop()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            # A further request that came with the one just answered is begun here.
            if self.conn.their_state is h11.SEND_BODY:
                self._deadline.for_body(0)

        def connection_lost(self, exc: Exception | None) -> None:
            self._deadline.stop()
            super().connection_lost(exc)

    return Timed


class _Deadline:
    """Closes a connection whose headers or body do not arrive in time."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, transport: asyncio.Transport, flow: FlowControl
    ) -> None:
        self._loop, self._transport, self._flow = loop, transport, flow
        self._timer: asyncio.TimerHandle | None = None
        #: When the body that is arriving has to be whole, by the loop's clock; None where none is.
        self._body_due_s: float | None = None

    def for_headers(self) -> None:
        """Headers are awaited, from their first byte on."""
        if self._timer is None or self._body_due_s is not None:
            self.stop()
            self._timer = self._loop.call_later(HEADERS_S, self._transport.close)

    def for_body(self, size_bytes: int) -> None:
        """More of a body is awaited, after so many bytes."""
        latest_s = self._loop.time() + BODY_S
        if self._body_due_s is None:
            self.stop()
            self._body_due_s = latest_s
            self._timer = self._loop.call_later(BODY_S, self._end)
        # Each byte buys its share of time, but never more than one pause is long.
        self._body_due_s = min(self._body_due_s + size_bytes / BODY_BYTES_PER_S, latest_s)

    def stop(self) -> None:
        """Nothing is awaited."""
        self._body_due_s = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end(self) -> None:
        # Where the application has not taken what is there, the sender waits for it.
        more_s = BODY_S if self._flow.read_paused else (self._body_due_s or 0) - self._loop.time()
        if more_s > 0:
            self._timer = self._loop.call_later(more_s, self._end)
        else:
            self._transport.close()


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


class _Stopped(BaseException):
    """A signal asks the process to end."""


@contextmanager
def until_signal() -> Iterator[None]:
    """Let SIGTERM, Ctrl-C and a closed terminal be the proper end of what is within."""

    def stop(received: int, frame: FrameType | None) -> None:
        del received, frame
        # Once is enough: what follows is the ending, which takes care of itself.
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        raise _Stopped

    before = {number: signal.signal(number, stop) for number in SIGNALS}
    try:
        yield
    except _Stopped:
        pass
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
