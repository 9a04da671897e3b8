"""The ports that bytes leave by, in a thread and in an event loop, and httpx behind both.

Nothing of httpx gets out of this module: its errors become `TransportError` by the table below, its
log lines, which hold whole URLs, are dropped for the requests that are ours, and its redirects are off.
"""

from __future__ import annotations

import logging
import os
import platform
import ssl
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol
from urllib.request import getproxies, proxy_bypass

import httpcore
import httpx

from dialframe.client.connection import Address, Credential
from dialframe.client.header_timeout import BoundedTransport, head_awaited
from dialframe.client.request_plan import (
    CORRELATION_HEADER,
    IF_MATCH_HEADER,
    KEY_HEADER,
    PlannedRequest,
)
from dialframe.errors import ConfigError, TransportError

if TYPE_CHECKING:
    import asyncio

POOL_CONNECTIONS: Final = 50
#: What httpx calls the waits that a timeout is for.
_WAITS: Final = ("connect", "read", "write", "pool")


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
        """Read the body.

        Returns:
            Its bytes as they arrive.

        Raises:
            TransportError: The body broke off.
        """

    async def close(self) -> None:
        """Close the connection."""


class AsyncTransport(Protocol):
    """What carries a request to the service in an event loop."""

    async def send(self, request: PlannedRequest, *, timeout_s: float) -> AsyncReply:
        """Send a request once and wait for the head of its answer.

        Args:
            request: The request, method to body.
            timeout_s: Seconds to wait for the head of the answer.

        Returns:
            The answer, whose body is still to be read.

        Raises:
            TransportError: No answer came; `sent` says whether bytes may have arrived.
        """

    async def close(self) -> None:
        """Close every connection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """How the network is reached; nothing here is logged or shown.

    Attributes:
        proxy: URL of a proxy, `http`, `https` or `socks5`; None for the environment's.
        verify: Whether the service's certificate is checked, a file or folder of authorities, or a
            context of one's own.
        cert: A client certificate: its file, or its file, key file and optionally password.
        headers: Headers of one's own for every request.
    """

    proxy: str | None = field(default=None, repr=False)
    verify: bool | str | Path | ssl.SSLContext = True
    cert: str | Path | tuple[str, ...] | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Refuse headers that are not the caller's to set."""
        ours = ("authorization", "host", "content-length", "content-type", "transfer-encoding",
                *(name.lower() for name in (KEY_HEADER, CORRELATION_HEADER, IF_MATCH_HEADER)))  # fmt: skip
        for name in self.headers:
            if name.lower() in ours:
                raise ConfigError(f"headers: {name} is set by the client itself: leave it out")


@dataclass(frozen=True, slots=True)
class Failure:
    """What an error of the HTTP library means.

    Attributes:
        kind: The library's class; a subclass is looked up by its nearest ancestor.
        phase: Whether bytes of the request may have arrived.
        words: What happened, after the host's name.
        advice: What next.
    """

    kind: type[Exception]
    phase: Literal["not_sent", "maybe_sent"]
    words: str
    advice: str


_REACH = "check base_url and the network"
_AGAIN = "try again"

FAILURES: Final[tuple[Failure, ...]] = (
    Failure(httpx.ConnectTimeout, "not_sent", "did not take the connection in time", _REACH),
    Failure(httpx.ConnectError, "not_sent", "cannot be reached", _REACH),
    Failure(httpx.PoolTimeout, "not_sent", "got no free connection of this client in time",
            "share the client among fewer threads, or raise timeout_s"),
    Failure(httpx.ProxyError, "not_sent", "cannot be reached through the proxy",
            "check the proxy settings"),
    Failure(httpx.UnsupportedProtocol, "not_sent", "cannot be asked over this protocol",
            "check base_url"),
    Failure(UnicodeError, "not_sent", "is no host name", "check base_url"),
    Failure(httpx.InvalidURL, "not_sent", "has an address that is no URL", "check base_url"),
    Failure(httpx.WriteTimeout, "maybe_sent", "took too long to accept the request", _AGAIN),
    Failure(httpx.ReadTimeout, "maybe_sent", "did not answer in time",
            "try again, or raise timeout_s"),
    Failure(httpx.WriteError, "maybe_sent", "broke the connection off while it was asked", _AGAIN),
    Failure(httpx.ReadError, "maybe_sent", "broke the connection off while it answered", _AGAIN),
    Failure(httpx.CloseError, "maybe_sent", "broke the connection off at its end", _AGAIN),
    Failure(httpx.RemoteProtocolError, "maybe_sent", "broke off its answer", _AGAIN),
    Failure(httpx.LocalProtocolError, "maybe_sent", "cannot be asked in this form",
            "check the options"),
    Failure(httpx.DecodingError, "maybe_sent", "sent an answer that cannot be unpacked", _AGAIN),
    Failure(httpx.TooManyRedirects, "maybe_sent", "sends elsewhere again and again", "check base_url"),
    # What a newer version may add below these is taken for the worse case.
    Failure(httpx.TimeoutException, "maybe_sent", "did not answer in time", "try again"),
    Failure(httpx.RequestError, "maybe_sent", "did not answer", _REACH),
    Failure(httpx.StreamError, "maybe_sent", "has an answer that was let go too early", _AGAIN),
)  # fmt: skip

