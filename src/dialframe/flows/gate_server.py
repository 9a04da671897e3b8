"""Joins an account to those who ask or tell it something: the gate that a dialer asks, webhook events that are kept.

The gate is a small HTTP service of this machine, asked before each call; in doubt its answer is held:

POST /v1/may-call   {"numbers": ["+12125550142"], "at": "...", "campaign": "...", "caller_id": "..."}
GET  /health        whether it answers; no token needed

A verdict names what holds the number, every check's grade (`grades`), when hours and days permit a call (`next_allowed_at`),
how many attempts are left, how old the newest check is, and when consent ends.

200  a verdict for each number, in their order      400  not readable as a question
401  without the token                              413  more than 256 KiB or 1,000 numbers
503  no verdict could be made: every number is held
"""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Self

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from dialframe import instants
from dialframe.account import Account
from dialframe.background import Worker
from dialframe.compliance.gate import Gate, Verdict
from dialframe.errors import ConfigError, DialframeError
from dialframe.flows.firm_records import Scope, find_suppressed, gather
from dialframe.frames import EVENTS
from dialframe.privacy import redact
from dialframe.serving import ServerThread, body_of, listen, timed_protocol, url_of
from dialframe.webhooks import Delivery
from dialframe.webhooks.verifying import record

HOST: Final = "127.0.0.1"
#: Beside 8787 of the sandbox, 8788 of the webhooks and 8790 of the assistant: all may run at once.
PORT: Final = 8791
PATH: Final = "/v1/may-call"
#: A token that could be guessed would let anybody ask which numbers are suppressed.
LEAST_TOKEN: Final = 16
#: Bounds of one question; a longer list is asked in several.
MOST_NUMBERS: Final = 1_000
MOST_BYTES: Final = 262_144
#: Questions that may wait; whoever comes then is told to come again.
WAITING: Final = 64
#: An answer that comes later is none.
ANSWER_S: Final = 60.0

#: Numbers of the account that are graded together with one that is asked for.
BLOCK: Final = 1_000

#: A field that is misspelled would be a question half asked.
_FIELDS: Final = frozenset({"numbers", "at", "campaign", "caller_id"})
#: What the worker is given to end in, beside the two seconds of the server.
_REST_S: Final = 0.2


@dataclass(frozen=True, slots=True)
class Question:
    """What a dialer asks.

    Attributes:
        numbers: The numbers, E.164.
        at: When they would be called; None: now.
        campaign: The campaign that would call.
        caller_id: The number that would be shown.
    """

    numbers: tuple[str, ...]
    at: datetime | None = None
    campaign: str | None = None
    caller_id: str | None = None


Decide = Callable[[Question], Sequence[Verdict]]


class StoredGate:
    """The gate of an account: laid out again whenever a file of its store, or of the firm's evidence, changed."""

    def __init__(self, account: Account, scope: Scope, now: Callable[[], datetime]) -> None:
        """Read nothing yet.

        Args:
            account: The account; synced before.
            scope: Rules and records of the firm.
            now: The clock, UTC.
        """
        self._account, self._scope, self._now = account, scope, now
        self._gate: Gate | None = None
        self._stamp: object = None

    def __call__(self, question: Question) -> list[Verdict]:
        """The verdict on each number.

        Raises:
            StoreError: Calls or leads were never read.
            ConfigError: A rule is not in the book, or an instant has no time zone.
        """
        at = self._now() if question.at is None else question.at
        # Before it is read: what is written meanwhile is seen by the next question.
        stamp = self._file_states()
        if self._gate is None or stamp != self._stamp:
            known = gather(self._account, self._scope, now=self._now)
            tables = {
                name: known.tables[name] for name in ("calls", "leads", "dnc_checks", "callbacks")
            }
            self._gate, self._stamp = Gate(tables, known.question, block=BLOCK), stamp
        return self._gate.ask(
            question.numbers, at=at, campaign=question.campaign, caller_id=question.caller_id,
            suppressed=find_suppressed(self._account, question.numbers),
        )  # fmt: skip

    def _file_states(self) -> tuple[tuple[str, int, int], ...]:
        """The files that say something, with their sizes and times; locks and what is made of other files do not."""
        folders = (self._account.store.folder, self._account.evidence.folder)
        files = (file for folder in folders for file in sorted(Path(folder).rglob("*")))
        said = (
            f
            for f in files
            if not f.name.startswith(("lock", "index.")) and f.suffix != ".sqlite-shm"
        )
        stats = ((str(file), file.stat()) for file in said if file.is_file())
        return tuple((name, stat.st_size, stat.st_mtime_ns) for name, stat in stats)


