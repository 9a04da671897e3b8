"""The ports that requests leave by, in a thread and in an event loop, and httpx behind both.

Log lines of the libraries, which hold whole URLs, are dropped for the requests that are ours.

The HTTP library bounds each single wait for bytes. A service that sends a byte now and then, or one
`103` after the other, would never be given up: the head of an answer is therefore given one bound as a
whole, from the moment that the request was written.
"""

from __future__ import annotations

import asyncio
import logging
import os
import ssl
import threading
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, Final, Literal, Protocol

import httpcore
import httpx

from dialframe.client.client_settings import Address, Credential
from dialframe.client.network import CAUGHT, Link, Network
from dialframe.client.request_building import PlannedRequest
from dialframe.errors import ConfigError

#: What httpx calls the waits that a timeout is for.
_WAITS: Final = ("connect", "read", "write", "pool")
_FOREIGN_LOGGERS: Final = (
    "httpx",
    "httpcore.connection",
    "httpcore.http11",
    "httpcore.http2",
    "httpcore.proxy",
    "httpcore.socks",
)
#: What of a request of ours the HTTP library is at, in this thread or task; None for nothing of ours.
# A variable of the context and not an argument: it passes through the library's own functions.
phase: Final[ContextVar[Literal["head", "body"] | None]] = ContextVar(
    "dialframe_phase", default=None
)


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
        # Threads that send the first request together open one pool.
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
        pool, link = self._open(), self._link
        token = phase.set("head")
        try:
            if isinstance(pool, httpcore.ConnectionPool):
                answer = pool.handle_request(_on_the_wire(link, request, timeout_s))
                return _Reply(link, request, answer.status, answer.headers, answer)
            # A client of the caller's: neither its redirects nor its authentication are ours.
            response = pool.send(
                _outgoing(link, request, timeout_s), stream=True, auth=None, follow_redirects=False
            )
        except CAUGHT as error:
            raise link.translated(error, request) from None
        finally:
            phase.reset(token)
        return _Reply(link, request, response.status_code, response.headers.raw, response)

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
                    _prepare(self._link)
                    # A client of the caller's has connections, and certificates that took 17 ms to read.
                    pool = self._client or self._link.sync_pool(BoundedBackend())
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
        answer = self._answer
        if isinstance(answer, httpx.Response):
            parts = answer.iter_bytes()
        elif "content-encoding" not in self.headers:
            # Nothing to unpack: the bytes are the body, without a layer of httpx.
            parts = answer.iter_stream()
        else:
            packed = httpx.Response(
                answer.status, headers=answer.headers, stream=_Packed(answer.iter_stream())
            )
            parts = packed.iter_bytes()
        while True:
            token = phase.set("body")
            try:
                part = next(parts, None)
            except CAUGHT as error:
                raise self._link.translated(error, self._request) from None
            finally:
                phase.reset(token)
            if part is None:
                return
            yield part

    def close(self) -> None:
        token = phase.set("body")
        try:
            self._answer.close()
        except CAUGHT:
            pass  # The answer is read or given up: how its connection ends no longer matters.
        finally:
            phase.reset(token)


