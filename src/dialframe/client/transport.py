"""How requests leave, over httpx, in a thread and in an event loop, and what the network's failures mean.

Nothing of httpx gets out of here: its errors become `TransportError` by the table below, and it is loaded by
the first request.

httpx bounds each single wait for bytes. A service that sends a byte now and then, or one `103` after the
other, would never be given up: the head of an answer is therefore given one bound as a whole, from the moment
that the request was written.
"""

from __future__ import annotations

import logging
import os
import platform
import ssl
import sys
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol
from urllib.request import getproxies, proxy_bypass

from dialframe.client.client_settings import Address, Credential
from dialframe.client.request_building import (
    CORRELATION_HEADER,
    IF_MATCH_HEADER,
    KEY_HEADER,
    PlannedRequest,
)
from dialframe.errors import ConfigError, TransportError

if TYPE_CHECKING:
    import asyncio

    import httpx

POOL_CONNECTIONS: Final = 50
#: What httpx calls the waits that a timeout is for.
_WAITS: Final = ("connect", "read", "write", "pool")
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
    """What an error of httpx means.

    Attributes:
        phase: Whether bytes of the request may have arrived.
        words: What happened, after the host's name.
        advice: What next.
    """

    phase: Literal["not_sent", "maybe_sent"]
    words: str
    advice: str


_REACH = "check base_url and the network"
_AGAIN = "try again"

#: By the name of the class; a subclass is looked up by its nearest ancestor.
FAILURES: Final[Mapping[str, Failure]] = {
    "ConnectTimeout": Failure("not_sent", "did not take the connection in time", _REACH),
    "ConnectError": Failure("not_sent", "cannot be reached", _REACH),
    "PoolTimeout": Failure("not_sent", "got no free connection of this client in time",
                           "share the client among fewer threads, or raise timeout_s"),
    "ProxyError": Failure("not_sent", "cannot be reached through the proxy", "check the proxy settings"),
    "UnsupportedProtocol": Failure("not_sent", "cannot be asked over this protocol", "check base_url"),
    "UnicodeError": Failure("not_sent", "is not a host name", "check base_url"),
    "InvalidURL": Failure("not_sent", "has an address that is not a URL", "check base_url"),
    "WriteTimeout": Failure("maybe_sent", "took too long to accept the request", _AGAIN),
    "ReadTimeout": Failure("maybe_sent", "did not answer in time", "try again, or raise timeout_s"),
    "WriteError": Failure("maybe_sent", "broke the connection off while it was asked", _AGAIN),
    "ReadError": Failure("maybe_sent", "broke the connection off while it answered", _AGAIN),
    "CloseError": Failure("maybe_sent", "broke the connection off at its end", _AGAIN),
    "RemoteProtocolError": Failure("maybe_sent", "broke off its answer", _AGAIN),
    "LocalProtocolError": Failure("maybe_sent", "cannot be asked in this form", "check the options"),
    # An event loop hands on as it is what a service says of our certificate while it answers.
    "SSLError": Failure("maybe_sent", "broke the encrypted connection off", "check verify= and cert="),
    "DecodingError": Failure("maybe_sent", "sent an answer that cannot be unpacked", _AGAIN),
    # What a newer version may add below these is taken for the worse case.
    "TimeoutException": Failure("maybe_sent", "did not answer in time", _AGAIN),
    "RequestError": Failure("maybe_sent", "did not answer", _REACH),
    "StreamError": Failure("maybe_sent", "has an answer that was let go too early", _AGAIN),
}  # fmt: skip


def failure_name(error: Exception) -> str:
    """The name of an error's nearest ancestor in the table."""
    return next(kind.__name__ for kind in type(error).__mro__ if kind.__name__ in FAILURES)


@cache
def load_httpx() -> Any:
    """Load httpx without its command line, which would bring rich and click along."""
    with_command_line = sys.modules.get("httpx._main")
    if "httpx" not in sys.modules:
        sys.modules["httpx._main"] = None  # type: ignore[assignment]  # importing it fails
    import httpx

    if with_command_line is None and sys.modules.get("httpx._main", httpx) is None:
        del sys.modules["httpx._main"]
    logging.getLogger("httpx").addFilter(_not_of_ours)
    return httpx


