"""The receiver as an ASGI application: which delivery gets which answer.

2xx   kept: written durably before it was answered, or known already
400   not readable as a delivery            401   not genuine, or not fresh
405   no POST      404   another path       413   more than 1 MiB
503   not kept, or not in time: the service delivers it again
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from queue import Full
from typing import Final

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from dialframe.background import Worker
from dialframe.contract import limits
from dialframe.errors import DialframeError, WebhookError
from dialframe.webhooks.announcing import Announcer
from dialframe.webhooks.delivery import Delivery
from dialframe.webhooks.verifying import verify

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


def build(reception: Reception, writer: Worker, announcer: Announcer) -> Starlette:
    """The application of a receiver.

    Args:
        reception: How deliveries are received.
        writer: Keeps deliveries, one after another, so that no event can be kept twice.
        announcer: Gets new events and what was not accepted.
    """

    async def receive(request: Request) -> Response:
        try:
            async with asyncio.timeout(reception.answer_s):
                return await _received(request, reception, writer, announcer)
        except WebhookError as error:
            announcer.trouble(error)
            return _answer(STATUS[error.why])
        except ClientDisconnect:
            return _answer(400)
        except Exception as error:
            # This is a face: whatever failed behind it, the service is told to come again.
            announcer.trouble(_not_kept(error, reception.answer_s))
            return _answer(503)

    made = Starlette(routes=[Route(reception.path, receive, methods=["POST"])])
    made.router.redirect_slashes = False
    return made


async def _received(
    request: Request, reception: Reception, writer: Worker, announcer: Announcer
) -> Response:
    body = await _body(request)
    if body is None:
        return _answer(413)
    delivery = verify(body, request.headers, reception.secrets, reception.now())

    def keep() -> None:
        # Told from here: whoever waited for the answer may have gone, and the event is new only once.
        if reception.keep(delivery):
            announcer.event(delivery)

    await asyncio.wrap_future(writer.submit(keep))
    return Response(status_code=204)


async def _body(request: Request) -> bytes | None:
    """The raw body, or None when it is larger than any delivery may be."""
    parts: list[bytes] = []
    size_bytes = 0
    async for part in request.stream():
        size_bytes += len(part)
        if size_bytes > limits.BODY_BYTES:
            return None
        parts.append(part)
    return b"".join(parts)


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