#: httpcore, below httpx, calls its errors by the same names.
_BY_NAME: Final = {failure.kind.__name__: failure for failure in FAILURES}
_CAUGHT: Final = (
    httpx.RequestError,
    httpx.InvalidURL,
    httpx.StreamError,
    UnicodeError,
    httpcore.TimeoutException,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    httpcore.UnsupportedProtocol,
)
_ours: ContextVar[bool] = ContextVar("dialframe_request", default=False)


def failure_of(error: Exception) -> Failure:
    """The row of the nearest ancestor of an error, by its name."""
    return next(
        _BY_NAME[kind.__name__] for kind in type(error).__mro__ if kind.__name__ in _BY_NAME
    )


@contextmanager
def _as_ours() -> Iterator[None]:
    token = _ours.set(True)
    try:
        yield
    finally:
        _ours.reset(token)


class _Link:
    """What both transports have in common: where requests go, with which headers, and what errors mean."""

    def __init__(self, address: Address, credential: Credential, network: Network) -> None:
        self.address = address
        self.network = network
        self._credential = credential
        self._proxy: httpx.Proxy | None = None
        self._headers: list[tuple[str, str]] = []

    def prepare(self) -> None:
        """Choose the proxy and the headers that every request carries."""
        _quieten()
        self._proxy = self._chosen_proxy()
        self._headers = [
            ("User-Agent", _user_agent()),
            ("Accept-Encoding", "gzip, deflate"),
            *self.network.headers.items(),
            ("Authorization", self._credential.header()),
        ]

    def outgoing(
        self, request: PlannedRequest, timeout_s: float, **extensions: Any
    ) -> httpx.Request:
        query = f"?{request.query}" if request.query else ""
        return httpx.Request(
            request.method,
            self.address.url + request.path + query,
            headers=[*self._headers, *request.headers.items()],
            content=request.body,
            extensions={"timeout": dict.fromkeys(_WAITS, timeout_s), **extensions},
        )

    def sync_transport(self) -> httpx.BaseTransport:
        return BoundedTransport(
            ssl_context=self._ssl_context(), proxy=self._proxy, connections=POOL_CONNECTIONS
        )

    def async_transport(self) -> httpx.AsyncBaseTransport:
        return httpx.AsyncHTTPTransport(
            verify=self._ssl_context(),
            proxy=self._proxy,
            trust_env=False,
            limits=httpx.Limits(
                max_connections=POOL_CONNECTIONS, max_keepalive_connections=POOL_CONNECTIONS
            ),
        )

    @contextmanager
    def set_up(self) -> Iterator[None]:
        """Say what is wrong with settings that no connection can be made with."""
        try:
            yield
        except (ImportError, RuntimeError):  # httpx and httpcore say it differently
            raise ConfigError(
                f"connections to {self.address.host} go through a SOCKS proxy, which needs one "
                "more package: install httpx[socks], or use an http proxy"
            ) from None
        except (ValueError, OSError, httpx.InvalidURL) as error:
            # The text may quote a proxy's URL with its password: the kind has to do.
            raise ConfigError(
                f"connections to {self.address.host} cannot be set up ({type(error).__name__}): "
                "check proxy=, verify= and cert=, or the proxy and certificate variables of the "
                "environment"
            ) from None

    def translated(self, error: Exception, request: PlannedRequest) -> TransportError:
        failure = failure_of(error)
        says = f" ({error})" if str(error) else ""
        whose = f"{self.address.host} {failure.words}{says}: {failure.advice}"
        if self._proxy is not None and failure.phase == "not_sent":
            whose = self._of_proxy(failure, says) or whose
        return TransportError(
            f"{request.operation}: {whose}",
            operation=request.operation,
            sent=failure.phase == "maybe_sent",
        )

    def _of_proxy(self, failure: Failure, says: str) -> str | None:
        url = None if self._proxy is None else self._proxy.url
        name = "" if url is None else f"{url.host}:{url.port}" if url.port else url.host
        if failure.kind is httpx.ProxyError:
            return (
                f"the proxy {name} refuses to connect to {self.address.host}{says}: "
                "check the proxy's rules and credentials"
            )
        if failure.kind in (httpx.ConnectError, httpx.ConnectTimeout) and "SSL" not in says:
            return f"the proxy {name} {failure.words}{says}: check the proxy settings"
        return None

    def _chosen_proxy(self) -> httpx.Proxy | None:
        if self.network.proxy is not None:
            return httpx.Proxy(self.network.proxy)
        # A proxy of the environment has no business between us and our own machine.
        if self.address.loopback:
            return None
        proxies = getproxies()
        url = proxies.get("https" if self.address.secure else "http") or proxies.get("all")
        if not url or proxy_bypass(self.address.host):
            return None
        return httpx.Proxy(url if "://" in url else f"http://{url}")

    def _ssl_context(self) -> ssl.SSLContext:
        verify, cert = self.network.verify, self.network.cert
        if isinstance(verify, ssl.SSLContext):
            context = verify
        elif isinstance(verify, str | Path):
            folder = Path(verify).is_dir()
            context = ssl.create_default_context(
                cafile=None if folder else str(verify), capath=str(verify) if folder else None
            )
        elif verify and self.address.loopback and not self.address.secure and not cert:
            # Reading the certificates takes 17 ms; without them whatever is https fails.
            return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        else:
            context = httpx.create_ssl_context(verify, trust_env=not self.address.loopback)
        if cert is not None:
            files = (cert,) if isinstance(cert, str | Path) else cert
            context.load_cert_chain(*map(str, files))
        return context


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
        self._link = _Link(address, credential, network or Network())
        self._inner = inner
        self._http_client = http_client
        self._lock = threading.Lock()
        self._pool: httpx.BaseTransport | None = None
        self._process = 0
        self._closed = False

    def send(self, request: PlannedRequest, *, timeout_s: float) -> Reply:
        """Send a request once and wait for the head of its answer.

        Args:
            request: The request, method to body.
            timeout_s: Seconds to wait for the head of the answer.

        Returns:
            The answer, whose body is still to be read.

        Raises:
            TransportError: No answer came.
            ConfigError: The client was closed.
        """
        pool = self._open()
        try:
            with _as_ours(), head_awaited():
                outgoing = self._link.outgoing(request, timeout_s)
                if self._http_client is not None:
                    response = self._http_client.send(
                        outgoing, stream=True, auth=None, follow_redirects=False
                    )
                else:
                    response = pool.handle_request(outgoing)
        except _CAUGHT as error:
            raise self._link.translated(error, request) from None
        return _HttpxReply(self._link, request, response)

    def close(self) -> None:
        """Close every connection; sending afterwards is an error."""
        with self._lock:
            self._closed = True
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()

    def _open(self) -> httpx.BaseTransport:
        process = os.getpid()
        if self._pool is not None and self._process == process:
            return self._pool
        with self._lock:
            if self._closed:
                raise ConfigError("this client is closed: make a new one")
            if self._pool is None or self._process != process:
                with self._link.set_up():
                    self._link.prepare()
                    # After a fork both processes would read from the same sockets.
                    self._pool, self._process = self._inner or self._link.sync_transport(), process
            return self._pool


