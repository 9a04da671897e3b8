"""A service that answers each request with whatever bytes a test wants; knows sockets, not the contract."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterable
from typing import Any, Self

#: A behavior that would go on for ever ends here, so that a test that fails does end.
LONGEST_S = 20.0


class Line:
    """One request that was read, and the connection that it came over.

    Attributes:
        request: Head and body as they came.
        number: How many requests this service had before it.
    """

    def __init__(
        self, connection: socket.socket, request: bytes, number: int, ended: threading.Event
    ) -> None:
        self._connection = connection
        self._ended = ended
        self.request = request
        self.number = number

    @property
    def target(self) -> str:
        """Path and query that were asked for."""
        return self.request.split(b" ", 2)[1].decode()

    def send(self, *parts: bytes) -> None:
        """Put bytes on the line."""
        for part in parts:
            self._connection.sendall(part)

    def drip(self, parts: Iterable[bytes], *, every_s: float) -> None:
        """Put parts on the line one by one until they or the test end."""
        for part in parts:
            if self._ended.wait(every_s):
                return
            self.send(part)

    def hold(self) -> None:
        """Do nothing and keep the line open until the test ends."""
        self._ended.wait(LONGEST_S)


Behavior = Callable[[Line], bool | None]


class Hostile:
    """Listens on loopback; a behavior answers each request and says by True to read another."""

    def __init__(self, behavior: Behavior) -> None:
        self._behavior = behavior
        self._ended = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._guard = threading.Lock()
        self._open: set[socket.socket] = set()
        self._threads = [threading.Thread(target=self._accept)]
        self.requests: list[bytes] = []
        self.base_url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._threads[0].start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        # Closing alone does not wake a thread that waits in accept or recv.
        for one in (self._listener, *self._held()):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue
        for thread in self._threads:
            thread.join()
        self._listener.close()

    def _held(self) -> list[socket.socket]:
        with self._guard:
            return list(self._open)

    def _accept(self) -> None:
        while not self._ended.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with self._guard:
                self._open.add(connection)
            thread = threading.Thread(target=self._serve, args=(connection,))
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            try:
                while (request := _read(connection)) and self._answer(connection, request):
                    pass
            except OSError:
                pass  # The client hung up, which is its right.
            finally:
                with self._guard:
                    self._open.discard(connection)

    def _answer(self, connection: socket.socket, request: bytes) -> bool:
        with self._guard:
            number = len(self.requests)
            self.requests.append(request)
        return bool(self._behavior(Line(connection, request, number, self._ended)))


def http(
    body: bytes | Any = b"",
    *headers: str,
    status: str = "200 OK",
    kind: str = "application/json",
    length: int | None = None,
) -> bytes:
    """An answer with the contract's headers; a body that is no bytes is sent as JSON."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [
        f"HTTP/1.1 {status}",
        f"Content-Type: {kind}",
        f"Content-Length: {len(data) if length is None else length}",
        "X-Request-ID: req_01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "Cache-Control: no-store",
        *headers,
    ]
    return "\r\n".join([*lines, "", ""]).encode() + data


def _read(connection: socket.socket) -> bytes:
    """One request, or nothing when the other side hung up."""
    whole = b""
    while b"\r\n\r\n" not in whole:
        part = connection.recv(65_536)
        if not part:
            return b""
        whole += part
    head, _, body = whole.partition(b"\r\n\r\n")
    missing = _length(head) - len(body)
    while missing > 0:
        part = connection.recv(65_536)
        if not part:
            return b""
        whole += part
        missing -= len(part)
    return whole


def _length(head: bytes) -> int:
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line.partition(b":")[2])
    return 0
