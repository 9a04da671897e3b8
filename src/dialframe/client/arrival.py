"""How long the head of an answer may take in all, however it drips; knows streams of bytes, not HTTP.

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
from typing import Any, Final

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


def bound_heads(http: httpx.Client) -> None:
    """Let every connection that a client opens from now on keep to that, proxies included."""
    carriers = (http._transport, *http._mounts.values())  # noqa: SLF001 - httpx has no door to it
    for carrier in carriers:
        pool = getattr(carrier, "_pool", None)
        if isinstance(pool, httpcore.ConnectionPool):
            pool._network_backend = _Backend(pool._network_backend)  # noqa: SLF001 - nor has httpcore


class _Backend(httpcore.NetworkBackend):
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
        return _Stream(self._inner.connect_tcp(host, port, timeout, local_address, socket_options))

    def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[SocketOption] | None = None,
    ) -> httpcore.NetworkStream:
        return _Stream(self._inner.connect_unix_socket(path, timeout, socket_options))

    def sleep(self, seconds: float) -> None:
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


__all__: Final = ["bound_heads", "head_awaited"]
