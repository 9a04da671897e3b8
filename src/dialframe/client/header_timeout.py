"""A transport of httpx with one bound on the whole head of an answer, however it drips.

The HTTP library bounds each single wait for bytes. A service that sends a byte now and then, or one
`103` after the other, would never be given up: the head is therefore given one bound as a whole, from
the moment that the request was written.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import httpcore
import httpx

_head_awaited: ContextVar[bool] = ContextVar("dialframe_head_awaited", default=False)

SocketOption = (
    tuple[int, int, int] | tuple[int, int, bytes | bytearray] | tuple[int, int, None, int]
)


@contextmanager
def head_awaited() -> Iterator[None]:
    """While this holds, in this thread, all reads after a write share one timeout."""
    token = _head_awaited.set(True)
    try:
        yield
    finally:
        _head_awaited.reset(token)


class BoundedTransport(httpx.BaseTransport):
    """Connections of httpcore, directly or through a proxy, whose heads keep to the bound."""

    def __init__(
        self, *, ssl_context: ssl.SSLContext, proxy: httpx.Proxy | None, connections: int
    ) -> None:
        """Prepare a pool of at most so many connections; none is opened yet.

        Raises:
            ImportError: The proxy is a SOCKS proxy and the package for it is missing.
        """
        shared = {
            "ssl_context": ssl_context,
            "max_connections": connections,
            "max_keepalive_connections": connections,
            "network_backend": BoundedBackend(httpcore.SyncBackend()),
        }
        self._pool = _pool(proxy, shared)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request and wait for the head of its answer; errors are those of httpcore."""
        url = request.url
        answer = self._pool.handle_request(
            httpcore.Request(
                method=request.method,
                url=httpcore.URL(
                    scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
                ),
                headers=request.headers.raw,
                content=request.stream,
                extensions=request.extensions,
            )
        )
        return httpx.Response(
            status_code=answer.status,
            headers=answer.headers,
            stream=_Body(answer),
            extensions=answer.extensions,
        )

    def close(self) -> None:
        """Close every connection."""
        self._pool.close()


class _Body(httpx.SyncByteStream):
    """A body of httpcore as one of httpx."""

    def __init__(self, answer: httpcore.Response) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        return self._answer.iter_stream()

    def close(self) -> None:
        self._answer.close()


def _pool(proxy: httpx.Proxy | None, shared: dict[str, Any]) -> httpcore.ConnectionPool:
    if proxy is None:
        return httpcore.ConnectionPool(**shared)
    url = httpcore.URL(
        scheme=proxy.url.raw_scheme,
        host=proxy.url.raw_host,
        port=proxy.url.port,
        target=proxy.url.raw_path,
    )
    if proxy.url.scheme.startswith("socks5"):
        return httpcore.SOCKSProxy(proxy_url=url, proxy_auth=proxy.raw_auth, **shared)
    return httpcore.HTTPProxy(
        proxy_url=url,
        proxy_auth=proxy.raw_auth,
        proxy_headers=proxy.headers.raw,
        proxy_ssl_context=proxy.ssl_context,
        **shared,
    )


class BoundedBackend(httpcore.NetworkBackend):
    """Opens connections whose reads keep to the bound."""

    def __init__(self, inner: httpcore.NetworkBackend) -> None:
        self._inner = inner

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SocketOption] | None = None,
    ) -> httpcore.NetworkStream:
        """Open a TCP connection."""
        return _Stream(self._inner.connect_tcp(host, port, timeout, local_address, socket_options))

    def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[SocketOption] | None = None,
    ) -> httpcore.NetworkStream:
        """Open a connection over a Unix socket."""
        return _Stream(self._inner.connect_unix_socket(path, timeout, socket_options))

    def sleep(self, seconds: float) -> None:
        """Wait."""
        self._inner.sleep(seconds)


class _Stream(httpcore.NetworkStream):
    """One connection."""

    def __init__(self, inner: httpcore.NetworkStream) -> None:
        self._inner = inner
        self._awaited_since_s: float | None = None

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if timeout is not None and _head_awaited.get():
            # The machine's clock and not the client's: this is about waiting for a real socket.
            now_s = time.monotonic()
            if self._awaited_since_s is None:
                self._awaited_since_s = now_s
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
