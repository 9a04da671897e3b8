"""Runs the receiver on a socket, in a thread, until it is closed; knows no store and no signals."""

from __future__ import annotations

import asyncio
import re
import socket
import threading
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from types import TracebackType
from typing import Final, Self

import uvicorn

from dialframe.errors import ConfigError, DialframeError
from dialframe.webhooks.announcing import Announcer, OnEvent, OnTrouble
from dialframe.webhooks.application import ANSWER_S, Keep, Reception, build
from dialframe.webhooks.verifying import usable
from dialframe.webhooks.workers import Worker

HOST: Final = "127.0.0.1"
PORT: Final = 8788
PATH: Final = "/"

#: Connections at once, and deliveries that wait to be written; whoever comes then is told to come again.
AT_ONCE: Final = 512

_PATH: Final = re.compile(r"/[A-Za-z0-9._~/-]*")
_GRACE_S: Final = 1
_START_S: Final = 10.0
_END_S: Final = 1.4
_REST_S: Final = 0.2


class Receiver:
    """A receiver that accepts deliveries; a context manager that ends it.

    Attributes:
        url: Where deliveries are accepted.
    """

    def __init__(
        self, reception: Reception, announcer: Announcer, listener: socket.socket
    ) -> None:
        self._announcer = announcer
        self._writer = Worker("dialframe-webhooks-keep", places=AT_ONCE)
        host, port = listener.getsockname()[:2]
        self.url = f"http://{f'[{host}]' if ':' in host else host}:{port}{reception.path}"
        self._server = uvicorn.Server(
            uvicorn.Config(
                build(reception, self._writer, announcer),
                http="h11",
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                limit_concurrency=AT_ONCE,
                timeout_graceful_shutdown=_GRACE_S,
            )
        )
        self._thread = threading.Thread(
            target=self._run, args=(listener,), name="dialframe-webhooks", daemon=True
        )
        # Not the thread's join: a signal that interrupts one makes it believe that the thread ended.
        self._ended = threading.Event()
        self._closed = False
        try:
            self._begin()
        except BaseException:
            self.close()
            raise

    def wait(self) -> None:
        """Come back when it ended."""
        while not self._ended.wait(1.0):
            pass

    def close(self) -> None:
        """End it within two seconds; deliveries that are under way have one to be answered."""
        if self._closed:
            return
        self._closed = True
        self._server.should_exit = True
        self._ended.wait(_END_S)
        self._server.force_exit = True
        self._writer.close(within_s=_REST_S)
        self._announcer.close(within_s=_REST_S)

    def __enter__(self) -> Self:
        """The receiver itself, which is running already."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End it."""
        self.close()

    def _begin(self) -> None:
        self._thread.start()
        deadline = time.monotonic() + _START_S
        while not self._server.started:
            if self._ended.is_set() or time.monotonic() > deadline:
                raise DialframeError("the receiver did not start; try another port")
            time.sleep(0.002)

    def _run(self, listener: socket.socket) -> None:
        try:
            asyncio.run(self._server.serve(sockets=[listener]))
        finally:
            self._ended.set()


def start(
    keep: Keep,
    *,
    secrets: Sequence[str] | str,
    now: Callable[[], datetime],
    on_event: OnEvent,
    on_trouble: OnTrouble,
    host: str = HOST,
    port: int = PORT,
    path: str = PATH,
    answer_s: float = ANSWER_S,
) -> Receiver:
    """Receive deliveries in a thread of this process, until the receiver is closed.

    Args:
        keep: Writes a delivery down durably and says whether its event is new; called from one thread.
        secrets: The endpoint's signing secret; during a rotation both.
        now: The clock, with a zone.
        on_event: Told each new event once, after it was kept and from a thread of its own.
        on_trouble: Told of deliveries that were not accepted, from the same thread.
        host: Address to listen at.
        port: Port to listen at; 0 takes a free one.
        path: Path of deliveries; everywhere else nothing is found.
        answer_s: Seconds in which every delivery is answered.

    Raises:
        ConfigError: There is no secret, or the path or the port cannot be used.
    """
    if not _PATH.fullmatch(path):
        raise ConfigError(
            f"the path must begin with / and hold letters, digits and ._~-/ only, not {path!r}"
        )
    reception = Reception(keep, usable(secrets), now, path, answer_s)
    listener = _listen(host, port)
    try:
        return Receiver(reception, Announcer(on_event, on_trouble), listener)
    except BaseException:
        listener.close()
        raise


def _listen(host: str, port: int) -> socket.socket:
    where = f"the receiver cannot listen at {host} port {port}"
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
    except (OSError, OverflowError) as error:
        listener.close()
        raise ConfigError(f"{where} ({error}); choose another, or 0 for a free one") from None
    return listener
