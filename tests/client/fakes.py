"""Hand-written stand-ins for what the client talks to: a clock that never waits, a service in a function."""

from __future__ import annotations

import asyncio
import inspect
import json
import time
import weakref
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx

from dialframe.client import (
    SYSTEM,
    AsyncClient,
    AsyncHttpxTransport,
    AsyncListing,
    Client,
    Clock,
    Credential,
    HttpxTransport,
    Network,
    Options,
    RateLimiter,
    parse_address,
)
from samples import a_row

BASE_URL = "https://service.example"
KEY = "svc_test_cred01_sEcReT0123456789"
SECRET = "sEcReT0123456789"
PHONE = "+12125550142"
START = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
REQUEST_ID = "req_01ARZ3NDEKTSV4RRFFQ69G5FAV"

Answering = Callable[[httpx.Request], httpx.Response]


def an_id(prefix: str, number: int = 1) -> str:
    """A well-formed id."""
    return f"{prefix}_00000000-0000-4000-8000-{number:012d}"


LEAD, CALL, CAMPAIGN = an_id("lead"), an_id("call"), an_id("cmp")


class FakeClock:
    """Time that passes only when somebody sleeps, or a test says so."""

    def __init__(self) -> None:
        self.elapsed_s = 0.0
        self.slept: list[float] = []

    def __call__(self) -> Clock:
        return Clock(
            now=lambda: START + timedelta(seconds=self.elapsed_s),
            monotonic=lambda: self.elapsed_s,
            sleep=self.sleep,
            jitter=lambda: 0.0,
            sleep_async=self.sleep_async,
        )

    async def sleep_async(self, seconds: float) -> None:
        self.sleep(seconds)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.elapsed_s += seconds


class Service:
    """Answers request after request from a script, the last entry for ever, and keeps what came."""

    def __init__(self, *script: httpx.Response | BaseException | Answering) -> None:
        self.script = list(script)
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        step = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if isinstance(step, BaseException):
            raise step
        return step(request) if callable(step) else fresh_copy(step)

    @property
    def keys(self) -> list[str | None]:
        """Idempotency keys as they came over the wire."""
        return [request.headers.get("Idempotency-Key") for request in self.requests]

    @property
    def bodies(self) -> list[bytes]:
        """Bodies as they came over the wire."""
        return [request.content for request in self.requests]