@cache
def caught() -> tuple[type[Exception], ...]:
    """The errors that the table is for."""
    httpx = load_httpx()
    return (
        httpx.RequestError,
        httpx.InvalidURL,
        httpx.StreamError,
        ssl.SSLError,
        UnicodeError,
    )


def _not_of_ours(record: logging.LogRecord) -> bool:
    """Drop a foreign log line that is about a request of ours: it would hold the whole URL."""
    del record
    return phase.get() is None


class Link:
    """What both transports have in common: where requests go, with which headers, and what errors mean."""

    def __init__(self, address: Address, credential: Credential, network: Network) -> None:
        self.address = address
        self.network = network
        self._credential = credential
        self._proxy: httpx.Proxy | None = None
        self._headers: list[tuple[str, str]] = []
        #: Operations whose answers are open, by the identity of the answer.
        self.open_answers: dict[int, str] = {}

    @contextmanager
    def set_up(self) -> Iterator[dict[str, Any]]:
        """Settings of a transport of httpx; says what is wrong with those that no connection can be made with."""
        httpx = load_httpx()
        try:
            self._proxy = self._choose_proxy()
            # Out of the metadata: to import the package's face for it would be an import upwards.
            try:
                own_version = version("dialframe")
            except PackageNotFoundError:
                own_version = "source"
            python = platform.python_version()
            self._headers = [
                ("User-Agent", f"dialframe/{own_version} py/{python} httpx/{httpx.__version__}"),
                # Without further packages httpx unpacks these two and no others.
                ("Accept-Encoding", "gzip, deflate"),
                *self.network.headers.items(),
                ("Authorization", self._credential.header()),
            ]
            most = httpx.Limits(
                max_connections=POOL_CONNECTIONS, max_keepalive_connections=POOL_CONNECTIONS
            )
            yield {
                "verify": self._ssl_context(),
                "proxy": self._proxy,
                "trust_env": False,
                "limits": most,
            }
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

    def outgoing(
        self, request: PlannedRequest, timeout_s: float, **extensions: Any
    ) -> httpx.Request:
        """A request as httpx sends it."""
        query = f"?{request.query}" if request.query else ""
        outgoing: httpx.Request = load_httpx().Request(
            request.method,
            self.address.url + request.path + query,
            headers=[*self._headers, *request.headers.items()],
            content=request.body,
            extensions={"timeout": dict.fromkeys(_WAITS, timeout_s), **extensions},
        )
        return outgoing

    def translated(self, error: Exception, request: PlannedRequest) -> TransportError:
        """What an error of httpx means for a request of ours."""
        # The library's own words differ from version to version; the row's do not.
        name = failure_name(error)
        failure = FAILURES[name]
        words, advice = failure.words, failure.advice
        if name == "PoolTimeout":
            words, advice = self._busy(words, advice)
        # The system's own words; they name hosts and files, and never a header.
        says = f" ({error})" if str(error) else ""
        whose = f"{self.address.host} {words}{says}: {advice}"
        # With a proxy in between it was the proxy that could not be reached.
        if self._proxy is not None and failure.phase == "not_sent":
            whose = self._of_proxy(name, says) or whose
        return TransportError(
            f"{request.operation}: {whose}",
            operation=request.operation,
            sent=failure.phase == "maybe_sent",
        )

    def _busy(self, words: str, advice: str) -> tuple[str, str]:
        """What is to be said where every connection is taken: by which answers, where they are streams."""
        streams = Counter(
            operation
            for operation in list(self.open_answers.values())
            if operation == "calls.recording"
        )
        held = streams.total()
        if held < POOL_CONNECTIONS // 2:
            return words, advice
        return (
            f"{words}: {held} of its {POOL_CONNECTIONS} are held by answers of "
            f"{', '.join(streams)} that were not read to their end",
            "read each of them to its end or close it",
        )

    def _of_proxy(self, name: str, says: str) -> str | None:
        url = None if self._proxy is None else self._proxy.url
        host = "" if url is None else f"{url.host}:{url.port}" if url.port else url.host
        # It answered, and what it answered is about the service's address.
        if name == "ProxyError":
            return (
                f"the proxy {host} refuses to connect to {self.address.host}{says}: "
                "check the proxy's rules and credentials"
            )
        if name in ("ConnectError", "ConnectTimeout") and "SSL" not in says:
            return f"the proxy {host} {FAILURES[name].words}{says}: check the proxy settings"
        return None

    def _choose_proxy(self) -> httpx.Proxy | None:
        proxy = load_httpx().Proxy
        chosen: httpx.Proxy | None = None
        if self.network.proxy is not None:
            chosen = proxy(self.network.proxy)
        # A proxy of the environment has no business between us and our own machine.
        elif not self.address.loopback:
            proxies = getproxies()
            url = proxies.get("https" if self.address.secure else "http") or proxies.get("all")
            # `NO_PROXY`, as every other program of this machine reads it.
            if url and not proxy_bypass(self.address.host):
                chosen = proxy(url if "://" in url else f"http://{url}")
        return chosen

    def _ssl_context(self) -> ssl.SSLContext:
        verify, cert = self.network.verify, self.network.cert
        context: ssl.SSLContext
        if isinstance(verify, ssl.SSLContext):
            context = verify
        elif isinstance(verify, str | Path):
            # OpenSSL takes a file of authorities or a folder of hashed names, by two arguments.
            folder = Path(verify).is_dir()
            context = ssl.create_default_context(
                cafile=None if folder else str(verify), capath=str(verify) if folder else None
            )
        # The sandbox speaks http: nothing of TLS is needed for it.
        elif verify and self.address.loopback and not self.address.secure and not cert:
            # Reading the certificates takes 17 ms; without them whatever is https fails.
            return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        else:
            # `SSL_CERT_FILE` and `SSL_CERT_DIR` are for strangers, not for this machine.
            context = load_httpx().create_ssl_context(verify, trust_env=not self.address.loopback)
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
    ) -> None:
        """Prepare for one address and key.

        Args:
            address: Where the service is.
            credential: The key.
            inner: Replaces the network, in tests.
            network: Proxy, certificates, headers.
        """
        self._link = Link(address, credential, network or Network())
        self._inner = inner
        # Threads that send the first request together open one pool.
        self._lock = threading.Lock()
        self._pool: httpx.BaseTransport | None = None
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
            outgoing = link.outgoing(request, timeout_s)
            response = pool.handle_request(outgoing)
        except caught() as error:
            raise link.translated(error, request) from None
        finally:
            phase.reset(token)
        return _HttpxReply(link, request, response)

    def close(self) -> None:
        """Close every connection; sending afterwards is an error."""
        with self._lock:
            self._closed = True
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()

    def _open(self) -> httpx.BaseTransport:
        process = os.getpid()
        # Without the lock: once open it is only read.
        if self._pool is not None and self._process == process:
            return self._pool
        with self._lock:
            if self._closed:
                raise ConfigError("this client is closed: make a new one")
            if self._pool is None or self._process != process:
                with self._link.set_up() as settings:
                    # After a fork both processes would read from the same sockets.
                    self._pool = self._inner or _bounded_transport(settings)
                    self._process = process
            return self._pool


