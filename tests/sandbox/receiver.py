"""A receiver of webhook deliveries on this machine, which answers as it is told."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Delivery:
    """One request that arrived."""

    path: str
    headers: dict[str, str]
    body: bytes


class Receiver:
    """Collects deliveries; `answers` gives the status for each in turn, then 204."""

    def __init__(self) -> None:
        self.deliveries: list[Delivery] = []
        self.answers: list[int] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                headers = {name.lower(): value for name, value in self.headers.items()}
                receiver.deliveries.append(Delivery(self.path, headers, self.rfile.read(length)))
                status = receiver.answers.pop(0) if receiver.answers else 204
                self.send_response(status)
                if 300 <= status < 400:
                    self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *args: object) -> None:
                """Say nothing on standard error."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook"

    def wait(self, count: int) -> list[Delivery]:
        """The deliveries once there are so many."""
        deadline = time.monotonic() + 5
        while len(self.deliveries) < count and time.monotonic() < deadline:
            time.sleep(0.01)
        assert len(self.deliveries) == count, self.deliveries
        return self.deliveries

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
