"""The port that bytes leave by, and httpx behind it; knows connections, not operations or retries.

Nothing of httpx gets out of this module: its errors become `TransportError` by the table below, its
log lines, which hold whole URLs, are dropped for the requests that are ours, and its redirects are off.
"""

from __future__ import annotations

import logging
import os
import platform
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextvars import ContextVar, Token
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Final, Literal, Protocol

import httpx

from dialframe.client.address import Address
from dialframe.client.arrival import bound_heads, head_awaited
from dialframe.client.credentials import Credential
from dialframe.client.wire import PlannedRequest
from dialframe.errors import ConfigError, TransportError

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
        """The body as it arrives.

        Raises:
            TransportError: It broke off.
        """

    def close(self) -> None:
        """Let go of the connection."""


class Transport(Protocol):
    """What carries a request to the service; a test hands in its own."""

    def send(self, request: PlannedRequest, *, timeout_s: float) -> Reply:
        """Send a request once and wait for the head of its answer.

        Raises:
            TransportError: No answer came; `sent` says whether bytes may have arrived.
        """

    def close(self) -> None:
        """Let go of every connection."""


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

_BY_KIND: Final = {failure.kind: failure for failure in FAILURES}
_CAUGHT: Final = (httpx.RequestError, httpx.InvalidURL, httpx.StreamError, UnicodeError)
_ours: ContextVar[bool] = ContextVar("dialframe_request", default=False)


def failure_of(error: Exception) -> Failure:
    """The row of the nearest ancestor of an error."""
    return next(_BY_KIND[kind] for kind in type(error).__mro__ if kind in _BY_KIND)


class HttpxTransport:
    """Requests over httpx: environment proxies and certificates hold, redirects are not followed.

    The connection pool is opened by the first request, and afresh in a forked process. Threads
    may share it.
    """

    def __init__(
        self, address: Address, credential: Credential, *, inner: httpx.BaseTransport | None = None
    ) -> None:
        """Prepare for one address and key; `inner` replaces the network, in tests."""
        self._address = address
        self._credential = credential
        self._inner = inner
        self._lock = threading.Lock()
        self._http: httpx.Client | None = None
        self._headers: list[tuple[str, str]] = []
        self._process = 0
        self._closed = False

    def send(self, request: PlannedRequest, *, timeout_s: float) -> Reply:
        """Send a request once and wait for the head of its answer.

        Raises:
            TransportError: No answer came.
            ConfigError: The client was closed.
        """
        http = self._open()
        token = _ours.set(True)
        try:
            with head_awaited():
                response = http.send(self._outgoing(request, timeout_s), stream=True)
        except _CAUGHT as error:
            _ours.reset(token)
            raise self._translated(error, request) from None
        except BaseException:
            _ours.reset(token)
            raise
        return _HttpxReply(self, request, response, token)

    def _outgoing(self, request: PlannedRequest, timeout_s: float) -> httpx.Request:
        # Not by the client of httpx: its merging of headers, cookies and queries takes longer.
        query = f"?{request.query}" if request.query else ""
        return httpx.Request(
            request.method,
            self._address.url + request.path + query,
            headers=[*self._headers, *request.headers.items()],
            content=request.body,
            extensions={"timeout": dict.fromkeys(_WAITS, timeout_s)},
        )

    def close(self) -> None:
        """Let go of every connection; sending afterwards is an error."""
        with self._lock:
            self._closed = True
            http, self._http = self._http, None
        if http is not None:
            http.close()

    def _open(self) -> httpx.Client:
        process = os.getpid()
        if self._http is not None and self._process == process:
            return self._http
        with self._lock:
            if self._closed:
                raise ConfigError("this client is closed: make a new one")
            if self._http is None or self._process != process:
                # After a fork both processes would read from the same sockets.
                self._http, self._process = self._new(), process
            return self._http

    def _new(self) -> httpx.Client:
        _quieten()
        try:
            return self._client()
        except (ValueError, OSError, ImportError, httpx.InvalidURL) as error:
            # The text may quote a proxy's URL with its password: the kind has to do.
            raise ConfigError(
                f"connections to {self._address.host} cannot be set up ({type(error).__name__}): "
                "check the proxy and certificate variables of the environment"
            ) from None

    def _client(self) -> httpx.Client:
        plain = self._address.loopback and not self._address.secure
        http = httpx.Client(
            # Reading the certificates takes 17 ms; without them whatever is https fails.
            verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else True,
            headers={"Authorization": self._credential.header(), "User-Agent": _user_agent()},
            transport=self._inner,
            # A proxy of the environment has no business between us and our own machine.
            trust_env=not self._address.loopback,
            follow_redirects=False,
            limits=httpx.Limits(
                max_connections=POOL_CONNECTIONS, max_keepalive_connections=POOL_CONNECTIONS
            ),
        )
        bound_heads(http)
        # What every request carries; `Accept` is said by each request itself.
        self._headers = [pair for pair in http.headers.multi_items() if pair[0] != "accept"]
        return http

    def _translated(self, error: Exception, request: PlannedRequest) -> TransportError:
        failure = failure_of(error)
        says = f" ({error})" if str(error) else ""
        return TransportError(
            f"{request.operation}: {self._address.host} {failure.words}{says}: {failure.advice}",
            operation=request.operation,
            sent=failure.phase == "maybe_sent",
        )


class _HttpxReply:
    """A response of httpx behind the port."""

    def __init__(
        self,
        transport: HttpxTransport,
        request: PlannedRequest,
        response: httpx.Response,
        token: Token[bool],
    ) -> None:
        self._transport = transport
        self._request = request
        self._response = response
        self._token = token
        self.status = response.status_code
        self.headers: Mapping[str, str] = dict(response.headers.items())

    def chunks(self) -> Iterator[bytes]:
        try:
            yield from self._response.iter_bytes()
        except _CAUGHT as error:
            raise self._transport._translated(error, self._request) from None  # noqa: SLF001 - its own half

    def close(self) -> None:
        try:
            self._response.close()
        except _CAUGHT:
            pass  # The answer is read or given up: how its connection ends no longer matters.
        finally:
            _ours.reset(self._token)


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