class _HttpxReply:
    """A response of httpx behind the port."""

    def __init__(self, link: _Link, request: PlannedRequest, response: httpx.Response) -> None:
        self._link = link
        self._request = request
        self._response = response
        self.status = response.status_code
        self.headers: Mapping[str, str] = _named(response)

    def chunks(self) -> Iterator[bytes]:
        parts = self._response.iter_bytes()
        while True:
            try:
                with _as_ours():
                    part = next(parts, None)
            except _CAUGHT as error:
                raise self._link.translated(error, self._request) from None
            if part is None:
                return
            yield part

    def close(self) -> None:
        try:
            with _as_ours():
                self._response.close()
        except _CAUGHT:
            pass  # The answer is read or given up: how its connection ends no longer matters.


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
        """Prepare for one address and key.

        Args:
            address: Where the service is.
            credential: The key.
            inner: Replaces the network, in tests.
            network: Proxy, certificates, headers.
            http_client: A client of httpx to be used as it is; closing it is up to its owner.
        """
        self._link = _Link(address, credential, network or Network())
        self._inner = inner
        self._http_client = http_client
        self._pool: httpx.AsyncBaseTransport | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False

    async def send(self, request: PlannedRequest, *, timeout_s: float) -> AsyncReply:
        """Send a request once and wait for the head of its answer.

        Args:
            request: The request, method to body.
            timeout_s: Seconds to wait for the head of the answer.

        Returns:
            The answer, whose body is still to be read.

        Raises:
            TransportError: No answer came; `sent` says whether bytes may have arrived.
            ConfigError: The client was closed.
        """
        import asyncio

        pool, loop = self._open(), asyncio.get_running_loop()
        deadline = asyncio.timeout(None)

        async def trace(event: str, info: Mapping[str, Any]) -> None:
            del info
            if event.endswith("receive_response_headers.started"):
                # One bound for the whole head, however it drips.
                deadline.reschedule(loop.time() + timeout_s)

        try:
            with _as_ours():
                async with deadline:
                    outgoing = self._link.outgoing(request, timeout_s, trace=trace)
                    if self._http_client is not None:
                        response = await self._http_client.send(
                            outgoing, stream=True, auth=None, follow_redirects=False
                        )
                    else:
                        response = await pool.handle_async_request(outgoing)
        except TimeoutError:
            late = httpx.ReadTimeout("the head of the answer did not end")
            raise self._link.translated(late, request) from None
        except _CAUGHT as error:
            raise self._link.translated(error, request) from None
        return _AsyncHttpxReply(self._link, request, response)

    async def close(self) -> None:
        """Close every connection; sending afterwards is an error."""
        import asyncio

        self._closed = True
        pool, self._pool = self._pool, None
        if pool is not None and self._loop is asyncio.get_running_loop():
            await pool.aclose()

    def _open(self) -> httpx.AsyncBaseTransport:
        import asyncio

        loop = asyncio.get_running_loop()
        if self._closed:
            raise ConfigError("this client is closed: make a new one")
        if self._pool is None or self._loop is not loop:
            with self._link.set_up():
                self._link.prepare()
                self._pool, self._loop = self._inner or self._link.async_transport(), loop
        return self._pool