class Streamed(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body that comes piece by piece, for either kind of client."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces

    def __iter__(self) -> Iterator[bytes]:
        return self._pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece


def cut_off(after: bytes) -> Answering:
    """Answers whose line is cut after these bytes."""

    def pieces() -> Iterator[bytes]:
        yield after
        raise httpx.ReadError("cut")

    return lambda _: httpx.Response(200, stream=Streamed(pieces()))


def dripping(clock: FakeClock) -> Answering:
    """Answers of which a byte comes each second, without end."""

    def pieces() -> Iterator[bytes]:
        while True:
            clock.elapsed_s += 1.0
            yield b" "

    return lambda _: httpx.Response(200, stream=Streamed(pieces()))


def fresh_copy(response: httpx.Response) -> httpx.Response:
    """The same answer once more: one that was read cannot be read again."""
    return httpx.Response(response.status_code, headers=response.headers, content=response.content)


def answer(body: Any = None, status: int = 200, **headers: str) -> httpx.Response:
    """A JSON answer with a request id; `X_Name="..."` gives a header."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.Response(
        status,
        headers={"X-Request-ID": REQUEST_ID, "Content-Type": "application/json", **named},
        content=b"" if body is None else json.dumps(body).encode(),
    )


def problem(
    status: int, code: str, *, errors: Sequence[Any] = (), **headers: str
) -> httpx.Response:
    """A problem document as the contract describes it."""
    body = {
        "type": f"https://docs.example/errors/{code.replace('_', '-')}",
        "title": code,
        "status": status,
        "detail": f"about {PHONE} and {KEY}",
        "instance": f"urn:service:request:{REQUEST_ID}",
        "code": code,
        "request_id": REQUEST_ID,
        **({"errors": list(errors)} if errors else {}),
    }
    headers.setdefault("Content_Type", "application/problem+json")
    return answer(body, status, **headers)


def a_page(rows: Sequence[Any], next_cursor: str | None = None) -> httpx.Response:
    """One page of a list."""
    return answer(
        {"data": list(rows), "page": {"next_cursor": next_cursor, "has_more": bool(next_cursor)}}
    )


def a_call(number: int = 1, **changes: Any) -> dict[str, Any]:
    """A call record as the service sends it."""
    own = {"id": an_id("call", number), "campaign_id": CAMPAIGN, "disposition": None}
    return a_row("calls.list", **own | changes)


def a_lead(number: int = 1, **changes: Any) -> dict[str, Any]:
    """A lead as the service sends it."""
    return a_row("leads.list", **{"id": an_id("lead", number), "campaign_id": CAMPAIGN} | changes)


def a_text(to: str = PHONE) -> dict[str, Any]:
    """A text message as the service accepts it."""
    return {
        "id": an_id("msg"),
        "to": to,
        "status": "queued",
        "client_reference": "r",
        "created_at": "2026-11-21T09:00:00Z",
    }


def on_disk(folder: Path) -> bytes:
    """Every byte of a folder of files."""
    return b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())


#: The answer to a text, and the stored one that its key brings once more.
SENT = answer(a_text(), 202)
REPLAYED = answer(a_text(), 202, Idempotency_Replayed="true")


def send_sms(client: Client, key: str | None = None, to: str = PHONE) -> Any:
    """A write that reaches people."""
    return client.sms.send(
        to=to, body="hello", client_reference="r", options=Options(idempotency_key=key)
    )


def transport_to(
    service: Answering, base_url: str = BASE_URL, key: str = KEY, **settings: Any
) -> HttpxTransport:
    """The real transport with the network replaced by a function."""
    where, network = parse_address(base_url), httpx.MockTransport(service)
    return HttpxTransport(
        where, Credential(key, where), inner=network, network=Network(**settings)
    )


def in_a_loop(
    service: Answering | httpx.AsyncBaseTransport, *, key: str = KEY, **settings: Any
) -> AsyncClient:
    """A client in an event loop, of a service that is a function."""
    where = parse_address(BASE_URL)
    network = isinstance(service, httpx.AsyncBaseTransport)
    inner = service if network else httpx.MockTransport(service)
    carrier = AsyncHttpxTransport(where, Credential(key, where), inner=inner)
    return AsyncClient(BASE_URL, key, transport=carrier, **{"limiter": None, **settings})


class Blocking:
    """An `AsyncClient` behind the face of `Client`, so that one test holds both to the same."""

    def __init__(self, inner: Any, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self._inner = inner
        self._loop = loop or asyncio.new_event_loop()
        if loop is None:
            weakref.finalize(self, self._loop.close)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._inner, name)
        if inspect.ismethod(value):
            return lambda *arguments, **keywords: self._finished(value(*arguments, **keywords))
        ours = type(value).__module__.startswith("dialframe.client")
        return Blocking(value, self._loop) if ours else value

    def _finished(self, value: Any) -> Any:
        if inspect.iscoroutine(value):
            # In the caller's context, as an await would be.
            return self._loop.run_until_complete(value)
        if inspect.isasyncgen(value):
            return self._items(value)
        wrapped = isinstance(value, AsyncListing | AsyncClient)
        return Blocking(value, self._loop) if wrapped else value

    def _items(self, values: Any) -> Iterator[Any]:
        end = object()
        while (item := self._loop.run_until_complete(anext(values, end))) is not end:
            yield item

    def __iter__(self) -> Iterator[Any]:
        return self._items(aiter(self._inner))

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return repr(self._inner)

    def close(self) -> None:
        """Let go of every connection."""
        self._loop.run_until_complete(self._inner.aclose())


#: Which client `connected` gives: the fixture `both` of the suite sets it.
KIND = "threads"


async def _hurried(seconds: float) -> None:
    await asyncio.sleep(min(seconds, 0.01))


#: The machine's clock, except that nobody waits long between two attempts.
HURRIED = replace(
    SYSTEM, sleep=lambda seconds: time.sleep(min(seconds, 0.01)), sleep_async=_hurried
)


def client_at(base_url: str, api_key: str, **settings: Any) -> Client:
    """A client of a service at a real address, of the kind that is under test; nobody waits long."""
    settings = {"limiter": None, "clock": HURRIED, **settings}
    if KIND == "event loop":
        return Blocking(AsyncClient(base_url, api_key, **settings))  # type: ignore[return-value]
    return Client(base_url, api_key, **settings)


def connected(
    service: Answering,
    journal: Path,
    *,
    clock: FakeClock | None = None,
    limiter: RateLimiter | None = None,
    max_attempts: int = 4,
    deadline_s: float | None = None,
    key: str = KEY,
) -> Client:
    """A client of a service that is a function, of the kind that is under test."""
    settings: dict[str, Any] = {
        "limiter": limiter,
        "journal": journal,
        "clock": (clock or FakeClock())(),
        "max_attempts": max_attempts,
        "deadline_s": deadline_s,
    }
    if KIND == "event loop":
        return Blocking(in_a_loop(service, key=key, **settings))  # type: ignore[return-value]
    return Client(BASE_URL, key, transport=transport_to(service, key=key), **settings)
