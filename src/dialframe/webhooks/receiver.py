"""Receives webhook deliveries on a socket, in a thread, until it is closed."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Sequence
from datetime import datetime
from types import TracebackType
from typing import Final, Self

from dialframe.background import Worker
from dialframe.errors import ConfigError
from dialframe.serving import ServerThread, listen, timed_protocol, url_of
from dialframe.webhooks.announcing import Announcer, OnEvent, OnTrouble
from dialframe.webhooks.application import ANSWER_S, Keep, Reception, build
from dialframe.webhooks.verifying import usable

HOST: Final = "127.0.0.1"
PORT: Final = 8788
PATH: Final = "/"

#: Connections at once, and deliveries that wait to be written; whoever comes then is told to come again.
AT_ONCE: Final = 512

_PATH: Final = re.compile(r"/[A-Za-z0-9._~/-]*")
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
        self._closed = False
        self.url = url_of(listener) + reception.path
        try:
            self._server = ServerThread(
                build(reception, self._writer, announcer),
                listener,
                name="the receiver",
                http=timed_protocol(),
                lifespan="off",
                limit_concurrency=AT_ONCE,
            )
        except BaseException:
            self._close_workers()
            raise

    def wait(self) -> None:
        """Come back when it ended."""
        self._server.wait()

    def close(self) -> None:
        """End it within two seconds; deliveries that are under way have one to be answered."""
        if self._closed:
            return
        self._closed = True
        self._server.close()
        self._close_workers()

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

    def _close_workers(self) -> None:
        self._writer.close(within_s=_REST_S)
        self._announcer.close(within_s=_REST_S)


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
        on_event: Called with each new event once, after it was stored, in a thread of its own.
        on_trouble: Called for deliveries that were not accepted, in the same thread.
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
    listener = listen("the receiver", host, port)
    try:
        return Receiver(reception, Announcer(on_event, on_trouble), listener)
    except BaseException:
        listener.close()
        raise