class GateServer:
    """A gate that answers until it is closed; a context manager that ends it.

    Attributes:
        url: Where questions are answered.
    """

    def __init__(self, decide: Decide, *, token: str, host: str = HOST, port: int = PORT) -> None:
        """Answer in a thread of this process.

        Args:
            decide: Verdicts of a question; called one at a time.
            token: What a question has to bring: `Authorization: Bearer TOKEN`.
            host: Address to listen at.
            port: Port to listen at; 0 takes a free one.

        Raises:
            ConfigError: The token is too short, or the port cannot be used.
        """
        if len(token) < LEAST_TOKEN or not token.isascii():
            raise ConfigError(f"the gate's token has at least {LEAST_TOKEN} ASCII characters")
        # Before the thread: a taken port is the caller's error.
        listener = listen("the gate", host, port)
        self._worker = Worker("dialframe-gate", places=WAITING)
        self.url = url_of(listener) + PATH
        try:
            self._server = ServerThread(
                _application(decide, token, self._worker), listener, name="the gate",
                http=timed_protocol(), lifespan="off", limit_concurrency=WAITING * 2,
            )  # fmt: skip
        except BaseException:
            listener.close()
            self._worker.close(within_s=_REST_S)
            raise

    def wait(self) -> None:
        """Come back when it ended."""
        self._server.wait()

    def close(self) -> None:
        """End it within two seconds."""
        self._server.close()
        self._worker.close(within_s=_REST_S)

    def __enter__(self) -> Self:
        """The gate itself, which answers already."""
        return self

    def __exit__(self, *ended: object) -> None:
        """End it."""
        self.close()


def plain(verdicts: Sequence[Verdict]) -> list[dict[str, Any]]:
    """Verdicts as JSON has them: instants are text."""
    return [
        {name: instants.to_text(v) if isinstance(v, datetime) else v for name, v in each.items()}
        for each in verdicts
    ]


def _application(decide: Decide, token: str, worker: Worker) -> Starlette:
    async def ask(request: Request) -> Response:
        authorization = request.headers.get("authorization", "").encode()
        # In constant time: how long it takes tells nothing of the token.
        if not hmac.compare_digest(authorization, f"Bearer {token}".encode()):
            return _refusal(401, "a token is needed: Authorization: Bearer ...")
        try:
            body = await body_of(request.stream(), MOST_BYTES)
            if body is None:
                return _refusal(413, f"a question has at most {MOST_BYTES:,} bytes")
            question = _read(body)
        except ClientDisconnect:
            return _refusal(400, "the question ended too early")
        except ConfigError as error:
            return _refusal(400, redact(str(error)))
        if len(question.numbers) > MOST_NUMBERS:
            return _refusal(413, f"a question has at most {MOST_NUMBERS:,} numbers")
        try:
            # A dialer waits: an answer that comes late is no answer.
            async with asyncio.timeout(ANSWER_S):
                answers = await asyncio.wrap_future(worker.submit(lambda: decide(question)))
        except ConfigError as error:
            return _refusal(400, redact(str(error)))
        except Exception as error:
            # This is a face: whatever failed behind it, nobody is dialed.
            why = redact(str(error)) if isinstance(error, DialframeError) else type(error).__name__
            return _refusal(503, f"no verdict could be made ({why}); every number is held")
        return JSONResponse({"verdicts": plain(answers)})

    async def health(_: Request) -> Response:
        return JSONResponse({"ok": True})

    application = Starlette(
        routes=[Route(PATH, ask, methods=["POST"]), Route("/health", health, methods=["GET"])]
    )
    application.router.redirect_slashes = False
    return application


def _read(body: bytes) -> Question:
    """A question from JSON text."""
    try:
        body_json = json.loads(body)
    except (ValueError, RecursionError):
        raise ConfigError("the question is not JSON") from None
    # A misspelled field would ask another question than was meant.
    if not isinstance(body_json, Mapping) or set(body_json) - _FIELDS:
        raise ConfigError(f"a question has the fields {', '.join(sorted(_FIELDS))}")
    numbers = body_json.get("numbers")
    if not isinstance(numbers, list) or not all(isinstance(n, str) for n in numbers):
        raise ConfigError('numbers is a list of texts, ["+12125550142"]')
    texts = {name: body_json.get(name) for name in ("at", "campaign", "caller_id")}
    for name, value in texts.items():
        if value is not None and not isinstance(value, str):
            raise ConfigError(f"{name} is a text")
    at = None if texts["at"] is None else instants.instant("at", texts["at"])
    return Question(tuple(numbers), at, texts["campaign"], texts["caller_id"])


def _refusal(status: int, why: str) -> Response:
    return JSONResponse({"error": why}, status_code=status)


def keep_event(account: Account, delivery: Delivery) -> bool:
    """Write a delivery down durably, in one transaction.

    Returns:
        Whether its event is new here: neither stored already nor about a forgotten number.

    Raises:
        StoreError: The disk refuses; nothing was written, and the service has to deliver it again.
    """
    added = account.store.append(
        EVENTS, [record(delivery)], observed_at=delivery.received_at, request_id=None
    )
    return bool(added.versions or added.quarantined)
