"""Receives webhook deliveries on a socket, in a thread, until it is closed.

2xx   kept: written durably before it was answered, or known already
400   not readable as a delivery            401   not genuine, or not fresh
405   no POST      404   another path       413   more than 1 MiB
503   not kept, or not in time: the service delivers it again
"""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from queue import Full
from typing import Final, Self

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from dialframe.background import Worker
from dialframe.contract import limits
from dialframe.errors import ConfigError, DialframeError, WebhookError
from dialframe.serving import ServerThread, body_of, listen, timed_protocol, url_of
from dialframe.webhooks.verifying import Delivery, usable, verify

#: What may wait for a slow listener; it is all stored already, so the rest is counted and left out.
PLACES: Final = 1000

OnEvent = Callable[[Delivery], None]
OnTrouble = Callable[[DialframeError], None]


class Announcer:
    """Two listeners behind a queue: however slow they are, or how they fail, the receiver goes on."""

    def __init__(self, on_event: OnEvent, on_trouble: OnTrouble, *, places: int = PLACES) -> None:
        self._on_event = on_event
        self._on_trouble = on_trouble
        self._worker = Worker("dialframe-webhooks-tell", places=places)
        self._missed = 0

    def event(self, delivery: Delivery) -> None:
        """Report a new event."""
        self._tell_missed()
        try:
            announced = self._worker.submit(partial(self._on_event, delivery))
        except Full:
            self._missed += 1
        else:
            # A listener that fails is told of as trouble; the event is stored whatever happens.
            announced.add_done_callback(self._finish)

    def trouble(self, error: DialframeError) -> None:
        """Report a delivery that was not accepted, unless too much waits already."""
        try:
            self._worker.submit(partial(self._on_trouble, error))
        except Full:
            return

    def close(self, *, within_s: float) -> None:
        """Deliver what waits in the queue, for so many seconds at most."""
        self._tell_missed()
        self._worker.close(within_s=within_s)

    def _tell_missed(self) -> None:
        if not self._missed:
            return
        missed = (
            f"{self._missed:,} events were stored but not shown: whoever reads them is too slow"
        )
        try:
            self._worker.submit(partial(self._on_trouble, DialframeError(missed)))
        except Full:
            return
        self._missed = 0

    def _finish(self, announced: Future[None]) -> None:
        error = announced.exception()
        if error is not None:
            self.trouble(
                DialframeError(
                    f"the listener failed on an event with {type(error).__name__}; the event is stored"
                )
            )


# Loopback alone unless asked: a tunnel or a proxy brings deliveries here.
HOST: Final = "127.0.0.1"
PORT: Final = 8788
PATH: Final = "/"

#: Connections at once, and deliveries that wait to be written; whoever comes then is told to come again.
AT_ONCE: Final = 512

_PATH: Final = re.compile(r"/[A-Za-z0-9._~/-]*")
_REST_S: Final = 0.2

#: The service waits ten seconds, the way to us included; what is not kept by then has to come again.
ANSWER_S: Final = limits.WEBHOOK_ANSWER_S - 2.0

#: Status of a refused delivery; what the reason is stays here.
STATUS: Final[dict[str, int]] = {
    "missing_header": 400,
    "bad_timestamp": 400,
    "stale": 401,
    "bad_signature": 401,
    "bad_body": 400,
}

Keep = Callable[[Delivery], bool]


@dataclass(frozen=True, slots=True)
class Reception:
    """How deliveries are received.

    Attributes:
        keep: Writes a delivery down durably; True when its event is new. `StoreError` says that it
            could not, and that nothing of it was written.
        secrets: Signing secrets to accept.
        now: The clock.
        path: Where deliveries arrive.
        answer_s: Seconds in which every delivery is answered.
    """

    keep: Keep
    secrets: tuple[str, ...] = field(repr=False)
    now: Callable[[], datetime]
    path: str = "/"
    answer_s: float = ANSWER_S


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
                _application(reception, self._writer, announcer),
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

    def __exit__(self, *ended: object) -> None:
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
        keep: Writes a delivery down durably; says whether its event is new.
        secrets: The endpoint's signing secret; during a rotation both.
        now: The clock, with a zone.
        on_event: Told each new event once, after it was kept.
        on_trouble: Told of deliveries that were not accepted.
        host: Address to listen at.
        port: Port to listen at; 0 takes a free one.
        path: Path of deliveries.
        answer_s: Seconds that keeping may take before the service is asked to come again.

    Raises:
        ConfigError: There is no secret, or the path or the port cannot be used.
    """
    if not _PATH.fullmatch(path):
        raise ConfigError(
            f"the path must begin with / and hold letters, digits and ._~-/ only, not {path!r}"
        )
    reception = Reception(keep, usable(secrets), now, path, answer_s)
    # After every check of the settings: a wrong one leaves no port open.
    listener = listen("the receiver", host, port)
    try:
        return Receiver(reception, Announcer(on_event, on_trouble), listener)
    except BaseException:
        listener.close()
        raise


def _application(reception: Reception, writer: Worker, announcer: Announcer) -> Starlette:
    """The application of a receiver."""

    async def receive(request: Request) -> Response:
        try:
            async with asyncio.timeout(reception.answer_s):
                return await _receive(request, reception, writer, announcer)
        except WebhookError as error:
            announcer.trouble(error)
            return _answer(STATUS[error.why])
        except ClientDisconnect:
            return _answer(400)
        except Exception as error:
            # This is a face: whatever failed behind it, the service is told to come again.
            announcer.trouble(_not_kept(error, reception.answer_s))
            return _answer(503)

    application = Starlette(routes=[Route(reception.path, receive, methods=["POST"])])
    # A delivery that is redirected is not delivered (contract, Events, Delivery 5).
    application.router.redirect_slashes = False
    return application


async def _receive(
    request: Request, reception: Reception, writer: Worker, announcer: Announcer
) -> Response:
    # Contract, Events, Delivery 1: the raw bytes, before anything parses them.
    body = await body_of(request.stream(), limits.BODY_BYTES)
    if body is None:
        return _answer(413)
    delivery = verify(body, request.headers, reception.secrets, reception.now())

    def keep() -> None:
        # Told from here: whoever waited for the answer may have gone, and the event is new only once.
        if reception.keep(delivery):
            announcer.event(delivery)

    await asyncio.wrap_future(writer.submit(keep))
    return Response(status_code=204)


def _not_kept(error: Exception, answer_s: float) -> DialframeError:
    if isinstance(error, DialframeError):
        reason = str(error)
    elif isinstance(error, TimeoutError):
        reason = f"it took more than {answer_s:g} s"
    else:
        # Its words may hold what the delivery held.
        reason = "too much waits" if isinstance(error, Full) else type(error).__name__
    return DialframeError(f"a delivery was not kept, and will come again: {reason}")


def _answer(status: int) -> Response:
    # The same few bytes for every reason: somebody who guesses learns nothing.
    words = "not kept" if status == 503 else "refused"
    return Response(f"{words}\n", status_code=status, media_type="text/plain")