class _AsyncHttpxReply:
    """A response of httpx behind the port of event loops."""

    def __init__(self, link: _Link, request: PlannedRequest, response: httpx.Response) -> None:
        self._link = link
        self._request = request
        self._response = response
        self.status = response.status_code
        self.headers: Mapping[str, str] = _named(response)

    async def chunks(self) -> AsyncIterator[bytes]:
        parts = self._response.aiter_bytes()
        while True:
            try:
                with _as_ours():
                    part = await anext(parts, None)
            except _CAUGHT as error:
                raise self._link.translated(error, self._request) from None
            if part is None:
                return
            yield part

    async def close(self) -> None:
        try:
            with _as_ours():
                await self._response.aclose()
        except _CAUGHT:
            pass  # The answer is read or given up: how its connection ends no longer matters.


def _named(response: httpx.Response) -> dict[str, str]:
    headers: dict[str, str] = {}
    for raw_name, raw_value in response.headers.raw:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


class _NotOurs(logging.Filter):
    """Drops a foreign log line that is about a request of ours: it would hold the whole URL."""

    def filter(self, record: logging.LogRecord) -> bool:
        del record
        return not _ours.get()


_FOREIGN_LOGGERS: Final = (
    "httpx",
    "httpcore.connection",
    "httpcore.http11",
    "httpcore.http2",
    "httpcore.proxy",
    "httpcore.socks",
)
_NOT_OURS: Final = _NotOurs()


def _quieten() -> None:
    for name in _FOREIGN_LOGGERS:
        # Adding the same filter again changes nothing.
        logging.getLogger(name).addFilter(_NOT_OURS)


def _user_agent() -> str:
    try:
        own = version("dialframe")
    except PackageNotFoundError:
        own = "source"
    return f"dialframe/{own} py/{platform.python_version()} httpx/{httpx.__version__}"
