"""The ports that requests leave by, in a thread and in an event loop, and httpx behind both.

The connections themselves, with proxies, certificates and the meaning of their failures, are in
`network`.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any, Protocol

import httpcore
import httpx

from dialframe.client.client_settings import Address, Credential
from dialframe.client.network import CAUGHT, Link, Network, as_ours, head_awaited
from dialframe.client.request_building import PlannedRequest
from dialframe.errors import ConfigError


class Reply(Protocol):
    """An answer whose body has not been read yet."""

    @property
    def status(self) -> int:
        """HTTP status."""

    @property
    def headers(self) -> Mapping[str, str]:
        """Headers by lower-case name."""

    def chunks(self) -> Iterator[bytes]:
        """Read the body.

        Returns:
            Its bytes as they arrive.

        Raises:
            TransportError: The body broke off.
        """

    def close(self) -> None:
        """Close the connection."""


class Transport(Protocol):
    """What carries a request to the service; a test hands in its own."""

    def send(self, request: PlannedRequest, *, timeout_s: float) -> Reply:
        """Send a request once and wait for the head of its answer.

        Args:
            request: The request, method to body.
            timeout_s: Seconds to wait for the head of the answer.

        Returns:
            The answer, whose body is still to be read.

        Raises:
            TransportError: No answer came; `sent` says whether bytes may have arrived.
        """

    def close(self) -> None:
        """Close every connection."""


class AsyncReply(Protocol):
    """An answer in an event loop whose body has not been read yet."""

    @property
    def status(self) -> int:
        """HTTP status."""

    @property
    def headers(self) -> Mapping[str, str]:
        """Headers by lower-case name."""

    def chunks(self) -> AsyncIterator[bytes]:
        """Read the body as it arrives; a `TransportError` where it breaks off."""

    async def close(self) -> None:
        """Close the connection."""


class AsyncTransport(Protocol):
    """What carries a request to the service in an event loop."""

    async def send(self, request: PlannedRequest, *, timeout_s: float) -> AsyncReply:
        """Send a request once and wait for the head of its answer, as `Transport.send` does."""

    async def close(self) -> None:
        """Close every connection."""


class HttpxTransport:
    """Requests over httpx: environment proxies and certificates hold, redirects are not followed.

    The connection pool is opened by the first request, and afresh in a forked process. Threads
    may share it.
    """

    def __init__(
        self,
        address: Address,
        credential: Credential,
        *,
        inner: httpx.BaseTransport | None = None,
        network: Network | None = None,
        http_client: httpx.Client | None = None,
    ) -> None:
        """Prepare for one address and key.

        Args:
            address: Where the service is.
            credential: The key.
            inner: Replaces the network, in tests.
            network: Proxy, certificates, headers.
            http_client: A client of httpx to be used as it is; it stays its owner's to close.
        """
        self._link = Link(address, credential, network or Network())
        self.http_client = http_client
        self._client = httpx.Client(transport=inner) if inner is not None else http_client
        self._lock = threading.Lock()
        self._pool: httpcore.ConnectionPool | httpx.Client | None = None
        self._process = 0
        self._closed = False

    def send(self, request: PlannedRequest, *, timeout_s: float) -> Reply:
        """Send a request once and wait for the head of its answer, as `Transport.send` says.

        Args:
            request: The request, method to body.
            timeout_s: Seconds to wait for the head of the answer.

        Returns:
            The answer, whose body is still to be read.

        Raises:
            TransportError: No answer came; `sent` says whether bytes may have arrived.
        """
        pool = self._open()
        try:
            # Both flags are of this thread, so that other users of httpx are not touched.
            with as_ours(), head_awaited():
                if isinstance(pool, httpcore.ConnectionPool):
                    answer = pool.handle_request(self._link.outgoing_at_once(request, timeout_s))
                    return _Reply(self._link, request, answer.status, answer.headers, answer)
                response = pool.send(
                    self._link.outgoing(request, timeout_s),
                    stream=True,
                    auth=None,
                    follow_redirects=False,
                )
        except CAUGHT as error:
            raise self._link.translated(error, request) from None
        return _Reply(self._link, request, response.status_code, response.headers.raw, response)

    def close(self) -> None:
        """Close every connection; sending afterwards is an error."""
        with self._lock:
            self._closed = True
            pool, self._pool = self._pool, None
        if isinstance(pool, httpcore.ConnectionPool):
            pool.close()

    def _open(self) -> httpcore.ConnectionPool | httpx.Client:
        process = os.getpid()
        # Without the lock: once open it is only read.
        if self._pool is not None and self._process == process:
            return self._pool
        with self._lock:
            if self._closed:
                raise ConfigError("this client is closed: make a new one")
            if self._pool is None or self._process != process:
                with self._link.set_up():
                    self._link.prepare()
                    # A client of the caller's has connections, and certificates that took 17 ms to read.
                    pool = self._link.sync_pool() if self._client is None else self._client
                    # After a fork both processes would read from the same sockets.
                    self._pool, self._process = pool, process
            return self._pool


class _Reply:
    """An answer of httpcore, or of a client of httpx, behind the port."""

    def __init__(
        self,
        link: Link,
        request: PlannedRequest,
        status: int,
        headers: Sequence[tuple[bytes, bytes]],
        answer: httpcore.Response | httpx.Response,
    ) -> None:
        self._link = link
        self._request = request
        self._answer = answer
        self.status = status
        self.headers: Mapping[str, str] = _named(headers)

    def chunks(self) -> Iterator[bytes]:
        parts = self._parts()
        while True:
            try:
                with as_ours():
                    part = next(parts, None)
            except CAUGHT as error:
                raise self._link.translated(error, self._request) from None
            if part is None:
                return
            yield part

    def _parts(self) -> Iterator[bytes]:
        answer = self._answer
        if isinstance(answer, httpx.Response):
            return answer.iter_bytes()
        # Nothing to unpack: the bytes are the body, without a layer of httpx.
        if "content-encoding" not in self.headers:
            return answer.iter_stream()
        body = _Body(answer)
        return httpx.Response(answer.status, headers=answer.headers, stream=body).iter_bytes()

    def close(self) -> None:
        try:
            with as_ours():
                self._answer.close()
        except CAUGHT:
            pass  # The answer is read or given up: how its connection ends no longer matters.


class _Body(httpx.SyncByteStream):
    """A packed body of httpcore, for httpx to unpack."""

    def __init__(self, answer: httpcore.Response) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        return self._answer.iter_stream()

    def close(self) -> None:
        self._answer.close()


class AsyncHttpxTransport:
    """Requests over httpx in an event loop, under the rules of `HttpxTransport`.

    Connections belong to a loop and are opened afresh in another one.
    """

    def __init__(
        self,
        address: Address,
        credential: Credential,
        *,
        inner: httpx.AsyncBaseTransport | None = None,
        network: Network | None = None,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        """Prepare for one address and key, as `HttpxTransport` does."""
        self._link = Link(address, credential, network or Network())
        self.http_client = http_client
        self._client = httpx.AsyncClient(transport=inner) if inner is not None else http_client
        self._pool: httpx.AsyncBaseTransport | httpx.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False

    async def send(self, request: PlannedRequest, *, timeout_s: float) -> AsyncReply:
        """Send a request once and wait for the head of its answer, as `Transport.send` says."""
        pool, loop = self._open(), asyncio.get_running_loop()
        # Armed by the trace below, when the request is written: connecting has bounds of its own.
        deadline = asyncio.timeout(None)

        async def trace(event: str, info: Mapping[str, Any]) -> None:
            del info
            if event.endswith("receive_response_headers.started"):
                # One bound for the whole head, however it drips.
                deadline.reschedule(loop.time() + timeout_s)

        try:
            with as_ours():
                async with deadline:
                    outgoing = self._link.outgoing(request, timeout_s, trace=trace)
                    if isinstance(pool, httpx.AsyncClient):
                        # A client of the caller's: neither its redirects nor its authentication are ours.
                        response = await pool.send(
                            outgoing, stream=True, auth=None, follow_redirects=False
                        )
                    else:
                        response = await pool.handle_async_request(outgoing)
        except TimeoutError:
            # The row of the table for a read that takes too long says it all.
            late = httpx.ReadTimeout("the head of the answer did not end")
            raise self._link.translated(late, request) from None
        except CAUGHT as error:
            raise self._link.translated(error, request) from None
        return _AsyncHttpxReply(self._link, request, response)

    async def close(self) -> None:
        """Close every connection; sending afterwards is an error."""
        self._closed = True
        pool, self._pool = self._pool, None
        if isinstance(pool, httpx.AsyncBaseTransport) and self._loop is asyncio.get_running_loop():
            await pool.aclose()

    def _open(self) -> httpx.AsyncBaseTransport | httpx.AsyncClient:
        loop = asyncio.get_running_loop()
        if self._closed:
            raise ConfigError("this client is closed: make a new one")
        if self._pool is None or self._loop is not loop:
            with self._link.set_up():
                self._link.prepare()
                self._pool = self._link.async_transport() if self._client is None else self._client
                self._loop = loop
        return self._pool


class _AsyncHttpxReply:
    """A response of httpx behind the port of event loops."""

    def __init__(self, link: Link, request: PlannedRequest, response: httpx.Response) -> None:
        self._link = link
        self._request = request
        self._response = response
        self.status = response.status_code
        self.headers: Mapping[str, str] = _named(response.headers.raw)

    async def chunks(self) -> AsyncIterator[bytes]:
        parts = self._response.aiter_bytes()
        while True:
            try:
                with as_ours():
                    part = await anext(parts, None)
            except CAUGHT as error:
                raise self._link.translated(error, self._request) from None
            if part is None:
                return
            yield part

    async def close(self) -> None:
        try:
            with as_ours():
                await self._response.aclose()
        except CAUGHT:
            pass  # The answer is read or given up: how its connection ends no longer matters.


def _named(raw: Sequence[tuple[bytes, bytes]]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for raw_name, raw_value in raw:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        # RFC 9110, 5.3: fields of one name are one list.
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers
