"""How the network is reached: proxy, certificates, headers of one's own, and what its failures mean.

Nothing of httpx gets out of here and of `transport`: its errors become `TransportError` by the table below.
"""

from __future__ import annotations

import platform
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final, Literal
from urllib.request import getproxies, proxy_bypass

import httpcore
import httpx

from dialframe.client.client_settings import Address, Credential
from dialframe.client.request_building import (
    CORRELATION_HEADER,
    IF_MATCH_HEADER,
    KEY_HEADER,
    PlannedRequest,
)
from dialframe.errors import ConfigError, TransportError

POOL_CONNECTIONS: Final = 50


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
    # An event loop hands on as it is what a service says of our certificate while it answers.
    Failure(ssl.SSLError, "maybe_sent", "broke the encrypted connection off", "check verify= and cert="),
    Failure(httpx.DecodingError, "maybe_sent", "sent an answer that cannot be unpacked", _AGAIN),
    Failure(httpx.TooManyRedirects, "maybe_sent", "sends elsewhere again and again", "check base_url"),
    # What a newer version may add below these is taken for the worse case.
    Failure(httpx.TimeoutException, "maybe_sent", "did not answer in time", "try again"),
    Failure(httpx.RequestError, "maybe_sent", "did not answer", _REACH),
    Failure(httpx.StreamError, "maybe_sent", "has an answer that was let go too early", _AGAIN),
)  # fmt: skip

#: httpcore, below httpx, calls its errors by the same names.
_BY_NAME: Final = {failure.kind.__name__: failure for failure in FAILURES}
CAUGHT: Final = (
    httpx.RequestError,
    httpx.InvalidURL,
    httpx.StreamError,
    ssl.SSLError,
    UnicodeError,
    httpcore.TimeoutException,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    httpcore.UnsupportedProtocol,
)


def failure_of(error: Exception) -> Failure:
    """The row of the nearest ancestor of an error, by its name."""
    return next(
        _BY_NAME[kind.__name__] for kind in type(error).__mro__ if kind.__name__ in _BY_NAME
    )


class Link:
    """What both transports have in common: where requests go, with which headers, and what errors mean."""

    def __init__(self, address: Address, credential: Credential, network: Network) -> None:
        self.address = address
        self.network = network
        self._credential = credential
        self._proxy: httpx.Proxy | None = None
        self.base = httpx.URL()
        self.headers: list[tuple[str, str]] = []

    def prepare(self) -> None:
        """Choose the proxy and the headers that every request carries."""
        self.base = httpx.URL(self.address.url)
        self._proxy = self._chosen_proxy()
        # Out of the metadata: to import the package's face for it would be an import upwards.
        try:
            own_version = version("dialframe")
        except PackageNotFoundError:
            own_version = "source"
        python = platform.python_version()
        self.headers = [
            ("User-Agent", f"dialframe/{own_version} py/{python} httpx/{httpx.__version__}"),
            # Without further packages httpx unpacks these two and no others.
            ("Accept-Encoding", "gzip, deflate"),
            *self.network.headers.items(),
            ("Authorization", self._credential.header()),
        ]

    def sync_pool(self, backend: httpcore.NetworkBackend) -> httpcore.ConnectionPool:
        """Connections for threads, which a backend opens, directly or through a proxy."""
        shared: dict[str, Any] = {
            "ssl_context": self._ssl_context(),
            "max_connections": POOL_CONNECTIONS,
            "max_keepalive_connections": POOL_CONNECTIONS,
            "network_backend": backend,
        }
        proxy = self._proxy
        if proxy is None:
            return httpcore.ConnectionPool(**shared)
        url = httpcore.URL(
            scheme=proxy.url.raw_scheme,
            host=proxy.url.raw_host,
            port=proxy.url.port,
            target=proxy.url.raw_path,
        )
        # The port as httpx does it; its pool is httpcore's, which we open ourselves.
        if proxy.url.scheme.startswith("socks5"):
            return httpcore.SOCKSProxy(proxy_url=url, proxy_auth=proxy.raw_auth, **shared)
        return httpcore.HTTPProxy(
            proxy_url=url,
            proxy_auth=proxy.raw_auth,
            proxy_headers=proxy.headers.raw,
            proxy_ssl_context=proxy.ssl_context,
            **shared,
        )

    def async_transport(self) -> httpx.AsyncBaseTransport:
        """Connections for one event loop."""
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
        """What an error of the HTTP library means for a request of ours."""
        # The libraries' own words differ from version to version; the row's do not.
        failure = failure_of(error)
        # The system's own words; they name hosts and files, and never a header.
        says = f" ({error})" if str(error) else ""
        whose = f"{self.address.host} {failure.words}{says}: {failure.advice}"
        # With a proxy in between it was the proxy that could not be reached.
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
        # It answered, and what it answered is about the service's address.
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
        # `NO_PROXY`, as every other program of this machine reads it.
        if not url or proxy_bypass(self.address.host):
            return None
        return httpx.Proxy(url if "://" in url else f"http://{url}")

    def _ssl_context(self) -> ssl.SSLContext:
        verify, cert = self.network.verify, self.network.cert
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
            context = httpx.create_ssl_context(verify, trust_env=not self.address.loopback)
        if cert is not None:
            files = (cert,) if isinstance(cert, str | Path) else cert
            context.load_cert_chain(*map(str, files))
        return context