class _Answer:
    """A response of httpx behind the port; its connection counts as taken until it is closed."""

    def __init__(self, link: Link, request: PlannedRequest, response: httpx.Response) -> None:
        self._link = link
        self._request = request
        self._response = response
        self.status = response.status_code
        # RFC 9110, 5.3: fields of one name are one list.
        self.headers: Mapping[str, str] = dict(response.headers)
        link.open_answers[id(self)] = request.operation

    def _let_go(self) -> None:
        self._link.open_answers.pop(id(self), None)


class _HttpxReply(_Answer):
    """A response in a thread."""

    def chunks(self) -> Iterator[bytes]:
        parts = self._response.iter_bytes()
        while True:
            token = phase.set("body")
            try:
                part = next(parts, None)
            except caught() as error:
                raise self._link.translated(error, self._request) from None
            finally:
                phase.reset(token)
            if part is None:
                return
            yield part

    def close(self) -> None:
        self._let_go()
        token = phase.set("body")
        try:
            self._response.close()
        except caught():
            pass  # The answer is read or given up: how its connection ends no longer matters.
        finally:
            phase.reset(token)


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
    ) -> None:
        """Prepare for one address and key, as `HttpxTransport` does."""
        self._link = Link(address, credential, network or Network())
        self._inner = inner
        self._pool: httpx.AsyncBaseTransport | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False

    async def send(self, request: PlannedRequest, *, timeout_s: float) -> AsyncReply:
        """Send a request once and wait for the head of its answer, as `Transport.send` says."""
        import asyncio

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
                outgoing = self._link.outgoing(request, timeout_s, trace=trace)
                response = await pool.handle_async_request(outgoing)
        except TimeoutError:
            # The row of the table for a read that takes too long says it all.
            late = load_httpx().ReadTimeout("the head of the answer did not end")
            raise self._link.translated(late, request) from None
        except caught() as error:
            raise self._link.translated(error, request) from None
        finally:
            phase.reset(token)
        return _AsyncHttpxReply(self._link, request, response)

    async def close(self) -> None:
        """Close every connection; sending afterwards is an error."""
        import asyncio

        self._closed = True
        pool, self._pool = self._pool, None
        # Connections of a loop that is over went with it.
        if pool is not None and self._loop is asyncio.get_running_loop():
            await pool.aclose()

    def _open(self) -> httpx.AsyncBaseTransport:
        import asyncio

        loop = asyncio.get_running_loop()
        if self._closed:
            raise ConfigError("this client is closed: make a new one")
        if self._pool is None or self._loop is not loop:
            with self._link.set_up() as settings:
                self._pool = self._inner or load_httpx().AsyncHTTPTransport(**settings)
                self._loop = loop
        return self._pool