class _Packed(httpx.SyncByteStream):
    """A packed body, for httpx to unpack."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks

    def __iter__(self) -> Iterator[bytes]:
        return self._chunks


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

        token = phase.set("head")
        try:
            async with deadline:
                outgoing = _outgoing(self._link, request, timeout_s, trace=trace)
                if isinstance(pool, httpx.AsyncClient):
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
        finally:
            phase.reset(token)
        return _AsyncHttpxReply(self._link, request, response)

    async def close(self) -> None:
        """Close every connection; sending afterwards is an error."""
        self._closed = True
        pool, self._pool = self._pool, None
        # Connections of a loop that is over went with it.
        if isinstance(pool, httpx.AsyncBaseTransport) and self._loop is asyncio.get_running_loop():
            await pool.aclose()

    def _open(self) -> httpx.AsyncBaseTransport | httpx.AsyncClient:
        loop = asyncio.get_running_loop()
        if self._closed:
            raise ConfigError("this client is closed: make a new one")
        if self._pool is None or self._loop is not loop:
            with self._link.set_up():
                _prepare(self._link)
                self._pool = self._client or self._link.async_transport()
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
            token = phase.set("body")
            try:
                part = await anext(parts, None)
            except CAUGHT as error:
                raise self._link.translated(error, self._request) from None
            finally:
                phase.reset(token)
            if part is None:
                return
            yield part

    async def close(self) -> None:
        token = phase.set("body")
        try:
            await self._response.aclose()
        except CAUGHT:
            pass  # The answer is read or given up: how its connection ends no longer matters.
        finally:
            phase.reset(token)


def _prepare(link: Link) -> None:
    for name in _FOREIGN_LOGGERS:
        # Adding the same filter again changes nothing.
        logging.getLogger(name).addFilter(_not_of_ours)
    link.prepare()


def _not_of_ours(record: logging.LogRecord) -> bool:
    """Drop a foreign log line that is about a request of ours: it would hold the whole URL."""
    del record
    return phase.get() is None


def _outgoing(
    link: Link, request: PlannedRequest, timeout_s: float, **extensions: Any
) -> httpx.Request:
    """A request as httpx sends it."""
    query = f"?{request.query}" if request.query else ""
    return httpx.Request(
        request.method,
        link.address.url + request.path + query,
        headers=[*link.headers, *request.headers.items()],
        content=request.body,
        extensions={"timeout": dict.fromkeys(_WAITS, timeout_s), **extensions},
    )


def _on_the_wire(link: Link, request: PlannedRequest, timeout_s: float) -> httpcore.Request:
    """The same as httpcore sends it: nothing of a URL that stays the same is read again."""
    base = link.base
    target = f"{request.path}?{request.query}" if request.query else request.path
    headers = [("Host", base.netloc.decode("ascii")), *link.headers, *request.headers.items()]
    # RFC 9110, 8.6: a method that expects content says so, also when there is none.
    if request.body is not None or request.method in ("POST", "PATCH"):
        headers.append(("Content-Length", str(len(request.body or b""))))
    return httpcore.Request(
        method=request.method,
        url=httpcore.URL(
            scheme=base.raw_scheme,
            host=base.raw_host,
            port=base.port,
            target=base.raw_path.rstrip(b"/") + target.encode("ascii"),
        ),
        headers=[(name.encode("ascii"), value.encode("ascii")) for name, value in headers],
        content=request.body,
        extensions={"timeout": dict.fromkeys(_WAITS, timeout_s)},
    )


def _named(raw: Sequence[tuple[bytes, bytes]]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for raw_name, raw_value in raw:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        # RFC 9110, 5.3: fields of one name are one list.
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


class BoundedBackend(httpcore.SyncBackend):
    """Opens connections on which all reads of one head share one timeout."""

    def connect_tcp(self, *where: Any, **how: Any) -> httpcore.NetworkStream:
        """Open a TCP connection."""
        return _Stream(super().connect_tcp(*where, **how))


class _Stream(httpcore.NetworkStream):
    """One connection."""

    def __init__(self, inner: httpcore.NetworkStream) -> None:
        self._inner = inner
        self._awaited_since_s: float | None = None

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if timeout is not None and phase.get() == "head":
            # The machine's clock and not the client's: this is about waiting for a real socket.
            now_s = time.monotonic()
            if self._awaited_since_s is None:
                self._awaited_since_s = now_s
            # What the reads before it took is gone, however little each of them was.
            timeout -= now_s - self._awaited_since_s
            if timeout <= 0:
                raise httpcore.ReadTimeout("the head of the answer did not end")
        return self._inner.read(max_bytes, timeout)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._awaited_since_s = None
        self._inner.write(buffer, timeout)

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)