class _AsyncHttpxReply(_Answer):
    """A response in an event loop."""

    async def chunks(self) -> AsyncIterator[bytes]:
        parts = self._response.aiter_bytes()
        while True:
            token = phase.set("body")
            try:
                part = await anext(parts, None)
            except caught() as error:
                raise self._link.translated(error, self._request) from None
            finally:
                phase.reset(token)
            if part is None:
                return
            yield part

    async def close(self) -> None:
        self._let_go()
        token = phase.set("body")
        try:
            await self._response.aclose()
        except caught():
            pass  # The answer is read or given up: how its connection ends no longer matters.
        finally:
            phase.reset(token)


def _bounded_transport(settings: Mapping[str, Any]) -> httpx.BaseTransport:
    """A transport of httpx on whose connections all reads of one head share one timeout."""
    transport: httpx.HTTPTransport = load_httpx().HTTPTransport(**settings)
    # httpx has no way to hand a backend in; the version below it is fixed (see pyproject.toml).
    pool: Any = transport._pool  # noqa: SLF001
    pool._network_backend = _Backend(pool._network_backend)  # noqa: SLF001
    return transport


class _Backend:
    """Opens connections as httpcore does, each as a `_Line`."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def connect_tcp(self, *where: Any, **how: Any) -> _Line:
        return _Line(self._inner.connect_tcp(*where, **how))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class _Line:
    """One connection."""

    def __init__(self, inner: Any) -> None:
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
                raise load_httpx().ReadTimeout("the head of the answer did not end")
        data: bytes = self._inner.read(max_bytes, timeout)
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._awaited_since_s = None
        self._inner.write(buffer, timeout)

    def start_tls(self, *where: Any, **how: Any) -> _Line:
        return _Line(self._inner.start_tls(*where, **how))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)
